/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns subscriptions (InformInfo) and what is forwarded to them: notices that arrive as MAD traps,
 * and those of the manager itself. Where IBA 13.4.8.3 and 13.4.11 leave a choice, OpenSM's
 * osm_inform.c and osm_sa_informinfo.c decide. fabric/notice.c sends the reports. This
 * file takes fab_subnet.lock.
 */
#include "subnet/sa.h"

#include <string.h>
#include "fabric/notice.h"
#include "hw/port.h"
#include "subnet/subnet.h"

/* InformInfo:TrapNumber of security traps, which only trusted requesters may get. */
#define TRAP_SECURITY_FIRST 256
#define TRAP_SECURITY_LAST 259

/* Wildcards of InformInfo. */
#define ANY_LID 0xffff
#define ANY_TYPE 0xffff
#define ANY_TRAP 0xffff
#define ANY_PRODUCER 0xffffff
#define PRODUCER_MANAGER 4 /* Notice:ProducerType of class managers */

#define LID_RANGE_MAX (FAB_LIDS - 1)

static struct fab_sarec *at(struct seg *s, uint32_t i)
{
	struct fab_sarec *r = seg_at(s, SEG_T_SAREC, i);

	return r->attr_id == SA_ATTR_INFORM_INFO_RECORD ? r : NULL;
}

static const uint8_t *info_of(const struct fab_sarec *r)
{
	return LAYOUT_IN(inform_info_record, inform_info, r->record);
}

static bool has_gid(const uint8_t *info)
{
	static const uint8_t none[16];

	return memcmp(LAYOUT_IN(inform_info, gid, info), none, 16) != 0;
}

static uint32_t range_end(const uint8_t *info)
{
	uint32_t end = LAYOUT_GET32(inform_info, info, lid_range_end);

	return end ? end : LAYOUT_GET32(inform_info, info, lid_range_begin);
}

static uint32_t inform_port(struct seg *s, uint32_t lid)
{
	seg_for_each_live (s, SEG_T_PORT, i)
		if (fab_port_has_lid(hw_port(s, i), lid))
			return i;
	return SEG_NONE;
}

/* ---- subscribing */

#define SAME(f) (LAYOUT_GET(inform_info, a, f) == LAYOUT_GET(inform_info, b, f))

/* match_inf_rec() */
static bool inform_same(const uint8_t *a, const uint8_t *b)
{
	if (has_gid(a)) {
		if (memcmp(LAYOUT_IN(inform_info, gid, a), LAYOUT_IN(inform_info, gid, b), 16))
			return false;
	} else if (!SAME(lid_range_begin) || !SAME(lid_range_end)) {
		return false;
	}
	return SAME(type) && SAME(is_generic) && SAME(trap_num) && SAME(qpn) &&
	       SAME(resp_time_value) && SAME(producer_type);
}

static struct fab_sarec *subscription(struct sa_call *c, uint32_t slid, const uint8_t *info,
				      uint32_t *idx)
{
	seg_for_each_live (c->s, SEG_T_SAREC, i) {
		struct fab_sarec *r = at(c->s, i);

		if (r && r->port == c->from && r->slid == slid && inform_same(info, info_of(r))) {
			*idx = i;
			return r;
		}
	}
	return NULL;
}

/* o13-14.1.1: may the subscriber talk to all sources? validate_ports_access_rights() */
static bool may_hear(const struct sa_call *c, const uint8_t *info)
{
	uint32_t first = LAYOUT_GET32(inform_info, info, lid_range_begin), last = range_end(info);
	const struct hw_port *from = hw_port(c->s, c->from);
	uint32_t port;

	if (has_gid(info)) {
		port = fab_port_by_gid(c->s, LAYOUT_IN(inform_info, gid, info));
		return port != SEG_NONE && sa_shared_pkey(hw_port(c->s, port), from);
	}
	if (first == ANY_LID)
		return true;
	if (first > LID_RANGE_MAX)
		return false;
	seg_for_each_live (c->s, SEG_T_PORT, i) {
		const struct hw_port *p = hw_port(c->s, i);

		if (p->lid && p->lid <= last && p->lid + (1u << p->lmc) > first &&
		    !sa_shared_pkey(p, from))
			return false;
	}
	return true;
}

