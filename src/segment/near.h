/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CQEs and atomics in adopted memory (adopt.h), which this process has mapped. A copy by the kernel
 * can be revoked while its thread is stopped (gate.h); so can these stores: they are restartable
 * sequences (rseq(2)), which a thread that was interrupted begins anew, with another look at its
 * gate.
 */
#ifndef SOFTHCA_SEGMENT_NEAR_H
#define SOFTHCA_SEGMENT_NEAR_H

#include "segment/gate.h"

#define NEAR_BYTES 64

/* Finds libc's registration of threads for rseq(2). Called before the first near_store(). */
void near_init(void);
/* Can this thread store? False: the kernel must copy. */
bool near_ready(void);
/*
 * Copies NEAR_BYTES, by quadwords in ascending order, unless the gate is shut. 0; -ECANCELED: it
 * is, and the last quadword is not stored.
 */
int near_store(struct seg_gate *g, void *dst, const void *src);
/*
 * Compare-and-swap of 4 or 8 aligned bytes, unless the gate is shut: *old becomes the previous
 * value; `next` is stored if that equals the expected one. 0; -ECANCELED: nothing is stored.
 */
int near_swap(struct seg_gate *g, void *p, uint32_t size, uint64_t *old, uint64_t next);

#endif
