/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * XRC: requests that name an SRQ, with one initiator and a target QP with two SRQs in its domain.
 */
#include "engine/test.h"
#include "hw/flags.h"
#include "hw/mkey.h"
#include "hw/qctr.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "hw/srq.h"

#include <string.h>

#define DOMAIN 7

struct xrc {
	struct tb *t;
	struct t_qp *ini, *tgt;
	struct t_srq srq[2];
	struct t_cq cq[2];
	uint32_t pd; /* the SRQs' PD, not the target QP's */
	uint8_t *mem;
	uint32_t key;
};

static int setup(void **state)
{
	struct xrc *x = calloc(1, sizeof(*x));

	assert_non_null(x);
	x->t = tb_create();
	x->ini = t_qp_make(x->t, 0, PRM_ST_XRC, NULL);
	x->tgt = t_qp_make(x->t, 1, PRM_ST_XRC, NULL);
	x->tgt->hw->xrcd = DOMAIN;
	x->tgt->hw->no_rq = x->tgt->hw->no_sq = 1;
	assert_int_equal(seg_alloc(&x->t->s, SEG_T_PD, T_OWNER, &x->pd), 0);
	x->mem = x->tgt->mem;
	x->key = t_key(x->t, x->pd, x->mem, T_MEM,
		       HW_ACC_LOCAL_WRITE | HW_ACC_REMOTE_READ | HW_ACC_REMOTE_WRITE);
	for (int i = 0; i < 2; i++) {
		struct hw_srq *hw;

		t_srq_make(x->t, &x->srq[i], x->pd);
		t_cq_make(x->t, &x->cq[i], T_CQ_LOG, 64);
		hw = x->srq[i].hw;
		hw->type = HW_SRQ_XRC;
		hw->hca = x->tgt->hw->hca;
		hw->xrcd = DOMAIN;
		hw->cqn = x->cq[i].cqn;
		hw->user_index = 0x500 + (uint32_t)i;
		hw->flags = HW_F_READY;
	}
	t_connect(x->ini, x->tgt);
	*state = x;
	return 0;
}

static int teardown(void **state)
{
	struct xrc *x = *state;

	t_qp_free(x->ini);
	t_qp_free(x->tgt);
	tb_destroy(x->t);
	free(x);
	return 0;
}

static void send_to(struct xrc *x, uint32_t srqn, const char *text)
{
	t_post(x->ini, &(struct t_wr){.opcode = MLX5_OPCODE_SEND,
				      .fm_ce_se = T_SIG,
				      .xrc_srqn = srqn,
				      .inl = text,
				      .inl_len = (uint32_t)strlen(text)});
}

static struct mlx5_cqe64 *got(struct xrc *x, int i)
{
	struct mlx5_cqe64 *c = t_poll(&x->cq[i]);

	assert_non_null(c);
	assert_int_equal(be32toh(c->srqn_uidx) & 0xffffff, 0x500 + (uint32_t)i);
	assert_int_equal(be32toh(c->sop_drop_qpn) & 0xffffff, x->tgt->qpn);
	return c;
}

static void a_message_goes_to_the_srq_that_it_names(void **state)
{
	struct xrc *x = *state;
	struct mlx5_cqe64 *c;

	t_srq_post(&x->srq[0], x->key, x->mem, 64);
	t_srq_post(&x->srq[1], x->key, x->mem + 64, 64);
	send_to(x, x->srq[1].srqn, "one");
	t_expect_done(x->ini, MLX5_OPCODE_SEND, 0);
	c = got(x, 1);
	assert_int_equal(mlx5dv_get_cqe_opcode(c), MLX5_CQE_RESP_SEND);
	assert_int_equal(be32toh(c->byte_cnt), 3);
	assert_int_equal(be16toh(c->wqe_counter), 0);
	assert_memory_equal(x->mem + 64, "one", 3);
	send_to(x, x->srq[0].srqn, "two");
	got(x, 0);
	assert_memory_equal(x->mem, "two", 3);
	t_assert_empty(&x->tgt->cq);
}

static void keys_are_those_of_the_srqs_domain(void **state)
{
	struct xrc *x = *state;
	struct t_wr w = {.opcode = MLX5_OPCODE_RDMA_WRITE,
			 .fm_ce_se = T_SIG,
			 .xrc_srqn = x->srq[0].srqn,
			 .raddr = (uintptr_t)x->mem + 512,
			 .rkey = x->key,
			 .inl = "write",
			 .inl_len = 5};

	t_post(x->ini, &w);
	t_expect_done(x->ini, MLX5_OPCODE_RDMA_WRITE, 0);
	assert_memory_equal(x->mem + 512, "write", 5);
	w.rkey = x->tgt->key; /* a key of the target QP's PD, not of the SRQ's */
	t_post(x->ini, &w);
	t_expect_error(x->ini, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR, 1);
	assert_int_equal(x->tgt->hw->state, PRM_QP_STATE_ERR);
}

