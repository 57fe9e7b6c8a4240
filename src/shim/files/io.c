/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the wrappers of operations on an open descriptor: ioctl, read, write, and calls that a
 * device refuses. On a foreign descriptor each costs two loads. uverbs runs with asynchronous
 * signals blocked.
 */
#include "hw/evq.h"
#include "segment/mem.h"
#include "shim/adopt.h"
#include "shim/attach.h"
#include "shim/calls.h"
#include "shim/files/fdtab.h"
#include "shim/files/netlink.h"
#include "shim/files/nlroute.h"
#include "shim/files/paths.h"
#include "shim/net/net.h"
#include "shim/shim.h"
#include "shim/signals/sig.h"
#include "shim/files/wait.h"
#include "shim/wrap.h"
#include "ucma/ucma.h"
#include "umad/umad.h"
#include "util/log.h"
#include "util/sys.h"

#include <limits.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

static ssize_t io_result(ssize_t r)
{
	if (r >= 0)
		return r;
	errno = (int)-r;
	return -1;
}

/*
 * The kernel's answers for every character device before it calls the driver, and for a driver
 * without the method.
 */
static bool generic_ioctl(unsigned long cmd)
{
	return cmd == FIONBIO || cmd == FIOASYNC || cmd == FIOCLEX || cmd == FIONCLEX;
}

/*
 * An open file of another process: its contexts use that process's memory. Refused until contexts
 * can be imported.
 */
#define NOT_HERE (-EOPNOTSUPP)

static long umad_ioctl_ours(const struct umad_file *u, unsigned long cmd, void *arg)
{
	sigset_t old;
	long r;

	shim_enter(&old);
	r = umad_ioctl(u, cmd, arg);
	shim_leave(&old);
	return r;
}

static long ioctl_ours(int fd, unsigned long cmd, void *arg)
{
	struct shim_file *f = shim_file_get(fd);
	struct umad_file umad;
	struct uv_system *sys;
	sigset_t old;
	long r;

	if (!f)
		return -EBADF;
	if (shim_file_umad(f, &umad)) {
		r = umad_ioctl_ours(&umad, cmd, arg);
	} else if (f->kind && f->kind != SEG_FILE_UVERBS) {
		r = -ENOTTY;
	} else if (!f->obj) {
		r = NOT_HERE;
	} else {
		r = shim_attach(&sys);
		if (!r) {
			shim_enter(&old);
			r = uv_ioctl(f->obj, cmd, arg);
			devthread_if_parked();
			shim_leave(&old);
		}
	}
	fdtab_put(f);
	return r;
}

int call_ioctl(int fd, unsigned long cmd, void *arg, next_ioctl *next)
{
	int saved;
	long r;

	if (cmd == FIOASYNC)
		wait_publish(fd);
	if (__builtin_expect(!fdtab_not_kernels(fd), 1) || generic_ioctl(cmd) || nl_is(fd)) {
		if (__builtin_expect(net_is_ioctl(cmd), 0) && shim_on())
			return net_ioctl(fd, cmd, arg, next);
		return next(fd, cmd, arg);
	}
	saved = errno;
	r = ioctl_ours(fd, cmd, arg);
	errno = saved;
	return (int)io_result(r);
}

WRAP(int, ioctl, (int fd, unsigned long cmd, ...))
{
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	return call_ioctl(fd, cmd, arg, NEXT(ioctl));
}

/* ---- vectors ---- */

/* Moves one vector: returns bytes, or -errno. */
typedef ssize_t move_fn(struct shim_file *f, int fd, void *buf, size_t count);

/*
 * Like the kernel for a driver with only read() and write(): vector by vector, until one is not
 * filled. `unfit` is the error of this kind of file before any vector is checked, or 0. Takes over
 * the reference to f (NULL: fd has been closed). Changes errno only on failure.
 */
