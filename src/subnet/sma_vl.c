/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the tables of virtual lanes (IBA 14.2.5.8, 14.2.5.9). They are stored and returned; the data
 * path has no lanes.
 */
#include "subnet/sma.h"
#include "hw/port.h"

#include <string.h>

#define ARB_LEN 8 /* entries of each table: PortInfo:VLArbitrationHighCap, ...LowCap */

/* Default until a manager sets it: all lanes in turn. */
static void sl2vl_default(const struct hw_port *p, uint8_t *d)
{
	uint32_t vls = p->vl_cap < 2 ? 1 : 1u << (p->vl_cap - 1);

	for (uint32_t i = 0; i < 8; i++)
		d[i] = (uint8_t)((2 * i % vls) << 4 | (2 * i + 1) % vls);
}

/*
 * Modifier: input and output port of a switch. An adapter has one table for each port and ignores
 * the modifier. False: no such ports.
 */
static bool sl2vl_of(const struct fab_mad_call *c, uint32_t *port, uint32_t *in)
{
	const struct fab_node *n = sma_node(c);

	*in = 0;
	*port = c->port;
	if (n->type != FAB_SWITCH)
		return true;
	*in = c->attr_mod >> 8;
	*port = fab_node_port(n, c->attr_mod & 0xff);
	return *in <= n->nports && *port != SEG_NONE;
}

static uint8_t *sl2vl_find(const struct fab_mad_call *c, const struct hw_port *p, uint32_t in)
{
	uint32_t i = p->sl2vl;

	while (i) {
		struct fab_sl2vl *t = seg_at(c->s, SEG_T_SL2VL, i);

		if (in - t->first < FAB_SL2VL_INPUTS)
			return t->vl[in - t->first];
		i = t->next;
	}
	return NULL;
}

static uint8_t *sl2vl_make(const struct fab_mad_call *c, struct hw_port *p, uint32_t in)
{
	struct fab_sl2vl *t;
	uint32_t i;

	if (seg_alloc(c->s, SEG_T_SL2VL, SEG_OWNER_DEVICE, &i))
		return NULL;
	t = seg_at(c->s, SEG_T_SL2VL, i);
	t->first = in / FAB_SL2VL_INPUTS * FAB_SL2VL_INPUTS;
	t->next = p->sl2vl;
	for (uint32_t k = 0; k < FAB_SL2VL_INPUTS; k++)
		sl2vl_default(p, t->vl[k]);
	p->sl2vl = i;
	return t->vl[in - t->first];
}

uint16_t sma_get_sl2vl(const struct fab_mad_call *c)
{
	const struct hw_port *p;
	const uint8_t *t;
	uint32_t port, in;

	if (!sl2vl_of(c, &port, &in))
		return MAD_STATUS_BAD_VALUE;
	p = hw_port(c->s, port);
	t = sl2vl_find(c, p, in);
	memset(c->data, 0, SMP_DATA_SIZE);
	if (t)
		memcpy(c->data, t, LAYOUT_SZ(sl2vl));
	else
		sl2vl_default(p, c->data);
	return MAD_STATUS_OK;
}

uint16_t sma_set_sl2vl(const struct fab_mad_call *c)
{
	struct hw_port *p;
	uint32_t port, in;
	uint8_t *t;

	if (!sl2vl_of(c, &port, &in))
		return MAD_STATUS_BAD_VALUE;
	p = hw_port(c->s, port);
	t = sl2vl_find(c, p, in);
	if (!t)
		t = sl2vl_make(c, p, in);
	if (!t)
		return MAD_STATUS_BUSY;
	memcpy(t, c->data, LAYOUT_SZ(sl2vl));
	return sma_get_sl2vl(c);
}

/*
 * Modifier: the part of the table (enum vl_arb_part), and a switch's port. The tables are short, so
 * only their first halves exist.
 */
static bool vl_arb_of(const struct fab_mad_call *c, uint32_t *port, uint32_t *part)
{
	const struct fab_node *n = sma_node(c);

	*part = c->attr_mod >> 16;
	*port = n->type == FAB_SWITCH ? fab_node_port(n, c->attr_mod & 0xffff) : c->port;
	return *port != SEG_NONE && (*part == VL_ARB_LOW || *part == VL_ARB_HIGH);
}

/* The low table has a weight for all lanes, the high table for the first lane only. */
static void vl_arb_default(const struct hw_port *p, uint32_t part, uint8_t *d)
{
	uint32_t vls = p->vl_cap < 2 ? 1 : 1u << (p->vl_cap - 1);

	for (uint32_t vl = 0; vl < vls && vl < ARB_LEN; vl++) {
		d[2 * vl] = (uint8_t)vl;
		d[2 * vl + 1] = part == VL_ARB_LOW || !vl ? 4 : 0;
	}
}

uint16_t sma_get_vl_arb(const struct fab_mad_call *c)
{
	const struct hw_port *p;
	uint32_t port, part;

	if (!vl_arb_of(c, &port, &part))
		return MAD_STATUS_BAD_VALUE;
	p = hw_port(c->s, port);
	memset(c->data, 0, SMP_DATA_SIZE);
	if (p->vl_arb)
		memcpy(c->data,
		       ((struct fab_vl_arb *)seg_at(c->s, SEG_T_VLARB, p->vl_arb))->part[part - 1],
		       2 * ARB_LEN);
	else
		vl_arb_default(p, part, c->data);
	return MAD_STATUS_OK;
}

uint16_t sma_set_vl_arb(const struct fab_mad_call *c)
{
	struct fab_vl_arb *t;
	struct hw_port *p;
	uint32_t port, part, i;

	if (!vl_arb_of(c, &port, &part))
		return MAD_STATUS_BAD_VALUE;
	p = hw_port(c->s, port);
	if (!p->vl_arb) {
		if (seg_alloc(c->s, SEG_T_VLARB, SEG_OWNER_DEVICE, &i))
			return MAD_STATUS_BUSY;
		t = seg_at(c->s, SEG_T_VLARB, i);
		vl_arb_default(p, VL_ARB_LOW, t->part[VL_ARB_LOW - 1]);
		vl_arb_default(p, VL_ARB_HIGH, t->part[VL_ARB_HIGH - 1]);
		p->vl_arb = i;
	}
	t = seg_at(c->s, SEG_T_VLARB, p->vl_arb);
	memcpy(t->part[part - 1], c->data, 2 * ARB_LEN);
	return sma_get_vl_arb(c);
}
