// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sends what a READ is to fill, behind it. */
#include "two.h"

int main(void)
{
	struct ibv_sge sge = {(uintptr_t)e.buf, 64, 0};
	struct ibv_send_wr read = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ}, *bad;
	struct ibv_send_wr send = {.sg_list = &sge,
				   .num_sge = 1,
				   .opcode = IBV_WR_SEND,
				   .send_flags = is_right ? IBV_SEND_FENCE : 0};

	begin();
	sge.lkey = e.mr->lkey;
	receive(e.buf + 128, 64, e.mr->lkey);
	read.wr.rdma.remote_addr = (uintptr_t)e.buf + 64;
	read.wr.rdma.rkey = e.mr->rkey;
	read.next = &send;
	if (ibv_post_send(e.b.qp, &read, &bad)) /* HERE */
		fails("ibv_post_send", 0);
	done(&e.b);
	done(&e.b);
	return end();
}
