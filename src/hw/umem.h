/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ranges of a process's memory that the device may use. Who may write what: hw/flags.h. */
#ifndef SOFTHCA_HW_UMEM_H
#define SOFTHCA_HW_UMEM_H

#include "segment/mem.h"
#include "segment/seg.h"

/* A range of a process's memory that the device may use for queues, records or, through an mkey,
 * data. */
struct hw_umem {
	uint32_t gen, flags;
	uint32_t hca, uid;
	struct mem_slot mem;
	uint64_t va, len;
	_Atomic uint32_t refs;
} SEG_ELEM;

static inline struct hw_umem *hw_umem(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_UMEM, i);
}

#endif
