// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A datagram with another Q_Key than the receiver's. */
#include "two.h"

int main(void)
{
	begin_datagrams();
	receive(e.buf, 40 + 64, e.mr->lkey);
	post_datagram(e.buf + 128, 8, is_right ? QKEY : 0x1234); /* HERE */
	done(&e.b);
	return end();
}
