/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the list of threads that work on send queues (seg_proc.ring). A thread enters a queue before
 * it takes the queue's lock and leaves after releasing it; entries of a dead process go with its
 * slot. Called by sq.c, umr.c, rc.c, and by adopt.c for copies of the program. running.c waits for
 * the threads and tells of epochs.
 */
#include "engine/base/ring.h"
#include "segment/proc.h"
#include "util/sys.h"

TLS_IE struct running_last running_last;

/*
 * Slot 0 belongs to no process: callers without a slot (unit tests, a starting supervisor) share
 * it.
 */
static struct seg_proc *self(struct seg *s)
{
	return seg_at(s, SEG_T_PROC, s->self == SEG_NONE ? 0 : s->self);
}

static uint64_t use_word(struct seg *s, uint64_t who)
{
	return atomic_load(&s->hdr->epoch) << SEG_RING_BITS | who;
}

/* Raises `high` before the entry is used, because running_wait() looks only at entries below it. */
static void raise_high(struct seg_proc *p, uint32_t high)
{
	uint32_t was = atomic_load_explicit(&p->rings_high, memory_order_relaxed);

	while (was < high && !atomic_compare_exchange_weak(&p->rings_high, &was, high))
		;
}

static bool take(struct seg *s, struct seg_proc *p, uint32_t i, uint32_t qpn)
{
	struct seg_ring *e = &p->ring[i];
	uint64_t was = atomic_load_explicit(&e->use, memory_order_relaxed);

	if (was & SEG_RING_WHO)
		return false;
	raise_high(p, i + 1);
	if (!atomic_compare_exchange_strong(&e->use, &was, use_word(s, qpn + 1)))
		return false;
	gate_reset(&e->gate);
	running_any_key(e);
	return true;
}

struct seg_ring *running_enter(struct seg *s, uint32_t qpn)
{
	struct seg_proc *p = self(s);

	/* More threads than entries: wait. No thread with an entry waits for one without. */
	for (;; sys_call(SYS_sched_yield))
		for (uint32_t i = 0; i < SEG_RINGS; i++)
			if (take(s, p, (running_last.index + i) % SEG_RINGS, qpn)) {
				running_last.index = (running_last.index + i) % SEG_RINGS;
				running_last.used = &p->ring[running_last.index];
				return running_last.used;
			}
}

void running_leave(struct seg_ring *e)
{
	running_last.used = NULL;
	uint64_t was = atomic_load_explicit(&e->use, memory_order_relaxed);

	atomic_store_explicit(&e->use, was & ~SEG_RING_WHO, memory_order_release);
}

void running_again(struct seg *s, struct seg_ring *e)
{
	uint64_t was = atomic_load_explicit(&e->use, memory_order_relaxed);
	uint64_t now = use_word(s, was & SEG_RING_WHO);

	gate_reset(&e->gate);
	if (now != was)
		atomic_store(&e->use, now);
}

uint64_t running_mark(struct seg *s)
{
	return atomic_fetch_add(&s->hdr->epoch, 1) + 1;
}
