/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the rules of faults of a fabric: stores those of its start, adds and removes others, and
 * does what rules do to processes and ports.
 */
#include "super/supervisor.h"

#include <errno.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "fabric/fabric.h"
#include "fabric/ifaddr.h"
#include "fault/rows.h"
#include "fw/fw.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "hw/timer.h"
#include "segment/proc.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"
#include "wire/ib/gid.h"

/* Its number, or -ENOSPC. */
static int fault_add(struct sup *sup, const struct hw_fault *rule)
{
	struct seg *s = &sup->seg;
	uint32_t i;
	struct hw_fault *f;

	if (seg_alloc_begin(s, SEG_T_FAULT, &i))
		return -ENOSPC;
	f = seg_at(s, SEG_T_FAULT, i);
	memcpy((uint8_t *)f + sizeof(f->gen), (const uint8_t *)rule + sizeof(f->gen),
	       sizeof(*f) - sizeof(f->gen));
	f->seed = fab_subnet(s)->fault_seed + i;
	seg_alloc_end(s, SEG_T_FAULT, SEG_OWNER_DEVICE, i);
	fault_set_waits(s);
	return (int)i;
}

int sup_faults_init(struct sup *sup)
{
	int r = 0;

	fab_subnet(&sup->seg)->fault_seed = sup->fab.fault_seed;
	for (uint32_t i = 0; i < sup->fab.nfaults && r >= 0; i++)
		r = fault_add(sup, &sup->fab.faults[i]);
	return r < 0 ? r : 0;
}

/*
 * LINK_FAULT. A rule that is not one is refused with its mistake behind the answer, although
 * softhca has read it before: another program may speak here.
 */
int sup_fault(struct sup *sup, struct sup_link *l, struct sup_request *q, struct sup_reply *p)
{
	static struct hw_fault rule;
	struct fault_mistake m;
	int r;

	(void)l;
	if (q->m.arg) {
		if (!hw_fault(&sup->seg, q->m.arg))
			return -ENOENT;
		seg_free(&sup->seg, SEG_T_FAULT, q->m.arg);
		fault_set_waits(&sup->seg);
		return 0;
	}
	if (!q->nmore || q->nmore > HW_FAULT_TEXT || q->more[q->nmore - 1])
		return -EPROTO;
	r = fault_parse((char *)q->more, &rule, &m);
	if (r < 0)
		return r;
	r = fault_add(sup, &rule);
	if (r < 0)
		return r;
	p->m.arg = (uint32_t)r;
	return 0;
}

/* ---- acts */

#define AGAIN_NS (5 * NSEC_PER_MSEC) /* while a sweep runs */

/* The second half of an act. */
enum later_kind { LATER_CONTINUE, LATER_PLUG, LATER_RETURN };
struct sup_later {
	struct sup_later *next;
	uint64_t at;
	enum later_kind kind;
	uint32_t what; /* a process's slot; a port, which gets its cable; an adapter, which is back
			*/
	uint32_t gen;  /* of the process */
};

static void signal_slot(struct sup *sup, uint32_t slot, uint32_t gen, int sig)
{
	for (struct sup_link *l = sup->links; l; l = l->next)
		if (!l->closed && l->slot == slot && l->gen == gen && l->pid_src.fd >= 0)
			syscall(SYS_pidfd_send_signal, l->pid_src.fd, sig, NULL, 0);
}

/* The caller sweeps after a change of the subnet. */
static void finish(struct sup *sup, const struct sup_later *l)
{
	if (l->kind == LATER_CONTINUE)
		signal_slot(sup, l->what, l->gen, SIGCONT);
	else if (l->kind == LATER_PLUG)
		sup_plug(sup, l->what, true);
	else
		sup_hca_return(sup, l->what);
}

/* In `ns` from now on, as the rule says it; how long a fault lasts is the fabric's time. */
static void later(struct sup *sup, uint64_t now, uint64_t ns, struct sup_later what)
{
	struct sup_later *l = malloc(sizeof(*l));

	what.at = now + hw_timer_ns(&sup->seg, ns);

	if (!l) { /* too early, rather than never */
		finish(sup, &what);
		return;
	}
	*l = what;
	l->next = sup->later;
	sup->later = l;
}

