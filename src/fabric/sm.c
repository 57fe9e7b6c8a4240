/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the built-in subnet manager's sweep: LIDs, forwarding tables, ports to ACTIVE. It writes
 * what a subnet manager would set with MADs straight into the segment. Called by the supervisor,
 * and by fab_build().
 */
#include "fabric/fabric.h"

#include <errno.h>
#include <string.h>
#include "util/heap.h"

#define NO_SWITCH UINT16_MAX
#define FAR UINT16_MAX

/* What a sweep works on: switches numbered from 0, their cables to other switches, and every end
 * port with its LID. */
struct sweep {
	struct seg *s;
	uint32_t nsw, nends;
	uint32_t *sw_node; /* [nsw] SEG_T_NODE */
	uint32_t *first;   /* [nsw + 1] where its cables begin */
	uint16_t *to;      /* other ends, by cable */
	uint8_t *port;     /* our ends */
	uint32_t *load;    /* LIDs sent there */
	uint32_t *end;     /* [nends] SEG_T_PORT */
	uint16_t *end_sw;  /* [nends] the switch it is on */
	uint8_t *end_port; /* ... and that switch's port to it; 0 its own */
	uint16_t *hops;    /* [nsw] scratch */
	uint16_t *queue;   /* [nsw] scratch */
	uint16_t *of_node; /* [nodes] number of the switch */
	uint32_t top;      /* highest LID */
};

static void sweep_free(struct sweep *w)
{
	heap_free(w->sw_node);
	heap_free(w->first);
	heap_free(w->to);
	heap_free(w->port);
	heap_free(w->load);
	heap_free(w->end);
	heap_free(w->end_sw);
	heap_free(w->end_port);
	heap_free(w->hops);
	heap_free(w->queue);
	heap_free(w->of_node);
}

static bool sweep_alloc(struct sweep *w)
{
	uint32_t nodes = seg_table(w->s, SEG_T_NODE)->high;
	uint32_t ports = seg_table(w->s, SEG_T_PORT)->high;

	w->sw_node = heap_zalloc(sizeof(*w->sw_node) * nodes);
	w->first = heap_zalloc(sizeof(*w->first) * (nodes + 1));
	w->to = heap_zalloc(sizeof(*w->to) * ports);
	w->port = heap_zalloc(sizeof(*w->port) * ports);
	w->load = heap_zalloc(sizeof(*w->load) * ports);
	w->end = heap_zalloc(sizeof(*w->end) * ports);
	w->end_sw = heap_zalloc(sizeof(*w->end_sw) * ports);
	w->end_port = heap_zalloc(sizeof(*w->end_port) * ports);
	w->hops = heap_zalloc(sizeof(*w->hops) * nodes);
	w->queue = heap_zalloc(sizeof(*w->queue) * nodes);
	w->of_node = heap_zalloc(sizeof(*w->of_node) * nodes);
	return w->sw_node && w->first && w->to && w->port && w->load && w->end && w->end_sw &&
	       w->end_port && w->hops && w->queue && w->of_node;
}

static void add_end(struct sweep *w, uint32_t port, uint32_t sw, uint32_t num)
{
	w->end[w->nends] = port;
	w->end_sw[w->nends] = (uint16_t)sw;
	w->end_port[w->nends++] = (uint8_t)num;
}

/* Adapters' ports first, in their order, so that small subnets have LIDs from 1 on the hosts. */
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

static void find_cables(struct sweep *w)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->nsw; i++) {
		const struct fab_node *node = fab_node(w->s, w->sw_node[i]);

		w->first[i] = n;
		for (uint32_t num = 1; num <= node->nports; num++) {
			uint32_t peer = fab_peer(w->s, node->port0 + num);
			uint32_t to = peer == SEG_NONE ? NO_SWITCH
						       : w->of_node[hw_port(w->s, peer)->node];

			if (to == NO_SWITCH)
				continue;
			w->to[n] = (uint16_t)to;
			w->port[n++] = (uint8_t)num;
		}
	}
	w->first[w->nsw] = n;
}

/* Ports keep the LIDs that they have, unless somebody else has them too. */
static int assign_lids(struct sweep *w)
{
	uint8_t *used = heap_zalloc(FAB_LIDS);
	uint32_t next = 1;

	if (!used)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->nends; i++) {
		struct hw_port *p = hw_port(w->s, w->end[i]);
		uint32_t n = 1u << p->lmc, lid = p->lid;
		bool free = lid && lid % n == 0 && lid + n <= FAB_LIDS;

		for (uint32_t k = 0; free && k < n; k++)
			free = !used[lid + k];
		if (!free)
			p->lid = 0;
		for (uint32_t k = 0; free && k < n; k++)
			used[lid + k] = 1;
	}
	for (uint32_t i = 0; i < w->nends; i++) {
		struct hw_port *p = hw_port(w->s, w->end[i]);

		if (!p->lid) {
			p->lmc = 0;
			while (next < FAB_LIDS && used[next])
				next++;
			if (next == FAB_LIDS)
				break;
			used[next] = 1;
			p->lid = next;
		}
		if (p->lid + (1u << p->lmc) - 1 > w->top)
			w->top = p->lid + (1u << p->lmc) - 1;
	}
	heap_free(used);
	return next == FAB_LIDS ? -ENOSPC : 0;
}

