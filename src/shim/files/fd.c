/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the wrappers that create and close descriptors: close, dup, fcntl, close_range, recvmsg.
 * They keep the fd table in step with the kernel's: an entry is removed before the kernel's
 * close and added after its open, so that a number never shows another file's entry.
 */
#include "shim/adopt.h"
#include "shim/attach.h"
#include "shim/calls.h"
#include "shim/files/fdtab.h"
#include "shim/files/netlink.h"
#include "shim/files/nlroute.h"
#include "shim/files/paths.h"
#include "shim/shim.h"
#include "shim/files/wait.h"
#include "shim/wrap.h"
#include "util/sys.h"

#include <linux/close_range.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/socket.h>

/* The library's own descriptor: the program must see it as closed. */
static bool hidden(int fd)
{
	return fdtab_peek(fd) == &fdtab_private && shim_owns_tables();
}

static int bad_fd(void)
{
	errno = EBADF;
	return -1;
}

int call_close(int fd, next_fd *next)
{
	struct shim_file *f;
	int r;

	if (__builtin_expect(!fdtab_peek(fd), 1))
		return next(fd);
	if (hidden(fd))
		return bad_fd();
	f = fdtab_take_closing(fd);
	r = next(fd);
	fdtab_put(f);
	return r;
}

WRAP(int, close, (int fd))
{
	return call_close(fd, NEXT(close));
}

WRAP(int, fclose, (FILE * fp))
{
	int saved = errno, fd = fp ? fileno(fp) : -1, r;
	struct shim_file *f = fdtab_take_closing(fd);

	errno = saved;
	r = NEXT(fclose)(fp);
	fdtab_put(f);
	return r;
}

/* The kernel has made newfd a copy of the file with entry f (NULL: not ours). */
static int duplicated(int newfd, struct shim_file *f)
{
	if (newfd < 0 || (!f && !fdtab_peek(newfd)) || !shim_owns_tables())
		fdtab_put(f);
	else if (fdtab_set(newfd, f)) {
		sys_close(newfd);
		fdtab_put(f);
		errno = ENOMEM;
		return -1;
	}
	return newfd;
}

int call_dup(int fd, next_fd *next)
{
	if (hidden(fd))
		return bad_fd();
	return duplicated(next(fd), fdtab_get(fd));
}

WRAP(int, dup, (int fd))
{
	return call_dup(fd, NEXT(dup));
}

/* dup2 and dup3: the library may be using `to`, which the program cannot know. */
static bool dup_refused(int fd, int to)
{
	if (hidden(fd)) {
		errno = EBADF;
		return true;
	}
	if (hidden(to)) {
		errno = EBUSY;
		return true;
	}
	return false;
}

int call_dup2(int fd, int to, next_dup2 *next)
{
	if (!fdtab_peek(fd) && !fdtab_peek(to))
		return next(fd, to);
	if (dup_refused(fd, to))
		return -1;
	if (fd == to)
		return next(fd, to);
	return duplicated(next(fd, to), fdtab_get(fd));
}

WRAP(int, dup2, (int fd, int to))
{
	return call_dup2(fd, to, NEXT(dup2));
}

int call_dup3(int fd, int to, int flags, next_dup3 *next)
{
	if (!fdtab_peek(fd) && !fdtab_peek(to))
		return next(fd, to, flags);
	if (dup_refused(fd, to))
		return -1;
	return duplicated(next(fd, to, flags), fdtab_get(fd));
}

WRAP(int, dup3, (int fd, int to, int flags))
{
	return call_dup3(fd, to, flags, NEXT(dup3));
}

static int fcntl_ours(int fd, int cmd, void *arg, next_fcntl *next)
{
	struct shim_file *f;
	int r;

	if (hidden(fd))
		return bad_fd();
	switch (cmd) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		return duplicated(next(fd, cmd, arg), fdtab_get(fd));
	case F_SETFL:
		if ((long)arg & O_ASYNC)
			wait_publish(fd);
		return next(fd, cmd, arg);
	case F_GETFL:
		r = next(fd, cmd, arg);
		f = fdtab_get(fd);
		if (f && r >= 0 && f->kind != SHIM_ROUTE)
			r = (r & ~O_ACCMODE) | f->accmode;
		fdtab_put(f);
		return r;
	default:
		return next(fd, cmd, arg);
	}
}

/*
 * The argument is an int, a pointer or absent; all are passed in the same way on 64-bit machines.
 */
int call_fcntl(int fd, int cmd, void *arg, next_fcntl *next)
{
	int r;

	if (__builtin_expect(fdtab_peek(fd) != NULL, 0))
		return fcntl_ours(fd, cmd, arg, next);
	r = next(fd, cmd, arg);
	return cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC ? duplicated(r, NULL) : r;
}

