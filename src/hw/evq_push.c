/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns pushing: makes a record, puts it on top of its queue's stack and wakes the reader. Takes no
 * lock; any process calls it, in traps too.
 */
#include "hw/evq_priv.h"
#include "util/log.h"
#include "util/point.h"

#include <errno.h>

/*
 * Put the record on top of the stack. -ENOENT: the queue is gone; -EALREADY: another process has
 * claimed the debt.
 */
static int link_rec(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evq *q, uint64_t ref,
		    const struct evq_debt *d)
{
	struct seg_evrec *r = seg_at(s, SEG_T_EVREC, EVQ_REF_IDX(ref));
	uint64_t was = atomic_load(&q->newest);

	if (!evq_rec_change(r, (uint32_t)(ref >> 32), EVQ_MAKING, EVQ_LINKED))
		return -ENOENT;
	do {
		if (!evq_is_open(s, evq, gen, q))
			return -ENOENT;
		if (d && atomic_load(d->paying) != ref)
			return -EALREADY;
		atomic_store(&r->next, was);
	} while (!atomic_compare_exchange_weak(&q->newest, &was, ref));
	return 0;
}

/* Link the finished record and wake readers. 0, or as link_rec(). */
static int put_rec(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evq *q, uint64_t ref,
		   const struct evq_debt *d)
{
	struct seg_evrec *r = seg_at(s, SEG_T_EVREC, EVQ_REF_IDX(ref));
	const struct seg_evrec paid = {.src = r->src, .type = r->type, .serial = d ? d->serial : 0};
	bool byte, told;
	int rc;

	atomic_fetch_add(&q->count, 1);
	atomic_fetch_add(&q->bytes, r->len);
	POINT("evq-link");
	rc = link_rec(s, evq, gen, q, ref, d);
	if (rc) {
		evq_count_down(q, r->len);
		return rc;
	}
	POINT("evq-linked");
	if (d)
		evq_debt_paid(s, &paid, ref);
	POINT("evq-paid");
	/*
	 * If a reader has taken the record already, send it no byte: its file would stay readable.
	 */
	if (!evq_rec_change(r, (uint32_t)(ref >> 32), EVQ_LINKED, EVQ_TELLING))
		return 0;
	POINT("evq-telling");
	byte = evq_tell_pollers(s, evq, gen, q);
	POINT("evq-told");
	told = evq_rec_change(r, (uint32_t)(ref >> 32), EVQ_TELLING, EVQ_TOLD);
	/* Wake readers only now: one that is awake earlier waits until the record is told. */
	evq_wake_readers(q);
	/*
	 * The record was taken before its byte was written: the byte may be one too many. The
	 * pollers of a lazy queue remove it themselves. This process may be stopped with the lock.
	 */
	if (!told && byte && atomic_load(&q->lazy) != EVQ_LAZY) {
		atomic_fetch_or(&q->asked, EVQ_ASK);
		evq_attend(s, evq, q);
	}
	return 0;
}

/* 0 and the finished record with a copy of the data, if any; -ENOENT, -ENOSPC. */
static int begin_push(struct seg *s, uint32_t evq, uint32_t gen, const struct seg_evrec *from,
		      const void *data, uint32_t len, uint64_t *ref)
{
	struct seg_evq *q = seg_live(s, SEG_T_EVQ, evq);

	if (!q || q->gen != gen || atomic_load(&q->dead))
		return -ENOENT;
	if (!(q->max && atomic_load(&q->count) >= q->max) && !evq_rec_make(s, evq, from, ref)) {
		/*
		 * From here on either evq_close() sees the record, or this process sees that the
		 * queue is closed.
		 */
		bool gone = !evq_is_open(s, evq, gen, q);

		if (!gone && (!len || !evq_data_make(s, evq + 1, data, len, *ref)))
			return 0;
		evq_rec_unmake(s, *ref);
		if (gone)
			return -ENOENT;
	}
	atomic_fetch_add(&q->dropped, 1);
	return -ENOSPC;
}

