/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns a responder's lock (hw_qp.rq_lock) and the words that change under it. Called by whoever
 * executes a request, flushes or changes a state.
 *
 * A waiter takes the lock over from a stopped sender: it shuts the gates through which that process
 * copies (gate.h), and finishes what was noted (resp_inherited()). The stopped thread stores only
 * by compare-and-swap, which fails later: rx_turn or a word's tag has changed. What cannot be noted
 * in one word (going to ERR, an event) is done at GATE_STATE and not taken over.
 */
#include "engine/priv.h"
#include "engine/tm.h"
#include "engine/transport.h"
#include "engine/zip.h"
#include "hw/cq.h"
#include "util/point.h"
#include "util/tls.h"

#include <errno.h>

/*
 * hw_qp.rx_intent, from the lowest bit: the CQE's index in its CQ (WRITES) or the receive's index
 * (WRITTEN), 24 bits; the state, 8 bits; the CQ's number, 24 bits; the tag. If the QP's holder died
 * or was stopped, the next holder of the CQ changes WRITES to WRITTEN if the CQE is there; if the
 * state remains WRITES, nothing was written. REPAIR: a lock was inherited from a dead holder that
 * had no intent, and was released before the repair.
 */
enum { INTENT_NONE, INTENT_WRITES, INTENT_WRITTEN, INTENT_REPAIR };
#define INTENT_VALUE 0xffffffu
#define INTENT_STATE(w) ((uint32_t)(w) >> 24)
#define INTENT_CQN(w) ((uint32_t)((w) >> 32) & 0xffffff)

#define PAIR(first, second)                                                     \
	(offsetof(struct hw_qp, first) % 8 == 0 &&                              \
	 offsetof(struct hw_qp, second) == offsetof(struct hw_qp, first) + 4 && \
	 sizeof(((struct hw_qp *)0)->first) == 4)
static_assert(PAIR(rq_ci, rx_turn) && PAIR(next_rcv_psn, msn) && PAIR(rx_srq_wqe, rx_srqn) &&
		      PAIR(rx_first, rx_n) && offsetof(struct hw_qp, rx_intent) % 8 == 0,
	      "fields that change together are one word");
#define POS(qp) ((uint64_t *)&(qp)->rq_ci)
#define PSN(qp) ((uint64_t *)&(qp)->next_rcv_psn)
#define NOTE(qp) ((uint64_t *)&(qp)->rx_srq_wqe)
#define AHEAD(qp) ((uint64_t *)&(qp)->rx_first)
#define INTENT(qp) (&(qp)->rx_intent)
#define TURN UINT64_C(0x100000000)
/* The tag is in the bits above the number. */
#define TAG24 (UINT64_C(1) << 56)
#define TAG16 (UINT64_C(1) << 48)

/*
 * The responder that this thread has locked, and its words as this thread last saw or stored them.
 */
static TLS_IE struct {
	uint64_t pos, note, ahead, psn, intent;
	uint32_t ci;   /* receives consumed; the next turn stores it */
	uint16_t lock; /* its turn */
} held;

static uint64_t load(const uint64_t *w)
{
	return __atomic_load_n(w, __ATOMIC_ACQUIRE);
}

static bool swap(uint64_t *w, uint64_t *was, uint64_t to)
{
	if (!__atomic_compare_exchange_n(w, &(uint64_t){*was}, to, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_RELAXED))
		return false;
	*was = to;
	return true;
}

bool resp_is_ours(const struct hw_qp *qp)
{
	return load((const uint64_t *)&qp->rq_ci) == held.pos;
}

/* Store this thread's progress. False: the lock was taken over. */
static bool resp_step(struct hw_qp *qp)
{
	return swap(POS(qp), &held.pos, ((held.pos >> 32) + 1) << 32 | held.ci);
}

uint32_t resp_ci(void)
{
	return held.ci;
}

void resp_consumed(uint32_t ci)
{
	held.ci = ci & 0xffff;
}

uint32_t resp_noted(void)
{
	return (uint32_t)held.note;
}

uint32_t resp_noted_srqn(void)
{
	return (uint32_t)(held.note >> 32) & 0xffffff;
}

