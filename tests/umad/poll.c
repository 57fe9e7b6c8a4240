/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waiting for packets: ib_umad_poll(); and the file operations that exist and that do not:
 * umad_fops.
 */
#include "umad.h"

#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum { OUT = POLLOUT | POLLWRNORM, IN = POLLIN | POLLRDNORM };

static int client(void)
{
	int fd = umad(0);

	agent(fd, 1, PERF, 0);
	return fd;
}

static void ask(int fd)
{
	struct packet p = mad(1, lid_of(0), PERF, GET, 1, 1);

	put(fd, &p);
}

static short events(int fd, short wanted, int ms)
{
	struct pollfd p = {.fd = fd, .events = wanted};
	int n = poll(&p, 1, ms);

	assert_int_equal(n, p.revents != 0);
	return p.revents;
}

static void writable_always(void **state)
{
	int fd = umad(0);

	assert_int_equal(events(fd, OUT | IN, 0), OUT);
	assert_int_equal(events(umad_open(0, O_RDWR), OUT | IN, 0), OUT);
	agent(fd, 1, PERF, 0);
	ask(fd);
	assert_int_equal(events(fd, OUT | IN, 0), OUT | IN);
}

static void readable_with_a_packet(void **state)
{
	int fd = client();

	assert_int_equal(events(fd, IN, 0), 0);
	ask(fd);
	ask(fd);
	assert_int_equal(events(fd, IN, 0), IN);
	got(fd);
	assert_int_equal(events(fd, IN, 0), IN);
	got(fd);
	assert_int_equal(events(fd, IN, 0), 0);
}

static void readable_after_a_refused_read(void **state)
{
	struct packet in;
	int fd = client();

	ask(fd);
	assert_fails(read(fd, &in, HDR), EINVAL);
	assert_int_equal(events(fd, IN, 0), IN);
	assert_fails(read(fd, nowhere, sizeof(in)), EFAULT);
	assert_int_equal(events(fd, IN, 0), IN);
	got(fd);
	assert_int_equal(events(fd, IN, 0), 0);
}

static void a_time_out_while_polling(void **state)
{
	struct packet p = mad(1, 0xbfff, PERF, GET, 1, 1);
	int fd = client();

	put(fd, &p);
	assert_int_equal(events(fd, IN, HANGS), IN);
	timed_out(fd, &p);
	assert_int_equal(events(fd, IN, 0), 0);
}

static void only_the_file_that_has_one(void **state)
{
	struct pollfd p[2] = {{.fd = client(), .events = IN}, {.fd = client(), .events = IN}};

	ask(p[1].fd);
	assert_int_equal(poll(p, 2, 0), 1);
	assert_int_equal(p[0].revents, 0);
	assert_int_equal(p[1].revents, IN);
}

static void by_select(void **state)
{
	struct timeval none = {0};
	fd_set r, w, e;
	int fd = client();

	for (int i = 0; i < 2; i++) {
		FD_ZERO(&r);
		FD_SET(fd, &r);
		w = e = r;
		assert_int_equal(select(fd + 1, &r, &w, &e, &none), 1 + i);
		assert_int_equal(!!FD_ISSET(fd, &r), i);
		assert_true(FD_ISSET(fd, &w));
		assert_false(FD_ISSET(fd, &e));
		ask(fd);
	}
}

static int in_epoll(int fd, uint32_t wanted)
{
	struct epoll_event ev = {.events = wanted, .data.u64 = 77};
	int ep = epoll_create1(EPOLL_CLOEXEC);

	assert_int_equal(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev), 0);
	return ep;
}

static void by_epoll(void **state)
{
	int fd = client(), ep = in_epoll(fd, EPOLLIN);
	struct epoll_event ev;

	assert_int_equal(epoll_wait(ep, &ev, 1, 0), 0);
	ask(fd);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(epoll_wait(ep, &ev, 1, 0), 1);
		assert_int_equal(ev.events, EPOLLIN);
		assert_int_equal(ev.data.u64, 77);
	}
	got(fd);
	assert_int_equal(epoll_wait(ep, &ev, 1, 0), 0);
	close(ep);
}

/* epoll reports an edge when an empty queue gets a packet. */
static void by_epolls_edges(void **state)
{
	int fd = client(), ep = in_epoll(fd, EPOLLIN | EPOLLET);
	struct epoll_event ev;

	for (int i = 0; i < 3; i++) {
		ask(fd);
		assert_int_equal(epoll_wait(ep, &ev, 1, 0), 1);
		assert_int_equal(epoll_wait(ep, &ev, 1, 0), 0);
		got(fd);
		nothing(fd);
	}
	close(ep);
}

static void by_a_duplicate(void **state)
{
	int fd = client(), copy = dup(fd);

	ask(fd);
	assert_int_equal(events(copy, IN, 0), IN);
	got(copy);
	assert_int_equal(events(fd, IN, 0), 0);
	ask(copy);
	assert_int_equal(close(copy), 0);
	got(fd);
}

/* ---- umad_fops, stream_open() */

static void a_character_device(void **state)
{
	struct stat st;

	assert_int_equal(fstat(umad(1), &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(major(st.st_rdev), 231);
	assert_int_equal(minor(st.st_rdev), 1);
}

/* no_llseek, FMODE_STREAM */
static void without_places(void **state)
{
	uint8_t buf[HDR + MAD] = {0};
	int fd = client();

	assert_fails(lseek(fd, 0, SEEK_SET), ESPIPE);
	assert_fails(lseek(fd, 0, SEEK_CUR), ESPIPE);
	assert_fails(pread(fd, buf, sizeof(buf), 0), ESPIPE);
	assert_fails(pwrite(fd, buf, sizeof(buf), 0), ESPIPE);
}

static void without_mmap(void **state)
{
	errno = 0;
	assert_true(mmap(NULL, 4096, PROT_READ, MAP_SHARED, umad(0), 0) == MAP_FAILED);
	assert_int_equal(errno, ENODEV);
}

static void without_a_length(void **state)
{
	assert_fails(ftruncate(umad(0), 0), EINVAL);
	assert_fails(fsync(umad(0)), EINVAL);
}

static void a_number_that_is_not_there(void **state)
{
	assert_fails(open("/dev/infiniband/umad2", O_RDWR), ENOENT);
	assert_fails(open("/dev/infiniband/umad77", O_RDWR), ENOENT);
}

/* The mode of the open file: fcntl() */
static void its_flags(void **state)
{
	assert_int_equal(fcntl(umad_open(0, O_RDONLY), F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_int_equal(fcntl(umad_open(0, O_WRONLY), F_GETFL) & O_ACCMODE, O_WRONLY);
	assert_int_equal(fcntl(umad(0), F_GETFL) & (O_ACCMODE | O_NONBLOCK), O_RDWR | O_NONBLOCK);
	assert_int_equal(fcntl(umad(0), F_GETFD), FD_CLOEXEC);
}

int main(void)
{
	CASE(writable_always);
	CASE(readable_with_a_packet);
	CASE(readable_after_a_refused_read);
	CASE(a_time_out_while_polling);
	CASE(only_the_file_that_has_one);
	CASE(by_select);
	CASE(by_epoll);
	CASE(by_epolls_edges);
	CASE(by_a_duplicate);
	CASE(a_character_device);
	CASE(without_places);
	CASE(without_mmap);
	CASE(without_a_length);
	CASE(a_number_that_is_not_there);
	CASE(its_flags);
	return run_cases("poll");
}
