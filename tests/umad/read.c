/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The results of read(), the space that it needs, and the MADs that stay: ib_umad_read(),
 * copy_recv_mad(), copy_send_mad().
 */
#include "umad.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/uio.h>

/* ---- a row per rule: with an answer, a time-out, or nothing in the queue */

enum what { EMPTY, ANSWER, TIME_OUT };

struct row {
	const char *name, *rule;
	enum what what;
	size_t count;
	size_t there; /* number of mapped bytes; 0: all */
	int err;      /* 0: the whole packet is read */
	bool nowhere;
};

static const struct row rows[] = {
	{"nothing there, no room", "ib_umad_read: count < hdr_size first", EMPTY, 0, 0, EINVAL},
	{"nothing there, less than a header", "ib_umad_read: count < hdr_size first", EMPTY,
	 HDR - 1, 0, EINVAL},
	{"nothing there, room for a header", "ib_umad_read: O_NONBLOCK", EMPTY, HDR, 0, EAGAIN},
	{"nothing there", "ib_umad_read: O_NONBLOCK", EMPTY, HDR + MAD, 0, EAGAIN},
	{"nothing there, no memory", "ib_umad_read: O_NONBLOCK", EMPTY, HDR + MAD, 0, EAGAIN, true},
	{"no room", "ib_umad_read: count < hdr_size", ANSWER, 0, 0, EINVAL},
	{"less than a header", "ib_umad_read: count < hdr_size", ANSWER, HDR - 1, 0, EINVAL},
	{"room for a header", "copy_recv_mad", ANSWER, HDR, 0, EINVAL},
	{"room for a MAD's header", "copy_recv_mad", ANSWER, HDR + MAD_HDR, 0, EINVAL},
	{"a byte too little", "copy_recv_mad", ANSWER, HDR + MAD - 1, 0, EINVAL},
	{"a byte too little, no memory", "copy_recv_mad: room first", ANSWER, HDR + MAD - 1, 0,
	 EINVAL, true},
	{"no memory", "copy_recv_mad: copy_to_user", ANSWER, HDR + MAD, 0, EFAULT, true},
	{"memory for less than a header", "copy_recv_mad: copy_to_user", ANSWER, HDR + MAD, HDR - 1,
	 EFAULT},
	{"memory for a header", "copy_recv_mad: copy_to_user", ANSWER, HDR + MAD, HDR, EFAULT},
	{"memory for all but a byte", "copy_recv_mad: copy_to_user", ANSWER, HDR + MAD,
	 HDR + MAD - 1, EFAULT},
	{"just enough room", "copy_recv_mad", ANSWER, HDR + MAD, 0, 0},
	{"more room", "copy_recv_mad", ANSWER, 2 * (HDR + MAD), 0, 0},
	{"room for more than there is memory", "copy_recv_mad: as much as there is", ANSWER,
	 2 * (HDR + MAD), HDR + MAD, 0},
	{"a time-out, less than a header", "ib_umad_read: count < hdr_size", TIME_OUT, HDR - 1, 0,
	 EINVAL},
	{"a time-out, a byte too little", "copy_send_mad", TIME_OUT, HDR + MAD_HDR - 1, 0, EINVAL},
	{"a time-out, a byte too little, no memory", "copy_send_mad: room first", TIME_OUT,
	 HDR + MAD_HDR - 1, 0, EINVAL, true},
	{"a time-out, no memory", "copy_send_mad: copy_to_user", TIME_OUT, HDR + MAD, 0, EFAULT,
	 true},
	{"a time-out, memory for all but a byte", "copy_send_mad: copy_to_user", TIME_OUT,
	 HDR + MAD, HDR + MAD_HDR - 1, EFAULT},
	{"a time-out, just enough room", "copy_send_mad", TIME_OUT, HDR + MAD_HDR, 0, 0},
	{"a time-out, room for a MAD", "copy_send_mad", TIME_OUT, HDR + MAD, 0, 0},
	{"a time-out, room for more than there is memory", "copy_send_mad: as much as there is",
	 TIME_OUT, HDR + MAD, HDR + MAD_HDR, 0},
};

