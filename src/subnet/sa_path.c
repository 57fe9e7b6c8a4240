/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the SA's PathRecords: the properties of a path over the present forwarding tables. A path
 * exists when packets arrive in both directions. sa.c calls this.
 */
#include "subnet/sa.h"
#include "hw/port.h"
#include "hw/world.h"

#include <string.h>

/* Component numbers. */
enum {
	PR_SERVICE_ID = 0,
	PR_SERVICE_ID_LOW,
	PR_DGID,
	PR_SGID,
	PR_DLID,
	PR_SLID,
	PR_TCLASS = 10,
	PR_REVERSIBLE,
	PR_NUMB_PATH,
	PR_PKEY,
	PR_QOS_CLASS,
	PR_MTU_SEL = 16,
	PR_MTU,
	PR_RATE_SEL,
	PR_RATE,
	PR_LIFE_SEL,
	PR_LIFE,
};
/* Service ID, traffic class and QoS class choose a level of service; there is one (OpenSM, too). */
#define PR_LEVEL (1 << PR_SERVICE_ID | 1 << PR_SERVICE_ID_LOW | 1 << PR_TCLASS | 1 << PR_QOS_CLASS)
#define PR_OWN                                                                                   \
	(PR_LEVEL | 1 << PR_DGID | 1 << PR_SGID | 1 << PR_DLID | 1 << PR_SLID |                  \
	 1 << PR_REVERSIBLE | 1 << PR_NUMB_PATH | 1 << PR_PKEY | 1 << PR_MTU_SEL | 1 << PR_MTU | \
	 1 << PR_RATE_SEL | 1 << PR_RATE | 1 << PR_LIFE_SEL | 1 << PR_LIFE)

#define PACKET_LIFE_TIME 18 /* 2^18 * 4.096 us, OpenSM's default */

/* Properties that limit a packet on its path. */
struct way {
	uint32_t mtu, rate;
	uint32_t cables; /* there and back */
};

static void narrow(struct way *w, const struct hw_port *p)
{
	uint32_t rate = sa_port_rate(p);

	if (p->active_mtu < w->mtu)
		w->mtu = p->active_mtu;
	if (ib_rate_gb10(rate) < ib_rate_gb10(w->rate))
		w->rate = rate;
}

static void sa_path_step(struct seg *s, uint32_t out, uint32_t in, void *arg)
{
	narrow(arg, hw_port(s, out));
	narrow(arg, hw_port(s, in));
	((struct way *)arg)->cables++;
}

/* Walks from one LID of a port to one of another, and back. */
static bool sa_path_walk(struct seg *s, uint32_t src, uint32_t slid, uint32_t dst, uint32_t dlid,
			 struct way *w)
{
	*w = (struct way){hw_port(s, src)->active_mtu, sa_port_rate(hw_port(s, src)), 0};
	return fab_walk(s, src, dlid, IB_PORT_ACTIVE, sa_path_step, w) == dst &&
	       fab_walk(s, dst, slid, IB_PORT_ACTIVE, sa_path_step, w) == src;
}

static bool sa_path_selected(const struct sa_call *c, const struct way *w, uint32_t life)
{
	const uint8_t *q = c->want;

	if (sa_has(c, PR_MTU_SEL) && sa_has(c, PR_MTU) &&
	    !sa_selected(LAYOUT_GET32(path_record, q, mtu_selector),
			 LAYOUT_GET32(path_record, q, mtu), w->mtu, NULL))
		return false;
	if (sa_has(c, PR_RATE_SEL) && sa_has(c, PR_RATE) &&
	    !sa_selected(LAYOUT_GET32(path_record, q, rate_selector),
			 LAYOUT_GET32(path_record, q, rate), w->rate, ib_rate_gb10))
		return false;
	return !sa_has(c, PR_LIFE_SEL) || !sa_has(c, PR_LIFE) ||
	       sa_selected(LAYOUT_GET32(path_record, q, packet_life_time_selector),
			   LAYOUT_GET32(path_record, q, packet_life_time), life, NULL);
}

/* The P_Key of a path, 0: none. */
static uint16_t sa_path_pkey_of(const struct sa_call *c, const struct hw_port *a,
				const struct hw_port *b)
{
	uint16_t pkey = LAYOUT_GET16(path_record, c->want, pkey);

	if (!sa_has(c, PR_PKEY))
		return sa_shared_pkey(a, b);
	return hw_ports_share_pkey(a, b, pkey) ? pkey : 0;
}

