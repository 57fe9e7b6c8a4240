/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * General objects: one row per type says what follows the header, and which functions create,
 * modify, query and destroy it. Called by exec.c under the HCA's lock.
 */
#include "fw/priv.h"

#include <errno.h>
#include "hw/flags.h"
#include "hw/obj.h"
#include "hw/qp_state.h"
#include "util/cleanup.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/gobj.h"

struct gobj_type {
	uint16_t type;
	const struct layout *body; /* NULL: 16 reserved bytes */
	enum fw_r (*create)(struct fw_call *k, const void *body, uint32_t *id);
	/* NULL: cannot be modified */
	enum fw_r (*modify)(struct fw_call *k, uint32_t id, const void *body);
	enum fw_r (*query)(struct fw_call *k, uint32_t id, void *body);
	enum fw_r (*destroy)(struct fw_call *k, uint32_t id);
	bool (*has)(const struct fw_call *k); /* has the adapter this type? NULL: every one has */
};

#define RESERVED_QPN_BYTES 16

/* ---- scheduling element ---- */

static enum fw_r sched_create(struct fw_call *k, const void *body, uint32_t *id)
{
	return fw_sched_create(k, LAYOUT_GET32(sched_elem, body, scheduling_hierarchy),
			       LAYOUT_IN(sched_elem, sched_context, body),
			       LAYOUT_GET(sched_elem, body, modify_field_select), id);
}

static enum fw_r sched_modify(struct fw_call *k, uint32_t id, const void *body)
{
	return fw_sched_modify(k, LAYOUT_GET32(sched_elem, body, scheduling_hierarchy), id,
			       LAYOUT_IN(sched_elem, sched_context, body),
			       LAYOUT_GET(sched_elem, body, modify_field_select));
}

static enum fw_r sched_query(struct fw_call *k, uint32_t id, void *body)
{
	LAYOUT_SET(sched_elem, body, scheduling_hierarchy, 3);
	return fw_sched_query(k, id, LAYOUT_IN(sched_elem, sched_context, body));
}

/* ---- reserved QPN: a number that no QP gets, for programs that need only a number ---- */

static struct fw_elem *reserved_qpn(struct fw_call *k, uint32_t id)
{
	struct fw_elem *qp = seg_live(k->s, SEG_T_QP, id);

	k->obj = id;
	return qp && __atomic_load_n(&qp->flags, __ATOMIC_ACQUIRE) == HW_F_RESERVED &&
			       qp->hca == k->c->hca && qp->uid == k->c->uid
		       ? qp
		       : NULL;
}

static enum fw_r qpn_create(struct fw_call *k, const void *body, uint32_t *id)
{
	struct fw_elem *qp;
	enum fw_r r = fw_alloc(k, SEG_T_QP, id, &qp);

	if (r)
		return r;
	qp->hca = k->c->hca;
	qp->uid = k->c->uid;
	__atomic_store_n(&qp->flags, HW_F_RESERVED, __ATOMIC_RELEASE);
	return FW_R_NONE;
}

static enum fw_r qpn_query(struct fw_call *k, uint32_t id, void *body)
{
	return reserved_qpn(k, id) ? FW_R_NONE : FW_R_GOBJ_NONE;
}

static enum fw_r qpn_destroy(struct fw_call *k, uint32_t id)
{
	if (!reserved_qpn(k, id))
		return FW_R_GOBJ_NONE;
	fw_free(k->s, SEG_T_QP, id);
	return FW_R_NONE;
}

/*
 * ---- AV QP mapping: chooses the QP path of an address vector. Kept only, as there is one path
 * ----
 */

static enum fw_r av_create(struct fw_call *k, const void *body, uint32_t *id)
{
	struct hw_obj proto = {.kind = HW_OBJ_AV_QP_MAPPING};

	if (LAYOUT_GET(av_qp_mapping, body, modify_field_select))
		return FW_R_AV_SELECT;
	if (LAYOUT_GET(av_qp_mapping, body, qpn) > 0xffffff)
		return FW_R_AV_QPN;
	memcpy(proto.ctx, body, LAYOUT_SZ(av_qp_mapping));
	return fw_obj_make(k, &proto, id);
}

static enum fw_r av_query(struct fw_call *k, uint32_t id, void *body)
{
	const struct hw_obj *o = fw_obj(k, HW_OBJ_AV_QP_MAPPING, id);

	if (!o)
		return FW_R_GOBJ_NONE;
	memcpy(body, o->ctx, LAYOUT_SZ(av_qp_mapping));
	return FW_R_NONE;
}

static enum fw_r av_destroy(struct fw_call *k, uint32_t id)
{
	return fw_obj_destroy(k, HW_OBJ_AV_QP_MAPPING, id, FW_R_GOBJ_NONE, FW_R_GOBJ_NONE);
}

