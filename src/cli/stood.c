/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Says where processes stand: the system call that a thread is in, with the file that it waits for,
 * and what their queues wait for. Read from /proc and the segment; called by run.c when the time is
 * over.
 */
#include "cli/outcome.h"

#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include "hw/qp.h"
#include "super/supervisor.h"
#include "util/cleanup.h"
#include "util/num.h"
#include "wire/prm/prm.h"

#define LINE 320
#define FDS 8

struct call {
	long number;
	const char *name;
	size_t (*files)(pid_t pid, const uint64_t arg[2], int fd[FDS]); /* NULL: none */
};

/* Event files, and the call of a library that reads each. */
static const struct kind {
	const char *what, *call;
} kinds[] = {
	[SEG_FILE_ASYNC] = {"asynchronous events", "ibv_get_async_event"},
	[SEG_FILE_COMP] = {"a completion channel", "ibv_get_cq_event"},
	[SEG_FILE_DEVX_CMD] = {"DEVX completions", "mlx5dv_devx_get_async_cmd_comp"},
	[SEG_FILE_DEVX_EVENT] = {"DEVX events", "mlx5dv_devx_get_event"},
	[SEG_FILE_UMAD] = {"MADs", "umad_recv"},
	[SEG_FILE_RDMA_CM] = {"an event channel of rdma_cm", "rdma_get_cm_event"},
};

static const struct kind *kind_of(const struct seg_file *f)
{
	return f && f->kind < ARRAY_SIZE(kinds) && kinds[f->kind].what ? &kinds[f->kind] : NULL;
}

/* The kind of an event file, or what the link in /proc says of another one. */
static void put_file(struct sup *sup, pid_t pid, int fd, char *text, size_t size)
{
	char path[64], target[128];
	struct stat st, probe;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	for (uint32_t i = 0; sup && !stat(path, &st) && i < sup->nfiles; i++) {
		const struct kind *k = kind_of(seg_file(&sup->seg, i));

		if (!k || sup->files[i].probe < 0 || fstat(sup->files[i].probe, &probe) < 0 ||
		    probe.st_ino != st.st_ino || probe.st_dev != st.st_dev)
			continue;
		snprintf(text, size, "%s", k->what);
		return;
	}
	n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	snprintf(text, size, "%s%s%s", !strncmp(target, "socket:", 7) ? "a socket" : "descriptor ",
		 !strncmp(target, "socket:", 7) ? "" : target, "");
}

/* ---- the files that a call waits for: their number; at most FDS of them */

static bool read_of(pid_t pid, uint64_t address, void *to, size_t n)
{
	struct iovec here = {to, n}, there = {(void *)(uintptr_t)address, n};

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)n;
}

static size_t polled(pid_t pid, const uint64_t arg[2], int fd[FDS])
{
	struct pollfd p[FDS];
	size_t n = 0, of = arg[1] < FDS ? arg[1] : FDS;

	if (!read_of(pid, arg[0], p, of * sizeof(*p)))
		return 0;
	for (size_t i = 0; i < of; i++)
		if (p[i].fd >= 0)
			fd[n++] = p[i].fd;
	return n;
}

/* Those that are to become readable. */
static size_t selected(pid_t pid, const uint64_t arg[2], int fd[FDS])
{
	size_t limit = arg[0] < FD_SETSIZE ? arg[0] : FD_SETSIZE, n = 0;
	fd_set set;

	FD_ZERO(&set);
	if (!read_of(pid, arg[1], &set, (limit + 63) / 64 * 8))
		return 0;
	for (size_t i = 0; i < limit && n < FDS; i++)
		if (FD_ISSET((int)i, &set))
			fd[n++] = (int)i;
	return n;
}

static size_t in_epoll(pid_t pid, const uint64_t arg[2], int fd[FDS])
{
	char path[64], line[256];
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)pid, (int)arg[0]);
	f = fopen(path, "re");
	while (f && n < FDS && fgets(line, sizeof(line), f))
		if (!strncmp(line, "tfd:", 4))
			fd[n++] = (int)num_decimal(line + 4 + strspn(line + 4, " \t"), NULL);
	if (f)
		fclose(f);
	return n;
}

static size_t one(pid_t pid, const uint64_t arg[2], int fd[FDS])
{
	fd[0] = (int)arg[0];
	return 1;
}

