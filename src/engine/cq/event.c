/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Async events of objects, for the program's event files. By verbs they go to the file that the
 * object was made with; if a stopped reader locks that file's queue, the event is owed and the
 * device thread raises it. By DEVX they go to subscribers. Called by the engine and the firmware.
 */
#include "engine/cq/cq.h"
#include "engine/for_tests.h"
#include "engine/base/transport.h"
#include "hw/cq.h"
#include "hw/evtarget.h"
#include "hw/flags.h"
#include "hw/obj.h"
#include "hw/qp_state.h"
#include "hw/share.h"
#include "hw/srq.h"
#include "hw/evq.h"
#include "hw/evsub.h"
#include "wire/prm/eq.h"
#include "wire/prm/rmp_srq.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

static_assert(LAYOUT_SZ(eqe) == EVSUB_EQE && EQE_DATA + LAYOUT_SZ(eqe_qp_srq) <= EVSUB_EQE,
	      "event queue entries");

/* PRM event numbers, indexed by IBV_EVENT_* and ENG_EVENT_*. */
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
	[IBV_EVENT_WQ_FATAL] = PRM_EVENT_WQ_CATAS_ERROR,
	[ENG_EVENT_DCT_KEY] = PRM_EVENT_DCT_KEY_VIOLATION,
	[ENG_EVENT_DCT_DRAINED] = PRM_EVENT_DCT_DRAINED,
};

/* An object's event target, and where the device notes owed events. */
struct source {
	struct hw_evtarget *t;
	enum seg_table_id table;
	uint32_t idx, gen, slot, hca;
	uint32_t queue; /* PRM_EVENT_QUEUE_* for the EQE */
	bool devx;
};

static struct source source_of(struct seg *s, enum seg_table_id table, uint32_t idx)
{
	struct hw_qp *qp = seg_at(s, table, idx);
	struct hw_cq *cq = (void *)qp;
	struct hw_srq *srq = (void *)qp;
	struct hw_share *sh = (void *)qp;
	struct hw_obj *wq = (void *)qp;

	switch ((int)table) {
	case SEG_T_QP:
		return (struct source){&qp->async,
				       table,
				       idx,
				       qp->gen,
				       qp->mem.slot,
				       qp->hca,
				       eng_transport(qp)->event_queue,
				       true};
	case SEG_T_CQ:
		return (struct source){&cq->async,       table,   idx, cq->gen,
				       cq->dbr_mem.slot, cq->hca, 0,   true};
	case SEG_T_OBJ:
		return (struct source){&wq->async,         table, idx, wq->gen, SEG_NONE, wq->hca,
				       PRM_EVENT_QUEUE_RQ, true};
	case SEG_T_SHARE:
		return (struct source){&sh->async, table,   idx, sh->gen,
				       sh->slot,   sh->hca, 0,   false};
	default: /* Basic SRQs are RMPs: their events are those of receive queues. */
		return (struct source){&srq->async,
				       table,
				       idx,
				       srq->gen,
				       srq->mem.slot,
				       srq->hca,
				       srq->type ? PRM_EVENT_QUEUE_QP : PRM_EVENT_QUEUE_RQ,
				       true};
	}
}

static struct hw_srq *srq_with_limit(const struct source *o, uint32_t type)
{
	return o->table == SEG_T_SRQ && type == IBV_EVENT_SRQ_LIMIT_REACHED
		       ? (struct hw_srq *)((uint8_t *)o->t - offsetof(struct hw_srq, async))
		       : NULL;
}

/* A CQ has only one async event, its error. */
static struct hw_cq *cq_of(const struct source *o)
{
	return o->table == SEG_T_CQ
		       ? (struct hw_cq *)((uint8_t *)o->t - offsetof(struct hw_cq, async))
		       : NULL;
}

/* Where an event is noted, of verbs or DEVX. */
static struct evsub_debt debt_of(const struct source *o, uint32_t type, bool devx)
{
	struct hw_srq *srq = srq_with_limit(o, type);
	struct hw_cq *cq = cq_of(o);
	_Atomic uint32_t *word;

	if (cq)
		return (struct evsub_debt){&cq->state,
					   devx ? HW_CQ_ST_OWES_DEVX : HW_CQ_ST_OWES,
					   o->table,
					   o->idx,
					   o->gen,
					   HW_CQ_ST_SEQ,
					   atomic_load(&cq->state) / HW_CQ_ST_SEQ};
	if (srq)
		return (struct evsub_debt){
			&srq->lwm,  devx ? HW_LWM_OWES_DEVX : HW_LWM_OWES, o->table, o->idx, o->gen,
			HW_LWM_SEQ, atomic_load(&srq->lwm) / HW_LWM_SEQ};
	word = hw_event(o->t, type);
	return (struct evsub_debt){
		word,      devx ? HW_EV_OWES_DEVX : HW_EV_OWES, o->table, o->idx, o->gen,
		HW_EV_SEQ, atomic_load(word) / HW_EV_SEQ};
}

