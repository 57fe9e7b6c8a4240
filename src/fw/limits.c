/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts the objects of each kind on an HCA, against the limits that it advertises (QUERY_HCA_CAP,
 * and max_pd, max_mr... of query_device()). Called by obj.c and reap.c under the HCA's lock;
 * without it when a stopped process holds the lock while a file is reaped, so counts are atomic.
 *
 * A count is raised before the element is claimed and lowered after it is free: a process killed in
 * between leaves it too high, until the next holder of the HCA's lock counts again.
 */
#include "fw/priv.h"
#include "hw/hca.h"
#include "segment/proc.h"

#include <errno.h>
#include <string.h>

static _Atomic uint32_t *made_of(struct hw_hca *h, const struct fw_kind *kind)
{
	return &h->made[kind->table - HW_KIND_FIRST];
}

static uint32_t max_of(const struct hw_hca *h, const struct fw_kind *kind)
{
	const struct hw_caps *c = &h->caps;
	uint32_t log_max, left = atomic_load(&h->left[kind->table - HW_KIND_FIRST]);

	if (!c->srq && (kind->table == SEG_T_SRQ || kind->table == SEG_T_XRCD))
		return 0;
	memcpy(&log_max, (const uint8_t *)c + kind->log_max, sizeof(log_max));
	return left && left - 1 < 1u << log_max ? left - 1 : 1u << log_max;
}

/* Numbers the objects that a process makes (qp[nth=2] of --inject). */
static uint32_t nth_of(const struct fw_call *k, const struct fw_kind *kind)
{
	struct seg_proc *p = k->s->self == SEG_NONE ? NULL : seg_proc(k->s, k->s->self);

	return p ? atomic_fetch_add(&p->made[kind->table - HW_KIND_FIRST], 1) + 1 : 0;
}

enum fw_r fw_alloc(struct fw_call *k, enum seg_table_id t, uint32_t *idx, void *elem)
{
	const struct fw_kind *kind = fw_kind(t);
	_Atomic uint32_t *made = kind && kind->log_max ? made_of(k->hca, kind) : NULL;
	struct fw_elem *e;
	int r;

	if (made && atomic_load(made) >= max_of(k->hca, kind))
		return FW_R_TABLE_FULL;
	if (made)
		fw_ref(made, 1);
	r = seg_alloc(k->s, t, k->owner, idx);
	if (r < 0) {
		if (made)
			fw_ref(made, -1);
		return r == -ENOSPC ? FW_R_TABLE_FULL : fw_errno(k, r);
	}
	e = seg_at(k->s, t, *idx);
	if (made)
		e->hca = k->c->hca; /* from here on fw_limits_recount() counts it */
	if (kind && kind->nth && k->c->file != SEG_NONE)
		*(uint32_t *)((uint8_t *)e + kind->nth) = nth_of(k, kind);
	*(void **)elem = e;
	k->obj = *idx;
	return FW_R_NONE;
}

void fw_free(struct seg *s, enum seg_table_id t, uint32_t idx)
{
	const struct fw_kind *kind = fw_kind(t);
	struct hw_hca *hca = kind && kind->log_max ? hw_hca(s, fw_elem(s, kind, idx)->hca) : NULL;

	seg_free(s, t, idx);
	if (hca)
		fw_ref(made_of(hca, kind), -1);
}

void fw_limits_recount(struct seg *s, uint32_t hca)
{
	struct hw_hca *h = hw_hca(s, hca);

	if (!h)
		return;
	fw_for_each_kind (kind) {
		uint32_t n = 0;

		if (!kind->log_max)
			continue;
		seg_for_each_live (s, kind->table, i)
			n += fw_elem(s, kind, i)->hca == hca;
		atomic_store(made_of(h, kind), n);
	}
}
