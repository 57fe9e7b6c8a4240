/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the records of event queues. Pushed by any process, in traps too, popped by the readers of
 * the file.
 *
 * Pushing takes no lock, so a process that is stopped or killed in it keeps nobody waiting: a
 * record is claimed, filled and put on top of a stack (`newest`, and `next` to the one before) by
 * one compare-and-swap. Readers, under the lock, walk down the stack from `newest` and note the way
 * up
 * (`after`): the oldest is `head`. A reference names index and generation, so the stack ends where
 * a record was taken. All that readers note can be made again from the stack: what a reader leaves
 * that dies with the lock.
 *
 * What a death leaves undone is seen in the state of a record: MAKING is not linked, LINKED has no
 * byte in the FIFO yet. The supervisor looks when a process has ended (evq_repair()). A reader that
 * takes a record which is LINKED still (its pusher is stopped) says so (TAKEN): its pusher then
 * looks whether its byte was one too many.
 */
#include "hw/cq.h"
#include "hw/mad.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "hw/share.h"
#include "hw/srq.h"
#include "hw/evq_priv.h"
#include "hw/evsub.h"
#include "segment/proc.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/point.h"
#include "util/sys.h"

#include <string.h>

/* How long a reader waits for a pusher that is between its record and its byte. */
#define UNTOLD_SPINS 20
#define UNTOLD_NAPS 60
#define UNTOLD_NAP_NS 50000L

enum rec_state { MAKING = 1, LINKED, TOLD, TAKEN, GONE };

/* seg_evrec.src.table: its object was destroyed; the record goes when it is the oldest. */
#define PURGED (SEG_T_COUNT + 1)

#define REF(gen, idx) ((uint64_t)(gen) << 32 | (idx))
#define REF_IDX(ref) ((uint32_t)(ref))

static uint64_t ref_at(struct seg *s, uint32_t i)
{
	const struct seg_evrec *r = i ? seg_live(s, SEG_T_EVREC, i) : NULL;

	return r ? REF(r->gen, i) : 0;
}

/*
 * ---- states
 *
 * With the generation, so that nobody changes the next record's; and with the process that the
 * record waits for: its pusher, or (GONE) the one that frees it. One process frees it: the one that
 * made it GONE.
 */

#define WHO_BITS 14
#define WHO_MASK ((1u << WHO_BITS) - 1)
#define STATE_BITS 4

static uint64_t state_word(uint32_t gen, uint32_t who, enum rec_state st)
{
	return (uint64_t)gen << 32 | who << STATE_BITS | st;
}

static uint32_t who_am_i(const struct seg *s)
{
	return s->self == SEG_NONE ? 0
				   : (s->self_gen & WHO_MASK) << WHO_BITS | (s->self & WHO_MASK);
}

static uint32_t who_of(uint64_t state)
{
	return (uint32_t)state >> STATE_BITS;
}

static bool in_state(uint64_t state, uint32_t gen, enum rec_state st)
{
	return state >> 32 == gen && (state & ((1u << STATE_BITS) - 1)) == st;
}

static bool is(const struct seg_evrec *r, enum rec_state st)
{
	return in_state(atomic_load(&r->state), r->gen, st);
}

static bool change(struct seg_evrec *r, uint32_t gen, enum rec_state from, enum rec_state to)
{
	uint64_t was = atomic_load(&r->state);

	while (in_state(was, gen, from))
		if (atomic_compare_exchange_weak(&r->state, &was, state_word(gen, who_of(was), to)))
			return true;
	return false;
}

bool evq_pusher_dead(const struct seg *s, const struct seg_evrec *r)
{
	uint32_t who = who_of(atomic_load(&r->state)), slot = who & WHO_MASK;
	const struct seg_proc *p = slot ? seg_proc(s, slot) : NULL;

	if (!slot)
		return false;
	return !p || (p->gen & WHO_MASK) != who >> WHO_BITS ||
	       atomic_load(&p->state) == SEG_PROC_DEAD;
}

