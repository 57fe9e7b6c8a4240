/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the table of mapped UAR pages. The control path writes it under its own lock; the trap
 * handler and the device thread read it without a lock. Memory calls are raw.
 *
 * In trap mode a page has no access rights, so that stores fault. In poll mode it is plain memory
 * that the device thread empties. Both are shared and anonymous: a fork child has the same page, as
 * with hardware, and a doorbell left in it is taken by exactly one of parent and child.
 */
#include "shim/refused.h"
#include "shim/shim.h"
#include "shim/files/fdtab.h"
#include "shim/doorbell/patch.h"
#include "shim/signals/sig.h"
#include "shim/doorbell/stack.h"
#include "shim/doorbell/fault.h"
#include "engine/engine.h"
#include "segment/proc.h"
#include "util/log.h"
#include "util/sys.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE UINT64_C(4096)
#define SLOTS 8192u /* open addressing, kept at most half full */
#define SLOT_FREE 0u
#define SLOT_GONE 1u /* was used: a search continues behind it */

/*
 * Rejecting an address that is no UAR reads two cache lines of `page` at most: this bounds the cost
 * of other faults.
 */
static struct {
	_Atomic uintptr_t page[SLOTS];
	_Atomic uint32_t uar[SLOTS];
	struct shim_file *file[SLOTS];             /* the file that the page keeps open, or NULL */
	uint32_t mapper[SLOTS], mapper_gen[SLOTS]; /* SEG_T_PROC that mapped it */
	_Atomic uint32_t live;
	_Atomic uint32_t used; /* live and gone */
	_Atomic uint32_t lock;
	_Atomic uint32_t top; /* poll mode: list[0..top) holds the slots to poll */
	_Atomic uint32_t list[SLOTS / 2];
	struct seg *_Atomic seg;
} tab;

static uint32_t hash(uintptr_t page)
{
	return (uint32_t)((page >> 12) * UINT64_C(0x9e3779b97f4a7c15) >> 51) % SLOTS;
}

void uar_know(struct seg *s)
{
	const char *roce;

	s->polled = uar_poll_mode();
	s->may_wait = !s->polled;
	roce = getenv(SHIM_ENV_ROCE_ACCEL);
	s->plain_timers = roce && !strcmp(roce, "0");
	atomic_store_explicit(&tab.seg, s, memory_order_release);
}

struct seg *uar_seg(void)
{
	return atomic_load_explicit(&tab.seg, memory_order_acquire);
}

bool uar_any(void)
{
	return atomic_load_explicit(&tab.live, memory_order_relaxed) != 0;
}

/* Returns the slot of a mapped page, or SEG_NONE. */
static uint32_t uar_find(uintptr_t page)
{
	uint32_t i = hash(page);

	for (uint32_t n = 0; n < SLOTS; n++, i = (i + 1) % SLOTS) {
		uintptr_t p = atomic_load_explicit(&tab.page[i], memory_order_acquire);

		if (p == page)
			return i;
		if (p == SLOT_FREE)
			break;
	}
	return SEG_NONE;
}

uint32_t uar_lookup(uintptr_t addr, uintptr_t *page)
{
	uint32_t i;

	*page = addr & ~(PAGE - 1);
	if (*page <= SLOT_GONE)
		return SEG_NONE;
	i = uar_find(*page);
	return i == SEG_NONE ? SEG_NONE : atomic_load_explicit(&tab.uar[i], memory_order_relaxed);
}

