/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the REQ: how an active id makes one, and how it becomes a passive id. */
#include "cm/priv.h"

#include <errno.h>

/* ---- the active side: cm_format_req() */

static void put_path(uint8_t *msg, const struct cm_req *p, uint8_t ack_delay)
{
	const struct cm_path *path = p->path;
	bool local = path->hop_limit <= 1;
	uint16_t slid = path->slid, dlid = path->dlid;

	/* LIDs behind a router are not known here; the receiver takes them from the packet. */
	if (!local) {
		slid = p->inbound ? p->inbound->dlid : MAD_LID_PERMISSIVE;
		dlid = MAD_LID_PERMISSIVE;
	}
	memcpy(LAYOUT_IN(cm_req, primary_local_port_gid, msg), path->sgid, sizeof(path->sgid));
	memcpy(LAYOUT_IN(cm_req, primary_remote_port_gid, msg), path->dgid, sizeof(path->dgid));
	CM_SET(cm_req, msg, primary_local_port_lid, slid);
	CM_SET(cm_req, msg, primary_remote_port_lid, dlid);
	CM_SET(cm_req, msg, primary_flow_label, path->flow_label);
	CM_SET(cm_req, msg, primary_packet_rate, path->rate);
	CM_SET(cm_req, msg, primary_traffic_class, path->traffic_class);
	CM_SET(cm_req, msg, primary_hop_limit, path->hop_limit);
	CM_SET(cm_req, msg, primary_sl, path->sl);
	CM_SET(cm_req, msg, primary_subnet_local, local);
	CM_SET(cm_req, msg, primary_local_ack_timeout,
	       cm_ack_timeout(ack_delay, path->packet_life_time));
}

static void put_transport(uint8_t *msg, const struct cm_req *p)
{
	CM_SET(cm_req, msg, transport_service_type, p->transport);
	if (p->transport == CM_XRC) {
		CM_SET(cm_req, msg, extended_transport_type, CM_EXT_TRANSPORT_XRC);
		return;
	}
	CM_SET(cm_req, msg, responder_resources, p->responder_resources);
	CM_SET(cm_req, msg, retry_count, p->retry_count);
	CM_SET(cm_req, msg, rnr_retry_count, p->rnr_retry_count);
	CM_SET(cm_req, msg, srq, p->srq);
}

static void format_req(struct cm_id *id, uint8_t *msg, const struct cm_req *p,
		       const struct cm_port *port)
{
	LAYOUT_SET(mad_hdr, id->msg.mad, attr_mod, p->ece.attr_mod);
	CM_SET(cm_req, msg, local_comm_id, id->local_id);
	CM_SET(cm_req, msg, service_id, p->service_id);
	CM_SET(cm_req, msg, local_ca_guid, port->ca_guid);
	CM_SET(cm_req, msg, local_qpn, p->qpn);
	CM_SET(cm_req, msg, initiator_depth, p->initiator_depth);
	CM_SET(cm_req, msg, remote_cm_response_timeout, p->remote_response_timeout);
	CM_SET(cm_req, msg, end_to_end_flow_control, p->flow_control);
	CM_SET(cm_req, msg, starting_psn, p->starting_psn);
	CM_SET(cm_req, msg, local_cm_response_timeout, p->local_response_timeout);
	CM_SET(cm_req, msg, partition_key, p->path->pkey);
	CM_SET(cm_req, msg, path_packet_payload_mtu, p->path->mtu);
	CM_SET(cm_req, msg, max_cm_retries, p->max_retries);
	put_transport(msg, p);
	put_path(msg, p, port->ack_delay);
	CM_SET(cm_req, msg, vendor_id, p->ece.vendor_id);
	cm_put_data(msg, CM_AT_REQ_DATA, p->data, p->len);
}

/* cm_validate_req_param() */
static bool req_is_valid(const struct cm_req *p)
{
	return p->path && !cm_too_long(p->data, p->len, CM_REQ_DATA) &&
	       (p->transport == CM_RC || p->transport == CM_UC || p->transport == CM_XRC);
}

