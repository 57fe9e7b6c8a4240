/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packets of a capture: which packets a message makes, their content, and none without a capture.
 */
#include "engine/test.h"
#include "hw/port.h"
#include "hw/qp_state.h"
#include "hw/cap.h"
#include "hw/qp.h"

static struct seg *seg; /* the segment that the capture reads */

static int setup(void **state)
{
	if (t_pair_setup(state))
		return -1;
	seg = &((struct t_pair *)*state)->t->s;
	return cap_start(seg, 65535);
}

static int teardown(void **state)
{
	cap_finish(seg);
	return t_pair_teardown(state);
}

/* The next captured packet; fails if there is none. */
static struct pkt next(uint8_t *payload)
{
	const struct seg_cap_rec *r = cap_first(seg);
	struct pkt p;

	assert_non_null(r);
	p = r->pkt;
	if (payload)
		memcpy(payload, r->payload, p.kept);
	cap_next(seg);
	return p;
}

static void no_more(void)
{
	assert_null(cap_first(seg));
	assert_int_equal(cap_lost(seg), 0);
}

static void expect(uint8_t opcode, uint32_t psn, uint32_t len)
{
	struct pkt p = next(NULL);

	assert_int_equal(p.opcode, opcode);
	assert_int_equal(p.psn, psn & 0xffffff);
	assert_int_equal(p.payload, len);
}

static void expect_answer(uint8_t opcode, uint32_t psn, uint32_t syndrome)
{
	struct pkt p = next(NULL);

	assert_int_equal(p.opcode, opcode);
	assert_int_equal(p.psn, psn & 0xffffff);
	assert_int_equal(p.syndrome, syndrome);
}

static void send_of(struct t_pair *p, uint8_t opcode, uint32_t len, uint32_t flags)
{
	struct t_sge sge = t_own(p->a, 0, len);

	t_post(p->a, &(struct t_wr){.opcode = opcode,
				    .fm_ce_se = (uint8_t)(T_SIG | flags),
				    .imm = 0x12345678,
				    .raddr = (uintptr_t)p->b->mem,
				    .rkey = p->b->key,
				    .sge = &sge,
				    .nsge = len ? 1 : 0});
}

static void test_a_send_of_three_packets(void **state)
{
	struct t_pair *p = *state;
	uint32_t psn = p->a->hw->next_send_psn, lid[2];
	uint8_t got[3 * T_MTU];
	struct pkt k[4];

	for (int i = 0; i < 2; i++)
		lid[i] = hw_port(seg, p->t->port[i])->lid;
	t_recv_at(p->b, 0, 4096);
	send_of(p, MLX5_OPCODE_SEND_IMM, 2500, T_SOL);
	for (int i = 0; i < 3; i++) {
		k[i] = next(got + i * T_MTU);
		assert_int_equal(k[i].slid, lid[0]);
		assert_int_equal(k[i].dlid, p->a->hw->path[0].dlid);
		assert_int_equal(k[i].dest_qpn, p->b->qpn);
		assert_int_equal(k[i].pkey, 0xffff);
		assert_int_equal(k[i].psn, (psn + (uint32_t)i) & 0xffffff);
		assert_int_equal(k[i].kept, k[i].payload);
		assert_true(k[i].time_ns > 0);
	}
	assert_int_equal(k[0].opcode, PKT_SEND_FIRST);
	assert_int_equal(k[1].opcode, PKT_SEND_MIDDLE);
	assert_int_equal(k[2].opcode, PKT_SEND_LAST_IMM);
	assert_int_equal(k[0].flags & (PKT_F_ACK_REQ | PKT_F_SOLICITED), 0);
	assert_int_equal(k[2].flags & (PKT_F_ACK_REQ | PKT_F_SOLICITED),
			 PKT_F_ACK_REQ | PKT_F_SOLICITED);
	assert_int_equal(k[2].imm, 0x12345678);
	assert_int_equal(k[2].payload, 2500 - 2 * T_MTU);
	assert_memory_equal(got, p->a->mem, 2500);
	k[3] = next(NULL);
	assert_int_equal(k[3].opcode, PKT_ACK);
	assert_int_equal(k[3].syndrome, PKT_SYND_ACK);
	assert_int_equal(k[3].psn, (psn + 2) & 0xffffff);
	assert_int_equal(k[3].msn, 1);
	assert_int_equal(k[3].slid, lid[1]);
	assert_int_equal(k[3].dlid, lid[0]);
	assert_int_equal(k[3].dest_qpn, p->a->qpn);
	no_more();
}

static void test_one_packet(void **state)
{
	struct t_pair *p = *state;
	uint32_t psn = p->a->hw->next_send_psn;

	t_recv_at(p->b, 0, 8);
	t_recv_at(p->b, 0, 8);
	send_of(p, MLX5_OPCODE_SEND, 0, 0);
	expect(PKT_SEND_ONLY, psn, 0);
	expect_answer(PKT_ACK, psn, PKT_SYND_ACK);
	send_of(p, MLX5_OPCODE_RDMA_WRITE_IMM, 1, 0);
	expect(PKT_WRITE_ONLY_IMM, psn + 1, 1);
	expect_answer(PKT_ACK, psn + 1, PKT_SYND_ACK);
	no_more();
}

