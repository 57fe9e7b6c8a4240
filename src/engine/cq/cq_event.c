/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events of completion queues: counting CQEs, arming, raising what an arm asks for. Called by
 * cq.c under a CQ's lock, by the doorbell of an arm and by the device thread.
 */
#include "check/check.h"
#include "engine/cq/cq_event.h"
#include "engine/cq/cq.h"
#include "hw/cq.h"
#include "hw/evq.h"
#include "hw/flags.h"
#include "util/point.h"

#include <errno.h>

/* The lowest bit of arm_sn, which a driver raises with each event. */
#define CQ_ARM_ODD (1u << 28)

/* Raise an index that only goes up: an older value that comes late is ignored. */
static void raise_to(_Atomic uint32_t *w, uint32_t to)
{
	uint32_t was = atomic_load_explicit(w, memory_order_relaxed);

	while ((int32_t)(to - was) > 0 && !atomic_compare_exchange_weak(w, &was, to))
		;
}

/* The same for a time. */
static void raise_ns_to(_Atomic uint64_t *w, uint64_t to)
{
	uint64_t was = atomic_load_explicit(w, memory_order_relaxed);

	while (to > was && !atomic_compare_exchange_weak(w, &was, to))
		;
}

/*
 * End the arm that was seen (`arm`): from this store on its event is owed. The event tells of the
 * CQEs below index `told`. False: that arm already had its event.
 */
static bool cq_note(struct hw_cq *cq, uint32_t arm, uint32_t told)
{
	uint32_t now = arm;

	while ((now & HW_CQ_ARMED) == (arm & HW_CQ_ARMED) &&
	       now / HW_CQ_ARM_SEQ == arm / HW_CQ_ARM_SEQ)
		if (atomic_compare_exchange_weak(
			    &cq->armed, &now,
			    ((now & ~(uint32_t)HW_CQ_ARMED) | HW_CQ_OWES | HW_CQ_OWES_DEVX) +
				    HW_CQ_ARM_SEQ)) {
			POINT("cq-noted");
			raise_to(&cq->told, told);
			return true;
		}
	return false;
}

/*
 * A program that has consumed `ci` has just armed the CQ. Is there a completion that it has neither
 * seen nor been told of by an event? Then the event comes at once and tells of those below *told.
 * Each completion has at most one event, so a program that arms first and then polls is not woken
 * twice for it.
 */
static bool cq_has_news(struct hw_cq *cq, uint32_t arm, uint32_t ci, uint32_t *told)
{
	uint32_t pi = atomic_load(&cq->pi), was = atomic_load(&cq->told);
	uint32_t upto = arm & HW_CQ_ANY ? pi : atomic_load(&cq->sol_pi);
	uint32_t unseen = (upto - ci) & CQ_COUNTER, untold = upto - was;

	if (!(arm & HW_CQ_ARMED) || !unseen || unseen > CQ_COUNTER / 2 || pi - was <= pi - upto)
		return false;
	if (untold > unseen) /* the last event told of no unseen CQE, or indices wrapped */
		untold = unseen;
	*told = arm & HW_CQ_ANY ? upto - untold + 1 : upto;
	return true;
}

static uint64_t timer_ends(const struct hw_cq *cq, uint32_t moder)
{
	return atomic_load(&cq->moder_ns) + (moder & HW_CQ_MOD_PERIOD) * NSEC_PER_USEC;
}

/*
 * May a CQ with moderation have its event now? CQEs are counted from the last event on, whether or
 * not the CQ was armed (inferred: the PRM has only the timer's start).
 */
static bool moder_over(const struct hw_cq *cq, uint32_t moder)
{
	uint32_t count = moder / HW_CQ_MOD_COUNT & 0xffff;

	if (moder & HW_CQ_MOD_SE_BREAKS &&
	    (int32_t)(atomic_load(&cq->sol_pi) - atomic_load(&cq->told)) > 0)
		return true;
	return atomic_load(&cq->pi) - atomic_load(&cq->moder_pi) >= count ||
	       eng_clock() >= timer_ends(cq, moder);
}

