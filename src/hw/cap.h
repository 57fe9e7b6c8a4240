/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The capture: a ring of packets in the segment. Every process of the fabric puts in what leaves
 * its ports, `softhca pcap` takes out. Nobody waits: what does not fit is counted and left out.
 * While nobody captures it costs one branch (cap_on()).
 *
 * A slot's word `turn` counts its uses: 2n free for the n-th, 2n + 1 filled. So pages that nobody
 * wrote are free slots, a process killed while it fills one leaves it behind (the reader steps over
 * it after a while), and one that comes back late cannot take a later user's.
 */
#ifndef SOFTHCA_HW_CAP_H
#define SOFTHCA_HW_CAP_H

#include "segment/seg.h"
#include "wire/pkt/pkt.h"

#define CAP_SLOTS 16384u /* a power of two */

struct seg_cap {                        /* SEG_T_CAP, index 1 */
	_Atomic uint32_t reader;        /* its pid; 0 nobody */
	_Atomic uint32_t snap;          /* bytes of each packet's payload that are kept */
	_Atomic uint64_t lost;          /* packets that found no free slot */
	_Atomic uint64_t tail;          /* the next slot to be read */
	uint64_t stuck_at, stuck_since; /* the reader's: a slot that is not being filled */
	uint64_t pad[3];
	_Atomic uint64_t head; /* the next to be filled */
} SEG_ELEM;

struct seg_cap_rec { /* SEG_T_CAPREC, index 0 to CAP_SLOTS - 1; never claimed */
	_Atomic uint64_t turn;
	struct pkt pkt;
	uint8_t payload[PKT_MAX_PAYLOAD];
} SEG_ELEM;

static inline bool cap_on(const struct seg *s)
{
	return __builtin_expect(atomic_load_explicit(&s->hdr->capture, memory_order_relaxed) != 0,
				0);
}

/* Writers. A free slot, or NULL (counted); it must be given to cap_put(), with its turn. */
struct seg_cap_rec *cap_get(const struct seg *s, uint64_t *turn);
void cap_put(struct seg_cap_rec *rec, uint64_t turn);
/* Bytes of a payload that are kept. */
uint32_t cap_snap(const struct seg *s, uint32_t len);

/* The reader: one at a time. -EBUSY: there is one, alive. What was left in the ring is dropped. */
int cap_start(struct seg *s, uint32_t snap);
/* No more packets come in; those in the ring can still be read. */
void cap_stop(struct seg *s);
/* The reader goes. */
void cap_finish(struct seg *s);
/* The oldest packet, or NULL: none now. Valid until cap_next(). */
const struct seg_cap_rec *cap_first(struct seg *s);
void cap_next(struct seg *s);
/* Packets lost since the last call. */
uint64_t cap_lost(struct seg *s);

#endif
