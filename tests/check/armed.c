// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Arms and waits, although completions came before. */
#include "two.h"

int main(void)
{
	struct ibv_cq *cq;
	void *context;

	prepare();
	struct ibv_comp_channel *channel = ibv_create_comp_channel(e.context);

	e.b.cq = ibv_create_cq(e.context, 16, NULL, channel, 0);
	begin();
	e.buf[0] = 'x';
	for (int i = 0; i < 2; i++)
		post(IBV_WR_RDMA_WRITE, e.buf, 1, e.mr->lkey, e.buf + 64 + i, e.mr->rkey);
	/* The completion of the first request precedes the second one. */
	while (*(volatile char *)(e.buf + 65) != 'x')
		;
	ibv_req_notify_cq(e.b.cq, 0);
	if (is_right)
		done(&e.b);
	ibv_get_cq_event(channel, &cq, &context); /* HERE */
	ibv_ack_cq_events(cq, 1);
	if (!is_right)
		done(&e.b);
	done(&e.b);
	end_but_device();
	ibv_destroy_comp_channel(channel);
	ibv_close_device(e.context);
	return 0;
}
