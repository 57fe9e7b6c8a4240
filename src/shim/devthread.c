/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the device thread: one per process that maps a UAR or opens rdma_cm. In trap mode it sleeps
 * until parked work is due or another thread wakes it (seg_proc.wake); in poll mode it also watches
 * the UAR pages and the doorbell records. It blocks all signals and does not keep the process
 * alive: it ends when the program's last thread has ended.
 */
#include "shim/refused.h"
#include "shim/shim.h"
#include "shim/signals/sig.h"
#include "shim/doorbell/fault.h"
#include "engine/engine.h"
#include "segment/proc.h"
#include "segment/suplink.h"
#include "segment/tap.h"
#include "ucma/ucma.h"
#include "umad/umad.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/sys.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>

#define THREAD_STACK (256 * 1024)
#define POLL_SPIN_NS (5 * NSEC_PER_USEC) /* polling after work: more may follow */
#define POLL_MIN_NS (50 * NSEC_PER_USEC)
#define POLL_MAX_NS NSEC_PER_MSEC
#ifndef SLEEP_MAX_NS
#define SLEEP_MAX_NS NSEC_PER_SEC /* new work wakes the thread; this limit is only a safety net */
#endif
#define LEAVING_NS \
	(10 * NSEC_PER_MSEC) /* how often to check whether the program's threads are gone */

enum { THREAD_NONE, THREAD_STARTING, THREAD_RUNS };

static _Atomic uint32_t state;
static _Atomic bool main_left; /* the main thread has called pthread_exit() */

static _Atomic uint32_t helpers; /* threads of ours */

/* Does the process have threads other than ours and the ended main thread? */
static bool program_has_threads(void)
{
	char buf[1024];
	int fd = sys_openat(AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	unsigned int tasks = 0;
	long n;

	if (fd < 0)
		return true;
	while ((n = sys_raw(SYS_getdents64, fd, (long)buf, sizeof(buf), 0, 0, 0)) > 0)
		for (long at = 0; at < n;) {
			uint16_t reclen;

			memcpy(&reclen, buf + at + 16, 2);
			tasks += buf[at + 19] != '.';
			at += reclen;
		}
	sys_close(fd);
	return n < 0 || tasks > 1 + atomic_load(&helpers);
}

bool devthread_needed(void)
{
	return !atomic_load(&main_left) || program_has_threads();
}

void devthread_end(void)
{
	atomic_fetch_sub(&helpers, 1);
}

void devthread_begin(void)
{
	uint64_t setxid = sig_bit(33); /* every thread must answer to setuid() */

	/*
	 * Until this line program_has_threads() counts this thread as one of the program's. That
	 * only keeps the library's threads running a moment longer.
	 */
	atomic_fetch_add(&helpers, 1);
	prctl(PR_SET_NAME, "softhca");
	sys_raw(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&setxid, 0, 8, 0, 0);
}

void devthread_main_exits(void)
{
	struct seg *s = uar_seg();

	if (sys_raw(SYS_gettid, 0, 0, 0, 0, 0, 0) != sys_getpid())
		return;
	atomic_store(&main_left, true);
	if (atomic_load(&state) == THREAD_RUNS && s && s->self != SEG_NONE)
		seg_proc_rouse(s, s->self);
}

/*
 * Sleep until `deadline`, or until the word no longer has the value `seen`. Others
 * see in `me`, unless it is NULL, for how long (park_look()).
 */
static void sleep_until(struct seg_proc *me, _Atomic uint32_t *wake, uint32_t seen,
			uint64_t deadline, uint64_t max)
{
	uint64_t now = clock_now_ns(), ns;

	if (deadline <= now)
		return;
	ns = deadline - now < max ? deadline - now : max;
	if (me) {
		atomic_store(&me->sleeps_until, now + ns);
		if (atomic_exchange(&me->look, 0) && ns > ENG_LOOK_NS)
			ns = ENG_LOOK_NS;
	}
	sys_futex_wait(wake, seen, ns);
}

/* Sleep time of the poller: none while there is work, then longer and longer. */
static uint64_t poll_pause(bool worked, uint64_t pause, uint64_t *idle_since)
{
	uint64_t now = clock_now_ns();

	if (worked) {
		*idle_since = now;
		return 0;
	}
	if (now - *idle_since < POLL_SPIN_NS)
		return 0;
	if (!pause)
		return POLL_MIN_NS;
	pause += pause / 8;
	return pause < POLL_MAX_NS ? pause : POLL_MAX_NS;
}

/*
 * Checks once a second whether the supervisor still exists: if it is killed, nothing reports that.
 */
static void look_for_supervisor(struct seg *s, uint64_t *at)
{
	uint64_t now = clock_now_ns();

	if (now < *at)
		return;
	*at = now + NSEC_PER_SEC;
	if (link_lost(s))
		ucma_lost(s);
}

static void *devthread(void *arg)
{
	static struct seg_life life; /* outlives the thread's stack; a fork child has its own */
	struct seg *s = arg;
	bool poll = uar_poll_mode(), lives = false;
	uint64_t pause = 0, idle_since = 0, look_at = 0;

	if (poll)
		prctl(PR_SET_TIMERSLACK, 1000UL);
	devthread_begin();
	while (devthread_needed()) {
		struct seg_proc *me = s->self == SEG_NONE ? NULL : seg_proc(s, s->self);
		uint64_t max = atomic_load(&main_left) ? LEAVING_NS : SLEEP_MAX_NS, due, mads,
			 adopt;
		static _Atomic uint32_t nobody;
		_Atomic uint32_t *wake = me ? &me->wake : &nobody;
		uint32_t seen = atomic_load(wake);

		if (!me) {
			sleep_until(NULL, wake, seen, UINT64_MAX, LEAVING_NS);
			continue;
		}
		if (!lives)
			seg_proc_life_begin(me, &life);
		lives = true;
		if (poll && uar_any()) {
			bool worked = uar_poll(s);

			worked |= eng_poll_doorbells(s);
			pause = poll_pause(worked, pause, &idle_since);
			max = pause < max ? pause : max;
		}
		tap_look(s);
		look_for_supervisor(s, &look_at);
		due = eng_run_due(s);
		mads = umad_run_due(s);
		if (mads < due)
			due = mads;
		adopt = eng_adopt_due(s);
		if (adopt < due)
			due = adopt;
		if (max)
			sleep_until(me, wake, seen, due, max);
	}
	devthread_end();
	return NULL;
}

/* libc's own function, behind any replacement by the program. */
static _Atomic(int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *)) libc_create;

