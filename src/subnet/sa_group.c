/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the SA's multicast groups: joining, leaving and queries of MCMemberRecords (IBA 15.2.5.17;
 * where IBA leaves a choice, OpenSM's osm_sa_mcmember_record.c decides). The requester's thread
 * also updates the forwarding tables. sa.c calls this; it takes fab_subnet.lock.
 */
#include "subnet/sa.h"
#include "hw/port.h"
#include "hw/world.h"
#include "subnet/subnet.h"

#include <errno.h>
#include <string.h>
#include "wire/ib/pkey.h"

/* Component numbers. */
enum {
	MC_MGID,
	MC_PORT_GID,
	MC_QKEY,
	MC_MLID,
	MC_MTU_SEL,
	MC_MTU,
	MC_TCLASS,
	MC_PKEY,
	MC_RATE_SEL,
	MC_RATE,
	MC_LIFE_SEL,
	MC_LIFE,
	MC_SL,
	MC_FLOW,
	MC_HOP,
	MC_SCOPE,
	MC_JOIN,
	MC_PROXY,
};
#define BIT(n) (UINT64_C(1) << (n))
#define JOIN_NEEDS (BIT(MC_MGID) | BIT(MC_PORT_GID) | BIT(MC_JOIN))
#define CREATE_NEEDS \
	(JOIN_NEEDS | BIT(MC_QKEY) | BIT(MC_TCLASS) | BIT(MC_PKEY) | BIT(MC_FLOW) | BIT(MC_SL))

#define LIFE_TIME 18 /* 2^18 * 4.096 us */
#define SCOPE_LINK_LOCAL 2

static const uint8_t *mgid_of(const struct sa_call *c)
{
	return LAYOUT_IN(mc_member_record, mgid, c->want);
}

static const uint8_t *port_gid_of(const struct sa_call *c)
{
	return LAYOUT_IN(mc_member_record, port_gid, c->want);
}

#define WANT(c, f) (LAYOUT_GET32(mc_member_record, (c)->want, f))

static struct fab_mcgrp *group_by_mgid(struct seg *s, const uint8_t *mgid, uint32_t *idx)
{
	seg_for_each_live (s, SEG_T_MCGRP, i) {
		struct fab_mcgrp *g = seg_at(s, SEG_T_MCGRP, i);

		if (!memcmp(g->mgid, mgid, 16)) {
			*idx = i;
			return g;
		}
	}
	return NULL;
}

static bool in_group(const struct fab_mcmem *m, uint32_t idx, const struct fab_mcgrp *g)
{
	return m->group == idx && m->group_gen == g->gen;
}

static struct fab_mcmem *group_member(struct seg *s, uint32_t group, const struct fab_mcgrp *g,
				      const uint8_t *gid, uint32_t *idx)
{
	seg_for_each_live (s, SEG_T_MCMEM, i) {
		struct fab_mcmem *m = seg_at(s, SEG_T_MCMEM, i);

		if (in_group(m, group, g) && !memcmp(m->gid, gid, 16)) {
			*idx = i;
			return m;
		}
	}
	return NULL;
}

static void group_put(const struct fab_mcgrp *g, uint32_t idx, const struct fab_mcmem *m,
		      uint8_t *r)
{
	memset(r, 0, LAYOUT_SZ(mc_member_record));
	memcpy(LAYOUT_IN(mc_member_record, mgid, r), g->mgid, 16);
	LAYOUT_SET(mc_member_record, r, qkey, g->qkey);
	LAYOUT_SET(mc_member_record, r, mlid, FAB_MLID_FIRST + idx - 1);
	LAYOUT_SET(mc_member_record, r, mtu_selector, SA_SEL_EXACTLY);
	LAYOUT_SET(mc_member_record, r, mtu, g->mtu);
	LAYOUT_SET(mc_member_record, r, tclass, g->tclass);
	LAYOUT_SET(mc_member_record, r, pkey, g->pkey);
	LAYOUT_SET(mc_member_record, r, rate_selector, SA_SEL_EXACTLY);
	LAYOUT_SET(mc_member_record, r, rate, g->rate);
	LAYOUT_SET(mc_member_record, r, packet_life_time_selector, SA_SEL_EXACTLY);
	LAYOUT_SET(mc_member_record, r, packet_life_time, g->life);
	LAYOUT_SET(mc_member_record, r, sl, g->sl);
	LAYOUT_SET(mc_member_record, r, flow_label, g->flow);
	LAYOUT_SET(mc_member_record, r, hop_limit, g->hop);
	LAYOUT_SET(mc_member_record, r, scope, g->scope);
	if (!m)
		return;
	memcpy(LAYOUT_IN(mc_member_record, port_gid, r), m->gid, 16);
	LAYOUT_SET(mc_member_record, r, join_state, m->join_state);
	LAYOUT_SET(mc_member_record, r, proxy_join, m->proxy);
}

