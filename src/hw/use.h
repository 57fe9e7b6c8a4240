/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts of what programs have done with an adapter since the fabric was made: `softhca status -j`
 * and the summary of `softhca run`. None is written on the data path: doorbells are counted by the
 * ringing thread in its own seg_ring.
 */
#ifndef SOFTHCA_HW_USE_H
#define SOFTHCA_HW_USE_H

#include "segment/seg.h"

#define HW_USE_STATUSES 0x60  /* PRM_STATUS_* are below */
#define HW_USE_SYNDROMES 0x40 /* CQE_SYND_* are below */

struct hw_use { /* SEG_T_USE, with the index of its SEG_T_HCA; never claimed */
	_Atomic uint64_t commands;
	_Atomic uint32_t made[HW_KIND_COUNT];      /* objects that commands made, by kind */
	_Atomic uint32_t refused[HW_USE_STATUSES]; /* commands, by their status */
	_Atomic uint32_t calls_refused;            /* calls of verbs that came to no command */
	_Atomic uint32_t cqs_failed;               /* CQs that came into the error state */
	_Atomic uint32_t errors[HW_USE_SYNDROMES]; /* CQEs, by their syndrome */
} SEG_ELEM;

static inline struct hw_use *hw_use(const struct seg *s, uint32_t hca)
{
	return seg_at(s, SEG_T_USE, hca);
}

/* A CQE with this syndrome has been written for a queue of the adapter. */
static inline void hw_use_error(const struct seg *s, uint32_t hca, uint8_t syndrome)
{
	struct hw_use *u = hw_use(s, hca);

	if (u && syndrome < HW_USE_SYNDROMES)
		atomic_fetch_add_explicit(&u->errors[syndrome], 1, memory_order_relaxed);
}

#endif
