/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Signals all descendants of this process. Orphans are among them while it is a subreaper
 * (prctl(2)). A number may be reused between two looks at it, so each process is opened first, then
 * its parent is checked.
 */
#include "cli/command.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "util/cleanup.h"
#include "util/num.h"

struct proc {
	pid_t pid, parent;
	bool ours;
};

struct procs {
	struct proc *at;
	size_t n, room;
};

/* The parent of a process; -1: it is gone. */
static pid_t parent_of(pid_t pid)
{
	char path[32], line[512], *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return -1;
	end = fgets(line, sizeof(line), f) ? line : NULL;
	fclose(f);
	/* The process's name is in parentheses and may contain some itself: find the last one. */
	for (char *c = end; c && *c; c++)
		if (*c == ')')
			end = c;
	/* ") S 1" */
	return end && strlen(end) > 4 ? (pid_t)num_decimal(end + 4, NULL) : -1;
}

static void procs_add(struct procs *l, pid_t pid, pid_t parent)
{
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 256;
		struct proc *at = reallocarray(l->at, room, sizeof(*at));

		if (!at)
			return;
		l->at = at;
		l->room = room;
	}
	l->at[l->n++] = (struct proc){.pid = pid, .parent = parent};
}

static bool is_ours(const struct procs *l, pid_t pid)
{
	if (pid == getpid())
		return true;
	for (size_t i = 0; i < l->n; i++)
		if (l->at[i].ours && l->at[i].pid == pid)
			return true;
	return false;
}

static void procs_read(struct procs *l)
{
	DIR *d = opendir("/proc");
	const struct dirent *e;
	bool more = true;

	while (d && (e = readdir(d))) {
		pid_t pid = (pid_t)num_decimal(e->d_name, NULL);

		if (pid > 0)
			procs_add(l, pid, parent_of(pid));
	}
	if (d)
		closedir(d);
	while (more) {
		more = false;
		for (size_t i = 0; i < l->n; i++) {
			if (l->at[i].ours || !is_ours(l, l->at[i].parent))
				continue;
			l->at[i].ours = more = true;
		}
	}
}

unsigned int tree_pids(pid_t *pids, unsigned int room)
{
	struct procs l = {0};
	unsigned int n = 0;

	procs_read(&l);
	for (size_t i = 0; i < l.n && n < room; i++)
		if (l.at[i].ours)
			pids[n++] = l.at[i].pid;
	free(l.at);
	return n;
}

unsigned int tree_signal(int sig, pid_t except)
{
	struct procs l = {0};
	unsigned int found = 0;

	procs_read(&l);
	for (size_t i = 0; i < l.n; i++) {
		bool wanted = l.at[i].ours && l.at[i].pid != except;
		_cleanup_close_ int fd = wanted ? (int)syscall(SYS_pidfd_open, l.at[i].pid, 0) : -1;

		if (fd < 0 || !is_ours(&l, parent_of(l.at[i].pid)))
			continue;
		syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
		found++;
	}
	free(l.at);
	return found;
}
