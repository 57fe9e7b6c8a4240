// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Commands that make, bind, resolve, move and destroy ids, and the one that takes events. */
#include "cma/dev.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

#define MAX_BACKLOG 1024 /* max_backlog of ucma.c, before a sysctl changes it */

uint32_t dev_addr_size(const void *a)
{
	sa_family_t family;

	memcpy(&family, a, sizeof(family));
	switch (family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	case AF_IB:
		return 48; /* struct sockaddr_ib */
	default:
		return 0;
	}
}

uint32_t dev_addr_size_in6(const struct sockaddr_in6 *a)
{
	uint32_t n = dev_addr_size(a);

	return n <= sizeof(*a) ? n : 0;
}

static void addr_of(union cma_addr *to, const void *a, size_t len)
{
	memset(to, 0, sizeof(*to));
	memcpy(to, a, len);
}

/* ucma_get_qp_type() */
static int qp_type_of(const struct rdma_ucm_create_id *cmd, uint8_t *type)
{
	switch (cmd->ps) {
	case RDMA_PS_TCP:
		*type = IBV_QPT_RC;
		return 0;
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
		*type = IBV_QPT_UD;
		return 0;
	case RDMA_PS_IB:
		*type = cmd->qp_type;
		return 0;
	default:
		return -EINVAL;
	}
}

int dev_create_id(struct dev_call *c, const void *v)
{
	const struct rdma_ucm_create_id *cmd = v;
	struct rdma_ucm_create_id_resp resp;
	struct dev_file *f = c->file;
	struct dev_ctx *ctx;
	uint8_t type;
	int err = qp_type_of(cmd, &type);

	if (err)
		return err;
	ctx = dev_ctx_new(f);
	if (!ctx)
		return -ENOMEM;
	ctx->uid = cmd->uid;
	ctx->cm_id = cma_id_new(f->dev->cma, f->host_index, f->pid, f->comm, cmd->ps, type,
				dev_on_event, ctx);
	resp.id = ctx->id;
	err = ctx->cm_id ? dev_respond(c, &resp, sizeof(resp)) : -ENOMEM;
	if (err)
		dev_ctx_destroy(ctx);
	else
		dev_ctx_finish(ctx);
	return err;
}

int dev_destroy_id(struct dev_call *c, const void *v)
{
	const struct rdma_ucm_destroy_id *cmd = v;
	struct rdma_ucm_destroy_id_resp resp;
	struct dev_ctx *ctx;
	int err = dev_ctx_get(c->file, cmd->id, &ctx);

	/* An id whose adapter is gone can still be destroyed: _ucma_find_context(). */
	if (err == -ENXIO)
		ctx = dev_ids_get(&c->file->host->ctx, cmd->id);
	else if (err)
		return err;
	resp.events_reported = dev_ctx_destroy(ctx);
	return dev_respond(c, &resp, sizeof(resp));
}

int dev_bind_ip(struct dev_call *c, const void *v)
{
	const struct rdma_ucm_bind_ip *cmd = v;
	union cma_addr a;
	struct dev_ctx *ctx;
	int err;

	if (!dev_addr_size_in6(&cmd->addr))
		return -EINVAL;
	err = dev_ctx_get(c->file, cmd->id, &ctx);
	if (err)
		return err;
	addr_of(&a, &cmd->addr, sizeof(cmd->addr));
	return cma_bind(ctx->cm_id, &a);
}

int dev_bind(struct dev_call *c, const void *v)
{
	const struct rdma_ucm_bind *cmd = v;
	union cma_addr a;
	struct dev_ctx *ctx;
	int err;

	if (cmd->reserved || !cmd->addr_size || cmd->addr_size != dev_addr_size(&cmd->addr))
		return -EINVAL;
	err = dev_ctx_get(c->file, cmd->id, &ctx);
	if (err)
		return err;
	addr_of(&a, &cmd->addr, sizeof(cmd->addr));
	return cma_bind(ctx->cm_id, &a);
}

