/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the table of kinds, and the functions that only walk its rows: references between objects,
 * shares, whether threads use an object. Called by the command handlers and by reaping, with the
 * HCA's lock held.
 */
#include "fw/kinds.h"

#include <assert.h>
#include <stddef.h>
#include "engine/engine.h"
#include "fw/priv.h"
#include "hw/cq.h"
#include "hw/mcg.h"
#include "hw/memic.h"
#include "hw/mkey.h"
#include "hw/obj.h"
#include "hw/pd.h"
#include "hw/qctr.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "hw/share.h"
#include "hw/srq.h"
#include "hw/uar.h"
#include "hw/umem.h"
#include "hw/xrcd.h"
#include "wire/prm/umem.h"

/* The offset of a field; does not compile for a field of another type. */
#define AT(ctype, type, field) \
	_Generic(&((struct hw_##type *)0)->field, ctype * : offsetof(struct hw_##type, field))
#define REFS(type) AT(_Atomic uint32_t, type, refs)
#define REF(type, field, to)                          \
	{                                             \
		AT(uint32_t, type, field), SEG_T_##to \
	}
#define LOCK(type, field) AT(struct seg_lock, type, field)
#define LOG_MAX(field) offsetof(struct fw_caps, field)

static void obj_refer(struct seg *s, const void *e, int by);
static bool srq_held(struct seg *s, const void *e);
static void qp_stop(void *e);
static bool qp_shared(const void *e);
static bool xrcd_shared(const void *e);

const struct fw_kind fw_kinds[HW_KIND_COUNT] = {
	{
		.table = SEG_T_SHARE,
		.name = "share",
		.stage = FW_STAGE_QUEUE,
	},
	{
		.table = SEG_T_MCG,
		.name = "mcg",
		.stage = FW_STAGE_QUEUE,
	},
	{
		.table = SEG_T_QP,
		.name = "qp",
		.stage = FW_STAGE_QUEUE,
		.locks = {LOCK(qp, sq_lock), LOCK(qp, rq_lock)},
		.log_max = LOG_MAX(log_max_qp),
		.refers = {REF(qp, pdn, PD), REF(qp, cqn_snd, CQ), REF(qp, cqn_rcv, CQ),
			   REF(qp, uar, UAR), REF(qp, xrcd, XRCD), REF(qp, qctr, QCTR),
			   REF(qp, buf_umem, UMEM), REF(qp, dbr_umem, UMEM), REF(qp, srqn, SRQ),
			   REF(qp, qos_req, OBJ), REF(qp, qos_resp, OBJ)},
		.stop = qp_stop,
		.free = fw_qp_free,
		.shared = qp_shared,
		.adopt = eng_qp_adopt,
	},
	{
		.table = SEG_T_OBJ,
		.name = "obj",
		.stage = FW_STAGE_QUEUE,
		.refs = REFS(obj),
		.log_max = LOG_MAX(log_max_obj),
		.refer = obj_refer,
		.retire = fw_obj_retire, /* these objects refer to each other in any order */
		.free = fw_obj_free,
	},
	{
		.table = SEG_T_QCTR,
		.name = "qctr",
		.stage = FW_STAGE_QUEUE,
		.refs = REFS(qctr),
	},
	{
		.table = SEG_T_SRQ,
		.name = "srq",
		.stage = FW_STAGE_QUEUE,
		.refs = REFS(srq),
		.locks = {LOCK(srq, lock)},
		.log_max = LOG_MAX(log_max_srq),
		.refers = {REF(srq, pdn, PD), REF(srq, cqn, CQ), REF(srq, xrcd, XRCD),
			   REF(srq, buf_umem, UMEM), REF(srq, dbr_umem, UMEM)},
		.held = srq_held,
		.free = fw_srq_free,
	},
	{
		.table = SEG_T_CQ,
		.name = "cq",
		.stage = FW_STAGE_QUEUE,
		.refs = REFS(cq),
		.locks = {LOCK(cq, lock)},
		.log_max = LOG_MAX(log_max_cq),
		.refers = {REF(cq, uar, UAR), REF(cq, buf_umem, UMEM), REF(cq, dbr_umem, UMEM)},
		.free = fw_cq_free,
	},
	{
		.table = SEG_T_MKEY,
		.name = "mkey",
		.stage = FW_STAGE_KEY,
		.log_max = LOG_MAX(log_max_mkey),
		.refers = {REF(mkey, pdn, PD), REF(mkey, umem, UMEM), REF(mkey, memic, MEMIC)},
		.free = fw_mkey_release,
	},
	{
		.table = SEG_T_KLM,
		.stage = FW_STAGE_REST,
	},
	{
		.table = SEG_T_MEMIC,
		.name = "dm",
		.stage = FW_STAGE_REST,
		.refs = REFS(memic),
		.free = fw_memic_free,
	},
	{
		.table = SEG_T_UMEM,
		.name = "umem",
		.stage = FW_STAGE_REST,
		.refs = REFS(umem),
	},
	{
		.table = SEG_T_EQ,
		.stage = FW_STAGE_NEVER,
		.refers = {REF(eq, uar, UAR)},
	},
	{
		.table = SEG_T_UAR,
		.name = "uar",
		.stage = FW_STAGE_REST,
		.refs = REFS(uar),
	},
	{
		.table = SEG_T_PD,
		.name = "pd",
		.stage = FW_STAGE_REST,
		.refs = REFS(pd),
		.log_max = LOG_MAX(log_max_pd),
	},
	{
		.table = SEG_T_XRCD,
		.name = "xrcd",
		.stage = FW_STAGE_REST,
		.refs = REFS(xrcd),
		.log_max = LOG_MAX(log_max_xrcd),
		.shared = xrcd_shared,
	},
};

#define STARTS_LIKE_ELEM(id, type, capacity, first)                                \
	static_assert(offsetof(struct type, hca) == offsetof(struct fw_elem, hca), \
		      #type " does not start like struct fw_elem");
HW_KINDS(STARTS_LIKE_ELEM)

const struct fw_kind *fw_kind(enum seg_table_id t)
{
	fw_for_each_kind (k)
		if (k->table == t)
			return k;
	return NULL;
}

/* ---- references ---- */

static void *field(const void *e, uint16_t at)
{
	return (uint8_t *)(uintptr_t)e + at;
}

void fw_ref(_Atomic uint32_t *refs, int by)
{
	uint32_t old = atomic_load_explicit(refs, memory_order_relaxed);

	do {
		if (by < 0 && old == 0)
			return;
	} while (!atomic_compare_exchange_weak(refs, &old, old + (uint32_t)by));
}

_Atomic uint32_t *fw_refs_of(struct seg *s, enum seg_table_id t, uint32_t idx)
{
	const struct fw_kind *k = fw_kind(t);
	void *e = k && k->refs ? seg_live(s, t, idx) : NULL;

	return e ? field(e, k->refs) : NULL;
}

/* Nothing where nothing is referred to: 0 and SEG_NONE are no elements. */
static void kind_ref_at(struct seg *s, enum seg_table_id t, uint32_t idx, int by)
{
	_Atomic uint32_t *refs = fw_refs_of(s, t, idx);

	if (refs)
		fw_ref(refs, by);
}

void fw_refer(struct seg *s, enum seg_table_id t, const void *e, int by)
{
	const struct fw_kind *k = fw_kind(t);

	if (!k)
		return;
	for (const struct fw_refers *r = k->refers; r < k->refers + FW_KIND_REFERS && r->at; r++)
		kind_ref_at(s, (enum seg_table_id)r->table, *(const uint32_t *)field(e, r->at), by);
	if (k->refer)
		k->refer(s, e, by);
}

static void obj_refer(struct seg *s, const void *e, int by)
{
	const struct hw_obj *o = e;

	for (size_t i = 0; i < HW_OBJ_REFS; i++)
		if (o->ref[i].table)
			kind_ref_at(s, (enum seg_table_id)o->ref[i].table, o->ref[i].idx, by);
	for (uint32_t i = 0; i < o->nrqs && i < HW_RQT_RQS; i++)
		kind_ref_at(s, SEG_T_OBJ, o->rqn[i], by);
}

void fw_recount(struct seg *s, uint32_t hca)
{
	TRACE(LOG_FW, "hca %u: its lock's owner died, counting references again", hca);
	fw_limits_recount(s, hca);
	fw_for_each_kind (k) {
		if (!k->refs)
			continue;
		seg_for_each_live (s, k->table, i) {
			const struct fw_elem *e = fw_elem(s, k, i);

			if (e->hca == hca)
				atomic_store_explicit((_Atomic uint32_t *)field(e, k->refs), 0,
						      memory_order_relaxed);
		}
	}
	fw_for_each_kind (k) {
		if (!k->refers[0].at && !k->refer)
			continue;
		seg_for_each_live (s, k->table, i) {
			const struct fw_elem *e = fw_elem(s, k, i);

			if (e->hca == hca && fw_ready(&e->flags))
				fw_refer(s, k->table, e, 1);
		}
	}
}

/* ---- objects in use ---- */

/*
 * Is the lock free? ns 0: look once; else wait, which also detects a dead holder not yet marked as
 * dead.
 */
static bool lock_is_free(struct seg *s, struct seg_lock *l, uint64_t ns)
{
	uint16_t turn;
	int r = ns ? seg_lock_turn(s, l, ns, &turn) : seg_trylock_turn(s, l, &turn);

	if (r < 0)
		return false;
	seg_unlock_turn(s, l, turn);
	return true;
}

/* An XRC SRQ is also in use while a QP of its domain is; freeing it waits for that. */
static bool srq_held(struct seg *s, const void *e)
{
	const struct hw_srq *srq = e;

	if (srq->type != HW_SRQ_XRC)
		return false;
	seg_for_each_live (s, SEG_T_QP, i) {
		struct hw_qp *qp = seg_at(s, SEG_T_QP, i);

		if (qp->st == PRM_ST_XRC && qp->xrcd == srq->xrcd && atomic_load(&qp->rq_lock.word))
			return true;
	}
	return false;
}

bool fw_held(struct seg *s, const struct fw_kind *k, uint32_t idx, uint64_t ns)
{
	const struct fw_elem *e = fw_elem(s, k, idx);

	for (size_t i = 0; i < FW_KIND_LOCKS && k->locks[i]; i++)
		if (!lock_is_free(s, field(e, k->locks[i]), ns))
			return true;
	return k->held && !ns && k->held(s, e);
}

static void qp_stop(void *e)
{
	atomic_store(&((struct hw_qp *)e)->state, PRM_QP_STATE_RST);
}

/* ---- shares ---- */

static bool qp_shared(const void *e)
{
	return ((const struct hw_qp *)e)->shared;
}

static bool xrcd_shared(const void *e)
{
	return true;
}

bool fw_share_pass_on(struct seg *s, enum seg_table_id t, uint32_t idx, uint32_t owner,
		      uint32_t leaving)
{
	const struct fw_kind *k = fw_kind(t);

	if (!k || !k->shared || !k->shared(fw_elem(s, k, idx)))
		return false;
	seg_for_each_live (s, SEG_T_SHARE, i) {
		const struct hw_share *sh = seg_at(s, SEG_T_SHARE, i);
		uint32_t heir = seg_owner(s, SEG_T_SHARE, i), old = owner;

		if (i == leaving || sh->table != (uint32_t)t || sh->idx != idx ||
		    !fw_ready(&sh->flags) || heir == SEG_OWNER_FREE)
			continue;
		if (atomic_compare_exchange_strong(seg_owner_word(s, t, idx), &old, heir) &&
		    k->adopt)
			k->adopt(s, idx, sh->slot);
		return true;
	}
	return false;
}
