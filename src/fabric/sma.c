/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the subnet management agent of an adapter's port: the attributes of IBA 14.2.5 that a
 * channel adapter has. Set is refused everywhere so far (status 0x000c): nothing is configured
 * through the subnet yet.
 */
#include "fabric/mad.h"

#include <string.h>

#define PKEY_BLOCK 32
#define GUID_BLOCK 8

/* Virtual lanes 0 to 3. The data path has no lanes: this is what the tables say, not more. */
#define VL_CAP 3 /* code */
#define VLS 4u
#define VL_ARB_LEN 8

/* IBA 14.2.5.6: link speed in both generations of fields. */
#define SPEED_ALL_OLD 7 /* 2.5, 5 or 10 */
#define SPEED_10 4
#define WIDTH_ALL 3 /* 1x or 4x */

static const struct hw_port *port_of(const struct fab_mad_call *c)
{
	return hw_port(c->s, c->port);
}

static const struct fab_node *node_of(const struct fab_mad_call *c)
{
	return fab_node(c->s, port_of(c)->node);
}

static uint16_t get_node_desc(const struct fab_mad_call *c)
{
	memcpy(c->data, node_of(c)->desc, SMP_DATA_SIZE);
	return MAD_STATUS_OK;
}

static uint16_t get_node_info(const struct fab_mad_call *c)
{
	const struct hw_port *p = port_of(c);
	const struct fab_node *n = node_of(c);
	uint8_t *d = c->data;

	memset(d, 0, SMP_DATA_SIZE);
	LAYOUT_SET(node_info, d, base_version, 1);
	LAYOUT_SET(node_info, d, class_version, 1);
	LAYOUT_SET(node_info, d, node_type, n->type);
	LAYOUT_SET(node_info, d, num_ports, n->nports);
	LAYOUT_SET(node_info, d, system_guid, n->sys_guid);
	LAYOUT_SET(node_info, d, node_guid, n->guid);
	LAYOUT_SET(node_info, d, port_guid,
		   n->type == FAB_SWITCH ? hw_port(c->s, n->port0)->guid : p->guid);
	LAYOUT_SET(node_info, d, partition_cap, n->partition_cap);
	LAYOUT_SET(node_info, d, device_id, n->device_id);
	LAYOUT_SET(node_info, d, revision, n->revision);
	LAYOUT_SET(node_info, d, local_port, p->num);
	LAYOUT_SET(node_info, d, vendor_id, n->vendor_id);
	return MAD_STATUS_OK;
}

static uint16_t get_guid_info(const struct fab_mad_call *c)
{
	const struct hw_port *p = port_of(c);

	if (c->attr_mod >= HW_GIDS / GUID_BLOCK)
		return MAD_STATUS_BAD_VALUE;
	for (uint32_t i = 0; i < GUID_BLOCK; i++)
		memcpy(c->data + 8 * i, p->gid[c->attr_mod * GUID_BLOCK + i] + 8, 8);
	return MAD_STATUS_OK;
}

static void put_speed(uint8_t *d, uint32_t speed)
{
	uint32_t ext = speed >> 4; /* FDR 1, EDR 2, HDR 4, NDR 8 */

	LAYOUT_SET(port_info, d, link_speed_supported, SPEED_ALL_OLD);
	LAYOUT_SET(port_info, d, link_speed_enabled, SPEED_ALL_OLD);
	LAYOUT_SET(port_info, d, link_speed_active, ext ? SPEED_10 : speed);
	if (!ext)
		return;
	LAYOUT_SET(port_info, d, link_speed_ext_active, ext);
	LAYOUT_SET(port_info, d, link_speed_ext_supported, ext | (ext - 1));
	LAYOUT_SET(port_info, d, link_speed_ext_enabled, ext | (ext - 1));
	LAYOUT_SET(port_info, d, capability_mask2, ext >= 8 ? 0x400 | 0x20 : ext >= 4 ? 0x20 : 0);
}

/* The port that an attribute modifier names; 0 is the one that was asked. */
static const struct hw_port *port_named(const struct fab_mad_call *c, uint32_t num)
{
	const struct hw_port *p = port_of(c);
	const struct hw_hca *hca = hw_hca(c->s, p->hca);

	if (!num)
		return p;
	return num <= hca->nports ? hw_port(c->s, hca->port[num - 1]) : NULL;
}

