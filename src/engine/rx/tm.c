/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tag matching: messages with a tag header, and rendezvous, where the device fetches the data
 * itself and tells the sender with a FIN (fin.c). The list is tm_list.c's. Called by rc.c under the
 * locks of a send queue and of the responder.
 */
#include "engine/rx/tm.h"
#include "engine/rx/rx.h"
#include "engine/base/qp.h"
#include "hw/cq.h"
#include "hw/mkey.h"
#include "hw/qctr.h"
#include "hw/qp_state.h"
#include "hw/srq.h"
#include "hw/tm.h"
#include "util/point.h"
#include "wire/prm/rmp_srq.h"
#include "wire/wqe/tm.h"

#include <errno.h>
#include <infiniband/verbs.h>

/* ---- messages */

/* Copy the first bytes of r->local. Returns how many, or a mem_* error. */
static int peek(struct eng_run *r, uint8_t *to, uint32_t n)
{
	struct eng_cursor c = {.l = &r->local};
	uint32_t got = 0;
	struct mem_slot mem;
	struct mem_vec v;
	int rc = 0;

	if (n > r->local.len)
		n = (uint32_t)r->local.len;
	/* Only a copy of all of it verifies or makes signatures: no header is looked for there. */
	while (got < n && !rc && c.l->mem[c.i].slot != ENG_SLOT_SIG) {
		rc = cursor_piece(r->s, &c, n - got, &mem, &v);
		if (!rc && mem.slot == ENG_SLOT_VOID)
			memset(to + got, 0, v.len);
		else if (!rc)
			rc = mem_read(r->s, mem, v.va, to + got, v.len);
		if (!rc) {
			got += (uint32_t)v.len;
			cursor_advance(&c, v.len);
		}
	}
	r->local.fault = rc == -EFAULT;
	return rc ? rc : (int)got;
}

/* Read the entry's state before resp_is_ours(), so that the swap fails after a takeover. */
static void entry_settle(struct hw_tm *tm, struct hw_qp *qp, uint32_t qpn, bool written)
{
	uint32_t n = resp_noted() - 1, srqn = resp_noted_srqn(), kind, to = HW_TM_FREE;
	struct hw_tm_tag *t = tm_tag_at(tm, n & 0xffff);
	uint64_t was = atomic_load(&t->state);
	bool mine;

	kind = HW_TM_KIND(was);
	mine = kind >= HW_TM_TAKEN && HW_TM_QPN(was) == qpn;
	if (!resp_is_ours(qp))
		return;
	if (written && mine && kind == HW_TM_FETCHED && !(n & TM_SECOND)) {
		resp_note(qp, 1 + (n | TM_SECOND), srqn);
		return;
	}
	/* A stopped thread must find the entry changed, even if it was only noted. */
	if (!written) {
		to = HW_TM_POSTED;
		mine |= kind == HW_TM_POSTED;
	}
	if (mine)
		atomic_compare_exchange_strong(&t->state, &was,
					       hw_tm_state(was, to, 0, HW_TM_SEQ(was)));
	POINT("tm-settled");
	resp_note(qp, 0, srqn);
}

void tm_settle(struct seg *s, struct hw_qp *qp, uint32_t qpn, bool written)
{
	struct hw_tm *tm = tm_of(s, qp->srqn);

	if (!tm)
		return;
	for (uint32_t k = 0; k < HW_TM_CLAIMS; k++)
		if (atomic_load(&tm->claim[k]) == qpn)
			tm_claim_end(tm, qp, k, written);
	/* Not if the second completion is owed: only tm_second() writes that. */
	if (resp_noted() & TM_NOTE && (written || !(resp_noted() & TM_SECOND)))
		entry_settle(tm, qp, qpn, written);
}

