/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Queue pairs: create, query, destroy; qp_modify.c has the transitions. Called by uverbs through
 * the ops table.
 */
#include <errno.h>
#include <sys/param.h>
#include <infiniband/mlx5dv.h>
#include "hw/hca.h"
#include "hw/port.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "hw/service.h"
#include "mlx5/priv.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/qp.h"
#include "wire/prm/umem.h"

#define DEFAULT_UIDX 0xffffffu   /* "none": CQEs as in CQE version 0 */
#define INVALID_BFREG (1u << 31) /* the program takes care of the UAR */
enum { SQ_WQEBB_SHIFT = 6 };     /* libmlx5 posts in units of 64 bytes */

/* Sizes, reserved bytes, vendor flags, user index: in the kernel's order. */
static int qp_request_check(const struct uv_context *ctx, uint32_t qp_type,
			    const struct uv_udata *u, struct mlx5_ib_create_qp *cmd)
{
	const size_t last = offsetof(struct mlx5_ib_create_qp, reserved);
	const struct hw_service *sv = hw_service_ib(qp_type);
	const uint8_t *in = u->in;
	uint32_t flags, dc;

	if (u->inlen < offsetof(struct mlx5_ib_create_qp, ece_options))
		return uv_no(-EINVAL, "the driver's data is too short");
	for (size_t i = last; i < u->inlen; i++)
		if (in[i])
			return uv_no(-EINVAL, "unknown bytes of the driver's data are not zero");
	memset(cmd, 0, sizeof(*cmd));
	memcpy(cmd, in, MIN(u->inlen, sizeof(*cmd)));

	dc = cmd->flags & (MLX5_QP_FLAG_TYPE_DCT | MLX5_QP_FLAG_TYPE_DCI);
	if (!sv->unbounded && !mlx5_caps(ctx)->rc)
		return uv_no(-EOPNOTSUPP, "qp_type: the device has UC and UD, and no RC");
	if (sv->xrc && !mlx5_caps(ctx)->srq)
		return uv_no(-EOPNOTSUPP, "qp_type: the device has no SRQ, so no XRC");
	if (qp_type != IBV_QPT_DRIVER && dc)
		return uv_no(-EOPNOTSUPP, "DCT and DCI are of type IBV_QPT_DRIVER");
	if (qp_type == IBV_QPT_DRIVER && dc != MLX5_QP_FLAG_TYPE_DCT && dc != MLX5_QP_FLAG_TYPE_DCI)
		return uv_no(-EINVAL, "IBV_QPT_DRIVER is either a DCT or a DCI");
	/* Flags of scatter to CQE are for any type, and ignored where they mean nothing. */
	flags = cmd->flags & ~(uint32_t)(MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_ALLOW_SCATTER_CQE);
	flags &= ~(dc | MLX5_QP_FLAG_DCI_STREAM);
	if (flags & ~(uint32_t)(MLX5_QP_FLAG_SIGNATURE | MLX5_QP_FLAG_BFREG_INDEX |
				MLX5_QP_FLAG_UAR_PAGE_INDEX))
		return uv_no(-EINVAL, "flags that the device has no capability for");
	if (mlx5_context(ctx)->cqe_version ? cmd->uidx >= DEFAULT_UIDX : cmd->uidx != DEFAULT_UIDX)
		return uv_no(-EINVAL, "uidx: below 0xffffff with CQE version 1, else 0xffffff");
	return 0;
}

static bool is_pow2(uint32_t v)
{
	return v && !(v & (v - 1));
}

static bool qp_has_rq(const struct uv_qp *qp, const struct ibv_qp_cap *cap)
{
	return !qp->srq && !hw_service_ib(qp->qp_type)->no_rq && cap->max_recv_wr;
}

/* Check the queue sizes that the program has chosen. */
static int sizes_check(const struct hw_caps *c, const struct uv_qp *qp,
		       const struct ibv_qp_cap *cap, const struct mlx5_ib_create_qp *cmd,
		       struct mlx5_qp *m)
{
	const uint32_t max_wqes = 1u << c->log_max_qp_sz;
	uint32_t sig = !!(cmd->flags & MLX5_QP_FLAG_SIGNATURE), segs;

