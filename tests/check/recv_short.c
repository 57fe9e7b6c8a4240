// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A receive of less than is sent. */
#include "two.h"

int main(void)
{
	begin();
	receive(e.buf, is_right ? 64 : 8, e.mr->lkey);
	post(IBV_WR_SEND, e.buf + 64, 9, e.mr->lkey, NULL, 0); /* HERE */
	done(&e.b);
	return end();
}
