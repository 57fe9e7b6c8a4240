// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Two queue pairs read into the same memory. */
#include "two.h"

int main(void)
{
	struct ibv_sge sge = {(uintptr_t)e.buf, 64, 0};
	struct ibv_send_wr read = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ}, *bad;

	begin();
	sge.lkey = e.mr->lkey;
	read.wr.rdma.remote_addr = (uintptr_t)e.buf + 256;
	read.wr.rdma.rkey = e.mr->rkey;
	if (ibv_post_send(e.a.qp, &read, &bad))
		fails("ibv_post_send", 0);
	if (is_right)
		done(&e.a);
	post(IBV_WR_RDMA_READ, e.buf + 32, 64, e.mr->lkey, e.buf + 512, e.mr->rkey); /* HERE */
	if (!is_right)
		done(&e.a);
	done(&e.b);
	return end();
}