/* ---- checks of requested values */

/* MTU, rate and life time as the request gives them. */
static bool values_are(const struct sa_call *c)
{
	if (sa_has(c, MC_RATE_SEL) && sa_has(c, MC_RATE) && !ib_rate_gb10(WANT(c, rate)))
		return false;
	return !sa_has(c, MC_MTU_SEL) || !sa_has(c, MC_MTU) ||
	       (WANT(c, mtu) >= 1 && WANT(c, mtu) <= 5);
}

static bool group_fits(const struct sa_call *c, const struct fab_mcgrp *g)
{
	uint32_t pkey = WANT(c, pkey);

	if ((sa_has(c, MC_QKEY) && WANT(c, qkey) != g->qkey) ||
	    (sa_has(c, MC_TCLASS) && WANT(c, tclass) != g->tclass) ||
	    (sa_has(c, MC_SL) && WANT(c, sl) != g->sl) ||
	    (sa_has(c, MC_FLOW) && WANT(c, flow_label) != g->flow) ||
	    (sa_has(c, MC_HOP) && WANT(c, hop_limit) != g->hop))
		return false;
	if (sa_has(c, MC_PKEY) && !ib_pkey_match(pkey, g->pkey))
		return false;
	if (sa_has(c, MC_MTU_SEL) &&
	    !sa_selected(WANT(c, mtu_selector), WANT(c, mtu), g->mtu, NULL))
		return false;
	return !sa_has(c, MC_RATE_SEL) ||
	       sa_selected(WANT(c, rate_selector), WANT(c, rate), g->rate, ib_rate_gb10);
}

/* o15-0.1.5; IPoIB's signatures are allowed. */
static bool mgid_is_valid(const uint8_t *mgid)
{
	uint32_t signature = be16_load(mgid + 2);

	if (mgid[0] != 0xff)
		return false;
	if (signature == 0x401b || signature == 0x601b)
		return true;
	return !(mgid[1] & 0xe0) && !(signature == 0xa01b && (mgid[1] & 0xf) == SCOPE_LINK_LOCAL);
}

/* The largest value that the port supports and the selector allows; 0: none. */
static uint32_t choose_mtu(const struct sa_call *c, const struct hw_port *p)
{
	uint32_t want = WANT(c, mtu), sel = WANT(c, mtu_selector);

	if (!sa_has(c, MC_MTU) || !sa_has(c, MC_MTU_SEL) || sel == SA_SEL_LARGEST)
		return p->active_mtu;
	if (sel == SA_SEL_GREATER)
		return want < p->active_mtu ? p->active_mtu : 0;
	if (sel == SA_SEL_LESS)
		return want > p->active_mtu ? p->active_mtu : want - 1;
	return want;
}

static uint32_t rate_below(uint32_t rate)
{
	uint32_t best = 0;

	for (uint32_t r = 2; r < 64; r++)
		if (ib_rate_gb10(r) < ib_rate_gb10(rate) && ib_rate_gb10(r) > ib_rate_gb10(best))
			best = r;
	return best;
}