static ssize_t each_vector(struct shim_file *f, int fd, const struct iovec *iov, int n,
			   ssize_t unfit, move_fn *move)
{
	int saved = errno;
	ssize_t total = 0, r = unfit;

	if (n < 0 || n > IOV_MAX)
		r = -EINVAL;
	else if (!f)
		r = -EBADF;
	for (int i = 0; r >= 0 && i < n; i++) {
		struct iovec v;

		r = mem_guarded_copy(&v, &iov[i], sizeof(v));
		if (!r)
			r = move(f, fd, v.iov_base, v.iov_len);
		if (r < 0)
			break;
		total += r;
		if ((size_t)r != v.iov_len)
			break;
	}
	fdtab_put(f);
	errno = saved;
	return io_result(total ? total : r);
}

/* The kernel's checks of vectors before the first byte is moved; 0: nothing to move. */
static ssize_t vectors_len(const struct iovec *iov, int n)
{
	size_t total = 0;

	if (n < 0 || n > IOV_MAX)
		return -EINVAL;
	for (int i = 0; i < n; i++) {
		struct iovec v;

		if (mem_guarded_copy(&v, &iov[i], sizeof(v)))
			return -EFAULT;
		if ((ssize_t)v.iov_len < 0)
			return -EINVAL;
		total += v.iov_len;
	}
	return total > SSIZE_MAX ? SSIZE_MAX : (ssize_t)total;
}

/* ---- reading ---- */

static bool nonblocking(int fd)
{
	int flags = sys_fcntl(fd, F_GETFL, 0);

	return flags >= 0 && (flags & O_NONBLOCK);
}

static ssize_t read_umad(const struct umad_file *u, int fd, void *buf, size_t count)
{
	struct sig_guard g;
	sigset_t old;
	ssize_t r;

	sig_guard_begin(&g);
	r = umad_read(u, fd, buf, count, true, NULL);
	sig_guard_end(&g);
	if (r != -EAGAIN || nonblocking(fd))
		return r;
	sig_block_all(&old);
	r = umad_read(u, fd, buf, count, false, &old);
	sig_restore(&old);
	return r;
}

static ssize_t read_once(struct uv_system *sys, struct shim_file *f, int fd, void *buf,
			 size_t count, bool nonblock, struct uv_event_wait *w)
{
	struct sig_guard g;
	ssize_t r = NOT_HERE;

	sig_guard_begin(&g);
	if (f->obj)
		r = uv_event_read(f->obj, fd, buf, count, nonblock, w);
	else if (shim_file_known(f))
		r = uv_event_read_passed(sys, (enum seg_file_kind)f->kind, f->file, f->gen, fd, buf,
					 count, nonblock, w);
	sig_guard_end(&g);
	return r;
}

/* Only a reader that finds nothing asks the kernel whether it may block. */
static ssize_t read_event(struct uv_system *sys, struct shim_file *f, int fd, void *buf,
			  size_t count)
{
	bool nonblock = true;
	struct uv_event_wait w;
	ssize_t r;

	for (;;) {
		r = read_once(sys, f, fd, buf, count, nonblock, &w);
		if (r != -EAGAIN && r != -ETIMEDOUT)
			return r;
		if (nonblock && nonblocking(fd))
			return -EAGAIN;
		/* If the queue signals its end, a blocking reader must look once more. */
		r = nonblock ? 0 : evq_wait(w.q, w.seen, w.locked, NULL);
		if (r)
			return r;
		nonblock = false;
	}
}

static ssize_t read_file(struct shim_file *f, int fd, void *buf, size_t count)
{
	struct umad_file umad;
	struct uv_system *sys;
	ssize_t r;

	if (shim_file_umad(f, &umad))
		return f->accmode == O_WRONLY ? -EBADF
		       : count > SSIZE_MAX    ? -EFAULT /* access_ok() */
					      : read_umad(&umad, fd, buf, count);
	r = shim_attach(&sys);
	if (r)
		return r;
	return read_event(sys, f, fd, buf, count > INT_MAX ? INT_MAX : count);
}

static ssize_t readv_ours(int fd, const struct iovec *iov, int n)
{
	struct shim_file *f;
	ssize_t unfit = 0;

	if (nl_is(fd))
		return io_result(nl_readv(fd, iov, n));
	f = shim_file_get(fd);
	/*
	 * These devices have no read method; the kernel checks the open mode before it says EINVAL.
	 */
	if (f &&
	    (f->kind == SEG_FILE_UVERBS || f->kind == SEG_FILE_ISSM || f->kind == SEG_FILE_RDMA_CM))
		unfit = f->accmode == O_WRONLY ? -EBADF : -EINVAL;
	return each_vector(f, fd, iov, n, unfit, read_file);
}