bool evq_pusher_runs(struct seg *s, const struct seg_evrec *r)
{
	uint32_t slot = who_of(atomic_load(&r->state)) & WHO_MASK;
	const struct seg_proc *p = slot ? seg_proc(s, slot) : NULL;
	uint64_t ran;

	return p && !evq_pusher_dead(s, r) && p->pid_ns && p->pid_ns == s->pid_ns &&
	       seg_proc_look(s, slot, p->gen, &ran) == SEG_LOOK_RUNS;
}

/* Free the record, whoever else is about to. */
static void free_rec(struct seg *s, uint64_t ref)
{
	struct seg_evrec *r = seg_at(s, SEG_T_EVREC, REF_IDX(ref));
	uint32_t gen = (uint32_t)(ref >> 32);
	uint64_t was = atomic_load(&r->state);

	do
		if (was >> 32 != gen || (in_state(was, gen, GONE) && !evq_pusher_dead(s, r)))
			return;
	while (!atomic_compare_exchange_weak(&r->state, &was, state_word(gen, who_am_i(s), GONE)));
	seg_free(s, SEG_T_EVREC, REF_IDX(ref));
}

/* It is between its making and the queue: whoever pushes it owns it, and frees it if need be. */
static bool is_pushers(const struct seg *s, const struct seg_evrec *r)
{
	return (is(r, MAKING) || is(r, LINKED)) && !evq_pusher_dead(s, r);
}

struct seg_evrec *evq_rec(const struct seg *s, uint64_t ref)
{
	struct seg_evrec *r = REF_IDX(ref) ? seg_live(s, SEG_T_EVREC, REF_IDX(ref)) : NULL;

	return r && r->gen == ref >> 32 && !is(r, GONE) ? r : NULL;
}

/* ---- the list, under the lock */

/* What was pushed since the last look: `after` upwards from the newest known, or from the end. */
static void absorb(struct seg *s, struct seg_evq *q)
{
	uint64_t newest = atomic_load(&q->newest), ref = newest, above = 0;
	uint32_t left = seg_table(s, SEG_T_EVREC)->capacity;
	struct seg_evrec *r;

	if (newest == q->known)
		return;
	for (; ref != q->known && (r = evq_rec(s, ref)) && left; ref = atomic_load(&r->next)) {
		r->after = REF_IDX(above);
		above = ref;
		left--;
	}
	r = ref == q->known ? evq_rec(s, ref) : NULL;
	if (r)
		r->after = REF_IDX(above);
	else
		q->head = above;
	POINT("evq-absorb");
	q->known = newest;
}

/* Of a record that goes. Both are made anew by repair(), which may not have seen it: 0 at least. */
static void count_down(struct seg_evq *q, uint32_t len)
{
	uint64_t bytes = atomic_load(&q->bytes);
	uint32_t n = atomic_load(&q->count);

	while (n && !atomic_compare_exchange_weak(&q->count, &n, n - 1))
		;
	while (bytes &&
	       !atomic_compare_exchange_weak(&q->bytes, &bytes, bytes > len ? bytes - len : 0))
		;
}

void evq_data_free(struct seg *s, const struct seg_evrec *rec)
{
	uint32_t i = rec->data, next;

	/* As many as there can be: a chain that its writer's death left behind may lead anywhere.
	 */
	for (uint32_t n = (rec->len + EVQ_PIECE - 1) / EVQ_PIECE; n && i; n--, i = next)
		if (!evq_data(s, i, &next))
			return;
		else
			seg_free(s, SEG_T_EVBUF, i);
}

/*
 * Usually it takes a microsecond. A reader that the byte has woken on the pusher's processor sleeps
 * until that one has told all (evq_tell()): it would only get the processor back too early.
 */
static void wait_until_told(struct seg *s, struct seg_evq *q, struct seg_evrec *r)
{
	for (int i = 0; is(r, LINKED) && i < UNTOLD_SPINS + UNTOLD_NAPS; i++) {
		uint32_t seen = atomic_load(&q->wake);

		if (i < UNTOLD_SPINS) {
			sys_cpu_relax();
		} else if (evq_pusher_dead(s, r)) {
			break;
		} else {
			atomic_fetch_add(&q->sleepers, 1);
			if (is(r, LINKED))
				sys_futex_wait(&q->wake, seen, UNTOLD_NAP_NS);
			atomic_fetch_sub(&q->sleepers, 1);
		}
	}
}

