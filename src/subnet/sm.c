/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the sweep of the built-in subnet manager: LIDs, forwarding tables, ports to ACTIVE. It
 * writes straight into the segment the values that a subnet manager would set with MADs. The
 * supervisor and fab_build() call it.
 */
#include "subnet/sweep.h"

#include <errno.h>
#include <string.h>
#include "hw/port.h"
#include "hw/world.h"
#include "segment/suplink.h"
#include "subnet/sa.h"
#include "subnet/subnet.h"
#include "util/heap.h"

static void sweep_free(struct sweep *w)
{
	heap_free(w->sw_node);
	heap_free(w->of_node);
	heap_free(w->first);
	heap_free(w->to);
	heap_free(w->port);
	heap_free(w->end);
	heap_free(w->end_sw);
	heap_free(w->end_port);
	heap_free(w->at);
	heap_free(w->by_sw);
	heap_free(w->lids);
	heap_free(w->lids_at);
	heap_free(w->lid_port);
	heap_free(w->nth);
	heap_free(w->tier);
	heap_free(w->leads);
	heap_free(w->order);
	heap_free(w->rank);
	heap_free(w->hops);
	heap_free(w->queue);
	heap_free(w->down);
	heap_free(w->what);
	heap_free(w->live);
	heap_free(w);
}

static bool sweep_alloc(struct sweep *w)
{
	uint32_t nodes = seg_table(w->s, SEG_T_NODE)->high + 1;
	uint32_t switches = seg_table(w->s, SEG_T_SWITCH)->high + 1;
	uint32_t ports = seg_table(w->s, SEG_T_PORT)->high + 1;

	w->sw_node = heap_zalloc(sizeof(*w->sw_node) * switches);
	w->of_node = heap_zalloc(sizeof(*w->of_node) * nodes);
	w->first = heap_zalloc(sizeof(*w->first) * (switches + 1));
	w->to = heap_zalloc(sizeof(*w->to) * ports);
	w->port = heap_zalloc(sizeof(*w->port) * ports);
	w->end = heap_zalloc(sizeof(*w->end) * ports);
	w->end_sw = heap_zalloc(sizeof(*w->end_sw) * ports);
	w->end_port = heap_zalloc(sizeof(*w->end_port) * ports);
	w->at = heap_zalloc(sizeof(*w->at) * (switches + 2));
	w->by_sw = heap_zalloc(sizeof(*w->by_sw) * ports);
	w->lids = heap_zalloc(sizeof(*w->lids) * FAB_LIDS);
	w->lids_at = heap_zalloc(sizeof(*w->lids_at) * (switches + 1));
	w->lid_port = heap_zalloc(FAB_LIDS);
	w->nth = heap_zalloc(sizeof(*w->nth) * switches);
	w->tier = heap_zalloc(switches);
	w->order = heap_zalloc(sizeof(*w->order) * switches);
	w->rank = heap_zalloc(sizeof(*w->rank) * switches);
	w->hops = heap_zalloc(sizeof(*w->hops) * switches);
	w->queue = heap_zalloc(sizeof(*w->queue) * switches);
	w->down = heap_zalloc(switches);
	w->what = heap_zalloc(ports);
	w->live = heap_zalloc(FAB_LIDS);
	return w->sw_node && w->of_node && w->first && w->to && w->port && w->end && w->end_sw &&
	       w->end_port && w->at && w->by_sw && w->lids && w->lids_at && w->lid_port && w->nth &&
	       w->tier && w->order && w->rank && w->hops && w->queue && w->down && w->what &&
	       w->live;
}

/* ---- finding switches and end ports */

static void add_end(struct sweep *w, uint32_t port, uint32_t sw, uint32_t num)
{
	w->end[w->nends] = port;
	w->end_sw[w->nends] = (uint16_t)sw;
	w->end_port[w->nends++] = (uint8_t)num;
}

/*
 * Adapters' ports come first, in their order, so that in small subnets the hosts' LIDs start at 1.
 */
