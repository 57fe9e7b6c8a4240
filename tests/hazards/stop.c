/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hazard 3: a peer is stopped (a debugger, a terminal's ctrl-Z), perhaps with a lock held. The
 * other end still reacts to signals, nothing is lost, and everything continues when the peer does.
 */
#include "rc.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#define MSG 16384u
#define SENDS 8u /* sends in flight */

/* Shared by all three processes. */
struct shared {
	volatile bool finish, stopped[2], posted;
	volatile uint64_t sent[2], received[2];
};

static struct shared *shared;

static void share(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	CHECK(shared != MAP_FAILED);
}

/* ---- traffic in both directions; one end or the other is stopped at random points */

static void send_next(struct rc_end *e, uint64_t *n)
{
	size_t off = (*n % SENDS) * MSG;

	memcpy(e->buf + off, n, sizeof(*n));
	memcpy(e->buf + off + MSG - sizeof(*n), n, sizeof(*n));
	rc_send(e, off, MSG);
	++*n;
}

/* Check that message `n` is here, whole. */
static void check_message(const uint8_t *p, uint64_t n)
{
	uint64_t first, last;

	memcpy(&first, p, sizeof(first));
	memcpy(&last, p + MSG - sizeof(last), sizeof(last));
	if (first != n || last != n)
		DIE("message %llu is %llu..%llu", (unsigned long long)n, (unsigned long long)first,
		    (unsigned long long)last);
}

static void end_of_traffic(int sock, int self)
{
	uint64_t sent = 0, done = 0, received = 0;
	struct rc_end e = {0};

	rc_make(&e, NULL, (SENDS + RC_DEPTH) * MSG, 0);
	rc_exchange(&e, sock);
	for (unsigned int i = 0; i < RC_DEPTH; i++)
		rc_recv(&e, (SENDS + i) * MSG, MSG);
	rc_sync(sock);
	while (sent < SENDS)
		send_next(&e, &sent);
	shared->sent[self] = sent;
	while (!shared->stopped[0] || !shared->stopped[1] || done < sent ||
	       received < shared->sent[!self] || shared->received[!self] < sent) {
		struct ibv_wc wc;

		/* All messages are acknowledged, and no more follow: the other end may exit. */
		if (shared->finish)
			shared->stopped[self] = true;
		if (!ibv_poll_cq(e.cq, 1, &wc))
			continue;
		if (wc.status)
			DIE("%s", ibv_wc_status_str(wc.status));
		if (wc.opcode & IBV_WC_RECV) {
			check_message(e.buf + wc.wr_id, received++);
			rc_recv(&e, wc.wr_id, MSG);
			shared->received[self] = received;
			continue;
		}
		done++;
		if (!shared->stopped[self])
			send_next(&e, &sent);
		shared->sent[self] = sent;
	}
	_exit(0);
}

static pid_t start_end(int sp[2], int self)
{
	pid_t pid = fork();

	if (!pid) {
		close(sp[!self]);
		end_of_traffic(sp[self], self);
	}
	return pid;
}

static int reap(pid_t pid, double seconds)
{
	double end = rc_now() + seconds;
	int status;

	while (waitpid(pid, &status, WNOHANG) != pid) {
		if (rc_now() > end)
			DIE("a process hangs");
		usleep(2000);
	}
	return status;
}

/* arguments: rounds, seed */
static int random_points(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 60, sp[2];
	uint64_t seen = 0, now;
	pid_t pid[2];

	srandom(argc > 2 ? (unsigned int)atoi(argv[2]) : 1);
	share();
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sp));
	for (int i = 0; i < 2; i++)
		pid[i] = start_end(sp, i);
	while (!shared->received[0] || !shared->received[1])
		usleep(1000);
	for (int i = 0; i < rounds; i++) {
		usleep((unsigned int)random() % 3000); /* stops of any length at any moment */
		kill(pid[i & 1], SIGSTOP);
		usleep((unsigned int)random() % 30000);
		kill(pid[i & 1], SIGCONT);
	}
	/* Still alive: messages pass. */
	for (int i = 0; i < 2; i++) {
		seen = shared->received[i];
		for (double end = rc_now() + RC_HANGS; (now = shared->received[i]) < seen + 100;)
			if (rc_now() > end)
				DIE("no message any more");
	}
	shared->finish = true;
	for (int i = 0; i < 2; i++)
		CHECK(!reap(pid[i], RC_HANGS));
	printf("%llu messages\n", (unsigned long long)(now + shared->received[0]));
	return 0;
}

