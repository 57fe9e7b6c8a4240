/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls every function of librdmacm that a rule of --inject can name, once, and prints
 * "NAME: RESULT" as calls.c does. Started by test_inject.py.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <string.h>

static struct rdma_event_channel *ch;
static struct rdma_cm_id *last; /* of the last event */

static void say(const char *name, int err)
{
	printf("%s: %s\n", name, err > 0 ? strerrorname_np(err) : err < 0 ? "-" : "ok");
}

#define DO(name, need, call) say(name, (need) ? (errno = 0, (call) ? errno : 0) : -1)

/* Waits for this event, or an error of addresses, routes or connections, which is -1. */
static int event(int want)
{
	struct rdma_cm_event *e;
	int got = -1;

	while (got != want && got != RDMA_CM_EVENT_ADDR_ERROR && got != RDMA_CM_EVENT_ROUTE_ERROR &&
	       got != RDMA_CM_EVENT_CONNECT_ERROR && got != RDMA_CM_EVENT_UNREACHABLE) {
		if (rdma_get_cm_event(ch, &e))
			return -1;
		got = (int)e->event;
		last = e->id;
		rdma_ack_cm_event(e);
	}
	return got == want ? 0 : -1;
}

/* An id with address, of TCP also with a route, or NULL. `tell`: say how the calls ended. */
static struct rdma_cm_id *resolved(struct sockaddr_in *to, enum rdma_port_space ps, int tell)
{
	struct rdma_cm_id *id = NULL;
	int r;

	errno = 0;
	r = rdma_create_id(ch, &id, NULL, ps) ? errno : 0;
	if (tell)
		say("rdma_create_id", r);
	if (r)
		return NULL;
	errno = 0;
	r = rdma_resolve_addr(id, NULL, (void *)to, 2000) ? errno
							  : event(RDMA_CM_EVENT_ADDR_RESOLVED);
	if (tell)
		say("rdma_resolve_addr", r);
	if (r || ps == RDMA_PS_UDP)
		return r ? NULL : id;
	errno = 0;
	r = rdma_resolve_route(id, 2000) ? errno : event(RDMA_CM_EVENT_ROUTE_RESOLVED);
	if (tell)
		say("rdma_resolve_route", r);
	return r ? NULL : id;
}

static int make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr qi = {.cap = {4, 4, 1, 1, 0}, .qp_type = IBV_QPT_RC};

	return rdma_create_qp(id, NULL, &qi);
}

int main(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(7471)}, group = at;
	struct rdma_conn_param p = {.responder_resources = 1, .initiator_depth = 1};
	struct rdma_cm_id *listener = NULL, *client, *server = NULL, *refused, *ud;
	struct rdma_event_channel *other;
	uint8_t tos = 4;

	setvbuf(stdout, NULL, _IOLBF, 0);
	inet_pton(AF_INET, "127.1.0.1", &at.sin_addr);
	inet_pton(AF_INET, "239.1.2.3", &group.sin_addr);
	ch = rdma_create_event_channel();
	other = rdma_create_event_channel();
	if (!ch || !other)
		return 1;
	client = resolved(&at, RDMA_PS_TCP, 1);
	rdma_create_id(ch, &listener, NULL, RDMA_PS_TCP);
	DO("rdma_set_option", client,
	   rdma_set_option(client, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)));
	at.sin_port = htons(7471);
	if (!listener)
		return 0;
	errno = 0;
	int bound = rdma_bind_addr(listener, (void *)&at) ? errno : 0;
	say("rdma_bind_addr", bound);
	errno = 0;
	int listens = bound ? -1 : rdma_listen(listener, 4) ? errno : 0;
	say("rdma_listen", listens);

	errno = 0;
	int asked = !client || listens || make_qp(client) ? -1
		    : rdma_connect(client, &p)            ? errno
							  : 0;
	say("rdma_connect", asked);
	if (!asked && !event(RDMA_CM_EVENT_CONNECT_REQUEST))
		server = last;
	if (server && make_qp(server))
		server = NULL;
	DO("rdma_migrate_id", server, rdma_migrate_id(server, other));
	DO("rdma_accept", server, rdma_accept(server, &p));
	DO("rdma_notify", server, rdma_notify(server, IBV_EVENT_COMM_EST));
	DO("rdma_disconnect", server, rdma_disconnect(server));

	/* Refused. */
	refused = client && !listens ? resolved(&at, RDMA_PS_TCP, 0) : NULL;
	if (refused &&
	    (make_qp(refused) || rdma_connect(refused, &p) || event(RDMA_CM_EVENT_CONNECT_REQUEST)))
		refused = NULL;
	DO("rdma_reject", refused, rdma_reject(last, NULL, 0));

	ud = resolved(&at, RDMA_PS_UDP, 0);
	DO("rdma_join_multicast", ud, rdma_join_multicast(ud, (void *)&group, NULL));
	DO("rdma_leave_multicast", ud, rdma_leave_multicast(ud, (void *)&group));
	listener->qp = NULL;
	DO("rdma_destroy_id", listener, rdma_destroy_id(listener));
	return 0;
}