static void find_ends(struct sweep *w)
{
	struct seg *s = w->s;

	memset(w->of_node, 0xff, sizeof(*w->of_node) * seg_table(s, SEG_T_NODE)->high);
	seg_for_each_live (s, SEG_T_NODE, i)
		if (fab_node(s, i)->type == FAB_SWITCH) {
			w->of_node[i] = (uint16_t)w->nsw;
			w->sw_node[w->nsw++] = i;
		}
	seg_for_each_live (s, SEG_T_NODE, i) {
		const struct fab_node *n = fab_node(s, i);

		for (uint32_t num = 1; n->type != FAB_SWITCH && num <= n->nports; num++) {
			uint32_t peer = fab_peer(s, n->port0 + num);
			const struct hw_port *p = peer == SEG_NONE ? NULL : hw_port(s, peer);

			if (p)
				add_end(w, n->port0 + num, w->of_node[p->node], p->num);
		}
	}
	for (uint32_t i = 0; i < w->nsw; i++)
		add_end(w, fab_node(s, w->sw_node[i])->port0, i, 0);
}

static void sort_ends(struct sweep *w)
{
	/* at[i + 1] starts as the start of switch i's entries, and ends as their end. */
	for (uint32_t i = 0; i < w->nends; i++)
		if (w->end_sw[i] != SWEEP_NO_SWITCH && w->end_sw[i] + 2u <= w->nsw)
			w->at[w->end_sw[i] + 2]++;
	for (uint32_t i = 2; i <= w->nsw; i++)
		w->at[i] += w->at[i - 1];
	for (uint32_t i = 0; i < w->nends; i++)
		if (w->end_sw[i] != SWEEP_NO_SWITCH)
			w->by_sw[w->at[w->end_sw[i] + 1]++] = i;
}

static void find_cables(struct sweep *w)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->nsw; i++) {
		const struct fab_node *node = fab_node(w->s, w->sw_node[i]);

		w->first[i] = n;
		for (uint32_t num = 1; num <= node->nports; num++) {
			uint32_t peer = fab_peer(w->s, node->port0 + num);
			uint32_t to = peer == SEG_NONE ? SWEEP_NO_SWITCH
						       : w->of_node[hw_port(w->s, peer)->node];

			if (to == SWEEP_NO_SWITCH || to == i)
				continue;
			w->to[n] = (uint16_t)to;
			w->port[n++] = (uint8_t)num;
		}
	}
	w->first[w->nsw] = n;
}

/* ---- LIDs */

/* A port keeps its LIDs unless they are invalid or another port has them. */
static bool take_lids(uint8_t *used, const struct hw_port *p)
{
	uint32_t n = 1u << p->lmc, lid = p->lid;

	if (!lid || lid % n || lid + n > FAB_LIDS)
		return false;
	for (uint32_t k = 0; k < n; k++)
		if (used[lid + k])
			return false;
	memset(used + lid, 1, n);
	return true;
}

/* The first free LIDs for a port; 0: none. */
static uint32_t free_lids(const uint8_t *used, uint32_t n, uint32_t *from)
{
	uint32_t lid, k;

	for (lid = (*from + n - 1) / n * n; lid + n <= FAB_LIDS; lid += n) {
		for (k = 0; k < n && !used[lid + k]; k++)
			;
		if (k == n)
			return lid;
	}
	return 0;
}

static bool has_link(const struct seg *s, uint32_t port)
{
	return !hw_port(s, port)->num || fab_peer(s, port) != SEG_NONE;
}

/*
 * Ports keep their LIDs unless another port has the same; unplugged ports keep them, too, for their
 * return.
 */
static int assign_lids(struct sweep *w)
{
	uint8_t *used = heap_zalloc(FAB_LIDS);
	uint32_t first = hw_setting(w->s, HW_SET_LIDS), next = first ? first : 1;
	int r = 0;

	if (!used)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->nends; i++) {
		struct hw_port *p = seg_at(w->s, SEG_T_PORT, w->end[i]);

		if (p->lid && !take_lids(used, p))
			p->lid = 0;
	}
	seg_for_each_live (w->s, SEG_T_PORT, i) {
		struct hw_port *p = seg_at(w->s, SEG_T_PORT, i);

		if (p->lid && !has_link(w->s, i) && !take_lids(used, p))
			p->lid = 0;
	}
	for (uint32_t i = 0; i < w->nends && !r; i++) {
		struct hw_port *p = seg_at(w->s, SEG_T_PORT, w->end[i]);
		uint32_t n = 1u << p->lmc;

		if (!p->lid) {
			p->lid = free_lids(used, n, &next);
			if (!p->lid && first) { /* not all are that high */
				first = 0;
				next = 1;
				p->lid = free_lids(used, n, &next);
			}
			w->what[i] |= FAB_CHANGED_LID;
			memset(used + p->lid, 1, n);
			if (n == 1)
				next = p->lid + 1;
		}
		if (!p->lid) {
			r = -ENOSPC;
			break;
		}
		memset(w->live + p->lid, 1, n);
		if (p->lid + n - 1 > w->top)
			w->top = p->lid + n - 1;
	}
	heap_free(used);
	return r;
}

