/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the lock word. A taker spins for the time that a queue's work takes, then sleeps in slices
 * until an unlock wakes it.
 *
 * Waiting: the kernel keeps the sleepers in order (futex). A running taker may be faster than the
 * sleeper that was just woken. The sleeper then sets LOCK_ORDER: from then on newcomers sleep even
 * when the word is free, and unlocks wake the sleepers that were overtaken first. A mark without a
 * sleeper costs the next taker one slice.
 *
 * Checking: one waiter per millisecond checks whether the owner is alive. The others sleep longer
 * and longer, so a thousand waiters leave the processors to the owner. No waiter depends on
 * another: a wake-up that dies with its receiver costs a slice.
 */
#include "segment/lock.h"
#include "segment/proc.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/sys.h"

#define LOCK_WAITERS UINT32_C(0x80000000)
#define LOCK_ORDER UINT32_C(0x00800000)
#define LOCK_BITS (LOCK_WAITERS | LOCK_ORDER)
#define LOCK_TAG UINT32_C(0x007f0000) /* identifies a take-over; lasts for one hold */
#define LOCK_TAG_SHIFT 16
#define LOCK_OWNER(word) ((word) & ~(LOCK_BITS | LOCK_TAG))
#define LOCK_SLOT(word) (((word) & ((1u << LOCK_SLOT_BITS) - 1)) - 1)
#define LOCK_SLOT_BITS 16
#define LOCK_GEN_SHIFT 24
#define LOCK_GENS 0x7fu

#define SPINS 200
#define SLICE_NS NSEC_PER_MSEC
#define SLICE_MAX_NS (64 * NSEC_PER_MSEC)
#define STOPPED_NS (20 * NSEC_PER_MSEC)

/* The bits of sleepers for futex(2). */
#define SLEEPS_NEW 1u
#define SLEEPS_OVERTAKEN 2u

static inline uint32_t my_word(const struct seg *s)
{
	if (s->self == SEG_NONE)
		return 1;
	return (s->self_gen & LOCK_GENS) << LOCK_GEN_SHIFT | (s->self + 1);
}

/* `ask`: also examine the process itself, which costs system calls. */
static bool owner_gone(struct seg *s, uint32_t word, bool ask)
{
	uint32_t slot = LOCK_SLOT(word);
	const struct seg_proc *p;

	if (!slot) /* an owner without a slot */
		return false;
	p = seg_proc(s, slot);
	if (!p || (p->gen & LOCK_GENS) != (word >> LOCK_GEN_SHIFT & LOCK_GENS) ||
	    atomic_load_explicit(&p->state, memory_order_acquire) == SEG_PROC_DEAD)
		return true;
	return ask && seg_proc_gone(s, slot, p->gen);
}

/* Move the word from a dead owner to this one; the mark of sleepers stays. */
static bool inherit(struct seg *s, struct seg_lock *l, uint32_t word)
{
	if (!atomic_compare_exchange_strong(&l->word, &word, my_word(s) | (word & LOCK_BITS)))
		return false;
	l->inherited++;
	atomic_fetch_add_explicit(&l->passed, 1, memory_order_relaxed);
	TRACE(LOG_LINK, "lock of dead slot %u taken over", LOCK_SLOT(word));
	return true;
}

/* One taker that has to wait. */
struct waiter {
	uint64_t timeout, now, slice;
	/* when the wait began, or (for a patient taker) when the lock last changed hands */
	uint64_t since;
	uint64_t looked; /* when it last checked the owner, or left that to another waiter */
	uint32_t keep;   /* LOCK_WAITERS after its first sleep: others may still sleep */
	uint8_t passed;
	bool patient;
	bool turn; /* it has slept: LOCK_ORDER does not apply to it */
};

