/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns agents: the registry of a port, shared by all processes, and the ioctls that change it. The
 * rules are those of ib_umad_reg_agent*() in user_mad.c and ib_register_mad_agent() in mad.c. Takes
 * no lock, so a process that is stopped here delays nobody.
 */
#include "umad/priv.h"

#include <errno.h>
#include <string.h>
#include "hw/hca.h"
#include "hw/port.h"
#include "segment/suplink.h"
#include "segment/mem.h"
#include "segment/proc.h"
#include "util/log.h"
#include "util/point.h"
#include "util/sys.h"

#define MAX_CLASS 80           /* MAX_MGMT_CLASS of mad_priv.h */
#define MAX_CLASS_VERSION 0x83 /* MAX_MGMT_VERSION */
#define MAX_OUIS 8             /* MAX_MGMT_OUI: OUIs in one vendor class */

uint32_t umad_port(const struct umad_file *f)
{
	const struct seg_file *sf = seg_file(f->s, f->file);
	const struct hw_hca *hca = sf && sf->gen == f->gen ? hw_hca(f->s, sf->hca) : NULL;

	return hca && sf->port >= 1 && sf->port <= hca->nports ? hca->port[sf->port - 1] : SEG_NONE;
}

size_t umad_hdr_size(const struct seg_file *sf)
{
	return atomic_load(&sf->umad_flags) & SEG_UMAD_PKEY ? UMAD_HDR : UMAD_HDR_OLD;
}

bool umad_kernel_rmpp(const struct mad_agent *a)
{
	return a->rmpp_version && !(a->flags & IB_USER_MAD_USER_RMPP);
}

/* ---- looking up */

static struct mad_agent *agent_live(struct seg *s, uint32_t idx)
{
	struct mad_agent *a = idx ? seg_live(s, SEG_T_AGENT, idx) : NULL;

	return a && atomic_load_explicit(&a->ready, memory_order_acquire) ? a : NULL;
}

struct mad_agent *umad_agent(struct seg *s, uint32_t idx, uint32_t gen)
{
	struct mad_agent *a = agent_live(s, idx);

	return a && a->gen == gen ? a : NULL;
}

struct mad_agent *umad_agent_of(const struct umad_file *f, uint32_t id, uint32_t *idx)
{
	struct seg_file *sf = seg_file(f->s, f->file);
	struct mad_agent *a;

	if (!sf || sf->gen != f->gen || id >= SEG_UMAD_AGENTS || umad_dead(f))
		return NULL;
	*idx = atomic_load(&sf->agent[id]);
	a = agent_live(f->s, *idx);
	return a && a->file == f->file && a->file_gen == f->gen ? a : NULL;
}

/*
 * Agents for directed-route SMPs are registered apart from those for LID-routed ones. The kernel's
 * table has the former as class 0 (mad.c, convert_mgmt_class()): they get the MADs of that class,
 * and an agent registered without a class gets none.
 */
static bool same_class(const struct mad_agent *a, uint32_t mgmt_class, uint32_t version)
{
	if (!mgmt_class)
		mgmt_class = MAD_CLASS_SUBN_DR;
	return a->mgmt_class == mgmt_class && a->class_version == version;
}

/* The OUI of a vendor MAD: it follows RMPP's header and a reserved byte. */
static uint32_t oui_of(const uint8_t *mad)
{
	return be32_load(mad + MAD_RMPP_HDR) & 0xffffff;
}

/* An answer finds its agent by number, on any port of the host. */
static bool same_host(struct seg *s, uint32_t a, uint32_t b)
{
	const struct hw_hca *ha = hw_hca(s, hw_port(s, a)->hca),
			    *hb = hw_hca(s, hw_port(s, b)->hca);

	return a == b || (ha && hb && ha->host == hb->host);
}

/* The properties of an unsolicited MAD that an agent must accept to get it. */
struct wanted {
	uint32_t port, class, version, method, oui;
};

