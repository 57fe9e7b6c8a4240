/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Connections by rdma_cm, of ends that may die at any moment.
 *
 *	conn server PORT [BACKLOG]              until it is killed: accepts, answers, forgets
 *	conn client ADDRESS PORT WINDOW [ALL]   WINDOW connections at once; ends after ALL
 *
 * A connection carries a number to the server and back, and stays until WINDOW others are there.
 * The server goes on whatever its clients do, and ends with a message if something happens that
 * no client's death explains. A client ends with status 0 after ALL connections, GONE when the
 * server has gone, 1 when something else has failed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	GONE = 4,
	STALE = 10, /* IB_CM_REJ_STALE_CONN */
	CONNS = 8192,
	MS = 20000, /* to resolve an address or a route */
};

struct conn {
	struct rdma_cm_id *id; /* NULL: not used */
	bool told;             /* client: the answer is there */
	bool left;             /* rdma_disconnect() was called */
	uint64_t in, out;
};

static struct world {
	bool server;
	struct rdma_event_channel *ch;
	struct ibv_pd *pd;
	struct ibv_comp_channel *done;
	struct ibv_cq *cq;
	struct ibv_mr *mr; /* of all connections */
	struct sockaddr_in to;
	unsigned long window, all, begun, ended, told, stale;
	unsigned int oldest, newest; /* a client's connections, in turn */
	struct conn conn[CONNS];
} w;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "conn: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- one connection */

static struct conn *conn_new(struct rdma_cm_id *id)
{
	for (unsigned int n = 0; n < CONNS; n++, w.newest = (w.newest + 1) % CONNS) {
		struct conn *c = &w.conn[w.newest];

		if (c->id)
			continue;
		*c = (struct conn){.id = id};
		id->context = c;
		w.newest = (w.newest + 1) % CONNS;
		return c;
	}
	errno = ENOBUFS;
	die("too many connections");
}

static void conn_free(struct conn *c)
{
	if (c->id->qp)
		rdma_destroy_qp(c->id);
	if (rdma_destroy_id(c->id))
		die("rdma_destroy_id");
	c->id = NULL;
}

/* All connections share a CQ, which is made for the first. */
static void share(struct ibv_context *ctx)
{
	if (w.pd)
		return;
	w.pd = ibv_alloc_pd(ctx);
	w.mr = w.pd ? ibv_reg_mr(w.pd, w.conn, sizeof(w.conn), IBV_ACCESS_LOCAL_WRITE) : NULL;
	w.done = ibv_create_comp_channel(ctx);
	w.cq = w.done ? ibv_create_cq(ctx, 2 * CONNS, NULL, w.done, 0) : NULL;
	if (!w.mr || !w.cq || ibv_req_notify_cq(w.cq, 0))
		die("PD, MR or CQ");
	if (fcntl(w.done->fd, F_SETFL, O_NONBLOCK))
		die("fcntl");
}

/* EINVAL: the client is dead, and its id has no attributes for a QP any more. */
static int conn_ready(struct conn *c)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_sge sge = {(uintptr_t)&c->in, sizeof(c->in), 0};
	struct ibv_recv_wr wr = {.wr_id = (uintptr_t)c, .sg_list = &sge, .num_sge = 1}, *bad;

	share(c->id->verbs);
	attr.send_cq = attr.recv_cq = w.cq;
	if (rdma_create_qp(c->id, w.pd, &attr))
		return -1;
	sge.lkey = w.mr->lkey;
	if (ibv_post_recv(c->id->qp, &wr, &bad))
		die("ibv_post_recv");
	return 0;
}

/* Unsignaled: only receives and failed sends complete. */
static void conn_say(struct conn *c, uint64_t number)
{
	struct ibv_sge sge = {(uintptr_t)&c->out, sizeof(c->out), w.mr->lkey};
	struct ibv_send_wr wr = {.wr_id = (uintptr_t)c,
				 .opcode = IBV_WR_SEND,
				 .sg_list = &sge,
				 .num_sge = 1},
			   *bad;

	c->out = number;
	if (ibv_post_send(c->id->qp, &wr, &bad))
		die("ibv_post_send");
}

static void conn_leave(struct conn *c)
{
	c->left = true;
	if (rdma_disconnect(c->id))
		die("rdma_disconnect");
}

/* ---- the client */

static uint64_t number_of(const struct conn *c)
{
	return (uint64_t)getpid() << 32 | (uint64_t)(c - w.conn);
}

static void begin(void)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(w.ch, &id, NULL, RDMA_PS_TCP))
		die("rdma_create_id");
	conn_new(id);
	w.begun++;
	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)&w.to, MS))
		die("rdma_resolve_addr");
}

/* The oldest goes when the window is full; the last ones when there are no more to come. */
static void leave_some(void)
{
	bool last = w.all && w.begun == w.all && w.told == w.all - w.ended;
	unsigned long n = last ? w.told : w.told >= w.window;

	for (; n; n--) {
		while (!w.conn[w.oldest].id || !w.conn[w.oldest].told || w.conn[w.oldest].left)
			w.oldest = (w.oldest + 1) % CONNS;
		w.told--;
		conn_leave(&w.conn[w.oldest]);
	}
}

static void client_ended(struct conn *c)
{
	bool expected = c->left;

	conn_free(c);
	w.ended++;
	if (!expected)
		exit(GONE);
	if (!w.all || w.begun < w.all)
		begin();
}

/* A dead client's connection may still be there for the server's CM: it is over now. */
static void client_refused(struct conn *c, int status)
{
	if (status == STALE) {
		w.stale++;
		w.begun--;
		conn_free(c);
		begin();
		return;
	}
	fprintf(stderr, "conn: rejected: %d\n", status);
	exit(GONE);
}

