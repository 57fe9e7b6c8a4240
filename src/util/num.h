/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers in text. Not by strtoul() and its like: a library built with glibc 2.38 or newer then
 * imports __isoc23_strtoul(), which older ones and musl do not have.
 */
#ifndef SOFTHCA_UTIL_NUM_H
#define SOFTHCA_UTIL_NUM_H

#include <stdint.h>

/*
 * Decimal digits from s on, without blanks or a sign before them; UINT64_MAX when it is greater.
 * *end (unless NULL) is behind them: s if there is none, and the result 0.
 */
static inline uint64_t num_decimal(const char *s, const char **end)
{
	uint64_t v = 0;

	for (; *s >= '0' && *s <= '9'; s++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			v = UINT64_MAX;
	if (end)
		*end = s;
	return v;
}

#endif