bool tm_second(struct seg *s, struct hw_qp *qp, uint32_t qpn)
{
	struct hw_tm *tm = tm_of(s, qp->srqn);
	const struct hw_srq *srq = tm ? hw_srq(s, qp->srqn) : NULL;
	uint32_t n = resp_noted() - 1;
	struct eng_cqe c;

	/* It is done, or the lock was taken over: the new holder does it. */
	if (!(resp_noted() & TM_SECOND) || !resp_is_ours(qp))
		return false;
	if (!srq) {
		resp_note(qp, 0, resp_noted_srqn());
		return true;
	}
	cqe_init(&c, CQE_RESP_SEND, qp, qpn, n);
	LAYOUT_SET(cqe64, c.b, srqn_uidx, srq->user_index & 0xffffff);
	LAYOUT_SET(cqe64, c.b, rqpn, qp->dest_qpn);
	LAYOUT_SET(cqe64, c.b, byte_cnt, tm_tag_at(tm, n & 0xffff)->fetched);
	LAYOUT_SET(cqe64, c.b, app, CQE_APP_TAG_MATCHING);
	LAYOUT_SET(cqe64, c.b, app_op, CQE_TM_EXPECTED);
	LAYOUT_SET(cqe64, c.b, app_info, n & 0xffff);
	/* If the CQ is gone, nobody waits for the completion. */
	if (cq_push_receive(s, srq->cqn, &c, qp) == -ETIMEDOUT)
		return false;
	POINT("tm-second");
	tm_settle(s, qp, qpn, true);
	resp_done(qp);
	return true;
}

/*
 * Takes the oldest entry that matches and returns its index. -ENOENT: none matches, and the message
 * has a claim; -ETIMEDOUT: the lock was taken over, or all claims are in use.
 */
static int take(struct eng_run *r, struct hw_tm *tm, struct hw_qp *peer, uint64_t tag, bool match)
{
	uint64_t best, sync;
	int idx, k;

	for (;;) {
		idx = -1;
		best = 0;
		sync = atomic_load(&tm->sync);
		for (uint32_t i = 0; match && i < 1u << tm->log_size; i++) {
			const struct hw_tm_tag *t = &tm->tag[i];
			uint64_t st = atomic_load(&tm->tag[i].state);

			if (HW_TM_KIND(st) != HW_TM_POSTED || (tag ^ t->tag) & t->mask ||
			    HW_TM_AFTER(HW_TM_SEQ(st), HW_TM_SYNCED(sync)))
				continue;
			if (idx < 0 || HW_TM_AFTER(HW_TM_SEQ(best), HW_TM_SEQ(st))) {
				idx = (int)i;
				best = st;
			}
		}
		if (idx >= 0) {
			if (resp_noted() && !(resp_noted() & TM_NOTE) && !srq_return(r->s, peer))
				return -ETIMEDOUT;
			if (!resp_note(peer, 1 + (TM_NOTE | (uint32_t)idx), r->to.srqn))
				return -ETIMEDOUT;
			POINT("tm-noted");
			if (atomic_compare_exchange_strong(
				    &tm->tag[idx].state, &best,
				    hw_tm_state(best, HW_TM_TAKEN, r->dest, HW_TM_SEQ(best))))
				break;
			continue;
		}
		k = tm_claim_begin(tm, r->dest);
		if (k < 0)
			return -ETIMEDOUT;
		if (!resp_is_ours(peer)) {
			atomic_store(&tm->claim[k], 0);
			return -ETIMEDOUT;
		}
		POINT("tm-claiming");
		if (atomic_compare_exchange_strong(&tm->sync, &sync, sync | HW_TM_CLAIM(k)))
			return -ENOENT;
		atomic_store(&tm->claim[k], 0);
	}
	POINT("tm-taken");
	return idx;
}

/* The message in hand. */
struct message {
	struct hw_tm *tm;
	const struct eng_op *op;
	uint32_t idx; /* of its entry */
	uint64_t len; /* with headers */
	uint8_t head[LAYOUT_SZ(tmh) + LAYOUT_SZ(rvh)], data[WQE_SEG];
	struct eng_recv rv;
};

static void matched_cqe(struct eng_run *r, const struct hw_qp *peer, const struct message *m,
			struct eng_cqe *c)
{
	rc_recv_cqe(r, peer, m->op, &m->rv, c);
	LAYOUT_SET(cqe64, c->b, app_info, m->idx);
	memcpy(c->b, m->head, LAYOUT_SZ(tmh));
}

/*
 * Returns the entry to the list and fails the QP. No receive completes with an error, because
 * libmlx5 would take that CQE for one of the XRQ's receives (mlx5_parse_cqe()).
 */
