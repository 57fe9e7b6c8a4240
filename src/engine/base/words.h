/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The words of a responder: what changes in hw_qp under rq_lock while a receive is in work. The
 * lock may be taken over from a stopped holder at any time: its later stores are dropped, as each
 * word has a tag and is changed by compare-and-swap, and its copies are refused. This thread's
 * copies of the words are in resp_held between resp_lock() and resp_unlock().
 */
#ifndef SOFTHCA_ENGINE_WORDS_H
#define SOFTHCA_ENGINE_WORDS_H

#include "hw/qp.h"
#include "segment/qlock.h"
#include "util/tls.h"

/*
 * hw_qp.rx_intent, from the lowest bit: the CQE's index in its CQ (WRITES) or the receive's index
 * (WRITTEN), 24 bits; the state, 8 bits; the CQ's number, 24 bits; the tag. If the QP's holder died
 * or was stopped, the next holder of the CQ changes WRITES to WRITTEN if the CQE is there; if the
 * state remains WRITES, nothing was written. REPAIR: a lock was inherited from a dead holder that
 * had no intent, and was released before the repair.
 */
enum resp_state { RESP_IDLE, RESP_WRITES, RESP_WRITTEN, RESP_REPAIR };
#define RESP_INTENT_VALUE 0xffffffu
#define RESP_INTENT_STATE(w) ((uint32_t)(w) >> 24)
#define RESP_INTENT_CQN(w) ((uint32_t)((w) >> 32) & 0xffffff)

/*
 * Flags in the note of a taken receive (resp_note()) and in eng_recv.index. TM_NOTE: it is an entry
 * of a tag list, not a WQE. TM_SECOND: the second completion of its rendezvous is still to be
 * written.
 */
#define TM_NOTE 0x20000u
#define TM_SECOND 0x40000u

#define RESP_POS(qp) ((uint64_t *)&(qp)->rq_ci)
#define RESP_PSN(qp) ((uint64_t *)&(qp)->next_rcv_psn)
#define RESP_NOTE(qp) ((uint64_t *)&(qp)->rx_srq_wqe)
#define RESP_AHEAD(qp) ((uint64_t *)&(qp)->rx_first)
#define RESP_INTENT(qp) (&(qp)->rx_intent)
#define RESP_TURN UINT64_C(0x100000000) /* of the first one */

/*
 * The responder that this thread has locked, and its words as this thread last saw or stored them.
 */
extern TLS_IE struct resp_words {
	struct qheld q;
	uint64_t pos, note, ahead, psn, intent;
	uint32_t ci; /* receives consumed; the next turn stores it */
} resp_held;

static inline uint64_t resp_load(const uint64_t *w)
{
	return __atomic_load_n(w, __ATOMIC_ACQUIRE);
}

static inline bool resp_swap(uint64_t *w, uint64_t *was, uint64_t to)
{
	if (!__atomic_compare_exchange_n(w, &(uint64_t){*was}, to, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_RELAXED))
		return false;
	*was = to;
	return true;
}

/* The lock was taken: read the words. */
static inline void resp_read(const struct hw_qp *qp)
{
	resp_held.pos = resp_load((const uint64_t *)&qp->rq_ci);
	resp_held.ci = (uint32_t)resp_held.pos & 0xffff;
	resp_held.psn = resp_load((const uint64_t *)&qp->next_rcv_psn);
	resp_held.note = resp_load((const uint64_t *)&qp->rx_srq_wqe);
	resp_held.ahead = resp_load((const uint64_t *)&qp->rx_first);
	resp_held.intent = resp_load(&qp->rx_intent);
}

/* Does this thread still hold rq_lock? False: it was taken over. */
static inline bool resp_is_ours(const struct hw_qp *qp)
{
	return resp_load((const uint64_t *)&qp->rq_ci) == resp_held.pos;
}

/* Store this thread's progress. False: the lock was taken over. */
static inline bool resp_step(struct hw_qp *qp)
{
	return resp_swap(RESP_POS(qp), &resp_held.pos,
			 ((resp_held.pos >> 32) + 1) << 32 | resp_held.ci);
}

/* The number of receives consumed. The next resp_intent(), resp_done() or resp_unlock() stores it.
 */
