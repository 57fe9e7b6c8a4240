/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the receiving end of RMPP in the kernel's role. The sender's thread puts segments together
 * and carries the ACKs back; the whole message is queued as one packet. The rules are those of
 * ib_process_rmpp_recv_wc() and its helpers in mad_rmpp.c. rmpp_store.c keeps the segments.
 *
 * mad_recv.lock is held while a segment is stored, never while a MAD is sent. Messages are found
 * without a lock.
 */
#include "hw/timer.h"
#include "umad/priv.h"

#include <errno.h>
#include <string.h>
#include "segment/rank.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/point.h"

#define WINDOW 64                       /* window_size(): an eighth of the receive queue's 512 */
#define ASSEMBLY_NS (40 * NSEC_PER_SEC) /* start_rmpp() */
/* complete_rmpp(): how long to remember a message, for repeated segments */
#define REMEMBER_NS (10 * NSEC_PER_SEC)

/* This process has begun messages: it must watch their time-outs. */
static _Atomic uint32_t begun;

static uint32_t mrecv_class_of(const uint8_t *mad)
{
	return LAYOUT_GET32(mad_hdr, mad, mgmt_class);
}

/* ---- answers */

static void mrecv_refuse(struct seg *s, const struct mad_agent *a, const struct umad_pkt *p,
			 uint32_t status)
{
	if (TRACE_ON(LOG_MAD))
		umad_trace(s, "refused", a->port, p, mad_rmpp_status_name(status));
	umad_rmpp_reply(s, a, p, p->mad, MAD_RMPP_TYPE_ABORT, status, 0, 0);
}

void umad_rmpp_nack(struct seg *s, uint32_t agent, const struct mad_agent *a,
		    const struct umad_pkt *p, uint32_t status)
{
	umad_rmpp_abort(s, agent, a, p);
	mrecv_refuse(s, a, p, status);
}

/* ---- incomplete messages */

static bool mrecv_is_of(const struct mad_recv *r, uint32_t agent, const struct mad_agent *a)
{
	return r->agent == agent && r->agent_gen == a->gen &&
	       atomic_load(&r->state) != MAD_RECV_NEW;
}

/* Free a message: with its lock, or before anybody has found it. */
static void rmpp_forget(struct seg *s, uint32_t i, struct mad_recv *r)
{
	uint32_t owner = r->msg.owner, next;

	chain_free(s, &r->msg);
	for (uint32_t n = WINDOW; r->early && n; n--, r->early = next)
		if (!evq_data(s, r->early, &next))
			break;
		else
			seg_free_of(s, SEG_T_EVBUF, owner, r->early);
	r->early = 0;
	rank_drops(&r->lock); /* it ends with the element */
	seg_free(s, SEG_T_MRECV, i);
}

/* The lock's holder frees it: this thread, if the lock is free. */
static void drop_due(struct seg *s, uint32_t i, struct mad_recv *r, uint32_t gen)
{
	while (atomic_load(&r->drop) == gen && seg_live(s, SEG_T_MRECV, i) && r->gen == gen) {
		if (seg_trylock(s, &r->lock) < 0)
			return;
		if (seg_live(s, SEG_T_MRECV, i) && r->gen == gen) {
			rmpp_forget(s, i, r); /* keeps the lock: the next claim zeroes it */
			return;
		}
		seg_unlock(s, &r->lock);
	}
}

/* Ends a message. If a stopped process holds its lock, that process frees it later. */
static void mrecv_drop(struct seg *s, uint32_t i, struct mad_recv *r, uint32_t gen)
{
	atomic_store(&r->drop, gen);
	POINT("recv-drop");
	drop_due(s, i, r, gen);
}

/* Locks a message. False: it is gone, or a stopped process holds the lock. */
static bool mrecv_enter(struct seg *s, uint32_t i, struct mad_recv *r, uint32_t gen)
{
	int rc = seg_lock_if_runs(s, &r->lock);

	if (rc < 0)
		return false;
	if (!seg_live(s, SEG_T_MRECV, i) || r->gen != gen) {
		seg_unlock(s, &r->lock);
		return false;
	}
	/* A process died while it changed the message: drop it. */
	if (rc == SEG_LOCK_INHERITED && r->torn) {
		rmpp_forget(s, i, r);
		return false;
	}
	return true;
}

