// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A CQ for the receives of four queue pairs that has room for one. */
#include "two.h"

int main(void)
{
	prepare();
	a_side.init.cap.max_recv_wr = 64;
	a_side.cqe = is_right ? 256 : 64;
	create(&a_side);
	struct ibv_qp *more[3];

	for (int i = 0; i < 3; i++)
		more[i] = ibv_create_qp(e.pd, &a_side.init);
	create(&b_side);
	to_rtr(&a_side, &e.b);
	to_rts(&a_side); /* HERE */
	for (int i = 0; i < 3; i++)
		ibv_destroy_qp(more[i]);
	return end();
}