static uint32_t choose_rate(const struct sa_call *c, const struct hw_port *p)
{
	uint32_t want = WANT(c, rate), sel = WANT(c, rate_selector), mine = sa_port_rate(p);

	if (!sa_has(c, MC_RATE) || !sa_has(c, MC_RATE_SEL) || sel == SA_SEL_LARGEST)
		return mine;
	if (sel == SA_SEL_GREATER)
		return ib_rate_gb10(want) < ib_rate_gb10(mine) ? mine : 0;
	if (sel == SA_SEL_LESS)
		return ib_rate_gb10(want) > ib_rate_gb10(mine) ? mine : rate_below(want);
	return want;
}

/* ---- joining */

static void make_mgid(struct seg *s, struct fab_mcgrp *g)
{
	uint32_t idx;

	do {
		memset(g->mgid, 0, sizeof(g->mgid));
		g->mgid[0] = 0xff;
		g->mgid[1] = (uint8_t)(0x10 | g->scope);
		be16_store(g->mgid + 2, 0xa01b);
		be64_store(g->mgid + 4, UINT64_C(0xfe80000000000000));
		be32_store(g->mgid + 12, ++fab_subnet(s)->mc_mgids);
	} while (group_by_mgid(s, g->mgid, &idx));
}

/* Makes a group as the request describes it, not in the table yet. 0 or a status. */
static uint16_t describe(const struct sa_call *c, const struct hw_port *p, struct fab_mcgrp *g)
{
	static const uint8_t none[16];
	bool any = !memcmp(mgid_of(c), none, 16);

	if (!(WANT(c, join_state) & (SA_JOIN_FULL | SA_JOIN_SEND_ONLY_FULL)))
		return SA_STATUS_REQ_INVALID; /* o15-0.1.9 */
	if ((c->mask & CREATE_NEEDS) != CREATE_NEEDS)
		return SA_STATUS_REQ_INSUFFICIENT_COMPONENTS;
	if (!any && !mgid_is_valid(mgid_of(c)))
		return SA_STATUS_REQ_INVALID;
	*g = (struct fab_mcgrp){
		.qkey = WANT(c, qkey),
		.mtu = choose_mtu(c, p),
		.rate = choose_rate(c, p),
		.life = sa_has(c, MC_LIFE) && WANT(c, packet_life_time) ? WANT(c, packet_life_time)
									: LIFE_TIME,
		.tclass = WANT(c, tclass),
		.pkey = WANT(c, pkey),
		.sl = WANT(c, sl),
		.flow = WANT(c, flow_label),
		.hop = sa_has(c, MC_HOP) ? WANT(c, hop_limit) : 0,
		.scope = sa_has(c, MC_SCOPE) ? WANT(c, scope)
			 : any               ? SCOPE_LINK_LOCAL
					     : mgid_of(c)[1] & 0xfu,
	};
	memcpy(g->mgid, mgid_of(c), 16);
	if (any)
		make_mgid(c->s, g);
	return g->mtu && g->rate ? MAD_STATUS_OK : SA_STATUS_REQ_INVALID;
}

/* May that port be in the group? */
static bool port_can(const struct fab_mcgrp *g, const struct hw_port *p)
{
	return p->active_mtu >= g->mtu && ib_rate_gb10(sa_port_rate(p)) >= ib_rate_gb10(g->rate) &&
	       hw_port_has_pkey(p, (uint16_t)g->pkey);
}

/*
 * o15-0.2.1: a member may be changed by its own port, or by its partition if another port joined
 * it.
 */
static bool may_change(const struct sa_call *c, const struct fab_mcgrp *g,
		       const struct fab_mcmem *m)
{
	return m->proxy ? hw_port_has_pkey(hw_port(c->s, c->from), (uint16_t)g->pkey)
			: m->port == c->from;
}

/* Takes the first free MLID, or the requested one. 0: none is free. */
static uint32_t group_enter(struct sa_call *c, const struct fab_mcgrp *g)
{
	struct fab_subnet *sub = fab_subnet(c->s);
	uint32_t asked = sa_has(c, MC_MLID) ? WANT(c, mlid) - FAB_MLID_FIRST + 1 : 0;
	struct fab_mcgrp *to;
	uint32_t i = 1, gen;

	if (asked >= 1 && asked <= FAB_MLIDS &&
	    !seg_alloc_at(c->s, SEG_T_MCGRP, SEG_OWNER_DEVICE, asked))
		i = asked;
	else
		while (i <= FAB_MLIDS && seg_alloc_at(c->s, SEG_T_MCGRP, SEG_OWNER_DEVICE, i))
			i++;
	if (i > FAB_MLIDS)
		return 0;
	if (i >= sub->mc_top)
		sub->mc_top = i + 1;
	to = seg_at(c->s, SEG_T_MCGRP, i);
	gen = to->gen;
	*to = *g;
	to->gen = gen;
	return i;
}

