/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Completion queues: arming, overrun, sizes, resizing. */
#include "engine/test.h"
#include "hw/cq.h"
#include "hw/qp_state.h"
#include <infiniband/verbs.h>

static void arm_on(struct t_qp *q, uint32_t uar, uint32_t sn, uint32_t cmd)
{
	uint32_t word = sn << 28 | cmd << 24 | (q->cq.ci & 0xffffff);
	__be32 db[2] = {htobe32(word), htobe32(q->cq.cqn)};
	uint64_t be;

	q->cq.dbr[T_ARM] = htobe32(word);
	memcpy(&be, db, 8);
	eng_uar_write(&q->t->s, uar, 0x20, be);
}

static void arm(struct t_qp *q, uint32_t sn, uint32_t cmd)
{
	arm_on(q, T_UAR, sn, cmd);
}

static void nop(struct t_qp *q)
{
	t_post(q, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
}

static void armed_fires_once(void **state)
{
	struct t_pair *p = *state;

	nop(p->a);
	assert_int_equal(t_event(p->t, p->a->cq.evq[0]), -1); /* not armed */
	assert_non_null(t_poll(&p->a->cq));
	arm_on(p->a, T_UAR + 1, 0, 0); /* a doorbell on another UAR page than the CQ's is ignored */
	nop(p->a);
	assert_int_equal(t_event(p->t, p->a->cq.evq[0]), -1);
	assert_non_null(t_poll(&p->a->cq));
	arm(p->a, 0, 0);
	assert_int_equal(t_event(p->t, p->a->cq.evq[0]), -1);
	nop(p->a);
	assert_int_equal(t_event(p->t, p->a->cq.evq[0]), 0);
	nop(p->a);
	assert_int_equal(t_event(p->t, p->a->cq.evq[0]), -1);
	/*
	 * Arming finds a completion that the program has not consumed and that had no event: the
	 * event comes at once.
	 */
	arm(p->a, 1, 0);
	assert_int_equal(t_event(p->t, p->a->cq.evq[0]), 0);
	nop(p->a);
	assert_int_equal(t_event(p->t, p->a->cq.evq[0]), -1);
}

/* Poll mode finds the record and the store: the second one does not arm again. */
static void same_arm_twice(void **state)
{
	struct t_pair *p = *state;

	arm(p->a, 0, 0);
	nop(p->a);
	assert_int_equal(t_event(p->t, p->a->cq.evq[0]), 0);
	arm(p->a, 0, 0);
	nop(p->a);
	assert_int_equal(t_event(p->t, p->a->cq.evq[0]), -1);
}

/* ib_send_lat -e arms before it polls, and takes each event for one completion. */
static void armed_before_polling(void **state)
{
	struct t_pair *p = *state;

	arm(p->a, 0, 0);
	for (uint32_t i = 1; i < 80; i++) {
		nop(p->a);
		assert_int_equal(t_event(p->t, p->a->cq.evq[0]), 0);
		arm(p->a, i, 0);
		assert_int_equal(t_event(p->t, p->a->cq.evq[0]), -1);
		assert_non_null(t_poll(&p->a->cq));
	}
}

/* Polls one completion per event: the remaining ones raise an event at the next arm. */
static void polls_one_then_arms(void **state)
{
	struct t_pair *p = *state;
	uint32_t sn = 0;

	for (int i = 0; i < 4; i++)
		nop(p->a);
	arm(p->a, sn++, 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(t_event(p->t, p->a->cq.evq[0]), 0);
		assert_non_null(t_poll(&p->a->cq));
		arm(p->a, sn++, 0);
	}
	assert_int_equal(t_event(p->t, p->a->cq.evq[0]), -1);
	nop(p->a);
	assert_int_equal(t_event(p->t, p->a->cq.evq[0]), 0);
}

static void armed_for_solicited(void **state)
{
	struct t_pair *p = *state;
	struct t_wr wr = {.opcode = MLX5_OPCODE_SEND, .inl = "x", .inl_len = 1};

	for (int i = 0; i < 4; i++)
		t_recv_at(p->b, 0, 8);
	arm(p->b, 0, 1);
	t_post(p->a, &wr);
	assert_int_equal(t_event(p->t, p->b->cq.evq[0]), -1);
	wr.fm_ce_se = T_SOL;
	t_post(p->a, &wr);
	assert_int_equal(t_event(p->t, p->b->cq.evq[0]), 0);
	/* Two unseen CQEs, one of them solicited, but both already had an event. */
	arm(p->b, 1, 1);
	assert_int_equal(t_event(p->t, p->b->cq.evq[0]), -1);
	assert_non_null(t_poll(&p->b->cq));
	assert_non_null(t_poll(&p->b->cq));
	wr.fm_ce_se = 0;
	t_post(p->a, &wr);
	arm(p->b, 2, 1); /* the unseen CQE is not solicited */
	assert_int_equal(t_event(p->t, p->b->cq.evq[0]), -1);
	wr.fm_ce_se = T_SOL;
	t_post(p->a, &wr);
	assert_int_equal(t_event(p->t, p->b->cq.evq[0]), 0);
	t_recv_at(p->b, 0, 8);
	t_recv_at(p->b, 0, 8);
	t_post(p->a, &wr);
	arm(p->b, 3, 1); /* a solicited CQE that came while the CQ was not armed */
	assert_int_equal(t_event(p->t, p->b->cq.evq[0]), 0);
	arm(p->b, 4, 1);
	/* An error counts as solicited. */
	assert_int_equal(eng_qp_set_state(&p->t->s, p->b->qpn, PRM_QP_STATE_ERR), 0);
	assert_int_equal(t_event(p->t, p->b->cq.evq[0]), 0);
}

/* A process stopped in an earlier CQ of the same number finds another index and turn. */
static void a_number_used_anew(void **state)
{
	struct t_pair *p = *state;
	struct t_cq *cq = &p->a->cq;
	struct hw_cq was = *cq->hw;

	seg_free(&p->t->s, SEG_T_CQ, cq->cqn);
	assert_int_equal(seg_alloc_at(&p->t->s, SEG_T_CQ, T_OWNER, cq->cqn), 0);
	cq->hw->dbr_mem = was.dbr_mem;
	cq->hw->dbr_va = was.dbr_va;
	assert_int_equal(eng_cq_created(&p->t->s, cq->cqn), 0);
	assert_int_not_equal(cq->hw->pi, was.pi);
	assert_int_not_equal(cq->hw->lock.inherited, was.lock.inherited);
	assert_int_equal(cq->hw->pi & 0xffffff, 0);
}

/* 32-bit indices wrap while the program never arms. */
static void armed_after_many(void **state)
{
	struct t_pair *p = *state;
	struct t_cq *cq = &p->a->cq;
	uint32_t sn = 0, first = cq->hw->pi;

	for (uint32_t i = 1; i < 600; i++) {
		/* The same index in doorbell records. */
		cq->hw->pi = cq->ci = first + (i << 24);
		nop(p->a);
		assert_non_null(t_poll(cq));
		if (i % 150)
			continue;
		arm(p->a, sn++, 1);
		assert_int_equal(t_event(p->t, cq->evq[0]), -1);
		arm(p->a, sn++, 0);
		assert_int_equal(t_event(p->t, cq->evq[0]), -1);
		nop(p->a);
		assert_int_equal(t_event(p->t, cq->evq[0]), 0);
		assert_non_null(t_poll(cq));
	}
}

/*
 * IBA 11.4.2.2: an outstanding request for any completion stays when one for solicited completions
 * follows; in the other order, the request becomes one for any.
 */
static void any_stands_when_solicited_follows(void **state)
{
	struct t_pair *p = *state;

	arm(p->a, 0, 0);
	arm(p->a, 0, 1);
	nop(p->a);
	assert_int_equal(t_event(p->t, p->a->cq.evq[0]), 0);
	assert_non_null(t_poll(&p->a->cq));
	arm(p->a, 1, 1);
	nop(p->a);
	assert_int_equal(t_event(p->t, p->a->cq.evq[0]), -1);
	assert_non_null(t_poll(&p->a->cq));
	arm(p->a, 1, 0);
	nop(p->a);
	assert_int_equal(t_event(p->t, p->a->cq.evq[0]), 0);
	nop(p->a);
	assert_int_equal(t_event(p->t, p->a->cq.evq[0]), -1);
}

static void cq_overrun(void **state)
{
	struct t_pair *p = *state;
	struct t_wr wr = {.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG};

	for (int i = 0; i < 1 << T_CQ_LOG; i++)
		t_post(p->a, &wr);
	assert_int_equal(hw_cq_error(p->a->cq.hw), 0);
	assert_int_equal(t_event(p->t, p->a->cq.evq[1]), -1);
	t_post(p->a, &wr);
	assert_int_equal(hw_cq_error(p->a->cq.hw), HW_CQ_ERR_OVERRUN);
	assert_int_equal(t_event(p->t, p->a->cq.evq[1]), IBV_EVENT_CQ_ERR);
	assert_int_equal(t_state(p->a), PRM_QP_STATE_ERR);
	assert_int_equal(t_event(p->t, p->a->evq), IBV_EVENT_QP_FATAL);
	assert_int_equal(t_event(p->t, p->a->cq.evq[1]), -1);
	/* The CQEs written before the overrun are intact. */
	for (uint32_t i = 0; i < 1u << T_CQ_LOG; i++)
		t_expect_done(p->a, MLX5_OPCODE_NOP, i);
	/* The CQ of the responder is in error. */
	t_post(p->b, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .inl = "x", .inl_len = 1});
	assert_int_equal(t_park(p->b), HW_PARK_RETRY); /* a is in ERR */
}

