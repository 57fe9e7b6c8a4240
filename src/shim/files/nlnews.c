/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns notifications on sockets of NETLINK_ROUTE: a thread that looks at the host's interfaces when
 * their files change, and tells the sockets that have joined a group. It runs in processes with
 * such a socket alone. The kernel wakes the reader: a request that it refuses, as in nlroute.c.
 */
#include "fabric/ifaddr.h"
#include "nldev/rtnl.h"
#include "shim/files/paths.h"
#include "shim/files/priv.h"
#include "shim/net/net.h"
#include "shim/shim.h"
#include "util/fmt.h"
#include "util/heap.h"
#include "util/log.h"
#include "util/sys.h"

#include <linux/rtnetlink.h>
#include <poll.h>
#include <string.h>
#include <sys/inotify.h>

#define NEWS_STEP 64u /* interfaces for which a list gets room at a time */
#define GROUP(g) (1u << ((g)-1))
#define GROUPS (GROUP(RTNLGRP_LINK) | GROUP(RTNLGRP_IPV4_IFADDR) | GROUP(RTNLGRP_IPV6_IFADDR))
#define LOOK_MS 1000 /* whether the program's threads have ended */

struct ifaces {
	struct fab_iface *f;
	uint32_t n, room;
};

static struct {
	_Atomic uint32_t runs; /* the thread, or one that starts it */
	int fd;                /* inotify */
	uint32_t serial;
	struct ifaces was, is;
} news = {.fd = -1};

/* False: there is no memory for all of them, and so no news. */
static bool load(struct ifaces *l)
{
	struct fab_iface *more;

	for (l->n = 0;; l->n++) {
		if (l->n == l->room) {
			more = heap_grow(l->f, l->room * sizeof(*more),
					 (l->room + NEWS_STEP) * sizeof(*more));
			if (!more)
				return false;
			l->f = more;
			l->room += NEWS_STEP;
		}
		if (!net_iface(l->n, &l->f[l->n]))
			return true;
	}
}

/* ---- telling */

static uint32_t groups_of(int fd)
{
	struct sockaddr_nl a = {0};
	socklen_t len = sizeof(a);

	return sys_call(SYS_getsockname, fd, &a, &len) ? 0 : a.nl_groups;
}

static void tell_locked(struct rt_sock *s, int fd, uint32_t group, const void *data, size_t n)
{
	struct rt_wait *w = heap_zalloc(sizeof(*w));
	struct datagram *d = heap_zalloc(sizeof(*d) + n);

	if (!w || !d) {
		heap_free(w);
		heap_free(d);
		return;
	}
	memcpy(d->data, data, n);
	d->n = n;
	d->groups = GROUP(group);
	w->id = ++s->last_id;
	w->first = w->last = d;
	rt_wait_send(s, fd, w);
}

static void tell(void *arg, uint32_t group, const void *data, size_t n)
{
	long fd = -1;

	news.serial++;
	while ((fd = fdtab_next((unsigned int)fd + 1, FDTAB_MAX - 1)) >= 0) {
		struct shim_file *f;
		struct rt_sock *s = rt_sock_get((int)fd, &f);
		sigset_t old;

		if (!s)
			continue;
		nl_lock(&s->lock, &old);
		/* Several descriptors may be of one socket. */
		if (s->serial != news.serial && (groups_of((int)fd) & GROUP(group))) {
			s->serial = news.serial;
			tell_locked(s, (int)fd, group, data, n);
		}
		nl_unlock(&s->lock, &old);
		fdtab_put(f);
	}
}

/* ---- the thread */

static void look(void)
{
	char events[4096];
	struct ifaces was = news.was;

	while (sys_call(SYS_read, news.fd, events, sizeof(events)) > 0)
		;
	if (!load(&news.is) || !news.is.n)
		return; /* the fabric ends */
	rtnl_news(was.f, was.n, news.is.f, news.is.n, tell, NULL);
	news.was = news.is;
	news.is = was;
}

static void *watch(void *arg)
{
	devthread_begin();
	while (devthread_needed()) {
		struct pollfd p = {.fd = news.fd, .events = POLLIN};
		struct timespec t = {.tv_sec = LOOK_MS / 1000};

		if (sys_call(SYS_ppoll, &p, 1, &t, NULL, 0) <= 0)
			continue;
		/* The program has closed all descriptors by number: this one is not ours. */
		if (p.revents & ~POLLIN) {
			news.fd = -1;
			atomic_store(&news.runs, 0);
			break;
		}
		look();
	}
	devthread_end();
	return NULL;
}

static void news_forget(void)
{
	if (news.fd >= 0)
		sys_fd_drop(news.fd);
	news.fd = -1;
	atomic_store(&news.runs, 0);
}

static int start(void)
{
	char path[sizeof(shim_config()->root) + 24];
	int fd = (int)sys_call(SYS_inotify_init1, IN_CLOEXEC | IN_NONBLOCK);
	int r;

	if (fd < 0) {
		news_forget();
		return fd;
	}
	news.fd = sys_fd_high(fd);
	fmt(path, sizeof(path), "%s/ifaces", shim_config()->root);
	r = (int)sys_call(SYS_inotify_add_watch, news.fd, path, IN_MOVED_TO | IN_DELETE);
	if (r >= 0 && !load(&news.was))
		r = -ENOMEM;
	if (r >= 0)
		r = devthread_create(watch, NULL);
	if (r < 0)
		news_forget();
	return r;
}

void rt_joined(int fd)
{
	uint32_t none = 0;
	sigset_t old;
	int saved = errno, r;

	if (!(groups_of(fd) & GROUPS) || !atomic_compare_exchange_strong(&news.runs, &none, 1))
		return;
	shim_enter(&old);
	r = start();
	shim_leave(&old);
	TRACE(LOG_SHIM, "netlink route: thread for notifications: %d", r);
	errno = saved;
}

/* The thread is the parent's, and so is what it reads. */
void rt_forked(void)
{
	news_forget();
}
