/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* QPs attached to multicast groups. hw/flags.h says who may write which field. */
#ifndef SOFTHCA_HW_MCG_H
#define SOFTHCA_HW_MCG_H

#include "segment/seg.h"

struct hw_mcg { /* One QP in one group. */
	uint32_t gen, flags;
	uint32_t hca, uid;
	uint32_t qpn;
	uint32_t times; /* how often the QP was attached */
	uint8_t gid[16];
} SEG_ELEM;

#endif
