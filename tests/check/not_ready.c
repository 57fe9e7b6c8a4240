// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Forgets to bring the queue pair to RTS. */
#include "two.h"

int main(void)
{
	prepare();
	connect_ends();
	to_rts(&a_side);
	if (is_right)
		to_rts(&b_side);
	struct ibv_sge sge = {(uintptr_t)e.buf, 8, e.mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;

	receive(e.buf, 64, e.mr->lkey);
	if (!ibv_post_send(e.b.qp, &wr, &bad))
		done(&e.b);
	ibv_destroy_qp(e.b.qp); /* HERE */
	e.b.qp = NULL;
	return end();
}
