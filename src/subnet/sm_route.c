/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the routing of the built-in subnet manager: forwarding tables, and the tree for multicast
 * packets. The sweep (sm.c) calls this with the subnet's lock held.
 */
#include "subnet/sweep.h"

#include <errno.h>
#include <string.h>
#include "hw/port.h"
#include "util/heap.h"

/* ---- distances */

/*
 * Distances of all switches to one, in cables. Returns the number of switches that can be reached.
 */
static uint32_t measure(struct sweep *w, uint32_t to)
{
	uint32_t head = 0, tail = 0;

	memset(w->hops, 0xff, sizeof(*w->hops) * w->nsw);
	w->hops[to] = 0;
	w->queue[tail++] = (uint16_t)to;
	while (head < tail) {
		uint32_t i = w->queue[head++];

		for (uint32_t c = w->first[i]; c < w->first[i + 1]; c++)
			if (w->hops[w->to[c]] == SWEEP_FAR) {
				w->hops[w->to[c]] = (uint16_t)(w->hops[i] + 1);
				w->queue[tail++] = w->to[c];
			}
	}
	return tail;
}

/*
 * Distances over paths that go up and then down. A switch with a path that only goes down uses it
 * even if another is shorter: a switch that sends packets down relies on that, and forwarding
 * tables do not know a packet's origin.
 */
static void measure_updn(struct sweep *w, uint32_t to)
{
	uint32_t head = 0, tail = 0;

	memset(w->hops, 0xff, sizeof(*w->hops) * w->nsw);
	memset(w->down, 0, w->nsw);
	w->hops[to] = 0;
	w->down[to] = 1;
	w->queue[tail++] = (uint16_t)to;
	while (head < tail) {
		uint32_t i = w->queue[head++];

		for (uint32_t c = w->first[i]; c < w->first[i + 1]; c++) {
			uint32_t from = w->to[c];

			if (w->rank[from] < w->rank[i] && w->hops[from] == SWEEP_FAR) {
				w->hops[from] = (uint16_t)(w->hops[i] + 1);
				w->down[from] = 1;
				w->queue[tail++] = (uint16_t)from;
			}
		}
	}
	/* Route from the other switches upwards, to a neighbour that precedes them in `order`. */
	for (uint32_t n = 0; n < w->nsw; n++) {
		uint32_t i = w->order[n];

		for (uint32_t c = w->first[i]; !w->down[i] && c < w->first[i + 1]; c++) {
			uint32_t up = w->to[c];

			if (w->rank[up] < n && w->hops[up] != SWEEP_FAR &&
			    w->hops[up] + 1 < w->hops[i])
				w->hops[i] = (uint16_t)(w->hops[up] + 1);
		}
	}
}

/* Is the cable the first of a path to the measured switch? */
static bool leads(const struct sweep *w, uint32_t from, uint32_t cable)
{
	uint32_t to = w->to[cable];

	if (w->hops[from] == SWEEP_FAR || w->hops[to] + 1u != w->hops[from])
		return false;
	if (!w->updn)
		return true;
	return w->down[from] ? w->down[to] && w->rank[to] > w->rank[from]
			     : w->rank[to] < w->rank[from];
}

/* ---- can the shortest paths block each other? */

#define WORDS 4 /* bits for all neighbours of a switch */

/*
 * Channels: switch i to its k-th neighbour is number first[i] + k. `then`: the neighbour's channels
 * that a packet may take next, over all shortest paths between switches with adapters.
 */
struct channels {
	uint32_t *first; /* [nsw + 1] */
	uint16_t *to;
	uint64_t (*then)[WORDS];
	uint64_t (*next)[WORDS]; /* [nsw] scratch: channels that start a shortest path */
	uint32_t *before;        /* number of channels that wait for this one */
	uint32_t *queue;
	uint8_t *used;  /* [nsw] scratch: a shortest path passes this switch */
	uint32_t *dist; /* [nsw] sum of the distances to switches with adapters */
	uint32_t n;
};

static void channels_free(struct channels *ch)
{
	heap_free(ch->first);
	heap_free(ch->to);
	heap_free(ch->then);
	heap_free(ch->next);
	heap_free(ch->before);
	heap_free(ch->queue);
	heap_free(ch->used);
	heap_free(ch->dist);
}

static bool channels_alloc(const struct sweep *w, struct channels *ch)
{
	uint32_t cables = w->first[w->nsw] + 1, nsw = w->nsw + 1;

	ch->first = heap_zalloc(sizeof(*ch->first) * nsw);
	ch->to = heap_zalloc(sizeof(*ch->to) * cables);
	ch->then = heap_zalloc(sizeof(*ch->then) * cables);
	ch->next = heap_zalloc(sizeof(*ch->next) * nsw);
	ch->before = heap_zalloc(sizeof(*ch->before) * cables);
	ch->queue = heap_zalloc(sizeof(*ch->queue) * cables);
	ch->used = heap_zalloc(nsw);
	ch->dist = heap_zalloc(sizeof(*ch->dist) * nsw);
	return ch->first && ch->to && ch->then && ch->next && ch->before && ch->queue && ch->used &&
	       ch->dist;
}