/* What is open stays; the next one gets EMFILE if the numbers below are in use. */
static void few_descriptors(uint32_t pid, uint64_t n)
{
	struct rlimit l;

	if (prlimit((pid_t)pid, RLIMIT_NOFILE, NULL, &l))
		return;
	l.rlim_cur = n < l.rlim_max ? n : l.rlim_max;
	prlimit((pid_t)pid, RLIMIT_NOFILE, &l, NULL);
}

static uint32_t act_processes(struct sup *sup, const struct hw_fault *f, uint64_t now)
{
	uint64_t whose = atomic_load(&f->whose), ns = 0;
	bool stop = fault_does(&f->does, FAULT_STOP, &ns);
	struct seg *s = &sup->seg;
	uint32_t n = 0;

	seg_for_each_live (s, SEG_T_PROC, i) {
		const struct seg_proc *p = seg_proc(s, i);
		const struct fault_end e = {.proc = i, .hca = SEG_NONE};

		if (!p || i == s->self ||
		    (whose ? whose != ((uint64_t)p->gen << 32 | (i + 1)) : !fault_is_of(s, f, &e)))
			continue;
		n++;
		if (fault_does(&f->does, FAULT_FILES, &ns)) {
			few_descriptors(p->pid, ns);
			continue;
		}
		if (fault_does(&f->does, FAULT_MEMORY, &ns)) {
			atomic_store(&seg_proc(s, i)->memlock,
				     HW_FAULT_MEMLOCK | (ns & (HW_FAULT_MEMLOCK - 1)));
			continue;
		}
		signal_slot(sup, i, p->gen, stop ? SIGSTOP : SIGKILL);
		if (stop)
			later(sup, now, ns,
			      (struct sup_later){.kind = LATER_CONTINUE, .what = i, .gen = p->gen});
	}
	return n;
}

/* As a subnet manager sets it. */
static void set_pkey(struct seg *s, uint32_t port, uint32_t index, uint16_t pkey)
{
	struct hw_port *p = hw_port(s, port);

	if (index >= HW_PKEYS || p->pkey[index] == pkey)
		return;
	p->pkey[index] = pkey;
	fab_moved(s);
	fab_port_changed(s, port, FAB_CHANGED_PKEY);
}

/* As a subnet manager sets prefix and GUID, which are those of the address. */
static bool set_ib_gid(struct seg *s, uint32_t port, uint32_t index, const uint8_t gid[16])
{
	struct hw_port *p = hw_port(s, port);
	bool none = !be64_load(gid + 8);

	if (index >= HW_IB_GIDS || (none && !index) || !memcmp(p->gid[index], gid, 16))
		return false;
	if (!none) /* one for all of them */
		fab_set_gid_prefix(p, be64_load(gid));
	be64_store(p->gid[index], none ? 0 : p->gid_prefix);
	memcpy(p->gid[index] + 8, gid + 8, 8);
	if (!index)
		p->guid = be64_load(gid + 8);
	fab_moved(s);
	fab_port_changed(s, port, FAB_CHANGED_GID);
	return true;
}

static struct link_addr addr_of_gid(const uint8_t gid[16])
{
	struct link_addr a = {.len = ib_gid_is_ip4(gid) ? 4 : 16};

	memcpy(a.ip, a.len == 4 ? gid + 12 : gid, a.len);
	return a;
}

/* The prefix length of an address of the interface; -1: it has no such address. */
static int prefix_of(struct seg *s, uint32_t at, const struct link_addr *a)
{
	struct fab_iface f;

	if (!fab_iface(s, at, &f))
		return -1;
	for (uint32_t i = 0; a->len == 4 && i < f.nip4; i++)
		if (!memcmp(f.ip4[i], a->ip, 4))
			return f.prefix4[i];
	for (uint32_t i = 0; a->len == 16 && i < f.nip6; i++)
		if (!memcmp(f.ip6[i], a->ip, 16))
			return f.prefix6[i];
	return -1;
}