/* ---- ports */

/* Where a manager starts; of `end`, adapters' and routers' ports come before those of switches. */
static uint32_t sm_place(const struct sweep *w)
{
	uint32_t at = hw_setting(w->s, HW_SET_SM_AT), adapters = w->nends - w->nsw;

	if (!w->nends)
		return SEG_NONE;
	if (at == HW_SM_AT_SWITCH && w->nsw)
		return w->end[adapters];
	return w->end[at == HW_SM_AT_LAST && adapters ? adapters - 1 : 0];
}

/*
 * The manager stays at an adapter's port as long as that has a link, and on a switch, whose port 0
 * is always up, as long as no adapter has one.
 */
static void sm_settle(struct sweep *w)
{
	struct fab_subnet *sub = fab_subnet(w->s);
	uint32_t old = sub->sm_port, first = sm_place(w);

	if (old == first || (old != SEG_NONE && hw_port(w->s, old)->num && has_link(w->s, old)))
		return;
	sub->sm_port = first;
	if (old == SEG_NONE)
		return;
	hw_port(w->s, old)->cap_mask &= ~FAB_CAP_IS_SM;
	fab_port_changed(w->s, old, FAB_CHANGED_SM);
}

/*
 * Traps 64 and 65. A port without a link is out of service; parts of the subnet that the manager's
 * port does not reach are managed all the same, and stay in service.
 */
static void tell_services(struct sweep *w)
{
	struct seg *s = w->s;

	for (uint32_t i = 0; i < w->nends; i++) {
		struct hw_port *p = seg_at(s, SEG_T_PORT, w->end[i]);

		if (!p || p->served)
			continue;
		p->served = 1;
		sa_inform(s, TRAP_IN_SERVICE, p->gid[0]);
	}
	seg_for_each_live (s, SEG_T_PORT, i) {
		struct hw_port *p = seg_at(s, SEG_T_PORT, i);

		if (!p->served || has_link(s, i))
			continue;
		p->served = 0;
		sa_inform(s, TRAP_OUT_OF_SERVICE, p->gid[0]);
		sa_inform_gone(s, i);
	}
}

/* OpenSM's default; a port that no manager has reached shows 0. */
#define SUBNET_TIMEOUT 18

/* The manager of a port: where rails are separate, each switch has its own. */
static uint32_t manager(const struct seg *s, uint32_t port)
{
	uint32_t peer = hw_port(s, port)->num ? fab_peer(s, port) : port;

	if (!hw_setting(s, HW_SET_RAILS))
		return fab_subnet(s)->sm_port;
	return peer == SEG_NONE ? SEG_NONE : fab_own_port(s, peer);
}

