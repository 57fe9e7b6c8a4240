/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the client's end of the supervisor's socket. It is on the control path, except
 * link_ask_mem() and link_get_mem(), which a trap may call. Calls the kernel below libc, because
 * the program's close() and connect() may be wrapped.
 */
#include "segment/suplink.h"
#include "segment/tap.h"
#include "segment/memfd.h"
#include "segment/slot.h"
#include "util/fmt.h"
#include "util/log.h"
#include "util/sys.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#define ONCE_TIMEOUT_S 2 /* shorter, as signals may be blocked */

/* ---- one message */

/* Data behind a message. `n`: the maximum length, afterwards the number of bytes transferred. */
struct more {
	void *at;
	size_t n;
};

static long send_msg(int sock, const struct link_msg *m, const struct more *more, int fd)
{
	struct iovec io[2] = {{(void *)(uintptr_t)m, sizeof(*m)},
			      {more ? more->at : NULL, more ? more->n : 0}};
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} c;
	struct msghdr h = {.msg_iov = io, .msg_iovlen = 2};
	long r;

	if (fd >= 0) {
		memset(&c, 0, sizeof(c));
		c.h.cmsg_len = CMSG_LEN(sizeof(int));
		c.h.cmsg_level = SOL_SOCKET;
		c.h.cmsg_type = SCM_RIGHTS;
		memcpy(CMSG_DATA(&c.h), &fd, sizeof(fd));
		h.msg_control = &c;
		h.msg_controllen = sizeof(c.room);
	}
	do
		r = sys_raw(SYS_sendmsg, sock, (long)&h, MSG_NOSIGNAL, 0, 0, 0);
	while (r == -EINTR);
	return r < 0 ? r : 0;
}

/*
 * 0; -ECONNRESET at end of file; -EAGAIN on timeout; -EPROTO. *fd: the descriptor received, or -1.
 */
static long recv_msg(int sock, struct link_msg *m, struct more *more, int *fd)
{
	struct iovec io[2] = {{m, sizeof(*m)}, {more ? more->at : NULL, more ? more->n : 0}};
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} c;
	struct msghdr h = {.msg_iov = io,
			   .msg_iovlen = 2,
			   .msg_control = &c,
			   .msg_controllen = sizeof(c.room)};
	struct cmsghdr *p;
	long r;

	*fd = -1;
	do
		r = sys_raw(SYS_recvmsg, sock, (long)&h, MSG_CMSG_CLOEXEC, 0, 0, 0);
	while (r == -EINTR);
	if (r < 0)
		return r;
	for (p = CMSG_FIRSTHDR(&h); p; p = CMSG_NXTHDR(&h, p)) {
		size_t n = (p->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (p->cmsg_level != SOL_SOCKET || p->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < n; i++) {
			int got;

			memcpy(&got, CMSG_DATA(p) + i * sizeof(int), sizeof(int));
			if (*fd < 0)
				*fd = got;
			else
				sys_close(got);
		}
	}
	if (r >= (long)sizeof(*m) && (more || r == sizeof(*m))) {
		if (more)
			more->n = (size_t)r - sizeof(*m);
		return 0;
	}
	if (*fd >= 0)
		sys_close(*fd);
	*fd = -1;
	return r ? -EPROTO : -ECONNRESET;
}

/* ---- the connection */

static int connect_path(int sock, const char *dir, size_t n)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	if (n + sizeof("/sock") > sizeof(a.sun_path))
		return -ENAMETOOLONG;
	memcpy(a.sun_path, dir, n);
	memcpy(a.sun_path + n, "/sock", sizeof("/sock"));
	return (int)sys_raw(SYS_connect, sock, (long)&a, sizeof(a), 0, 0, 0);
}

