/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the ends of connections: DREQ, DREP, REJ. */
#include "cm/priv.h"

#include <errno.h>

/* ---- DREQ */

/* cm_send_dreq_locked() */
int cm_dreq(struct cm_id *id, const void *data, uint32_t len)
{
	uint8_t *msg;

	if (cm_too_long(data, len, CM_DREQ_DATA) || id->state != CM_ESTABLISHED)
		return -EINVAL;
	cm_cancel(id);
	msg = cm_begin(id, &id->msg, CM_ATTR_DREQ, cm_form_tid(id));
	if (!msg) {
		cm_enter_timewait(id);
		return -EINVAL;
	}
	CM_SET(cm_dreq, msg, local_comm_id, id->local_id);
	CM_SET(cm_dreq, msg, remote_comm_id, id->remote_id);
	CM_SET(cm_dreq, msg, remote_qpn_eecn, id->remote_qpn);
	cm_put_data(msg, CM_AT_DREQ_DATA, data, len);
	id->state = CM_DREQ_SENT;
	cm_post_msg(id, CM_DREQ_SENT, id->timeout_ms);
	return 0;
}

/* ib_send_cm_dreq() */
int cm_send_dreq(struct cm_id *id, const void *data, uint32_t len)
{
	return CM_CALL(id->cm, cm_dreq(id, data, len));
}

/* cm_issue_drep(): nobody here has that connection, so it is over. */
static void issue_drep(struct cm *cm, const struct cm_work *w)
{
	const uint8_t *dreq = w->pkt.mad + CM_MSG;
	struct cm_pkt p;
	uint8_t *msg = cm_begin_response(w, &p, CM_ATTR_DREP, LAYOUT_GET(mad_hdr, w->pkt.mad, tid));

	if (!msg)
		return;
	CM_SET(cm_drep, msg, remote_comm_id, LAYOUT_GET(cm_dreq, dreq, local_comm_id));
	CM_SET(cm_drep, msg, local_comm_id, LAYOUT_GET(cm_dreq, dreq, remote_comm_id));
	cm_post(cm, &p);
}

/* cm_format_drep() */
static void format_drep(uint8_t *msg, const struct cm_id *id)
{
	CM_SET(cm_drep, msg, local_comm_id, id->local_id);
	CM_SET(cm_drep, msg, remote_comm_id, id->remote_id);
	cm_put_data(msg, CM_AT_DREP_DATA, id->data, id->data_len);
}

static void repeat_drep(struct cm *cm, const struct cm_work *w, const struct cm_id *id)
{
	struct cm_pkt p;
	uint8_t *msg = cm_begin_response(w, &p, CM_ATTR_DREP, id->tid);

	if (!msg)
		return;
	format_drep(msg, id);
	p.again = true;
	cm_post(cm, &p);
}

/* cm_dreq_handler() */
void cm_on_dreq(struct cm *cm, struct cm_work *w)
{
	const uint8_t *msg = w->pkt.mad + CM_MSG;
	struct cm_id *id =
		cm_find_id(cm, w->port.host, (uint32_t)LAYOUT_GET(cm_dreq, msg, remote_comm_id),
			   (uint32_t)LAYOUT_GET(cm_dreq, msg, local_comm_id));

	if (!id) {
		issue_drep(cm, w);
		return;
	}
	if (id->local_qpn != LAYOUT_GET(cm_dreq, msg, remote_qpn_eecn))
		return;
	switch (id->state) {
	case CM_REP_SENT:
	case CM_DREQ_SENT:
	case CM_MRA_REP_RCVD:
	case CM_ESTABLISHED:
		cm_cancel(id);
		break;
	case CM_TIMEWAIT:
		repeat_drep(cm, w, id);
		return;
	default:
		return;
	}
	id->state = CM_DREQ_RCVD;
	id->tid = LAYOUT_GET(mad_hdr, w->pkt.mad, tid);
	cm_tell(id, &(struct cm_event){CM_DREQ_RECEIVED, msg + CM_AT_DREQ_DATA, CM_DREQ_DATA});
}

