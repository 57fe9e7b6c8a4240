/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds what else could use this process's pages while they are moved: descriptors whose drivers
 * keep pages, and threads that sleep in system calls with addresses in them. Called by adopt_own.c
 * on the device thread or in wrappers; raw system calls, no allocation.
 */
#include "segment/adopt_priv.h"
#include "segment/look.h"
#include "util/fmt.h"
#include "util/num.h"
#include "util/point.h"
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

#define CHANGES_MAX 16 /* how often the file of a number may change while it is asked about */

static struct adopt_kept fds = {.fd = -1};

void adopt_look_keep(void)
{
	adopt_keep_open(&fds, "/proc/self/fd", O_DIRECTORY);
}

void adopt_look_forked(void)
{
	adopt_keep_drop(&fds);
}

/* The memory devices and terminals of Documentation/admin-guide/devices.txt in the kernel. */
static bool is_harmless(dev_t dev)
{
	return major(dev) == 1 || major(dev) == 4 || major(dev) == 5 ||
	       (major(dev) >= 136 && major(dev) <= 143);
}

/*
 * r: the result of a question that says `pins`. A descriptor that was closed since it was listed,
 * and perhaps used again, keeps no pages.
 */
static enum adopt_pins answer(long r, bool pins)
{
	if (r == -EBADF || r == -ENOENT || r == -ENOTSOCK)
		return ADOPT_PINS_NOT;
	return r < 0 ? ADOPT_PINS_UNKNOWN : pins ? ADOPT_PINS : ADOPT_PINS_NOT;
}

/* Drivers of devices pin pages and tell nobody. Other terminals, as those on USB, do not. */
static enum adopt_pins device_pins(int fd)
{
	struct termios t;
	int r = sys_ioctl(fd, TCGETS, &t);

	return r && r != -EBADF ? ADOPT_PINS : ADOPT_PINS_NOT;
}

static enum adopt_pins socket_pins(int fd)
{
	int family = 0;
	socklen_t len = sizeof(family);
	long r = sys_call(SYS_getsockopt, fd, SOL_SOCKET, SO_DOMAIN, &family, &len);

	return answer(r, family == AF_XDP);
}

/* A pipe with O_DIRECT has packets instead of bytes. */
static enum adopt_pins file_pins(int dir, int fd, const char *name, mode_t mode)
{
	char what[32];
	long r = sys_fcntl(fd, F_GETFL, 0);

	if (r < 0 || r & O_PATH)
		return answer(r, false);
	if (S_ISBLK(mode) || (S_ISREG(mode) && r & O_DIRECT))
		return ADOPT_PINS;
	r = sys_call(SYS_readlinkat, dir, name, what, sizeof(what) - 1);
	if (r < 0) /* a name longer than PATH_MAX is a file's */
		return answer(r == -ENAMETOOLONG ? 0 : r, false);
	what[r] = '\0';
	return answer(0, !strcmp(what, "anon_inode:[io_uring]"));
}

static enum adopt_pins ask(int dir, int fd, const char *name, struct stat *st)
{
	int r = sys_fstat(fd, st);

	POINT("look-descriptor");
	if (r)
		return answer(r, false);
	if (S_ISCHR(st->st_mode))
		return is_harmless(st->st_rdev) ? ADOPT_PINS_NOT : device_pins(fd);
	if (S_ISSOCK(st->st_mode))
		return socket_pins(fd);
	return file_pins(dir, fd, name, st->st_mode);
}

/*
 * Another thread may close the descriptor at any time, or open another file by this number: what
 * was found counts if the file is the same before and after. What is opened now has no pages yet.
 */
static enum adopt_pins descriptor_pins(int dir, int fd, const char *name)
{
	struct stat st, now;

