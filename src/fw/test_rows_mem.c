/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Errors in commands of UARs, PDs, umems, mkeys, EQs and CQs. */
#include "fw/test_refusals.h"
#include "hw/cq.h"
#include "hw/hca.h"

#define E_MKC(f, v) E_IN(create_mkey_in, memory_key_mkey_entry, mkc, f, v)
#define E_KLM E_MKC(access_mode_1_0, 2), E(create_mkey_in, mkey_umem_valid, 0)
#define E_EQC(f, v) E_IN(create_eq_in, eq_context_entry, eqc, f, v)
#define E_CQC(f, v) E_IN(create_cq_in, cq_context, cqc, f, v)

static void empty_mem(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	e->mem.len = 0;
}

static void wrapping_mem(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	e->mem.va = UINT64_MAX - 10;
}

static void small_mem(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	e->mem.len = 0x2fff;
}

static void cq_error(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	hw_cq(&e->s, e->cq)->state = HW_CQ_ERR_OVERRUN * HW_CQ_ST_ERR;
}

static void cq_with_cqes(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	hw_cq(&e->s, e->cq)->pi = 12;
}

/* Destroys objects of the fixture, which are all in use. */
static void used_uar(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	b_id(e, PRM_OP_DEALLOC_UAR, e->uar);
}

static void used_pd(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	b_id(e, PRM_OP_DEALLOC_PD, e->pd);
}

static void used_umem(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	b_id(e, PRM_OP_DESTROY_UMEM, e->umem);
}

static void used_cq(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	b_id(e, PRM_OP_DESTROY_CQ, e->cq);
}

static void dm_there(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	memic_new(e);
}

static void dm_of_another(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	memic_new(e);
	seg_for_each_live (&e->s, SEG_T_MEMIC, i)
		atomic_store(seg_owner_word(&e->s, SEG_T_MEMIC, i), 77);
}

static void used_dm(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	seg_for_each_live (&e->s, SEG_T_MEMIC, i)
		hw_memic(&e->s, i)->refs = 1;
}

static void no_banks(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	uint32_t i;

	while (seg_alloc(&e->s, SEG_T_MEMBANK, SEG_OWNER_DEVICE, &i) == 0)
		;
}