bool resp_note(struct hw_qp *qp, uint32_t wqe, uint32_t srqn)
{
	uint64_t tag = held.note & ~(TAG24 - 1);

	return resp_is_ours(qp) &&
	       swap(NOTE(qp), &held.note, tag | (uint64_t)(srqn & 0xffffff) << 32 | wqe);
}

void resp_unnote(struct hw_qp *qp)
{
	uint64_t was = load(NOTE(qp));

	while (!swap(NOTE(qp), &was, was >> 32 << 32))
		was = load(NOTE(qp));
}

void resp_ahead(uint32_t *first, uint32_t *n)
{
	*first = (uint32_t)held.ahead;
	*n = (uint32_t)(held.ahead >> 32) & 0xffff;
}

bool resp_set_ahead(struct hw_qp *qp, uint32_t first, uint32_t n)
{
	uint64_t tag = held.ahead & ~(TAG16 - 1);

	return resp_is_ours(qp) && swap(AHEAD(qp), &held.ahead, tag | (uint64_t)n << 32 | first);
}

bool resp_set_psn(struct hw_qp *qp, uint32_t psn)
{
	uint64_t msn = ((held.psn >> 32) + 1) & 0xffffff, tag = held.psn & ~(TAG24 - 1);

	return resp_is_ours(qp) && swap(PSN(qp), &held.psn, tag | msn << 32 | psn);
}

/*
 * Stores the intent, unless the lock was taken over: then the intent is the new holder's. If only
 * the CQ was taken over, its new holder may have stored WRITTEN with this thread's tag: then this
 * stores over it.
 */
static void intend(struct hw_qp *qp, uint32_t state, uint32_t cqn, uint32_t value)
{
	uint64_t tag = held.intent & ~(TAG24 - 1), now;

	POINT("recv-intending");
	while (resp_is_ours(qp) &&
	       !swap(INTENT(qp), &held.intent,
		     tag | (uint64_t)cqn << 32 | state << 24 | (value & INTENT_VALUE))) {
		now = load(INTENT(qp));
		if ((now & ~(TAG24 - 1)) != tag)
			return;
		held.intent = now;
	}
}

/* The receive in hand: its index in an SRQ or a tag list, with flags, or in the QP's own queue. */
static uint32_t in_hand(uint64_t note, uint32_t ci)
{
	return (uint32_t)note ? (uint32_t)note - 1 : ci & 0xffff;
}

void resp_intent(struct hw_qp *qp, uint32_t cqn, uint32_t at)
{
	if (held.ci != (uint32_t)held.pos)
		resp_step(qp);
	intend(qp, INTENT_WRITES, cqn, at);
}

void resp_written(struct hw_qp *qp)
{
	intend(qp, INTENT_WRITTEN, INTENT_CQN(held.intent), in_hand(held.note, held.ci));
}

bool resp_writes(const struct hw_qp *qp)
{
	uint32_t state = INTENT_STATE(load(&qp->rx_intent));

	return state == INTENT_WRITES || state == INTENT_WRITTEN;
}

void resp_mark_written(struct seg *s, uint32_t cqn, uint32_t at, const uint8_t *cqe)
{
	struct hw_qp *qp = hw_qp(s, LAYOUT_GET32(cqe64, cqe, qpn));
	uint64_t was = qp ? load(INTENT(qp)) : 0;
	uint32_t index;

	if (INTENT_STATE(was) != INTENT_WRITES || INTENT_CQN(was) != cqn ||
	    (was ^ at) & INTENT_VALUE || LAYOUT_GET(cqe64, cqe, opcode) < CQE_RESP_WR_IMM)
		return;
	index = in_hand(load(NOTE(qp)), (uint32_t)load(POS(qp)));
	if (((uint32_t)LAYOUT_GET(cqe64, cqe, wqe_counter) ^ index) & 0xffff)
		return;
	/* If its sender has gone on meanwhile, it has stored another intent. */
	swap(INTENT(qp), &was,
	     (was & ~(uint64_t)UINT32_MAX) | INTENT_WRITTEN << 24 | (index & INTENT_VALUE));
}

static void intend_nothing(struct hw_qp *qp)
{
	if (INTENT_STATE(held.intent))
		intend(qp, INTENT_NONE, 0, 0);
}

void resp_done(struct hw_qp *qp)
{
	if (held.ci != (uint32_t)held.pos)
		resp_step(qp);
	intend_nothing(qp);
}

