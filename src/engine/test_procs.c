/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The engine between processes: traffic, inherited queues, peers that die or stop at bad moments.
 */
#include "engine/test.h"
#include <infiniband/verbs.h>
#include <poll.h>
#include <signal.h>

/* What the processes tell each other; shared memory, unlike everything else in here. */
struct board {
	uint32_t qpn, key;
	uint64_t mem;
	uint32_t a_qpn, a_key;
	uint64_t a_mem;
};

struct bed {
	struct t_pair p; /* b is the child's once it runs */
	struct board *board;
	pid_t pid;
	int tell[2], go[2];
};

static void tell(int fd)
{
	assert_int_equal(write(fd, "x", 1), 1);
}

static bool await(int fd)
{
	struct pollfd pfd = {fd, POLLIN, 0};
	char c;

	return poll(&pfd, 1, 10000) == 1 && read(fd, &c, 1) == 1;
}

static int setup(void **state)
{
	struct bed *e = calloc(1, sizeof(*e));
	void *p;

	t_pair_setup(&p);
	e->p = *(struct t_pair *)p;
	free(p);
	e->board = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	*state = e;
	return 0;
}

static int teardown(void **state)
{
	struct bed *e = *state;
	struct t_pair *p = malloc(sizeof(*p));
	void *v = p;

	*p = e->p;
	munmap(e->board, 4096);
	free(e);
	return t_pair_teardown(&v);
}

/* Run `body` in a child with a memory slot of its own. Failures there exit with a status. */
static void spawn(struct bed *e, void (*body)(struct bed *e))
{
	assert_int_equal(pipe(e->tell), 0);
	assert_int_equal(pipe(e->go), 0);
	e->pid = fork();
	assert_true(e->pid >= 0);
	if (e->pid) {
		close(e->tell[1]);
		close(e->go[0]);
		return;
	}
	close(e->tell[0]);
	close(e->go[1]);
	e->p.t->s.self = SEG_NONE;
	if (seg_proc_register_self(&e->p.t->s, 0))
		_exit(99);
	body(e);
	_exit(0);
}

static int reap(struct bed *e)
{
	int status = 0;

	close(e->go[1]);
	waitpid(e->pid, &status, 0);
	close(e->tell[0]);
	return status;
}

#define CHECK(x)                  \
	do {                      \
		if (!(x))         \
			_exit(1); \
	} while (0)

#define EXPECT_OK(e) assert_int_equal(reap(e), 0)

/* ---- traffic */

#define N_SENDS 12
#define BIG (ENG_MERGE_MAX + 1000)
#define FAR (2 * ENG_MERGE_MAX)

/* The child's QP, connected to the parent's a. */
static struct t_qp *child_qp(struct bed *e, enum hw_qp_st st, struct t_srq *srq)
{
	struct t_qp *b = t_qp_make(e->p.t, 1, st, srq);

	e->board->qpn = b->qpn;
	e->board->key = b->key;
	e->board->mem = (uintptr_t)b->mem;
	return b;
}

static void child_traffic(struct bed *e)
{
	struct t_qp *b = child_qp(e, HW_ST_RC, NULL);
	struct t_sge sge;
	struct mlx5_cqe64 *c;

	for (uint32_t i = 0; i < N_SENDS; i++)
		t_recv_at(b, i * 256, 256);
	t_rts(b, e->p.a);
	tell(e->tell[1]);
	CHECK(await(e->go[0]));
	for (uint32_t i = 0; i < N_SENDS; i++) {
		c = t_poll(&b->cq);
		CHECK(c && be32toh(c->byte_cnt) == 10 + i && be16toh(c->wqe_counter) == i);
		CHECK(b->mem[i * 256] == i && b->mem[i * 256 + 9 + i] == i);
		CHECK(b->mem[i * 256 + 10 + i] == 0);
	}
	CHECK(!t_poll(&b->cq));
	/* Big ones: one SEND, one WRITE. */
	t_recv_at(b, 0, T_MEM);
	tell(e->tell[1]);
	CHECK(await(e->go[0]));
	c = t_poll(&b->cq);
	CHECK(c && be32toh(c->byte_cnt) == BIG && be16toh(c->wqe_counter) == N_SENDS);
	CHECK(b->mem[0] == 0x77 && b->mem[BIG - 1] == 0x77 && b->mem[BIG] == 0);
	CHECK(b->mem[FAR] == 0x66 && b->mem[FAR + BIG - 1] == 0x66);
	/* Back again. */
	memset(b->mem, 0x55, 100);
	sge = t_own(b, 0, 100);
	t_post(b, &(struct t_wr){.opcode = MLX5_OPCODE_SEND_IMM,
				 .fm_ce_se = T_SIG,
				 .imm = 5,
				 .sge = &sge,
				 .nsge = 1});
	t_expect_done(b, MLX5_OPCODE_SEND_IMM, 0);
	tell(e->tell[1]);
	CHECK(await(e->go[0]));
}

