/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Async events of objects, for the program's event files. Called by the engine and the firmware. */
#include "engine/internal.h"
#include "segment/evq.h"

static void raise_event(struct seg *s, struct hw_evtarget *t, enum seg_table_id table, uint32_t idx,
			uint32_t gen, uint32_t type)
{
	uint32_t evq = atomic_load_explicit(&t->evq, memory_order_acquire);
	struct seg_evsrc src = {.table = table, .idx = idx, .gen = gen, .counter = 1};

	TRACE(LOG_EVENT, "async event %u of table %u index %x", type, table, idx);
	if (evq != SEG_NONE)
		evq_push(s, evq, t->evq_gen, src, t->cookie, type, 0);
}

void eng_qp_event(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t ib_event_type)
{
	raise_event(s, &qp->async, SEG_T_QP, qpn, qp->gen, ib_event_type);
}

void eng_cq_event(struct seg *s, struct hw_cq *cq, uint32_t cqn, uint32_t ib_event_type)
{
	raise_event(s, &cq->async, SEG_T_CQ, cqn, cq->gen, ib_event_type);
}

void eng_srq_event(struct seg *s, struct hw_srq *srq, uint32_t srqn, uint32_t ib_event_type)
{
	raise_event(s, &srq->async, SEG_T_SRQ, srqn, srq->gen, ib_event_type);
}
