/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns event queues. Pushed by any process, in traps too, popped by the readers of the file; all of
 * it under the queue's lock.
 *
 * If a holder of the lock dies, the next one repairs the list from `head` alone. The order of
 * stores is made for that: `head` and `next` first, `tail` and `count` after. The byte goes into
 * the FIFO before the record is linked: a reader that it wakes waits for the lock, and a pusher
 * that is killed in between leaves a byte too many, not a record that nobody is woken for.
 */
#include "segment/evq.h"
#include "segment/evsub.h"
#include "segment/hw.h"
#include "segment/link.h"
#include "segment/proc.h"
#include "util/clock.h"
#include "util/fmt.h"
#include "util/log.h"
#include "util/point.h"
#include "util/sys.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

/* A queue whose lock a stopped process holds may have records: its readers look again so soon. */
#define LOCKED_NS 10000000L

enum { REC_LINKED = 1 }; /* seg_evrec.flags, during repair only */

void evq_path(const struct seg *s, uint32_t evq, uint32_t gen, char path[320])
{
	fmt(path, 320, "%s/ev/%u.%u", s->dir, evq, gen); /* also in a trap: no stdio */
}

static struct seg_evrec *rec_at(struct seg *s, uint32_t i)
{
	return i ? seg_live(s, SEG_T_EVREC, i) : NULL;
}

/* ---- what the source of an event has noted */

/* The word and the bit of it; NULL: the source is no more. */
static _Atomic uint32_t *debt_of(struct seg *s, const struct seg_evsrc *src, uint32_t type,
				 uint32_t *bit)
{
	uint32_t *gen =
		src->table < SEG_T_COUNT && src->idx ? seg_live(s, src->table, src->idx) : NULL;

	*bit = 1u << (type & 31);
	if (!gen || *gen != src->gen)
		return NULL;
	switch (src->table) {
	case SEG_T_CQ:
		if (src->counter)
			return &((struct hw_cq *)gen)->async.owed;
		*bit = HW_CQ_OWES;
		return &((struct hw_cq *)gen)->armed;
	case SEG_T_QP:
		return &((struct hw_qp *)gen)->async.owed;
	case SEG_T_SRQ:
		return &((struct hw_srq *)gen)->async.owed;
	case SEG_T_SHARE:
		return &((struct hw_share *)gen)->async.owed;
	case SEG_T_EVSUB:
		*bit = 1;
		return &((struct seg_evsub *)gen)->owed;
	}
	return NULL;
}

static bool is_owed(struct seg *s, const struct seg_evrec *r)
{
	uint32_t bit;
	const _Atomic uint32_t *debt = debt_of(s, &r->src, r->type, &bit);

	return debt && (atomic_load(debt) & bit);
}

static void paid(struct seg *s, const struct seg_evrec *r)
{
	uint32_t bit;
	_Atomic uint32_t *debt = debt_of(s, &r->src, r->type, &bit);

	if (!debt || !(atomic_load(debt) & bit))
		return;
	if (r->src.table == SEG_T_EVSUB)
		atomic_store(&((struct seg_evsub *)seg_at(s, SEG_T_EVSUB, r->src.idx))->queued, 1);
	atomic_fetch_and(debt, ~bit);
}

/* ---- the list, under the lock */

static void repair(struct seg *s, uint32_t evq, struct seg_evq *q)
{
	uint32_t n = 0, last = 0, i;
	uint64_t bytes = 0;
	struct seg_evrec *r;

	seg_for_each_owned (s, SEG_T_EVREC, evq + 1, k)
		((struct seg_evrec *)seg_at(s, SEG_T_EVREC, k))->flags = 0;
	/* As far as it makes sense: live, ours, not met before. */
	for (i = q->head; (r = rec_at(s, i)); i = r->next) {
		if (seg_owner(s, SEG_T_EVREC, i) != evq + 1 || (r->flags & REC_LINKED))
			break;
		r->flags |= REC_LINKED;
		last = i;
		bytes += r->len;
		n++;
	}
	if (last)
		((struct seg_evrec *)seg_at(s, SEG_T_EVREC, last))->next = 0;
	else
		q->head = 0;
	q->tail = last;
	q->count = n;
	i = atomic_load(&q->linking);
	r = rec_at(s, i);
	if (r && seg_owner(s, SEG_T_EVREC, i) == evq + 1 && (r->flags & REC_LINKED))
		paid(s, r);
	atomic_store(&q->linking, 0);
	seg_for_each_owned (s, SEG_T_EVREC, evq + 1, k) {
		r = seg_at(s, SEG_T_EVREC, k);
		if (!(r->flags & REC_LINKED))
			seg_free(s, SEG_T_EVREC, k);
		r->flags = 0;
	}
	q->bytes = bytes;
	TRACE(LOG_EVENT, "evq %u repaired: %u records", evq, n);
}

