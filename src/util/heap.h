/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory for the preloaded library's data about a program: handles, objects, tables. It replaces
 * malloc(), because a program may call us from a signal handler that has interrupted malloc and its
 * lock. Raw system calls only; `errno` is not changed. Callers block asynchronous signals, as all
 * of uverbs and the drivers does; any number of threads may call.
 */
#ifndef SOFTHCA_UTIL_HEAP_H
#define SOFTHCA_UTIL_HEAP_H

#include <stddef.h>

/* `n` zeroed bytes, aligned to 16; NULL when there is no memory. */
void *heap_zalloc(size_t n);
/*
 * Memory of `n` bytes that begins with the first `old` bytes of `p` and continues with zeroes; `p`,
 * which may be NULL, is freed. NULL: no memory, `p` is unchanged.
 */
void *heap_grow(void *p, size_t old, size_t n);
/* `p` may be NULL. */
void heap_free(void *p);
/* Call first in a fork child: the lock's holder may not exist there. */
void heap_forked(void);

#endif