static void mrecv_leave(struct seg *s, uint32_t i, struct mad_recv *r, uint32_t gen)
{
	seg_unlock(s, &r->lock);
	drop_due(s, i, r, gen);
}

static bool mrecv_same(const struct mad_recv *r, const struct umad_pkt *p)
{
	return r->tid == LAYOUT_GET(mad_hdr, p->mad, tid) && r->qpn == p->qpn &&
	       r->slid == p->slid && r->mgmt_class == mrecv_class_of(p->mad) &&
	       r->class_version == LAYOUT_GET(mad_hdr, p->mad, class_version) &&
	       r->method == LAYOUT_GET(mad_hdr, p->mad, method);
}

/*
 * The MAD_REF() of the message that the packet belongs to, never `but`; 0: none. Also drops
 * complete messages whose time is over.
 */
static uint64_t mrecv_find(struct seg *s, uint32_t agent, const struct mad_agent *a,
			   const struct umad_pkt *p, uint32_t but)
{
	uint64_t now = clock_now_ns();

	seg_for_each_owned (s, SEG_T_MRECV, a->file + 1, i) {
		struct mad_recv *r = seg_at(s, SEG_T_MRECV, i);
		uint32_t gen = r->gen;

		if (i == but || !mrecv_is_of(r, agent, a))
			continue;
		if (atomic_load(&r->state) == MAD_RECV_COMPLETE && atomic_load(&r->deadline) <= now)
			mrecv_drop(s, i, r, gen);
		else if (mrecv_same(r, p) && seg_live(s, SEG_T_MRECV, i) && r->gen == gen)
			return MAD_REF(gen, i);
	}
	return 0;
}

/* The message that the segment belongs to, locked; p->recv is where it was last time. */
static struct mad_recv *find_locked(struct seg *s, uint32_t agent, const struct mad_agent *a,
				    struct umad_pkt *p)
{
	struct mad_recv *r = p->recv == SEG_NONE ? NULL : seg_live(s, SEG_T_MRECV, p->recv);
	uint64_t ref;

	if (!r || r->gen != p->recv_gen || !mrecv_is_of(r, agent, a) || !mrecv_same(r, p)) {
		ref = mrecv_find(s, agent, a, p, SEG_NONE);
		p->recv = ref ? MAD_REF_IDX(ref) : SEG_NONE;
		if (!ref)
			return NULL;
		p->recv_gen = MAD_REF_GEN(ref);
		r = seg_at(s, SEG_T_MRECV, p->recv);
	}
	return mrecv_enter(s, p->recv, r, p->recv_gen) ? r : NULL;
}

/* Work that remains after unlocking. */
struct outcome {
	bool ack, done;
	uint32_t seg_num, newwin;
	uint8_t hdr[64]; /* header of the ACK */
	struct seg_chain msg;
};

static void mrecv_tell(struct mad_recv *r, const uint8_t *hdr, struct outcome *o)
{
	r->last_ack = r->seg_num;
	o->ack = true;
	o->seg_num = (uint32_t)r->seg_num;
	o->newwin = (uint32_t)r->newwin;
	memcpy(o->hdr, hdr, sizeof(o->hdr));
}

/* get_mad_len(), complete_rmpp() */
static void mrecv_complete(struct seg *s, const struct mad_agent *a, struct mad_recv *r,
			   struct outcome *o)
{
	const struct seg_file *sf = seg_file(s, a->file);
	struct ib_user_mad_hdr h;
	struct chain_pos start = {r->msg.head, 0};
	uint32_t pad = RMPP_DATA - r->paylen;

