/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fills the QP attributes of a connection (ib_cm_init_qp_attr()). */
#include "cm/priv.h"

#include <errno.h>
#include <infiniband/verbs.h>

static bool is_connecting(const struct cm_id *id, bool rep_known)
{
	switch (id->state) {
	case CM_REQ_SENT:
	case CM_MRA_REQ_RCVD:
		return !rep_known;
	case CM_REQ_RCVD:
	case CM_MRA_REQ_SENT:
	case CM_REP_RCVD:
	case CM_MRA_REP_SENT:
	case CM_REP_SENT:
	case CM_MRA_REP_RCVD:
	case CM_ESTABLISHED:
		return true;
	default:
		return false;
	}
}

static uint8_t port_num(const struct cm_id *id, uint32_t port)
{
	struct cm_port info;

	if (port == CM_NO_PORT || !id->cm->ops->port(id->cm->ctx, port, &info))
		return 0;
	return (uint8_t)info.num;
}

/* cm_init_qp_init_attr() */
static int to_init(const struct cm_id *id, struct cm_qp_attr *out)
{
	if (!is_connecting(id, false))
		return -EINVAL;
	out->mask = IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	out->access = IBV_ACCESS_REMOTE_WRITE;
	if (id->responder_resources)
		out->access |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	out->pkey_index = id->av.pkey_index;
	out->port_num = port_num(id, id->av.port);
	return 0;
}

static void put_alt(const struct cm_id *id, struct cm_qp_attr *out)
{
	out->mask |= IBV_QP_ALT_PATH;
	out->alt_port_num = port_num(id, id->alt_av.port);
	out->alt_pkey_index = id->alt_av.pkey_index;
	out->alt_timeout = id->alt_av.timeout;
	out->alt = id->alt_av.path;
}

/* cm_init_qp_rtr_attr() */
static int to_rtr(const struct cm_id *id, struct cm_qp_attr *out)
{
	if (!is_connecting(id, true))
		return -EINVAL;
	out->mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	out->path = id->av.path;
	out->path_src_bits = id->av.src_bits;
	out->grh = id->av.grh;
	if (id->av.dlid_datapath && id->av.dlid_datapath != MAD_LID_PERMISSIVE)
		out->path.dlid = id->av.dlid_datapath;
	out->path_mtu = id->path_mtu;
	out->dest_qpn = id->remote_qpn;
	out->rq_psn = id->rq_psn;
	if (id->qp_type == CM_QP_RC || id->qp_type == CM_QP_XRC_TGT) {
		out->mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
		out->max_dest_rd_atomic = id->responder_resources;
		out->min_rnr_timer = 0;
	}
	if (id->alt_av.path.dlid && id->alt_av.port != CM_NO_PORT)
		put_alt(id, out);
	return 0;
}

/* cm_init_qp_rts_attr(): also before the REP is sent. */
static int to_rts(const struct cm_id *id, struct cm_qp_attr *out)
{
	if (!is_connecting(id, true))
		return -EINVAL;
	if (id->lap_state != CM_LAP_UNINIT) {
		put_alt(id, out);
		out->mask |= IBV_QP_PATH_MIG_STATE;
		out->path_mig_state = IBV_MIG_REARM;
		return 0;
	}
	out->mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	out->sq_psn = id->sq_psn;
	if (id->qp_type == CM_QP_RC || id->qp_type == CM_QP_XRC_INI) {
		out->mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
		out->retry_cnt = id->retry_count;
		out->rnr_retry = id->rnr_retry_count;
		out->max_rd_atomic = id->initiator_depth;
	}
	if (id->qp_type == CM_QP_RC || id->qp_type == CM_QP_XRC_INI ||
	    id->qp_type == CM_QP_XRC_TGT) {
		out->mask |= IBV_QP_TIMEOUT;
		out->timeout = id->av.timeout;
	}
	if (id->alt_av.path.dlid) {
		out->mask |= IBV_QP_PATH_MIG_STATE;
		out->path_mig_state = IBV_MIG_REARM;
	}
	return 0;
}

int cm_init_qp_attr(const struct cm_id *id, uint32_t qp_state, struct cm_qp_attr *out)
{
	*out = (struct cm_qp_attr){0};
	switch (qp_state) {
	case IBV_QPS_INIT:
		return to_init(id, out);
	case IBV_QPS_RTR:
		return to_rtr(id, out);
	case IBV_QPS_RTS:
		return to_rts(id, out);
	default:
		return -EINVAL;
	}
}
