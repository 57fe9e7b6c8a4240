/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads what /proc says of other processes: may a thread run, or are all stopped? Called in traps:
 * raw system calls, no allocation.
 */
#include "segment/look.h"
#include "segment/proc.h"
#include "util/fmt.h"
#include "util/sys.h"

#include <errno.h>
#include <string.h>

struct look {
	struct seg *s;
	uint32_t stopped, running; /* number of threads; `running`: those that may run */
	uint64_t counts;
};

/* O_PATH tells the spare descriptor from one that a program has put in its place. */
static bool is_spare(int fd)
{
	int flags = sys_fcntl(fd, F_GETFL, 0);

	return flags >= 0 && flags & O_PATH;
}

void look_begin(struct seg *s)
{
	int fd, none = 0;

	if (atomic_load(&s->spare_fd))
		return;
	fd = sys_openat(AT_FDCWD, "/proc", O_PATH | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	fd = sys_fd_high(fd);
	if (!atomic_compare_exchange_strong(&s->spare_fd, &none, fd + 1))
		sys_fd_drop(fd);
}

void look_end(struct seg *s)
{
	int spare = atomic_exchange(&s->spare_fd, 0);

	if (spare)
		sys_fd_drop(spare - 1);
}

int look_open(struct seg *s, const char *path, int flags)
{
	int fd = sys_openat(AT_FDCWD, path, flags | O_CLOEXEC, 0), spare;

	if (fd != -EMFILE || !s)
		return fd;
	spare = atomic_exchange(&s->spare_fd, 0);
	if (!spare || !is_spare(spare - 1))
		return fd;
	sys_fd_drop(spare - 1);
	return sys_openat(AT_FDCWD, path, flags | O_CLOEXEC, 0);
}

void look_close(struct seg *s, int fd)
{
	sys_close(fd);
	if (s)
		look_begin(s);
}

static const char *line_of(const char *status, const char *name)
{
	const char *p = strstr(status, name);

	if (!p)
		return NULL;
	p += strlen(name);
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

static uint64_t number_of(const char *status, const char *name)
{
	const char *p = line_of(status, name);
	uint64_t v = 0;

	for (; p && *p >= '0' && *p <= '9'; p++)
		v = v * 10 + (uint64_t)(*p - '0');
	return v;
}

/* The kernel's letters: T stopped, t stopped by a tracer, Z and X have ended (proc(5)). */
static bool look_stopped_thread(const char *thread, void *arg)
{
	char path[64], status[4096];
	struct look *l = arg;
	const char *state;
	ssize_t got;
	int fd;

	fmt(path, sizeof(path), "%s/status", thread);
	fd = look_open(l->s, path, O_RDONLY);
	if (fd < 0) {
		l->running += fd != -ENOENT && fd != -ESRCH;
		return true;
	}
	got = sys_read(fd, status, sizeof(status) - 1);
	look_close(l->s, fd);
	if (got <= 0) {
		l->running += got != -ESRCH;
		return true;
	}
	status[got] = 0;
	state = line_of(status, "\nState:");
	if (state && (*state == 'Z' || *state == 'X'))
		return true;
	if (!state || (*state != 'T' && *state != 't') ||
	    !line_of(status, "\nnonvoluntary_ctxt_switches:")) {
		l->running++;
		return true;
	}
	l->stopped++;
	l->counts = l->counts * 31 + number_of(status, "\nvoluntary_ctxt_switches:") +
		    number_of(status, "\nnonvoluntary_ctxt_switches:") +
		    number_of(status, "\nPid:");
	return true;
}

struct dent { /* linux_dirent64 */
	uint64_t ino, off;
	uint16_t len;
	uint8_t type;
	char name[];
};

/* Reads names from position *at of a folder on. The length; 0: the end; -errno. */
static long read_names(struct seg *s, const char *path, uint64_t at, void *buf, size_t size)
{
	int fd = look_open(s, path, O_RDONLY | O_DIRECTORY);
	long n;

	if (fd < 0)
		return fd;
	n = at ? sys_call(SYS_lseek, fd, at, SEEK_SET) : 0;
	if (n >= 0)
		n = sys_call(SYS_getdents64, fd, buf, size);
	look_close(s, fd);
	return n;
}

int look_threads(struct seg *s, uint32_t pid, bool (*each)(const char *thread, void *arg),
		 void *arg)
{
	_Alignas(8) char buf[1024];
	char folder[64], path[64];
	bool more = true;
	uint64_t next = 0;
	long n;

	fmt(folder, sizeof(folder), "/proc/%u/task", pid);
	do {
		n = read_names(s, folder, next, buf, sizeof(buf));
		for (long at = 0; at < n && more;) {
			const struct dent *d = (const struct dent *)(buf + at);

			at += d->len;
			next = d->off;
			if (d->name[0] < '0' || d->name[0] > '9')
				continue;
			fmt(path, sizeof(path), "%s/%s", folder, d->name);
			more = each(path, arg);
		}
		/* The kernel stops where a further name has no room. */
	} while (more && n > (long)sizeof(buf) - 64);
	return n < 0 ? (int)n : 0;
}

bool look_all_stopped(struct seg *s, uint32_t pid, uint64_t *ran)
{
	struct look l = {.s = s};
	int r = look_threads(s, pid, look_stopped_thread, &l);

	*ran = l.counts;
	return !r && !l.running && l.stopped;
}

/* The n-th number after the command name (field 3 is the state letter, so 4 is the first). */
static uint64_t stat_field(const char *after_comm, unsigned int field)
{
	const char *p = after_comm;
	uint64_t v = 0;

	for (unsigned int i = 3; i < field && *p; i++) {
		while (*p && *p != ' ')
			p++;
		while (*p == ' ')
			p++;
	}
	for (; *p >= '0' && *p <= '9'; p++)
		v = v * 10 + (uint64_t)(*p - '0');
	return v;
}

/*
 * Field 9 of the file is task_struct.flags (fs/proc/array.c, do_task_stat()). PF_EXITING is set by
 * exit_signals() at the start of do_exit(), before exit_mm() takes the memory away. A thread that
 * writes a core dump, or waits for the end of one, comes to do_exit() next.
 */
#define PF_EXITING 0x4u
#define PF_POSTCOREDUMP 0x8u
#define PF_DUMPCORE 0x200u

static int read_stat(struct seg *s, const char *path, struct look_stat *f)
{
	char buf[1024];
	const char *p;
	int fd = look_open(s, path, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = sys_read(fd, buf, sizeof(buf) - 1);
	look_close(s, fd);
	if (n <= 0)
		return n ? (int)n : -EIO;
	buf[n] = '\0';
	/* The command name may contain any character, also a parenthesis. */
	p = strrchr(buf, ')');
	if (!p || p[1] != ' ')
		return -EIO;
	p += 2;
	f->state = *p;
	f->ends = *p == 'X' || *p == 'Z' ||
		  (stat_field(p, 9) & (PF_EXITING | PF_POSTCOREDUMP | PF_DUMPCORE));
	f->threads = stat_field(p, 20);
	f->start = stat_field(p, 22);
	return 0;
}

int look_stat(struct seg *s, uint32_t pid, struct look_stat *f)
{
	char path[64];

	fmt(path, sizeof(path), "/proc/%u/stat", pid);
	return read_stat(s, path, f);
}

struct rest {
	struct seg *s;
	bool found;
};

static bool goes_on(const char *thread, void *arg)
{
	char path[64];
	struct look_stat f;
	struct rest *rest = arg;
	int r;

	fmt(path, sizeof(path), "%s/stat", thread);
	r = read_stat(rest->s, path, &f);
	rest->found = r ? r != -ENOENT && r != -ESRCH : !f.ends;
	return !rest->found;
}

/*
 * Does a thread continue after the leader of its process has ended? Such a leader has called
 * pthread_exit(), or the whole process is being killed and other threads are slower. < 0: unknown.
 */
static int others_go_on(struct seg *s, uint32_t pid)
{
	struct rest rest = {.s = s};
	int r = look_threads(s, pid, goes_on, &rest);

	if (r)
		return r == -ENOENT || r == -ESRCH ? 0 : r;
	return rest.found;
}

int look_start_time(struct seg *s, uint32_t pid, uint64_t *start)
{
	struct look_stat f;
	int r = look_stat(s, pid, &f);

	if (r)
		return r;
	if (f.ends && (f.threads <= 1 || !others_go_on(s, pid)))
		return -ESRCH;
	*start = f.start;
	return 0;
}
