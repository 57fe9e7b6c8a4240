/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the answers about other processes: from their slots, and from /proc by look.c. May be called
 * in a trap.
 */
#include "segment/who.h"
#include "segment/look.h"
#include "segment/proc.h"
#include "util/sys.h"

#include <errno.h>

/* The process, if the slot is still its own. */
static const struct seg_proc *proc_of(const struct seg *s, struct who w)
{
	const struct seg_proc *p = seg_proc(s, w.slot);

	return p && !((p->gen ^ w.gen) & w.known) ? p : NULL;
}

static uint32_t state_of(const struct seg_proc *p)
{
	return atomic_load_explicit(&p->state, memory_order_acquire);
}

/* Is it another process, which this one would see in /proc? */
static bool is_seen(const struct seg *s, struct who w, const struct seg_proc *p)
{
	return w.slot != s->self && p->pid_ns && p->pid_ns == s->pid_ns;
}

struct who who_now(const struct seg *s, uint32_t slot)
{
	const struct seg_proc *p = seg_proc(s, slot);

	return who_slot(slot, p ? p->gen : 0);
}

bool who_dead(const struct seg *s, struct who w)
{
	const struct seg_proc *p = proc_of(s, w);

	return w.slot != WHO_NOBODY && (!p || state_of(p) == SEG_PROC_DEAD);
}

bool who_gone(struct seg *s, struct who w)
{
	const struct seg_proc *p = proc_of(s, w);
	uint64_t start;
	uint32_t state;
	int r;

	if (w.slot == WHO_NOBODY)
		return false;
	if (!p)
		return true;
	state = state_of(p);
	if (state != SEG_PROC_LIVE && state != SEG_PROC_EXECING)
		return true;
	if (!is_seen(s, w, p))
		return false;
	if (sys_kill((int)p->pid, 0) == -ESRCH)
		return true;
	r = look_start_time(s, p->pid, &start);
	if (!r)
		return p->start_time && start != p->start_time;
	return r == -ESRCH || sys_kill((int)p->pid, 0) == -ESRCH;
}

bool who_stopped(struct seg *s, struct who w)
{
	const struct seg_proc *p = proc_of(s, w);
	struct look_stat f;
	uint64_t ran;

	if (!p || !is_seen(s, w, p) || look_stat(s, p->pid, &f))
		return false;
	/* Its first thread has ended: ask the others. */
	if (f.state == 'Z' && f.threads > 1)
		return who_look(s, w, &ran) == WHO_STOPPED;
	return f.state == 'T' || f.state == 't';
}

bool who_runs(struct seg *s, struct who w)
{
	const struct seg_proc *p = proc_of(s, w);
	uint64_t ran;

	return p && p->pid_ns && p->pid_ns == s->pid_ns && who_look(s, w, &ran) == WHO_RUNS;
}

enum who_look who_look(struct seg *s, struct who w, uint64_t *ran)
{
	const struct seg_proc *p = proc_of(s, w);

	if (!p || who_gone(s, w))
		return WHO_GONE;
	if (!is_seen(s, w, p))
		return WHO_RUNS;
	return look_all_stopped(s, p->pid, ran) ? WHO_STOPPED : WHO_RUNS;
}
