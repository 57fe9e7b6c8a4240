/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* RNR and transport retries with a fake clock. Nothing here sleeps. */
#include "engine/for_tests.h"
#include "engine/tx/tx.h"
#include "engine/test.h"
#include "hw/cq.h"
#include "hw/port.h"
#include "hw/qctr.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "hw/timer.h"
#include <infiniband/verbs.h>

#define ACK_NS(t) (UINT64_C(4096) << (t))
#define RNR_12_NS 640000 /* min_rnr_nak 12: 0.64 ms */

static void send_x(struct t_qp *q)
{
	t_post(q, &(struct t_wr){
			  .opcode = MLX5_OPCODE_SEND, .fm_ce_se = T_SIG, .inl = "x", .inl_len = 1});
}

/* Let `ns` pass; the device thread runs if it is due. */
static void pass(struct tb *t, uint64_t ns)
{
	t_now += ns;
	eng_run_due(&t->s);
}

static void rnr_then_posted(void **state)
{
	struct t_pair *p = *state;

	send_x(p->a);
	t_assert_empty(&p->a->cq);
	assert_int_equal(p->a->hw->park, HW_PARK_RNR);
	assert_int_equal(eng_run_due(&p->t->s), t_now + RNR_12_NS);
	t_recv_at(p->b, 0, 8);
	t_ring(p->a); /* ringing again does not shorten the RNR wait */
	t_assert_empty(&p->b->cq);
	pass(p->t, RNR_12_NS - 1);
	t_assert_empty(&p->b->cq);
	pass(p->t, 1);
	t_received(p->b, MLX5_CQE_RESP_SEND, 1, 0);
	t_expect_done(p->a, MLX5_OPCODE_SEND, 0);
	assert_int_equal(p->a->hw->park, HW_PARK_NO);
	assert_int_equal(eng_run_due(&p->t->s), UINT64_MAX);
}

static void rnr_retries_exceeded(void **state)
{
	struct t_pair *p = *state;

	send_x(p->a);
	send_x(p->a);
	for (int i = 0; i < 2; i++) {
		t_assert_empty(&p->a->cq);
		pass(p->t, RNR_12_NS);
	}
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR, 0);
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, 1);
	assert_int_equal(p->a->hw->state, PRM_QP_STATE_ERR);
	assert_int_equal(p->b->hw->state, PRM_QP_STATE_RTS);
}

static void rnr_seven_is_for_ever(void **state)
{
	struct t_pair *p = *state;

	p->a->hw->rnr_retry = 7;
	send_x(p->a);
	for (int i = 0; i < 1000; i++)
		pass(p->t, RNR_12_NS);
	t_assert_empty(&p->a->cq);
	t_recv_at(p->b, 0, 8);
	pass(p->t, RNR_12_NS);
	t_expect_done(p->a, MLX5_OPCODE_SEND, 0);
}

static void rnr_zero_fails_at_once(void **state)
{
	struct t_pair *p = *state;

	p->a->hw->rnr_retry = 0;
	send_x(p->a);
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR, 0);
}

/* A doorbell after the deadline does the device thread's work. */
static void ring_after_deadline(void **state)
{
	struct t_pair *p = *state;

	send_x(p->a);
	t_recv_at(p->b, 0, 8);
	t_recv_at(p->b, 0, 8);
	t_now += RNR_12_NS;
	send_x(p->a);
	t_received(p->b, MLX5_CQE_RESP_SEND, 1, 0);
	t_received(p->b, MLX5_CQE_RESP_SEND, 1, 1);
}

static void rnr_timer_table(void **state)
{
	assert_int_equal(park_rnr_ns(0), 655360000);
	assert_int_equal(park_rnr_ns(1), 10000);
	assert_int_equal(park_rnr_ns(12), RNR_12_NS);
	assert_int_equal(park_rnr_ns(31), 491520000);
	for (uint32_t i = 2; i < 32; i++)
		assert_true(park_rnr_ns(i) > park_rnr_ns(i - 1));
}

/* Reasons for no answer, one row each. */
static void peer_in_init(struct t_pair *p)
{
	eng_qp_set_state(&p->t->s, p->b->qpn, PRM_QP_STATE_RST);
	eng_qp_set_state(&p->t->s, p->b->qpn, PRM_QP_STATE_INIT);
}

static void peer_in_err(struct t_pair *p)
{
	eng_qp_set_state(&p->t->s, p->b->qpn, PRM_QP_STATE_ERR);
}

static void peer_destroyed(struct t_pair *p)
{
	eng_qp_quiesce(&p->t->s, p->b->qpn);
	seg_free(&p->t->s, SEG_T_QP, p->b->qpn);
}

static void peer_talks_to_another(struct t_pair *p)
{
	p->b->hw->dest_qpn = p->a->qpn + 100;
}

