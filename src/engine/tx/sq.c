/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Send queues: takes doorbells, fetches and dispatches WQEs, settles outcomes (completion, error,
 * parking). Called by the thread that rings, the device thread and the firmware; owns sq_lock.
 */
#include "engine/path/cause.h"
#include "engine/path/link.h"
#include "check/check.h"
#include "engine/tx/tx.h"
#include "engine/keys/sig.h"
#include "engine/rx/tm.h"
#include "engine/tx/sender.h"
#include "fault/fault.h"
#include "hw/cq.h"
#include "hw/qctr.h"
#include "hw/qp_state.h"
#include "hw/srq.h"
#include "hw/timer.h"
#include "hw/use.h"
#include "hw/world.h"
#include "util/point.h"

#include <errno.h>
#include <infiniband/verbs.h>

#define UAR_CQ_DOORBELL 0x20
#define UAR_BF_FIRST 0x800 /* the first send doorbell register; there is one every 0x100 bytes */
#define UAR_BF_MASK 0xff
#define SQ_NOTED 0x80000000u /* marks a noted doorbell record, whose index has only 16 bits */

static enum eng_out execute(struct eng_run *r)
{
	const struct eng_op *op = eng_op(r->opcode);

	r->byte_cnt = 0;
	r->format = CQE_FORMAT_NO_DATA;
	if (!eng_accepts(r->transport, r->opcode)) {
		r->why = ENG_W_OPCODE;
		return ENG_FAILED;
	}
	if (op->kind == ENG_K_NOP)
		return ENG_DONE;
	running_any_key(r->ring);
	if (op->kind == ENG_K_UMR)
		return umr_execute(r);
	if (op->kind == ENG_K_MMO)
		return mmo_execute(r);
	if (op->kind == ENG_K_SET_PSV)
		return sig_set_psv(r);
	if (op->kind == ENG_K_TM)
		return tm_execute(r);
	if (__builtin_expect(mig_is_busy(r->qp), 0))
		mig_finish(r->s, r->qp, r->qpn);
	r->own = hw_qp_path(r->qp);
	r->port = hw_port(r->s, r->own->port);
	r->link = eng_link(r->port);
	if (r->opcode != WQE_OP_SEND_INVAL)
		running_no_keys(r->ring);
	return r->sender->execute(r);
}

/*
 * mlx5dv_qp_cancel_posted_send_wrs(3): a card stops the queue between the WQE whose signature was
 * wrong and the next WQE with a fence. Here it stops behind the former. If another error came
 * first, that state stays. Nothing has to be noted, because whoever finds this thread dead fails
 * the QP.
 */
static __attribute__((noinline)) void sq_drain(struct eng_run *r)
{
	struct hw_qp *qp = r->qp;
	uint32_t rts = PRM_QP_STATE_RTS;

	qp->sq_drain = 0;
	if (!atomic_compare_exchange_strong(&qp->state, &rts, PRM_QP_STATE_SQD))
		return;
	POINT("sq-drained");
	TRACE(LOG_CQE, "QP 0x%x: send queue drained, as a signature was wrong", r->qpn);
	eng_qp_event(r->s, qp, r->qpn, IBV_EVENT_SQ_DRAINED);
}

static void advance(struct eng_run *r)
{
	r->qp->sq_out = 0;
	r->qp->took = 0;
	r->qp->mc_at = 0;
	ack_end(r->qp);
	atomic_store_explicit(&r->qp->park, HW_PARK_NO, memory_order_relaxed);
	atomic_store_explicit(&r->qp->sq_ci, (r->ci + r->nbb) & 0xffff, memory_order_release);
	if (__builtin_expect(r->qp->sq_drain, 0))
		sq_drain(r);
}

static bool sq_fail_run(struct eng_run *r, enum eng_why why);

/*
 * End a WQE: write its CQE and advance. False: the CQ's lock could not be taken; the CQE is owed
 * (hw_qp.sq_out) and the WQE is not executed again.
 */