static void put_common(uint8_t *r, const struct way *w, uint32_t life, uint16_t pkey)
{
	LAYOUT_SET(path_record, r, reversible, 1);
	LAYOUT_SET(path_record, r, pkey, pkey);
	LAYOUT_SET(path_record, r, mtu_selector, SA_SEL_EXACTLY);
	LAYOUT_SET(path_record, r, mtu, w->mtu);
	LAYOUT_SET(path_record, r, rate_selector, SA_SEL_EXACTLY);
	LAYOUT_SET(path_record, r, rate, w->rate);
	LAYOUT_SET(path_record, r, packet_life_time_selector, SA_SEL_EXACTLY);
	LAYOUT_SET(path_record, r, packet_life_time, life);
}

/* Returns the number of cables on the path and back, plus 1; 0: no path is as the request says. */
static uint32_t path_make(const struct sa_call *c, uint32_t src, uint32_t slid, uint32_t dst,
			  uint32_t dlid, uint8_t *r)
{
	const struct hw_port *a = hw_port(c->s, src), *b = hw_port(c->s, dst);
	uint32_t life = src == dst ? 0 : PACKET_LIFE_TIME;
	uint16_t pkey = sa_path_pkey_of(c, a, b);
	struct way w;

	if (!pkey || !sa_path_walk(c->s, src, slid, dst, dlid, &w) ||
	    !sa_path_selected(c, &w, life))
		return 0;
	memset(r, 0, LAYOUT_SZ(path_record));
	memcpy(LAYOUT_IN(path_record, dgid, r),
	       sa_has(c, PR_DGID) ? LAYOUT_IN(path_record, dgid, c->want) : b->gid[0], 16);
	memcpy(LAYOUT_IN(path_record, sgid, r),
	       sa_has(c, PR_SGID) ? LAYOUT_IN(path_record, sgid, c->want) : a->gid[0], 16);
	LAYOUT_SET(path_record, r, dlid, dlid);
	LAYOUT_SET(path_record, r, slid, slid);
	put_common(r, &w, life, pkey);
	/* A hop limit makes the kernel add a GRH; 1 is still this subnet (cm_format_req()). */
	LAYOUT_SET(path_record, r, hop_limit, hw_setting(c->s, HW_SET_GRH));
	return w.cables + 1;
}

uint32_t sa_path_between(const struct sa_call *c, const struct sa_path_want *w, uint32_t src,
			 uint32_t slid, uint32_t dst, uint32_t dlid, uint8_t *r)
{
	struct sa_call one = *c;
	uint32_t n;

	one.want = w->record;
	one.mask = w->mask;
	n = path_make(&one, src, slid, dst, dlid, r);
	return n && sa_match(c->rec, w->mask & ~(uint64_t)PR_OWN, w->record, r) ? n : 0;
}

static bool one_path(struct sa_call *c, uint32_t src, uint32_t slid, uint32_t dst, uint32_t dlid)
{
	uint8_t r[LAYOUT_SZ(path_record)];
	uint32_t count = c->count;

	if (!path_make(c, src, slid, dst, dlid, r))
		return false;
	sa_emit(c, PR_OWN, r);
	return c->count > count;
}

/* An end of a path: a port and one of its LIDs; SEG_NONE: any. */
struct end {
	uint32_t port, lid;
};

/* All paths between two ports: each joins the n-th LID of one with the n-th of the other. */
static void paths(struct sa_call *c, uint32_t src, uint32_t slid, uint32_t dst, uint32_t dlid)
{
	const struct hw_port *a = hw_port(c->s, src), *b = hw_port(c->s, dst);
	uint32_t na = slid == SEG_NONE ? 1u << a->lmc : 1, nb = dlid == SEG_NONE ? 1u << b->lmc : 1;
	uint32_t max = c->method == MAD_METHOD_GET ? 1 : 127, n = 0;

	if (!a->lid || !b->lid)
		return;
	if (c->method != MAD_METHOD_GET && sa_has(c, PR_NUMB_PATH))
		max = LAYOUT_GET32(path_record, c->want, numb_path);
	for (uint32_t i = 0; i < (na > nb ? na : nb) && n < max && !sa_done(c); i++)
		n += one_path(c, src, slid == SEG_NONE ? a->lid + i % na : slid, dst,
			      dlid == SEG_NONE ? b->lid + i % nb : dlid);
}

static uint32_t port_by_lid(struct seg *s, uint32_t lid)
{
	seg_for_each_live (s, SEG_T_PORT, i)
		if (fab_port_has_lid(hw_port(s, i), lid))
			return i;
	return SEG_NONE;
}