/* All signals are blocked inside: a handler may call munmap(). */
static void lock(sigset_t *old)
{
	sig_block_all(old);
	while (atomic_exchange_explicit(&tab.lock, 1, memory_order_acquire))
		sys_raw(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

static void uar_unlock(const sigset_t *old)
{
	atomic_store_explicit(&tab.lock, 0, memory_order_release);
	sig_restore(old);
}

void uar_forked(void)
{
	atomic_store(&tab.lock, 0);
}

/* The descriptor may refer to another file by now. */
static bool is_of(int fd, const struct shim_file *f)
{
	struct stat st;

	return !sys_fstat(fd, &st) && st.st_dev == f->dev && st.st_ino == f->ino;
}

/*
 * A file whose last page has gone, and the descriptor that kept it open. They are taken out under
 * the lock and dropped later, because another page of the file may be mapped in between.
 */
struct ended {
	struct shim_file *file; /* NULL: none */
	int fd;
};

/*
 * Keep the file open until this process has unmapped its last page of it, as the kernel's mapping
 * does (vm_area_struct.vm_file).
 */
static struct ended leave_file(uint32_t slot)
{
	struct shim_file *f = tab.file[slot];
	struct ended e = {NULL, -1};

	tab.file[slot] = NULL;
	if (f && !--f->pages) {
		e = (struct ended){f, f->pages_fd};
		f->pages_fd = -1;
	}
	return e;
}

/*
 * Must not be called under the lock: the last reference ends the file. In a vfork child, whose
 * descriptors are not its parent's, the file stays open.
 */
static void close_file(const struct ended *e)
{
	if (!e->file || !shim_owns_tables())
		return;
	if (is_of(e->fd, e->file))
		sys_fd_drop(e->fd);
	fdtab_put(e->file);
}

static struct ended uar_drop(uint32_t slot)
{
	uint32_t top = atomic_load(&tab.top);
	struct ended e = leave_file(slot);

	atomic_store(&tab.page[slot], SLOT_GONE);
	atomic_fetch_sub(&tab.live, 1);
	for (uint32_t i = 0; i < top; i++)
		if (tab.list[i] == slot) {
			atomic_store(&tab.list[i], tab.list[top - 1]);
			atomic_store(&tab.top, top - 1);
			break;
		}
	/* no live entry: forget the deleted ones */
	if (!atomic_load(&tab.live)) {
		for (uint32_t i = 0; i < SLOTS && atomic_load(&tab.used); i++)
			if (tab.page[i] == SLOT_GONE) {
				atomic_store(&tab.page[i], SLOT_FREE);
				atomic_fetch_sub(&tab.used, 1);
			}
	}
	return e;
}

static int uar_add(uintptr_t page, uint32_t uar, struct ended *e)
{
	uint32_t i = hash(page), top;

	if (uar_find(page) != SEG_NONE)
		*e = uar_drop(uar_find(page));
	top = atomic_load(&tab.top);
	if (atomic_load(&tab.live) >= SLOTS / 2)
		return -ENOMEM;
	while (tab.page[i] > SLOT_GONE)
		i = (i + 1) % SLOTS;
	if (tab.page[i] == SLOT_FREE)
		atomic_fetch_add(&tab.used, 1);
	tab.mapper[i] = uar_seg()->self;
	tab.mapper_gen[i] = uar_seg()->self_gen;
	atomic_store(&tab.uar[i], uar);
	atomic_store(&tab.page[i], page);
	atomic_store(&tab.list[top], i);
	atomic_store(&tab.top, top + 1);
	atomic_fetch_add(&tab.live, 1);
	return 0;
}

bool uar_mapped(uint32_t uar)
{
	bool found = false;
	sigset_t old;

	lock(&old);
	for (uint32_t i = 0; i < tab.top && !found; i++)
		found = tab.uar[tab.list[i]] == uar;
	uar_unlock(&old);
	return found;
}

static bool any_in(uintptr_t from, uintptr_t to)
{
	bool found = false;
	sigset_t old;

	lock(&old);
	for (uint32_t i = 0; i < tab.top && !found; i++)
		found = tab.page[tab.list[i]] >= from && tab.page[tab.list[i]] < to;
	uar_unlock(&old);
	return found;
}

/*
 * Forget the pages of [from, to), and stop after a page that was the last of its file. False: no
 * page was left.
 */
static bool drop_until_ended(uintptr_t from, uintptr_t to, struct ended *e)
{
	sigset_t old;

	*e = (struct ended){NULL, -1};
	lock(&old);
	for (uint32_t i = atomic_load(&tab.top); i-- > 0 && !e->file;) {
		uint32_t slot = atomic_load(&tab.list[i]);

		if (tab.page[slot] >= from && tab.page[slot] < to)
			*e = uar_drop(slot);
	}
	uar_unlock(&old);
	return e->file != NULL;
}

void uar_unmapped(void *addr, size_t len)
{
	uintptr_t from = (uintptr_t)addr & ~(PAGE - 1),
		  to = ((uintptr_t)addr + len + PAGE - 1) & ~(PAGE - 1);
	struct ended e;
	sigset_t old;

	/*
	 * Wait for a fork() only after the look-up: a library may unmap under a lock that fork()
	 * takes.
	 */
	if (!uar_any() || !any_in(from, to))
		return;
	shim_enter(&old);
	while (drop_until_ended(from, to, &e))
		close_file(&e);
	shim_leave(&old);
}

void uar_keep_file(void *p, struct shim_file *f, int fd)
{
	int own = sys_fcntl(fd, F_DUPFD_CLOEXEC, 0);
	uint32_t slot;
	sigset_t old;

	if (own >= 0)
		own = sys_fd_high(own);
	if (own < 0 || !is_of(own, f))
		goto out; /* then treat it as no page */
	lock(&old);
	slot = uar_find((uintptr_t)p);
	if (slot != SEG_NONE && !tab.file[slot]) {
		tab.file[slot] = f;
		if (!f->pages++) {
			atomic_fetch_add(&f->refs, 1);
			f->pages_fd = own;
			own = -1;
		}
	}
	uar_unlock(&old);
out:
	if (own >= 0)
		sys_fd_drop(own);
}

/* Prepares a process for its first doorbell. */
static int prepare(bool poll)
{
	struct uv_system *sys;
	int r = shim_attach(&sys);

	if (r)
		return r;
	atomic_store_explicit(&tab.seg, sys->seg, memory_order_release);
	if (!poll) {
		r = stack_prepare();
		if (!r)
			r = trap_decode_init();
		if (r == -ELIBACC)
			log_line(LOG_ERROR, "cannot load libZydis: only --doorbell poll works");
		if (r)
			return r;
		trap_init();
		patch_init();
		r = sig_install();
		refused_limit("cannot handle SIGSEGV, only --doorbell poll works", r);
		if (r)
			return r;
	}
	return devthread_start();
}

/* A page of the device that no code reads: plain memory. */
static void *plain_mmap(void *addr, size_t len, int prot, int flags, int *err)
{
	void *p = sys_mmap(addr, len, prot,
			   MAP_SHARED | MAP_ANONYMOUS |
				   (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT)),
			   -1, 0);

	*err = sys_is_err(p) ? (int)(intptr_t)p : 0;
	return *err ? MAP_FAILED : p;
}

void *uar_mmap(void *addr, size_t len, int prot, int flags, uint32_t uar, int *err)
{
	bool poll = uar_poll_mode();
	struct ended ended = {NULL, -1};
	sigset_t old;
	void *p;

	if (len != PAGE) {
		*err = -EINVAL;
		return MAP_FAILED;
	}
	if (uar == SEG_NONE)
		return plain_mmap(addr, len, prot, flags, err);
	*err = prepare(poll);
	if (*err)
		return MAP_FAILED;
	lock(&old);
	/* The device thread can read and empty the page whatever protection the program sets. */
	p = sys_mmap(addr, len, poll ? PROT_READ | PROT_WRITE : PROT_NONE,
		     MAP_SHARED | MAP_ANONYMOUS |
			     (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT)),
		     -1, 0);
	if (sys_is_err(p)) {
		*err = (int)(intptr_t)p;
		p = MAP_FAILED;
	} else {
		*err = uar_add((uintptr_t)p, uar, &ended);
		if (*err) {
			sys_munmap(p, len);
			p = MAP_FAILED;
		}
	}
	uar_unlock(&old);
	close_file(&ended);
	/* The thread may have gone to sleep before there was a page to watch. */
	if (poll && !*err)
		seg_proc_rouse(uar_seg(), uar_seg()->self);
	TRACE(LOG_SHIM, "uar %u mapped at %p%s: %d", uar, p, poll ? " (polled)" : "", *err);
	return p;
}

