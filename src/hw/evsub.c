/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns subscriptions: chains by (hca, key, id) in a hash of the segment, a lock per chain.
 *
 * Order of locks: a queue's (CQ, SRQ, RQ) -> chain -> event queue. Where the chain's lock cannot be
 * had because its holder is stopped, the event is raised under a second lock (`around`), and
 * subscribers are found in the table; an event that the holder was raising is finished for it
 * first. Only if two such processes are stopped are subscribers told without notes. After a death
 * the chain is made again from the table, and the event that was being raised is finished.
 */
#include "hw/evsub.h"
#include "hw/evq.h"
#include "segment/proc.h"
#include "util/log.h"
#include "util/point.h"
#include "util/rec.h"
#include "util/sys.h"
#include "wire/wqe/eqe.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

/* How often a thread looks whether another one has queued the record that it has begun. */
#define BUSY_NAP_NS 20000L

static uint32_t chain_of(uint32_t hca, uint32_t key, uint32_t id)
{
	uint32_t h = hca * 0x9e3779b1u ^ key * 0x85ebca6bu ^ id * 0xc2b2ae35u;

	h ^= h >> 15;
	return 1 + (h * 0x27d4eb2fu >> 8) % (EVSUB_CHAINS - 1);
}

static struct seg_evhash *chain(struct seg *s, uint32_t n)
{
	return seg_at(s, SEG_T_EVTAB, n);
}

static struct seg_evsub *sub_at(struct seg *s, uint32_t i)
{
	return i ? seg_live(s, SEG_T_EVSUB, i) : NULL;
}

/* ---- the chain, under its lock */

static bool in_chain(const struct seg_evsub *sub, uint32_t n)
{
	return sub && atomic_load(&sub->state) != EVSUB_FREE &&
	       chain_of(sub->hca, sub->key, sub->id) == n;
}

static void raise_locked(struct seg *s, uint32_t n);

static void evsub_repair(struct seg *s, uint32_t n)
{
	uint32_t above = 0;

	/* In the table's order, and never cut: whoever walks without the lock finds it whole. */
	seg_for_each_live (s, SEG_T_EVSUB, i) {
		struct seg_evsub *sub = seg_at(s, SEG_T_EVSUB, i);

		if (!in_chain(sub, n))
			continue;
		if (above)
			atomic_store(&((struct seg_evsub *)seg_at(s, SEG_T_EVSUB, above))->next, i);
		else
			atomic_store(&chain(s, n)->head, i);
		above = i;
	}
	if (above)
		atomic_store(&((struct seg_evsub *)seg_at(s, SEG_T_EVSUB, above))->next, 0);
	else
		atomic_store(&chain(s, n)->head, 0);
	TRACE(LOG_EVENT, "subscriptions: chain %u repaired", n);
	raise_locked(s, n);
}

static int lock_chain(struct seg *s, uint32_t n, uint64_t ns)
{
	int r = seg_lock(s, &chain(s, n)->lock, ns);

	if (r == SEG_LOCK_INHERITED)
		evsub_repair(s, n);
	return r < 0 ? r : 0;
}

/* Take sub `i` out of the chain and free it; `prev` 0: it is the head. */
static void unlink_sub(struct seg *s, struct seg_evhash *c, uint32_t prev, uint32_t i)
{
	struct seg_evsub *sub = seg_at(s, SEG_T_EVSUB, i);
	uint32_t next = atomic_load(&sub->next);

	if (prev)
		atomic_store(&((struct seg_evsub *)seg_at(s, SEG_T_EVSUB, prev))->next, next);
	else
		atomic_store(&c->head, next);
	POINT("evsub-unlinked");
	atomic_store(&sub->state, EVSUB_FREE);
	POINT("evsub-freeing");
	seg_free(s, SEG_T_EVSUB, i);
}

