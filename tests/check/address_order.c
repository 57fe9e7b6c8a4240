// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Uses an address in the byte order of the network. */
#include "two.h"

#include <endian.h>

int main(void)
{
	begin();
	uint64_t sent = htobe64((uintptr_t)e.buf);

	sent = is_right ? be64toh(sent) : sent;
	post(IBV_WR_RDMA_WRITE, e.buf + 64, 8, e.mr->lkey, (void *)(uintptr_t)sent,
	     e.mr->rkey); /* HERE */
	done(&e.b);
	return end();
}
