/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waiting for packets: every method of waiting sees packets of every origin (ib_umad_poll: readable
 * while there is a packet, always writable), in each waiter: this thread, another one, another
 * process, also one without the library.
 */
#include "umad.h"
#include "util/sys.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define ATTR_NODE_INFO 0x11
#define LONG_MS HANGS

extern int __poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t room);

/* ---- methods of waiting: 1 readable, 0 not within ms */

struct way {
	const char *name;
	int (*wait)(int fd, int ms);
	bool told_once; /* reports again only when more packets come */
	bool wrapped;   /* the library compares what the kernel reports with the packets */
};

static struct timespec spec(int ms)
{
	return (struct timespec){ms / 1000, ms % 1000 * 1000000L};
}

static int by_poll(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN, .revents = 0x55};
	int r = poll(&p, 1, ms);

	assert_int_equal(p.revents, r ? POLLIN : 0);
	return r;
}

static int by_poll_rdnorm(int fd, int ms)
{
	struct pollfd p[3] = {{.fd = -1, .revents = 0x55},
			      {.fd = fd, .events = POLLRDNORM | POLLPRI},
			      {.fd = -7, .events = POLLIN}};
	int r = poll(p, 3, ms);

	assert_int_equal(p[0].revents, 0);
	assert_int_equal(p[1].revents, r ? POLLRDNORM : 0);
	assert_int_equal(p[2].revents, 0);
	return r;
}

static int by_poll_chk(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return __poll_chk(&p, 1, ms, sizeof(p));
}

static int by_ppoll(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct timespec t = spec(ms);
	sigset_t none;

	sigemptyset(&none);
	return ppoll(&p, 1, &t, &none);
}

static int by_raw_poll(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return (int)syscall(SYS_poll, &p, 1, ms);
}

static int by_raw_ppoll(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct timespec t = spec(ms);

	return (int)syscall(SYS_ppoll, &p, 1, &t, NULL, 8);
}

/* With another descriptor, which never becomes readable. */
static int by_poll_of_two(int fd, int ms)
{
	struct pollfd p[2] = {{.events = POLLIN}, {.fd = fd, .events = POLLIN}};
	int pipes[2], r;

	assert_int_equal(pipe(pipes), 0);
	p[0].fd = pipes[0];
	r = poll(p, 2, ms);
	assert_int_equal(p[0].revents, 0);
	assert_int_equal(p[1].revents, r ? POLLIN : 0);
	close(pipes[0]);
	close(pipes[1]);
	return r;
}

static int by_poll_of_many(int fd, int ms)
{
	struct pollfd p[20];
	int dups[20], r, n = 0;

	for (int i = 0; i < 20; i++) {
		dups[i] = dup(fd);
		p[i] = (struct pollfd){.fd = dups[i], .events = POLLIN};
	}
	r = poll(p, 20, ms);
	for (int i = 0; i < 20; i++) {
		n += p[i].revents == POLLIN;
		close(dups[i]);
	}
	assert_int_equal(r, n);
	return r ? 1 : 0;
}

static int by_select(int fd, int ms)
{
	struct timeval t = {ms / 1000, ms % 1000 * 1000};
	fd_set rd;
	int r;

	FD_ZERO(&rd);
	FD_SET(fd, &rd);
	r = select(fd + 1, &rd, NULL, NULL, &t);
	assert_int_equal(!!FD_ISSET(fd, &rd), r);
	return r;
}

/* The largest time-outs: of one that never ends nothing is left to calculate. */
static int by_select_for_ever(int fd, int ms)
{
	struct timeval t = ms == LONG_MS ? (struct timeval){LONG_MAX, 999999}
					 : (struct timeval){ms / 1000, ms % 1000 * 1000};
	fd_set rd;

	FD_ZERO(&rd);
	FD_SET(fd, &rd);
	return select(fd + 1, &rd, NULL, NULL, &t);
}

static int by_ppoll_for_ever(int fd, int ms)
{
	struct timespec t = ms == LONG_MS ? (struct timespec){LONG_MAX, 999999999} : spec(ms);
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return ppoll(&p, 1, &t, NULL);
}