int evsub_add(struct seg *s, const struct seg_evsub *from, uint32_t *idx)
{
	uint32_t n = chain_of(from->hca, from->key, from->id);
	struct seg_evhash *c = chain(s, n);
	struct seg_evsub *sub;
	int r = seg_alloc(s, SEG_T_EVSUB, from->evq + 1, idx);

	if (r)
		return r;
	sub = seg_at(s, SEG_T_EVSUB, *idx);
	sub->hca = from->hca;
	sub->key = from->key;
	sub->id = from->id;
	sub->evq = from->evq;
	sub->evq_gen = from->evq_gen;
	sub->omit = from->omit;
	sub->eventfd = from->eventfd;
	sub->mem = mem_self(s);
	sub->cookie = from->cookie;
	sub->object = from->object;
	POINT("evsub-made");
	r = lock_chain(s, n, SEG_LOCK_CTRL_NS);
	if (r) {
		seg_free(s, SEG_T_EVSUB, *idx);
		return r;
	}
	POINT("evsub-locked");
	atomic_store(&sub->state, EVSUB_LINKED);
	POINT("evsub-linking");
	/* Append, so that subscribers are told in the order of subscription. */
	if (!sub_at(s, c->head)) {
		atomic_store(&c->head, *idx);
	} else {
		struct seg_evsub *last = sub_at(s, c->head), *next;

		while ((next = sub_at(s, last->next)))
			last = next;
		atomic_store(&last->next, *idx);
	}
	POINT("evsub-linked");
	seg_unlock(s, &c->lock);
	return 0;
}

void evsub_drop(struct seg *s, uint32_t idx)
{
	struct seg_evsub *sub = sub_at(s, idx), *at;
	struct seg_evhash *c;
	uint32_t n, prev = 0;

	if (!sub)
		return;
	if (atomic_load(&sub->state) == EVSUB_FREE) { /* its maker died before it was linked */
		seg_free(s, SEG_T_EVSUB, idx);
		return;
	}
	n = chain_of(sub->hca, sub->key, sub->id);
	c = chain(s, n);
	if (lock_chain(s, n, SEG_LOCK_CTRL_NS)) {
		/*
		 * Freeing it inside the chain would cut the chain: leave it to the next holder of
		 * the lock.
		 */
		atomic_store(&sub->state, EVSUB_GONE);
		atomic_store(seg_owner_word(s, SEG_T_EVSUB, idx), SEG_OWNER_DEVICE);
		return;
	}
	for (uint32_t i = c->head; (at = sub_at(s, i)) && at != sub; i = at->next)
		prev = i;
	if (at)
		unlink_sub(s, c, prev, idx);
	else
		seg_free(s, SEG_T_EVSUB, idx);
	seg_unlock(s, &c->lock);
}

void evsub_object_gone(struct seg *s, uint32_t hca, uint64_t object)
{
	seg_for_each_live (s, SEG_T_EVSUB, i) {
		const struct seg_evsub *sub = seg_at(s, SEG_T_EVSUB, i);

		if (object && sub->object == object && sub->hca == hca)
			evsub_drop(s, i);
	}
}

static void evsub_drop_all(struct seg *s, uint32_t file)
{
	seg_for_each_owned (s, SEG_T_EVSUB, file + 1, i)
		evsub_drop(s, i);
}

/* An event file of the device file, whose queue ends with it. */
static bool ends_with(struct seg *s, uint32_t file, uint32_t idx)
{
	const struct seg_file *f = seg_file(s, file);
	const struct seg_file *e = seg_at(s, SEG_T_FILE, idx);

	return idx != file && atomic_load(&e->parent) == file && e->parent_gen == f->gen &&
	       (e->kind == SEG_FILE_COMP || e->kind == SEG_FILE_DEVX_CMD ||
		e->kind == SEG_FILE_DEVX_EVENT);
}

bool evsub_file_has_any(struct seg *s, uint32_t file)
{
	const struct seg_file *f = seg_file(s, file);

	if (seg_next(s, SEG_T_EVSUB, file + 1, 0) != SEG_NONE)
		return true;
	if (!f || f->kind != SEG_FILE_UVERBS || !atomic_load(&f->has_events))
		return false;
	seg_for_each_live (s, SEG_T_FILE, i)
		if (ends_with(s, file, i))
			return true;
	return false;
}

void evsub_file_gone(struct seg *s, uint32_t file)
{
	const struct seg_file *f = seg_file(s, file);

	evsub_drop_all(s, file);
	if (!f || f->kind != SEG_FILE_UVERBS || !atomic_load(&f->has_events))
		return;
	seg_for_each_live (s, SEG_T_FILE, i) {
		const struct seg_file *e = seg_at(s, SEG_T_FILE, i);

		if (!ends_with(s, file, i))
			continue;
		if (e->kind == SEG_FILE_COMP) {
			evq_kill(s, i, e->gen);
			continue;
		}
		evsub_drop_all(s, i);
		evq_clear(s, i, e->gen);
	}
}

/* ---- raising */

