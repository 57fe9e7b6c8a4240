/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hazard 8: events are never lost, however many are queued and however long their reader sleeps; a
 * blocking read can be interrupted; poll, select and epoll see them, also through a dup.
 */
#include "rc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

static struct rc_pair pair;

/* b's completions raise events. */
static void make(void)
{
	rc_make(&pair.a, NULL, 4096, 0);
	pair.b.ctx = pair.a.ctx;
	rc_make(&pair.b, NULL, 4096, RC_EVENTS);
	rc_connect(&pair.a, &pair.b.me, 14, 7);
	rc_connect(&pair.b, &pair.a.me, 14, 7);
}

/* One message, and so one event if b's CQ is armed. */
static void message(void)
{
	rc_recv(&pair.b, 0, 8);
	rc_send(&pair.a, 0, 8);
	CHECK(!rc_wait(&pair.a, RC_HANGS).status);
}

static void arm(void)
{
	CHECK(!ibv_req_notify_cq(pair.b.cq, 0));
}

static void take_event(void)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(pair.b.chan, &cq, &context))
		DIE("%s", strerror(errno));
	CHECK(cq == pair.b.cq);
}

static void nonblocking(int fd)
{
	CHECK(!fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK));
}

/* argument: how many events are queued before the first is read, more than a pipe can hold */
static int pile_up(int argc, char **argv)
{
	unsigned int n = argc > 1 ? (unsigned int)atoi(argv[1]) : 100000;
	struct ibv_cq *cq;
	void *context;

	make();
	for (unsigned int i = 0; i < n; i++) {
		arm();
		message();
		CHECK(!rc_wait(&pair.b, RC_HANGS).status);
	}
	for (unsigned int i = 0; i < n; i++)
		take_event();
	nonblocking(pair.b.chan->fd);
	CHECK(ibv_get_cq_event(pair.b.chan, &cq, &context) == -1 && errno == EAGAIN);
	ibv_ack_cq_events(pair.b.cq, n);
	/* destroying waits for all events to be acknowledged */
	CHECK(!ibv_destroy_qp(pair.b.qp) && !ibv_destroy_cq(pair.b.cq));
	return 0;
}

/* Ping-pong of two processes that sleep for each message: a lost event is a hang. */
static void bounce(int sock, unsigned int n, bool first)
{
	struct rc_end e = {0};
	struct ibv_cq *cq;
	void *context;

	rc_make(&e, NULL, 4096, RC_EVENTS);
	rc_exchange(&e, sock);
	rc_recv(&e, 0, 8);
	CHECK(!ibv_req_notify_cq(e.cq, 0));
	rc_sync(sock);
	for (unsigned int got = 0; got < n;) {
		struct ibv_wc wc;

		if (first && !got)
			rc_send(&e, 64, 8);
		CHECK(!ibv_get_cq_event(e.chan, &cq, &context));
		ibv_ack_cq_events(cq, 1);
		CHECK(!ibv_req_notify_cq(e.cq, 0));
		while (ibv_poll_cq(e.cq, 1, &wc)) {
			CHECK(!wc.status);
			if (!(wc.opcode & IBV_WC_RECV))
				continue;
			rc_recv(&e, 0, 8);
			if (++got < n || !first)
				rc_send(&e, 64, 8);
		}
		first &= !got;
	}
	rc_sync(sock);
}

static int sleepers(int argc, char **argv)
{
	unsigned int n = argc > 1 ? (unsigned int)atoi(argv[1]) : 10000;
	int sp[2], status;
	pid_t pid;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sp));
	pid = fork();
	close(sp[pid != 0]);
	alarm(300);
	bounce(sp[!pid], n, pid != 0);
	if (!pid)
		_exit(0);
	CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

/*
 * argument: what the sender gives up before it sends. It cannot open the receiver's FIFO then, so
 * another process must write the byte that wakes the poller.
 */
