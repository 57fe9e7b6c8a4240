/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns a responder's lock (hw_qp.rq_lock). Called by whoever executes a request, flushes or changes
 * a state.
 *
 * A stopped sender loses the lock to a waiter (qlock.h). What that one stores is a word, changed
 * by compare-and-swap, which fails later: rx_turn or a word's tag has changed. What cannot be noted
 * in one word (going to ERR, an event) is done at GATE_STATE and not taken over.
 */
#include "engine/base/transport.h"
#include "engine/rx/rx.h"
#include "engine/rx/tm.h"
#include "hw/cq.h"
#include "util/point.h"

#include <errno.h>

/*
 * Was the CQE of the receive in hand written? Only the CQ's holder can tell, before the entry is
 * used again: cq_repair() marks it. -ETIMEDOUT: the CQ is locked.
 */
static int was_written(struct seg *s, struct hw_qp *qp)
{
	uint32_t cqn = RESP_INTENT_CQN(resp_held.intent);
	struct hw_cq *cq = hw_cq(s, cqn);
	struct cq_held h;

	if (RESP_INTENT_STATE(resp_held.intent) == RESP_WRITES && cq) {
		if (cq_lock(s, cq, cqn, &h))
			return -ETIMEDOUT;
		cq_unlock(s, &h);
		resp_held.intent = resp_load(RESP_INTENT(qp));
	}
	return RESP_INTENT_STATE(resp_held.intent) == RESP_WRITTEN &&
	       !((resp_held.intent ^ resp_in_hand(resp_held.note, resp_held.ci)) &
		 RESP_INTENT_VALUE);
}

/*
 * The last holder died or was stopped: count the receive that it completed, if it is not counted.
 */
static __attribute__((noinline)) void resp_inherited(struct seg *s, struct hw_qp *qp, uint32_t qpn)
{
	uint32_t noted;
	int written;

	TRACE(LOG_CQE, "QP 0x%x: its receive queue's last user died or is stopped", qpn);
	resp_set_ahead(qp, 0, 0);
	srq_settle(s, qp);
	resp_held.note = resp_load(RESP_NOTE(qp));
	if (qp->comm_est % HW_EV_SEQ == 1)
		qp_comm_est(s, qp, qpn);
	if ((qp->rx_fail || qp->key_armed % HW_EV_SEQ == 2) && resp_busy(qp)) {
		dc_key_event_resume(s, qp, qpn);
		qp_fail_resume(s, qp, qpn, &qp->rx_fail);
		resp_busy_end();
	}
	written = was_written(s, qp);
	if (written < 0) /* leave it to the next holder of rq_lock */
		return;
	noted = resp_noted();
	tm_settle(s, qp, qpn, written);
	if (written && noted && !(noted & TM_NOTE))
		resp_note(qp, 0, resp_noted_srqn());
	else if (written && !noted && qp->srqn == SEG_NONE && !qp->no_rq)
		resp_consumed(resp_held.ci + 1);
	resp_done(qp);
}

/* Does that work, if it can be done now. */
static __attribute__((noinline)) void resp_catch_up(struct seg *s, struct hw_qp *qp, uint32_t qpn,
						    bool inherited)
{
	if (inherited || RESP_INTENT_STATE(resp_held.intent))
		resp_inherited(s, qp, qpn);
	if (!RESP_INTENT_STATE(resp_held.intent) && resp_noted() & TM_SECOND)
		tm_second(s, qp, qpn);
}

static const struct qlock resp_qlock;

static void resp_drop_lock(struct seg *s, struct hw_qp *qp)
{
	qlock_unlock(s, &resp_qlock, qp, &resp_held.q);
	resp_forget();
}

/* Gives the lock up before anything has begun; the next holder does what this one has inherited. */
static __attribute__((noinline)) void resp_give_up(struct seg *s, struct hw_qp *qp, bool inherited)
{
	if (inherited && !RESP_INTENT_STATE(resp_held.intent) &&
	    qlock_is_ours(s, &resp_qlock, qp, &resp_held.q))
		resp_intend(qp, RESP_REPAIR, 0, 0);
	POINT("resp-gives-up");
	resp_drop_lock(s, qp);
	if (inherited)
		park_rouse(s, qp->mem.slot);
}

/* `h` is resp_held.q. */
static inline __attribute__((always_inline)) int resp_begin(struct seg *s, void *o, uint32_t qpn,
							    struct qheld *h, int how)
{
	struct hw_qp *qp = o;
	bool ours;

	POINT("resp-taken");
	ours = qlock_note(s, &resp_qlock, qp, h);
	resp_read(qp);
	POINT("resp-locked");
	/* Nothing has begun yet, so give up if the gate was shut or the lock was lost. */
	if (__builtin_expect(!ours || !qlock_is_ours(s, &resp_qlock, qp, h) ||
				     (h->gate && gate_word(h->gate) & GATE_REVOKED),
			     0)) {
		resp_give_up(s, qp, how);
		return -ECANCELED;
	}
	/* The lock is never released during a receive, except after a death. */
	if (__builtin_expect(!how && !resp_is_pending(resp_held.intent, resp_held.note), 1))
		return 0;
	resp_catch_up(s, qp, qpn, how);
	if (!resp_is_pending(resp_held.intent, resp_held.note))
		return 0;
	/* An earlier message's work cannot be done now. */
	resp_unlock_pending(s, qp);
	return -ETIMEDOUT;
}

static bool resp_works_for(struct seg *s, uint32_t sender, uint32_t qpn)
{
	const struct hw_qp *qp = hw_qp(s, sender);

	return qp && qp_target(qp) == qpn;
}

static const struct qlock resp_qlock = {
	.lock = offsetof(struct hw_qp, rq_lock),
	.note = offsetof(struct hw_qp, rx_ring),
	.minds = GATE_MINDS_STATE | GATE_MINDS_POOL,
	.home = offsetof(struct hw_qp, mem),
	.works_for = resp_works_for,
	.retag = resp_change_tags,
	.begin = resp_begin,
};

int resp_lock(struct seg *s, struct hw_qp *qp, uint32_t qpn)
{
	return qlock_queue(s, &resp_qlock, qp, qpn, &resp_held.q);
}

int resp_lock_ctrl(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint64_t ns)
{
	return qlock_ctrl(s, &resp_qlock, qp, qpn, &resp_held.q, ns);
}

void resp_unlock_pending(struct seg *s, struct hw_qp *qp)
{
	if (!resp_step(qp))
		return;
	POINT("resp-stepped");
	resp_drop_lock(s, qp);
}

void resp_unlock(struct seg *s, struct hw_qp *qp)
{
	if (!resp_step(qp))
		return;
	POINT("resp-stepped");
	resp_intend_nothing(qp);
	resp_drop_lock(s, qp);
}

bool resp_adopt(struct seg *s, struct hw_qp *qp, uint32_t qpn)
{
	bool due = resp_is_pending(resp_load(RESP_INTENT(qp)), resp_load(RESP_NOTE(qp)));
	int rc = qlock_adopt(s, &resp_qlock, qp, qpn, &resp_held.q, due);

	if (!rc)
		resp_unlock_pending(s, qp);
	/* A holder that runs finishes its receive, but it may leave a second CQE to others. */
	return !(resp_load(RESP_NOTE(qp)) & TM_SECOND ||
		 (rc != -EBUSY && RESP_INTENT_STATE(resp_load(RESP_INTENT(qp)))));
}
