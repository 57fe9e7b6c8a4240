/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the subnet management agent of every node: the table of its attributes (IBA 14.2.5), those
 * of a node as a whole, GUIDs and P_Keys, and the M_Key. Ports are in sma_port.c, switches in
 * sma_switch.c, virtual lanes in sma_vl.c. mad.c calls this.
 */
#include "subnet/sma.h"

#include <string.h>
#include "fabric/count.h"
#include "fabric/notice.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "hw/timer.h"

#define PKEY_BLOCK 32
#define GUID_BLOCK 8

/* ---- M_Key */

/* The lease has expired: any requester may read and set the key. */
static void sma_expire(const struct seg *s, struct hw_port *p)
{
	uint64_t until = atomic_load(&p->mkey_until);

	if (until && hw_timer_now(s) >= until) {
		p->mkey_protect = 0;
		atomic_store(&p->mkey_until, 0);
	}
}

bool sma_mkey_ok(struct seg *s, uint32_t port, const uint8_t *mad)
{
	uint32_t own = fab_own_port(s, port);
	struct hw_port *p = hw_port(s, own);
	uint64_t method = LAYOUT_GET(mad_hdr, mad, method), none = 0;

	if (!p->mkey)
		return true;
	sma_expire(s, p);
	if (LAYOUT_GET(smp, mad, mkey) == p->mkey) {
		atomic_store(&p->mkey_until, 0);
		return true;
	}
	if (method == MAD_METHOD_GET && p->mkey_protect < 2)
		return true;
	if (method != MAD_METHOD_GET && method != MAD_METHOD_SET &&
	    method != MAD_METHOD_TRAP_REPRESS)
		return true;
	fab_count(s, own, HW_CTR_MKEY_VIOL, 1);
	if (p->mkey_lease)
		atomic_compare_exchange_strong(&p->mkey_until, &none,
					       hw_timer_now(s) + p->mkey_lease * NSEC_PER_SEC);
	fab_notice_mkey(s, port, mad);
	return false;
}

bool sma_mkey_shown(const struct hw_port *own, const uint8_t *mad)
{
	return mad && (LAYOUT_GET(mad_hdr, mad, method) != MAD_METHOD_GET ||
		       own->mkey_protect != 1 || LAYOUT_GET(smp, mad, mkey) == own->mkey);
}

/* ---- nodes */

static uint16_t get_node_desc(const struct fab_mad_call *c)
{
	memcpy(c->data, sma_node(c)->desc, SMP_DATA_SIZE);
	return MAD_STATUS_OK;
}

static uint16_t get_node_info(const struct fab_mad_call *c)
{
	const struct fab_node *n = sma_node(c);
	uint8_t *d = c->data;

	memset(d, 0, SMP_DATA_SIZE);
	LAYOUT_SET(node_info, d, base_version, 1);
	LAYOUT_SET(node_info, d, class_version, 1);
	LAYOUT_SET(node_info, d, node_type, n->type);
	LAYOUT_SET(node_info, d, num_ports, n->nports);
	LAYOUT_SET(node_info, d, system_guid, n->sys_guid);
	LAYOUT_SET(node_info, d, node_guid, n->guid);
	LAYOUT_SET(node_info, d, port_guid, hw_port(c->s, sma_own(c))->guid);
	LAYOUT_SET(node_info, d, partition_cap, n->partition_cap);
	LAYOUT_SET(node_info, d, device_id, n->device_id);
	LAYOUT_SET(node_info, d, revision, n->revision);
	LAYOUT_SET(node_info, d, local_port, hw_port(c->s, c->port)->num);
	LAYOUT_SET(node_info, d, vendor_id, n->vendor_id);
	return MAD_STATUS_OK;
}

/* A switch has one LED, at its port 0; the modifier names a port. */
static struct hw_port *led_of(const struct fab_mad_call *c)
{
	uint32_t port = c->attr_mod ? fab_node_port(sma_node(c), c->attr_mod) : c->port;

	return port == SEG_NONE ? NULL : hw_port(c->s, port);
}

static uint16_t get_led_info(const struct fab_mad_call *c)
{
	const struct hw_port *p = led_of(c);

	if (!p)
		return MAD_STATUS_BAD_VALUE;
	memset(c->data, 0, SMP_DATA_SIZE);
	LAYOUT_SET(led_info, c->data, led_mask, p->led);
	return MAD_STATUS_OK;
}

static uint16_t set_led_info(const struct fab_mad_call *c)
{
	struct hw_port *p = led_of(c);

	if (!p)
		return MAD_STATUS_BAD_VALUE;
	p->led = LAYOUT_GET8(led_info, c->data, led_mask);
	return get_led_info(c);
}

/* ---- GUIDs */

static uint16_t get_guid_info(const struct fab_mad_call *c)
{
	const struct hw_port *p = hw_port(c->s, sma_own(c));

	if (c->attr_mod >= HW_IB_GIDS / GUID_BLOCK)
		return MAD_STATUS_BAD_VALUE;
	for (uint32_t i = 0; i < GUID_BLOCK; i++)
		memcpy(c->data + 8 * i, p->gid[c->attr_mod * GUID_BLOCK + i] + 8, 8);
	return MAD_STATUS_OK;
}

