/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * UARs, protection domains, umems and memory keys. Called by exec.c under the HCA's lock.
 *
 * The memory itself is never touched here: a umem says whose it is and where, an mkey which part
 * of it may be used, how, and under which I/O virtual addresses.
 */
#include "fw/cmd.h"

#include <errno.h>
#include "engine/engine.h"

/* ---- UAR ---- */

int fw_cmd_alloc_uar(struct fw_call *k)
{
	struct hw_uar *uar;
	uint32_t idx;
	int r;

	/* Type 0 BF, 1 NC: the same page behaves as both; it is kept for mappings and traces. */
	if (k->op_mod > 1)
		return FW_R_OP_MOD;
	r = fw_alloc(k, SEG_T_UAR, &idx, &uar);
	if (r)
		return r;
	/* Commands carry 24 bits, but uverbs' create_cq has 16 for it. */
	if (idx > 0xffff) {
		seg_free(k->s, SEG_T_UAR, idx);
		return FW_R_TABLE_FULL;
	}
	uar->hca = k->c->hca;
	uar->uid = k->c->uid;
	uar->type = k->op_mod;
	LAYOUT_SET(alloc_uar_out, k->out, uar, idx);
	fw_commit(&uar->flags);
	return 0;
}

int fw_cmd_dealloc_uar(struct fw_call *k)
{
	uint32_t idx = (uint32_t)LAYOUT_GET(dealloc_uar_in, k->in, uar);
	struct hw_uar *uar = fw_uar(k, idx);

	if (!uar)
		return FW_R_UAR_NONE;
	if (uar->refs)
		return FW_R_UAR_IN_USE;
	seg_free(k->s, SEG_T_UAR, idx);
	return 0;
}

/* ---- PD ---- */

int fw_cmd_alloc_pd(struct fw_call *k)
{
	struct hw_pd *pd;
	uint32_t idx;
	int r = fw_alloc(k, SEG_T_PD, &idx, &pd);

	if (r)
		return r;
	pd->hca = k->c->hca;
	pd->uid = k->c->uid;
	LAYOUT_SET(alloc_pd_out, k->out, pd, idx);
	fw_commit(&pd->flags);
	return 0;
}

int fw_cmd_dealloc_pd(struct fw_call *k)
{
	uint32_t pdn = (uint32_t)LAYOUT_GET(dealloc_pd_in, k->in, pd);
	struct hw_pd *pd = fw_pd(k, pdn);

	if (!pd)
		return FW_R_PD_NONE;
	if (pd->refs)
		return FW_R_PD_IN_USE;
	seg_free(k->s, SEG_T_PD, pdn);
	return 0;
}

/* ---- umem ---- */

int fw_cmd_create_umem(struct fw_call *k)
{
	const void *um = LAYOUT_IN(create_umem_in, umem, k->in);
	const struct fw_mem *mem = k->c->mem;
	struct hw_umem *u;
	uint32_t idx;
	int r;

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
	LAYOUT_SET(create_umem_out, k->out, umem_id, idx);
	fw_commit(&u->flags);
	return 0;
}

int fw_cmd_destroy_umem(struct fw_call *k)
{
	uint32_t idx = (uint32_t)LAYOUT_GET(destroy_umem_in, k->in, umem_id);
	struct hw_umem *u = fw_umem(k, idx);

	if (!u)
		return FW_R_UMEM_NONE;
	if (u->refs)
		return FW_R_UMEM_IN_USE;
	seg_free(k->s, SEG_T_UMEM, idx);
	return 0;
}

/* ---- mkey ---- */

#define MKC(f) LAYOUT_GET(mkc, mkc, f)

enum { MKC_MODE_MTT = 1 };

