/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every reason for a refusal: a valid command with one thing wrong, and the status and syndrome
 * that it must give. The tables are walked: no command without its valid form here, no refusal
 * without its row.
 */
#include "fw/test.h"

#include <stdio.h>

/* ---- valid commands, one per opcode and form ---- */

#include "fw/test_shared_bases.h"

enum base {
	B_QUERY_HCA_CAP,
	B_QUERY_ADAPTER,
	B_QUERY_ISSI,
	B_QUERY_SPECIAL_CONTEXTS,
	B_NOP,
	B_QUERY_HCA_VPORT_CONTEXT,
	B_QUERY_VPORT_STATE,
	B_QUERY_LAG,
	B_QUERY_VPORT_COUNTER,
	B_QUERY_VNIC_ENV,
	B_QUERY_NIC_VPORT_CONTEXT,
	B_ALLOC_UAR,
	B_DEALLOC_UAR,
	B_ALLOC_PD,
	B_DEALLOC_PD,
	B_CREATE_UMEM,
	B_DESTROY_UMEM,
	B_CREATE_MKEY,
	B_CREATE_MKEY_MEM,
	B_QUERY_MKEY,
	B_DESTROY_MKEY,
	B_CREATE_EQ,
	B_QUERY_EQ,
	B_DESTROY_EQ,
	B_CREATE_CQ,
	B_QUERY_CQ,
	B_MODIFY_CQ,
	B_RESIZE_CQ,
	B_DESTROY_CQ,
	B_CREATE_RMP,
	B_QUERY_RMP,
	B_MODIFY_RMP,
	B_DESTROY_RMP,
	B_CREATE_GENERAL_OBJECT,
	B_MODIFY_GENERAL_OBJECT,
	B_QUERY_GENERAL_OBJECT,
	B_DESTROY_GENERAL_OBJECT,
	B_CREATE_SCHEDULING_ELEMENT,
	B_QUERY_SCHEDULING_ELEMENT,
	B_MODIFY_SCHEDULING_ELEMENT,
	B_DESTROY_SCHEDULING_ELEMENT,
	B_CREATE_RESERVED_QPN,
	B_CREATE_AV_QP_MAPPING,
	B_RTS2RTS_QP_EXT,
	B_SET_PP_RATE_LIMIT,
	B_ALLOC_TRANSPORT_DOMAIN,
	B_DEALLOC_TRANSPORT_DOMAIN,
	B_CREATE_RQ,
	B_QUERY_RQ,
	B_MODIFY_RQ,
	B_DESTROY_RQ,
	B_ARM_RQ,
	B_CREATE_RQT,
	B_QUERY_RQT,
	B_MODIFY_RQT,
	B_DESTROY_RQT,
	B_CREATE_TIR,
	B_QUERY_TIR,
	B_MODIFY_TIR,
	B_DESTROY_TIR,
	B_CREATE_TIS,
	B_QUERY_TIS,
	B_MODIFY_TIS,
	B_DESTROY_TIS,
	B_CREATE_SQ,
	B_QUERY_SQ,
	B_MODIFY_SQ,
	B_DESTROY_SQ,
	B_CREATE_QP,
	B_QUERY_QP,
	B_DESTROY_QP,
	B_RST2INIT_QP,
	B_INIT2INIT_QP,
	B_INIT2RTR_QP,
	B_RTR2RTS_QP,
	B_RTS2RTS_QP,
	B_SQERR2RTS_QP,
	B_SQD_RTS_QP,
	B_2ERR_QP,
	B_2RST_QP,
	SHARED_BASES,
	B_COUNT
};

static uint32_t new_id(struct env *e, uint16_t opcode)
{
	cmd_init(e, opcode, 0);
	return make(e, 0x10);
}

static uint32_t new_from(struct env *e, void (*build)(struct env *e), uint32_t inlen)
{
	build(e);
	return make(e, inlen);
}

static void b_rate(struct env *e, uint32_t index, uint32_t rate)
{
	void *in = cmd_init(e, PRM_OP_SET_PP_RATE_LIMIT, 0);

	LAYOUT_SET(set_pp_rate_limit_in, in, rate_limit_index, index);
	LAYOUT_SET(set_pp_rate_limit_context, LAYOUT_IN(set_pp_rate_limit_in, ctx, in), rate_limit,
		   rate);
}

/* e->tsar at the root, e->group in it. */
static void build_sched(struct env *e, enum base b)
{
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
	case B_RTS2RTS_QP_EXT:
		qp_to(e, HW_QPS_RTS);
		b_qp_groups(e, PRM_OP_RTS2RTS_QP, e->group, e->group);
		break;
	default:
		fail();
	}
}

static void build_raw(struct env *e, enum base b)
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
		fail();
	}
}
#include "fw/test_shared.h"

/* Makes what the command needs and leaves the command in e->in. */
static void build(struct env *e, enum base b)
{
	if (b >= B_CREATE_GENERAL_OBJECT && b <= B_RTS2RTS_QP_EXT) {
		build_sched(e, b);
		return;
	}
	if (b >= B_ALLOC_TRANSPORT_DOMAIN && b <= B_DESTROY_SQ) {
		build_raw(e, b);
		return;
	}
	if (build_shared(e, (int)b))
		return;
	switch ((int)b) {
	case B_QUERY_HCA_CAP:
		cmd_init(e, PRM_OP_QUERY_HCA_CAP, 1);
		break;
	case B_QUERY_ADAPTER:
		cmd_init(e, PRM_OP_QUERY_ADAPTER, 0);
		break;
	case B_QUERY_ISSI:
		cmd_init(e, PRM_OP_QUERY_ISSI, 0);
		break;
	case B_QUERY_SPECIAL_CONTEXTS:
		cmd_init(e, PRM_OP_QUERY_SPECIAL_CONTEXTS, 0);
		break;
	case B_NOP:
		cmd_init(e, PRM_OP_NOP, 0);
		break;
	case B_QUERY_HCA_VPORT_CONTEXT:
		LAYOUT_SET(query_hca_vport_context_in,
			   cmd_init(e, PRM_OP_QUERY_HCA_VPORT_CONTEXT, 0), port_num, 1);
		break;
	case B_QUERY_VPORT_STATE:
		cmd_init(e, PRM_OP_QUERY_VPORT_STATE, 0);
		break;
	case B_QUERY_VPORT_COUNTER:
		LAYOUT_SET(query_vport_counter_in, cmd_init(e, PRM_OP_QUERY_VPORT_COUNTER, 0),
			   port_num, 1);
		break;
	case B_QUERY_VNIC_ENV:
		cmd_init(e, PRM_OP_QUERY_VNIC_ENV, 0);
		break;
	case B_QUERY_NIC_VPORT_CONTEXT:
		cmd_init(e, PRM_OP_QUERY_NIC_VPORT_CONTEXT, 0);
		break;
	case B_QUERY_LAG:
		cmd_init(e, PRM_OP_QUERY_LAG, 0);
		break;
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
		qp_to(e, HW_QPS_INIT);
		b_modify_qp(e, PRM_OP_INIT2INIT_QP, 1 << 3);
		break;
	case B_INIT2RTR_QP:
		qp_to(e, HW_QPS_INIT);
		b_init2rtr(e);
		break;
	case B_RTR2RTS_QP:
		qp_to(e, HW_QPS_RTR);
		b_rtr2rts(e);
		break;
	case B_RTS2RTS_QP:
		qp_to(e, HW_QPS_RTS);
		b_modify_qp(e, PRM_OP_RTS2RTS_QP, 1 << 6);
		break;
	case B_SQERR2RTS_QP:
		qp_to(e, HW_QPS_RTS);
		hw_qp(&e->s, e->qp)->state = HW_QPS_SQER;
		b_modify_qp(e, PRM_OP_SQERR2RTS_QP, 0);
		break;
	case B_SQD_RTS_QP:
		qp_to(e, HW_QPS_RTS);
		hw_qp(&e->s, e->qp)->state = HW_QPS_SQD;
		b_modify_qp(e, PRM_OP_SQD_RTS_QP, 0);
		break;
	case B_2ERR_QP:
		b_id(e, PRM_OP_2ERR_QP, e->qp);
		break;
	case B_2RST_QP:
		b_id(e, PRM_OP_2RST_QP, e->qp);
		break;
	default:
		break;
	}
}

