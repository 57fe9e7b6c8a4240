/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks the threads of other processes in /proc: may one run, or are all stopped? Called in traps:
 * raw system calls, no allocation.
 */
#include "segment/look.h"
#include "segment/proc.h"
#include "util/fmt.h"
#include "util/sys.h"

#include <string.h>

struct look {
	uint32_t stopped, running; /* number of threads; `running`: those that may run */
	uint64_t counts;
};

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
static bool look_at_thread(const char *thread, void *arg)
{
	char path[64], status[4096];
	struct look *l = arg;
	const char *state;
	ssize_t got;
	int fd;

	fmt(path, sizeof(path), "%s/status", thread);
	fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0) {
		l->running += fd != -ENOENT && fd != -ESRCH;
		return true;
	}
	got = sys_read(fd, status, sizeof(status) - 1);
	sys_close(fd);
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

int look_each_thread(uint32_t pid, bool (*each)(const char *thread, void *arg), void *arg)
{
	_Alignas(8) char buf[1024];
	char path[64];
	bool more = true;
	long n = 0;
	int fd;

	fmt(path, sizeof(path), "/proc/%u/task", pid);
	fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	while (more && (n = sys_call(SYS_getdents64, fd, buf, sizeof(buf))) > 0)
		for (long at = 0; at < n && more;) {
			const struct dent *d = (const struct dent *)(buf + at);

			at += d->len;
			if (d->name[0] < '0' || d->name[0] > '9')
				continue;
			fmt(path, sizeof(path), "/proc/%u/task/%s", pid, d->name);
			more = each(path, arg);
		}
	sys_close(fd);
	return n < 0 ? (int)n : 0;
}

enum seg_look seg_proc_look(struct seg *s, uint32_t slot, uint32_t gen, uint64_t *ran)
{
	const struct seg_proc *p = seg_proc(s, slot);
	struct look l = {0};
	int r;

	if (!p || seg_proc_gone(s, slot, gen))
		return SEG_LOOK_ENDED;
	if (slot == s->self || !p->pid_ns || p->pid_ns != s->pid_ns)
		return SEG_LOOK_RUNS;
	r = look_each_thread(p->pid, look_at_thread, &l);
	*ran = l.counts;
	return !r && !l.running && l.stopped ? SEG_LOOK_STOPPED : SEG_LOOK_RUNS;
}
