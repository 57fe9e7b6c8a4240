// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Owns binding and resolving: from addresses to an adapter, a neighbour and a path (cma.c and
 * addr.c of the kernel). id.h has the calls; works and timers of ids end here.
 */
#include "cma/priv.h"

#include <errno.h>
#include <string.h>
#include "util/bits.h"
#include "util/clock.h"

/* IB_SA_PATH_REC_*: numbers of components */
enum {
	PR_SERVICE_ID = 0,
	PR_SERVICE_ID_LOW,
	PR_DGID,
	PR_SGID,
	PR_TCLASS = 10,
	PR_REVERSIBLE,
	PR_NUMB_PATH,
	PR_PKEY,
	PR_QOS_CLASS,
};
#define BIT(n) (UINT64_C(1) << (n))

/* ---- binding */

static void copy_addr(union cma_addr *to, const union cma_addr *from)
{
	memmove(to, from, cma_addr_size(from));
}

/* cma_translate_ib() */
static void translate_ib(struct cma_id *id)
{
	const struct sockaddr_ib *ib = cma_ib(&id->src);

	memcpy(id->sgid, ib->sib_addr.sib_raw, 16);
	id->pkey = be16_load(&ib->sib_pkey);
}

/* Finds the adapter by the source address (cma_translate_addr(), cma_acquire_dev_by_src_ip()). */
static int acquire(struct cma_id *id)
{
	struct seg *s = id->c->s;
	uint32_t port;
	int r;

	if (id->src.sa.sa_family == AF_IB) {
		port = cma_port_by_addr(s, id->host, &id->src);
		if (port == SEG_NONE || cma_may_use(id, port))
			return -ENODEV;
		cma_attach(id, port);
		id->ifindex = 0;
		translate_ib(id);
		return 0;
	}
	/* rdma_translate_ip(): if the id is bound to an interface, its address does not matter. */
	port = id->ifindex ? cma_port_by_ifindex(s, id->host, id->ifindex)
			   : cma_port_by_addr(s, id->host, &id->src);
	if (port == SEG_NONE)
		return id->ifindex ? -ENODEV : -EADDRNOTAVAIL;
	r = cma_may_use(id, port);
	if (!r)
		cma_attach(id, port);
	return r;
}

/* rdma_bind_addr_dst() after its checks. `dst` may point to id->dst. */
static int bind_to(struct cma_id *id, const union cma_addr *a, const union cma_addr *dst)
{
	int r = 0;

	if (cma_addr_linklocal(a)) {
		if (!a->in6.sin6_scope_id)
			return -EINVAL;
		id->ifindex = a->in6.sin6_scope_id;
	}
	copy_addr(&id->src, a);
	if (!cma_addr_any(a))
		r = acquire(id);
	if (r)
		return r;
	if (!id->afonly_set && a->sa.sa_family == AF_INET)
		id->afonly = true;
	else if (!id->afonly_set && a->sa.sa_family == AF_INET6)
		id->afonly = false; /* net.ipv6.bindv6only */
	if (dst != &id->dst)
		memcpy(&id->dst, dst, cma_addr_size(a));
	id->dst.sa.sa_family = a->sa.sa_family;
	r = cma_get_port(id);
	if (r && id->hca != SEG_NONE)
		cma_release_dev(id);
	return r;
}

static int cma_bind_dst(struct cma_id *id, const union cma_addr *a, const union cma_addr *dst)
{
	int r;

	if (!cma_addr_size(a))
		return -EAFNOSUPPORT;
	if (!cma_exch(id, CMA_IDLE, CMA_ADDR_BOUND))
		return -EINVAL;
	r = bind_to(id, a, dst);
	if (r)
		id->state = CMA_IDLE;
	return r;
}

int cma_bind(struct cma_id *id, const union cma_addr *a)
{
	return cma_bind_dst(id, a, &id->dst);
}

/* cma_bind_addr(): without a source address, binds to "any" of the destination's family. */
static int bind_for(struct cma_id *id, const union cma_addr *src, const union cma_addr *dst)
{
	union cma_addr any = {0};

	if (src && src->sa.sa_family)
		return cma_bind_dst(id, src, dst);
	any.sa.sa_family = dst->sa.sa_family;
	if (dst->sa.sa_family == AF_INET6) {
		any.in6.sin6_scope_id = dst->in6.sin6_scope_id;
		if (cma_addr_linklocal(dst))
			id->ifindex = dst->in6.sin6_scope_id;
	} else if (dst->sa.sa_family == AF_IB) {
		cma_ib(&any)->sib_pkey = cma_ib_const(dst)->sib_pkey;
	}
	return cma_bind_dst(id, &any, dst);
}

