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
 * and longer, until few look in the same millisecond: so the checks of a lock do not increase with
 * its waiters. No waiter depends on another: a wake-up that dies with its receiver costs a slice.
 */
#include "segment/lock.h"
#include "segment/proc.h"
#include "segment/rank.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/sys.h"

#include <assert.h>
#include <stddef.h>

#define LOCK_WAITERS SEG_LOCK_WAITERS
#define LOCK_ORDER SEG_LOCK_ORDER
#define LOCK_BITS (LOCK_WAITERS | LOCK_ORDER)
#define LOCK_TAG SEG_LOCK_TAG
#define LOCK_TAG_SHIFT 23
#define LOCK_OWNER(word) ((word)&SEG_LOCK_OWNER)

#define SPINS 200
#define SLICE_NS NSEC_PER_MSEC
/* No multiple of 256 ms, after which seg_lock.looked would show the same millisecond. */
#define SLICE_MAX_NS (1000 * NSEC_PER_MSEC)
/* of a taker that does not wait for a stopped owner as long as the control plane */
#define SLICE_MAX_SHORT_NS (64 * NSEC_PER_MSEC)
#define STOPPED_NS (20 * NSEC_PER_MSEC)

/* The bits of sleepers for futex(2). */
#define SLEEPS_NEW 1u
#define SLEEPS_OVERTAKEN 2u

#define TURN_SHIFT SEG_LOCK_TURN_SHIFT
static_assert(SEG_LOCK_OWNER == (2u << WHO_BITS(SEG_LOCK_GENS)) - 1 &&
		      SEG_LOCK_TAG >> LOCK_TAG_SHIFT == 0x7f,
	      "the owner ends where the tag begins");
static_assert(sizeof(struct seg_lock) == 8 && offsetof(struct seg_lock, word) == 0 &&
		      offsetof(struct seg_lock, inherited) * 8 == TURN_SHIFT &&
		      __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	      "the owner and the turn are one word");

/* Compare-and-swap of word and turn. False: *was is the current value. */
static inline bool swap_word(struct seg_lock *l, uint64_t *was, uint32_t word, uint16_t turn,
			     int order)
{
	uint64_t to = (*was & ~(UINT64_C(0xffff) << TURN_SHIFT | UINT32_MAX)) |
		      (uint64_t)turn << TURN_SHIFT | word;

	return __atomic_compare_exchange_n((uint64_t *)l, was, to, false, order, __ATOMIC_RELAXED);
}

/* Replaces the owner in the word by this process; keeps the bits about sleepers. */
static bool replace(struct seg *s, struct seg_lock *l, uint32_t word, uint32_t mask, uint16_t *turn)
{
	uint64_t was = seg_lock_whole(l);

	do {
		if (((uint32_t)was & mask) != word)
			return false;
		*turn = (uint16_t)(seg_lock_turn_of(was) + 1);
	} while (!swap_word(l, &was, seg_lock_me(s) | ((uint32_t)was & LOCK_BITS), *turn,
			    __ATOMIC_SEQ_CST));
	atomic_fetch_add_explicit(&l->passed, 1, memory_order_relaxed);
	return true;
}

static bool inherit(struct seg *s, struct seg_lock *l, uint32_t word, uint16_t *turn)
{
	if (!replace(s, l, word, UINT32_MAX, turn))
		return false;
	TRACE(LOG_LINK, "lock of dead slot %u taken over", seg_lock_who(word).slot);
	return true;
}

/* One taker that has to wait. */
struct waiter {
	uint64_t timeout, now, slice;
	/* when the wait began, or (for a patient taker) when the lock last changed hands */
	uint64_t since;
	uint64_t looked; /* when it last checked the owner, or left that to another waiter */
	uint64_t most;   /* the longest wait for an owner that is not stopped */
	uint32_t keep;   /* LOCK_WAITERS once it has slept, because others may still sleep */
	uint8_t passed, seen_passed; /* of the lock; `seen_passed`: when it last checked */
	bool patient;
	bool turn; /* it has slept, so LOCK_ORDER does not make it wait */
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
	/* After it was woken, or has slept a slice, it is no newcomer any more. */
	if (sys_futex_wait_until(&l->word, bits, w->now + ns,
				 overtaken ? SLEEPS_OVERTAKEN : SLEEPS_NEW) != -EAGAIN)
		w->turn = true;
}

