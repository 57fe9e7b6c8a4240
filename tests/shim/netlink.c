/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sockets of NETLINK_RDMA under `softhca run`: every call on them answers as on a netlink socket of
 * a kernel with RDMA, by libc's functions and by syscall(). Functions are found by name.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rdma_netlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define FN(name) ((__typeof__(&name))dlsym(RTLD_DEFAULT, #name))
#define assert_fails(call, err)                                                          \
	do {                                                                             \
		errno = 0;                                                               \
		if ((long)(call) != -1 || errno != (err))                                \
			fail_msg("%s: expected %s, got %s", #call, strerrorname_np(err), \
				 errno ? strerrorname_np(errno) : "success");            \
	} while (0)

typedef ssize_t recv_chk(int fd, void *buf, size_t n, size_t room, int flags);
typedef ssize_t recvfrom_chk(int fd, void *buf, size_t n, size_t room, int flags,
			     struct sockaddr *a, socklen_t *len);

static const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
static int fd;

static int setup(void **state)
{
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	return fd < 0;
}

static int teardown(void **state)
{
	return close(fd);
}

static struct nlmsghdr sys_get(uint32_t seq)
{
	return (struct nlmsghdr){.nlmsg_len = NLMSG_HDRLEN,
				 .nlmsg_type =
					 RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_GET),
				 .nlmsg_flags = NLM_F_REQUEST,
				 .nlmsg_seq = seq};
}

/* The next datagram is the answer to that request. */
static void check(const void *buf, ssize_t n, uint32_t seq)
{
	const struct nlmsghdr *h = buf;

	assert_true(n > (ssize_t)sizeof(*h));
	assert_int_equal(h->nlmsg_len, n);
	assert_int_equal(h->nlmsg_seq, seq);
	assert_int_equal(h->nlmsg_type, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_GET));
}

static void answered(uint32_t seq)
{
	_Alignas(8) char buf[4096];

	check(buf, recv(fd, buf, sizeof(buf), MSG_DONTWAIT), seq);
	assert_fails(recv(fd, buf, sizeof(buf), MSG_DONTWAIT), EAGAIN);
}

static void every_way_to_send(void **state)
{
	struct nlmsghdr q = sys_get(1);
	struct iovec v = {&q, sizeof(q)};
	struct mmsghdr m = {.msg_hdr = {.msg_name = (void *)&kernel,
					.msg_namelen = sizeof(kernel),
					.msg_iov = &v,
					.msg_iovlen = 1}};

	assert_int_equal(FN(send)(fd, &q, sizeof(q), 0), sizeof(q));
	answered(1);
	q.nlmsg_seq++;
	assert_int_equal(FN(sendto)(fd, &q, sizeof(q), 0, (void *)&kernel, sizeof(kernel)),
			 sizeof(q));
	answered(2);
	q.nlmsg_seq++;
	assert_int_equal(FN(sendmsg)(fd, &m.msg_hdr, 0), sizeof(q));
	answered(3);
	q.nlmsg_seq++;
	assert_int_equal(FN(sendmmsg)(fd, &m, 1, 0), 1);
	assert_int_equal(m.msg_len, sizeof(q));
	answered(4);
	q.nlmsg_seq++;
	assert_int_equal(write(fd, &q, sizeof(q)), sizeof(q));
	answered(5);
	q.nlmsg_seq++;
	assert_int_equal(writev(fd, &v, 1), sizeof(q));
	answered(6);
	q.nlmsg_seq++;
	assert_int_equal(syscall(SYS_sendto, fd, &q, sizeof(q), 0, &kernel, sizeof(kernel)),
			 sizeof(q));
	answered(7);
	q.nlmsg_seq++;
	assert_int_equal(syscall(SYS_sendmsg, fd, &m.msg_hdr, 0), sizeof(q));
	answered(8);
	q.nlmsg_seq++;
	assert_int_equal(syscall(SYS_write, fd, &q, sizeof(q)), sizeof(q));
	answered(9);
}

static void ask(uint32_t seq)
{
	struct nlmsghdr q = sys_get(seq);

	assert_int_equal(send(fd, &q, sizeof(q), 0), sizeof(q));
}

