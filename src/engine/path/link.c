/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the rows of link.h: addresses of packets on InfiniBand, and of RoCE v1 and v2 on Ethernet.
 * Called by the transports (rc.c, ud.c, dc.c), address.c and capture.c.
 */
#include "engine/path/path.h"
#include "engine/path/link.h"
#include "engine/base/transport.h"
#include "fabric/eth.h"
#include "fabric/fabric.h"
#include "fabric/ifaddr.h"
#include "fabric/roce.h"
#include "hw/qp.h"
#include "wire/ib/gid.h"
#include "wire/prm/qp.h"

uint64_t reach_bit(const struct eng_reach *x, uint32_t port)
{
	for (uint32_t i = 0; i < x->n; i++)
		if (x->port[i] == port)
			return UINT64_C(1) << i;
	return 0;
}

/* ---- what both have: the fields of the network header */

static void route_gids(const struct hw_port *own, uint32_t sgid_index, const uint8_t *dgid,
		       struct pkt_route *to)
{
	if (sgid_index < HW_GIDS || sgid_index < hw_port_gids(own))
		memcpy(to->sgid, hw_gid(own, sgid_index), 16);
	memcpy(to->dgid, dgid, 16);
}

static void route_qp(const struct hw_port *own, enum pkt_net net, const struct hw_qp *qp,
		     const struct hw_qp_path *w, struct pkt_route *to)
{
	const void *ads = way_ads(qp, w);

	*to = (struct pkt_route){
		.net = (uint8_t)net,
		.hop_limit = LAYOUT_GET8(ads, ads, hop_limit),
		.tclass = LAYOUT_GET8(ads, ads, tclass),
		.udp_sport = LAYOUT_GET16(ads, ads, udp_sport),
		.flow_label = LAYOUT_GET32(ads, ads, flow_label),
	};
	route_gids(own, w->sgid_index, w->dgid, to);
}

/* On Ethernet, rlid is the UDP port (struct mlx5_av). */
void link_route_av(const struct hw_port *own, enum pkt_net net, const uint8_t *av,
		   struct pkt_route *to)
{
	*to = (struct pkt_route){
		.net = (uint8_t)net,
		.hop_limit = LAYOUT_GET8(wqe_av, av, hop_limit),
		.tclass = LAYOUT_GET8(wqe_av, av, tclass),
		.udp_sport = LAYOUT_GET16(wqe_av, av, rlid),
		.flow_label = LAYOUT_GET32(wqe_av, av, flow_label),
	};
	route_gids(own, LAYOUT_GET32(wqe_av, av, sgid_index), av + WQE_AV_RGID, to);
}

/* ---- InfiniBand */

static void ib_av(const struct eng_run *r, const uint8_t *av, struct way_to *to)
{
	bool grh = LAYOUT_GET(wqe_av, av, ext) && LAYOUT_GET(wqe_av, av, grh);

	(void)r;
	to->dlid = LAYOUT_GET32(wqe_av, av, rlid);
	to->dgid = grh ? av + WQE_AV_RGID : NULL;
	to->net = grh ? PKT_NET_GRH : PKT_NET_NONE;
	to->vlan = 0;
}

static enum pkt_net ib_net(const struct hw_port *own, uint32_t sgid_index)
{
	(void)own;
	(void)sgid_index;
	return PKT_NET_GRH;
}

static bool ib_accepts(const struct hw_port *at, const struct way_to *to)
{
	return fab_port_has_gid(at, to->dgid);
}

static bool ib_expects(const struct eng_run *r, const struct hw_qp *peer)
{
	(void)r;
	(void)peer;
	return true;
}

static void ib_cqe(const struct eng_run *r, const struct hw_port *at, uint32_t path_bits,
		   uint32_t dlid, uint32_t sl, uint8_t *cqe)
{
	LAYOUT_SET(cqe64, cqe, slid, way_slid(r, path_bits));
	LAYOUT_SET(cqe64, cqe, ml_path, at ? dlid & ((1u << at->lmc) - 1) & 0x7f : 0);
	LAYOUT_SET(cqe64, cqe, sl, sl);
}

static void ib_end(struct seg *s, uint32_t port, void *arg)
{
	struct eng_reach *x = arg;

	(void)s;
	x->got |= reach_bit(x, port);
}

