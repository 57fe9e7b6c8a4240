/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tag matching beside drained send queues, compression of CQEs and signatures. */
#include "engine/test_sig.h"
#include "engine/test_tm_bed.h"
#include "engine/test_zip.h"

/* A drained send queue does not hold it back, as the message comes from the other side. */
static void a_fin_comes_to_a_drained_queue(void **state)
{
	struct bed *p = *state;

	LAYOUT_SET(qpc, p->b->hw->qpc, offload_type, 1);
	add(p, 5, UINT64_MAX, 4096, 1, -1);
	tm_offer(p->a, 5, p->a->key, 64);
	t_expect_done(p->a, MLX5_OPCODE_SEND, 0);
	atomic_store(&p->a->hw->state, PRM_QP_STATE_SQD);
	tm_send(p->a, TMH_NO_TAG, 0, "x");
	due(p);
	assert_int_equal(p->a->hw->fin_owed, HW_FIN_PARKED);
	t_recv_at(p->a, 8192, 64);
	due(p);
	t_received(p->a, MLX5_CQE_RESP_SEND, 16, 0);
	assert_int_equal(p->a->hw->fin_owed, HW_FIN_NONE);
	assert_int_equal(p->a->hw->park, HW_PARK_NO);
	assert_int_equal(p->a->hw->sq_ci, 1); /* the message waits */
	assert_int_equal(eng_qp_set_state(&p->t->s, p->a->qpn, PRM_QP_STATE_RTS), 0);
	t_expect_done(p->a, MLX5_OPCODE_SEND, 1);
}

/* The receive is too short: what is posted behind is flushed, and not sent. */
static void a_fin_that_fails_its_qp(void **state)
{
	struct bed *p = *state;

	LAYOUT_SET(qpc, p->b->hw->qpc, offload_type, 1);
	add(p, 5, UINT64_MAX, 4096, 1, -1);
	tm_offer(p->a, 5, p->a->key, 64);
	t_expect_done(p->a, MLX5_OPCODE_SEND, 0);
	while (t_poll(&p->b->cq))
		;
	t_recv_at(p->a, 8192, 8);
	tm_send(p->a, TMH_NO_TAG, 0, "x");
	t_expect_error(p->a, MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR, 0);
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, 1);
	t_assert_empty(&p->b->cq);
	assert_int_equal(p->a->hw->fin_owed, HW_FIN_NONE);
}

/* The last message in hand: its completion waits for no other. */
static void a_fin_does_not_wait_for_a_session(void **state)
{
	struct bed *p = *state;
	struct z_cq z;
	uint32_t kept;

	z_make(&z, p->t, &p->a->cq, PRM_MINI_CQE_HASH, Z_LINUX);
	kept = hw_zip(&p->t->s, p->a->cq.hw->zip)->end;
	offers(p);
	assert_int_equal(hw_zip(&p->t->s, p->a->cq.hw->zip)->end, kept);
	assert_int_equal(p->a->hw->fin_owed, HW_FIN_NONE);
}

/* In polled mode, a CQ that was armed before the post has its event at once. */
static void the_cq_is_armed_first(void **state)
{
	struct bed *p = *state;
	struct t_cq cq;

	t_cq_make(p->t, &cq, T_CQ_LOG, 64);
	p->srq.hw->cqn = cq.cqn;
	p->t->s.polled = true;
	cq.dbr[T_ARM] = 0;
	tm_send(p->a, TMH_NO_TAG, 0, "x");
	assert_int_equal(t_event(p->t, cq.evq[0]), 0);
}

