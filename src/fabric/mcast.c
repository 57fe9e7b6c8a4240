/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the path of a multicast packet: along the switches' multicast forwarding tables, to all end
 * ports that they lead to. The engine calls it, also in a trap.
 */
#include "fabric/path.h"
#include "fabric/count.h"
#include "fabric/fabric.h"
#include "hw/port.h"

/*
 * Limit of cables that a packet still has to cross: in a tree of any depth, at most one switch's
 * ports per level. Surplus copies are lost, as in a switch whose buffers are full.
 */
#define ROOM 512
/* Tables may contain loops, in which packets multiply. */
#define MAX_STEPS 65536

struct mcast {
	struct seg *s;
	const struct fab_pkts *k;
	bool count;
	uint32_t n;
	uint32_t in[ROOM]; /* the number of copies that have arrived */
};

static void mcast_cross(struct mcast *m, uint32_t out)
{
	uint32_t in = fab_cable(m->s, out, m->k, m->count);

	if (in != SEG_NONE && m->n < ROOM)
		m->in[m->n++] = in;
}

static uint64_t mask_of(const struct seg *s, uint32_t sw, uint32_t mlid, uint32_t part)
{
	const struct fab_mft *t = seg_at(s, SEG_T_MFT, sw);
	uint32_t top = fab_switch(s, sw)->mcast_top;

	if (mlid < FAB_MLID_FIRST || mlid - FAB_MLID_FIRST >= FAB_MLIDS || (top && mlid > top))
		return 0;
	return atomic_load_explicit(&t->mask[mlid - FAB_MLID_FIRST][part], memory_order_relaxed);
}

static bool in_table(const struct seg *s, uint32_t sw, uint32_t mlid)
{
	uint64_t any = 0;

	for (uint32_t part = 0; part < 4; part++)
		any |= mask_of(s, sw, mlid, part);
	return any;
}

/* Sends copies out of a switch, except to the port where the packet arrived. */
static void relay(struct mcast *m, const struct fab_node *n, uint32_t mlid, uint32_t came)
{
	for (uint32_t part = 0; part < 4; part++) {
		uint64_t mask = mask_of(m->s, n->sw, mlid, part);

		for (; mask; mask &= mask - 1) {
			uint32_t num = part * 64 + (uint32_t)__builtin_ctzll(mask);

			/* 0 is the switch itself, which has no receiver. */
			if (num && num <= n->nports && num != came)
				mcast_cross(m, n->port0 + num);
		}
	}
}

/* A group that is not in the table: SwitchInfo:DefaultMulticastPrimaryPort and NotPrimaryPort. */
static void relay_default(struct mcast *m, const struct fab_node *n, uint32_t came)
{
	const struct fab_switch *sw = fab_switch(m->s, n->sw);
	uint32_t num = came != sw->default_mcast ? sw->default_mcast : sw->default_mcast_not;

	if (num && num <= n->nports && num != came)
		mcast_cross(m, n->port0 + num);
	else if (m->count)
		fab_count(m->s, n->port0 + came, HW_CTR_RCV_RELAY, m->k->n);
}

void fab_mcast(struct seg *s, uint32_t from, uint32_t mlid, const struct fab_pkts *k, bool count,
	       fab_end *end, void *arg)
{
	struct mcast m = {.s = s, .k = k, .count = count};

	mcast_cross(&m, from);
	for (uint32_t steps = 0; m.n && steps < MAX_STEPS; steps++) {
		uint32_t in = m.in[--m.n];
		const struct hw_port *p = hw_port(s, in);
		const struct fab_node *n = fab_node(s, p->node);

		if (n->type != FAB_SWITCH)
			end(s, in, arg);
		else if (in_table(s, n->sw, mlid))
			relay(&m, n, mlid, p->num);
		else
			relay_default(&m, n, p->num);
	}
}