/* ---- addresses */

/* cma_bind_loopback(): the first active port, else the first of all. */
static int bind_loopback(struct cma_id *id)
{
	struct seg *s = id->c->s;
	uint32_t first = fab_port_by_umad(s, id->host, 0), port;
	const struct hw_port *p;

	if (first == SEG_NONE)
		return -ENODEV;
	for (uint32_t n = 0; (port = fab_port_by_umad(s, id->host, n)) != SEG_NONE; n++)
		if (hw_port(s, port)->state == IB_PORT_ACTIVE)
			break;
	cma_attach(id, port == SEG_NONE ? first : port);
	p = hw_port(s, id->port);
	id->pkey = p->pkey[0];
	id->ifindex = 0;
	if (id->src.sa.sa_family == AF_INET)
		be32_store(&id->src.in.sin_addr, INADDR_LOOPBACK);
	else if (id->src.sa.sa_family == AF_INET6)
		id->src.in6.sin6_addr = in6addr_loopback;
	else
		ib_addr_set(&cma_ib(&id->src)->sib_addr, 0, 0, 0, htonl(1));
	return 0;
}

/*
 * cma_resolve_ib_dev(): is this port's GID table or subnet the destination's? Returns the source
 * GID.
 */
static const uint8_t *ib_source(const struct hw_port *p, const struct sockaddr_ib *dst)
{
	static const uint8_t none[16];
	const uint8_t *dgid = dst->sib_addr.sib_raw;

	for (uint32_t i = 0; i < hw_port_gids(p); i++) {
		if (!memcmp(hw_gid(p, i), none, 16))
			continue;
		if (!memcmp(hw_gid(p, i), dgid, 16) ||
		    (!memcmp(hw_gid(p, i), dgid, 8) && p->state == IB_PORT_ACTIVE))
			return hw_gid(p, i);
	}
	return NULL;
}

static int bind_ib(struct cma_id *id)
{
	struct seg *s = id->c->s;
	const struct sockaddr_ib *dst = cma_ib(&id->dst);
	uint16_t pkey = be16_load(&dst->sib_pkey);
	uint32_t port;

	for (uint32_t n = 0; (port = fab_port_by_umad(s, id->host, n)) != SEG_NONE; n++) {
		const uint8_t *gid = ib_source(hw_port(s, port), dst);

		if (!gid || cma_pkey_index(s, port, pkey) < 0)
			continue;
		cma_attach(id, port);
		id->ifindex = 0;
		memcpy(cma_ib(&id->src)->sib_addr.sib_raw, gid, 16);
		translate_ib(id);
		return 0;
	}
	return -ENODEV;
}

/* addr_resolve(): -ENODATA until the neighbour answers. */
static int look_up(struct cma_id *id)
{
	struct seg *s = id->c->s;
	uint32_t port, to;

	/* ip_route_output_key_hash_rcu(): IPv4 sends only from addresses that the host has. */
	if (id->src.sa.sa_family == AF_INET && !cma_addr_any(&id->src) &&
	    cma_port_by_addr(s, id->host, &id->src) == SEG_NONE)
		return -EINVAL;
	id->found_src = id->src;
	port = cma_route(s, id->host, &id->dst, &id->found_src);
	/*
	 * ip_route_output_key_hash_rcu(): without a route, IPv4 tries the interface the id is bound
	 * to.
	 */
	if (port == SEG_NONE && (!id->ifindex || id->dst.sa.sa_family != AF_INET))
		return -ENETUNREACH;
	if (id->port != SEG_NONE)
		port = cma_at(id);
	else if (port == SEG_NONE)
		port = cma_port_by_ifindex(s, id->host, id->ifindex);
	if (port == SEG_NONE)
		return -ENODEV;
	id->found_port = port;
	if (cma_addr_multicast(&id->dst)) {
		cma_mgid(s, port, &id->dst, id->dgid);
		return 0;
	}
	/* A martian source (ip_route_output_key_hash_rcu()). */
	if (cma_addr_loopback(&id->src) && cma_port_by_addr(s, id->host, &id->dst) == SEG_NONE)
		return -EINVAL;
	to = cma_neighbour(s, port, &id->dst);
	if (to == SEG_NONE)
		return -ENODATA;
	memcpy(id->dgid, fab_at_hw(s, to)->gid[0], 16);
	return 0;
}

/* The kernel asks a neighbour once a second (neigh_probe()). */
static int ask_later(struct cma_id *id)
{
	uint64_t due = cma_now(id->c) + NSEC_PER_SEC;

	return cma_timer_set(id->c, &id->addr_timer, due < id->addr_until ? due : id->addr_until);
}

