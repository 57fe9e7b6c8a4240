/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The responder: receive queues, receive completions, the receiver's errors. Runs in the
 * requester's thread under the responder's rq_lock; takes the lock of one CQ and, through srq.c, of
 * the SRQ.
 */
#include "check/check.h"
#include "engine/path/cause.h"
#include "engine/rx/rx.h"
#include "engine/rx/tm.h"
#include "engine/base/transport.h"
#include "hw/cq.h"
#include "hw/mkey.h"
#include "hw/qctr.h"
#include "hw/qp_state.h"
#include "hw/use.h"
#include "util/point.h"
#include "util/sys.h"

#include <errno.h>
#include <infiniband/verbs.h>

#define ACK_SPINS 64                      /* spins between reads of the clock */
#define ACK_YIELD_NS (50 * NSEC_PER_USEC) /* time of each sleep after that */

/* Under rq_lock: a message came in RTR, so raise COMM_EST. */
void qp_comm_est(struct seg *s, struct hw_qp *qp, uint32_t qpn)
{
	if (!resp_busy(qp))
		return;
	if (!qp->comm_est)
		qp->comm_est = event_mark(qp, IBV_EVENT_COMM_EST) | 1;
	atomic_signal_fence(memory_order_seq_cst);
	event_note_once(s, qp, qpn, IBV_EVENT_COMM_EST, qp->comm_est);
	POINT("comm-est-noted");
	qp->comm_est = 2;
	eng_qp_event_pay(s, qp, qpn);
	resp_busy_end();
}

/*
 * A queue of another process: read as many WQEs as fit from `ci` on, and the doorbell record, in
 * one call. Posted WQEs belong to the device, so they may be kept until used, as on a card.
 */
static int rq_fetch_ahead(struct seg *s, struct hw_qp *qp, uint8_t *wqe, uint32_t ci)
{
	uint32_t stride = 1u << qp->rq_log_stride, size = 1u << qp->rq_log_size;
	uint32_t at = ci & (size - 1), n = HW_RX_AHEAD >> qp->rq_log_stride, avail;
	uint8_t dbr[8];
	int rc;

	if (!n)
		n = 1;
	if (n > size - at)
		n = size - at;
	if (!resp_set_ahead(qp, ci, 0))
		return -ETIMEDOUT;
	POINT("recv-ahead-none");
	if (qp->mem.slot == qp->dbr_mem.slot && qp->mem.gen == qp->dbr_mem.gen) {
		uint32_t bytes = n * stride < HW_RX_AHEAD ? n * stride : HW_RX_AHEAD;
		/*
		 * Copy the record first: the WQEs that it counts are written when they are copied.
		 */
		struct mem_vec from[2] = {mem_record(qp->dbr_va),
					  {qp->rq_va + (uint64_t)at * stride, bytes}};
		struct iovec to[2] = {{dbr, from[0].len}, {wqe, bytes}};

		/*
		 * The copy goes to the segment, so it passes this thread's gate: it must not happen
		 * after the lock was taken over.
		 */
		mem_gate = resp_held.q.gate;
		rc = mem_readv(s, qp->mem, from, 2, to, 2);
		mem_gate = NULL;
	} else {
		rc = -EXDEV;
	}
	if (rc)
		return rc;
	avail = (uint16_t)(mem_record_value(dbr, qp->dbr_va) - ci);
	if (!avail)
		return -ENOENT;
	POINT("recv-ahead");
	return resp_set_ahead(qp, ci, n < avail ? n : avail) ? 0 : -ECANCELED;
}

/* Read the WQE at `ci` alone to r->rx. */
static int rq_fetch_one(struct eng_run *r, const struct hw_qp *qp, uint32_t ci)
{
	uint32_t stride = 1u << qp->rq_log_stride, dbr;
	uint64_t at = (uint64_t)(ci & ((1u << qp->rq_log_size) - 1)) << qp->rq_log_stride;
	int rc = mem_read_be32(r->s, qp->dbr_mem, qp->dbr_va, &dbr);

	if (rc)
		return rc;
	if (!(uint16_t)(dbr - ci))
		return -ENOENT;
	return mem_read(r->s, qp->mem, qp->rq_va + at, r->rx,
			stride < HW_RX_AHEAD ? stride : HW_RX_AHEAD);
}

