/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device thread's work: it resumes what waits in QPs, CQs and SRQs of its process (DESIGN.md
 * 6), which rouse.c has marked. Also reads doorbell records in poll mode.
 */
#include "engine/tx/tx.h"
#include "engine/base/qp.h"
#include "engine/base/transport.h"
#include "hw/cq.h"
#include "hw/evtarget.h"
#include "hw/flags.h"
#include "hw/qp_state.h"
#include "hw/share.h"
#include "hw/srq.h"
#include "hw/evsub.h"
#include "segment/proc.h"

/*
 * A program need not ring for what it posts to a QP in ERR. Cards look within 73 us (measured);
 * here the device thread looks every ENG_LOOK_NS, and less often when nothing has come for a
 * second.
 */
#define ERR_QUIET_NS NSEC_PER_SEC
#define ERR_LATE_NS (10 * NSEC_PER_MSEC)
#define CQ_OWES (HW_CQ_OWES | HW_CQ_OWES_DEVX)

static void rouse_cq(struct seg *s, uint32_t cqn)
{
	const struct hw_cq *cq = hw_cq(s, cqn);

	if (cq)
		park_rouse(s, cq->dbr_mem.slot);
}

static void rouse_srq(struct seg *s, uint32_t srqn)
{
	const struct hw_srq *srq = srqn == SEG_NONE ? NULL : hw_srq(s, srqn);

	if (!srq)
		return;
	park_rouse(s, srq->mem.slot);
	if (srq->cqn != SEG_NONE)
		rouse_cq(s, srq->cqn);
}

static void rouse_qp(struct seg *s, uint32_t qpn)
{
	const struct hw_qp *qp = hw_qp(s, qpn);

	if (!qp)
		return;
	park_rouse(s, qp->mem.slot);
	rouse_cq(s, qp->cqn_snd);
	rouse_cq(s, qp->cqn_rcv);
	rouse_srq(s, qp->srqn);
}

/*
 * The entries of seg_proc.ring say which queues the process worked on; whatever it left half done
 * belongs to one of these queues or to their peers.
 */
void eng_proc_died(struct seg *s, uint32_t slot)
{
	const struct seg_proc *p = seg_at(s, SEG_T_PROC, slot);

	for (uint32_t i = 0; p && i < SEG_RINGS; i++) {
		uint32_t who = (uint32_t)(atomic_load(&p->ring[i].use) & SEG_RING_WHO);
		const struct hw_qp *qp = who ? hw_qp(s, who - 1) : NULL;

		if (!qp)
			continue;
		rouse_qp(s, who - 1);
		rouse_qp(s, qp->dest_qpn);
		rouse_qp(s, atomic_load(&qp->ud_dest));
		rouse_srq(s, atomic_load(&qp->xrc_srqn));
	}
	if (p && atomic_load(&p->foreign))
		seg_for_each_live (s, SEG_T_PROC, i)
			park_rouse(s, i);
}

bool eng_qp_answers(const struct hw_qp *qp)
{
	return qp_receives(qp) && (qp->st == HW_ST_DCT || eng_acks(eng_transport(qp)));
}

/* Does this QP, of another owner and of a process that runs, send requests to one of the owner? */
static bool requests_from(struct seg *s, const struct hw_qp *qp, uint32_t qpn, uint32_t owner)
{
	uint32_t to = qp_target(qp);
	const struct hw_qp *peer = hw_qp(s, to);
	struct who who = who_slot(qp->mem.slot, qp->mem.gen);

	return peer && atomic_load(&qp->state) == PRM_QP_STATE_RTS && eng_acks(eng_transport(qp)) &&
	       seg_owner(s, SEG_T_QP, to) == owner && seg_owner(s, SEG_T_QP, qpn) != owner &&
	       (peer->st == HW_ST_DCT || peer->dest_qpn == qpn) && eng_qp_answers(peer) &&
	       !who_gone(s, who) && !who_stopped(s, who);
}