/*
 * A thread that dies behind cq_note() leaves an older start of the timer, so that the next event
 * comes early, never late.
 */
static bool note_over(struct hw_cq *cq, uint32_t arm, uint32_t moder, uint32_t told)
{
	if (!cq_note(cq, arm, told))
		return false;
	POINT("cq-moderated-noted");
	raise_to(&cq->moder_pi, atomic_load(&cq->pi));
	if (!(moder & HW_CQ_MOD_FROM_CQE))
		raise_ns_to(&cq->moder_ns, eng_clock());
	return true;
}

/*
 * cq_note() for a CQ that is armed, or not, and may have moderation: the event comes now, or by the
 * device thread when the timer ends.
 */
static bool note_news(struct seg *s, struct hw_cq *cq, uint32_t arm)
{
	uint32_t moder = atomic_load_explicit(&cq->moder, memory_order_relaxed), told;

	if (!cq_has_news(cq, arm, cq->arm_ci, &told))
		return false;
	if (!moder)
		return cq_note(cq, arm, told);
	if (moder_over(cq, moder))
		return note_over(cq, arm, moder, told);
	/* Not `arm`: the device thread may have looked, and ended its watch, before the CQE came.
	 */
	if (!(atomic_load(&cq->armed) & HW_CQ_WATCHED))
		park_rouse(s, cq->dbr_mem.slot);
	POINT("cq-moderated");
	return false;
}

/* A CQ with moderation has another CQE. */
static __attribute__((noinline)) bool count_moderated(struct seg *s, struct hw_cq *cq, uint32_t arm)
{
	if (atomic_load(&cq->moder) & HW_CQ_MOD_FROM_CQE)
		raise_ns_to(&cq->moder_ns, eng_clock());
	return note_news(s, cq, arm);
}

bool cq_count(struct seg *s, struct hw_cq *cq, uint32_t at, uint32_t n, bool solicited)
{
	uint32_t arm = atomic_load(&cq->armed), was = at;

	if (solicited)
		raise_to(&cq->sol_pi, at + n);
	if (!atomic_compare_exchange_strong(&cq->pi, &was, at + n))
		return false;
	POINT("cq-counted");
	/*
	 * Keep the indices so close that the signs of differences stay right. `told` first, so
	 * that no event follows.
	 */
	if (__builtin_expect(!(at & CQ_COUNTER), 0)) {
		raise_to(&cq->told, at - CQ_COUNTER / 2);
		raise_to(&cq->sol_pi, at - CQ_COUNTER / 2);
		raise_to(&cq->moder_pi, at - CQ_COUNTER / 2);
	}
	if (__builtin_expect(atomic_load_explicit(&cq->moder, memory_order_relaxed), 0))
		return count_moderated(s, cq, arm);
	if (!(arm & HW_CQ_ANY) && !(arm & HW_CQ_SOLICITED && solicited))
		return false;
	return (int32_t)(at + n - atomic_load(&cq->told)) > 0 && cq_note(cq, arm, at + n);
}

/* To the completion channel. */
static void cq_tell(struct seg *s, struct hw_cq *cq, uint32_t cqn, bool overtake)
{
	uint32_t evq = atomic_load_explicit(&cq->comp.evq, memory_order_acquire);
	struct seg_evsrc src = {.table = SEG_T_CQ, .idx = cqn, .gen = cq->gen, .counter = 0};
	int rc = -ENOENT;

	if (evq != SEG_NONE)
		rc = evq_push_owed(s, evq, cq->comp.evq_gen, src, cq->comp.cookie, 0, NULL, 0,
				   overtake);
	if (rc == -EBUSY && !overtake)
		/*
		 * The reader of the event queue is stopped: the device thread will check whether it
		 * continues.
		 */
		park_rouse(s, cq->dbr_mem.slot);
	else if (rc == -ENOENT)
		atomic_fetch_and(&cq->armed, ~(uint32_t)HW_CQ_OWES);
}

