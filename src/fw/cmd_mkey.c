/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory keys: which part of a umem, or of other keys, may be used, with which rights and I/O
 * virtual addresses. Called by exec.c under the HCA's lock; the memory itself is never accessed.
 */
#include "fw/priv.h"

#include <errno.h>
#include "engine/engine.h"
#include "hw/hca.h"
#include "hw/memic.h"
#include "hw/mkey.h"
#include "hw/umem.h"
#include "wire/prm/mkey.h"
#include "wire/prm/umem.h"

FW_KIND(KLM, hw_klm, .stage = FW_STAGE_REST);

FW_KIND(MKEY, hw_mkey, .name = "mkey", .stage = FW_STAGE_KEY, .log_max = FW_LOG_MAX(log_max_mkey),
	.refers = {FW_REF(hw_mkey, pdn, PD), FW_REF(hw_mkey, umem, UMEM),
		   FW_REF(hw_mkey, memic, MEMIC)},
	.free = fw_mkey_release);

#define MKC(f) LAYOUT_GET(mkc, mkc, f)

#define PAGES_MTT 12 /* log2 of the smallest page, and of the smallest part of a KSM */

static uint32_t mode_of(const void *mkc)
{
	return (uint32_t)(MKC(access_mode_4_2) << 2 | MKC(access_mode_1_0));
}

static bool is_indirect(const void *mkc)
{
	return mode_of(mkc) == PRM_MKC_KLM || mode_of(mkc) == PRM_MKC_KSM;
}

/* For indirect keys: check the list's maximum length, and the list in the command. */
static enum fw_r check_list(struct fw_call *k, const void *mkc)
{
	uint64_t most = MKC(translations_octword_size);
	uint64_t n = LAYOUT_GET(create_mkey_in, k->in, translations_octword_actual_size);

	if (LAYOUT_GET(create_mkey_in, k->in, mkey_umem_valid))
		return FW_R_MKEY_LIST_UMEM;
	if (most > UINT64_C(1) << k->caps->log_max_klm_list_size)
		return FW_R_MKC_LIST_SIZE;
	if (n > most)
		return FW_R_MKEY_LIST_MOST;
	k->rest = n * HW_KLM_BYTES;
	if (k->inlen < LAYOUT_SZ(create_mkey_in) + k->rest)
		return FW_R_MKEY_LIST_LEN;
	if (mode_of(mkc) == PRM_MKC_KSM && MKC(log_page_size) < PAGES_MTT)
		return FW_R_MKC_ENTITY;
	return FW_R_NONE;
}

/* Only a list may follow the command. */
static enum fw_r check_tail(const struct fw_call *k)
{
	const uint8_t *in = k->in;

	for (uint32_t i = LAYOUT_SZ(create_mkey_in); i < k->inlen; i++)
		if (in[i])
			return FW_R_PAGE_LIST;
	return FW_R_NONE;
}

/* One BSF, or two where one is of crypto. */
static bool bsf_fits(const void *mkc)
{
	return mode_of(mkc) == PRM_MKC_KLM &&
	       (MKC(bsf_octword_size) == HW_BSF_ENTRIES ||
		(MKC(crypto_en) && MKC(bsf_octword_size) == HW_BSF_MAX));
}

/*
 * The QP of mkc.qpn need not exist: it is compared when a QP uses the key (engine/keys/mkey.c),
 * which may outlive its QP as a bound memory window does. The kernel writes 0xffffff, any QP
 * (reg_create()).
 */
static enum fw_r check_mkc(struct fw_call *k, const void *mkc)
{
	if (MKC(free) && !MKC(umr_en))
		return FW_R_MKC_FREE;
	if (mode_of(mkc) != PRM_MKC_MTT && mode_of(mkc) != PRM_MKC_MEMIC && !is_indirect(mkc))
		return FW_R_MKC_ACCESS_MODE;
	if (MKC(length64) && !is_indirect(mkc))
		return FW_R_MKC_LENGTH64;
	if ((MKC(bsf_en) || MKC(bsf_octword_size)) && !bsf_fits(mkc))
		return FW_R_MKC_BSF;
	if (MKC(crypto_en) > 1 || (MKC(crypto_en) && (!MKC(bsf_en) || !fw_has_crypto(k))))
		return FW_R_MKC_CRYPTO;
	if (MKC(start_addr) + MKC(len) < MKC(start_addr))
		return FW_R_MKC_LEN;
	if (LAYOUT_GET(create_mkey_in, k->in, pg_access) && !k->c->mem)
		return FW_R_MKEY_PG_ACCESS;
	if (!fw_pd(k, (uint32_t)MKC(pd)))
		return FW_R_MKC_PD;
	return is_indirect(mkc) ? check_list(k, mkc) : check_tail(k);
}

/* What is behind a key. */
struct backing {
	struct mem_slot mem;
	uint64_t va;
	uint32_t umem, memic; /* 0: none */
};

