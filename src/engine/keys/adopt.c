/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the decision which memory of keys and queues is adopted (segment/adopt.h): counts accesses,
 * asks the process that has the memory, and carries out what other processes ask of this one, on
 * its device thread. mkey.c, cq.c and srq.c use the result.
 */
#include "engine/keys/keys.h"
#include "hw/mkey.h"
#include "hw/umem.h"
#include "segment/adopt.h"
#include "util/clock.h"

#include <errno.h>

#define WITH_CQE_MAX 2048
#define TAKE_NS (2 * NSEC_PER_MSEC) /* first pause if pages are in use; it doubles each time */
#define TAKE_MAX_NS (64 * NSEC_PER_MSEC)
#define BACK_NS (20 * NSEC_PER_MSEC) /* first pause if giving back fails; it doubles, too */
#define BACK_MAX_NS NSEC_PER_SEC
#define LOOK_AGAIN 2 /* in seg_proc.adopt_look: the device thread's reminder to itself */

/*
 * Counts an access. True: it is hot. The owner is asked each time the count reaches its limit,
 * because it may be busy when asked first.
 */
static bool warm(struct adopt_run *run, uint32_t after)
{
	uint32_t heat = atomic_load_explicit(&run->heat, memory_order_relaxed) + 1;

	if (heat & ADOPT_BARRED)
		return false;
	atomic_store_explicit(&run->heat, heat, memory_order_relaxed);
	return heat >= after;
}

static void ask(struct seg *s, uint32_t slot, struct seg_proc *p, struct adopt_run *run,
		uint32_t obj)
{
	uint32_t none = 0;

	if (!atomic_compare_exchange_strong(&p->adopt_want, &none, 1 + obj))
		return;
	atomic_store_explicit(&run->heat, 0, memory_order_relaxed);
	seg_proc_rouse(s, slot);
}

static void warm_key(struct seg *s, struct hw_mkey *mk, struct seg_proc *p, uint64_t va)
{
	uint32_t after = atomic_load_explicit(&p->adopt_after, memory_order_relaxed);

	if (mk->odp || mk->memic || !warm(&mk->run, after))
		return;
	atomic_store(&mk->hint, va);
	ask(s, mk->mem.slot, p, &mk->run, mk->key >> 8);
}

/* Is that process there, so that its adopted memory counts as its own? */
static bool is_there(const struct seg_proc *p, struct mem_slot mem)
{
	return p->gen == mem.gen && atomic_load(&p->state) == SEG_PROC_LIVE &&
	       !seg_proc_life_ended(p);
}

/* A small message to a receive is written in one system call, together with its CQE. */
static bool goes_with_cqe(uint32_t access, uint64_t len)
{
	return access == HW_ACC_LOCAL_WRITE && len <= WITH_CQE_MAX;
}

enum eng_why adopt_add(struct seg *s, struct eng_sgl *l, struct hw_mkey *mk, uint64_t va,
		       uint64_t len, uint32_t access)
{
	struct seg_proc *p = seg_proc(s, mk->mem.slot);
	uint64_t part;

	if (!p || !atomic_load_explicit(&p->adopt_after, memory_order_relaxed) ||
	    !is_there(p, mk->mem) || l->n + 3 > ENG_MAX_SG ||
	    (!l->near && goes_with_cqe(access, len)))
		return sgl_add(l, mk->mem, va, len) ? ENG_W_WQE_MALFORMED : ENG_W_NONE;
	for (uint64_t end = va + len; va < end; va += part) {
		uint8_t *at = adopt_find(s, &mk->run, mk->gen, va, end - va, &part);

		if (!at)
			warm_key(s, mk, p, va);
		if (sgl_add(l, at ? mem_self(s) : mk->mem, at ? (uintptr_t)at : va, part))
			return ENG_W_WQE_MALFORMED;
	}
	return ENG_W_NONE;
}

/*
 * This thread must have an entry in running.c: it keeps the pages where they are until the thread
 * notes another epoch.
 */