static void every_way_to_read(void **state)
{
	_Alignas(8) char buf[4096];
	struct sockaddr_nl a;
	socklen_t len = sizeof(a);
	struct iovec v = {buf, sizeof(buf)};
	struct mmsghdr m = {.msg_hdr = {.msg_name = &a, .msg_iov = &v, .msg_iovlen = 1}};
	recv_chk *chk = (recv_chk *)dlsym(RTLD_DEFAULT, "__recv_chk");
	recvfrom_chk *from_chk = (recvfrom_chk *)dlsym(RTLD_DEFAULT, "__recvfrom_chk");
	ssize_t n;

	ask(1);
	memset(&a, 0xff, sizeof(a));
	check(buf, FN(recvfrom)(fd, buf, sizeof(buf), 0, (void *)&a, &len), 1);
	assert_int_equal(len, sizeof(a));
	assert_memory_equal(&a, &kernel, sizeof(a));
	ask(2);
	check(buf, chk(fd, buf, sizeof(buf), sizeof(buf), 0), 2);
	ask(3);
	len = 2;
	check(buf, from_chk(fd, buf, sizeof(buf), sizeof(buf), 0, (void *)&a, &len), 3);
	assert_int_equal(len, sizeof(a));
	ask(4);
	check(buf, read(fd, buf, sizeof(buf)), 4);
	ask(5);
	check(buf, readv(fd, &v, 1), 5);
	ask(6);
	memset(&a, 0xff, sizeof(a));
	m.msg_hdr.msg_namelen = sizeof(a);
	/* as libnl finds the size of its buffer */
	v.iov_len = 0;
	n = recvmsg(fd, &m.msg_hdr, MSG_PEEK | MSG_TRUNC);
	assert_true(n > NLMSG_HDRLEN);
	assert_true(m.msg_hdr.msg_flags & MSG_TRUNC);
	v.iov_len = sizeof(buf);
	check(buf, recvmsg(fd, &m.msg_hdr, 0), 6);
	assert_int_equal(m.msg_hdr.msg_namelen, sizeof(a));
	assert_memory_equal(&a, &kernel, sizeof(a));
	ask(7);
	assert_int_equal(FN(recvmmsg)(fd, &m, 1, 0, NULL), 1);
	check(buf, m.msg_len, 7);
	ask(8);
	check(buf, syscall(SYS_recvfrom, fd, buf, sizeof(buf), 0, NULL, NULL), 8);
	ask(9);
	check(buf, syscall(SYS_recvmsg, fd, &m.msg_hdr, 0), 9);
}

static void names(void **state)
{
	struct sockaddr_nl a = {.nl_family = AF_NETLINK, .nl_pid = 12345}, got;
	socklen_t len = sizeof(got);
	int other = socket(AF_NETLINK, SOCK_DGRAM, NETLINK_RDMA);

	assert_true(other >= 0);
	assert_int_equal(FN(getsockname)(fd, (void *)&got, &len), 0);
	assert_int_equal(got.nl_family, AF_NETLINK);
	assert_int_equal(got.nl_pid, 0);
	assert_fails(FN(bind)(fd, (void *)&a, sizeof(a) - 1), EINVAL);
	assert_int_equal(bind(fd, (void *)&kernel, sizeof(kernel)), 0);
	assert_int_equal(getsockname(fd, (void *)&got, &len), 0);
	assert_int_equal(len, sizeof(got));
	assert_int_equal(got.nl_pid, getpid());
	assert_int_equal(bind(other, (void *)&a, sizeof(a)), 0);
	assert_fails(bind(fd, (void *)&a, sizeof(a)), EINVAL);
	close(other);
	other = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);
	a.nl_pid = (uint32_t)getpid();
	assert_fails(bind(other, (void *)&a, sizeof(a)), EADDRINUSE);
	assert_int_equal(FN(connect)(other, (void *)&kernel, sizeof(kernel)), 0);
	assert_int_equal(FN(getpeername)(other, (void *)&got, &len), 0);
	assert_int_equal(got.nl_pid, 0);
	assert_int_equal(getsockname(other, (void *)&got, &len), 0);
	assert_true((int32_t)got.nl_pid < 0);
	assert_fails(FN(listen)(other, 1), EOPNOTSUPP);
	assert_fails(FN(accept)(other, NULL, NULL), EOPNOTSUPP);
	assert_fails(FN(accept4)(other, NULL, NULL, 0), EOPNOTSUPP);
	assert_fails(FN(shutdown)(other, SHUT_RD), EOPNOTSUPP);
	close(other);
}

