/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns memory slots: which process each belongs to. Everything except registration may be called in
 * a trap.
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

uint64_t seg_proc_start_time(uint32_t pid)
{
	uint64_t t;

	return look_start_time(NULL, pid, &t) ? 0 : t;
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
