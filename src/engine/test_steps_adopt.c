/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A process is stopped or killed at each marked step (POINT()) of adopting its memory and of giving
 * it back, while one of its threads stores to it and another process writes to it.
 */
#include "engine/test_keys.h"
#include "engine/test_steps.h"
#include "segment/adopt.h"
#include "segment/near.h"
#include "util/for_tests.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/uio.h>

#define PIECES 2
#define LEN (ADOPT_CHUNK + ADOPT_PAGE) /* two pieces */
/* Bytes at the end: a thread of the owner stores to the first, another process copies to the last.
 */
#define STORES 64
#define COPIED 32
#define MESSAGES 3
enum { BEFORE = 0x55, WRITTEN = 0xaa };

static const char *spec;
static bool back; /* count the steps of giving back, not of adopting */
static _Atomic bool ends;
static volatile uint64_t *word;

static void *store(void *arg)
{
	uint64_t n = 0;

	for (; !atomic_load(&ends); sched_yield()) {
		CHECK(*word == n);
		*word = ++n;
	}
	CHECK(*word == n);
	return NULL;
}

static bool every(void *arg, uint32_t mkey, uint32_t gen)
{
	return true;
}

/* Threads and copies under way are waited for with a limit: try again later, as the device thread
 * does. */
static bool gives_back(void)
{
	for (int i = 0; i < 20000 && !adopt_give_back(every, NULL, false); i++)
		usleep(1000);
	return !adopt_any();
}

/* Runs in the child, the owner. The parent writes once before the end. */
static void owner(struct bed *e)
{
	struct seg *s = &e->p.t->s;
	struct t_qp *b;
	pthread_t t;

	b = child_qp(e, PRM_ST_RC, NULL);
	e->board->key = t_key(e->p.t, t_pdn(b), b->mem, LEN, ALL);
	e->board->a_key = s->self;
	memset(b->mem, BEFORE, LEN - STORES);
	word = (void *)(b->mem + LEN - STORES);
	t_rts(b, e->p.a);
	tell(e->tell[1]);
	CHECK(await(e->go[0]));
	CHECK(!pthread_create(&t, NULL, store, NULL));
	CHECK(back || point_set(spec));
	adopt_key(s, e->board->key);
	CHECK(adopt_bytes(s, s->self) == PIECES * ADOPT_CHUNK);
	CHECK(!back || point_set(spec));
	CHECK(!back || gives_back());
	CHECK(adopt_any() == !back);
	point_set("");
	tell(e->tell[1]);
	CHECK(await(e->go[0]));
	for (uint32_t i = 0; i < LEN; i++)
		CHECK(b->mem[i] == WRITTEN || (i >= LEN - STORES && i < LEN - COPIED));
	atomic_store(&ends, true);
	CHECK(!pthread_join(t, NULL));
	CHECK(adopt_give_back(every, NULL, false));
	for (uint32_t i = 0; i < LEN - STORES; i++)
		CHECK(b->mem[i] == WRITTEN);
	CHECK(!adopt_any() && !adopt_bytes(s, s->self));
}

/* The owner of a CQ, which the parent sends to: at the step, afterwards, and when it is adopted. */
static void queue_owner(struct bed *e)
{
	struct seg *s = &e->p.t->s;
	struct hw_cq *cq;
	struct t_qp *b;
	uint32_t i;

	b = child_qp(e, PRM_ST_RC, NULL);
	cq = b->cq.hw;
	e->board->a_key = s->self;
	for (i = 0; i < MESSAGES; i++)
		t_recv_at(b, i * 64, 64);
	t_rts(b, e->p.a);
	tell(e->tell[1]);
	CHECK(await(e->go[0]));
	CHECK(back || point_set(spec));
	i = adopt_queue(s, cq->va, (uint64_t)cq->cqe_bytes << cq->log_size);
	CHECK(!back || point_set(spec));
	CHECK(!back || gives_back());
	CHECK(adopt_any() == !back);
	point_set("");
	cq->buf_umem = i;
	tell(e->tell[1]);
	CHECK(await(e->go[0]));
	for (i = 0; i < MESSAGES; i++) {
		const struct mlx5_cqe64 *c = t_poll(&b->cq);

		CHECK(c && mlx5dv_get_cqe_opcode((void *)c) == MLX5_CQE_RESP_SEND &&
		      be16toh(c->wqe_counter) == i);
	}
	CHECK(!t_poll(&b->cq));
	CHECK(gives_back() && !adopt_bytes(s, s->self));
}

static bool readable(int fd)
{
	struct pollfd pfd = {fd, POLLIN, 0};

	return poll(&pfd, 1, 0) == 1 && pfd.revents & POLLIN;
}

