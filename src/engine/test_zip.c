/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CQE compression: which completions share a session, and what readers of all kinds see. */
#include "engine/test_zip.h"
#include "engine/cq/zip.h"
#include "hw/srq.h"

#include <infiniband/verbs.h>

static struct z_cq z;

static void send_quiet(struct t_pair *p, uint32_t len)
{
	static const char bytes[64];

	t_post_quiet(p->a,
		     &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .inl = bytes, .inl_len = len});
}

static void receives(struct t_pair *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		t_recv_at(p->b, 0, 64);
}

/* n messages by one doorbell, with lengths 1, 2... */
static void burst(struct t_pair *p, uint32_t n)
{
	receives(p, n);
	for (uint32_t i = 0; i < n; i++)
		send_quiet(p, i + 1);
	t_ring(p->a);
}

static void expect(uint8_t opcode, uint32_t len, uint32_t counter)
{
	struct mlx5_cqe64 c;

	assert_true(z_poll(&z, &c));
	assert_int_equal(c.op_own >> 4, opcode);
	assert_int_equal(be32toh(c.byte_cnt), len);
	assert_int_equal(be16toh(c.wqe_counter), counter & 0xffff);
}

static void expect_burst(uint32_t n, uint32_t first)
{
	for (uint32_t i = 0; i < n; i++)
		expect(MLX5_CQE_RESP_SEND, i + 1, first + i);
}

static void expect_nothing(void)
{
	assert_false(z_poll(&z, &(struct mlx5_cqe64){0}));
}

static void with(struct t_pair *p, uint32_t format, enum z_reader how)
{
	z_make(&z, p->t, &p->b->cq, format, how);
}

/* One or two completions are written as without compression. */
static void few_are_plain(void **state)
{
	struct t_pair *p = *state;

	with(p, PRM_MINI_CQE_HASH, Z_LINUX);
	burst(p, 1);
	expect_burst(1, 0);
	burst(p, 2);
	expect_burst(2, 1);
	expect_nothing();
	/*
	 * Separate doorbells: the engine cannot know when the next message comes, so no CQE waits.
	 */
	for (uint32_t i = 0; i < 5; i++) {
		burst(p, 1);
		expect_burst(1, 3 + i);
	}
	assert_int_equal(z.sessions, 0);
}

static void burst_is_a_session(void **state)
{
	struct t_pair *p = *state;

	with(p, PRM_MINI_CQE_HASH, Z_LINUX);
	burst(p, 3);
	expect_burst(3, 0);
	assert_int_equal(z.sessions, 1);
	burst(p, 16); /* two arrays of mini CQEs */
	expect_burst(16, 3);
	expect_nothing();
	assert_int_equal(z.sessions, 2);
	assert_int_equal(t_rq_ci(p->b), 19);
}

/* The layout of a session, entry by entry. */
static void layout_of_a_session(void **state)
{
	struct t_pair *p = *state;
	const uint8_t *e;

	with(p, PRM_MINI_CQE_CSUM_STRIDX, Z_LINUX);
	burst(p, 10);
	e = (void *)z_at(&p->b->cq, 0);
	assert_int_equal(e[63], MLX5_CQE_RESP_SEND << 4 | 3 << 2);
	assert_int_equal(be32_load(e + 0x2c), 10);
	e = (void *)z_at(&p->b->cq, 1);
	for (uint32_t i = 0; i < 8; i++) {
		assert_int_equal(be32_load(e + i * 8), i); /* checksum 0, counter i */
		assert_int_equal(be32_load(e + i * 8 + 4), i + 1);
	}
	assert_int_equal(z_at(&p->b->cq, 2)->op_own, 0xf1); /* not written */
	e = (void *)z_at(&p->b->cq, 8);
	assert_int_equal(be32_load(e + 4), 9);
	assert_int_equal(be32_load(e + 12), 10);
	assert_int_equal(be32_load(e + 20), 0);
	assert_int_equal(z_at(&p->b->cq, 9)->op_own, 0xf1);
}

