/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns notices (SEG_T_NOTICE): creating them, repeating them at the pace that PortInfo's
 * SubnetTimeout allows (reports to subscribers at that of OpenSM), and deleting them. No locks:
 * `ready` is a notice's last store, and the thread that moves `due` forward sends it.
 */
#include "fabric/notice.h"

#include <string.h>
#include "fabric/fabric.h"
#include "fabric/for_tests.h"
#include "hw/port.h"
#include "hw/timer.h"
#include "segment/proc.h"
#include "segment/suplink.h"
#include "util/clock.h"
#include "util/point.h"
#include "wire/mad/mad.h"

#define MAX_TRIES 10
/* osm_base.h: OSM_DEFAULT_TRANS_TIMEOUT_MILLISEC and 1 + OSM_DEFAULT_RETRY_COUNT */
#define REPORT_NS UINT64_C(200000000)
#define REPORT_TRIES 4
#define SA_CLASS_VERSION 2
#define TIMEOUT_UNIT_NS 4096u /* 4.096 us * 2^SubnetTimeout */
#define DR_PATH NOTICE_256_RETURN_PATH_SIZE

/* fab_notice.ready: being made by the element's owner (1 + its slot), ready, or being freed */
enum { MAKING, READY, FREEING /* + the slot that frees it, 0: of none */ };

/* NULL: there is no recipient. */
static struct hw_port *issuer(const struct seg *s, uint32_t port, uint32_t *own)
{
	struct hw_port *p = hw_port(s, port);

	if (!p)
		return NULL;
	*own = fab_own_port(s, port);
	p = hw_port(s, *own);
	return p->lid && p->sm_lid && (p->cap_mask & PORT_CAP_TRAP) ? p : NULL;
}

static struct fab_notice *notice_live(const struct seg *s, uint32_t i)
{
	struct fab_notice *n = seg_live(s, SEG_T_NOTICE, i);

	return n && atomic_load_explicit(&n->ready, memory_order_acquire) == READY ? n : NULL;
}

/*
 * Programs can cause these notices at any rate, so each goes out once per SubnetTimeout, repressed
 * or not (IBA 13.4.9). Otherwise every packet with a wrong key would cause a MAD trap.
 */
static bool is_paced(const struct fab_notice *n)
{
	return LAYOUT_GET(notice, n->notice, type) == NOTICE_TYPE_SECURITY;
}

enum renewed { NEW, ANEW, LATER };

/* The same notice is open: send it again now, or when it is due. */
static enum renewed notice_renew(struct seg *s, uint32_t own, const uint8_t *d)
{
	seg_for_each_live (s, SEG_T_NOTICE, i) {
		struct fab_notice *n = notice_live(s, i);

		if (!n || n->sub || n->port != own || memcmp(n->notice, d, NOTICE_SMP_SIZE))
			continue;
		atomic_store(&n->tries, 0);
		if (is_paced(n) && atomic_load(&n->due))
			return LATER;
		atomic_store(&n->due, 0);
		return ANEW;
	}
	return NEW;
}

/* The supervisor sends them, unless this thread is faster. */
static void notices_wait(struct seg *s)
{
	atomic_store(&fab_subnet(s)->notices, 1);
	POINT("notices-wait");
	/* Also if another thread has stored it: that thread may be stopped here. */
	link_sweep(s);
}

static void notice_new(struct seg *s, uint32_t port, const uint8_t *d, uint32_t size, uint32_t sub)
{
	const struct fab_sarec *to = sub ? seg_at(s, SEG_T_SAREC, sub) : NULL;
	struct fab_notice *n;
	uint32_t i;

	if (seg_alloc(s, SEG_T_NOTICE, s->self == SEG_NONE ? SEG_OWNER_DEVICE : s->self + 1, &i))
		return; /* thousands are open: no manager represses them */
	POINT("notice-claimed");
	n = seg_at(s, SEG_T_NOTICE, i);
	n->port = port;
	n->tid = atomic_fetch_add(&fab_subnet(s)->notice_tid, 1) + 1;
	n->sub = sub;
	n->sub_gen = to ? to->gen : 0;
	memcpy(n->notice, d, size);
	atomic_store_explicit(&n->ready, READY, memory_order_release);
	POINT("notice-made");
	notices_wait(s);
}

