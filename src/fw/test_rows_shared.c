/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Errors in commands of objects that several QPs share (XRC domains and SRQs, XRQs, multicast
 * groups, sets of counters, PSVs) and of DCTs.
 */
#include "fw/test_refusals.h"
#include "hw/hca.h"

#define E_XSRQC(f, v) E_IN(create_xrc_srq_in, xrc_srq_context_entry, xrc_srqc, f, v)
#define E_DCTC(f, v) E_IN(create_dct_in, dct_context_entry, dctc, f, v)
#define E_XRQC(f, v) E_IN(create_xrq_in, xrq_context, xrqc, f, v)

static void used_xrcd(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	uint32_t xrcd = LAYOUT_GET32(dealloc_xrcd_in, e->in, xrcd);

	new_from(e, b_create_xrc_srq, IN(create_xrc_srq));
	b_id(e, PRM_OP_DEALLOC_XRCD, xrcd + 1);
}

/* An XRC SRQ cannot be the SRQ of a new QP, nor the object of other SRQ commands. */
static void xrc_srq_for_qp(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	uint32_t srq = new_from(e, b_create_xrc_srq, IN(create_xrc_srq));

	b_create_qp(e);
	LAYOUT_SET(qpc, LAYOUT_IN(create_qp_in, qpc, e->in), rq_type, 1);
	LAYOUT_SET(qpc, LAYOUT_IN(create_qp_in, qpc, e->in), srqn_rmpn_xrqn, srq);
}

static void xrc_srq_for_rmp(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	b_id(e, PRM_OP_DESTROY_RMP, new_from(e, b_create_xrc_srq, IN(create_xrc_srq)));
}

static void all_sets(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	for (uint32_t free = 255 - hw_hca(&e->s, e->hca)->nports; free; free--)
		new_set(e);
	cmd_init(e, PRM_OP_ALLOC_Q_COUNTER, 0);
}

static void used_set(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	uint32_t id = LAYOUT_GET32(dealloc_q_counter_in, e->in, counter_set_id);
	void *qpc;

	b_rst2init(e);
	qpc = LAYOUT_IN(rst2init_qp_in, qpc, e->in);
	LAYOUT_SET(qpc, qpc, counter_set_id, id);
	assert_int_equal(run(e, e->in, IN(rst2init_qp), OUT(rst2init_qp)), FW_OK);
	LAYOUT_SET(dealloc_q_counter_in, cmd_init(e, PRM_OP_DEALLOC_Q_COUNTER, 0), counter_set_id,
		   id);
}

/* A DCT in commands for QPs, and a QP in commands for DCTs. */
static void dct_as_qp(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	b_id(e, PRM_OP_DESTROY_QP, new_from(e, b_create_dct, IN(create_dct)));
}

static void qp_as_dct(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	b_id(e, PRM_OP_DESTROY_DCT, e->qp);
}

static void attached_qp(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	b_mcg(e, PRM_OP_DETACH_FROM_MCG);
	b_id(e, PRM_OP_DESTROY_QP, LAYOUT_GET32(attach_to_mcg_in, e->in, qpn));
}

static void rc_in_mcg(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	LAYOUT_SET(attach_to_mcg_in, e->in, qpn, e->qp);
}

/* One QP of this HCA more than a group may have. */
static void full_group(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	for (uint32_t n = fw_caps(HW_CX6)->max_qp_mcg; n; n--) {
		b_mcg(e, PRM_OP_ATTACH_TO_MCG);
		assert_int_equal(run(e, e->in, IN(attach_to_mcg), OUT(attach_to_mcg)), FW_OK);
	}
	b_mcg(e, PRM_OP_ATTACH_TO_MCG);
}

/* One group of this HCA more than it may have. */
static void many_groups(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	uint8_t *gid = LAYOUT_IN(attach_to_mcg_in, multicast_gid, e->in);

	for (uint32_t n = 1u << fw_caps(HW_CX6)->log_max_mcg; n; n--) {
		be32_store(gid + 12, n);
		assert_int_equal(run(e, e->in, IN(attach_to_mcg), OUT(attach_to_mcg)), FW_OK);
	}
	be32_store(gid + 12, 0);
}

static void other_group(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	((uint8_t *)LAYOUT_IN(detach_from_mcg_in, multicast_gid, e->in))[15] = 1;
}

static void no_group(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	((uint8_t *)LAYOUT_IN(attach_to_mcg_in, multicast_gid, e->in))[0] = 0xfe;
}

