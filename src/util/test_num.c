/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Decimal numbers: where they end, and those that are too great. */
#include "util/num.h"
#include "util/test_cmocka.h"

static void numbers_end_at_the_first_other_character(void **state)
{
	static const struct {
		const char *text;
		uint64_t v;
		int len;
	} rows[] = {
		{"0", 0, 1},
		{"", 0, 0},
		{"-1", 0, 0},
		{" 1", 0, 0},
		{"+1", 0, 0},
		{"x", 0, 0},
		{"007", 7, 3},
		{"12:34", 12, 2},
		{"9a", 9, 1},
		{"0x10", 0, 1},
		{"4294967296", 4294967296, 10},
		{"18446744073709551615", UINT64_MAX, 20},
		{"18446744073709551616", UINT64_MAX, 20},
		{"99999999999999999999999999,", UINT64_MAX, 26},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *end = NULL;

		assert_true(num_decimal(rows[i].text, &end) == rows[i].v);
		assert_int_equal(end - rows[i].text, rows[i].len);
		assert_true(num_decimal(rows[i].text, NULL) == rows[i].v);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_end_at_the_first_other_character),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
