/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* RC between two QPs of one process: every opcode, and where its data and completions go. */
#include "engine/test.h"
#include "hw/cq.h"
#include "hw/flags.h"
#include "hw/port.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include <pthread.h>

static void send_one(void **state)
{
	struct t_pair *p = *state;
	struct t_sge sge = t_own(p->a, 100, 3000);
	struct mlx5_cqe64 *c;

	t_recv_at(p->b, 512, 4096);
	t_post(p->a,
	       &(struct t_wr){
		       .opcode = MLX5_OPCODE_SEND, .fm_ce_se = T_SIG, .sge = &sge, .nsge = 1});
	c = t_received(p->b, MLX5_CQE_RESP_SEND, 3000, 0);
	assert_int_equal(be32toh(c->flags_rqpn) & 0xffffff, p->a->qpn);
	assert_int_equal(be16toh(c->slid), hw_port(&p->t->s, p->t->port[0])->lid);
	assert_int_equal(be64toh(c->timestamp), t_now);
	t_expect_done(p->a, MLX5_OPCODE_SEND, 0);
	assert_memory_equal(p->b->mem + 512, p->a->mem + 100, 3000);
	assert_int_equal(p->b->mem[512 + 3000], 0);
	t_assert_empty(&p->a->cq);
	t_assert_empty(&p->b->cq);
	/* 3000 bytes are 3 packets. */
	assert_int_equal(p->a->hw->next_send_psn, (0xfffff0 + (p->a->qpn & 7) + 3) & 0xffffff);
	assert_int_equal(p->b->hw->next_rcv_psn, p->a->hw->next_send_psn);
	assert_int_equal(p->b->hw->msn, 1);
}

static void send_imm_solicited(void **state)
{
	struct t_pair *p = *state;
	struct t_sge sge = t_own(p->a, 0, 8);
	struct mlx5_cqe64 *c;

	t_recv_at(p->b, 0, 8);
	t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND_IMM,
				    .fm_ce_se = T_SIG | T_SOL,
				    .imm = 0x12345678,
				    .sge = &sge,
				    .nsge = 1});
	c = t_received(p->b, MLX5_CQE_RESP_SEND_IMM, 8, 0);
	assert_int_equal(be32toh(c->imm_inval_pkey), 0x12345678);
	assert_int_equal(mlx5dv_get_cqe_se(c), 1);
	t_expect_done(p->a, MLX5_OPCODE_SEND_IMM, 0);
}

static void write_then_read(void **state)
{
	struct t_pair *p = *state;
	struct t_sge sge = t_own(p->a, 64, 5000), back = t_own(p->a, 20000, 5000);
	struct mlx5_cqe64 *c;

	t_write(p->a, p->b, 9, sge);
	t_expect_done(p->a, MLX5_OPCODE_RDMA_WRITE, 0);
	assert_memory_equal(p->b->mem + 9, p->a->mem + 64, 5000);
	t_read(p->a, p->b, 9, back);
	c = t_poll(&p->a->cq);
	assert_non_null(c);
	assert_int_equal(be32toh(c->sop_drop_qpn) >> 24, MLX5_OPCODE_RDMA_READ);
	assert_int_equal(be32toh(c->byte_cnt), 5000);
	assert_memory_equal(p->a->mem + 20000, p->a->mem + 64, 5000);
	t_assert_empty(&p->b->cq);
}

static void write_imm_consumes_a_receive(void **state)
{
	struct t_pair *p = *state;
	struct t_sge sge = t_own(p->a, 0, 100);
	struct mlx5_cqe64 *c;

	t_recv(p->b, NULL, 0);
	t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_RDMA_WRITE_IMM,
				    .fm_ce_se = T_SIG,
				    .imm = 77,
				    .raddr = (uintptr_t)p->b->mem,
				    .rkey = p->b->key,
				    .sge = &sge,
				    .nsge = 1});
	c = t_received(p->b, MLX5_CQE_RESP_WR_IMM, 100, 0);
	assert_int_equal(be32toh(c->imm_inval_pkey), 77);
	assert_memory_equal(p->b->mem, p->a->mem, 100);
	t_expect_done(p->a, MLX5_OPCODE_RDMA_WRITE_IMM, 0);
}

static void unsignaled_gives_no_completion(void **state)
{
	struct t_pair *p = *state;
	struct t_sge sge = t_own(p->a, 0, 4);

	t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_RDMA_WRITE,
				    .fm_ce_se = 0,
				    .raddr = (uintptr_t)p->b->mem,
				    .rkey = p->b->key,
				    .sge = &sge,
				    .nsge = 1});
	t_assert_empty(&p->a->cq);
	assert_memory_equal(p->b->mem, p->a->mem, 4);
	t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
	t_expect_done(p->a, MLX5_OPCODE_NOP, 1);
}

