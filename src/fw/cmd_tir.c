/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Transport interfaces (TIR: the destination of received packets; TIS: how packets are sent) and
 * send queues of raw packets. Called by exec.c under the HCA's lock. No packet passes: see
 * cmd_rq.c.
 */
#include "fw/priv.h"
#include "hw/obj.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/raw.h"
#include "wire/prm/rmp_srq.h"

#include <errno.h>

#define TIRC(f) LAYOUT_GET(tirc, tirc, f)
#define TISC(f) LAYOUT_GET(tisc, tisc, f)
#define SQC(f) LAYOUT_GET(sqc, sqc, f)
#define WQ(f) LAYOUT_GET(wq, wq, f)

enum { SQ_LOG_STRIDE = 6 };
enum { SQ_REF_GROUP = 6 }; /* index in hw_obj.ref[] of an SQ: its queue group */

/* ---- TIR ---- */

/*
 * Check the hash and its fields; `disp` is the TIR's dispatch type, which commands need not repeat.
 */
static enum fw_r check_hash(const void *tirc, uint64_t disp)
{
	if (TIRC(rx_hash_fn) > PRM_RX_HASH_TOEPLITZ)
		return FW_R_TIRC_HASH_FN;
	if (disp == PRM_TIR_INDIRECT && TIRC(rx_hash_fn) == PRM_RX_HASH_NONE)
		return FW_R_TIRC_HASH_FN;
	if (TIRC(tunneled_offload_en))
		return FW_R_TIRC_TUNNEL;
	return FW_R_NONE;
}

static enum fw_r check_tirc(struct fw_call *k, const void *tirc)
{
	enum fw_r r;

	if (TIRC(disp_type) > PRM_TIR_INDIRECT)
		return FW_R_TIRC_DISP_TYPE;
	if (TIRC(tls_en))
		return FW_R_TIRC_TLS;
	if (TIRC(packet_merge_mask) || TIRC(lro_max_ip_payload_size) ||
	    TIRC(lro_timeout_period_usecs))
		return FW_R_TIRC_MERGE;
	r = check_hash(tirc, TIRC(disp_type));
	if (r)
		return r;
	if (!fw_obj(k, HW_OBJ_TD, (uint32_t)TIRC(transport_domain)))
		return FW_R_TIRC_TD;
	if (TIRC(disp_type) == PRM_TIR_DIRECT && !fw_obj(k, HW_OBJ_RQ, (uint32_t)TIRC(inline_rqn)))
		return FW_R_TIRC_RQN;
	if (TIRC(disp_type) == PRM_TIR_INDIRECT &&
	    !fw_obj(k, HW_OBJ_RQT, (uint32_t)TIRC(indirect_table)))
		return FW_R_TIRC_RQT;
	return FW_R_NONE;
}

enum fw_r fw_cmd_create_tir(struct fw_call *k)
{
	const void *tirc = LAYOUT_IN(create_tir_in, ctx, k->in);
	struct hw_obj proto = {.kind = HW_OBJ_TIR};
	uint32_t tirn;
	enum fw_r r = check_tirc(k, tirc);

	if (r)
		return r;
	proto.ref[0] = fw_objref(SEG_T_OBJ, TIRC(transport_domain));
	proto.ref[1] =
		fw_objref(SEG_T_OBJ, TIRC(disp_type) == PRM_TIR_DIRECT ? TIRC(inline_rqn)
								       : TIRC(indirect_table));
	memcpy(proto.ctx, tirc, LAYOUT_SZ(tirc));
	r = fw_obj_make(k, &proto, &tirn);
	if (r == 0)
		LAYOUT_SET(create_tir_out, k->out, tirn, tirn);
	return r;
}

enum fw_r fw_cmd_query_tir(struct fw_call *k)
{
	const struct hw_obj *o = fw_obj(k, HW_OBJ_TIR, LAYOUT_GET32(query_tir_in, k->in, tirn));

	if (!o)
		return FW_R_TIR_QUERY_NONE;
	memcpy(LAYOUT_IN(query_tir_out, tir_context, k->out), o->ctx, LAYOUT_SZ(tirc));
	return FW_R_NONE;
}

enum fw_r fw_cmd_modify_tir(struct fw_call *k)
{
	const void *tirc = LAYOUT_IN(modify_tir_in, ctx, k->in);
	const void *mask = LAYOUT_IN(modify_tir_in, bitmask, k->in);
	struct hw_obj *o = fw_obj(k, HW_OBJ_TIR, LAYOUT_GET32(modify_tir_in, k->in, tirn));
	enum fw_r r = FW_R_NONE;

