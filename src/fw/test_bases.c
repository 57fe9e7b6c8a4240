/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The valid commands except those of test_bases_shared.c: one per opcode and form. */
#include "fw/test_refusals.h"
#include "fw/for_tests.h"
#include "hw/qp.h"
#include "hw/qp_state.h"

void set_qp_state(struct env *e, enum prm_qp_state state)
{
	hw_qp(&e->s, e->qp)->state = state;
}

void set_qp_service(struct env *e, enum prm_st st)
{
	hw_qp(&e->s, e->qp)->st = st;
}

uint32_t new_id(struct env *e, uint16_t opcode)
{
	cmd_init(e, opcode, 0);
	return make(e, 0x10);
}

uint32_t new_from(struct env *e, void (*build)(struct env *e), uint32_t inlen)
{
	build(e);
	return make(e, inlen);
}

void b_rate(struct env *e, uint32_t index, uint32_t rate)
{
	void *in = cmd_init(e, PRM_OP_SET_PP_RATE_LIMIT, 0);

	LAYOUT_SET(set_pp_rate_limit_in, in, rate_limit_index, index);
	LAYOUT_SET(set_pp_rate_limit_context, LAYOUT_IN(set_pp_rate_limit_in, ctx, in), rate_limit,
		   rate);
}

/* Needs e->tsar at the root, and e->group in it. */
static bool build_sched(struct env *e, enum base b)
{
	uint32_t set;
	void *sc;

	sched_up(e);
	switch ((int)b) {
	case B_CREATE_GENERAL_OBJECT:
		b_gobj_sched(e, PRM_OP_CREATE_GENERAL_OBJECT, 0, 4, e->tsar);
		break;
	case B_MODIFY_GENERAL_OBJECT:
		b_gobj_sched(e, PRM_OP_MODIFY_GENERAL_OBJECT, e->group, 4, 0);
		break;
	case B_QUERY_GENERAL_OBJECT:
	case B_DESTROY_GENERAL_OBJECT:
		LAYOUT_SET(query_general_object_in,
			   cmd_init(e,
				    b == B_QUERY_GENERAL_OBJECT ? PRM_OP_QUERY_GENERAL_OBJECT
								: PRM_OP_DESTROY_GENERAL_OBJECT,
				    PRM_GOBJ_SCHEDULING_ELEMENT),
			   obj_id, e->group);
		break;
	case B_CREATE_SCHEDULING_ELEMENT:
		b_create_sched(e, 4, e->tsar);
		break;
	case B_QUERY_SCHEDULING_ELEMENT:
	case B_DESTROY_SCHEDULING_ELEMENT:
		b_sched_id(e,
			   b == B_QUERY_SCHEDULING_ELEMENT ? PRM_OP_QUERY_SCHEDULING_ELEMENT
							   : PRM_OP_DESTROY_SCHEDULING_ELEMENT,
			   e->group);
		break;
	case B_MODIFY_SCHEDULING_ELEMENT:
		b_sched_id(e, PRM_OP_MODIFY_SCHEDULING_ELEMENT, e->group);
		LAYOUT_SET(modify_scheduling_element_in, e->in, modify_bitmask, 3);
		sc = LAYOUT_IN(modify_scheduling_element_in, scheduling_context, e->in);
		LAYOUT_SET(scheduling_context, sc, element_type, 4);
		LAYOUT_SET(scheduling_context, sc, bw_share, 20);
		break;
	case B_CREATE_RESERVED_QPN:
		cmd_init(e, PRM_OP_CREATE_GENERAL_OBJECT, PRM_GOBJ_RESERVED_QPN);
		break;
	case B_CREATE_AV_QP_MAPPING:
		cmd_init(e, PRM_OP_CREATE_GENERAL_OBJECT, PRM_GOBJ_AV_QP_MAPPING);
		LAYOUT_SET(av_qp_mapping, e->in + 0x10, qpn, e->qp);
		break;
	case B_CREATE_DEK:
		b_gobj_dek(e, PRM_OP_CREATE_GENERAL_OBJECT, 0);
		break;
	case B_MODIFY_DEK:
		b_gobj_dek(e, PRM_OP_CREATE_GENERAL_OBJECT, 0);
		assert_int_equal(run(e, e->in, DEK_IN, 0x10), FW_OK);
		b_gobj_dek(e, PRM_OP_MODIFY_GENERAL_OBJECT,
			   LAYOUT_GET32(create_general_object_out, e->out, obj_id));
		break;
	case B_CREATE_LOGIN:
		b_gobj_login(e);
		break;
	case B_RTS2RTS_QP_EXT:
		set = new_set(e);
		qp_to(e, PRM_QP_STATE_RTS);
		b_qp_groups(e, PRM_OP_RTS2RTS_QP, e->group, e->group);
		/* a second change, which a refusal of the first one leaves undone */
		LAYOUT_SET(rts2rts_qp_in, e->in, opt_param_mask, OPT_COUNTER_SET_ID);
		LAYOUT_SET(qpc, LAYOUT_IN(rts2rts_qp_in, qpc, e->in), counter_set_id, set);
		break;
	default:
		return false;
	}
	return true;
}

