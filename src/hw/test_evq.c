/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Event queues: order, the byte, purging, sources that are gone, waiting. */
#include "hw/test_evq.h"

#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "hw/cq.h"
#include "hw/for_tests.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "segment/suplink.h"
#include "util/clock.h"

static void in_order_with_a_byte_each(void **state)
{
	struct seg *s = *state;
	struct queue q = queue_open(s, 0);
	struct seg_evrec r;

	for (int round = 0; round < 2; round++) {
		assert_int_equal(bytes_in(&q), 0);
		for (uint64_t i = 0; i < 5; i++)
			assert_int_equal(push(s, &q, i), 0);
		assert_int_equal(bytes_in(&q), 5); /* each byte is an edge */
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
	/* an event of a destroyed object is never read: its cookie may be stale */
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
	/* the last record was purged: the next links to the one before it */
	evq_push(s, q.idx, q.gen, b, 1, 0, 0);
	evq_push(s, q.idx, q.gen, a, 2, 0, 0);
	evq_purge(s, q.idx, q.gen, SEG_T_QP, a.idx);
	evq_push(s, q.idx, q.gen, b, 3, 0, 0);
	for (uint64_t i = 1; i <= 3; i += 2) {
		assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), 0);
		assert_int_equal(r.cookie, i);
	}
	/* all records were purged: nobody is woken */
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

		/* a missing byte would make this time out */
		assert_int_equal(poll(&p, 1, 60000), 1);
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

/* Dies holding the readers' lock, with the readers' notes erased. */
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
	/* unread data is freed with its record, by each way of dropping it */
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

/*
 * Without a descriptor, or without access to the folder, the supervisor is asked to write the byte;
 * if nobody can, the next event tries again.
 */
static void cannot_open_the_fifo(struct seg *s, bool is_lazy)
{
	struct queue q = queue_open(s, 0);
	const struct seg_evq *e = seg_live(s, SEG_T_EVQ, q.idx);
	struct link_msg m;
	char dir[sizeof(s->dir)];
	struct seg_evrec r;
	int sock[2];

	if (is_lazy) {
		evq_set_lazy(s, q.idx);
		assert_int_equal(evq_poll_begin(s, q.idx, q.gen), 0);
	}
	strcpy(dir, s->dir);
	strcpy(s->dir, "/no-such-folder");
	assert_int_equal(push(s, &q, 1), 0); /* no connection to the supervisor either */
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
	evq_wake(s, q.idx, q.gen); /* as the supervisor does */
	assert_true(bytes_in(&q) > 0);
	push(s, &q, 3);
	close(sock[0]);
	close(sock[1]);
	for (uint64_t i = 1; i <= 3; i++) {
		assert_int_equal(evq_pop(s, q.idx, q.gen, q.fd, &r), 0);
		assert_int_equal(r.cookie, i);
	}
	assert_int_equal(bytes_in(&q), 0);
	evq_wake(s, q.idx, q.gen); /* after the record was read */
	assert_int_equal(bytes_in(&q), 0);
	queue_close(s, &q);
}

