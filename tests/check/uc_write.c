// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* An unreliable WRITE into a region that does not allow it: its sender has a completion without
 * error. */
#include "two.h"

int main(void)
{
	prepare();
	a_side.init.qp_type = b_side.init.qp_type = IBV_QPT_UC;
	begin();
	struct ibv_mr *mr = ibv_reg_mr(
		e.pd, e.buf, 64, IBV_ACCESS_LOCAL_WRITE | (is_right ? IBV_ACCESS_REMOTE_WRITE : 0));

	post(IBV_WR_RDMA_WRITE, e.buf + 64, 8, e.mr->lkey, e.buf, mr->rkey); /* HERE */
	done(&e.b);
	ibv_dereg_mr(mr);
	return end();
}
