// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Two path MTUs. */
#include "two.h"

int main(void)
{
	prepare();
	a_side.rtr.path_mtu = IBV_MTU_256;
	b_side.rtr.path_mtu = is_right ? IBV_MTU_256 : IBV_MTU_1024;
	begin();
	post(IBV_WR_RDMA_WRITE, e.buf, 1000, e.mr->lkey, e.buf + 1000, e.mr->rkey); /* HERE */
	done(&e.b);
	return end();
}
