/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns Set and Delete of GUIDInfoRecord: alias GUIDs of ports, which the SA writes into the table
 * of the port's agent. The rules are those of OpenSM's osm_sa_guidinfo_record.c. sa.c calls this;
 * it takes fab_subnet.lock, and under it the node's.
 */
#include "subnet/sa.h"

#include <string.h>
#include "hw/port.h"
#include "subnet/subnet.h"

#define GUID_BLOCK 8
#define GIR_GUID 4   /* component number of the first GUID */
#define GIR_NEEDS 3u /* LID, BlockNum */

/* sm_assigned_guid(): OpenIB's vendor ID, byte 4 (option sm_assigned_guid) 0, and a number */
#define ASSIGNED_GUIDS (UINT64_C(0x001405) << 40)
#define ASSIGNED_TRIES 1000u

struct guid_call {
	uint32_t port, block;
	uint64_t guid[GUID_BLOCK];
};

static bool guid_asked(const struct sa_call *c, uint32_t i)
{
	return sa_has(c, GIR_GUID + i);
}

/* Does a port's entry have the GUID, or one that this request sets? */
static bool guid_used(struct seg *s, const struct guid_call *g, uint64_t guid)
{
	seg_for_each_live (s, SEG_T_PORT, i) {
		const struct hw_port *p = hw_port(s, i);

		for (uint32_t k = 0; !hw_port_is_eth(p) && k < HW_IB_GIDS; k++)
			if (be64_load(p->gid[k] + 8) == guid)
				return true;
	}
	for (uint32_t i = 0; i < GUID_BLOCK; i++)
		if (g->guid[i] == guid)
			return true;
	return false;
}

/*
 * A GUID of the SA's choice: the same for an entry each time, as OpenSM's table of assigned GUIDs
 * has it. 0: none is free.
 */
static uint64_t guid_assign(struct seg *s, const struct guid_call *g, uint32_t i)
{
	uint64_t ports = seg_table(s, SEG_T_PORT)->high;

	for (uint64_t k = 0; k < ASSIGNED_TRIES; k++) {
		uint64_t guid = ASSIGNED_GUIDS |
				((k * ports + g->port) * HW_IB_GIDS + g->block * GUID_BLOCK + i);

		if (!guid_used(s, g, guid))
			return guid;
	}
	return 0;
}

/* set_guidinfo(): a GUID that another entry has is not set; the answer shows what there is. */
static void guid_set(struct sa_call *c, struct guid_call *g)
{
	const uint8_t *want = LAYOUT_IN(guid_info_record, guid_info, c->want);

	for (uint32_t i = 0; i < GUID_BLOCK; i++) {
		uint64_t guid = LAYOUT_ITEM_GET(guid_info, want, guid, i);

		if (!guid_asked(c, i) || (!guid && g->guid[i]))
			continue;
		if (!guid)
			guid = guid_assign(c->s, g, i);
		if (!guid)
			c->status = SA_STATUS_NO_RESOURCES;
		else if (!guid_used(c->s, g, guid))
			g->guid[i] = guid;
	}
}

/* Is a port a member of a group by that GUID? */
static bool guid_joined(struct seg *s, uint32_t port, uint64_t guid)
{
	seg_for_each_live (s, SEG_T_MCMEM, i) {
		const struct fab_mcmem *m = seg_at(s, SEG_T_MCMEM, i);

		if (m->port == port && be64_load(m->gid + 8) == guid)
			return true;
	}
	return false;
}

/* del_guidinfo() */
static void guid_delete(struct sa_call *c, struct guid_call *g)
{
	for (uint32_t i = 0; i < GUID_BLOCK; i++) {
		if (!guid_asked(c, i) || !g->guid[i])
			continue;
		if (guid_joined(c->s, g->port, g->guid[i]))
			c->status = SA_STATUS_REQ_DENIED;
		g->guid[i] = 0;
	}
}

static uint16_t guid_find(struct sa_call *c, struct guid_call *g)
{
	uint32_t lid = LAYOUT_GET32(guid_info_record, c->want, lid);
	const struct hw_port *p;

	g->port = SEG_NONE;
	g->block = LAYOUT_GET32(guid_info_record, c->want, block_num);
	seg_for_each_live (c->s, SEG_T_PORT, i)
		if (lid && fab_port_has_lid(hw_port(c->s, i), lid))
			g->port = i;
	if (g->port == SEG_NONE)
		return SA_STATUS_NO_RECORDS;
	p = hw_port(c->s, g->port);
	if (!sa_shared_pkey(p, hw_port(c->s, c->from))) {
		c->silent = true;
		return SA_STATUS_REQ_INVALID;
	}
	if (g->block >= HW_IB_GIDS / GUID_BLOCK)
		return SA_STATUS_NO_RECORDS;
	/* The first GUID is the port's own. */
	if (!g->block && guid_asked(c, 0))
		return SA_STATUS_REQ_INVALID;
	for (uint32_t i = 0; i < GUID_BLOCK; i++)
		g->guid[i] = be64_load(p->gid[g->block * GUID_BLOCK + i] + 8);
	return MAD_STATUS_OK;
}

static void guid_change(struct sa_call *c, void (*fn)(struct sa_call *c, struct guid_call *g))
{
	uint8_t r[LAYOUT_SZ(guid_info_record)] = {0}, data[SMP_DATA_SIZE] = {0};
	struct guid_call g;

	if ((c->mask & GIR_NEEDS) != GIR_NEEDS) {
		c->status = SA_STATUS_REQ_INSUFFICIENT_COMPONENTS;
		return;
	}
	if (fab_subnet_lock(c->s)) {
		c->status = MAD_STATUS_BUSY;
		return;
	}
	c->status = guid_find(c, &g);
	if (!c->status)
		fn(c, &g);
	if (!c->status) {
		for (uint32_t i = 0; i < GUID_BLOCK; i++)
			be64_store(data + 8 * i, g.guid[i]);
		c->status = fab_sma_set(c->s, g.port, SMP_ATTR_GUID_INFO, g.block, data);
	}
	fab_subnet_unlock(c->s);
	LAYOUT_SET(guid_info_record, r, lid, LAYOUT_GET(guid_info_record, c->want, lid));
	LAYOUT_SET(guid_info_record, r, block_num, g.block);
	memcpy(LAYOUT_IN(guid_info_record, guid_info, r), data, LAYOUT_SZ(guid_info));
	if (!c->status)
		sa_emit(c, UINT64_MAX, r);
}

void sa_set_guids(struct sa_call *c)
{
	guid_change(c, guid_set);
}

void sa_delete_guids(struct sa_call *c)
{
	guid_change(c, guid_delete);
}