/* getdtablesize() may be a million; the kernel reads no more than the process's table has. */
static int by_select_of_all(int fd, int ms)
{
	struct timeval t = {ms / 1000, ms % 1000 * 1000};
	uint8_t *end = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fd_set *rd = (fd_set *)(end + 4096 - sizeof(*rd));
	int r;

	assert_ptr_not_equal(end, MAP_FAILED);
	assert_int_equal(mprotect(end + 4096, 4096, PROT_NONE), 0);
	FD_SET(fd, rd);
	r = select(1 << 20, rd, NULL, NULL, &t);
	assert_int_equal(!!FD_ISSET(fd, rd), r);
	munmap(end, 8192);
	return r;
}

static int by_pselect(int fd, int ms)
{
	struct timespec t = spec(ms);
	fd_set rd;

	FD_ZERO(&rd);
	FD_SET(fd, &rd);
	return pselect(fd + 1, &rd, NULL, NULL, &t, NULL);
}

static int by_raw_select(int fd, int ms)
{
	struct timeval t = {ms / 1000, ms % 1000 * 1000};
	fd_set rd;

	FD_ZERO(&rd);
	FD_SET(fd, &rd);
	return (int)syscall(SYS_select, fd + 1, &rd, NULL, NULL, &t);
}

static int epoll_with(int fd, int ms, uint32_t events)
{
	struct epoll_event ev = {.events = events}, out;
	int ep = epoll_create1(EPOLL_CLOEXEC), r;

	assert_int_equal(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev), 0);
	r = epoll_wait(ep, &out, 1, ms);
	if (r)
		assert_int_equal(out.events, EPOLLIN);
	close(ep);
	return r;
}

static int by_epoll(int fd, int ms)
{
	return epoll_with(fd, ms, EPOLLIN);
}

static int by_epoll_edge(int fd, int ms)
{
	return epoll_with(fd, ms, EPOLLIN | EPOLLET);
}

/* Sets made before the packets arrive. */
static int old_set = -1, old_fd = -1;

static int by_old_epoll(int fd, int ms, uint32_t events)
{
	struct epoll_event ev = {.events = events}, out;

	if (old_fd != fd) {
		old_set = epoll_create1(EPOLL_CLOEXEC);
		old_fd = fd;
		assert_int_equal(epoll_ctl(old_set, EPOLL_CTL_ADD, fd, &ev), 0);
	}
	return epoll_wait(old_set, &out, 1, ms);
}

static int by_old_level(int fd, int ms)
{
	return by_old_epoll(fd, ms, EPOLLIN);
}

static int by_old_edge(int fd, int ms)
{
	return by_old_epoll(fd, ms, EPOLLIN | EPOLLET);
}

