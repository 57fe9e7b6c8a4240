/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Event and completion queues. Called by exec.c under the HCA's lock; calls the engine for changes
 * under a CQ's own lock.
 *
 * An EQ is only a number that CQs are bound to: events go to the event queues of open files, which
 * uverbs stores in the CQ. CQs always have 64 or 128 bytes per CQE, in one contiguous part of a
 * umem.
 */
#include "fw/priv.h"

#include <errno.h>
#include "engine/engine.h"
#include "hw/cq.h"
#include "hw/hca.h"
#include "hw/uar.h"
#include "hw/umem.h"
#include "hw/zip.h"
#include "wire/prm/cq.h"
#include "wire/prm/eq.h"
#include "wire/prm/umem.h"

FW_KIND(EQ, hw_eq, .stage = FW_STAGE_NEVER, .refers = {FW_REF(hw_eq, uar, UAR)});

FW_KIND(CQ, hw_cq, .name = "cq", .stage = FW_STAGE_QUEUE, .refs = FW_REFS(hw_cq),
	.nth = FW_NTH(hw_cq), .locks = {FW_LOCK(hw_cq, lock)}, .log_max = FW_LOG_MAX(log_max_cq),
	.refers = {FW_REF(hw_cq, uar, UAR), FW_REF(hw_cq, buf_umem, UMEM),
		   FW_REF(hw_cq, dbr_umem, UMEM)},
	.free = fw_cq_free);

FW_KIND(ZIP, hw_zip, .stage = FW_STAGE_REST);

#define CQC(f) LAYOUT_GET(cqc, cqc, f)

/* ---- EQ ---- */

enum fw_r fw_cmd_create_eq(struct fw_call *k)
{
	const void *eqc = LAYOUT_IN(create_eq_in, eq_context_entry, k->in);
	uint32_t vector = LAYOUT_GET32(eqc, eqc, intr);
	uint32_t uar_page = LAYOUT_GET32(eqc, eqc, uar_page);
	struct hw_uar *uar;
	struct hw_eq *eq;
	uint32_t idx;
	enum fw_r r;

	if (vector >= k->caps->num_comp_vectors || fw_eq(k, vector + 1, &idx))
		return FW_R_EQ_INTR;
	if (LAYOUT_GET(eqc, eqc, log_eq_size) > 22)
		return FW_R_EQ_SIZE;
	uar = fw_uar(k, uar_page);
	if (!uar)
		return FW_R_EQ_UAR;
	r = fw_alloc(k, SEG_T_EQ, &idx, &eq);
	if (r)
		return r;
	eq->hca = k->c->hca;
	eq->vector = vector;
	eq->uar = uar_page;
	eq->log_size = LAYOUT_GET32(eqc, eqc, log_eq_size);
	fw_ref(&uar->refs, 1);
	k->obj = vector + 1;
	LAYOUT_SET(create_eq_out, k->out, eq_number, vector + 1);
	fw_commit(&eq->flags);
	k->hca->eqn[vector] = vector + 1;
	return FW_R_NONE;
}

enum fw_r fw_cmd_query_eq(struct fw_call *k)
{
	void *eqc = LAYOUT_IN(query_eq_out, eq_context_entry, k->out);
	uint32_t idx;
	const struct hw_eq *eq;

	k->obj = LAYOUT_GET32(query_eq_in, k->in, eq_number);
	eq = fw_eq(k, k->obj, &idx);
	if (!eq)
		return FW_R_EQ_NONE;
	LAYOUT_SET(eqc, eqc, intr, eq->vector);
	LAYOUT_SET(eqc, eqc, uar_page, eq->uar);
	LAYOUT_SET(eqc, eqc, log_eq_size, eq->log_size);
	LAYOUT_SET(eqc, eqc, st, 9); /* armed */
	return FW_R_NONE;
}

enum fw_r fw_cmd_destroy_eq(struct fw_call *k)
{
	uint32_t idx;
	struct hw_eq *eq;
	struct hw_uar *uar;

	k->obj = LAYOUT_GET32(destroy_eq_in, k->in, eq_number);
	eq = fw_eq(k, k->obj, &idx);
	if (!eq)
		return FW_R_EQ_DESTROY_NONE;
	k->hca->eqn[eq->vector] = SEG_NONE;
	uar = hw_uar(k->s, eq->uar);
	if (uar)
		fw_ref(&uar->refs, -1);
	fw_free(k->s, SEG_T_EQ, idx);
	return FW_R_NONE;
}

/* ---- CQ ---- */

static uint32_t cqe_bytes(const void *cqc)
{
	return CQC(cqe_sz) == PRM_CQE_SZ_64 ? 64 : 128;
}

