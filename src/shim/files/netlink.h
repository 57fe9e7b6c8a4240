/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sockets of NETLINK_RDMA. The program has one end of a pair of UNIX sockets, so that poll, epoll,
 * dup, timeouts and flags are the kernel's; the other end is ours, and answers (src/nldev) go into
 * it in the thread that has sent the request. What does not fit waits here until the program reads.
 */
#ifndef SOFTHCA_SHIM_FILES_NETLINK_H
#define SOFTHCA_SHIM_FILES_NETLINK_H

#include <sys/socket.h>
#include <sys/uio.h>
#include "shim/files/fdtab.h"

/* Is fd such a socket? */
static inline bool nl_is(int fd)
{
	const struct shim_file *f = fdtab_peek(fd);

	return __builtin_expect(f != NULL, 0) && f->kind == SHIM_NETLINK;
}

/* Calls on such a socket: the result or -errno. Each finds the entry itself. */
int nl_socket(int type);
void nl_ended(void *obj);
ssize_t nl_sendmsg(int fd, const struct msghdr *m, int flags);
ssize_t nl_writev(int fd, const struct iovec *iov, int n);
ssize_t nl_readv(int fd, const struct iovec *iov, int n);
typedef ssize_t next_recvmsg(int fd, struct msghdr *m, int flags);
ssize_t nl_recvmsg(int fd, struct msghdr *m, int flags, next_recvmsg *next);
ssize_t nl_recvfrom(int fd, void *buf, size_t n, int flags, struct sockaddr *a, socklen_t *len);
int nl_sendmmsg(int fd, struct mmsghdr *v, unsigned int n, int flags);
int nl_recvmmsg(int fd, struct mmsghdr *v, unsigned int n, int flags, struct timespec *timeout);
int nl_bind(int fd, const struct sockaddr *a, socklen_t len);
int nl_connect(int fd, const struct sockaddr *a, socklen_t len);
int nl_getname(int fd, struct sockaddr *a, socklen_t *len, bool peer);
int nl_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
int nl_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
/* The raw forms: *handled is false when fd is not such a socket, or this is no call of sockets. */
long nl_syscall(long nr, const long a[6], bool *handled);

#endif
