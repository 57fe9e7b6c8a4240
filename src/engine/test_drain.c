/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Signature pipelining: a send queue with qpc.drain_sigerr stops behind a WQE whose data had a
 * wrong signature, and goes on by SQD2RTS.
 */
#include "engine/test_sig.h"
#include "hw/cq.h"
#include "hw/qp.h"
#include "hw/qp_state.h"

#include <infiniband/verbs.h>

#define PLAIN 0x20000
#define DATA 1024 /* two blocks */

/* QP a stops after wrong signatures. Its key has CRC32C in memory; the CRC of block 0 is wrong. */
static struct skey wrong(struct t_pair *p)
{
	struct skey k = {.mem = {.kind = F_CRC32C, .ones = true}, .check = 0xff};

	LAYOUT_SET(qpc, p->a->hw->qpc, drain_sigerr, 1);
	skey_make(&k, p->a, 0);
	skey_configure(&k, mem_len(&k, DATA));
	f_image(&k.mem, p->b->mem, DATA, p->a->mem + F_KEY_AT);
	p->a->mem[F_KEY_AT] ^= 1;
	return k;
}

/* Posts an unsignaled WRITE, as rdma-core's test_mlx5_mkey.py does. */
static void write_it(struct t_pair *p, const struct skey *k, void (*post)(struct t_qp *q))
{
	struct t_sge sge = {k->mk->key, 0, DATA};

	t_post_quiet(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_RDMA_WRITE,
					  .raddr = (uintptr_t)p->b->mem + PLAIN,
					  .rkey = p->b->key,
					  .sge = &sge,
					  .nsge = 1});
	if (post)
		post(p->a);
	t_ring(p->a);
}

static void send_fenced(struct t_qp *q)
{
	t_post_quiet(q, &(struct t_wr){.opcode = MLX5_OPCODE_SEND,
				       .fm_ce_se = T_SIG | MLX5_WQE_CTRL_FENCE,
				       .inl = "good",
				       .inl_len = 4});
}

static void reported(struct t_qp *q)
{
	struct mlx5_cqe64 *c = t_poll(&q->cq);

	assert_non_null(c);
	assert_int_equal(mlx5dv_get_cqe_opcode(c), MLX5_CQE_SIG_ERR);
	t_assert_empty(&q->cq);
}

static void drained(struct t_qp *q)
{
	assert_int_equal(t_state(q), PRM_QP_STATE_SQD);
	assert_int_equal(t_event(q->t, q->evq), IBV_EVENT_SQ_DRAINED);
	assert_int_equal(t_event(q->t, q->evq), -1);
}

static void go_on(struct t_qp *q)
{
	assert_int_equal(eng_qp_set_state(&q->t->s, q->qpn, PRM_QP_STATE_RTS), 0);
}

/* Does to the WQE at the queue's head what mlx5dv_qp_cancel_posted_send_wrs() does. */
static void cancel_next(struct t_qp *q)
{
	uint8_t *wqe = q->sq + (atomic_load(&q->hw->sq_ci) & 0xffff) * WQE_BB;

	LAYOUT_SET(wqe_ctrl, wqe, opcode, WQE_OP_NOP);
}

static void test_the_next_wqe_waits_and_can_be_cancelled(void **state)
{
	struct t_pair *p = *state;
	struct skey k = wrong(p);
	uint32_t ci = atomic_load(&p->a->hw->sq_ci);

	t_recv_at(p->b, 0, 64);
	write_it(p, &k, send_fenced);
	drained(p->a);
	reported(p->a);
	t_assert_empty(&p->b->cq);
	assert_int_equal(atomic_load(&p->a->hw->sq_ci), ci + 1);
	/* the queue is drained; post and ring */
	send_fenced(p->a);
	t_ring(p->a);
	t_assert_empty(&p->b->cq);
	cancel_next(p->a);
	go_on(p->a);
	t_expect_done(p->a, WQE_OP_NOP, (ci + 1) & 0xffff);
	t_expect_done(p->a, MLX5_OPCODE_SEND, (ci + 2) & 0xffff);
	t_received(p->b, MLX5_CQE_RESP_SEND, 4, 0);
	t_assert_empty(&p->b->cq);
	assert_int_equal(t_event(p->t, p->a->evq), -1);
	assert_int_equal(t_state(p->a), PRM_QP_STATE_RTS);
}

static void test_right_signatures_drain_nothing(void **state)
{
	struct t_pair *p = *state;
	struct skey k = wrong(p);

	p->a->mem[F_KEY_AT] ^= 1;
	t_recv_at(p->b, 0, 64);
	write_it(p, &k, send_fenced);
	t_expect_done(p->a, MLX5_OPCODE_SEND, (p->a->sq_pi - 1) & 0xffff);
	t_received(p->b, MLX5_CQE_RESP_SEND, 4, 0);
	assert_int_equal(t_state(p->a), PRM_QP_STATE_RTS);
	assert_int_equal(t_event(p->t, p->a->evq), -1);
}

/* A key reports only its first error, but each transfer with an error stops the queue. */
static void test_each_wrong_transfer_drains(void **state)
{
	struct t_pair *p = *state;
	struct skey k = wrong(p);

	write_it(p, &k, NULL);
	drained(p->a);
	reported(p->a);
	go_on(p->a);
	write_it(p, &k, NULL);
	drained(p->a);
	t_assert_empty(&p->a->cq);
}

