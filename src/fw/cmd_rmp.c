/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Receive memory pools, the firmware's basic SRQs: a linked list of receive WQEs in a umem, with
 * one doorbell record. Called by exec.c under the HCA's lock.
 */
#include "fw/priv.h"
#include "wire/prm/qp.h"
#include "hw/qp.h"
#include "hw/service.h"

#include <errno.h>
#include "engine/engine.h"
#include "hw/srq.h"
#include "hw/umem.h"
#include "wire/prm/rmp_srq.h"

/* An XRC SRQ is also in use while a QP of its domain is; freeing it waits for that. */
static bool srq_held(struct seg *s, const void *e)
{
	const struct hw_srq *srq = e;

	if (srq->type != HW_SRQ_XRC)
		return false;
	seg_for_each_live (s, SEG_T_QP, i) {
		struct hw_qp *qp = seg_at(s, SEG_T_QP, i);

		if (hw_service(qp->st)->xrc && qp->xrcd == srq->xrcd &&
		    atomic_load(&qp->rq_lock.word))
			return true;
	}
	return false;
}

FW_KIND(SRQ, hw_srq, .name = "srq", .stage = FW_STAGE_QUEUE, .refs = FW_REFS(hw_srq),
	.nth = FW_NTH(hw_srq), .locks = {FW_LOCK(hw_srq, lock)}, .log_max = FW_LOG_MAX(log_max_srq),
	.refers = {FW_REF(hw_srq, pdn, PD), FW_REF(hw_srq, cqn, CQ), FW_REF(hw_srq, xrcd, XRCD),
		   FW_REF(hw_srq, buf_umem, UMEM), FW_REF(hw_srq, dbr_umem, UMEM)},
	.held = srq_held, .free = fw_srq_free);

#define WQ(f) LAYOUT_GET(wq, wq, f)

enum { WQ_LOG_STRIDE_MIN = 5 }; /* a next segment and one data segment */

enum fw_r fw_srq_wq_check(struct fw_call *k, const void *wq)
{
	if (WQ(wq_type) > PRM_WQ_CYCLIC)
		return FW_R_WQ_TYPE;
	if (WQ(wq_signature))
		return FW_R_WQ_SIGNATURE;
	if (WQ(log_wqe_num_of_strides) || WQ(log_wqe_stride_size) || WQ(two_byte_shift_en))
		return FW_R_WQ_STRIDING;
	if (WQ(log_wq_stride) < WQ_LOG_STRIDE_MIN ||
	    (1u << WQ(log_wq_stride)) > k->caps->max_wqe_sz_rq)
		return FW_R_WQ_STRIDE;
	if (WQ(log_wq_sz) > k->caps->log_max_srq_sz)
		return FW_R_WQ_SIZE;
	if (WQ(lwm) >= (UINT64_C(1) << WQ(log_wq_sz)))
		return FW_R_WQ_LWM;
	if (!fw_pd(k, (uint32_t)WQ(pd)))
		return FW_R_WQ_PD;
	return FW_R_NONE;
}

static enum fw_r check_rmpc(struct fw_call *k, const void *rmpc, const void *wq)
{
	if (LAYOUT_GET(rmpc, rmpc, state) != PRM_WQ_STATE_RDY)
		return FW_R_RMPC_STATE;
	if (LAYOUT_GET(rmpc, rmpc, basic_cyclic_rcv_wqe))
		return FW_R_RMPC_CYCLIC;
	return fw_srq_wq_check(k, wq);
}

enum fw_r fw_wq_places(struct fw_call *k, const void *wq, uint32_t record, struct fw_wq_place *at)
{
	uint64_t bytes = UINT64_C(1) << (WQ(log_wq_sz) + WQ(log_wq_stride));
	uint64_t offset = WQ(wq_umem_offset);
	const struct hw_umem *u;
	enum fw_r r;

	if (!WQ(wq_umem_valid))
		return FW_R_WQ_UMEM_VALID;
	at->buf_umem = (uint32_t)WQ(wq_umem_id);
	u = fw_umem(k, at->buf_umem);
	if (!u)
		return FW_R_WQ_UMEM;
	if (offset > u->len)
		return FW_R_WQ_UMEM_FIT;
	offset += fw_page_offset(WQ(page_offset), WQ(log_wq_pg_sz));
	r = fw_umem_place(u, offset, bytes, 16, FW_R_WQ_UMEM_FIT, &at->va);
	if (r)
		return r;
	at->mem = u->mem;
	if (!WQ(dbr_umem_valid))
		return FW_R_WQ_DBR_VALID;
	at->dbr_umem = (uint32_t)WQ(dbr_umem_id);
	u = fw_umem(k, at->dbr_umem);
	if (!u)
		return FW_R_WQ_DBR_UMEM;
	at->dbr_mem = u->mem;
	return fw_umem_place(u, WQ(dbr_addr), record, 4, FW_R_WQ_DBR_FIT, &at->dbr_va);
}