/* A bit for each type. */
static uint32_t owed(const struct source *o, bool devx)
{
	const struct hw_srq *srq = srq_with_limit(o, IBV_EVENT_SRQ_LIMIT_REACHED);
	const struct hw_cq *cq = cq_of(o);
	uint32_t types = 0;

	if (cq)
		return atomic_load(&cq->state) & (devx ? HW_CQ_ST_OWES_DEVX : HW_CQ_ST_OWES)
			       ? 1u << IBV_EVENT_CQ_ERR
			       : 0;
	for (uint32_t i = 0; i < sizeof(o->t->events) / sizeof(o->t->events[0]); i++) {
		uint32_t word = atomic_load(&o->t->events[i]);

		if (word & (devx ? HW_EV_OWES_DEVX : HW_EV_OWES))
			types |= 1u << (word / HW_EV_TYPE & 31);
	}
	if (srq && atomic_load(&srq->lwm) & (devx ? HW_LWM_OWES_DEVX : HW_LWM_OWES))
		types |= 1u << IBV_EVENT_SRQ_LIMIT_REACHED;
	return types;
}

/*
 * Notes an event. Event numbers begin with `gen` of the object, so that they do not continue those
 * of an earlier object with the same index. With `mark`: notes nothing if another event was noted
 * since the mark.
 */
static void note(struct hw_evtarget *t, uint32_t gen, uint32_t type, bool devx,
		 const uint32_t *mark)
{
	uint32_t owes = atomic_load(&t->evq) != SEG_NONE ? HW_EV_OWES : 0, was, n;
	_Atomic uint32_t *word = hw_event(t, type);

	if (devx)
		owes |= HW_EV_OWES_DEVX;
	if (type >= ENG_EVENT_DEVX)
		owes = HW_EV_OWES_DEVX;
	was = atomic_load(word);
	do {
		if (mark && was / HW_EV_SEQ != *mark / HW_EV_SEQ)
			return;
		n = was ? was / HW_EV_SEQ : gen << 12;
		owes |= was & (HW_EV_OWES | HW_EV_OWES_DEVX);
	} while (!atomic_compare_exchange_weak(word, &was,
					       owes + type * HW_EV_TYPE + (n + 1) * HW_EV_SEQ));
}

/* Send the event to the async event file that the object was made with. */
static void tell_verbs(struct seg *s, const struct source *o, uint32_t type, bool overtake)
{
	uint32_t evq = atomic_load_explicit(&o->t->evq, memory_order_acquire);
	struct seg_evsrc src = {.table = o->table, .idx = o->idx, .gen = o->gen, .counter = 1};
	int rc = -ENOENT;

	if (TRACE_ON(LOG_EVENT))
		eng_trace_event("async", o->table, o->idx, type);
	if (evq != SEG_NONE)
		rc = evq_push_owed(s, evq, o->t->evq_gen, src, o->t->cookie, type, NULL, 0,
				   overtake);
	if (rc == -EBUSY && !overtake)
		park_rouse(s, o->slot);
	else if (rc == -ENOENT) {
		struct evsub_debt debt = debt_of(o, type, false);

		atomic_fetch_and(debt.word, ~debt.bit);
	}
}

static void tell_devx(struct seg *s, const struct source *o, uint32_t type)
{
	struct evsub_debt debt = debt_of(o, type, true);
	uint8_t eqe[LAYOUT_SZ(eqe)] = {0}, *data = eqe + EQE_DATA;

	LAYOUT_SET(eqe, eqe, event_type, prm_event[type]);
	if (o->table == SEG_T_CQ) {
		const struct hw_cq *cq = seg_at(s, SEG_T_CQ, o->idx);

		LAYOUT_SET(eqe_cq_err, data, cqn, o->idx);
		LAYOUT_SET(eqe_cq_err, data, syndrome, hw_cq_error(cq)); /* HW_CQ_ERR_* */
	} else if (type >= ENG_EVENT_DEVX) {
		LAYOUT_SET(eqe_dct, data, dctn, o->idx);
	} else {
		LAYOUT_SET(eqe_qp_srq, data, type, o->queue);
		LAYOUT_SET(eqe_qp_srq, data, qp_srq_n, o->idx);
	}
	if (!evsub_raise_owed(s, o->hca, prm_event[type] | o->queue << 16, o->idx, eqe, &debt))
		park_rouse(s, o->slot);
}

