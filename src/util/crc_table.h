/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables of CRCs: CRC_ROWS has a row for each value of a byte, from the effects of its eight bits,
 * as CRCs are linear.
 */
#ifndef SOFTHCA_UTIL_CRC_TABLE_H
#define SOFTHCA_UTIL_CRC_TABLE_H

#define CRC_BIT(i, b, v) ((i) >> (b)&1 ? (v) : 0)
#define CRC_ONE(i, a, b, c, d, e, f, g, h)                                           \
	(CRC_BIT(i, 0, a) ^ CRC_BIT(i, 1, b) ^ CRC_BIT(i, 2, c) ^ CRC_BIT(i, 3, d) ^ \
	 CRC_BIT(i, 4, e) ^ CRC_BIT(i, 5, f) ^ CRC_BIT(i, 6, g) ^ CRC_BIT(i, 7, h))
#define CRC_4(i, ...)                                                                      \
	CRC_ONE(i, __VA_ARGS__), CRC_ONE(i + 1, __VA_ARGS__), CRC_ONE(i + 2, __VA_ARGS__), \
		CRC_ONE(i + 3, __VA_ARGS__)
#define CRC_16(i, ...)                                                               \
	CRC_4(i, __VA_ARGS__), CRC_4(i + 4, __VA_ARGS__), CRC_4(i + 8, __VA_ARGS__), \
		CRC_4(i + 12, __VA_ARGS__)
#define CRC_64(i, ...)                                                                    \
	CRC_16(i, __VA_ARGS__), CRC_16(i + 16, __VA_ARGS__), CRC_16(i + 32, __VA_ARGS__), \
		CRC_16(i + 48, __VA_ARGS__)
#define CRC_ROWS(...)                                                              \
	CRC_64(0, __VA_ARGS__), CRC_64(64, __VA_ARGS__), CRC_64(128, __VA_ARGS__), \
		CRC_64(192, __VA_ARGS__)

#endif
