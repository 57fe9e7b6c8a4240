// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Uses an rkey in the byte order of the network. */
#include "two.h"

#include <arpa/inet.h>

int main(void)
{
	begin();
	uint32_t sent = htonl(e.mr->rkey);

	post(IBV_WR_RDMA_WRITE, e.buf + 64, 8, e.mr->lkey, e.buf,
	     is_right ? ntohl(sent) : sent); /* HERE */
	done(&e.b);
	return end();
}
