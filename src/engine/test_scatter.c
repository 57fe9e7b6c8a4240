/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Scatter to CQE: which payloads lie in the CQE, where in it, and that the memory of the receive or
 * READ stays as it is.
 */
#include "engine/test.h"
#include "engine/test_zip.h"
#include "hw/hca.h"
#include "hw/mkey.h"
#include "hw/port.h"
#include "hw/qp.h"
#include "hw/srq.h"
#include "wire/prm/dct.h"

#define MARK 0xee
#define ROOM 256 /* bytes of each buffer that is looked at */
#define CQE_DATA_BITS (MLX5_INLINE_SCATTER_32 | MLX5_INLINE_SCATTER_64)

static const uint32_t lengths[] = {0, 1, 31, 32, 33, 63, 64, 65};

/* Two connected QPs with CQEs of `cqe_bytes`; b has an SRQ if it is asked for. */
struct ends {
	struct tb *t;
	struct t_qp *a, *b;
	struct t_cq cq[2];
	struct t_srq srq;
	bool has_srq;
};

static void ends_make(struct ends *e, enum prm_st st, uint32_t cqe_bytes, bool srq)
{
	struct tb *t = tb_create();

	memset(e, 0, sizeof(*e));
	e->t = t;
	e->has_srq = srq;
	if (srq)
		t_srq_make(t, &e->srq, t->pd[1]);
	e->a = t_qp_make(t, 0, st, NULL);
	e->b = t_qp_make(t, 1, st, srq ? &e->srq : NULL);
	t_cq_make(t, &e->cq[0], T_CQ_LOG, cqe_bytes);
	t_cq_make(t, &e->cq[1], T_CQ_LOG, cqe_bytes);
	t_set_cq(e->a, &e->cq[0], &e->cq[0]);
	t_set_cq(e->b, &e->cq[1], &e->cq[1]);
	t_connect(e->a, e->b);
	for (uint32_t i = 0; i < T_MEM; i++)
		e->a->mem[i] = (uint8_t)(i * 7 + 1);
}

static void ends_drop(struct ends *e)
{
	t_qp_free(e->a);
	t_qp_free(e->b);
	tb_destroy(e->t);
}

static void post_receive(struct ends *e, uint32_t len)
{
	memset(e->b->mem, MARK, ROOM);
	if (e->has_srq)
		t_srq_post(&e->srq, e->b->key, e->b->mem, len);
	else
		t_recv_at(e->b, 0, len);
}

/* The bits that a CQE has for a payload of `len` bytes, by the largest that it may hold. */
static uint8_t bits(uint32_t len, uint32_t most)
{
	return !len || len > most ? 0
	       : most == 64       ? MLX5_INLINE_SCATTER_64
				  : MLX5_INLINE_SCATTER_32;
}

/*
 * The payload is in the CQE and `buf` untouched, or it is in `buf`; nothing else is written there.
 */
static void expect_payload(const struct mlx5_cqe64 *c, const uint8_t *buf, const void *sent,
			   uint32_t len, uint8_t want)
{
	const uint8_t *data =
		want == MLX5_INLINE_SCATTER_64 ? (const void *)(c - 1) : (const void *)c;
	uint32_t n = want ? 0 : len;

	assert_int_equal(c->op_own & CQE_DATA_BITS, want);
	assert_memory_equal(want ? data : buf, sent, len);
	for (uint32_t i = n; i < ROOM; i++)
		assert_int_equal(buf[i], MARK);
}

/* By qpc.cs_res and the bytes of a CQE: the longest payload in a CQE. */
static uint32_t most_of(uint32_t format, uint32_t cqe_bytes)
{
	return format == CQE_FORMAT_DATA_32                       ? 32
	       : format == CQE_FORMAT_DATA_64 && cqe_bytes == 128 ? 64
								  : 0;
}

