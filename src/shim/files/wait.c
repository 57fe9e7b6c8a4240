/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns waiting for files with an event queue. Checking a queue needs no system call. A thread that
 * has to wait sleeps in the kernel, on the FIFO, and is counted as a poller so that pushers write
 * its byte. A poller that does not return (cancelled, killed, gone by siglongjmp) leaves the file
 * with a byte for each packet: slower, never wrong. A waiting thread holds no reference to a file.
 */
#include "shim/adopt.h"
#include "shim/files/wait.h"
#include "hw/evq.h"
#include "segment/mem.h"
#include "shim/attach.h"
#include "shim/files/fdtab.h"
#include "shim/files/netlink.h"
#include "shim/files/nlroute.h"
#include "shim/shim.h"
#include "shim/signals/sig.h"
#include "shim/wrap.h"
#include "util/clock.h"
#include "util/sys.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define WAIT_MAX 8 /* more files in one call: use wait_publish() */
#define IN_BITS (POLLIN | POLLRDNORM)
#define OUT_BITS (POLLOUT | POLLWRNORM)

_Atomic uint32_t wait_files;

/* A file of the call. */
struct seen {
	struct shim_queue u;
	nfds_t at;    /* poll: which entry; select: which descriptor */
	short events; /* asked for */
	bool begun;
};

struct set {
	unsigned int n;
	nfds_t others; /* entries that are not ours */
	bool stray;    /* a FIFO had a byte, but its queue has no record */
	bool once;     /* the call cannot be repeated: stray bytes are reported */
	struct seen s[WAIT_MAX];
};

static bool queue_of(int fd, struct shim_queue *q)
{
	struct shim_file *f = fdtab_peek(fd);
	bool is;

	if (!f || f == &fdtab_private || f->kind == SEG_FILE_UVERBS)
		return false;
	f = shim_file_get(fd);
	is = f && shim_file_queue(f, q);
	fdtab_put(f);
	return is;
}

static void wait_publish_one(const struct shim_queue *u)
{
	struct sig_guard g;

	sig_guard_begin(&g);
	evq_publish(u->s, u->file, u->gen);
	sig_guard_end(&g);
}

void wait_publish(int fd)
{
	int saved = errno;
	struct shim_queue u;

	if (wait_any() && queue_of(fd, &u))
		wait_publish_one(&u);
	errno = saved;
}

void wait_publish_all(bool inherited)
{
	if (!wait_any())
		return;
	for (long fd = fdtab_next(0, UINT32_MAX); fd >= 0;
	     fd = fdtab_next((unsigned int)fd + 1, UINT32_MAX)) {
		int flags = inherited ? sys_fcntl((int)fd, F_GETFD, 0) : 0;

		if (sys_refused(flags) || (flags >= 0 && !(flags & FD_CLOEXEC)))
			wait_publish((int)fd);
	}
}

static void wait_add(struct set *set, int fd, nfds_t at, short events)
{
	struct seen *n = &set->s[set->n];

	if (set->n == WAIT_MAX) {
		wait_publish(fd);
		set->others++;
	} else if (queue_of(fd, &n->u)) {
		n->at = at;
		n->events = events;
		n->begun = false;
		set->n++;
	} else {
		set->others++;
	}
}

static short ready(const struct seen *w)
{
	const struct seg_evq *q = seg_live(w->u.s, SEG_T_EVQ, w->u.file);
	short bits = w->u.writable ? OUT_BITS : 0;

	if (!q || q->gen != w->u.gen || evq_ready(w->u.s, q))
		bits |= IN_BITS;
	return w->events & bits;
}

/*
 * The part of what the kernel reports for a FIFO that its queue does not confirm: the byte of a
 * pusher that was delayed until its record had been read. The byte is removed.
 */
static short stray(struct set *set, const struct seen *w, short reported)
{
	short bits = (short)(reported & w->events & IN_BITS & ~ready(w));
	struct sig_guard g;

	if (!bits)
		return 0;
	sig_guard_begin(&g);
	evq_wake(w->u.s, w->u.file, w->u.gen);
	sig_guard_end(&g);
	set->stray = true;
	return set->once ? 0 : bits;
}

static bool any_ready(const struct set *set)
{
	for (unsigned int i = 0; i < set->n; i++)
		if (ready(&set->s[i]))
			return true;
	return false;
}

static void wait_finish(struct set *set)
{
	for (unsigned int i = 0; i < set->n; i++)
		if (set->s[i].begun)
			evq_poll_end(set->s[i].u.s, set->s[i].u.file, set->s[i].u.gen);
}

