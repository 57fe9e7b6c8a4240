/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kinds of hardware objects: everything known of a kind is in its row, which stands beside its
 * commands. Creation, references, limits, reaping and the status walk the rows.
 */
#ifndef SOFTHCA_FW_KINDS_H
#define SOFTHCA_FW_KINDS_H

#include "fw/caps.h"

#include <assert.h>
#include <stddef.h>

/* Common start of the elements; fw_find() also needs the uid. */
struct fw_elem {
	uint32_t gen, flags;
	uint32_t hca, uid;
};

/* The order in which kinds are reaped. */
enum fw_stage {
	FW_STAGE_QUEUE = 1, /* threads work on it under its locks, or it refers to such a kind */
	FW_STAGE_KEY,       /* threads use it without a lock: all keys are disabled first */
	FW_STAGE_REST,      /* other objects refer to it, threads do not use it */
	FW_STAGE_NEVER,     /* belongs to the device */
};

/* A field of an element, uint32_t, with an index in `table`; 0 and SEG_NONE: none. */
struct fw_refers {
	uint16_t at;
	uint16_t table;
};

#define FW_KIND_LOCKS 2
#define FW_KIND_REFERS 12

struct fw_kind {
	enum seg_table_id table;
	uint32_t size; /* of its struct */
	/* name in the status; NULL: part of another object, or owned by the device */
	const char *name;
	enum fw_stage stage;
	/* Offsets in the element; 0: it does not have that field. */
	uint16_t refs;                 /* its reference count, _Atomic uint32_t */
	uint16_t nth;                  /* its number among those of its process, uint32_t */
	uint16_t locks[FW_KIND_LOCKS]; /* seg_locks held by threads that work on it */
	/* limit of an HCA, as an offset in struct hw_caps; 0: the size of the table */
	uint16_t log_max;
	struct fw_refers refers[FW_KIND_REFERS];

	/* All of these may be NULL. */
	/* Add or drop references that `refers` does not list. */
	void (*refer)(struct seg *s, const void *e, int by);
	/* Do threads use it without one of its locks? */
	bool (*held)(struct seg *s, const void *e);
	/* Make it take no new work. */
	void (*stop)(void *e);
	/* Called for all elements before the first is freed: drop references to others. */
	void (*retire)(struct seg *s, uint32_t idx);
	/* Take it out of service and free it: see priv.h. NULL: fw_free(). */
	int (*free)(struct seg *s, uint32_t idx);
	/* May other files have a hw_share of it? NULL: no. */
	bool (*shared)(const void *e);
	/* Called when it now belongs to a file of the process in `slot`. */
	void (*adopt)(struct seg *s, uint32_t idx, uint32_t slot);
};

/*
 * The row of a kind, after the functions that it names: FW_KIND(QP, hw_qp, .name = "qp", ...).
 */
#define FW_KIND(id, type, ...)                                                     \
	static_assert(offsetof(struct type, hca) == offsetof(struct fw_elem, hca), \
		      #type " does not start like struct fw_elem");                \
	const struct fw_kind fw_kind_##id = {                                      \
		.table = SEG_T_##id, .size = sizeof(struct type), __VA_ARGS__}

/* Columns of a row. Each is an offset; it does not compile for a field of another type. */
#define FW_AT(ctype, type, field) \
	_Generic(&((struct type *)0)->field, ctype * : offsetof(struct type, field))
#define FW_REFS(type) FW_AT(_Atomic uint32_t, type, refs)
#define FW_NTH(type) FW_AT(uint32_t, type, nth)
#define FW_REF(type, field, to)                          \
	{                                                \
		FW_AT(uint32_t, type, field), SEG_T_##to \
	}
#define FW_LOCK(type, field) FW_AT(struct seg_lock, type, field)
#define FW_LOG_MAX(field) offsetof(struct hw_caps, field)

#define FW_KIND_IS_SOMEWHERE(id, type, capacity, first) extern const struct fw_kind fw_kind_##id;
HW_KINDS(FW_KIND_IS_SOMEWHERE)

/* In the order of their tables: a kind comes after those that it refers to. (kinds.c) */
extern const struct fw_kind *const fw_kinds[HW_KIND_COUNT];

/* In the order of reaping: backwards. */
#define fw_for_each_kind(k)                                                      \
	for (const struct fw_kind *const *k##_at = fw_kinds + HW_KIND_COUNT, *k; \
	     k##_at > fw_kinds && (k = *--k##_at, true);)

/* The row of a table; NULL: not a table of hardware objects. */
const struct fw_kind *fw_kind(enum seg_table_id t);

static inline struct fw_elem *fw_elem(struct seg *s, const struct fw_kind *k, uint32_t idx)
{
	return seg_at(s, k->table, idx);
}

/*
 * Is the element in use, apart from uses that free() waits for? ns 0: look once; else how long to
 * wait for each of its locks. (kinds.c)
 */
bool fw_held(struct seg *s, const struct fw_kind *k, uint32_t idx, uint64_t ns);

#endif
