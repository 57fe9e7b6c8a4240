/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stores of CQEs, and swaps, by a thread that is stopped meanwhile. */
#include "segment/near.h"
#include "segment/test_gate.h"

#define ROUNDS 300
#define IN_A_ROW 100

/* Shared memory of both processes. */
struct world {
	struct test_gated g;
	_Alignas(NEAR_BYTES) uint8_t slot[NEAR_BYTES];
};

/* Begins anew behind the gate; false, after a pause: the parent has shut the child out. */
static bool may_work(struct seg_gate *g, struct test_gated *w)
{
	gate_reset(g);
	if (w->valid)
		return true;
	w->seen_invalid++;
	sched_yield();
	return false;
}

/* Stores all the time, as long as that is allowed. */
static void stores(struct seg *s, struct test_child *c, void *arg)
{
	struct world *w = arg;
	struct seg_gate *g = test_gate_of(s, s->self);
	static uint8_t from[NEAR_BYTES];

	w->g.child = mem_self(s);
	memset(from, 0xaa, sizeof(from));
	test_tell(c->tell[1]);
	for (;;) {
		if (!may_work(g, &w->g))
			continue;
		for (int i = 0; i < IN_A_ROW && !near_store(g, w->slot, from); i++)
			w->g.done++;
	}
}

/* Adds all the time, and counts what it has added. */
static void adds(struct seg *s, struct test_child *c, void *arg)
{
	struct world *w = arg;
	struct seg_gate *g = test_gate_of(s, s->self);
	uint64_t was = 0, old;

	w->g.child = mem_self(s);
	test_tell(c->tell[1]);
	for (;;) {
		if (!may_work(g, &w->g))
			continue;
		for (int i = 0; i < IN_A_ROW; i++, was = old) {
			old = was;
			if (near_swap(g, w->slot, 8, &old, was + 1))
				break;
			if (old == was)
				old = was + 1, w->g.done++;
		}
	}
}

/* Wherever it is stopped, not one store follows after it is continued. */
static void a_stopped_thread_does_not_store(void **state)
{
	struct seg *s = *state;
	struct world *w =
		mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct test_child c;

	near_init();
	if (!near_ready()) {
		print_message("no rseq(2) here\n");
		skip();
	}
	test_spawn(s, &c, stores, w);
	assert_true(test_wait(c.tell[0]));
	for (uint32_t i = 0; i < ROUNDS; i++)
		test_shut_out(s, &c, &w->g, GATE_MINDS_OWN | GATE_MINDS_STATE | GATE_MINDS_POOL,
			      w->slot, NEAR_BYTES);
	kill(c.pid, SIGKILL);
	test_reap(&c);
	munmap(w, sizeof(*w));
}

/* Each swap happens once, and the thread knows of it, wherever it is stopped. */
static void a_stopped_thread_swaps_once_or_not(void **state)
{
	struct seg *s = *state;
	struct world *w =
		mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t sum, then;
	struct test_child c;

	near_init();
	if (!near_ready())
		skip();
	test_spawn(s, &c, adds, w);
	assert_true(test_wait(c.tell[0]));
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t seen, before = w->g.done;

		w->g.valid = 1;
		test_more(&w->g.done, before);
		kill(c.pid, SIGSTOP);
		w->g.valid = 0;
		test_shut(s, &w->g, GATE_MINDS_OWN | GATE_MINDS_STATE | GATE_MINDS_POOL);
		memcpy(&sum, w->slot, 8);
		seen = w->g.seen_invalid;
		kill(c.pid, SIGCONT);
		test_more(&w->g.seen_invalid, seen);
		memcpy(&then, w->slot, 8);
		assert_int_equal(then, sum);
		assert_int_equal(then, w->g.done);
	}
	kill(c.pid, SIGKILL);
	test_reap(&c);
	munmap(w, sizeof(*w));
}

static void a_swap_wants_the_old_value_and_an_open_gate(void **state)
{
	uint64_t v = 0x1122334455667788, old = 1;
	struct seg_gate g = {0};

	near_init();
	if (!near_ready())
		skip();
	assert_int_equal(near_swap(&g, &v, 8, &old, 9), 0);
	assert_true(old == 0x1122334455667788 && v == old);
	assert_int_equal(near_swap(&g, &v, 8, &old, 9), 0);
	assert_true(old == 0x1122334455667788 && v == 9);
	old = 9;
	assert_int_equal(near_swap(&g, (uint8_t *)&v + 4, 4, &old, 7), 0);
	assert_true(old == 0 && v == 9);
	assert_int_equal(near_swap(&g, (uint8_t *)&v + 4, 4, &old, 7), 0);
	assert_true(old == 0 && v == (UINT64_C(7) << 32 | 9));
	old = v;
	g.v[0].iov_len = GATE_REVOKED;
	assert_int_equal(near_swap(&g, &v, 8, &old, 1), -ECANCELED);
	assert_true(v == (UINT64_C(7) << 32 | 9));
}

/* With an open gate the bytes are stored, with a shut one none of them. */
static void a_shut_gate_keeps_bytes_out(void **state)
{
	struct seg_gate g = {0};
	uint64_t from[8], to[8] = {0}, none[8] = {0};

	near_init();
	if (!near_ready())
		skip();
	for (uint64_t i = 0; i < 8; i++)
		from[i] = i + 1;
	g.v[0].iov_len = GATE_REVOKED;
	assert_int_equal(near_store(&g, to, from), -ECANCELED);
	assert_memory_equal(to, none, sizeof(to));
	gate_reset(&g);
	assert_int_equal(near_store(&g, to, from), 0);
	assert_memory_equal(to, from, sizeof(to));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_shut_gate_keeps_bytes_out),
		cmocka_unit_test(a_stopped_thread_does_not_store),
		cmocka_unit_test(a_swap_wants_the_old_value_and_an_open_gate),
		cmocka_unit_test(a_stopped_thread_swaps_once_or_not),
	};

	return cmocka_run_group_tests(tests, test_seg_setup, test_seg_teardown);
}