/* At most one agent of a port has a given method of a class: check_taken(). */
static bool takes(const struct mad_agent *a, const struct wanted *w)
{
	return a && a->port == w->port && same_class(a, w->class, w->version) &&
	       (a->methods[w->method / 64] >> w->method % 64 & 1) &&
	       (!mad_is_vendor2(w->class) || a->oui == w->oui);
}

/*
 * A cache of agents found last, only a hint for the search. It belongs to the process, for any
 * segment.
 */
#define FOUND 256u
static _Atomic uint32_t found[FOUND];

static uint32_t found_at(const struct wanted *w)
{
	uint32_t key = w->port * 31 + w->class * 0x10001 + w->version * 7 + w->oui;

	return ((key + (w->method << 5)) * 0x9e3779b9u) >> 24;
}

struct mad_agent *umad_agent_find(struct seg *s, uint32_t port, const uint8_t *mad, uint32_t *idx)
{
	uint32_t class = LAYOUT_GET32(mad_hdr, mad, mgmt_class);
	uint32_t version = LAYOUT_GET32(mad_hdr, mad, class_version);
	uint32_t method = LAYOUT_GET32(mad_hdr, mad, method) & 0x7f;
	uint32_t tid = (uint32_t)(LAYOUT_GET(mad_hdr, mad, tid) >> 32);
	const struct wanted w = {port, class, version, method,
				 mad_is_vendor2(class) ? oui_of(mad) : 0};
	struct mad_agent *a;

	if (mad_is_response(mad)) {
		*idx = tid & 0xffff;
		a = agent_live(s, *idx);
		return a && same_host(s, a->port, port) && mad_agent_tid(*idx, a->gen) == tid
			       ? a
			       : NULL;
	}
	if (version >= MAX_CLASS_VERSION || (class >= MAX_CLASS && class != MAD_CLASS_SUBN_DR))
		return NULL;
	*idx = atomic_load_explicit(&found[found_at(&w)], memory_order_relaxed);
	a = agent_live(s, *idx);
	if (takes(a, &w))
		return a;
	seg_for_each_live (s, SEG_T_AGENT, i) {
		a = agent_live(s, i);
		if (!takes(a, &w))
			continue;
		*idx = i;
		atomic_store_explicit(&found[found_at(&w)], i, memory_order_relaxed);
		return a;
	}
	return NULL;
}

/* ---- registering */

/* The request of either registration ioctl. */
struct reg {
	uint32_t qpn, mgmt_class, class_version, oui, rmpp_version, flags;
	uint64_t methods[2];
	/* result: the file that has one of the methods; SEG_NONE: none */
	uint32_t holder, holder_gen;
};

static int check_class(const struct reg *r)
{
	if (r->class_version >= MAX_CLASS_VERSION)
		return -EINVAL;
	if (r->mgmt_class >= MAX_CLASS && r->mgmt_class != MAD_CLASS_SUBN_DR)
		return -EINVAL;
	if (mad_is_vendor2(r->mgmt_class) && !r->oui)
		return -EINVAL;
	if (r->rmpp_version && !mad_has_rmpp(r->mgmt_class))
		return -EINVAL;
	return mad_is_smi(r->mgmt_class) == !r->qpn ? 0 : -EINVAL;
}

static int agent_check(struct seg *s, uint32_t port, const struct reg *r)
{
	if (!r->qpn && hw_port_is_eth(hw_port(s, port)))
		return -EPROTONOSUPPORT; /* there is no QP0 */
	if (r->rmpp_version > 1)
		return -EINVAL;
	if (r->mgmt_class)
		return check_class(r);
	return r->flags & IB_USER_MAD_USER_RMPP ? -EINVAL : 0;
}

/*
 * Registering takes no lock of the port, because a process stopped with it would keep all others
 * from registering. An agent first claims its methods, then checks which others have or claim them.
 * Of two with the same claim, at least one sees the other: the one with the higher index withdraws
 * its claim until the other has finished; the one with the lower waits for that. A claimer that
 * does not finish in time (it is stopped) counts as holder.
 */