static int by_child(int fd, int ms)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(by_poll(fd, ms));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* A program without the library, which inherits the descriptor. */
static int by_stranger(int fd, int ms)
{
	static const char script[] = "import select, sys\n"
				     "p = select.poll()\n"
				     "p.register(int(sys.argv[1]), select.POLLIN)\n"
				     "sys.exit(len(p.poll(int(sys.argv[2]))))";
	char number[12], time[12], *env[] = {NULL};
	char *argv[] = {"python3", "-c", (char *)script, number, time, NULL};
	int status;
	pid_t pid;

	snprintf(number, sizeof(number), "%d", fd);
	snprintf(time, sizeof(time), "%d", ms);
	pid = fork();
	if (!pid) {
		fcntl(fd, F_SETFD, 0);
		execve("/usr/bin/python3", argv, env);
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int receive_fd(int sock)
{
	char ctl[CMSG_SPACE(sizeof(int))], c;
	struct iovec iov = {&c, 1};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = ctl,
			   .msg_controllen = sizeof(ctl)};
	int fd = -1;

	if (recvmsg(sock, &m, 0) == 1)
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

/* Another process gets the descriptor in a message and waits on it by `wait`. */
static int by_message_to(int fd, int ms, bool many, int (*wait)(int fd, int ms))
{
	char ctl[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec iov = {"x", 1};
	struct mmsghdr m = {.msg_hdr = {.msg_iov = &iov,
					.msg_iovlen = 1,
					.msg_control = ctl,
					.msg_controllen = sizeof(ctl)}};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m.msg_hdr);
	int sock[2], status;
	pid_t pid;

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sock), 0);
	pid = fork();
	if (!pid) {
		close(fd);
		fd = receive_fd(sock[1]);
		_exit(fd < 0 ? 99 : wait(fd, ms));
	}
	if (many)
		assert_int_equal(sendmmsg(sock[0], &m, 1, 0), 1);
	else
		assert_int_equal(sendmsg(sock[0], &m.msg_hdr, 0), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(sock[0]);
	close(sock[1]);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int by_message(int fd, int ms)
{
	return by_message_to(fd, ms, false, by_poll);
}

static int by_message_raw(int fd, int ms)
{
	return by_message_to(fd, ms, true, by_raw_poll);
}

static const struct way ways[] = {
	{"poll", by_poll, .wrapped = true},
	{"poll for POLLRDNORM among closed ones", by_poll_rdnorm, .wrapped = true},
	{"fortified poll", by_poll_chk, .wrapped = true},
	{"poll with another descriptor", by_poll_of_two, .wrapped = true},
	{"poll with many duplicates", by_poll_of_many},
	{"ppoll", by_ppoll, .wrapped = true},
	{"raw poll", by_raw_poll},
	{"raw ppoll", by_raw_ppoll},
	{"select", by_select, .wrapped = true},
	{"select for ever", by_select_for_ever, .wrapped = true},
	{"select of all", by_select_of_all},
	{"ppoll for ever", by_ppoll_for_ever, .wrapped = true},
	{"pselect", by_pselect, .wrapped = true},
	{"raw select", by_raw_select},
	{"epoll, level", by_epoll},
	{"epoll, edge", by_epoll_edge},
	{"epoll, level, added before", by_old_level},
	{"epoll, edge, added before", by_old_edge, true},
	{"poll in a fork child", by_child, .wrapped = true},
	{"poll in a program without the library", by_stranger},
	{"poll behind a message", by_message, .wrapped = true},
	{"raw poll behind a message", by_message_raw},
};

/* ---- origins of packets */

static int file(void)
{
	int fd = umad(0);

	agent(fd, 0, SMI, 0);
	old_fd = -1;
	return fd;
}

/* A request that is answered in the write itself. */
static void ask(int fd, uint8_t tid)
{
	struct packet p = mad(0, lid_of(0), SMI, GET, ATTR_NODE_INFO, tid);

	p.hdr.timeout_ms = LONG_MS;
	put(fd, &p);
}

static void level_is_that_of_the_queue(void **state)
{
	const struct way *w = *state;
	int fd = file();

	for (int round = 0; round < 2; round++) {
		assert_int_equal(w->wait(fd, 0), 0);
		ask(fd, 1);
		assert_int_equal(w->wait(fd, 0), 1);
		assert_int_equal(w->wait(fd, LONG_MS * !w->told_once), !w->told_once);
		ask(fd, 2);
		got(fd);
		/* Each packet is an edge: queue_packet() of user_mad.c wakes for each. */
		assert_int_equal(w->wait(fd, 0), 1);
		got(fd);
		assert_int_equal(w->wait(fd, 0), 0);
		assert_int_equal(w->wait(fd, 1), 0);
		nothing(fd);
	}
}

struct later {
	int fd;
	pthread_t thread;
};

static void pause_ms(int ms)
{
	struct timespec t = spec(ms);

	nanosleep(&t, NULL); /* how late the other thread comes: any time must do */
}

static void *ask_later(void *arg)
{
	struct later *l = arg;

	pause_ms(5); /* usually the waiter sleeps by then; both cases must work */
	ask(l->fd, 3);
	return NULL;
}

static void another_thread_wakes(void **state)
{
	const struct way *w = *state;
	struct later l = {.fd = file()};

	for (int round = 0; round < 3; round++) {
		w->wait(l.fd, 0);
		assert_int_equal(pthread_create(&l.thread, NULL, ask_later, &l), 0);
		assert_int_equal(w->wait(l.fd, LONG_MS), 1);
		assert_int_equal(pthread_join(l.thread, NULL), 0);
		got(l.fd);
		assert_int_equal(w->wait(l.fd, 0), 0);
	}
}

static void *late_byte_and_packet(void *arg)
{
	struct later *l = arg;

	pause_ms(5);
	assert_int_equal(sys_write(l->fd, "", 1), 1);
	return ask_later(l);
}

/*
 * A sender was stopped before it wrote its byte to the FIFO, and its packet was read meanwhile.
 * When the byte comes, no packet is reported.
 */
static void a_late_byte_is_no_packet(void **state)
{
	const struct way *w = *state;
	struct later l = {.fd = file()};

	for (int round = 0; round < 3; round++) {
		for (int ms = 0; ms < 2; ms++) {
			assert_int_equal(sys_write(l.fd, "", 1), 1);
			assert_int_equal(w->wait(l.fd, ms), 0);
		}
		nothing(l.fd);
		assert_int_equal(pthread_create(&l.thread, NULL, late_byte_and_packet, &l), 0);
		assert_int_equal(w->wait(l.fd, LONG_MS), 1);
		got(l.fd);
		assert_int_equal(pthread_join(l.thread, NULL), 0);
		assert_int_equal(w->wait(l.fd, 0), 0);
	}
}

/* Sets that the library cannot restore: 0 would say that the time is over, so the byte is told. */
static void a_late_byte_in_large_sets(void **state)
{
	const int n = 2 * FD_SETSIZE;
	fd_set rd[2];
	int fd = file();

	FD_ZERO(&rd[0]);
	FD_ZERO(&rd[1]);
	FD_SET(fd, &rd[0]);
	assert_int_equal(sys_write(fd, "", 1), 1);
	assert_int_equal(select(n, rd, NULL, NULL, NULL), 1);
	assert_true(FD_ISSET(fd, &rd[0]));
	nothing(fd);
	assert_int_equal(select(n, rd, NULL, NULL, &(struct timeval){0, 0}), 0);
}

static void select_refuses_a_bad_time(void **state)
{
	struct timeval bad[] = {{-1, 0}, {0, -1}};
	fd_set rd;
	int fd = file();

	FD_ZERO(&rd);
	FD_SET(fd, &rd);
	ask(fd, 3);
	assert_int_equal(by_poll(fd, LONG_MS), 1);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(select(fd + 1, &rd, NULL, NULL, &bad[i]), -1);
		assert_int_equal(errno, EINVAL);
	}
	got(fd);
}

static void another_process_wakes(void **state)
{
	const struct way *w = *state;
	struct later l = {.fd = file()};
	int status;
	pid_t pid;

	w->wait(l.fd, 0);
	pid = fork();
	if (!pid) {
		ask_later(&l);
		_exit(0);
	}
	assert_int_equal(w->wait(l.fd, LONG_MS), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	got(l.fd);
	assert_int_equal(w->wait(l.fd, 0), 0);
}

static void time_out_wakes(void **state)
{
	const struct way *w = *state;
	struct packet p = mad(0, 0xbff0, SMI, GET, ATTR_NODE_INFO, 4);
	int fd = file();

	p.hdr.timeout_ms = 5;
	w->wait(fd, 0);
	put(fd, &p);
	assert_int_equal(w->wait(fd, LONG_MS), 1);
	timed_out(fd, &p);
	assert_int_equal(w->wait(fd, 0), 0);
}

/* ---- several descriptors at once */

static void all_that_is_ready_is_told(void **state)
{
	struct pollfd p[4] = {{.events = POLLIN}, {.events = POLLIN | POLLOUT}, {.events = POLLIN}};
	fd_set rd, wr;
	int pipes[2], a = file(), b = file();
	struct timeval t = {0, 0};

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	p[0].fd = pipes[0];
	p[1].fd = a;
	p[2].fd = b;
	p[3] = (struct pollfd){.fd = 1000, .events = POLLIN};
	assert_int_equal(poll(p, 3, 0), 1);
	assert_int_equal(p[1].revents, POLLOUT);
	ask(a, 1);
	assert_int_equal(write(pipes[1], "x", 1), 1);
	assert_int_equal(poll(p, 4, -1), 3);
	assert_int_equal(p[0].revents, POLLIN);
	assert_int_equal(p[1].revents, POLLIN | POLLOUT);
	assert_int_equal(p[2].revents, 0);
	assert_int_equal(p[3].revents, POLLNVAL);
	FD_ZERO(&rd);
	FD_ZERO(&wr);
	FD_SET(pipes[0], &rd);
	FD_SET(a, &rd);
	FD_SET(b, &rd);
	FD_SET(a, &wr);
	assert_int_equal(select(200, &rd, &wr, NULL, &t), 3);
	assert_true(FD_ISSET(pipes[0], &rd) && FD_ISSET(a, &rd) && FD_ISSET(a, &wr));
	assert_false(FD_ISSET(b, &rd));
	close(pipes[0]);
	close(pipes[1]);
}

static void bad_arguments_fail(void **state)
{
	struct pollfd p = {.fd = file(), .events = POLLIN};
	struct timespec t = {0, -1};
	fd_set rd;

	(void)state;
	ask(p.fd, 1);
	assert_fails(poll(nowhere, 1, 0), EFAULT);
	FD_ZERO(&rd);
	FD_SET(p.fd, &rd);
	assert_fails(ppoll(&p, 1, &t, NULL), EINVAL);
	assert_fails(select(p.fd + 1, nowhere, NULL, NULL, NULL), EFAULT);
	assert_fails(select(-1, &rd, NULL, NULL, NULL), EINVAL);
	got(p.fd);
	assert_fails(ppoll(&p, 1, &t, NULL), EINVAL);
	t.tv_nsec = 0;
	assert_int_equal(ppoll(&p, 1, &t, NULL), 0);
}

/* ---- waiters that do not return */

static void *wait_for_ever(void *arg)
{
	by_poll(*(int *)arg, -1);
	return NULL;
}

static void a_cancelled_waiter_does_no_harm(void **state)
{
	int fd = file();
	pthread_t t;
	void *r;

	(void)state;
	assert_int_equal(pthread_create(&t, NULL, wait_for_ever, &fd), 0);
	pause_ms(2); /* cancelled in its wait or before it */
	assert_int_equal(pthread_cancel(t), 0);
	assert_int_equal(pthread_join(t, &r), 0);
	assert_true(r == PTHREAD_CANCELED);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(by_poll(fd, 0), 0);
		ask(fd, 1);
		assert_int_equal(by_poll(fd, -1), 1);
		got(fd);
	}
	assert_int_equal(umad_close(fd), 0);
}

static void a_killed_waiter_does_no_harm(void **state)
{
	int fd = file(), status;
	pid_t pid = fork();

	(void)state;
	if (!pid)
		_exit(by_poll(fd, -1));
	test_until_asleep(pid);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (ways[i].told_once)
			continue;
		ask(fd, 1);
		assert_int_equal(ways[i].wait(fd, LONG_MS), 1);
		got(fd);
		assert_int_equal(ways[i].wait(fd, 0), 0);
	}
}

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	(void)sig;
	interrupted = 1;
}

