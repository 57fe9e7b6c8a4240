/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Transport domains, receive queues and tables of receive queues. Called by exec.c under the HCA's
 * lock.
 *
 * They would receive raw packets. There is no Ethernet port and no IPoIB offload, so no packet
 * arrives; only commands use them.
 */
#include "fw/priv.h"
#include "engine/engine.h"
#include "hw/obj.h"
#include "hw/srq.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/raw.h"
#include "wire/prm/rmp_srq.h"

#include <errno.h>

#define RQC(f) LAYOUT_GET(rqc, rqc, f)
#define WQ(f) LAYOUT_GET(wq, wq, f)

enum { RQ_REF_COUNTERS = 4 }; /* index in hw_obj.ref[] of an RQ: its set of Q counters */

/* ---- transport domain ---- */

enum fw_r fw_cmd_alloc_td(struct fw_call *k)
{
	const struct hw_obj proto = {.kind = HW_OBJ_TD};
	uint32_t idx;
	enum fw_r r = fw_obj_make(k, &proto, &idx);

	if (r == 0)
		LAYOUT_SET(alloc_transport_domain_out, k->out, transport_domain, idx);
	return r;
}

enum fw_r fw_cmd_dealloc_td(struct fw_call *k)
{
	uint64_t td = LAYOUT_GET(dealloc_transport_domain_in, k->in, transport_domain);

	return fw_obj_destroy(k, HW_OBJ_TD, (uint32_t)td, FW_R_TD_NONE, FW_R_TD_IN_USE);
}

/* ---- RQ ---- */

static enum fw_r check_rqc(struct fw_call *k, const void *rqc)
{
	if (RQC(state) != PRM_WQ_STATE_RST)
		return FW_R_RQC_STATE;
	if (RQC(rlky) && !k->c->kernel)
		return FW_R_RQC_RLKY;
	if (RQC(delay_drop_en))
		return FW_R_RQC_DELAY_DROP;
	if (RQC(scatter_fcs))
		return FW_R_RQC_SCATTER_FCS;
	if (RQC(hairpin))
		return FW_R_RQC_HAIRPIN;
	if (RQC(mem_rq_type) > PRM_MEM_RQ_RMP)
		return FW_R_RQC_MEM_TYPE;
	if (RQC(ts_format) > PRM_TS_DEFAULT)
		return FW_R_RQC_TS_FORMAT;
	if (!fw_cq(k, (uint32_t)RQC(cqn)))
		return FW_R_RQC_CQN;
	if (RQC(mem_rq_type) == PRM_MEM_RQ_RMP && !fw_srq_of(k, (uint32_t)RQC(rmpn), HW_SRQ_RMP))
		return FW_R_RQC_RMPN;
	return FW_R_NONE;
}

/* The set of Q counters for the RQ; 0: none. */
static enum fw_r rq_counters(struct fw_call *k, uint64_t id, struct hw_objref *ref)
{
	uint32_t idx;

	*ref = (struct hw_objref){0};
	if (!id)
		return FW_R_NONE;
	if (!fw_qctr(k, (uint32_t)id, &idx))
		return FW_R_RQC_COUNTERS;
	*ref = fw_objref(SEG_T_QCTR, idx);
	return FW_R_NONE;
}

/* Check the RQ's own work queue; `o` gets its references. */
static enum fw_r check_rq_wq(struct fw_call *k, const void *wq, struct hw_obj *o)
{
	struct fw_wq_place at = {0};
	enum fw_r r;

	if (WQ(wq_type) > PRM_WQ_CYCLIC)
		return FW_R_RQ_WQ_TYPE;
	if (WQ(wq_signature))
		return FW_R_WQ_SIGNATURE;
	if (WQ(end_padding_mode))
		return FW_R_RQ_END_PADDING;
	if (WQ(log_wqe_num_of_strides) || WQ(log_wqe_stride_size) || WQ(two_byte_shift_en))
		return FW_R_WQ_STRIDING;
	if (WQ(log_wq_stride) < 4 || (1u << WQ(log_wq_stride)) > k->caps->max_wqe_sz_rq)
		return FW_R_RQ_STRIDE;
	if (WQ(log_wq_sz) > k->caps->log_max_srq_sz)
		return FW_R_RQ_SIZE;
	if (WQ(lwm) >= (UINT64_C(1) << WQ(log_wq_sz)))
		return FW_R_WQ_LWM;
	if (!fw_pd(k, (uint32_t)WQ(pd)))
		return FW_R_WQ_PD;
	r = fw_wq_places(k, wq, 4, &at);
	o->ref[1] = fw_objref(SEG_T_PD, WQ(pd));
	o->ref[2] = fw_objref(SEG_T_UMEM, at.buf_umem);
	o->ref[3] = fw_objref(SEG_T_UMEM, at.dbr_umem);
	return r;
}

