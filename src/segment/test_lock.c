/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Locks between processes and threads, with owners that die, stop and exec. */
#include "segment/test.h"

#include <pthread.h>

/* Shared by the tests' processes: in the segment, in an element that no other code uses. */
struct shared {
	uint32_t gen;
	struct seg_lock lock;
	uint32_t counter;
};

static struct shared *shared(struct seg *s)
{
	struct shared *sh = seg_at(s, SEG_T_QP, 1);

	memset(sh, 0, sizeof(*sh));
	return sh;
}

static uint32_t owner_slot(const struct shared *sh)
{
	return seg_lock_who(sh->lock.word).slot;
}

static void lock_and_unlock(void **state)
{
	struct seg *s = *state;
	struct shared *sh = shared(s);
	uint64_t t;

	assert_int_equal(seg_lock(s, &sh->lock, SEG_LOCK_DATA_NS), 0);
	assert_int_equal(owner_slot(sh), s->self);
	assert_int_equal(seg_trylock(s, &sh->lock), -EBUSY);
	t = clock_now_ns();
	assert_int_equal(seg_lock(s, &sh->lock, 3 * NSEC_PER_MSEC), -ETIMEDOUT);
	t = clock_now_ns() - t;
	assert_true(t >= 3 * NSEC_PER_MSEC);
	seg_unlock(s, &sh->lock);
	assert_int_not_equal(owner_slot(sh), s->self);
	assert_int_equal(sh->lock.word, 0);
	assert_int_equal(seg_trylock(s, &sh->lock), 0);
	seg_unlock(s, &sh->lock);
}

#define ROUNDS 20000

static void count(struct seg *s, struct shared *sh)
{
	for (unsigned int i = 0; i < ROUNDS; i++) {
		uint32_t v;

		if (seg_lock(s, &sh->lock, SEG_LOCK_CTRL_NS))
			_exit(1);
		v = *(volatile uint32_t *)&sh->counter;
		if (i % 64 == 0)
			sched_yield();
		*(volatile uint32_t *)&sh->counter = v + 1;
		seg_unlock(s, &sh->lock);
	}
}

static void count_child(struct seg *s, struct test_child *c, void *arg)
{
	count(s, arg);
}

static void processes_exclude_each_other(void **state)
{
	struct seg *s = *state;
	struct shared *sh = shared(s);
	struct test_child c[2];

	for (int i = 0; i < 2; i++)
		test_spawn(s, &c[i], count_child, sh);
	count(s, sh);
	for (int i = 0; i < 2; i++)
		assert_int_equal(test_reap(&c[i]), 0);
	assert_int_equal(sh->counter, 3 * ROUNDS);
	assert_int_equal(sh->lock.word, 0);
}

struct thread_arg {
	struct seg *s;
	struct shared *sh;
};

static void *count_thread(void *p)
{
	struct thread_arg *a = p;

	count(a->s, a->sh);
	return NULL;
}

static void threads_exclude_each_other(void **state)
{
	struct thread_arg a = {*state, shared(*state)};
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&t[i], NULL, count_thread, &a), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(a.sh->counter, 2 * ROUNDS);
}

static void hold(struct seg *s, struct test_child *c, void *arg)
{
	struct shared *sh = arg;

	if (seg_lock(s, &sh->lock, SEG_LOCK_CTRL_NS))
		_exit(1);
	test_tell(c->tell[1]);
	test_wait(c->go[0]);
	seg_unlock(s, &sh->lock);
}

/* Make a child that holds the lock until it is told to go on. */
static void spawn_holder(struct seg *s, struct test_child *c, struct shared *sh)
{
	test_spawn(s, c, hold, sh);
	assert_true(test_wait(c->tell[0]));
}

/* Returns when the child is stopped, or dead but not reaped. */
static void signal_and_see(const struct test_child *c, int sig)
{
	siginfo_t si;

	kill(c->pid, sig);
	waitid(P_PID, (id_t)c->pid, &si, (sig == SIGSTOP ? WSTOPPED : WEXITED) | WNOWAIT);
}

/* A living process, not between exec and its end. */
static bool is_live(struct seg *s, uint32_t slot, uint32_t gen)
{
	const struct seg_proc *p = seg_proc(s, slot);

	return p->gen == gen && atomic_load(&p->state) == SEG_PROC_LIVE;
}

