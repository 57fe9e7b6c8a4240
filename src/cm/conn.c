/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns REP and RTU, on both sides. */
#include "cm/priv.h"

#include <errno.h>

static void cm_format_rtu(uint8_t *msg, const struct cm_id *id);

/* ---- the passive side sends a REP and gets an RTU */

/* cm_format_rep() */
static void format_rep(struct cm_id *id, uint8_t *msg, const struct cm_rep *p,
		       const struct cm_port *port)
{
	LAYOUT_SET(mad_hdr, id->msg.mad, attr_mod, p->ece.attr_mod);
	CM_SET(cm_rep, msg, local_comm_id, id->local_id);
	CM_SET(cm_rep, msg, remote_comm_id, id->remote_id);
	CM_SET(cm_rep, msg, starting_psn, p->starting_psn);
	CM_SET(cm_rep, msg, responder_resources, p->responder_resources);
	CM_SET(cm_rep, msg, target_ack_delay, port->ack_delay);
	CM_SET(cm_rep, msg, failover_accepted, p->failover_accepted);
	CM_SET(cm_rep, msg, rnr_retry_count, p->rnr_retry_count);
	CM_SET(cm_rep, msg, local_ca_guid, port->ca_guid);
	if (id->qp_type == CM_QP_XRC_TGT) {
		CM_SET(cm_rep, msg, srq, 1);
		CM_SET(cm_rep, msg, local_ee_context_number, p->qpn);
	} else {
		CM_SET(cm_rep, msg, initiator_depth, p->initiator_depth);
		CM_SET(cm_rep, msg, end_to_end_flow_control, p->flow_control);
		CM_SET(cm_rep, msg, srq, p->srq);
		CM_SET(cm_rep, msg, local_qpn, p->qpn);
	}
	CM_SET(cm_rep, msg, vendor_id_l, p->ece.vendor_id);
	CM_SET(cm_rep, msg, vendor_id_m, p->ece.vendor_id >> 8);
	CM_SET(cm_rep, msg, vendor_id_h, p->ece.vendor_id >> 16);
	cm_put_data(msg, CM_AT_REP_DATA, p->data, p->len);
}

static int send_rep(struct cm_id *id, const struct cm_rep *p)
{
	struct cm *cm = id->cm;
	struct cm_port port;
	uint8_t *msg;

	if (cm_too_long(p->data, p->len, CM_REP_DATA) ||
	    (id->state != CM_REQ_RCVD && id->state != CM_MRA_REQ_SENT))
		return -EINVAL;
	msg = cm_begin(id, &id->msg, CM_ATTR_REP, id->tid);
	if (!msg || !cm->ops->port(cm->ctx, id->av.port, &port))
		return -EINVAL;
	format_rep(id, msg, p, &port);
	id->state = CM_REP_SENT;
	id->initiator_depth = p->initiator_depth;
	id->responder_resources = p->responder_resources;
	id->rq_psn = (uint32_t)LAYOUT_GET(cm_rep, msg, starting_psn);
	id->local_qpn = p->qpn & (uint32_t)bits_max(24);
	cm_post_msg(id, CM_REP_SENT, id->timeout_ms);
	return 0;
}

/* ib_send_cm_rep() */
int cm_send_rep(struct cm_id *id, const struct cm_rep *p)
{
	return CM_CALL(id->cm, send_rep(id, p));
}

/* cm_rtu_handler() */
void cm_on_rtu(struct cm *cm, struct cm_work *w)
{
	const uint8_t *msg = w->pkt.mad + CM_MSG;
	struct cm_id *id =
		cm_find_id(cm, w->port.host, (uint32_t)LAYOUT_GET(cm_rtu, msg, remote_comm_id),
			   (uint32_t)LAYOUT_GET(cm_rtu, msg, local_comm_id));

	if (!id || (id->state != CM_REP_SENT && id->state != CM_MRA_REP_RCVD))
		return;
	id->state = CM_ESTABLISHED;
	cm_cancel(id);
	cm_tell(id, &(struct cm_event){CM_RTU_RECEIVED, msg + CM_AT_RTU_DATA, CM_RTU_DATA});
}

/* ---- the active side gets a REP and sends an RTU */

#define REP_GET(w, f) LAYOUT_GET(cm_rep, (w)->pkt.mad + CM_MSG, f)
#define REP_GET32(w, f) ((uint32_t)REP_GET(w, f))
#define REP_GET8(w, f) ((uint8_t)REP_GET(w, f))

/* cm_rep_get_qpn() */
static uint32_t rep_qpn(const struct cm_work *w, const struct cm_id *id)
{
	return id->qp_type == CM_QP_XRC_INI ? REP_GET32(w, local_ee_context_number)
					    : REP_GET32(w, local_qpn);
}