	if (cap->max_recv_wr > max_wqes)
		return uv_no(-EINVAL, "max_recv_wr is beyond the device's limit");
	if (qp_has_rq(qp, cap)) {
		/* log_rq_stride has 3 bits and starts at 16 bytes */
		if (cmd->rq_wqe_shift < 4 || cmd->rq_wqe_shift > 11 ||
		    !is_pow2(cmd->rq_wqe_count) || cmd->rq_wqe_count > max_wqes)
			return uv_no(-EINVAL, "rq_wqe_count: a power of two within the limit; "
					      "rq_wqe_shift: 4 to 11");
		segs = (1u << cmd->rq_wqe_shift) / (uint32_t)sizeof(struct mlx5_wqe_data_seg);
		if (segs < sig)
			return uv_no(-EINVAL, "no room for the signature");
		m->rq_max_gs = segs - sig;
		m->rq_wqe_cnt = cmd->rq_wqe_count;
	} else if (cmd->rq_wqe_count || cmd->rq_wqe_shift) {
		return uv_no(-EINVAL, "rq_wqe_count, rq_wqe_shift: 0 without a receive queue");
	}
	if (cmd->sq_wqe_count > max_wqes || (cmd->sq_wqe_count && !is_pow2(cmd->sq_wqe_count)))
		return uv_no(-EINVAL, "sq_wqe_count: a power of two within the device's limit");
	m->sq_wqe_cnt = cmd->sq_wqe_count;
	return 0;
}

/* create_user_qp(), configure_requester_scat_cqe() */
static void scatter_to_cqe(void *qpc, const struct uv_qp *qp, uint32_t flags)
{
	const struct hw_service *sv = hw_service_ib(qp->qp_type);

	if (!(flags & MLX5_QP_FLAG_SCATTER_CQE))
		return;
	if (sv->short_in)
		LAYOUT_SET(qpc, qpc, cs_res,
			   mlx5_cqe_size(qp->recv_cq) == 128 ? PRM_CS_RES_DATA64
							     : PRM_CS_RES_DATA32);
	if (sv->short_back && (flags & MLX5_QP_FLAG_ALLOW_SCATTER_CQE || qp->sq_sig_all))
		LAYOUT_SET(qpc, qpc, cs_req,
			   mlx5_cqe_size(qp->send_cq) == 128 ? PRM_CS_REQ_DATA64
							     : PRM_CS_REQ_DATA32);
}