/*
 * Another waiter checks the owner. So that a death costs a multiple of the time that was waited
 * before, the slice grows by a factor; not all that came together wake together.
 */
static void sleep_longer(struct waiter *w)
{
	bool ctrl = w->timeout >= SEG_LOCK_CTRL_NS;
	uint64_t most = ctrl ? SLICE_MAX_NS : SLICE_MAX_SHORT_NS;
	uint64_t least = (ctrl ? 6 : 3) * w->slice;

	w->slice = least + w->now % least;
	if (w->slice > most)
		w->slice = most;
}

/* Called at the end of each slice. True: the owner is dead. One waiter per millisecond checks. */
static bool lock_look(struct seg *s, struct seg_lock *l, struct waiter *w, uint32_t word)
{
	uint8_t ms = (uint8_t)(w->now / SLICE_NS);
	uint8_t was = atomic_load_explicit(&l->looked, memory_order_relaxed);
	uint8_t passed = atomic_load_explicit(&l->passed, memory_order_relaxed);
	bool moved = passed != w->seen_passed;

	if (w->now - w->looked < w->slice)
		return false;
	w->looked = w->now;
	w->seen_passed = passed;
	/* If the supervisor has noticed the death, the check is free. */
	if (LOCK_OWNER(word) && who_dead(s, seg_lock_who(word)))
		return true;
	if (was == ms || !atomic_compare_exchange_strong(&l->looked, &was, ms)) {
		sleep_longer(w);
		return false;
	}
	if (!moved)
		w->slice = SLICE_NS;
	return LOCK_OWNER(word) && who_gone(s, seg_lock_who(word));
}

/* Has the caller waited long enough for the owner that `word` names? */
static bool expired(struct seg *s, struct seg_lock *l, struct waiter *w, uint32_t word)
{
	uint8_t passed = atomic_load_explicit(&l->passed, memory_order_relaxed);

	bool moved = passed != w->passed;

	if (w->patient && moved) {
		w->passed = passed;
		w->since = w->now;
	}
	if (w->now - w->since < w->timeout)
		return false;
	/* Wait for an owner that runs, or that waits for a processor among a thousand others. */
	if (w->now - w->since >= w->most || (!moved && who_stopped(s, seg_lock_who(word))))
		return true;
	if (!w->patient) {
		w->passed = passed;
		w->timeout = 2 * w->timeout < w->most ? 2 * w->timeout : w->most;
	}
	return false;
}

/* A short wait may have left every check to other waiters. */
static int give_up(struct seg *s, struct seg_lock *l, uint32_t word, uint16_t *turn)
{
	return LOCK_OWNER(word) && who_gone(s, seg_lock_who(word)) && inherit(s, l, word, turn)
		       ? SEG_LOCK_INHERITED
		       : -ETIMEDOUT;
}

static int lock_slow(struct seg *s, struct seg_lock *l, uint64_t timeout_ns, uint64_t most_ns,
		     uint16_t *turn)
{
	struct waiter w = {.timeout = timeout_ns,
			   .most = most_ns,
			   .patient = most_ns == SEG_LOCK_HUNG_NS,
			   .slice = SLICE_NS};
	uint64_t all;
	uint32_t word;

	w.now = w.since = w.looked = clock_now_ns();
	w.passed = w.seen_passed = atomic_load_explicit(&l->passed, memory_order_relaxed);
	for (;;) {
		all = seg_lock_whole(l);
		word = (uint32_t)all;
		if (!LOCK_OWNER(word) && (w.turn || !(word & LOCK_ORDER))) {
			*turn = seg_lock_turn_of(all);
			if (swap_word(l, &all, seg_lock_me(s) | w.keep | word, *turn,
				      __ATOMIC_ACQUIRE))
				return 0;
			continue;
		}
		w.now = clock_now_ns();
		if (lock_look(s, l, &w, word) && inherit(s, l, word, turn))
			return SEG_LOCK_INHERITED;
		if (expired(s, l, &w, word))
			return give_up(s, l, word, turn);
		sleep_slice(l, &w, word);
	}
}

