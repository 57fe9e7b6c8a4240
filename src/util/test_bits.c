/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bit fields against bytes written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "util/bits.h"

static void fields_count_from_the_most_significant_bit(void **state)
{
	const uint8_t b[8] = {0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0};

	assert_int_equal(bits_get32(b, 0, 32), 0x12345678);
	assert_int_equal(bits_get32(b, 0, 4), 1);
	assert_int_equal(bits_get32(b, 8, 24), 0x345678);
	assert_int_equal(bits_get32(b, 31, 1), 0);
	assert_int_equal(bits_get32(b, 32, 1), 1);
	assert_int_equal(bits_get32(b, 36, 8), 0xab);
	assert_int_equal(bits_get64(b, 0), 0x123456789abcdef0);
	assert_int_equal(be16_load(b + 1), 0x3456);
	assert_int_equal(be32_load(b + 1), 0x3456789a);
}

static void setting_leaves_the_neighbours(void **state)
{
	uint8_t b[9];

	for (unsigned int fill = 0; fill < 256; fill += 255)
		for (unsigned int w = 1; w <= 32; w++)
			for (unsigned int bit = 0; bit + w <= 32; bit++) {
				uint64_t all = fill ? UINT64_MAX : 0, v = 0x5a5a5a5a & bits_max(w);
				unsigned int shift = 32 - bit - w;
				uint64_t want = (all & ~(bits_max(w) << shift)) | v << shift;

				memset(b, (int)fill, sizeof(b));
				bits_set32(b + 1, 32 + bit, w, (uint32_t)v);
				assert_int_equal(b[0], fill);
				assert_int_equal(be64_load(b + 1), want);
				assert_int_equal(bits_get32(b + 1, 32 + bit, w), v);
			}
	bits_set64(b + 1, 0, 0x0102030405060708);
	assert_int_equal(b[1], 1);
	assert_int_equal(b[8], 8);
}

static void largest_values(void **state)
{
	assert_int_equal(bits_max(1), 1);
	assert_int_equal(bits_max(24), 0xffffff);
	assert_int_equal(bits_max(64), UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_count_from_the_most_significant_bit),
		cmocka_unit_test(setting_leaves_the_neighbours),
		cmocka_unit_test(largest_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
