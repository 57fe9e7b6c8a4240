/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the wrappers of calls on sockets: those of NETLINK_RDMA are answered here (netlink.c),
 * answers on those of NETLINK_ROUTE are completed (nlroute.c), all others pass, at the cost of two
 * loads.
 */
#include "shim/adopt.h"
#include "shim/files/netlink.h"
#include "shim/files/nlroute.h"
#include "shim/refused.h"
#include "shim/shim.h"
#include "shim/files/paths.h"
#include "shim/net/net.h"
#include "shim/wrap.h"

#include <errno.h>
#include <linux/netlink.h>

static ssize_t result(ssize_t r)
{
	if (r >= 0)
		return r;
	errno = (int)-r;
	return -1;
}

#define WRAP_SOCKET(ret, name, params, args, ours)   \
	WRAP(ret, name, params)                      \
	{                                            \
		int saved;                           \
		ret r;                               \
                                                     \
		if (__builtin_expect(!nl_is(fd), 1)) \
			return NEXT(name) args;      \
		saved = errno;                       \
		r = (ret)result(ours);               \
		if (r >= 0)                          \
			errno = saved;               \
		return r;                            \
	}

/*
 * Calls that move data are ours on sockets of NETLINK_ROUTE, too. `route` is false, or sets r: see
 * nlroute.h.
 */
#define SOCKET_DATA(ours, route, next)                                     \
	({                                                                 \
		int saved = errno;                                         \
		ssize_t r;                                                 \
                                                                           \
		r = nl_is(fd) ? result(ours) : (route) ? result(r) : next; \
		if (r >= 0)                                                \
			errno = saved;                                     \
		r;                                                         \
	})

#define WRAP_DATA(name, params, args, ours, route)                  \
	WRAP(ssize_t, name, params)                                 \
	{                                                           \
		if (__builtin_expect(!fdtab_peek(fd), 1))           \
			return ADOPT_CALL(buf, n, NEXT(name) args); \
		return SOCKET_DATA(ours, route, NEXT(name) args);   \
	}

#define SENT(a, len)                                                        \
	&(struct msghdr)                                                    \
	{                                                                   \
		.msg_name = (void *)(a), .msg_namelen = (len),              \
		.msg_iov = &(struct iovec){(void *)buf, n}, .msg_iovlen = 1 \
	}
#define ROOM            \
	&(struct iovec) \
	{               \
		buf, n  \
	}

WRAP_DATA(send, (int fd, const void *buf, size_t n, int flags), (fd, buf, n, flags),
	  nl_sendmsg(fd, SENT(NULL, 0), flags), rt_send(fd, SENT(NULL, 0), flags, &r))
WRAP_DATA(sendto,
	  (int fd, const void *buf, size_t n, int flags, const struct sockaddr *a, socklen_t len),
	  (fd, buf, n, flags, a, len), nl_sendmsg(fd, SENT(a, len), flags),
	  rt_send(fd, SENT(a, a ? len : 0), flags, &r))

/* The program sleeps in the next definition of its own call. */
static int sleep_recv(int fd);
static int sleep_recvfrom(int fd);

static int slept(ssize_t r)
{
	return r < 0 ? -errno : 0;
}

WRAP_DATA(recv, (int fd, void *buf, size_t n, int flags), (fd, buf, n, flags),
	  nl_recvfrom(fd, buf, n, flags, NULL, NULL),
	  rt_recvfrom(fd, ROOM, flags, NULL, NULL, sleep_recv, &r))
WRAP_DATA(recvfrom, (int fd, void *buf, size_t n, int flags, struct sockaddr *a, socklen_t *len),
	  (fd, buf, n, flags, a, len), nl_recvfrom(fd, buf, n, flags, a, len),
	  rt_recvfrom(fd, ROOM, flags, a, len, sleep_recvfrom, &r))

static int sleep_recv(int fd)
{
	char none;

	return slept(NEXT(recv)(fd, &none, 0, MSG_PEEK));
}

static int sleep_recvfrom(int fd)
{
	char none;

	return slept(NEXT(recvfrom)(fd, &none, 0, MSG_PEEK, NULL, NULL));
}

static int joined(int fd, int r)
{
	if (!r && __builtin_expect(rt_is(fd), 0))
		rt_joined(fd);
	return r;
}

