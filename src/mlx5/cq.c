/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Completion queues: create, resize, destroy. Called by uverbs through the ops table. */
#include <errno.h>
#include <sys/param.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include "mlx5/priv.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/cq.h"
#include "wire/prm/umem.h"

enum { CQ_OPMOD_RESIZE = 1 };

struct mlx5_cq { /* uv_cq.obj.drv */
	struct mlx5_umem buf;
	struct mlx5_dbr dbr;
	uint32_t cqe_size;
	int comp; /* compression: enum prm_mini_cqe_format; -1: none */
	bool pad; /* CQEs are padded to 128 bytes, also after a resize */
	bool real_time;
};

/* Number of CQEs for a request of `cqe`: the next higher power of two; -EINVAL. */
static int cq_entries(const struct hw_caps *c, uint32_t cqe, uint32_t *entries)
{
	uint32_t max = 1u << c->log_max_cq_sz;

	if (cqe >= max)
		return uv_no(-EINVAL, "cqe is beyond the device's limit");
	for (*entries = 1; *entries < cqe + 1; *entries <<= 1)
		;
	return 0;
}

static uint32_t cq_log2_of(uint32_t pow2)
{
	return (uint32_t)__builtin_ctz(pow2);
}

static int cq_request_check(const struct uv_udata *u, struct mlx5_ib_create_cq *cmd)
{
	if (u->inlen < offsetof(struct mlx5_ib_create_cq, flags))
		return uv_no(-EINVAL, "the driver's data is too short");
	memset(cmd, 0, sizeof(*cmd));
	memcpy(cmd, u->in, MIN(u->inlen, sizeof(*cmd)));
	if (cmd->flags &
	    ~(MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD | MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX |
	      MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS))
		return uv_no(-EINVAL, "unknown flags of the driver's data");
	if ((cmd->cqe_size != 64 && cmd->cqe_size != 128) || cmd->reserved0 || cmd->reserved1)
		return uv_no(-EINVAL, "cqe_size: 64 or 128; reserved: 0");
	return 0;
}

/* mini_cqe_res_format_to_hw() of the kernel's mlx5/cq.c; -1: no compression */
static int comp_format(const struct mlx5_ib_create_cq *cmd, int *format)
{
	*format = -1;
	if (cmd->cqe_comp_en != 1)
		return 0;
	if (cmd->cqe_comp_res_format == MLX5_IB_CQE_RES_FORMAT_HASH)
		*format = PRM_MINI_CQE_HASH;
	else if (cmd->cqe_comp_res_format == MLX5_IB_CQE_RES_FORMAT_CSUM)
		*format = PRM_MINI_CQE_CSUM;
	else if (cmd->cqe_comp_res_format == MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX)
		*format = PRM_MINI_CQE_CSUM_STRIDX;
	else
		return uv_no(-EINVAL, "cqe_comp_res_format: one of the three formats");
	return 0;
}

/*
 * Refuse features whose capability is off. Real-time timestamps are not: QPs and WQs refuse such a
 * CQ.
 */
static int features_check(const struct hw_caps *c, const struct mlx5_ib_create_cq *cmd, int *format)
{
	int r = comp_format(cmd, format);

	if (r)
		return r;
	if (cmd->flags & MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD &&
	    (cmd->cqe_size != 128 || !c->cqe_128_always))
		return uv_no(-EOPNOTSUPP, "padding: only of CQEs of 128 bytes");
	return 0;
}

/* get_ts_format(), called by get_qp_ts_format() and get_rq_ts_format() (mlx5/qp.c) */
int mlx5_cq_ts_check(const struct uv_cq *cq)
{
	const struct mlx5_cq *m = cq ? cq->obj.drv : NULL;

	return m && m->real_time ? uv_no(-EOPNOTSUPP, "real time stamps: the capability is 0") : 0;
}

uint32_t mlx5_cqe_size(const struct uv_cq *cq)
{
	return cq ? ((const struct mlx5_cq *)cq->obj.drv)->cqe_size : 128;
}

/* cqe_sz_to_mlx_sz() of the kernel's include/linux/mlx5/cq.h */
static enum prm_cqe_sz cqe_sz(uint32_t bytes, bool pad)
{
	return pad ? PRM_CQE_SZ_128_PAD : bytes == 64 ? PRM_CQE_SZ_64 : PRM_CQE_SZ_128;
}