/* Prepares to wait. False: a queue has something already, so no wait is begun. */
static bool wait_begin(struct set *set)
{
	struct sig_guard g;
	bool wait = true;

	sig_guard_begin(&g);
	for (unsigned int i = 0; i < set->n && wait; i++) {
		struct seen *w = &set->s[i];
		int r;

		if (!(w->events & IN_BITS))
			continue;
		r = evq_poll_begin(w->u.s, w->u.file, w->u.gen);
		w->begun = !r;
		if (r > 0)
			wait = false;
		else if (r < 0)
			evq_publish(w->u.s, w->u.file, w->u.gen);
	}
	sig_guard_end(&g);
	if (!wait)
		wait_finish(set);
	return wait;
}

/* Calls the next definition; the state of the queues decides how long it waits. */
static int call_until_ready(const struct wait_call *c, struct set *set)
{
	uint32_t forks = evq_forks();
	int r, saved;

	if (c->now || any_ready(set) || !wait_begin(set))
		return c->next(c, true);
	r = c->next(c, false);
	saved = errno;
	/*
	 * A fork child that a signal handler made also returns here, but was not counted as a
	 * poller.
	 */
	if (evq_forks() == forks)
		wait_finish(set);
	errno = saved;
	return r;
}

#define USEC_PER_SEC UINT64_C(1000000)
#define LONGEST_S (INT64_MAX / NSEC_PER_SEC) /* a longer time-out never ends */

/* When the call's time-out ends; 0: never. The kernel reports bad time-outs. */
static uint64_t end_of(const struct wait_call *c)
{
	struct timespec t = {.tv_sec = c->ms / 1000, .tv_nsec = c->ms % 1000 * NSEC_PER_MSEC};
	struct timeval tv = {0};
	uint64_t sec, ns;

	if (c->ts && mem_guarded_copy(&t, c->ts, sizeof(t)))
		return 0;
	if (c->tv && mem_guarded_copy(&tv, c->tv, sizeof(tv)))
		return 0;
	if (!c->tv && !c->ts && c->ms <= 0)
		return 0;
	/* select() takes a second's microseconds and more. */
	sec = c->tv ? (uint64_t)tv.tv_sec + (uint64_t)tv.tv_usec / USEC_PER_SEC
		    : (uint64_t)t.tv_sec;
	ns = c->tv ? (uint64_t)tv.tv_usec % USEC_PER_SEC * NSEC_PER_USEC : (uint64_t)t.tv_nsec;
	return sec >= LONGEST_S ? 0 : clock_now_ns() + sec * NSEC_PER_SEC + ns;
}

/* While the holder of a queue's lock is stopped, a stray byte stays: do not spin. */
static int nap(const struct set *set)
{
	const struct timespec t = {.tv_nsec = NSEC_PER_MSEC};

	for (unsigned int i = 0; i < set->n; i++) {
		const struct seg_evq *q = seg_live(set->s[i].u.s, SEG_T_EVQ, set->s[i].u.file);

		if (q && atomic_load(&q->asked))
			return (int)sys_call(SYS_nanosleep, &t, NULL);
	}
	return 0;
}

/*
 * Is the call that has found nothing but stray bytes to be repeated? Gives it the rest of its time
 * (select() does so itself). *r: its result if not.
 */
