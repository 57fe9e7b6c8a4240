/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the list of threads that work on send queues (seg_proc.ring), and waits for them. A thread
 * enters a queue before it takes the queue's lock and leaves after releasing it; entries of a dead
 * process go with its slot. Called by sq.c, umr.c, rc.c, mkey.c, state.c.
 *
 * Epochs: to take something away (a key, a QP's right to receive), make the change, then increment
 * seg_hdr.epoch, then wait for threads that entered in an older epoch, because they may have looked
 * before the change. A thread notes the epoch when it enters and again before each WQE, when it
 * holds nothing looked up before; a full barrier follows before it looks anything up. So a thread
 * that has noted the new epoch sees the change. A waiting thread holds nothing either, and no one
 * waits for it.
 */
#include "engine/priv.h"
#include "segment/proc.h"
#include "util/sys.h"
#include "util/tls.h"

#include <linux/membarrier.h>

#define SPIN_NS (20 * NSEC_PER_USEC) /* longer than a small message takes */
#define NAP_NS (50 * NSEC_PER_USEC)
#define LOOK_NS NSEC_PER_MSEC /* after this time, check for stopped threads */

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

struct waiting {
	struct seg *s;
	struct running *it;
	uint64_t start, end;
};

static bool in_the_way(const struct waiting *w, uint64_t use)
{
	uint64_t who = use & SEG_RING_WHO;

	return who && !(use & SEG_RING_WAITS) && use >> SEG_RING_BITS < w->it->epoch &&
	       (!w->it->uses || w->it->uses(w->it, (uint32_t)who - 1));
}

static bool notes_it(const struct waiting *w, struct seg_ring *e)
{
	uint32_t n = atomic_load_explicit(&e->nkeys, memory_order_acquire);

	if (n > SEG_RING_KEYS)
		return true;
	for (uint32_t i = 0; i < n; i++)
		if (w->it->holds(w->it, atomic_load_explicit(&e->key[i], memory_order_relaxed)))
			return true;
	return false;
}

/*
 * Is the thread kept by other keys than the one that was taken away? Once every thread has passed
 * a barrier, it has either noted the key, or will find that it is gone. Where the host refuses the
 * call, nobody knows.
 */
static bool uses_others(const struct waiting *w, struct seg_ring *e)
{
	return w->it->holds && !notes_it(w, e) &&
	       !sys_call(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) && !notes_it(w, e);
}

/*
 * The thread makes no progress. Is it certain that it will do no harmful copy? A copy in adopted
 * memory happens when the thread is continued, and is harmless only where nobody looks: in chunks
 * of a key that ends, or of memory that was given back.
 */
static bool harmless(const struct waiting *w, uint32_t slot, struct seg_ring *e)
{
	struct who who = who_now(w->s, slot);
	uint32_t minds = GATE_MINDS_OWN | GATE_MINDS_STATE;

	if (!slot || slot == w->s->self)
		return false;
	if (w->it->minds)
		minds = w->it->minds(w->it, slot);
	if (!w->it->key_ends || minds & GATE_MINDS_OWN)
		minds |= GATE_MINDS_POOL;
	if (gate_shut(w->s, who, &e->gate, minds) != GATE_OPEN)
		return true;
	if (w->it->of != w->s->self || gate_word(&e->gate) != GATE_POOL || !adopt_all_back())
		return false;
	return gate_shut(w->s, who, &e->gate, minds & ~(uint32_t)GATE_MINDS_POOL) != GATE_OPEN;
}

/* As with locks, commands give up on stopped threads, not on slow ones. */
static bool gives_up(const struct waiting *w, uint32_t slot, uint64_t now)
{
	if (now < w->end)
		return false;
	return w->end - w->start < SEG_LOCK_CTRL_NS || now - w->start >= SEG_LOCK_HUNG_NS ||
	       (slot && slot != w->s->self && who_stopped(w->s, who_now(w->s, slot)));
}

static int wait_for(const struct waiting *w, uint32_t slot, struct seg_ring *e)
{
	struct timespec nap = {0, NAP_NS};
	uint64_t now, looked = w->start;

	while (in_the_way(w, atomic_load(&e->use))) {
		now = clock_now_ns();
		if (now - looked >= LOOK_NS || w->end == w->start) {
			looked = now;
			if (uses_others(w, e) || harmless(w, slot, e))
				return 0;
			if (gives_up(w, slot, now))
				return -ETIMEDOUT;
		}
		if (now - w->start < SPIN_NS)
			sys_cpu_relax();
		else if (now - w->start < NAP_NS)
			sys_call(SYS_sched_yield);
		else
			sys_call(SYS_nanosleep, &nap, NULL);
	}
	return 0;
}

static int wait_in(const struct waiting *w, uint32_t slot)
{
	struct seg_proc *p = seg_at(w->s, SEG_T_PROC, slot);
	uint32_t high = atomic_load(&p->rings_high);
	int rc = 0;

	for (uint32_t i = 0; i < high && i < SEG_RINGS && !rc; i++)
		if (in_the_way(w, atomic_load(&p->ring[i].use)))
			rc = wait_for(w, slot, &p->ring[i]);
	return rc;
}

int running_wait(struct seg *s, struct running *it, uint64_t ns)
{
	struct waiting w = {.s = s, .it = it, .start = clock_now_ns()};
	int rc;

	w.end = w.start + ns;
	rc = wait_in(&w, 0);
	for (uint32_t i = seg_next(s, SEG_T_PROC, SEG_OWNER_ANY, 0); i != SEG_NONE && !rc;
	     i = seg_next(s, SEG_T_PROC, SEG_OWNER_ANY, i + 1))
		rc = wait_in(&w, i);
	return rc;
}

int running_wait_outside(struct seg *s, struct seg_ring *own, struct running *it, uint64_t ns)
{
	uint64_t was = atomic_load_explicit(&own->use, memory_order_relaxed);
	int rc;

	atomic_store(&own->use, was | SEG_RING_WAITS);
	rc = running_wait(s, it, ns);
	atomic_store(&own->use, use_word(s, was & SEG_RING_WHO));
	gate_reset(&own->gate);
	return rc;
}
