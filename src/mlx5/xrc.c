/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * XRC: domains, SRQs in them, target QPs and further handles of those. All have uid 0, as they may
 * outlive the context that made them. Called by uverbs through the ops table, and by srq.c and
 * qp.c.
 */
#include <errno.h>
#include <sys/param.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include "hw/flags.h"
#include "hw/qp.h"
#include "hw/xrcd.h"
#include "mlx5/priv.h"
#include "util/heap.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/qp.h"
#include "wire/prm/umem.h"
#include "wire/prm/xrc.h"

uint32_t mlx5_find_xrcd(struct uv_context *ctx, const struct uv_inode *k)
{
	seg_for_each_live (ctx->seg, SEG_T_XRCD, i) {
		const struct hw_xrcd *x = seg_at(ctx->seg, SEG_T_XRCD, i);

		if (hw_in_service(&x->flags) && x->hca == ctx->hca && atomic_load(&x->keyed) &&
		    x->ino == k->ino && x->born == k->born && x->dev_major == k->major &&
		    x->dev_minor == k->minor)
			return i;
	}
	return 0;
}

static int end_xrcd(struct uv_xrcd *x)
{
	return mlx5_exec_id_as(uv_obj_context(&x->obj), 0, PRM_OP_DEALLOC_XRCD, x->xrcd);
}

int mlx5_alloc_xrcd(struct uv_xrcd *x, const struct uv_inode *k)
{
	uint8_t in[LAYOUT_SZ(alloc_xrcd_in)] = {0}, out[LAYOUT_SZ(alloc_xrcd_out)];
	struct uv_context *ctx = uv_obj_context(&x->obj);
	struct hw_xrcd *hw;
	int r = mlx5_exec_as(ctx, 0, PRM_OP_ALLOC_XRCD, NULL, in, sizeof(in), out, sizeof(out));

	if (r < 0)
		return r;
	x->xrcd = LAYOUT_GET32(alloc_xrcd_out, out, xrcd);
	if (!k)
		return 0;
	r = mlx5_open_xrcd(x);
	if (r) {
		end_xrcd(x);
		return r;
	}
	hw = hw_xrcd(ctx->seg, x->xrcd);
	hw->dev_major = k->major;
	hw->dev_minor = k->minor;
	hw->ino = k->ino;
	hw->born = k->born;
	atomic_store(&hw->keyed, 1);
	return 0;
}

int mlx5_open_xrcd(struct uv_xrcd *x)
{
	return mlx5_share_join(uv_obj_context(&x->obj), SEG_T_XRCD, x->xrcd, &x->share);
}

int mlx5_dealloc_xrcd(struct uv_xrcd *x)
{
	struct uv_context *ctx = uv_obj_context(&x->obj);
	int r;

	if (!x->share)
		return end_xrcd(x);
	r = mlx5_share_lock(ctx);
	if (r)
		return r;
	if (!mlx5_share_leave(ctx, x->share)) {
		r = end_xrcd(x);
		if (!r)
			seg_free(ctx->seg, SEG_T_SHARE, x->share);
	}
	mlx5_share_unlock(ctx);
	return r;
}

int mlx5_xrc_srq_create(struct uv_context *ctx, const struct uv_srq *srq, const struct mlx5_srq *m,
			uint32_t *srqn)
{
	uint8_t in[LAYOUT_SZ(create_xrc_srq_in)] = {0}, out[LAYOUT_SZ(create_xrc_srq_out)];
	void *srqc = LAYOUT_IN(create_xrc_srq_in, xrc_srq_context_entry, in);
	int r;

	LAYOUT_SET(xrc_srqc, srqc, wq_signature, m->wq_sig);
	LAYOUT_SET(xrc_srqc, srqc, log_rq_stride, m->log_stride - 4);
	LAYOUT_SET(xrc_srqc, srqc, log_xrc_srq_size, m->log_size);
	LAYOUT_SET(xrc_srqc, srqc, pd, srq->pd->pdn);
	LAYOUT_SET(xrc_srqc, srqc, xrcd, srq->xrcd->xrcd);
	LAYOUT_SET(xrc_srqc, srqc, cqn, srq->cq->cqn);
	LAYOUT_SET(xrc_srqc, srqc, user_index, m->user_index);
	LAYOUT_SET(create_xrc_srq_in, in, xrc_srq_umem_id, m->buf.id);
	LAYOUT_SET(create_xrc_srq_in, in, xrc_srq_umem_valid, 1);
	LAYOUT_SET(xrc_srqc, srqc, dbr_umem_id, m->dbr.umem);
	LAYOUT_SET(xrc_srqc, srqc, dbr_umem_valid, 1);
	LAYOUT_SET(xrc_srqc, srqc, dbr_addr, m->dbr.offset);
	r = mlx5_exec_as(ctx, 0, PRM_OP_CREATE_XRC_SRQ, NULL, in, sizeof(in), out, sizeof(out));
	if (r == 0)
		*srqn = LAYOUT_GET32(create_xrc_srq_out, out, xrc_srqn);
	return r;
}

int mlx5_xrc_srq_arm(struct uv_srq *srq, uint32_t limit)
{
	uint8_t in[LAYOUT_SZ(arm_xrc_srq_in)] = {0}, out[LAYOUT_SZ(arm_xrc_srq_out)];

	LAYOUT_SET(cmd_in, in, op_mod, PRM_ARM_XRC_SRQ);
	LAYOUT_SET(arm_xrc_srq_in, in, xrc_srqn, srq->srqn);
	LAYOUT_SET(arm_xrc_srq_in, in, lwm, limit);
	return mlx5_exec_as(uv_obj_context(&srq->obj), 0, PRM_OP_ARM_XRC_SRQ, NULL, in, sizeof(in),
			    out, sizeof(out));
}