static void lists_on_both_ends(void **state)
{
	struct t_pair *p = *state;
	struct t_sge from[3] = {t_own(p->a, 0, 10), t_own(p->a, 100, 1), t_own(p->a, 200, 50)};
	struct t_sge to[3] = {t_own(p->b, 0, 5), t_own(p->b, 100, 30), t_own(p->b, 200, 100)};

	t_recv(p->b, to, 3);
	t_post(p->a,
	       &(struct t_wr){
		       .opcode = MLX5_OPCODE_SEND, .fm_ce_se = T_SIG, .sge = from, .nsge = 3});
	t_received(p->b, MLX5_CQE_RESP_SEND, 61, 0);
	assert_memory_equal(p->b->mem, p->a->mem, 5);
	assert_memory_equal(p->b->mem + 100, p->a->mem + 5, 5);
	assert_memory_equal(p->b->mem + 105, p->a->mem + 100, 1);
	assert_memory_equal(p->b->mem + 106, p->a->mem + 200, 24);
	assert_memory_equal(p->b->mem + 200, p->a->mem + 224, 26);
	assert_int_equal(p->b->mem[226], 0);
}

static void zero_length(void **state)
{
	struct t_pair *p = *state;

	t_recv(p->b, NULL, 0);
	t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .fm_ce_se = T_SIG});
	t_received(p->b, MLX5_CQE_RESP_SEND, 0, 0);
	t_expect_done(p->a, MLX5_OPCODE_SEND, 0);
	/* The keys of empty messages are not checked. */
	t_post(p->a,
	       &(struct t_wr){.opcode = MLX5_OPCODE_RDMA_WRITE, .fm_ce_se = T_SIG, .rkey = 0xdead});
	t_expect_done(p->a, MLX5_OPCODE_RDMA_WRITE, 1);
	t_post(p->a,
	       &(struct t_wr){.opcode = MLX5_OPCODE_RDMA_READ, .fm_ce_se = T_SIG, .rkey = 0xdead});
	t_expect_done(p->a, MLX5_OPCODE_RDMA_READ, 2);
	assert_int_equal(p->b->hw->next_rcv_psn, p->a->hw->next_send_psn);
}

/*
 * Inline data of every length up to a few blocks, at every place in the queue, also around its end.
 */
static void inline_wraps(void **state)
{
	struct t_pair *p = *state;
	uint8_t data[200];

	for (uint32_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i + 1);
	for (uint32_t n = 1; n <= sizeof(data); n++) {
		uint32_t at;

		memset(p->b->mem, 0, 256);
		t_recv_at(p->b, 0, 256);
		at = t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND,
						 .fm_ce_se = T_SIG,
						 .inl = data,
						 .inl_len = n});
		t_received(p->b, MLX5_CQE_RESP_SEND, n, n - 1);
		t_expect_done(p->a, MLX5_OPCODE_SEND, at);
		assert_memory_equal(p->b->mem, data, n);
		assert_int_equal(p->b->mem[n], 0);
	}
}

/* 16-bit counters of both queues wrap, both CQs go round. */
static void counters_wrap(void **state)
{
	struct t_pair *p = *state;
	uint32_t i;

	atomic_store(&p->a->hw->sq_pi, 0xfff0);
	atomic_store(&p->a->hw->sq_ci, 0xfff0);
	atomic_store(&p->b->hw->rq_ci, 0xfff8);
	p->a->sq_pi = 0xfff0;
	p->b->rq_pi = 0xfff8;
	for (i = 0; i < 200; i++) {
		uint32_t at;

		t_recv_at(p->b, 0, 16);
		memcpy(p->a->mem, &i, sizeof(i));
		at = t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND,
						 .fm_ce_se = T_SIG,
						 .sge = (struct t_sge[]){t_own(p->a, 0, 16)},
						 .nsge = 1});
		assert_int_equal(at, (0xfff0 + i) & 0xffff);
		t_received(p->b, MLX5_CQE_RESP_SEND, 16, 0xfff8 + i);
		t_expect_done(p->a, MLX5_OPCODE_SEND, at);
		assert_memory_equal(p->b->mem, &i, sizeof(i));
	}
	t_assert_empty(&p->a->cq);
	t_assert_empty(&p->b->cq);
}

