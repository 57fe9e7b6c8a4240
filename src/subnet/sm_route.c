/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the routing of the built-in subnet manager: forwarding tables, and the tree for multicast
 * packets. The sweep (sm.c) calls this with the subnet's lock held.
 */
#include "subnet/wave.h"

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

/* Is the cable the first of a path up and down to the measured switch? */
static bool leads(const struct sweep *w, uint32_t from, uint32_t cable)
{
	uint32_t to = w->to[cable];

	if (w->hops[from] == SWEEP_FAR || w->hops[to] + 1u != w->hops[from])
		return false;
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
	uint32_t *cable; /* one of the channel's cables */
	uint64_t (*then)[WORDS];
	uint32_t *before; /* number of channels that wait for this one */
	uint32_t *queue;
	uint32_t *dist; /* [nsw] sum of the distances to switches with adapters */
	uint32_t n;
};

static void channels_free(struct channels *ch)
{
	heap_free(ch->first);
	heap_free(ch->to);
	heap_free(ch->then);
	heap_free(ch->cable);
	heap_free(ch->before);
	heap_free(ch->queue);
	heap_free(ch->dist);
}

static bool channels_alloc(const struct sweep *w, struct channels *ch)
{
	uint32_t cables = w->first[w->nsw] + 1, nsw = w->nsw + 1;

	ch->first = heap_zalloc(sizeof(*ch->first) * nsw);
	ch->to = heap_zalloc(sizeof(*ch->to) * cables);
	ch->then = heap_zalloc(sizeof(*ch->then) * cables);
	ch->cable = heap_zalloc(sizeof(*ch->cable) * cables);
	ch->before = heap_zalloc(sizeof(*ch->before) * cables);
	ch->queue = heap_zalloc(sizeof(*ch->queue) * cables);
	ch->dist = heap_zalloc(sizeof(*ch->dist) * nsw);
	return ch->first && ch->to && ch->cable && ch->then && ch->before && ch->queue && ch->dist;
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
			if (k == ch->n) {
				ch->cable[k] = c;
				ch->to[ch->n++] = w->to[c];
			}
		}
	}
	ch->first[w->nsw] = ch->n;
}

static bool has_adapters(const struct sweep *w, uint32_t sw)
{
	/* The switch's own port is the last of its ends. */
	return w->at[sw + 1] - w->at[sw] > 1;
}

/* Adds the dependencies of a wave's paths. */
static void add_paths(const struct wave *v, struct channels *ch, uint32_t nsw)
{
	for (uint32_t k = 0; k < ch->first[nsw]; k++) {
		uint64_t taken = v->taken[ch->cable[k]];
		uint32_t first = ch->first[ch->to[k]], last = ch->first[ch->to[k] + 1];

		for (uint32_t m = first; taken && m < last; m++)
			if (taken & v->leads[ch->cable[m]])
				ch->then[k][(m - first) / 64] |= UINT64_C(1) << (m - first) % 64;
	}
}