void cq_pay_event(struct seg *s, uint32_t cqn, bool overtake)
{
	struct hw_cq *cq = hw_cq(s, cqn);
	uint32_t owes = cq ? atomic_load(&cq->armed) : 0;

	if (owes & HW_CQ_OWES && TRACE_ON(LOG_EVENT))
		eng_trace_event("completion", SEG_T_CQ, cqn, UINT32_MAX);
	if (owes & HW_CQ_OWES)
		cq_tell(s, cq, cqn, overtake);
	POINT("cq-told");
	if (owes & HW_CQ_OWES_DEVX)
		event_comp(s, cq, cqn);
}

void cq_repair_event(struct seg *s, struct hw_cq *cq)
{
	uint32_t pi = atomic_load(&cq->pi), told;
	uint32_t arm = atomic_load(&cq->armed);

	if (atomic_load(&cq->moder))
		note_news(s, cq, arm);
	else if (cq_has_news(cq, arm, cq->arm_ci, &told))
		cq_note(cq, arm, pi);
	/*
	 * The holder died after it noted the event and before it stored which CQEs the event tells
	 * of.
	 */
	if (atomic_load(&cq->armed) & HW_CQ_OWES)
		raise_to(&cq->told, pi);
}

/*
 * Is an event delayed for a program that has consumed what its doorbell record says? UINT64_MAX:
 * no, or it is noted; else when the timer ends.
 */
static uint64_t moder_look(struct seg *s, struct hw_cq *cq, bool *noted)
{
	uint32_t arm = atomic_load(&cq->armed), moder = atomic_load(&cq->moder), told, ci;

	if (mem_read_be32(s, cq->dbr_mem, cq->dbr_va, &ci))
		ci = cq->arm_ci;
	if (!cq_has_news(cq, arm, ci, &told))
		return UINT64_MAX;
	if (moder && !moder_over(cq, moder))
		return timer_ends(cq, moder);
	*noted |= note_over(cq, arm, moder, told);
	return UINT64_MAX;
}

/*
 * Takes no lock, as senders wait for that of a stopped process: cq_note() ends only the arm that
 * was seen.
 */
uint64_t cq_moder_run(struct seg *s, struct hw_cq *cq, uint32_t cqn)
{
	uint32_t arm = atomic_load(&cq->armed), told;
	bool noted = false;
	uint64_t due;

	if (!(arm & HW_CQ_WATCHED) && !cq_has_news(cq, arm, cq->arm_ci, &told))
		return UINT64_MAX;
	due = moder_look(s, cq, &noted);
	POINT("cq-moder-looked");
	if (due == UINT64_MAX) {
		atomic_fetch_and(&cq->armed, ~(uint32_t)HW_CQ_WATCHED);
		POINT("cq-moder-unwatched");
		/* A sender that saw the watch has woken nobody: look again for its CQE. */
		due = moder_look(s, cq, &noted);
	}
	if (due != UINT64_MAX)
		atomic_fetch_or(&cq->armed, HW_CQ_WATCHED);
	if (noted)
		cq_pay_event(s, cqn, false);
	return due;
}

void eng_cq_moderate(struct seg *s, uint32_t cqn, uint32_t moder)
{
	struct hw_cq *cq = hw_cq(s, cqn);

	atomic_store(&cq->moder, moder);
	/*
	 * With the new values, a delayed event may be due now, or earlier than before. So may the
	 * next event, and nobody else would tell a device thread that already waits.
	 */
	if (atomic_load(&cq->armed) & (HW_CQ_ARMED | HW_CQ_WATCHED))
		park_rouse(s, cq->dbr_mem.slot);
}

/* Is it an arm that was seen already? Under the CQ's lock. `word`: as in arm_cq(). */
static bool arm_is_seen(const struct hw_cq *cq, uint32_t rec, const uint32_t *word)
{
	if (rec != atomic_load_explicit(&cq->arm_seen, memory_order_relaxed))
		return false;
	/*
	 * In poll mode both the record and the store are seen: with equal sequence numbers they are
	 * one arm.
	 */
	return !word || rec == *word;
}

