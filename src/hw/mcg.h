/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* QPs attached to multicast groups. Who may write what: hw/flags.h. */
#ifndef SOFTHCA_HW_MCG_H
#define SOFTHCA_HW_MCG_H

#include "segment/seg.h"

struct hw_mcg { /* one QP in one group */
	uint32_t gen, flags;
	uint32_t hca, uid;
	uint32_t qpn;
	uint32_t times; /* attached so often */
	uint8_t gid[16];
} SEG_ELEM;

#endif
