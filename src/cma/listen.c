// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Owns listeners and the ids that requests make (cma_ib_req_handler() of the kernel). id.h has the
 * call; requests come from src/cm.
 */
#include "cma/priv.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>
#include "util/bits.h"
#include "wire/ib/pkey.h"

static int cma_on_request(struct cm_id *cm, const struct cm_event *e);

/* ---- listening */

/* cma_ib_listen(): ids that listen for the same service ID share one cm_id. */
static int listen_here(struct cma_id *id)
{
	struct cma *c = id->c;
	int err = 0;

	id->cm = cm_insert_listen(c->cm, id->hca, cma_on_request, cma_service_id(id, &id->src),
				  &err);
	return id->cm ? 0 : err;
}

/* cma_listen_on_dev() */
static int listen_on(struct cma_id *id, uint32_t hca)
{
	struct cma_id *kid =
		cma_id_make(id->c, id->host, id->ps, id->qp_type, id->handler, id->context);
	int r;

	if (!kid)
		return -ENOMEM;
	kid->src = id->src;
	kid->hca = hca;
	kid->afonly = id->afonly;
	kid->tos = id->tos;
	kid->tos_set = id->tos_set;
	kid->state = CMA_LISTEN;
	kid->parent = id;
	TAILQ_INSERT_TAIL(&id->children, kid, child);
	r = listen_here(kid);
	if (r)
		cma_id_destroy(kid);
	return r;
}

void cma_cancel_listens(struct cma_id *id)
{
	while (!TAILQ_EMPTY(&id->children))
		cma_id_destroy(TAILQ_FIRST(&id->children));
}

/* cma_listen_on_all() */
static int listen_on_all(struct cma_id *id)
{
	const struct hw_host *h = seg_live(id->c->s, SEG_T_HOST, id->host);
	int r = 0;

	for (uint32_t i = 0; h && i < h->nhcas && !r; i++)
		if (hw_hca_is_in(id->c->s, h->hca[i]))
			r = listen_on(id, h->hca[i]);
	if (r)
		cma_cancel_listens(id);
	return r;
}

void cma_listen_on(struct cma_id *id, uint32_t hca)
{
	const struct cma_id *kid;

	TAILQ_FOREACH(kid, &id->children, child)
	if (kid->hca == hca)
		return;
	listen_on(id, hca);
}

int cma_listen(struct cma_id *id, int backlog)
{
	static const union cma_addr any = {.in = {.sin_family = AF_INET}};
	int r;

	if (id->state != CMA_ADDR_BOUND) {
		r = cma_bind(id, &any);
		if (r)
			return r;
	}
	id->state = CMA_LISTEN;
	/*
	 * A listener does not share its port: check that nobody else uses it, and clear reuseaddr.
	 */
	r = id->reuseaddr ? cma_check_port(id, false) : 0;
	if (!r) {
		id->reuseaddr = false;
		r = id->hca != SEG_NONE ? listen_here(id) : listen_on_all(id);
	}
	if (r)
		id->state = CMA_ADDR_BOUND;
	return r;
}

/* ---- requests */

struct request { /* struct cma_req_info */
	const struct cm_event *e;
	struct cma *c;
	uint32_t hca, host, port;
	uint32_t at; /* the interface on which it arrived (roce_get_net_dev_by_cm_event()) */
	uint64_t service_id;
	uint16_t pkey;
	const uint8_t *gid;         /* destination GID; NULL in a SIDR_REQ, which has none */
	union cma_addr local, peer; /* addresses in the header of the private data */
	bool by_ip;                 /* true: that header is present; false: AF_IB */
};

