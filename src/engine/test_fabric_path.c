/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages over three switches: what lets them pass, what stops them, and what each port counts. */
#include "engine/test.h"
#include "fabric/count.h"
#include "fabric/test_net.h"
#include "hw/flags.h"
#include "hw/mcg.h"
#include "hw/port.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "subnet/subnet.h"
#include "wire/prm/qp.h"

#define ACK_14_NS UINT64_C(67108864) /* 4.096 us << 14 */

static int chain(struct seg *s)
{
	return net_fill(s, 0);
}

static int setup(void **state)
{
	struct t_pair *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	p->t = tb_create_on(chain);
	p->a = t_qp_make(p->t, 0, PRM_ST_RC, NULL);
	p->b = t_qp_make(p->t, 1, PRM_ST_RC, NULL);
	p->a->hw->path[0].ack_timeout = 14;
	p->a->hw->retry_count = 3;
	t_connect(p->a, p->b);
	memset(p->a->mem, 0x5a, T_MEM);
	*state = p;
	return 0;
}

static uint32_t port_of(struct t_pair *p, uint32_t node, uint32_t num)
{
	return fab_node_port(fab_node(&p->t->s, node), num);
}

static struct hw_port *hw_of(struct t_pair *p, uint32_t node, uint32_t num)
{
	return hw_port(&p->t->s, port_of(p, node, num));
}

static uint64_t counted(struct t_pair *p, uint32_t node, uint32_t num, enum hw_ctr what)
{
	return fab_counted(&p->t->s, port_of(p, node, num), what);
}

static void write_len(struct t_pair *p, uint32_t len)
{
	struct t_sge sge = t_own(p->a, 0, len);

	t_write(p->a, p->b, 0, sge);
}

static void read_len(struct t_pair *p, uint32_t len)
{
	struct t_sge sge = t_own(p->a, 0, len);

	t_read(p->a, p->b, 0, sge);
}

/* No answer until the retries are used up. */
static void expect_retry_exc(struct t_pair *p, uint32_t counter)
{
	for (uint32_t i = 0; i < 4; i++) {
		t_assert_empty(&p->a->cq);
		t_now += ACK_14_NS;
		eng_run_due(&p->t->s);
	}
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR, counter);
}

/* The ports at both ends of each cable of the path, in the packets' direction. */
static const struct {
	uint32_t node, num;
} hops[] = {{H1, 1}, {S0, 1}, {S0, 2}, {S1, 1}, {S1, 2}, {S2, 1}, {S2, 2}, {H2, 1}};

static void assert_way(struct t_pair *p, bool back, uint64_t pkts, uint64_t words)
{
	for (uint32_t i = 0; i < 8; i++) {
		bool rx = back ? !(i & 1) : i & 1;

		assert_int_equal(counted(p, hops[i].node, hops[i].num,
					 rx ? HW_CTR_RCV_PKTS : HW_CTR_XMIT_PKTS),
				 pkts);
		assert_int_equal(counted(p, hops[i].node, hops[i].num,
					 rx ? HW_CTR_RCV_DATA : HW_CTR_XMIT_DATA),
				 words);
	}
}

static void a_write_counts_on_every_port(void **state)
{
	struct t_pair *p = *state;

	write_len(p, 3001); /* 3 packets of T_MTU: 24 octets of headers each, a RETH, padding */
	t_expect_done(p->a, MLX5_OPCODE_RDMA_WRITE, 0);
	assert_way(p, false, 3, (3 * 24 + 16 + 3004) / 4);
	assert_way(p, true, 0, 0);
	assert_memory_equal(p->a->mem, p->b->mem, 3001);
}

static void a_read_is_answered_by_data(void **state)
{
	struct t_pair *p = *state;

	read_len(p, 2048);
	t_expect_done(p->a, MLX5_OPCODE_RDMA_READ, 0);
	assert_way(p, false, 1, (24 + 16) / 4);
	assert_way(p, true, 2, (2 * 24 + 2 * 4 + 2048) / 4);
}

