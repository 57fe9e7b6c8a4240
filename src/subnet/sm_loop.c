/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the question whether packets on the shortest paths could block each other for ever (credit
 * loop), and the tree that they follow then. sm_route.c calls this with the subnet's lock held.
 */
#include "subnet/wave.h"

#include <errno.h>
#include <string.h>
#include "util/heap.h"

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

#define WORDS 4 /* words of a bitmap with a bit for each neighbour of a switch */

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
	return ch->first && ch->to && ch->cable && ch->then && ch->before && ch->queue;
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

/* Adds the dependencies of a wave's paths. */
static void add_paths(const struct wave *v, struct channels *ch, uint32_t nsw)
{
	for (uint32_t k = 0; k < ch->first[nsw]; k++) {
		uint64_t taken = v->taken[ch->cable[k]];
		uint32_t first = ch->first[ch->to[k]], n = ch->first[ch->to[k] + 1] - first;
		const uint32_t *cable = ch->cable + first;

		for (uint32_t b = 0; taken && 64 * b < n; b++) {
			uint32_t last = n - 64 * b < 64 ? n : 64 * b + 64;
			uint64_t then = 0;

			for (uint32_t m = last; m-- > 64 * b;)
				then = then << 1 | !!(taken & v->leads[cable[m]]);
			ch->then[k][b] |= then;
		}
	}
}

/* The switches with adapters among those of a wave. */
static uint64_t with_adapters(const struct sweep *w, uint32_t base)
{
	uint64_t set = 0;

	for (uint32_t k = 0; k < WAVE_BITS && base + k < w->nsw; k++)
		set |= (uint64_t)sweep_has_adapters(w, base + k) << k;
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

/*
 * A wave's paths lead away from adapters and then only towards adapters: no cycle of such channels
 * is possible. Trees are like this.
 */
static bool up_then_down(const struct sweep *w, const struct wave *v, uint64_t *arrived)
{
	memset(arrived, 0, sizeof(*arrived) * w->nsw);
	for (uint32_t i = 0; i < w->nsw; i++)
		for (uint32_t c = w->first[i]; c < w->first[i + 1]; c++) {
			if (w->tier[w->to[c]] < w->tier[i])
				arrived[w->to[c]] |= v->taken[c];
			else if (w->tier[w->to[c]] == w->tier[i] && v->taken[c])
				return false;
		}
	for (uint32_t i = 0; i < w->nsw; i++)
		for (uint32_t c = w->first[i]; arrived[i] && c < w->first[i + 1]; c++)
			if (v->leads[c] & arrived[i] && w->tier[w->to[c]] > w->tier[i])
				return false;
	return true;
}

/* Finds the wave's paths. Returns the bits of the switches with adapters; 0: no packets go there.
 */
static uint64_t run_wave(const struct sweep *w, struct wave *v, uint32_t n, uint32_t *dist)
{
	uint64_t to = with_adapters(w, n * WAVE_BITS);

	if (w->leads)
		v->leads = sweep_leads(w, n);
	if (to || w->leads)
		wave_run(w, v, n * WAVE_BITS, to, dist);
	if (to)
		wave_take(w, v, to, sweep_has_adapters);
	return to;
}

static int find_cycle(struct sweep *w, struct wave *v)
{
	struct channels ch = {0};
	bool ok = channels_alloc(w, &ch);

	if (ok) {
		find_channels(w, &ch);
		for (uint32_t n = 0; n < sweep_waves(w); n++)
			if (run_wave(w, v, n, NULL))
				add_paths(v, &ch, w->nsw);
		w->updn = has_cycle(&ch);
	}
	channels_free(&ch);
	return ok ? 0 : -ENOMEM;
}

int sweep_choose(struct sweep *w, struct wave *v)
{
	uint32_t *dist = heap_zalloc(sizeof(*dist) * (w->nsw + 1));
	bool tree = true;
	int r = 0;

	if (!dist)
		return -ENOMEM;
	for (uint32_t n = 0; n < sweep_waves(w); n++)
		if (run_wave(w, v, n, dist))
			tree = tree && up_then_down(w, v, v->used);
	lay_tree(w, dist);
	heap_free(dist);
	if (!tree)
		r = find_cycle(w, v);
	return r;
}
