/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the forwarding tables that the built-in subnet manager makes. The sweep (sm.c) calls this
 * with the subnet's lock held.
 */
#include "subnet/wave.h"

#include <errno.h>
#include <string.h>
#include "hw/port.h"
#include "util/heap.h"

/* ---- up/down */

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

/* ---- which cable for which LID */

/*
 * The first of n cables, which LIDs at switch `to` take in turn: a digit of its number in base n,
 * another one at each tier, as otherwise a switch would get only LIDs for one of its cables.
 */
static uint32_t first_turn(const struct sweep *w, uint32_t from, uint32_t to, uint32_t n)
{
	uint32_t digits = w->nth[to];

	for (uint32_t i = 0; digits && i < w->tier[from]; i++)
		digits /= n;
	return digits % n;
}

/* Numbers the switches with adapters, and the others; finds their distances to the former. */
static void find_tiers(struct sweep *w)
{
	uint32_t head = 0, tail = 0, others = 0;

	memset(w->tier, 0, w->nsw);
	memset(w->down, 0, w->nsw);
	for (uint32_t i = 0; i < w->nsw; i++)
		if (sweep_has_adapters(w, i)) {
			w->nth[i] = (uint16_t)tail;
			w->down[i] = 1;
			w->queue[tail++] = (uint16_t)i;
		} else {
			w->nth[i] = (uint16_t)others++;
		}
	for (; head < tail; head++) {
		uint32_t i = w->queue[head];

		for (uint32_t c = w->first[i]; c < w->first[i + 1]; c++) {
			uint32_t to = w->to[c];

			if (w->down[to])
				continue;
			w->down[to] = 1;
			w->tier[to] =
				(uint8_t)(w->tier[i] < UINT8_MAX ? w->tier[i] + 1 : UINT8_MAX);
			w->queue[tail++] = (uint16_t)to;
		}
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

			for (uint32_t k = 0; p && k < 1u << p->lmc && n < FAB_LIDS; k++) {
				w->lid_port[n] = w->end_port[w->by_sw[i]];
				w->lids[n++] = (uint16_t)(p->lid + k);
			}
		}
	}
	w->lids_at[w->nsw] = n;
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

/* Sets one switch's paths to the ends at another, which begin at these ports. */
static void route_from(const struct sweep *w, struct fab_lft *t, uint32_t from, uint32_t to,
		       const uint8_t *port, uint32_t n)
{
	const uint16_t *lid = w->lids + w->lids_at[to];
	uint32_t nlids = w->lids_at[to + 1] - w->lids_at[to], turn;

	if (n < 2) {
		for (uint32_t i = 0; i < nlids; i++)
			set_lid(t, lid[i], n ? port[0] : FAB_LFT_NONE);
		return;
	}
	turn = first_turn(w, from, to, n);
	for (uint32_t i = 0; i < nlids; i++) {
		set_lid(t, lid[i], port[turn]);
		turn = turn + 1 == n ? 0 : turn + 1;
	}
}

/* Sets a switch's paths to its own ends. */
static void route_own(const struct sweep *w, uint32_t sw)
{
	struct fab_lft *t = table_of(w, sw);

	for (uint32_t i = w->lids_at[sw]; i < w->lids_at[sw + 1]; i++)
		set_lid(t, w->lids[i], w->lid_port[i]);
}

static void route_updn(struct sweep *w)
{
	for (uint32_t to = 0; to < w->nsw; to++) {
		measure_updn(w, to);
		for (uint32_t from = 0; from < w->nsw; from++) {
			uint8_t port[FAB_MAX_PORT];
			uint32_t n = 0;

			for (uint32_t c = w->first[from]; c < w->first[from + 1]; c++)
				if (leads(w, from, c))
					port[n++] = w->port[c];
			if (from != to)
				route_from(w, table_of(w, from), from, to, port, n);
		}
	}
}

/* Sets one switch's paths to switches of a wave: those in `which`, without itself. */
static void route_wave(const struct sweep *w, const uint64_t *leads, uint32_t from, uint32_t base,
		       uint64_t which)
{
	struct fab_lft *t = table_of(w, from);
	uint64_t self = from / WAVE_BITS == base / WAVE_BITS ? UINT64_C(1) << from % WAVE_BITS : 0;
	uint64_t set[WAVE_BITS] = {which & ~self};
	uint32_t first = w->first[from], ncables = w->first[from + 1] - first;
	uint32_t nsets = set[0] ? wave_divide(leads + first, ncables, set) : 0;

	for (uint32_t i = 0; i < nsets; i++) {
		uint64_t any = set[i] & -set[i];
		uint8_t port[FAB_MAX_PORT];
		uint32_t n = 0;

		for (uint32_t c = first; c < first + ncables; c++)
			if (leads[c] & any)
				port[n++] = w->port[c];
		for (uint64_t m = set[i]; m; m &= m - 1)
			route_from(w, t, from, base + (uint32_t)__builtin_ctzll(m), port, n);
	}
}

static uint64_t whole_wave(const struct sweep *w, uint32_t n)
{
	uint32_t left = w->nsw - n * WAVE_BITS;

	return left < WAVE_BITS ? (UINT64_C(1) << left) - 1 : UINT64_MAX;
}

/* Sets all paths from a switch, or if `differ` is given, those that it names (a word per wave). */
static void route_switch(const struct sweep *w, uint32_t from, const uint64_t *differ)
{
	for (uint32_t n = 0; n < sweep_waves(w); n++)
		route_wave(w, sweep_leads(w, n), from, n * WAVE_BITS,
			   differ ? differ[n] : whole_wave(w, n));
}