/* rdma_resolve_ip() */
static int resolve_ip(struct cma_id *id, uint32_t timeout_ms)
{
	struct cma *c = id->c;
	int r = look_up(id);

	if (r == -ENODATA) {
		id->addr_until = cma_now(c) + timeout_ms * NSEC_PER_MSEC;
		return ask_later(id);
	}
	if (r)
		return r;
	id->work_status = 0;
	cma_work_put(c, &id->work);
	return 0;
}

/* process_one_req() */
static void try_again(struct cma_id *id, bool last)
{
	int r = look_up(id);

	if (r == -ENODATA && !last) {
		ask_later(id);
		return;
	}
	cma_timer_stop(id->c, &id->addr_timer);
	id->work_status = r && last ? -ETIMEDOUT : r;
	cma_work_put(id->c, &id->work);
}

void cma_resolve_timer(struct cma *c, struct cma_timer *t)
{
	struct cma_id *id = (struct cma_id *)((char *)t - offsetof(struct cma_id, addr_timer));

	try_again(id, cma_now(c) >= id->addr_until);
}

void cma_resolve_again(struct cma *c)
{
	struct cma_id *id;

	TAILQ_FOREACH(id, &c->ids, at)
	if (id->addr_timer.pos)
		try_again(id, false);
}

/* Queues an event whose result is known without waiting (enqueue_resolve_addr_work()). */
static void say(struct cma_id *id, enum cma_state from, enum cma_state to, uint32_t event,
		int status)
{
	id->by_ip = false;
	id->work_old = from;
	id->work_new = to;
	id->work_event = event;
	id->work_status = status;
	cma_work_put(id->c, &id->work);
}

