/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * QP states: transitions by command, and waiting for users before an object is freed. Called by the
 * firmware under the HCA's lock.
 */
#include "check/check.h"
#include "engine/tx/tx.h"
#include "engine/path/cause.h"
#include "engine/rx/tm.h"
#include "engine/base/transport.h"
#include "hw/qp_state.h"
#include "hw/srq.h"
#include "util/point.h"

#include <errno.h>
#include <infiniband/verbs.h>

#define ERR_SLICE_NS (20 * NSEC_PER_MSEC)

static void reset_progress(struct seg *s, struct hw_qp *qp, uint32_t qpn)
{
	if (qp->srqn != SEG_NONE)
		tm_settle(s, qp, qpn, false);
	qp->fin_owed = HW_FIN_NONE;
	qp->psn_owed = 0;
	resp_return_srq(s, qp);
	atomic_store(&qp->sq_pi, 0);
	atomic_store(&qp->sq_rung, 0);
	atomic_store(&qp->sq_ci, 0);
	atomic_store(&qp->park, HW_PARK_NO);
	qp->fault = qp->fault_vendor = 0;
	qp->kept_psn = 0;
	qp->cable_pi = 0;
	atomic_store(&qp->park_deadline, 0);
	atomic_store(&qp->flush_pending, 0);
	atomic_store(&qp->err_reported, 0);
	qp->sq_out = 0;
	qp->sq_drain = 0;
	qp->took = 0;
	qp->mc_at = 0;
	ack_end(qp);
	qp->sq_fail = 0;
	qp->parked = 0;
	qp->nerrored = 0;
	mig_reset(qp);
	resp_reset(qp);
}

/* The program may take what the CQs have now for all of the QP's receives. */
static void flush_cqs(struct seg *s, const struct hw_qp *qp)
{
	const struct hw_srq *srq = qp->srqn == SEG_NONE ? NULL : hw_srq(s, qp->srqn);

	cq_flush(s, qp->cqn_rcv);
	if (srq && srq->tm)
		cq_flush(s, srq->cqn);
}

/* The QP whose users quiesce waits for: threads that work on it or on requests to it. */
struct qp_users {
	struct running running; /* first */
	struct seg *s;
	uint32_t qpn;
};

static bool uses_qp(const struct running *it, uint32_t qpn)
{
	const struct qp_users *u = (const struct qp_users *)it;
	const struct hw_qp *qp = hw_qp(u->s, qpn);

	return qpn == u->qpn || (qp && qp_target(qp) == u->qpn);
}

static uint32_t minds_for_qp(const struct running *it, uint32_t slot)
{
	const struct qp_users *u = (const struct qp_users *)it;
	const struct hw_qp *qp = hw_qp(u->s, u->qpn);

	return GATE_MINDS_STATE | (qp && qp->mem.slot == slot ? GATE_MINDS_OWN : 0);
}

static int wait_for_users(struct seg *s, uint32_t qpn, uint64_t ns)
{
	const struct hw_qp *qp = hw_qp(s, qpn);
	struct qp_users u = {.s = s, .qpn = qpn};

	u.running = (struct running){
		running_mark(s), uses_qp, minds_for_qp, qp ? qp->mem.slot : SEG_NONE, false, NULL};

	return running_wait(s, &u.running, ns);
}

static void unlock_queues(struct seg *s, struct hw_qp *qp)
{
	resp_unlock_pending(s, qp);
	seg_unlock(s, &qp->sq_lock);
}

/* Locks both queues or none. While both are locked, no thread moves data for this QP. */
static int lock_queues(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint64_t ns)
{
	int sq = seg_lock(s, &qp->sq_lock, ns), rq;

	if (sq < 0)
		return sq;
	if (sq == SEG_LOCK_INHERITED)
		sq_inherited(s, qp, qpn);
	rq = resp_lock_ctrl(s, qp, qpn, ns);
	if (rq)
		seg_unlock(s, &qp->sq_lock);
	return rq;
}