/* The other end, in the middle of traffic, has the default action for ctrl-C. */
static int interrupt(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 5;

	srandom(2);
	for (int i = 0; i < rounds; i++) {
		pid_t pid[2];
		int sp[2], status;

		share();
		CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sp));
		for (int k = 0; k < 2; k++)
			pid[k] = start_end(sp, k);
		while (!shared->received[0] || !shared->received[1])
			usleep(1000);
		usleep((unsigned int)random() % 10000);
		kill(pid[0], SIGSTOP);
		/* it waits for the stopped one, or will soon: in both cases it must end */
		usleep(50000);
		kill(pid[1], SIGINT);
		status = reap(pid[1], RC_HANGS);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
		kill(pid[0], SIGCONT);
		status = reap(pid[0], RC_HANGS); /* RETRY_EXC_ERR, and DIE */
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 2);
		munmap(shared, sizeof(*shared));
		close(sp[0]);
		close(sp[1]);
	}
	return 0;
}

/*
 * ---- a peer that is certainly stopped with this end's CQ lock held: the page that it sends to is
 * missing until this test provides it (userfaultfd), and the signal arrives when its copy is done,
 * before it unlocks.
 */

static void sender(int sock)
{
	struct rc_end e = {0};

	rc_make(&e, NULL, 4096, 0);
	memset(e.buf, 0x5a, 64);
	rc_exchange(&e, sock);
	rc_recv(&e, 64, 64);
	rc_sync(sock);
	rc_send(&e, 0, 64);
	for (int i = 0; i < 2; i++) { /* its own completion, and the other's message */
		struct ibv_wc wc = rc_wait(&e, RC_HANGS);

		if (wc.status)
			DIE("%s", ibv_wc_status_str(wc.status));
	}
	rc_sync(sock);
	_exit(0);
}

static volatile sig_atomic_t ticks;

static void on_alarm(int sig)
{
	ticks++;
}

/*
 * With the peer stopped: post, arm, query, get the completion, and react to signals. True: the
 * peer's message was seen, too.
 */
static bool beside_a_stopped_peer(struct rc_end *e)
{
	struct itimerval t = {{0, 20000}, {0, 20000}}, none = {{0, 0}, {0, 0}};
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	double start = rc_now(), own = rc_own();
	bool sent = false, received = false;
	struct ibv_wc wc;

	ticks = 0;
	signal(SIGALRM, on_alarm);
	CHECK(!setitimer(ITIMER_REAL, &t, NULL));
	rc_send(e, 4096, 64);
	CHECK(!ibv_req_notify_cq(e->cq, 0));
	CHECK(!ibv_query_qp(e->qp, &attr, IBV_QP_STATE, &init));
	CHECK(attr.qp_state == IBV_QPS_RTS);
	own = rc_own() - own;
	if (own > 0.5)
		DIE("posting to a stopped peer took %g s", own);
	while (!sent || ticks < 5) {
		if (rc_now() > start + RC_HANGS)
			DIE("%s", sent ? "no signal arrives" : "a stopped peer holds us up");
		if (!ibv_poll_cq(e->cq, 1, &wc))
			continue;
		CHECK(!wc.status);
		sent |= !(wc.opcode & IBV_WC_RECV);
		received |= !!(wc.opcode & IBV_WC_RECV);
	}
	CHECK(!setitimer(ITIMER_REAL, &none, NULL));
	return received;
}

/* One round: 0; -1: not possible here. */
static int held_round(void)
{
	struct rc_end e = {0};
	int sp[2], status, fd;
	bool received;
	pid_t pid;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sp));
	pid = fork();
	if (!pid)
		sender(sp[1]);
	rc_make(&e, NULL, 8192, 0);
	fd = rc_lazy_page(e.buf);
	if (fd < 0) {
		kill(pid, SIGKILL);
		return -1;
	}
	rc_exchange(&e, sp[0]);
	rc_recv(&e, 0, 64);
	rc_sync(sp[0]);
	/*
	 * The signal is pending until the copy is done. It is sent to that thread: otherwise with
	 * polled doorbells another thread may take it, and this one would go on until that has a
	 * processor.
	 */
	CHECK(!syscall(SYS_tgkill, pid, rc_page_touched(fd), SIGSTOP));
	rc_page_arrives(fd, e.buf);
	CHECK(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
	received = beside_a_stopped_peer(&e);
	CHECK(!kill(pid, SIGCONT));
	if (!received) {
		struct ibv_wc wc = rc_wait(&e, RC_HANGS);

		if (wc.status)
			DIE("%s", ibv_wc_status_str(wc.status));
	}
	CHECK(e.buf[0] == 0x5a && e.buf[63] == 0x5a);
	rc_sync(sp[0]);
	CHECK(!reap(pid, RC_HANGS));
	return 0;
}

static int lock_held(int argc, char **argv)
{
	for (int i = 0; i < 5; i++) {
		if (held_round()) {
			puts("no userfaultfd here");
			return 77;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct rc_case cases[] = {
		{"random_points", random_points},
		{"interrupt", interrupt},
		{"lock_held", lock_held},
		{NULL, NULL},
	};

	return rc_main(cases, argc, argv);
}
