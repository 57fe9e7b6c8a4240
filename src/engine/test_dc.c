/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* DC: initiators that name a target in each WQE, and the target's answers to wrong requests. */
#include "engine/test.h"
#include "hw/port.h"
#include "hw/qp_state.h"
#include "hw/evsub.h"
#include "hw/qp.h"
#include "wire/prm/dct.h"
#include "wire/prm/eq.h"
#include "wire/prm/qp.h"

#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define KEY UINT64_C(0x1122334455667788)

struct dc {
	struct tb *t;
	struct t_qp *ini[2], *dct;
	struct t_srq srq;
};

static int setup(void **state)
{
	struct dc *d = calloc(1, sizeof(*d));

	assert_non_null(d);
	d->t = tb_create();
	t_srq_make(d->t, &d->srq, d->t->pd[1]);
	d->dct = t_qp_make(d->t, 1, HW_ST_DCT, &d->srq);
	d->dct->hw->no_rq = d->dct->hw->no_sq = 1;
	LAYOUT_SET(dctc, d->dct->hw->qpc, dc_access_key, KEY);
	atomic_store(&d->dct->hw->state, PRM_QP_STATE_RTR);
	for (int i = 0; i < 2; i++) {
		d->ini[i] = t_qp_make(d->t, 0, PRM_ST_DCI, NULL);
		assert_int_equal(eng_qp_set_state(&d->t->s, d->ini[i]->qpn, PRM_QP_STATE_RTS), 0);
	}
	*state = d;
	return 0;
}

static int teardown(void **state)
{
	struct dc *d = *state;

	t_qp_free(d->ini[0]);
	t_qp_free(d->ini[1]);
	t_qp_free(d->dct);
	tb_destroy(d->t);
	free(d);
	return 0;
}

static struct mlx5_wqe_av av_of(struct dc *d, uint64_t key)
{
	struct hw_port *port = hw_port(&d->t->s, d->dct->hw->path[0].port);
	struct mlx5_wqe_av av = {.dqp_dct = htobe32(d->dct->qpn | 0x80000000u),
				 .rlid = htobe16((uint16_t)atomic_load(&port->lid))};

	be64_store(&av.key, key);
	return av;
}

static void post(struct dc *d, int i, uint64_t key, struct t_wr w)
{
	struct mlx5_wqe_av av = av_of(d, key);

	w.av = &av;
	w.fm_ce_se = T_SIG;
	t_post(d->ini[i], &w);
}

static void send_from(struct dc *d, int i, uint64_t key, const char *text)
{
	post(d, i, key,
	     (struct t_wr){
		     .opcode = MLX5_OPCODE_SEND, .inl = text, .inl_len = (uint32_t)strlen(text)});
}

static void two_initiators_send_to_one_target(void **state)
{
	struct dc *d = *state;
	struct mlx5_cqe64 *c;

	t_srq_post(&d->srq, d->dct->key, d->dct->mem, 64);
	t_srq_post(&d->srq, d->dct->key, d->dct->mem + 64, 64);
	send_from(d, 0, KEY, "one");
	send_from(d, 1, KEY, "two!");
	t_expect_done(d->ini[0], MLX5_OPCODE_SEND, 0);
	t_expect_done(d->ini[1], MLX5_OPCODE_SEND, 0);
	c = t_received(d->dct, MLX5_CQE_RESP_SEND, 3, 0);
	assert_int_equal(be32toh(c->flags_rqpn) & 0xffffff, d->ini[0]->qpn);
	t_received(d->dct, MLX5_CQE_RESP_SEND, 4, 5);
	assert_memory_equal(d->dct->mem + 64, "two!", 4);
}

static void a_write_and_a_read_work(void **state)
{
	struct dc *d = *state;
	struct t_sge sge = t_own(d->ini[0], 0, 5);

	post(d, 0, KEY,
	     (struct t_wr){.opcode = MLX5_OPCODE_RDMA_WRITE,
			   .raddr = (uintptr_t)d->dct->mem,
			   .rkey = d->dct->key,
			   .inl = "write",
			   .inl_len = 5});
	t_expect_done(d->ini[0], MLX5_OPCODE_RDMA_WRITE, 0);
	assert_memory_equal(d->dct->mem, "write", 5);
	post(d, 0, KEY,
	     (struct t_wr){.opcode = MLX5_OPCODE_RDMA_READ,
			   .raddr = (uintptr_t)d->dct->mem,
			   .rkey = d->dct->key,
			   .sge = &sge,
			   .nsge = 1});
	assert_memory_equal(d->ini[0]->mem, "write", 5);
}

/*
 * Atomics after the address vector: 8 bytes, and masked ones of 4. A wrong one fails the initiator.
 */