/* A READ checks the requester's key, so the requester's queue stops; the responder's goes on. */
static void test_a_read_drains_the_requester(void **state)
{
	struct t_pair *p = *state;
	struct skey k = {.wire = {.kind = F_CRC32C, .ones = true}, .check = 0xff};
	struct t_sge sge;

	LAYOUT_SET(qpc, p->a->hw->qpc, drain_sigerr, 1);
	LAYOUT_SET(qpc, p->b->hw->qpc, drain_sigerr, 1);
	skey_make(&k, p->a, 0);
	skey_configure(&k, DATA);
	sge = (struct t_sge){k.mk->key, 0, wire_len(&k, DATA)};
	t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_RDMA_READ,
				    .raddr = (uintptr_t)p->b->mem,
				    .rkey = p->b->key,
				    .sge = &sge,
				    .nsge = 1});
	drained(p->a);
	reported(p->a);
	go_on(p->a);
	/* b WRITEs through that key: a is the responder, so its own queue goes on */
	sge = t_own(p->b, PLAIN, wire_len(&k, DATA));
	k.q = p->a;
	skey_configure(&k, DATA);
	t_post(p->b, &(struct t_wr){.opcode = MLX5_OPCODE_RDMA_WRITE,
				    .rkey = k.mk->key,
				    .sge = &sge,
				    .nsge = 1});
	reported(p->a);
	assert_int_equal(t_state(p->a), PRM_QP_STATE_RTS);
	assert_int_equal(t_state(p->b), PRM_QP_STATE_RTS);
	assert_int_equal(t_event(p->t, p->a->evq), -1);
}

/* The CQ is locked, so the WQE's CQE is late: the queue stops after it is written, not before. */
static void test_the_completion_comes_first(void **state)
{
	struct t_pair *p = *state;
	struct skey k = wrong(p);
	struct t_sge sge = {k.mk->key, 0, DATA};

	k.mk->sig_told = 1; /* no error CQE, so only the completion needs the CQ */
	assert_int_equal(seg_lock(&p->t->s, &p->a->cq.hw->lock, 0), 0);
	t_write(p->a, p->b, PLAIN, sge);
	assert_int_equal(p->a->hw->park, HW_PARK_LOCK);
	assert_int_equal(t_state(p->a), PRM_QP_STATE_RTS);
	assert_int_equal(t_event(p->t, p->a->evq), -1);
	seg_unlock(&p->t->s, &p->a->cq.hw->lock);
	t_now += 2000000;
	eng_run_due(&p->t->s);
	drained(p->a);
	t_expect_done(p->a, MLX5_OPCODE_RDMA_WRITE, (p->a->sq_pi - 1) & 0xffff);
}

/* A wrong signature, followed by unmapped memory at the other side: the QP fails. */
static void test_an_error_stays(void **state)
{
	struct t_pair *p = *state;
	struct skey k = wrong(p);

	munmap(p->b->mem + PLAIN, 4096);
	write_it(p, &k, send_fenced);
	assert_int_equal(t_state(p->a), PRM_QP_STATE_ERR);
	assert_int_equal(mlx5dv_get_cqe_opcode(t_poll(&p->a->cq)), MLX5_CQE_SIG_ERR);
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR,
		       (p->a->sq_pi - 2) & 0xffff);
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR,
		       (p->a->sq_pi - 1) & 0xffff);
	assert_int_equal(t_event(p->t, p->a->evq), -1);
}

static void test_a_drained_queue_is_flushed_and_reset(void **state)
{
	struct t_pair *p = *state;
	struct skey k = wrong(p);

	write_it(p, &k, send_fenced);
	drained(p->a);
	reported(p->a);
	assert_int_equal(eng_qp_set_state(&p->t->s, p->a->qpn, PRM_QP_STATE_ERR), 0);
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR,
		       (p->a->sq_pi - 1) & 0xffff);
	assert_int_equal(eng_qp_set_state(&p->t->s, p->a->qpn, PRM_QP_STATE_RTS), -EINVAL);
	assert_int_equal(eng_qp_set_state(&p->t->s, p->a->qpn, PRM_QP_STATE_RST), 0);
	assert_int_equal(p->a->hw->sq_drain, 0);
}

/* A drained QP still executes requests of the other side. */
static void test_a_drained_queue_still_responds(void **state)
{
	struct t_pair *p = *state;
	struct skey k = wrong(p);

	write_it(p, &k, NULL);
	drained(p->a);
	reported(p->a);
	t_recv_at(p->a, 0, 64);
	send_fenced(p->b);
	t_ring(p->b);
	t_expect_done(p->b, MLX5_OPCODE_SEND, 0);
	t_received(p->a, MLX5_CQE_RESP_SEND, 4, 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, t_pair_setup, t_pair_teardown)
	const struct CMUnitTest tests[] = {
		T(test_the_next_wqe_waits_and_can_be_cancelled),
		T(test_right_signatures_drain_nothing),
		T(test_each_wrong_transfer_drains),
		T(test_a_read_drains_the_requester),
		T(test_the_completion_comes_first),
		T(test_an_error_stays),
		T(test_a_drained_queue_is_flushed_and_reset),
		T(test_a_drained_queue_still_responds),
	};

	return cmocka_run_group_tests_name("engine drain", tests, NULL, NULL);
}
