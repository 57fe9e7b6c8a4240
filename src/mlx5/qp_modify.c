/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * QP transitions: which command takes a QP from one state to another, which optional parameters it
 * may have, and how verbs attributes become a QP context. uverbs knows which attributes belong to
 * which type and transition. Called by uverbs through the ops table.
 */
#include <errno.h>
#include <sys/param.h>
#include "hw/hca.h"
#include "hw/port.h"
#include "hw/qctr.h"
#include "hw/qp_state.h"
#include "mlx5/priv.h"
#include "hw/qp.h"
#include "hw/service.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/qp.h"

#define NSTATES (PRM_QP_STATE_ERR + 1)
#define ACK_REQ_FREQ 8 /* log2 of packets between acknowledge requests, as in the kernel */

/* opt_param_mask: the context fields that a command changes. */
enum {
	OPT_ALT_ADDR_PATH = 1 << 0,
	OPT_RRE = 1 << 1,
	OPT_RAE = 1 << 2,
	OPT_RWE = 1 << 3,
	OPT_PKEY_INDEX = 1 << 4,
	OPT_Q_KEY = 1 << 5,
	OPT_RNR_TIMEOUT = 1 << 6,
	OPT_PRIMARY_ADDR_PATH = 1 << 7,
	OPT_SRA_MAX = 1 << 8,
	OPT_RRA_MAX = 1 << 9,
	OPT_PM_STATE = 1 << 10,
	OPT_RETRY_COUNT = 1 << 12,
	OPT_RNR_RETRY = 1 << 13,
	OPT_ACK_TIMEOUT = 1 << 14,
	OPT_PRI_PORT = 1 << 16,
	OPT_SRQN = 1 << 18,
	OPT_CQN_RCV = 1 << 19,
	OPT_ACCESS = OPT_RRE | OPT_RAE | OPT_RWE,
};

/* One transition: its command, and the optional changes by transport. */
struct transition {
	uint16_t op;
	uint32_t rc, uc, ud;
};

static const struct transition transitions[NSTATES][NSTATES] = {
	[PRM_QP_STATE_RST] =
		{
			[PRM_QP_STATE_RST] = {PRM_OP_2RST_QP, 0, 0, 0},
			[PRM_QP_STATE_ERR] = {PRM_OP_2ERR_QP, 0, 0, 0},
			[PRM_QP_STATE_INIT] = {PRM_OP_RST2INIT_QP, 0, 0, 0},
		},
	[PRM_QP_STATE_INIT] =
		{
			[PRM_QP_STATE_RST] = {PRM_OP_2RST_QP, 0, 0, 0},
			[PRM_QP_STATE_ERR] = {PRM_OP_2ERR_QP, 0, 0, 0},
			[PRM_QP_STATE_INIT] = {PRM_OP_INIT2INIT_QP,
					       OPT_ACCESS | OPT_PKEY_INDEX | OPT_PRI_PORT,
					       OPT_RWE | OPT_PKEY_INDEX | OPT_PRI_PORT,
					       OPT_PKEY_INDEX | OPT_Q_KEY | OPT_PRI_PORT},
			[PRM_QP_STATE_RTR] = {PRM_OP_INIT2RTR_QP,
					      OPT_ALT_ADDR_PATH | OPT_ACCESS | OPT_PKEY_INDEX,
					      OPT_ALT_ADDR_PATH | OPT_RWE | OPT_PKEY_INDEX,
					      OPT_PKEY_INDEX | OPT_Q_KEY},
		},
	[PRM_QP_STATE_RTR] =
		{
			[PRM_QP_STATE_RST] = {PRM_OP_2RST_QP, 0, 0, 0},
			[PRM_QP_STATE_ERR] = {PRM_OP_2ERR_QP, 0, 0, 0},
			[PRM_QP_STATE_RTS] = {PRM_OP_RTR2RTS_QP,
					      OPT_ALT_ADDR_PATH | OPT_ACCESS | OPT_PM_STATE |
						      OPT_RNR_TIMEOUT,
					      OPT_ALT_ADDR_PATH | OPT_RWE | OPT_PM_STATE,
					      OPT_Q_KEY},
		},
	[PRM_QP_STATE_RTS] =
		{
			[PRM_QP_STATE_RST] = {PRM_OP_2RST_QP, 0, 0, 0},
			[PRM_QP_STATE_ERR] = {PRM_OP_2ERR_QP, 0, 0, 0},
			[PRM_QP_STATE_RTS] = {PRM_OP_RTS2RTS_QP,
					      OPT_ACCESS | OPT_RNR_TIMEOUT | OPT_PM_STATE |
						      OPT_ALT_ADDR_PATH,
					      OPT_RWE | OPT_PM_STATE | OPT_ALT_ADDR_PATH,
					      OPT_Q_KEY | OPT_SRQN | OPT_CQN_RCV},
		},
	[PRM_QP_STATE_SQD] =
		{
			[PRM_QP_STATE_RST] = {PRM_OP_2RST_QP, 0, 0, 0},
			[PRM_QP_STATE_ERR] = {PRM_OP_2ERR_QP, 0, 0, 0},
			[PRM_QP_STATE_RTS] = {PRM_OP_SQD_RTS_QP, OPT_RNR_TIMEOUT | OPT_ACCESS,
					      OPT_RWE, OPT_Q_KEY},
		},
	[PRM_QP_STATE_SQER] =
		{
			[PRM_QP_STATE_RST] = {PRM_OP_2RST_QP, 0, 0, 0},
			[PRM_QP_STATE_ERR] = {PRM_OP_2ERR_QP, 0, 0, 0},
			[PRM_QP_STATE_RTS] = {PRM_OP_SQERR2RTS_QP, OPT_RNR_TIMEOUT | OPT_ACCESS,
					      OPT_RWE, OPT_Q_KEY},
		},
	[PRM_QP_STATE_ERR] =
		{
			[PRM_QP_STATE_RST] = {PRM_OP_2RST_QP, 0, 0, 0},
			[PRM_QP_STATE_ERR] = {PRM_OP_2ERR_QP, 0, 0, 0},
		},
};

