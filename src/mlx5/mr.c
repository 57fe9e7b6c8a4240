/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory regions: each is an mkey over a range of the caller's memory. uverbs has checked access
 * flags, alignment and the range, and has counted it. Called by uverbs through the ops table.
 */
#include <errno.h>
#include <limits.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include "hw/hca.h"
#include "hw/mkey.h"
#include "mlx5/priv.h"
#include "wire/prm/mkey.h"

enum { MKC_QPN_ANY = 0xffffff };

/* uv_mr.obj.drv: the region's memory, to make the key again when rereg does not give it. */
struct mlx5_mr {
	struct mem_slot mem;
};

struct mr_params {
	uint64_t start, len, iova;
	uint32_t access, pdn;
	uint32_t mode; /* enum prm_mkc_mode, or PRM_MKC_MEMIC */
	struct mem_slot mem;
};

/* Length of a page list with 8-byte entries, in 16-byte units. */
static uint64_t list_octowords(uint64_t iova, uint64_t len)
{
	uint64_t offset = iova & ~MLX5_PAGE_MASK;

	return ((offset + len + MLX5_PAGE_SIZE - 1) / MLX5_PAGE_SIZE + 1) / 2;
}

/*
 * The driver chooses the low byte of a key: each time another, so that an old key with the same
 * index is recognised as stale.
 */
uint8_t mlx5_key_variant(struct uv_context *ctx)
{
	return (uint8_t)atomic_fetch_add(&hw_hca(ctx->seg, ctx->hca)->mkey_var, 1);
}

/*
 * Fills in the fields that keys over the program's memory and keys over device memory have in
 * common.
 */
static void mkc_fill(void *mkc, const struct mr_params *p, uint8_t variant)
{
	LAYOUT_SET(mkc, mkc, a, !!(p->access & IB_UVERBS_ACCESS_REMOTE_ATOMIC));
	LAYOUT_SET(mkc, mkc, rw, !!(p->access & IB_UVERBS_ACCESS_REMOTE_WRITE));
	LAYOUT_SET(mkc, mkc, rr, !!(p->access & IB_UVERBS_ACCESS_REMOTE_READ));
	LAYOUT_SET(mkc, mkc, lw, !!(p->access & IB_UVERBS_ACCESS_LOCAL_WRITE));
	LAYOUT_SET(mkc, mkc, lr, 1);
	LAYOUT_SET(mkc, mkc, relaxed_ordering_write,
		   !!(p->access & IB_UVERBS_ACCESS_RELAXED_ORDERING));
	LAYOUT_SET(mkc, mkc, relaxed_ordering_read,
		   !!(p->access & IB_UVERBS_ACCESS_RELAXED_ORDERING));
	LAYOUT_SET(mkc, mkc, access_mode_1_0, p->mode & 3);
	LAYOUT_SET(mkc, mkc, access_mode_4_2, p->mode >> 2);
	LAYOUT_SET(mkc, mkc, qpn, MKC_QPN_ANY);
	LAYOUT_SET(mkc, mkc, mkey_7_0, variant);
	LAYOUT_SET(mkc, mkc, pd, p->pdn);
	LAYOUT_SET(mkc, mkc, start_addr, p->iova);
	LAYOUT_SET(mkc, mkc, len, p->len);
}

static int mr_mkey_fill(uint8_t in[LAYOUT_SZ(create_mkey_in)], const struct mr_params *p,
			uint8_t variant)
{
	void *mkc = LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, in);
	bool implicit = p->len == UINT64_MAX; /* a list of keys that are made when they are used */
	uint64_t octowords = implicit ? 0 : list_octowords(p->iova, p->len);

	mkc_fill(mkc, p, variant);
	if (p->mode == PRM_MKC_MEMIC)
		return 0;
	LAYOUT_SET(create_mkey_in, in, pg_access, !!(p->access & IB_UVERBS_ACCESS_ON_DEMAND));
	if (octowords > UINT32_MAX)
		return -EINVAL;
	LAYOUT_SET(create_mkey_in, in, translations_octword_actual_size, octowords);
	LAYOUT_SET(mkc, mkc, translations_octword_size, octowords);
	LAYOUT_SET(mkc, mkc, log_page_size, MLX5_PAGE_SHIFT);
	return 0;
}

