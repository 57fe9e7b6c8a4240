/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the pages of this process that are in the pool: moving them there and back. Called on the
 * device thread, by commands that end a key, and by wrappers of calls that change mappings.
 *
 * One lock, taken with all signals blocked; in the lock order it comes after the adapter's. The
 * holder waits for threads of other processes, at most for the time that the caller gives them.
 */
#include "segment/adopt_priv.h"
#include "segment/mem.h"
#include "segment/proc.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/point.h"
#include "util/sigset.h"
#include "util/sys.h"
#include "util/tls.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>

#define THREADS_NS (2 * NSEC_PER_MSEC)
#define FORCED_NS (2 * NSEC_PER_SEC)
#define CALLS_NS (20 * NSEC_PER_MSEC)
#define PINS_NS NSEC_PER_SEC

/* What is planned for an object, and how much of it is published. */
struct run {
	uint64_t va;
	uint32_t obj, gen;
	uint32_t first, planned, pages; /* chunk; pages */
};

static struct {
	struct seg *s;
	_Atomic uint32_t lock;
	_Atomic uint32_t n;
	_Atomic uint32_t never;
	_Atomic uint64_t lo, hi; /* all pieces lie in between */
	uint32_t forks;          /* threads in fork(): nothing is adopted meanwhile */
	bool fork_gave;          /* the device thread has chunks to free after it */
	/*
	 * Odd: a thread is in fork() and has the lock, as some pieces remain. Others may have locks
	 * of libc's allocator, which fork() wants, so they do not wait for it for ever.
	 */
	_Atomic uint32_t in_fork;
	bool unwaited;       /* pieces are being given back that other processes may still use */
	uint64_t pins_until; /* pages may be pinned: when to look again */
	struct adopt_piece piece[ADOPT_OWN_MAX];
	uint32_t runs;
	struct run run[ADOPT_OWN_MAX]; /* each has pages, except the one that is being taken */
} own;

/*
 * This thread is in fork(), and perhaps holds the lock; fork_mask is its signal mask. Fork handlers
 * of other libraries may run meanwhile: do not move pages.
 */
static TLS_IE bool forking, fork_locked;
static TLS_IE uint64_t fork_mask;

static uint64_t own_lock(void)
{
	uint64_t all = ~SIG_SYNC, old = 0;

	sys_call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old, 8);
	while (atomic_exchange(&own.lock, 1))
		sys_call(SYS_sched_yield);
	return old;
}

static void own_unlock(uint64_t mask)
{
	atomic_store(&own.lock, 0);
	sys_call(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, 8);
}

void adopt_init(struct seg *s, bool keys)
{
	own.s = s;
	adopt_maps_keep();
	adopt_look_keep();
	atomic_store(&adopt_on, keys);
	atomic_store(&adopt_may, 1);
}

static const char *kind(uint32_t obj)
{
	return obj & ADOPT_UMEM ? "umem" : "mkey";
}

/* As users see the number. */
static uint32_t number(uint32_t obj)
{
	return obj & ADOPT_UMEM ? obj & ~ADOPT_UMEM : obj << 8;
}

bool adopt_any(void)
{
	return atomic_load(&own.n) != 0;
}

static uint64_t pool_offset(uint32_t chunk)
{
	const struct seg_table_hdr *h = seg_table(own.s, SEG_T_POOL);

	return h->elems_off + (uint64_t)chunk * h->elem_size;
}

/* ---- chunks */

static bool claim_chunks(uint32_t first, uint32_t n, const struct adopt_key *k)
{
	for (uint32_t i = first; i < first + n; i++) {
		struct seg_adopt *a = seg_at(own.s, SEG_T_ADOPT, i);

		if (seg_alloc_at(own.s, SEG_T_ADOPT, own.s->self + 1, i)) {
			while (i-- > first)
				seg_free(own.s, SEG_T_ADOPT, i);
			return false;
		}
		a->obj = k->obj;
		a->obj_gen = k->gen;
		atomic_store(&a->slot_gen, own.s->self_gen);
	}
	return true;
}

