/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Quality of service: the rate limits of packet pacing, scheduling elements. Called by exec.c under
 * the HCA's lock, and by cmd_gobj.c.
 *
 * A rate limit is an entry of an HCA table. It is kept as one object per command that set it, so
 * that each open file's share ends with the file; the entry is free when the last object is gone.
 * Only SQs can be paced, and no SQ sends, so nothing is ever slowed down.
 */
#include "fw/priv.h"
#include "hw/obj.h"
#include "wire/prm/qos.h"

#include <errno.h>

#define PP(f) LAYOUT_GET(set_pp_rate_limit_context, pp, f)

/* Any object that holds the entry. */
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

	return o && fw_may_name(k, o->uid);
}

static enum fw_r rate_clear(struct fw_call *k, uint32_t index)
{
	seg_for_each_owned (k->s, SEG_T_OBJ, k->owner, i) {
		const struct hw_obj *o = fw_obj(k, HW_OBJ_RATE, i);

		if (o && o->type == index)
			return fw_errno(k, fw_obj_free(k->s, i));
	}
	return FW_R_PP_NONE;
}

enum fw_r fw_cmd_set_pp_rate_limit(struct fw_call *k)
{
	const void *pp = LAYOUT_IN(set_pp_rate_limit_in, ctx, k->in);
	uint32_t index = LAYOUT_GET32(set_pp_rate_limit_in, k->in, rate_limit_index);
	struct hw_obj proto = {.kind = HW_OBJ_RATE, .type = index};
	const struct hw_obj *old;
	uint32_t idx;
	enum fw_r r;

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

/* ---- scheduling elements: a tree of arbiters (TSAR) with groups of queues as leaves ---- */

#define SC(f) LAYOUT_GET(scheduling_context, sc, f)

bool fw_queue_group(struct fw_call *k, uint32_t id)
{
	const struct hw_obj *o = fw_obj(k, HW_OBJ_SCHED, id);

	return o && o->type == PRM_SCHED_ELEM_QUEUE_GROUP;
}

/* Check the selected limits, which are kept for queries only. */
static enum fw_r check_limits(const struct fw_call *k, const void *sc, uint64_t sel, bool root)
{
	if (sel & ~(uint64_t)(PRM_SCHED_BW_SHARE | PRM_SCHED_MAX_AVERAGE_BW))
		return FW_R_SCHED_SELECT;
	if (sel & PRM_SCHED_BW_SHARE && SC(bw_share) > k->caps->max_tsar_bw_share)
		return FW_R_SCHED_SHARE;
	if (root && ((sel & PRM_SCHED_BW_SHARE && SC(bw_share)) ||
		     (sel & PRM_SCHED_MAX_AVERAGE_BW && SC(max_average_bw))))
		return FW_R_SCHED_ROOT;
	return FW_R_NONE;
}

static void take_limits(void *to, const void *sc, uint64_t sel)
{
	if (sel & PRM_SCHED_BW_SHARE)
		LAYOUT_SET(scheduling_context, to, bw_share, SC(bw_share));
	if (sel & PRM_SCHED_MAX_AVERAGE_BW)
		LAYOUT_SET(scheduling_context, to, max_average_bw, SC(max_average_bw));
}

enum fw_r fw_sched_create(struct fw_call *k, uint32_t hierarchy, const void *sc, uint64_t sel,
			  uint32_t *id)
{
	uint32_t parent = (uint32_t)SC(parent_element_id);
	struct hw_obj proto = {.kind = HW_OBJ_SCHED, .type = (uint32_t)SC(element_type)};
	const struct hw_obj *up = parent ? fw_obj(k, HW_OBJ_SCHED, parent) : NULL;
	enum fw_r r;

	if (hierarchy != PRM_SCHED_HIERARCHY_NIC)
		return FW_R_SCHED_HIERARCHY;
	if (proto.type != PRM_SCHED_ELEM_TSAR && proto.type != PRM_SCHED_ELEM_QUEUE_GROUP)
		return FW_R_SCHED_TYPE;
	/* libmlx5 also sends a TSAR's type with queue groups */
	if (SC(tsar_type) != PRM_TSAR_DWRR)
		return FW_R_SCHED_TSAR;
	if (parent ? !up || up->type != PRM_SCHED_ELEM_TSAR : proto.type != PRM_SCHED_ELEM_TSAR)
		return FW_R_SCHED_PARENT;
	r = check_limits(k, sc, sel, !parent);
	if (r)
		return r;
	if (parent)
		proto.ref[0] = fw_objref(SEG_T_OBJ, parent);
	LAYOUT_SET(scheduling_context, proto.ctx, element_type, proto.type);
	LAYOUT_SET(scheduling_context, proto.ctx, parent_element_id, parent);
	take_limits(proto.ctx, sc, sel);
	return fw_obj_make(k, &proto, id);
}

enum fw_r fw_sched_modify(struct fw_call *k, uint32_t hierarchy, uint32_t id, const void *sc,
			  uint64_t sel)
{
	struct hw_obj *o = fw_obj(k, HW_OBJ_SCHED, id);
	enum fw_r r;

	if (!o)
		return FW_R_SCHED_NONE;
	if (hierarchy != PRM_SCHED_HIERARCHY_NIC)
		return FW_R_SCHED_HIERARCHY;
	if (SC(element_type) != o->type)
		return FW_R_SCHED_TYPE;
	r = check_limits(k, sc, sel, !o->ref[0].table);
	if (r)
		return r;
	take_limits(o->ctx, sc, sel);
	return FW_R_NONE;
}

enum fw_r fw_sched_query(struct fw_call *k, uint32_t id, void *sc)
{
	const struct hw_obj *o = fw_obj(k, HW_OBJ_SCHED, id);