/*
 * The same for a move to ERR: wait while the locks' holders run. A stopped holder is not waited
 * for: its pending copies are revoked instead, so that it cannot write to memory when it goes on.
 */
static int lock_for_error(struct seg *s, struct hw_qp *qp, uint32_t qpn)
{
	uint64_t end = clock_now_ns() + SEG_LOCK_CTRL_NS;
	int rc;

	do
		rc = lock_queues(s, qp, qpn, ERR_SLICE_NS);
	while (rc && clock_now_ns() < end && wait_for_users(s, qpn, 0));
	return rc;
}

int eng_qp_set_state(struct seg *s, uint32_t qpn, enum prm_qp_state to)
{
	struct hw_qp *qp = hw_qp(s, qpn);
	uint32_t was;
	int rc;

	if (!qp)
		return -EINVAL;
	if (CHECK_ON())
		watch_finish(s, qp, qpn, false);
	rc = to == PRM_QP_STATE_ERR ? lock_for_error(s, qp, qpn)
				    : lock_queues(s, qp, qpn, SEG_LOCK_CTRL_NS);
	if (rc) {
		if (to != PRM_QP_STATE_ERR)
			return rc;
		/* The locks' holders, or the device thread, do the flush. */
		atomic_fetch_or(&qp->flush_pending, HW_PEND_FLUSH_SQ | HW_PEND_FLUSH_RQ);
		atomic_store(&qp->state, to);
		park_pending(s, qp, HW_PEND_FLUSH_SQ | HW_PEND_FLUSH_RQ);
		wait_for_users(s, qpn, SEG_LOCK_CTRL_NS);
		return 0;
	}
	if (to == PRM_QP_STATE_RST)
		cause_ended(s, qp, qpn, false);
	/* An error that came before the command stays: only a reset leaves ERR. */
	if (qp->state == PRM_QP_STATE_ERR && to != PRM_QP_STATE_ERR && to != PRM_QP_STATE_RST) {
		unlock_queues(s, qp);
		return -EINVAL;
	}
	if (to == PRM_QP_STATE_RST)
		reset_progress(s, qp, qpn);
	else if (qp->state < PRM_QP_STATE_RTS)
		sq_note_record(s, qp);
	qp->was_rts |= to == PRM_QP_STATE_RTS;
	was = atomic_exchange(&qp->state, to);
	/* After the state, as it means "executed" in others. In SQER WQEs are flushed already. */
	if (to == PRM_QP_STATE_ERR && was != to && was != PRM_QP_STATE_SQER && !qp->sq_out)
		qp->sq_out = 1 + ENG_W_FLUSHED_FIRST;
	if (to == PRM_QP_STATE_ERR) {
		atomic_store(&qp->err_at, eng_clock());
		if (atomic_load(&qp->park) == HW_PARK_RETRY)
			part_pass_sent(s, qp, qpn);
		sq_flush(s, qp, qpn);
		rq_flush(s, qp, qpn);
		park_look(s, qp->mem.slot); /* its device thread watches for later posts */
	}
	unlock_queues(s, qp);
	/*
	 * After this command, a program may assume that the CQ already has all completions of the
	 * QP's receives.
	 */
	if (to == PRM_QP_STATE_RST || to == PRM_QP_STATE_ERR)
		flush_cqs(s, qp);
	if (to == PRM_QP_STATE_RTS)
		sq_resume(s, qpn);
	return 0;
}