/* Returns the first of n neighbouring free chunks; 0: there are none. */
static uint32_t find_chunks(uint32_t n, const struct adopt_key *k)
{
	uint32_t have = 0;

	for (uint32_t i = 1; i <= ADOPT_CHUNKS; i++) {
		have = atomic_load(seg_owner_word(own.s, SEG_T_ADOPT, i)) ? 0 : have + 1;
		if (have < n)
			continue;
		if (claim_chunks(i + 1 - n, n, k))
			return i + 1 - n;
		have = 0;
	}
	return 0;
}

static struct run *run_of(uint32_t obj, uint32_t gen)
{
	for (uint32_t i = 0; i < own.runs; i++)
		if (own.run[i].obj == obj && own.run[i].gen == gen)
			return &own.run[i];
	return NULL;
}

static uint32_t chunks_of(const struct run *r)
{
	const uint32_t per = ADOPT_CHUNK / ADOPT_PAGE;

	return (r->planned + per - 1) / per;
}

/* A run that has ended may have been followed by another of the same object. */
static bool in_run(const struct seg_adopt *a, uint32_t chunk)
{
	const struct run *r = run_of(a->obj, a->obj_gen);

	return r && chunk >= r->first && chunk < r->first + chunks_of(r);
}

/* Frees the chunks of runs that have ended. False: some must wait. */
static bool free_chunks(void)
{
	bool all = true;

	seg_for_each_owned (own.s, SEG_T_ADOPT, own.s->self + 1, i) {
		const struct seg_adopt *a = seg_at(own.s, SEG_T_ADOPT, i);

		if (!a->kept && atomic_load(&a->slot_gen) == own.s->self_gen && !in_run(a, i))
			all &= adopt_chunk_free(own.s, i);
	}
	return all;
}

/* ---- taking */

/* Which pages of the object, and where they go. NULL: none, or no room. */
static struct run *plan(const struct adopt_key *k, uint64_t va, uint64_t len)
{
	uint64_t lo = (va + ADOPT_PAGE - 1) & ~(ADOPT_PAGE - 1),
		 hi = (va + len) & ~(ADOPT_PAGE - 1), hint = k->hint;
	struct run *r = &own.run[own.runs];
	struct seg_adopt *a;
	uint64_t n;

	if (hi <= lo || own.runs >= ADOPT_OWN_MAX)
		return NULL;
	if (hi - lo > ADOPT_RUN_MAX * ADOPT_CHUNK && hint >= lo && hint < hi)
		lo += (hint - lo) & ~(ADOPT_CHUNK - 1);
	n = (hi - lo + ADOPT_CHUNK - 1) / ADOPT_CHUNK;
	if (n > ADOPT_RUN_MAX)
		n = ADOPT_RUN_MAX;
	if (n > ADOPT_OWN_MAX - own.n)
		n = ADOPT_OWN_MAX - own.n;
	*r = (struct run){.va = lo, .obj = k->obj, .gen = k->gen};
	while (n && !(r->first = find_chunks((uint32_t)n, k)))
		n /= 2;
	if (!n)
		return NULL;
	if (hi - lo > n * ADOPT_CHUNK)
		hi = lo + n * ADOPT_CHUNK;
	r->planned = (uint32_t)((hi - lo) / ADOPT_PAGE);
	a = seg_at(own.s, SEG_T_ADOPT, r->first);
	a->va = lo;
	own.runs++;
	return r;
}

static void add_to_hull(const struct adopt_piece *p)
{
	if (!own.n || p->va < own.lo)
		atomic_store(&own.lo, p->va);
	if (!own.n || p->va + p->len > own.hi)
		atomic_store(&own.hi, p->va + p->len);
}

/* It counts before its pages are taken: a call that changes mappings then waits for the lock. */
static int take_piece(const struct adopt_piece *p)
{
	int r;

	add_to_hull(p);
	atomic_fetch_add(&own.n, 1);
	r = adopt_piece_take(own.s, p);
	if (r)
		atomic_fetch_sub(&own.n, 1);
	return r;
}