static bool build_raw(struct env *e, enum base b)
{
	raw_up(e);
	switch ((int)b) {
	case B_ALLOC_TRANSPORT_DOMAIN:
		cmd_init(e, PRM_OP_ALLOC_TRANSPORT_DOMAIN, 0);
		break;
	case B_DEALLOC_TRANSPORT_DOMAIN:
		b_id(e, PRM_OP_DEALLOC_TRANSPORT_DOMAIN, new_id(e, PRM_OP_ALLOC_TRANSPORT_DOMAIN));
		break;
	case B_CREATE_RQ:
		b_create_rq(e);
		break;
	case B_QUERY_RQ:
		b_id(e, PRM_OP_QUERY_RQ, e->rq);
		break;
	case B_MODIFY_RQ:
		b_modify_rq(e, 0, 1, PRM_RQ_MODIFY_VSD);
		break;
	case B_DESTROY_RQ:
		b_id(e, PRM_OP_DESTROY_RQ, new_from(e, b_create_rq, IN(create_rq)));
		break;
	case B_ARM_RQ:
		LAYOUT_SET(arm_rq_in, cmd_init(e, PRM_OP_ARM_RQ, 1), srq_number, e->rq);
		break;
	case B_CREATE_RQT:
		b_create_rqt(e);
		break;
	case B_QUERY_RQT:
		b_id(e, PRM_OP_QUERY_RQT, e->rqt);
		break;
	case B_MODIFY_RQT:
		b_modify_rqt(e);
		break;
	case B_DESTROY_RQT:
		b_id(e, PRM_OP_DESTROY_RQT, new_from(e, b_create_rqt, IN(create_rqt) + 8));
		break;
	case B_CREATE_TIR:
		b_create_tir(e);
		break;
	case B_QUERY_TIR:
		b_id(e, PRM_OP_QUERY_TIR, e->tir);
		break;
	case B_MODIFY_TIR:
		b_modify_tir(e);
		break;
	case B_DESTROY_TIR:
		b_id(e, PRM_OP_DESTROY_TIR, e->tir);
		break;
	case B_CREATE_TIS:
		b_create_tis(e);
		break;
	case B_QUERY_TIS:
		b_id(e, PRM_OP_QUERY_TIS, e->tis);
		break;
	case B_MODIFY_TIS:
		b_modify_tis(e);
		break;
	case B_DESTROY_TIS:
		b_id(e, PRM_OP_DESTROY_TIS, new_from(e, b_create_tis, IN(create_tis)));
		break;
	case B_CREATE_SQ:
		b_create_sq(e);
		break;
	case B_QUERY_SQ:
		b_id(e, PRM_OP_QUERY_SQ, e->sq);
		break;
	case B_MODIFY_SQ:
		b_modify_sq(e, 0, 1, 0);
		break;
	case B_DESTROY_SQ:
		b_id(e, PRM_OP_DESTROY_SQ, e->sq);
		break;
	default:
		return false;
	}
	return true;
}