/* cm_dup_rep_handler(): the peer repeats its REP because the RTU or MRA was lost. */
static void duplicate(struct cm *cm, const struct cm_work *w)
{
	const struct cm_id *id = cm_find_id(cm, w->port.host, REP_GET32(w, remote_comm_id),
					    REP_GET32(w, local_comm_id));
	bool rtu = id && id->state == CM_ESTABLISHED;
	struct cm_pkt p;
	uint8_t *msg;

	if (!rtu && (!id || id->state != CM_MRA_REP_SENT))
		return;
	msg = cm_begin_response(w, &p, rtu ? CM_ATTR_RTU : CM_ATTR_MRA, id->tid);
	if (!msg)
		return;
	if (rtu)
		cm_format_rtu(msg, id);
	else
		cm_format_mra(msg, id, CM_MSG_REP);
	p.again = true;
	cm_post(cm, &p);
}

/* The checks of cm_rep_handler(). */
static bool rep_is_new(struct cm *cm, const struct cm_work *w, struct cm_id *id)
{
	struct cm_id *other;

	id->tw_remote_id = REP_GET32(w, local_comm_id);
	id->tw_ca_guid = REP_GET(w, local_ca_guid);
	id->tw_remote_qpn = rep_qpn(w, id);
	if (!cm_insert_remote_id(id, &other))
		return false;
	if (cm_insert_remote_qpn(id, &other))
		return true;
	cm_remove_remote(id);
	cm_issue_rej(cm, w, CM_REJ_STALE_CONN, CM_MSG_REP);
	if (other)
		cm_dreq(other, NULL, 0);
	return false;
}

/* cm_format_rep_event() */
static void format_event(const struct cm_work *w, const struct cm_id *id, struct cm_event *e)
{
	e->type = CM_REP_RECEIVED;
	e->data = w->pkt.mad + CM_MSG + CM_AT_REP_DATA;
	e->len = CM_REP_DATA;
	e->rep.remote_ca_guid = REP_GET(w, local_ca_guid);
	e->rep.remote_qkey = REP_GET32(w, local_q_key);
	e->rep.remote_qpn = rep_qpn(w, id);
	e->rep.starting_psn = REP_GET32(w, starting_psn);
	e->rep.responder_resources = REP_GET8(w, initiator_depth);
	e->rep.initiator_depth = REP_GET8(w, responder_resources);
	e->rep.target_ack_delay = REP_GET8(w, target_ack_delay);
	e->rep.failover_accepted = REP_GET8(w, failover_accepted);
	e->rep.rnr_retry_count = REP_GET8(w, rnr_retry_count);
	e->rep.flow_control = REP_GET(w, end_to_end_flow_control);
	e->rep.srq = REP_GET(w, srq);
	e->rep.ece.vendor_id = REP_GET32(w, vendor_id_h) << 16 | REP_GET32(w, vendor_id_m) << 8 |
			       REP_GET32(w, vendor_id_l);
	e->rep.ece.attr_mod = (uint32_t)LAYOUT_GET(mad_hdr, w->pkt.mad, attr_mod);
}

/* cm_rep_handler() */
void cm_on_rep(struct cm *cm, struct cm_work *w)
{
	struct cm_id *id = cm_find_id(cm, w->port.host, REP_GET32(w, remote_comm_id), 0);
	struct cm_event e = {0};

	if (!id) {
		duplicate(cm, w);
		return;
	}
	if ((id->state != CM_REQ_SENT && id->state != CM_MRA_REQ_RCVD) || !rep_is_new(cm, w, id))
		return;
	id->state = CM_REP_RCVD;
	id->remote_id = REP_GET32(w, local_comm_id);
	id->remote_qpn = rep_qpn(w, id);
	id->initiator_depth = REP_GET8(w, responder_resources);
	id->responder_resources = REP_GET8(w, initiator_depth);
	id->sq_psn = REP_GET32(w, starting_psn);
	id->rnr_retry_count = REP_GET8(w, rnr_retry_count);
	id->target_ack_delay = REP_GET8(w, target_ack_delay);
	id->av.timeout = cm_ack_timeout(id->target_ack_delay, (uint8_t)(id->av.timeout - 1));
	id->alt_av.timeout =
		cm_ack_timeout(id->target_ack_delay, (uint8_t)(id->alt_av.timeout - 1));
	cm_cancel(id);
	format_event(w, id, &e);
	cm_tell(id, &e);
}

/* cm_format_rtu() */
static void cm_format_rtu(uint8_t *msg, const struct cm_id *id)
{
	CM_SET(cm_rtu, msg, local_comm_id, id->local_id);
	CM_SET(cm_rtu, msg, remote_comm_id, id->remote_id);
	cm_put_data(msg, CM_AT_RTU_DATA, id->data, id->data_len);
}

static int send_rtu(struct cm_id *id, const void *data, uint32_t len)
{
	struct cm_pkt p;
	uint8_t *msg;

	if (cm_too_long(data, len, CM_RTU_DATA) ||
	    (id->state != CM_REP_RCVD && id->state != CM_MRA_REP_SENT))
		return -EINVAL;
	msg = cm_begin(id, &p, CM_ATTR_RTU, id->tid);
	if (!msg)
		return -EINVAL;
	cm_keep_data(id, data, len);
	cm_format_rtu(msg, id);
	id->state = CM_ESTABLISHED;
	cm_post(id->cm, &p);
	return 0;
}

/* ib_send_cm_rtu() */
int cm_send_rtu(struct cm_id *id, const void *data, uint32_t len)
{
	return CM_CALL(id->cm, send_rtu(id, data, len));
}
