/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the wrappers of mappings and of syscall(). The driver makes the mapping of a command file.
 * Before a doorbell page is unmapped, uar.c is told, while its address cannot be reused.
 */
#include "shim/adopt.h"
#include "shim/attach.h"
#include "shim/calls.h"
#include "shim/libc.h"
#include "shim/files/fdtab.h"
#include "shim/files/netlink.h"
#include "shim/files/paths.h"
#include "shim/shim.h"
#include "shim/files/wait.h"
#include "shim/files/walk.h"
#include "shim/wrap.h"
#include "util/sys.h"

#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/uio.h>

#define PAGE_MASK 4095ul

static void *mmap_ours(void *addr, size_t len, int prot, int flags, int fd, off_t off, int *err)
{
	struct shim_file *f = shim_file_get(fd);
	void *p = MAP_FAILED;
	struct uv_system *sys;
	sigset_t old;

	if (!f) {
		*err = -EBADF;
		return p;
	}
	if (f->kind && f->kind != SEG_FILE_UVERBS)
		*err = -ENODEV;
	else if (!f->obj)
		*err = -EOPNOTSUPP;
	else if (!len || (off & (off_t)PAGE_MASK))
		*err = -EINVAL;
	else if (f->accmode == O_WRONLY ||
		 (f->accmode == O_RDONLY && (flags & MAP_TYPE) != MAP_PRIVATE &&
		  (prot & PROT_WRITE)))
		*err = -EACCES;
	else
		*err = shim_attach(&sys);
	if (!*err) {
		shim_enter(&old);
		p = uv_mmap(f->obj, addr, len, prot, flags, off, err);
		if (p != MAP_FAILED)
			/* inside the guarded part: fork() copies the page count */
			uar_keep_file(p, f, fd);
		shim_leave(&old);
	}
	fdtab_put(f);
	return p;
}

/* The range is about to be removed or replaced. */
static void mm_unmapped(void *addr, size_t len)
{
	shim_keep_out(addr, len);
	uar_unmapped(addr, len);
}

static void *mmap_next(void *addr, size_t len, int prot, int flags, int fd, off_t off,
		       void *(*next)(void *, size_t, int, int, int, off_t))
{
	const long a[6] = {(long)addr, (long)len, prot, flags};
	struct shim_change c;
	void *p;
	long r;

	if (__builtin_expect(!(flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)), 1))
		return next(addr, len, prot, flags, fd, off);
	libc_put_off(SYS_mmap, a, &r);
	shim_change_begin(&c, SYS_mmap, a);
	p = next(addr, len, prot, flags, fd, off);
	shim_change_end(&c);
	return p;
}

static void *mmap_any(void *addr, size_t len, int prot, int flags, int fd, off_t off,
		      void *(*next)(void *, size_t, int, int, int, off_t))
{
	int saved = errno, err = 0;
	void *p;

	if (shim_on() && (flags & MAP_FIXED) && !((uintptr_t)addr & PAGE_MASK))
		mm_unmapped(addr, len);
	if ((flags & MAP_ANONYMOUS) || __builtin_expect(!fdtab_not_kernels(fd), 1))
		return mmap_next(addr, len, prot, flags, fd, off, next);
	p = mmap_ours(addr, len, prot, flags, fd, off, &err);
	errno = p == MAP_FAILED ? -err : saved;
	return p;
}

#define WRAP_MMAP(name)                                                                      \
	WRAP(void *, name, (void *addr, size_t len, int prot, int flags, int fd, off_t off)) \
	{                                                                                    \
		return mmap_any(addr, len, prot, flags, fd, off, NEXT(name));                \
	}
WRAP_MMAP(mmap)
WRAP_MMAP(mmap64)

WRAP(int, munmap, (void *addr, size_t len))
{
	if (shim_on() && len && !((uintptr_t)addr & PAGE_MASK))
		mm_unmapped(addr, len);
	return NEXT(munmap)(addr, len);
}

/*
 * Device mappings do not move or grow (VM_DONTEXPAND, see vma_to_resize() in mm/mremap.c), as on a
 * real machine: false. Otherwise the pages that the call removes are forgotten.
 */
static bool may_remap(void *addr, size_t old_len, size_t new_len, int flags, void *to)
{
	uintptr_t page;

	if (!shim_on())
		return true;
	if (uar_lookup((uintptr_t)addr, &page) != SEG_NONE) {
		errno = EFAULT;
		return false;
	}
	shim_keep_out(addr, old_len ? old_len : new_len);
	if (flags & MREMAP_FIXED)
		mm_unmapped(to, new_len);
	if (new_len < old_len)
		uar_unmapped((char *)addr + new_len, old_len - new_len);
	return true;
}

