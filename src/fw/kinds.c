/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the list of kinds, and the functions that only walk their rows: references between objects,
 * shares, whether threads use an object. Called by the command handlers and by reaping, with the
 * HCA's lock held.
 */
#include "fw/kinds.h"

#include <stddef.h>
#include "fw/priv.h"
#include "hw/share.h"

#define ROW(id, type, capacity, first) &fw_kind_##id,
const struct fw_kind *const fw_kinds[HW_KIND_COUNT] = {HW_KINDS(ROW)};

const struct fw_kind *fw_kind(enum seg_table_id t)
{
	return t >= HW_KIND_FIRST && t < SEG_T_COUNT ? fw_kinds[t - HW_KIND_FIRST] : NULL;
}

/* ---- references ---- */

static void *field(const void *e, uint16_t at)
{
	return (uint8_t *)(uintptr_t)e + at;
}

void fw_ref(_Atomic uint32_t *refs, int by)
{
	uint32_t old = atomic_load_explicit(refs, memory_order_relaxed);

	do {
		if (by < 0 && old == 0)
			return;
	} while (!atomic_compare_exchange_weak(refs, &old, old + (uint32_t)by));
}

_Atomic uint32_t *fw_refs_of(struct seg *s, enum seg_table_id t, uint32_t idx)
{
	const struct fw_kind *k = fw_kind(t);
	void *e = k && k->refs ? seg_live(s, t, idx) : NULL;

	return e ? field(e, k->refs) : NULL;
}

void fw_refer_at(struct seg *s, enum seg_table_id t, uint32_t idx, int by)
{
	_Atomic uint32_t *refs = fw_refs_of(s, t, idx);

	if (refs)
		fw_ref(refs, by);
}

void fw_refer(struct seg *s, enum seg_table_id t, const void *e, int by)
{
	const struct fw_kind *k = fw_kind(t);

	if (!k)
		return;
	for (const struct fw_refers *r = k->refers; r < k->refers + FW_KIND_REFERS && r->at; r++)
		fw_refer_at(s, (enum seg_table_id)r->table, *(const uint32_t *)field(e, r->at), by);
	if (k->refer)
		k->refer(s, e, by);
}

void fw_recount(struct seg *s, uint32_t hca)
{
	TRACE(LOG_FW, "hca %u: its lock's owner died, counting references again", hca);
	fw_limits_recount(s, hca);
	fw_memic_recount(s, hca);
	fw_for_each_kind (k) {
		if (!k->refs)
			continue;
		seg_for_each_live (s, k->table, i) {
			const struct fw_elem *e = fw_elem(s, k, i);

			if (e->hca == hca)
				atomic_store_explicit((_Atomic uint32_t *)field(e, k->refs), 0,
						      memory_order_relaxed);
		}
	}
	fw_for_each_kind (k) {
		if (!k->refers[0].at && !k->refer)
			continue;
		seg_for_each_live (s, k->table, i) {
			const struct fw_elem *e = fw_elem(s, k, i);

			if (e->hca == hca && fw_ready(&e->flags))
				fw_refer(s, k->table, e, 1);
		}
	}
}

/* ---- objects in use ---- */

/*
 * Is the lock free? ns 0: look once; else wait, which also detects a dead holder not yet marked as
 * dead.
 */
static bool lock_is_free(struct seg *s, struct seg_lock *l, uint64_t ns)
{
	uint16_t turn;
	int r = ns ? seg_lock_turn(s, l, ns, &turn) : seg_trylock_turn(s, l, &turn);

	if (r < 0)
		return false;
	seg_unlock_turn(s, l, turn);
	return true;
}

bool fw_held(struct seg *s, const struct fw_kind *k, uint32_t idx, uint64_t ns)
{
	const struct fw_elem *e = fw_elem(s, k, idx);

	for (size_t i = 0; i < FW_KIND_LOCKS && k->locks[i]; i++)
		if (!lock_is_free(s, field(e, k->locks[i]), ns))
			return true;
	return k->held && !ns && k->held(s, e);
}

/* ---- shares ---- */

bool fw_share_pass_on(struct seg *s, enum seg_table_id t, uint32_t idx, uint32_t owner,
		      uint32_t leaving)
{
	const struct fw_kind *k = fw_kind(t);

	if (!k || !k->shared || !k->shared(fw_elem(s, k, idx)))
		return false;
	seg_for_each_live (s, SEG_T_SHARE, i) {
		const struct hw_share *sh = seg_at(s, SEG_T_SHARE, i);
		uint32_t heir = seg_owner(s, SEG_T_SHARE, i), old = owner;

		if (i == leaving || sh->table != (uint32_t)t || sh->idx != idx ||
		    !fw_ready(&sh->flags) || heir == SEG_OWNER_FREE)
			continue;
		if (atomic_compare_exchange_strong(seg_owner_word(s, t, idx), &old, heir) &&
		    k->adopt)
			k->adopt(s, idx, sh->slot);
		return true;
	}
	return false;
}
