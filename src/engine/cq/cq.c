/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Completion queues: their locks, writing CQEs, overrun, resizing. Called with queue locks held;
 * takes one CQ lock at a time and calls segment/mem.h and cq_event.c under it.
 */
#include "engine/cq/cq_event.h"
#include "engine/cq/cq.h"
#include "engine/base/words.h"
#include "engine/cq/zip.h"
#include "fault/fault.h"
#include "hw/cq.h"
#include "hw/flags.h"
#include "segment/near.h"
#include "util/bug.h"
#include "util/point.h"

#include <errno.h>

void cqe_set_error(struct eng_cqe *c, enum eng_why why)
{
	LAYOUT_SET(cqe64, c->b, timestamp, 0);
	LAYOUT_SET(err_cqe, c->b, syndrome, eng_failures[why].syndrome);
	LAYOUT_SET(err_cqe, c->b, vendor_err, eng_failures[why].vendor_err);
	c->why = why;
}

static const struct qlock cq_qlock;

void cq_unlock(struct seg *s, const struct cq_held *h)
{
	qlock_unlock(s, &cq_qlock, h->cq, &h->q);
}

static bool cq_is_ours(const struct seg *s, const struct cq_held *h)
{
	return qlock_is_ours(s, &cq_qlock, h->cq, &h->q);
}

/*
 * Puts the CQ in error. False: the lock was taken over from this thread; the CQ is the new
 * holder's.
 */
static bool cq_fail(struct seg *s, const struct cq_held *h, uint32_t why)
{
	struct hw_cq *cq = h->cq;
	uint32_t was = atomic_load(&cq->state), now;

	/*
	 * `was` was read before this check, so the swap below fails if the lock is taken over
	 * later.
	 */
	if (!cq_is_ours(s, h))
		return false;
	if (hw_cq_error(cq))
		return true;
	POINT("cq-failing");
	now = (was & ~(HW_CQ_ST_SEQ - 1u)) + HW_CQ_ST_SEQ + why * HW_CQ_ST_ERR;
	if (!atomic_compare_exchange_strong(&cq->state, &was,
					    now | HW_CQ_ST_OWES | HW_CQ_ST_OWES_DEVX))
		return false;
	cause_cq(s, cq, h->cqn, why);
	POINT("cq-failed");
	event_pay(s, SEG_T_CQ, h->cqn, false);
	return true;
}

/*
 * The same as cq_repair_entry() for a CQ with waiting CQEs: finishes a write to the buffer, or
 * counts a CQE that was kept. 0: none waits, so the holder may have written a CQE as for any CQ; 1:
 * done; or a mem_* error.
 */
static int cq_repair_zip(struct seg *s, struct hw_cq *cq, uint32_t cqn)
{
	uint32_t end = zip_end(s, cq);
	const uint8_t *kept = zip_kept(s, cq, end);
	struct zip_next x;
	bool waited = zip_next(s, cq, &x);
	int written = waited ? zip_written(s, cq, &x) : 0;

	if (written == -ETIMEDOUT)
		return written;
	if (written > 0)
		cq_count(s, cq, x.at, x.n, x.solicited);
	if (kept) {
		resp_mark_written(s, cqn, end, kept);
		zip_count(s, cq, end);
	}
	return waited || zip_waiting(s, cq);
}

/*
 * If the last holder has written a CQE at pi, counts it (an entry that was never written has opcode
 * 15 or, if the program zeroed it, no QP). 0 or a mem_* error.
 */
static int cq_repair_entry(struct seg *s, struct hw_cq *cq, uint32_t cqn)
{
	uint32_t pi = atomic_load(&cq->pi), lap = pi >> cq->log_size & 1;
	struct eng_cqe c;
	int rc = mem_read(s, cq->mem, cq_slot(cq), c.b, sizeof(c.b));

	if (rc || LAYOUT_GET(cqe64, c.b, owner) != lap || !LAYOUT_GET(cqe64, c.b, qpn) ||
	    LAYOUT_GET(cqe64, c.b, opcode) == CQE_INVALID)
		return rc;
	resp_mark_written(s, cqn, pi, c.b);
	POINT("cq-marked");
	cq_count(s, cq, pi, 1,
		 LAYOUT_GET(cqe64, c.b, se) || LAYOUT_GET(cqe64, c.b, opcode) == CQE_REQ_ERR ||
			 LAYOUT_GET(cqe64, c.b, opcode) == CQE_RESP_ERR);
	return 0;
}

