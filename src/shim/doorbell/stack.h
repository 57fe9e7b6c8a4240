/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engine's stacks: 64 KiB each, and room above for the vector registers of a patched doorbell
 * (patch.S), with a guard page below. Each trap takes one stack from a pool and returns it at its
 * end, so an exiting thread leaves nothing behind, and there are only as many stacks as threads
 * have ever rung at the same time.
 */
#ifndef SOFTHCA_SHIM_DOORBELL_STACK_H
#define SOFTHCA_SHIM_DOORBELL_STACK_H

#include <stdint.h>

#define STACK_XSAVE_BYTES (4 * 1024)
#define STACK_BYTES (64 * 1024 + STACK_XSAVE_BYTES)

/* Control path: make the first stack, so that a trap need not. 0 or -ENOMEM. */
int stack_prepare(void);
/*
 * Returns the top of a free stack and its number for stack_put(). Waits while all are in use; NULL
 * only when none could be made. Asynchronous signals are blocked in between.
 */
void *stack_get(uint32_t *n);
void stack_put(uint32_t n);
/*
 * Says that the holder does not block all signals: see stack_wait_open(). Ordered before the
 * caller's next reads.
 */
void stack_open(uint32_t n);
/*
 * Waits, at most a second, until every stack that was marked open before is free. Must not be
 * called from the engine.
 */
void stack_wait_open(void);
void stack_forked(void); /* in the child: only one thread is left, and it holds no stack */
void stack_call(void *arg, void (*fn)(void *arg), void *top);

#endif
