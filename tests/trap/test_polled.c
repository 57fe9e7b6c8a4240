/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Polled doorbells: the device thread must know of a page as soon as it is mapped. Here it sleeps
 * for an hour instead of the library's second (meson.build), so a page that it is not told of is
 * never seen.
 */
#include "child.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <cmocka.h>

static void nap(void)
{
	const struct timespec ms = {0, 1000000};

	nanosleep(&ms, NULL); /* the caller looks again */
}

/* Ring once; the doorbell must be seen before the alarm of run_child(). */
static void ring_and_wait(void *page)
{
	uint32_t before = fake_count();

	*(volatile uint64_t *)((char *)page + 0x800) = 1;
	while (fake_count() == before)
		nap();
	CHECK(fake_count() == before + 1);
}

/* Wait until the thread sleeps: without a page there is nothing to watch. */
static void wait_asleep(void)
{
	uint64_t seen;

	do {
		seen = fake_due_calls();
		for (int i = 0; i < 100; i++)
			nap();
	} while (fake_due_calls() != seen);
}

static void first(void)
{
	void *page = fake_map(1);

	CHECK(page != MAP_FAILED);
	ring_and_wait(page);
}

/* Each in its own process, because the thread must just be starting. */
static void the_first_page_of_a_process_is_seen(void **state)
{
	for (int i = 0; i < 50; i++)
		assert_child_ok(first);
}

static void again(void)
{
	void *page = fake_map(1);

	CHECK(page != MAP_FAILED);
	ring_and_wait(page);
	for (int i = 0; i < 3; i++) {
		fake_unmap(page);
		wait_asleep();
		page = fake_map(1);
		CHECK(page != MAP_FAILED);
		ring_and_wait(page);
	}
}

static void a_page_that_is_mapped_while_the_thread_sleeps_is_seen(void **state)
{
	assert_child_ok(again);
}

#define PAGES 4

/* The thread must find those that remain wherever the one that goes stood among them. */
static void others_go(void)
{
	void *page[PAGES];

	for (int gone = 0; gone < PAGES; gone++) {
		for (uint32_t i = 0; i < PAGES; i++) {
			page[i] = fake_map(1 + i);
			CHECK(page[i] != MAP_FAILED);
		}
		fake_unmap(page[gone]);
		for (int i = 0; i < PAGES; i++)
			if (i != gone)
				ring_and_wait(page[i]);
		for (int i = 0; i < PAGES; i++)
			if (i != gone)
				fake_unmap(page[i]);
	}
}

static void a_page_is_seen_after_another_is_unmapped(void **state)
{
	assert_child_ok(others_go);
}

/* The child's thread would take some of the parent's doorbells, which this test would miss. */
static void beside_a_child(void)
{
	void *page = fake_map(1), *own;
	pid_t pid;

	CHECK(page != MAP_FAILED);
	ring_and_wait(page);
	pid = fork();
	if (!pid) {
		own = fake_map(2);
		CHECK(own != MAP_FAILED);
		for (;;)
			ring_and_wait(own);
	}
	for (int i = 0; i < 300; i++)
		ring_and_wait(page);
	CHECK(!kill(pid, SIGKILL) && waitpid(pid, NULL, 0) == pid);
}

static void a_fork_child_leaves_its_parents_pages_to_the_parent(void **state)
{
	assert_child_ok(beside_a_child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_page_of_a_process_is_seen),
		cmocka_unit_test(a_page_that_is_mapped_while_the_thread_sleeps_is_seen),
		cmocka_unit_test(a_page_is_seen_after_another_is_unmapped),
		cmocka_unit_test(a_fork_child_leaves_its_parents_pages_to_the_parent),
	};

	setenv("SOFTHCA_DOORBELL", "poll", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