static int rq_fetch(struct eng_run *r, struct hw_qp *qp, uint32_t qpn, struct eng_recv *rv)
{
	struct hw_rq_ahead *kept = seg_at(r->s, SEG_T_AHEAD, qpn);
	uint32_t ci = resp_ci(), stride = 1u << qp->rq_log_stride, first, kept_n, ahead;
	int rc = 0;

	resp_ahead(&first, &kept_n);
	ahead = (ci - first) & 0xffff;
	rv->seg = r->rx;
	if (!mem_is_self(r->s, qp->mem)) {
		if (ahead >= kept_n) {
			rc = rq_fetch_ahead(r->s, qp, kept->wqe, ci);
			ahead = 0;
		}
		rv->seg = kept->wqe + ahead * stride;
	}
	if (mem_is_self(r->s, qp->mem) || rc == -EXDEV) {
		if (kept_n) /* 16-bit indices wrap: no kept WQE may be skipped */
			resp_set_ahead(qp, ci, 0);
		rc = rq_fetch_one(r, qp, ci);
		rv->seg = r->rx;
	}
	rv->nseg = (stride < HW_RX_AHEAD ? stride : HW_RX_AHEAD) / WQE_SEG;
	rv->index = ci;
	rv->pdn = r->to.pdn;
	rv->from_srq = false;
	return rc;
}

int resp_fetch(struct eng_run *r, struct hw_qp *qp, uint32_t qpn, struct eng_recv *rv)
{
	if (r->to.srqn != SEG_NONE)
		return srq_fetch(r, qp, rv);
	return qp->no_rq ? -ENOENT : rq_fetch(r, qp, qpn, rv);
}

/* Only where keys may be adopted does it matter how the CQE is written. */
static bool cqe_is_near(const struct eng_run *r)
{
	const struct hw_cq *cq = atomic_load_explicit(&r->s->hdr->adopting, memory_order_relaxed)
					 ? hw_cq(r->s, r->to.cqn)
					 : NULL;

	return cq && cq_is_near(r->s, cq);
}

enum eng_why resp_buffers(struct eng_run *r, const struct hw_qp *qp, uint32_t qpn,
			  const struct eng_recv *rv, uint64_t need)
{
	sgl_init(&r->remote);
	r->remote.near = cqe_is_near(r);
	for (uint32_t i = 0; i < rv->nseg && r->remote.len < need; i++) {
		const uint8_t *seg = rv->seg + i * WQE_SEG;
		uint32_t key = LAYOUT_GET32(wqe_data, seg, lkey);
		uint64_t n = wqe_data_len(seg), left = need - r->remote.len;
		enum eng_why why;

		if (key == WQE_INVALID_LKEY && !LAYOUT_GET(wqe_data, seg, byte_count))
			break;
		why = sgl_add_key(r->s, &r->remote, key, LAYOUT_GET(wqe_data, seg, addr),
				  n < left ? n : left, rv->pdn, qpn, HW_ACC_LOCAL_WRITE);
		if (why)
			return why;
	}
	if (r->remote.len < need)
		return ENG_W_RECV_LENGTH;
	if (CHECK_ON())
		cause_into_read(r, qp, qpn, rv, need);
	return ENG_W_NONE;
}