static void write_eventfd(int fd, uint64_t n)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	struct timespec now = {0, 0};
	long r = sys_call(SYS_poll, &p, 1, 0);

	/* Writing to a full counter would block; the kernel leaves it full (eventfd_signal()). */
	if (sys_refused(r))
		r = sys_call(SYS_ppoll, &p, 1, &now, NULL);
	if (sys_refused(r) || (r == 1 && (p.revents & POLLOUT)))
		sys_write(fd, &n, sizeof(n));
}

static void flush_eventfd(struct seg_evsub *sub)
{
	uint32_t to = (uint32_t)atomic_load(&sub->signals) + atomic_load(&sub->signals_unlocked);
	uint32_t from = atomic_exchange(&sub->written, to);

	if (to != from)
		write_eventfd(sub->eventfd - 1, to - from);
}

/* Has the subscriber's process write the eventfd: this process, or that one's device thread. */
static void have_it_written(struct seg *s, struct seg_evsub *sub)
{
	struct seg_proc *p;

	if (mem_is_self(s, sub->mem) && s->self_pid == (uint32_t)sys_getpid()) {
		flush_eventfd(sub);
		return;
	}
	p = seg_proc(s, sub->mem.slot);
	if (!p || p->gen != sub->mem.gen)
		return;
	atomic_store(&p->signals, 1);
	atomic_store(&p->parked, 1);
	seg_proc_rouse(s, sub->mem.slot);
}

/* The event's number in a word of this form. */
static uint32_t event_of(uint32_t owed)
{
	return owed & EVSUB_SEQS;
}

/* Tell the subscriber once for each event, however often this is called. */
static void signal_eventfd(struct seg *s, struct seg_evsub *sub, uint32_t owed)
{
	uint64_t was = atomic_load(&sub->signals);
	uint64_t to = (uint64_t)event_of(owed) << 32 | (uint32_t)(was + 1);

	if (atomic_load(&sub->owed) != owed)
		return;
	if (was >> 32 != event_of(owed))
		atomic_compare_exchange_strong(&sub->signals, &was, to);
	have_it_written(s, sub);
}

static bool is_queued(const struct seg_evsub *sub)
{
	uint32_t queued = atomic_load(&sub->queued);

	return queued && !(queued & EVSUB_READ);
}

/* Push the record without data, once for each event: the reader may already have taken it. */
static int push_fresh(struct seg *s, struct seg_evsub *sub, uint32_t owed, struct seg_evsrc src)
{
	uint32_t was = atomic_load(&sub->queued), event = event_of(owed);
	int r;

	if (atomic_load(&sub->owed) != owed)
		return 0;
	if (event_of(was) != event || was & EVSUB_AROUND)
		atomic_compare_exchange_strong(&sub->queued, &was, event);
	r = evq_push_owed(s, sub->evq, sub->evq_gen, src, sub->cookie, 0, NULL, 0, true);
	if (r && r != -EBUSY)
		atomic_compare_exchange_strong(&sub->queued, &event, event | EVSUB_READ);
	return r;
}

/* The event that a subscriber is owed; as evq_push_owed(). */
static int push_event(struct seg *s, struct seg_evsub *sub, uint32_t owed, struct seg_evsrc src,
		      const uint8_t *eqe)
{
	if (!sub->omit)
		return evq_push_owed(s, sub->evq, sub->evq_gen, src, sub->cookie, 0, eqe, EVSUB_EQE,
				     true);
	return owed & EVSUB_FRESH ? push_fresh(s, sub, owed, src) : 0;
}

static void evsub_deliver(struct seg *s, uint32_t idx, struct seg_evsub *sub, uint32_t owed,
			  const uint8_t *eqe)
{
	const struct seg_evsrc src = {.table = SEG_T_EVSUB, .idx = idx, .gen = sub->gen};
	bool pushed = !sub->eventfd && (!sub->omit || owed & EVSUB_FRESH);
	struct timespec nap = {0, BUSY_NAP_NS};
	int r = 0;

	if (sub->eventfd)
		signal_eventfd(s, sub, owed);
	/*
	 * Two threads finish one event. The other one is about to link its record, but may die
	 * before: the chain's event is over only when this subscriber has it.
	 */
	while (!sub->eventfd && atomic_load(&sub->owed) == owed &&
	       (r = push_event(s, sub, owed, src, eqe)) == -EBUSY) {
		POINT("evsub-busy");
		sys_call(SYS_nanosleep, &nap, NULL);
	}
	if (r == -EBUSY) /* the other one has settled it */
		return;
	if (r && r != -ENOENT)
		evq_lost(s, sub->evq, sub->evq_gen);
	/* Otherwise the record has paid it, and the present debt is of a later event. */
	if (!pushed || r)
		atomic_compare_exchange_strong(&sub->owed, &owed, event_of(owed));
}

