/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns memory slots: which process each belongs to, and whether that process is alive. Everything
 * except registration may be called in a trap.
 */
#include "segment/proc.h"
#include "segment/look.h"
#include "segment/table.h"
#include "util/clock.h"
#include "util/fmt.h"
#include "util/sys.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define EXEC_WAIT_NS (100 * NSEC_PER_MSEC)

uint64_t seg_pid_ns(void)
{
	char buf[64] = {0};
	uint64_t n = 0;

	/* "pid:[4026531836]" */
	if (sys_readlink("/proc/self/ns/pid", buf, sizeof(buf) - 1) < 0)
		return 0;
	for (const char *p = buf; *p; p++)
		if (*p >= '0' && *p <= '9')
			n = n * 10 + (uint64_t)(*p - '0');
	return n;
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

/* The content of the stat file of a process or thread. */
struct stat_file {
	char state;
	bool ends; /* it executes no further instruction of its program */
	uint64_t threads, start;
};

/*
 * Field 9 of the file is task_struct.flags (fs/proc/array.c, do_task_stat()). PF_EXITING is set by
 * exit_signals() at the start of do_exit(), before exit_mm() takes the memory away. A thread that
 * writes a core dump, or waits for the end of one, comes to do_exit() next.
 */
#define PF_EXITING 0x4u
#define PF_POSTCOREDUMP 0x8u
#define PF_DUMPCORE 0x200u

static int read_stat(struct seg *s, const char *path, struct stat_file *f)
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

static int leader_stat(struct seg *s, uint32_t pid, struct stat_file *f)
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
	struct stat_file f;
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

/*
 * 0 and *start; -ESRCH: only its zombie is left, or it is dying and no thread runs any more;
 * -ENOENT: not there or hidden (hidepid); -EIO.
 */
static int read_start_time(struct seg *s, uint32_t pid, uint64_t *start)
{
	struct stat_file f;
	int r = leader_stat(s, pid, &f);

	if (r)
		return r;
	if (f.ends && (f.threads <= 1 || !others_go_on(s, pid)))
		return -ESRCH;
	*start = f.start;
	return 0;
}

uint64_t seg_proc_start_time(uint32_t pid)
{
	uint64_t t;

	return read_start_time(NULL, pid, &t) ? 0 : t;
}

int seg_proc_register(struct seg *s, uint32_t host, uint32_t pid, uint64_t start_time,
		      uint32_t *slot, uint32_t *gen)
{
	struct seg_proc *p;
	int r = seg_alloc(s, SEG_T_PROC, SEG_OWNER_DEVICE, slot);

	if (r)
		return r;
	p = seg_at(s, SEG_T_PROC, *slot);
	p->pid = pid;
	p->host = host;
	p->start_time = start_time ? start_time : seg_proc_start_time(pid);
	p->pid_ns = s->pid_ns;
	*gen = p->gen;
	atomic_store_explicit(&p->state, SEG_PROC_LIVE, memory_order_release);
	return 0;
}

void seg_proc_set_self(struct seg *s, uint32_t slot, uint32_t gen)
{
	struct seg_proc *p = seg_proc(s, slot);

	s->self_pid = (uint32_t)sys_getpid();
	s->self_gen = gen;
	s->self = slot;
	look_begin(s);
	if (!p || p->gen != gen)
		return;
	p->pid = s->self_pid;
	p->pid_ns = s->pid_ns;
}

int seg_proc_register_self(struct seg *s, uint32_t host)
{
	uint32_t slot, gen;
	struct rlimit lim;
	int r;

	r = seg_proc_register(s, host, (uint32_t)sys_getpid(), 0, &slot, &gen);
	if (r)
		return r;
	if (!getrlimit(RLIMIT_MEMLOCK, &lim))
		atomic_store(&seg_proc(s, slot)->memlock, lim.rlim_cur);
	seg_proc_set_self(s, slot, gen);
	return 0;
}

bool seg_proc_gone(struct seg *s, uint32_t slot, uint32_t gen)
{
	const struct seg_proc *p = seg_proc(s, slot);
	uint32_t state;
	uint64_t start;
	int r;

	if (!p || p->gen != gen)
		return true;
	state = atomic_load_explicit(&p->state, memory_order_acquire);
	if (state != SEG_PROC_LIVE && state != SEG_PROC_EXECING)
		return true;
	if (slot == s->self || !p->pid_ns || p->pid_ns != s->pid_ns)
		return false;
	if (sys_kill((int)p->pid, 0) == -ESRCH)
		return true;
	r = read_start_time(s, p->pid, &start);
	if (!r)
		return p->start_time && start != p->start_time;
	return r == -ESRCH || sys_kill((int)p->pid, 0) == -ESRCH;
}

bool seg_proc_stopped(struct seg *s, uint32_t slot)
{
	const struct seg_proc *p = seg_proc(s, slot);
	struct stat_file f;
	uint64_t ran;

	if (!p || slot == s->self || !p->pid_ns || p->pid_ns != s->pid_ns ||
	    leader_stat(s, p->pid, &f))
		return false;
	/* Its first thread has ended: ask the others. */
	if (f.state == 'Z' && f.threads > 1)
		return seg_proc_look(s, slot, p->gen, &ran) == SEG_LOOK_STOPPED;
	return f.state == 'T' || f.state == 't';
}

bool seg_proc_exec_begin(struct seg_proc *p)
{
	uint64_t end = clock_now_ns() + EXEC_WAIT_NS;
	uint32_t live = SEG_PROC_LIVE;

	/* Ordered against mem.c, which raises in_flight, then reads state. */
	if (!atomic_compare_exchange_strong(&p->state, &live, SEG_PROC_EXECING))
		return false;
	while (atomic_load(&p->in_flight) && clock_now_ns() < end)
		sched_yield();
	return true;
}

void seg_proc_exec_failed(struct seg_proc *p)
{
	uint32_t execing = SEG_PROC_EXECING;

	atomic_compare_exchange_strong(&p->state, &execing, SEG_PROC_LIVE);
}

/*
 * The list has one node, and the distance from a node to its word may be any number: so the node
 * stays in the memory of the process, and the segment contains no pointer.
 */
void seg_proc_life_begin(struct seg_proc *p, struct seg_life *l)
{
	l->node.next = &l->head.list;
	l->head.list.next = &l->node;
	l->head.futex_offset = (long)((uintptr_t)&p->life - (uintptr_t)&l->node);
	l->head.list_op_pending = NULL;
	if (!sys_call(SYS_set_robust_list, &l->head, sizeof(l->head)))
		atomic_store(&p->life, (uint32_t)sys_call(SYS_gettid));
}

void seg_proc_rouse(struct seg *s, uint32_t slot)
{
	struct seg_proc *p = seg_proc(s, slot);

	if (!p)
		return;
	atomic_fetch_add(&p->wake, 1);
	sys_futex_wake(&p->wake, INT32_MAX);
}
