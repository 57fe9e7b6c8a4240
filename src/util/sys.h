/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * System calls below libc: the result is a value >= 0 or -errno, and `errno` does not change. They
 * bypass all wrappers of libc's functions (syscall() included), the program's and our own. For code
 * that runs in the preloaded library, also inside a trap.
 */
#ifndef SOFTHCA_UTIL_SYS_H
#define SOFTHCA_UTIL_SYS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static inline long sys_raw(long nr, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
#else
	int saved = errno;
	long ret = syscall(nr, a, b, c, d, e, f);

	if (ret == -1)
		ret = -errno;
	errno = saved;
	return ret;
#endif
}

/* sys_call(SYS_dup, fd): up to six arguments, integers or pointers; missing ones are 0. */
#define SYS_CALL_7(nr, a, b, c, d, e, f, ...) \
	sys_raw(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define sys_call(...) SYS_CALL_7(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

static inline int sys_openat(int dirfd, const char *path, int flags, mode_t mode)
{
	return (int)sys_raw(SYS_openat, dirfd, (long)path, flags, (long)mode, 0, 0);
}

static inline int sys_close(int fd)
{
	return (int)sys_raw(SYS_close, fd, 0, 0, 0, 0, 0);
}

static inline ssize_t sys_read(int fd, void *buf, size_t n)
{
	return sys_raw(SYS_read, fd, (long)buf, (long)n, 0, 0, 0);
}

static inline ssize_t sys_write(int fd, const void *buf, size_t n)
{
	return sys_raw(SYS_write, fd, (long)buf, (long)n, 0, 0, 0);
}

static inline ssize_t sys_pread(int fd, void *buf, size_t n, uint64_t off)
{
	return sys_raw(SYS_pread64, fd, (long)buf, (long)n, (long)off, 0, 0);
}

static inline ssize_t sys_pwrite(int fd, const void *buf, size_t n, uint64_t off)
{
	return sys_raw(SYS_pwrite64, fd, (long)buf, (long)n, (long)off, 0, 0);
}

static inline ssize_t sys_readlink(const char *path, char *buf, size_t n)
{
	return sys_raw(SYS_readlinkat, AT_FDCWD, (long)path, (long)buf, (long)n, 0, 0);
}

static inline int sys_ioctl(int fd, unsigned long cmd, void *arg)
{
	return (int)sys_raw(SYS_ioctl, fd, (long)cmd, (long)arg, 0, 0, 0);
}

static inline int sys_fcntl(int fd, int cmd, long arg)
{
	return (int)sys_raw(SYS_fcntl, fd, cmd, arg, 0, 0, 0);
}

/* The address, or a value in [-4095, -1] that is -errno: see sys_is_err(). */
static inline void *sys_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	return (void *)sys_raw(SYS_mmap, (long)addr, (long)len, prot, flags, fd, off);
}

static inline int sys_is_err(const void *p)
{
	return (uintptr_t)p >= (uintptr_t)-4095;
}

static inline int sys_munmap(void *addr, size_t len)
{
	return (int)sys_raw(SYS_munmap, (long)addr, (long)len, 0, 0, 0, 0);
}

static inline int sys_madvise(void *addr, size_t len, int advice)
{
	return (int)sys_raw(SYS_madvise, (long)addr, (long)len, advice, 0, 0, 0);
}

static inline int sys_getpid(void)
{
	return (int)sys_raw(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

static inline int sys_kill(int pid, int sig)
{
	return (int)sys_raw(SYS_kill, pid, sig, 0, 0, 0, 0);
}

/*
 * Did a sandbox refuse the call? Then its result tells nothing about the question. (A filter may
 * return any error; these are the ones that common profiles use.)
 */
static inline int sys_refused(long r)
{
	return r == -EPERM || r == -EACCES || r == -ENOSYS;
}

/* A sandbox may allow only the system call that today's libc uses: newfstatat(). */
static inline int sys_fstat(int fd, struct stat *st)
{
	int r = (int)sys_raw(SYS_fstat, fd, (long)st, 0, 0, 0, 0);

	if (sys_refused(r))
		r = (int)sys_raw(SYS_newfstatat, fd, (long)"", (long)st, AT_EMPTY_PATH, 0, 0);
	return r;
}

/* Is there something to read? > 0: yes; 0: no; < 0: the check failed. */
static inline int sys_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct timespec now = {0, 0};
	int n = 0, r = (int)sys_raw(SYS_ioctl, fd, FIONREAD, (long)&n, 0, 0, 0);

	if (sys_refused(r)) {
		r = (int)sys_raw(SYS_ppoll, (long)&p, 1, (long)&now, 0, 0, 0);
		n = r > 0 && (p.revents & POLLIN);
	}
	return r < 0 ? r : n > 0;
}

/* For a loop that waits for another processor. */
static inline void sys_cpu_relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#else
	__asm__ volatile("" ::: "memory");
#endif
}

/* Shared futexes: the words are in the segment. `timeout_ns` is relative. */
static inline int sys_futex_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t timeout_ns)
{
	struct timespec ts = {(time_t)(timeout_ns / 1000000000), (long)(timeout_ns % 1000000000)};

	return (int)sys_raw(SYS_futex, (long)word, FUTEX_WAIT, (long)seen, (long)&ts, 0, 0);
}

