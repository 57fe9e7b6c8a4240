/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the single record of an event queue: its creation, state, data and end. Called by evq.c and
 * evq_push.c.
 */
#include "hw/evq_priv.h"
#include "segment/who.h"

#include <errno.h>
#include <string.h>

/*
 * ---- states
 *
 * The word contains the generation, so that no late process changes a later record, and the process
 * that the record waits for: its pusher or, in EVQ_GONE, the process that frees it. Only the
 * process that set EVQ_GONE frees the record.
 */

#define WHO_GENS 14
#define STATE_BITS 4

static uint64_t state_word(uint32_t gen, uint32_t who, enum evq_rec_state st)
{
	return (uint64_t)gen << 32 | who << STATE_BITS | st;
}

static uint32_t me(const struct seg *s)
{
	return (uint32_t)who_me(s, WHO_GENS);
}

static uint32_t word_of(uint64_t state)
{
	return (uint32_t)state >> STATE_BITS;
}

static struct who pusher(const struct seg_evrec *r)
{
	return who_of(word_of(atomic_load(&r->state)), WHO_GENS);
}

static bool in_state(uint64_t state, uint32_t gen, enum evq_rec_state st)
{
	return state >> 32 == gen && (state & ((1u << STATE_BITS) - 1)) == st;
}

bool evq_rec_is(const struct seg_evrec *r, enum evq_rec_state st)
{
	return in_state(atomic_load(&r->state), r->gen, st);
}

bool evq_rec_change(struct seg_evrec *r, uint32_t gen, enum evq_rec_state from,
		    enum evq_rec_state to)
{
	uint64_t was = atomic_load(&r->state);

	while (in_state(was, gen, from))
		if (atomic_compare_exchange_weak(&r->state, &was,
						 state_word(gen, word_of(was), to)))
			return true;
	return false;
}

bool evq_rec_claim(struct seg_evrec *r)
{
	/* The pusher may just change one of these states to the next: try until one fits. */
	while (evq_rec_is(r, EVQ_LINKED) || evq_rec_is(r, EVQ_TELLING) || evq_rec_is(r, EVQ_TOLD))
		if (evq_rec_change(r, r->gen, EVQ_LINKED, EVQ_TAKEN) ||
		    evq_rec_change(r, r->gen, EVQ_TELLING, EVQ_TAKEN) ||
		    evq_rec_change(r, r->gen, EVQ_TOLD, EVQ_TAKEN))
			return true;
	return !evq_rec_is(r, EVQ_DROPPED);
}

bool evq_pusher_dead(const struct seg *s, const struct seg_evrec *r)
{
	return who_dead(s, pusher(r));
}

bool evq_pusher_runs(struct seg *s, const struct seg_evrec *r)
{
	return who_runs(s, pusher(r));
}

/* Free the record, even if another process is about to. */
void evq_rec_free(struct seg *s, uint64_t ref)
{
	struct seg_evrec *r = seg_at(s, SEG_T_EVREC, EVQ_REF_IDX(ref));
	uint32_t gen = (uint32_t)(ref >> 32);
	uint64_t was = atomic_load(&r->state);

	do
		if (was >> 32 != gen || (in_state(was, gen, EVQ_GONE) && !evq_pusher_dead(s, r)))
			return;
	while (!atomic_compare_exchange_weak(&r->state, &was, state_word(gen, me(s), EVQ_GONE)));
	seg_free(s, SEG_T_EVREC, EVQ_REF_IDX(ref));
}

/* The record is not in the queue yet: its pusher owns it, and frees it if necessary. */
bool evq_rec_is_pushers(const struct seg *s, const struct seg_evrec *r)
{
	return (evq_rec_is(r, EVQ_MAKING) || evq_rec_is(r, EVQ_LINKED)) && !evq_pusher_dead(s, r);
}

struct seg_evrec *evq_rec(const struct seg *s, uint64_t ref)
{
	struct seg_evrec *r = EVQ_REF_IDX(ref) ? seg_live(s, SEG_T_EVREC, EVQ_REF_IDX(ref)) : NULL;

