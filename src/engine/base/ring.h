/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The threads that work on send queues (ring.c), and how one notes that it holds a lock that can
 * be taken over.
 */
#ifndef SOFTHCA_ENGINE_RING_H
#define SOFTHCA_ENGINE_RING_H

#include "engine/base/base.h"
#include "segment/proc.h"
#include "segment/qlock.h"
#include "util/tls.h"

/*
 * ring.c: the list of threads that work on send queues, in any process. Enter before taking the
 * queue's lock, leave after releasing it. _again(): the thread starts anew and keeps nothing that
 * it has looked up.
 */
extern TLS_IE struct running_last {
	uint32_t index;        /* index of this thread's last entry, which it tries first */
	struct seg_ring *used; /* set between _enter() and _leave() */
} running_last;
struct seg_ring *running_enter(struct seg *s, uint32_t qpn);
void running_again(struct seg *s, struct seg_ring *e);
void running_leave(struct seg_ring *e);

/* Called after something was taken away: returns the epoch for running_wait(). */
uint64_t running_mark(struct seg *s);
/* A doorbell: no bus lock, as the entry is this thread's. */
static inline void running_count(struct seg_ring *e)
{
	uint64_t n = atomic_load_explicit(&e->rung, memory_order_relaxed);

	atomic_store_explicit(&e->rung, n + 1, memory_order_relaxed);
}

/* A WQE begins, which uses no key yet, or keys that are not noted. */
static inline void running_no_keys(struct seg_ring *e)
{
	atomic_store_explicit(&e->nkeys, 0, memory_order_relaxed);
}
static inline void running_any_key(struct seg_ring *e)
{
	atomic_store_explicit(&e->nkeys, SEG_RING_KEYS + 1, memory_order_relaxed);
}

/*
 * Called before a key is looked up. No barrier: whoever reads the list makes all threads pass one
 * (membarrier(2)).
 */
static inline void running_uses_key(uint32_t key)
{
	struct seg_ring *e = running_last.used;
	uint32_t n = e ? atomic_load_explicit(&e->nkeys, memory_order_relaxed) : SEG_RING_KEYS + 1;

	if (n > SEG_RING_KEYS)
		return;
	if (n < SEG_RING_KEYS)
		atomic_store_explicit(&e->key[n], key, memory_order_relaxed);
	atomic_store_explicit(&e->nkeys, n + 1, memory_order_release);
	atomic_signal_fence(memory_order_seq_cst); /* before the key is looked at */
}

/*
 * The holder of a lock notes itself beside it. h->gate: the gate of its copies; NULL: it has none,
 * and keeps the lock if the kind of lock minds anything. False: the lock was taken over before. A
 * holder with a gate calls qlock_is_ours() after it has read what the lock guards.
 */
static inline bool qlock_note(struct seg *s, const struct qlock *is, void *o, struct qheld *h)
{
	struct seg_ring *e = running_last.used;

	h->gate = e ? &e->gate : NULL;
	atomic_store_explicit(qlock_noted(is, o),
			      QLOCK_NOTE(h->turn, s->self, e ? running_last.index + 1 : 0),
			      memory_order_relaxed);
	/*
	 * Without a gate only seg_lock_keep() stops a process that read the note before this store.
	 */
	return e || seg_lock_keep(s, qlock_lock(is, o), h->turn);
}

#endif
