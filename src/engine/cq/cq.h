/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Completions and events: cq.c writes completions, cq_event.c raises their events, event.c all
 * others, zip.c compresses.
 */
#ifndef SOFTHCA_ENGINE_CQ_H
#define SOFTHCA_ENGINE_CQ_H

#include "engine/keys/keys.h"
#include "hw/cq.h"
#include "segment/qlock.h"

void cqe_set_error(struct eng_cqe *c, enum eng_why why);
/* A CQ that the caller has locked. */
struct cq_held {
	struct qheld q; /* the first */
	struct hw_cq *cq;
	uint32_t cqn;
	uint32_t pi;     /* cq_begin(): where the CQE goes */
	bool kept, more; /* compression: the CQE waits in the adapter; more CQEs follow */
};

/* Lock a CQ and count what a dead holder left; cq_unlock() unlocks. 0 or -ETIMEDOUT. */
int cq_lock(struct seg *s, struct hw_cq *cq, uint32_t cqn, struct cq_held *h);

/*
 * Lock the CQ for one CQE and set its owner bit. 0: to be ended by cq_commit() or cq_unlock();
 * -ETIMEDOUT the lock; a mem_* error; -ESRCH its process is gone; -EOVERFLOW full or in error
 * (raises the event).
 */
int cq_begin(struct seg *s, uint32_t cqn, struct eng_cqe *c, struct cq_held *h);
static inline uint64_t cq_slot_at(const struct hw_cq *cq, uint32_t index)
{
	return cq->va + (uint64_t)(index & ((1u << cq->log_size) - 1)) * cq->cqe_bytes +
	       (cq->cqe_bytes - 64);
}
static inline uint64_t cq_slot(const struct hw_cq *cq)
{
	return cq_slot_at(cq, atomic_load_explicit(&cq->pi, memory_order_relaxed));
}

/* Compression: more receives follow, so the CQE may wait for them, until cq_flush(). */
static inline void cq_may_wait(struct cq_held *h)
{
	h->more = true;
}

/* Do CQEs wait in this CQ? Reads it without the lock. */
bool cq_waits(const struct seg *s, uint32_t cqn);
void cq_flush(struct seg *s, uint32_t cqn);
/*
 * Scatter to CQE: the format for a payload of `len` bytes where the QP's own is `format`, or
 * CQE_FORMAT_NO_DATA. cqe_data(): gives the CQE that format; where the payload goes, after all
 * fields are set.
 */
uint32_t cq_data_format(const struct seg *s, uint32_t cqn, uint32_t format, uint64_t len);
void *cqe_data(struct eng_cqe *c, uint32_t format);
/*
 * -ECANCELED: the lock was taken over from this thread, and nothing is written. -EAGAIN: since
 * cq_data_format() the CQ was resized to CQEs without room for the payload.
 */
int cq_write(struct seg *s, struct cq_held *h, const struct eng_cqe *c);
/* Will cq_write() store to adopted memory, as it looks now? */
bool cq_is_near(struct seg *s, const struct hw_cq *cq);
void cq_commit(struct seg *s, const struct cq_held *h, bool solicited);
void cq_unlock(struct seg *s, const struct cq_held *h);
/*
 * Raise the events that a CQ owes (hw_cq.armed), with or without its lock. `overtake`: see
 * evq_push_owed().
 */
void cq_pay_event(struct seg *s, uint32_t cqn, bool overtake);
/*
 * A program has armed the CQ: by a doorbell that says `word`, or, NULL, by its doorbell record
 * alone, which is ignored if it says what was last seen.
 */
void cq_arm(struct seg *s, uint32_t cqn, const uint32_t *word);
/*
 * The device thread raises an event whose moderation timer has ended. When to call it again, or
 * UINT64_MAX.
 */
uint64_t cq_moder_run(struct seg *s, struct hw_cq *cq, uint32_t cqn);
/*
 * Has the program stored a new ARM record? False for a CQ under construction, whose `arm_seen` is
 * not set yet.
 */
bool cq_arm_changed(struct seg *s, struct hw_cq *cq);
/* Polled doorbells: if this CQ is ours and its ARM record has changed, serve the arm. */
void park_poll_arm(struct seg *s, uint32_t cqn);
/* Repair a CQ whose lock a dead process holds. */
void cq_adopt(struct seg *s, struct hw_cq *cq, uint32_t cqn);
/* begin + write + commit. -EOVERFLOW also if the buffer is not mapped; -EAGAIN as cq_write(). */
int cq_push(struct seg *s, uint32_t cqn, struct eng_cqe *c, bool solicited);
/*
 * cq_push() for a receive of `rq` that failed or is flushed. Under its rq_lock; the caller then
 * advances the queue and calls resp_done().
 */
int cq_push_receive(struct seg *s, uint32_t cqn, struct eng_cqe *c, struct hw_qp *rq);
/* Compression. _note: completions now wait in the CQ of r->to; _flush: writes those of this run. */
void sq_note_waiting(struct eng_run *r);
void sq_flush_waiting(struct eng_run *r);
/* event.c: send the owed completion event to DEVX subscribers. */
void event_comp(struct seg *s, const struct hw_cq *cq, uint32_t cqn);
/*
 * event.c: an async event is noted first, then its cause is made visible, then it is raised
 * (event_pay()).
 */
/*
 * event_mark(): what a thread stores before it notes an event, in case it dies: a state below
 * HW_EV_SEQ, and above it the number of the last event. A thread that finishes its work calls
 * event_note_once(), which notes the event only if nobody did.
 */
uint32_t event_mark(struct hw_qp *qp, uint32_t type);
void event_note_once(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t type, uint32_t mark);
void eng_qp_event_pay(struct seg *s, const struct hw_qp *qp, uint32_t qpn);
/* Raise the async events that an object owes. False: some are still owed. */
bool event_pay(struct seg *s, enum seg_table_id table, uint32_t idx, bool overtake);
/* cq_cause.c: does a rule of --inject let this completion find the CQ full? */
bool cq_overruns(struct seg *s, const struct hw_cq *cq, uint32_t cqn);
/* The CQ enters the error state (HW_CQ_ERR_*). */
void cause_cq(struct seg *s, const struct hw_cq *cq, uint32_t cqn, uint32_t error);

#endif
