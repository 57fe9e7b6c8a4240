// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes beyond the end of the peer's region. */
#include "two.h"

int main(void)
{
	begin();
	post(IBV_WR_RDMA_WRITE, e.buf, 64, e.mr->lkey, e.buf + sizeof(e.buf) - (is_right ? 64 : 32),
	     e.mr->rkey); /* HERE */
	done(&e.b);
	return end();
}