/* GIDs of Ethernet are addresses: the interface loses the one of this entry, and gets another. */
static bool set_eth_gid(struct sup *sup, uint32_t port, uint32_t index, const uint8_t gid[16])
{
	static const uint8_t none[16];
	struct seg *s = &sup->seg;
	const struct hw_port *p = hw_port(s, port);
	struct link_addr was, is = addr_of_gid(gid);
	uint32_t at, host = hw_hca(s, p->hca)->host;
	int prefix;

	if (index >= hw_port_gids(p) || !memcmp(hw_gid(p, index), none, 16))
		return false;
	was = addr_of_gid(hw_gid(p, index));
	at = fab_at_by_vlan(s, port, hw_gid_vlan(*hw_gid_kind_at(p, index)));
	prefix = at == SEG_NONE ? -1 : prefix_of(s, at, &was);
	if (prefix < 0)
		return false;
	was.prefix = (uint8_t)prefix;
	is.prefix = was.len == is.len ? was.prefix : is.len == 4 ? 16 : 64;
	if (sup_change_address(sup, host, at, &was, false))
		return false;
	if (!memcmp(gid, none, 16) || !sup_change_address(sup, host, at, &is, true))
		return true;
	sup_change_address(sup, host, at, &was, true); /* another interface has that one */
	return false;
}

static bool set_gid(struct sup *sup, uint32_t port, uint32_t index, const uint8_t gid[16])
{
	return hw_port_is_eth(hw_port(&sup->seg, port)) ? set_eth_gid(sup, port, index, gid)
							: set_ib_gid(&sup->seg, port, index, gid);
}

/* Is it done? Not if this port cannot have the change. */
static bool act_port(struct sup *sup, const struct hw_fault *f, uint32_t port, uint64_t now)
{
	struct hw_port *p = hw_port(&sup->seg, port);
	bool eth = hw_port_is_eth(p);
	uint64_t v;

	if (fault_does(&f->does, FAULT_DOWN, &v)) {
		sup_plug(sup, port, false);
	} else if (fault_does(&f->does, FAULT_UP, &v)) {
		sup_plug(sup, port, true);
	} else if (fault_does(&f->does, FAULT_FLAP, &v)) {
		sup_plug(sup, port, false);
		later(sup, now, v, (struct sup_later){.kind = LATER_PLUG, .what = port});
	} else if (fault_does(&f->does, FAULT_PKEY, &v)) {
		set_pkey(&sup->seg, port, (uint32_t)(v >> 32), (uint16_t)v);
	} else if (fault_does(&f->does, FAULT_GID, &v)) {
		return set_gid(sup, port, (uint32_t)v, f->does.gid);
	} else if (fault_does(&f->does, FAULT_LID, &v)) {
		if (eth || !v || v >= FAB_LIDS)
			return false;
		p->lid = (uint32_t)v;
		fab_port_changed(&sup->seg, port, FAB_CHANGED_LID);
	} else if (fault_does(&f->does, FAULT_REREGISTER, &v)) {
		if (!eth)
			fab_port_changed(&sup->seg, port, FAB_CHANGED_REREGISTER);
		return !eth;
	} else if (fault_does(&f->does, FAULT_SM_CHANGE, &v)) {
		if (!eth)
			fab_port_changed(&sup->seg, port, FAB_CHANGED_SM_TOLD);
		return !eth;
	}
	return true;
}

static uint32_t act_ports(struct sup *sup, const struct hw_fault *f, uint64_t now)
{
	struct seg *s = &sup->seg;
	uint32_t n = 0;

	seg_for_each_live (s, SEG_T_PORT, i) {
		const struct hw_port *p = hw_port(s, i);
		const struct fault_end e = {.proc = SEG_NONE, .hca = p->hca, .port = p->num};

		if (p->hca == SEG_NONE || !hw_hca(s, p->hca) || !fault_is_of(s, f, &e))
			continue;
		n += act_port(sup, f, i, now);
	}
	sup_sweep(sup);
	return n;
}

