// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Owns connections of ids: requests, answers, disconnects, and the events that src/cm reports. id.h
 * declares the calls. Comments name the kernel's functions in drivers/infiniband/core/cma.c.
 */
#include "cma/priv.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>
#include "util/bits.h"

static cm_handler on_sidr_rep;

static uint8_t at_most_7(uint8_t n)
{
	return n < 7 ? n : 7;
}

uint32_t cma_hdr_size(const struct cma_id *id)
{
	return id->src.sa.sa_family == AF_IB ? 0 : CMA_HDR;
}

/* cma_format_hdr() */
static void put_hdr(const struct cma_id *id, uint8_t *h)
{
	h[0] = 0; /* CMA_VERSION; with AF_IB it overwrites the program's first byte */
	if (id->src.sa.sa_family == AF_INET) {
		h[1] = 4 << 4;
		memcpy(h + 2, &id->src.in.sin_port, 2);
		memcpy(h + 4 + 12, &id->src.in.sin_addr, 4);
		memcpy(h + 20 + 12, &id->dst.in.sin_addr, 4);
	} else if (id->src.sa.sa_family == AF_INET6) {
		h[1] = 6 << 4;
		memcpy(h + 2, &id->src.in6.sin6_port, 2);
		memcpy(h + 4, &id->src.in6.sin6_addr, 16);
		memcpy(h + 20, &id->dst.in6.sin6_addr, 16);
	}
}

/*
 * The header and the private data. Returns their length, or -EINVAL (check_add_overflow() of a u8).
 */
static int put_data(const struct cma_id *id, const struct cma_conn_param *p, uint8_t data[256])
{
	uint32_t skip = cma_hdr_size(id);

	if (skip + p->len > UINT8_MAX)
		return -EINVAL;
	memset(data, 0, 256);
	if (p->data && p->len)
		memcpy(data + skip, p->data, p->len);
	put_hdr(id, data);
	return (int)(skip + p->len);
}

/* ---- the active side */

/* After sending a request: keeps the new cm_id in `id`, or destroys it if sending failed. */
static int sent(struct cma_id *id, int r)
{
	if (r) {
		cm_destroy(id->cm);
		id->cm = NULL;
	}
	return r;
}

/* cma_resolve_ib_udp() */
static int ask_sidr(struct cma_id *id, const struct cma_conn_param *p)
{
	uint8_t data[256];
	int len = put_data(id, p, data);
	struct cm_sidr_req q = {
		.port = id->port,
		.path = &id->path[0],
		.service_id = cma_service_id(id, &id->dst),
		.timeout_ms = 1 << (CMA_RESPONSE_TIMEOUT - 8),
		.max_retries = CMA_MAX_RETRIES,
	};

	if (len < 0)
		return len;
	id->cm = cm_create(id->c->cm, id->hca, on_sidr_rep, id);
	if (!id->cm)
		return -ENOMEM;
	q.data = len ? data : NULL;
	q.len = (uint32_t)len;
	return sent(id, cm_send_sidr_req(id->cm, &q));
}

/* cm_validate_req_param() accepts only RC, UC and XRC_INI. */
static enum cm_transport transport_of(uint8_t qp_type)
{
	switch (qp_type) {
	case IBV_QPT_RC:
		return CM_RC;
	case IBV_QPT_UC:
		return CM_UC;
	case IBV_QPT_XRC_SEND:
		return CM_XRC;
	default:
		return CM_NONE;
	}
}

/* cma_connect_ib() */
static int ask_connection(struct cma_id *id, const struct cma_conn_param *p)
{
	uint8_t data[256];
	int len = put_data(id, p, data);
	struct cm_req q = {
		.port = id->port,
		.path = &id->path[0],
		.service_id = cma_service_id(id, &id->dst),
		.qpn = id->qpn,
		.starting_psn = id->seq_num,
		.transport = transport_of(id->qp_type),
		.responder_resources = p->responder_resources,
		.initiator_depth = p->initiator_depth,
		.flow_control = p->flow_control,
		.retry_count = at_most_7(p->retry_count),
		.rnr_retry_count = at_most_7(p->rnr_retry_count),
		.remote_response_timeout = CMA_RESPONSE_TIMEOUT,
		.local_response_timeout = CMA_RESPONSE_TIMEOUT,
		.max_retries = CMA_MAX_RETRIES,
		.srq = id->srq,
		.ece = id->ece,
	};

	if (len < 0)
		return len;
	id->cm = cm_create(id->c->cm, id->hca, cma_on_cm, id);
	if (!id->cm)
		return -ENOMEM;
	q.data = len ? data : NULL;
	q.len = (uint32_t)len;
	return sent(id, cm_send_req(id->cm, &q));
}

