/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by adopt.c, adopt_own.c and adopt_calls.c. */
#ifndef SOFTHCA_SEGMENT_ADOPT_PRIV_H
#define SOFTHCA_SEGMENT_ADOPT_PRIV_H

#include "segment/adopt.h"

struct seg_ring;

/* A new epoch: threads that noted an older one may still use what was taken away before. */
uint64_t adopt_mark(struct seg *s);
/* An entry of the slot's process that noted an older epoch, or NULL. */
struct seg_ring *adopt_user(struct seg *s, uint32_t slot, uint64_t epoch);
/* Has every thread left that began before `epoch`, the stopped ones, too? */
bool adopt_quiet(struct seg *s, uint64_t epoch);
/* Frees a chunk that nobody uses. */
void adopt_chunk_drop(struct seg *s, uint32_t chunk);
/* True: the chunk is free. False: a thread may still copy to it; try again later. */
bool adopt_chunk_free(struct seg *s, uint32_t chunk);

/* ---- adopt_calls.c: pages that are being moved, and system calls that use them */

/* Pages [lo, hi) are about to be moved. False: a system call of the program uses them. */
bool adopt_window_open(uint64_t lo, uint64_t hi);
void adopt_window_close(void);
void adopt_calls_forked(void);

#endif
