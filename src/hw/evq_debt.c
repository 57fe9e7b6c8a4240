/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the payment of events that a source notes as owed: one record for each debt, although payers
 * may die or stop anywhere. Called by the other evq files.
 *
 * A payer makes a record, claims the debt (`paying`), links the record, and removes note and claim.
 * The next payer settles a claim that is left: the debt is paid if its record was in the queue,
 * else the claim is void. A payer that was overtaken finds that the claim is not its own.
 */
#include "hw/cq.h"
#include "hw/evtarget.h"
#include "hw/mad.h"
#include "hw/obj.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "hw/share.h"
#include "hw/srq.h"
#include "hw/evq_priv.h"
#include "hw/evsub.h"
#include "util/point.h"

#include <errno.h>
#include <infiniband/verbs.h>

static bool of_target(struct hw_evtarget *t, uint32_t type, struct evq_debt *d)
{
	_Atomic uint32_t *word = hw_event(t, type);

	*d = (struct evq_debt){word, &t->paying, HW_EV_OWES, HW_EV_SEQ,
			       atomic_load(word) / HW_EV_SEQ};
	return true;
}

bool evq_debt_of(const struct seg *s, const struct seg_evsrc *src, uint32_t type,
		 struct evq_debt *d)
{
	void *e = src->table < SEG_T_COUNT && src->idx ? seg_live(s, src->table, src->idx) : NULL;
	const uint32_t *gen = e;
	struct hw_cq *cq = e;
	struct hw_srq *srq = e;
	struct seg_evsub *sub = e;
	struct mad_send *send = e;

	if (!e || *gen != src->gen)
		return false;
	switch (src->table) {
	case SEG_T_CQ:
		if (src->counter) {
			*d = (struct evq_debt){&cq->state, &cq->async.paying, HW_CQ_ST_OWES,
					       HW_CQ_ST_SEQ,
					       atomic_load(&cq->state) / HW_CQ_ST_SEQ};
			return true;
		}
		*d = (struct evq_debt){&cq->armed, &cq->comp.paying, HW_CQ_OWES, HW_CQ_ARM_SEQ,
				       atomic_load(&cq->armed) / HW_CQ_ARM_SEQ};
		return true;
	case SEG_T_QP:
		return of_target(&((struct hw_qp *)e)->async, type, d);
	case SEG_T_SRQ:
		if (type != IBV_EVENT_SRQ_LIMIT_REACHED)
			return of_target(&srq->async, type, d);
		*d = (struct evq_debt){&srq->lwm, &srq->async.paying, HW_LWM_OWES, HW_LWM_SEQ,
				       atomic_load(&srq->lwm) / HW_LWM_SEQ};
		return true;
	case SEG_T_OBJ:
		return of_target(&((struct hw_obj *)e)->async, type, d);
	case SEG_T_SHARE:
		return of_target(&((struct hw_share *)e)->async, type, d);
	case SEG_T_EVSUB:
		*d = (struct evq_debt){&sub->owed, &sub->paying, EVSUB_OWED, EVSUB_SEQ,
				       atomic_load(&sub->owed) / EVSUB_SEQ};
		return true;
	case SEG_T_MSEND:
		*d = (struct evq_debt){&send->owed, &send->paying, 1, 0, 0};
		return true;
	}
	return false;
}

bool evq_debt_owed(const struct evq_debt *d)
{
	return atomic_load(d->word) & d->bit;
}

void evq_debt_drop(const struct evq_debt *d)
{
	uint32_t was = atomic_load(d->word);

	while (was & d->bit &&
	       (!d->unit || was / d->unit == d->serial) && /* this debt, not a later one */
	       !atomic_compare_exchange_weak(d->word, &was, was & ~d->bit))
		;
}

