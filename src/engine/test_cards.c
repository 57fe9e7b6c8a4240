/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What ConnectX-5 and -6 were measured to do (unionxic/rdma-fault-characterization, experiments 05,
 * propagation, cqe_seq, ack_timeout and live_peer), in numbers that no specification has.
 */
#include "engine/test_roce.h"
#include "hw/mkey.h"
#include "hw/qctr.h"
#include "hw/qp.h"
#include <infiniband/verbs.h>

static uint8_t vendor_err(struct t_qp *q)
{
	struct mlx5_err_cqe *e = (void *)t_poll(&q->cq);

	assert_non_null(e);
	return e->vendor_err_synd;
}

static void post(struct t_pair *p, uint8_t opcode, struct t_sge sge, uint32_t rkey)
{
	t_post(p->a, &(struct t_wr){.opcode = opcode,
				    .raddr = (uintptr_t)p->b->mem,
				    .rkey = rkey,
				    .sge = &sge,
				    .nsge = 1});
}

static void own_keys(void **state)
{
	static const struct {
		uint8_t opcode;
		bool unknown, short_key;
		uint32_t access; /* 0: as it was */
		uint8_t vendor_err;
	} rows[] = {
		{MLX5_OPCODE_SEND, true, false, 0, 0x52},
		{MLX5_OPCODE_RDMA_WRITE, true, false, 0, 0x52},
		{MLX5_OPCODE_SEND, false, true, 0, 0x53},
		{MLX5_OPCODE_RDMA_WRITE, false, true, 0, 0x53},
		{MLX5_OPCODE_RDMA_READ, true, false, 0, 0x32},
		{MLX5_OPCODE_RDMA_READ, false, true, 0, 0x33},
		{MLX5_OPCODE_RDMA_READ, false, false, HW_ACC_LOCAL_READ, 0x33},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct hw_qctr *b;
		struct t_pair *p;
		struct t_sge sge;

		t_pair_setup((void **)&p);
		b = t_counters(p->t, p->b);
		t_recv_at(p->b, 0, 64);
		sge = t_own(p->a, 0, 64);
		if (rows[i].unknown)
			sge.key ^= 0xff;
		if (rows[i].short_key)
			hw_mkey(&p->t->s, sge.key)->len = 63;
		if (rows[i].access)
			hw_mkey(&p->t->s, sge.key)->access = rows[i].access;
		p->a->mem[0] = 'x';
		post(p, rows[i].opcode, sge, p->b->key);
		assert_int_equal(vendor_err(p->a), rows[i].vendor_err);
		assert_int_equal(p->a->mem[0], 'x');
		assert_int_equal(b->n[HW_QC_RX_READ_REQUESTS],
				 rows[i].opcode == MLX5_OPCODE_RDMA_READ);
		t_pair_teardown((void **)&p);
	}
}

static void receives(void **state)
{
	struct t_pair *p = *state;

	t_recv_at(p->b, 0, 64);
	hw_mkey(&p->t->s, p->b->key)->access = HW_ACC_LOCAL_READ;
	post(p, MLX5_OPCODE_SEND, t_own(p->a, 0, 64), 0);
	assert_int_equal(vendor_err(p->b), 0x33);
	assert_int_equal(vendor_err(p->a), 0x89);
}

/* 32 outstanding: +32 and +31; one: +1 and +0. */
static void the_program_moves_the_qp_to_err(void **state)
{
	for (uint32_t n = 1; n <= 32; n += 31) {
		struct t_sge sge;
		struct hw_qctr *a;
		struct t_pair *p;

		t_pair_setup((void **)&p);
		a = t_counters(p->t, p->a);
		sge = t_own(p->a, 0, 8);
		p->a->hw->rnr_retry = 7;
		for (uint32_t i = 0; i < n; i++)
			t_post_quiet(
				p->a,
				&(struct t_wr){.opcode = MLX5_OPCODE_SEND, .sge = &sge, .nsge = 1});
		t_ring(p->a);
		t_assert_empty(&p->a->cq);
		assert_int_equal(eng_qp_set_state(&p->t->s, p->a->qpn, PRM_QP_STATE_ERR), 0);
		assert_int_equal(vendor_err(p->a), 0xf5);
		for (uint32_t i = 1; i < n; i++)
			assert_int_equal(vendor_err(p->a), 0xf9);
		t_assert_empty(&p->a->cq);
		assert_int_equal(a->n[HW_QC_REQ_CQE_ERROR], n);
		assert_int_equal(a->n[HW_QC_REQ_CQE_FLUSH_ERROR], n - 1);
		t_pair_teardown((void **)&p);
	}
}