/* Has the adapter room for fewer objects from now on? */
static bool take_room(struct hw_hca *h, const struct hw_fault *f)
{
	static const struct {
		enum fault_what what;
		enum seg_table_id table;
	} rooms[] = {{FAULT_QPS, SEG_T_QP},
		     {FAULT_CQS, SEG_T_CQ},
		     {FAULT_SRQS, SEG_T_SRQ},
		     {FAULT_MRS, SEG_T_MKEY},
		     {FAULT_PDS, SEG_T_PD}};
	uint64_t n;

	for (size_t i = 0; i < ARRAY_SIZE(rooms); i++) {
		if (!fault_does(&f->does, rooms[i].what, &n))
			continue;
		atomic_store(&h->left[rooms[i].table - HW_KIND_FIRST],
			     n < UINT32_MAX ? (uint32_t)n + 1 : 0);
		return true;
	}
	return false;
}

static uint32_t act_devices(struct sup *sup, const struct hw_fault *f, uint64_t now)
{
	struct seg *s = &sup->seg;
	uint64_t v = 0;
	bool fatal = fault_does(&f->does, FAULT_FATAL, &v);
	uint32_t n = 0;

	if (!fatal)
		fault_does(&f->does, FAULT_UNPLUG, &v);
	seg_for_each_live (s, SEG_T_HCA, i) {
		const struct fault_end e = {.proc = SEG_NONE, .hca = i};

		if (fault_is_of(s, f, &e) && take_room(hw_hca(s, i), f)) {
			n++;
			continue;
		}
		if (!fault_is_of(s, f, &e) ||
		    !sup_hca_fail(sup, i, fatal ? HW_FATAL : HW_UNPLUGGED))
			continue;
		n++;
		if (v)
			later(sup, now, v, (struct sup_later){.kind = LATER_RETURN, .what = i});
	}
	sup_sweep(sup);
	return n;
}

/* An act was done to `n` of those that it is for; to none: it has not happened. */
static void count_act(const struct seg *s, struct hw_fault *f, uint64_t n)
{
	if (!n)
		return;
	atomic_fetch_add(&f->seen, n);
	atomic_fetch_add(&f->fired, 1);
	fault_fired(s, f);
}

/* Objects are locked by those who use them, so a job breaks them. */
struct breaking {
	struct sup_job job; /* first */
	struct hw_fault rule;
	uint32_t fault;
};

static struct fault_end end_of(struct seg *s, enum seg_table_id t, uint32_t i)
{
	const struct seg_file *file = seg_file(s, seg_owner(s, t, i) - 1);
	struct fault_end e = {.proc = file ? file->opener : SEG_NONE,
			      .hca = file ? file->hca : SEG_NONE,
			      .num = i};

	e.nth = fw_nth(s, t, i);
	if (t == SEG_T_QP) {
		e.qp = true;
		e.qpn = i;
		e.st = fw_service_of(s, i);
	} else {
		e.kind = t == SEG_T_SRQ ? HW_FK_SRQ : HW_FK_WQ;
	}
	return e;
}

static void run_breaking(struct sup_job *j)
{
	struct breaking *b = (struct breaking *)j;
	const struct hw_fault_effect *e = &b->rule.does;
	enum seg_table_id t = b->rule.sel.moment == HW_ACT_QP    ? SEG_T_QP
			      : b->rule.sel.moment == HW_ACT_SRQ ? SEG_T_SRQ
								 : SEG_T_OBJ;
	struct hw_fault *f;
	uint64_t n = 0;

	seg_for_each_live (j->s, t, i) {
		const struct fault_end end = end_of(j->s, t, i);

		if (end.proc != SEG_NONE && fault_is_of(j->s, &b->rule, &end) &&
		    !fw_break(j->s, t, i, (uint32_t)e->value[0]))
			n++;
	}
	f = hw_fault(j->s, b->fault);
	if (f && f->gen == b->rule.gen)
		count_act(j->s, f, n);
}

