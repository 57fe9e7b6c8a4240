/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Order of the completions at both ends. The test's clock is a hook that the engine calls while it
 * waits.
 */
#include "engine/test.h"
#include "hw/port.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "hw/srq.h"

static struct t_pair *now_of;
static int looks;

static void send_wr(struct t_qp *q, uint8_t opcode)
{
	t_post(q, &(struct t_wr){.opcode = opcode,
				 .fm_ce_se = T_SIG,
				 .raddr = (uintptr_t)now_of->b->mem,
				 .rkey = now_of->b->key,
				 .inl = "x",
				 .inl_len = 1});
}

static void send_x(struct t_qp *q)
{
	send_wr(q, MLX5_OPCODE_SEND);
}

static void pass(struct tb *t, uint64_t ns)
{
	t_now += ns;
	eng_run_due(&t->s);
}

static int setup(void **state)
{
	int rc = t_pair_setup(state);

	now_of = *state;
	looks = 0;
	return rc;
}

/* ---- an answer comes after the completion of what it answers */

/* Clock hook: a's CQE for its own message is written late, while b's answer waits for it. */
static uint64_t acks_late(void)
{
	struct hw_qp *a = now_of->a->hw;

	if (++looks == 3) {
		t_assert_empty(&now_of->a->cq);
		assert_int_equal(now_of->a->mem[0], 'x'); /* the payload is written before */
		atomic_fetch_add(&a->ack_seq, 1);
	}
	return t_now;
}

static void answer_waits(void **state)
{
	struct t_pair *p = *state;

	t_recv_at(p->a, 0, 8);
	p->a->hw->ack_seq = 7;
	eng_clock = acks_late;
	send_x(p->b);
	assert_true(looks >= 3);
	t_received(p->a, MLX5_CQE_RESP_SEND, 1, 0);
	assert_int_equal(p->a->hw->ack_seq, 8);
}

static uint64_t runs(void)
{
	looks++;
	return t_now += NSEC_PER_MSEC;
}

/*
 * The sender is stopped before its CQE is written: the answer waits once for it, then never again.
 */
static void answer_does_not_wait_for_ever(void **state)
{
	struct t_pair *p = *state;

	t_recv_at(p->a, 0, 8);
	t_recv_at(p->a, 0, 8);
	p->a->hw->ack_seq = 7;
	eng_clock = runs;
	send_x(p->b);
	t_received(p->a, MLX5_CQE_RESP_SEND, 1, 0);
	assert_int_equal(p->a->hw->ack_seq, 8);
	looks = 0;
	send_x(p->b);
	t_received(p->a, MLX5_CQE_RESP_SEND, 1, 1);
	assert_true(looks <= 2); /* the clock is read only for the time stamps of two CQEs */
}

/* Clock hook: a's thread waits long for a processor before it writes its CQE. */
static uint64_t runs_slowly(void)
{
	if (++looks == 500) {
		t_assert_empty(&now_of->a->cq);
		assert_int_equal(now_of->a->hw->ack_seq, 7);
		atomic_fetch_add(&now_of->a->hw->ack_seq, 1);
	}
	return t_now += NSEC_PER_MSEC;
}

/* The thread that owes the CQE still has the send queue, and is not stopped. */
static void answer_waits_for_a_slow_sender(void **state)
{
	struct t_pair *p = *state;

	t_recv_at(p->a, 0, 8);
	p->a->hw->ack_seq = 7;
	assert_int_equal(seg_lock(&p->t->s, &p->a->hw->sq_lock, 0), 0);
	eng_clock = runs_slowly;
	send_x(p->b);
	assert_true(looks >= 500);
	t_received(p->a, MLX5_CQE_RESP_SEND, 1, 0);
	assert_int_equal(p->a->hw->ack_seq, 8);
	seg_unlock(&p->t->s, &p->a->hw->sq_lock);
}

/* A message without a receive CQE does not make the answer wait. */
static void write_does_not_wait(void **state)
{
	struct t_pair *p = *state;

	p->b->hw->ack_seq = 7;
	eng_clock = runs;
	send_wr(p->a, MLX5_OPCODE_RDMA_WRITE);
	t_expect_done(p->a, MLX5_OPCODE_RDMA_WRITE, 0);
	assert_int_equal(p->b->hw->ack_seq, 7);
	assert_true(looks <= 1);
}

static uint32_t seen;

/* Clock hook: called for the time stamps of b's CQE, then of a's. */
static uint64_t notes(void)
{
	looks++;
	seen = now_of->a->hw->ack_seq;
	return t_now;
}

static void acking_until_own_cqe(void **state)
{
	struct t_pair *p = *state;

	t_recv_at(p->b, 0, 8);
	t_recv_at(p->b, 0, 8);
	eng_clock = notes;
	send_x(p->a);
	assert_int_equal(looks, 2);
	assert_int_equal(seen, 1);
	assert_int_equal(p->a->hw->ack_seq, 2);
	/* The CQE is still owed. */
	assert_int_equal(seg_lock(&p->t->s, &p->a->cq.hw->lock, 0), 0);
	send_x(p->a);
	assert_int_equal(p->a->hw->ack_seq, 3);
	seg_unlock(&p->t->s, &p->a->cq.hw->lock);
	pass(p->t, NSEC_PER_MSEC);
	assert_int_equal(p->a->hw->ack_seq, 4);
}

/* A message that was not delivered has no answer to delay, and an error ends the wait. */
static void acking_ends_without_delivery(void **state)
{
	struct t_pair *p = *state;

	send_x(p->a); /* no receive is posted */
	assert_int_equal(p->a->hw->ack_seq & 1, 0);
	p->a->hw->ack_seq = 9;
	eng_qp_set_state(&p->t->s, p->a->qpn, PRM_QP_STATE_ERR);
	assert_int_equal(p->a->hw->ack_seq, 10);
	p->a->hw->ack_seq = 11;
	eng_qp_set_state(&p->t->s, p->a->qpn, PRM_QP_STATE_RST);
	assert_int_equal(p->a->hw->ack_seq, 12);
}

int main(void)
{
#define P(f) cmocka_unit_test_setup_teardown(f, setup, t_pair_teardown)
	const struct CMUnitTest tests[] = {
		P(answer_waits_for_a_slow_sender), P(answer_waits),
		P(answer_does_not_wait_for_ever),  P(write_does_not_wait),
		P(acking_until_own_cqe),           P(acking_ends_without_delivery),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
