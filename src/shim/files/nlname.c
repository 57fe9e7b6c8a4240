/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the names and options of sockets of NETLINK_RDMA: af_netlink.c of the kernel. */
#include "shim/files/priv.h"
#include "segment/mem.h"
#include "util/sys.h"

#include <errno.h>
#include <linux/netlink.h>

#define GROUPS 32
#define FIRST_AUTO (-4096) /* netlink_autobind() */

static int32_t last_auto = FIRST_AUTO;

/* ---- names */

/*
 * Binds to `portid`, or if it is 0 to the lowest free number (netlink_autobind()). 0, -EADDRINUSE.
 */
int nl_bind_port(struct nl_sock *s, uint32_t portid)
{
	uint32_t want = portid ? portid : (uint32_t)sys_getpid();
	const struct nl_sock *o;
	sigset_t old;

	nl_lock(&nl_socks_lock, &old);
	do {
		for (o = nl_socks; o && !(o->bound && o->portid == want); o = o->next)
			;
		if (!o || portid)
			break;
		want = (uint32_t)--last_auto;
	} while (o);
	if (!o) {
		s->portid = want;
		s->bound = true;
	}
	nl_unlock(&nl_socks_lock, &old);
	return o ? -EADDRINUSE : 0;
}

int nl_get_addr(struct sockaddr_nl *to, const struct sockaddr *a, socklen_t len)
{
	if (len < sizeof(*to))
		return -EINVAL;
	if (mem_guarded_copy(to, a, sizeof(*to)))
		return -EFAULT;
	return to->nl_family == AF_NETLINK ? 0 : -EINVAL;
}

int nl_bind(int fd, const struct sockaddr *a, socklen_t len)
{
	struct sockaddr_nl n;
	struct shim_file *f;
	struct nl_sock *s = nl_sock_get(fd, &f);
	int r = s ? nl_get_addr(&n, a, len) : -EBADF;

	if (!r && s->bound && n.nl_pid != s->portid)
		r = -EINVAL;
	if (!r && !s->bound)
		r = nl_bind_port(s, n.nl_pid);
	if (!r)
		s->groups = n.nl_groups;
	fdtab_put(f);
	return r;
}

int nl_connect(int fd, const struct sockaddr *a, socklen_t len)
{
	struct sockaddr_nl n = {0};
	struct shim_file *f;
	struct nl_sock *s = nl_sock_get(fd, &f);
	int r = !s ? -EBADF : len < sizeof(n.nl_family) ? -EINVAL : 0;

	if (!r && mem_guarded_copy(&n.nl_family, a, sizeof(n.nl_family)))
		r = -EFAULT;
	if (!r && n.nl_family != AF_UNSPEC)
		r = nl_get_addr(&n, a, len);
	if (!r && (n.nl_pid || n.nl_groups) && !nl_admin())
		r = -EPERM;
	if (!r && n.nl_family != AF_UNSPEC && !s->bound)
		r = nl_bind_port(s, 0);
	if (!r) {
		s->dst_portid = n.nl_family == AF_UNSPEC ? 0 : n.nl_pid;
		s->dst_groups = n.nl_family == AF_UNSPEC ? 0 : n.nl_groups;
	}
	fdtab_put(f);
	return r;
}

/* move_addr_to_user() */
int nl_give(void *to, socklen_t *len, const void *v, socklen_t n)
{
	socklen_t room;

	if (mem_guarded_copy(&room, len, sizeof(room)))
		return -EFAULT;
	if ((int)room < 0)
		return -EINVAL;
	if (mem_guarded_copy(len, &n, sizeof(n)) ||
	    (room && mem_guarded_copy(to, v, room < n ? room : n)))
		return -EFAULT;
	return 0;
}