#define CLAIM_NAPS 100
#define CLAIM_NAP_NS 100000L

enum { FREE, CLAIMED, HELD };

static bool claims(struct seg *s, const struct mad_agent *a)
{
	return atomic_load(&a->claims) && !who_gone(s, who_slot(a->claimer, a->claimer_gen));
}

/* Does another agent have or claim the methods that `idx` claims? *other: its index. */
static int whose(struct seg *s, uint32_t idx, struct reg *r, uint32_t *other, bool *room)
{
	const struct mad_agent *me = seg_at(s, SEG_T_AGENT, idx);
	bool vendor = mad_is_vendor2(me->mgmt_class), known = false;
	uint32_t ouis[MAX_OUIS], n = 0, k;
	int is = FREE;

	seg_for_each_live (s, SEG_T_AGENT, i) {
		const struct mad_agent *a = seg_at(s, SEG_T_AGENT, i);
		bool ready = agent_live(s, i);

		if (i == idx || a->port != me->port ||
		    !same_class(a, me->mgmt_class, me->class_version) || (!ready && !claims(s, a)))
			continue;
		if (!vendor || a->oui == me->oui) {
			known = known || ready;
			if (!(a->methods[0] & me->methods[0]) && !(a->methods[1] & me->methods[1]))
				continue;
			r->holder = a->file;
			r->holder_gen = a->file_gen;
			*other = i;
			is = ready ? HELD : CLAIMED;
			if (ready)
				break;
			continue;
		}
		for (k = 0; k < n && ouis[k] != a->oui; k++)
			;
		if (k == n && n < MAX_OUIS)
			ouis[n++] = a->oui;
	}
	*room = !vendor || known || n < MAX_OUIS;
	return is;
}

/* Are the methods free? And is there space for one more OUI in the class? */
static int claim_methods(struct seg *s, uint32_t idx, struct reg *r)
{
	const struct timespec nap = {.tv_nsec = CLAIM_NAP_NS};
	struct mad_agent *me = seg_at(s, SEG_T_AGENT, idx);
	uint32_t other = 0;
	bool room;
	int is;

	if (!r->mgmt_class)
		return 0;
	for (int i = 0; i < CLAIM_NAPS; i++) {
		atomic_store(&me->claims, 1);
		is = whose(s, idx, r, &other, &room);
		if (is == FREE)
			return room ? 0 : -ENOMEM;
		if (is == HELD)
			return -EINVAL;
		if (other < idx)
			atomic_store(&me->claims, 0);
		sys_call(SYS_nanosleep, &nap, NULL);
	}
	return -EINVAL;
}

/* Makes an agent that is not `ready` yet, so seg_free() suffices to drop it. */
static int agent_make(const struct umad_file *f, uint32_t port, struct reg *r, uint32_t id,
		      uint32_t *idx)
{
	struct mad_agent *a;
	int err = agent_check(f->s, port, r);

	if (err)
		return err;
	if (seg_alloc(f->s, SEG_T_AGENT, f->file + 1, idx))
		return -ENOMEM;
	a = seg_at(f->s, SEG_T_AGENT, *idx);
	a->file = f->file;
	a->file_gen = f->gen;
	a->port = port;
	a->id = id;
	a->qpn = r->qpn;
	a->mgmt_class = r->mgmt_class;
	a->class_version = r->class_version;
	a->oui = r->oui;
	a->rmpp_version = r->rmpp_version;
	a->flags = r->flags;
	memcpy(a->methods, r->methods, sizeof(a->methods));
	a->claimer = f->s->self;
	a->claimer_gen = f->s->self_gen;
	err = claim_methods(f->s, *idx, r);
	if (err)
		seg_free(f->s, SEG_T_AGENT, *idx);
	return err;
}

