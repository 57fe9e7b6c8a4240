/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * GET_CONTEXT and QUERY_CONTEXT: sizes of the request, the DEVX uid, the values for libmlx5. Owns
 * struct mlx5_context. Called by uverbs through the ops table.
 */
#include <errno.h>
#include <sys/param.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include "hw/hca.h"
#include "hw/mkey.h"
#include "hw/port.h"
#include "mlx5/priv.h"

#define BFREGS_PER_UAR 2

/*
 * Stands for the firmware's CREATE_UCTX: finds a uid that no living context of the HCA has. It has
 * 16 bits, and 0 means "none": after a wrap, uids still in use are skipped.
 */
static int devx_uid_alloc(struct uv_context *ctx)
{
	struct hw_hca *hca = hw_hca(ctx->seg, ctx->hca);

	if (!mlx5_caps(ctx)->log_max_uctx)
		return -EINVAL;
	for (uint32_t tries = 0; tries < UINT16_MAX; tries++) {
		uint32_t uid = atomic_fetch_add(&hca->next_uid, 1) & UINT16_MAX;
		bool used = uid == 0 || uid == MLX5_SHARED_UID;

		seg_for_each_live (ctx->seg, SEG_T_FILE, i) {
			const struct seg_file *f = seg_file(ctx->seg, i);

			used |= f && f->kind == SEG_FILE_UVERBS && f->hca == ctx->hca &&
				f->uid == uid;
		}
		if (!used)
			return (int)uid;
	}
	return -ENOMEM;
}

/* mlx5_ib_alloc_ucontext() of Linux 3.13 to 3.19 knew two lengths, and answered up to num_ports. */
#define OLD_REQ_V2 offsetof(struct mlx5_ib_alloc_ucontext_req_v2, max_cqe_version)
#define OLD_RESP offsetof(struct mlx5_ib_alloc_ucontext_resp, comp_mask)

static int ucontext_request_get(const struct uv_context *ctx, const struct uv_udata *u,
				struct mlx5_ib_alloc_ucontext_req_v2 *req)
{
	if (ctx->sys->no_ex && u->inlen != sizeof(struct mlx5_ib_alloc_ucontext_req) &&
	    u->inlen != OLD_REQ_V2)
		return uv_no(-EINVAL, "the driver's data has neither of its two lengths");
	if (u->inlen != sizeof(struct mlx5_ib_alloc_ucontext_req) &&
	    u->inlen < offsetof(struct mlx5_ib_alloc_ucontext_req_v2, max_cqe_version))
		return uv_no(-EINVAL, "the driver's data has none of its lengths");
	memset(req, 0, sizeof(*req));
	memcpy(req, u->in, MIN(u->inlen, sizeof(*req)));
	if (req->flags & ~(uint32_t)MLX5_IB_ALLOC_UCTX_DEVX)
		return uv_no(-EOPNOTSUPP, "flags: 1 (DEVX) only");
	if (req->comp_mask || req->reserved0 || req->reserved1 || req->reserved2)
		return uv_no(-EOPNOTSUPP, "comp_mask and reserved: 0");
	req->total_num_bfregs = roundup(req->total_num_bfregs, BFREGS_PER_UAR);
	if (req->num_low_latency_bfregs > req->total_num_bfregs - 1)
		return uv_no(-EINVAL, "num_low_latency_bfregs: less than total_num_bfregs");
	return 0;
}

