/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the entries of told.h. Called by the data path, also in a trap, and by the control plane,
 * after a failure; read by the supervisor and by watchers of the fabric.
 */
#include "hw/told.h"
#include "util/fmt.h"

#define HW_TOLD_WORD(id, word) [HW_TOLD_##id] = #word,
const char *const hw_told_words[HW_TOLD_COUNT] = {HW_TOLD_KINDS(HW_TOLD_WORD)};

/* FNV-1a, by words. */
uint64_t hw_told_key(const uint64_t *v, size_t n)
{
	uint64_t key = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < n; i++)
		key = (key ^ v[i]) * UINT64_C(0x100000001b3);
	return key;
}

uint64_t hw_told(const struct seg *s, uint32_t hca, enum hw_told_kind kind, uint64_t key)
{
	struct hw_tolds *t = hw_tolds(s, hca);

	if (!t)
		return 1;
	atomic_fetch_add_explicit(&t->n[kind], 1, memory_order_relaxed);
	for (unsigned int i = 0; i < HW_TOLDS; i++) {
		struct hw_told *e = &t->told[i];
		uint32_t state = atomic_load_explicit(&e->state, memory_order_acquire);

		if (state == HW_TOLD_FREE)
			return 0;
		if (state == HW_TOLD_READY && e->key == key && e->kind == kind)
			return atomic_fetch_add_explicit(&e->n, 1, memory_order_relaxed) + 1;
	}
	return 0;
}

void hw_tell(const struct seg *s, uint32_t hca, enum hw_told_kind kind, uint64_t key,
	     const char *text)
{
	struct hw_tolds *t = hw_tolds(s, hca);

	for (unsigned int i = 0; t && i < HW_TOLDS; i++) {
		struct hw_told *e = &t->told[i];
		uint32_t none = HW_TOLD_FREE;

		if (!atomic_compare_exchange_strong(&e->state, &none, HW_TOLD_WRITING))
			continue;
		e->kind = kind;
		e->key = key;
		fmt(e->text, sizeof(e->text), "%s", text);
		atomic_store_explicit(&e->n, 1, memory_order_relaxed);
		atomic_store_explicit(&e->state, HW_TOLD_READY, memory_order_release);
		return;
	}
}

void hw_tell_words(const struct seg *s, uint32_t hca, enum hw_told_kind kind, const char *text)
{
	uint64_t v[HW_TOLD_TEXT / 8] = {0}, key;

	fmt((char *)v, sizeof(v), "%s", text);
	key = hw_told_key(v, sizeof(v) / sizeof(v[0]));
	if (!hw_told(s, hca, kind, key))
		hw_tell(s, hca, kind, key, text);
}

const struct hw_told *hw_told_next(const struct hw_tolds *t, unsigned int *i)
{
	while (t && *i < HW_TOLDS) {
		const struct hw_told *e = &t->told[(*i)++];

		if (atomic_load_explicit(&e->state, memory_order_acquire) == HW_TOLD_READY)
			return e;
	}
	return NULL;
}

void hw_told_each(const struct seg *s, enum hw_told_kind kind,
		  void (*each)(void *ctx, const char *text), void *ctx)
{
	seg_for_each_live (s, SEG_T_HCA, i) {
		const struct hw_told *e;
		unsigned int at = 0;

		while ((e = hw_told_next(hw_tolds(s, i), &at)))
			if (e->kind == kind)
				each(ctx, e->text);
	}
}
