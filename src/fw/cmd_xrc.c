/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * XRC domains and XRC SRQs: shared receive queues that requests name by number, with a completion
 * queue of their own. Called by exec.c under the HCA's lock.
 */
#include "fw/priv.h"
#include "hw/share.h"

#include <errno.h>
#include "engine/engine.h"
#include "hw/srq.h"
#include "hw/umem.h"
#include "hw/xrcd.h"
#include "wire/prm/rmp_srq.h"
#include "wire/prm/xrc.h"

static bool xrcd_shared(const void *e)
{
	return true;
}

FW_KIND(XRCD, hw_xrcd, .name = "xrcd", .stage = FW_STAGE_REST, .refs = FW_REFS(hw_xrcd),
	.log_max = FW_LOG_MAX(log_max_xrcd), .shared = xrcd_shared);

/* An open file's part in an XRC domain or XRC QP; uverbs makes it. */
FW_KIND(SHARE, hw_share, .name = "share", .stage = FW_STAGE_QUEUE);

#define SRQC(f) LAYOUT_GET(xrc_srqc, srqc, f)

enum fw_r fw_cmd_alloc_xrcd(struct fw_call *k)
{
	struct hw_xrcd *x;
	uint32_t idx;
	enum fw_r r = fw_alloc(k, SEG_T_XRCD, &idx, &x);

	if (r)
		return r;
	x->hca = k->c->hca;
	x->uid = k->c->uid;
	LAYOUT_SET(alloc_xrcd_out, k->out, xrcd, idx);
	fw_commit(&x->flags);
	return FW_R_NONE;
}

enum fw_r fw_cmd_dealloc_xrcd(struct fw_call *k)
{
	uint32_t idx = LAYOUT_GET32(dealloc_xrcd_in, k->in, xrcd);
	struct hw_xrcd *x = fw_xrcd(k, idx);

	if (!x)
		return FW_R_XRCD_NONE;
	if (x->refs)
		return FW_R_XRCD_IN_USE;
	fw_free(k->s, SEG_T_XRCD, idx);
	return FW_R_NONE;
}

static enum fw_r check_srqc(struct fw_call *k, const void *srqc)
{
	uint64_t stride = UINT64_C(16) << SRQC(log_rq_stride);

	if (SRQC(state) != PRM_SRQ_STATE_GOOD)
		return FW_R_XRC_SRQC_STATE;
	if (SRQC(wq_signature))
		return FW_R_XRC_SRQC_SIGNATURE;
	if (SRQC(basic_cyclic_rcv_wqe))
		return FW_R_XRC_SRQC_CYCLIC;
	if (SRQC(rlky) && !k->c->kernel)
		return FW_R_XRC_SRQC_RLKY;
	/* a next segment and one data segment */
	if (stride < 32 || stride > k->caps->max_wqe_sz_rq)
		return FW_R_XRC_SRQC_STRIDE;
	if (SRQC(lwm) >= (UINT64_C(1) << SRQC(log_xrc_srq_size)))
		return FW_R_XRC_SRQC_LWM;
	if (!fw_pd(k, (uint32_t)SRQC(pd)))
		return FW_R_XRC_SRQC_PD;
	if (!fw_cq(k, (uint32_t)SRQC(cqn)))
		return FW_R_XRC_SRQC_CQN;
	if (!fw_xrcd(k, (uint32_t)SRQC(xrcd)))
		return FW_R_XRC_SRQC_XRCD;
	return FW_R_NONE;
}

static enum fw_r srq_places(struct fw_call *k, const void *srqc, struct hw_srq *at)
{
	uint64_t bytes = UINT64_C(16) << (SRQC(log_xrc_srq_size) + SRQC(log_rq_stride));
	uint64_t offset = LAYOUT_GET(create_xrc_srq_in, k->in, xrc_srq_umem_offset);
	const struct hw_umem *u;
	enum fw_r r;

	if (!LAYOUT_GET(create_xrc_srq_in, k->in, xrc_srq_umem_valid))
		return FW_R_XRC_SRQ_UMEM_VALID;
	at->buf_umem = LAYOUT_GET32(create_xrc_srq_in, k->in, xrc_srq_umem_id);
	u = fw_umem(k, at->buf_umem);
	if (!u)
		return FW_R_XRC_SRQ_UMEM;
	if (offset > u->len)
		return FW_R_XRC_SRQ_UMEM_FIT;
	offset += fw_page_offset(SRQC(page_offset), SRQC(log_page_size));
	r = fw_umem_place(u, offset, bytes, 16, FW_R_XRC_SRQ_UMEM_FIT, &at->va);
	if (r)
		return r;
	at->mem = u->mem;
	if (!SRQC(dbr_umem_valid))
		return FW_R_XRC_SRQ_DBR_VALID;
	at->dbr_umem = (uint32_t)SRQC(dbr_umem_id);
	u = fw_umem(k, at->dbr_umem);
	if (!u)
		return FW_R_XRC_SRQ_DBR_UMEM;
	at->dbr_mem = u->mem;
	return fw_umem_place(u, SRQC(dbr_addr), 4, 4, FW_R_XRC_SRQ_DBR_FIT, &at->dbr_va);
}

