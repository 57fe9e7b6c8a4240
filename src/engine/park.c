/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waiting: a QP that cannot continue is marked in the segment, and the device thread of the process
 * that registered it resumes it (DESIGN.md 6). Also reads doorbell records in poll mode.
 */
#include "engine/for_tests.h"
#include "engine/priv.h"
#include "engine/qp.h"
#include "engine/transport.h"
#include "hw/cq.h"
#include "hw/evtarget.h"
#include "hw/port.h"
#include "hw/qctr.h"
#include "hw/flags.h"
#include "hw/qp_state.h"
#include "hw/share.h"
#include "hw/srq.h"
#include "hw/world.h"
#include "hw/evsub.h"
#include "segment/proc.h"
#include "util/bits.h"
#include "util/point.h"

/*
 * A program need not ring for what it posts to a QP in ERR. Cards look within 73 us (measured);
 * here the device thread looks every ENG_LOOK_NS, and less often when nothing has come for a
 * second.
 */
#define ERR_QUIET_NS NSEC_PER_SEC
#define ERR_LATE_NS (10 * NSEC_PER_MSEC)
/* Worlds that work late (HW_SET_PACE). */
#define LATE_NS NSEC_PER_MSEC
#define SINGLE_NS (200 * NSEC_PER_USEC)
#define BATCH_NS (4 * NSEC_PER_MSEC)
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

bool park_ready(struct hw_qp *qp)
{
	return atomic_load_explicit(&qp->park, memory_order_relaxed) == HW_PARK_NO ||
	       eng_clock() >= atomic_load(&qp->park_deadline);
}

/* Is a process stopped without which nothing can be delivered to the peer? */
static bool waits_for_stopped(struct seg *s, const struct hw_qp *peer)
{
	const struct hw_cq *cq = hw_cq(s, peer->cqn_rcv);
	const struct hw_srq *srq = peer->srqn != SEG_NONE ? hw_srq(s, peer->srqn) : NULL;

	return seg_lock_stopped(s, &peer->rq_lock) || (cq && seg_lock_stopped(s, &cq->lock)) ||
	       (srq && seg_lock_stopped(s, &srq->lock)) || mem_fetch_stopped(s, peer->mem);
}

bool park_patience_ends(struct seg *s, struct hw_qp *qp, const struct hw_qp *peer)
{
	bool again = atomic_load_explicit(&qp->park, memory_order_relaxed) == HW_PARK_LOCK;
	bool ends = false;
	uint64_t now = eng_clock();

	if (!waits_for_stopped(s, peer))
		qp->stopped_since = 0;
	else if (!again || !qp->stopped_since)
		qp->stopped_since = now;
	else if (now - qp->stopped_since >= ENG_PATIENCE_NS)
		ends = true;
	ends |= again && now - qp->locked_since >= SEG_LOCK_HUNG_NS;
	if (ends) { /* the next member of a group has a patience of its own */
		qp->stopped_since = 0;
		qp->locked_since = now;
	}
	return ends;
}

/*
 * A number of nanoseconds below `n` that is the same in each run: of the queue and how far it is.
 */
static uint64_t some_ns(const struct hw_qp *qp, uint32_t qpn, uint64_t n)
{
	uint64_t x = ((uint64_t)qpn << 32 | atomic_load(&qp->sq_rung)) ^
		     (uint64_t)atomic_load(&qp->sq_ci) << 20;

	return bits_mix(x) % n;
}

void park_late(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t pend)
{
	uint64_t now = eng_clock(), due;

	if (s->pace == HW_PACE_BATCHES)
		due = now - now % BATCH_NS + BATCH_NS;
	else
		due = now + some_ns(qp, qpn, s->pace == HW_PACE_LATE ? LATE_NS : SINGLE_NS);
	/* What already waits is not put off again. */
	if (!(atomic_load(&qp->flush_pending) & pend))
		atomic_store(&qp->late_until, due);
	park_pending(s, qp, pend);
}

