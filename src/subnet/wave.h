/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shortest paths to 64 switches at a time. Shared by sm_loop.c, sm_route.c and sm_wave.c only. */
#ifndef SOFTHCA_SUBNET_WAVE_H
#define SOFTHCA_SUBNET_WAVE_H

#include "subnet/sweep.h"

#define WAVE_BITS 64u /* see sweep_waves() */

struct wave_entry {
	uint64_t set;
	uint16_t sw;
};

/* Bit k stands for the switch base + k, to which paths lead. */
struct wave {
	uint64_t *own;   /* [cables] the storage of `leads` */
	uint64_t *leads; /* [cables] a shortest path from the cable's switch begins with it */
	uint64_t *taken; /* [cables] ... and is part of one from a switch that starts paths */
	uint64_t *front, *next, *seen, *used; /* [nsw] scratch */
	struct wave_entry *log; /* switches by distance, with the bits that have that distance */
	uint32_t nlog;
};

bool wave_init(const struct sweep *w, struct wave *v);
void wave_finish(struct wave *v);
/*
 * Finds `leads` for the switches from `base` on. dist (may be NULL): each switch's distances to
 * those in `count` are added to it.
 */
void wave_run(const struct sweep *w, struct wave *v, uint32_t base, uint64_t count, uint32_t *dist);
/* After wave_run(): finds `taken`, for paths to the switches in `to`. */
void wave_take(const struct sweep *w, struct wave *v, uint64_t to,
	       bool (*starts)(const struct sweep *w, uint32_t sw));

/*
 * Divides the switches in set[0] by which of n cables lead to them: set[] (with room for WAVE_BITS)
 * then has those with the same cables together. Returns the number of sets.
 */
uint32_t wave_divide(const uint64_t *leads, uint32_t n, uint64_t *set);

/*
 * Finds `leads` of all waves and keeps them if the sweep has room, lays the tree of multicast
 * groups, and decides whether paths must go up and then down a tree, because shortest paths could
 * deadlock (sweep.updn). 0 or -ENOMEM.
 */
int sweep_choose(struct sweep *w, struct wave *v);

#endif
