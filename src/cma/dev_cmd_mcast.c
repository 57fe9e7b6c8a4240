// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Commands of multicast groups. */
#include "cma/dev.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* enum ib_sa_mc_join_states, as bits of MCMemberRecord's JoinState. */
enum { JOIN_FULL_MEMBER = 1 << 0, JOIN_SEND_ONLY_FULL_MEMBER = 1 << 3 };

static struct dev_mc *mc_new(struct dev_ctx *ctx, const struct rdma_ucm_join_mcast *cmd)
{
	struct dev_mc *mc = calloc(1, sizeof(*mc));

	if (!mc)
		return NULL;
	if (dev_ids_take(&ctx->file->host->mc, &mc->id)) {
		free(mc);
		return NULL;
	}
	mc->ctx = ctx;
	mc->uid = cmd->uid;
	memcpy(&mc->addr, &cmd->addr, cmd->addr_size);
	TAILQ_INSERT_TAIL(&ctx->mcs, mc, link);
	return mc;
}

/* ucma_cleanup_mc_events(): frees a group and its events. Returns events_reported. */
static uint32_t mc_free(struct dev_mc *mc)
{
	struct dev_event *e, *next;
	uint32_t reported;

	dev_events_take_back(mc->ctx, mc);
	for (e = TAILQ_FIRST(&mc->ctx->events); e; e = next) {
		next = TAILQ_NEXT(e, in_ctx);
		if (e->mc == mc)
			dev_event_forget(e);
	}
	reported = mc->events_reported;
	TAILQ_REMOVE(&mc->ctx->mcs, mc, link);
	dev_ids_drop(&mc->ctx->file->host->mc, mc->id);
	free(mc);
	return reported;
}

/* ucma_process_join() */
static int join(struct dev_call *c, const struct rdma_ucm_join_mcast *cmd)
{
	struct rdma_ucm_create_id_resp resp;
	struct dev_ctx *ctx;
	struct dev_mc *mc;
	uint8_t state;
	int err;

	if (c->out_len < sizeof(resp))
		return -ENOSPC;
	if (cmd->addr_size != dev_addr_size(&cmd->addr))
		return -EINVAL;
	if (cmd->join_flags == RDMA_MC_JOIN_FLAG_FULLMEMBER)
		state = JOIN_FULL_MEMBER;
	else if (cmd->join_flags == RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER)
		state = JOIN_SEND_ONLY_FULL_MEMBER;
	else
		return -EINVAL;
	err = dev_ctx_get_bound(c->file, cmd->id, &ctx);
	if (err)
		return err;
	mc = mc_new(ctx, cmd);
	if (!mc)
		return -ENOMEM;
	err = cma_join(ctx->cm_id, &mc->addr, state, (void *)((uintptr_t)mc->id + 1));
	if (!err) {
		resp.id = mc->id;
		err = dev_respond(c, &resp, sizeof(resp));
		if (err)
			cma_leave(ctx->cm_id, &mc->addr);
	}
	if (err)
		mc_free(mc);
	else
		dev_ids_set(&c->file->host->mc, mc->id, mc);
	return err;
}

int dev_join_ip_mcast(struct dev_call *c, const void *v)
{
	const struct rdma_ucm_join_ip_mcast *cmd = v;
	struct rdma_ucm_join_mcast j = {
		.uid = cmd->uid,
		.id = cmd->id,
		.addr_size = (uint16_t)dev_addr_size_in6(&cmd->addr),
		.join_flags = RDMA_MC_JOIN_FLAG_FULLMEMBER,
	};

	if (!j.addr_size)
		return -EINVAL;
	memcpy(&j.addr, &cmd->addr, j.addr_size);
	return join(c, &j);
}

int dev_join_mcast(struct dev_call *c, const void *v)
{
	const struct rdma_ucm_join_mcast *cmd = v;

	return dev_addr_size(&cmd->addr) ? join(c, cmd) : -EINVAL;
}

int dev_leave_mcast(struct dev_call *c, const void *v)
{
	const struct rdma_ucm_destroy_id *cmd = v;
	struct dev_mc *mc = dev_ids_get(&c->file->host->mc, cmd->id);
	struct rdma_ucm_destroy_id_resp resp;

	if (!mc)
		return -ENOENT;
	if (mc->ctx->file != c->file)
		return -EINVAL;
	if (!mc->ctx->cm_id)
		return -ENXIO;
	cma_leave(mc->ctx->cm_id, &mc->addr);
	resp.events_reported = mc_free(mc);
	return dev_respond(c, &resp, sizeof(resp));
}