/* struct cma_hdr: version 8, IP version 4 of 8, port 16, source and destination of 128 bits. */
static int read_hdr(struct request *q)
{
	const uint8_t *h = q->e->data;
	uint16_t port = (uint16_t)q->service_id;

	if (!h || q->e->len < CMA_HDR)
		return -EAFNOSUPPORT;
	if (h[0])
		return -EINVAL;
	memset(&q->local, 0, sizeof(q->local));
	memset(&q->peer, 0, sizeof(q->peer));
	switch (h[1] >> 4) {
	case 4:
		q->local.in.sin_family = q->peer.in.sin_family = AF_INET;
		memcpy(&q->peer.in.sin_addr, h + 4 + 12, 4);
		memcpy(&q->local.in.sin_addr, h + 20 + 12, 4);
		memcpy(&q->peer.in.sin_port, h + 2, 2);
		be16_store(&q->local.in.sin_port, port);
		return 0;
	case 6:
		q->local.in6.sin6_family = q->peer.in6.sin6_family = AF_INET6;
		memcpy(&q->peer.in6.sin6_addr, h + 4, 16);
		memcpy(&q->local.in6.sin6_addr, h + 20, 16);
		memcpy(&q->peer.in6.sin6_port, h + 2, 2);
		be16_store(&q->local.in6.sin6_port, port);
		return 0;
	default:
		return -EAFNOSUPPORT;
	}
}

/* A SIDR_REQ has no path, which would say the VLAN: then the address says it. */
static void find_interface(struct request *q)
{
	uint32_t at;

	if (q->e->type == CM_REQ_RECEIVED)
		at = fab_at_by_vlan(q->c->s, q->port, hw_gid_vlan(q->e->req.path.gid_kind));
	else
		at = cma_port_by_addr(q->c->s, q->host, &q->local);
	if (at != SEG_NONE && fab_at_port(at) == q->port)
		q->at = at;
}

/* ib_get_net_dev_by_params(): the port's interface, of this partition. */
static bool has_interface(const struct request *q)
{
	const struct hw_port *p = hw_port(q->c->s, q->port);

	if (p && hw_port_is_eth(p))
		return true; /* roce_get_net_dev_by_cm_event(): it has the request's GID */
	return p && ib_pkey_base_same(p->pkey[0], q->pkey) &&
	       (!q->gid || fab_port_has_gid(p, q->gid));
}

/* A REQ from this host itself, whose loopback address the kernel refuses. */
static bool is_here(const struct request *q)
{
	return q->e->type == CM_REQ_RECEIVED &&
	       cma_port_by_gid(q->c->s, q->host, q->e->req.path.dgid) != SEG_NONE;
}

/* validate_net_dev(): could this interface answer that address? */
static bool is_routed(const struct request *q)
{
	union cma_addr src = {0};

	if (cma_addr_loopback(&q->peer) || cma_addr_loopback(&q->local))
		return q->e->type != CM_REQ_RECEIVED || is_here(q);
	if (cma_addr_zero(&q->peer) || cma_addr_zero(&q->local) || cma_addr_multicast(&q->peer))
		return false;
	src.sa.sa_family = q->peer.sa.sa_family;
	return cma_addr_linklocal(&q->peer) ||
	       cma_route(q->c->s, q->host, &q->peer, &src) != SEG_NONE;
}

/* cma_match_private_data() */
static bool fits_address(const struct cma_id *id, const struct request *q)
{
	if (cma_addr_any(&id->src) && !id->afonly)
		return true;
	if (id->src.sa.sa_family == AF_IB)
		return true;
	if (!q->by_ip || id->src.sa.sa_family != q->local.sa.sa_family)
		return false;
	if (cma_addr_any(&id->src))
		return true;
	if (id->src.sa.sa_family == AF_INET)
		return id->src.in.sin_addr.s_addr == q->local.in.sin_addr.s_addr;
	return !memcmp(&id->src.in6.sin6_addr, &q->local.in6.sin6_addr, 16);
}

