/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers in text. Not by strtoul(), sscanf() and their like: what is built with glibc 2.38 or
 * newer then imports __isoc23_strtoul(), which older ones and musl do not have.
 */
#ifndef SOFTHCA_UTIL_NUM_H
#define SOFTHCA_UTIL_NUM_H

#include <errno.h>
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

/* 16 for what is no digit, not even a hexadecimal one. */
static inline unsigned int num_digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a') + 10 : 16;
}

/*
 * The same in base 10 or 16 (with or without 0x), or with 0 as in C: 0x1f, 037, 31. errno is ERANGE
 * when the number is greater than UINT64_MAX, and else what it was.
 */
static inline uint64_t num_in_base(const char *s, unsigned int base, const char **end)
{
	uint64_t v = 0;

	if (base != 10 && s[0] == '0' && (s[1] | 0x20) == 'x' && num_digit(s[2]) < 16) {
		s += 2;
		base = 16;
	} else if (!base) {
		base = *s == '0' ? 8 : 10;
	}
	for (; num_digit(*s) < base; s++)
		if (__builtin_mul_overflow(v, base, &v) ||
		    __builtin_add_overflow(v, num_digit(*s), &v)) {
			v = UINT64_MAX;
			errno = ERANGE;
		}
	if (end)
		*end = s;
	return v;
}

#endif