static void qp_qpc_fill(void *qpc, const struct uv_qp *qp, const struct mlx5_qp *m,
			const struct mlx5_ib_create_qp *cmd)
{
	LAYOUT_SET(qpc, qpc, st, hw_service_ib(qp->qp_type)->st);
	LAYOUT_SET(qpc, qpc, pm_state, PRM_PM_MIGRATED);
	LAYOUT_SET(qpc, qpc, block_lb_mc, m->block_lb_mc);
	LAYOUT_SET(qpc, qpc, pd, qp->pd->pdn);
	LAYOUT_SET(qpc, qpc, wq_signature, !!(cmd->flags & MLX5_QP_FLAG_SIGNATURE));
	LAYOUT_SET(qpc, qpc, uar_page, m->uar);
	scatter_to_cqe(qpc, qp, cmd->flags);
	if (hw_service_ib(qp->qp_type)->streams && cmd->flags & MLX5_QP_FLAG_DCI_STREAM) {
		LAYOUT_SET(qpc, qpc, log_num_dci_stream_channels,
			   cmd->dci_streams.log_num_concurent & 0x1f);
		LAYOUT_SET(qpc, qpc, log_num_dci_errored_streams,
			   cmd->dci_streams.log_num_errored & 0x1f);
	}
	if (m->rq_wqe_cnt) {
		LAYOUT_SET(qpc, qpc, log_rq_stride, cmd->rq_wqe_shift - 4);
		LAYOUT_SET(qpc, qpc, log_rq_size, bits_log2(m->rq_wqe_cnt));
	}
	if (qp->srq || hw_service_ib(qp->qp_type)->no_rq)
		LAYOUT_SET(qpc, qpc, rq_type, PRM_QP_RQ_SHARED);
	else
		LAYOUT_SET(qpc, qpc, rq_type, m->rq_wqe_cnt ? PRM_QP_RQ_REGULAR : PRM_QP_RQ_NONE);
	if (m->sq_wqe_cnt)
		LAYOUT_SET(qpc, qpc, log_sq_size, bits_log2(m->sq_wqe_cnt));
	else
		LAYOUT_SET(qpc, qpc, no_sq, 1);
	/* create_user_qp(): the device itself sends by this QP */
	if (LAYOUT_GET(qpc, qpc, no_sq) && qp->srq && qp->srq->srq_type == IBV_SRQT_TM)
		LAYOUT_SET(qpc, qpc, offload_type, 1);
	if (qp->srq)
		LAYOUT_SET(qpc, qpc, srqn_rmpn_xrqn, qp->srq->srqn);
	if (qp->send_cq)
		LAYOUT_SET(qpc, qpc, cqn_snd, qp->send_cq->cqn);
	if (qp->recv_cq)
		LAYOUT_SET(qpc, qpc, cqn_rcv, qp->recv_cq->cqn);
	LAYOUT_SET(qpc, qpc, user_index, cmd->uidx);
	LAYOUT_SET(qpc, qpc, dbr_umem_id, m->dbr.umem);
	LAYOUT_SET(qpc, qpc, dbr_umem_valid, 1);
	LAYOUT_SET(qpc, qpc, dbr_addr, m->dbr.offset);
}

static int qp_cmd(struct uv_context *ctx, struct uv_qp *qp, const struct mlx5_qp *m,
		  const struct mlx5_ib_create_qp *cmd, uint32_t asked, uint32_t *ece)
{
	uint8_t in[LAYOUT_SZ(create_qp_in)] = {0}, out[LAYOUT_SZ(create_qp_out)];
	struct hw_qp *hw;
	int r;

	qp_qpc_fill(LAYOUT_IN(create_qp_in, qpc, in), qp, m, cmd);
	LAYOUT_SET(create_qp_in, in, ece, cmd->ece_options);
	if (m->buf.id) {
		LAYOUT_SET(create_qp_in, in, wq_umem_id, m->buf.id);
		LAYOUT_SET(create_qp_in, in, wq_umem_valid, 1);
	}
	r = mlx5_exec_as(ctx, mlx5_qp_uid(ctx, qp), PRM_OP_CREATE_QP, NULL, in, sizeof(in), out,
			 sizeof(out));
	if (r < 0)
		return r;
	qp->qpn = LAYOUT_GET32(create_qp_out, out, qpn);
	hw = hw_qp(ctx->seg, qp->qpn);
	if (hw)
		hw->max_send_wr = asked; /* for explanations only */
	*ece = LAYOUT_GET32(create_qp_out, out, ece);
	return 0;
}

/*
 * The UAR that the program names, by its page or by a register on it; else a register of its own.
 */
static int uar_get(struct uv_context *ctx, const struct mlx5_ib_create_qp *cmd, struct mlx5_qp *m)
{
	struct mlx5_context *mc = mlx5_context(ctx);
	int r;

	switch (cmd->flags & (MLX5_QP_FLAG_BFREG_INDEX | MLX5_QP_FLAG_UAR_PAGE_INDEX)) {
	case MLX5_QP_FLAG_UAR_PAGE_INDEX:
		if (cmd->bfreg_index > bits_max(LF_qpc_uar_page_WIDTH))
			return uv_no(-EINVAL, "bfreg_index: a UAR page, 24 bits");
		m->uar = cmd->bfreg_index;
		return 0;
	case MLX5_QP_FLAG_BFREG_INDEX:
		r = mlx5_bfreg_dynamic_uar(mc, cmd->bfreg_index);
		m->uar = r < 0 ? 0 : (uint32_t)r;
		return r < 0 ? r : 0;
	case 0:
		r = mlx5_bfreg_alloc(mc);
		if (r < 0)
			return r;
		m->bfreg = (uint32_t)r + 1;
		m->uar = mlx5_bfreg_uar(mc, (uint32_t)r);
		return 0;
	default:
		return -EINVAL;
	}
}