static enum eng_out tm_refuse(struct eng_run *r, struct hw_qp *peer, enum eng_why why)
{
	TRACE(LOG_CQE, "QP 0x%x: a matched message: %s", r->dest, eng_failures[why].text);
	r->why = why == ENG_W_RECV_LENGTH ? ENG_W_REMOTE_INVALID : ENG_W_REMOTE_OP;
	tm_settle(r->s, peer, r->dest, false);
	return resp_fail(r->s, peer, r->dest, IBV_EVENT_QP_ACCESS_ERR) ? ENG_FAILED : ENG_AGAIN;
}

/* Place the payload in r->local into the entry's memory, and complete it. */
static enum eng_out eager(struct eng_run *r, struct hw_qp *peer, struct message *m)
{
	struct eng_cqe c;
	enum eng_why why;
	enum eng_out out;

	sgl_skip(&r->local, LAYOUT_SZ(tmh));
	why = resp_buffers(r, peer, r->dest, &m->rv, r->local.len);
	if (why)
		return tm_refuse(r, peer, why);
	matched_cqe(r, peer, m, &c);
	out = resp_complete(r, peer, r->dest, &m->rv, &c);
	if (out == ENG_FAILED && r->why == ENG_W_REMOTE_FAULT)
		return tm_refuse(r, peer, ENG_W_LOCAL_FAULT);
	return out;
}

/* The data that the header names, in the sender's memory: what the device's READ would fetch. */
static enum eng_why rendezvous_source(struct eng_run *r, const struct message *m)
{
	const uint8_t *rvh = m->head + LAYOUT_SZ(tmh);
	uint64_t len = LAYOUT_GET(rvh, rvh, len);

	sgl_init(&r->local);
	if (!r->qp->rre)
		return ENG_W_QP_ACCESS;
	if (!len)
		return ENG_W_NONE;
	return sgl_add_key(r->s, &r->local, LAYOUT_GET32(rvh, rvh, rkey), LAYOUT_GET(rvh, rvh, va),
			   len, r->qp->pdn, r->qpn, HW_ACC_REMOTE_READ);
}

/* Notes that the FIN is owed to the sender. */
static void fetched(struct eng_run *r, const struct hw_qp *peer, const struct message *m)
{
	eng_count(r->s, r->qp, HW_QC_RX_READ_REQUESTS);
	way_count_fetch(r, peer, LAYOUT_GET32(rvh, m->head + LAYOUT_SZ(tmh), len));
	r->qp->fin_app_ctx = LAYOUT_GET32(tmh, m->head, app_ctx);
	r->qp->fin_tag = LAYOUT_GET(tmh, m->head, tag);
	r->qp->fin_owed = HW_FIN_OWED;
}

/*
 * Two completions: the entry is consumed, then its data is there. The copy comes first, so that
 * whoever finds the second completion owed need only write it.
 */
static enum eng_out rendezvous(struct eng_run *r, struct hw_qp *peer, struct message *m)
{
	struct hw_tm_tag *t = &m->tm->tag[m->idx];
	uint32_t len = LAYOUT_GET32(rvh, m->head + LAYOUT_SZ(tmh), len);
	enum eng_why why = rendezvous_source(r, m);
	uint64_t was = atomic_load(&t->state);
	struct eng_cqe c;
	enum eng_out out;
	int rc;

	if (!why)
		why = resp_buffers(r, peer, r->dest, &m->rv, len);
	if (why)
		return tm_refuse(r, peer, why);
	rc = sgl_copy_gated(r, &r->remote, &r->local);
	if (rc == -EFAULT)
		return tm_refuse(r, peer, ENG_W_LOCAL_FAULT);
	if (rc)
		return resp_copy_failed(r, rc);
	POINT("tm-copied");
	if (!resp_is_ours(peer))
		return ENG_LOCKED;
	t->fetched = len;
	if (!atomic_compare_exchange_strong(
		    &t->state, &was, hw_tm_state(was, HW_TM_FETCHED, r->dest, HW_TM_SEQ(was))))
		return ENG_LOCKED;
	sgl_init(&r->local);
	sgl_init(&r->remote);
	matched_cqe(r, peer, m, &c);
	LAYOUT_SET(cqe64, c.b, opcode, CQE_NO_PACKET); /* mlx5_cq_read_wc_opcode() */
	out = resp_complete(r, peer, r->dest, &m->rv, &c);
	if (out != ENG_DONE)
		return out;
	POINT("tm-consumed");
	/* From here on the message is received, whoever writes its second completion. */
	if (!tm_second(r->s, peer, r->dest))
		park_rouse(r->s, peer->mem.slot);
	fetched(r, peer, m);
	return ENG_DONE;
}

