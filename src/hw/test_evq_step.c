/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Event queues whose readers and writers are killed or stopped between any two instructions. */
#include "hw/cq.h"
#include "hw/evq_priv.h"
#include "hw/for_tests.h"
#include "hw/test_evq.h"

#include <sys/mman.h>
#include <sys/ptrace.h>

static void push_for_ever(struct seg *s, struct test_child *c, void *arg)
{
	struct seg_evrec r;

	test_tell(c->tell[1]);
	for (;;) {
		struct queue *q = arg;

		push(s, q, 1);
		push(s, q, 2);
		evq_pop(s, q->idx, q->gen, -1, &r);
		evq_purge(s, q->idx, q->gen, SEG_T_COUNT, 0);
	}
}

/* Marks the child's slot dead and repairs, as the supervisor does after a death. */
static void see_death(struct seg *s, const struct test_child *c)
{
	test_is_dead(s, c);
	evq_repair(s);
}

/* The FIFO is readable exactly if the queue has a record. */
static void expect_agreement(struct seg *s, const struct queue *q)
{
	const struct seg_evq *e = seg_live(s, SEG_T_EVQ, q->idx);

	if (e->lazy != EVQ_LAZY)
		assert_int_equal(bytes_in(q) > 0, evq_ready(s, e));
}

/* Checks that the queue still works and drains it. Counts the records of each cookie below 8. */
static void expect_works(struct seg *s, const struct queue *q, unsigned int n[8])
{
	const struct seg_evq *e = seg_live(s, SEG_T_EVQ, q->idx);
	struct seg_evrec r = {0};

	memset(n, 0, 8 * sizeof(*n));
	assert_int_equal(push(s, q, 7), 0);
	assert_true(bytes_in(q) > 0 || e->lazy == EVQ_LAZY);
	while (!evq_pop(s, q->idx, q->gen, q->fd, &r)) {
		assert_true(r.cookie < 8);
		n[r.cookie]++;
		expect_agreement(s, q);
	}
	assert_int_equal(r.cookie, 7);
	assert_int_equal(n[7], 1);
	assert_int_equal(bytes_in(q), 0);
	assert_int_equal(e->count, 0);
	assert_int_equal(e->bytes, 0);
}

static void killed_at_any_moment(void **state)
{
	struct seg *s = *state;
	struct queue q = queue_open(s, 0);
	unsigned int n[8];

	for (int round = 0; round < 60; round++) {
		struct timespec ts = {0, (round % 7) * 50000};
		struct test_child c;

		test_spawn(s, &c, push_for_ever, &q);
		assert_true(test_wait(c.tell[0]));
		nanosleep(&ts, NULL); /* killed here, at a random instruction */
		kill(c.pid, SIGKILL);
		test_reap(&c);
		see_death(s, &c);
		expect_agreement(s, &q);
		expect_works(s, &q, n);
	}
	queue_close(s, &q);
}

/* ---- at each instruction, by single steps */

static void step_push(struct seg *s, const struct queue *q)
{
	push(s, q, 1);
}

static void step_push_data(struct seg *s, const struct queue *q)
{
	static const char data[2 * EVQ_PIECE];

	evq_push_data(s, q->idx, q->gen, no_source, 1, data, sizeof(data));
}

/* The CQ that is the source of every owed event. */
static struct seg_evsrc debtor = {.table = SEG_T_CQ};

static void owe(struct seg *s)
{
	struct hw_cq *cq;

	if (!debtor.idx)
		assert_int_equal(seg_alloc(s, SEG_T_CQ, 1, &debtor.idx), 0);
	cq = hw_cq(s, debtor.idx);
	debtor.gen = cq->gen;
	atomic_store(&cq->comp.paying, 0);
	atomic_store(&cq->armed, (atomic_load(&cq->armed) | HW_CQ_OWES) + HW_CQ_ARM_SEQ);
}

static void step_push_owed(struct seg *s, const struct queue *q)
{
	evq_push_owed(s, q->idx, q->gen, debtor, 1, 0, NULL, 0, false);
}

static void step_push_owed_data(struct seg *s, const struct queue *q)
{
	static const char data[2 * EVQ_PIECE];

	evq_push_owed(s, q->idx, q->gen, debtor, 1, 0, data, sizeof(data), false);
}

static void step_pop(struct seg *s, const struct queue *q)
{
	struct seg_evrec r;

	evq_pop(s, q->idx, q->gen, q->fd, &r);
}