static void one_send(struct ends *e, uint8_t opcode, uint32_t len, uint32_t most)
{
	struct t_sge sge = t_own(e->a, 40, len);
	struct mlx5_cqe64 *c;

	post_receive(e, ROOM);
	t_post(e->a, &(struct t_wr){.opcode = opcode,
				    .fm_ce_se = T_SIG,
				    .imm = 0x1234567,
				    .sge = &sge,
				    .nsge = len != 0});
	c = t_poll(&e->cq[1]);
	assert_non_null(c);
	assert_int_equal(mlx5dv_get_cqe_opcode(c),
			 opcode == MLX5_OPCODE_SEND ? MLX5_CQE_RESP_SEND : MLX5_CQE_RESP_SEND_IMM);
	assert_int_equal(be32toh(c->byte_cnt), len);
	assert_int_equal(be32toh(c->sop_drop_qpn) & 0xffffff, e->b->qpn);
	assert_int_equal(be32toh(c->srqn_uidx) & 0xffffff, e->b->hw->user_index);
	assert_int_equal(be64toh(c->timestamp), t_now);
	if (opcode == MLX5_OPCODE_SEND_IMM)
		assert_int_equal(be32toh(c->imm_inval_pkey), 0x1234567);
	expect_payload(c, e->b->mem, e->a->mem + 40, len, bits(len, most));
	c = t_poll(&e->cq[0]);
	assert_non_null(c);
	assert_int_equal(mlx5dv_get_cqe_opcode(c), MLX5_CQE_REQ);
	assert_int_equal(c->op_own & CQE_DATA_BITS, 0);
}

static void one_write(struct ends *e, uint32_t len)
{
	struct t_sge sge = t_own(e->a, 40, len);
	struct mlx5_cqe64 *c;

	post_receive(e, ROOM);
	memset(e->b->mem + ROOM, MARK, ROOM);
	t_post(e->a, &(struct t_wr){.opcode = MLX5_OPCODE_RDMA_WRITE_IMM,
				    .fm_ce_se = T_SIG,
				    .raddr = (uintptr_t)e->b->mem + ROOM,
				    .rkey = e->b->key,
				    .sge = &sge,
				    .nsge = len != 0});
	c = t_poll(&e->cq[1]);
	assert_non_null(c);
	assert_int_equal(mlx5dv_get_cqe_opcode(c), MLX5_CQE_RESP_WR_IMM);
	expect_payload(c, e->b->mem + ROOM, e->a->mem + 40, len, 0);
	assert_non_null(t_poll(&e->cq[0]));
}

static void short_sends_lie_in_their_cqe(void **state)
{
	static const enum prm_st sts[] = {PRM_ST_RC, PRM_ST_UC};

	for (int i = 0; i < 2 * 2 * 2 * 3; i++) {
		uint32_t format = (uint32_t)(i / 8), cqe_bytes = i & 2 ? 128 : 64;
		struct ends e;

		ends_make(&e, sts[i & 1], cqe_bytes, i & 4);
		e.b->hw->resp_data = (uint8_t)format;
		for (uint32_t n = 0; n < sizeof(lengths) / sizeof(lengths[0]); n++) {
			one_send(&e, MLX5_OPCODE_SEND, lengths[n], most_of(format, cqe_bytes));
			one_send(&e, MLX5_OPCODE_SEND_IMM, lengths[n], most_of(format, cqe_bytes));
			one_write(&e, lengths[n]);
		}
		ends_drop(&e);
	}
}

static void one_read(struct ends *e, uint32_t len, uint32_t most, bool signaled)
{
	struct t_sge sge = t_own(e->a, 0, len);
	struct mlx5_cqe64 *c;

	memset(e->a->mem, MARK, ROOM);
	for (uint32_t i = 0; i < ROOM; i++)
		e->b->mem[i] = (uint8_t)(len + i);
	t_post(e->a, &(struct t_wr){.opcode = MLX5_OPCODE_RDMA_READ,
				    .fm_ce_se = signaled ? T_SIG : 0,
				    .raddr = (uintptr_t)e->b->mem + 3,
				    .rkey = e->b->key,
				    .sge = &sge,
				    .nsge = len != 0});
	c = t_poll(&e->cq[0]);
	if (!signaled) {
		assert_null(c);
		assert_memory_equal(e->a->mem, e->b->mem + 3, len);
		return;
	}
	assert_non_null(c);
	assert_int_equal(mlx5dv_get_cqe_opcode(c), MLX5_CQE_REQ);
	assert_int_equal(be32toh(c->sop_drop_qpn), MLX5_OPCODE_RDMA_READ << 24 | e->a->qpn);
	assert_int_equal(be32toh(c->byte_cnt), len);
	expect_payload(c, e->a->mem, e->b->mem + 3, len, bits(len, most));
}

