/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the search for the attachments of a multicast group. Called by the firmware, and for each
 * datagram to a group by the engine.
 */
#include "hw/mcg.h"

#include <string.h>

/* FNV-1a; never 0, as a place is before its first use. */
static uint32_t tag_of(const uint8_t *gid)
{
	uint32_t v = 2166136261u;

	for (int i = 0; i < 16; i++)
		v = (v ^ gid[i]) * 16777619u;
	return v | 1;
}

static _Atomic uint32_t *tag_at(const struct seg *s, uint32_t idx)
{
	struct hw_mcg_tags *t = seg_at(s, SEG_T_MCGTAG, idx / HW_MCG_TAGS);

	return &t->tag[idx % HW_MCG_TAGS];
}

void hw_mcg_tag(struct seg *s, uint32_t idx)
{
	const struct hw_mcg *m = seg_at(s, SEG_T_MCG, idx);

	atomic_store_explicit(tag_at(s, idx), tag_of(m->gid), memory_order_release);
}

uint32_t hw_mcg_next(const struct seg *s, const uint8_t *gid, uint32_t from)
{
	uint32_t high = atomic_load_explicit(&seg_table(s, SEG_T_MCG)->high, memory_order_acquire);
	uint32_t tag = tag_of(gid);

	for (uint32_t i = from; i < high; i++) {
		const struct hw_mcg *m;

		if (atomic_load_explicit(tag_at(s, i), memory_order_acquire) != tag)
			continue;
		m = seg_live(s, SEG_T_MCG, i);
		if (m && !memcmp(m->gid, gid, sizeof(m->gid)))
			return i;
	}
	return SEG_NONE;
}
