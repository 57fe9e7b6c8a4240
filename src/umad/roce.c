/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns what Ethernet ports do otherwise: every GMP has a GRH there, whose destination GID leads to
 * a MAC address. The rules are those of verbs.c and addr.c.
 */
#include "umad/priv.h"

#include <errno.h>
#include <string.h>
#include "fabric/eth.h"
#include "fabric/fabric.h"
#include "fabric/ifaddr.h"
#include "wire/ib/gid.h"

int umad_eth_dest(struct seg *s, uint32_t port, uint32_t kind, const uint8_t sgid[16],
		  const uint8_t dgid[16], uint32_t *dest)
{
	uint8_t mac[6];
	int r;

	*dest = FAB_ETH_BIT; /* of a group: QP1 is in none */
	if (ib_gid_is_mcast(dgid))
		return 0;
	r = ib_gid_mac(hw_gid_type(kind) == HW_GID_ROCE_V1, sgid, dgid, mac);
	if (r > 0)
		r = fab_eth_neighbour(s, fab_at_by_vlan(s, port, hw_gid_vlan(kind)), dgid, mac);
	if (!r)
		*dest = fab_eth_addr(mac);
	return r;
}

bool umad_over_ipv4(const struct umad_pkt *p)
{
	return p->grh && hw_gid_type(p->gid_kind) == HW_GID_ROCE_V2 && ib_gid_is_ip4(p->sgid);
}

uint8_t umad_arriving_sl(const struct hw_port *p, uint32_t kind, uint8_t sl)
{
	if (!hw_port_is_eth(p))
		return sl;
	return hw_gid_vlan(kind) ? sl & 7 : 0;
}

uint8_t umad_answer_hops(const struct hw_port *p, uint32_t kind, const uint8_t sgid[16])
{
	if (!hw_port_is_eth(p) ||
	    (hw_gid_type(kind) == HW_GID_ROCE_V1 && ib_gid_is_linklocal(sgid)))
		return IB_HOPS_OF_ANSWER;
	return IB_HOPS_OF_ROUTE;
}

/*
 * The SA's well-known GUID, IBA 13.5.1: senders that must fill in a GRH know no other GUID of it,
 * see update_sm_ah() of the kernel's sa_query.c.
 */
static bool is_sa_gid(const struct hw_port *p, const uint8_t gid[16])
{
	return atomic_load(&p->sm_lid) == atomic_load(&p->lid) && !memcmp(gid, p->gid[0], 8) &&
	       be64_load(gid + 8) == UINT64_C(0x0200000000000002);
}

bool umad_gid_arrives(const struct hw_port *p, const struct umad_pkt *pkt)
{
	if (hw_port_is_eth(p))
		return pkt->grh && fab_gid_find(p, pkt->dgid, pkt->gid_kind) >= 0;
	return !pkt->grh || fab_port_has_gid(p, pkt->dgid) || (pkt->qpn && is_sa_gid(p, pkt->dgid));
}
