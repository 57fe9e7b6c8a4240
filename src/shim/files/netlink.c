/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns sockets of NETLINK_RDMA: names, options, what is sent and read. af_netlink.c of the kernel
 * is the reference. The wrappers are in socket.c.
 */
#include "shim/files/priv.h"
#include "hw/world.h"
#include "nldev/nldev.h"
#include "segment/mem.h"
#include "shim/attach.h"
#include "shim/shim.h"
#include "util/clock.h"
#include "util/heap.h"
#include "util/sys.h"

#include <linux/capability.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

#define SEND_MAX (212992 - 32) /* net.core.wmem_default, as netlink_sendmsg() compares it */

struct nl_sock *nl_socks;
_Atomic uint32_t nl_socks_lock;

/* shim_enter() keeps a fork from copying the lock while it is held. */
void nl_lock(_Atomic uint32_t *w, sigset_t *old)
{
	shim_enter(old);
	while (atomic_exchange(w, 1))
		sys_call(SYS_sched_yield);
}

void nl_unlock(_Atomic uint32_t *w, const sigset_t *old)
{
	atomic_store(w, 0);
	shim_leave(old);
}

/* The socket's entry, with a reference. */
struct nl_sock *nl_sock_get(int fd, struct shim_file **f)
{
	*f = fdtab_get(fd);
	if (*f && (*f)->kind == SHIM_NETLINK)
		return (*f)->obj;
	fdtab_put(*f);
	*f = NULL;
	return NULL;
}

/* netlink_allowed(), netlink_capable() */
bool nl_admin(void)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2] = {{0}};

	return !sys_call(SYS_capget, &h, d) && (d[0].effective & (1u << CAP_NET_ADMIN));
}

/* ---- making and ending */

static int publish(int fd, struct nl_sock *s)
{
	struct shim_file *f = fdtab_new();
	int r;

	if (!f)
		return -ENOMEM;
	f->kind = SHIM_NETLINK;
	f->obj = s;
	r = fdtab_set(fd, f);
	if (r) {
		f->obj = NULL;
		atomic_store(&f->refs, 0);
		atomic_store(&f->state, SHIM_FILE_FREE);
	}
	return r;
}

int nl_socket(int type)
{
	int kind = type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK), pair[2], r;
	struct uv_system *sys;
	struct nl_sock *s;
	sigset_t old;

	if (kind != SOCK_RAW && kind != SOCK_DGRAM)
		return -ESOCKTNOSUPPORT;
	/* Without a fabric there is no RDMA in this kernel. */
	if (shim_attach(&sys) || hw_setting(sys->seg, HW_SET_NETLINK) == HW_HAS_NOT)
		return -EPROTONOSUPPORT;
	s = heap_zalloc(sizeof(*s));
	if (!s)
		return -ENOMEM;
	r = (int)sys_call(SYS_socketpair, AF_UNIX, SOCK_DGRAM | (type & ~kind), 0, pair);
	if (r) {
		heap_free(s);
		return r;
	}
	s->type = kind;
	s->other = sys_fd_high(pair[1]);
	sys_fcntl(s->other, F_SETFL, O_RDWR);
	nl_lock(&nl_socks_lock, &old);
	s->next = nl_socks;
	nl_socks = s;
	nl_unlock(&nl_socks_lock, &old);
	r = publish(pair[0], s);
	if (r) {
		sys_close(pair[0]);
		nl_ended(s);
	}
	return r ? r : pair[0];
}

void nl_ended(void *obj)
{
	struct nl_sock *s = obj, **p;
	struct datagram *d;
	sigset_t old;

	nl_lock(&nl_socks_lock, &old);
	for (p = &nl_socks; *p && *p != s; p = &(*p)->next)
		;
	if (*p)
		*p = s->next;
	nl_unlock(&nl_socks_lock, &old);
	sys_fd_drop(s->other);
	while ((d = s->first)) {
		s->first = d->next;
		heap_free(d);
	}
	heap_free(s);
}

/* ---- answers */

