/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the MRA message, by which an end asks for more time, and the handling of LAP. */
#include "cm/priv.h"

#include <errno.h>

/* cm_format_mra() */
void cm_format_mra(uint8_t *msg, const struct cm_id *id, enum cm_msg which)
{
	CM_SET(cm_mra, msg, message_mraed, which);
	CM_SET(cm_mra, msg, local_comm_id, id->local_id);
	CM_SET(cm_mra, msg, remote_comm_id, id->remote_id);
	CM_SET(cm_mra, msg, service_timeout, id->service_timeout);
	cm_put_data(msg, CM_AT_MRA_DATA, id->data, id->data_len);
}

static int send_mra(struct cm_id *id, uint8_t service_timeout, const void *data, uint32_t len)
{
	enum cm_state state = id->state;
	enum cm_lap_state lap = id->lap_state;
	enum cm_msg which;
	struct cm_pkt p;
	uint8_t *msg = NULL;

	if (cm_too_long(data, len, CM_MRA_DATA))
		return -EINVAL;
	if (state == CM_REQ_RCVD) {
		state = CM_MRA_REQ_SENT;
		which = CM_MSG_REQ;
	} else if (state == CM_REP_RCVD) {
		state = CM_MRA_REP_SENT;
		which = CM_MSG_REP;
	} else if (state == CM_ESTABLISHED && lap == CM_LAP_RCVD) {
		lap = CM_MRA_LAP_SENT;
		which = CM_MSG_OTHER;
	} else {
		return -EINVAL;
	}
	if (!(service_timeout & CM_MRA_DELAY)) {
		msg = cm_begin(id, &p, CM_ATTR_MRA, id->tid);
		if (!msg)
			return -EINVAL;
	}
	id->state = state;
	id->lap_state = lap;
	id->service_timeout = service_timeout;
	cm_keep_data(id, data, len);
	if (!msg)
		return 0;
	cm_format_mra(msg, id, which);
	cm_post(id->cm, &p);
	return 0;
}

/* ib_send_cm_mra() */
int cm_send_mra(struct cm_id *id, uint8_t service_timeout, const void *data, uint32_t len)
{
	return CM_CALL(id->cm, send_mra(id, service_timeout, data, len));
}

/* cm_mra_handler() */
void cm_on_mra(struct cm *cm, struct cm_work *w)
{
	const uint8_t *msg = w->pkt.mad + CM_MSG;
	uint64_t which = LAYOUT_GET(cm_mra, msg, message_mraed);
	uint32_t local = (uint32_t)LAYOUT_GET(cm_mra, msg, remote_comm_id);
	uint32_t remote = (uint32_t)LAYOUT_GET(cm_mra, msg, local_comm_id);
	struct cm_event e = {CM_MRA_RECEIVED, msg + CM_AT_MRA_DATA, CM_MRA_DATA};
	struct cm_id *id;

	if (which > CM_MSG_OTHER)
		return;
	id = cm_find_id(cm, w->port.host, local, which == CM_MSG_REQ ? 0 : remote);
	if (!id || !id->sending)
		return;
	if (id->state == CM_REQ_SENT && which == CM_MSG_REQ)
		id->state = CM_MRA_REQ_RCVD;
	else if (id->state == CM_REP_SENT && which == CM_MSG_REP)
		id->state = CM_MRA_REP_RCVD;
	else
		return;
	e.mra.service_timeout = (uint8_t)LAYOUT_GET(cm_mra, msg, service_timeout);
	id->msg_state = id->state;
	cm_modify_msg(id, cm_to_ms(e.mra.service_timeout) + cm_to_ms(id->av.timeout));
	cm_tell(id, &e);
}

/* ---- LAP */

#define LAP_GET(msg, f) LAYOUT_GET(cm_lap, msg, f)

/* cm_format_path_from_lap() */
static void get_path(const struct cm_id *id, const uint8_t *msg, struct cm_path *path)
{
	uint8_t ack_timeout = (uint8_t)LAP_GET(msg, alternate_local_ack_timeout);

	*path = (struct cm_path){
		.slid = (uint16_t)LAP_GET(msg, alternate_remote_port_lid),
		.dlid = (uint16_t)LAP_GET(msg, alternate_local_port_lid),
		.pkey = id->pkey,
		.sl = (uint8_t)LAP_GET(msg, alternate_sl),
		.mtu = id->path_mtu,
		.rate = (uint8_t)LAP_GET(msg, alternate_packet_rate),
		.packet_life_time = ack_timeout ? (uint8_t)(ack_timeout - 1) : 0,
		.hop_limit = (uint8_t)LAP_GET(msg, alternate_hop_limit),
		.traffic_class = (uint8_t)LAP_GET(msg, alternate_traffic_class),
		.flow_label = (uint32_t)LAP_GET(msg, alternate_flow_label),
		.reversible = true,
	};
	memcpy(path->dgid, LAYOUT_IN(cm_lap, alternate_local_port_gid, msg), sizeof(path->dgid));
	memcpy(path->sgid, LAYOUT_IN(cm_lap, alternate_remote_port_gid, msg), sizeof(path->sgid));
}

static void repeat_mra(struct cm *cm, const struct cm_work *w, const struct cm_id *id)
{
	struct cm_pkt p;
	uint8_t *msg = cm_begin_response(w, &p, CM_ATTR_MRA, id->tid);

	if (!msg)
		return;
	cm_format_mra(msg, id, CM_MSG_OTHER);
	p.again = true;
	cm_post(cm, &p);
}

/* cm_lap_handler(): stores the alternate path of the LAP; ib_cm does not answer with an APR. */
void cm_on_lap(struct cm *cm, struct cm_work *w)
{
	const uint8_t *msg = w->pkt.mad + CM_MSG;
	struct cm_id *id = cm_find_id(cm, w->port.host, (uint32_t)LAP_GET(msg, remote_comm_id),
				      (uint32_t)LAP_GET(msg, local_comm_id));
	struct cm_av av, alt;
	struct cm_path path;

	if (!id)
		return;
	av = id->av;
	alt = id->alt_av;
	get_path(id, msg, &path);
	if (cm_av_for_response(w, &av) || cm_av_by_path(cm, w, CM_NO_PORT, &path, &alt))
		return;
	id->av = av;
	id->alt_av = alt;
	if (id->state != CM_ESTABLISHED)
		return;
	if (id->lap_state == CM_MRA_LAP_SENT)
		repeat_mra(cm, w, id);
	if (id->lap_state != CM_LAP_UNINIT && id->lap_state != CM_LAP_IDLE)
		return;
	id->lap_state = CM_LAP_RCVD;
	id->tid = LAYOUT_GET(mad_hdr, w->pkt.mad, tid);
	cm_tell(id, &(struct cm_event){CM_LAP_RECEIVED, msg + CM_AT_LAP_DATA,
				       CM_MSG_SIZE - CM_AT_LAP_DATA});
}
