/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Subscriptions: which subscriber gets which event, coalescing, losses, ends, other processes,
 * deaths.
 */
#include "segment/test.h"
#include "hw/cq.h"
#include "hw/evsub.h"

#include <sys/eventfd.h>
#include <sys/ptrace.h>

enum { HCA = 5, COMM_EST = 2, PORT_CHANGE = 9, RQ = 1 << 16 };

struct evfile {
	uint32_t idx, gen;
	int fd;
};

static struct evfile file_open(struct seg *s, enum seg_file_kind kind, uint32_t max)
{
	struct evfile e;
	struct seg_file *f;

	assert_int_equal(seg_alloc(s, SEG_T_FILE, SEG_OWNER_DEVICE, &e.idx), 0);
	f = seg_file(s, e.idx);
	f->kind = kind;
	f->parent = SEG_NONE;
	e.gen = f->gen;
	e.fd = test_ev_open(s, e.idx, O_NONBLOCK, max);
	return e;
}

static void file_close(struct seg *s, struct evfile *e)
{
	evsub_file_gone(s, e->idx);
	evq_close(s, e->idx);
	assert_int_equal(seg_next(s, SEG_T_EVSUB, e->idx + 1, 0), SEG_NONE);
	close(e->fd);
	seg_free(s, SEG_T_FILE, e->idx);
}

static uint32_t subscribe(struct seg *s, const struct evfile *e, uint32_t key, uint32_t id,
			  uint64_t cookie, bool omit)
{
	const struct seg_evsub sub = {.hca = HCA,
				      .key = key,
				      .id = id,
				      .evq = e->idx,
				      .evq_gen = e->gen,
				      .omit = omit,
				      .cookie = cookie,
				      .object = id ? UINT64_C(0x50000000000) | id : 0};
	uint32_t idx;

	assert_int_equal(evsub_add(s, &sub, &idx), 0);
	return idx;
}

static void raise_event(struct seg *s, uint32_t key, uint32_t id, uint8_t mark)
{
	uint8_t eqe[EVSUB_EQE];

	memset(eqe, mark, sizeof(eqe));
	evsub_raise(s, HCA, key, id, eqe);
}

/* The cookie of the oldest record, or the error of reading; *mark: the first byte of its EQE. */
static int64_t next(struct seg *s, const struct evfile *e, uint8_t *mark)
{
	struct seg_evrec r;
	uint32_t more;
	int err = evq_take(s, e->idx, e->gen, e->fd, 8, SIZE_MAX, &r);

	if (err)
		return err;
	*mark = r.data ? evq_data(s, r.data, &more)[0] : 0;
	evq_data_free(s, &r);
	return (int64_t)r.cookie;
}

static void only_who_asked_hears(void **state)
{
	struct seg *s = *state;
	struct evfile a = file_open(s, SEG_FILE_DEVX_EVENT, 0);
	struct evfile b = file_open(s, SEG_FILE_DEVX_EVENT, 0);
	uint8_t m;

	raise_event(s, COMM_EST, 7, 1);
	subscribe(s, &a, COMM_EST, 7, 100, false);
	subscribe(s, &a, COMM_EST, 7, 101, false);
	subscribe(s, &b, COMM_EST, 7, 102, false);
	subscribe(s, &b, COMM_EST, 8, 103, false);
	subscribe(s, &b, COMM_EST | RQ, 7, 104, false);
	subscribe(s, &b, PORT_CHANGE, 0, 105, false);
	raise_event(s, COMM_EST, 7, 2);
	assert_int_equal(next(s, &a, &m), 100);
	assert_int_equal(m, 2);
	assert_int_equal(next(s, &a, &m), 101);
	assert_int_equal(next(s, &a, &m), -EAGAIN);
	assert_int_equal(next(s, &b, &m), 102);
	assert_int_equal(next(s, &b, &m), -EAGAIN);
	raise_event(s, COMM_EST | RQ, 7, 3);
	raise_event(s, PORT_CHANGE, 0, 4);
	evsub_raise(s, HCA + 1, PORT_CHANGE, 0, (uint8_t[EVSUB_EQE]){0});
	assert_int_equal(next(s, &b, &m), 104);
	assert_int_equal(next(s, &b, &m), 105);
	assert_int_equal(m, 4);
	assert_int_equal(next(s, &b, &m), -EAGAIN);
	file_close(s, &a);
	raise_event(s, COMM_EST, 7, 5);
	assert_int_equal(next(s, &b, &m), 102);
	file_close(s, &b);
	raise_event(s, COMM_EST, 7, 6);
	assert_int_equal(seg_next(s, SEG_T_EVBUF, SEG_OWNER_ANY, 0), SEG_NONE);
}

