/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Datagrams and multicast over Ethernet ports, and packets of RoCE in captures. */
#include "engine/test_roce.h"
#include "fabric/count.h"
#include "fabric/ifaddr.h"
#include "hw/cap.h"
#include "hw/flags.h"
#include "hw/mcg.h"

#include <netinet/ip.h>
#include <netinet/ip6.h>

/* ---- UD */

static void to_qp(struct mlx5_wqe_av *av, const struct t_qp *to)
{
	av->key.qkey.qkey = htobe32(to->hw->qkey);
	av->dqp_dct = htobe32(MLX5_EXTENDED_UD_AV | to->qpn);
}

static void ud_send(struct t_qp *q, const struct mlx5_wqe_av *av, const char *text)
{
	t_post(q, &(struct t_wr){.opcode = MLX5_OPCODE_SEND,
				 .fm_ce_se = T_SIG,
				 .av = av,
				 .inl = text,
				 .inl_len = (uint32_t)strlen(text)});
}

/* ib_get_rdma_header_version() and ib_get_gids_from_rdma_hdr() find the header and its addresses.
 */
static void headers_by_each_gid(void **state)
{
	struct tb *t = *state;

	for (uint32_t i = 0; i < ROCE_INDICES; i++) {
		struct t_qp *a = roce_ud(t, 0), *b = roce_ud(t, 1);
		struct mlx5_wqe_av av = roce_av(t, i, t->port[1], i);
		static const uint8_t l3[] = {0, 1, 0, 2}; /* GRH, IPv6, IPv4 */
		struct mlx5_cqe64 *c;
		struct ip6_hdr h6;

		to_qp(&av, b);
		memset(b->mem, 0xcc, 100);
		t_recv_at(b, 0, 100);
		ud_send(a, &av, "datagram");
		t_expect_done(a, MLX5_OPCODE_SEND, 0);
		c = t_received(b, MLX5_CQE_RESP_SEND, 48, 0);
		assert_int_equal(be32toh(c->flags_rqpn) >> 28 & 3, 1); /* IBV_WC_GRH */
		assert_int_equal(be32toh(c->flags_rqpn) >> 24 & 0xf, l3[i]);
		assert_int_equal(be32toh(c->flags_rqpn) & 0xffffff, a->qpn);
		assert_int_equal(c->slid, 0);
		assert_int_equal(c->ml_path, 0);
		assert_memory_equal(b->mem + 40, "datagram\xcc", 9);
		memcpy(&h6, b->mem, sizeof(h6));
		if (i == V2_IP4) {
			roce_free(a, b);
			continue;
		}
		assert_int_equal(be32toh(h6.ip6_flow), 6u << 28 | ROCE_TOS << 20 | 0x12345);
		assert_int_equal(be16toh(h6.ip6_plen), 12 + 8 + 8 + 4 + (i == V2_LOCAL ? 8 : 0));
		assert_int_equal(h6.ip6_nxt, i == V2_LOCAL ? IPPROTO_UDP : 0x1b);
		assert_int_equal(h6.ip6_hlim, ROCE_HOPS);
		assert_memory_equal(&h6.ip6_src, hw_port(&t->s, t->port[0])->gid[i], 16);
		assert_memory_equal(&h6.ip6_dst, hw_port(&t->s, t->port[1])->gid[i], 16);
		roce_free(a, b);
	}
}

/* The header of IPv4 ends the 40 octets; rxe leaves zeros in front of it. */
static void the_header_of_ip4(void **state)
{
	static const uint8_t zero[20];
	struct tb *t = *state;
	struct t_qp *a = roce_ud(t, 0), *b = roce_ud(t, 1);
	struct mlx5_wqe_av av = roce_av(t, V2_IP4, t->port[1], V2_IP4);
	uint32_t sum = 0;
	struct iphdr h;

	to_qp(&av, b);
	memset(b->mem, 0xcc, 100);
	t_recv_at(b, 0, 100);
	ud_send(a, &av, "datagram!");
	t_received(b, MLX5_CQE_RESP_SEND, 49, 0);
	assert_memory_equal(b->mem, zero, 20);
	memcpy(&h, b->mem + 20, sizeof(h));
	assert_int_equal(h.version, 4);
	assert_int_equal(h.ihl, 5);
	assert_int_equal(h.tos, ROCE_TOS);
	assert_int_equal(be16toh(h.tot_len), 20 + 8 + 12 + 8 + 12 + 4);
	assert_int_equal(be16toh(h.frag_off), IP_DF);
	assert_int_equal(h.ttl, ROCE_HOPS);
	assert_int_equal(h.protocol, IPPROTO_UDP);
	assert_memory_equal(&h.saddr, hw_port(&t->s, t->port[0])->gid[V2_IP4] + 12, 4);
	assert_memory_equal(&h.daddr, hw_port(&t->s, t->port[1])->gid[V2_IP4] + 12, 4);
	for (uint32_t i = 0; i < 20; i += 2)
		sum += be16_load(b->mem + 20 + i);
	assert_int_equal((sum & 0xffff) + (sum >> 16), 0xffff);
	roce_free(a, b);
}

