/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Completion queues: writing CQEs, overrun, arming, resizing. Called with queue locks held; takes
 * one CQ lock at a time and calls segment/mem.h and segment/evq.h under it.
 */
#include "engine/internal.h"
#include "segment/evq.h"

#include <errno.h>
#include <infiniband/verbs.h>

#define CQ_COUNTER 0xffffffu /* indices in doorbell records have 24 bits */

uint64_t (*eng_clock)(void) = clock_now_ns;

void cqe_init(struct eng_cqe *c, uint32_t opcode, const struct hw_qp *qp, uint32_t qpn,
	      uint32_t wqe_counter)
{
	memset(c, 0, sizeof(*c));
	LAYOUT_SET(cqe64, c->b, srqn_uidx, qp->user_index & 0xffffff);
	LAYOUT_SET(cqe64, c->b, timestamp, eng_clock());
	LAYOUT_SET(cqe64, c->b, qpn, qpn);
	LAYOUT_SET(cqe64, c->b, wqe_counter, wqe_counter & 0xffff);
	LAYOUT_SET(cqe64, c->b, opcode, opcode);
}

void cqe_set_error(struct eng_cqe *c, enum eng_why why)
{
	LAYOUT_SET(cqe64, c->b, timestamp, 0);
	LAYOUT_SET(err_cqe, c->b, syndrome, eng_failures[why].syndrome);
	LAYOUT_SET(err_cqe, c->b, vendor_err, eng_failures[why].vendor_err);
	c->why = why;
}

static void cq_fail(struct seg *s, struct hw_cq *cq, uint32_t cqn, uint32_t why)
{
	TRACE(LOG_CQE, "cq %x: %s", cqn,
	      why == HW_CQ_ERR_OVERRUN ? "overrun" : "its buffer is not accessible");
	atomic_store(&cq->state, why);
	eng_cq_event(s, cq, cqn, IBV_EVENT_CQ_ERR);
}

/*
 * The last holder died. pi is advanced after the CQE is complete, so the worst is a visible CQE at
 * pi: count it. An entry that was never written has opcode 15 or, when the program left zeroes
 * there, no QP.
 */
static void cq_repair(struct seg *s, struct hw_cq *cq)
{
	struct eng_cqe c;
	uint32_t lap = cq->pi >> cq->log_size & 1;

	if (mem_read(s, cq->mem, cq_slot(cq), c.b, sizeof(c.b)))
		return;
	if (LAYOUT_GET(cqe64, c.b, owner) == lap && LAYOUT_GET(cqe64, c.b, qpn) &&
	    LAYOUT_GET(cqe64, c.b, opcode) != CQE_INVALID)
		cq->pi++;
}

int cq_lock(struct seg *s, struct hw_cq *cq)
{
	int rc = seg_lock(s, &cq->lock, SEG_LOCK_DATA_NS);

	if (rc < 0)
		return rc;
	if (rc == SEG_LOCK_INHERITED)
		cq_repair(s, cq);
	return 0;
}

/* Their owner is gone, or how to get at his memory is not known yet: nothing is wrong with the CQ.
 */
static bool nobody_home(int rc)
{
	return rc == -ESRCH || rc == -ETIMEDOUT;
}

/* Is there room for one more? The consumer's record is looked at only when it seems not. 0,
 * -EOVERFLOW, or nobody_home(). */
static int cq_room(struct seg *s, struct hw_cq *cq)
{
	uint32_t size = 1u << cq->log_size, ci;
	int rc;

	if (((cq->pi - cq->ci_cached) & CQ_COUNTER) < size || cq->oi)
		return 0;
	rc = mem_read_be32(s, cq->dbr_mem, cq->dbr_va, &ci);
	if (rc)
		return nobody_home(rc) ? rc : -EOVERFLOW;
	cq->ci_cached = ci & CQ_COUNTER;
	return ((cq->pi - cq->ci_cached) & CQ_COUNTER) < size ? 0 : -EOVERFLOW;
}