WRAP(void *, mremap, (void *addr, size_t old_len, size_t new_len, int flags, ...))
{
	void *to = NULL;
	va_list ap;

	if (flags & MREMAP_FIXED) {
		va_start(ap, flags);
		to = va_arg(ap, void *);
		va_end(ap);
	}
	if (!may_remap(addr, old_len, new_len, flags, to))
		return MAP_FAILED;
	return NEXT(mremap)(addr, old_len, new_len, flags, to);
}

/* ---- syscall() ---- */

typedef long next_syscall(long, long, long, long, long, long, long);

/* Passes a call that is not ours to libc's syscall(), which returns -1 and errno. */
static long forward(long nr, const long a[6])
{
	return ((next_syscall *)shim_next(SYM_syscall))(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#define FORWARD(nr, ...) forward(nr, (const long[6]){__VA_ARGS__})

static int raw_open(int dirfd, const char *path, int flags, mode_t mode)
{
	return (int)FORWARD(SYS_openat, dirfd, (long)path, flags, mode);
}

static int mm_raw_close(int fd)
{
	return (int)FORWARD(SYS_close, fd);
}

static int raw_close_range(unsigned int first, unsigned int last, int flags)
{
	return (int)FORWARD(SYS_close_range, first, last, flags);
}

static int raw_dup(int fd)
{
	return (int)FORWARD(SYS_dup, fd);
}

#ifdef SYS_dup2
static int raw_dup2(int fd, int to)
{
	return (int)FORWARD(SYS_dup2, fd, to);
}
#endif

static int raw_dup3(int fd, int to, int flags)
{
	return (int)FORWARD(SYS_dup3, fd, to, flags);
}

static int raw_fcntl(int fd, int cmd, ...)
{
	va_list ap;
	long arg;

	va_start(ap, cmd);
	arg = va_arg(ap, long);
	va_end(ap);
	return (int)FORWARD(SYS_fcntl, fd, cmd, arg);
}

static int raw_ioctl(int fd, unsigned long cmd, ...)
{
	va_list ap;
	long arg;

	va_start(ap, cmd);
	arg = va_arg(ap, long);
	va_end(ap);
	return (int)FORWARD(SYS_ioctl, fd, (long)cmd, arg);
}

static ssize_t raw_read(int fd, void *buf, size_t count)
{
	return FORWARD(SYS_read, fd, (long)buf, (long)count);
}

static ssize_t raw_write(int fd, const void *buf, size_t count)
{
	return FORWARD(SYS_write, fd, (long)buf, (long)count);
}

static ssize_t raw_readv(int fd, const struct iovec *iov, int n)
{
	return FORWARD(SYS_readv, fd, (long)iov, n);
}

static ssize_t raw_writev(int fd, const struct iovec *iov, int n)
{
	return FORWARD(SYS_writev, fd, (long)iov, n);
}

static int raw_execve(const char *path, char *const argv[], char *const envp[])
{
	return (int)FORWARD(SYS_execve, (long)path, (long)argv, (long)envp);
}

static int raw_execveat(int dirfd, const char *path, char *const argv[], char *const envp[],
			int flags)
{
	return (int)FORWARD(SYS_execveat, dirfd, (long)path, (long)argv, (long)envp, flags);
}

static int raw_mlockall(int flags)
{
	return (int)FORWARD(SYS_mlockall, flags);
}

static long forward_change(long nr, const long a[6])
{
	struct shim_change c;
	long r;

	libc_noted();
	shim_change_begin(&c, nr, a);
	if (!libc_put_off(nr, a, &r))
		r = forward(nr, a);
	shim_change_end(&c);
	return r;
}

/*
 * The raw forms of wrapped calls. Foreign memory calls go straight on: UCX's hooks call us from
 * inside the function that our own wrapper has called.
 */
static long syscall_memory(long nr, const long a[6])
{
	int err = 0;
	void *p;

	switch (nr) {
	case SYS_mmap:
		if ((a[3] & MAP_FIXED) && !((unsigned long)a[0] & PAGE_MASK))
			mm_unmapped((void *)a[0], (size_t)a[1]);
		if ((a[3] & MAP_ANONYMOUS) || !fdtab_not_kernels((int)a[4]))
			return forward_change(nr, a);
		p = mmap_ours((void *)a[0], (size_t)a[1], (int)a[2], (int)a[3], (int)a[4], a[5],
			      &err);
		if (p != MAP_FAILED)
			return (long)p;
		errno = -err;
		return -1;
	case SYS_munmap:
		if (a[1] && !((unsigned long)a[0] & PAGE_MASK))
			mm_unmapped((void *)a[0], (size_t)a[1]);
		return forward_change(nr, a);
	case SYS_mremap:
		if (!may_remap((void *)a[0], (size_t)a[1], (size_t)a[2], (int)a[3], (void *)a[4]))
			return -1;
		return forward_change(nr, a);
	default:
		return forward_change(nr, a);
	}
}

static long syscall_vm(long nr, const long a[6])
{
	struct shim_vm v;
	long r;

	if (!shim_adopting())
		return forward(nr, a);
	shim_vm_begin(&v, (pid_t)a[0], (const struct iovec *)a[1], (unsigned long)a[2]);
	r = forward(nr, a);
	shim_vm_end(&v);
	return r;
}

static long syscall_files(long nr, const long a[6])
{
	bool socket;
	long r = nl_syscall(nr, a, &socket);

	if (socket && r < 0)
		errno = (int)-r;
	if (socket)
		return r < 0 ? -1 : r;
	switch (nr) {
	case SYS_close:
		return call_close((int)a[0], mm_raw_close);
	case SYS_close_range:
		return call_close_range((unsigned int)a[0], (unsigned int)a[1], (int)a[2],
					raw_close_range);
	case SYS_ioctl:
		return call_ioctl((int)a[0], (unsigned long)a[1], (void *)a[2], raw_ioctl);
	case SYS_fcntl:
		return call_fcntl((int)a[0], (int)a[1], (void *)a[2], raw_fcntl);
	case SYS_dup:
		return call_dup((int)a[0], raw_dup);
#ifdef SYS_dup2
	case SYS_dup2:
		return call_dup2((int)a[0], (int)a[1], raw_dup2);
#endif
	case SYS_dup3:
		return call_dup3((int)a[0], (int)a[1], (int)a[2], raw_dup3);
	case SYS_openat:
		return call_open((int)a[0], (const char *)a[1], (int)a[2], (mode_t)a[3], raw_open);
#ifdef SYS_open
	case SYS_open:
		return call_open(AT_FDCWD, (const char *)a[0], (int)a[1], (mode_t)a[2], raw_open);
#endif
	case SYS_read:
		return call_read((int)a[0], (void *)a[1], (size_t)a[2], raw_read);
	case SYS_write:
		return call_write((int)a[0], (const void *)a[1], (size_t)a[2], raw_write);
	case SYS_readv:
		return call_readv((int)a[0], (const struct iovec *)a[1], (int)a[2], raw_readv);
	case SYS_writev:
		return call_writev((int)a[0], (const struct iovec *)a[1], (int)a[2], raw_writev);
	case SYS_getdents64:
		return walk_fix_entries((int)a[0], (void *)a[1], forward(nr, a));
	case SYS_epoll_ctl:
		wait_publish((int)a[2]);
		return forward(nr, a);
#ifdef SYS_poll
	case SYS_poll:
	case SYS_select:
#endif
	case SYS_sendmsg:
	case SYS_sendmmsg:
		wait_publish_all(false);
		return forward(nr, a);
	case SYS_execve:
		return call_execve((const char *)a[0], (char *const *)a[1], (char *const *)a[2],
				   raw_execve);
	case SYS_execveat:
		return call_execveat((int)a[0], (const char *)a[1], (char *const *)a[2],
				     (char *const *)a[3], (int)a[4], raw_execveat);
#ifdef SYS_pidfd_getfd
	case SYS_pidfd_getfd:
		r = forward(nr, a);
		if (r >= 0)
			shim_adopt((int)r);
		return r;
#endif
	default:
		return forward(nr, a);
	}
}

WRAP(long, syscall, (long nr, ...))
{
	bool handled = false;
	long a[6], r;
	va_list ap;

	/* Always six arguments: surplus ones contain whatever the registers hold. */
	va_start(ap, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (!shim_on())
		return forward(nr, a);
	if (shim_adopt_syscall(nr, a)) {
		r = forward(nr, a);
		shim_adopt_forked(r);
		return r;
	}
	switch (nr) {
	case SYS_mmap:
	case SYS_munmap:
	case SYS_mremap:
	case SYS_madvise:
	case SYS_mprotect:
	case SYS_brk:
		return syscall_memory(nr, a);
	case SYS_prctl:
		proc_prctl((int)a[0]);
		return forward(nr, a);
	case SYS_mlockall:
		return shim_mlockall((int)a[0], raw_mlockall);
	case SYS_process_vm_readv:
	case SYS_process_vm_writev:
		return syscall_vm(nr, a);
	case SYS_rt_sigaction:
	case SYS_rt_sigprocmask:
	case SYS_rt_sigpending:
	case SYS_rt_sigsuspend:
	case SYS_sigaltstack:
	case SYS_ppoll:
	case SYS_pselect6:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
		r = sig_syscall(nr, a, &handled);
		if (!handled)
			return forward(nr, a);
		if (r >= 0)
			return r;
		errno = (int)-r;
		return -1;
	default:
		return syscall_files(nr, a);
	}
}
