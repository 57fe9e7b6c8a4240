/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * On-demand paging: memory of such keys need not be there until a message comes to it. The kernel
 * makes it present when it is copied; this file does that before the copy, only to count the pages
 * that were absent. Called by mkey.c and atomic.c, for no other keys.
 *
 * The counter is the kernel's mr->odp_stats.faults (mlx5 odp.c, pagefault_single_data_segment()).
 * There pages that are present when the key is made cause no fault either (mlx5_ib_init_odp_mr()).
 */
#include "engine/keys/keys.h"
#include "hw/mkey.h"
#include "util/sys.h"

#include <sys/resource.h>

#define STACK 2048 /* more than mem_touch() needs */

int odp_add(struct eng_sgl *l, const struct hw_mkey *mk, struct mem_slot mem, uint64_t va,
	    uint64_t len)
{
	uint32_t n = l->n;
	int rc = sgl_add(l, mem, va, len);

	if (rc || l->n == n)
		return rc;
	l->odp |= UINT64_C(1) << n;
	l->odp_key[n] = mk->key;
	return 0;
}

/* This thread's page faults; those of a copy by the kernel in any process are among them. */
static uint64_t faults_now(void)
{
	struct rusage u = {0};

	sys_call(SYS_getrusage, RUSAGE_THREAD, &u);
	return (uint64_t)u.ru_minflt + (uint64_t)u.ru_majflt;
}

/*
 * Our own pages that a read comes to shall not count: those of the stack, and code and segment by a
 * read of nothing.
 */
static __attribute__((noinline)) void warm_up(struct seg *s, struct mem_slot mem)
{
	_Atomic uint32_t *warm = &s->odp_warm[mem_is_self(s, mem)];
	uint8_t stack[STACK];

	*(volatile uint8_t *)stack = 0;
	if (atomic_load_explicit(warm, memory_order_relaxed) == mem.slot + 1)
		return;
	mem_touch(s, mem, 0, 0);
	faults_now();
	atomic_store_explicit(warm, mem.slot + 1, memory_order_relaxed);
}

/*
 * Makes [va, va + len) of a process's memory present. No gate guards it: what is read is thrown
 * away, so it may be read after the key has become void.
 */
static void page_in(struct seg *s, uint32_t key, struct mem_slot mem, uint64_t va, uint64_t len)
{
	struct hw_mkey *mk;
	uint64_t before, n;

	warm_up(s, mem);
	before = faults_now();
	mem_touch(s, mem, va, len);
	n = faults_now() - before;
	mk = n ? hw_mkey(s, key) : NULL;
	/* This thread may have been stopped meanwhile: its key may be gone, and another there. */
	if (!mk || !atomic_load_explicit(&mk->valid, memory_order_acquire) || mk->key != key)
		return;
	atomic_fetch_add_explicit(&mk->faults, n, memory_order_relaxed);
	TRACE(LOG_MEM, "key 0x%x: %lu page faults at 0x%lx, %lu bytes", key, (unsigned long)n,
	      (unsigned long)va, (unsigned long)len);
}

/* An entry that is looked up piece by piece. The copy finds out what is wrong with a piece. */
static void page_in_pieces(struct seg *s, const struct hw_mkey *list, uint64_t addr, uint64_t len)
{
	while (len) {
		const struct hw_mkey *mk = list;
		uint64_t at = addr, part = len;

		if (xlt_leaf(s, &mk, &at, &part, ENG_ANY_QP, 0))
			return;
		if (mk && mk->odp)
			page_in(s, mk->key, mk->mem, mk->va + (at - mk->start), part);
		addr += part;
		len -= part;
	}
}

void odp_page_in(struct seg *s, const struct eng_sgl *l, uint64_t len)
{
	for (uint32_t i = 0; i < l->n && len; i++) {
		uint64_t n = l->v[i].len < len ? l->v[i].len : len;
		const struct hw_mkey *mk = l->odp >> i & 1 ? hw_mkey(s, l->odp_key[i]) : NULL;

		len -= n;
		if (mk && mk->odp)
			page_in(s, l->odp_key[i], l->mem[i], l->v[i].va, n);
		else if (mk)
			page_in_pieces(s, mk, l->v[i].va, n);
	}
}
