/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Errors in commands of general objects, scheduling elements, queue groups and rate limits. */
#include "fw/test_refusals.h"

#define E_SC(f, v) E_IN(create_scheduling_element_in, scheduling_context, scheduling_context, f, v)

static void leaf_parent(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	b_create_sched(e, 4, e->group);
}

static void used_tsar(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	b_sched_id(e, PRM_OP_DESTROY_SCHEDULING_ELEMENT, e->tsar);
}

static void tsar_as_group(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	b_qp_groups(e, PRM_OP_RTS2RTS_QP, e->tsar, 0);
}

static void rate_taken(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	b_rate(e, 5, 1000);
	assert_int_equal(run_as(e, c, e->in, *inlen, *outlen), FW_OK);
}

/* Without an error there is nothing to reset. */
static void stream_of_dci(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	set_qp_service(e, PRM_ST_DCI);
}

#define E_BODY(l, f, v)                                              \
	{                                                            \
		0x80 + LF_##l##_##f##_BIT, LF_##l##_##f##_WIDTH, (v) \
	}

static void no_crypto(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	hw_hca(&e->s, e->hca)->crypto = HW_CRYPTO_NONE;
}

static void wrapped_mode(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	hw_hca(&e->s, e->hca)->crypto = HW_CRYPTO_WRAPPED;
}

/* The key that follows is not wrapped. */
static void logged_in(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	b_gobj_login(e);
	assert_int_equal(run_as(e, c, e->in, *inlen, *outlen), FW_OK);
	b_gobj_dek(e, PRM_OP_CREATE_GENERAL_OBJECT, 0);
}

