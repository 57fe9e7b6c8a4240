/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the attributes of switches: SwitchInfo and the forwarding tables (IBA 14.2.5.4, 14.2.5.10,
 * 14.2.5.12).
 */
#include "subnet/sma.h"
#include "hw/hca.h"

#include <string.h>

#define LFT_BLOCK 64
#define MFT_BLOCK 32     /* LIDs */
#define MFT_POSITION 16u /* ports */

uint16_t sma_get_switch_info(const struct fab_mad_call *c)
{
	const struct fab_switch *sw = sma_switch(c);
	uint8_t *d = c->data;

	if (!sw)
		return MAD_STATUS_BAD_ATTR;
	memset(d, 0, SMP_DATA_SIZE);
	LAYOUT_SET(switch_info, d, linear_fdb_cap, FAB_LIDS);
	LAYOUT_SET(switch_info, d, mcast_fdb_cap, FAB_MLIDS);
	LAYOUT_SET(switch_info, d, linear_fdb_top, sw->linear_top);
	LAYOUT_SET(switch_info, d, default_port, sw->default_port);
	LAYOUT_SET(switch_info, d, default_mcast_primary_port, sw->default_mcast);
	LAYOUT_SET(switch_info, d, default_mcast_not_primary_port, sw->default_mcast_not);
	LAYOUT_SET(switch_info, d, life_time_value, sw->life_time);
	LAYOUT_SET(switch_info, d, port_state_change, sw->state_change);
	LAYOUT_SET(switch_info, d, partition_enforce_cap, HW_PKEYS);
	LAYOUT_SET(switch_info, d, inbound_enforce_cap, 1);
	LAYOUT_SET(switch_info, d, outbound_enforce_cap, 1);
	LAYOUT_SET(switch_info, d, enhanced_port0, sw->enhanced_port0);
	LAYOUT_SET(switch_info, d, mcast_fdb_top, sw->mcast_top);
	return MAD_STATUS_OK;
}

static void tables_changed(struct seg *s)
{
	atomic_fetch_add(&fab_subnet(s)->tables_turn, 1);
	fab_moved(s);
}

uint16_t sma_set_switch_info(const struct fab_mad_call *c)
{
	struct fab_switch *sw = sma_switch(c);
	const uint8_t *d = c->data;
	uint32_t top, mtop;

	if (!sw)
		return MAD_STATUS_BAD_ATTR;
	top = LAYOUT_GET32(switch_info, d, linear_fdb_top);
	mtop = LAYOUT_GET32(switch_info, d, mcast_fdb_top);
	if (top >= FAB_LIDS || (mtop && mtop >= FAB_MLID_FIRST + FAB_MLIDS))
		return MAD_STATUS_BAD_VALUE;
	sw->default_port = LAYOUT_GET8(switch_info, d, default_port);
	sw->default_mcast = LAYOUT_GET8(switch_info, d, default_mcast_primary_port);
	sw->default_mcast_not = LAYOUT_GET8(switch_info, d, default_mcast_not_primary_port);
	sw->life_time = LAYOUT_GET8(switch_info, d, life_time_value);
	sw->mcast_top = mtop;
	if (LAYOUT_GET(switch_info, d, port_state_change)) /* writing 1 clears it */
		atomic_store(&sw->state_change, 0);
	if (atomic_exchange(&sw->linear_top, top) != top)
		tables_changed(c->s);
	return sma_get_switch_info(c);
}

/* SEG_NONE: no switch, or no such block. */
static uint32_t lft_of(const struct fab_mad_call *c, uint16_t *status)
{
	const struct fab_node *n = sma_node(c);

	*status = n->type != FAB_SWITCH ? MAD_STATUS_BAD_ATTR : MAD_STATUS_BAD_VALUE;
	return n->type != FAB_SWITCH || c->attr_mod >= FAB_LIDS / LFT_BLOCK ? SEG_NONE : n->sw;
}

uint16_t sma_get_lft(const struct fab_mad_call *c)
{
	uint16_t status;
	uint32_t sw = lft_of(c, &status);

	if (sw == SEG_NONE)
		return status;
	for (uint32_t i = 0; i < LFT_BLOCK; i++)
		c->data[i] = (uint8_t)fab_lft_get(c->s, sw, c->attr_mod * LFT_BLOCK + i);
	return MAD_STATUS_OK;
}

uint16_t sma_set_lft(const struct fab_mad_call *c)
{
	uint16_t status;
	uint32_t sw = lft_of(c, &status);
	bool moved = false;

	if (sw == SEG_NONE)
		return status;
	for (uint32_t i = 0; i < LFT_BLOCK; i++) {
		uint32_t lid = c->attr_mod * LFT_BLOCK + i;

		if (fab_lft_get(c->s, sw, lid) == c->data[i])
			continue;
		fab_lft_set(c->s, sw, lid, c->data[i]);
		moved = true;
	}
	if (moved)
		tables_changed(c->s);
	return MAD_STATUS_OK;
}

/* The modifier has the block of LIDs; the top 4 bits are the position of the ports. */
static _Atomic uint64_t *mft_of(const struct fab_mad_call *c, uint32_t i, uint32_t pos)
{
	struct fab_mft *t = seg_at(c->s, SEG_T_MFT, sma_node(c)->sw);

	return &t->mask[(c->attr_mod & 0x1ff) * MFT_BLOCK + i][pos / 4];
}

static uint16_t mft_check(const struct fab_mad_call *c)
{
	const struct fab_node *n = sma_node(c);

	if (n->type != FAB_SWITCH)
		return MAD_STATUS_BAD_ATTR;
	if ((c->attr_mod & 0x0fffffff) >= FAB_MLIDS / MFT_BLOCK ||
	    c->attr_mod >> 28 > n->nports / MFT_POSITION)
		return MAD_STATUS_BAD_VALUE;
	return MAD_STATUS_OK;
}

uint16_t sma_get_mft(const struct fab_mad_call *c)
{
	uint32_t pos = c->attr_mod >> 28, shift = pos % 4 * MFT_POSITION;
	uint16_t status = mft_check(c);

	for (uint32_t i = 0; !status && i < MFT_BLOCK; i++)
		be16_store(c->data + 2 * i, (uint16_t)(atomic_load(mft_of(c, i, pos)) >> shift));
	return status;
}

uint16_t sma_set_mft(const struct fab_mad_call *c)
{
	uint32_t pos = c->attr_mod >> 28, shift = pos % 4 * MFT_POSITION;
	uint16_t status = mft_check(c);
	bool moved = false;

	for (uint32_t i = 0; !status && i < MFT_BLOCK; i++) {
		_Atomic uint64_t *m = mft_of(c, i, pos);
		uint64_t was = atomic_load(m), now = be16_load(c->data + 2 * i);

		now = (was & ~(UINT64_C(0xffff) << shift)) | now << shift;
		if (now == was)
			continue;
		atomic_store(m, now);
		moved = true;
	}
	if (moved)
		fab_moved(c->s);
	return status;
}
