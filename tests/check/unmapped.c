// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Unmaps memory that is registered, and sends it. */
#include "two.h"

#include <sys/mman.h>

int main(void)
{
	begin();
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr = ibv_reg_mr(e.pd, p, 4096, IBV_ACCESS_LOCAL_WRITE);

	receive(e.buf, 64, e.mr->lkey);
	if (!is_right)
		munmap(p, 4096);
	post(IBV_WR_SEND, p, 8, mr->lkey, NULL, 0); /* HERE */
	done(&e.b);
	ibv_dereg_mr(mr);
	return end();
}