static const struct call calls[] = {
	{SYS_read, "read", one},
	{SYS_write, "write", one},
	{SYS_recvfrom, "recv", one},
	{SYS_recvmsg, "recvmsg", one},
	{SYS_sendto, "send", one},
	{SYS_sendmsg, "sendmsg", one},
	{SYS_accept4, "accept", one},
	{SYS_connect, "connect", one},
	{SYS_ppoll, "poll", polled},
	{SYS_pselect6, "select", selected},
	{SYS_epoll_pwait, "epoll_wait", in_epoll},
	{SYS_futex, "futex: a lock, a condition or another thread", NULL},
	{SYS_nanosleep, "nanosleep", NULL},
	{SYS_clock_nanosleep, "nanosleep", NULL},
	{SYS_wait4, "wait for a child", NULL},
	{SYS_waitid, "wait for a child", NULL},
	{SYS_rt_sigsuspend, "sigsuspend", NULL},
	{SYS_rt_sigtimedwait, "sigwait", NULL},
	{SYS_flock, "flock", one},
#ifdef SYS_accept
	{SYS_accept, "accept", one},
#endif
#ifdef SYS_poll
	{SYS_poll, "poll", polled},
	{SYS_select, "select", selected},
	{SYS_epoll_wait, "epoll_wait", in_epoll},
	{SYS_pause, "pause", NULL},
#endif
};

static void put_files(struct sup *sup, pid_t pid, const struct call *c, const uint64_t arg[2],
		      char *text, size_t size)
{
	int fd[FDS];
	size_t n = c->files ? c->files(pid, arg, fd) : 0, len = 0;

	*text = 0;
	for (size_t i = 0; i < n && len < size; i++) {
		char file[160];

		put_file(sup, pid, fd[i], file, sizeof(file));
		len += (size_t)snprintf(text + len, size - len, "%s%s", i ? ", " : "", file);
	}
}

/* Where in the segment the process has this address; UINT64_MAX: nowhere. */
static uint64_t segment_offset(struct sup *sup, pid_t pid, uint64_t address)
{
	char path[64], line[512];
	uint64_t found = UINT64_MAX;
	struct stat st;
	FILE *f;

	if (!sup || fstat(sup->seg.fd, &st) < 0)
		return found;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	while (f && found == UINT64_MAX && fgets(line, sizeof(line), f)) {
		const char *at = line;
		uint64_t from = num_in_base(at, 16, &at);
		uint64_t to = *at == '-' ? num_in_base(at + 1, 16, &at) : 0;
		uint64_t offset, inode;

		at = strlen(at) > 6 ? at + 6 : ""; /* " rw-s " */
		offset = num_in_base(at, 16, &at);
		at = *at == ' ' ? strchr(at + 1, ' ') : NULL; /* " 00:01 " */
		inode = at ? num_decimal(at + 1, NULL) : 0;
		if (address >= from && address < to && inode == st.st_ino)
			found = address - from + offset;
	}
	if (f)
		fclose(f);
	return found;
}

/*
 * Blocking reads of event files wait by a futex in the queue, evq_wait(). False: this one is
 * somewhere else.
 */
static bool put_queue_read(struct sup *sup, pid_t pid, uint64_t address, char *text, size_t size)
{
	uint64_t offset = segment_offset(sup, pid, address);
	const struct seg_table_hdr *t;
	const struct kind *k;

	if (offset == UINT64_MAX)
		return false;
	t = seg_table(&sup->seg, SEG_T_EVQ);
	if (offset < t->elems_off || offset >= t->elems_off + (uint64_t)t->capacity * t->elem_size)
		return false;
	k = kind_of(seg_file(&sup->seg, (uint32_t)((offset - t->elems_off) / t->elem_size)));
	if (k)
		snprintf(text, size, "in read of %s (%s)", k->what, k->call);
	return k;
}

