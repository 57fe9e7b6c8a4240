/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The engine between processes: traffic, inherited queues, peers that stop at bad moments. */
#include "engine/for_tests.h"
#include "engine/tx/tx.h"
#include "engine/test_procs.h"
#include "hw/qp_state.h"
#include "hw/srq.h"
#include <pthread.h>
#include <infiniband/verbs.h>

#define N_SENDS 12
#define BIG (ENG_MERGE_MAX + 1000)
#define FAR (2 * ENG_MERGE_MAX)

static void child_traffic(struct bed *e)
{
	struct t_qp *b = child_qp(e, PRM_ST_RC, NULL);
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
	/* Large messages: one SEND, one WRITE. */
	t_recv_at(b, 0, T_MEM);
	tell(e->tell[1]);
	CHECK(await(e->go[0]));
	c = t_poll(&b->cq);
	CHECK(c && be32toh(c->byte_cnt) == BIG && be16toh(c->wqe_counter) == N_SENDS);
	CHECK(b->mem[0] == 0x77 && b->mem[BIG - 1] == 0x77 && b->mem[BIG] == 0);
	CHECK(b->mem[FAR] == 0x66 && b->mem[FAR + BIG - 1] == 0x66);
	/* A READ back. */
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

/* Remote memory in another process that is unmapped. */
static void child_unmapped(struct bed *e)
{
	struct t_qp *b = child_qp(e, PRM_ST_RC, NULL);

	mmap(b->mem + 8192, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	t_rts(b, e->p.a);
	tell(e->tell[1]);
	CHECK(await(e->go[0]));
	CHECK(t_state(b) == PRM_QP_STATE_ERR);
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

/*
 * A fork child rings its parent's queue: the engine uses the WQEs, data and CQs of the parent's
 * memory.
 */
static void child_rings_parents_queue(struct bed *e)
{
	memset(e->p.a->mem, 0xee, 4096); /* the child's copy, which must not be sent */
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

/* ---- stop */

static void child_stops_with_lock(struct bed *e)
{
	CHECK(!seg_lock(&e->p.t->s, t_rq_lock(e->p.b), 0));
	tell(e->tell[1]);
	raise(SIGSTOP);
	seg_unlock(&e->p.t->s, t_rq_lock(e->p.b));
	tell(e->tell[1]);
	await(e->go[0]);
}

static void peer_stopped(void **state)
{
	struct bed *e = *state;
	long t;
	int status;

	t_recv_at(e->p.b, 0, 8);
	spawn(e, child_stops_with_lock);
	assert_true(await(e->tell[0]));
	assert_int_equal(waitpid(e->pid, &status, WUNTRACED), e->pid);
	assert_true(WIFSTOPPED(status));
	t = test_sleeps();
	t_post(e->p.a,
	       &(struct t_wr){
		       .opcode = MLX5_OPCODE_SEND, .fm_ce_se = T_SIG, .inl = "x", .inl_len = 1});
	assert_true(test_sleeps() - t < TEST_SHORT);
	assert_int_equal(t_park(e->p.a), HW_PARK_LOCK);
	kill(e->pid, SIGCONT);
	assert_true(await(e->tell[0]));
	t_now += 2000000;
	eng_run_due(&e->p.t->s);
	t_received(e->p.b, MLX5_CQE_RESP_SEND, 1, 0);
	t_expect_done(e->p.a, MLX5_OPCODE_SEND, 0);
	tell(e->go[1]);
	EXPECT_OK(e);
}

/*
 * The completion channel's reader is stopped with its queue locked: nobody waits, and the event is
 * there when the reader continues.
 */
static void child_holds_event_queue(struct bed *e)
{
	struct seg_evq *q = seg_at(&e->p.t->s, SEG_T_EVQ, e->p.a->cq.evq[0]);

	CHECK(!seg_lock(&e->p.t->s, &q->lock, 0));
	tell(e->tell[1]);
	await(e->go[0]);
	seg_unlock(&e->p.t->s, &q->lock);
}

static void event_beside_a_stopped_reader(void **state)
{
	struct bed *e = *state;

	spawn(e, child_holds_event_queue);
	assert_true(await(e->tell[0]));
	e->p.a->cq.dbr[T_ARM] = htobe32(0);
	eng_arm_cq(&e->p.t->s, e->p.a->cq.cqn, 0);
	t_post(e->p.a, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
	t_expect_done(e->p.a, MLX5_OPCODE_NOP, 0);
	assert_int_equal(eng_run_due(&e->p.t->s), UINT64_MAX); /* nothing is owed */
	tell(e->go[1]);
	EXPECT_OK(e);
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

static void async_events_beside_a_stopped_reader(void **state)
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
	atomic_fetch_or(&a->cq.hw->state, HW_CQ_ST_OWES);
	assert_true(event_pay(s, SEG_T_CQ, a->cq.cqn, false));
	eng_srq_event(s, owed_srq.hw, owed_srq.srqn, IBV_EVENT_SRQ_ERR);
	assert_int_equal(eng_run_due(s), UINT64_MAX); /* nothing is owed */
	tell(e->go[1]);
	EXPECT_OK(e);
	assert_int_equal(t_event(e->p.t, a->evq), IBV_EVENT_QP_FATAL);
	assert_int_equal(t_event(e->p.t, a->evq), IBV_EVENT_COMM_EST);
	assert_int_equal(t_event(e->p.t, a->evq), -1);
	assert_int_equal(t_event(e->p.t, a->cq.evq[1]), IBV_EVENT_CQ_ERR);
	assert_int_equal(t_event(e->p.t, evq), IBV_EVENT_SRQ_ERR);
}

static void *take_and_stop(void *arg)
{
	struct bed *e = arg;
	struct seg *s = &e->p.t->s;

	CHECK(running_enter(s, e->p.a->qpn));
	CHECK(!seg_lock(s, &e->p.a->cq.hw->lock, 0));
	raise(SIGSTOP);
	return NULL;
}

static void child_takes_cq_by_another_thread(struct bed *e)
{
	struct seg_ring *mine = running_enter(&e->p.t->s, e->p.a->qpn);
	struct eng_cqe c;
	struct cq_held h;
	pthread_t other;

	CHECK(mine && !cq_begin(&e->p.t->s, e->p.a->cq.cqn, &c, &h));
	cq_unlock(&e->p.t->s, &h);
	CHECK(!pthread_create(&other, NULL, take_and_stop, e));
	CHECK(!pthread_join(other, NULL));
	running_leave(mine);
}

/* The lock's note still names the previous holder: that thread must not be cut off. */
static void stopped_before_it_noted_itself(void **state)
{
	struct bed *e = *state;
	struct seg *s = &e->p.t->s;
	struct eng_cqe c;
	struct cq_held h;
	int status;

	spawn(e, child_takes_cq_by_another_thread);
	assert_int_equal(waitpid(e->pid, &status, WUNTRACED), e->pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(cq_begin(s, e->p.a->cq.cqn, &c, &h), 0);
	seg_for_each_live (s, SEG_T_PROC, i) {
		struct seg_proc *p = seg_proc(s, i);

		for (uint32_t n = 0; p->pid == (uint32_t)e->pid && n < 2; n++)
			assert_true(gate_word(&p->ring[n].gate) & GATE_REVOKED);
	}
	cq_unlock(s, &h);
	kill(e->pid, SIGCONT);
	EXPECT_OK(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BED_TEST(traffic),
		BED_TEST(unmapped),
		BED_TEST(inherited_queue),
		BED_TEST(peer_stopped),
		BED_TEST(event_beside_a_stopped_reader),
		BED_TEST(async_events_beside_a_stopped_reader),
		BED_TEST(stopped_before_it_noted_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
