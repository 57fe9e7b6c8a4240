/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns looking up, making and freeing hardware objects. Called by the command handlers and by
 * reaping, with the HCA's lock held.
 */
#include "fw/priv.h"

#include <errno.h>
#include "engine/engine.h"
#include "hw/cq.h"
#include "hw/flags.h"
#include "hw/hca.h"
#include "hw/mkey.h"
#include "hw/obj.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "hw/service.h"
#include "hw/srq.h"
#include "hw/tm.h"
#include "hw/uar.h"
#include "hw/umem.h"
#include "hw/zip.h"

/* Does the driver act for itself? Its objects have uid 0, or the shared uid. */
static bool is_driver(const struct fw_call *k)
{
	return k->c->kernel && (!k->c->uid || k->c->uid == FW_SHARED_UID);
}

bool fw_may_change(const struct fw_call *k, uint32_t uid)
{
	return uid == k->c->uid || is_driver(k);
}

bool fw_may_name(const struct fw_call *k, uint32_t uid)
{
	return uid == FW_SHARED_UID || fw_may_change(k, uid);
}

uint64_t fw_born(const struct fw_call *k)
{
	return atomic_fetch_add(&k->hca->births, 1) + 1;
}

static bool visible(const struct fw_call *k, const uint32_t *flags, uint32_t hca, uint32_t uid)
{
	uint32_t f = __atomic_load_n(flags, __ATOMIC_ACQUIRE);

	return (f & (HW_F_READY | HW_F_ZOMBIE)) == HW_F_READY && hca == k->c->hca &&
	       fw_may_change(k, uid);
}

void *fw_find(struct fw_call *k, enum seg_table_id t, uint32_t id)
{
	struct fw_elem *e = seg_live(k->s, t, id);

	k->obj = id;
	return e && visible(k, &e->flags, e->hca, e->uid) ? e : NULL;
}

static_assert(offsetof(struct hw_qp, uid) == offsetof(struct fw_elem, uid),
	      "qp does not start like struct fw_elem");

struct hw_qp *fw_any_qp(struct fw_call *k, uint32_t id)
{
	return fw_find(k, SEG_T_QP, id);
}

struct hw_qp *fw_qp(struct fw_call *k, uint32_t id)
{
	struct hw_qp *o = fw_any_qp(k, id);

	return o && hw_service(o->st)->made ? o : NULL;
}

enum prm_st fw_qp_st(const struct hw_qp *qp)
{
	return (enum prm_st)qp->st;
}

struct hw_srq *fw_srq_of(struct fw_call *k, uint32_t srqn, enum hw_srq_type type)
{
	struct hw_srq *srq = fw_srq(k, srqn);

	return srq && srq->type == type ? srq : NULL;
}

struct hw_uar *fw_uar(struct fw_call *k, uint32_t id)
{
	struct hw_uar *o = fw_uar_or_var(k, id);

	return o && o->type != HW_UAR_VAR ? o : NULL;
}

/* The driver itself chooses the umems in its commands; they have uid 0. */
struct hw_umem *fw_umem(struct fw_call *k, uint32_t id)
{
	struct hw_umem *o = seg_live(k->s, SEG_T_UMEM, id);

	k->obj = id;
	if (o && k->c->kernel && !o->uid && visible(k, &o->flags, o->hca, k->c->uid))
		return o;
	return o && visible(k, &o->flags, o->hca, o->uid) ? o : NULL;
}

struct hw_obj *fw_obj(struct fw_call *k, enum hw_obj_kind kind, uint32_t id)
{
	struct hw_obj *o = seg_live(k->s, SEG_T_OBJ, id);

	k->obj = id;
	return o && o->kind == kind && visible(k, &o->flags, o->hca, o->uid) ? o : NULL;
}

struct hw_eq *fw_eq(struct fw_call *k, uint32_t eqn, uint32_t *idx)
{
	seg_for_each_owned (k->s, SEG_T_EQ, SEG_OWNER_DEVICE, i) {
		struct hw_eq *eq = seg_at(k->s, SEG_T_EQ, i);

		if (fw_ready(&eq->flags) && eq->hca == k->c->hca && eq->vector + 1 == eqn) {
			*idx = i;
			return eq;
		}
	}
	return NULL;
}