/* cma_match_net_dev() */
static bool fits_port(const struct cma_id *id, const struct request *q)
{
	if (!q->by_ip)
		return (id->port == SEG_NONE || id->port == q->port) &&
		       id->src.sa.sa_family == AF_IB;
	return !cma_addr_linklocal(&q->local) || !id->ifindex ||
	       id->ifindex == cma_ifindex(q->c->s, q->at);
}

/* cma_find_listener() */
static struct cma_id *find_listener(const struct request *q)
{
	uint16_t ps = (uint16_t)(q->service_id >> 16);
	const struct cma_bind *b = cma_bind_find(q->c, q->host, ps, (uint16_t)q->service_id);
	struct cma_id *id, *kid;

	if (!b)
		return NULL;
	TAILQ_FOREACH(id, &b->owners, owner)
	{
		if (!fits_address(id, q))
			continue;
		if (id->hca == q->hca && fits_port(id, q))
			return id;
		TAILQ_FOREACH(kid, &id->children, child)
		if (kid->hca == q->hca && fits_port(kid, q))
			return kid;
	}
	return NULL;
}

/* cma_save_req_info(), cma_get_net_dev(): 0 or why the request is refused. */
static int read_request(struct request *q, struct cm_id *cm, const struct cm_event *e)
{
	const struct hw_hca *hca;
	int r;

	memset(q, 0, sizeof(*q));
	q->e = e;
	q->c = cm_ctx(cm);
	q->hca = cm_hca(cm);
	hca = hw_hca(q->c->s, q->hca);
	if (!hca)
		return -ENODEV;
	q->host = hca->host;
	if (e->type == CM_REQ_RECEIVED) {
		q->port = e->req.port;
		q->service_id = e->req.service_id;
		q->pkey = e->req.path.pkey;
		q->gid = e->req.path.sgid;
	} else {
		q->port = e->sidr_req.port;
		q->service_id = e->sidr_req.service_id;
		q->pkey = e->sidr_req.pkey;
	}
	q->at = q->port;
	r = read_hdr(q);
	if (r == -EAFNOSUPPORT)
		return 0;
	if (r)
		return r;
	q->by_ip = true;
	find_interface(q);
	if (!has_interface(q))
		return -ENODEV;
	return is_routed(q) ? 0 : -EHOSTUNREACH;
}

static uint8_t qp_type_of(enum cm_transport t)
{
	return t == CM_UC ? IBV_QPT_UC : t == CM_XRC ? IBV_QPT_XRC_RECV : IBV_QPT_RC;
}

/* cma_ib_check_req_qp_type() */
static bool fits_qp_type(const struct cma_id *id, const struct cm_event *e)
{
	if (!id->qp_type)
		return true;
	return e->type == CM_REQ_RECEIVED ? id->qp_type == qp_type_of(e->req.transport)
					  : id->qp_type == IBV_QPT_UD;
}

/* cma_save_ib_info(): a SIDR_REQ has no path. */
static void save_ib(struct cma_id *id, const struct cma_id *listener, const struct request *q)
{
	const struct cm_path *path = q->e->type == CM_REQ_RECEIVED ? &q->e->req.path : NULL;
	struct sockaddr_ib *src = cma_ib(&id->src), *dst = cma_ib(&id->dst);

	*src = *cma_ib_const(&listener->src);
	be64_store(&src->sib_sid_mask, UINT64_MAX);
	dst->sib_family = AF_IB;
	if (!path)
		return;
	be16_store(&src->sib_pkey, path->pkey);
	be32_store(&src->sib_flowinfo, path->flow_label);
	memcpy(src->sib_addr.sib_raw, path->sgid, 16);
	be64_store(&src->sib_sid, q->service_id);
	src->sib_scope_id = 0;
	dst->sib_pkey = src->sib_pkey;
	dst->sib_flowinfo = src->sib_flowinfo;
	memcpy(dst->sib_addr.sib_raw, path->dgid, 16);
}

