/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the look at other processes' threads in /proc: may one run, or are all stopped? Called in
 * traps: raw system calls, no allocation.
 */
#include "segment/proc.h"
#include "util/sys.h"

#include <string.h>

struct look {
	char path[64];
	size_t dir;                /* length of "/proc/<pid>/task/" */
	uint32_t stopped, running; /* threads; `running`: may run */
	uint64_t counts;
};

static size_t put_number(char *p, uint32_t n)
{
	char digits[12];
	size_t k = 0, len = 0;

	do
		digits[k++] = (char)('0' + n % 10);
	while (n /= 10);
	while (k)
		p[len++] = digits[--k];
	p[len] = 0;
	return len;
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
static void look_at_thread(struct look *l, const char *tid)
{
	char status[4096];
	const char *state;
	size_t n = strlen(tid);
	ssize_t got;
	int fd;

	if (l->dir + n + sizeof("/status") > sizeof(l->path)) {
		l->running++;
		return;
	}
	memcpy(l->path + l->dir, tid, n);
	memcpy(l->path + l->dir + n, "/status", sizeof("/status"));
	fd = sys_openat(AT_FDCWD, l->path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0) {
		l->running += fd != -ENOENT && fd != -ESRCH;
		return;
	}
	got = sys_read(fd, status, sizeof(status) - 1);
	sys_close(fd);
	if (got <= 0) {
		l->running += got != -ESRCH;
		return;
	}
	status[got] = 0;
	state = line_of(status, "\nState:");
	if (state && (*state == 'Z' || *state == 'X'))
		return;
	if (!state || (*state != 'T' && *state != 't') ||
	    !line_of(status, "\nnonvoluntary_ctxt_switches:")) {
		l->running++;
		return;
	}
	l->stopped++;
	l->counts = l->counts * 31 + number_of(status, "\nvoluntary_ctxt_switches:") +
		    number_of(status, "\nnonvoluntary_ctxt_switches:") +
		    number_of(status, "\nPid:");
}

struct dent { /* linux_dirent64 */
	uint64_t ino, off;
	uint16_t len;
	uint8_t type;
	char name[];
};

static int look_at_threads(struct look *l)
{
	_Alignas(8) char buf[1024];
	int fd = sys_openat(AT_FDCWD, l->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	long n;

	if (fd < 0)
		return fd;
	while ((n = sys_call(SYS_getdents64, fd, buf, sizeof(buf))) > 0)
		for (long at = 0; at < n;) {
			const struct dent *d = (const struct dent *)(buf + at);

			if (d->name[0] != '.')
				look_at_thread(l, d->name);
			at += d->len;
		}
	sys_close(fd);
	return (int)n;
}

enum seg_look seg_proc_look(struct seg *s, uint32_t slot, uint32_t gen, uint64_t *ran)
{
	const struct seg_proc *p = seg_proc(s, slot);
	struct look l = {.path = "/proc/"};
	int r;

	if (!p || seg_proc_gone(s, slot, gen))
		return SEG_LOOK_ENDED;
	if (slot == s->self || !p->pid_ns || p->pid_ns != s->pid_ns)
		return SEG_LOOK_RUNS;
	l.dir = 6 + put_number(l.path + 6, p->pid);
	memcpy(l.path + l.dir, "/task/", sizeof("/task/"));
	l.dir += 6;
	r = look_at_threads(&l);
	*ran = l.counts;
	return !r && !l.running && l.stopped ? SEG_LOOK_STOPPED : SEG_LOOK_RUNS;
}
