/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the process's heap of heap.h: blocks of powers of two, cut from arenas, with a free list per
 * size; each larger block is a mapping. Arenas are never freed. Calls sys.h only; uverbs and the
 * drivers call it.
 *
 * Built with the address sanitizer it is malloc(), so that the sanitizer sees every object.
 */
#include "util/heap.h"
#include "util/for_tests.h"
#include "util/sys.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define HEAP_IS_MALLOC 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEAP_IS_MALLOC 1
#endif
#endif
#ifndef HEAP_IS_MALLOC
#define HEAP_IS_MALLOC 0
#endif

#define HEAP_MIN 6   /* 64 bytes, header included */
#define HEAP_MAX 16  /* 64 KiB; beyond: a mapping */
#define HEAP_OWN 255 /* class of a mapping */
#define HEAP_ARENA ((size_t)1 << 20)
#define HEAP_LIMIT ((size_t)1 << 32) /* no block of ours is larger */
#define HEAP_PAGE ((size_t)4096)
#define HEAP_MAGIC 0x48454150u

struct block {
	uint64_t size; /* bytes of the whole block */
	uint32_t cls;  /* log2 of size, or HEAP_OWN */
	uint32_t magic;
};

struct free_block {
	struct block b;
	struct free_block *next;
};

static struct {
	pthread_mutex_t lock;
	struct free_block *free[HEAP_MAX + 1];
	char *at, *end; /* unused part of the newest arena; it is still all zero */
} heap = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Atomic int fail_at;

void heap_fail_at(int n)
{
	atomic_store(&fail_at, n);
}

static bool fails(void)
{
	int n = atomic_load_explicit(&fail_at, memory_order_relaxed);

	return __builtin_expect(n > 0, 0) && atomic_fetch_sub(&fail_at, 1) == 1;
}

static void *map(size_t len)
{
	void *p = sys_mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return sys_is_err(p) ? NULL : p;
}

static struct block *own_mapping(size_t size)
{
	struct block *b;

	size = (size + HEAP_PAGE - 1) & ~(HEAP_PAGE - 1);
	b = map(size);
	if (b)
		*b = (struct block){.size = size, .cls = HEAP_OWN};
	return b;
}

/*
 * Called with the lock held. If the rest of an arena is too small for this block, it is given up.
 */
static struct block *cut(uint32_t cls)
{
	size_t size = (size_t)1 << cls;
	struct block *b;

	if ((size_t)(heap.end - heap.at) < size) {
		char *arena = map(HEAP_ARENA);

		if (!arena)
			return NULL;
		heap.at = arena;
		heap.end = arena + HEAP_ARENA;
	}
	b = (struct block *)heap.at;
	heap.at += size;
	*b = (struct block){.size = size, .cls = cls};
	return b;
}

static struct block *from_class(uint32_t cls, size_t n)
{
	struct free_block *f;
	struct block *b;

	pthread_mutex_lock(&heap.lock);
	f = heap.free[cls];
	if (f)
		heap.free[cls] = f->next;
	b = f ? &f->b : cut(cls);
	pthread_mutex_unlock(&heap.lock);
	if (f)
		memset(b + 1, 0, n);
	return b;
}

void *heap_zalloc(size_t n)
{
	size_t size = n + sizeof(struct block);
	struct block *b;
	uint32_t cls;

	if (fails() || n > HEAP_LIMIT)
		return NULL;
	if (HEAP_IS_MALLOC)
		return calloc(1, n);
	cls = size <= (1u << HEAP_MIN) ? HEAP_MIN : 64 - (uint32_t)__builtin_clzl(size - 1);
	b = cls > HEAP_MAX ? own_mapping(size) : from_class(cls, n);
	if (!b)
		return NULL;
	b->magic = HEAP_MAGIC;
	return b + 1;
}

void heap_free(void *p)
{
	struct block *b = p;

	if (HEAP_IS_MALLOC) {
		free(p);
		return;
	}
	if (!b--)
		return;
	if (b->magic != HEAP_MAGIC)
		/* freed twice, or not from this heap: a bug that must end the program */
		__builtin_trap();
	b->magic = 0;
	if (b->cls == HEAP_OWN) {
		sys_munmap(b, b->size);
		return;
	}
	pthread_mutex_lock(&heap.lock);
	((struct free_block *)b)->next = heap.free[b->cls];
	heap.free[b->cls] = (struct free_block *)b;
	pthread_mutex_unlock(&heap.lock);
}

void *heap_grow(void *p, size_t old, size_t n)
{
	void *q = heap_zalloc(n);

	if (!p || !q)
		return q;
	memcpy(q, p, old < n ? old : n);
	heap_free(p);
	return q;
}

void heap_forked(void)
{
	pthread_mutex_init(&heap.lock, NULL);
}