static void short_answers_lie_in_their_cqe(void **state)
{
	for (uint32_t i = 0; i < 2 * 3; i++) {
		uint32_t format = i / 2, cqe_bytes = i & 1 ? 128 : 64;
		struct ends e;

		ends_make(&e, PRM_ST_RC, cqe_bytes, false);
		e.a->hw->req_data = (uint8_t)format;
		for (uint32_t n = 0; n < sizeof(lengths) / sizeof(lengths[0]); n++) {
			one_read(&e, lengths[n], most_of(format, cqe_bytes), true);
			one_read(&e, lengths[n], 0, false);
		}
		ends_drop(&e);
	}
}

/* Their byte order in a CQE is not known. */
static void answers_of_atomics_lie_in_memory(void **state)
{
	static const struct {
		uint8_t opcode, opmod;
		uint32_t operands, size;
	} ops[] = {
		{MLX5_OPCODE_ATOMIC_CS, 0, 16, 8},
		{MLX5_OPCODE_ATOMIC_FA, 0, 16, 8},
		{MLX5_OPCODE_ATOMIC_MASKED_CS, WQE_OPMOD_ATOMIC64, 32, 8},
		{MLX5_OPCODE_ATOMIC_MASKED_FA, WQE_OPMOD_ATOMIC32, 16, 4},
	};
	static const uint8_t zero[32];
	const uint64_t was = 0x1122334455667788;
	const uint32_t low = htobe32(0x55667788);

	for (uint32_t i = 0; i < 4 * 3; i++) {
		uint32_t format = i / 4, cqe_bytes = format == CQE_FORMAT_DATA_64 ? 128 : 64;
		struct ends e;
		struct t_sge sge;
		struct mlx5_cqe64 *c;

		ends_make(&e, PRM_ST_RC, cqe_bytes, false);
		e.a->hw->req_data = (uint8_t)format;
		sge = t_own(e.a, 0, ops[i % 4].size);
		memset(e.a->mem, MARK, ROOM);
		memcpy(e.b->mem, &was, sizeof(was));
		t_post(e.a, &(struct t_wr){.opcode = ops[i % 4].opcode,
					   .opmod = ops[i % 4].opmod,
					   .fm_ce_se = T_SIG,
					   .raddr = (uintptr_t)e.b->mem,
					   .rkey = e.b->key,
					   .operands = zero,
					   .operands_len = ops[i % 4].operands,
					   .sge = &sge,
					   .nsge = 1});
		c = t_poll(&e.cq[0]);
		assert_non_null(c);
		assert_int_equal(mlx5dv_get_cqe_opcode(c), MLX5_CQE_REQ);
		expect_payload(c, e.a->mem, sge.len == 8 ? (const void *)&was : &low, sge.len, 0);
		ends_drop(&e);
	}
}

static void send_eight(struct t_pair *p)
{
	t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND,
				    .fm_ce_se = T_SIG,
				    .inl = "12345678",
				    .inl_len = 8});
}

/* Receives and answers that do not fit, or whose keys are wrong, are errors as before. */
static void a_receive_that_is_too_short(void **state)
{
	struct t_pair *p = *state;

	p->b->hw->resp_data = CQE_FORMAT_DATA_32;
	t_recv_at(p->b, 0, 7);
	send_eight(p);
	t_expect_error(p->b, MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR, 0);
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR, 0);
}

static void a_receive_with_a_wrong_key(void **state)
{
	struct t_pair *p = *state;
	struct t_sge bad = t_own(p->b, 0, 64);

	p->b->hw->resp_data = CQE_FORMAT_DATA_32;
	bad.key ^= 1;
	t_recv(p->b, &bad, 1);
	send_eight(p);
	t_expect_error(p->b, MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, 0);
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_OP_ERR, 0);
}

static void an_answer_with_a_wrong_key(void **state)
{
	struct t_pair *p = *state;
	struct t_sge bad = t_own(p->a, 0, 8);

	p->a->hw->req_data = CQE_FORMAT_DATA_32;
	bad.key ^= 1;
	t_read(p->a, p->b, 0, bad);
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, 0);
}