void fw_srq_fill(struct fw_call *k, struct hw_srq *srq, const void *wq,
		 const struct fw_wq_place *at)
{
	srq->hca = k->c->hca;
	srq->uid = k->c->uid;
	srq->pdn = (uint32_t)WQ(pd);
	srq->cqn = SEG_NONE;
	srq->wq_type = (uint32_t)WQ(wq_type);
	srq->log_size = (uint32_t)WQ(log_wq_sz);
	srq->log_stride = (uint32_t)WQ(log_wq_stride);
	srq->mem = at->mem;
	srq->va = at->va;
	srq->dbr_mem = at->dbr_mem;
	srq->dbr_va = at->dbr_va;
	srq->buf_umem = at->buf_umem;
	srq->dbr_umem = at->dbr_umem;
	srq->lwm = (uint32_t)WQ(lwm) * HW_LWM_LIMIT;
	atomic_store(&srq->async.evq, SEG_NONE);
	eng_srq_created(srq);
}

enum fw_r fw_cmd_create_rmp(struct fw_call *k)
{
	const void *rmpc = LAYOUT_IN(create_rmp_in, ctx, k->in);
	const void *wq = LAYOUT_IN(rmpc, wq, rmpc);
	struct fw_wq_place places = {0};
	struct hw_srq *srq;
	uint32_t idx;
	enum fw_r r = check_rmpc(k, rmpc, wq);

	if (!r)
		r = fw_wq_places(k, wq, 4, &places);
	if (!r)
		r = fw_alloc(k, SEG_T_SRQ, &idx, &srq);
	if (r)
		return r;
	fw_srq_fill(k, srq, wq, &places);
	memcpy(srq->ctx, rmpc, sizeof(srq->ctx)); /* only the first bytes have named fields */
	fw_refer(k->s, SEG_T_SRQ, srq, 1);
	LAYOUT_SET(create_rmp_out, k->out, rmpn, idx);
	fw_commit(&srq->flags);
	return FW_R_NONE;
}

enum fw_r fw_cmd_query_rmp(struct fw_call *k)
{
	void *rmpc = LAYOUT_IN(query_rmp_out, rmp_context, k->out);
	void *wq = LAYOUT_IN(rmpc, wq, rmpc);
	const struct hw_srq *srq =
		fw_srq_of(k, LAYOUT_GET32(query_rmp_in, k->in, rmpn), HW_SRQ_RMP);
	uint32_t sw = 0;

	if (!srq)
		return FW_R_RMP_QUERY_NONE;
	memcpy(rmpc, srq->ctx, sizeof(srq->ctx));
	if (mem_read_be32(k->s, srq->dbr_mem, srq->dbr_va, &sw) < 0)
		sw = 0;
	LAYOUT_SET(rmpc, rmpc, state, srq->state ? PRM_WQ_STATE_ERR : PRM_WQ_STATE_RDY);
	LAYOUT_SET(wq, wq, lwm, hw_srq_limit(srq));
	LAYOUT_SET(wq, wq, hw_counter, srq->consumed);
	LAYOUT_SET(wq, wq, sw_counter, sw);
	return FW_R_NONE;
}

enum fw_r fw_cmd_modify_rmp(struct fw_call *k)
{
	const void *rmpc = LAYOUT_IN(modify_rmp_in, ctx, k->in);
	const void *wq = LAYOUT_IN(rmpc, wq, rmpc);
	uint32_t idx = LAYOUT_GET32(modify_rmp_in, k->in, rmpn);
	const struct hw_srq *srq = fw_srq_of(k, idx, HW_SRQ_RMP);

	if (!srq)
		return FW_R_RMP_MODIFY_NONE;
	if (LAYOUT_GET(modify_rmp_in, k->in, rmp_state) != PRM_WQ_STATE_RDY ||
	    LAYOUT_GET(rmpc, rmpc, state) != PRM_WQ_STATE_RDY)
		return FW_R_RMP_MODIFY_STATE;
	if (!LAYOUT_GET(rmp_bitmask, LAYOUT_IN(modify_rmp_in, bitmask, k->in), lwm))
		return FW_R_NONE;
	if (WQ(lwm) >= (UINT64_C(1) << srq->log_size))
		return FW_R_RMP_MODIFY_LWM;
	return fw_errno(k, eng_srq_arm_limit(k->s, idx, (uint32_t)WQ(lwm)));
}

enum fw_r fw_cmd_destroy_rmp(struct fw_call *k)
{
	uint32_t idx = LAYOUT_GET32(destroy_rmp_in, k->in, rmpn);
	const struct hw_srq *srq = fw_srq_of(k, idx, HW_SRQ_RMP);

	if (!srq)
		return FW_R_RMP_NONE;
	if (srq->refs)
		return FW_R_RMP_IN_USE;
	return fw_errno(k, fw_srq_free(k->s, idx));
}