/* A period or a count of 0 disables moderation; a count of 1 delays nothing. */
static uint32_t moderation(const void *cqc)
{
	uint32_t period = (uint32_t)CQC(cq_period), count = (uint32_t)CQC(cq_max_count);

	if (!period || count <= 1)
		return 0;
	return period | count * HW_CQ_MOD_COUNT | (CQC(cq_period_mode) ? HW_CQ_MOD_FROM_CQE : 0u) |
	       (CQC(scqe_break_moderation_en) ? HW_CQ_MOD_SE_BREAKS : 0u);
}

static enum fw_r check_cqc(struct fw_call *k, const void *cqc)
{
	uint32_t idx;

	if (CQC(status))
		return FW_R_CQC_STATUS;
	if (CQC(cqe_sz) > PRM_CQE_SZ_128_PAD)
		return FW_R_CQC_CQE_SZ;
	if (CQC(cc))
		return FW_R_CQC_COLLAPSED;
	if (CQC(cqe_comp_en) && CQC(mini_cqe_res_format) != PRM_MINI_CQE_HASH &&
	    CQC(mini_cqe_res_format) != PRM_MINI_CQE_CSUM &&
	    CQC(mini_cqe_res_format) != PRM_MINI_CQE_CSUM_STRIDX)
		return FW_R_CQC_COMPRESSION;
	if (CQC(cq_period_mode) > PRM_CQ_PERIOD_FROM_CQE)
		return FW_R_CQC_PERIOD_MODE;
	if (CQC(log_cq_size) > k->caps->log_max_cq_sz)
		return FW_R_CQC_SIZE;
	if (!fw_eq(k, (uint32_t)CQC(c_eqn), &idx))
		return FW_R_CQC_EQN;
	if (!fw_uar(k, (uint32_t)CQC(uar_page)))
		return FW_R_CQC_UAR;
	return FW_R_NONE;
}

/* The memory of the CQEs; create_cq_in and modify_cq_in have the fields at the same place. */
static enum fw_r cq_buffer(struct fw_call *k, const void *cqc, uint32_t *id,
			   const struct hw_umem **umem, uint64_t *va)
{
	uint64_t bytes = (uint64_t)cqe_bytes(cqc) << CQC(log_cq_size);
	uint64_t offset = LAYOUT_GET(create_cq_in, k->in, cq_umem_offset);
	const struct hw_umem *u;

	if (!LAYOUT_GET(create_cq_in, k->in, cq_umem_valid))
		return FW_R_CQ_UMEM_VALID;
	*id = LAYOUT_GET32(create_cq_in, k->in, cq_umem_id);
	u = fw_umem(k, *id);
	if (!u)
		return FW_R_CQ_UMEM;
	*umem = u;
	if (offset > u->len)
		return FW_R_CQ_UMEM_FIT;
	offset += fw_page_offset(CQC(page_offset), CQC(log_page_size));
	return fw_umem_place(u, offset, bytes, 64, FW_R_CQ_UMEM_FIT, va);
}

static enum fw_r cq_dbr(struct fw_call *k, const void *cqc, const struct hw_umem **umem,
			uint64_t *va)
{
	const struct hw_umem *u;

	if (!CQC(dbr_umem_valid))
		return FW_R_CQ_DBR_VALID;
	u = fw_umem(k, (uint32_t)CQC(dbr_umem_id));
	if (!u)
		return FW_R_CQ_DBR_UMEM;
	*umem = u;
	return fw_umem_place(u, CQC(dbr_addr), 8, 8, FW_R_CQ_DBR_FIT, va);
}

/* Compression: where completions wait. */
static enum fw_r zip_alloc(struct fw_call *k, struct hw_cq *cq, uint32_t cqn, const void *cqc)
{
	struct hw_zip *z;
	uint32_t i;
	int r;

	if (!CQC(cqe_comp_en))
		return FW_R_NONE;
	r = seg_alloc(k->s, SEG_T_ZIP, k->owner, &i);
	if (r < 0)
		return r == -ENOSPC ? FW_R_TABLE_FULL : fw_errno(k, r);
	z = seg_at(k->s, SEG_T_ZIP, i);
	z->hca = k->c->hca;
	z->format = (uint32_t)CQC(mini_cqe_res_format);
	z->cqn = cqn;
	z->cq_gen = cq->gen;
	cq->zip = (uint16_t)i;
	atomic_store(seg_owner_word(k->s, SEG_T_ZIP, i), SEG_OWNER_DEVICE);
	return FW_R_NONE;
}

