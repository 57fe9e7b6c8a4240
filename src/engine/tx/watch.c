/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns what `softhca check` does with work requests before they are executed. Some are executed
 * late, as the adapter may do it: not before the thread that posted them has used some time of a
 * processor, or sleeps, so that a program that touches their memory too soon has done so. A
 * checksum from the time of the post then differs. Called by sq.c under the queue's lock.
 */
#include "check/check.h"
#include "engine/base/qp.h"
#include "engine/base/ring.h"
#include "engine/base/transport.h"
#include "engine/keys/keys.h"
#include "engine/path/cause.h"
#include "engine/tx/tx.h"
#include "util/clock.h"
#include "util/fmt.h"
#include "util/sys.h"

#include <string.h>
#include <time.h>

#define WATCHES 512u
#define READS 8u
#define RUNG 16u
#define FIRST_LATE 8u      /* so many requests of a queue are late, and then */
#define EVERY_LATE 64u     /* each of so many */
#define LATE_CPU_NS 100000 /* time of a processor that the poster uses meanwhile */
#define LOOK_NS 50000      /* between two looks at it */
#define LATE_MAX_NS NSEC_PER_SEC
#define HURRY_TRIES 100000u         /* a thread that was killed while it looked is no hang */
#define SUM_MAX (UINT64_C(1) << 20) /* bytes of a message that are compared */

struct watch {
	_Atomic uint32_t busy;
	uint32_t qpn, gen;
	uint32_t posted;       /* work requests */
	uint32_t at_ci, step;  /* the WQE in hand, and its index without a wrap */
	uint32_t begin;        /* the step from which nothing was executed at the last doorbell */
	uint32_t late;         /* 1 + the index of the WQE that is late; 0: none */
	uint32_t seen;         /* WQEs before this index were looked at, when one was late */
	uint64_t sum, address; /* of its memory, when it was posted */
	int tid;               /* who posted it */
	uint64_t cpu, since;   /* when */
	bool hurry;            /* nothing waits any more */
	uint32_t at_index;     /* 1 + the index of the WQE that `at` is of; 0: none */
	struct check_stack at; /* where it was posted */
	/* Doorbells that rang while a WQE was late: 1 + the index that they went up to; 0: none. */
	struct {
		uint32_t end;
		struct check_stack at;
	} rung[RUNG];
	uint32_t nrung;
	/* What was to be read last, in a ring: the memory, and the step of the WQE. */
	struct {
		uint32_t step;
		uint64_t va, len; /* len 0: none */
	} reads[READS];
	uint32_t nreads;
};

/* A queue without a place here is not watched. */
static struct watch watches[WATCHES];

/* The last READs of all queues, in a ring. */
#define TARGETS 64u
static struct {
	_Atomic uint32_t busy;
	uint32_t n;
	struct target {
		uint32_t qpn, gen, step;
		uint64_t va, len; /* len 0: none */
	} at[TARGETS];
} targets;

static struct watch *watch_of(const struct eng_run *r)
{
	struct watch *w = &watches[r->qpn % WATCHES];

	if (atomic_exchange(&w->busy, 1))
		return NULL;
	if (w->qpn == r->qpn && w->gen == r->qp->gen)
		return w;
	if (w->late) {
		const struct hw_qp *qp = hw_qp(r->s, w->qpn);

		if (qp && qp->gen == w->gen) {
			atomic_store(&w->busy, 0);
			return NULL;
		}
	}
	memset(&w->qpn, 0, sizeof(*w) - offsetof(struct watch, qpn));
	w->qpn = r->qpn;
	w->gen = r->qp->gen;
	return w;
}

/* A rule that the queue's program breaks: "QP ...: " and the sentence. */
static __attribute__((format(printf, 6, 7))) void say(const struct seg *s, const struct hw_qp *qp,
						      uint32_t qpn, enum check_rule_id rule,
						      uint64_t key, const char *f, ...)
{
	const struct check_about a = {.kind = "QP", .number = qpn, .key = key};
	char line[CAUSE_TEXT];
	struct cause_text t = {line, sizeof(line), 0};
	va_list ap;

	cause_put_qp(&t, s, qp, qpn);
	va_start(ap, f);
	fmt_v(line + t.n, sizeof(line) - t.n, f, ap);
	va_end(ap);
	check_say(rule, &a, "%s", line);
}

/* ---- memory */

