/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared receive queues. As in every kernel on an ISSI 1 firmware, a basic SRQ is an RMP with a
 * linked-list work queue, and its number is the RMP's. Called by uverbs through the ops table.
 */
#include <errno.h>
#include <sys/param.h>
#include <infiniband/mlx5dv.h>
#include "hw/hca.h"
#include "hw/port.h"
#include "hw/tm.h"
#include "mlx5/priv.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/raw.h"
#include "wire/prm/rmp_srq.h"
#include "wire/prm/umem.h"
#include "wire/prm/xrq.h"

#define NO_UIDX 0xffffffu

static uint32_t srq_log2_up(uint32_t v)
{
	uint32_t l = 0;

	while ((1u << l) < v)
		l++;
	return l;
}

static int srq_sizes(const struct hw_caps *c, const struct uv_srq *srq, struct mlx5_srq *m)
{
	const uint32_t seg = sizeof(struct mlx5_wqe_data_seg);
	uint32_t desc;

	if (srq->max_wr >= 1u << c->log_max_srq_sz || srq->max_sge > c->max_wqe_sz_rq / seg)
		return uv_no(-EINVAL, "max_wr or max_sge is beyond the device's limit");
	desc = (uint32_t)sizeof(struct mlx5_wqe_srq_next_seg) + srq->max_sge * seg;
	m->log_stride = srq_log2_up(MAX(desc, 32));
	m->log_size = srq_log2_up(srq->max_wr + 1);
	return 0;
}

static int srq_request_check(const struct uv_udata *u, struct mlx5_ib_create_srq *cmd)
{
	const uint8_t *in = u->in;

	memset(cmd, 0, sizeof(*cmd));
	if (u->inlen)
		memcpy(cmd, u->in, MIN(u->inlen, sizeof(*cmd)));
	if (cmd->reserved0 || cmd->reserved1)
		return uv_no(-EINVAL, "reserved: 0");
	for (size_t i = sizeof(*cmd); i < u->inlen; i++)
		if (in[i])
			return uv_no(-EINVAL, "unknown bytes of the driver's data are not zero");
	return 0;
}

/* The user index in completions of an SRQ that has its own CQ. */
static int user_index(const struct uv_context *ctx, const struct uv_udata *u,
		      const struct mlx5_ib_create_srq *cmd, uint32_t *uidx)
{
	const size_t end = offsetof(struct mlx5_ib_create_srq, uidx) + sizeof(cmd->uidx);
	bool has = u->inlen >= end, v1 = mlx5_context(ctx)->cqe_version;

	*uidx = NO_UIDX;
	if (has && !v1 && cmd->uidx == NO_UIDX)
		return 0;
	if (has != v1)
		return uv_no(-EINVAL, "uidx and the file's CQE version do not agree");
	if (v1 && cmd->uidx >= NO_UIDX)
		return uv_no(-EINVAL, "uidx has 24 bits, and not all are set");
	*uidx = v1 ? cmd->uidx : NO_UIDX;
	return 0;
}

static void wq_fill(void *wq, const struct mlx5_srq *m, uint32_t pdn)
{
	LAYOUT_SET(wq, wq, wq_type, PRM_WQ_LINKED_LIST);
	LAYOUT_SET(wq, wq, wq_signature, m->wq_sig);
	LAYOUT_SET(wq, wq, log_wq_stride, m->log_stride);
	LAYOUT_SET(wq, wq, log_wq_sz, m->log_size);
	LAYOUT_SET(wq, wq, pd, pdn);
	LAYOUT_SET(wq, wq, wq_umem_id, m->buf.id);
	LAYOUT_SET(wq, wq, wq_umem_valid, 1);
	LAYOUT_SET(wq, wq, dbr_umem_id, m->dbr.umem);
	LAYOUT_SET(wq, wq, dbr_umem_valid, 1);
	LAYOUT_SET(wq, wq, dbr_addr, m->dbr.offset);
}

static int rmp_create(struct uv_context *ctx, const struct mlx5_srq *m, uint32_t pdn,
		      uint32_t *rmpn)
{
	uint8_t in[LAYOUT_SZ(create_rmp_in)] = {0}, out[LAYOUT_SZ(create_rmp_out)];
	void *rmpc = LAYOUT_IN(create_rmp_in, ctx, in);
	void *wq = LAYOUT_IN(rmpc, wq, rmpc);
	int r;

	LAYOUT_SET(rmpc, rmpc, state, PRM_WQ_STATE_RDY);
	wq_fill(wq, m, pdn);
	r = MLX5_EXEC(ctx, CREATE_RMP, NULL, in, out);
	if (r == 0)
		*rmpn = LAYOUT_GET32(create_rmp_out, out, rmpn);
	return r;
}

