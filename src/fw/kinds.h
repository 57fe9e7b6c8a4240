/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kinds of hardware objects: all that is known of one is its row of fw_kinds[]. Creation,
 * references, limits, reaping and the status go over the rows.
 */
#ifndef SOFTHCA_FW_KINDS_H
#define SOFTHCA_FW_KINDS_H

#include "fw/caps.h"
#include "segment/hw.h"

/* Each element starts like this; fw_find() also needs the uid. */
struct fw_elem {
	uint32_t gen, flags;
	uint32_t hca, uid;
};

/* A field of an element, uint32_t, that names an element of `table`; 0 and SEG_NONE: none. */
struct fw_refers {
	uint16_t at;
	uint16_t table;
};

#define FW_KIND_REFERS 12

struct fw_kind {
	enum seg_table_id table;
	/* Offsets in the element; 0: it has none. */
	uint16_t refs;    /* count of references to it, _Atomic uint32_t */
	uint16_t log_max; /* in struct fw_caps: how many an HCA can have; 0: what the table holds */
	struct fw_refers refers[FW_KIND_REFERS];
	/* References that `refers` does not list, added or dropped; NULL. */
	void (*refer)(struct seg *s, const void *e, int by);
};

/* In the order of reaping: a kind stands before those that it refers to. */
extern const struct fw_kind fw_kinds[HW_KIND_COUNT];

#define fw_for_each_kind(k) \
	for (const struct fw_kind *k = fw_kinds; k < fw_kinds + HW_KIND_COUNT; k++)

/* NULL: no table of hardware objects. */
const struct fw_kind *fw_kind(enum seg_table_id t);

static inline struct fw_elem *fw_elem(struct seg *s, const struct fw_kind *k, uint32_t idx)
{
	return seg_at(s, k->table, idx);
}

#endif
