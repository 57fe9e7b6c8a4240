/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CRCs of packets: start with all ones, and are inverted at the end. Called by pkt.c. */
#ifndef SOFTHCA_WIRE_PKT_CRC_H
#define SOFTHCA_WIRE_PKT_CRC_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32_add(uint32_t crc, const uint8_t *p, size_t n);
uint16_t crc16_add(uint16_t crc, const uint8_t *p, size_t n);

#endif