static void who_cannot_open_the_fifo_asks(void **state)
{
	cannot_open_the_fifo(*state, false);
	cannot_open_the_fifo(*state, true);
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
	/* there is a record: no need to wait */
	assert_int_equal(evq_poll_begin(s, q.idx, q.gen), 1);
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

/*
 * While another process is stopped with the readers' lock, evq_publish() does not wait, and the
 * FIFO gets a byte.
 */
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

/*
 * A queue is closed while its reader is stopped with the lock: the reader finds no new queue in its
 * place.
 */
static void no_new_queue_under_an_old_reader(void **state)
{
	struct seg *s = *state;
	struct queue q = queue_open(s, 0);
	struct test_child c;

	test_spawn(s, &c, hold_lock, &q);
	assert_true(test_wait(c.tell[0]));
	queue_close(s, &q);
	assert_int_equal(seg_alloc_at(s, SEG_T_FILE, SEG_OWNER_DEVICE, q.idx), 0);
	assert_true(evq_is_held(s, q.idx));
	assert_int_equal(evq_open(s, q.idx, 0), -EBUSY);
	test_tell(c.go[1]);
	assert_int_equal(test_reap(&c), 0);
	assert_int_equal(evq_open(s, q.idx, 0), 0);
	evq_close(s, q.idx);
	seg_free(s, SEG_T_FILE, q.idx);
}

static _Atomic uint32_t caught;

static void on_signal(int sig)
{
	atomic_fetch_add(&caught, 1);
}

struct waiting {
	struct seg_evq *e;
	_Atomic bool ends;
	_Atomic int got; /* -EINTR once */
};

static void *wait_for_a_lock(void *arg)
{
	struct waiting *w = arg;

	while (!atomic_load(&w->ends) && !atomic_load(&w->got))
		atomic_store(&w->got, evq_wait(w->e, w->e->wake, true, NULL));
	return NULL;
}

/* Send signals to a thread that waits for the lock, up to `n`: what its wait was. */
static int interrupt(struct seg_evq *e, int flags, uint32_t n)
{
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = flags}, old;
	struct waiting w = {.e = e};
	pthread_t t;

	sigaction(SIGUSR1, &act, &old);
	atomic_store(&caught, 0);
	assert_int_equal(pthread_create(&t, NULL, wait_for_a_lock, &w), 0);
	for (uint32_t i = 0; i < n && !atomic_load(&w.got); i++) {
		while (!e->sleepers && !atomic_load(&w.got))
			sched_yield();
		pthread_kill(t, SIGUSR1);
		while (atomic_load(&caught) <= i)
			sched_yield();
	}
	atomic_store(&w.ends, true);
	pthread_join(t, NULL);
	sigaction(SIGUSR1, &old, NULL);
	return w.got;
}

/* read(2) is restarted, also while the queue's lock is another's. */
static void waiting_for_the_lock_is_restarted(void **state)
{
	struct seg *s = *state;
	struct queue q = queue_open(s, 0);
	struct seg_evq *e = seg_live(s, SEG_T_EVQ, q.idx);

	assert_int_equal(interrupt(e, 0, UINT32_MAX), -EINTR);
	if (syscall(SYS_futex_waitv, NULL, 0, 0, NULL, 0) && errno == ENOSYS)
		skip();
	assert_int_equal(interrupt(e, SA_RESTART, 100), 0);
	queue_close(s, &q);
}

/* EPOLLET: each event is an edge, however much is unread. */
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
	/* reads one record per edge and never the last: the FIFO does not fill up */
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

/* A late byte (from the supervisor) is drained by the next reader. */
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

/* A pusher that died after its record was taken may have left a byte. */
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
	uint64_t took = EVQ_EASE_NS;
	pthread_t t;

	crowd = queue_open(s, 0);
	e = seg_live(s, SEG_T_EVQ, crowd.idx);
	push(s, &crowd, 0);
	assert_int_equal(evq_pop(s, crowd.idx, crowd.gen, crowd.fd, &r), 0);
	for (uint64_t i = 0; i < 2 * EVQ_CROWDED; i++)
		push(s, &crowd, i);
	/* The thread that reads the queue itself does not wait; a machine may stand still once. */
	for (int i = 0; took >= EVQ_EASE_NS && i < 5; i++) {
		uint64_t start = test_own_ns();

		evq_ease(s, crowd.idx, crowd.gen);
		took = test_own_ns() - start;
	}
	assert_true(took < EVQ_EASE_NS);
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
		cmocka_unit_test(no_new_queue_under_an_old_reader),
		cmocka_unit_test(waiting_for_the_lock_is_restarted),
		cmocka_unit_test(each_event_is_an_edge),
		cmocka_unit_test(a_stray_byte_is_drained),
		cmocka_unit_test(a_dead_pushers_late_byte_is_drained),
		cmocka_unit_test(who_fills_a_queue_waits_for_its_reader),
	};

	return cmocka_run_group_tests(tests, test_ev_setup, test_ev_teardown);
}
