/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns what wakes the readers of an event queue: the bytes in its FIFO, the futex of blocking
 * reads, and the rules of waiting. Called by evq.c and by readers and pollers.
 *
 * Each event writes a byte of its own, as each is an edge to epoll(7) and a SIGIO. The byte is
 * written after the record is linked; all bytes are drained before the last record is taken. So a
 * readable FIFO has a record at any instruction. A note says when a byte is still to be written
 * (evq.c). The futex comes last: a woken reader finds everything done.
 */
#include "hw/evq_priv.h"
#include "hw/for_tests.h"
#include "segment/suplink.h"
#include "segment/proc.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/fmt.h"
#include "util/log.h"
#include "util/point.h"
#include "util/sys.h"
#include "util/tls.h"

#include <limits.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <time.h>

/* How soon readers look again at a queue whose lock a stopped process holds. */
#define LOCKED_NS 10000000L
/* A FIFO holds 64 KiB. With this many bytes in it, all but one are read. */
#define MANY_BYTES 16384

/* No stdio: these also run in a trap. */
void evq_name(char name[EVQ_NAME], uint32_t evq, uint32_t gen, uint32_t kind, uint32_t node)
{
	/* as UVERBS_TYPE_ALLOC_FD() names them in the kernel: uverbs_std_types*.c, mlx5's devx.c */
	static const char *const shown[] = {
		[SEG_FILE_ASYNC] = "[infinibandevent]",
		[SEG_FILE_COMP] = "[infinibandevent]",
		[SEG_FILE_DEVX_CMD] = "[devx_async_cmd]",
		[SEG_FILE_DEVX_EVENT] = "[devx_async_event]",
		[SEG_FILE_RDMA_CM] = "rdma_cm",
	};

	if (kind == SEG_FILE_UMAD)
		fmt(name, EVQ_NAME, "%u.%u.umad%u", evq, gen, node);
	else if (kind < ARRAY_SIZE(shown) && shown[kind])
		fmt(name, EVQ_NAME, "%u.%u.%s", evq, gen, shown[kind]);
	else
		fmt(name, EVQ_NAME, "%u.%u", evq, gen);
}

void evq_path(const struct seg *s, uint32_t evq, uint32_t gen, char path[320])
{
	const struct seg_file *f = seg_at(s, SEG_T_FILE, evq);
	char name[EVQ_NAME];

	evq_name(name, evq, gen, f->kind, f->node);
	fmt(path, 320, "%s/ev/%s", s->dir, name);
}