/* Many times around the buffer, in bursts of all lengths: no reader sees an entry twice. */
static void readers_agree(void **state)
{
	static const uint32_t formats[] = {PRM_MINI_CQE_HASH, PRM_MINI_CQE_CSUM,
					   PRM_MINI_CQE_CSUM_STRIDX};

	for (uint32_t how = 0; how < Z_READERS; how++) {
		struct t_pair *p;
		uint32_t n = 0;

		t_pair_setup(state);
		p = *state;
		with(p, formats[how], (enum z_reader)how);
		for (uint32_t i = 0; i < 200; i++) {
			uint32_t k = 1 + i * 7 % 16;

			burst(p, k);
			expect_burst(k, n);
			expect_nothing();
			n += k;
		}
		assert_uint_in_range(z.sessions, 150, 300);
		t_pair_teardown(state);
	}
}

/* The reader is late: several sessions lie in the CQ. */
static void reader_is_late(void **state)
{
	struct t_pair *p = *state;

	with(p, PRM_MINI_CQE_CSUM, Z_UCX);
	burst(p, 12);
	burst(p, 1);
	burst(p, 3);
	expect_burst(12, 0);
	expect_burst(1, 12);
	expect_burst(3, 13);
	expect_nothing();
	assert_int_equal(z.sessions, 2);
}

static void what_differs_ends_a_session(void **state)
{
	struct t_pair *p = *state;
	struct t_wr imm = {.opcode = MLX5_OPCODE_SEND_IMM, .imm = 7, .inl = "x", .inl_len = 1};

	with(p, PRM_MINI_CQE_HASH, Z_DPDK);
	receives(p, 12);
	for (uint32_t i = 0; i < 4; i++)
		send_quiet(p, i + 1);
	for (uint32_t i = 0; i < 3; i++)
		t_post_quiet(p->a, &imm);
	imm.imm = 8;
	t_post_quiet(p->a, &imm);
	for (uint32_t i = 0; i < 3; i++)
		send_quiet(p, i + 1);
	t_post_quiet(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_NOP});
	send_quiet(p, 9);
	t_ring(p->a);
	expect_burst(4, 0);
	for (uint32_t i = 0; i < 4; i++)
		expect(MLX5_CQE_RESP_SEND_IMM, 1, 4 + i);
	expect_burst(3, 8);
	expect(MLX5_CQE_RESP_SEND, 9, 11);
	expect_nothing();
	assert_int_equal(z.sessions, 3);
}

/* Completions of the receiver's own sends are never compressed, and stay in order. */
static void own_completions_between(void **state)
{
	struct t_pair *p = *state;

	with(p, PRM_MINI_CQE_HASH, Z_LINUX);
	t_set_cq(p->a, &p->b->cq, NULL);
	receives(p, 4);
	for (uint32_t i = 0; i < 3; i++)
		send_quiet(p, i + 1);
	t_post_quiet(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND,
					  .fm_ce_se = T_SIG,
					  .inl = "xxxx",
					  .inl_len = 4});
	t_ring(p->a);
	expect_burst(4, 0);
	expect(MLX5_CQE_REQ, 4, 3);
	expect_nothing();
	assert_int_equal(z.sessions, 1);
}

static void error_after_a_session(void **state)
{
	struct t_pair *p = *state;

	with(p, PRM_MINI_CQE_HASH, Z_LINUX);
	receives(p, 3);
	t_recv_at(p->b, 0, 2);
	for (uint32_t i = 0; i < 4; i++)
		send_quiet(p, i + 1);
	t_ring(p->a);
	expect_burst(3, 0);
	expect(MLX5_CQE_RESP_ERR, 0, 3);
	expect_nothing();
	assert_int_equal(t_state(p->b), PRM_QP_STATE_ERR);
}