/* Behind a WQE that failed, no flushed one is the first. */
static void a_wqe_fails(void **state)
{
	struct t_pair *p = *state;
	struct hw_qctr *a = t_counters(p->t, p->a), *b = t_counters(p->t, p->b);
	struct t_sge sge = t_own(p->a, 0, 8);

	t_post_quiet(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_RDMA_WRITE,
					  .raddr = (uintptr_t)p->b->mem,
					  .rkey = p->b->key ^ 0xff,
					  .sge = &sge,
					  .nsge = 1});
	t_post_quiet(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .sge = &sge, .nsge = 1});
	t_ring(p->a);
	assert_int_equal(vendor_err(p->a), 0x88);
	assert_int_equal(vendor_err(p->a), 0xf9);
	assert_int_equal(eng_qp_set_state(&p->t->s, p->a->qpn, PRM_QP_STATE_ERR), 0);
	t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .sge = &sge, .nsge = 1});
	assert_int_equal(vendor_err(p->a), 0xf9);
	assert_int_equal(a->n[HW_QC_REQ_CQE_ERROR], 3);
	assert_int_equal(a->n[HW_QC_REQ_CQE_FLUSH_ERROR], 2);
	assert_int_equal(a->n[HW_QC_REQ_REMOTE_ACCESS_ERRORS], 1);
	assert_int_equal(b->n[HW_QC_RX_WRITE_REQUESTS], 1);
	assert_int_equal(b->n[HW_QC_RESP_REMOTE_ACCESS_ERRORS], 0);
	assert_int_equal(b->n[HW_QC_RESP_CQE_ERROR], 0);
}

static void the_qp_has_no_right(void **state)
{
	static const uint8_t ops[] = {MLX5_OPCODE_RDMA_WRITE, MLX5_OPCODE_RDMA_READ,
				      MLX5_OPCODE_RDMA_WRITE_IMM};

	for (size_t i = 0; i < sizeof(ops); i++) {
		struct hw_qctr *a, *b;
		struct t_pair *p;

		t_pair_setup((void **)&p);
		a = t_counters(p->t, p->a);
		b = t_counters(p->t, p->b);
		p->b->hw->rwe = p->b->hw->rre = 0;
		post(p, ops[i], t_own(p->a, 0, 8), p->b->key);
		assert_int_equal(vendor_err(p->a), 0x8a);
		assert_int_equal(t_event(p->t, p->b->evq), IBV_EVENT_QP_REQ_ERR);
		assert_int_equal(a->n[HW_QC_REQ_REMOTE_INVALID_REQUEST], 1);
		assert_int_equal(a->n[HW_QC_REQ_REMOTE_ACCESS_ERRORS], 0);
		assert_int_equal(b->n[HW_QC_RX_WRITE_REQUESTS] + b->n[HW_QC_RX_READ_REQUESTS], 0);
		t_pair_teardown((void **)&p);
	}
}

/* ---- no answer, on RoCE */

#define MS NSEC_PER_MSEC

/* Two QPs of Ethernet ports, and the other's port has no link. */
static void roce_pair(struct tb *t, struct t_qp **a, struct t_qp **b, uint8_t retry_cnt)
{
	*a = t_qp_make(t, 0, PRM_ST_RC, NULL);
	*b = t_qp_make(t, 1, PRM_ST_RC, NULL);
	roce_connect(*a, *b, V2_IP4);
	(*a)->hw->path[0].ack_timeout = 14;
	(*a)->hw->retry_count = retry_cnt;
	assert_int_equal(fab_eth_link(&t->s, t->port[1], false), 0);
}

static void write_8(struct t_qp *a, struct t_qp *b)
{
	struct t_sge sge = t_own(a, 0, 8);

	t_post(a, &(struct t_wr){.opcode = MLX5_OPCODE_RDMA_WRITE,
				 .fm_ce_se = T_SIG,
				 .raddr = (uintptr_t)b->mem,
				 .rkey = b->key,
				 .sge = &sge,
				 .nsge = 1});
}

/* How long until the WRITE fails; each time that is due passes. */
static uint64_t until_it_fails(struct t_qp *a)
{
	uint64_t begin = t_now, due;
	struct mlx5_err_cqe *e;

	for (;;) {
		due = eng_run_due(&a->t->s);
		e = (void *)t_poll(&a->cq);
		if (e)
			break;
		assert_int_not_equal(due, UINT64_MAX);
		t_now = due;
	}
	assert_int_equal(e->syndrome, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR);
	assert_int_equal(e->vendor_err_synd, 0x81);
	return t_now - begin;
}