static bool has_full_member(struct seg *s, uint32_t group, const struct fab_mcgrp *g)
{
	seg_for_each_live (s, SEG_T_MCMEM, i) {
		const struct fab_mcmem *m = seg_at(s, SEG_T_MCMEM, i);

		if (in_group(m, group, g) &&
		    (m->join_state & (SA_JOIN_FULL | SA_JOIN_SEND_ONLY_FULL)))
			return true;
	}
	return false;
}

/* A group exists as long as it has a full member (o15-0.1.15), or is the subnet's own. */
static void drop_group(struct seg *s, uint32_t group, struct fab_mcgrp *g)
{
	if (has_full_member(s, group, g))
		return;
	seg_for_each_live (s, SEG_T_MCMEM, i)
		if (in_group(seg_at(s, SEG_T_MCMEM, i), group, g))
			seg_free(s, SEG_T_MCMEM, i);
	if (!g->well_known)
		seg_free(s, SEG_T_MCGRP, group);
}

static uint16_t group_add(struct sa_call *c, uint32_t group, const struct fab_mcgrp *g,
			  uint32_t port, struct fab_mcmem *m)
{
	uint32_t i;

	if (!m) {
		if (seg_alloc(c->s, SEG_T_MCMEM, SEG_OWNER_DEVICE, &i))
			return SA_STATUS_NO_RESOURCES;
		m = seg_at(c->s, SEG_T_MCMEM, i);
		m->group_gen = g->gen;
		m->port = port;
		memcpy(m->gid, port_gid_of(c), 16);
		m->proxy = port != c->from;
		m->group = group;
	}
	m->join_state |= WANT(c, join_state);
	return fab_mcast_update(c->s, group) ? SA_STATUS_NO_RESOURCES : MAD_STATUS_OK;
}

/*
 * Tells subscribers whether the group exists, if they do not know. Stored afterwards: if this
 * process dies before, sa_groups_repair() tells them, some perhaps again.
 */
static void group_tell(struct seg *s, uint32_t group, struct fab_mcgrp *g)
{
	bool full = has_full_member(s, group, g);

	if (full == !!g->told)
		return;
	sa_inform(s, full ? TRAP_MCAST_CREATED : TRAP_MCAST_DELETED, g->mgid);
	g->told = full;
}

static uint16_t group_join(struct sa_call *c, uint8_t *r)
{
	uint32_t port = fab_port_by_gid(c->s, port_gid_of(c)), group = 0, mi;
	const struct hw_port *p;
	struct fab_mcgrp made, *g = group_by_mgid(c->s, mgid_of(c), &group);
	struct fab_mcmem *m = NULL;
	uint16_t status = MAD_STATUS_OK;

	if (port == SEG_NONE)
		return SA_STATUS_REQ_INVALID;
	p = hw_port(c->s, port);
	if (port != c->from && !sa_shared_pkey(p, hw_port(c->s, c->from)))
		return SA_STATUS_REQ_INVALID;
	if (sa_has(c, MC_PKEY) && !ib_pkey_valid(WANT(c, pkey)))
		return SA_STATUS_REQ_INVALID;
	if (!g)
		status = describe(c, p, &made);
	if (status)
		return status;
	if (!group_fits(c, g ? g : &made) || !port_can(g ? g : &made, p) || !WANT(c, join_state))
		return SA_STATUS_REQ_INVALID;
	if (g)
		m = group_member(c->s, group, g, port_gid_of(c), &mi);
	if (m && !may_change(c, g, m))
		return SA_STATUS_REQ_INVALID;
	if (!g) {
		group = group_enter(c, &made);
		if (!group)
			return SA_STATUS_NO_RESOURCES;
		g = seg_at(c->s, SEG_T_MCGRP, group);
	}
	status = group_add(c, group, g, port, m);
	m = group_member(c->s, group, g, port_gid_of(c), &mi);
	group_put(g, group, m, r);
	if (m)
		group_tell(c->s, group, g);
	/* No room for the group's first member. */
	if (!m) {
		drop_group(c->s, group, g);
		fab_mcast_update(c->s, group);
	}
	return status;
}

