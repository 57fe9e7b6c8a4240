/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Receive work queues and tables of them: firmware RQs and RQTs. No packet arrives in one, as there
 * is no Ethernet port. Called by uverbs through the ops table.
 */
#include <errno.h>
#include <linux/capability.h>
#include <sys/param.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include "mlx5/priv.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/raw.h"
#include "wire/prm/rmp_srq.h"
#include "wire/prm/umem.h"

struct mlx5_wq { /* uv_wq.obj.drv */
	struct mlx5_umem buf;
	struct mlx5_dbr dbr;
	uint32_t wqe_cnt, wqe_shift, user_index;
	bool sig;
};

static bool cleared(const struct uv_udata *u, size_t from)
{
	for (size_t i = from; i < u->inlen; i++)
		if (((const uint8_t *)u->in)[i])
			return false;
	return true;
}

/* As prepare_user_rq() and set_user_rq_size() do. */
static int wq_request_get(const struct uv_context *ctx, const struct uv_wq *wq,
			  const struct uv_udata *u, struct mlx5_ib_create_wq *cmd)
{
	const size_t need = offsetof(struct mlx5_ib_create_wq, single_stride_log_num_of_bytes) +
			    sizeof(cmd->single_stride_log_num_of_bytes);

	if (u->inlen < need)
		return uv_no(-EINVAL, "the driver's request is shorter than mlx5_ib_create_wq");
	if (!cleared(u, sizeof(*cmd)))
		return uv_no(-EOPNOTSUPP, "unknown bytes are not zero");
	memset(cmd, 0, sizeof(*cmd));
	memcpy(cmd, u->in, MIN(u->inlen, sizeof(*cmd)));
	if (cmd->comp_mask)
		return uv_no(-EOPNOTSUPP, "cap striding_rq is 0");
	if (wq->max_wr > 1u << mlx5_caps(ctx)->log_max_qp_sz || !cmd->rq_wqe_count)
		return uv_no(-EINVAL, "1 to 2^log_max_wq_sz WQEs");
	if (cmd->rq_wqe_shift > 31 ||
	    (uint64_t)cmd->rq_wqe_count << cmd->rq_wqe_shift > UINT32_MAX || !cmd->buf_addr)
		return uv_no(-EINVAL, "the queue's memory: an address, below 4 GiB");
	return 0;
}

/* Each of these flags needs a capability of an Ethernet port. */
static int flags_check(uint32_t flags)
{
	return flags & (IB_UVERBS_WQ_FLAGS_PCI_WRITE_END_PADDING |
			IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING | IB_UVERBS_WQ_FLAGS_SCATTER_FCS |
			IB_UVERBS_WQ_FLAGS_DELAY_DROP)
		       ? uv_no(-EOPNOTSUPP, "a flag of Ethernet ports")
		       : 0;
}

static int rq_create(struct uv_context *ctx, const struct mlx5_wq *m, struct uv_wq *uwq)
{
	uint8_t in[LAYOUT_SZ(create_rq_in)] = {0}, out[LAYOUT_SZ(create_rq_out)];
	void *rqc = LAYOUT_IN(create_rq_in, ctx, in);
	void *wq = LAYOUT_IN(rqc, wq, rqc);
	int r;

	LAYOUT_SET(rqc, rqc, vsd, 1);
	LAYOUT_SET(rqc, rqc, flush_in_error_en, 1);
	LAYOUT_SET(rqc, rqc, ts_format, PRM_TS_DEFAULT);
	LAYOUT_SET(rqc, rqc, user_index, m->user_index & bits_max(LF_rqc_user_index_WIDTH));
	LAYOUT_SET(rqc, rqc, cqn, uwq->cq->cqn);
	LAYOUT_SET(wq, wq, wq_type, PRM_WQ_CYCLIC);
	LAYOUT_SET(wq, wq, wq_signature, m->sig);
	LAYOUT_SET(wq, wq, log_wq_stride, MIN(m->wqe_shift, bits_max(LF_wq_log_wq_stride_WIDTH)));
	LAYOUT_SET(wq, wq, log_wq_sz, bits_log2(m->wqe_cnt));
	LAYOUT_SET(wq, wq, pd, uwq->pd->pdn);
	LAYOUT_SET(wq, wq, wq_umem_id, m->buf.id);
	LAYOUT_SET(wq, wq, wq_umem_valid, 1);
	LAYOUT_SET(wq, wq, dbr_umem_id, m->dbr.umem);
	LAYOUT_SET(wq, wq, dbr_umem_valid, 1);
	LAYOUT_SET(wq, wq, dbr_addr, m->dbr.offset);
	r = MLX5_EXEC(ctx, CREATE_RQ, NULL, in, out);
	if (r == 0)
		uwq->wqn = LAYOUT_GET32(create_rq_out, out, rqn);
	return r;
}