static void without_data_one_at_a_time(void **state)
{
	struct seg *s = *state;
	struct evfile a = file_open(s, SEG_FILE_DEVX_EVENT, 0);
	uint8_t m;

	subscribe(s, &a, COMM_EST, 7, 1, true);
	subscribe(s, &a, COMM_EST, 8, 2, true);
	for (int i = 0; i < 3; i++) {
		raise_event(s, COMM_EST, 7, 1);
		raise_event(s, COMM_EST, 8, 1);
	}
	assert_int_equal(next(s, &a, &m), 1);
	raise_event(s, COMM_EST, 7, 1); /* after a read the next event makes a record again */
	assert_int_equal(next(s, &a, &m), 2);
	assert_int_equal(next(s, &a, &m), 1);
	assert_int_equal(m, 0);
	assert_int_equal(next(s, &a, &m), -EAGAIN);
	/* queued events outlive their object */
	raise_event(s, COMM_EST, 7, 1);
	evsub_object_gone(s, HCA, UINT64_C(0x50000000000) | 7);
	raise_event(s, COMM_EST, 7, 1);
	raise_event(s, COMM_EST, 8, 1);
	assert_int_equal(next(s, &a, &m), 1);
	assert_int_equal(next(s, &a, &m), 2);
	assert_int_equal(next(s, &a, &m), -EAGAIN);
	file_close(s, &a);
}

static void a_full_queue_says_so_once(void **state)
{
	struct seg *s = *state;
	struct evfile a = file_open(s, SEG_FILE_DEVX_EVENT, 2);
	uint8_t m;

	subscribe(s, &a, COMM_EST, 7, 1, false);
	for (uint8_t i = 1; i <= 4; i++)
		raise_event(s, COMM_EST, 7, i);
	assert_int_equal(next(s, &a, &m), -EOVERFLOW);
	assert_int_equal(next(s, &a, &m), 1);
	assert_int_equal(next(s, &a, &m), 1);
	assert_int_equal(m, 2);
	assert_int_equal(next(s, &a, &m), -EAGAIN);
	raise_event(s, COMM_EST, 7, 9);
	assert_int_equal(next(s, &a, &m), 1);
	assert_int_equal(m, 9);
	file_close(s, &a);
}