/* If the directory's name is too long for a socket address, use a descriptor of it. */
static int connect_long(int sock, const char *dir)
{
	int fd = sys_openat(AT_FDCWD, dir, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	char alias[40];
	int r;

	if (fd < 0)
		return fd;
	r = connect_path(sock, alias, fmt(alias, sizeof(alias), "/proc/thread-self/fd/%d", fd));
	sys_close(fd);
	return r;
}

/* timeout 0: never wait; -EAGAIN: other processes are queueing. */
static int dial(const char *dir, unsigned int timeout_s)
{
	struct timeval tv = {.tv_sec = timeout_s};
	int type = SOCK_SEQPACKET | SOCK_CLOEXEC | (timeout_s ? 0 : SOCK_NONBLOCK);
	int sock, r;

	sock = (int)sys_raw(SYS_socket, AF_UNIX, type, 0, 0, 0, 0);
	if (sock < 0)
		return sock;
	sock = sys_fd_high(sock);
	sys_raw(SYS_setsockopt, sock, SOL_SOCKET, SO_RCVTIMEO, (long)&tv, sizeof(tv), 0);
	sys_raw(SYS_setsockopt, sock, SOL_SOCKET, SO_SNDTIMEO, (long)&tv, sizeof(tv), 0);
	r = connect_path(sock, dir, strlen(dir));
	if (r == -ENAMETOOLONG)
		r = connect_long(sock, dir);
	if (r) {
		sys_fd_drop(sock);
		return r == -EAGAIN && timeout_s ? -ETIMEDOUT : r;
	}
	return sock;
}

/* ---- requests */

static void busy_lock(_Atomic uint32_t *w)
{
	uint32_t none = 0;

	if (atomic_compare_exchange_strong(w, &none, 1))
		return;
	while (atomic_exchange(w, 2))
		sys_futex_wait(w, 2, UINT64_C(1000000000));
}

static void busy_unlock(_Atomic uint32_t *w)
{
	if (atomic_exchange(w, 0) == 2)
		sys_futex_wake(w, 1);
}

/*
 * Sends a request and waits. The reply replaces *m. A reply that is late is noted as owed, since it
 * would be taken for the reply to the next request.
 */
static int ask_locked(struct link *l, struct link_msg *m, const struct more *out, struct more *in,
		      int give, int *got)
{
	uint32_t op = m->op;
	long r = 0;

	*got = -1;
	if (l->fd < 0)
		return -ENOTCONN;
	while (l->owed && !r) {
		struct link_msg late;
		char bytes[LINK_MORE];
		struct more rest = {bytes, sizeof(bytes)};
		int fd;

		r = recv_msg(l->fd, &late, &rest, &fd);
		if (fd >= 0)
			sys_close(fd);
		if (!r)
			l->owed--;
	}
	if (!r)
		r = send_msg(l->fd, m, out, give);
	if (!r) {
		r = recv_msg(l->fd, m, in, got);
		if (r == -EAGAIN)
			l->owed++;
	}
	if (r)
		return r == -EAGAIN ? -ETIMEDOUT : (int)r;
	if (m->op == op && m->err <= 0)
		return m->err;
	return -EPROTO;
}

static int ask(struct link *l, struct link_msg *m, int give, int *got)
{
	int r;

	busy_lock(&l->busy);
	r = ask_locked(l, m, NULL, NULL, give, got);
	busy_unlock(&l->busy);
	if (r && *got >= 0) {
		sys_close(*got);
		*got = -1;
	}
	TRACE(LOG_LINK, "request %u: %d", m->op, r);
	return r;
}

/* Asks for the eventfd once. Without it, requests go through the socket. */
static bool has_bell(struct link *l)
{
	struct link_msg m = {.op = LINK_BELL};
	int fd;

	if (l->bell != -1)
		return l->bell >= 0;
	if (ask_locked(l, &m, NULL, NULL, -1, &fd) || fd < 0) {
		if (fd >= 0)
			sys_close(fd);
		l->bell = -2;
		return false;
	}
	l->bell = sys_fd_high(fd);
	l->bell_id = slot_bell_id(l->bell);
	return true;
}

int link_ask_more(struct link *l, struct link_msg *m, const void *out, size_t n, void *in,
		  size_t *room)
{
	const struct more o = {(void *)(uintptr_t)out, n};
	struct more i = {in, *room};
	int fd = -1, r = SLOT_NO_BELL;

	if (n > LINK_MORE)
		return -EMSGSIZE;
	m->more = (uint32_t)n;
	busy_lock(&l->busy);
	if (has_bell(l))
		r = slot_ask(l, m, out, in, &i.n);
	if (r == SLOT_NO_BELL) {
		/* The eventfd is lost: do not close its number, which another file may have. */
		l->bell = -2;
		r = ask_locked(l, m, &o, &i, -1, &fd);
	}
	busy_unlock(&l->busy);
	if (fd >= 0)
		sys_close(fd);
	*room = r ? 0 : i.n;
	TRACE(LOG_LINK, "request %u: %d", m->op, r);
	return r;
}

int link_cm_ids(struct link *l, uint32_t hca)
{
	struct link_msg m = {.op = LINK_CM_IDS, .hca = hca};
	int fd, r = ask(l, &m, -1, &fd);

	return r ? r : fd < 0 ? -EMFILE : fd;
}

int link_store(struct link *l, uint32_t hca)
{
	struct link_msg m = {.op = LINK_STORE, .hca = hca};
	int fd, r = ask(l, &m, -1, &fd);

	return r ? r : fd < 0 ? -EMFILE : fd;
}

int link_stores_settle(struct link *l)
{
	struct link_msg m = {.op = LINK_STORE, .arg = 1};
	int fd, r = ask(l, &m, -1, &fd);

	if (fd >= 0)
		sys_close(fd);
	return r;
}

/* ---- joining */

/*
 * The descriptor by which other processes access this process's memory when process_vm_* refuses.
 * It can be opened only while the process is dumpable; a program may have given that up earlier.
 */
static int open_own_mem(void)
{
	int fd = sys_openat(AT_FDCWD, "/proc/thread-self/mem", O_RDWR | O_CLOEXEC, 0);
	long was;

	if (fd != -EACCES && fd != -EPERM)
		return fd;
	was = sys_raw(SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0, 0, 0);
	if (was < 0 || was == 1 || sys_raw(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0, 0))
		return fd;
	fd = sys_openat(AT_FDCWD, "/proc/thread-self/mem", O_RDWR | O_CLOEXEC, 0);
	/* 2 (suid_dumpable's "root only") cannot be set again by prctl; 0 is the stricter one. */
	sys_raw(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0, 0);
	return fd;
}

static int hello(struct link *l, struct link_msg *m, const char *host, int *seg_fd)
{
	struct rlimit lim = {RLIM_INFINITY, RLIM_INFINITY};
	int mem = open_own_mem();
	int r;

	*m = (struct link_msg){.op = LINK_HELLO, .layout_version = SEG_LAYOUT_VERSION};
	m->pid = (uint32_t)sys_getpid();
	m->start_time = seg_proc_start_time(m->pid);
	sys_raw(SYS_prlimit64, 0, RLIMIT_MEMLOCK, 0, (long)&lim, 0, 0);
	m->memlock = lim.rlim_cur;
	strncpy(m->host, host, sizeof(m->host) - 1);
	sys_raw(SYS_prctl, PR_GET_NAME, (long)m->comm, 0, 0, 0, 0);
	if (mem < 0)
		TRACE(LOG_LINK, "/proc/self/mem: errno %d", -mem);
	r = ask(l, m, mem, seg_fd);
	if (mem >= 0)
		sys_close(mem);
	if (!r && *seg_fd < 0)
		r = -EPROTO;
	return r;
}

/*
 * Open `<dir>/alive`, set to raise SIGKILL when its writer closes it. -ENOENT: the fabric has none;
 * -ECONNREFUSED: the supervisor has just been killed.
 */
static int hold_alive(const char *dir)
{
	char path[sizeof(((struct seg *)0)->dir) + 8];
	struct pollfd p;
	int fd;

	fmt(path, sizeof(path), "%s/alive", dir);
	fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	fd = sys_fd_high(fd);
	sys_fcntl(fd, F_SETOWN, sys_getpid());
	sys_fcntl(fd, F_SETSIG, SIGKILL);
	sys_fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC);
	p = (struct pollfd){.fd = fd};
	if (sys_raw(SYS_poll, (long)&p, 1, 0, 0, 0, 0) > 0 && (p.revents & POLLHUP)) {
		sys_fd_drop(fd);
		return -ECONNREFUSED;
	}
	return fd;
}