static bool build_qp(struct env *e, enum base b)
{
	switch ((int)b) {
	case B_CREATE_QP:
		b_create_qp(e);
		break;
	case B_QUERY_QP:
		b_id(e, PRM_OP_QUERY_QP, e->qp);
		break;
	case B_DESTROY_QP:
		b_id(e, PRM_OP_DESTROY_QP, e->qp);
		break;
	case B_RST2INIT_QP:
		b_rst2init(e);
		break;
	case B_INIT2INIT_QP:
		qp_to(e, PRM_QP_STATE_INIT);
		b_modify_qp(e, PRM_OP_INIT2INIT_QP, 1 << 3);
		break;
	case B_INIT2RTR_QP:
		qp_to(e, PRM_QP_STATE_INIT);
		b_init2rtr(e);
		break;
	case B_RTR2RTS_QP:
		qp_to(e, PRM_QP_STATE_RTR);
		b_rtr2rts(e);
		break;
	case B_RTS2RTS_QP:
		qp_to(e, PRM_QP_STATE_RTS);
		b_modify_qp(e, PRM_OP_RTS2RTS_QP, 1 << 6);
		break;
	case B_SQERR2RTS_QP:
		qp_to(e, PRM_QP_STATE_RTS);
		set_qp_state(e, PRM_QP_STATE_SQER);
		b_modify_qp(e, PRM_OP_SQERR2RTS_QP, 0);
		break;
	case B_SQD_RTS_QP:
		qp_to(e, PRM_QP_STATE_RTS);
		set_qp_state(e, PRM_QP_STATE_SQD);
		b_modify_qp(e, PRM_OP_SQD_RTS_QP, 0);
		break;
	case B_2ERR_QP:
		b_id(e, PRM_OP_2ERR_QP, e->qp);
		break;
	case B_2RST_QP:
		b_id(e, PRM_OP_2RST_QP, e->qp);
		break;
	default:
		return false;
	}
	return true;
}

static bool build_mem(struct env *e, enum base b)
{
	switch ((int)b) {
	case B_ALLOC_UAR:
		cmd_init(e, PRM_OP_ALLOC_UAR, 1);
		break;
	case B_DEALLOC_UAR:
		b_id(e, PRM_OP_DEALLOC_UAR, new_id(e, PRM_OP_ALLOC_UAR));
		break;
	case B_ALLOC_PD:
		cmd_init(e, PRM_OP_ALLOC_PD, 0);
		break;
	case B_DEALLOC_PD:
		b_id(e, PRM_OP_DEALLOC_PD, new_id(e, PRM_OP_ALLOC_PD));
		break;
	case B_CREATE_UMEM:
		cmd_init(e, PRM_OP_CREATE_UMEM, 0);
		break;
	case B_DESTROY_UMEM:
		b_id(e, PRM_OP_DESTROY_UMEM, umem_new(e, 0x1000, 0x1000));
		break;
	case B_CREATE_MKEY:
		b_create_mkey(e);
		break;
	case B_CREATE_MKEY_MEM:
		b_create_mkey(e);
		LAYOUT_SET(create_mkey_in, e->in, mkey_umem_valid, 0);
		break;
	case B_QUERY_MKEY:
		b_id(e, PRM_OP_QUERY_MKEY, e->mkey);
		break;
	case B_DESTROY_MKEY:
		b_id(e, PRM_OP_DESTROY_MKEY, e->mkey);
		break;
	case B_ALLOC_MEMIC:
		b_alloc_memic(e);
		break;
	case B_DEALLOC_MEMIC:
		memic_new(e);
		b_dealloc_memic(e);
		break;
	case B_CREATE_EQ:
		LAYOUT_SET(destroy_eq_in, cmd_init(e, PRM_OP_DESTROY_EQ, 0), eq_number, 3);
		assert_int_equal(run_as(e, &e->kernel, e->in, 0x10, 0x10), FW_OK);
		b_create_eq(e);
		break;
	case B_QUERY_EQ:
		LAYOUT_SET(query_eq_in, cmd_init(e, PRM_OP_QUERY_EQ, 0), eq_number, 1);
		break;
	case B_DESTROY_EQ:
		LAYOUT_SET(destroy_eq_in, cmd_init(e, PRM_OP_DESTROY_EQ, 0), eq_number, 1);
		break;
	case B_CREATE_CQ:
		b_create_cq(e);
		break;
	case B_QUERY_CQ:
		b_id(e, PRM_OP_QUERY_CQ, e->cq);
		break;
	case B_MODIFY_CQ:
		b_modify_cq(e);
		break;
	case B_RESIZE_CQ:
		b_resize_cq(e);
		break;
	case B_DESTROY_CQ:
		b_id(e, PRM_OP_DESTROY_CQ, new_from(e, b_create_cq, IN(create_cq)));
		break;
	case B_CREATE_RMP:
		b_create_rmp(e);
		break;
	case B_QUERY_RMP:
		b_id(e, PRM_OP_QUERY_RMP, e->srq);
		break;
	case B_MODIFY_RMP:
		b_modify_rmp(e);
		break;
	case B_DESTROY_RMP:
		b_id(e, PRM_OP_DESTROY_RMP, new_from(e, b_create_rmp, IN(create_rmp)));
		break;
	case B_SET_PP_RATE_LIMIT:
		b_rate(e, 5, 1000);
		break;
	default:
		return false;
	}
	return true;
}