/* ---- leaving */

/*
 * A holder of the lock has died. An unfinished group has no full member, an unfinished member no
 * group. The tables are rebuilt.
 */
void sa_groups_repair(struct seg *s)
{
	seg_for_each_live (s, SEG_T_MCMEM, i) {
		const struct fab_mcmem *m = seg_at(s, SEG_T_MCMEM, i);
		const struct fab_mcgrp *g = seg_live(s, SEG_T_MCGRP, m->group);

		if (!g || g->gen != m->group_gen || !m->join_state)
			seg_free(s, SEG_T_MCMEM, i);
	}
	for (uint32_t i = 1; i < fab_subnet(s)->mc_top; i++) {
		if (seg_live(s, SEG_T_MCGRP, i)) {
			group_tell(s, i, seg_at(s, SEG_T_MCGRP, i));
			drop_group(s, i, seg_at(s, SEG_T_MCGRP, i));
		}
		fab_mcast_update(s, i);
	}
}

static uint16_t group_leave(struct sa_call *c, uint8_t *r)
{
	uint32_t group = 0, i = 0, state = WANT(c, join_state);
	struct fab_mcgrp *g = group_by_mgid(c->s, mgid_of(c), &group);
	struct fab_mcmem *m = g ? group_member(c->s, group, g, port_gid_of(c), &i) : NULL;

	/* o15-0.1.14 */
	if (!m || !(m->join_state & state) || (state & ~m->join_state) || !may_change(c, g, m))
		return SA_STATUS_REQ_INVALID;
	m->join_state &= ~state;
	group_put(g, group, m, r);
	if (!m->join_state)
		seg_free(c->s, SEG_T_MCMEM, i);
	group_tell(c->s, group, g);
	drop_group(c->s, group, g);
	return fab_mcast_update(c->s, group) ? SA_STATUS_NO_RESOURCES : MAD_STATUS_OK;
}

/* ---- IPoIB's broadcast groups, as OpenSM makes it for each partition with IPoIB
 * (osm_prtn_config.c) */

#define IPOIB_QKEY 0x0b1b
#define IPOIB_MTU 4  /* OSM_DEFAULT_MGRP_MTU: 2048 */
#define IPOIB_RATE 3 /* OSM_DEFAULT_MGRP_RATE: 10 Gb/s */

static int partition_group(struct seg *s, uint32_t index, uint16_t pkey, uint32_t max_mtu)
{
	static const uint8_t mgid[16] = {0xff, 0x12, 0x40, 0x1b, [12] = 0xff, 0xff, 0xff, 0xff};
	struct fab_mcgrp *g;

	if (seg_alloc_at(s, SEG_T_MCGRP, SEG_OWNER_DEVICE, index))
		return -ENOSPC;
	g = seg_at(s, SEG_T_MCGRP, index);
	memcpy(g->mgid, mgid, sizeof(mgid));
	be16_store(g->mgid + 4, pkey);
	g->qkey = IPOIB_QKEY;
	g->mtu = max_mtu < IPOIB_MTU ? max_mtu : IPOIB_MTU;
	g->rate = IPOIB_RATE;
	g->life = LIFE_TIME;
	g->pkey = pkey;
	g->scope = SCOPE_LINK_LOCAL;
	g->well_known = 1;
	fab_subnet(s)->mc_top = index + 1;
	return 0;
}

int fab_ipoib_group(struct seg *s, uint32_t max_mtu)
{
	uint32_t least = hw_setting(s, HW_SET_MTU);
	int r;

	if (least && least < max_mtu)
		max_mtu = least;
	r = partition_group(s, 1, 0xffff, max_mtu);
	return r || !hw_setting(s, HW_SET_PKEYS) ? r : partition_group(s, 2, HW_PKEY_FULL, max_mtu);
}

