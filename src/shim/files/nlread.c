/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns reading from NETLINK_ROUTE sockets. While the program reads what takes the place of one of
 * the kernel's datagrams, that datagram stays at the head of the kernel's queue, so that poll and
 * epoll see it; it is taken out with the last byte of ours. The kernel enlarges a dump's datagrams
 * to the longest buffer that it has seen (netlink_recvmsg()): ours are as long as the datagram.
 */
#include "nldev/msg.h"
#include "segment/mem.h"
#include "shim/files/priv.h"
#include "shim/shim.h"
#include "util/heap.h"
#include "util/sys.h"

#include <limits.h>
#include <linux/rtnetlink.h>
#include <string.h>

#define HEAD_MAX 65536 /* a longer datagram is passed to the program unchanged */
#define LOOK (MSG_PEEK | MSG_DONTWAIT)

static ssize_t peek(int fd, void *buf, size_t n, struct sockaddr_nl *from)
{
	socklen_t len = sizeof(*from);

	return sys_call(SYS_recvfrom, fd, buf, n, LOOK | MSG_TRUNC, from, from ? &len : NULL);
}

/* ---- which answer is it? */

static struct rt_wait *take(struct rt_sock *s, struct rt_wait **p)
{
	struct rt_wait *w = *p;

	*p = w->next;
	s->nwaits--;
	return w;
}

static struct rt_wait *take_single(struct rt_sock *s, uint32_t id, uint32_t seq)
{
	for (struct rt_wait **p = &s->waits; *p; p = &(*p)->next)
		if (!(*p)->dump && (*p)->id == id && (*p)->seq == seq)
			return take(s, p);
	return NULL;
}

/* The oldest with that number; `second` if there are two: one dump runs, the other is refused. */
static struct rt_wait *take_dump(struct rt_sock *s, uint32_t seq, bool second)
{
	struct rt_wait **found = NULL;

	for (struct rt_wait **p = &s->waits; *p; p = &(*p)->next)
		if ((*p)->dump && (*p)->seq == seq) {
			bool enough = found || !second;

			found = p;
			if (enough)
				break;
		}
	return found ? take(s, found) : NULL;
}

static struct datagram *copy(const void *data, size_t n, size_t room)
{
	struct datagram *d = heap_zalloc(sizeof(*d) + n + room);

	if (d) {
		memcpy(d->data, data, n);
		d->n = n;
	}
	return d;
}

static void set_portid(struct datagram *d, uint32_t portid)
{
	for (; d; d = d->next)
		for (size_t at = 0; at + NLMSG_HDRLEN <= d->n;) {
			struct nlmsghdr *h = (void *)(d->data + at);

			h->nlmsg_pid = d->groups ? 0 : portid;
			at += NLMSG_ALIGN(h->nlmsg_len);
		}
}

/* The end of a dump: the kernel's NLMSG_DONE, or one that says success. */
static struct datagram *done_of(const struct nlmsghdr *h, size_t n, bool success)
{
	struct datagram *d = copy(h, success ? NLMSG_LENGTH(sizeof(int)) : n, 0);

	if (d && success) {
		struct nlmsghdr *to = (void *)d->data;

		to->nlmsg_len = NLMSG_LENGTH(sizeof(int));
		to->nlmsg_flags &= (uint16_t)~NLM_F_ACK_TLVS;
		memset(NLMSG_DATA(to), 0, sizeof(int));
	}
	return d;
}

/*
 * head->data + at is the end of a kernel's dump: queue the kernel's messages before it, then ours,
 * then the end.
 */
static void end_dump(struct rt_sock *s, struct rt_wait *w, size_t at)
{
	const struct nlmsghdr *h = (const void *)(s->head->data + at);
	int err = h->nlmsg_len >= NLMSG_LENGTH(sizeof(err)) ? *(const int *)NLMSG_DATA(h) : 0;
	bool success = err == -ENODEV && w->ours;
	struct datagram *before = NULL, *done, *last = NULL;

	if ((!w->first && !success) || (err && !success))
		return;
	before = at ? copy(s->head->data, at, 0) : NULL;
	done = done_of(h, s->head->n - at, success);
	if ((at && !before) || !done) {
		heap_free(before);
		heap_free(done);
		return;
	}
	set_portid(w->first, h->nlmsg_pid);
	if (before)
		rt_add(&s->instead, &last, before);
	if (w->first) {
		rt_add(&s->instead, &last, w->first);
		last = w->last;
		w->first = NULL;
	}
	rt_add(&s->instead, &last, done);
}

