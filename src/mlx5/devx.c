/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * DEVX: firmware commands of the program. The handlers make the kernel's checks (uid, white list,
 * identity of the object), edit the input as it does, and pass the bytes to the firmware; a refusal
 * comes back as EREMOTEIO with the command's output. Called by uverbs.
 */
#include <errno.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include "mlx5/devx_table.h"
#include "mlx5/priv.h"
#include "hw/evq.h"
#include "hw/evsub.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/cq.h"
#include "wire/prm/mkey.h"

struct devx_obj {
	struct uv_object obj;
	uint64_t object; /* devx_cmd_created(): commands on the object must name this */
	bool subscribed; /* DEVX events of it are subscribed to */
	uint32_t dinlen;
	uint8_t din[DEVX_DESTROY_MAX];
};

/* One command: its input (an editable copy), its output, and the caller's buffer length. */
struct devx_call {
	struct uv_context *ctx;
	uint8_t *in;
	size_t inlen;
	uint16_t opcode;
	uint16_t uid;
	uint8_t *out;
	size_t outlen;
	uint16_t out_attr;
};

/*
 * The uid of the command: the context's. A few harmless queries may come from a context without
 * one; the kernel sends those with a uid of its own, here it is 0.
 */
static int call_uid(struct devx_call *c, struct uv_bundle *b)
{
	if (!c->ctx->devx_uid && !devx_cmd_needs_no_uid(c->opcode))
		return uv_why(b, -EINVAL, "the device was not opened for DEVX (no uid)");
	c->uid = (uint16_t)c->ctx->devx_uid;
	return 0;
}

static int call_init(struct devx_call *c, struct uv_bundle *b, uint16_t in_attr, uint16_t out_attr,
		     enum devx_method method)
{
	int r;

	c->ctx = uv_b_context(b);
	c->in = (uint8_t *)(uintptr_t)uv_b_in(b, in_attr, &c->inlen);
	c->out_attr = out_attr;
	c->outlen = uv_b_out_len(b, out_attr);
	c->opcode = LAYOUT_GET16(cmd_in, c->in, opcode);
	/* vhca_tunnel_id: only OTHER may tunnel, and only where the firmware can */
	if (method != DEVX_OTHER && bits_get32(c->in, 0x20, 16))
		return uv_why(b, -EINVAL, "vhca_tunnel_id is for DEVX_OTHER only");
	r = call_uid(c, b);
	if (r < 0)
		return r;
	if (devx_cmd_allowed(c->in, method))
		return 0;
	return uv_why(b, -EINVAL,
		      devx_cmd_find(c->opcode)
			      ? "the driver takes this command by another DEVX method"
			      : "the driver passes no such command on");
}

/* Execute the command; the caller gets the output of success and refusal alike. */
static int call_exec(struct devx_call *c, struct uv_bundle *b)
{
	int r, r2;

	c->out = heap_zalloc(c->outlen);
	if (!c->out)
		return -ENOMEM;
	r = mlx5_exec_devx(c->ctx, c->uid, NULL, c->in, (uint32_t)c->inlen, c->out,
			   (uint32_t)c->outlen);
	if (r && r != -EREMOTEIO)
		return r;
	r2 = uv_b_out(b, c->out_attr, c->out, c->outlen);
	return r2 ? r2 : r;
}

int mlx5_method_devx_other(struct uv_bundle *b)
{
	struct devx_call c = {0};
	int r;

	r = call_init(&c, b, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT,
		      DEVX_OTHER);
	if (r == 0)
		r = call_exec(&c, b);
	heap_free(c.out);
	return r;
}

/* Only contexts without dynamic UARs have registers to translate. */
int mlx5_method_devx_query_uar(struct uv_bundle *b)
{
	uint32_t n = (uint32_t)uv_b_const(b, MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX, 0);
	int uar = mlx5_bfreg_dynamic_uar(mlx5_context(uv_b_context(b)), n);

	if (uar < 0)
		return uar;
	return uv_b_out(b, MLX5_IB_ATTR_DEVX_QUERY_UAR_DEV_IDX, &uar, sizeof(uar));
}

int mlx5_method_devx_query_eqn(struct uv_bundle *b)
{
	uint32_t vector = (uint32_t)uv_b_const(b, MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, 0);
	int eqn = mlx5_vector2eqn(uv_b_context(b), vector);

	if (eqn < 0)
		return uv_why(b, eqn, "no such completion vector");
	return uv_b_out(b, MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, &eqn, sizeof(eqn));
}

/* ---- objects */