static void breaking_done(struct sup *sup, struct sup_job *j)
{
	(void)sup;
	free(j);
}

/* Its job counts. */
static uint32_t act_objects(struct sup *sup, uint32_t fault)
{
	struct breaking *b = calloc(1, sizeof(*b));

	if (!b)
		return 0;
	memcpy(&b->rule, hw_fault(&sup->seg, fault), sizeof(b->rule));
	b->fault = fault;
	b->job = (struct sup_job){.run = run_breaking, .done = breaking_done, .s = &sup->seg};
	sup_work(sup, &b->job);
	return 0;
}

/* When the act is due; UINT64_MAX: it is done, or waits for its event. */
static uint64_t act_at(const struct sup *sup, const struct hw_fault *f)
{
	if (f->sel.moment < HW_MOMENTS || atomic_load(&f->done))
		return UINT64_MAX;
	if (f->when.at_ns)
		return fab_subnet(&sup->seg)->born + f->when.at_ns;
	return atomic_load(&f->due) ? 0 : UINT64_MAX;
}

static void act(struct sup *sup, uint32_t fault, uint64_t now)
{
	struct hw_fault *f = hw_fault(&sup->seg, fault);
	uint32_t n = f->sel.moment == HW_ACT_PORT      ? act_ports(sup, f, now)
		     : f->sel.moment == HW_ACT_DEVICE  ? act_devices(sup, f, now)
		     : f->sel.moment == HW_ACT_PROCESS ? act_processes(sup, f, now)
						       : act_objects(sup, fault);

	atomic_store(&f->done, 1);
	count_act(&sup->seg, f, n);
}

static bool of_subnet(const struct sup_later *l)
{
	return l->kind != LATER_CONTINUE;
}

static void act_later(struct sup *sup, uint64_t now)
{
	bool plugged = false;

	for (struct sup_later **at = &sup->later; *at;) {
		struct sup_later *l = *at;

		if (now < l->at || (of_subnet(l) && sup->sweeping)) {
			at = &l->next;
			continue;
		}
		plugged |= of_subnet(l);
		finish(sup, l);
		*at = l->next;
		free(l);
	}
	if (plugged)
		sup_sweep(sup);
}

uint64_t sup_faults_run(struct sup *sup)
{
	uint64_t now = clock_now_ns(), next = UINT64_MAX;

	seg_for_each_live (&sup->seg, SEG_T_FAULT, i) {
		struct hw_fault *f = hw_fault(&sup->seg, i);
		uint64_t at = act_at(sup, f);

		if (at <= now && !sup->sweeping) {
			act(sup, i, now);
			continue;
		}
		if (at <= now)
			at = now + AGAIN_NS;
		next = at < next ? at : next;
	}
	act_later(sup, now);
	for (const struct sup_later *l = sup->later; l; l = l->next) {
		uint64_t at = l->at > now ? l->at : now + AGAIN_NS;

		next = at < next ? at : next;
	}
	return next;
}

void sup_faults_free(struct sup *sup)
{
	while (sup->later) {
		struct sup_later *l = sup->later;

		if (!of_subnet(l))
			finish(sup, l);
		sup->later = l->next;
		free(l);
	}
}

struct json_object *sup_faults_show(struct sup *sup)
{
	struct json_object *list = json_object_new_array();

	seg_for_each_live (&sup->seg, SEG_T_FAULT, i) {
		const struct hw_fault *f = hw_fault(&sup->seg, i);
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "number", json_object_new_uint64(i));
		json_object_object_add(o, "rule", json_object_new_string(f->text));
		json_object_object_add(o, "seen", json_object_new_uint64(atomic_load(&f->seen)));
		json_object_object_add(o, "fired", json_object_new_uint64(atomic_load(&f->fired)));
		json_object_array_add(list, o);
	}
	return list;
}