/* End a QP, complete or half made. If the firmware refuses, the QP is unchanged. */
static int qp_end(struct uv_qp *qp)
{
	struct uv_context *ctx = uv_obj_context(&qp->obj);
	struct mlx5_qp *m = qp->obj.drv;
	int r = 0;

	if (m->is_dct)
		r = mlx5_destroy_dct(qp);
	else if (qp->qpn)
		r = mlx5_exec_id_as(ctx, mlx5_qp_uid(ctx, qp), PRM_OP_DESTROY_QP, qp->qpn);
	if (r < 0)
		return r;
	if (m->bfreg)
		mlx5_bfreg_free(mlx5_context(ctx), m->bfreg - 1);
	mlx5_dbr_put(ctx, &m->dbr);
	mlx5_umem_destroy(ctx, &m->buf);
	heap_free(m);
	qp->obj.drv = NULL;
	return 0;
}

static int qp_make(struct uv_context *ctx, struct uv_qp *qp, struct mlx5_qp *m,
		   const struct mlx5_ib_create_qp *cmd, uint32_t asked, uint32_t *ece)
{
	uint64_t rq = m->rq_wqe_cnt ? (uint64_t)m->rq_wqe_cnt << cmd->rq_wqe_shift : 0;
	uint64_t bytes = rq + ((uint64_t)m->sq_wqe_cnt << SQ_WQEBB_SHIFT);
	int r = uar_get(ctx, cmd, m);

	if (r < 0)
		return r;
	if (cmd->buf_addr && bytes)
		r = mlx5_queue_umem_create(ctx, cmd->buf_addr, bytes, 0, &m->buf);
	if (r == 0)
		r = mlx5_dbr_get(ctx, cmd->db_addr, &m->dbr);
	if (r == 0)
		r = qp_cmd(ctx, qp, m, cmd, asked, ece);
	return r;
}

int mlx5_create_qp(struct uv_qp *qp, const struct ibv_qp_cap *cap, uint32_t create_flags,
		   struct uv_udata *u)
{
	struct mlx5_ib_create_qp_resp resp = {.bfreg_index = INVALID_BFREG};
	struct uv_context *ctx = uv_obj_context(&qp->obj);
	struct mlx5_qp sizes = {0}, *m;
	struct mlx5_ib_create_qp cmd;
	int r;