static void used_xrq(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	uint32_t xrq = LAYOUT_GET32(destroy_xrq_in, e->in, xrqn);

	b_create_dct(e);
	LAYOUT_SET(dctc, LAYOUT_IN(create_dct_in, dct_context_entry, e->in), srqn_xrqn, xrq);
	make(e, IN(create_dct));
	b_id(e, PRM_OP_DESTROY_XRQ, xrq);
}

static const struct refusal_row rows[] = {
	R(XRCD_NONE, DEALLOC_XRCD, E(dealloc_xrcd_in, xrcd, NOBODY)),
	M(XRCD_IN_USE, DEALLOC_XRCD, used_xrcd, {0, 0, 0}),
	R(XRC_SRQC_STATE, CREATE_XRC_SRQ, E_XSRQC(state, 1)),
	R(XRC_SRQC_SIGNATURE, CREATE_XRC_SRQ, E_XSRQC(wq_signature, 1)),
	R(XRC_SRQC_CYCLIC, CREATE_XRC_SRQ, E_XSRQC(basic_cyclic_rcv_wqe, 1)),
	R(XRC_SRQC_RLKY, CREATE_XRC_SRQ, E_XSRQC(rlky, 1)),
	R(XRC_SRQC_STRIDE, CREATE_XRC_SRQ, E_XSRQC(log_rq_stride, 0)),
	R(XRC_SRQC_STRIDE, CREATE_XRC_SRQ, E_XSRQC(log_rq_stride, 6)),
	R(XRC_SRQC_LWM, CREATE_XRC_SRQ, E_XSRQC(lwm, 16)),
	R(XRC_SRQC_PD, CREATE_XRC_SRQ, E_XSRQC(pd, NOBODY)),
	R(XRC_SRQC_CQN, CREATE_XRC_SRQ, E_XSRQC(cqn, NOBODY)),
	R(XRC_SRQC_XRCD, CREATE_XRC_SRQ, E_XSRQC(xrcd, 0)),
	R(XRC_SRQ_UMEM_VALID, CREATE_XRC_SRQ, E(create_xrc_srq_in, xrc_srq_umem_valid, 0)),
	R(XRC_SRQ_UMEM, CREATE_XRC_SRQ, E(create_xrc_srq_in, xrc_srq_umem_id, NOBODY)),
	R(XRC_SRQ_UMEM_FIT, CREATE_XRC_SRQ, E(create_xrc_srq_in, xrc_srq_umem_offset, UINT64_MAX)),
	R(XRC_SRQ_UMEM_FIT, CREATE_XRC_SRQ, E(create_xrc_srq_in, xrc_srq_umem_offset, 0x50008)),
	R(XRC_SRQ_DBR_VALID, CREATE_XRC_SRQ, E_XSRQC(dbr_umem_valid, 0)),
	R(XRC_SRQ_DBR_UMEM, CREATE_XRC_SRQ, E_XSRQC(dbr_umem_id, NOBODY)),
	R(XRC_SRQ_DBR_FIT, CREATE_XRC_SRQ, E_XSRQC(dbr_addr, 0xffe)),
	R(XRC_SRQ_NONE, DESTROY_XRC_SRQ, E(destroy_xrc_srq_in, xrc_srqn, NOBODY)),
	R(XRC_SRQ_QUERY_NONE, QUERY_XRC_SRQ, E(query_xrc_srq_in, xrc_srqn, NOBODY)),
	R(XRC_SRQ_ARM_NONE, ARM_XRC_SRQ, E(arm_xrc_srq_in, xrc_srqn, NOBODY)),
	R(XRC_SRQ_ARM_LWM, ARM_XRC_SRQ, E(arm_xrc_srq_in, lwm, 16)),
	R(OP_MOD, ARM_XRC_SRQ, E(cmd_in, op_mod, 0)),
	R(QPC_XRC_RQ, CREATE_XRC_QP, E_QPC(rq_type, 0)),
	R(QPC_XRCD, CREATE_XRC_QP, E_QPC(xrcd, NOBODY)),
	R(QPC_PD, CREATE_XRC_QP, E_QPC(pd, 0)),
	R(QPC_CQN_RCV, CREATE_XRC_QP, E_QPC(cqn_rcv, 0)),
	M(QPC_SRQN, CREATE_QP, xrc_srq_for_qp, {0, 0, 0}),
	M(RMP_NONE, DESTROY_RMP, xrc_srq_for_rmp, {0, 0, 0}),
	M(QCTR_FULL, ALLOC_Q_COUNTER, all_sets, {0, 0, 0}),
	R(QCTR_NONE, DEALLOC_Q_COUNTER, E(dealloc_q_counter_in, counter_set_id, 77)),
	R(QCTR_NONE, DEALLOC_Q_COUNTER, E(dealloc_q_counter_in, counter_set_id, 1)),
	M(QCTR_IN_USE, DEALLOC_Q_COUNTER, used_set, {0, 0, 0}),
	R(QCTR_QUERY_NONE, QUERY_Q_COUNTER, E(query_q_counter_in, counter_set_id, 0)),
	R(QPC_COUNTERS, RST2INIT_QP, E_QPC(counter_set_id, 77)),
	R(DCTC_STATE, CREATE_DCT, E_DCTC(state, 1)),
	R(DCTC_PD, CREATE_DCT, E_DCTC(pd, NOBODY)),
	R(DCTC_CQN, CREATE_DCT, E_DCTC(cqn, NOBODY)),
	R(DCTC_SRQN, CREATE_DCT, E_DCTC(srqn_xrqn, NOBODY)),
	R(DCTC_RLKY, CREATE_DCT, E_DCTC(rlky, 1)),
	R(DCTC_PORT, CREATE_DCT, E_DCTC(port, 0)),
	R(DCTC_PORT, CREATE_DCT, E_DCTC(port, 3)),
	R(DCTC_PKEY, CREATE_DCT, E_DCTC(pkey_index, 1)),
	R(DCTC_MTU, CREATE_DCT, E_DCTC(mtu, 0)),
	R(DCTC_COUNTERS, CREATE_DCT, E_DCTC(counter_set_id, 77)),
	R(DCT_NONE, DESTROY_DCT, E(destroy_dct_in, dctn, NOBODY)),
	R(DCT_DRAIN_NONE, DRAIN_DCT, E(drain_dct_in, dctn, NOBODY)),
	R(DCT_QUERY_NONE, QUERY_DCT, E(query_dct_in, dctn, NOBODY)),
	R(DCT_ARM_NONE, ARM_DCT_FOR_KEY_VIOLATION, E(arm_dct_in, dct_number, NOBODY)),
	M(DCT_NONE, DESTROY_DCT, qp_as_dct, {0, 0, 0}),
	M(QP_DESTROY_NONE, DESTROY_QP, dct_as_qp, {0, 0, 0}),
	R(MCG_QPN, ATTACH_TO_MCG, E(attach_to_mcg_in, qpn, NOBODY)),
	M(MCG_QP_ST, ATTACH_TO_MCG, rc_in_mcg, {0, 0, 0}),
	M(MCG_GID, ATTACH_TO_MCG, no_group, {0, 0, 0}),
	M(MCG_FULL, ATTACH_TO_MCG, full_group, {0, 0, 0}),
	M(MCG_GROUPS, ATTACH_TO_MCG, many_groups, {0, 0, 0}),
	R(MCG_NONE, DETACH_FROM_MCG, E(detach_from_mcg_in, qpn, NOBODY)),
	M(MCG_NONE, DETACH_FROM_MCG, other_group, {0, 0, 0}),
	M(QP_ATTACHED, DESTROY_QP, attached_qp, {0, 0, 0}),
	R(XRQC_STATE, CREATE_XRQ, E_XRQC(state, 1)),
	R(XRQC_OFFLOAD, CREATE_XRQ, E_XRQC(offload, 1)),
	R(XRQC_OFFLOAD, CREATE_XRQ, E_XRQC(topology, 2), E_XRQC(offload, 2)),
	R(XRQC_RLKEY, CREATE_XRQ, E_XRQC(rlkey, 1)),
	R(XRQ_NONE, DESTROY_XRQ, E(destroy_xrq_in, xrqn, NOBODY)),
	M(XRQ_IN_USE, DESTROY_XRQ, used_xrq, {0, 0, 0}),
	R(XRQ_QUERY_NONE, QUERY_XRQ, E(query_xrq_in, xrqn, NOBODY)),
	R(XRQ_ARM_NONE, ARM_XRQ, E(arm_xrq_in, xrqn, NOBODY)),
	R(XRQ_ARM_LWM, ARM_XRQ, E(arm_xrq_in, lwm, 16)),
	R(PSV_NUM, CREATE_PSV, E(create_psv_in, num_psv, 2)),
	R(PSV_PD, CREATE_PSV, E(create_psv_in, pd, NOBODY)),
	R(PSV_NONE, DESTROY_PSV, E(destroy_psv_in, psvn, NOBODY)),
};

static const struct valid_row valid[] = {
	V(ALLOC_XRCD, 0, NULL, {0, 0, 0}),
	V_AFTER(DEALLOC_XRCD, ALLOC_XRCD, 0, NULL, E(dealloc_xrcd_in, xrcd, MADE)),
};

const struct refusal_rows rows_shared = {"shared", rows, ARRAY_SIZE(rows), valid,
					 ARRAY_SIZE(valid)};