static void connect_to_child(struct bed *e)
{
	struct t_qp *a = e->p.a;

	assert_true(await(e->tell[0]));
	assert_int_equal(eng_qp_set_state(&e->p.t->s, a->qpn, HW_QPS_RST), 0);
	a->hw->dest_qpn = e->board->qpn;
	assert_int_equal(eng_qp_set_state(&e->p.t->s, a->qpn, HW_QPS_INIT), 0);
	a->hw->next_rcv_psn = 0xfffff0 + (e->board->qpn & 7);
	a->hw->next_send_psn = 0xfffff0 + (a->qpn & 7);
	assert_int_equal(eng_qp_set_state(&e->p.t->s, a->qpn, HW_QPS_RTS), 0);
}

static void traffic(void **state)
{
	struct bed *e = *state;
	struct t_qp *a = e->p.a;
	struct t_sge sge;
	struct t_wr wr = {.opcode = MLX5_OPCODE_SEND, .sge = &sge, .nsge = 1};

	spawn(e, child_traffic);
	connect_to_child(e);
	for (uint32_t i = 0; i < N_SENDS; i++) {
		memset(a->mem + i * 64, (int)i, 64);
		sge = t_own(a, i * 64, 10 + i);
		wr.fm_ce_se = i == N_SENDS - 1 ? T_SIG : 0;
		t_post_quiet(a, &wr);
	}
	t_ring(a);
	t_expect_done(a, MLX5_OPCODE_SEND, N_SENDS - 1);
	tell(e->go[1]);
	assert_true(await(e->tell[0]));
	memset(a->mem, 0x77, BIG);
	sge = t_own(a, 0, BIG);
	t_post(a, &wr);
	t_expect_done(a, MLX5_OPCODE_SEND, N_SENDS);
	memset(a->mem, 0x66, BIG);
	wr.opcode = MLX5_OPCODE_RDMA_WRITE;
	wr.raddr = e->board->mem + FAR;
	wr.rkey = e->board->key;
	t_post(a, &wr);
	t_expect_done(a, MLX5_OPCODE_RDMA_WRITE, N_SENDS + 1);
	memset(a->mem, 0, BIG);
	wr.opcode = MLX5_OPCODE_RDMA_READ;
	t_post(a, &wr);
	t_expect_done(a, MLX5_OPCODE_RDMA_READ, N_SENDS + 2);
	assert_int_equal(a->mem[0], 0x66);
	assert_int_equal(a->mem[BIG - 1], 0x66);
	t_recv_at(a, 0, 200);
	tell(e->go[1]);
	assert_true(await(e->tell[0]));
	assert_int_equal(be32toh(t_received(a, MLX5_CQE_RESP_SEND_IMM, 100, 0)->imm_inval_pkey), 5);
	assert_int_equal(a->mem[99], 0x55);
	tell(e->go[1]);
	EXPECT_OK(e);
}