static void response_fill(const struct uv_context *ctx, struct mlx5_ib_alloc_ucontext_resp *r)
{
	const struct mlx5_bfregs *b = &mlx5_context(ctx)->bfregs;
	const struct hw_caps *c = mlx5_caps(ctx);

	*r = (struct mlx5_ib_alloc_ucontext_resp){
		.qp_tab_size = 1u << c->log_max_qp,
		.bf_reg_size = c->log_bf_reg_size ? 1u << c->log_bf_reg_size : 0,
		.tot_bfregs = b->nstatic * BFREGS_PER_UAR, /* 0 with dynamic UARs */
		.cache_line_size = 64,
		.max_sq_desc_sz = (uint16_t)c->max_wqe_sz_sq,
		.max_rq_desc_sz = (uint16_t)c->max_wqe_sz_rq,
		.max_send_wqebb = 1u << c->log_max_qp_sz,
		.max_recv_wr = c->max_qp_wr,
		.max_srq_recv_wr = 1u << c->log_max_srq_sz,
		.num_ports = (uint16_t)hw_hca(ctx->seg, ctx->hca)->nports,
		.cqe_version = mlx5_context(ctx)->cqe_version,
		.cmds_supp_uhw =
			MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE | MLX5_USER_CMDS_SUPP_UHW_CREATE_AH,
		.log_uar_size = MLX5_PAGE_SHIFT,
		.num_uars_per_page = 1,
		.num_dyn_bfregs = b->ndynamic,
		.clock_info_versions = 1 << MLX5_IB_CLOCK_INFO_V1,
		.comp_mask = MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY |
			     MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_ECE |
			     MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_SQD2RTS |
			     MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_MKEY_UPDATE_TAG,
		.dump_fill_mkey = HW_KEY_DUMP_FILL,
		.eth_min_inline = hw_port_is_eth(mlx5_port(ctx, 1)) ? MLX5_USER_INLINE_MODE_L2
								    : MLX5_USER_INLINE_MODE_NA,
	};
}

int mlx5_alloc_ucontext(struct uv_context *ctx, struct uv_udata *u)
{
	struct mlx5_ib_alloc_ucontext_resp resp;
	struct mlx5_ib_alloc_ucontext_req_v2 req;
	struct mlx5_context *mc;
	struct seg_file *file;
	int r, uid = 0;

	/* mlx5_ib_dev.ib_active is false from a fatal error on */
	if (atomic_load(&hw_hca(ctx->seg, ctx->hca)->fails) == HW_FATAL)
		return uv_no(-EAGAIN, "the adapter has failed");
	r = ucontext_request_get(ctx, u, &req);
	if (r < 0)
		return r;
	if (req.flags & MLX5_IB_ALLOC_UCTX_DEVX) {
		uid = devx_uid_alloc(ctx);
		if (uid < 0)
			return uid;
	}
	mc = heap_zalloc(sizeof(*mc));
	if (!mc)
		return -ENOMEM;
	mc->cqe_version = (uint8_t)MIN(mlx5_caps(ctx)->cqe_version, req.max_cqe_version);
	ctx->drv = mc;
	ctx->devx_uid = (uint32_t)uid;

	/* Libraries, or a kernel, from before dynamic UARs (rdma-core < 29): UARs are made now. */
	if (!(req.lib_caps & MLX5_LIB_CAP_DYN_UAR) || ctx->sys->no_ioctl)
		r = mlx5_bfreg_init(ctx, req.total_num_bfregs, req.num_low_latency_bfregs,
				    u->inlen != sizeof(struct mlx5_ib_alloc_ucontext_req));
	if (r < 0) {
		ctx->devx_uid = 0;
		mlx5_dealloc_ucontext(ctx);
		return r;
	}
	response_fill(ctx, &resp);
	resp.response_length = (uint32_t)MIN(u->outlen, ctx->sys->no_ex ? OLD_RESP : sizeof(resp));
	r = uv_udata_out(u, &resp, resp.response_length);
	if (r < 0) {
		mlx5_bfreg_undo(ctx);
		ctx->devx_uid = 0;
		mlx5_dealloc_ucontext(ctx);
		return r;
	}
	/*
	 * Done last: from here on the uid is taken. A context that failed before has left nothing.
	 */
	file = seg_file(ctx->seg, ctx->seg_file);
	if (file)
		file->uid = (uint32_t)uid;
	return 0;
}

void mlx5_dealloc_ucontext(struct uv_context *ctx)
{
	struct mlx5_context *mc = ctx->drv;

	if (!mc)
		return;
	mlx5_uar_finish(mc);
	mlx5_dm_finish(mc);
	mlx5_bfreg_finish(mc);
	mlx5_dbr_finish(mc);
	heap_free(mc);
	ctx->drv = NULL;
}

int mlx5_query_ucontext(struct uv_context *ctx, struct uv_udata *u)
{
	const uint16_t attr = MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX;
	struct mlx5_ib_alloc_ucontext_resp resp;

	response_fill(ctx, &resp);
	resp.response_length = (uint32_t)MIN(uv_b_out_len(u->bundle, attr), sizeof(resp));
	return uv_b_out_zero(u->bundle, attr, &resp, sizeof(resp));
}