static void step_untake(struct seg *s, const struct queue *q)
{
	const struct seg_evrec r = {.src = no_source, .cookie = 1};

	evq_untake(s, q->idx, q->gen, &r);
}

static void step_purge(struct seg *s, const struct queue *q)
{
	evq_purge(s, q->idx, q->gen, SEG_T_COUNT, 0);
}

/* The newest record. */
static void step_drop(struct seg *s, const struct queue *q)
{
	const struct seg_evq *e = seg_live(s, SEG_T_EVQ, q->idx);

	if (e)
		evq_drop(s, q->idx, q->gen, atomic_load(&e->newest));
}

static void step_lost(struct seg *s, const struct queue *q)
{
	evq_lost(s, q->idx, q->gen);
}

static void step_publish(struct seg *s, const struct queue *q)
{
	evq_publish(s, q->idx, q->gen);
}

static const struct step {
	const char *name;
	void (*go)(struct seg *s, const struct queue *q);
	unsigned int before;     /* events queued before the step: cookies 2, 3... */
	bool lazy, locks, reads; /* the step holds the readers' lock; it takes records */
	bool owed;               /* the step pays a debt, which must be paid once */
	bool polled;             /* a lazy queue, and a thread waits for its byte */
} steps[] = {
	{"push, empty", step_push, 0, false, false, false, false},
	{"push", step_push, 1, false, false, false, false},
	{"push with data", step_push_data, 0, false, false, false, false},
	{"push owed", step_push_owed, 1, false, false, false, true},
	{"push owed data", step_push_owed_data, 0, false, false, false, true},
	{"pop the last", step_pop, 1, false, true, true, false},
	{"pop", step_pop, 2, false, true, true, false},
	{"pop, empty", step_pop, 0, false, true, true, false},
	{"untake, empty", step_untake, 0, false, true, false, false},
	{"untake", step_untake, 1, false, true, false, false},
	{"purge", step_purge, 2, false, true, true, false},
	{"drop the last", step_drop, 1, false, true, true, false},
	{"drop", step_drop, 2, false, true, true, false},
	{"lost, empty", step_lost, 0, false, true, false, false},
	{"lost", step_lost, 1, false, true, false, false},
	{"publish", step_publish, 1, true, true, false, false},
	{"pop the last, polled", step_pop, 1, true, true, true, false, true},
	{"drop the last, polled", step_drop, 1, true, true, true, false, true},
};
#define STEPS (sizeof(steps) / sizeof(steps[0]))

struct stepped {
	const struct step *step;
	const struct queue *q;
};

static void be_stepped(struct seg *s, struct test_child *c, void *arg)
{
	const struct stepped *st = arg;

	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(77);
	raise(SIGSTOP);
	st->step->go(s, st->q);
	raise(SIGSTOP);
}

/* False: the step is finished. */
static bool go_one(const struct test_child *c)
{
	int st;

	assert_int_equal(ptrace(PTRACE_SINGLESTEP, c->pid, NULL, NULL), 0);
	assert_int_equal(waitpid(c->pid, &st, 0), c->pid);
	assert_true(WIFSTOPPED(st));
	return WSTOPSIG(st) != SIGSTOP;
}

/*
 * Let up to `n` instructions of the step pass. Returns how many; fewer than n: the step is
 * finished.
 */
static unsigned int go_steps(const struct test_child *c, unsigned int n)
{
	unsigned int i;
	int st;

	assert_int_equal(waitpid(c->pid, &st, 0), c->pid);
	if (WIFEXITED(st) && WEXITSTATUS(st) == 77) {
		print_message("ptrace is refused here\n");
		skip();
	}
	assert_true(WIFSTOPPED(st));
	for (i = 0; i < n && go_one(c); i++)
		;
	return i;
}

static double seconds_of_stress(void)
{
	const char *v = getenv("SOFTHCA_STRESS_SECONDS");

	return v ? atof(v) / 2 : 2;
}

/* Checks what must hold after up to `n` instructions of a step. Returns how many were executed. */
typedef unsigned int see_step(struct seg *s, const struct step *step, unsigned int n);