/* 0: all of it; -errno: stopped at a piece that could not be taken. */
static int take_range(const struct adopt_key *k, struct run *run, uint64_t from, uint64_t to,
		      uint8_t *park)
{
	uint32_t chunk = run->first + (uint32_t)((from - run->va) / ADOPT_CHUNK);
	uint64_t at = from;
	int r = 0;

	while (at < to && !r) {
		uint64_t n = to - at < ADOPT_CHUNK ? to - at : ADOPT_CHUNK;
		struct adopt_piece *p = &own.piece[own.n];

		*p = (struct adopt_piece){.va = at,
					  .offset = pool_offset(chunk++),
					  .park = park + (at - from),
					  .len = (uint32_t)n,
					  .size = (uint32_t)n,
					  .key = *k};
		r = own.n < ADOPT_OWN_MAX ? take_piece(p) : -ENOSPC;
		if (r)
			break;
		at += n;
		run->pages = (uint32_t)((at - run->va) / ADOPT_PAGE);
		atomic_store_explicit(&k->run->word, adopt_word(k->gen, run->first, run->pages),
				      memory_order_release);
		POINT("adopt-published");
	}
	adopt_others_in(own.s);
	if (at < to)
		sys_munmap(park + (at - from), to - at);
	return r;
}

/* The run is the last one of the list, and nothing of it has been published. */
static void unplan(const struct run *r)
{
	for (uint32_t i = r->first; i < r->first + chunks_of(r); i++)
		adopt_chunk_drop(own.s, i);
	own.runs--;
}

static bool run_leaves(const struct run *r)
{
	for (uint32_t i = 0; i < own.n; i++)
		if (own.piece[i].leaving && own.piece[i].key.obj == r->obj &&
		    own.piece[i].key.gen == r->gen)
			return true;
	return false;
}

/* 0; -EBUSY: not now; -EINVAL: never. */
static int may_take(uint64_t from, uint64_t to)
{
	int r = adopt_maps_allow(own.s, from, to);

	if (r <= 0)
		return adopt_passes(r) ? -EBUSY : -EINVAL;
	if (adopt_look_limited())
		return -EINVAL;
	if (adopt_look_pins() != ADOPT_PINS_NOT) {
		/* The descriptor may be closed again, so the key is not barred. */
		own.pins_until = clock_now_ns() + PINS_NS;
		return -EBUSY;
	}
	switch (adopt_look_asleep(own.s, from, to, NULL, NULL)) {
	case ADOPT_SLEEP_NONE:
		return 0;
	case ADOPT_SLEEP_CALL:
	case ADOPT_SLEEP_UNSEEN:
		return -EBUSY;
	default:
		return -EINVAL;
	}
}

static int take_batch(const struct adopt_key *k, uint64_t va, uint64_t len)
{
	struct run *r = run_of(k->obj, k->gen);
	uint64_t from, to, end;
	uint8_t *park = NULL;
	int rc;

	if (r && run_leaves(r)) /* the run is of the memory that the key had before */
		return -EBUSY;
	if (!r)
		r = plan(k, va, len);
	if (!r)
		return -ENOSPC;
	from = r->va + r->pages * ADOPT_PAGE;
	end = r->va + r->planned * ADOPT_PAGE;
	if (from >= end) {
		atomic_store(&k->run->heat, ADOPT_BARRED); /* nothing more to ask for */
		return 0;
	}
	to = end - from > ADOPT_BATCH * ADOPT_CHUNK ? from + ADOPT_BATCH * ADOPT_CHUNK : end;
	rc = adopt_watch(from, to) ? may_take(from, to) : -EBUSY;
	if (!rc)
		park = sys_mmap(NULL, to - from, PROT_NONE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_is_err(park))
		rc = -ENOMEM;
	if (!rc)
		rc = take_range(k, r, from, to, park);
	TRACE(LOG_MEM, "%s 0x%x: %u of %u pages at 0x%llx adopted: %d", kind(k->obj),
	      number(k->obj), r->pages, r->planned, (unsigned long long)r->va, rc);
	if (rc && !r->pages)
		unplan(r);
	if (!rc && adopt_look_asleep(own.s, from, to, NULL, NULL) == ADOPT_SLEEP_SHARED)
		return -EDEADLK;
	return rc ? rc : to < end;
}