/* Parallel cables are one channel here: a packet that waits for one of them may wait for any. */
static void find_channels(const struct sweep *w, struct channels *ch)
{
	for (uint32_t i = 0; i < w->nsw; i++) {
		ch->first[i] = ch->n;
		for (uint32_t c = w->first[i]; c < w->first[i + 1]; c++) {
			uint32_t k = ch->first[i];

			while (k < ch->n && ch->to[k] != w->to[c])
				k++;
			if (k == ch->n)
				ch->to[ch->n++] = w->to[c];
		}
	}
	ch->first[w->nsw] = ch->n;
}

static bool has_adapters(const struct sweep *w, uint32_t sw)
{
	/* The switch's own port is the last of its ends. */
	return w->at[sw + 1] - w->at[sw] > 1;
}

/*
 * Adds the dependencies of the paths to one switch. `n` switches are in w->queue, the nearest
 * first.
 */
static void add_ways(const struct sweep *w, struct channels *ch, uint32_t n)
{
	memset(ch->used, 0, w->nsw);
	for (uint32_t q = 0; q < n; q++) {
		uint32_t i = w->queue[q];

		ch->dist[i] += w->hops[i];
		ch->used[i] = has_adapters(w, i);
		memset(ch->next[i], 0, sizeof(ch->next[i]));
		for (uint32_t k = ch->first[i]; q && k < ch->first[i + 1]; k++)
			if (w->hops[ch->to[k]] + 1u == w->hops[i])
				ch->next[i][(k - ch->first[i]) / 64] |= UINT64_C(1)
									<< (k - ch->first[i]) % 64;
	}
	for (uint32_t q = n; q-- > 1;) {
		uint32_t i = w->queue[q];

		if (!ch->used[i])
			continue;
		for (uint32_t k = ch->first[i]; k < ch->first[i + 1]; k++) {
			uint32_t to = ch->to[k];

			if (w->hops[to] + 1u != w->hops[i])
				continue;
			ch->used[to] = 1;
			for (uint32_t b = 0; b < WORDS; b++)
				ch->then[k][b] |= ch->next[to][b];
		}
	}
}

/* Calls `fn` for every channel that a packet may wait for while it occupies `k`. */
static void for_each_then(const struct channels *ch, uint32_t k,
			  void (*fn)(struct channels *ch, uint32_t then), struct channels *arg)
{
	for (uint32_t b = 0; b < WORDS; b++)
		for (uint64_t m = ch->then[k][b]; m; m &= m - 1)
			fn(arg, ch->first[ch->to[k]] + 64 * b + (uint32_t)__builtin_ctzll(m));
}

static void count_one(struct channels *ch, uint32_t then)
{
	ch->before[then]++;
}

static void release_one(struct channels *ch, uint32_t then)
{
	if (!--ch->before[then])
		ch->queue[ch->n++] = then;
}

/* Remove channels that no other waits for, repeatedly; only cycles remain. */
static bool has_cycle(struct channels *ch)
{
	uint32_t all = ch->n;

	for (uint32_t k = 0; k < all; k++)
		for_each_then(ch, k, count_one, ch);
	ch->n = 0;
	for (uint32_t k = 0; k < all; k++)
		if (!ch->before[k])
			ch->queue[ch->n++] = k;
	for (uint32_t q = 0; q < ch->n; q++)
		for_each_then(ch, ch->queue[q], release_one, ch);
	return ch->n != all;
}

/*
 * Orders the switches by their distance from the middle of their part of the subnet, which is the
 * switch nearest to all switches with adapters; also builds the tree of groups.
 */
static void lay_tree(struct sweep *w, const uint32_t *dist)
{
	uint32_t head = 0, tail = 0;

	memset(w->rank, 0xff, sizeof(*w->rank) * w->nsw);
	for (uint32_t any = 0; any < w->nsw; any++) {
		uint32_t root = any, n;

		if (w->rank[any] != SWEEP_NO_SWITCH)
			continue;
		n = measure(w, any);
		for (uint32_t q = 0; q < n; q++)
			if (dist[w->queue[q]] < dist[root] ||
			    (dist[w->queue[q]] == dist[root] && w->queue[q] < root))
				root = w->queue[q];
		w->rank[root] = (uint16_t)tail;
		w->order[tail++] = (uint16_t)root;
		fab_switch(w->s, fab_node(w->s, w->sw_node[root])->sw)->tree_up = SEG_NONE;
		for (; head < tail; head++) {
			uint32_t i = w->order[head];

			for (uint32_t c = w->first[i]; c < w->first[i + 1]; c++) {
				uint32_t to = w->to[c];
				const struct fab_node *n = fab_node(w->s, w->sw_node[i]);

				if (w->rank[to] != SWEEP_NO_SWITCH)
					continue;
				w->rank[to] = (uint16_t)tail;
				w->order[tail++] = (uint16_t)to;
				fab_switch(w->s, fab_node(w->s, w->sw_node[to])->sw)->tree_up =
					fab_peer(w->s, n->port0 + w->port[c]);
			}
		}
	}
}