static const uint16_t opcode_of[] = {
#define OPCODE_OF(op, name, flags, handler, table, what) [B_##op] = PRM_OP_##op,
	FW_COMMANDS(OPCODE_OF)};

void base_edit(struct env *e, const struct edit *edit, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (edit[i].width)
			layout_set(e->in, edit[i].bit, edit[i].width, edit[i].value);
}

static void build_row(struct env *e, const struct valid_row *v)
{
	struct edit edit[ARRAY_SIZE(v->edit)];
	uint32_t made = 0;

	if (v->after) {
		base_build(e, v->after);
		made = make(e, base_len(&fw_cmds[v->after], v->after));
	}
	memcpy(edit, v->edit, sizeof(edit));
	for (size_t i = 0; i < ARRAY_SIZE(edit); i++)
		if (edit[i].value == MADE)
			edit[i].value = made;
	cmd_init(e, opcode_of[v->base], v->op_mod);
	base_edit(e, edit, ARRAY_SIZE(edit));
}

void base_build(struct env *e, enum base b)
{
	const struct valid_row *v = valid_row(b);

	if (v) {
		build_row(e, v);
		return;
	}
	/* The last two make objects before they know whether b is theirs. */
	if (!build_mem(e, b) && !build_qp(e, b) && !build_shared(e, b) && !build_sched(e, b) &&
	    !build_raw(e, b))
		fail_msg("%s has no valid form: add a row to `valid` of its family",
			 b < B_COMMANDS ? fw_opcode_name(opcode_of[b]) : "a form");
}

uint32_t base_len(const struct fw_cmd *cmd, enum base b)
{
	switch ((int)b) {
	case B_CREATE_RQT:
	case B_MODIFY_RQT:
		return cmd->in->bytes + 8;
	case B_CREATE_GENERAL_OBJECT:
	case B_MODIFY_GENERAL_OBJECT:
		return cmd->in->bytes + LAYOUT_SZ(sched_elem);
	case B_CREATE_RESERVED_QPN:
		return cmd->in->bytes + 16;
	case B_CREATE_AV_QP_MAPPING:
		return cmd->in->bytes + LAYOUT_SZ(av_qp_mapping);
	case B_CREATE_DEK:
	case B_MODIFY_DEK:
	case B_CREATE_LOGIN:
		return DEK_IN;
	case B_RTS2RTS_QP_EXT:
		return cmd->in->bytes + LAYOUT_SZ(qpc_ext);
	default:
		return cmd->in->bytes;
	}
}

uint32_t base_outlen(const struct fw_cmd *cmd)
{
	return cmd->out->bytes + (cmd->opcode == PRM_OP_QUERY_RQT              ? 8
				  : cmd->opcode == PRM_OP_QUERY_GENERAL_OBJECT ? 0x80
									       : 0);
}

struct fw_ctx base_ctx(struct env *e, enum base b)
{
	bool driver = b == B_SET_PP_RATE_LIMIT || b == B_CREATE_UMEM || b == B_CREATE_EQ ||
		      b == B_DESTROY_EQ || b == B_CREATE_MKEY_MEM || b == B_ALLOC_MEMIC ||
		      b == B_DEALLOC_MEMIC;
	struct fw_ctx c = driver ? e->kernel : e->user;

	if (b == B_CREATE_UMEM || b == B_CREATE_MKEY_MEM)
		c.mem = &e->mem;
	return c;
}
