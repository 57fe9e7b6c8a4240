/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the words for queues: work that waits, and what a queue pair has not done
 * when it ends. Called by sq.c and state.c with the queue's lock.
 */
#include "engine/path/cause.h"
#include "check/check.h"
#include "engine/cq/cq_event.h"
#include "engine/base/transport.h"
#include "hw/cq.h"
#include "hw/qp.h"
#include "hw/qp_state.h"

static const char *waits_for(uint32_t park)
{
	return park == HW_PARK_RNR     ? "receiver not ready"
	       : park == HW_PARK_RETRY ? "no answer"
	       : park == HW_PARK_LATE  ? "late on purpose"
	       : park == HW_PARK_NAK   ? "out of sequence on purpose"
				       : "a lock is held";
}

void cause_parked(struct eng_run *r, enum hw_park why)
{
	struct hw_qp *qp = r->qp;
	char line[CAUSE_TEXT];
	struct cause_text t = {line, sizeof(line), 0};

	if (atomic_load(&qp->park) == why && qp->parked) {
		qp->parked++;
		return;
	}
	if (qp->parked)
		cause_unparked(r);
	qp->parked = 1;
	if (!TRACE_ON(LOG_CQE))
		return;
	cause_put(&t, "%s", waits_for(why));
	if (why == HW_PARK_RNR) {
		cause_put_no_receive(&t, r->s, qp, r->dest);
	} else if (why == HW_PARK_RETRY) {
		cause_put(&t, ": ");
		cause_put_silence(&t, r);
	}
	TRACE(LOG_CQE, "QP 0x%x: WQE %u parked (%s)", r->qpn, r->ci, line);
}

void cause_unparked(struct eng_run *r)
{
	struct hw_qp *qp = r->qp;

	if (qp->parked > 1)
		TRACE(LOG_CQE, "QP 0x%x: WQE %u was parked %u times (%s)", r->qpn, r->ci,
		      qp->parked, waits_for(atomic_load(&qp->park)));
	qp->parked = 0;
}

/* ---- what libmlx5 refuses by itself, so that no doorbell comes */

#define CQES_SEARCHED 256u

/* The last completion of the send queue that the program has polled: the index of its WQE. False:
 * it is too long ago. */
static bool last_polled(struct seg *s, const struct hw_qp *qp, uint32_t qpn, uint32_t *wqe)
{
	const struct hw_cq *cq = hw_cq(s, qp->cqn_snd);
	uint32_t ci, kept; /* kept: polled entries that are not written again yet */
	uint8_t cqe[64];

	if (!cq || mem_read_be32(s, cq->dbr_mem, cq->dbr_va, &ci))
		return false;
	kept = (1u << cq->log_size) - ((atomic_load(&cq->pi) - ci) & CQ_COUNTER);
	for (uint32_t i = 1; i <= kept && i <= CQES_SEARCHED; i++) {
		uint32_t opcode;

		if (mem_read(s, cq->mem, cq_slot_at(cq, ci - i), cqe, sizeof(cqe)))
			return false;
		opcode = LAYOUT_GET32(cqe64, cqe, opcode);
		if (LAYOUT_GET32(cqe64, cqe, qpn) != qpn ||
		    (opcode != CQE_REQ && opcode != CQE_REQ_ERR))
			continue;
		*wqe = LAYOUT_GET32(cqe64, cqe, wqe_counter);
		return true;
	}
	return false;
}

/* Completions of work requests that the program has not polled; flushed ones do not count. */
static uint32_t unpolled_of(struct seg *s, const struct hw_qp *qp, uint32_t qpn)
{
	const struct hw_cq *cq = hw_cq(s, qp->cqn_snd);
	uint32_t ci, unpolled, n = 0;
	uint8_t cqe[64];

	if (!cq || cq->oi || cq->cc || hw_cq_error(cq) ||
	    mem_read_be32(s, cq->dbr_mem, cq->dbr_va, &ci))
		return 0;
	unpolled = (atomic_load(&cq->pi) - ci) & CQ_COUNTER;
	if (unpolled > 1u << cq->log_size)
		return 0;
	for (uint32_t i = 0; i < unpolled && i < CQES_SEARCHED; i++) {
		uint32_t opcode;

		if (mem_read(s, cq->mem, cq_slot_at(cq, ci + i), cqe, sizeof(cqe)) ||
		    LAYOUT_GET32(cqe64, cqe, format) == CQE_FORMAT_COMPRESSED)
			return n;
		opcode = LAYOUT_GET32(cqe64, cqe, opcode);
		n += LAYOUT_GET32(cqe64, cqe, qpn) == qpn &&
		     (opcode == CQE_REQ ||
		      (opcode == CQE_REQ_ERR &&
		       LAYOUT_GET32(err_cqe, cqe, syndrome) != CQE_SYND_WR_FLUSH));
	}
	return n;
}