/* The first GUID is the port's own, and cannot be set. */
static uint16_t set_guid_info(const struct fab_mad_call *c)
{
	struct hw_port *p = hw_port(c->s, sma_own(c));
	bool moved = false;

	if (c->attr_mod >= HW_IB_GIDS / GUID_BLOCK)
		return MAD_STATUS_BAD_VALUE;
	for (uint32_t i = 0; i < GUID_BLOCK; i++) {
		uint64_t guid = LAYOUT_ITEM_GET(guid_info, c->data, guid, i);
		uint8_t *gid = p->gid[c->attr_mod * GUID_BLOCK + i];

		if ((!i && !c->attr_mod) || be64_load(gid + 8) == guid)
			continue;
		be64_store(gid, guid ? p->gid_prefix : 0);
		be64_store(gid + 8, guid);
		moved = true;
	}
	if (moved)
		fab_port_changed(c->s, sma_own(c), FAB_CHANGED_GID);
	return get_guid_info(c);
}

/* ---- P_Keys: the modifier's low half is the block; on a switch its high half is the port */

static_assert(HW_PKEYS % PKEY_BLOCK == 0 && 2 * PKEY_BLOCK == SMP_DATA_SIZE, "whole blocks");

static uint32_t pkey_first(const struct fab_mad_call *c)
{
	return (c->attr_mod & 0xffff) * PKEY_BLOCK;
}

static uint32_t pkey_port(const struct fab_mad_call *c)
{
	const struct fab_node *n = sma_node(c);
	uint32_t num = c->attr_mod >> 16;

	if (pkey_first(c) >= HW_PKEYS)
		return SEG_NONE;
	return n->type == FAB_SWITCH ? fab_node_port(n, num) : c->port;
}

static uint16_t get_pkey_table(const struct fab_mad_call *c)
{
	uint32_t port = pkey_port(c);

	if (port == SEG_NONE)
		return MAD_STATUS_BAD_VALUE;
	for (uint32_t i = 0; i < PKEY_BLOCK; i++)
		be16_store(c->data + 2 * i, hw_port(c->s, port)->pkey[pkey_first(c) + i]);
	return MAD_STATUS_OK;
}

static uint16_t set_pkey_table(const struct fab_mad_call *c)
{
	uint32_t port = pkey_port(c);
	struct hw_port *p;
	bool moved = false;

	if (port == SEG_NONE)
		return MAD_STATUS_BAD_VALUE;
	p = hw_port(c->s, port);
	for (uint32_t i = 0; i < PKEY_BLOCK; i++) {
		uint16_t pkey = (uint16_t)be16_load(c->data + 2 * i);

		moved |= p->pkey[pkey_first(c) + i] != pkey;
		p->pkey[pkey_first(c) + i] = pkey;
	}
	if (moved) {
		fab_moved(c->s);
		fab_port_changed(c->s, port, FAB_CHANGED_PKEY);
	}
	return get_pkey_table(c);
}

const struct fab_mad_row fab_sma_rows[] = {
	{MAD_CLASS_SUBN_LID, SMP_ATTR_NODE_DESC, "NodeDescription", get_node_desc, NULL},
	{MAD_CLASS_SUBN_LID, SMP_ATTR_NODE_INFO, "NodeInfo", get_node_info, NULL},
	{MAD_CLASS_SUBN_LID, SMP_ATTR_SWITCH_INFO, "SwitchInfo", sma_get_switch_info,
	 sma_set_switch_info},
	{MAD_CLASS_SUBN_LID, SMP_ATTR_GUID_INFO, "GUIDInfo", get_guid_info, set_guid_info},
	{MAD_CLASS_SUBN_LID, SMP_ATTR_PORT_INFO, "PortInfo", sma_get_port_info, sma_set_port_info},
	{MAD_CLASS_SUBN_LID, SMP_ATTR_PKEY_TABLE, "P_KeyTable", get_pkey_table, set_pkey_table},
	{MAD_CLASS_SUBN_LID, SMP_ATTR_SL2VL, "SLtoVLMappingTable", sma_get_sl2vl, sma_set_sl2vl},
	{MAD_CLASS_SUBN_LID, SMP_ATTR_VL_ARB, "VLArbitrationTable", sma_get_vl_arb, sma_set_vl_arb},
	{MAD_CLASS_SUBN_LID, SMP_ATTR_LFT, "LinearForwardingTable", sma_get_lft, sma_set_lft},
	{MAD_CLASS_SUBN_LID, SMP_ATTR_MFT, "MulticastForwardingTable", sma_get_mft, sma_set_mft},
	{MAD_CLASS_SUBN_LID, SMP_ATTR_LED_INFO, "LedInfo", get_led_info, set_led_info},
	{MAD_CLASS_SUBN_LID, SMP_ATTR_MLNX_EXT_PORT_INFO, "MlnxExtPortInfo",
	 sma_get_mlnx_ext_port_info, sma_set_mlnx_ext_port_info},
	{0},
};