int link_join(struct link *l, struct seg *s, const char *dir, const char *host)
{
	struct link_msg m;
	int fd, r;

	if (strlen(dir) >= sizeof(s->dir))
		return -ENAMETOOLONG;
	*l = (struct link){.fd = dial(dir, LINK_TIMEOUT_S), .alive = -1, .bell = -1, .seg = s};
	if (l->fd < 0)
		return l->fd;
	r = hello(l, &m, host, &fd);
	if (!r) {
		l->alive = hold_alive(dir);
		if (l->alive < 0 && l->alive != -ENOENT)
			r = l->alive;
		if (r)
			sys_close(fd);
	}
	if (!r && s->base)
		sys_close(fd);
	else if (!r)
		r = seg_map(s, fd);
	if (r) {
		if (l->alive >= 0)
			sys_fd_drop(l->alive);
		sys_fd_drop(l->fd);
		l->fd = l->alive = -1;
		return r;
	}
	memmove(s->dir, dir, strlen(dir) + 1);
	seg_proc_set_self(s, m.slot, m.gen);
	l->slot = m.slot;
	l->gen = m.gen;
	atomic_store(&s->wake_fd, l->fd + 1);
	tap_look(s);
	TRACE(LOG_LINK, "joined %s as slot %u.%u", s->hdr->name, m.slot, m.gen);
	return 0;
}