/* The offset of the segments with the request's memory; 0: it has none, or not so plain. */
static uint32_t memory_of(const struct eng_run *r, bool *is_read)
{
	uint32_t off = eng_wqe_data(r);

	*is_read = eng_op(r->opcode)->kind == ENG_K_READ;
	return off <= r->bytes && eng_accepts(r->transport, r->opcode) ? off : 0;
}

/* Puts it into r->local. False: it cannot be read as it is. */
static bool find_memory(struct eng_run *r, uint32_t off, bool is_read)
{
	const struct eng_sgl *l = &r->local;
	bool found;

	running_any_key(r->ring);
	found = !sgl_from_wqe(r, off, is_read ? HW_ACC_LOCAL_WRITE : HW_ACC_LOCAL_READ, UINT64_MAX);
	cause_note = (struct cause_note){0};
	for (uint32_t i = 0; found && i < l->n; i++)
		found = l->mem[l->mixed ? i : 0].slot < ENG_SLOT_SIG;
	return found && l->len;
}

static uint64_t sum_bytes(uint64_t sum, const uint8_t *p, size_t n)
{
	for (; n >= 8; p += 8, n -= 8) {
		uint64_t v;

		memcpy(&v, p, 8);
		sum = (sum ^ v) * UINT64_C(0x9e3779b97f4a7c15);
		sum ^= sum >> 29;
	}
	for (; n; p++, n--)
		sum = (sum ^ *p) * UINT64_C(0x9e3779b97f4a7c15);
	return sum;
}

/* False: it cannot be read. */
static bool sum_memory(const struct eng_run *r, uint64_t *sum)
{
	const struct eng_sgl *l = &r->local;
	uint64_t left = SUM_MAX;
	uint8_t part[1024];

	*sum = l->len;
	for (uint32_t i = 0; i < l->n && left; i++) {
		struct mem_slot mem = l->mem[l->mixed ? i : 0];
		uint64_t n;

		for (uint64_t at = 0; at < l->v[i].len && left; at += n, left -= n) {
			n = l->v[i].len - at;
			n = n < sizeof(part) ? n : sizeof(part);
			n = n < left ? n : left;
			if (mem_read(r->s, mem, l->v[i].va + at, part, n))
				return false;
			*sum = sum_bytes(*sum, part, n);
		}
	}
	return true;
}

/* ---- late */