/* After SIGKILL: the zombie is not reaped, and the segment does not know. */
static void a_dead_owners_lock_is_inherited(void **state)
{
	struct seg *s = *state;
	struct shared *sh = shared(s);
	struct test_child c;

	spawn_holder(s, &c, sh);
	signal_and_see(&c, SIGKILL);
	assert_int_equal(seg_lock(s, &sh->lock, SEG_LOCK_CTRL_NS), SEG_LOCK_INHERITED);
	assert_int_equal(owner_slot(sh), s->self);
	assert_int_equal(sh->lock.inherited, 1);
	seg_unlock(s, &sh->lock);
	assert_int_equal(seg_lock(s, &sh->lock, SEG_LOCK_DATA_NS), 0);
	seg_unlock(s, &sh->lock);
	test_reap(&c);
}

/* A short wait checks at least once, even if another waiter has just checked. */
static void a_short_wait_inherits_too(void **state)
{
	struct seg *s = *state;
	struct shared *sh = shared(s);
	struct test_child c;

	spawn_holder(s, &c, sh);
	signal_and_see(&c, SIGKILL);
	for (unsigned int i = 0; i < 256; i++) {
		uint32_t held = sh->lock.word;

		sh->lock.looked = (uint8_t)(clock_now_ns() / NSEC_PER_MSEC + 1);
		assert_int_equal(seg_lock(s, &sh->lock, SEG_LOCK_DATA_NS), SEG_LOCK_INHERITED);
		sh->lock.word = held;
	}
	test_reap(&c);
}

static void a_waiter_sees_its_owner_die(void **state)
{
	struct seg *s = *state;
	struct shared *sh = shared(s);
	struct test_child c, w;

	spawn_holder(s, &c, sh);
	test_spawn(s, &w, count_child, sh); /* exits with 1 if the first lock that it gets is
					     * inherited from the dead owner */
	while (!(sh->lock.word >> 31))
		sched_yield();
	kill(c.pid, SIGKILL);
	assert_int_equal(WEXITSTATUS(test_reap(&w)), 1);
	test_reap(&c);
}

static void a_stopped_owner_is_a_timeout_then_goes_on(void **state)
{
	struct seg *s = *state;
	struct shared *sh = shared(s);
	struct test_child c;

	spawn_holder(s, &c, sh);
	signal_and_see(&c, SIGSTOP);
	assert_int_equal(seg_lock(s, &sh->lock, 5 * NSEC_PER_MSEC), -ETIMEDOUT);
	kill(c.pid, SIGCONT);
	test_tell(c.go[1]);
	assert_int_equal(seg_lock(s, &sh->lock, SEG_LOCK_CTRL_NS), 0);
	seg_unlock(s, &sh->lock);
	assert_int_equal(test_reap(&c), 0);
}

static void hold_a_while(struct seg *s, struct test_child *c, void *arg)
{
	struct timespec t = {.tv_nsec = 50 * 1000 * 1000};
	struct shared *sh = arg;

	test_tell(c->tell[1]);
	test_wait(c->go[0]);
	if (seg_lock(s, &sh->lock, SEG_LOCK_CTRL_NS))
		_exit(1);
	sh->counter++;
	nanosleep(&t, NULL); /* time for the others to want it, too; none must do */
	seg_unlock(s, &sh->lock);
}

#define CROWD 50

/* The last waiter waits longer than SEG_LOCK_CTRL_NS, but no owner keeps the lock so long. */
static void who_waits_in_a_crowd_is_served(void **state)
{
	struct seg *s = *state;
	struct shared *sh = shared(s);
	struct test_child c[CROWD];

	for (int i = 0; i < CROWD; i++)
		test_spawn(s, &c[i], hold_a_while, sh);
	for (int i = 0; i < CROWD; i++)
		assert_true(test_wait(c[i].tell[0]));
	for (int i = 0; i < CROWD; i++)
		test_tell(c[i].go[1]);
	for (int i = 0; i < CROWD; i++)
		assert_int_equal(test_reap(&c[i]), 0);
	assert_int_equal(sh->counter, CROWD);
	assert_int_equal(sh->lock.word, 0);
}

static void hammer(struct seg *s, struct test_child *c, void *arg)
{
	struct shared *sh = arg;

	test_tell(c->tell[1]);
	while (!*(volatile uint32_t *)&sh->counter) {
		if (seg_lock(s, &sh->lock, SEG_LOCK_CTRL_NS))
			_exit(1);
		for (int i = 0; i < 100; i++)
			sys_cpu_relax();
		seg_unlock(s, &sh->lock);
	}
}

