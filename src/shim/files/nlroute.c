/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the table entries of NETLINK_ROUTE sockets, and what a program sends on them. nlread.c gives
 * it the answers. Raw system calls: a send to the kernel does not sleep.
 */
#include "fabric/ifaddr.h"
#include "nldev/rtnl.h"
#include "segment/mem.h"
#include "shim/files/paths.h"
#include "shim/files/priv.h"
#include "shim/net/net.h"
#include "shim/shim.h"
#include "util/heap.h"
#include "util/log.h"
#include "util/sys.h"

#include <limits.h>
#include <linux/rtnetlink.h>
#include <string.h>

#define SENT_MAX 16384u /* a longer datagram cannot be a request about an interface */
#define WAITS_MAX 1024u
#define IFACES_MAX 1024u
/* No interface has this number, so the kernel refuses a request for it with ENODEV. */
#define NO_IFACE (INT32_MAX - 1)

/* ---- entries */

void rt_opened(int fd)
{
	int saved = errno;
	struct fab_iface f;
	struct rt_sock *s;
	struct shim_file *e;
	struct stat st;
	sigset_t old;

	if (!shim_on() || !shim_owns_tables() || !net_iface(0, &f) || sys_call(SYS_fstat, fd, &st))
		return;
	shim_enter(&old);
	s = heap_zalloc(sizeof(*s));
	e = s ? fdtab_new() : NULL;
	if (e) {
		e->kind = SHIM_ROUTE;
		e->dev = st.st_dev;
		e->ino = st.st_ino;
		e->obj = s;
		if (fdtab_set(fd, e))
			fdtab_put(e);
	} else {
		heap_free(s);
	}
	shim_leave(&old);
	errno = saved;
}

void rt_wait_free(struct rt_wait *w)
{
	struct datagram *d;

	while (w && (d = w->first)) {
		w->first = d->next;
		heap_free(d);
	}
	heap_free(w);
}

void rt_forget_head(struct rt_sock *s)
{
	struct datagram *d;

	while ((d = s->instead)) {
		s->instead = d->next;
		heap_free(d);
	}
	heap_free(s->head);
	s->head = NULL;
}

void rt_ended(void *obj)
{
	struct rt_sock *s = obj;
	struct rt_wait *w;
	sigset_t old;

	shim_enter(&old);
	while ((w = s->waits)) {
		s->waits = w->next;
		rt_wait_free(w);
	}
	rt_forget_head(s);
	heap_free(s);
	shim_leave(&old);
}

struct rt_sock *rt_sock_get(int fd, struct shim_file **f)
{
	struct stat st;

	*f = shim_owns_tables() ? fdtab_get(fd) : NULL;
	if (*f && (*f)->kind == SHIM_ROUTE && !sys_call(SYS_fstat, fd, &st) &&
	    st.st_dev == (*f)->dev && st.st_ino == (*f)->ino)
		return (*f)->obj;
	fdtab_put(*f);
	*f = NULL;
	return NULL;
}

/* ---- answers */

void rt_add(struct datagram **first, struct datagram **last, struct datagram *d)
{
	if (*first)
		(*last)->next = d;
	else
		*first = d;
	*last = d;
}

/* The datagram that a program is sending. */
struct sending {
	struct rt_sock *s;
	struct rt_wait *w; /* of the present message */
	struct rtnl r;
	struct fab_iface *iface;
	uint8_t *out; /* what the kernel gets */
	size_t n;
	unsigned int added; /* the latest waits */
	bool failed;        /* no memory: the message goes to the kernel */
};

/*
 * Packs messages of a dump into datagrams, as many as fit. An error gets a datagram of its own
 * size.
 */
static int collect(void *arg, const void *data, size_t n)
{
	struct sending *o = arg;
	struct datagram *d = o->w->last;

	if (!o->w->dump || !d || d->n + n > NLDEV_DATAGRAM) {
		d = heap_zalloc(sizeof(*d) +
				(o->w->dump && n < NLDEV_DATAGRAM ? NLDEV_DATAGRAM : n));
		if (!d) {
			o->failed = true;
			return -ENOBUFS;
		}
		rt_add(&o->w->first, &o->w->last, d);
	}
	memcpy(d->data + d->n, data, n);
	d->n += NLMSG_ALIGN(n);
	if (!o->w->dump)
		d->n = n;
	return 0;
}

