/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A QP that fails, and the flush of its queues. Called by whoever holds the queue's lock: the
 * sender, the responder, commands, and the device thread.
 */
#include "engine/rx/rx.h"
#include "engine/rx/tm.h"
#include "engine/base/transport.h"
#include "engine/base/words.h"
#include "hw/qctr.h"
#include "hw/qp_state.h"
#include "hw/srq.h"
#include "hw/use.h"
#include "util/bug.h"
#include "util/point.h"

#include <errno.h>
#include <infiniband/verbs.h>

bool qp_enter_err(struct hw_qp *qp, enum prm_qp_state to)
{
	uint32_t st = atomic_load(&qp->state);

	do {
		if (st == PRM_QP_STATE_RST || st == PRM_QP_STATE_INIT || st == PRM_QP_STATE_ERR ||
		    st == to)
			return false;
	} while (!atomic_compare_exchange_weak(&qp->state, &st, to));
	atomic_store(&qp->err_at, eng_clock());
	return true;
}

/*
 * Values of hw_qp.sq_fail and rx_fail (event_mark(), qp_fail_note()): 0: nothing; 1 + QP_QUIET: no
 * event; else 2 + the event. In a DCT, which does not fail, they note its drain.
 */
#define FAIL_EVENT(note) ((int)((note) % HW_EV_SEQ) - 2)

/* A responder fails in several steps, so its holder must be one that keeps the lock. */
static void check_busy(const struct hw_qp *qp, const uint32_t *note)
{
	BUG_CHECK(note == &qp->rx_fail && !resp_is_busy());
}

void qp_fail_resume(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t *note)
{
	int event = FAIL_EVENT(*note);
	bool drains = event == ENG_EVENT_DCT_DRAINED;
	bool failed =
		*note && atomic_load(&qp->state) == (drains ? PRM_QP_STATE_RST : PRM_QP_STATE_ERR);

	check_busy(qp, note);
	if (failed) {
		if (!drains)
			atomic_fetch_or(&qp->flush_pending, HW_PEND_FLUSH_SQ | HW_PEND_FLUSH_RQ);
		if (event >= 0)
			event_note_once(s, qp, qpn, (uint32_t)event, *note);
		POINT("fail-noted");
	}
	atomic_signal_fence(memory_order_seq_cst);
	*note = 0;
	atomic_signal_fence(memory_order_seq_cst);
	if (!failed)
		return;
	/*
	 * Wake it after the note is cleared, or it would find the note and raise the event again.
	 */
	park_rouse(s, qp->mem.slot);
	POINT("fail-roused");
	eng_qp_event_pay(s, qp, qpn);
}

bool qp_fail(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t *note, int ib_event_type)
{
	check_busy(qp, note);
	/* In ERR already: leave no note, which would belong to another failure. */
	if (atomic_load(&qp->state) == PRM_QP_STATE_ERR)
		return false;
	*note = qp_fail_note(ib_event_type) |
		(ib_event_type >= 0 ? event_mark(qp, (uint32_t)ib_event_type) : 0);
	atomic_signal_fence(memory_order_seq_cst);
	POINT("fail-begin");
	if (!qp_enter_err(qp, PRM_QP_STATE_ERR)) {
		*note = 0;
		return false;
	}
	POINT("fail-state");
	qp_fail_resume(s, qp, qpn, note);
	return true;
}

void sq_inherited(struct seg *s, struct hw_qp *qp, uint32_t qpn)
{
	TRACE(LOG_CQE, "QP 0x%x: its send queue's last user died", qpn);
	ack_end(qp);
	qp_fail_resume(s, qp, qpn, &qp->sq_fail);
	qp_fail(s, qp, qpn, &qp->sq_fail, IBV_EVENT_QP_FATAL);
	park_pending(s, qp, HW_PEND_FLUSH_SQ | HW_PEND_FLUSH_RQ);
}

void sq_count_flushed(struct seg *s, const struct hw_qp *qp, enum eng_why why)
{
	if (eng_failures[why].syndrome != CQE_SYND_WR_FLUSH)
		return; /* sq_fail_run() has counted it */
	hw_use_error(s, qp->hca, CQE_SYND_WR_FLUSH);
	eng_count(s, qp, HW_QC_REQ_CQE_ERROR);
	if (why == ENG_W_FLUSHED_SQ)
		eng_count(s, qp, HW_QC_REQ_CQE_FLUSH_ERROR);
}

