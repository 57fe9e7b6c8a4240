/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Wakes the device threads of processes whose queues have work left (DESIGN.md 6): a QP is marked
 * in the segment, and its own process resumes it (park.c). Called with and without locks.
 */
#include "engine/base/base.h"
#include "engine/base/qp.h"
#include "hw/qp_state.h"
#include "segment/proc.h"

void park_rouse(struct seg *s, uint32_t slot)
{
	struct seg_proc *p = slot == SEG_NONE ? NULL : seg_proc(s, slot);

	if (!p)
		return;
	atomic_store(&p->parked, 1);
	seg_proc_rouse(s, slot);
}

void park_look(struct seg *s, uint32_t slot)
{
	struct seg_proc *p = slot == SEG_NONE ? NULL : seg_proc(s, slot);

	if (!p)
		return;
	atomic_store(&p->parked, 1);
	/*
	 * The device thread stores sleeps_until and then reads `look`; this does the reverse. So at
	 * least one of them sees the other's store.
	 */
	atomic_store(&p->look, 1);
	if (atomic_load(&p->sleeps_until) > clock_now_ns() + ENG_LOOK_NS)
		seg_proc_rouse(s, slot);
}

void park_qp(struct seg *s, struct hw_qp *qp, enum hw_park why, uint64_t deadline)
{
	atomic_store(&qp->park_deadline, deadline);
	atomic_store(&qp->park, why);
	park_rouse(s, qp->mem.slot);
}

void park_pending(struct seg *s, struct hw_qp *qp, uint32_t pend)
{
	atomic_fetch_or(&qp->flush_pending, pend);
	park_rouse(s, qp->mem.slot);
}