static inline uint32_t resp_ci(void)
{
	return resp_held.ci;
}

static inline void resp_consumed(uint32_t ci)
{
	resp_held.ci = ci & 0xffff;
}

/*
 * 1 + the SRQ WQE noted as taken for the QP (0: none), and the SRQ's number. _note: false if the
 * lock was taken over. _unnote: for the SRQ's holder, for any QP.
 */
static inline uint32_t resp_noted(void)
{
	return (uint32_t)resp_held.note;
}

static inline uint32_t resp_noted_srqn(void)
{
	return (uint32_t)(resp_held.note >> 32) & 0xffffff;
}

bool resp_note(struct hw_qp *qp, uint32_t wqe, uint32_t srqn);
void resp_unnote(struct hw_qp *qp);

/* The range of WQEs that hw_rq_ahead holds. */
static inline void resp_ahead(uint32_t *first, uint32_t *n)
{
	*first = (uint32_t)resp_held.ahead;
	*n = (uint32_t)(resp_held.ahead >> 32) & 0xffff;
}

bool resp_set_ahead(struct hw_qp *qp, uint32_t first, uint32_t n);
/* A message was executed: set the next one's sequence number. False: the lock was taken over. */
bool resp_set_psn(struct hw_qp *qp, uint32_t psn);

/* The receive in hand: its index in an SRQ or a tag list, with flags, or in the QP's own queue. */
static inline uint32_t resp_in_hand(uint64_t note, uint32_t ci)
{
	return (uint32_t)note ? (uint32_t)note - 1 : ci & 0xffff;
}

/* Is there work of an earlier message left, which comes before everything else? */
static inline bool resp_is_pending(uint64_t intent, uint64_t note)
{
	return RESP_INTENT_STATE(intent) || note & TM_SECOND;
}

/*
 * Stores the intent, unless the lock was taken over: then the intent is the new holder's. If only
 * the CQ was taken over, its new holder may have stored WRITTEN with this thread's tag: then this
 * stores over it.
 */
void resp_intend(struct hw_qp *qp, enum resp_state state, uint32_t cqn, uint32_t value);
static inline void resp_intend_nothing(struct hw_qp *qp)
{
	if (RESP_INTENT_STATE(resp_held.intent))
		resp_intend(qp, RESP_IDLE, 0, 0);
}
/*
 * resp_intent(): notes that the CQE of the receive in hand will be written at index `at` of the CQ,
 * until resp_done() or resp_unlock(). resp_written(): notes, with the CQ's lock, that it is
 * written; if the responder's lock was taken over, for the heir. _writes: for any QP: is one of the
 * two noted?
 *
 * Between the two the CQE's owner byte commits the receive; cq_commit() comes after _written(), as
 * an heir of the CQ looks at the entry at its index alone. doc/internals/tags.md has all steps.
 */
void resp_intent(struct hw_qp *qp, uint32_t cqn, uint32_t at);
void resp_written(struct seg *s, struct hw_qp *qp, uint32_t cqn, uint32_t at, const uint8_t *cqe);
bool resp_writes(const struct hw_qp *qp);
void resp_done(struct hw_qp *qp);
/*
 * For the CQ's holder, which has found a CQE at index `at` that the last holder has written, or has
 * lost the responder: notes the same for that one, if the CQE completes its receive in hand.
 */
void resp_mark_written(struct seg *s, uint32_t cqn, uint32_t at, const uint8_t *cqe);
/* After true the lock is not taken over until _end(); false: it already was. */
bool resp_busy(const struct hw_qp *qp);
void resp_busy_end(void);
/* Between the two, or without a gate: this thread may make a change of several stores. */
static inline bool resp_is_busy(void)
{
	return !resp_held.q.gate || (gate_word(resp_held.q.gate) & ~GATE_REVOKED) == GATE_STATE;
}
/* The lock was taken over from a stopped holder, whose later stores then have no effect. */
void resp_change_tags(void *o);
/* If the caller cannot lock the responder anew, its unlock has no effect. */
static inline void resp_forget(void)
{
	resp_held.pos -= RESP_TURN;
}
/* Set the responder's words in hw_qp to their values after a reset. */
void resp_reset(struct hw_qp *qp);

#endif