/* The oldest goes; its data is the caller's. `fd`: the FIFO's, -1 by path. */
static void remove_head(struct seg *s, uint32_t evq, struct seg_evq *q, struct seg_evrec *r, int fd)
{
	uint64_t ref = q->head;

	if (is(r, LINKED)) {
		wait_until_told(s, q, r);
		change(r, r->gen, LINKED, TAKEN);
	}
	/* The last one: first the bytes, so that no death leaves bytes alone. */
	if (atomic_load(&q->newest) == ref && atomic_load(&q->byte) && !atomic_load(&q->dead) &&
	    !atomic_load(&q->lost)) {
		atomic_store(&q->byte, 0);
		POINT("evq-drain");
		if (!evq_drain(s, evq, q, fd))
			atomic_store(&q->byte, 1);
		if (atomic_load(&q->newest) != ref || atomic_load(&q->dead) ||
		    atomic_load(&q->lost))
			evq_tell(s, evq, q->gen, q);
	}
	absorb(s, q);
	if (r->src.table != PURGED)
		count_down(q, r->len);
	evq_debt_paid(s, r, ref);
	POINT("evq-remove");
	q->head = ref_at(s, r->after);
	free_rec(s, ref);
}

/* ---- sources */

/* The source's counter; NULL for an event without one. False: its object is no more. */
static bool source(struct seg *s, const struct seg_evsrc *src, _Atomic uint32_t **counter)
{
	uint32_t *gen = NULL;

	*counter = NULL;
	/* A MAD is read also when what it answers is forgotten. */
	if (src->table >= SEG_T_COUNT || src->table == SEG_T_MSEND || !src->idx)
		return true;
	gen = seg_live(s, src->table, src->idx);
	if (src->table == SEG_T_EVSUB) {
		/* Its next event is another record; one whose object is gone is read all the same.
		 */
		if (gen && *gen == src->gen)
			atomic_store(&((struct seg_evsub *)gen)->queued, 0);
		return true;
	}
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
	case SEG_T_SHARE:
		*counter = &((struct hw_share *)gen)->async.reported;
		break;
	}
	return true;
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

/* rec->data, rec->len of the record that we make: a copy of `len` bytes. 0 or -ENOSPC. */
static int data_make(struct seg *s, uint32_t owner, const uint8_t *from, uint32_t len, uint64_t ref)
{
	struct seg_evrec *rec = seg_at(s, SEG_T_EVREC, REF_IDX(ref));
	uint32_t *link = &rec->data;

	while (rec->len < len) {
		uint32_t n = len - rec->len < EVQ_PIECE ? len - rec->len : EVQ_PIECE, i;
		struct seg_evdata *d;

		if (seg_alloc_begin(s, SEG_T_EVBUF, &i))
			return -ENOSPC;
		d = seg_at(s, SEG_T_EVBUF, i);
		memcpy(d->bytes, from + rec->len, n);
		*link = i; /* before evq_close() finds it */
		link = &d->next;
		seg_alloc_end(s, SEG_T_EVBUF, owner, i);
		rec->len += n;
	}
	return 0;
}

/* A record that is in no queue, and the data that was made for it. */
static void unmake(struct seg *s, uint64_t ref)
{
	const struct seg_evrec *r = evq_rec(s, ref);

	if (r && !r->lent)
		evq_data_free(s, r);
	free_rec(s, ref);
}

/* The oldest record whose source lives; those before it are dropped. NULL: empty. */
static struct seg_evrec *first(struct seg *s, uint32_t evq, struct seg_evq *q, int fd,
			       _Atomic uint32_t **counter)
{
	struct seg_evrec *r;

	while ((r = evq_rec(s, q->head))) {
		const struct seg_evrec was = *r;

		if (r->src.table != PURGED && source(s, &r->src, counter))
			return r;
		remove_head(s, evq, q, r, fd);
		evq_data_free(s, &was);
	}
	return NULL;
}

