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
	uint32_t head;  /* [fw] set in one attachment of each group of an HCA, to count groups */
	uint8_t gid[16];
} SEG_ELEM;

/*
 * For each attachment a number that follows from its group, side by side: a search for a group
 * reads 4 bytes of each attachment. A free attachment keeps its last one.
 */
#define HW_MCG_TAGS 16
struct hw_mcg_tags {
	_Atomic uint32_t tag[HW_MCG_TAGS];
} SEG_ELEM;

/* Lets searches find attachment `idx`; its gid is set. */
void hw_mcg_tag(struct seg *s, uint32_t idx);
/* The next live attachment to the group from `from` on, also one that is not ready; or SEG_NONE. */
uint32_t hw_mcg_next(const struct seg *s, const uint8_t *gid, uint32_t from);

#define hw_mcg_for_each(s, gid, i)                                   \
	for (uint32_t i = hw_mcg_next((s), (gid), 0); i != SEG_NONE; \
	     i = hw_mcg_next((s), (gid), i + 1))

#endif