static void responders_cq_overrun(void **state)
{
	struct t_pair *p = *state;

	for (int i = 0; i < 1 << T_CQ_LOG; i++)
		nop(p->b);
	t_recv_at(p->b, 0, 8);
	t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .inl = "x", .inl_len = 1});
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_OP_ERR, 0);
	assert_int_equal(t_event(p->t, p->b->cq.evq[1]), IBV_EVENT_CQ_ERR);
	assert_int_equal(t_event(p->t, p->b->evq), IBV_EVENT_QP_FATAL);
	assert_int_equal(t_state(p->b), PRM_QP_STATE_ERR);
}

static void cqe_of_128_bytes(void **state)
{
	struct t_pair *p = *state;
	struct t_cq big;

	t_cq_make(p->t, &big, 2, 128);
	t_set_cq(p->a, &big, NULL);
	for (uint32_t i = 0; i < 20; i++) {
		struct mlx5_cqe64 *c;

		nop(p->a);
		c = t_poll(&big);
		assert_non_null(c);
		assert_int_equal(be16toh(c->wqe_counter), i);
	}
	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t b = 0; b < 64; b++)
			assert_int_equal(big.buf[i * 128 + b], 0xf0);
}

static void resize(void **state)
{
	struct t_pair *p = *state;
	struct t_cq *cq = &p->a->cq;
	struct mlx5_cqe64 *c;
	struct t_cq next = *cq;

	for (int i = 0; i < 5; i++)
		nop(p->a);
	for (int i = 0; i < 3; i++)
		assert_non_null(t_poll(cq));
	next.log_size = 1;
	assert_int_equal(eng_cq_resize(&p->t->s, cq->cqn, mem_self(&p->t->s), 0, 1, 64), -ENOSPC);
	next.log_size = 7;
	next.buf = aligned_alloc(4096, 64 << 7);
	memset(next.buf, 0xf0, 64 << 7);
	assert_int_equal(
		eng_cq_resize(&p->t->s, cq->cqn, mem_self(&p->t->s), (uintptr_t)next.buf, 7, 64),
		0);
	nop(p->a);
	/* The last CQE in the old buffer is the resize CQE, */
	t_expect_done(p->a, MLX5_OPCODE_NOP, 3);
	t_expect_done(p->a, MLX5_OPCODE_NOP, 4);
	c = t_poll(cq);
	assert_non_null(c);
	assert_int_equal(mlx5dv_get_cqe_opcode(c), MLX5_CQE_RESIZE_CQ);
	t_assert_empty(cq);
	/* and the new buffer continues after its index. */
	next.ci = cq->ci;
	c = t_poll(&next);
	assert_non_null(c);
	assert_int_equal(be16toh(c->wqe_counter), 5);
	for (uint32_t i = 0; i < 300; i++) {
		nop(p->a);
		c = t_poll(&next);
		assert_non_null(c);
		assert_int_equal(be16toh(c->wqe_counter), 6 + i);
	}
	free(next.buf);
}

