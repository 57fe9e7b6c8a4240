/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Device memory (MEMIC), its mappings, and the regions over it; each rule is the one of mlx5_ib
 * dm.c. Called by uverbs, and by uar.c for mmap.
 *
 * Memory that the program still maps outlives its handle, as in the kernel: DEALLOC_MEMIC follows
 * when no process maps it (hw_memic_mapped()), which is checked whenever device memory is made or
 * freed, or by reaping the file.
 */
#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include "hw/memic.h"
#include "mlx5/priv.h"
#include "util/sys.h"
#include "wire/prm/memic.h"
#include "wire/prm/mkey.h"

#define UNIT UINT64_C(64) /* MLX5_MEMIC_BASE_SIZE */
#define UNIT_LOG 6
#define INDEXES (1u << 16) /* of the command MLX5_IB_MMAP_DEVICE_MEM */

/* uv_dm.obj.drv */
struct mlx5_dm {
	uint32_t entry; /* in mlx5_context.dm, which moves when it grows */
};

struct mlx5_dm_map {
	uint64_t addr;     /* in BAR 0; 0: the entry is free */
	uint64_t len;      /* bytes, in units */
	uint32_t first, n; /* indexes of its pages in offsets for mmap */
	bool gone;         /* the handle is destroyed: no further mmap, and DEALLOC_MEMIC follows */
};

static struct mlx5_dm_map *map_of(const struct uv_dm *dm)
{
	const struct mlx5_dm *d = dm->obj.drv;

	return &mlx5_context(uv_obj_context(&dm->obj))->dm[d->entry];
}

/* Where the memory lies in the segment. */
static uint8_t *bytes_of(const struct uv_context *ctx, const struct mlx5_dm_map *m)
{
	seg_for_each_owned (ctx->seg, SEG_T_MEMIC, ctx->seg_file + 1, i) {
		const struct hw_memic *e = seg_at(ctx->seg, SEG_T_MEMIC, i);

		if (e->hca == ctx->hca && e->len && HW_MEMIC_BAR_START + e->start == m->addr)
			return hw_membank_at(ctx->seg, e->bank, e->start);
	}
	return NULL;
}

/* Does this process, or a fork child that has inherited the mapping, still map the memory? */
static bool still_mapped(const struct uv_context *ctx, const struct mlx5_dm_map *m)
{
	const uint8_t *bytes = bytes_of(ctx, m);

	return !bytes || hw_memic_mapped(ctx->seg, bytes, m->len);
}

/* ---- allocations */

static int memic_dealloc(struct uv_context *ctx, const struct mlx5_dm_map *m)
{
	uint8_t in[LAYOUT_SZ(dealloc_memic_in)] = {0}, out[LAYOUT_SZ(dealloc_memic_out)];

	LAYOUT_SET(dealloc_memic_in, in, memic_start_addr, m->addr);
	LAYOUT_SET(dealloc_memic_in, in, memic_size, m->len);
	return MLX5_EXEC(ctx, DEALLOC_MEMIC, NULL, in, out);
}

/* Free device memory without a handle that nobody maps any more. */
static void dm_sweep(struct uv_context *ctx)
{
	struct mlx5_context *mc = mlx5_context(ctx);

	for (uint32_t i = 0; i < mc->ndm; i++) {
		struct mlx5_dm_map *m = &mc->dm[i];

		if (m->addr && m->gone && !still_mapped(ctx, m) && memic_dealloc(ctx, m) == 0)
			*m = (struct mlx5_dm_map){0};
	}
}