	if (!o)
		return FW_R_TIR_MODIFY_NONE;
	if (LAYOUT_GET(modify_tir_bitmask, mask, packet_merge) &&
	    (TIRC(packet_merge_mask) || TIRC(lro_max_ip_payload_size) ||
	     TIRC(lro_timeout_period_usecs)))
		return FW_R_TIRC_MERGE;
	if (LAYOUT_GET(modify_tir_bitmask, mask, hash)) {
		r = check_hash(tirc, LAYOUT_GET(tirc, o->ctx, disp_type));
		if (r)
			return r;
		LAYOUT_SET(tirc, o->ctx, rx_hash_fn, TIRC(rx_hash_fn));
		LAYOUT_SET(tirc, o->ctx, rx_hash_symmetric, TIRC(rx_hash_symmetric));
		memcpy(LAYOUT_IN(tirc, rx_hash_toeplitz_key, o->ctx),
		       LAYOUT_IN(tirc, rx_hash_toeplitz_key, tirc), LAYOUT_SZ(rx_hash_key));
		memcpy(LAYOUT_IN(tirc, rx_hash_field_selector_outer, o->ctx),
		       LAYOUT_IN(tirc, rx_hash_field_selector_outer, tirc),
		       2 * LAYOUT_SZ(rx_hash_field_select));
	}
	if (LAYOUT_GET(modify_tir_bitmask, mask, self_lb_en))
		LAYOUT_SET(tirc, o->ctx, self_lb_block, TIRC(self_lb_block));
	return FW_R_NONE;
}

enum fw_r fw_cmd_destroy_tir(struct fw_call *k)
{
	uint64_t tirn = LAYOUT_GET(destroy_tir_in, k->in, tirn);

	/* Only steering rules would refer to a TIR, and there are none. */
	return fw_obj_destroy(k, HW_OBJ_TIR, (uint32_t)tirn, FW_R_TIR_NONE, FW_R_TIR_NONE);
}

/* ---- TIS ---- */

static enum fw_r check_tisc(struct fw_call *k, const void *tisc)
{
	if (TISC(tls_en))
		return FW_R_TISC_TLS;
	if (TISC(lag_tx_port_affinity) || TISC(strict_lag_tx_port_affinity))
		return FW_R_TISC_LAG;
	if (TISC(underlay_qpn) && !fw_qp(k, (uint32_t)TISC(underlay_qpn)))
		return FW_R_TISC_UNDERLAY;
	if (TISC(pd) && !fw_pd(k, (uint32_t)TISC(pd)))
		return FW_R_TISC_PD;
	if (!fw_obj(k, HW_OBJ_TD, (uint32_t)TISC(transport_domain)))
		return FW_R_TISC_TD;
	return FW_R_NONE;
}

enum fw_r fw_cmd_create_tis(struct fw_call *k)
{
	const void *tisc = LAYOUT_IN(create_tis_in, ctx, k->in);
	struct hw_obj proto = {.kind = HW_OBJ_TIS};
	uint32_t tisn;
	enum fw_r r = check_tisc(k, tisc);

	if (r)
		return r;
	proto.ref[0] = fw_objref(SEG_T_OBJ, TISC(transport_domain));
	if (TISC(pd))
		proto.ref[1] = fw_objref(SEG_T_PD, TISC(pd));
	memcpy(proto.ctx, tisc, LAYOUT_SZ(tisc));
	r = fw_obj_make(k, &proto, &tisn);
	if (r == 0)
		LAYOUT_SET(create_tis_out, k->out, tisn, tisn);
	return r;
}

enum fw_r fw_cmd_query_tis(struct fw_call *k)
{
	const struct hw_obj *o = fw_obj(k, HW_OBJ_TIS, LAYOUT_GET32(query_tis_in, k->in, tisn));

	if (!o)
		return FW_R_TIS_QUERY_NONE;
	memcpy(LAYOUT_IN(query_tis_out, tis_context, k->out), o->ctx, LAYOUT_SZ(tisc));
	return FW_R_NONE;
}

enum fw_r fw_cmd_modify_tis(struct fw_call *k)
{
	const void *tisc = LAYOUT_IN(modify_tis_in, ctx, k->in);
	const void *mask = LAYOUT_IN(modify_tis_in, bitmask, k->in);
	struct hw_obj *o = fw_obj(k, HW_OBJ_TIS, LAYOUT_GET32(modify_tis_in, k->in, tisn));