static const struct refusal_row rows[] = {
	R(UAR_NONE, DEALLOC_UAR, E(dealloc_uar_in, uar, NOBODY)),
	M(UAR_IN_USE, DEALLOC_UAR, used_uar, {0, 0, 0}),
	R(PD_NONE, DEALLOC_PD, E(dealloc_pd_in, pd, NOBODY)),
	M(PD_IN_USE, DEALLOC_PD, used_pd, {0, 0, 0}),
	M(UMEM_LEN, CREATE_UMEM, empty_mem, {0, 0, 0}),
	M(UMEM_LEN, CREATE_UMEM, wrapping_mem, {0, 0, 0}),
	R(UMEM_ATS, CREATE_UMEM, E_IN(create_umem_in, umem, umem, ats, 1)),
	R(UMEM_NONE, DESTROY_UMEM, E(destroy_umem_in, umem_id, NOBODY)),
	M(UMEM_IN_USE, DESTROY_UMEM, used_umem, {0, 0, 0}),

	R(MKC_FREE, CREATE_MKEY, E_MKC(free, 1)),
	R(MKC_ACCESS_MODE, CREATE_MKEY, E_MKC(access_mode_1_0, 0)),
	R(MKC_ACCESS_MODE, CREATE_MKEY, E_MKC(access_mode_4_2, 2)),
	/* device memory of the file: there is none, less than that, or another file's */
	R(MKC_MEMIC, CREATE_MKEY, E_MKC(access_mode_4_2, 1), E_MKC(start_addr, HW_MEMIC_BAR_START)),
	M(MKC_MEMIC, CREATE_MKEY, dm_there, E_MKC(access_mode_4_2, 1),
	  E_MKC(start_addr, HW_MEMIC_BAR_START + 64), E_MKC(len, 65)),
	M(MKC_MEMIC, CREATE_MKEY, dm_there, E_MKC(access_mode_4_2, 1),
	  E_MKC(start_addr, HW_MEMIC_BAR_START - 1), E_MKC(len, 1)),
	M(MKC_MEMIC, CREATE_MKEY, dm_of_another, E_MKC(access_mode_4_2, 1),
	  E_MKC(start_addr, HW_MEMIC_BAR_START), E_MKC(len, 128)),
	R(MEMIC_ALIGN, ALLOC_MEMIC, E(alloc_memic_in, log_memic_addr_alignment, 7)),
	R(MEMIC_SIZE, ALLOC_MEMIC, E(alloc_memic_in, memic_size, 0)),
	R(MEMIC_SIZE, ALLOC_MEMIC, E(alloc_memic_in, memic_size, 65)),
	R(MEMIC_RANGE, ALLOC_MEMIC, E(alloc_memic_in, range_start_addr, 0)),
	R(MEMIC_RANGE, ALLOC_MEMIC, E(alloc_memic_in, range_start_addr, HW_MEMIC_BAR_START + 64)),
	R(MEMIC_RANGE, ALLOC_MEMIC, E(alloc_memic_in, range_size, HW_MEMIC_BAR_SIZE + 1)),
	R(MEMIC_FULL, ALLOC_MEMIC, E(alloc_memic_in, memic_size, HW_MEMIC_SIZE + 64)),
	R(MEMIC_FULL, ALLOC_MEMIC, E(alloc_memic_in, range_size, 64)),
	M(MEMIC_FULL, ALLOC_MEMIC, dm_there, E(alloc_memic_in, range_size, 4096)),
	M(MEMIC_BANKS, ALLOC_MEMIC, no_banks, {0, 0, 0}),
	R(MEMIC_NONE, DEALLOC_MEMIC, E(dealloc_memic_in, memic_size, 64)),
	R(MEMIC_NONE, DEALLOC_MEMIC,
	  E(dealloc_memic_in, memic_start_addr, HW_MEMIC_BAR_START + 64)),
	M(MEMIC_IN_USE, DEALLOC_MEMIC, used_dm, {0, 0, 0}),
	R(MKC_PD, CREATE_MKEY, E_MKC(pd, NOBODY)),
	R(MKC_LENGTH64, CREATE_MKEY, E_MKC(length64, 1)),
	R(MKC_LEN, CREATE_MKEY, E_MKC(start_addr, UINT64_MAX - 5)),
	R(MKC_BSF, CREATE_MKEY, E_MKC(bsf_en, 1)),
	R(MKC_BSF, CREATE_MKEY, E_MKC(bsf_octword_size, 4)),
	R(MKC_BSF, CREATE_MKEY, E_KLM, E_MKC(bsf_en, 1)),
	R(MKC_BSF, CREATE_MKEY, E_KLM, E_MKC(bsf_en, 1), E_MKC(bsf_octword_size, 8)),
	R(MKC_CRYPTO, CREATE_MKEY, E_MKC(crypto_en, 1)),
	R(MKEY_LIST_UMEM, CREATE_MKEY, E_MKC(access_mode_1_0, 2)),
	R(MKC_LIST_SIZE, CREATE_MKEY, E_KLM, E_MKC(translations_octword_size, 513)),
	R(MKEY_LIST_MOST, CREATE_MKEY, E_KLM, E_MKC(translations_octword_size, 4),
	  E(create_mkey_in, translations_octword_actual_size, 5)),
	R(MKEY_LIST_LEN, CREATE_MKEY, E_KLM,
	  E(create_mkey_in, translations_octword_actual_size, 1)),
	R(MKC_ENTITY, CREATE_MKEY, E_KLM, E_MKC(access_mode_1_0, 3), E_MKC(log_page_size, 11)),
	R(MKC_PAGE_SIZE, CREATE_MKEY, E_MKC(log_page_size, 11)),
	R(MKC_PAGE_UMEM, CREATE_MKEY, E_MKC(log_page_size, 21)),
	R(MKC_PAGE_UMEM, CREATE_MKEY, E_MKC(log_page_size, 30)),
	R(MKC_TRANSLATIONS, CREATE_MKEY, E_MKC(translations_octword_size, 1)),
	R(MKEY_UMEM_VALID, CREATE_MKEY, E(create_mkey_in, mkey_umem_valid, 0)),
	R(MKEY_UMEM, CREATE_MKEY, E(create_mkey_in, mkey_umem_id, NOBODY)),
	R(MKEY_UMEM_FIT, CREATE_MKEY, E(create_mkey_in, mkey_umem_offset, TEST_BUF)),
	R(MKEY_UMEM_FIT, CREATE_MKEY, E(create_mkey_in, mkey_umem_offset, TEST_BUF - 0x3000)),
	R(MKEY_UMEM_FIT, CREATE_MKEY, E(create_mkey_in, mkey_umem_offset, UINT64_MAX)),
	M(MKEY_MEM_FIT, CREATE_MKEY_MEM, small_mem, {0, 0, 0}),
	R(MKEY_PG_ACCESS, CREATE_MKEY, E(create_mkey_in, pg_access, 1)),
	R(MKEY_PG_ACCESS, QUERY_MKEY, E(query_mkey_in, pg_access, 1)),
	R(MKEY_QUERY_NONE, QUERY_MKEY, E(query_mkey_in, mkey_index, NOBODY)),
	R(MKEY_NONE, DESTROY_MKEY, E(destroy_mkey_in, mkey_index, NOBODY)),

	R(EQ_INTR, CREATE_EQ, E_EQC(intr, HW_COMP_VECTORS)),
	R(EQ_INTR, CREATE_EQ, E_EQC(intr, 1)),
	R(EQ_UAR, CREATE_EQ, E_EQC(uar_page, NOBODY)),
	R(EQ_SIZE, CREATE_EQ, E_EQC(log_eq_size, 23)),
	R(EQ_NONE, QUERY_EQ, E(query_eq_in, eq_number, 0)),
	R(EQ_NONE, QUERY_EQ, E(query_eq_in, eq_number, 9)),
	R(EQ_DESTROY_NONE, DESTROY_EQ, E(destroy_eq_in, eq_number, 9)),

	R(CQC_EQN, CREATE_CQ, E_CQC(c_eqn, 0)),
	R(CQC_EQN, CREATE_CQ, E_CQC(c_eqn, 9)),
	R(CQC_EQN, MODIFY_CQ, E(modify_cq_in, modify_field_select, PRM_CQ_MODIFY_EQN)),
	R(CQC_UAR, CREATE_CQ, E_CQC(uar_page, NOBODY)),
	R(CQC_SIZE, CREATE_CQ, E_CQC(log_cq_size, 23)),
	R(CQC_SIZE, RESIZE_CQ, E_CQC(log_cq_size, 23)),
	R(CQC_CQE_SZ, CREATE_CQ, E_CQC(cqe_sz, 3)),
	R(CQC_CQE_SZ, RESIZE_CQ, E_CQC(cqe_sz, 3)),
	R(CQC_COMPRESSION, CREATE_CQ, E_CQC(cqe_comp_en, 1), E_CQC(mini_cqe_res_format, 2)),
	R(CQC_COLLAPSED, CREATE_CQ, E_CQC(cc, 1)),
	R(CQC_STATUS, CREATE_CQ, E_CQC(status, 9)),
	R(CQC_PERIOD_MODE, CREATE_CQ, E_CQC(cq_period_mode, 2)),
	R(CQC_PERIOD_MODE, MODIFY_CQ,
	  E(modify_cq_in, modify_field_select, PRM_CQ_MODIFY_PERIOD_MODE),
	  E_CQC(cq_period_mode, 2)),
	R(CQ_UMEM_VALID, CREATE_CQ, E(create_cq_in, cq_umem_valid, 0)),
	R(CQ_UMEM, CREATE_CQ, E(create_cq_in, cq_umem_id, NOBODY)),
	R(CQ_UMEM_FIT, CREATE_CQ, E(create_cq_in, cq_umem_offset, TEST_BUF - 0x1000 - 0x3c0)),
	R(CQ_UMEM_FIT, CREATE_CQ, E(create_cq_in, cq_umem_offset, 0x20)),
	R(CQ_UMEM_FIT, CREATE_CQ, E(create_cq_in, cq_umem_offset, UINT64_MAX - 63)),
	R(CQ_UMEM_FIT, CREATE_CQ, E_CQC(log_cq_size, 15)),
	R(CQ_DBR_VALID, CREATE_CQ, E_CQC(dbr_umem_valid, 0)),
	R(CQ_DBR_UMEM, CREATE_CQ, E_CQC(dbr_umem_id, 0)),
	R(CQ_DBR_FIT, CREATE_CQ, E_CQC(dbr_addr, 0x1000)),
	R(CQ_DBR_FIT, CREATE_CQ, E_CQC(dbr_addr, 0x44)),
	R(CQ_QUERY_NONE, QUERY_CQ, E(query_cq_in, cqn, NOBODY)),
	R(CQ_NONE, DESTROY_CQ, E(destroy_cq_in, cqn, NOBODY)),
	M(CQ_IN_USE, DESTROY_CQ, used_cq, {0, 0, 0}),
	R(CQ_MODIFY_NONE, MODIFY_CQ, E(modify_cq_in, cqn, NOBODY)),
	R(CQ_MODIFY_SELECT, MODIFY_CQ, E(modify_cq_in, modify_field_select, PRM_CQ_MODIFY_STATUS)),
	R(CQ_RESIZE_SELECT, RESIZE_CQ,
	  E(modify_cq_in, resize_field_select, PRM_CQ_RESIZE_PAGE_OFFSET)),
	R(CQ_RESIZE_SELECT, RESIZE_CQ, E(modify_cq_in, resize_field_select, 0x11)),
	M(CQ_RESIZE_SMALL, RESIZE_CQ, cq_with_cqes, E_CQC(log_cq_size, 3)),
	M(CQ_RESIZE_STATE, RESIZE_CQ, cq_error, {0, 0, 0}),
};

const struct refusal_rows rows_mem = {"mem", rows, ARRAY_SIZE(rows)};