/* The command's length: its layout, and what follows it. */
static uint32_t base_len(const struct fw_cmd *cmd, enum base b)
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
	case B_RTS2RTS_QP_EXT:
		return cmd->in->bytes + LAYOUT_SZ(qpc_ext);
	default:
		return cmd->in->bytes;
	}
}

/* Room for the answer, with what follows its layout. */
static uint32_t base_outlen(const struct fw_cmd *cmd)
{
	return cmd->out->bytes + (cmd->opcode == PRM_OP_QUERY_RQT              ? 8
				  : cmd->opcode == PRM_OP_QUERY_GENERAL_OBJECT ? 0x80
									       : 0);
}

static const struct fw_cmd *row_of(const void *in)
{
	for (unsigned int i = 0; i < fw_ncmds; i++)
		if (fw_cmds[i].opcode == LAYOUT_GET(cmd_in, in, opcode))
			return &fw_cmds[i];
	return NULL;
}

/* As the driver for what only it may do, with memory for what takes memory. */
static struct fw_ctx context(struct env *e, enum base b)
{
	bool driver = b == B_SET_PP_RATE_LIMIT || b == B_CREATE_UMEM || b == B_CREATE_EQ ||
		      b == B_DESTROY_EQ || b == B_CREATE_MKEY_MEM;
	struct fw_ctx c = driver ? e->kernel : e->user;

	if (b == B_CREATE_UMEM || b == B_CREATE_MKEY_MEM)
		c.mem = &e->mem;
	return c;
}

/* ---- what is wrong ---- */

struct edit {
	uint32_t bit, width;
	uint64_t value;
};

struct refusal_row {
	enum fw_r want;
	enum base base;
	struct edit edit[5];
	void (*more)(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen);
};

#define E(l, f, v)                                            \
	{                                                     \
		LF_##l##_##f##_BIT, LF_##l##_##f##_WIDTH, (v) \
	}
#define E_IN(outer, place, l, f, v)                                                      \
	{                                                                                \
		LP_##outer##_##place * 8 + LF_##l##_##f##_BIT, LF_##l##_##f##_WIDTH, (v) \
	}
#define E_MKC(f, v) E_IN(create_mkey_in, memory_key_mkey_entry, mkc, f, v)
#define E_KLM E_MKC(access_mode_1_0, 2), E(create_mkey_in, mkey_umem_valid, 0)
#define E_EQC(f, v) E_IN(create_eq_in, eq_context_entry, eqc, f, v)
#define E_CQC(f, v) E_IN(create_cq_in, cq_context, cqc, f, v)
#define E_RMPC(f, v) E_IN(create_rmp_in, ctx, rmpc, f, v)
#define E_WQ(f, v)                                                                                \
	{                                                                                         \
		(LP_create_rmp_in_ctx + LP_rmpc_wq) * 8 + LF_wq_##f##_BIT, LF_wq_##f##_WIDTH, (v) \
	}
#define E_QPC(f, v) E_IN(create_qp_in, qpc, qpc, f, v)
#define E_ADS(f, v)                                                                         \
	{                                                                                   \
		(LP_create_qp_in_qpc + LP_qpc_primary_address_path) * 8 + LF_ads_##f##_BIT, \
			LF_ads_##f##_WIDTH, (v)                                             \
	}
#define E_SC(f, v) E_IN(create_scheduling_element_in, scheduling_context, scheduling_context, f, v)
#define E_RQC(f, v) E_IN(create_rq_in, ctx, rqc, f, v)
#define E_RQWQ(f, v)                                                                            \
	{                                                                                       \
		(LP_create_rq_in_ctx + LP_rqc_wq) * 8 + LF_wq_##f##_BIT, LF_wq_##f##_WIDTH, (v) \
	}
#define E_SQWQ E_RQWQ /* at the same place */
#define E_RQTC(f, v) E_IN(create_rqt_in, rqt_context, rqtc, f, v)
#define E_TIRC(f, v) E_IN(create_tir_in, ctx, tirc, f, v)
#define E_TISC(f, v) E_IN(create_tis_in, ctx, tisc, f, v)
#define E_SQC(f, v) E_IN(create_sq_in, ctx, sqc, f, v)
#define NOBODY 0xfff123

static void short_in(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	*inlen -= 4;
}

static void short_out(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	*outlen -= 4;
}

static void page_list(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	e->in[*inlen + 6] = 0x10; /* pas[0] */
	*inlen += 8;
}

static void as_user(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	c->kernel = false;
}

static void no_mem(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	c->mem = NULL;
}

static void empty_mem(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	e->mem.len = 0;
}

static void wrapping_mem(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	e->mem.va = UINT64_MAX - 10;
}

static void small_mem(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	e->mem.len = 0x2fff;
}

static void full_table(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	seg_table(&e->s, SEG_T_PD)->capacity = 2;
}

static void cq_error(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	hw_cq(&e->s, e->cq)->state = HW_CQ_ERR_OVERRUN;
}

static void cq_with_cqes(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	hw_cq(&e->s, e->cq)->pi = 12;
}

static void port_mtu_2048(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	hw_port(&e->s, hw_hca(&e->s, e->hca)->port[0])->active_mtu = 4;
}

/* The objects of the fixture, all in use, in commands that destroy them. */
static void used_uar(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	b_id(e, PRM_OP_DEALLOC_UAR, e->uar);
}

static void used_pd(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	b_id(e, PRM_OP_DEALLOC_PD, e->pd);
}

static void used_umem(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	b_id(e, PRM_OP_DESTROY_UMEM, e->umem);
}

static void used_cq(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	b_id(e, PRM_OP_DESTROY_CQ, e->cq);
}

static void used_srq(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	void *qpc = LAYOUT_IN(create_qp_in, qpc, e->in);

	b_create_qp(e);
	LAYOUT_SET(qpc, qpc, rq_type, 1);
	LAYOUT_SET(qpc, qpc, srqn_rmpn_xrqn, e->srq);
	make(e, IN(create_qp));
	b_id(e, PRM_OP_DESTROY_RMP, e->srq);
}

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

static void used_td(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	b_id(e, PRM_OP_DEALLOC_TRANSPORT_DOMAIN, e->td);
}

static void used_rq(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	b_id(e, PRM_OP_DESTROY_RQ, e->rq);
}

/* A number of the common space, but of another kind. */
static void rqt_for_rq(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	b_id(e, PRM_OP_DESTROY_RQ, e->rqt);
}

/* An SRQ, but no RMP. */
static void rq_on_xrc_srq(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	uint32_t srqn = new_from(e, b_create_xrc_srq, IN(create_xrc_srq));
	void *rqc;

	b_create_rq(e);
	rqc = LAYOUT_IN(create_rq_in, ctx, e->in);
	LAYOUT_SET(rqc, rqc, mem_rq_type, 1);
	LAYOUT_SET(rqc, rqc, rmpn, srqn);
}

static void used_rqt(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	b_id(e, PRM_OP_DESTROY_RQT, e->rqt);
}

static void used_tis(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	b_id(e, PRM_OP_DESTROY_TIS, e->tis);
}

static void rq_in_error(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	hw_obj(&e->s, e->rq)->state = 3;
	b_modify_rq(e, 3, 1, 0);
}

