/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Event targets: where hardware objects keep the queue of their events. Called by uverbs through
 * the ops table.
 */
#include "hw/cq.h"
#include "hw/obj.h"
#include "hw/qp.h"
#include "hw/share.h"
#include "hw/srq.h"
#include "mlx5/priv.h"

struct uv_target mlx5_cq_target(const struct uv_cq *cq, bool comp)
{
	struct hw_cq *hw = hw_cq(uv_obj_context(&cq->obj)->seg, cq->cqn);

	if (!hw)
		return (struct uv_target){0};
	return (struct uv_target){comp ? &hw->comp : &hw->async, SEG_T_CQ, cq->cqn,
				  atomic_load(&hw->refs) != 0};
}

struct uv_target mlx5_srq_target(const struct uv_srq *srq)
{
	struct hw_srq *hw = hw_srq(uv_obj_context(&srq->obj)->seg, srq->srqn);

	if (!hw)
		return (struct uv_target){0};
	return (struct uv_target){&hw->async, SEG_T_SRQ, srq->srqn, atomic_load(&hw->refs) != 0};
}

/* Each handle of a shared QP has a target of its own. */
struct uv_target mlx5_qp_target(const struct uv_qp *qp)
{
	struct seg *s = uv_obj_context(&qp->obj)->seg;
	struct hw_share *sh = qp->share ? seg_at(s, SEG_T_SHARE, qp->share) : NULL;
	struct hw_qp *hw = hw_qp(s, qp->qpn);

	if (sh)
		return (struct uv_target){&sh->async, SEG_T_SHARE, qp->share, false};
	if (!hw)
		return (struct uv_target){0};
	return (struct uv_target){&hw->async, SEG_T_QP, qp->qpn, false};
}

struct uv_target mlx5_wq_target(const struct uv_wq *wq)
{
	struct hw_obj *hw = hw_obj(uv_obj_context(&wq->obj)->seg, wq->wqn);

	if (!hw)
		return (struct uv_target){0};
	return (struct uv_target){&hw->async, SEG_T_OBJ, wq->wqn, atomic_load(&hw->refs) != 0};
}
