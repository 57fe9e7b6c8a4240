/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text of unknown origin: is it UTF-8? */
#ifndef SOFTHCA_UTIL_UTF8_H
#define SOFTHCA_UTIL_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of a well-formed UTF-8 sequence at s; 0: none. */
static inline size_t utf8_len(const char *s, size_t len)
{
	uint8_t c = (uint8_t)s[0];
	size_t n = c >= 0xf0 && c < 0xf5 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 0;
	uint32_t v;

	if (c >= 0xf5 || !n || n > len)
		return 0;
	v = c & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if (((uint8_t)s[i] & 0xc0) != 0x80)
			return 0;
		v = v << 6 | ((uint8_t)s[i] & 0x3f);
	}
	if ((n == 3 && (v < 0x800 || (v >= 0xd800 && v < 0xe000))) ||
	    (n == 4 && (v < 0x10000 || v > 0x10ffff)))
		return 0;
	return n;
}

#endif