static bool complete(struct eng_run *r, enum eng_why why)
{
	struct hw_qp *qp = r->qp;
	struct eng_cqe c;
	int rc = 0;

	if (__builtin_expect(atomic_load_explicit(&qp->park, memory_order_relaxed) != HW_PARK_NO,
			     0)) {
		if (atomic_load(&qp->park) == HW_PARK_RETRY && why != ENG_W_RETRY)
			park_answered(r->s, qp);
		cause_unparked(r);
	}
	if (!why && __builtin_expect(r->opcode == WQE_OP_TAG_MATCHING, 0)) {
		rc = tm_complete(r->s, qp, r->qpn, r->ci, r->wqe, &r->byte_cnt);
	} else if (why || r->ce >= WQE_CE_ALWAYS) {
		cqe_init(&c, why ? CQE_REQ_ERR : CQE_REQ, qp, r->qpn, r->ci);
		LAYOUT_SET(cqe64, c.b, send_opcode, r->opcode);
		if (why) {
			cqe_set_error(&c, why);
			eng_set_vendor_err(&c, qp, r->ci, false);
		} else {
			LAYOUT_SET(cqe64, c.b, byte_cnt, r->byte_cnt);
		}
		if (!why && __builtin_expect(r->format, 0))
			memcpy(cqe_data(&c, r->format), r->answer, r->byte_cnt);
		rc = cq_push(r->s, qp->cqn_snd, &c, why != ENG_W_NONE);
	}
	if (rc == -ETIMEDOUT || rc == -EAGAIN) {
		/* Nobody keeps the answer for the CQE that is owed: it goes to memory. */
		enum eng_why lost = !why && r->format ? rc_place_answer(r) : ENG_W_NONE;

		if (lost)
			return sq_fail_run(r, lost);
		qp->locked_since = eng_clock();
		qp->sq_out_len = r->byte_cnt;
		qp->sq_out = 1 + why;
		park_qp(r->s, qp, HW_PARK_LOCK, eng_clock() + NSEC_PER_MSEC);
		return false;
	}
	advance(r);
	if (rc)
		qp_fail(r->s, qp, r->qpn, &qp->sq_fail, IBV_EVENT_QP_FATAL);
	return true;
}

/*
 * A WQE that has failed gets its completion only when the doorbell record counts it: measured on
 * ConnectX-5 and -6. Polled, the record is where the doorbell was seen.
 */
static bool complete_failed(struct eng_run *r, enum eng_why why)
{
	uint32_t n;

	if (!sq_flushable(r->s, r->qp, &n) && !n) {
		r->qp->sq_out = 1 + why;
		return true;
	}
	return complete(r, why);
}

static bool sq_fail_run(struct eng_run *r, enum eng_why why)
{
	struct hw_qp *qp = r->qp;

	cause_failed(r, why);
	hw_use_error(r->s, qp->hca, eng_failures[why].syndrome);
	eng_count(r->s, qp, HW_QC_REQ_CQE_ERROR);
	if (eng_failures[why].syndrome == CQE_SYND_REMOTE_ACCESS)
		eng_count(r->s, qp, HW_QC_REQ_REMOTE_ACCESS_ERRORS);
	if (eng_failures[why].syndrome == CQE_SYND_REMOTE_INVAL_REQ)
		eng_count(r->s, qp, HW_QC_REQ_REMOTE_INVALID_REQUEST);
	if (why == ENG_W_RNR)
		eng_count(r->s, qp, HW_QC_REQ_RNR_RETRIES_EXCEEDED);
	if (why == ENG_W_RETRY) {
		eng_count(r->s, qp, HW_QC_REQ_TRANSPORT_RETRIES_EXCEEDED);
		part_pass_sent(r->s, qp, r->qpn);
	}
	if (r->transport->streams && dc_stream_stops(r, why))
		return complete(r, why);
	/* Change the state first, so that a program that sees the completion finds it. */
	qp_enter_err(qp, r->transport->sqer ? PRM_QP_STATE_SQER : PRM_QP_STATE_ERR);
	park_look(r->s, qp->mem.slot); /* for what is posted from now on */
	return complete_failed(r, why);
}