/* Find a free entry of the table; -ENOMEM. */
static int dm_entry(struct mlx5_context *mc)
{
	const uint32_t step = 8;
	struct mlx5_dm_map *more;
	uint32_t i;

	for (i = 0; i < mc->ndm; i++)
		if (!mc->dm[i].addr)
			return (int)i;
	more = heap_grow(mc->dm, mc->ndm * sizeof(*more), (mc->ndm + step) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	mc->dm = more;
	mc->ndm += step;
	return (int)i;
}

/* The lowest run of n indexes without an owner (rdma_user_mmap_entry_insert_range()). */
static uint32_t index_find(const struct mlx5_context *mc, uint32_t n)
{
	uint32_t at = 0, i = 0;

	while (i < mc->ndm) {
		const struct mlx5_dm_map *m = &mc->dm[i++];

		if (m->addr && at < m->first + m->n && m->first < at + n) {
			at = m->first + m->n;
			i = 0;
		}
	}
	return at;
}

static int memic_alloc(struct uv_context *ctx, uint64_t len, uint32_t log_align, uint64_t *addr)
{
	uint8_t in[LAYOUT_SZ(alloc_memic_in)] = {0}, out[LAYOUT_SZ(alloc_memic_out)];
	uint32_t align = log_align < UNIT_LOG ? 0 : log_align - UNIT_LOG;
	int r;

	if (!len)
		return uv_no(-EINVAL, "no bytes");
	if (align > HW_MEMIC_LOG_ALIGN)
		return uv_no(-EINVAL, "the alignment is beyond log_max_memic_addr_alignment");
	if (len > HW_MEMIC_SIZE)
		return uv_no(-ENOMEM, "more than max_dm_size");
	LAYOUT_SET(alloc_memic_in, in, log_memic_addr_alignment, align);
	LAYOUT_SET(alloc_memic_in, in, range_start_addr, HW_MEMIC_BAR_START);
	LAYOUT_SET(alloc_memic_in, in, range_size, HW_MEMIC_BAR_SIZE);
	LAYOUT_SET(alloc_memic_in, in, memic_size, len);
	r = MLX5_EXEC(ctx, ALLOC_MEMIC, NULL, in, out);
	if (r < 0) /* NO_RESOURCES for every page of the BAR */
		return r == -EAGAIN ? -ENOMEM : r;
	*addr = LAYOUT_GET(alloc_memic_out, out, memic_start_addr);
	return 0;
}

/* Answer with the page's index for mmap, and the offset in the page. */
static int dm_answer(struct uv_bundle *b, const struct mlx5_dm_map *m, uint16_t index_attr,
		     uint16_t offset_attr)
{
	uint64_t offset = m->addr & ~MLX5_PAGE_MASK;
	uint16_t index = (uint16_t)m->first;
	int r = uv_b_out(b, index_attr, &index, sizeof(index));

	if (r == -ENOENT)
		return uv_why(b, r, "there is no room for the index of the page");
	return r ? r : uv_b_out(b, offset_attr, &offset, sizeof(offset));
}

/* handle_alloc_dm_memic(): without room for the index the answer is ENOENT. */
static int dm_make(struct uv_bundle *b, struct mlx5_dm_map *m, uint64_t len, uint32_t log_align)
{
	struct uv_context *ctx = uv_b_context(b);
	int r;

	*m = (struct mlx5_dm_map){.len = roundup(len, UNIT)};
	m->n = (uint32_t)howmany(MIN(m->len, HW_MEMIC_SIZE), MLX5_PAGE_SIZE);
	m->first = index_find(mlx5_context(ctx), m->n);
	if (m->first + m->n > INDEXES)
		return -ENOMEM;
	r = memic_alloc(ctx, m->len, log_align, &m->addr);
	if (r)
		return r;
	r = dm_answer(b, m, MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX,
		      MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET);
	if (r)
		memic_dealloc(ctx, m);
	return r;
}

/* Steering memory (SW_ICM) belongs to flow steering: handle_alloc_dm_sw_icm(). */
static int sw_icm(void)
{
	if (!uv_capable(CAP_SYS_RAWIO) || !uv_capable(CAP_NET_RAW))
		return uv_no(-EPERM, "steering memory needs CAP_SYS_RAWIO and CAP_NET_RAW");
	return uv_no(-EOPNOTSUPP, "the device has no software steering");
}

int mlx5_alloc_dm(struct uv_dm *dm, uint32_t log_align, struct uv_bundle *b)
{
	uint64_t type = uv_b_const(b, MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE, MLX5_IB_UAPI_DM_TYPE_MEMIC);
	struct mlx5_context *mc = mlx5_context(uv_b_context(b));
	struct mlx5_dm *d;
	int i, r;

	if (type == MLX5_IB_UAPI_DM_TYPE_STEERING_SW_ICM ||
	    type == MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_SW_ICM ||
	    type == MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_PATTERN_SW_ICM)
		return sw_icm();
	if (type != MLX5_IB_UAPI_DM_TYPE_MEMIC)
		return uv_why(b, -EOPNOTSUPP, "no such type");
	dm_sweep(uv_b_context(b));
	i = dm_entry(mc);
	d = heap_zalloc(sizeof(*d));
	if (i < 0 || !d) {
		heap_free(d);
		return -ENOMEM;
	}
	r = dm_make(b, &mc->dm[i], dm->len, log_align);
	if (r) {
		mc->dm[i] = (struct mlx5_dm_map){0};
		heap_free(d);
		return r;
	}
	d->entry = (uint32_t)i;
	dm->obj.drv = d;
	return 0;
}

int mlx5_dealloc_dm(struct uv_dm *dm)
{
	map_of(dm)->gone = true;
	heap_free(dm->obj.drv);
	dm->obj.drv = NULL;
	dm_sweep(uv_obj_context(&dm->obj));
	return 0;
}

int mlx5_method_dm_query(struct uv_bundle *b)
{
	struct uv_dm *dm = (struct uv_dm *)uv_b_obj(b, MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE);
	const struct mlx5_dm_map *m = map_of(dm);
	int r = dm_answer(b, m, MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX,
			  MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET);

	return r ? r : uv_b_out(b, MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH, &dm->len, sizeof(dm->len));
}

int mlx5_method_dm_map_op_addr(struct uv_bundle *b)
{
	return uv_why(b, -EOPNOTSUPP, "cap memic_operations is 0");
}

int mlx5_dm_mmap(struct uv_context *ctx, uint32_t index, void *addr, size_t len, int prot,
		 int flags, void **out)
{
	const int placing = MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT;
	const struct mlx5_context *mc = mlx5_context(ctx);
	const struct mlx5_dm_map *m = NULL;
	const uint8_t *bytes;
	int fd;

	for (uint32_t i = 0; i < mc->ndm && !m; i++)
		if (mc->dm[i].addr && !mc->dm[i].gone && mc->dm[i].first == index)
			m = &mc->dm[i];
	if (!m)
		return uv_no(-EINVAL, "no device memory has this offset");
	if (!(flags & MAP_SHARED) || howmany(len, MLX5_PAGE_SIZE) != m->n)
		return uv_no(-EINVAL, "all of the device memory, mapped shared");
	bytes = bytes_of(ctx, m);
	if (!bytes)
		return -EINVAL;
	fd = hw_memic_open(ctx->seg, bytes, m->len);
	if (fd < 0)
		return fd;
	/*
	 * Check again: it may have been freed before it was marked. From now on it cannot get
	 * another owner.
	 */
	*out = bytes_of(ctx, m) == bytes ? sys_mmap(addr, len, prot, MAP_SHARED | (flags & placing),
						    fd, bytes - ctx->seg->base)
					 : (void *)(intptr_t)-EINVAL;
	sys_close(fd);
	return sys_is_err(*out) ? (int)(intptr_t)*out : 0;
}

/* ---- regions */

#define REGION_ACCESS                                                    \
	(IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |  \
	 IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC | \
	 IB_UVERBS_ACCESS_ZERO_BASED)

/* mlx5_ib_reg_dm_mr(): MLX5_IB_DM_MEMIC_ALLOWED_ACCESS */
int mlx5_reg_dm_mr(struct uv_mr *mr, uint64_t offset)
{
	if (mr->access & ~(uint32_t)REGION_ACCESS)
		return uv_no(-EINVAL, "flags that device memory does not have");
	mr->iova = map_of(mr->dm)->addr + offset;
	return mlx5_memic_mr(mr);
}

void mlx5_dm_finish(struct mlx5_context *mc)
{
	heap_free(mc->dm);
	mc->dm = NULL;
	mc->ndm = 0;
}