/* Threads that take the lock again as soon as they have released it starve no waiter. */
static void who_is_overtaken_is_next(void **state)
{
	struct seg *s = *state;
	struct shared *sh = shared(s);
	struct test_child c[3];

	for (int i = 0; i < 3; i++) {
		test_spawn(s, &c[i], hammer, sh);
		assert_true(test_wait(c[i].tell[0]));
	}
	for (int i = 0; i < 200; i++) {
		assert_int_equal(seg_lock(s, &sh->lock, SEG_LOCK_CTRL_NS), 0);
		seg_unlock(s, &sh->lock);
		sched_yield();
	}
	sh->counter = 1;
	for (int i = 0; i < 3; i++)
		assert_int_equal(test_reap(&c[i]), 0);
	assert_int_equal(sh->lock.word, 0);
}

/* The bits about sleepers were left by a waiter that has died. */
static void marks_of_the_dead_keep_nobody_away(void **state)
{
	struct seg *s = *state;
	struct shared *sh = shared(s);

	sh->lock.word = UINT32_C(0x80800000);
	assert_int_equal(seg_trylock(s, &sh->lock), 0);
	assert_int_equal(owner_slot(sh), s->self);
	seg_unlock(s, &sh->lock);
	assert_int_equal(sh->lock.word, 0);
	sh->lock.word = UINT32_C(0x80800000);
	assert_int_equal(seg_lock(s, &sh->lock, SEG_LOCK_DATA_NS), 0);
	seg_unlock(s, &sh->lock);
	assert_int_equal(sh->lock.word, 0);
}

static void take_and_leave(struct seg *s, struct test_child *c, void *arg)
{
	struct shared *sh = arg;

	test_tell(c->tell[1]);
	if (seg_lock(s, &sh->lock, SEG_LOCK_CTRL_NS))
		_exit(1);
	sh->counter++;
	seg_unlock(s, &sh->lock);
}

/* Waiters that are killed or stopped while they sleep are skipped. */
static void who_waits_and_goes_away_stops_nobody(void **state)
{
	struct seg *s = *state;
	struct shared *sh = shared(s);

	for (int round = 0; round < 20; round++) {
		struct test_child c, w[4];

		sh->counter = 0;
		spawn_holder(s, &c, sh);
		for (int i = 0; i < 4; i++) {
			test_spawn(s, &w[i], take_and_leave, sh);
			assert_true(test_wait(w[i].tell[0]));
			while (!(sh->lock.word >> 31))
				sched_yield();
		}
		for (int i = 0; i < 3; i++)
			signal_and_see(&w[i], i % 2 ? SIGSTOP : SIGKILL);
		test_tell(c.go[1]);
		assert_int_equal(test_reap(&w[3]), 0);
		kill(w[1].pid, SIGCONT);
		assert_int_equal(test_reap(&w[1]), 0);
		test_reap(&w[0]);
		test_reap(&w[2]);
		assert_int_equal(test_reap(&c), 0);
		assert_int_equal(seg_lock(s, &sh->lock, SEG_LOCK_CTRL_NS) < 0, 0);
		seg_unlock(s, &sh->lock);
	}
}

static void hold_twice(struct seg *s, struct test_child *c, void *arg)
{
	struct shared *sh = arg;

	for (int i = 0; i < 2; i++) {
		if (seg_lock(s, &sh->lock, SEG_LOCK_CTRL_NS))
			_exit(1);
		test_tell(c->tell[1]);
		test_wait(c->go[0]);
		seg_unlock(s, &sh->lock);
	}
}

/* The holder has released the lock and taken it again: data about the first hold is void. */
static void who_let_go_meanwhile_is_not_robbed(void **state)
{
	struct seg *s = *state;
	struct shared *sh = shared(s);
	uint32_t word, other, slot;
	struct test_child c;
	uint16_t turn;

	test_spawn(s, &c, hold_twice, sh);
	assert_true(test_wait(c.tell[0]));
	assert_true(seg_lock_holder(s, &sh->lock, &word, &slot));
	assert_int_equal(slot, owner_slot(sh));
	test_tell(c.go[1]);
	assert_true(test_wait(c.tell[0]));
	assert_false(seg_lock_steal(s, &sh->lock, word, &turn));
	/* Two take the lock over: the second one fails. */
	assert_true(seg_lock_holder(s, &sh->lock, &word, &slot));
	assert_true(seg_lock_holder(s, &sh->lock, &other, &slot));
	assert_false(seg_lock_steal(s, &sh->lock, word, &turn));
	assert_int_equal(sh->lock.inherited, 0);
	test_tell(c.go[1]);
	assert_int_equal(test_reap(&c), 0);
	assert_int_equal(sh->lock.word, 0);
}

