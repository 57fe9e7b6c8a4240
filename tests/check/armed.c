// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Polls, arms, and waits, although a completion came in between. */
#include "two.h"

int main(void)
{
	struct ibv_cq *cq;
	void *context;

	prepare();
	struct ibv_comp_channel *channel = ibv_create_comp_channel(e.context);

	e.b.cq = ibv_create_cq(e.context, 16, NULL, channel, 0);
	begin();
	ibv_req_notify_cq(e.b.cq, 0);
	post(IBV_WR_RDMA_WRITE, e.buf, 8, e.mr->lkey, e.buf + 64, e.mr->rkey);
	ibv_get_cq_event(channel, &cq, &context);
	ibv_ack_cq_events(cq, 1);
	ibv_req_notify_cq(cq, 0);
	if (is_right)
		done(&e.b);
	else
		ibv_get_cq_event(channel, &cq, &context); /* HERE */
	if (!is_right) {
		ibv_ack_cq_events(cq, 1);
		done(&e.b);
	}
	end_but_device();
	ibv_destroy_comp_channel(channel);
	ibv_close_device(e.context);
	return 0;
}