/* Entry 4 of a port's table, 5 of the other VLAN: a second address of V2_IP4's host. */
static void vlans(struct tb *t, uint32_t side)
{
	static const uint8_t ip[2][4] = {{10, 1, 0, 1}, {10, 1, 0, 2}};
	uint32_t at;

	for (uint32_t id = 100; id <= 200; id += 100)
		assert_int_equal(fab_vlan_add(&t->s, t->port[side], id), 0);
	at = fab_at_by_vlan(&t->s, t->port[side], 100);
	assert_int_equal(fab_if_add(&t->s, at, ip[side], 4, 24), 0);
}

enum { V1_VLAN100 = 4, V2_VLAN100, V1_VLAN200, V2_VLAN200, V1_VLAN100_IP4, V2_VLAN100_IP4 };

/*
 * handle_responder(): CQEs show the VLAN tag. Frames of another VLAN, or without a tag, do not
 * arrive.
 */
static void tags_in_cqes(void **state)
{
	struct tb *t = *state;
	struct t_qp *a = roce_ud(t, 0), *b = roce_ud(t, 1);
	uint64_t words;

	vlans(t, 0);
	vlans(t, 1);
	for (uint32_t i = V1_VLAN100; i <= V2_VLAN100_IP4; i++) {
		struct mlx5_wqe_av av = roce_av(t, i, t->port[1], i);
		uint32_t id = i / 2 == V1_VLAN200 / 2 ? 200 : 100;
		struct mlx5_cqe64 *c;

		av.stat_rate_sl = 5 << 1;
		to_qp(&av, b);
		t_recv_at(b, 0, 100);
		words = fab_counted(&t->s, t->port[0], HW_CTR_XMIT_DATA);
		ud_send(a, &av, "datagram");
		assert_non_null(t_poll(&a->cq));
		c = t_received(b, MLX5_CQE_RESP_SEND, 48, i - V1_VLAN100);
		assert_int_equal(c->l4_hdr_type_etc & 1, 1);
		assert_int_equal(be16toh(c->vlan_info), 5u << 13 | id);
		if (i == V2_VLAN100_IP4) /* with a tag of 4 octets */
			assert_int_equal(fab_counted(&t->s, t->port[0], HW_CTR_XMIT_DATA) - words,
					 (18 + 28 + 12 + 8 + 4 + 8 + 3) / 4);
	}
	t_recv_at(b, 0, 100);
	for (uint32_t from = 0; from <= V2_VLAN200; from += 2)
		for (uint32_t to = 0; to <= V2_VLAN200; to += 4) {
			/* These GIDs are link-local, so they are the same in each VLAN. */
			struct mlx5_wqe_av av = roce_av(t, from, t->port[1], to);

			if (from == V1_IP4 || from == to)
				continue;
			to_qp(&av, b);
			ud_send(a, &av, "arrives where the source is");
			assert_non_null(t_poll(&a->cq));
			assert_non_null(t_poll(&b->cq));
			t_recv_at(b, 0, 100);
		}
	assert_int_equal(fab_vlan_del(&t->s, fab_at_by_vlan(&t->s, t->port[1], 100)), 0);
	for (uint32_t from = V1_VLAN100; from <= V2_VLAN100; from++) {
		struct mlx5_wqe_av av = roce_av(t, from, t->port[1], V1_LOCAL);

		to_qp(&av, b);
		ud_send(a, &av, "no VLAN there");
		assert_non_null(t_poll(&a->cq));
	}
	t_assert_empty(&b->cq);
	roce_free(a, b);
}

