// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Ends when the peer has the message, and does not look whether it was sent. */
#include "two.h"

int main(void)
{
	begin();
	receive(e.buf, 64, e.mr->lkey);
	post(IBV_WR_SEND, e.buf + 64, 8, e.mr->lkey, NULL, 0);
	done(&e.a);
	if (is_right)
		done(&e.b);
	ibv_destroy_qp(e.b.qp); /* HERE */
	e.b.qp = NULL;
	return end();
}
