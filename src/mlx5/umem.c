/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program's memory for queues and doorbell records: each range is a firmware umem made by the
 * driver, so that verbs objects and DEVX objects look the same to the firmware. Owns the context's
 * list of doorbell pages. Called by cq.c, qp.c, srq.c.
 */
#include <errno.h>
#include <stdlib.h>
#include "mlx5/priv.h"
#include "wire/prm/umem.h"

static int umem_cmd(struct uv_context *ctx, uint16_t uid, uint64_t va, uint64_t len, bool queue,
		    uint32_t *id)
{
	uint8_t in[LAYOUT_SZ(create_umem_in)] = {0}, out[LAYOUT_SZ(create_umem_out)];
	struct fw_mem mem = {.mem = mem_self(ctx->seg), .va = va, .len = len, .queue = queue};
	void *umem = LAYOUT_IN(create_umem_in, umem, in);
	uint64_t first = va & MLX5_PAGE_MASK;
	int r;

	LAYOUT_SET(umem, umem, num_of_mtt,
		   (va + len - first + MLX5_PAGE_SIZE - 1) >> MLX5_PAGE_SHIFT);
	LAYOUT_SET(umem, umem, page_offset, va - first);
	r = mlx5_exec_as(ctx, uid, PRM_OP_CREATE_UMEM, &mem, in, sizeof(in), out, sizeof(out));
	if (r == 0)
		*id = LAYOUT_GET32(create_umem_out, out, umem_id);
	return r;
}

static int umem_create(struct uv_context *ctx, uint16_t uid, uint64_t va, uint64_t len,
		       uint32_t access, bool queue, struct mlx5_umem *u)
{
	int r;

	*u = (struct mlx5_umem){0};
	r = uv_umem_get(ctx->file, va, len, access);
	if (r < 0)
		return r;
	r = umem_cmd(ctx, uid, va, len, queue, &u->id);
	if (r < 0) {
		uv_umem_put(ctx->file, va, len);
		return r;
	}
	u->uid = uid;
	u->va = va;
	u->len = len;
	return 0;
}

int mlx5_umem_create(struct uv_context *ctx, uint64_t va, uint64_t len, uint32_t access,
		     struct mlx5_umem *u)
{
	return umem_create(ctx, 0, va, len, access, false, u);
}

int mlx5_queue_umem_create(struct uv_context *ctx, uint64_t va, uint64_t len, uint32_t access,
			   struct mlx5_umem *u)
{
	int r = umem_create(ctx, 0, va, len, access, true, u);

	/* page_offset counts in 64 bytes: mlx5_umem_find_best_quantized_pgoff() */
	if (r == 0 && va & 63) {
		mlx5_umem_destroy(ctx, u);
		r = uv_no(-EINVAL, "buf_addr: a multiple of 64");
	}
	return r;
}

int mlx5_umem_create_devx(struct uv_context *ctx, uint64_t va, uint64_t len, uint32_t access,
			  struct mlx5_umem *u)
{
	return umem_create(ctx, (uint16_t)ctx->devx_uid, va, len, access, false, u);
}

int mlx5_umem_destroy(struct uv_context *ctx, struct mlx5_umem *u)
{
	uint8_t in[LAYOUT_SZ(destroy_umem_in)] = {0}, out[LAYOUT_SZ(destroy_umem_out)];
	int r;

	if (!u->id)
		return 0;
	LAYOUT_SET(destroy_umem_in, in, umem_id, u->id);
	r = mlx5_exec_as(ctx, u->uid, PRM_OP_DESTROY_UMEM, NULL, in, sizeof(in), out, sizeof(out));
	if (r < 0)
		return r;
	uv_umem_put(ctx->file, u->va, u->len);
	*u = (struct mlx5_umem){0};
	return 0;
}