static void reading(void **state)
{
	const struct row *r = *state;
	uint8_t whole[2 * (HDR + MAD)], again[HDR + MAD], *to = whole;
	size_t len = HDR + (r->what == TIME_OUT ? MAD_HDR : MAD);
	uint16_t lid = r->what == TIME_OUT ? 0xbfff : lid_of(0);
	struct packet p = mad(1, lid, PERF, GET, 1, 9);
	int fd = umad(0), err;
	ssize_t n;

	agent(fd, 1, PERF, 0);
	p.hdr.timeout_ms = 1;
	if (r->what != EMPTY) {
		put(fd, &p);
		wait_readable(fd, HANGS);
	}
	memset(whole, 0x5a, sizeof(whole));
	if (r->there)
		to = memset(at_the_end(r->there), 0x5a, r->there);
	errno = 0;
	n = read(fd, r->nowhere ? nowhere : to, r->count);
	err = n < 0 ? errno : 0;
	if (err != r->err)
		fail_msg("%s (%s): errno %d, not %d", r->name, r->rule, err, r->err);
	if (!err) {
		assert_int_equal(n, len);
		assert_int_equal(to[HDR + 15], 9);
		if (!r->there) /* and not one byte more */
			for (size_t i = len; i < sizeof(whole); i++)
				assert_int_equal(whole[i], 0x5a);
	} else if (r->what != EMPTY) { /* the packet stays: ib_umad_read(), requeue */
		wait_readable(fd, 0);
		assert_int_equal(read(fd, again, sizeof(again)), len);
		assert_int_equal(again[HDR + 15], 9);
	}
	nothing(fd);
}

static void by_a_file_for_writing(void **state)
{
	uint8_t buf[HDR + MAD];

	assert_fails(read(umad_open(0, O_WRONLY), buf, sizeof(buf)), EBADF);
}

static void a_length_of_minus_one(void **state)
{
	volatile size_t count = SIZE_MAX;
	uint8_t buf[HDR + MAD];

	assert_fails(read(umad(0), buf, count), EFAULT); /* access_ok() */
}

/* ---- several packets */

static void ask(int fd, uint8_t tid)
{
	struct packet p = mad(1, lid_of(0), PERF, GET, 1, tid);

	put(fd, &p);
}

static void first_in_first_out(void **state)
{
	int fd = umad(0);

	agent(fd, 1, PERF, 0);
	for (uint8_t i = 0; i < 40; i++)
		ask(fd, i);
	for (uint8_t i = 0; i < 40; i++)
		assert_int_equal(got(fd).mad[15], i);
	nothing(fd);
}

/* A refused read() puts the packet back at the front. */
static void what_stays_stays_first(void **state)
{
	struct packet in;
	int fd = umad(0);

	agent(fd, 1, PERF, 0);
	ask(fd, 1);
	ask(fd, 2);
	assert_fails(read(fd, &in, HDR), EINVAL);
	assert_fails(read(fd, nowhere, sizeof(in)), EFAULT);
	assert_int_equal(got(fd).mad[15], 1);
	assert_int_equal(got(fd).mad[15], 2);
}

/* read_write.c, do_loop_readv_writev(): a packet for each vector, until one is not filled */
static void a_packet_per_vector(void **state)
{
	struct packet a, b, c;
	struct iovec v[] = {{&a, sizeof(a)}, {&b, sizeof(b)}, {&c, sizeof(c)}};
	int fd = umad(0);

	agent(fd, 1, PERF, 0);
	ask(fd, 1);
	ask(fd, 2);
	assert_int_equal(readv(fd, v, 3), 2 * sizeof(a));
	assert_int_equal(a.mad[15], 1);
	assert_int_equal(b.mad[15], 2);
	nothing(fd);
}

static void no_packet_in_two_vectors(void **state)
{
	struct packet a;
	struct iovec v[] = {{&a.hdr, HDR}, {a.mad, MAD}};
	int fd = umad(0);

	agent(fd, 1, PERF, 0);
	ask(fd, 1);
	assert_fails(readv(fd, v, 2), EINVAL);
	got(fd);
}

/* queue_packet(): the queue holds MAX_UMAD_RECV_LIST_SIZE and one more. */
static void two_hundred_thousand_and_one(void **state)
{
	int fd = umad(0);

	agent(fd, 1, PERF, 0);
	for (int i = 0; i < 200010; i++)
		ask(fd, (uint8_t)i);
	for (int i = 0; i < 200001; i++)
		assert_int_equal(got(fd).mad[15], (uint8_t)i);
	nothing(fd);
	ask(fd, 7);
	got(fd);
}