/* The last holder died. -ETIMEDOUT: its CQE cannot be read now. */
static int cq_repair(struct seg *s, struct hw_cq *cq, uint32_t cqn)
{
	int rc;

	cq_repair_event(s, cq);
	rc = cq->zip ? cq_repair_zip(s, cq, cqn) : 0;
	if (!rc)
		rc = cq_repair_entry(s, cq, cqn);
	cq_pay_event(s, cqn, false);
	event_pay(s, SEG_T_CQ, cqn, false);
	return rc == -ETIMEDOUT ? rc : 0;
}

/* Stores whether the CQ is still to be repaired, unless the lock was taken over. */
static void cq_set_repair(struct seg *s, const struct cq_held *h, bool is_due)
{
	struct hw_cq *cq = h->cq;
	uint32_t was = atomic_load(&cq->state), to;

	do {
		to = is_due ? was | HW_CQ_ST_REPAIR : was & ~(uint32_t)HW_CQ_ST_REPAIR;
		if (!cq_is_ours(s, h))
			return;
	} while (to != was && !atomic_compare_exchange_weak(&cq->state, &was, to));
}

static bool cq_is_broken(const struct hw_cq *cq)
{
	return atomic_load_explicit(&cq->state, memory_order_relaxed) & HW_CQ_ST_REPAIR;
}

/*
 * Under the lock: repairs. The next CQE goes to the entry that may have the last holder's, so if
 * that cannot be read (its process moves pages), nobody has the CQ: -ETIMEDOUT, without the lock.
 */
static __attribute__((noinline)) int cq_mend(struct seg *s, const struct cq_held *h)
{
	int rc = cq_repair(s, h->cq, h->cqn);

	cq_set_repair(s, h, rc);
	if (!rc)
		return 0;
	cq_unlock(s, h);
	park_rouse(s, h->cq->dbr_mem.slot);
	return rc;
}

/*
 * The stopped holder writes CQEs through its gate. Once the gate is shut, its CQE is there or never
 * will be, and the new holder counts it (cq_count()), so that the old one finds nothing left to do.
 */
static void cq_retag(void *o)
{
	struct hw_cq *cq = o;
	uint32_t was = atomic_load(&cq->state);

	POINT("cq-stolen");
	/* Keep the error state; its number belongs to the error's event. */
	while (!(was / HW_CQ_ST_ERR & 3) &&
	       !atomic_compare_exchange_weak(&cq->state, &was, was + HW_CQ_ST_SEQ))
		;
}

static inline __attribute__((always_inline)) int cq_locked(struct seg *s, void *o, uint32_t cqn,
							   struct qheld *q, int how)
{
	struct cq_held *h = (struct cq_held *)q;

	h->cq = o;
	h->cqn = cqn;
	POINT("cq-taken");
	return __builtin_expect(how || cq_is_broken(h->cq), 0) ? cq_mend(s, h) : 0;
}

static const struct qlock cq_qlock = {
	.lock = offsetof(struct hw_cq, lock),
	.note = offsetof(struct hw_cq, ring),
	.minds = GATE_MINDS_STATE | GATE_MINDS_POOL,
	.home = offsetof(struct hw_cq, mem),
	.retag = cq_retag,
	.begin = cq_locked,
};

int cq_lock(struct seg *s, struct hw_cq *cq, uint32_t cqn, struct cq_held *h)
{
	return qlock_queue(s, &cq_qlock, cq, cqn, &h->q);
}