/* Distances of all switches to one. */
static void measure(struct sweep *w, uint32_t to)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t i = 0; i < w->nsw; i++)
		w->hops[i] = FAR;
	w->hops[to] = 0;
	w->queue[tail++] = (uint16_t)to;
	while (head < tail) {
		uint32_t i = w->queue[head++];

		for (uint32_t c = w->first[i]; c < w->first[i + 1]; c++)
			if (w->hops[w->to[c]] == FAR) {
				w->hops[w->to[c]] = (uint16_t)(w->hops[i] + 1);
				w->queue[tail++] = w->to[c];
			}
	}
}

static void set_lids(struct sweep *w, uint32_t sw, const struct hw_port *p, uint32_t port)
{
	uint32_t idx = fab_node(w->s, w->sw_node[sw])->sw;

	for (uint32_t k = 0; k < 1u << p->lmc; k++)
		fab_lft_set(w->s, idx, p->lid + k, port);
}

/* One switch's ways to the end ports on another: over the least used of the shortest. */
static void route_from(struct sweep *w, uint32_t from, const uint32_t *ends, uint32_t n)
{
	uint32_t cable[FAB_MAX_PORT], ncables = 0;

	for (uint32_t c = w->first[from]; c < w->first[from + 1]; c++)
		if (w->hops[w->to[c]] + 1 == w->hops[from])
			cable[ncables++] = c;
	for (uint32_t i = 0; i < n; i++) {
		const struct hw_port *p = hw_port(w->s, w->end[ends[i]]);
		uint32_t best = SEG_NONE;

		for (uint32_t k = 0; k < ncables; k++)
			if (best == SEG_NONE || w->load[cable[k]] < w->load[best])
				best = cable[k];
		if (best != SEG_NONE)
			w->load[best]++;
		set_lids(w, from, p, best == SEG_NONE ? FAB_LFT_NONE : w->port[best]);
	}
}

/* End ports by the switch that they are on: those of switch i are list[at[i]] to list[at[i + 1]].
 */
static void sort_ends(const struct sweep *w, uint32_t *at, uint32_t *list)
{
	for (uint32_t i = 0; i < w->nends; i++)
		if (w->end_sw[i] != NO_SWITCH)
			at[w->end_sw[i] + 2]++;
	for (uint32_t i = 2; i < w->nsw + 2; i++)
		at[i] += at[i - 1];
	/* at[i + 1] is where those of i begin, and becomes where they end. */
	for (uint32_t i = 0; i < w->nends; i++)
		if (w->end_sw[i] != NO_SWITCH)
			list[at[w->end_sw[i] + 1]++] = i;
}

static int route_all(struct sweep *w)
{
	uint32_t *at = heap_zalloc(sizeof(*at) * (w->nsw + 3));
	uint32_t *list = heap_zalloc(sizeof(*list) * (w->nends + 1));
	bool ok = at && list;

	if (ok)
		sort_ends(w, at, list);
	for (uint32_t to = 0; ok && to < w->nsw; to++) {
		measure(w, to);
		for (uint32_t i = at[to]; i < at[to + 1]; i++)
			set_lids(w, to, hw_port(w->s, w->end[list[i]]), w->end_port[list[i]]);
		for (uint32_t from = 0; from < w->nsw; from++)
			if (from != to)
				route_from(w, from, list + at[to], at[to + 1] - at[to]);
	}
	for (uint32_t i = 0; i < w->nsw; i++)
		fab_switch(w->s, fab_node(w->s, w->sw_node[i])->sw)->linear_top = w->top;
	heap_free(at);
	heap_free(list);
	return ok ? 0 : -ENOMEM;
}

static void activate(struct sweep *w)
{
	uint32_t sm_lid = w->nends ? hw_port(w->s, w->end[0])->lid : 0;

	if (w->nends)
		fab_subnet(w->s)->sm_port = w->end[0];
	for (uint32_t i = 0; i < w->nends; i++)
		hw_port(w->s, w->end[i])->sm_lid = sm_lid;
	seg_for_each_live (w->s, SEG_T_PORT, i) {
		const struct hw_port *p = seg_at(w->s, SEG_T_PORT, i);

		if (p->state == HW_PORT_INIT || p->state == HW_PORT_ARMED)
			fab_port_set_state(w->s, i, HW_PORT_ACTIVE);
	}
}

int fab_sm_sweep(struct seg *s)
{
	struct sweep w = {.s = s};
	int r = -ENOMEM;

	atomic_store(&fab_subnet(s)->sm_dirty, 0);
	if (sweep_alloc(&w)) {
		find_ends(&w);
		find_cables(&w);
		r = assign_lids(&w);
		if (!r)
			r = route_all(&w);
		fab_moved(s);
		if (!r)
			activate(&w);
	}
	sweep_free(&w);
	return r;
}