static void atomics_work(void **state)
{
	struct dc *d = *state;
	const struct mlx5_wqe_atomic_seg add = {.swap_add = htobe64(5)};
	const uint32_t swap[4] = {htobe32(0x11223344), htobe32(7), ~0u, ~0u};
	struct t_sge sge = t_own(d->ini[0], 0, 8);
	struct t_wr wr = {.opcode = MLX5_OPCODE_ATOMIC_FA,
			  .raddr = (uintptr_t)d->dct->mem,
			  .rkey = d->dct->key,
			  .operands = &add,
			  .operands_len = sizeof(add),
			  .sge = &sge,
			  .nsge = 1};
	uint64_t word = 2;
	uint32_t answer;

	memcpy(d->dct->mem, &word, sizeof(word));
	post(d, 0, KEY, wr);
	t_expect_done(d->ini[0], MLX5_OPCODE_ATOMIC_FA, 0);
	assert_memory_equal(d->ini[0]->mem, &word, sizeof(word));
	wr.opcode = MLX5_OPCODE_ATOMIC_MASKED_CS;
	wr.opmod = WQE_OPMOD_ATOMIC32;
	wr.operands = swap;
	sge.len = 4;
	post(d, 0, KEY, wr);
	assert_non_null(t_poll(&d->ini[0]->cq));
	memcpy(&answer, d->ini[0]->mem, sizeof(answer));
	assert_int_equal(be32toh(answer), 7);
	memcpy(&word, d->dct->mem, sizeof(word));
	assert_int_equal(word, 0x11223344);
	d->dct->hw->rae = 0;
	post(d, 0, KEY, wr);
	t_expect_error(d->ini[0], MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR, 4);
}

/* The initiator fails, the target goes on. */
static void a_wrong_rkey_fails_the_initiator_only(void **state)
{
	struct dc *d = *state;

	post(d, 0, KEY,
	     (struct t_wr){.opcode = MLX5_OPCODE_RDMA_WRITE,
			   .raddr = 1,
			   .rkey = d->dct->key,
			   .inl = "x",
			   .inl_len = 1});
	t_expect_error(d->ini[0], MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR, 0);
	assert_int_equal(d->ini[0]->hw->state, PRM_QP_STATE_ERR);
	assert_int_equal(d->dct->hw->state, PRM_QP_STATE_RTR);
	t_srq_post(&d->srq, d->dct->key, d->dct->mem, 64);
	send_from(d, 1, KEY, "still");
	t_received(d->dct, MLX5_CQE_RESP_SEND, 5, 0);
}

/* Posts a WRITE on a stream; `wrong`: with a wrong R_Key. Returns the WQE's index. */
static uint32_t write_on(struct dc *d, uint16_t stream, bool wrong)
{
	struct t_qp *q = d->ini[0];
	struct mlx5_wqe_av av = av_of(d, KEY);
	struct t_wr wr = {.opcode = MLX5_OPCODE_RDMA_WRITE,
			  .fm_ce_se = T_SIG,
			  .av = &av,
			  .raddr = wrong ? 1 : (uintptr_t)d->dct->mem,
			  .rkey = d->dct->key,
			  .inl = "x",
			  .inl_len = 1};
	uint32_t n = t_post_quiet(q, &wr);
	struct mlx5_wqe_ctrl_seg *c =
		(void *)(q->sq + (n & ((1u << T_SQ_LOG) - 1)) * (size_t)WQE_BB);

	c->dci_stream_channel_id = htobe16(stream);
	t_ring(q);
	return n;
}

#define ACCESS MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR
#define FLUSH MLX5_CQE_SYNDROME_WR_FLUSH_ERR

static void an_error_stops_only_its_stream(void **state)
{
	struct dc *d = *state;
	struct t_qp *q = d->ini[0];
	struct seg *s = &d->t->s;

	LAYOUT_SET(qpc, q->hw->qpc, log_num_dci_errored_streams, 1);
	t_expect_error(q, MLX5_CQE_REQ_ERR, ACCESS, write_on(d, 7, true));
	assert_int_equal(q->hw->state, PRM_QP_STATE_RTS);
	t_expect_error(q, MLX5_CQE_REQ_ERR, FLUSH, write_on(d, 7, false));
	t_expect_done(q, MLX5_OPCODE_RDMA_WRITE, write_on(d, 8, false));
	assert_int_equal(eng_dci_stream_reset(s, q->qpn, 8), -ENOENT);
	assert_int_equal(eng_dci_stream_reset(s, q->qpn, 7), 0);
	assert_int_equal(eng_dci_stream_reset(s, q->qpn, 7), -ENOENT);
	t_expect_done(q, MLX5_OPCODE_RDMA_WRITE, write_on(d, 7, false));
}

