/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Dynamic UARs, and mmap(2) of the command file. Owns the context's mmap table: an entry's key is
 * its page offset, as libmlx5 gets it from UAR ALLOC. Called by uverbs.
 *
 * A mapped UAR outlives its handle, as in the kernel: DEALLOC_UAR is sent when the process has
 * unmapped it, which is checked whenever UARs are made or destroyed, or by reaping the file.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include "hw/uar.h"
#include "mlx5/priv.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/uar.h"

/* Bits 8..15 of the page offset of an mmap. */
enum mmap_cmd {
	MMAP_REGULAR = 0,
	MMAP_CONTIGUOUS = 1,
	MMAP_WC = 2,
	MMAP_NC = 3,
	MMAP_CORE_CLOCK = 5,
	MMAP_ALLOC_WC = 6,
	MMAP_CLOCK_INFO = 7,
	MMAP_DEVICE_MEM = 8,
	/* keys of dynamic UARs: commands 9..255, each with a 16-bit index */
	MMAP_FIRST_DYNAMIC = 9,
	MMAP_LAST_DYNAMIC = 255,
};

#define MAPS_MAX ((MMAP_LAST_DYNAMIC - MMAP_FIRST_DYNAMIC + 1u) << 16)

struct mlx5_uar {
	struct uv_object obj;
	uint32_t line; /* index in mlx5_context.maps */
};

/*
 * key = command << 16 | index; in the offset the index's low byte is below the command, its high
 * byte above.
 */
static uint64_t key_to_offset(uint32_t key)
{
	uint64_t cmd = key >> 16, index = key & 0xffff;

	return ((index >> 8) << 16 | cmd << 8 | (index & 0xff)) << MLX5_PAGE_SHIFT;
}

static uint32_t offset_to_key(uint64_t off)
{
	uint64_t pgoff = off >> MLX5_PAGE_SHIFT;

	return (uint32_t)((pgoff >> 8 & 0xff) << 16 | (pgoff >> 16 & 0xff) << 8 | (pgoff & 0xff));
}

/* Free UARs without a handle that this process does not map any more. */
static void maps_sweep(struct uv_context *ctx)
{
	struct mlx5_context *mc = mlx5_context(ctx);

	for (uint32_t i = 0; i < mc->nmaps; i++) {
		struct mlx5_map *m = &mc->maps[i];
		const struct hw_uar *u;

		if (!m->uar || !m->gone)
			continue;
		/* A VAR's page has no effect, so a VAR is freed even while it is mapped. */
		if (!m->var && (!ctx->sys->uar_mapped || ctx->sys->uar_mapped(m->uar)))
			continue;
		/* A queue that the program has left uses it: both go when the file is closed. */
		u = hw_uar(ctx->seg, m->uar);
		if (u && atomic_load(&u->refs))
			continue;
		if (mlx5_exec_id(ctx, PRM_OP_DEALLOC_UAR, m->uar) == 0)
			*m = (struct mlx5_map){0};
	}
}

