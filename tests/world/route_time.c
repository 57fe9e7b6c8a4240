// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Resolves a route by rdma_cm, and gives the subnet manager a tenth of a second. */
#include "ends.h"

#include <errno.h>
#include <ifaddrs.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <string.h>

#define PATIENCE_MS (is_right ? 5000 : 100)

static struct rdma_event_channel *channel;

/* The next event's status, which must be of this kind. */
static void await(enum rdma_cm_event_type type)
{
	struct rdma_cm_event *e;

	if (rdma_get_cm_event(channel, &e))
		fails("rdma_get_cm_event", errno);
	if (is_right && e->event == RDMA_CM_EVENT_ROUTE_ERROR && e->status == -EINVAL)
		lacks("the subnet manager knows no path in the interface's partition");
	if (e->event != type)
		fails(rdma_event_str(e->event), e->status < 0 ? -e->status : 0);
	rdma_ack_cm_event(e);
}

/* An id at an address of a port that is ACTIVE; NULL: the address is no adapter's. */
static struct rdma_cm_id *bound(struct sockaddr *address)
{
	struct ibv_port_attr port;
	struct rdma_cm_id *id;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		fails("rdma_create_id", errno);
	if (!rdma_bind_addr(id, address) && id->verbs &&
	    !ibv_query_port(id->verbs, id->port_num, &port) && port.state == IBV_PORT_ACTIVE)
		return id;
	rdma_destroy_id(id);
	return NULL;
}

int main(void)
{
	struct rdma_cm_id *id = NULL;
	struct ifaddrs *list, *a;
	static struct ends e;

	ends_open(&e);
	channel = rdma_create_event_channel();
	if (!channel)
		lacks("there is no rdma_cm");
	if (getifaddrs(&list))
		fails("getifaddrs", errno);
	for (a = list; a && !id; a = id ? a : a->ifa_next)
		if (a->ifa_addr && a->ifa_addr->sa_family == AF_INET)
			id = bound(a->ifa_addr);
	if (!id)
		lacks("no port that is ACTIVE has an IPv4 address");
	if (rdma_resolve_addr(id, NULL, a->ifa_addr, 5000))
		fails("rdma_resolve_addr", errno);
	await(RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(id, PATIENCE_MS))
		fails("rdma_resolve_route", errno);
	await(RDMA_CM_EVENT_ROUTE_RESOLVED);
	return 0;
}