bool resp_fail(struct seg *s, struct hw_qp *qp, uint32_t qpn, int ib_event_type)
{
	bool failed;

	if (eng_transport(qp)->stays)
		return true;
	if (!resp_busy(qp))
		return false;
	failed = qp_fail(s, qp, qpn, &qp->rx_fail, ib_event_type);
	resp_busy_end();
	/*
	 * Leave the flush of another process's queues to its device thread, as this process may be
	 * stopped.
	 */
	if (!failed || !mem_is_self(s, qp->mem))
		return true;
	rq_flush(s, qp, qpn);
	POINT("fail-flushed");
	/*
	 * The lock of its send queue comes before the one held here, so it may only be tried. Its
	 * holder checks flush_pending after unlocking.
	 */
	park_pending(s, qp, HW_PEND_FLUSH_SQ);
	if (seg_trylock(s, &qp->sq_lock) >= 0) {
		if (sq_flush(s, qp, qpn))
			atomic_fetch_and(&qp->flush_pending, ~(uint32_t)HW_PEND_FLUSH_SQ);
		seg_unlock(s, &qp->sq_lock);
	}
	return true;
}

static void receive_done(const struct eng_run *r, struct hw_qp *qp, uint32_t qpn,
			 const struct eng_recv *rv)
{
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(r->app_op, 0))
		tm_settle(r->s, qp, qpn, true);
	if (rv->from_srq && rv->index & TM_NOTE)
		return;
	if (rv->from_srq)
		resp_note(qp, 0, resp_noted_srqn());
	else
		resp_consumed(rv->index + 1);
}

enum eng_out resp_recv_error(struct eng_run *r, struct hw_qp *qp, uint32_t qpn,
			     const struct eng_recv *rv, enum eng_why why)
{
	struct eng_cqe c;
	int rc;

	why = sgl_scatter_why(why);
	if (why == ENG_W_RECV_LENGTH)
		cause_note_length(r->local.len, rv);
	cause_receive(r, qpn, why);
	if (__builtin_expect(r->app_op, 0)) { /* programs do not count it as unexpected */
		tm_settle(r->s, qp, qpn, false);
		r->app_op = 0;
	}
	r->why = why == ENG_W_RECV_LENGTH ? ENG_W_REMOTE_INVALID : ENG_W_REMOTE_OP;
	cqe_init(&c, CQE_RESP_ERR, qp, qpn, rv->index);
	LAYOUT_SET(cqe64, c.b, srqn_uidx, r->to.uidx & 0xffffff);
	cqe_set_error(&c, why);
	eng_set_vendor_err(&c, r->qp, r->ci, true);
	rc = cq_push_receive(r->s, r->to.cqn, &c, qp);
	if (rc == -ETIMEDOUT)
		return ENG_LOCKED;
	if (rc == -ESRCH)
		return ENG_SILENT;
	hw_use_error(r->s, qp->hca, eng_failures[why].syndrome);
	cause_received(r, qp, qpn);
	eng_count(r->s, qp, HW_QC_RESP_CQE_ERROR);
	if (why == ENG_W_RECV_LENGTH)
		eng_count(r->s, qp, HW_QC_RESP_LOCAL_LENGTH_ERROR);
	receive_done(r, qp, qpn, rv);
	resp_done(qp);
	resp_fail(r->s, qp, qpn, rc ? IBV_EVENT_QP_FATAL : -1);
	return ENG_FAILED;
}

enum eng_out resp_copy_failed(struct eng_run *r, int rc)
{
	if (rc == -ESRCH)
		return ENG_SILENT;
	if (rc == -ECANCELED)
		return ENG_AGAIN;
	if (rc == -ETIMEDOUT)
		return ENG_LOCKED;
	if (rc == -EACCES)
		r->why = ENG_W_REMOTE_REFUSED;
	else
		r->part = part_copied(r);
	if (rc != -EACCES)
		r->why = r->local.fault ? ENG_W_LOCAL_FAULT : ENG_W_REMOTE_FAULT;
	return ENG_FAILED;
}

/*
 * Can one call write payload, CQE and owner byte? Yes, if all are in the memory of one other
 * process. On-demand memory must be present first, for which the CQ's lock is not held.
 */