/* Datagrams that are dropped silently: the sender completes all the same. */
static void drops(void **state)
{
	struct tb *t = *state;
	struct t_qp *a = roce_ud(t, 0), *b = roce_ud(t, 1);
	struct mlx5_wqe_av good = roce_av(t, V2_IP4, t->port[1], V2_IP4), av;

	to_qp(&good, b);
	t_recv_at(b, 0, 100);
	av = good;
	av.rmac[5] ^= 0x80;
	ud_send(a, &av, "wrong MAC address");
	av = good;
	av.rmac[0] ^= 0x80;
	ud_send(a, &av, "MAC address of somebody else");
	av = roce_av(t, V2_IP4, t->port[1], V1_LOCAL);
	to_qp(&av, b);
	ud_send(a, &av, "IPv6 in an IPv4 header");
	av = roce_av(t, V2_LOCAL, t->port[1], V2_IP4);
	to_qp(&av, b);
	ud_send(a, &av, "IPv4 in an IPv6 header");
	av = roce_av(t, 7, t->port[1], V2_IP4);
	to_qp(&av, b);
	ud_send(a, &av, "an empty source GID");
	av = good;
	av.rgid[15] ^= 0x80;
	ud_send(a, &av, "nobody's GID");
	av = good;
	av.key.qkey.qkey = htobe32(0x22222222);
	ud_send(a, &av, "wrong Q_Key");
	assert_int_equal(fab_eth_link(&t->s, t->port[1], false), 0);
	ud_send(a, &good, "no link");
	assert_int_equal(fab_eth_link(&t->s, t->port[1], true), 0);
	assert_int_equal(fab_eth_link(&t->s, t->port[0], false), 0);
	ud_send(a, &good, "no link here");
	assert_int_equal(fab_eth_link(&t->s, t->port[0], true), 0);
	for (uint32_t i = 0; i < 9; i++)
		assert_non_null(t_poll(&a->cq));
	t_assert_empty(&b->cq);
	ud_send(a, &good, "ok");
	t_received(b, MLX5_CQE_RESP_SEND, 42, 0);
	roce_free(a, b);
}

/* In RoCE v1, GIDs may or may not be IPv4 addresses. */
static void v1_has_any_gid(void **state)
{
	struct tb *t = *state;
	struct t_qp *a = roce_ud(t, 0), *b = roce_ud(t, 1);
	struct mlx5_wqe_av av = roce_av(t, V1_IP4, t->port[1], V1_LOCAL);

	to_qp(&av, b);
	t_recv_at(b, 0, 100);
	ud_send(a, &av, "ok");
	t_received(b, MLX5_CQE_RESP_SEND, 42, 0);
	roce_free(a, b);
}

static void longer_than_the_mtu(void **state)
{
	struct tb *t = *state;
	struct t_qp *a = roce_ud(t, 0), *b = roce_ud(t, 1);
	struct mlx5_wqe_av av = roce_av(t, V2_IP4, t->port[1], V2_IP4);
	struct t_sge sge = t_own(a, 0, 4097);

	assert_int_equal(hw_port(&t->s, t->port[0])->active_mtu, IBV_MTU_4096);
	to_qp(&av, b);
	t_post(a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .av = &av, .sge = &sge, .nsge = 1});
	t_expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR, 0);
	roce_free(a, b);
}

/* ---- multicast */

static const uint8_t mgid6[16] = {0xff, 0x12, [12] = 1, 2, 3, 4};
static const uint8_t mgid4[16] = {[10] = 0xff, 0xff, 239, 0x81, 2, 3};

static struct t_qp *member(struct tb *t, uint32_t side, const uint8_t *mgid)
{
	struct t_qp *q = roce_ud(t, side);
	struct hw_mcg *m;
	uint32_t i;

	assert_int_equal(seg_alloc(&t->s, SEG_T_MCG, T_OWNER, &i), 0);
	m = seg_at(&t->s, SEG_T_MCG, i);
	m->qpn = q->qpn;
	memcpy(m->gid, mgid, sizeof(m->gid));
	hw_mcg_tag(&t->s, i);
	m->flags = HW_F_READY;
	t_recv_at(q, 0, 100);
	return q;
}

static void mcast(struct t_qp *q, uint32_t from, const uint8_t *mgid, const uint8_t *mac)
{
	struct mlx5_wqe_av av = roce_av(q->t, from, q->hw->path[0].port, from);

	memcpy(av.rmac, mac, 6);
	memcpy(av.rgid, mgid, 16);
	av.key.qkey.qkey = htobe32(q->hw->qkey);
	av.dqp_dct = htobe32(MLX5_EXTENDED_UD_AV | 0xffffff);
	ud_send(q, &av, "hello");
	t_poll(&q->cq);
}