/* unregister_mad_agent(): packets that have arrived stay with the file. */
static void packets_of_an_agent_that_is_gone(void **state)
{
	int fd = umad(0), id;

	agent(fd, 1, PERF, 0);
	id = agent(fd, 1, PERF, 0);
	for (int i = 0; i < 2; i++) {
		struct packet p = mad(1, lid_of(0), PERF, GET, 1, 1);

		p.hdr.id = (uint32_t)id * (uint32_t)i;
		put(fd, &p);
	}
	assert_int_equal(unreg(fd, (uint32_t)id), 0);
	assert_int_equal(got(fd).hdr.id, 0);
	assert_int_equal(got(fd).hdr.id, id);
}

/* ---- waiting */

static int blocking(void)
{
	int fd = umad_open(0, O_RDWR);

	agent(fd, 1, PERF, 0);
	return fd;
}

static void waiting_for_a_time_out(void **state)
{
	struct packet p = mad(1, 0xbfff, PERF, GET, 1, 9), in;
	int fd = blocking();

	put(fd, &p);
	assert_int_equal(read(fd, &in, sizeof(in)), HDR + MAD_HDR);
	assert_int_equal(in.hdr.status, ETIMEDOUT);
}

static void *ask_later(void *fd)
{
	test_until_asleep(getpid()); /* the reader sleeps */
	ask(*(int *)fd, 3);
	return NULL;
}

static void waiting_for_another_thread(void **state)
{
	int fd = blocking();
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, ask_later, &fd), 0);
	assert_int_equal(got(fd).mad[15], 3);
	pthread_join(t, NULL);
}

static void ignore(int sig)
{
	(void)sig;
}

struct interrupted {
	int fd;
	pthread_t reader;
};

static void *interrupt(void *arg)
{
	const struct interrupted *i = arg;

	for (int n = 0; n < 3; n++) {
		test_until_asleep(getpid()); /* the reader sleeps */
		pthread_kill(i->reader, SIGUSR1);
	}
	test_until_asleep(getpid());
	ask(i->fd, 4);
	return NULL;
}

/* ERESTARTSYS: EINTR, or with SA_RESTART the read continues. */
static void by_a_signal(void **state)
{
	const struct sigaction *act = *state;
	struct interrupted i = {blocking(), pthread_self()};
	struct packet in;
	pthread_t t;
	ssize_t n;

	sigaction(SIGUSR1, act, NULL);
	assert_int_equal(pthread_create(&t, NULL, interrupt, &i), 0);
	errno = 0;
	n = read(i.fd, &in, sizeof(in));
	if (act->sa_flags & SA_RESTART) {
		assert_int_equal(n, sizeof(in));
	} else {
		assert_int_equal(n, -1);
		assert_int_equal(errno, EINTR);
	}
	pthread_join(t, NULL);
	signal(SIGUSR1, SIG_DFL);
}
static const struct sigaction once = {.sa_handler = ignore},
			      again_ = {.sa_handler = ignore, .sa_flags = SA_RESTART};

/* The flag belongs to the open file, and each read() checks it. */
static void o_nonblock_comes_and_goes(void **state)
{
	struct packet in;
	int fd = blocking(), on = 1;

	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	assert_fails(read(fd, &in, sizeof(in)), EAGAIN);
	assert_int_equal(fcntl(fd, F_SETFL, 0), 0);
	ask(fd, 1);
	got(fd);
	assert_int_equal(ioctl(fd, FIONBIO, &on), 0);
	assert_fails(read(fd, &in, sizeof(in)), EAGAIN);
}

int main(void)
{
	CASES(rows, reading);
	CASE(by_a_file_for_writing);
	CASE(a_length_of_minus_one);
	CASE(first_in_first_out);
	CASE(what_stays_stays_first);
	CASE(a_packet_per_vector);
	CASE(no_packet_in_two_vectors);
	if (!getenv("SOFTHCA_DOORBELL") || strcmp(getenv("SOFTHCA_DOORBELL"), "poll"))
		CASE(two_hundred_thousand_and_one); /* takes seconds, therefore not by default */
	CASE(packets_of_an_agent_that_is_gone);
	CASE(waiting_for_a_time_out);
	CASE(waiting_for_another_thread);
	add_case(by_a_signal, &once, "interrupted by a signal");
	add_case(by_a_signal, &again_, "going on after signals with SA_RESTART");
	CASE(o_nonblock_comes_and_goes);
	return run_cases("read");
}