static enum eng_out matched(struct eng_run *r, struct hw_qp *peer, struct message *m, bool rndv)
{
	const struct hw_tm_tag *t = &m->tm->tag[m->idx];
	/* A QP that the device does not own leaves the rendezvous to the program (inferred). */
	bool own = LAYOUT_GET(qpc, peer->qpc, offload_type);
	enum eng_out out;

	LAYOUT_SET(wqe_data, m->data, byte_count, t->len);
	LAYOUT_SET(wqe_data, m->data, lkey, t->lkey);
	LAYOUT_SET(wqe_data, m->data, addr, t->addr);
	m->rv = (struct eng_recv){.seg = m->data,
				  .nseg = 1,
				  .index = TM_NOTE | m->idx,
				  .pdn = r->to.pdn,
				  .from_srq = true};
	r->app_op = !rndv ? CQE_TM_CONSUMED_MSG
		    : own ? CQE_TM_CONSUMED
			  : CQE_TM_CONSUMED_MSG_SW_RNDV;
	out = rndv && own ? rendezvous(r, peer, m) : eager(r, peer, m);
	r->local.len = m->len;
	return out;
}

bool tm_aim(struct eng_run *r)
{
	const struct hw_srq *srq = r->to.srqn == SEG_NONE ? NULL : hw_srq(r->s, r->to.srqn);

	if (!srq || !srq->tm)
		return false;
	r->to = (struct eng_target){r->to.srqn, srq->cqn, srq->pdn, srq->user_index};
	return true;
}

/*
 * A receive that was taken at an earlier attempt goes back if an entry matches now. In a ring it
 * cannot, so that the message stays without an entry.
 */
static bool matches(const struct eng_run *r)
{
	return !resp_noted() || hw_srq(r->s, r->to.srqn)->wq_type != PRM_WQ_CYCLIC;
}

static enum eng_out tm_message(struct eng_run *r, struct hw_qp *peer, struct message *m)
{
	uint32_t what = TMH_NO_TAG;
	unsigned long tag;
	const char *name;
	int idx, n = peek(r, m->head, sizeof(m->head));

	if (n < 0)
		return resp_copy_failed(r, n);
	if (n >= (int)LAYOUT_SZ(tmh))
		what = LAYOUT_GET32(tmh, m->head, opcode);
	if ((what == TMH_RNDV && n < (int)sizeof(m->head)) || m->op->cqe == CQE_RESP_SEND_INV)
		what = TMH_NO_TAG;
	r->app_op = CQE_TM_NO_TAG;
	if (what != TMH_EAGER && what != TMH_RNDV)
		return rc_receive(r, peer, m->op);
	if (what == TMH_RNDV && r->qp->fin_owed) /* one at a time */
		return ENG_LOCKED;
	tag = LAYOUT_GET(tmh, m->head, tag);
	name = what == TMH_RNDV ? "rendezvous" : "message";
	idx = take(r, m->tm, peer, tag, matches(r));
	if (idx == -ETIMEDOUT)
		return ENG_LOCKED;
	r->app_op = CQE_TM_UNEXPECTED;
	if (idx < 0 && resp_noted() & TM_NOTE)
		resp_note(peer, 0, r->to.srqn);
	if (idx < 0) {
		TRACE(LOG_CQE, "QP 0x%x: %s with tag 0x%lx is unexpected", r->dest, name, tag);
		return rc_receive(r, peer, m->op);
	}
	m->idx = (uint32_t)idx;
	TRACE(LOG_CQE, "QP 0x%x: %s with tag 0x%lx takes entry %u", r->dest, name, tag, m->idx);
	return matched(r, peer, m, what == TMH_RNDV);
}

enum eng_out tm_receive(struct eng_run *r, struct hw_qp *peer, const struct eng_op *op)
{
	struct message m = {.tm = tm_of(r->s, r->to.srqn), .op = op, .len = r->local.len};
	enum eng_out out;

	if (!m.tm)
		return ENG_SILENT;
	tm_settle(r->s, peer, r->dest, false); /* what a message that failed has left */
	out = tm_message(r, peer, &m);
	r->app_op = 0;
	if (out != ENG_DONE)
		tm_settle(r->s, peer, r->dest, false);
	return out;
}

/* ---- FIN */