static bool sq_flush_stream(struct eng_run *r)
{
	bool done;

	sq_count_flushed(r->s, r->qp, ENG_W_FLUSHED_SQ);
	done = complete(r, ENG_W_FLUSHED_SQ);
	eng_trace_flushed(r->s);
	return done;
}

static bool retry(struct eng_run *r, enum eng_out out)
{
	struct hw_qp *qp = r->qp;
	uint64_t now = eng_clock(), wait;
	uint32_t was = atomic_load(&qp->park);
	bool again = was != HW_PARK_NO && was != HW_PARK_LATE;

	if (!again) {
		park_tries_begin(r->s, qp, r->ci);
		if (CHECK_ON())
			watch_parks(r);
	}
	cause_parked(r, out == ENG_LOCKED ? HW_PARK_LOCK
			: out == ENG_RNR  ? HW_PARK_RNR
					  : HW_PARK_RETRY);
	if (out == ENG_LOCKED) {
		if (atomic_load(&qp->park) != HW_PARK_LOCK)
			qp->locked_since = now;
		park_qp(r->s, qp, HW_PARK_LOCK, now + NSEC_PER_MSEC);
		return false;
	}
	if (out == ENG_RNR) {
		eng_count(r->s, qp, HW_QC_RNR_NAK_RETRY_ERR);
		if (qp->rnr_retry != 7 && !qp->rnr_left)
			return sq_fail_run(r, ENG_W_RNR);
		if (qp->rnr_retry != 7)
			qp->rnr_left--;
		atomic_store(&qp->park_deadline,
			     now + hw_timer_ns(r->s, park_rnr_ns(r->rnr_timer)));
		atomic_store(&qp->park, HW_PARK_RNR);
		if (!r->waits_ready)
			park_rouse(r->s, qp->mem.slot);
		return false;
	}
	/* The first time-out follows the first attempt; each later one uses up a retry. */
	if (again && atomic_load(&qp->park) == HW_PARK_RETRY && !park_adapted(r->s, qp)) {
		eng_count(r->s, qp, HW_QC_LOCAL_ACK_TIMEOUT_ERR);
		if (!qp->retries_left && mig_retries_end(r)) {
			atomic_store(&qp->park, HW_PARK_NO);
			return true;
		}
		if (!qp->retries_left)
			return sq_fail_run(r, ENG_W_RETRY);
		qp->retries_left--;
	}
	wait = hw_timer_ns(r->s, park_try_ns(r->s, qp));
	park_qp(r->s, qp, HW_PARK_RETRY, wait == UINT64_MAX ? wait : now + wait);
	return false;
}

/* Execute one WQE. False: stop. */
static bool step(struct eng_run *r, uint32_t pi)
{
	struct hw_qp *qp = r->qp;
	enum eng_out out;
	int rc = sq_fetch(r, pi);

	if (rc == -ETIMEDOUT)
		return retry(r, ENG_LOCKED);
	if (rc < 0) {
		if (rc == -EFAULT)
			qp_fail(r->s, qp, r->qpn, &qp->sq_fail, IBV_EVENT_QP_FATAL);
		return false;
	}
	if (qp->sq_out) { /* the WQE was executed before: only its CQE is owed */
		r->format = CQE_FORMAT_NO_DATA;
		r->byte_cnt = qp->sq_out_len;
		return complete(r, (enum eng_why)(qp->sq_out - 1));
	}
	if (rc > 0)
		return sq_fail_run(r, (enum eng_why)rc);
	if (r->transport->streams && dc_stream_errored(r))
		return sq_flush_stream(r);
	if (__builtin_expect(r->s->unfenced, 0))
		early_step(r, pi);
	/* Waiting completions may wait for further messages, but not for other operations. */
	if (__builtin_expect(r->waits != SEG_NONE, 0) && !eng_op(r->opcode)->cqe)
		sq_flush_waiting(r);
	if (CHECK_ON() && watch_step(r, pi))
		return false;
	out = fault_waits_of(r->s, 1u << HW_AT_WR | 1u << HW_AT_RECV | 1u << HW_AT_CABLE)
		      ? fault_execute(r, execute)
		      : execute(r);
	if (out == ENG_LATER)
		return false;
	if (out == ENG_DONE)
		return complete(r, ENG_W_NONE);
	if (out == ENG_FAILED)
		return sq_fail_run(r, r->why);
	return out == ENG_AGAIN || retry(r, out);
}