/* Remote memory that is not there, seen across processes. */
static void child_unmapped(struct bed *e)
{
	struct t_qp *b = child_qp(e, HW_ST_RC, NULL);

	mmap(b->mem + 8192, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	t_rts(b, e->p.a);
	tell(e->tell[1]);
	CHECK(await(e->go[0]));
	CHECK(b->hw->state == HW_QPS_ERR);
}

static void unmapped(void **state)
{
	struct bed *e = *state;

	spawn(e, child_unmapped);
	connect_to_child(e);
	t_post(e->p.a, &(struct t_wr){.opcode = MLX5_OPCODE_RDMA_WRITE,
				      .raddr = e->board->mem + 8192,
				      .rkey = e->board->key,
				      .inl = "x",
				      .inl_len = 1});
	t_expect_error(e->p.a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR, 0);
	tell(e->go[1]);
	EXPECT_OK(e);
}

/* A child that rings its parent's queue: WQEs, data and completions are the parent's. */
static void child_rings_parents_queue(struct bed *e)
{
	memset(e->p.a->mem, 0xee, 4096); /* our copy: must not be what is sent */
	t_ring(e->p.a);
}

static void inherited_queue(void **state)
{
	struct bed *e = *state;
	struct t_sge sge = t_own(e->p.a, 0, 300);

	t_recv_at(e->p.b, 0, 300);
	t_post_quiet(e->p.a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND,
					    .fm_ce_se = T_SIG,
					    .sge = &sge,
					    .nsge = 1});
	t_post_quiet(e->p.a, &(struct t_wr){.opcode = MLX5_OPCODE_RDMA_WRITE,
					    .fm_ce_se = T_SIG,
					    .raddr = (uintptr_t)e->p.b->mem + 1000,
					    .rkey = e->p.b->key,
					    .inl = "inline too",
					    .inl_len = 10});
	spawn(e, child_rings_parents_queue);
	EXPECT_OK(e);
	t_received(e->p.b, MLX5_CQE_RESP_SEND, 300, 0);
	t_expect_done(e->p.a, MLX5_OPCODE_SEND, 0);
	t_expect_done(e->p.a, MLX5_OPCODE_RDMA_WRITE, 1);
	assert_memory_equal(e->p.b->mem, e->p.a->mem, 300);
	assert_memory_equal(e->p.b->mem + 1000, "inline too", 10);
}

/* ---- death */

static void child_dies(struct bed *e)
{
	struct t_qp *b = child_qp(e, HW_ST_RC, NULL);

	t_recv_at(b, 0, 100);
	t_rts(b, e->p.a);
	tell(e->tell[1]);
	await(e->go[0]);
	raise(SIGKILL);
}

static void peer_killed(void **state)
{
	struct bed *e = *state;

	spawn(e, child_dies);
	connect_to_child(e);
	tell(e->go[1]);
	reap(e);
	t_post(e->p.a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .inl = "x", .inl_len = 1});
	t_assert_empty(&e->p.a->cq);
	for (int i = 0; i < 3; i++) {
		t_now += 100000000;
		eng_run_due(&e->p.t->s);
	}
	t_expect_error(e->p.a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR, 0);
}

/* A CQE of b's receive 0 as the dying process left it. */
static void half_receive(struct bed *e, bool counted_by_cq)
{
	struct seg *s = &e->p.t->s;
	struct t_qp *b = e->p.b;
	struct hw_cq *cq;
	struct eng_cqe c;

	CHECK(!resp_lock(s, b->hw, b->qpn));
	cqe_init(&c, CQE_RESP_SEND, b->hw, b->qpn, 0);
	LAYOUT_SET(cqe64, c.b, byte_cnt, 3);
	CHECK(!cq_begin(s, b->cq.cqn, &c, &cq));
	b->hw->rx_cq_pi = cq->pi;
	b->hw->rx_cqn = b->cq.cqn;
	b->hw->rx_intent = 1;
	CHECK(!cq_write(s, cq, &c));
	if (counted_by_cq)
		cq_commit(s, cq, b->cq.cqn, false);
	raise(SIGKILL);
}

static void child_dies_before_cq_counts(struct bed *e)
{
	half_receive(e, false);
}

static void child_dies_before_rq_counts(struct bed *e)
{
	half_receive(e, true);
}

static void after_half_receive(struct bed *e)
{
	t_post(e->p.a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .inl = "next", .inl_len = 4});
	assert_int_equal(e->p.a->hw->park, HW_PARK_NO);
	/* The program sees each receive once. */
	t_received(e->p.b, MLX5_CQE_RESP_SEND, 3, 0);
	t_received(e->p.b, MLX5_CQE_RESP_SEND, 4, 1);
	t_assert_empty(&e->p.b->cq);
	assert_memory_equal(e->p.b->mem + 100, "next", 4);
	assert_int_equal(e->p.b->hw->rx_intent, 0);
}