static bool wants(const struct seg_evsub *sub, uint32_t hca, uint32_t key, uint32_t id)
{
	return atomic_load(&sub->state) == EVSUB_LINKED && sub->hca == hca && sub->key == key &&
	       sub->id == id;
}

/*
 * Notes that the event `raising` is owed to a subscriber, unless somebody has done so, or the chain
 * raises another event by now.
 */
static void mark(const struct seg_evhash *c, struct seg_evsub *sub, uint32_t raising)
{
	uint32_t was = atomic_load(&sub->owed), event = event_of(raising), to;

	do {
		/*
		 * Must follow the read of `owed`: otherwise another thread may have finished this
		 * event.
		 */
		if (atomic_load(&c->raising) != raising || event_of(was) == event)
			return;
		POINT("evsub-marking");
		to = event | EVSUB_OWED | (is_queued(sub) ? 0 : EVSUB_FRESH);
	} while (!atomic_compare_exchange_weak(&sub->owed, &was, to));
}

/* Each of a chain that is not GONE; those are freed on the way. */
static void evsub_walk(struct seg *s, uint32_t n,
		       void (*each)(struct seg *s, struct seg_evhash *c, uint32_t i))
{
	struct seg_evhash *c = chain(s, n);
	uint32_t prev = 0, next, left = seg_table(s, SEG_T_EVSUB)->capacity;
	struct seg_evsub *sub;

	for (uint32_t i = c->head; (sub = sub_at(s, i)) && in_chain(sub, n) && left; i = next) {
		left--;
		next = atomic_load(&sub->next);
		if (atomic_load(&sub->state) == EVSUB_GONE) {
			unlink_sub(s, c, prev, i);
			continue;
		}
		each(s, c, i);
		prev = i;
	}
}

/*
 * Walk the table without the lock: it has every subscriber, whatever the holder was doing to the
 * chain.
 */
static void walk_unlocked(struct seg *s, uint32_t n,
			  void (*each)(struct seg *s, struct seg_evhash *c, uint32_t i))
{
	seg_for_each_live (s, SEG_T_EVSUB, i)
		if (in_chain(seg_at(s, SEG_T_EVSUB, i), n))
			each(s, chain(s, n), i);
}

/* The note of the event with this number. */
static const struct evsub_note *note_at(const struct seg_evhash *c, uint32_t raising)
{
	return &c->note[raising / EVSUB_SEQ & 1];
}

static void each_mark(struct seg *s, struct seg_evhash *c, uint32_t i)
{
	struct seg_evsub *sub = seg_at(s, SEG_T_EVSUB, i);
	uint32_t raising = atomic_load(&c->raising);
	const struct evsub_note *e = note_at(c, raising);

	/* Otherwise another thread finished this event while this one was stopped. */
	if ((raising & EVSUB_STAGE) == EVSUB_MARKS && wants(sub, e->hca, e->key, e->id))
		mark(c, sub, raising);
	POINT("evsub-mark");
}

static void each_tell(struct seg *s, struct seg_evhash *c, uint32_t i)
{
	struct seg_evsub *sub = seg_at(s, SEG_T_EVSUB, i);
	uint32_t owed = atomic_load(&sub->owed), raising = atomic_load(&c->raising);

	if ((raising & EVSUB_STAGE) == EVSUB_TELLS && owed & EVSUB_OWED &&
	    event_of(owed) == event_of(raising))
		evsub_deliver(s, i, sub, owed, note_at(c, raising)->eqe);
	POINT("evsub-tell");
}

static bool is_owed(const struct evsub_debt *d)
{
	uint32_t was = d ? atomic_load(d->word) : 0;

	return !d || (was & d->bit && (!d->unit || was / d->unit == d->serial));
}

/* False: another thread did, and the present note is of a later event. */
static bool pay(const struct evsub_debt *d)
{
	uint32_t was = atomic_load(d->word);

	do
		if (!(was & d->bit) || (d->unit && was / d->unit != d->serial))
			return false;
	while (!atomic_compare_exchange_weak(d->word, &was, was & ~d->bit));
	return true;
}