static int mkey_create(struct uv_context *ctx, const struct mr_params *p, uint32_t *key)
{
	uint8_t in[LAYOUT_SZ(create_mkey_in)] = {0}, out[LAYOUT_SZ(create_mkey_out)];
	struct fw_mem mem = {.mem = p->mem, .va = p->start, .len = p->len};
	uint8_t variant = mlx5_key_variant(ctx);
	int r;

	r = mr_mkey_fill(in, p, variant);
	if (r == 0)
		r = MLX5_EXEC(ctx, CREATE_MKEY, p->mode == PRM_MKC_MTT ? &mem : NULL, in, out);
	if (r == 0)
		*key = LAYOUT_GET32(create_mkey_out, out, mkey_index) << 8 | variant;
	return r;
}

static int mr_make(struct uv_mr *mr, uint32_t mode)
{
	struct uv_context *ctx = uv_obj_context(&mr->obj);
	struct mr_params p = {
		.start = mr->start,
		.len = mr->len,
		.iova = mr->iova,
		.access = mr->access,
		.pdn = mr->pd->pdn,
		.mode = mode,
		.mem = mem_self(ctx->seg),
	};
	struct mlx5_mr *m = heap_zalloc(sizeof(*m));
	int r;

	if (!m)
		return -ENOMEM;
	r = mkey_create(ctx, &p, &mr->lkey);
	if (r < 0) {
		heap_free(m);
		return r;
	}
	m->mem = p.mem;
	mr->rkey = mr->lkey;
	mr->obj.drv = m;
	return 0;
}

/*
 * The checks of create_user_odp_mr() and ib_init_umem_odp(): that the memory is there is not one of
 * them. The kernel's list of pages, 8 bytes each, has at most INT_MAX bytes (kvmalloc()).
 */
static int odp_check(uint64_t start, uint64_t len, uint64_t iova)
{
	uint64_t from = start & MLX5_PAGE_MASK, end = start + len, to;

	if (!start && len == UINT64_MAX)
		return iova ? uv_no(-EINVAL, "the whole address space begins at 0") : 0;
	to = (end + MLX5_PAGE_SIZE - 1) & MLX5_PAGE_MASK;
	if (end < start || to < MLX5_PAGE_SIZE)
		return uv_no(-EOVERFLOW, "address and length wrap");
	if (to == from)
		return uv_no(-EINVAL, "the memory is empty");
	if ((to - from) / MLX5_PAGE_SIZE * 8 > INT_MAX)
		return uv_no(-ENOMEM, "more pages than a list can have");
	return 0;
}

int mlx5_reg_mr(struct uv_mr *mr, struct uv_udata *u)
{
	int r = 0;

	if (mr->access & IB_UVERBS_ACCESS_ON_DEMAND)
		r = odp_check(mr->start, mr->len, mr->iova);
	return r ? r : mr_make(mr, PRM_MKC_MTT);
}

int mlx5_memic_mr(struct uv_mr *mr)
{
	return mr_make(mr, PRM_MKC_MEMIC);
}

/* The key keeps its number, as in kernels that use a UMR for this: programs rely on it. */
int mlx5_rereg_mr(struct uv_mr *mr, uint32_t flags, uint64_t start, uint64_t len, uint64_t iova,
		  uint32_t access, struct uv_pd *pd)
{
	struct uv_context *ctx = uv_obj_context(&mr->obj);
	uint8_t in[LAYOUT_SZ(create_mkey_in)] = {0};
	struct mlx5_mr *m = mr->obj.drv;
	struct mr_params p = {.start = start,
			      .len = len,
			      .iova = iova,
			      .access = access,
			      .pdn = pd->pdn,
			      .mode = PRM_MKC_MTT};
	struct fw_mem mem;
	int r;

	r = access & IB_UVERBS_ACCESS_ON_DEMAND ? odp_check(start, len, iova) : 0;
	if (r)
		return r;
	p.mem = flags & IBV_REREG_MR_CHANGE_TRANSLATION ? mem_self(ctx->seg) : m->mem;
	mem = (struct fw_mem){.mem = p.mem, .va = p.start, .len = p.len};
	r = mr_mkey_fill(in, &p, (uint8_t)mr->lkey);
	if (r == 0)
		r = mlx5_umr(ctx, &mem, mr->lkey, in);
	if (r == 0)
		m->mem = p.mem;
	return r;
}

/* ---- prefetch: odp.c of mlx5_ib ---- */

