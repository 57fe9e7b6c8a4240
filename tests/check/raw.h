/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A work request and its doorbell without libmlx5: for mistakes that it does not let a program
 * make. */
#ifndef TESTS_CHECK_RAW_H
#define TESTS_CHECK_RAW_H

#include "two.h"

#include <endian.h>
#include <infiniband/mlx5dv.h>
#include <stdatomic.h>

static inline struct mlx5dv_qp raw(struct ibv_qp *qp)
{
	struct mlx5dv_qp q = {0};
	struct mlx5dv_obj o = {.qp = {qp, &q}};

	if (mlx5dv_init_obj(&o, MLX5DV_OBJ_QP))
		fails("mlx5dv_init_obj", 0);
	return q;
}

/* Writes the queue's first work request, which does nothing; the answer is for ring(). */
static inline uint64_t raw_nop(const struct mlx5dv_qp *q, uint32_t qpn)
{
	struct mlx5_wqe_ctrl_seg *ctrl = q->sq.buf;
	uint64_t bell;

	memset(ctrl, 0, q->sq.stride);
	ctrl->opmod_idx_opcode = htobe32(MLX5_OPCODE_NOP);
	ctrl->qpn_ds = htobe32(qpn << 8 | 1);
	ctrl->fm_ce_se = MLX5_WQE_CTRL_CQ_UPDATE;
	memcpy(&bell, ctrl, sizeof(bell));
	atomic_thread_fence(memory_order_release);
	q->dbrec[MLX5_SND_DBR] = htobe32(1);
	return bell;
}

static inline __attribute__((always_inline)) void ring(void *page, uint64_t bell)
{
	atomic_thread_fence(memory_order_seq_cst);
	*(volatile uint64_t *)page = bell;
}

#endif