enum fw_r fw_cmd_create_xrc_srq(struct fw_call *k)
{
	const void *srqc = LAYOUT_IN(create_xrc_srq_in, xrc_srq_context_entry, k->in);
	struct hw_srq at = {0}, *srq;
	uint32_t idx;
	enum fw_r r = check_srqc(k, srqc);

	if (!r)
		r = srq_places(k, srqc, &at);
	if (!r)
		r = fw_alloc(k, SEG_T_SRQ, &idx, &srq);
	if (r)
		return r;
	srq->hca = k->c->hca;
	srq->uid = k->c->uid;
	srq->type = HW_SRQ_XRC;
	srq->pdn = (uint32_t)SRQC(pd);
	srq->cqn = (uint32_t)SRQC(cqn);
	srq->xrcd = (uint32_t)SRQC(xrcd);
	srq->user_index = SRQC(user_index_equal_xrc_srqn)
				  ? idx
				  : fw_cqe_name((uint32_t)SRQC(user_index), idx);
	srq->log_size = (uint32_t)SRQC(log_xrc_srq_size);
	srq->log_stride = (uint32_t)SRQC(log_rq_stride) + 4;
	srq->mem = at.mem;
	srq->va = at.va;
	srq->buf_umem = at.buf_umem;
	srq->dbr_mem = at.dbr_mem;
	srq->dbr_va = at.dbr_va;
	srq->dbr_umem = at.dbr_umem;
	srq->lwm = (uint32_t)SRQC(lwm) * HW_LWM_LIMIT;
	atomic_store(&srq->async.evq, SEG_NONE);
	eng_srq_created(srq);
	memcpy(srq->ctx, srqc, LAYOUT_SZ(xrc_srqc));
	fw_refer(k->s, SEG_T_SRQ, srq, 1);
	LAYOUT_SET(create_xrc_srq_out, k->out, xrc_srqn, idx);
	fw_commit(&srq->flags);
	return FW_R_NONE;
}

enum fw_r fw_cmd_query_xrc_srq(struct fw_call *k)
{
	void *srqc = LAYOUT_IN(query_xrc_srq_out, xrc_srq_context_entry, k->out);
	const struct hw_srq *srq =
		fw_srq_of(k, LAYOUT_GET32(query_xrc_srq_in, k->in, xrc_srqn), HW_SRQ_XRC);
	uint32_t sw = 0;

	if (!srq)
		return FW_R_XRC_SRQ_QUERY_NONE;
	memcpy(srqc, srq->ctx, LAYOUT_SZ(xrc_srqc));
	if (mem_read_be32(k->s, srq->dbr_mem, srq->dbr_va, &sw) < 0)
		sw = srq->consumed;
	LAYOUT_SET(xrc_srqc, srqc, state, srq->state ? PRM_SRQ_STATE_ERROR : PRM_SRQ_STATE_GOOD);
	LAYOUT_SET(xrc_srqc, srqc, lwm, hw_srq_limit(srq));
	LAYOUT_SET(xrc_srqc, srqc, wqe_cnt, (sw - srq->consumed) & 0xffff);
	return FW_R_NONE;
}

enum fw_r fw_cmd_arm_xrc_srq(struct fw_call *k)
{
	uint32_t idx = LAYOUT_GET32(arm_xrc_srq_in, k->in, xrc_srqn);
	const struct hw_srq *srq = fw_srq_of(k, idx, HW_SRQ_XRC);

	if (k->op_mod != PRM_ARM_XRC_SRQ)
		return FW_R_OP_MOD;
	if (!srq)
		return FW_R_XRC_SRQ_ARM_NONE;
	if (LAYOUT_GET(arm_xrc_srq_in, k->in, lwm) >= (UINT64_C(1) << srq->log_size))
		return FW_R_XRC_SRQ_ARM_LWM;
	return fw_errno(k, eng_srq_arm_limit(k->s, idx, LAYOUT_GET32(arm_xrc_srq_in, k->in, lwm)));
}

enum fw_r fw_cmd_destroy_xrc_srq(struct fw_call *k)
{
	uint32_t idx = LAYOUT_GET32(destroy_xrc_srq_in, k->in, xrc_srqn);
	const struct hw_srq *srq = fw_srq_of(k, idx, HW_SRQ_XRC);

	if (!srq)
		return FW_R_XRC_SRQ_NONE;
	return fw_errno(k, fw_srq_free(k->s, idx));
}
