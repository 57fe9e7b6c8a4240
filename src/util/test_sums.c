/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Check values against published vectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "util/sums.h"

/* The patterns of RFC 3720 B.4 and of T10 SBC-3: bytes that are equal, count up, or count down. */
static void fill(uint8_t *p, size_t n, int first, int step)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(first + step * (int)i);
}

static const struct {
	int first, step;
	uint16_t dif;
	uint32_t crc32c; /* 0: none published */
} patterns[] = {
	{0x00, 0, 0x0000, 0x8a9136aa},
	{0xff, 0, 0xa293, 0x62a8ab43},
	{0x00, 1, 0x0224, 0x46dd794e},
	{0xff, -1, 0xa0b7, 0},
};

static void the_patterns_of_the_standards(void **state)
{
	uint8_t b[32];

	(void)state;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		fill(b, sizeof(b), patterns[i].first, patterns[i].step);
		assert_int_equal(sum_t10dif(0, b, sizeof(b)), patterns[i].dif);
		if (patterns[i].crc32c)
			assert_int_equal(~sum_crc32c(UINT32_MAX, b, sizeof(b)), patterns[i].crc32c);
	}
	memset(b, 0, sizeof(b));
	b[0] = b[1] = 0xff;
	assert_int_equal(sum_t10dif(0, b, sizeof(b)), 0x21b8);
	fill(b, sizeof(b), 0x1f, -1);
	assert_int_equal(~sum_crc32c(UINT32_MAX, b, sizeof(b)), 0x113fdb5c);
}

/* The check values of the catalogue of parametrised CRC algorithms. */
static void nine_digits(void **state)
{
	const uint8_t *p = (const uint8_t *)"123456789";

	(void)state;
	assert_int_equal(sum_t10dif(0, p, 9), 0xd0db);
	assert_int_equal(~sum_crc32c(UINT32_MAX, p, 9), 0xe3069283);
	assert_int_equal(~sum_crc64(UINT64_MAX, p, 9), 0xae8b14860a799888);
}

/* An iSCSI READ (10) command, RFC 3720 B.4. */
static void an_iscsi_header(void **state)
{
	static const uint8_t pdu[48] = {
		0x01, 0xc0, [16] = 0x14, [22] = 0x04, [27] = 0x14, [31] = 0x18, 0x28, [40] = 0x02};

	(void)state;
	assert_int_equal(~sum_crc32c(UINT32_MAX, pdu, sizeof(pdu)), 0xd9963a56);
}

/* The test cases of the 64-bit CRC in the NVM command set specification. */
static void the_blocks_of_nvme(void **state)
{
	static const struct {
		int first, step;
		uint64_t crc64;
	} rows[] = {
		{0x00, 0, 0x6482d367eb22b64e},
		{0xff, 0, 0xc0ddba7302eca3ac},
		{0x00, 1, 0x3e729f5f6750449c},
		{0xff, -1, 0x9a2df64b8e9e517e},
	};
	uint8_t b[4096];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fill(b, sizeof(b), rows[i].first, rows[i].step);
		assert_int_equal(~sum_crc64(UINT64_MAX, b, sizeof(b)), rows[i].crc64);
	}
}

/* The example of RFC 1071, section 3. */
static void an_ip_checksum(void **state)
{
	static const uint8_t b[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};

	(void)state;
	assert_int_equal(sum_ip(0, b, sizeof(b)), 0xddf2);
	assert_int_equal((uint16_t)~sum_ip(0, b, sizeof(b)), 0x220d);
	assert_int_equal(sum_ip(0, b, 3), 0xf201);
}

/* A block may come in any pieces (words, for sum_ip). */
static void sums_continue(void **state)
{
	uint8_t b[520];

	(void)state;
	fill(b, sizeof(b), 7, 13);
	for (size_t i = 0; i <= sizeof(b); i += 2) {
		const uint8_t *p = b + i;
		size_t n = sizeof(b) - i;

		assert_int_equal(sum_t10dif(sum_t10dif(0, b, i), p, n),
				 sum_t10dif(0, b, sizeof(b)));
		assert_int_equal(sum_crc32c(sum_crc32c(1, b, i), p, n),
				 sum_crc32c(1, b, sizeof(b)));
		assert_int_equal(sum_crc64(sum_crc64(1, b, i), p, n), sum_crc64(1, b, sizeof(b)));
		assert_int_equal(sum_ip(sum_ip(1, b, i), p, n), sum_ip(1, b, sizeof(b)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_patterns_of_the_standards),
		cmocka_unit_test(nine_digits),
		cmocka_unit_test(an_iscsi_header),
		cmocka_unit_test(the_blocks_of_nvme),
		cmocka_unit_test(an_ip_checksum),
		cmocka_unit_test(sums_continue),
	};

	return cmocka_run_group_tests_name("util sums", tests, NULL, NULL);
}