static bool again(struct set *set, struct wait_call *c, uint64_t end, struct timespec *left, int *r)
{
	uint64_t now = end ? clock_now_ns() : 0;

	if (*r || !set->stray || c->now || (end && now >= end))
		return false;
	if (nap(set) == -EINTR) {
		*r = -1;
		errno = EINTR;
		return false;
	}
	set->stray = false;
	if (end) {
		left->tv_sec = (time_t)((end - now) / NSEC_PER_SEC);
		left->tv_nsec = (long)((end - now) % NSEC_PER_SEC);
		c->ms = (int)((end - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC);
		if (c->ts)
			c->ts = left;
	}
	return true;
}

/* ---- poll */

static bool scan_poll(const struct wait_call *c, struct set *set)
{
	struct pollfd p;

	for (nfds_t i = 0; i < c->n; i++) {
		if (mem_guarded_copy(&p, &c->fds[i], sizeof(p)))
			return false;
		if (p.fd >= 0)
			wait_add(set, p.fd, i, p.events);
	}
	return set->n > 0;
}

/* Combines the kernel's result for the descriptors with the state of their queues. */
static int merge_poll(const struct wait_call *c, struct set *set, int r)
{
	for (unsigned int i = 0; r >= 0 && i < set->n; i++) {
		struct pollfd *p = &c->fds[set->s[i].at];
		short was = p->revents, bits = ready(&set->s[i]);

		p->revents = (short)((was & ~stray(set, &set->s[i], was)) | bits);
		r += !!p->revents - !!was;
	}
	return r;
}

int wait_poll(const struct wait_call *call)
{
	struct wait_call c = *call;
	struct set set = {0};
	struct timespec left;
	short none = 0;
	uint64_t end;
	int r;

	if (!scan_poll(&c, &set))
		return c.next(&c, false);
	/* Only such files, and no need to wait: skip the kernel. */
	if (!set.others && (c.now || any_ready(&set))) {
		for (nfds_t i = 0; i < c.n; i++)
			if (mem_guarded_copy(&c.fds[i].revents, &none, sizeof(none)))
				return c.next(&c, true);
		return merge_poll(&c, &set, 0);
	}
	end = end_of(&c);
	do
		r = merge_poll(&c, &set, call_until_ready(&c, &set));
	while (again(&set, &c, end, &left, &r));
	return r;
}

static int next_poll(const struct wait_call *c, bool now);

WRAP(int, poll, (struct pollfd * fds, nfds_t n, int ms))
{
	const struct wait_call c = {.next = next_poll, .now = !ms, .fds = fds, .n = n, .ms = ms};

	return wait_any() ? wait_poll(&c) : NEXT(poll)(fds, n, ms);
}

static int next_poll(const struct wait_call *c, bool now)
{
	return NEXT(poll)(c->fds, c->n, now ? 0 : c->ms);
}

static int next___poll_chk(const struct wait_call *c, bool now);

WRAP(int, __poll_chk, (struct pollfd * fds, nfds_t n, int ms, size_t room))
{
	const struct wait_call c = {
		.next = next___poll_chk, .now = !ms, .fds = fds, .n = n, .ms = ms, .room = room};

	if (!wait_any() || n > room / sizeof(*fds))
		return NEXT(__poll_chk)(fds, n, ms, room);
	return wait_poll(&c);
}

static int next___poll_chk(const struct wait_call *c, bool now)
{
	return NEXT(__poll_chk)(c->fds, c->n, now ? 0 : c->ms, c->room);
}

/* ---- select */

/* Reads no further than this process has files, as core_sys_select() does: nfds may be huge. */
static bool scan_select(const struct wait_call *c, struct set *set)
{
	unsigned int last = (unsigned int)c->nfds - 1;
	uint64_t word;

	if (!c->rd || c->nfds <= 0)
		return false;
	for (long fd = fdtab_next(0, last); fd >= 0; fd = fdtab_next((unsigned int)fd + 1, last)) {
		if (mem_guarded_copy(&word, (uint64_t *)c->rd + fd / 64, sizeof(word)))
			return false;
		if (word >> fd % 64 & 1)
			wait_add(set, (int)fd, (nfds_t)fd, IN_BITS);
	}
	return set->n > 0;
}

static int merge_select(const struct wait_call *c, struct set *set, int r)
{
	for (unsigned int i = 0; r >= 0 && i < set->n; i++) {
		const struct seen *w = &set->s[i];
		uint64_t *word = (uint64_t *)c->rd + w->at / 64;
		uint64_t bit = UINT64_C(1) << w->at % 64, was = *word & bit;

		if (ready(w))
			*word |= bit;
		else if (was && stray(set, w, IN_BITS))
			*word &= ~bit;
		r += !!(*word & bit) - !!was;
	}
	return r;
}

/* The sets of a call, which the kernel overwrites. */
struct sets {
	fd_set rd, wr, ex;
};

static bool copy_set(fd_set *to, const fd_set *from, const struct wait_call *c)
{
	size_t words = ((size_t)c->nfds + 63) / 64;

	return !from || !to || !mem_guarded_copy(to, from, words * sizeof(uint64_t));
}

/* False: the sets are larger than the library's, so the call cannot be repeated. */
static bool save_sets(struct sets *sets, const struct wait_call *c)
{
	return c->nfds <= FD_SETSIZE && copy_set(&sets->rd, c->rd, c) &&
	       copy_set(&sets->wr, c->wr, c) && copy_set(&sets->ex, c->ex, c);
}

static bool restore_sets(const struct sets *sets, const struct wait_call *c)
{
	return copy_set(c->rd, &sets->rd, c) && copy_set(c->wr, &sets->wr, c) &&
	       copy_set(c->ex, &sets->ex, c);
}

int wait_select(const struct wait_call *call)
{
	struct wait_call c = *call;
	struct set set = {0};
	struct timespec left;
	struct sets sets;
	uint64_t end;
	int r;

	if (!scan_select(&c, &set))
		return c.next(&c, false);
	set.once = !save_sets(&sets, &c);
	end = end_of(&c);
	do
		r = merge_select(&c, &set, call_until_ready(&c, &set));
	while (again(&set, &c, end, &left, &r) && restore_sets(&sets, &c));
	return r;
}

static int next_select(const struct wait_call *c, bool now);

WRAP(int, select, (int n, fd_set *rd, fd_set *wr, fd_set *ex, struct timeval *tv))
{
	struct timeval t = {0, 1};
	struct wait_call c = {
		.next = next_select, .nfds = n, .rd = rd, .wr = wr, .ex = ex, .tv = tv};

	if (!wait_any() || (tv && mem_guarded_copy(&t, tv, sizeof(t))) || t.tv_sec < 0 ||
	    t.tv_usec < 0)
		return NEXT(select)(n, rd, wr, ex, tv); /* the kernel reports bad time-outs */
	c.now = !t.tv_sec && !t.tv_usec;
	return wait_select(&c);
}

/*
 * select() writes the remaining time back; an immediate look must leave the program's time-out as
 * it is.
 */
static int next_select(const struct wait_call *c, bool now)
{
	struct timeval none = {0, 0};

	return NEXT(select)(c->nfds, c->rd, c->wr, c->ex, now ? &none : c->tv);
}

/* ---- waiters that bypass the wrappers */

WRAP(int, epoll_ctl, (int epfd, int op, int fd, struct epoll_event *ev))
{
	if (op != EPOLL_CTL_DEL)
		wait_publish(fd);
	return NEXT(epoll_ctl)(epfd, op, fd, ev);
}

static void publish_list(const void *fds, size_t n)
{
	int fd;

	for (size_t i = 0; i < n; i++)
		if (!mem_guarded_copy(&fd, (const uint8_t *)fds + i * sizeof(fd), sizeof(fd)))
			wait_publish(fd);
}

static void publish_sent(const struct msghdr *m)
{
	struct msghdr h;
	struct cmsghdr c;
	size_t at = 0;

	if (mem_guarded_copy(&h, m, sizeof(h)) || !h.msg_control)
		return;
	/* As for_each_cmsghdr(): the kernel refuses what ends it. */
	while (at + sizeof(c) <= h.msg_controllen) {
		const uint8_t *p = (const uint8_t *)h.msg_control + at;

		if (mem_guarded_copy(&c, p, sizeof(c)) || c.cmsg_len < sizeof(c) ||
		    c.cmsg_len > h.msg_controllen - at)
			return;
		if (c.cmsg_level == SOL_SOCKET && c.cmsg_type == SCM_RIGHTS)
			publish_list(p + CMSG_LEN(0), (c.cmsg_len - CMSG_LEN(0)) / sizeof(int));
		at += CMSG_ALIGN(c.cmsg_len);
	}
}

static ssize_t sock_result(ssize_t r)
{
	if (r >= 0)
		return r;
	errno = (int)-r;
	return -1;
}

WRAP(ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags))
{
	ssize_t r;

	if (nl_is(fd))
		return sock_result(nl_sendmsg(fd, m, flags));
	if (rt_is(fd) && rt_send(fd, m, flags, &r))
		return sock_result(r);
	if (wait_any())
		publish_sent(m);
	return ADOPT_CALL_M(m, 1, 0, NEXT(sendmsg)(fd, m, flags));
}

WRAP(int, sendmmsg, (int fd, struct mmsghdr *v, unsigned int n, int flags))
{
	ssize_t r;

	if (nl_is(fd))
		return (int)sock_result(nl_sendmmsg(fd, v, n, flags));
	if (rt_is(fd) && rt_sendmmsg(fd, v, n, flags, &r))
		return (int)sock_result(r);
	for (unsigned int i = 0; i < n && wait_any(); i++)
		publish_sent(&v[i].msg_hdr);
	return ADOPT_CALL_M(&v->msg_hdr, n, sizeof(*v), NEXT(sendmmsg)(fd, v, n, flags));
}
