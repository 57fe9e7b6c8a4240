/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Connected transports over Ethernet ports, by each kind of GID, and what keeps messages away. */
#include "engine/test_roce.h"
#include "fabric/count.h"
#include "hw/flags.h"
#include "hw/srq.h"
#include "wire/prm/dct.h"

#define ACK_14_NS UINT64_C(67108864) /* 4.096 us << 14 */

static struct t_wr wr_of(uint8_t opcode, struct t_qp *to, const struct t_sge *sge)
{
	return (struct t_wr){.opcode = opcode,
			     .fm_ce_se = T_SIG,
			     .raddr = (uintptr_t)to->mem,
			     .rkey = to->key,
			     .sge = sge,
			     .nsge = 1};
}

static void rdma(struct t_qp *a, struct t_qp *b, uint8_t opcode, uint32_t len)
{
	struct t_sge sge = t_own(a, 0, len);
	struct t_wr wr = wr_of(opcode, b, &sge);

	t_post(a, &wr);
}

/* The QPs of one case, connected by one entry of the GID tables. */
static void make(struct tb *t, enum prm_st st, uint32_t index, struct t_qp **a, struct t_qp **b)
{
	*a = t_qp_make(t, 0, st, NULL);
	*b = t_qp_make(t, 1, st, NULL);
	roce_connect(*a, *b, index);
	memset((*a)->mem, 0x5a, 4096);
}

static void rc_by_each_gid(void **state)
{
	static const uint8_t l3[] = {0, 1, 0, 2}; /* GRH, IPv6, IPv4 */
	const struct mlx5_wqe_atomic_seg add = {.swap_add = htobe64(3)};
	struct t_qp *a, *b;

	for (uint32_t i = 0; i < ROCE_INDICES; i++) {
		struct mlx5_cqe64 *c;
		struct t_sge sge;
		struct t_wr wr;

		make(*state, PRM_ST_RC, i, &a, &b);
		t_recv_at(b, 0, 4096);
		rdma(a, b, MLX5_OPCODE_SEND, 3000);
		t_expect_done(a, MLX5_OPCODE_SEND, 0);
		c = t_received(b, MLX5_CQE_RESP_SEND, 3000, 0);
		assert_int_equal(be32toh(c->flags_rqpn) >> 24, l3[i]);
		assert_int_equal(c->slid, 0);
		assert_int_equal(c->l4_hdr_type_etc & 1, 0); /* no VLAN */
		assert_memory_equal(b->mem, a->mem, 3000);
		memset(b->mem, 0x77, 3000);
		rdma(a, b, MLX5_OPCODE_RDMA_READ, 3000);
		t_expect_done(a, MLX5_OPCODE_RDMA_READ, 1);
		assert_memory_equal(b->mem, a->mem, 3000);
		rdma(a, b, MLX5_OPCODE_RDMA_WRITE, 3000);
		t_expect_done(a, MLX5_OPCODE_RDMA_WRITE, 2);
		sge = t_own(a, 0, 8);
		wr = wr_of(MLX5_OPCODE_ATOMIC_FA, b, &sge);
		wr.operands = &add;
		wr.operands_len = sizeof(add);
		t_post(a, &wr);
		t_expect_done(a, MLX5_OPCODE_ATOMIC_FA, 3);
		assert_int_equal(b->mem[0], 0x77 + 3);
		roce_free(a, b);
	}
}

static void uc_by_each_gid(void **state)
{
	struct t_qp *a, *b;

	for (uint32_t i = 0; i < ROCE_INDICES; i++) {
		make(*state, PRM_ST_UC, i, &a, &b);
		rdma(a, b, MLX5_OPCODE_RDMA_WRITE, 3000);
		t_expect_done(a, MLX5_OPCODE_RDMA_WRITE, 0);
		assert_memory_equal(b->mem, a->mem, 3000);
		roce_free(a, b);
	}
}

static void xrc_by_each_gid(void **state)
{
	struct tb *t = *state;

	for (uint32_t i = 0; i < ROCE_INDICES; i++) {
		struct t_qp *a, *b;
		struct t_srq srq;
		struct t_sge sge;
		struct t_wr wr;

		make(t, PRM_ST_XRC, i, &a, &b);
		b->hw->xrcd = 7;
		b->hw->no_rq = b->hw->no_sq = 1;
		t_srq_make(t, &srq, t->pd[1]);
		srq.hw->type = HW_SRQ_XRC;
		srq.hw->hca = b->hw->hca;
		srq.hw->xrcd = 7;
		srq.hw->cqn = b->cq.cqn;
		srq.hw->flags = HW_F_READY;
		t_srq_post(&srq, b->key, b->mem, 4096);
		sge = t_own(a, 0, 3000);
		wr = wr_of(MLX5_OPCODE_SEND, b, &sge);
		wr.xrc_srqn = srq.srqn;
		t_post(a, &wr);
		t_expect_done(a, MLX5_OPCODE_SEND, 0);
		assert_non_null(t_poll(&b->cq));
		assert_memory_equal(b->mem, a->mem, 3000);
		roce_free(a, b);
	}
}