enum eng_requesters eng_requesters(struct seg *s, uint32_t owner, bool rouse)
{
	enum eng_requesters r = ENG_REQUESTERS_NONE;

	seg_for_each_live (s, SEG_T_QP, i) {
		struct hw_qp *qp = seg_at(s, SEG_T_QP, i);

		if (!requests_from(s, qp, i, owner))
			continue;
		if (r == ENG_REQUESTERS_NONE)
			r = ENG_REQUESTERS_IDLE;
		if (atomic_load(&qp->park) != HW_PARK_RETRY)
			continue;
		/* A requester that has tried again, in vain, has another deadline. */
		if (rouse)
			atomic_store(&qp->park_deadline, 0);
		else if (atomic_load(&qp->park_deadline))
			continue;
		r = ENG_REQUESTERS_WAIT;
		if (rouse)
			park_rouse(s, qp->mem.slot);
	}
	return r;
}

void eng_qp_adopt(struct seg *s, uint32_t qpn, uint32_t slot)
{
	const struct seg_proc *p = slot == SEG_NONE ? NULL : seg_proc(s, slot);
	struct hw_qp *qp = hw_qp(s, qpn);

	if (!p || !qp || !qp->no_rq || !qp->no_sq)
		return;
	/*
	 * While `mem` changes, another thread may see neither owner. So wake the device thread
	 * afterwards.
	 */
	qp->mem = (struct mem_slot){slot, p->gen};
	park_rouse(s, slot);
}

/* The time at which this process must look at the QP again. */
static uint64_t qp_due(struct hw_qp *qp, uint64_t now)
{
	uint32_t st = atomic_load(&qp->state);

	if (st == PRM_QP_STATE_RST || st == PRM_QP_STATE_INIT)
		return UINT64_MAX;
	if (atomic_load(&qp->flush_pending)) {
		uint64_t late = atomic_load(&qp->late_until);

		return late > now ? late : now;
	}
	if (atomic_load(&qp->park) != HW_PARK_NO)
		return atomic_load(&qp->park_deadline);
	return st == PRM_QP_STATE_ERR && (!qp->no_sq || (qp->srqn == SEG_NONE && !qp->no_rq))
		       ? now + (now - atomic_load(&qp->err_at) < ERR_QUIET_NS ? ENG_LOOK_NS
									      : ERR_LATE_NS)
		       : UINT64_MAX;
}

/* Is another process paying an event of this target, without progress since the last look? */
static bool no_move(struct hw_evtarget *t)
{
	uint64_t was = atomic_load(&t->seen), now = atomic_load(&t->paying);

	if (now != was)
		atomic_store(&t->seen, now);
	return now && now == was;
}

/*
 * serve_qps() and serve_cqs() do the work that is due. They return when to look again; UINT64_MAX:
 * no work is left.
 */
static uint64_t serve_qps(struct seg *s, _Atomic uint32_t *parked)
{
	uint64_t next = UINT64_MAX, now = eng_clock();

	seg_for_each_live (s, SEG_T_QP, i) {
		struct hw_qp *qp = seg_at(s, SEG_T_QP, i);
		uint64_t due;
		bool again;

		if (!mem_is_self(s, qp->mem))
			continue;
		again = !resp_adopt(s, qp, i);
		mig_finish(s, qp, i);
		due = qp_due(qp, now);
		if (due <= now || seg_lock_orphaned(s, &qp->sq_lock) ||
		    atomic_load(&qp->state) == PRM_QP_STATE_ERR) {
			sq_resume(s, i);
			now = eng_clock();
			due = qp_due(qp, now);
			/* the lock still cannot be taken */
			if (due <= now || seg_lock_orphaned(s, &qp->sq_lock))
				due = now + NSEC_PER_MSEC;
		}
		again |= !event_pay(s, SEG_T_QP, i, no_move(&qp->async));
		if (again && due > now + NSEC_PER_MSEC)
			due = now + NSEC_PER_MSEC;
		if (due < next)
			next = due;
		if (due != UINT64_MAX || atomic_load(&qp->park) != HW_PARK_NO)
			atomic_store(parked, 1);
	}
	return next;
}

