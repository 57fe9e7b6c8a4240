/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns write(), and sends that wait for an answer. The rules are those of ib_umad_write() in
 * user_mad.c, and of ib_create_send_mad(), ib_post_send_mad() and timeout_sends() in mad.c.
 */
#include "fabric/eth.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "hw/timer.h"
#include "hw/world.h"
#include "segment/mem.h"
#include "segment/tap.h"
#include "umad/priv.h"

#include <errno.h>
#include <string.h>
#include "util/clock.h"
#include "util/log.h"

/* The time at which the device thread checks this process's sends next. */
static _Atomic uint64_t next_due = UINT64_MAX;
static _Atomic uint32_t any_deadline;

bool umad_has_deadlines(void)
{
	return atomic_load_explicit(&any_deadline, memory_order_relaxed);
}

uint64_t umad_deadline_of(const struct seg *s, uint32_t timeout_ms)
{
	/* A negative number of milliseconds means no deadline (msecs_to_jiffies()). */
	return (int32_t)timeout_ms < 0
		       ? UINT64_MAX
		       : clock_now_ns() + hw_timer_ns(s, timeout_ms * NSEC_PER_MSEC);
}

/* ---- one MAD from its header */

void umad_pkt_fill(struct seg *s, uint32_t port, const struct mad_agent *a,
		   const struct ib_user_mad_hdr *h, struct umad_pkt *p)
{
	const struct hw_port *from = seg_at(s, SEG_T_PORT, port);

	p->from = port;
	p->qpn = a->qpn;
	p->dst_qpn = be32_load(&h->qpn) & 0xffffff; /* DestQP of a BTH: IBA 9.2.4 */
	p->pkey_index = h->pkey_index;
	p->slid = fab_port_addr(s, port) | umad_path_bits(from, h->path_bits);
	p->dlid = be16_load(&h->lid);
	p->sl = h->sl & 0xf;
	p->grh = h->grh_present != 0;
	p->send = SEG_NONE;
	if (!p->grh)
		return;
	p->hop_limit = h->hop_limit;
	p->traffic_class = h->traffic_class;
	p->flow_label = be32_load(&h->flow_label) & 0xfffff;
	memcpy(p->sgid, hw_gid(from, h->gid_index), 16);
	memcpy(p->dgid, h->gid, 16);
	p->gid_kind = *hw_gid_kind_at(from, h->gid_index);
	if (hw_port_is_eth(from))
		umad_eth_dest(s, port, p->gid_kind, p->sgid, p->dgid, &p->dlid);
}

/* The checks of making an address handle from the header: rdma_create_user_ah(). */
int umad_check_address(struct seg *s, uint32_t port, const struct ib_user_mad_hdr *h)
{
	const struct hw_port *p = hw_port(s, port);
	static const uint8_t none[16];
	const uint8_t *sgid;
	uint32_t dest;

	if (!h->grh_present)
		return hw_port_is_eth(p) || hw_setting(s, HW_SET_GRH)
			       ? -EINVAL
			       : 0; /* rdma_check_ah_attr() */
	if (h->gid_index >= hw_port_gids(p))
		return -EINVAL;
	sgid = hw_gid(p, h->gid_index);
	if (!memcmp(sgid, none, 16))
		return -ENODATA;
	return hw_port_is_eth(p) ? umad_eth_dest(s, port, *hw_gid_kind_at(p, h->gid_index), sgid,
						 h->gid, &dest)
				 : 0;
}

/* Copy the 256 bytes to be sent from the program's buffer, after the header. */
static int copy_mad(const struct mad_agent *a, const uint8_t *buf, size_t len, uint8_t *mad)
{
	uint32_t class = LAYOUT_GET32(mad_hdr, mad, mgmt_class);
	bool krmpp = mad_has_rmpp(class) && umad_kernel_rmpp(a);
	uint32_t off = mad_data_offset(class), from = krmpp ? MAD_RMPP_HDR : LAYOUT_SZ(mad_hdr);

	if (len < off)
		return -EINVAL;
	if (len > MAD_SIZE)
		return -EINVAL;
	memset(mad + LAYOUT_SZ(mad_hdr), 0, MAD_SIZE - LAYOUT_SZ(mad_hdr));
	return mem_guarded_copy(mad + from, buf + from, len - from) ? -EFAULT : 0;
}