int cma_connect(struct cma_id *id, const struct cma_conn_param *p, const struct cm_ece *ece)
{
	int r;

	if (ece)
		id->ece = *ece;
	if (!cma_exch(id, CMA_ROUTE_RESOLVED, CMA_CONNECT))
		return -EINVAL;
	id->qpn = p->qpn;
	id->srq = p->srq;
	r = id->qp_type == IBV_QPT_UD ? ask_sidr(id, p) : ask_connection(id, p);
	if (r)
		id->state = CMA_ROUTE_RESOLVED;
	return r;
}

/* ---- both sides */

/* cma_send_sidr_rep() */
static int answer_sidr(struct cma_id *id, uint32_t status, uint32_t qkey, const void *data,
		       uint8_t len)
{
	struct cm_sidr_rep rep = {.status = status, .data = data, .len = len};
	int r = 0;

	if (status == CMA_SIDR_SUCCESS) {
		if (qkey)
			r = cma_set_qkey(id, qkey);
		else
			cma_set_default_qkey(id);
		if (r)
			return r;
		rep.qpn = id->qpn;
		rep.qkey = id->qkey;
		rep.ece = id->ece;
	}
	return cm_send_sidr_rep(id->cm, &rep);
}

/* cma_accept_ib() */
static int answer_request(struct cma_id *id, const struct cma_conn_param *p)
{
	const struct cm_rep rep = {
		.qpn = id->qpn,
		.starting_psn = id->seq_num,
		.data = p->data,
		.len = p->len,
		.responder_resources = p->responder_resources,
		.initiator_depth = p->initiator_depth,
		.flow_control = p->flow_control,
		.rnr_retry_count = at_most_7(p->rnr_retry_count),
		.srq = id->srq,
		.ece = id->ece,
	};

	return cm_send_rep(id->cm, &rep);
}

/* cma_rep_recv() */
static int answer_reply(struct cma_id *id)
{
	int r = cm_send_rtu(id->cm, NULL, 0);

	if (r)
		cm_send_rej(id->cm, CMA_REJ_CONSUMER, NULL, 0, NULL, 0);
	return r;
}

int cma_accept(struct cma_id *id, const struct cma_conn_param *p, const struct cm_ece *ece)
{
	int r;

	if (ece)
		id->ece = *ece;
	if (id->state != CMA_CONNECT || !id->cm)
		return -EINVAL;
	if (p) {
		id->qpn = p->qpn;
		id->srq = p->srq;
	}
	if (id->qp_type == IBV_QPT_UD)
		r = answer_sidr(id, CMA_SIDR_SUCCESS, p ? p->qkey : 0, p ? p->data : NULL,
				p ? p->len : 0);
	else
		r = p ? answer_request(id, p) : answer_reply(id);
	if (r)
		cma_reject(id, NULL, 0, CMA_REJ_CONSUMER);
	return r;
}

int cma_reject(struct cma_id *id, const void *data, uint8_t len, uint8_t reason)
{
	if (!id->cm)
		return -EINVAL;
	if (id->qp_type == IBV_QPT_UD)
		return answer_sidr(id, CMA_SIDR_REJECT, 0, data, len);
	return cm_send_rej(id->cm, reason, NULL, 0, data, len);
}

int cma_disconnect(struct cma_id *id)
{
	if (!id->cm)
		return -EINVAL;
	if (cm_send_dreq(id->cm, NULL, 0))
		cm_send_drep(id->cm, NULL, 0);
	return 0;
}

int cma_notify(struct cma_id *id, uint32_t event)
{
	return id->cm ? cm_notify(id->cm, event) : -EINVAL;
}

/* cma_ib_init_qp_attr() */
static int plain_attr(struct cma_id *id, struct cm_qp_attr *out)
{
	const struct hw_port *p = hw_port(id->c->s, id->port);
	int index = cma_pkey_index(id->c->s, id->port, cma_is_roce(id) ? 0xffff : id->pkey);

	if (index < 0 || !p)
		return -ENOENT;
	out->pkey_index = (uint16_t)index;
	out->port_num = (uint8_t)p->num;
	out->mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	if (id->qp_type != IBV_QPT_UD) {
		out->mask |= IBV_QP_ACCESS_FLAGS;
		return 0;
	}
	cma_set_default_qkey(id);
	out->qkey = id->qkey;
	out->mask |= IBV_QP_QKEY;
	return 0;
}

/* rdma_init_qp_attr() */
int cma_init_qp_attr(struct cma_id *id, uint32_t qp_state, struct cm_qp_attr *out)
{
	int r;

	memset(out, 0, sizeof(*out));
	if (id->hca == SEG_NONE)
		return -EINVAL;
	if (!id->cm || id->qp_type == IBV_QPT_UD)
		r = plain_attr(id, out);
	else
		r = cm_init_qp_attr(id->cm, qp_state, out);
	if (qp_state == IBV_QPS_RTR)
		out->rq_psn = id->seq_num;
	if ((out->mask & IBV_QP_TIMEOUT) && id->timeout_set)
		out->timeout = id->timeout;
	return r;
}

