/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Dynamically connected QPs of verbs programs (IBV_QPT_DRIVER). An initiator is a QP with other
 * rules for its transitions; a target exists only in the driver until RTR, which makes it. Called
 * by qp.c and qp_modify.c.
 */
#include <errno.h>
#include <sys/param.h>
#include "hw/hca.h"
#include "hw/port.h"
#include "mlx5/priv.h"
#include "util/heap.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/dct.h"
#include "wire/prm/qp.h"

static bool mask_is(uint32_t mask, uint32_t must, uint32_t may)
{
	return (mask & must) == must && !(mask & ~(must | may));
}

bool mlx5_dci_modify_ok(const struct uv_qp_modify *m)
{
	const uint32_t s = IBV_QP_STATE;
	uint32_t from = m->cur_state, to = m->new_state;

	if (to == IBV_QPS_RESET)
		return mask_is(m->mask, s, 0);
	if (from == IBV_QPS_RESET && to == IBV_QPS_INIT)
		return mask_is(m->mask, s | IBV_QP_PKEY_INDEX | IBV_QP_PORT, 0);
	if (from == IBV_QPS_INIT && to == IBV_QPS_INIT)
		return mask_is(m->mask, s, IBV_QP_PKEY_INDEX | IBV_QP_PORT);
	if (from == IBV_QPS_INIT && to == IBV_QPS_RTR)
		return mask_is(m->mask, s | IBV_QP_PATH_MTU, IBV_QP_PKEY_INDEX | IBV_QP_AV);
	if (from == IBV_QPS_RTR && to == IBV_QPS_RTS)
		return mask_is(m->mask,
			       s | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				       IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_SQ_PSN,
			       IBV_QP_MIN_RNR_TIMER);
	if (from == IBV_QPS_RTS && to == IBV_QPS_RTS)
		return mask_is(m->mask, s, IBV_QP_MIN_RNR_TIMER);
	return from != IBV_QPS_RESET && to == IBV_QPS_ERR && mask_is(m->mask, s, 0);
}

int mlx5_create_dct(struct uv_qp *qp, uint32_t create_flags, const struct mlx5_ib_create_qp *cmd,
		    struct uv_udata *u)
{
	struct mlx5_ib_create_qp_resp resp = {0};
	struct mlx5_qp *m;
	int r;