/* get_prefetchable_mr(): the key is known by all contexts of the device. */
static int prefetchable(const struct uv_pd *pd, uint32_t advice, uint32_t lkey, struct hw_mkey **mk)
{
	const uint32_t writes = HW_ACC_LOCAL_WRITE | HW_ACC_REMOTE_WRITE | HW_ACC_ATOMIC;
	const struct uv_context *ctx = uv_obj_context(&pd->obj);
	struct hw_mkey *m = hw_mkey(ctx->seg, lkey);

	if (!m || !atomic_load(&m->valid) || m->key != lkey || m->hca != ctx->hca)
		return uv_no(-ENOENT, "no on-demand region has this key");
	/* The kernel has windows and DEVX keys over other keys in the same list. */
	if (m->mode == PRM_MKC_KLM || m->mode == PRM_MKC_KSM)
		return uv_no(-EINVAL, "the key is not of a region");
	if (!m->odp)
		return uv_no(-ENOENT, "no on-demand region has this key");
	if (m->pdn != pd->pdn)
		return uv_no(-EPERM, "the region is in another PD");
	if (advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE && !(m->access & writes))
		return uv_no(-EPERM, "the region is not writable");
	*mk = m;
	return 0;
}

/* Is the range in the region's pages? Its last page counts as a whole: ib_umem_end(). */
static bool in_pages(const struct hw_mkey *m, const struct ib_uverbs_sge *e)
{
	uint64_t end = m->va + m->len, va = m->va + (e->addr - m->start);

	end = end > MLX5_PAGE_MASK ? end : (end + MLX5_PAGE_SIZE - 1) & MLX5_PAGE_MASK;
	return e->addr >= m->start && va >= m->va && va < end && end - va >= e->length;
}

/* pagefault_mr(): pages that are absent are an error, unless none is to be made present. */
static int populate(const struct uv_pd *pd, const struct hw_mkey *m, uint32_t advice,
		    const struct ib_uverbs_sge *e)
{
	struct seg *s = uv_obj_context(&pd->obj)->seg;
	bool write = advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	uint64_t from, to;

	if (!in_pages(m, e))
		return uv_no(-EFAULT, "not inside the region");
	if (advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT || !e->length ||
	    !mem_is_self(s, m->mem))
		return 0;
	from = (m->va + (e->addr - m->start)) & MLX5_PAGE_MASK;
	to = (m->va + (e->addr - m->start) + e->length + MLX5_PAGE_SIZE - 1) & MLX5_PAGE_MASK;
	if (to <= from || to > UINT64_C(1) << 47)
		return uv_no(-EFAULT, "not an address of a program");
	return mem_populate(from, to - from, write) < 0 ? uv_no(-EFAULT, "pages are not mapped")
							: 0;
}

/*
 * All pages of the range count, absent or not: ib_umem_odp_map_dma_and_lock() returns their number.
 */
static int prefetch(const struct uv_pd *pd, struct hw_mkey *m, uint32_t advice,
		    const struct ib_uverbs_sge *e)
{
	uint64_t va = m->va + (e->addr - m->start);
	int r = populate(pd, m, advice, e);

	if (!r && e->length)
		atomic_fetch_add(&m->prefetched,
				 (va + e->length - 1) / MLX5_PAGE_SIZE - va / MLX5_PAGE_SIZE + 1);
	return r;
}

int mlx5_advise_mr(struct uv_pd *pd, uint32_t advice, uint32_t flags,
		   const struct ib_uverbs_sge *sge, size_t n)
{
	bool flush = flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH;
	struct hw_mkey *m = NULL;
	int r = 0;

	if (advice > IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		return uv_no(-EOPNOTSUPP, "no such advice");
	for (size_t i = 0; i < n && !r; i++) {
		r = prefetchable(pd, advice, sge[i].lkey, &m);
		if (!r && flush)
			r = prefetch(pd, m, advice, &sge[i]);
	}
	/* The kernel does the rest later, and nobody hears of its failures. */
	for (size_t i = 0; i < n && !r && !flush; i++)
		if (!prefetchable(pd, advice, sge[i].lkey, &m))
			prefetch(pd, m, advice, &sge[i]);
	return r;
}

int mlx5_dereg_mr(struct uv_mr *mr)
{
	int r;

	r = mlx5_exec_id(uv_obj_context(&mr->obj), PRM_OP_DESTROY_MKEY, mr->lkey >> 8);
	if (r < 0)
		return r;
	heap_free(mr->obj.drv);
	mr->obj.drv = NULL;
	return 0;
}