static int handicapped(int argc, char **argv)
{
	bool descriptors = argc > 1 && !strcmp(argv[1], "descriptors");
	struct rlimit none = {0, 0};
	struct rc_end e = {0};
	struct pollfd p = {.events = POLLIN};
	int sp[2], status;
	pid_t pid;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sp));
	pid = fork();
	close(sp[pid != 0]);
	alarm(300);
	rc_make(&e, NULL, 4096, RC_EVENTS);
	rc_exchange(&e, sp[!pid]);
	if (pid) {
		rc_recv(&e, 0, 8);
		CHECK(!ibv_req_notify_cq(e.cq, 0));
	}
	rc_sync(sp[!pid]);
	if (!pid) {
		if (descriptors)
			CHECK(!setrlimit(RLIMIT_NOFILE, &none) && open("/dev/null", O_RDONLY) < 0);
		else
			CHECK(!chroot("/proc") && access("/dev/null", F_OK));
		rc_send(&e, 0, 8);
		CHECK(!rc_wait(&e, RC_HANGS).status);
		_exit(0);
	}
	p.fd = e.chan->fd;
	CHECK(poll(&p, 1, RC_HANGS * 1000) == 1);
	CHECK(!rc_wait(&e, RC_HANGS).status);
	CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

static volatile sig_atomic_t alarms;

static void on_alarm(int sig)
{
	alarms++;
}

/* Send when the reader has been interrupted, and reads again. */
static void *message_later(void *arg)
{
	while (!alarms || rc_state(getpid()) != 'S')
		usleep(1000);
	message();
	return arg;
}

/* A blocking read: EINTR, or with SA_RESTART it continues until the event comes. */
static int interrupted(int argc, char **argv)
{
	struct itimerval t = {{0, 50000}, {0, 50000}}; /* repeated, in case it comes too early */
	struct sigaction sa = {.sa_handler = on_alarm};
	struct ibv_cq *cq;
	void *context;
	pthread_t thread;

	make();
	arm();
	sigaction(SIGALRM, &sa, NULL);
	CHECK(!setitimer(ITIMER_REAL, &t, NULL));
	CHECK(ibv_get_cq_event(pair.b.chan, &cq, &context) == -1 && errno == EINTR);
	sa.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &sa, NULL);
	alarms = 0;
	CHECK(!pthread_create(&thread, NULL, message_later, NULL));
	take_event();
	CHECK(!setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL));
	CHECK(!pthread_join(thread, NULL));
	return 0;
}

/* ---- readiness */

static bool ready_poll(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int n = poll(&p, 1, ms);

	CHECK(n >= 0 && !(p.revents & ~POLLIN));
	return n;
}

static bool ready_select(int fd, int ms)
{
	struct timeval t = {ms / 1000, ms % 1000 * 1000};
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	return select(fd + 1, &set, NULL, NULL, &t) == 1;
}

static bool ready_epoll(int fd, int ms)
{
	struct epoll_event ev = {.events = EPOLLIN};
	int ep = epoll_create1(EPOLL_CLOEXEC), n;

	CHECK(ep >= 0 && !epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev));
	n = epoll_wait(ep, &ev, 1, ms);
	CHECK(n >= 0 && (!n || ev.events == EPOLLIN));
	close(ep);
	return n;
}

static bool (*const ready[])(int, int) = {ready_poll, ready_select, ready_epoll};

/* Through the descriptor itself and a copy of it, from empty to one event and back. */
static void all_ready(int fd, bool want)
{
	int copy = dup(fd);

	CHECK(copy >= 0);
	for (int i = 0; i < 3; i++)
		if (ready[i](fd, want ? RC_HANGS * 1000 : 0) != want || ready[i](copy, 0) != want)
			DIE("way %d does not say %d", i, want);
	close(copy);
}

static int completion_readiness(int argc, char **argv)
{
	make();
	for (int i = 0; i < 20; i++) {
		all_ready(pair.b.chan->fd, false);
		arm();
		message();
		all_ready(pair.b.chan->fd, true);
		take_event();
		CHECK(!rc_wait(&pair.b, RC_HANGS).status);
	}
	return 0;
}

/* A write with an invalid key of b: an async event for b's QP. */
static int async_readiness(int argc, char **argv)
{
	struct ibv_async_event ev;
	int fd, copy;

	make();
	fd = pair.b.ctx->async_fd;
	all_ready(fd, false);
	pair.a.peer.rkey ^= 0x1100;
	rc_write(&pair.a, 0, 8, 0);
	CHECK(rc_wait(&pair.a, RC_HANGS).status == IBV_WC_REM_ACCESS_ERR);
	all_ready(fd, true);
	copy = dup(fd);
	CHECK(!ibv_get_async_event(pair.b.ctx, &ev));
	CHECK(ev.event_type == IBV_EVENT_QP_ACCESS_ERR && ev.element.qp == pair.b.qp);
	ibv_ack_async_event(&ev);
	all_ready(fd, false);
	all_ready(copy, false);
	return 0;
}

