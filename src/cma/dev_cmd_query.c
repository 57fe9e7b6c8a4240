// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Query commands: addresses, routes and paths of an id, and attributes for its QP. */
#include "cma/dev.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>
#include "hw/port.h"

struct addr_of_ib { /* struct sockaddr_ib, include/rdma/ib.h of the kernel */
	uint16_t family, pkey;
	uint32_t flowinfo;
	uint8_t addr[16];
	uint64_t sid, sid_mask, scope_id;
};
static_assert(sizeof(struct addr_of_ib) == 48, "struct sockaddr_ib");

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void gids_of(const struct dev_ctx *ctx, uint8_t sgid[16], uint8_t dgid[16], uint16_t *pkey)
{
	memset(sgid, 0, 16);
	memset(dgid, 0, 16);
	*pkey = 0;
	if (cma_port(ctx->cm_id) != SEG_NONE)
		cma_gids(ctx->cm_id, sgid, dgid, pkey);
}

/* ucma_copy_ib_route(), ucma_copy_iboe_route() */
static void copy_route(const struct dev_ctx *ctx, struct rdma_ucm_query_route_resp *resp)
{
	const struct hw_port *p = hw_port(ctx->file->dev->s, cma_port(ctx->cm_id));
	struct ib_user_path_rec *first = &resp->ib_route[0];
	uint16_t pkey;

	resp->num_paths = cma_npaths(ctx->cm_id);
	for (uint32_t i = 0; i < resp->num_paths && i < 2; i++)
		dev_user_path(cma_path(ctx->cm_id, i), &resp->ib_route[i]);
	if (resp->num_paths)
		return;
	gids_of(ctx, first->sgid, first->dgid, &pkey);
	first->pkey = p && hw_port_is_eth(p) ? 0xffff : htobe16(pkey);
}

static size_t route_addr_size(const union cma_addr *a)
{
	return a->sa.sa_family == AF_INET ? sizeof(a->in) : sizeof(a->in6);
}

int dev_query_route(struct dev_call *c, const void *v)
{
	const struct rdma_ucm_query *cmd = v;
	struct rdma_ucm_query_route_resp resp = {0};
	const union cma_addr *a;
	struct dev_port port;
	struct dev_ctx *ctx;
	int err = dev_ctx_get(c->file, cmd->id, &ctx);

	if (err)
		return err;
	a = cma_src(ctx->cm_id);
	memcpy(&resp.src_addr, a, route_addr_size(a));
	a = cma_dst(ctx->cm_id);
	memcpy(&resp.dst_addr, a, route_addr_size(a));
	if (dev_port_of(ctx, &port)) {
		resp.node_guid = port.node_guid;
		resp.ibdev_index = port.hca_index;
		resp.port_num = port.num;
		copy_route(ctx, &resp);
	}
	return dev_respond(c, &resp, least(c->out_len, sizeof(resp)));
}

/* ucma_query_device_addr(); pkey in host order. */
static void device_addr(const struct dev_ctx *ctx, struct rdma_ucm_query_addr_resp *resp)
{
	uint8_t sgid[16], dgid[16];
	struct dev_port port;
	uint16_t pkey;

	if (!dev_port_of(ctx, &port))
		return;
	gids_of(ctx, sgid, dgid, &pkey);
	resp->node_guid = port.node_guid;
	resp->ibdev_index = port.hca_index;
	resp->port_num = port.num;
	resp->pkey = htobe16(pkey);
}

static int query_addr(struct dev_call *c, const struct dev_ctx *ctx)
{
	struct rdma_ucm_query_addr_resp resp = {0};

	if (c->out_len < offsetof(struct rdma_ucm_query_addr_resp, ibdev_index))
		return -ENOSPC;
	resp.src_size = (uint16_t)dev_addr_size(cma_src(ctx->cm_id));
	memcpy(&resp.src_addr, cma_src(ctx->cm_id), resp.src_size);
	resp.dst_size = (uint16_t)dev_addr_size(cma_dst(ctx->cm_id));
	memcpy(&resp.dst_addr, cma_dst(ctx->cm_id), resp.dst_size);
	device_addr(ctx, &resp);
	return dev_respond(c, &resp, least(c->out_len, sizeof(resp)));
}

static int query_path(struct dev_call *c, const struct dev_ctx *ctx)
{
	struct {
		struct rdma_ucm_query_path_resp hdr;
		struct ib_path_rec_data path[2];
	} resp = {0};
	size_t room = c->out_len, n = 0;

	if (room < sizeof(resp.hdr))
		return -ENOSPC;
	room -= sizeof(resp.hdr);
	resp.hdr.num_paths = cma_npaths(ctx->cm_id);
	while (n < resp.hdr.num_paths && n < 2 && room >= sizeof(resp.path[0])) {
		resp.path[n].flags = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
		dev_path_pack(cma_path(ctx->cm_id, (uint32_t)n), resp.path[n].path_rec);
		n++;
		room -= sizeof(resp.path[0]);
	}
	return dev_respond(c, &resp, sizeof(resp.hdr) + n * sizeof(resp.path[0]));
}