ssize_t call_read(int fd, void *buf, size_t count, next_read *next)
{
	ssize_t r;

	if (__builtin_expect(!fdtab_peek(fd), 1))
		return ADOPT_CALL(buf, count, next(fd, buf, count));
	if (rt_is(fd))
		return rt_readv(fd, &(struct iovec){buf, count}, 1, &r) ? io_result(r)
									: next(fd, buf, count);
	return readv_ours(fd, &(struct iovec){buf, count}, 1);
}

WRAP(ssize_t, read, (int fd, void *buf, size_t count))
{
	return call_read(fd, buf, count, NEXT(read));
}

ssize_t call_readv(int fd, const struct iovec *iov, int n, next_vector *next)
{
	ssize_t len;

	if (__builtin_expect(!fdtab_peek(fd), 1))
		return ADOPT_CALL_V(iov, n, next(fd, iov, n));
	if (rt_is(fd))
		return rt_readv(fd, iov, n, &len) ? io_result(len) : next(fd, iov, n);
	len = vectors_len(iov, n);
	return len > 0 ? readv_ours(fd, iov, n) : io_result(len);
}

WRAP(ssize_t, readv, (int fd, const struct iovec *iov, int n))
{
	return call_readv(fd, iov, n, NEXT(readv));
}

WRAP(ssize_t, __read_chk, (int fd, void *buf, size_t count, size_t room))
{
	ssize_t r;

	if (__builtin_expect(!fdtab_peek(fd), 1) || count > room)
		return ADOPT_CALL(buf, count, NEXT(__read_chk)(fd, buf, count, room));
	if (rt_is(fd))
		return rt_readv(fd, &(struct iovec){buf, count}, 1, &r)
			       ? io_result(r)
			       : NEXT(__read_chk)(fd, buf, count, room);
	return readv_ours(fd, &(struct iovec){buf, count}, 1);
}

/* ---- writing ---- */

static ssize_t write_umad(const struct umad_file *u, int fd, const void *buf, size_t count)
{
	struct sig_guard g;
	ssize_t r;

	sig_guard_begin(&g);
	shim_gate_enter();
	evq_hint(u->file, u->gen, fd);
	r = umad_write(u, buf, count);
	evq_hint(SEG_NONE, 0, -1);
	devthread_if_parked();
	shim_gate_leave();
	sig_guard_end(&g);
	/*
	 * Answers are available at once, so a program that does not limit itself would never catch
	 * up.
	 */
	evq_ease(u->s, u->file, u->gen);
	return r;
}

/* Finds out what MIGRATE_ID's descriptor is, as ucma_migrate_id() does by fdget() and f_op. */
static void ucma_fd_of(int fd, struct ucma_fd *out)
{
	struct shim_file *f = shim_file_get(fd);
	struct ucma_file u;

	if (f && shim_file_rdma_cm(f, &u))
		*out = (struct ucma_fd){0, u.file};
	else
		out->err = f || sys_fcntl(fd, F_GETFD, 0) >= 0 ? -EINVAL : -ENOENT;
	fdtab_put(f);
}

/* ib_safe_file_access(): a fork, an exec or seteuid() makes other credentials. */
static bool same_creds(const struct shim_file *f)
{
	return f->opener == sys_getpid() && f->opener_euid == (uint32_t)sys_call(SYS_geteuid);
}

static ssize_t write_rdma_cm(struct ucma_file *u, int fd, const void *buf, size_t count)
{
	enum ucma_next next;
	struct sig_guard g;
	struct ucma_wait w;
	ssize_t r;

	u->fd = fd;
	for (;;) {
		sig_guard_begin(&g);
		next = ucma_try(u, buf, count, &r, &w);
		sig_guard_end(&g);
		if (next == UCMA_ASK) {
			sig_guard_begin(&g);
			next = ucma_ask(u, buf, count, ucma_fd_of, &r);
			sig_guard_end(&g);
		}
		if (next == UCMA_DONE)
			return r;
		r = evq_wait(w.q, w.seen, w.locked, NULL);
		if (r)
			return r;
	}
}

