/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Commands: on the device, on objects that commands made, and on objects of verbs. Programs call
 * this. A failed status in the output gives EREMOTEIO, and the kernel has filled the output in.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "devx/obj.h"

DEVX_API struct mlx5dv_devx_obj *mlx5dv_devx_obj_create(struct ibv_context *context, const void *in,
							size_t inlen, void *out, size_t outlen)
{
	struct mlx5dv_devx_obj *obj = calloc(1, sizeof(*obj));
	struct ib_uverbs_attr *handle;
	struct devx_cmd cmd;
	int err;

	if (!obj)
		return NULL;
	devx_cmd_init(&cmd, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE);
	handle = devx_handle(&cmd, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, 0);
	devx_in(&cmd, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, in, inlen);
	devx_out(&cmd, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, out, outlen);
	err = devx_ioctl(context->cmd_fd, &cmd);
	if (err) {
		free(obj);
		errno = err;
		return NULL;
	}
	obj->context = context;
	obj->handle = (uint32_t)handle->data;
	return obj;
}

DEVX_API int mlx5dv_devx_obj_destroy(struct mlx5dv_devx_obj *obj)
{
	struct devx_cmd cmd;
	int err;

	devx_cmd_init(&cmd, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY);
	devx_handle(&cmd, MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, obj->handle);
	err = devx_ioctl(obj->context->cmd_fd, &cmd);
	if (!err)
		free(obj);
	return err;
}

/* The kernel takes the handle of any object that a command can refer to. */
static int query(const struct ibv_context *context, uint32_t handle, const void *in, size_t inlen,
		 void *out, size_t outlen)
{
	struct devx_cmd cmd;

	devx_cmd_init(&cmd, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY);
	devx_handle(&cmd, MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, handle);
	devx_in(&cmd, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, in, inlen);
	devx_out(&cmd, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, out, outlen);
	return devx_ioctl(context->cmd_fd, &cmd);
}

static int modify(const struct ibv_context *context, uint32_t handle, const void *in, size_t inlen,
		  void *out, size_t outlen)
{
	struct devx_cmd cmd;

	devx_cmd_init(&cmd, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY);
	devx_handle(&cmd, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE, handle);
	devx_in(&cmd, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, in, inlen);
	devx_out(&cmd, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, out, outlen);
	return devx_ioctl(context->cmd_fd, &cmd);
}

DEVX_API int mlx5dv_devx_obj_query(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen,
				   void *out, size_t outlen)
{
	return query(obj->context, obj->handle, in, inlen, out, outlen);
}

DEVX_API int mlx5dv_devx_obj_modify(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen,
				    void *out, size_t outlen)
{
	return modify(obj->context, obj->handle, in, inlen, out, outlen);
}

DEVX_API int mlx5dv_devx_cq_query(struct ibv_cq *cq, const void *in, size_t inlen, void *out,
				  size_t outlen)
{
	return query(cq->context, cq->handle, in, inlen, out, outlen);
}

DEVX_API int mlx5dv_devx_cq_modify(struct ibv_cq *cq, const void *in, size_t inlen, void *out,
				   size_t outlen)
{
	return modify(cq->context, cq->handle, in, inlen, out, outlen);
}

DEVX_API int mlx5dv_devx_qp_query(struct ibv_qp *qp, const void *in, size_t inlen, void *out,
				  size_t outlen)
{
	return query(qp->context, qp->handle, in, inlen, out, outlen);
}

DEVX_API int mlx5dv_devx_qp_modify(struct ibv_qp *qp, const void *in, size_t inlen, void *out,
				   size_t outlen)
{
	return modify(qp->context, qp->handle, in, inlen, out, outlen);
}

DEVX_API int mlx5dv_devx_srq_query(struct ibv_srq *srq, const void *in, size_t inlen, void *out,
				   size_t outlen)
{
	return query(srq->context, srq->handle, in, inlen, out, outlen);
}

DEVX_API int mlx5dv_devx_srq_modify(struct ibv_srq *srq, const void *in, size_t inlen, void *out,
				    size_t outlen)
{
	return modify(srq->context, srq->handle, in, inlen, out, outlen);
}

DEVX_API int mlx5dv_devx_wq_query(struct ibv_wq *wq, const void *in, size_t inlen, void *out,
				  size_t outlen)
{
	return query(wq->context, wq->handle, in, inlen, out, outlen);
}

DEVX_API int mlx5dv_devx_wq_modify(struct ibv_wq *wq, const void *in, size_t inlen, void *out,
				   size_t outlen)
{
	return modify(wq->context, wq->handle, in, inlen, out, outlen);
}

DEVX_API int mlx5dv_devx_ind_tbl_query(struct ibv_rwq_ind_table *ind_tbl, const void *in,
				       size_t inlen, void *out, size_t outlen)
{
	return query(ind_tbl->context, (uint32_t)ind_tbl->ind_tbl_handle, in, inlen, out, outlen);
}

DEVX_API int mlx5dv_devx_ind_tbl_modify(struct ibv_rwq_ind_table *ind_tbl, const void *in,
					size_t inlen, void *out, size_t outlen)
{
	return modify(ind_tbl->context, (uint32_t)ind_tbl->ind_tbl_handle, in, inlen, out, outlen);
}

DEVX_API int mlx5dv_devx_general_cmd(struct ibv_context *context, const void *in, size_t inlen,
				     void *out, size_t outlen)
{
	struct devx_cmd cmd;

	devx_cmd_init(&cmd, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER);
	devx_in(&cmd, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, in, inlen);
	devx_out(&cmd, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, out, outlen);
	return devx_ioctl(context->cmd_fd, &cmd);
}

DEVX_API int mlx5dv_devx_query_eqn(struct ibv_context *context, uint32_t vector, uint32_t *eqn)
{
	struct devx_cmd cmd;

	devx_cmd_init(&cmd, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_EQN);
	devx_in_u32(&cmd, MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, vector);
	devx_out(&cmd, MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, eqn, sizeof(*eqn));
	return devx_ioctl(context->cmd_fd, &cmd);
}

/* A command's status and its errno; an unlisted status is EIO. */
static const struct {
	uint8_t status;
	int err;
} statuses[] = {
	{0x00, 0},      /* OK */
	{0x02, EINVAL}, /* BAD_OP */
	{0x03, EINVAL}, /* BAD_PARAM */
	{0x05, EINVAL}, /* BAD_RES */
	{0x06, EBUSY},  /* RES_BUSY */
	{0x08, ENOMEM}, /* LIM */
	{0x09, EINVAL}, /* BAD_RES_STATE */
	{0x0a, EINVAL}, /* IX */
	{0x0f, EAGAIN}, /* NO_RES */
	{0x10, EINVAL}, /* BAD_QP_STATE */
	{0x30, EINVAL}, /* BAD_PKT */
	{0x40, EINVAL}, /* BAD_SIZE_OUTS_CQES */
};

DEVX_API int devx_outbox_errno(const void *out, uint32_t *syndrome)
{
	const uint8_t *b = out;
	uint32_t s;

	if (syndrome) {
		memcpy(&s, b + 4, sizeof(s));
		*syndrome = be32toh(s);
	}
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
		if (statuses[i].status == b[0])
			return statuses[i].err;
	return EIO;
}
