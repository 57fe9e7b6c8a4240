/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The firmware's view of ports. Reads port elements only; called by exec.c. */
#include "fw/priv.h"

#include <string.h>
#include "fabric/count.h"
#include "fabric/eth.h"
#include "fabric/fabric.h"
#include "fabric/ifaddr.h"
#include "hw/port.h"
#include "wire/ib/gid.h"
#include "wire/prm/vport.h"

bool fw_is_eth(const struct fw_call *k)
{
	const struct hw_port *p = hw_port(k->s, k->hca->port[0]);

	return p && hw_port_is_eth(p);
}

bool fw_has_gid(const struct hw_port *p, uint32_t index)
{
	static const uint8_t none[16];

	return index < hw_port_gids(p) && memcmp(hw_gid(p, index), none, sizeof(none)) != 0;
}

#define VPORT(f, v) LAYOUT_SET(hca_vport_context, ctx, f, (v))

enum fw_r fw_cmd_query_hca_vport_context(struct fw_call *k)
{
	void *ctx = LAYOUT_IN(query_hca_vport_context_out, hca_vport_context, k->out);
	uint32_t num = LAYOUT_GET32(query_hca_vport_context_in, k->in, port_num);
	const struct hw_port *p;
	uint32_t state;

	if (LAYOUT_GET(query_hca_vport_context_in, k->in, other_vport) ||
	    LAYOUT_GET(query_hca_vport_context_in, k->in, vport_number))
		return FW_R_VPORT_OTHER;
	if (fw_is_eth(k))
		return FW_R_VPORT_ETH;
	if (num == 0 && k->hca->nports == 1)
		num = 1;
	k->obj = num;
	if (num < 1 || num > k->hca->nports)
		return FW_R_VPORT_PORT;
	p = hw_port(k->s, k->hca->port[num - 1]);
	if (!p)
		return FW_R_VPORT_PORT;
	state = p->state;
	VPORT(has_smi, 1);
	VPORT(port_physical_state, p->phys_state);
	VPORT(vport_state_policy, 0);
	VPORT(port_state, state);
	VPORT(vport_state, state);
	VPORT(system_image_guid, k->hca->sys_image_guid);
	VPORT(port_guid, p->guid);
	VPORT(node_guid, k->hca->node_guid);
	VPORT(cap_mask1, p->cap_mask);
	VPORT(lid, hw_port_lid(p) & 0xffff);
	VPORT(lmc, p->lmc & 7);
	VPORT(subnet_timeout, p->subnet_timeout);
	VPORT(sm_lid, p->sm_lid & 0xffff);
	VPORT(sm_sl, p->sm_sl & 0xf);
	VPORT(qkey_violation_counter,
	      fab_violations(k->s, k->hca->port[num - 1], HW_CTR_QKEY_VIOL));
	VPORT(pkey_violation_counter,
	      fab_violations(k->s, k->hca->port[num - 1], HW_CTR_PKEY_VIOL));
	return FW_R_NONE;
}

enum fw_r fw_cmd_query_vport_state(struct fw_call *k)
{
	const struct hw_port *p = hw_port(k->s, k->hca->port[0]);

	if (LAYOUT_GET(query_vport_state_in, k->in, other_vport) ||
	    LAYOUT_GET(query_vport_state_in, k->in, vport_number))
		return FW_R_VPORT_STATE_OTHER;
	LAYOUT_SET(query_vport_state_out, k->out, admin_state, 1);
	LAYOUT_SET(query_vport_state_out, k->out, state, p && p->state == IB_PORT_ACTIVE);
	return FW_R_NONE;
}

/*
 * Without LAG: state 0 and success, as UCX expects of cards (uct_ib_mlx5_devx_query_lag() and its
 * caller in ib_mlx5dv_md.c log anything but success; lag_state 0 means no LAG).
 */
enum fw_r fw_cmd_query_lag(struct fw_call *k)
{
	return FW_R_NONE;
}

static void counter(void *p, uint64_t packets, uint64_t dwords)
{
	LAYOUT_SET(traffic_counter, p, packets, packets);
	LAYOUT_SET(traffic_counter, p, octets, dwords * 4);
}

enum fw_r fw_cmd_query_vport_counter(struct fw_call *k)
{
	uint32_t num = LAYOUT_GET32(query_vport_counter_in, k->in, port_num);
	struct fab_counters c;

