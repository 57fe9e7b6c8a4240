/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compression: the CQ in which completions of a run wait for further ones. Called by sq.c and
 * resp.c.
 */
#include "engine/cq/cq.h"
#include "segment/proc.h"

/*
 * Call before a completion waits: if this process dies, only this count makes eng_proc_died() look
 * for its CQ.
 */
static void count_foreign(struct seg *s, uint32_t n)
{
	struct seg_proc *p = s->self == SEG_NONE ? NULL : seg_proc(s, s->self);

	if (p)
		atomic_fetch_add(&p->foreign, n);
}

void sq_note_waiting(struct eng_run *r)
{
	if (r->waits == SEG_NONE)
		count_foreign(r->s, 1);
	r->waits = r->to.cqn;
}

void sq_flush_waiting(struct eng_run *r)
{
	cq_flush(r->s, r->waits);
	count_foreign(r->s, UINT32_MAX);
	r->waits = SEG_NONE;
}