	for (int i = 0; i < CHANGES_MAX; i++) {
		enum adopt_pins found = ask(dir, fd, name, &st);

		if (found != ADOPT_PINS)
			return found;
		if (!sys_fstat(fd, &now) && now.st_dev == st.st_dev && now.st_ino == st.st_ino)
			return ADOPT_PINS;
	}
	return ADOPT_PINS_UNKNOWN;
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

static enum adopt_pins any_pins(int dir)
{
	enum adopt_pins found = ADOPT_PINS_NOT, one;
	_Alignas(8) char buf[1024];
	bool some = false;
	long n;

	while ((n = sys_call(SYS_getdents64, dir, buf, sizeof(buf))) > 0)
		for (long at = 0; at < n;) {
			const struct dent *d = (const struct dent *)(buf + at);
			int fd = number_of(d->name);

			at += d->len;
			if (fd < 0)
				continue;
			some = true;
			one = descriptor_pins(dir, fd, d->name);
			if (one == ADOPT_PINS)
				return one;
			if (one == ADOPT_PINS_UNKNOWN)
				found = one;
		}
	/* A thread that has ended has no descriptors; this folder is one. */
	return n < 0 || !some ? ADOPT_PINS_UNKNOWN : found;
}

enum adopt_pins adopt_look_pins(void)
{
	/* of this thread: those of the first one are gone when it has ended */
	int dir =
		sys_openat(AT_FDCWD, "/proc/thread-self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	enum adopt_pins found;

	if (dir >= 0) {
		found = any_pins(dir);
		sys_close(dir);
		return found;
	}
	if (!adopt_is_kept(&fds) || sys_call(SYS_lseek, fds.fd, 0, SEEK_SET) < 0)
		return ADOPT_PINS_UNKNOWN;
	return any_pins(fds.fd);
}

bool adopt_look_limited(void)
{
	struct rlimit r = {0};

	return sys_call(SYS_prlimit64, 0, RLIMIT_AS, NULL, &r) || r.rlim_cur != RLIM_INFINITY;
}

/* ---- threads */

struct sleepers {
	struct seg *s;
	uint64_t lo, hi;
	void (*shared)(void *arg, uint64_t word);
	void *arg;
	enum adopt_sleep found;
};

/*
 * The call's number and its six arguments, in proc_pid_syscall() of the kernel's fs/proc/base.c;
 * "running" or "-1 ..." when the thread sleeps in none.
 */
static void look_at_call(const char *call, struct sleepers *x)
{
	uint64_t nr, a[6];

	if (*call < '0' || *call > '9')
		return;
	nr = num_decimal(call, &call);
	for (int i = 0; i < 6; i++)
		a[i] = num_in_base(call + (*call == ' '), 16, &call);
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

static enum adopt_sleep unseen(long r)
{
	return adopt_passes(r) ? ADOPT_SLEEP_UNSEEN : ADOPT_SLEEP_UNKNOWN;
}

static bool look_at_thread(const char *thread, void *arg)
{
	struct sleepers *x = arg;
	char path[64], call[256];
	ssize_t n;
	int fd;

	fmt(path, sizeof(path), "%s/syscall", thread);
	fd = look_open(x->s, path, O_RDONLY);
	n = fd < 0 ? fd : sys_read(fd, call, sizeof(call) - 1);
	if (fd >= 0)
		look_close(x->s, fd);
	if (n == -ENOENT || n == -ESRCH) /* it has ended */
		return true;
	if (n <= 0) {
		x->found = unseen(n);
		return false;
	}
	call[n] = '\0';
	look_at_call(call, x);
	return x->found == ADOPT_SLEEP_NONE || x->shared;
}

enum adopt_sleep adopt_look_asleep(struct seg *s, uint64_t lo, uint64_t hi,
				   void (*shared)(void *arg, uint64_t word), void *arg)
{
	struct sleepers x = {s, lo, hi, shared, arg, ADOPT_SLEEP_NONE};
	int own = look_open(s, "/proc/thread-self/syscall", O_RDONLY), r;

	if (own < 0)
		return unseen(own);
	look_close(s, own);
	r = look_threads(s, (uint32_t)sys_getpid(), look_at_thread, &x);
	return r ? unseen(r) : x.found;
}