static bool can_merge(const struct eng_run *r, const struct hw_cq *cq)
{
	return r->local.len && r->local.len <= ENG_MERGE_MAX && !r->local.mixed &&
	       !r->remote.mixed && !(r->local.odp | r->remote.odp) &&
	       mem_is_self(r->s, r->local.mem[0]) && r->remote.mem[0].slot == cq->mem.slot &&
	       r->remote.mem[0].gen == cq->mem.gen && !mem_is_self(r->s, cq->mem) && !cq->zip;
}

/*
 * Compression: lets this completion wait for the next ones if this run has more WQEs that follow
 * soon.
 */
static void may_wait(const struct eng_run *r, struct cq_held *h)
{
	uint32_t pi = atomic_load_explicit(&r->qp->sq_pi, memory_order_relaxed);

	if ((pi - r->ci - r->nbb) & 0xffff && r->local.len <= ENG_MERGE_MAX)
		cq_may_wait(h);
}

static int copy_with_cqe(struct eng_run *r, const struct hw_cq *cq, struct eng_cqe *c)
{
	struct eng_sgl *dst = &r->remote, *src = &r->local;
	uint64_t va = cq_slot(cq);
	int rc;

	sgl_trim(dst, src->len);
	dst->v[dst->n] = (struct mem_vec){va, 64};
	src->v[src->n] = (struct mem_vec){(uintptr_t)c->b, 63};
	src->v[src->n + 1] = (struct mem_vec){(uintptr_t)c->b + 63, 1};
	mem_gate = &r->ring->gate;
	rc = mem_writev(r->s, cq->mem, dst->v, dst->n + 1, (const struct iovec *)src->v,
			src->n + 2);
	mem_gate = NULL;
	return rc;
}