static void dead_qp(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	uint8_t saved[sizeof(e->in)];

	memcpy(saved, e->in, sizeof(saved));
	b_id(e, PRM_OP_DESTROY_QP, e->qp);
	assert_int_equal(run(e, e->in, 0x10, 0x10), FW_OK);
	memcpy(e->in, saved, sizeof(saved));
}

static void qp_in_err(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	hw_qp(&e->s, e->qp)->state = HW_QPS_ERR;
}

#define R(want, base, ...)                                 \
	{                                                  \
		FW_R_##want, B_##base, {__VA_ARGS__}, NULL \
	}
#define M(want, base, fn, ...)                           \
	{                                                \
		FW_R_##want, B_##base, {__VA_ARGS__}, fn \
	}

#include "fw/test_shared_rows.h"

static const struct refusal_row rows[] = {
	SHARED_ROWS,
	R(OPCODE, NOP, E(cmd_in, opcode, 0xfff)),
	R(OPCODE, NOP, E(cmd_in, opcode, PRM_OP_CREATE_SRQ)),
	M(INPUT_LEN, CREATE_QP, short_in, {0, 0, 0}),
	M(INPUT_LEN, CREATE_CQ, short_in, {0, 0, 0}),
	M(OUTPUT_LEN, QUERY_QP, short_out, {0, 0, 0}),
	M(OUTPUT_LEN, QUERY_ADAPTER, short_out, {0, 0, 0}),
	R(RESERVED, NOP, {0x20, 16, 1}),
	R(RESERVED, CREATE_QP, {0x60, 32, 0x4000}),
	R(RESERVED, CREATE_QP, {0x18 * 8 + 0x10, 2, 1}),
	R(RESERVED, CREATE_CQ, {0x2e1, 31, 1}),
	R(RESERVED, CREATE_MKEY, {0x48, 24, 1}),
	R(RESERVED, RST2INIT_QP, {0x60, 32, 1}),
	R(OP_MOD, CREATE_QP, E(cmd_in, op_mod, 1)),
	R(OP_MOD, ALLOC_UAR, E(cmd_in, op_mod, 2)),
	R(OP_MOD, MODIFY_CQ, E(cmd_in, op_mod, 2)),
	R(UID, ALLOC_PD, E(cmd_in, uid, TEST_UID + 1)),
	R(UID, QUERY_QP, E(cmd_in, uid, 0)),
	M(PAGE_LIST, CREATE_QP, page_list, {0, 0, 0}),
	M(PAGE_LIST, CREATE_CQ, page_list, {0, 0, 0}),
	M(PAGE_LIST, CREATE_MKEY, page_list, {0, 0, 0}),
	M(TABLE_FULL, ALLOC_PD, full_table, {0, 0, 0}),
	M(KERNEL_ONLY, CREATE_UMEM, as_user, {0, 0, 0}),
	M(KERNEL_ONLY, CREATE_EQ, as_user, {0, 0, 0}),
	M(KERNEL_ONLY, DESTROY_EQ, as_user, {0, 0, 0}),
	M(NO_MEMORY, CREATE_UMEM, no_mem, {0, 0, 0}),

	R(CAP_GROUP, QUERY_HCA_CAP, E(cmd_in, op_mod, 0x3f << 1)),
	R(CAP_FUNCTION, QUERY_HCA_CAP, E(query_hca_cap_in, other_function, 1)),
	R(CAP_FUNCTION, QUERY_HCA_CAP, E(query_hca_cap_in, function_id, 1)),
	R(VPORT_OTHER, QUERY_HCA_VPORT_CONTEXT, E(query_hca_vport_context_in, other_vport, 1)),
	R(VPORT_PORT, QUERY_HCA_VPORT_CONTEXT, E(query_hca_vport_context_in, port_num, 3)),
	R(VPORT_PORT, QUERY_HCA_VPORT_CONTEXT, E(query_hca_vport_context_in, port_num, 0)),
	R(VPORT_STATE_OTHER, QUERY_VPORT_STATE, E(query_vport_state_in, other_vport, 1)),
	R(VPORT_COUNTER_OTHER, QUERY_VPORT_COUNTER, E(query_vport_counter_in, other_vport, 1)),
	R(VPORT_COUNTER_OTHER, QUERY_VPORT_COUNTER, E(query_vport_counter_in, vport_number, 1)),
	R(VPORT_COUNTER_PORT, QUERY_VPORT_COUNTER, E(query_vport_counter_in, port_num, 3)),
	R(VPORT_COUNTER_CLEAR, QUERY_VPORT_COUNTER, E(query_vport_counter_in, clear, 1)),
	R(VNIC_ENV_OTHER, QUERY_VNIC_ENV, E(query_vnic_env_in, other_vport, 1)),
	R(VNIC_ENV_OTHER, QUERY_VNIC_ENV, E(query_vnic_env_in, vport_number, 2)),
	R(NIC_VPORT_OTHER, QUERY_NIC_VPORT_CONTEXT, E(query_nic_vport_context_in, other_vport, 1)),
	R(NIC_VPORT_LIST, QUERY_NIC_VPORT_CONTEXT,
	  E(query_nic_vport_context_in, allowed_list_type, 3)),
	R(LAG_OFF, QUERY_LAG, {0, 0, 0}),

	R(UAR_NONE, DEALLOC_UAR, E(dealloc_uar_in, uar, NOBODY)),
	M(UAR_IN_USE, DEALLOC_UAR, used_uar, {0, 0, 0}),
	R(PD_NONE, DEALLOC_PD, E(dealloc_pd_in, pd, NOBODY)),
	M(PD_IN_USE, DEALLOC_PD, used_pd, {0, 0, 0}),
	M(UMEM_LEN, CREATE_UMEM, empty_mem, {0, 0, 0}),
	M(UMEM_LEN, CREATE_UMEM, wrapping_mem, {0, 0, 0}),
	R(UMEM_ATS, CREATE_UMEM, E_IN(create_umem_in, umem, umem, ats, 1)),
	R(UMEM_NONE, DESTROY_UMEM, E(destroy_umem_in, umem_id, NOBODY)),
	M(UMEM_IN_USE, DESTROY_UMEM, used_umem, {0, 0, 0}),

	R(MKC_FREE, CREATE_MKEY, E_MKC(free, 1)),
	R(MKC_ACCESS_MODE, CREATE_MKEY, E_MKC(access_mode_1_0, 0)),
	R(MKC_ACCESS_MODE, CREATE_MKEY, E_MKC(access_mode_4_2, 1)),
	R(MKC_PD, CREATE_MKEY, E_MKC(pd, NOBODY)),
	R(MKC_LENGTH64, CREATE_MKEY, E_MKC(length64, 1)),
	R(MKC_LEN, CREATE_MKEY, E_MKC(start_addr, UINT64_MAX - 5)),
	R(MKC_BSF, CREATE_MKEY, E_MKC(bsf_en, 1)),
	R(MKC_BSF, CREATE_MKEY, E_MKC(bsf_octword_size, 1)),
	R(MKC_CRYPTO, CREATE_MKEY, E_MKC(crypto_en, 1)),
	R(MKEY_LIST_UMEM, CREATE_MKEY, E_MKC(access_mode_1_0, 2)),
	R(MKC_LIST_SIZE, CREATE_MKEY, E_KLM, E_MKC(translations_octword_size, 513)),
	R(MKEY_LIST_MOST, CREATE_MKEY, E_KLM, E_MKC(translations_octword_size, 4),
	  E(create_mkey_in, translations_octword_actual_size, 5)),
	R(MKEY_LIST_LEN, CREATE_MKEY, E_KLM,
	  E(create_mkey_in, translations_octword_actual_size, 1)),
	R(MKC_ENTITY, CREATE_MKEY, E_KLM, E_MKC(access_mode_1_0, 3), E_MKC(log_page_size, 11)),
	R(MKC_PAGE_SIZE, CREATE_MKEY, E_MKC(log_page_size, 11)),
	R(MKC_TRANSLATIONS, CREATE_MKEY, E_MKC(translations_octword_size, 1)),
	R(MKEY_UMEM_VALID, CREATE_MKEY, E(create_mkey_in, mkey_umem_valid, 0)),
	R(MKEY_UMEM, CREATE_MKEY, E(create_mkey_in, mkey_umem_id, NOBODY)),
	R(MKEY_UMEM_FIT, CREATE_MKEY, E(create_mkey_in, mkey_umem_offset, TEST_BUF)),
	R(MKEY_UMEM_FIT, CREATE_MKEY, E(create_mkey_in, mkey_umem_offset, TEST_BUF - 0x3000)),
	R(MKEY_UMEM_FIT, CREATE_MKEY, E(create_mkey_in, mkey_umem_offset, UINT64_MAX)),
	M(MKEY_MEM_FIT, CREATE_MKEY_MEM, small_mem, {0, 0, 0}),
	R(MKEY_PG_ACCESS, CREATE_MKEY, E(create_mkey_in, pg_access, 1)),
	R(MKEY_PG_ACCESS, QUERY_MKEY, E(query_mkey_in, pg_access, 1)),
	R(MKEY_QUERY_NONE, QUERY_MKEY, E(query_mkey_in, mkey_index, NOBODY)),
	R(MKEY_NONE, DESTROY_MKEY, E(destroy_mkey_in, mkey_index, NOBODY)),

	R(EQ_INTR, CREATE_EQ, E_EQC(intr, HW_COMP_VECTORS)),
	R(EQ_INTR, CREATE_EQ, E_EQC(intr, 1)),
	R(EQ_UAR, CREATE_EQ, E_EQC(uar_page, NOBODY)),
	R(EQ_SIZE, CREATE_EQ, E_EQC(log_eq_size, 23)),
	R(EQ_NONE, QUERY_EQ, E(query_eq_in, eq_number, 0)),
	R(EQ_NONE, QUERY_EQ, E(query_eq_in, eq_number, 9)),
	R(EQ_DESTROY_NONE, DESTROY_EQ, E(destroy_eq_in, eq_number, 9)),

	R(CQC_EQN, CREATE_CQ, E_CQC(c_eqn, 0)),
	R(CQC_EQN, CREATE_CQ, E_CQC(c_eqn, 9)),
	R(CQC_EQN, MODIFY_CQ, E(modify_cq_in, modify_field_select, PRM_CQ_MODIFY_EQN)),
	R(CQC_UAR, CREATE_CQ, E_CQC(uar_page, NOBODY)),
	R(CQC_SIZE, CREATE_CQ, E_CQC(log_cq_size, 23)),
	R(CQC_SIZE, RESIZE_CQ, E_CQC(log_cq_size, 23)),
	R(CQC_CQE_SZ, CREATE_CQ, E_CQC(cqe_sz, 2)),
	R(CQC_CQE_SZ, RESIZE_CQ, E_CQC(cqe_sz, 2)),
	R(CQC_COMPRESSION, CREATE_CQ, E_CQC(cqe_comp_en, 1)),
	R(CQC_COLLAPSED, CREATE_CQ, E_CQC(cc, 1)),
	R(CQC_BREAK_MODERATION, CREATE_CQ, E_CQC(scqe_break_moderation_en, 1)),
	R(CQC_STATUS, CREATE_CQ, E_CQC(status, 9)),
	R(CQC_PERIOD_MODE, CREATE_CQ, E_CQC(cq_period_mode, 1)),
	R(CQC_PERIOD_MODE, MODIFY_CQ,
	  E(modify_cq_in, modify_field_select, PRM_CQ_MODIFY_PERIOD_MODE),
	  E_CQC(cq_period_mode, 1)),
	R(CQ_UMEM_VALID, CREATE_CQ, E(create_cq_in, cq_umem_valid, 0)),
	R(CQ_UMEM, CREATE_CQ, E(create_cq_in, cq_umem_id, NOBODY)),
	R(CQ_UMEM_FIT, CREATE_CQ, E(create_cq_in, cq_umem_offset, TEST_BUF - 0x1000 - 0x3c0)),
	R(CQ_UMEM_FIT, CREATE_CQ, E(create_cq_in, cq_umem_offset, 0x20)),
	R(CQ_UMEM_FIT, CREATE_CQ, E(create_cq_in, cq_umem_offset, UINT64_MAX - 63)),
	R(CQ_UMEM_FIT, CREATE_CQ, E_CQC(log_cq_size, 15)),
	R(CQ_DBR_VALID, CREATE_CQ, E_CQC(dbr_umem_valid, 0)),
	R(CQ_DBR_UMEM, CREATE_CQ, E_CQC(dbr_umem_id, 0)),
	R(CQ_DBR_FIT, CREATE_CQ, E_CQC(dbr_addr, 0x1000)),
	R(CQ_DBR_FIT, CREATE_CQ, E_CQC(dbr_addr, 0x44)),
	R(CQ_QUERY_NONE, QUERY_CQ, E(query_cq_in, cqn, NOBODY)),
	R(CQ_NONE, DESTROY_CQ, E(destroy_cq_in, cqn, NOBODY)),
	M(CQ_IN_USE, DESTROY_CQ, used_cq, {0, 0, 0}),
	R(CQ_MODIFY_NONE, MODIFY_CQ, E(modify_cq_in, cqn, NOBODY)),
	R(CQ_MODIFY_SELECT, MODIFY_CQ, E(modify_cq_in, modify_field_select, PRM_CQ_MODIFY_STATUS)),
	R(CQ_RESIZE_SELECT, RESIZE_CQ,
	  E(modify_cq_in, resize_field_select, PRM_CQ_RESIZE_PAGE_OFFSET)),
	R(CQ_RESIZE_SELECT, RESIZE_CQ, E(modify_cq_in, resize_field_select, 0x11)),
	M(CQ_RESIZE_SMALL, RESIZE_CQ, cq_with_cqes, E_CQC(log_cq_size, 3)),
	M(CQ_RESIZE_STATE, RESIZE_CQ, cq_error, {0, 0, 0}),

	R(RMPC_STATE, CREATE_RMP, E_RMPC(state, 0)),
	R(RMPC_CYCLIC, CREATE_RMP, E_RMPC(basic_cyclic_rcv_wqe, 1)),
	R(WQ_TYPE, CREATE_RMP, E_WQ(wq_type, 2)),
	R(WQ_PD, CREATE_RMP, E_WQ(pd, NOBODY)),
	R(WQ_STRIDE, CREATE_RMP, E_WQ(log_wq_stride, 4)),
	R(WQ_STRIDE, CREATE_RMP, E_WQ(log_wq_stride, 10)),
	R(WQ_SIZE, CREATE_RMP, E_WQ(log_wq_sz, 16)),
	R(WQ_SIGNATURE, CREATE_RMP, E_WQ(wq_signature, 1)),
	R(WQ_UMEM_VALID, CREATE_RMP, E_WQ(wq_umem_valid, 0)),
	R(WQ_UMEM, CREATE_RMP, E_WQ(wq_umem_id, 0)),
	R(WQ_UMEM_FIT, CREATE_RMP, E_WQ(wq_umem_offset, TEST_BUF - 0x1000 - 0x1f0)),
	R(WQ_DBR_VALID, CREATE_RMP, E_WQ(dbr_umem_valid, 0)),
	R(WQ_DBR_UMEM, CREATE_RMP, E_WQ(dbr_umem_id, NOBODY)),
	R(WQ_DBR_FIT, CREATE_RMP, E_WQ(dbr_addr, 0xffe)),
	R(WQ_STRIDING, CREATE_RMP, E_WQ(log_wqe_num_of_strides, 1)),
	R(WQ_LWM, CREATE_RMP, E_WQ(lwm, 16)),
	R(RMP_MODIFY_NONE, MODIFY_RMP, E(modify_rmp_in, rmpn, NOBODY)),
	R(RMP_MODIFY_STATE, MODIFY_RMP, E(modify_rmp_in, rmp_state, 0)),
	R(RMP_MODIFY_LWM, MODIFY_RMP, E_WQ(lwm, 16)),
	R(RMP_NONE, DESTROY_RMP, E(destroy_rmp_in, rmpn, NOBODY)),
	M(RMP_IN_USE, DESTROY_RMP, used_srq, {0, 0, 0}),
	R(RMP_QUERY_NONE, QUERY_RMP, E(query_rmp_in, rmpn, NOBODY)),

	R(GOBJ_TYPE, CREATE_GENERAL_OBJECT, E(cmd_in, op_mod, 0xc)),
	R(GOBJ_TYPE, MODIFY_GENERAL_OBJECT, E(cmd_in, op_mod, 0x1f)),
	R(GOBJ_TYPE, QUERY_GENERAL_OBJECT, E(cmd_in, op_mod, 0)),
	R(GOBJ_TYPE, DESTROY_GENERAL_OBJECT, E(cmd_in, op_mod, 0xd)),
	M(GOBJ_LEN, CREATE_GENERAL_OBJECT, short_in, {0, 0, 0}),
	M(GOBJ_LEN, CREATE_AV_QP_MAPPING, short_in, {0, 0, 0}),
	R(GOBJ_RESERVED, CREATE_GENERAL_OBJECT, {0x80 + 0x60, 32, 1}),
	R(GOBJ_RESERVED, CREATE_RESERVED_QPN, {0x80, 8, 1}),
	R(GOBJ_RANGE, CREATE_RESERVED_QPN, E(create_general_object_in, log_obj_range, 1)),
	R(GOBJ_ID, CREATE_GENERAL_OBJECT, E(create_general_object_in, obj_id, 1)),
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
	R(QP_EXT, RTS2RTS_QP_EXT, E(rts2rts_qp_in, opt_param_mask_95_32, 1)),
	M(INPUT_LEN, RTS2RTS_QP_EXT, short_in, {0, 0, 0}),
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
	R(TD_NONE, DEALLOC_TRANSPORT_DOMAIN,
	  E(dealloc_transport_domain_in, transport_domain, NOBODY)),
	M(TD_IN_USE, DEALLOC_TRANSPORT_DOMAIN, used_td, {0, 0, 0}),
	R(RQC_STATE, CREATE_RQ, E_RQC(state, 1)),
	R(RQC_RLKY, CREATE_RQ, E_RQC(rlky, 1)),
	R(RQC_DELAY_DROP, CREATE_RQ, E_RQC(delay_drop_en, 1)),
	R(RQC_SCATTER_FCS, CREATE_RQ, E_RQC(scatter_fcs, 1)),
	R(RQC_SCATTER_FCS, MODIFY_RQ, E(modify_rq_in, modify_bitmask, PRM_RQ_MODIFY_SCATTER_FCS),
	  E_RQC(scatter_fcs, 1)),
	R(RQC_HAIRPIN, CREATE_RQ, E_RQC(hairpin, 1)),
	R(RQC_MEM_TYPE, CREATE_RQ, E_RQC(mem_rq_type, 2)),
	R(RQC_TS_FORMAT, CREATE_RQ, E_RQC(ts_format, 2)),
	R(RQC_CQN, CREATE_RQ, E_RQC(cqn, NOBODY)),
	R(RQC_RMPN, CREATE_RQ, E_RQC(mem_rq_type, 1), E_RQC(rmpn, NOBODY)),
	M(RQC_RMPN, CREATE_RQ, rq_on_xrc_srq, {0, 0, 0}),
	R(RQC_COUNTERS, CREATE_RQ, E_RQC(counter_set_id, 0xfe)),
	R(RQC_COUNTERS, MODIFY_RQ, E(modify_rq_in, modify_bitmask, PRM_RQ_MODIFY_COUNTER_SET_ID),
	  E_RQC(counter_set_id, 0xfe)),
	R(RQ_WQ_TYPE, CREATE_RQ, E_RQWQ(wq_type, 3)),
	R(RQ_STRIDE, CREATE_RQ, E_RQWQ(log_wq_stride, 3)),
	R(RQ_STRIDE, CREATE_RQ, E_RQWQ(log_wq_stride, 10)),
	R(RQ_SIZE, CREATE_RQ, E_RQWQ(log_wq_sz, 16)),
	R(RQ_END_PADDING, CREATE_RQ, E_RQWQ(end_padding_mode, 1)),
	R(WQ_SIGNATURE, CREATE_RQ, E_RQWQ(wq_signature, 1)),
	R(WQ_STRIDING, CREATE_RQ, E_RQWQ(log_wqe_stride_size, 1)),
	R(WQ_LWM, CREATE_RQ, E_RQWQ(lwm, 16)),
	R(WQ_PD, CREATE_RQ, E_RQWQ(pd, NOBODY)),
	R(WQ_UMEM, CREATE_RQ, E_RQWQ(wq_umem_id, NOBODY)),
	R(WQ_UMEM_VALID, CREATE_RQ, E_RQWQ(wq_umem_valid, 0)),
	R(WQ_UMEM_FIT, CREATE_RQ, E_RQWQ(wq_umem_offset, TEST_BUF)),
	R(WQ_DBR_VALID, CREATE_RQ, E_RQWQ(dbr_umem_valid, 0)),
	R(WQ_DBR_UMEM, CREATE_RQ, E_RQWQ(dbr_umem_id, NOBODY)),
	R(WQ_DBR_FIT, CREATE_RQ, E_RQWQ(dbr_addr, 0x1000)),
	R(RESERVED, CREATE_RQ, {0x20 * 8 + 0xa0, 32, 1}),
	R(RQ_MODIFY_NONE, MODIFY_RQ, E(modify_rq_in, rqn, NOBODY)),
	R(RQ_MODIFY_FROM, MODIFY_RQ, E(modify_rq_in, rq_state, 1)),
	R(RQ_MODIFY_TO, MODIFY_RQ, E_RQC(state, 2)),
	M(RQ_MODIFY_TO, MODIFY_RQ, rq_in_error, {0, 0, 0}),
	R(RQ_MODIFY_MASK, MODIFY_RQ, E(modify_rq_in, modify_bitmask, 16)),
	R(RQ_MODIFY_LWM, MODIFY_RQ, E(modify_rq_in, modify_bitmask, PRM_RQ_MODIFY_LWM),
	  E_RQWQ(lwm, 16)),
	R(RQ_NONE, DESTROY_RQ, E(destroy_rq_in, rqn, NOBODY)),
	M(RQ_NONE, DESTROY_RQ, rqt_for_rq, {0, 0, 0}),
	M(RQ_IN_USE, DESTROY_RQ, used_rq, {0, 0, 0}),
	R(RQ_QUERY_NONE, QUERY_RQ, E(query_rq_in, rqn, NOBODY)),
	R(ARM_RQ_NONE, ARM_RQ, E(arm_rq_in, srq_number, NOBODY)),
	R(ARM_RQ_LWM, ARM_RQ, E(arm_rq_in, lwm, 16)),
	R(OP_MOD, ARM_RQ, E(cmd_in, op_mod, 2)),
	R(RQT_SIZE, CREATE_RQT, E_RQTC(rqt_actual_size, 0)),
	R(RQT_SIZE, CREATE_RQT, E_RQTC(rqt_actual_size, 5)),
	R(RQT_SIZE, CREATE_RQT, E_RQTC(rqt_max_size, 129)),
	R(RQT_SIZE, MODIFY_RQT, E_RQTC(rqt_actual_size, 5)),
	R(RQT_LIST, CREATE_RQT, E_RQTC(rqt_actual_size, 3)),
	R(RQT_RQ, CREATE_RQT, {0x110 * 8 + 8, 24, NOBODY}),
	R(RQT_RQ, MODIFY_RQT, {0x114 * 8 + 8, 24, NOBODY}),
	R(RQT_RESERVED, CREATE_RQT, {0x114 * 8, 8, 1}),
	R(RQT_Q_TYPE, CREATE_RQT, E_RQTC(list_q_type, 1)),
	R(RQT_VHCA, CREATE_RQT, E_RQTC(rq_vhca_id_format, 1)),
	R(RQT_MODIFY_NONE, MODIFY_RQT, E(modify_rqt_in, rqtn, NOBODY)),
	R(RQT_NONE, DESTROY_RQT, E(destroy_rqt_in, rqtn, NOBODY)),
	M(RQT_IN_USE, DESTROY_RQT, used_rqt, {0, 0, 0}),
	R(RQT_QUERY_NONE, QUERY_RQT, E(query_rqt_in, rqtn, NOBODY)),
	M(OUTPUT_LEN, QUERY_RQT, short_out, {0, 0, 0}),
	R(TIRC_DISP_TYPE, CREATE_TIR, E_TIRC(disp_type, 2)),
	R(TIRC_TD, CREATE_TIR, E_TIRC(transport_domain, NOBODY)),
	R(TIRC_RQN, CREATE_TIR, E_TIRC(disp_type, 0)),
	R(TIRC_RQT, CREATE_TIR, E_TIRC(indirect_table, NOBODY)),
	R(TIRC_HASH_FN, CREATE_TIR, E_TIRC(rx_hash_fn, 3)),
	R(TIRC_HASH_FN, CREATE_TIR, E_TIRC(rx_hash_fn, 0)),
	R(TIRC_HASH_FN, MODIFY_TIR, E_TIRC(rx_hash_fn, 0)),
	R(TIRC_TLS, CREATE_TIR, E_TIRC(tls_en, 1)),
	R(TIRC_MERGE, CREATE_TIR, E_TIRC(packet_merge_mask, 1)),
	R(TIRC_MERGE, MODIFY_TIR, E_IN(modify_tir_in, bitmask, modify_tir_bitmask, packet_merge, 1),
	  E_TIRC(lro_max_ip_payload_size, 1)),
	R(TIRC_TUNNEL, CREATE_TIR, E_TIRC(tunneled_offload_en, 1)),
	R(TIR_MODIFY_NONE, MODIFY_TIR, E(modify_tir_in, tirn, NOBODY)),
	R(TIR_NONE, DESTROY_TIR, E(destroy_tir_in, tirn, NOBODY)),
	R(TIR_QUERY_NONE, QUERY_TIR, E(query_tir_in, tirn, NOBODY)),
	R(TISC_TD, CREATE_TIS, E_TISC(transport_domain, NOBODY)),
	R(TISC_PD, CREATE_TIS, E_TISC(pd, NOBODY)),
	R(TISC_UNDERLAY, CREATE_TIS, E_TISC(underlay_qpn, NOBODY)),
	R(TISC_TLS, CREATE_TIS, E_TISC(tls_en, 1)),
	R(TISC_LAG, CREATE_TIS, E_TISC(lag_tx_port_affinity, 1)),
	R(TISC_LAG, MODIFY_TIS,
	  E_IN(modify_tis_in, bitmask, modify_tis_bitmask, strict_lag_tx_port_affinity, 1),
	  E_TISC(strict_lag_tx_port_affinity, 1)),
	R(TIS_MODIFY_NONE, MODIFY_TIS, E(modify_tis_in, tisn, NOBODY)),
	R(TIS_NONE, DESTROY_TIS, E(destroy_tis_in, tisn, NOBODY)),
	M(TIS_IN_USE, DESTROY_TIS, used_tis, {0, 0, 0}),
	R(TIS_QUERY_NONE, QUERY_TIS, E(query_tis_in, tisn, NOBODY)),
	R(SQC_STATE, CREATE_SQ, E_SQC(state, 1)),
	R(SQC_RLKY, CREATE_SQ, E_SQC(rlky, 1)),
	R(SQC_CD, CREATE_SQ, E_SQC(cd_master, 1)),
	R(SQC_MPW, CREATE_SQ, E_SQC(allow_multi_pkt_send_wqe, 1)),
	R(SQC_UMR, CREATE_SQ, E_SQC(reg_umr, 1)),
	R(SQC_SWP, CREATE_SQ, E_SQC(allow_swp, 1)),
	R(SQC_HAIRPIN, CREATE_SQ, E_SQC(hairpin, 1)),
	R(SQC_TS_FORMAT, CREATE_SQ, E_SQC(ts_format, 2)),
	R(SQC_CQN, CREATE_SQ, E_SQC(cqn, NOBODY)),
	R(SQC_TS_CQE, CREATE_SQ, E_SQC(ts_cqe_to_dest_cqn, 1)),
	R(SQC_TIS_SIZE, CREATE_SQ, E_SQC(tis_lst_sz, 2)),
	R(SQC_TIS, CREATE_SQ, E_SQC(tis_num_0, NOBODY)),
	R(SQC_PACING, CREATE_SQ, E_SQC(packet_pacing_rate_limit_index, 9)),
	R(SQC_PACING, MODIFY_SQ, E(modify_sq_in, modify_bitmask, PRM_SQ_MODIFY_RATE_LIMIT_INDEX),
	  E_SQC(packet_pacing_rate_limit_index, 9)),
	R(SQC_QOS_GROUP, CREATE_SQ, E_SQC(qos_queue_group_id, 9)),
	R(SQC_QOS_GROUP, MODIFY_SQ,
	  E(modify_sq_in, modify_bitmask, PRM_SQ_MODIFY_QOS_QUEUE_GROUP_ID),
	  E_SQC(qos_queue_group_id, 9)),
	R(SQ_WQ_TYPE, CREATE_SQ, E_SQWQ(wq_type, 0)),
	R(SQ_STRIDE, CREATE_SQ, E_SQWQ(log_wq_stride, 5)),
	R(SQ_SIZE, CREATE_SQ, E_SQWQ(log_wq_sz, 16)),
	R(SQ_UAR, CREATE_SQ, E_SQWQ(uar_page, NOBODY)),
	R(WQ_PD, CREATE_SQ, E_SQWQ(pd, NOBODY)),
	R(WQ_SIGNATURE, CREATE_SQ, E_SQWQ(wq_signature, 1)),
	R(WQ_DBR_FIT, CREATE_SQ, E_SQWQ(dbr_addr, 0xffc)),
	R(SQ_MODIFY_NONE, MODIFY_SQ, E(modify_sq_in, sqn, NOBODY)),
	R(SQ_MODIFY_FROM, MODIFY_SQ, E(modify_sq_in, sq_state, 3)),
	R(SQ_MODIFY_TO, MODIFY_SQ, E_SQC(state, 4)),
	R(SQ_MODIFY_MASK, MODIFY_SQ, E(modify_sq_in, modify_bitmask, 2)),
	R(SQ_NONE, DESTROY_SQ, E(destroy_sq_in, sqn, NOBODY)),
	R(SQ_QUERY_NONE, QUERY_SQ, E(query_sq_in, sqn, NOBODY)),

	R(QPC_ST, CREATE_QP, E_QPC(st, HW_ST_QP0)),
	R(QPC_PD, CREATE_QP, E_QPC(pd, NOBODY)),
	R(QPC_CQN_SND, CREATE_QP, E_QPC(cqn_snd, NOBODY)),
	R(QPC_CQN_RCV, CREATE_QP, E_QPC(cqn_rcv, 0)),
	R(QPC_UAR, CREATE_QP, E_QPC(uar_page, 0)),
	R(QPC_RQ_TYPE, CREATE_QP, E_QPC(rq_type, 2)),
	R(QPC_SRQN, CREATE_QP, E_QPC(rq_type, 1)),
	R(QPC_RQ_STRIDE, CREATE_QP, E_QPC(log_rq_stride, 6)),
	R(QPC_TS_FORMAT, CREATE_QP, E_QPC(ts_format, 2)),
	R(QPC_WQ_SIGNATURE, CREATE_QP, E_QPC(wq_signature, 1)),
	R(QPC_RLKY, CREATE_QP, E_QPC(rlky, 1)),
	R(QPC_OFFLOAD, CREATE_QP, E_QPC(offload_type, 1)),
	R(QPC_OFFLOAD, CREATE_QP, E_QPC(ulp_stateless_offload_mode, 1)),
	R(QP_INPUT_QPN, CREATE_QP, E(create_qp_in, input_qpn, 5)),
	R(QP_CREATE_OPT, CREATE_QP, E(create_qp_in, opt_param_mask, 1)),
	R(QP_UMEM_VALID, CREATE_QP, E(create_qp_in, wq_umem_valid, 0)),
	R(QP_UMEM, CREATE_QP, E(create_qp_in, wq_umem_id, NOBODY)),
	R(QP_UMEM_FIT, CREATE_QP, E(create_qp_in, wq_umem_offset, TEST_BUF - 0x1000 - 0x4c0)),
	R(QP_UMEM_FIT, CREATE_QP, E(create_qp_in, wq_umem_offset, 16)),
	R(QP_UMEM_FIT, CREATE_QP, E_QPC(log_sq_size, 15)),
	R(QP_DBR_VALID, CREATE_QP, E_QPC(dbr_umem_valid, 0)),
	R(QP_DBR_UMEM, CREATE_QP, E_QPC(dbr_umem_id, NOBODY)),
	R(QP_DBR_FIT, CREATE_QP, E_QPC(dbr_addr, 0xffc)),
	R(QP_DBR_FIT, CREATE_QP, E_QPC(dbr_addr, UINT64_MAX - 7)),
	R(QPC_STATE, CREATE_QP, E_QPC(state, HW_QPS_RTS)),
	R(QPC_END_PADDING, CREATE_QP, E_QPC(end_padding_mode, 1)),
	R(QPC_DRAIN_SIGERR, CREATE_QP, E_QPC(drain_sigerr, 1)),
	R(QP_DESTROY_NONE, DESTROY_QP, E(destroy_qp_in, qpn, NOBODY)),
	M(QP_DESTROY_NONE, DESTROY_QP, dead_qp, {0, 0, 0}),
	R(QP_QUERY_NONE, QUERY_QP, E(query_qp_in, qpn, NOBODY)),
	R(QP_NONE, RST2INIT_QP, E(rst2init_qp_in, qpn, NOBODY)),
	R(QP_NONE, 2ERR_QP, E(qp_2err_in, qpn, NOBODY)),
	R(QP_NONE, 2RST_QP, E(qp_2rst_in, qpn, NOBODY)),
	R(QP_FROM_STATE, INIT2RTR_QP, E(cmd_in, opcode, PRM_OP_RTR2RTS_QP)),
	R(QP_FROM_STATE, RTS2RTS_QP, E(cmd_in, opcode, PRM_OP_RST2INIT_QP)),
	R(QP_FROM_STATE, RST2INIT_QP, E(cmd_in, opcode, PRM_OP_INIT2INIT_QP)),
	M(QP_FROM_STATE, RTR2RTS_QP, qp_in_err, {0, 0, 0}),
	R(QP_OPT_MASK, RST2INIT_QP, E(rst2init_qp_in, opt_param_mask, 1 << 4)),
	R(QP_OPT_MASK, INIT2RTR_QP, E(rst2init_qp_in, opt_param_mask, 1 << 5)),
	R(QP_OPT_MASK, RTS2RTS_QP, E(rst2init_qp_in, opt_param_mask, 1 << 0)),
	R(PATH_PORT, RST2INIT_QP, E_ADS(vhca_port_num, 0)),
	R(PATH_PORT, RST2INIT_QP, E_ADS(vhca_port_num, 3)),
	R(PATH_PKEY, RST2INIT_QP, E_ADS(pkey_index, HW_PKEYS)),
	R(PATH_PKEY, RST2INIT_QP, E_ADS(pkey_index, 1)),
	R(PATH_SGID, INIT2RTR_QP, E_ADS(grh, 1), E_ADS(src_addr_index, 1)),
	R(PATH_SGID, INIT2RTR_QP, E_ADS(grh, 1), E_ADS(src_addr_index, HW_GIDS)),
	R(QPC_ATOMIC_MODE, RST2INIT_QP, E_QPC(atomic_mode, 4)),
	R(QPC_MTU, INIT2RTR_QP, E_QPC(mtu, 0)),
	R(QPC_MTU, INIT2RTR_QP, E_QPC(mtu, 6)),
	M(QPC_MTU, INIT2RTR_QP, port_mtu_2048, E_QPC(mtu, 5)),
	R(QPC_MSG_MAX, INIT2RTR_QP, E_QPC(log_msg_max, 31)),
	R(QPC_RRA_MAX, INIT2RTR_QP, E_QPC(log_rra_max, 5)),
	R(QPC_SRA_MAX, RTR2RTS_QP, E_QPC(log_sra_max, 5)),
	R(QPC_PM_STATE, RTS2RTS_QP, E(rst2init_qp_in, opt_param_mask, 1 << 10), E_QPC(pm_state, 1)),
};