/* Is that number of the file free? An agent that had it may be dead. */
static bool is_free(const struct umad_file *f, uint32_t id, uint32_t idx)
{
	const struct mad_agent *a = idx ? seg_live(f->s, SEG_T_AGENT, idx) : NULL;

	return !a || a->file != f->file || a->file_gen != f->gen || a->id != id ||
	       (!atomic_load(&a->ready) && who_gone(f->s, who_slot(a->claimer, a->claimer_gen)));
}

static int free_id(const struct umad_file *f, const struct seg_file *sf, uint32_t *id)
{
	for (*id = 0; *id < SEG_UMAD_AGENTS; ++*id)
		if (is_free(f, *id, atomic_load(&sf->agent[*id])))
			return 0;
	return -ENOMEM;
}

/* Give the agent the file's first free number; nobody finds it there until it is ready. */
static int take_id(const struct umad_file *f, struct seg_file *sf, uint32_t idx, uint32_t *id)
{
	struct mad_agent *a = seg_at(f->s, SEG_T_AGENT, idx);
	uint32_t was;

	while (!free_id(f, sf, id)) {
		was = atomic_load(&sf->agent[*id]);
		a->id = *id;
		if (is_free(f, *id, was) &&
		    atomic_compare_exchange_strong(&sf->agent[*id], &was, idx))
			return 0;
	}
	return -ENOMEM;
}

/* The first registration decides the header format of the file. */
static void note_used(struct seg_file *sf, bool pkey)
{
	uint32_t was = atomic_load(&sf->umad_flags);

	while (!(was & SEG_UMAD_USED) &&
	       !atomic_compare_exchange_weak(&sf->umad_flags, &was,
					     was | SEG_UMAD_USED | (pkey ? SEG_UMAD_PKEY : 0)))
		;
}

/*
 * `arg_id`: address for the agent's id. `pkey`: if it is the file's first, headers get a P_Key
 * index.
 */
static int register_once(const struct umad_file *f, struct seg_file *sf, uint32_t port,
			 struct reg *r, void *arg_id, bool pkey)
{
	uint32_t id, idx, mine;
	int err = free_id(f, sf, &id);

	/* Like the kernel, check this rule of the second ioctl last. */
	if (!err && r->mgmt_class && r->oui > 0xffffff)
		err = -EINVAL;
	if (!err)
		err = agent_make(f, port, r, id, &idx);
	if (err)
		return err;
	err = take_id(f, sf, idx, &id);
	mine = idx;
	if (!err && mem_guarded_copy(arg_id, &id, sizeof(id))) {
		atomic_compare_exchange_strong(&sf->agent[id], &mine, 0);
		err = -EFAULT;
	}
	if (err) {
		seg_free(f->s, SEG_T_AGENT, idx);
		return err;
	}
	note_used(sf, pkey);
	POINT("agent-numbered");
	atomic_store_explicit(&((struct mad_agent *)seg_at(f->s, SEG_T_AGENT, idx))->ready, 1,
			      memory_order_release);
	return 0;
}

static int do_register(const struct umad_file *f, struct reg *r, void *arg_id, bool pkey)
{
	uint32_t port = umad_port(f);
	int err;

	if (port == SEG_NONE)
		return -EPIPE;
	/* Methods of a dead process are free, even before the supervisor has cleaned up. */
	do {
		struct seg_file *sf = seg_file(f->s, f->file);

		if (!sf || sf->gen != f->gen)
			return -EPIPE;
		r->holder = SEG_NONE;
		err = register_once(f, sf, port, r, arg_id, pkey);
	} while (r->holder != SEG_NONE && r->holder != f->file && r->holder != UMAD_NO_FILE &&
		 link_file_gone(f->s, r->holder, r->holder_gen));
	TRACE(LOG_EVENT, "umad file %u: agent for class %#x version %u on QP%u: %d", f->file,
	      r->mgmt_class, r->class_version, r->qpn, err);
	return err;
}