/* The option bits of each verbs attribute. */
static const struct {
	uint32_t attr, opt;
} attr_opts[] = {
	{IBV_QP_ACCESS_FLAGS, OPT_ACCESS},
	{IBV_QP_PKEY_INDEX, OPT_PKEY_INDEX},
	{IBV_QP_PORT, OPT_PRI_PORT},
	{IBV_QP_QKEY, OPT_Q_KEY},
	{IBV_QP_AV, OPT_PRIMARY_ADDR_PATH | OPT_PRI_PORT},
	{IBV_QP_TIMEOUT, OPT_ACK_TIMEOUT},
	{IBV_QP_RETRY_CNT, OPT_RETRY_COUNT},
	{IBV_QP_RNR_RETRY, OPT_RNR_RETRY},
	{IBV_QP_MAX_QP_RD_ATOMIC, OPT_SRA_MAX},
	{IBV_QP_ALT_PATH, OPT_ALT_ADDR_PATH},
	{IBV_QP_MIN_RNR_TIMER, OPT_RNR_TIMEOUT},
	{IBV_QP_MAX_DEST_RD_ATOMIC, OPT_RRA_MAX | OPT_ACCESS},
	{IBV_QP_PATH_MIG_STATE, OPT_PM_STATE},
};

static int state_to_prm(uint32_t ib)
{
	static const int8_t prm[] = {
		[IBV_QPS_RESET] = PRM_QP_STATE_RST, [IBV_QPS_INIT] = PRM_QP_STATE_INIT,
		[IBV_QPS_RTR] = PRM_QP_STATE_RTR,   [IBV_QPS_RTS] = PRM_QP_STATE_RTS,
		[IBV_QPS_SQD] = PRM_QP_STATE_SQD,   [IBV_QPS_SQE] = PRM_QP_STATE_SQER,
		[IBV_QPS_ERR] = PRM_QP_STATE_ERR,
	};

	return ib < ARRAY_SIZE(prm) ? prm[ib] : -1;
}