/* Its CQEs pass the noted gate. False: the lock was taken over from this thread. */
static inline __attribute__((always_inline)) bool cq_note_holder(struct seg *s, struct cq_held *h)
{
	return qlock_note(s, &cq_qlock, h->cq, &h->q) && cq_is_ours(s, h);
}

void cq_adopt(struct seg *s, struct hw_cq *cq, uint32_t cqn)
{
	struct cq_held h;

	if (!qlock_adopt(s, &cq_qlock, cq, cqn, &h.q, cq_is_broken(cq)))
		cq_unlock(s, &h);
	cq_flush(s, cqn);
}

/*
 * Is the owner's memory out of reach (process gone, or access not known yet)? The CQ itself is in
 * order.
 */
static bool nobody_home(int rc)
{
	return rc == -ESRCH || rc == -ETIMEDOUT;
}

/* Is there room for one more? The consumer's record is looked at only when it seems not. 0,
 * -EOVERFLOW, or nobody_home(). */
static int cq_room(struct seg *s, const struct cq_held *h)
{
	struct hw_cq *cq = h->cq;
	uint32_t size = 1u << cq->log_size, ci;
	int rc;

	if (((h->pi - cq->ci_cached) & CQ_COUNTER) < size || cq->oi)
		return 0;
	rc = mem_read_be32(s, cq->dbr_mem, cq->dbr_va, &ci);
	if (rc)
		return nobody_home(rc) ? rc : -EOVERFLOW;
	cq->ci_cached = ci & CQ_COUNTER;
	return ((h->pi - cq->ci_cached) & CQ_COUNTER) < size ? 0 : -EOVERFLOW;
}

int cq_begin(struct seg *s, uint32_t cqn, struct eng_cqe *c, struct cq_held *h)
{
	struct hw_cq *cq = hw_cq(s, cqn);
	int rc;

	if (!cq)
		return -EOVERFLOW;
	rc = cq_lock(s, cq, cqn, h);
	if (rc)
		return rc;
	h->pi = atomic_load_explicit(&cq->pi, memory_order_relaxed);
	h->kept = h->more = false;
	if (__builtin_expect(cq->zip, 0))
		h->pi = zip_end(s, cq);
	if (__builtin_expect(!cq_note_holder(s, h), 0))
		return -ETIMEDOUT;
	POINT("cq-locked");
	rc = hw_cq_error(cq) ? -EOVERFLOW : cq_room(s, h);
	if (!rc && fault_waits(s, HW_AT_CQE) && cq_overruns(s, cq, cqn))
		rc = -EOVERFLOW;
	if (!rc) {
		LAYOUT_SET(cqe64, c->b, owner, h->pi >> cq->log_size & 1);
		return 0;
	}
	if (rc == -EOVERFLOW && !cq_fail(s, h, HW_CQ_ERR_OVERRUN))
		rc = -ETIMEDOUT;
	cq_unlock(s, h);
	return rc;
}

static struct seg_gate *gate_of(const struct seg *s, const struct cq_held *h)
{
	return mem_is_self(s, h->cq->mem) ? NULL : h->q.gate;
}

/* Write what waits. True: an event was noted. */
static bool cq_write_waiting(struct seg *s, const struct cq_held *h, int *rc)
{
	struct hw_cq *cq = h->cq;
	bool noted = false;
	struct zip_next x;

	for (*rc = 0; !*rc && zip_next(s, cq, &x);) {
		*rc = zip_write(s, cq, &x, gate_of(s, h));
		POINT("zip-written");
		if (x.n > 1)
			TRACE(LOG_CQE, "CQ 0x%x: session of %u CQEs at %u", h->cqn, x.n,
			      x.at & CQ_COUNTER);
		if (!*rc)
			noted |= cq_count(s, cq, x.at, x.n, x.solicited);
	}
	return noted;
}

/*
 * Is the CQ armed for this completion? A program that sleeps until it comes must not wait for
 * further ones.
 */
static bool is_awaited(const struct hw_cq *cq, const struct eng_cqe *c)
{
	uint32_t arm = atomic_load(&cq->armed);

	return arm & HW_CQ_ANY || (arm & HW_CQ_SOLICITED && LAYOUT_GET(cqe64, c->b, se));
}