/* The key is invalidated although the message is in no memory yet. */
static void a_send_with_invalidate(void **state)
{
	struct t_pair *p = *state;
	struct hw_mkey *mk = t_indirect_key(p->t, p->t->pd[1], PRM_MKC_KLM, 4);
	struct mlx5_cqe64 *c;

	mk->en_rinval = 1;
	LAYOUT_SET(mkc, mk->mkc, en_rinval, 1);
	atomic_store(&mk->free, 0);
	p->b->hw->resp_data = CQE_FORMAT_DATA_32;
	memset(p->b->mem, MARK, ROOM);
	t_recv_at(p->b, 0, ROOM);
	t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND_INVAL,
				    .fm_ce_se = T_SIG,
				    .imm = mk->key,
				    .inl = "invalidate",
				    .inl_len = 10});
	c = t_received(p->b, MLX5_CQE_RESP_SEND_INV, 10, 0);
	assert_int_equal(be32toh(c->imm_inval_pkey), mk->key);
	expect_payload(c, p->b->mem, "invalidate", 10, MLX5_INLINE_SCATTER_32);
	assert_int_equal(atomic_load(&mk->free), 1);
	t_expect_done(p->a, MLX5_OPCODE_SEND_INVAL, 0);
}

/* A DCT, whose requests have no QP that both ends know. */
static void sends_to_a_dct(void **state)
{
	struct tb *t = *state;
	struct t_srq srq;
	struct t_cq wide;
	struct t_qp *ini, *dct;
	struct mlx5_wqe_av av = {0};
	struct mlx5_cqe64 *c;

	t_srq_make(t, &srq, t->pd[1]);
	ini = t_qp_make(t, 0, PRM_ST_DCI, NULL);
	dct = t_qp_make(t, 1, HW_ST_DCT, &srq);
	t_cq_make(t, &wide, T_CQ_LOG, 128);
	t_set_cq(dct, &wide, &wide);
	dct->hw->no_rq = dct->hw->no_sq = 1;
	dct->hw->resp_data = CQE_FORMAT_DATA_64;
	t_set_state(dct, PRM_QP_STATE_RTR);
	assert_int_equal(eng_qp_set_state(&t->s, ini->qpn, PRM_QP_STATE_RTS), 0);
	av.dqp_dct = htobe32(dct->qpn | 0x80000000u);
	av.rlid = htobe16((uint16_t)atomic_load(&hw_port(&t->s, t->port[1])->lid));
	memset(dct->mem, MARK, ROOM);
	t_srq_post(&srq, dct->key, dct->mem, ROOM);
	t_post(ini, &(struct t_wr){.opcode = MLX5_OPCODE_SEND,
				   .fm_ce_se = T_SIG,
				   .av = &av,
				   .inl = "dynamically",
				   .inl_len = 11});
	c = t_poll(&wide);
	assert_non_null(c);
	expect_payload(c, dct->mem, "dynamically", 11, MLX5_INLINE_SCATTER_64);
	t_expect_done(ini, MLX5_OPCODE_SEND, 0);
	t_qp_free(ini);
	t_qp_free(dct);
}

/* Mini CQEs hold no payload, so a short message ends a session and begins none. */
static void a_payload_is_not_compressed(void **state)
{
	struct t_pair *p = *state;
	struct z_cq z;
	struct mlx5_cqe64 c;
	static const uint32_t len[] = {40, 40, 40, 8, 8, 8, 8, 40, 40, 40};

	z_make(&z, p->t, &p->b->cq, PRM_MINI_CQE_CSUM, Z_LINUX);
	p->b->hw->resp_data = CQE_FORMAT_DATA_32;
	memset(p->b->mem, MARK, ROOM);
	for (uint32_t i = 0; i < 10; i++)
		t_recv_at(p->b, 0, ROOM);
	for (uint32_t i = 0; i < 10; i++) {
		struct t_sge sge = t_own(p->a, 0, len[i]);

		t_post_quiet(p->a,
			     &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .sge = &sge, .nsge = 1});
	}
	t_ring(p->a);
	for (uint32_t i = 0; i < 10; i++) {
		assert_true(z_poll(&z, &c));
		assert_int_equal(be32toh(c.byte_cnt), len[i]);
		assert_int_equal(be16toh(c.wqe_counter), i);
		assert_int_equal(c.op_own & CQE_DATA_BITS,
				 len[i] == 8 ? MLX5_INLINE_SCATTER_32 : 0);
		if (len[i] == 8)
			assert_memory_equal(&c, p->a->mem, 8);
	}
	assert_int_equal(z.sessions, 2);
	assert_false(z_poll(&z, &c));
}