uint64_t park_rnr_ns(uint32_t timer)
{
	/* IBTA table 45 (RNR timers), in units of 10 us. */
	static const uint32_t tens_of_us[32] = {
		65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
		48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
		2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

	return tens_of_us[timer & 31] * UINT64_C(10000);
}

uint64_t park_ack_ns(const struct hw_qp_path *w, uint32_t retries)
{
	uint32_t shift = w->ack_timeout + w->log_rtm * retries;

	return !w->ack_timeout ? UINT64_MAX : UINT64_C(4096) << (shift < 50 ? shift : 50);
}

/*
 * RoCE, as ConnectX-5 and -6 were measured (rdma-fault-characterization, ack_timeout and
 * live_peer): 4 to 8 adaptive retransmissions, then time-outs, one fewer than retry_cnt, each as if
 * `timeout` were at least 16. Both ends of the ranges there (3.5 to 3.9 s with retry_cnt 7, 1.35 to
 * 1.51 s with 3) give two nominal time-outs for each, and the adaptive ones together 0.4 s; that
 * they double is inferred, and what retry_cnt 0 (no adaptive one) and 1 do.
 */
#define ROCE_LEAST_TIMEOUT 16
#define ROCE_ADAPTS 7u
#define ROCE_ADAPT_NS UINT64_C(3000000)

static bool adapts(const struct seg *s, const struct hw_qp *qp)
{
	const struct hw_qp_path *w = hw_qp_path(qp);
	const struct hw_port *p = hw_port(s, w->port);

	return p && hw_port_is_eth(p) && !s->plain_timers && w->ack_timeout;
}

void park_tries_begin(const struct seg *s, struct hw_qp *qp)
{
	bool adaptive = adapts(s, qp);

	qp->retries_left = qp->retry_count;
	if (adaptive)
		qp->retries_left -= qp->retry_count < 2 ? qp->retry_count : 2;
	qp->adapts_left = adaptive && qp->retry_count ? ROCE_ADAPTS : 0;
}

bool park_adapted(const struct seg *s, struct hw_qp *qp)
{
	if (!qp->adapts_left)
		return false;
	eng_count(s, qp, HW_QC_ROCE_ADP_RETRANS);
	if (!--qp->adapts_left)
		eng_count(s, qp, HW_QC_ROCE_ADP_RETRANS_TO);
	return true;
}

void park_answered(const struct seg *s, struct hw_qp *qp)
{
	/* 0: eng_requesters() has roused it, and no timer has ended */
	if (atomic_load(&qp->park_deadline) && !park_adapted(s, qp))
		eng_count(s, qp, HW_QC_LOCAL_ACK_TIMEOUT_ERR);
}

uint64_t park_try_ns(const struct seg *s, const struct hw_qp *qp)
{
	struct hw_qp_path w = *hw_qp_path(qp);
	uint64_t ns;

	if (qp->adapts_left)
		return ROCE_ADAPT_NS << (ROCE_ADAPTS - qp->adapts_left);
	if (!adapts(s, qp))
		return park_ack_ns(&w, qp->retry_count - qp->retries_left);
	if (w.ack_timeout < ROCE_LEAST_TIMEOUT)
		w.ack_timeout = ROCE_LEAST_TIMEOUT;
	ns = park_ack_ns(&w, 0);
	return ns > UINT64_MAX / 2 ? UINT64_MAX : 2 * ns;
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

/*
 * Has the program stored a new ARM record? False for a CQ under construction, whose `arm_seen` is
 * not set yet.
 */
static bool arm_changed(struct seg *s, struct hw_cq *cq)
{
	uint32_t rec;

	if (!hw_in_service(&cq->flags) || mem_read_be32(s, cq->dbr_mem, cq->dbr_va + 4, &rec))
		return false;
	POINT("cq-arm-read");
	return rec != atomic_load_explicit(&cq->arm_seen, memory_order_relaxed);
}

/* Is another process paying an event of this target, without progress since the last look? */
static bool no_move(struct hw_evtarget *t)
{
	uint64_t was = atomic_load(&t->seen), now = atomic_load(&t->paying);

	if (now != was)
		atomic_store(&t->seen, now);
	return now && now == was;
}

void park_poll_arm(struct seg *s, uint32_t cqn)
{
	struct hw_cq *cq = hw_cq(s, cqn);

	if (cq && mem_is_self(s, cq->dbr_mem) && arm_changed(s, cq))
		cq_arm(s, cqn, NULL);
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
		if (arm_changed(s, cq))
			cq_arm(s, i, NULL);
		due = cq_moder_run(s, cq, i);
		if (atomic_load(&cq->armed) & CQ_OWES)
			cq_pay_event(s, i, no_move(&cq->comp));
		if (!event_pay(s, SEG_T_CQ, i, no_move(&cq->async)) || cq_waits(s, i) ||
		    atomic_load(&cq->armed) & CQ_OWES || arm_changed(s, cq)) {
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

		if (!mem_is_self(s, cq->dbr_mem) || !arm_changed(s, cq))
			continue;
		cq_arm(s, i, NULL);
		found = true;
	}
	return found;
}