/* Several WQEs, one doorbell. */
static void batch(void **state)
{
	struct t_pair *p = *state;
	uint32_t i;

	for (i = 0; i < 10; i++) {
		struct t_sge sge = t_own(p->a, i * 8, 8);

		t_recv_at(p->b, i * 8, 8);
		t_post_quiet(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND,
						  .fm_ce_se = i == 9 ? T_SIG : 0,
						  .sge = &sge,
						  .nsge = 1});
	}
	t_ring(p->a);
	for (i = 0; i < 10; i++)
		t_received(p->b, MLX5_CQE_RESP_SEND, 8, i);
	t_expect_done(p->a, MLX5_OPCODE_SEND, 9);
	assert_memory_equal(p->b->mem, p->a->mem, 80);
}

static void loopback_to_itself(void **state)
{
	struct t_pair *p = *state;
	struct t_qp *q = t_qp_make(p->t, 0, PRM_ST_RC, NULL);
	struct t_sge sge = t_own(q, 0, 100);

	t_rts(q, q);
	memset(q->mem, 0x5a, 100);
	t_recv_at(q, 1000, 100);
	t_post(q, &(struct t_wr){
			  .opcode = MLX5_OPCODE_SEND, .fm_ce_se = T_SIG, .sge = &sge, .nsge = 1});
	t_received(q, MLX5_CQE_RESP_SEND, 100, 0);
	t_expect_done(q, MLX5_OPCODE_SEND, 0);
	assert_memory_equal(q->mem + 1000, q->mem, 100);
	t_qp_free(q);
}

