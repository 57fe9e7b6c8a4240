/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory that commands refer to by umem id. Programs call this. */
#include <errno.h>
#include <stdlib.h>
#include "devx/devx.h"

#define ADAPTER_PAGE 4096 /* bytes; the smallest page of the device */

struct umem {
	struct mlx5dv_devx_umem dv; /* must be first: programs hold a pointer to it */
	struct ibv_context *context;
	uint32_t handle;
};

/* `bitmap_optional`: a kernel that does not know page sizes ignores them instead of refusing. */
static struct mlx5dv_devx_umem *umem_reg(struct ibv_context *context,
					 const struct mlx5dv_devx_umem_in *in, bool bitmap_optional)
{
	struct ib_uverbs_attr *bitmap, *handle;
	struct umem *umem;
	struct devx_cmd cmd;
	int err = 0;

	if (in->comp_mask & ~(uint64_t)MLX5DV_UMEM_MASK_DMABUF)
		err = EOPNOTSUPP;
	else if ((in->comp_mask & MLX5DV_UMEM_MASK_DMABUF) && in->dmabuf_fd == -1)
		err = EBADF;
	if (err) {
		errno = err;
		return NULL;
	}
	umem = calloc(1, sizeof(*umem));
	if (!umem)
		return NULL;
	devx_cmd_init(&cmd, MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG);
	devx_in_u64(&cmd, MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, (uintptr_t)in->addr);
	devx_in_u64(&cmd, MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, in->size);
	devx_in_u32(&cmd, MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, in->access);
	if (in->comp_mask & MLX5DV_UMEM_MASK_DMABUF)
		devx_fd(&cmd, MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD, in->dmabuf_fd);
	bitmap = devx_in_u64(&cmd, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, in->pgsz_bitmap);
	if (bitmap_optional)
		bitmap->flags &= (uint16_t)~UVERBS_ATTR_F_MANDATORY;
	devx_out(&cmd, MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, &umem->dv.umem_id,
		 sizeof(umem->dv.umem_id));
	handle = devx_handle(&cmd, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, 0);
	err = devx_ioctl(context->cmd_fd, &cmd);
	if (err) {
		free(umem);
		errno = err;
		return NULL;
	}
	umem->context = context;
	umem->handle = (uint32_t)handle->data;
	return &umem->dv;
}

DEVX_API struct mlx5dv_devx_umem *mlx5dv_devx_umem_reg(struct ibv_context *ctx, void *addr,
						       size_t size, uint32_t access)
{
	struct mlx5dv_devx_umem_in in = {
		.addr = addr,
		.size = size,
		.access = access,
		.pgsz_bitmap = UINT64_MAX & ~(uint64_t)(ADAPTER_PAGE - 1),
	};

	return umem_reg(ctx, &in, true);
}

DEVX_API struct mlx5dv_devx_umem *mlx5dv_devx_umem_reg_ex(struct ibv_context *ctx,
							  struct mlx5dv_devx_umem_in *umem_in)
{
	return umem_reg(ctx, umem_in, false);
}

DEVX_API int mlx5dv_devx_umem_dereg(struct mlx5dv_devx_umem *dv)
{
	struct umem *umem = (struct umem *)dv;
	struct devx_cmd cmd;
	int err;

	devx_cmd_init(&cmd, MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG);
	devx_handle(&cmd, MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, umem->handle);
	err = devx_ioctl(umem->context->cmd_fd, &cmd);
	if (!err)
		free(umem);
	return err;
}