/* Bytes of the WQE there, and whether it asks for a completion. 0: it is none. */
static uint32_t wqe_at(struct seg *s, const struct hw_qp *qp, uint32_t qpn, uint32_t index,
		       bool *signalled)
{
	uint8_t ctrl[WQE_SEG];

	if (sq_read_wqe(s, qp, index, 0, ctrl, sizeof(ctrl)) ||
	    LAYOUT_GET32(wqe_ctrl, ctrl, qpn) != qpn)
		return 0;
	*signalled = LAYOUT_GET32(wqe_ctrl, ctrl, ce) >= WQE_CE_ALWAYS;
	return LAYOUT_GET32(wqe_ctrl, ctrl, ds) * WQE_SEG;
}

/*
 * Work requests that libmlx5 counts as posted: those behind the last whose completion was polled.
 * 0: it cannot be told.
 */
static uint32_t posted(struct seg *s, const struct hw_qp *qp, uint32_t qpn, uint32_t *asking)
{
	uint32_t pi = atomic_load(&qp->sq_pi) & 0xffff, size = 1u << qp->sq_log_size, at = 0, n = 0;
	bool polled = last_polled(s, qp, qpn, &at), signalled;

	*asking = 0;
	if (!polled && pi > size)
		return 0;
	if (polled)
		at += (wqe_at(s, qp, qpn, at, &signalled) + WQE_BB - 1) / WQE_BB;
	for (at &= 0xffff; at != pi && ((pi - at) & 0xffff) <= size; at &= 0xffff) {
		uint32_t bytes = wqe_at(s, qp, qpn, at, &signalled);

		if (!bytes)
			return 0;
		n++;
		*asking += signalled;
		at += (bytes + WQE_BB - 1) / WQE_BB;
	}
	return at == pi ? n : 0;
}

static bool put_full(struct cause_text *t, struct seg *s, const struct hw_qp *qp, uint32_t qpn)
{
	uint32_t asking, n;

	if (!qp->max_send_wr || qp->no_sq)
		return false;
	n = posted(s, qp, qpn, &asking);
	if (n < qp->max_send_wr)
		return false;
	cause_put(t,
		  "the send queue is full: %u work requests are posted whose completions were not "
		  "polled, %u of them ask for one, max_send_wr was %u; ibv_post_send() of libmlx5 "
		  "answers ENOMEM then",
		  n, asking, qp->max_send_wr);
	return true;
}

/* ---- a READ and a receive */

#define READ_SEGS 8u

static bool seg_overlaps(const uint8_t *a, uint64_t n, const uint8_t *b)
{
	uint64_t x = LAYOUT_GET(wqe_data, a, addr), y = LAYOUT_GET(wqe_data, b, addr);

	return LAYOUT_GET32(wqe_data, a, lkey) == LAYOUT_GET32(wqe_data, b, lkey) &&
	       x < y + wqe_data_len(b) && y < x + n;
}

/* Does the READ with these data segments fill a part of the receive? *va: where. */
static bool fills_receive(const uint8_t *segs, uint32_t nseg, const struct eng_recv *rv,
			  uint64_t len, uint64_t *va)
{
	for (uint32_t i = 0; i < rv->nseg && len; i++) {
		const uint8_t *seg = rv->seg + (size_t)i * WQE_SEG;
		uint64_t n = wqe_data_len(seg);

		n = n < len ? n : len;
		len -= n;
		for (uint32_t k = 0; k < nseg; k++)
			if (seg_overlaps(seg, n, segs + (size_t)k * WQE_SEG)) {
				*va = LAYOUT_GET(wqe_data, segs + (size_t)k * WQE_SEG, addr);
				return true;
			}
	}
	return false;
}

