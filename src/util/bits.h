/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Big-endian loads and stores and bit fields in big-endian dwords. Everything on the wire or in a
 * PRM structure goes through here; no other code shifts by hand. All take unaligned pointers.
 */
#ifndef SOFTHCA_UTIL_BITS_H
#define SOFTHCA_UTIL_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t be16_load(const void *p)
{
	uint16_t v;
	memcpy(&v, p, sizeof(v));
	return __builtin_bswap16(v);
}

static inline uint32_t be32_load(const void *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof(v));
	return __builtin_bswap32(v);
}

static inline uint64_t be64_load(const void *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof(v));
	return __builtin_bswap64(v);
}

static inline void be16_store(void *p, uint16_t v)
{
	v = __builtin_bswap16(v);
	memcpy(p, &v, sizeof(v));
}

static inline void be32_store(void *p, uint32_t v)
{
	v = __builtin_bswap32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void be64_store(void *p, uint64_t v)
{
	v = __builtin_bswap64(v);
	memcpy(p, &v, sizeof(v));
}

/* The largest value that fits a field of `width` bits (1..64). */
static inline uint64_t bits_max(unsigned int width)
{
	return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

/* log2 of a number that is not 0, rounded down. */
static inline uint32_t bits_log2(uint32_t n)
{
	return 31 - (uint32_t)__builtin_clz(n);
}

/* Spreads a number over all 64 bits: the output function of splitmix64. 0 stays 0. */
static inline uint64_t bits_mix(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/*
 * A field of `width` bits (1..32) that starts `bit` bits after the structure's first, counted from
 * the most significant bit of the first big-endian dword (the PRM's notation). It may not cross a
 * dword.
 */
static inline uint32_t bits_get32(const void *base, unsigned int bit, unsigned int width)
{
	uint32_t dw = be32_load((const uint8_t *)base + bit / 32 * 4);

	return (uint32_t)((dw >> (32 - bit % 32 - width)) & bits_max(width));
}

static inline void bits_set32(void *base, unsigned int bit, unsigned int width, uint32_t v)
{
	uint8_t *p = (uint8_t *)base + bit / 32 * 4;
	unsigned int shift = 32 - bit % 32 - width;
	uint32_t mask = (uint32_t)bits_max(width) << shift;

	be32_store(p, (be32_load(p) & ~mask) | ((v << shift) & mask));
}

/* As above for a 64-bit field, which starts at a dword boundary. */
static inline uint64_t bits_get64(const void *base, unsigned int bit)
{
	return be64_load((const uint8_t *)base + bit / 8);
}

static inline void bits_set64(void *base, unsigned int bit, uint64_t v)
{
	be64_store((uint8_t *)base + bit / 8, v);
}

#endif