	return r && r->gen == ref >> 32 && !evq_rec_is(r, EVQ_GONE) ? r : NULL;
}

bool evq_waits(const struct seg *s, uint64_t ref)
{
	const struct seg_evrec *r = evq_rec(s, ref);

	return r && !evq_rec_is(r, EVQ_TAKEN);
}

/* Take a record out of the counts, which stop at 0: repair() may have recounted without it. */
void evq_count_down(struct seg_evq *q, uint32_t len)
{
	uint64_t bytes = atomic_load(&q->bytes);
	uint32_t n = atomic_load(&q->count);

	while (n && !atomic_compare_exchange_weak(&q->count, &n, n - 1))
		;
	while (bytes &&
	       !atomic_compare_exchange_weak(&q->bytes, &bytes, bytes > len ? bytes - len : 0))
		;
}

/* ---- data: pieces, made before the record is linked and read after it is unlinked */

const uint8_t *evq_data(struct seg *s, uint32_t at, uint32_t *next)
{
	const struct seg_evdata *d = at ? seg_live(s, SEG_T_EVBUF, at) : NULL;

	if (!d)
		return NULL;
	*next = d->next;
	return d->bytes;
}

/* Set data and len of a record in the making to a copy of `len` bytes. 0 or -ENOSPC. */
int evq_data_make(struct seg *s, uint32_t owner, const uint8_t *from, uint32_t len, uint64_t ref)
{
	struct seg_evrec *rec = seg_at(s, SEG_T_EVREC, EVQ_REF_IDX(ref));
	uint32_t *link = &rec->data;

	while (rec->len < len) {
		uint32_t n = len - rec->len < EVQ_PIECE ? len - rec->len : EVQ_PIECE, i;
		struct seg_evdata *d;

		if (seg_alloc_begin(s, SEG_T_EVBUF, &i))
			return -ENOSPC;
		d = seg_at(s, SEG_T_EVBUF, i);
		memcpy(d->bytes, from + rec->len, n);
		*link = i; /* linked before evq_close() can find it */
		link = &d->next;
		seg_alloc_end(s, SEG_T_EVBUF, owner, i);
		rec->len += n;
	}
	return 0;
}

void evq_data_free(struct seg *s, const struct seg_evrec *rec)
{
	uint32_t i = rec->data, next;

	/*
	 * At most as many pieces as `len` needs: a chain left by a dead writer may lead anywhere.
	 */
	for (uint32_t n = (rec->len + EVQ_PIECE - 1) / EVQ_PIECE; n && i; n--, i = next)
		if (!evq_data(s, i, &next))
			return;
		else
			seg_free(s, SEG_T_EVBUF, i);
}

/* Make a record like `from`, with this process as pusher. */
int evq_rec_make(struct seg *s, uint32_t evq, const struct seg_evrec *from, uint64_t *ref)
{
	struct seg_evrec *r;
	uint32_t i;

	if (seg_alloc_begin(s, SEG_T_EVREC, &i))
		return -ENOSPC;
	r = seg_at(s, SEG_T_EVREC, i);
	atomic_store(&r->state, state_word(r->gen, me(s), EVQ_MAKING));
	r->src = from->src;
	r->cookie = from->cookie;
	r->type = from->type;
	r->extra = from->extra;
	r->data = from->data;
	r->len = from->len;
	r->lent = from->data != 0;
	r->serial = from->serial;
	*ref = EVQ_REF(r->gen, i);
	seg_alloc_end(s, SEG_T_EVREC, evq + 1, i);
	return 0;
}

/* Free a record that is in no queue, and the data made for it. */
void evq_rec_unmake(struct seg *s, uint64_t ref)
{
	const struct seg_evrec *r = evq_rec(s, ref);

	if (r && !r->lent)
		evq_data_free(s, r);
	evq_rec_free(s, ref);
}

bool evq_is_open(const struct seg *s, uint32_t evq, uint32_t gen, const struct seg_evq *q)
{
	return seg_live(s, SEG_T_EVQ, evq) == q && q->gen == gen;
}