static TLS_IE struct {
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
 * Opens the FIFO by path, as the reader may be any process. If this process cannot (no descriptor
 * left, chroot or setuid since), the supervisor does it, later: *is_there false. It is opened for
 * reading as well: if the reader ends before the write, there is no SIGPIPE.
 */
static int write_byte(struct seg *s, uint32_t evq, uint32_t gen, const struct seg_evq *q,
		      bool *is_there)
{
	char path[320], byte = 1;
	ssize_t r;
	int fd, n;

	*is_there = true;
	/* The descriptor may be in blocking mode. */
	if (hint.fd >= 0 && hint.evq == evq && hint.gen == gen && !sys_ioctl(hint.fd, FIONREAD, &n))
		return n >= MANY_BYTES || sys_write(hint.fd, &byte, 1) == 1 ? 0 : -EIO;
	evq_path(s, evq, gen, path);
	fd = sys_openat(AT_FDCWD, path, O_RDWR | O_NONBLOCK | O_CLOEXEC, 0);
	if (fd < 0) {
		*is_there = false;
		return link_wake(s, evq, gen);
	}
	/*
	 * A pusher that was stopped meanwhile (mostly in openat()) finds its record taken: its byte
	 * would make a queue readable that is empty.
	 */
	*is_there = evq_ready(s, q);
	r = *is_there ? sys_write(fd, &byte, 1) : 0;
	sys_close(fd);
	/* EAGAIN: the FIFO is full, so it is readable */
	return r == -EAGAIN ? 0 : r < 0 ? (int)r : 0;
}

/* A reader that `sleepers` does not count yet finds that `wake` has changed. */
void evq_wake_readers(struct seg_evq *q)
{
	POINT("evq-wake");

	atomic_fetch_add(&q->wake, 1);
	if (atomic_load(&q->sleepers))
		sys_futex_wake(&q->wake, INT_MAX);
}

/* Is a thread known to wait for the FIFO? */
static bool tells(const struct seg_evq *q)
{
	return atomic_load(&q->lazy) != EVQ_LAZY || atomic_load(&q->pollers);
}

/*
 * Is there certainly a byte? One is enough for a lazy queue, whose waiters do not count edges. A
 * reader that empties the FIFO now looks for new records afterwards.
 */
static bool told_already(const struct seg_evq *q)
{
	return atomic_load(&q->lazy) == EVQ_LAZY &&
	       atomic_load(&q->told) == atomic_load(&q->drains) + 1;
}

bool evq_tell_pollers(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evq *q)
{
	bool writes = tells(q) && !told_already(q);
	int err = 0;

	if (writes) {
		uint32_t drains = atomic_load(&q->drains);
		bool is_there;

		atomic_fetch_add(&q->byte, 1);
		POINT("evq-byte");
		err = write_byte(s, evq, gen, q, &is_there);
		if (!err && is_there)
			atomic_store(&q->told, drains + 1);
	}
	q->silent = err != 0;
	if (err)
		TRACE(LOG_EVENT, "evq %u: pollers are not woken: %d", evq, err);
	return writes;
}

void evq_tell(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evq *q)
{
	evq_tell_pollers(s, evq, gen, q);
	evq_wake_readers(q);
}

/*
 * Reads only the bytes that are there, except `keep`: the descriptor may be in blocking mode, and
 * the lock is held.
 */
static void fifo_drain(int fd, int keep)
{
	char buf[1024];
	int n = 0, r;

	/* A byte that comes behind the count has a record that the caller finds, or its pusher. */
	while (!(r = sys_ioctl(fd, FIONREAD, &n)) && n > keep) {
		n -= keep;
		if (sys_read(fd, buf, (size_t)n < sizeof(buf) ? (size_t)n : sizeof(buf)) <= 0 ||
		    (size_t)n < sizeof(buf))
			return;
	}
	/* If a filter (seccomp) refuses to count the bytes, read all or none. */
	while (sys_refused(r) && !keep && sys_readable(fd) > 0)
		if (sys_read(fd, buf, sizeof(buf)) <= 0)
			return;
}

static bool drain_now(const struct seg *s, uint32_t evq, struct seg_evq *q, int fd)
{
	char path[320];
	int own;

	if (fd >= 0) {
		fifo_drain(fd, 0);
		return true;
	}
	evq_path(s, evq, q->gen, path);
	own = sys_openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
	if (own < 0)
		return false;
	fifo_drain(own, 0);
	sys_close(own);
	return true;
}

/* A byte that is written meanwhile may be gone afterwards, so it does not count as there. */
bool evq_drain(const struct seg *s, uint32_t evq, struct seg_evq *q, int fd)
{
	bool done;

	atomic_fetch_add(&q->drains, 1);
	done = drain_now(s, evq, q, fd);
	atomic_fetch_add(&q->drains, 1);
	return done;
}

void evq_trim(struct seg_evq *q, int fd)
{
	if (fd < 0 || atomic_load_explicit(&q->byte, memory_order_relaxed) < MANY_BYTES)
		return;
	atomic_store(&q->byte, 1);
	fifo_drain(fd, 1);
}

void evq_settle(struct seg *s, uint32_t evq, struct seg_evq *q, int fd)
{
	if (!evq_ready(s, q)) {
		if (!atomic_load(&q->byte))
			return;
		atomic_store(&q->byte, 0);
		POINT("evq-settle");
		if (!evq_drain(s, evq, q, fd))
			atomic_store(&q->byte, 1);
		/* An event that came meanwhile may have lost its byte in the drain. */
		if (evq_ready(s, q))
			evq_tell(s, evq, q->gen, q);
	} else if (tells(q) && !atomic_load(&q->byte)) {
		evq_tell(s, evq, q->gen, q);
	}
}

/* ---- waiting */

bool evq_ready(const struct seg *s, const struct seg_evq *q)
{
	return evq_rec(s, atomic_load(&q->newest)) || atomic_load(&q->dead) ||
	       atomic_load(&q->lost);
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

/*
 * Nobody tells when the lock's holder goes on. FUTEX_WAIT with a time-out is -EINTR whatever
 * SA_RESTART says (futex_wait(), kernel/futex/waitwake.c); futex_waitv(2) is restarted.
 */
static long wait_for_lock(struct seg_evq *q, uint32_t seen)
{
	const struct futex_waitv w = {.val = seen, .uaddr = (uintptr_t)&q->wake, .flags = FUTEX_32};
	const struct timespec t = {.tv_nsec = LOCKED_NS};
	uint64_t end = clock_now_ns() + LOCKED_NS;
	const struct timespec at = {(time_t)(end / NSEC_PER_SEC), (long)(end % NSEC_PER_SEC)};
	long r = sys_call(SYS_futex_waitv, &w, 1, 0, &at, CLOCK_MONOTONIC);

	if (sys_refused((int)r)) /* it is as old as Linux 5.16 */
		r = sys_call(SYS_futex, &q->wake, FUTEX_WAIT, seen, &t);
	return r;
}

int evq_wait(struct seg_evq *q, uint32_t seen, bool locked, const void *sigmask)
{
	uint32_t before = evq_forks();
	uint64_t old;
	long r;

	atomic_fetch_add(&q->sleepers, 1);
	if (sigmask)
		sys_call(SYS_rt_sigprocmask, SIG_SETMASK, sigmask, &old, sizeof(old));
	r = locked ? wait_for_lock(q, seen) : sys_call(SYS_futex, &q->wake, FUTEX_WAIT, seen, NULL);
	if (sigmask)
		sys_call(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof(old));
	if (evq_forks() == before)
		atomic_fetch_sub(&q->sleepers, 1);
	return r == -EINTR ? -EINTR : 0;
}

int evq_poll_begin(struct seg *s, uint32_t evq, uint32_t gen)
{
	struct seg_evq *q = seg_live(s, SEG_T_EVQ, evq);

	if (!q || q->gen != gen)
		return -ENOENT;
	/* A pusher links its record, then looks for pollers: one of the two sees the other. */
	atomic_fetch_add(&q->pollers, 1);
	if (!evq_ready(s, q))
		return 0;
	atomic_fetch_sub(&q->pollers, 1);
	return 1;
}

void evq_poll_end(struct seg *s, uint32_t evq, uint32_t gen)
{
	struct seg_evq *q = seg_live(s, SEG_T_EVQ, evq);

	if (q && q->gen == gen)
		atomic_fetch_sub(&q->pollers, 1);
}

/*
 * The lock's holder does it when it unlocks. If the holder is stopped, nobody can take records, and
 * until it goes on no byte is a stray one.
 */
static void tell_now(struct seg *s, uint32_t evq, struct seg_evq *q)
{
	atomic_fetch_or(&q->asked, EVQ_ASK);
	evq_attend(s, evq, q);
	if (!atomic_load(&q->asked) || !evq_ready(s, q))
		return;
	evq_tell(s, evq, q->gen, q);
	atomic_fetch_or(&q->asked, EVQ_ASK);
	evq_attend(s, evq, q);
}

void evq_publish(struct seg *s, uint32_t evq, uint32_t gen)
{
	struct seg_evq *q = seg_live(s, SEG_T_EVQ, evq);

	if (!q || q->gen != gen || !atomic_load(&q->lazy))
		return;
	atomic_store(&q->lazy, EVQ_PUBLISHING);
	tell_now(s, evq, q);
	atomic_store(&q->lazy, 0);
}

void evq_set_lazy(struct seg *s, uint32_t file)
{
	struct seg_evq *q = seg_live(s, SEG_T_EVQ, file);

	if (q)
		atomic_store(&q->lazy, EVQ_LAZY);
}

void evq_lost(struct seg *s, uint32_t evq, uint32_t gen)
{
	struct seg_evq *q = seg_live(s, SEG_T_EVQ, evq);

	if (!q || q->gen != gen)
		return;
	atomic_store(&q->lost, 1);
	tell_now(s, evq, q);
}

void evq_wake(struct seg *s, uint32_t evq, uint32_t gen)
{
	struct seg_evq *q = seg_live(s, SEG_T_EVQ, evq);

	if (q && q->gen == gen)
		tell_now(s, evq, q);
}

/* ---- a queue that is filled faster than it is read */

/* A number for the calling thread of any process, which few others share. */
static uint32_t this_thread(void)
{
	return (uint32_t)((uintptr_t)&hint >> 4) | 1;
}

/* Called under the lock; the queue has just become shorter. */
void evq_taken(struct seg_evq *q)
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
			if (q->count >= before) /* the reader does something else: stop waiting */
				atomic_store(&q->reader, 0);
			break;
		}
		r = sys_futex_wait(&q->room, room, NSEC_PER_MSEC);
	}
	atomic_fetch_sub(&q->easers, 1);
}
