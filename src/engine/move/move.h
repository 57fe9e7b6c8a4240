/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Moves and computes data: through a gate (copy.c), through signatures (sig_copy.c), by atomics,
 * and inside of an adapter (mmo.c).
 */
#ifndef SOFTHCA_ENGINE_MOVE_H
#define SOFTHCA_ENGINE_MOVE_H

#include "engine/cq/cq.h"

/*
 * sgl_copy() through this thread's gate: also -ECANCELED when the keys may have become void
 * (gate.h); the caller then returns ENG_AGAIN. After -EFAULT the list whose memory it was has
 * `fault` set, and r->copied says how much was copied.
 */
int sgl_copy_gated(struct eng_run *r, struct eng_sgl *dst, struct eng_sgl *src);
/* mmo.c: copy memory of this queue's protection domain. */
enum eng_out mmo_execute(struct eng_run *r);
/*
 * Read the operands in r->wqe to r->atomic. Returns the offset of the data segments; 0: malformed.
 */
uint32_t atomic_parse(struct eng_run *r);
/*
 * Execute an atomic on r->remote, with the answer in r->was. 0 or a mem_* error of the remote side;
 * or r->why.
 */
int atomic_perform(struct eng_run *r);
/*
 * The part of sgl_copy_gated() that copies by way of a buffer: lists with signature keys, and other
 * lists to find out which of the two has faulted (eng_sgl.fault).
 */
int sig_copy(struct eng_run *r, struct eng_sgl *dst, struct eng_sgl *src);

#endif