/* A umem's pages are the translations: start_addr's page offset is the offset in the first page. */
static enum fw_r umem_memory(struct fw_call *k, const void *mkc, struct backing *to)
{
	uint32_t log_page = (uint32_t)MKC(log_page_size);
	uint64_t page_mask, offset, pages, len = MKC(len);
	const struct hw_umem *u;

	to->umem = LAYOUT_GET32(create_mkey_in, k->in, mkey_umem_id);
	u = fw_umem(k, to->umem);
	if (!u)
		return FW_R_MKEY_UMEM;
	if (log_page < PAGES_MTT)
		return FW_R_MKC_PAGE_SIZE;
	/*
	 * The umem has no page of this size: the kernel takes none above its length rounded up
	 * (devx_umem_find_best_pgsize()), and a translation of the key lies in one page of the
	 * umem. That firmware checks it is inferred: else the key would reach memory of others.
	 */
	if (log_page > PAGES_MTT && UINT64_C(1) << (log_page - 1) >= u->len)
		return FW_R_MKC_PAGE_UMEM;
	page_mask = (UINT64_C(1) << log_page) - 1;
	offset = LAYOUT_GET(create_mkey_in, k->in, mkey_umem_offset);
	if (offset > u->len)
		return FW_R_MKEY_UMEM_FIT;
	to->mem = u->mem;
	to->va = ((u->va + offset) & ~page_mask) + (MKC(start_addr) & page_mask);
	if (to->va < u->va || to->va - u->va > u->len || len > u->len - (to->va - u->va))
		return FW_R_MKEY_UMEM_FIT;
	pages = (((MKC(start_addr) & page_mask) + len) >> log_page) +
		((((MKC(start_addr) & page_mask) + len) & page_mask) != 0);
	if (pages > MKC(translations_octword_size) * 2)
		return FW_R_MKC_TRANSLATIONS;
	return FW_R_NONE;
}

/* Device memory: the key is zero-based, and its start is the address in BAR 0. */
static enum fw_r memic_memory(struct fw_call *k, const void *mkc, struct backing *to)
{
	const struct hw_memic *m = fw_memic_at(k, MKC(start_addr), MKC(len), &to->memic);

	if (!m)
		return FW_R_MKC_MEMIC;
	to->va = MKC(start_addr) - HW_MEMIC_BAR_START;
	return FW_R_NONE;
}

/* Find the key's memory. The driver passes it with the command; DEVX users name a umem. */
static enum fw_r mkey_memory(struct fw_call *k, const void *mkc, struct backing *to)
{
	const struct fw_mem *mem = k->c->mem;

	*to = (struct backing){0};
	if (is_indirect(mkc))
		return FW_R_NONE;
	if (mode_of(mkc) == PRM_MKC_MEMIC)
		return memic_memory(k, mkc, to);
	if (mem) {
		to->mem = mem->mem;
		to->va = mem->va;
		return MKC(len) > mem->len ? FW_R_MKEY_MEM_FIT : FW_R_NONE;
	}
	if (!LAYOUT_GET(create_mkey_in, k->in, mkey_umem_valid))
		return FW_R_MKEY_UMEM_VALID;
	return umem_memory(k, mkc, to);
}

/* Fills in a key, all but its index and its list. */
static void cmd_mkey_fill(struct fw_call *k, struct hw_mkey *m, const void *mkc,
			  const struct backing *to)
{
	memcpy(m->mkc, mkc, sizeof(m->mkc));
	eng_mkey_fields(m);
	atomic_store(&m->free, (uint32_t)MKC(free));
	m->pdn = (uint32_t)MKC(pd);
	m->mem = to->mem;
	m->va = to->va;
	m->umem = to->umem;
	m->memic = to->memic;
	m->odp = !LAYOUT_GET(create_mkey_in, k->in, pg_access) ? HW_ODP_NONE
		 : MKC(len) == UINT64_MAX && !MKC(start_addr)  ? HW_ODP_IMPLICIT
							       : HW_ODP_EXPLICIT;
	fw_refer(k->s, SEG_T_MKEY, m, 1);
}

/*
 * Allocate blocks for the longest list that the key may have; they are found through the first one.
 */
static enum fw_r list_alloc(struct fw_call *k, struct hw_mkey *m, uint32_t idx, uint32_t entries)
{
	struct hw_klm *first = NULL;

	for (uint32_t n = 0; n * HW_KLM_PER_BLOCK < entries; n++) {
		struct hw_klm *b;
		uint32_t i;
		int r = seg_alloc(k->s, SEG_T_KLM, k->owner, &i);

		if (r < 0)
			return r == -ENOSPC ? FW_R_TABLE_FULL : fw_errno(k, r);
		b = seg_at(k->s, SEG_T_KLM, i);
		b->hca = k->c->hca;
		b->mkey = idx;
		b->mkey_gen = m->gen;
		if (first)
			first->more[n - 1] = i;
		else
			m->klm = i;
		first = first ? first : b;
		atomic_store(seg_owner_word(k->s, SEG_T_KLM, i), SEG_OWNER_DEVICE);
	}
	return FW_R_NONE;
}

