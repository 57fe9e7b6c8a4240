/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns event queues: opens and closes them and reads their records. Any process pushes records
 * (evq_push.c), in traps too.
 *
 * Pushing takes no lock, so a process that is stopped or killed in it delays nobody: a record is
 * claimed, filled and put on top of a stack (`newest`, and `next` to the record before) by one
 * compare-and-swap. Readers, under the lock, walk down the stack from `newest` and link the records
 * upwards (`after`); `head` is the oldest. A reference contains index and generation, so the stack
 * ends where a record was taken. All that readers note can be rebuilt from the stack after the
 * lock's holder has died.
 *
 * The state of a record shows what a dead process left undone: EVQ_MAKING is not linked, EVQ_LINKED
 * has no byte in the FIFO yet, EVQ_TELLING may have one. The supervisor looks after each death
 * (evq_repair()). A reader that takes a record marks it EVQ_TAKEN. The pusher of an EVQ_LINKED one
 * then writes no byte; the pusher of an EVQ_TELLING one, which was stopped, checks whether its byte
 * was one too many. An EVQ_TOLD one becomes EVQ_TAKEN or, by evq_drop(), EVQ_DROPPED: one of the
 * two.
 */
#include "hw/mad.h"
#include "hw/qp_state.h"
#include "hw/evq_priv.h"
#include "hw/evsub.h"
#include "hw/for_tests.h"
#include "segment/proc.h"
#include "util/log.h"
#include "util/point.h"
#include "util/sys.h"

#include <errno.h>
#include <string.h>

/*
 * How often a reader checks for a pusher that has linked its record but not written its byte yet.
 */
#define UNTOLD_SPINS 20
#define UNTOLD_NAPS 60
#define UNTOLD_NAP_NS 50000L

/*
 * Value of seg_evrec.src.table: the object was destroyed, and the record is dropped once it is the
 * oldest.
 */
#define PURGED (SEG_T_COUNT + 1)

static uint64_t ref_at(struct seg *s, uint32_t i)
{
	const struct seg_evrec *r = i ? seg_live(s, SEG_T_EVREC, i) : NULL;

	return r ? EVQ_REF(r->gen, i) : 0;
}

/* ---- the list, under the lock */

/*
 * Link the records pushed since the last call upwards (`after`), from the newest known or the end.
 */
static void absorb(struct seg *s, struct seg_evq *q)
{
	uint64_t newest = atomic_load(&q->newest), ref = newest, above = 0;
	uint32_t left = seg_table(s, SEG_T_EVREC)->capacity;
	struct seg_evrec *r;

	if (newest == q->known)
		return;
	for (; ref != q->known && (r = evq_rec(s, ref)) && left; ref = atomic_load(&r->next)) {
		r->after = EVQ_REF_IDX(above);
		above = ref;
		left--;
	}
	r = ref == q->known ? evq_rec(s, ref) : NULL;
	if (r)
		r->after = EVQ_REF_IDX(above);
	else
		q->head = above;
	POINT("evq-absorb");
	q->known = newest;
}

/*
 * Telling usually takes a microsecond. A reader that the byte has woken on the pusher's processor
 * sleeps until the pusher has finished (evq_wake_readers()): otherwise it would take the processor
 * back too early.
 */
static void wait_until_told(struct seg *s, struct seg_evq *q, struct seg_evrec *r)
{
	for (int i = 0; evq_rec_is(r, EVQ_TELLING) && i < UNTOLD_SPINS + UNTOLD_NAPS; i++) {
		uint32_t seen = atomic_load(&q->wake);

		if (i < UNTOLD_SPINS) {
			sys_cpu_relax();
		} else if (evq_pusher_dead(s, r)) {
			break;
		} else {
			atomic_fetch_add(&q->sleepers, 1);
			if (evq_rec_is(r, EVQ_TELLING))
				sys_futex_wait(&q->wake, seen, UNTOLD_NAP_NS);
			atomic_fetch_sub(&q->sleepers, 1);
		}
	}
}

/* Remove the oldest record; the caller gets its data. `fd`: the FIFO's, or -1: open it by path. */
static void remove_head(struct seg *s, uint32_t evq, struct seg_evq *q, struct seg_evrec *r, int fd)
{
	uint64_t ref = q->head;

	if (!evq_rec_change(r, r->gen, EVQ_LINKED, EVQ_TAKEN) && evq_rec_is(r, EVQ_TELLING)) {
		wait_until_told(s, q, r);
		evq_rec_change(r, r->gen, EVQ_TELLING, EVQ_TAKEN);
	}
	/*
	 * The last record: drain the bytes first, so that a death never leaves bytes without a
	 * record.
	 */
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
		evq_count_down(q, r->len);
	evq_debt_paid(s, r, ref);
	POINT("evq-remove");
	q->head = ref_at(s, r->after);
	evq_rec_free(s, ref);
}

