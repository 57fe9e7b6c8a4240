/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Making, querying and destroying QPs. Called by exec.c under the HCA's lock. cmd_qp_state.c has
 * the state changes.
 *
 * The work queues lie in one umem: RQ first, then SQ at the next multiple of 64 bytes. Both
 * doorbell counters are one record of 8 bytes: receive, send.
 */
#include "fw/priv.h"

#include <errno.h>
#include <sys/param.h>
#include "engine/engine.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "hw/service.h"
#include "hw/srq.h"
#include "hw/umem.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/qp.h"
#include "wire/prm/xrq.h"
#include "wire/wqe/cqe.h"

static void qp_stop(void *e)
{
	atomic_store(&((struct hw_qp *)e)->state, PRM_QP_STATE_RST);
}

static bool qp_shared(const void *e)
{
	return ((const struct hw_qp *)e)->shared;
}

FW_KIND(QP, hw_qp, .name = "qp", .stage = FW_STAGE_QUEUE, .nth = FW_NTH(hw_qp),
	.locks = {FW_LOCK(hw_qp, sq_lock), FW_LOCK(hw_qp, rq_lock)},
	.log_max = FW_LOG_MAX(log_max_qp),
	.refers = {FW_REF(hw_qp, pdn, PD), FW_REF(hw_qp, cqn_snd, CQ), FW_REF(hw_qp, cqn_rcv, CQ),
		   FW_REF(hw_qp, uar, UAR), FW_REF(hw_qp, xrcd, XRCD), FW_REF(hw_qp, qctr, QCTR),
		   FW_REF(hw_qp, buf_umem, UMEM), FW_REF(hw_qp, dbr_umem, UMEM),
		   FW_REF(hw_qp, srqn, SRQ), FW_REF(hw_qp, qos_req, OBJ),
		   FW_REF(hw_qp, qos_resp, OBJ)},
	.stop = qp_stop, .free = fw_qp_free, .shared = qp_shared, .adopt = eng_qp_adopt);

#define QPC(f) LAYOUT_GET(qpc, qpc, f)

static enum fw_r check_qpc_attrs(struct fw_call *k, const void *qpc)
{
	const struct hw_service *sv = hw_service((uint32_t)QPC(st));
	uint64_t rq_type = QPC(rq_type);

	if (!sv->made)
		return FW_R_QPC_ST;
	if (!k->caps->rc && !sv->unbounded)
		return FW_R_QPC_NO_RC;
	if (QPC(state) != PRM_QP_STATE_RST)
		return FW_R_QPC_STATE;
	if (rq_type != PRM_QP_RQ_REGULAR && rq_type != PRM_QP_RQ_SHARED &&
	    rq_type != PRM_QP_RQ_NONE)
		return FW_R_QPC_RQ_TYPE;
	if (rq_type == PRM_QP_RQ_REGULAR && sv->no_queue)
		return FW_R_QPC_XRC_RQ;
	if (rq_type == PRM_QP_RQ_REGULAR && (16u << QPC(log_rq_stride)) > k->caps->max_wqe_sz_rq)
		return FW_R_QPC_RQ_STRIDE;
	if (rq_type == PRM_QP_RQ_REGULAR && QPC(log_rq_size) > k->caps->log_max_qp_sz)
		return FW_R_QPC_RQ_SIZE;
	if (!QPC(no_sq) && QPC(log_sq_size) > k->caps->log_max_qp_sz)
		return FW_R_QPC_SQ_SIZE;
	if (QPC(ts_format) > PRM_TS_DEFAULT)
		return FW_R_QPC_TS_FORMAT;
	if (QPC(wq_signature))
		return FW_R_QPC_WQ_SIGNATURE;
	if (QPC(rlky) && !k->c->kernel)
		return FW_R_QPC_RLKY;
	if (QPC(offload_type) > (sv->tags && QPC(no_sq)) || QPC(ulp_stateless_offload_mode))
		return FW_R_QPC_OFFLOAD;
	if (QPC(end_padding_mode))
		return FW_R_QPC_END_PADDING;
	if (QPC(drain_sigerr) && !sv->connected)
		return FW_R_QPC_DRAIN_SIGERR;
	if (QPC(log_num_dci_stream_channels) > (sv->streams ? HW_LOG_MAX_DCI_STREAMS : 0))
		return FW_R_QPC_DCI_STREAMS;
	if (QPC(log_num_dci_errored_streams) > (sv->streams ? HW_LOG_MAX_DCI_ERRORED : 0))
		return FW_R_QPC_DCI_ERRORED;
	if (LAYOUT_GET(create_qp_in, k->in, input_qpn))
		return FW_R_QP_INPUT_QPN;
	if (LAYOUT_GET(create_qp_in, k->in, opt_param_mask))
		return FW_R_QP_CREATE_OPT;
	return FW_R_NONE;
}

