/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The capture: a ring of packets in the segment. Each process of the fabric adds the packets that
 * leave its ports; `softhca pcap` takes them out. Nobody waits: a packet that does not fit is
 * counted and left out. Without a capture it costs one branch (cap_on()).
 *
 * The word `turn` of a slot counts its uses: 2n means free for the n-th packet, 2n + 1 filled.
 * Pages never written are therefore free slots. The reader skips a slot whose writer was killed,
 * after a while; a writer that comes back late cannot overwrite a later packet.
 */
#ifndef SOFTHCA_HW_CAP_H
#define SOFTHCA_HW_CAP_H

#include "segment/seg.h"
#include "wire/pkt/pkt.h"

#define CAP_SLOTS 16384u /* a power of two */

struct seg_cap {                 /* SEG_T_CAP, index 1 */
	_Atomic uint32_t reader; /* pid of the reader; 0: none */
	_Atomic uint32_t snap;   /* bytes of each packet's payload that are kept */
	_Atomic uint64_t lost;   /* packets left out because no slot was free */
	_Atomic uint64_t tail;   /* the next slot to be read */
	/* used by the reader: a slot that stays unfilled, and since when */
	uint64_t stuck_at, stuck_since;
	uint64_t pad[3];
	_Atomic uint64_t head; /* the next slot to be filled */
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

/*
 * For writers: a free slot, or NULL (counted as lost). The caller gives it to cap_put() with its
 * turn.
 */
struct seg_cap_rec *cap_get(const struct seg *s, uint64_t *turn);
void cap_put(struct seg_cap_rec *rec, uint64_t turn);
/* A rule of --inject fires now: its text stands among the packets. */
void cap_rule(const struct seg *s, const char *text);
/* The number of payload bytes that are kept. */
uint32_t cap_snap(const struct seg *s, uint32_t len);

/* There is one reader at a time. -EBUSY: a living one exists. Drops what is left in the ring. */
int cap_start(struct seg *s, uint32_t snap);
/* Stop the writers; packets in the ring can still be read. */
void cap_stop(struct seg *s);
/* End the reader's part. */
void cap_finish(struct seg *s);
/*
 * The oldest packet, valid until cap_next(). NULL: there is none, or it is still being written, for
 * a second at most; then it counts as lost.
 */
const struct seg_cap_rec *cap_first(struct seg *s);
void cap_next(struct seg *s);
/* False: cap_first() will return more, or count it as lost. */
bool cap_empty(const struct seg *s);
/* Packets lost since the last call. */
uint64_t cap_lost(struct seg *s);

#endif