static void dc_by_each_gid(void **state)
{
	struct tb *t = *state;

	for (uint32_t i = 0; i < ROCE_INDICES; i++) {
		struct t_qp *a = t_qp_make(t, 0, PRM_ST_DCI, NULL), *b;
		struct t_sge sge = t_own(a, 0, 3000);
		struct mlx5_wqe_av av;
		struct t_srq srq;
		struct t_wr wr;
		uint32_t n;

		t_srq_make(t, &srq, t->pd[1]);
		b = t_qp_make(t, 1, HW_ST_DCT, &srq);
		b->hw->no_rq = b->hw->no_sq = 1;
		LAYOUT_SET(dctc, b->hw->qpc, dc_access_key, 5);
		atomic_store(&b->hw->state, PRM_QP_STATE_RTR);
		assert_int_equal(eng_qp_set_state(&t->s, a->qpn, PRM_QP_STATE_RTS), 0);
		memset(a->mem, 0x5a, 4096);
		av = roce_av(t, i, t->port[1], i);
		av.dqp_dct = htobe32(b->qpn | MLX5_EXTENDED_UD_AV);
		be64_store(&av.key, 5);
		wr = wr_of(MLX5_OPCODE_RDMA_WRITE, b, &sge);
		wr.av = &av;
		t_post(a, &wr);
		t_expect_done(a, MLX5_OPCODE_RDMA_WRITE, 0);
		assert_memory_equal(b->mem, a->mem, 3000);
		wr.opcode = MLX5_OPCODE_RDMA_READ;
		n = t_post(a, &wr);
		t_expect_done(a, MLX5_OPCODE_RDMA_READ, n);
		roce_free(a, b);
	}
}

/* Both ends on one port: the adapter returns the packets itself. */
static void a_port_reaches_itself(void **state)
{
	struct tb *t = *state;
	struct t_qp *a = t_qp_make(t, 0, PRM_ST_RC, NULL), *b = t_qp_make(t, 0, PRM_ST_RC, NULL);

	roce_connect(a, b, V2_IP4);
	rdma(a, b, MLX5_OPCODE_RDMA_WRITE, 64);
	t_expect_done(a, MLX5_OPCODE_RDMA_WRITE, 0);
	roce_free(a, b);
}

/* ---- messages that do not arrive: a's request fails after its retries */

static void fails(struct t_qp *a, struct t_qp *b)
{
	struct tb *t = a->t;

	a->hw->retry_count = 1;
	t->s.plain_timers = true;
	rdma(a, b, MLX5_OPCODE_RDMA_WRITE, 64);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(a->hw->park, HW_PARK_RETRY);
		t_assert_empty(&a->cq);
		t_now += 8 * ACK_14_NS;
		eng_run_due(&t->s);
	}
	t_expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR, 0);
	assert_int_equal(b->mem[0], 0);
	roce_free(a, b);
}

/* v1 and v2 of the same address, on either side, or on both paths in opposite directions. */
static void types_must_agree(void **state)
{
	static const uint32_t rows[][2] = {
		{V1_LOCAL, V2_LOCAL}, {V2_LOCAL, V1_LOCAL}, {V1_IP4, V2_IP4}, {V2_IP4, V1_IP4}};
	struct tb *t = *state;
	struct t_qp *a, *b;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make(t, PRM_ST_RC, rows[i][0], &a, &b);
		roce_path(b, rows[i][1], t->port[0], rows[i][1]);
		fails(a, b);
	}
	/* An IPv4 packet cannot have an IPv6 address. */
	make(t, PRM_ST_RC, V2_IP4, &a, &b);
	roce_path(a, V2_IP4, t->port[1], V2_LOCAL);
	fails(a, b);
}

/* The port has the packet's GID, but the QP's path uses another one. */
static void addresses_are_those_of_the_path(void **state)
{
	struct tb *t = *state;
	struct t_qp *a, *b;

	make(t, PRM_ST_RC, V1_LOCAL, &a, &b);
	roce_path(a, V1_LOCAL, t->port[1], V1_IP4);
	fails(a, b);
	make(t, PRM_ST_RC, V1_LOCAL, &a, &b);
	roce_path(a, V1_IP4, t->port[1], V1_LOCAL);
	fails(a, b);
}

static void a_mac_address_of_another(void **state)
{
	static const uint8_t foreign[6] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55};
	struct tb *t = *state;
	struct t_qp *a, *b;

	make(t, PRM_ST_RC, V2_IP4, &a, &b);
	a->hw->path[0].dlid = fab_eth_addr(foreign);
	fails(a, b);
	make(t, PRM_ST_RC, V2_IP4, &a, &b);
	a->hw->path[0].dlid = fab_eth_addr_of(t->port[0]);
	fails(a, b);
	make(t, PRM_ST_RC, V2_IP4, &a, &b);
	a->hw->path[0].dlid = FAB_ETH_BIT | 0xfffffe; /* a fabric's address that no port has */
	fails(a, b);
}