/* ---- poll mode */

/*
 * Under the lock, so that munmap() cannot take the page away. It is held briefly: values first,
 * work after.
 */
struct found {
	uint32_t uar, off;
	uint64_t be;
};

/*
 * A fork child has its parent's pages, too, and leaves them to the parent as long as that lives. If
 * the child served a queue of the parent and ended meanwhile, the queue would go to ERR.
 */
static bool parent_watches(const struct seg *s, uint32_t slot)
{
	const struct seg_proc *p;
	uint32_t state;

	if (tab.mapper[slot] == s->self && tab.mapper_gen[slot] == s->self_gen)
		return false;
	p = seg_proc(s, tab.mapper[slot]);
	if (!p || p->gen != tab.mapper_gen[slot])
		return false;
	state = atomic_load_explicit(&p->state, memory_order_relaxed);
	return state == SEG_PROC_LIVE || state == SEG_PROC_EXECING;
}

static uint32_t collect(const struct seg *s, struct found *f, uint32_t max)
{
	uint32_t n = 0;
	sigset_t old;

	lock(&old);
	for (uint32_t i = 0; i < tab.top && n < max; i++) {
		uint32_t slot = tab.list[i], off = 0x20;
		char *page = (char *)tab.page[slot];

		if (parent_watches(s, slot))
			continue;
		for (; off < PAGE && n < max; off = off == 0x20 ? 0x800 : off + 64) {
			_Atomic uint64_t *q = (_Atomic uint64_t *)(page + off);

			if (!atomic_load_explicit(q, memory_order_relaxed))
				continue;
			f[n++] = (struct found){tab.uar[slot], off, atomic_exchange(q, 0)};
		}
	}
	uar_unlock(&old);
	return n;
}

bool uar_poll(struct seg *s)
{
	struct found f[64];
	uint32_t n = collect(s, f, 64);

	for (uint32_t i = 0; i < n; i++)
		eng_uar_write(s, f[i].uar, f[i].off, f[i].be);
	return n != 0;
}