/* `word`: what the doorbell says; NULL: the doorbell record has changed. */
static void arm_cq(struct seg *s, struct hw_cq *cq, uint32_t cqn, const uint32_t *word)
{
	uint32_t rec, arm, was;
	struct cq_held h;
	bool noted;

	if (CHECK_ON() && word && mem_is_self(s, cq->dbr_mem) &&
	    (atomic_load(&cq->pi) - *word) & CQ_COUNTER)
		check_arms(&(struct check_armed){cqn, *word & CQ_COUNTER, cq->dbr_va});
	if (cq_lock(s, cq, cqn, &h)) {
		/* The doorbell record asks for an arm: the device thread will do it. */
		TRACE(LOG_DOORBELL, "arm of CQ 0x%x: lock is held", cqn);
		park_rouse(s, cq->dbr_mem.slot);
		return;
	}
	if (mem_read_be32(s, cq->dbr_mem, cq->dbr_va + 4, &rec))
		rec = word ? *word : atomic_load_explicit(&cq->arm_seen, memory_order_relaxed);
	if (arm_is_seen(cq, rec, word)) {
		cq_unlock(s, &h);
		return;
	}
	cq->arm_ci = rec & CQ_COUNTER;
	was = atomic_load(&cq->armed);
	do {
		arm = rec >> 24 & 1 ? HW_CQ_SOLICITED : HW_CQ_ANY;
		/* An arm for any completion stays until its event (IBA 11.4.2.2). */
		if (was & HW_CQ_ANY)
			arm = HW_CQ_ANY;
		arm |= was & ~(uint32_t)HW_CQ_ARMED;
	} while (!atomic_compare_exchange_weak(&cq->armed, &was, arm));
	POINT("cq-armed");
	atomic_store_explicit(&cq->arm_seen, rec, memory_order_relaxed);
	noted = note_news(s, cq, arm);
	if (!noted && s->spurious && !(rec & CQ_ARM_ODD))
		noted = cq_note(cq, arm, atomic_load(&cq->told));
	cq_unlock(s, &h);
	if (noted)
		cq_pay_event(s, cqn, false);
	/*
	 * Write the CQEs that wait. Later ones do not wait, because the CQ is armed (is_awaited()).
	 */
	cq_flush(s, cqn);
}

void eng_arm_cq(struct seg *s, uint32_t cqn, uint32_t word)
{
	cq_arm(s, cqn, &word);
}

void cq_arm(struct seg *s, uint32_t cqn, const uint32_t *word)
{
	struct hw_cq *cq = hw_cq(s, cqn);
	struct seg_proc *p = s->self == SEG_NONE ? NULL : seg_proc(s, s->self);

	if (!cq || !hw_in_service(&cq->flags)) {
		TRACE(LOG_DOORBELL, "arm of unknown CQ 0x%x", cqn);
		return;
	}
	if (!p || mem_is_self(s, cq->dbr_mem)) {
		arm_cq(s, cq, cqn, word);
		return;
	}
	/*
	 * This count is for a fork child: if it dies in arm_cq(), eng_proc_died() has nothing else
	 * by which to find the CQ.
	 */
	atomic_fetch_add(&p->foreign, 1);
	arm_cq(s, cq, cqn, word);
	atomic_fetch_sub(&p->foreign, 1);
}

bool cq_arm_changed(struct seg *s, struct hw_cq *cq)
{
	uint32_t rec;

	if (!hw_in_service(&cq->flags) || mem_read_be32(s, cq->dbr_mem, cq->dbr_va + 4, &rec))
		return false;
	POINT("cq-arm-read");
	return rec != atomic_load_explicit(&cq->arm_seen, memory_order_relaxed);
}

void park_poll_arm(struct seg *s, uint32_t cqn)
{
	struct hw_cq *cq = hw_cq(s, cqn);

	if (cq && mem_is_self(s, cq->dbr_mem) && cq_arm_changed(s, cq))
		cq_arm(s, cqn, NULL);
}