/* ---- sources */

/* The oldest record whose source lives; those before it are dropped. NULL: empty. */
static struct seg_evrec *first(struct seg *s, uint32_t evq, struct seg_evq *q, int fd,
			       _Atomic uint32_t **counter)
{
	struct seg_evrec *r;

	while ((r = evq_rec(s, q->head))) {
		const struct seg_evrec was = *r;

		if (r->src.table != PURGED && !evq_rec_is(r, EVQ_DROPPED) &&
		    evq_source(s, &r->src, counter))
			return r;
		remove_head(s, evq, q, r, fd);
		evq_data_free(s, &was);
	}
	return NULL;
}

/* Rebuild everything from the stack, and finish what dead pushers left. */
static void evq_repair_queue(struct seg *s, uint32_t evq, struct seg_evq *q)
{
	uint64_t bytes = 0;
	_Atomic uint32_t *counter;
	uint32_t n = 0;
	struct seg_evrec *r;

	q->head = q->known = 0;
	atomic_fetch_add(&q->drains, 1); /* the dead one may have been emptying the FIFO */
	absorb(s, q);
	for (uint32_t i = EVQ_REF_IDX(q->head); i; i = r->after) {
		r = seg_at(s, SEG_T_EVREC, i);
		if (evq_pusher_dead(s, r) && !evq_rec_change(r, r->gen, EVQ_LINKED, EVQ_TOLD))
			evq_rec_change(r, r->gen, EVQ_TELLING, EVQ_TOLD);
		if (r->src.table == PURGED)
			continue;
		n++;
		bytes += r->len;
	}
	/*
	 * A dead pusher's record that is not linked by now will never be (linked ones are
	 * EVQ_TOLD).
	 */
	seg_for_each_owned (s, SEG_T_EVREC, evq + 1, i) {
		r = seg_at(s, SEG_T_EVREC, i);
		if (evq_pusher_dead(s, r) && (evq_rec_is(r, EVQ_MAKING) ||
					      evq_rec_is(r, EVQ_LINKED) || evq_rec_is(r, EVQ_GONE)))
			evq_rec_unmake(s, EVQ_REF(r->gen, i));
	}
	atomic_store(&q->count, n);
	atomic_store(&q->bytes, bytes);
	first(s, evq, q, -1, &counter);
	TRACE(LOG_EVENT, "evq %u repaired: %u records", evq, n);
}

/* Make the FIFO agree, whatever was begun: it is readable exactly if there is something to read. */
static void agree(struct seg *s, uint32_t evq, struct seg_evq *q)
{
	if (evq_ready(s, q)) {
		evq_tell(s, evq, q->gen, q);
		return;
	}
	atomic_store(&q->byte, 1);
	evq_settle(s, evq, q, -1);
}

/* Lock the queue: 0 and *out, to be unlocked by evq_leave(); or -ENOENT, -ETIMEDOUT. */
static int evq_enter(struct seg *s, uint32_t evq, uint32_t gen, uint64_t ns, struct seg_evq **out)
{
	struct seg_evq *q = seg_live(s, SEG_T_EVQ, evq);
	int r;

	if (!q || q->gen != gen)
		return -ENOENT;
	/* A reader that finds the lock held by a stopped process tries again (evq_wait()). */
	r = ns >= SEG_LOCK_CTRL_NS ? seg_lock_if_runs(s, &q->lock) : seg_lock(s, &q->lock, ns);
	if (r < 0)
		return r;
	if (seg_live(s, SEG_T_EVQ, evq) != q || q->gen != gen) {
		seg_unlock(s, &q->lock);
		return -ENOENT;
	}
	if (r == SEG_LOCK_INHERITED) {
		evq_repair_queue(s, evq, q);
		agree(s, evq, q);
	}
	absorb(s, q);
	*out = q;
	return 0;
}