int eng_qp_break(struct seg *s, uint32_t qpn, uint32_t ib_event_type)
{
	struct hw_qp *qp = hw_qp(s, qpn);
	uint32_t st = qp ? atomic_load(&qp->state) : PRM_QP_STATE_RST;
	int rc;

	if (st == PRM_QP_STATE_RST || st == PRM_QP_STATE_INIT || st == PRM_QP_STATE_ERR)
		return -EINVAL;
	if (ib_event_type == IBV_EVENT_PATH_MIG_ERR) {
		eng_qp_event(s, qp, qpn, ib_event_type);
		return 0;
	}
	rc = lock_for_error(s, qp, qpn);
	if (rc)
		return rc;
	rc = qp_fail(s, qp, qpn, &qp->sq_fail, (int)ib_event_type) ? 0 : -EINVAL;
	unlock_queues(s, qp);
	return rc;
}

int eng_srq_break(struct seg *s, uint32_t srqn)
{
	struct hw_srq *srq = hw_srq(s, srqn);

	if (!srq || atomic_exchange(&srq->state, 1))
		return -EINVAL;
	eng_srq_event(s, srq, srqn, IBV_EVENT_SRQ_ERR);
	return 0;
}

static int drain(struct seg *s, struct hw_qp *dct, uint32_t dctn)
{
	int rc = lock_queues(s, dct, dctn, SEG_LOCK_CTRL_NS);

	if (rc)
		return rc;
	reset_progress(s, dct, dctn);
	dct->rx_fail = qp_fail_note(ENG_EVENT_DCT_DRAINED) | event_mark(dct, ENG_EVENT_DCT_DRAINED);
	atomic_signal_fence(memory_order_seq_cst);
	POINT("drain-begin");
	atomic_store(&dct->state, PRM_QP_STATE_RST);
	POINT("drain-state");
	qp_fail_resume(s, dct, dctn, &dct->rx_fail);
	unlock_queues(s, dct);
	return 0;
}

int eng_dct_drain(struct seg *s, uint32_t dctn)
{
	struct seg_proc *p = s->self == SEG_NONE ? NULL : seg_proc(s, s->self);
	struct hw_qp *dct = hw_qp(s, dctn);
	bool foreign = dct && p && !mem_is_self(s, dct->mem);
	int rc;

	if (!dct)
		return -EINVAL;
	/*
	 * If a fork child dies here, this count makes the owner look at its queues (as in
	 * eng_arm_cq()).
	 */
	if (foreign)
		atomic_fetch_add(&p->foreign, 1);
	rc = drain(s, dct, dctn);
	if (foreign)
		atomic_fetch_sub(&p->foreign, 1);
	return rc;
}

void eng_qp_settle(struct seg *s, uint32_t qpn)
{
	struct hw_qp *qp = hw_qp(s, qpn);

	if (qp && !resp_lock_ctrl(s, qp, qpn, ERR_SLICE_NS))
		resp_unlock_pending(s, qp);
}

void eng_process_ends(struct seg *s)
{
	seg_for_each_live (s, SEG_T_QP, qpn) {
		struct hw_qp *qp = hw_qp(s, qpn);

		if (qp && CHECK_ON() && mem_is_self(s, qp->mem))
			watch_finish(s, qp, qpn, false);
		if (!qp || !mem_is_self(s, qp->mem) || lock_queues(s, qp, qpn, ERR_SLICE_NS))
			continue;
		cause_full(s, qp, qpn);
		unlock_queues(s, qp);
	}
}

int eng_qp_quiesce(struct seg *s, uint32_t qpn)
{
	struct hw_qp *qp = hw_qp(s, qpn);
	int rc;

	if (!qp)
		return 0;
	if (CHECK_ON())
		watch_finish(s, qp, qpn, true);
	rc = lock_queues(s, qp, qpn, SEG_LOCK_CTRL_NS);
	if (rc)
		return rc;
	cause_ended(s, qp, qpn, true);
	/* Threads that wait for a lock now will find a QP that does nothing. */
	atomic_store(&qp->state, PRM_QP_STATE_RST);
	reset_progress(s, qp, qpn);
	unlock_queues(s, qp);
	/* The program removes the QP's completions from the CQ next: let none follow. */
	flush_cqs(s, qp);
	return 0;
}
