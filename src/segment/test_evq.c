/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Event queues: order, the byte, purging, sources that are gone, readers and writers that die. */
#include "segment/test.h"
#include "segment/hw.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/ptrace.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "segment/link.h"
#include "util/clock.h"

static const struct seg_evsrc no_source = {.table = SEG_T_COUNT};

struct queue {
	uint32_t idx, gen;
	int fd;
};

/* As the supervisor makes one; blocking, as a completion channel is. */
static struct queue queue_open(struct seg *s, uint32_t max)
{
	struct queue q;

	/* A file that had no queue before: the queue's generation is its file's all the same. */
	q.idx = 77;
	assert_int_equal(seg_alloc_at(s, SEG_T_FILE, SEG_OWNER_DEVICE, q.idx), 0);
	seg_free(s, SEG_T_FILE, q.idx);
	assert_int_equal(seg_alloc_at(s, SEG_T_FILE, SEG_OWNER_DEVICE, q.idx), 0);
	q.gen = seg_file(s, q.idx)->gen;
	q.fd = test_ev_open(s, q.idx, 0, max);
	return q;
}

static void queue_close(struct seg *s, struct queue *q)
{
	char path[320];

	evq_close(s, q->idx);
	evq_close(s, q->idx);
	assert_int_equal(seg_next(s, SEG_T_EVREC, q->idx + 1, 0), SEG_NONE);
	evq_path(s, q->idx, q->gen, path);
	unlink(path);
	close(q->fd);
	seg_free(s, SEG_T_FILE, q->idx);
}

static int bytes_in(const struct queue *q)
{
	int n = -1;

	ioctl(q->fd, FIONREAD, &n);
	return n;
}

static int push(struct seg *s, const struct queue *q, uint64_t cookie)
{
	return evq_push(s, q->idx, q->gen, no_source, cookie, 3, 4);
}

static void in_order_with_a_byte_each(void **state)
{
	struct seg *s = *state;
	struct queue q = queue_open(s, 0);
	struct seg_evrec r;

	for (int round = 0; round < 2; round++) {
		assert_int_equal(bytes_in(&q), 0);
		for (uint64_t i = 0; i < 5; i++)
			assert_int_equal(push(s, &q, i), 0);
		assert_int_equal(bytes_in(&q), 5); /* an edge each */
		for (uint64_t i = 0; i < 5; i++) {
			assert_true(bytes_in(&q) > 0);
			assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), 0);
			assert_int_equal(r.cookie, i);
			assert_int_equal(r.type, 3);
			assert_int_equal(r.extra, 4);
		}
		assert_int_equal(bytes_in(&q), 0);
		assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), -EAGAIN);
	}
	assert_int_equal(seg_next(s, SEG_T_EVREC, SEG_OWNER_ANY, 0), SEG_NONE);
	push(s, &q, 1);
	queue_close(s, &q);
}

static void closed_or_reused_queue_is_enoent(void **state)
{
	struct seg *s = *state;
	struct queue q = queue_open(s, 0);
	struct seg_evrec r;

	assert_int_equal(evq_push(s, q.idx, q.gen + 1, no_source, 0, 0, 0), -ENOENT);
	assert_int_equal(evq_pop(s, q.idx, q.gen - 1, q.fd, &r), -ENOENT);
	assert_int_equal(evq_push(s, SEG_NONE, q.gen, no_source, 0, 0, 0), -ENOENT);
	queue_close(s, &q);
	assert_int_equal(push(s, &q, 0), -ENOENT);
}

static void beyond_max_is_dropped_and_counted(void **state)
{
	struct seg *s = *state;
	struct queue q = queue_open(s, 2);

	assert_int_equal(push(s, &q, 1), 0);
	assert_int_equal(push(s, &q, 2), 0);
	assert_int_equal(push(s, &q, 3), -ENOSPC);
	assert_int_equal(((struct seg_evq *)seg_live(s, SEG_T_EVQ, q.idx))->dropped, 1);
	queue_close(s, &q);
}

