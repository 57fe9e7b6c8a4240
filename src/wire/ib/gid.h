/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* GIDs of Ethernet ports, which are IP addresses, and hop limits. */
#ifndef SOFTHCA_WIRE_IB_GID_H
#define SOFTHCA_WIRE_IB_GID_H

#include <errno.h>
#include <string.h>
#include "util/bits.h"

#define IB_HOPS_OF_ROUTE 64    /* net.ipv4.ip_default_ttl, net.ipv6.conf.*.hop_limit */
#define IB_HOPS_OF_ANSWER 0xff /* the hop limit of ib_init_ah_attr_from_wc() */

/* ::ffff:a.b.c.d, which stands for the IPv4 address a.b.c.d */
static inline bool ib_gid_is_ip4(const uint8_t gid[16])
{
	return !be64_load(gid) && be32_load(gid + 8) == 0xffff;
}

/* The GID of an IPv4 address, which is in network byte order. */
static inline void ib_gid_of_ip4(const void *ip, uint8_t gid[16])
{
	be64_store(gid, 0);
	be32_store(gid + 8, 0xffff);
	memcpy(gid + 12, ip, 4);
}

/* rdma_link_local_addr() */
static inline bool ib_gid_is_linklocal(const uint8_t gid[16])
{
	return be64_load(gid) == UINT64_C(0xfe80000000000000);
}

/* The MAC address that a link-local GID contains: rdma_get_ll_mac(). */
static inline void ib_gid_linklocal_mac(const uint8_t gid[16], uint8_t mac[6])
{
	memcpy(mac, gid + 8, 3);
	memcpy(mac + 3, gid + 13, 3);
	mac[0] ^= 2;
}

/*
 * The MAC address behind a GID, as far as the GIDs alone say: ib_resolve_unicast_gid_dmac(). 0:
 * `mac` has it; 1: ask for the neighbour with that IP address; -EINVAL: one of the two is an IPv4
 * address and the other is not (rdma_resolve_ip()).
 */
static inline int ib_gid_mac(bool is_roce_v1, const uint8_t sgid[16], const uint8_t dgid[16],
			     uint8_t mac[6])
{
	/* RoCE v1 does not ask IP for a link-local address. */
	if (is_roce_v1 && ib_gid_is_linklocal(dgid)) {
		ib_gid_linklocal_mac(dgid, mac);
		return 0;
	}
	return ib_gid_is_ip4(sgid) == ib_gid_is_ip4(dgid) ? 1 : -EINVAL;
}

/* rdma_is_multicast_addr() */
static inline bool ib_gid_is_mcast(const uint8_t gid[16])
{
	return ib_gid_is_ip4(gid) ? gid[12] >> 4 == 0xe : gid[0] == 0xff;
}

/* The MAC address of a multicast group: ip_eth_mc_map(), ipv6_eth_mc_map(). */
static inline void ib_gid_mcast_mac(const uint8_t mgid[16], uint8_t mac[6])
{
	bool ip4 = ib_gid_is_ip4(mgid);
	uint32_t low = be32_load(mgid + 12);

	be16_store(mac, ip4 ? 0x0100 : 0x3333);
	be32_store(mac + 2, ip4 ? 0x5e000000 | (low & 0x7fffff) : low);
}

#endif
