/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the list of send queues that somebody is working on (seg_proc.ring). A thread enters its
 * queue before it takes the queue's lock and leaves after it has given it back; what a dead process
 * left there goes with its slot. Called by sq.c, read by mkey.c.
 */
#include "engine/internal.h"
#include "segment/proc.h"

#define TLS_IE _Thread_local __attribute__((tls_model("initial-exec")))

/* Where this thread looks first: the entry that it had last. */
static TLS_IE uint32_t mine;

/* Slot 0 is nobody's: those without a slot (unit tests, a supervisor that starts) share it. */
static struct seg_proc *self(struct seg *s)
{
	return seg_at(s, SEG_T_PROC, s->self == SEG_NONE ? 0 : s->self);
}

_Atomic uint32_t *running_enter(struct seg *s, uint32_t qpn)
{
	struct seg_proc *p = self(s);

	for (uint32_t i = 0; i < SEG_RINGS; i++) {
		_Atomic uint32_t *e = &p->ring[(mine + i) % SEG_RINGS].qp;
		uint32_t none = 0;

		if (!atomic_load_explicit(e, memory_order_relaxed) &&
		    atomic_compare_exchange_strong(e, &none, qpn + 1)) {
			mine = (mine + i) % SEG_RINGS;
			return e;
		}
	}
	atomic_fetch_add(&p->rings_more, 1);
	return &p->rings_more;
}

void running_leave(struct seg *s, _Atomic uint32_t *entry)
{
	if (entry == &self(s)->rings_more)
		atomic_fetch_sub(entry, 1);
	else
		atomic_store_explicit(entry, 0, memory_order_release);
}

static void each_of(const struct seg_proc *p, struct running *it)
{
	uint32_t qp;

	for (uint32_t i = 0; i < SEG_RINGS; i++) {
		qp = atomic_load(&p->ring[i].qp);
		if (qp)
			it->look(it, qp - 1);
	}
	if (atomic_load(&p->rings_more))
		it->more = true;
}

void running_each(struct seg *s, struct running *it)
{
	it->more = false;
	each_of(seg_at(s, SEG_T_PROC, 0), it);
	seg_for_each_live (s, SEG_T_PROC, i)
		each_of(seg_at(s, SEG_T_PROC, i), it);
	if (!it->more)
		return;
	seg_for_each_live (s, SEG_T_QP, i)
		it->look(it, i);
}