static inline int sys_futex_wake(_Atomic uint32_t *word, int n)
{
	return (int)sys_raw(SYS_futex, (long)word, FUTEX_WAKE, n, 0, 0, 0);
}

/*
 * Waits until a time of CLOCK_MONOTONIC. sys_futex_wake() wakes every sleeper; calls that take a
 * bit mask wake a sleeper that has one of their bits in `bits`.
 */
static inline int sys_futex_wait_until(_Atomic uint32_t *word, uint32_t seen, uint64_t end_ns,
				       uint32_t bits)
{
	struct timespec ts = {(time_t)(end_ns / 1000000000), (long)(end_ns % 1000000000)};

	return (int)sys_raw(SYS_futex, (long)word, FUTEX_WAIT_BITSET, (long)seen, (long)&ts, 0,
			    (long)bits);
}

static inline int sys_futex_wake_bits(_Atomic uint32_t *word, int n, uint32_t bits)
{
	return (int)sys_raw(SYS_futex, (long)word, FUTEX_WAKE_BITSET, n, 0, 0, (long)bits);
}

/*
 * Is the page's first word readable? A futex wait that ends at once lets the kernel read it:
 * cheaper than process_vm_readv(2), and allowed in programs that forbid themselves most calls.
 */
static inline bool sys_page_readable(uintptr_t page)
{
	const struct timespec now = {0, 0};
	long r = sys_raw(SYS_futex, (long)page, FUTEX_WAIT_PRIVATE, 1, (long)&now, 0, 0);

	return r == -EAGAIN || r == -ETIMEDOUT;
}

/*
 * Called for every descriptor that we keep to ourselves, and at its end: the preloaded library
 * hides them from closefrom(3) and the like. NULL in other programs.
 */
extern void (*sys_fd_kept)(int fd, int kept);

static inline int sys_fd_keep(int fd)
{
	if (sys_fd_kept)
		sys_fd_kept(fd, 1);
	return fd;
}

/* Closes a descriptor that sys_fd_high() returned. */
static inline void sys_fd_drop(int fd)
{
	if (sys_fd_kept)
		sys_fd_kept(fd, 0);
	sys_close(fd);
}

/*
 * Reads a small file, as text, in one call. Returns its length, cut to the buffer's, or -errno;
 * `buf` is a string in any case.
 */
static inline long sys_read_text(const char *path, char *buf, size_t size)
{
	int fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	long n = fd < 0 ? fd : (long)sys_read(fd, buf, size - 1);

	if (fd >= 0)
		sys_close(fd);
	buf[n > 0 ? n : 0] = '\0';
	return n;
}

/*
 * Move our own descriptor to a number that programs do not use (above 900 where its limit allows).
 * Takes fd; returns the new one, close-on-exec.
 */
static inline int sys_fd_high(int fd)
{
	static const int bases[] = {900, 200, 60};

	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		int high = sys_fcntl(fd, F_DUPFD_CLOEXEC, bases[i]);

		if (high >= 0) {
			sys_close(fd);
			return sys_fd_keep(high);
		}
	}
	return sys_fd_keep(fd);
}

#endif