static enum fw_r check_mkc(struct fw_call *k, const void *mkc)
{
	if (MKC(free))
		return FW_R_MKC_FREE;
	if (MKC(access_mode_1_0) != MKC_MODE_MTT || MKC(access_mode_4_2) != 0)
		return FW_R_MKC_ACCESS_MODE;
	if (MKC(length64))
		return FW_R_MKC_LENGTH64;
	if (MKC(bsf_en) || MKC(bsf_octword_size))
		return FW_R_MKC_BSF;
	if (MKC(crypto_en))
		return FW_R_MKC_CRYPTO;
	if (MKC(relaxed_ordering_write))
		return FW_R_MKC_RELAXED;
	if (MKC(relaxed_ordering_read))
		return FW_R_MKEY_RELAXED_READ;
	if (MKC(start_addr) + MKC(len) < MKC(start_addr))
		return FW_R_MKC_LEN;
	if (LAYOUT_GET(create_mkey_in, k->in, pg_access))
		return FW_R_MKEY_PG_ACCESS;
	if (!fw_pd(k, (uint32_t)MKC(pd)))
		return FW_R_MKC_PD;
	return FW_R_NONE;
}

/*
 * Where the region lies. The driver hands the memory with the command. DEVX users name a umem,
 * whose pages are the translations: start_addr's offset within its page is the offset in the first
 * one.
 */
static enum fw_r mkey_memory(struct fw_call *k, const void *mkc, struct fw_mem *mem, uint32_t *umem)
{
	uint32_t log_page = (uint32_t)MKC(log_page_size);
	uint64_t page_mask, offset, pages;
	const struct hw_umem *u;

	*umem = 0;
	if (k->c->mem) {
		*mem = *k->c->mem;
		return MKC(len) > mem->len ? FW_R_MKEY_MEM_FIT : FW_R_NONE;
	}
	if (!LAYOUT_GET(create_mkey_in, k->in, mkey_umem_valid))
		return FW_R_MKEY_UMEM_VALID;
	*umem = (uint32_t)LAYOUT_GET(create_mkey_in, k->in, mkey_umem_id);
	u = fw_umem(k, *umem);
	if (!u)
		return FW_R_MKEY_UMEM;
	if (log_page < 12)
		return FW_R_MKC_PAGE_SIZE;
	page_mask = (UINT64_C(1) << log_page) - 1;
	offset = LAYOUT_GET(create_mkey_in, k->in, mkey_umem_offset);
	if (offset > u->len)
		return FW_R_MKEY_UMEM_FIT;
	mem->mem = u->mem;
	mem->va = ((u->va + offset) & ~page_mask) + (MKC(start_addr) & page_mask);
	mem->len = MKC(len);
	if (mem->va < u->va || mem->va - u->va > u->len || mem->len > u->len - (mem->va - u->va))
		return FW_R_MKEY_UMEM_FIT;
	pages = (((MKC(start_addr) & page_mask) + mem->len) >> log_page) +
		((((MKC(start_addr) & page_mask) + mem->len) & page_mask) != 0);
	if (pages > MKC(translations_octword_size) * 2)
		return FW_R_MKC_TRANSLATIONS;
	return FW_R_NONE;
}

/* What a key says, but for its index. */
static void mkey_fill(struct fw_call *k, struct hw_mkey *m, const void *mkc,
		      const struct fw_mem *mem, uint32_t umem)
{
	m->pdn = (uint32_t)MKC(pd);
	m->access = (MKC(lr) ? HW_ACC_LOCAL_READ : 0) | (MKC(lw) ? HW_ACC_LOCAL_WRITE : 0) |
		    (MKC(rr) ? HW_ACC_REMOTE_READ : 0) | (MKC(rw) ? HW_ACC_REMOTE_WRITE : 0) |
		    (MKC(a) ? HW_ACC_ATOMIC : 0);
	m->mode = MKC_MODE_MTT;
	m->start = MKC(start_addr);
	m->len = MKC(len);
	m->qpn = (uint32_t)MKC(qpn);
	m->mem = mem->mem;
	m->va = mem->va;
	m->umem = umem;
	memcpy(m->mkc, mkc, sizeof(m->mkc));
	fw_mkey_refs(k->s, m, 1);
}