static uint32_t opt_of(const struct transition *t, const struct uv_qp *qp, uint32_t mask)
{
	const struct hw_service *sv = hw_service_ib(qp->qp_type);
	uint32_t opt = 0;

	for (size_t i = 0; i < ARRAY_SIZE(attr_opts); i++)
		if (mask & attr_opts[i].attr)
			opt |= attr_opts[i].opt;
	if (!sv->connected && !sv->datagram)
		return 0;
	switch (sv->options) {
	case PRM_ST_UC:
		return opt & t->uc;
	case PRM_ST_UD:
		return opt & t->ud;
	case PRM_ST_XRC: /* the masks of RC, without a transition from SQD to RTS */
		return t->op == PRM_OP_SQD_RTS_QP ? 0 : opt & t->rc;
	default:
		return opt & t->rc;
	}
}

/* IBV_RATE_* <-> ads.stat_rate: newer rates have numbers of their own, others are shifted. */
static const uint8_t rate_table[] = {
	IBV_RATE_MAX,      IBV_RATE_56_GBPS, IBV_RATE_25_GBPS,  IBV_RATE_100_GBPS,
	IBV_RATE_200_GBPS, IBV_RATE_50_GBPS, IBV_RATE_400_GBPS,
};
#define STAT_RATE_OFFSET 5

uint8_t mlx5_rate_of(uint64_t stat_rate)
{
	return (uint8_t)(stat_rate < ARRAY_SIZE(rate_table) ? rate_table[stat_rate]
							    : stat_rate - STAT_RATE_OFFSET);
}

static uint32_t stat_rate_of(uint32_t rate)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(rate_table); i++)
		if (rate_table[i] == rate)
			return i;
	return rate + STAT_RATE_OFFSET;
}

/* For an unsupported rate, the next supported number below (the kernel's ib_rate_to_mlx5()). */
static int rate_to_prm(const struct hw_caps *c, uint32_t rate)
{
	if (rate != IBV_RATE_MAX && (rate < IBV_RATE_2_5_GBPS || rate > IBV_RATE_600_GBPS))
		return uv_no(-EINVAL, "no such static_rate");
	while (rate != IBV_RATE_MAX && !(c->stat_rate_support >> stat_rate_of(rate) & 1))
		rate--;
	return (int)stat_rate_of(rate);
}

/*
 * rdma_get_udp_sport(): the source port follows from the flow label, or from both QP numbers, so
 * that each connection has its own.
 */
static uint16_t udp_sport_of(uint32_t flow_label, uint32_t lqpn, uint32_t rqpn)
{
	uint64_t v = (uint64_t)lqpn * rqpn;
	uint32_t fl = flow_label;

	v ^= v >> 20;
	v ^= v >> 40;
	if (!fl)
		fl = v & 0xfffff;
	return (uint16_t)(((fl & 0x3fff) ^ fl >> 14) | PRM_ROCE_MIN_SPORT);
}

/* The part of mlx5_set_path() for one link layer. */
static void path_fill_ib(void *ads, const struct ibv_ah_attr *ah)
{
	LAYOUT_SET(ads, ads, rlid, ah->dlid);
	LAYOUT_SET(ads, ads, mlid, ah->src_path_bits & 0x7f);
	LAYOUT_SET(ads, ads, grh, !!ah->is_global);
	LAYOUT_SET(ads, ads, sl, ah->sl & 0xf);
}

static int path_fill_roce(void *ads, const struct uv_qp *qp, const struct uv_qp_modify *m,
			  const struct hw_port *port)
{
	const struct ibv_ah_attr *ah = &m->attr.ah_attr;
	uint32_t kind = ah->is_global ? *hw_gid_kind_at(port, ah->grh.sgid_index) : 0;
	bool v2 = hw_gid_type(kind) == HW_GID_ROCE_V2;

	if (!ah->is_global)
		return uv_no(-EINVAL, "on an Ethernet port is_global is 1");
	LAYOUT_SET(ads, ads, rmac_47_32, be16_load(m->dmac));
	LAYOUT_SET(ads, ads, rmac_31_0, be32_load(m->dmac + 2));
	LAYOUT_SET(ads, ads, eth_prio, ah->sl & 7);
	if (!v2)
		return 0;
	LAYOUT_SET(ads, ads, dscp, ah->grh.traffic_class >> 2);
	if (hw_service_ib(qp->qp_type)->connected && m->mask & IBV_QP_DEST_QPN)
		LAYOUT_SET(
			ads, ads, udp_sport,
			udp_sport_of(ah->grh.flow_label & 0xfffff, qp->qpn, m->attr.dest_qp_num));
	return 0;
}