/* The debt of an event. False: it has none, or its element is gone. */
static bool debt_in(struct seg *s, const struct evsub_note *e, struct evsub_debt *d)
{
	const uint32_t *gen = e->debt ? seg_live(s, e->debt_table, e->debt_idx) : NULL;

	*d = (struct evsub_debt){(_Atomic uint32_t *)(void *)(s->base + e->debt),
				 e->debt_bit,
				 e->debt_table,
				 e->debt_idx,
				 e->debt_gen,
				 e->debt_unit,
				 e->debt_serial};
	return gen && *gen == e->debt_gen;
}

typedef void walk_by(struct seg *s, uint32_t n,
		     void (*each)(struct seg *s, struct seg_evhash *c, uint32_t i));

/* Raise the event noted in the chain's head, from the subscriber where it stopped. */
static void go_on_raising(struct seg *s, uint32_t n, walk_by *walk)
{
	struct seg_evhash *c = chain(s, n);
	uint32_t at = atomic_load(&c->raising), event = event_of(at);
	struct evsub_debt debt;
	bool noted = debt_in(s, note_at(c, at), &debt);

	/* Subscribers are still being marked, but nothing is owed: another thread has raised it. */
	if (at == (event | EVSUB_MARKS) && noted && !is_owed(&debt)) {
		atomic_compare_exchange_strong(&c->raising, &at, event | EVSUB_IDLE);
		return;
	}
	if (at == (event | EVSUB_MARKS)) {
		walk(s, n, each_mark);
		if (atomic_compare_exchange_strong(&c->raising, &at, event | EVSUB_TELLS))
			at = event | EVSUB_TELLS;
	}
	if (at == (event | EVSUB_TELLS)) {
		walk(s, n, each_tell);
		if (noted && atomic_load(&c->raising) == at) {
			POINT("evsub-pay");
			pay(&debt);
		}
		POINT("evsub-paid");
		atomic_compare_exchange_strong(&c->raising, &at, event | EVSUB_IDLE);
	}
}

static void raise_locked(struct seg *s, uint32_t n)
{
	go_on_raising(s, n, evsub_walk);
}

static void trace_raise(uint32_t key, uint32_t id)
{
	uint32_t type = key & 0xffff;
	struct rec r;

	rec_begin(&r, LOG_EVENT, "devx", 0);
	rec_group(&r, "event", "(");
	rec_code(&r, "type", type, eqe_type_name((uint8_t)type));
	rec_x(&r, "number", id);
	if (key >> 16)
		rec_x(&r, "of", key >> 16);
	rec_group_end(&r, ")");
	rec_end(&r);
}

/* Raise an event without a note, because the chain's notes are used by another event. */
static void deliver_unlocked(struct seg *s, uint32_t idx, struct seg_evsub *sub, const uint8_t *eqe)
{
	const struct seg_evsrc src = {.table = SEG_T_EVSUB, .idx = idx, .gen = sub->gen};
	int r = 0;

	if (sub->eventfd) {
		atomic_fetch_add(&sub->signals_unlocked, 1);
		have_it_written(s, sub);
	} else if (!sub->omit) {
		r = evq_push_data(s, sub->evq, sub->evq_gen, src, sub->cookie, eqe, EVSUB_EQE);
	} else if (!is_queued(sub)) {
		uint32_t was = atomic_load(&sub->queued);
		uint32_t to = (event_of(was) + EVSUB_SEQ) | EVSUB_AROUND;

		if (atomic_compare_exchange_strong(&sub->queued, &was, to))
			r = evq_push(s, sub->evq, sub->evq_gen, src, sub->cookie, 0, 0);
		if (r)
			atomic_compare_exchange_strong(&sub->queued, &to, to | EVSUB_READ);
	}
	if (r && r != -ENOENT)
		evq_lost(s, sub->evq, sub->evq_gen);
}

/* The holder keeps the lock, and its notes in the chain and at the subscribers stay. */
static void raise_unlocked(struct seg *s, uint32_t n, uint32_t hca, uint32_t key, uint32_t id,
			   const uint8_t *eqe)
{
	seg_for_each_live (s, SEG_T_EVSUB, i) {
		struct seg_evsub *sub = seg_at(s, SEG_T_EVSUB, i);

		if (in_chain(sub, n) && wants(sub, hca, key, id))
			deliver_unlocked(s, i, sub, eqe);
	}
}

/* The next number: even for the holder of the lock, odd for who goes around it. Never 0. */
static uint32_t next_event(uint32_t was, bool around)
{
	do
		was = event_of(event_of(was) + EVSUB_SEQ);
	while (!was || (was / EVSUB_SEQ & 1) != around);
	return was;
}

