// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Clears the buffer of a READ after the post. */
#include "two.h"

int main(void)
{
	begin();
	memset(e.buf, 'x', 128);
	if (is_right)
		memset(e.buf, 0, 64);
	post(IBV_WR_RDMA_READ, e.buf, 64, e.mr->lkey, e.buf + 64, e.mr->rkey); /* HERE */
	if (!is_right)
		memset(e.buf, 0, 64);
	done(&e.b);
	return end();
}
