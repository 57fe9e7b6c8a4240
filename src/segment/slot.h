/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A process's requests to the supervisor in shared memory: an eventfd announces one, a futex its
 * answer. Less than half of the socket's cost, for those that a program makes in numbers. One at a
 * time (link.busy); the supervisor copies what it reads.
 */
#ifndef SOFTHCA_SEGMENT_SLOT_H
#define SOFTHCA_SEGMENT_SLOT_H

#include "segment/suplink.h"

#define SLOT_CHANGES 64
#define SLOT_NUMBER 0x7fffffffu
#define SLOT_HEARD 0x80000000u  /* in `asked`: the supervisor has taken the request */
#define SLOT_SLEEPS 0x80000000u /* in `answered`: the process sleeps in the kernel */

struct seg_slot {                  /* SEG_T_SLOT: same index as its process; never claimed */
	_Atomic uint32_t asked;    /* number of the last request; the process writes it */
	_Atomic uint32_t answered; /* futex word: of the last answer; the supervisor writes it */
	struct link_msg in, out;
	_Atomic uint32_t changes[SLOT_CHANGES]; /* counters of changes of rdma_cm's ids, by
						 * id % SLOT_CHANGES; the supervisor writes */
	uint8_t in_more[LINK_MORE], out_more[LINK_MORE];
} SEG_ELEM;

/* The identity of an eventfd: a later one with the same number has another. 0: unknown. */
uint64_t slot_bell_id(int bell);
enum { SLOT_NO_BELL = 1 }; /* result: the eventfd is gone, nothing was sent */
/*
 * Does what link_ask_more() does, but rings the eventfd that LINK_BELL has given. The same results,
 * or SLOT_NO_BELL. `l` is locked.
 */
int slot_ask(const struct link *l, struct link_msg *m, const void *out, void *in, size_t *room);

/* ---- the supervisor's side */
/*
 * Takes the next request and returns its number; its process cannot take it back any more. Returns
 * `last` if there is none.
 */
uint32_t slot_hear(struct seg_slot *t, uint32_t last);
/* Stores the number of the answered request. True: the process sleeps and must be woken. */
bool slot_answer(struct seg_slot *t, uint32_t number);

#endif
