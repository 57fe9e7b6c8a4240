/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the window in which pages of this process are moved, and the marks of system calls that use
 * the program's memory. Wrappers and the SIGSEGV handler call it; no lock, no allocation.
 *
 * A call is marked before it starts and then waits for a window over its memory; a window is opened
 * before the marks are read. So a call and a window over the same pages never meet.
 */
#include "segment/adopt_priv.h"
#include "segment/mem.h"
#include "util/clock.h"
#include "util/sys.h"
#include "util/tls.h"

#include <sys/socket.h>

#define MARKS 64
#define CLAIMED 1 /* `hi` of a mark that is being filled in */
#define SPINS 64
#define CHANGES_NS (20 * NSEC_PER_MSEC)

_Atomic uint32_t adopt_on, adopt_may, adopt_taken;

static struct {
	_Atomic uint32_t turn; /* odd while a window is open */
	_Atomic uint64_t lo, hi;
	_Atomic int pid;
	_Atomic uint32_t unmarked; /* number of calls in progress that found no free mark */
	struct {
		_Atomic uint64_t lo, hi; /* hi 0: free */
		_Atomic int tid;
		_Atomic bool change; /* the call changes mappings */
	} mark[MARKS];
} win;

/* The mappings of [lo, hi) are being looked at; a call that changes them counts itself. */
static struct {
	_Atomic uint64_t lo, hi;
	_Atomic uint32_t changed;
} watch;

static TLS_IE uint32_t my_mark, my_turn;
static TLS_IE int my_tid;

static bool call_overlaps(uint64_t lo, uint64_t hi)
{
	return atomic_load(&win.lo) < hi && lo < atomic_load(&win.hi);
}

/* Was the mark left by a thread that was cancelled in its call? */
static bool is_stale(int k, uint64_t end)
{
	int tid = atomic_load(&win.mark[k].tid);

	return end != CLAIMED && tid && sys_call(SYS_tgkill, sys_getpid(), tid, 0) == -ESRCH &&
	       atomic_compare_exchange_strong(&win.mark[k].hi, &end, 0);
}

static bool in_use(uint64_t lo, uint64_t hi, bool changes_only)
{
	if (atomic_load(&win.unmarked))
		return true;
	for (int k = 0; k < MARKS; k++) {
		uint64_t end = atomic_load(&win.mark[k].hi);

		if (end && end != CLAIMED && changes_only && !atomic_load(&win.mark[k].change))
			continue;
		if ((end == CLAIMED || (end > lo && atomic_load(&win.mark[k].lo) < hi)) &&
		    !is_stale(k, end))
			return true;
	}
	return false;
}

bool adopt_watch(uint64_t lo, uint64_t hi)
{
	uint64_t end = clock_now_ns() + CHANGES_NS;

	atomic_store(&watch.changed, 0);
	atomic_store(&watch.lo, lo);
	atomic_store(&watch.hi, hi);
	while (in_use(lo, hi, true)) {
		if (clock_now_ns() >= end)
			return false;
		sys_call(SYS_sched_yield);
	}
	return true;
}

bool adopt_watch_changed(void)
{
	return atomic_load(&watch.changed) != 0;
}

bool adopt_window_open(uint64_t lo, uint64_t hi)
{
	atomic_store(&win.pid, sys_getpid());
	atomic_store(&win.lo, lo);
	atomic_store(&win.hi, hi);
	atomic_fetch_add(&win.turn, 1);
	if (!in_use(lo, hi, false))
		return true;
	adopt_window_close();
	return false;
}

void adopt_window_close(void)
{
	atomic_fetch_add(&win.turn, 1);
}

/* False: the thread that moves the pages is not in this process (a fork that we did not see). */
static bool wait_for_window(uint32_t turn)
{
	for (uint32_t i = 1; atomic_load(&win.turn) == turn; i++) {
		if (i % SPINS) {
			sys_cpu_relax();
			continue;
		}
		if (i % (SPINS * SPINS) == 0 && sys_getpid() != atomic_load(&win.pid))
			return false;
		sys_call(SYS_sched_yield);
	}
	return true;
}

/*
 * The window may have closed between the fault and this look: every thread repeats one fault for
 * each window that it has not met yet. A fault of the program comes again.
 */
bool adopt_fault(uintptr_t addr)
{
	uint32_t turn = atomic_load(&win.turn);

	if (turn & 1 && call_overlaps(addr, addr + 1))
		return wait_for_window(turn);
	if (turn == my_turn)
		return false;
	my_turn = turn;
	return true;
}