/* Alternate paths exist on InfiniBand only, as uverbs has checked. */
static int path_fill(void *ads, const struct uv_qp *qp, const struct uv_qp_modify *m,
		     const struct ibv_ah_attr *ah, uint32_t num)
{
	const struct uv_context *ctx = uv_obj_context(&qp->obj);
	int rate = rate_to_prm(mlx5_caps(ctx), ah->static_rate), r = 0;
	const struct hw_port *port = mlx5_port(ctx, num);

	if (rate < 0)
		return rate;
	if (!port)
		return uv_no(-EINVAL, "no such port");
	if (ah->is_global && ah->grh.sgid_index >= hw_port_gids(port))
		return uv_no(-EINVAL, "sgid_index is outside the port's table");
	if (hw_port_is_eth(port))
		r = path_fill_roce(ads, qp, m, port);
	else
		path_fill_ib(ads, ah);
	if (r)
		return r;
	if (ah->is_global) {
		LAYOUT_SET(ads, ads, src_addr_index, ah->grh.sgid_index);
		LAYOUT_SET(ads, ads, hop_limit, ah->grh.hop_limit);
		LAYOUT_SET(ads, ads, tclass, ah->grh.traffic_class);
		LAYOUT_SET(ads, ads, flow_label, ah->grh.flow_label & 0xfffff);
		memcpy(LAYOUT_IN(ads, rgid_rip, ads), ah->grh.dgid.raw, sizeof(ah->grh.dgid.raw));
	}
	LAYOUT_SET(ads, ads, stat_rate, (uint32_t)rate);
	LAYOUT_SET(ads, ads, vhca_port_num, num);
	return 0;
}

static int paths_fill(void *qpc, const struct uv_qp *qp, const struct uv_qp_modify *m)
{
	void *pri = LAYOUT_IN(qpc, primary_address_path, qpc);
	void *alt = LAYOUT_IN(qpc, secondary_address_path, qpc);
	const struct ibv_qp_attr *a = &m->attr;
	int r = 0;

	if (m->mask & IBV_QP_PKEY_INDEX)
		LAYOUT_SET(ads, pri, pkey_index, a->pkey_index);
	if (m->mask & IBV_QP_PORT)
		LAYOUT_SET(ads, pri, vhca_port_num, a->port_num);
	if (m->mask & IBV_QP_AV)
		r = path_fill(pri, qp, m, &a->ah_attr,
			      m->mask & IBV_QP_PORT ? a->port_num : qp->port);
	if (m->mask & IBV_QP_TIMEOUT)
		LAYOUT_SET(ads, pri, ack_timeout, a->timeout & 0x1f);
	if (r == 0 && m->mask & IBV_QP_ALT_PATH) {
		LAYOUT_SET(ads, alt, pkey_index, a->alt_pkey_index);
		LAYOUT_SET(ads, alt, ack_timeout, a->alt_timeout & 0x1f);
		r = path_fill(alt, qp, m, &a->alt_ah_attr, a->alt_port_num);
	}
	return r;
}

/* log2, rounded up; the kernel's fls(n - 1). */
static uint32_t qp_modify_log2_up(uint32_t n)
{
	uint32_t l = 0;

	while ((1u << l) < n)
		l++;
	return l;
}

/*
 * qpc.atomic_mode of a QP that takes atomics (the kernel's get_atomic_mode()): with masked atomics
 * the largest size, else IB compatible.
 */
int mlx5_atomic_mode(const struct hw_caps *c)
{
	const uint32_t standard = HW_ATOMIC_CS | HW_ATOMIC_FA;
	uint32_t sizes = c->atomic_size_qp & 0x1ff;

	if (c->atomic_operations & (HW_ATOMIC_MASKED_CS | HW_ATOMIC_MASKED_FA) && sizes)
		return MAX(PRM_ATOMIC_UP_TO_8B, 31 - __builtin_clz(sizes));
	return (c->atomic_operations & standard) == standard ? PRM_ATOMIC_IB_COMP : -EOPNOTSUPP;
}