static int cq_cmd(struct uv_context *ctx, const struct mlx5_cq *m, uint32_t entries, uint32_t uar,
		  uint32_t eqn, uint32_t flags, uint32_t *cqn)
{
	uint8_t in[LAYOUT_SZ(create_cq_in)] = {0}, out[LAYOUT_SZ(create_cq_out)];
	void *cqc = LAYOUT_IN(create_cq_in, cq_context, in);
	int r;

	LAYOUT_SET(create_cq_in, in, cq_umem_id, m->buf.id);
	LAYOUT_SET(create_cq_in, in, cq_umem_valid, 1);
	LAYOUT_SET(cqc, cqc, dbr_umem_id, m->dbr.umem);
	LAYOUT_SET(cqc, cqc, dbr_umem_valid, 1);
	LAYOUT_SET(cqc, cqc, dbr_addr, m->dbr.offset);
	LAYOUT_SET(cqc, cqc, cqe_sz, cqe_sz(m->cqe_size, m->pad));
	LAYOUT_SET(cqc, cqc, cqe_comp_en, m->comp >= 0);
	LAYOUT_SET(cqc, cqc, mini_cqe_res_format, m->comp >= 0 ? (uint32_t)m->comp : 0);
	LAYOUT_SET(cqc, cqc, log_cq_size, cq_log2_of(entries));
	LAYOUT_SET(cqc, cqc, uar_page, uar);
	LAYOUT_SET(cqc, cqc, c_eqn, eqn);
	LAYOUT_SET(cqc, cqc, oi, !!(flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN));
	r = MLX5_EXEC(ctx, CREATE_CQ, NULL, in, out);
	if (r == 0)
		*cqn = LAYOUT_GET32(create_cq_out, out, cqn);
	return r;
}

static void cq_free(struct uv_context *ctx, struct mlx5_cq *m)
{
	mlx5_dbr_put(ctx, &m->dbr);
	mlx5_umem_destroy(ctx, &m->buf);
	heap_free(m);
}

/* The UAR that the program names, or the first one of a context that has its own. */
static int cq_uar(const struct uv_context *ctx, struct mlx5_ib_create_cq *cmd)
{
	const struct mlx5_bfregs *b = &mlx5_context(ctx)->bfregs;

	if (cmd->flags & MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX)
		return cmd->uar_page_index;
	return b->nstatic ? (int)b->page[0]
			  : uv_no(-EINVAL, "uar_page_index: the file has no UAR of its own");
}

int mlx5_create_cq(struct uv_cq *cq, uint32_t cqe, uint32_t comp_vector, uint32_t flags,
		   struct uv_udata *u)
{
	struct uv_context *ctx = uv_obj_context(&cq->obj);
	struct mlx5_ib_create_cq cmd;
	uint32_t entries = 0;
	struct mlx5_cq *m;
	int r, eqn, uar = 0;

	r = cq_entries(mlx5_caps(ctx), cqe, &entries);
	if (r < 0)
		return r;
	if (flags & ~(IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN | IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION))
		return uv_no(-EOPNOTSUPP, "flags: ignoring overruns and timestamps only");
	r = cq_request_check(u, &cmd);
	if (r < 0)
		return r;
	eqn = mlx5_vector2eqn(ctx, comp_vector);
	if (eqn < 0)
		return eqn;