static void wrong_qpn(struct t_pair *p)
{
	p->a->hw->dest_qpn = 0xfffffe;
}

static void unknown_lid(struct t_pair *p)
{
	p->a->hw->path[0].dlid = 4711;
}

static void wrong_port(struct t_pair *p)
{
	p->a->hw->path[0].dlid = hw_port(&p->t->s, p->t->port[0])->lid;
}

static void port_down(struct t_pair *p)
{
	fab_port_set_state(&p->t->s, p->t->port[1], IB_PORT_DOWN);
}

static void own_port_down(struct t_pair *p)
{
	fab_port_set_state(&p->t->s, p->t->port[0], IB_PORT_INIT);
}

static void pkey_differs(struct t_pair *p)
{
	hw_port(&p->t->s, p->t->port[1])->pkey[0] = 0x8001;
}

static void both_limited(struct t_pair *p)
{
	hw_port(&p->t->s, p->t->port[0])->pkey[0] = 0x7fff;
	hw_port(&p->t->s, p->t->port[1])->pkey[0] = 0x7fff;
}

static void psn_ahead(struct t_pair *p)
{
	p->a->hw->next_send_psn = (p->b->hw->next_rcv_psn + 5) & 0xffffff;
}

static void process_gone(struct t_pair *p)
{
	/* The slot is reused by another process. */
	p->b->hw->mem.gen++;
	p->b->hw->dbr_mem.gen++;
}

static const struct {
	const char *name;
	void (*spoil)(struct t_pair *p);
} silences[] = {
	{"peer in INIT", peer_in_init},
	{"peer in ERR", peer_in_err},
	{"peer destroyed", peer_destroyed},
	{"peer connected to another", peer_talks_to_another},
	{"QPN of nobody", wrong_qpn},
	{"LID of nobody", unknown_lid},
	{"LID of another port", wrong_port},
	{"peer's port down", port_down},
	{"own port not active", own_port_down},
	{"P_Keys differ", pkey_differs},
	{"both limited members", both_limited},
	{"PSN ahead", psn_ahead},
	{"peer's process is gone", process_gone},
};

static void silence(void **state)
{
	for (size_t i = 0; i < sizeof(silences) / sizeof(silences[0]); i++) {
		struct t_pair *p;

		t_pair_setup((void **)&p);
		print_message("  %s\n", silences[i].name);
		t_recv_at(p->b, 0, 8);
		silences[i].spoil(p);
		while (t_poll(&p->b->cq))
			;
		send_x(p->a);
		send_x(p->a);
		/* ack_timeout 14 is 67 ms; two retries: three time-outs. */
		for (int k = 0; k < 2; k++) {
			assert_true(eng_run_due(&p->t->s) <= t_now + ACK_NS(14));
			pass(p->t, ACK_NS(14) - 1);
			pass(p->t, 1);
			t_assert_empty(&p->a->cq);
		}
		pass(p->t, ACK_NS(14) - 1);
		t_assert_empty(&p->a->cq);
		pass(p->t, 1);
		t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR,
			       0);
		t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, 1);
		t_assert_empty(&p->b->cq);
		t_pair_teardown((void **)&p);
	}
}

static void heals_before_the_last_retry(void **state)
{
	struct t_pair *p = *state;

	t_recv_at(p->b, 0, 8);
	port_down(p);
	send_x(p->a);
	pass(p->t, ACK_NS(14));
	fab_port_set_state(&p->t->s, p->t->port[1], IB_PORT_ACTIVE);
	pass(p->t, ACK_NS(14));
	t_received(p->b, MLX5_CQE_RESP_SEND, 1, 0);
	t_expect_done(p->a, MLX5_OPCODE_SEND, 0);
	/* The next message has all its retries. */
	port_down(p);
	send_x(p->a);
	pass(p->t, ACK_NS(14));
	pass(p->t, ACK_NS(14));
	t_assert_empty(&p->a->cq);
	pass(p->t, ACK_NS(14));
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR, 1);
}

/* Each retry waits 2^log_rtm times as long as the one before; the greatest values do not overflow.
 */
static void retries_wait_longer_and_longer(void **state)
{
	struct t_pair *p = *state;

	p->a->hw->path[0].log_rtm = 2;
	port_down(p);
	send_x(p->a);
	for (uint32_t k = 14; k < 18; k += 2) {
		pass(p->t, ACK_NS(k) - 1);
		pass(p->t, 1);
		t_assert_empty(&p->a->cq);
	}
	pass(p->t, ACK_NS(18) - 1);
	t_assert_empty(&p->a->cq);
	pass(p->t, 1);
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR, 0);
	assert_true(park_ack_ns(&(struct hw_qp_path){.ack_timeout = 31, .log_rtm = 15}, 7) >
		    UINT64_C(1) << 60);
}