	if (pad <= RMPP_DATA)
		chain_cut(s, &r->msg, r->msg.len - pad);
	if (!chain_read(s, &start, &h, sizeof(h)) && sf) {
		h.length = (uint32_t)(umad_hdr_size(sf) + r->msg.len - UMAD_HDR);
		chain_rewrite(s, &r->msg, &h, sizeof(h));
	}
	o->done = true;
	o->msg = r->msg;
	r->msg = (struct seg_chain){.owner = o->msg.owner};
	atomic_store(&r->state, MAD_RECV_COMPLETE);
	atomic_store(&r->deadline, clock_now_ns() + hw_timer_ns(s, REMEMBER_NS));
	mrecv_tell(r, r->mad, o);
}

static struct mad_recv *mrecv_create(struct seg *s, uint32_t agent, const struct mad_agent *a,
				     struct umad_pkt *p)
{
	struct ib_user_mad_hdr h;
	struct mad_recv *r;

	if (umad_hdr_of(s, a, p, &h) || seg_alloc_begin(s, SEG_T_MRECV, &p->recv)) {
		p->recv = SEG_NONE;
		return NULL;
	}
	r = seg_at(s, SEG_T_MRECV, p->recv);
	p->recv_gen = r->gen;
	r->agent = agent;
	r->agent_gen = a->gen;
	r->slot = s->self;
	r->slot_gen = s->self_gen;
	r->tid = LAYOUT_GET(mad_hdr, p->mad, tid);
	r->qpn = p->qpn;
	r->slid = p->slid;
	r->gid_kind = p->gid_kind;
	r->mgmt_class = mrecv_class_of(p->mad);
	r->class_version = LAYOUT_GET32(mad_hdr, p->mad, class_version);
	r->method = LAYOUT_GET32(mad_hdr, p->mad, method);
	r->seg_num = 1;
	r->newwin = 1;
	r->repwin = 1;
	r->flags = LAYOUT_GET32(mad_rmpp, p->mad, flags);
	r->paylen = LAYOUT_GET32(mad_rmpp, p->mad, payload_length);
	r->pkey_index = p->pkey_index;
	r->sl = p->sl;
	r->grh = p->grh;
	r->hop_limit = p->hop_limit;
	r->traffic_class = p->traffic_class;
	r->flow_label = p->flow_label;
	memcpy(r->sgid, p->sgid, 16);
	memcpy(r->dgid, p->dgid, 16);
	memcpy(r->mad, p->mad, sizeof(r->mad));
	if (chain_append(s, a->file + 1, &r->msg, &h, sizeof(h)) ||
	    chain_append(s, a->file + 1, &r->msg, p->mad, MAD_SIZE)) {
		rmpp_forget(s, p->recv, r);
		p->recv = SEG_NONE;
		return NULL;
	}
	return r;
}

/*
 * Starts a new message. If two threads send the same message at once, the element with the lower
 * index is kept.
 */
static void mrecv_start(struct seg *s, uint32_t agent, const struct mad_agent *a,
			struct umad_pkt *p, struct outcome *o)
{
	struct mad_recv *r = mrecv_create(s, agent, a, p);
	uint64_t other;

	if (!r)
		return;
	atomic_store(&r->deadline, clock_now_ns() + hw_timer_ns(s, ASSEMBLY_NS));
	if (!(r->flags & MAD_RMPP_LAST))
		r->newwin += WINDOW;
	seg_lock_if_runs(s, &r->lock); /* never waits: nobody knows the message yet */
	atomic_store(&r->state, MAD_RECV_ACTIVE);
	seg_alloc_end(s, SEG_T_MRECV, a->file + 1, p->recv);
	/* The agent was unregistered meanwhile, and could not see this message. */
	if (!umad_agent(s, agent, r->agent_gen)) {
		rmpp_forget(s, p->recv, r);
		p->recv = SEG_NONE;
		return;
	}
	POINT("recv-made");
	other = mrecv_find(s, agent, a, p, p->recv);
	if (other && MAD_REF_IDX(other) < p->recv) {
		rmpp_forget(s, p->recv, r);
		p->recv = SEG_NONE;
		return;
	}
	if (r->flags & MAD_RMPP_LAST) {
		r->torn = 1;
		mrecv_complete(s, a, r, o);
		r->torn = 0;
	} else {
		atomic_store_explicit(&begun, 1, memory_order_relaxed);
		mrecv_tell(r, p->mad, o);
	}
	mrecv_leave(s, p->recv, r, p->recv_gen);
}