static int flush_one(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t ci, uint32_t *nbb)
{
	uint8_t ctrl[WQE_SEG];
	struct eng_cqe c;
	uint32_t ds;
	int rc = sq_read_wqe(s, qp, ci, 0, ctrl, sizeof(ctrl));

	if (rc)
		return rc;
	ds = LAYOUT_GET32(wqe_ctrl, ctrl, ds);
	*nbb = ds ? (ds + WQE_BB / WQE_SEG - 1) / (WQE_BB / WQE_SEG) : 1;
	cqe_init(&c, CQE_REQ_ERR, qp, qpn, ci);
	LAYOUT_SET(cqe64, c.b, send_opcode, LAYOUT_GET(wqe_ctrl, ctrl, opcode));
	/*
	 * The first flushed WQE may have failed before its CQE was written: then it gets its own
	 * error.
	 */
	cqe_set_error(&c, qp->sq_out > 1 ? (enum eng_why)(qp->sq_out - 1) : ENG_W_FLUSHED_SQ);
	eng_set_vendor_err(&c, qp, ci, false);
	rc = cq_push(s, qp->cqn_snd, &c, true);
	if (rc)
		return rc;
	sq_count_flushed(s, qp, c.why);
	return 0;
}

/* The WQE at the head was executed, but its CQE is missing: write that, not a flush error. */
static int flush_owed(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t ci, uint32_t *nbb)
{
	uint8_t ctrl[WQE_BB];
	struct eng_cqe c;
	int rc = sq_read_wqe(s, qp, ci, 0, ctrl, sizeof(ctrl));

	if (rc)
		return rc;
	*nbb = (LAYOUT_GET32(wqe_ctrl, ctrl, ds) + WQE_BB / WQE_SEG - 1) / (WQE_BB / WQE_SEG);
	if (LAYOUT_GET(wqe_ctrl, ctrl, opcode) == WQE_OP_TAG_MATCHING)
		return tm_complete(s, qp, qpn, ci, ctrl, &qp->sq_out_len);
	cqe_init(&c, CQE_REQ, qp, qpn, ci);
	LAYOUT_SET(cqe64, c.b, send_opcode, LAYOUT_GET(wqe_ctrl, ctrl, opcode));
	LAYOUT_SET(cqe64, c.b, byte_cnt, qp->sq_out_len);
	return cq_push(s, qp->cqn_snd, &c, false);
}

int sq_flushable(struct seg *s, const struct hw_qp *qp, uint32_t *n)
{
	uint32_t pi = atomic_load(&qp->sq_pi), ci = atomic_load(&qp->sq_ci) & 0xffff;
	int rc = s->polled ? 0 : sq_read_pi(s, qp, &pi);

	*n = rc ? 0 : (pi - ci) & 0xffff;
	if (*n >= 0x8000)
		*n = 0;
	return rc;
}

static bool flush_sends(struct seg *s, struct hw_qp *qp, uint32_t qpn)
{
	uint32_t ci = atomic_load(&qp->sq_ci) & 0xffff, nbb = 1, left = 0;
	int rc;

	if (qp->no_sq)
		return true;
	rc = sq_flushable(s, qp, &left);
	if (rc == -ETIMEDOUT) {
		park_pending(s, qp, HW_PEND_FLUSH_SQ);
		return false;
	}
	while (left) {
		rc = qp->sq_out == 1 ? flush_owed(s, qp, qpn, ci, &nbb)
				     : flush_one(s, qp, qpn, ci, &nbb);

		if (rc == -ETIMEDOUT) {
			park_pending(s, qp, HW_PEND_FLUSH_SQ);
			return false;
		}
		if (rc) /* the WQEs cannot be read, or there is no CQ */
			nbb = left;
		if (nbb > left)
			nbb = left;
		ci = (ci + nbb) & 0xffff;
		left -= nbb;
		atomic_store(&qp->err_at, eng_clock());
		qp->sq_out = 0;
		qp->sq_drain = 0;
		qp->took = 0;
		qp->mc_at = 0;
		ack_end(qp);
		atomic_store(&qp->sq_ci, ci);
	}
	atomic_store(&qp->park, HW_PARK_NO);
	return true;
}

bool sq_flush(struct seg *s, struct hw_qp *qp, uint32_t qpn)
{
	bool done = flush_sends(s, qp, qpn);

	if (TRACE_ON(LOG_CQE))
		eng_trace_flushed(s);
	return done;
}