uint8_t *adopt_near(struct seg *s, uint32_t umem, struct mem_slot mem, uint64_t va, uint64_t len)
{
	struct seg_proc *p = running_last.used ? seg_proc(s, mem.slot) : NULL;
	uint32_t after = p ? atomic_load_explicit(&p->adopt_queues, memory_order_relaxed) : 0;
	struct hw_umem *u = after ? hw_umem(s, umem) : NULL;
	uint64_t part;
	uint8_t *at;

	if (!u || !atomic_load_explicit(&u->queue, memory_order_relaxed) || !is_there(p, mem))
		return NULL;
	if (!atomic_load_explicit(&u->run.word, memory_order_relaxed)) {
		if (warm(&u->run, after))
			ask(s, mem.slot, p, &u->run, ADOPT_UMEM | umem);
		return NULL;
	}
	at = adopt_find(s, &u->run, u->gen, va, len, &part);
	return part == len ? at : NULL;
}

/* ---- on the device thread of the process that has the memory */

/*
 * Memory of a queue goes back with the queue or never (eng_adopt_umem_ended()): later it may be
 * used in system calls, which are not marked where only queues are adopted.
 */
static bool key_has_ended(void *arg, uint32_t obj, uint32_t gen)
{
	const struct hw_mkey *mk = obj & ADOPT_UMEM ? NULL : seg_live(arg, SEG_T_MKEY, obj);

	return !(obj & ADOPT_UMEM) &&
	       (!mk || mk->gen != gen || !atomic_load(&mk->valid) || !mem_is_self(arg, mk->mem));
}

/*
 * libmlx5 allocates whole pages for a queue. Other users of the kernel's interface may not: leave
 * memory that begins within a page.
 */
static int take_queue(struct seg *s, uint32_t idx)
{
	struct hw_umem *u = seg_live(s, SEG_T_UMEM, idx);
	uint32_t queue = u ? atomic_load(&u->queue) : 0;
	struct adopt_key k;

	if (!queue || !mem_is_self(s, u->mem))
		return 0;
	if (u->va & (ADOPT_PAGE - 1)) {
		atomic_store(&u->run.heat, ADOPT_BARRED);
		return 0;
	}
	if (!atomic_compare_exchange_strong(&u->queue, &queue, queue | HW_UMEM_ADOPTED))
		return 0;
	k = (struct adopt_key){&u->run, &u->gen, &u->queue, 0, ADOPT_UMEM | idx, u->gen};
	return adopt_take(s, &k, u->va, (u->len + ADOPT_PAGE - 1) & ~(ADOPT_PAGE - 1));
}

static int take_key(struct seg *s, uint32_t idx)
{
	struct hw_mkey *mk = seg_live(s, SEG_T_MKEY, idx);
	struct adopt_key k;

	if (!mk || !atomic_load_explicit(&mk->valid, memory_order_acquire) || mk->slow || mk->odp ||
	    mk->memic || mk->length64 || !mem_is_self(s, mk->mem))
		return 0;
	k = (struct adopt_key){&mk->run, &mk->gen, &mk->valid, atomic_load(&mk->hint),
			       idx,      mk->gen};
	return adopt_take(s, &k, mk->va, mk->len);
}

static int take(struct seg *s, uint32_t obj)
{
	return obj & ADOPT_UMEM ? take_queue(s, obj & ~ADOPT_UMEM) : take_key(s, obj);
}

/* For the device thread: when to retry what could not be done, and how long it waited last time. */
static struct later {
	uint64_t at, gap;
} take_later, back_later;

static uint64_t put_off(struct later *l, uint64_t first, uint64_t max)
{
	l->gap = !l->gap ? first : l->gap < max ? l->gap * 2 : max;
	l->at = clock_now_ns() + l->gap;
	return l->at;
}

static bool is_early(const struct later *l)
{
	return l->gap && clock_now_ns() < l->at;
}

static uint64_t give_back_ended(struct seg *s, struct seg_proc *me)
{
	uint32_t look = atomic_load(&me->adopt_look);

	if (look == LOOK_AGAIN && is_early(&back_later))
		return back_later.at;
	look = atomic_exchange(&me->adopt_look, 0);
	if (look != LOOK_AGAIN)
		back_later.gap = 0;
	if (!look || adopt_give_back(key_has_ended, s, true))
		return UINT64_MAX;
	look = 0;
	atomic_compare_exchange_strong(&me->adopt_look, &look, LOOK_AGAIN);
	return put_off(&back_later, BACK_NS, BACK_MAX_NS);
}

/*
 * After some tries, a key whose pages are always in use is dropped, because other keys may be
 * waiting. Further accesses ask for it again.
 */