enum fw_r fw_cmd_create_rq(struct fw_call *k)
{
	const void *rqc = LAYOUT_IN(create_rq_in, ctx, k->in);
	struct hw_obj proto = {.kind = HW_OBJ_RQ};
	uint32_t rqn;
	enum fw_r r = check_rqc(k, rqc);

	if (r)
		return r;
	proto.ref[0] = fw_objref(SEG_T_CQ, RQC(cqn));
	if (RQC(mem_rq_type) == PRM_MEM_RQ_RMP)
		proto.ref[1] = fw_objref(SEG_T_SRQ, RQC(rmpn));
	else
		r = check_rq_wq(k, LAYOUT_IN(rqc, wq, rqc), &proto);
	if (!r)
		r = rq_counters(k, RQC(counter_set_id), &proto.ref[RQ_REF_COUNTERS]);
	memcpy(proto.ctx, rqc, LAYOUT_SZ(rqc));
	if (!r)
		r = fw_obj_make(k, &proto, &rqn);
	if (!r)
		LAYOUT_SET(create_rq_out, k->out, rqn, rqn);
	return r;
}

enum fw_r fw_cmd_query_rq(struct fw_call *k)
{
	void *rqc = LAYOUT_IN(query_rq_out, rq_context, k->out);
	const struct hw_obj *o = fw_obj(k, HW_OBJ_RQ, LAYOUT_GET32(query_rq_in, k->in, rqn));

	if (!o)
		return FW_R_RQ_QUERY_NONE;
	memcpy(rqc, o->ctx, LAYOUT_SZ(rqc));
	LAYOUT_SET(rqc, rqc, state, o->state);
	return FW_R_NONE;
}

/* From ERR only a transition to RST is allowed; all others are allowed. */
bool fw_wq_state_leads(uint64_t from, uint64_t to)
{
	if (to != PRM_WQ_STATE_RST && to != PRM_WQ_STATE_RDY && to != PRM_WQ_STATE_ERR)
		return false;
	return from != PRM_WQ_STATE_ERR || to != PRM_WQ_STATE_RDY;
}

static bool lwm_fits(const void *wq, uint64_t lwm)
{
	return lwm < (UINT64_C(1) << WQ(log_wq_sz));
}

enum fw_r fw_cmd_modify_rq(struct fw_call *k)
{
	const void *rqc = LAYOUT_IN(modify_rq_in, ctx, k->in);
	uint64_t mask = LAYOUT_GET(modify_rq_in, k->in, modify_bitmask);
	uint64_t lwm = LAYOUT_GET(wq, LAYOUT_IN(rqc, wq, rqc), lwm);
	uint32_t rqn = LAYOUT_GET32(modify_rq_in, k->in, rqn);
	struct hw_obj *o = fw_obj(k, HW_OBJ_RQ, rqn);
	struct hw_objref counters = {0};
	void *own_wq;