static int resolve(struct cma_id *id, uint32_t timeout_ms)
{
	int r = 0;

	if (cma_addr_any(&id->dst)) {
		if (id->hca == SEG_NONE)
			r = bind_loopback(id);
		memcpy(id->dgid, id->sgid, 16);
	} else if (id->dst.sa.sa_family == AF_IB) {
		if (id->hca == SEG_NONE)
			r = bind_ib(id);
		memcpy(id->dgid, cma_ib(&id->dst)->sib_addr.sib_raw, 16);
	} else {
		id->by_ip = true;
		return resolve_ip(id, timeout_ms);
	}
	if (!r)
		say(id, CMA_ADDR_QUERY, CMA_ADDR_RESOLVED, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	return r;
}

int cma_resolve_addr(struct cma_id *id, const union cma_addr *src, const union cma_addr *dst,
		     uint32_t timeout_ms)
{
	int r = 0;

	/* resolve_prepare_src() */
	if (id->state == CMA_ADDR_BOUND)
		copy_addr(&id->dst, dst);
	else
		r = bind_for(id, src, dst);
	if (id->state != CMA_ADDR_BOUND)
		return r;
	if (id->src.sa.sa_family != dst->sa.sa_family)
		return -EINVAL;
	id->state = CMA_ADDR_QUERY;
	r = resolve(id, timeout_ms);
	if (r)
		id->state = CMA_ADDR_BOUND;
	return r;
}

/* addr_handler() */
static void addr_done(struct cma_id *id)
{
	struct cma_event e = {.event = RDMA_CM_EVENT_ADDR_RESOLVED, .status = id->work_status};
	const union cma_addr old = id->src;

	if (!cma_exch(id, CMA_ADDR_QUERY, CMA_ADDR_RESOLVED))
		return;
	if (!e.status)
		copy_addr(&id->src, &id->found_src);
	if (!e.status && id->hca == SEG_NONE)
		e.status = cma_may_use(id, id->found_port);
	if (e.status)
		copy_addr(&id->src, &old);
	if (e.status) {
		id->state = CMA_ADDR_BOUND;
		e.event = RDMA_CM_EVENT_ADDR_ERROR;
	} else if (id->hca == SEG_NONE) {
		cma_attach(id, id->found_port);
	}
	cma_tell(id, &e);
}

/* cma_work_handler() */
void cma_resolve_work(struct cma *c, struct cma_work *w)
{
	struct cma_id *id = (struct cma_id *)((char *)w - offsetof(struct cma_id, work));
	const struct cma_event e = {.event = id->work_event, .status = id->work_status};

	if (id->by_ip && id->state == CMA_ADDR_QUERY)
		addr_done(id);
	else if (cma_exch(id, id->work_old, id->work_new))
		cma_tell(id, &e);
}

/* ---- routes */

static void path_of(const uint8_t *r, struct cm_path *p)
{
	*p = (struct cm_path){
		.service_id = LAYOUT_GET(path_record, r, service_id),
		.slid = (uint16_t)LAYOUT_GET(path_record, r, slid),
		.dlid = (uint16_t)LAYOUT_GET(path_record, r, dlid),
		.pkey = (uint16_t)LAYOUT_GET(path_record, r, pkey),
		.sl = (uint8_t)LAYOUT_GET(path_record, r, sl),
		.mtu = (uint8_t)LAYOUT_GET(path_record, r, mtu),
		.rate = (uint8_t)LAYOUT_GET(path_record, r, rate),
		.packet_life_time = (uint8_t)LAYOUT_GET(path_record, r, packet_life_time),
		.hop_limit = (uint8_t)LAYOUT_GET(path_record, r, hop_limit),
		.traffic_class = (uint8_t)LAYOUT_GET(path_record, r, tclass),
		.flow_label = (uint32_t)LAYOUT_GET(path_record, r, flow_label),
		.qos_class = (uint16_t)LAYOUT_GET(path_record, r, qos_class),
		.reversible = LAYOUT_GET(path_record, r, reversible),
		.raw_traffic = LAYOUT_GET(path_record, r, raw_traffic),
		.numb_path = (uint8_t)LAYOUT_GET(path_record, r, numb_path),
		.preference = (uint8_t)LAYOUT_GET(path_record, r, preference),
	};
	memcpy(p->sgid, LAYOUT_IN(path_record, sgid, r), 16);
	memcpy(p->dgid, LAYOUT_IN(path_record, dgid, r), 16);
}

/* cma_query_handler() */
static void path_done(void *arg, int status, const uint8_t *record)
{
	struct cma_id *id = arg;

	id->query = NULL;
	if (status) {
		say(id, CMA_ROUTE_QUERY, CMA_ADDR_RESOLVED, RDMA_CM_EVENT_ROUTE_ERROR, status);
		return;
	}
	path_of(record, &id->path[0]);
	id->npaths = 1;
	say(id, CMA_ROUTE_QUERY, CMA_ROUTE_RESOLVED, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
}

/* cma_query_ib_route() */
static int ask_path(struct cma_id *id, uint32_t timeout_ms)
{
	uint8_t r[LAYOUT_SZ(path_record)] = {0};
	struct cma_sa_request q = {
		.port = id->port,
		.method = MAD_METHOD_GET,
		.attr = SA_ATTR_PATH_RECORD,
		.mask = BIT(PR_SERVICE_ID) | BIT(PR_SERVICE_ID_LOW) | BIT(PR_DGID) | BIT(PR_SGID) |
			BIT(PR_REVERSIBLE) | BIT(PR_NUMB_PATH) | BIT(PR_PKEY),
		.record = r,
		.len = sizeof(r),
		.timeout_ms = timeout_ms,
		.done = path_done,
		.arg = id,
	};
	uint32_t flow = 0;

	memcpy(LAYOUT_IN(path_record, sgid, r), id->sgid, 16);
	memcpy(LAYOUT_IN(path_record, dgid, r), id->dgid, 16);
	LAYOUT_SET(path_record, r, pkey, id->pkey);
	LAYOUT_SET(path_record, r, numb_path, 1);
	LAYOUT_SET(path_record, r, reversible, 1);
	LAYOUT_SET(path_record, r, service_id, cma_service_id(id, &id->dst));
	if (id->src.sa.sa_family == AF_INET) {
		LAYOUT_SET(path_record, r, qos_class, id->tos);
		q.mask |= BIT(PR_QOS_CLASS);
		return cma_sa_ask(id->c, &q, &id->query);
	}
	flow = id->src.sa.sa_family == AF_IB ? be32_load(&cma_ib(&id->src)->sib_flowinfo)
					     : be32_load(&id->src.in6.sin6_flowinfo);
	LAYOUT_SET(path_record, r, tclass, flow >> 20 & 0xff);
	q.mask |= BIT(PR_TCLASS);
	return cma_sa_ask(id->c, &q, &id->query);
}

int cma_resolve_route(struct cma_id *id, uint32_t timeout_ms)
{
	int r;

	if (!timeout_ms || !cma_exch(id, CMA_ADDR_RESOLVED, CMA_ROUTE_QUERY))
		return -EINVAL;
	if (cma_is_roce(id)) {
		r = cma_roce_route(id);
		if (!r)
			say(id, CMA_ROUTE_QUERY, CMA_ROUTE_RESOLVED, RDMA_CM_EVENT_ROUTE_RESOLVED,
			    0);
	} else {
		r = ask_path(id, timeout_ms);
	}
	if (r)
		id->state = CMA_ADDR_RESOLVED;
	return r;
}