void devthread_init(void)
{
	void *libc =
		atomic_load(&libc_create) ? NULL : dlopen("libc.so.6", RTLD_NOLOAD | RTLD_LAZY);
	void *p = libc ? dlsym(libc, "pthread_create") : NULL;

	if (p)
		atomic_store(&libc_create, (__typeof__(&pthread_create))p);
	if (libc)
		dlclose(libc);
}

static int create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	devthread_init(); /* another library's constructor may run before ours */
	return atomic_load(&libc_create) ? atomic_load(&libc_create)(t, attr, fn, arg)
					 : pthread_create(t, attr, fn, arg);
}

int devthread_create(void *(*fn)(void *arg), void *arg)
{
	pthread_attr_t attr;
	pthread_t t;
	uint64_t old;
	int r = pthread_attr_init(&attr);

	if (r)
		return -r;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, THREAD_STACK);
	/* The thread inherits this mask: all but the signals that a guarded copy needs. */
	old = sig_raw_setmask(~SIG_MEMORY);
	r = create(&t, &attr, fn, arg);
	/* the program's thread-local data leaves no room in a small stack */
	if (r == EINVAL) {
		pthread_attr_setstacksize(&attr, 8 << 20);
		r = create(&t, &attr, fn, arg);
	}
	sig_raw_setmask(old);
	pthread_attr_destroy(&attr);
	return -r;
}

int devthread_start(void)
{
	uint32_t none = THREAD_NONE;
	struct seg *s = uar_seg();
	int r;

	if (!s || !atomic_compare_exchange_strong(&state, &none, THREAD_STARTING))
		return 0;
	r = devthread_create(devthread, s);
	atomic_store(&state, r ? THREAD_NONE : THREAD_RUNS);
	TRACE(LOG_SHIM, "device thread: %d", -r);
	refused_limit("cannot start the device's thread", r);
	return r;
}

/*
 * In a fork child the first thing to park may come before the next mapping, even from a trap.
 * Creating a thread allocates, although the doorbell may have interrupted malloc(); this one case
 * is accepted.
 */
void devthread_if_parked(void)
{
	struct seg *s = uar_seg();
	struct seg_proc *me;

	if (__builtin_expect(atomic_load_explicit(&state, memory_order_relaxed) != THREAD_NONE, 1))
		return;
	me = s && s->self != SEG_NONE ? seg_proc(s, s->self) : NULL;
	if (me && (me->parked || umad_has_deadlines()))
		devthread_start();
}

void devthread_forked(void)
{
	atomic_store(&state, THREAD_NONE);
	atomic_store(&main_left, false);
	atomic_store(&helpers, 0);
}
