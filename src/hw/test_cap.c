/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ring of captured packets: order, loss, writers that die, readers that come and go. */
#include "segment/test.h"
#include "hw/cap.h"

static void put(struct seg *s, uint32_t psn)
{
	uint64_t turn;
	struct seg_cap_rec *r = cap_get(s, &turn);

	assert_non_null(r);
	r->pkt = (struct pkt){.psn = psn};
	cap_put(r, turn);
}

static uint32_t take(struct seg *s)
{
	const struct seg_cap_rec *r = cap_first(s);
	uint32_t psn;

	if (!r)
		return UINT32_MAX;
	psn = r->pkt.psn;
	cap_next(s);
	return psn;
}

static void test_packets_come_out_in_their_order(void **state)
{
	struct seg *s = *state;

	assert_false(cap_on(s));
	assert_int_equal(cap_start(s, 100), 0);
	assert_true(cap_on(s));
	assert_int_equal(cap_snap(s, 4000), 100);
	assert_int_equal(cap_snap(s, 40), 40);
	assert_int_equal(take(s), UINT32_MAX);
	for (uint32_t lap = 0; lap < 3; lap++) {
		for (uint32_t i = 0; i < CAP_SLOTS - 1; i++)
			put(s, lap * 100000 + i);
		for (uint32_t i = 0; i < CAP_SLOTS - 1; i++)
			assert_int_equal(take(s), lap * 100000 + i);
	}
	assert_int_equal(cap_lost(s), 0);
	cap_finish(s);
	assert_false(cap_on(s));
}

static void test_what_does_not_fit_is_counted(void **state)
{
	struct seg *s = *state;
	uint64_t turn;

	assert_int_equal(cap_start(s, 0), 0);
	for (uint32_t i = 0; i < CAP_SLOTS; i++)
		put(s, i);
	assert_null(cap_get(s, &turn));
	assert_null(cap_get(s, &turn));
	assert_int_equal(take(s), 0);
	put(s, 77);
	assert_int_equal(cap_lost(s), 2);
	assert_int_equal(cap_lost(s), 0);
	cap_finish(s);
	/* The next reader gets no packet from before. */
	assert_int_equal(cap_start(s, 0), 0);
	assert_int_equal(take(s), UINT32_MAX);
	cap_finish(s);
}

/*
 * The reader skips a dead writer's slot; a writer that comes back late overwrites no other packet.
 */
static void test_a_writer_that_dies_is_stepped_over(void **state)
{
	struct seg *s = *state;
	struct seg_cap *c = seg_at(s, SEG_T_CAP, 1);
	struct seg_cap_rec *dead;
	uint64_t turn;

	assert_int_equal(cap_start(s, 0), 0);
	dead = cap_get(s, &turn);
	put(s, 5);
	assert_int_equal(take(s), UINT32_MAX);
	c->stuck_since -= 2 * NSEC_PER_SEC;
	assert_int_equal(take(s), 5);
	assert_int_equal(cap_lost(s), 1);
	cap_put(dead, turn);
	assert_int_equal(take(s), UINT32_MAX);
	for (uint32_t i = 0; i < CAP_SLOTS; i++)
		put(s, i);
	assert_int_equal(take(s), 0);
	cap_finish(s);
}

/* Packets behind one that is being written are not lost to a reader that ends. */
static void test_packets_behind_an_unfinished_one(void **state)
{
	struct seg *s = *state;
	struct seg_cap *c = seg_at(s, SEG_T_CAP, 1);
	uint64_t turn;

	assert_int_equal(cap_start(s, 0), 0);
	assert_true(cap_empty(s));
	assert_non_null(cap_get(s, &turn));
	put(s, 1);
	cap_stop(s);
	assert_int_equal(take(s), UINT32_MAX);
	assert_false(cap_empty(s));
	c->stuck_since -= 2 * NSEC_PER_SEC;
	assert_int_equal(take(s), 1);
	assert_true(cap_empty(s));
	assert_int_equal(cap_lost(s), 1);
	cap_finish(s);
}

static void test_there_is_one_reader(void **state)
{
	struct seg *s = *state;
	struct seg_cap *c = seg_at(s, SEG_T_CAP, 1);
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	assert_int_equal(cap_start(s, 0), 0);
	assert_int_equal(cap_start(s, 0), -EBUSY);
	atomic_store(&c->reader, (uint32_t)pid); /* pid of a reader that was killed */
	assert_int_equal(cap_start(s, 0), 0);
	cap_finish(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_packets_come_out_in_their_order,
						test_seg_setup, test_seg_teardown),
		cmocka_unit_test_setup_teardown(test_what_does_not_fit_is_counted, test_seg_setup,
						test_seg_teardown),
		cmocka_unit_test_setup_teardown(test_a_writer_that_dies_is_stepped_over,
						test_seg_setup, test_seg_teardown),
		cmocka_unit_test_setup_teardown(test_packets_behind_an_unfinished_one,
						test_seg_setup, test_seg_teardown),
		cmocka_unit_test_setup_teardown(test_there_is_one_reader, test_seg_setup,
						test_seg_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
