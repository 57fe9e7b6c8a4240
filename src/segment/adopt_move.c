/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the moving of one piece of memory to the pool and back. Called by adopt_own.c with its lock;
 * waits for system calls of the program and for threads of other processes.
 */
#include "segment/adopt_priv.h"
#include "segment/mem.h"
#include "segment/proc.h"
#include "util/bug.h"
#include "util/clock.h"
#include "util/point.h"
#include "util/sys.h"

#include <string.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

#define COPIES_NS (50 * NSEC_PER_USEC) /* longer than a copy of one message takes */
#define THREADS_NS (2 * NSEC_PER_MSEC)
#define TURN_NS (8 * NSEC_PER_MSEC) /* a thread in a copy may wait for a processor */
#define FORCED_NS (2 * NSEC_PER_SEC)
#define LOOK_NS NSEC_PER_MSEC /* after this time, check whether the threads are stopped */
#define PATIENT_TRIES 2

static uint32_t tries; /* how often in a row copies by other processes prevented a move */
/*
 * Moves that wait for such a copy to end, since copies were too long for PATIENT_TRIES tries: those
 * of one object.
 */
static uint32_t patient;
static bool out; /* others_out() has succeeded; until adopt_others_in() */

/* ---- threads of other processes */

/*
 * Is the thread stopped, and unable to copy to where the pages are now? False: it may still copy.
 */
static bool stopped_for_good(struct seg *s, uint32_t slot, struct seg_ring *e)
{
	return slot && gate_shut(s, who_now(s, slot), &e->gate, 0) != GATE_OPEN;
}

/*
 * Waits for threads of other processes that began before `epoch`. A stopped one copies at most to
 * the pool's chunk, which is not used again while it is in there (adopt_chunk_free()), and then
 * begins anew.
 */
static bool wait_for_slot(struct seg *s, uint32_t slot, uint64_t epoch, uint64_t ns)
{
	uint64_t start = clock_now_ns(), looked = start, now;
	struct seg_ring *e;

	while ((e = adopt_user(s, slot, epoch))) {
		now = clock_now_ns();
		if (now - looked >= LOOK_NS) {
			looked = now;
			if (stopped_for_good(s, slot, e))
				return true;
		}
		if (now - start >= ns)
			return false;
		sys_call(SYS_sched_yield);
	}
	return true;
}

bool adopt_wait_for_threads(struct seg *s, uint64_t ns)
{
	uint64_t epoch = adopt_mark(s);

	seg_for_each_live (s, SEG_T_PROC, i)
		if (i != s->self && !wait_for_slot(s, i, epoch, ns))
			return false;
	return true;
}

/*
 * No other process copies to this one by system calls from here until others_in(). A count of
 * copies that a killed process has left too high is settled by the threads that still run.
 */
static bool others_out(struct seg *s, struct seg_proc *me, uint64_t ns)
{
	uint64_t end = clock_now_ns() + COPIES_NS;

	if (out)
		return true;
	atomic_store(&me->moving, 1);
	while (atomic_load(&me->in_flight) && clock_now_ns() < end)
		sys_cpu_relax();
	for (end += TURN_NS; ns && atomic_load(&me->in_flight) && clock_now_ns() < end;)
		sys_call(SYS_sched_yield);
	out = !atomic_load(&me->in_flight) || (ns && adopt_wait_for_threads(s, ns));
	if (!out)
		atomic_store(&me->moving, 0);
	return out;
}

/* ---- moving pages */

static int protect(uint64_t va, uint64_t len, int prot)
{
	return (int)sys_call(SYS_mprotect, va, len, prot);
}

static long move(const void *from, uint64_t len, const void *to, int more)
{
	return sys_call(SYS_mremap, from, len, len, MREMAP_MAYMOVE | MREMAP_FIXED | more, to);
}

static void *map_pool(const struct seg *s, const struct adopt_piece *p)
{
	return sys_mmap((void *)p->va, p->len, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_FIXED | MAP_POPULATE, s->fd, (off_t)p->offset);
}

/* A child of a fork that bypassed our wrappers gets a hole here, not our memory. */
static void keep_from_children(const struct adopt_piece *p)
{
	sys_madvise((void *)p->va, p->len, MADV_DONTFORK);
}

/*
 * Puts the pool's pages in place. Nobody else uses the pages now. On failure nothing has changed.
 */
static int swap_in(const struct seg *s, const struct adopt_piece *p)
{
	void *va = (void *)p->va;
	int r = protect(p->va, p->len, PROT_NONE);

	POINT("adopt-protected");
	if (!r)
		r = (int)(move(va, p->len, p->park, MREMAP_DONTUNMAP) < 0 ? -ENOMEM : 0);
	if (r) {
		protect(p->va, p->len, PROT_READ | PROT_WRITE);
		return r;
	}
	POINT("adopt-parked");
	r = protect((uintptr_t)p->park, p->len, PROT_READ | PROT_WRITE);
	if (!r)
		memcpy(adopt_pool_of(s, p), p->park, p->len);
	POINT("adopt-copied");
	if (!r && sys_is_err(map_pool(s, p)))
		r = -ENOMEM;
	POINT("adopt-mapped");
	if (!r)
		return 0;
	BUG_ON(move(p->park, p->len, va, 0) < 0);
	protect(p->va, p->len, PROT_READ | PROT_WRITE);
	return r;
}