/* The fourth message finds no receive: the CQEs before it are written while the sender waits. */
static void parked_sender_keeps_nothing(void **state)
{
	struct t_pair *p = *state;

	with(p, PRM_MINI_CQE_HASH, Z_LINUX);
	receives(p, 3);
	for (uint32_t i = 0; i < 4; i++)
		send_quiet(p, i + 1);
	t_ring(p->a);
	assert_int_equal(t_park(p->a), HW_PARK_RNR);
	expect_burst(3, 0);
	expect_nothing();
}

/* `word`: 0 for any completion, 1 << 24 for a solicited one. */
static void arm(struct t_pair *p, uint32_t word)
{
	struct t_cq *cq = &p->b->cq;
	__be32 db[2] = {htobe32(word), htobe32(cq->cqn)};
	uint64_t be;

	memcpy(&be, db, 8);
	cq->dbr[T_ARM] = htobe32(word);
	eng_uar_write(&p->t->s, T_UAR, 0x20, be);
}

/* Makes a sender stop after n messages of a longer burst: their completions wait. */
static void keep(struct t_pair *p, uint32_t n, uint32_t first)
{
	z_keep(&z, p->b, n, first);
}

static void expect_event(struct t_pair *p)
{
	assert_int_equal(t_event(p->t, p->b->cq.evq[0]), 0);
	assert_int_equal(t_event(p->t, p->b->cq.evq[0]), -1);
}

static void one_event_for_a_session(void **state)
{
	struct t_pair *p = *state;

	with(p, PRM_MINI_CQE_HASH, Z_LINUX);
	arm(p, 0);
	burst(p, 8);
	expect_event(p);
	expect_burst(8, 0);
}

/* A program that arms the CQ goes to sleep: it must not depend on a sender that may be stopped. */
static void arming_ends_a_session(void **state)
{
	struct t_pair *p = *state;

	with(p, PRM_MINI_CQE_HASH, Z_LINUX);
	keep(p, 4, 0);
	expect_nothing();
	arm(p, 0);
	expect_event(p);
	expect_burst(4, 0);
	assert_int_equal(z.sessions, 1);
	keep(p, 4, 4);
	expect_nothing();
	arm(p, 1 << 28 | 1 << 24);
	assert_int_equal(t_event(p->t, p->b->cq.evq[0]), -1);
	expect_burst(4, 4);
}

static void awaited_completion_does_not_wait(void **state)
{
	struct t_pair *p = *state;

	with(p, PRM_MINI_CQE_HASH, Z_LINUX);
	arm(p, 0);
	keep(p, 1, 0);
	expect_event(p);
	expect_burst(1, 0);
	/* The CQ is armed for solicited completions: others may wait. */
	arm(p, 1 << 28 | 1 << 24);
	keep(p, 1, 1);
	expect_nothing();
	assert_int_equal(t_event(p->t, p->b->cq.evq[0]), -1);
}

/* The resize command writes what waits into the old buffer, with its event, before the notice. */
static void resize_with_waiting(void **state)
{
	struct t_pair *p = *state;
	struct t_cq *cq = &p->b->cq;
	struct mlx5_cqe64 c;
	uint8_t *next = aligned_alloc(4096, 64 << 7);
	uint32_t n = 0;

	with(p, PRM_MINI_CQE_HASH, Z_LINUX);
	keep(p, 4, 0);
	/* Another thread has armed the CQ, but has not yet written the waiting CQEs. */
	atomic_store(&cq->hw->armed, HW_CQ_ANY);
	memset(next, 0xf1, 64 << 7);
	assert_int_equal(
		eng_cq_resize(&p->t->s, cq->cqn, mem_self(&p->t->s), (uintptr_t)next, 7, 64), 0);
	expect_event(p);
	expect_burst(4, 0);
	assert_int_equal(z.sessions, 1);
	assert_true(z_poll(&z, &c));
	assert_int_equal(c.op_own >> 4, MLX5_CQE_RESIZE_CQ);
	expect_nothing();
	cq->buf = next;
	cq->log_size = 7;
	for (uint32_t i = 0; i < 40; i++) {
		uint32_t k = 1 + i * 7 % 16;

		burst(p, k);
		expect_burst(k, n);
		n += k;
	}
	expect_nothing();
	assert_uint_in_range(z.sessions, 30, 60);
	free(next);
}

