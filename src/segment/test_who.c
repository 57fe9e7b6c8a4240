/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Words that name processes, and what is said of the processes. */
#include "segment/test.h"
#include "segment/lock.h"
#include "segment/who.h"

#define GENS 8

/* The element of another process, as it was left by the one before. */
static struct seg_proc *some_process(struct seg *s, uint32_t *slot)
{
	uint32_t gen;

	assert_int_equal(seg_proc_register(s, 0, 1, 1, slot, &gen), 0);
	seg_proc(s, *slot)->pid_ns = 0; /* it is not looked at */
	return seg_proc(s, *slot);
}

static void a_word_gives_the_slot_and_what_it_has_of_the_generation(void **state)
{
	const uint32_t gen = 0x87654321;

	for (unsigned int gens = 1; gens <= 32; gens++) {
		uint64_t word = who_word(0x3fff, gen, gens);
		struct who w = who_of(word, gens);

		assert_int_equal(w.slot, 0x3fff);
		assert_int_equal(w.gen, gen & w.known);
		assert_int_equal(w.known, gens == 32 ? UINT32_MAX : (1u << gens) - 1);
		assert_int_equal(word >> WHO_BITS(gens), 0);
	}
}

static void bits_that_a_word_has_not_are_not_compared(void **state)
{
	struct seg *s = *state;
	uint32_t slot;
	struct seg_proc *p = some_process(s, &slot);
	uint64_t word = who_word(slot, p->gen, GENS);

	assert_false(who_dead(s, who_of(word, GENS)));
	p->gen += 1u << GENS;
	assert_false(who_dead(s, who_of(word, GENS)));
	assert_false(who_gone(s, who_of(word, GENS)));
	assert_true(who_dead(s, who_slot(slot, p->gen - (1u << GENS))));
	p->gen++;
	assert_true(who_dead(s, who_of(word, GENS)));
	assert_true(who_gone(s, who_of(word, GENS)));
	p->gen -= 1 + (1u << GENS);
	seg_free(s, SEG_T_PROC, slot);
	assert_true(who_dead(s, who_of(word, GENS)));
}

static void a_mark_in_the_slot_is_a_death(void **state)
{
	struct seg *s = *state;
	uint32_t slot;
	struct seg_proc *p = some_process(s, &slot);

	p->state = SEG_PROC_EXECING;
	assert_false(who_dead(s, who_now(s, slot)));
	assert_false(who_gone(s, who_now(s, slot)));
	p->state = SEG_PROC_DEAD;
	assert_true(who_dead(s, who_now(s, slot)));
	assert_true(who_gone(s, who_now(s, slot)));
	seg_free(s, SEG_T_PROC, slot);
	assert_true(who_dead(s, who_now(s, slot)));
}

static void nobody_neither_dies_nor_stops(void **state)
{
	struct seg *s = *state;
	struct seg none = *s;
	struct who w;

	none.self = SEG_NONE;
	assert_int_equal(who_me(&none, GENS), 0);
	assert_int_equal(seg_lock_me(&none), 1);
	w = seg_lock_who(seg_lock_me(&none));
	assert_int_equal(w.slot, WHO_NOBODY);
	assert_false(who_dead(s, w));
	assert_false(who_gone(s, w));
	assert_false(who_stopped(s, w));
	assert_false(who_runs(s, w));
}

static void a_locks_word_names_its_owner(void **state)
{
	struct seg *s = *state;
	struct who w = seg_lock_who(seg_lock_me(s) | ~SEG_LOCK_OWNER);

	assert_int_equal(w.slot, s->self);
	assert_int_equal(w.gen, s->self_gen & w.known);
	assert_true(who_runs(s, w));
	assert_false(who_stopped(s, w));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_word_gives_the_slot_and_what_it_has_of_the_generation),
		cmocka_unit_test(bits_that_a_word_has_not_are_not_compared),
		cmocka_unit_test(a_mark_in_the_slot_is_a_death),
		cmocka_unit_test(nobody_neither_dies_nor_stops),
		cmocka_unit_test(a_locks_word_names_its_owner),
	};

	return cmocka_run_group_tests(tests, test_seg_setup, test_seg_teardown);
}
