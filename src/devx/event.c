/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Descriptors that become readable: completions of queries, and events. Programs call this. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "devx/obj.h"

struct channel {
	struct mlx5dv_devx_event_channel dv; /* must be first: programs hold a pointer to it */
	struct ibv_context *context;
};

DEVX_API struct mlx5dv_devx_cmd_comp *mlx5dv_devx_create_cmd_comp(struct ibv_context *context)
{
	struct mlx5dv_devx_cmd_comp *comp = calloc(1, sizeof(*comp));
	struct ib_uverbs_attr *handle;
	struct devx_cmd cmd;
	int err;

	if (!comp)
		return NULL;
	devx_cmd_init(&cmd, MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD,
		      MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC);
	handle = devx_handle(&cmd, MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE, 0);
	err = devx_ioctl(context->cmd_fd, &cmd);
	if (err) {
		free(comp);
		errno = err;
		return NULL;
	}
	comp->fd = (int)handle->data_s64;
	return comp;
}

DEVX_API void mlx5dv_devx_destroy_cmd_comp(struct mlx5dv_devx_cmd_comp *cmd_comp)
{
	close(cmd_comp->fd);
	free(cmd_comp);
}

DEVX_API int mlx5dv_devx_obj_query_async(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen,
					 size_t outlen, uint64_t wr_id,
					 struct mlx5dv_devx_cmd_comp *cmd_comp)
{
	struct devx_cmd cmd;

	devx_cmd_init(&cmd, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY);
	devx_handle(&cmd, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_HANDLE, obj->handle);
	devx_in(&cmd, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_CMD_IN, in, inlen);
	devx_in_u64(&cmd, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_OUT_LEN, outlen);
	devx_in_u64(&cmd, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID, wr_id);
	devx_fd(&cmd, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_FD, cmd_comp->fd);
	return devx_ioctl(obj->context->cmd_fd, &cmd);
}

DEVX_API int mlx5dv_devx_get_async_cmd_comp(struct mlx5dv_devx_cmd_comp *cmd_comp,
					    struct mlx5dv_devx_async_cmd_hdr *cmd_resp,
					    size_t cmd_resp_len)
{
	ssize_t n = read(cmd_comp->fd, cmd_resp, cmd_resp_len);

	if (n < 0)
		return errno;
	return (size_t)n < sizeof(*cmd_resp) ? EINVAL : 0;
}

DEVX_API struct mlx5dv_devx_event_channel *
mlx5dv_devx_create_event_channel(struct ibv_context *context,
				 enum mlx5dv_devx_create_event_channel_flags flags)
{
	struct channel *ch = calloc(1, sizeof(*ch));
	struct ib_uverbs_attr *handle;
	struct devx_cmd cmd;
	int err;

	if (!ch)
		return NULL;
	devx_cmd_init(&cmd, MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD,
		      MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC);
	handle = devx_handle(&cmd, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE, 0);
	devx_in_u32(&cmd, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS, flags);
	err = devx_ioctl(context->cmd_fd, &cmd);
	if (err) {
		free(ch);
		errno = err;
		return NULL;
	}
	ch->context = context;
	ch->dv.fd = (int)handle->data_s64;
	return &ch->dv;
}

DEVX_API void mlx5dv_devx_destroy_event_channel(struct mlx5dv_devx_event_channel *event_channel)
{
	close(event_channel->fd);
	free(event_channel);
}

/* `events_sz` is in bytes. Without an object: events of the device itself. */
DEVX_API int mlx5dv_devx_subscribe_devx_event(struct mlx5dv_devx_event_channel *event_channel,
					      struct mlx5dv_devx_obj *obj, uint16_t events_sz,
					      uint16_t events_num[], uint64_t cookie)
{
	const struct channel *ch = (struct channel *)event_channel;
	struct devx_cmd cmd;

	devx_cmd_init(&cmd, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT);
	devx_fd(&cmd, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE, event_channel->fd);
	devx_in_u64(&cmd, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE, cookie);
	if (obj)
		devx_handle(&cmd, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE, obj->handle);
	devx_in(&cmd, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, events_num, events_sz);
	return devx_ioctl(ch->context->cmd_fd, &cmd);
}

DEVX_API int mlx5dv_devx_subscribe_devx_event_fd(struct mlx5dv_devx_event_channel *event_channel,
						 int fd, struct mlx5dv_devx_obj *obj,
						 uint16_t event_num)
{
	const struct channel *ch = (struct channel *)event_channel;
	struct devx_cmd cmd;

	devx_cmd_init(&cmd, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT);
	devx_fd(&cmd, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE, event_channel->fd);
	if (obj)
		devx_handle(&cmd, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE, obj->handle);
	devx_in(&cmd, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, &event_num,
		sizeof(event_num));
	devx_in_u32(&cmd, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM, (uint32_t)fd);
	return devx_ioctl(ch->context->cmd_fd, &cmd);
}

DEVX_API ssize_t mlx5dv_devx_get_event(struct mlx5dv_devx_event_channel *event_channel,
				       struct mlx5dv_devx_async_event_hdr *event_data,
				       size_t event_resp_len)
{
	ssize_t n = read(event_channel->fd, event_data, event_resp_len);

	/* The cookie is always present; without event data no bytes follow it. */
	if (n >= 0 && (size_t)n < sizeof(*event_data)) {
		errno = EINVAL;
		return -1;
	}
	return n;
}