static inline bool lock_fast(struct seg *s, struct seg_lock *l, uint16_t *turn)
{
	uint64_t all = seg_lock_whole(l);

	*turn = seg_lock_turn_of(all);
	return !(uint32_t)all && swap_word(l, &all, seg_lock_me(s), *turn, __ATOMIC_ACQUIRE);
}

/* Not inlined, so that the first try, which usually succeeds, saves no registers. */
static __attribute__((noinline)) int
lock_taken(struct seg *s, struct seg_lock *l, uint64_t timeout_ns, uint64_t most_ns, uint16_t *turn)
{
	for (unsigned int i = 1; i < SPINS; i++) {
		if (atomic_load_explicit(&l->word, memory_order_relaxed) & LOCK_ORDER)
			break;
		sys_cpu_relax();
		if (lock_fast(s, l, turn))
			return 0;
	}
	return lock_slow(s, l, timeout_ns, most_ns, turn);
}

int seg_lock_turn(struct seg *s, struct seg_lock *l, uint64_t timeout_ns, uint16_t *turn)
{
	uint64_t most = timeout_ns >= SEG_LOCK_CTRL_NS ? SEG_LOCK_HUNG_NS : timeout_ns;
	int rc;

	if (timeout_ns)
		rank_waits(s, l);
	rc = lock_fast(s, l, turn) ? 0 : lock_taken(s, l, timeout_ns, most, turn);
	return timeout_ns ? rank_took(s, l, turn, rc) : rc;
}

int seg_lock_queue(struct seg *s, struct seg_lock *l, uint16_t *turn)
{
	rank_waits(s, l);
	return rank_took(s, l, turn,
			 lock_fast(s, l, turn)
				 ? 0
				 : lock_taken(s, l, SEG_LOCK_DATA_NS, SEG_LOCK_BUSY_NS, turn));
}

int seg_lock(struct seg *s, struct seg_lock *l, uint64_t timeout_ns)
{
	uint16_t turn;

	return seg_lock_turn(s, l, timeout_ns, &turn);
}

int seg_lock_if_runs_turn(struct seg *s, struct seg_lock *l, uint16_t *turn)
{
	rank_waits(s, l);
	return rank_took(
		s, l, turn,
		lock_fast(s, l, turn) ? 0 : lock_taken(s, l, STOPPED_NS, SEG_LOCK_HUNG_NS, turn));
}

int seg_lock_if_runs(struct seg *s, struct seg_lock *l)
{
	uint16_t turn;

	return seg_lock_if_runs_turn(s, l, &turn);
}

int seg_trylock_turn(struct seg *s, struct seg_lock *l, uint16_t *turn)
{
	uint64_t all = seg_lock_whole(l);

	while (!LOCK_OWNER((uint32_t)all)) {
		*turn = seg_lock_turn_of(all);
		if (swap_word(l, &all, seg_lock_me(s) | (uint32_t)all, *turn, __ATOMIC_ACQUIRE))
			return rank_took(s, l, turn, 0);
	}
	if ((uint32_t)all != seg_lock_me(s) && who_dead(s, seg_lock_who((uint32_t)all)) &&
	    inherit(s, l, (uint32_t)all, turn))
		return rank_took(s, l, turn, SEG_LOCK_INHERITED);
	return -EBUSY;
}

int seg_trylock(struct seg *s, struct seg_lock *l)
{
	uint16_t turn;

	return seg_trylock_turn(s, l, &turn);
}

/* The owner is removed from the word; LOCK_ORDER remains if it was there. */
static void wake_next(struct seg_lock *l, uint32_t bits)
{
	if (bits & LOCK_ORDER) {
		if (sys_futex_wake_bits(&l->word, 1, SLEEPS_OVERTAKEN) > 0)
			return;
		/* No overtaken waiter sleeps any more: the order is lifted. */
		if (!atomic_compare_exchange_strong(&l->word, &bits, 0))
			return;
	}
	sys_futex_wake(&l->word, 1);
}

/*
 * Unlocks for this owner, at any turn (NULL) or only at `turn`. False: the lock is no longer its.
 */
