/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Errors in commands of transport domains, RQs, RQTs, TIRs, TISs and SQs. */
#include "fw/test_refusals.h"
#include "hw/obj.h"

#define E_RQC(f, v) E_IN(create_rq_in, ctx, rqc, f, v)
#define E_RQWQ(f, v)                                                                            \
	{                                                                                       \
		(LP_create_rq_in_ctx + LP_rqc_wq) * 8 + LF_wq_##f##_BIT, LF_wq_##f##_WIDTH, (v) \
	}
#define E_SQWQ E_RQWQ /* at the same place in the command */
#define E_RQTC(f, v) E_IN(create_rqt_in, rqt_context, rqtc, f, v)
#define E_TIRC(f, v) E_IN(create_tir_in, ctx, tirc, f, v)
#define E_TISC(f, v) E_IN(create_tis_in, ctx, tisc, f, v)
#define E_SQC(f, v) E_IN(create_sq_in, ctx, sqc, f, v)

static void used_td(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	b_id(e, PRM_OP_DEALLOC_TRANSPORT_DOMAIN, e->td);
}

static void used_rq(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	b_id(e, PRM_OP_DESTROY_RQ, e->rq);
}

/* A number of the common number space that belongs to another kind. */
static void rqt_for_rq(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	b_id(e, PRM_OP_DESTROY_RQ, e->rqt);
}

/* An SRQ that is not an RMP. */
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

static const struct refusal_row rows[] = {
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
	R(ARM_RQ_NONE, ARM_RQ, E(cmd_in, op_mod, 2)),
	R(OP_MOD, ARM_RQ, E(cmd_in, op_mod, 3)),
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
};

const struct refusal_rows rows_raw = {"raw", rows, ARRAY_SIZE(rows)};