static void roce_waits_and_adapts(void **state)
{
	static const struct {
		uint8_t retry_cnt, ack_timeout;
		uint64_t least, most;
		uint32_t timeouts;
	} rows[] = {
		{7, 14, 3500 * MS, 3900 * MS, 6},
		{3, 14, 1350 * MS, 1510 * MS, 2},
		{7, 1, 3500 * MS, 3900 * MS, 6},
		{7, 16, 3500 * MS, 3900 * MS, 6},
		/* inferred */
		{7, 17, 6700 * MS, 7000 * MS, 6},
		{1, 14, 800 * MS, 1000 * MS, 1},
		{0, 14, 500 * MS, 600 * MS, 1},
	};
	struct tb *t = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct t_qp *a, *b;
		struct hw_qctr *n;
		uint64_t ns;

		roce_pair(t, &a, &b, rows[i].retry_cnt);
		a->hw->path[0].ack_timeout = rows[i].ack_timeout;
		n = t_counters(t, a);
		write_8(a, b);
		ns = until_it_fails(a);
		assert_true(ns >= rows[i].least && ns <= rows[i].most);
		assert_int_equal(n->n[HW_QC_LOCAL_ACK_TIMEOUT_ERR], rows[i].timeouts);
		assert_int_equal(n->n[HW_QC_REQ_TRANSPORT_RETRIES_EXCEEDED], 1);
		assert_int_equal(n->n[HW_QC_ROCE_ADP_RETRANS_TO], rows[i].retry_cnt != 0);
		if (rows[i].retry_cnt) {
			assert_true(n->n[HW_QC_ROCE_ADP_RETRANS] >= 4);
			assert_true(n->n[HW_QC_ROCE_ADP_RETRANS] <= 8);
		}
		t_qp_free(a);
		t_qp_free(b);
	}
}

/* 0, or switched off: as specified, and as InfiniBand. */
static void roce_without_adaptive_retransmission(void **state)
{
	struct tb *t = *state;
	struct t_qp *a, *b;
	struct hw_qctr *n;

	t->s.plain_timers = true;
	roce_pair(t, &a, &b, 7);
	n = t_counters(t, a);
	write_8(a, b);
	assert_int_equal(until_it_fails(a), 8 * (UINT64_C(4096) << 14));
	assert_int_equal(n->n[HW_QC_ROCE_ADP_RETRANS] + n->n[HW_QC_ROCE_ADP_RETRANS_TO], 0);
	assert_int_equal(n->n[HW_QC_LOCAL_ACK_TIMEOUT_ERR], 8);
	t->s.plain_timers = false;
	t_qp_free(a);
	t_qp_free(b);
	roce_pair(t, &a, &b, 7);
	a->hw->path[0].ack_timeout = 0;
	write_8(a, b);
	assert_int_equal(a->hw->park, HW_PARK_RETRY);
	assert_true(a->hw->park_deadline == UINT64_MAX); /* for ever */
	t_qp_free(a);
	t_qp_free(b);
}

static void roce_comes_back_after_1250_ms(void **state)
{
	struct tb *t = *state;
	struct t_qp *a, *b;
	uint64_t back = t_now + 1250 * MS;
	struct hw_qctr *n;

	roce_pair(t, &a, &b, 7);
	n = t_counters(t, a);
	write_8(a, b);
	for (uint64_t due = eng_run_due(&t->s); due < back; due = eng_run_due(&t->s))
		t_now = due > t_now ? due : t_now;
	t_assert_empty(&a->cq);
	t_now = back;
	assert_int_equal(fab_eth_link(&t->s, t->port[1], true), 0);
	t_now = eng_run_due(&t->s);
	eng_run_due(&t->s);
	t_expect_done(a, MLX5_OPCODE_RDMA_WRITE, 0);
	/* The repetition that had the answer counts, too. */
	assert_int_equal(n->n[HW_QC_ROCE_ADP_RETRANS_TO], 1);
	assert_int_equal(n->n[HW_QC_LOCAL_ACK_TIMEOUT_ERR], 2);
	t_qp_free(a);
	t_qp_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_keys),
		cmocka_unit_test_setup_teardown(receives, t_pair_setup, t_pair_teardown),
		cmocka_unit_test(the_program_moves_the_qp_to_err),
		cmocka_unit_test_setup_teardown(a_wqe_fails, t_pair_setup, t_pair_teardown),
		cmocka_unit_test(the_qp_has_no_right),
		cmocka_unit_test_setup_teardown(roce_waits_and_adapts, roce_setup, tb_teardown),
		cmocka_unit_test_setup_teardown(roce_without_adaptive_retransmission, roce_setup,
						tb_teardown),
		cmocka_unit_test_setup_teardown(roce_comes_back_after_1250_ms, roce_setup,
						tb_teardown),
	};

	return cmocka_run_group_tests_name("engine cards", tests, NULL, NULL);
}
