/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the SA records of nodes, ports, tables and links: the answers of the nodes' own agents, with
 * the LID of the node. sa.c calls this.
 */
#include "subnet/sa.h"
#include "hw/hca.h"
#include "hw/port.h"

#include <string.h>

#define LFT_BLOCK 64
#define MFT_BLOCK 32
#define MFT_PORTS 16 /* entries of a block */
#define PKEY_BLOCK 32
#define GUID_BLOCK 8

#define MATCH_BITS 0x80000000u /* AttributeModifier: CapabilityMask names bits that must be set */

/* The subject of a record: a node, with the port that its LID belongs to. */
struct subject {
	const struct fab_node *n;
	uint32_t node; /* SEG_T_NODE */
	uint32_t port; /* the port with the LID: an adapter's own, a switch's port 0 */
	uint32_t lid;
};

typedef void each_fn(struct sa_call *c, const struct subject *at);

/* Visits nodes of `type` (0: any); adapters once for each port that has a LID. */
static void for_each_lid(struct sa_call *c, uint32_t type, each_fn *fn)
{
	uint32_t lid = sa_has(c, SA_RID_LID) ? be16_load(c->want) : 0;

	seg_for_each_live (c->s, SEG_T_NODE, i) {
		const struct fab_node *n = fab_node(c->s, i);
		struct subject at = {.n = n, .node = i};
		uint32_t first = n->type == FAB_SWITCH ? 0 : 1;
		uint32_t last = n->type == FAB_SWITCH ? 0 : n->nports;

		if (sa_done(c))
			return;
		if (type && n->type != type)
			continue;
		for (uint32_t num = first; num <= last; num++) {
			at.port = n->port0 + num;
			at.lid = hw_port(c->s, at.port)->lid;
			if (at.lid && (!lid || fab_port_has_lid(hw_port(c->s, at.port), lid)))
				fn(c, &at);
		}
	}
}

/* One attribute of a subject, as its agent answers it. */
static bool sa_node_get(const struct sa_call *c, const struct subject *at, uint32_t attr,
			uint32_t mod, uint8_t *to, uint32_t n)
{
	uint8_t data[SMP_DATA_SIZE];

	if (fab_sma_get(c->s, at->port, (uint16_t)attr, mod, data))
		return false;
	memcpy(to, data, n);
	return true;
}

/* ---- NodeRecord */

static void node_record(struct sa_call *c, const struct subject *at)
{
	uint8_t r[LAYOUT_SZ(node_record)] = {0};

	LAYOUT_SET(node_record, r, lid, at->lid);
	if (sa_node_get(c, at, SMP_ATTR_NODE_INFO, 0, LAYOUT_IN(node_record, node_info, r),
			LAYOUT_SZ(node_info)) &&
	    sa_node_get(c, at, SMP_ATTR_NODE_DESC, 0, r + NODE_RECORD_DESC, SMP_DATA_SIZE))
		sa_emit(c, 1 << SA_RID_LID, r);
}

static void node_records(struct sa_call *c)
{
	for_each_lid(c, 0, node_record);
}

/* ---- PortInfoRecord */

enum { PIR_PORT = 1, PIR_CAP_MASK = 7 };

static void port_info_record(struct sa_call *c, const struct subject *at, uint32_t num)
{
	const uint64_t cap = UINT64_C(1) << PIR_CAP_MASK;
	uint8_t r[LAYOUT_SZ(port_info_record)] = {0};
	uint8_t *d = LAYOUT_IN(port_info_record, port_info, r);
	const uint8_t *want = LAYOUT_IN(port_info_record, port_info, c->want);
	uint64_t own = 1 << SA_RID_LID;

	if (sa_has(c, PIR_PORT) && num != LAYOUT_GET(port_info_record, c->want, port_num))
		return;
	if (!sa_node_get(c, at, SMP_ATTR_PORT_INFO, num, d, LAYOUT_SZ(port_info)))
		return;
	LAYOUT_SET(port_info_record, r, lid, at->lid);
	LAYOUT_SET(port_info_record, r, port_num, num);
	if (!c->trusted)
		LAYOUT_SET(port_info, d, mkey, 0);
	if ((c->mask & cap) && (c->attr_mod & MATCH_BITS)) {
		uint64_t bits = LAYOUT_GET(port_info, want, capability_mask);

		if ((LAYOUT_GET(port_info, d, capability_mask) & bits) != bits)
			return;
		own |= cap;
	}
	sa_emit(c, own, r);
}

