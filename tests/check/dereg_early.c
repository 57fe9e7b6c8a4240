// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Deregisters behind the post, before the completion. */
#include "two.h"

int main(void)
{
	begin();
	struct ibv_mr *mr = ibv_reg_mr(e.pd, e.buf, 64, IBV_ACCESS_LOCAL_WRITE);

	receive(e.buf + 64, 64, e.mr->lkey);
	post(IBV_WR_SEND, e.buf, 8, mr->lkey, NULL, 0); /* HERE */
	if (is_right)
		done(&e.b);
	ibv_dereg_mr(mr);
	if (!is_right)
		done(&e.b);
	return end();
}