static void activate(struct sweep *w)
{
	struct seg *s = w->s;
	uint32_t sm = fab_subnet(s)->sm_port;

	if (sm != SEG_NONE && !(hw_port(s, sm)->cap_mask & FAB_CAP_IS_SM)) {
		hw_port(s, sm)->cap_mask |= FAB_CAP_IS_SM;
		fab_port_changed(s, sm, FAB_CHANGED_SM);
	}
	for (uint32_t i = 0; i < w->nends; i++) {
		struct hw_port *p = seg_at(s, SEG_T_PORT, w->end[i]);
		uint32_t by, sm_lid;

		if (!p)
			continue;
		by = manager(s, w->end[i]);
		sm_lid = by == SEG_NONE ? 0 : hw_port(s, by)->lid;
		if (by == w->end[i])
			p->cap_mask |= FAB_CAP_IS_SM;
		if (p->sm_lid != sm_lid || p->sm_sl)
			w->what[i] |= FAB_CHANGED_SM;
		if (fab_subnet(s)->sm_again)
			w->what[i] |= FAB_CHANGED_REREGISTER;
		p->sm_lid = sm_lid;
		p->sm_sl = 0;
		p->subnet_timeout = SUBNET_TIMEOUT;
		fab_port_changed(s, w->end[i], w->what[i]);
	}
	fab_subnet(s)->sm_again = 0;
	seg_for_each_live (s, SEG_T_PORT, i) {
		struct hw_port *p = seg_at(s, SEG_T_PORT, i);
		uint32_t peer;

		if (p->state != IB_PORT_INIT && p->state != IB_PORT_ARMED)
			continue;
		peer = fab_peer(s, i);
		if (peer != SEG_NONE && hw_port(s, peer)->max_mtu < p->max_mtu)
			p->active_mtu = hw_port(s, peer)->max_mtu;
		else
			p->active_mtu = p->max_mtu;
		fab_port_begin(s, i, FAB_CHANGED_STATE);
		/* If a cable is pulled at the same time, the pull wins. */
		if (fab_port_advance(p, IB_PORT_INIT, IB_PORT_ACTIVE) ||
		    fab_port_advance(p, IB_PORT_ARMED, IB_PORT_ACTIVE))
			fab_port_changed(s, i, FAB_CHANGED_STATE);
		else
			fab_port_end(s, i);
	}
}

/* The settings of this sweep stay in `kept` for the next one. */
static int sweep(struct sweep *w, struct fab_sm_kept *kept)
{
	struct seg *s = w->s;
	struct fab_subnet *sub = fab_subnet(s);
	int r;

	w->turn = atomic_load(&sub->tables_turn);
	find_ends(w);
	sort_ends(w);
	find_cables(w);
	r = assign_lids(w);
	if (!r)
		r = sweep_routes(w, kept->last);
	/* Another's change meanwhile has incremented it, too: the next sweep then sets all. */
	atomic_fetch_add(&sub->tables_turn, 1);
	w->turn++;
	fab_moved(s);
	if (!r) {
		sub->sm_updn = w->updn;
		sm_settle(w);
		r = fab_mcast_sweep(s);
		activate(w);
		tell_services(w);
	}
	return r;
}

void fab_sm_forget(struct fab_sm_kept *kept)
{
	if (kept->last)
		sweep_free(kept->last);
	heap_free(kept->spare);
	*kept = (struct fab_sm_kept){0};
}

/* The sweep becomes the last one. */
static void keep(struct sweep *w, struct fab_sm_kept *kept)
{
	struct fab_sm_kept new = {.last = w};

	if (kept->last) {
		new.spare = kept->last->leads;
		new.spare_size = kept->last->leads_size;
		kept->last->leads = NULL;
	}
	fab_sm_forget(kept);
	*kept = new;
}

static int sweep_kept(struct seg *s, struct fab_sm_kept *kept)
{
	struct sweep *w = heap_zalloc(sizeof(*w));
	int r = -ENOMEM;

	if (!w)
		return r;
	w->s = s;
	w->leads = kept->spare;
	w->leads_size = kept->spare_size;
	kept->spare = NULL;
	if (sweep_alloc(w))
		r = sweep(w, kept);
	if (!r && w->leads && !w->updn) {
		keep(w, kept);
		return r;
	}
	sweep_free(w);
	fab_sm_forget(kept);
	return r;
}

int fab_sm_sweep_kept(struct seg *s, struct fab_sm_kept *kept)
{
	struct fab_subnet *sub = fab_subnet(s);
	int r = fab_subnet_trylock(s);

	if (r)
		return r;
	/* Changes from here on require another sweep. */
	atomic_store(&sub->sm_dirty, 0);
	r = atomic_load(&sub->sm_state) == FAB_SM_MASTER ? sweep_kept(s, kept) : 0;
	fab_subnet_unlock(s);
	return r;
}

int fab_sm_sweep(struct seg *s)
{
	struct fab_sm_kept none = {0};
	int r = fab_sm_sweep_kept(s, &none);

	fab_sm_forget(&none);
	return r;
}