int cq_begin(struct seg *s, uint32_t cqn, struct eng_cqe *c, struct hw_cq **out)
{
	struct hw_cq *cq = hw_cq(s, cqn);
	int rc;

	if (!cq)
		return -EOVERFLOW;
	rc = cq_lock(s, cq);
	if (rc)
		return rc;
	rc = atomic_load_explicit(&cq->state, memory_order_relaxed) ? -EOVERFLOW : cq_room(s, cq);
	if (!rc) {
		LAYOUT_SET(cqe64, c->b, owner, cq->pi >> cq->log_size & 1);
		*out = cq;
		return 0;
	}
	if (rc == -EOVERFLOW && !atomic_load(&cq->state))
		cq_fail(s, cq, cqn, HW_CQ_ERR_OVERRUN);
	seg_unlock(s, &cq->lock);
	return rc;
}

int cq_write(struct seg *s, struct hw_cq *cq, const struct eng_cqe *c)
{
	uint64_t va = cq_slot(cq);
	/* The owner byte last and by itself: it is what the program polls. One vector there,
	 * because each costs the kernel a look-up of the page; two here, because they are copied in
	 * turn. */
	struct mem_vec to = {va, 64};
	struct iovec from[2] = {{(void *)c->b, 63}, {(void *)(c->b + 63), 1}};

	return mem_writev(s, cq->mem, &to, 1, from, 2);
}

/* To the completion channel. */
static void cq_tell(struct seg *s, struct hw_cq *cq, uint32_t cqn)
{
	uint32_t evq = atomic_load_explicit(&cq->comp.evq, memory_order_acquire);
	struct seg_evsrc src = {.table = SEG_T_CQ, .idx = cqn, .gen = cq->gen, .counter = 0};

	if (evq == SEG_NONE ||
	    evq_push(s, evq, cq->comp.evq_gen, src, cq->comp.cookie, 0, 0) != -ETIMEDOUT)
		return;
	/* The reader is stopped with its queue locked: its own device thread will do it. */
	atomic_store(&cq->event_owed, 1);
	park_rouse(s, cq->dbr_mem.slot);
}

static void cq_fire(struct seg *s, struct hw_cq *cq, uint32_t cqn)
{
	cq->armed = 0;
	if (TRACE_ON(LOG_EVENT))
		eng_trace_event("completion", SEG_T_CQ, cqn, UINT32_MAX);
	cq_tell(s, cq, cqn);
	event_comp(s, cq, cqn);
}

void cq_pay_event(struct seg *s, uint32_t cqn)
{
	struct hw_cq *cq = hw_cq(s, cqn);

	if (!cq || cq_lock(s, cq))
		return;
	if (atomic_exchange(&cq->event_owed, 0))
		cq_tell(s, cq, cqn);
	seg_unlock(s, &cq->lock);
}

void cq_commit(struct seg *s, struct hw_cq *cq, uint32_t cqn, bool solicited)
{
	cq->pi++;
	if (solicited)
		cq->sol_pi = cq->pi;
	if (cq->armed && (cq->armed == 1 || solicited)) {
		cq->told = cq->pi;
		cq_fire(s, cq, cqn);
	}
	seg_unlock(s, &cq->lock);
}

void cq_abort(struct seg *s, struct hw_cq *cq)
{
	seg_unlock(s, &cq->lock);
}

int cq_push(struct seg *s, uint32_t cqn, struct eng_cqe *c, bool solicited)
{
	struct hw_cq *cq;
	int rc = cq_begin(s, cqn, c, &cq);

	if (rc)
		return rc;
	rc = cq_write(s, cq, c);
	if (rc) {
		if (!nobody_home(rc))
			cq_fail(s, cq, cqn, HW_CQ_ERR_BUFFER);
		cq_abort(s, cq);
		return nobody_home(rc) ? rc : -EOVERFLOW;
	}
	cq_commit(s, cq, cqn, solicited);
	if (TRACE_ON(LOG_CQE) && c->why)
		eng_trace_error_cqe(cqn, c);
	return 0;
}

int eng_cq_created(struct seg *s, uint32_t cqn)
{
	struct hw_cq *cq = hw_cq(s, cqn);
	uint32_t seed = 3u << 28; /* the program's first one has sequence number 0 */

	if (!cq)
		return -EINVAL;
	atomic_store(&cq->arm_seen, seed);
	return mem_write_be32(s, cq->dbr_mem, cq->dbr_va + 4, seed);
}