/* All from the stack; and what dead pushers have left. */
static void repair(struct seg *s, uint32_t evq, struct seg_evq *q)
{
	uint64_t bytes = 0;
	_Atomic uint32_t *counter;
	uint32_t n = 0;
	struct seg_evrec *r;

	q->head = q->known = 0;
	absorb(s, q);
	for (uint32_t i = REF_IDX(q->head); i; i = r->after) {
		r = seg_at(s, SEG_T_EVREC, i);
		if (evq_pusher_dead(s, r))
			change(r, r->gen, LINKED, TOLD);
		if (r->src.table == PURGED)
			continue;
		n++;
		bytes += r->len;
	}
	/* A dead pusher's record that is not there (else it is TOLD now) will never be. */
	seg_for_each_owned (s, SEG_T_EVREC, evq + 1, i) {
		r = seg_at(s, SEG_T_EVREC, i);
		if (evq_pusher_dead(s, r) && (is(r, MAKING) || is(r, LINKED) || is(r, GONE)))
			unmake(s, REF(r->gen, i));
	}
	atomic_store(&q->count, n);
	atomic_store(&q->bytes, bytes);
	first(s, evq, q, -1, &counter);
	TRACE(LOG_EVENT, "evq %u repaired: %u records", evq, n);
}

/* Whatever was begun: readable if there is something, and only then. */
static void agree(struct seg *s, uint32_t evq, struct seg_evq *q)
{
	if (evq_ready(s, q)) {
		evq_tell(s, evq, q->gen, q);
		return;
	}
	atomic_store(&q->byte, 1);
	evq_settle(s, evq, q, -1);
}

int evq_enter(struct seg *s, uint32_t evq, uint32_t gen, uint64_t ns, struct seg_evq **out)
{
	struct seg_evq *q = seg_live(s, SEG_T_EVQ, evq);
	int r;

	if (!q || q->gen != gen)
		return -ENOENT;
	/* A reader that finds it held by a stopped process comes again (evq_wait()). */
	r = ns >= SEG_LOCK_CTRL_NS ? seg_lock_if_runs(s, &q->lock) : seg_lock(s, &q->lock, ns);
	if (r < 0)
		return r;
	if (seg_live(s, SEG_T_EVQ, evq) != q || q->gen != gen) {
		seg_unlock(s, &q->lock);
		return -ENOENT;
	}
	if (r == SEG_LOCK_INHERITED) {
		repair(s, evq, q);
		agree(s, evq, q);
	}
	absorb(s, q);
	*out = q;
	return 0;
}

/* Who asks does it when the lock is free; else its holder, who looks once more when it has left. */
void evq_attend(struct seg *s, uint32_t evq, struct seg_evq *q)
{
	while (atomic_load(&q->asked)) {
		int r = seg_trylock(s, &q->lock);

		if (r < 0)
			return;
		if ((atomic_exchange(&q->asked, 0) & EVQ_ASK_REPAIR) || r == SEG_LOCK_INHERITED)
			repair(s, evq, q);
		POINT("evq-attend");
		agree(s, evq, q);
		seg_unlock(s, &q->lock);
	}
}

void evq_leave(struct seg *s, uint32_t evq, struct seg_evq *q)
{
	seg_unlock(s, &q->lock);
	evq_attend(s, evq, q);
}

/* ---- calls */

int evq_open(struct seg *s, uint32_t file, uint32_t max)
{
	const struct seg_file *f = seg_file(s, file);
	struct seg_evq *q;
	int r;

	if (!f)
		return -EINVAL;
	r = seg_alloc_at(s, SEG_T_EVQ, file + 1, file);
	if (r)
		return r;
	q = seg_at(s, SEG_T_EVQ, file);
	q->max = max;
	q->known = REF(f->gen, 0);
	/* No value that a late pusher to an earlier queue of this index may have seen. */
	atomic_store(&q->newest, REF(f->gen, 0));
	/* Nor of `told`. */
	atomic_store(&q->drains, f->gen * 0x9e3779b1u);
	q->gen = f->gen;
	return 0;
}