/* --time-scale: what waits for ever still does, and the clock of completions is the true one. */
static void timers_run_faster_or_slower(void **state)
{
	static const struct {
		uint32_t scale;
		uint64_t ack, rnr;
	} rows[] = {{100 * HW_TIME_TRUE, ACK_NS(14) / 100, RNR_12_NS / 100},
		    {HW_TIME_TRUE / 2, ACK_NS(14) * 2, RNR_12_NS * 2},
		    {HW_TIME_MAX, ACK_NS(14) / 1000, RNR_12_NS / 1000},
		    {1, ACK_NS(14) * 1000, UINT64_C(1000) * RNR_12_NS}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct t_pair *p;

		t_pair_setup((void **)&p);
		fab_subnet(&p->t->s)->time_scale = rows[i].scale;
		send_x(p->a);
		assert_int_equal(eng_run_due(&p->t->s), t_now + rows[i].rnr);
		pass(p->t, rows[i].rnr - 1);
		t_recv_at(p->b, 0, 8);
		t_assert_empty(&p->b->cq);
		pass(p->t, 1);
		t_received(p->b, MLX5_CQE_RESP_SEND, 1, 0);
		t_expect_done(p->a, MLX5_OPCODE_SEND, 0);
		port_down(p);
		send_x(p->a);
		for (int k = 0; k < 3; k++) {
			assert_int_equal(eng_run_due(&p->t->s), t_now + rows[i].ack);
			pass(p->t, rows[i].ack - 1);
			t_assert_empty(&p->a->cq);
			pass(p->t, 1);
		}
		t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR,
			       1);
		t_pair_teardown((void **)&p);
	}
}

static void timers_do_not_overflow(void **state)
{
	struct t_pair *p = *state;
	const struct seg *s = &p->t->s;

	for (uint32_t scale = 1; scale <= HW_TIME_MAX; scale *= 10) {
		fab_subnet(s)->time_scale = scale;
		assert_true(hw_timer_ns(s, UINT64_MAX) == UINT64_MAX);
		assert_true(hw_timer_at(s, UINT64_MAX) == UINT64_MAX);
		for (uint64_t ns = 1; ns < UINT64_C(1) << 61; ns *= 2) {
			assert_true(hw_timer_ns(s, ns) <= hw_timer_ns(s, 2 * ns));
			assert_true(hw_timer_ns(s, ns) <= HW_TIMER_MAX_NS);
		}
	}
}

/* The fabric's clock, and when it shows a time: never too early, or a loop would spin. */
static void the_fabrics_clock(void **state)
{
	struct t_pair *p = *state;
	const struct seg *s = &p->t->s;

	for (uint32_t scale = 1; scale <= HW_TIME_MAX; scale *= 10) {
		uint64_t due, at;

		fab_subnet(s)->born = clock_now_ns() - NSEC_PER_SEC;
		fab_subnet(s)->time_scale = scale;
		due = hw_timer_now(s) + 123457;
		at = hw_timer_at(s, due);
		while (clock_now_ns() < at && at - clock_now_ns() < 10 * NSEC_PER_MSEC)
			;
		assert_true(hw_timer_now(s) >= due || clock_now_ns() < at);
		assert_true(hw_timer_now(s) >= fab_subnet(s)->born);
	}
}

static void timeout_zero_waits_for_ever(void **state)
{
	struct t_pair *p = *state;

	p->a->hw->path[0].ack_timeout = 0;
	port_down(p);
	send_x(p->a);
	assert_int_equal(eng_run_due(&p->t->s), UINT64_MAX);
	pass(p->t, UINT64_C(1000000000000));
	t_assert_empty(&p->a->cq);
	eng_qp_set_state(&p->t->s, p->a->qpn, PRM_QP_STATE_ERR);
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, 0);
}

/* A duplicate is acknowledged and not executed again. */
static void duplicate(void **state)
{
	struct t_pair *p = *state;
	struct t_wr wr = {.opcode = MLX5_OPCODE_RDMA_WRITE,
			  .fm_ce_se = T_SIG,
			  .raddr = (uintptr_t)p->b->mem,
			  .rkey = p->b->key,
			  .inl = "A",
			  .inl_len = 1};
	uint32_t psn = p->a->hw->next_send_psn;

	t_post(p->a, &wr);
	t_expect_done(p->a, MLX5_OPCODE_RDMA_WRITE, 0);
	p->a->hw->next_send_psn = psn;
	wr.inl = "B";
	t_post(p->a, &wr);
	t_expect_done(p->a, MLX5_OPCODE_RDMA_WRITE, 1);
	assert_int_equal(p->b->mem[0], 'A');
	t_post(p->a, &wr);
	t_expect_done(p->a, MLX5_OPCODE_RDMA_WRITE, 2);
	assert_int_equal(p->b->mem[0], 'B');
}