/*
 * A CQ that a program armed before this post must be armed before the completion. In poll mode the
 * ARM record is written, but may not have been read yet.
 */
static void arms_first(struct seg *s, const struct hw_qp *qp)
{
	const struct hw_qp *peer = hw_qp(s, qp_target(qp));
	const struct hw_srq *srq = peer && peer->srqn != SEG_NONE ? hw_srq(s, peer->srqn) : NULL;

	park_poll_arm(s, qp->cqn_snd);
	if (peer)
		park_poll_arm(s, peer->cqn_rcv);
	if (srq && srq->tm)
		park_poll_arm(s, srq->cqn);
}

/*
 * Under sq_lock: the doorbell rang, so see how far it goes, but not before RTS, where cards lose it
 * (tests/cards/facts.md). A polled doorbell is seen in the record only, perhaps after the QP was
 * reset; then the record is as sq_note_record() left it. False: the record cannot be read now, and
 * the device thread will try.
 */
static bool sq_look(struct eng_run *r)
{
	struct hw_qp *qp = r->qp;
	uint32_t st, rec, rung;
	int rc;

	st = atomic_load_explicit(&qp->state, memory_order_relaxed);
	if (__builtin_expect(st < PRM_QP_STATE_RTS, 0) && !qp->no_sq)
		cause_not_ready(r, st);
	if (qp->no_sq || st < PRM_QP_STATE_RTS)
		return true;
	rung = atomic_load_explicit(&qp->sq_rung, memory_order_acquire);
	if (rung & HW_SQ_RUNG && !r->s->polled) {
		atomic_store_explicit(&qp->sq_pi, rung & 0xffff, memory_order_relaxed);
		return true;
	}
	rc = mem_read_be32(r->s, qp->dbr_mem, qp->dbr_va + 4, &rec);
	if (rc == -ETIMEDOUT) {
		park_pending(r->s, qp, HW_PEND_RING);
		return false;
	}
	if (rc || (r->s->polled && rec == atomic_load_explicit(&qp->sq_seen, memory_order_relaxed)))
		return true;
	if (r->s->polled)
		arms_first(r->s, qp);
	atomic_store_explicit(&qp->sq_seen, rec, memory_order_relaxed);
	atomic_store_explicit(&qp->sq_pi, rec & 0xffff, memory_order_relaxed);
	return true;
}

bool sq_record_changed(struct seg *s, const struct hw_qp *qp)
{
	uint32_t rec;

	return !qp->no_sq && !mem_read_be32(s, qp->dbr_mem, qp->dbr_va + 4, &rec) &&
	       rec != atomic_load_explicit(&qp->sq_seen, memory_order_relaxed);
}

void sq_note_record(struct seg *s, struct hw_qp *qp)
{
	uint32_t rec;

	if (!s->polled || qp->no_sq || mem_read_be32(s, qp->dbr_mem, qp->dbr_va + 4, &rec))
		return;
	if ((rec & 0xffff) != atomic_load(&qp->sq_pi) &&
	    !mem_write_be32(s, qp->dbr_mem, qp->dbr_va + 4, rec | SQ_NOTED))
		rec |= SQ_NOTED;
	atomic_store(&qp->sq_seen, rec);
}

/* The QP has no WQE in hand, but is parked for a FIN that cannot be received yet. */
static bool parked_for_fin(const struct hw_qp *qp)
{
	return qp->fin_owed == HW_FIN_PARKED;
}