/* rdma-core and the kernel make these addresses from the groups' GIDs. */
#define MAC6 ((const uint8_t *)"\x33\x33\x01\x02\x03\x04")
#define MAC4 ((const uint8_t *)"\x01\x00\x5e\x01\x02\x03")

static bool got(struct t_qp *q)
{
	bool yes = t_poll(&q->cq);

	if (yes)
		t_recv_at(q, 0, 100);
	return yes;
}

static void members_everywhere_get_it(void **state)
{
	static const struct {
		uint32_t from;
		const uint8_t *mgid, *mac;
	} rows[] = {
		{V1_LOCAL, mgid6, MAC6},
		{V2_LOCAL, mgid6, MAC6},
		{V1_IP4, mgid6, MAC6},
		{V2_IP4, mgid4, MAC4},
	};
	struct tb *t = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct t_qp *from = roce_ud(t, 0), *own = member(t, 0, rows[i].mgid);
		struct t_qp *x = member(t, 1, rows[i].mgid), *y = member(t, 1, rows[i].mgid);
		struct t_qp *other = roce_ud(t, 1);
		uint64_t sent = fab_counted(&t->s, t->port[0], HW_CTR_XMIT_MCAST);
		uint64_t rcvd = fab_counted(&t->s, t->port[1], HW_CTR_RCV_MCAST);

		t_recv_at(other, 0, 100);
		mcast(from, rows[i].from, rows[i].mgid, rows[i].mac);
		assert_true(got(own));
		assert_true(got(x) && got(y));
		assert_false(got(other));
		assert_memory_equal(x->mem + 40, "hello", 5);
		assert_memory_equal(x->mem + 36, rows[i].mgid + 12, 4);
		assert_int_equal(fab_counted(&t->s, t->port[0], HW_CTR_XMIT_MCAST), sent + 1);
		assert_int_equal(fab_counted(&t->s, t->port[1], HW_CTR_RCV_MCAST), rcvd + 1);
		/* A port without a link receives nothing; the sender's own port still does. */
		assert_int_equal(fab_eth_link(&t->s, t->port[1], false), 0);
		mcast(from, rows[i].from, rows[i].mgid, rows[i].mac);
		assert_true(got(own));
		assert_false(got(x) || got(y));
		assert_int_equal(fab_eth_link(&t->s, t->port[1], true), 0);
		/*
		 * If the sender's port has no link, it does not receive its own datagram, either.
		 */
		assert_int_equal(fab_eth_link(&t->s, t->port[0], false), 0);
		mcast(from, rows[i].from, rows[i].mgid, rows[i].mac);
		assert_false(got(own) || got(x));
		assert_int_equal(fab_eth_link(&t->s, t->port[0], true), 0);
		roce_free(from, own);
		roce_free(x, y);
		t_qp_free(other);
		seg_for_each_live (&t->s, SEG_T_MCG, m)
			((struct hw_mcg *)seg_at(&t->s, SEG_T_MCG, m))->flags = 0;
	}
}

/* A member's lock is held for a while: the datagram is counted once. */
static void a_late_member_is_counted_once(void **state)
{
	struct tb *t = *state;
	struct t_qp *from = roce_ud(t, 0), *x = member(t, 1, mgid6), *y = member(t, 1, mgid6);

	assert_int_equal(seg_lock(&t->s, &y->hw->rq_lock, 0), 0);
	mcast(from, V2_LOCAL, mgid6, MAC6);
	t_now += NSEC_PER_SEC;
	eng_run_due(&t->s);
	seg_unlock(&t->s, &y->hw->rq_lock);
	assert_true(got(x));
	t_now += NSEC_PER_SEC;
	eng_run_due(&t->s);
	assert_true(got(y));
	assert_false(got(x));
	assert_true(t_poll(&from->cq));
	assert_int_equal(fab_counted(&t->s, t->port[0], HW_CTR_XMIT_MCAST), 1);
	assert_int_equal(fab_counted(&t->s, t->port[1], HW_CTR_RCV_MCAST), 1);
	roce_free(x, y);
	t_qp_free(from);
}