/* A copy of an NLMSG_ERROR's request. */
static const struct nlmsghdr *error_of(const struct datagram *d, int *err)
{
	const struct nlmsghdr *h = (const void *)d->data;
	const struct nlmsgerr *e = NLMSG_DATA(h);

	if (d->n < NLMSG_LENGTH(sizeof(*e)) || h->nlmsg_type != NLMSG_ERROR)
		return NULL;
	*err = e->error;
	return &e->msg;
}

/* Where NLMSG_DONE is; the length when it is not there. */
static size_t find_done(const struct datagram *d)
{
	size_t at = 0;

	while (d->n - at >= NLMSG_HDRLEN) {
		const struct nlmsghdr *h = (const void *)(d->data + at);

		if (h->nlmsg_type == NLMSG_DONE && h->nlmsg_len <= d->n - at)
			return at;
		if (h->nlmsg_len < NLMSG_HDRLEN || NLMSG_ALIGN(h->nlmsg_len) >= d->n - at)
			break;
		at += NLMSG_ALIGN(h->nlmsg_len);
	}
	return d->n;
}

/* s->head answers a request in s->waits? Then s->instead is what the program reads. */
static void match(struct rt_sock *s)
{
	const struct nlmsghdr *first = (const void *)s->head->data, *request;
	struct rt_wait *w = NULL;
	size_t at;
	int err;

	if (s->head->n < NLMSG_HDRLEN)
		return;
	request = error_of(s->head, &err);
	at = request ? s->head->n : find_done(s->head);
	if (request && request->nlmsg_type == RTM_GETLINK)
		w = take_single(s, request->nlmsg_pid, request->nlmsg_seq);
	if (w) {
		set_portid(w->first, first->nlmsg_pid);
		s->instead = w->first;
		w->first = NULL;
	} else if (request && err && (request->nlmsg_flags & NLM_F_DUMP)) {
		w = take_dump(s, request->nlmsg_seq, err == -EBUSY);
	} else if (at < s->head->n) {
		w = take_dump(s, ((const struct nlmsghdr *)(s->head->data + at))->nlmsg_seq, false);
		if (w)
			end_dump(s, w, at);
	}
	/* The wait is over. Keep the datagram, because the program may look at it many times. */
	if (w && !s->instead)
		s->instead = copy(s->head->data, s->head->n, 0);
	rt_wait_free(w);
}

/* ---- the head of the kernel's queue */

/*
 * Is s->head still the head of the kernel's queue? Another process may have read it. Returns 0, or
 * an error of the socket for the program.
 */
static ssize_t check_head(struct rt_sock *s, int fd)
{
	struct datagram *now = heap_zalloc(sizeof(*now) + s->head->n);
	ssize_t n;

	if (!now)
		return -ENOBUFS;
	n = peek(fd, now->data, s->head->n, NULL);
	if (n == -EAGAIN ||
	    (n >= 0 && ((size_t)n != s->head->n || memcmp(now->data, s->head->data, s->head->n))))
		rt_forget_head(s);
	heap_free(now);
	return n < 0 && n != -EAGAIN ? n : 0;
}

/* 0: s->instead is set, or the datagram is the program's; -errno. */
static ssize_t look(struct rt_sock *s, int fd)
{
	struct sockaddr_nl from = {0};
	ssize_t n = s->instead ? check_head(s, fd) : 0;

	if (n || s->instead || !s->waits)
		return n;
	n = peek(fd, NULL, 0, NULL);
	if (n < 0 || n > HEAD_MAX)
		return n < 0 ? n : 0;
	s->head = heap_zalloc(sizeof(*s->head) + (size_t)n);
	if (!s->head)
		return 0;
	s->head->n = (size_t)n;
	n = peek(fd, s->head->data, s->head->n, &from);
	if (n == (ssize_t)s->head->n && !from.nl_pid && !from.nl_groups)
		match(s);
	if (!s->instead)
		rt_forget_head(s);
	return n < 0 ? n : 0;
}

/* ---- reading */

