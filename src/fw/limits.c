/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many objects of a kind one HCA has, against what it says it can have (QUERY_HCA_CAP, and
 * max_pd, max_mr... of query_device()). Called by obj.c and reap.c under the HCA's lock; a file is
 * reaped without it when a stopped process holds it, so that counts are atomic.
 *
 * A count is raised before the element is claimed and lowered after it is free: a process that is
 * killed in between leaves it too high, until whoever inherits the HCA's lock counts again.
 */
#include "fw/cmd.h"

#include <errno.h>
#include <string.h>
#include "util/cleanup.h"

static const struct {
	enum seg_table_id table;
	uint32_t cap; /* where log2 of the limit is in struct fw_caps */
} limits[] = {
	[HW_LIMIT_PD] = {SEG_T_PD, offsetof(struct fw_caps, log_max_pd)},
	[HW_LIMIT_MKEY] = {SEG_T_MKEY, offsetof(struct fw_caps, log_max_mkey)},
	[HW_LIMIT_CQ] = {SEG_T_CQ, offsetof(struct fw_caps, log_max_cq)},
	[HW_LIMIT_SRQ] = {SEG_T_SRQ, offsetof(struct fw_caps, log_max_srq)},
	[HW_LIMIT_QP] = {SEG_T_QP, offsetof(struct fw_caps, log_max_qp)},
	[HW_LIMIT_XRCD] = {SEG_T_XRCD, offsetof(struct fw_caps, log_max_xrcd)},
	[HW_LIMIT_OBJ] = {SEG_T_OBJ, offsetof(struct fw_caps, log_max_obj)},
};
static_assert(ARRAY_SIZE(limits) == HW_LIMITS, "a row per limit");

/* Every element of these tables starts like this. */
struct elem {
	uint32_t gen, flags;
	uint32_t hca;
};
#define STARTS_LIKE_IT(t)                                                                  \
	static_assert(offsetof(struct t, hca) == offsetof(struct elem, hca), #t " starts " \
										"otherwise")
STARTS_LIKE_IT(hw_pd);
STARTS_LIKE_IT(hw_mkey);
STARTS_LIKE_IT(hw_cq);
STARTS_LIKE_IT(hw_srq);
STARTS_LIKE_IT(hw_qp);
STARTS_LIKE_IT(hw_xrcd);
STARTS_LIKE_IT(hw_obj);

static int limit_of(enum seg_table_id t)
{
	for (int i = 0; i < HW_LIMITS; i++)
		if (limits[i].table == t)
			return i;
	return -1;
}

static uint32_t max_of(const struct fw_caps *c, int limit)
{
	uint32_t log_max;

	memcpy(&log_max, (const uint8_t *)c + limits[limit].cap, sizeof(log_max));
	return 1u << log_max;
}

int fw_alloc(struct fw_call *k, enum seg_table_id t, uint32_t *idx, void *elem)
{
	int limit = limit_of(t), r;
	struct elem *e;

	if (limit >= 0 && atomic_load(&k->hca->made[limit]) >= max_of(k->caps, limit))
		return FW_R_TABLE_FULL;
	if (limit >= 0)
		fw_ref(&k->hca->made[limit], 1);
	r = seg_alloc(k->s, t, k->owner, idx);
	if (r < 0) {
		if (limit >= 0)
			fw_ref(&k->hca->made[limit], -1);
		return r == -ENOSPC ? (int)FW_R_TABLE_FULL : r;
	}
	e = seg_at(k->s, t, *idx);
	if (limit >= 0)
		e->hca = k->c->hca; /* it counts from here on */
	*(void **)elem = e;
	k->obj = *idx;
	return 0;
}

void fw_free(struct seg *s, enum seg_table_id t, uint32_t idx)
{
	const struct elem *e = seg_at(s, t, idx);
	int limit = limit_of(t);
	struct hw_hca *hca = limit >= 0 ? hw_hca(s, e->hca) : NULL;

	seg_free(s, t, idx);
	if (hca)
		fw_ref(&hca->made[limit], -1);
}

void fw_limits_recount(struct seg *s, uint32_t hca)
{
	struct hw_hca *h = hw_hca(s, hca);

	for (int limit = 0; h && limit < HW_LIMITS; limit++) {
		uint32_t n = 0;

		seg_for_each_live (s, limits[limit].table, i)
			n += ((const struct elem *)seg_at(s, limits[limit].table, i))->hca == hca;
		atomic_store(&h->made[limit], n);
	}
}