/* 0: continue as without compression, or h->kept; else a mem_* error. */
static int cq_compress(struct seg *s, struct cq_held *h, const struct eng_cqe *c)
{
	struct hw_cq *cq = h->cq;
	int rc = 0;

	h->kept = false;
	/*
	 * If this writes the waiting CQEs, cq_commit() raises their event, or the device thread
	 * after a failure.
	 */
	if (zip_waiting(s, cq) && (zip_full(s, cq) || !zip_fits(s, cq, c)) &&
	    cq_write_waiting(s, h, &rc))
		park_rouse(s, cq->dbr_mem.slot);
	if (is_awaited(cq, c))
		h->more = false;
	if (rc || !zip_fits(s, cq, c) || !(h->more || zip_waiting(s, cq)))
		return rc;
	rc = zip_keep(s, cq, c, gate_of(s, h));
	POINT("zip-kept");
	h->kept = !rc;
	return rc;
}

/* The CQE's place in adopted memory, or NULL: the kernel must copy it. */
static uint8_t *near_slot(struct seg *s, const struct hw_cq *cq, uint64_t va)
{
	if (mem_is_self(s, cq->mem) || cq->zip || !near_ready())
		return NULL;
	return adopt_near(s, cq->buf_umem, cq->mem, va, NEAR_BYTES);
}

bool cq_is_near(struct seg *s, const struct hw_cq *cq)
{
	return near_slot(s, cq, cq_slot(cq));
}

uint32_t cq_data_format(const struct seg *s, uint32_t cqn, uint32_t format, uint64_t len)
{
	const struct hw_cq *cq;

	if (__builtin_expect(!format, 0) || !len || len > cqe_format_room(format))
		return CQE_FORMAT_NO_DATA;
	if (format == CQE_FORMAT_DATA_32)
		return format;
	cq = hw_cq(s, cqn);
	return cq && cq->cqe_bytes > 64 ? format : CQE_FORMAT_NO_DATA;
}

void *cqe_data(struct eng_cqe *c, uint32_t format)
{
	LAYOUT_SET(cqe64, c->b, format, format);
	if (format == CQE_FORMAT_DATA_32)
		return c->b;
	return memset(c->data, 0, sizeof(c->data));
}

/* Has the holder noted the gate that its CQE passes? Also true if the lock was taken over. */
static bool is_noted(const struct seg *s, const struct cq_held *h)
{
	uint32_t note = atomic_load(&h->cq->ring);

	return (note && note >> 24 == (h->q.turn & 0xff)) || !cq_is_ours(s, h);
}

int cq_write(struct seg *s, struct cq_held *h, const struct eng_cqe *c)
{
	struct hw_cq *cq = h->cq;
	uint32_t front = LAYOUT_GET(cqe64, c->b, format) == CQE_FORMAT_DATA_64 ? CQE_DATA_MAX : 0;
	uint64_t va = cq_slot_at(cq, h->pi);
	uint8_t *near = near_slot(s, cq, va);
	uint8_t *front_near = near && front ? near_slot(s, cq, va - front) : near;
	int rc;
	/*
	 * The owner byte goes last and by itself, because the program polls it. The destination is
	 * one vector, because the kernel looks up the page for each; the source is two, because
	 * they are copied in turn.
	 */
	struct mem_vec to = {va - front, 64 + front};
	struct iovec from[2] = {{(uint8_t *)c + offsetof(struct eng_cqe, b) - front, 63 + front},
				{(void *)(c->b + 63), 1}};

	BUG_CHECK(!is_noted(s, h));
	if (cq->cqe_bytes < 64 + front)
		return -EAGAIN;
	if (__builtin_expect(cq->zip, 0)) {
		rc = cq_compress(s, h, c);
		if (rc || h->kept)
			return rc;
	}
	if (near && front_near && h->q.gate) {
		POINT("near-store");
		rc = front ? near_store(h->q.gate, front_near, c->data) : 0;
		if (!rc)
			rc = near_store(h->q.gate, near, c->b);
		POINT("near-stored");
		return rc;
	}
	mem_gate = gate_of(s, h);
	rc = mem_writev(s, cq->mem, &to, 1, from, 2);
	mem_gate = NULL;
	return rc;
}