static void the_last_stream_stops_the_initiator(void **state)
{
	struct dc *d = *state;
	struct t_qp *q = d->ini[0];

	LAYOUT_SET(qpc, q->hw->qpc, log_num_dci_errored_streams, 2);
	for (uint16_t i = 0; i < 3; i++) {
		t_expect_error(q, MLX5_CQE_REQ_ERR, ACCESS, write_on(d, i, true));
		/* a second error on a stream does not count again */
		t_expect_error(q, MLX5_CQE_REQ_ERR, FLUSH, write_on(d, i, true));
		assert_int_equal(q->hw->state, PRM_QP_STATE_RTS);
	}
	t_expect_error(q, MLX5_CQE_REQ_ERR, ACCESS, write_on(d, 3, true));
	assert_int_equal(q->hw->state, PRM_QP_STATE_ERR);
	t_expect_error(q, MLX5_CQE_REQ_ERR, FLUSH, write_on(d, 4, false));
	assert_int_equal(eng_qp_set_state(&d->t->s, q->qpn, PRM_QP_STATE_RST), 0);
	assert_int_equal(q->hw->nerrored, 0);
}

static void a_wrong_access_key_is_counted_and_not_answered(void **state)
{
	struct dc *d = *state;

	t_srq_post(&d->srq, d->dct->key, d->dct->mem, 64);
	send_from(d, 0, KEY + 1, "no");
	assert_int_equal(d->ini[0]->hw->park, HW_PARK_RETRY);
	assert_int_equal(LAYOUT_GET(dctc, d->dct->hw->qpc, dc_access_key_violation_count), 1);
	for (int i = 0; i < 3; i++) {
		t_now += 1000 * NSEC_PER_MSEC;
		t_ring(d->ini[0]);
	}
	t_expect_error(d->ini[0], MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR, 0);
}

/* After ARM_DCT_FOR_KEY_VIOLATION only the next violation raises an event. */
static void a_wrong_access_key_is_told_once_when_armed(void **state)
{
	struct dc *d = *state;
	struct seg *s = &d->t->s;
	int fd = eventfd(0, EFD_NONBLOCK);
	struct seg_evsub sub = {.hca = d->dct->hw->hca,
				.eventfd = 1 + fd,
				.id = d->dct->qpn,
				.key = PRM_EVENT_DCT_KEY_VIOLATION | PRM_EVENT_QUEUE_DCT << 16};
	uint64_t n = 0;
	uint32_t i;

	assert_int_equal(evsub_add(s, &sub, &i), 0);
	send_from(d, 0, KEY + 1, "not armed");
	assert_int_equal(read(fd, &n, sizeof(n)), -1);
	atomic_store(&d->dct->hw->key_armed, 1);
	for (int k = 0; k < 2; k++) {
		t_now += 1000 * NSEC_PER_MSEC;
		t_ring(d->ini[0]);
	}
	assert_int_equal(read(fd, &n, sizeof(n)), sizeof(n));
	assert_int_equal(n, 1);
	assert_int_equal(d->dct->hw->key_armed, 0);
	evsub_drop(s, i);
	close(fd);
}

static void an_empty_srq_is_rnr(void **state)
{
	struct dc *d = *state;

	send_from(d, 0, KEY, "late");
	assert_int_equal(d->ini[0]->hw->park, HW_PARK_RNR);
	t_srq_post(&d->srq, d->dct->key, d->dct->mem, 64);
	send_from(d, 1, KEY, "first"); /* a parked initiator does not delay another one */
	t_received(d->dct, MLX5_CQE_RESP_SEND, 5, 0);
	t_srq_post(&d->srq, d->dct->key, d->dct->mem, 64);
	t_now += 1000 * NSEC_PER_MSEC;
	t_ring(d->ini[0]);
	t_received(d->dct, MLX5_CQE_RESP_SEND, 4, 5);
}

static void a_drained_target_does_not_answer(void **state)
{
	struct dc *d = *state;

	assert_int_equal(eng_qp_set_state(&d->t->s, d->dct->qpn, PRM_QP_STATE_RST), 0);
	t_srq_post(&d->srq, d->dct->key, d->dct->mem, 64);
	send_from(d, 0, KEY, "no");
	assert_int_equal(d->ini[0]->hw->park, HW_PARK_RETRY);
}

static void a_wqe_without_address_is_malformed(void **state)
{
	struct dc *d = *state;

	t_post(d->ini[0], &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .fm_ce_se = T_SIG});
	t_expect_error(d->ini[0], MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR, 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(two_initiators_send_to_one_target),
		T(a_write_and_a_read_work),
		T(atomics_work),
		T(a_wrong_rkey_fails_the_initiator_only),
		T(an_error_stops_only_its_stream),
		T(the_last_stream_stops_the_initiator),
		T(a_wrong_access_key_is_counted_and_not_answered),
		T(a_wrong_access_key_is_told_once_when_armed),
		T(an_empty_srq_is_rnr),
		T(a_drained_target_does_not_answer),
		T(a_wqe_without_address_is_malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