	if (create_flags || !qp->srq || !qp->recv_cq)
		return uv_no(-EINVAL,
			     "a DCT needs an SRQ and a receive CQ, and has no create_flags");
	m = heap_zalloc(sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->is_dct = true;
	LAYOUT_SET(dctc, m->dctc, pd, qp->pd->pdn);
	LAYOUT_SET(dctc, m->dctc, srqn_xrqn, qp->srq->srqn);
	LAYOUT_SET(dctc, m->dctc, cqn, qp->recv_cq->cqn);
	LAYOUT_SET(dctc, m->dctc, dc_access_key, cmd->access_key);
	LAYOUT_SET(dctc, m->dctc, user_index, cmd->uidx & 0xffffff);
	LAYOUT_SET(dctc, m->dctc, ece, cmd->ece_options);
	if (cmd->flags & MLX5_QP_FLAG_SCATTER_CQE && mlx5_cqe_size(qp->recv_cq) == 128)
		LAYOUT_SET(dctc, m->dctc, cs_res, PRM_CS_RES_DATA64); /* create_dct() */
	qp->obj.drv = m;
	r = uv_udata_out(u, &resp, MIN(u->outlen, sizeof(resp)));
	if (r < 0)
		mlx5_end_qp(qp);
	return r;
}

static int dct_to_init(struct uv_qp *qp, struct mlx5_qp *q, const struct uv_qp_modify *m)
{
	const struct uv_context *ctx = uv_obj_context(&qp->obj);
	uint32_t access = m->attr.qp_access_flags;

	if (!mask_is(m->mask, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_PORT,
		     0))
		return uv_no(-EINVAL,
			     "a DCT goes to INIT with state, access flags, P_Key index and port");
	if (!m->attr.port_num || m->attr.port_num > hw_hca(ctx->seg, ctx->hca)->nports)
		return uv_no(-EINVAL, "port_num is no port of the device");
	LAYOUT_SET(dctc, q->dctc, rre, !!(access & IBV_ACCESS_REMOTE_READ));
	LAYOUT_SET(dctc, q->dctc, rwe, !!(access & IBV_ACCESS_REMOTE_WRITE));
	if (access & IBV_ACCESS_REMOTE_ATOMIC) {
		int mode = mlx5_atomic_mode(mlx5_caps(ctx));

		if (mode < 0)
			return mode;
		LAYOUT_SET(dctc, q->dctc, rae, 1);
		LAYOUT_SET(dctc, q->dctc, atomic_mode, (uint32_t)mode);
	}
	LAYOUT_SET(dctc, q->dctc, pkey_index, m->attr.pkey_index);
	LAYOUT_SET(dctc, q->dctc, port, m->attr.port_num);
	LAYOUT_SET(dctc, q->dctc, counter_set_id, mlx5_port_counters(ctx, m->attr.port_num));
	return 0;
}

static int dct_to_rtr(struct uv_qp *qp, struct mlx5_qp *q, const struct uv_qp_modify *m,
		      struct uv_udata *u)
{
	const uint32_t least = offsetof(struct mlx5_ib_modify_qp_resp, dctn) + sizeof(uint32_t);
	uint8_t in[LAYOUT_SZ(create_dct_in)] = {0}, out[LAYOUT_SZ(create_dct_out)];
	struct mlx5_ib_modify_qp_resp resp = {0};
	struct uv_context *ctx = uv_obj_context(&qp->obj);
	const struct ibv_qp_attr *a = &m->attr;
	int r;

	if (u->outlen < least)
		return uv_no(-EINVAL, "no room for the DCT number");
	if (!mask_is(m->mask, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER | IBV_QP_AV | IBV_QP_PATH_MTU, 0))
		return uv_no(-EINVAL, "a DCT goes to RTR with state, RNR timer, address and MTU");
	resp.response_length = u->outlen < sizeof(resp) ? least : sizeof(resp);
	LAYOUT_SET(dctc, q->dctc, min_rnr_nak, a->min_rnr_timer & 0x1f);
	LAYOUT_SET(dctc, q->dctc, tclass, a->ah_attr.grh.traffic_class);
	LAYOUT_SET(dctc, q->dctc, flow_label, a->ah_attr.grh.flow_label & 0xfffff);
	LAYOUT_SET(dctc, q->dctc, mtu, (uint32_t)a->path_mtu & 7);
	LAYOUT_SET(dctc, q->dctc, my_addr_index, a->ah_attr.grh.sgid_index);
	LAYOUT_SET(dctc, q->dctc, hop_limit, a->ah_attr.grh.hop_limit);
	if (hw_port_is_eth(mlx5_port(ctx, qp->port)))
		LAYOUT_SET(dctc, q->dctc, eth_prio, a->ah_attr.sl & 7);
	memcpy(LAYOUT_IN(create_dct_in, dct_context_entry, in), q->dctc, sizeof(q->dctc));
	r = MLX5_EXEC(ctx, CREATE_DCT, NULL, in, out);
	if (r < 0)
		return r;
	q->dctn = resp.dctn = LAYOUT_GET32(create_dct_out, out, dctn);
	resp.ece_options = LAYOUT_GET32(create_dct_out, out, ece);
	r = uv_udata_out(u, &resp, resp.response_length);
	if (r < 0)
		mlx5_destroy_dct(qp);
	return r;
}

int mlx5_modify_dct(struct uv_qp *qp, const struct uv_qp_modify *m, uint32_t ece,
		    struct uv_udata *u)
{
	struct mlx5_qp *q = qp->obj.drv;