static void a_closed_device_takes_its_event_files_along(void **state)
{
	struct seg *s = *state;
	struct evfile cmd = file_open(s, SEG_FILE_UVERBS, 0);
	struct evfile e[] = {file_open(s, SEG_FILE_DEVX_EVENT, 0),
			     file_open(s, SEG_FILE_DEVX_CMD, 0), file_open(s, SEG_FILE_COMP, 0),
			     file_open(s, SEG_FILE_ASYNC, 0), file_open(s, SEG_FILE_DEVX_EVENT, 0)};
	struct seg_evsrc none = {.table = SEG_T_COUNT};
	uint8_t m;

	for (int i = 0; i < 5; i++)
		assert_int_equal(evq_push(s, e[i].idx, e[i].gen, none, 7, 0, 0), 0);
	for (int i = 0; i < 4; i++) { /* each kind of file alone; async files stay */
		for (int k = 0; k < 4; k++)
			seg_file(s, e[k].idx)->parent = SEG_NONE;
		seg_file(s, cmd.idx)->has_events = 0;
		seg_file_set_parent(s, seg_file(s, e[i].idx), cmd.idx, cmd.gen);
		assert_int_equal(evsub_file_has_any(s, cmd.idx), i < 3);
	}
	for (int i = 0; i < 4; i++)
		seg_file_set_parent(s, seg_file(s, e[i].idx), cmd.idx, cmd.gen);
	subscribe(s, &e[0], COMM_EST, 7, 1, false);
	assert_false(evsub_file_has_any(s, e[4].idx));
	subscribe(s, &e[4], COMM_EST, 7, 1, false);
	assert_true(evsub_file_has_any(s, e[4].idx));
	evsub_file_gone(s, cmd.idx);
	assert_int_equal(seg_next(s, SEG_T_EVSUB, e[0].idx + 1, 0), SEG_NONE);
	assert_int_equal(next(s, &e[0], &m), -EIO);
	assert_int_equal(next(s, &e[1], &m), -EIO);
	assert_int_equal(next(s, &e[2], &m), 7); /* read the queued event first */
	assert_int_equal(next(s, &e[2], &m), -EIO);
	assert_int_equal(next(s, &e[3], &m), 7);
	assert_int_equal(next(s, &e[3], &m), -EAGAIN);
	raise_event(s, COMM_EST, 7, 1); /* an event of another device */
	assert_int_equal(next(s, &e[4], &m), 7);
	assert_int_equal(next(s, &e[4], &m), 1);
	for (int i = 0; i < 5; i++)
		file_close(s, &e[i]);
	file_close(s, &cmd);
}

/* ---- other processes */

static int event_fd;

static void raise_there(struct seg *s, struct test_child *c, void *arg)
{
	raise_event(s, COMM_EST, 7, 1);
	raise_event(s, COMM_EST, 7, 1);
	test_tell(c->tell[1]);
}

static void an_eventfd_is_written_by_its_own_process(void **state)
{
	struct seg *s = *state;
	struct evfile a = file_open(s, SEG_FILE_DEVX_EVENT, 0);
	struct seg_proc *me = seg_proc(s, s->self);
	struct seg_evsub sub = {
		.hca = HCA, .key = COMM_EST, .id = 7, .evq = a.idx, .evq_gen = a.gen};
	struct test_child c;
	uint64_t n = 0;
	uint32_t idx, wake;
	uint8_t m;

	event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	sub.eventfd = 1 + event_fd;
	assert_int_equal(evsub_add(s, &sub, &idx), 0);
	raise_event(s, COMM_EST, 7, 1);
	assert_int_equal(read(event_fd, &n, sizeof(n)), 8);
	assert_int_equal(n, 1);
	assert_int_equal(next(s, &a, &m), -EAGAIN);
	wake = me->wake;
	atomic_store(&me->parked, 0);
	test_spawn(s, &c, raise_there, NULL);
	assert_true(test_wait(c.tell[0]));
	test_reap(&c);
	assert_int_equal(read(event_fd, &n, sizeof(n)), -1);
	assert_int_equal(me->parked, 1);
	assert_int_not_equal(me->wake, wake);
	evsub_signal_own(s);
	assert_int_equal(read(event_fd, &n, sizeof(n)), 8);
	assert_int_equal(n, 2);
	evsub_signal_own(s);
	assert_int_equal(read(event_fd, &n, sizeof(n)), -1);
	/* an eventfd at its maximum does not block */
	n = UINT64_MAX - 1;
	fcntl(event_fd, F_SETFL, 0);
	assert_int_equal(write(event_fd, &n, sizeof(n)), 8);
	raise_event(s, COMM_EST, 7, 1);
	file_close(s, &a);
	close(event_fd);
	raise_event(s, COMM_EST, 7, 1);
}