static void subscribe(struct sa_call *c, const uint8_t *record)
{
	const uint8_t *info = LAYOUT_IN(inform_info_record, inform_info, record);
	uint32_t idx = SEG_NONE, slid = hw_port(c->s, c->from)->lid;
	struct fab_sarec *r = subscription(c, slid, info, &idx);

	if (!LAYOUT_GET(inform_info, info, subscribe)) {
		if (r)
			seg_free(c->s, SEG_T_SAREC, idx);
		else
			c->status = SA_STATUS_REQ_INVALID;
		return;
	}
	if (!may_hear(c, info)) {
		c->status = SA_STATUS_REQ_INVALID;
		return;
	}
	r = sa_kept_begin(c, r);
	if (!r)
		return;
	memcpy(r->record, record, LAYOUT_SZ(inform_info_record));
	r->port = c->from;
	r->slid = slid;
	sa_kept_finish(r, SA_ATTR_INFORM_INFO_RECORD);
}

static void set_inform(struct sa_call *c)
{
	uint8_t record[LAYOUT_SZ(inform_info_record)] = {0};
	uint8_t *d = LAYOUT_IN(inform_info_record, inform_info, record);
	uint8_t out[SA_DATA_SIZE] = {0};
	uint64_t trap = LAYOUT_GET(inform_info, c->want, trap_num);
	uint64_t sub = LAYOUT_GET(inform_info, c->want, subscribe);

	memcpy(record, hw_port(c->s, c->from)->gid[0], 16);
	memcpy(d, c->want, LAYOUT_SZ(inform_info));
	if (sub > 1 || (!c->trusted && LAYOUT_GET(inform_info, d, is_generic) &&
			trap >= TRAP_SECURITY_FIRST && trap <= TRAP_SECURITY_LAST)) {
		c->status = SA_STATUS_REQ_INVALID;
		return;
	}
	/* The subscriber's queue pair is part of what a later request must name to unsubscribe. */
	if (sub)
		LAYOUT_SET(inform_info, d, qpn, 1);
	if (!sa_kept_lock(c))
		return;
	subscribe(c, record);
	sa_kept_unlock(c);
	/* o13-12.1.1: the answer is a copy of the request. */
	memcpy(out, c->want, LAYOUT_SZ(inform_info));
	if (!c->status)
		sa_emit(c, UINT64_MAX, out);
}

static void inform_records(struct sa_call *c)
{
	uint8_t record[LAYOUT_SZ(inform_info_record)];

	if (!sa_kept_lock(c))
		return;
	seg_for_each_live (c->s, SEG_T_SAREC, i) {
		const struct fab_sarec *r = at(c->s, i);

		if (!r || !sa_shared_pkey(hw_port(c->s, r->port), hw_port(c->s, c->from)))
			continue;
		memcpy(record, r->record, sizeof(record));
		if (!c->trusted)
			LAYOUT_SET(inform_info, LAYOUT_IN(inform_info_record, inform_info, record),
				   qpn, 0);
		sa_emit(c, 0, record);
	}
	sa_kept_unlock(c);
}

/* ---- forwarding */

static bool wanted(uint32_t want, uint32_t any, uint32_t have)
{
	return want == any || want == have;
}

/* match_notice_to_inf_rec() */
static bool inform_fits(const uint8_t *info, const uint8_t *d)
{
	uint32_t first = LAYOUT_GET32(inform_info, info, lid_range_begin);
	uint32_t lid = LAYOUT_GET32(notice, d, issuer_lid);

	if (has_gid(info)) {
		if (memcmp(LAYOUT_IN(inform_info, gid, info), LAYOUT_IN(notice, issuer_gid, d), 16))
			return false;
	} else if (first != ANY_LID && (lid < first || lid > range_end(info))) {
		return false;
	}
	return !LAYOUT_GET(inform_info, info, is_generic) == !LAYOUT_GET(notice, d, is_generic) &&
	       wanted(LAYOUT_GET32(inform_info, info, type), ANY_TYPE,
		      LAYOUT_GET32(notice, d, type)) &&
	       wanted(LAYOUT_GET32(inform_info, info, trap_num), ANY_TRAP,
		      LAYOUT_GET32(notice, d, trap_num)) &&
	       wanted(LAYOUT_GET32(inform_info, info, producer_type), ANY_PRODUCER,
		      LAYOUT_GET32(notice, d, producer_type));
}