/* ---- giving back */

/* 1: it is; 0: it is not; -EBUSY: its mapping is being changed, or cannot be seen. */
static int piece_is_ours(const struct adopt_piece *p, uint64_t len)
{
	if (!adopt_watch(p->va, p->va + len))
		return -EBUSY;
	return adopt_maps_are(p->va, p->va + len, own.s->fd, p->offset);
}

/* The pieces from `i` on that follow each other in memory and in the pool, up to the next gap. */
static uint32_t neighbours(uint32_t i)
{
	const struct adopt_piece *p = own.piece;
	uint32_t n = i + 1;

	while (n < own.n && p[n].va == p[n - 1].va + p[n - 1].len &&
	       p[n].offset == p[n - 1].offset + p[n - 1].len)
		n++;
	return n;
}

static struct adopt_piece rest_of(const struct adopt_piece *p)
{
	struct adopt_piece rest = *p;

	rest.va += p->done;
	rest.offset += p->done;
	rest.park += p->done;
	rest.len -= p->done;
	return rest;
}

/*
 * The program has replaced or moved the mapping, or a part of it: nothing is put over what is there
 * now, and only the rest is given back.
 */
static int return_rest(struct adopt_piece *p, uint64_t *calls_ns)
{
	int r;

	for (; p->done < p->len; p->done += ADOPT_PAGE) {
		struct adopt_piece one = rest_of(p);

		one.len = ADOPT_PAGE;
		r = piece_is_ours(&one, ADOPT_PAGE);
		if (r > 0)
			r = adopt_piece_return(own.s, &one, calls_ns);
		else if (!r)
			sys_munmap(one.park, ADOPT_PAGE);
		if (r)
			return r;
	}
	return 0;
}

/* A chunk that is mapped at another address stays this process's until its end. */
static void keep_if_mapped(const struct adopt_piece *p)
{
	const struct seg_table_hdr *h = seg_table(own.s, SEG_T_POOL);
	struct seg_adopt *a =
		seg_at(own.s, SEG_T_ADOPT, (uint32_t)((p->offset - h->elems_off) / h->elem_size));

	if (a && adopt_maps_elsewhere(own.s, p->offset, p->len))
		a->kept = 1;
}

/* ours: as piece_is_ours() says. */
static void give_back_piece(struct adopt_piece *p, int ours, uint64_t *calls_ns)
{
	int r = ours > 0 ? adopt_piece_return(own.s, p, calls_ns)
		: ours   ? ours
			 : return_rest(p, calls_ns);

	if (r) {
		TRACE(LOG_MEM, "%s 0x%x: pages at 0x%llx cannot be given back now: %d",
		      kind(p->key.obj), number(p->key.obj), (unsigned long long)p->va, r);
		return;
	}
	if (!ours)
		keep_if_mapped(p);
	p->len = 0;
}

static bool run_has_pieces(const struct run *r)
{
	for (uint32_t i = 0; i < own.n; i++)
		if (own.piece[i].key.obj == r->obj && own.piece[i].key.gen == r->gen)
			return true;
	return false;
}

static void forget_returned(void)
{
	uint32_t n = 0, k = 0;

	for (uint32_t i = 0; i < own.n; i++)
		if (own.piece[i].len)
			own.piece[n++] = own.piece[i];
	atomic_store(&own.n, n);
	for (uint32_t i = 0; i < own.runs; i++)
		if (run_has_pieces(&own.run[i]))
			own.run[k++] = own.run[i];
	own.runs = k;
}

static bool has_ended(const struct adopt_key *k)
{
	return *k->gen_now != k->gen || !atomic_load(k->valid);
}