/* Sleep until the word changes or the slice ends. `word`: as last seen. */
static void sleep_slice(struct seg_lock *l, struct waiter *w, uint32_t word)
{
	bool overtaken = w->turn && w->patient;
	uint32_t bits = word | LOCK_WAITERS | (overtaken ? LOCK_ORDER : 0);
	uint64_t ns = w->slice, gone = w->now - w->since;

	if (!w->patient && gone + ns > w->timeout)
		ns = w->timeout - gone;
	if (bits != word && !atomic_compare_exchange_strong(&l->word, &word, bits))
		return;
	w->keep = LOCK_WAITERS;
	/* Woken, or a slice later: no longer a newcomer. */
	if (sys_futex_wait_until(&l->word, bits, w->now + ns,
				 overtaken ? SLEEPS_OVERTAKEN : SLEEPS_NEW) != -EAGAIN)
		w->turn = true;
}

/* Called at the end of each slice. True: the owner is dead. One waiter per millisecond checks. */
static bool look(struct seg *s, struct seg_lock *l, struct waiter *w, uint32_t word)
{
	uint8_t ms = (uint8_t)(w->now / SLICE_NS);
	uint8_t was = atomic_load_explicit(&l->looked, memory_order_relaxed);

	if (w->now - w->looked < w->slice)
		return false;
	w->looked = w->now;
	/* If the supervisor has noticed the death, the check is free. */
	if (LOCK_OWNER(word) && owner_gone(s, word, false))
		return true;
	if (was == ms || !atomic_compare_exchange_strong(&l->looked, &was, ms)) {
		if (w->slice < SLICE_MAX_NS)
			w->slice *= 2;
		return false;
	}
	w->slice = SLICE_NS;
	return LOCK_OWNER(word) && owner_gone(s, word, true);
}

/* Has it waited long enough? `word`: the owner's. */
static bool expired(struct seg *s, struct seg_lock *l, struct waiter *w, uint32_t word)
{
	uint8_t passed = atomic_load_explicit(&l->passed, memory_order_relaxed);

	if (w->patient && passed != w->passed) {
		w->passed = passed;
		w->since = w->now;
	}
	if (w->now - w->since < w->timeout)
		return false;
	/* Wait for an owner that runs, or that waits for a processor among a thousand others. */
	return !w->patient || w->now - w->since >= SEG_LOCK_HUNG_NS ||
	       seg_proc_stopped(s, LOCK_SLOT(word));
}

/* A short wait may have left every check to other waiters. */
static int give_up(struct seg *s, struct seg_lock *l, uint32_t word)
{
	return LOCK_OWNER(word) && owner_gone(s, word, true) && inherit(s, l, word)
		       ? SEG_LOCK_INHERITED
		       : -ETIMEDOUT;
}

static int lock_slow(struct seg *s, struct seg_lock *l, uint64_t timeout_ns, bool patient)
{
	struct waiter w = {.timeout = timeout_ns, .patient = patient, .slice = SLICE_NS};
	uint32_t word;

	w.now = w.since = w.looked = clock_now_ns();
	w.passed = atomic_load_explicit(&l->passed, memory_order_relaxed);
	for (;;) {
		word = atomic_load_explicit(&l->word, memory_order_relaxed);
		if (!LOCK_OWNER(word) && (w.turn || !(word & LOCK_ORDER))) {
			if (atomic_compare_exchange_weak_explicit(
				    &l->word, &word, my_word(s) | w.keep | word,
				    memory_order_acquire, memory_order_relaxed))
				return 0;
			continue;
		}
		w.now = clock_now_ns();
		if (look(s, l, &w, word) && inherit(s, l, word))
			return SEG_LOCK_INHERITED;
		if (expired(s, l, &w, word))
			return give_up(s, l, word);
		sleep_slice(l, &w, word);
	}
}

static inline bool lock_fast(struct seg *s, struct seg_lock *l)
{
	uint32_t none = 0;

	return atomic_compare_exchange_strong_explicit(&l->word, &none, my_word(s),
						       memory_order_acquire, memory_order_relaxed);
}

static bool spin(struct seg *s, struct seg_lock *l)
{
	for (unsigned int i = 0; i < SPINS; i++) {
		uint32_t w = atomic_load_explicit(&l->word, memory_order_relaxed);

		if (!w && lock_fast(s, l))
			return true;
		if (w & LOCK_ORDER)
			return false;
		sys_cpu_relax();
	}
	return false;
}

