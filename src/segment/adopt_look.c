/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds what else could use this process's pages while they are moved: descriptors whose drivers
 * keep pages, and threads that sleep in system calls with addresses in them. Called by adopt_own.c
 * on the device thread or in wrappers; raw system calls, no allocation.
 */
#include "segment/adopt_priv.h"
#include "segment/look.h"
#include "util/fmt.h"
#include "util/sys.h"

#include <asm/termbits.h>
#include <asm/ioctls.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>

#ifndef AF_XDP
#define AF_XDP 44
#endif

/* ---- descriptors */

/* Terminals, and the memory devices of Documentation/admin-guide/devices.txt in the kernel. */
static bool is_harmless_device(int fd, dev_t dev)
{
	struct termios t;

	return major(dev) == 1 || !sys_ioctl(fd, TCGETS, &t);
}

static bool is_socket_of_pages(int fd)
{
	int family = 0;
	socklen_t len = sizeof(family);

	return !sys_call(SYS_getsockopt, fd, SOL_SOCKET, SO_DOMAIN, &family, &len) &&
	       family == AF_XDP;
}

/*
 * Drivers of devices pin pages and tell nobody, and so do files that are read past the cache. A
 * pipe with O_DIRECT has packets instead of bytes.
 */
static bool may_pin(int fd, const char *path)
{
	char name[32];
	struct stat st;
	ssize_t n;

	if (sys_fstat(fd, &st))
		return false;
	if (S_ISCHR(st.st_mode))
		return !is_harmless_device(fd, st.st_rdev);
	if (S_ISBLK(st.st_mode))
		return true;
	if (S_ISSOCK(st.st_mode))
		return is_socket_of_pages(fd);
	if (S_ISREG(st.st_mode) && sys_fcntl(fd, F_GETFL, 0) & O_DIRECT)
		return true;
	n = sys_readlink(path, name, sizeof(name) - 1);
	if (n < 0)
		return false;
	name[n] = '\0';
	return !strcmp(name, "anon_inode:[io_uring]");
}

struct dent { /* linux_dirent64 */
	uint64_t ino, off;
	uint16_t len;
	uint8_t type;
	char name[];
};

static int number_of(const char *s)
{
	int v = 0;

	if (*s < '0' || *s > '9')
		return -1;
	for (; *s >= '0' && *s <= '9'; s++)
		v = v * 10 + (*s - '0');
	return v;
}

bool adopt_look_pins(void)
{
	_Alignas(8) char buf[1024];
	bool found = false;
	char path[64];
	long n = 0;
	int dir = sys_openat(AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);

	if (dir < 0)
		return true;
	while (!found && (n = sys_call(SYS_getdents64, dir, buf, sizeof(buf))) > 0)
		for (long at = 0; at < n && !found;) {
			const struct dent *d = (const struct dent *)(buf + at);
			int fd = number_of(d->name);

			at += d->len;
			fmt(path, sizeof(path), "/proc/self/fd/%s", d->name);
			found = fd >= 0 && may_pin(fd, path);
		}
	sys_close(dir);
	return found || n < 0;
}

bool adopt_look_limited(void)
{
	struct rlimit r = {0};

	return sys_call(SYS_prlimit64, 0, RLIMIT_AS, NULL, &r) || r.rlim_cur != RLIM_INFINITY;
}

/* ---- threads */

struct sleepers {
	uint64_t lo, hi;
	void (*shared)(void *arg, uint64_t word);
	void *arg;
	enum adopt_sleep found;
};

static const char *word_of(const char *s, uint64_t *v)
{
	unsigned int base = s[0] == '0' && s[1] == 'x' ? 16 : 10;

	for (s += base == 16 ? 2 : 0, *v = 0;; s++) {
		unsigned int d = *s >= '0' && *s <= '9'   ? (unsigned int)(*s - '0')
				 : *s >= 'a' && *s <= 'f' ? (unsigned int)(*s - 'a') + 10
							  : 16;

		if (d >= base)
			break;
		*v = *v * base + d;
	}
	return *s == ' ' ? s + 1 : s;
}

/*
 * The call's number and its six arguments, in proc_pid_syscall() of the kernel's fs/proc/base.c;
 * "running" or "-1 ..." when the thread sleeps in none.
 */
static void look_at_call(const char *call, struct sleepers *x)
{
	uint64_t nr, a[6];

	if (*call < '0' || *call > '9')
		return;
	call = word_of(call, &nr);
	for (int i = 0; i < 6; i++)
		call = word_of(call, &a[i]);
	if (nr == SYS_futex && a[0] >= x->lo && a[0] < x->hi) {
		if (a[1] & FUTEX_PRIVATE_FLAG) /* it goes by the address */
			return;
		if (x->shared)
			x->shared(x->arg, a[0]);
		x->found = ADOPT_SLEEP_SHARED;
		return;
	}
	for (int i = 0; i < 6; i++)
		if (a[i] >= x->lo && a[i] < x->hi && x->found == ADOPT_SLEEP_NONE)
			x->found = ADOPT_SLEEP_CALL;
}

static bool look_at_thread(const char *thread, void *arg)
{
	struct sleepers *x = arg;
	char path[64], call[256];
	ssize_t n;
	int fd;

	fmt(path, sizeof(path), "%s/syscall", thread);
	fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	n = fd < 0 ? fd : sys_read(fd, call, sizeof(call) - 1);
	if (fd >= 0)
		sys_close(fd);
	if (n == -ENOENT || n == -ESRCH) /* it has ended */
		return true;
	if (n <= 0) {
		x->found = ADOPT_SLEEP_UNKNOWN;
		return false;
	}
	call[n] = '\0';
	look_at_call(call, x);
	return x->found == ADOPT_SLEEP_NONE || x->shared;
}

enum adopt_sleep adopt_look_asleep(uint64_t lo, uint64_t hi,
				   void (*shared)(void *arg, uint64_t word), void *arg)
{
	struct sleepers x = {lo, hi, shared, arg, ADOPT_SLEEP_NONE};
	int own = sys_openat(AT_FDCWD, "/proc/self/syscall", O_RDONLY | O_CLOEXEC, 0);

	if (own < 0)
		return ADOPT_SLEEP_UNKNOWN;
	sys_close(own);
	if (look_each_thread((uint32_t)sys_getpid(), look_at_thread, &x))
		return ADOPT_SLEEP_UNKNOWN;
	return x.found;
}