/* Receives the FIN. WQEs do not wait for it. */
static void fin(struct eng_run *r, uint32_t pi)
{
	struct hw_qp *qp = r->qp;

	if (parked_for_fin(qp))
		atomic_store(&qp->park, HW_PARK_NO);
	r->nbb = 0;
	running_any_key(r->ring);
	qp->fin_owed = HW_FIN_OWED;
	if (tm_fin(r) || r->ci != pi)
		return;
	qp->fin_owed = HW_FIN_PARKED;
	park_qp(r->s, qp, HW_PARK_LOCK, eng_clock() + NSEC_PER_MSEC);
}

/*
 * Under sq_lock: execute everything rung for. False: a flush waits for a CQ's lock, and the device
 * thread continues it.
 */
static bool run(struct eng_run *r)
{
	struct hw_qp *qp = r->qp;
	uint32_t pi = atomic_load_explicit(&qp->sq_pi, memory_order_relaxed);

	if (qp->no_sq)
		return true;
	for (;; running_again(r->s, r->ring)) {
		uint32_t st = atomic_load_explicit(&qp->state, memory_order_acquire);

		r->ci = atomic_load_explicit(&qp->sq_ci, memory_order_relaxed) & 0xffff;
		if (st == PRM_QP_STATE_ERR || st == PRM_QP_STATE_SQER)
			return sq_flush(r->s, qp, r->qpn);
		if (st != PRM_QP_STATE_RTS && (st != PRM_QP_STATE_SQD || !qp->fin_owed))
			return true;
		if (!park_ready(qp) && (r->ci == pi || !parked_for_fin(qp)))
			return true;
		/*
		 * A FIN is an incoming message: a drained queue takes it, too, and it may fail the
		 * QP.
		 */
		if (__builtin_expect(qp->fin_owed, 0)) {
			fin(r, st == PRM_QP_STATE_RTS ? pi : r->ci);
			st = atomic_load_explicit(&qp->state, memory_order_acquire);
		}
		if (st != PRM_QP_STATE_RTS || r->ci == pi || !step(r, pi))
			return true;
		if (__builtin_expect(r->s->pace == HW_PACE_SINGLE, 0)) {
			park_late(r->s, qp, r->qpn, HW_PEND_RUN);
			return true;
		}
	}
}

/* Without locks: flush the receives of a QP in ERR, posted before or after the error. */
static void flush_receives(struct seg *s, struct hw_qp *qp, uint32_t qpn)
{
	if (atomic_load(&qp->state) == PRM_QP_STATE_ERR)
		rq_flush_locking(s, qp, qpn);
}

/* `waits_ready`: the caller calls ready_await(), so the device thread is not needed before. */
static void serve(struct seg *s, uint32_t qpn, uint32_t work, bool waits_ready)
{
	struct hw_qp *qp = hw_qp(s, qpn);
	struct eng_run r;
	bool on;

	if (!qp) {
		TRACE(LOG_DOORBELL, "doorbell of unknown QP 0x%x", qpn);
		if (CHECK_ON())
			check_say(CHECK_R_GONE, &(struct check_about){.kind = "QP", .number = qpn},
				  "a doorbell for QP 0x%x, which does not exist", qpn);
		return;
	}
	eng_run_begin(&r, s, qp, qpn);
	r.waits_ready = waits_ready;
	do {
		int rc;

		r.ring = running_enter(s, qpn);
		if (work & HW_PEND_RING)
			running_count(r.ring);
		rc = seg_lock(s, &qp->sq_lock, SEG_LOCK_DATA_NS);
		if (rc < 0) {
			running_leave(r.ring);
			park_pending(s, qp, work);
			return;
		}
		r.transport = eng_transport(qp);
		r.sender = eng_sender(qp);
		if (rc == SEG_LOCK_INHERITED)
			sq_inherited(s, qp, qpn);
		if (atomic_load_explicit(&qp->flush_pending, memory_order_relaxed))
			work |= atomic_exchange(&qp->flush_pending, 0);
		on = !(work & HW_PEND_RING) || sq_look(&r);
		if (CHECK_ON() && work & HW_PEND_RING)
			watch_rung(&r);
		work = HW_PEND_RUN;
		on = run(&r) && on;
		if (__builtin_expect(r.waits != SEG_NONE, 0))
			sq_flush_waiting(&r);
		seg_unlock(s, &qp->sq_lock);
		running_leave(r.ring);
		/* WQEs that wait for memory are parked, and the device thread tries again. */
		mem_fetch(s, SEG_LOCK_DATA_NS);
		flush_receives(s, qp, qpn);
		if (CHECK_ON())
			check_posted(NULL);
		/* Another thread found the lock taken meanwhile and has left its work here. */
	} while (on && !(s->pace && eng_clock() < atomic_load(&qp->late_until)) &&
		 atomic_load(&qp->flush_pending) & (HW_PEND_RING | HW_PEND_RUN | HW_PEND_FLUSH_SQ));
}

