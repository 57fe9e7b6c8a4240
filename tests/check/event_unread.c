// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The peer was refused something, and nobody reads the event that tells so. */
#include "two.h"

int main(void)
{
	begin();
	post(IBV_WR_RDMA_WRITE, e.buf, 8, e.mr->lkey, e.buf + 64, e.mr->rkey);
	done(&e.b);
	if (is_right)
		read_events();
	ibv_destroy_qp(e.a.qp); /* HERE */
	e.a.qp = NULL;
	return end();
}