	if (!o)
		return FW_R_TIS_MODIFY_NONE;
	if ((LAYOUT_GET(modify_tis_bitmask, mask, lag_tx_port_affinity) &&
	     TISC(lag_tx_port_affinity)) ||
	    (LAYOUT_GET(modify_tis_bitmask, mask, strict_lag_tx_port_affinity) &&
	     TISC(strict_lag_tx_port_affinity)))
		return FW_R_TISC_LAG;
	if (LAYOUT_GET(modify_tis_bitmask, mask, prio))
		LAYOUT_SET(tisc, o->ctx, prio, TISC(prio));
	return FW_R_NONE;
}

enum fw_r fw_cmd_destroy_tis(struct fw_call *k)
{
	uint64_t tisn = LAYOUT_GET(destroy_tis_in, k->in, tisn);

	return fw_obj_destroy(k, HW_OBJ_TIS, (uint32_t)tisn, FW_R_TIS_NONE, FW_R_TIS_IN_USE);
}

/* ---- SQ ---- */

static enum fw_r check_sqc(struct fw_call *k, const void *sqc)
{
	if (SQC(state))
		return FW_R_SQC_STATE;
	if (SQC(rlky) && !k->c->kernel)
		return FW_R_SQC_RLKY;
	if (SQC(cd_master))
		return FW_R_SQC_CD;
	if (SQC(allow_multi_pkt_send_wqe))
		return FW_R_SQC_MPW;
	if (SQC(reg_umr) && !k->c->kernel)
		return FW_R_SQC_UMR;
	if (SQC(allow_swp))
		return FW_R_SQC_SWP;
	if (SQC(hairpin))
		return FW_R_SQC_HAIRPIN;
	if (SQC(ts_format) > PRM_TS_DEFAULT)
		return FW_R_SQC_TS_FORMAT;
	if (SQC(ts_cqe_to_dest_cqn))
		return FW_R_SQC_TS_CQE;
	if (SQC(packet_pacing_rate_limit_index) &&
	    !fw_rate_usable(k, (uint32_t)SQC(packet_pacing_rate_limit_index)))
		return FW_R_SQC_PACING;
	if (SQC(qos_queue_group_id) && !fw_queue_group(k, (uint32_t)SQC(qos_queue_group_id)))
		return FW_R_SQC_QOS_GROUP;
	if (SQC(tis_lst_sz) > 1)
		return FW_R_SQC_TIS_SIZE;
	if (SQC(tis_lst_sz) && !fw_obj(k, HW_OBJ_TIS, (uint32_t)SQC(tis_num_0)))
		return FW_R_SQC_TIS;
	if (!fw_cq(k, (uint32_t)SQC(cqn)))
		return FW_R_SQC_CQN;
	return FW_R_NONE;
}

static enum fw_r check_sq_wq(struct fw_call *k, const void *wq, struct hw_obj *o)
{
	struct fw_wq_place at = {0};
	enum fw_r r;

	if (WQ(wq_type) != PRM_WQ_CYCLIC)
		return FW_R_SQ_WQ_TYPE;
	if (WQ(wq_signature))
		return FW_R_WQ_SIGNATURE;
	if (WQ(log_wq_stride) != SQ_LOG_STRIDE)
		return FW_R_SQ_STRIDE;
	if (WQ(log_wq_sz) > k->caps->log_max_srq_sz)
		return FW_R_SQ_SIZE;
	if (!fw_pd(k, (uint32_t)WQ(pd)))
		return FW_R_WQ_PD;
	if (!fw_uar(k, (uint32_t)WQ(uar_page)))
		return FW_R_SQ_UAR;
	r = fw_wq_places(k, wq, 8, &at);
	o->ref[1] = fw_objref(SEG_T_PD, WQ(pd));
	o->ref[2] = fw_objref(SEG_T_UMEM, at.buf_umem);
	o->ref[3] = fw_objref(SEG_T_UMEM, at.dbr_umem);
	o->ref[4] = fw_objref(SEG_T_UAR, WQ(uar_page));
	return r;
}

enum fw_r fw_cmd_create_sq(struct fw_call *k)
{
	const void *sqc = LAYOUT_IN(create_sq_in, ctx, k->in);
	struct hw_obj proto = {.kind = HW_OBJ_SQ};
	uint32_t sqn;
	enum fw_r r = check_sqc(k, sqc);