/* Check each step at as many instructions as time allows, evenly spread. */
static unsigned int walk_steps(struct seg *s, see_step *at)
{
	unsigned int did = 0;

	for (size_t i = 0; i < STEPS; i++) {
		uint64_t end = clock_now_ns() +
			       (uint64_t)(seconds_of_stress() * (double)NSEC_PER_SEC / STEPS);
		unsigned int size = at(s, &steps[i], UINT32_MAX), stride = 1;

		while (stride < size)
			stride *= 2;
		/* First the step in the middle, then those at the quarters, the eighths... */
		for (; stride > 1; stride /= 2)
			for (unsigned int n = stride / 2; n < size && clock_now_ns() < end;
			     n += stride, did++)
				at(s, &steps[i], n);
	}
	return did;
}

static void prepare(struct seg *s, const struct step *step, struct queue *q)
{
	*q = queue_open(s, 0);
	if (step->owed)
		owe(s);
	if (step->lazy)
		evq_set_lazy(s, q->idx);
	if (step->polled)
		assert_int_equal(evq_poll_begin(s, q->idx, q->gen), 0);
	for (unsigned int i = 0; i < step->before; i++)
		push(s, q, 2 + i);
}

/* Each record from before is there once, a pushed one at most once. */
static void expect_sane(const struct step *step, const unsigned int n[8])
{
	if (step->owed)
		assert_int_equal(n[1], 1);
	assert_true(n[1] <= 1);
	for (unsigned int i = 0; i < step->before; i++)
		assert_true(n[2 + i] <= 1);
	if (step->reads)
		return;
	for (unsigned int i = 0; i < step->before; i++)
		assert_int_equal(n[2 + i], 1);
}

static void read_loss(struct seg *s, const struct queue *q)
{
	const struct seg_evq *e = seg_live(s, SEG_T_EVQ, q->idx);
	struct seg_evrec r;

	if (!e->lost)
		return;
	assert_int_equal(evq_pop(s, q->idx, q->gen, q->fd, &r), -EOVERFLOW);
	expect_agreement(s, q);
}

static unsigned int kill_at(struct seg *s, const struct step *step, unsigned int n)
{
	struct queue q;
	struct stepped st = {step, &q};
	unsigned int done, got[8];
	struct test_child c;

	prepare(s, step, &q);
	test_spawn(s, &c, be_stepped, &st);
	done = go_steps(&c, n);
	/* At no instruction are there bytes without a record (except while a loss is read). */
	if (bytes_in(&q) > 0)
		assert_true(evq_ready(s, seg_live(s, SEG_T_EVQ, q.idx)));
	kill(c.pid, SIGKILL);
	test_reap(&c);
	see_death(s, &c);
	if (!step->lazy || done < n)
		expect_agreement(s, &q);
	read_loss(s, &q);
	if (step->owed)
		assert_int_equal(evq_push_owed(s, q.idx, q.gen, debtor, 1, 0, NULL, 0, false), 0);
	expect_works(s, &q, got);
	expect_sane(step, got);
	queue_close(s, &q);
	assert_int_equal(seg_next(s, SEG_T_EVBUF, q.idx + 1, 0), SEG_NONE);
	return done;
}

static void killed_at_each_instruction(void **state)
{
	print_message("killed at %u instructions\n", walk_steps(*state, kill_at));
}

/* Let the stopped process run to its end. */
static void go_on(struct test_child *c, bool stepping)
{
	ptrace(PTRACE_DETACH, c->pid, NULL, NULL);
	if (stepping)
		kill(c->pid, SIGCONT);
	for (int status; waitpid(c->pid, &status, WUNTRACED) == c->pid && WIFSTOPPED(status);)
		kill(c->pid, SIGCONT);
	close(c->go[1]);
	close(c->tell[0]);
}

/*
 * While the process is stopped, others push, and read if it does not hold the lock: in *took
 * nanoseconds.
 */
static unsigned int stop_once(struct seg *s, const struct step *step, unsigned int n,
			      uint64_t *took)
{
	struct queue q;
	struct stepped st = {step, &q};
	unsigned int done, got[8] = {0}, more[8];
	struct test_child c;
	struct seg_evrec r;
	uint64_t start;

	prepare(s, step, &q);
	test_spawn(s, &c, be_stepped, &st);
	done = go_steps(&c, n);
	start = test_own_ns();
	assert_int_equal(push(s, &q, 6), 0);
	if (!step->lazy || done < n)
		assert_true(bytes_in(&q) > 0);
	while (!step->locks && (evq_ready(s, seg_live(s, SEG_T_EVQ, q.idx))))
		if (!evq_pop(s, q.idx, q.gen, q.fd, &r))
			got[r.cookie]++;
	*took = test_own_ns() - start;
	go_on(&c, done < n);
	if (step->polled) /* nobody has taken what was pushed meanwhile */
		assert_true(bytes_in(&q) > 0);
	if (!step->lazy)
		expect_agreement(s, &q);
	read_loss(s, &q);
	expect_works(s, &q, more);
	for (int i = 0; i < 8; i++)
		more[i] += got[i];
	assert_true(more[6] == 1 || (step->reads && !more[6]));
	expect_sane(step, more);
	queue_close(s, &q);
	return done;
}

