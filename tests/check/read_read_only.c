// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads into a region without IBV_ACCESS_LOCAL_WRITE. */
#include "two.h"

int main(void)
{
	begin();
	struct ibv_mr *mr = ibv_reg_mr(e.pd, e.buf, 64, is_right ? IBV_ACCESS_LOCAL_WRITE : 0);

	post(IBV_WR_RDMA_READ, e.buf, 64, mr->lkey, e.buf + 64, e.mr->rkey); /* HERE */
	done(&e.b);
	ibv_dereg_mr(mr);
	return end();
}