/*
 * ---- each event wakes readers, also while others are unread (ib_uverbs_comp_handler() and
 * ib_uverbs_async_handler() in uverbs_main.c: wake_up_interruptible() and kill_fasync())
 */

static void comp_event(void)
{
	arm();
	message();
	CHECK(!rc_wait(&pair.b, RC_HANGS).status);
}

static void take_async(void)
{
	struct ibv_async_event e;

	CHECK(!ibv_get_async_event(pair.b.ctx, &e));
	ibv_ack_async_event(&e);
}

/* A write with an invalid key of b; then restore both ends. */
static void async_event(void)
{
	pair.a.peer.rkey ^= 0x1100;
	rc_write(&pair.a, 0, 8, 0);
	CHECK(rc_wait(&pair.a, RC_HANGS).status == IBV_WC_REM_ACCESS_ERR);
	rc_reset(&pair.a);
	rc_reset(&pair.b);
	rc_connect(&pair.a, &pair.b.me, 14, 7);
	rc_connect(&pair.b, &pair.a.me, 14, 7);
}

static const struct told {
	const char *name;
	void (*event)(void);
	void (*take)(void);
} tolds[] = {{"completion", comp_event, take_event}, {"async", async_event, take_async}};

static const struct told *told_of(const char *name)
{
	for (size_t i = 0; i < sizeof(tolds) / sizeof(tolds[0]); i++)
		if (!strcmp(tolds[i].name, name))
			return &tolds[i];
	DIE("no kind of event is called %s", name);
}

static int told_fd(const struct told *t)
{
	return t == &tolds[0] ? pair.b.chan->fd : pair.b.ctx->async_fd;
}

/* Each event is an edge for epoll_wait(), with one unread, and when read one by one. */
static int edges(int argc, char **argv)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET}, got;
	const struct told *t = told_of(argc > 1 ? argv[1] : "");
	int ep = epoll_create1(EPOLL_CLOEXEC);

	make();
	nonblocking(told_fd(t));
	CHECK(!epoll_ctl(ep, EPOLL_CTL_ADD, told_fd(t), &ev));
	t->event();
	CHECK(epoll_wait(ep, &got, 1, RC_HANGS * 1000) == 1);
	CHECK(epoll_wait(ep, &got, 1, 0) == 0);
	for (int i = 0; i < 200; i++) {
		t->event();
		t->take();
		CHECK(epoll_wait(ep, &got, 1, RC_HANGS * 1000) == 1);
	}
	t->take();
	CHECK(epoll_wait(ep, &got, 1, 0) == 0);
	return 0;
}

static volatile sig_atomic_t sigios;

static void count_sigio(int sig)
{
	(void)sig;
	sigios++;
}

/* Each event raises SIGIO, however much is unread. */
static int signalled(int argc, char **argv)
{
	const struct told *t = told_of(argc > 1 ? argv[1] : "");
	struct sigaction sa = {.sa_handler = count_sigio, .sa_flags = SA_RESTART};
	struct timespec nap = {.tv_nsec = 1000000};

	make();
	CHECK(!sigaction(SIGIO, &sa, NULL));
	CHECK(!fcntl(told_fd(t), F_SETOWN, getpid()));
	CHECK(!fcntl(told_fd(t), F_SETFL, fcntl(told_fd(t), F_GETFL) | O_ASYNC));
	for (int i = 0; i < 20; i++) {
		int was = sigios;
		double end = rc_now() + RC_HANGS;

		t->event();
		while (sigios == was && rc_now() < end)
			nanosleep(&nap, NULL);
		CHECK(sigios > was);
	}
	return 0;
}

/* ---- waiters that are not in this program, or not in a call of libc's own */

static void say_ready(int fd)
{
	CHECK(write(fd, "x", 1) == 1);
}