/* Only the parent has the reader's descriptor. */
static void be_stepped_afar(struct seg *s, struct test_child *c, void *arg)
{
	close(((const struct stepped *)arg)->q->fd);
	be_stepped(s, c, arg);
}

/* The reader ends while an event is pushed: this does not end the pusher (SIGPIPE). */
static unsigned int leave_at(struct seg *s, const struct step *step, unsigned int n)
{
	struct queue q;
	struct stepped st = {step, &q};
	unsigned int done = 0;
	struct test_child c;
	int status, end = open("/dev/null", O_RDONLY | O_CLOEXEC);

	prepare(s, step, &q);
	test_spawn(s, &c, be_stepped_afar, &st);
	done = go_steps(&c, n);
	dup2(end, q.fd);
	close(end);
	ptrace(PTRACE_DETACH, c.pid, NULL, NULL);
	do {
		kill(c.pid, SIGCONT);
		assert_int_equal(waitpid(c.pid, &status, WUNTRACED), c.pid);
	} while (WIFSTOPPED(status));
	assert_true(WIFEXITED(status));
	close(c.go[1]);
	close(c.tell[0]);
	see_death(s, &c);
	queue_close(s, &q);
	return done;
}

static void reader_leaves_at_each_instruction(void **state)
{
	unsigned int size = leave_at(*state, &steps[1], UINT32_MAX), did = 0;

	for (unsigned int n = 0; n < size; n += 16, did++)
		leave_at(*state, &steps[1], n);
	print_message("a reader left at %u of %u instructions\n", did, size);
}

/*
 * A push beside the stopped process should take about 5 ms. On a busy machine it may take long, but
 * not three times at the same instruction.
 */
static unsigned int stop_at(struct seg *s, const struct step *step, unsigned int n)
{
	unsigned int done = 0;
	uint64_t took = UINT64_MAX;

	for (int i = 0; i < 3 && took >= NSEC_PER_SEC; i++)
		done = stop_once(s, step, n, &took);
	assert_true(took < NSEC_PER_SEC);
	return done;
}

static void stopped_at_each_instruction(void **state)
{
	print_message("stopped at %u instructions\n", walk_steps(*state, stop_at));
}

/* Freed elements are used again at once. */
static void search_from_the_start(struct seg *s)
{
	atomic_store(&seg_table(s, SEG_T_EVREC)->hint, 0);
	atomic_store(&seg_table(s, SEG_T_EVBUF)->hint, 0);
}

static struct queue neighbour(struct seg *s)
{
	struct queue o = {.idx = 78};

	assert_int_equal(seg_alloc_at(s, SEG_T_FILE, SEG_OWNER_DEVICE, o.idx), 0);
	o.gen = seg_file(s, o.idx)->gen;
	o.fd = test_ev_open(s, o.idx, 0, 0);
	return o;
}

/* Stop a push where its record is told and its reader is not woken yet. */
static void stop_before_wake(struct seg *s, const struct queue *q, const struct test_child *c)
{
	const struct seg_evq *e = seg_live(s, SEG_T_EVQ, q->idx);
	const struct seg_evrec *r = NULL;
	uint32_t woken = e->wake;

	go_steps(c, 0);
	while (!r || !evq_rec_is(r, EVQ_TOLD)) {
		assert_true(go_one(c));
		r = evq_rec(s, e->newest);
		/* A reader that is woken takes the record at once. */
		assert_int_equal(e->wake, woken);
	}
}

static void told_before_its_reader_wakes(void **state)
{
	const struct step step = {.name = "push", .go = step_push};
	struct seg *s = *state;

	for (int lazy = 0; lazy < 2; lazy++) {
		struct queue q = queue_open(s, 0);
		const struct seg_evq *e = seg_live(s, SEG_T_EVQ, q.idx);
		struct stepped st = {&step, &q};
		uint32_t woken = e->wake;
		struct test_child c;
		struct seg_evrec r;

		if (lazy)
			evq_set_lazy(s, q.idx);
		test_spawn(s, &c, be_stepped, &st);
		stop_before_wake(s, &q, &c);
		kill(c.pid, SIGKILL);
		test_reap(&c);
		see_death(s, &c);
		/* The supervisor wakes it instead. */
		assert_true(e->wake != woken);
		expect_agreement(s, &q);
		assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), 0);
		queue_close(s, &q);
	}
}

