/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Protection domains and address handles. Called by uverbs through the ops table. */
#include <errno.h>
#include "mlx5/priv.h"
#include "wire/prm/pd.h"

int mlx5_alloc_pd(struct uv_pd *pd, struct uv_udata *u)
{
	uint8_t in[LAYOUT_SZ(alloc_pd_in)] = {0}, out[LAYOUT_SZ(alloc_pd_out)];
	struct uv_context *ctx = uv_obj_context(&pd->obj);
	struct mlx5_ib_alloc_pd_resp resp;
	int r;

	r = MLX5_EXEC(ctx, ALLOC_PD, NULL, in, out);
	if (r < 0)
		return r;
	pd->pdn = LAYOUT_GET32(alloc_pd_out, out, pd);
	resp.pdn = pd->pdn;
	r = uv_udata_out(u, &resp, sizeof(resp));
	if (r < 0)
		mlx5_exec_id(ctx, PRM_OP_DEALLOC_PD, pd->pdn);
	return r;
}

int mlx5_dealloc_pd(struct uv_pd *pd)
{
	return mlx5_exec_id(uv_obj_context(&pd->obj), PRM_OP_DEALLOC_PD, pd->pdn);
}

/*
 * libmlx5 puts an InfiniBand address vector into each WQE; the device keeps nothing of it. (The
 * answer, the resolved MAC address, is for RoCE ports only.)
 */
int mlx5_create_ah(struct uv_ah *ah, struct uv_udata *u)
{
	return 0;
}