/* A PSN that the responder does not expect yet: one NAK, then silence until the retries end. */
static void out_of_sequence(void **state)
{
	struct t_pair *p = *state;
	struct hw_qctr *own = t_counters(p->t, p->a), *theirs = t_counters(p->t, p->b);

	t_recv_at(p->b, 0, 8);
	p->a->hw->next_send_psn += 5;
	send_x(p->a);
	for (int i = 0; i < 3; i++) {
		t_assert_empty(&p->a->cq);
		pass(p->t, ACK_NS(14));
	}
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR, 0);
	t_assert_empty(&p->b->cq);
	assert_int_equal(own->n[HW_QC_PACKET_SEQ_ERR], 1);
	assert_int_equal(own->n[HW_QC_OUT_OF_SEQUENCE], 0);
	assert_true(theirs->n[HW_QC_OUT_OF_SEQUENCE] >= 1);
}

/* Another thread holds the responder's lock. */
static void responder_locked(void **state)
{
	struct t_pair *p = *state;

	t_recv_at(p->b, 0, 8);
	assert_int_equal(seg_lock(&p->t->s, &p->b->hw->rq_lock, 0), 0);
	send_x(p->a);
	assert_int_equal(p->a->hw->park, HW_PARK_LOCK);
	t_assert_empty(&p->a->cq);
	seg_unlock(&p->t->s, &p->b->hw->rq_lock);
	pass(p->t, 1000000);
	t_received(p->b, MLX5_CQE_RESP_SEND, 1, 0);
	t_expect_done(p->a, MLX5_OPCODE_SEND, 0);
}

/* ... or the requester's. */
static void requester_locked(void **state)
{
	struct t_pair *p = *state;

	t_recv_at(p->b, 0, 8);
	assert_int_equal(seg_lock(&p->t->s, &p->a->hw->sq_lock, 0), 0);
	send_x(p->a);
	t_assert_empty(&p->a->cq);
	seg_unlock(&p->t->s, &p->a->hw->sq_lock);
	pass(p->t, 0);
	t_received(p->b, MLX5_CQE_RESP_SEND, 1, 0);
	t_expect_done(p->a, MLX5_OPCODE_SEND, 0);
}

/* ERR by command does not wait for locks; the flush comes when they are free. */
static void flush_later(void **state)
{
	struct t_pair *p = *state;

	port_down(p);
	send_x(p->a);
	t_recv_at(p->a, 0, 8);
	assert_int_equal(seg_lock(&p->t->s, &p->a->cq.hw->lock, 0), 0);
	assert_int_equal(eng_qp_set_state(&p->t->s, p->a->qpn, PRM_QP_STATE_ERR), 0);
	assert_int_equal(p->a->hw->state, PRM_QP_STATE_ERR);
	seg_unlock(&p->t->s, &p->a->cq.hw->lock);
	t_assert_empty(&p->a->cq);
	pass(p->t, 0);
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, 0);
	t_expect_error(p->a, MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, 0);
}

/* The CQ was locked when the program armed it: the device thread arms it later. */
static void arm_later(void **state)
{
	struct t_pair *p = *state;

	assert_int_equal(seg_lock(&p->t->s, &p->a->cq.hw->lock, 0), 0);
	p->a->cq.dbr[T_ARM] = htobe32(0);
	eng_arm_cq(&p->t->s, p->a->cq.cqn, 0);
	seg_unlock(&p->t->s, &p->a->cq.hw->lock);
	assert_int_equal(p->a->cq.hw->armed & HW_CQ_ARMED, 0);
	pass(p->t, 0);
	assert_int_equal(p->a->cq.hw->armed & HW_CQ_ARMED, 1);
}

int main(void)
{
#define P(f) cmocka_unit_test_setup_teardown(f, t_pair_setup, t_pair_teardown)
	const struct CMUnitTest tests[] = {
		P(rnr_then_posted),
		P(rnr_retries_exceeded),
		P(rnr_seven_is_for_ever),
		P(rnr_zero_fails_at_once),
		P(ring_after_deadline),
		cmocka_unit_test(rnr_timer_table),
		cmocka_unit_test(silence),
		P(heals_before_the_last_retry),
		P(retries_wait_longer_and_longer),
		cmocka_unit_test(timers_run_faster_or_slower),
		P(timers_do_not_overflow),
		P(the_fabrics_clock),
		P(timeout_zero_waits_for_ever),
		P(duplicate),
		P(out_of_sequence),
		P(responder_locked),
		P(requester_locked),
		P(flush_later),
		P(arm_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