static int push_owed(struct seg *s, uint32_t evq, uint32_t gen, const struct seg_evrec *from,
		     const void *data, uint32_t len, struct evq_debt *d, bool overtake)
{
	struct seg_evq *q = seg_at(s, SEG_T_EVQ, evq);
	uint64_t ref;
	int r = begin_push(s, evq, gen, from, data, len, &ref);

	if (r) {
		evq_debt_drop(d);
		return r;
	}
	POINT("evq-made");
	r = evq_debt_claim(s, q, d, ref, overtake);
	POINT("evq-claimed");
	if (r == 1) {
		((struct seg_evrec *)seg_at(s, SEG_T_EVREC, EVQ_REF_IDX(ref)))->serial = d->serial;
		r = put_rec(s, evq, gen, q, ref, d);
		if (!r)
			return 0;
	} else if (!r) {
		r = -EALREADY;
	}
	evq_rec_unmake(s, ref);
	return r;
}

int evq_push_owed(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evsrc src, uint64_t cookie,
		  uint32_t type, const void *data, uint32_t len, bool overtake)
{
	const struct seg_evrec rec = {.src = src, .cookie = cookie, .type = type};
	struct evq_debt d;
	int r;

	if (!evq_debt_of(s, &src, type, &d) || !evq_debt_owed(&d))
		return 0;
	r = push_owed(s, evq, gen, &rec, data, len, &d, overtake);
	if (r == -EALREADY) /* the process that overtook this one clears the debt instead */
		return 0;
	if (r)
		TRACE(LOG_EVENT, "evq %u: push table %u idx %#x type %u: %d", evq, src.table,
		      src.idx, type, r);
	return r;
}

int evq_push_owed_pieces(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evsrc src,
			 uint32_t head, uint32_t len)
{
	const struct seg_evrec rec = {.src = src, .data = head, .len = len};
	struct evq_debt d;

	if (!evq_debt_of(s, &src, 0, &d) || !evq_debt_owed(&d))
		return -EALREADY;
	return push_owed(s, evq, gen, &rec, NULL, 0, &d, false);
}

/* Push a record with a copy of `data`. */
static int evq_push_one(struct seg *s, uint32_t evq, uint32_t gen, const struct seg_evrec *rec,
			const void *data, uint32_t len, uint64_t *ref)
{
	int r = begin_push(s, evq, gen, rec, data, len, ref);

	if (!r) {
		r = put_rec(s, evq, gen, seg_at(s, SEG_T_EVQ, evq), *ref, NULL);
		if (r)
			evq_rec_unmake(s, *ref);
	}
	if (r) /* for a debt, the process that raises it reports the loss */
		TRACE(LOG_EVENT, "evq %u: push table %u idx %#x type %u: %d", evq, rec->src.table,
		      rec->src.idx, rec->type, r);
	return r;
}

int evq_push(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evsrc src, uint64_t cookie,
	     uint32_t type, uint32_t extra)
{
	const struct seg_evrec rec = {.src = src, .cookie = cookie, .type = type, .extra = extra};
	uint64_t ref;

	return evq_push_one(s, evq, gen, &rec, NULL, 0, &ref);
}

int evq_push_data(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evsrc src, uint64_t cookie,
		  const void *data, uint32_t len)
{
	const struct seg_evrec rec = {.src = src, .cookie = cookie};
	uint64_t ref;

	return evq_push_one(s, evq, gen, &rec, data, len, &ref);
}

int evq_push_named(struct seg *s, uint32_t evq, uint32_t gen, const void *data, uint32_t len,
		   uint64_t *ref)
{
	const struct seg_evrec rec = {.src.table = SEG_T_COUNT};

	return evq_push_one(s, evq, gen, &rec, data, len, ref);
}

int evq_push_pieces(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evsrc src,
		    uint64_t cookie, uint32_t head, uint32_t len)
{
	const struct seg_evrec rec = {.src = src, .cookie = cookie, .data = head, .len = len};
	uint64_t ref;

	return evq_push_one(s, evq, gen, &rec, NULL, 0, &ref);
}

bool evq_drop(struct seg *s, uint32_t evq, uint32_t gen, uint64_t ref)
{
	struct seg_evq *q = seg_live(s, SEG_T_EVQ, evq);
	struct seg_evrec *r = evq_rec(s, ref);

	if (!q || q->gen != gen || !r ||
	    !evq_rec_change(r, (uint32_t)(ref >> 32), EVQ_TOLD, EVQ_DROPPED))
		return false;
	POINT("evq-drop");
	atomic_fetch_or(&q->asked, EVQ_ASK_DROP);
	evq_attend(s, evq, q);
	return true;
}