int seg_lock(struct seg *s, struct seg_lock *l, uint64_t timeout_ns)
{
	return spin(s, l) ? 0 : lock_slow(s, l, timeout_ns, timeout_ns >= SEG_LOCK_CTRL_NS);
}

int seg_lock_if_runs(struct seg *s, struct seg_lock *l)
{
	return spin(s, l) ? 0 : lock_slow(s, l, STOPPED_NS, true);
}

int seg_trylock(struct seg *s, struct seg_lock *l)
{
	uint32_t w;

	if (lock_fast(s, l))
		return 0;
	w = atomic_load_explicit(&l->word, memory_order_relaxed);
	while (!LOCK_OWNER(w))
		if (atomic_compare_exchange_weak_explicit(&l->word, &w, my_word(s) | w,
							  memory_order_acquire,
							  memory_order_relaxed))
			return 0;
	if (w != my_word(s) && owner_gone(s, w, false) && inherit(s, l, w))
		return SEG_LOCK_INHERITED;
	return -EBUSY;
}

/* The owner is removed from the word; LOCK_ORDER remains if it was there. */
static void wake_next(struct seg_lock *l, uint32_t bits)
{
	if (bits & LOCK_ORDER) {
		if (sys_futex_wake_bits(&l->word, 1, SLEEPS_OVERTAKEN) > 0)
			return;
		/* None of them sleeps any more. */
		if (!atomic_compare_exchange_strong(&l->word, &bits, 0))
			return;
	}
	sys_futex_wake(&l->word, 1);
}

void seg_unlock(struct seg *s, struct seg_lock *l)
{
	uint32_t w = my_word(s), bits;

	if (atomic_compare_exchange_strong_explicit(&l->word, &w, 0, memory_order_release,
						    memory_order_relaxed))
		return;
	do {
		if (LOCK_OWNER(w) != my_word(s)) {
			/*
			 * The lock is not held any more: the element was freed and reused
			 * meanwhile.
			 */
			TRACE(LOG_MEM, "unlock of a lock held by %#x", w);
			return;
		}
		bits = w & LOCK_ORDER ? w & LOCK_BITS : 0;
	} while (!atomic_compare_exchange_weak_explicit(&l->word, &w, bits, memory_order_release,
							memory_order_relaxed));
	atomic_fetch_add_explicit(&l->passed, 1, memory_order_relaxed);
	wake_next(l, bits);
}

bool seg_lock_holder(struct seg *s, struct seg_lock *l, uint32_t *word, uint32_t *slot)
{
	uint32_t was = atomic_load(&l->word), tag;

	/*
	 * A different number for each taker, so that two takers cannot mistake each other's
	 * takeover.
	 */
	do {
		*slot = LOCK_SLOT(was);
		if (!LOCK_OWNER(was) || !*slot || LOCK_OWNER(was) == my_word(s))
			return false;
		tag = (was + (1u << LOCK_TAG_SHIFT)) & LOCK_TAG;
		if (!tag)
			tag = 1u << LOCK_TAG_SHIFT;
		*word = LOCK_OWNER(was) | tag;
	} while (!atomic_compare_exchange_weak(&l->word, &was, *word | (was & LOCK_BITS)));
	return true;
}

bool seg_lock_steal(struct seg *s, struct seg_lock *l, uint32_t word)
{
	uint32_t was = atomic_load(&l->word);

	do
		if ((was & ~LOCK_BITS) != word)
			return false;
	while (!atomic_compare_exchange_weak(&l->word, &was, my_word(s) | (was & LOCK_BITS)));
	l->inherited++;
	atomic_fetch_add_explicit(&l->passed, 1, memory_order_relaxed);
	TRACE(LOG_LINK, "lock of stopped slot %u taken over", LOCK_SLOT(word));
	return true;
}

bool seg_lock_orphaned(struct seg *s, struct seg_lock *l)
{
	uint32_t w = atomic_load(&l->word);

	return LOCK_OWNER(w) && LOCK_OWNER(w) != my_word(s) && owner_gone(s, w, true);
}

bool seg_lock_is_mine(struct seg *s, struct seg_lock *l)
{
	return LOCK_OWNER(atomic_load_explicit(&l->word, memory_order_relaxed)) == my_word(s);
}
