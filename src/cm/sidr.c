/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns service ID resolution: SIDR_REQ and SIDR_REP, for unreliable datagrams. */
#include "cm/priv.h"

#include <errno.h>

static int send_req(struct cm_id *id, const struct cm_sidr_req *p)
{
	struct cm *cm = id->cm;
	struct cm_port port;
	uint8_t *msg;
	int ret;

	if (!p->path || cm_too_long(p->data, p->len, CM_SIDR_REQ_DATA) ||
	    !cm->ops->port(cm->ctx, p->port, &port) || id->state != CM_IDLE)
		return -EINVAL;
	ret = cm_av_by_path(cm, NULL, p->port, p->path, &id->av);
	if (ret)
		return ret;
	id->host = port.host;
	id->service_id = p->service_id;
	id->timeout_ms = p->timeout_ms;
	id->max_retries = p->max_retries;
	msg = cm_begin(id, &id->msg, CM_ATTR_SIDR_REQ, cm_form_tid(id));
	if (!msg)
		return -EINVAL;
	CM_SET(cm_sidr_req, msg, request_id, id->local_id);
	CM_SET(cm_sidr_req, msg, partition_key, p->path->pkey);
	CM_SET(cm_sidr_req, msg, service_id, p->service_id);
	cm_put_data(msg, CM_AT_SIDR_REQ_DATA, p->data, p->len);
	id->state = CM_SIDR_REQ_SENT;
	cm_post_msg(id, CM_SIDR_REQ_SENT, id->timeout_ms);
	return 0;
}

/* ib_send_cm_sidr_req() */
int cm_send_sidr_req(struct cm_id *id, const struct cm_sidr_req *p)
{
	return CM_CALL(id->cm, send_req(id, p));
}

/* cm_sidr_req_handler() */
void cm_on_sidr_req(struct cm *cm, struct cm_work *w)
{
	const uint8_t *msg = w->pkt.mad + CM_MSG;
	struct cm_event e = {CM_SIDR_REQ_RECEIVED, msg + CM_AT_SIDR_REQ_DATA, CM_SIDR_REQ_DATA};
	struct cm_id *id = cm_new_id(cm, w->port.hca, NULL, NULL), *listener;

	if (!id)
		return;
	id->host = w->port.host;
	id->remote_id = (uint32_t)LAYOUT_GET(cm_sidr_req, msg, request_id);
	id->service_id = LAYOUT_GET(cm_sidr_req, msg, service_id);
	id->tid = LAYOUT_GET(mad_hdr, w->pkt.mad, tid);
	if (cm_av_for_response(w, &id->av) ||
	    cm_table_insert(&cm->sidr, &id->by_sidr,
			    (struct cm_key){w->pkt.slid, id->remote_id, id->host})) {
		cm_free_id(id);
		return;
	}
	id->state = CM_SIDR_REQ_RCVD;
	listener = cm_find_listen(cm, id->hca, id->service_id);
	if (!listener) {
		cm_sidr_rep(id, &(struct cm_sidr_rep){.status = CM_SIDR_UNSUPPORTED});
		cm_free_id(id);
		return;
	}
	id->handler = listener->handler;
	id->context = listener->context;
	e.sidr_req.listener = listener;
	e.sidr_req.port = w->pkt.port;
	e.sidr_req.service_id = id->service_id;
	e.sidr_req.bth_pkey = cm_bth_pkey(w);
	e.sidr_req.pkey = (uint16_t)LAYOUT_GET(cm_sidr_req, msg, partition_key);
	cm_tell(id, &e);
}

/* cm_send_sidr_rep_locked() */
int cm_sidr_rep(struct cm_id *id, const struct cm_sidr_rep *p)
{
	struct cm_pkt pkt;
	uint8_t *msg;

	if (cm_too_long(p->info, p->info_len, CM_SIDR_REP_INFO) ||
	    cm_too_long(p->data, p->len, CM_SIDR_REP_DATA) || id->state != CM_SIDR_REQ_RCVD)
		return -EINVAL;
	msg = cm_begin(id, &pkt, CM_ATTR_SIDR_REP, id->tid);
	if (!msg)
		return -EINVAL;
	LAYOUT_SET(mad_hdr, pkt.mad, attr_mod, p->ece.attr_mod);
	CM_SET(cm_sidr_rep, msg, request_id, id->remote_id);
	CM_SET(cm_sidr_rep, msg, status, p->status);
	CM_SET(cm_sidr_rep, msg, qpn, p->qpn);
	CM_SET(cm_sidr_rep, msg, service_id, id->service_id);
	CM_SET(cm_sidr_rep, msg, q_key, p->qkey);
	CM_SET(cm_sidr_rep, msg, vendor_id_l, p->ece.vendor_id & 0xff);
	CM_SET(cm_sidr_rep, msg, vendor_id_h, p->ece.vendor_id >> 8 & 0xff);
	/* Like the kernel, do not set the length field of the additional information. */
	cm_put_data(msg, CM_AT_SIDR_REP_INFO, p->info, p->info_len);
	cm_put_data(msg, CM_AT_SIDR_REP_DATA, p->data, p->len);
	id->state = CM_IDLE;
	cm_table_remove(&id->cm->sidr, &id->by_sidr);
	cm_post(id->cm, &pkt);
	return 0;
}

/* ib_send_cm_sidr_rep() */
int cm_send_sidr_rep(struct cm_id *id, const struct cm_sidr_rep *p)
{
	return CM_CALL(id->cm, cm_sidr_rep(id, p));
}

/* cm_sidr_rep_handler() */
void cm_on_sidr_rep(struct cm *cm, struct cm_work *w)
{
	const uint8_t *msg = w->pkt.mad + CM_MSG;
	struct cm_event e = {CM_SIDR_REP_RECEIVED, msg + CM_AT_SIDR_REP_DATA, CM_SIDR_REP_DATA};
	struct cm_id *id =
		cm_find_id(cm, w->port.host, (uint32_t)LAYOUT_GET(cm_sidr_rep, msg, request_id), 0);
	uint64_t len = LAYOUT_GET(cm_sidr_rep, msg, additional_information_length);

	if (!id || id->state != CM_SIDR_REQ_SENT)
		return;
	id->state = CM_IDLE;
	cm_cancel(id);
	e.sidr_rep.status = (uint32_t)LAYOUT_GET(cm_sidr_rep, msg, status);
	e.sidr_rep.qkey = (uint32_t)LAYOUT_GET(cm_sidr_rep, msg, q_key);
	e.sidr_rep.qpn = (uint32_t)LAYOUT_GET(cm_sidr_rep, msg, qpn);
	e.sidr_rep.info = msg + CM_AT_SIDR_REP_INFO;
	e.sidr_rep.info_len = (uint8_t)(len < CM_SIDR_REP_INFO ? len : CM_SIDR_REP_INFO);
	cm_tell(id, &e);
}
