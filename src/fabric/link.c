/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns links: cables, and the physical states of the ports at both ends. Training takes no time.
 * All changes are made under fab_subnet.link_lock, which is taken after a node's lock. The
 * supervisor (cables) and the subnet management agent call this.
 */
#include "fabric/fabric.h"

#include <errno.h>
#include "fabric/count.h"
#include "fabric/notice.h"
#include "hw/port.h"

static bool may_train(const struct hw_port *p)
{
	return p->phys_state == IB_PHYS_POLLING || p->phys_state == IB_PHYS_LINK_UP;
}

/* The best width or speed that both ends have: 2x is less than 4x, although its bit is higher. */
static uint32_t link_best_width(uint32_t common)
{
	static const uint8_t order[] = {8, 4, 2, 16, 1}; /* 12x, 8x, 4x, 2x, 1x */

	for (uint32_t i = 0; i < sizeof(order); i++)
		if (common & order[i])
			return order[i];
	return 0;
}

static uint32_t link_best_speed(uint32_t common)
{
	uint32_t bit = 0x80;

	while (bit && !(common & bit))
		bit >>= 1;
	return bit;
}

struct end {
	uint32_t port, state, phys;
	uint32_t what; /* enum fab_change */
};

static void end_store(struct seg *s, struct end *e)
{
	struct hw_port *p = hw_port(s, e->port);
	bool moved = atomic_load(&p->state) != e->state;

	fab_port_begin(s, e->port, moved ? FAB_CHANGED_STATE : FAB_CHANGED_SM);
	e->what = moved ? FAB_CHANGED_STATE : p->phys_state != e->phys ? FAB_CHANGED_SM : 0;
	atomic_store(&p->phys_state, e->phys);
	atomic_store(&p->state, e->state);
}

/* Sets a switch's note that a link has come or gone. */
static void link_tell(struct seg *s, const struct end *e)
{
	const struct fab_node *n = fab_node(s, hw_port(s, e->port)->node);

	if (!e->what) {
		fab_port_end(s, e->port);
		return;
	}
	if (e->what == FAB_CHANGED_STATE) {
		if (e->state == IB_PORT_DOWN)
			fab_count(s, e->port, HW_CTR_DOWNED, 1);
		if (n->type == FAB_SWITCH) {
			atomic_store(&fab_switch(s, n->sw)->state_change, 1);
			fab_notice_link(s, e->port);
		}
	}
	fab_port_changed(s, e->port, e->what);
}

/* Changes both ends before reporting either, so that an observer never finds a half-made link. */
static void link_set(struct seg *s, struct end *a, struct end *b)
{
	end_store(s, a);
	if (b)
		end_store(s, b);
	link_tell(s, a);
	if (b)
		link_tell(s, b);
}

/* If the link was up, both ends lose it; the other end goes to its LinkDownDefaultState. */
static void lose(struct seg *s, uint32_t port, uint32_t phys)
{
	struct hw_port *p = hw_port(s, port);
	struct end a = {port, IB_PORT_DOWN, phys, 0};
	struct end b = {atomic_load(&p->peer), IB_PORT_DOWN, 0, 0};
	bool both = p->phys_state == IB_PHYS_LINK_UP && b.port != SEG_NONE;

	if (both)
		b.phys = hw_port(s, b.port)->down_default;
	link_set(s, &a, both ? &b : NULL);
}

static void train(struct seg *s, uint32_t a)
{
	struct hw_port *pa = hw_port(s, a), *pb;
	struct end ea = {a, IB_PORT_INIT, IB_PHYS_LINK_UP, 0};
	struct end eb = {atomic_load(&pa->peer), IB_PORT_INIT, IB_PHYS_LINK_UP, 0};
	uint32_t width, speed;

	if (eb.port == SEG_NONE)
		return;
	pb = hw_port(s, eb.port);
	width = link_best_width(pa->width_en & pb->width_en);
	speed = link_best_speed(pa->speed_en & pb->speed_en);
	if (!may_train(pa) || !may_train(pb) || !width || !speed)
		return;
	pa->width = pb->width = width;
	pa->speed = pb->speed = speed;
	link_set(s, &ea, &eb);
}

static int link_lock_nodes(struct seg *s)
{
	int r = seg_lock_if_runs(s, &fab_subnet(s)->link_lock);

	return r < 0 ? r : 0;
}

static void link_unlock_nodes(struct seg *s)
{
	seg_unlock(s, &fab_subnet(s)->link_lock);
}

int fab_link_set(struct seg *s, uint32_t port, uint32_t phys)
{
	const struct hw_port *p = hw_port(s, port);
	int r;

	if (!p || !p->num || phys < IB_PHYS_SLEEP || phys > IB_PHYS_DISABLED)
		return -EINVAL;
	r = link_lock_nodes(s);
	if (r)
		return r;
	lose(s, port, phys);
	if (phys == IB_PHYS_POLLING)
		train(s, port);
	fab_moved(s);
	link_unlock_nodes(s);
	return 0;
}

int fab_plug(struct seg *s, uint32_t a, uint32_t b)
{
	struct hw_port *pa = hw_port(s, a), *pb = hw_port(s, b);
	int r;

	if (!pa || !pb || a == b || !pa->num || !pb->num || hw_port_is_eth(pa) ||
	    hw_port_is_eth(pb))
		return -EINVAL; /* Ethernet ports have no cables of their own */
	r = link_lock_nodes(s);
	if (r)
		return r;
	if (pa->peer == SEG_NONE && pb->peer == SEG_NONE) {
		fab_count_plug(s, a, b);
		atomic_store(&pa->peer, b);
		atomic_store(&pb->peer, a);
		train(s, a);
		fab_moved(s);
	} else {
		r = -EBUSY;
	}
	link_unlock_nodes(s);
	return r;
}

int fab_unplug(struct seg *s, uint32_t port)
{
	struct hw_port *p = hw_port(s, port);
	uint32_t peer;
	int r = p ? link_lock_nodes(s) : -EINVAL;

	if (r)
		return r;
	peer = atomic_load(&p->peer);
	if (peer != SEG_NONE) {
		if (p->phys_state == IB_PHYS_LINK_UP)
			lose(s, port, p->down_default);
		fab_count_unplug(s, port, peer);
		atomic_store(&p->peer, SEG_NONE);
		atomic_store(&hw_port(s, peer)->peer, SEG_NONE);
		fab_moved(s);
	} else {
		r = -EINVAL;
	}
	link_unlock_nodes(s);
	return r;
}