static int send_req(struct cm_id *id, const struct cm_req *p)
{
	struct cm *cm = id->cm;
	struct cm_port port;
	uint8_t *msg;
	int ret;

	if (!req_is_valid(p) || id->state != CM_IDLE || !cm->ops->port(cm->ctx, p->port, &port))
		return -EINVAL;
	ret = cm_av_by_path(cm, NULL, p->port, p->path, &id->av);
	if (ret)
		return ret;
	if (p->outbound)
		id->av.dlid_datapath = p->outbound->dlid;
	id->host = port.host;
	id->service_id = p->service_id;
	id->timeout_ms =
		cm_to_ms(p->path->packet_life_time) * 2 + cm_to_ms(p->remote_response_timeout);
	id->max_retries = p->max_retries;
	id->initiator_depth = p->initiator_depth;
	id->responder_resources = p->responder_resources;
	id->retry_count = p->retry_count;
	id->path_mtu = p->path->mtu;
	id->pkey = p->path->pkey;
	id->qp_type = p->transport == CM_RC   ? CM_QP_RC
		      : p->transport == CM_UC ? CM_QP_UC
					      : CM_QP_XRC_INI;
	id->tid = cm_form_tid(id);
	msg = cm_begin(id, &id->msg, CM_ATTR_REQ, id->tid);
	if (!msg)
		return -EINVAL;
	format_req(id, msg, p, &port);
	id->tw = true;
	id->tw_ca_guid = 0;
	id->tw_remote_id = id->tw_remote_qpn = 0;
	id->local_qpn = (uint32_t)LAYOUT_GET(cm_req, msg, local_qpn);
	id->rq_psn = (uint32_t)LAYOUT_GET(cm_req, msg, starting_psn);
	id->state = CM_REQ_SENT;
	cm_post_msg(id, CM_REQ_SENT, id->timeout_ms);
	return 0;
}

/* ib_send_cm_req() */
int cm_send_req(struct cm_id *id, const struct cm_req *p)
{
	return CM_CALL(id->cm, send_req(id, p));
}

/* ---- the passive side: cm_req_handler() */

#define REQ_GET(w, f) LAYOUT_GET(cm_req, (w)->pkt.mad + CM_MSG, f)
#define REQ_GET32(w, f) ((uint32_t)REQ_GET(w, f))
#define REQ_GET8(w, f) ((uint8_t)REQ_GET(w, f))

/* cm_req_has_alt_path() */
static bool has_alt(const struct cm_work *w)
{
	return REQ_GET(w, alternate_local_port_lid);
}

/* cm_req_get_qp_type() */
static enum cm_qp_type qp_type_of(const struct cm_work *w)
{
	switch (REQ_GET(w, transport_service_type)) {
	case CM_TRANSPORT_RC:
		return CM_QP_RC;
	case CM_TRANSPORT_UC:
		return CM_QP_UC;
	case CM_TRANSPORT_EXT:
		return REQ_GET(w, extended_transport_type) == CM_EXT_TRANSPORT_XRC ? CM_QP_XRC_TGT
										   : CM_QP_NONE;
	default:
		return CM_QP_NONE;
	}
}

static void take_req(struct cm_id *id, const struct cm_work *w)
{
	id->host = w->port.host;
	id->remote_id = REQ_GET32(w, local_comm_id);
	id->service_id = REQ_GET(w, service_id);
	id->tid = LAYOUT_GET(mad_hdr, w->pkt.mad, tid);
	id->timeout_ms = cm_to_ms(REQ_GET32(w, local_cm_response_timeout));
	id->max_retries = REQ_GET8(w, max_cm_retries);
	id->remote_qpn = REQ_GET32(w, local_qpn);
	id->initiator_depth = REQ_GET8(w, responder_resources);
	id->responder_resources = REQ_GET8(w, initiator_depth);
	id->path_mtu = REQ_GET8(w, path_packet_payload_mtu);
	id->pkey = (uint16_t)REQ_GET(w, partition_key);
	id->sq_psn = REQ_GET32(w, starting_psn);
	id->retry_count = REQ_GET8(w, retry_count);
	id->rnr_retry_count = REQ_GET8(w, rnr_retry_count);
	id->qp_type = qp_type_of(w);
	id->tw = true;
	id->tw_remote_id = id->remote_id;
	id->tw_ca_guid = REQ_GET(w, local_ca_guid);
	id->tw_remote_qpn = id->remote_qpn;
}

/* cm_dup_req_handler() */
static void duplicate(struct cm *cm, const struct cm_work *w, const struct cm_id *id)
{
	struct cm_pkt p;
	uint8_t *msg;

	if (id->state == CM_MRA_REQ_SENT) {
		msg = cm_begin_response(w, &p, CM_ATTR_MRA, id->tid);
		if (!msg)
			return;
		cm_format_mra(msg, id, CM_MSG_REQ);
	} else if (id->state == CM_TIMEWAIT) {
		msg = cm_begin_response(w, &p, CM_ATTR_REJ, id->tid);
		if (!msg)
			return;
		cm_format_rej(msg, id, CM_REJ_STALE_CONN, CM_TIMEWAIT);
	} else {
		return;
	}
	p.again = true;
	cm_post(cm, &p);
}

