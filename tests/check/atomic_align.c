// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* An atomic on four bytes behind a multiple of eight. */
#include "two.h"

int main(void)
{
	prepare();
	ibv_dereg_mr(e.mr);
	e.mr = ibv_reg_mr(e.pd, e.buf, sizeof(e.buf),
			  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				  IBV_ACCESS_REMOTE_ATOMIC);
	begin();
	uint64_t at = ((uintptr_t)e.buf + 71) / 8 * 8 + (is_right ? 0 : 4);

	post(IBV_WR_ATOMIC_FETCH_AND_ADD, e.buf, 8, e.mr->lkey, (void *)(uintptr_t)at,
	     e.mr->rkey); /* HERE */
	done(&e.b);
	return end();
}
