/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Locks that are taken over from a stopped holder (doc/internals/locks.md). A kind of lock is a
 * row; an object's lock is named by the row and the object.
 *
 * A store under such a lock is a compare-and-swap of a word with a tag, goes through the holder's
 * gate, or is harmless when it comes late (doc/internals/tags.md).
 */
#ifndef SOFTHCA_SEGMENT_QLOCK_H
#define SOFTHCA_SEGMENT_QLOCK_H

#include "segment/gate.h"
#include "segment/lock.h"

#include <errno.h>

/* A hold, which belongs to the caller, from taking the lock to qlock_unlock(). */
struct qheld {
	uint16_t turn;         /* of seg_lock_turn() */
	struct seg_gate *gate; /* of the holder's copies; NULL: it has none. After a note only. */
};

/* `minds`, instead of GATE_MINDS_*: holders have no gates. */
#define QLOCK_NO_GATES UINT32_MAX
#define QLOCK_HOME_IDX 1 /* `home`, instead of an offset: the slot is `idx` */
/* `how` a lock was taken, besides 0 and SEG_LOCK_INHERITED. */
enum { QLOCK_STOLEN = SEG_LOCK_INHERITED + 1 };

struct qlock {
	/*
	 * Offsets in the object: of its seg_lock; of the _Atomic uint32_t for a holder's note (0:
	 * none); of the mem_slot of the process that keeps the lock while it is stopped (0: none).
	 */
	uint16_t lock, note, home;
	/* A thread inside of one of these keeps the lock. 0: holders read through their gates. */
	uint32_t minds;

	/* Each may be NULL. `idx`: the caller's, for these functions. */
	/*
	 * May a thread that works on that QP's send queue be the holder? If a process has none, it
	 * holds the lock for a command, and keeps it.
	 */
	bool (*works_for)(struct seg *s, uint32_t qpn, uint32_t idx);
	/* The last holder's stores fail from here on. */
	void (*retag)(void *o);
	/*
	 * What a new holder does first, and with `how` not 0 finishes what the last one has left.
	 * 0, or a negative value without the lock.
	 */
	int (*begin)(struct seg *s, void *o, uint32_t idx, struct qheld *h, int how);
};

/* A note: the holder's turn, slot, and 1 + the index of its seg_ring (0: it has none). */
#define QLOCK_ENTRY 0xffu
#define QLOCK_NOTE(turn, slot, n) ((uint32_t)(turn) << 24 | ((slot)&0xffff) << 8 | (n))

#define QLOCK_AT(type, o, at) ((type *)((uintptr_t)(o) + (at)))
#define qlock_lock(is, o) QLOCK_AT(struct seg_lock, o, (is)->lock)
#define qlock_noted(is, o) QLOCK_AT(_Atomic uint32_t, o, (is)->note)

/*
 * The wait for the lock has ended with `rc`, not 0. -ETIMEDOUT: if the holder is stopped and can be
 * cut off, the lock becomes the caller's, and this is QLOCK_STOLEN. Whoever has the lock of another
 * changes its tags: a dead one may have taken it over from a stopped one, and not have come so far.
 */
int qlock_replace(struct seg *s, const struct qlock *is, void *o, uint32_t idx, struct qheld *h,
		  int rc);

/* The data path: takes the lock, and begins. */
static inline __attribute__((always_inline)) int qlock_queue(struct seg *s, const struct qlock *is,
							     void *o, uint32_t idx, struct qheld *h)
{
	int rc = seg_lock_queue(s, qlock_lock(is, o), &h->turn);

	if (__builtin_expect(rc, 0))
		rc = qlock_replace(s, is, o, idx, h, rc);
	return rc < 0 ? rc : is->begin(s, o, idx, h, rc);
}

/* Commands: for up to `ns`; if that is SEG_LOCK_CTRL_NS or more, as seg_lock_if_runs(). */
int qlock_ctrl(struct seg *s, const struct qlock *is, void *o, uint32_t idx, struct qheld *h,
	       uint64_t ns);
/* Device threads: at once, if the holder is dead or there is work (`due`); else -EBUSY. */
int qlock_adopt(struct seg *s, const struct qlock *is, void *o, uint32_t idx, struct qheld *h,
		bool due);

/* Is the lock still the caller's? */
static inline bool qlock_is_ours(const struct seg *s, const struct qlock *is, const void *o,
				 const struct qheld *h)
{
	return seg_lock_has_turn(s, qlock_lock(is, o), h->turn);
}

static inline void qlock_unlock(struct seg *s, const struct qlock *is, void *o,
				const struct qheld *h)
{
	/* Cleared before, so that the next holder is not mistaken for this one. */
	if (is->note)
		atomic_store_explicit(qlock_noted(is, o), 0, memory_order_relaxed);
	seg_unlock_turn(s, qlock_lock(is, o), h->turn);
}

#endif
