/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packets and ERF records, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "wire/pkt/crc.h"
#include "wire/pkt/pkt.h"

/* The example of IBA 7.8: an RDMA WRITE of 14 bytes, with its invariant CRC. */
static const uint8_t write_only[] = {
	0x70, 0x12, 0x37, 0x5c, 0x00, 0x0e, 0x17, 0xd2, 0x0a, 0x20, 0x24, 0x87, 0x00, 0x87,
	0xb1, 0xb3, 0x00, 0x0d, 0xec, 0x2a, 0x01, 0x71, 0x0a, 0x1c, 0x01, 0x5d, 0x40, 0x02,
	0x38, 0xf2, 0x7a, 0x05, 0x00, 0x00, 0x00, 0x0e, 0xbb, 0x88, 0x4d, 0x85, 0xfd, 0x5c,
	0xfb, 0xa4, 0x72, 0x8b, 0xc0, 0x69, 0x0e, 0xd4, 0x00, 0x00, 0x96, 0x25, 0xb7, 0x5a,
};

static const struct pkt write_only_is = {
	.vl = 7,
	.sl = 1,
	.dlid = 0x375c,
	.slid = 0x17d2,
	.opcode = PKT_RC | PKT_WRITE_ONLY,
	.pkey = 0x2487,
	.dest_qpn = 0x87b1b3,
	.psn = 0x0dec2a,
	.va = 0x01710a1c015d4002,
	.rkey = 0x38f27a05,
	.dma_len = 14,
	.payload = 14,
	.kept = 14,
};

static void test_the_specifications_example(void **state)
{
	uint8_t out[PKT_MAX];
	uint32_t wire, n;

	assert_int_equal(pkt_icrc(write_only, 52), 0x9625b75a);
	n = pkt_bytes(&write_only_is, write_only + 36, UINT32_MAX, out, &wire);
	assert_int_equal(n, sizeof(write_only) + 2);
	assert_int_equal(wire, n);
	/*
	 * The example's path has not migrated, ours always has: this changes BTH's M, and the CRC.
	 */
	assert_int_equal(out[9], 0x60);
	out[9] = 0x20;
	assert_memory_equal(out, write_only, 52);
}

/* Fields that switches change do not affect the invariant CRC, only the variant one. */
static void test_what_switches_change(void **state)
{
	uint8_t p[sizeof(write_only)];

	memcpy(p, write_only, sizeof(p));
	p[0] ^= 0xf0;
	p[12] ^= 0xff;
	assert_int_equal(pkt_icrc(p, 52), 0x9625b75a);
	assert_int_not_equal(pkt_vcrc(p, 56), pkt_vcrc(write_only, 56));
	p[8] ^= 1;
	assert_int_not_equal(pkt_icrc(p, 52), 0x9625b75a);
}

/* Computed bit by bit as in the specification, for any length. */
static void test_crcs_by_their_polynomials(void **state)
{
	uint8_t b[100];

	for (uint32_t n = 0; n < sizeof(b); n++) {
		uint32_t c32 = UINT32_MAX, c16 = UINT16_MAX;

		for (uint32_t i = 0; i < n; i++) {
			b[i] = (uint8_t)(i * 37 + n * 11);
			c32 ^= b[i];
			c16 ^= b[i];
			for (int k = 0; k < 8; k++) {
				c32 = c32 >> 1 ^ (c32 & 1 ? 0xedb88320 : 0);
				c16 = c16 >> 1 ^ (c16 & 1 ? 0xd008 : 0);
			}
		}
		assert_int_equal(crc32_add(UINT32_MAX, b, n), c32);
		assert_int_equal(crc16_add(UINT16_MAX, b, n), c16);
	}
}

static uint32_t headers(uint8_t opcode, uint8_t flags)
{
	struct pkt p = {.opcode = opcode, .flags = flags};
	uint8_t out[PKT_MAX];
	uint32_t wire;

	pkt_bytes(&p, NULL, UINT32_MAX, out, &wire);
	assert_int_equal(LAYOUT_GET(lrh, out, length) * 4, wire - 2);
	if (flags & PKT_F_GRH)
		assert_int_equal(LAYOUT_GET(ib_grh, out + 8, paylen), wire - 2 - 48);
	return wire - 8 - 12 - 6;
}