/* osm_pr_get_end_points(): an unknown GID is an error, an unknown LID gives no record. */
static void find_end(struct sa_call *c, unsigned int gid_bit, const uint8_t *gid,
		     unsigned int lid_bit, uint32_t lid, struct end *e)
{
	*e = (struct end){SEG_NONE, SEG_NONE};
	if (sa_has(c, gid_bit)) {
		e->port = fab_port_by_gid(c->s, gid);
		if (e->port != SEG_NONE && hw_port_is_eth(hw_port(c->s, e->port)))
			e->port = SEG_NONE; /* outside of the subnet */
		if (e->port == SEG_NONE && !c->status)
			c->status = SA_STATUS_REQ_INVALID_GID;
	}
	if (sa_has(c, lid_bit)) {
		uint32_t port = port_by_lid(c->s, lid);

		if (port == SEG_NONE && !c->status)
			c->status = SA_STATUS_NO_RECORDS;
		else if (e->port != SEG_NONE && e->port != port && !c->status)
			c->status = SA_STATUS_REQ_INVALID;
		e->port = port;
		e->lid = lid;
	}
}

static bool is_end(const struct seg *s, uint32_t port)
{
	const struct hw_port *p = hw_port(s, port);

	return p->lid && p->state == IB_PORT_ACTIVE &&
	       (!p->num || fab_node(s, p->node)->type != FAB_SWITCH);
}

static void from_one(struct sa_call *c, uint32_t src, uint32_t slid, const struct end *to)
{
	if (to->port != SEG_NONE) {
		paths(c, src, slid, to->port, to->lid);
		return;
	}
	seg_for_each_live (c->s, SEG_T_PORT, i) {
		if (sa_done(c))
			return;
		if (is_end(c->s, i))
			paths(c, src, slid, i, SEG_NONE);
	}
}

/* A path to a group has the group's MTU, rate... (pr_process_multicast()) */
static void path_to_group(struct sa_call *c)
{
	const uint8_t *dgid = LAYOUT_IN(path_record, dgid, c->want);
	uint32_t src = sa_has(c, PR_SGID)
			       ? fab_port_by_gid(c->s, LAYOUT_IN(path_record, sgid, c->want))
			       : c->from;
	uint8_t r[LAYOUT_SZ(path_record)] = {0};

	if (src == SEG_NONE) {
		c->status = SA_STATUS_REQ_INVALID_GID;
		return;
	}
	seg_for_each_live (c->s, SEG_T_MCGRP, i) {
		const struct fab_mcgrp *g = seg_at(c->s, SEG_T_MCGRP, i);
		struct way w = {g->mtu, g->rate, 0};

		if (memcmp(g->mgid, dgid, 16) || !sa_path_selected(c, &w, g->life))
			continue;
		memcpy(LAYOUT_IN(path_record, dgid, r), dgid, 16);
		memcpy(LAYOUT_IN(path_record, sgid, r), hw_port(c->s, src)->gid[0], 16);
		LAYOUT_SET(path_record, r, dlid, FAB_MLID_FIRST + i - 1);
		LAYOUT_SET(path_record, r, slid, hw_port(c->s, src)->lid);
		LAYOUT_SET(path_record, r, flow_label, g->flow);
		LAYOUT_SET(path_record, r, hop_limit, g->hop);
		LAYOUT_SET(path_record, r, tclass, g->tclass);
		LAYOUT_SET(path_record, r, sl, g->sl);
		put_common(r, &w, g->life, (uint16_t)g->pkey);
		sa_emit(c, PR_OWN, r);
	}
}

static bool sa_path_valid(const struct sa_call *c)
{
	uint64_t mtu = LAYOUT_GET(path_record, c->want, mtu);
	uint64_t rate = LAYOUT_GET(path_record, c->want, rate);

	if (sa_has(c, PR_RATE_SEL) && sa_has(c, PR_RATE) && !ib_rate_gb10((uint32_t)rate))
		return false;
	return !sa_has(c, PR_MTU_SEL) || !sa_has(c, PR_MTU) || (mtu >= 1 && mtu <= 5);
}

static void path_records(struct sa_call *c)
{
	const uint8_t *q = c->want, *dgid = LAYOUT_IN(path_record, dgid, q);
	struct end from, to;

	if (!sa_path_valid(c)) {
		c->status = SA_STATUS_REQ_INVALID;
		return;
	}
	if (sa_has(c, PR_DGID) && dgid[0] == 0xff) {
		path_to_group(c);
		return;
	}
	find_end(c, PR_SGID, LAYOUT_IN(path_record, sgid, q), PR_SLID,
		 LAYOUT_GET32(path_record, q, slid), &from);
	find_end(c, PR_DGID, dgid, PR_DLID, LAYOUT_GET32(path_record, q, dlid), &to);
	if (c->status)
		return;
	if (from.port != SEG_NONE) {
		from_one(c, from.port, from.lid, &to);
		return;
	}
	seg_for_each_live (c->s, SEG_T_PORT, i) {
		if (sa_done(c))
			return;
		if (is_end(c->s, i))
			from_one(c, i, SEG_NONE, &to);
	}
}

const struct sa_row sa_path_rows[] = {
	{SA_ATTR_PATH_RECORD, LAYOUT_SZ(path_record), path_records, NULL, NULL, NULL},
	{0},
};