static void reading_counts_on_the_source(void **state)
{
	struct seg *s = *state;
	struct queue q = queue_open(s, 0);
	struct seg_evsrc src = {.table = SEG_T_CQ};
	struct seg_evrec r;
	struct hw_cq *cq;

	assert_int_equal(seg_alloc(s, SEG_T_CQ, 1, &src.idx), 0);
	cq = hw_cq(s, src.idx);
	src.gen = cq->gen;
	evq_push(s, q.idx, q.gen, src, 1, 0, 0);
	evq_push(s, q.idx, q.gen, src, 2, 0, 0);
	src.counter = 1;
	evq_push(s, q.idx, q.gen, src, 3, 0, 0);
	assert_int_equal(cq->comp.reported, 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), 0);
	assert_int_equal(cq->comp.reported, 2);
	assert_int_equal(cq->async.reported, 1);
	/* an event of an object that is gone is never read: its cookie points nowhere */
	evq_push(s, q.idx, q.gen, src, 4, 0, 0);
	push(s, &q, 5);
	seg_free(s, SEG_T_CQ, src.idx);
	assert_int_equal(seg_alloc_at(s, SEG_T_CQ, 1, src.idx), 0);
	assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), 0);
	assert_int_equal(r.cookie, 5);
	assert_int_equal(cq->async.reported, 0);
	seg_free(s, SEG_T_CQ, src.idx);
	queue_close(s, &q);
}

static void purge_takes_one_source_only(void **state)
{
	struct seg *s = *state;
	struct queue q = queue_open(s, 0);
	struct seg_evsrc a = {.table = SEG_T_QP}, b = {.table = SEG_T_QP};
	struct seg_evrec r;

	seg_alloc(s, SEG_T_QP, 1, &a.idx);
	seg_alloc(s, SEG_T_QP, 1, &b.idx);
	a.gen = hw_qp(s, a.idx)->gen;
	b.gen = hw_qp(s, b.idx)->gen;
	for (uint64_t i = 0; i < 9; i++)
		evq_push(s, q.idx, q.gen, i % 3 == 1 ? b : a, i, 0, 0);
	evq_purge(s, q.idx, q.gen, SEG_T_QP, a.idx);
	for (uint64_t i = 1; i < 9; i += 3) {
		assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), 0);
		assert_int_equal(r.cookie, i);
	}
	assert_int_equal(hw_qp(s, b.idx)->async.reported, 3);
	assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), -EAGAIN);
	/* the last one purged: the next follows the one before it */
	evq_push(s, q.idx, q.gen, b, 1, 0, 0);
	evq_push(s, q.idx, q.gen, a, 2, 0, 0);
	evq_purge(s, q.idx, q.gen, SEG_T_QP, a.idx);
	evq_push(s, q.idx, q.gen, b, 3, 0, 0);
	for (uint64_t i = 1; i <= 3; i += 2) {
		assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), 0);
		assert_int_equal(r.cookie, i);
	}
	/* all purged: nobody is told of anything */
	evq_push(s, q.idx, q.gen, a, 1, 0, 0);
	evq_purge(s, q.idx, q.gen, SEG_T_QP, a.idx);
	assert_int_equal(bytes_in(&q), 0);
	push(s, &q, 7);
	assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), 0);
	assert_int_equal(r.cookie, 7);
	assert_int_equal(bytes_in(&q), 0);
	seg_free(s, SEG_T_QP, a.idx);
	seg_free(s, SEG_T_QP, b.idx);
	queue_close(s, &q);
}

static void dead_device_is_eio_after_the_last_event(void **state)
{
	struct seg *s = *state;
	struct queue q = queue_open(s, 0);
	struct seg_evrec r;

	push(s, &q, 1);
	evq_kill(s, q.idx, q.gen);
	assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), 0);
	assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), -EIO);
	assert_true(bytes_in(&q) > 0);
	queue_close(s, &q);
}

#define EVENTS 2000

static void pusher(struct seg *s, struct test_child *c, void *arg)
{
	struct queue *q = arg;

	for (uint64_t i = 1; i <= EVENTS; i++)
		while (push(s, q, i))
			;
}

