// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The PSNs of both ends do not fit. */
#include "two.h"

int main(void)
{
	prepare();
	b_side.rts.sq_psn = is_right ? 0 : 100;
	begin();
	receive(e.buf, 64, e.mr->lkey);
	post(IBV_WR_SEND, e.buf + 64, 8, e.mr->lkey, NULL, 0); /* HERE */
	done(&e.b);
	return end();
}