static bool user_rmpp_active(const struct mad_agent *a, const uint8_t *mad)
{
	return !umad_kernel_rmpp(a) && mad_has_rmpp(LAYOUT_GET32(mad_hdr, mad, mgmt_class)) &&
	       (LAYOUT_GET(mad_rmpp, mad, flags) & MAD_RMPP_ACTIVE);
}

int umad_send_new(const struct umad_file *f, uint32_t agent, const struct mad_agent *a,
		  const struct ib_user_mad_hdr *h, struct umad_pkt *p, bool alone,
		  struct mad_send **out)
{
	struct mad_send *m;
	int r;

	if (seg_alloc_begin(f->s, SEG_T_MSEND, &p->send))
		return -ENOMEM;
	m = seg_at(f->s, SEG_T_MSEND, p->send);
	p->send_gen = m->gen;
	atomic_store(&m->state, mad_send_word(m->gen, 0, MAD_SEND_NEW));
	atomic_store(&m->owed, 1);
	m->agent = agent;
	m->agent_gen = a->gen;
	m->slot = f->s->self;
	m->slot_gen = f->s->self_gen;
	m->port = p->from;
	m->timeout_ms = h->timeout_ms;
	atomic_store(&m->retries_left, h->retries);
	atomic_store(&m->deadline, umad_deadline_of(f->s, h->timeout_ms));
	memcpy(m->hdr, h, sizeof(m->hdr));
	memcpy(m->mad, p->mad, MAD_SIZE);
	seg_alloc_end(f->s, SEG_T_MSEND, f->file + 1, p->send);
	r = umad_send_link(f, p->send, m, alone);
	if (r) {
		umad_send_free(f->s, p->send, p->send_gen);
		p->send = SEG_NONE;
	}
	*out = m;
	return r;
}

/*
 * Agents that answer within the write, to the sender only. A MAD for a program is remembered first
 * (umad_req_keep()), because its answer may come before write() ends.
 */
static bool answered_at_once(const uint8_t *mad)
{
	uint32_t class = LAYOUT_GET32(mad_hdr, mad, mgmt_class);

	return mad_is_smi(class) || class == MAD_CLASS_PERF;
}

/*
 * Make the element that waits for the answer, if one is expected. 0, -ENOMEM, or -EINVAL as in
 * umad_send_link().
 */
static int send_remember(const struct umad_req *q, struct umad_pkt *p, bool alone)
{
	struct mad_send *m;
	int r;

	if (!q->h->timeout_ms)
		return 0;
	r = umad_send_new(q->f, q->agent, q->a, q->h, p, alone, &m);
	if (!r)
		umad_send_waits(q->f->s, p->send, m);
	return r;
}

int umad_req_keep(struct umad_pkt *p)
{
	struct umad_req *q = p->req;
	struct umad_pkt sent;

	if (!q || q->state != UMAD_REQ_OUT)
		return 0;
	q->state = UMAD_REQ_KEPT;
	sent.from = q->port;
	memcpy(sent.mad, q->mad, MAD_SIZE);
	q->err = send_remember(q, &sent, true);
	if (!q->err) {
		p->send = sent.send;
		p->send_gen = sent.send_gen;
	}
	return q->err;
}

void umad_watch(struct seg *s, const struct umad_pkt *p)
{
	const struct mad_send *m = p->send == SEG_NONE ? NULL : seg_live(s, SEG_T_MSEND, p->send);
	uint64_t due = umad_rmpp_begun(s), was;

	if (m && mad_send_is(m, p->send_gen, MAD_SEND_WAITS) && atomic_load(&m->deadline) < due)
		due = atomic_load(&m->deadline);
	if (due == UINT64_MAX)
		return;
	atomic_store(&any_deadline, 1);
	was = atomic_load(&next_due);
	while (due < was)
		if (atomic_compare_exchange_weak(&next_due, &was, due)) {
			seg_proc_rouse(s, s->self);
			return;
		}
}

/* ---- write() */

