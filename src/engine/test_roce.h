/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the tests of RoCE: two Ethernet ports, paths and address vectors by GID index. */
#ifndef SOFTHCA_ENGINE_TEST_ROCE_H
#define SOFTHCA_ENGINE_TEST_ROCE_H

#include "engine/test.h"
#include "fabric/eth.h"
#include "hw/port.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "subnet/subnet.h"
#include "wire/prm/qp.h"

/* Indices of a fresh port's table. */
enum { V1_LOCAL, V2_LOCAL, V1_IP4, V2_IP4, ROCE_INDICES };
#define ROCE_SPORT 0xc123
#define ROCE_TOS 0x68
#define ROCE_HOPS 64

static inline int roce_fill(struct seg *s)
{
	const struct fab_options o = {.hosts = 2,
				      .hcas = 1,
				      .ports = 1,
				      .caps.link_speed = 64,
				      .caps.link_width = 2,
				      .caps.max_mtu = IBV_MTU_4096,
				      .link = HW_LINK_ETH,
				      .if_mtu = 4200};

	return fab_create(s, &o);
}

static inline int roce_setup(void **state)
{
	*state = tb_create_on(roce_fill);
	return 0;
}

/* Sets the path of a QP as the firmware does, from GID `from` of its port to GID `to` of a peer's.
 */
static inline void roce_path(struct t_qp *q, uint32_t from, uint32_t peer, uint32_t to)
{
	const struct hw_port *p = hw_port(&q->t->s, peer);
	uint8_t *ads = LAYOUT_IN(qpc, primary_address_path, q->hw->qpc);

	fab_eth_mac(peer, ads + LF_ads_rmac_47_32_BIT / 8);
	LAYOUT_SET(ads, ads, udp_sport, ROCE_SPORT);
	LAYOUT_SET(ads, ads, dscp, ROCE_TOS >> 2);
	LAYOUT_SET(ads, ads, tclass, ROCE_TOS);
	LAYOUT_SET(ads, ads, hop_limit, ROCE_HOPS);
	LAYOUT_SET(ads, ads, flow_label, 0x12345);
	q->hw->path[0].dlid = fab_eth_addr_of(peer);
	q->hw->path[0].grh = 1;
	q->hw->path[0].sgid_index = from;
	memcpy(q->hw->path[0].dgid, p->gid[to], 16);
}

static inline void roce_connect(struct t_qp *a, struct t_qp *b, uint32_t index)
{
	t_connect(a, b);
	roce_path(a, index, b->hw->path[0].port, index);
	roce_path(b, index, a->hw->path[0].port, index);
}

static inline struct t_qp *roce_ud(struct tb *t, uint32_t side)
{
	struct t_qp *q = t_qp_make(t, side, PRM_ST_UD, NULL);

	assert_int_equal(eng_qp_set_state(&t->s, q->qpn, PRM_QP_STATE_RTS), 0);
	return q;
}

/* An address vector as mlx5_create_ah() makes it for a port's GID. */
static inline struct mlx5_wqe_av roce_av(struct tb *t, uint32_t from, uint32_t peer, uint32_t to)
{
	struct mlx5_wqe_av av = {
		.stat_rate_sl = 3 << 1,
		.rlid = htobe16(ROCE_SPORT),
		.tclass = ROCE_TOS,
		.hop_limit = ROCE_HOPS,
		.grh_gid_fl = htobe32(from << 20 | 0x12345),
	};

	fab_eth_mac(peer, av.rmac);
	memcpy(av.rgid, hw_port(&t->s, peer)->gid[to], 16);
	return av;
}

static inline void roce_free(struct t_qp *a, struct t_qp *b)
{
	t_qp_free(a);
	t_qp_free(b);
}

#endif
