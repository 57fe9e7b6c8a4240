/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to netlink.c and nlname.c. */
#ifndef SOFTHCA_SHIM_FILES_PRIV_H
#define SOFTHCA_SHIM_FILES_PRIV_H

#include <linux/netlink.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include "shim/files/netlink.h"

struct datagram;
struct nl_sock {
	_Atomic uint32_t lock;
	int other; /* our end */
	int type;
	bool bound;
	uint32_t portid, groups;
	uint32_t dst_portid, dst_groups;
	uint32_t options;              /* bits 1 << NETLINK_* */
	struct datagram *first, *last; /* what has not gone into the socket yet */
	bool lost;                     /* an answer was lost: the next read says ENOBUFS */
	struct nl_sock *next;          /* of this process */
};

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