/*
 * For a PD, CQ or UAR that a QP of the driver does not use, the kernel names one of its own, which
 * is never used: number 0 stands for those.
 */
static bool drivers_own(const struct fw_call *k, const void *qpc, uint64_t number)
{
	return !number && k->c->kernel && hw_service((uint32_t)QPC(st))->apart;
}

static enum fw_r check_qpc_objects(struct fw_call *k, const void *qpc)
{
	const struct hw_service *sv = hw_service((uint32_t)QPC(st));
	const struct hw_srq *srq;

	if (!drivers_own(k, qpc, QPC(pd)) && !fw_pd(k, (uint32_t)QPC(pd)))
		return FW_R_QPC_PD;
	if (!drivers_own(k, qpc, QPC(cqn_snd)) && !fw_cq(k, (uint32_t)QPC(cqn_snd)))
		return FW_R_QPC_CQN_SND;
	if (!drivers_own(k, qpc, QPC(cqn_rcv)) && !fw_cq(k, (uint32_t)QPC(cqn_rcv)))
		return FW_R_QPC_CQN_RCV;
	if (!drivers_own(k, qpc, QPC(uar_page)) && !fw_uar(k, (uint32_t)QPC(uar_page)))
		return FW_R_QPC_UAR;
	if (sv->xrc) /* each request names its SRQ */
		return !QPC(xrcd) || fw_xrcd(k, (uint32_t)QPC(xrcd)) ? FW_R_NONE : FW_R_QPC_XRCD;
	if (sv->no_rq) /* a DCI receives nothing */
		return FW_R_NONE;
	srq = QPC(rq_type) == PRM_QP_RQ_SHARED ? fw_srq(k, (uint32_t)QPC(srqn_rmpn_xrqn)) : NULL;
	if (QPC(rq_type) == PRM_QP_RQ_SHARED && (!srq || srq->type == HW_SRQ_XRC))
		return FW_R_QPC_SRQN;
	if (srq && srq->tm && !sv->tags)
		return FW_R_QPC_SRQN;
	if (QPC(offload_type) && !(srq && srq->tm && LAYOUT_GET(xrqc, srq->ctx, offload)))
		return FW_R_QPC_OFFLOAD;
	return FW_R_NONE;
}

static enum fw_r qp_record(struct fw_call *k, const void *qpc, struct hw_qp *at)
{
	const struct hw_umem *u;

	if (!QPC(dbr_umem_valid))
		return FW_R_QP_DBR_VALID;
	at->dbr_umem = (uint32_t)QPC(dbr_umem_id);
	u = fw_umem(k, at->dbr_umem);
	if (!u)
		return FW_R_QP_DBR_UMEM;
	at->dbr_mem = u->mem;
	return fw_umem_place(u, QPC(dbr_addr), 8, 8, FW_R_QP_DBR_FIT, &at->dbr_va);
}

/*
 * Find the memory of queues and doorbell record, into `at`. `mem` also names the process that looks
 * after the QP, so one without queues needs it, too.
 */
static enum fw_r qp_places(struct fw_call *k, const void *qpc, struct hw_qp *at)
{
	uint64_t offset = LAYOUT_GET(create_qp_in, k->in, wq_umem_offset);
	uint64_t rq_bytes = 0, sq_bytes = 0;
	const struct hw_umem *u;
	enum fw_r r;