static const struct refusal_row rows[] = {
	R(GOBJ_TYPE, CREATE_GENERAL_OBJECT, E(cmd_in, op_mod, 0xb)),
	R(GOBJ_TYPE, MODIFY_GENERAL_OBJECT, E(cmd_in, op_mod, 0x1f)),
	R(GOBJ_TYPE, QUERY_GENERAL_OBJECT, E(cmd_in, op_mod, 0)),
	R(GOBJ_TYPE, DESTROY_GENERAL_OBJECT, E(cmd_in, op_mod, 0xd)),
	M(GOBJ_LEN, CREATE_GENERAL_OBJECT, short_in, {0, 0, 0}),
	M(GOBJ_LEN, CREATE_AV_QP_MAPPING, short_in, {0, 0, 0}),
	R(GOBJ_RESERVED, CREATE_GENERAL_OBJECT, {0x80 + 0x60, 32, 1}),
	R(GOBJ_RESERVED, CREATE_RESERVED_QPN, {0x80, 8, 1}),
	R(GOBJ_RANGE, CREATE_RESERVED_QPN, E(create_general_object_in, log_obj_range, 1)),
	R(GOBJ_ID, CREATE_GENERAL_OBJECT, E(create_general_object_in, obj_id, 1)),
	M(GOBJ_TYPE, CREATE_DEK, no_crypto, {0, 0, 0}),
	M(GOBJ_LEN, CREATE_DEK, short_in, {0, 0, 0}),
	R(GOBJ_RESERVED, CREATE_DEK, {0x80 + 0x48, 12, 1}),
	R(DEK_SELECT, CREATE_DEK, E_BODY(encryption_key_obj, modify_field_select, 1)),
	R(DEK_SELECT, MODIFY_DEK, E_BODY(encryption_key_obj, modify_field_select, 2)),
	R(DEK_PURPOSE, CREATE_DEK, E_BODY(encryption_key_obj, key_purpose, 1)),
	R(DEK_PURPOSE, MODIFY_DEK, E_BODY(encryption_key_obj, key_purpose, 0)),
	R(DEK_SIZE, CREATE_DEK, E_BODY(encryption_key_obj, key_size, 2)),
	R(DEK_PD, CREATE_DEK, E_BODY(encryption_key_obj, pd, NOBODY)),
	M(DEK_LOGIN, CREATE_DEK, wrapped_mode, {0, 0, 0}),
	M(DEK_LOGIN, MODIFY_DEK, wrapped_mode, {0, 0, 0}),
	M(DEK_WRAP, CREATE_DEK, logged_in, {0, 0, 0}),
	R(DEK_MODIFY_PD, MODIFY_DEK, E_BODY(encryption_key_obj, pd, NOBODY)),
	R(GOBJ_NONE, MODIFY_DEK, E(create_general_object_in, obj_id, NOBODY)),
	R(GOBJ_NONE, DESTROY_GENERAL_OBJECT, E(cmd_in, op_mod, PRM_GOBJ_DEK)),
	R(LOGIN_SELECT, CREATE_LOGIN, E_BODY(crypto_login_obj, modify_field_select, 1)),
	R(LOGIN_CREDENTIAL, CREATE_LOGIN, E_BODY(crypto_login_obj, credential_pointer, 1)),
	R(LOGIN_KEK, CREATE_LOGIN, E_BODY(crypto_login_obj, session_import_kek_ptr, 1)),
	R(LOGIN_WRONG, CREATE_LOGIN, {(0x10 + 0x40) * 8, 32, 1}),
	R(AV_QPN, CREATE_AV_QP_MAPPING, {0x80 + 0x60, 32, 1 << 24}),
	R(AV_SELECT, CREATE_AV_QP_MAPPING, {0x80, 64, 1}),
	R(GOBJ_MODIFY, MODIFY_GENERAL_OBJECT, E(cmd_in, op_mod, PRM_GOBJ_RESERVED_QPN)),
	R(GOBJ_NONE, QUERY_GENERAL_OBJECT, E(cmd_in, op_mod, PRM_GOBJ_RESERVED_QPN)),
	R(GOBJ_NONE, QUERY_GENERAL_OBJECT, E(cmd_in, op_mod, PRM_GOBJ_AV_QP_MAPPING)),
	R(GOBJ_NONE, DESTROY_GENERAL_OBJECT, E(cmd_in, op_mod, PRM_GOBJ_RESERVED_QPN)),
	R(GOBJ_NONE, DESTROY_GENERAL_OBJECT, E(cmd_in, op_mod, PRM_GOBJ_AV_QP_MAPPING)),
	M(OUTPUT_LEN, QUERY_GENERAL_OBJECT, short_out, {0, 0, 0}),
	R(SCHED_HIERARCHY, CREATE_SCHEDULING_ELEMENT,
	  E(create_scheduling_element_in, scheduling_hierarchy, 2)),
	R(SCHED_HIERARCHY, QUERY_SCHEDULING_ELEMENT,
	  E(create_scheduling_element_in, scheduling_hierarchy, 2)),
	R(SCHED_HIERARCHY, MODIFY_SCHEDULING_ELEMENT,
	  E(create_scheduling_element_in, scheduling_hierarchy, 2)),
	R(SCHED_HIERARCHY, DESTROY_SCHEDULING_ELEMENT,
	  E(create_scheduling_element_in, scheduling_hierarchy, 0)),
	R(SCHED_TYPE, CREATE_SCHEDULING_ELEMENT, E_SC(element_type, 1)),
	R(SCHED_TYPE, MODIFY_SCHEDULING_ELEMENT, E_SC(element_type, 0)),
	R(SCHED_TSAR, CREATE_SCHEDULING_ELEMENT, E_SC(tsar_type, 1)),
	R(SCHED_PARENT, CREATE_SCHEDULING_ELEMENT, E_SC(parent_element_id, 0)),
	R(SCHED_PARENT, CREATE_SCHEDULING_ELEMENT, E_SC(parent_element_id, NOBODY)),
	M(SCHED_PARENT, CREATE_SCHEDULING_ELEMENT, leaf_parent, {0, 0, 0}),
	R(SCHED_SHARE, CREATE_SCHEDULING_ELEMENT, E_SC(bw_share, 101)),
	R(SCHED_SHARE, MODIFY_SCHEDULING_ELEMENT, E_SC(bw_share, 101)),
	R(SCHED_SELECT, MODIFY_SCHEDULING_ELEMENT,
	  E(modify_scheduling_element_in, modify_bitmask, 4)),
	R(SCHED_SELECT, CREATE_GENERAL_OBJECT, {0x80, 64, 8}),
	R(SCHED_ROOT, CREATE_SCHEDULING_ELEMENT, E_SC(element_type, 0), E_SC(parent_element_id, 0),
	  E_SC(max_average_bw, 5)),
	R(SCHED_NONE, QUERY_SCHEDULING_ELEMENT,
	  E(query_scheduling_element_in, scheduling_element_id, NOBODY)),
	R(SCHED_NONE, MODIFY_SCHEDULING_ELEMENT,
	  E(query_scheduling_element_in, scheduling_element_id, NOBODY)),
	R(SCHED_NONE, DESTROY_GENERAL_OBJECT, E(create_general_object_in, obj_id, NOBODY)),
	M(SCHED_IN_USE, DESTROY_SCHEDULING_ELEMENT, used_tsar, {0, 0, 0}),
	R(QP_EXT, RTS2RTS_QP_EXT, E(rts2rts_qp_in, qpc_ext, 0)),
	R(QP_EXT, RTS2RTS_QP_EXT, E(rts2rts_qp_in, opt_param_mask_95_32, 16)),
	R(QP_STREAM, RTS2RTS_QP_EXT, E(rts2rts_qp_in, opt_param_mask_95_32, 1)),
	M(QP_STREAM, RTS2RTS_QP_EXT, stream_of_dci, E(rts2rts_qp_in, opt_param_mask_95_32, 1)),
	M(INPUT_LEN, RTS2RTS_QP_EXT, short_in, {0, 0, 0}),
	R(QP_MMO, RTS2RTS_QP_EXT, E(rts2rts_qp_in, opt_param_mask_95_32, PRM_QP_OPT32_MMO)),
	R(QP_EXT_RESERVED, RTS2RTS_QP_EXT, {0x110 * 8 + 3, 1, 1}),
	R(QP_QOS_REQUESTER, RTS2RTS_QP_EXT, {0x110 * 8 + 0x20, 32, NOBODY}),
	R(QP_QOS_RESPONDER, RTS2RTS_QP_EXT, {0x110 * 8 + 0x40, 32, NOBODY}),
	M(QP_QOS_REQUESTER, RTS2RTS_QP_EXT, tsar_as_group, {0, 0, 0}),
	M(PAGE_LIST, RTS2RTS_QP, page_list, {0, 0, 0}),
	R(PP_INDEX, SET_PP_RATE_LIMIT, E(set_pp_rate_limit_in, rate_limit_index, 0)),
	R(PP_INDEX, SET_PP_RATE_LIMIT, E(set_pp_rate_limit_in, rate_limit_index, 128)),
	R(PP_RATE, SET_PP_RATE_LIMIT,
	  E_IN(set_pp_rate_limit_in, ctx, set_pp_rate_limit_context, rate_limit, 200000001)),
	M(PP_BUSY, SET_PP_RATE_LIMIT, rate_taken, {0, 0, 0}),
	R(PP_NONE, SET_PP_RATE_LIMIT,
	  E_IN(set_pp_rate_limit_in, ctx, set_pp_rate_limit_context, rate_limit, 0)),
	M(KERNEL_ONLY, SET_PP_RATE_LIMIT, as_user, {0, 0, 0}),
};

const struct refusal_rows rows_qos = {"qos", rows, ARRAY_SIZE(rows)};