static int access_fill(void *qpc, const struct uv_qp *qp, const struct uv_qp_modify *m)
{
	const struct mlx5_qp *q = qp->obj.drv;
	uint32_t flags = q->access_flags;
	uint8_t depth = q->resp_depth;

	if (!(m->mask & (IBV_QP_ACCESS_FLAGS | IBV_QP_MAX_DEST_RD_ATOMIC)))
		return 0;
	if (m->mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		depth = m->attr.max_dest_rd_atomic;
	if (m->mask & IBV_QP_ACCESS_FLAGS)
		flags = m->attr.qp_access_flags;
	if (!depth) /* no resources for answers to READs */
		flags &= IBV_ACCESS_REMOTE_WRITE;
	if (flags & IBV_ACCESS_REMOTE_ATOMIC) {
		int mode = mlx5_atomic_mode(mlx5_caps(uv_obj_context(&qp->obj)));

		if (mode < 0)
			return uv_no(
				mode,
				"IBV_ACCESS_REMOTE_ATOMIC: the device has no atomic operations");
		LAYOUT_SET(qpc, qpc, rae, 1);
		LAYOUT_SET(qpc, qpc, atomic_mode, (uint32_t)mode);
	}
	LAYOUT_SET(qpc, qpc, rre, !!(flags & IBV_ACCESS_REMOTE_READ));
	LAYOUT_SET(qpc, qpc, rwe, !!(flags & IBV_ACCESS_REMOTE_WRITE));
	return 0;
}

static int mtu_fill(void *qpc, const struct hw_caps *c, const struct uv_qp *qp,
		    const struct uv_qp_modify *m)
{
	if (hw_service_ib(qp->qp_type)->datagram) {
		LAYOUT_SET(qpc, qpc, mtu, IBV_MTU_4096);
		LAYOUT_SET(qpc, qpc, log_msg_max, 12);
	} else if (m->mask & IBV_QP_PATH_MTU) {
		if (m->attr.path_mtu < IBV_MTU_256 || m->attr.path_mtu > IBV_MTU_4096)
			return uv_no(-EINVAL, "no such path_mtu");
		LAYOUT_SET(qpc, qpc, mtu, m->attr.path_mtu);
		LAYOUT_SET(qpc, qpc, log_msg_max, c->log_max_msg);
	}
	return 0;
}

static uint32_t pm_state_of(const struct uv_qp_modify *m)
{
	if (!(m->mask & IBV_QP_PATH_MIG_STATE))
		return PRM_PM_MIGRATED;
	switch (m->attr.path_mig_state) {
	case IBV_MIG_REARM:
		return PRM_PM_REARM;
	case IBV_MIG_ARMED:
		return PRM_PM_ARMED;
	default:
		return PRM_PM_MIGRATED;
	}
}

/*
 * Each port has a set of Q counters for all QPs of verbs programs; sysfs shows it as hw_counters.
 */
uint32_t mlx5_port_counters(const struct uv_context *ctx, uint32_t num)
{
	const struct hw_port *p = mlx5_port(ctx, num);
	const struct hw_qctr *set = p ? hw_qctr(ctx->seg, p->qctr) : NULL;

	return set ? set->id : 0;
}

static int qp_modify_qpc_fill(void *qpc, const struct uv_qp *qp, const struct uv_qp_modify *m)
{
	const struct ibv_qp_attr *a = &m->attr;
	int r;

	LAYOUT_SET(qpc, qpc, st, hw_service_ib(qp->qp_type)->st);
	LAYOUT_SET(qpc, qpc, pm_state, pm_state_of(m));
	if (qp->pd)
		LAYOUT_SET(qpc, qpc, pd, qp->pd->pdn);
	if (qp->send_cq)
		LAYOUT_SET(qpc, qpc, cqn_snd, qp->send_cq->cqn);
	if (qp->recv_cq)
		LAYOUT_SET(qpc, qpc, cqn_rcv, qp->recv_cq->cqn);
	LAYOUT_SET(qpc, qpc, log_ack_req_freq, ACK_REQ_FREQ);
	if (m->cur_state == IBV_QPS_RESET && m->new_state == IBV_QPS_INIT)
		LAYOUT_SET(qpc, qpc, counter_set_id,
			   mlx5_port_counters(uv_obj_context(&qp->obj),
					      m->mask & IBV_QP_PORT ? a->port_num : qp->port));
	if (m->mask & IBV_QP_DEST_QPN)
		LAYOUT_SET(qpc, qpc, remote_qpn, a->dest_qp_num & 0xffffff);
	if (m->mask & IBV_QP_RNR_RETRY)
		LAYOUT_SET(qpc, qpc, rnr_retry, a->rnr_retry & 7);
	if (m->mask & IBV_QP_RETRY_CNT)
		LAYOUT_SET(qpc, qpc, retry_count, a->retry_cnt & 7);
	if (m->mask & IBV_QP_MAX_QP_RD_ATOMIC && a->max_rd_atomic)
		LAYOUT_SET(qpc, qpc, log_sra_max, qp_modify_log2_up(a->max_rd_atomic));
	if (m->mask & IBV_QP_MAX_DEST_RD_ATOMIC && a->max_dest_rd_atomic)
		LAYOUT_SET(qpc, qpc, log_rra_max, qp_modify_log2_up(a->max_dest_rd_atomic));
	if (m->mask & IBV_QP_SQ_PSN)
		LAYOUT_SET(qpc, qpc, next_send_psn, a->sq_psn & 0xffffff);
	if (m->mask & IBV_QP_RQ_PSN)
		LAYOUT_SET(qpc, qpc, next_rcv_psn, a->rq_psn & 0xffffff);
	if (m->mask & IBV_QP_MIN_RNR_TIMER)
		LAYOUT_SET(qpc, qpc, min_rnr_nak, a->min_rnr_timer & 0x1f);
	if (m->mask & IBV_QP_QKEY)
		LAYOUT_SET(qpc, qpc, q_key, a->qkey);
	r = mtu_fill(qpc, mlx5_caps(uv_obj_context(&qp->obj)), qp, m);
	if (r == 0)
		r = paths_fill(qpc, qp, m);
	return r ? r : access_fill(qpc, qp, m);
}

static int attr_check(const struct uv_context *ctx, const struct uv_qp_modify *m)
{
	const struct hw_caps *c = mlx5_caps(ctx);
	const struct ibv_qp_attr *a = &m->attr;

	if (m->mask & IBV_QP_PORT &&
	    (!a->port_num || a->port_num > hw_hca(ctx->seg, ctx->hca)->nports))
		return uv_no(-EINVAL, "port_num is no port of the device");
	if (m->mask & IBV_QP_PKEY_INDEX && a->pkey_index >= HW_PKEYS)
		return uv_no(-EINVAL, "pkey_index is outside the port's table");
	if (m->mask & IBV_QP_MAX_QP_RD_ATOMIC && a->max_rd_atomic > 1u << c->log_max_ra_res_qp)
		return uv_no(-EINVAL, "max_rd_atomic is beyond the device's limit");
	if (m->mask & IBV_QP_MAX_DEST_RD_ATOMIC &&
	    a->max_dest_rd_atomic > 1u << c->log_max_ra_req_qp)
		return uv_no(-EINVAL, "max_dest_rd_atomic is beyond the device's limit");
	return 0;
}

static int qp_modify_request_get(const struct uv_udata *u, uint32_t *ece)
{
	struct mlx5_ib_modify_qp cmd = {0};
	const uint8_t *in = u->in;

	if (!u->inlen)
		return 0;
	if (u->inlen < offsetof(struct mlx5_ib_modify_qp, ece_options) + sizeof(cmd.ece_options))
		return uv_no(-EINVAL, "the driver's data is too short");
	for (size_t i = sizeof(cmd); i < u->inlen; i++)
		if (in[i])
			return uv_no(-EOPNOTSUPP, "unknown bytes of the driver's data are not 0");
	memcpy(&cmd, u->in, MIN(u->inlen, sizeof(cmd)));
	*ece = cmd.ece_options;
	return cmd.comp_mask || cmd.burst_info.reserved
		       ? uv_no(-EOPNOTSUPP, "comp_mask and reserved are 0")
		       : 0;
}

/*
 * The commands that have ECE options, as in modify_qp_mbox_alloc() and get_ece_from_mbox() of
 * mlx5's qpc.c.
 */
static bool has_ece(uint16_t op)
{
	return op != PRM_OP_SQERR2RTS_QP && op != PRM_OP_SQD_RTS_QP;
}

/*
 * All commands with a context have it, the number and the mask at the same place. *ece: in the
 * requested options, out those enabled.
 */
static int transition_cmd(struct uv_context *ctx, const struct transition *t, uint16_t uid,
			  uint32_t qpn, uint32_t opt, const uint8_t *qpc, uint32_t *ece)
{
	uint8_t in[LAYOUT_SZ(rst2init_qp_in)] = {0}, out[LAYOUT_SZ(rst2init_qp_out)];
	uint32_t asked = *ece;
	int r;

	*ece = 0;

	if (t->op == PRM_OP_2RST_QP || t->op == PRM_OP_2ERR_QP)
		return mlx5_exec_id_as(ctx, uid, t->op, qpn);
	LAYOUT_SET(rst2init_qp_in, in, qpn, qpn);
	LAYOUT_SET(rst2init_qp_in, in, opt_param_mask, opt);
	memcpy(LAYOUT_IN(rst2init_qp_in, qpc, in), qpc, LAYOUT_SZ(qpc));
	if (has_ece(t->op))
		LAYOUT_SET(rst2init_qp_in, in, ece, asked);
	r = mlx5_exec_as(ctx, uid, t->op, NULL, in, sizeof(in), out, sizeof(out));
	if (r == 0 && has_ece(t->op))
		*ece = LAYOUT_GET32(rst2init_qp_out, out, ece);
	return r;
}

int mlx5_modify_qp(struct uv_qp *qp, const struct uv_qp_modify *m, struct uv_udata *u)
{
	struct mlx5_ib_modify_qp_resp resp = {.response_length = sizeof(resp)};
	struct uv_context *ctx = uv_obj_context(&qp->obj);
	int cur = state_to_prm(m->cur_state), new = state_to_prm(m->new_state), r;
	uint8_t qpc[LAYOUT_SZ(qpc)] = {0};
	struct mlx5_qp *q = qp->obj.drv;
	const struct transition *t;

	r = qp_modify_request_get(u, &resp.ece_options);
	if (r == 0 && q->is_dct)
		return mlx5_modify_dct(qp, m, resp.ece_options, u);
	if (r == 0 && qp->qp_type == IBV_QPT_DRIVER)
		r = mlx5_dci_modify_ok(m) ? 0 : uv_no(-EINVAL, "a DCI has no such transition");
	else if (r == 0)
		r = uv_modify_qp_check(qp, m);
	if (r == 0)
		r = attr_check(ctx, m);
	if (r < 0)
		return r;
	if (cur < 0 || new < 0)
		return uv_no(-EINVAL, "no such state");
	if (cur == PRM_QP_STATE_RST && new == PRM_QP_STATE_RST)
		return 0;
	t = &transitions[cur][new];
	if (!t->op)
		return uv_no(-EINVAL, "no such transition");
	r = qp_modify_qpc_fill(qpc, qp, m);
	if (r == 0)
		r = transition_cmd(ctx, t, mlx5_qp_uid(ctx, qp), qp->qpn, opt_of(t, qp, m->mask),
				   qpc, &resp.ece_options);
	if (r < 0)
		return r;
	if (m->mask & IBV_QP_ACCESS_FLAGS)
		q->access_flags = m->attr.qp_access_flags;
	if (m->mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		q->resp_depth = m->attr.max_dest_rd_atomic;
	/* -EFAULT: the QP has changed its state; the program is expected to destroy it */
	return u->outlen >= sizeof(resp) ? uv_udata_out(u, &resp, sizeof(resp)) : 0;
}

/* For the words of the QP's end (cause_ended()). */
void mlx5_qp_refused(const struct uv_qp *qp)
{
	struct hw_qp *hw = hw_qp(uv_obj_context(&qp->obj)->seg, qp->qpn);

	if (hw)
		atomic_store(&hw->modify_refused, 1);
}
