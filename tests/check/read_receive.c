// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads into memory for which a receive is posted, and the message comes. */
#include "two.h"

int main(void)
{
	struct ibv_sge sge = {(uintptr_t)e.buf + (is_right ? 64 : 0), 64, 0};
	struct ibv_send_wr read = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ}, *bad;

	begin();
	sge.lkey = e.mr->lkey;
	read.wr.rdma.remote_addr = (uintptr_t)e.buf + 256;
	read.wr.rdma.rkey = e.mr->rkey;
	/* The first requests of a queue are late; the message shall not be. */
	for (int i = 0; i < 8; i++) {
		post(IBV_WR_RDMA_WRITE, e.buf, 8, e.mr->lkey, e.buf + 1024, e.mr->rkey);
		done(&e.b);
	}
	receive(e.buf, 64, e.mr->lkey);
	if (ibv_post_send(e.a.qp, &read, &bad))
		fails("ibv_post_send", 0);
	post(IBV_WR_SEND, e.buf + 512, 8, e.mr->lkey, NULL, 0); /* HERE */
	done(&e.a);
	done(&e.a);
	done(&e.b);
	return end();
}