static void a_read_works(void **state)
{
	struct xrc *x = *state;
	struct t_sge sge = t_own(x->ini, 0, 8);
	struct t_wr w = {.opcode = MLX5_OPCODE_RDMA_READ,
			 .fm_ce_se = T_SIG,
			 .xrc_srqn = x->srq[0].srqn,
			 .raddr = (uintptr_t)x->mem + 100,
			 .rkey = x->key,
			 .sge = &sge,
			 .nsge = 1};

	memcpy(x->mem + 100, "readable", 8);
	t_post(x->ini, &w);
	t_expect_done(x->ini, MLX5_OPCODE_RDMA_READ, 0);
	assert_memory_equal(x->ini->mem, "readable", 8);
}

static void refused(struct xrc *x, uint32_t srqn)
{
	send_to(x, srqn, "no");
	t_expect_error(x->ini, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR, 0);
	assert_int_equal(x->tgt->hw->state, PRM_QP_STATE_ERR);
	assert_int_equal(t_event(x->t, x->tgt->evq), IBV_EVENT_QP_REQ_ERR);
	assert_int_equal(t_event(x->t, x->tgt->evq), IBV_EVENT_QP_LAST_WQE_REACHED);
}

static void an_srq_of_another_domain_is_refused(void **state)
{
	struct xrc *x = *state;

	x->srq[1].hw->xrcd = DOMAIN + 1;
	refused(x, x->srq[1].srqn);
}

static void an_unknown_srq_is_refused(void **state)
{
	refused(*state, 0x7fff);
}

static void a_basic_srq_is_refused(void **state)
{
	struct xrc *x = *state;

	x->srq[1].hw->type = HW_SRQ_RMP;
	refused(x, x->srq[1].srqn);
}

/* The number is still known, but DESTROY has taken the SRQ out of service. */
static void an_srq_that_goes_is_refused(void **state)
{
	struct xrc *x = *state;

	x->srq[1].hw->flags = 0;
	assert_int_equal(eng_srq_quiesce(&x->t->s, x->srq[1].srqn), 0);
	refused(x, x->srq[1].srqn);
}

/* The SRQ's file is closed, but a stopped process keeps it from being freed. */
static void an_srq_of_a_closed_file_is_refused(void **state)
{
	struct xrc *x = *state;

	x->srq[1].hw->flags |= HW_F_ZOMBIE;
	refused(x, x->srq[1].srqn);
}

static void an_initiator_takes_no_requests(void **state)
{
	struct xrc *x = *state;

	x->tgt->hw->xrcd = 0;
	x->ini->hw->retry_count = 0;
	x->ini->hw->path[0].ack_timeout = 0;
	send_to(x, x->srq[0].srqn, "no");
	assert_int_equal(x->ini->hw->park, HW_PARK_RETRY);
}

static void an_empty_srq_is_rnr(void **state)
{
	struct xrc *x = *state;

	send_to(x, x->srq[0].srqn, "late");
	assert_int_equal(x->ini->hw->park, HW_PARK_RNR);
	t_srq_post(&x->srq[0], x->key, x->mem, 64);
	t_now += 1000 * NSEC_PER_MSEC;
	t_ring(x->ini);
	t_expect_done(x->ini, MLX5_OPCODE_SEND, 0);
	got(x, 0);
}

/*
 * A receive taken for a message that failed returns to its SRQ when the next message names another.
 */
static void a_receive_goes_back_to_its_own_srq(void **state)
{
	struct xrc *x = *state;

	t_srq_post(&x->srq[0], x->key, x->mem, 64);
	t_srq_post(&x->srq[1], x->key, x->mem + 64, 64);
	x->tgt->hw->rx_srqn = x->srq[0].srqn;
	x->tgt->hw->rx_srq_wqe = 1;
	x->srq[0].hw->head = 5;
	x->srq[0].hw->consumed = 1;
	send_to(x, x->srq[1].srqn, "other");
	got(x, 1);
	send_to(x, x->srq[0].srqn, "mine");
	assert_int_equal(be16toh(got(x, 0)->wqe_counter), 0);
	assert_memory_equal(x->mem, "mine", 4);
}

