/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns claiming, freeing and finding elements. Lock-free: any process may call any function at any
 * time, also in a trap, and may be killed at any instruction.
 *
 * Three counts beside the owner words only guide searches: `high`, `live` and the blocks' `used`.
 * They are raised before a claim and lowered after a free, so that a process that is killed in
 * between leaves them too high, never too low: a search may look in vain, but never misses an
 * element.
 */
#include "segment/table.h"
#include "segment/who.h"
#include "util/bits.h"

#include <errno.h>
#include <string.h>

#define WINDOW_MIN 512u
/*
 * Others remember the numbers of these: the CM a peer's QPN in time-wait (cm_insert_remote_qpn()),
 * and a stopped process the last 8 bits of the generation.
 */
#define WINDOW_REMEMBERED 16384u

static _Atomic uint32_t *used_word(const struct seg *s, enum seg_table_id t, uint32_t idx)
{
	return (_Atomic uint32_t *)((uintptr_t)s->base + seg_table(s, t)->used_off +
				    sizeof(uint32_t) * (uint64_t)(idx / SEG_BLOCK));
}

static uint32_t window_min(enum seg_table_id t)
{
	return t == SEG_T_QP || t == SEG_T_CQ || t == SEG_T_SRQ ? WINDOW_REMEMBERED : WINDOW_MIN;
}

static uint32_t claiming_word(const struct seg *s)
{
	return SEG_CLAIMING | (uint32_t)who_me(s, SEG_CLAIM_GENS);
}

/* Has the process that was claiming an element died? The claim of one without a slot stays. */
static bool claim_is_stale(struct seg *s, uint32_t word)
{
	return who_gone(s, who_of(word & ~SEG_CLAIMING, SEG_CLAIM_GENS));
}

static void count_up(struct seg *s, enum seg_table_id t, uint32_t idx)
{
	atomic_fetch_add(used_word(s, t, idx), 1);
	atomic_fetch_add(&seg_table(s, t)->live, 1);
}

static void count_down(struct seg *s, enum seg_table_id t, uint32_t idx)
{
	atomic_fetch_sub(used_word(s, t, idx), 1);
	atomic_fetch_sub(&seg_table(s, t)->live, 1);
}

/*
 * Changes the word from `old` (free, or a dead claimer's) to `owner`. False: another process was
 * faster.
 */
static bool table_claim(struct seg *s, enum seg_table_id t, uint32_t idx, uint32_t old,
			uint32_t owner)
{
	struct seg_table_hdr *h = seg_table(s, t);
	uint32_t high = atomic_load_explicit(&h->high, memory_order_relaxed);
	uint8_t *elem = seg_at(s, t, idx);
	uint32_t gen;

	while (high <= idx && !atomic_compare_exchange_weak(&h->high, &high, idx + 1))
		;
	count_up(s, t, idx);
	if (!atomic_compare_exchange_strong(seg_owner_word(s, t, idx), &old, claiming_word(s))) {
		count_down(s, t, idx);
		return false;
	}
	if (old != SEG_OWNER_FREE) /* the dead claimer had counted the element */
		count_down(s, t, idx);
	memcpy(&gen, elem, sizeof(gen));
	if (!gen) /* its page was given back, or is new */
		gen = atomic_load(&h->gen);
	memset(elem, 0, h->elem_size);
	gen += gen == UINT32_MAX ? 2 : 1;
	memcpy(elem, &gen, sizeof(gen));
	atomic_store_explicit(seg_owner_word(s, t, idx), owner, memory_order_release);
	return true;
}

/* Claim any free element in [from, to). With `trust`, skip blocks that are counted as full. */
static uint32_t claim_between(struct seg *s, enum seg_table_id t, uint32_t owner, uint32_t from,
			      uint32_t to, bool trust)
{
	for (uint32_t i = from; i < to;) {
		uint32_t end = i - i % SEG_BLOCK + SEG_BLOCK;

		if (end > to)
			end = to;
		if (trust &&
		    atomic_load_explicit(used_word(s, t, i), memory_order_relaxed) >= SEG_BLOCK) {
			i = end;
			continue;
		}
		for (; i < end; i++) {
			uint32_t w =
				atomic_load_explicit(seg_owner_word(s, t, i), memory_order_relaxed);

			if (w != SEG_OWNER_FREE && !(seg_is_claiming(w) && claim_is_stale(s, w)))
				continue;
			if (table_claim(s, t, i, w, owner))
				return i;
		}
	}
	return SEG_NONE;
}

