/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns read-modify-write of programs' memory, and the locks that make it one step. The engine's
 * responder calls it, also in traps; it takes one word's lock at a time; in the lock order only an
 * event queue's comes later.
 *
 * The word's offset in the page chooses the lock, so that processes with the same pages at
 * different addresses use the same one. A killed holder leaves nothing to repair: the only store is
 * one aligned word.
 */
#include "segment/adopt.h"
#include "segment/mem.h"
#include "segment/for_tests.h"
#include "segment/near.h"
#include "segment/qlock.h"
#include "util/point.h"

#include <errno.h>

struct seg_word *mem_word(const struct seg *s, uint64_t va)
{
	return seg_at(s, SEG_T_WORD, va / 8 % MEM_WORD_LOCKS);
}

/*
 * Few locks serve all memory, so nobody waits for a stopped holder, but for the process that has
 * the memory: its own instructions have no gate.
 */
static const struct qlock word_lock = {.lock = offsetof(struct seg_word, lock),
				       .minds = GATE_MINDS_STATE | GATE_MINDS_POOL,

				       .home = QLOCK_HOME_IDX};

/* A caller's word: where it is, what has its lock (NULL: none), and the caller's hold. */
struct word {
	struct seg *s;
	struct seg_word *at;
	uint64_t va;
	uint32_t size;
	struct qheld held;
};

/*
 * For memory that this process has mapped: atomic instructions, which also exclude the program's
 * other threads. After a stop another process may have the lock and be between its read and its
 * write of the same page: a store now would be lost, so it is not made.
 */
static int own(const struct word *w, uint64_t (*next)(uint64_t was, const void *arg),
	       const void *arg, uint64_t *out)
{
	void *p = (void *)(uintptr_t)w->va;
	uint64_t was = 0, seen, then;
	int r = mem_guarded_copy(&was, p, w->size);

	while (!r) {
		seen = was;
		then = next(was, arg);
		if (w->at && !qlock_is_ours(w->s, &word_lock, w->at, &w->held))
			return -ECANCELED;
		r = mem_guarded_cas(p, w->size, &seen, then);
		if (!r && seen == was)
			break;
		was = seen;
	}
	*out = was;
	return r;
}

/*
 * Device memory: every process has it mapped, and none reads it first and writes it then, so a lock
 * would only make others wait for a holder that is stopped.
 */
static int in_device(struct word *w, uint64_t (*next)(uint64_t was, const void *arg),
		     const void *arg, uint64_t *out)
{
	int r;

	w->at = NULL;
	if (mem_gate && !gate_pass(mem_gate, GATE_BUSY))
		return -ECANCELED;
	POINT("word-shared");
	r = own(w, next, arg, out);
	if (mem_gate)
		gate_reset(mem_gate);
	return r;
}

static uint64_t load(const void *p, uint32_t size)
{
	return size == 8 ? __atomic_load_n((const uint64_t *)p, __ATOMIC_RELAXED)
			 : __atomic_load_n((const uint32_t *)p, __ATOMIC_RELAXED);
}

/*
 * Adopted memory of another process, changed by atomic instructions. The caller holds the word's
 * lock, because threads that looked the word up before it was adopted use foreign(), which reads it
 * first and writes it later. If a thread loses the lock or its key, its gate is shut, and it swaps
 * nothing afterwards.
 */
static int adopted(const struct word *w, uint64_t (*next)(uint64_t was, const void *arg),
		   const void *arg, uint64_t *out)
{
	void *p = (void *)(uintptr_t)w->va;
	uint64_t was = load(p, w->size), seen;
	int r;

	POINT("word-near");
	for (;; was = seen) {
		seen = was;
		r = near_swap(mem_gate, p, w->size, &seen, next(was, arg));
		if (r || seen == was)
			break;
	}
	*out = was;
	return r;
}

static int foreign(struct seg *s, struct mem_slot m, uint64_t va, uint32_t size,
		   uint64_t (*next)(uint64_t was, const void *arg), const void *arg, uint64_t *out)
{
	uint64_t was = 0, then;
	int r = mem_read(s, m, va, &was, size);

	POINT("word-read");
	if (!r) {
		then = next(was, arg);
		if (then != was)
			r = mem_write(s, m, va, &then, size);
	}
	*out = was;
	return r;
}

int mem_atomic(struct seg *s, struct mem_slot m, uint64_t va, uint32_t size,
	       uint64_t (*next)(uint64_t was, const void *arg), const void *arg, uint64_t *out)
{
	struct word w = {.s = s, .at = mem_word(s, va), .va = va, .size = size};
	bool pool = adopt_in_pool(s, va, size);
	int r;

	if ((size != 4 && size != 8) || va % size)
		return -EINVAL;
	if (mem_is_self(s, m) && mem_in_segment(s, va, size) && !pool)
		return in_device(&w, next, arg, out);
	r = seg_lock_queue(s, &w.at->lock, &w.held.turn);
	if (r)
		r = qlock_replace(s, &word_lock, w.at, pool ? adopt_owner(s, va) : m.slot, &w.held,
				  r);
	if (r < 0)
		return r;
	POINT("word-locked");
	if (!mem_is_self(s, m))
		r = foreign(s, m, va, size, next, arg, out);
	else if (pool && mem_gate)
		r = adopted(&w, next, arg, out);
	else
		r = !mem_gate || gate_pass(mem_gate, GATE_OWN) ? own(&w, next, arg, out)
							       : -ECANCELED;
	POINT("word-done");
	qlock_unlock(s, &word_lock, w.at, &w.held);
	return r;
}