uint32_t mlx5_log_tags(const struct uv_context *ctx)
{
	const struct hw_hca *hca = hw_hca(ctx->seg, ctx->hca);

	return hca && hca->caps.srq && hca->caps.tags &&
			       !hw_port_is_eth(hw_port(ctx->seg, hca->port[0]))
		       ? HW_TM_LOG_LIST
		       : 0;
}

/* create_xrq_cmd() of srq_cmd.c */
static int xrq_create(struct uv_context *ctx, struct uv_srq *srq, const struct mlx5_srq *m)
{
	uint8_t in[LAYOUT_SZ(create_xrq_in)] = {0}, out[LAYOUT_SZ(create_xrq_out)];
	void *xrqc = LAYOUT_IN(create_xrq_in, xrq_context, in);
	void *wq = LAYOUT_IN(xrqc, wq, xrqc);
	int r;

	if (m->log_tags > mlx5_log_tags(ctx))
		return uv_no(-EINVAL, "max_num_tags is beyond the device's limit");
	LAYOUT_SET(xrqc, xrqc, topology, 1);
	LAYOUT_SET(xrqc, xrqc, offload, 1);
	LAYOUT_SET(xrqc, xrqc, log_matching_list_sz, m->log_tags);
	LAYOUT_SET(xrqc, xrqc, user_index, m->user_index);
	LAYOUT_SET(xrqc, xrqc, cqn, srq->cq->cqn);
	wq_fill(wq, m, srq->pd->pdn);
	r = MLX5_EXEC(ctx, CREATE_XRQ, NULL, in, out);
	if (r == 0)
		srq->srqn = LAYOUT_GET32(create_xrq_out, out, xrqn);
	return r;
}

/* arm_xrq_cmd() of srq_cmd.c */
static int xrq_arm(const struct uv_srq *srq, uint32_t limit)
{
	uint8_t in[LAYOUT_SZ(arm_rq_in)] = {0}, out[LAYOUT_SZ(arm_rq_out)];

	LAYOUT_SET(cmd_in, in, op_mod, PRM_ARM_RQ_XRQ);
	LAYOUT_SET(arm_rq_in, in, srq_number, srq->srqn);
	LAYOUT_SET(arm_rq_in, in, lwm, limit);
	return MLX5_EXEC(uv_obj_context(&srq->obj), ARM_RQ, NULL, in, out);
}

static int xrq_query(const struct uv_srq *srq, struct ibv_srq_attr *a)
{
	uint8_t in[LAYOUT_SZ(query_xrq_in)] = {0}, out[LAYOUT_SZ(query_xrq_out)];
	const void *xrqc = LAYOUT_IN(query_xrq_out, xrq_context, out);
	int r;

	LAYOUT_SET(query_xrq_in, in, xrqn, srq->srqn);
	r = MLX5_EXEC(uv_obj_context(&srq->obj), QUERY_XRQ, NULL, in, out);
	if (r < 0)
		return r;
	a->srq_limit = LAYOUT_GET32(wq, LAYOUT_IN(xrqc, wq, xrqc), lwm);
	a->max_wr = srq->max_wr;
	a->max_sge = srq->max_sge;
	return 0;
}

static void srq_free(struct uv_context *ctx, struct mlx5_srq *m)
{
	mlx5_dbr_put(ctx, &m->dbr);
	mlx5_umem_destroy(ctx, &m->buf);
	heap_free(m);
}

static int destroy_cmd(struct uv_context *ctx, const struct uv_srq *srq)
{
	if (srq->srq_type == IBV_SRQT_XRC)
		return mlx5_exec_id_as(ctx, 0, PRM_OP_DESTROY_XRC_SRQ, srq->srqn);
	if (srq->srq_type == IBV_SRQT_TM)
		return mlx5_exec_id(ctx, PRM_OP_DESTROY_XRQ, srq->srqn);
	return mlx5_exec_id(ctx, PRM_OP_DESTROY_RMP, srq->srqn);
}

