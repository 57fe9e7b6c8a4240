/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns what this thread knows of its locks, in builds that check their order. Called by lock.c
 * alone. An entry whose lock is no longer held at its turn was taken over.
 */
#include "segment/rank.h"

#ifdef BUG_CHECKS
#include "util/tls.h"

#include <stdio.h>
#include <stdlib.h>

#define HELD 16

static TLS_IE struct {
	const struct seg_lock *lock;
	uint16_t turn;
} held[HELD];

static const struct seg_lock_row *row_of(const struct seg *s, const struct seg_lock *l)
{
	const struct seg_lock_row *r;

	for (r = seg_lock_rows; r->name; r++) {
		const struct seg_table_hdr *h = seg_table(s, r->table);
		uint64_t off = (uintptr_t)l - (uintptr_t)s->base - h->elems_off - r->at;

		if (off % h->elem_size == 0 && off / h->elem_size < h->capacity)
			return r;
	}
	return NULL; /* a test's own */
}

void rank_waits(struct seg *s, const struct seg_lock *l)
{
	const struct seg_lock_row *to = row_of(s, l), *r;

	for (uint32_t i = 0; to && i < HELD; i++) {
		if (!held[i].lock)
			continue;
		r = row_of(s, held[i].lock);
		if (!r || !seg_lock_has_turn(s, held[i].lock, held[i].turn)) {
			held[i].lock = NULL;
		} else if (r >= to) {
			fprintf(stderr, "waits for %s with %s locked: not their order\n", to->name,
				r->name);
			abort();
		}
	}
}

int rank_took(struct seg *s, const struct seg_lock *l, const uint16_t *turn, int rc)
{
	for (uint32_t i = 0; rc >= 0 && i < HELD; i++)
		if (!held[i].lock || held[i].lock == l ||
		    !seg_lock_has_turn(s, held[i].lock, held[i].turn)) {
			held[i].lock = l;
			held[i].turn = *turn;
			return rc;
		}
	return rc;
}

void rank_drops(const struct seg_lock *l)
{
	for (uint32_t i = 0; i < HELD; i++)
		if (held[i].lock == l)
			held[i].lock = NULL;
}
#endif
