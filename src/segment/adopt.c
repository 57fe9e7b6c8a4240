/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the pool of adopted memory as other processes see it: finding bytes, and freeing the chunks
 * of processes that have ended. The engine calls it, also in traps; the supervisor sweeps.
 */
#include "segment/adopt.h"
#include "segment/adopt_priv.h"
#include "segment/proc.h"
#include "util/sys.h"

#ifndef FALLOC_FL_KEEP_SIZE
#define FALLOC_FL_KEEP_SIZE 1
#define FALLOC_FL_PUNCH_HOLE 2
#endif

uint8_t *adopt_find(const struct seg *s, const struct adopt_run *r, uint32_t gen, uint64_t va,
		    uint64_t len, uint64_t *part)
{
	uint64_t w = atomic_load_explicit(&r->word, memory_order_acquire), lo, hi;
	uint32_t first = (uint32_t)w >> 16;
	const struct seg_adopt *a = first ? seg_at(s, SEG_T_ADOPT, first) : NULL;

	*part = len;
	if (!a || w >> 32 != gen)
		return NULL;
	lo = a->va;
	hi = lo + (w & 0xffff) * ADOPT_PAGE;
	if (va >= hi || va + len <= lo)
		return NULL;
	if (va < lo) {
		*part = lo - va;
		return NULL;
	}
	if (len > hi - va)
		*part = hi - va;
	return (uint8_t *)seg_at(s, SEG_T_POOL, first) + (va - lo);
}

bool adopt_in_pool(const struct seg *s, uint64_t va, uint64_t len)
{
	uint64_t base = (uintptr_t)s->base + seg_table(s, SEG_T_POOL)->elems_off;

	return va < base + (ADOPT_CHUNKS + 1) * ADOPT_CHUNK && va + len > base;
}

uint32_t adopt_owner(const struct seg *s, uint64_t va)
{
	const struct seg_table_hdr *h = seg_table(s, SEG_T_POOL);
	uint64_t i = (va - (uintptr_t)s->base - h->elems_off) / h->elem_size;
	uint32_t owner = seg_owner(s, SEG_T_ADOPT, (uint32_t)i);

	return owner ? owner - 1 : SEG_NONE;
}

static bool adopt_older(uint64_t use, uint64_t epoch)
{
	return (use & SEG_RING_WHO) && !(use & SEG_RING_WAITS) && use >> SEG_RING_BITS < epoch;
}

struct seg_ring *adopt_user(struct seg *s, uint32_t slot, uint64_t epoch)
{
	struct seg_proc *p = seg_at(s, SEG_T_PROC, slot);
	uint32_t high = p ? atomic_load(&p->rings_high) : 0;

	for (uint32_t i = 0; i < high && i < SEG_RINGS; i++)
		if (adopt_older(atomic_load(&p->ring[i].use), epoch))
			return &p->ring[i];
	return NULL;
}

/* Has every thread left that began before `epoch`, the stopped ones, too? */
static bool quiet(struct seg *s, uint64_t epoch)
{
	if (adopt_user(s, 0, epoch))
		return false;
	/* A dead process's slot may remain, because others share its files. */
	seg_for_each_live (s, SEG_T_PROC, i)
		if (!who_dead(s, who_now(s, i)) && adopt_user(s, i, epoch))
			return false;
	return true;
}

uint64_t adopt_mark(struct seg *s)
{
	return atomic_fetch_add(&s->hdr->epoch, 1) + 1;
}

void adopt_chunk_drop(struct seg *s, uint32_t i)
{
	const struct seg_table_hdr *h = seg_table(s, SEG_T_POOL);

	sys_call(SYS_fallocate, s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		 h->elems_off + (uint64_t)i * h->elem_size, h->elem_size);
	seg_free(s, SEG_T_ADOPT, i);
}

/* The caller is the only one that frees chunks of this owner. */
bool adopt_chunk_free(struct seg *s, uint32_t i)
{
	struct seg_adopt *a = seg_at(s, SEG_T_ADOPT, i);

	if (!atomic_load(&a->ended)) {
		atomic_store(&a->epoch, adopt_mark(s));
		atomic_store(&a->ended, 1);
	}
	if (!quiet(s, atomic_load(&a->epoch)))
		return false;
	adopt_chunk_drop(s, i);
	return true;
}

static bool adopt_owner_ended(const struct seg *s, uint32_t i)
{
	const struct seg_adopt *a = seg_at(s, SEG_T_ADOPT, i);
	uint32_t owner = seg_owner(s, SEG_T_ADOPT, i), gen = atomic_load(&a->slot_gen);

	return owner && who_dead(s, gen ? who_slot(owner - 1, gen) : who_now(s, owner - 1));
}

bool adopt_sweep(struct seg *s)
{
	bool left = false;

	seg_for_each_live (s, SEG_T_ADOPT, i)
		if (adopt_owner_ended(s, i) && !adopt_chunk_free(s, i))
			left = true;
	return left;
}

uint64_t adopt_bytes(const struct seg *s, uint32_t slot)
{
	uint64_t n = 0;

	seg_for_each_owned (s, SEG_T_ADOPT, slot + 1, i)
		n += ADOPT_CHUNK;
	return n;
}