	if (QPC(rq_type) == PRM_QP_RQ_REGULAR) {
		rq_bytes = UINT64_C(16) << (QPC(log_rq_size) + QPC(log_rq_stride));
		rq_bytes = (rq_bytes + 63) & ~UINT64_C(63);
	}
	if (!QPC(no_sq))
		sq_bytes = UINT64_C(64) << QPC(log_sq_size);
	if (rq_bytes + sq_bytes == 0 && hw_service((uint32_t)QPC(st))->xrc) {
		/* no doorbells: the process that makes the QP looks after it */
		at->mem = mem_self(k->s);
		return FW_R_NONE;
	}
	if (rq_bytes + sq_bytes == 0) {
		r = qp_record(k, qpc, at);
		at->mem = at->dbr_mem; /* the device thread of this process looks after it */
		return r;
	}
	if (!LAYOUT_GET(create_qp_in, k->in, wq_umem_valid))
		return FW_R_QP_UMEM_VALID;
	at->buf_umem = LAYOUT_GET32(create_qp_in, k->in, wq_umem_id);
	u = fw_umem(k, at->buf_umem);
	if (!u)
		return FW_R_QP_UMEM;
	if (offset > u->len)
		return FW_R_QP_UMEM_FIT;
	offset += fw_page_offset(QPC(page_offset), QPC(log_page_size));
	r = fw_umem_place(u, offset, rq_bytes + sq_bytes, 64, FW_R_QP_UMEM_FIT, &at->rq_va);
	if (r)
		return r;
	at->sq_va = at->rq_va + rq_bytes;
	at->mem = u->mem;
	return qp_record(k, qpc, at);
}

/*
 * Enhanced connection establishment (rdma_set_local_ece(3)): the upper 4 bits are the version, and
 * each option has a bit that both ends must set. This device has no option and the version of
 * ConnectX-6 cards (0x30000002: version 3; the option is for RoCE). 0 requests nothing.
 */
#define ECE_VERSION_SHIFT 28
#define ECE_VERSION 3u

uint32_t fw_ece(uint32_t asked)
{
	return MIN(asked >> ECE_VERSION_SHIFT, ECE_VERSION) << ECE_VERSION_SHIFT;
}

/* Where short payloads go; other values than the known ones ask for nothing (inferred). */
static uint8_t data_format(uint64_t cs, uint64_t data32, uint64_t data64)
{
	return cs == data32   ? CQE_FORMAT_DATA_32
	       : cs == data64 ? CQE_FORMAT_DATA_64
			      : CQE_FORMAT_NO_DATA;
}

enum fw_r fw_cmd_create_qp(struct fw_call *k)
{
	uint32_t ece = LAYOUT_GET32(create_qp_in, k->in, ece);
	const void *qpc = LAYOUT_IN(create_qp_in, qpc, k->in);
	const struct hw_service *sv = hw_service((uint32_t)QPC(st));
	struct hw_qp at = {0}, *qp;
	uint32_t qpn;
	enum fw_r r = check_qpc_attrs(k, qpc);

