/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns taking a queue's lock over from a stopped process: finding the thread that has it, and
 * cutting that thread off. Called by cq.c, srq.c and resp_lock.c, with no other lock that the
 * stopped process could want.
 *
 * A holder notes its thread and turn beside the lock (`ring`). The turn tells a late note, over
 * another holder's, from the right one; without a right note every possible holder loses its gate.
 */
#include "engine/base/ring.h"
#include "engine/base/transport.h"
#include "hw/qp.h"
#include "segment/proc.h"

/* May the thread hold the lock of this QP's responder, or be about to take it? */
static bool works_for(struct seg *s, uint32_t who, uint32_t qpn)
{
	const struct hw_qp *qp = hw_qp(s, who - 1);

	return qpn == SEG_NONE || (qp && qp_target(qp) == qpn);
}

/*
 * Shuts the gates of the lock's holder, or of all threads that may be the holder. False: the holder
 * runs, or its work cannot be taken over. `minds`: as for gate_shut(); 0: a holder without a gate
 * need not be cut off.
 */
static bool shut_gates(struct seg *s, uint32_t slot, uint32_t note, uint16_t turn, uint32_t qpn,
		       uint32_t minds)
{
	struct seg_proc *p = seg_proc(s, slot);
	struct who holder = who_now(s, slot);
	uint32_t high = p ? atomic_load(&p->rings_high) : 0, who;
	uint32_t noted =
		(note & ~STEAL_ENTRY) == STEAL_NOTE(turn, slot, 0) ? 1 + (note & STEAL_ENTRY) : 0;
	bool any = false;

	if (noted == 1) /* the holder copies without a gate */
		return !minds && who_stopped(s, holder);
	for (uint32_t i = 0; i < high && i < SEG_RINGS; i++) {
		who = (uint32_t)(atomic_load(&p->ring[i].use) & SEG_RING_WHO);
		if (!who || (noted ? noted != i + 2 : !works_for(s, who, qpn)))
			continue;
		if (gate_shut(s, holder, &p->ring[i].gate, minds) == GATE_OPEN)
			return false;
		any = true;
	}
	/*
	 * No gate was found under a responder's lock: a command holds it, changes several words,
	 * and cannot be taken over.
	 */
	return (any || qpn == SEG_NONE) && p && who_stopped(s, holder);
}

bool steal(struct seg *s, struct seg_lock *l, const _Atomic uint32_t *ring, uint32_t owner,
	   uint32_t qpn, uint16_t *turn)
{
	uint32_t word, slot;

	if (!seg_lock_holder(s, l, &word, &slot) || slot == owner)
		return false;
	return shut_gates(s, slot, atomic_load(ring), l->inherited, qpn,
			  GATE_MINDS_STATE | GATE_MINDS_POOL) &&
	       seg_lock_steal(s, l, word, turn);
}
