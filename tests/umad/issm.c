/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * issm: one open file for each port, which makes that port a subnet manager's. The rules are those
 * of ib_umad_sm_open(), ib_umad_sm_close() and umad_sm_fops in user_mad.c.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/wait.h>
#include "umad.h"

/* Not the first port: the built-in subnet manager has IsSM set there. */
#define PORT 1
#define ISSM "/dev/infiniband/issm1"
#define OTHER "/dev/infiniband/issm0"
#define IS_SM 2u

static uint32_t sysfs_cap(unsigned int n)
{
	char path[80], buf[20] = "";
	int fd;

	snprintf(path, sizeof(path), "/sys/class/infiniband/mlx5_%u/ports/1/cap_mask", n);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	assert_true(read(fd, buf, sizeof(buf) - 1) > 0);
	close(fd);
	return (uint32_t)strtoul(buf, NULL, 0);
}

/* SubnGet(PortInfo) */
static uint32_t mad_cap(unsigned int n)
{
	struct packet p = mad(0, lid_of(n), SMI, GET, 0x15, 1);
	int fd = umad(n);

	agent(fd, 0, SMI, 0);
	put(fd, &p);
	p = waited(fd);
	umad_close(fd);
	return (uint32_t)get64(p.mad + 64 + 16);
}

static uint32_t cap(unsigned int n)
{
	uint32_t c = sysfs_cap(n);

	assert_int_equal(mad_cap(n), c);
	return c;
}

static int open_sm(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void is_sm_while_open(void **state)
{
	uint32_t was = cap(PORT);
	int fd;

	assert_false(was & IS_SM);
	fd = open_sm(ISSM, O_RDONLY | O_NONBLOCK); /* opened as OpenSM does */
	assert_int_equal(cap(PORT), was | IS_SM);
	close(fd);
	assert_int_equal(cap(PORT), was);
}

/* down_trylock() */
static void a_second_open_is_refused(void **state)
{
	static const int flags[] = {O_RDONLY, O_WRONLY, O_RDWR, O_RDWR | O_SYNC};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		int fd = open_sm(ISSM, flags[i]), other;

		assert_fails(open(ISSM, O_RDONLY | O_NONBLOCK), EAGAIN);
		assert_fails(open(ISSM, O_RDWR | O_NONBLOCK), EAGAIN);
		assert_fails(openat(AT_FDCWD, ISSM, O_RDWR | O_NONBLOCK), EAGAIN);
		other = open_sm(OTHER, O_RDWR | O_NONBLOCK); /* the other port's file */
		close(other);
		assert_int_equal(cap(PORT) & IS_SM, IS_SM);
		close(fd);
		assert_int_equal(cap(PORT) & IS_SM, 0);
	}
}

/* Opened repeatedly: nothing is left. */
static void many_times(void **state)
{
	for (int i = 0; i < 300; i++)
		close(open_sm(ISSM, O_RDONLY | O_NONBLOCK));
	assert_int_equal(cap(PORT) & IS_SM, 0);
}

static void by_fopen(void **state)
{
	FILE *f = fopen(ISSM, "r");

	assert_non_null(f);
	assert_fails(open(ISSM, O_RDONLY | O_NONBLOCK), EAGAIN);
	fclose(f);
	close(open_sm(ISSM, O_RDONLY | O_NONBLOCK));
}

static void by_the_device_number(void **state)
{
	int fd = open_sm("/dev/char/231:65", O_RDWR);
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(st.st_rdev, makedev(231, 65));
	assert_fails(open(ISSM, O_RDONLY | O_NONBLOCK), EAGAIN);
	close(fd);
}