static ssize_t write_file(struct shim_file *f, int fd, void *buf, size_t count)
{
	struct ucma_file ucma;
	struct umad_file umad;
	struct uv_system *sys;
	sigset_t old;
	ssize_t r;

	if (shim_file_umad(f, &umad))
		return f->accmode == O_RDONLY ? -EBADF
		       : count > SSIZE_MAX    ? -EFAULT /* access_ok() */
					      : write_umad(&umad, fd, buf, count);
	if (shim_file_rdma_cm(f, &ucma))
		return f->accmode == O_RDONLY ? -EBADF
		       : !same_creds(f)       ? -EACCES
		       : count > SSIZE_MAX    ? -EFAULT
					      : write_rdma_cm(&ucma, fd, buf, count);
	if (f->accmode == O_RDONLY)
		return -EBADF;
	if (f->kind == SEG_FILE_ISSM)
		return -EINVAL;
	if (!f->obj) /* opened by another process: see uv_write() */
		return -EACCES;
	r = shim_attach(&sys);
	if (r)
		return r;
	shim_enter(&old);
	r = uv_write(f->obj, buf, count);
	devthread_if_parked();
	shim_leave(&old);
	return r;
}

/* Each vector is one call and so one command. */
static ssize_t writev_ours(int fd, const struct iovec *iov, int n)
{
	if (nl_is(fd))
		return io_result(nl_writev(fd, iov, n));
	return each_vector(shim_file_get(fd), fd, iov, n, 0, write_file);
}

ssize_t call_write(int fd, const void *buf, size_t count, next_write *next)
{
	ssize_t r;

	if (__builtin_expect(!fdtab_peek(fd), 1))
		return ADOPT_CALL(buf, count, next(fd, buf, count));
	if (rt_is(fd))
		return rt_writev(fd, &(struct iovec){(void *)buf, count}, 1, &r)
			       ? io_result(r)
			       : next(fd, buf, count);
	return writev_ours(fd, &(struct iovec){(void *)buf, count}, 1);
}

WRAP(ssize_t, write, (int fd, const void *buf, size_t count))
{
	return call_write(fd, buf, count, NEXT(write));
}

ssize_t call_writev(int fd, const struct iovec *iov, int n, next_vector *next)
{
	ssize_t len;

	if (__builtin_expect(!fdtab_peek(fd), 1))
		return ADOPT_CALL_V(iov, n, next(fd, iov, n));
	if (rt_is(fd))
		return rt_writev(fd, iov, n, &len) ? io_result(len) : next(fd, iov, n);
	len = vectors_len(iov, n);
	return len > 0 ? writev_ours(fd, iov, n) : io_result(len);
}

WRAP(ssize_t, writev, (int fd, const struct iovec *iov, int n))
{
	return call_writev(fd, iov, n, NEXT(writev));
}

/* ---- calls that a stream-like device refuses ---- */

static ssize_t io_refuse(int err)
{
	errno = err;
	return -1;
}

#define WRAP_SEEKING(ret, name, params, args)                    \
	WRAP(ret, name, params)                                  \
	{                                                        \
		if (__builtin_expect(!fdtab_not_kernels(fd), 1)) \
			return NEXT(name) args;                  \
		return (ret)io_refuse(ESPIPE);                   \
	}
#define WRAP_SEEKING_B(ret, name, params, args)                     \
	WRAP(ret, name, params)                                     \
	{                                                           \
		if (__builtin_expect(!fdtab_not_kernels(fd), 1))    \
			return ADOPT_CALL(buf, n, NEXT(name) args); \
		return (ret)io_refuse(ESPIPE);                      \
	}
#define WRAP_SEEKING_V(ret, name, params, args)                       \
	WRAP(ret, name, params)                                       \
	{                                                             \
		if (__builtin_expect(!fdtab_not_kernels(fd), 1))      \
			return ADOPT_CALL_V(iov, n, NEXT(name) args); \
		return (ret)io_refuse(ESPIPE);                        \
	}
