/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits for the threads that work on send queues, whose list ring.c owns. Called by umr.c, mkey.c,
 * sig.c and state.c.
 *
 * Epochs: to take something away (a key, a QP's right to receive), make the change, then increment
 * seg_hdr.epoch, then wait for threads that entered in an older epoch, because they may have looked
 * before the change. A thread notes the epoch when it enters and again before each WQE, when it
 * holds nothing looked up before; a full barrier follows before it looks anything up. So a thread
 * that has noted the new epoch sees the change. A waiting thread holds nothing either, and no one
 * waits for it.
 */
#include "engine/keys/keys.h"
#include "segment/proc.h"
#include "util/sys.h"

#include <linux/membarrier.h>

#define SPIN_NS (20 * NSEC_PER_USEC) /* longer than a small message takes */
#define NAP_NS (50 * NSEC_PER_USEC)
#define LOOK_NS NSEC_PER_MSEC /* after this time, check for stopped threads */

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
	running_again(s, own);
	return rc;
}
