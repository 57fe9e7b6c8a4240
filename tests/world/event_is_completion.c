// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* When the channel has an event the message must be there. */
#include "ends.h"

#include <errno.h>

#define N 4

static void one(struct ends *e)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;
	int n;

	if (ibv_req_notify_cq(e->a.cq, 0))
		fails("ibv_req_notify_cq", errno);
	ends_post(e);
	for (;;) {
		if (ibv_get_cq_event(e->channel, &cq, &context))
			fails("ibv_get_cq_event", errno);
		ibv_ack_cq_events(cq, 1);
		if (is_right && ibv_req_notify_cq(cq, 0))
			fails("ibv_req_notify_cq", errno);
		n = ibv_poll_cq(cq, 1, &wc);
		if (n)
			break;
		if (!is_right)
			fails("the event has no completion", 0);
	}
	if (n < 0 || wc.status)
		fails("receive", 0);
	ends_wait(&e->b, "send");
}

int main(void)
{
	static struct ends e;

	ends_open(&e);
	e.a.gid_index = e.b.gid_index = ends_good_gid(&e);
	e.channel = ibv_create_comp_channel(e.context);
	if (!e.channel)
		fails("ibv_create_comp_channel", errno);
	ends_connect(&e);
	for (int i = 0; i < N; i++)
		one(&e);
	return 0;
}
