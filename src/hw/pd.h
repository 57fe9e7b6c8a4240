/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Protection domains. hw/flags.h says who may write which field. */
#ifndef SOFTHCA_HW_PD_H
#define SOFTHCA_HW_PD_H

#include "segment/seg.h"

struct hw_pd {
	uint32_t gen, flags;
	uint32_t hca;
	uint32_t uid;
	_Atomic uint32_t
		/* QPs, SRQs and mkeys of this PD; DEALLOC_PD answers BAD_RES_STATE while > 0 */
		refs;
} SEG_ELEM;

static inline struct hw_pd *hw_pd(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_PD, i);
}

#endif
