/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * UARs, protection domains and umems. Called by exec.c under the HCA's lock.
 *
 * The memory itself is never accessed here: a umem only names its process and range.
 */
#include "engine/engine.h"
#include "fw/priv.h"
#include "hw/pd.h"
#include "hw/uar.h"
#include "hw/umem.h"
#include "wire/prm/pd.h"
#include "wire/prm/uar.h"
#include "wire/prm/umem.h"

FW_KIND(UAR, hw_uar, .name = "uar", .stage = FW_STAGE_REST, .refs = FW_REFS(hw_uar));

FW_KIND(PD, hw_pd, .name = "pd", .stage = FW_STAGE_REST, .refs = FW_REFS(hw_pd),
	.log_max = FW_LOG_MAX(log_max_pd));

static int umem_free(struct seg *s, uint32_t idx)
{
	eng_adopt_umem_ended(s, idx);
	fw_free(s, SEG_T_UMEM, idx);
	return 0;
}

FW_KIND(UMEM, hw_umem, .name = "umem", .stage = FW_STAGE_REST, .refs = FW_REFS(hw_umem),
	.free = umem_free);

/* ---- UAR ---- */

enum fw_r fw_cmd_alloc_uar(struct fw_call *k)
{
	struct hw_uar *uar;
	uint32_t idx;
	enum fw_r r;

	/* BF and NC: the same page serves as both; the type is kept for mappings and traces. */
	if (k->op_mod > (k->c->kernel ? HW_UAR_VAR : HW_UAR_NC))
		return FW_R_OP_MOD;
	r = fw_alloc(k, SEG_T_UAR, &idx, &uar);
	if (r)
		return r;
	/* Commands have 24 bits for the number, but create_cq of uverbs has only 16. */
	if (idx > 0xffff) {
		fw_free(k->s, SEG_T_UAR, idx);
		return FW_R_TABLE_FULL;
	}
	uar->hca = k->c->hca;
	uar->uid = k->c->uid;
	uar->type = k->op_mod;
	LAYOUT_SET(alloc_uar_out, k->out, uar, idx);
	fw_commit(&uar->flags);
	return FW_R_NONE;
}

enum fw_r fw_cmd_dealloc_uar(struct fw_call *k)
{
	uint32_t idx = LAYOUT_GET32(dealloc_uar_in, k->in, uar);
	struct hw_uar *uar = fw_uar_or_var(k, idx);

	if (!uar)
		return FW_R_UAR_NONE;
	if (uar->refs)
		return FW_R_UAR_IN_USE;
	fw_free(k->s, SEG_T_UAR, idx);
	return FW_R_NONE;
}

/* ---- PD ---- */

enum fw_r fw_cmd_alloc_pd(struct fw_call *k)
{
	struct hw_pd *pd;
	uint32_t idx;
	enum fw_r r = fw_alloc(k, SEG_T_PD, &idx, &pd);

	if (r)
		return r;
	pd->hca = k->c->hca;
	pd->uid = k->c->uid;
	LAYOUT_SET(alloc_pd_out, k->out, pd, idx);
	fw_commit(&pd->flags);
	return FW_R_NONE;
}

enum fw_r fw_cmd_dealloc_pd(struct fw_call *k)
{
	uint32_t pdn = LAYOUT_GET32(dealloc_pd_in, k->in, pd);
	struct hw_pd *pd = fw_pd(k, pdn);

	if (!pd)
		return FW_R_PD_NONE;
	if (pd->refs)
		return FW_R_PD_IN_USE;
	fw_free(k->s, SEG_T_PD, pdn);
	return FW_R_NONE;
}

/* ---- umem ---- */

enum fw_r fw_cmd_create_umem(struct fw_call *k)
{
	const void *um = LAYOUT_IN(create_umem_in, umem, k->in);
	const struct fw_mem *mem = k->c->mem;
	struct hw_umem *u;
	uint32_t idx;
	enum fw_r r;

	if (!mem)
		return FW_R_NO_MEMORY;
	if (LAYOUT_GET(umem, um, ats))
		return FW_R_UMEM_ATS;
	if (mem->len == 0 || mem->va + mem->len < mem->va)
		return FW_R_UMEM_LEN;
	r = fw_alloc(k, SEG_T_UMEM, &idx, &u);
	if (r)
		return r;
	u->hca = k->c->hca;
	u->uid = k->c->uid;
	u->mem = mem->mem;
	u->va = mem->va;
	u->len = mem->len;
	atomic_store(&u->queue, mem->queue ? HW_UMEM_QUEUE : 0);
	LAYOUT_SET(create_umem_out, k->out, umem_id, idx);
	fw_commit(&u->flags);
	return FW_R_NONE;
}

enum fw_r fw_cmd_destroy_umem(struct fw_call *k)
{
	uint32_t idx = LAYOUT_GET32(destroy_umem_in, k->in, umem_id);
	struct hw_umem *u = fw_umem(k, idx);

	if (!u)
		return FW_R_UMEM_NONE;
	if (u->refs)
		return FW_R_UMEM_IN_USE;
	eng_adopt_umem_ended(k->s, idx);
	fw_free(k->s, SEG_T_UMEM, idx);
	return FW_R_NONE;
}