static void test_a_write_and_a_read(void **state)
{
	struct t_pair *p = *state;
	uint32_t psn = p->a->hw->next_send_psn;
	uint8_t got[2 * T_MTU];
	struct pkt k;

	send_of(p, MLX5_OPCODE_RDMA_WRITE, 2 * T_MTU, 0);
	k = next(NULL);
	assert_int_equal(k.opcode, PKT_WRITE_FIRST);
	assert_true(k.va == (uintptr_t)p->b->mem);
	assert_int_equal(k.rkey, p->b->key);
	assert_int_equal(k.dma_len, 2 * T_MTU);
	expect(PKT_WRITE_LAST, psn + 1, T_MTU);
	expect_answer(PKT_ACK, psn + 1, PKT_SYND_ACK);

	memset(p->b->mem, 0x77, 2000);
	send_of(p, MLX5_OPCODE_RDMA_READ, 2000, 0);
	k = next(NULL);
	assert_int_equal(k.opcode, PKT_READ_REQUEST);
	assert_int_equal(k.dma_len, 2000);
	assert_int_equal(k.payload, 0);
	k = next(got);
	assert_int_equal(k.opcode, PKT_READ_RESP_FIRST);
	assert_int_equal(k.psn, (psn + 2) & 0xffffff);
	assert_int_equal(k.syndrome, PKT_SYND_ACK);
	k = next(got + T_MTU);
	assert_int_equal(k.opcode, PKT_READ_RESP_LAST);
	assert_int_equal(k.psn, (psn + 3) & 0xffffff);
	assert_int_equal(k.payload, 2000 - T_MTU);
	assert_memory_equal(got, p->b->mem, 2000);
	no_more();
}

static void test_an_atomic(void **state)
{
	struct t_pair *p = *state;
	const struct mlx5_wqe_atomic_seg add = {.swap_add = htobe64(3)};
	struct t_sge sge = t_own(p->a, 0, 8);
	struct pkt k;

	memcpy(p->b->mem, &(uint64_t){0x1122334455667788}, 8);
	t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_ATOMIC_FA,
				    .fm_ce_se = T_SIG,
				    .raddr = (uintptr_t)p->b->mem,
				    .rkey = p->b->key,
				    .operands = &add,
				    .operands_len = sizeof(add),
				    .sge = &sge,
				    .nsge = 1});
	k = next(NULL);
	assert_int_equal(k.opcode, PKT_FETCH_ADD);
	assert_int_equal(k.swap_add, 3);
	assert_int_equal(k.payload, 0);
	k = next(NULL);
	assert_int_equal(k.opcode, PKT_ATOMIC_ACK);
	assert_true(k.compare == 0x1122334455667788);
	no_more();
}

static void test_refusals(void **state)
{
	struct t_pair *p = *state;
	uint32_t psn = p->a->hw->next_send_psn;

	p->a->hw->rnr_retry = 1;
	p->b->hw->min_rnr_nak = 12;
	send_of(p, MLX5_OPCODE_SEND, 8, 0);
	expect(PKT_SEND_ONLY, psn, 8);
	expect_answer(PKT_ACK, psn, PKT_SYND_RNR_NAK | 12);
	no_more();
	/* the next attempt succeeds */
	t_recv_at(p->b, 0, 8);
	t_now += NSEC_PER_SEC;
	eng_run_due(seg);
	expect(PKT_SEND_ONLY, psn, 8);
	expect_answer(PKT_ACK, psn, PKT_SYND_ACK);
	/* a key that does not exist */
	p->b->key ^= 0xff00;
	send_of(p, MLX5_OPCODE_RDMA_WRITE, 8, 0);
	expect(PKT_WRITE_ONLY, psn + 1, 8);
	expect_answer(PKT_ACK, psn + 1, PKT_SYND_NAK_ACCESS);
	no_more();
}

static void test_no_answer(void **state)
{
	struct t_pair *p = *state;
	uint32_t psn = p->a->hw->next_send_psn;

	assert_int_equal(eng_qp_set_state(seg, p->b->qpn, PRM_QP_STATE_RST), 0);
	send_of(p, MLX5_OPCODE_RDMA_WRITE, 8, 0);
	expect(PKT_WRITE_ONLY, psn, 8);
	no_more();
}

/* Waiting for a lock sends no packet. */
static void test_a_lock_is_no_packet(void **state)
{
	struct t_pair *p = *state;
	uint32_t psn = p->a->hw->next_send_psn;

	assert_int_equal(seg_lock(seg, &p->b->hw->rq_lock, 0), 0);
	send_of(p, MLX5_OPCODE_RDMA_WRITE, 8, 0);
	assert_int_equal(p->a->hw->park, HW_PARK_LOCK);
	seg_unlock(seg, &p->b->hw->rq_lock);
	t_now += 2 * NSEC_PER_MSEC;
	eng_run_due(seg);
	t_expect_done(p->a, MLX5_OPCODE_RDMA_WRITE, 0);
	expect(PKT_WRITE_ONLY, psn, 8);
	expect_answer(PKT_ACK, psn, PKT_SYND_ACK);
	no_more();
}

static void test_a_snap_length(void **state)
{
	struct t_pair *p = *state;
	struct pkt k;

	cap_finish(seg);
	assert_int_equal(cap_start(seg, 10), 0);
	t_recv_at(p->b, 0, 4096);
	send_of(p, MLX5_OPCODE_SEND, 2000, 0);
	k = next(NULL);
	assert_int_equal(k.kept, 10);
	assert_int_equal(k.payload, T_MTU);
}

static void test_nothing_while_nobody_captures(void **state)
{
	struct t_pair *p = *state;

	cap_stop(seg);
	t_recv_at(p->b, 0, 8);
	send_of(p, MLX5_OPCODE_SEND, 8, 0);
	t_expect_done(p->a, MLX5_OPCODE_SEND, 0);
	no_more();
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_a_send_of_three_packets),
		T(test_one_packet),
		T(test_a_write_and_a_read),
		T(test_an_atomic),
		T(test_refusals),
		T(test_no_answer),
		T(test_a_lock_is_no_packet),
		T(test_a_snap_length),
		T(test_nothing_while_nobody_captures),
	};

	return cmocka_run_group_tests_name("capture", tests, NULL, NULL);
}