/* False: there is no space for the segment, drop the message. */
static bool go_on(struct seg *s, const struct mad_agent *a, struct mad_recv *r,
		  const struct umad_pkt *p, struct outcome *o)
{
	int32_t seg_num = (int32_t)LAYOUT_GET(mad_rmpp, p->mad, segment);
	uint32_t off = mad_data_offset(r->mgmt_class);

	if (seg_num > r->newwin)
		return true;
	if (seg_num <= r->last_ack || atomic_load(&r->state) == MAD_RECV_COMPLETE) {
		mrecv_tell(r, p->mad, o);
		return true;
	}
	if (seg_num <= r->seg_num)
		return true;
	if (seg_num > r->seg_num + 1) {
		umad_rmpp_keep(s, a->file + 1, r, seg_num, p);
		return true;
	}
	if (umad_rmpp_append(s, a->file + 1, r, LAYOUT_GET32(mad_rmpp, p->mad, flags),
			     LAYOUT_GET32(mad_rmpp, p->mad, payload_length), p->mad + off) ||
	    umad_rmpp_close_gap(s, a->file + 1, r)) {
		TRACE(LOG_MAD, "an RMPP message is dropped: no room for %u bytes", r->msg.len);
		return false;
	}
	if (r->flags & MAD_RMPP_LAST) {
		mrecv_complete(s, a, r, o);
	} else if (r->seg_num == r->newwin) {
		r->newwin += WINDOW;
		mrecv_tell(r, p->mad, o);
	}
	return true;
}

/* ---- one segment */

static void put_in(struct seg *s, uint32_t agent, struct mad_agent *a, struct umad_pkt *p,
		   struct outcome *o)
{
	struct mad_recv *r = find_locked(s, agent, a, p);
	uint32_t gen = p->recv_gen;

	if (!r) {
		if (p->recv == SEG_NONE && LAYOUT_GET(mad_rmpp, p->mad, segment) == 1)
			mrecv_start(s, agent, a, p, o);
		return;
	}
	r->torn = 1;
	atomic_signal_fence(memory_order_seq_cst);
	POINT("recv-torn");
	if (!go_on(s, a, r, p, o)) {
		rmpp_forget(s, p->recv, r);
		return;
	}
	atomic_signal_fence(memory_order_seq_cst);
	r->torn = 0;
	mrecv_leave(s, p->recv, r, gen);
}

static void data(struct seg *s, uint32_t agent, struct mad_agent *a, struct umad_pkt *p)
{
	bool first = LAYOUT_GET(mad_rmpp, p->mad, flags) & MAD_RMPP_FIRST;
	struct outcome o = {0};
	uint64_t send = 0;

	if (LAYOUT_GET(mad_rmpp, p->mad, status)) {
		mrecv_refuse(s, a, p, MAD_RMPP_STATUS_BAD_STATUS);
		return;
	}
	if ((LAYOUT_GET(mad_rmpp, p->mad, segment) == 1) != first) {
		mrecv_refuse(s, a, p, MAD_RMPP_STATUS_BAD_SEG);
		return;
	}
	put_in(s, agent, a, p, &o);
	if (o.ack)
		umad_rmpp_reply(s, a, p, o.hdr, MAD_RMPP_TYPE_ACK, 0, o.seg_num, o.newwin);
	if (!o.done)
		return;
	if (TRACE_ON(LOG_MAD))
		umad_trace_message(s, a, p, o.msg.len);
	if ((mad_is_response(p->mad) && !umad_send_match(s, agent, a, p, &send)) ||
	    umad_deliver_pieces(s, a, &o.msg, send))
		chain_free(s, &o.msg);
	umad_send_done(s, send);
}