/* umad_sm_fops has no other methods. */
static void what_it_cannot(void **state)
{
	struct epoll_event ev = {.events = EPOLLIN};
	struct pollfd p = {.events = POLLIN | POLLOUT};
	int fd = open_sm(ISSM, O_RDWR), ep = epoll_create1(EPOLL_CLOEXEC);
	char c = 0;

	p.fd = fd;
	assert_fails(read(fd, &c, 1), EINVAL);
	assert_fails(write(fd, &c, 1), EINVAL);
	assert_fails(ioctl(fd, IB_USER_MAD_ENABLE_PKEY, NULL), ENOTTY);
	assert_fails(lseek(fd, 0, SEEK_SET), ESPIPE);
	assert_fails(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev), EPERM);
	assert_int_equal(poll(&p, 1, 0), 1);
	assert_int_equal(p.revents, POLLIN | POLLOUT);
	assert_true(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED);
	assert_int_equal(errno, ENODEV);
	close(fd);
	fd = open_sm(ISSM, O_RDONLY);
	assert_fails(write(fd, &c, 1), EBADF);
	close(fd);
	fd = open_sm(ISSM, O_WRONLY);
	assert_fails(read(fd, &c, 1), EBADF);
	close(fd);
	close(ep);
}

/* The open file counts, not the descriptor. */
static void dup_keeps_it(void **state)
{
	int fd = open_sm(ISSM, O_RDONLY), other = dup(fd);

	close(fd);
	assert_fails(open(ISSM, O_RDONLY | O_NONBLOCK), EAGAIN);
	assert_int_equal(cap(PORT) & IS_SM, IS_SM);
	close(other);
	assert_int_equal(cap(PORT) & IS_SM, 0);
}

static void wait_cleared(void)
{
	for (int i = 0; i < HANGS && (sysfs_cap(PORT) & IS_SM); i++)
		poll(NULL, 0, 1);
	assert_int_equal(cap(PORT) & IS_SM, 0);
}

