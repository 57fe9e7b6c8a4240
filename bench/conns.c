/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Connections per second, by stock librdmacm or by TCP. The parent connects, disconnects and
 * destroys NUMBER connections, WINDOW of them at once; the child accepts them. bench/cm runs it.
 *
 * 	softhca run -- build/bench/conns cm [NUMBER [WINDOW]]
 * 	build/bench/conns tcp [NUMBER]
 */
#include <arpa/inet.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 60000

static void die(const char *what)
{
	fprintf(stderr, "conns: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* ---- rdma_cm */

/* All QPs of a process share these; its first QP makes them. */
struct shared {
	struct ibv_pd *pd;
	struct ibv_cq *cq;
};

static void make_qp(struct rdma_cm_id *id, struct shared *s)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};

	if (!s->pd)
		s->pd = ibv_alloc_pd(id->verbs);
	if (!s->cq)
		s->cq = ibv_create_cq(id->verbs, 16, NULL, NULL, 0);
	if (!s->pd || !s->cq)
		die("PD or CQ");
	attr.send_cq = attr.recv_cq = s->cq;
	if (rdma_create_qp(id, s->pd, &attr))
		die("rdma_create_qp");
}

static void drop(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	if (rdma_destroy_id(id))
		die("rdma_destroy_id");
}

/* The next event, acknowledged; its id in *id. */
static enum rdma_cm_event_type next_event(struct rdma_event_channel *ch, struct rdma_cm_id **id)
{
	struct rdma_cm_event *e;
	enum rdma_cm_event_type type;

	if (rdma_get_cm_event(ch, &e))
		die("rdma_get_cm_event");
	type = e->event;
	*id = e->id;
	rdma_ack_cm_event(e);
	return type;
}

static struct rdma_event_channel *channel(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();

	if (!ch)
		die("rdma_create_event_channel");
	return ch;
}

static void cm_accept(struct rdma_cm_id *id, struct shared *s)
{
	struct rdma_conn_param p = {.responder_resources = 1, .initiator_depth = 1};

	make_qp(id, s);
	if (rdma_accept(id, &p))
		die("rdma_accept");
}

static void cm_serve(unsigned int number, int tell)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	struct rdma_event_channel *ch = channel();
	struct shared shared = {0};
	struct rdma_cm_id *listener, *id;
	uint16_t port;

	if (rdma_create_id(ch, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, (struct sockaddr *)&a) || rdma_listen(listener, 1024))
		die("rdma_listen");
	port = rdma_get_src_port(listener);
	if (write(tell, &port, sizeof(port)) != sizeof(port))
		die("pipe");
	while (number) {
		switch (next_event(ch, &id)) {
		case RDMA_CM_EVENT_CONNECT_REQUEST:
			cm_accept(id, &shared);
			break;
		case RDMA_CM_EVENT_ESTABLISHED:
		case RDMA_CM_EVENT_TIMEWAIT_EXIT:
			break;
		case RDMA_CM_EVENT_DISCONNECTED:
			rdma_disconnect(id);
			drop(id);
			number--;
			break;
		default:
			die("an event of the listener's side");
		}
	}
	rdma_destroy_id(listener);
}

static void cm_begin(struct rdma_event_channel *ch, const struct sockaddr_in *to)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(ch, &id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(id, NULL, (struct sockaddr *)(uintptr_t)to, PATIENCE_MS))
		die("rdma_resolve_addr");
}

static void cm_connect(struct rdma_cm_id *id, struct shared *s)
{
	struct rdma_conn_param p = {.responder_resources = 1,
				    .initiator_depth = 1,
				    .retry_count = 7,
				    .rnr_retry_count = 7};

	make_qp(id, s);
	if (rdma_connect(id, &p))
		die("rdma_connect");
}

static void cm_run(unsigned int number, unsigned int window, uint16_t port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = port};
	struct rdma_event_channel *ch = channel();
	struct shared shared = {0};
	struct rdma_cm_id *id;
	unsigned int begun = 0;

	inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
	for (; begun < number && begun < window; begun++)
		cm_begin(ch, &to);
	for (unsigned int left = number; left;) {
		switch (next_event(ch, &id)) {
		case RDMA_CM_EVENT_ADDR_RESOLVED:
			if (rdma_resolve_route(id, PATIENCE_MS))
				die("rdma_resolve_route");
			break;
		case RDMA_CM_EVENT_ROUTE_RESOLVED:
			cm_connect(id, &shared);
			break;
		case RDMA_CM_EVENT_ESTABLISHED:
			if (rdma_disconnect(id))
				die("rdma_disconnect");
			break;
		case RDMA_CM_EVENT_DISCONNECTED:
			drop(id);
			left--;
			if (begun++ < number)
				cm_begin(ch, &to);
			break;
		case RDMA_CM_EVENT_TIMEWAIT_EXIT:
			break;
		default:
			die("an event of the connecting side");
		}
	}
}

/* ---- TCP */

static void tcp_serve(unsigned int number, int tell)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	socklen_t len = sizeof(a);
	int sock = socket(AF_INET, SOCK_STREAM, 0);

	inet_pton(AF_INET, "127.0.0.1", &a.sin_addr);
	if (bind(sock, (struct sockaddr *)&a, sizeof(a)) || listen(sock, 1024) ||
	    getsockname(sock, (struct sockaddr *)&a, &len))
		die("listen");
	if (write(tell, &a.sin_port, sizeof(a.sin_port)) != sizeof(a.sin_port))
		die("pipe");
	for (; number; number--) {
		int fd = accept(sock, NULL, NULL);
		char c;

		if (fd < 0 || read(fd, &c, 1) < 0 || close(fd))
			die("accept");
	}
}

static void tcp_run(unsigned int number, uint16_t port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = port};

	inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
	for (; number; number--) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		char c;

		/* A connection counts when both ends have closed it, as with rdma_disconnect(). */
		if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) ||
		    shutdown(fd, SHUT_WR) || read(fd, &c, 1) < 0 || close(fd))
			die("connect");
	}
}

int main(int argc, char **argv)
{
	bool tcp = argc > 1 && !strcmp(argv[1], "tcp");
	unsigned int number = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 0) : 2000;
	unsigned int window = argc > 3 ? (unsigned int)strtoul(argv[3], NULL, 0) : 1;
	pid_t parent = getpid(), pid;
	uint16_t port;
	double start;
	int p[2], status;

	if (argc < 2 || pipe(p))
		die("usage: conns cm|tcp [NUMBER [WINDOW]]");
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			exit(1);
		(tcp ? tcp_serve : cm_serve)(number, p[1]);
		exit(0);
	}
	close(p[1]);
	if (pid < 0 || read(p[0], &port, sizeof(port)) != sizeof(port))
		die("the other end");
	start = now_s();
	if (tcp)
		tcp_run(number, port);
	else
		cm_run(number, window, port);
	printf("%.1f\n", number / (now_s() - start));
	if (waitpid(pid, &status, 0) != pid || status)
		die("the other end");
	return 0;
}