static void post(struct seg *s, uint32_t own, uint8_t *d, uint32_t type, uint32_t trap)
{
	const struct hw_port *p = hw_port(s, own);
	enum renewed known;

	LAYOUT_SET(notice, d, is_generic, 1);
	LAYOUT_SET(notice, d, type, type);
	LAYOUT_SET(notice, d, producer_type, fab_node(s, p->node)->type);
	LAYOUT_SET(notice, d, trap_num, trap);
	LAYOUT_SET(notice, d, issuer_lid, p->lid);
	known = notice_renew(s, own, d);
	if (known == LATER)
		return;
	if (known == NEW)
		notice_new(s, own, d, NOTICE_SMP_SIZE, 0);
	else
		notices_wait(s);
}

void fab_notice_link(struct seg *s, uint32_t port)
{
	uint8_t d[NOTICE_SMP_SIZE] = {0};
	uint32_t own;
	const struct hw_port *p = issuer(s, port, &own);

	if (!p || fab_node(s, p->node)->type != FAB_SWITCH)
		return;
	LAYOUT_SET(notice_128, d, lid, p->lid);
	post(s, own, d, NOTICE_TYPE_URGENT, TRAP_LINK_STATE);
}

void fab_notice_port(struct seg *s, uint32_t port, uint32_t trap)
{
	uint8_t d[NOTICE_SMP_SIZE] = {0};
	uint32_t own;
	const struct hw_port *p = issuer(s, port, &own);

	if (!p)
		return;
	LAYOUT_SET(notice_129_131, d, lid, p->lid);
	LAYOUT_SET(notice_129_131, d, port, hw_port(s, port)->num);
	post(s, own, d, NOTICE_TYPE_URGENT, trap);
}

void fab_notice_local(struct seg *s, uint32_t port, uint32_t what)
{
	uint8_t d[NOTICE_SMP_SIZE] = {0};
	uint32_t own;
	const struct hw_port *p = issuer(s, port, &own);

	if (!p)
		return;
	LAYOUT_SET(notice_144, d, lid, p->lid);
	LAYOUT_SET(notice_144, d, capability_mask, p->cap_mask);
	LAYOUT_SET(notice_144, d, other_local_changes, what != 0);
	LAYOUT_SET(notice_144, d, node_desc_change, what & FAB_LOCAL_NODE_DESC);
	post(s, own, d, NOTICE_TYPE_INFO, TRAP_LOCAL_CHANGES);
}

void fab_notice_sys_guid(struct seg *s, uint32_t port)
{
	uint8_t d[NOTICE_SMP_SIZE] = {0};
	uint32_t own;
	const struct hw_port *p = issuer(s, port, &own);

	if (!p)
		return;
	LAYOUT_SET(notice_145, d, lid, p->lid);
	LAYOUT_SET(notice_145, d, system_guid, fab_node(s, p->node)->sys_guid);
	post(s, own, d, NOTICE_TYPE_INFO, TRAP_SYSTEM_GUID);
}

void fab_notice_mkey(struct seg *s, uint32_t port, const uint8_t *mad)
{
	uint8_t d[NOTICE_SMP_SIZE] = {0};
	uint32_t own, hops = LAYOUT_GET32(smp, mad, hop_cnt);
	const struct hw_port *p = issuer(s, port, &own);

	if (!p)
		return;
	LAYOUT_SET(notice_256, d, lid, p->lid);
	LAYOUT_SET(notice_256, d, method, LAYOUT_GET(mad_hdr, mad, method));
	LAYOUT_SET(notice_256, d, attr_id, LAYOUT_GET(mad_hdr, mad, attr_id));
	LAYOUT_SET(notice_256, d, attr_mod, LAYOUT_GET(mad_hdr, mad, attr_mod));
	LAYOUT_SET(notice_256, d, mkey, LAYOUT_GET(smp, mad, mkey));
	if (LAYOUT_GET(mad_hdr, mad, mgmt_class) == MAD_CLASS_SUBN_DR) {
		LAYOUT_SET(notice_256, d, dr_slid, LAYOUT_GET(smp, mad, dr_slid));
		LAYOUT_SET(notice_256, d, dr_notice, 1);
		LAYOUT_SET(notice_256, d, dr_path_truncated, hops > DR_PATH);
		hops = hops < DR_PATH ? hops : DR_PATH;
		LAYOUT_SET(notice_256, d, dr_hop_count, hops);
		memcpy(d + NOTICE_256_RETURN_PATH, mad + SMP_RETURN_PATH, hops);
	}
	post(s, own, d, NOTICE_TYPE_SECURITY, TRAP_BAD_MKEY);
}

