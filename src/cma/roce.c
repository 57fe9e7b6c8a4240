// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Owns what differs for ids on Ethernet ports: GIDs follow from IP addresses, paths and groups need
 * no subnet administration. The rules are those of the kernel's cma.c. The files below id.h call
 * it.
 */
#include "cma/priv.h"

#include <errno.h>
#include <string.h>
#include "fabric/eth.h"
#include "util/bits.h"
#include "wire/ib/gid.h"

#define KERNEL_ENOTSUPP 524 /* from linux/errno.h, because <errno.h> does not define it */
#define LIFETIME 18         /* CMA_IBOE_PACKET_LIFETIME */
#define FLOW_MASK 0xfffffu

bool cma_is_roce(const struct cma_id *id)
{
	const struct hw_port *p = id->port == SEG_NONE ? NULL : hw_port(id->c->s, id->port);

	return p && hw_port_is_eth(p);
}

void cma_ip2gid(const union cma_addr *a, uint8_t gid[16])
{
	if (a->sa.sa_family == AF_INET)
		ib_gid_of_ip4(&a->in.sin_addr, gid);
	else if (a->sa.sa_family == AF_INET6)
		memcpy(gid, &a->in6.sin6_addr, 16);
}

uint32_t cma_at(const struct cma_id *id)
{
	uint32_t at = id->ifindex ? cma_port_by_ifindex(id->c->s, id->host, id->ifindex) : SEG_NONE;

	return at != SEG_NONE && fab_at_port(at) == id->port ? at : id->port;
}

/* The GID type RoCE v2 (CMA_PREFERRED_ROCE_GID_TYPE) on this interface. */
static uint16_t kind_at(const struct seg *s, uint32_t at)
{
	return hw_gid_kind(HW_GID_ROCE_V2, fab_at_vlan(s, at));
}

int cma_may_use(const struct cma_id *id, uint32_t at)
{
	const struct hw_port *p = fab_at_hw(id->c->s, at);
	uint8_t gid[16] = {0};

	if (!p)
		return -ENODEV;
	if (!hw_port_is_eth(p))
		return 0;
	/* cma_validate_port(): an AF_IB address counts as one of an InfiniBand interface. */
	if (id->src.sa.sa_family == AF_IB)
		return -ENODEV;
	if (id->ps == RDMA_PS_IPOIB)
		return -EINVAL;
	cma_ip2gid(&id->src, gid);
	return fab_gid_find(p, gid, kind_at(id->c->s, at)) < 0 ? -ENODEV : 0;
}

void cma_roce_set_type(const struct cma_id *id, struct cm_path *p)
{
	p->gid_kind = kind_at(id->c->s, cma_at(id));
}

/* cma_get_roce_udp_flow_label() */
static uint32_t flow_label(const struct cma_id *id)
{
	uint32_t fl = 0;

	if (id->src.sa.sa_family == AF_INET6)
		fl = be32_load(&id->src.in6.sin6_flowinfo) & FLOW_MASK;
	if (!fl)
		fl = (cma_addr_port(&id->src) * 31u + cma_addr_port(&id->dst)) & FLOW_MASK;
	return fl;
}

int cma_roce_route(struct cma_id *id)
{
	const struct hw_port *p = hw_port(id->c->s, id->port);
	struct cm_path *path = &id->path[0];

	if (!id->ifindex)
		return -ENODEV;
	*path = (struct cm_path){
		.pkey = 0xffff,
		.traffic_class = id->tos_set ? id->tos : 0,
		.hop_limit = id->dst.sa.sa_family == AF_IB ? 1 : IB_HOPS_OF_ROUTE,
		.mtu = (uint8_t)fab_eth_ib_mtu(p->if_mtu),
		.packet_life_time = LIFETIME,
		.flow_label = flow_label(id),
		.reversible = true,
	};
	if (id->timeout_set && id->timeout)
		path->packet_life_time = (uint8_t)(id->timeout - 1);
	cma_roce_set_type(id, path);
	cma_ip2gid(&id->src, path->sgid);
	cma_ip2gid(&id->dst, path->dgid);
	id->npaths = 1;
	return 0;
}

/* ---- multicast */

/* cma_iboe_set_mgid() for RoCE v2, IPv4 */
static void set_mgid(const union cma_addr *a, uint8_t mgid[16])
{
	memset(mgid, 0, 16);
	if (!cma_addr_any(a))
		ib_gid_of_ip4(&a->in.sin_addr, mgid);
}

/* cma_iboe_join_work_handler(), cma_make_mc_event() */
static void joined(struct cma *c, struct cma_work *w)
{
	struct cma_member *m = (struct cma_member *)((char *)w - offsetof(struct cma_member, work));
	struct cma_id *id = m->id;
	const struct hw_port *p = hw_port(c->s, id->port);
	struct cma_event e = {.event = RDMA_CM_EVENT_MULTICAST_JOIN};

	if (id->state == CMA_DEVICE_REMOVAL || !p)
		return;
	e.ud.context = m->context;
	e.ud.path = (struct cm_path){.pkey = 0xffff, .hop_limit = IB_HOPS_OF_ROUTE};
	cma_roce_set_type(id, &e.ud.path);
	set_mgid(&m->addr, e.ud.path.dgid);
	cma_ip2gid(&id->src, e.ud.path.sgid);
	e.ud.port_num = (uint8_t)p->num;
	e.ud.grh = true;
	e.ud.qpn = 0xffffff;
	e.ud.qkey = id->qkey;
	if (fab_gid_find(p, e.ud.path.sgid, e.ud.path.gid_kind) < 0)
		e.event = RDMA_CM_EVENT_MULTICAST_ERROR;
	id->handler(id, &e);
}

int cma_roce_join(struct cma_id *id, struct cma_member *m)
{
	if (cma_addr_zero(&m->addr))
		return -EINVAL;
	if (!id->ifindex)
		return -ENODEV;
	if (m->addr.sa.sa_family != AF_INET)
		return -KERNEL_ENOTSUPP;
	if (!id->qkey)
		cma_set_default_qkey(id);
	m->state = CMA_NO_MEMBER;
	m->work.fn = joined;
	cma_work_put(id->c, &m->work);
	return 0;
}