/* cm_match_req() */
static struct cm_id *match(struct cm *cm, const struct cm_work *w, struct cm_id *id)
{
	struct cm_id *other;

	if (!cm_insert_remote_id(id, &other)) {
		if (other)
			duplicate(cm, w, other);
		return NULL;
	}
	/* This QP still has another connection: one end does not know that the old one is over. */
	if (!cm_insert_remote_qpn(id, &other)) {
		cm_remove_remote(id);
		cm_issue_rej(cm, w, CM_REJ_STALE_CONN, CM_MSG_REQ);
		if (other)
			cm_dreq(other, NULL, 0);
		return NULL;
	}
	other = cm_find_listen(cm, w->port.hca, id->service_id);
	if (!other) {
		cm_remove_remote(id);
		cm_issue_rej(cm, w, CM_REJ_INVALID_SERVICE_ID, CM_MSG_REQ);
	}
	return other;
}

/* cm_process_routed_req(): replaces permissive LIDs by those of the packet. */
static void fill_routed(struct cm_work *w)
{
	uint8_t *msg = w->pkt.mad + CM_MSG;
	uint32_t bits = (uint32_t)(w->pkt.dlid & bits_max(w->port.lmc));

	if (w->port.eth)
		return;
	if (!REQ_GET(w, primary_subnet_local)) {
		if (REQ_GET(w, primary_local_port_lid) == MAD_LID_PERMISSIVE) {
			CM_SET(cm_req, msg, primary_local_port_lid, w->pkt.slid);
			CM_SET(cm_req, msg, primary_sl, w->pkt.sl);
		}
		if (REQ_GET(w, primary_remote_port_lid) == MAD_LID_PERMISSIVE)
			CM_SET(cm_req, msg, primary_remote_port_lid, bits);
	}
	if (!REQ_GET(w, alternate_subnet_local)) {
		if (REQ_GET(w, alternate_local_port_lid) == MAD_LID_PERMISSIVE) {
			CM_SET(cm_req, msg, alternate_local_port_lid, w->pkt.slid);
			CM_SET(cm_req, msg, alternate_sl, w->pkt.sl);
		}
		if (REQ_GET(w, alternate_remote_port_lid) == MAD_LID_PERMISSIVE)
			CM_SET(cm_req, msg, alternate_remote_port_lid, bits);
	}
}

static uint8_t life_time(uint8_t ack_timeout)
{
	return ack_timeout ? (uint8_t)(ack_timeout - 1) : 0;
}

/* The path from this end back to the sender, as cm_format_paths_from_req() makes it. */
static void get_path(const struct cm_work *w, struct cm_path *path)
{
	const uint8_t *msg = w->pkt.mad + CM_MSG;

	*path = (struct cm_path){
		.service_id = REQ_GET(w, service_id),
		.pkey = (uint16_t)REQ_GET(w, partition_key),
		.sl = REQ_GET8(w, primary_sl),
		.mtu = REQ_GET8(w, path_packet_payload_mtu),
		.rate = REQ_GET8(w, primary_packet_rate),
		.packet_life_time = life_time(REQ_GET8(w, primary_local_ack_timeout)),
		.traffic_class = REQ_GET8(w, primary_traffic_class),
		.flow_label = REQ_GET32(w, primary_flow_label),
		.reversible = true,
		.gid_kind = w->pkt.gid_kind,
	};
	if (!w->port.eth) {
		path->slid = (uint16_t)REQ_GET(w, primary_remote_port_lid);
		path->dlid = (uint16_t)w->pkt.slid;
	}
	memcpy(path->dgid, LAYOUT_IN(cm_req, primary_local_port_gid, msg), sizeof(path->dgid));
	memcpy(path->sgid, LAYOUT_IN(cm_req, primary_remote_port_gid, msg), sizeof(path->sgid));
}

