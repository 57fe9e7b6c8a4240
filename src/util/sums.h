/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Check values of data blocks. Each function continues from `sum`, the value of the bytes before.
 * The caller sets the start value and inverts the result, because users of the same sum differ. See
 * wire/pkt/crc.h for CRC-32.
 */
#ifndef SOFTHCA_UTIL_SUMS_H
#define SOFTHCA_UTIL_SUMS_H

#include <stddef.h>
#include <stdint.h>

/* T10 SBC-3: polynomial 0x8bb7, most significant bit first, starts with 0, not inverted.
 */
uint16_t sum_t10dif(uint16_t sum, const uint8_t *p, size_t n);
/* RFC 3720 B.4: starts with all ones and is inverted at the end. */
uint32_t sum_crc32c(uint32_t sum, const uint8_t *p, size_t n);
/* XP10, as the 64-bit guard of NVMe: starts with all ones and is inverted at the end. */
uint64_t sum_crc64(uint64_t sum, const uint8_t *p, size_t n);
/* RFC 1071: the folded sum of 16-bit words, not inverted; `p` starts at a word. */
uint16_t sum_ip(uint16_t sum, const uint8_t *p, size_t n);

#endif
