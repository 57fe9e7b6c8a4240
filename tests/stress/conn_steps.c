/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One end of a connection by rdma_cm is killed as it enters or leaves its n-th system call, for
 * every STRIDE-th n from FIRST on, until it has come to its end:
 *
 *	conn_steps client ADDRESS PORT STRIDE FIRST		a server serves at PORT (conn.c)
 *	conn_steps server ADDRESS PORT STRIDE FIRST CLIENT	CLIENT (conn.c) is run against it
 *
 * Or a client may have N descriptors, for every N until that is enough:
 *
 *	conn_steps descriptors ADDRESS PORT
 *
 * Prints the kills or the failures. Status 0: each other end has ended, too, and the last
 *connection was whole. The files end where their owner dies; what is left then is for the caller to
 *look at.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MS = 20000 };

#define NEED(x)                                                                     \
	do {                                                                        \
		if (!(x)) {                                                         \
			fprintf(stderr, "%s:%d: %s: %m\n", __FILE__, __LINE__, #x); \
			_exit(99);                                                  \
		}                                                                   \
	} while (0)

static struct sockaddr_in addr;
static const char *client_program;
static int listens[2]; /* a pipe: the server says that it listens */

static struct ibv_qp_init_attr qp_attr(void)
{
	return (struct ibv_qp_init_attr){
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC};
}

/* ---- the end that is killed; its ids are synchronous, so each has a file of its own */

static uint64_t word[2];

static void receive_posted(struct rdma_cm_id *id, struct ibv_mr **mr)
{
	struct ibv_qp_init_attr attr = qp_attr();

	NEED(!rdma_create_qp(id, NULL, &attr));
	NEED(*mr = rdma_reg_msgs(id, word, sizeof(word)));
	NEED(!rdma_post_recv(id, NULL, &word[0], sizeof(word[0]), *mr));
}

static void dropped(struct rdma_cm_id *id, struct ibv_mr *mr)
{
	NEED(!rdma_dereg_mr(mr));
	rdma_destroy_qp(id);
	NEED(!rdma_destroy_id(id));
}

static void client(void)
{
	struct rdma_conn_param p = {.retry_count = 7, .rnr_retry_count = 7};
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	struct ibv_wc wc;

	NEED(!rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	NEED(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, MS));
	receive_posted(id, &mr);
	NEED(!rdma_resolve_route(id, MS));
	NEED(!rdma_connect(id, &p));
	word[1] = 77;
	NEED(!rdma_post_send(id, NULL, &word[1], sizeof(word[1]), mr, 0));
	NEED(rdma_get_recv_comp(id, &wc) == 1 && !wc.status && word[0] == 77);
	NEED(!rdma_disconnect(id));
	dropped(id, mr);
}

static void server(void)
{
	struct rdma_conn_param p = {.rnr_retry_count = 7};
	struct rdma_cm_id *l, *id;
	struct ibv_mr *mr;
	struct ibv_wc wc;

	NEED(!rdma_create_id(NULL, &l, NULL, RDMA_PS_TCP));
	NEED(!rdma_bind_addr(l, (struct sockaddr *)&addr));
	NEED(!rdma_listen(l, 1));
	NEED(write(listens[1], "l", 1) == 1);
	NEED(!rdma_get_request(l, &id));
	receive_posted(id, &mr);
	NEED(!rdma_accept(id, &p));
	NEED(rdma_get_recv_comp(id, &wc) == 1 && !wc.status);
	word[1] = word[0];
	NEED(!rdma_post_send(id, NULL, &word[1], sizeof(word[1]), mr, 0));
	/* The client disconnects. The id has its last event, to be acknowledged before the next. */
	NEED(!rdma_ack_cm_event(id->event));
	NEED(!rdma_get_cm_event(id->channel, &id->event) &&
	     id->event->event == RDMA_CM_EVENT_DISCONNECTED);
	rdma_disconnect(id);
	dropped(id, mr);
	NEED(!rdma_destroy_id(l));
}

/* ---- the one that kills */

static pid_t begin(void (*end)(void))
{
	pid_t pid = fork();
	int n;

	NEED(pid >= 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	NEED(!ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	/* The device is opened before: what follows is the connection. */
	NEED(rdma_get_devices(&n) && n);
	raise(SIGSTOP);
	end();
	_exit(0);
}

static pid_t run_client(void)
{
	char port[16];
	pid_t pid;

	snprintf(port, sizeof(port), "%u", ntohs(addr.sin_port));
	pid = fork();
	NEED(pid >= 0);
	if (pid)
		return pid;
	execl(client_program, client_program, "client", inet_ntoa(addr.sin_addr), port, "1", "1",
	      NULL);
	_exit(127);
}

/* 0: the server has not said yet that it listens. */
static pid_t client_if_listening(void)
{
	struct pollfd p = {listens[0], POLLIN, 0};
	char c;

	if (!client_program || poll(&p, 1, 0) != 1)
		return 0;
	NEED(read(listens[0], &c, 1) == 1);
	return run_client();
}

/* True: it was killed at stop `n`; false: it came to its end before. */
static bool kill_at(pid_t pid, unsigned long n, pid_t *other)
{
	unsigned long stops = 0;
	int status, sig = 0;

	NEED(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
	NEED(!ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
	for (;;) {
		NEED(!ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(uintptr_t)sig));
		NEED(waitpid(pid, &status, 0) == pid);
		if (!WIFSTOPPED(status)) {
			NEED(WIFEXITED(status) && !WEXITSTATUS(status));
			return false;
		}
		sig = WSTOPSIG(status) == (SIGTRAP | 0x80) ? 0 : WSTOPSIG(status);
		if (!*other)
			*other = client_if_listening();
		if (!sig && ++stops == n)
			break;
	}
	kill(pid, SIGKILL);
	NEED(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	return true;
}

/* ---- the one that has too few descriptors */

static int fail_without_descriptors(void)
{
	struct rlimit l;
	unsigned int failed = 0;
	int status;
	pid_t pid;

	NEED(!getrlimit(RLIMIT_NOFILE, &l));
	for (l.rlim_cur = 3;; l.rlim_cur++, failed++) {
		pid = fork();
		NEED(pid >= 0);
		if (!pid) {
			NEED(!setrlimit(RLIMIT_NOFILE, &l));
			client();
			_exit(0);
		}
		NEED(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
		if (!WEXITSTATUS(status))
			break;
		NEED(WEXITSTATUS(status) == 99);
	}
	printf("%u failures\n", failed);
	return 0;
}

int main(int argc, char **argv)
{
	void (*end)(void) = argc > 1 && !strcmp(argv[1], "server") ? server : client;
	bool is_short = argc > 3 && !strcmp(argv[1], "descriptors");
	unsigned long n, stride, kills = 0;
	int status;
	bool killed;
	pid_t other;

	if (argc < (is_short ? 4 : 6) || (end == server && argc < 7))
		return 2;
	addr = (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons((uint16_t)atoi(argv[3]))};
	NEED(inet_pton(AF_INET, argv[2], &addr.sin_addr) == 1);
	if (is_short)
		return fail_without_descriptors();
	client_program = end == server ? argv[6] : NULL;
	NEED(!pipe(listens));
	stride = strtoul(argv[4], NULL, 0);
	for (n = strtoul(argv[5], NULL, 0), killed = true; killed; n += stride) {
		other = 0;
		killed = kill_at(begin(end), n, &other);
		kills += killed;
		if (!other)
			other = client_if_listening();
		if (!other)
			continue;
		NEED(waitpid(other, &status, 0) == other && WIFEXITED(status));
		/* 4: it has seen the server go. */
		NEED(WEXITSTATUS(status) == 0 || (killed && WEXITSTATUS(status) == 4));
	}
	printf("%lu kills at %lu steps\n", kills, n);
	return 0;
}
