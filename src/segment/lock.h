/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Locks in the segment: shared by processes, robust, always taken with a deadline (DESIGN.md 5).
 *
 * The word is 0, or has its lowest bit set, then who owns it (who.h), 7 bits of seg_lock_holder(),
 * an "in order" bit and a "waiters" bit; waiters sleep on it with futex(2). Waiters check whether
 * the owner's slot is still that process; when it is dead, one of them inherits the lock and is
 * told so. Inside one process a lock is not recursive.
 *
 * A process without a slot (a supervisor before it registers itself) locks as slot 0, which is
 * never dead. A zeroed lock is free.
 *
 * A holder must have all asynchronous signals blocked (sig_block_all()/the trap handler). The order
 * of locks is that of the rows in hw/tables.c, which some builds check (rank.h).
 */
#ifndef SOFTHCA_SEGMENT_LOCK_H
#define SOFTHCA_SEGMENT_LOCK_H

#include "segment/seg.h"
#include "segment/who.h"

struct seg_lock { /* also one word of 8 bytes, so that owner and turn change in one step */
	_Alignas(8) _Atomic uint32_t word;
	uint16_t inherited;     /* the turn: +1 when a dead or stopped owner is replaced */
	_Atomic uint8_t passed; /* +1 whenever an owner left the lock to waiters */
	_Atomic uint8_t looked; /* the millisecond in which a waiter last checked the owner */
};

#define SEG_LOCK_WAITERS UINT32_C(0x80000000)
#define SEG_LOCK_ORDER UINT32_C(0x40000000)
#define SEG_LOCK_TAG UINT32_C(0x3f800000) /* identifies a take-over; lasts for one hold */
#define SEG_LOCK_OWNER (~(SEG_LOCK_WAITERS | SEG_LOCK_ORDER | SEG_LOCK_TAG))
#define SEG_LOCK_GENS 8 /* bits of the owner's generation */
#define SEG_LOCK_TURN_SHIFT 32

static inline uint64_t seg_lock_whole(const struct seg_lock *l)
{
	return __atomic_load_n((const uint64_t *)l, __ATOMIC_RELAXED);
}

static inline uint16_t seg_lock_turn_of(uint64_t whole)
{
	return (uint16_t)(whole >> SEG_LOCK_TURN_SHIFT);
}

/* This process as owner. */
static inline uint32_t seg_lock_me(const struct seg *s)
{
	return (uint32_t)who_me(s, SEG_LOCK_GENS) << 1 | 1;
}

/* The owner in a lock's word. */
static inline struct who seg_lock_who(uint32_t word)
{
	return who_of((word & SEG_LOCK_OWNER) >> 1, SEG_LOCK_GENS);
}

/*
 * Control plane. Such a taker is patient: it waits as long as the lock changes hands. It gives up
 * when one owner has kept the lock for SEG_LOCK_CTRL_NS and is stopped (or for SEG_LOCK_HUNG_NS).
 */
#define SEG_LOCK_CTRL_NS UINT64_C(2000000000)
#define SEG_LOCK_HUNG_NS UINT64_C(30000000000)
#define SEG_LOCK_DATA_NS UINT64_C(2000000) /* data path: on expiry the QP is parked */
/*
 * A queue's lock whose owner is not stopped after SEG_LOCK_DATA_NS: it waits for a processor, and
 * gets it sooner when those who want the lock sleep than when their programs poll on.
 */
#define SEG_LOCK_BUSY_NS UINT64_C(30000000)

/* taken, but its last owner died holding it: repair the data, then go on */
enum { SEG_LOCK_INHERITED = 1 };

/*
 * 0, SEG_LOCK_INHERITED, or -ETIMEDOUT after `timeout_ns` (owner stopped or busy). With
 * SEG_LOCK_CTRL_NS or more the taker is patient, as above.
 */
int seg_lock(struct seg *s, struct seg_lock *l, uint64_t timeout_ns);
/* Patient, too, but it gives up when one owner has kept the lock for 20 ms and is stopped. */
int seg_lock_if_runs(struct seg *s, struct seg_lock *l);
/* 0, SEG_LOCK_INHERITED (the supervisor has seen the owner die), or -EBUSY at once. */
int seg_trylock(struct seg *s, struct seg_lock *l);
void seg_unlock(struct seg *s, struct seg_lock *l);
/*
 * For a lock whose holder can be cut off from the guarded data (gate.h). _holder gives the word and
 * its holder; false: no holder with a slot, or ourselves. _steal changes that word to ours and
 * increments `inherited`; *turn as seg_lock_turn(). False: the lock was released since _holder, or
 * another process took it over.
 */
bool seg_lock_holder(struct seg *s, struct seg_lock *l, uint32_t *word, uint32_t *slot);
bool seg_lock_steal(struct seg *s, struct seg_lock *l, uint32_t word, uint16_t *turn);
/*
 * seg_lock_turn() takes such a lock. *turn is the value of `inherited` at which it became ours: a
 * holder whose lock was taken over finds another value, even if a thread of its own process has the
 * lock now. _has_turn: is the lock still the caller's? _unlock_turn: unlocks only if it is. _keep:
 * as _has_turn, and a _steal after an earlier _holder then fails.
 */
int seg_lock_turn(struct seg *s, struct seg_lock *l, uint64_t timeout_ns, uint16_t *turn);
/* Data path: -ETIMEDOUT after SEG_LOCK_DATA_NS (stopped owner) to SEG_LOCK_BUSY_NS. */
int seg_lock_queue(struct seg *s, struct seg_lock *l, uint16_t *turn);
int seg_lock_if_runs_turn(struct seg *s, struct seg_lock *l, uint16_t *turn);
int seg_trylock_turn(struct seg *s, struct seg_lock *l, uint16_t *turn);
static inline bool seg_lock_has_turn(const struct seg *s, const struct seg_lock *l, uint16_t turn)
{
	uint64_t whole = seg_lock_whole(l);

	return ((uint32_t)whole & SEG_LOCK_OWNER) == seg_lock_me(s) &&
	       seg_lock_turn_of(whole) == turn;
}
bool seg_lock_keep(struct seg *s, struct seg_lock *l, uint16_t turn);
void seg_unlock_turn(struct seg *s, struct seg_lock *l, uint16_t turn);
/*
 * Is its holder dead, or stopped as in who_stopped()? Makes system calls when the lock is held: not
 * for a hot path.
 */
bool seg_lock_orphaned(struct seg *s, struct seg_lock *l);
bool seg_lock_stopped(struct seg *s, const struct seg_lock *l);

#endif