/* All that is in the queue; nothing is pushed to it any more. */
static void free_stack(struct seg *s, struct seg_evq *q)
{
	uint32_t left = seg_table(s, SEG_T_EVREC)->capacity;
	const struct seg_evrec *r;
	uint64_t below;

	for (uint64_t at = atomic_exchange(&q->newest, 0); (r = evq_rec(s, at)) && left;
	     at = below, left--) {
		below = atomic_load(&r->next);
		free_rec(s, at);
	}
}

static bool is_among(struct seg *s, uint32_t at, uint32_t piece)
{
	for (uint32_t left = seg_table(s, SEG_T_EVBUF)->capacity; at && left; left--)
		if (at == piece)
			return true;
		else if (!evq_data(s, at, &at))
			break;
	return false;
}

static bool is_pushers_data(struct seg *s, uint32_t file, uint32_t piece)
{
	seg_for_each_owned (s, SEG_T_EVREC, file + 1, i) {
		const struct seg_evrec *r = seg_at(s, SEG_T_EVREC, i);

		if (is_pushers(s, r) && is_among(s, r->data, piece))
			return true;
	}
	return false;
}

/* Of a long MAD that outlives the file, because somebody is at it. `piece` 0: are there any? */
static bool is_mads_data(struct seg *s, uint32_t owner, uint32_t piece)
{
	seg_for_each_live (s, SEG_T_MRECV, i) {
		const struct mad_recv *r = seg_at(s, SEG_T_MRECV, i);

		if (r->msg.owner == owner &&
		    (!piece || is_among(s, r->msg.head, piece) || is_among(s, r->early, piece)))
			return true;
	}
	seg_for_each_live (s, SEG_T_MSEND, i) {
		const struct mad_send *m = seg_at(s, SEG_T_MSEND, i);

		if (m->data.owner == owner && (!piece || is_among(s, m->data.head, piece)))
			return true;
	}
	return false;
}

void evq_close(struct seg *s, uint32_t file)
{
	struct seg_evq *q = seg_live(s, SEG_T_EVQ, file);
	uint32_t pushers = 0;
	bool locked, mads;

	if (!q)
		return;
	locked = seg_lock(s, &q->lock, SEG_LOCK_DATA_NS) >= 0;
	seg_free(s, SEG_T_EVQ, file);
	free_stack(s, q);
	/* A pusher that finds no queue frees its record and data itself. */
	seg_for_each_owned (s, SEG_T_EVREC, file + 1, i) {
		const struct seg_evrec *r = seg_at(s, SEG_T_EVREC, i);

		if (is_pushers(s, r))
			pushers++;
		else
			free_rec(s, REF(r->gen, i));
	}
	mads = is_mads_data(s, file + 1, 0);
	seg_for_each_owned (s, SEG_T_EVBUF, file + 1, i)
		if (!(pushers && is_pushers_data(s, file, i)) &&
		    !(mads && is_mads_data(s, file + 1, i)))
			seg_free_of(s, SEG_T_EVBUF, file + 1, i);
	if (locked)
		seg_unlock(s, &q->lock);
}

/* A record like `from`, by us. */
static int make_rec(struct seg *s, uint32_t evq, const struct seg_evrec *from, uint64_t *ref)
{
	struct seg_evrec *r;
	uint32_t i;

	if (seg_alloc_begin(s, SEG_T_EVREC, &i))
		return -ENOSPC;
	r = seg_at(s, SEG_T_EVREC, i);
	atomic_store(&r->state, state_word(r->gen, who_am_i(s), MAKING));
	r->src = from->src;
	r->cookie = from->cookie;
	r->type = from->type;
	r->extra = from->extra;
	r->data = from->data;
	r->len = from->len;
	r->lent = from->data != 0;
	r->serial = from->serial;
	*ref = REF(r->gen, i);
	seg_alloc_end(s, SEG_T_EVREC, evq + 1, i);
	return 0;
}

static bool is_open(const struct seg *s, uint32_t evq, uint32_t gen, const struct seg_evq *q)
{
	return seg_live(s, SEG_T_EVQ, evq) == q && q->gen == gen;
}

