// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Commands of connections, and the options of ids. */
#include "cma/dev.h"

#include <errno.h>
#include <string.h>

#define KMALLOC_MAX_SIZE (4u << 20) /* on x86-64: the limit of an option's length */

/* ucma_copy_conn_param(); `p` refers to the command. */
static void param_of(const struct dev_ctx *ctx, const struct rdma_ucm_conn_param *p,
		     struct cma_conn_param *out)
{
	*out = (struct cma_conn_param){
		.data = p->private_data,
		.len = p->private_data_len,
		.responder_resources = p->responder_resources,
		.initiator_depth = p->initiator_depth,
		.flow_control = p->flow_control,
		.retry_count = p->retry_count,
		.rnr_retry_count = p->rnr_retry_count,
		.srq = p->srq,
		.qpn = p->qp_num & 0xffffff,
		.qkey = cma_src(ctx->cm_id)->sa.sa_family == AF_IB ? p->qkey : 0,
	};
}

/* The ECE is the last member of the struct. A program may copy only part of it: ignore it then. */
static struct cm_ece ece_of(const struct dev_call *c, size_t whole, const struct rdma_ucm_ece *e)
{
	struct cm_ece none = {0};

	return c->in_len < whole
		       ? none
		       : (struct cm_ece){.vendor_id = e->vendor_id, .attr_mod = e->attr_mod};
}

int dev_connect(struct dev_call *c, const void *v)
{
	const struct rdma_ucm_connect *cmd = v;
	struct cm_ece ece = ece_of(c, sizeof(*cmd), &cmd->ece);
	struct cma_conn_param p;
	struct dev_ctx *ctx;
	int err;

	if (!cmd->conn_param.valid)
		return -EINVAL;
	err = dev_ctx_get_bound(c->file, cmd->id, &ctx);
	if (err)
		return err;
	param_of(ctx, &cmd->conn_param, &p);
	return cma_connect(ctx->cm_id, &p, &ece);
}

int dev_accept(struct dev_call *c, const void *v)
{
	const struct rdma_ucm_accept *cmd = v;
	struct cm_ece ece = ece_of(c, sizeof(*cmd), &cmd->ece);
	struct cma_conn_param p;
	struct dev_ctx *ctx;
	int err = dev_ctx_get_bound(c->file, cmd->id, &ctx);

	if (err)
		return err;
	if (!cmd->conn_param.valid)
		return cma_accept(ctx->cm_id, NULL, &ece);
	param_of(ctx, &cmd->conn_param, &p);
	err = cma_accept(ctx->cm_id, &p, &ece);
	if (!err)
		ctx->uid = cmd->uid;
	return err;
}

int dev_reject(struct dev_call *c, const void *v)
{
	/* IBA 12.6.7.2 */
	enum { CONSUMER_DEFINED = 28, VENDOR_OPTION_NOT_SUPPORTED = 35 };
	const struct rdma_ucm_reject *cmd = v;
	uint8_t reason = cmd->reason ? cmd->reason : CONSUMER_DEFINED;
	struct dev_ctx *ctx;
	int err;

	if (reason != CONSUMER_DEFINED && reason != VENDOR_OPTION_NOT_SUPPORTED)
		return -EINVAL;
	err = dev_ctx_get_bound(c->file, cmd->id, &ctx);
	if (err)
		return err;
	return cma_reject(ctx->cm_id, cmd->private_data, cmd->private_data_len, reason);
}

int dev_disconnect(struct dev_call *c, const void *v)
{
	const struct rdma_ucm_disconnect *cmd = v;
	struct dev_ctx *ctx;
	int err = dev_ctx_get_bound(c->file, cmd->id, &ctx);

	return err ? err : cma_disconnect(ctx->cm_id);
}

/* ---- options */

/* ucma_set_ib_path(): uses the first record that is valid for both directions. */
static int set_ib_path(struct dev_call *c, struct dev_ctx *ctx, uint32_t len)
{
	const uint32_t both = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
	const struct cma_event e = {.event = RDMA_CM_EVENT_ROUTE_RESOLVED};
	struct ib_path_rec_data rec;
	struct cm_path path;
	uint32_t at, end = len < c->call->aux_len ? len : c->call->aux_len;
	int err;

	if (len % sizeof(rec))
		return -EINVAL;
	for (at = 0; at + sizeof(rec) <= end; at += sizeof(rec)) {
		memcpy(&rec, (const uint8_t *)c->aux + at, sizeof(rec));
		if (rec.flags == both)
			break;
	}
	if (at + sizeof(rec) > end || cma_port(ctx->cm_id) == SEG_NONE)
		return -EINVAL;
	dev_path_unpack(rec.path_rec, &path);
	err = cma_set_path(ctx->cm_id, &path);
	return err ? err : dev_on_event(ctx->cm_id, &e);
}

/* ucma_set_option_id() */
static int set_id(struct dev_call *c, struct dev_ctx *ctx, uint32_t name, uint32_t len)
{
	bool byte = name == RDMA_OPTION_ID_TOS || name == RDMA_OPTION_ID_ACK_TIMEOUT;
	uint8_t u8 = 0;
	int i = 0;

	if (name > RDMA_OPTION_ID_ACK_TIMEOUT)
		return -ENOSYS;
	if (len != (byte ? sizeof(u8) : sizeof(i)))
		return -EINVAL;
	memcpy(byte ? (void *)&u8 : &i, c->aux, len);
	switch (name) {
	case RDMA_OPTION_ID_TOS:
		cma_set_service_type(ctx->cm_id, u8);
		return 0;
	case RDMA_OPTION_ID_REUSEADDR:
		return cma_set_reuseaddr(ctx->cm_id, i ? 1 : 0);
	case RDMA_OPTION_ID_AFONLY:
		return cma_set_afonly(ctx->cm_id, i ? 1 : 0);
	default:
		return cma_set_ack_timeout(ctx->cm_id, u8);
	}
}

int dev_set_option(struct dev_call *c, const void *v)
{
	const struct rdma_ucm_set_option *cmd = v;
	uint32_t want = cmd->optlen < UCMA_AUX_MAX ? cmd->optlen : UCMA_AUX_MAX;
	struct dev_ctx *ctx;
	int err;

	if (cmd->optlen > KMALLOC_MAX_SIZE)
		return -EINVAL;
	err = dev_ctx_get(c->file, cmd->id, &ctx);
	if (err)
		return err;
	/* memdup_user(): of no bytes it succeeds whatever the address is. */
	if (cmd->optlen && (c->call->aux_err || c->call->aux_len < want))
		return c->call->aux_err ? c->call->aux_err : -EFAULT;
	switch (cmd->level) {
	case RDMA_OPTION_ID:
		return set_id(c, ctx, cmd->optname, cmd->optlen);
	case RDMA_OPTION_IB:
		return cmd->optname == RDMA_OPTION_IB_PATH ? set_ib_path(c, ctx, cmd->optlen)
							   : -ENOSYS;
	default:
		return -ENOSYS;
	}
}
