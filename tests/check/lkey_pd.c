// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The region of another protection domain. */
#include "two.h"

int main(void)
{
	begin();
	struct ibv_pd *pd = ibv_alloc_pd(e.context);
	struct ibv_mr *mr = ibv_reg_mr(is_right ? e.pd : pd, e.buf, 64, IBV_ACCESS_LOCAL_WRITE);

	receive(e.buf + 64, 64, e.mr->lkey);
	post(IBV_WR_SEND, e.buf, 8, mr->lkey, NULL, 0); /* HERE */
	done(&e.b);
	ibv_dereg_mr(mr);
	ibv_dealloc_pd(pd);
	return end();
}