int mlx5_create_srq(struct uv_srq *srq, const struct ibv_srq_init_attr_ex *a, struct uv_udata *u)
{
	struct uv_context *ctx = uv_obj_context(&srq->obj);
	struct mlx5_ib_create_srq_resp resp = {0};
	struct mlx5_ib_create_srq cmd;
	struct mlx5_srq sizes = {0}, *m;
	int r;

	r = srq_sizes(mlx5_caps(ctx), srq, &sizes);
	if (r < 0)
		return r;
	r = srq_request_check(u, &cmd);
	if (r == 0 && srq->srq_type != IBV_SRQT_BASIC)
		r = user_index(ctx, u, &cmd, &sizes.user_index);
	/* ilog2() + 1 of mlx5_ib_create_srq() */
	if (srq->srq_type == IBV_SRQT_TM && a->tm_cap.max_num_tags)
		sizes.log_tags = 32 - (uint32_t)__builtin_clz(a->tm_cap.max_num_tags);
	if (r < 0)
		return r;
	m = heap_zalloc(sizeof(*m));
	if (!m)
		return -ENOMEM;
	*m = sizes;
	m->wq_sig = cmd.flags & MLX5_SRQ_FLAG_SIGNATURE;
	r = mlx5_queue_umem_create(ctx, cmd.buf_addr, UINT64_C(1) << (m->log_size + m->log_stride),
				   0, &m->buf);
	if (r == 0)
		r = mlx5_dbr_get(ctx, cmd.db_addr, &m->dbr);
	if (r == 0 && srq->srq_type == IBV_SRQT_XRC)
		r = mlx5_xrc_srq_create(ctx, srq, m, &srq->srqn);
	else if (r == 0 && srq->srq_type == IBV_SRQT_TM)
		r = xrq_create(ctx, srq, m);
	else if (r == 0)
		r = rmp_create(ctx, m, srq->pd->pdn, &srq->srqn);
	if (r < 0) {
		srq_free(ctx, m);
		return r;
	}
	resp.srqn = srq->srqn;
	r = uv_udata_out(u, &resp, MIN(u->outlen, sizeof(resp)));
	if (r < 0) {
		destroy_cmd(ctx, srq);
		srq_free(ctx, m);
		return r;
	}
	srq->max_wr = (1u << m->log_size) - 1;
	srq->obj.drv = m;
	return 0;
}

int mlx5_modify_srq(struct uv_srq *srq, uint32_t mask, const struct ibv_srq_attr *a)
{
	uint8_t in[LAYOUT_SZ(modify_rmp_in)] = {0}, out[LAYOUT_SZ(modify_rmp_out)];
	void *rmpc = LAYOUT_IN(modify_rmp_in, ctx, in);
	void *bitmask = LAYOUT_IN(modify_rmp_in, bitmask, in);
	void *wq = LAYOUT_IN(rmpc, wq, rmpc);

	if (mask & IBV_SRQ_MAX_WR)
		return uv_no(-EINVAL, "an SRQ is not resized");
	if (!(mask & IBV_SRQ_LIMIT))
		return 0;
	if (a->srq_limit > srq->max_wr)
		return uv_no(-EINVAL, "srq_limit is beyond max_wr");
	if (srq->srq_type == IBV_SRQT_XRC)
		return mlx5_xrc_srq_arm(srq, a->srq_limit);
	if (srq->srq_type == IBV_SRQT_TM)
		return xrq_arm(srq, a->srq_limit);
	LAYOUT_SET(modify_rmp_in, in, rmp_state, PRM_WQ_STATE_RDY);
	LAYOUT_SET(modify_rmp_in, in, rmpn, srq->srqn);
	LAYOUT_SET(rmp_bitmask, bitmask, lwm, 1);
	LAYOUT_SET(rmpc, rmpc, state, PRM_WQ_STATE_RDY);
	LAYOUT_SET(wq, wq, lwm, a->srq_limit);
	return MLX5_EXEC(uv_obj_context(&srq->obj), MODIFY_RMP, NULL, in, out);
}

int mlx5_query_srq(struct uv_srq *srq, struct ibv_srq_attr *a)
{
	uint8_t in[LAYOUT_SZ(query_rmp_in)] = {0}, out[LAYOUT_SZ(query_rmp_out)];
	const void *rmpc = LAYOUT_IN(query_rmp_out, rmp_context, out);
	int r;

	if (srq->srq_type == IBV_SRQT_XRC)
		return mlx5_xrc_srq_query(srq, a);
	if (srq->srq_type == IBV_SRQT_TM)
		return xrq_query(srq, a);
	LAYOUT_SET(query_rmp_in, in, rmpn, srq->srqn);
	r = MLX5_EXEC(uv_obj_context(&srq->obj), QUERY_RMP, NULL, in, out);
	if (r < 0)
		return r;
	a->srq_limit = LAYOUT_GET32(wq, LAYOUT_IN(rmpc, wq, rmpc), lwm);
	a->max_wr = srq->max_wr;
	a->max_sge = srq->max_sge;
	return 0;
}

int mlx5_destroy_srq(struct uv_srq *srq)
{
	struct uv_context *ctx = uv_obj_context(&srq->obj);
	int r;

	r = destroy_cmd(ctx, srq);
	if (r < 0)
		return r;
	srq_free(ctx, srq->obj.drv);
	srq->obj.drv = NULL;
	return 0;
}
