// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Serves while nothing happens to the adapter: an asynchronous event ends it, as that is an error.
 * SERVE_MS says how long; a host on which nothing happens has no event to wait for.
 */
#include "ends.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

/* Nothing is to be done: GID, LID and P_Key are looked up when the QP is made. */
static bool is_harmless(enum ibv_event_type type)
{
	return type == IBV_EVENT_GID_CHANGE || type == IBV_EVENT_PORT_ACTIVE ||
	       type == IBV_EVENT_LID_CHANGE || type == IBV_EVENT_PKEY_CHANGE ||
	       type == IBV_EVENT_SM_CHANGE || type == IBV_EVENT_CLIENT_REREGISTER;
}

static void serve(struct ends *e, int ms)
{
	struct pollfd p = {.fd = e->context->async_fd, .events = POLLIN};
	struct ibv_async_event event;

	if (poll(&p, 1, ms) != 1)
		return;
	if (ibv_get_async_event(e->context, &event))
		fails("ibv_get_async_event", errno);
	ibv_ack_async_event(&event);
	if (!is_right || !is_harmless(event.event_type))
		fails(ibv_event_type_str(event.event_type), 0);
}

int main(void)
{
	static struct ends e;
	const char *ms = getenv("SERVE_MS");

	ends_open(&e);
	serve(&e, ms ? atoi(ms) : 0);
	e.a.gid_index = e.b.gid_index = ends_good_gid(&e);
	ends_send(&e);
	return 0;
}
