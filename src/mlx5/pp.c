/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * PP: entries of the HCA's table of rate limits. Called by uverbs.
 *
 * As in the kernel, equal limits share an entry under the uid that all contexts may use, unless the
 * program asks for one of its own. The firmware owns the table; this file looks a free entry up
 * there, and tries the next one if another process takes it meanwhile.
 */
#include <errno.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include "hw/flags.h"
#include "hw/obj.h"
#include "mlx5/priv.h"
#include "wire/prm/qos.h"

#define CTX_BYTES LAYOUT_SZ(set_pp_rate_limit_context)

struct mlx5_pp {
	struct uv_object obj;
	uint16_t index, uid;
};

static int rate_set(struct uv_context *ctx, uint16_t uid, uint32_t index, const void *limit)
{
	uint8_t in[LAYOUT_SZ(set_pp_rate_limit_in)] = {0};
	uint8_t out[LAYOUT_SZ(set_pp_rate_limit_out)];

	LAYOUT_SET(set_pp_rate_limit_in, in, rate_limit_index, index);
	if (limit)
		memcpy(LAYOUT_IN(set_pp_rate_limit_in, ctx, in), limit, CTX_BYTES);
	return mlx5_exec_as(ctx, uid, PRM_OP_SET_PP_RATE_LIMIT, NULL, in, sizeof(in), out,
			    sizeof(out));
}

/* The entry of an equal shared limit, else the lowest free one; 0: the table is full. */
static uint32_t rate_place(struct uv_context *ctx, const void *limit, bool dedicated)
{
	uint32_t size = mlx5_caps(ctx)->pp_table_size;
	uint8_t used[HW_PP_TABLE_MAX / 8] = {0};

	seg_for_each_live (ctx->seg, SEG_T_OBJ, i) {
		const struct hw_obj *o = seg_at(ctx->seg, SEG_T_OBJ, i);

		if (!(__atomic_load_n(&o->flags, __ATOMIC_ACQUIRE) & HW_F_READY) ||
		    o->kind != HW_OBJ_RATE || o->hca != ctx->hca || o->type >= size)
			continue;
		if (!dedicated && o->uid == MLX5_SHARED_UID && !memcmp(o->ctx, limit, CTX_BYTES))
			return o->type;
		used[o->type / 8] |= (uint8_t)(1 << o->type % 8);
	}
	for (uint32_t i = 1; i < size; i++)
		if (!(used[i / 8] >> i % 8 & 1))
			return i;
	return 0;
}

static int pp_destroy(struct uv_object *o, int why)
{
	struct mlx5_pp *pp = (struct mlx5_pp *)o;

	/* The kernel ignores the firmware's result, too. */
	if (why != UV_CLOSE)
		rate_set(uv_obj_context(o), pp->uid, pp->index, NULL);
	return 0;
}

const struct uv_type mlx5_pp_type = {
	.name = "PP",
	.object_id = MLX5_IB_OBJECT_PP,
	.size = sizeof(struct mlx5_pp),
	.destroy_order = 6,
	.destroy = pp_destroy,
};

int mlx5_method_pp_alloc(struct uv_bundle *b)
{
	struct mlx5_pp *pp = (void *)uv_b_new(b, MLX5_IB_ATTR_PP_OBJ_ALLOC_HANDLE);
	uint64_t flags = uv_b_const(b, MLX5_IB_ATTR_PP_OBJ_ALLOC_FLAGS, 0);
	bool dedicated = flags & MLX5_IB_UAPI_PP_ALLOC_FLAGS_DEDICATED_INDEX;
	struct uv_context *ctx = uv_b_context(b);
	const struct hw_caps *caps = mlx5_caps(ctx);
	uint8_t limit[CTX_BYTES] = {0};
	const void *given;
	uint32_t place;
	uint64_t rate;
	size_t len;
	int r;

	if (!ctx->devx_uid)
		return uv_why(b, -EINVAL, "the context was not opened for DEVX");
	given = uv_b_in(b, MLX5_IB_ATTR_PP_OBJ_ALLOC_CTX, &len);
	memcpy(limit, given, len);
	rate = LAYOUT_GET(set_pp_rate_limit_context, limit, rate_limit);
	if (rate < caps->pp_min_rate || rate > caps->pp_max_rate)
		return uv_why(b, -EINVAL, "rate_limit is not within the caps' range");
	pp->uid = dedicated ? (uint16_t)ctx->devx_uid : MLX5_SHARED_UID;
	do {
		place = rate_place(ctx, limit, dedicated);
		if (!place)
			return uv_no(-ENOSPC, "the table of rates is full");
		r = rate_set(ctx, pp->uid, place, limit);
	} while (r == -EBUSY);
	if (r < 0)
		return r;
	pp->index = (uint16_t)place;
	uv_b_created(b);
	return uv_b_out(b, MLX5_IB_ATTR_PP_OBJ_ALLOC_INDEX, &pp->index, sizeof(pp->index));
}
