/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sockets of NETLINK_ROUTE. They are the kernel's. A request about an interface of the host
 * (nldev/rtnl.h) goes to the kernel as one that it refuses, and when the refusal is read, the
 * answer takes its place; in dumps our messages come before the kernel's NLMSG_DONE. Waiting,
 * limits, names and options are the kernel's; notifications of our interfaces come in that way,
 * too. A socket that is not in the table, or whose descriptor has another file by now, behaves as
 * without us.
 */
#ifndef SOFTHCA_SHIM_FILES_NLROUTE_H
#define SOFTHCA_SHIM_FILES_NLROUTE_H

#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include "shim/files/fdtab.h"

static inline bool rt_is(int fd)
{
	const struct shim_file *f = fdtab_peek(fd);

	return __builtin_expect(f != NULL, 0) && f->kind == SHIM_ROUTE;
}

/* socket(2) has made fd. */
void rt_opened(int fd);
void rt_ended(void *obj);
/* The socket has joined or left groups (nlnews.c): send it notifications of our interfaces. */
void rt_joined(int fd);
void rt_forked(void);

/*
 * Sleeps until there is something to read, or as long as the socket lets a caller sleep: a call
 * with MSG_PEEK and without a buffer. 0 or -errno.
 */
typedef int rt_sleep(int fd);
int rt_sleep_raw(int fd);

/*
 * These return false if the call shall go to the kernel unchanged; else *r is the result or -errno.
 */
bool rt_send(int fd, const struct msghdr *m, int flags, ssize_t *r);
bool rt_sendmmsg(int fd, struct mmsghdr *v, unsigned int n, int flags, ssize_t *r);
bool rt_recv(int fd, struct msghdr *m, int flags, rt_sleep *sleep, ssize_t *r);
bool rt_recvfrom(int fd, const struct iovec *v, int flags, struct sockaddr *a, socklen_t *len,
		 rt_sleep *sleep, ssize_t *r);
bool rt_recvmmsg(int fd, struct mmsghdr *v, unsigned int n, int flags, struct timespec *timeout,
		 rt_sleep *sleep, ssize_t *r);
bool rt_readv(int fd, const struct iovec *iov, int n, ssize_t *r);
bool rt_writev(int fd, const struct iovec *iov, int n, ssize_t *r);
/* The raw forms; the result as nl_syscall() gives it. */
long rt_syscall(long nr, const long a[6], bool *handled);

#endif
