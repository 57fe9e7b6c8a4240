/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* P_Keys (IBA 10.9): 15 bits name a partition, the highest one makes its owner a full member. */
#ifndef SOFTHCA_WIRE_IB_PKEY_H
#define SOFTHCA_WIRE_IB_PKEY_H

#include <stdbool.h>
#include <stdint.h>

enum { IB_PKEY_BASE = 0x7fff, IB_PKEY_FULL = 0x8000 };

/* A P_Key whose base is zero is no member of any partition. */
static inline bool ib_pkey_valid(uint32_t a)
{
	return a & IB_PKEY_BASE;
}

static inline bool ib_pkey_base_same(uint32_t a, uint32_t b)
{
	return !((a ^ b) & IB_PKEY_BASE);
}

static inline bool ib_pkey_same(uint32_t a, uint32_t b)
{
	return ib_pkey_valid(a) && ib_pkey_base_same(a, b);
}

/* May a packet with P_Key `a` be received with `b`? Two limited members may not talk (10.9.3). */
static inline bool ib_pkey_match(uint32_t a, uint32_t b)
{
	return ib_pkey_same(a, b) && ((a | b) & IB_PKEY_FULL);
}

#endif
