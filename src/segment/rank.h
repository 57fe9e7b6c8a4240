/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The order of the segment's locks, checked in builds with the address sanitizer or with points: a
 * thread waits only for a lock whose row comes after those of all locks that it holds. It may try
 * (seg_trylock()) any. doc/internals/segment-and-locks.md has the reasons. Tests take locks in the
 * place of other threads, with a time-out of 0: these are not looked at.
 */
#ifndef SOFTHCA_SEGMENT_RANK_H
#define SOFTHCA_SEGMENT_RANK_H

#include "segment/lock.h"
#include "util/bug.h"

/* A lock in the elements of a table. */
struct seg_lock_row {
	enum seg_table_id table;
	uint32_t at;
	const char *name;
};
extern const struct seg_lock_row
	seg_lock_rows[]; /* in their order, up to a name NULL (hw/tables.c) */

#ifdef BUG_CHECKS
/* Called before the lock is waited for: ends the process if a lock is held that comes later. */
void rank_waits(struct seg *s, const struct seg_lock *l);
/* It was taken, or not (`rc` negative). Returns `rc`. */
int rank_took(struct seg *s, const struct seg_lock *l, const uint16_t *turn, int rc);
void rank_drops(const struct seg_lock *l);
#else
#define rank_waits(s, l) ((void)0)
#define rank_took(s, l, turn, rc) (rc)
#define rank_drops(l) ((void)0)
#endif

#endif