static void a_grh_is_40_octets_a_packet(void **state)
{
	struct t_pair *p = *state;

	p->a->hw->path[0].grh = 1;
	write_len(p, 2048);
	t_expect_done(p->a, MLX5_OPCODE_RDMA_WRITE, 0);
	assert_way(p, false, 2, (2 * 64 + 16 + 2048) / 4);
}

static void cut_link_ends_in_retry_exc(void **state)
{
	struct t_pair *p = *state;

	write_len(p, 8);
	t_expect_done(p->a, MLX5_OPCODE_RDMA_WRITE, 0);
	assert_int_equal(fab_unplug(&p->t->s, port_of(p, S1, 2)), 0);
	write_len(p, 8);
	expect_retry_exc(p, 1);
	/* one packet that arrived, and 5 attempts that the middle switch discarded */
	assert_int_equal(counted(p, S1, 1, HW_CTR_RCV_PKTS), 6);
	assert_int_equal(counted(p, S1, 2, HW_CTR_XMIT_PKTS), 1);
	assert_int_equal(counted(p, S1, 2, HW_CTR_XMIT_DISCARDS), 5);
	assert_int_equal(counted(p, S1, 2, HW_CTR_DOWNED), 1);
	assert_int_equal(counted(p, S2, 1, HW_CTR_DOWNED), 1);
}

static void link_that_comes_back_in_time(void **state)
{
	struct t_pair *p = *state;
	uint32_t a = port_of(p, S1, 2), b = port_of(p, S2, 1);

	assert_int_equal(fab_unplug(&p->t->s, a), 0);
	write_len(p, 8);
	for (uint32_t i = 0; i < 3; i++) {
		t_now += ACK_14_NS;
		eng_run_due(&p->t->s);
	}
	t_assert_empty(&p->a->cq);
	assert_int_equal(fab_plug(&p->t->s, a, b), 0);
	assert_int_equal(fab_sm_sweep(&p->t->s), 0);
	t_now += ACK_14_NS;
	eng_run_due(&p->t->s);
	t_expect_done(p->a, MLX5_OPCODE_RDMA_WRITE, 0);
}

/* Requests arrive, but answers have no path: nothing is executed. */
static void no_way_back(void **state)
{
	struct t_pair *p = *state;
	const struct fab_node *s2 = fab_node(&p->t->s, S2);

	fab_lft_set(&p->t->s, s2->sw, p->b->hw->path[0].dlid, FAB_LFT_NONE);
	fab_moved(&p->t->s);
	write_len(p, 8);
	expect_retry_exc(p, 0);
	assert_memory_not_equal(p->a->mem, p->b->mem, 8);
}

static void table_without_the_lid(void **state)
{
	struct t_pair *p = *state;
	const struct fab_node *s1 = fab_node(&p->t->s, S1);

	write_len(p, 8);
	t_expect_done(p->a, MLX5_OPCODE_RDMA_WRITE, 0);
	fab_lft_set(&p->t->s, s1->sw, p->a->hw->path[0].dlid, FAB_LFT_NONE);
	fab_moved(&p->t->s);
	write_len(p, 8);
	expect_retry_exc(p, 1);
	assert_int_equal(counted(p, S1, 1, HW_CTR_RCV_RELAY), 5);
	assert_int_equal(counted(p, S1, 2, HW_CTR_XMIT_PKTS), 1);
}

/* A table that sends packets back to the port that they came from. */
static void table_that_turns_round(void **state)
{
	struct t_pair *p = *state;
	const struct fab_node *s1 = fab_node(&p->t->s, S1);

	fab_lft_set(&p->t->s, s1->sw, p->a->hw->path[0].dlid, 1);
	fab_moved(&p->t->s);
	write_len(p, 8);
	expect_retry_exc(p, 0);
	assert_int_equal(counted(p, S1, 1, HW_CTR_RCV_RELAY), 5);
	assert_int_equal(counted(p, S1, 1, HW_CTR_RCV_LOOPING), 5);
}