/* cma_ib_new_conn_id() and cma_ib_new_udp_id(), cma_ib_acquire_dev(). */
static int new_id(const struct cma_id *listener, const struct request *q, struct cma_id **out)
{
	const struct cm_event *e = q->e;
	const struct cma_id *owner = listener->parent ? listener->parent : listener;
	bool udp = e->type != CM_REQ_RECEIVED;
	struct cma_id *id;
	int r;

	if (listener->src.sa.sa_family != AF_IB && !q->by_ip)
		return -ENOMEM; /* cma_save_net_info() fails */
	id = cma_id_make(q->c, q->host, listener->ps,
			 udp ? IBV_QPT_UD : qp_type_of(e->req.transport), owner->handler,
			 owner->context);
	if (!id)
		return -ENOMEM;
	cma_attach(id, q->at);
	if (listener->src.sa.sa_family == AF_IB) {
		save_ib(id, listener, q);
	} else {
		id->src = q->local;
		id->dst = q->peer;
	}
	r = cma_may_use(id, q->at); /* cma_ib_acquire_dev() */
	if (r) {
		cma_id_destroy(id);
		return r;
	}
	if (!q->by_ip && !udp) {
		memcpy(id->sgid, e->req.path.sgid, 16);
		id->pkey = e->req.path.pkey;
	}
	if (!udp) {
		id->path[0] = e->req.path;
		id->path[1] = e->req.alt;
		id->npaths = e->req.has_alt ? 2 : 1;
		memcpy(id->dgid, e->req.path.dgid, 16);
	}
	id->pid = owner->pid;
	memcpy(id->comm, owner->comm, sizeof(id->comm));
	id->state = CMA_CONNECT;
	*out = id;
	return 0;
}

static void fill_event(struct cma_event *out, const struct cm_event *e, uint32_t skip)
{
	const uint8_t *data = e->data;

	*out = (struct cma_event){.event = RDMA_CM_EVENT_CONNECT_REQUEST};
	if (e->type == CM_SIDR_REQ_RECEIVED) {
		out->ud.data = data ? data + skip : NULL;
		out->ud.len = (uint8_t)(data ? CM_SIDR_REQ_DATA - skip : 0);
		return;
	}
	out->conn = (struct cma_conn_param){
		.data = data ? data + skip : NULL,
		.len = (uint8_t)(data ? CM_REQ_DATA - skip : 0),
		.responder_resources = e->req.responder_resources,
		.initiator_depth = e->req.initiator_depth,
		.flow_control = e->req.flow_control,
		.retry_count = e->req.retry_count,
		.rnr_retry_count = e->req.rnr_retry_count,
		.srq = e->req.srq,
		.qpn = e->req.remote_qpn,
	};
	out->ece = e->req.ece;
}

/* cma_ib_req_handler(): not 0 refuses the request. */
static int cma_on_request(struct cm_id *cm, const struct cm_event *e)
{
	struct cma_id *listener, *id;
	struct cma_event out;
	struct request q;
	int r;

	if (e->type != CM_REQ_RECEIVED && e->type != CM_SIDR_REQ_RECEIVED)
		return -EINVAL;
	r = read_request(&q, cm, e);
	if (r)
		return r;
	listener = find_listener(&q);
	if (!listener || !fits_qp_type(listener, e))
		return -EINVAL;
	if (listener->state != CMA_LISTEN)
		return -ECONNABORTED;
	r = new_id(listener, &q, &id);
	if (r)
		return r;
	fill_event(&out, e, cma_hdr_size(listener));
	id->cm = cm;
	cm_set_context(cm, cma_on_cm, id);
	r = id->handler(id, &out);
	if (r) {
		id->cm = NULL; /* the caller destroys it */
		cma_id_destroy(id);
		return r;
	}
	if (id->state == CMA_CONNECT && id->qp_type != IBV_QPT_UD)
		cm_send_mra(cm, CMA_MRA_SETTING, NULL, 0);
	return 0;
}
