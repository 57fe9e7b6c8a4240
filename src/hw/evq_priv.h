/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to evq.c (readers), evq_push.c, evq_rec.c (records), evq_debt.c and evq_fifo.c. */
#ifndef SOFTHCA_HW_EVQ_PRIV_H
#define SOFTHCA_HW_EVQ_PRIV_H

#include "hw/evq.h"

enum evq_rec_state {
	EVQ_MAKING = 1,
	EVQ_LINKED,
	EVQ_TELLING,
	EVQ_TOLD,
	EVQ_TAKEN,
	EVQ_GONE,
	EVQ_DROPPED,
};

#define EVQ_REF(gen, idx) ((uint64_t)(gen) << 32 | (idx))
#define EVQ_REF_IDX(ref) ((uint32_t)(ref))

bool evq_rec_is(const struct seg_evrec *r, enum evq_rec_state st);
bool evq_rec_change(struct seg_evrec *r, uint32_t gen, enum evq_rec_state from,
		    enum evq_rec_state to);
/* A reader takes it. False: evq_drop() was first. */
bool evq_rec_claim(struct seg_evrec *r);
/* Make a record like `from`, with this process as pusher. 0 or -ENOSPC. */
int evq_rec_make(struct seg *s, uint32_t evq, const struct seg_evrec *from, uint64_t *ref);
/* Set data and len of a record in the making to a copy of `len` bytes. 0 or -ENOSPC. */
int evq_data_make(struct seg *s, uint32_t owner, const uint8_t *from, uint32_t len, uint64_t ref);
/* Free a record that is in no queue, and the data made for it. */
void evq_rec_unmake(struct seg *s, uint64_t ref);
/* Free the record, even if another process is about to. */
void evq_rec_free(struct seg *s, uint64_t ref);
/*
 * Is the record not in the queue yet and its pusher alive? Then the pusher frees it if necessary.
 */
bool evq_rec_is_pushers(const struct seg *s, const struct seg_evrec *r);
/* Take a record out of the queue's counts. */
void evq_count_down(struct seg_evq *q, uint32_t len);
bool evq_is_open(const struct seg *s, uint32_t evq, uint32_t gen, const struct seg_evq *q);

/* The live record that a reference names; NULL: it was taken. */
struct seg_evrec *evq_rec(const struct seg *s, uint64_t ref);
/* Tells all who wait that there is a record, a loss or an end to report. Takes no lock. */
void evq_tell(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evq *q);
/* The two parts of evq_tell(): for those who poll the FIFO (true: it needed a byte), and for those
 * who sleep on the futex. */
bool evq_tell_pollers(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evq *q);
void evq_wake_readers(struct seg_evq *q);
/* Under the lock: make the FIFO agree with the queue. `fd` -1: open it by path. */
void evq_settle(struct seg *s, uint32_t evq, struct seg_evq *q, int fd);
/* Under the lock: empty the FIFO. False: it could not be opened. */
bool evq_drain(const struct seg *s, uint32_t evq, struct seg_evq *q, int fd);
/* Read all bytes but one when there are many. */
void evq_trim(struct seg_evq *q, int fd);
/* Let the lock's holder (this thread if it is free) check that FIFO and queue agree. */
void evq_attend(struct seg *s, uint32_t evq, struct seg_evq *q);

/* Is the process that pushes this record dead? */
bool evq_pusher_dead(const struct seg *s, const struct seg_evrec *r);

/* Does the pusher go on by itself, as far as can be seen? Makes system calls. */
bool evq_pusher_runs(struct seg *s, const struct seg_evrec *r);

/* For evq_debt.c: where a source notes that an event is owed, and the record that pays it. */
struct evq_debt {
	_Atomic uint32_t *word;
	_Atomic uint64_t *paying;
	uint32_t bit;
	/* if the word counts several debts: its unit, and the serial number of this one; else 0 */
	uint32_t unit, serial;
};
/* False: the source is gone, or notes no debts. */
bool evq_debt_of(const struct seg *s, const struct seg_evsrc *src, uint32_t type,
		 struct evq_debt *d);
bool evq_debt_owed(const struct evq_debt *d);
/* The end of it; a debt that was noted since stays. */
void evq_debt_drop(const struct evq_debt *d);
/*
 * Claim the debt for the record `me`: 1 claimed, with d->serial set; 0 it is paid already; -EBUSY a
 * living process has claimed it. `overtake`: -EBUSY only if that process runs.
 */
int evq_debt_claim(struct seg *s, const struct seg_evq *q, struct evq_debt *d, uint64_t me,
		   bool overtake);
/* The record is in the queue, or is being taken: settle its debt. */
void evq_debt_paid(struct seg *s, const struct seg_evrec *r, uint64_t ref);

/* Called under the lock; the queue has just become shorter. */
void evq_taken(struct seg_evq *q);

/* The source's `reported` counter; NULL for an event without one. False: the object is gone. */
bool evq_source(struct seg *s, const struct seg_evsrc *src, _Atomic uint32_t **counter);
/* A reader takes this record: the subscription's next event needs a new record. */
void evq_source_read(struct seg *s, const struct seg_evsrc *src);

#endif
