/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Doorbell pages. hw/flags.h says who may write which field. */
#ifndef SOFTHCA_HW_UAR_H
#define SOFTHCA_HW_UAR_H

#include "segment/seg.h"

/* VAR: a page of doorbells of virtual queues, which no queue of this HCA uses. */
enum hw_uar_type { HW_UAR_BF = 0, HW_UAR_NC = 1, HW_UAR_VAR = 2 };

struct hw_uar {
	uint32_t gen, flags;
	uint32_t hca, uid;
	uint32_t type;         /* enum hw_uar_type: op_mod of ALLOC_UAR */
	_Atomic uint32_t refs; /* QPs, CQs and EQs that use this page */
} SEG_ELEM;

static inline struct hw_uar *hw_uar(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_UAR, i);
}

#endif