static long register_agent(const struct umad_file *f, uint8_t *arg)
{
	struct ib_user_mad_reg_req u;
	struct reg r = {0};

	if (mem_guarded_copy(&u, arg, sizeof(u)))
		return -EFAULT;
	if (u.qpn > 1)
		return -EINVAL;
	r.qpn = u.qpn;
	r.mgmt_class = u.mgmt_class;
	r.class_version = u.mgmt_class_version;
	r.oui = (uint32_t)u.oui[0] << 16 | (uint32_t)u.oui[1] << 8 | u.oui[2];
	r.rmpp_version = u.rmpp_version;
	memcpy(r.methods, u.method_mask, sizeof(r.methods));
	return do_register(f, &r, arg + offsetof(struct ib_user_mad_reg_req, id), false);
}

static long register_agent2(const struct umad_file *f, uint8_t *arg)
{
	const uint32_t supported = IB_USER_MAD_REG_FLAGS_CAP;
	struct ib_user_mad_reg_req2 u;
	struct reg r = {0};

	if (mem_guarded_copy(&u, arg, sizeof(u)))
		return -EFAULT;
	if (u.qpn > 1)
		return -EINVAL;
	if (u.flags & ~supported)
		return mem_guarded_copy(arg + offsetof(struct ib_user_mad_reg_req2, flags),
					&supported, sizeof(supported))
			       ? -EFAULT
			       : -EINVAL;
	r.qpn = u.qpn;
	r.mgmt_class = u.mgmt_class;
	r.class_version = u.mgmt_class_version;
	r.oui = u.oui;
	r.rmpp_version = u.rmpp_version;
	r.flags = u.flags;
	memcpy(r.methods, u.method_mask, sizeof(r.methods));
	return do_register(f, &r, arg + offsetof(struct ib_user_mad_reg_req2, id), true);
}

static long unregister_agent(const struct umad_file *f, const void *arg)
{
	struct seg_file *sf = seg_file(f->s, f->file);
	uint32_t id, idx = 0, was;

	if (mem_guarded_copy(&id, arg, sizeof(id)))
		return -EFAULT;
	if (id >= SEG_UMAD_AGENTS)
		return -EINVAL;
	if (umad_port(f) == SEG_NONE)
		return -EPIPE;
	if (!umad_agent_of(f, id, &idx))
		return -EINVAL;
	/* If several threads unregister the agent, one succeeds. */
	was = idx;
	if (!atomic_compare_exchange_strong(&sf->agent[id], &was, 0))
		return -EINVAL;
	umad_rmpp_cancel(f->s, idx, seg_at(f->s, SEG_T_AGENT, idx));
	seg_free(f->s, SEG_T_AGENT, idx);
	umad_sends_cancel(f->s, f->file, idx);
	return 0;
}

static long enable_pkey(const struct umad_file *f)
{
	struct seg_file *sf = seg_file(f->s, f->file);
	uint32_t was;

	if (umad_port(f) == SEG_NONE || !sf)
		return -EPIPE;
	was = atomic_load(&sf->umad_flags);
	do
		if (was & SEG_UMAD_USED)
			return -EINVAL;
	while (!atomic_compare_exchange_weak(&sf->umad_flags, &was, was | SEG_UMAD_PKEY));
	return 0;
}

long umad_ioctl(const struct umad_file *f, unsigned long cmd, void *arg)
{
	switch ((uint32_t)cmd) {
	case IB_USER_MAD_REGISTER_AGENT:
		return umad_dead(f) ? -EPIPE : register_agent(f, arg);
	case IB_USER_MAD_UNREGISTER_AGENT:
		return unregister_agent(f, arg);
	case IB_USER_MAD_ENABLE_PKEY:
		return enable_pkey(f);
	case IB_USER_MAD_REGISTER_AGENT2:
		return umad_dead(f) ? -EPIPE : register_agent2(f, arg);
	default:
		return -ENOTTY;
	}
}

void umad_file_gone(struct seg *s, uint32_t file)
{
	seg_for_each_owned (s, SEG_T_AGENT, file + 1, i)
		seg_free(s, SEG_T_AGENT, i);
	umad_sends_gone(s, file);
	umad_recvs_gone(s, file);
}