static int flush_receive(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t index,
			 uint32_t cqn, uint32_t uidx)
{
	struct eng_cqe c;
	int rc;

	cqe_init(&c, CQE_RESP_ERR, qp, qpn, index);
	LAYOUT_SET(cqe64, c.b, srqn_uidx, uidx & 0xffffff);
	cqe_set_error(&c, ENG_W_FLUSHED_RQ);
	rc = cq_push_receive(s, cqn, &c, qp);
	if (rc)
		return rc;
	hw_use_error(s, qp->hca, CQE_SYND_WR_FLUSH);
	eng_count(s, qp, HW_QC_RESP_CQE_ERROR);
	eng_count(s, qp, HW_QC_RESP_CQE_FLUSH_ERROR);
	return 0;
}

/* Under rq_lock. */
static void qp_last_wqe(struct seg *s, struct hw_qp *qp, uint32_t qpn)
{
	uint32_t was = atomic_load(&qp->err_reported);

	if (was == 2)
		return;
	if (!was)
		was = event_mark(qp, IBV_EVENT_QP_LAST_WQE_REACHED) | 1;
	atomic_store(&qp->err_reported, was);
	event_note_once(s, qp, qpn, IBV_EVENT_QP_LAST_WQE_REACHED, was);
	POINT("last-wqe-noted");
	atomic_store(&qp->err_reported, 2);
	eng_qp_event_pay(s, qp, qpn);
}

static bool srq_flush(struct seg *s, struct hw_qp *qp, uint32_t qpn)
{
	const struct hw_srq *srq = resp_noted() ? hw_srq(s, resp_noted_srqn()) : NULL;
	bool own_cq = srq && (srq->type == HW_SRQ_XRC || srq->tm);

	if (qp->srqn != SEG_NONE)
		tm_settle(s, qp, qpn, false);
	if (resp_noted()) {
		if (flush_receive(s, qp, qpn, resp_noted() - 1, own_cq ? srq->cqn : qp->cqn_rcv,
				  own_cq ? srq->user_index : qp->user_index) == -ETIMEDOUT)
			return false;
		POINT("flush-srq-pushed");
		resp_note(qp, 0, resp_noted_srqn());
		resp_done(qp);
	}
	qp_last_wqe(s, qp, qpn);
	return true;
}

static bool flush_receives(struct seg *s, struct hw_qp *qp, uint32_t qpn)
{
	uint32_t dbr, n;
	int rc;

	if (qp->srqn != SEG_NONE || qp->xrcd) {
		if (srq_flush(s, qp, qpn))
			return true;
		park_pending(s, qp, HW_PEND_FLUSH_RQ);
		return false;
	}
	rc = qp->no_rq ? -ENOENT : mem_read_be32(s, qp->dbr_mem, qp->dbr_va, &dbr);
	if (rc == -ETIMEDOUT)
		park_pending(s, qp, HW_PEND_FLUSH_RQ);
	if (rc)
		return rc != -ETIMEDOUT;
	n = (dbr - resp_ci()) & 0xffff;
	if (n > 1u << qp->rq_log_size)
		n = 1u << qp->rq_log_size;
	while (n) {
		uint32_t ci = resp_ci(), done;

		rc = flush_receive(s, qp, qpn, ci, qp->cqn_rcv, qp->user_index);
		done = rc ? n : 1; /* without a CQ, skip all receives at once */
		if (rc == -ETIMEDOUT) {
			park_pending(s, qp, HW_PEND_FLUSH_RQ);
			return false;
		}
		POINT("flush-rq-pushed");
		resp_consumed(ci + done);
		resp_done(qp);
		atomic_store(&qp->err_at, eng_clock());
		n -= done;
	}
	return true;
}

bool rq_flush(struct seg *s, struct hw_qp *qp, uint32_t qpn)
{
	bool done = flush_receives(s, qp, qpn);

	if (TRACE_ON(LOG_CQE))
		eng_trace_flushed(s);
	return done;
}

void rq_flush_locking(struct seg *s, struct hw_qp *qp, uint32_t qpn)
{
	if (resp_lock(s, qp, qpn)) {
		park_pending(s, qp, HW_PEND_FLUSH_RQ);
		return;
	}
	if (atomic_load(&qp->state) == PRM_QP_STATE_ERR)
		rq_flush(s, qp, qpn);
	resp_unlock(s, qp);
}