/* An adapter delivers to its own port itself; switches deliver to the others by their tables. */
static void ib_reach(struct eng_run *r, const uint8_t *av, const struct fab_pkts *k,
		     enum eng_count_how how, struct eng_reach *x)
{
	const struct hw_port *own = r->port;

	fab_mcast(r->s, r->own->port, LAYOUT_GET32(wqe_av, av, rlid), k, how == ENG_COUNT_FIRST,
		  ib_end, x);
	for (uint32_t i = 0; own->state == IB_PORT_ACTIVE && i < x->n; i++) {
		const struct hw_port *p = hw_port(r->s, x->port[i]);

		if (p && p->hca == own->hca)
			x->got |= UINT64_C(1) << i;
	}
}

static bool ib_frame(const struct hw_port *own, const struct hw_qp *qp, const struct hw_qp_path *w,
		     struct pkt *p)
{
	p->slid = (uint16_t)atomic_load(&own->lid);
	p->dlid = (uint16_t)w->dlid;
	p->sl = (uint8_t)w->sl;
	if (w->grh)
		route_qp(own, PKT_NET_GRH, qp, w, &p->route);
	return true;
}

static bool ib_frame_av(const struct hw_port *own, const struct hw_qp *qp, const uint8_t *av,
			struct pkt *p)
{
	struct way_to to;

	(void)qp;
	ib_av(NULL, av, &to);
	p->slid = (uint16_t)atomic_load(&own->lid);
	p->dlid = (uint16_t)to.dlid;
	p->sl = LAYOUT_GET8(wqe_av, av, sl);
	if (to.dgid)
		link_route_av(own, to.net, av, &p->route);
	return true;
}

/* ---- Ethernet */

/* The GRH's flag is not used on Ethernet: each packet has a network header (mlx5_create_ah()). */
static void eth_av(const struct eng_run *r, const uint8_t *av, struct way_to *to)
{
	if (!r->port || !LAYOUT_GET(wqe_av, av, ext)) {
		*to = (struct way_to){.dlid = FAB_ETH_BIT};
		return;
	}
	to->dlid = fab_eth_addr(av + WQE_AV_RMAC);
	to->dgid = av + WQE_AV_RGID;
	to->net = fab_roce_net(r->port, LAYOUT_GET32(wqe_av, av, sgid_index));
	to->vlan = fab_roce_vlan(r->port, LAYOUT_GET32(wqe_av, av, sgid_index));
	to->index = LAYOUT_GET32(wqe_av, av, sgid_index);
}

static bool eth_accepts(const struct hw_port *at, const struct way_to *to)
{
	return fab_roce_accepts(at, to->dgid, to->net, to->vlan);
}

/* check_addr() of rxe_recv.c: packets for a connected QP must have the addresses of its path. */
static bool eth_expects(const struct eng_run *r, const struct hw_qp *peer)
{
	const struct hw_qp_path *w = r->theirs;
	const struct hw_port *at = hw_port(r->s, w->port);

	return at && r->net != PKT_NET_NONE && r->net == fab_roce_net(at, w->sgid_index) &&
	       r->vlan == fab_roce_vlan(at, w->sgid_index) &&
	       !memcmp(hw_gid(at, w->sgid_index), r->own->dgid, 16) &&
	       !memcmp(hw_gid(r->port, r->own->sgid_index), w->dgid, 16);
}

/*
 * handle_responder() of hw/mlx5/cq.c: the lower two bits of sl are the L3 header's type. slid and
 * ml_path stay zero. A bit in l4_hdr_type tells that vlan_info has a VLAN's tag.
 */
static void eth_cqe(const struct eng_run *r, const struct hw_port *at, uint32_t path_bits,
		    uint32_t dlid, uint32_t sl, uint8_t *cqe)
{
	static const uint8_t type[PKT_NETS] = {
		[PKT_NET_GRH] = CQE_ROCE_L3_GRH,
		[PKT_NET_IP6] = CQE_ROCE_L3_IP6,
		[PKT_NET_IP4] = CQE_ROCE_L3_IP4,
	};

	(void)at;
	(void)path_bits;
	(void)dlid;
	LAYOUT_SET(cqe64, cqe, sl, type[r->net]);
	if (!r->vlan)
		return;
	LAYOUT_SET(cqe64, cqe, l4_hdr_type,
		   LAYOUT_GET(cqe64, cqe, l4_hdr_type) | CQE_L4_VLAN_PRESENT);
	LAYOUT_SET(cqe64, cqe, vlan_info, PKT_TCI(sl, r->vlan));
}

