/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the first part of every message, and the repetition of messages that expect an answer
 * (ib_mad does this for the kernel's CM: timeout_sends(), retry_send()).
 */
#include "cm/priv.h"

#include "util/clock.h"

static uint8_t *header(struct cm_pkt *p, uint32_t attr, uint64_t tid)
{
	memset(p->mad, 0, sizeof(p->mad));
	LAYOUT_SET(mad_hdr, p->mad, base_version, MAD_BASE_VERSION);
	LAYOUT_SET(mad_hdr, p->mad, mgmt_class, MAD_CLASS_CM);
	LAYOUT_SET(mad_hdr, p->mad, class_version, CM_CLASS_VERSION);
	LAYOUT_SET(mad_hdr, p->mad, method, MAD_METHOD_SEND);
	LAYOUT_SET(mad_hdr, p->mad, attr_id, attr);
	LAYOUT_SET(mad_hdr, p->mad, tid, tid);
	return p->mad + CM_MSG;
}

static void address(struct cm_pkt *p, const struct cm_av *av, uint16_t lid)
{
	*p = (struct cm_pkt){
		.port = av->port,
		.slid = av->src_bits ? (uint16_t)(lid | av->src_bits) : 0,
		.dlid = av->path.dlid,
		.sl = av->path.sl,
		.qpn = 1,
		.pkey_index = av->pkey_index,
		.grh = av->grh,
		.gid_kind = av->path.gid_kind,
	};
	memcpy(p->sgid, av->path.sgid, sizeof(p->sgid));
	memcpy(p->dgid, av->path.dgid, sizeof(p->dgid));
	if (av->grh) {
		p->hop_limit = av->path.hop_limit;
		p->traffic_class = av->path.traffic_class;
		p->flow_label = av->path.flow_label;
	}
}

/* cm_alloc_msg() */
uint8_t *cm_begin(struct cm_id *id, struct cm_pkt *p, uint32_t attr, uint64_t tid)
{
	struct cm_port port;

	if (id->av.port == CM_NO_PORT || !id->cm->ops->port(id->cm->ctx, id->av.port, &port))
		return NULL;
	address(p, &id->av, port.lid);
	return header(p, attr, tid);
}

/* cm_alloc_response_msg() */
uint8_t *cm_begin_response(const struct cm_work *w, struct cm_pkt *p, uint32_t attr, uint64_t tid)
{
	struct cm_av av = {0};

	if (cm_av_for_response(w, &av))
		return NULL;
	address(p, &av, w->port.lid);
	return header(p, attr, tid);
}

/*
 * cm_form_tid(): the upper half is the port, where the kernel puts the number of its ib_mad agent.
 */
uint64_t cm_form_tid(const struct cm_id *id)
{
	return ((uint64_t)id->av.port + 1) << 32 | id->local_id;
}

void cm_put_data(uint8_t *msg, uint32_t at, const void *data, uint32_t len)
{
	if (data && len && !BUG_ON(len > CM_MSG_SIZE - at))
		memcpy(msg + at, data, len);
}

/* cm_set_private_data() */
void cm_keep_data(struct cm_id *id, const void *data, uint32_t len)
{
	id->data_len = 0;
	if (!data || !len || BUG_ON(len > sizeof(id->data)))
		return;
	memcpy(id->data, data, len);
	id->data_len = (uint8_t)len;
}

static void arm(struct cm_id *id)
{
	struct cm *cm = id->cm;

	cm_timer_set(&cm->timers, &id->timer,
		     cm->ops->now(cm->ctx) + id->msg_timeout_ms * NSEC_PER_MSEC);
}

void cm_post_msg(struct cm_id *id, enum cm_state state, uint32_t timeout_ms)
{
	id->msg_state = state;
	id->msg_timeout_ms = timeout_ms;
	id->retries_left = id->max_retries;
	/* ib_post_send_mad(): without a timeout nobody waits for an answer. */
	id->sending = timeout_ms > 0;
	if (id->sending)
		arm(id);
	cm_post(id->cm, &id->msg);
}

/* ib_modify_mad(): changes the timeout of the current try and of later repetitions. */
void cm_modify_msg(struct cm_id *id, uint32_t timeout_ms)
{
	id->msg_timeout_ms = timeout_ms;
	arm(id);
}

void cm_cancel(struct cm_id *id)
{
	if (!id->sending)
		return;
	id->sending = false;
	cm_timer_stop(&id->cm->timers, &id->timer);
}

/* cm_process_send_error() */
static void send_error(struct cm_id *id)
{
	struct cm_event e = {0};

	if (id->msg_state != id->state)
		return;
	switch (id->state) {
	case CM_REQ_SENT:
	case CM_MRA_REQ_RCVD:
		cm_reset_to_idle(id);
		e.type = CM_REQ_ERROR;
		break;
	case CM_REP_SENT:
	case CM_MRA_REP_RCVD:
		cm_reset_to_idle(id);
		e.type = CM_REP_ERROR;
		break;
	case CM_DREQ_SENT:
		cm_enter_timewait(id);
		e.type = CM_DREQ_ERROR;
		break;
	case CM_SIDR_REQ_SENT:
		id->state = CM_IDLE;
		e.type = CM_SIDR_REQ_ERROR;
		break;
	default:
		return;
	}
	cm_tell(id, &e);
}

/* The timer has run out. */
void cm_msg_due(struct cm_id *id)
{
	if (id->retries_left) {
		id->retries_left--;
		arm(id);
		id->msg.again = true;
		cm_post(id->cm, &id->msg);
		return;
	}
	id->sending = false;
	send_error(id);
}
