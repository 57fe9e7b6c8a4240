/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Subnets for tests: switches and adapters by number, in ordinary memory. */
#ifndef SOFTHCA_FABRIC_TEST_TOPO_H
#define SOFTHCA_FABRIC_TEST_TOPO_H

#include <stdio.h>
#include <stdlib.h>
#include <infiniband/verbs.h>
#include "fabric/fabric.h"
#include "hw/hca.h"
#include "subnet/subnet.h"

#define TT_RADIX 36

struct tt {
	struct topo t;
	uint32_t room;
};

static inline void tt_init(struct tt *b, uint32_t nodes)
{
	*b = (struct tt){.room = nodes};
	b->t.node = calloc(nodes, sizeof(*b->t.node));
	b->t.host = calloc(nodes, sizeof(*b->t.host));
}

static inline void tt_free(struct tt *b)
{
	for (uint32_t i = 0; i < b->t.nnodes; i++)
		free(b->t.node[i].port);
	free(b->t.node);
	free(b->t.host);
}

static inline uint32_t tt_node(struct tt *b, enum topo_type type, uint32_t nports)
{
	struct topo_node *n = &b->t.node[b->t.nnodes];

	n->type = type;
	n->nports = nports;
	n->port = calloc(nports + 1, sizeof(*n->port));
	for (uint32_t i = 0; i <= nports; i++)
		n->port[i].peer_node = TOPO_NONE;
	snprintf(n->desc, sizeof(n->desc), "node %u", b->t.nnodes);
	if (type == TOPO_CA) {
		n->host = b->t.nhosts;
		snprintf(b->t.host[b->t.nhosts], sizeof(b->t.host[0]), "h%u", b->t.nhosts + 1);
		b->t.nhosts++;
	}
	return b->t.nnodes++;
}

static inline uint32_t tt_switch(struct tt *b)
{
	return tt_node(b, TOPO_SWITCH, TT_RADIX);
}

/* A cable between the first free ports of two nodes. */
static inline void tt_cable(struct tt *b, uint32_t x, uint32_t y)
{
	uint32_t end[2] = {x, y}, num[2];

	for (int i = 0; i < 2; i++) {
		struct topo_node *n = &b->t.node[end[i]];

		num[i] = 1;
		while (num[i] <= n->nports && n->port[num[i]].peer_node != TOPO_NONE)
			num[i]++;
		n->port[num[i]].peer_node = end[!i];
	}
	b->t.node[x].port[num[0]].peer_port = num[1];
	b->t.node[y].port[num[1]].peer_port = num[0];
}

static inline uint32_t tt_ca(struct tt *b, uint32_t sw)
{
	uint32_t n = tt_node(b, TOPO_CA, 1);

	tt_cable(b, n, sw);
	return n;
}

static inline void tt_ring(struct tt *b, uint32_t switches, uint32_t cas)
{
	tt_init(b, switches * (1 + cas));
	for (uint32_t i = 0; i < switches; i++)
		tt_switch(b);
	for (uint32_t i = 0; i < switches; i++)
		tt_cable(b, i, (i + 1) % switches);
	for (uint32_t i = 0; i < switches * cas; i++)
		tt_ca(b, i / cas);
}

static inline void tt_torus(struct tt *b, uint32_t x, uint32_t y, uint32_t z, uint32_t cas)
{
	uint32_t n = x * y * z;

	tt_init(b, n * (1 + cas));
	for (uint32_t i = 0; i < n; i++)
		tt_switch(b);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t a = i % x, c = i / x % y, d = i / x / y;

		if (x > 1)
			tt_cable(b, i, (a + 1) % x + x * (c + y * d));
		if (y > 1)
			tt_cable(b, i, a + x * ((c + 1) % y + y * d));
		if (z > 1)
			tt_cable(b, i, a + x * (c + y * ((d + 1) % z)));
	}
	for (uint32_t i = 0; i < n * cas; i++)
		tt_ca(b, i / cas);
}

/* Two levels: every leaf has a cable to each root. */
static inline void tt_tree2(struct tt *b, uint32_t roots, uint32_t leaves, uint32_t cas)
{
	tt_init(b, roots + leaves * (1 + cas));
	for (uint32_t i = 0; i < roots + leaves; i++)
		tt_switch(b);
	for (uint32_t l = 0; l < leaves; l++)
		for (uint32_t r = 0; r < roots; r++)
			tt_cable(b, roots + l, r);
	for (uint32_t i = 0; i < leaves * cas; i++)
		tt_ca(b, roots + i / cas);
}

/* Three levels of `2 * half` ports each: groups of `half` leaves and `half` middles. */
static inline void tt_tree3(struct tt *b, uint32_t half, uint32_t groups, uint32_t roots)
{
	uint32_t leaves = groups * half;

	tt_init(b, roots + 2 * leaves + leaves * half);
	for (uint32_t i = 0; i < roots + 2 * leaves; i++)
		tt_switch(b);
	for (uint32_t g = 0; g < groups; g++)
		for (uint32_t m = 0; m < half; m++) {
			uint32_t mid = roots + leaves + g * half + m;

			for (uint32_t l = 0; l < half; l++)
				tt_cable(b, roots + g * half + l, mid);
			for (uint32_t r = 0; r < half; r++)
				tt_cable(b, mid, (m * half + r) % roots);
		}
	for (uint32_t i = 0; i < leaves * half; i++)
		tt_ca(b, roots + i / half);
}

static const struct fab_options tt_options = {
	.model = HW_CX6, .caps.link_speed = 64, .caps.link_width = 2, .caps.max_mtu = IBV_MTU_4096};

#endif
