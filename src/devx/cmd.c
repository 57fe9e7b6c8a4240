/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ioctl of the uverbs device: header and attributes. The rest of libdevx calls it. */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include "devx/devx.h"

void devx_cmd_init(struct devx_cmd *cmd, uint16_t object, uint16_t method)
{
	memset(cmd, 0, sizeof(*cmd));
	cmd->hdr.object_id = object;
	cmd->hdr.method_id = method;
	cmd->hdr.driver_id = RDMA_DRIVER_MLX5;
}

static struct ib_uverbs_attr *next(struct devx_cmd *cmd, uint16_t id)
{
	struct ib_uverbs_attr *a = &cmd->attrs[cmd->hdr.num_attrs];

	assert(cmd->hdr.num_attrs < DEVX_MAX_ATTRS);
	cmd->hdr.num_attrs++;
	a->attr_id = id;
	a->flags = UVERBS_ATTR_F_MANDATORY;
	return a;
}

static void set_len(struct devx_cmd *cmd, struct ib_uverbs_attr *a, size_t len)
{
	if (len > UINT16_MAX)
		cmd->too_long = true;
	a->len = (uint16_t)len;
}

struct ib_uverbs_attr *devx_in(struct devx_cmd *cmd, uint16_t id, const void *p, size_t len)
{
	struct ib_uverbs_attr *a = next(cmd, id);

	set_len(cmd, a, len);
	/* Up to 8 bytes travel in the attribute itself. */
	if (len > sizeof(a->data))
		a->data = (uintptr_t)p;
	else if (len)
		memcpy(&a->data, p, len);
	return a;
}

struct ib_uverbs_attr *devx_in_u32(struct devx_cmd *cmd, uint16_t id, uint32_t v)
{
	return devx_in(cmd, id, &v, sizeof(v));
}

struct ib_uverbs_attr *devx_in_u64(struct devx_cmd *cmd, uint16_t id, uint64_t v)
{
	return devx_in(cmd, id, &v, sizeof(v));
}

struct ib_uverbs_attr *devx_out(struct devx_cmd *cmd, uint16_t id, void *p, size_t len)
{
	struct ib_uverbs_attr *a = next(cmd, id);

	set_len(cmd, a, len);
	a->data = (uintptr_t)p;
	return a;
}

struct ib_uverbs_attr *devx_handle(struct devx_cmd *cmd, uint16_t id, uint32_t handle)
{
	struct ib_uverbs_attr *a = next(cmd, id);

	a->data = handle;
	return a;
}

struct ib_uverbs_attr *devx_fd(struct devx_cmd *cmd, uint16_t id, int fd)
{
	struct ib_uverbs_attr *a;

	if (fd == -1)
		return NULL;
	a = next(cmd, id);
	a->data_s64 = fd;
	return a;
}

int devx_ioctl(int fd, struct devx_cmd *cmd)
{
	if (cmd->too_long) {
		errno = EINVAL;
		return EINVAL;
	}
	cmd->hdr.length = (uint16_t)(sizeof(cmd->hdr) + cmd->hdr.num_attrs * sizeof(cmd->attrs[0]));
	return ioctl(fd, RDMA_VERBS_IOCTL, &cmd->hdr) ? errno : 0;
}
