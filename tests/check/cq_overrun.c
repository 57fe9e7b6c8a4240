// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A CQ of fewer entries than there are completions. */
#include "two.h"

int main(void)
{
	prepare();
	b_side.cqe = is_right ? 16 : 1;
	b_side.init.cap.max_recv_wr = 1;
	begin();
	for (int i = 0; i < 8; i++)
		post(IBV_WR_RDMA_WRITE, e.buf, 8, e.mr->lkey, e.buf + 64, e.mr->rkey); /* HERE */
	for (int i = 0; is_right && i < 8; i++)
		done(&e.b);
	struct ibv_async_event event;

	while (!is_right && !ibv_get_async_event(e.context, &event)) {
		ibv_ack_async_event(&event);
		if (event.event_type == IBV_EVENT_CQ_ERR)
			break;
	}
	return end();
}
