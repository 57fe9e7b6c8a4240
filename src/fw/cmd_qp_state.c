/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * QP state transitions. Called by exec.c under the HCA's lock; the engine stores the new state.
 *
 * Two tables contain the rules: where a command starts and ends and which options it may have per
 * service type (as opt_mask in the kernel's driver); and for each field of the QPC, the transitions
 * that always set it and the opt_param_mask bit by which others may. Fields that a command does not
 * set keep their values, whatever the command contains.
 */
#include "check/check.h"
#include "fw/priv.h"

#include <errno.h>
#include "engine/engine.h"
#include "fabric/eth.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "hw/qctr.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "hw/service.h"
#include "util/cleanup.h"
#include "wire/ib/pkey.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/qp.h"

enum { /* opt_param_mask */
       OPT_ALT_PATH = 1 << 0,
       OPT_RRE = 1 << 1,
       OPT_RAE = 1 << 2,
       OPT_RWE = 1 << 3,
       OPT_PKEY_INDEX = 1 << 4,
       OPT_Q_KEY = 1 << 5,
       OPT_RNR_TIMEOUT = 1 << 6,
       OPT_PM_STATE = 1 << 10,
       OPT_DRAIN_SIGERR = 1 << 11, /* MLX5_QPC_OPT_MASK_INIT2INIT_DRAIN_SIGERR of rdma-core */
       OPT_LAG_TX_AFF = 1 << 15,   /* without LAG the value is ignored */
       OPT_PRI_PORT = 1 << 16,
       OPT_COUNTER_SET_ID = 1 << 25,
};
#define OPT_ACCESS (OPT_RRE | OPT_RAE | OPT_RWE)

enum { /* Transitions, as bits for the field table. */
       R2I = 1 << 0,
       I2I = 1 << 1,
       I2R = 1 << 2,
       R2S = 1 << 3,
       S2S = 1 << 4,
       E2S = 1 << 5,
       D2S = 1 << 6,
       WITH_ECE = R2I | I2I | I2R | R2S | S2S,
};

/* Options whose values are in the extension (opt_param_mask_95_32). */
#define OPT_OF_EXT \
	(PRM_QP_OPT32_DCI_STREAM_CHANNEL_ID | PRM_QP_OPT32_QOS_QUEUE_GROUP_ID | PRM_QP_OPT32_MMO)

#define LAST_ST PRM_ST_XRC
static const struct transition {
	uint16_t opcode, bit;
	uint8_t from, to;
	uint32_t opt[LAST_ST + 1]; /* by service type: RC, UC, UD, XRC */
} transitions[] = {
	{PRM_OP_RST2INIT_QP,
	 R2I,
	 PRM_QP_STATE_RST,
	 PRM_QP_STATE_INIT,
	 {OPT_LAG_TX_AFF, OPT_LAG_TX_AFF, OPT_LAG_TX_AFF, OPT_LAG_TX_AFF}},
	{PRM_OP_INIT2INIT_QP,
	 I2I,
	 PRM_QP_STATE_INIT,
	 PRM_QP_STATE_INIT,
	 {OPT_ACCESS | OPT_PKEY_INDEX | OPT_DRAIN_SIGERR | OPT_PRI_PORT | OPT_LAG_TX_AFF,
	  OPT_RWE | OPT_PKEY_INDEX | OPT_DRAIN_SIGERR | OPT_PRI_PORT | OPT_LAG_TX_AFF,
	  OPT_PKEY_INDEX | OPT_Q_KEY | OPT_PRI_PORT,
	  OPT_ACCESS | OPT_PKEY_INDEX | OPT_DRAIN_SIGERR | OPT_PRI_PORT | OPT_LAG_TX_AFF}},
	{PRM_OP_INIT2RTR_QP,
	 I2R,
	 PRM_QP_STATE_INIT,
	 PRM_QP_STATE_RTR,
	 {OPT_ALT_PATH | OPT_ACCESS | OPT_PKEY_INDEX | OPT_LAG_TX_AFF,
	  OPT_ALT_PATH | OPT_RWE | OPT_PKEY_INDEX | OPT_LAG_TX_AFF, OPT_PKEY_INDEX | OPT_Q_KEY,
	  OPT_ALT_PATH | OPT_ACCESS | OPT_PKEY_INDEX | OPT_LAG_TX_AFF}},
	{PRM_OP_RTR2RTS_QP,
	 R2S,
	 PRM_QP_STATE_RTR,
	 PRM_QP_STATE_RTS,
	 {OPT_ALT_PATH | OPT_ACCESS | OPT_PM_STATE | OPT_RNR_TIMEOUT,
	  OPT_ALT_PATH | OPT_RWE | OPT_PM_STATE, OPT_Q_KEY,
	  OPT_ALT_PATH | OPT_ACCESS | OPT_PM_STATE | OPT_RNR_TIMEOUT}},
	{PRM_OP_RTS2RTS_QP,
	 S2S,
	 PRM_QP_STATE_RTS,
	 PRM_QP_STATE_RTS,
	 {OPT_ALT_PATH | OPT_ACCESS | OPT_PM_STATE | OPT_RNR_TIMEOUT | OPT_COUNTER_SET_ID,
	  OPT_ALT_PATH | OPT_RWE | OPT_PM_STATE | OPT_COUNTER_SET_ID,
	  OPT_Q_KEY | OPT_COUNTER_SET_ID,
	  OPT_ALT_PATH | OPT_ACCESS | OPT_PM_STATE | OPT_RNR_TIMEOUT | OPT_COUNTER_SET_ID}},
	{PRM_OP_SQERR2RTS_QP,
	 E2S,
	 PRM_QP_STATE_SQER,
	 PRM_QP_STATE_RTS,
	 {OPT_ACCESS | OPT_RNR_TIMEOUT, OPT_RWE, OPT_Q_KEY, OPT_ACCESS | OPT_RNR_TIMEOUT}},
	{PRM_OP_SQD_RTS_QP,
	 D2S,
	 PRM_QP_STATE_SQD,
	 PRM_QP_STATE_RTS,
	 {OPT_ACCESS | OPT_RNR_TIMEOUT, OPT_RWE, OPT_Q_KEY}},
};

#define F(f, req, opt)                                             \
	{                                                          \
		LF_qpc_##f##_BIT, LF_qpc_##f##_WIDTH, (req), (opt) \
	}
#define P(f, req, opt)                                                                         \
	{                                                                                      \
		LP_qpc_primary_address_path * 8 + LF_ads_##f##_BIT, LF_ads_##f##_WIDTH, (req), \
			(opt)                                                                  \
	}
#define P_GID(half)                                                                         \
	{                                                                                   \
		(LP_qpc_primary_address_path + LP_ads_rgid_rip) * 8 + (half)*64, 64, I2R, 0 \
	}
static const struct taken_field {
	uint16_t bit, width;
	uint16_t required; /* transitions that always set the field */
	uint32_t opt;      /* opt_param_mask bit by which others set it */
} taken_fields[] = {
	F(rre, R2I, OPT_RRE),
	F(rwe, R2I, OPT_RWE),
	F(rae, R2I, OPT_RAE),
	F(atomic_mode, R2I, OPT_RAE),
	F(q_key, R2I, OPT_Q_KEY),
	F(counter_set_id, R2I, OPT_COUNTER_SET_ID),
	F(drain_sigerr, R2I, OPT_DRAIN_SIGERR),
	F(mtu, I2R, 0),
	F(log_msg_max, I2R, 0),
	F(remote_qpn, I2R, 0),
	F(next_rcv_psn, I2R, 0),
	F(log_rra_max, I2R, 0),
	F(min_rnr_nak, I2R, OPT_RNR_TIMEOUT),
	F(next_send_psn, R2S, 0),
	F(log_sra_max, R2S, 0),
	F(log_ack_req_freq, R2S, 0),
	F(retry_count, R2S, 0),
	F(rnr_retry, R2S, 0),
	P(ack_timeout, R2S, 0),
	P(log_rtm, R2S, 0),
	P(vhca_port_num, R2I, OPT_PRI_PORT),
	P(pkey_index, R2I, OPT_PKEY_INDEX),
	P(grh, I2R, 0),
	P(mlid, I2R, 0),
	P(rlid, I2R, 0),
	P(sl, I2R, 0),
	P(src_addr_index, I2R, 0),
	P(stat_rate, I2R, 0),
	P(hop_limit, I2R, 0),
	P(tclass, I2R, 0),
	P(flow_label, I2R, 0),
	P(f_dscp, I2R, 0),
	P(f_ecn, I2R, 0),
	P(f_eth_prio, I2R, 0),
	P(ecn, I2R, 0),
	P(dscp, I2R, 0),
	P(udp_sport, I2R, 0),
	P(dei_cfi, I2R, 0),
	P(eth_prio, I2R, 0),
	P(rmac_47_32, I2R, 0),
	P(rmac_31_0, I2R, 0),
	P_GID(0),
	P_GID(1),
};

static const struct transition *transition_find(uint16_t opcode)
{
	for (size_t i = 0; i < ARRAY_SIZE(transitions); i++)
		if (transitions[i].opcode == opcode)
			return &transitions[i];
	return NULL;
}

/* `to` is the QP's context; `from` is the command's. */
static void take_fields(void *to, const void *from, const struct transition *t, uint32_t opt)
{
	for (size_t i = 0; i < ARRAY_SIZE(taken_fields); i++) {
		const struct taken_field *f = &taken_fields[i];

		if ((f->required & t->bit) || (f->opt & opt))
			layout_set(to, f->bit, f->width, layout_get(from, f->bit, f->width));
	}
}

#define QPC(f) LAYOUT_GET(qpc, qpc, f)
#define ADS(f) LAYOUT_GET(ads, ads, f)

static const struct hw_port *path_port(const struct fw_call *k, const void *ads)
{
	uint64_t num = ADS(vhca_port_num);

	return num < 1 || num > k->hca->nports ? NULL : hw_port(k->s, k->hca->port[num - 1]);
}

/* On an Ethernet port every packet has the GIDs of source and destination. */
static bool path_has_gids(const struct hw_port *port, const void *ads, uint32_t st)
{
	const struct hw_service *sv = hw_service(st);

	return !sv->datagram && (ADS(grh) || (hw_port_is_eth(port) && sv->gids));
}

/* Check the context that the QP would have after the command. */
static enum fw_r check_qpc(const struct fw_call *k, const void *qpc, uint32_t st,
			   const struct transition *t)
{
	const void *ads = LAYOUT_IN(qpc, primary_address_path, qpc);
	const struct hw_port *port = path_port(k, ads);

	if (!port)
		return FW_R_PATH_PORT;
	if (ADS(pkey_index) >= HW_PKEYS || !ib_pkey_valid(port->pkey[ADS(pkey_index)]))
		return FW_R_PATH_PKEY;
	if (QPC(atomic_mode) > PRM_ATOMIC_UP_TO_8B)
		return FW_R_QPC_ATOMIC_MODE;
	if (QPC(drain_sigerr) && !hw_service(st)->connected)
		return FW_R_QPC_DRAIN_SIGERR;
	if (t->bit == I2R) {
		if (QPC(mtu) < 1 ||
		    QPC(mtu) > (hw_service(st)->datagram ? port->max_mtu : port->active_mtu))
			return FW_R_QPC_MTU;
		if (QPC(log_msg_max) > k->caps->log_max_msg)
			return FW_R_QPC_MSG_MAX;
		if (QPC(log_rra_max) > k->caps->log_max_ra_res_qp)
			return FW_R_QPC_RRA_MAX;
		if (path_has_gids(port, ads, st) &&
		    !fw_has_gid(port, (uint32_t)ADS(src_addr_index)))
			return FW_R_PATH_SGID;
	}
	if (t->bit == R2S && QPC(log_sra_max) > k->caps->log_max_ra_req_qp)
		return FW_R_QPC_SRA_MAX;
	return FW_R_NONE;
}

/* The alternate path that a command brings, which only InfiniBand has (_ib_modify_qp()). */
static enum fw_r check_alt(const struct fw_call *k, const void *ads)
{
	const struct hw_port *port = path_port(k, ads);

	if (!port)
		return FW_R_PATH_PORT;
	if (hw_port_is_eth(port))
		return FW_R_ALT_LINK;
	if (ADS(pkey_index) >= HW_PKEYS || !ib_pkey_valid(port->pkey[ADS(pkey_index)]))
		return FW_R_PATH_PKEY;
	return ADS(grh) && !fw_has_gid(port, (uint32_t)ADS(src_addr_index)) ? FW_R_PATH_SGID
									    : FW_R_NONE;
}

static void apply_path(const struct fw_call *k, struct hw_qp_path *w, const void *ads)
{
	const uint8_t *rmac = (const uint8_t *)ads + LF_ads_rmac_47_32_BIT / 8;
	bool eth;

	w->port = k->hca->port[ADS(vhca_port_num) - 1];
	eth = hw_port_is_eth(hw_port(k->s, w->port));
	w->dlid = eth ? fab_eth_addr(rmac) : (uint32_t)ADS(rlid);
	w->sl = (uint8_t)(eth ? ADS(eth_prio) : ADS(sl));
	w->grh = eth || ADS(grh);
	w->sgid_index = (uint8_t)ADS(src_addr_index);
	w->pkey_index = (uint16_t)ADS(pkey_index);
	w->ack_timeout = (uint8_t)ADS(ack_timeout);
	w->log_rtm = (uint8_t)ADS(log_rtm);
	memcpy(w->dgid, LAYOUT_IN(ads, rgid_rip, ads), sizeof(w->dgid));
}

static const uint8_t pm_states[] = {
	[HW_MIG_MIGRATED] = PRM_PM_MIGRATED,
	[HW_MIG_REARM] = PRM_PM_REARM,
	[HW_MIG_ARMED] = PRM_PM_ARMED,
};

void fw_qp_paths(const struct hw_qp *qp, void *qpc)
{
	void *pri = LAYOUT_IN(qpc, primary_address_path, qpc);
	void *alt = LAYOUT_IN(qpc, secondary_address_path, qpc);
	uint64_t w = atomic_load(&qp->mig);
	uint8_t was[LAYOUT_SZ(ads)];

	LAYOUT_SET(qpc, qpc, pm_state, (uint32_t)pm_states[w & HW_MIG_STATE]);
	memcpy(was, pri, sizeof(was));
	if (w & HW_MIG_PATH)
		memcpy(pri, alt, sizeof(was));
	if (w & HW_MIG_MOVED)
		memcpy(alt, pri, sizeof(was));
	else if (w & HW_MIG_PATH)
		memcpy(alt, was, sizeof(was));
}

/* The alternate path and the state of the migration. Nothing can be refused any more. */
static void qp_migration(const struct fw_call *k, struct hw_qp *qp, const void *in_qpc,
			 uint32_t opt)
{
	const void *alt = LAYOUT_IN(qpc, secondary_address_path, in_qpc);
	uint32_t qpn = LAYOUT_GET32(rst2init_qp_in, k->in, qpn), to = ENG_MIG_KEEP;
	struct hw_qp_path *w;
	void *ads;

	if (!(opt & (OPT_ALT_PATH | OPT_PM_STATE)))
		return;
	w = eng_mig_hold(k->s, qp, qpn, &ads);
	if (opt & OPT_ALT_PATH) {
		memcpy(ads, alt, LAYOUT_SZ(ads));
		apply_path(k, w, alt);
	}
	if (opt & OPT_PM_STATE)
		to = LAYOUT_GET(qpc, in_qpc, pm_state) == PRM_PM_REARM ? HW_MIG_REARM
								       : HW_MIG_MIGRATED;
	eng_mig_end(k->s, qp, qpn, to);
}

/* Copy values from the context to the fields that the engine uses. */
static void qp_apply(const struct fw_call *k, struct hw_qp *qp, const struct transition *t)
{
	const void *qpc = qp->qpc;
	const void *ads = LAYOUT_IN(qpc, primary_address_path, qpc);
	struct hw_qp *peer;

	/* Later commands do not change it: a QP that runs may use the other one. */
	if (t->bit & (I2R | R2S)) {
		apply_path(k, &qp->path[0], ads);
	} else if (t->bit & (R2I | I2I)) {
		qp->path[0].port = k->hca->port[ADS(vhca_port_num) - 1];
		qp->port_num = (uint8_t)ADS(vhca_port_num);
		qp->path[0].pkey_index = (uint16_t)ADS(pkey_index);
	}
	qp->qkey = (uint32_t)QPC(q_key);
	qp->rre = (uint8_t)QPC(rre);
	qp->rwe = (uint8_t)QPC(rwe);
	qp->rae = (uint8_t)QPC(rae);
	qp->atomic_mode = (uint8_t)QPC(atomic_mode);
	qp->min_rnr_nak = (uint8_t)QPC(min_rnr_nak);
	qp->retry_count = (uint8_t)QPC(retry_count);
	qp->rnr_retry = (uint8_t)QPC(rnr_retry);
	if (t->bit == I2R) {
		qp->dest_qpn = (uint32_t)QPC(remote_qpn);
		peer = hw_qp(k->s, qp->dest_qpn);
		if (peer)
			atomic_store(&peer->named_by, 1 + LAYOUT_GET32(rst2init_qp_in, k->in, qpn));
		qp->mtu = 128u << QPC(mtu);
		qp->next_rcv_psn = (uint32_t)QPC(next_rcv_psn);
	}
	if (t->bit == R2S)
		qp->next_send_psn = (uint32_t)QPC(next_send_psn);
}

/* mlx5dv_modify_qp_udp_sport(): a connection's source port, while it runs. */
static bool may_set_sport(const struct fw_call *k, const struct hw_qp *qp)
{
	return k->cmd->opcode == PRM_OP_RTS2RTS_QP && fw_is_eth(k) && hw_service(qp->st)->udp_sport;
}

static void take_sport(const struct fw_call *k, void *to, const void *from)
{
	const void *ads = LAYOUT_IN(qpc, primary_address_path, from);

	if ((k->cmd->flags & FW_C_LIST) &&
	    LAYOUT_GET(rts2rts_qp_in, k->in, opt_param_mask_95_32) & PRM_QP_OPT32_UDP_SPORT)
		LAYOUT_SET(ads, LAYOUT_IN(qpc, primary_address_path, to), udp_sport,
			   ADS(udp_sport));
}

/* Either end of a reliable connection posts copies, or a DC initiator (mlx5dv_wr_post(3)). */
static bool may_set_mmo(const struct fw_call *k, const struct hw_qp *qp)
{
	return k->cmd->opcode == PRM_OP_INIT2INIT_QP && hw_service(qp->st)->copies;
}

/* INIT2INIT and RTS2RTS may have an extension of the QPC, with an option mask of its own. */
static enum fw_r check_ext(struct fw_call *k, const struct hw_qp *qp, const void **ext)
{
	const uint8_t *tail = (const uint8_t *)k->in + k->cmd->in->bytes;
	uint32_t ntail = k->inlen - k->cmd->in->bytes, req, resp;
	uint64_t opt = LAYOUT_GET(rts2rts_qp_in, k->in, opt_param_mask_95_32);
	bool has = LAYOUT_GET(rts2rts_qp_in, k->in, qpc_ext);

	*ext = NULL;
	if (opt & ~(uint64_t)(OPT_OF_EXT | PRM_QP_OPT32_UDP_SPORT) || ((opt & OPT_OF_EXT) && !has))
		return FW_R_QP_EXT;
	if ((opt & PRM_QP_OPT32_MMO) && !may_set_mmo(k, qp))
		return FW_R_QP_MMO;
	if ((opt & PRM_QP_OPT32_UDP_SPORT) && !may_set_sport(k, qp))
		return FW_R_QP_UDP_SPORT;
	if (has && ntail < LAYOUT_SZ(qpc_ext))
		return FW_R_INPUT_LEN;
	if (has && layout_reserved_set(&layout_qpc_ext, tail, LAYOUT_SZ(qpc_ext)) >= 0)
		return FW_R_QP_EXT_RESERVED;
	for (uint32_t i = has ? LAYOUT_SZ(qpc_ext) : 0; i < ntail; i++)
		if (tail[i])
			return FW_R_PAGE_LIST;
	*ext = opt & OPT_OF_EXT ? tail : NULL;
	if (!(opt & PRM_QP_OPT32_QOS_QUEUE_GROUP_ID))
		return FW_R_NONE;
	req = LAYOUT_GET32(qpc_ext, tail, qos_queue_group_id_requester);
	resp = LAYOUT_GET32(qpc_ext, tail, qos_queue_group_id_responder);
	if (req && !fw_queue_group(k, req))
		return FW_R_QP_QOS_REQUESTER;
	if (resp && (!hw_service(qp->st)->qos_answers || !fw_queue_group(k, resp)))
		return FW_R_QP_QOS_RESPONDER;
	return FW_R_NONE;
}

/* Set the QP's queue groups, with references while the QP is in them. Nothing is paced. */
static void qp_groups(struct fw_call *k, struct hw_qp *qp, const void *ext)
{
	fw_refer(k->s, SEG_T_QP, qp, -1);
	qp->qos_req = LAYOUT_GET32(qpc_ext, ext, qos_queue_group_id_requester);
	qp->qos_resp = LAYOUT_GET32(qpc_ext, ext, qos_queue_group_id_responder);
	fw_refer(k->s, SEG_T_QP, qp, 1);
}

/* mlx5dv_dci_stream_id_reset(3) */
static enum fw_r stream_reset(struct fw_call *k, const struct hw_qp *qp, const void *ext)
{
	int e;

	if (k->cmd->opcode != PRM_OP_RTS2RTS_QP || !hw_service(qp->st)->streams)
		return FW_R_QP_STREAM;
	e = eng_dci_stream_reset(k->s, LAYOUT_GET32(rts2rts_qp_in, k->in, qpn),
				 (uint16_t)LAYOUT_GET(qpc_ext, ext, dci_stream_channel_id));
	return e == -ENOENT ? FW_R_QP_STREAM : fw_errno(k, e);
}

/* Is nothing to be refused any more? A stream is reset as the last of what can fail. */
static enum fw_r check_last(struct fw_call *k, const struct hw_qp *qp, const void *next,
			    const void *ext)
{
	uint32_t id = LAYOUT_GET32(qpc, next, counter_set_id), idx;
	bool known = !id || id == LAYOUT_GET(qpc, qp->qpc, counter_set_id) || fw_qctr(k, id, &idx);

	k->obj = LAYOUT_GET32(rst2init_qp_in, k->in, qpn);
	if (!known)
		return FW_R_QPC_COUNTERS;
	if (!ext || !(LAYOUT_GET(rts2rts_qp_in, k->in, opt_param_mask_95_32) &
		      PRM_QP_OPT32_DCI_STREAM_CHANNEL_ID))
		return FW_R_NONE;
	return stream_reset(k, qp, ext);
}

static void qp_ext(struct fw_call *k, struct hw_qp *qp, const void *ext)
{
	uint64_t opt = LAYOUT_GET(rts2rts_qp_in, k->in, opt_param_mask_95_32);

	if (opt & PRM_QP_OPT32_QOS_QUEUE_GROUP_ID)
		qp_groups(k, qp, ext);
	if (opt & PRM_QP_OPT32_MMO)
		qp->mmo = LAYOUT_GET32(qpc_ext, ext, mmo);
}

/* From now on the QP counts in that set, which check_last() has found. */
static void qp_counters(struct fw_call *k, struct hw_qp *qp, uint32_t id)
{
	struct hw_qctr *was = qp->qctr ? hw_qctr(k->s, qp->qctr) : NULL;
	uint32_t idx = 0, obj = k->obj;
	struct hw_qctr *set = id ? fw_qctr(k, id, &idx) : NULL;

	k->obj = obj;
	if (set)
		fw_ref(&set->refs, 1);
	qp->qctr = idx;
	if (was)
		fw_ref(&was->refs, -1);
}

/*
 * ECE options, in any state (net/mlx5's "Add ability to read and write ECE options"): the request
 * in the input, the enabled options in the output. All commands with them have them at the same
 * place.
 */
static void qp_ece(struct fw_call *k, struct hw_qp *qp)
{
	uint32_t asked = LAYOUT_GET32(rst2init_qp_in, k->in, ece);

	if (asked)
		qp->ece = fw_ece(asked);
	LAYOUT_SET(rst2init_qp_out, k->out, ece, qp->ece);
}

enum fw_r fw_cmd_modify_qp(struct fw_call *k)
{
	const struct transition *t = transition_find(k->cmd->opcode);
	const void *in_qpc = LAYOUT_IN(rst2init_qp_in, qpc, k->in);
	uint32_t opt = LAYOUT_GET32(rst2init_qp_in, k->in, opt_param_mask);
	uint32_t qpn = LAYOUT_GET32(rst2init_qp_in, k->in, qpn);
	struct hw_qp *qp = fw_qp(k, qpn);
	uint8_t next[sizeof(qp->qpc)];
	const void *ext = NULL;
	enum fw_r r = FW_R_NONE;
	int e;

	if (BUG_ON(!t))
		return FW_R_QP_FROM_STATE;
	if (!qp)
		return FW_R_QP_NONE;
	if (qp->state != t->from)
		return FW_R_QP_FROM_STATE;
	if (opt & ~t->opt[hw_service(qp->st)->options])
		return FW_R_QP_OPT_MASK;
	if ((opt & OPT_PM_STATE) && LAYOUT_GET(qpc, in_qpc, pm_state) != PRM_PM_MIGRATED &&
	    LAYOUT_GET(qpc, in_qpc, pm_state) != PRM_PM_REARM)
		return FW_R_QPC_PM_STATE;
	if (k->cmd->flags & FW_C_LIST)
		r = check_ext(k, qp, &ext);
	k->obj = qpn;
	if (r)
		return r;
	memcpy(next, qp->qpc, sizeof(next));
	take_fields(next, in_qpc, t, opt);
	take_sport(k, next, in_qpc);
	r = check_qpc(k, next, qp->st, t);
	if (!r && (opt & OPT_ALT_PATH))
		r = check_alt(k, LAYOUT_IN(qpc, secondary_address_path, in_qpc));
	if (!r)
		r = check_last(k, qp, next, ext);
	if (r)
		return r;
	if (LAYOUT_GET(qpc, next, counter_set_id) != LAYOUT_GET(qpc, qp->qpc, counter_set_id))
		qp_counters(k, qp, LAYOUT_GET32(qpc, next, counter_set_id));
	if (ext)
		qp_ext(k, qp, ext);
	/* inferred from libmlx5, which asks for it after each RST2INIT (mlx5_modify_qp()) */
	if (t->bit == R2I)
		qp->mmo = 0;
	memcpy(qp->qpc, next, sizeof(next));
	qp_apply(k, qp, t);
	qp_migration(k, qp, in_qpc, opt);
	if (CHECK_ON() && t->bit == R2S)
		fw_check_ready(k->s, qp, qpn);
	if (t->bit & WITH_ECE)
		qp_ece(k, qp);
	/* No change of state: the engine may have set ERR meanwhile, which must stay. */
	if (t->from == t->to)
		return FW_R_NONE;
	e = eng_qp_set_state(k->s, qpn, (enum prm_qp_state)t->to);
	return e == -EINVAL ? FW_R_QP_FROM_STATE : fw_errno(k, e);
}

enum fw_r fw_cmd_qp_2err(struct fw_call *k)
{
	uint32_t qpn = LAYOUT_GET32(qp_2err_in, k->in, qpn);

	if (!fw_qp(k, qpn))
		return FW_R_QP_NONE;
	return fw_errno(k, eng_qp_set_state(k->s, qpn, PRM_QP_STATE_ERR));
}

enum fw_r fw_cmd_qp_2rst(struct fw_call *k)
{
	uint32_t qpn = LAYOUT_GET32(qp_2rst_in, k->in, qpn);

	if (!fw_qp(k, qpn))
		return FW_R_QP_NONE;
	return fw_errno(k, eng_qp_set_state(k->s, qpn, PRM_QP_STATE_RST));
}
