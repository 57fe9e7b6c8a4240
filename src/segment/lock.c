/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the lock word. Spins for the time that a queue's work takes, then sleeps in slices: each
 * slice ends in a look at the owner, so a wake-up that its killer swallowed costs one slice.
 */
#include "segment/lock.h"
#include "segment/proc.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/sys.h"

#define LOCK_WAITERS UINT32_C(0x80000000)
#define LOCK_OWNER(word) ((word) & ~LOCK_WAITERS)
#define LOCK_SLOT_BITS 24
#define LOCK_GENS 0x7fu

#define SPINS 200
#define SLICE_NS NSEC_PER_MSEC

static inline uint32_t my_word(const struct seg *s)
{
	if (s->self == SEG_NONE)
		return 1;
	return (s->self_gen & LOCK_GENS) << LOCK_SLOT_BITS | (s->self + 1);
}

/* `ask`: look at the process itself too, which costs system calls. */
static bool owner_gone(struct seg *s, uint32_t word, bool ask)
{
	uint32_t slot = (word & ((1u << LOCK_SLOT_BITS) - 1)) - 1;
	const struct seg_proc *p;

	if (!slot) /* somebody without a slot */
		return false;
	p = seg_proc(s, slot);
	if (!p || (p->gen & LOCK_GENS) != (word >> LOCK_SLOT_BITS & LOCK_GENS) ||
	    atomic_load_explicit(&p->state, memory_order_acquire) == SEG_PROC_DEAD)
		return true;
	return ask && seg_proc_gone(s, slot, p->gen);
}

/* From a dead owner's word to ours; sleepers stay noted. */
static bool inherit(struct seg *s, struct seg_lock *l, uint32_t word)
{
	if (!atomic_compare_exchange_strong(&l->word, &word, my_word(s) | (word & LOCK_WAITERS)))
		return false;
	l->inherited++;
	TRACE(LOG_LINK, "lock of dead slot %u taken over",
	      (word & ((1u << LOCK_SLOT_BITS) - 1)) - 1);
	return true;
}

/* Sleep until the word changes or the slice ends. `*w`: the word as last seen, held by another. */
static void wait_slice(struct seg_lock *l, uint32_t w, uint64_t ns)
{
	if (!(w & LOCK_WAITERS) && !atomic_compare_exchange_strong(&l->word, &w, w | LOCK_WAITERS))
		return;
	sys_futex_wait(&l->word, w | LOCK_WAITERS, ns);
}

static int lock_slow(struct seg *s, struct seg_lock *l, uint64_t timeout_ns)
{
	uint64_t start = clock_now_ns(), now = start, looked = start;
	/* Who has slept cannot know that no other sleeps still. */
	uint32_t waiters = 0;
	uint32_t w;

	for (;;) {
		w = atomic_load_explicit(&l->word, memory_order_relaxed);
		if (!LOCK_OWNER(w)) {
			if (atomic_compare_exchange_weak_explicit(
				    &l->word, &w, my_word(s) | waiters | w, memory_order_acquire,
				    memory_order_relaxed))
				return 0;
			continue;
		}
		now = clock_now_ns();
		if (now - looked >= SLICE_NS) {
			looked = now;
			if (owner_gone(s, w, true) && inherit(s, l, w))
				return SEG_LOCK_INHERITED;
		}
		if (now - start >= timeout_ns)
			return -ETIMEDOUT;
		wait_slice(l, w,
			   timeout_ns - (now - start) < SLICE_NS ? timeout_ns - (now - start)
								 : SLICE_NS);
		waiters = LOCK_WAITERS;
	}
}

static inline bool lock_fast(struct seg *s, struct seg_lock *l)
{
	uint32_t none = 0;

	return atomic_compare_exchange_strong_explicit(&l->word, &none, my_word(s),
						       memory_order_acquire, memory_order_relaxed);
}

int seg_lock(struct seg *s, struct seg_lock *l, uint64_t timeout_ns)
{
	for (unsigned int i = 0; i < SPINS; i++) {
		if (!atomic_load_explicit(&l->word, memory_order_relaxed) && lock_fast(s, l))
			return 0;
		sys_cpu_relax();
	}
	return lock_slow(s, l, timeout_ns);
}

int seg_trylock(struct seg *s, struct seg_lock *l)
{
	uint32_t w;

	if (lock_fast(s, l))
		return 0;
	w = atomic_load_explicit(&l->word, memory_order_relaxed);
	if (LOCK_OWNER(w) && w != my_word(s) && owner_gone(s, w, false) && inherit(s, l, w))
		return SEG_LOCK_INHERITED;
	return -EBUSY;
}

void seg_unlock(struct seg *s, struct seg_lock *l)
{
	uint32_t w = my_word(s);

	if (atomic_compare_exchange_strong_explicit(&l->word, &w, 0, memory_order_release,
						    memory_order_relaxed))
		return;
	if (w != (my_word(s) | LOCK_WAITERS)) {
		/* Not ours (any more): the element was freed and made anew under a stale holder. */
		TRACE(LOG_MEM, "unlock of a lock held by %#x", w);
		return;
	}
	atomic_store_explicit(&l->word, 0, memory_order_release);
	sys_futex_wake(&l->word, 1);
}

bool seg_lock_is_mine(struct seg *s, struct seg_lock *l)
{
	return LOCK_OWNER(atomic_load_explicit(&l->word, memory_order_relaxed)) == my_word(s);
}