void umad_set_tid(uint32_t agent, const struct mad_agent *a, uint8_t *mad)
{
	uint64_t tid = LAYOUT_GET(mad_hdr, mad, tid) & UINT32_MAX;

	if (!mad_is_response(mad))
		LAYOUT_SET(mad_hdr, mad, tid, tid | (uint64_t)mad_agent_tid(agent, a->gen) << 32);
}

static int send_start(struct umad_req *q, struct umad_pkt *p)
{
	const struct umad_file *f = q->f;
	const struct mad_agent *a = q->a;
	uint8_t *mad = p->mad;
	bool alone = !user_rmpp_active(a, mad);
	int r;

	umad_set_tid(q->agent, a, mad);
	if (alone && umad_is_duplicate(f, q->h, mad))
		return -EINVAL;
	if (a->rmpp_version && !mad_has_rmpp(LAYOUT_GET32(mad_hdr, mad, mgmt_class)))
		return -EINVAL;
	if (LAYOUT_GET(mad_hdr, mad, mgmt_class) == MAD_CLASS_SUBN_DR) {
		r = umad_direct(f->s, p, a);
		if (r)
			return r;
	}
	if (!q->h->timeout_ms || !answered_at_once(mad))
		return send_remember(q, p, alone);
	memcpy(q->mad, mad, MAD_SIZE);
	q->state = UMAD_REQ_OUT;
	p->req = q;
	return 0;
}

static ssize_t send_begin(struct umad_req *q, const uint8_t *buf, size_t count, struct umad_pkt *p)
{
	const struct mad_agent *a = q->a = umad_agent_of(q->f, q->h->id, &q->agent);
	int r;

	if (!a)
		return -EIO;
	q->agent_gen = a->gen;
	r = umad_check_address(q->f->s, q->port, q->h);
	if (!r)
		r = copy_mad(a, buf, count, p->mad);
	if (r)
		return r;
	umad_pkt_fill(q->f->s, q->port, a, q->h, p);
	return send_start(q, p);
}

ssize_t umad_write(const struct umad_file *f, const void *buf, size_t count)
{
	const struct seg_file *sf = seg_file(f->s, f->file);
	struct ib_user_mad_hdr h = {0};
	struct umad_req q;
	const struct mad_agent *a;
	struct umad_pkt p = {0};
	const uint8_t *from = buf;
	ssize_t r;
	size_t hdr;

	tap_look(f->s);
	q.f = f;
	q.h = &h;
	q.port = umad_port(f);
	q.err = 0;
	if (q.port == SEG_NONE)
		return -EIO;
	hdr = umad_hdr_size(sf);
	if (count < hdr + MAD_RMPP_HDR)
		return -EINVAL;
	if (mem_guarded_copy(&h, from, hdr))
		return -EFAULT;
	if (h.id >= SEG_UMAD_AGENTS)
		return -EINVAL;
	if (mem_guarded_copy(p.mad, from + hdr, MAD_RMPP_HDR))
		return -EFAULT;
	a = umad_agent_of(f, h.id, &q.agent);
	if (a && umad_rmpp_wanted(a, p.mad)) {
		r = umad_rmpp_write(f, q.port, from + hdr, count - hdr, &h, &p);
		return r ? r : (ssize_t)count;
	}
	r = send_begin(&q, from + hdr, count - hdr, &p);
	if (r < 0)
		return r;
	if (!r) {
		umad_route(f->s, &p);
		umad_req_keep(&p);
		if (q.err)
			return q.err;
		umad_watch(f->s, &p);
	}
	umad_traps_new(f->s);
	return (ssize_t)count;
}

/* ---- time-outs */

static void repeat(struct seg *s, uint32_t i, struct mad_send *m, const struct mad_agent *a)
{
	struct umad_pkt p = {0};

	atomic_fetch_sub(&m->retries_left, 1);
	atomic_store(&m->deadline, umad_deadline_of(s, m->timeout_ms));
	umad_pkt_fill(s, m->port, a, (const struct ib_user_mad_hdr *)m->hdr, &p);
	memcpy(p.mad, m->mad, MAD_SIZE);
	p.send = i;
	p.send_gen = m->gen;
	p.again = true;
	umad_route(s, &p);
}

