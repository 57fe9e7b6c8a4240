/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Errors in commands of QPs and SRQs. */
#include "fw/test_refusals.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "hw/qp_limits.h"
#include "hw/qp_state.h"

#define E_RMPC(f, v) E_IN(create_rmp_in, ctx, rmpc, f, v)
#define E_WQ(f, v)                                                                                \
	{                                                                                         \
		(LP_create_rmp_in_ctx + LP_rmpc_wq) * 8 + LF_wq_##f##_BIT, LF_wq_##f##_WIDTH, (v) \
	}
#define E_ADS(f, v)                                                                         \
	{                                                                                   \
		(LP_create_qp_in_qpc + LP_qpc_primary_address_path) * 8 + LF_ads_##f##_BIT, \
			LF_ads_##f##_WIDTH, (v)                                             \
	}

static void port_mtu_2048(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	hw_port(&e->s, hw_hca(&e->s, e->hca)->port[0])->active_mtu = 4;
}

static void small_adapter(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	hw_hca(&e->s, e->hca)->caps.log_max_qp_sz = 7;
	hw_hca(&e->s, e->hca)->caps.srq = false;
}

static void uc_adapter(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	hw_hca(&e->s, e->hca)->caps.rc = false;
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
	set_qp_state(e, PRM_QP_STATE_ERR);
}

static const struct refusal_row rows[] = {
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

	R(QPC_ST, CREATE_QP, E_QPC(st, PRM_ST_QP0)),
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
	R(QPC_OFFLOAD, CREATE_QP, E_QPC(offload_type, 2), E_QPC(no_sq, 1)),
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
	R(QPC_STATE, CREATE_QP, E_QPC(state, PRM_QP_STATE_RTS)),
	R(QPC_END_PADDING, CREATE_QP, E_QPC(end_padding_mode, 1)),
	R(QPC_DRAIN_SIGERR, CREATE_QP, E_QPC(st, PRM_ST_UD), E_QPC(drain_sigerr, 1)),
	R(QPC_DRAIN_SIGERR, CREATE_QP, E_QPC(st, PRM_ST_DCI), E_QPC(drain_sigerr, 1)),
	R(QPC_DCI_STREAMS, CREATE_QP, E_QPC(log_num_dci_stream_channels, 1)),
	R(QPC_DCI_ERRORED, CREATE_QP, E_QPC(log_num_dci_errored_streams, 1)),
	R(QPC_DCI_ERRORED, CREATE_QP, E_QPC(st, PRM_ST_DCI),
	  E_QPC(log_num_dci_errored_streams, HW_LOG_MAX_DCI_ERRORED + 1)),
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
	R(QP_OPT_MASK, RTS2RTS_QP, E(rst2init_qp_in, opt_param_mask, 1 << 7)),
	R(PATH_PORT, RTS2RTS_QP, E(rst2init_qp_in, opt_param_mask, 1 << 0)),
	R(PATH_PORT, RST2INIT_QP, E_ADS(vhca_port_num, 0)),
	R(PATH_PORT, RST2INIT_QP, E_ADS(vhca_port_num, 3)),
	R(PATH_PKEY, RST2INIT_QP, E_ADS(pkey_index, HW_PKEYS)),
	R(PATH_PKEY, RST2INIT_QP, E_ADS(pkey_index, 1)),
	R(QPC_ATOMIC_MODE, RST2INIT_QP, E_QPC(atomic_mode, 4)),
	R(QPC_MTU, INIT2RTR_QP, E_QPC(mtu, 0)),
	R(QPC_MTU, INIT2RTR_QP, E_QPC(mtu, 6)),
	M(QPC_SQ_SIZE, CREATE_QP, small_adapter, E_QPC(log_sq_size, 8)),
	M(QPC_RQ_SIZE, CREATE_QP, small_adapter, E_QPC(log_rq_size, 8)),
	M(QPC_NO_RC, CREATE_QP, uc_adapter, {0, 0, 0}),
	M(TABLE_FULL, CREATE_RMP, small_adapter, {0, 0, 0}),
	M(QPC_MTU, INIT2RTR_QP, port_mtu_2048, E_QPC(mtu, 5)),
	R(QPC_MSG_MAX, INIT2RTR_QP, E_QPC(log_msg_max, 31)),
	R(QPC_RRA_MAX, INIT2RTR_QP, E_QPC(log_rra_max, 5)),
	R(QPC_SRA_MAX, RTR2RTS_QP, E_QPC(log_sra_max, 5)),
	R(QPC_PM_STATE, RTS2RTS_QP, E(rst2init_qp_in, opt_param_mask, 1 << 10), E_QPC(pm_state, 0)),
	R(QPC_PM_STATE, RTS2RTS_QP, E(rst2init_qp_in, opt_param_mask, 1 << 10), E_QPC(pm_state, 2)),
};

const struct refusal_rows rows_qp = {"qp", rows, ARRAY_SIZE(rows)};
