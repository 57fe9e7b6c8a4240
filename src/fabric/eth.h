/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ethernet ports (RoCE): one layer-2 segment joins all of a fabric's ports. MAC addresses follow
 * from the ports' numbers and are not stored; the GID table holds the interface's IP addresses.
 *
 * Where code carries a destination LID it carries on Ethernet fab_eth_addr(): 32 bits that name a
 * MAC address of this fabric, never equal to a LID. fab_path() finds either.
 */
#ifndef SOFTHCA_FABRIC_ETH_H
#define SOFTHCA_FABRIC_ETH_H

#include "hw/port.h"

#define FAB_ETH_BIT 0x80000000u
#define FAB_ETH_OUI 0x5a17cau     /* locally administered, as the GUIDs' prefix */
#define FAB_ETH_MTU 1500u         /* the MTU of an interface without a configured one */
#define FAB_ETH_MTU_MIN 1280u     /* the least that IPv6 allows */
#define FAB_ETH_MTU_MAX 9978u     /* ConnectX's */
#define FAB_ETH_CAP_MASK 0x10000u /* IB_PORT_CM_SUP: mlx5_query_port_roce() */

/* The MAC address of a port, and as an EUI-64 with the universal bit inverted. */
void fab_eth_mac(uint32_t port, uint8_t mac[6]);
void fab_eth_eui64(uint32_t port, uint8_t out[8]);
/* A MAC address as a destination; one of no port gives a destination that nothing reaches. */
uint32_t fab_eth_addr(const uint8_t mac[6]);

static inline bool fab_is_eth_addr(uint32_t addr)
{
	return addr & FAB_ETH_BIT;
}
/* The port that such a destination names: SEG_T_PORT index, perhaps of no port; SEG_NONE. */
static inline uint32_t fab_eth_port(uint32_t addr)
{
	return addr & 0xffffff ? addr & 0xffffff : SEG_NONE;
}
static inline uint32_t fab_eth_addr_of(uint32_t port)
{
	return FAB_ETH_BIT | (port & 0xffffff);
}
/* The address that reaches the port: its LID, or its Ethernet address. */
static inline uint32_t fab_port_addr(const struct seg *s, uint32_t port)
{
	const struct hw_port *p = hw_port(s, port);

	if (!p)
		return 0;
	return hw_port_is_eth(p) ? fab_eth_addr_of(port)
				 : atomic_load_explicit(&p->lid, memory_order_relaxed);
}

/* IBV_MTU code of the largest packets that fit an interface's MTU (iboe_get_mtu()). */
uint32_t fab_eth_ib_mtu(uint32_t if_mtu);

/* Sets a new Ethernet port up: its link is up, its table holds the interface's addresses. */
void fab_eth_init(struct seg *s, uint32_t port, uint32_t if_mtu);
/*
 * Makes the GID table what the interface's addresses are; nothing on InfiniBand. The number of
 * entries that came or went.
 */
uint32_t fab_eth_gids(struct seg *s, uint32_t port);
/* The first entry of a port's table with this GID and hw_gid_kind() (-1: any); -1: none. */
int fab_gid_find(const struct hw_port *p, const uint8_t gid[16], int kind);

/*
 * The MAC address that answers for an IP address (::ffff:a.b.c.d: IPv4) at an interface (ifaddr.h).
 * 0; -ENETUNREACH, -ENODEV: no route; -ETIMEDOUT: none of the same VLAN has it.
 */
int fab_eth_neighbour(struct seg *s, uint32_t at, const uint8_t ip[16], uint8_t mac[6]);

/* Sets the link of an Ethernet port up or down. 0; -EINVAL: not an Ethernet port. */
int fab_eth_link(struct seg *s, uint32_t port, bool up);

#endif