static ssize_t scatter(const struct msghdr *m, const struct datagram *d)
{
	size_t at = 0;
	struct iovec v;

	for (size_t i = 0; i < m->msg_iovlen && at < d->n; i++) {
		size_t n;

		if (mem_guarded_copy(&v, &m->msg_iov[i], sizeof(v)))
			return -EFAULT;
		n = v.iov_len < d->n - at ? v.iov_len : d->n - at;
		if (n && mem_guarded_copy(v.iov_base, d->data + at, n))
			return -EFAULT;
		at += n;
	}
	return (ssize_t)at;
}

/* Name and control messages are those of the kernel's datagram. */
static ssize_t give(struct rt_sock *s, int fd, struct msghdr *m, int flags)
{
	struct datagram *d = s->instead;
	bool end = !(flags & MSG_PEEK) && !d->next;
	struct msghdr h = *m;
	struct sockaddr_nl from = {.nl_family = AF_NETLINK};
	ssize_t r, n = (ssize_t)d->n;

	h.msg_iov = NULL;
	h.msg_iovlen = 0;
	r = sys_call(SYS_recvmsg, fd, &h,
		     (flags & ~(MSG_PEEK | MSG_TRUNC)) | MSG_DONTWAIT | (end ? 0 : MSG_PEEK));
	if (r < 0)
		return r;
	r = scatter(m, d);
	if (d->groups && h.msg_name && h.msg_namelen >= sizeof(from)) {
		from.nl_groups = d->groups;
		if (mem_guarded_copy(h.msg_name, &from, sizeof(from)))
			r = -EFAULT;
	}
	m->msg_namelen = h.msg_namelen;
	m->msg_controllen = h.msg_controllen;
	m->msg_flags = (h.msg_flags & ~MSG_TRUNC) | (r < n ? MSG_TRUNC : 0);
	if (!(flags & MSG_PEEK)) {
		s->instead = d->next;
		heap_free(d);
	}
	if (end)
		rt_forget_head(s);
	return r >= 0 && (flags & MSG_TRUNC) ? n : r;
}

static ssize_t recv_locked(struct rt_sock *s, int fd, struct msghdr *m, int flags)
{
	ssize_t r = look(s, fd);

	if (r < 0)
		return r;
	return s->instead ? give(s, fd, m, flags)
			  : sys_call(SYS_recvmsg, fd, m, flags | MSG_DONTWAIT);
}

int rt_sleep_raw(int fd)
{
	long r = sys_call(SYS_recvfrom, fd, NULL, 0, MSG_PEEK, NULL, NULL);

	return r < 0 ? (int)r : 0;
}

/* `m` is our copy; the buffers that it points to are the program's. */
static bool recv_copy(int fd, struct msghdr *m, int flags, rt_sleep *sleep, ssize_t *r)
{
	struct rt_sock *s;
	struct shim_file *f;
	sigset_t old;

	if (flags & (MSG_OOB | MSG_ERRQUEUE))
		return false;
	for (*r = -EAGAIN; *r == -EAGAIN;) {
		s = rt_sock_get(fd, &f);
		if (!s)
			return false;
		if (!(flags & MSG_DONTWAIT)) {
			/* no reference while it sleeps: the thread may be cancelled */
			fdtab_put(f);
			*r = sleep(fd);
			if (*r < 0)
				return true;
			s = rt_sock_get(fd, &f);
			if (!s)
				return false;
		}
		nl_lock(&s->lock, &old);
		*r = recv_locked(s, fd, m, flags);
		nl_unlock(&s->lock, &old);
		fdtab_put(f);
		if (flags & MSG_DONTWAIT)
			break;
	}
	return true;
}

bool rt_recv(int fd, struct msghdr *m, int flags, rt_sleep *sleep, ssize_t *r)
{
	struct msghdr h;

	if (mem_guarded_copy(&h, m, sizeof(h)) || h.msg_iovlen > IOV_MAX ||
	    (h.msg_name && (int)h.msg_namelen < 0))
		return false;
	if (!recv_copy(fd, &h, flags & ~MSG_CMSG_CLOEXEC, sleep, r))
		return false;
	if (*r >= 0 &&
	    (mem_guarded_copy(&m->msg_namelen, &h.msg_namelen, sizeof(h.msg_namelen)) ||
	     mem_guarded_copy(&m->msg_controllen, &h.msg_controllen, sizeof(h.msg_controllen)) ||
	     mem_guarded_copy(&m->msg_flags, &h.msg_flags, sizeof(h.msg_flags))))
		*r = -EFAULT;
	return true;
}