enum fw_r fw_obj_make(struct fw_call *k, const struct hw_obj *proto, uint32_t *idx)
{
	struct hw_obj *o;
	enum fw_r r = fw_alloc(k, SEG_T_OBJ, idx, &o);

	if (r)
		return r;
	o->hca = k->c->hca;
	o->uid = k->c->uid;
	o->kind = proto->kind;
	o->type = proto->type;
	atomic_store(&o->state, proto->state);
	memcpy(o->ref, proto->ref, sizeof(o->ref));
	memcpy(o->ctx, proto->ctx, sizeof(o->ctx));
	o->nrqs = proto->nrqs;
	o->max_rqs = proto->max_rqs;
	memcpy(o->rqn, proto->rqn, proto->nrqs * sizeof(o->rqn[0]));
	atomic_store(&o->async.evq, SEG_NONE);
	fw_refer(k->s, SEG_T_OBJ, o, 1);
	fw_commit(&o->flags);
	return FW_R_NONE;
}

enum fw_r fw_obj_destroy(struct fw_call *k, enum hw_obj_kind kind, uint32_t idx, enum fw_r none,
			 enum fw_r busy)
{
	const struct hw_obj *o = fw_obj(k, kind, idx);

	if (!o)
		return none;
	if (o->refs)
		return busy;
	return fw_errno(k, fw_obj_free(k->s, idx));
}

enum fw_r fw_umem_place(const struct hw_umem *u, uint64_t offset, uint64_t bytes, uint32_t align,
			enum fw_r refuse, uint64_t *va)
{
	if (offset % align || offset > u->len || bytes > u->len - offset)
		return refuse;
	*va = u->va + offset;
	return FW_R_NONE;
}

/* ---- taking out of service ---- */

/*
 * Make an object invisible first, so that no command finds it; drop references late, so that what
 * it uses outlives it. A zombie stays one until it is free.
 */
static bool retire(uint32_t *flags)
{
	return __atomic_fetch_and(flags, ~(uint32_t)HW_F_READY, __ATOMIC_ACQ_REL) & HW_F_READY;
}

int fw_qp_free(struct seg *s, uint32_t qpn)
{
	struct hw_qp *qp = seg_at(s, SEG_T_QP, qpn);
	int r;

	/* A half-made QP was never visible: nobody uses it and it holds no references. */
	if (fw_ready(&qp->flags)) {
		r = eng_qp_quiesce(s, qpn);
		if (r < 0)
			return r;
		if (retire(&qp->flags))
			fw_refer(s, SEG_T_QP, qp, -1);
	}
	fw_free(s, SEG_T_QP, qpn);
	return 0;
}

int fw_srq_free(struct seg *s, uint32_t srqn)
{
	struct hw_srq *srq = seg_at(s, SEG_T_SRQ, srqn);
	const struct hw_tm *tm;
	int r;

	/* Only QPs use it, and none is left (refs), except XRC QPs, whose requests name it. */
	if (retire(&srq->flags)) {
		r = eng_srq_quiesce(s, srqn);
		if (r < 0) {
			__atomic_fetch_or(&srq->flags, HW_F_READY, __ATOMIC_RELEASE);
			return r;
		}
		fw_refer(s, SEG_T_SRQ, srq, -1);
	}
	tm = hw_tm(s, srq->tm);
	if (tm && tm->srqn == srqn && tm->srq_gen == srq->gen)
		fw_free(s, SEG_T_TM, srq->tm);
	fw_free(s, SEG_T_SRQ, srqn);
	return 0;
}

