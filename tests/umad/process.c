/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes and threads: one registry for all of them; a file belongs to all holders of a
 * descriptor, and what it has is freed with the last of them: ib_umad_close().
 */
#include "umad.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>

static const struct reg get = {.qpn = 1, .mgmt_class = VENDOR, .version = 1, .methods = {1 << GET}};

/*
 * A child that runs `f`, which returns its exit status and writes a byte to `up` when it is ready.
 */
struct child {
	pid_t pid;
	int up[2];
};

static struct child spawn(int (*f)(int up, int arg), int arg)
{
	struct child c;
	char b;

	assert_int_equal(pipe(c.up), 0);
	c.pid = fork();
	assert_true(c.pid >= 0);
	if (!c.pid) {
		setenv("CMOCKA_TEST_ABORT", "1", 1); /* a failure in the child ends the child */
		close(c.up[0]);
		_exit(f(c.up[1], arg));
	}
	close(c.up[1]);
	assert_int_equal(read(c.up[0], &b, 1), 1);
	return c;
}

static void tell(int up)
{
	if (write(up, "", 1) != 1)
		_exit(99);
}

static void joined(struct child *c, int want)
{
	int status;

	assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
	assert_int_equal(status, want);
	close(c->up[0]);
}

/* ---- traffic between programs */

static int serve(int up, int n)
{
	int s = umad_open(1, O_RDWR);
	struct packet in;

	agent(s, 1, VENDOR, 1 << GET);
	tell(up);
	for (; n; n--) {
		if (read(s, &in, sizeof(in)) != sizeof(in) || in.hdr.lid != htons(lid_of(0)))
			return 1;
		in.mad[3] = GET_RESP;
		in.mad[100]++;
		/* First a transaction ID of no agent: it reaches nobody. */
		in.mad[12] ^= 0xff;
		put(s, &in);
		in.mad[12] ^= 0xff;
		put(s, &in);
	}
	return 0;
}

static void a_server(void **state)
{
	struct child c = spawn(serve, 100);
	struct packet p = mad(1, lid_of(1), VENDOR, GET, 0x99, 3);
	int fd = umad(0);

	agent(fd, 1, VENDOR, 0);
	p.hdr.timeout_ms = HANGS;
	for (int i = 0; i < 100; i++) {
		p.mad[100] = (uint8_t)i;
		put(fd, &p);
		assert_int_equal(waited(fd).mad[100], i + 1);
		nothing(fd);
	}
	joined(&c, 0);
}

/* A window of requests: every one is answered once. */
static void a_window(void **state)
{
	struct child c = spawn(serve, 200);
	bool seen[200] = {0};
	int fd = umad(0);

	agent(fd, 1, VENDOR, 0);
	for (int i = 0, k = 0; k < 200; k++) {
		uint8_t tid;

		for (; i < k + 16 && i < 200; i++) {
			struct packet p = mad(1, lid_of(1), VENDOR, GET, 0x99, (uint8_t)i);

			p.hdr.timeout_ms = HANGS;
			put(fd, &p);
		}
		tid = waited(fd).mad[15];
		assert_false(seen[tid]);
		seen[tid] = true;
	}
	nothing(fd);
	joined(&c, 0);
}

static int ask(int up, int own)
{
	int fd = umad_open(0, O_RDWR);

	agent(fd, 1, VENDOR, 0);
	tell(up);
	for (int i = 0; i < 50; i++) {
		struct packet p = mad(1, lid_of(1), VENDOR, GET, 0x99, (uint8_t)i), in;

		p.hdr.timeout_ms = HANGS;
		p.mad[101] = (uint8_t)own;
		put(fd, &p);
		if (read(fd, &in, sizeof(in)) != sizeof(in) || in.mad[101] != own ||
		    in.mad[15] != i)
			return 1;
	}
	return 0;
}

/* Clients with the same transaction IDs. */
static void several_clients(void **state)
{
	struct child s = spawn(serve, 4 * 50), c[4];

	for (int i = 0; i < 4; i++)
		c[i] = spawn(ask, i);
	for (int i = 0; i < 4; i++)
		joined(&c[i], 0);
	joined(&s, 0);
}

static void *thread(void *fd)
{
	return (void *)(intptr_t)reg2(*(int *)fd, &get);
}

/* Many threads register at once: no id and no method is given twice. */
static void threads_that_register(void **state)
{
	pthread_t t[8];
	void *id;
	int fd = umad(0), n = 0;

	for (int i = 0; i < 8; i++)
		assert_int_equal(pthread_create(&t[i], NULL, thread, &fd), 0);
	for (int i = 0; i < 8; i++) {
		pthread_join(t[i], &id);
		n += (intptr_t)id >= 0;
	}
	assert_int_equal(n, 1);
}