	if (LAYOUT_GET(query_vport_counter_in, k->in, other_vport) ||
	    LAYOUT_GET(query_vport_counter_in, k->in, vport_number))
		return FW_R_VPORT_COUNTER_OTHER;
	if (num == 0 && k->hca->nports == 1)
		num = 1;
	k->obj = num;
	if (num < 1 || num > k->hca->nports)
		return FW_R_VPORT_COUNTER_PORT;
	if (LAYOUT_GET(query_vport_counter_in, k->in, clear))
		return FW_R_VPORT_COUNTER_CLEAR;
	fab_port_counters(k->s, k->hca->port[num - 1], &c);
	counter(LAYOUT_IN(query_vport_counter_out, received_ib_unicast, k->out),
		c.n[HW_CTR_RCV_UCAST], c.n[HW_CTR_RCV_DATA]);
	counter(LAYOUT_IN(query_vport_counter_out, transmitted_ib_unicast, k->out),
		c.n[HW_CTR_XMIT_UCAST], c.n[HW_CTR_XMIT_DATA]);
	return FW_R_NONE;
}

enum fw_r fw_cmd_query_vnic_env(struct fw_call *k)
{
	if (LAYOUT_GET(query_vnic_env_in, k->in, other_vport) ||
	    LAYOUT_GET(query_vnic_env_in, k->in, vport_number))
		return FW_R_VNIC_ENV_OTHER;
	return FW_R_NONE;
}

static void mac_put(void *to, const uint8_t mac[6])
{
	LAYOUT_SET(mac_address_layout, to, mac_addr_47_32, be16_load(mac));
	LAYOUT_SET(mac_address_layout, to, mac_addr_31_0, be32_load(mac + 2));
}

/*
 * At most so many addresses in a list; mlx5e's en_fs.c adds its own or the broadcast address first.
 */
#define LIST_MAX (4 + FAB_IF_ADDRS)

static uint32_t list_uc(const struct fw_call *k, uint8_t mac[LIST_MAX][6])
{
	fab_eth_mac(k->hca->port[0], mac[0]);
	return 1;
}

/* An interface with IPv4 and IPv6 is in the groups of all hosts and of its own addresses. */
static uint32_t list_mc(const struct fw_call *k, uint8_t mac[LIST_MAX][6])
{
	static const uint8_t all_hosts[3][6] = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
						{0x33, 0x33, 0, 0, 0, 1},
						{0x01, 0x00, 0x5e, 0, 0, 1}};
	static const uint8_t solicited[3] = {0x33, 0x33, 0xff};
	struct fab_iface f;
	uint32_t n = 3;

	memcpy(mac, all_hosts, sizeof(all_hosts));
	fab_iface(k->s, k->hca->port[0], &f);
	for (uint32_t i = 0; i < f.nip6; i++) {
		uint32_t same = 3;

		memcpy(mac[n], solicited, 3);
		memcpy(mac[n] + 3, f.ip6[i] + 13, 3);
		while (memcmp(mac[same], mac[n], 6) != 0)
			same++;
		n += same == n;
	}
	return n;
}

/*
 * The list of VLANs as mlx5e_vport_context_update_vlans() sends it. A port with VLANs has VLAN 0 as
 * well (vlan_device_event()).
 */
static uint32_t list_vlans(const struct hw_port *p, uint8_t *to, uint32_t room)
{
	uint32_t n = 0, id[1 + HW_VLANS];

	for (uint32_t i = 0; i < HW_VLANS; i++) {
		if (!p->vlan[i])
			continue;
		if (!n)
			id[n++] = 0;
		id[n++] = p->vlan[i];
	}
	for (uint32_t i = 0; i < n && (i + 1) * LAYOUT_SZ(vlan_layout) <= room; i++)
		LAYOUT_SET(vlan_layout, to + i * LAYOUT_SZ(vlan_layout), vlan, id[i]);
	return n;
}

/* MLX5E_SW2HW_MTU(): Ethernet header, VLAN tag, FCS. */
#define ETH_OVERHEAD 22