static void get_alt(const struct cm_work *w, struct cm_path *path)
{
	const uint8_t *msg = w->pkt.mad + CM_MSG;

	*path = (struct cm_path){
		.service_id = REQ_GET(w, service_id),
		.slid = (uint16_t)REQ_GET(w, alternate_remote_port_lid),
		.dlid = (uint16_t)REQ_GET(w, alternate_local_port_lid),
		.pkey = (uint16_t)REQ_GET(w, partition_key),
		.sl = REQ_GET8(w, alternate_sl),
		.mtu = REQ_GET8(w, path_packet_payload_mtu),
		.rate = REQ_GET8(w, alternate_packet_rate),
		.packet_life_time = life_time(REQ_GET8(w, alternate_local_ack_timeout)),
		.hop_limit = REQ_GET8(w, alternate_hop_limit),
		.traffic_class = REQ_GET8(w, alternate_traffic_class),
		.flow_label = REQ_GET32(w, alternate_flow_label),
		.reversible = true,
	};
	memcpy(path->dgid, LAYOUT_IN(cm_req, alternate_local_port_gid, msg), sizeof(path->dgid));
	memcpy(path->sgid, LAYOUT_IN(cm_req, alternate_remote_port_gid, msg), sizeof(path->sgid));
}

/* False: a path cannot be used, and the sender has been told so. */
static bool take_paths(struct cm *cm, struct cm_work *w, struct cm_id *id, struct cm_event *e)
{
	uint8_t hops = id->av.path.hop_limit;

	fill_routed(w);
	get_path(w, &e->req.path);
	e->req.path.hop_limit = hops;
	if (cm_av_by_path(cm, w, w->pkt.grh ? w->pkt.port : CM_NO_PORT, &e->req.path, &id->av)) {
		cm_rej(id, CM_REJ_INVALID_GID, w->port.gid, sizeof(w->port.gid), NULL, 0);
		return false;
	}
	if (!w->port.eth)
		id->av.dlid_datapath = (uint16_t)REQ_GET(w, primary_local_port_lid);
	e->req.has_alt = has_alt(w);
	if (!e->req.has_alt)
		return true;
	get_alt(w, &e->req.alt);
	if (cm_av_by_path(cm, w, CM_NO_PORT, &e->req.alt, &id->alt_av)) {
		cm_rej(id, CM_REJ_INVALID_ALT_GID, e->req.path.sgid, sizeof(e->req.path.sgid), NULL,
		       0);
		return false;
	}
	return true;
}

/* cm_format_req_event() */
static void format_event(const struct cm_work *w, const struct cm_id *id, struct cm_event *e)
{
	e->type = CM_REQ_RECEIVED;
	e->data = w->pkt.mad + CM_MSG + CM_AT_REQ_DATA;
	e->len = CM_REQ_DATA;
	e->req.port = id->av.port;
	e->req.bth_pkey = cm_bth_pkey(w);
	e->req.service_id = id->service_id;
	e->req.remote_ca_guid = REQ_GET(w, local_ca_guid);
	e->req.remote_qkey = REQ_GET32(w, local_q_key);
	e->req.remote_qpn = REQ_GET32(w, local_qpn);
	e->req.starting_psn = REQ_GET32(w, starting_psn);
	e->req.transport = id->qp_type == CM_QP_RC        ? CM_RC
			   : id->qp_type == CM_QP_UC      ? CM_UC
			   : id->qp_type == CM_QP_XRC_TGT ? CM_XRC
							  : CM_NONE;
	e->req.responder_resources = REQ_GET8(w, initiator_depth);
	e->req.initiator_depth = REQ_GET8(w, responder_resources);
	e->req.local_response_timeout = REQ_GET8(w, remote_cm_response_timeout);
	e->req.remote_response_timeout = REQ_GET8(w, local_cm_response_timeout);
	e->req.retry_count = REQ_GET8(w, retry_count);
	e->req.rnr_retry_count = REQ_GET8(w, rnr_retry_count);
	e->req.flow_control = REQ_GET(w, end_to_end_flow_control);
	e->req.srq = REQ_GET(w, srq);
	e->req.ece.vendor_id = REQ_GET32(w, vendor_id);
	e->req.ece.attr_mod = (uint32_t)LAYOUT_GET(mad_hdr, w->pkt.mad, attr_mod);
}

void cm_on_req(struct cm *cm, struct cm_work *w)
{
	struct cm_id *id = cm_new_id(cm, w->port.hca, NULL, NULL), *listener;
	struct cm_event e = {0};

	if (!id)
		return;
	take_req(id, w);
	if (cm_av_for_response(w, &id->av)) {
		cm_free_id(id);
		return;
	}
	id->state = CM_REQ_RCVD;
	listener = match(cm, w, id);
	if (!listener || !take_paths(cm, w, id, &e)) {
		cm_free_id(id);
		return;
	}
	id->handler = listener->handler;
	id->context = listener->context;
	format_event(w, id, &e);
	e.req.listener = listener;
	cm_make_visible(id);
	cm_tell(id, &e);
}