static void end_of_a_qp_ends_a_session(void **state)
{
	static const enum prm_qp_state to[] = {PRM_QP_STATE_ERR, PRM_QP_STATE_RST};
	struct t_pair *p = *state;

	with(p, PRM_MINI_CQE_HASH, Z_LINUX);
	for (uint32_t i = 0; i < 2; i++) {
		keep(p, 4, i * 4);
		expect_nothing();
		assert_int_equal(eng_qp_set_state(&p->t->s, p->b->qpn, to[i]), 0);
		expect_burst(4, i * 4);
	}
}

/*
 * The old buffer has no room for waiting CQEs or the notice: the resize fails, the CQ does not
 * change.
 */
static void resize_without_room(void **state)
{
	struct t_pair *p = *state;
	struct t_cq *cq = &p->b->cq;

	with(p, PRM_MINI_CQE_HASH, Z_LINUX);
	keep(p, 4, 0);
	assert_int_equal(eng_cq_resize(&p->t->s, cq->cqn, mem_self(&p->t->s), 0, 2, 64), -ENOSPC);
	expect_burst(4, 0);
	expect_nothing();
	keep(p, 3, 4);
	cq_flush(&p->t->s, cq->cqn);
	expect_burst(3, 4);
}

/* The program's buffer is gone: the CQ is in error, and the device thread does not try for ever. */
static void buffer_is_gone(void **state)
{
	struct t_pair *p = *state;
	struct t_cq *cq = &p->b->cq;

	with(p, PRM_MINI_CQE_HASH, Z_LINUX);
	keep(p, 3, 0);
	t_unmap(p->t, cq->buf);
	park_rouse(&p->t->s, cq->hw->mem.slot);
	for (int i = 0; i < 3; i++) {
		eng_run_due(&p->t->s);
		t_now += 20000000;
	}
	assert_int_equal(hw_cq_error(cq->hw), HW_CQ_ERR_BUFFER);
	assert_int_equal(eng_run_due(&p->t->s), UINT64_MAX);
	assert_int_equal(t_event(p->t, cq->evq[1]), IBV_EVENT_CQ_ERR);
}

/* A sender is killed between two writes of one title: the half title does not count as written. */
static void half_a_title(void **state)
{
	struct t_pair *p = *state;
	struct t_cq *cq = &p->b->cq;
	struct zip_next x;
	uint8_t *title;

	with(p, PRM_MINI_CQE_HASH, Z_LINUX);
	title = (uint8_t *)z_at(cq, 0);
	keep(p, 4, 7);
	assert_true(zip_next(&p->t->s, cq->hw, &x));
	assert_int_equal(x.n, 4);
	assert_false(zip_written(&p->t->s, cq->hw, &x));
	memcpy(title, x.cqe, 64 - ZIP_LAST);
	assert_false(zip_written(&p->t->s, cq->hw, &x));
	memcpy(title, x.cqe, 64);
	assert_true(zip_written(&p->t->s, cq->hw, &x));
	title[63] = MLX5_CQE_INVALID << 4; /* the program has read it (rxq_cq_decompress_v()) */
	assert_true(zip_written(&p->t->s, cq->hw, &x));
}

/* Waiting completions take room in the CQ, too. */
static void overrun(void **state)
{
	struct t_pair *p = *state;

	with(p, PRM_MINI_CQE_HASH, Z_LINUX);
	burst(p, 16);
	burst(p, 16);
	burst(p, 1);
	assert_int_equal(hw_cq_error(p->b->cq.hw), HW_CQ_ERR_OVERRUN);
	expect_burst(16, 0);
	expect_burst(16, 16);
	expect_nothing();
}

