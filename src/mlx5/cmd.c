/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the driver calls the firmware: adds the context's file and uid to a command, and turns the
 * firmware's status into an errno. Called by every other file of src/mlx5; calls src/fw only.
 */
#include <errno.h>
#include "hw/hca.h"
#include "mlx5/priv.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/opcodes.h"

static struct fw_ctx fw_ctx(struct uv_context *ctx, uint16_t uid, bool kernel,
			    const struct fw_mem *mem)
{
	return (struct fw_ctx){
		.seg = ctx->seg,
		.hca = ctx->hca,
		.file = ctx->seg_file,
		.uid = uid,
		.kernel = kernel,
		.mem = mem,
		.masked = true, /* uverbs.h says that callers block signals */
	};
}

int mlx5_exec_as(struct uv_context *ctx, uint16_t uid, enum prm_opcode op, const struct fw_mem *mem,
		 void *in, uint32_t inlen, void *out, uint32_t outlen)
{
	struct fw_ctx c = fw_ctx(ctx, uid, true, mem);
	int r;

	LAYOUT_SET(cmd_in, in, opcode, op);
	LAYOUT_SET(cmd_in, in, uid, uid);
	r = fw_exec(&c, in, inlen, out, outlen);
	if (r < 0)
		return r;
	r = fw_status_to_errno(LAYOUT_GET8(cmd_out, out, status));
	return r ? uv_no(r, uv_rule_firmware) : 0;
}

int mlx5_exec(struct uv_context *ctx, enum prm_opcode op, const struct fw_mem *mem, void *in,
	      uint32_t inlen, void *out, uint32_t outlen)
{
	return mlx5_exec_as(ctx, (uint16_t)ctx->devx_uid, op, mem, in, inlen, out, outlen);
}

int mlx5_exec_devx(struct uv_context *ctx, uint16_t uid, const struct fw_mem *mem, void *in,
		   uint32_t inlen, void *out, uint32_t outlen)
{
	struct fw_ctx c = fw_ctx(ctx, uid, false, mem);
	int r;

	LAYOUT_SET(cmd_in, in, uid, uid);
	r = fw_exec(&c, in, inlen, out, outlen);
	if (r < 0)
		return r;
	return LAYOUT_GET(cmd_out, out, status) == FW_OK ? 0 : -EREMOTEIO;
}

int mlx5_umr(struct uv_context *ctx, const struct fw_mem *mem, uint32_t key, const void *in)
{
	struct fw_ctx c = fw_ctx(ctx, (uint16_t)ctx->devx_uid, true, mem);

	return fw_umr(&c, key, in);
}

int mlx5_exec_id_as(struct uv_context *ctx, uint16_t uid, enum prm_opcode op, uint32_t id)
{
	uint8_t in[LAYOUT_SZ(cmd_id_in)] = {0}, out[LAYOUT_SZ(cmd_out)];

	LAYOUT_SET(cmd_id_in, in, id, id);
	return mlx5_exec_as(ctx, uid, op, NULL, in, sizeof(in), out, sizeof(out));
}

int mlx5_exec_id(struct uv_context *ctx, enum prm_opcode op, uint32_t id)
{
	return mlx5_exec_id_as(ctx, (uint16_t)ctx->devx_uid, op, id);
}

const struct hw_caps *mlx5_caps(const struct uv_context *ctx)
{
	return &hw_hca(ctx->seg, ctx->hca)->caps;
}

int mlx5_vector2eqn(const struct uv_context *ctx, uint32_t vector)
{
	if (vector >= mlx5_caps(ctx)->num_comp_vectors || vector >= HW_COMP_VECTORS)
		return -ENOENT;
	return (int)hw_hca(ctx->seg, ctx->hca)->eqn[vector];
}