static void port_infos(struct sa_call *c, const struct subject *at)
{
	if (at->n->type != FAB_SWITCH) {
		port_info_record(c, at, hw_port(c->s, at->port)->num);
		return;
	}
	for (uint32_t num = 0; num <= at->n->nports && !sa_done(c); num++)
		port_info_record(c, at, num);
}

static void port_info_records(struct sa_call *c)
{
	for_each_lid(c, 0, port_infos);
}

/* ---- SwitchInfo, and forwarding tables */

static void switch_info(struct sa_call *c, const struct subject *at)
{
	uint8_t r[LAYOUT_SZ(switch_info_record)] = {0};

	LAYOUT_SET(switch_info_record, r, lid, at->lid);
	if (sa_node_get(c, at, SMP_ATTR_SWITCH_INFO, 0,
			LAYOUT_IN(switch_info_record, switch_info, r), LAYOUT_SZ(switch_info)))
		sa_emit(c, 1 << SA_RID_LID, r);
}

static void switch_info_records(struct sa_call *c)
{
	for_each_lid(c, FAB_SWITCH, switch_info);
}

static void lft(struct sa_call *c, const struct subject *at)
{
	uint32_t top = fab_switch(c->s, at->n->sw)->linear_top;
	uint32_t blocks = (top < FAB_LIDS ? top : FAB_LIDS - 1) / LFT_BLOCK + 1;

	for (uint32_t b = 0; b < blocks && !sa_done(c); b++) {
		uint8_t r[LAYOUT_SZ(lft_record)] = {0};

		if (sa_has(c, 1) && b != LAYOUT_GET(lft_record, c->want, block_num))
			continue;
		LAYOUT_SET(lft_record, r, lid, at->lid);
		LAYOUT_SET(lft_record, r, block_num, b);
		if (sa_node_get(c, at, SMP_ATTR_LFT, b, LAYOUT_IN(lft_record, lft_block, r),
				LFT_BLOCK))
			sa_emit(c, 1 << SA_RID_LID, r);
	}
}

static void lft_records(struct sa_call *c)
{
	for_each_lid(c, FAB_SWITCH, lft);
}

/* The highest block with an entry. */
static uint32_t mft_blocks(const struct sa_call *c, uint32_t sw)
{
	const struct fab_mft *t = seg_at(c->s, SEG_T_MFT, sw);

	/*
	 * Row i belongs to group i + 1. Rows above mc_top have never been written: reading them
	 * would allocate their pages.
	 */
	for (uint32_t i = fab_subnet(c->s)->mc_top; i > 1; i--)
		for (uint32_t k = 0; k < 4; k++)
			if (t->mask[i - 2][k])
				return (i - 2) / MFT_BLOCK + 1;
	return 0;
}

static void mft(struct sa_call *c, const struct subject *at)
{
	uint32_t blocks = mft_blocks(c, at->n->sw), positions = at->n->nports / MFT_PORTS + 1;

	for (uint32_t b = 0; b < blocks; b++)
		for (uint32_t p = 0; p < positions && !sa_done(c); p++) {
			uint8_t r[LAYOUT_SZ(mft_record)] = {0};

			LAYOUT_SET(mft_record, r, lid, at->lid);
			LAYOUT_SET(mft_record, r, position, p);
			LAYOUT_SET(mft_record, r, block_num, b);
			if (sa_node_get(c, at, SMP_ATTR_MFT, p << 28 | b,
					LAYOUT_IN(mft_record, mft_block, r), LAYOUT_SZ(mft_block)))
				sa_emit(c, 1 << SA_RID_LID, r);
		}
}

static void mft_records(struct sa_call *c)
{
	for_each_lid(c, FAB_SWITCH, mft);
}

/* ---- tables of ports */