/* ---- the tests ---- */

static uint32_t run_base(struct env *e, enum base b)
{
	struct fw_ctx c;
	const struct fw_cmd *cmd;

	build(e, b);
	c = context(e, b);
	cmd = row_of(e->in);
	assert_non_null(cmd);
	return run_as(e, &c, e->in, base_len(cmd, b), base_outlen(cmd));
}

static void test_every_command_has_a_valid_form_that_succeeds(void **state)
{
	static bool seen[0x1000];

	for (int b = 0; b < B_COUNT; b++) {
		struct env e;

		env_up(&e);
		if (run_base(&e, (enum base)b) != (b == B_QUERY_LAG ? FW_BAD_SYS_STATE : FW_OK))
			fail_msg("%s: syndrome 0x%x", fw_opcode_name(row_of(e.in)->opcode),
				 syndrome(&e));
		seen[row_of(e.in)->opcode] = true;
		env_down(&e);
	}
	for (unsigned int i = 0; i < fw_ncmds; i++)
		if (!seen[fw_cmds[i].opcode])
			fail_msg("%s has no test", fw_opcode_name(fw_cmds[i].opcode));
}

static void check_row(const struct refusal_row *r, size_t n)
{
	const struct fw_refusal *want = fw_refusal(r->want);
	uint32_t inlen, outlen, status;
	const struct fw_cmd *cmd;
	struct fw_ctx c;
	struct env e;

	env_up(&e);
	build(&e, r->base);
	c = context(&e, r->base);
	cmd = row_of(e.in);
	inlen = base_len(cmd, r->base);
	outlen = base_outlen(cmd);
	for (size_t i = 0; i < ARRAY_SIZE(r->edit); i++)
		if (r->edit[i].width)
			layout_set(e.in, r->edit[i].bit, r->edit[i].width, r->edit[i].value);
	if (r->more)
		r->more(&e, &c, &inlen, &outlen);
	/* The answer is short for OUTPUT_LEN on purpose: all that is left is the header. */
	assert_int_equal(fw_exec(&c, e.in, inlen, e.out, outlen < 16 ? 16 : outlen), 0);
	status = (uint32_t)LAYOUT_GET(cmd_out, e.out, status);
	if (status != want->status || syndrome(&e) != want->syndrome)
		fail_msg("row %zu, %s: %s 0x%x, expected %s 0x%x (%s: %s)", n,
			 fw_opcode_name(cmd->opcode), fw_status_name((uint8_t)status), syndrome(&e),
			 fw_status_name(want->status), want->syndrome, want->field, want->text);
	env_down(&e);
}