static void wq_free(struct uv_context *ctx, struct mlx5_wq *m)
{
	mlx5_dbr_put(ctx, &m->dbr);
	mlx5_umem_destroy(ctx, &m->buf);
	heap_free(m);
}

static int wq_make(struct uv_context *ctx, struct uv_wq *wq, const struct mlx5_ib_create_wq *cmd,
		   uint32_t flags)
{
	struct mlx5_wq *m = heap_zalloc(sizeof(*m));
	int r;

	if (!m)
		return -ENOMEM;
	m->wqe_cnt = cmd->rq_wqe_count;
	m->wqe_shift = cmd->rq_wqe_shift;
	m->user_index = cmd->user_index;
	m->sig = cmd->flags & MLX5_WQ_FLAG_SIGNATURE;
	r = mlx5_queue_umem_create(ctx, cmd->buf_addr, (uint64_t)m->wqe_cnt << m->wqe_shift, 0,
				   &m->buf);
	if (r == 0)
		r = mlx5_dbr_get(ctx, cmd->db_addr, &m->dbr);
	if (r == 0)
		r = mlx5_cq_ts_check(wq->cq);
	if (r == 0)
		r = flags_check(flags);
	if (r == 0)
		r = rq_create(ctx, m, wq);
	if (r < 0)
		wq_free(ctx, m);
	else
		wq->obj.drv = m;
	return r;
}

int mlx5_create_wq(struct uv_wq *wq, uint32_t flags, struct uv_udata *u)
{
	struct uv_context *ctx = uv_obj_context(&wq->obj);
	struct mlx5_ib_create_wq_resp resp = {.response_length =
						      sizeof(resp) - sizeof(resp.reserved)};
	struct mlx5_ib_create_wq cmd;
	int r;

	if (u->outlen && u->outlen < sizeof(resp))
		return uv_no(-EINVAL, "no room for the driver's answer");
	if (flags & IB_UVERBS_WQ_FLAGS_DELAY_DROP && !uv_capable(CAP_SYS_RAWIO))
		return uv_no(-EPERM, "delay drop needs CAP_SYS_RAWIO");
	if (wq->type != IBV_WQT_RQ)
		return uv_no(-EINVAL, "a work queue is a receive queue");
	r = wq_request_get(ctx, wq, u, &cmd);
	if (r == 0)
		r = wq_make(ctx, wq, &cmd, flags);
	if (r < 0 || !u->outlen)
		return r;
	r = uv_udata_out(u, &resp, resp.response_length);
	if (r < 0)
		mlx5_destroy_wq(wq);
	return r;
}

static uint32_t rqc_state(uint32_t wqs)
{
	return wqs == IBV_WQS_ERR ? PRM_WQ_STATE_ERR : wqs;
}