static void hold_every_chain(struct seg *s, struct test_child *c, void *arg)
{
	for (uint32_t i = 1; i < EVSUB_CHAINS; i++)
		seg_lock(s, &((struct seg_evhash *)seg_at(s, SEG_T_EVTAB, i))->lock, 0);
	test_tell(c->tell[1]);
	test_wait(c->go[0]);
	for (uint32_t i = 1; i < EVSUB_CHAINS; i++)
		seg_unlock(s, &((struct seg_evhash *)seg_at(s, SEG_T_EVTAB, i))->lock);
}

static void a_stopped_raiser_stops_nobody_else(void **state)
{
	struct seg *s = *state;
	struct evfile a = file_open(s, SEG_FILE_DEVX_EVENT, 0);
	struct test_child c;
	uint8_t m;

	subscribe(s, &a, COMM_EST, 7, 1, false);
	subscribe(s, &a, COMM_EST, 7, 2, false);
	test_spawn(s, &c, hold_every_chain, NULL);
	assert_true(test_wait(c.tell[0]));
	raise_event(s, COMM_EST, 7, 1);
	assert_int_equal(next(s, &a, &m), 1);
	assert_int_equal(next(s, &a, &m), 2);
	test_tell(c.go[1]);
	test_reap(&c);
	file_close(s, &a);
}

static void subscribe_for_ever(struct seg *s, struct test_child *c, void *arg)
{
	const struct evfile *e = arg;

	test_tell(c->tell[1]);
	for (;;) {
		uint32_t i = subscribe(s, e, COMM_EST, 7, 1, true);
		uint32_t j = subscribe(s, e, COMM_EST, 7, 2, false);

		raise_event(s, COMM_EST, 7, 1);
		evsub_drop(s, i);
		evsub_drop(s, j);
	}
}

/*
 * After a kill at any instruction, other subscribers have their events, and the dead one's
 * subscriptions end with its file.
 */
static void killed_at_any_instruction(void **state)
{
	struct seg *s = *state;
	struct evfile a = file_open(s, SEG_FILE_DEVX_EVENT, 0);
	uint8_t m = 0;

	subscribe(s, &a, COMM_EST, 7, 1000, false);
	for (int round = 0; round < 40; round++) {
		struct evfile b = file_open(s, SEG_FILE_DEVX_EVENT, 100);
		struct timespec ts = {0, (round % 7) * 50000};
		struct test_child c;
		int64_t r;
		bool told = false;

		test_spawn(s, &c, subscribe_for_ever, &b);
		assert_true(test_wait(c.tell[0]));
		nanosleep(&ts, NULL); /* killed here, at a random instruction */
		kill(c.pid, SIGKILL);
		test_reap(&c);
		while ((r = next(s, &a, &m)) != -EAGAIN)
			assert_true(r == 1000 || r == -EOVERFLOW);
		raise_event(s, COMM_EST, 7, 77);
		while ((r = next(s, &a, &m)) == 1000)
			told = told || m == 77;
		assert_int_equal(r, -EAGAIN);
		assert_true(told);
		file_close(s, &b);
	}
	file_close(s, &a);
	assert_int_equal(seg_next(s, SEG_T_EVSUB, SEG_OWNER_ANY, 0), SEG_NONE);
}

/* ---- a raiser that is stopped, and another event meanwhile */

static uint32_t raiser_debt[2];

static struct evsub_debt debt_of(struct seg *s, uint32_t which)
{
	struct hw_cq *cq = hw_cq(s, raiser_debt[which]);

	return (struct evsub_debt){&cq->armed, HW_CQ_OWES_DEVX, SEG_T_CQ, raiser_debt[which],
				   cq->gen};
}

static bool raise_debt(struct seg *s, uint32_t which, uint8_t mark)
{
	struct evsub_debt d = debt_of(s, which);
	uint8_t eqe[EVSUB_EQE];

	memset(eqe, mark, sizeof(eqe));
	return evsub_raise_owed(s, HCA, COMM_EST, 7, eqe, &d);
}