/* A doorbell that rings in RTR is lost; the next one brings its WQE, too. */
static void a_doorbell_before_rts_is_lost(void **state)
{
	struct t_pair *p = *state;
	struct t_qp *c = t_qp_make(p->t, 0, PRM_ST_RC, NULL);

	t_rts(c, c);
	assert_int_equal(eng_qp_set_state(&p->t->s, c->qpn, PRM_QP_STATE_RTR), 0);
	t_recv_at(c, 0, 8);
	t_post(c,
	       &(struct t_wr){
		       .opcode = MLX5_OPCODE_SEND, .fm_ce_se = T_SIG, .inl = "abc", .inl_len = 4});
	assert_int_equal(eng_qp_set_state(&p->t->s, c->qpn, PRM_QP_STATE_RTS), 0);
	t_assert_empty(&c->cq);
	t_post(c, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
	t_received(c, MLX5_CQE_RESP_SEND, 4, 0);
	t_qp_free(c);
}

/* The doorbell's store, as the shim passes it on. */
static void uar_store(void **state)
{
	struct t_pair *p = *state;
	uint64_t be;

	t_post_quiet(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
	memcpy(&be, p->a->sq, sizeof(be));
	eng_uar_write(&p->t->s, T_UAR, 0x808, be); /* the second qword of a copy */
	t_assert_empty(&p->a->cq);
	eng_uar_write(&p->t->s, T_UAR + 1, 0x900, be); /* not the QP's uar_page */
	t_assert_empty(&p->a->cq);
	eng_uar_write(&p->t->s, T_UAR, 0x900, be);
	t_expect_done(p->a, MLX5_OPCODE_NOP, 0);
	eng_uar_write(&p->t->s, T_UAR, 0x800, UINT64_MAX); /* nobody's */
}

static void poll_mode(void **state)
{
	struct t_pair *p = *state;

	assert_false(eng_poll_doorbells(&p->t->s));
	t_post_quiet(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
	assert_true(eng_poll_doorbells(&p->t->s));
	t_expect_done(p->a, MLX5_OPCODE_NOP, 0);
	assert_false(eng_poll_doorbells(&p->t->s));
	/* The first ARM record that a program writes may be 0. */
	p->a->cq.dbr[T_ARM] = htobe32(0);
	assert_true(eng_poll_doorbells(&p->t->s));
	assert_false(eng_poll_doorbells(&p->t->s));
	assert_int_equal(t_event(p->t, p->a->cq.evq[0]), 0);
}

/* The record of a CQ in the making is not the program's yet: it must not arm the CQ. */
static void poll_mode_beside_create_cq(void **state)
{
	struct t_pair *p = *state;
	struct t_cq *cq = &p->a->cq;

	cq->hw->flags = 0;
	cq->dbr[T_ARM] = htobe32(0);
	assert_false(eng_poll_doorbells(&p->t->s));
	assert_int_equal(eng_cq_created(&p->t->s, cq->cqn), 0);
	cq->hw->flags = HW_F_READY;
	assert_false(eng_poll_doorbells(&p->t->s));
	assert_int_equal(cq->hw->armed & HW_CQ_ARMED, 0);
}

static const struct t_wr nop = {.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG};

/*
 * Through RST, as UCX does with DCIs: the old record stays and the queue is empty
 * (uct_dc_mlx5_iface_reset_dci()).
 */
static void reset(struct t_pair *p, uint32_t record)
{
	assert_int_equal(eng_qp_set_state(&p->t->s, p->a->qpn, PRM_QP_STATE_RST), 0);
	memset(p->a->sq, 0, WQE_BB << T_SQ_LOG);
	p->a->sq_pi = 0;
	p->a->dbr[MLX5_SND_DBR] = htobe32(record);
	t_rts(p->a, p->b);
}

static void a_record_is_not_looked_at_before_the_doorbell(void **state)
{
	struct t_pair *p = *state;

	for (uint32_t i = 0; i < 3; i++)
		t_expect_done(p->a, MLX5_OPCODE_NOP, t_post(p->a, &nop));
	for (uint32_t record = 1; record < 4; record++) {
		reset(p, record);
		eng_run_due(&p->t->s);
		t_assert_empty(&p->a->cq);
		assert_int_equal(p->a->hw->state, PRM_QP_STATE_RTS);
		for (uint32_t i = 0; i < 3; i++)
			t_expect_done(p->a, MLX5_OPCODE_NOP, t_post(p->a, &nop));
		t_assert_empty(&p->a->cq);
	}
}

/* As a card's program rings: the control segment says how far, and the record stays as it is. */
static void ring_to(struct t_pair *p, uint32_t index, uint32_t ds)
{
	const uint32_t ctrl[2] = {htobe32(index << 8), htobe32(p->a->qpn << 8 | ds)};
	uint64_t v;

	memcpy(&v, ctrl, sizeof(v));
	eng_uar_write(&p->t->s, T_UAR, 0x800, v);
}

/*
 * Measured on ConnectX-5 and -6 (unionxic/rdma-fault-characterization, nvshmem_rootcause): good
 * traffic goes as far as the doorbell's own index, whatever the record.
 */
static void the_doorbell_says_how_far(void **state)
{
	static const uint32_t records[] = {0, 1, 2, 3, 0xffff};

	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		struct t_pair *p = *state;

		reset(p, 0);
		for (uint32_t k = 0; k < 4; k++)
			t_post_quiet(p->a, &nop);
		p->a->dbr[1] = htobe32(records[i]);
		ring_to(p, 1, 1);
		t_expect_done(p->a, MLX5_OPCODE_NOP, 0);
		t_expect_done(p->a, MLX5_OPCODE_NOP, 1);
		t_assert_empty(&p->a->cq);
		ring_to(p, 4, 0); /* NVSHMEM's */
		t_expect_done(p->a, MLX5_OPCODE_NOP, 2);
		t_expect_done(p->a, MLX5_OPCODE_NOP, 3);
		t_assert_empty(&p->a->cq);
	}
}

/* A wrong lkey at index 1 of 4, rung for as a whole; the record counts what is flushed. */
static void in_err_the_record_says_how_far(void **state)
{
	for (uint32_t record = 0; record < 7; record++) {
		struct t_pair *p = *state;
		struct t_sge sge = {0x77777700, (uintptr_t)p->a->mem, 8};
		uint32_t i = 1;

		reset(p, 0);
		for (uint32_t k = 0; k < 6; k++)
			t_post_quiet(p->a, k == 1 ? &(struct t_wr){.opcode = MLX5_OPCODE_SEND,
								   .sge = &sge,
								   .nsge = 1}
						  : &nop);
		p->a->dbr[1] = htobe32(record);
		ring_to(p, 3, 1);
		t_expect_done(p->a, MLX5_OPCODE_NOP, 0);
		assert_int_equal(t_state(p->a), PRM_QP_STATE_ERR);
		for (; i < record; i++)
			t_expect_error(p->a, MLX5_CQE_REQ_ERR,
				       i == 1 ? MLX5_CQE_SYNDROME_LOCAL_PROT_ERR
					      : MLX5_CQE_SYNDROME_WR_FLUSH_ERR,
				       i);
		t_assert_empty(&p->a->cq);
		/* raised, without a doorbell */
		p->a->dbr[1] = htobe32(6);
		assert_true(eng_run_due(&p->t->s) <= t_now + NSEC_PER_MSEC);
		for (; i < 6; i++)
			t_expect_error(p->a, MLX5_CQE_REQ_ERR,
				       i == 1 ? MLX5_CQE_SYNDROME_LOCAL_PROT_ERR
					      : MLX5_CQE_SYNDROME_WR_FLUSH_ERR,
				       i);
		t_assert_empty(&p->a->cq);
	}
}

/* The next record may equal the one that a reset left: polled doorbells tell them apart. */
static void polled_records_count_from_rts_on(void **state)
{
	struct t_pair *p = *state;

	p->t->s.polled = true;
	for (uint32_t record = 0; record < 4; record++) {
		reset(p, record);
		assert_false(eng_poll_doorbells(&p->t->s));
		t_assert_empty(&p->a->cq);
		for (uint32_t i = 0; i < 3; i++) {
			uint32_t at = t_post_quiet(p->a, &nop);

			assert_true(eng_poll_doorbells(&p->t->s));
			t_expect_done(p->a, MLX5_OPCODE_NOP, at);
			assert_false(eng_poll_doorbells(&p->t->s));
		}
		assert_int_equal(eng_qp_set_state(&p->t->s, p->a->qpn, PRM_QP_STATE_ERR), 0);
		assert_false(eng_poll_doorbells(&p->t->s));
		t_post_quiet(p->a, &nop);
		assert_true(eng_poll_doorbells(&p->t->s));
		t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, 3);
		t_assert_empty(&p->a->cq);
	}
}

/* The poller reads a value that was stored before the reset. */
static void a_polled_doorbell_from_before_a_reset(void **state)
{
	struct t_pair *p = *state;

	p->t->s.polled = true;
	t_post_quiet(p->a, &nop);
	assert_true(eng_poll_doorbells(&p->t->s));
	t_expect_done(p->a, MLX5_OPCODE_NOP, 0);
	reset(p, 1);
	t_ring(p->a);
	t_assert_empty(&p->a->cq);
	assert_int_equal(p->a->hw->state, PRM_QP_STATE_RTS);
	t_expect_done(p->a, MLX5_OPCODE_NOP, t_post(p->a, &nop));
	/* ... or during the reset */
	assert_int_equal(eng_qp_set_state(&p->t->s, p->a->qpn, PRM_QP_STATE_RST), 0);
	t_ring(p->a);
	reset(p, 1);
	t_assert_empty(&p->a->cq);
	assert_int_equal(p->a->hw->state, PRM_QP_STATE_RTS);
}

/* The device thread and a second thread ring beside the poster: every message once, in order. */
static _Atomic bool stop_ringing;

static void *ringer(void *arg)
{
	struct t_pair *p = arg;

	while (!stop_ringing) {
		t_ring(p->a);
		eng_run_due(&p->t->s);
		eng_poll_doorbells(&p->t->s);
	}
	return NULL;
}

static void many_ringers(void **state)
{
	struct t_pair *p = *state;
	pthread_t thread[2];

	stop_ringing = false;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, ringer, p), 0);
	for (uint32_t i = 0; i < 2000; i++) {
		uint64_t give_up = clock_now_ns() + 60 * NSEC_PER_SEC;
		struct mlx5_cqe64 *c;

		t_recv_at(p->b, 0, 16);
		t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND,
					    .fm_ce_se = T_SIG,
					    .inl = &i,
					    .inl_len = sizeof(i)});
		while (!(c = t_poll(&p->b->cq)))
			assert_true(clock_now_ns() < give_up);
		assert_int_equal(be16toh(c->wqe_counter), i);
		assert_memory_equal(p->b->mem, &i, sizeof(i));
		while (!(c = t_poll(&p->a->cq)))
			assert_true(clock_now_ns() < give_up);
		assert_int_equal(be16toh(c->wqe_counter), i);
	}
	stop_ringing = true;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	t_assert_empty(&p->b->cq);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, t_pair_setup, t_pair_teardown)
	const struct CMUnitTest tests[] = {
		T(send_one),
		T(send_imm_solicited),
		T(write_then_read),
		T(write_imm_consumes_a_receive),
		T(unsignaled_gives_no_completion),
		T(lists_on_both_ends),
		T(zero_length),
		T(inline_wraps),
		T(counters_wrap),
		T(batch),
		T(loopback_to_itself),
		T(a_doorbell_before_rts_is_lost),
		T(a_record_is_not_looked_at_before_the_doorbell),
		T(the_doorbell_says_how_far),
		T(in_err_the_record_says_how_far),
		T(polled_records_count_from_rts_on),
		T(a_polled_doorbell_from_before_a_reset),
		T(uar_store),
		T(poll_mode),
		T(poll_mode_beside_create_cq),
		T(many_ringers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