static void obj_refer(struct seg *s, const void *e, int by)
{
	const struct hw_obj *o = e;

	for (size_t i = 0; i < HW_OBJ_REFS; i++)
		if (o->ref[i].table)
			fw_refer_at(s, (enum seg_table_id)o->ref[i].table, o->ref[i].idx, by);
	for (uint32_t i = 0; i < o->nrqs && i < HW_RQT_RQS; i++)
		fw_refer_at(s, SEG_T_OBJ, o->rqn[i], by);
}

/* Makes it invisible, and drops its references. */
static void obj_retire(struct seg *s, uint32_t idx)
{
	struct hw_obj *o = seg_at(s, SEG_T_OBJ, idx);

	if (retire(&o->flags))
		fw_refer(s, SEG_T_OBJ, o, -1);
}

int fw_obj_free(struct seg *s, uint32_t idx)
{
	struct hw_obj *o = seg_at(s, SEG_T_OBJ, idx);
	bool ready = fw_ready(&o->flags);
	int r = 0;

	obj_retire(s, idx);
	if (o->kind == HW_OBJ_PSV) /* the only kind that work requests change */
		r = eng_psv_quiesce(s, idx);
	if (r < 0 && ready) { /* only a command can fail here; reaping has retired all before */
		fw_refer(s, SEG_T_OBJ, o, 1);
		fw_commit(&o->flags);
	}
	if (r < 0)
		return r;
	fw_free(s, SEG_T_OBJ, idx);
	return 0;
}

/* Reaping retires all of them before it frees the first: they refer to each other in any order. */
FW_KIND(OBJ, hw_obj, .name = "obj", .stage = FW_STAGE_QUEUE, .refs = FW_REFS(hw_obj),
	.log_max = FW_LOG_MAX(log_max_obj), .refer = obj_refer, .retire = obj_retire,
	.free = fw_obj_free);

int fw_cq_free(struct seg *s, uint32_t cqn)
{
	struct hw_cq *cq = seg_at(s, SEG_T_CQ, cqn);
	const struct hw_zip *z;
	int r;

	if (fw_ready(&cq->flags)) {
		r = eng_cq_quiesce(s, cqn);
		if (r < 0)
			return r;
		if (retire(&cq->flags))
			fw_refer(s, SEG_T_CQ, cq, -1);
	}
	/* As klm_free(): check that it is not another CQ's by now. */
	z = cq->zip ? hw_zip(s, cq->zip) : NULL;
	if (z && z->cqn == cqn && z->cq_gen == cq->gen)
		seg_free(s, SEG_T_ZIP, cq->zip);
	fw_free(s, SEG_T_CQ, cqn);
	return 0;
}

/* Skip a block that another key owns by now (its first maker died before its key owned it). */
static void klm_free(struct seg *s, const struct hw_mkey *m, uint32_t idx, uint32_t block)
{
	const struct hw_klm *b = block ? seg_live(s, SEG_T_KLM, block) : NULL;

	if (b && b->mkey == idx && b->mkey_gen == m->gen)
		seg_free(s, SEG_T_KLM, block);
}

int fw_mkey_release(struct seg *s, uint32_t idx)
{
	struct hw_mkey *m = seg_at(s, SEG_T_MKEY, idx);
	const struct hw_klm *first = m->klm ? seg_at(s, SEG_T_KLM, m->klm) : NULL;

	for (uint32_t i = 0; first && i < HW_KLM_MORE; i++)
		klm_free(s, m, idx, first->more[i]);
	klm_free(s, m, idx, m->klm);

	eng_adopt_key_ended(s, idx);
	if (retire(&m->flags))
		fw_refer(s, SEG_T_MKEY, m, -1);
	fw_free(s, SEG_T_MKEY, idx);
	return 0;
}

int fw_mkey_free(struct seg *s, uint32_t idx)
{
	struct hw_mkey *m = seg_at(s, SEG_T_MKEY, idx);
	int r;

	atomic_store_explicit(&m->valid, 0, memory_order_seq_cst);
	r = eng_mkey_quiesce(s, idx);
	if (r < 0) {
		atomic_store_explicit(&m->valid, 1, memory_order_release);
		return r;
	}
	return fw_mkey_release(s, idx);
}
