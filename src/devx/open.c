/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Contexts: the character device and GET_CONTEXT. Programs call this. The requests and the order of
 * retries are libmlx5's (providers/mlx5/mlx5.c, mlx5_alloc_context()).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <rdma/mlx5-abi.h>
#include "devx/devx.h"

/* The address of this variable marks a context as ours. */
static char ours;

struct devx_context *devx_context(struct ibv_context *context)
{
	return context->abi_compat == &ours ? (struct devx_context *)context : NULL;
}

/* The lengths that older kernels accept: each refuses data that it does not know. */
static const size_t request_sizes[] = {
	sizeof(struct mlx5_ib_alloc_ucontext_req_v2),
	offsetof(struct mlx5_ib_alloc_ucontext_req_v2, lib_caps),
	offsetof(struct mlx5_ib_alloc_ucontext_req_v2, max_cqe_version),
};

static int get_context_sized(struct devx_context *c, struct mlx5_ib_alloc_ucontext_req_v2 *req,
			     size_t size, struct mlx5_ib_alloc_ucontext_resp *resp)
{
	uint32_t vectors = 0;
	uint64_t core = 0;
	struct devx_cmd cmd;
	int err;

	devx_cmd_init(&cmd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	devx_out(&cmd, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &vectors, sizeof(vectors));
	devx_out(&cmd, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, &core, sizeof(core));
	devx_in(&cmd, UVERBS_ATTR_UHW_IN, req, size);
	devx_out(&cmd, UVERBS_ATTR_UHW_OUT, resp, sizeof(*resp));
	err = devx_ioctl(c->ibv.cmd_fd, &cmd);
	if (!err)
		c->ibv.num_comp_vectors = (int)vectors;
	return err;
}

static int get_context(struct devx_context *c, bool devx)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req = {
		/* Used by kernels without dynamic UARs; they refuse 0. */
		.total_num_bfregs = 16,
		.num_low_latency_bfregs = 4,
		.flags = devx ? MLX5_IB_ALLOC_UCTX_DEVX : 0,
		.max_cqe_version = 1,
		.lib_caps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR,
	};
	struct mlx5_ib_alloc_ucontext_resp resp;
	int err = EINVAL;

	for (size_t i = 0; i < sizeof(request_sizes) / sizeof(request_sizes[0]) && err; i++) {
		memset(&resp, 0, sizeof(resp));
		err = get_context_sized(c, &req, request_sizes[i], &resp);
	}
	if (err)
		return err;
	c->bf_reg_size = resp.bf_reg_size;
	c->uars_per_page = resp.num_uars_per_page ? resp.num_uars_per_page : 1;
	return 0;
}

/* Opens the character device, if it is the one that sysfs describes. -1 with errno. */
static int open_cdev(const struct ibv_device *d)
{
	char path[sizeof(d->dev_name) + 32];
	uint64_t rdev = devx_device_rdev(d);
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/dev/infiniband/%s", d->dev_name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISCHR(st.st_mode) && (!rdev || st.st_rdev == rdev))
		return fd;
	close(fd);
	errno = ENODEV;
	return -1;
}

DEVX_API struct ibv_context *mlx5dv_open_device(struct ibv_device *device,
						struct mlx5dv_context_attr *attr)
{
	uint32_t flags = attr ? attr->flags : 0;
	struct devx_context *c;
	int err;

	if (!devx_device_is_mlx5(device)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if ((attr && attr->comp_mask) || (flags & ~(uint32_t)MLX5DV_CONTEXT_FLAGS_DEVX)) {
		errno = EINVAL;
		return NULL;
	}
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->device = *device;
	c->ibv.device = &c->device;
	c->ibv.abi_compat = &ours;
	c->ibv.async_fd = -1;
	c->ibv.cmd_fd = open_cdev(device);
	if (c->ibv.cmd_fd < 0) {
		err = errno;
		goto no_device;
	}
	err = get_context(c, true);
	if (err && !flags)
		err = get_context(c, false);
	if (err)
		goto no_context;
	pthread_mutex_init(&c->ibv.mutex, NULL);
	devx_uar_init(c);
	return &c->ibv;

no_context:
	close(c->ibv.cmd_fd);
no_device:
	free(c);
	errno = err;
	return NULL;
}

DEVX_API struct ibv_context *devx_open(const char *name, uint32_t flags)
{
	struct mlx5dv_context_attr attr = {.flags = flags};
	struct ibv_device **list = devx_get_device_list(NULL), **d = list;
	struct ibv_context *context = NULL;
	int err;

	if (!list)
		return NULL;
	while (*d && name && *name && strcmp((*d)->name, name) && strcmp((*d)->dev_name, name))
		d++;
	errno = ENODEV;
	if (*d)
		context = mlx5dv_open_device(*d, &attr);
	err = errno;
	devx_free_device_list(list);
	errno = err;
	return context;
}

DEVX_API int devx_close(struct ibv_context *context)
{
	struct devx_context *c = devx_context(context);

	if (!c)
		return EINVAL;
	devx_uar_finish(c);
	pthread_mutex_destroy(&c->ibv.mutex);
	close(c->ibv.cmd_fd);
	free(c);
	return 0;
}
