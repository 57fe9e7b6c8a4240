// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Signals nothing, so that the send queue is full one day. */
#include "two.h"

int main(void)
{
	prepare();
	b_side.init.sq_sig_all = is_right;
	begin();
	struct ibv_sge sge = {(uintptr_t)e.buf, 8, e.mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE}, *bad;
	int r = 0;

	wr.wr.rdma.remote_addr = (uintptr_t)e.buf + 64;
	wr.wr.rdma.rkey = e.mr->rkey;
	for (int i = 0; i < 100 && !r; i++) {
		r = ibv_post_send(e.b.qp, &wr, &bad);
		if (is_right && !r)
			done(&e.b);
	}
	ibv_destroy_qp(e.b.qp); /* HERE */
	ibv_destroy_qp(e.a.qp);
	ibv_destroy_cq(e.a.cq);
	ibv_destroy_cq(e.b.cq);
	ibv_dereg_mr(e.mr);
	ibv_dealloc_pd(e.pd);
	ibv_close_device(e.context);
	return 0;
}
