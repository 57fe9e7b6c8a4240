// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A datagram that is longer than a packet. */
#include "two.h"

int main(void)
{
	uint32_t mtu = 128u << IBV_MTU_4096;

	begin_datagrams();
	receive(e.buf, 40 + mtu, e.mr->lkey);
	post_datagram(e.buf + 8192, is_right ? 128u << e.port.active_mtu : mtu + 1,
		      QKEY); /* HERE */
	done(&e.b);
	return end();
}
