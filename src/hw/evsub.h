/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Subscriptions to a device's events (DEVX): who wants which event of which object. An event is
 * found by the numbers that its EQE carries, as in the kernel's event table: no object of the
 * hardware knows its subscribers. Added and dropped by the driver and by reaping; raised by the
 * engine, the fabric and the firmware, in any process, also in a trap.
 */
#ifndef SOFTHCA_HW_EVSUB_H
#define SOFTHCA_HW_EVSUB_H

#include "segment/lock.h"
#include "segment/mem.h"
#include "segment/seg.h"

#define EVSUB_EQE 64 /* bytes */

enum { EVSUB_FREE, EVSUB_LINKED, EVSUB_GONE /* to be freed by the next who walks its chain */ };

struct seg_evsub { /* SEG_T_EVSUB; owner: the event file */
	uint32_t gen, flags;
	_Atomic uint32_t next; /* in its chain */
	_Atomic uint32_t state;
	uint32_t hca;
	uint32_t key; /* event number | type of object << 16 */
	uint32_t id;  /* of the object; 0 without one */
	uint32_t evq, evq_gen;
	uint32_t omit;           /* records have no data, and the queue holds at most one */
	_Atomic uint32_t queued; /* with `omit`: the event whose record is in the queue */
	_Atomic uint32_t owed;   /* the event that its chain is raising, EVSUB_* */
	_Atomic uint64_t paying; /* the record that pays it (evq_debt.c) */
	/* Raised so often, and above that the last event: what is above `written` goes to the
	 * eventfd. */
	_Atomic uint64_t signals;
	_Atomic uint32_t written;          /* by the subscriber's process */
	_Atomic uint32_t signals_unlocked; /* as `signals`, by whoever could not have the lock */
	int32_t eventfd; /* 1 + a descriptor of process `mem`, instead of the queue; 0 none */
	struct mem_slot mem;
	uint64_t cookie;
	uint64_t object; /* what the driver calls the object; 0 none */
} SEG_ELEM;

/*
 * Events of a chain are numbered, in multiples of EVSUB_SEQ: whoever was stopped while it raised
 * one, which others then raised for it, finds another number and does nothing.
 */
enum {
	EVSUB_OWED = 1,  /* seg_evsub.owed */
	EVSUB_FRESH = 2, /* with `omit`: no record was in the queue when it happened */
	EVSUB_READ = 1,  /* seg_evsub.queued: it has been read */
	EVSUB_SEQ = 4,
	EVSUB_SEQS = 0x7ffffffc,
};
#define EVSUB_AROUND 0x80000000u /* queued by who could not have the chain's lock */

/* An event that is being raised, and where it is noted as owed (struct evsub_debt). */
struct evsub_note {
	uint32_t hca, key, id;
	uint64_t debt; /* offset of the word in the segment; 0: none */
	uint32_t debt_bit, debt_unit, debt_serial, debt_table, debt_idx, debt_gen;
	uint8_t eqe[EVSUB_EQE];
};

struct seg_evhash { /* SEG_T_EVTAB: a chain of subscriptions; never claimed */
	uint32_t gen, flags;
	struct seg_lock lock;
	/* for an event that is raised while the lock's holder is stopped */
	struct seg_lock around;
	_Atomic uint32_t head;
	/*
	 * The event that is being raised under one of the locks. If the raiser dies, the next
	 * holder of a lock finishes it.
	 */
	_Atomic uint32_t raising; /* the event's number and enum evsub_raising */
	/* Even numbers: of the holder of `lock`; odd ones: of `around`. */
	struct evsub_note note[2];
} SEG_ELEM;
#define EVSUB_CHAINS 4096

enum evsub_raising {
	EVSUB_IDLE,
	EVSUB_MARKS, /* subscribers are being marked (seg_evsub.owed) */
	EVSUB_TELLS, /* marked subscribers get their records; afterwards nothing is owed */
	EVSUB_STAGE = 3,
};

/* Where an event is noted as owed, until its subscribers have it. */
struct evsub_debt {
	_Atomic uint32_t *word;
	uint32_t bit;
	uint32_t table, idx, gen; /* of the element that the word is in */
	uint32_t unit, serial;    /* word / unit changes with each note; unit 0: it does not */
};

/*
 * Add a copy of *sub (hca to object; the rest is ours), owned by its event file. 0; -ENOSPC;
 * -ETIMEDOUT a stopped process is in the way.
 */
int evsub_add(struct seg *s, const struct seg_evsub *sub, uint32_t *idx);
/* The end of one; idempotent. */
void evsub_drop(struct seg *s, uint32_t idx);
/* The object is destroyed: it has no more events. Those in queues can still be read. */
void evsub_object_gone(struct seg *s, uint32_t hca, uint64_t object);
/*
 * A file has lost its last reference: an event file's subscriptions go, and of a command file the
 * event files that were made through it are as the kernel leaves them: completion channels and
 * DEVX files give EIO, the latter without what was in them.
 */
void evsub_file_gone(struct seg *s, uint32_t file);
/* Does evsub_file_gone() have work to do? Does not wait. */
bool evsub_file_has_any(struct seg *s, uint32_t file);

/* An event has happened. */
void evsub_raise(struct seg *s, uint32_t hca, uint32_t key, uint32_t id,
		 const uint8_t eqe[EVSUB_EQE]);
/*
 * The same for an event that is noted as owed; nothing when it is not (any more). False: somebody
 * who runs has the chain's lock, perhaps to raise just this, and the note stays.
 */
bool evsub_raise_owed(struct seg *s, uint32_t hca, uint32_t key, uint32_t id,
		      const uint8_t eqe[EVSUB_EQE], const struct evsub_debt *debt);
/* Write the eventfds of our own process that others have raised: by the device thread. */
void evsub_signal_own(struct seg *s);

#endif
