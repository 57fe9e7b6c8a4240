/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the elements of SA records that clients store (SEG_T_SAREC), and ServiceRecords with their
 * leases; subscriptions are in sa_inform.c. sa.c calls this; it takes fab_subnet.lock.
 */
#include "subnet/sa.h"

#include <string.h>
#include "hw/port.h"
#include "hw/timer.h"
#include "subnet/subnet.h"

/* Component numbers of ServiceRecord. */
enum { SR_ID, SR_GID, SR_PKEY, SR_LEASE = 4, SR_KEY };
#define SR_OWN (UINT64_C(1) << SR_PKEY | UINT64_C(1) << SR_LEASE)
#define FOR_EVER UINT32_MAX

static struct fab_sarec *at(struct sa_call *c, uint32_t i)
{
	return seg_at(c->s, SEG_T_SAREC, i);
}

static void kept_expire(struct sa_call *c)
{
	uint64_t now = hw_timer_now(c->s);

	seg_for_each_live (c->s, SEG_T_SAREC, i)
		if (at(c, i)->deadline <= now)
			seg_free(c->s, SEG_T_SAREC, i);
}

bool sa_kept_lock(struct sa_call *c)
{
	if (fab_subnet_lock(c->s)) {
		c->status = MAD_STATUS_BUSY;
		return false;
	}
	kept_expire(c);
	return true;
}

void sa_kept_unlock(struct sa_call *c)
{
	fab_subnet_unlock(c->s);
}

struct fab_sarec *sa_kept_begin(struct sa_call *c, struct fab_sarec *r)
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

void sa_kept_finish(struct fab_sarec *r, uint32_t attr_id)
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
	uint64_t now = hw_timer_now(c->s);

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
	if (!sa_kept_lock(c))
		return;
	r = service(c, &idx);
	if (r && !key_fits(c, r))
		c->status = SA_STATUS_REQ_INVALID;
	else
		r = sa_kept_begin(c, r);
	if (!c->status) {
		memcpy(r->record, c->want, LAYOUT_SZ(service_record));
		if (!sa_has(c, SR_PKEY))
			LAYOUT_SET(service_record, r->record, pkey, 0xffff);
		if (!sa_has(c, SR_LEASE))
			LAYOUT_SET(service_record, r->record, lease, FOR_EVER);
		lease = LAYOUT_GET32(service_record, r->record, lease);
		r->deadline =
			lease == FOR_EVER ? UINT64_MAX : hw_timer_now(c->s) + lease * NSEC_PER_SEC;
		sa_kept_finish(r, SA_ATTR_SERVICE_RECORD);
		show_service(c, UINT64_MAX, r);
	}
	sa_kept_unlock(c);
}

static void delete_service(struct sa_call *c)
{
	uint32_t idx = SEG_NONE;
	struct fab_sarec *r;

	if (!sa_kept_lock(c))
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
	sa_kept_unlock(c);
}

static void service_records(struct sa_call *c)
{
	if (!sa_kept_lock(c))
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
	sa_kept_unlock(c);
}

const struct sa_row sa_kept_rows[] = {
	{SA_ATTR_SERVICE_RECORD, LAYOUT_SZ(service_record), service_records, set_service,
	 delete_service, NULL},
	{0},
};