/* The owner lives and is not stopped: it waits for a processor, as far as others can see. */
static void a_queues_owner_that_runs_is_waited_for(void **state)
{
	struct seg *s = *state;
	struct shared *sh = shared(s);
	uint64_t t = clock_now_ns();
	uint16_t turn;

	assert_int_equal(seg_lock(s, &sh->lock, SEG_LOCK_DATA_NS), 0);
	assert_int_equal(seg_lock_queue(s, &sh->lock, &turn), -ETIMEDOUT);
	assert_true(clock_now_ns() - t >= SEG_LOCK_BUSY_NS);
	seg_unlock(s, &sh->lock);
	assert_int_equal(seg_lock_queue(s, &sh->lock, &turn), 0);
	seg_unlock_turn(s, &sh->lock, turn);
	assert_int_equal(sh->lock.word, 0);
}

/* Only a busy machine makes one wait so long that it takes all the time of an owner that runs. */
static void a_queues_owner_that_is_stopped_is_not(void **state)
{
	struct seg *s = *state;
	struct shared *sh = shared(s);
	struct test_child c;
	uint64_t took = SEG_LOCK_BUSY_NS;
	uint16_t turn;

	spawn_holder(s, &c, sh);
	signal_and_see(&c, SIGSTOP);
	for (int i = 0; took >= SEG_LOCK_BUSY_NS && i < 1000; i++) {
		uint64_t t = clock_now_ns();

		assert_int_equal(seg_lock_queue(s, &sh->lock, &turn), -ETIMEDOUT);
		took = clock_now_ns() - t;
	}
	assert_true(took < SEG_LOCK_BUSY_NS);
	kill(c.pid, SIGCONT);
	test_tell(c.go[1]);
	assert_int_equal(test_reap(&c), 0);
}

static void who_is_stopped_is_robbed(void **state)
{
	struct seg *s = *state;
	struct shared *sh = shared(s);
	uint32_t word, slot;
	struct test_child c;
	uint16_t turn;

	spawn_holder(s, &c, sh);
	assert_true(seg_lock_holder(s, &sh->lock, &word, &slot));
	assert_int_equal(seg_lock(s, &sh->lock, SEG_LOCK_DATA_NS), -ETIMEDOUT);
	assert_true(seg_lock_steal(s, &sh->lock, word, &turn));
	assert_int_equal(sh->lock.inherited, 1);
	test_tell(c.go[1]);
	assert_int_equal(test_reap(&c), 0);
	assert_int_equal(owner_slot(sh), s->self);
	seg_unlock(s, &sh->lock);
	assert_int_equal(sh->lock.word, 0);
}

/* The second thread of a process has the lock after it was taken over from the first. */
static void who_was_robbed_does_not_let_go_for_another_thread(void **state)
{
	struct seg *s = *state;
	struct shared *sh = shared(s);
	uint16_t first, second, other;
	uint32_t word, slot;
	struct seg child = *s;

	assert_int_equal(seg_lock_turn(s, &sh->lock, SEG_LOCK_DATA_NS, &first), 0);
	child.self = SEG_NONE;
	word = sh->lock.word;
	assert_true(seg_lock_steal(&child, &sh->lock, word, &other));
	assert_false(seg_lock_has_turn(s, &sh->lock, first));
	seg_unlock_turn(&child, &sh->lock, other);
	assert_int_equal(seg_lock_turn(s, &sh->lock, SEG_LOCK_DATA_NS, &second), 0);
	assert_false(seg_lock_has_turn(s, &sh->lock, first));
	seg_unlock_turn(s, &sh->lock, first);
	assert_true(seg_lock_has_turn(s, &sh->lock, second));
	/* After seg_lock_keep(), a _steal by somebody who looked before must fail. */
	assert_true(seg_lock_holder(&child, &sh->lock, &word, &slot));
	assert_true(seg_lock_keep(s, &sh->lock, second));
	assert_false(seg_lock_steal(&child, &sh->lock, word, &other));
	seg_unlock_turn(s, &sh->lock, second);
	assert_int_equal(sh->lock.word, 0);
}

