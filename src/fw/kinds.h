/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kinds of hardware objects: all that is known of one is its row of fw_kinds[]. Creation,
 * references, limits, reaping and the status go over the rows.
 */
#ifndef SOFTHCA_FW_KINDS_H
#define SOFTHCA_FW_KINDS_H

#include "fw/caps.h"

/* Each element starts like this; fw_find() also needs the uid. */
struct fw_elem {
	uint32_t gen, flags;
	uint32_t hca, uid;
};

/* How an element is reaped. */
enum fw_stage {
	FW_STAGE_QUEUE = 1, /* threads work on it under its locks, or it refers to such a one */
	FW_STAGE_KEY,       /* threads use it without a lock: all keys are disabled first */
	FW_STAGE_REST,      /* is only referred to */
	FW_STAGE_NEVER,     /* belongs to the device */
};

/* A field of an element, uint32_t, that names an element of `table`; 0 and SEG_NONE: none. */
struct fw_refers {
	uint16_t at;
	uint16_t table;
};

#define FW_KIND_LOCKS 2
#define FW_KIND_REFERS 12

struct fw_kind {
	enum seg_table_id table;
	const char *name; /* in the status; NULL: part of another object, or the device's */
	enum fw_stage stage;
	/* Offsets in the element; 0: it has none. */
	uint16_t refs;                 /* count of references to it, _Atomic uint32_t */
	uint16_t locks[FW_KIND_LOCKS]; /* seg_locks of threads that work on it */
	uint16_t log_max; /* in struct fw_caps: how many an HCA can have; 0: what the table holds */
	struct fw_refers refers[FW_KIND_REFERS];

	/* All of these may be NULL. */
	/* References that `refers` does not list, added or dropped. */
	void (*refer)(struct seg *s, const void *e, int by);
	/* Do threads work on it that hold none of its locks? */
	bool (*held)(struct seg *s, const void *e);
	/* Take no new work. */
	void (*stop)(void *e);
	/* Of all elements, before the first is freed: drop the references to others. */
	void (*retire)(struct seg *s, uint32_t idx);
	/* Out of service, and free: see priv.h. NULL: fw_free(). */
	int (*free)(struct seg *s, uint32_t idx);
	/* May other files have a hw_share of it? NULL: never. */
	bool (*shared)(const void *e);
	/* It belongs to the file of the process in `slot` now. */
	void (*adopt)(struct seg *s, uint32_t idx, uint32_t slot);
};

/* In the order of reaping: a kind stands before those that it refers to. (kinds.c) */
extern const struct fw_kind fw_kinds[HW_KIND_COUNT];

#define fw_for_each_kind(k) \
	for (const struct fw_kind *k = fw_kinds; k < fw_kinds + HW_KIND_COUNT; k++)

/* NULL: no table of hardware objects. */
const struct fw_kind *fw_kind(enum seg_table_id t);

static inline struct fw_elem *fw_elem(struct seg *s, const struct fw_kind *k, uint32_t idx)
{
	return seg_at(s, k->table, idx);
}

/*
 * Do threads work on it? What free() waits for is not held then. ns 0: only a look; else how long
 * to wait for each of its locks. (kinds.c)
 */
bool fw_held(struct seg *s, const struct fw_kind *k, uint32_t idx, uint64_t ns);

#endif
