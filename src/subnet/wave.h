/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shortest paths to 64 switches at a time. Used by sm_route.c only. */
#ifndef SOFTHCA_SUBNET_WAVE_H
#define SOFTHCA_SUBNET_WAVE_H

#include "subnet/sweep.h"

#define WAVE_BITS 64u
#define WAVE_KEPT 16u /* waves whose `leads` stay until all of them are used */

struct wave_entry {
	uint64_t set;
	uint16_t sw;
};

/* Bit k stands for the switch base + k, to which paths lead. */
struct wave {
	uint64_t *all;   /* [WAVE_KEPT][cables] the storage of `leads` */
	uint64_t *leads; /* [cables] a shortest path from the cable's switch begins with it */
	uint64_t *taken; /* [cables] ... and is part of one from a switch that starts paths */
	uint64_t *front, *next, *seen, *used; /* [nsw] scratch */
	struct wave_entry *log; /* switches by distance, with the bits that have that distance */
	uint32_t nlog;
};

bool wave_init(const struct sweep *w, struct wave *v);
void wave_finish(struct wave *v);
/* Where the `leads` of the k-th kept wave are. */
static inline uint64_t *wave_kept(const struct sweep *w, const struct wave *v, uint32_t k)
{
	return v->all + (size_t)k * w->first[w->nsw];
}
/*
 * Finds `leads` for the switches from `base` on. dist (may be NULL): each switch's distances to
 * those in `count` are added to it.
 */
void wave_run(const struct sweep *w, struct wave *v, uint32_t base, uint64_t count, uint32_t *dist);
/* Then finds `taken`, of paths to the switches in `to`. */
void wave_take(const struct sweep *w, struct wave *v, uint64_t to,
	       bool (*starts)(const struct sweep *w, uint32_t sw));

#endif