static void multicast_that_nobody_gets(void **state)
{
	struct tb *t = *state;
	struct t_qp *from = roce_ud(t, 0), *x = member(t, 1, mgid6), *y = member(t, 1, mgid4);
	uint8_t unicast[6];

	fab_eth_mac(t->port[1], unicast);
	mcast(from, V2_LOCAL, mgid6, MAC4);
	mcast(from, V2_LOCAL, mgid6, unicast);
	mcast(from, V2_IP4, mgid6, MAC6);   /* no IPv4 address */
	mcast(from, V2_LOCAL, mgid4, MAC4); /* and no IPv6 one */
	assert_false(got(x) || got(y));
	roce_free(from, x);
	t_qp_free(y);
}

/* ---- captures */

static int capture_setup(void **state)
{
	roce_setup(state);
	return cap_start(&((struct tb *)*state)->s, 65535);
}

static int capture_teardown(void **state)
{
	cap_finish(&((struct tb *)*state)->s);
	return tb_teardown(state);
}

static struct pkt next(struct tb *t)
{
	const struct seg_cap_rec *r = cap_first(&t->s);
	struct pkt p;

	assert_non_null(r);
	p = r->pkt;
	cap_next(&t->s);
	return p;
}

static const uint8_t nets[] = {PKT_NET_GRH, PKT_NET_IP6, PKT_NET_GRH, PKT_NET_IP4};

/* The packet leaves port `side` for the other one. */
static void check_frame(struct tb *t, const struct pkt *p, uint32_t side, uint32_t index)
{
	uint8_t mac[6];

	assert_true(p->eth);
	assert_int_equal(p->slid, 0);
	fab_eth_mac(t->port[side], mac);
	assert_memory_equal(p->smac, mac, 6);
	fab_eth_mac(t->port[!side], mac);
	assert_memory_equal(p->dmac, mac, 6);
	assert_int_equal(p->route.net, nets[index]);
	assert_int_equal(p->route.tclass, ROCE_TOS);
	assert_int_equal(p->route.hop_limit, ROCE_HOPS);
	assert_int_equal(p->route.udp_sport, ROCE_SPORT);
	assert_int_equal(p->route.flow_label, 0x12345);
	assert_memory_equal(p->route.sgid, hw_port(&t->s, t->port[side])->gid[index], 16);
	assert_memory_equal(p->route.dgid, hw_port(&t->s, t->port[!side])->gid[index], 16);
}

static void captured_by_each_gid(void **state)
{
	struct tb *t = *state;

	for (uint32_t i = 0; i < ROCE_INDICES; i++) {
		struct t_qp *a = t_qp_make(t, 0, PRM_ST_RC, NULL);
		struct t_qp *b = t_qp_make(t, 1, PRM_ST_RC, NULL);
		struct t_qp *c = roce_ud(t, 0), *d = roce_ud(t, 1);
		struct mlx5_wqe_av av = roce_av(t, i, t->port[1], i);
		struct t_sge sge = t_own(a, 0, 8);
		struct pkt p;

		roce_connect(a, b, i);
		t_post(a, &(struct t_wr){.opcode = MLX5_OPCODE_RDMA_WRITE,
					 .raddr = (uintptr_t)b->mem,
					 .rkey = b->key,
					 .sge = &sge,
					 .nsge = 1});
		p = next(t);
		assert_int_equal(p.opcode, PKT_WRITE_ONLY);
		assert_int_equal(p.dest_qpn, b->qpn);
		check_frame(t, &p, 0, i);
		p = next(t);
		assert_int_equal(p.opcode, PKT_ACK);
		assert_int_equal(p.dest_qpn, a->qpn);
		check_frame(t, &p, 1, i);
		to_qp(&av, d);
		t_recv_at(d, 0, 100);
		ud_send(c, &av, "datagram");
		p = next(t);
		assert_int_equal(p.opcode, PKT_UD | PKT_SEND_ONLY);
		assert_int_equal(p.src_qpn, c->qpn);
		check_frame(t, &p, 0, i);
		assert_null(cap_first(&t->s));
		roce_free(a, b);
		roce_free(c, d);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, roce_setup, tb_teardown)
	const struct CMUnitTest tests[] = {
		T(headers_by_each_gid),
		T(tags_in_cqes),
		T(the_header_of_ip4),
		T(drops),
		T(v1_has_any_gid),
		T(longer_than_the_mtu),
		T(members_everywhere_get_it),
		T(a_late_member_is_counted_once),
		T(multicast_that_nobody_gets),
		cmocka_unit_test_setup_teardown(captured_by_each_gid, capture_setup,
						capture_teardown),
	};

	return cmocka_run_group_tests_name("roce datagrams", tests, NULL, NULL);
}