static void send_expire(struct seg *s, uint32_t i, struct mad_send *m, uint32_t gen)
{
	const struct mad_agent *a = umad_agent(s, m->agent, m->agent_gen);

	if (a && umad_rmpp_sends(s, m))
		return;
	if (a && atomic_load(&m->retries_left)) {
		if (!m->segs) {
			repeat(s, i, m, a);
			return;
		}
		if (umad_rmpp_retry(s, i, m))
			return;
	}
	if (!umad_send_take(s, MAD_REF(gen, i), MAD_SEND_TAKEN))
		return;
	if (a)
		umad_deliver_timeout(s, a, m, MAD_REF(gen, i));
	umad_send_done(s, MAD_REF(gen, i));
}

bool umad_looks_after(struct seg *s, uint32_t slot, uint32_t slot_gen, bool orphans)
{
	if (!orphans)
		return slot == s->self && slot_gen == s->self_gen;
	return who_dead(s, who_slot(slot, slot_gen));
}

#define AT_ONCE 64

struct due {
	uint64_t deadline;
	uint64_t send; /* MAD_REF() */
};

/* Insert into the sorted list, if it is among the earliest. */
static uint32_t insert(struct due *d, uint32_t n, struct due x)
{
	uint32_t k = n < AT_ONCE ? n++ : AT_ONCE;

	for (; k && d[k - 1].deadline > x.deadline; k--)
		if (k < AT_ONCE)
			d[k] = d[k - 1];
	if (k < AT_ONCE)
		d[k] = x;
	return n;
}

/*
 * The earliest sends that are over, ordered as in the kernel's wait_list; *next: when the next one
 * will be.
 */
static uint32_t over(struct seg *s, bool orphans, uint64_t now, struct due *d, uint64_t *next)
{
	uint32_t n = 0;

	seg_for_each_live (s, SEG_T_MSEND, i) {
		const struct mad_send *m = seg_at(s, SEG_T_MSEND, i);
		uint32_t gen = m->gen;
		uint64_t at;

		if (!umad_looks_after(s, m->slot, m->slot_gen, orphans) ||
		    !mad_send_is(m, gen, MAD_SEND_WAITS))
			continue;
		at = atomic_load(&m->deadline);
		if (at <= now)
			n = insert(d, n, (struct due){at, MAD_REF(gen, i)});
		else if (at < *next)
			*next = at;
	}
	return n;
}

/* Handles the sends whose time is over; returns the next deadline. */
static uint64_t send_run(struct seg *s, bool orphans)
{
	uint64_t now = clock_now_ns(), due, recv;
	struct due d[AT_ONCE];
	uint32_t n;

	do {
		due = UINT64_MAX;
		n = over(s, orphans, now, d, &due);
		for (uint32_t k = 0; k < n; k++) {
			uint32_t gen = MAD_REF_GEN(d[k].send);
			struct mad_send *m = umad_send_at(s, d[k].send);

			if (!m || atomic_load(&m->deadline) != d[k].deadline ||
			    !mad_send_is(m, gen, MAD_SEND_WAITS))
				continue;
			send_expire(s, MAD_REF_IDX(d[k].send), m, gen);
			/* If the send is repeated again before the next look, look earlier. */
			m = umad_send_at(s, d[k].send);
			if (m && mad_send_is(m, gen, MAD_SEND_WAITS) &&
			    atomic_load(&m->deadline) < due)
				due = atomic_load(&m->deadline);
		}
	} while (n == AT_ONCE);
	recv = umad_rmpp_run_due(s, orphans);
	return recv < due ? recv : due;
}

uint64_t umad_run_orphans(struct seg *s)
{
	uint64_t mads, traps;

	seg_for_each_live (s, SEG_T_MSEND, i)
		umad_send_adopt(s, i);
	mads = send_run(s, true);
	traps = umad_traps_run(s);
	return mads < traps ? mads : traps;
}

uint64_t umad_run_due(struct seg *s)
{
	uint64_t due, was;

	if (!umad_has_deadlines() || s->self == SEG_NONE)
		return UINT64_MAX;
	atomic_store(&next_due, UINT64_MAX);
	due = send_run(s, false);
	was = atomic_load(&next_due);
	while (due < was && !atomic_compare_exchange_weak(&next_due, &was, due))
		;
	return due < was ? due : was;
}
