/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which process is meant, and what has become of it. A word of the segment names a process by its
 * memory slot and as many low bits of the slot's generation as the word has room for (`gens`).
 * Every question about its death or stop is asked here.
 */
#ifndef SOFTHCA_SEGMENT_WHO_H
#define SOFTHCA_SEGMENT_WHO_H

#include "segment/seg.h"

#define WHO_SLOT_BITS 14 /* SEG_T_PROC has no more elements */
/* Bits of a word with `gens` bits of the generation. */
#define WHO_BITS(gens) (WHO_SLOT_BITS + (gens))
/* The slot of a word that names no process: it neither dies nor stops. */
#define WHO_NOBODY (SEG_NONE - 1)

struct who {
	uint32_t slot;
	uint32_t gen, known; /* the slot's generation in the bits `known` */
};

/* 0: no process, as for SEG_NONE. */
static inline uint64_t who_word(uint32_t slot, uint32_t gen, unsigned int gens)
{
	uint64_t known = (UINT64_C(1) << gens) - 1;

	return slot == SEG_NONE ? 0 : (gen & known) << WHO_SLOT_BITS | slot;
}

/* This process's word. */
static inline uint64_t who_me(const struct seg *s, unsigned int gens)
{
	return who_word(s->self, s->self_gen, gens);
}

static inline struct who who_of(uint64_t word, unsigned int gens)
{
	uint32_t slot = (uint32_t)word & ((1u << WHO_SLOT_BITS) - 1);

	return (struct who){slot ? slot : WHO_NOBODY, (uint32_t)(word >> WHO_SLOT_BITS),
			    (uint32_t)((UINT64_C(1) << gens) - 1)};
}

static inline struct who who_slot(uint32_t slot, uint32_t gen)
{
	return (struct who){slot, gen, UINT32_MAX};
}

/* The process that has the slot now. */
struct who who_now(const struct seg *s, uint32_t slot);

/* Has its end been noted: is its slot marked, free, or another process's? No system call. */
bool who_dead(const struct seg *s, struct who w);
/*
 * Is it gone for good: exited, killed or replaced by exec? Checks the slot and, in the same PID
 * namespace, the process itself, so it works when the supervisor is slow or dead. If true, no
 * thread of the process is left in a system call that copies. Makes system calls, as those below:
 * not for a hot path.
 */
bool who_gone(struct seg *s, struct who w);
/*
 * Is it certainly stopped (SIGSTOP, a debugger)? False when that is unknown (another PID namespace,
 * a hidden /proc, a frozen container): callers take locks away from a stopped holder, which a
 * running one would not survive, and wait a limited time for others.
 */
bool who_stopped(struct seg *s, struct who w);
/* Is it seen, and may some thread of it run? */
bool who_runs(struct seg *s, struct who w);

enum who_look {
	WHO_RUNS,    /* some thread may run, or the threads cannot be seen */
	WHO_STOPPED, /* each is stopped by a signal or a tracer, outside of system calls */
	WHO_GONE,    /* who_gone() */
};
/*
 * What can its threads still do? *ran (of WHO_STOPPED): if two looks return the same value, no
 * thread has run between them. About ten system calls.
 */
enum who_look who_look(struct seg *s, struct who w, uint64_t *ran);

#endif