static void (*killed_owner)(struct bed *e) = owner;

/* The owner does `what` (stop, kill) at its n-th step. */
static struct bed *start(void **state, void (*body)(struct bed *e), const char *what, uint32_t n)
{
	static char how[32];
	struct bed *e;

	snprintf(how, sizeof(how), "*:%s:%u", what, n);
	spec = how;
	bed_setup(state);
	e = *state;
	near_init();
	spawn(e, body);
	connect_to_child(e);
	tell(e->go[1]);
	return e;
}

static void write_all(struct bed *e)
{
	struct t_sge from = t_own(e->p.a, 0, LEN - STORES);

	memset(e->p.a->mem, WRITTEN, LEN);
	t_post(e->p.a, &(struct t_wr){.opcode = MLX5_OPCODE_RDMA_WRITE,
				      .fm_ce_se = T_SIG,
				      .raddr = e->board->mem,
				      .rkey = e->board->key,
				      .sge = &from,
				      .nsge = 1});
}

/* Copies by a system call, as MPI does between neighbours. It waits while pages are being moved. */
static void *copy(void *arg)
{
	struct bed *e = arg;
	struct iovec own = {e->p.a->mem, COPIED},
		     theirs = {(void *)(e->board->mem + LEN - COPIED), COPIED};
	struct eng_copy c;
	int r;

	while ((r = eng_copy_begin(&e->p.t->s, (uint32_t)e->pid, &c)) == -EAGAIN)
		sched_yield();
	assert_int_equal(r, 1);
	assert_int_equal(process_vm_writev(e->pid, &own, 1, &theirs, 1, 0), COPIED);
	eng_copy_end(&c);
	return NULL;
}

static void device_thread(struct bed *e)
{
	for (int i = 0; i < 50 && t_park(e->p.a) == HW_PARK_LOCK; i++) {
		t_now += 2000000;
		eng_run_due(&e->p.t->s);
	}
}

/*
 * The owner is stopped at step n: a message may wait, and is complete when the owner has gone on.
 */
static bool stopped_at(uint32_t n)
{
	struct mlx5_cqe64 *c;
	void *state;
	struct bed *e = start(&state, owner, "stop", n);
	int status;
	bool stopped;
	pthread_t t;

	/* After its last step the owner waits for this process. */
	while (!waitpid(e->pid, &status, WUNTRACED | WNOHANG) && !readable(e->tell[0]))
		;
	stopped = !readable(e->tell[0]);
	assert_true(!stopped || WIFSTOPPED(status));
	write_all(e);
	assert_int_equal(pthread_create(&t, NULL, copy, e), 0);
	if (stopped) {
		usleep(1000); /* time for a wrong copy to happen too early */
		kill(e->pid, SIGCONT);
	}
	assert_true(await(e->tell[0]));
	assert_int_equal(pthread_join(t, NULL), 0);
	device_thread(e);
	c = t_poll(&e->p.a->cq);
	assert_non_null(c);
	assert_int_equal(mlx5dv_get_cqe_opcode(c), MLX5_CQE_REQ);
	tell(e->go[1]);
	EXPECT_OK(e);
	bed_teardown(&state);
	return stopped;
}

static void send_message(struct bed *e)
{
	struct t_sge from = t_own(e->p.a, 0, 64);

	t_post(e->p.a,
	       &(struct t_wr){
		       .opcode = MLX5_OPCODE_SEND, .fm_ce_se = T_SIG, .sge = &from, .nsge = 1});
}

static void assert_sent(struct bed *e)
{
	struct mlx5_cqe64 *c;

	device_thread(e);
	c = t_poll(&e->p.a->cq);
	assert_non_null(c);
	assert_int_equal(mlx5dv_get_cqe_opcode(c), MLX5_CQE_REQ);
}

/* Each message has one CQE, whether it is sent while the CQ is moved or afterwards. */
static bool queue_stopped_at(uint32_t n)
{
	void *state;
	struct bed *e = start(&state, queue_owner, "stop", n);
	int status;
	bool stopped;

	while (!waitpid(e->pid, &status, WUNTRACED | WNOHANG) && !readable(e->tell[0]))
		;
	stopped = !readable(e->tell[0]);
	assert_true(!stopped || WIFSTOPPED(status));
	send_message(e);
	if (stopped)
		kill(e->pid, SIGCONT);
	assert_true(await(e->tell[0]));
	assert_sent(e);
	while (t_sq_ci(e->p.a) < MESSAGES) {
		send_message(e);
		assert_sent(e);
	}
	tell(e->go[1]);
	EXPECT_OK(e);
	bed_teardown(&state);
	return stopped;
}