void umad_rmpp_arrived(struct seg *s, uint32_t agent, struct mad_agent *a, struct umad_pkt *p)
{
	uint32_t type = LAYOUT_GET32(mad_rmpp, p->mad, rmpp_type);
	uint32_t status = LAYOUT_GET32(mad_rmpp, p->mad, status);

	/* mad.c, is_kernel_rmpp_data_response() */
	if (type == MAD_RMPP_TYPE_DATA && mad_is_response(p->mad) &&
	    mad_has_rmpp(mrecv_class_of(p->mad)) && !umad_send_find(s, agent, a, p))
		return;
	if (LAYOUT_GET(mad_rmpp, p->mad, rmpp_version) != 1) {
		umad_rmpp_nack(s, agent, a, p, MAD_RMPP_STATUS_UNV);
		return;
	}
	switch (type) {
	case MAD_RMPP_TYPE_DATA:
		data(s, agent, a, p);
		break;
	case MAD_RMPP_TYPE_ACK:
		umad_rmpp_ack(s, agent, a, p);
		break;
	case MAD_RMPP_TYPE_STOP:
		if (status == MAD_RMPP_STATUS_RESX)
			umad_rmpp_abort(s, agent, a, p);
		else
			umad_rmpp_nack(s, agent, a, p, MAD_RMPP_STATUS_BAD_STATUS);
		break;
	case MAD_RMPP_TYPE_ABORT:
		if (status >= MAD_RMPP_STATUS_T2L && status <= MAD_RMPP_STATUS_UNSPEC)
			umad_rmpp_abort(s, agent, a, p);
		else
			umad_rmpp_nack(s, agent, a, p, MAD_RMPP_STATUS_BAD_STATUS);
		break;
	default:
		umad_rmpp_nack(s, agent, a, p, MAD_RMPP_STATUS_BADT);
	}
}

/* ---- requests whose answers have segments, too */

void umad_rmpp_ds_ack(struct seg *s, uint32_t agent, const struct mad_agent *a,
		      const struct umad_pkt *p, int32_t newwin)
{
	uint64_t ref = mrecv_find(s, agent, a, p, SEG_NONE);
	struct mad_recv *r = ref ? seg_at(s, SEG_T_MRECV, MAD_REF_IDX(ref)) : NULL;

	if (r && atomic_load(&r->state) == MAD_RECV_COMPLETE)
		atomic_store(&r->repwin, newwin);
}

/* init_newwin() */
uint32_t umad_rmpp_window(struct seg *s, uint32_t agent, const struct mad_agent *a,
			  const struct umad_pkt *p)
{
	if (!(LAYOUT_GET(mad_hdr, p->mad, method) & MAD_METHOD_RESP))
		return 1;
	seg_for_each_owned (s, SEG_T_MRECV, a->file + 1, i) {
		const struct mad_recv *r = seg_at(s, SEG_T_MRECV, i);
		uint32_t gen = r->gen;
		int32_t win;

		if (!mrecv_is_of(r, agent, a) || r->tid != LAYOUT_GET(mad_hdr, p->mad, tid) ||
		    r->mgmt_class != mrecv_class_of(p->mad) ||
		    r->class_version != LAYOUT_GET(mad_hdr, p->mad, class_version) ||
		    (r->method & MAD_METHOD_RESP) || r->slid != p->dlid)
			continue;
		win = atomic_load(&r->repwin);
		return seg_live(s, SEG_T_MRECV, i) && r->gen == gen ? (uint32_t)win : 1;
	}
	return 1;
}

/* ib_cancel_rmpp_recvs() */
void umad_rmpp_cancel(struct seg *s, uint32_t agent, struct mad_agent *a)
{
	atomic_store(&a->ready, 0); /* from now on nobody starts a message for it */
	seg_for_each_owned (s, SEG_T_MRECV, a->file + 1, i) {
		struct mad_recv *r = seg_at(s, SEG_T_MRECV, i);
		uint32_t gen = r->gen;

		if (mrecv_is_of(r, agent, a))
			mrecv_drop(s, i, r, gen);
	}
}

