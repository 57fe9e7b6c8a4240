/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Atomics on a page that two processes have, when one of them is stopped. */
#include "segment/test.h"
#include "segment/mem.h"
#include "segment/for_tests.h"

#define PAGE 4096

struct shared_word {
	struct mem_slot m;
	struct test_child *stopped;
	uint64_t *word;
	int done[2], result[2];
};

static uint64_t stop_once(uint64_t was, const void *arg)
{
	int *stops = (int *)(uintptr_t)arg;

	if ((*stops)++ == 0)
		raise(SIGSTOP);
	return was + 1;
}

static void adds_and_is_stopped(struct seg *s, struct test_child *c, void *arg)
{
	struct shared_word *w = arg;
	int stops = 0;
	uint64_t was;

	w->m = mem_self(s);
	for (int i = 0; i < 2; i++) {
		w->result[i] = mem_atomic(s, w->m, (uintptr_t)w->word, 8, stop_once, &stops, &was);
		test_tell(w->done[1]);
		test_wait(c->go[0]);
	}
}

/* Continues the stopped process between this one's read and write. */
static uint64_t continue_the_other(uint64_t was, const void *arg)
{
	const struct shared_word *w = arg;

	kill(w->stopped->pid, SIGCONT);
	assert_true(test_wait(w->done[0]));
	return was + 1;
}

static void no_add_is_lost_when_a_word_is_taken_over(void **state)
{
	struct seg *s = *state;
	struct shared_word *w =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct test_child c;
	struct seg_lock *l;
	uint32_t holder, slot;
	uint16_t turn;
	uint64_t was;
	int status;

	w->word = (uint64_t *)((uint8_t *)w + PAGE);
	assert_int_equal(pipe(w->done), 0);
	test_spawn(s, &c, adds_and_is_stopped, w);
	w->stopped = &c;
	assert_int_equal(waitpid(c.pid, &status, WUNTRACED), c.pid);
	assert_true(WIFSTOPPED(status));
	l = &mem_word(s, (uintptr_t)w->word)->lock;
	assert_true(seg_lock_holder(s, l, &holder, &slot));
	assert_int_equal(slot, w->m.slot);
	assert_true(seg_lock_steal(s, l, holder, &turn));
	seg_unlock_turn(s, l, turn);
	assert_int_equal(mem_atomic(s, w->m, (uintptr_t)w->word, 8, continue_the_other, w, &was),
			 0);
	assert_int_equal(w->result[0], -ECANCELED);
	assert_int_equal(*w->word, 1);
	test_tell(c.go[1]); /* repeat, as the engine does with such a WQE */
	assert_true(test_wait(w->done[0]));
	assert_int_equal(w->result[1], 0);
	assert_int_equal(*w->word, 2);
	test_tell(c.go[1]);
	assert_int_equal(test_reap(&c), 0);
	munmap(w, 2 * PAGE);
}

static void the_same_with_the_guard(void **state)
{
	mem_guard_armed = true; /* nothing here faults, so no handler is needed */
	no_add_is_lost_when_a_word_is_taken_over(state);
	mem_guard_armed = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_add_is_lost_when_a_word_is_taken_over),
		cmocka_unit_test(the_same_with_the_guard),
	};

	return cmocka_run_group_tests(tests, test_seg_setup, test_seg_teardown);
}