/* ---- requests */

/*
 * Uses the subnet's prefix, which a former manager may have set, or the default prefix, which is
 * always valid.
 */
static bool is_of_subnet(const struct sa_call *c, const uint8_t *gid)
{
	const struct hw_port *sm = hw_port(c->s, fab_subnet(c->s)->sm_port);
	uint64_t prefix = be64_load(gid);

	return prefix == UINT64_C(0xfe80000000000000) || (sm && prefix == sm->gid_prefix);
}

static void group_change(struct sa_call *c, uint16_t (*fn)(struct sa_call *c, uint8_t *r))
{
	uint8_t r[LAYOUT_SZ(mc_member_record)];

	if ((c->mask & JOIN_NEEDS) != JOIN_NEEDS)
		c->status = SA_STATUS_REQ_INSUFFICIENT_COMPONENTS;
	else if (!values_are(c))
		c->status = SA_STATUS_REQ_INVALID;
	else if (!is_of_subnet(c, port_gid_of(c)))
		c->status = SA_STATUS_REQ_INVALID_GID;
	if (!c->status && fab_subnet_lock(c->s))
		c->status = MAD_STATUS_BUSY;
	if (c->status)
		return;
	c->status = fn(c, r);
	fab_subnet_unlock(c->s);
	sa_emit(c, UINT64_MAX, r);
}

static void join_request(struct sa_call *c)
{
	group_change(c, group_join);
}

static void leave_request(struct sa_call *c)
{
	group_change(c, group_leave);
}

static bool member_fits(const struct sa_call *c, const struct fab_mcmem *m)
{
	return (!sa_has(c, MC_PORT_GID) || !memcmp(m->gid, port_gid_of(c), 16)) &&
	       (!sa_has(c, MC_JOIN) || m->join_state == WANT(c, join_state)) &&
	       (!sa_has(c, MC_PROXY) || m->proxy == WANT(c, proxy_join));
}

/* A requester that does not know the SM_Key gets groups, not members. */
static void group_records(struct sa_call *c, uint32_t idx, const struct fab_mcgrp *g)
{
	uint8_t r[LAYOUT_SZ(mc_member_record)];
	bool any = false;

	seg_for_each_live (c->s, SEG_T_MCMEM, i) {
		const struct fab_mcmem *m = seg_at(c->s, SEG_T_MCMEM, i);

		if (!in_group(m, idx, g) || !member_fits(c, m))
			continue;
		any = true;
		if (!c->trusted)
			break;
		group_put(g, idx, m, r);
		sa_emit(c, UINT64_MAX, r);
	}
	if (c->trusted || (!any && (sa_has(c, MC_PORT_GID) || sa_has(c, MC_JOIN))))
		return;
	group_put(g, idx, NULL, r);
	sa_emit(c, UINT64_MAX, r);
}

static void group_query(struct sa_call *c)
{
	if (!values_are(c)) {
		c->status = SA_STATUS_REQ_INVALID;
		return;
	}
	seg_for_each_live (c->s, SEG_T_MCGRP, i) {
		const struct fab_mcgrp *g = seg_at(c->s, SEG_T_MCGRP, i);

		if ((sa_has(c, MC_MGID) && memcmp(g->mgid, mgid_of(c), 16)) ||
		    (sa_has(c, MC_MLID) && WANT(c, mlid) != FAB_MLID_FIRST + i - 1) ||
		    (sa_has(c, MC_SCOPE) && WANT(c, scope) != g->scope) ||
		    !hw_port_has_pkey(hw_port(c->s, c->from), (uint16_t)g->pkey) ||
		    !group_fits(c, g))
			continue;
		group_records(c, i, g);
	}
}

const struct sa_row sa_group_rows[] = {
	{SA_ATTR_MC_MEMBER_RECORD, LAYOUT_SZ(mc_member_record), group_query, join_request,
	 leave_request, NULL},
	{0},
};
