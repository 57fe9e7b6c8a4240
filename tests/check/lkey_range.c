// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sends more than the region has. */
#include "two.h"

int main(void)
{
	begin();
	receive(e.buf, sizeof(e.buf), e.mr->lkey);
	post(IBV_WR_SEND, e.buf + 8, sizeof(e.buf) - (is_right ? 8 : 0), e.mr->lkey, NULL,
	     0); /* HERE */
	done(&e.b);
	return end();
}