int mlx5_xrc_srq_query(struct uv_srq *srq, struct ibv_srq_attr *a)
{
	uint8_t in[LAYOUT_SZ(query_xrc_srq_in)] = {0}, out[LAYOUT_SZ(query_xrc_srq_out)];
	const void *srqc = LAYOUT_IN(query_xrc_srq_out, xrc_srq_context_entry, out);
	int r;

	LAYOUT_SET(query_xrc_srq_in, in, xrc_srqn, srq->srqn);
	r = mlx5_exec_as(uv_obj_context(&srq->obj), 0, PRM_OP_QUERY_XRC_SRQ, NULL, in, sizeof(in),
			 out, sizeof(out));
	if (r < 0)
		return r;
	a->srq_limit = LAYOUT_GET32(xrc_srqc, srqc, lwm);
	a->max_wr = srq->max_wr;
	a->max_sge = srq->max_sge;
	return 0;
}

/* Make an empty block of driver data. */
static int begin_handle(struct uv_qp *qp)
{
	struct mlx5_qp *m = heap_zalloc(sizeof(*m));

	if (!m)
		return -ENOMEM;
	qp->obj.drv = m;
	return 0;
}

static int share_qp(struct uv_qp *qp)
{
	struct uv_context *ctx = uv_obj_context(&qp->obj);
	int r = mlx5_share_join(ctx, SEG_T_QP, qp->qpn, &qp->share);

	if (!r)
		hw_qp(ctx->seg, qp->qpn)->shared = 1;
	return r;
}

/*
 * The kernel names a PD, CQ and SRQ of its own, which are never used: number 0 for this firmware.
 */
int mlx5_create_xrc_tgt(struct uv_qp *qp, uint32_t create_flags,
			const struct mlx5_ib_create_qp *cmd, struct uv_udata *u)
{
	const uint32_t block_lb = IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	struct mlx5_ib_create_qp_resp resp = {0};
	uint8_t in[LAYOUT_SZ(create_qp_in)] = {0}, out[LAYOUT_SZ(create_qp_out)];
	struct uv_context *ctx = uv_obj_context(&qp->obj);
	void *qpc = LAYOUT_IN(create_qp_in, qpc, in);
	int r;

	if (create_flags & ~block_lb)
		return uv_no(-EOPNOTSUPP, "create_flags: each needs a capability that is off");
	r = begin_handle(qp);
	if (r < 0)
		return r;
	LAYOUT_SET(qpc, qpc, st, PRM_ST_XRC);
	LAYOUT_SET(qpc, qpc, pm_state, PRM_PM_MIGRATED);
	LAYOUT_SET(qpc, qpc, rq_type, PRM_QP_RQ_SHARED);
	LAYOUT_SET(qpc, qpc, no_sq, 1);
	LAYOUT_SET(qpc, qpc, xrcd, qp->xrcd->xrcd);
	LAYOUT_SET(qpc, qpc, block_lb_mc, !!(create_flags & block_lb));
	LAYOUT_SET(qpc, qpc, user_index, cmd->uidx);
	r = mlx5_exec_as(ctx, 0, PRM_OP_CREATE_QP, NULL, in, sizeof(in), out, sizeof(out));
	if (r == 0) {
		qp->qpn = LAYOUT_GET32(create_qp_out, out, qpn);
		resp.ece_options = LAYOUT_GET32(create_qp_out, out, ece);
		r = uv_udata_out(u, &resp, MIN(u->outlen, sizeof(resp)));
	}
	if (r == 0)
		r = share_qp(qp);
	if (r < 0)
		mlx5_end_qp(qp);
	return r;
}

/*
 * End a handle, complete or half made, and the QP with its last handle. Called under the share
 * lock.
 */
static int leave_qp(struct uv_qp *qp)
{
	struct uv_context *ctx = uv_obj_context(&qp->obj);
	int r;

	if (!qp->share || mlx5_share_leave(ctx, qp->share)) {
		heap_free(qp->obj.drv);
		qp->obj.drv = NULL;
		return 0;
	}
	r = mlx5_end_qp(qp);
	if (!r)
		seg_free(ctx->seg, SEG_T_SHARE, qp->share);
	return r;
}

int mlx5_destroy_xrc_tgt(struct uv_qp *qp)
{
	struct uv_context *ctx = uv_obj_context(&qp->obj);
	int r = mlx5_share_lock(ctx);

	if (r)
		return r;
	r = leave_qp(qp);
	mlx5_share_unlock(ctx);
	return r;
}

/* Called under the share lock. */
static int open_qp(struct uv_qp *qp)
{
	const struct uv_context *ctx = uv_obj_context(&qp->obj);
	const struct hw_qp *hw = hw_qp(ctx->seg, qp->qpn);
	int r;

	if (!hw || !hw_in_service(&hw->flags) || hw->hca != ctx->hca || !hw->shared ||
	    hw->xrcd != qp->xrcd->xrcd)
		return uv_no(-EINVAL, "no such XRC target in this domain");
	r = begin_handle(qp);
	if (!r)
		r = share_qp(qp);
	if (r)
		leave_qp(qp);
	return r;
}

int mlx5_open_qp(struct uv_qp *qp)
{
	struct uv_context *ctx = uv_obj_context(&qp->obj);
	int r = mlx5_share_lock(ctx);

	if (r)
		return r;
	r = open_qp(qp);
	mlx5_share_unlock(ctx);
	return r;
}