static uint64_t take_wanted(struct seg *s, struct seg_proc *me)
{
	uint32_t want = atomic_load(&me->adopt_want);
	int rc = 1;

	if (want && is_early(&take_later))
		return take_later.at;
	while (want && rc > 0) {
		rc = take(s, want - 1);
		if (rc > 0)
			take_later.gap = 0;
	}
	if (want && rc == -EAGAIN && take_later.gap < TAKE_MAX_NS)
		return put_off(&take_later, TAKE_NS, TAKE_MAX_NS);
	take_later.gap = 0;
	if (want)
		atomic_store(&me->adopt_want, 0);
	return UINT64_MAX;
}

uint64_t eng_adopt_due(struct seg *s)
{
	struct seg_proc *me = s->self == SEG_NONE ? NULL : seg_proc(s, s->self);
	uint64_t back, later;

	if (!me || !atomic_load(&me->adopt_queues))
		return UINT64_MAX;
	back = give_back_ended(s, me);
	later = take_wanted(s, me);
	return back < later ? back : later;
}

static bool every(void *arg, uint32_t obj, uint32_t gen)
{
	return true;
}

/* Gives back all pages. Chunks of the pool may remain in use until a stopped thread goes on. */
bool adopt_all_back(void)
{
	adopt_give_back(every, NULL, false);
	return !adopt_any();
}

/* ---- copies by the program itself */

#define NO_QPN (SEG_RING_WHO - 1)

static struct seg_proc *proc_of(struct seg *s, uint32_t pid)
{
	seg_for_each_live (s, SEG_T_PROC, i) {
		struct seg_proc *p = seg_at(s, SEG_T_PROC, i);

		if (p->pid == pid && p->pid_ns == s->pid_ns && i != s->self &&
		    atomic_load(&p->state) == SEG_PROC_LIVE && atomic_load(&p->adopt_queues))
			return p;
	}
	return NULL;
}

int eng_copy_begin(struct seg *s, uint32_t pid, struct eng_copy *c)
{
	c->p = proc_of(s, pid);
	c->outer = running_last.used;
	if (!c->p)
		return 0;
	/*
	 * The process that moves the pages waits for this entry if it cannot rely on the count
	 * (others_out()).
	 */
	c->ring = running_enter(s, NO_QPN);
	atomic_fetch_add(&c->p->in_flight, 1);
	if (!atomic_load(&c->p->moving))
		return 1;
	eng_copy_end(c);
	return -EAGAIN;
}

void eng_copy_end(struct eng_copy *c)
{
	atomic_fetch_sub(&c->p->in_flight, 1);
	running_leave(c->ring);
	running_last.used = c->outer;
}

/* ---- for commands that end a key or a queue's memory */

struct one {
	uint32_t obj, gen;
};

static bool is_one(void *arg, uint32_t obj, uint32_t gen)
{
	const struct one *k = arg;

	return k->obj == obj && k->gen == gen;
}

void eng_adopt_key_ended(struct seg *s, uint32_t mkey_idx)
{
	struct hw_mkey *mk = seg_at(s, SEG_T_MKEY, mkey_idx);
	struct one one = {mkey_idx, mk->gen};
	struct seg_proc *p;

	/*
	 * If nobody has asked to adopt this key so far, nobody will, because it is no longer valid.
	 */
	if (!atomic_load(&mk->hint))
		return;
	p = seg_proc(s, mk->mem.slot);
	if (mem_is_self(s, mk->mem) && adopt_give_back(is_one, &one, true))
		p = NULL;
	atomic_store(&mk->run.word, 0);
	atomic_store(&mk->run.heat, 0);
	atomic_store(&mk->hint, 0);
	if (!p || p->gen != mk->mem.gen)
		return;
	atomic_store(&p->adopt_look, 1);
	seg_proc_rouse(s, mk->mem.slot);
}

/* Memory that cannot be given back now stays in the pool until the process ends. */
void eng_adopt_umem_ended(struct seg *s, uint32_t idx)
{
	struct hw_umem *u = seg_at(s, SEG_T_UMEM, idx);
	struct one one = {ADOPT_UMEM | idx, u->gen};

	/* Without that note the device thread will find that the memory ends. */
	if (!(atomic_exchange(&u->queue, 0) & HW_UMEM_ADOPTED) || !mem_is_self(s, u->mem))
		return;
	adopt_give_back(is_one, &one, true);
	atomic_store(&u->run.word, 0);
}
