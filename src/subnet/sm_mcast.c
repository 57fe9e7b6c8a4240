/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the multicast forwarding tables for the built-in SA's groups: branches of one tree of the
 * whole subnet (fab_switch.tree_up), reduced to those that join the members. The SA calls it with
 * fab_subnet.lock held, and so does the sweep.
 */
#include "fabric/fabric.h"

#include <errno.h>
#include <string.h>
#include "hw/port.h"
#include "subnet/subnet.h"
#include "util/heap.h"
#include "wire/mad/sa.h"

/* A row under construction: by SEG_T_SWITCH index. */
struct branch {
	uint64_t mask[4];
	uint32_t members; /* members at this switch, send-only ones included */
	bool on;
};

static void set_bit(struct branch *b, uint32_t num)
{
	b->mask[num / 64] |= UINT64_C(1) << num % 64;
}

static void clear_bit(struct branch *b, uint32_t num)
{
	b->mask[num / 64] &= ~(UINT64_C(1) << num % 64);
}

static const struct fab_node *node_at(const struct seg *s, uint32_t port)
{
	return fab_node(s, hw_port(s, port)->node);
}

/*
 * The switch's port at the other end of the cable at `port`; SEG_NONE: none. Cables may have moved
 * since the tree was built; the next sweep builds it again.
 */
static uint32_t next_switch(struct seg *s, uint32_t port)
{
	uint32_t peer = port == SEG_NONE ? SEG_NONE : fab_peer(s, port);

	return peer == SEG_NONE || node_at(s, peer)->type != FAB_SWITCH ? SEG_NONE : peer;
}

/* Puts a member's switch and all above it on the tree. Returns its root, or SEG_NONE: no switch. */
static uint32_t add_member(struct seg *s, struct branch *b, const struct fab_mcmem *m)
{
	const struct fab_node *n = node_at(s, m->port);
	uint32_t port = n->type == FAB_SWITCH ? m->port : next_switch(s, m->port), sw;

	if (port == SEG_NONE)
		return SEG_NONE;
	sw = node_at(s, port)->sw;
	b[sw].members++;
	if (m->join_state & (SA_JOIN_FULL | SA_JOIN_NON))
		set_bit(&b[sw], hw_port(s, port)->num);
	for (;;) {
		uint32_t up = fab_switch(s, sw)->tree_up;
		uint32_t down = next_switch(s, up);

		if (b[sw].on && down != SEG_NONE)
			return SEG_NONE; /* the switch is on the tree already */
		b[sw].on = true;
		if (down == SEG_NONE)
			return sw;
		set_bit(&b[sw], hw_port(s, up)->num);
		sw = node_at(s, down)->sw;
		set_bit(&b[sw], hw_port(s, down)->num);
	}
}

/* From the root down: remove switches with a single branch, which no path between members uses. */
static void prune(struct seg *s, struct branch *b, uint32_t sw)
{
	for (;;) {
		uint32_t bits = 0, num = 0, in;

		for (uint32_t k = 0; k < 4; k++) {
			bits += (uint32_t)__builtin_popcountll(b[sw].mask[k]);
			if (b[sw].mask[k])
				num = 64 * k + (uint32_t)__builtin_ctzll(b[sw].mask[k]);
		}
		if (b[sw].members || bits != 1)
			return;
		clear_bit(&b[sw], num);
		in = next_switch(s, fab_node(s, fab_switch(s, sw)->node)->port0 + num);
		if (in == SEG_NONE)
			return;
		sw = node_at(s, in)->sw;
		clear_bit(&b[sw], hw_port(s, in)->num);
	}
}

static void sm_mcast_store(struct seg *s, const struct branch *b, uint32_t sw, uint32_t row)
{
	struct fab_mft *t = seg_at(s, SEG_T_MFT, sw);

	for (uint32_t k = 0; k < 4; k++)
		if (atomic_load_explicit(&t->mask[row][k], memory_order_relaxed) != b->mask[k])
			atomic_store_explicit(&t->mask[row][k], b->mask[k], memory_order_relaxed);
}

int fab_mcast_update(struct seg *s, uint32_t group)
{
	const struct fab_mcgrp *g = seg_live(s, SEG_T_MCGRP, group);
	uint32_t switches = seg_table(s, SEG_T_SWITCH)->high;
	struct branch *b = heap_zalloc(sizeof(*b) * (switches + 1));

	if (!b)
		return -ENOMEM;
	if (g)
		seg_for_each_live (s, SEG_T_MCMEM, i) {
			const struct fab_mcmem *m = seg_at(s, SEG_T_MCMEM, i);

			if (m->group == group && m->group_gen == g->gen)
				add_member(s, b, m);
		}
	seg_for_each_live (s, SEG_T_SWITCH, i)
		if (b[i].on && next_switch(s, fab_switch(s, i)->tree_up) == SEG_NONE)
			prune(s, b, i);
	seg_for_each_live (s, SEG_T_SWITCH, i)
		sm_mcast_store(s, &b[i], i, group - 1);
	heap_free(b);
	fab_moved(s);
	return 0;
}

int fab_mcast_sweep(struct seg *s)
{
	struct fab_subnet *sub = fab_subnet(s);
	/* Another manager may have written any row. */
	uint32_t top = sub->sm_again ? FAB_MLIDS + 1 : sub->mc_top;
	int r = 0;

	if (sub->sm_again)
		seg_for_each_live (s, SEG_T_SWITCH, i) {
			struct fab_switch *sw = fab_switch(s, i);

			sw->mcast_top = 0;
			sw->default_mcast = sw->default_mcast_not = 0;
		}
	for (uint32_t i = 1; i < top && !r; i++)
		if (sub->sm_again || seg_live(s, SEG_T_MCGRP, i))
			r = fab_mcast_update(s, i);
	return r;
}