static int resolve(struct dev_call *c, uint32_t id, const void *from, const void *to, size_t len,
		   uint32_t timeout_ms)
{
	union cma_addr src, dst;
	struct dev_ctx *ctx;
	int err = dev_ctx_get(c->file, id, &ctx);

	if (err)
		return err;
	addr_of(&src, from, len);
	addr_of(&dst, to, len);
	return cma_resolve_addr(ctx->cm_id, &src, &dst, timeout_ms);
}
/* RESOLVE_IP has less room per address than RESOLVE_ADDR; within one both have the same. */
#define RESOLVE(c, cmd)                                                                    \
	resolve(c, (cmd)->id, &(cmd)->src_addr, &(cmd)->dst_addr, sizeof((cmd)->dst_addr), \
		(cmd)->timeout_ms)

int dev_resolve_ip(struct dev_call *c, const void *v)
{
	const struct rdma_ucm_resolve_ip *cmd = v;

	if ((cmd->src_addr.sin6_family && !dev_addr_size_in6(&cmd->src_addr)) ||
	    !dev_addr_size_in6(&cmd->dst_addr))
		return -EINVAL;
	return RESOLVE(c, cmd);
}

int dev_resolve_addr(struct dev_call *c, const void *v)
{
	const struct rdma_ucm_resolve_addr *cmd = v;

	if (cmd->reserved || (cmd->src_size && cmd->src_size != dev_addr_size(&cmd->src_addr)) ||
	    !cmd->dst_size || cmd->dst_size != dev_addr_size(&cmd->dst_addr))
		return -EINVAL;
	/*
	 * The kernel uses the source address even if src_size is 0: its family says whether it is
	 * set.
	 */
	return RESOLVE(c, cmd);
}

int dev_resolve_route(struct dev_call *c, const void *v)
{
	const struct rdma_ucm_resolve_route *cmd = v;
	struct dev_ctx *ctx;
	int err = dev_ctx_get_bound(c->file, cmd->id, &ctx);

	return err ? err : cma_resolve_route(ctx->cm_id, cmd->timeout_ms);
}

int dev_listen(struct dev_call *c, const void *v)
{
	const struct rdma_ucm_listen *cmd = v;
	struct dev_ctx *ctx;
	int err = dev_ctx_get(c->file, cmd->id, &ctx);

	if (err)
		return err;
	/* The kernel sets the backlog even if listening fails, and again in a second call. */
	ctx->backlog = cmd->backlog && cmd->backlog <= MAX_BACKLOG ? cmd->backlog : MAX_BACKLOG;
	return cma_listen(ctx->cm_id, (int)ctx->backlog);
}

int dev_notify(struct dev_call *c, const void *v)
{
	const struct rdma_ucm_notify *cmd = v;
	struct dev_ctx *ctx;
	int err = dev_ctx_get_bound(c->file, cmd->id, &ctx);

	return err ? err : cma_notify(ctx->cm_id, cmd->event);
}

int dev_get_event(struct dev_call *c, const void *v)
{
	size_t len = sizeof(struct rdma_ucm_event_resp);
	struct dev_event *e;
	int err;

	do {
		e = TAILQ_FIRST(&c->file->events);
		if (!e) {
			*c->written = 0; /* readers have taken all events since the caller looked */
			return -EAGAIN;
		}
		err = dev_respond(c, &e->resp, c->out_len < len ? c->out_len : len);
		if (err)
			return err;
	} while (!dev_event_take_back(e));
	dev_event_told(e);
	return 0;
}

/* ucma_migrate_id(): `c->file` is where the id goes. */
int dev_migrate_id(struct dev_call *c, const void *v)
{
	const struct rdma_ucm_migrate_id *cmd = v;
	struct rdma_ucm_migrate_resp resp;
	struct dev_file *from;
	struct dev_ctx *ctx;
	struct ucma_fd fd;
	int err;

	if (c->call->aux_len < sizeof(fd))
		return -EINVAL;
	memcpy(&fd, c->aux, sizeof(fd));
	if (fd.err)
		return fd.err;
	from = dev_file_of(c->file->dev, fd.file);
	/* Another host has a kernel of its own, so the id cannot move there. */
	if (!from || from->host != c->file->host)
		return -EINVAL;
	err = dev_ctx_get(from, cmd->id, &ctx);
	if (err)
		return err;
	dev_file_sync(from);
	dev_ctx_move(ctx, c->file);
	resp.events_reported = ctx->events_reported;
	return dev_respond(c, &resp, sizeof(resp));
}