/* The receives of an SRQ need not be in order: only one format has their numbers. */
static void srq_out_of_order(uint32_t format, uint32_t sessions)
{
	struct tb *t = tb_create();
	struct t_srq srq;
	struct t_qp *a = t_qp_make(t, 0, PRM_ST_RC, NULL), *b;
	static const uint32_t order[] = {0, 5, 10, 15}; /* t_srq_make() */

	t_srq_make(t, &srq, t->pd[1]);
	b = t_qp_make(t, 1, PRM_ST_RC, &srq);
	t_connect(a, b);
	z_make(&z, t, &b->cq, format, Z_LINUX);
	for (uint32_t i = 0; i < 4; i++)
		t_srq_post(&srq, b->key, b->mem, 64);
	for (uint32_t i = 0; i < 4; i++)
		t_post_quiet(a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND,
					       .inl = "xxxx",
					       .inl_len = i + 1});
	t_ring(a);
	for (uint32_t i = 0; i < 4; i++)
		expect(MLX5_CQE_RESP_SEND, i + 1, order[i]);
	expect_nothing();
	assert_int_equal(z.sessions, sessions);
	t_qp_free(a);
	t_qp_free(b);
	tb_destroy(t);
}

static void receives_out_of_order(void **state)
{
	srq_out_of_order(PRM_MINI_CQE_HASH, 0);
	srq_out_of_order(PRM_MINI_CQE_CSUM, 0);
	srq_out_of_order(PRM_MINI_CQE_CSUM_STRIDX, 1);
}

static void entries_of_128_bytes(void **state)
{
	struct t_pair *p = *state;
	struct t_cq *cq = &p->b->cq;

	t_cq_make(p->t, cq, T_CQ_LOG, 128);
	t_set_cq(p->b, NULL, cq);
	memset(cq->buf, 0xaa, 128u << T_CQ_LOG);
	with(p, PRM_MINI_CQE_HASH, Z_LINUX);
	for (uint32_t i = 0; i < 9; i++) {
		burst(p, 10);
		expect_burst(10, i * 10);
	}
	assert_uint_in_range(z.sessions, 9, 12);
	for (uint32_t i = 0; i < 1u << T_CQ_LOG; i++)
		assert_int_equal(cq->buf[i * 128 + 63], 0xaa);
}

/* A thread that rings without end keeps nothing back: a session has at most HW_ZIP_MAX CQEs. */
static void long_queue(void **state)
{
	struct t_pair *p = *state;

	with(p, PRM_MINI_CQE_HASH, Z_LINUX);
	p->b->cq.hw->oi = 1;
	for (uint32_t i = 0; i < 3; i++) {
		burst(p, 15);
		expect_burst(15, i * 15);
	}
	assert_uint_in_range(z.sessions, 3, 5);
}

int main(void)
{
#define ZIP_TEST(f) cmocka_unit_test_setup_teardown(f, t_pair_setup, t_pair_teardown)
	const struct CMUnitTest tests[] = {
		ZIP_TEST(few_are_plain),
		ZIP_TEST(burst_is_a_session),
		ZIP_TEST(layout_of_a_session),
		cmocka_unit_test(readers_agree),
		ZIP_TEST(reader_is_late),
		ZIP_TEST(what_differs_ends_a_session),
		ZIP_TEST(own_completions_between),
		ZIP_TEST(error_after_a_session),
		ZIP_TEST(parked_sender_keeps_nothing),
		ZIP_TEST(one_event_for_a_session),
		ZIP_TEST(arming_ends_a_session),
		ZIP_TEST(awaited_completion_does_not_wait),
		ZIP_TEST(end_of_a_qp_ends_a_session),
		ZIP_TEST(resize_with_waiting),
		ZIP_TEST(resize_without_room),
		ZIP_TEST(buffer_is_gone),
		ZIP_TEST(half_a_title),
		ZIP_TEST(overrun),
		cmocka_unit_test(receives_out_of_order),
		ZIP_TEST(entries_of_128_bytes),
		ZIP_TEST(long_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