static void state_dead_and_reused_slot_free_the_lock(void **state)
{
	struct seg *s = *state;
	struct shared *sh = shared(s);
	struct test_child c;
	uint32_t slot;

	spawn_holder(s, &c, sh);
	slot = owner_slot(sh);
	assert_int_equal(seg_trylock(s, &sh->lock), -EBUSY);
	/* an exec: the pid stays, and the supervisor sets the state */
	seg_proc(s, slot)->state = SEG_PROC_EXECING;
	assert_int_equal(seg_lock(s, &sh->lock, 2 * NSEC_PER_MSEC), -ETIMEDOUT);
	seg_proc(s, slot)->state = SEG_PROC_DEAD;
	assert_int_equal(seg_trylock(s, &sh->lock), SEG_LOCK_INHERITED);
	/* the stale owner's unlock does not open the new owner's lock */
	test_tell(c.go[1]);
	assert_int_equal(test_reap(&c), 0);
	assert_int_equal(owner_slot(sh), s->self);
	seg_unlock(s, &sh->lock);
}

static void liveness_of_processes(void **state)
{
	struct seg *s = *state;
	struct shared *sh = shared(s);
	uint64_t start = seg_proc_start_time((uint32_t)getpid());
	struct test_child c;
	struct seg_proc *p;
	uint32_t slot, gen;

	assert_true(start != 0);
	assert_int_equal(start, seg_proc(s, s->self)->start_time);
	spawn_holder(s, &c, sh);
	slot = owner_slot(sh);
	p = seg_proc(s, slot);
	gen = p->gen;
	assert_true(is_live(s, slot, gen));
	assert_false(who_gone(s, who_slot(slot, gen)));
	assert_false(is_live(s, slot, gen + 1));
	assert_true(who_gone(s, who_slot(slot, gen + 1)));
	p->start_time++; /* another process with that pid */
	assert_true(who_gone(s, who_slot(slot, gen)));
	p->start_time--;
	p->pid_ns++; /* another namespace: the pid has no meaning here */
	signal_and_see(&c, SIGKILL);
	assert_int_equal(seg_proc_start_time(p->pid), 0);
	assert_false(who_gone(s, who_slot(slot, gen)));
	p->pid_ns--;
	assert_true(who_gone(s, who_slot(slot, gen)));
	test_reap(&c);
	assert_true(who_gone(s, who_slot(slot, gen)));
}

static void exec_puts_memory_off_limits(void **state)
{
	struct seg *s = *state;
	struct seg_proc *p = seg_proc(s, s->self);
	uint64_t t;

	assert_true(seg_proc_exec_begin(p));
	assert_false(is_live(s, s->self, s->self_gen));
	assert_false(seg_proc_exec_begin(p));
	seg_proc_exec_failed(p);
	assert_true(is_live(s, s->self, s->self_gen));
	/* waiting ends, although the process died during a copy */
	p->in_flight = 1;
	t = clock_now_ns();
	assert_true(seg_proc_exec_begin(p));
	t = clock_now_ns() - t;
	assert_true(t >= 100 * NSEC_PER_MSEC); /* the wait is limited */
	p->in_flight = 0;
	seg_proc_exec_failed(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lock_and_unlock),
		cmocka_unit_test(processes_exclude_each_other),
		cmocka_unit_test(threads_exclude_each_other),
		cmocka_unit_test(a_dead_owners_lock_is_inherited),
		cmocka_unit_test(a_short_wait_inherits_too),
		cmocka_unit_test(a_waiter_sees_its_owner_die),
		cmocka_unit_test(a_stopped_owner_is_a_timeout_then_goes_on),
		cmocka_unit_test(who_waits_in_a_crowd_is_served),
		cmocka_unit_test(who_is_overtaken_is_next),
		cmocka_unit_test(marks_of_the_dead_keep_nobody_away),
		cmocka_unit_test(who_waits_and_goes_away_stops_nobody),
		cmocka_unit_test(who_let_go_meanwhile_is_not_robbed),
		cmocka_unit_test(a_queues_owner_that_runs_is_waited_for),
		cmocka_unit_test(a_queues_owner_that_is_stopped_is_not),
		cmocka_unit_test(who_is_stopped_is_robbed),
		cmocka_unit_test(who_was_robbed_does_not_let_go_for_another_thread),
		cmocka_unit_test(state_dead_and_reused_slot_free_the_lock),
		cmocka_unit_test(liveness_of_processes),
		cmocka_unit_test(exec_puts_memory_off_limits),
	};

	return cmocka_run_group_tests(tests, test_seg_setup, test_seg_teardown);
}
