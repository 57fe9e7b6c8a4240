/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers: where they end, and those that are too great. */
#include "util/num.h"

#include <stdlib.h>
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

/* As strtoull() has them, blanks and signs apart. */
static void numbers_of_other_bases_are_those_of_strtoull(void **state)
{
	static const char *const rows[] = {
		"0",
		"1f",
		"0x1f",
		"0X1Fg",
		"037",
		"08",
		"0x",
		"0xg",
		"x1",
		"9a",
		"1_",
		"",
		"ffffffffffffffff",
		"0xffffffffffffffff",
		"0x10000000000000000",
		"18446744073709551615",
		"18446744073709551616",
		"02000000000000000000000",
		"01777777777777777777777",
	};
	static const unsigned int bases[] = {0, 10, 16};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (size_t k = 0; k < 3; k++) {
			const char *end = NULL;
			uint64_t v, want;
			char *theirs;
			int err;

			errno = 0;
			want = strtoull(rows[i], &theirs, (int)bases[k]);
			err = errno;
			errno = 0;
			v = num_in_base(rows[i], bases[k], &end);
			assert_int_equal(errno, err);
			assert_true(v == want);
			assert_ptr_equal(end, theirs);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_end_at_the_first_other_character),
		cmocka_unit_test(numbers_of_other_bases_are_those_of_strtoull),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