/*
 * Raise an event under one of the two locks: note it, then make it the one that is being raised. An
 * event that another thread raises or has left is finished first.
 */
static void raise_noted(struct seg *s, uint32_t n, const struct evsub_note *e, bool around,
			walk_by *walk)
{
	struct seg_evhash *c = chain(s, n);
	uint32_t was;

	c->note[around] = *e;
	atomic_thread_fence(memory_order_release);
	POINT("evsub-noted");
	do {
		while ((was = atomic_load(&c->raising)) & EVSUB_STAGE)
			go_on_raising(s, n, walk);
	} while (!atomic_compare_exchange_strong(&c->raising, &was,
						 next_event(was, around) | EVSUB_MARKS));
	POINT("evsub-raising");
	go_on_raising(s, n, walk);
}

static struct evsub_note note_of(const struct seg *s, uint32_t hca, uint32_t key, uint32_t id,
				 const uint8_t *eqe, const struct evsub_debt *debt)
{
	struct evsub_note e = {.hca = hca, .key = key, .id = id};

	if (debt) {
		e.debt = (uint64_t)((uint8_t *)debt->word - s->base);
		e.debt_bit = debt->bit;
		e.debt_unit = debt->unit;
		e.debt_serial = debt->serial;
		e.debt_table = debt->table;
		e.debt_idx = debt->idx;
		e.debt_gen = debt->gen;
	}
	memcpy(e.eqe, eqe, EVSUB_EQE);
	return e;
}

/*
 * The lock's holder is stopped: finish the event that it was raising, perhaps this one, then raise
 * this one. If this thread dies, too, the next one to raise finishes it. False: a second stopped
 * process is in the way.
 */
static bool raise_beside(struct seg *s, uint32_t n, const struct evsub_note *e,
			 const struct evsub_debt *debt)
{
	struct seg_evhash *c = chain(s, n);

	if (seg_lock(s, &c->around, SEG_LOCK_DATA_NS) < 0)
		return false;
	go_on_raising(s, n, walk_unlocked);
	if (is_owed(debt))
		raise_noted(s, n, e, true, walk_unlocked);
	seg_unlock(s, &c->around);
	return true;
}

/* The chain's lock cannot be had. False: its holder runs, and may be raising just this. */
static bool raise_around(struct seg *s, uint32_t n, const struct evsub_note *e,
			 const struct evsub_debt *debt)
{
	uint32_t word, slot;
	bool held = seg_lock_holder(s, &chain(s, n)->lock, &word, &slot);

	if (held && who_stopped(s, seg_lock_who(word))) {
		if (raise_beside(s, n, e, debt))
			return true;
		go_on_raising(s, n, walk_unlocked);
	} else if (debt) {
		return false;
	}
	if (!debt || pay(debt))
		raise_unlocked(s, n, e->hca, e->key, e->id, e->eqe);
	return true;
}

bool evsub_raise_owed(struct seg *s, uint32_t hca, uint32_t key, uint32_t id,
		      const uint8_t eqe[EVSUB_EQE], const struct evsub_debt *debt)
{
	uint32_t n = chain_of(hca, key, id);
	struct seg_evhash *c = chain(s, n);
	struct evsub_note e;

	if (!atomic_load(&c->head)) {
		if (debt)
			pay(debt);
		return true;
	}
	if (TRACE_ON(LOG_EVENT))
		trace_raise(key, id);
	e = note_of(s, hca, key, id, eqe, debt);
	if (lock_chain(s, n, SEG_LOCK_DATA_NS))
		return raise_around(s, n, &e, debt);
	raise_locked(s, n);
	if (is_owed(debt))
		raise_noted(s, n, &e, false, evsub_walk);
	seg_unlock(s, &c->lock);
	return true;
}

void evsub_raise(struct seg *s, uint32_t hca, uint32_t key, uint32_t id,
		 const uint8_t eqe[EVSUB_EQE])
{
	evsub_raise_owed(s, hca, key, id, eqe, NULL);
}

void evsub_signal_own(struct seg *s)
{
	struct seg_proc *self = s->self == SEG_NONE ? NULL : seg_proc(s, s->self);

	if (!self || !atomic_exchange(&self->signals, 0))
		return;
	seg_for_each_live (s, SEG_T_EVSUB, i) {
		struct seg_evsub *sub = seg_at(s, SEG_T_EVSUB, i);

		if (sub->eventfd && mem_is_self(s, sub->mem))
			flush_eventfd(sub);
	}
}