	if (!r)
		r = check_qpc_objects(k, qpc);
	if (!r)
		r = qp_places(k, qpc, &at);
	if (!r)
		r = fw_alloc(k, SEG_T_QP, &qpn, &qp);
	if (r)
		return r;
	qp->hca = k->c->hca;
	qp->uid = k->c->uid;
	qp->st = (uint32_t)QPC(st);
	qp->pdn = (uint32_t)QPC(pd);
	qp->cqn_snd = (uint32_t)QPC(cqn_snd);
	qp->cqn_rcv = (uint32_t)QPC(cqn_rcv);
	qp->srqn = QPC(rq_type) == PRM_QP_RQ_SHARED && !sv->no_rq ? (uint32_t)QPC(srqn_rmpn_xrqn)
								  : SEG_NONE;
	qp->xrcd = sv->xrc ? (uint32_t)QPC(xrcd) : 0;
	qp->uar = (uint32_t)QPC(uar_page);
	qp->user_index = fw_cqe_name((uint32_t)QPC(user_index), qp->srqn);
	qp->no_rq = QPC(rq_type) != PRM_QP_RQ_REGULAR;
	qp->no_sq = (uint32_t)QPC(no_sq);
	qp->block_lb_mc = (uint32_t)QPC(block_lb_mc);
	qp->rq_log_size = (uint32_t)QPC(log_rq_size);
	qp->rq_log_stride = (uint32_t)QPC(log_rq_stride) + 4;
	qp->sq_log_size = (uint32_t)QPC(log_sq_size);
	qp->req_data = data_format(QPC(cs_req), PRM_CS_REQ_DATA32, PRM_CS_REQ_DATA64);
	qp->resp_data = data_format(QPC(cs_res), PRM_CS_RES_DATA32, PRM_CS_RES_DATA64);
	qp->mem = at.mem;
	qp->rq_va = at.rq_va;
	qp->sq_va = at.sq_va;
	qp->buf_umem = at.buf_umem;
	qp->dbr_mem = at.dbr_mem;
	qp->dbr_va = at.dbr_va;
	qp->dbr_umem = at.dbr_umem;
	qp->path[0].port = SEG_NONE;
	atomic_store(&qp->async.evq, SEG_NONE);
	memcpy(qp->qpc, qpc, sizeof(qp->qpc));
	LAYOUT_SET(qpc, qp->qpc, lag_tx_port_affinity, 0); /* no LAG */
	qp->born = fw_born(k);
	eng_qp_created(qp);
	fw_refer(k->s, SEG_T_QP, qp, 1);
	/* This is a request for the device's own options, not the other end's. */
	qp->ece = ece ? ECE_VERSION << ECE_VERSION_SHIFT : 0;
	LAYOUT_SET(create_qp_out, k->out, qpn, qpn);
	LAYOUT_SET(create_qp_out, k->out, ece, qp->ece);
	fw_commit(&qp->flags);
	return FW_R_NONE;
}

/* The QPC as commands have set it, with the current values of changing fields. */
enum fw_r fw_cmd_query_qp(struct fw_call *k)
{
	void *qpc = LAYOUT_IN(query_qp_out, qpc, k->out);
	const struct hw_qp *qp = fw_qp(k, LAYOUT_GET32(query_qp_in, k->in, qpn));
	uint32_t rcv = 0, sent;

	if (!qp)
		return FW_R_QP_QUERY_NONE;
	sent = qp->sq_pi;
	memcpy(qpc, qp->qpc, sizeof(qp->qpc));
	fw_qp_paths(qp, qpc);
	LAYOUT_SET(query_qp_out, k->out, ece, qp->ece);
	if (qp->state == PRM_QP_STATE_ERR) {
		eng_qp_settle(k->s, LAYOUT_GET32(query_qp_in, k->in, qpn));
		if (!qp->no_sq)
			mem_read_be32(k->s, qp->dbr_mem, qp->dbr_va + 4, &sent);
	}
	LAYOUT_SET(qpc, qpc, state, qp->state & 0xf);
	LAYOUT_SET(qpc, qpc, next_send_psn, qp->next_send_psn & 0xffffff);
	LAYOUT_SET(qpc, qpc, next_rcv_psn, qp->next_rcv_psn & 0xffffff);
	LAYOUT_SET(qpc, qpc, last_acked_psn, (qp->next_send_psn - 1) & 0xffffff);
	LAYOUT_SET(qpc, qpc, rmsn, qp->msn & 0xffffff);
	LAYOUT_SET(qpc, qpc, hw_sq_wqebb_counter, qp->sq_ci & 0xffff);
	LAYOUT_SET(qpc, qpc, hw_rq_counter, qp->rq_ci);
	LAYOUT_SET(qpc, qpc, sw_sq_wqebb_counter, sent & 0xffff);
	/* The record of a dead process cannot be read: then the counter is 0. */
	if (mem_read_be32(k->s, qp->dbr_mem, qp->dbr_va, &rcv) == 0)
		LAYOUT_SET(qpc, qpc, sw_rq_counter, rcv);
	return FW_R_NONE;
}

enum fw_r fw_cmd_destroy_qp(struct fw_call *k)
{
	uint32_t qpn = LAYOUT_GET32(destroy_qp_in, k->in, qpn);

	if (!fw_qp(k, qpn))
		return FW_R_QP_DESTROY_NONE;
	if (hw_service(hw_qp(k->s, qpn)->st)->datagram && fw_qp_attached(k, qpn))
		return FW_R_QP_ATTACHED;
	return fw_errno(k, fw_qp_free(k->s, qpn));
}