static void forget(struct tb *t, uint32_t side, uint32_t index)
{
	struct hw_port *p = hw_port(&t->s, t->port[side]);

	if (!p) {
		fail();
		return;
	}
	memset(p->gid[index], 0, 16);
	p->gid_kind[index] = HW_GID_IB;
}

static void an_address_that_went_away(void **state)
{
	struct tb *t = *state;
	struct t_qp *a, *b;

	make(t, PRM_ST_RC, V2_IP4, &a, &b);
	forget(t, 1, V2_IP4);
	fails(a, b);
	make(t, PRM_ST_RC, V2_LOCAL, &a, &b);
	forget(t, 0, V2_LOCAL);
	fails(a, b);
}

static void a_link_that_is_down(void **state)
{
	struct tb *t = *state;
	struct t_qp *a, *b;

	for (int side = 0; side < 2; side++) {
		make(t, PRM_ST_RC, V2_IP4, &a, &b);
		assert_int_equal(fab_eth_link(&t->s, t->port[side], false), 0);
		fails(a, b);
		assert_int_equal(fab_eth_link(&t->s, t->port[side], true), 0);
	}
	/* The link returns before the retries end. */
	make(t, PRM_ST_RC, V2_IP4, &a, &b);
	assert_int_equal(fab_eth_link(&t->s, t->port[1], false), 0);
	rdma(a, b, MLX5_OPCODE_RDMA_WRITE, 64);
	assert_int_equal(fab_eth_link(&t->s, t->port[1], true), 0);
	t_now += 8 * ACK_14_NS;
	eng_run_due(&t->s);
	t_expect_done(a, MLX5_OPCODE_RDMA_WRITE, 0);
	roce_free(a, b);
	/* UC is not answered. */
	make(t, PRM_ST_UC, V2_IP4, &a, &b);
	assert_int_equal(fab_eth_link(&t->s, t->port[1], false), 0);
	rdma(a, b, MLX5_OPCODE_RDMA_WRITE, 64);
	t_expect_done(a, MLX5_OPCODE_RDMA_WRITE, 0);
	assert_int_equal(b->mem[0], 0);
	roce_free(a, b);
}

/* The interface at the other end takes packets of 1024 octets. */
static void packets_larger_than_the_mtu(void **state)
{
	struct tb *t = *state;
	struct t_qp *a, *b;

	fab_eth_init(&t->s, t->port[1], 1500);
	assert_int_equal(hw_port(&t->s, t->port[1])->active_mtu, IBV_MTU_1024);
	make(t, PRM_ST_RC, V2_IP4, &a, &b);
	a->hw->mtu = 2048;
	rdma(a, b, MLX5_OPCODE_RDMA_WRITE, 1024);
	t_expect_done(a, MLX5_OPCODE_RDMA_WRITE, 0);
	rdma(a, b, MLX5_OPCODE_RDMA_WRITE, 1025);
	assert_int_equal(a->hw->park, HW_PARK_RETRY);
	t_assert_empty(&a->cq);
	roce_free(a, b);
}

/* ---- counters: octets from the Ethernet header to the ICRC */

static uint64_t words(struct tb *t, uint32_t side, enum hw_ctr what)
{
	return fab_counted(&t->s, t->port[side], what);
}

static void counters_count_frames(void **state)
{
	static const uint32_t net[] = {40, 48, 40, 28};
	struct tb *t = *state;

	for (uint32_t i = 0; i < ROCE_INDICES; i++) {
		uint64_t x = words(t, 0, HW_CTR_XMIT_DATA), y = words(t, 1, HW_CTR_XMIT_DATA);
		uint32_t each = 14 + net[i] + 12 + 4;
		struct t_qp *a, *b;

		make(t, PRM_ST_RC, i, &a, &b);
		rdma(a, b, MLX5_OPCODE_RDMA_WRITE, 2 * T_MTU);
		assert_int_equal(words(t, 0, HW_CTR_XMIT_DATA) - x,
				 (2 * each + 16 + 2 * T_MTU + 3) / 4);
		x = words(t, 0, HW_CTR_XMIT_DATA);
		rdma(a, b, MLX5_OPCODE_RDMA_READ, 8);
		assert_int_equal(words(t, 0, HW_CTR_XMIT_DATA) - x, (each + 16 + 3) / 4);
		assert_int_equal(words(t, 1, HW_CTR_XMIT_DATA) - y, (each + 4 + 8 + 3) / 4);
		roce_free(a, b);
	}
	assert_int_equal(words(t, 0, HW_CTR_XMIT_PKTS), words(t, 1, HW_CTR_RCV_PKTS));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, roce_setup, tb_teardown)
	const struct CMUnitTest tests[] = {
		T(rc_by_each_gid),
		T(uc_by_each_gid),
		T(xrc_by_each_gid),
		T(dc_by_each_gid),
		T(a_port_reaches_itself),
		T(types_must_agree),
		T(addresses_are_those_of_the_path),
		T(a_mac_address_of_another),
		T(an_address_that_went_away),
		T(a_link_that_is_down),
		T(packets_larger_than_the_mtu),
		T(counters_count_frames),
	};

	return cmocka_run_group_tests_name("roce", tests, NULL, NULL);
}
