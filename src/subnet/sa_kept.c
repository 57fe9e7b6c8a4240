/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns SA records that clients store: ServiceRecords with their leases, and subscriptions
 * (InformInfo). No reports are sent: the manager of this subnet sees every change itself, so no MAD
 * traps arrive that it would forward. sa.c calls this; it takes fab_subnet.lock.
 */
#include "subnet/sa.h"

#include <string.h>
#include "hw/port.h"
#include "subnet/subnet.h"
#include "util/clock.h"

/* Component numbers of ServiceRecord. */
enum { SR_ID, SR_GID, SR_PKEY, SR_LEASE = 4, SR_KEY };
#define SR_OWN (UINT64_C(1) << SR_PKEY | UINT64_C(1) << SR_LEASE)
#define FOR_EVER UINT32_MAX

/* InformInfo:TrapNumber of security traps, which only trusted requesters may get. */
#define TRAP_SECURITY_FIRST 256
#define TRAP_SECURITY_LAST 259

static struct fab_sarec *at(struct sa_call *c, uint32_t i)
{
	return seg_at(c->s, SEG_T_SAREC, i);
}

static void kept_expire(struct sa_call *c)
{
	uint64_t now = clock_now_ns();

	seg_for_each_live (c->s, SEG_T_SAREC, i)
		if (at(c, i)->deadline <= now)
			seg_free(c->s, SEG_T_SAREC, i);
}

static bool kept_lock(struct sa_call *c)
{
	if (fab_subnet_lock(c->s)) {
		c->status = MAD_STATUS_BUSY;
		return false;
	}
	kept_expire(c);
	return true;
}

static void kept_unlock(struct sa_call *c)
{
	fab_subnet_unlock(c->s);
}

/* Until kept_finish() the element counts as empty, whatever it was before. */
static struct fab_sarec *kept_begin(struct sa_call *c, struct fab_sarec *r)
{
	uint32_t i;

	if (r) {
		atomic_store(&r->attr_id, 0);
		return r;
	}
	if (seg_alloc(c->s, SEG_T_SAREC, SEG_OWNER_DEVICE, &i)) {
		c->status = SA_STATUS_NO_RESOURCES;
		return NULL;
	}
	r = at(c, i);
	r->deadline = UINT64_MAX;
	return r;
}

static void kept_finish(struct fab_sarec *r, uint32_t attr_id)
{
	atomic_store(&r->attr_id, attr_id);
}

void sa_kept_repair(struct seg *s)
{
	seg_for_each_live (s, SEG_T_SAREC, i)
		if (!atomic_load(&((struct fab_sarec *)seg_at(s, SEG_T_SAREC, i))->attr_id))
			seg_free(s, SEG_T_SAREC, i);
}

/* ---- ServiceRecord */

/* The identity of a record: ServiceID, GID, P_Key. */
static struct fab_sarec *service(struct sa_call *c, uint32_t *idx)
{
	uint64_t pkey = LAYOUT_GET(service_record, c->want, pkey);

	*idx = SEG_NONE;
	seg_for_each_live (c->s, SEG_T_SAREC, i) {
		struct fab_sarec *r = at(c, i);

		if (r->attr_id == SA_ATTR_SERVICE_RECORD &&
		    LAYOUT_GET(service_record, r->record, service_id) ==
			    LAYOUT_GET(service_record, c->want, service_id) &&
		    !memcmp(LAYOUT_IN(service_record, gid, r->record),
			    LAYOUT_IN(service_record, gid, c->want), 16) &&
		    (!sa_has(c, SR_PKEY) || LAYOUT_GET(service_record, r->record, pkey) == pkey)) {
			*idx = i;
			return r;
		}
	}
	return NULL;
}

/* A key that is set protects the record (validate_sr() of osm_sa_service_record.c). */
static bool key_fits(const struct sa_call *c, const struct fab_sarec *r)
{
	static const uint8_t none[16];
	const uint8_t *key = LAYOUT_IN(service_record, key, r->record);

	return !memcmp(key, none, 16) ||
	       (sa_has(c, SR_KEY) && !memcmp(key, LAYOUT_IN(service_record, key, c->want), 16));
}

/* Show the remaining lease. */
static void show_service(struct sa_call *c, uint64_t own, const struct fab_sarec *r)
{
	uint8_t out[LAYOUT_SZ(service_record)];
	uint64_t now = clock_now_ns();

	memcpy(out, r->record, sizeof(out));
	if (r->deadline != UINT64_MAX)
		LAYOUT_SET(service_record, out, lease,
			   r->deadline > now ? (r->deadline - now + NSEC_PER_SEC - 1) / NSEC_PER_SEC
					     : 0);
	if (c->method != MAD_METHOD_SET && !c->trusted)
		memset(LAYOUT_IN(service_record, key, out), 0, 16);
	sa_emit(c, own, out);
}

static void set_service(struct sa_call *c)
{
	struct fab_sarec *r;
	uint32_t idx, lease;

	if (!sa_has(c, SR_ID) || !sa_has(c, SR_GID)) {
		c->status = SA_STATUS_REQ_INVALID;
		return;
	}
	if (!kept_lock(c))
		return;
	r = service(c, &idx);
	if (r && !key_fits(c, r))
		c->status = SA_STATUS_REQ_INVALID;
	else
		r = kept_begin(c, r);
	if (!c->status) {
		memcpy(r->record, c->want, LAYOUT_SZ(service_record));
		if (!sa_has(c, SR_PKEY))
			LAYOUT_SET(service_record, r->record, pkey, 0xffff);
		if (!sa_has(c, SR_LEASE))
			LAYOUT_SET(service_record, r->record, lease, FOR_EVER);
		lease = LAYOUT_GET32(service_record, r->record, lease);
		r->deadline =
			lease == FOR_EVER ? UINT64_MAX : clock_now_ns() + lease * NSEC_PER_SEC;
		kept_finish(r, SA_ATTR_SERVICE_RECORD);
		show_service(c, UINT64_MAX, r);
	}
	kept_unlock(c);
}