static void leaves(struct adopt_piece *p, uint32_t heat)
{
	const struct adopt_key *k = &p->key;

	if (*k->gen_now == k->gen) {
		atomic_store(&k->run->heat, heat);
		atomic_store(&k->run->word, 0);
	}
	p->leaving = true;
}

/* Marks the pieces of the wanted objects, and ends their runs. */
static bool choose(bool (*want)(void *arg, uint32_t obj, uint32_t gen), void *arg)
{
	bool any = false;

	for (uint32_t i = 0; i < own.n; i++) {
		struct adopt_piece *p = &own.piece[i];

		if (!p->leaving && want(arg, p->key.obj, p->key.gen))
			leaves(p, ADOPT_BARRED);
		any |= p->leaving;
	}
	return any;
}

static void wake_waiter(void *arg, uint64_t word)
{
	sys_call(SYS_futex, word, FUTEX_WAKE, INT_MAX);
	for (uint32_t i = 0; i < own.n; i++) {
		const struct adopt_piece *p = &own.piece[i];

		if (p->leaving && word >= p->va && word < p->va + p->size)
			sys_call(SYS_futex, adopt_pool_of(own.s, p) + (word - p->va), FUTEX_WAKE,
				 INT_MAX);
	}
}

/*
 * The kernel finds futex waiters by the kind of mapping that the word had when they began to wait,
 * so a later wake would miss them. Wake all waiters now: any wait may end early, and looks at the
 * word again.
 */
static void wake_waiters(void)
{
	uint64_t lo = UINT64_MAX, hi = 0;

	for (uint32_t i = 0; i < own.n; i++) {
		const struct adopt_piece *p = &own.piece[i];

		if (!p->leaving)
			continue;
		lo = p->va < lo ? p->va : lo;
		hi = p->va + p->size > hi ? p->va + p->size : hi;
	}
	if (lo < hi)
		adopt_look_asleep(own.s, lo, hi, wake_waiter, NULL);
}

/*
 * What could not be returned of a queue's memory stays: later it may be used by system calls, which
 * are not marked while only queues are adopted.
 */
static void keep_queues(void)
{
	for (uint32_t i = 0; i < own.n && !atomic_load(&adopt_on); i++)
		if (own.piece[i].key.obj & ADOPT_UMEM)
			own.piece[i].leaving = false;
}

/* calls_ns: how long system calls of the program are waited for, all pieces together. */
static void give_back_pieces(uint64_t calls_ns)
{
	uint32_t checked = 0, batch = 0;
	int ours = 0;

	for (uint32_t i = 0; i < own.n; i++) {
		struct adopt_piece *p = &own.piece[i];

		if (!p->leaving)
			continue;
		if (i >= checked) {
			const struct adopt_piece *last;

			checked = neighbours(i);
			last = &own.piece[checked - 1];
			ours = piece_is_ours(p, last->va + last->len - p->va);
			if (!ours) {
				checked = i + 1;
				ours = piece_is_ours(p, p->len);
			}
		}
		give_back_piece(p, ours, &calls_ns);
		if (++batch % ADOPT_BATCH == 0)
			adopt_others_in(own.s);
	}
	adopt_others_in(own.s);
}

/* False: other processes still use the pages that leave. */
static bool give_back_leaving(bool unused, uint64_t calls_ns)
{
	own.unwaited |= !unused;
	if (own.unwaited && !adopt_wait_for_threads(own.s, FORCED_NS))
		return false;
	own.unwaited = false;
	give_back_pieces(calls_ns);
	wake_waiters();
	forget_returned();
	keep_queues();
	return true;
}

/* own.lock is held. False: some pages or chunks remain for later. */
static bool give_back(bool (*want)(void *arg, uint32_t obj, uint32_t gen), void *arg, bool unused,
		      uint64_t calls_ns)
{
	bool all;

	if (!choose(want, arg))
		return free_chunks();
	if (!give_back_leaving(unused, calls_ns))
		return false;
	all = free_chunks();
	for (uint32_t i = 0; i < own.n; i++)
		all &= !own.piece[i].leaving;
	return all;
}