	if (qp->ind_tbl && qp->qp_type != IBV_QPT_RAW_PACKET) /* check_valid_flow() */
		return uv_no(-EINVAL, "tables are for raw packets");
	if (!hw_service_ib(qp->qp_type)->made)
		return uv_no(-EOPNOTSUPP, "the device has no QPs of this type");
	r = qp_request_check(ctx, qp->qp_type, u, &cmd);
	if (r < 0)
		return r;
	if (qp->qp_type == IBV_QPT_XRC_RECV)
		return mlx5_create_xrc_tgt(qp, create_flags, &cmd, u);
	if (cmd.flags & MLX5_QP_FLAG_TYPE_DCT)
		return mlx5_create_dct(qp, create_flags, &cmd, u);
	if (create_flags & ~(uint32_t)IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK)
		return uv_no(-EOPNOTSUPP, "create_flags: each needs a capability that is off");
	if (qp->qp_type == IBV_QPT_DRIVER && (cap->max_recv_wr || cap->max_recv_sge))
		return uv_no(-EINVAL, "a DCI receives nothing");
	r = sizes_check(mlx5_caps(ctx), qp, cap, &cmd, &sizes);
	if (r == 0)
		r = mlx5_cq_ts_check(qp->send_cq);
	if (r == 0)
		r = mlx5_cq_ts_check(qp->recv_cq);
	if (r < 0)
		return r;
	m = heap_zalloc(sizeof(*m));
	if (!m)
		return -ENOMEM;
	*m = sizes;
	m->block_lb_mc = create_flags & IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	qp->obj.drv = m;
	r = qp_make(ctx, qp, m, &cmd, cap->max_send_wr, &resp.ece_options);
	if (r == 0) {
		if (m->bfreg)
			resp.bfreg_index = mlx5_bfreg_user(m->bfreg - 1);
		r = uv_udata_out(u, &resp, MIN(u->outlen, sizeof(resp)));
	}
	if (r < 0) {
		qp_end(qp);
		return r;
	}
	qp->cap = *cap;
	if (!qp_has_rq(qp, cap)) {
		qp->cap.max_recv_wr = 0;
		qp->cap.max_recv_sge = 0;
	}
	return 0;
}

static enum ibv_qp_state qp_state_of(uint32_t prm)
{
	switch (prm) {
	case PRM_QP_STATE_RST:
		return IBV_QPS_RESET;
	case PRM_QP_STATE_INIT:
		return IBV_QPS_INIT;
	case PRM_QP_STATE_RTR:
		return IBV_QPS_RTR;
	case PRM_QP_STATE_RTS:
		return IBV_QPS_RTS;
	case PRM_QP_STATE_SQER:
		return IBV_QPS_SQE;
	case PRM_QP_STATE_SQD:
		return IBV_QPS_SQD;
	default:
		return IBV_QPS_ERR;
	}
}

static enum ibv_mig_state mig_state_of(uint32_t prm)
{
	return prm == PRM_PM_ARMED   ? IBV_MIG_ARMED
	       : prm == PRM_PM_REARM ? IBV_MIG_REARM
				     : IBV_MIG_MIGRATED;
}

static void path_to_ah(const struct uv_context *ctx, const void *ads, struct ibv_ah_attr *ah)
{
	uint32_t num = LAYOUT_GET32(ads, ads, vhca_port_num);
	const struct hw_port *port = mlx5_port(ctx, num);

	memset(ah, 0, sizeof(*ah));
	if (!port)
		return;
	ah->port_num = (uint8_t)num;
	ah->sl = LAYOUT_GET8(ads, ads, sl);
	ah->dlid = LAYOUT_GET16(ads, ads, rlid);
	ah->src_path_bits = LAYOUT_GET8(ads, ads, mlid);
	ah->static_rate = mlx5_rate_of(LAYOUT_GET(ads, ads, stat_rate));
	if (!LAYOUT_GET(ads, ads, grh) && !hw_port_is_eth(port))
		return;
	ah->is_global = 1;
	ah->grh.flow_label = LAYOUT_GET32(ads, ads, flow_label);
	ah->grh.sgid_index = LAYOUT_GET8(ads, ads, src_addr_index);
	ah->grh.hop_limit = LAYOUT_GET8(ads, ads, hop_limit);
	ah->grh.traffic_class = LAYOUT_GET8(ads, ads, tclass);
	memcpy(ah->grh.dgid.raw, LAYOUT_IN(ads, rgid_rip, ads), sizeof(ah->grh.dgid.raw));
}

