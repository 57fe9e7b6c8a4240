/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Protection domains and address handles. Called by uverbs through the ops table. */
#include <errno.h>
#include "hw/port.h"
#include "mlx5/priv.h"
#include "wire/prm/pd.h"

#define MLX5_AH_RESP_LEN \
	(offsetof(struct mlx5_ib_create_ah_resp, dmac) + sizeof(((struct uv_ah *)0)->dmac))

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
 * libmlx5 puts the address vector into each WQE; the device keeps nothing of it. On an Ethernet
 * port it takes the MAC address from the answer.
 */
int mlx5_create_ah(struct uv_ah *ah, struct uv_udata *u)
{
	struct mlx5_ib_create_ah_resp resp = {.response_length = MLX5_AH_RESP_LEN};

	const struct hw_port *port = mlx5_port(uv_obj_context(&ah->obj), ah->attr.port_num);

	if (!port || !hw_port_is_eth(port))
		return 0;
	if (u->outlen < resp.response_length)
		return uv_no(-EINVAL, "no room for the MAC address");
	memcpy(resp.dmac, ah->dmac, sizeof(resp.dmac));
	return uv_udata_out(u, &resp, resp.response_length);
}