/* The locked queue in *out, or -ENOENT, -ETIMEDOUT. */
static int lock_queue(struct seg *s, uint32_t evq, uint32_t gen, uint64_t ns, struct seg_evq **out)
{
	struct seg_evq *q = seg_live(s, SEG_T_EVQ, evq);
	int r;

	if (!q || q->gen != gen)
		return -ENOENT;
	r = seg_lock(s, &q->lock, ns);
	if (r < 0)
		return r;
	if (seg_live(s, SEG_T_EVQ, evq) != q || q->gen != gen) {
		seg_unlock(s, &q->lock);
		return -ENOENT;
	}
	if (r == SEG_LOCK_INHERITED)
		repair(s, evq, q);
	*out = q;
	return 0;
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

/* Unlink and free record i, which follows `prev` (0: is the head); its data is the caller's. */
static void unlink_rec(struct seg *s, struct seg_evq *q, uint32_t prev, uint32_t i)
{
	struct seg_evrec *r = seg_at(s, SEG_T_EVREC, i);
	uint32_t next = r->next;

	if (prev)
		((struct seg_evrec *)seg_at(s, SEG_T_EVREC, prev))->next = next;
	else
		q->head = next;
	if (q->tail == i)
		q->tail = prev;
	q->count--;
	q->bytes -= r->len;
	seg_free(s, SEG_T_EVREC, i);
}

/* ---- the FIFO */

static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
	uint32_t evq, gen;
	int fd;
} hint = {.fd = -1};

void evq_hint(uint32_t evq, uint32_t gen, int fd)
{
	hint.evq = evq;
	hint.gen = gen;
	hint.fd = fd;
}

/*
 * By path, as the reader may be any process. Where that cannot be done (no descriptor left, another
 * root directory or user by now) the supervisor does it.
 */
static int write_byte(struct seg *s, uint32_t evq, uint32_t gen)
{
	char path[320], byte = 1;
	ssize_t r;
	int fd, n;

	/* Full of bytes is readable too; the descriptor may be a blocking one. */
	if (hint.fd >= 0 && hint.evq == evq && hint.gen == gen && !sys_ioctl(hint.fd, FIONREAD, &n))
		return n || sys_write(hint.fd, &byte, 1) == 1 ? 0 : -EIO;
	evq_path(s, evq, gen, path);
	fd = sys_openat(AT_FDCWD, path, O_WRONLY | O_NONBLOCK | O_CLOEXEC, 0);
	if (fd < 0)
		return link_wake(s, evq, gen);
	r = sys_write(fd, &byte, 1);
	sys_close(fd);
	return r == -EAGAIN ? 0 : r < 0 ? (int)r : 0; /* EAGAIN: full of bytes: readable */
}

/* Who is not counted yet finds that `wake` has changed. */
static void wake_readers(struct seg_evq *q)
{
	atomic_fetch_add(&q->wake, 1);
	if (atomic_load(&q->sleepers))
		sys_futex_wake(&q->wake, INT_MAX);
}

/* Only what is there: the descriptor may be a blocking one, and the lock is held. */
static void drain(int fd)
{
	char buf[256];

	while (fd >= 0 && sys_readable(fd) > 0)
		if (sys_read(fd, buf, sizeof(buf)) <= 0)
			return;
}

/* ---- sources */

