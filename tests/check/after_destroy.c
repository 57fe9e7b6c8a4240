// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rings for a queue pair that is destroyed. */
#include "raw.h"

int main(void)
{
	begin();
	struct mlx5dv_qp q = raw(e.b.qp);
	uint64_t bell = raw_nop(&q, e.b.qp->qp_num);

	if (is_right) {
		ring(q.bf.reg, bell);
		done(&e.b);
	}
	ibv_destroy_qp(e.b.qp);
	e.b.qp = NULL;
	if (!is_right)
		ring(q.bf.reg, bell); /* HERE */
	return end();
}