/* ---- DREP */

/* cm_send_drep_locked() */
int cm_drep(struct cm_id *id, const void *data, uint32_t len)
{
	struct cm_pkt p;
	uint8_t *msg;

	if (cm_too_long(data, len, CM_DREP_DATA) || id->state != CM_DREQ_RCVD)
		return -EINVAL;
	cm_keep_data(id, data, len);
	cm_enter_timewait(id);
	msg = cm_begin(id, &p, CM_ATTR_DREP, id->tid);
	if (!msg)
		return -EINVAL;
	format_drep(msg, id);
	cm_post(id->cm, &p);
	return 0;
}

/* ib_send_cm_drep() */
int cm_send_drep(struct cm_id *id, const void *data, uint32_t len)
{
	return CM_CALL(id->cm, cm_drep(id, data, len));
}

/* cm_drep_handler() */
void cm_on_drep(struct cm *cm, struct cm_work *w)
{
	const uint8_t *msg = w->pkt.mad + CM_MSG;
	struct cm_id *id =
		cm_find_id(cm, w->port.host, (uint32_t)LAYOUT_GET(cm_drep, msg, remote_comm_id),
			   (uint32_t)LAYOUT_GET(cm_drep, msg, local_comm_id));

	if (!id || (id->state != CM_DREQ_SENT && id->state != CM_DREQ_RCVD))
		return;
	cm_enter_timewait(id);
	cm_tell(id, &(struct cm_event){CM_DREP_RECEIVED, msg + CM_AT_DREP_DATA, CM_DREP_DATA});
}

/* ---- REJ */

/* cm_format_rej(), except the consumer's data. */
void cm_format_rej(uint8_t *msg, const struct cm_id *id, uint32_t reason, enum cm_state state)
{
	enum cm_msg which = CM_MSG_OTHER;

	if (state == CM_REQ_RCVD || state == CM_MRA_REQ_SENT)
		which = CM_MSG_REQ;
	else if (state == CM_REP_RCVD || state == CM_MRA_REP_SENT)
		which = CM_MSG_REP;
	CM_SET(cm_rej, msg, remote_comm_id, id->remote_id);
	CM_SET(cm_rej, msg, local_comm_id, state == CM_REQ_RCVD ? 0 : id->local_id);
	CM_SET(cm_rej, msg, message_rejected, which);
	CM_SET(cm_rej, msg, reason, reason);
}

/*
 * cm_issue_rej(): rejects a message without an id: it needs only the fields common to all messages.
 */
void cm_issue_rej(struct cm *cm, const struct cm_work *w, uint32_t reason, enum cm_msg which)
{
	const uint8_t *got = w->pkt.mad + CM_MSG;
	struct cm_pkt p;
	uint8_t *msg = cm_begin_response(w, &p, CM_ATTR_REJ, LAYOUT_GET(mad_hdr, w->pkt.mad, tid));

	if (!msg)
		return;
	CM_SET(cm_rej, msg, remote_comm_id, LAYOUT_GET(cm_rej, got, local_comm_id));
	CM_SET(cm_rej, msg, local_comm_id, LAYOUT_GET(cm_rej, got, remote_comm_id));
	CM_SET(cm_rej, msg, message_rejected, which);
	CM_SET(cm_rej, msg, reason, reason);
	cm_post(cm, &p);
}