void link_forget(struct link *l, struct seg *s)
{
	atomic_store(&s->wake_fd, 0);
	if (l->fd >= 0)
		sys_fd_drop(l->fd);
	if (l->alive >= 0)
		sys_fd_drop(l->alive);
	if (l->bell >= 0)
		sys_fd_drop(l->bell);
	/* `busy` may have been held by a thread that does not exist in this process. */
	*l = (struct link){.fd = -1, .alive = -1, .bell = -1, .seg = s};
	s->self = SEG_NONE;
	s->self_gen = 0;
	s->self_pid = 0;
	/* The same. */
	atomic_store(&s->tap_busy, 0);
	memfd_forked(s);
}

/* ---- files */

int link_open_file(struct link *l, enum seg_file_kind kind, uint32_t hca, uint32_t port,
		   uint32_t *file, uint32_t *gen, int *fd)
{
	struct link_msg m = {.op = LINK_OPEN, .kind = kind, .hca = hca, .port = port};
	int r = ask(l, &m, -1, fd);

	if (r)
		return r;
	if (*fd < 0) { /* the kernel drops a descriptor that does not fit this process's table */
		link_file_closed(l, m.file, m.gen);
		return -EMFILE;
	}
	*file = m.file;
	*gen = m.gen;
	return 0;
}

int link_file_closed(struct link *l, uint32_t file, uint32_t gen)
{
	struct link_msg m = {.op = LINK_CLOSED, .file = file, .gen = gen};
	int fd;
	int r = ask(l, &m, -1, &fd);

	if (fd >= 0)
		sys_close(fd);
	return r ? r : m.arg == 1;
}

/* One message, no reply: it may be sent between a request and its reply. */
static int tell(struct seg *s, const struct link_msg *m)
{
	int fd = atomic_load_explicit(&s->wake_fd, memory_order_relaxed) - 1;
	long r;

	if (fd < 0)
		return -ENOTCONN;
	r = sys_call(SYS_sendto, fd, m, sizeof(*m), MSG_DONTWAIT | MSG_NOSIGNAL);
	return r < 0 ? (int)r : 0;
}