static void killed_in_a_receive(void **state)
{
	struct bed *e = *state;

	t_recv_at(e->p.b, 0, 100);
	t_recv_at(e->p.b, 100, 100);
	spawn(e, child_dies_before_cq_counts);
	reap(e);
	after_half_receive(e);
}

static void killed_in_a_receive_later(void **state)
{
	struct bed *e = *state;

	t_recv_at(e->p.b, 0, 100);
	t_recv_at(e->p.b, 100, 100);
	spawn(e, child_dies_before_rq_counts);
	reap(e);
	after_half_receive(e);
}

/* A command is the next to find it: that receive is not flushed as well. */
static void killed_in_a_receive_then_err(void **state)
{
	struct bed *e = *state;

	t_recv_at(e->p.b, 0, 100);
	t_recv_at(e->p.b, 100, 100);
	spawn(e, child_dies_before_rq_counts);
	reap(e);
	assert_int_equal(eng_qp_set_state(&e->p.t->s, e->p.b->qpn, HW_QPS_ERR), 0);
	t_received(e->p.b, MLX5_CQE_RESP_SEND, 3, 0);
	t_expect_error(e->p.b, MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, 1);
	t_assert_empty(&e->p.b->cq);
}

/* Nothing was written yet: the receive is still there. */
static void child_dies_before_cqe(struct bed *e)
{
	CHECK(!resp_lock(&e->p.t->s, e->p.b->hw, e->p.b->qpn));
	e->p.b->hw->rx_cq_pi = e->p.b->cq.hw->pi;
	e->p.b->hw->rx_cqn = e->p.b->cq.cqn;
	e->p.b->hw->rx_intent = 1;
	CHECK(!seg_lock(&e->p.t->s, &e->p.b->cq.hw->lock, 0));
	raise(SIGKILL);
}

static void killed_before_the_cqe(void **state)
{
	struct bed *e = *state;

	t_recv_at(e->p.b, 0, 100);
	spawn(e, child_dies_before_cqe);
	reap(e);
	t_post(e->p.a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .inl = "next", .inl_len = 4});
	t_received(e->p.b, MLX5_CQE_RESP_SEND, 4, 0);
	t_assert_empty(&e->p.b->cq);
}

static void child_dies_with_sq(struct bed *e)
{
	CHECK(!seg_lock(&e->p.t->s, &e->p.a->hw->sq_lock, 0));
	raise(SIGKILL);
}

/* A send queue's state is lost with its user: the QP is in error, and says so. */
static void killed_with_the_send_queue(void **state)
{
	struct bed *e = *state;

	t_recv_at(e->p.a, 0, 8);
	spawn(e, child_dies_with_sq);
	reap(e);
	t_post(e->p.a, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
	t_expect_error(e->p.a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, 0);
	t_expect_error(e->p.a, MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, 0);
	assert_int_equal(t_event(e->p.t, e->p.a->evq), IBV_EVENT_QP_FATAL);
}

static struct t_srq dead_srq;

static void child_dies_with_srq(struct bed *e)
{
	struct hw_qp *b = e->p.b->hw;

	CHECK(!seg_lock(&e->p.t->s, &dead_srq.hw->lock, 0));
	b->rx_srqn = dead_srq.srqn;
	b->rx_cqn = b->cqn_rcv;
	b->rx_srq_wqe = dead_srq.hw->head + 1;
	raise(SIGKILL);
}

/* Another QP goes on with the SRQ; the WQE that b had taken is b's. */
static void killed_with_the_srq(void **state)
{
	struct bed *e = *state;
	struct t_qp *c, *d;

	t_srq_make(e->p.t, &dead_srq, e->p.t->pd[1]);
	e->p.b->hw->srqn = dead_srq.srqn;
	c = t_qp_make(e->p.t, 0, HW_ST_RC, NULL);
	d = t_qp_make(e->p.t, 1, HW_ST_RC, &dead_srq);
	t_connect(c, d);
	for (int i = 0; i < 3; i++)
		t_srq_post(&dead_srq, d->key, d->mem, 64);
	spawn(e, child_dies_with_srq);
	reap(e);
	t_post(c, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .inl = "x", .inl_len = 1});
	t_received(d, MLX5_CQE_RESP_SEND, 1, 5);
	t_post(e->p.a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .inl = "y", .inl_len = 1});
	t_received(e->p.b, MLX5_CQE_RESP_SEND, 1, 0);
	t_qp_free(c);
	t_qp_free(d);
}