static void qpc_to_attr(const struct uv_qp *qp, const void *qpc, struct ibv_qp_attr *a)
{
	const struct uv_context *ctx = uv_obj_context(&qp->obj);
	const void *pri = LAYOUT_IN(qpc, primary_address_path, qpc);
	const void *alt = LAYOUT_IN(qpc, secondary_address_path, qpc);

	a->qp_state = qp_state_of(LAYOUT_GET32(qpc, qpc, state));
	a->cur_qp_state = a->qp_state;
	a->path_mtu = (enum ibv_mtu)LAYOUT_GET(qpc, qpc, mtu);
	a->path_mig_state = mig_state_of(LAYOUT_GET32(qpc, qpc, pm_state));
	a->qkey = LAYOUT_GET32(qpc, qpc, q_key);
	a->rq_psn = LAYOUT_GET32(qpc, qpc, next_rcv_psn);
	a->sq_psn = LAYOUT_GET32(qpc, qpc, next_send_psn);
	a->dest_qp_num = LAYOUT_GET32(qpc, qpc, remote_qpn);
	a->qp_access_flags = (LAYOUT_GET(qpc, qpc, rre) ? IBV_ACCESS_REMOTE_READ : 0u) |
			     (LAYOUT_GET(qpc, qpc, rwe) ? IBV_ACCESS_REMOTE_WRITE : 0u) |
			     (LAYOUT_GET(qpc, qpc, rae) ? IBV_ACCESS_REMOTE_ATOMIC : 0u);
	a->max_rd_atomic = (uint8_t)(1u << LAYOUT_GET(qpc, qpc, log_sra_max));
	a->max_dest_rd_atomic = (uint8_t)(1u << LAYOUT_GET(qpc, qpc, log_rra_max));
	a->min_rnr_timer = LAYOUT_GET8(qpc, qpc, min_rnr_nak);
	a->retry_cnt = LAYOUT_GET8(qpc, qpc, retry_count);
	a->rnr_retry = LAYOUT_GET8(qpc, qpc, rnr_retry);
	if (hw_service_ib(qp->qp_type)->connected) {
		path_to_ah(ctx, pri, &a->ah_attr);
		path_to_ah(ctx, alt, &a->alt_ah_attr);
		a->alt_pkey_index = LAYOUT_GET16(ads, alt, pkey_index);
		a->alt_port_num = LAYOUT_GET8(ads, alt, vhca_port_num);
	}
	a->pkey_index = LAYOUT_GET16(ads, pri, pkey_index);
	a->port_num = LAYOUT_GET8(ads, pri, vhca_port_num);
	a->timeout = LAYOUT_GET8(ads, pri, ack_timeout);
	a->alt_timeout = LAYOUT_GET8(ads, alt, ack_timeout);
}

int mlx5_query_qp(struct uv_qp *qp, struct ibv_qp_attr *a, uint32_t mask)
{
	uint8_t in[LAYOUT_SZ(query_qp_in)] = {0}, out[LAYOUT_SZ(query_qp_out)];
	struct uv_context *ctx = uv_obj_context(&qp->obj);
	const struct mlx5_qp *m = qp->obj.drv;
	int r;

	if (m->is_dct)
		return mlx5_query_dct(qp, a, mask);
	LAYOUT_SET(query_qp_in, in, qpn, qp->qpn);
	r = mlx5_exec_as(ctx, mlx5_qp_uid(ctx, qp), PRM_OP_QUERY_QP, NULL, in, sizeof(in), out,
			 sizeof(out));
	if (r < 0)
		return r;
	memset(a, 0, sizeof(*a));
	qpc_to_attr(qp, LAYOUT_IN(query_qp_out, qpc, out), a);
	a->cap.max_recv_wr = m->rq_wqe_cnt;
	a->cap.max_recv_sge = m->rq_max_gs;
	return 0; /* libmlx5 fills in the send side */
}

int mlx5_end_qp(struct uv_qp *qp)
{
	struct uv_context *ctx = uv_obj_context(&qp->obj);
	const struct mlx5_qp *m = qp->obj.drv;

	if (!m->is_dct && qp->state != IBV_QPS_RESET)
		mlx5_exec_id_as(ctx, mlx5_qp_uid(ctx, qp), PRM_OP_2RST_QP, qp->qpn);
	return qp_end(qp);
}

int mlx5_destroy_qp(struct uv_qp *qp)
{
	return qp->share ? mlx5_destroy_xrc_tgt(qp) : mlx5_end_qp(qp);
}