static uint16_t get_port_info(const struct fab_mad_call *c)
{
	/* The top bit: who asks knows of extended speeds. */
	const struct hw_port *p = port_named(c, c->attr_mod & 0x7fffffff);
	uint8_t *d = c->data;

	if (!p)
		return MAD_STATUS_BAD_VALUE;
	memset(d, 0, SMP_DATA_SIZE);
	LAYOUT_SET(port_info, d, gid_prefix, p->gid_prefix);
	LAYOUT_SET(port_info, d, lid, p->lid);
	LAYOUT_SET(port_info, d, master_sm_lid, p->sm_lid);
	LAYOUT_SET(port_info, d, capability_mask, p->cap_mask);
	LAYOUT_SET(port_info, d, local_port, port_of(c)->num);
	LAYOUT_SET(port_info, d, link_width_enabled, WIDTH_ALL);
	LAYOUT_SET(port_info, d, link_width_supported, WIDTH_ALL);
	LAYOUT_SET(port_info, d, link_width_active, p->width);
	put_speed(d, p->speed);
	LAYOUT_SET(port_info, d, port_state, p->state);
	LAYOUT_SET(port_info, d, port_phys_state, p->phys_state);
	LAYOUT_SET(port_info, d, link_down_default, HW_PHYS_POLLING);
	LAYOUT_SET(port_info, d, lmc, p->lmc);
	LAYOUT_SET(port_info, d, neighbor_mtu, p->active_mtu);
	LAYOUT_SET(port_info, d, master_sm_sl, p->sm_sl);
	LAYOUT_SET(port_info, d, vl_cap, VL_CAP);
	LAYOUT_SET(port_info, d, vl_arb_high_cap, VL_ARB_LEN);
	LAYOUT_SET(port_info, d, vl_arb_low_cap, VL_ARB_LEN);
	LAYOUT_SET(port_info, d, mtu_cap, p->max_mtu);
	LAYOUT_SET(port_info, d, operational_vls, VL_CAP);
	LAYOUT_SET(port_info, d, guid_cap, HW_GIDS);
	LAYOUT_SET(port_info, d, subnet_timeout, 18);
	LAYOUT_SET(port_info, d, resp_time_value, 16);
	return MAD_STATUS_OK;
}

static uint16_t get_pkey_table(const struct fab_mad_call *c)
{
	const struct hw_port *p = port_of(c);

	if ((c->attr_mod & 0xffff) * PKEY_BLOCK >= HW_PKEYS)
		return MAD_STATUS_BAD_VALUE;
	memset(c->data, 0, SMP_DATA_SIZE);
	for (uint32_t i = 0; i < HW_PKEYS; i++)
		be16_store(c->data + 2 * i, p->pkey[i]);
	return MAD_STATUS_OK;
}

/* Of an adapter there is one, whatever ports the modifier names. */
static uint16_t get_sl2vl(const struct fab_mad_call *c)
{
	memset(c->data, 0, SMP_DATA_SIZE);
	for (uint32_t i = 0; i < 8; i++)
		c->data[i] = (uint8_t)((2 * i % VLS) << 4 | (2 * i + 1) % VLS);
	return MAD_STATUS_OK;
}

/* Halves of the low-priority table are 1 and 2, of the high one 3 and 4; each has 8 entries here.
 */
static uint16_t get_vl_arb(const struct fab_mad_call *c)
{
	uint32_t part = c->attr_mod >> 16;

	if (part < 1 || part > 4)
		return MAD_STATUS_BAD_VALUE;
	memset(c->data, 0, SMP_DATA_SIZE);
	for (uint32_t vl = 0; vl < VLS && (part & 1); vl++) {
		c->data[2 * vl] = (uint8_t)vl;
		c->data[2 * vl + 1] = part == 1 || !vl ? 4 : 0;
	}
	return MAD_STATUS_OK;
}

const struct fab_mad_row fab_sma_rows[] = {
	{MAD_CLASS_SUBN_LID, SMP_ATTR_NODE_DESC, "NodeDescription", get_node_desc, NULL},
	{MAD_CLASS_SUBN_LID, SMP_ATTR_NODE_INFO, "NodeInfo", get_node_info, NULL},
	{MAD_CLASS_SUBN_LID, SMP_ATTR_GUID_INFO, "GUIDInfo", get_guid_info, NULL},
	{MAD_CLASS_SUBN_LID, SMP_ATTR_PORT_INFO, "PortInfo", get_port_info, NULL},
	{MAD_CLASS_SUBN_LID, SMP_ATTR_PKEY_TABLE, "P_KeyTable", get_pkey_table, NULL},
	{MAD_CLASS_SUBN_LID, SMP_ATTR_SL2VL, "SLtoVLMappingTable", get_sl2vl, NULL},
	{MAD_CLASS_SUBN_LID, SMP_ATTR_VL_ARB, "VLArbitrationTable", get_vl_arb, NULL},
	{0},
};