/* Nothing of its memory remains in the segment. */
static bool killed_at(uint32_t n)
{
	void *state;
	struct bed *e = start(&state, killed_owner, "kill", n);
	struct seg *s = &e->p.t->s;
	uint32_t slot;
	int status;
	bool killed;

	while (!waitpid(e->pid, &status, WNOHANG) && !readable(e->tell[0]))
		;
	killed = !readable(e->tell[0]);
	assert_true(!killed || WIFSIGNALED(status));
	if (!killed) {
		kill(e->pid, SIGKILL);
		waitpid(e->pid, &status, 0);
	}
	/* before anybody knows */
	if (killed_owner == owner)
		write_all(e);
	else
		send_message(e);
	slot = e->board->a_key;
	atomic_store(&seg_proc(s, slot)->state, SEG_PROC_DEAD);
	eng_proc_died(s, slot);
	device_thread(e);
	assert_int_equal(adopt_sweep(s), false);
	assert_int_equal(adopt_bytes(s, slot), 0);
	close(e->go[1]);
	close(e->tell[0]);
	bed_teardown(&state);
	return killed;
}

static bool queue_killed_at(uint32_t n)
{
	bool killed;

	killed_owner = queue_owner;
	killed = killed_at(n);
	killed_owner = owner;
	return killed;
}

static void at_each(bool (*one)(uint32_t n), bool giving_back, uint32_t least, const char *what)
{
	uint32_t n = 1;

	back = giving_back;
	while (one(n))
		assert_true(++n < MAX_STEPS);
	print_message("%s at %u steps\n", what, n - 1);
	assert_true(n - 1 >= least);
}

static void stopped_while_it_adopts(void **state)
{
	at_each(stopped_at, false, 5 * PIECES, "adoption: stopped");
}

static void stopped_while_it_gives_back(void **state)
{
	at_each(stopped_at, true, 3 * PIECES, "giving back: stopped");
}

static void killed_while_it_adopts(void **state)
{
	at_each(killed_at, false, 5 * PIECES, "adoption: killed");
}

static void killed_while_it_gives_back(void **state)
{
	at_each(killed_at, true, 3 * PIECES, "giving back: killed");
}

static void a_queue_while_it_is_adopted(void **state)
{
	at_each(queue_stopped_at, false, 5, "queue: stopped");
	at_each(queue_killed_at, false, 5, "queue: killed");
}

static void a_queue_while_it_is_given_back(void **state)
{
	at_each(queue_stopped_at, true, 3, "queue given back: stopped");
	at_each(queue_killed_at, true, 3, "queue given back: killed");
}

