/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Crowds that wait for one lock, under a virtual clock: how often does one wake up, and who notices
 * a death? lock.c is compiled into this test; its clock, its futex and its look at a process are
 * those below. Members are coroutines on one processor, each a thread of this process.
 */
#include "segment/test.h"
#include "util/log.h"

#include <ucontext.h>

static uint64_t sim_now(void);
static int sim_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t end_ns, uint32_t bits);
static int sim_wake(_Atomic uint32_t *word, int n, uint32_t bits);
static bool sim_gone(struct seg *s, struct who w);
static bool sim_stopped(struct seg *s, struct who w);

#define clock_now_ns sim_now
#define sys_futex_wait_until sim_wait
#define sys_futex_wake_bits sim_wake
#define sys_futex_wake(word, n) sim_wake(word, n, UINT32_MAX)
#define who_gone sim_gone
#define who_stopped sim_stopped
#include "segment/lock.c"

#define MOST 1000
#define STACK 32768
#define SWITCH_NS (5 * NSEC_PER_USEC)

/* In the segment, in an element that no other code uses. */
struct shared {
	uint32_t gen;
	struct seg_lock lock;
};

struct member {
	ucontext_t ctx;
	uint64_t at, order; /* when it runs next; the order of those who run or sleep */
	uint32_t bits;      /* of its sleep; 0: it does not sleep on the word */
	bool is_woken, is_over, failed;
	unsigned int wakes, times;
	char *stack;
};

static struct sim {
	struct seg *s;
	struct seg_lock *lock;
	struct member member[MOST], *running;
	ucontext_t main;
	unsigned int n, dies_in, kill_each, wakings;
	uint64_t now, order, hold_ns, dead_at, seen_at;
	bool is_dead; /* the owner of the lock */
} sim;

static uint64_t sim_now(void)
{
	return sim.now;
}

/* Runs the others until the time `at`, or until it is woken. */
static void sim_sleep(uint64_t at, uint32_t bits)
{
	struct member *m = sim.running;

	m->at = at;
	m->bits = bits;
	m->is_woken = false;
	m->order = sim.order++;
	swapcontext(&m->ctx, &sim.main);
}

static int sim_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t end_ns, uint32_t bits)
{
	struct member *m = sim.running;

	if (*word != seen)
		return -EAGAIN;
	sim_sleep(end_ns, bits);
	m->wakes++;
	return m->is_woken ? 0 : -ETIMEDOUT;
}

/* In the order in which they fell asleep, as the kernel does. */
static int sim_wake(_Atomic uint32_t *word, int n, uint32_t bits)
{
	int woken = 0;

	while (woken < n) {
		struct member *first = NULL;

		for (unsigned int i = 0; i < sim.n; i++) {
			struct member *m = &sim.member[i];

			if (m->bits & bits && (!first || m->order < first->order))
				first = m;
		}
		if (!first)
			break;
		woken++;
		first->bits = 0;
		first->is_woken = true;
		first->at = sim.now;
		first->order = sim.order++;
		if (sim.kill_each && ++sim.wakings % sim.kill_each == 0)
			first->is_over = true;
	}
	return woken;
}

static bool sim_gone(struct seg *s, struct who w)
{
	return sim.is_dead;
}

static bool sim_stopped(struct seg *s, struct who w)
{
	return false;
}

static void sim_member(void)
{
	struct member *m = sim.running;

	for (unsigned int i = 0; i < m->times; i++) {
		int r = seg_lock(sim.s, sim.lock, SEG_LOCK_CTRL_NS);

		m->failed |= r < 0 || (r == SEG_LOCK_INHERITED) != sim.is_dead;
		if (r == SEG_LOCK_INHERITED) {
			sim.seen_at = sim.now;
			sim.is_dead = false;
		}
		sim_sleep(sim.now + sim.hold_ns, 0);
		if (sim.dies_in && !--sim.dies_in) {
			sim.is_dead = true;
			sim.dead_at = sim.now;
			break;
		}
		seg_unlock(sim.s, sim.lock);
	}
	m->is_over = true;
	swapcontext(&m->ctx, &sim.main);
}

/* A function of its own, as getcontext() may return twice for the compiler. */
static void member_begin(struct member *m, unsigned int times)
{
	m->times = times;
	m->at = sim.now;
	m->order = sim.order++;
	m->stack = malloc(STACK);
	assert_non_null(m->stack);
	getcontext(&m->ctx);
	m->ctx.uc_stack.ss_sp = m->stack;
	m->ctx.uc_stack.ss_size = STACK;
	makecontext(&m->ctx, sim_member, 0);
}

static void sim_begin(struct seg *s, unsigned int n, unsigned int times, uint64_t hold_ns)
{
	struct shared *sh = seg_at(s, SEG_T_QP, 1);

	memset(&sim, 0, sizeof(sim));
	memset(sh, 0, sizeof(*sh));
	sim.s = s;
	sim.lock = &sh->lock;
	sim.n = n;
	sim.hold_ns = hold_ns;
	sim.now = NSEC_PER_SEC;
	for (unsigned int i = 0; i < n; i++)
		member_begin(&sim.member[i], times);
}