/* Puts into the socket what fits; called with the lock. */
static void feed(struct nl_sock *s)
{
	struct datagram *d;
	long r;

	while ((d = s->first)) {
		r = sys_call(SYS_sendto, s->other, d->data, d->n, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (r == -EAGAIN || r == -EINTR || r == -ENOBUFS)
			return;
		if (r < 0)
			s->lost = true;
		s->first = d->next;
		heap_free(d);
	}
}

static int answer(void *arg, const void *data, size_t n)
{
	struct nl_sock *s = arg;
	struct datagram *d = heap_zalloc(sizeof(*d) + n);

	if (!d) {
		s->lost = true;
		return -ENOBUFS;
	}
	memcpy(d->data, data, n);
	d->n = n;
	if (s->first)
		s->last->next = d;
	else
		s->first = d;
	s->last = d;
	return 0;
}

static int cm_ids(void *arg, uint32_t hca)
{
	struct uv_system *sys;
	int r = shim_attach(&sys);

	return r ? r : link_cm_ids(sys->link, hca);
}

/* ---- sending */

/* A copy of all vectors, or -errno. */
static ssize_t gather(const struct iovec *iov, size_t n, uint8_t **out)
{
	struct iovec v;
	size_t total = 0, at = 0;

	for (size_t i = 0; i < n; i++) {
		if (mem_guarded_copy(&v, &iov[i], sizeof(v)))
			return -EFAULT;
		if (v.iov_len > SEND_MAX || total + v.iov_len > SEND_MAX)
			return -EMSGSIZE;
		total += v.iov_len;
	}
	*out = heap_zalloc(total + 1);
	if (!*out)
		return -ENOBUFS;
	for (size_t i = 0; i < n; i++) {
		if (mem_guarded_copy(&v, &iov[i], sizeof(v)) || v.iov_len > total - at ||
		    (v.iov_len && mem_guarded_copy(*out + at, v.iov_base, v.iov_len))) {
			heap_free(*out);
			*out = NULL;
			return -EFAULT;
		}
		at += v.iov_len;
	}
	return (ssize_t)at;
}

/* The port ID that a message is sent to; 0: the kernel. */
static int destination(const struct nl_sock *s, const struct sockaddr *name, socklen_t len)
{
	struct sockaddr_nl a = {.nl_pid = s->dst_portid};
	int r;

	if (len) {
		r = nl_get_addr(&a, name, len);
		if (r)
			return r;
		if ((a.nl_pid || a.nl_groups) && !nl_admin())
			return -EPERM;
	}
	return a.nl_pid ? -ECONNREFUSED : 0;
}

static int request(struct nl_sock *s, const uint8_t *data, size_t n)
{
	struct nldev d = {.admin = nl_admin(),
			  .to = {.portid = s->portid,
				 .ext_ack = s->options & 1u << NETLINK_EXT_ACK,
				 .cap_ack = s->options & 1u << NETLINK_CAP_ACK,
				 .answer = answer,
				 .arg = s},
			  .cm_ids = cm_ids};
	const struct seg_proc *self;
	struct uv_system *sys;
	sigset_t old;

	if (shim_attach(&sys))
		return -ECONNREFUSED;
	self = seg_proc(sys->seg, sys->seg->self);
	d.s = sys->seg;
	d.host = self ? self->host : SEG_NONE;
	nl_lock(&s->lock, &old);
	feed(s);
	d.dumping = s->first;
	nldev_request(&d, data, n);
	feed(s);
	nl_unlock(&s->lock, &old);
	return 0;
}

/* netlink_sendmsg() */
static ssize_t send_to(int fd, const struct iovec *iov, size_t n, const struct sockaddr *name,
		       socklen_t len, int flags)
{
	struct shim_file *f;
	struct nl_sock *s = nl_sock_get(fd, &f);
	uint8_t *data = NULL;
	ssize_t r;

	if (!s)
		return -EBADF;
	r = flags & MSG_OOB ? -EOPNOTSUPP : gather(iov, n, &data);
	if (!r)
		r = -ENODATA;
	if (r > 0) {
		int err = destination(s, name, len);

		if (!err && !s->bound)
			err = nl_bind_port(s, 0);
		if (!err)
			err = request(s, data, (size_t)r);
		if (err)
			r = err;
	}
	heap_free(data);
	fdtab_put(f);
	return r;
}

ssize_t nl_sendmsg(int fd, const struct msghdr *m, int flags)
{
	struct msghdr h;

	if (mem_guarded_copy(&h, m, sizeof(h)))
		return -EFAULT;
	if (h.msg_iovlen > 1024)
		return -EMSGSIZE;
	return send_to(fd, h.msg_iov, h.msg_iovlen, h.msg_name, h.msg_name ? h.msg_namelen : 0,
		       flags);
}

ssize_t nl_writev(int fd, const struct iovec *iov, int n)
{
	return n < 0 || n > 1024 ? -EINVAL : send_to(fd, iov, (size_t)n, NULL, 0, 0);
}

static ssize_t give_len(struct mmsghdr *v, ssize_t r)
{
	unsigned int len = (unsigned int)r;

	return mem_guarded_copy(&v->msg_len, &len, sizeof(len)) ? -EFAULT : r;
}

int nl_sendmmsg(int fd, struct mmsghdr *v, unsigned int n, int flags)
{
	unsigned int i;

	for (i = 0; i < n && i < 1024; i++) {
		ssize_t r = nl_sendmsg(fd, &v[i].msg_hdr, flags);

		if (r >= 0)
			r = give_len(&v[i], r);
		if (r < 0)
			return i ? (int)i : (int)r;
	}
	return (int)i;
}

/* ---- reading */

/* Call before a read: reports an answer that was lost. After the read the socket has room again. */
static bool take_lost(struct nl_sock *s)
{
	bool lost = s->lost;

	s->lost = false;
	return lost && !(s->options & 1u << NETLINK_NO_ENOBUFS);
}

static void was_read(struct nl_sock *s)
{
	sigset_t old;

	if (!s->first)
		return;
	nl_lock(&s->lock, &old);
	feed(s);
	nl_unlock(&s->lock, &old);
}

/* Messages come from the kernel, not from the process that holds our end. */
static void fix_credentials(struct msghdr *m)
{
	static const struct ucred kernel;

	for (struct cmsghdr *c = m->msg_control ? CMSG_FIRSTHDR(m) : NULL; c; c = CMSG_NXTHDR(m, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS &&
		    c->cmsg_len >= CMSG_LEN(sizeof(kernel)))
			memcpy(CMSG_DATA(c), &kernel, sizeof(kernel));
}

ssize_t nl_recvmsg(int fd, struct msghdr *m, int flags, next_recvmsg *next)
{
	const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	struct shim_file *f;
	struct nl_sock *s = nl_sock_get(fd, &f);
	socklen_t room = 0;
	ssize_t r = 0;
	int err = 0;

	if (!s)
		err = -EBADF;
	else if (flags & MSG_OOB)
		err = -EOPNOTSUPP;
	else if (take_lost(s))
		err = -ENOBUFS;
	if (!err && mem_guarded_copy(&room, &m->msg_namelen, sizeof(room)))
		err = -EFAULT;
	if (!err) {
		r = next(fd, m, flags);
		if (r < 0)
			err = -errno;
	}
	/* The kernel has stored to *m, but not the name of the process that holds our end. */
	if (!err && m->msg_name) {
		if (mem_guarded_copy(m->msg_name, &kernel,
				     room < sizeof(kernel) ? room : sizeof(kernel)))
			err = -EFAULT;
		m->msg_namelen = sizeof(kernel);
	}
	if (!err) {
		fix_credentials(m);
		was_read(s);
	}
	fdtab_put(f);
	return err ? err : r;
}

ssize_t nl_readv(int fd, const struct iovec *iov, int n)
{
	struct shim_file *f;
	struct nl_sock *s = nl_sock_get(fd, &f);
	ssize_t r = !s ? -EBADF : take_lost(s) ? -ENOBUFS : sys_call(SYS_readv, fd, iov, n);

	if (s && r >= 0)
		was_read(s);
	fdtab_put(f);
	return r;
}

ssize_t nl_recvfrom(int fd, void *buf, size_t n, int flags, struct sockaddr *a, socklen_t *len)
{
	const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	struct shim_file *f;
	struct nl_sock *s = nl_sock_get(fd, &f);
	ssize_t r;
	int err;

	if (!s)
		return -EBADF;
	r = flags & MSG_OOB ? -EOPNOTSUPP
	    : take_lost(s)  ? -ENOBUFS
			    : sys_call(SYS_recvfrom, fd, buf, n, flags, NULL, NULL);
	if (r >= 0) {
		was_read(s);
		err = a ? nl_give(a, len, &kernel, sizeof(kernel)) : 0;
		if (err)
			r = err;
	}
	fdtab_put(f);
	return r;
}

static ssize_t raw_recvmsg(int fd, struct msghdr *m, int flags)
{
	long r = sys_call(SYS_recvmsg, fd, m, flags);

	if (r < 0)
		errno = (int)-r;
	return r < 0 ? -1 : r;
}

/* ---- the time-out of recvmmsg(2), as do_recvmmsg() takes it */

int nl_timer_begin(struct nl_timer *t, struct timespec *timeout)
{
	struct timespec v = {0};

	*t = (struct nl_timer){timeout, 0};
	if (!timeout)
		return 0;
	if (mem_guarded_copy(&v, timeout, sizeof(v)))
		return -EFAULT;
	if (v.tv_sec < 0 || v.tv_nsec < 0 || v.tv_nsec >= (long)NSEC_PER_SEC)
		return -EINVAL;
	if (v.tv_sec > INT32_MAX)
		v.tv_sec = INT32_MAX;
	t->end = clock_now_ns() + (uint64_t)v.tv_sec * NSEC_PER_SEC + (uint64_t)v.tv_nsec;
	return 0;
}

static uint64_t timer_left(const struct nl_timer *t)
{
	uint64_t now = clock_now_ns();

	return now < t->end ? t->end - now : 0;
}

bool nl_timer_is_up(const struct nl_timer *t)
{
	return t->timeout && !timer_left(t);
}

int nl_timer_end(const struct nl_timer *t, int n)
{
	uint64_t left = timer_left(t);
	struct timespec v = {(time_t)(left / NSEC_PER_SEC), (long)(left % NSEC_PER_SEC)};

	return t->timeout && mem_guarded_copy(t->timeout, &v, sizeof(v)) ? -EFAULT : n;
}

int nl_recvmmsg(int fd, struct mmsghdr *v, unsigned int n, int flags, struct timespec *timeout)
{
	int saved = errno, err;
	struct nl_timer t;
	unsigned int i;

	err = nl_timer_begin(&t, timeout);
	if (err)
		return err;
	for (i = 0; i < n && i < 1024; i++) {
		int more = i && (flags & MSG_WAITFORONE) ? MSG_DONTWAIT : 0;
		ssize_t r = nl_recvmsg(fd, &v[i].msg_hdr, (flags & ~MSG_WAITFORONE) | more,
				       raw_recvmsg);

		if (r >= 0)
			r = give_len(&v[i], r);
		if (r < 0) {
			errno = saved;
			return i ? nl_timer_end(&t, (int)i) : (int)r;
		}
		if (nl_timer_is_up(&t)) {
			i++;
			break;
		}
	}
	return i ? nl_timer_end(&t, (int)i) : 0;
}

/* ---- syscall() */

static long name_call(long nr, const long a[6])
{
	int fd = (int)a[0];

	switch (nr) {
	case SYS_bind:
		return nl_bind(fd, (const void *)a[1], (socklen_t)a[2]);
	case SYS_connect:
		return nl_connect(fd, (const void *)a[1], (socklen_t)a[2]);
	case SYS_getsockname:
	case SYS_getpeername:
		return nl_getname(fd, (void *)a[1], (void *)a[2], nr == SYS_getpeername);
	case SYS_getsockopt:
		return nl_getsockopt(fd, (int)a[1], (int)a[2], (void *)a[3], (void *)a[4]);
	case SYS_setsockopt:
		return nl_setsockopt(fd, (int)a[1], (int)a[2], (void *)a[3], (socklen_t)a[4]);
	default: /* listen, accept, accept4, shutdown: sock_no_*() */
		return -EOPNOTSUPP;
	}
}

static long data_call(long nr, const long a[6])
{
	int fd = (int)a[0];
	struct iovec v = {(void *)a[1], (size_t)a[2]};

	switch (nr) {
	case SYS_sendto:
		return send_to(fd, &v, 1, (const void *)a[4], a[4] ? (socklen_t)a[5] : 0,
			       (int)a[3]);
	case SYS_recvfrom:
		return nl_recvfrom(fd, v.iov_base, v.iov_len, (int)a[3], (void *)a[4],
				   (void *)a[5]);
	case SYS_sendmsg:
		return nl_sendmsg(fd, (const void *)a[1], (int)a[2]);
	case SYS_recvmsg:
		return nl_recvmsg(fd, (void *)a[1], (int)a[2], raw_recvmsg);
	case SYS_sendmmsg:
		return nl_sendmmsg(fd, (void *)a[1], (unsigned int)a[2], (int)a[3]);
	default:
		return nl_recvmmsg(fd, (void *)a[1], (unsigned int)a[2], (int)a[3], (void *)a[4]);
	}
}

long nl_syscall(long nr, const long a[6], bool *handled)
{
	int saved = errno;
	long r;

	*handled = true;
	if (nr == SYS_socket && a[0] == AF_NETLINK && a[2] == NETLINK_RDMA)
		return nl_socket((int)a[1]);
	*handled = nl_is((int)a[0]);
	if (!*handled)
		return rt_syscall(nr, a, handled);
	switch (nr) {
	case SYS_bind:
	case SYS_connect:
	case SYS_getsockname:
	case SYS_getpeername:
	case SYS_getsockopt:
	case SYS_setsockopt:
	case SYS_listen:
	case SYS_accept:
	case SYS_accept4:
	case SYS_shutdown:
		r = name_call(nr, a);
		break;
	case SYS_sendto:
	case SYS_recvfrom:
	case SYS_sendmsg:
	case SYS_recvmsg:
	case SYS_sendmmsg:
	case SYS_recvmmsg:
		r = data_call(nr, a);
		break;
	default:
		*handled = false;
		r = 0;
	}
	errno = saved;
	return r;
}