/*
 * Only where check has made the READ late: its completion cannot have been polled. The QP's owner
 * may execute it meanwhile, as its lock is not taken; then the index has changed.
 */
void cause_into_read(struct eng_run *r, const struct hw_qp *qp, uint32_t qpn,
		     const struct eng_recv *rv, uint64_t len)
{
	const struct check_about a = {
		.kind = "QP", .number = qpn, .elsewhere = qp->mem.slot != r->s->self};
	uint32_t ci = atomic_load(&qp->sq_ci), ds;
	uint8_t wqe[(2 + READ_SEGS) * WQE_SEG];
	char line[CAUSE_TEXT];
	struct cause_text t = {line, sizeof(line), 0};
	uint64_t va;

	if (atomic_load(&qp->park) != HW_PARK_LATE ||
	    sq_read_wqe(r->s, qp, ci & 0xffff, 0, wqe, sizeof(wqe)) ||
	    LAYOUT_GET32(wqe_ctrl, wqe, opcode) != WQE_OP_RDMA_READ)
		return;
	ds = LAYOUT_GET32(wqe_ctrl, wqe, ds);
	if (ds < 3 || ds > 2 + READ_SEGS ||
	    !fills_receive(wqe + 2 * WQE_SEG, ds - 2, rv, len, &va) ||
	    atomic_load(&qp->sq_ci) != ci || atomic_load(&qp->park) != HW_PARK_LATE)
		return;
	cause_put_qp(&t, r->s, qp, qpn);
	cause_put(&t,
		  "a message is received into memory at 0x%llx, which an outstanding RDMA_READ of "
		  "the queue pair fills, too",
		  (unsigned long long)va);
	check_say(CHECK_R_READ_RECV, &a, "%s", line);
}

/* ---- queue pairs that were never in RTS */

/* The QP that was connected to this one last, if it still is; SEG_NONE: none. */
static uint32_t peer_of(const struct seg *s, const struct hw_qp *qp, uint32_t qpn)
{
	uint32_t i = atomic_load(&qp->named_by) - 1;
	const struct hw_qp *peer = i == SEG_NONE ? NULL : hw_qp(s, i);

	return peer && peer->dest_qpn == qpn &&
			       (atomic_load(&peer->state) == PRM_QP_STATE_RTR ||
				atomic_load(&peer->state) == PRM_QP_STATE_RTS)
		       ? i
		       : SEG_NONE;
}

/* Nothing was received, and no receive is posted: a QP in RTR may be there to receive alone. */
static bool is_idle(struct seg *s, const struct hw_qp *qp)
{
	uint32_t posted;

	return qp->srqn == SEG_NONE && !qp->comm_est && !(qp->msn & 0xffffff) &&
	       !mem_read_be32(s, qp->dbr_mem, qp->dbr_va, &posted) && !posted;
}

/* Was the QP to send, as far as can be told? It was never in RTS, and `state` ends. */
static bool is_unused(struct seg *s, const struct hw_qp *qp, uint32_t qpn, uint32_t state,
		      uint32_t *peer)
{
	*peer = state < PRM_QP_STATE_RTR ? peer_of(s, qp, qpn) : SEG_NONE;
	return state == PRM_QP_STATE_RTR ? is_idle(s, qp) : *peer != SEG_NONE;
}

/*
 * The device does not hear of an ibv_post_send() that libmlx5 refuses. It tells only of QPs that
 * somebody has connected: programs also make QPs to see whether they can.
 */
static bool put_never(struct cause_text *t, struct seg *s, struct hw_qp *qp, uint32_t qpn,
		      uint32_t state, bool is_freed)
{
	uint32_t peer = qp->reset_peer;

	if (qp->was_rts || qp->no_sq || state > PRM_QP_STATE_RTR)
		return false;
	if (state == PRM_QP_STATE_RST && qp->reset_from)
		state = qp->reset_from - 1;
	else if (!is_unused(s, qp, qpn, state, &peer))
		state = PRM_QP_STATE_RTS;
	if (!is_freed) {
		qp->reset_from = 1 + state;
		qp->reset_peer = peer;
	}
	if (!is_freed || state == PRM_QP_STATE_RTS)
		return false;
	cause_put(t, "was never in RTS: it ended in state %s", cause_state_name(state));
	if (peer != SEG_NONE)
		cause_put(t, ", and QP 0x%x is connected to it", peer);
	cause_put(t, "; before RTS, ibv_post_send() of libmlx5 answers ENOMEM");
	return true;
}