/* Each end counts in its own set of Q counters. */
static void q_counters_count(void **state)
{
	struct xrc *x = *state;
	struct hw_qctr *ini = t_counters(x->t, x->ini), *tgt = t_counters(x->t, x->tgt);

	send_to(x, x->srq[0].srqn, "late");
	assert_int_equal(tgt->n[HW_QC_OUT_OF_BUFFER], 1);
	assert_int_equal(ini->n[HW_QC_RNR_NAK_RETRY_ERR], 1);
	t_srq_post(&x->srq[0], x->key, x->mem, 64);
	t_now += 1000 * NSEC_PER_MSEC;
	t_ring(x->ini);
	got(x, 0);
	assert_int_equal(tgt->n[HW_QC_RX_WRITE_REQUESTS], 0);
	t_post(x->ini, &(struct t_wr){.opcode = MLX5_OPCODE_RDMA_WRITE,
				      .xrc_srqn = x->srq[0].srqn,
				      .raddr = (uintptr_t)x->mem,
				      .rkey = x->key,
				      .inl = "w",
				      .inl_len = 1});
	assert_int_equal(tgt->n[HW_QC_RX_WRITE_REQUESTS], 1);
	t_post(x->ini, &(struct t_wr){.opcode = MLX5_OPCODE_RDMA_WRITE,
				      .xrc_srqn = x->srq[0].srqn,
				      .raddr = 1,
				      .rkey = x->key,
				      .inl = "w",
				      .inl_len = 1});
	assert_int_equal(tgt->n[HW_QC_RX_WRITE_REQUESTS], 2); /* a card counts it, and no error */
	assert_int_equal(ini->n[HW_QC_REQ_REMOTE_ACCESS_ERRORS], 1);
	assert_int_equal(ini->n[HW_QC_REQ_CQE_ERROR], 1);
}

/* An outcome that waits for a CQ's lock is counted when it is reported, not at each attempt. */
static void what_waits_is_counted_once(void **state)
{
	struct xrc *x = *state;
	struct hw_qctr *c = t_counters(x->t, x->ini);

	x->tgt->hw->qctr = x->ini->hw->qctr;
	t_srq_post(&x->srq[0], x->key, x->mem, 2);
	assert_int_equal(seg_lock(&x->t->s, &x->cq[0].hw->lock, 0), 0);
	send_to(x, x->srq[0].srqn, "too long");
	t_now += 2 * NSEC_PER_MSEC;
	t_ring(x->ini);
	assert_int_equal(c->n[HW_QC_RESP_CQE_ERROR], 0);
	seg_unlock(&x->t->s, &x->cq[0].hw->lock);
	t_now += 2 * NSEC_PER_MSEC;
	t_ring(x->ini);
	got(x, 0);
	assert_int_equal(c->n[HW_QC_RESP_CQE_ERROR], 1);
	assert_int_equal(c->n[HW_QC_RESP_LOCAL_LENGTH_ERROR], 1);
	/* and so are flushed WQEs */
	assert_int_equal(seg_lock(&x->t->s, &x->ini->cq.hw->lock, 0), 0);
	send_to(x, x->srq[0].srqn, "flushed");
	t_ring(x->ini);
	seg_unlock(&x->t->s, &x->ini->cq.hw->lock);
	t_ring(x->ini);
	assert_int_equal(c->n[HW_QC_REQ_CQE_FLUSH_ERROR], 1);
}

static void receive_errors_have_the_srqs_index(void **state)
{
	struct xrc *x = *state;
	struct mlx5_err_cqe *e;

	t_srq_post(&x->srq[0], x->key, x->mem, 2);
	send_to(x, x->srq[0].srqn, "too long");
	t_expect_error(x->ini, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR, 0);
	e = (void *)got(x, 0);
	assert_int_equal(e->syndrome, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_message_goes_to_the_srq_that_it_names),
		T(keys_are_those_of_the_srqs_domain),
		T(a_read_works),
		T(an_srq_of_another_domain_is_refused),
		T(an_unknown_srq_is_refused),
		T(a_basic_srq_is_refused),
		T(an_srq_that_goes_is_refused),
		T(an_srq_of_a_closed_file_is_refused),
		T(an_initiator_takes_no_requests),
		T(an_empty_srq_is_rnr),
		T(a_receive_goes_back_to_its_own_srq),
		T(q_counters_count),
		T(what_waits_is_counted_once),
		T(receive_errors_have_the_srqs_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