/* Write what waits if nothing similar follows. */
static bool cq_end_kept(struct seg *s, const struct cq_held *h)
{
	struct hw_cq *cq = h->cq;
	bool noted = false;
	int rc;

	if (h->more && !zip_full(s, cq))
		return false;
	noted = cq_write_waiting(s, h, &rc);
	/*
	 * Leave it to the device thread. -ECANCELED may also mean that the gate was shut because a
	 * key ends.
	 */
	if (nobody_home(rc) || rc == -ECANCELED)
		park_rouse(s, cq->dbr_mem.slot);
	else if (rc)
		cq_fail(s, h, HW_CQ_ERR_BUFFER);
	return noted;
}

void cq_commit(struct seg *s, const struct cq_held *h, bool solicited)
{
	struct hw_cq *cq = h->cq;
	bool owes = atomic_load_explicit(&cq->armed, memory_order_relaxed) & HW_CQ_OWES;
	bool noted;

	if (__builtin_expect(h->kept, 0)) {
		zip_count(s, cq, h->pi);
		POINT("zip-counted");
		noted = cq_end_kept(s, h);
	} else {
		noted = cq_count(s, cq, h->pi, 1, solicited);
	}

	POINT("cq-unlock");
	cq_unlock(s, h);
	POINT("cq-unlocked");
	/* `owes`: another thread has not raised its event yet, and may be stopped. */
	if (__builtin_expect(noted || owes, 0))
		cq_pay_event(s, h->cqn, false);
}

/* `rq`: the QP whose receive it completes, or NULL. */
static int cq_push_held(struct seg *s, uint32_t cqn, struct eng_cqe *c, bool solicited,
			struct hw_qp *rq)
{
	struct cq_held h;
	int rc = cq_begin(s, cqn, c, &h);

	if (rc)
		return rc;
	if (rq)
		resp_intent(rq, cqn, h.pi);
	rc = cq_write(s, &h, c);
	if (rc) {
		if (rc != -ECANCELED && rc != -EAGAIN && !nobody_home(rc) &&
		    !cq_fail(s, &h, HW_CQ_ERR_BUFFER))
			rc = -ECANCELED;
		cq_unlock(s, &h);
		if (rq)
			resp_done(rq);
		if (rc ==
		    -ECANCELED) /* the lock was taken over: behave as if it had never been taken */
			return -ETIMEDOUT;
		return nobody_home(rc) || rc == -EAGAIN ? rc : -EOVERFLOW;
	}
	if (rq)
		resp_written(s, rq, cqn, h.pi, c->b);
	cq_commit(s, &h, solicited);
	if (TRACE_ON(LOG_CQE) && c->why)
		eng_trace_error_cqe(s, cqn, c);
	return 0;
}

bool cq_waits(const struct seg *s, uint32_t cqn)
{
	const struct hw_cq *cq = cqn == SEG_NONE ? NULL : hw_cq(s, cqn);

	return cq && __builtin_expect(cq->zip, 0) && hw_cq_error(cq) != HW_CQ_ERR_BUFFER &&
	       zip_waiting(s, cq);
}

void cq_flush(struct seg *s, uint32_t cqn)
{
	struct hw_cq *cq = hw_cq(s, cqn);
	struct cq_held h = {.more = false};

	if (!cq_waits(s, cqn))
		return;
	/* If the lock cannot be used now, the device thread writes the waiting CQEs. */
	if (cq_lock(s, cq, cqn, &h) || !cq_note_holder(s, &h)) {
		park_rouse(s, cq->dbr_mem.slot);
		return;
	}
	POINT("zip-flush");
	cq_end_kept(s, &h);
	cq_unlock(s, &h);
	cq_pay_event(s, cqn, false);
}