WRAP_SEEKING_B(ssize_t, pread, (int fd, void *buf, size_t n, off_t off), (fd, buf, n, off))
WRAP_SEEKING_B(ssize_t, pread64, (int fd, void *buf, size_t n, off_t off), (fd, buf, n, off))
WRAP_SEEKING_B(ssize_t, __pread_chk, (int fd, void *buf, size_t n, off_t off, size_t room),
	       (fd, buf, n, off, room))
WRAP_SEEKING_B(ssize_t, __pread64_chk, (int fd, void *buf, size_t n, off_t off, size_t room),
	       (fd, buf, n, off, room))
WRAP_SEEKING_V(ssize_t, preadv, (int fd, const struct iovec *iov, int n, off_t off),
	       (fd, iov, n, off))
WRAP_SEEKING_V(ssize_t, preadv64, (int fd, const struct iovec *iov, int n, off_t off),
	       (fd, iov, n, off))
WRAP_SEEKING_B(ssize_t, pwrite, (int fd, const void *buf, size_t n, off_t off), (fd, buf, n, off))
WRAP_SEEKING_B(ssize_t, pwrite64, (int fd, const void *buf, size_t n, off_t off), (fd, buf, n, off))
WRAP_SEEKING_V(ssize_t, pwritev, (int fd, const struct iovec *iov, int n, off_t off),
	       (fd, iov, n, off))
WRAP_SEEKING_V(ssize_t, pwritev64, (int fd, const struct iovec *iov, int n, off_t off),
	       (fd, iov, n, off))
WRAP_SEEKING(off_t, lseek, (int fd, off_t off, int whence), (fd, off, whence))
WRAP_SEEKING(off_t, lseek64, (int fd, off_t off, int whence), (fd, off, whence))

/* Offset -1 means the file position: a readv or writev; a driver knows no flags for it. */
#define WRAP_V2(name, plain)                                                                \
	WRAP(ssize_t, name, (int fd, const struct iovec *iov, int n, off_t off, int flags)) \
	{                                                                                   \
		if (__builtin_expect(!fdtab_not_kernels(fd), 1))                            \
			return ADOPT_CALL_V(iov, n, NEXT(name)(fd, iov, n, off, flags));    \
		if (off != -1)                                                              \
			return io_refuse(ESPIPE);                                           \
		if (flags & ~RWF_HIPRI)                                                     \
			return io_refuse(EOPNOTSUPP);                                       \
		return plain(fd, iov, n);                                                   \
	}
WRAP_V2(preadv2, readv_ours)
WRAP_V2(preadv64v2, readv_ours)
WRAP_V2(pwritev2, writev_ours)
WRAP_V2(pwritev64v2, writev_ours)

/* Moving data inside the kernel: the drivers have no splice methods. */
#define WRAP_MOVING(name, a, b, params, args)                                            \
	WRAP(ssize_t, name, params)                                                      \
	{                                                                                \
		if (__builtin_expect(!fdtab_not_kernels(a) && !fdtab_not_kernels(b), 1)) \
			return NEXT(name) args;                                          \
		return io_refuse(EINVAL);                                                \
	}
WRAP_MOVING(sendfile, out, in, (int out, int in, off_t *off, size_t n), (out, in, off, n))
WRAP_MOVING(sendfile64, out, in, (int out, int in, off_t *off, size_t n), (out, in, off, n))
WRAP_MOVING(splice, in, out,
	    (int in, off_t *in_off, int out, off_t *out_off, size_t n, unsigned int flags),
	    (in, in_off, out, out_off, n, flags))
WRAP_MOVING(tee, in, out, (int in, int out, size_t n, unsigned int flags), (in, out, n, flags))
WRAP(ssize_t, vmsplice, (int fd, const struct iovec *iov, size_t n, unsigned int flags))
{
	if (__builtin_expect(!fdtab_not_kernels(fd), 1))
		return ADOPT_CALL_V(iov, n, NEXT(vmsplice)(fd, iov, n, flags));
	return io_refuse(EINVAL);
}
WRAP_MOVING(copy_file_range, in, out,
	    (int in, off_t *in_off, int out, off_t *out_off, size_t n, unsigned int flags),
	    (in, in_off, out, out_off, n, flags))