static void every_event_wakes_its_reader(void **state)
{
	struct seg *s = *state;
	struct queue q = queue_open(s, 0);
	struct test_child c[2];
	uint64_t sum = 0, n = 0;
	struct seg_evrec r;

	for (int i = 0; i < 2; i++)
		test_spawn(s, &c[i], pusher, &q);
	while (n < 2 * EVENTS) {
		struct pollfd p = {.fd = q.fd, .events = POLLIN};

		assert_int_equal(poll(&p, 1, 60000), 1); /* else an event nobody was woken for */
		while (!evq_pop(s, q.idx, q.gen, q.fd, &r)) {
			sum += r.cookie;
			n++;
		}
	}
	assert_int_equal(sum, (uint64_t)EVENTS * (EVENTS + 1));
	for (int i = 0; i < 2; i++)
		assert_int_equal(test_reap(&c[i]), 0);
	assert_int_equal(bytes_in(&q), 0);
	queue_close(s, &q);
}

/* Killed with the readers' lock, and what readers note gone. */
static void die_in_take(struct seg *s, struct test_child *c, void *arg)
{
	struct queue *q = arg;
	struct seg_evq *e = seg_live(s, SEG_T_EVQ, q->idx);

	seg_lock(s, &e->lock, SEG_LOCK_CTRL_NS);
	e->head = e->known = 0;
	kill(getpid(), SIGKILL);
}

static void a_dead_readers_queue_is_repaired(void **state)
{
	struct seg *s = *state;
	struct queue q = queue_open(s, 0);
	struct test_child c;
	struct seg_evrec r;

	push(s, &q, 1);
	push(s, &q, 2);
	push(s, &q, 3);
	test_spawn(s, &c, die_in_take, &q);
	assert_true(WIFSIGNALED(test_reap(&c)));
	assert_int_equal(push(s, &q, 4), 0);
	for (uint64_t i = 1; i <= 4; i++) {
		assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), 0);
		assert_int_equal(r.cookie, i);
	}
	assert_int_equal(seg_next(s, SEG_T_EVREC, SEG_OWNER_ANY, 0), SEG_NONE);
	queue_close(s, &q);
}

static uint32_t data_live(struct seg *s, const struct queue *q)
{
	uint32_t n = 0;

	seg_for_each_owned (s, SEG_T_EVBUF, q->idx + 1, i)
		n++;
	return n;
}

/* The data of a record, and its end. */
static void expect_data(struct seg *s, const struct seg_evrec *r, const uint8_t *want, uint32_t len)
{
	uint32_t at = r->data, done = 0;
	const uint8_t *p;

	assert_int_equal(r->len, len);
	while (done < len) {
		uint32_t n = len - done < EVQ_PIECE ? len - done : EVQ_PIECE;

		p = evq_data(s, at, &at);
		assert_non_null(p);
		assert_memory_equal(p, want + done, n);
		done += n;
	}
	assert_null(evq_data(s, at, &at));
	evq_data_free(s, r);
}

static void data_comes_in_pieces(void **state)
{
	static const uint32_t lens[] = {1, EVQ_PIECE, EVQ_PIECE + 1, 65535};
	static uint8_t bytes[65535];
	struct seg *s = *state;
	struct queue q = queue_open(s, 0);
	struct seg_evq *e = seg_live(s, SEG_T_EVQ, q.idx);
	struct seg_evrec r;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
	for (int i = 0; i < 4; i++)
		assert_int_equal(
			evq_push_data(s, q.idx, q.gen, no_source, (uint64_t)i, bytes, lens[i]), 0);
	assert_int_equal(e->bytes, 1 + EVQ_PIECE + EVQ_PIECE + 1 + 65535);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(evq_take(s, q.idx, q.gen, q.fd, 8, 7 + lens[i], &r), -EMSGSIZE);
		assert_int_equal(evq_take(s, q.idx, q.gen, q.fd, 8, 8 + lens[i], &r), 0);
		assert_int_equal(r.cookie, i);
		expect_data(s, &r, bytes, lens[i]);
	}
	assert_int_equal(e->bytes, 0);
	assert_int_equal(data_live(s, &q), 0);
	/* what nobody reads goes with its record, whoever drops that */
	evq_push_data(s, q.idx, q.gen, no_source, 1, bytes, 3 * EVQ_PIECE);
	evq_purge(s, q.idx, q.gen, SEG_T_COUNT, 0);
	assert_int_equal(data_live(s, &q), 0);
	evq_push_data(s, q.idx, q.gen, no_source, 1, bytes, 3 * EVQ_PIECE);
	assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), 0);
	assert_int_equal(data_live(s, &q), 0);
	evq_push_data(s, q.idx, q.gen, no_source, 1, bytes, 3 * EVQ_PIECE);
	assert_int_equal(data_live(s, &q), 3);
	evq_clear(s, q.idx, q.gen);
	assert_int_equal(data_live(s, &q), 0);
	assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), -EIO);
	assert_true(bytes_in(&q) > 0);
	evq_push_data(s, q.idx, q.gen, no_source, 1, bytes, 3 * EVQ_PIECE);
	queue_close(s, &q);
	assert_int_equal(data_live(s, &q), 0);
}

