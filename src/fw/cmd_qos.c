/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Quality of service: the rate limits of packet pacing. Called by exec.c under the HCA's lock.
 *
 * A rate limit is a place in a table of the HCA. It is kept as one object for each command that set
 * it, so that each open file's share goes with the file; the place is free when the last is gone.
 * Only SQs can be paced, and no SQ sends: nothing is ever slowed down.
 */
#include "fw/cmd.h"

#include <errno.h>

#define PP(f) LAYOUT_GET(set_pp_rate_limit_context, pp, f)

/* A holder of the place, whoever it is. */
static struct hw_obj *rate_at(struct fw_call *k, uint32_t index)
{
	seg_for_each_live (k->s, SEG_T_OBJ, i) {
		struct hw_obj *o = seg_at(k->s, SEG_T_OBJ, i);

		if (o->kind == HW_OBJ_RATE && o->type == index && o->hca == k->c->hca &&
		    fw_ready(&o->flags))
			return o;
	}
	return NULL;
}

bool fw_rate_usable(struct fw_call *k, uint32_t index)
{
	const struct hw_obj *o = rate_at(k, index);

	return o && (o->uid == k->c->uid || o->uid == FW_SHARED_UID);
}

static int rate_clear(struct fw_call *k, uint32_t index)
{
	seg_for_each_owned (k->s, SEG_T_OBJ, k->owner, i) {
		const struct hw_obj *o = fw_obj(k, HW_OBJ_RATE, i);

		if (o && o->type == index)
			return fw_obj_free(k->s, i);
	}
	return FW_R_PP_NONE;
}

int fw_cmd_set_pp_rate_limit(struct fw_call *k)
{
	const void *pp = LAYOUT_IN(set_pp_rate_limit_in, ctx, k->in);
	uint32_t index = (uint32_t)LAYOUT_GET(set_pp_rate_limit_in, k->in, rate_limit_index);
	struct hw_obj proto = {.kind = HW_OBJ_RATE, .type = index};
	const struct hw_obj *old;
	uint32_t idx;
	int r;

	if (index < 1 || index >= k->caps->pp_table_size)
		return FW_R_PP_INDEX;
	if (!PP(rate_limit)) {
		r = rate_clear(k, index);
		k->obj = index;
		return r;
	}
	if (PP(rate_limit) < k->caps->pp_min_rate || PP(rate_limit) > k->caps->pp_max_rate)
		return FW_R_PP_RATE;
	old = rate_at(k, index);
	if (old && (old->uid != k->c->uid || k->c->uid != FW_SHARED_UID ||
		    memcmp(old->ctx, pp, LAYOUT_SZ(set_pp_rate_limit_context))))
		return FW_R_PP_BUSY;
	memcpy(proto.ctx, pp, LAYOUT_SZ(set_pp_rate_limit_context));
	r = fw_obj_make(k, &proto, &idx);
	k->obj = index;
	return r;
}
