/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the search for shortest paths to 64 switches at a time, a bit for each: breadth first from
 * all of them, with one operation per cable and distance instead of one per cable and switch.
 * sm_loop.c and sm_route.c call this.
 */
#include "subnet/wave.h"

#include <string.h>
#include "util/heap.h"

void wave_finish(struct wave *v)
{
	heap_free(v->front);
	heap_free(v->next);
	heap_free(v->seen);
	heap_free(v->used);
	heap_free(v->own);
	heap_free(v->taken);
	heap_free(v->log);
}

bool wave_init(const struct sweep *w, struct wave *v)
{
	size_t nsw = w->nsw + 1, cables = w->first[w->nsw] + 1;

	*v = (struct wave){0};
	v->front = heap_zalloc(sizeof(*v->front) * nsw);
	v->next = heap_zalloc(sizeof(*v->next) * nsw);
	v->seen = heap_zalloc(sizeof(*v->seen) * nsw);
	v->used = heap_zalloc(sizeof(*v->used) * nsw);
	v->own = heap_zalloc(sizeof(*v->own) * cables);
	v->leads = v->own;
	v->taken = heap_zalloc(sizeof(*v->taken) * cables);
	/* Each switch has each of the bits at one distance. */
	v->log = heap_zalloc(sizeof(*v->log) * nsw * WAVE_BITS);
	return v->front && v->next && v->seen && v->used && v->own && v->taken && v->log;
}

/* The switches at the distance after that of log[a] to log[b - 1]. */
static void wave_step(const struct sweep *w, struct wave *v, uint32_t a, uint32_t b)
{
	for (uint32_t e = a; e < b; e++)
		v->front[v->log[e].sw] = v->log[e].set;
	for (uint32_t e = a; e < b; e++)
		for (uint32_t i = v->log[e].sw, c = w->first[i]; c < w->first[i + 1]; c++) {
			uint64_t new = v->log[e].set & ~v->seen[w->to[c]];

			if (!new)
				continue;
			if (!v->next[w->to[c]])
				v->log[v->nlog++].sw = w->to[c];
			v->next[w->to[c]] |= new;
		}
	for (uint32_t e = b; e < v->nlog; e++) {
		uint32_t i = v->log[e].sw;
		uint64_t set = v->next[i];

		v->log[e].set = set;
		v->seen[i] |= set;
		v->next[i] = 0;
		for (uint32_t c = w->first[i]; c < w->first[i + 1]; c++)
			v->leads[c] |= set & v->front[w->to[c]];
	}
	for (uint32_t e = a; e < b; e++)
		v->front[v->log[e].sw] = 0;
}

void wave_run(const struct sweep *w, struct wave *v, uint32_t base, uint64_t count, uint32_t *dist)
{
	uint32_t n = w->nsw - base < WAVE_BITS ? w->nsw - base : WAVE_BITS;

	memset(v->seen, 0, sizeof(*v->seen) * w->nsw);
	memset(v->leads, 0, sizeof(*v->leads) * w->first[w->nsw]);
	for (uint32_t k = 0; k < n; k++) {
		v->log[k].sw = (uint16_t)(base + k);
		v->log[k].set = v->seen[base + k] = UINT64_C(1) << k;
	}
	v->nlog = n;
	for (uint32_t a = 0, b = n, far = 1; a < b; far++) {
		wave_step(w, v, a, b);
		a = b;
		b = v->nlog;
		for (uint32_t e = a; dist && e < b; e++)
			dist[v->log[e].sw] +=
				far * (uint32_t)__builtin_popcountll(v->log[e].set & count);
	}
}

void wave_take(const struct sweep *w, struct wave *v, uint64_t to,
	       bool (*starts)(const struct sweep *w, uint32_t sw))
{
	memset(v->taken, 0, sizeof(*v->taken) * w->first[w->nsw]);
	for (uint32_t i = 0; i < w->nsw; i++)
		v->used[i] = starts(w, i) ? to : 0;
	/* The farthest first: then all paths that pass a switch are known when its turn comes. */
	for (uint32_t e = v->nlog; e-- > 0;) {
		uint32_t i = v->log[e].sw;
		uint64_t set = v->used[i] & v->log[e].set;

		for (uint32_t c = w->first[i]; set && c < w->first[i + 1]; c++) {
			v->taken[c] |= set & v->leads[c];
			v->used[w->to[c]] |= set & v->leads[c];
		}
	}
}

uint32_t wave_divide(const uint64_t *leads, uint32_t n, uint64_t *set)
{
	uint32_t nsets = 1;

	for (uint32_t c = 0; c < n; c++)
		for (uint32_t i = nsets; leads[c] && i-- > 0;) {
			uint64_t in = set[i] & leads[c];

			if (!in || in == set[i])
				continue;
			set[i] &= ~in;
			set[nsets++] = in;
		}
	return nsets;
}
