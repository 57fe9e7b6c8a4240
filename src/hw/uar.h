/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Doorbell pages. Who may write what: hw/flags.h. */
#ifndef SOFTHCA_HW_UAR_H
#define SOFTHCA_HW_UAR_H

#include "segment/seg.h"

/* VAR: doorbells of virtual queues. No queue of this HCA rings there. */
enum hw_uar_type { HW_UAR_BF = 0, HW_UAR_NC = 1, HW_UAR_VAR = 2 };

struct hw_uar {
	uint32_t gen, flags;
	uint32_t hca, uid;
	uint32_t type;         /* enum hw_uar_type: op_mod of ALLOC_UAR */
	_Atomic uint32_t refs; /* QPs, CQs, EQs that ring there */
} SEG_ELEM;

static inline struct hw_uar *hw_uar(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_UAR, i);
}

#endif