static int choose(struct sweep *w)
{
	struct channels ch = {0};
	bool ok = channels_alloc(w, &ch);

	if (ok) {
		find_channels(w, &ch);
		for (uint32_t to = 0; to < w->nsw; to++)
			if (has_adapters(w, to))
				add_ways(w, &ch, measure(w, to));
		lay_tree(w, ch.dist);
		w->updn = has_cycle(&ch);
	}
	channels_free(&ch);
	return ok ? 0 : -ENOMEM;
}

/* ---- tables */

static void set_lid(struct fab_lft *t, uint32_t lid, uint32_t port)
{
	atomic_store_explicit(&t->port[lid], (uint8_t)(port ^ FAB_LFT_NONE), memory_order_relaxed);
}

static struct fab_lft *table_of(const struct sweep *w, uint32_t sw)
{
	return seg_at(w->s, SEG_T_LFT, fab_node(w->s, w->sw_node[sw])->sw);
}

/* Collects the cables that start a path, the least used one first. Returns their number. */
static uint32_t sort_cables(const struct sweep *w, uint32_t from, uint32_t *cable)
{
	uint32_t n = 0;

	for (uint32_t c = w->first[from]; c < w->first[from + 1]; c++) {
		uint32_t at = n;

		if (!leads(w, from, c))
			continue;
		for (; at && w->load[cable[at - 1]] > w->load[c]; at--)
			cable[at] = cable[at - 1];
		cable[at] = c;
		n++;
	}
	return n;
}

/*
 * Sets one switch's paths to the ends at another. LIDs of one port take different paths if there
 * are several (LMC).
 */
static void route_from(struct sweep *w, uint32_t from, uint32_t to)
{
	struct fab_lft *t = table_of(w, from);
	uint32_t cable[FAB_MAX_PORT], n = sort_cables(w, from, cable), turn = 0;

	for (uint32_t i = w->at[to]; i < w->at[to + 1]; i++)
		for (uint32_t lid = w->lid[i]; lid < w->lid[i] + (uint32_t)w->nlids[i]; lid++) {
			if (!n) {
				set_lid(t, lid, FAB_LFT_NONE);
				continue;
			}
			w->load[cable[turn]]++;
			set_lid(t, lid, w->port[cable[turn]]);
			turn = turn + 1 == n ? 0 : turn + 1;
		}
}

/* Sets a switch's paths to its own ends. */
static void route_own(struct sweep *w, uint32_t sw)
{
	struct fab_lft *t = table_of(w, sw);

	for (uint32_t i = w->at[sw]; i < w->at[sw + 1]; i++)
		for (uint32_t lid = w->lid[i]; lid < w->lid[i] + (uint32_t)w->nlids[i]; lid++)
			set_lid(t, lid, w->end_port[w->by_sw[i]]);
}

static void find_lids(struct sweep *w)
{
	for (uint32_t i = 0; i < w->at[w->nsw]; i++) {
		const struct hw_port *p = seg_at(w->s, SEG_T_PORT, w->end[w->by_sw[i]]);

		if (!p)
			continue;
		w->lid[i] = (uint16_t)p->lid;
		w->nlids[i] = (uint16_t)(1u << p->lmc);
	}
}

/* LIDs that no port has any more, or whose port is unplugged. */
static void clear_rest(struct sweep *w, uint32_t sw)
{
	struct fab_switch *f = fab_switch(w->s, fab_node(w->s, w->sw_node[sw])->sw);
	struct fab_lft *t = table_of(w, sw);
	uint32_t old = f->linear_top;

	for (uint32_t lid = 0; lid <= old && lid < FAB_LIDS; lid++)
		if (!w->live[lid])
			atomic_store_explicit(&t->port[lid], 0, memory_order_relaxed);
	f->linear_top = w->top;
}

int sweep_routes(struct sweep *w)
{
	int r = choose(w);

	if (r)
		return r;
	find_lids(w);
	for (uint32_t to = 0; to < w->nsw; to++) {
		if (w->updn)
			measure_updn(w, to);
		else
			measure(w, to);
		route_own(w, to);
		for (uint32_t from = 0; from < w->nsw; from++)
			if (from != to)
				route_from(w, from, to);
	}
	for (uint32_t i = 0; i < w->nsw; i++)
		clear_rest(w, i);
	return 0;
}