static void a_signal_ends_the_wait(void **state)
{
	const struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct sigaction was;
	struct pollfd p = {.fd = file(), .events = POLLIN};
	timer_t timer;
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct itimerspec at = {{0, 2000000}, {0, 2000000}}; /* the same if the signal comes late */

	(void)state;
	sigaction(SIGUSR1, &act, &was);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &ev, &timer), 0);
	timer_settime(timer, 0, &at, NULL);
	interrupted = 0;
	assert_fails(poll(&p, 1, LONG_MS), EINTR);
	assert_int_equal(interrupted, 1);
	timer_delete(timer);
	sigaction(SIGUSR1, &was, NULL);
	ask(p.fd, 1);
	assert_int_equal(by_poll(p.fd, 0), 1);
}

/* ---- a handler that forks: the child returns from the wait, too, and was never counted */

static volatile pid_t forked;

static void fork_in_handler(int sig)
{
	(void)sig;
	forked = fork();
}

static void forks_meanwhile(int fd, bool reads)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	pid_t me = getpid(), other = fork();
	int status;

	if (!other) {
		test_until_asleep(me);
		_exit(kill(me, SIGUSR1));
	}
	forked = -1;
	if (reads)
		status = (int)read(fd, &(struct packet){0}, sizeof(struct packet));
	else
		status = poll(&p, 1, LONG_MS);
	if (!forked)
		_exit(status == -1 && errno == EINTR ? 0 : 1);
	assert_true(status == -1 && errno == EINTR);
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_int_equal(status, 0);
	assert_int_equal(waitpid(forked, &status, 0), forked);
	assert_int_equal(status, 0);
}