/* Who sets a limit may be the first to have the lock: what was taken stays taken. */
static void killed_with_the_srq_before_a_limit(void **state)
{
	struct bed *e = *state;
	uint32_t first;

	t_srq_make(e->p.t, &dead_srq, e->p.t->pd[1]);
	for (int i = 0; i < 3; i++)
		t_srq_post(&dead_srq, e->p.b->key, e->p.b->mem, 64);
	first = be16toh(((struct mlx5_wqe_srq_next_seg *)dead_srq.buf)->next_wqe_index);
	for (uint32_t cyclic = 0; cyclic < 2; cyclic++) {
		dead_srq.hw->wq_type = cyclic;
		dead_srq.hw->head = dead_srq.hw->consumed = 0;
		spawn(e, child_dies_with_srq);
		reap(e);
		assert_int_equal(eng_srq_arm_limit(&e->p.t->s, dead_srq.srqn, 1), 0);
		assert_int_equal(dead_srq.hw->consumed, 1);
		assert_int_equal(dead_srq.hw->head, cyclic ? 1 : first);
	}
}

/* ---- stop */

static void child_stops_with_lock(struct bed *e)
{
	CHECK(!seg_lock(&e->p.t->s, &e->p.b->hw->rq_lock, 0));
	tell(e->tell[1]);
	raise(SIGSTOP);
	seg_unlock(&e->p.t->s, &e->p.b->hw->rq_lock);
	tell(e->tell[1]);
	await(e->go[0]);
}

static void peer_stopped(void **state)
{
	struct bed *e = *state;
	uint64_t t;
	int status;

	t_recv_at(e->p.b, 0, 8);
	spawn(e, child_stops_with_lock);
	assert_true(await(e->tell[0]));
	assert_int_equal(waitpid(e->pid, &status, WUNTRACED), e->pid);
	assert_true(WIFSTOPPED(status));
	t = clock_now_ns();
	t_post(e->p.a,
	       &(struct t_wr){
		       .opcode = MLX5_OPCODE_SEND, .fm_ce_se = T_SIG, .inl = "x", .inl_len = 1});
	assert_true(clock_now_ns() - t < 50 * NSEC_PER_MSEC);
	assert_int_equal(e->p.a->hw->park, HW_PARK_LOCK);
	kill(e->pid, SIGCONT);
	assert_true(await(e->tell[0]));
	t_now += 2000000;
	eng_run_due(&e->p.t->s);
	t_received(e->p.b, MLX5_CQE_RESP_SEND, 1, 0);
	t_expect_done(e->p.a, MLX5_OPCODE_SEND, 0);
	tell(e->go[1]);
	EXPECT_OK(e);
}

/* The reader of the completion channel is stopped with its queue locked: the event comes later. */
static void child_holds_event_queue(struct bed *e)
{
	struct seg_evq *q = seg_at(&e->p.t->s, SEG_T_EVQ, e->p.a->cq.evq[0]);

	CHECK(!seg_lock(&e->p.t->s, &q->lock, 0));
	tell(e->tell[1]);
	await(e->go[0]);
	seg_unlock(&e->p.t->s, &q->lock);
}