/* Without room for all waves' `leads`: one wave after the other. */
static void route_each_wave(struct sweep *w, struct wave *v)
{
	v->leads = v->own;
	for (uint32_t n = 0; n < sweep_waves(w); n++) {
		wave_run(w, v, n * WAVE_BITS, 0, NULL);
		for (uint32_t from = 0; from < w->nsw; from++)
			route_wave(w, v->leads, from, n * WAVE_BITS, whole_wave(w, n));
	}
}

/* LIDs that no port has any more, or whose port is unplugged. */
static void clear_rest(const struct sweep *w, uint32_t sw)
{
	struct fab_switch *f = fab_switch(w->s, fab_node(w->s, w->sw_node[sw])->sw);
	struct fab_lft *t = table_of(w, sw);
	uint32_t old = f->linear_top;

	for (uint32_t lid = 0; lid <= old && lid < FAB_LIDS; lid++)
		if (!w->live[lid])
			atomic_store_explicit(&t->port[lid], 0, memory_order_relaxed);
	f->linear_top = w->top;
}

static void route_all(struct sweep *w, struct wave *v)
{
	for (uint32_t i = 0; i < w->nsw; i++)
		route_own(w, i);
	if (w->updn)
		route_updn(w);
	else if (!w->leads)
		route_each_wave(w, v);
	else
		for (uint32_t i = 0; i < w->nsw; i++)
			route_switch(w, i, NULL);
	for (uint32_t i = 0; i < w->nsw; i++)
		clear_rest(w, i);
}

/* ---- what the last sweep has set already */

static bool same_lids(const struct sweep *w, const struct sweep *last, uint32_t sw)
{
	uint32_t a = w->lids_at[sw], b = last->lids_at[sw], n = w->lids_at[sw + 1] - a;

	return n == last->lids_at[sw + 1] - b &&
	       !memcmp(w->lids + a, last->lids + b, n * sizeof(*w->lids)) &&
	       !memcmp(w->lid_port + a, last->lid_port + b, n * sizeof(*w->lid_port));
}

static bool same_cables(const struct sweep *w, const struct sweep *last, uint32_t sw)
{
	uint32_t a = w->first[sw], b = last->first[sw], n = w->first[sw + 1] - a;

	return n == last->first[sw + 1] - b && w->tier[sw] == last->tier[sw] &&
	       !memcmp(w->port + a, last->port + b, n * sizeof(*w->port));
}

/* The switches to which other cables lead now, or which have other LIDs. */
static void find_differences(const struct sweep *w, const struct sweep *last, uint64_t *differ,
			     const uint64_t *moved)
{
	uint32_t nwaves = sweep_waves(w);

	for (uint32_t n = 0; n < nwaves; n++)
		for (uint32_t i = 0; i < w->nsw; i++) {
			const uint64_t *now = sweep_leads(w, n) + w->first[i];
			const uint64_t *was = sweep_leads(last, n) + last->first[i];
			uint64_t set = moved[n];

			for (uint32_t c = 0; c < w->first[i + 1] - w->first[i]; c++)
				set |= now[c] ^ was[c];
			differ[(size_t)i * nwaves + n] = set;
		}
}

static void clear_gone(const struct sweep *w, const struct sweep *last)
{
	for (uint32_t lid = 0; lid < FAB_LIDS; lid++)
		if (last->live[lid] && !w->live[lid])
			for (uint32_t i = 0; i < w->nsw; i++)
				set_lid(table_of(w, i), lid, FAB_LFT_NONE);
	for (uint32_t i = 0; last->top != w->top && i < w->nsw; i++)
		fab_switch(w->s, fab_node(w->s, w->sw_node[i])->sw)->linear_top = w->top;
}

/* Changes what the last sweep has set otherwise. False: no memory. */
static bool route_changes(const struct sweep *w, const struct sweep *last)
{
	uint32_t nwaves = sweep_waves(w);
	uint64_t *moved = heap_zalloc(sizeof(*moved) * (nwaves + 1));
	uint64_t *differ = heap_zalloc(sizeof(*differ) * nwaves * (w->nsw + 1));

	if (moved && differ) {
		for (uint32_t i = 0; i < w->nsw; i++) {
			bool same = same_lids(w, last, i);

			if (!same || w->nth[i] != last->nth[i])
				moved[i / WAVE_BITS] |= UINT64_C(1) << i % WAVE_BITS;
			if (!same)
				route_own(w, i);
		}
		find_differences(w, last, differ, moved);
		for (uint32_t i = 0; i < w->nsw; i++)
			route_switch(w, i,
				     same_cables(w, last, i) ? differ + (size_t)i * nwaves : NULL);
		clear_gone(w, last);
	}
	heap_free(moved);
	heap_free(differ);
	return moved && differ;
}

static bool comparable(const struct sweep *w, const struct sweep *last)
{
	return last && last->turn == w->turn && last->leads && w->leads && !last->updn &&
	       !w->updn && last->nsw == w->nsw &&
	       !memcmp(last->sw_node, w->sw_node, w->nsw * sizeof(*w->sw_node));
}

int sweep_routes(struct sweep *w, const struct sweep *last)
{
	size_t leads = sizeof(*w->leads) * w->first[w->nsw] * sweep_waves(w);
	struct wave v;
	int r = -ENOMEM;

	if (w->leads_size < leads || leads > SWEEP_LEADS_MAX) {
		heap_free(w->leads);
		w->leads = leads <= SWEEP_LEADS_MAX ? heap_zalloc(leads) : NULL;
		w->leads_size = w->leads ? leads : 0;
	}
	find_tiers(w);
	find_lids(w);
	if (wave_init(w, &v))
		r = sweep_choose(w, &v);
	if (!r) {
		if (!comparable(w, last) || !route_changes(w, last))
			route_all(w, &v);
	}
	wave_finish(&v);
	return r;
}
