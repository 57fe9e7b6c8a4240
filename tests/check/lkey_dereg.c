// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Deregisters before the post. */
#include "two.h"

int main(void)
{
	begin();
	struct ibv_mr *mr = ibv_reg_mr(e.pd, e.buf, 64, IBV_ACCESS_LOCAL_WRITE);
	uint32_t lkey = mr->lkey;

	receive(e.buf + 64, 64, e.mr->lkey);
	if (!is_right)
		ibv_dereg_mr(mr);
	post(IBV_WR_SEND, e.buf, 8, lkey, NULL, 0); /* HERE */
	done(&e.b);
	if (is_right)
		ibv_dereg_mr(mr);
	return end();
}