static void guid_info(struct sa_call *c, const struct subject *at)
{
	for (uint32_t b = 0; b < HW_IB_GIDS / GUID_BLOCK; b++) {
		uint8_t r[LAYOUT_SZ(guid_info_record)] = {0};

		LAYOUT_SET(guid_info_record, r, lid, at->lid);
		LAYOUT_SET(guid_info_record, r, block_num, b);
		if (sa_node_get(c, at, SMP_ATTR_GUID_INFO, b,
				LAYOUT_IN(guid_info_record, guid_info, r), LAYOUT_SZ(guid_info)))
			sa_emit(c, 1 << SA_RID_LID, r);
	}
}

static void guid_info_records(struct sa_call *c)
{
	for_each_lid(c, 0, guid_info);
}

/* Calls `fn` for an adapter's port, or for each port of a switch. */
static void for_each_port(struct sa_call *c, const struct subject *at,
			  void (*fn)(struct sa_call *c, const struct subject *at, uint32_t num))
{
	if (at->n->type != FAB_SWITCH) {
		fn(c, at, hw_port(c->s, at->port)->num);
		return;
	}
	for (uint32_t num = 0; num <= at->n->nports && !sa_done(c); num++)
		fn(c, at, num);
}

static void pkey_block(struct sa_call *c, const struct subject *at, uint32_t num)
{
	for (uint32_t b = 0; b * PKEY_BLOCK < HW_PKEYS; b++) {
		uint8_t r[LAYOUT_SZ(pkey_table_record)] = {0};

		if (sa_has(c, 2) && num != LAYOUT_GET(pkey_table_record, c->want, port_num))
			return;
		LAYOUT_SET(pkey_table_record, r, lid, at->lid);
		LAYOUT_SET(pkey_table_record, r, block_num, b);
		LAYOUT_SET(pkey_table_record, r, port_num, num);
		if (sa_node_get(c, at, SMP_ATTR_PKEY_TABLE, num << 16 | b,
				LAYOUT_IN(pkey_table_record, pkey_table, r), LAYOUT_SZ(pkey_table)))
			sa_emit(c, 1 << SA_RID_LID, r);
	}
}

static void pkey_tables(struct sa_call *c, const struct subject *at)
{
	for_each_port(c, at, pkey_block);
}

/*
 * OpenSM gives P_Key tables only to requesters that know the SM_Key (osm_pkey_rec_rcv_process()).
 */
static void pkey_table_records(struct sa_call *c)
{
	if (!c->trusted)
		c->status = SA_STATUS_REQ_INVALID;
	else
		for_each_lid(c, 0, pkey_tables);
}

static void sl2vl_record(struct sa_call *c, const struct subject *at, uint32_t in, uint32_t out)
{
	uint8_t r[LAYOUT_SZ(sl2vl_record)] = {0};

	if ((sa_has(c, 1) && in != LAYOUT_GET(sl2vl_record, c->want, in_port_num)) ||
	    (sa_has(c, 2) && out != LAYOUT_GET(sl2vl_record, c->want, out_port_num)))
		return;
	LAYOUT_SET(sl2vl_record, r, lid, at->lid);
	LAYOUT_SET(sl2vl_record, r, in_port_num, in);
	LAYOUT_SET(sl2vl_record, r, out_port_num, out);
	if (sa_node_get(c, at, SMP_ATTR_SL2VL, in << 8 | out, LAYOUT_IN(sl2vl_record, sl2vl, r),
			LAYOUT_SZ(sl2vl)))
		sa_emit(c, 1 << SA_RID_LID, r);
}

static void sl2vl(struct sa_call *c, const struct subject *at)
{
	if (at->n->type != FAB_SWITCH) {
		sl2vl_record(c, at, 0, hw_port(c->s, at->port)->num);
		return;
	}
	for (uint32_t out = 0; out <= at->n->nports; out++)
		for (uint32_t in = 0; in <= at->n->nports && !sa_done(c); in++)
			sl2vl_record(c, at, in, out);
}

static void sl2vl_records(struct sa_call *c)
{
	for_each_lid(c, 0, sl2vl);
}

static void vl_arb_block(struct sa_call *c, const struct subject *at, uint32_t num)
{
	for (uint32_t b = 1; b <= 4; b++) {
		uint8_t r[LAYOUT_SZ(vl_arb_record)] = {0};

		LAYOUT_SET(vl_arb_record, r, lid, at->lid);
		LAYOUT_SET(vl_arb_record, r, port_num, num);
		LAYOUT_SET(vl_arb_record, r, block_num, b);
		if (sa_node_get(c, at, SMP_ATTR_VL_ARB, b << 16 | num,
				LAYOUT_IN(vl_arb_record, vl_arb, r), LAYOUT_SZ(vl_arb)))
			sa_emit(c, 1 << SA_RID_LID, r);
	}
}