/* cm_send_rej_locked() */
int cm_rej(struct cm_id *id, uint32_t reason, const void *ari, uint32_t ari_len, const void *data,
	   uint32_t len)
{
	enum cm_state state = id->state;
	struct cm_pkt p;
	uint8_t *msg;

	if (cm_too_long(data, len, CM_REJ_DATA) || cm_too_long(ari, ari_len, CM_REJ_ARI))
		return -EINVAL;
	switch (state) {
	case CM_REQ_SENT:
	case CM_MRA_REQ_RCVD:
	case CM_REQ_RCVD:
	case CM_MRA_REQ_SENT:
	case CM_REP_RCVD:
	case CM_MRA_REP_SENT:
		cm_reset_to_idle(id);
		break;
	case CM_REP_SENT:
	case CM_MRA_REP_RCVD:
		cm_enter_timewait(id);
		break;
	default:
		return -EINVAL;
	}
	msg = cm_begin(id, &p, CM_ATTR_REJ, id->tid);
	if (!msg)
		return -EINVAL;
	cm_format_rej(msg, id, reason, state);
	if (ari && ari_len) {
		CM_SET(cm_rej, msg, rejected_info_length, ari_len);
		cm_put_data(msg, CM_AT_REJ_ARI, ari, ari_len);
	}
	cm_put_data(msg, CM_AT_REJ_DATA, data, len);
	cm_post(id->cm, &p);
	return 0;
}

/* ib_send_cm_rej() */
int cm_send_rej(struct cm_id *id, uint32_t reason, const void *ari, uint32_t ari_len,
		const void *data, uint32_t len)
{
	return CM_CALL(id->cm, cm_rej(id, reason, ari, ari_len, data, len));
}

/* cm_acquire_rejected_id() */
static struct cm_id *rejected_id(struct cm *cm, const struct cm_work *w)
{
	const uint8_t *msg = w->pkt.mad + CM_MSG;
	uint32_t local = (uint32_t)LAYOUT_GET(cm_rej, msg, remote_comm_id);
	uint32_t remote = (uint32_t)LAYOUT_GET(cm_rej, msg, local_comm_id);
	struct cm_id *id;

	if (LAYOUT_GET(cm_rej, msg, reason) == CM_REJ_TIMEOUT) {
		/* A peer that has timed out waiting for our REP does not know our id's number. */
		id = cm_table_find(&cm->remote_id, (struct cm_key){be64_load(msg + CM_AT_REJ_ARI),
								   remote, w->port.host});
		return id && id->by_local.in && id->remote_id == id->tw_remote_id ? id : NULL;
	}
	if (LAYOUT_GET(cm_rej, msg, message_rejected) == CM_MSG_REQ)
		remote = 0;
	return cm_find_id(cm, w->port.host, local, remote);
}

/* The states of cm_rej_handler(). */
static bool take_rej(struct cm_id *id, bool stale)
{
	switch (id->state) {
	case CM_REQ_SENT:
	case CM_MRA_REQ_RCVD:
	case CM_REP_SENT:
	case CM_MRA_REP_RCVD:
	case CM_REQ_RCVD:
	case CM_MRA_REQ_SENT:
		if (stale)
			cm_enter_timewait(id);
		else
			cm_reset_to_idle(id);
		return true;
	case CM_ESTABLISHED:
		if (id->lap_state != CM_LAP_UNINIT && id->lap_state != CM_LAP_SENT)
			return false;
		cm_enter_timewait(id);
		return true;
	case CM_DREQ_SENT:
	case CM_REP_RCVD:
	case CM_MRA_REP_SENT:
		cm_enter_timewait(id);
		return true;
	default:
		return false;
	}
}

void cm_on_rej(struct cm *cm, struct cm_work *w)
{
	const uint8_t *msg = w->pkt.mad + CM_MSG;
	struct cm_event e = {CM_REJ_RECEIVED, msg + CM_AT_REJ_DATA, CM_REJ_DATA};
	struct cm_id *id = rejected_id(cm, w);
	uint8_t ari_len = (uint8_t)LAYOUT_GET(cm_rej, msg, rejected_info_length);

	e.rej.reason = (uint32_t)LAYOUT_GET(cm_rej, msg, reason);
	e.rej.ari = msg + CM_AT_REJ_ARI;
	e.rej.ari_len = ari_len < CM_REJ_ARI ? ari_len : CM_REJ_ARI;
	if (id && take_rej(id, e.rej.reason == CM_REJ_STALE_CONN))
		cm_tell(id, &e);
}
