/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* read(), poll() and sleeping, calls that these files refuse, and issm. */
#include "rows.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* A file with an agent that takes Send of VENDOR. */
static int server_of(int flags)
{
	int fd = umad_open(flags);

	agent(fd, VENDOR, M(SEND));
	return fd;
}

static int server(void)
{
	return server_of(O_RDWR | O_NONBLOCK);
}

/* Sends a MAD to that agent; no answer is expected. */
static void send_to_it(uint8_t tid)
{
	int fd = umad();
	struct packet p = mad(VENDOR, SEND, 0x99, tid);

	agent(fd, VENDOR, 0);
	put(fd, &p);
}

/* Brings a time-out into the file's queue: an agent of its own sends a request to nobody. */
static void time_out(int fd)
{
	struct packet p = mad(VENDOR + 1, SEND, 0x99, 9);

	p.hdr.id = (uint32_t)agent(fd, VENDOR, 0);
	p.hdr.timeout_ms = 1;
	put(fd, &p);
	await(fd);
}

/* ---- how much room read() needs */

enum what { EMPTY, A_MAD, TIME_OUT };

static void read_with(const char *name, enum what what, size_t count, size_t there)
{
	static uint8_t buf[4096];
	int fd;
	long n;

	row("read: %s, room for %zu bytes, %zd there", name, count, (ssize_t)there);
	fd = server();
	if (what == A_MAD)
		send_to_it(9);
	if (what == TIME_OUT)
		time_out(fd);
	settle();
	memset(buf, 0x5a, sizeof(buf));
	n = read(fd, there == SIZE_MAX ? buf : there ? at_the_end(there) : nowhere, count);
	if (n < 0)
		say_result("", n);
	else
		say("%ld", n);
	if (there == SIZE_MAX)
		for (size_t i = 0; n >= 0 && i < 64; i++)
			if (buf[(size_t)n + i] != 0x5a)
				say("a byte beyond");
	say_reads("then", fd);
}

static void room(void)
{
	static const struct {
		const char *name;
		enum what what;
		size_t len;
	} kinds[] = {{"nothing", EMPTY, HDR + MAD},
		     {"a MAD", A_MAD, HDR + MAD},
		     {"a time-out", TIME_OUT, HDR + MAD_HDR}};

	for (size_t i = 0; i < COUNT(kinds); i++) {
		const size_t l = kinds[i].len;
		const struct {
			size_t count, there;
		} ways[] = {{0, SIZE_MAX},
			    {1, SIZE_MAX},
			    {HDR_OLD, SIZE_MAX},
			    {HDR - 1, SIZE_MAX},
			    {HDR, SIZE_MAX},
			    {HDR + MAD_HDR - 1, SIZE_MAX},
			    {HDR + MAD_HDR, SIZE_MAX},
			    {l - 1, SIZE_MAX},
			    {l, SIZE_MAX},
			    {l + 1, SIZE_MAX},
			    {2 * l, SIZE_MAX},
			    {l - 1, 0},
			    {l, 0},
			    {l, HDR - 1},
			    {l, HDR},
			    {l, l - 1},
			    {l, l},
			    {2 * l, l}};

		for (size_t k = 0; k < COUNT(ways); k++)
			read_with(kinds[i].name, kinds[i].what, ways[k].count, ways[k].there);
	}
}