	if (!r)
		r = check_sq_wq(k, LAYOUT_IN(sqc, wq, sqc), &proto);
	if (r)
		return r;
	proto.ref[0] = fw_objref(SEG_T_CQ, SQC(cqn));
	if (SQC(tis_lst_sz))
		proto.ref[5] = fw_objref(SEG_T_OBJ, SQC(tis_num_0));
	if (SQC(qos_queue_group_id))
		proto.ref[SQ_REF_GROUP] = fw_objref(SEG_T_OBJ, SQC(qos_queue_group_id));
	memcpy(proto.ctx, sqc, LAYOUT_SZ(sqc));
	r = fw_obj_make(k, &proto, &sqn);
	if (r == 0)
		LAYOUT_SET(create_sq_out, k->out, sqn, sqn);
	return r;
}

enum fw_r fw_cmd_query_sq(struct fw_call *k)
{
	void *sqc = LAYOUT_IN(query_sq_out, sq_context, k->out);
	const struct hw_obj *o = fw_obj(k, HW_OBJ_SQ, LAYOUT_GET32(query_sq_in, k->in, sqn));

	if (!o)
		return FW_R_SQ_QUERY_NONE;
	memcpy(sqc, o->ctx, LAYOUT_SZ(sqc));
	LAYOUT_SET(sqc, sqc, state, o->state);
	return FW_R_NONE;
}

/* Put the SQ into that queue group; 0: none. */
static void sq_group(struct fw_call *k, struct hw_obj *sq, uint32_t id)
{
	fw_refer(k->s, SEG_T_OBJ, sq, -1);
	sq->ref[SQ_REF_GROUP] = id ? fw_objref(SEG_T_OBJ, id) : (struct hw_objref){0};
	fw_refer(k->s, SEG_T_OBJ, sq, 1);
	LAYOUT_SET(sqc, sq->ctx, qos_queue_group_id, id);
}

enum fw_r fw_cmd_modify_sq(struct fw_call *k)
{
	const void *sqc = LAYOUT_IN(modify_sq_in, ctx, k->in);
	uint64_t mask = LAYOUT_GET(modify_sq_in, k->in, modify_bitmask);
	uint32_t sqn = LAYOUT_GET32(modify_sq_in, k->in, sqn);
	struct hw_obj *o = fw_obj(k, HW_OBJ_SQ, sqn);

	if (!o)
		return FW_R_SQ_MODIFY_NONE;
	if (LAYOUT_GET(modify_sq_in, k->in, sq_state) != o->state)
		return FW_R_SQ_MODIFY_FROM;
	if (!fw_wq_state_leads(o->state, SQC(state)))
		return FW_R_SQ_MODIFY_TO;
	if (mask & ~(uint64_t)(PRM_SQ_MODIFY_RATE_LIMIT_INDEX | PRM_SQ_MODIFY_QOS_QUEUE_GROUP_ID))
		return FW_R_SQ_MODIFY_MASK;
	if (mask & PRM_SQ_MODIFY_RATE_LIMIT_INDEX && SQC(packet_pacing_rate_limit_index) &&
	    !fw_rate_usable(k, (uint32_t)SQC(packet_pacing_rate_limit_index)))
		return FW_R_SQC_PACING;
	if (mask & PRM_SQ_MODIFY_QOS_QUEUE_GROUP_ID && SQC(qos_queue_group_id) &&
	    !fw_queue_group(k, (uint32_t)SQC(qos_queue_group_id)))
		return FW_R_SQC_QOS_GROUP;
	k->obj = sqn;
	if (mask & PRM_SQ_MODIFY_QOS_QUEUE_GROUP_ID)
		sq_group(k, o, (uint32_t)SQC(qos_queue_group_id));
	if (mask & PRM_SQ_MODIFY_RATE_LIMIT_INDEX)
		LAYOUT_SET(sqc, o->ctx, packet_pacing_rate_limit_index,
			   SQC(packet_pacing_rate_limit_index));
	atomic_store(&o->state, (uint32_t)SQC(state));
	return FW_R_NONE;
}

enum fw_r fw_cmd_destroy_sq(struct fw_call *k)
{
	uint64_t sqn = LAYOUT_GET(destroy_sq_in, k->in, sqn);

	return fw_obj_destroy(k, HW_OBJ_SQ, (uint32_t)sqn, FW_R_SQ_NONE, FW_R_SQ_NONE);
}
