/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns stores of CQEs to adopted memory, which the engine calls under a CQ's lock, and the swaps of
 * atomics there; near.S makes them. libc registers each thread for rseq(2) (glibc 2.35 and later).
 */
#include "segment/near.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

/* The beginning of struct rseq in linux/rseq.h. */
struct near_thread {
	uint32_t cpu_id_start;
	_Atomic int32_t cpu_id; /* negative: not registered */
	uint64_t rseq_cs;
};

#if defined(__x86_64__)

/* Of libc's struct rseq in each thread, from the thread pointer; 0: there is none. */
static _Atomic ptrdiff_t offset;

int near_copy(void *rseq_cs, const void *gate, void *dst, const void *src);
int near_swap4(void *rseq_cs, const void *gate, void *p, uint64_t *old, uint64_t next);
int near_swap8(void *rseq_cs, const void *gate, void *p, uint64_t *old, uint64_t next);

/* Looked up, because an older libc has no such symbols. */
void near_init(void)
{
	const ptrdiff_t *at = dlsym(RTLD_DEFAULT, "__rseq_offset");
	const unsigned int *size = dlsym(RTLD_DEFAULT, "__rseq_size");

	atomic_store(&offset, at && size && *size ? *at : 0);
}

static struct near_thread *thread(void)
{
	ptrdiff_t at = atomic_load_explicit(&offset, memory_order_relaxed);
	char *self;

	__asm__("movq %%fs:0, %0" : "=r"(self));
	return at ? (void *)(self + at) : NULL;
}

bool near_ready(void)
{
	const struct near_thread *t = thread();

	return t && atomic_load_explicit(&t->cpu_id, memory_order_relaxed) >= 0;
}

int near_store(struct seg_gate *g, void *dst, const void *src)
{
	/* What the thread copied before no longer keeps the gate open. */
	if (!gate_pass(g, 0))
		return -ECANCELED;
	return near_copy(&thread()->rseq_cs, &g->v[0].iov_len, dst, src) ? -ECANCELED : 0;
}

int near_swap(struct seg_gate *g, void *p, uint32_t size, uint64_t *old, uint64_t next)
{
	void *cs = &thread()->rseq_cs;

	if (!gate_pass(g, 0) ||
	    (size == 8 ? near_swap8 : near_swap4)(cs, &g->v[0].iov_len, p, old, next))
		return -ECANCELED;
	return 0;
}

#else

void near_init(void)
{
}

bool near_ready(void)
{
	return false;
}

int near_store(struct seg_gate *g, void *dst, const void *src)
{
	return -ECANCELED;
}

int near_swap(struct seg_gate *g, void *p, uint32_t size, uint64_t *old, uint64_t next)
{
	return -ECANCELED;
}

#endif