static void client_event(struct conn *c, enum rdma_cm_event_type type, int status)
{
	struct rdma_conn_param p = {.retry_count = 7, .rnr_retry_count = 7};

	switch (type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (conn_ready(c))
			die("rdma_create_qp");
		if (rdma_resolve_route(c->id, MS))
			die("rdma_resolve_route");
		return;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		if (rdma_connect(c->id, &p))
			die("rdma_connect");
		return;
	case RDMA_CM_EVENT_ESTABLISHED:
		conn_say(c, number_of(c));
		return;
	case RDMA_CM_EVENT_DISCONNECTED:
		client_ended(c);
		return;
	case RDMA_CM_EVENT_REJECTED:
		client_refused(c, status);
		return;
	case RDMA_CM_EVENT_CONNECT_ERROR: /* librdmacm's: the server has died after its REP */
		exit(GONE);
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return;
	default:
		fprintf(stderr, "conn: %s, %d\n", rdma_event_str(type), status);
		exit(1);
	}
}

/* ---- the server */

static void server_event(struct conn *c, struct rdma_cm_id *id, enum rdma_cm_event_type type)
{
	struct rdma_conn_param p = {.rnr_retry_count = 7};

	switch (type) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		c = conn_new(id);
		if (!conn_ready(c) && !rdma_accept(id, &p))
			return;
		if (errno != EINVAL)
			die("rdma_create_qp or rdma_accept");
		conn_free(c);
		return;
	case RDMA_CM_EVENT_ESTABLISHED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return;
	case RDMA_CM_EVENT_DISCONNECTED:
		rdma_disconnect(c->id); /* EINVAL: the QP has failed already */
		conn_free(c);
		return;
	case RDMA_CM_EVENT_REJECTED: /* the client has died between its REQ and its RTU */
	case RDMA_CM_EVENT_UNREACHABLE:
		conn_free(c);
		return;
	default:
		fprintf(stderr, "conn: server: %s\n", rdma_event_str(type));
		exit(1);
	}
}

/* ---- both */

static void look_at_events(void)
{
	struct rdma_cm_event *e;

	while (!rdma_get_cm_event(w.ch, &e)) {
		enum rdma_cm_event_type type = e->event;
		struct rdma_cm_id *id = e->id;
		int status = e->status;

		if (rdma_ack_cm_event(e))
			die("rdma_ack_cm_event");
		if (w.server)
			server_event(id->context, id, type);
		else
			client_event(id->context, type, status);
	}
	if (errno != EAGAIN)
		die("rdma_get_cm_event");
}

static void arrived(struct conn *c)
{
	if (w.server) {
		conn_say(c, c->in);
		return;
	}
	if (c->in != number_of(c)) {
		fprintf(stderr, "conn: %#lx came back, not %#lx\n", (unsigned long)c->in,
			(unsigned long)number_of(c));
		exit(1);
	}
	c->told = true;
	w.told++;
}

/* If the other end of a QP has died, the QP's requests fail. The CM's event comes later. */
static void look_at_completions(void)
{
	struct ibv_cq *cq;
	struct ibv_wc wc[32];
	void *ctx;
	int n;

	if (!w.cq)
		return;
	if (!ibv_get_cq_event(w.done, &cq, &ctx))
		ibv_ack_cq_events(cq, 1);
	if (ibv_req_notify_cq(w.cq, 0))
		die("ibv_req_notify_cq");
	while ((n = ibv_poll_cq(w.cq, 32, wc)) > 0)
		for (int i = 0; i < n; i++)
			if (!wc[i].status)
				arrived((struct conn *)(uintptr_t)wc[i].wr_id);
	if (n < 0)
		die("ibv_poll_cq");
}

static void loop(void)
{
	struct pollfd fds[2] = {{.fd = w.ch->fd, .events = POLLIN}, {.fd = -1, .events = POLLIN}};

	while (!w.all || w.ended < w.all) {
		fds[1].fd = w.done ? w.done->fd : -1;
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			die("poll");
		look_at_events();
		look_at_completions();
		if (!w.server)
			leave_some();
	}
}

static int serve(char **argv)
{
	struct sockaddr_in any = {.sin_family = AF_INET,
				  .sin_port = htons((uint16_t)atoi(argv[0]))};
	int backlog = argv[1] ? atoi(argv[1]) : 0;
	struct rdma_cm_id *id;

	w.server = true;
	if (rdma_create_id(w.ch, &id, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(id, (struct sockaddr *)&any) || rdma_listen(id, backlog))
		die("rdma_listen");
	loop();
	return 0;
}

static int connect_all(char **argv)
{
	w.to = (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons((uint16_t)atoi(argv[1]))};
	if (inet_pton(AF_INET, argv[0], &w.to.sin_addr) != 1 || !argv[2])
		return 2;
	w.window = strtoul(argv[2], NULL, 0);
	w.all = argv[3] ? strtoul(argv[3], NULL, 0) : 0;
	for (unsigned long n = 0; n < w.window && (!w.all || n < w.all); n++)
		begin();
	loop();
	printf("%lu connections, %lu begun again\n", w.ended, w.stale);
	return 0;
}

int main(int argc, char **argv)
{
	bool server = argc > 2 && !strcmp(argv[1], "server");

	if (!server && (argc < 5 || strcmp(argv[1], "client") != 0))
		return 2;
	w.ch = rdma_create_event_channel();
	if (!w.ch || fcntl(w.ch->fd, F_SETFL, O_NONBLOCK))
		die("rdma_create_event_channel");
	return server ? serve(argv + 2) : connect_all(argv + 2);
}