static void data_that_finds_no_queue_is_freed(void **state)
{
	struct seg *s = *state;
	struct queue q = queue_open(s, 1);
	uint8_t bytes[2 * EVQ_PIECE] = {0};

	assert_int_equal(evq_push_data(s, q.idx, q.gen + 1, no_source, 1, bytes, sizeof(bytes)),
			 -ENOENT);
	push(s, &q, 1);
	assert_int_equal(evq_push_data(s, q.idx, q.gen, no_source, 1, bytes, sizeof(bytes)),
			 -ENOSPC);
	assert_int_equal(data_live(s, &q), 0);
	queue_close(s, &q);
}

static void a_loss_is_told_once_and_first(void **state)
{
	struct seg *s = *state;
	struct queue q = queue_open(s, 0);
	struct seg_evrec r;

	push(s, &q, 5);
	evq_lost(s, q.idx, q.gen);
	evq_lost(s, q.idx, q.gen);
	evq_lost(s, q.idx, q.gen + 1);
	assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), -EOVERFLOW);
	assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), 0);
	assert_int_equal(r.cookie, 5);
	assert_int_equal(bytes_in(&q), 0);
	evq_lost(s, q.idx, q.gen);
	assert_true(bytes_in(&q) > 0);
	assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), -EOVERFLOW);
	assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), -EAGAIN);
	assert_int_equal(bytes_in(&q), 0);
	queue_close(s, &q);
}

/* No descriptor is left, or the folder cannot be seen: the supervisor is asked to write the byte,
 * and if nobody can, the next event tries again. */
static void who_cannot_open_the_fifo_asks(void **state)
{
	struct seg *s = *state;
	struct queue q = queue_open(s, 0);
	const struct seg_evq *e = seg_live(s, SEG_T_EVQ, q.idx);
	struct link_msg m;
	char dir[sizeof(s->dir)];
	struct seg_evrec r;
	int sock[2];

	strcpy(dir, s->dir);
	strcpy(s->dir, "/no-such-folder");
	assert_int_equal(push(s, &q, 1), 0); /* no link either */
	assert_int_equal(e->silent, 1);
	assert_int_equal(bytes_in(&q), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sock), 0);
	atomic_store(&s->wake_fd, sock[0] + 1);
	assert_int_equal(push(s, &q, 2), 0);
	assert_int_equal(recv(sock[1], &m, sizeof(m), MSG_DONTWAIT), sizeof(m));
	assert_int_equal(m.op, LINK_WAKE);
	assert_int_equal(m.file, q.idx);
	assert_int_equal(m.gen, q.gen);
	assert_int_equal(e->silent, 0);
	strcpy(s->dir, dir);
	atomic_store(&s->wake_fd, 0);
	evq_wake(s, q.idx, q.gen); /* what the supervisor does */
	assert_true(bytes_in(&q) > 0);
	push(s, &q, 3);
	close(sock[0]);
	close(sock[1]);
	for (uint64_t i = 1; i <= 3; i++) {
		assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), 0);
		assert_int_equal(r.cookie, i);
	}
	assert_int_equal(bytes_in(&q), 0);
	evq_wake(s, q.idx, q.gen); /* too late */
	assert_int_equal(bytes_in(&q), 0);
	queue_close(s, &q);
}

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

/* As the supervisor sees it: the slot is dead. */
static void see_death(struct seg *s, const struct test_child *c)
{
	seg_for_each_live (s, SEG_T_PROC, i)
		if (seg_proc(s, i)->pid == (uint32_t)c->pid)
			seg_proc(s, i)->state = SEG_PROC_DEAD;
	evq_repair(s);
}

/* A FIFO that is readable has a record, and the other way round. */
static void expect_agreement(struct seg *s, const struct queue *q)
{
	const struct seg_evq *e = seg_live(s, SEG_T_EVQ, q->idx);

	if (e->lazy != EVQ_LAZY)
		assert_int_equal(bytes_in(q) > 0, evq_ready(s, e));
}

