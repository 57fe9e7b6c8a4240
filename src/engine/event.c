/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Async events of objects, for the program's event files. Called by the engine and the firmware. An
 * event whose queue is locked by a stopped reader is owed, and raised by the device thread.
 */
#include "engine/internal.h"
#include "segment/evq.h"

#include <errno.h>

static void raise_event(struct seg *s, struct hw_evtarget *t, enum seg_table_id table, uint32_t idx,
			uint32_t gen, uint32_t type, uint32_t slot)
{
	uint32_t evq = atomic_load_explicit(&t->evq, memory_order_acquire);
	struct seg_evsrc src = {.table = table, .idx = idx, .gen = gen, .counter = 1};

	if (TRACE_ON(LOG_EVENT))
		eng_trace_event("async", table, idx, type);
	if (evq == SEG_NONE || evq_push(s, evq, t->evq_gen, src, t->cookie, type, 0) != -ETIMEDOUT)
		return;
	atomic_fetch_or(&t->owed, 1u << type);
	park_rouse(s, slot);
}

/* A QP that several files have open tells each of them. */
static void shares_event(struct seg *s, uint32_t hca, uint32_t qpn, uint32_t ib_event_type)
{
	seg_for_each_live (s, SEG_T_SHARE, i) {
		struct hw_share *sh = seg_at(s, SEG_T_SHARE, i);

		if (sh->table == SEG_T_QP && sh->idx == qpn && sh->hca == hca &&
		    __atomic_load_n(&sh->flags, __ATOMIC_ACQUIRE) & HW_F_READY)
			raise_event(s, &sh->async, SEG_T_SHARE, i, sh->gen, ib_event_type,
				    sh->slot);
	}
}

void eng_qp_event(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t ib_event_type)
{
	if (__builtin_expect(qp->shared, 0))
		shares_event(s, qp->hca, qpn, ib_event_type);
	raise_event(s, &qp->async, SEG_T_QP, qpn, qp->gen, ib_event_type, qp->mem.slot);
}

void eng_cq_event(struct seg *s, struct hw_cq *cq, uint32_t cqn, uint32_t ib_event_type)
{
	raise_event(s, &cq->async, SEG_T_CQ, cqn, cq->gen, ib_event_type, cq->dbr_mem.slot);
}

void eng_srq_event(struct seg *s, struct hw_srq *srq, uint32_t srqn, uint32_t ib_event_type)
{
	raise_event(s, &srq->async, SEG_T_SRQ, srqn, srq->gen, ib_event_type, srq->mem.slot);
}

bool event_pay(struct seg *s, enum seg_table_id table, uint32_t idx)
{
	struct hw_qp *qp = seg_at(s, table, idx);
	struct hw_cq *cq = (void *)qp;
	struct hw_srq *srq = (void *)qp;
	struct hw_share *sh = (void *)qp;
	struct hw_evtarget *t = table == SEG_T_QP      ? &qp->async
				: table == SEG_T_CQ    ? &cq->async
				: table == SEG_T_SHARE ? &sh->async
						       : &srq->async;
	uint32_t owed;

	if (!atomic_load_explicit(&t->owed, memory_order_relaxed))
		return true;
	owed = atomic_exchange(&t->owed, 0);
	for (; owed; owed &= owed - 1) {
		uint32_t type = (uint32_t)__builtin_ctz(owed);

		if (table == SEG_T_QP)
			eng_qp_event(s, qp, idx, type);
		else if (table == SEG_T_CQ)
			eng_cq_event(s, cq, idx, type);
		else if (table == SEG_T_SHARE)
			raise_event(s, t, table, idx, sh->gen, type, sh->slot);
		else
			eng_srq_event(s, srq, idx, type);
	}
	return !atomic_load(&t->owed);
}
