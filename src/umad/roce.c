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
#include "util/bits.h"
#include "wire/ib/gid.h"

#define HOPS_OF_ANSWER 0xff /* ib_init_ah_attr_from_wc() */
#define HOPS_OF_ROUTE 64    /* net.ipv4.ip_default_ttl, net.ipv6.conf.*.hop_limit */

/* rdma_link_local_addr() */
static bool is_linklocal(const uint8_t gid[16])
{
	return be64_load(gid) == UINT64_C(0xfe80) << 48;
}

/* rdma_get_ll_mac(): a link-local address contains it. */
static void mac_of_linklocal(const uint8_t gid[16], uint8_t mac[6])
{
	memcpy(mac, gid + 8, 3);
	memcpy(mac + 3, gid + 13, 3);
	mac[0] ^= 2;
}

int umad_eth_dest(struct seg *s, uint32_t port, uint32_t gid_type, const uint8_t sgid[16],
		  const uint8_t dgid[16], uint32_t *dest)
{
	uint8_t mac[6];
	int r = 0;

	*dest = FAB_ETH_BIT; /* of a group: QP1 is in none */
	if (ib_gid_is_mcast(dgid))
		return 0;
	if (gid_type == HW_GID_ROCE_V1 && is_linklocal(dgid))
		mac_of_linklocal(dgid, mac);
	else if (ib_gid_is_ip4(sgid) != ib_gid_is_ip4(dgid))
		return -EINVAL; /* rdma_resolve_ip() */
	else
		r = fab_eth_neighbour(s, port, dgid, mac);
	if (!r)
		*dest = fab_eth_addr(mac);
	return r;
}

uint8_t umad_answer_hops(const struct hw_port *p, uint32_t gid_type, const uint8_t sgid[16])
{
	if (!hw_port_is_eth(p) || (gid_type == HW_GID_ROCE_V1 && is_linklocal(sgid)))
		return HOPS_OF_ANSWER;
	return HOPS_OF_ROUTE;
}

bool umad_gid_arrives(const struct hw_port *p, const struct umad_pkt *pkt)
{
	if (hw_port_is_eth(p))
		return pkt->grh && fab_gid_find(p, pkt->dgid, pkt->gid_type) >= 0;
	return !pkt->grh || fab_port_has_gid(p, pkt->dgid);
}