/* Works as ever, and is empty at the end. Returns how many there were of each cookie below 8. */
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
		nanosleep(&ts, NULL); /* where it is killed: anywhere */
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
	unsigned int before;     /* events in the queue: cookies 2, 3... */
	bool lazy, locks, reads; /* has the readers' lock; takes what is there */
} steps[] = {
	{"push, empty", step_push, 0, false, false, false},
	{"push", step_push, 1, false, false, false},
	{"push with data", step_push_data, 0, false, false, false},
	{"pop the last", step_pop, 1, false, true, true},
	{"pop", step_pop, 2, false, true, true},
	{"pop, empty", step_pop, 0, false, true, true},
	{"untake, empty", step_untake, 0, false, true, false},
	{"untake", step_untake, 1, false, true, false},
	{"purge", step_purge, 2, false, true, true},
	{"lost, empty", step_lost, 0, false, true, false},
	{"lost", step_lost, 1, false, true, false},
	{"publish", step_publish, 1, true, true, false},
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

/* Up to `n` instructions of the step are behind it: how many; fewer: it stands after the step. */
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
	for (i = 0; i < n; i++) {
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, c->pid, NULL, NULL), 0);
		assert_int_equal(waitpid(c->pid, &st, 0), c->pid);
		assert_true(WIFSTOPPED(st));
		if (WSTOPSIG(st) == SIGSTOP)
			break;
	}
	return i;
}

static double seconds_of_stress(void)
{
	const char *v = getenv("SOFTHCA_STRESS_SECONDS");

	return v ? atof(v) / 2 : 2;
}

/* Does what is to be seen when up to `n` instructions of a step are done; how many were. */
typedef unsigned int see_step(struct seg *s, const struct step *step, unsigned int n);

/* Each step at as many of its instructions as there is time for, evenly spread. */
static unsigned int walk_steps(struct seg *s, see_step *at)
{
	unsigned int did = 0;

	for (size_t i = 0; i < STEPS; i++) {
		uint64_t end = clock_now_ns() +
			       (uint64_t)(seconds_of_stress() * (double)NSEC_PER_SEC / STEPS);
		unsigned int size = at(s, &steps[i], UINT32_MAX), stride = 1;

		while (stride < size)
			stride *= 2;
		/* A half, the quarters, the eighths... */
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
	if (step->lazy)
		evq_set_lazy(s, q->idx);
	for (unsigned int i = 0; i < step->before; i++)
		push(s, q, 2 + i);
}

/* What was there before is there once, what was made at most once. */
static void expect_sane(const struct step *step, const unsigned int n[8])
{
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
	/* Bytes without a record are there at no instruction (but while a loss is read). */
	if (bytes_in(&q) > 0)
		assert_true(evq_ready(s, seg_live(s, SEG_T_EVQ, q.idx)));
	kill(c.pid, SIGKILL);
	test_reap(&c);
	see_death(s, &c);
	if (!step->lazy || done < n)
		expect_agreement(s, &q);
	read_loss(s, &q);
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

/* While it is stopped, others push, and read if it is not reading itself, without delay. */
static unsigned int stop_at(struct seg *s, const struct step *step, unsigned int n)
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
	start = clock_now_ns();
	assert_int_equal(push(s, &q, 6), 0);
	if (!step->lazy || done < n)
		assert_true(bytes_in(&q) > 0);
	while (!step->locks && (evq_ready(s, seg_live(s, SEG_T_EVQ, q.idx))))
		if (!evq_pop(s, q.idx, q.gen, q.fd, &r))
			got[r.cookie]++;
	assert_true(clock_now_ns() - start < NSEC_PER_SEC); /* 5 ms, but on a loaded machine */
	ptrace(PTRACE_DETACH, c.pid, NULL, NULL);
	if (done < n)
		kill(c.pid, SIGCONT);
	for (int status; !waitpid(c.pid, &status, WUNTRACED) || WIFSTOPPED(status);)
		kill(c.pid, SIGCONT);
	c.pid = -1;
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

static void stopped_at_each_instruction(void **state)
{
	print_message("stopped at %u instructions\n", walk_steps(*state, stop_at));
}

static void a_lazy_queue_tells_pollers_only(void **state)
{
	struct seg *s = *state;
	struct queue q = queue_open(s, 0);
	struct seg_evq *e = seg_live(s, SEG_T_EVQ, q.idx);
	struct seg_evrec r;

	evq_set_lazy(s, q.idx);
	assert_false(evq_ready(s, e));
	assert_int_equal(push(s, &q, 1), 0);
	assert_true(evq_ready(s, e));
	assert_int_equal(bytes_in(&q), 0);
	assert_int_equal(evq_poll_begin(s, q.idx, q.gen), 1); /* it need not wait */
	assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), 0);
	assert_int_equal(evq_poll_begin(s, q.idx, q.gen), 0);
	assert_int_equal(push(s, &q, 2), 0);
	assert_int_equal(bytes_in(&q), 1);
	evq_poll_end(s, q.idx, q.gen);
	assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), 0);
	assert_int_equal(bytes_in(&q), 0);
	assert_int_equal(push(s, &q, 3), 0);
	assert_int_equal(bytes_in(&q), 0);
	assert_int_equal(evq_poll_begin(s, q.idx, q.gen + 1), -ENOENT);
	evq_kill(s, q.idx, q.gen);
	assert_true(evq_ready(s, e));
	queue_close(s, &q);
}