static const char polls[] = "import os, select, sys\n"
			    "p = select.poll()\n"
			    "p.register(int(sys.argv[1]), select.POLLIN)\n"
			    "os.write(int(sys.argv[2]), b'x')\n"
			    "sys.exit(len(p.poll()))";

/* A program without the library. */
static int in_a_stranger(int fd, int tell)
{
	char number[12], to[12], *env[] = {NULL};
	char *argv[] = {"python3", "-c", (char *)polls, number, to, NULL};

	snprintf(number, sizeof(number), "%d", fd);
	snprintf(to, sizeof(to), "%d", tell);
	CHECK(!fcntl(fd, F_SETFD, 0) && !fcntl(tell, F_SETFD, 0));
	execve("/usr/bin/python3", argv, env);
	DIE("%s", strerror(errno));
}

/* The same, started by posix_spawn(3), which inherits the descriptor as it is or gets a copy. */
static int spawned(int fd, int tell, const posix_spawn_file_actions_t *files)
{
	char number[12], to[12], *env[] = {NULL};
	char *argv[] = {"python3", "-c", (char *)polls, number, to, NULL};
	int status;
	pid_t pid;

	snprintf(number, sizeof(number), "%d", fd);
	snprintf(to, sizeof(to), "%d", tell);
	CHECK(!posix_spawn(&pid, "/usr/bin/python3", files, NULL, argv, env));
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int by_inheritance(int fd, int tell)
{
	CHECK(!fcntl(fd, F_SETFD, 0) && !fcntl(tell, F_SETFD, 0));
	return spawned(fd, tell, NULL);
}

static int by_copy(int fd, int tell)
{
	posix_spawn_file_actions_t files;

	CHECK(!posix_spawn_file_actions_init(&files));
	CHECK(!posix_spawn_file_actions_adddup2(&files, fd, 100));
	CHECK(!posix_spawn_file_actions_adddup2(&files, tell, 101));
	return spawned(100, 101, &files);
}

static int by_poll(int fd, int tell)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	say_ready(tell);
	return poll(&p, 1, -1);
}

static int by_raw_poll(int fd, int tell)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	say_ready(tell);
	return (int)syscall(SYS_ppoll, &p, 1, NULL, NULL, 8);
}

/* A copy of the descriptor that came in a message. */
static int by_message(int fd, int tell)
{
	char ctl[CMSG_SPACE(sizeof(int))] = {0}, c = 'x';
	struct iovec iov = {&c, 1};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = ctl,
			   .msg_controllen = sizeof(ctl)};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	int sock[2];

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &fd, sizeof(fd));
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	CHECK(sendmsg(sock[0], &m, 0) == 1 && !close(fd) && recvmsg(sock[1], &m, 0) == 1);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return by_poll(fd, tell);
}

/* argument: how a child waits for the event that its parent causes */
static int elsewhere(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*wait)(int fd, int tell);
	} ways[] = {{"stranger", in_a_stranger}, {"spawned", by_inheritance},
		    {"spawned_copy", by_copy},   {"poll", by_poll},
		    {"raw", by_raw_poll},        {"message", by_message}};
	int said[2], status;
	pid_t pid;
	size_t w = 0;
	char c;

	while (strcmp(ways[w].name, argc > 1 ? argv[1] : ""))
		CHECK(++w < sizeof(ways) / sizeof(ways[0]));
	make();
	for (int i = 0; i < 3; i++) {
		CHECK(!pipe(said));
		pid = fork();
		if (!pid)
			_exit(ways[w].wait(pair.b.chan->fd, said[1]));
		close(said[1]);
		CHECK(read(said[0], &c, 1) == 1);
		comp_event();
		CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
		CHECK(WEXITSTATUS(status) == 1);
		close(said[0]);
		take_event();
		all_ready(pair.b.chan->fd, false);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct rc_case cases[] = {
		{"pile_up", pile_up},
		{"sleepers", sleepers},
		{"handicapped", handicapped},
		{"interrupted", interrupted},
		{"completion_readiness", completion_readiness},
		{"async_readiness", async_readiness},
		{"edges", edges},
		{"signalled", signalled},
		{"elsewhere", elsewhere},
		{NULL, NULL},
	};

	return rc_main(cases, argc, argv);
}