static void nic_vport_eth(struct fw_call *k, void *ctx, uint64_t type)
{
	const struct hw_port *p = hw_port(k->s, k->hca->port[0]);
	uint32_t room = k->outlen - LAYOUT_SZ(query_nic_vport_context_out), n = 0, vlans = 0;
	uint8_t *list = (uint8_t *)k->out + LAYOUT_SZ(query_nic_vport_context_out);
	uint8_t mac[LIST_MAX][6];

	fab_eth_mac(k->hca->port[0], mac[0]);
	mac_put(LAYOUT_IN(nic_vport_context, permanent_address, ctx), mac[0]);
	LAYOUT_SET(nic_vport_context, ctx, roce_en, 1);
	LAYOUT_SET(nic_vport_context, ctx, mtu, p->if_mtu + ETH_OVERHEAD);
	LAYOUT_SET(nic_vport_context, ctx, qkey_violation_counter,
		   fab_violations(k->s, k->hca->port[0], HW_CTR_QKEY_VIOL));
	if (type == PRM_ALLOWED_LIST_UC)
		n = list_uc(k, mac);
	else if (type == PRM_ALLOWED_LIST_MC)
		n = list_mc(k, mac);
	else if (type == PRM_ALLOWED_LIST_VLAN)
		vlans = list_vlans(p, list, room);
	LAYOUT_SET(nic_vport_context, ctx, allowed_list_size, n + vlans);
	for (uint32_t i = 0; i < n && (i + 1) * LAYOUT_SZ(mac_address_layout) <= room; i++)
		mac_put(list + i * LAYOUT_SZ(mac_address_layout), mac[i]);
}

/* An InfiniBand adapter has no addresses here, and the MTU of IPoIB. */
enum fw_r fw_cmd_query_nic_vport_context(struct fw_call *k)
{
	void *ctx = LAYOUT_IN(query_nic_vport_context_out, nic_vport_context, k->out);
	uint64_t list = LAYOUT_GET(query_nic_vport_context_in, k->in, allowed_list_type);
	const struct hw_port *p = hw_port(k->s, k->hca->port[0]);

	if (LAYOUT_GET(query_nic_vport_context_in, k->in, other_vport) ||
	    LAYOUT_GET(query_nic_vport_context_in, k->in, vport_number))
		return FW_R_NIC_VPORT_OTHER;
	if (list > PRM_ALLOWED_LIST_VLAN)
		return FW_R_NIC_VPORT_LIST;
	LAYOUT_SET(nic_vport_context, ctx, system_image_guid, k->hca->sys_image_guid);
	LAYOUT_SET(nic_vport_context, ctx, port_guid, p ? p->guid : 0);
	LAYOUT_SET(nic_vport_context, ctx, node_guid, k->hca->node_guid);
	LAYOUT_SET(nic_vport_context, ctx, allowed_list_type, list);
	if (fw_is_eth(k))
		nic_vport_eth(k, ctx, list);
	else
		LAYOUT_SET(nic_vport_context, ctx, mtu, p ? 128u << p->active_mtu : 0);
	return FW_R_NONE;
}

/* The entry as mlx5_ib_add_gid() has written it; only the driver sends SET_ROCE_ADDRESS. */
enum fw_r fw_cmd_query_roce_address(struct fw_call *k)
{
	void *to = LAYOUT_IN(query_roce_address_out, roce_address, k->out);
	uint32_t i = LAYOUT_GET32(query_roce_address_in, k->in, roce_address_index);
	uint32_t num = LAYOUT_GET32(query_roce_address_in, k->in, vhca_port_num);
	const struct hw_port *p;
	uint32_t kind;
	uint8_t mac[6];

	k->obj = i;
	if (!fw_is_eth(k))
		return FW_R_ROCE_OFF;
	if (num > k->hca->nports)
		return FW_R_ROCE_PORT;
	num = num ? num - 1 : 0;
	p = hw_port(k->s, k->hca->port[num]);
	if (i >= hw_port_gids(p))
		return FW_R_ROCE_INDEX;
	if (!fw_has_gid(p, i))
		return FW_R_NONE;
	kind = *hw_gid_kind_at(p, i);
	memcpy(LAYOUT_IN(roce_addr_layout, source_l3_address, to), hw_gid(p, i), 16);
	fab_eth_mac(k->hca->port[num], mac);
	LAYOUT_SET(roce_addr_layout, to, source_mac_47_32, be16_load(mac));
	LAYOUT_SET(roce_addr_layout, to, source_mac_31_0, be32_load(mac + 2));
	LAYOUT_SET(roce_addr_layout, to, vlan_valid, hw_gid_vlan(kind) != 0);
	LAYOUT_SET(roce_addr_layout, to, vlan_id, hw_gid_vlan(kind));
	if (hw_gid_type(kind) == HW_GID_ROCE_V2) {
		LAYOUT_SET(roce_addr_layout, to, roce_version, PRM_ROCE_VERSION_2);
		LAYOUT_SET(roce_addr_layout, to, roce_l3_type,
			   ib_gid_is_ip4(hw_gid(p, i)) ? PRM_ROCE_L3_IPV4 : PRM_ROCE_L3_IPV6);
	}
	return FW_R_NONE;
}
