/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the path of a packet by LID: from a port, over cables and switches' forwarding tables, to
 * the port that has that LID. Calls the segment only; the engine calls it, also in a trap.
 */
#include "fabric/fabric.h"
#include "hw/hca.h"
#include "hw/port.h"

#include <string.h>

/* More switches than any correct route has: tables may contain loops. */
#define MAX_HOPS 64

bool fab_port_has_lid(const struct hw_port *p, uint32_t lid)
{
	uint32_t base = atomic_load_explicit(&p->lid, memory_order_relaxed);

	return base && lid >= base && lid - base < 1u << p->lmc;
}

/* Does a port with this state forward packets? */
static bool passes(const struct hw_port *p, uint32_t state)
{
	return atomic_load_explicit(&p->state, memory_order_relaxed) >= state;
}

uint32_t fab_own_port(const struct seg *s, uint32_t port)
{
	const struct fab_node *n = fab_node(s, hw_port(s, port)->node);

	return n->type == FAB_SWITCH ? n->port0 : port;
}

uint32_t fab_peer(const struct seg *s, uint32_t port)
{
	const struct hw_port *p = hw_port(s, port);
	uint32_t peer = p ? atomic_load_explicit(&p->peer, memory_order_acquire) : SEG_NONE;

	if (peer == SEG_NONE || p->phys_state != IB_PHYS_LINK_UP ||
	    hw_port(s, peer)->phys_state != IB_PHYS_LINK_UP)
		return SEG_NONE;
	return peer;
}

uint32_t fab_walk(struct seg *s, uint32_t from, uint32_t dlid, uint32_t state, fab_hop *hop,
		  void *arg)
{
	struct hw_port *p = hw_port(s, from);
	const struct fab_node *n;
	uint32_t at = from;

	if (!p || !passes(p, state) || !dlid)
		return SEG_NONE;
	if (fab_port_has_lid(p, dlid))
		return from;
	n = fab_node(s, p->node);
	for (uint32_t hops = 0; hops < MAX_HOPS; hops++) {
		uint32_t out = at;

		if (n->type == FAB_SWITCH) {
			uint32_t num = dlid < FAB_LIDS ? fab_lft_get(s, n->sw, dlid) : FAB_LFT_NONE;

			if (dlid > fab_switch(s, n->sw)->linear_top || num > n->nports)
				return SEG_NONE;
			out = n->port0 + num;
			if (!num)
				return fab_port_has_lid(hw_port(s, out), dlid) ? out : SEG_NONE;
			if (!passes(hw_port(s, out), state))
				return SEG_NONE;
		} else if (at != from) {
			/* An adapter: the packet is for this port, or is lost. */
			return fab_port_has_lid(hw_port(s, at), dlid) ? at : SEG_NONE;
		}
		at = fab_peer(s, out);
		if (at == SEG_NONE || !passes(hw_port(s, at), state))
			return SEG_NONE;
		if (hop)
			hop(s, out, at, arg);
		n = fab_node(s, hw_port(s, at)->node);
	}
	return SEG_NONE;
}

void fab_set_gid_prefix(struct hw_port *p, uint64_t prefix)
{
	p->gid_prefix = prefix;
	for (uint32_t i = 0; i < HW_IB_GIDS; i++)
		if (be64_load(p->gid[i] + 8))
			be64_store(p->gid[i], prefix);
}

bool fab_port_has_gid(const struct hw_port *p, const uint8_t gid[16])
{
	static const uint8_t zero[16];

	if (!memcmp(gid, zero, sizeof(zero)))
		return false; /* an empty table entry is no port's GID */
	for (unsigned int g = 0; g < hw_port_gids(p); g++)
		if (!memcmp(hw_gid(p, g), gid, 16))
			return true;
	return false;
}

uint32_t fab_port_by_gid(struct seg *s, const uint8_t gid[16])
{
	seg_for_each_live (s, SEG_T_PORT, i)
		if (fab_port_has_gid(seg_at(s, SEG_T_PORT, i), gid))
			return i;
	return SEG_NONE;
}