#define NEIGHBOURS 6

/*
 * While the process is stopped, its queue is closed and a new one reuses the elements: the process
 * must not touch the new queue, and nothing of the old one is left.
 */
static unsigned int close_at(struct seg *s, const struct step *step, unsigned int n)
{
	uint8_t data[NEIGHBOURS][2 * EVQ_PIECE];
	struct queue q, o = neighbour(s);
	struct stepped st = {step, &q};
	struct test_child c;
	struct seg_evrec r;
	unsigned int done;

	prepare(s, step, &q);
	search_from_the_start(s);
	test_spawn(s, &c, be_stepped, &st);
	done = go_steps(&c, n);
	evq_close(s, q.idx);
	search_from_the_start(s);
	for (uint8_t i = 0; i < NEIGHBOURS; i++) {
		memset(data[i], 1 + i, sizeof(data[i]));
		assert_int_equal(
			evq_push_data(s, o.idx, o.gen, no_source, i, data[i], sizeof(data[i])), 0);
	}
	go_on(&c, done < n);
	for (uint8_t i = 0; i < NEIGHBOURS; i++) {
		assert_int_equal(evq_take(s, o.idx, o.gen, o.fd, 0, SIZE_MAX, &r), 0);
		assert_int_equal(r.cookie, i);
		expect_data(s, &r, data[i], sizeof(data[i]));
	}
	assert_int_equal(evq_pop(s, o.idx, o.gen, o.fd, &r), -EAGAIN);
	see_death(s, &c);
	if (seg_next(s, SEG_T_EVREC, SEG_OWNER_ANY, 0) != SEG_NONE)
		print_message("%s: closed at %u of %u: a record is left\n", step->name, n, done);
	queue_close(s, &q);
	queue_close(s, &o);
	assert_int_equal(seg_next(s, SEG_T_EVREC, SEG_OWNER_ANY, 0), SEG_NONE);
	assert_int_equal(seg_next(s, SEG_T_EVBUF, SEG_OWNER_ANY, 0), SEG_NONE);
	return done;
}

static void closed_at_each_instruction(void **state)
{
	print_message("closed at %u instructions\n", walk_steps(*state, close_at));
}

static uint64_t push_named(struct seg *s, const struct queue *q)
{
	static const uint8_t data[2 * EVQ_PIECE];
	uint64_t ref = 0;

	assert_int_equal(evq_push_named(s, q->idx, q->gen, data, sizeof(data), &ref), 0);
	assert_true(ref && evq_waits(s, ref));
	return ref;
}

/* The file is readable as long as a record is left that was neither. */
static void a_record_is_taken_or_dropped(void **state)
{
	struct seg *s = *state;
	struct queue q = queue_open(s, 0);
	const struct seg_evq *e = seg_live(s, SEG_T_EVQ, q.idx);
	struct seg_evrec r;
	uint64_t ref[3];

	for (int i = 0; i < 3; i++)
		ref[i] = push_named(s, &q);
	assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), 0);
	assert_false(evq_waits(s, ref[0]));
	assert_false(evq_drop(s, q.idx, q.gen, ref[0]));
	assert_true(evq_drop(s, q.idx, q.gen, ref[2]));
	assert_false(evq_drop(s, q.idx, q.gen, ref[2]));
	assert_true(evq_waits(s, ref[1]) && evq_ready(s, e) && bytes_in(&q) > 0);
	assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), 0);
	assert_true(!evq_ready(s, e) && !bytes_in(&q));
	assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), -EAGAIN);
	/* The only one, and the oldest. */
	assert_true(evq_drop(s, q.idx, q.gen, push_named(s, &q)));
	assert_true(!evq_ready(s, e) && !bytes_in(&q));
	ref[0] = push_named(s, &q);
	ref[1] = push_named(s, &q);
	assert_false(evq_drop(s, q.idx, q.gen + 1, ref[0]));
	assert_true(evq_drop(s, q.idx, q.gen, ref[0]));
	assert_true(evq_ready(s, e) && bytes_in(&q) > 0);
	assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), 0);
	assert_true(!evq_ready(s, e) && !bytes_in(&q));
	assert_int_equal(e->count, 0);
	assert_int_equal(seg_next(s, SEG_T_EVBUF, SEG_OWNER_ANY, 0), SEG_NONE);
	queue_close(s, &q);
}