/* The source's counter; NULL for an event without one. False: its object is no more. */
static bool source(struct seg *s, const struct seg_evsrc *src, _Atomic uint32_t **counter)
{
	uint32_t *gen = NULL;

	*counter = NULL;
	if (src->table >= SEG_T_COUNT || !src->idx)
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

/* rec->data, rec->len: a copy of `len` bytes. 0 or -ENOSPC. */
static int data_make(struct seg *s, uint32_t owner, const uint8_t *from, uint32_t len,
		     struct seg_evrec *rec)
{
	uint32_t *link = &rec->data;

	rec->data = 0;
	for (rec->len = 0; rec->len < len;) {
		uint32_t n = len - rec->len < EVQ_PIECE ? len - rec->len : EVQ_PIECE, i;
		struct seg_evdata *d;

		if (seg_alloc(s, SEG_T_EVBUF, owner, &i)) {
			evq_data_free(s, rec);
			return -ENOSPC;
		}
		d = seg_at(s, SEG_T_EVBUF, i);
		memcpy(d->bytes, from + rec->len, n);
		*link = i;
		link = &d->next;
		rec->len += n;
	}
	return 0;
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
	q->gen = f->gen;
	return 0;
}

void evq_close(struct seg *s, uint32_t file)
{
	struct seg_evq *q = seg_live(s, SEG_T_EVQ, file);
	bool locked;

	if (!q)
		return;
	/* A pusher that is stopped inside may still link a record: it goes with the file's next. */
	locked = seg_lock(s, &q->lock, SEG_LOCK_CTRL_NS) >= 0;
	seg_for_each_owned (s, SEG_T_EVREC, file + 1, i)
		seg_free(s, SEG_T_EVREC, i);
	seg_for_each_owned (s, SEG_T_EVBUF, file + 1, i)
		seg_free(s, SEG_T_EVBUF, i);
	seg_free(s, SEG_T_EVQ, file);
	if (locked)
		seg_unlock(s, &q->lock);
}

static void signal_readers(struct seg *s, uint32_t evq, struct seg_evq *q)
{
	int err = 0;

	if (!atomic_load(&q->lazy) || atomic_load(&q->pollers)) {
		atomic_store(&q->byte, 1);
		err = write_byte(s, evq, q->gen);
	}
	q->silent = err != 0;
	wake_readers(q);
	if (err)
		TRACE(LOG_EVENT, "evq %u: who polls it is not woken: %d", evq, err);
}

static int push_locked(struct seg *s, uint32_t evq, struct seg_evq *q, const struct seg_evrec *from)
{
	struct seg_evrec *r, *tail;
	uint32_t i;

	if (q->dead)
		return -ENOENT;
	if ((q->max && q->count >= q->max) || seg_alloc(s, SEG_T_EVREC, evq + 1, &i)) {
		q->dropped++;
		return -ENOSPC;
	}
	POINT("evq-alloc");
	r = seg_at(s, SEG_T_EVREC, i);
	r->src = from->src;
	r->cookie = from->cookie;
	r->type = from->type;
	r->extra = from->extra;
	r->data = from->data;
	r->len = from->len;
	if (!q->count || q->silent)
		signal_readers(s, evq, q);
	POINT("evq-signalled");
	atomic_store_explicit(&q->linking, i, memory_order_release);
	tail = rec_at(s, q->tail);
	if (tail)
		tail->next = i;
	else
		q->head = i;
	POINT("evq-linked");
	q->tail = i;
	q->count++;
	q->bytes += r->len;
	return 0;
}

static int push(struct seg *s, uint32_t evq, uint32_t gen, const struct seg_evrec *rec)
{
	struct seg_evq *q;
	int r = lock_queue(s, evq, gen, SEG_LOCK_DATA_NS, &q);

	if (r)
		return r;
	r = push_locked(s, evq, q, rec);
	atomic_store_explicit(&q->linking, 0, memory_order_release);
	seg_unlock(s, &q->lock);
	if (r) /* else whoever raises it has said so */
		TRACE(LOG_EVENT, "evq %u: push table %u idx %#x type %u: %d", evq, rec->src.table,
		      rec->src.idx, rec->type, r);
	return r;
}

int evq_push(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evsrc src, uint64_t cookie,
	     uint32_t type, uint32_t extra)
{
	const struct seg_evrec rec = {.src = src, .cookie = cookie, .type = type, .extra = extra};

	return push(s, evq, gen, &rec);
}

int evq_push_data(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evsrc src, uint64_t cookie,
		  const void *data, uint32_t len)
{
	struct seg_evrec rec = {.src = src, .cookie = cookie};
	int r = data_make(s, evq + 1, data, len, &rec);

	if (r)
		return r;
	r = push(s, evq, gen, &rec);
	if (r)
		evq_data_free(s, &rec);
	return r;
}

int evq_push_owed(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evsrc src, uint64_t cookie,
		  uint32_t type, const void *data, uint32_t len)
{
	struct seg_evrec rec = {.src = src, .cookie = cookie, .type = type};
	struct seg_evq *q;
	bool owed;
	int r = lock_queue(s, evq, gen, SEG_LOCK_DATA_NS, &q);

	if (r == -ENOENT)
		paid(s, &rec);
	if (r)
		return r;
	POINT("evq-locked");
	owed = is_owed(s, &rec);
	if (owed && len)
		r = data_make(s, evq + 1, data, len, &rec);
	if (r)
		rec.data = rec.len = 0;
	if (owed && !r)
		r = push_locked(s, evq, q, &rec);
	/* What cannot be queued is lost: the caller says so. */
	if (owed)
		paid(s, &rec);
	POINT("evq-paid");
	atomic_store_explicit(&q->linking, 0, memory_order_release);
	seg_unlock(s, &q->lock);
	if (r)
		evq_data_free(s, &rec);
	if (r)
		TRACE(LOG_EVENT, "evq %u: push table %u idx %#x type %u: %d", evq, src.table,
		      src.idx, type, r);
	return r;
}

int evq_push_pieces(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evsrc src,
		    uint64_t cookie, uint32_t head, uint32_t len)
{
	const struct seg_evrec rec = {.src = src, .cookie = cookie, .data = head, .len = len};

	return push(s, evq, gen, &rec);
}

/* The first record whose source lives, at the head; those before it are dropped. NULL: empty. */
static struct seg_evrec *first(struct seg *s, struct seg_evq *q, _Atomic uint32_t **counter)
{
	struct seg_evrec *r;

	while ((r = rec_at(s, q->head))) {
		const struct seg_evrec was = *r;

		if (source(s, &r->src, counter))
			return r;
		unlink_rec(s, q, 0, q->head);
		evq_data_free(s, &was);
	}
	return NULL;
}

static int take_locked(struct seg *s, struct seg_evq *q, size_t fixed, size_t room,
		       struct seg_evrec *rec)
{
	_Atomic uint32_t *counter;
	struct seg_evrec *r;

	if (atomic_exchange(&q->lost, 0))
		return -EOVERFLOW;
	r = first(s, q, &counter);
	if (!r)
		return q->dead ? -EIO : -EAGAIN;
	if (room < fixed + r->len)
		return -EMSGSIZE;
	*rec = *r;
	if (counter)
		atomic_fetch_add(counter, 1);
	unlink_rec(s, q, 0, q->head);
	return 0;
}

/* ---- a queue that is filled faster than it is read */

/* Of the calling thread, whatever its process: a number that most others have not. */
static uint32_t this_thread(void)
{
	return (uint32_t)((uintptr_t)&hint >> 4) | 1;
}

/* Under the lock; the queue has just become shorter. */
static void taken(struct seg_evq *q)
{
	atomic_store_explicit(&q->reader, this_thread(), memory_order_relaxed);
	if (atomic_load(&q->easers) && q->count <= EVQ_CROWDED / 4) {
		atomic_fetch_add(&q->room, 1);
		sys_futex_wake(&q->room, INT_MAX);
	}
}

static bool crowded(const struct seg_evq *q, uint32_t n)
{
	uint32_t reader = atomic_load_explicit(&q->reader, memory_order_relaxed);

	return atomic_load_explicit(&q->count, memory_order_relaxed) >= n && reader &&
	       reader != this_thread();
}

void evq_ease(struct seg *s, uint32_t evq, uint32_t gen)
{
	struct seg_evq *q = seg_live(s, SEG_T_EVQ, evq);
	uint32_t before, room;
	uint64_t end;
	int r = 0;

	if (!q || q->gen != gen || !crowded(q, EVQ_CROWDED))
		return;
	before = q->count;
	end = clock_now_ns() + EVQ_EASE_NS;
	atomic_fetch_add(&q->easers, 1);
	for (;;) {
		room = atomic_load(&q->room);
		if (r == -EINTR || !crowded(q, EVQ_CROWDED / 4 + 1))
			break;
		if (clock_now_ns() >= end) {
			if (q->count >= before) /* it does something else: no more of this */
				atomic_store(&q->reader, 0);
			break;
		}
		r = sys_futex_wait(&q->room, room, NSEC_PER_MSEC);
	}
	atomic_fetch_sub(&q->easers, 1);
}

int evq_take(struct seg *s, uint32_t evq, uint32_t gen, int fd, size_t fixed, size_t room,
	     struct seg_evrec *rec)
{
	struct seg_evq *q;
	int ret = lock_queue(s, evq, gen, SEG_LOCK_CTRL_NS, &q);

	if (ret)
		return ret;
	ret = take_locked(s, q, fixed, room, rec);
	if (!ret)
		taken(q);
	/* Who finds nothing may have come for a byte that nobody knows of any more. */
	if (!q->count && !q->dead && (ret == -EAGAIN || atomic_load(&q->byte))) {
		atomic_store(&q->byte, 0);
		drain(fd);
		if (atomic_load(&q->lost)) /* meanwhile: that byte may be the one we drained */
			signal_readers(s, evq, q);
	}
	seg_unlock(s, &q->lock);
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
	int ret = lock_queue(s, evq, gen, SEG_LOCK_CTRL_NS, &q);

	if (ret)
		return ret;
	r = first(s, q, &counter);
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
	seg_unlock(s, &q->lock);
	return ret;
}

int evq_untake(struct seg *s, uint32_t evq, uint32_t gen, const struct seg_evrec *rec)
{
	struct seg_evrec *r;
	struct seg_evq *q;
	uint32_t i;
	int ret = lock_queue(s, evq, gen, SEG_LOCK_CTRL_NS, &q);

	if (ret)
		return ret;
	ret = seg_alloc(s, SEG_T_EVREC, evq + 1, &i);
	if (!ret) {
		r = seg_at(s, SEG_T_EVREC, i);
		r->src = rec->src;
		r->cookie = rec->cookie;
		r->type = rec->type;
		r->extra = rec->extra;
		r->data = rec->data;
		r->len = rec->len;
		if (!q->count || q->silent)
			signal_readers(s, evq, q);
		r->next = q->head;
		q->head = i;
		if (!q->tail)
			q->tail = i;
		q->count++;
		q->bytes += r->len;
	}
	seg_unlock(s, &q->lock);
	return ret;
}

int evq_pop(struct seg *s, uint32_t evq, uint32_t gen, int fd, struct seg_evrec *rec)
{
	int r = evq_take(s, evq, gen, fd, 0, SIZE_MAX, rec);

	if (!r)
		evq_data_free(s, rec);
	return r;
}

static _Atomic uint32_t forks;

void evq_forked(void)
{
	atomic_fetch_add(&forks, 1);
}

uint32_t evq_forks(void)
{
	return atomic_load(&forks);
}

int evq_wait(struct seg_evq *q, uint32_t seen, bool locked, const void *sigmask)
{
	const struct timespec t = {.tv_nsec = LOCKED_NS};
	uint32_t before = evq_forks();
	uint64_t old;
	long r;

	atomic_fetch_add(&q->sleepers, 1);
	if (sigmask)
		sys_call(SYS_rt_sigprocmask, SIG_SETMASK, sigmask, &old, sizeof(old));
	r = sys_call(SYS_futex, &q->wake, FUTEX_WAIT, seen, locked ? &t : NULL);
	if (sigmask)
		sys_call(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof(old));
	if (evq_forks() == before)
		atomic_fetch_sub(&q->sleepers, 1);
	return r == -EINTR ? -EINTR : 0;
}

void evq_lost(struct seg *s, uint32_t evq, uint32_t gen)
{
	struct seg_evq *q = seg_live(s, SEG_T_EVQ, evq);

	if (!q || q->gen != gen)
		return;
	atomic_store(&q->lost, 1);
	atomic_store(&q->byte, 1);
	write_byte(s, evq, gen);
	wake_readers(q);
}

/* ---- waiting in the kernel */

bool evq_ready(const struct seg_evq *q)
{
	/* The byte is there before the record is: who was woken by it is not told otherwise now. */
	return atomic_load(&q->count) || atomic_load(&q->byte) || atomic_load(&q->dead) ||
	       atomic_load(&q->lost);
}

int evq_poll_begin(struct seg *s, uint32_t evq, uint32_t gen)
{
	struct seg_evq *q;
	int r = lock_queue(s, evq, gen, SEG_LOCK_CTRL_NS, &q);

	if (r)
		return r;
	r = evq_ready(q);
	if (!r)
		atomic_fetch_add(&q->pollers, 1);
	seg_unlock(s, &q->lock);
	return r;
}

void evq_poll_end(struct seg *s, uint32_t evq, uint32_t gen)
{
	struct seg_evq *q = seg_live(s, SEG_T_EVQ, evq);

	if (q && q->gen == gen)
		atomic_fetch_sub(&q->pollers, 1);
}

void evq_publish(struct seg *s, uint32_t evq, uint32_t gen)
{
	struct seg_evq *q = seg_live(s, SEG_T_EVQ, evq);
	int r;

	if (!q || q->gen != gen || !atomic_load(&q->lazy))
		return;
	r = lock_queue(s, evq, gen, SEG_LOCK_CTRL_NS, &q);
	if (r == -ENOENT)
		return;
	/* Where its holder is stopped: who pushes from now on sees it. */
	atomic_store(&q->lazy, 0);
	if (evq_ready(q))
		signal_readers(s, evq, q);
	if (!r)
		seg_unlock(s, &q->lock);
}

void evq_set_lazy(struct seg *s, uint32_t file)
{
	struct seg_evq *q = seg_live(s, SEG_T_EVQ, file);

	if (q)
		atomic_store(&q->lazy, 1);
}

/* The queue is empty again, and nobody has read: a byte that is left would be an event to poll(2),
 * and a blocking read after it would wait. */
static void drain_by_path(const struct seg *s, uint32_t evq, const struct seg_evq *q)
{
	char path[320];
	int fd;

	evq_path(s, evq, q->gen, path);
	fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	drain(fd);
	sys_close(fd);
}

void evq_purge(struct seg *s, uint32_t evq, uint32_t gen, uint32_t table, uint32_t idx)
{
	struct seg_evrec *r;
	struct seg_evq *q;
	uint32_t prev = 0, next;
	bool any = false;

	/* In vain: evq_pop() drops what has no living source. */
	if (lock_queue(s, evq, gen, SEG_LOCK_CTRL_NS, &q))
		return;
	for (uint32_t i = q->head; (r = rec_at(s, i)); i = next) {
		const struct seg_evrec was = *r;

		next = r->next;
		if (r->src.table == table && r->src.idx == idx) {
			unlink_rec(s, q, prev, i);
			evq_data_free(s, &was);
			any = true;
		} else {
			prev = i;
		}
	}
	if (any && !q->count && !q->dead && !atomic_load(&q->lost) && atomic_load(&q->byte)) {
		atomic_store(&q->byte, 0);
		drain_by_path(s, evq, q);
	}
	seg_unlock(s, &q->lock);
}

static void kill_queue(struct seg *s, uint32_t evq, uint32_t gen, bool clear)
{
	struct seg_evrec *r;
	struct seg_evq *q;

	if (lock_queue(s, evq, gen, SEG_LOCK_CTRL_NS, &q))
		return;
	q->dead = 1;
	while (clear && (r = rec_at(s, q->head))) {
		const struct seg_evrec was = *r;

		unlink_rec(s, q, 0, q->head);
		evq_data_free(s, &was);
	}
	signal_readers(s, evq, q);
	seg_unlock(s, &q->lock);
}

void evq_kill(struct seg *s, uint32_t evq, uint32_t gen)
{
	kill_queue(s, evq, gen, false);
}

void evq_clear(struct seg *s, uint32_t evq, uint32_t gen)
{
	kill_queue(s, evq, gen, true);
}
