/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Order of the completions at both ends, and how long a message waits for a lock. The test's clock
 * is a hook that the engine calls while it waits.
 */
#include "engine/test.h"
#include "hw/port.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "hw/srq.h"

static struct t_pair *now_of;
static int looks;

static void send_wr(struct t_qp *q, uint8_t opcode, const struct mlx5_wqe_av *av)
{
	t_post(q, &(struct t_wr){.opcode = opcode,
				 .fm_ce_se = T_SIG,
				 .av = av,
				 .raddr = (uintptr_t)now_of->b->mem,
				 .rkey = now_of->b->key,
				 .inl = "x",
				 .inl_len = 1});
}

static void send_x(struct t_qp *q)
{
	send_wr(q, MLX5_OPCODE_SEND, NULL);
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

/* A message without a receive CQE does not make the answer wait. */
static void write_does_not_wait(void **state)
{
	struct t_pair *p = *state;

	p->b->hw->ack_seq = 7;
	eng_clock = runs;
	send_wr(p->a, MLX5_OPCODE_RDMA_WRITE, NULL);
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

/* ---- how long messages without acknowledgement wait */

struct dgram {
	struct t_qp *a, *b;
	struct mlx5_wqe_av av;
};

static void unacked_make(struct tb *t, enum prm_st st, struct dgram *d)
{
	d->a = t_qp_make(t, 0, st, NULL);
	d->b = t_qp_make(t, 1, st, NULL);
	t_connect(d->a, d->b);
	memset(&d->av, 0, sizeof(d->av));
	d->av.key.qkey.qkey = htobe32(d->b->hw->qkey);
	d->av.dqp_dct = htobe32(MLX5_EXTENDED_UD_AV | d->b->qpn);
	d->av.rlid = htobe16((uint16_t)hw_port(&t->s, d->b->hw->path[0].port)->lid);
	t_recv_at(d->b, 0, 64);
	t_recv_at(d->b, 64, 64);
}

static void unacked_send(struct dgram *d)
{
	send_wr(d->a, MLX5_OPCODE_SEND, d->a->hw->st == PRM_ST_UD ? &d->av : NULL);
}

static const enum prm_st unacked[] = {PRM_ST_UC, PRM_ST_UD};

/* Holds each lock that a delivery takes for a while, one after the other. */
static void unacked_waits_for_locks(void **state)
{
	struct t_pair *p = *state;

	for (int i = 0; i < 4; i++) {
		enum prm_st st = unacked[i % 2];
		uint32_t grh = st == PRM_ST_UD ? ENG_GRH_BYTES : 0;
		struct seg_lock *l;
		struct dgram d;

		unacked_make(p->t, st, &d);
		l = i < 2 ? &d.b->hw->rq_lock : &d.b->cq.hw->lock;
		assert_int_equal(seg_lock(&p->t->s, l, 0), 0);
		unacked_send(&d);
		t_assert_empty(&d.a->cq);
		pass(p->t, ENG_PATIENCE_NS - NSEC_PER_MSEC);
		t_assert_empty(&d.a->cq);
		seg_unlock(&p->t->s, l);
		pass(p->t, NSEC_PER_MSEC);
		t_received(d.b, MLX5_CQE_RESP_SEND, 1 + grh, 0);
		t_expect_done(d.a, MLX5_OPCODE_SEND, 0);
		t_qp_free(d.a);
		t_qp_free(d.b);
	}
}

/* A stopped peer gets no datagrams, and does not delay the sender for ever. */
static void unacked_is_dropped_at_last(void **state)
{
	struct t_pair *p = *state;

	for (int i = 0; i < 2; i++) {
		struct dgram d;

		unacked_make(p->t, unacked[i], &d);
		assert_int_equal(seg_lock(&p->t->s, &d.b->hw->rq_lock, 0), 0);
		unacked_send(&d);
		pass(p->t, ENG_PATIENCE_NS / 2);
		pass(p->t, ENG_PATIENCE_NS / 2);
		t_expect_done(d.a, MLX5_OPCODE_SEND, 0);
		assert_int_equal(d.a->hw->park, HW_PARK_NO);
		seg_unlock(&p->t->s, &d.b->hw->rq_lock);
		t_assert_empty(&d.b->cq);
		/* The next datagram has the same patience again. */
		unacked_send(&d);
		t_expect_done(d.a, MLX5_OPCODE_SEND, unacked[i] == PRM_ST_UD ? 2 : 1);
		assert_non_null(t_poll(&d.b->cq));
		t_qp_free(d.a);
		t_qp_free(d.b);
	}
}

static void datagram_waits_for_srq(void **state)
{
	struct t_pair *p = *state;
	struct t_srq srq;
	struct dgram d;

	t_srq_make(p->t, &srq, p->t->pd[1]);
	unacked_make(p->t, PRM_ST_UD, &d);
	d.b->hw->srqn = srq.srqn;
	t_srq_post(&srq, d.b->key, d.b->mem, 64);
	assert_int_equal(seg_lock(&p->t->s, &srq.hw->lock, 0), 0);
	unacked_send(&d);
	t_assert_empty(&d.a->cq);
	seg_unlock(&p->t->s, &srq.hw->lock);
	pass(p->t, NSEC_PER_MSEC);
	t_expect_done(d.a, MLX5_OPCODE_SEND, 0);
	t_received(d.b, MLX5_CQE_RESP_SEND, 1 + ENG_GRH_BYTES, 0);
	t_qp_free(d.a);
	t_qp_free(d.b);
}

int main(void)
{
#define P(f) cmocka_unit_test_setup_teardown(f, setup, t_pair_teardown)
	const struct CMUnitTest tests[] = {
		P(answer_waits),
		P(answer_does_not_wait_for_ever),
		P(write_does_not_wait),
		P(acking_until_own_cqe),
		P(acking_ends_without_delivery),
		P(unacked_waits_for_locks),
		P(unacked_is_dropped_at_last),
		P(datagram_waits_for_srq),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