/*
 * Another thread holds the CQ's lock for long: the WQE is not executed twice, and its CQE comes
 * later.
 */
static void completion_owed(void **state)
{
	struct t_pair *p = *state;
	struct t_wr wr = {.opcode = MLX5_OPCODE_RDMA_WRITE,
			  .fm_ce_se = T_SIG,
			  .raddr = (uintptr_t)p->b->mem,
			  .rkey = p->b->key,
			  .inl = "once",
			  .inl_len = 4};

	assert_int_equal(seg_lock(&p->t->s, &p->a->cq.hw->lock, 0), 0);
	t_post(p->a, &wr);
	assert_memory_equal(p->b->mem, "once", 4);
	assert_int_equal(t_park(p->a), HW_PARK_LOCK);
	p->b->mem[0] = 'O';
	seg_unlock(&p->t->s, &p->a->cq.hw->lock);
	t_now += 2000000;
	assert_int_equal(eng_run_due(&p->t->s), UINT64_MAX);
	t_expect_done(p->a, MLX5_OPCODE_RDMA_WRITE, 0);
	assert_int_equal(p->b->mem[0], 'O');
}

int main(void)
{
#define P(f) cmocka_unit_test_setup_teardown(f, t_pair_setup, t_pair_teardown)
	const struct CMUnitTest tests[] = {
		P(armed_fires_once),
		P(same_arm_twice),
		P(armed_before_polling),
		P(polls_one_then_arms),
		P(armed_for_solicited),
		P(armed_after_many),
		P(a_number_used_anew),
		P(cq_overrun),
		P(responders_cq_overrun),
		P(cqe_of_128_bytes),
		P(resize),
		P(completion_owed),
		P(any_stands_when_solicited_follows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
