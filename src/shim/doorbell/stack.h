/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engine's stacks: 64 KiB each, and room above for the vector registers of a patched doorbell
 * (patch.S), with a guard page below. A pool, one stack taken per trap and
 * given back at its end, so there is nothing to clean up when a thread exits and there are only as
 * many as threads have ever rung at the same instant.
 */
#ifndef SOFTHCA_SHIM_DOORBELL_STACK_H
#define SOFTHCA_SHIM_DOORBELL_STACK_H

#include <stdint.h>

#define STACK_XSAVE_BYTES (4 * 1024)
#define STACK_BYTES (64 * 1024 + STACK_XSAVE_BYTES)

/* Control path: make the first one, so that a trap need not. 0 or -ENOMEM. */
int stack_prepare(void);
/* The top of a free stack and its number for stack_put(). Waits while all are in use. NULL only
 * when none could ever be made. Asynchronous signals are blocked in between. */
void *stack_get(uint32_t *n);
void stack_put(uint32_t n);
/* The holder lets signals through: see stack_wait_open(). Ordered before what the caller reads
 * next. */
void stack_open(uint32_t n);
/* Until no stack is in use that was opened before; a second at most. Not from the engine. */
void stack_wait_open(void);
void stack_forked(void); /* in the child: only its one thread is left, and it holds none */
void stack_call(void *arg, void (*fn)(void *arg), void *top);

#endif