	if (!(m->mask & IBV_QP_STATE))
		return uv_no(-EINVAL, "only the state of a DCT can be modified");
	if (ece) /* otherwise the options given at creation stay: mlx5_ib_modify_dct() */
		LAYOUT_SET(dctc, q->dctc, ece, ece);
	if (m->cur_state == IBV_QPS_RESET && m->new_state == IBV_QPS_INIT)
		return dct_to_init(qp, q, m);
	if (m->cur_state == IBV_QPS_INIT && m->new_state == IBV_QPS_RTR)
		return dct_to_rtr(qp, q, m, u);
	return uv_no(-EINVAL, "a DCT goes from RESET to INIT and from INIT to RTR");
}

#define DCT_ASKS                                                                               \
	(IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PORT | IBV_QP_MIN_RNR_TIMER | IBV_QP_AV | \
	 IBV_QP_PATH_MTU | IBV_QP_PKEY_INDEX)

int mlx5_query_dct(struct uv_qp *qp, struct ibv_qp_attr *a, uint32_t mask)
{
	uint8_t in[LAYOUT_SZ(query_dct_in)] = {0}, out[LAYOUT_SZ(query_dct_out)];
	const void *dctc = LAYOUT_IN(query_dct_out, dct_context_entry, out);
	const struct mlx5_qp *q = qp->obj.drv;
	int r;

	if (mask & ~(uint32_t)DCT_ASKS || qp->state != IBV_QPS_RTR)
		return uv_no(-EINVAL,
			     "a DCT is queried in RTR, and only for the attributes that it has");
	LAYOUT_SET(query_dct_in, in, dctn, q->dctn);
	r = MLX5_EXEC(uv_obj_context(&qp->obj), QUERY_DCT, NULL, in, out);
	if (r < 0)
		return r;
	memset(a, 0, sizeof(*a));
	a->qp_state = IBV_QPS_RTR;
	if (mask & IBV_QP_ACCESS_FLAGS)
		a->qp_access_flags = (LAYOUT_GET(dctc, dctc, rre) ? IBV_ACCESS_REMOTE_READ : 0u) |
				     (LAYOUT_GET(dctc, dctc, rwe) ? IBV_ACCESS_REMOTE_WRITE : 0u) |
				     (LAYOUT_GET(dctc, dctc, rae) ? IBV_ACCESS_REMOTE_ATOMIC : 0u);
	if (mask & IBV_QP_PORT)
		a->port_num = (uint8_t)qp->port;
	if (mask & IBV_QP_MIN_RNR_TIMER)
		a->min_rnr_timer = LAYOUT_GET8(dctc, dctc, min_rnr_nak);
	if (mask & IBV_QP_AV) {
		a->ah_attr.grh.traffic_class = LAYOUT_GET8(dctc, dctc, tclass);
		a->ah_attr.grh.flow_label = LAYOUT_GET32(dctc, dctc, flow_label);
		a->ah_attr.grh.sgid_index = LAYOUT_GET8(dctc, dctc, my_addr_index);
		a->ah_attr.grh.hop_limit = LAYOUT_GET8(dctc, dctc, hop_limit);
	}
	if (mask & IBV_QP_PATH_MTU)
		a->path_mtu = (enum ibv_mtu)LAYOUT_GET(dctc, dctc, mtu);
	if (mask & IBV_QP_PKEY_INDEX)
		a->pkey_index = LAYOUT_GET16(dctc, dctc, pkey_index);
	return 0;
}

/* Drain it first, as the kernel does. */
int mlx5_destroy_dct(struct uv_qp *qp)
{
	struct uv_context *ctx = uv_obj_context(&qp->obj);
	struct mlx5_qp *q = qp->obj.drv;
	int r = 0;

	if (q->dctn)
		r = mlx5_exec_id(ctx, PRM_OP_DRAIN_DCT, q->dctn);
	if (q->dctn && r == 0)
		r = mlx5_exec_id(ctx, PRM_OP_DESTROY_DCT, q->dctn);
	if (r == 0)
		q->dctn = 0;
	return r;
}