/* After a fork neither process sees the other's stores, and the child has no page of the pool. */
static void a_fork_has_its_own_copy(void **state)
{
	struct tb *t = tb_create();
	struct t_qp *q = t_qp_make(t, 0, PRM_ST_RC, NULL);
	uint32_t key = t_key(t, t_pdn(q), q->mem, LEN, ALL);
	int status, go[2];
	pid_t pid;

	assert_int_equal(pipe(go), 0);
	memset(q->mem, BEFORE, LEN);
	adopt_key(&t->s, key);
	assert_true(adopt_any());
	adopt_forking();
	pid = fork();
	if (!pid) {
		adopt_forked();
		close(go[1]);
		CHECK(!adopt_any() && await(go[0]));
		for (uint32_t i = 0; i < LEN; i++)
			CHECK(q->mem[i] == BEFORE);
		memset(q->mem, 1, LEN);
		_exit(0);
	}
	adopt_fork_done();
	memset(q->mem, WRITTEN, LEN);
	tell(go[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(adopt_give_back(every, NULL, true));
	for (uint32_t i = 0; i < LEN; i++)
		assert_int_equal(q->mem[i], WRITTEN);
	assert_int_equal(adopt_bytes(&t->s, t->s.self), 0);
	close(go[0]);
	close(go[1]);
	t_qp_free(q);
	tb_destroy(t);
}

/* A page of the key and one of private memory, stored to in this order. */
struct stores {
	volatile uint8_t *first, second;
};

static void *store_both(void *arg)
{
	struct stores *x = arg;

	*x->first = WRITTEN;
	x->second = 1;
	return NULL;
}

/*
 * Another thread stores when all is ready for the fork: the child has both stores. An allocator has
 * its own data in memory that was freed before its key ended. Later the key is adopted again.
 */
static void a_child_has_the_stores_in_their_order(void **state)
{
	struct tb *t = tb_create();
	struct t_qp *q = t_qp_make(t, 0, PRM_ST_RC, NULL);
	uint32_t key = t_key(t, t_pdn(q), q->mem, LEN, ALL);
	struct stores x = {q->mem + LEN / 2, 0};
	int status;
	pthread_t id;
	pid_t pid;

	memset(q->mem, BEFORE, LEN);
	adopt_key(&t->s, key);
	assert_true(adopt_any());
	adopt_forking();
	assert_int_equal(pthread_create(&id, NULL, store_both, &x), 0);
	assert_int_equal(pthread_join(id, NULL), 0);
	pid = fork();
	if (!pid) {
		adopt_forked();
		_exit(x.second && *x.first == WRITTEN ? 0 : 1);
	}
	adopt_fork_done();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_false(adopt_any());
	adopt_key(&t->s, key);
	assert_true(adopt_any());
	assert_true(adopt_give_back(every, NULL, true));
	assert_int_equal(adopt_bytes(&t->s, t->s.self), 0);
	t_qp_free(q);
	tb_destroy(t);
}

/* ---- a key of two batches, of which one is adopted */

#define BIG (2 * ADOPT_BATCH * ADOPT_CHUNK)

static void asked_for_the_rest(struct bed *e)
{
	struct seg *s = &e->p.t->s;
	struct seg_proc *me = seg_proc(s, s->self);

	CHECK(await(e->go[0]));
	CHECK(atomic_load(&me->adopt_want) == 1 + (e->board->key >> 8));
	while (atomic_load(&me->adopt_want))
		eng_adopt_due(s);
	CHECK(adopt_bytes(s, s->self) == BIG + ADOPT_CHUNK);
	tell(e->tell[1]);
}

static void big_owner(struct bed *e)
{
	struct seg *s = &e->p.t->s;
	struct seg_proc *me = seg_proc(s, s->self);
	struct adopt_key k;
	struct hw_mkey *mk;
	struct t_qp *b;
	uint8_t *mem;
	int rc;

	b = child_qp(e, PRM_ST_RC, NULL);
	adopt_key(s, t_key(e->p.t, t_pdn(b), b->mem, ADOPT_CHUNK, ALL));
	mem = mmap(NULL, BIG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(mem != MAP_FAILED && !madvise(mem, BIG, MADV_NOHUGEPAGE));
	e->board->key = t_key(e->p.t, t_pdn(b), mem, BIG, ALL);
	e->board->mem = (uintptr_t)mem;
	atomic_store(&me->adopt_after, 1);
	atomic_store(&me->adopt_queues, 1);
	mk = hw_mkey(s, e->board->key);
	k = (struct adopt_key){&mk->run, &mk->gen, &mk->valid, 0, e->board->key >> 8, mk->gen};
	while ((rc = adopt_take(s, &k, mk->va, mk->len)) == -EAGAIN)
		;
	CHECK(rc == 1 && adopt_bytes(s, s->self) > BIG &&
	      (mk->run.word & 0xffff) * 2 == BIG / ADOPT_PAGE);
	t_rts(b, e->p.a);
	tell(e->tell[1]);
	asked_for_the_rest(e);
	CHECK((mk->run.word & 0xffff) == BIG / ADOPT_PAGE);
}

static void write_end(struct bed *e)
{
	struct t_sge from = t_own(e->p.a, 0, 64);
	struct t_wr wr = {.opcode = MLX5_OPCODE_RDMA_WRITE,
			  .fm_ce_se = T_SIG,
			  .raddr = e->board->mem + BIG - 64,
			  .rkey = e->board->key,
			  .sge = &from,
			  .nsge = 1};

	t_expect_done(e->p.a, MLX5_OPCODE_RDMA_WRITE, t_post(e->p.a, &wr));
}

/* Pages in use may have kept a key from being adopted as a whole. */
static void the_rest_of_a_key_is_asked_for(void **state)
{
	struct bed *e;

	bed_setup(state);
	e = *state;
	spawn(e, big_owner);
	connect_to_child(e);
	write_end(e);
	tell(e->go[1]);
	assert_true(await(e->tell[0]));
	EXPECT_OK(e);
	bed_teardown(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fork_has_its_own_copy),
		cmocka_unit_test(a_child_has_the_stores_in_their_order),
		cmocka_unit_test(stopped_while_it_adopts),
		cmocka_unit_test(stopped_while_it_gives_back),
		cmocka_unit_test(killed_while_it_adopts),
		cmocka_unit_test(killed_while_it_gives_back),
		cmocka_unit_test(a_queue_while_it_is_adopted),
		cmocka_unit_test(a_queue_while_it_is_given_back),
		cmocka_unit_test(the_rest_of_a_key_is_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
