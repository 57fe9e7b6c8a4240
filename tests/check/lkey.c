// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sends a buffer with the lkey of another region. */
#include "../world/ends.h"

#include <stdint.h>
#include <stdio.h>

static char other[64];

static int post(struct ends *e)
{
	struct ibv_sge of = {(uintptr_t)(is_right ? e->buf : other), 8, e->mr->lkey};
	struct ibv_send_wr send = {.sg_list = &of, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;

	return ibv_post_send(e->b.qp, &send, &bad);
}

int main(void)
{
	static struct ends e;
	struct ibv_wc wc;

	ends_open(&e);
	e.a.gid_index = e.b.gid_index = ends_good_gid(&e);
	ends_connect(&e);
	struct ibv_sge into = {(uintptr_t)e.buf, 64, e.mr->lkey};
	struct ibv_recv_wr recv = {.sg_list = &into, .num_sge = 1}, *bad_recv;
	if (ibv_post_recv(e.a.qp, &recv, &bad_recv) || post(&e))
		fails("ibv_post", 0);
	while (!ibv_poll_cq(e.b.cq, 1, &wc))
		;
	printf("%s\n", ibv_wc_status_str(wc.status));
	return 0;
}