static void several(void)
{
	struct packet a, b, c;
	struct iovec each[] = {{&a, sizeof(a)}, {&b, sizeof(b)}, {&c, sizeof(c)}};
	struct iovec cut[] = {{&a.hdr, HDR}, {a.mad, MAD}};
	volatile size_t most = SIZE_MAX;
	int fd;

	row("read: first in, first out");
	fd = server();
	for (uint8_t i = 0; i < 20; i++)
		send_to_it(i);
	settle();
	say_reads("", fd);
	row("read: refused reads change no order");
	fd = server();
	send_to_it(1);
	send_to_it(2);
	settle();
	say_result("", read(fd, &a, HDR));
	say_result("", read(fd, nowhere, sizeof(a)));
	say_reads("", fd);
	row("read: a vector for each MAD");
	fd = server();
	send_to_it(1);
	send_to_it(2);
	settle();
	say("%zd %d %d", readv(fd, each, 3), a.mad[15], b.mad[15]);
	say_reads("", fd);
	row("read: two vectors for one MAD");
	fd = server();
	send_to_it(1);
	settle();
	say_result("", readv(fd, cut, 2));
	say_reads("", fd);
	row("read: a length of -1");
	fd = server();
	say_result("", read(fd, &a, most));
	row("read: a file for writing");
	say_result("", read(server_of(O_WRONLY), &a, sizeof(a)));
	row("read: MADs of an agent that is gone");
	fd = server();
	send_to_it(1);
	settle();
	say_result("", unreg(fd, 0));
	say_reads("", fd);
	row("read: a MAD that arrives after the agent is gone");
	fd = server();
	say_result("", unreg(fd, 0));
	send_to_it(1);
	settle();
	say_reads("", fd);
}

/* ---- poll() and its relatives */

static void events(const char *what, int fd)
{
	struct pollfd p = {.fd = fd,
			   .events = POLLIN | POLLOUT | POLLPRI | POLLRDNORM | POLLWRNORM |
				     POLLRDBAND | POLLWRBAND};

	say("%s%d:%#x", what, poll(&p, 1, 0), (unsigned int)p.revents);
}

static void polls(void)
{
	static const int ways[] = {O_RDONLY, O_WRONLY, O_RDWR};
	struct packet in;
	struct timeval none = {0};
	struct epoll_event ev = {.events = EPOLLIN | EPOLLOUT}, out = {0};
	fd_set r, w, e;
	int fd, ep;

	for (size_t i = 0; i < COUNT(ways); i++) {
		row("poll: access %d", ways[i]);
		fd = server_of(ways[i]);
		events("empty=", fd);
		send_to_it(1);
		send_to_it(2);
		settle();
		events("two=", fd);
		say_result("refused=", read(fd, &in, HDR));
		events("two=", fd);
		say("%zd", read(fd, &in, sizeof(in)));
		events("one=", fd);
		say("%zd", read(fd, &in, sizeof(in)));
		events("none=", fd);
	}
	row("poll: a time-out");
	fd = server();
	time_out(fd);
	events("", fd);
	row("select");
	fd = server();
	for (int i = 0; i < 2; i++) {
		FD_ZERO(&r);
		FD_SET(fd, &r);
		w = e = r;
		say("%d", select(fd + 1, &r, &w, &e, &none));
		say("%d%d%d", !!FD_ISSET(fd, &r), !!FD_ISSET(fd, &w), !!FD_ISSET(fd, &e));
		send_to_it(1);
		settle();
	}
	for (int edge = 0; edge < 2; edge++) {
		row("epoll%s", edge ? " with edges" : "");
		fd = server();
		ep = epoll_create1(EPOLL_CLOEXEC);
		ev.events = EPOLLIN | (edge ? EPOLLET : 0);
		say_result("", epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev));
		say("%d", epoll_wait(ep, &out, 1, 0));
		for (uint8_t i = 0; i < 2; i++) {
			send_to_it(i);
			settle();
			say("%d", epoll_wait(ep, &out, 1, 0));
			say("%d:%#x", epoll_wait(ep, &out, 1, 0), out.events);
		}
		say_reads("", fd);
		say("%d", epoll_wait(ep, &out, 1, 0));
		close(ep);
	}
}

/* ---- sleeping in read() */

static void ignore(int sig)
{
	(void)sig;
}

struct sleeper {
	int fd, signals;
	pthread_t reader;
	pid_t tid;
};

static void until_asleep(pid_t tid)
{
	char path[64], state = 'R';

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	while (state != 'S') {
		FILE *f = fopen(path, "r");

		if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
			state = 'R';
		if (f)
			fclose(f);
		usleep(1000); /* only polls: the loop ends when the thread sleeps */
	}
}

static void *wake(void *arg)
{
	const struct sleeper *s = arg;

	for (int i = 0; i < s->signals; i++) {
		until_asleep(s->tid);
		pthread_kill(s->reader, SIGUSR1);
	}
	until_asleep(s->tid);
	send_to_it(5);
	return NULL;
}