int cq_push(struct seg *s, uint32_t cqn, struct eng_cqe *c, bool solicited)
{
	return cq_push_held(s, cqn, c, solicited, NULL);
}

int cq_push_receive(struct seg *s, uint32_t cqn, struct eng_cqe *c, struct hw_qp *rq)
{
	return cq_push_held(s, cqn, c, true, rq);
}

int eng_cq_created(struct seg *s, uint32_t cqn)
{
	struct hw_cq *cq = hw_cq(s, cqn);
	uint32_t seed = 3u << 28; /* the program's first one has sequence number 0 */

	if (!cq)
		return -EINVAL;
	/*
	 * A thread that was stopped with an earlier CQ of this number must find changed words, so
	 * tags go on; the parts that the program sees are 0.
	 */
	cq->lock.inherited = (uint16_t)(cq->gen << 8);
	atomic_store(&cq->pi, cq->gen << 24);
	atomic_store(&cq->told, cq->gen << 24);
	atomic_store(&cq->state, cq->gen * HW_CQ_ST_SEQ);
	atomic_store(&cq->armed, cq->gen * HW_CQ_ARM_SEQ << 12);
	atomic_store(&cq->sol_pi, cq->gen << 24);
	atomic_store(&cq->moder_pi, cq->gen << 24);
	atomic_store(&cq->arm_seen, seed);
	if (cq->zip)
		zip_created(s, cq);
	return mem_write_be32(s, cq->dbr_mem, cq->dbr_va + 4, seed);
}

int eng_cq_quiesce(struct seg *s, uint32_t cqn)
{
	struct hw_cq *cq = hw_cq(s, cqn);
	struct cq_held h;
	int rc;

	if (!cq)
		return 0;
	rc = qlock_ctrl(s, &cq_qlock, cq, cqn, &h.q, SEG_LOCK_CTRL_NS);
	if (rc)
		return rc;
	atomic_store(&cq->armed, 0);
	atomic_store(&cq->comp.evq, SEG_NONE);
	atomic_store(&cq->async.evq, SEG_NONE);
	cq_unlock(s, &h);
	return 0;
}

int eng_cq_resize(struct seg *s, uint32_t cqn, struct mem_slot mem, uint64_t va, uint32_t log_size,
		  uint32_t cqe_bytes)
{
	struct hw_cq *cq = hw_cq(s, cqn);
	struct eng_cqe c = {{0}};
	struct cq_held h = {.more = false};
	uint32_t used;
	int rc;

	if (!cq)
		return -EINVAL;
	rc = qlock_ctrl(s, &cq_qlock, cq, cqn, &h.q, SEG_LOCK_CTRL_NS);
	if (rc)
		return rc;
	/* Several words change: nobody may take over in between. */
	if (!qlock_note(s, &cq_qlock, cq, &h.q))
		return -ETIMEDOUT;
	rc = mem_read_be32(s, cq->dbr_mem, cq->dbr_va, &cq->ci_cached);
	cq->ci_cached &= CQ_COUNTER;
	if (cq->zip && !rc)
		cq_write_waiting(s, &h, &rc);
	used = (cq->pi - cq->ci_cached) & CQ_COUNTER;
	/* The resize notice needs an entry in the old buffer and an index in the new one. */
	if (!rc && (used >= 1u << cq->log_size || used + 1 > 1u << log_size))
		rc = -ENOSPC;
	if (!rc) {
		LAYOUT_SET(cqe64, c.b, opcode, CQE_RESIZE);
		LAYOUT_SET(cqe64, c.b, owner, cq->pi >> cq->log_size & 1);
		h.pi = cq->pi;
		h.q.gate = NULL;
		rc = cq_write(s, &h, &c);
	}
	if (!rc) {
		atomic_fetch_add(&cq->pi, 1);
		cq->mem = mem;
		cq->va = va;
		cq->log_size = log_size;
		cq->cqe_bytes = (uint16_t)cqe_bytes;
	}
	cq_unlock(s, &h);
	if (cq->zip)
		cq_pay_event(s, cqn, false);
	return rc;
}
