// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sends before the peer has posted a receive, and does not wait long. */
#include "two.h"

int main(void)
{
	begin();
	if (is_right)
		receive(e.buf, 64, e.mr->lkey);
	post(IBV_WR_SEND, e.buf + 64, 8, e.mr->lkey, NULL, 0); /* HERE */
	done(&e.b);
	return end();
}