/* The caller does it if the lock is free; else the holder does: it checks again after unlocking. */
void evq_attend(struct seg *s, uint32_t evq, struct seg_evq *q)
{
	while (atomic_load(&q->asked)) {
		int r = seg_trylock(s, &q->lock);
		_Atomic uint32_t *counter;
		uint32_t asked;

		if (r < 0)
			return;
		asked = atomic_exchange(&q->asked, 0);
		if ((asked & EVQ_ASK_REPAIR) || r == SEG_LOCK_INHERITED)
			evq_repair_queue(s, evq, q);
		POINT("evq-attend");
		if (asked == EVQ_ASK_DROP && r != SEG_LOCK_INHERITED) {
			absorb(s, q);
			first(s, evq, q, -1, &counter);
			evq_settle(s, evq, q, -1);
		} else {
			agree(s, evq, q);
		}
		seg_unlock(s, &q->lock);
	}
}

static void evq_leave(struct seg *s, uint32_t evq, struct seg_evq *q)
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
	if (evq_is_held(s, file))
		return -EBUSY;
	r = seg_alloc_at(s, SEG_T_EVQ, file + 1, file);
	if (r)
		return r;
	q = seg_at(s, SEG_T_EVQ, file);
	q->max = max;
	q->known = EVQ_REF(f->gen, 0);
	/* Choose a value that no late pusher to an earlier queue of this index can have seen. */
	atomic_store(&q->newest, EVQ_REF(f->gen, 0));
	/* The same for `told`. */
	atomic_store(&q->drains, f->gen * 0x9e3779b1u);
	q->gen = f->gen;
	return 0;
}

bool evq_is_held(struct seg *s, uint32_t file)
{
	struct seg_evq *q = seg_at(s, SEG_T_EVQ, file);
	uint32_t word, slot;

	return q && seg_lock_holder(s, &q->lock, &word, &slot) && !seg_lock_orphaned(s, &q->lock);
}

/* Free all records of the queue; nothing is pushed to it any more. */
static void free_stack(struct seg *s, struct seg_evq *q)
{
	uint32_t left = seg_table(s, SEG_T_EVREC)->capacity;
	const struct seg_evrec *r;
	uint64_t below;

	for (uint64_t at = atomic_exchange(&q->newest, 0); (r = evq_rec(s, at)) && left;
	     at = below, left--) {
		below = atomic_load(&r->next);
		evq_rec_free(s, at);
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

		if (evq_rec_is_pushers(s, r) && is_among(s, r->data, piece))
			return true;
	}
	return false;
}

/*
 * Does the piece belong to a long MAD that outlives the file, because a process works on it?
 * `piece` 0: does any?
 */
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

		if (evq_rec_is_pushers(s, r))
			pushers++;
		else
			evq_rec_free(s, EVQ_REF(r->gen, i));
	}
	mads = is_mads_data(s, file + 1, 0);
	seg_for_each_owned (s, SEG_T_EVBUF, file + 1, i)
		if (!(pushers && is_pushers_data(s, file, i)) &&
		    !(mads && is_mads_data(s, file + 1, i)))
			seg_free_of(s, SEG_T_EVBUF, file + 1, i);
	if (locked)
		seg_unlock(s, &q->lock);
}

static void evq_drop_all(struct seg *s, uint32_t evq, struct seg_evq *q)
{
	struct seg_evrec *r;

	while ((r = evq_rec(s, q->head))) {
		const struct seg_evrec was = *r;

		remove_head(s, evq, q, r, -1);
		evq_data_free(s, &was);
	}
}

/* Claims the oldest record for this reader. False: evq_drop() was faster. */
static bool claim(struct seg *s, struct seg_evq *q, struct seg_evrec *r)
{
	wait_until_told(s, q, r);
	return evq_rec_claim(r);
}

static int take_locked(struct seg *s, uint32_t evq, struct seg_evq *q, int fd, size_t least,
		       size_t room, struct seg_evrec *rec)
{
	_Atomic uint32_t *counter;
	struct seg_evrec *r;

	if (atomic_load(&q->dead) == EVQ_CLEARED)
		evq_drop_all(s, evq, q);
	else if (atomic_exchange(&q->lost, 0))
		return -EOVERFLOW;
	do {
		r = first(s, evq, q, fd, &counter);
		if (!r)
			return atomic_load(&q->dead) ? -EIO : -EAGAIN;
		if (room < least + r->len)
			return -EMSGSIZE;
	} while (!claim(s, q, r));
	*rec = *r;
	if (counter)
		atomic_fetch_add(counter, 1);
	evq_source_read(s, &r->src);
	remove_head(s, evq, q, r, fd);
	/* Dropped records behind this one go as well: they do not make the file readable. */
	first(s, evq, q, fd, &counter);
	return 0;
}

