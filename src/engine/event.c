/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Async events of objects, for the program's event files: by verbs, to the file that the object was
 * made with, where an event whose queue is locked by a stopped reader is owed, and raised by the
 * device thread; by DEVX, to who has subscribed. Called by the engine and the firmware.
 */
#include "engine/internal.h"
#include "segment/evq.h"
#include "segment/evsub.h"
#include "wire/prm/eq.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

static_assert(LAYOUT_SZ(eqe) == EVSUB_EQE && LAYOUT_SZ(eqe_qp_srq) == EQE_BYTES,
	      "event queue entries");

void eng_devx_event(struct seg *s, uint32_t hca, uint32_t event, uint32_t queue, uint32_t id,
		    const uint8_t data[EQE_BYTES])
{
	uint8_t eqe[LAYOUT_SZ(eqe)] = {0};

	LAYOUT_SET(eqe, eqe, event_type, event);
	memcpy(eqe + EQE_DATA, data, EQE_BYTES);
	evsub_raise(s, hca, event | queue << 16, id, eqe);
}

/* PRM events by IBV_EVENT_*. */
static const uint8_t prm_event[] = {
	[IBV_EVENT_CQ_ERR] = PRM_EVENT_CQ_ERROR,
	[IBV_EVENT_QP_FATAL] = PRM_EVENT_WQ_CATAS_ERROR,
	[IBV_EVENT_QP_REQ_ERR] = PRM_EVENT_WQ_INVAL_REQ_ERROR,
	[IBV_EVENT_QP_ACCESS_ERR] = PRM_EVENT_WQ_ACCESS_ERROR,
	[IBV_EVENT_COMM_EST] = PRM_EVENT_COMM_EST,
	[IBV_EVENT_SQ_DRAINED] = PRM_EVENT_SQ_DRAINED,
	[IBV_EVENT_PATH_MIG] = PRM_EVENT_PATH_MIG,
	[IBV_EVENT_PATH_MIG_ERR] = PRM_EVENT_PATH_MIG_FAILED,
	[IBV_EVENT_SRQ_ERR] = PRM_EVENT_SRQ_CATAS_ERROR,
	[IBV_EVENT_SRQ_LIMIT_REACHED] = PRM_EVENT_SRQ_RQ_LIMIT,
	[IBV_EVENT_QP_LAST_WQE_REACHED] = PRM_EVENT_SRQ_LAST_WQE,
};

static void queue_event(struct seg *s, uint32_t hca, uint32_t ib_event_type, uint32_t queue,
			uint32_t n)
{
	uint8_t data[LAYOUT_SZ(eqe_qp_srq)] = {0};

	LAYOUT_SET(eqe_qp_srq, data, type, queue);
	LAYOUT_SET(eqe_qp_srq, data, qp_srq_n, n);
	eng_devx_event(s, hca, prm_event[ib_event_type], queue, n, data);
}

/* To the async event file that the object was made with. */
static void tell_verbs(struct seg *s, struct hw_evtarget *t, enum seg_table_id table, uint32_t idx,
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
			tell_verbs(s, &sh->async, SEG_T_SHARE, i, sh->gen, ib_event_type, sh->slot);
	}
}

void eng_qp_event(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t ib_event_type)
{
	if (__builtin_expect(qp->shared, 0))
		shares_event(s, qp->hca, qpn, ib_event_type);
	tell_verbs(s, &qp->async, SEG_T_QP, qpn, qp->gen, ib_event_type, qp->mem.slot);
	queue_event(s, qp->hca, ib_event_type,
		    qp->st == HW_ST_DCT ? PRM_EVENT_QUEUE_DCT : PRM_EVENT_QUEUE_QP, qpn);
}

void eng_cq_event(struct seg *s, struct hw_cq *cq, uint32_t cqn, uint32_t ib_event_type)
{
	uint8_t data[LAYOUT_SZ(eqe_cq_err)] = {0};

	tell_verbs(s, &cq->async, SEG_T_CQ, cqn, cq->gen, ib_event_type, cq->dbr_mem.slot);
	LAYOUT_SET(eqe_cq_err, data, cqn, cqn);
	LAYOUT_SET(eqe_cq_err, data, syndrome, atomic_load(&cq->state)); /* HW_CQ_ERR_* */
	eng_devx_event(s, cq->hca, prm_event[ib_event_type], 0, cqn, data);
}

void eng_srq_event(struct seg *s, struct hw_srq *srq, uint32_t srqn, uint32_t ib_event_type)
{
	tell_verbs(s, &srq->async, SEG_T_SRQ, srqn, srq->gen, ib_event_type, srq->mem.slot);
	/* Basic ones are RMPs, whose events are receive queues'. */
	queue_event(s, srq->hca, ib_event_type, srq->type ? PRM_EVENT_QUEUE_QP : PRM_EVENT_QUEUE_RQ,
		    srqn);
}

void event_comp(struct seg *s, const struct hw_cq *cq, uint32_t cqn)
{
	uint8_t data[LAYOUT_SZ(eqe_comp)] = {0};

	LAYOUT_SET(eqe_comp, data, cqn, cqn);
	eng_devx_event(s, cq->hca, PRM_EVENT_COMP, 0, cqn, data);
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
			tell_verbs(s, t, table, idx, qp->gen, type, qp->mem.slot);
		else if (table == SEG_T_CQ)
			tell_verbs(s, t, table, idx, cq->gen, type, cq->dbr_mem.slot);
		else if (table == SEG_T_SHARE)
			tell_verbs(s, t, table, idx, sh->gen, type, sh->slot);
		else
			tell_verbs(s, t, table, idx, srq->gen, type, srq->mem.slot);
	}
	return !atomic_load(&t->owed);
}