/* Completions that wait in the XRQ's CQ are those of its QPs. */
static void the_end_of_a_qp_ends_a_session(void **state)
{
	static const enum prm_qp_state to[] = {PRM_QP_STATE_ERR, PRM_QP_STATE_RST};
	struct bed *p = *state;
	struct t_cq cq;
	struct z_cq z;

	t_cq_make(p->t, &cq, T_CQ_LOG, 64);
	p->srq.hw->cqn = cq.cqn;
	z_make(&z, p->t, &cq, PRM_MINI_CQE_HASH, Z_LINUX);
	for (uint32_t i = 0; i < 2; i++) {
		struct mlx5_cqe64 got;

		z_keep(&z, p->b, 1, i);
		assert_false(z_poll(&z, &got));
		assert_int_equal(eng_qp_set_state(&p->t->s, p->b->qpn, to[i]), 0);
		assert_true(z_poll(&z, &got));
	}
}

/* A key with signatures behind a header of its own: the header is read, the rest is copied. */
static void a_message_with_signatures(void **state)
{
	struct bed *p = *state;
	struct skey k = {.mem = {.kind = F_CRC32C, .ones = true}, .check = 0xff};
	struct tm_msg m = tm_header(TMH_EAGER, 5);
	struct t_sge sge[2] = {t_own(p->a, 8192, 16)};
	const uint8_t *c;

	skey_make(&k, p->a, 0);
	skey_configure(&k, mem_len(&k, 1024));
	f_image(&k.mem, p->a->mem, 1024, p->a->mem + F_KEY_AT);
	memcpy(p->a->mem + 8192, m.b, 16);
	sge[1] = (struct t_sge){k.mk->key, 0, 1024};
	add(p, 5, UINT64_MAX, 4096, 1, -1);
	next_cqe(p, CQE_TM_APPEND);
	p->tm->tag[0].len = 1024;
	t_post(p->a, &(struct t_wr){
			     .opcode = MLX5_OPCODE_SEND, .fm_ce_se = T_SIG, .sge = sge, .nsge = 2});
	c = next_cqe(p, CQE_TM_CONSUMED_MSG);
	assert_int_equal(LAYOUT_GET(cqe64, c, byte_cnt), 1024);
	assert_memory_equal(p->b->mem + 4096, p->a->mem, 1024);
}

/* A rendezvous reads other data than the queue's own: a wrong signature drains no queue. */
static void a_rendezvous_does_not_drain(void **state)
{
	struct bed *p = *state;
	struct skey k = {.mem = {.kind = F_CRC32C, .ones = true}, .check = 0xff};
	struct tm_msg m = tm_header(TMH_RNDV, 5);

	LAYOUT_SET(qpc, p->a->hw->qpc, drain_sigerr, 1);
	LAYOUT_SET(qpc, p->b->hw->qpc, offload_type, 1);
	skey_make(&k, p->a, 0);
	skey_configure(&k, mem_len(&k, 1024));
	f_image(&k.mem, p->a->mem, 1024, p->a->mem + F_KEY_AT);
	p->a->mem[F_KEY_AT] ^= 1;
	add(p, 5, UINT64_MAX, 4096, 1, -1);
	next_cqe(p, CQE_TM_APPEND);
	p->tm->tag[0].len = 1024;
	LAYOUT_SET(rvh, m.b + 16, rkey, k.mk->key);
	LAYOUT_SET(rvh, m.b + 16, len, 1024);
	t_post(p->a,
	       &(struct t_wr){
		       .opcode = MLX5_OPCODE_SEND, .fm_ce_se = T_SIG, .inl = m.b, .inl_len = 32});
	next_cqe(p, CQE_TM_CONSUMED);
	next_cqe(p, CQE_TM_EXPECTED);
	assert_int_equal(k.mk->sig_told, 1);
	assert_int_equal(t_state(p->a), PRM_QP_STATE_RTS);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_fin_comes_to_a_drained_queue),    T(a_fin_that_fails_its_qp),
		T(a_fin_does_not_wait_for_a_session), T(the_cq_is_armed_first),
		T(the_end_of_a_qp_ends_a_session),    T(a_message_with_signatures),
		T(a_rendezvous_does_not_drain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