static void sleeps(void)
{
	static const struct {
		const char *name;
		int signals, flags;
	} ways[] = {{"a MAD wakes it", 0, 0},
		    {"a signal ends it", 1, 0},
		    {"signals with SA_RESTART do not", 3, SA_RESTART}};
	struct packet in, p;
	pthread_t t;
	int fd, on = 1;
	long n;

	for (size_t i = 0; i < COUNT(ways); i++) {
		struct sigaction act = {.sa_handler = ignore, .sa_flags = ways[i].flags};
		struct sleeper s = {
			.signals = ways[i].signals, .reader = pthread_self(), .tid = gettid()};

		row("a sleeping read: %s", ways[i].name);
		s.fd = server_of(O_RDWR);
		sigaction(SIGUSR1, &act, NULL);
		pthread_create(&t, NULL, wake, &s);
		n = read(s.fd, &in, sizeof(in));
		say_packet(&in, n);
		pthread_join(t, NULL);
		settle();
		fcntl(s.fd, F_SETFL, O_NONBLOCK);
		say_reads("then", s.fd);
	}
	row("a sleeping read: a time-out wakes it");
	fd = server_of(O_RDWR);
	p = mad(VENDOR + 1, SEND, 0x99, 9);
	p.hdr.timeout_ms = 20;
	put(fd, &p);
	say_packet(&in, read(fd, &in, sizeof(in)));
	row("O_NONBLOCK set, cleared and set by FIONBIO");
	fd = server_of(O_RDWR);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	say_result("", read(fd, &in, sizeof(in)));
	fcntl(fd, F_SETFL, 0);
	send_to_it(1);
	say_packet(&in, read(fd, &in, sizeof(in)));
	ioctl(fd, FIONBIO, &on);
	say_result("", read(fd, &in, sizeof(in)));
}

/* ---- other calls */

static void other_calls(void)
{
	uint8_t buf[HDR + MAD] = {0};
	struct stat st;
	int fd, dup_fd, status = 0;
	pid_t pid;

	row("other calls");
	fd = server();
	say_result("lseek=", lseek(fd, 0, SEEK_SET));
	say_result("lseek,cur=", lseek(fd, 5, SEEK_CUR));
	say_result("lseek,end=", lseek(fd, 0, SEEK_END));
	say_result("pread=", pread(fd, buf, sizeof(buf), 0));
	say_result("pwrite=", pwrite(fd, buf, sizeof(buf), 0));
	say_result("mmap=", mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0);
	say_result("fstat=", fstat(fd, &st));
	say("mode=%o", st.st_mode & S_IFMT);
	say_result("O_ASYNC=", fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK));
	row("a file that was duplicated, and the first closed");
	fd = server();
	dup_fd = dup(fd);
	umad_close(fd);
	send_to_it(1);
	settle();
	say_reads("", dup_fd);
	close(dup_fd);
	row("a child reads what the parent's agent gets");
	fd = server();
	send_to_it(1);
	settle();
	pid = fork();
	if (!pid)
		_exit(read(fd, buf, sizeof(buf)) == (ssize_t)sizeof(buf) ? buf[HDR + 15] : 77);
	waitpid(pid, &status, 0);
	say("%d", WEXITSTATUS(status));
	say_reads("", fd);
}

static void issm(void)
{
	static const char path[] = "/dev/infiniband/issm0";
	uint8_t buf[64] = {0};
	int fd, second;

	row("issm");
	fd = open(path, O_RDWR | O_CLOEXEC);
	say_result("", fd);
	second = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	say_result("second=", second);
	say_result("read=", read(fd, buf, sizeof(buf)));
	say_result("write=", write(fd, buf, sizeof(buf)));
	say_result("ioctl=", ioctl(fd, IB_USER_MAD_ENABLE_PKEY, NULL));
	say_result("lseek=", lseek(fd, 0, SEEK_SET));
	say_result("mmap=", mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0);
	events("poll=", fd);
	close(fd);
	second = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	say_result("again=", second);
	close(second);
}

void rows_of_files(void)
{
	room();
	several();
	polls();
	sleeps();
	other_calls();
	issm();
}
