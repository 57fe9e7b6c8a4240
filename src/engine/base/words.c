/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the words that a responder changes under rq_lock, and what this thread knows of them. Called
 * by resp_lock.c, which reads them, by the responder, and by the holder of a CQ or an SRQ.
 */
#include "engine/base/ring.h"
#include "engine/base/words.h"
#include "util/bug.h"
#include "util/point.h"

#define PAIR(first, second)                                                     \
	(offsetof(struct hw_qp, first) % 8 == 0 &&                              \
	 offsetof(struct hw_qp, second) == offsetof(struct hw_qp, first) + 4 && \
	 sizeof(((struct hw_qp *)0)->first) == 4)
static_assert(PAIR(rq_ci, rx_turn) && PAIR(next_rcv_psn, msn) && PAIR(rx_srq_wqe, rx_srqn) &&
		      PAIR(rx_first, rx_n) && offsetof(struct hw_qp, rx_intent) % 8 == 0,
	      "fields that change together are one word");
/* The tag is in the bits above the number. */
#define TAG24 (UINT64_C(1) << 56)
#define TAG16 (UINT64_C(1) << 48)

TLS_IE struct resp_words resp_held;

bool resp_note(struct hw_qp *qp, uint32_t wqe, uint32_t srqn)
{
	uint64_t tag = resp_held.note & ~(TAG24 - 1);

	return resp_is_ours(qp) && resp_swap(RESP_NOTE(qp), &resp_held.note,
					     tag | (uint64_t)(srqn & 0xffffff) << 32 | wqe);
}

void resp_unnote(struct hw_qp *qp)
{
	__atomic_fetch_and(RESP_NOTE(qp), ~(uint64_t)UINT32_MAX, __ATOMIC_SEQ_CST);
}

bool resp_set_ahead(struct hw_qp *qp, uint32_t first, uint32_t n)
{
	uint64_t tag = resp_held.ahead & ~(TAG16 - 1);

	return resp_is_ours(qp) &&
	       resp_swap(RESP_AHEAD(qp), &resp_held.ahead, tag | (uint64_t)n << 32 | first);
}

bool resp_set_psn(struct hw_qp *qp, uint32_t psn)
{
	uint64_t msn = ((resp_held.psn >> 32) + 1) & 0xffffff, tag = resp_held.psn & ~(TAG24 - 1);

	return resp_is_ours(qp) && resp_swap(RESP_PSN(qp), &resp_held.psn, tag | msn << 32 | psn);
}

void resp_intend(struct hw_qp *qp, enum resp_state state, uint32_t cqn, uint32_t value)
{
	uint64_t tag = resp_held.intent & ~(TAG24 - 1), now;

	POINT("recv-intending");
	while (resp_is_ours(qp) && !resp_swap(RESP_INTENT(qp), &resp_held.intent,
					      tag | (uint64_t)cqn << 32 | (uint32_t)state << 24 |
						      (value & RESP_INTENT_VALUE))) {
		now = resp_load(RESP_INTENT(qp));
		if ((now & ~(TAG24 - 1)) != tag)
			return;
		resp_held.intent = now;
	}
}

void resp_intent(struct hw_qp *qp, uint32_t cqn, uint32_t at)
{
	if (resp_held.ci != (uint32_t)resp_held.pos)
		resp_step(qp);
	resp_intend(qp, RESP_WRITES, cqn, at);
}

bool resp_writes(const struct hw_qp *qp)
{
	uint32_t state = RESP_INTENT_STATE(resp_load(&qp->rx_intent));

	return state == RESP_WRITES || state == RESP_WRITTEN;
}