static bool is_of_key(void *arg, uint32_t obj, uint32_t gen)
{
	const struct adopt_key *k = arg;

	return k->obj == obj && k->gen == gen;
}

int adopt_take(struct seg *s, const struct adopt_key *k, uint64_t va, uint64_t len)
{
	uint64_t mask;
	int rc = 0;

	if (!mem_guard_armed || s != own.s)
		return 0;
	mask = own_lock();
	if (own.forks || clock_now_ns() < own.pins_until)
		rc = -EBUSY;
	else if (!atomic_load(&own.never) && !has_ended(k) &&
		 !(atomic_load(&k->run->heat) & ADOPT_BARRED))
		rc = take_batch(k, va, len);
	if (rc < 0 && rc != -EBUSY)
		atomic_store(&k->run->heat, ADOPT_BARRED);
	if (rc == -EDEADLK)
		give_back(is_of_key, (void *)k, false, THREADS_NS);
	own_unlock(mask);
	return rc == -EBUSY ? -EAGAIN : rc < 0 ? 0 : rc;
}

bool adopt_give_back(bool (*want)(void *arg, uint32_t obj, uint32_t gen), void *arg, bool unused)
{
	uint64_t mask;
	bool all;

	if (!own.s || own.s->self == SEG_NONE)
		return true;
	if (forking)
		return false;
	mask = own_lock();
	all = (!adopt_any() || adopt_look_pins() == ADOPT_PINS_NOT) &&
	      give_back(want, arg, unused, THREADS_NS);
	own_unlock(mask);
	return all;
}

struct range {
	uint64_t lo, hi;
};

static bool in_range(void *arg, uint32_t obj, uint32_t gen)
{
	const struct range *r = arg;

	for (uint32_t i = 0; i < own.n; i++) {
		const struct adopt_piece *p = &own.piece[i];

		if (p->key.obj == obj && p->key.gen == gen && p->va < r->hi &&
		    r->lo < p->va + p->len)
			return true;
	}
	return false;
}

static bool any_in_range(const struct range *r)
{
	for (uint32_t i = 0; i < own.n; i++)
		if (own.piece[i].va < r->hi && r->lo < own.piece[i].va + own.piece[i].len)
			return true;
	return false;
}

/*
 * Locks to give back what is in the range. False: a thread is in fork(), and nothing of the range
 * is adopted, or the fork lasts long.
 */
static bool own_lock_for(const struct range *r, uint64_t *old)
{
	uint64_t all = ~SIG_SYNC, end = clock_now_ns() + CALLS_NS;

	sys_call(SYS_rt_sigprocmask, SIG_SETMASK, &all, old, 8);
	while (atomic_exchange(&own.lock, 1)) {
		uint32_t turn = atomic_load(&own.in_fork);

		if (turn & 1 && (!any_in_range(r) || clock_now_ns() >= end) &&
		    atomic_load(&own.in_fork) == turn) {
			sys_call(SYS_rt_sigprocmask, SIG_SETMASK, old, NULL, 8);
			return false;
		}
		sys_call(SYS_sched_yield);
	}
	return true;
}

void adopt_keep_out(const void *from, size_t len)
{
	struct range r = {(uintptr_t)from, (uintptr_t)from + len};
	uint64_t mask;

	if (!adopt_any() || r.hi <= r.lo || forking || r.lo >= atomic_load(&own.hi) ||
	    r.hi <= atomic_load(&own.lo) || !own_lock_for(&r, &mask))
		return;
	if (any_in_range(&r))
		give_back(in_range, &r, false, CALLS_NS);
	own_unlock(mask);
}

/* In the pool: what is mapped at their addresses need not be theirs any more. */
void adopt_drop(const void *from, size_t len)
{
	struct range r = {(uintptr_t)from, (uintptr_t)from + len};
	uint64_t mask;

	adopt_keep_out(from, len);
	if (!adopt_any() || r.hi <= r.lo || forking || !own_lock_for(&r, &mask))
		return;
	for (uint32_t i = 0; i < own.n; i++) {
		const struct adopt_piece p = rest_of(&own.piece[i]);
		uint64_t lo = r.lo > p.va ? r.lo : p.va,
			 hi = r.hi < p.va + p.len ? r.hi : p.va + p.len;

		if (lo < hi)
			memset(adopt_pool_of(own.s, &p) + (lo - p.va), 0, hi - lo);
	}
	own_unlock(mask);
}