/* While another process is stopped with the readers' lock: who publishes does not wait, and the
 * FIFO tells. */
static void hold_lock(struct seg *s, struct test_child *c, void *arg)
{
	const struct queue *q = arg;
	struct seg_evq *e = seg_live(s, SEG_T_EVQ, q->idx);

	seg_lock(s, &e->lock, SEG_LOCK_CTRL_NS);
	test_tell(c->tell[1]);
	test_wait(c->go[0]);
	seg_unlock(s, &e->lock);
}

static void publishing_waits_for_no_reader(void **state)
{
	struct seg *s = *state;

	for (int first = 0; first < 2; first++) {
		struct queue q = queue_open(s, 0);
		struct test_child c;
		struct seg_evrec r;

		evq_set_lazy(s, q.idx);
		test_spawn(s, &c, hold_lock, &q);
		assert_true(test_wait(c.tell[0]));
		if (first)
			assert_int_equal(push(s, &q, 1), 0);
		evq_publish(s, q.idx, q.gen);
		if (!first)
			assert_int_equal(push(s, &q, 1), 0);
		assert_true(bytes_in(&q) > 0);
		test_tell(c.go[1]);
		assert_int_equal(test_reap(&c), 0);
		assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), 0);
		assert_int_equal(bytes_in(&q), 0);
		queue_close(s, &q);
	}
}

/* EPOLLET: each event is an edge, whatever is unread. */
static void each_event_is_an_edge(void **state)
{
	struct seg *s = *state;
	struct queue q = queue_open(s, 0);
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET}, got;
	int ep = epoll_create1(EPOLL_CLOEXEC);
	struct seg_evrec r;

	assert_int_equal(epoll_ctl(ep, EPOLL_CTL_ADD, q.fd, &ev), 0);
	push(s, &q, 1);
	assert_int_equal(epoll_wait(ep, &got, 1, 0), 1);
	assert_int_equal(epoll_wait(ep, &got, 1, 0), 0);
	push(s, &q, 2);
	assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), 0);
	assert_int_equal(epoll_wait(ep, &got, 1, 0), 1);
	/* one is read per edge, and never all: the FIFO does not fill up */
	for (int i = 0; i < 70000; i++) {
		push(s, &q, 3);
		assert_int_equal(epoll_wait(ep, &got, 1, 0), 1);
		assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), 0);
	}
	assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), 0);
	assert_int_equal(bytes_in(&q), 0);
	close(ep);
	queue_close(s, &q);
}

static void a_published_queue_always_tells(void **state)
{
	struct seg *s = *state;
	struct queue q = queue_open(s, 0);
	struct seg_evrec r;

	evq_set_lazy(s, q.idx);
	assert_int_equal(push(s, &q, 1), 0);
	evq_publish(s, q.idx, q.gen);
	assert_int_equal(bytes_in(&q), 1);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), 0);
		assert_int_equal(bytes_in(&q), 0);
		assert_int_equal(push(s, &q, 2), 0);
		assert_int_equal(bytes_in(&q), 1);
	}
	queue_close(s, &q);
}

