/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the pool of engine stacks (stack.h). Lock-free; raw system calls; usable in a trap. */
#include "shim/doorbell/stack.h"
#include "util/sys.h"
#include "util/tls.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

#define GUARD_BYTES 4096
#define STACK_MAX 64 /* threads that are in the engine at the same time */

enum { BUSY_NOT, BUSY, BUSY_OPEN };

static struct {
	_Atomic uint32_t busy;   /* BUSY_* */
	_Atomic uint32_t opened; /* how often, so that a waiter tells one holder from the next */
	_Atomic(char *) base;
} __attribute__((aligned(64))) pool[STACK_MAX];

/* The stack that this thread used last: warm, and in its own cache line. */
static TLS_IE uint32_t last;
static _Atomic uint32_t spread; /* where a new thread starts to search */

/* The caller holds pool[n]. */
static char *stack_make(uint32_t n)
{
	char *p = sys_mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

	if (sys_is_err(p))
		return NULL;
	/* Without a guard page where a sandbox refuses it. */
	sys_raw(SYS_mprotect, (long)p, GUARD_BYTES, PROT_NONE, 0, 0, 0);
	atomic_store_explicit(&pool[n].base, p, memory_order_release);
	return p;
}

static char *stack_try(uint32_t n, bool make)
{
	char *p;

	if (!make && !atomic_load_explicit(&pool[n].base, memory_order_relaxed))
		return NULL;
	if (atomic_load_explicit(&pool[n].busy, memory_order_relaxed) ||
	    atomic_exchange_explicit(&pool[n].busy, BUSY, memory_order_acquire))
		return NULL;
	p = atomic_load_explicit(&pool[n].base, memory_order_acquire);
	if (!p)
		p = stack_make(n);
	if (!p) {
		stack_put(n);
		return NULL;
	}
	last = n + 1;
	return p + GUARD_BYTES + STACK_BYTES;
}

void *stack_get(uint32_t *n)
{
	uint32_t from = last ? last - 1 : atomic_fetch_add(&spread, 1) % STACK_MAX;
	bool any = true;
	char *top;

	*n = from;
	top = stack_try(from, last != 0);
	while (!top && any) {
		any = false;
		/* an existing stack, else a new one */
		for (uint32_t pass = 0; !top && pass < 2; pass++)
			for (uint32_t i = 0; !top && i < STACK_MAX; i++) {
				*n = (from + i) % STACK_MAX;
				top = stack_try(*n, pass == 1);
				any |= atomic_load_explicit(&pool[*n].base, memory_order_relaxed) !=
				       NULL;
			}
		if (!top)
			sys_raw(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	}
	return top;
}

void stack_put(uint32_t n)
{
	atomic_store_explicit(&pool[n].busy, BUSY_NOT, memory_order_release);
}

void stack_open(uint32_t n)
{
	uint32_t was = atomic_load_explicit(&pool[n].opened, memory_order_relaxed);

	atomic_store_explicit(&pool[n].opened, was + 1, memory_order_relaxed);
	atomic_exchange(&pool[n].busy, BUSY_OPEN);
}

void stack_wait_open(void)
{
	for (uint32_t i = 0, tries = 0; i < STACK_MAX; i++) {
		uint32_t was = atomic_load(&pool[i].opened);

		for (; atomic_load(&pool[i].busy) == BUSY_OPEN &&
		       atomic_load(&pool[i].opened) == was && tries < 20000;
		     tries++) {
			struct timespec ts = {0, 50000};

			sys_raw(SYS_nanosleep, (long)&ts, 0, 0, 0, 0, 0);
		}
	}
}

int stack_prepare(void)
{
	uint32_t n;

	if (!stack_get(&n))
		return -ENOMEM;
	stack_put(n);
	return 0;
}

void stack_forked(void)
{
	for (uint32_t i = 0; i < STACK_MAX; i++)
		stack_put(i);
}
