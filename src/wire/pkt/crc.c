/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The two CRCs of packets (IBA 7.8), eight bytes at a time: table k has the effect of a byte that
 * is followed by k more bytes. CRCs are linear, so each table is made from the effects of the eight
 * bits.
 */
#include "wire/pkt/crc.h"
#include "util/crc_table.h"

/* 0x04c11db7, bits reversed */
static const uint32_t table32[8][256] = {
	{CRC_ROWS(0x77073096, 0xee0e612c, 0x076dc419, 0x0edb8832, 0x1db71064, 0x3b6e20c8,
		  0x76dc4190, 0xedb88320)},
	{CRC_ROWS(0x191b3141, 0x32366282, 0x646cc504, 0xc8d98a08, 0x4ac21251, 0x958424a2,
		  0xf0794f05, 0x3b83984b)},
	{CRC_ROWS(0x01c26a37, 0x0384d46e, 0x0709a8dc, 0x0e1351b8, 0x1c26a370, 0x384d46e0,
		  0x709a8dc0, 0xe1351b80)},
	{CRC_ROWS(0xb8bc6765, 0xaa09c88b, 0x8f629757, 0xc5b428ef, 0x5019579f, 0xa032af3e,
		  0x9b14583d, 0xed59b63b)},
	{CRC_ROWS(0x3d6029b0, 0x7ac05360, 0xf580a6c0, 0x30704bc1, 0x60e09782, 0xc1c12f04,
		  0x58f35849, 0xb1e6b092)},
	{CRC_ROWS(0xcb5cd3a5, 0x4dc8a10b, 0x9b914216, 0xec53826d, 0x03d6029b, 0x07ac0536,
		  0x0f580a6c, 0x1eb014d8)},
	{CRC_ROWS(0xa6770bb4, 0x979f1129, 0xf44f2413, 0x33ef4e67, 0x67de9cce, 0xcfbd399c,
		  0x440b7579, 0x8816eaf2)},
	{CRC_ROWS(0xccaa009e, 0x4225077d, 0x844a0efa, 0xd3e51bb5, 0x7cbb312b, 0xf9766256,
		  0x299dc2ed, 0x533b85da)},
};

/* 0x100b, bits reversed */
static const uint16_t table16[8][256] = {
	{CRC_ROWS(0x1ba1, 0x3742, 0x6e84, 0xdd08, 0x1a01, 0x3402, 0x6804, 0xd008)},
	{CRC_ROWS(0xffb0, 0x5f71, 0xbee2, 0xddd5, 0x1bbb, 0x3776, 0x6eec, 0xddd8)},
	{CRC_ROWS(0xfef4, 0x5df9, 0xbbf2, 0xd7f5, 0x0ffb, 0x1ff6, 0x3fec, 0x7fd8)},
	{CRC_ROWS(0xf875, 0x50fb, 0xa1f6, 0xe3fd, 0x67eb, 0xcfd6, 0x3fbd, 0x7f7a)},
	{CRC_ROWS(0x33da, 0x67b4, 0xcf68, 0x3ec1, 0x7d82, 0xfb04, 0x5619, 0xac32)},
	{CRC_ROWS(0x4874, 0x90e8, 0x81c1, 0xa393, 0xe737, 0x6e7f, 0xdcfe, 0x19ed)},
	{CRC_ROWS(0x28cb, 0x5196, 0xa32c, 0xe649, 0x6c83, 0xd906, 0x121d, 0x243a)},
	{CRC_ROWS(0x49cf, 0x939e, 0x872d, 0xae4b, 0xfc87, 0x591f, 0xb23e, 0xc46d)},
};

uint32_t crc32_add(uint32_t crc, const uint8_t *p, size_t n)
{
	for (; n >= 8; n -= 8, p += 8) {
		crc ^= (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
		       (uint32_t)p[3] << 24;
		crc = table32[7][crc & 0xff] ^ table32[6][crc >> 8 & 0xff] ^
		      table32[5][crc >> 16 & 0xff] ^ table32[4][crc >> 24] ^ table32[3][p[4]] ^
		      table32[2][p[5]] ^ table32[1][p[6]] ^ table32[0][p[7]];
	}
	for (; n; n--, p++)
		crc = crc >> 8 ^ table32[0][(crc ^ *p) & 0xff];
	return crc;
}

uint16_t crc16_add(uint16_t crc, const uint8_t *p, size_t n)
{
	for (; n >= 8; n -= 8, p += 8) {
		uint8_t a = (uint8_t)(crc ^ p[0]), b = (uint8_t)(crc >> 8 ^ p[1]);

		crc = table16[7][a] ^ table16[6][b] ^ table16[5][p[2]] ^ table16[4][p[3]] ^
		      table16[3][p[4]] ^ table16[2][p[5]] ^ table16[1][p[6]] ^ table16[0][p[7]];
	}
	for (; n; n--, p++)
		crc = (uint16_t)(crc >> 8 ^ table16[0][(crc ^ *p) & 0xff]);
	return crc;
}
