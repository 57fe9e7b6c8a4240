/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Extended SRQs, which are plain SRQs without tag matching, and PSVs, start values of
 * signatures, which SET_PSV sets. Called by exec.c under the HCA's lock.
 */
#include "fw/priv.h"

#include <errno.h>
#include "engine/engine.h"
#include "hw/obj.h"
#include "hw/srq.h"
#include "hw/tm.h"
#include "wire/prm/rmp_srq.h"
#include "wire/prm/xrq.h"

#define XRQC(f) LAYOUT_GET(xrqc, xrqc, f)
#define WQ(f) LAYOUT_GET(wq, wq, f)

enum { HEAD = 0x10, WQ_KEPT = 0x40 }; /* the bytes with named fields of both contexts */
_Static_assert(HEAD + WQ_KEPT <= sizeof(((struct hw_srq *)0)->ctx), "QUERY needs room");

static enum fw_r check_xrqc(struct fw_call *k, const void *xrqc)
{
	if (XRQC(state) != PRM_SRQ_STATE_GOOD)
		return FW_R_XRQC_STATE;
	/* libmlx5 connects its QP for commands without a GRH (create_cmd_qp()): not on Ethernet. */
	if (XRQC(topology) > !fw_is_eth(k) || XRQC(offload) > XRQC(topology))
		return FW_R_XRQC_OFFLOAD;
	if (XRQC(topology) && XRQC(log_matching_list_sz) > HW_TM_LOG_LIST)
		return FW_R_XRQC_LIST;
	if (XRQC(topology) && !fw_cq(k, (uint32_t)XRQC(cqn)))
		return FW_R_XRQC_CQN;
	if (XRQC(rlkey) && !k->c->kernel)
		return FW_R_XRQC_RLKEY;
	return FW_R_NONE;
}

FW_KIND(TM, hw_tm, .stage = FW_STAGE_REST);

/* From the last store on the list dies with the XRQ (fw_srq_free()). */
static enum fw_r tag_list(struct fw_call *k, const void *xrqc, uint32_t srqn, struct hw_srq *srq)
{
	struct hw_tm *tm;
	uint32_t i;
	enum fw_r r = fw_alloc(k, SEG_T_TM, &i, &tm);

	if (r)
		return r;
	k->obj = srqn;
	tm->hca = k->c->hca;
	tm->srqn = srqn;
	tm->srq_gen = srq->gen;
	tm->log_size = (uint32_t)XRQC(log_matching_list_sz);
	hw_tm_begin(tm);
	srq->tm = (uint16_t)i;
	srq->cqn = (uint32_t)XRQC(cqn);
	atomic_store(seg_owner_word(k->s, SEG_T_TM, i), SEG_OWNER_DEVICE);
	return FW_R_NONE;
}

enum fw_r fw_cmd_create_xrq(struct fw_call *k)
{
	const void *xrqc = LAYOUT_IN(create_xrq_in, xrq_context, k->in);
	const void *wq = LAYOUT_IN(xrqc, wq, xrqc);
	struct fw_wq_place at = {0};
	struct hw_srq *srq;
	uint32_t idx;
	enum fw_r r = check_xrqc(k, xrqc);

	if (!r)
		r = fw_srq_wq_check(k, wq);
	if (!r)
		r = fw_wq_places(k, wq, 4, &at);
	if (!r)
		r = fw_alloc(k, SEG_T_SRQ, &idx, &srq);
	if (r)
		return r;
	fw_srq_fill(k, srq, wq, &at);
	srq->type = HW_SRQ_XRQ;
	srq->user_index = fw_cqe_name((uint32_t)XRQC(user_index), idx);
	r = XRQC(topology) ? tag_list(k, xrqc, idx, srq) : FW_R_NONE;
	if (r) {
		fw_free(k->s, SEG_T_SRQ, idx);
		return r;
	}
	memcpy(srq->ctx, xrqc, HEAD);
	memcpy(srq->ctx + HEAD, wq, WQ_KEPT);
	fw_refer(k->s, SEG_T_SRQ, srq, 1);
	LAYOUT_SET(create_xrq_out, k->out, xrqn, idx);
	fw_commit(&srq->flags);
	return FW_R_NONE;
}