bool rt_recvfrom(int fd, const struct iovec *v, int flags, struct sockaddr *a, socklen_t *len,
		 rt_sleep *sleep, ssize_t *r)
{
	struct msghdr m = {.msg_name = a, .msg_iov = (struct iovec *)v, .msg_iovlen = 1};

	if (a && (mem_guarded_copy(&m.msg_namelen, len, sizeof(*len)) || (int)m.msg_namelen < 0))
		return false;
	if (!recv_copy(fd, &m, flags, sleep, r))
		return false;
	if (*r >= 0 && a && mem_guarded_copy(len, &m.msg_namelen, sizeof(*len)))
		*r = -EFAULT;
	return true;
}

/* sock_read_iter(): a read of no bytes leaves the datagram where it is. */
static bool has_room(const struct iovec *iov, int n)
{
	struct iovec v;

	for (int i = 0; i < n; i++)
		if (!mem_guarded_copy(&v, &iov[i], sizeof(v)) && v.iov_len)
			return true;
	return false;
}

bool rt_readv(int fd, const struct iovec *iov, int n, ssize_t *r)
{
	struct msghdr m = {.msg_iov = (struct iovec *)iov, .msg_iovlen = (size_t)n};

	return n <= IOV_MAX && has_room(iov, n) && recv_copy(fd, &m, 0, rt_sleep_raw, r);
}

bool rt_recvmmsg(int fd, struct mmsghdr *v, unsigned int n, int flags, struct timespec *timeout,
		 rt_sleep *sleep, ssize_t *r)
{
	unsigned int i, len;
	struct nl_timer t;
	ssize_t one = 0;

	if (nl_timer_begin(&t, timeout))
		return false;
	for (i = 0; i < n && i < IOV_MAX; i++) {
		int more = i && (flags & MSG_WAITFORONE) ? MSG_DONTWAIT : 0;

		if (!rt_recv(fd, &v[i].msg_hdr, (flags & ~MSG_WAITFORONE) | more, sleep, &one)) {
			if (!i)
				return false;
			break;
		}
		len = (unsigned int)one;
		if (one >= 0 && mem_guarded_copy(&v[i].msg_len, &len, sizeof(len)))
			one = -EFAULT;
		if (one < 0)
			break;
		if (nl_timer_is_up(&t)) {
			i++;
			break;
		}
	}
	*r = i ? nl_timer_end(&t, (int)i) : one;
	return true;
}

/* ---- syscall() */

long rt_syscall(long nr, const long a[6], bool *handled)
{
	int fd = (int)a[0];
	struct iovec v = {(void *)a[1], (size_t)a[2]};
	const struct msghdr m = {.msg_name = (void *)a[4],
				 .msg_namelen = a[4] ? (socklen_t)a[5] : 0,
				 .msg_iov = &v,
				 .msg_iovlen = 1};
	ssize_t r = 0;

	*handled = true;
	if (nr == SYS_socket && a[0] == AF_NETLINK && a[2] == NETLINK_ROUTE) {
		r = sys_call(SYS_socket, a[0], a[1], a[2]);
		if (r >= 0)
			rt_opened((int)r);
		return r;
	}
	*handled = rt_is(fd);
	if (!*handled)
		return 0;
	switch (nr) {
	case SYS_sendto:
		*handled = rt_send(fd, &m, (int)a[3], &r);
		break;
	case SYS_sendmsg:
		*handled = rt_send(fd, (const void *)a[1], (int)a[2], &r);
		break;
	case SYS_sendmmsg:
		*handled = rt_sendmmsg(fd, (void *)a[1], (unsigned int)a[2], (int)a[3], &r);
		break;
	case SYS_recvfrom:
		*handled = rt_recvfrom(fd, &v, (int)a[3], (void *)a[4], (void *)a[5], rt_sleep_raw,
				       &r);
		break;
	case SYS_recvmsg:
		*handled = rt_recv(fd, (void *)a[1], (int)a[2], rt_sleep_raw, &r);
		break;
	case SYS_recvmmsg:
		*handled = rt_recvmmsg(fd, (void *)a[1], (unsigned int)a[2], (int)a[3],
				       (void *)a[4], rt_sleep_raw, &r);
		break;
	default:
		*handled = false;
	}
	return r;
}
