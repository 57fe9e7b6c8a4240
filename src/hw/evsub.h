/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Subscriptions of programs to a device's events (DEVX). An event finds its subscribers by the
 * numbers that its EQE carries, as in the kernel's event table: hardware objects do not know their
 * subscribers. The driver and reaping add and drop subscriptions; the engine, the fabric and the
 * firmware raise events, in any process, also in a trap.
 */
#ifndef SOFTHCA_HW_EVSUB_H
#define SOFTHCA_HW_EVSUB_H

#include "segment/lock.h"
#include "segment/mem.h"
#include "segment/seg.h"

#define EVSUB_EQE 64 /* bytes */

enum { EVSUB_FREE, EVSUB_LINKED, EVSUB_GONE /* the next thread that walks its chain frees it */ };

struct seg_evsub { /* SEG_T_EVSUB; owner: the event file */
	uint32_t gen, flags;
	_Atomic uint32_t next; /* next subscription of its chain */
	_Atomic uint32_t state;
	uint32_t hca;
	uint32_t key; /* event number | object type << 16 */
	uint32_t id;  /* number of the object; 0: no object */
	uint32_t evq, evq_gen;
	uint32_t omit;           /* records without data, and at most one in the queue */
	_Atomic uint32_t queued; /* with `omit`: a record is in the queue */
	_Atomic uint32_t owed;   /* the event that its chain is raising is owed to it */
	_Atomic uint64_t paying; /* the record that pays it (evq_debt.c) */
	/*
	 * With `omit`, while owed: 1 no record was in the queue before, 2 `queued` shows the new
	 * record.
	 */
	uint32_t fresh;
	/* number of events; the excess over `written` must be written to the eventfd */
	_Atomic uint32_t signals;
	_Atomic uint32_t written; /* written to the eventfd by the subscriber's process */
	/* like `signals`, counted by processes that could not take the lock */
	_Atomic uint32_t signals_unlocked;
	uint32_t signals_next; /* the next value of `signals`, while `owed` */
	/* 1 + a descriptor of process `mem`, used in place of the queue; 0: none */
	int32_t eventfd;
	struct mem_slot mem;
	uint64_t cookie;
	uint64_t object; /* the driver's identity of the object; 0: none */
} SEG_ELEM;

struct seg_evhash { /* SEG_T_EVTAB: a chain of subscriptions; never claimed */
	uint32_t gen, flags;
	struct seg_lock lock;
	_Atomic uint32_t head;
	/*
	 * The event that is being raised under the lock. If the raiser dies, the lock's next holder
	 * finishes it.
	 */
	_Atomic uint32_t raising; /* enum evsub_raising */
	uint32_t hca, key, id;
	uint64_t debt; /* offset of the word in the segment; 0: none */
	uint32_t debt_bit, debt_table, debt_idx, debt_gen;
	uint8_t eqe[EVSUB_EQE];
} SEG_ELEM;
#define EVSUB_CHAINS 4096

enum evsub_raising {
	EVSUB_IDLE,
	EVSUB_MARKS, /* marks subscribers (seg_evsub.owed) */
	EVSUB_TELLS, /* sends the event to marked subscribers; then the debt is paid */
};

/* A word that notes the event as owed until all subscribers have it. */
struct evsub_debt {
	_Atomic uint32_t *word;
	uint32_t bit;
	uint32_t table, idx, gen; /* the element that contains the word */
};

/*
 * Add a copy of *sub (fields hca to object; the others are set here), owned by its event file. 0;
 * -ENOSPC; -ETIMEDOUT: a stopped process holds the lock.
 */
int evsub_add(struct seg *s, const struct seg_evsub *sub, uint32_t *idx);
/* End a subscription; idempotent. */
void evsub_drop(struct seg *s, uint32_t idx);
/* The object is destroyed: end its subscriptions. Queued events can still be read. */
void evsub_object_gone(struct seg *s, uint32_t hca, uint64_t object);
/*
 * A file has lost its last reference. An event file's subscriptions end. Event files that were made
 * through a command file behave as in the kernel: completion channels and DEVX files give EIO, the
 * latter without their unread events.
 */
void evsub_file_gone(struct seg *s, uint32_t file);
/* Would evsub_file_gone() have something to do? Never waits. */
bool evsub_file_has_any(struct seg *s, uint32_t file);

/* Send an event to its subscribers. */
void evsub_raise(struct seg *s, uint32_t hca, uint32_t key, uint32_t id,
		 const uint8_t eqe[EVSUB_EQE]);
/*
 * The same for an event that is noted as owed; does nothing if the note is cleared. False: a
 * running thread has the chain's lock, perhaps to raise this event, and the note stays.
 */
bool evsub_raise_owed(struct seg *s, uint32_t hca, uint32_t key, uint32_t id,
		      const uint8_t eqe[EVSUB_EQE], const struct evsub_debt *debt);
/* For the device thread: write this process's eventfds for events that others have raised. */
void evsub_signal_own(struct seg *s);

#endif