/*
 * Just armed by a program that has consumed `ci`: is there a completion that it has neither seen
 * nor been told of by an event? Then the event comes at once. One event for each completion at
 * most: who arms first and polls then is not woken twice for the same.
 */
static bool cq_has_news(struct hw_cq *cq, uint32_t ci)
{
	uint32_t upto = cq->armed == 1 ? cq->pi : cq->sol_pi;
	uint32_t unseen = (upto - ci) & CQ_COUNTER, untold = upto - cq->told;

	if (!unseen || unseen > CQ_COUNTER / 2 || cq->pi - cq->told <= cq->pi - upto)
		return false;
	if (untold > unseen) /* told of nothing that is unseen (or long ago: indices wrap) */
		untold = unseen;
	cq->told = cq->armed == 1 ? upto - untold + 1 : upto;
	return true;
}

void eng_arm_cq(struct seg *s, uint32_t cqn, uint32_t word)
{
	struct hw_cq *cq = hw_cq(s, cqn);
	uint32_t rec, ci;

	if (!cq) {
		TRACE(LOG_DOORBELL, "arm of unknown cq %x", cqn);
		return;
	}
	if (cq_lock(s, cq)) {
		/* The record says that it is to be armed: the device thread will. */
		TRACE(LOG_DOORBELL, "arm of cq %x: lock is held", cqn);
		park_rouse(s, cq->dbr_mem.slot);
		return;
	}
	if (mem_read_be32(s, cq->dbr_mem, cq->dbr_va + 4, &rec))
		rec = word;
	/* Poll mode finds both the record and the store: the same sequence number is the same arm.
	 */
	if (rec == word && rec == atomic_load_explicit(&cq->arm_seen, memory_order_relaxed)) {
		seg_unlock(s, &cq->lock);
		return;
	}
	atomic_store_explicit(&cq->arm_seen, rec, memory_order_relaxed);
	ci = rec & CQ_COUNTER;
	cq->arm_ci = ci;
	cq->arm_sn = rec >> 28 & 3;
	cq->armed = rec >> 24 & 1 ? 2 : 1;
	if (cq_has_news(cq, ci))
		cq_fire(s, cq, cqn);
	seg_unlock(s, &cq->lock);
}

int eng_cq_quiesce(struct seg *s, uint32_t cqn)
{
	struct hw_cq *cq = hw_cq(s, cqn);
	int rc;

	if (!cq)
		return 0;
	rc = seg_lock(s, &cq->lock, SEG_LOCK_CTRL_NS);
	if (rc < 0)
		return rc;
	cq->armed = 0;
	atomic_store(&cq->event_owed, 0);
	atomic_store(&cq->comp.evq, SEG_NONE);
	atomic_store(&cq->async.evq, SEG_NONE);
	seg_unlock(s, &cq->lock);
	return 0;
}

int eng_cq_resize(struct seg *s, uint32_t cqn, struct mem_slot mem, uint64_t va, uint32_t log_size,
		  uint32_t cqe_bytes)
{
	struct hw_cq *cq = hw_cq(s, cqn);
	struct eng_cqe c = {{0}};
	uint32_t used;
	int rc;

	if (!cq)
		return -EINVAL;
	rc = seg_lock(s, &cq->lock, SEG_LOCK_CTRL_NS);
	if (rc < 0)
		return rc;
	if (rc == SEG_LOCK_INHERITED)
		cq_repair(s, cq);
	rc = mem_read_be32(s, cq->dbr_mem, cq->dbr_va, &cq->ci_cached);
	cq->ci_cached &= CQ_COUNTER;
	used = (cq->pi - cq->ci_cached) & CQ_COUNTER;
	/* The notice takes an entry of the old buffer and an index of the new one. */
	if (!rc && (used >= 1u << cq->log_size || used + 1 > 1u << log_size))
		rc = -ENOSPC;
	if (!rc) {
		LAYOUT_SET(cqe64, c.b, opcode, CQE_RESIZE);
		LAYOUT_SET(cqe64, c.b, owner, cq->pi >> cq->log_size & 1);
		rc = cq_write(s, cq, &c);
	}
	if (!rc) {
		cq->pi++;
		cq->mem = mem;
		cq->va = va;
		cq->log_size = log_size;
		cq->cqe_bytes = cqe_bytes;
	}
	seg_unlock(s, &cq->lock);
	return rc;
}