enum fw_r fw_cmd_query_xrq(struct fw_call *k)
{
	void *xrqc = LAYOUT_IN(query_xrq_out, xrq_context, k->out);
	void *wq = LAYOUT_IN(xrqc, wq, xrqc);
	const struct hw_srq *srq =
		fw_srq_of(k, LAYOUT_GET32(query_xrq_in, k->in, xrqn), HW_SRQ_XRQ);
	const struct hw_tm *tm = srq ? hw_tm(k->s, srq->tm) : NULL;

	if (!srq)
		return FW_R_XRQ_QUERY_NONE;
	memcpy(xrqc, srq->ctx, HEAD);
	memcpy(wq, srq->ctx + HEAD, WQ_KEPT);
	LAYOUT_SET(xrqc, xrqc, state, srq->state ? PRM_SRQ_STATE_ERROR : PRM_SRQ_STATE_GOOD);
	LAYOUT_SET(wq, wq, lwm, hw_srq_limit(srq));
	LAYOUT_SET(wq, wq, hw_counter, srq->consumed);
	if (tm) {
		LAYOUT_SET(xrqc, xrqc, log_matching_list_sz, tm->log_size);
		LAYOUT_SET(xrqc, xrqc, append_next_index, tm->next & 0xffff);
		LAYOUT_SET(xrqc, xrqc, sw_phase_cnt, HW_TM_SW(atomic_load(&tm->sync)));
		LAYOUT_SET(xrqc, xrqc, hw_phase_cnt, HW_TM_HW(atomic_load(&tm->sync)));
	}
	return FW_R_NONE;
}

enum fw_r fw_cmd_arm_xrq(struct fw_call *k)
{
	uint32_t idx = LAYOUT_GET32(arm_xrq_in, k->in, xrqn);
	uint32_t lwm = LAYOUT_GET32(arm_xrq_in, k->in, lwm);
	const struct hw_srq *srq = fw_srq_of(k, idx, HW_SRQ_XRQ);

	if (!srq)
		return FW_R_XRQ_ARM_NONE;
	return lwm >= UINT64_C(1) << srq->log_size ? FW_R_XRQ_ARM_LWM
						   : fw_errno(k, eng_srq_arm_limit(k->s, idx, lwm));
}

enum fw_r fw_cmd_destroy_xrq(struct fw_call *k)
{
	uint32_t idx = LAYOUT_GET32(destroy_xrq_in, k->in, xrqn);
	const struct hw_srq *srq = fw_srq_of(k, idx, HW_SRQ_XRQ);

	if (!srq)
		return FW_R_XRQ_NONE;
	return srq->refs ? FW_R_XRQ_IN_USE : fw_errno(k, fw_srq_free(k->s, idx));
}

/* ---- PSVs ---- */

enum fw_r fw_cmd_create_psv(struct fw_call *k)
{
	uint32_t pdn = LAYOUT_GET32(create_psv_in, k->in, pd), idx;
	struct hw_obj proto = {.kind = HW_OBJ_PSV, .ref = {fw_objref(SEG_T_PD, pdn)}};
	enum fw_r r;

	/*
	 * Several PSVs share one number, so destroying them could not be told from destroying one.
	 */
	if (LAYOUT_GET(create_psv_in, k->in, num_psv) != 1)
		return FW_R_PSV_NUM;
	if (!fw_pd(k, pdn))
		return FW_R_PSV_PD;
	r = fw_obj_make(k, &proto, &idx);
	if (!r)
		LAYOUT_SET(create_psv_out, k->out, psv0_index, idx);
	return r;
}

enum fw_r fw_cmd_destroy_psv(struct fw_call *k)
{
	return fw_obj_destroy(k, HW_OBJ_PSV, LAYOUT_GET32(destroy_psv_in, k->in, psvn),
			      FW_R_PSV_NONE, FW_R_PSV_NONE);
}