/* "in poll of a completion channel". False: it cannot be told. */
static bool put_call(struct sup *sup, pid_t pid, const char *tid, char *text, size_t size)
{
	char path[64], line[256] = "", file[LINE - 64] = "";
	const struct call *c = NULL;
	uint64_t a[2] = {0};
	const char *at;
	long number;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/syscall", (int)pid, tid);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(line, sizeof(line), f))
		line[0] = 0;
	fclose(f);
	if (!strncmp(line, "running", 7)) {
		snprintf(text, size, "running: it polls or computes");
		return true;
	}
	number = (long)num_decimal(line, &at);
	if (at == line || *at != ' ')
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(a) && *at == ' '; i++)
		a[i] = num_in_base(at + 1, 16, &at);
	for (size_t i = 0; i < ARRAY_SIZE(calls) && !c; i++)
		c = calls[i].number == number ? &calls[i] : NULL;
	if (!c) {
		snprintf(text, size, "in system call %ld", number);
		return true;
	}
	if (c->number == SYS_futex && put_queue_read(sup, pid, a[0], text, size))
		return true;
	put_files(sup, pid, c, a, file, sizeof(file));
	snprintf(text, size, "in %s%s%s", c->name, *file ? " of " : "", file);
	return true;
}

/* The first thread that waits for more than its other threads; ours is not told. */
static void put_threads(struct sup *sup, pid_t pid, char *text, size_t size)
{
	char path[64], comm[32];
	const struct dirent *e;
	DIR *d;

	*text = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		FILE *f;

		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%.16s/comm", (int)pid, e->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (!fgets(comm, sizeof(comm), f))
			comm[0] = 0;
		fclose(f);
		if (!strcmp(comm, "softhca\n") && num_decimal(e->d_name, NULL) != (uint64_t)pid)
			continue;
		if (!put_call(sup, pid, e->d_name, text, size) || strncmp(text, "in futex", 8))
			break;
	}
	if (d)
		closedir(d);
}

/* How much it matters what the queue waits for; 0: nothing. */
static int put_qp(const struct hw_qp *qp, uint32_t qpn, char *text, size_t size)
{
	uint32_t park = atomic_load(&qp->park), state = atomic_load(&qp->state);
	const char *name = prm_value_name(&layout_qpc, LF_qpc_state_BIT, state);

	if (state == PRM_QP_STATE_RTS && (park == HW_PARK_RNR || park == HW_PARK_RETRY)) {
		snprintf(text, size, "QP 0x%x: %s", qpn,
			 park == HW_PARK_RNR ? "the receiver has no receive posted"
					     : "no answer to its request");
		return 4;
	}
	if (state == PRM_QP_STATE_RTR || state == PRM_QP_STATE_RTS) {
		snprintf(text, size, "waits for a completion of QP 0x%x", qpn);
		return 3;
	}
	snprintf(text, size, "QP 0x%x is in state %s", qpn, name ? name : "?");
	return state == PRM_QP_STATE_ERR ? 2 : 1;
}

static void put_queues(struct sup *sup, uint32_t slot, char *text, size_t size)
{
	int most = 0;

	*text = 0;
	seg_for_each_live (&sup->seg, SEG_T_QP, i) {
		const struct hw_qp *qp = hw_qp(&sup->seg, i);
		char line[LINE];
		int n = qp && qp->mem.slot == slot ? put_qp(qp, i, line, sizeof(line)) : 0;

		if (n > most)
			snprintf(text, size, "%s", line);
		most = n > most ? n : most;
	}
}

static void add(struct json_object *list, struct sup *sup, pid_t pid, const char *comm,
		uint32_t slot)
{
	char queue[LINE] = "", call[LINE], line[3 * LINE];

	if (slot != SEG_NONE)
		put_queues(sup, slot, queue, sizeof(queue));
	put_threads(sup, pid, call, sizeof(call));
	snprintf(line, sizeof(line), "%s: %s%s%s", comm, queue, *queue && *call ? " / " : "", call);
	json_object_array_add(list, json_object_new_string(line));
}

struct json_object *stood_at(struct sup *sup, pid_t command)
{
	struct json_object *list = json_object_new_array();

	for (const struct sup_link *l = sup ? sup->links : NULL; l; l = l->next) {
		const struct seg_proc *p = l->closed ? NULL : seg_proc(&sup->seg, l->slot);

		if (p && p->gen == l->gen && l->pid > 0)
			add(list, sup, l->pid, p->comm, l->slot);
	}
	if (!json_object_array_length(list))
		add(list, sup, command, "the command", SEG_NONE);
	return list;
}