/* ---- what happens to it */

static void of_reply(const struct cm_event *e, struct cma_event *out)
{
	out->conn = (struct cma_conn_param){
		.data = e->data,
		.len = e->data ? CM_REP_DATA : 0,
		.responder_resources = e->rep.responder_resources,
		.initiator_depth = e->rep.initiator_depth,
		.flow_control = e->rep.flow_control,
		.rnr_retry_count = e->rep.rnr_retry_count,
		.srq = e->rep.srq,
		.qpn = e->rep.remote_qpn,
	};
	out->ece = e->rep.ece;
}

/* The event that cma_ib_handler() makes of a CM event; false: it makes none. */
static bool event_of(struct cma_id *id, const struct cm_event *e, struct cma_event *out)
{
	switch (e->type) {
	case CM_REQ_ERROR:
	case CM_REP_ERROR:
		out->event = RDMA_CM_EVENT_UNREACHABLE;
		out->status = -ETIMEDOUT;
		return true;
	case CM_REP_RECEIVED:
		if (id->qp_type != IBV_QPT_UD)
			cm_send_mra(id->cm, CMA_MRA_SETTING, NULL, 0);
		out->event = RDMA_CM_EVENT_CONNECT_RESPONSE;
		of_reply(e, out);
		return true;
	case CM_RTU_RECEIVED:
	case CM_USER_ESTABLISHED:
		out->event = RDMA_CM_EVENT_ESTABLISHED;
		return true;
	case CM_DREQ_ERROR:
	case CM_DREQ_RECEIVED:
	case CM_DREP_RECEIVED:
		out->status = e->type == CM_DREQ_ERROR ? -ETIMEDOUT : 0;
		out->event = RDMA_CM_EVENT_DISCONNECTED;
		id->state = CMA_DISCONNECT;
		return true;
	case CM_TIMEWAIT_EXIT:
		out->event = RDMA_CM_EVENT_TIMEWAIT_EXIT;
		return true;
	case CM_REJ_RECEIVED:
		out->event = RDMA_CM_EVENT_REJECTED;
		out->status = (int)e->rej.reason;
		out->conn.data = e->data;
		out->conn.len = e->data ? CM_REJ_DATA : 0;
		return true;
	default:
		return false;
	}
}

/* Calls the id's handler. Not 0: the id is destroyed, and src/cm destroys its cm_id. */
static int tell(struct cma_id *id, const struct cma_event *e)
{
	int r = id->handler(id, e);

	if (r) {
		id->cm = NULL;
		cma_id_destroy(id);
	}
	return r;
}

int cma_on_cm(struct cm_id *cm, const struct cm_event *e)
{
	struct cma_id *id = cm_context(cm);
	struct cma_event out = {0};

	if (id->state != (e->type == CM_TIMEWAIT_EXIT ? CMA_DISCONNECT : CMA_CONNECT) ||
	    !event_of(id, e, &out))
		return 0;
	return tell(id, &out);
}

/* The other end's answer as an address handle (ib_init_ah_attr_from_path()). */
static void of_sidr_rep(struct cma_id *id, const struct cm_event *e, struct cma_event *out)
{
	const struct hw_port *p = hw_port(id->c->s, id->port);
	const struct cm_path *path = &id->path[0];
	int r = 0;

	out->ud.data = e->data;
	out->ud.len = e->data ? CM_SIDR_REP_DATA : 0;
	if (e->sidr_rep.status != CMA_SIDR_SUCCESS) {
		out->event = RDMA_CM_EVENT_UNREACHABLE;
		out->status = (int)e->sidr_rep.status;
		return;
	}
	r = cma_set_qkey(id, e->sidr_rep.qkey);
	if (r) {
		out->event = RDMA_CM_EVENT_ADDR_ERROR;
		out->status = r;
		return;
	}
	out->event = RDMA_CM_EVENT_ESTABLISHED;
	out->ud.path = *path;
	out->ud.dlid = path->dlid;
	out->ud.port_num = (uint8_t)(p ? p->num : 0);
	out->ud.grh = path->hop_limit > 0 || cma_is_roce(id);
	out->ud.qpn = e->sidr_rep.qpn;
	out->ud.qkey = e->sidr_rep.qkey;
}

/* cma_sidr_rep_handler() */
static int on_sidr_rep(struct cm_id *cm, const struct cm_event *e)
{
	struct cma_id *id = cm_context(cm);
	struct cma_event out = {0};

	if (id->state != CMA_CONNECT)
		return 0;
	if (e->type == CM_SIDR_REQ_ERROR) {
		out.event = RDMA_CM_EVENT_UNREACHABLE;
		out.status = -ETIMEDOUT;
	} else if (e->type == CM_SIDR_REP_RECEIVED) {
		of_sidr_rep(id, e, &out);
	} else {
		return 0;
	}
	return tell(id, &out);
}
