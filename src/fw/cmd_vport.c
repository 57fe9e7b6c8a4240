/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The firmware's view of ports. Reads port elements only; called by exec.c. */
#include "fw/priv.h"

#include "fabric/count.h"
#include "fabric/fabric.h"
#include "hw/port.h"
#include "wire/prm/vport.h"

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
	VPORT(lid, p->lid & 0xffff);
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

/* A NIC without Ethernet: identity, an MTU for IPoIB, and empty address lists. */
enum fw_r fw_cmd_query_nic_vport_context(struct fw_call *k)
{
	void *ctx = LAYOUT_IN(query_nic_vport_context_out, nic_vport_context, k->out);
	uint64_t list = LAYOUT_GET(query_nic_vport_context_in, k->in, allowed_list_type);
	const struct hw_port *p = hw_port(k->s, k->hca->port[0]);

	if (LAYOUT_GET(query_nic_vport_context_in, k->in, other_vport) ||
	    LAYOUT_GET(query_nic_vport_context_in, k->in, vport_number))
		return FW_R_NIC_VPORT_OTHER;
	if (list > 2)
		return FW_R_NIC_VPORT_LIST;
	LAYOUT_SET(nic_vport_context, ctx, mtu, p ? 128u << p->active_mtu : 0);
	LAYOUT_SET(nic_vport_context, ctx, system_image_guid, k->hca->sys_image_guid);
	LAYOUT_SET(nic_vport_context, ctx, port_guid, p ? p->guid : 0);
	LAYOUT_SET(nic_vport_context, ctx, node_guid, k->hca->node_guid);
	LAYOUT_SET(nic_vport_context, ctx, allowed_list_type, list);
	return FW_R_NONE;
}