/* ---- a file of two processes */

static int child_registers(int up, int fd)
{
	int id = agent(fd, 1, PERF, 0);

	tell(up);
	return id == 1 ? 0 : 1;
}

static void agents_of_a_forked_file(void **state)
{
	struct packet p = mad(1, lid_of(0), PERF, GET, 1, 1);
	struct child c;
	int fd = umad(0);

	agent(fd, 1, PERF, 0);
	c = spawn(child_registers, fd);
	joined(&c, 0);
	p.hdr.id = 1; /* the id of the dead child's agent: it belongs to the file */
	put(fd, &p);
	assert_int_equal(got(fd).hdr.id, 1);
}

static int child_asks(int up, int fd)
{
	struct packet p = mad(1, lid_of(0), PERF, GET, 1, 9);

	put(fd, &p);
	tell(up);
	return 0;
}

static void packets_of_a_forked_file(void **state)
{
	struct child c;
	int fd = umad(0);

	agent(fd, 1, PERF, 0);
	c = spawn(child_asks, fd);
	assert_int_equal(got(fd).mad[15], 9);
	joined(&c, 0);
}

static int child_asks_nobody(int up, int fd)
{
	struct packet p = mad(1, 0xbfff, PERF, GET, 1, 9);

	p.hdr.timeout_ms = 30;
	put(fd, &p);
	tell(up);
	return 0;
}

/* A time-out comes even if the process that sent the MAD is gone. */
static void a_time_out_of_who_is_gone(void **state)
{
	struct packet p = mad(1, 0xbfff, PERF, GET, 1, 9);
	struct child c;
	int fd = umad(0);

	agent(fd, 1, PERF, 0);
	c = spawn(child_asks_nobody, fd);
	joined(&c, 0);
	timed_out(fd, &p);
}

static int child_closes(int up, int fd)
{
	close(fd);
	tell(up);
	return 0;
}

static void closed_by_one_of_two(void **state)
{
	struct packet p = mad(1, lid_of(0), PERF, GET, 1, 1);
	struct child c;
	int fd = umad(0);

	agent(fd, 1, PERF, 0);
	c = spawn(child_closes, fd);
	joined(&c, 0);
	put(fd, &p);
	got(fd);
}

static int child_keeps(int up, int fd)
{
	char b;

	tell(up);
	return read(fd, &b, 1) == 0 ? 0 : 1; /* wait until the parent has closed its end */
}

/* The file is closed by its last holder. */
static void closed_by_the_last(void **state)
{
	int fd = umad(0), other = umad(0), hold[2];
	struct child c;

	assert_int_equal(pipe(hold), 0);
	assert_int_equal(reg1(fd, &get), 0);
	c = spawn(child_keeps, hold[0]);
	umad_close(fd);
	assert_fails(reg1(other, &get), EINVAL);
	kill(c.pid, SIGKILL);
	joined(&c, SIGKILL);
	for (int i = 0; i < HANGS && reg1(other, &get) < 0; i++)
		poll(NULL, 0, 1);
	assert_fails(reg1(other, &get), EINVAL); /* now this agent has the methods */
	close(hold[0]);
	close(hold[1]);
}

/* ---- deaths */

/*
 * exit(2) closes files before wait(2) returns: the next process can register the same methods at
 * once.
 */
