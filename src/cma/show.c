/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns what others see of ids: status and netlink. */
#include "cma/priv.h"

#include <string.h>

static const char *const states[] = {
	[CMA_IDLE] = "IDLE",
	[CMA_ADDR_QUERY] = "ADDR_QUERY",
	[CMA_ADDR_RESOLVED] = "ADDR_RESOLVED",
	[CMA_ROUTE_QUERY] = "ROUTE_QUERY",
	[CMA_ROUTE_RESOLVED] = "ROUTE_RESOLVED",
	[CMA_CONNECT] = "CONNECT",
	[CMA_DISCONNECT] = "DISCONNECT",
	[CMA_ADDR_BOUND] = "ADDR_BOUND",
	[CMA_LISTEN] = "LISTEN",
	[CMA_DEVICE_REMOVAL] = "DEVICE_REMOVAL",
	[CMA_DESTROYING] = "DESTROYING",
};

static const char *ps_name(enum rdma_ucm_port_space ps)
{
	switch (ps) {
	case RDMA_PS_IPOIB:
		return "IPOIB";
	case RDMA_PS_TCP:
		return "TCP";
	case RDMA_PS_UDP:
		return "UDP";
	case RDMA_PS_IB:
		return "IB";
	}
	return "?";
}

void cma_each(struct cma *c, void (*show)(void *arg, const struct cma_shown *s), void *arg)
{
	const struct cma_id *id;

	TAILQ_FOREACH(id, &c->ids, at)
	{
		struct cma_shown s = {
			.host = id->host,
			.id = id->number,
			.listens = id->state == CMA_LISTEN,
			.pid = id->pid,
			.comm = id->comm,
			.hca = id->hca,
			.port = id->port,
			.state = states[id->state],
			.state_number = id->state,
			.cm_state = id->cm ? cm_state_name(cm_state(id->cm)) : NULL,
			.ps = ps_name(id->ps),
			.ps_number = id->ps,
			.qp_type = id->qp_type,
			.qpn = id->qpn,
			.number = cma_addr_port(&id->src),
		};

		/* A listener on all adapters has an id for each: it is shown once. */
		if (id->parent)
			continue;
		memcpy(&s.src, &id->src, sizeof(s.src));
		memcpy(&s.dst, &id->dst, sizeof(s.dst));
		show(arg, &s);
	}
}

void cma_count(const struct cma *c, struct cma_counts *out)
{
	const struct cma_id *id;
	const struct cma_bind *b;

	*out = (struct cma_counts){.connections = cm_count(c->cm),
				   .queries = cma_sa_count(c),
				   .groups = cma_groups_count(c)};
	cma_dev_count(c->dev, &out->files, &out->events);
	TAILQ_FOREACH(id, &c->ids, at)
	out->ids++;
	for (uint32_t i = 0; i < CMA_BINDS; i++)
		TAILQ_FOREACH(b, &c->bind[i], at)
	out->ports++;
}