int nl_getname(int fd, struct sockaddr *a, socklen_t *len, bool peer)
{
	struct sockaddr_nl n = {.nl_family = AF_NETLINK};
	struct shim_file *f;
	struct nl_sock *s = nl_sock_get(fd, &f);

	if (s) {
		n.nl_pid = peer ? s->dst_portid : s->portid;
		n.nl_groups = peer ? s->dst_groups : s->groups;
	}
	fdtab_put(f);
	return s ? nl_give(a, len, &n, sizeof(n)) : -EBADF;
}

/* ---- options */

#define OPTIONS                                                                             \
	(1u << NETLINK_PKTINFO | 1u << NETLINK_BROADCAST_ERROR | 1u << NETLINK_NO_ENOBUFS | \
	 1u << NETLINK_CAP_ACK | 1u << NETLINK_EXT_ACK | 1u << NETLINK_GET_STRICT_CHK)

static int set_option(struct nl_sock *s, int name, uint32_t v)
{
	if (name == NETLINK_ADD_MEMBERSHIP || name == NETLINK_DROP_MEMBERSHIP) {
		if (!v || v > GROUPS)
			return -EINVAL;
		if (name == NETLINK_ADD_MEMBERSHIP)
			s->groups |= 1u << (v - 1);
		else
			s->groups &= ~(1u << (v - 1));
		return 0;
	}
	if (name == NETLINK_LISTEN_ALL_NSID)
		return nl_admin() ? 0 : -EPERM;
	if (name < 0 || name > 31 || !(OPTIONS & 1u << name))
		return -ENOPROTOOPT;
	s->options = v ? s->options | 1u << name : s->options & ~(1u << name);
	return 0;
}

int nl_setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	struct shim_file *f;
	struct nl_sock *s;
	uint32_t v = 0;
	int r = 0;

	if (level == SOL_SOCKET)
		return (int)sys_call(SYS_setsockopt, fd, level, name, value, len);
	if (level != SOL_NETLINK)
		return -ENOPROTOOPT;
	if (len >= sizeof(v) && mem_guarded_copy(&v, value, sizeof(v)))
		return -EFAULT;
	s = nl_sock_get(fd, &f);
	r = s ? set_option(s, name, v) : -EBADF;
	fdtab_put(f);
	return r;
}

/* NETLINK_LIST_MEMBERSHIPS: as many words as fit; the length of all. */
static int list_groups(const struct nl_sock *s, void *value, socklen_t *len, socklen_t room)
{
	const socklen_t n = sizeof(s->groups);

	if (room >= n && mem_guarded_copy(value, &s->groups, n))
		return -EFAULT;
	return mem_guarded_copy(len, &n, sizeof(n)) ? -EFAULT : 0;
}

int nl_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	struct shim_file *f;
	struct nl_sock *s = nl_sock_get(fd, &f);
	socklen_t room = 0;
	int v = 0, r = 0;

	if (!s)
		return -EBADF;
	if (level == SOL_SOCKET && (name == SO_DOMAIN || name == SO_PROTOCOL || name == SO_TYPE)) {
		v = name == SO_DOMAIN ? AF_NETLINK : name == SO_PROTOCOL ? NETLINK_RDMA : s->type;
		r = nl_give(value, len, &v, sizeof(v));
	} else if (level == SOL_SOCKET) {
		r = (int)sys_call(SYS_getsockopt, fd, level, name, value, len);
	} else if (level != SOL_NETLINK) {
		r = -ENOPROTOOPT;
	} else if (mem_guarded_copy(&room, len, sizeof(room))) {
		r = -EFAULT;
	} else if ((int)room < 0) {
		r = -EINVAL;
	} else if (name == NETLINK_LIST_MEMBERSHIPS) {
		r = list_groups(s, value, len, room);
	} else if (name < 0 || name > 31 || !(OPTIONS & 1u << name)) {
		r = -ENOPROTOOPT;
	} else if (room < sizeof(v)) {
		r = -EINVAL;
	} else {
		v = !!(s->options & 1u << name);
		r = nl_give(value, len, &v, sizeof(v));
	}
	fdtab_put(f);
	return r;
}