/* A byte that came too late (the supervisor's) is drained by whoever comes for it. */
static void a_stray_byte_is_drained(void **state)
{
	struct seg *s = *state;
	struct queue q = queue_open(s, 0);
	struct seg_evrec r;

	assert_int_equal(write(q.fd, "", 1), 1);
	assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), -EAGAIN);
	assert_int_equal(bytes_in(&q), 0);
	queue_close(s, &q);
}

/* One whose pusher died after it, when its record had been taken already. */
static void a_dead_pushers_late_byte_is_drained(void **state)
{
	struct seg *s = *state;
	struct queue q = queue_open(s, 0);

	atomic_fetch_add(&((struct seg_evq *)seg_live(s, SEG_T_EVQ, q.idx))->byte, 1);
	assert_int_equal(write(q.fd, "", 1), 1);
	evq_repair(s);
	assert_int_equal(bytes_in(&q), 0);
	queue_close(s, &q);
}

static struct queue crowd;

static void *read_all(void *arg)
{
	struct seg *s = arg;
	struct seg_evrec r;

	while (!evq_pop(s, crowd.idx, crowd.gen, crowd.fd, &r))
		;
	return NULL;
}

static void who_fills_a_queue_waits_for_its_reader(void **state)
{
	struct seg *s = *state;
	struct seg_evq *e;
	struct seg_evrec r;
	uint64_t start;
	pthread_t t;

	crowd = queue_open(s, 0);
	e = seg_live(s, SEG_T_EVQ, crowd.idx);
	push(s, &crowd, 0);
	assert_int_equal(evq_pop(s, crowd.idx, crowd.gen, crowd.fd, &r), 0);
	for (uint64_t i = 0; i < 2 * EVQ_CROWDED; i++)
		push(s, &crowd, i);
	start = test_own_ns();
	evq_ease(s, crowd.idx, crowd.gen); /* who reads it itself waits for nobody */
	assert_true(test_own_ns() - start < EVQ_EASE_NS);
	atomic_fetch_add(&e->reader, 2);
	assert_int_equal(pthread_create(&t, NULL, read_all, s), 0);
	evq_ease(s, crowd.idx, crowd.gen);
	assert_true(e->count <= EVQ_CROWDED / 4 || !e->reader);
	assert_int_equal(pthread_join(t, NULL), 0);
	assert_int_equal(e->easers, 0);
	/* A reader that does not come is forgotten. */
	for (uint64_t i = 0; i < 2 * EVQ_CROWDED; i++)
		push(s, &crowd, i);
	evq_ease(s, crowd.idx, crowd.gen);
	assert_int_equal(e->reader, 0);
	assert_int_equal(e->count, 2 * EVQ_CROWDED);
	queue_close(s, &crowd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order_with_a_byte_each),
		cmocka_unit_test(closed_or_reused_queue_is_enoent),
		cmocka_unit_test(beyond_max_is_dropped_and_counted),
		cmocka_unit_test(reading_counts_on_the_source),
		cmocka_unit_test(purge_takes_one_source_only),
		cmocka_unit_test(dead_device_is_eio_after_the_last_event),
		cmocka_unit_test(every_event_wakes_its_reader),
		cmocka_unit_test(a_dead_readers_queue_is_repaired),
		cmocka_unit_test(data_comes_in_pieces),
		cmocka_unit_test(data_that_finds_no_queue_is_freed),
		cmocka_unit_test(a_loss_is_told_once_and_first),
		cmocka_unit_test(who_cannot_open_the_fifo_asks),
		cmocka_unit_test(a_lazy_queue_tells_pollers_only),
		cmocka_unit_test(a_published_queue_always_tells),
		cmocka_unit_test(publishing_waits_for_no_reader),
		cmocka_unit_test(each_event_is_an_edge),
		cmocka_unit_test(a_stray_byte_is_drained),
		cmocka_unit_test(a_dead_pushers_late_byte_is_drained),
		cmocka_unit_test(who_fills_a_queue_waits_for_its_reader),
		cmocka_unit_test(killed_at_any_moment),
		cmocka_unit_test(killed_at_each_instruction),
		cmocka_unit_test(stopped_at_each_instruction),
	};

	return cmocka_run_group_tests(tests, test_ev_setup, test_ev_teardown);
}