#define WRAP_FCNTL(name)                                     \
	WRAP(int, name, (int fd, int cmd, ...))              \
	{                                                    \
		va_list ap;                                  \
		void *arg;                                   \
                                                             \
		va_start(ap, cmd);                           \
		arg = va_arg(ap, void *);                    \
		va_end(ap);                                  \
		return call_fcntl(fd, cmd, arg, NEXT(name)); \
	}
WRAP_FCNTL(fcntl)
WRAP_FCNTL(fcntl64)

static int fd_raw_close(int fd)
{
	int r = sys_close(fd);

	if (r < 0)
		errno = -r;
	return r < 0 ? -1 : 0;
}

/*
 * Descriptors of ours in the range are closed one by one, each with its own end; the library's own
 * stay open; the kernel closes the rest in as many ranges as necessary. No number is closed twice:
 * another thread may have reused it.
 */
static int close_range_ours(unsigned int first, unsigned int last, int flags)
{
	long fd, r = 0;

	if (flags & CLOSE_RANGE_UNSHARE)
		r = sys_call(SYS_close_range, UINT32_MAX, UINT32_MAX, flags);
	while (!r && first <= last && (fd = fdtab_next(first, last)) >= 0) {
		if (fd > first)
			r = sys_call(SYS_close_range, first, fd - 1, 0);
		if (fdtab_peek((int)fd) != &fdtab_private)
			call_close((int)fd, fd_raw_close);
		if (fd == last)
			return 0;
		first = (unsigned int)fd + 1;
	}
	if (!r && first <= last)
		r = sys_call(SYS_close_range, first, last, 0);
	if (!r)
		return 0;
	errno = (int)-r;
	return -1;
}

int call_close_range(unsigned int first, unsigned int last, int flags, next_close_range *next)
{
	if ((flags & ~CLOSE_RANGE_UNSHARE) || first > last || fdtab_next(first, last) < 0 ||
	    !shim_owns_tables())
		return next(first, last, flags);
	return close_range_ours(first, last, flags);
}

WRAP(int, close_range, (unsigned int first, unsigned int last, int flags))
{
	return call_close_range(first, last, flags, NEXT(close_range));
}

WRAP(void, closefrom, (int low))
{
	unsigned int first = low < 0 ? 0 : (unsigned int)low;

	if (fdtab_next(first, UINT32_MAX) < 0 || !shim_owns_tables())
		NEXT(closefrom)(low);
	else
		close_range_ours(first, UINT32_MAX, 0);
}

/* The supervisor tells by the lock on our files that they are open (hazards 2). */
WRAP(int, flock, (int fd, int op))
{
	if (__builtin_expect(fdtab_not_kernels(fd), 0)) {
		errno = ENOLCK;
		return -1;
	}
	return NEXT(flock)(fd, op);
}

/* ---- descriptors that arrive ---- */

static void adopt_received(struct msghdr *m)
{
	if (!m->msg_control || m->msg_controllen < sizeof(struct cmsghdr))
		return;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		int *fds = (int *)CMSG_DATA(c);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++)
			shim_adopt(fds[i]);
	}
}

static ssize_t sock_result(ssize_t r)
{
	if (r >= 0)
		return r;
	errno = (int)-r;
	return -1;
}

static int sleep_recvmsg(int fd);
static int sleep_recvmmsg(int fd);

WRAP(ssize_t, recvmsg, (int fd, struct msghdr *m, int flags))
{
	ssize_t n;

	if (nl_is(fd))
		return sock_result(nl_recvmsg(fd, m, flags, NEXT(recvmsg)));
	if (rt_is(fd) && rt_recv(fd, m, flags, sleep_recvmsg, &n))
		return sock_result(n);
	n = ADOPT_CALL_M(m, 1, 0, NEXT(recvmsg)(fd, m, flags));
	if (n >= 0 && m->msg_controllen && shim_on())
		adopt_received(m);
	return n;
}

WRAP(int, recvmmsg,
     (int fd, struct mmsghdr *v, unsigned int len, int flags, struct timespec *timeout))
{
	ssize_t r;
	int n;

	if (nl_is(fd))
		return (int)sock_result(nl_recvmmsg(fd, v, len, flags, timeout));
	if (rt_is(fd) && rt_recvmmsg(fd, v, len, flags, timeout, sleep_recvmmsg, &r))
		return (int)sock_result(r);
	n = ADOPT_CALL_M(&v->msg_hdr, len, sizeof(*v), NEXT(recvmmsg)(fd, v, len, flags, timeout));
	for (int i = 0; i < n && shim_on(); i++)
		adopt_received(&v[i].msg_hdr);
	return n;
}

/* Waits by recvmsg() with MSG_PEEK and without a buffer (nlroute.h). */
static int sleep_recvmsg(int fd)
{
	struct msghdr none = {0};

	return NEXT(recvmsg)(fd, &none, MSG_PEEK) < 0 ? -errno : 0;
}

static int sleep_recvmmsg(int fd)
{
	struct mmsghdr none = {0};

	return NEXT(recvmmsg)(fd, &none, 1, MSG_PEEK, NULL) < 0 ? -errno : 0;
}