bool resp_busy(const struct hw_qp *qp)
{
	uint32_t n;
	struct seg_ring *e = running_mine(&n);

	if (!e)
		return true;
	if (!gate_pass(&e->gate, GATE_STATE))
		return false;
	if (resp_is_ours(qp))
		return true;
	gate_state_end(&e->gate);
	return false;
}

void resp_busy_end(void)
{
	uint32_t n;
	struct seg_ring *e = running_mine(&n);

	if (e)
		gate_state_end(&e->gate);
}

/*
 * Was the CQE of the receive in hand written? Only the CQ's holder can tell, before the entry is
 * used again: cq_repair() marks it. -ETIMEDOUT: the CQ is locked.
 */
static int was_written(struct seg *s, struct hw_qp *qp)
{
	uint32_t cqn = INTENT_CQN(held.intent);
	struct hw_cq *cq = hw_cq(s, cqn);

	if (INTENT_STATE(held.intent) == INTENT_WRITES && cq) {
		if (cq_lock(s, cq, cqn))
			return -ETIMEDOUT;
		cq_unlock(s, cq);
		held.intent = load(INTENT(qp));
	}
	return INTENT_STATE(held.intent) == INTENT_WRITTEN &&
	       !((held.intent ^ in_hand(held.note, held.ci)) & INTENT_VALUE);
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
	held.note = load(NOTE(qp));
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
		resp_consumed(held.ci + 1);
	resp_done(qp);
}

/* Is there work of an earlier message left, which comes before everything else? */
static bool is_pending(uint64_t intent, uint64_t note)
{
	return INTENT_STATE(intent) || note & TM_SECOND;
}

/* Does that work, if it can be done now. */
static __attribute__((noinline)) void resp_catch_up(struct seg *s, struct hw_qp *qp, uint32_t qpn,
						    bool inherited)
{
	if (inherited || INTENT_STATE(held.intent))
		resp_inherited(s, qp, qpn);
	if (!INTENT_STATE(held.intent) && resp_noted() & TM_SECOND)
		tm_second(s, qp, qpn);
}

static void new_tag(uint64_t *w, uint64_t tag)
{
	uint64_t was = load(w);

	while (!swap(w, &was, was + tag))
		was = load(w);
}

/* Takes the lock over from a stopped holder, whose later stores then have no effect. */
static bool take_over(struct seg *s, struct hw_qp *qp, uint32_t qpn)
{
	if (!steal(s, &qp->rq_lock, &qp->rx_ring, qp->mem.slot, qpn, &held.lock))
		return false;
	POINT("resp-stolen");
	new_tag(POS(qp), TURN);
	new_tag(NOTE(qp), TAG24);
	new_tag(PSN(qp), TAG24);
	new_tag(AHEAD(qp), TAG16);
	new_tag(INTENT(qp), TAG24);
	POINT("resp-taken-over");
	return true;
}

static void resp_drop_lock(struct seg *s, struct hw_qp *qp)
{
	steal_unnote(&qp->rx_ring);
	seg_unlock_turn(s, &qp->rq_lock, held.lock);
	held.pos -= TURN; /* if the caller cannot lock it anew, its unlock has no effect */
}

/* Gives the lock up before anything has begun; the next holder does what this one has inherited. */
static __attribute__((noinline)) void resp_give_up(struct seg *s, struct hw_qp *qp, bool inherited)
{
	if (inherited && !INTENT_STATE(held.intent) &&
	    seg_lock_has_turn(s, &qp->rq_lock, held.lock))
		intend(qp, INTENT_REPAIR, 0, 0);
	POINT("resp-gives-up");
	resp_drop_lock(s, qp);
	if (inherited)
		park_rouse(s, qp->mem.slot);
}