static void options(void **state)
{
	int v = 1, group = 4;
	socklen_t len = sizeof(v);

	assert_int_equal(FN(getsockopt)(fd, SOL_SOCKET, SO_DOMAIN, &v, &len), 0);
	assert_int_equal(v, AF_NETLINK);
	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &v, &len), 0);
	assert_int_equal(v, NETLINK_RDMA);
	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_TYPE, &v, &len), 0);
	assert_int_equal(v, SOCK_RAW);
	assert_int_equal(getsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &v, &len), 0);
	assert_int_equal(v, 0);
	v = 1;
	assert_int_equal(FN(setsockopt)(fd, SOL_NETLINK, NETLINK_EXT_ACK, &v, sizeof(v)), 0);
	v = 0;
	assert_int_equal(getsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &v, &len), 0);
	assert_int_equal(v, 1);
	assert_int_equal(setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(v)), 0);
	v = 32768;
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &v, sizeof(v)), 0);
	assert_fails(setsockopt(fd, SOL_NETLINK, 77, &v, sizeof(v)), ENOPROTOOPT);
	group = 33;
	assert_fails(setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(v)),
		     EINVAL);
}

static void refusals(void **state)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	struct nlmsghdr q = sys_get(1);

	assert_fails(socket(AF_NETLINK, SOCK_STREAM, NETLINK_RDMA), ESOCKTNOSUPPORT);
	assert_fails(send(fd, &q, sizeof(q), MSG_OOB), EOPNOTSUPP);
	assert_fails(send(fd, (void *)1, sizeof(q), 0), EFAULT);
	assert_fails(send(fd, &q, 1 << 20, 0), EMSGSIZE);
	assert_fails(sendto(fd, &q, sizeof(q), 0, (void *)&in, sizeof(in)), EINVAL);
	assert_fails(sendto(fd, &q, sizeof(q), 0, (void *)&kernel, 4), EINVAL);
	assert_fails(recv(fd, &q, sizeof(q), MSG_DONTWAIT), EAGAIN);
	assert_fails(lseek(fd, 0, SEEK_SET), ESPIPE);
}

/* dup, fork, poll and O_NONBLOCK are those of any socket. */
static void descriptors(void **state)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int copy = dup(fd), status;
	pid_t pid;

	assert_int_equal(poll(&p, 1, 0), 0);
	ask(1);
	assert_int_equal(poll(&p, 1, 0), 1);
	answered(1);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	fd = copy;
	ask(2);
	answered(2);
	pid = fork();
	if (!pid) {
		ask(3);
		answered(3);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	ask(4);
	answered(4);
}

/* A dump that the socket cannot hold goes on as the program reads. */
static void many_answers(void **state)
{
	_Alignas(8) char buf[4096];

	for (uint32_t i = 0; i < 1000; i++)
		ask(i);
	for (uint32_t i = 0; i < 1000; i++)
		check(buf, recv(fd, buf, sizeof(buf), MSG_DONTWAIT), i);
	assert_fails(recv(fd, buf, sizeof(buf), MSG_DONTWAIT), EAGAIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_way_to_send, setup, teardown),
		cmocka_unit_test_setup_teardown(every_way_to_read, setup, teardown),
		cmocka_unit_test_setup_teardown(names, setup, teardown),
		cmocka_unit_test_setup_teardown(options, setup, teardown),
		cmocka_unit_test_setup_teardown(refusals, setup, teardown),
		cmocka_unit_test_setup_teardown(descriptors, setup, teardown),
		cmocka_unit_test_setup_teardown(many_answers, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
