/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Between evq.c (readers), evq_push.c, evq_rec.c (records), evq_debt.c and evq_fifo.c only. */
#ifndef SOFTHCA_HW_EVQ_PRIV_H
#define SOFTHCA_HW_EVQ_PRIV_H

#include "hw/evq.h"

enum evq_rec_state { EVQ_MAKING = 1, EVQ_LINKED, EVQ_TOLD, EVQ_TAKEN, EVQ_GONE };

#define EVQ_REF(gen, idx) ((uint64_t)(gen) << 32 | (idx))
#define EVQ_REF_IDX(ref) ((uint32_t)(ref))

bool evq_rec_is(const struct seg_evrec *r, enum evq_rec_state st);
bool evq_rec_change(struct seg_evrec *r, uint32_t gen, enum evq_rec_state from,
		    enum evq_rec_state to);
/* A record like `from`, by us. 0 or -ENOSPC. */
int evq_rec_make(struct seg *s, uint32_t evq, const struct seg_evrec *from, uint64_t *ref);
/* rec->data, rec->len of the record that we make: a copy of `len` bytes. 0 or -ENOSPC. */
int evq_data_make(struct seg *s, uint32_t owner, const uint8_t *from, uint32_t len, uint64_t ref);
/* A record that is in no queue, and the data that was made for it. */
void evq_rec_unmake(struct seg *s, uint64_t ref);
/* Free the record, whoever else is about to. */
void evq_rec_free(struct seg *s, uint64_t ref);
/* Is it between its making and the queue, and its pusher alive? That one frees it if need be. */
bool evq_rec_is_pushers(const struct seg *s, const struct seg_evrec *r);
/* Of a record that goes. */
void evq_count_down(struct seg_evq *q, uint32_t len);
bool evq_is_open(const struct seg *s, uint32_t evq, uint32_t gen, const struct seg_evq *q);

/* The live record that a reference names; NULL: it was taken. */
struct seg_evrec *evq_rec(const struct seg *s, uint64_t ref);
/* There is something now, or a loss or an end to tell: wake who waits. Takes no lock. */
void evq_tell(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evq *q);
/* Under the lock: make the FIFO agree with the queue. `fd`: -1 by path. */
void evq_settle(struct seg *s, uint32_t evq, struct seg_evq *q, int fd);
/* Under the lock: empty the FIFO. False: it could not be opened. */
bool evq_drain(const struct seg *s, uint32_t evq, struct seg_evq *q, int fd);
/* Read all bytes but one when there are many. */
void evq_trim(struct seg_evq *q, int fd);
/* Let whoever has the lock, us if it is free, look whether FIFO and queue agree. */
void evq_attend(struct seg *s, uint32_t evq, struct seg_evq *q);
/* 0 and the locked queue in *out, or -ENOENT, -ETIMEDOUT; to be left with evq_leave(). */
int evq_enter(struct seg *s, uint32_t evq, uint32_t gen, uint64_t ns, struct seg_evq **out);
void evq_leave(struct seg *s, uint32_t evq, struct seg_evq *q);

/* Is whoever pushes this record dead? */
bool evq_pusher_dead(const struct seg *s, const struct seg_evrec *r);

/* Does it go on by itself, as far as we can see? Makes system calls. */
bool evq_pusher_runs(struct seg *s, const struct seg_evrec *r);

/* evq_debt.c: where a source notes that an event is owed, and the record that pays it. */
struct evq_debt {
	_Atomic uint32_t *word;
	_Atomic uint64_t *paying;
	uint32_t bit;
	uint32_t unit, serial; /* which note of many: the word in units, then; else 0 */
};
/* False: its source is no more, or notes nothing. */
bool evq_debt_of(const struct seg *s, const struct seg_evsrc *src, uint32_t type,
		 struct evq_debt *d);
bool evq_debt_owed(const struct evq_debt *d);
/* For the record `me`: 1 claimed, and d->serial says what; 0 it is paid; -EBUSY somebody alive has
 * it. `overtake`: only if that one runs.
 */
int evq_debt_claim(struct seg *s, const struct seg_evq *q, struct evq_debt *d, uint64_t me,
		   bool overtake);
/* That record is in the queue, or is being taken. */
void evq_debt_paid(struct seg *s, const struct seg_evrec *r, uint64_t ref);

/* Under the lock; the queue has just become shorter. */
void evq_taken(struct seg_evq *q);

/* The source's counter; NULL for an event without one. False: its object is no more. */
bool evq_source(struct seg *s, const struct seg_evsrc *src, _Atomic uint32_t **counter);

#endif