/* The n-th place in a table whose ids are sparse: the same ones in each fabric. */
static uint32_t sparse_place(const struct seg_table_hdr *h, uint32_t n)
{
	return h->first + (uint32_t)(bits_mix((uint64_t)n + 1) % (h->capacity - h->first));
}

static int alloc_sparse(struct seg *s, enum seg_table_id t, uint32_t owner, uint32_t *idx)
{
	struct seg_table_hdr *h = seg_table(s, t);
	uint32_t at = sparse_place(h, atomic_fetch_add(&h->hint, 1));

	*idx = claim_between(s, t, owner, at, h->capacity, true);
	if (*idx == SEG_NONE)
		*idx = claim_between(s, t, owner, h->first, h->capacity, false);
	return *idx == SEG_NONE ? -ENOSPC : 0;
}

int seg_alloc(struct seg *s, enum seg_table_id t, uint32_t owner, uint32_t *idx)
{
	struct seg_table_hdr *h = seg_table(s, t);
	uint64_t window = 4 * (uint64_t)atomic_load_explicit(&h->live, memory_order_relaxed);
	uint32_t start = atomic_load_explicit(&h->hint, memory_order_relaxed);
	uint32_t end, i;

	if (h->sparse)
		return alloc_sparse(s, t, owner, idx);
	if (window < window_min(t))
		window = window_min(t);
	window += h->first;
	end = window < h->capacity ? (uint32_t)window : h->capacity;
	if (start < h->first || start >= end)
		start = h->first;
	i = claim_between(s, t, owner, start, end, true);
	if (i == SEG_NONE)
		i = claim_between(s, t, owner, h->first, start, true);
	if (i == SEG_NONE)
		i = claim_between(s, t, owner, end, h->capacity, true);
	if (i == SEG_NONE)
		i = claim_between(s, t, owner, h->first, h->capacity, false);
	if (i == SEG_NONE)
		return -ENOSPC;
	atomic_store_explicit(&h->hint, i + 1, memory_order_relaxed);
	*idx = i;
	return 0;
}

int seg_alloc_begin(struct seg *s, enum seg_table_id t, uint32_t *idx)
{
	return seg_alloc(s, t, claiming_word(s), idx);
}

void seg_alloc_end(struct seg *s, enum seg_table_id t, uint32_t owner, uint32_t idx)
{
	atomic_store_explicit(seg_owner_word(s, t, idx), owner, memory_order_release);
}

int seg_alloc_at(struct seg *s, enum seg_table_id t, uint32_t owner, uint32_t idx)
{
	uint32_t w;

	if (!idx || !seg_at(s, t, idx))
		return -EINVAL;
	w = atomic_load(seg_owner_word(s, t, idx));
	if (w != SEG_OWNER_FREE && !(seg_is_claiming(w) && claim_is_stale(s, w)))
		return -EBUSY;
	return table_claim(s, t, idx, w, owner) ? 0 : -EBUSY;
}

void seg_free_of(struct seg *s, enum seg_table_id t, uint32_t owner, uint32_t idx)
{
	if (!atomic_compare_exchange_strong(seg_owner_word(s, t, idx), &owner, SEG_OWNER_FREE))
		return; /* freed by another process */
	count_down(s, t, idx);
}

void seg_free(struct seg *s, enum seg_table_id t, uint32_t idx)
{
	uint32_t w = seg_owner(s, t, idx);

	if (w != SEG_OWNER_FREE)
		seg_free_of(s, t, w, idx);
}

uint32_t seg_next(const struct seg *s, enum seg_table_id t, uint32_t owner, uint32_t from)
{
	uint32_t high = atomic_load_explicit(&seg_table(s, t)->high, memory_order_acquire);
	uint32_t base = seg_table(s, t)->base;

	for (uint32_t i = from < base ? base : from; i < high;) {
		uint32_t end = i - i % SEG_BLOCK + SEG_BLOCK;

		if (end > high)
			end = high;
		if (!atomic_load_explicit(used_word(s, t, i), memory_order_relaxed)) {
			i = end;
			continue;
		}
		for (; i < end; i++) {
			uint32_t w =
				atomic_load_explicit(seg_owner_word(s, t, i), memory_order_acquire);

			if (w == owner ||
			    (owner == SEG_OWNER_ANY && w != SEG_OWNER_FREE && !seg_is_claiming(w)))
				return i;
		}
	}
	return SEG_NONE;
}
