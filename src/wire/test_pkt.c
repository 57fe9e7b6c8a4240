/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packets and ERF records, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "wire/pkt/crc.h"
#include "wire/for_tests.h"
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

/* The invariant CRC of a packet without GRH; `p` points to its LRH. */
static uint32_t icrc_of(const uint8_t *p, uint32_t len)
{
	return pkt_icrc(p, PKT_NET_NONE, p + LAYOUT_SZ(lrh), len - LAYOUT_SZ(lrh));
}

static void test_the_specifications_example(void **state)
{
	uint8_t out[PKT_MAX];
	uint32_t wire, n;

	assert_int_equal(icrc_of(write_only, 52), 0x9625b75a);
	n = pkt_bytes(&write_only_is, write_only + 36, UINT32_MAX, out, &wire);
	assert_int_equal(n, sizeof(write_only) + 2);
	assert_int_equal(wire, n);
	/*
	 * Our BTH says "migrated" and the example's does not. Clear that bit; the CRC differs, too.
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
	assert_int_equal(icrc_of(p, 52), 0x9625b75a);
	assert_int_not_equal(pkt_vcrc(p, 56), pkt_vcrc(write_only, 56));
	p[8] ^= 1;
	assert_int_not_equal(icrc_of(p, 52), 0x9625b75a);
}

/* The check value of the catalogue of parametrised CRC algorithms (CRC-32/ISO-HDLC). */
static void test_nine_digits(void **state)
{
	(void)state;
	assert_int_equal(~crc32_add(UINT32_MAX, (const uint8_t *)"123456789", 9), 0xcbf43926);
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

static uint32_t headers(uint8_t opcode, uint8_t net)
{
	struct pkt p = {.opcode = opcode, .route.net = net};
	uint8_t out[PKT_MAX];
	uint32_t wire;

	pkt_bytes(&p, NULL, UINT32_MAX, out, &wire);
	assert_int_equal(LAYOUT_GET(lrh, out, length) * 4, wire - 2);
	if (net)
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
		assert_int_equal(headers(rows[i].opcode, PKT_NET_NONE), rows[i].bytes);
		assert_int_equal(headers(rows[i].opcode, PKT_NET_GRH), rows[i].bytes + 40);
	}
}

static void test_a_record(void **state)
{
	struct pkt p = write_only_is;
	uint8_t out[ERF_MAX];
	uint32_t n, wire;

	p.time_ns = 0x12345678ull * 1000000000 + 500000000;
	p.port = 2;
	n = erf_record(&p, write_only + 36, UINT32_MAX, 3, out, &wire);
	assert_int_equal(n, 16 + 58);
	assert_int_equal(wire, 16 + 58);
	/* half a second, then seconds, little endian; type 21, varying length, interface 1 */
	assert_memory_equal(out, "\0\0\0\x80\x78\x56\x34\x12\x15\x05", 10);
	assert_int_equal(be16_load(out + 10), n);
	assert_int_equal(be16_load(out + 12), 3);
	assert_int_equal(be16_load(out + 14), 58);
	/* cut: no CRCs, and flagged as truncated */
	n = erf_record(&p, write_only + 36, 40, 70000, out, &wire);
	assert_int_equal(n, 16 + 40);
	assert_int_equal(wire, 16 + 58);
	assert_int_equal(out[9], 0x0d);
	assert_int_equal(be16_load(out + 12), 0xffff);
	assert_int_equal(be16_load(out + 14), 58);
	/* cut within the headers; a payload that was not kept */
	assert_int_equal(erf_record(&p, write_only + 36, 10, 0, out, &wire), 16 + 10);
	p.kept = 0;
	assert_int_equal(erf_record(&p, NULL, UINT32_MAX, 0, out, &wire), 16 + 36);
}

/* The largest packet fits, and nothing is written beyond it. */
static void test_the_largest(void **state)
{
	static uint8_t payload[PKT_MAX_PAYLOAD + 100], out[ERF_MAX + 1];
	struct pkt p = {.opcode = PKT_XRC | PKT_COMPARE_SWAP,
			.route.net = PKT_NET_GRH,
			.payload = UINT32_MAX,
			.kept = UINT32_MAX};
	uint32_t wire;

	out[ERF_MAX] = 0x5a;
	assert_true(erf_record(&p, payload, UINT32_MAX, 0, out, &wire) <= ERF_MAX);
	p.payload = p.kept = PKT_MAX_PAYLOAD;
	assert_true(erf_record(&p, payload, UINT32_MAX, 0, out, &wire) <= ERF_MAX);
	p.eth = true;
	p.route.net = PKT_NET_IP6;
	assert_true(erf_record(&p, payload, UINT32_MAX, 0, out, &wire) <= ERF_MAX);
	assert_int_equal(out[ERF_MAX], 0x5a);
}

/*
 * An RDMA WRITE of 7 octets as scapy makes it (contrib.roce, whose ICRC knows IPv4 only; the others
 * are zlib's over scapy's headers with ones in the variant fields).
 */
static const uint8_t over_ip4[] = {
	0x5a, 0x17, 0xca, 0x00, 0x00, 0x02, 0x5a, 0x17, 0xca, 0x00, 0x00, 0x01, 0x08, 0x00,
	0x45, 0x6a, 0x00, 0x44, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0x3c, 0x3a, 0x7f, 0x01,
	0x00, 0x01, 0x7f, 0x01, 0x00, 0x02, 0xc1, 0x23, 0x12, 0xb7, 0x00, 0x30, 0x00, 0x00,
	0x0a, 0x50, 0xff, 0xff, 0x00, 0x12, 0x34, 0x56, 0x80, 0x65, 0x43, 0x21, 0x11, 0x22,
	0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x89, 0xab, 0xcd, 0xef, 0x00, 0x00, 0x00, 0x07,
	0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x00, 0x97, 0x30, 0x5d, 0x5b,
};
static const uint8_t over_ip6[] = {
	0x5a, 0x17, 0xca, 0x00, 0x00, 0x02, 0x5a, 0x17, 0xca, 0x00, 0x00, 0x01, 0x86, 0xdd, 0x66,
	0xa1, 0x23, 0x45, 0x00, 0x30, 0x11, 0x40, 0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x58, 0x17, 0xca, 0xff, 0xfe, 0x00, 0x00, 0x01, 0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x58, 0x17, 0xca, 0xff, 0xfe, 0x00, 0x00, 0x02, 0xc1, 0x23, 0x12, 0xb7, 0x00, 0x30,
	0x00, 0x00, 0x0a, 0x50, 0xff, 0xff, 0x00, 0x12, 0x34, 0x56, 0x80, 0x65, 0x43, 0x21, 0x11,
	0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x89, 0xab, 0xcd, 0xef, 0x00, 0x00, 0x00, 0x07,
	0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x00, 0x31, 0xdc, 0xf0, 0x48,
};
static const uint8_t roce_v1[] = {
	0x5a, 0x17, 0xca, 0x00, 0x00, 0x02, 0x5a, 0x17, 0xca, 0x00, 0x00, 0x01, 0x89, 0x15,
	0x66, 0xa1, 0x23, 0x45, 0x00, 0x28, 0x1b, 0x40, 0xfe, 0x80, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x58, 0x17, 0xca, 0xff, 0xfe, 0x00, 0x00, 0x01, 0xfe, 0x80, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x58, 0x17, 0xca, 0xff, 0xfe, 0x00, 0x00, 0x02, 0x0a, 0x50,
	0xff, 0xff, 0x00, 0x12, 0x34, 0x56, 0x80, 0x65, 0x43, 0x21, 0x11, 0x22, 0x33, 0x44,
	0x55, 0x66, 0x77, 0x88, 0x89, 0xab, 0xcd, 0xef, 0x00, 0x00, 0x00, 0x07, 0x01, 0x02,
	0x03, 0x04, 0x05, 0x06, 0x07, 0x00, 0xba, 0x99, 0x97, 0x3a,
};

static struct pkt on_ethernet(enum pkt_net net)
{
	struct pkt p = {
		.eth = true,
		.smac = {0x5a, 0x17, 0xca, 0, 0, 1},
		.dmac = {0x5a, 0x17, 0xca, 0, 0, 2},
		.route = {.net = (uint8_t)net,
			  .tclass = 0x6a,
			  .hop_limit = 64,
			  .udp_sport = 0xc123,
			  .flow_label = 0x12345},
		.port = 1,
		.opcode = PKT_RC | PKT_WRITE_ONLY,
		.flags = PKT_F_ACK_REQ,
		.pkey = 0xffff,
		.dest_qpn = 0x123456,
		.psn = 0x654321,
		.va = 0x1122334455667788,
		.rkey = 0x89abcdef,
		.dma_len = 7,
		.payload = 7,
		.kept = 7,
	};

	if (net == PKT_NET_IP4) {
		memcpy(p.route.sgid, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\1\0\1", 16);
		memcpy(p.route.dgid, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\1\0\2", 16);
	} else {
		memcpy(p.route.sgid, over_ip6 + PKT_ETH + IB_GRH_SGID, 16);
		memcpy(p.route.dgid, over_ip6 + PKT_ETH + IB_GRH_DGID, 16);
	}
	return p;
}

static void test_frames_of_roce(void **state)
{
	static const struct {
		enum pkt_net net;
		const uint8_t *frame;
		uint32_t len;
	} rows[] = {
		{PKT_NET_IP4, over_ip4, sizeof(over_ip4)},
		{PKT_NET_IP6, over_ip6, sizeof(over_ip6)},
		{PKT_NET_GRH, roce_v1, sizeof(roce_v1)},
	};
	static const uint8_t payload[] = {1, 2, 3, 4, 5, 6, 7};
	uint8_t out[ERF_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pkt p = on_ethernet(rows[i].net);
		uint32_t wire;

		assert_int_equal(eth_record(&p, payload, UINT32_MAX, 0, out, &wire), rows[i].len);
		assert_int_equal(wire, rows[i].len);
		assert_memory_equal(out, rows[i].frame, rows[i].len);
		/* With 4 of 7 payload octets kept, the record lacks 3 octets and the ICRC. */
		p.kept = 4;
		assert_int_equal(eth_record(&p, payload, UINT32_MAX, 0, out, &wire),
				 rows[i].len - 4 - 1 - 3);
		assert_int_equal(wire, rows[i].len);
	}
}

/* In ERF, an Ethernet frame ends with its FCS, and two octets of padding precede it. */
static void test_a_record_of_a_frame(void **state)
{
	static const uint8_t payload[] = {1, 2, 3, 4, 5, 6, 7};
	struct pkt p = on_ethernet(PKT_NET_IP4);
	uint32_t wire, fcs = UINT32_MAX, len = sizeof(over_ip4);
	uint8_t out[ERF_MAX];

	assert_int_equal(erf_record(&p, payload, UINT32_MAX, 0, out, &wire), 16 + 2 + len + 4);
	assert_int_equal(wire, 16 + 2 + len + 4);
	assert_memory_equal(out + 8, "\x02\x04", 2); /* type Ethernet, varying length */
	assert_int_equal(be16_load(out + 10), wire);
	assert_int_equal(be16_load(out + 14), len + 4);
	assert_memory_equal(out + 18, over_ip4, len);
	/* The CRC of a frame with its FCS is a constant. */
	fcs = crc32_add(fcs, out + 18, len + 4);
	assert_int_equal(fcs, 0xdebb20e3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_specifications_example),
		cmocka_unit_test(test_what_switches_change),
		cmocka_unit_test(test_nine_digits),
		cmocka_unit_test(test_crcs_by_their_polynomials),
		cmocka_unit_test(test_headers_of_operations),
		cmocka_unit_test(test_a_record),
		cmocka_unit_test(test_the_largest),
		cmocka_unit_test(test_frames_of_roce),
		cmocka_unit_test(test_a_record_of_a_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