int fw_cmd_create_mkey(struct fw_call *k)
{
	const void *mkc = LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, k->in);
	struct fw_mem mem;
	struct hw_mkey *m;
	uint32_t idx, umem;
	int r = (int)check_mkc(k, mkc);

	if (!r)
		r = (int)mkey_memory(k, mkc, &mem, &umem);
	if (!r)
		r = fw_alloc(k, SEG_T_MKEY, &idx, &m);
	if (r)
		return r;
	m->hca = k->c->hca;
	m->uid = k->c->uid;
	m->key = idx << 8 | (uint32_t)MKC(mkey_7_0);
	mkey_fill(k, m, mkc, &mem, umem);
	LAYOUT_SET(create_mkey_out, k->out, mkey_index, idx);
	fw_commit(&m->flags);
	atomic_store_explicit(&m->valid, 1, memory_order_release);
	return 0;
}

/* Under the HCA's lock. The key is out of service while it changes: nobody sees half of it. */
static int umr_locked(struct fw_call *k, uint32_t key)
{
	const void *mkc = LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, k->in);
	struct hw_mkey *m = fw_mkey(k, key >> 8);
	struct fw_mem mem;
	uint32_t umem;
	int r;

	if (!m || m->key != key || (uint32_t)MKC(mkey_7_0) != (key & 0xff))
		return FW_R_MKEY_NONE;
	r = (int)check_mkc(k, mkc);
	if (!r)
		r = (int)mkey_memory(k, mkc, &mem, &umem);
	if (r)
		return r;
	atomic_store_explicit(&m->valid, 0, memory_order_seq_cst);
	r = eng_mkey_quiesce(k->s, key >> 8);
	if (r == 0) {
		fw_mkey_refs(k->s, m, -1);
		mkey_fill(k, m, mkc, &mem, umem);
	}
	atomic_store_explicit(&m->valid, 1, memory_order_release);
	return r;
}

int fw_umr(const struct fw_ctx *c, uint32_t key, const void *in)
{
	struct fw_call k = {.c = c, .s = c->seg, .in = in};
	uint64_t mask;
	int r;

	k.hca = hw_hca(c->seg, c->hca);
	if (!k.hca)
		return -ENODEV;
	k.caps = fw_caps((enum hw_model)k.hca->model);
	mask = fw_sig_block(c);
	r = seg_lock(k.s, &k.hca->lock, SEG_LOCK_CTRL_NS);
	if (r >= 0) {
		if (r == SEG_LOCK_INHERITED)
			fw_recount(k.s, c->hca);
		r = umr_locked(&k, key);
		seg_unlock(k.s, &k.hca->lock);
	}
	fw_sig_restore(c, mask);
	TRACE(LOG_FW, "UMR mkey 0x%x: %d", key, r);
	return r > 0 ? fw_status_to_errno(fw_refusal((enum fw_r)r)->status) : r;
}

int fw_cmd_query_mkey(struct fw_call *k)
{
	const struct hw_mkey *m =
		fw_mkey(k, (uint32_t)LAYOUT_GET(query_mkey_in, k->in, mkey_index));

	if (!m)
		return FW_R_MKEY_QUERY_NONE;
	if (LAYOUT_GET(query_mkey_in, k->in, pg_access))
		return FW_R_MKEY_PG_ACCESS;
	memcpy(LAYOUT_IN(query_mkey_out, memory_key_mkey_entry, k->out), m->mkc, sizeof(m->mkc));
	return 0;
}

int fw_cmd_destroy_mkey(struct fw_call *k)
{
	uint32_t idx = (uint32_t)LAYOUT_GET(destroy_mkey_in, k->in, mkey_index);
	const struct hw_mkey *m = fw_mkey(k, idx);

	if (!m)
		return FW_R_MKEY_NONE;
	return fw_mkey_free(k->s, idx);
}