/* The switches with adapters among those of a wave. */
static uint64_t with_adapters(const struct sweep *w, uint32_t base)
{
	uint64_t set = 0;

	for (uint32_t k = 0; k < WAVE_BITS && base + k < w->nsw; k++)
		set |= (uint64_t)has_adapters(w, base + k) << k;
	return set;
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

static int choose(struct sweep *w, struct wave *v)
{
	struct channels ch = {0};
	bool ok = channels_alloc(w, &ch);

	if (ok) {
		find_channels(w, &ch);
		for (uint32_t base = 0; base < w->nsw; base += WAVE_BITS) {
			uint64_t to = with_adapters(w, base);

			if (!to)
				continue;
			wave_run(w, v, base, to, ch.dist);
			wave_take(w, v, to, has_adapters);
			add_paths(v, &ch, w->nsw);
		}
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

#define FEW_LOADS 4u

/* Sorts cables, the least used one first; of equal ones, the first. */
static void sort_cables(const struct sweep *w, uint32_t *cable, uint32_t n)
{
	uint32_t was[FAB_MAX_PORT], low = UINT32_MAX, high = 0, at = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t load = w->load[cable[i]];

		was[i] = cable[i];
		low = load < low ? load : low;
		high = load > high ? load : high;
	}
	/* Loads that are spread evenly differ by 1. */
	for (uint32_t load = low; high - low < FEW_LOADS && load <= high; load++)
		for (uint32_t i = 0; i < n; i++)
			if (w->load[was[i]] == load)
				cable[at++] = was[i];
	for (uint32_t i = at; i < n; i++) {
		uint32_t c = was[i];

		for (at = i; at && w->load[cable[at - 1]] > w->load[c]; at--)
			cable[at] = cable[at - 1];
		cable[at] = c;
	}
}

/*
 * Sets one switch's paths to the ends at another, which begin with these cables. LIDs of one port
 * take different paths if there are several (LMC).
 */
static void route_from(struct sweep *w, struct fab_lft *t, uint32_t to, uint32_t *cable, uint32_t n)
{
	const uint16_t *lid = w->lids + w->lids_at[to];
	uint32_t nlids = w->lids_at[to + 1] - w->lids_at[to], turn = 0;
	uint8_t port[FAB_MAX_PORT];

	if (n > 1)
		sort_cables(w, cable, n);
	for (uint32_t i = 0; i < n; i++) {
		w->load[cable[i]] += nlids / n + (i < nlids % n);
		port[i] = w->port[cable[i]];
	}
	if (!n)
		port[n++] = FAB_LFT_NONE;
	if (n == 1) {
		for (uint32_t i = 0; i < nlids; i++)
			set_lid(t, lid[i], port[0]);
		return;
	}
	for (uint32_t i = 0; i < nlids; i++) {
		set_lid(t, lid[i], port[turn]);
		turn = turn + 1 == n ? 0 : turn + 1;
	}
}

/* Sets a switch's paths to its own ends. */
static void route_own(struct sweep *w, uint32_t sw)
{
	struct fab_lft *t = table_of(w, sw);

	for (uint32_t i = w->at[sw]; i < w->at[sw + 1]; i++) {
		const struct hw_port *p = seg_at(w->s, SEG_T_PORT, w->end[w->by_sw[i]]);

		for (uint32_t k = 0; p && k < 1u << p->lmc; k++)
			set_lid(t, p->lid + k, w->end_port[w->by_sw[i]]);
	}
}

/* Ports are far apart in memory, so their LIDs are collected once. */
static void find_lids(struct sweep *w)
{
	uint32_t n = 0;

	for (uint32_t sw = 0; sw < w->nsw; sw++) {
		w->lids_at[sw] = n;
		for (uint32_t i = w->at[sw]; i < w->at[sw + 1]; i++) {
			const struct hw_port *p = seg_at(w->s, SEG_T_PORT, w->end[w->by_sw[i]]);

			for (uint32_t k = 0; p && k < 1u << p->lmc && n < FAB_LIDS; k++)
				w->lids[n++] = (uint16_t)(p->lid + k);
		}
	}
	w->lids_at[w->nsw] = n;
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

static void route_updn(struct sweep *w)
{
	for (uint32_t to = 0; to < w->nsw; to++) {
		measure_updn(w, to);
		for (uint32_t from = 0; from < w->nsw; from++) {
			uint32_t cable[FAB_MAX_PORT], n = 0;

			for (uint32_t c = w->first[from]; c < w->first[from + 1]; c++)
				if (leads(w, from, c))
					cable[n++] = c;
			if (from != to)
				route_from(w, table_of(w, from), to, cable, n);
		}
	}
}

/* Sets one switch's paths to the switches of a wave. */
static void route_wave(struct sweep *w, const uint64_t *leads, uint32_t from, uint32_t base)
{
	uint32_t n[WAVE_BITS] = {0}, cable[FAB_MAX_PORT];
	uint8_t num[WAVE_BITS][FAB_MAX_PORT];
	struct fab_lft *t = table_of(w, from);

	for (uint32_t c = w->first[from]; c < w->first[from + 1]; c++)
		for (uint64_t m = leads[c]; m; m &= m - 1) {
			uint32_t k = (uint32_t)__builtin_ctzll(m);

			num[k][n[k]++] = (uint8_t)(c - w->first[from]);
		}
	for (uint32_t k = 0; k < WAVE_BITS && base + k < w->nsw; k++) {
		if (base + k == from)
			continue;
		for (uint32_t i = 0; i < n[k]; i++)
			cable[i] = w->first[from] + num[k][i];
		route_from(w, t, base + k, cable, n[k]);
	}
}

/*
 * Fills one table after the other with the paths of several waves: going from table to table for
 * each wave would miss the processor's caches.
 */
static void route_shortest(struct sweep *w, struct wave *v)
{
	for (uint32_t base = 0; base < w->nsw; base += WAVE_KEPT * WAVE_BITS) {
		uint32_t n = 0;

		for (; n < WAVE_KEPT && base + n * WAVE_BITS < w->nsw; n++) {
			v->leads = wave_kept(w, v, n);
			wave_run(w, v, base + n * WAVE_BITS, 0, NULL);
		}
		for (uint32_t from = 0; from < w->nsw; from++)
			for (uint32_t k = 0; k < n; k++)
				route_wave(w, wave_kept(w, v, k), from, base + k * WAVE_BITS);
	}
}

int sweep_routes(struct sweep *w)
{
	struct wave v;
	int r = wave_init(w, &v) ? choose(w, &v) : -ENOMEM;

	if (!r) {
		find_lids(w);
		for (uint32_t i = 0; i < w->nsw; i++)
			route_own(w, i);
		if (w->updn)
			route_updn(w);
		else
			route_shortest(w, &v);
		for (uint32_t i = 0; i < w->nsw; i++)
			clear_rest(w, i);
	}
	wave_finish(&v);
	return r;
}