static const struct fab_mcgrp *group_of(struct seg *s, const uint8_t *mgid)
{
	seg_for_each_live (s, SEG_T_MCGRP, i) {
		const struct fab_mcgrp *g = seg_at(s, SEG_T_MCGRP, i);

		if (!memcmp(g->mgid, mgid, 16))
			return g;
	}
	return NULL;
}

/* o13-17.1.1: is_access_permitted(). *drop: o13-17.1.2, the subscription ends. */
static bool inform_allowed(struct seg *s, const struct fab_sarec *r, const uint8_t *d, bool *drop)
{
	uint32_t trap = LAYOUT_GET32(notice, d, trap_num), source;
	const struct hw_port *to = hw_port(s, r->port);
	const uint8_t *gid = LAYOUT_IN(notice, issuer_gid, d);

	*drop = false;
	if (!to || !to->lid)
		return false;
	if (LAYOUT_GET(notice, d, is_generic) && trap >= TRAP_IN_SERVICE &&
	    trap <= TRAP_MCAST_DELETED)
		gid = LAYOUT_IN(notice_64_67, gid, d);
	if (gid[0] == 0xff) {
		const struct fab_mcgrp *g = group_of(s, gid);

		return g && hw_port_has_pkey(to, (uint16_t)g->pkey);
	}
	source = fab_port_by_gid(s, gid);
	if (source == SEG_NONE)
		return false;
	if (sa_shared_pkey(hw_port(s, source), to))
		return true;
	*drop = LAYOUT_GET(inform_info, info_of(r), lid_range_begin) != ANY_LID;
	return false;
}

/* osm_report_notice() */
static void inform_forward(struct seg *s, const uint8_t *d)
{
	uint32_t sm = fab_subnet(s)->sm_port;

	seg_for_each_live (s, SEG_T_SAREC, i) {
		const struct fab_sarec *r = at(s, i);
		bool drop;

		if (!r || !inform_fits(info_of(r), d))
			continue;
		if (inform_allowed(s, r, d, &drop))
			fab_notice_report(s, sm, i, d);
		else if (drop)
			seg_free(s, SEG_T_SAREC, i);
	}
}

static bool any_subscriber(struct seg *s)
{
	seg_for_each_live (s, SEG_T_SAREC, i)
		if (at(s, i))
			return true;
	return false;
}

void sa_inform(struct seg *s, uint32_t trap, const uint8_t gid[16])
{
	uint32_t sm = fab_subnet(s)->sm_port;
	uint8_t d[LAYOUT_SZ(notice)] = {0};

	if (sm == SEG_NONE || !any_subscriber(s))
		return;
	LAYOUT_SET(notice, d, is_generic, 1);
	LAYOUT_SET(notice, d, type, NOTICE_TYPE_SM);
	LAYOUT_SET(notice, d, producer_type, PRODUCER_MANAGER);
	LAYOUT_SET(notice, d, trap_num, trap);
	LAYOUT_SET(notice, d, issuer_lid, hw_port(s, sm)->lid);
	memcpy(LAYOUT_IN(notice_64_67, gid, d), gid, 16);
	memcpy(LAYOUT_IN(notice, issuer_gid, d), hw_port(s, sm)->gid[0], 16);
	inform_forward(s, d);
}

void sa_inform_gone(struct seg *s, uint32_t port)
{
	seg_for_each_live (s, SEG_T_SAREC, i)
		if (at(s, i) && at(s, i)->port == port)
			seg_free(s, SEG_T_SAREC, i);
}

void sa_inform_trap(struct seg *s, uint32_t slid, const uint8_t *mad)
{
	uint8_t d[LAYOUT_SZ(notice)] = {0};
	uint32_t source;

	/* The manager represses the trap all the same, and so loses a notice if its lock is held.
	 */
	if (!any_subscriber(s) || fab_subnet_lock(s))
		return;
	source = inform_port(s, slid);
	if (source != SEG_NONE) {
		memcpy(d, mad + SMP_DATA, NOTICE_SMP_SIZE);
		memcpy(LAYOUT_IN(notice, issuer_gid, d), hw_port(s, source)->gid[0], 16);
		inform_forward(s, d);
	}
	fab_subnet_unlock(s);
}

const struct sa_row sa_inform_rows[] = {
	{MAD_ATTR_INFORM_INFO, 40, NULL, set_inform, NULL, NULL},
	{SA_ATTR_INFORM_INFO_RECORD, LAYOUT_SZ(inform_info_record), inform_records, NULL, NULL,
	 NULL},
	{0},
};
