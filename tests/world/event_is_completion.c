// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* An event loop: when the channel has an event, a message must be there. */
#include "ends.h"

#include <errno.h>
#include <poll.h>

#define N 4

static void arm(struct ends *e)
{
	if (ibv_req_notify_cq(e->a.cq, 0))
		fails("ibv_req_notify_cq", errno);
}

/* Waits for an event at most so long (-1: for ever). Returns the number of messages. */
static int serve(struct ends *e, int timeout)
{
	struct pollfd p = {.fd = e->channel->fd, .events = POLLIN};
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;
	int n;

	if (poll(&p, 1, timeout) != 1)
		return 0;
	if (ibv_get_cq_event(e->channel, &cq, &context))
		fails("ibv_get_cq_event", errno);
	ibv_ack_cq_events(cq, 1);
	arm(e);
	n = ibv_poll_cq(cq, 1, &wc);
	if (n < 0 || (n && wc.status))
		fails("receive", 0);
	if (!n && !is_right)
		fails("the event has no completion", 0);
	return n;
}

int main(void)
{
	static struct ends e;
	int have = 0;

	ends_open(&e);
	e.a.gid_index = e.b.gid_index = ends_good_gid(&e);
	e.channel = ibv_create_comp_channel(e.context);
	if (!e.channel)
		fails("ibv_create_comp_channel", errno);
	ends_connect(&e);
	arm(&e);
	for (int i = 0; i < N; i++) {
		have += serve(&e, 0);
		ends_post(&e);
		ends_wait(&e.b, "send");
		while (have <= i)
			have += serve(&e, -1);
	}
	return 0;
}