static void event_owed(void **state)
{
	struct bed *e = *state;

	spawn(e, child_holds_event_queue);
	assert_true(await(e->tell[0]));
	e->p.a->cq.dbr[T_ARM] = htobe32(0);
	eng_arm_cq(&e->p.t->s, e->p.a->cq.cqn, 0);
	t_post(e->p.a, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
	t_expect_done(e->p.a, MLX5_OPCODE_NOP, 0);
	assert_int_equal(eng_run_due(&e->p.t->s), t_now + NSEC_PER_MSEC); /* still held */
	tell(e->go[1]);
	EXPECT_OK(e);
	assert_int_equal(t_event(e->p.t, e->p.a->cq.evq[0]), -1);
	assert_int_equal(eng_run_due(&e->p.t->s), UINT64_MAX);
	assert_int_equal(t_event(e->p.t, e->p.a->cq.evq[0]), 0);
	assert_int_equal(t_event(e->p.t, e->p.a->cq.evq[0]), -1);
}

/* The same for async events, of each kind of object. */
static struct t_srq owed_srq;

static void child_holds_async_queues(struct bed *e)
{
	struct seg *s = &e->p.t->s;
	const uint32_t evq[] = {e->p.a->evq, e->p.a->cq.evq[1],
				atomic_load(&owed_srq.hw->async.evq)};

	for (size_t i = 0; i < 3; i++)
		CHECK(!seg_lock(s, &((struct seg_evq *)seg_at(s, SEG_T_EVQ, evq[i]))->lock, 0));
	tell(e->tell[1]);
	await(e->go[0]);
	for (size_t i = 0; i < 3; i++)
		seg_unlock(s, &((struct seg_evq *)seg_at(s, SEG_T_EVQ, evq[i]))->lock);
}

static void async_events_owed(void **state)
{
	struct bed *e = *state;
	struct seg *s = &e->p.t->s;
	struct t_qp *a = e->p.a;
	uint32_t evq = t_evq(e->p.t);

	t_srq_make(e->p.t, &owed_srq, e->p.t->pd[0]);
	owed_srq.hw->async.evq_gen = ((struct seg_evq *)seg_at(s, SEG_T_EVQ, evq))->gen;
	atomic_store(&owed_srq.hw->async.evq, evq);
	spawn(e, child_holds_async_queues);
	assert_true(await(e->tell[0]));
	eng_qp_event(s, a->hw, a->qpn, IBV_EVENT_QP_FATAL);
	eng_qp_event(s, a->hw, a->qpn, IBV_EVENT_COMM_EST);
	eng_cq_event(s, a->cq.hw, a->cq.cqn, IBV_EVENT_CQ_ERR);
	eng_srq_event(s, owed_srq.hw, owed_srq.srqn, IBV_EVENT_SRQ_LIMIT_REACHED);
	assert_int_equal(eng_run_due(s), t_now + NSEC_PER_MSEC); /* still held */
	tell(e->go[1]);
	EXPECT_OK(e);
	assert_int_equal(eng_run_due(s), UINT64_MAX);
	assert_int_equal(t_event(e->p.t, a->evq), IBV_EVENT_QP_FATAL);
	assert_int_equal(t_event(e->p.t, a->evq), IBV_EVENT_COMM_EST);
	assert_int_equal(t_event(e->p.t, a->evq), -1);
	assert_int_equal(t_event(e->p.t, a->cq.evq[1]), IBV_EVENT_CQ_ERR);
	assert_int_equal(t_event(e->p.t, evq), IBV_EVENT_SRQ_LIMIT_REACHED);
}

/* A key that a stopped process may be using is not given up; one that nobody uses is. */
static void child_stops_with_sq(struct bed *e)
{
	_Atomic uint32_t *running = running_enter(&e->p.t->s, e->p.a->qpn);

	CHECK(!seg_lock(&e->p.t->s, &e->p.a->hw->sq_lock, 0));
	tell(e->tell[1]);
	await(e->go[0]);
	seg_unlock(&e->p.t->s, &e->p.a->hw->sq_lock);
	running_leave(&e->p.t->s, running);
	await(e->go[0]);
}

static void key_in_use(void **state)
{
	struct bed *e = *state;
	uint32_t pd, other, key;

	assert_int_equal(seg_alloc(&e->p.t->s, SEG_T_PD, T_OWNER, &pd), 0);
	other = t_key(e->p.t, pd, e->p.a->mem, 8, 0);
	key = e->p.b->key;
	spawn(e, child_stops_with_sq);
	assert_true(await(e->tell[0]));
	atomic_store(&hw_mkey(&e->p.t->s, other)->valid, 0);
	assert_int_equal(eng_mkey_quiesce(&e->p.t->s, other >> 8), 0);
	/* The peer's keys, too, are in a requester's hands. */
	atomic_store(&hw_mkey(&e->p.t->s, key)->valid, 0);
	tell(e->go[1]);
	assert_int_equal(eng_mkey_quiesce(&e->p.t->s, key >> 8), 0);
	assert_int_equal(e->p.a->hw->sq_lock.word, 0);
	reap(e);
}

/* Several stuck queues cost one deadline; those that cannot use the key cost nothing. */
static struct t_qp *stuck[4];

static void child_holds_queues(struct bed *e)
{
	for (int i = 0; i < 4; i++) {
		running_enter(&e->p.t->s, stuck[i]->qpn);
		CHECK(!seg_lock(&e->p.t->s, &stuck[i]->hw->sq_lock, 0));
	}
	tell(e->tell[1]);
	await(e->go[0]);
}

static int64_t quiesce_ms(struct bed *e, uint32_t key, int want)
{
	uint64_t t = clock_now_ns();

	atomic_store(&hw_mkey(&e->p.t->s, key)->valid, 0);
	assert_int_equal(eng_mkey_quiesce(&e->p.t->s, key >> 8), want);
	return (int64_t)((clock_now_ns() - t) / NSEC_PER_MSEC);
}

static void keys_and_stopped_queues(void **state)
{
	static const enum hw_qp_st st[] = {HW_ST_RC, HW_ST_UC, HW_ST_UD, HW_ST_UD};
	struct bed *e = *state;
	struct seg *s = &e->p.t->s;
	uint32_t pd, pd2, other, far;
	struct t_srq srq;

	assert_int_equal(seg_alloc(s, SEG_T_PD, T_OWNER, &pd), 0);
	assert_int_equal(seg_alloc(s, SEG_T_PD, T_OWNER, &pd2), 0);
	other = t_key(e->p.t, pd, e->p.a->mem, 8, 0);
	far = t_key(e->p.t, pd2, e->p.a->mem, 8, 0);
	t_srq_make(e->p.t, &srq, pd2);
	for (int i = 0; i < 4; i++) {
		stuck[i] = t_qp_make(e->p.t, 0, st[i], NULL);
		stuck[i]->hw->ud_dest = e->p.a->qpn;
		stuck[i]->hw->dest_qpn = e->p.a->qpn;
	}
	spawn(e, child_holds_queues);
	assert_true(await(e->tell[0]));
	assert_true(quiesce_ms(e, other, 0) < 500);
	assert_true(quiesce_ms(e, far, 0) < 500);
	/* The last one sends to a QP with an SRQ of that protection domain. */
	stuck[3]->hw->ud_dest = e->p.b->qpn;
	e->p.b->hw->srqn = srq.srqn;
	tell(e->go[1]);
	assert_int_equal(reap(e), 0);
	quiesce_ms(e, far, 0);
	assert_int_equal(stuck[3]->hw->sq_lock.inherited, 1);
	assert_int_equal(stuck[2]->hw->sq_lock.inherited, 0);
	for (int i = 0; i < 4; i++)
		t_qp_free(stuck[i]);
}

struct seen {
	struct running it;
	uint32_t want, times;
};

static void saw(struct running *it, uint32_t qpn)
{
	struct seen *x = (struct seen *)it;

	x->times += qpn == x->want;
}

/* Threads that find no free entry are not overlooked: then every queue is looked at. */
static void more_threads_than_entries(void **state)
{
	struct bed *e = *state;
	struct seg *s = &e->p.t->s;
	struct seen x = {.it.look = saw, .want = e->p.b->qpn};
	_Atomic uint32_t *entry[SEG_RINGS + 1];

	for (int i = 0; i < SEG_RINGS; i++)
		entry[i] = running_enter(s, e->p.a->qpn);
	running_each(s, &x.it);
	assert_int_equal(x.times, 0);
	entry[SEG_RINGS] = running_enter(s, e->p.b->qpn);
	running_each(s, &x.it);
	assert_int_equal(x.times, 1);
	for (int i = 0; i <= SEG_RINGS; i++)
		running_leave(s, entry[i]);
	running_each(s, &x.it);
	assert_int_equal(x.times, 1);
}

int main(void)
{
#define P(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		P(traffic),
		P(unmapped),
		P(inherited_queue),
		P(peer_killed),
		P(killed_in_a_receive),
		P(killed_in_a_receive_later),
		P(killed_in_a_receive_then_err),
		P(killed_before_the_cqe),
		P(killed_with_the_send_queue),
		P(killed_with_the_srq),
		P(killed_with_the_srq_before_a_limit),
		P(peer_stopped),
		P(event_owed),
		P(async_events_owed),
		P(key_in_use),
		P(more_threads_than_entries),
		P(keys_and_stopped_queues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