/*
 * Ethernet switches forward the datagram to every port that has a link; adapters accept the MAC
 * address of the group.
 */
static void eth_reach(struct eng_run *r, const uint8_t *av, const struct fab_pkts *k,
		      enum eng_count_how how, struct eng_reach *x)
{
	const uint8_t *mgid = av + WQE_AV_RGID;
	struct fab_path path;
	uint8_t mac[6];

	fab_path(r->s, r->own->port, FAB_ETH_BIT, &path);
	if (how == ENG_COUNT_FIRST)
		fab_path_count(r->s, &path, k);
	ib_gid_mcast_mac(mgid, mac);
	if (memcmp(mac, av + WQE_AV_RMAC, sizeof(mac)) || !fab_roce_carries(r->net, mgid))
		return;
	for (uint32_t i = 0; i < x->n; i++) {
		if (fab_at_by_vlan(r->s, x->port[i], r->vlan) == SEG_NONE)
			continue; /* mlx5e_vport_context_update_vlans() */
		fab_path(r->s, r->own->port, fab_eth_addr_of(x->port[i]), &path);
		if (!fab_path_passes(r->s, &path, k))
			continue;
		x->got |= UINT64_C(1) << i;
		if (how != ENG_COUNT_NOT)
			fab_count_received(r->s, x->port[i], k);
	}
}

static uint16_t eth_tci(const struct hw_port *own, uint32_t sgid_index, uint32_t prio)
{
	uint32_t vlan = fab_roce_vlan(own, sgid_index);

	return vlan ? PKT_TCI(prio, vlan) : 0;
}

/* The DSCP of RoCE v2 has a field of its own (mlx5_set_path()). */
static bool eth_frame(const struct hw_port *own, const struct hw_qp *qp, const struct hw_qp_path *w,
		      struct pkt *p)
{
	enum pkt_net net = fab_roce_net(own, w->sgid_index);
	const void *ads = way_ads(qp, w);

	p->eth = true;
	fab_eth_mac(w->port, p->smac);
	memcpy(p->dmac, (const uint8_t *)ads + LF_ads_rmac_47_32_BIT / 8, sizeof(p->dmac));
	p->tci = eth_tci(own, w->sgid_index, LAYOUT_GET32(ads, ads, eth_prio));
	route_qp(own, net, qp, w, &p->route);
	if (net != PKT_NET_GRH)
		p->route.tclass =
			(uint8_t)(LAYOUT_GET8(ads, ads, dscp) << 2 | (p->route.tclass & 3));
	return net != PKT_NET_NONE;
}

static bool eth_frame_av(const struct hw_port *own, const struct hw_qp *qp, const uint8_t *av,
			 struct pkt *p)
{
	if (!LAYOUT_GET(wqe_av, av, ext))
		return false;
	p->eth = true;
	fab_eth_mac(hw_qp_path(qp)->port, p->smac);
	memcpy(p->dmac, av + WQE_AV_RMAC, sizeof(p->dmac));
	p->tci = eth_tci(own, LAYOUT_GET32(wqe_av, av, sgid_index),
			 LAYOUT_GET32(wqe_av, av, sl) >> eng_links[HW_LINK_ETH].sl_shift);
	link_route_av(own, fab_roce_net(own, LAYOUT_GET32(wqe_av, av, sgid_index)), av, &p->route);
	return p->route.net != PKT_NET_NONE;
}

const struct eng_link eng_links[2] = {
	[HW_LINK_IB] =
		{
			.headers = HDR_LRH,
			.av = ib_av,
			.net = ib_net,
			.accepts = ib_accepts,
			.expects = ib_expects,
			.cqe = ib_cqe,
			.reach = ib_reach,
			.frame = ib_frame,
			.frame_av = ib_frame_av,
		},
	[HW_LINK_ETH] =
		{
			.headers = PKT_ETH,
			.sl_shift = 1,
			.av = eth_av,
			.net = fab_roce_net,
			.accepts = eth_accepts,
			.expects = eth_expects,
			.cqe = eth_cqe,
			.reach = eth_reach,
			.frame = eth_frame,
			.frame_av = eth_frame_av,
		},
};