/* The receive CQE is written next: from here on the peer's answer waits for this QP's own CQE. */
static void ack_begin(struct eng_run *r)
{
	uint32_t seq = atomic_load_explicit(&r->qp->ack_seq, memory_order_relaxed);

	if (r->ce < WQE_CE_ALWAYS) /* unsignaled: this QP gets no CQE of its own for the message */
		return;
	atomic_store_explicit(&r->qp->ack_seq, seq | 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
}

/* Does the thread that owes the CQE still work on it? Never waits for itself (qp is its own peer).
 */
static bool ack_is_made(const struct eng_run *r, struct hw_qp *qp)
{
	return qp != r->qp && (uint32_t)seg_lock_whole(&qp->sq_lock) & SEG_LOCK_OWNER &&
	       !seg_lock_stopped(r->s, &qp->sq_lock) && !seg_lock_orphaned(r->s, &qp->sq_lock);
}

/*
 * `seq`: the receiver's ack_seq before this message was delivered. If odd, one of its threads has
 * delivered a message to this program and not yet written its own completion for it (it may wait
 * for a processor). What this QP sends now may be the answer, and must arrive after that
 * completion. No deadlock: between the two, that thread only takes locks of event queues and its
 * own CQ.
 */
static void ack_wait(const struct eng_run *r, struct hw_qp *qp, uint32_t seq)
{
	struct timespec nap = {0, ACK_YIELD_NS};
	uint64_t start, waited, look = ENG_ACK_WAIT_NS;

	if (!(seq & 1))
		return;
	start = eng_clock();
	for (uint32_t i = 1; atomic_load_explicit(&qp->ack_seq, memory_order_acquire) == seq; i++) {
		sys_cpu_relax();
		if (i % ACK_SPINS)
			continue;
		waited = eng_clock() - start;
		/* the thread that should write the CQE is stopped: never wait for it again */
		if (waited >= look && (waited >= SEG_LOCK_HUNG_NS || !ack_is_made(r, qp))) {
			atomic_compare_exchange_strong(&qp->ack_seq, &seq, seq + 1);
			return;
		}
		if (waited >= look)
			look = waited + ENG_ACK_WAIT_NS;
		if (waited < ACK_YIELD_NS)
			sys_call(SYS_sched_yield);
		else
			sys_call(SYS_nanosleep, &nap, NULL);
	}
}

static enum eng_out complete(struct eng_run *r, struct hw_qp *qp, uint32_t qpn,
			     const struct eng_recv *rv, struct eng_cqe *c, bool may_merge)
{
	struct hw_cq *cq = hw_cq(r->s, r->to.cqn);
	bool merge = may_merge && cq && can_merge(r, cq) && !cq_is_near(r->s, cq),
	     solicited = LAYOUT_GET(cqe64, c->b, se);
	struct cq_held h;
	uint32_t ack = atomic_load_explicit(&qp->ack_seq, memory_order_acquire);
	int rc;

	if (__builtin_expect(r->waits != SEG_NONE, 0) &&
	    (r->waits != r->to.cqn || r->local.len > ENG_MERGE_MAX))
		sq_flush_waiting(r);
	rc = merge ? 0 : sgl_copy_gated(r, &r->remote, &r->local);
	if (rc)
		return resp_copy_failed(r, rc);
	ack_wait(r, qp, ack);
	LAYOUT_SET(cqe64, c->b, srqn_uidx, r->to.uidx & 0xffffff);
	rc = cq_begin(r->s, r->to.cqn, c, &h);
	if (!rc) {
		cq = h.cq;
		if (__builtin_expect(cq->zip, 0))
			may_wait(r, &h);
		resp_intent(qp, r->to.cqn, h.pi);
		POINT("recv-intent");
		ack_begin(r);
		rc = merge && can_merge(r, cq) ? copy_with_cqe(r, cq, c)
		     : merge                   ? -EAGAIN
					       : cq_write(r->s, &h, c);
		POINT("recv-written");
		if (!rc) {
			resp_written(r->s, qp, r->to.cqn, h.pi, c->b);
			if (__builtin_expect(cq->zip, 0))
				sq_note_waiting(r);
			cq_commit(r->s, &h, solicited);
			POINT("recv-committed");
			receive_done(r, qp, qpn, rv);
			return ENG_DONE;
		}
		cq_unlock(r->s, &h);
		resp_done(qp);
		ack_end(r->qp);
		if (rc == -EAGAIN) /* the CQ was resized before it was locked */
			return ENG_LOCKED;
		/* whose memory it was, or the CQ's, is known of a copy of each alone */
		if (merge && rc == -EFAULT) {
			POINT("copy-faulted");
			return complete(r, qp, qpn, rv, c, false);
		}
		if (merge || rc == -ECANCELED)
			return resp_copy_failed(r, rc);
	}
	if (rc == -ETIMEDOUT)
		return ENG_LOCKED;
	if (rc == -ESRCH)
		return ENG_SILENT;
	resp_fail(r->s, qp, qpn, IBV_EVENT_QP_FATAL);
	r->why = ENG_W_REMOTE_OP;
	return ENG_FAILED;
}

enum eng_out resp_complete(struct eng_run *r, struct hw_qp *qp, uint32_t qpn,
			   const struct eng_recv *rv, struct eng_cqe *c)
{
	return complete(r, qp, qpn, rv, c, true);
}

/* hw_qp.key_armed: 1: armed; 2: a thread is noting the event (event_mark()). Finishes case 2. */
void dc_key_event_resume(struct seg *s, struct hw_qp *dct, uint32_t dctn)
{
	uint32_t was = atomic_load(&dct->key_armed);

	if (was % HW_EV_SEQ != 2)
		return;
	event_note_once(s, dct, dctn, ENG_EVENT_DCT_KEY, was);
	POINT("dct-noted");
	/* Clears it, unless the program has armed it again. */
	atomic_compare_exchange_strong(&dct->key_armed, &was, 0);
	park_rouse(s, dct->mem.slot);
	POINT("dct-roused");
	eng_qp_event_pay(s, dct, dctn);
}

void dc_key_event(struct seg *s, struct hw_qp *dct, uint32_t dctn)
{
	uint32_t armed = 1;

	if (!atomic_compare_exchange_strong(&dct->key_armed, &armed,
					    event_mark(dct, ENG_EVENT_DCT_KEY) | 2))
		return;
	POINT("dct-disarmed");
	dc_key_event_resume(s, dct, dctn);
}