static void test_each_wrong_thing_gets_its_status_and_syndrome(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_row(&rows[i], i);
}

static void test_no_refusal_without_a_row(void **state)
{
	for (unsigned int r = FW_R_NONE + 1; r < FW_R_COUNT; r++) {
		bool found = false;

		for (size_t i = 0; i < ARRAY_SIZE(rows) && !found; i++)
			found = (unsigned int)rows[i].want == r;
		if (!found)
			fail_msg("syndrome 0x%x (%s: %s) is not tested",
				 fw_refusal((enum fw_r)r)->syndrome,
				 fw_refusal((enum fw_r)r)->field, fw_refusal((enum fw_r)r)->text);
	}
}

/* A refused command changes nothing: the same objects, with the same references, are there. */
static void test_a_refusal_leaves_no_trace(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct refusal_row *r = &rows[i];
		uint32_t before[SEG_T_COUNT], pd_refs, umem_refs, dbr_refs, cq_refs;
		struct fw_ctx c;
		struct env e;

		if (r->more)
			continue;
		env_up(&e);
		build(&e, r->base);
		c = context(&e, r->base);
		for (uint32_t t = 0; t < SEG_T_COUNT; t++)
			before[t] = seg_table(&e.s, (enum seg_table_id)t)->live;
		pd_refs = hw_pd(&e.s, e.pd)->refs;
		umem_refs = hw_umem(&e.s, e.umem)->refs;
		dbr_refs = hw_umem(&e.s, e.dbr)->refs;
		cq_refs = hw_cq(&e.s, e.cq)->refs;
		for (size_t k = 0; k < ARRAY_SIZE(r->edit); k++)
			if (r->edit[k].width)
				layout_set(e.in, r->edit[k].bit, r->edit[k].width,
					   r->edit[k].value);
		fw_exec(&c, e.in, 0x110, e.out, sizeof(e.out));
		for (uint32_t t = 0; t < SEG_T_COUNT; t++)
			assert_int_equal(before[t], seg_table(&e.s, (enum seg_table_id)t)->live);
		assert_int_equal(pd_refs, hw_pd(&e.s, e.pd)->refs);
		assert_int_equal(umem_refs, hw_umem(&e.s, e.umem)->refs);
		assert_int_equal(dbr_refs, hw_umem(&e.s, e.dbr)->refs);
		assert_int_equal(cq_refs, hw_cq(&e.s, e.cq)->refs);
		env_down(&e);
	}
}

