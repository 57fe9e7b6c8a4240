/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* DEVX_UMEM: memory that the program names in its own firmware commands. Called by uverbs. */
#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include "mlx5/priv.h"
#include "wire/prm/umem.h"

struct devx_umem {
	struct uv_object obj;
	struct mlx5_umem umem;
};

static int devx_umem_destroy(struct uv_object *o, int why)
{
	struct devx_umem *u = (struct devx_umem *)o;

	if (why == UV_CLOSE)
		return 0;
	return mlx5_umem_destroy(uv_obj_context(o), &u->umem);
}

const struct uv_type mlx5_devx_umem_type = {
	.name = "DEVX_UMEM",
	.object_id = MLX5_IB_OBJECT_DEVX_UMEM,
	.size = sizeof(struct devx_umem),
	.number = offsetof(struct devx_umem, umem.id),
	.destroy_order = 3,
	.destroy = devx_umem_destroy,
};

/*
 * May the firmware's pages have one of these sizes? The kernel takes the largest size that the
 * range's physical pages allow, up to the page's own. Here they count as on a host without IOMMU
 * and huge pages: scattered, so that only the size of a page always fits.
 */
static bool page_size_fits(uint64_t bitmap)
{
	return bitmap & MLX5_PAGE_SIZE;
}

int mlx5_method_devx_umem_reg(struct uv_bundle *b)
{
	struct devx_umem *u = (void *)uv_b_new(b, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE);
	uint64_t addr = uv_b_const(b, MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, 0);
	uint64_t len = uv_b_const(b, MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, 0);
	uint32_t access = (uint32_t)uv_b_const(b, MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, 0);
	uint64_t bitmap = uv_b_const(b, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, MLX5_PAGE_MASK);
	struct uv_context *ctx = uv_b_context(b);
	int r;

	if (!ctx->devx_uid)
		return uv_why(b, -EINVAL, "the device was not opened for DEVX (no uid)");
	if (access & IB_UVERBS_ACCESS_REMOTE_WRITE && !(access & IB_UVERBS_ACCESS_LOCAL_WRITE))
		return uv_why(b, -EINVAL, "remote write access needs local write access");
	if (uv_b_has(b, MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD))
		return uv_why(b, -EOPNOTSUPP, "no dma-buf can be registered here");
	r = mlx5_umem_create_devx(ctx, addr, len, access, &u->umem);
	if (r < 0)
		return r;
	uv_b_created(b);
	if (!page_size_fits(bitmap))
		return uv_why(b, -EINVAL, "none of the page sizes of PGSZ_BITMAP fits the memory");
	return uv_b_out(b, MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, &u->umem.id, sizeof(u->umem.id));
}