static uint64_t serve_cqs(struct seg *s, _Atomic uint32_t *parked)
{
	uint64_t next = UINT64_MAX;

	seg_for_each_live (s, SEG_T_CQ, i) {
		struct hw_cq *cq = seg_at(s, SEG_T_CQ, i);
		uint64_t due;

		if (!mem_is_self(s, cq->dbr_mem))
			continue;
		cq_adopt(s, cq, i);
		if (cq_arm_changed(s, cq))
			cq_arm(s, i, NULL);
		due = cq_moder_run(s, cq, i);
		if (atomic_load(&cq->armed) & CQ_OWES)
			cq_pay_event(s, i, no_move(&cq->comp));
		if (!event_pay(s, SEG_T_CQ, i, no_move(&cq->async)) || cq_waits(s, i) ||
		    atomic_load(&cq->armed) & CQ_OWES || cq_arm_changed(s, cq)) {
			uint64_t soon = eng_clock() + NSEC_PER_MSEC;

			due = soon < due ? soon : due;
		}
		if (due != UINT64_MAX)
			atomic_store(parked, 1);
		next = due < next ? due : next;
	}
	return next;
}

static uint64_t serve_srqs(struct seg *s, _Atomic uint32_t *parked)
{
	uint64_t next = UINT64_MAX;

	seg_for_each_live (s, SEG_T_SHARE, i) {
		struct hw_share *sh = seg_at(s, SEG_T_SHARE, i);

		if (sh->slot != s->self || event_pay(s, SEG_T_SHARE, i, no_move(&sh->async)))
			continue;
		atomic_store(parked, 1);
		next = eng_clock() + NSEC_PER_MSEC;
	}
	seg_for_each_live (s, SEG_T_SRQ, i) {
		struct hw_srq *srq = seg_at(s, SEG_T_SRQ, i);
		bool looked;

		if (!mem_is_self(s, srq->mem))
			continue;
		looked = srq_adopt(s, srq, i);
		if (event_pay(s, SEG_T_SRQ, i, no_move(&srq->async)) && looked)
			continue;
		atomic_store(parked, 1);
		next = eng_clock() + NSEC_PER_MSEC;
	}
	return next;
}

uint64_t eng_run_due(struct seg *s)
{
	struct seg_proc *self = s->self == SEG_NONE ? NULL : seg_proc(s, s->self);
	uint64_t qps, cqs, srqs;

	if (!self || !atomic_exchange(&self->parked, 0))
		return UINT64_MAX;
	evsub_signal_own(s);
	mem_fetch(s, 0);
	qps = serve_qps(s, &self->parked);
	cqs = serve_cqs(s, &self->parked);
	srqs = serve_srqs(s, &self->parked);
	if (srqs < cqs)
		cqs = srqs;
	return qps < cqs ? qps : cqs;
}

bool eng_poll_doorbells(struct seg *s)
{
	bool found = false;

	seg_for_each_live (s, SEG_T_QP, i) {
		struct hw_qp *qp = seg_at(s, SEG_T_QP, i);
		uint32_t st = atomic_load_explicit(&qp->state, memory_order_relaxed);

		if (!mem_is_self(s, qp->mem) ||
		    (st != PRM_QP_STATE_RTS && st != PRM_QP_STATE_ERR && st != PRM_QP_STATE_SQER) ||
		    atomic_load_explicit(&qp->park, memory_order_relaxed) != HW_PARK_NO ||
		    !sq_record_changed(s, qp))
			continue;
		eng_ring_sq(s, i);
		found = true;
	}
	seg_for_each_live (s, SEG_T_CQ, i) {
		struct hw_cq *cq = seg_at(s, SEG_T_CQ, i);

		if (!mem_is_self(s, cq->dbr_mem) || !cq_arm_changed(s, cq))
			continue;
		cq_arm(s, i, NULL);
		found = true;
	}
	return found;
}
