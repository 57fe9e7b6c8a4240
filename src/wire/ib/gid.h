/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* GIDs of Ethernet ports, which are IP addresses. */
#ifndef SOFTHCA_WIRE_IB_GID_H
#define SOFTHCA_WIRE_IB_GID_H

#include "util/bits.h"

/* ::ffff:a.b.c.d, which stands for the IPv4 address a.b.c.d */
static inline bool ib_gid_is_ip4(const uint8_t gid[16])
{
	return !be64_load(gid) && be32_load(gid + 8) == 0xffff;
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