/* Find a free entry of the table, lowest first as in the kernel; -ENOMEM. */
static int maps_line(struct mlx5_context *mc)
{
	const uint32_t step = 16;
	struct mlx5_map *more;
	uint32_t i;

	for (i = 0; i < mc->nmaps; i++)
		if (!mc->maps[i].uar)
			return (int)i;
	if (mc->nmaps + step > MAPS_MAX)
		return -ENOMEM;
	more = heap_grow(mc->maps, mc->nmaps * sizeof(*more), (mc->nmaps + step) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	mc->maps = more;
	mc->nmaps += step;
	return (int)i;
}

static int uar_destroy(struct uv_object *o, int why)
{
	struct mlx5_uar *uar = (struct mlx5_uar *)o;
	struct uv_context *ctx;

	if (why == UV_CLOSE)
		return 0;
	ctx = uv_obj_context(o);
	mlx5_context(ctx)->maps[uar->line].gone = true;
	maps_sweep(ctx);
	return 0;
}

const struct uv_type mlx5_uar_type = {
	.name = "UAR",
	.object_id = MLX5_IB_OBJECT_UAR,
	.size = sizeof(struct mlx5_uar),
	.destroy_order = 6,
	.destroy = uar_destroy,
};

/* A page of the device with a line in the table; `type` is the firmware's. */
static int uar_page_alloc(struct uv_context *ctx, enum hw_uar_type type, struct mlx5_uar *uar)
{
	uint8_t in[LAYOUT_SZ(alloc_uar_in)] = {0}, out[LAYOUT_SZ(alloc_uar_out)];
	int r, line;

	maps_sweep(ctx);
	line = maps_line(mlx5_context(ctx));
	if (line < 0)
		return line;
	LAYOUT_SET(alloc_uar_in, in, op_mod, type);
	r = MLX5_EXEC(ctx, ALLOC_UAR, NULL, in, out);
	if (r < 0)
		return r;
	uar->line = (uint32_t)line;
	mlx5_context(ctx)->maps[line] = (struct mlx5_map){
		.uar = LAYOUT_GET32(alloc_uar_out, out, uar), .var = type == HW_UAR_VAR};
	return 0;
}

/* Answer with offset, number and length: in the kernel's order. */
static int page_answer(struct uv_bundle *b, const struct mlx5_uar *uar, const uint16_t attr[3])
{
	uint64_t offset = key_to_offset(((uint32_t)MMAP_FIRST_DYNAMIC << 16) + uar->line);
	uint32_t page_id = mlx5_context(uv_b_context(b))->maps[uar->line].uar;
	uint32_t length = MLX5_PAGE_SIZE;
	int r = uv_b_out(b, attr[0], &offset, sizeof(offset));

	if (r == 0)
		r = uv_b_out(b, attr[1], &page_id, sizeof(page_id));
	if (r == 0)
		r = uv_b_out(b, attr[2], &length, sizeof(length));
	return r;
}

int mlx5_method_uar_alloc(struct uv_bundle *b)
{
	static const uint16_t answer[] = {MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET,
					  MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID,
					  MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH};
	struct mlx5_uar *uar = (void *)uv_b_new(b, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE);
	uint64_t type = uv_b_const(b, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, 0);
	int r;

	if (type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF && type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC)
		return uv_why(b, -EOPNOTSUPP, "no such type");
	/* the same numbers: 0 BF, 1 NC */
	r = uar_page_alloc(uv_b_context(b), (enum hw_uar_type)type, uar);
	if (r < 0)
		return r;
	uv_b_created(b);
	return page_answer(b, uar, answer);
}

const struct uv_type mlx5_var_type = {
	.name = "VAR",
	.object_id = MLX5_IB_OBJECT_VAR,
	.size = sizeof(struct mlx5_uar),
	.destroy_order = 6,
	.destroy = uar_destroy,
};

int mlx5_method_var_alloc(struct uv_bundle *b)
{
	static const uint16_t answer[] = {MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_OFFSET,
					  MLX5_IB_ATTR_VAR_OBJ_ALLOC_PAGE_ID,
					  MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_LENGTH};
	struct mlx5_uar *var = (void *)uv_b_new(b, MLX5_IB_ATTR_VAR_OBJ_ALLOC_HANDLE);
	int r = uar_page_alloc(uv_b_context(b), HW_UAR_VAR, var);

	if (r == -ENOMEM) /* the kernel's error without a free page: alloc_var_entry() */
		return -ENOSPC;
	if (r < 0)
		return r;
	uv_b_created(b);
	return page_answer(b, var, answer);
}

static int mmap_entry(struct uv_context *ctx, void *addr, size_t len, int prot, int flags,
		      off_t off, void **out)
{
	const struct mlx5_context *mc = mlx5_context(ctx);
	uint32_t line = offset_to_key((uint64_t)off) - ((uint32_t)MMAP_FIRST_DYNAMIC << 16);
	int err = 0;

	if ((uint64_t)off >> MLX5_PAGE_SHIFT > UINT32_MAX || line >= mc->nmaps)
		return uv_no(-EINVAL, "no page has this offset");
	if (!mc->maps[line].uar || mc->maps[line].gone)
		return uv_no(-EINVAL, "the page of this offset is freed");
	if (len > MLX5_PAGE_SIZE || !len || !(flags & MAP_SHARED))
		return uv_no(-EINVAL, "one page, mapped shared");
	*out = ctx->sys->uar_mmap(addr, MLX5_PAGE_SIZE, prot, flags,
				  mc->maps[line].var ? SEG_NONE : mc->maps[line].uar, &err);
	return *out == MAP_FAILED ? err : 0;
}

/*
 * The free-running counter would be read only, and does not exist: its bit in GET_CONTEXT's answer
 * is 0.
 */
static int mmap_counter(size_t len, int prot)
{
	if (len > MLX5_PAGE_SIZE || !len)
		return uv_no(-EINVAL, "one page");
	if (prot & PROT_WRITE)
		return uv_no(-EPERM, "the core clock is read only");
	return uv_no(-EOPNOTSUPP, "the core clock cannot be mapped");
}

int mlx5_mmap(struct uv_context *ctx, void *addr, size_t len, int prot, int flags, off_t off,
	      void **out)
{
	uint32_t key = offset_to_key((uint64_t)off);

	switch (key >> 16) {
	case MMAP_REGULAR:
	case MMAP_WC:
	case MMAP_NC:
		return mlx5_bfreg_mmap(ctx, key & 0xff, false, addr, len, prot, flags, out);
	case MMAP_ALLOC_WC:
		return mlx5_bfreg_mmap(ctx, key & 0xffff, true, addr, len, prot, flags, out);
	case MMAP_CONTIGUOUS:
		return uv_no(-ENOSYS, "there is no contiguous memory");
	case MMAP_CORE_CLOCK:
		return mmap_counter(len, prot);
	case MMAP_DEVICE_MEM:
		return mlx5_dm_mmap(ctx, key & 0xffff, addr, len, prot, flags, out);
	case MMAP_CLOCK_INFO:
		return mlx5_clock_mmap(ctx, key & 0xff, addr, len, prot, flags, out);
	default:
		return mmap_entry(ctx, addr, len, prot, flags, off, out);
	}
}

void mlx5_uar_finish(struct mlx5_context *mc)
{
	heap_free(mc->maps);
	mc->maps = NULL;
	mc->nmaps = 0;
}