static void packets_over_the_neighbours_mtu(void **state)
{
	struct t_pair *p = *state;

	hw_of(p, S1, 2)->active_mtu = 2; /* 512 octets */
	fab_moved(&p->t->s);
	write_len(p, 512);
	t_expect_done(p->a, MLX5_OPCODE_RDMA_WRITE, 0);
	write_len(p, 1024);
	expect_retry_exc(p, 1);
	assert_int_equal(counted(p, S1, 2, HW_CTR_XMIT_DISCARDS), 5);
	assert_int_equal(counted(p, S1, 2, HW_CTR_XMIT_MTU), 5);
	assert_int_equal(counted(p, S1, 2, HW_CTR_XMIT_INACTIVE), 0);
	assert_int_equal(counted(p, S1, 2, HW_CTR_XMIT_PKTS), 1);
}

static void armed_ports_take_data_and_send_none(void **state)
{
	struct t_pair *p = *state;

	assert_int_equal(fab_port_set_state(&p->t->s, port_of(p, S1, 1), IB_PORT_ARMED), 0);
	/* Only the path back is blocked; UC needs no answer. */
	p->a->hw->st = p->b->hw->st = PRM_ST_UC;
	write_len(p, 8);
	t_expect_done(p->a, MLX5_OPCODE_RDMA_WRITE, 0);
	assert_memory_equal(p->a->mem, p->b->mem, 8);
	assert_int_equal(fab_port_set_state(&p->t->s, port_of(p, S1, 1), IB_PORT_ACTIVE), 0);
	assert_int_equal(fab_port_set_state(&p->t->s, port_of(p, S1, 2), IB_PORT_ARMED), 0);
	memset(p->b->mem, 0, 8);
	write_len(p, 8);
	t_expect_done(p->a, MLX5_OPCODE_RDMA_WRITE, 1); /* lost, without an error */
	assert_int_equal(p->b->mem[0] | p->b->mem[1], 0);
	assert_int_equal(counted(p, S1, 2, HW_CTR_XMIT_DISCARDS), 1);
}

static void switches_enforce_partitions(void **state)
{
	struct t_pair *p = *state;

	hw_of(p, S2, 1)->enforce = 1;
	fab_moved(&p->t->s);
	write_len(p, 8); /* the table has 0xffff for it */
	t_expect_done(p->a, MLX5_OPCODE_RDMA_WRITE, 0);
	hw_of(p, S2, 1)->pkey[0] = 0x8001;
	write_len(p, 8);
	expect_retry_exc(p, 1);
	assert_int_equal(counted(p, S2, 1, HW_CTR_RCV_CONSTRAINT), 5);
	assert_int_equal(counted(p, S2, 1, HW_CTR_RCV_PKTS), 6);
	assert_int_equal(counted(p, S2, 2, HW_CTR_XMIT_PKTS), 1);
}

/*
 * A switch's port gets a copy of its adapter's table. So what a limited member sends comes in,
 * although table and packet are both limited, and does not go out to another one.
 */
static void switches_let_limited_members_send(void **state)
{
	struct t_pair *p = *state;

	hw_of(p, S0, 1)->enforce = 3;
	hw_of(p, S0, 1)->pkey[0] = 0x7fff;
	hw_of(p, H1, 1)->pkey[0] = 0x7fff;
	fab_moved(&p->t->s);
	write_len(p, 8);
	t_expect_done(p->a, MLX5_OPCODE_RDMA_WRITE, 0);
	hw_of(p, H1, 1)->pkey[0] = 0xffff;
	hw_of(p, H2, 1)->pkey[0] = 0x7fff;
	hw_of(p, S2, 2)->enforce = 3;
	hw_of(p, S2, 2)->pkey[0] = 0x7fff;
	fab_moved(&p->t->s);
	write_len(p, 8);
	t_expect_done(p->a, MLX5_OPCODE_RDMA_WRITE, 1);
	hw_of(p, H1, 1)->pkey[0] = 0x7fff;
	write_len(p, 8);
	expect_retry_exc(p, 2);
	assert_int_equal(counted(p, S0, 1, HW_CTR_RCV_CONSTRAINT), 0);
	assert_int_equal(counted(p, S2, 2, HW_CTR_XMIT_CONSTRAINT), 5);
}

