/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the rules of RoCE's addresses in packets. Calls the segment only; also runs in a trap. */
#include "fabric/roce.h"

#include "fabric/eth.h"
#include "wire/ib/gid.h"

/* set_roce_addr() of hw/mlx5/main.c: type and address of the entry give version and L3 type. */
static enum pkt_net fab_roce_header(uint32_t type, const uint8_t gid[16])
{
	if (type != HW_GID_ROCE_V2)
		return type == HW_GID_ROCE_V1 ? PKT_NET_GRH : PKT_NET_NONE;
	return ib_gid_is_ip4(gid) ? PKT_NET_IP4 : PKT_NET_IP6;
}

enum pkt_net fab_roce_net(const struct hw_port *p, uint32_t sgid_index)
{
	if (sgid_index >= hw_port_gids(p))
		return PKT_NET_NONE;
	return fab_roce_header(hw_gid_type(*hw_gid_kind_at(p, sgid_index)), hw_gid(p, sgid_index));
}

bool fab_roce_carries(enum pkt_net net, const uint8_t gid[16])
{
	return net == PKT_NET_GRH ||
	       (net != PKT_NET_NONE && (net == PKT_NET_IP4) == ib_gid_is_ip4(gid));
}

uint32_t fab_roce_vlan(const struct hw_port *p, uint32_t sgid_index)
{
	return sgid_index < hw_port_gids(p) ? hw_gid_vlan(*hw_gid_kind_at(p, sgid_index)) : 0;
}

bool fab_roce_accepts(const struct hw_port *p, const uint8_t dgid[16], enum pkt_net net,
		      uint32_t vlan)
{
	enum hw_gid_type type = net == PKT_NET_GRH ? HW_GID_ROCE_V1 : HW_GID_ROCE_V2;

	return fab_roce_carries(net, dgid) && fab_gid_find(p, dgid, hw_gid_kind(type, vlan)) >= 0;
}
