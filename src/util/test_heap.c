/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Blocks of every size are zeroed, do not overlap, and are reused. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "util/heap.h"
#include "util/for_tests.h"

static bool all_zero(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

static void blocks_are_zeroed_and_aligned(void **state)
{
	static const size_t sizes[] = {0,    1,    47,    48,         49,        112,     113,
				       4080, 4081, 65520, UINT16_MAX, 64u << 10, 3u << 20};

	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			uint8_t *p = heap_zalloc(sizes[i]);

			assert_non_null(p);
			assert_int_equal((uintptr_t)p % 16, 0);
			assert_true(all_zero(p, sizes[i]));
			memset(p, 0xa5, sizes[i]);
			heap_free(p);
		}
	heap_free(NULL);
}

static void blocks_do_not_overlap(void **state)
{
	enum { N = 3000 };
	static uint8_t *p[N];
	static size_t len[N];

	for (size_t i = 0; i < N; i++) {
		len[i] = i * 7919 % 1500;
		p[i] = heap_zalloc(len[i]);
		assert_non_null(p[i]);
		memset(p[i], (int)i, len[i]);
	}
	for (size_t i = 0; i < N; i++)
		for (size_t k = 0; k < len[i]; k++)
			assert_int_equal(p[i][k], (uint8_t)i);
	for (size_t i = 0; i < N; i++)
		heap_free(p[i]);
}

static void growing_keeps_and_zeroes(void **state)
{
	size_t n = 1;
	uint8_t *p = heap_grow(NULL, 0, n);

	for (p[0] = 1; n < 300000; n *= 3) {
		p = heap_grow(p, n, n * 3);
		assert_non_null(p);
		assert_int_equal(p[0], 1);
		assert_int_equal(p[n - 1], 1);
		assert_true(all_zero(p + n, n * 2));
		memset(p, 1, n * 3);
	}
	assert_null(heap_grow(p, n, SIZE_MAX / 4));
	assert_int_equal(p[n - 1], 1);
	heap_free(p);
}

static void too_much_and_made_to_fail(void **state)
{
	void *p;

	assert_null(heap_zalloc(SIZE_MAX));
	assert_null(heap_zalloc(SIZE_MAX - 8));
	heap_fail_at(2);
	p = heap_zalloc(8);
	assert_non_null(p);
	assert_null(heap_zalloc(8));
	heap_free(p);
	p = heap_zalloc(8);
	assert_non_null(p);
	heap_free(p);
	heap_fail_at(0);
}

static void *churn(void *arg)
{
	uint32_t *p[64] = {0}, x = (uint32_t)(uintptr_t)arg;

	for (int i = 0; i < 20000; i++) {
		uint32_t k;

		x = x * 1664525 + 1013904223;
		k = x >> 26;
		if (p[k] && *p[k] != k)
			return p[k];
		heap_free(p[k]);
		p[k] = heap_zalloc(4 + (x >> 8 & 0x3ff));
		*p[k] = k;
	}
	for (int k = 0; k < 64; k++)
		heap_free(p[k]);
	return NULL;
}

static void threads_share_it(void **state)
{
	pthread_t t[4];
	void *r;

	for (uintptr_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&t[i], NULL, churn, (void *)(i + 1)), 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(t[i], &r), 0);
		assert_null(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_zeroed_and_aligned),
		cmocka_unit_test(blocks_do_not_overlap),
		cmocka_unit_test(growing_keeps_and_zeroes),
		cmocka_unit_test(too_much_and_made_to_fail),
		cmocka_unit_test(threads_share_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