static void vl_arb(struct sa_call *c, const struct subject *at)
{
	for_each_port(c, at, vl_arb_block);
}

static void vl_arb_records(struct sa_call *c)
{
	for_each_lid(c, 0, vl_arb);
}

/* ---- LinkRecord: each cable from both ends */

static uint32_t lid_at(const struct sa_call *c, uint32_t port)
{
	const struct hw_port *p = hw_port(c->s, port);
	const struct fab_node *n = fab_node(c->s, p->node);

	return n->type == FAB_SWITCH ? hw_port(c->s, n->port0)->lid : p->lid;
}

static void link_record(struct sa_call *c, const struct subject *at, uint32_t num)
{
	uint32_t peer = num ? fab_peer(c->s, at->n->port0 + num) : SEG_NONE;
	uint8_t r[LAYOUT_SZ(link_record)] = {0};

	if (peer == SEG_NONE)
		return;
	LAYOUT_SET(link_record, r, from_lid, at->lid);
	LAYOUT_SET(link_record, r, from_port, num);
	LAYOUT_SET(link_record, r, to_port, hw_port(c->s, peer)->num);
	LAYOUT_SET(link_record, r, to_lid, lid_at(c, peer));
	sa_emit(c, 1 << SA_RID_LID, r);
}

static void links(struct sa_call *c, const struct subject *at)
{
	for_each_port(c, at, link_record);
}

static void link_records(struct sa_call *c)
{
	for_each_lid(c, 0, links);
}

/* ---- SMInfoRecord: there is one manager */

static void sm_info_records(struct sa_call *c)
{
	uint8_t r[LAYOUT_SZ(sm_info_record)] = {0};
	const struct hw_port *p = hw_port(c->s, c->port);
	uint8_t *d = LAYOUT_IN(sm_info_record, sm_info, r);

	LAYOUT_SET(sm_info_record, r, lid, p->lid);
	LAYOUT_SET(sm_info, d, guid, p->guid);
	LAYOUT_SET(sm_info, d, act_count, fab_subnet(c->s)->sm_act);
	LAYOUT_SET(sm_info, d, sm_state, 3); /* MASTER */
	sa_emit(c, 0, r);
}

const struct sa_row sa_node_rows[] = {
	{SA_ATTR_NODE_RECORD, LAYOUT_SZ(node_record), node_records, NULL, NULL, NULL},
	{SA_ATTR_PORT_INFO_RECORD, LAYOUT_SZ(port_info_record), port_info_records, NULL, NULL,
	 NULL},
	{SA_ATTR_SWITCH_INFO_RECORD, LAYOUT_SZ(switch_info_record), switch_info_records, NULL, NULL,
	 NULL},
	{SA_ATTR_LFT_RECORD, LAYOUT_SZ(lft_record), lft_records, NULL, NULL, NULL},
	{SA_ATTR_MFT_RECORD, LAYOUT_SZ(mft_record), mft_records, NULL, NULL, NULL},
	{SA_ATTR_SM_INFO_RECORD, LAYOUT_SZ(sm_info_record), sm_info_records, NULL, NULL, NULL},
	{SA_ATTR_LINK_RECORD, LAYOUT_SZ(link_record), link_records, NULL, NULL, NULL},
	{SA_ATTR_GUID_INFO_RECORD, LAYOUT_SZ(guid_info_record), guid_info_records, sa_set_guids,
	 sa_delete_guids, NULL},
	{SA_ATTR_PKEY_TABLE_RECORD, LAYOUT_SZ(pkey_table_record), pkey_table_records, NULL, NULL,
	 NULL},
	{SA_ATTR_SL2VL_RECORD, LAYOUT_SZ(sl2vl_record), sl2vl_records, NULL, NULL, NULL},
	{SA_ATTR_VL_ARB_RECORD, LAYOUT_SZ(vl_arb_record), vl_arb_records, NULL, NULL, NULL},
	{0},
};