static int devx_obj_destroy(struct uv_object *o, int why)
{
	struct devx_obj *obj = (struct devx_obj *)o;
	uint8_t out[LAYOUT_SZ(cmd_out)];
	struct uv_context *ctx;
	int r;

	if (why == UV_CLOSE)
		return 0;
	ctx = uv_obj_context(o);
	/* mlx5_core_destroy_dct(): subscribers get the event that it is drained */
	if ((obj->object >> 32 & 0xffff) == PRM_OP_CREATE_DCT)
		mlx5_exec_id(ctx, PRM_OP_DRAIN_DCT, (uint32_t)obj->object);
	r = mlx5_exec_devx(ctx, (uint16_t)ctx->devx_uid, NULL, obj->din, obj->dinlen, out,
			   sizeof(out));
	if (r == -EREMOTEIO)
		return fw_status_to_errno(LAYOUT_GET8(cmd_out, out, status));
	if (!r && obj->subscribed)
		evsub_object_gone(ctx->seg, ctx->hca, obj->object);
	return r;
}

/* CREATE_QP makes a "QP". */
static const char *devx_obj_kind(const struct uv_object *o)
{
	const char *made_by =
		fw_opcode_name((uint16_t)(((const struct devx_obj *)o)->object >> 32));
	const char *kind = strchr(made_by, '_');

	return kind ? kind + 1 : made_by;
}

const struct uv_type mlx5_devx_obj_type = {
	.name = "DEVX_OBJ",
	.object_id = MLX5_IB_OBJECT_DEVX_OBJ,
	.size = sizeof(struct devx_obj),
	.number = offsetof(struct devx_obj, object), /* its lower half */
	.kind = devx_obj_kind,
	.destroy_order = 1,
	.destroy = devx_obj_destroy,
};

/* An indirect key has no memory of its own; any other key lies in a umem. */
static int create_mkey_edit(struct devx_call *c)
{
	const void *mkc = LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, c->in);
	uint32_t mode;

	if (c->inlen < LP_create_mkey_in_memory_key_mkey_entry + LAYOUT_SZ(mkc))
		return uv_no(-EINVAL, "shorter than the command");
	mode = (uint32_t)(LAYOUT_GET(mkc, mkc, access_mode_4_2) << 2 |
			  LAYOUT_GET(mkc, mkc, access_mode_1_0));
	if (mode != PRM_MKC_KLM && mode != PRM_MKC_KSM)
		LAYOUT_SET(create_mkey_in, c->in, mkey_umem_valid, 1);
	return 0;
}

/* The kernel binds every CQ to one of its EQs, so it refuses unknown EQs itself. */
static int create_cq_check(const struct devx_call *c)
{
	const void *cqc = LAYOUT_IN(create_cq_in, cq_context, c->in);
	uint32_t n = mlx5_caps(c->ctx)->num_comp_vectors;

	if (c->inlen < LAYOUT_SZ(create_cq_in))
		return 0; /* the firmware refuses this */
	for (uint32_t v = 0; v < n; v++)
		if (LAYOUT_GET(cqc, cqc, c_eqn) == (uint32_t)mlx5_vector2eqn(c->ctx, v))
			return 0;
	return uv_no(-ENOENT, "c_eqn is no EQ of a completion vector");
}

static int create_edit(struct devx_call *c)
{
	LAYOUT_SET(cmd_in, c->in, uid, c->uid);
	if (c->opcode == PRM_OP_CREATE_MKEY)
		return create_mkey_edit(c);
	devx_cmd_set_umem_valid(c->in, (uint32_t)c->inlen);
	return c->opcode == PRM_OP_CREATE_CQ ? create_cq_check(c) : 0;
}

int mlx5_method_devx_obj_create(struct uv_bundle *b)
{
	struct devx_obj *obj = (void *)uv_b_new(b, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE);
	struct devx_call c = {0};
	int r, r2;

	r = call_init(&c, b, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN,
		      MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, DEVX_CREATE);
	if (r == 0)
		r = create_edit(&c);
	if (r == -ENOENT)
		return uv_why(b, r, "cqc.c_eqn is no event queue of this device");
	if (r < 0)
		return uv_why(b, r, "the command is shorter than its fields");
	c.out = heap_zalloc(c.outlen);
	if (!c.out)
		return -ENOMEM;
	r = mlx5_exec_devx(c.ctx, c.uid, NULL, c.in, (uint32_t)c.inlen, c.out, (uint32_t)c.outlen);
	if (r == 0) {
		obj->object = devx_cmd_created(c.in, (uint32_t)c.inlen, c.out, (uint32_t)c.outlen);
		obj->dinlen = devx_cmd_build_destroy(c.in, (uint32_t)c.inlen, (uint32_t)obj->object,
						     obj->din);
		uv_b_created(b);
	}
	if (r == 0 || r == -EREMOTEIO) {
		r2 = uv_b_out(b, c.out_attr, c.out, c.outlen);
		r = r2 ? r2 : r;
	}
	heap_free(c.out);
	return r;
}

uint64_t mlx5_devx_obj_subscribed(struct uv_object *o)
{
	struct devx_obj *obj = (struct devx_obj *)o;

	obj->subscribed = true;
	return obj->object;
}