int link_gmp(struct seg *s, const void *pkt, size_t n)
{
	const struct link_msg m = {.op = LINK_GMP, .more = (uint32_t)n};
	int fd = atomic_load_explicit(&s->wake_fd, memory_order_relaxed) - 1;
	struct iovec io[2] = {{(void *)(uintptr_t)&m, sizeof(m)}, {(void *)(uintptr_t)pkt, n}};
	struct msghdr h = {.msg_iov = io, .msg_iovlen = 2};
	long r;

	if (n > LINK_MORE)
		return -EMSGSIZE;
	if (fd < 0)
		return -ENOTCONN;
	r = sys_call(SYS_sendmsg, fd, &h, MSG_DONTWAIT | MSG_NOSIGNAL);
	return r < 0 ? (int)r : 0;
}

int link_wake(struct seg *s, uint32_t file, uint32_t gen)
{
	const struct link_msg m = {.op = LINK_WAKE, .file = file, .gen = gen};

	return tell(s, &m);
}

int link_sweep(struct seg *s)
{
	const struct link_msg m = {.op = LINK_SWEEP};

	if (s->sweep) {
		s->sweep(s);
		return 0;
	}
	return tell(s, &m);
}

bool link_lost(const struct seg *s)
{
	struct pollfd p = {.fd = atomic_load_explicit(&s->wake_fd, memory_order_relaxed) - 1};

	return p.fd >= 0 && sys_raw(SYS_poll, (long)&p, 1, 0, 0, 0, 0) > 0;
}

/* One request on a connection of its own. */
static int ask_once(struct seg *s, struct link_msg *m, int *fd)
{
	struct link l = {.fd = -1, .alive = -1, .bell = -1, .seg = s};
	int r;

	*fd = -1;
	if (!s->dir[0])
		return -ENOTCONN;
	l.fd = dial(s->dir, ONCE_TIMEOUT_S);
	if (l.fd < 0)
		return l.fd;
	r = ask(&l, m, -1, fd);
	sys_fd_drop(l.fd);
	return r;
}

int link_ask_mem(struct seg *s, struct mem_slot who)
{
	const struct link_msg m = {.op = LINK_GET_MEM, .slot = who.slot, .gen = who.gen};
	long r;
	int sock;

	if (!s->dir[0])
		return -ENOTCONN;
	sock = dial(s->dir, 0);
	if (sock < 0)
		return sock;
	r = send_msg(sock, &m, NULL, -1);
	if (r < 0)
		sys_fd_drop(sock);
	return r < 0 ? (int)r : sock;
}

int link_get_mem(int sock, uint64_t wait_ns)
{
	struct timespec t = {(time_t)(wait_ns / 1000000000), (long)(wait_ns % 1000000000)};
	struct pollfd p = {.fd = sock, .events = POLLIN};
	struct link_msg m;
	long r = sys_raw(SYS_ppoll, (long)&p, 1, (long)&t, 0, 0, 0);
	int fd;

	if (r <= 0)
		return r ? (int)r : -EAGAIN;
	r = recv_msg(sock, &m, NULL, &fd);
	if (r)
		return (int)r;
	if (m.op == LINK_GET_MEM && !m.err)
		return fd < 0 ? -EMFILE : fd;
	if (fd >= 0)
		sys_close(fd);
	return m.op == LINK_GET_MEM && m.err < 0 ? m.err : -EPROTO;
}

bool link_file_gone(struct seg *s, uint32_t file, uint32_t gen)
{
	struct link_msg m = {.op = LINK_CLOSED, .file = file, .gen = gen};
	int fd, r = ask_once(s, &m, &fd);
	const struct seg_file *f;

	if (fd >= 0)
		sys_close(fd);
	f = seg_file(s, file); /* the supervisor may have noticed first */
	return (!r && m.arg == 1) || !f || f->gen != gen;
}