static enum fw_r list_make(struct fw_call *k, struct hw_mkey *m, uint32_t idx, const void *mkc)
{
	uint32_t n = LAYOUT_GET32(create_mkey_in, k->in, translations_octword_actual_size);
	const uint8_t *list = (const uint8_t *)k->in + LAYOUT_SZ(create_mkey_in);
	uint32_t most = (uint32_t)MKC(translations_octword_size);
	uint32_t bsf = (uint32_t)MKC(bsf_octword_size);
	enum fw_r r = list_alloc(k, m, idx, most + bsf);

	m->klm_max = most;
	m->bsf_max = (uint8_t)bsf;

	for (uint32_t i = 0; !r && i < n; i++)
		memcpy(hw_klm_entry(k->s, m, i), list + i * HW_KLM_BYTES, HW_KLM_BYTES);
	m->klm_n = n;
	return r;
}

enum fw_r fw_cmd_create_mkey(struct fw_call *k)
{
	const void *mkc = LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, k->in);
	struct backing to;
	struct hw_mkey *m;
	uint32_t idx;
	enum fw_r r = check_mkc(k, mkc);

	if (!r)
		r = mkey_memory(k, mkc, &to);
	if (!r)
		r = fw_alloc(k, SEG_T_MKEY, &idx, &m);
	if (r)
		return r;
	m->hca = k->c->hca;
	m->uid = k->c->uid;
	if (is_indirect(mkc)) {
		r = list_make(k, m, idx, mkc);
		if (r) {
			fw_mkey_release(k->s, idx);
			return r;
		}
	}
	m->key = idx << 8;
	m->born = fw_born(k);
	cmd_mkey_fill(k, m, mkc, &to);
	LAYOUT_SET(create_mkey_out, k->out, mkey_index, idx);
	fw_commit(&m->flags);
	atomic_store_explicit(&m->valid, 1, memory_order_release);
	return FW_R_NONE;
}

/*
 * Called under the HCA's lock. The key is disabled while it changes, so that nobody sees it half
 * changed.
 */
static enum fw_r umr_locked(struct fw_call *k, uint32_t key)
{
	const void *mkc = LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, k->in);
	struct hw_mkey *m = fw_mkey(k, key >> 8);
	struct backing to;
	enum fw_r r;

	if (!m || m->key != key || (uint32_t)MKC(mkey_7_0) != (key & 0xff))
		return FW_R_MKEY_NONE;
	r = check_mkc(k, mkc);
	if (!r)
		r = mkey_memory(k, mkc, &to);
	if (r)
		return r;
	atomic_store_explicit(&m->valid, 0, memory_order_seq_cst);
	r = fw_errno(k, eng_mkey_quiesce(k->s, key >> 8));
	if (r == FW_R_NONE) {
		eng_adopt_key_ended(k->s, key >> 8);
		fw_refer(k->s, SEG_T_MKEY, m, -1);
		cmd_mkey_fill(k, m, mkc, &to);
	}
	atomic_store_explicit(&m->valid, 1, memory_order_release);
	return r;
}

int fw_umr(const struct fw_ctx *c, uint32_t key, const void *in)
{
	struct fw_call k = {.c = c, .s = c->seg, .in = in, .inlen = LAYOUT_SZ(create_mkey_in)};
	uint64_t mask;
	enum fw_r r;
	int lock;

	k.hca = hw_hca(c->seg, c->hca);
	if (!k.hca)
		return -ENODEV;
	k.caps = &k.hca->caps;
	mask = fw_sig_block(c);
	lock = seg_lock(k.s, &k.hca->lock, SEG_LOCK_CTRL_NS);
	if (lock >= 0) {
		if (lock == SEG_LOCK_INHERITED)
			fw_recount(k.s, c->hca);
		r = umr_locked(&k, key);
		seg_unlock(k.s, &k.hca->lock);
	} else {
		r = fw_errno(&k, lock);
	}
	fw_sig_restore(c, mask);
	TRACE(LOG_FW, "UMR mkey 0x%x: %d", key, r == FW_R_ERRNO ? k.err : (int)r);
	return r == FW_R_ERRNO ? k.err : fw_status_to_errno(fw_refusal(r)->status);
}

enum fw_r fw_cmd_query_mkey(struct fw_call *k)
{
	const struct hw_mkey *m = fw_mkey(k, LAYOUT_GET32(query_mkey_in, k->in, mkey_index));

	if (!m)
		return FW_R_MKEY_QUERY_NONE;
	if (LAYOUT_GET(query_mkey_in, k->in, pg_access))
		return FW_R_MKEY_PG_ACCESS;
	memcpy(LAYOUT_IN(query_mkey_out, memory_key_mkey_entry, k->out), m->mkc, sizeof(m->mkc));
	return FW_R_NONE;
}

enum fw_r fw_cmd_destroy_mkey(struct fw_call *k)
{
	uint32_t idx = LAYOUT_GET32(destroy_mkey_in, k->in, mkey_index);
	const struct hw_mkey *m = fw_mkey(k, idx);

	if (!m)
		return FW_R_MKEY_NONE;
	return fw_errno(k, fw_mkey_free(k->s, idx));
}
