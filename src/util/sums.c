/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Check values of data blocks, a byte at a time. Called by engine/keys/sig.c. */
#include "util/sums.h"

#include "util/crc_table.h"

/* 0x8bb7 */
static const uint16_t table16[256] = {
	CRC_ROWS(0x8bb7, 0x9cd9, 0xb205, 0xefbd, 0x54cd, 0xa99a, 0xd883, 0x3ab1)};

/* 0x1edc6f41, bits reversed */
static const uint32_t table32[256] = {CRC_ROWS(0xf26b8303, 0xe13b70f7, 0xc79a971f, 0x8ad958cf,
					       0x105ec76f, 0x20bd8ede, 0x417b1dbc, 0x82f63b78)};

/* 0xad93d23594c93659, bits reversed */
static const uint64_t table64[256] = {
	CRC_ROWS(0x7f6ef0c830358979, 0xfedde190606b12f2, 0xc962e5739841b68f, 0xa61cecb46814fe75,
		 0x78e0ff3b88be6f81, 0xf1c1fe77117cdf02, 0xd75adabd7a6e2d6f, 0x9a6c9329ac4bc9b5)};

uint16_t sum_t10dif(uint16_t sum, const uint8_t *p, size_t n)
{
	for (; n; n--, p++)
		sum = (uint16_t)(sum << 8 ^ table16[(sum >> 8 ^ *p) & 0xff]);
	return sum;
}

uint32_t sum_crc32c(uint32_t sum, const uint8_t *p, size_t n)
{
	for (; n; n--, p++)
		sum = sum >> 8 ^ table32[(sum ^ *p) & 0xff];
	return sum;
}

uint64_t sum_crc64(uint64_t sum, const uint8_t *p, size_t n)
{
	for (; n; n--, p++)
		sum = sum >> 8 ^ table64[(sum ^ *p) & 0xff];
	return sum;
}

uint16_t sum_ip(uint16_t sum, const uint8_t *p, size_t n)
{
	uint64_t all = sum;

	for (size_t i = 0; i < n; i++)
		all += i % 2 ? p[i] : (uint64_t)p[i] << 8;
	while (all >> 16)
		all = (all & 0xffff) + (all >> 16);
	return (uint16_t)all;
}