static void test_command_table(void **state)
{
	for (unsigned int i = 0; i < fw_ncmds; i++) {
		const struct fw_cmd *c = &fw_cmds[i];
		size_t n = strlen(c->in->name);

		assert_non_null(c->handler);
		assert_string_not_equal(fw_opcode_name(c->opcode), "?");
		/* the two layouts are one command's */
		assert_string_equal(c->in->name + n - 3, "_in");
		assert_memory_equal(c->in->name, c->out->name, n - 3);
		assert_string_equal(c->out->name + n - 3, "_out");
		/* what is reserved can be checked, what is made is of a reapable kind */
		assert_true(c->in->bytes <= 0x150);
		assert_true(!(c->flags & FW_C_CUT) || c->out->bytes <= OUT(query_hca_cap));
		assert_true(c->object == -1 || (c->object >= SEG_T_EQ && c->object < SEG_T_COUNT));
		for (unsigned int j = i + 1; j < fw_ncmds; j++) {
			assert_int_not_equal(c->opcode, fw_cmds[j].opcode);
			assert_ptr_not_equal(c->in, fw_cmds[j].in);
		}
	}
}

/* The field that a refusal names exists. */
static bool field_exists(const char *dotted)
{
	const char *dot = strchr(dotted, '.');
	size_t n = dot ? (size_t)(dot - dotted) : strlen(dotted);

	for (const struct layout *const *p = prm_layouts; *p; p++) {
		if (strlen((*p)->name) != n || memcmp((*p)->name, dotted, n))
			continue;
		if (!dot)
			return true;
		for (uint32_t i = 0; i < (*p)->nfields; i++)
			if (!strcmp((*p)->fields[i].name, dot + 1))
				return true;
	}
	return false;
}

