/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packets of RoCE: their network header, and which port accepts them. Source and destination must
 * agree in it: v1 and v2, IPv4 and IPv6 do not reach each other.
 */
#ifndef SOFTHCA_FABRIC_ROCE_H
#define SOFTHCA_FABRIC_ROCE_H

#include "hw/port.h"
#include "wire/pkt/pkt.h"

/* The network header of packets whose source is that entry of the port's GID table. PKT_NET_NONE:
 * it is unused. */
enum pkt_net fab_roce_net(const struct hw_port *p, uint32_t sgid_index);
/*
 * The VLAN ID in frames whose source is that entry (set_roce_addr() of hw/mlx5/main.c); 0: no tag.
 */
uint32_t fab_roce_vlan(const struct hw_port *p, uint32_t sgid_index);
/* Can the header carry this GID as an address? */
bool fab_roce_carries(enum pkt_net net, const uint8_t gid[16]);
/* Does the port's GID table have `dgid`, for packets with this network header in this VLAN? */
bool fab_roce_accepts(const struct hw_port *p, const uint8_t dgid[16], enum pkt_net net,
		      uint32_t vlan);

#endif