	m = heap_zalloc(sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->cqe_size = cmd.cqe_size;
	m->pad = cmd.flags & MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD;
	m->real_time = cmd.flags & MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS;
	r = mlx5_queue_umem_create(ctx, cmd.buf_addr, (uint64_t)entries * cmd.cqe_size,
				   IB_UVERBS_ACCESS_LOCAL_WRITE, &m->buf);
	if (r == 0)
		r = mlx5_dbr_get(ctx, cmd.db_addr, &m->dbr);
	if (r == 0)
		r = uar = cq_uar(ctx, &cmd);
	if (r >= 0)
		r = features_check(mlx5_caps(ctx), &cmd, &m->comp);
	if (r >= 0)
		r = cq_cmd(ctx, m, entries, (uint32_t)uar, (uint32_t)eqn, flags, &cq->cqn);
	if (r < 0) {
		cq_free(ctx, m);
		return r;
	}
	r = uv_udata_out(u, &cq->cqn, sizeof(cq->cqn));
	if (r < 0) {
		mlx5_exec_id(ctx, PRM_OP_DESTROY_CQ, cq->cqn);
		cq_free(ctx, m);
		return r;
	}
	cq->cqe = entries - 1;
	cq->obj.drv = m;
	return 0;
}

static int resize_cmd(struct uv_context *ctx, const struct uv_cq *cq, const struct mlx5_umem *buf,
		      uint32_t entries, uint32_t cqe_size)
{
	uint8_t in[LAYOUT_SZ(modify_cq_in)] = {0}, out[LAYOUT_SZ(modify_cq_out)];
	const struct mlx5_cq *m = cq->obj.drv;
	void *cqc = LAYOUT_IN(modify_cq_in, cq_context, in);

	LAYOUT_SET(modify_cq_in, in, op_mod, CQ_OPMOD_RESIZE);
	LAYOUT_SET(modify_cq_in, in, cqn, cq->cqn);
	LAYOUT_SET(modify_cq_in, in, resize_field_select,
		   PRM_CQ_RESIZE_LOG_SIZE | PRM_CQ_RESIZE_PAGE_OFFSET |
			   PRM_CQ_RESIZE_LOG_PAGE_SIZE | PRM_CQ_RESIZE_UMEM);
	LAYOUT_SET(modify_cq_in, in, cq_umem_id, buf->id);
	LAYOUT_SET(modify_cq_in, in, cq_umem_valid, 1);
	LAYOUT_SET(cqc, cqc, cqe_sz, cqe_sz(cqe_size, m->pad));
	LAYOUT_SET(cqc, cqc, log_cq_size, cq_log2_of(entries));
	return MLX5_EXEC(ctx, MODIFY_CQ, NULL, in, out);
}

int mlx5_resize_cq(struct uv_cq *cq, uint32_t cqe, struct uv_udata *u)
{
	struct uv_context *ctx = uv_obj_context(&cq->obj);
	struct mlx5_cq *m = cq->obj.drv;
	struct mlx5_ib_resize_cq cmd;
	struct mlx5_umem buf;
	uint32_t entries = 0;
	int r;

	if (cqe < 1)
		return uv_no(-EINVAL, "cqe: at least 1");
	r = cq_entries(mlx5_caps(ctx), cqe, &entries);
	if (r < 0)
		return r;
	if (entries == cq->cqe + 1)
		return 0;
	if (u->inlen < sizeof(cmd))
		return uv_no(-EINVAL, "the driver's data is too short");
	memcpy(&cmd, u->in, sizeof(cmd));
	if (cmd.reserved0 || cmd.reserved1)
		return uv_no(-EINVAL, "reserved: 0");
	if (cmd.cqe_size != 64 && cmd.cqe_size != 128)
		return uv_no(-EINVAL, "cqe_size: 64 or 128");
	r = mlx5_queue_umem_create(ctx, cmd.buf_addr, (uint64_t)entries * cmd.cqe_size,
				   IB_UVERBS_ACCESS_LOCAL_WRITE, &buf);
	if (r < 0)
		return r;
	r = resize_cmd(ctx, cq, &buf, entries, cmd.cqe_size);
	if (r < 0) {
		mlx5_umem_destroy(ctx, &buf);
		return r;
	}
	/* The program owns the old buffer again: libmlx5 copies the remaining CQEs out of it. */
	mlx5_umem_destroy(ctx, &m->buf);
	m->buf = buf;
	m->cqe_size = cmd.cqe_size;
	cq->cqe = entries - 1;
	return 0;
}

int mlx5_modify_cq(struct uv_cq *cq, uint16_t count, uint16_t period)
{
	uint8_t in[LAYOUT_SZ(modify_cq_in)] = {0}, out[LAYOUT_SZ(modify_cq_out)];
	void *cqc = LAYOUT_IN(modify_cq_in, cq_context, in);

	if (period > MLX5_MAX_CQ_PERIOD)
		return uv_no(-EINVAL, "cq_period: 12 bits");
	LAYOUT_SET(modify_cq_in, in, cqn, cq->cqn);
	LAYOUT_SET(modify_cq_in, in, modify_field_select,
		   PRM_CQ_MODIFY_PERIOD | PRM_CQ_MODIFY_MAX_COUNT);
	LAYOUT_SET(cqc, cqc, cq_period, period);
	LAYOUT_SET(cqc, cqc, cq_max_count, count);
	return MLX5_EXEC(uv_obj_context(&cq->obj), MODIFY_CQ, NULL, in, out);
}

int mlx5_destroy_cq(struct uv_cq *cq)
{
	struct uv_context *ctx = uv_obj_context(&cq->obj);
	int r;

	r = mlx5_exec_id(ctx, PRM_OP_DESTROY_CQ, cq->cqn);
	if (r < 0)
		return r;
	cq_free(ctx, cq->obj.drv);
	cq->obj.drv = NULL;
	return 0;
}
