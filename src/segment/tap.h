/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A trace of the whole fabric (`softhca trace --fabric NAME`): what it wants stands in the
 * segment's head (struct seg_tap), and each process that finds it there writes its lines into the
 * FIFO `trace` of the fabric's directory. Processes look when they call the device, and when their
 * device thread is woken; the data path does not look.
 */
#ifndef SOFTHCA_SEGMENT_TAP_H
#define SOFTHCA_SEGMENT_TAP_H

#include "segment/seg.h"

#define TAP_FIFO "trace" /* in the fabric's directory; who reads it has it flock()ed */

void tap_take(struct seg *s);

/* Begin to write such a trace, or end, if its reader wants that. Any thread, any context. */
static inline void tap_look(struct seg *s)
{
	if (__builtin_expect(atomic_load_explicit(&s->hdr->tap.turn, memory_order_relaxed) !=
				     atomic_load_explicit(&s->tap_seen, memory_order_relaxed),
			     0))
		tap_take(s);
}

/*
 * For the reader: ask all processes for these topics (log_live()), or for nothing any more.
 * -ENAMETOOLONG: the words have no room.
 */
int tap_begin(struct seg *s, const char *topics, const char *options);
void tap_end(struct seg *s);

#endif