/* On top of the stack: 0; -ENOENT, the queue is no more; -EALREADY, the debt is somebody else's. */
static int link_rec(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evq *q, uint64_t ref,
		    const struct evq_debt *d)
{
	struct seg_evrec *r = seg_at(s, SEG_T_EVREC, REF_IDX(ref));
	uint64_t was = atomic_load(&q->newest);

	if (!change(r, (uint32_t)(ref >> 32), MAKING, LINKED))
		return -ENOENT;
	do {
		if (!is_open(s, evq, gen, q))
			return -ENOENT;
		if (d && atomic_load(d->paying) != ref)
			return -EALREADY;
		atomic_store(&r->next, was);
	} while (!atomic_compare_exchange_weak(&q->newest, &was, ref));
	return 0;
}

/* The record that is made already: 0; or as link_rec() says. */
static int put_rec(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evq *q, uint64_t ref,
		   const struct evq_debt *d)
{
	struct seg_evrec *r = seg_at(s, SEG_T_EVREC, REF_IDX(ref));
	const struct seg_evrec paid = {.src = r->src, .type = r->type, .serial = d ? d->serial : 0};
	int rc;

	atomic_fetch_add(&q->count, 1);
	atomic_fetch_add(&q->bytes, r->len);
	POINT("evq-link");
	rc = link_rec(s, evq, gen, q, ref, d);
	if (rc) {
		count_down(q, r->len);
		return rc;
	}
	POINT("evq-linked");
	if (d)
		evq_debt_paid(s, &paid, ref);
	POINT("evq-paid");
	evq_tell(s, evq, gen, q);
	POINT("evq-told");
	/* It was taken without waiting for us: our byte may be one too many. */
	if (!change(r, (uint32_t)(ref >> 32), LINKED, TOLD)) {
		atomic_fetch_or(&q->asked, EVQ_ASK);
		evq_attend(s, evq, q);
	}
	return 0;
}