	if (!o)
		return FW_R_RQ_MODIFY_NONE;
	own_wq = LAYOUT_IN(rqc, wq, o->ctx);
	if (LAYOUT_GET(modify_rq_in, k->in, rq_state) != o->state)
		return FW_R_RQ_MODIFY_FROM;
	if (!fw_wq_state_leads(o->state, RQC(state)))
		return FW_R_RQ_MODIFY_TO;
	if (mask & ~(uint64_t)(PRM_RQ_MODIFY_LWM | PRM_RQ_MODIFY_VSD | PRM_RQ_MODIFY_SCATTER_FCS |
			       PRM_RQ_MODIFY_COUNTER_SET_ID))
		return FW_R_RQ_MODIFY_MASK;
	if (mask & PRM_RQ_MODIFY_SCATTER_FCS && RQC(scatter_fcs))
		return FW_R_RQC_SCATTER_FCS;
	if (mask & PRM_RQ_MODIFY_LWM && !lwm_fits(own_wq, lwm))
		return FW_R_RQ_MODIFY_LWM;
	if (mask & PRM_RQ_MODIFY_COUNTER_SET_ID && rq_counters(k, RQC(counter_set_id), &counters))
		return FW_R_RQC_COUNTERS;
	k->obj = rqn;
	if (mask & PRM_RQ_MODIFY_LWM)
		LAYOUT_SET(wq, own_wq, lwm, lwm);
	if (mask & PRM_RQ_MODIFY_VSD)
		LAYOUT_SET(rqc, o->ctx, vsd, RQC(vsd));
	if (mask & PRM_RQ_MODIFY_COUNTER_SET_ID) {
		LAYOUT_SET(rqc, o->ctx, counter_set_id, RQC(counter_set_id));
		fw_refer(k->s, SEG_T_OBJ, o, -1);
		o->ref[RQ_REF_COUNTERS] = counters;
		fw_refer(k->s, SEG_T_OBJ, o, 1);
	}
	atomic_store(&o->state, (uint32_t)RQC(state));
	return FW_R_NONE;
}

enum fw_r fw_cmd_destroy_rq(struct fw_call *k)
{
	uint64_t rqn = LAYOUT_GET(destroy_rq_in, k->in, rqn);

	return fw_obj_destroy(k, HW_OBJ_RQ, (uint32_t)rqn, FW_R_RQ_NONE, FW_R_RQ_IN_USE);
}

/* arm_xrq_cmd() of srq_cmd.c arms an XRQ by this command, too. */
static enum fw_r arm_xrq(struct fw_call *k)
{
	uint32_t idx = LAYOUT_GET32(arm_rq_in, k->in, srq_number);
	uint32_t lwm = LAYOUT_GET32(arm_rq_in, k->in, lwm);
	const struct hw_srq *srq = fw_srq_of(k, idx, HW_SRQ_XRQ);

	if (!srq)
		return FW_R_ARM_RQ_NONE;
	return lwm >= UINT64_C(1) << srq->log_size ? FW_R_ARM_RQ_LWM
						   : fw_errno(k, eng_srq_arm_limit(k->s, idx, lwm));
}

/* With ISSI 1, other SRQs are RMPs, which have commands of their own. */
enum fw_r fw_cmd_arm_rq(struct fw_call *k)
{
	uint64_t lwm = LAYOUT_GET(arm_rq_in, k->in, lwm);
	struct hw_obj *o;

	if (k->op_mod == PRM_ARM_RQ_XRQ)
		return arm_xrq(k);
	if (k->op_mod != PRM_ARM_RQ_SRQ)
		return FW_R_OP_MOD;
	o = fw_obj(k, HW_OBJ_RQ, LAYOUT_GET32(arm_rq_in, k->in, srq_number));
	if (!o)
		return FW_R_ARM_RQ_NONE;
	if (!lwm_fits(LAYOUT_IN(rqc, wq, o->ctx), lwm))
		return FW_R_ARM_RQ_LWM;
	LAYOUT_SET(wq, LAYOUT_IN(rqc, wq, o->ctx), lwm, lwm);
	return FW_R_NONE;
}

/* ---- RQT ---- */

#define RQTC(f) LAYOUT_GET(rqtc, rqtc, f)

/* Read the list after the context: all of its RQs must exist. */
static enum fw_r rqt_list(struct fw_call *k, const void *rqtc, uint32_t max, struct hw_obj *o)
{
	const uint8_t *list = (const uint8_t *)k->in + k->cmd->in->bytes;
	uint32_t n = (uint32_t)RQTC(rqt_actual_size);

