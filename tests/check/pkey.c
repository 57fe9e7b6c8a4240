// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Two ends in two partitions. */
#include "two.h"

int main(void)
{
	prepare();
	if (!is_right)
		e.b.pkey_index = 1;
	begin();
	post(IBV_WR_RDMA_WRITE, e.buf, 8, e.mr->lkey, e.buf + 64, e.mr->rkey); /* HERE */
	done(&e.b);
	return end();
}