/* Nanoseconds of a processor that a thread of this process has used; 0: it has ended. */
static uint64_t thread_cpu_ns(int tid)
{
	struct timespec ts;
	/* MAKE_THREAD_CPUCLOCK(tid, CPUCLOCK_SCHED) of linux/posix-timers.h */
	clockid_t clock = (clockid_t)(~(unsigned int)tid << 3 | 6);

	if (sys_call(SYS_clock_gettime, clock, &ts))
		return 0;
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

static bool thread_sleeps(int tid)
{
	char path[48], text[256];
	const char *state;

	fmt(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	state = sys_read_text(path, text, sizeof(text)) > 0 ? strrchr(text, ')') : NULL;
	return !state || state[2] != 'R';
}

static bool is_too_soon(const struct watch *w)
{
	uint64_t cpu = w->hurry ? 0 : thread_cpu_ns(w->tid);

	return cpu && cpu - w->cpu < LATE_CPU_NS && clock_now_ns() - w->since < LATE_MAX_NS &&
	       !thread_sleeps(w->tid);
}

static bool is_chosen(const struct eng_run *r, struct watch *w)
{
	uint32_t n = w->posted++;

	return r->waits_ready && (n < FIRST_LATE || n % EVERY_LATE == 0);
}

static void wait_longer(struct eng_run *r)
{
	park_qp(r->s, r->qp, HW_PARK_LATE, eng_clock() + LOOK_NS);
}

static void take_stack(const struct eng_run *r, struct watch *w)
{
	check_stack_take(&w->at);
	w->at_index = 1 + r->ci;
}

/* The thread that posts it is this one. */
static bool begin_late(struct eng_run *r, struct watch *w)
{
	if (!sum_memory(r, &w->sum))
		return false;
	w->address = r->local.v[0].va;
	w->tid = (int)sys_raw(SYS_gettid, 0, 0, 0, 0, 0, 0);
	w->cpu = thread_cpu_ns(w->tid);
	w->since = clock_now_ns();
	take_stack(r, w);
	w->late = 1 + r->ci;
	wait_longer(r);
	return true;
}

static void compare(struct eng_run *r, const struct watch *w, bool is_read)
{
	uint64_t sum;

	if (!sum_memory(r, &sum) || sum == w->sum)
		return;
	say(r->s, r->qp, r->qpn, is_read ? CHECK_R_READ_WRITTEN : CHECK_R_SEND_CHANGED, w->address,
	    "%s: memory at 0x%llx, %llu bytes in all, changed after the post and before "
	    "the completion",
	    wqe_opcode_name((uint8_t)r->opcode), (unsigned long long)w->address,
	    (unsigned long long)r->local.len);
}

/* ---- fences */

static uint32_t step_at(const struct watch *w, uint32_t index)
{
	return w->step + ((index - w->at_ci) & 0xffff);
}

static void count_step(const struct eng_run *r, struct watch *w)
{
	w->step = step_at(w, r->ci);
	w->at_ci = r->ci;
}

static bool is_since(uint32_t step, uint32_t begin)
{
	return (int32_t)(step - begin) >= 0;
}

static void note_read(const struct eng_run *r, struct watch *w)
{
	for (uint32_t i = 0; i < r->local.n; i++) {
		uint32_t at = w->nreads++ % READS;

		w->reads[at].step = step_at(w, r->ci);
		w->reads[at].va = r->local.v[i].va;
		w->reads[at].len = r->local.v[i].len;
	}
}

static bool overlaps(const struct eng_run *r, uint64_t va, uint64_t len)
{
	for (uint32_t i = 0; i < r->local.n; i++)
		if (r->local.v[i].va < va + len && va < r->local.v[i].va + r->local.v[i].len)
			return true;
	return false;
}

/* It waits behind a WQE that is late: its completion cannot have been polled. */
static bool is_waiting(const struct target *t)
{
	const struct watch *w = &watches[t->qpn % WATCHES];
	uint32_t late = __atomic_load_n(&w->late, __ATOMIC_ACQUIRE);

	return late && w->qpn == t->qpn && w->gen == t->gen &&
	       is_since(t->step, step_at(w, late - 1)) &&
	       __atomic_load_n(&w->late, __ATOMIC_ACQUIRE) == late;
}

/* The queue of another READ that is to fill this memory; SEG_NONE: none. */
static uint32_t other_reader(const struct eng_run *r, uint64_t va, uint64_t len)
{
	for (uint32_t i = 0; i < TARGETS; i++) {
		const struct target *t = &targets.at[i];

		if (t->len && t->qpn != r->qpn && t->va < va + len && va < t->va + t->len &&
		    is_waiting(t))
			return t->qpn;
	}
	return SEG_NONE;
}

/* A READ that was just posted. */
static void look_for_reads(const struct eng_run *r, const struct watch *w)
{
	if (atomic_exchange(&targets.busy, 1))
		return;
	for (uint32_t i = 0; i < r->local.n; i++) {
		uint64_t va = r->local.v[i].va, len = r->local.v[i].len;
		uint32_t other = other_reader(r, va, len);

		if (other != SEG_NONE)
			say(r->s, r->qp, r->qpn, CHECK_R_READ_TWICE, 0,
			    "RDMA_READ to memory at 0x%llx, which one of QP 0x%x fills that is "
			    "outstanding",
			    (unsigned long long)va, other);
		targets.at[targets.n++ % TARGETS] =
			(struct target){r->qpn, r->qp->gen, step_at(w, r->ci), va, len};
	}
	atomic_store(&targets.busy, 0);
}

/* The request reads memory that an earlier one has not filled for sure. */
static void look_for_fence(struct eng_run *r, const struct watch *w)
{
	if (LAYOUT_GET(wqe_ctrl, r->wqe, fm))
		return;
	for (uint32_t i = 0; i < READS; i++) {
		if (!w->reads[i].len || !is_since(w->reads[i].step, w->begin) ||
		    !overlaps(r, w->reads[i].va, w->reads[i].len))
			continue;
		say(r->s, r->qp, r->qpn, CHECK_R_FENCE, 0,
		    "%s of memory at 0x%llx, which an RDMA_READ posted before is to fill and "
		    "whose completion was not polled, without IBV_SEND_FENCE",
		    wqe_opcode_name((uint8_t)r->opcode), (unsigned long long)w->reads[i].va);
		return;
	}
}

/* ---- */

/* A WQE that was just posted. */
static void look(struct eng_run *r, struct watch *w, bool is_read)
{
	if (is_read) {
		note_read(r, w);
		look_for_reads(r, w);
	} else if (w->nreads)
		look_for_fence(r, w);
}

/* The WQEs that were posted behind one that is late. */
static __attribute__((noinline)) void look_ahead(const struct eng_run *r, struct watch *w,
						 uint32_t pi)
{
	struct eng_run next;
	bool is_read;
	uint32_t off;

	eng_run_begin(&next, r->s, r->qp, r->qpn);
	next.ring = r->ring;
	next.transport = r->transport;
	w->seen = pi;
	for (next.ci = (r->ci + r->nbb) & 0xffff; next.ci != pi && !sq_fetch(&next, pi);
	     next.ci = (next.ci + next.nbb) & 0xffff) {
		off = memory_of(&next, &is_read);
		if (off && find_memory(&next, off, is_read))
			look(&next, w, is_read);
	}
}

static bool is_seen(const struct eng_run *r, const struct watch *w)
{
	uint32_t left = (w->seen - r->ci) & 0xffff;

	return left && left < 0x8000;
}

static bool step(struct eng_run *r, struct watch *w, uint32_t pi)
{
	bool is_read, mine = w->late == 1 + r->ci;
	uint32_t off = memory_of(r, &is_read);

	if (mine && is_too_soon(w)) {
		wait_longer(r);
		return true;
	}
	if (mine)
		w->late = 0;
	if (!off)
		return false;
	if (!find_memory(r, off, is_read)) {
		cause_note.was_good = mine;
		return false;
	}
	if (mine) {
		compare(r, w, is_read);
		return false;
	}
	if (is_seen(r, w) || atomic_load(&r->qp->park) != HW_PARK_NO)
		return false;
	w->seen = r->ci;
	look(r, w, is_read);
	if (!is_chosen(r, w) || !begin_late(r, w))
		return false;
	look_ahead(r, w, pi);
	return true;
}

/* Where the WQE in hand was posted, if that is known. */
static const struct check_stack *stack_of(const struct eng_run *r, const struct watch *w)
{
	const struct check_stack *found = NULL;
	uint32_t least = 0x8000;

	if (w->at_index == 1 + r->ci)
		return &w->at;
	for (uint32_t i = 0; i < RUNG; i++) {
		uint32_t left = (w->rung[i].end - 1 - r->ci) & 0xffff;

		if (!w->rung[i].end || !left || left >= least)
			continue;
		least = left;
		found = &w->rung[i].at;
	}
	return found;
}

void watch_rung(struct eng_run *r)
{
	struct watch *w = watch_of(r);
	uint32_t end = 1 + (atomic_load(&r->qp->sq_pi) & 0xffff);

	if (!w)
		return;
	w->begin = step_at(w, atomic_load(&r->qp->sq_ci) & 0xffff);
	if (w->late && r->waits_ready) {
		w->rung[w->nrung % RUNG].end = end;
		check_stack_take(&w->rung[w->nrung++ % RUNG].at);
	}
	atomic_store(&w->busy, 0);
}

bool watch_step(struct eng_run *r, uint32_t pi)
{
	struct watch *w = watch_of(r);
	bool late;

	check_posted(NULL);
	cause_note.was_good = false;
	if (!w)
		return false;
	count_step(r, w);
	check_posted(stack_of(r, w));
	late = step(r, w, pi);
	atomic_store(&w->busy, 0);
	return late;
}

void watch_parks(struct eng_run *r)
{
	struct watch *w = r->waits_ready ? watch_of(r) : NULL;

	if (!w)
		return;
	if (w->at_index != 1 + r->ci)
		take_stack(r, w);
	atomic_store(&w->busy, 0);
}

/* The index of the WQE that is late; it is no longer. False: none is. */
static bool hurry(const struct hw_qp *qp, uint32_t qpn, uint32_t *index)
{
	struct watch *w = &watches[qpn % WATCHES];
	bool late;

	/* A thread is looking at a work request, which ends: signals are blocked. */
	for (uint32_t i = 0; atomic_exchange(&w->busy, 1); i++) {
		if (i == HURRY_TRIES)
			return false;
		sys_call(SYS_sched_yield);
	}
	late = w->qpn == qpn && w->gen == qp->gen && w->late;
	if (late) {
		*index = w->late - 1;
		w->hurry = true;
	}
	atomic_store(&w->busy, 0);
	return late;
}

void watch_finish(struct seg *s, struct hw_qp *qp, uint32_t qpn, bool is_freed)
{
	uint32_t index;

	if (!hurry(qp, qpn, &index))
		return;
	if (is_freed)
		say(s, qp, qpn, CHECK_R_UNDONE, 0, "ended before work request %u was completed",
		    index);
	atomic_store(&qp->park_deadline, 0);
	sq_resume(s, qpn);
}