bool event_pay(struct seg *s, enum seg_table_id table, uint32_t idx, bool overtake)
{
	struct source o = source_of(s, table, idx);

	for (uint32_t types = owed(&o, false); types; types &= types - 1)
		tell_verbs(s, &o, (uint32_t)__builtin_ctz(types), overtake);
	for (uint32_t types = owed(&o, true); types; types &= types - 1)
		tell_devx(s, &o, (uint32_t)__builtin_ctz(types));
	return !owed(&o, false) && !owed(&o, true);
}

/* The next share of a QP, from index `from` on: each file that shares it gets its events. */
static uint32_t share_of(struct seg *s, const struct hw_qp *qp, uint32_t qpn, uint32_t from)
{
	for (uint32_t i = seg_next(s, SEG_T_SHARE, SEG_OWNER_ANY, from); i != SEG_NONE;
	     i = seg_next(s, SEG_T_SHARE, SEG_OWNER_ANY, i + 1)) {
		const struct hw_share *sh = seg_at(s, SEG_T_SHARE, i);

		if (sh->table == SEG_T_QP && sh->idx == qpn && sh->hca == qp->hca &&
		    __atomic_load_n(&sh->flags, __ATOMIC_ACQUIRE) & HW_F_READY)
			return i;
	}
	return SEG_NONE;
}

uint32_t event_mark(struct hw_qp *qp, uint32_t type)
{
	return atomic_load(hw_event(&qp->async, type)) / HW_EV_SEQ * HW_EV_SEQ;
}

static void note_all(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t type,
		     const uint32_t *mark)
{
	if (__builtin_expect(qp->shared, 0))
		for (uint32_t i = share_of(s, qp, qpn, 0); i != SEG_NONE;
		     i = share_of(s, qp, qpn, i + 1)) {
			struct hw_share *sh = seg_at(s, SEG_T_SHARE, i);

			note(&sh->async, sh->gen, type, false, NULL);
		}
	note(&qp->async, qp->gen, type, true, mark);
}

void event_note_once(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t type, uint32_t mark)
{
	if (event_mark(qp, type) == mark / HW_EV_SEQ * HW_EV_SEQ)
		note_all(s, qp, qpn, type, &mark);
}

void eng_qp_event_note(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t ib_event_type)
{
	note_all(s, qp, qpn, ib_event_type, NULL);
}

void eng_qp_event_pay(struct seg *s, const struct hw_qp *qp, uint32_t qpn)
{
	if (__builtin_expect(qp->shared, 0))
		for (uint32_t i = share_of(s, qp, qpn, 0); i != SEG_NONE;
		     i = share_of(s, qp, qpn, i + 1))
			event_pay(s, SEG_T_SHARE, i, false);
	event_pay(s, SEG_T_QP, qpn, false);
}

void eng_qp_event(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t ib_event_type)
{
	eng_qp_event_note(s, qp, qpn, ib_event_type);
	eng_qp_event_pay(s, qp, qpn);
}

void eng_srq_event(struct seg *s, struct hw_srq *srq, uint32_t srqn, uint32_t ib_event_type)
{
	note(&srq->async, srq->gen, ib_event_type, true, NULL);
	event_pay(s, SEG_T_SRQ, srqn, false);
}

/* No device thread looks after WQs: what a stopped reader holds up is tried again here. */
int eng_wq_break(struct seg *s, uint32_t rqn)
{
	struct hw_obj *wq = hw_obj(s, rqn);

	if (!wq || wq->kind != HW_OBJ_RQ ||
	    atomic_exchange(&wq->state, PRM_WQ_STATE_ERR) == PRM_WQ_STATE_ERR)
		return -EINVAL;
	note(&wq->async, wq->gen, IBV_EVENT_WQ_FATAL, true, NULL);
	event_pay(s, SEG_T_OBJ, rqn, true);
	return 0;
}

void event_comp(struct seg *s, const struct hw_cq *cq, uint32_t cqn)
{
	struct evsub_debt debt = {(_Atomic uint32_t *)&cq->armed,
				  HW_CQ_OWES_DEVX,
				  SEG_T_CQ,
				  cqn,
				  cq->gen,
				  HW_CQ_ARM_SEQ,
				  atomic_load(&cq->armed) / HW_CQ_ARM_SEQ};
	uint8_t eqe[LAYOUT_SZ(eqe)] = {0};

	LAYOUT_SET(eqe, eqe, event_type, PRM_EVENT_COMP);
	LAYOUT_SET(eqe_comp, eqe + EQE_DATA, cqn, cqn);
	if (!evsub_raise_owed(s, cq->hca, PRM_EVENT_COMP, cqn, eqe, &debt))
		park_rouse(s, cq->dbr_mem.slot);
}