static void a_fork_while_waiting_does_no_harm(void **state)
{
	const struct sigaction act = {.sa_handler = fork_in_handler};
	struct sigaction was;
	struct later l = {.fd = file()};

	(void)state;
	sigaction(SIGUSR1, &act, &was);
	fcntl(l.fd, F_SETFL, 0);
	for (int reads = 0; reads < 2; reads++) {
		forks_meanwhile(l.fd, reads);
		assert_int_equal(pthread_create(&l.thread, NULL, ask_later, &l), 0);
		if (!reads)
			assert_int_equal(by_poll(l.fd, LONG_MS), 1);
		got(l.fd);
		assert_int_equal(pthread_join(l.thread, NULL), 0);
	}
	sigaction(SIGUSR1, &was, NULL);
}

/* ---- handlers that use umad themselves, whatever call they interrupt */

static int asked_by_handler, answers, no_answers;

static void ask_in_handler(int sig)
{
	struct packet p = mad(0, 1, SMI, GET, ATTR_NODE_INFO, 7), in;

	(void)sig;
	p.hdr.timeout_ms = LONG_MS;
	if (write(asked_by_handler, &p, sizeof(p)) == sizeof(p) &&
	    by_poll(asked_by_handler, 0) == 1 &&
	    read(asked_by_handler, &in, sizeof(in)) == sizeof(in) && in.mad[15] == 7)
		answers++;
	else
		no_answers++;
}

