/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which memory may be adopted: a case for each rule of doc/internals/adoption.md. */
#include "segment/adopt.h"
#include "segment/test.h"
#include "util/sys.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LEN (16 * ADOPT_PAGE)

static uint8_t *map(int prot, int flags, int fd)
{
	uint8_t *p =
		mmap(NULL, LEN + 2 * ADOPT_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* between two pages without access, so that it merges with nothing */
	assert_ptr_not_equal(p, MAP_FAILED);
	p = mmap(p + ADOPT_PAGE, LEN, prot, flags | MAP_FIXED, fd, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	if (prot & PROT_WRITE)
		memset(p, 1, LEN);
	return p;
}

static uint8_t *plain_map(void)
{
	return map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static bool allowed(const uint8_t *p)
{
	return adopt_maps_allow((uintptr_t)p, (uintptr_t)p + LEN);
}

static void private_memory_is_allowed(void **state)
{
	uint8_t *p = plain_map();

	assert_true(allowed(p));
	assert_true(adopt_maps_allow((uintptr_t)p + ADOPT_PAGE, (uintptr_t)p + 2 * ADOPT_PAGE));
	munmap(p + 4 * ADOPT_PAGE, ADOPT_PAGE);
	assert_false(allowed(p)); /* a hole */
	assert_true(adopt_maps_allow((uintptr_t)p, (uintptr_t)p + 4 * ADOPT_PAGE));
}

static void the_heap_is_allowed(void **state)
{
	uint8_t *p = malloc(3 * ADOPT_PAGE); /* below the limit of mmap() */
	uintptr_t at = ((uintptr_t)p + ADOPT_PAGE - 1) & ~(ADOPT_PAGE - 1);

	memset(p, 1, 3 * ADOPT_PAGE);
	assert_true(adopt_maps_allow(at, at + ADOPT_PAGE));
	free(p);
}

static void other_kinds_of_mappings_are_refused(void **state)
{
	int fd = memfd_create("x", 0);

	assert_int_equal(ftruncate(fd, LEN), 0);
	assert_false(allowed(map(PROT_READ | PROT_WRITE, MAP_SHARED, fd)));
	assert_false(allowed(map(PROT_READ | PROT_WRITE, MAP_PRIVATE, fd)));
	assert_false(allowed(map(PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1)));
	assert_false(allowed(map(PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1)));
	assert_false(
		allowed(map(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1)));
	close(fd);
}

static void ranges_with_a_property_are_refused(void **state)
{
	static const int advice[] = {MADV_DONTFORK, MADV_WIPEONFORK, MADV_DONTDUMP, MADV_MERGEABLE};
	uint8_t *p;

	for (size_t i = 0; i < sizeof(advice) / sizeof(advice[0]); i++) {
		p = plain_map();
		if (!madvise(p + ADOPT_PAGE, ADOPT_PAGE, advice[i]))
			assert_false(allowed(p));
		assert_true(adopt_maps_allow((uintptr_t)p, (uintptr_t)p + ADOPT_PAGE));
	}
	p = plain_map();
	/* The address sanitizer replaces mlock() by nothing. */
	if (!sys_call(SYS_mlock, p, ADOPT_PAGE))
		assert_false(allowed(p));
}

static void stacks_are_refused(void **state)
{
	uint8_t here[4 * ADOPT_PAGE];
	uintptr_t at = ((uintptr_t)here + ADOPT_PAGE - 1) & ~(ADOPT_PAGE - 1);

	memset(here, 1, sizeof(here));
	assert_false(adopt_maps_allow(at, at + ADOPT_PAGE));
}

struct thread {
	uint8_t *buf;
	bool on_stack, above;
};

static void *look_from_thread(void *arg)
{
	uint8_t here[4 * ADOPT_PAGE];
	uintptr_t at = ((uintptr_t)here + ADOPT_PAGE - 1) & ~(ADOPT_PAGE - 1);
	struct thread *t = arg;

	memset(here, 1, sizeof(here));
	t->on_stack = adopt_maps_allow(at, at + ADOPT_PAGE);
	t->above = adopt_maps_allow((uintptr_t)t->buf, (uintptr_t)t->buf + ADOPT_PAGE);
	return NULL;
}

static void stacks_of_threads_are_refused(void **state)
{
	const size_t stack = 256 << 10;
	uint8_t *p =
		mmap(NULL, stack + LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct thread t = {.buf = p + stack};
	pthread_attr_t a;
	pthread_t id;

	/* in one mapping with memory that is none */
	assert_int_equal(pthread_attr_init(&a), 0);
	assert_int_equal(pthread_attr_setstack(&a, p, stack), 0);
	assert_int_equal(pthread_create(&id, &a, look_from_thread, &t), 0);
	assert_int_equal(pthread_join(id, NULL), 0);
	assert_false(t.on_stack);
	assert_true(t.above);
	assert_int_equal(pthread_create(&id, NULL, look_from_thread, &t), 0);
	assert_int_equal(pthread_join(id, NULL), 0);
	assert_false(t.on_stack);
}

static void asynchronous_input_prevents_it(void **state)
{
	uint8_t *p = plain_map();
	unsigned long ctx = 0;

	if (sys_call(SYS_io_setup, 8, &ctx))
		skip();
	assert_false(allowed(p));
	assert_int_equal(sys_call(SYS_io_destroy, ctx), 0);
	assert_true(allowed(p));
}

static void a_replaced_mapping_is_noticed(void **state)
{
	int fd = memfd_create("x", 0);
	uint8_t *p;

	assert_int_equal(ftruncate(fd, 2 * LEN), 0);
	p = map(PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	assert_true(adopt_maps_are((uintptr_t)p, (uintptr_t)p + LEN, fd, 0));
	assert_false(adopt_maps_are((uintptr_t)p, (uintptr_t)p + LEN, fd, ADOPT_PAGE));
	assert_ptr_not_equal(mmap(p + ADOPT_PAGE, ADOPT_PAGE, PROT_READ,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			     MAP_FAILED);
	assert_false(adopt_maps_are((uintptr_t)p, (uintptr_t)p + LEN, fd, 0));
	assert_true(adopt_maps_are((uintptr_t)p, (uintptr_t)p + ADOPT_PAGE, fd, 0));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(private_memory_is_allowed),
		cmocka_unit_test(the_heap_is_allowed),
		cmocka_unit_test(other_kinds_of_mappings_are_refused),
		cmocka_unit_test(ranges_with_a_property_are_refused),
		cmocka_unit_test(stacks_are_refused),
		cmocka_unit_test(stacks_of_threads_are_refused),
		cmocka_unit_test(asynchronous_input_prevents_it),
		cmocka_unit_test(a_replaced_mapping_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