static void switches_enforce_partitions_outwards(void **state)
{
	struct t_pair *p = *state;

	hw_of(p, S0, 2)->enforce = 2;
	hw_of(p, S0, 2)->pkey[0] = 0x8001;
	fab_moved(&p->t->s);
	write_len(p, 8);
	expect_retry_exc(p, 0);
	assert_int_equal(counted(p, S0, 2, HW_CTR_XMIT_CONSTRAINT), 5);
	assert_int_equal(counted(p, S0, 2, HW_CTR_XMIT_PKTS), 0);
}

/* The notice that the port sends to its subnet manager. */
static void assert_trap(struct t_pair *p, uint32_t trap, uint32_t key, uint32_t qp1, uint32_t qp2)
{
	uint32_t found = 0;

	seg_for_each_live (&p->t->s, SEG_T_NOTICE, i) {
		const struct fab_notice *n = seg_at(&p->t->s, SEG_T_NOTICE, i);
		const uint8_t *d = n->notice;

		if (LAYOUT_GET(notice, d, trap_num) != trap)
			continue;
		assert_int_equal(n->port, port_of(p, H2, 1));
		assert_int_equal(LAYOUT_GET(notice_257_258, d, lid1), hw_of(p, H1, 1)->lid);
		assert_int_equal(LAYOUT_GET(notice_257_258, d, lid2), hw_of(p, H2, 1)->lid);
		assert_int_equal(LAYOUT_GET(notice_257_258, d, key), key);
		assert_int_equal(LAYOUT_GET(notice_257_258, d, qp1), qp1);
		assert_int_equal(LAYOUT_GET(notice_257_258, d, qp2), qp2);
		found++;
	}
	assert_int_equal(found, 1);
}

/* QPs keep the index of a P_Key and use the present entry. */
static void pkey_tables_as_they_are_now(void **state)
{
	struct t_pair *p = *state;

	hw_of(p, H1, 1)->pkey[0] = 0x8005;
	write_len(p, 8);
	t_assert_empty(&p->a->cq);
	assert_int_equal(counted(p, H2, 1, HW_CTR_PKEY_VIOL), 1);
	assert_trap(p, TRAP_BAD_PKEY, 0x8005, p->a->qpn, p->b->qpn);
	hw_of(p, H2, 1)->pkey[0] = 0x0005; /* a limited member may receive from a full one */
	t_now += ACK_14_NS;
	eng_run_due(&p->t->s);
	t_expect_done(p->a, MLX5_OPCODE_RDMA_WRITE, 0);
}

static void path_bits_of_both_ends(void **state)
{
	struct t_pair *p = *state;
	struct hw_port *a = hw_of(p, H1, 1), *b = hw_of(p, H2, 1);
	struct mlx5_cqe64 *c;
	struct t_sge sge = t_own(p->a, 0, 8);

	for (uint32_t n = S0; n <= S2; n++)
		for (uint32_t k = 0; k < 4; k++) {
			uint32_t sw = fab_node(&p->t->s, n)->sw;

			fab_lft_set(&p->t->s, sw, 64 + k, 1);
			fab_lft_set(&p->t->s, sw, 128 + k, 2);
			fab_switch(&p->t->s, sw)->linear_top = 255;
		}
	a->lid = 64;
	b->lid = 128;
	a->lmc = b->lmc = 2;
	fab_moved(&p->t->s);
	p->a->hw->path[0].dlid = 128 + 3;
	p->b->hw->path[0].dlid = 64 + 1;
	LAYOUT_SET(ads, LAYOUT_IN(qpc, primary_address_path, p->a->hw->qpc), mlid, 2);
	t_recv_at(p->b, 0, 8);
	t_post(p->a,
	       &(struct t_wr){
		       .opcode = MLX5_OPCODE_SEND, .fm_ce_se = T_SIG, .sge = &sge, .nsge = 1});
	c = t_received(p->b, MLX5_CQE_RESP_SEND, 8, 0);
	assert_int_equal(be16toh(c->slid), 64 + 2);
	assert_int_equal(c->ml_path & 0x7f, 3);
}