/* IBA 9.4: the extended headers of each operation. */
static void test_headers_of_operations(void **state)
{
	static const struct {
		uint8_t opcode, bytes;
	} rows[] = {
		{PKT_RC | PKT_SEND_FIRST, 0},
		{PKT_RC | PKT_SEND_ONLY, 0},
		{PKT_RC | PKT_SEND_LAST_IMM, 4},
		{PKT_RC | PKT_SEND_ONLY_INV, 4},
		{PKT_RC | PKT_WRITE_FIRST, 16},
		{PKT_RC | PKT_WRITE_MIDDLE, 0},
		{PKT_RC | PKT_WRITE_LAST_IMM, 4},
		{PKT_RC | PKT_WRITE_ONLY_IMM, 20},
		{PKT_RC | PKT_READ_REQUEST, 16},
		{PKT_RC | PKT_READ_RESP_FIRST, 4},
		{PKT_RC | PKT_READ_RESP_MIDDLE, 0},
		{PKT_RC | PKT_READ_RESP_ONLY, 4},
		{PKT_RC | PKT_ACK, 4},
		{PKT_RC | PKT_ATOMIC_ACK, 12},
		{PKT_RC | PKT_COMPARE_SWAP, 28},
		{PKT_UC | PKT_SEND_ONLY, 0},
		{PKT_UD | PKT_SEND_ONLY, 8},
		{PKT_UD | PKT_SEND_ONLY_IMM, 12},
		{PKT_XRC | PKT_SEND_ONLY, 4},
		{PKT_XRC | PKT_READ_REQUEST, 20},
		{PKT_XRC | PKT_ACK, 4},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(headers(rows[i].opcode, 0), rows[i].bytes);
		assert_int_equal(headers(rows[i].opcode, PKT_F_GRH), rows[i].bytes + 40);
	}
}

static void test_a_record(void **state)
{
	struct pkt p = write_only_is;
	uint8_t out[ERF_MAX];
	uint32_t n;

	p.time_ns = 0x12345678ull * 1000000000 + 500000000;
	p.port = 2;
	n = erf_record(&p, write_only + 36, UINT32_MAX, 3, out);
	assert_int_equal(n, 16 + 58);
	/* half a second, then seconds, little endian; type 21, varying length, interface 1 */
	assert_memory_equal(out, "\0\0\0\x80\x78\x56\x34\x12\x15\x05", 10);
	assert_int_equal(be16_load(out + 10), n);
	assert_int_equal(be16_load(out + 12), 3);
	assert_int_equal(be16_load(out + 14), 58);
	/* cut: no CRCs, and flagged as truncated */
	n = erf_record(&p, write_only + 36, 40, 70000, out);
	assert_int_equal(n, 16 + 40);
	assert_int_equal(out[9], 0x0d);
	assert_int_equal(be16_load(out + 12), 0xffff);
	assert_int_equal(be16_load(out + 14), 58);
	/* cut within the headers; a payload that was not kept */
	assert_int_equal(erf_record(&p, write_only + 36, 10, 0, out), 16 + 10);
	p.kept = 0;
	assert_int_equal(erf_record(&p, NULL, UINT32_MAX, 0, out), 16 + 36);
}

/* The largest packet fits, and nothing is written beyond it. */
static void test_the_largest(void **state)
{
	static uint8_t payload[PKT_MAX_PAYLOAD + 100], out[ERF_MAX + 1];
	struct pkt p = {.opcode = PKT_XRC | PKT_COMPARE_SWAP,
			.flags = PKT_F_GRH,
			.payload = UINT32_MAX,
			.kept = UINT32_MAX};

	out[ERF_MAX] = 0x5a;
	assert_true(erf_record(&p, payload, UINT32_MAX, 0, out) <= ERF_MAX);
	p.payload = p.kept = PKT_MAX_PAYLOAD;
	assert_true(erf_record(&p, payload, UINT32_MAX, 0, out) <= ERF_MAX);
	assert_int_equal(out[ERF_MAX], 0x5a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_specifications_example),
		cmocka_unit_test(test_what_switches_change),
		cmocka_unit_test(test_crcs_by_their_polynomials),
		cmocka_unit_test(test_headers_of_operations),
		cmocka_unit_test(test_a_record),
		cmocka_unit_test(test_the_largest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
