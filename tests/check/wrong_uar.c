// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rings on another page than that of the queue pair. */
#include "raw.h"

int main(void)
{
	begin();
	struct mlx5dv_qp q = raw(e.b.qp);
	struct mlx5dv_devx_uar *other = mlx5dv_devx_alloc_uar(e.context, MLX5DV_UAR_ALLOC_TYPE_BF);

	if (!other)
		fails("mlx5dv_devx_alloc_uar", 0);
	ring(is_right ? q.bf.reg : other->reg_addr, raw_nop(&q, e.b.qp->qp_num)); /* HERE */
	if (is_right)
		done(&e.b);
	mlx5dv_devx_free_uar(other);
	return end();
}