static void sq_retry(struct seg *s, uint32_t qpn)
{
	serve(s, qpn, HW_PEND_RUN, true);
}

void eng_ring_sq(struct seg *s, uint32_t qpn)
{
	const struct hw_qp *qp = s->may_wait ? hw_qp(s, qpn) : NULL;
	bool waits = qp && mem_is_self(s, qp->mem);

	serve(s, qpn, HW_PEND_RING, waits);
	if (waits &&
	    __builtin_expect(atomic_load_explicit(&qp->park, memory_order_relaxed) == HW_PARK_RNR,
			     0))
		ready_await(s, qp, qpn, sq_retry);
}

void sq_resume(struct seg *s, uint32_t qpn)
{
	serve(s, qpn, HW_PEND_RUN, false);
}

/*
 * A doorbell has the control segment of the last WQE to be executed, or, with ds 0, the index of
 * the one behind it (NVSHMEM's ibgda_ring_db()). How the record stands does not matter: measured on
 * ConnectX-5 and -6, where it may stay 0.
 */
static void sq_note_rung(struct hw_qp *qp, const uint8_t ctrl[8])
{
	uint32_t ds = LAYOUT_GET32(wqe_ctrl, ctrl, ds);
	uint32_t end =
		LAYOUT_GET32(wqe_ctrl, ctrl, wqe_index) + (ds * WQE_SEG + WQE_BB - 1) / WQE_BB;

	if (atomic_load_explicit(&qp->state, memory_order_relaxed) >= PRM_QP_STATE_RTS)
		atomic_store_explicit(&qp->sq_rung, HW_SQ_RUNG | (end & 0xffff),
				      memory_order_release);
}

/*
 * A card takes the number from the doorbell, fetches that queue's context, and ignores the doorbell
 * unless it was rung on the context's uar_page (drivers/infiniband/hw/mlx5/devx.c, "Security
 * note").
 */
void eng_uar_write(struct seg *s, uint32_t uar, uint32_t offset, uint64_t be)
{
	uint8_t v[8];

	memcpy(v, &be, sizeof(v));
	if (TRACE_ON(LOG_DOORBELL))
		eng_trace_doorbell(s, uar, offset, v);
	if (offset == UAR_CQ_DOORBELL) {
		uint32_t n = be32_load(v + 4) & 0xffffff;
		const struct hw_cq *cq = hw_cq(s, n);

		if (cq && cq->uar != uar)
			cause_wrong_uar_cq(s, cq, n, uar);
		else
			eng_arm_cq(s, n, be32_load(v));
	} else if (offset >= UAR_BF_FIRST && !(offset & UAR_BF_MASK)) {
		uint32_t n = LAYOUT_GET32(wqe_ctrl, v, qpn);
		struct hw_qp *qp = hw_qp(s, n);

		if (qp && qp->uar != uar) {
			cause_wrong_uar(s, qp, n, uar);
			return;
		}
		if (qp)
			sq_note_rung(qp, v);
		if (qp && __builtin_expect(s->pace != 0, 0))
			park_late(s, qp, n, HW_PEND_RING);
		else
			eng_ring_sq(s, n);
	}
	/*
	 * Other offsets are the rest of a BlueFlame copy. Ignore them: the WQE is in the queue,
	 * too.
	 */
}