static void each_after_the_other(void **state)
{
	for (int i = 0; i < 100; i++) {
		pid_t pid = fork();
		int status;

		if (!pid) {
			int fd = open("/dev/infiniband/umad0", O_RDWR);

			_exit(reg1(fd, &get));
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

static int child_registers_and_stays(int up, int n)
{
	for (; n; n--) {
		int fd = umad(0);

		if (n == 1 && reg1(fd, &get) < 0)
			return 1;
		for (int i = 1; i < 32; i++)
			agent(fd, 1, VENDOR, 0);
	}
	tell(up);
	pause();
	return 0;
}

static void a_killed_one_leaves_no_agent(void **state)
{
	struct child c = spawn(child_registers_and_stays, 8);
	int fd = umad(0);

	assert_fails(reg1(fd, &get), EINVAL);
	kill(c.pid, SIGKILL);
	joined(&c, SIGKILL);
	for (int i = 0; i < HANGS && reg1(fd, &get) < 0; i++)
		poll(NULL, 0, 1);
	assert_fails(reg1(fd, &get), EINVAL); /* now this agent has the methods */
}

static int child_asks_for_ever(int up, int n)
{
	int fd = umad(0);

	agent(fd, 1, VENDOR, 0);
	for (; n; n--) {
		struct packet p = mad(1, lid_of(1), VENDOR, GET, 0x99, (uint8_t)n);

		p.hdr.timeout_ms = UINT32_MAX;
		put(fd, &p);
	}
	tell(up);
	pause();
	return 0;
}

/* A client is killed while its requests are at the server: the answers find no receiver. */
static void a_killed_clients_answers(void **state)
{
	int s = umad(1);
	struct child c;
	struct packet in;

	agent(s, 1, VENDOR, 1 << GET);
	c = spawn(child_asks_for_ever, 20);
	kill(c.pid, SIGKILL);
	joined(&c, SIGKILL);
	for (int i = 0; i < 20; i++) {
		in = got(s);
		in.mad[3] = GET_RESP;
		put(s, &in);
	}
	nothing(s);
}

static int child_serves_badly(int up, int n)
{
	agent(umad(1), 1, VENDOR, 1 << GET);
	tell(up);
	pause();
	return n;
}

/* A server that does not read delays no writer; when it is killed its requests end. */
static void a_stopped_server(void **state)
{
	struct child c = spawn(child_serves_badly, 0);
	struct packet p = mad(1, lid_of(1), VENDOR, GET, 0x99, 1);
	int fd = umad(0);

	agent(fd, 1, VENDOR, 0);
	kill(c.pid, SIGSTOP);
	for (int i = 0; i < 50; i++) {
		p.mad[15] = (uint8_t)i;
		p.hdr.timeout_ms = 1;
		put(fd, &p);
		timed_out(fd, &p);
	}
	kill(c.pid, SIGKILL);
	joined(&c, SIGKILL);
	/* No agent is registered: the port refuses it. */
	for (int i = 0; i < HANGS; i++) {
		struct packet in;

		put(fd, &p);
		wait_readable(fd, HANGS);
		if (read(fd, &in, sizeof(in)) == sizeof(in)) {
			assert_int_equal(get16(in.mad + 4), BAD_ATTR);
			return;
		}
	}
	fail();
}

/* ---- a file that came over a socket: unix(7), SCM_RIGHTS */

static int pass(int sock, int fd)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} u = {0};
	struct iovec v = {(char[]){0}, 1};
	struct msghdr m = {.msg_iov = &v,
			   .msg_iovlen = 1,
			   .msg_control = u.buf,
			   .msg_controllen = sizeof(u.buf)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	if (fd < 0) {
		if (recvmsg(sock, &m, 0) != 1)
			return -1;
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
		return fd;
	}
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(sock, &m, 0) == 1 ? 0 : -1;
}

static int child_passes(int up, int sock)
{
	int fd = umad(0);

	agent(fd, 1, PERF, 0);
	if (pass(sock, fd))
		return 1;
	tell(up);
	return 0;
}

static void a_file_that_was_passed(void **state)
{
	struct packet p = mad(1, lid_of(0), PERF, GET, 1, 5);
	int sock[2], fd;
	struct child c;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sock), 0);
	c = spawn(child_passes, sock[1]);
	fd = pass(sock[0], -1);
	joined(&c, 0);
	put(fd, &p);
	assert_int_equal(got(fd).mad[15], 5);
	assert_int_equal(agent(fd, 1, PERF, 0), 1);
	close(fd);
	close(sock[0]);
	close(sock[1]);
}

/* ---- everything is freed: more sends than there is space for, ended in each of two ways */

static void put_64(int fd)
{
	struct packet p = mad(1, 0xbfff, VENDOR, GET, 0x99, 0);

	p.hdr.timeout_ms = UINT32_MAX;
	assert_int_equal(agent(fd, 1, VENDOR, 0), 0);
	for (int i = 0; i < 64; i++) {
		p.mad[15] = (uint8_t)i;
		put(fd, &p);
	}
}

static void sends_of_agents_that_are_gone(void **state)
{
	int fd = umad(0);

	for (int i = 0; i < 1100; i++) {
		put_64(fd);
		assert_int_equal(unreg(fd, 0), 0);
	}
}

static void sends_of_files_that_are_closed(void **state)
{
	for (int i = 0; i < 1100; i++) {
		int fd = umad(0);

		put_64(fd);
		umad_close(fd);
	}
}

int main(void)
{
	CASE(a_server);
	CASE(a_window);
	CASE(several_clients);
	CASE(threads_that_register);
	CASE(agents_of_a_forked_file);
	CASE(packets_of_a_forked_file);
	CASE(a_time_out_of_who_is_gone);
	CASE(closed_by_one_of_two);
	CASE(closed_by_the_last);
	CASE(each_after_the_other);
	CASE(a_killed_one_leaves_no_agent);
	CASE(a_killed_clients_answers);
	CASE(a_stopped_server);
	CASE(a_file_that_was_passed);
	CASE(sends_of_agents_that_are_gone);
	CASE(sends_of_files_that_are_closed);
	return run_cases("process");
}