static __attribute__((noinline)) bool unlock_waited(struct seg *s, struct seg_lock *l,
						    const uint16_t *turn)
{
	uint64_t was = seg_lock_whole(l);
	uint32_t bits;

	do {
		if (LOCK_OWNER((uint32_t)was) != seg_lock_me(s) ||
		    (turn && seg_lock_turn_of(was) != *turn))
			return false;
		bits = (uint32_t)was & LOCK_ORDER ? (uint32_t)was & LOCK_BITS : 0;
	} while (!swap_word(l, &was, bits, seg_lock_turn_of(was), __ATOMIC_RELEASE));
	if (__builtin_expect((uint32_t)was & LOCK_BITS, 0)) {
		atomic_fetch_add_explicit(&l->passed, 1, memory_order_relaxed);
		wake_next(l, bits);
	}
	return true;
}

/* The fast case: the word holds only the owner, so no thread waits or has looked at the holder. */
static inline bool unlock_fast(struct seg *s, struct seg_lock *l, uint64_t was)
{
	return (uint32_t)was == seg_lock_me(s) &&
	       swap_word(l, &was, 0, seg_lock_turn_of(was), __ATOMIC_RELEASE);
}

void seg_unlock(struct seg *s, struct seg_lock *l)
{
	rank_drops(l);
	/* The element was freed and reused while a stale holder had it. */
	if (!unlock_fast(s, l, seg_lock_whole(l)) && !unlock_waited(s, l, NULL))
		TRACE(LOG_MEM, "unlock of a lock held by %#x", l->word);
}

void seg_unlock_turn(struct seg *s, struct seg_lock *l, uint16_t turn)
{
	uint64_t was = seg_lock_whole(l);

	rank_drops(l);
	if (seg_lock_turn_of(was) == turn && !unlock_fast(s, l, was))
		unlock_waited(s, l, &turn);
}

/* A different number for each, so that two cannot mistake each other's takeover. */
static uint32_t next_tag(uint32_t word)
{
	uint32_t tag = (word + (1u << LOCK_TAG_SHIFT)) & LOCK_TAG;

	return tag ? tag : 1u << LOCK_TAG_SHIFT;
}

bool seg_lock_keep(struct seg *s, struct seg_lock *l, uint16_t turn)
{
	uint64_t was = seg_lock_whole(l);
	uint32_t word;

	do {
		word = (uint32_t)was;
		if (LOCK_OWNER(word) != seg_lock_me(s) || seg_lock_turn_of(was) != turn)
			return false;
	} while (!swap_word(l, &was, (word & ~LOCK_TAG) | next_tag(word), turn, __ATOMIC_SEQ_CST));
	return true;
}

bool seg_lock_holder(struct seg *s, struct seg_lock *l, uint32_t *word, uint32_t *slot)
{
	uint32_t was = atomic_load(&l->word);

	do {
		*slot = seg_lock_who(was).slot;
		if (!LOCK_OWNER(was) || *slot == WHO_NOBODY || LOCK_OWNER(was) == seg_lock_me(s))
			return false;
		*word = LOCK_OWNER(was) | next_tag(was);
	} while (!atomic_compare_exchange_weak(&l->word, &was, *word | (was & LOCK_BITS)));
	return true;
}

bool seg_lock_steal(struct seg *s, struct seg_lock *l, uint32_t word, uint16_t *turn)
{
	if (!replace(s, l, word, ~LOCK_BITS, turn))
		return false;
	TRACE(LOG_LINK, "lock of stopped slot %u taken over", seg_lock_who(word).slot);
	return rank_took(s, l, turn, true);
}

bool seg_lock_orphaned(struct seg *s, struct seg_lock *l)
{
	uint32_t w = atomic_load(&l->word);

	return LOCK_OWNER(w) && LOCK_OWNER(w) != seg_lock_me(s) && who_gone(s, seg_lock_who(w));
}

bool seg_lock_stopped(struct seg *s, const struct seg_lock *l)
{
	uint32_t w = atomic_load(&l->word);

	return LOCK_OWNER(w) && LOCK_OWNER(w) != seg_lock_me(s) && who_stopped(s, seg_lock_who(w));
}