static void delete_service(struct sa_call *c)
{
	uint32_t idx = SEG_NONE;
	struct fab_sarec *r;

	if (!kept_lock(c))
		return;
	r = service(c, &idx);
	if (!r)
		c->status = SA_STATUS_NO_RECORDS;
	else if (!key_fits(c, r))
		c->status = SA_STATUS_REQ_INVALID;
	else
		show_service(c, UINT64_MAX, r);
	if (!c->status)
		seg_free(c->s, SEG_T_SAREC, idx);
	kept_unlock(c);
}

static void service_records(struct sa_call *c)
{
	if (!kept_lock(c))
		return;
	seg_for_each_live (c->s, SEG_T_SAREC, i) {
		const struct fab_sarec *r = at(c, i);

		if (r->attr_id != SA_ATTR_SERVICE_RECORD ||
		    (sa_has(c, SR_PKEY) && LAYOUT_GET(service_record, r->record, pkey) !=
						   LAYOUT_GET(service_record, c->want, pkey)))
			continue;
		if (c->rec && sa_match(c->rec, c->mask & ~SR_OWN, c->want, r->record))
			show_service(c, UINT64_MAX, r);
	}
	kept_unlock(c);
}

/* ---- InformInfo, in records of InformInfoRecord */

static struct fab_sarec *subscription(struct sa_call *c, const uint8_t *record, uint32_t *idx)
{
	const uint8_t *a = LAYOUT_IN(inform_info_record, inform_info, record), *b;

	seg_for_each_live (c->s, SEG_T_SAREC, i) {
		struct fab_sarec *r = at(c, i);

		b = LAYOUT_IN(inform_info_record, inform_info, r->record);
		if (r->attr_id == SA_ATTR_INFORM_INFO_RECORD && !memcmp(r->record, record, 16) &&
		    LAYOUT_GET(inform_info, a, is_generic) ==
			    LAYOUT_GET(inform_info, b, is_generic) &&
		    LAYOUT_GET(inform_info, a, type) == LAYOUT_GET(inform_info, b, type) &&
		    LAYOUT_GET(inform_info, a, trap_num) == LAYOUT_GET(inform_info, b, trap_num) &&
		    LAYOUT_GET(inform_info, a, qpn) == LAYOUT_GET(inform_info, b, qpn) &&
		    LAYOUT_GET(inform_info, a, lid_range_begin) ==
			    LAYOUT_GET(inform_info, b, lid_range_begin)) {
			*idx = i;
			return r;
		}
	}
	return NULL;
}

static void kept_subscribe(struct sa_call *c, const uint8_t *record, bool on)
{
	uint32_t idx = SEG_NONE;
	struct fab_sarec *r = subscription(c, record, &idx);

	if (on)
		r = kept_begin(c, r);
	if (on && r) {
		memcpy(r->record, record, LAYOUT_SZ(inform_info_record));
		kept_finish(r, SA_ATTR_INFORM_INFO_RECORD);
	} else if (!on && r) {
		seg_free(c->s, SEG_T_SAREC, idx);
	} else if (!on) {
		c->status = SA_STATUS_REQ_INVALID;
	}
}

static void set_inform(struct sa_call *c)
{
	uint8_t record[LAYOUT_SZ(inform_info_record)] = {0};
	uint8_t *d = LAYOUT_IN(inform_info_record, inform_info, record);
	uint64_t trap = LAYOUT_GET(inform_info, c->want, trap_num);
	uint64_t sub = LAYOUT_GET(inform_info, c->want, subscribe);

	memcpy(record, hw_port(c->s, c->from)->gid[0], 16);
	memcpy(d, c->want, LAYOUT_SZ(inform_info));
	if (sub)
		LAYOUT_SET(inform_info, d, qpn, 1);
	if (sub > 1 || (!c->trusted && LAYOUT_GET(inform_info, d, is_generic) &&
			trap >= TRAP_SECURITY_FIRST && trap <= TRAP_SECURITY_LAST)) {
		c->status = SA_STATUS_REQ_INVALID;
		return;
	}
	if (!kept_lock(c))
		return;
	kept_subscribe(c, record, sub);
	kept_unlock(c);
	if (!c->status)
		sa_emit(c, UINT64_MAX, d);
}

static void inform_records(struct sa_call *c)
{
	uint8_t record[LAYOUT_SZ(inform_info_record)];

	if (!kept_lock(c))
		return;
	seg_for_each_live (c->s, SEG_T_SAREC, i) {
		if (at(c, i)->attr_id != SA_ATTR_INFORM_INFO_RECORD)
			continue;
		memcpy(record, at(c, i)->record, sizeof(record));
		if (!c->trusted)
			LAYOUT_SET(inform_info, LAYOUT_IN(inform_info_record, inform_info, record),
				   qpn, 0);
		sa_emit(c, 0, record);
	}
	kept_unlock(c);
}

const struct sa_row sa_kept_rows[] = {
	{SA_ATTR_SERVICE_RECORD, LAYOUT_SZ(service_record), service_records, set_service,
	 delete_service},
	{MAD_ATTR_INFORM_INFO, 40, NULL, set_inform, NULL},
	{SA_ATTR_INFORM_INFO_RECORD, LAYOUT_SZ(inform_info_record), inform_records, NULL, NULL},
	{0},
};