	if (n < 1 || n > max)
		return FW_R_RQT_SIZE;
	k->rest = (uint64_t)n * LAYOUT_SZ(rq_num);
	if (k->inlen < k->cmd->in->bytes + k->rest)
		return FW_R_RQT_LIST;
	for (uint32_t i = 0; i < n; i++) {
		const void *rq = list + i * LAYOUT_SZ(rq_num);

		if (layout_reserved_set(&layout_rq_num, rq, LAYOUT_SZ(rq_num)) >= 0)
			return FW_R_RQT_RESERVED;
		o->rqn[i] = LAYOUT_GET32(rq_num, rq, rq_num);
		if (!fw_obj(k, HW_OBJ_RQ, o->rqn[i]))
			return FW_R_RQT_RQ;
	}
	o->nrqs = n;
	return FW_R_NONE;
}

static enum fw_r check_rqtc(const void *rqtc)
{
	if (RQTC(list_q_type))
		return FW_R_RQT_Q_TYPE;
	if (RQTC(rq_vhca_id_format))
		return FW_R_RQT_VHCA;
	return FW_R_NONE;
}

enum fw_r fw_cmd_create_rqt(struct fw_call *k)
{
	const void *rqtc = LAYOUT_IN(create_rqt_in, rqt_context, k->in);
	struct hw_obj proto = {.kind = HW_OBJ_RQT};
	uint32_t max = (uint32_t)RQTC(rqt_max_size), rqtn;
	enum fw_r r = check_rqtc(rqtc);

	if (r)
		return r;
	if (max > 1u << k->caps->log_max_rqt_size)
		return FW_R_RQT_SIZE;
	r = rqt_list(k, rqtc, max, &proto);
	if (r)
		return r;
	proto.max_rqs = max;
	r = fw_obj_make(k, &proto, &rqtn);
	if (r == 0)
		LAYOUT_SET(create_rqt_out, k->out, rqtn, rqtn);
	return r;
}

enum fw_r fw_cmd_query_rqt(struct fw_call *k)
{
	void *rqtc = LAYOUT_IN(query_rqt_out, rqt_context, k->out);
	uint8_t *list = (uint8_t *)k->out + LAYOUT_SZ(query_rqt_out);
	const struct hw_obj *o = fw_obj(k, HW_OBJ_RQT, LAYOUT_GET32(query_rqt_in, k->in, rqtn));

	if (!o)
		return FW_R_RQT_QUERY_NONE;
	if (k->outlen < LAYOUT_SZ(query_rqt_out) + o->nrqs * LAYOUT_SZ(rq_num))
		return FW_R_OUTPUT_LEN;
	LAYOUT_SET(rqtc, rqtc, rqt_max_size, o->max_rqs);
	LAYOUT_SET(rqtc, rqtc, rqt_actual_size, o->nrqs);
	for (uint32_t i = 0; i < o->nrqs; i++)
		LAYOUT_SET(rq_num, list + i * LAYOUT_SZ(rq_num), rq_num, o->rqn[i]);
	return FW_R_NONE;
}

enum fw_r fw_cmd_modify_rqt(struct fw_call *k)
{
	const void *rqtc = LAYOUT_IN(modify_rqt_in, ctx, k->in);
	uint32_t rqtn = LAYOUT_GET32(modify_rqt_in, k->in, rqtn);
	struct hw_obj next = {.kind = HW_OBJ_RQT};
	struct hw_obj *o = fw_obj(k, HW_OBJ_RQT, rqtn);
	enum fw_r r;

	if (!o)
		return FW_R_RQT_MODIFY_NONE;
	if (!LAYOUT_GET(rqt_bitmask, LAYOUT_IN(modify_rqt_in, bitmask, k->in), rqn_list))
		return FW_R_NONE;
	r = check_rqtc(rqtc);
	if (!r)
		r = rqt_list(k, rqtc, o->max_rqs, &next);
	k->obj = rqtn;
	if (r)
		return r;
	fw_refer(k->s, SEG_T_OBJ, &next, 1);
	fw_refer(k->s, SEG_T_OBJ, o, -1);
	o->nrqs = next.nrqs;
	memcpy(o->rqn, next.rqn, sizeof(o->rqn));
	return FW_R_NONE;
}

enum fw_r fw_cmd_destroy_rqt(struct fw_call *k)
{
	uint64_t rqtn = LAYOUT_GET(destroy_rqt_in, k->in, rqtn);

	return fw_obj_destroy(k, HW_OBJ_RQT, (uint32_t)rqtn, FW_R_RQT_NONE, FW_R_RQT_IN_USE);
}
