// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A GID of which a byte is lost. */
#include "two.h"

int main(void)
{
	prepare();
	e.a.gid_index = e.b.gid_index = 0; /* also on InfiniBand */
	create(&a_side);
	create(&b_side);
	to_rtr(&a_side, &e.b);
	if (!is_right)
		e.a.gid.raw[15] ^= 0x55;
	to_rtr(&b_side, &e.a);
	to_rts(&a_side);
	to_rts(&b_side);
	post(IBV_WR_RDMA_WRITE, e.buf, 8, e.mr->lkey, e.buf + 64, e.mr->rkey); /* HERE */
	done(&e.b);
	return end();
}