/* Waits for a window over [lo, hi). The result is for adopt_call_end(). */
static int mark_call(uint64_t lo, uint64_t hi, bool change)
{
	int mark = MARKS;
	uint64_t none;

	if (__builtin_expect(!my_tid, 0))
		my_tid = (int)sys_call(SYS_gettid);
	for (uint32_t i = 0; i < MARKS && mark == MARKS; i++) {
		uint32_t k = (my_mark + i) % MARKS;

		none = 0;
		if (atomic_compare_exchange_strong(&win.mark[k].hi, &none, CLAIMED)) {
			atomic_store(&win.mark[k].lo, lo);
			atomic_store(&win.mark[k].tid, my_tid);
			atomic_store(&win.mark[k].change, change);
			atomic_store(&win.mark[k].hi, hi);
			my_mark = k;
			mark = (int)k;
		}
	}
	if (mark == MARKS)
		atomic_fetch_add(&win.unmarked, 1);
	for (uint32_t turn = atomic_load(&win.turn); turn & 1 && call_overlaps(lo, hi);
	     turn = atomic_load(&win.turn))
		if (!wait_for_window(turn))
			break;
	return mark;
}

int adopt_call_begin(const void *p, size_t n)
{
	uint64_t lo = (uintptr_t)p, hi = lo + n;

	if (__builtin_expect(!atomic_load_explicit(&adopt_on, memory_order_relaxed), 1) || !n ||
	    hi <= lo)
		return -1;
	return mark_call(lo, hi, false);
}

int adopt_change_begin(const void *p, size_t n)
{
	uint64_t lo = (uintptr_t)p, hi = lo + n;
	uint32_t taken;
	int mark;

	if (__builtin_expect(!atomic_load_explicit(&adopt_may, memory_order_relaxed), 1) || !n ||
	    hi <= lo)
		return -1;
	for (;;) {
		taken = atomic_load(&adopt_taken);
		adopt_keep_out(p, n);
		mark = mark_call(lo, hi, true);
		if (atomic_load(&adopt_taken) == taken)
			break;
		adopt_call_end(mark);
	}
	if (atomic_load(&watch.lo) < hi && lo < atomic_load(&watch.hi))
		atomic_fetch_add(&watch.changed, 1);
	return mark;
}

#define VECTORS_MAX 1024 /* UIO_MAXIOV: the kernel refuses more */

struct hull {
	uint64_t lo, hi;
};

static void hull_add(struct hull *h, const struct iovec *iov, size_t n)
{
	struct iovec v;

	for (size_t i = 0; i < n && i < VECTORS_MAX; i++) {
		if (mem_guarded_copy(&v, &iov[i], sizeof(v)))
			return;
		if (v.iov_len && (uintptr_t)v.iov_base < h->lo)
			h->lo = (uintptr_t)v.iov_base;
		if (v.iov_len && (uintptr_t)v.iov_base + v.iov_len > h->hi)
			h->hi = (uintptr_t)v.iov_base + v.iov_len;
	}
}

static int begin_hull(const struct hull *h)
{
	return h->hi > h->lo ? adopt_call_begin((void *)h->lo, h->hi - h->lo) : -1;
}

int adopt_call_begin_v(const struct iovec *iov, size_t n)
{
	struct hull h = {UINT64_MAX, 0};

	if (__builtin_expect(!atomic_load_explicit(&adopt_on, memory_order_relaxed), 1))
		return -1;
	hull_add(&h, iov, n);
	return begin_hull(&h);
}

int adopt_call_begin_m(const struct msghdr *m, size_t n, size_t stride)
{
	struct hull h = {UINT64_MAX, 0};
	struct msghdr one;

	if (__builtin_expect(!atomic_load_explicit(&adopt_on, memory_order_relaxed), 1))
		return -1;
	for (size_t i = 0; i < n && i < VECTORS_MAX; i++) {
		if (mem_guarded_copy(&one, (const uint8_t *)m + i * stride, sizeof(one)))
			break;
		hull_add(&h, one.msg_iov, one.msg_iovlen);
		hull_add(&h, &(struct iovec){one.msg_control, one.msg_controllen}, 1);
	}
	return begin_hull(&h);
}

void adopt_call_end(int mark)
{
	if (mark >= 0 && mark < MARKS)
		atomic_store_explicit(&win.mark[mark].hi, 0, memory_order_release);
	else if (mark == MARKS)
		atomic_fetch_sub(&win.unmarked, 1);
}

/* Only the thread in fork() lives on, and it is in no marked call. */
void adopt_calls_forked(void)
{
	for (int i = 0; i < MARKS; i++)
		atomic_store(&win.mark[i].hi, 0);
	atomic_store(&win.unmarked, 0);
	my_tid = 0;
	if (atomic_load(&win.turn) & 1)
		adopt_window_close();
}