/* The lock is taken; finish resp_lock() and return its result. */
static inline __attribute__((always_inline)) int resp_begin(struct seg *s, struct hw_qp *qp,
							    uint32_t qpn, bool inherited)
{
	struct seg_gate *gate;
	bool ours;

	POINT("resp-taken");
	ours = steal_note(s, &qp->rq_lock, &qp->rx_ring, held.lock, &gate);
	held.pos = load(POS(qp));
	held.ci = (uint32_t)held.pos & 0xffff;
	held.psn = load(PSN(qp));
	held.note = load(NOTE(qp));
	held.ahead = load(AHEAD(qp));
	held.intent = load(INTENT(qp));
	POINT("resp-locked");
	/* Nothing has begun yet, so give up if the gate was shut or the lock was lost. */
	if (__builtin_expect(!ours || !seg_lock_has_turn(s, &qp->rq_lock, held.lock) ||
				     (gate && gate_word(gate) & GATE_REVOKED),
			     0)) {
		resp_give_up(s, qp, inherited);
		return -ECANCELED;
	}
	/* The lock is never released during a receive, except after a death. */
	if (__builtin_expect(inherited || is_pending(held.intent, held.note), 0))
		resp_catch_up(s, qp, qpn, inherited);
	return 0;
}

/* -ETIMEDOUT, without the lock, if an earlier message's work could not be done. */
static int resp_begun(struct seg *s, struct hw_qp *qp, int rc)
{
	if (rc || __builtin_expect(!is_pending(held.intent, held.note), 1))
		return rc;
	resp_unlock_pending(s, qp);
	return -ETIMEDOUT;
}

int resp_lock(struct seg *s, struct hw_qp *qp, uint32_t qpn)
{
	int rc = seg_lock_queue(s, &qp->rq_lock, &held.lock);

	if (rc == -ETIMEDOUT && take_over(s, qp, qpn))
		rc = SEG_LOCK_INHERITED;
	if (rc < 0)
		return rc;
	return resp_begun(s, qp, resp_begin(s, qp, qpn, rc == SEG_LOCK_INHERITED));
}

int resp_lock_ctrl(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint64_t ns)
{
	uint64_t end = clock_now_ns() + ns;
	int rc;

	do {
		rc = ns < SEG_LOCK_CTRL_NS ? seg_lock_turn(s, &qp->rq_lock, ns, &held.lock)
					   : seg_lock_if_runs_turn(s, &qp->rq_lock, &held.lock);
		if (rc == -ETIMEDOUT && take_over(s, qp, qpn))
			rc = SEG_LOCK_INHERITED;
		if (rc >= 0)
			rc = resp_begun(s, qp, resp_begin(s, qp, qpn, rc == SEG_LOCK_INHERITED));
	} while (rc == -ETIMEDOUT && clock_now_ns() < end);
	return rc;
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
	intend_nothing(qp);
	resp_drop_lock(s, qp);
}

bool resp_adopt(struct seg *s, struct hw_qp *qp, uint32_t qpn)
{
	int rc = -EBUSY;

	if (is_pending(load(INTENT(qp)), load(NOTE(qp))) || seg_lock_orphaned(s, &qp->rq_lock))
		rc = seg_trylock_turn(s, &qp->rq_lock, &held.lock);
	if (rc >= 0 && !resp_begin(s, qp, qpn, rc == SEG_LOCK_INHERITED))
		resp_unlock_pending(s, qp);
	/* A holder that runs finishes its receive, but it may leave a second CQE to others. */
	return !(load(NOTE(qp)) & TM_SECOND || (rc >= 0 && INTENT_STATE(load(INTENT(qp)))));
}

void resp_reset(struct hw_qp *qp)
{
	resp_consumed(0);
	resp_set_ahead(qp, 0, 0);
	intend_nothing(qp);
	qp->comm_est = 0;
	qp->rx_fail = 0;
	qp->msn &= 0xff000000;
	new_tag(NOTE(qp), TAG24);
	new_tag(PSN(qp), TAG24);
	new_tag(AHEAD(qp), TAG16);
	new_tag(INTENT(qp), TAG24);
	held.note = load(NOTE(qp));
	held.psn = load(PSN(qp));
	held.ahead = load(AHEAD(qp));
	held.intent = load(INTENT(qp));
}

/* A thread that was stopped with an earlier QP of this number must find changed words. */
void eng_qp_created(struct hw_qp *qp)
{
	atomic_store(&qp->mig, (uint64_t)(qp->gen & 0x1ffff) * HW_MIG_SEQ);
	qp->path[1].port = SEG_NONE;
	qp->rx_turn = qp->gen << 16;
	qp->msn = qp->gen << 24;
	qp->rx_srqn = qp->gen << 24;
	qp->rx_n = qp->gen << 16;
	qp->rx_intent = (uint64_t)qp->gen << 56;
}