static bool load_ifaces(struct sending *o)
{
	struct fab_iface f;
	uint32_t n = 0;

	while (n < IFACES_MAX && net_iface(n, &f))
		n++;
	o->iface = heap_zalloc((n + 1) * sizeof(f));
	for (uint32_t i = 0; o->iface && i < n && net_iface(i, &f); i++)
		o->iface[o->r.n++] = f;
	o->r.iface = o->iface;
	return o->iface;
}

/* ---- what the kernel gets */

static bool option(int fd, int name)
{
	socklen_t len = sizeof(int);
	int v = 0;

	return !sys_call(SYS_getsockopt, fd, SOL_NETLINK, name, &v, &len) && v;
}

/* Is the datagram addressed to the kernel? Others are no requests. */
static bool to_kernel(int fd, const struct msghdr *m)
{
	struct sockaddr_nl a = {0};
	socklen_t len = sizeof(a);

	if (m->msg_name)
		return m->msg_namelen >= sizeof(a) && !mem_guarded_copy(&a, m->msg_name, len) &&
		       a.nl_family == AF_NETLINK && !a.nl_pid && !a.nl_groups;
	return !sys_call(SYS_getpeername, fd, &a, &len) && !a.nl_pid && !a.nl_groups;
}

/* Replaces a message that is answered here: the kernel refuses it with one NLMSG_ERROR. */
struct token {
	struct nlmsghdr h;
	struct ifinfomsg m;
};

static struct token token_of(const struct rt_wait *w)
{
	return (struct token){.h = {.nlmsg_len = sizeof(struct token),
				    .nlmsg_type = RTM_GETLINK,
				    .nlmsg_flags = NLM_F_REQUEST,
				    .nlmsg_seq = w->seq,
				    .nlmsg_pid = w->id},
			      .m = {.ifi_index = NO_IFACE}};
}

static void put_token(struct sending *o)
{
	struct token t = token_of(o->w);

	memcpy(o->out + o->n, &t, sizeof(t));
	o->n += sizeof(t);
}

/* Adds w to the socket's list, under s->lock. */
static void rt_wait_add(struct rt_sock *s, struct rt_wait *w)
{
	struct rt_wait **p = &s->waits;

	while (*p)
		p = &(*p)->next;
	*p = w;
	if (++s->nwaits > WAITS_MAX) {
		struct rt_wait *oldest = s->waits;

		s->waits = oldest->next;
		s->nwaits--;
		rt_wait_free(oldest);
	}
}

void rt_wait_send(struct rt_sock *s, int fd, struct rt_wait *w)
{
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	struct token t = token_of(w);

	rt_wait_add(s, w);
	sys_call(SYS_sendto, fd, &t, sizeof(t), MSG_DONTWAIT, &kernel, sizeof(kernel));
}

/* One message of `step` bytes. */
static void message(struct sending *o, const struct nlmsghdr *h, size_t step)
{
	enum rtnl_who who;

	o->w = heap_zalloc(sizeof(*o->w));
	o->failed = !o->w;
	if (o->w) {
		o->w->seq = h->nlmsg_seq;
		o->w->id = ++o->s->last_id;
		o->w->dump = (h->nlmsg_flags & NLM_F_DUMP) && (h->nlmsg_type & 3) == 2;
	}
	who = o->w ? rtnl_request(&o->r, h) : RTNL_KERNEL;
	TRACE(LOG_SHIM, "netlink route: type %u flags %#x: %s", h->nlmsg_type, h->nlmsg_flags,
	      who == RTNL_KERNEL ? "the kernel's"
	      : who == RTNL_OURS ? "answered"
				 : "a dump");
	if (o->failed || who == RTNL_KERNEL) {
		rt_wait_free(o->w);
	} else {
		o->w->ours = who == RTNL_DUMP_OURS;
		rt_wait_add(o->s, o->w);
		o->added++;
	}
	if (!o->failed && who == RTNL_OURS) {
		put_token(o);
		return;
	}
	memcpy(o->out + o->n, h, step);
	o->n += step;
}

/* netlink_rcv_skb() */
static void messages(struct sending *o, const uint8_t *at, size_t n)
{
	while (n >= NLMSG_HDRLEN) {
		const struct nlmsghdr *h = (const void *)at;
		size_t step = NLMSG_ALIGN(h->nlmsg_len);

		if (h->nlmsg_len < NLMSG_HDRLEN || h->nlmsg_len > n)
			break;
		if (step > n)
			step = n;
		message(o, h, step);
		at += step;
		n -= step;
	}
	memcpy(o->out + o->n, at, n);
	o->n += n;
}

