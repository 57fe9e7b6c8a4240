// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Answers that came with an event are found until something may have made them wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "ucma/ahead.h"

#define ID 5u
#define QUERY RDMA_USER_CM_CMD_QUERY

static struct ucma_ahead *a;
static const struct ucma_whose own = {.file = 3, .gen = 2, .id = ID, .changes = 7};

static int setup(void **state)
{
	a = calloc(1, sizeof(*a));
	return !a;
}

static int teardown(void **state)
{
	free(a);
	return 0;
}

/* Two answers: of 8 bytes with key 0, and of 16 with key 1. */
static void put(void)
{
	struct {
		struct ucma_answer a;
		uint64_t v;
		struct ucma_answer b;
		uint64_t w[2];
	} all = {{QUERY, 8, 0}, 11, {QUERY, 16, 1}, {22, 33}};

	ucma_ahead_put(a, own, &all, sizeof(all));
}

static size_t get(struct ucma_whose w, uint32_t key, size_t room)
{
	uint64_t out[2];

	return ucma_ahead_get(a, w, QUERY, key, out, room);
}

static void test_found(void **state)
{
	uint64_t out[2] = {0};

	assert_int_equal(get(own, 0, 16), 0);
	put();
	assert_int_equal(get(own, 0, 16), 8);
	assert_int_equal(ucma_ahead_get(a, own, QUERY, 1, out, 16), 16);
	assert_int_equal(out[1], 33);
	assert_int_equal(get(own, 1, 15), 0); /* too little room: the supervisor decides */
	assert_int_equal(get(own, 2, 16), 0);
	assert_int_equal(ucma_ahead_get(a, own, QUERY + 1, 0, out, 16), 0);
}

static void test_of_its_file_alone(void **state)
{
	struct ucma_whose other = own;

	put();
	other.file++;
	assert_int_equal(get(other, 0, 16), 0);
	other = own;
	other.gen++;
	assert_int_equal(get(other, 0, 16), 0);
	other = own;
	other.id += UCMA_AHEAD_IDS; /* the same place */
	assert_int_equal(get(other, 0, 16), 0);
	assert_int_equal(get(own, 0, 16), 8);
}

/* Answers remain valid as long as nothing has happened to the id. */
static void test_changed(void **state)
{
	struct ucma_whose later = own;

	put();
	later.changes++;
	assert_int_equal(get(later, 0, 16), 0);
	assert_int_equal(get(own, 0, 16), 8);
	/*
	 * An event without answers does not delete earlier ones, but its counter makes them
	 * invalid.
	 */
	ucma_ahead_put(a, later, NULL, 0);
	assert_int_equal(get(later, 0, 16), 0);
}

/* A fork may copy an entry while another thread holds it: `busy` then stays set for ever. */
static void test_never_waits(void **state)
{
	put();
	a->ids[ID % UCMA_AHEAD_IDS].busy = 1;
	assert_int_equal(get(own, 0, 16), 0);
	put();
	assert_int_equal(get(own, 0, 16), 0);
}

static void test_bad_lengths(void **state)
{
	static const uint8_t big[UCMA_AHEAD_MAX + 8];
	const struct ucma_answer lies = {QUERY, 8, 0};

	ucma_ahead_put(a, own, big, sizeof(big));
	assert_int_equal(get(own, 0, 16), 0);
	ucma_ahead_put(a, own, &lies, sizeof(lies));
	assert_int_equal(get(own, 0, 16), 0);
	ucma_ahead_put(a, own, &lies, 3);
	assert_int_equal(get(own, 0, 16), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_found),       TEST(test_of_its_file_alone), TEST(test_changed),
		TEST(test_never_waits), TEST(test_bad_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