static void a_child_keeps_it(void **state)
{
	int fd = open_sm(ISSM, O_RDONLY), go[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (!pid) {
		close(go[1]);
		_exit(read(go[0], &c, 1) != 0);
	}
	close(fd);
	assert_fails(open(ISSM, O_RDONLY | O_NONBLOCK), EAGAIN);
	close(go[1]);
	close(go[0]);
	waitpid(pid, NULL, 0);
	wait_cleared();
}

/* The kernel closes a killed process's files at once. */
static void death_gives_it_back(void **state)
{
	int up[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(up), 0);
	pid = fork();
	if (!pid) {
		if (open(ISSM, O_RDONLY | O_NONBLOCK) < 0 || write(up[1], "", 1) != 1)
			_exit(1);
		pause();
	}
	assert_int_equal(read(up[0], &c, 1), 1);
	assert_int_equal(cap(PORT) & IS_SM, IS_SM);
	assert_fails(open(ISSM, O_RDONLY | O_NONBLOCK), EAGAIN);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(open_sm(ISSM, O_RDONLY | O_NONBLOCK));
	wait_cleared();
	close(up[0]);
	close(up[1]);
}

/* down_interruptible() */
static void a_blocking_open_waits(void **state)
{
	int fd = open_sm(ISSM, O_RDONLY), up[2], status;
	pid_t pid;
	char c;

	assert_int_equal(pipe(up), 0);
	pid = fork();
	if (!pid) {
		close(fd);
		fd = open(ISSM, O_RDONLY);
		if (fd < 0 || write(up[1], "", 1) != 1)
			_exit(1);
		_exit(0);
	}
	assert_int_equal(poll(&(struct pollfd){.fd = up[0], .events = POLLIN}, 1, 100), 0);
	close(fd);
	assert_int_equal(read(up[0], &c, 1), 1);
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	wait_cleared();
	close(up[0]);
	close(up[1]);
}

/* Waiters get it one after another, each alone, however the holder ends. */
static void many_wait(void **state)
{
	enum { N = 8 };
	volatile int *inside =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pids[N];
	int status;

	for (int i = 0; i < N; i++) {
		pids[i] = fork();
		if (pids[i])
			continue;
		for (int k = 0; k < 5; k++) {
			int fd = open(ISSM, O_RDONLY);

			if (fd < 0 || __atomic_add_fetch(inside, 1, __ATOMIC_SEQ_CST) != 1)
				_exit(1);
			poll(NULL, 0, 1);
			__atomic_sub_fetch(inside, 1, __ATOMIC_SEQ_CST);
			if (k < 4 || i % 2) /* the other half die with the file open */
				close(fd);
		}
		_exit(0);
	}
	for (int i = 0; i < N; i++) {
		waitpid(pids[i], &status, 0);
		assert_int_equal(status, 0);
	}
	munmap((void *)inside, 4096);
	wait_cleared();
}

static volatile int *alarms; /* in memory that both processes share */
static void on_alarm(int sig)
{
	__atomic_add_fetch(alarms, 1, __ATOMIC_SEQ_CST);
}

/* -ERESTARTSYS: a handler without SA_RESTART ends the wait, one with it does not. */
static void signals_end_the_wait(void **state)
{
	const struct itimerval tick = {{.tv_usec = 20000}, {.tv_usec = 20000}}, none = {0};
	struct sigaction sa = {.sa_handler = on_alarm}, old;
	int fd = open_sm(ISSM, O_RDONLY), status;
	pid_t pid;

	alarms = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(alarms != MAP_FAILED);
	sigaction(SIGALRM, &sa, &old);
	setitimer(ITIMER_REAL, &tick, NULL); /* repeatedly: some signals come during the wait */
	assert_fails(open(ISSM, O_RDONLY), EINTR);
	setitimer(ITIMER_REAL, &none, NULL);
	assert_true(*alarms > 0);
	sigaction(SIGALRM, &old, NULL);
	*alarms = 0;
	pid = fork();
	if (!pid) {
		close(fd);
		sa.sa_flags = SA_RESTART;
		sigaction(SIGALRM, &sa, NULL);
		setitimer(ITIMER_REAL, &tick, NULL);
		_exit(open(ISSM, O_RDONLY) < 0);
	}
	while (*alarms < 10)
		poll(NULL, 0, 1);
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	close(fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	wait_cleared();
	munmap((void *)alarms, 4096);
}

/* A descriptor that was passed refers to the same file. */
static void over_a_socket(void **state)
{
	int sv[2], fd = open_sm(ISSM, O_RDONLY), status, go[2];
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int))];
	} c = {0};
	char b = 0;
	struct iovec v = {&b, 1};
	struct msghdr h = {
		.msg_iov = &v, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c)};
	pid_t pid;

	assert_int_equal(pipe(go), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sv), 0);
	pid = fork();
	if (!pid) {
		close(fd);
		close(go[1]);
		if (recvmsg(sv[1], &h, 0) != 1)
			_exit(1);
		_exit(read(go[0], &b, 1) != 0);
	}
	CMSG_FIRSTHDR(&h)->cmsg_level = SOL_SOCKET;
	CMSG_FIRSTHDR(&h)->cmsg_type = SCM_RIGHTS;
	CMSG_FIRSTHDR(&h)->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(CMSG_FIRSTHDR(&h)), &fd, sizeof(int));
	assert_int_equal(sendmsg(sv[0], &h, 0), 1);
	close(fd);
	assert_fails(open(ISSM, O_RDONLY | O_NONBLOCK), EAGAIN);
	close(go[1]);
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	wait_cleared();
	close(go[0]);
	close(sv[0]);
	close(sv[1]);
}

/* The file stays open over exec. */
static void over_exec(void **state)
{
	int fd = open(ISSM, O_RDONLY), status;
	char script[160];
	pid_t pid;

	assert_true(fd >= 0);
	snprintf(script, sizeof(script), "read x <&%d && exit 1; exec %d<&-", fd, fd);
	pid = fork();
	if (!pid) {
		execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	assert_int_equal(cap(PORT) & IS_SM, IS_SM);
	close(fd);
	wait_cleared();
}

int main(void)
{
	CASE(is_sm_while_open);
	CASE(a_second_open_is_refused);
	CASE(many_times);
	CASE(by_fopen);
	CASE(by_the_device_number);
	CASE(what_it_cannot);
	CASE(dup_keeps_it);
	CASE(a_child_keeps_it);
	CASE(death_gives_it_back);
	CASE(a_blocking_open_waits);
	CASE(many_wait);
	CASE(signals_end_the_wait);
	CASE(over_a_socket);
	CASE(over_exec);
	return run_cases("umad-issm");
}