static void handlers_may_ask_too(void **state)
{
	const struct sigaction act = {.sa_handler = ask_in_handler, .sa_flags = SA_RESTART};
	/* One signal for each turn: repeated ones would take a slow machine's whole time. */
	struct itimerspec at = {.it_value = {0, 50000}}, off = {{0}};
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
	struct sigaction was;
	timer_t timer;
	int fd = file();

	(void)state;
	asked_by_handler = file();
	answers = no_answers = 0;
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &ev, &timer), 0);
	for (int i = 0; i < 20000; i++) {
		if (i == 100) /* fork while other threads may be inside */
			sigaction(SIGUSR2, &act, &was);
		if (i >= 100) {
			at.it_value.tv_nsec = 500 + i % 100 * 500;
			timer_settime(timer, 0, &at, NULL);
		}
		ask(fd, 1);
		assert_int_equal(by_poll(fd, LONG_MS), 1);
		got(fd);
	}
	timer_settime(timer, 0, &off, NULL);
	timer_delete(timer);
	sigaction(SIGUSR2, &was, NULL);
	assert_true(answers > 0);
	assert_int_equal(no_answers, 0);
}

/* ---- many threads on one file: no packet is left to a sleeping thread */

#define TURNS 3000
static _Atomic int taken, to_take;

static void *take_them(void *arg)
{
	int fd = *(int *)arg;
	struct packet in;

	while (taken < to_take) {
		struct pollfd p[2] = {{.fd = fd, .events = POLLIN}, {.fd = -1}};

		if (poll(p, 1, 100) == 1 && read(fd, &in, sizeof(in)) == sizeof(in))
			taken++;
	}
	return NULL;
}

static void readers_and_writers_at_once(void **state)
{
	pthread_t t[3];
	int fd = file();

	(void)state;
	taken = 0;
	to_take = TURNS;
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&t[i], NULL, take_them, &fd), 0);
	for (int i = 0; i < TURNS; i++)
		ask(fd, (uint8_t)i);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_join(t[i], NULL), 0);
	assert_int_equal(taken, TURNS);
	assert_int_equal(by_poll(fd, 0), 0);
}

static void *take_each(void *arg)
{
	struct pollfd p = {.fd = *(int *)arg, .events = POLLIN};
	struct packet in;

	while (taken < to_take) {
		if (poll(&p, 1, HANGS) != 1) /* a lost wake-up */
			return arg;
		if (read(p.fd, &in, sizeof(in)) == sizeof(in))
			taken++;
	}
	return NULL;
}

/* One packet at a time, while the reader sleeps. */
static void every_packet_wakes(void **state)
{
	static int fd;
	pthread_t t;
	void *lost;

	(void)state;
	fd = file();
	taken = 0;
	to_take = 1000;
	assert_int_equal(pthread_create(&t, NULL, take_each, &fd), 0);
	for (int i = 0; i < 1000; i++) {
		long end = now_ms() + 2 * HANGS;

		ask(fd, (uint8_t)i);
		while (taken <= i && now_ms() < end)
			sched_yield();
	}
	assert_int_equal(pthread_join(t, &lost), 0);
	assert_null(lost);
}

int main(void)
{
	CASES(ways, level_is_that_of_the_queue);
	CASES(ways, another_thread_wakes);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (ways[i].wrapped)
			add_case(a_late_byte_is_no_packet, &ways[i], "%s, late byte", ways[i].name);
	CASES(ways, another_process_wakes);
	CASES(ways, time_out_wakes);
	CASE(a_late_byte_in_large_sets);
	CASE(select_refuses_a_bad_time);
	CASE(all_that_is_ready_is_told);
	CASE(bad_arguments_fail);
	CASE(a_cancelled_waiter_does_no_harm);
	CASE(a_killed_waiter_does_no_harm);
	CASE(a_signal_ends_the_wait);
	CASE(a_fork_while_waiting_does_no_harm);
	CASE(handlers_may_ask_too);
	CASE(readers_and_writers_at_once);
	CASE(every_packet_wakes);
	return run_cases("umad-wait");
}
