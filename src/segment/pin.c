/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the list of registered ranges of this process, and of those that the program has unmapped
 * meanwhile (pin.h). uverbs registers; the shim's changes of libc (libc.c) and its wrappers ask.
 *
 * libc unmaps with a lock of its allocator held, perhaps while another thread forks. So this lock
 * is held for a few system calls at most, and never over a fork. A child does without the lists
 * until pin_forked(): they are its parent's, whose kept ranges it does not have.
 *
 * Whatever is kept is unmapped later, so it must hold nothing of the program's: a range with a
 * hole, in which something else could be mapped meanwhile, is not kept.
 */
#include "segment/pin.h"
#include "util/sigset.h"
#include "util/sys.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#define BLOCK_SHIFT 21 /* 2 MiB */
#define BLOCKS 4096u
#define HEADS 1024u
#define PAGE_SHIFT 12
#define FIRST_ROOM 4096u /* bytes of a new list */

struct pin {
	uint64_t from, to; /* 0, 0: a free entry */
	uint64_t owner;
	uint32_t next; /* 1 + the next entry with the same head, or the next free one */
};

/* Unmapped by the program. */
struct kept {
	uint64_t from, to;
};

/*
 * Registrations that touch a block; blocks that are BLOCKS apart share a count. Most unmappings
 * need to read nothing else.
 */
static _Atomic uint32_t touched[BLOCKS];

static struct {
	_Atomic uint32_t lock;
	_Atomic int pid; /* whose lists these are; 0: nobody's yet */
	struct pin *pin;
	uint32_t n, room, unused; /* entries ever used, allocated, 1 + the first free one */
	uint32_t head[HEADS];
	struct kept *kept;
	_Atomic uint32_t nkept;
	uint32_t kept_room;
} pins;

/* False: in a child that pin_forked() has not reached, or that shares its parent's memory. */
static bool lock(uint64_t *mask)
{
	uint64_t all = ~SIG_SYNC;

	sys_call(SYS_rt_sigprocmask, SIG_SETMASK, &all, mask, 8);
	for (;; sys_call(SYS_sched_yield)) {
		int self = sys_getpid(), none = 0;

		if (!atomic_compare_exchange_strong(&pins.pid, &none, self) && none != self) {
			sys_call(SYS_rt_sigprocmask, SIG_SETMASK, mask, NULL, 8);
			return false;
		}
		if (!atomic_exchange(&pins.lock, 1))
			return true;
	}
}

static void unlock(uint64_t mask)
{
	atomic_store(&pins.lock, 0);
	sys_call(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, 8);
}

/* Room for one more entry. */
static bool grow(void **list, uint32_t n, uint32_t *room, size_t size)
{
	size_t was = *room * size, now = was ? 2 * was : FIRST_ROOM;
	void *p;

	if (n < *room)
		return true;
	p = *list ? (void *)sys_call(SYS_mremap, *list, was, now, MREMAP_MAYMOVE)
		  : sys_mmap(NULL, now, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sys_is_err(p))
		return false;
	*list = p;
	*room = (uint32_t)(now / size);
	return true;
}

/* ---- registrations */

/* The last block of the range that has a count of its own. */
static uint64_t last_block(uint64_t from, uint64_t to)
{
	uint64_t first = from >> BLOCK_SHIFT, last = (to - 1) >> BLOCK_SHIFT;

	return last - first < BLOCKS ? last : first + BLOCKS - 1;
}

static void touch(uint64_t from, uint64_t to, uint32_t by)
{
	uint64_t first = from >> BLOCK_SHIFT, last = last_block(from, to);

	for (uint64_t b = first; b <= last; b++)
		atomic_fetch_add(&touched[b % BLOCKS], by);
}

static bool is_touched(uint64_t from, uint64_t to)
{
	uint64_t first = from >> BLOCK_SHIFT, last = last_block(from, to);

	for (uint64_t b = first; b <= last; b++)
		if (atomic_load_explicit(&touched[b % BLOCKS], memory_order_relaxed))
			return true;
	return false;
}

static uint32_t *head_of(uint64_t from)
{
	return &pins.head[(from >> PAGE_SHIFT) % HEADS];
}

static uint32_t new_pin(void)
{
	uint32_t i = pins.unused;

	if (i) {
		pins.unused = pins.pin[i - 1].next;
		return i;
	}
	if (!grow((void **)&pins.pin, pins.n, &pins.room, sizeof(*pins.pin)))
		return 0;
	return ++pins.n;
}

void pin_get(uint64_t from, uint64_t to, uint64_t owner)
{
	uint64_t mask;
	uint32_t i;

	if (from >= to || !lock(&mask))
		return;
	i = new_pin();
	if (i) {
		pins.pin[i - 1] = (struct pin){from, to, owner, *head_of(from)};
		*head_of(from) = i;
		touch(from, to, 1);
	}
	unlock(mask);
}

/* `at`: the link to the entry. */
static void drop(uint32_t *at)
{
	uint32_t i = *at;
	struct pin *p = &pins.pin[i - 1];

	*at = p->next;
	touch(p->from, p->to, -1u);
	*p = (struct pin){.next = pins.unused};
	pins.unused = i;
}