int mlx5_modify_wq(struct uv_wq *wq, const struct uv_wq_modify *m, struct uv_udata *u)
{
	uint8_t in[LAYOUT_SZ(modify_rq_in)] = {0}, out[LAYOUT_SZ(modify_rq_out)];
	struct mlx5_ib_modify_wq cmd;

	if (u->inlen < sizeof(cmd))
		return uv_no(-EINVAL, "the driver's data is too short");
	if (!cleared(u, sizeof(cmd)))
		return uv_no(-EOPNOTSUPP, "unknown bytes of the driver's data are not 0");
	memcpy(&cmd, u->in, sizeof(cmd));
	if (cmd.comp_mask || cmd.reserved)
		return uv_no(-EOPNOTSUPP, "comp_mask and reserved are 0");
	if (m->mask & IBV_WQ_ATTR_FLAGS &&
	    m->flags_mask &
		    (IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING | IB_UVERBS_WQ_FLAGS_PCI_WRITE_END_PADDING))
		return uv_no(-EOPNOTSUPP, "the device has neither VLAN stripping nor end padding");
	LAYOUT_SET(modify_rq_in, in, rqn, wq->wqn);
	LAYOUT_SET(modify_rq_in, in, rq_state, rqc_state(m->cur_state));
	LAYOUT_SET(rqc, LAYOUT_IN(modify_rq_in, ctx, in), state, rqc_state(m->new_state));
	return MLX5_EXEC(uv_obj_context(&wq->obj), MODIFY_RQ, NULL, in, out);
}

int mlx5_destroy_wq(struct uv_wq *wq)
{
	struct uv_context *ctx = uv_obj_context(&wq->obj);
	int r = mlx5_exec_id(ctx, PRM_OP_DESTROY_RQ, wq->wqn);

	if (r < 0)
		return r;
	wq_free(ctx, wq->obj.drv);
	wq->obj.drv = NULL;
	return 0;
}

/* ---- tables */

int mlx5_create_rwq_ind_tbl(struct uv_rwq_ind_tbl *t, struct uv_udata *u)
{
	struct mlx5_ib_create_rwq_ind_tbl_resp resp = {.response_length = sizeof(resp) -
									  sizeof(resp.reserved)};
	struct uv_context *ctx = uv_obj_context(&t->obj);
	uint8_t out[LAYOUT_SZ(create_rqt_out)], *in;
	uint32_t n = 1u << t->log_size;
	uint32_t len = LAYOUT_SZ(create_rqt_in) + n * LAYOUT_SZ(rq_num);
	void *rqtc;
	int r;

	if (!cleared(u, 0))
		return uv_no(-EOPNOTSUPP, "the driver's data is not 0");
	if (t->log_size > mlx5_caps(ctx)->log_max_rqt_size)
		return uv_no(-EINVAL, "at most 2^log_max_rqt_size queues");
	if (u->outlen && u->outlen < sizeof(resp))
		return uv_no(-EINVAL, "no room for the driver's answer");
	in = heap_zalloc(len);
	if (!in)
		return -ENOMEM;
	rqtc = LAYOUT_IN(create_rqt_in, rqt_context, in);
	LAYOUT_SET(rqtc, rqtc, rqt_actual_size, n);
	LAYOUT_SET(rqtc, rqtc, rqt_max_size, n);
	for (uint32_t i = 0; i < n; i++)
		LAYOUT_SET(rq_num, in + LAYOUT_SZ(create_rqt_in) + i * LAYOUT_SZ(rq_num), rq_num,
			   t->wq[i]->wqn);
	r = mlx5_exec(ctx, PRM_OP_CREATE_RQT, NULL, in, len, out, sizeof(out));
	heap_free(in);
	if (r < 0)
		return r;
	t->num = LAYOUT_GET32(create_rqt_out, out, rqtn);
	if (u->outlen)
		r = uv_udata_out(u, &resp, resp.response_length);
	if (r < 0)
		mlx5_destroy_rwq_ind_tbl(t);
	return r;
}

int mlx5_destroy_rwq_ind_tbl(struct uv_rwq_ind_tbl *t)
{
	return mlx5_exec_id(uv_obj_context(&t->obj), PRM_OP_DESTROY_RQT, t->num);
}