static void check_ended(enum check_rule_id rule, uint32_t qpn, const struct cause_text *t)
{
	const struct check_about a = {.kind = "QP", .number = qpn};

	if (CHECK_ON())
		check_say(rule, &a, "%s", t->buf);
}

static void check_unpolled(struct seg *s, const struct hw_qp *qp, uint32_t qpn)
{
	const struct check_about a = {.kind = "QP", .number = qpn};
	uint32_t n = qp->dest_qpn == qpn || qp->no_sq ? 0 : unpolled_of(s, qp, qpn);
	char line[CAUSE_TEXT];
	struct cause_text t = {line, sizeof(line), 0};

	if (!n)
		return;
	cause_put_qp(&t, s, qp, qpn);
	cause_put(&t, "ended with %u completion%s of its work requests that %s not polled", n,
		  n == 1 ? "" : "s", n == 1 ? "was" : "were");
	check_say(CHECK_R_UNPOLLED, &a, "%s", line);
}

void cause_ended(struct seg *s, struct hw_qp *qp, uint32_t qpn, bool is_freed)
{
	uint32_t park = atomic_load(&qp->park), state = atomic_load(&qp->state);
	char line[CAUSE_TEXT];
	struct cause_text t = {line, sizeof(line), 0};
	bool refused = atomic_exchange(&qp->modify_refused, 0);
	bool waits = state == PRM_QP_STATE_RTS && (park == HW_PARK_RNR || park == HW_PARK_RETRY);
	size_t at;

	if (CHECK_ON() && is_freed)
		check_unpolled(s, qp, qpn);
	cause_put_qp(&t, s, qp, qpn);
	at = t.n;
	if (waits) {
		cause_put(&t, "ended while work request %u waited: %s", qp->cur_wqe,
			  waits_for(park));
		check_ended(CHECK_R_UNDONE, qpn, &t);
	} else if (refused && state == PRM_QP_STATE_INIT && !qp->no_sq) {
		qp->reset_from = 1 + PRM_QP_STATE_RTS; /* told, once */
		cause_put(&t, "ended in state INIT, after ibv_modify_qp() was refused: it can "
			      "receive from RTR on and send from RTS on; "
			      "before, ibv_post_send() of libmlx5 answers ENOMEM");
		check_ended(CHECK_R_NOT_READY, qpn, &t);
	} else if (state == PRM_QP_STATE_RTS && put_full(&t, s, qp, qpn)) {
		if (qp->dest_qpn != qpn) /* a queue of the driver's own, as for tag matching */
			check_ended(CHECK_R_SQ_FULL, qpn, &t);
	} else if (put_never(&t, s, qp, qpn, state, is_freed))
		check_ended(CHECK_R_NOT_READY, qpn, &t);
	else
		return;
	if (waits && park == HW_PARK_RNR)
		cause_put_no_receive(&t, s, qp, qp_target(qp));
	cause_tell(s, qp, HW_TOLD_UNDONE, &t);
	cause_line("undone", "queue", "qpn", qpn, line + at);
}

void cause_full(struct seg *s, const struct hw_qp *qp, uint32_t qpn)
{
	char line[CAUSE_TEXT];
	struct cause_text t = {line, sizeof(line), 0};
	size_t at;

	cause_put_qp(&t, s, qp, qpn);
	at = t.n;
	if (atomic_load(&qp->state) != PRM_QP_STATE_RTS || !put_full(&t, s, qp, qpn))
		return;
	check_ended(CHECK_R_SQ_FULL, qpn, &t);
	cause_tell(s, qp, HW_TOLD_UNDONE, &t);
	cause_line("undone", "queue", "qpn", qpn, line + at);
}