/* Runs whose turn is next; false: all are over. */
static bool sim_step(void)
{
	struct member *next = NULL;

	for (unsigned int i = 0; i < sim.n; i++) {
		struct member *m = &sim.member[i];

		if (!m->is_over &&
		    (!next || m->at < next->at || (m->at == next->at && m->order < next->order)))
			next = m;
	}
	if (!next)
		return false;
	if (next->at > sim.now)
		sim.now = next->at;
	sim.now += SWITCH_NS;
	next->bits = 0;
	sim.running = next;
	swapcontext(&sim.main, &next->ctx);
	return true;
}

static unsigned int sim_wakes(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < sim.n; i++)
		n += sim.member[i].wakes;
	return n;
}

static void sim_end(void)
{
	for (unsigned int i = 0; i < sim.n; i++)
		free(sim.member[i].stack);
}

static bool sim_all(void)
{
	while (sim_step())
		;
	for (unsigned int i = 0; i < sim.n; i++)
		if (sim.member[i].failed)
			return false;
	return true;
}

#define TIMES 5

/* Wake-ups for one hold, in hundredths. */
static unsigned int wakes_of(struct seg *s, unsigned int n)
{
	unsigned int wakes;

	sim_begin(s, n, TIMES, NSEC_PER_MSEC);
	assert_true(sim_all());
	wakes = 100 * sim_wakes() / (n * TIMES);
	assert_int_equal(sim.lock->word, 0);
	sim_end();
	return wakes;
}

/* A wait that is eight times as long may have one slice more. */
static void a_hold_costs_the_same_in_a_larger_crowd(void **state)
{
	unsigned int few = wakes_of(*state, 125), many = wakes_of(*state, 500);

	assert_true(few <= 500);
	assert_true(many * 10 <= few * 13);
	assert_true(wakes_of(*state, 1000) * 10 <= many * 11);
}

/* How many wake up in a millisecond does not depend on how many sleep. */
static void a_crowd_sleeps_while_one_owner_keeps_the_lock(void **state)
{
	uint64_t end;
	unsigned int wakes;

	sim_begin(*state, MOST, 1, 20 * NSEC_PER_SEC);
	for (end = sim.now + 5 * NSEC_PER_SEC; sim.now < end;)
		assert_true(sim_step());
	wakes = sim_wakes();
	for (end = sim.now + 10 * NSEC_PER_SEC; sim.now < end;)
		assert_true(sim_step());
	assert_true(sim_wakes() - wakes <= 3 * 10000);
	sim_end();
}

#define for_each_crowd(n) \
	for (unsigned int n = 4, more = 1; more; more = n < MOST, n = n < 200 ? 4 * n : MOST)

/* The holder dies in the crowd's hold number `hold`. */
static uint64_t dies_and_is_seen(struct seg *s, unsigned int n, unsigned int times,
				 unsigned int hold)
{
	uint64_t took;

	sim_begin(s, n, times, NSEC_PER_MSEC);
	sim.dies_in = hold;
	assert_true(sim_all());
	assert_int_not_equal(sim.seen_at, 0);
	took = sim.seen_at - sim.dead_at;
	sim_end();
	return took;
}

/* Early, amid, and when many are served; newcomers look soon. */
static void a_crowd_sees_its_owner_die(void **state)
{
	for_each_crowd(n)
	{
		unsigned int at[] = {1, n * TIMES / 2, n * TIMES * 3 / 4};

		for (int i = 0; i < 3; i++)
			assert_true(dies_and_is_seen(*state, n, TIMES, at[i]) <=
				    20 * NSEC_PER_MSEC);
	}
}

/* Nobody comes any more, and those who are left have slept long slices: a second at most. */
static void the_last_of_a_crowd_see_their_owner_die(void **state)
{
	for (unsigned int n = 2; n <= MOST; n += n < 20 ? 1 : n / 5) {
		assert_true(dies_and_is_seen(*state, n, 1, n - 1) <= 1001 * NSEC_PER_MSEC);
		assert_true(dies_and_is_seen(*state, n, 1, n - n / 2) <= 1001 * NSEC_PER_MSEC);
	}
	assert_true(dies_and_is_seen(*state, 200, 1, 199) <= 1001 * NSEC_PER_MSEC);
}

/* Each tenth that an unlock has woken is killed before it runs: the lock is free, and all sleep. */
static void wake_ups_of_the_dead_stop_nobody(void **state)
{
	for_each_crowd(n)
	{
		uint64_t start;

		sim_begin(*state, n, TIMES, NSEC_PER_MSEC);
		sim.kill_each = 10;
		start = sim.now;
		assert_true(sim_all());
		assert_true(sim.now - start <= 2 * n * TIMES * NSEC_PER_MSEC);
		sim_end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hold_costs_the_same_in_a_larger_crowd),
		cmocka_unit_test(a_crowd_sleeps_while_one_owner_keeps_the_lock),
		cmocka_unit_test(a_crowd_sees_its_owner_die),
		cmocka_unit_test(the_last_of_a_crowd_see_their_owner_die),
		cmocka_unit_test(wake_ups_of_the_dead_stop_nobody),
	};

	return cmocka_run_group_tests(tests, test_seg_setup, test_seg_teardown);
}