static void a_datagram_is_lost_on_the_way(void **state)
{
	struct t_pair *p = *state;
	struct t_qp *a = t_qp_make(p->t, 0, PRM_ST_UD, NULL),
		    *b = t_qp_make(p->t, 1, PRM_ST_UD, NULL);
	struct mlx5_wqe_av av = {.dqp_dct = htobe32(MLX5_EXTENDED_UD_AV | b->qpn)};
	struct t_wr wr = {.opcode = MLX5_OPCODE_SEND,
			  .fm_ce_se = T_SIG,
			  .av = &av,
			  .inl = "datagram",
			  .inl_len = 8};

	assert_int_equal(eng_qp_set_state(&p->t->s, a->qpn, PRM_QP_STATE_RTS), 0);
	assert_int_equal(eng_qp_set_state(&p->t->s, b->qpn, PRM_QP_STATE_RTS), 0);
	av.key.qkey.qkey = htobe32(0x11111111);
	av.rlid = htobe16((uint16_t)hw_of(p, H2, 1)->lid);
	t_recv_at(b, 0, 100);
	t_post(a, &wr);
	t_received(b, MLX5_CQE_RESP_SEND, 48, 0);
	assert_way(p, false, 1, (24 + 8 + 8) / 4);
	t_recv_at(b, 0, 100);
	assert_int_equal(fab_unplug(&p->t->s, port_of(p, H2, 1)), 0);
	t_post(a, &wr);
	t_expect_done(a, MLX5_OPCODE_SEND, 0);
	t_expect_done(a, MLX5_OPCODE_SEND, 2); /* two WQEBBs each */
	t_assert_empty(&b->cq);
	assert_int_equal(counted(p, S2, 2, HW_CTR_XMIT_DISCARDS), 1);
	/* A wrong Q_Key is counted at the port where it arrives. */
	assert_int_equal(fab_plug(&p->t->s, port_of(p, H2, 1), port_of(p, S2, 2)), 0);
	assert_int_equal(fab_sm_sweep(&p->t->s), 0);
	av.key.qkey.qkey = htobe32(0x2222);
	t_post(a, &wr);
	t_assert_empty(&b->cq);
	assert_int_equal(counted(p, H2, 1, HW_CTR_QKEY_VIOL), 1);
	assert_trap(p, TRAP_BAD_QKEY, 0x2222, a->qpn, b->qpn);
	t_qp_free(a);
	t_qp_free(b);
}

/* ---- multicast */

static const uint8_t mgid[16] = {0xff, 0x12, 0x40, 0x1b, [15] = 7};
#define MLID 0xc005

struct group {
	struct t_qp *a, *b, *c; /* c is on a's switch */
	uint32_t sent;
};

static struct t_qp *joined(struct t_pair *p, uint32_t side)
{
	struct t_qp *q = t_qp_make(p->t, side, PRM_ST_UD, NULL);
	struct hw_mcg *m;
	uint32_t i;

	assert_int_equal(eng_qp_set_state(&p->t->s, q->qpn, PRM_QP_STATE_RTS), 0);
	assert_int_equal(seg_alloc(&p->t->s, SEG_T_MCG, T_OWNER, &i), 0);
	m = seg_at(&p->t->s, SEG_T_MCG, i);
	memcpy(m->gid, mgid, sizeof(mgid));
	m->qpn = q->qpn;
	hw_mcg_tag(&p->t->s, i);
	m->flags = HW_F_READY;
	return q;
}

static void group_make(struct t_pair *p, struct group *g)
{
	*g = (struct group){.a = joined(p, 0), .b = joined(p, 1), .c = joined(p, 0)};
	g->a->hw->block_lb_mc = 1;
}

static void group_free(struct group *g)
{
	t_qp_free(g->a);
	t_qp_free(g->b);
	t_qp_free(g->c);
}