/*
 * The READ is done, and the lock of its CQ cannot be had: nothing keeps the answer until the CQE is
 * written, so it is in memory. The program that waits for the CQE finds it there.
 */
static void an_answer_whose_cqe_is_owed(void **state)
{
	struct t_pair *p = *state;
	struct t_sge sge = t_own(p->a, 0, 20);
	struct mlx5_cqe64 *c;

	p->a->hw->req_data = CQE_FORMAT_DATA_32;
	memset(p->a->mem, MARK, ROOM);
	memset(p->b->mem, 0x5a, ROOM);
	assert_int_equal(seg_lock(&p->t->s, &p->a->cq.hw->lock, 0), 0);
	t_read(p->a, p->b, 0, sge);
	t_assert_empty(&p->a->cq);
	seg_unlock(&p->t->s, &p->a->cq.hw->lock);
	memset(p->b->mem, 0, ROOM); /* it is not read again */
	t_now += 2 * NSEC_PER_MSEC;
	eng_run_due(&p->t->s);
	c = t_poll(&p->a->cq);
	assert_non_null(c);
	assert_int_equal(mlx5dv_get_cqe_opcode(c), MLX5_CQE_REQ);
	memset(p->b->mem, 0x5a, ROOM);
	expect_payload(c, p->a->mem, p->b->mem, 20, 0);
}

static struct t_cq *shrinks;

/* The CQ is resized while the requester fills in its CQE. */
static uint64_t shrinking_clock(void)
{
	if (shrinks) {
		shrinks->hw->cqe_bytes = 64;
		shrinks->cqe_bytes = 64;
		shrinks->hw->log_size = ++shrinks->log_size;
		shrinks = NULL;
	}
	return t_now;
}

static void an_answer_that_no_longer_fits_its_cqe(void **state)
{
	struct ends e;
	struct t_sge sge;
	struct mlx5_cqe64 *c;

	ends_make(&e, PRM_ST_RC, 128, false);
	sge = t_own(e.a, 0, 40);
	e.a->hw->req_data = CQE_FORMAT_DATA_64;
	memset(e.a->mem, MARK, ROOM);
	memset(e.b->mem, 0x5a, ROOM);
	eng_clock = shrinking_clock;
	shrinks = &e.cq[0];
	t_read(e.a, e.b, 0, sge);
	t_now += 2 * NSEC_PER_MSEC;
	eng_run_due(&e.t->s);
	c = t_poll(&e.cq[0]);
	assert_non_null(c);
	assert_int_equal(mlx5dv_get_cqe_opcode(c), MLX5_CQE_REQ);
	expect_payload(c, e.a->mem, e.b->mem, 40, 0);
	ends_drop(&e);
}

int main(void)
{
#define B(f) cmocka_unit_test_setup_teardown(f, tb_setup, tb_teardown)
#define T(f) cmocka_unit_test_setup_teardown(f, t_pair_setup, t_pair_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_sends_lie_in_their_cqe),
		cmocka_unit_test(short_answers_lie_in_their_cqe),
		cmocka_unit_test(answers_of_atomics_lie_in_memory),
		B(sends_to_a_dct),
		T(a_receive_that_is_too_short),
		T(a_receive_with_a_wrong_key),
		T(an_answer_with_a_wrong_key),
		T(a_send_with_invalidate),
		T(a_payload_is_not_compressed),
		T(an_answer_whose_cqe_is_owed),
		cmocka_unit_test(an_answer_that_no_longer_fits_its_cqe),
	};

	return cmocka_run_group_tests_name("engine scatter to CQE", tests, NULL, NULL);
}