/* Removes the newest waits, which belong to a datagram that was not sent. */
static void cancel(struct sending *o)
{
	struct rt_wait **p = &o->s->waits;

	for (unsigned int n = o->added; n < o->s->nwaits; n++)
		p = &(*p)->next;
	while (*p) {
		struct rt_wait *w = *p;

		*p = w->next;
		o->s->nwaits--;
		rt_wait_free(w);
	}
}

/* A copy of all vectors behind `room` bytes; 0: leave it to the kernel. */
static size_t gather(const struct msghdr *m, uint8_t **out)
{
	size_t total = 0, at = 0;
	struct iovec v;

	for (size_t i = 0; i < m->msg_iovlen; i++) {
		if (mem_guarded_copy(&v, &m->msg_iov[i], sizeof(v)) || v.iov_len > SENT_MAX ||
		    total + v.iov_len > SENT_MAX)
			return 0;
		total += v.iov_len;
	}
	*out = total < NLMSG_HDRLEN ? NULL : heap_zalloc(total);
	for (size_t i = 0; *out && i < m->msg_iovlen; i++) {
		if (mem_guarded_copy(&v, &m->msg_iov[i], sizeof(v)) || v.iov_len > total - at ||
		    mem_guarded_copy(*out + at, v.iov_base, v.iov_len)) {
			heap_free(*out);
			*out = NULL;
		}
		at += v.iov_len;
	}
	return *out ? total : 0;
}

static bool send_locked(struct rt_sock *s, int fd, const struct msghdr *m, int flags, ssize_t *r)
{
	struct sending o = {.s = s};
	uint8_t *data = NULL;
	size_t n = gather(m, &data);
	/* a message has at least its header, a token is twice as long */
	bool sent = false;

	if (n && to_kernel(fd, m) && load_ifaces(&o) && (o.out = heap_zalloc(2 * n))) {
		struct msghdr h = *m;
		struct iovec v = {o.out, 0};

		o.r.strict = option(fd, NETLINK_GET_STRICT_CHK);
		o.r.uid = (uint32_t)sys_call(SYS_getuid);
		o.r.to = (struct nl_peer){.ext_ack = option(fd, NETLINK_EXT_ACK),
					  .cap_ack = option(fd, NETLINK_CAP_ACK),
					  .answer = collect,
					  .arg = &o};
		messages(&o, data, n);
		v.iov_len = o.n;
		h.msg_iov = &v;
		h.msg_iovlen = 1;
		sent = o.added;
		if (sent) {
			*r = sys_call(SYS_sendmsg, fd, &h, flags);
			if (*r < 0)
				cancel(&o);
			else
				*r = (ssize_t)n;
		}
	}
	heap_free(o.out);
	heap_free(o.iface);
	heap_free(data);
	return sent;
}

bool rt_send(int fd, const struct msghdr *m, int flags, ssize_t *r)
{
	struct shim_file *f;
	struct rt_sock *s;
	struct msghdr h;
	sigset_t old;
	bool sent;

	if ((flags & MSG_OOB) || mem_guarded_copy(&h, m, sizeof(h)) || h.msg_iovlen > IOV_MAX)
		return false;
	s = rt_sock_get(fd, &f);
	if (!s)
		return false;
	nl_lock(&s->lock, &old);
	sent = send_locked(s, fd, &h, flags, r);
	nl_unlock(&s->lock, &old);
	fdtab_put(f);
	return sent;
}

bool rt_sendmmsg(int fd, struct mmsghdr *v, unsigned int n, int flags, ssize_t *r)
{
	ssize_t one = 0;
	unsigned int i;

	for (i = 0; i < n && i < IOV_MAX; i++) {
		unsigned int len;

		if (!rt_send(fd, &v[i].msg_hdr, flags, &one))
			one = sys_call(SYS_sendmsg, fd, &v[i].msg_hdr, flags);
		len = (unsigned int)one;
		if (one >= 0 && mem_guarded_copy(&v[i].msg_len, &len, sizeof(len)))
			one = -EFAULT;
		if (one < 0)
			break;
	}
	*r = i ? (ssize_t)i : one;
	return true;
}

bool rt_writev(int fd, const struct iovec *iov, int n, ssize_t *r)
{
	const struct msghdr m = {.msg_iov = (struct iovec *)iov, .msg_iovlen = (size_t)n};

	return n >= 0 && rt_send(fd, &m, 0, r);
}