	if (!o)
		return FW_R_SCHED_NONE;
	memcpy(sc, o->ctx, LAYOUT_SZ(scheduling_context));
	return FW_R_NONE;
}

enum fw_r fw_sched_destroy(struct fw_call *k, uint32_t id)
{
	return fw_obj_destroy(k, HW_OBJ_SCHED, id, FW_R_SCHED_NONE, FW_R_SCHED_IN_USE);
}

#define SE_CTX(l, p) LAYOUT_IN(l, scheduling_context, p)

enum fw_r fw_cmd_create_scheduling_element(struct fw_call *k)
{
	uint64_t h = LAYOUT_GET(create_scheduling_element_in, k->in, scheduling_hierarchy);
	uint32_t id;
	enum fw_r r = fw_sched_create(k, (uint32_t)h, SE_CTX(create_scheduling_element_in, k->in),
				      PRM_SCHED_BW_SHARE | PRM_SCHED_MAX_AVERAGE_BW, &id);

	if (r == 0)
		LAYOUT_SET(create_scheduling_element_out, k->out, scheduling_element_id, id);
	return r;
}

enum fw_r fw_cmd_query_scheduling_element(struct fw_call *k)
{
	uint64_t id = LAYOUT_GET(query_scheduling_element_in, k->in, scheduling_element_id);

	if (LAYOUT_GET(query_scheduling_element_in, k->in, scheduling_hierarchy) !=
	    PRM_SCHED_HIERARCHY_NIC)
		return FW_R_SCHED_HIERARCHY;
	return fw_sched_query(k, (uint32_t)id, SE_CTX(query_scheduling_element_out, k->out));
}

enum fw_r fw_cmd_modify_scheduling_element(struct fw_call *k)
{
	uint64_t id = LAYOUT_GET(modify_scheduling_element_in, k->in, scheduling_element_id);
	uint64_t h = LAYOUT_GET(modify_scheduling_element_in, k->in, scheduling_hierarchy);

	return fw_sched_modify(k, (uint32_t)h, (uint32_t)id,
			       SE_CTX(modify_scheduling_element_in, k->in),
			       LAYOUT_GET(modify_scheduling_element_in, k->in, modify_bitmask));
}

enum fw_r fw_cmd_destroy_scheduling_element(struct fw_call *k)
{
	uint64_t id = LAYOUT_GET(destroy_scheduling_element_in, k->in, scheduling_element_id);

	if (LAYOUT_GET(destroy_scheduling_element_in, k->in, scheduling_hierarchy) !=
	    PRM_SCHED_HIERARCHY_NIC)
		return FW_R_SCHED_HIERARCHY;
	return fw_sched_destroy(k, (uint32_t)id);
}
