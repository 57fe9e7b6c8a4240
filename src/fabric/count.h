/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A port's counters, which the performance management agent, sysfs and the firmware's counters of a
 * virtual port return. The thread that causes an event counts it by single atomic additions, so a
 * process that is killed leaves no half-counted event.
 */
#ifndef SOFTHCA_FABRIC_COUNT_H
#define SOFTHCA_FABRIC_COUNT_H

#include "hw/port.h"
#include "hw/fab.h"

static inline struct fab_ctr *fab_ctr(const struct seg *s, uint32_t port)
{
	return seg_at(s, SEG_T_CTR, port);
}

static inline void fab_count(const struct seg *s, uint32_t port, enum hw_ctr what, uint64_t n)
{
	struct fab_ctr *c = fab_ctr(s, port);

	if (c)
		atomic_fetch_add_explicit(&c->n[what], n, memory_order_relaxed);
}

uint64_t fab_counted(const struct seg *s, uint32_t port, enum hw_ctr what);
/*
 * The same for key violations, which have 16 bits in PortInfo and virtual ports: the counter stops
 * at its highest value.
 */
static inline uint16_t fab_violations(const struct seg *s, uint32_t port, enum hw_ctr what)
{
	uint64_t n = fab_counted(s, port, what);

	return n < UINT16_MAX ? (uint16_t)n : UINT16_MAX;
}
/* Call before two ports get a cable, and before they lose it. */
void fab_count_plug(const struct seg *s, uint32_t a, uint32_t b);
void fab_count_unplug(const struct seg *s, uint32_t a, uint32_t b);

/*
 * Octets between the delimiters of a packet, without VCRC, in units of four (IBA, PortXmitData): a
 * MAD is LRH, BTH, DETH, 256 octets and ICRC.
 */
#define FAB_MAD_WORDS ((8u + 12u + 8u + 256u + 4u) / 4u)
#define FAB_MAD_GRH_WORDS (FAB_MAD_WORDS + 40u / 4u)

/* Counts one MAD on one cable. Passed to fab_walk() as its fab_hop; `arg` is unused. */
void fab_count_mad(struct seg *s, uint32_t out, uint32_t in, void *arg);

#endif
