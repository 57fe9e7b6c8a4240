// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes to a region that its owner has deregistered. */
#include "two.h"

int main(void)
{
	begin();
	struct ibv_mr *mr =
		ibv_reg_mr(e.pd, e.buf, 64, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	uint32_t rkey = mr->rkey;

	if (!is_right)
		ibv_dereg_mr(mr);
	post(IBV_WR_RDMA_WRITE, e.buf + 64, 8, e.mr->lkey, e.buf, rkey); /* HERE */
	done(&e.b);
	if (is_right)
		ibv_dereg_mr(mr);
	return end();
}
