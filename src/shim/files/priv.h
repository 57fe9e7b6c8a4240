/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to netlink.c, nlname.c, nlroute.c and nlread.c. */
#ifndef SOFTHCA_SHIM_FILES_PRIV_H
#define SOFTHCA_SHIM_FILES_PRIV_H

#include <linux/netlink.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include "shim/files/netlink.h"
#include "shim/files/nlroute.h"

struct datagram {
	struct datagram *next;
	size_t n;
	uint32_t groups; /* groups of a notification, as in sockaddr_nl; otherwise 0 */
	_Alignas(8) uint8_t data[];
};

struct nl_sock {
	_Atomic uint32_t lock;
	int other; /* our end */
	int type;
	bool bound;
	uint32_t portid, groups;
	uint32_t dst_portid, dst_groups;
	uint32_t options;              /* bits 1 << NETLINK_* */
	struct datagram *first, *last; /* answers for which the socket had no room yet */
	bool lost;                     /* an answer was lost: the next read says ENOBUFS */
	struct nl_sock *next;          /* of this process */
};

/* ---- the time-out of recvmmsg(2) */
struct nl_timer {
	struct timespec *timeout; /* the program's; NULL: none */
	uint64_t end;
};

/* 0, -EFAULT or -EINVAL. */
int nl_timer_begin(struct nl_timer *t, struct timespec *timeout);
/* Asked after each datagram. */
bool nl_timer_is_up(const struct nl_timer *t);
/* Gives the program the time left after `n` datagrams: `n`, or -EFAULT. */
int nl_timer_end(const struct nl_timer *t, int n);

/* ---- sockets of NETLINK_ROUTE */

/* A request that was sent to the kernel, with the answer to give when the kernel's arrives. */
struct rt_wait {
	struct rt_wait *next;
	uint32_t id, seq;
	bool dump, ours;               /* rtnl_who */
	struct datagram *first, *last; /* of ours */
};

struct rt_sock {
	_Atomic uint32_t lock;
	uint32_t last_id, nwaits;
	uint32_t serial;       /* number of the last notification (nlnews.c) */
	struct rt_wait *waits; /* oldest first */
	/* The datagram at the head of the kernel's queue, and what the program reads in its place.
	 */
	struct datagram *head, *instead;
};

/* The socket's entry, with a reference. NULL: fd is not such a socket, or must be left alone. */
struct rt_sock *rt_sock_get(int fd, struct shim_file **f);
/* Frees a wait and the datagrams that it still has. */
void rt_wait_free(struct rt_wait *w);
/* Adds w to the socket's list and sends the kernel a request that it refuses. Under s->lock. */
void rt_wait_send(struct rt_sock *s, int fd, struct rt_wait *w);
void rt_forget_head(struct rt_sock *s);
void rt_add(struct datagram **first, struct datagram **last, struct datagram *d);

/* ---- sockets of NETLINK_RDMA */

extern struct nl_sock *nl_socks; /* guarded by nl_socks_lock */
extern _Atomic uint32_t nl_socks_lock;
/* No thread is inside while another one forks (shim_enter()). */
void nl_lock(_Atomic uint32_t *w, sigset_t *old);
void nl_unlock(_Atomic uint32_t *w, const sigset_t *old);

/* The socket's entry, with a reference; NULL (and *f NULL): fd is none. */
struct nl_sock *nl_sock_get(int fd, struct shim_file **f);
/* netlink_allowed(), netlink_capable() */
bool nl_admin(void);
/* `portid` 0: the process's pid or a free number (netlink_autobind()). 0 or -EADDRINUSE. */
int nl_bind_port(struct nl_sock *s, uint32_t portid);
/* An address from the program: 0, -EINVAL, -EFAULT. */
int nl_get_addr(struct sockaddr_nl *to, const struct sockaddr *a, socklen_t len);
/* move_addr_to_user() */
int nl_give(void *to, socklen_t *len, const void *v, socklen_t n);

#endif