static const struct gobj_type types[] = {
	{PRM_GOBJ_DEK, &layout_encryption_key_obj, fw_dek_create, fw_dek_modify, fw_dek_query,
	 fw_dek_destroy, fw_has_crypto},
	{PRM_GOBJ_CRYPTO_LOGIN, &layout_crypto_login_obj, fw_login_create, NULL, fw_login_query,
	 fw_login_destroy, fw_wraps_keys},
	{PRM_GOBJ_SCHEDULING_ELEMENT, &layout_sched_elem, sched_create, sched_modify, sched_query,
	 fw_sched_destroy, NULL},
	{PRM_GOBJ_RESERVED_QPN, NULL, qpn_create, NULL, qpn_query, qpn_destroy, NULL},
	{PRM_GOBJ_AV_QP_MAPPING, &layout_av_qp_mapping, av_create, NULL, av_query, av_destroy,
	 NULL},
};

static bool has_type(const struct fw_call *k, const struct gobj_type *t)
{
	return !t->has || t->has(k);
}

uint64_t fw_gobj_types(const struct fw_call *k)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		bits |= (uint64_t)has_type(k, &types[i]) << types[i].type;
	return bits;
}

static const struct gobj_type *type_of(const struct fw_call *k)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (types[i].type == k->op_mod)
			return has_type(k, &types[i]) ? &types[i] : NULL;
	return NULL;
}

const struct layout *fw_command_body(uint16_t opcode, const void *in, bool output)
{
	bool has = output ? opcode == PRM_OP_QUERY_GENERAL_OBJECT
			  : opcode == PRM_OP_CREATE_GENERAL_OBJECT ||
				    opcode == PRM_OP_MODIFY_GENERAL_OBJECT;

	for (size_t i = 0; has && i < ARRAY_SIZE(types); i++)
		if (types[i].type == LAYOUT_GET(cmd_in, in, op_mod))
			return types[i].body;
	return NULL;
}

static uint32_t body_bytes(const struct gobj_type *t)
{
	return t->body ? t->body->bytes : RESERVED_QPN_BYTES;
}

/* Check what follows the header: one object of the type, and nothing more. */
static enum fw_r check_body(struct fw_call *k, const struct gobj_type *t, const void **body)
{
	const uint8_t *p = (const uint8_t *)k->in + LAYOUT_SZ(create_general_object_in);
	uint32_t n = k->inlen - LAYOUT_SZ(create_general_object_in), first = body_bytes(t);

	k->rest = first;
	if (n < first)
		return FW_R_GOBJ_LEN;
	if (t->body && layout_reserved_set(t->body, p, first) >= 0)
		return FW_R_GOBJ_RESERVED;
	for (uint32_t i = t->body ? first : 0; i < n; i++)
		if (p[i])
			return FW_R_GOBJ_RESERVED;
	*body = p;
	return FW_R_NONE;
}

enum fw_r fw_cmd_create_general_object(struct fw_call *k)
{
	const struct gobj_type *t = type_of(k);
	const void *body;
	uint32_t id = 0;
	enum fw_r r;

	if (!t)
		return FW_R_GOBJ_TYPE;
	/* log_reserved_qpn_granularity is 0, and no other type has ranges */
	if (LAYOUT_GET(create_general_object_in, k->in, log_obj_range))
		return FW_R_GOBJ_RANGE;
	if (LAYOUT_GET(create_general_object_in, k->in, obj_id))
		return FW_R_GOBJ_ID;
	r = check_body(k, t, &body);
	if (!r)
		r = t->create(k, body, &id);
	if (!r)
		LAYOUT_SET(create_general_object_out, k->out, obj_id, id);
	return r;
}

enum fw_r fw_cmd_modify_general_object(struct fw_call *k)
{
	uint32_t id = LAYOUT_GET32(modify_general_object_in, k->in, obj_id);
	const struct gobj_type *t = type_of(k);
	const void *body;
	enum fw_r r;

	if (!t)
		return FW_R_GOBJ_TYPE;
	if (!t->modify)
		return FW_R_GOBJ_MODIFY;
	r = check_body(k, t, &body);
	if (!r)
		r = t->modify(k, id, body);
	if (!r)
		LAYOUT_SET(modify_general_object_out, k->out, obj_id, id);
	return r;
}

enum fw_r fw_cmd_query_general_object(struct fw_call *k)
{
	uint32_t id = LAYOUT_GET32(query_general_object_in, k->in, obj_id);
	const struct gobj_type *t = type_of(k);
	enum fw_r r;

	if (!t)
		return FW_R_GOBJ_TYPE;
	if (k->outlen < LAYOUT_SZ(query_general_object_out) + body_bytes(t))
		return FW_R_OUTPUT_LEN;
	r = t->query(k, id, (uint8_t *)k->out + LAYOUT_SZ(query_general_object_out));
	if (!r)
		LAYOUT_SET(query_general_object_out, k->out, obj_id, id);
	return r;
}

enum fw_r fw_cmd_destroy_general_object(struct fw_call *k)
{
	uint32_t id = LAYOUT_GET32(destroy_general_object_in, k->in, obj_id);
	const struct gobj_type *t = type_of(k);

	return t ? t->destroy(k, id) : FW_R_GOBJ_TYPE;
}
