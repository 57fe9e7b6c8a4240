/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns what pictures need to know beside the topology: the states of cables, and the level of each
 * switch. Calls nothing of a segment. The writers of pictures, the supervisor and the command line
 * call it.
 */
#include "topo/picture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "wire/ib/link.h"
#include "wire/ib/port.h"

enum picture_cable picture_cable(const struct picture *p, uint32_t node, uint32_t num)
{
	const struct topo_port *at = &p->t->node[node].port[num];
	const struct picture_port *a = picture_port(p, node, num);
	const struct picture_port *b = picture_port(p, at->peer_node, at->peer_port);

	if (!a->state || !b->state)
		return PICTURE_UP;
	if (a->pulled)
		return PICTURE_PULLED;
	if (a->phys == IB_PHYS_DISABLED || b->phys == IB_PHYS_DISABLED)
		return PICTURE_DISABLED;
	if (a->phys != IB_PHYS_LINK_UP || b->phys != IB_PHYS_LINK_UP)
		return PICTURE_DOWN;
	return a->state == IB_PORT_ACTIVE && b->state == IB_PORT_ACTIVE ? PICTURE_UP : PICTURE_INIT;
}

const char *picture_cable_name(enum picture_cable c)
{
	static const char *const name[] = {"", "not active", "down", "disabled", "pulled"};

	return name[c];
}

bool picture_first_end(const struct topo *t, uint32_t node, uint32_t num)
{
	const struct topo_port *p = &t->node[node].port[num];

	return p->peer_node != TOPO_NONE &&
	       (p->peer_node > node || (p->peer_node == node && p->peer_port >= num));
}

const char *picture_rate(uint32_t width, uint32_t speed, char text[16])
{
	const struct ib_width *w = ib_width(width);
	const struct ib_speed *v = ib_speed(speed);

	text[0] = '\0';
	if (w || v)
		snprintf(text, 16, "%s%s", w ? w->name : "??", v ? v->name : "???");
	return text;
}

/* ---- levels */

/* Few hosts at a switch with many other cables (a server of the managers) make no leaf. */
static bool leaf(const struct topo *t, const struct topo_node *n, bool strict)
{
	uint32_t hosts = 0, others = 0;

	for (uint32_t i = 1; n->type == TOPO_SWITCH && i <= n->nports; i++) {
		uint32_t peer = n->port[i].peer_node;

		if (peer != TOPO_NONE && t->node[peer].type == TOPO_CA)
			hosts++;
		else if (peer != TOPO_NONE)
			others++;
	}
	return hosts && (!strict || hosts * 2 >= others);
}

/* Breadth first from the leaves. Switches that no leaf reaches count as leaves. */
static void spread(struct picture *p, bool strict, uint32_t *queue)
{
	const struct topo *t = p->t;
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->nnodes; i++) {
		p->node[i].level = 0;
		if (!leaf(t, &t->node[i], strict))
			continue;
		p->node[i].level = 1;
		queue[n++] = i;
	}
	for (uint32_t at = 0; at < n; at++) {
		const struct topo_node *sw = &t->node[queue[at]];

		for (uint32_t k = 1; k <= sw->nports; k++) {
			uint32_t peer = sw->port[k].peer_node;

			if (peer == TOPO_NONE || p->node[peer].level ||
			    t->node[peer].type != TOPO_SWITCH)
				continue;
			p->node[peer].level = p->node[queue[at]].level + 1;
			queue[n++] = peer;
		}
	}
	for (uint32_t i = 0; i < t->nnodes; i++)
		if (t->node[i].type == TOPO_SWITCH && !p->node[i].level)
			p->node[i].level = 1;
}

/* The number of levels; 0: some cable joins two different switches of one level. */
static uint32_t count_levels(const struct picture *p)
{
	const struct topo *t = p->t;
	uint32_t top = 0;

	for (uint32_t i = 0; i < t->nnodes; i++) {
		const struct topo_node *n = &t->node[i];

		if (p->node[i].level > top)
			top = p->node[i].level;
		for (uint32_t k = 1; n->type == TOPO_SWITCH && k <= n->nports; k++) {
			uint32_t peer = n->port[k].peer_node;

			if (peer != TOPO_NONE && peer != i && t->node[peer].type == TOPO_SWITCH &&
			    p->node[peer].level == p->node[i].level)
				return 0;
		}
	}
	return top + 1;
}

static int find_levels(struct picture *p)
{
	uint32_t *queue = calloc(p->t->nnodes + 1, sizeof(*queue));

	if (!queue)
		return -ENOMEM;
	spread(p, false, queue);
	p->levels = count_levels(p);
	if (!p->levels) {
		spread(p, true, queue);
		p->levels = count_levels(p);
	}
	free(queue);
	return 0;
}

/* ---- the whole */

/* Adapters of a host are numbered in their order, as softhca numbers its devices. */
static int number_devices(struct picture *p)
{
	uint32_t *next = calloc(p->t->nhosts + 1, sizeof(*next));

	if (!next)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->t->nnodes; i++)
		if (p->t->node[i].host < p->t->nhosts)
			snprintf(p->node[i].device, sizeof(p->node[i].device), "mlx5_%u",
				 next[p->t->node[i].host]++);
	free(next);
	return 0;
}

int picture_init(struct picture *p, const struct topo *t)
{
	size_t ports = 1;

	for (uint32_t i = 0; i < t->nnodes; i++)
		ports += t->node[i].nports + 1;
	*p = (struct picture){.t = t,
			      .port = calloc(ports, sizeof(*p->port)),
			      .node = calloc(t->nnodes + 1, sizeof(*p->node))};
	if (!p->port || !p->node || number_devices(p) < 0 || find_levels(p) < 0) {
		picture_finish(p);
		return -ENOMEM;
	}
	return 0;
}

void picture_finish(struct picture *p)
{
	free(p->port);
	free(p->node);
	*p = (struct picture){0};
}