enum fw_r fw_cmd_create_cq(struct fw_call *k)
{
	const void *cqc = LAYOUT_IN(create_cq_in, cq_context, k->in);
	const struct hw_umem *buf, *dbr;
	uint64_t va, dbr_va;
	uint32_t cqn, buf_umem;
	struct hw_cq *cq;
	enum fw_r r = check_cqc(k, cqc);

	if (!r)
		r = cq_buffer(k, cqc, &buf_umem, &buf, &va);
	if (!r)
		r = cq_dbr(k, cqc, &dbr, &dbr_va);
	if (!r)
		r = fw_alloc(k, SEG_T_CQ, &cqn, &cq);
	if (r)
		return r;
	cq->hca = k->c->hca;
	cq->uid = k->c->uid;
	cq->eqn = (uint32_t)CQC(c_eqn);
	cq->uar = (uint32_t)CQC(uar_page);
	cq->log_size = (uint32_t)CQC(log_cq_size);
	cq->cqe_bytes = (uint16_t)cqe_bytes(cqc);
	cq->oi = (uint32_t)CQC(oi);
	cq->mem = buf->mem;
	cq->va = va;
	cq->buf_umem = buf_umem;
	cq->dbr_mem = dbr->mem;
	cq->dbr_va = dbr_va;
	cq->dbr_umem = (uint32_t)CQC(dbr_umem_id);
	r = zip_alloc(k, cq, cqn, cqc);
	if (r) {
		fw_free(k->s, SEG_T_CQ, cqn);
		return r;
	}
	atomic_store(&cq->comp.evq, SEG_NONE);
	atomic_store(&cq->async.evq, SEG_NONE);
	memcpy(cq->cqc, cqc, sizeof(cq->cqc));
	fw_refer(k->s, SEG_T_CQ, cq, 1);
	eng_cq_created(k->s, cqn);
	eng_cq_moderate(k->s, cqn, moderation(cq->cqc));
	LAYOUT_SET(create_cq_out, k->out, cqn, cqn);
	fw_commit(&cq->flags);
	return FW_R_NONE;
}

enum fw_r fw_cmd_query_cq(struct fw_call *k)
{
	void *cqc = LAYOUT_IN(query_cq_out, cq_context, k->out);
	const struct hw_cq *cq = fw_cq(k, LAYOUT_GET32(query_cq_in, k->in, cqn));
	uint32_t ci = 0;

	if (!cq)
		return FW_R_CQ_QUERY_NONE;
	memcpy(cqc, cq->cqc, sizeof(cq->cqc));
	/*
	 * The card has the consumer counter in the doorbell record; a dead owner's record cannot be
	 * read.
	 */
	if (mem_read_be32(k->s, cq->dbr_mem, cq->dbr_va, &ci) < 0)
		ci = cq->ci_cached;
	LAYOUT_SET(cqc, cqc, status,
		   !hw_cq_error(cq)                       ? PRM_CQ_STATUS_OK
		   : hw_cq_error(cq) == HW_CQ_ERR_OVERRUN ? PRM_CQ_STATUS_OVERFLOW
							  : PRM_CQ_STATUS_WRITE_FAIL);
	LAYOUT_SET(cqc, cqc, st,
		   !(cq->armed & HW_CQ_ARMED)
			   ? PRM_CQ_ST_FIRED
			   : (cq->armed & HW_CQ_ANY ? PRM_CQ_ST_ARMED : PRM_CQ_ST_SOLICITED_ARMED));
	LAYOUT_SET(cqc, cqc, producer_counter, cq->pi & 0xffffff);
	LAYOUT_SET(cqc, cqc, consumer_counter, ci & 0xffffff);
	LAYOUT_SET(cqc, cqc, last_notified_index, cq->arm_ci & 0xffffff);
	return FW_R_NONE;
}