void adopt_never(void)
{
	struct range all = {0, UINT64_MAX};
	uint64_t mask;

	atomic_store(&own.never, 1);
	if (!adopt_any() || forking)
		return;
	mask = own_lock();
	give_back(in_range, &all, false, CALLS_NS);
	own_unlock(mask);
}

/* ---- fork */

/*
 * Is it perhaps the program's own memory by now? libmlx5 frees a live queue's only after a command,
 * which waits for the fork. What is left of a queue cannot move while no call is marked.
 */
static bool may_be_heap(const struct adopt_piece *p)
{
	return !(p->key.obj & ADOPT_UMEM) || (atomic_load(&adopt_on) && has_ended(&p->key));
}

/*
 * Stores to private memory and to the pool are in the child in one order only if the kernel copies
 * both. So the pages return, and are adopted again when others use them.
 */
static void return_for_fork(void)
{
	bool any = false;

	for (uint32_t i = 0; i < own.n; i++)
		any |= may_be_heap(&own.piece[i]);
	if (!any || adopt_look_pins() != ADOPT_PINS_NOT)
		return;
	for (uint32_t i = 0; i < own.n; i++)
		if (!own.piece[i].leaving && may_be_heap(&own.piece[i]))
			leaves(&own.piece[i], 0);
	give_back_leaving(false, CALLS_NS);
	own.fork_gave = true;
}

/*
 * The bytes of pieces that remain are copied to the parked pages, which the child inherits and
 * moves into place: they may be older than the rest of its memory. The kernel copies pinned pages
 * before it has copied all others, too (copy_present_page() in mm/memory.c).
 */
void adopt_forking(void)
{
	if (!atomic_load(&adopt_may) || forking)
		return;
	fork_mask = own_lock();
	forking = true;
	own.forks++;
	return_for_fork();
	fork_locked = own.n != 0;
	if (fork_locked)
		atomic_fetch_add(&own.in_fork, 1);
	for (uint32_t i = 0; i < own.n; i++) {
		struct adopt_piece p = rest_of(&own.piece[i]);

		memcpy(p.park, adopt_pool_of(own.s, &p), p.len);
	}
	if (!fork_locked)
		atomic_store(&own.lock, 0);
}

/* The device thread frees the chunks, and tries again what could not be given back. */
static void look_again(void)
{
	struct seg_proc *me = seg_proc(own.s, own.s->self);

	if (!me)
		return;
	atomic_store(&me->adopt_look, 1);
	seg_proc_rouse(own.s, own.s->self);
}

void adopt_fork_done(void)
{
	if (!forking)
		return;
	if (!fork_locked)
		own_lock();
	for (uint32_t i = 0; i < own.n; i++) {
		struct adopt_piece p = rest_of(&own.piece[i]);

		sys_madvise(p.park, p.len, MADV_DONTNEED);
	}
	if (own.fork_gave)
		look_again();
	own.fork_gave = false;
	own.forks--;
	forking = false;
	if (fork_locked)
		atomic_fetch_add(&own.in_fork, 1);
	own_unlock(fork_mask);
}

void adopt_forked(void)
{
	if (!forking)
		return;
	adopt_maps_forked();
	adopt_look_forked();
	for (uint32_t i = 0; i < own.n; i++) {
		const struct adopt_piece p = rest_of(&own.piece[i]);

		adopt_move_forked(&p);
	}
	atomic_store(&own.n, 0);
	own.runs = own.forks = 0;
	own.fork_gave = false;
	own.pins_until = 0;
	forking = false;
	atomic_store(&own.in_fork, 0);
	adopt_calls_forked();
	own_unlock(fork_mask);
}