static void test_refusal_table(void **state)
{
	for (unsigned int i = FW_R_NONE + 1; i < FW_R_COUNT; i++) {
		const struct fw_refusal *r = fw_refusal((enum fw_r)i);
		uint32_t op = r->syndrome >> 8;

		assert_ptr_equal(fw_refusal_find(r->syndrome), r);
		assert_int_not_equal(r->status, FW_OK);
		assert_true(strlen(r->text) > 0);
		/* opcode << 8 | n, or one of all commands */
		assert_true(op == 0xf000 || strcmp(prm_opcode_name((uint16_t)op), "?"));
		if (!field_exists(r->field) && strcmp(r->field, "modify_cq_in.resize_field_select"))
			fail_msg("no field %s", r->field);
		for (unsigned int j = i + 1; j < FW_R_COUNT; j++)
			assert_int_not_equal(r->syndrome, fw_refusal((enum fw_r)j)->syndrome);
	}
	assert_null(fw_refusal_find(0));
}

/* Limits are those of the tables behind them; a few low numbers are reserved, as on the card. */
static void test_capabilities_fit_the_segment(void **state)
{
	struct env e;

	env_bare(&e);
	for (int m = HW_CX6; m <= HW_CX7; m++) {
		const struct fw_caps *c = fw_caps((enum hw_model)m);
		const struct {
			enum seg_table_id table;
			uint32_t log;
		} limits[] = {
			{SEG_T_QP, c->log_max_qp},     {SEG_T_CQ, c->log_max_cq},
			{SEG_T_SRQ, c->log_max_srq},   {SEG_T_MKEY, c->log_max_mkey},
			{SEG_T_UMEM, c->log_max_umem}, {SEG_T_PD, c->log_max_pd},
			{SEG_T_OBJ, c->log_max_obj},
		};

		for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
			assert_true(seg_table(&e.s, limits[i].table)->capacity >=
				    UINT64_C(1) << limits[i].log);
		assert_true(1u << c->log_max_rqt_size <= HW_RQT_RQS);
		assert_int_equal(c->max_sge, (512 - 16 - 16) / 16);
		assert_int_equal(c->max_recv_sge, c->max_wqe_sz_rq / 16);
		assert_int_equal(c->max_srq_sge, c->max_recv_sge - 1);
		assert_int_equal(c->num_comp_vectors, 1u << c->log_max_eq);
		assert_int_equal(c->max_qp_rd_atom, 1u << c->log_max_ra_req_qp);
	}
	assert_string_equal(fw_caps(HW_CX6)->hca_type, "MT4123");
	assert_string_equal(fw_caps(HW_CX7)->hca_type, "MT4129");
	env_down(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_command_has_a_valid_form_that_succeeds),
		cmocka_unit_test(test_each_wrong_thing_gets_its_status_and_syndrome),
		cmocka_unit_test(test_no_refusal_without_a_row),
		cmocka_unit_test(test_a_refusal_leaves_no_trace),
		cmocka_unit_test(test_command_table),
		cmocka_unit_test(test_refusal_table),
		cmocka_unit_test(test_capabilities_fit_the_segment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