/* ucma_query_gid(): copies an AF_IB address as it is; else shows the GID that belongs to it. */
static void gid_addr(const struct dev_ctx *ctx, const union cma_addr *a, const uint8_t gid[16],
		     uint16_t pkey, void *to)
{
	struct addr_of_ib ib = {.family = AF_IB, .pkey = pkey};

	if (a->sa.sa_family == AF_IB) {
		memcpy(to, a, sizeof(ib));
		return;
	}
	memcpy(ib.addr, gid, 16);
	ib.sid = htobe64(cma_service_id(ctx->cm_id, a));
	memcpy(to, &ib, sizeof(ib));
}

static int query_gid(struct dev_call *c, const struct dev_ctx *ctx)
{
	struct rdma_ucm_query_addr_resp resp = {0};
	uint8_t sgid[16], dgid[16];
	uint16_t pkey;

	if (c->out_len < offsetof(struct rdma_ucm_query_addr_resp, ibdev_index))
		return -ENOSPC;
	device_addr(ctx, &resp);
	gids_of(ctx, sgid, dgid, &pkey);
	resp.src_size = resp.dst_size = sizeof(struct addr_of_ib);
	gid_addr(ctx, cma_src(ctx->cm_id), sgid, resp.pkey, &resp.src_addr);
	gid_addr(ctx, cma_dst(ctx->cm_id), dgid, resp.pkey, &resp.dst_addr);
	return dev_respond(c, &resp, least(c->out_len, sizeof(resp)));
}

int dev_query(struct dev_call *c, const void *v)
{
	const struct rdma_ucm_query *cmd = v;
	struct dev_ctx *ctx;
	int err = dev_ctx_get(c->file, cmd->id, &ctx);

	if (err)
		return err;
	switch (cmd->option) {
	case RDMA_USER_CM_QUERY_ADDR:
		return query_addr(c, ctx);
	case RDMA_USER_CM_QUERY_PATH:
		return query_path(c, ctx);
	case RDMA_USER_CM_QUERY_GID:
		return query_gid(c, ctx);
	default:
		return -ENOSYS;
	}
}

/* ---- attributes for ibv_modify_qp() */

static void copy_qp_attr(const struct dev_ctx *ctx, const struct cm_qp_attr *a,
			 struct ib_uverbs_qp_attr *out)
{
	const struct seg *s = ctx->file->dev->s;
	uint32_t port = cma_port(ctx->cm_id);
	const struct hw_port *p = hw_port(s, port);

	out->qp_attr_mask = a->mask;
	out->path_mtu = a->path_mtu;
	out->path_mig_state = a->path_mig_state;
	out->qkey = a->qkey;
	out->rq_psn = a->rq_psn;
	out->sq_psn = a->sq_psn;
	out->dest_qp_num = a->dest_qpn;
	out->qp_access_flags = a->access;
	if (a->mask & IBV_QP_AV) {
		dev_ah_attr(s, port, &a->path, a->grh, &out->ah_attr);
		out->ah_attr.src_path_bits = a->path_src_bits;
		out->ah_attr.port_num = p ? (uint8_t)p->num : 0;
	}
	if (a->mask & IBV_QP_ALT_PATH) {
		/* ib_init_ah_attr_from_path() adds a GRH to any path with a hop limit. */
		dev_ah_attr(s, port, &a->alt, a->alt.hop_limit > 0, &out->alt_ah_attr);
		out->alt_ah_attr.port_num = a->alt_port_num;
	}
	out->pkey_index = a->pkey_index;
	out->alt_pkey_index = a->alt_pkey_index;
	out->max_rd_atomic = a->max_rd_atomic;
	out->max_dest_rd_atomic = a->max_dest_rd_atomic;
	out->min_rnr_timer = a->min_rnr_timer;
	out->port_num = a->port_num;
	out->timeout = a->timeout;
	out->retry_cnt = a->retry_cnt;
	out->rnr_retry = a->rnr_retry;
	out->alt_port_num = a->alt_port_num;
	out->alt_timeout = a->alt_timeout;
}

int dev_init_qp_attr(struct dev_call *c, const void *v)
{
	const struct rdma_ucm_init_qp_attr *cmd = v;
	struct ib_uverbs_qp_attr resp = {0};
	struct cm_qp_attr a = {0};
	struct dev_ctx *ctx;
	int err;

	if (cmd->qp_state > IBV_QPS_ERR)
		return -EINVAL;
	err = dev_ctx_get_bound(c->file, cmd->id, &ctx);
	if (!err)
		err = cma_init_qp_attr(ctx->cm_id, cmd->qp_state, &a);
	if (err)
		return err;
	copy_qp_attr(ctx, &a, &resp);
	resp.qp_state = cmd->qp_state;
	return dev_respond(c, &resp, sizeof(resp));
}
