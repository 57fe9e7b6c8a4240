// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A receive of datagrams that is as long as what is sent. */
#include "two.h"

int main(void)
{
	begin_datagrams();
	receive(e.buf, is_right ? 40 + 64 : 64, e.mr->lkey);
	post_datagram(e.buf + 128, 64, QKEY); /* HERE */
	done(&e.b);
	return end();
}