static enum fw_r cq_modify_fields(struct fw_call *k, struct hw_cq *cq, uint32_t cqn,
				  const void *cqc)
{
	uint32_t sel = LAYOUT_GET32(modify_cq_in, k->in, modify_field_select);
	uint32_t idx;

	if (sel & ~(uint32_t)(PRM_CQ_MODIFY_PERIOD | PRM_CQ_MODIFY_MAX_COUNT | PRM_CQ_MODIFY_OI |
			      PRM_CQ_MODIFY_EQN | PRM_CQ_MODIFY_PERIOD_MODE))
		return FW_R_CQ_MODIFY_SELECT;
	if ((sel & PRM_CQ_MODIFY_PERIOD_MODE) && CQC(cq_period_mode) > PRM_CQ_PERIOD_FROM_CQE)
		return FW_R_CQC_PERIOD_MODE;
	if ((sel & PRM_CQ_MODIFY_EQN) && !fw_eq(k, (uint32_t)CQC(c_eqn), &idx))
		return FW_R_CQC_EQN;
	if (sel & PRM_CQ_MODIFY_PERIOD_MODE)
		LAYOUT_SET(cqc, cq->cqc, cq_period_mode, CQC(cq_period_mode));
	if (sel & PRM_CQ_MODIFY_PERIOD)
		LAYOUT_SET(cqc, cq->cqc, cq_period, CQC(cq_period));
	if (sel & PRM_CQ_MODIFY_MAX_COUNT)
		LAYOUT_SET(cqc, cq->cqc, cq_max_count, CQC(cq_max_count));
	if (sel & PRM_CQ_MODIFY_OI) {
		LAYOUT_SET(cqc, cq->cqc, oi, CQC(oi));
		cq->oi = (uint32_t)CQC(oi);
	}
	if (sel & PRM_CQ_MODIFY_EQN) {
		LAYOUT_SET(cqc, cq->cqc, c_eqn, CQC(c_eqn));
		cq->eqn = (uint32_t)CQC(c_eqn);
	}
	eng_cq_moderate(k->s, cqn, moderation(cq->cqc));
	return FW_R_NONE;
}

static enum fw_r cq_resize(struct fw_call *k, struct hw_cq *cq, uint32_t cqn, const void *cqc)
{
	uint32_t sel = LAYOUT_GET32(modify_cq_in, k->in, resize_field_select);
	const struct hw_umem *buf;
	uint32_t buf_umem, old = cq->buf_umem;
	struct hw_umem *u;
	uint64_t va;
	enum fw_r r;
	int e;

	if (!(sel & PRM_CQ_RESIZE_LOG_SIZE) ||
	    sel & ~(uint32_t)(PRM_CQ_RESIZE_LOG_SIZE | PRM_CQ_RESIZE_PAGE_OFFSET |
			      PRM_CQ_RESIZE_LOG_PAGE_SIZE | PRM_CQ_RESIZE_UMEM))
		return FW_R_CQ_RESIZE_SELECT;
	if (CQC(log_cq_size) > k->caps->log_max_cq_sz)
		return FW_R_CQC_SIZE;
	if (CQC(cqe_sz) > PRM_CQE_SZ_128_PAD)
		return FW_R_CQC_CQE_SZ;
	r = cq_buffer(k, cqc, &buf_umem, &buf, &va);
	if (r)
		return r;
	if (hw_cq_error(cq))
		return FW_R_CQ_RESIZE_STATE;
	fw_ref(&hw_umem(k->s, buf_umem)->refs, 1);
	e = eng_cq_resize(k->s, cqn, buf->mem, va, (uint32_t)CQC(log_cq_size), cqe_bytes(cqc));
	if (e) {
		fw_ref(&hw_umem(k->s, buf_umem)->refs, -1);
		return e == -ENOSPC ? FW_R_CQ_RESIZE_SMALL : fw_errno(k, e);
	}
	cq->buf_umem = buf_umem;
	u = hw_umem(k->s, old);
	if (u)
		fw_ref(&u->refs, -1);
	LAYOUT_SET(cqc, cq->cqc, log_cq_size, CQC(log_cq_size));
	LAYOUT_SET(cqc, cq->cqc, cqe_sz, CQC(cqe_sz));
	LAYOUT_SET(cqc, cq->cqc, page_offset, CQC(page_offset));
	LAYOUT_SET(cqc, cq->cqc, log_page_size, CQC(log_page_size));
	return FW_R_NONE;
}

enum fw_r fw_cmd_modify_cq(struct fw_call *k)
{
	const void *cqc = LAYOUT_IN(modify_cq_in, cq_context, k->in);
	uint32_t cqn = LAYOUT_GET32(modify_cq_in, k->in, cqn);
	struct hw_cq *cq;
	enum fw_r r;

	if (k->op_mod > 1)
		return FW_R_OP_MOD;
	cq = fw_cq(k, cqn);
	if (!cq)
		return FW_R_CQ_MODIFY_NONE;
	r = k->op_mod == 1 ? cq_resize(k, cq, cqn, cqc) : cq_modify_fields(k, cq, cqn, cqc);
	if (r == 0)
		k->obj = cqn;
	return r;
}

enum fw_r fw_cmd_destroy_cq(struct fw_call *k)
{
	uint32_t cqn = LAYOUT_GET32(destroy_cq_in, k->in, cqn);
	const struct hw_cq *cq = fw_cq(k, cqn);

	if (!cq)
		return FW_R_CQ_NONE;
	if (cq->refs)
		return FW_R_CQ_IN_USE;
	return fw_errno(k, fw_cq_free(k->s, cqn));
}