/* Prevented too often: wait in the next moves. */
static void keep_trying(void)
{
	if (++tries < PATIENT_TRIES)
		return;
	tries = 0;
	patient = ADOPT_RUN_MAX;
}

void adopt_others_in(struct seg *s)
{
	struct seg_proc *me = seg_proc(s, s->self);

	out = false;
	if (me)
		atomic_store(&me->moving, 0);
}

int adopt_piece_take(struct seg *s, const struct adopt_piece *p)
{
	struct seg_proc *me = seg_proc(s, s->self);
	uint8_t *pool = adopt_pool_of(s, p);
	int r = -EBUSY;

	for (uint64_t i = 0; i < p->len; i += ADOPT_PAGE)
		*(volatile uint8_t *)(pool + i) = 0; /* present before anybody waits */
	if (!me || !adopt_window_open(p->va, p->va + p->len))
		return r;
	if (adopt_watch_changed()) {
		; /* another mapping may be there by now */
	} else if (others_out(s, me, patient ? THREADS_NS : 0)) {
		tries = 0;
		patient -= !!patient;
		r = swap_in(s, p);
	} else {
		keep_trying();
	}
	if (!r)
		atomic_fetch_add(&adopt_taken, 1);
	adopt_window_close();
	if (!r) {
		keep_from_children(p);
		sys_madvise(p->park, p->len, MADV_DONTNEED);
	}
	return r;
}

/* The content is in the pool and no store is lost: the pages are readable only meanwhile. */
static int swap_out(const struct seg *s, const struct adopt_piece *p)
{
	int r = protect(p->va, p->len, PROT_READ);

	POINT("return-protected");
	if (r)
		return r;
	memcpy(p->park, adopt_pool_of(s, p), p->len);
	POINT("return-copied");
	if (move(p->park, p->len, (void *)p->va, 0) < 0) {
		/* The kernel may have unmapped the target before it failed: map the pool again. */
		if (protect(p->va, p->len, PROT_READ | PROT_WRITE)) {
			BUG_ON(sys_is_err(map_pool(s, p)));
			keep_from_children(p);
		}
		return -ENOMEM;
	}
	POINT("return-moved");
	return 0;
}

/* Waits for the program's system calls that use the pages; takes that time from *ns. */
static bool calls_out(struct seg *s, const struct adopt_piece *p, uint64_t *ns)
{
	uint64_t start = clock_now_ns(), gone;

	while (!adopt_window_open(p->va, p->va + p->len)) {
		gone = clock_now_ns() - start;
		if (gone >= *ns) {
			*ns = 0;
			return false;
		}
		adopt_others_in(s);
		sys_call(SYS_sched_yield);
	}
	gone = clock_now_ns() - start;
	*ns -= gone < *ns ? gone : *ns;
	return true;
}

int adopt_piece_return(struct seg *s, const struct adopt_piece *p, uint64_t *calls_ns)
{
	struct seg_proc *me = seg_proc(s, s->self);
	int r = -EBUSY;

	sys_madvise(p->park, p->len, MADV_POPULATE_WRITE); /* one call instead of 16 faults */
	for (uint64_t i = 0; i < p->len; i += ADOPT_PAGE)
		*(volatile uint8_t *)(p->park + i) = 0;
	if (!me || !calls_out(s, p, calls_ns))
		return r;
	if (adopt_watch_changed())
		r = -ESTALE;
	else if (others_out(s, me, FORCED_NS))
		r = swap_out(s, p);
	adopt_window_close();
	return r;
}

/*
 * False: something is mapped there. A kernel that does not know MAP_FIXED_NOREPLACE takes the
 * address as a hint.
 */
static bool move_to_hole(uint8_t *park, uint64_t va, uint64_t len)
{
	void *p =
		sys_mmap((void *)va, len, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (sys_is_err(p))
		return false;
	if ((uintptr_t)p == va && move(park, len, p, 0) >= 0)
		return true;
	sys_munmap(p, len);
	return false;
}

/* The parent may have mapped something there that the wrappers have not seen. */
void adopt_move_forked(const struct adopt_piece *p)
{
	tries = patient = 0;
	if (move_to_hole(p->park, p->va, p->len))
		return;
	for (uint64_t i = 0; i < p->len; i += ADOPT_PAGE)
		if (!move_to_hole(p->park + i, p->va + i, ADOPT_PAGE))
			sys_munmap(p->park + i, ADOPT_PAGE);
}