void fab_notice_key(struct seg *s, uint32_t port, uint32_t trap, const struct fab_bad_key *k)
{
	uint8_t d[NOTICE_SMP_SIZE] = {0};
	uint32_t own;

	if (!issuer(s, port, &own))
		return;
	LAYOUT_SET(notice_257_258, d, lid1, k->lid1);
	LAYOUT_SET(notice_257_258, d, lid2, k->lid2);
	LAYOUT_SET(notice_257_258, d, key, k->key);
	LAYOUT_SET(notice_257_258, d, sl, k->sl);
	LAYOUT_SET(notice_257_258, d, qp1, k->qp1);
	LAYOUT_SET(notice_257_258, d, qp2, k->qp2);
	if (k->gid1)
		memcpy(d + LP_notice_257_258_gid1, k->gid1, 16);
	if (k->gid2)
		memcpy(d + LP_notice_257_258_gid2, k->gid2, 16);
	post(s, own, d, NOTICE_TYPE_SECURITY, trap);
}

static void notice_give_up(struct seg *s, uint32_t i, struct fab_notice *n)
{
	uint32_t ready = READY, self = s->self == SEG_NONE ? 0 : s->self;

	if (!atomic_compare_exchange_strong(&n->ready, &ready, FREEING + self))
		return;
	POINT("notice-ended");
	seg_free(s, SEG_T_NOTICE, i);
}

void fab_notice_repress(struct seg *s, uint32_t port, const uint8_t *mad)
{
	uint32_t own = fab_own_port(s, port), tid = (uint32_t)LAYOUT_GET(mad_hdr, mad, tid);

	seg_for_each_live (s, SEG_T_NOTICE, i) {
		struct fab_notice *n = notice_live(s, i);

		if (!n || n->sub || n->port != own || n->tid != tid)
			continue;
		/* fab_notices_run() deletes it when it would be sent again. */
		if (is_paced(n))
			atomic_store(&n->tries, MAX_TRIES);
		else
			notice_give_up(s, i, n);
	}
}

/* ---- reports */

/* Any program may subscribe any number of times, and silent ones are told four times. */
static bool too_many_reports(const struct seg *s)
{
	const struct seg_table_hdr *h = seg_table(s, SEG_T_NOTICE);

	return atomic_load(&h->live) >= h->capacity / 4 * 3;
}

void fab_notice_report(struct seg *s, uint32_t port, uint32_t sub, const uint8_t *d)
{
	/* Keep the rest of the table for MAD traps: drop this report. */
	if (!too_many_reports(s))
		notice_new(s, port, d, LAYOUT_SZ(notice), sub);
}

/* The subscription of a report; NULL: it has ended. */
static const struct fab_sarec *subscriber(const struct seg *s, const struct fab_notice *n)
{
	const struct fab_sarec *r = seg_live(s, SEG_T_SAREC, n->sub);

	return r && r->gen == n->sub_gen ? r : NULL;
}

bool fab_notice_reported(struct seg *s, uint32_t port, uint32_t from, const uint8_t *mad)
{
	uint64_t tid = LAYOUT_GET(mad_hdr, mad, tid);

	seg_for_each_live (s, SEG_T_NOTICE, i) {
		struct fab_notice *n = notice_live(s, i);
		const struct fab_sarec *r = n && n->sub ? subscriber(s, n) : NULL;

		if (!r || n->port != port || n->tid != tid || r->port != from)
			continue;
		notice_give_up(s, i, n);
		return true;
	}
	return false;
}

/* ---- sending */