static void be_stepped(struct seg *s, struct test_child *c, void *arg)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(77);
	raise(SIGSTOP);
	raise_debt(s, 0, 1);
	raise(SIGSTOP);
}

static unsigned int go_steps(const struct test_child *c, unsigned int n)
{
	unsigned int i;
	int st;

	assert_int_equal(waitpid(c->pid, &st, 0), c->pid);
	if (WIFEXITED(st) && WEXITSTATUS(st) == 77) {
		print_message("ptrace is refused here\n");
		skip();
	}
	for (i = 0; i < n; i++) {
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, c->pid, NULL, NULL), 0);
		assert_int_equal(waitpid(c->pid, &st, 0), c->pid);
		assert_true(WIFSTOPPED(st));
		if (WSTOPSIG(st) == SIGSTOP)
			break;
	}
	return i;
}

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
 * Stops a process after `n` instructions of raising event 1. Another process raises that event,
 * too, then event 2. In the end each subscriber has each event once. Returns the number of
 * instructions.
 */
static unsigned int stop_raiser_at(struct seg *s, const struct evfile e[2], unsigned int n)
{
	unsigned int done, got[2][3] = {{0}};
	struct test_child c;
	uint8_t m = 0;

	atomic_store(debt_of(s, 0).word, HW_CQ_OWES_DEVX);
	test_spawn(s, &c, be_stepped, NULL);
	done = go_steps(&c, n);
	assert_true(raise_debt(s, 0, 1));
	atomic_store(debt_of(s, 1).word, HW_CQ_OWES_DEVX);
	assert_true(raise_debt(s, 1, 2));
	go_on(&c, done < n);
	raise_event(s, COMM_EST, 8, 0); /* the remains of the death are repaired */
	raise_debt(s, 0, 1);
	for (int i = 0; i < 2; i++)
		while (next(s, &e[i], &m) >= 0)
			got[i][m]++;
	for (int i = 0; i < 2; i++)
		if (got[i][1] != 1 || got[i][2] != 1)
			fail_msg("stopped after %u: file %d has %u of 1, %u of 2", done, i,
				 got[i][1], got[i][2]);
	return done;
}

static void a_stopped_raisers_event_comes_once(void **state)
{
	const char *v = getenv("SOFTHCA_STRESS_SECONDS");
	uint64_t end = clock_now_ns() + (uint64_t)((v ? atof(v) : 2) * NSEC_PER_SEC);
	struct seg *s = *state;
	struct evfile e[] = {file_open(s, SEG_FILE_DEVX_EVENT, 0),
			     file_open(s, SEG_FILE_DEVX_EVENT, 0)};
	unsigned int size, stride = 1, did = 0;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(seg_alloc(s, SEG_T_CQ, 1, &raiser_debt[i]), 0);
		subscribe(s, &e[i], COMM_EST, 7, 1, false);
	}
	size = stop_raiser_at(s, e, UINT32_MAX);
	while (stride < size)
		stride *= 2;
	for (; stride > 1; stride /= 2)
		for (unsigned int n = stride / 2; n < size && clock_now_ns() < end; n += stride)
			stop_raiser_at(s, e, n), did++;
	print_message("stopped at %u of %u instructions\n", did, size);
	for (int i = 0; i < 2; i++) {
		seg_free(s, SEG_T_CQ, raiser_debt[i]);
		file_close(s, &e[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_who_asked_hears),
		cmocka_unit_test(without_data_one_at_a_time),
		cmocka_unit_test(a_full_queue_says_so_once),
		cmocka_unit_test(a_closed_device_takes_its_event_files_along),
		cmocka_unit_test(an_eventfd_is_written_by_its_own_process),
		cmocka_unit_test(a_stopped_raiser_stops_nobody_else),
		cmocka_unit_test(killed_at_any_instruction),
		cmocka_unit_test(a_stopped_raisers_event_comes_once),
	};

	return cmocka_run_group_tests(tests, test_ev_setup, test_ev_teardown);
}
