/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Registered memory that is unmapped: when does it go? */
#include "segment/pin.h"
#include "segment/test.h"
#include "util/test_cmocka.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE UINT64_C(4096)
#define A UINT64_C(0x100000001) /* owners */
#define B UINT64_C(0x200000001)

/* So many pages, apart from every other mapping. */
static uint64_t map(uint64_t pages)
{
	uint8_t *p = mmap(NULL, (pages + 2) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(mprotect(p + PAGE, pages * PAGE, PROT_READ | PROT_WRITE), 0);
	return (uintptr_t)p + PAGE;
}

/* One character for each page: '1' is mapped. */
static const char *mapped(uint64_t at, uint64_t pages)
{
	static char s[65];
	unsigned char in;

	for (uint64_t i = 0; i < pages; i++)
		s[i] = mincore((void *)(at + i * PAGE), PAGE, &in) ? '0' : '1';
	s[pages] = '\0';
	return s;
}

static bool unmap(uint64_t at, uint64_t first, uint64_t n)
{
	return pin_unmap(at + first * PAGE, at + (first + n) * PAGE);
}

static void get(uint64_t at, uint64_t first, uint64_t n, uint64_t owner)
{
	pin_get(at + first * PAGE, at + (first + n) * PAGE, owner);
}

static void put(uint64_t at, uint64_t first, uint64_t n, uint64_t owner)
{
	pin_put(at + first * PAGE, at + (first + n) * PAGE, owner);
}

static void what_nobody_registered_is_not_kept(void **state)
{
	uint64_t at = map(4);

	assert_false(unmap(at, 0, 4));
	get(at, 0, 1, A);
	assert_false(unmap(at, 1, 3));
	put(at, 0, 1, A);
	assert_false(unmap(at, 0, 4));
	assert_string_equal(mapped(at, 4), "1111");
}

static void it_goes_with_the_registration(void **state)
{
	uint64_t at = map(4);

	get(at, 0, 4, A);
	assert_true(unmap(at, 0, 4));
	assert_string_equal(mapped(at, 4), "1111");
	put(at, 0, 4, A);
	assert_string_equal(mapped(at, 4), "0000");
}

static void ends_that_nobody_registered_go_at_once(void **state)
{
	uint64_t at = map(8);

	get(at, 2, 1, A);
	get(at, 4, 1, A);
	assert_true(unmap(at, 0, 8));
	assert_string_equal(mapped(at, 8), "00111000");
	put(at, 2, 1, A);
	assert_string_equal(mapped(at, 8), "00111000");
	put(at, 4, 1, A);
	assert_string_equal(mapped(at, 8), "00000000");
}

static void the_last_registration_counts(void **state)
{
	uint64_t at = map(4);

	get(at, 0, 4, A);
	get(at, 0, 4, A);
	get(at, 1, 2, B);
	assert_true(unmap(at, 0, 4));
	put(at, 0, 4, A);
	put(at, 1, 2, B);
	assert_string_equal(mapped(at, 4), "1111");
	put(at, 0, 4, B); /* not B's */
	assert_string_equal(mapped(at, 4), "1111");
	put(at, 0, 4, A);
	assert_string_equal(mapped(at, 4), "0000");
}

static void a_file_that_ends_has_no_registrations(void **state)
{
	uint64_t at = map(6);

	for (uint64_t i = 0; i < 6; i++)
		get(at, i, 1, i % 2 ? A : B);
	assert_true(unmap(at, 0, 3));
	assert_true(unmap(at, 3, 1));
	pin_put_all(A);
	assert_string_equal(mapped(at, 6), "111011");
	pin_put_all(B);
	assert_string_equal(mapped(at, 6), "000011");
}

/* A second munmap(2) of the same pages does nothing, and is not made up for either. */
static void pages_are_unmapped_once(void **state)
{
	uint64_t at = map(4), again;

	get(at, 0, 4, A);
	assert_true(unmap(at, 0, 4));
	assert_true(unmap(at, 0, 4));
	assert_true(unmap(at, 1, 1));
	put(at, 0, 4, A);
	assert_string_equal(mapped(at, 4), "0000");
	again = (uintptr_t)mmap((void *)at, 4 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
				0);
	assert_int_equal(again, at);
	get(at, 0, 4, A);
	put(at, 0, 4, A);
	assert_string_equal(mapped(at, 4), "1111");
}

/* A new mapping by the program is its own, wherever in the kept range it lies. */
static void what_is_mapped_there_stays(void **state)
{
	static const struct {
		uint64_t first, n;
		const char *left;
	} rows[] = {{0, 4, "1111"}, {0, 1, "1000"}, {3, 1, "0001"}, {1, 2, "0110"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t at = map(4), from = at + rows[i].first * PAGE;

		get(at, 0, 4, A);
		assert_true(unmap(at, 0, 4));
		pin_replaced(from, from + rows[i].n * PAGE);
		put(at, 0, 4, A);
		assert_string_equal(mapped(at, 4), rows[i].left);
	}
}

/* It asked for a place that is free, as far as the program knows. */
static void room_is_made_where_the_program_wants_it(void **state)
{
	uint64_t at = map(4);

	get(at, 0, 4, A);
	assert_true(unmap(at, 1, 3));
	pin_make_room(at + 2 * PAGE, at + 3 * PAGE);
	assert_string_equal(mapped(at, 4), "1101");
	pin_make_room(at, at + PAGE); /* the program has not unmapped it */
	assert_string_equal(mapped(at, 4), "1101");
	assert_ptr_equal(mmap((void *)(at + 2 * PAGE), PAGE, PROT_READ,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
			 (void *)(at + 2 * PAGE));
	put(at, 0, 4, A);
	assert_string_equal(mapped(at, 4), "1010");
}

static void far_ranges_share_counts_and_nothing_else(void **state)
{
	uint64_t at = map(4), far = at + (UINT64_C(4096) << 21);

	pin_get(far, far + 4 * PAGE, A);
	assert_false(unmap(at, 0, 4));
	pin_get(at, at + (UINT64_C(1) << 40), B); /* more blocks than counts */
	assert_true(unmap(at, 1, 1));
	pin_put(at, at + (UINT64_C(1) << 40), B);
	assert_string_equal(mapped(at, 4), "1011");
	pin_put(far, far + 4 * PAGE, A);
}

/* Something of the program's could come to lie in the hole, and would go with the rest. */
static void a_range_with_a_hole_is_not_kept(void **state)
{
	uint64_t at = map(5);

	get(at, 0, 1, A);
	get(at, 2, 1, A);
	get(at, 4, 1, A);
	assert_int_equal(munmap((void *)(at + PAGE), PAGE), 0);
	assert_false(unmap(at, 0, 3));
	assert_true(unmap(at, 2, 3));
	put(at, 0, 1, A);
	put(at, 2, 1, A);
	put(at, 4, 1, A);
	assert_string_equal(mapped(at, 5), "10000");
}

/* Its fork was a system call. */
static void a_child_leaves_its_parents_lists_alone(void **state)
{
	uint64_t at = map(4), p;
	int status;
	pid_t pid;

	get(at, 0, 4, A);
	assert_true(unmap(at, 0, 2));
	pid = (pid_t)syscall(SYS_fork);
	if (!pid) {
		bool bad = unmap(at, 2, 2);

		p = (uintptr_t)mmap((void *)at, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
				    0);
		bad |= p != at; /* the kept pages are not inherited */
		put(at, 0, 4, A);
		pin_make_room(at, at + PAGE);
		_exit(bad || strcmp(mapped(at, 1), "1") != 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	put(at, 0, 4, A);
	assert_string_equal(mapped(at, 4), "0011");
}

static void a_child_has_none(void **state)
{
	uint64_t at = map(4);
	int status;
	pid_t pid;

	get(at, 0, 4, A);
	assert_true(unmap(at, 0, 2));
	pid = fork();
	if (!pid) {
		bool bad = strcmp(mapped(at, 4), "0011") != 0; /* kept ones are not inherited */

		pin_forked();
		bad |= unmap(at, 2, 2);
		put(at, 0, 4, A);
		get(at, 2, 2, A);
		bad |= !unmap(at, 2, 2);
		put(at, 2, 2, A);
		bad |= strcmp(mapped(at, 4), "0000") != 0;
		_exit(bad);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	put(at, 0, 4, A);
	assert_string_equal(mapped(at, 4), "0011");
}

#define MANY 500u

static void *many(void *arg)
{
	uint64_t owner = (uint64_t)(uintptr_t)arg;

	for (unsigned int turn = 0; turn < 3; turn++) {
		uint64_t at = map(MANY);

		for (unsigned int i = 0; i < MANY; i++)
			get(at, i, 1, owner);
		for (unsigned int i = 0; i < MANY; i += 2)
			if (!unmap(at, i, 1))
				return "not kept";
		for (unsigned int i = 0; i < MANY; i++)
			put(at, i, 1, owner);
		if (strcmp(mapped(at + (MANY - 4) * PAGE, 4), "0101") != 0)
			return "wrong pages";
	}
	return NULL;
}

static void threads_share_the_lists(void **state)
{
	pthread_t t[3];

	for (size_t i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&t[i], NULL, many, (void *)(i + 1)), 0);
	for (size_t i = 0; i < 3; i++) {
		void *why;

		assert_int_equal(pthread_join(t[i], &why), 0);
		assert_null(why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_nobody_registered_is_not_kept),
		cmocka_unit_test(it_goes_with_the_registration),
		cmocka_unit_test(ends_that_nobody_registered_go_at_once),
		cmocka_unit_test(the_last_registration_counts),
		cmocka_unit_test(a_file_that_ends_has_no_registrations),
		cmocka_unit_test(pages_are_unmapped_once),
		cmocka_unit_test(what_is_mapped_there_stays),
		cmocka_unit_test(room_is_made_where_the_program_wants_it),
		cmocka_unit_test(far_ranges_share_counts_and_nothing_else),
		cmocka_unit_test(a_range_with_a_hole_is_not_kept),
		cmocka_unit_test(a_child_leaves_its_parents_lists_alone),
		cmocka_unit_test(a_child_has_none),
		cmocka_unit_test(threads_share_the_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
