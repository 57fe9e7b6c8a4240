// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads from a queue pair whose qp_access_flags do not allow it. */
#include "two.h"

int main(void)
{
	prepare();
	if (!is_right)
		a_side.access = IBV_ACCESS_REMOTE_WRITE;
	begin();
	post(IBV_WR_RDMA_READ, e.buf, 8, e.mr->lkey, e.buf + 64, e.mr->rkey); /* HERE */
	done(&e.b);
	return end();
}