static void notice_trap(const struct fab_notice *n, const struct hw_port *p, uint8_t *mad)
{
	LAYOUT_SET(mad_hdr, mad, mgmt_class, MAD_CLASS_SUBN_LID);
	LAYOUT_SET(mad_hdr, mad, class_version, 1);
	LAYOUT_SET(mad_hdr, mad, method, MAD_METHOD_TRAP);
	LAYOUT_SET(smp, mad, mkey, p->mkey);
	memcpy(mad + SMP_DATA, n->notice, NOTICE_SMP_SIZE);
}

static void report(const struct fab_notice *n, uint8_t *mad)
{
	LAYOUT_SET(mad_hdr, mad, mgmt_class, MAD_CLASS_SA);
	LAYOUT_SET(mad_hdr, mad, class_version, SA_CLASS_VERSION);
	LAYOUT_SET(mad_hdr, mad, method, MAD_METHOD_REPORT);
	memcpy(mad + SA_DATA, n->notice, sizeof(n->notice));
}

/* Where a notice goes, 0: nowhere any more. */
static uint32_t notice_dlid(const struct seg *s, const struct fab_notice *n,
			    const struct hw_port *p)
{
	const struct fab_sarec *r = n->sub ? subscriber(s, n) : NULL;

	if (atomic_load(&n->tries) >= (n->sub ? REPORT_TRIES : MAX_TRIES))
		return 0;
	return !n->sub ? p->sm_lid : r ? r->slid : 0;
}

uint64_t fab_notices_run(struct seg *s, fab_notice_send *send)
{
	uint64_t now = clock_now_ns(), next = UINT64_MAX;

	atomic_store(&fab_subnet(s)->notices, 0);
	seg_for_each_live (s, SEG_T_NOTICE, i) {
		struct fab_notice *n = notice_live(s, i);
		uint64_t due = n ? atomic_load(&n->due) : UINT64_MAX, then;
		uint8_t mad[MAD_SIZE] = {0};
		const struct hw_port *p;
		uint32_t dlid;

		if (due > now) {
			next = due < next ? due : next;
			continue;
		}
		p = hw_port(s, n->port);
		if (!p)
			continue; /* repressed in the meantime, and the element is being reused */
		then = now + hw_timer_ns(s, n->sub ? REPORT_NS
						   : (uint64_t)TIMEOUT_UNIT_NS
							     << (p->subnet_timeout & 31));
		dlid = notice_dlid(s, n, p);
		if (!dlid) {
			notice_give_up(s, i, n);
			continue;
		}
		next = then < next ? then : next;
		if (!atomic_compare_exchange_strong(&n->due, &due, then))
			continue;
		POINT("notice-due");
		atomic_fetch_add(&n->tries, 1);
		LAYOUT_SET(mad_hdr, mad, base_version, MAD_BASE_VERSION);
		LAYOUT_SET(mad_hdr, mad, tid, n->tid);
		LAYOUT_SET(mad_hdr, mad, attr_id, MAD_ATTR_NOTICE);
		if (n->sub)
			report(n, mad);
		else
			notice_trap(n, p, mad);
		send(s, n->port, dlid, mad);
	}
	return next;
}

/* The slot of the process that makes or frees this notice; SEG_NONE: none does. */
static uint32_t worker(const struct seg *s, uint32_t i)
{
	const struct fab_notice *n = seg_at(s, SEG_T_NOTICE, i);
	uint32_t ready = atomic_load(&n->ready), owner = seg_owner(s, SEG_T_NOTICE, i);

	if (ready == READY || owner == SEG_OWNER_FREE)
		return SEG_NONE;
	if (ready != MAKING)
		return ready == FREEING ? SEG_NONE : ready - FREEING;
	return owner == SEG_OWNER_DEVICE ? SEG_NONE : owner - 1;
}

void fab_notices_repair(struct seg *s)
{
	seg_for_each_live (s, SEG_T_NOTICE, i) {
		uint32_t slot = worker(s, i);

		/* Look again: what a process had in work at its death, nobody changes afterwards.
		 */
		if (slot != SEG_NONE && who_dead(s, who_now(s, slot)) && worker(s, i) == slot)
			seg_free(s, SEG_T_NOTICE, i);
	}
}
