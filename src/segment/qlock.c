/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns taking a lock over from a stopped process: finding the thread that has it, and cutting that
 * thread off. Called with no other lock that the stopped process could want.
 *
 * The turn in a note tells a late one, over another holder's, from the right one; without a right
 * note every possible holder loses its gate.
 */
#include "segment/qlock.h"
#include "segment/mem.h"
#include "segment/proc.h"
#include "util/clock.h"

/*
 * Shuts the gates of the lock's holder, or of all threads that may be the holder. False: the holder
 * runs, or its work cannot be taken over.
 */
static bool cut_off(struct seg *s, const struct qlock *is, const void *o, uint32_t idx,
		    struct who holder)
{
	struct seg_proc *p = seg_proc(s, holder.slot);
	uint32_t note = is->note ? atomic_load(qlock_noted(is, o)) : 0, noted = 0, who;
	uint32_t high = p ? atomic_load(&p->rings_high) : 0;
	bool any = !is->works_for;

	if ((note & ~QLOCK_ENTRY) == QLOCK_NOTE(qlock_lock(is, o)->inherited, holder.slot, 0))
		noted = 1 + (note & QLOCK_ENTRY);
	if (noted == 1 && is->minds) /* it copies without a gate */
		return false;
	if (noted == 1 || is->minds == QLOCK_NO_GATES)
		high = 0;
	for (uint32_t i = 0; i < high && i < SEG_RINGS; i++) {
		who = (uint32_t)(atomic_load(&p->ring[i].use) & SEG_RING_WHO);
		if (!who ||
		    (noted ? noted != i + 2 : is->works_for && !is->works_for(s, who - 1, idx)))
			continue;
		if (gate_shut(s, holder, &p->ring[i].gate, is->minds) == GATE_OPEN)
			return false;
		any = true;
	}
	return any && who_stopped(s, holder);
}

/* Does the lock stay with that process? */
static bool is_home(const struct qlock *is, const void *o, uint32_t idx, uint32_t slot)
{
	if (is->home == QLOCK_HOME_IDX)
		return slot == idx;
	return is->home && slot == QLOCK_AT(const struct mem_slot, o, is->home)->slot;
}

static bool take_over(struct seg *s, const struct qlock *is, const void *o, uint32_t idx,
		      struct qheld *h)
{
	struct seg_lock *l = qlock_lock(is, o);
	uint32_t word, slot;

	return seg_lock_holder(s, l, &word, &slot) && !is_home(is, o, idx, slot) &&
	       cut_off(s, is, o, idx, seg_lock_who(word)) && seg_lock_steal(s, l, word, &h->turn);
}

int qlock_replace(struct seg *s, const struct qlock *is, void *o, uint32_t idx, struct qheld *h,
		  int rc)
{
	if (rc == -ETIMEDOUT && take_over(s, is, o, idx, h))
		rc = QLOCK_STOLEN;
	if (rc > 0 && is->retag)
		is->retag(o);
	return rc;
}

int qlock_ctrl(struct seg *s, const struct qlock *is, void *o, uint32_t idx, struct qheld *h,
	       uint64_t ns)
{
	struct seg_lock *l = qlock_lock(is, o);
	uint64_t end = clock_now_ns() + ns;
	int rc;

	do {
		rc = ns < SEG_LOCK_CTRL_NS ? seg_lock_turn(s, l, ns, &h->turn)
					   : seg_lock_if_runs_turn(s, l, &h->turn);
		rc = qlock_replace(s, is, o, idx, h, rc);
		if (rc >= 0 && is->begin)
			rc = is->begin(s, o, idx, h, rc);
	} while (rc == -ETIMEDOUT && clock_now_ns() < end);
	return rc;
}

int qlock_adopt(struct seg *s, const struct qlock *is, void *o, uint32_t idx, struct qheld *h,
		bool due)
{
	struct seg_lock *l = qlock_lock(is, o);
	int rc = due || seg_lock_orphaned(s, l) ? seg_trylock_turn(s, l, &h->turn) : -EBUSY;

	rc = qlock_replace(s, is, o, idx, h, rc);
	return rc < 0 ? rc : is->begin(s, o, idx, h, rc);
}
