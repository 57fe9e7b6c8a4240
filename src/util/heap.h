/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory for what the preloaded library keeps of a program's calls: handles, objects, tables. Not
 * malloc(): a program may call us from a signal handler that has interrupted malloc, with its lock
 * held. Raw system calls only; `errno` is not touched. Called with asynchronous signals blocked, as
 * everything in uverbs and the drivers is; any number of threads.
 */
#ifndef SOFTHCA_UTIL_HEAP_H
#define SOFTHCA_UTIL_HEAP_H

#include <stddef.h>

/* `n` zeroed bytes, aligned to 16; NULL when there is no memory. */
void *heap_zalloc(size_t n);
/*
 * Memory of `n` bytes that begins with the first `old` bytes of `p` and goes on with zeroes; `p` is
 * freed. NULL: no memory, `p` is as it was. `p` may be NULL.
 */
void *heap_grow(void *p, size_t old, size_t n);
/* NULL is fine. */
void heap_free(void *p);
/* In a fork child, before anything else: nobody holds the lock any more. */
void heap_forked(void);

/* For tests: n > 0: the n-th allocation from now on fails, once. */
void heap_fail_at(int n);

#endif
