// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Arms the CQ for each message, and then waits for as many events. */
#include "ends.h"

#include <errno.h>
#include <poll.h>

#define N 8
#define LIMIT_MS 2000 /* instead of hanging */

static void arm(struct ends *e)
{
	if (ibv_req_notify_cq(e->a.cq, 0))
		fails("ibv_req_notify_cq", errno);
}

static void wait_for_event(struct ends *e)
{
	struct pollfd p = {.fd = e->channel->fd, .events = POLLIN};
	struct ibv_cq *cq;
	void *context;

	if (!is_right && poll(&p, 1, LIMIT_MS) != 1)
		fails("there is no event for the next message", 0);
	if (ibv_get_cq_event(e->channel, &cq, &context))
		fails("ibv_get_cq_event", errno);
	ibv_ack_cq_events(cq, 1);
}

/* The number of completions that were there. */
static int take(struct ends *e, int most)
{
	struct ibv_wc wc;
	int n = 0;

	while (n < most && ibv_poll_cq(e->a.cq, 1, &wc) == 1) {
		if (wc.status)
			fails(ibv_wc_status_str(wc.status), 0);
		n++;
	}
	return n;
}

int main(void)
{
	static struct ends e;
	int have = 0;

	ends_open(&e);
	e.a.gid_index = e.b.gid_index = ends_good_gid(&e);
	e.count = N;
	e.channel = ibv_create_comp_channel(e.context);
	if (!e.channel)
		fails("ibv_create_comp_channel", errno);
	ends_connect(&e);
	e.count = 1;
	for (int i = 0; i < N; i++) {
		arm(&e);
		ends_post(&e);
	}
	while (have < N) {
		wait_for_event(&e);
		if (is_right)
			arm(&e);
		have += take(&e, is_right ? N : 1);
	}
	return 0;
}
