// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Counts in the buffer of a WRITE while it is sent. */
#include "two.h"

int main(void)
{
	uint64_t *count = (uint64_t *)(void *)(e.buf + 64);

	begin();
	for (int i = 0; i < 3; i++) {
		post(IBV_WR_RDMA_WRITE, count, 8, e.mr->lkey, e.buf, e.mr->rkey); /* HERE */
		if (!is_right)
			++*count;
		done(&e.b);
		if (is_right)
			++*count;
	}
	return end();
}