void umad_recvs_gone(struct seg *s, uint32_t file)
{
	seg_for_each_owned (s, SEG_T_MRECV, file + 1, i) {
		struct mad_recv *r = seg_at(s, SEG_T_MRECV, i);
		uint32_t gen = r->gen, owner = file + 1;

		mrecv_drop(s, i, r, gen);
		if (seg_live(s, SEG_T_MRECV, i) && r->gen == gen)
			atomic_compare_exchange_strong(seg_owner_word(s, SEG_T_MRECV, i), &owner,
						       SEG_OWNER_DEVICE);
	}
}

/* ---- time-outs */

/* Makes the packet to which the next ACK is the answer. */
static void answer_to(const struct mad_recv *r, const struct mad_agent *a, struct umad_pkt *p)
{
	*p = (struct umad_pkt){.recv = SEG_NONE, .send = SEG_NONE};
	p->from = a->port;
	p->qpn = r->qpn;
	p->dst_qpn = r->qpn;
	p->pkey_index = r->pkey_index;
	p->slid = r->slid;
	p->gid_kind = (uint16_t)r->gid_kind;
	p->sl = (uint8_t)r->sl;
	p->grh = r->grh;
	p->hop_limit = (uint8_t)r->hop_limit;
	p->traffic_class = (uint8_t)r->traffic_class;
	p->flow_label = r->flow_label;
	memcpy(p->sgid, r->sgid, 16);
	memcpy(p->dgid, r->dgid, 16);
	memcpy(p->mad, r->mad, sizeof(r->mad));
}

/* recv_timeout_handler(): the sender is told. */
static void mrecv_give_up(struct seg *s, uint32_t i, struct mad_recv *r, uint32_t gen)
{
	struct mad_agent *a = umad_agent(s, r->agent, r->agent_gen);
	struct umad_pkt p;
	bool late;

	if (!a || !mrecv_enter(s, i, r, gen)) {
		mrecv_drop(s, i, r, gen);
		return;
	}
	if (atomic_load(&r->deadline) > clock_now_ns()) {
		mrecv_leave(s, i, r, gen);
		return;
	}
	late = atomic_load(&r->state) == MAD_RECV_ACTIVE;
	answer_to(r, a, &p);
	rmpp_forget(s, i, r);
	if (late)
		mrecv_refuse(s, a, &p, MAD_RMPP_STATUS_T2L);
}

uint64_t umad_rmpp_run_due(struct seg *s, bool orphans)
{
	uint64_t now = clock_now_ns(), due = UINT64_MAX;

	seg_for_each_live (s, SEG_T_MRECV, i) {
		struct mad_recv *r = seg_at(s, SEG_T_MRECV, i);
		uint32_t gen = r->gen;

		if (atomic_load(&r->state) == MAD_RECV_NEW ||
		    !umad_looks_after(s, r->slot, r->slot_gen, orphans))
			continue;
		if (atomic_load(&r->deadline) <= now)
			mrecv_give_up(s, i, r, gen);
		else if (atomic_load(&r->state) == MAD_RECV_ACTIVE &&
			 atomic_load(&r->deadline) < due)
			due = atomic_load(&r->deadline);
	}
	return due;
}

uint64_t umad_rmpp_begun(struct seg *s)
{
	uint64_t due = UINT64_MAX;

	if (!atomic_load_explicit(&begun, memory_order_relaxed) || !atomic_exchange(&begun, 0))
		return due;
	seg_for_each_live (s, SEG_T_MRECV, i) {
		const struct mad_recv *r = seg_at(s, SEG_T_MRECV, i);

		if (atomic_load(&r->state) == MAD_RECV_ACTIVE &&
		    umad_looks_after(s, r->slot, r->slot_gen, false) &&
		    atomic_load(&r->deadline) < due)
			due = atomic_load(&r->deadline);
	}
	return due;
}