void resp_mark_written(struct seg *s, uint32_t cqn, uint32_t at, const uint8_t *cqe)
{
	struct hw_qp *qp = hw_qp(s, LAYOUT_GET32(cqe64, cqe, qpn));
	uint64_t was = qp ? resp_load(RESP_INTENT(qp)) : 0;
	uint32_t index;

	if (RESP_INTENT_STATE(was) != RESP_WRITES || RESP_INTENT_CQN(was) != cqn ||
	    (was ^ at) & RESP_INTENT_VALUE || LAYOUT_GET(cqe64, cqe, opcode) < CQE_RESP_WR_IMM)
		return;
	index = resp_in_hand(resp_load(RESP_NOTE(qp)), (uint32_t)resp_load(RESP_POS(qp)));
	if (((uint32_t)LAYOUT_GET(cqe64, cqe, wqe_counter) ^ index) & 0xffff)
		return;
	/* If its sender has gone on meanwhile, it has stored another intent. */
	resp_swap(RESP_INTENT(qp), &was,
		  (was & ~(uint64_t)UINT32_MAX) | RESP_WRITTEN << 24 | (index & RESP_INTENT_VALUE));
}

void resp_written(struct seg *s, struct hw_qp *qp, uint32_t cqn, uint32_t at, const uint8_t *cqe)
{
	/* Without an intent before the CQE an heir would give the receive to the next message. */
	BUG_CHECK(resp_is_ours(qp) && (RESP_INTENT_STATE(resp_held.intent) != RESP_WRITES ||
				       RESP_INTENT_CQN(resp_held.intent) != cqn));
	resp_intend(qp, RESP_WRITTEN, cqn, resp_in_hand(resp_held.note, resp_held.ci));
	if (__builtin_expect(!resp_is_ours(qp), 0))
		resp_mark_written(s, cqn, at, cqe);
}

void resp_done(struct hw_qp *qp)
{
	if (resp_held.ci != (uint32_t)resp_held.pos)
		resp_step(qp);
	resp_intend_nothing(qp);
}

bool resp_busy(const struct hw_qp *qp)
{
	if (resp_held.q.gate && !gate_pass(resp_held.q.gate, GATE_STATE))
		return false;
	if (!resp_held.q.gate || resp_is_ours(qp))
		return true;
	resp_busy_end();
	return false;
}

void resp_busy_end(void)
{
	if (resp_held.q.gate)
		gate_state_end(resp_held.q.gate);
}

/* Its bits are the highest. */
static void new_tag(uint64_t *w, uint64_t tag)
{
	__atomic_fetch_add(w, tag, __ATOMIC_SEQ_CST);
}

void resp_change_tags(void *o)
{
	struct hw_qp *qp = o;

	POINT("resp-stolen");
	new_tag(RESP_POS(qp), RESP_TURN);
	new_tag(RESP_NOTE(qp), TAG24);
	new_tag(RESP_PSN(qp), TAG24);
	new_tag(RESP_AHEAD(qp), TAG16);
	new_tag(RESP_INTENT(qp), TAG24);
	POINT("resp-taken-over");
}

void resp_reset(struct hw_qp *qp)
{
	resp_consumed(0);
	resp_set_ahead(qp, 0, 0);
	resp_intend_nothing(qp);
	qp->comm_est = 0;
	qp->rx_fail = 0;
	qp->msn &= 0xff000000;
	new_tag(RESP_NOTE(qp), TAG24);
	new_tag(RESP_PSN(qp), TAG24);
	new_tag(RESP_AHEAD(qp), TAG16);
	new_tag(RESP_INTENT(qp), TAG24);
	resp_held.note = resp_load(RESP_NOTE(qp));
	resp_held.psn = resp_load(RESP_PSN(qp));
	resp_held.ahead = resp_load(RESP_AHEAD(qp));
	resp_held.intent = resp_load(RESP_INTENT(qp));
}

/*
 * A thread that was stopped with an earlier QP of this number must find changed words: each tag,
 * and the turn of the lock, begins with the element's generation, which seg_alloc() increments.
 */
void eng_qp_created(struct hw_qp *qp)
{
	qp->rq_lock.inherited = (uint16_t)(qp->gen << 8);
	atomic_store(&qp->mig, (uint64_t)(qp->gen & 0x1ffff) * HW_MIG_SEQ);
	qp->path[1].port = SEG_NONE;
	qp->rx_turn = qp->gen << 16;
	qp->msn = qp->gen << 24;
	qp->rx_srqn = qp->gen << 24;
	qp->rx_n = qp->gen << 16;
	qp->rx_intent = (uint64_t)qp->gen << 56;
}