/* 0 and the record, made, with a copy of the data, if any; -ENOENT, -ENOSPC. */
static int begin_push(struct seg *s, uint32_t evq, uint32_t gen, const struct seg_evrec *from,
		      const void *data, uint32_t len, uint64_t *ref)
{
	struct seg_evq *q = seg_live(s, SEG_T_EVQ, evq);

	if (!q || q->gen != gen || atomic_load(&q->dead))
		return -ENOENT;
	if (!(q->max && atomic_load(&q->count) >= q->max) && !make_rec(s, evq, from, ref)) {
		/* From here on evq_close() knows of the record, or we know of it. */
		bool gone = !is_open(s, evq, gen, q);

		if (!gone && (!len || !data_make(s, evq + 1, data, len, *ref)))
			return 0;
		unmake(s, *ref);
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
		atomic_fetch_and(d->word, ~d->bit);
		return r;
	}
	POINT("evq-made");
	r = evq_debt_claim(s, q, d, ref, overtake);
	POINT("evq-claimed");
	if (r == 1) {
		((struct seg_evrec *)seg_at(s, SEG_T_EVREC, REF_IDX(ref)))->serial = d->serial;
		r = put_rec(s, evq, gen, q, ref, d);
		if (!r)
			return 0;
	} else if (!r) {
		r = -EALREADY;
	}
	unmake(s, ref);
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
	if (r == -EALREADY) /* or whoever has overtaken us does: the debt is not ours to forget */
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

/* `data`, `len`: to be copied. */
static int push(struct seg *s, uint32_t evq, uint32_t gen, const struct seg_evrec *rec,
		const void *data, uint32_t len)
{
	uint64_t ref;
	int r = begin_push(s, evq, gen, rec, data, len, &ref);

	if (!r) {
		r = put_rec(s, evq, gen, seg_at(s, SEG_T_EVQ, evq), ref, NULL);
		if (r)
			unmake(s, ref);
	}
	if (r) /* else whoever raises it has said so */
		TRACE(LOG_EVENT, "evq %u: push table %u idx %#x type %u: %d", evq, rec->src.table,
		      rec->src.idx, rec->type, r);
	return r;
}

int evq_push(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evsrc src, uint64_t cookie,
	     uint32_t type, uint32_t extra)
{
	const struct seg_evrec rec = {.src = src, .cookie = cookie, .type = type, .extra = extra};

	return push(s, evq, gen, &rec, NULL, 0);
}

int evq_push_data(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evsrc src, uint64_t cookie,
		  const void *data, uint32_t len)
{
	const struct seg_evrec rec = {.src = src, .cookie = cookie};

	return push(s, evq, gen, &rec, data, len);
}

int evq_push_pieces(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evsrc src,
		    uint64_t cookie, uint32_t head, uint32_t len)
{
	const struct seg_evrec rec = {.src = src, .cookie = cookie, .data = head, .len = len};

	return push(s, evq, gen, &rec, NULL, 0);
}

static void drop_all(struct seg *s, uint32_t evq, struct seg_evq *q)
{
	struct seg_evrec *r;

	while ((r = evq_rec(s, q->head))) {
		const struct seg_evrec was = *r;

		remove_head(s, evq, q, r, -1);
		evq_data_free(s, &was);
	}
}

static int take_locked(struct seg *s, uint32_t evq, struct seg_evq *q, int fd, size_t least,
		       size_t room, struct seg_evrec *rec)
{
	_Atomic uint32_t *counter;
	struct seg_evrec *r;

	if (atomic_load(&q->dead) == EVQ_CLEARED)
		drop_all(s, evq, q);
	else if (atomic_exchange(&q->lost, 0))
		return -EOVERFLOW;
	r = first(s, evq, q, fd, &counter);
	if (!r)
		return atomic_load(&q->dead) ? -EIO : -EAGAIN;
	if (room < least + r->len)
		return -EMSGSIZE;
	*rec = *r;
	if (counter)
		atomic_fetch_add(counter, 1);
	remove_head(s, evq, q, r, fd);
	return 0;
}

int evq_take(struct seg *s, uint32_t evq, uint32_t gen, int fd, size_t fixed, size_t room,
	     struct seg_evrec *rec)
{
	struct seg_evq *q;
	int ret = evq_enter(s, evq, gen, SEG_LOCK_CTRL_NS, &q);

	if (ret)
		return ret;
	ret = take_locked(s, evq, q, fd, fixed, room, rec);
	if (!ret)
		evq_taken(q);
	/* Who finds nothing may have come for a byte that nobody knows of. */
	if (ret == -EAGAIN && fd >= 0)
		atomic_store(&q->byte, 1);
	evq_settle(s, evq, q, fd);
	evq_trim(q, fd);
	evq_leave(s, evq, q);
	return ret;
}

int evq_peek(struct seg *s, uint32_t evq, uint32_t gen, void *data, uint32_t n,
	     struct seg_evrec *rec)
{
	const struct seg_evrec *r;
	_Atomic uint32_t *counter;
	struct seg_evq *q;
	uint32_t at, k;
	uint8_t *to = data;
	int ret = evq_enter(s, evq, gen, SEG_LOCK_CTRL_NS, &q);

	if (ret)
		return ret;
	r = first(s, evq, q, -1, &counter);
	ret = r ? 0 : -EAGAIN;
	if (r) {
		*rec = *r;
		n = n < r->len ? n : r->len;
		for (at = r->data; n; n -= k, to += k) {
			const uint8_t *d = evq_data(s, at, &at);

			k = n < EVQ_PIECE ? n : EVQ_PIECE;
			if (d)
				memcpy(to, d, k);
			else
				memset(to, 0, k);
		}
	}
	evq_leave(s, evq, q);
	return ret;
}

/* Below the oldest, or the only one. */
static void link_oldest(struct seg *s, struct seg_evq *q, uint64_t me)
{
	struct seg_evrec *r = seg_at(s, SEG_T_EVREC, REF_IDX(me)), *head;
	uint64_t was;

	change(r, r->gen, MAKING, TOLD);
	do {
		absorb(s, q);
		head = evq_rec(s, q->head);
		r->after = head ? REF_IDX(q->head) : 0;
		if (head) {
			atomic_store(&head->next, me);
			q->head = me;
			return;
		}
		was = q->known;
	} while (!atomic_compare_exchange_strong(&q->newest, &was, me));
	q->head = q->known = me;
}

int evq_untake(struct seg *s, uint32_t evq, uint32_t gen, const struct seg_evrec *rec)
{
	struct seg_evq *q;
	uint64_t ref;
	int ret = evq_enter(s, evq, gen, SEG_LOCK_CTRL_NS, &q);

	if (ret)
		return ret;
	ret = make_rec(s, evq, rec, &ref);
	if (!ret) {
		atomic_fetch_add(&q->count, 1);
		atomic_fetch_add(&q->bytes, rec->len);
		link_oldest(s, q, ref);
		/* Else evq_close() finds it. */
		if (!is_open(s, evq, gen, q)) {
			free_rec(s, ref);
			ret = -ENOENT;
		} else {
			evq_tell(s, evq, q->gen, q);
		}
	}
	evq_leave(s, evq, q);
	return ret;
}

int evq_pop(struct seg *s, uint32_t evq, uint32_t gen, int fd, struct seg_evrec *rec)
{
	int r = evq_take(s, evq, gen, fd, 0, SIZE_MAX, rec);

	if (!r)
		evq_data_free(s, rec);
	return r;
}

void evq_purge(struct seg *s, uint32_t evq, uint32_t gen, uint32_t table, uint32_t idx)
{
	_Atomic uint32_t *counter;
	struct seg_evrec *r;
	struct seg_evq *q;

	/* In vain: evq_pop() drops what has no living source. */
	if (evq_enter(s, evq, gen, SEG_LOCK_CTRL_NS, &q))
		return;
	for (uint32_t i = REF_IDX(q->head); i; i = r->after) {
		r = seg_at(s, SEG_T_EVREC, i);
		if (r->src.table != table || r->src.idx != idx)
			continue;
		r->src.table = PURGED;
		count_down(q, r->len);
		evq_data_free(s, r);
		r->len = 0;
	}
	first(s, evq, q, -1, &counter);
	evq_settle(s, evq, q, -1);
	evq_leave(s, evq, q);
}

static void kill_queue(struct seg *s, uint32_t evq, uint32_t gen, uint32_t how)
{
	struct seg_evq *q = seg_live(s, SEG_T_EVQ, evq);

	if (!q || q->gen != gen)
		return;
	atomic_store(&q->dead, how);
	evq_tell(s, evq, q->gen, q);
	if (how == EVQ_CLEARED && !evq_enter(s, evq, gen, SEG_LOCK_DATA_NS, &q)) {
		drop_all(s, evq, q);
		evq_leave(s, evq, q);
	}
}

void evq_kill(struct seg *s, uint32_t evq, uint32_t gen)
{
	kill_queue(s, evq, gen, EVQ_DEAD);
}

void evq_clear(struct seg *s, uint32_t evq, uint32_t gen)
{
	kill_queue(s, evq, gen, EVQ_CLEARED);
}

void evq_repair(struct seg *s)
{
	seg_for_each_live (s, SEG_T_EVREC, i) {
		struct seg_evrec *r = seg_at(s, SEG_T_EVREC, i);
		struct seg_evq *q;

		if (!evq_pusher_dead(s, r) || is(r, TOLD))
			continue;
		q = seg_live(s, SEG_T_EVQ, seg_owner(s, SEG_T_EVREC, i) - 1);
		if (q)
			atomic_fetch_or(&q->asked, EVQ_ASK_REPAIR);
		else
			unmake(s, REF(r->gen, i));
	}
	seg_for_each_live (s, SEG_T_EVQ, i) {
		struct seg_evq *q = seg_at(s, SEG_T_EVQ, i);

		/* Held, perhaps by a dead reader; told of nothing; or of what was taken already. */
		if (atomic_load(&q->lock.word) || atomic_load(&q->lost) ||
		    (atomic_load(&q->byte) && !evq_ready(s, q)) ||
		    atomic_load(&q->lazy) == EVQ_PUBLISHING)
			atomic_fetch_or(&q->asked, EVQ_ASK_REPAIR);
		evq_attend(s, i, q);
	}
}