/* The part of [from, to) between the first and the last registered page in it; false: none is. */
static bool registered(uint64_t *from, uint64_t *to)
{
	uint64_t lo = *to, hi = *from;

	for (uint32_t i = 0; i < pins.n; i++) {
		const struct pin *p = &pins.pin[i];

		if (p->from >= *to || p->to <= *from)
			continue;
		if (p->from < lo)
			lo = p->from;
		if (p->to > hi)
			hi = p->to;
	}
	if (lo >= hi)
		return false;
	if (lo > *from)
		*from = lo;
	if (hi < *to)
		*to = hi;
	return true;
}

/* ---- what the program has unmapped */

/* Ranges that no registration needs any more are unmapped now. */
static void release(uint64_t from, uint64_t to)
{
	for (uint32_t i = 0; i < pins.nkept;) {
		struct kept k = pins.kept[i];

		if (k.from >= to || k.to <= from || registered(&k.from, &k.to)) {
			i++;
			continue;
		}
		sys_munmap((void *)k.from, k.to - k.from);
		pins.kept[i] = pins.kept[--pins.nkept];
	}
}

void pin_put(uint64_t from, uint64_t to, uint64_t owner)
{
	uint64_t mask;

	if (from >= to || !lock(&mask))
		return;
	for (uint32_t *at = head_of(from); *at; at = &pins.pin[*at - 1].next) {
		const struct pin *p = &pins.pin[*at - 1];

		if (p->from == from && p->to == to && p->owner == owner) {
			drop(at);
			release(from, to);
			break;
		}
	}
	unlock(mask);
}

void pin_put_all(uint64_t owner)
{
	uint64_t mask;

	if (!lock(&mask))
		return;
	for (uint32_t *head = pins.head; head < pins.head + HEADS; head++)
		for (uint32_t *at = head; *at;)
			if (pins.pin[*at - 1].owner == owner)
				drop(at);
			else
				at = &pins.pin[*at - 1].next;
	release(0, UINT64_MAX);
	unlock(mask);
}

/* Takes [from, to) out of the range `i`; true: `i` is another range now. */
static bool cut(uint32_t i, uint64_t from, uint64_t to)
{
	struct kept *k = &pins.kept[i];

	if (k->from >= to || k->to <= from)
		return false;
	if (k->from < from && k->to > to &&
	    grow((void **)&pins.kept, pins.nkept, &pins.kept_room, sizeof(*k))) {
		k = &pins.kept[i];
		pins.kept[pins.nkept++] = (struct kept){to, k->to};
		k->to = from;
	} else if (k->from < from) {
		k->to = from;
	} else if (k->to > to) {
		k->from = to;
	} else {
		*k = pins.kept[--pins.nkept];
		return true;
	}
	return false;
}

static void forget(uint64_t from, uint64_t to)
{
	for (uint32_t i = 0; i < pins.nkept;)
		i += !cut(i, from, to);
}

/* msync(MS_ASYNC) writes nothing, and reports pages that are not mapped. */
static bool has_hole(uint64_t from, uint64_t to)
{
	return sys_call(SYS_msync, from, to - from, MS_ASYNC) != 0;
}

/* Pages of the ends that nothing needs go now; those of huge pages may have to stay. */
static bool keep(uint64_t from, uint64_t to)
{
	struct kept k = {from, to};

	if (!registered(&k.from, &k.to) || has_hole(k.from, k.to))
		return false;
	if (k.from > from && sys_munmap((void *)from, k.from - from))
		k.from = from;
	if (k.to < to && sys_munmap((void *)k.to, to - k.to))
		k.to = to;
	/* A child has no such mapping, as on a kernel. */
	sys_madvise((void *)k.from, k.to - k.from, MADV_DONTFORK);
	forget(from, to); /* it was unmapped before */
	if (!grow((void **)&pins.kept, pins.nkept, &pins.kept_room, sizeof(k)))
		return true; /* it stays until the process ends */
	pins.kept[pins.nkept++] = k;
	return true;
}

bool pin_unmap(uint64_t from, uint64_t to)
{
	uint64_t mask;
	bool kept;

	if (__builtin_expect(from >= to || !is_touched(from, to), 1) || !lock(&mask))
		return false;
	kept = keep(from, to);
	unlock(mask);
	return kept;
}

void pin_replaced(uint64_t from, uint64_t to)
{
	uint64_t mask;

	if (__builtin_expect(!atomic_load(&pins.nkept), 1) || !lock(&mask))
		return;
	forget(from, to);
	unlock(mask);
}

void pin_make_room(uint64_t from, uint64_t to)
{
	uint64_t mask;

	if (__builtin_expect(!atomic_load(&pins.nkept), 1) || !lock(&mask))
		return;
	for (uint32_t i = 0; i < pins.nkept; i++) {
		uint64_t lo = pins.kept[i].from > from ? pins.kept[i].from : from;
		uint64_t hi = pins.kept[i].to < to ? pins.kept[i].to : to;

		if (lo < hi)
			sys_munmap((void *)lo, hi - lo);
	}
	forget(from, to);
	unlock(mask);
}

void pin_forked(void)
{
	for (uint32_t i = 0; i < BLOCKS; i++)
		atomic_store_explicit(&touched[i], 0, memory_order_relaxed);
	for (uint32_t i = 0; i < HEADS; i++)
		pins.head[i] = 0;
	pins.n = 0;
	pins.unused = 0;
	atomic_store(&pins.nkept, 0);
	atomic_store(&pins.pid, sys_getpid());
	atomic_store(&pins.lock, 0);
}