/* Nothing to read, and the FIFO has no stray byte either: no need for the lock. */
static bool is_idle(struct seg *s, uint32_t evq, uint32_t gen)
{
	const struct seg_evq *q = seg_live(s, SEG_T_EVQ, evq);

	return q && q->gen == gen && atomic_load(&q->lazy) == EVQ_LAZY && !atomic_load(&q->byte) &&
	       !atomic_load(&q->asked) && !evq_ready(s, q);
}

int evq_take(struct seg *s, uint32_t evq, uint32_t gen, int fd, size_t fixed, size_t room,
	     struct seg_evrec *rec)
{
	struct seg_evq *q;
	int ret = is_idle(s, evq, gen) ? -EAGAIN : evq_enter(s, evq, gen, SEG_LOCK_CTRL_NS, &q);

	if (ret)
		return ret;
	ret = take_locked(s, evq, q, fd, fixed, room, rec);
	if (!ret)
		evq_taken(q);
	/* Found nothing: the FIFO may have a stray byte, so check it. */
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

/* Link the record below the oldest, or as the only one. */
static void link_oldest(struct seg *s, struct seg_evq *q, uint64_t me)
{
	struct seg_evrec *r = seg_at(s, SEG_T_EVREC, EVQ_REF_IDX(me)), *head;
	uint64_t was;

	evq_rec_change(r, r->gen, EVQ_MAKING, EVQ_TOLD);
	do {
		absorb(s, q);
		head = evq_rec(s, q->head);
		r->after = head ? EVQ_REF_IDX(q->head) : 0;
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
	ret = evq_rec_make(s, evq, rec, &ref);
	if (!ret) {
		atomic_fetch_add(&q->count, 1);
		atomic_fetch_add(&q->bytes, rec->len);
		link_oldest(s, q, ref);
		/*
		 * If the queue is closed by now, take the record back; if not, evq_close() finds
		 * it.
		 */
		if (!evq_is_open(s, evq, gen, q)) {
			evq_rec_free(s, ref);
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

uint32_t evq_purge(struct seg *s, uint32_t evq, uint32_t gen, uint32_t table, uint32_t idx)
{
	_Atomic uint32_t *counter;
	uint32_t types = 0;
	struct seg_evrec *r;
	struct seg_evq *q;

	/* If this fails, nothing is lost: evq_pop() drops records without a living source. */
	if (evq_enter(s, evq, gen, SEG_LOCK_CTRL_NS, &q))
		return 0;
	for (uint32_t i = EVQ_REF_IDX(q->head); i; i = r->after) {
		r = seg_at(s, SEG_T_EVREC, i);
		if (r->src.table != table || r->src.idx != idx)
			continue;
		types |= evq_rec_is(r, EVQ_TOLD) && r->type < 32 ? 1u << r->type : 0;
		r->src.table = PURGED;
		evq_count_down(q, r->len);
		evq_data_free(s, r);
		r->len = 0;
	}
	first(s, evq, q, -1, &counter);
	evq_settle(s, evq, q, -1);
	evq_leave(s, evq, q);
	return types;
}

static void kill_queue(struct seg *s, uint32_t evq, uint32_t gen, uint32_t how)
{
	struct seg_evq *q = seg_live(s, SEG_T_EVQ, evq);

	if (!q || q->gen != gen)
		return;
	atomic_store(&q->dead, how);
	evq_tell(s, evq, q->gen, q);
	if (how == EVQ_CLEARED && !evq_enter(s, evq, gen, SEG_LOCK_DATA_NS, &q)) {
		evq_drop_all(s, evq, q);
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

		if (!evq_pusher_dead(s, r) || evq_rec_is(r, EVQ_TOLD))
			continue;
		q = seg_live(s, SEG_T_EVQ, seg_owner(s, SEG_T_EVREC, i) - 1);
		if (q)
			atomic_fetch_or(&q->asked, EVQ_ASK_REPAIR);
		else
			evq_rec_unmake(s, EVQ_REF(r->gen, i));
	}
	seg_for_each_live (s, SEG_T_EVQ, i) {
		struct seg_evq *q = seg_at(s, SEG_T_EVQ, i);

		/*
		 * The lock may have a dead holder, a loss may be unreported, or taken records may
		 * have left bytes.
		 */
		if (atomic_load(&q->lock.word) || atomic_load(&q->lost) ||
		    (atomic_load(&q->byte) && !evq_ready(s, q)) ||
		    atomic_load(&q->lazy) == EVQ_PUBLISHING)
			atomic_fetch_or(&q->asked, EVQ_ASK_REPAIR);
		evq_attend(s, i, q);
		/* A dead pusher may have told of its record, and woken nobody. */
		if (evq_ready(s, q))
			evq_wake_readers(q);
	}
}