WRAP(int, bind, (int fd, const struct sockaddr *a, socklen_t len))
{
	int saved, r;

	if (__builtin_expect(!nl_is(fd), 1))
		return joined(fd, NEXT(bind)(fd, a, len));
	saved = errno;
	r = (int)result(nl_bind(fd, a, len));
	if (r >= 0)
		errno = saved;
	return r;
}
WRAP(int, connect, (int fd, const struct sockaddr *a, socklen_t len))
{
	int saved, r;

	if (__builtin_expect(!nl_is(fd), 1)) {
		net_choose_source(fd, a, len);
		return NEXT(connect)(fd, a, len);
	}
	saved = errno;
	r = (int)result(nl_connect(fd, a, len));
	if (r >= 0)
		errno = saved;
	return r;
}
WRAP_SOCKET(int, getsockname, (int fd, struct sockaddr *a, socklen_t *len), (fd, a, len),
	    nl_getname(fd, a, len, false))
WRAP_SOCKET(int, getpeername, (int fd, struct sockaddr *a, socklen_t *len), (fd, a, len),
	    nl_getname(fd, a, len, true))
WRAP_SOCKET(int, getsockopt, (int fd, int level, int name, void *v, socklen_t *len),
	    (fd, level, name, v, len), nl_getsockopt(fd, level, name, v, len))
WRAP(int, setsockopt, (int fd, int level, int name, const void *v, socklen_t len))
{
	int saved, r;

	if (__builtin_expect(!nl_is(fd), 1)) {
		if (__builtin_expect(net_binds_to_ours(level, name, v, len), 0))
			return NEXT(setsockopt)(fd, level, name, "", 0);
		return joined(fd, NEXT(setsockopt)(fd, level, name, v, len));
	}
	saved = errno;
	r = (int)result(nl_setsockopt(fd, level, name, v, len));
	if (r >= 0)
		errno = saved;
	return r;
}
WRAP_SOCKET(int, listen, (int fd, int n), (fd, n), -EOPNOTSUPP)
WRAP_SOCKET(int, accept, (int fd, struct sockaddr *a, socklen_t *len), (fd, a, len), -EOPNOTSUPP)
WRAP_SOCKET(int, accept4, (int fd, struct sockaddr *a, socklen_t *len, int flags),
	    (fd, a, len, flags), -EOPNOTSUPP)
WRAP_SOCKET(int, shutdown, (int fd, int how), (fd, how), -EOPNOTSUPP)

WRAP(ssize_t, __recv_chk, (int fd, void *buf, size_t n, size_t room, int flags))
{
	if (__builtin_expect(!fdtab_peek(fd), 1) || n > room)
		return ADOPT_CALL(buf, n, NEXT(__recv_chk)(fd, buf, n, room, flags));
	return SOCKET_DATA(nl_recvfrom(fd, buf, n, flags, NULL, NULL),
			   rt_recvfrom(fd, ROOM, flags, NULL, NULL, rt_sleep_raw, &r),
			   NEXT(__recv_chk)(fd, buf, n, room, flags));
}

WRAP(ssize_t, __recvfrom_chk,
     (int fd, void *buf, size_t n, size_t room, int flags, struct sockaddr *a, socklen_t *len))
{
	if (__builtin_expect(!fdtab_peek(fd), 1) || n > room)
		return ADOPT_CALL(buf, n, NEXT(__recvfrom_chk)(fd, buf, n, room, flags, a, len));
	return SOCKET_DATA(nl_recvfrom(fd, buf, n, flags, a, len),
			   rt_recvfrom(fd, ROOM, flags, a, len, rt_sleep_raw, &r),
			   NEXT(__recvfrom_chk)(fd, buf, n, room, flags, a, len));
}

WRAP(int, socket, (int domain, int type, int protocol))
{
	int fd;

	if (domain == AF_NETLINK && protocol == NETLINK_RDMA && shim_on())
		fd = (int)result(nl_socket(type));
	else
		fd = NEXT(socket)(domain, type, protocol);
	if (__builtin_expect(fd < 0, 0))
		refused_socket(domain, type, protocol);
	else if (domain == AF_NETLINK && protocol == NETLINK_ROUTE)
		rt_opened(fd);
	return fd;
}
