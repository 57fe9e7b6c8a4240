// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Destroys a queue pair whose request waits for a receive. */
#include "two.h"

int main(void)
{
	prepare();
	b_side.rts.rnr_retry = 7;
	begin();
	if (is_right)
		receive(e.buf, 64, e.mr->lkey);
	post(IBV_WR_SEND, e.buf + 64, 8, e.mr->lkey, NULL, 0);
	if (is_right)
		done(&e.b);
	ibv_destroy_qp(e.b.qp); /* HERE */
	e.b.qp = NULL;
	return end();
}