/* The firmware's object of an SRQ: create_srq_split() of srq_cmd.c. */
static uint16_t srq_maker(const struct uv_srq *srq)
{
	if (srq->srq_type == IBV_SRQT_XRC)
		return PRM_OP_CREATE_XRC_SRQ;
	return srq->srq_type == IBV_SRQT_TM ? PRM_OP_CREATE_XRQ : PRM_OP_CREATE_RMP;
}

/* Is the handle's object the one that the command names? */
static bool object_matches(const struct uv_object *o, uint64_t named)
{
	if (!named)
		return false;
	switch (o->type->object_id) {
	case UVERBS_OBJECT_CQ:
		return named == devx_object(PRM_OP_CREATE_CQ, ((const struct uv_cq *)o)->cqn);
	case UVERBS_OBJECT_QP:
		if (((const struct mlx5_qp *)o->drv)->is_dct)
			return named == devx_object(PRM_OP_CREATE_DCT,
						    ((const struct mlx5_qp *)o->drv)->dctn);
		return named == devx_object(PRM_OP_CREATE_QP, ((const struct uv_qp *)o)->qpn);
	case UVERBS_OBJECT_SRQ:
		return named == devx_object(srq_maker((const struct uv_srq *)o),
					    ((const struct uv_srq *)o)->srqn);
	case UVERBS_OBJECT_WQ:
		return named == devx_object(PRM_OP_CREATE_RQ, ((const struct uv_wq *)o)->wqn);
	case UVERBS_OBJECT_RWQ_IND_TBL:
		return named ==
		       devx_object(PRM_OP_CREATE_RQT, ((const struct uv_rwq_ind_tbl *)o)->num);
	case MLX5_IB_OBJECT_DEVX_OBJ:
		return named == ((const struct devx_obj *)o)->object;
	default:
		return false;
	}
}

static int obj_call(struct uv_bundle *b, uint16_t handle, uint16_t in_attr, uint16_t out_attr,
		    enum devx_method method)
{
	struct devx_call c = {0};
	int r;

	r = call_init(&c, b, in_attr, out_attr, method);
	if (r < 0)
		return r;
	if (!object_matches(uv_b_obj(b, handle), devx_cmd_object(c.in, (uint32_t)c.inlen)))
		return uv_why(b, -EINVAL, "the command names another object than the handle");
	if (method == DEVX_MODIFY)
		devx_cmd_set_umem_valid(c.in, (uint32_t)c.inlen);
	r = call_exec(&c, b);
	heap_free(c.out);
	return r;
}

/* Limit of a file's unread results, in bytes. */
#define MAX_ASYNC_BYTES (1024 * 1024)

/* A card answers later; here the answer is there at once. A refused query has an answer, too. */
int mlx5_method_devx_obj_async_query(struct uv_bundle *b)
{
	const struct uv_event_file *f =
		(const void *)uv_b_obj(b, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_FD);
	const struct seg_evsrc none = {.table = SEG_T_COUNT};
	const struct seg_evq *q;
	struct devx_call c = {0};
	uint32_t len = (uint32_t)uv_b_const(b, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_OUT_LEN, 0);
	uint8_t *out;
	int r;

	r = call_init(&c, b, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_CMD_IN, 0, DEVX_QUERY);
	if (r < 0)
		return r;
	if (!object_matches(uv_b_obj(b, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_HANDLE),
			    devx_cmd_object(c.in, (uint32_t)c.inlen)))
		return uv_why(b, -EINVAL, "the command names another object than the handle");
	q = seg_live(c.ctx->seg, SEG_T_EVQ, f->evq);
	if (!q || q->gen != f->gen || atomic_load(&q->bytes) + len > MAX_ASYNC_BYTES)
		return uv_why(b, -EAGAIN, "1 MiB of results is unread");
	/* The firmware's answer has at least a header. */
	c.outlen = len < LAYOUT_SZ(cmd_out) ? LAYOUT_SZ(cmd_out) : len;
	out = heap_zalloc(c.outlen);
	if (!out)
		return -ENOMEM;
	r = mlx5_exec_devx(c.ctx, c.uid, NULL, c.in, (uint32_t)c.inlen, out, (uint32_t)c.outlen);
	if (!r || r == -EREMOTEIO)
		r = evq_push_data(c.ctx->seg, f->evq, f->gen, none,
				  uv_b_const(b, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID, 0), out,
				  len);
	heap_free(out);
	return r == -ENOSPC ? -ENOMEM : r == -ETIMEDOUT ? -EAGAIN : r;
}

int mlx5_method_devx_obj_modify(struct uv_bundle *b)
{
	return obj_call(b, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN,
			MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, DEVX_MODIFY);
}

int mlx5_method_devx_obj_query(struct uv_bundle *b)
{
	return obj_call(b, MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN,
			MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, DEVX_QUERY);
}