/* Sends from a. Does b get it? c always does. */
static void group_send(struct group *g, bool arrives)
{
	struct mlx5_wqe_av av = {.dqp_dct = htobe32(MLX5_EXTENDED_UD_AV | 0xffffff),
				 .rlid = htobe16(MLID),
				 .grh_gid_fl = htobe32(1u << 30)};

	av.key.qkey.qkey = htobe32(0x11111111);
	memcpy(av.rgid, mgid, sizeof(av.rgid));
	t_recv_at(g->b, 0, 100);
	t_recv_at(g->c, 0, 100);
	t_post(g->a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND,
				    .fm_ce_se = T_SIG,
				    .av = &av,
				    .inl = "datagram",
				    .inl_len = 8});
	assert_non_null(t_poll(&g->a->cq));
	assert_non_null(t_poll(&g->c->cq));
	if (arrives)
		assert_non_null(t_poll(&g->b->cq));
	t_assert_empty(&g->b->cq);
	t_assert_empty(&g->c->cq);
}

static void mft_set(struct t_pair *p, uint32_t node, uint64_t mask)
{
	struct fab_mft *t = seg_at(&p->t->s, SEG_T_MFT, fab_node(&p->t->s, node)->sw);

	t->mask[MLID - FAB_MLID_FIRST][0] = mask;
}

static void groups_go_where_the_tables_lead(void **state)
{
	struct t_pair *p = *state;
	struct group g;

	group_make(p, &g);
	for (uint32_t n = S0; n <= S2; n++)
		mft_set(p, n, 1 << 1 | 1 << 2);
	group_send(&g, true);
	assert_way(p, false, 1, (24 + 40 + 8 + 8) / 4);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(counted(p, hops[i].node, hops[i].num,
					 i & 1 ? HW_CTR_RCV_MCAST : HW_CTR_XMIT_MCAST),
				 1);
	mft_set(p, S2, 1 << 1); /* only the port back */
	group_send(&g, false);
	assert_int_equal(counted(p, S2, 1, HW_CTR_RCV_MCAST), 2);
	mft_set(p, S1, 0); /* the switch sends unknown groups to its default port */
	fab_switch(&p->t->s, fab_node(&p->t->s, S1)->sw)->default_mcast = 2;
	mft_set(p, S2, 1 << 2);
	group_send(&g, true);
	fab_port_set_state(&p->t->s, port_of(p, S1, 2), IB_PORT_INIT);
	group_send(&g, false);
	assert_int_equal(counted(p, S1, 2, HW_CTR_XMIT_DISCARDS), 1);
	group_free(&g);
}

/* Attaching a QP does not join the group: no switch knows of it. */
static void groups_that_nobody_has_joined(void **state)
{
	struct t_pair *p = *state;
	struct group g;

	group_make(p, &g);
	group_send(&g, false);
	assert_int_equal(counted(p, S0, 1, HW_CTR_RCV_MCAST), 1);
	assert_int_equal(counted(p, S0, 1, HW_CTR_RCV_RELAY), 1);
	group_free(&g);
}

/* Forwarding tables form a ring: packets are delivered and do not circulate for ever. */
static void groups_in_a_loop(void **state)
{
	struct t_pair *p = *state;
	struct group g;

	group_make(p, &g);
	assert_int_equal(fab_plug(&p->t->s, port_of(p, S0, 3), port_of(p, S2, 3)), 0);
	assert_int_equal(fab_sm_sweep(&p->t->s), 0);
	for (uint32_t n = S0; n <= S2; n++)
		mft_set(p, n, 0xf);
	group_send(&g, true);
	group_free(&g);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, t_pair_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_write_counts_on_every_port),
		T(a_read_is_answered_by_data),
		T(a_grh_is_40_octets_a_packet),
		T(cut_link_ends_in_retry_exc),
		T(link_that_comes_back_in_time),
		T(no_way_back),
		T(table_without_the_lid),
		T(table_that_turns_round),
		T(packets_over_the_neighbours_mtu),
		T(armed_ports_take_data_and_send_none),
		T(switches_enforce_partitions),
		T(switches_enforce_partitions_outwards),
		T(switches_let_limited_members_send),
		T(pkey_tables_as_they_are_now),
		T(path_bits_of_both_ends),
		T(a_datagram_is_lost_on_the_way),
		T(groups_go_where_the_tables_lead),
		T(groups_that_nobody_has_joined),
		T(groups_in_a_loop),
	};

	return cmocka_run_group_tests_name("engine fabric path", tests, NULL, NULL);
}