/* ---- a reader that is stopped while its record is dropped */

static int *popped;

static void step_pop_told(struct seg *s, const struct queue *q)
{
	struct seg_evrec r;

	*popped = evq_pop(s, q->idx, q->gen, q->fd, &r);
}

/* Put a record back to where its pusher has not told readers of it, or from there to the end. */
static void be_pushing(struct seg *s, const struct queue *q, uint64_t ref, bool pushing)
{
	struct seg_evq *e = seg_live(s, SEG_T_EVQ, q->idx);
	struct seg_evrec *r = evq_rec(s, ref);

	if (pushing) {
		assert_true(evq_rec_change(r, r->gen, EVQ_TOLD, EVQ_LINKED));
	} else if (r && evq_rec_change(r, (uint32_t)(ref >> 32), EVQ_LINKED, EVQ_TELLING) &&
		   !evq_rec_change(r, (uint32_t)(ref >> 32), EVQ_TELLING, EVQ_TOLD)) {
		atomic_fetch_or(&e->asked, EVQ_ASK);
		evq_attend(s, q->idx, e);
	}
}

/* `pushing`: the reader begins before the pusher has finished; it ends before the record drops. */
static unsigned int drop_at(struct seg *s, bool pushing, unsigned int n, unsigned int *dropped)
{
	static const struct step step = {"pop", step_pop_told};
	struct queue q = queue_open(s, 0);
	struct stepped st = {&step, &q};
	struct test_child c;
	unsigned int done;
	uint64_t ref;
	bool drops;

	if (pushing)
		evq_set_lazy(s, q.idx);
	ref = push_named(s, &q);
	if (pushing)
		be_pushing(s, &q, ref, true);
	*popped = 1;
	test_spawn(s, &c, be_stepped, &st);
	done = go_steps(&c, n);
	if (pushing)
		be_pushing(s, &q, ref, false);
	drops = evq_drop(s, q.idx, q.gen, ref);
	go_on(&c, done < n);
	assert_int_equal(*popped, drops ? -EAGAIN : 0);
	assert_false(evq_waits(s, ref));
	see_death(s, &c);
	expect_agreement(s, &q);
	assert_true(!evq_ready(s, seg_live(s, SEG_T_EVQ, q.idx)));
	queue_close(s, &q);
	*dropped += drops;
	return done;
}

static void drop_at_each(struct seg *s, bool pushing)
{
	uint64_t end = clock_now_ns() + (uint64_t)(seconds_of_stress() * (double)NSEC_PER_SEC / 2);
	unsigned int size, dropped = 0, did = 0, stride = 1;

	popped = mmap(NULL, sizeof(*popped), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	assert_true(popped != MAP_FAILED);
	drop_at(s, pushing, 0, &dropped);
	assert_int_equal(dropped, 1);
	size = drop_at(s, pushing, UINT32_MAX, &dropped);
	assert_int_equal(dropped, 1);
	while (stride < size)
		stride *= 2;
	for (; stride > 1; stride /= 2)
		for (unsigned int n = stride / 2; n < size && clock_now_ns() < end; n += stride)
			did += drop_at(s, pushing, n, &dropped) > 0;
	print_message("dropped at %u of %u instructions\n", dropped, did);
	munmap(popped, sizeof(*popped));
}

static void taken_or_dropped_at_each_instruction(void **state)
{
	drop_at_each(*state, false);
}

static void taken_or_dropped_after_the_push(void **state)
{
	drop_at_each(*state, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_is_taken_or_dropped),
		cmocka_unit_test(taken_or_dropped_at_each_instruction),
		cmocka_unit_test(taken_or_dropped_after_the_push),
		cmocka_unit_test(killed_at_any_moment),
		cmocka_unit_test(killed_at_each_instruction),
		cmocka_unit_test(stopped_at_each_instruction),
		cmocka_unit_test(closed_at_each_instruction),
		cmocka_unit_test(reader_leaves_at_each_instruction),
		cmocka_unit_test(told_before_its_reader_wakes),
	};

	return cmocka_run_group_tests(tests, test_ev_setup, test_ev_teardown);
}
