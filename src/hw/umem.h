/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory ranges of processes that the device may use. hw/flags.h says who may write which field. */
#ifndef SOFTHCA_HW_UMEM_H
#define SOFTHCA_HW_UMEM_H

#include "segment/adopt.h"
#include "segment/mem.h"
#include "segment/seg.h"

enum {
	HW_UMEM_QUEUE = 1,   /* memory of a queue of verbs, whose pages may be adopted */
	HW_UMEM_ADOPTED = 2, /* its pages are adopted, or were, or soon will be */
};

/*
 * A memory range of a process that the device may use for queues, doorbell records or, by an mkey,
 * data.
 */
struct hw_umem {
	uint32_t gen, flags;
	uint32_t hca, uid;
	struct mem_slot mem;
	uint64_t va, len;
	_Atomic uint32_t refs;
	_Atomic uint32_t queue; /* HW_UMEM_*; 0: other memory, or it is being destroyed */
	struct adopt_run run;
} SEG_ELEM;

_Static_assert(sizeof(struct hw_umem) == 64, "a QP with its umem stays under a KiB");

static inline struct hw_umem *hw_umem(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_UMEM, i);
}

#endif