/* Between the two stores others may see the claim without the debt; such a claim is void. */
void evq_debt_paid(struct seg *s, const struct seg_evrec *r, uint64_t ref)
{
	struct evq_debt d;

	if (!evq_debt_of(s, &r->src, r->type, &d) || atomic_load(d.paying) != ref)
		return;
	d.serial = r->serial;
	POINT("evq-paying");
	evq_debt_drop(&d);
	atomic_compare_exchange_strong(d.paying, &ref, 0);
}

static bool in_queue(const struct seg *s, const struct seg_evq *q, uint64_t ref)
{
	uint32_t left = seg_table(s, SEG_T_EVREC)->capacity;
	const struct seg_evrec *r;

	for (uint64_t at = atomic_load(&q->newest); (r = evq_rec(s, at)) && left;
	     at = atomic_load(&r->next), left--)
		if (at == ref)
			return true;
	return false;
}

/*
 * Settle a claim that an earlier payer has left: the debt is paid if that payer's record is in the
 * queue, else the claim is void. False: the payer lives and may still pay.
 */
static bool settle(struct seg *s, const struct seg_evq *q, const struct evq_debt *d, uint64_t claim,
		   bool overtake)
{
	const struct seg_evrec *r = evq_rec(s, claim);

	if (r && in_queue(s, q, claim)) {
		evq_debt_paid(s, r, claim);
		/* A purged record no longer names its source. */
		atomic_compare_exchange_strong(d->paying, &claim, 0);
	} else if (r && (overtake ? evq_pusher_runs(s, r) : !evq_pusher_dead(s, r)))
		return false;
	else
		atomic_compare_exchange_strong(d->paying, &claim, 0);
	return true;
}

int evq_debt_claim(struct seg *s, const struct seg_evq *q, struct evq_debt *d, uint64_t me,
		   bool overtake)
{
	uint64_t claim;
	uint32_t word;

	for (;;) {
		claim = atomic_load(d->paying);
		if (!evq_debt_owed(d))
			return 0;
		if (!claim && atomic_compare_exchange_strong(d->paying, &claim, me))
			break;
		if (claim && !settle(s, q, d, claim, overtake))
			return -EBUSY;
	}
	/* Another thread may have paid the debt, or noted a new one, before the claim. */
	word = atomic_load(d->word);
	if (d->unit)
		d->serial = word / d->unit;
	if (word & d->bit)
		return 1;
	atomic_compare_exchange_strong(d->paying, &me, 0);
	return 0;
}

bool evq_source(struct seg *s, const struct seg_evsrc *src, _Atomic uint32_t **counter)
{
	uint32_t *gen = NULL;

	*counter = NULL;
	/* A MAD is delivered even if its request is forgotten. */
	if (src->table >= SEG_T_COUNT || src->table == SEG_T_MSEND || !src->idx)
		return true;
	gen = seg_live(s, src->table, src->idx);
	if (src->table == SEG_T_EVSUB) /* one whose object is gone is read all the same */
		return true;
	if (!gen || *gen != src->gen)
		return false;
	switch (src->table) {
	case SEG_T_CQ: {
		struct hw_cq *cq = (struct hw_cq *)gen;

		*counter = src->counter ? &cq->async.reported : &cq->comp.reported;
		break;
	}
	case SEG_T_QP:
		*counter = &((struct hw_qp *)gen)->async.reported;
		break;
	case SEG_T_SRQ:
		*counter = &((struct hw_srq *)gen)->async.reported;
		break;
	case SEG_T_OBJ:
		*counter = &((struct hw_obj *)gen)->async.reported;
		break;
	case SEG_T_SHARE:
		*counter = &((struct hw_share *)gen)->async.reported;
		break;
	}
	return true;
}

void evq_source_read(struct seg *s, const struct seg_evsrc *src)
{
	struct seg_evsub *sub =
		src->table == SEG_T_EVSUB && src->idx ? seg_live(s, SEG_T_EVSUB, src->idx) : NULL;

	if (sub && sub->gen == src->gen)
		atomic_fetch_or(&sub->queued, EVSUB_READ);
}
