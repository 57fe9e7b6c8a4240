/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Making, changing and destroying the objects of a program. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "exec.h"

int make_pd(struct words *w)
{
	NEED(o.pd[nr(w, "p")] = ibv_alloc_pd(o.ctx));
	return 0;
}

int make_mr(struct words *w)
{
	struct mr *m = &o.mr[nr(w, "m")];

	m->mr = ibv_reg_mr(o.pd[nr(w, "p")], o.arena + num(w, "off", 0), num(w, "len", 0),
			   rights(word(w, "acc")));
	if (!m->mr)
		return errno;
	m->key = m->mr->lkey;
	NEED(m->mr->rkey == m->key);
	return 0;
}

int rereg(struct words *w)
{
	struct mr *m = &o.mr[nr(w, "m")];
	bool pages = word(w, "off"), access = word(w, "acc"), pd = word(w, "p");
	int err = ibv_rereg_mr(
		m->mr,
		(pages ? IBV_REREG_MR_CHANGE_TRANSLATION : 0) | (pd ? IBV_REREG_MR_CHANGE_PD : 0) |
			(access ? IBV_REREG_MR_CHANGE_ACCESS : 0),
		pd ? o.pd[nr(w, "p")] : NULL, pages ? o.arena + num(w, "off", 0) : NULL,
		num(w, "len", 0), access ? (int)rights(word(w, "acc")) : 0);

	m->key = m->mr->lkey;
	NEED(m->mr->rkey == m->key);
	return err;
}

int make_mw(struct words *w)
{
	struct mw *m = &o.mw[nr(w, "w")];

	NEED(m->mw = ibv_alloc_mw(o.pd[nr(w, "p")],
				  num(w, "type", 1) == 1 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2));
	m->key = m->first = m->mw->rkey;
	return 0;
}

int make_cq(struct words *w)
{
	NEED(o.cq[nr(w, "c")] = ibv_create_cq(o.ctx, 8 * DEPTH, NULL, o.channel, 0));
	return 0;
}

int make_xrcd(struct words *w)
{
	struct ibv_xrcd_init_attr at = {.comp_mask =
						IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
					.fd = -1,
					.oflags = O_CREAT};

	NEED(o.xrcd[nr(w, "x")] = ibv_open_xrcd(o.ctx, &at));
	return 0;
}

int make_srq(struct words *w)
{
	struct ibv_srq_init_attr_ex at = {.attr = {.max_wr = DEPTH, .max_sge = MAX_SGES},
					  .comp_mask =
						  IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
					  .srq_type = IBV_SRQT_BASIC,
					  .pd = o.pd[nr(w, "p")]};

	if (word(w, "x")) {
		at.srq_type = IBV_SRQT_XRC;
		at.comp_mask |= IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
		at.xrcd = o.xrcd[nr(w, "x")];
		at.cq = o.cq[nr(w, "c")];
	}
	NEED(o.srq[nr(w, "s")] = ibv_create_srq_ex(o.ctx, &at));
	return 0;
}

#define OPS_UD (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)
#define OPS_DC                                                               \
	(OPS_UD | IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_RDMA_WRITE | \
	 IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |     \
	 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
#define OPS_RC (OPS_DC | IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV)
#define OPS_UC                                                                     \
	(OPS_UD | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | \
	 IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV)

static const struct {
	const char *name;
	enum ibv_qp_type type;
	uint64_t ops;
} types[] = {
	{"RC", IBV_QPT_RC, OPS_RC},  {"UC", IBV_QPT_UC, OPS_UC},
	{"UD", IBV_QPT_UD, OPS_UD},  {"XI", IBV_QPT_XRC_SEND, OPS_RC},
	{"XT", IBV_QPT_XRC_RECV, 0}, {"DCI", IBV_QPT_DRIVER, OPS_DC},
	{"DCT", IBV_QPT_DRIVER, 0},
};

static void make_driver_qp(struct qp *q, struct ibv_qp_init_attr_ex *at)
{
	struct mlx5dv_qp_init_attr dv = {.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC};

	dv.dc_init_attr.dc_type = strcmp(q->type, "DCT") ? MLX5DV_DCTYPE_DCI : MLX5DV_DCTYPE_DCT;
	if (!strcmp(q->type, "DCT"))
		dv.dc_init_attr.dct_access_key = q->dc_key;
	NEED(q->qp = mlx5dv_create_qp(o.ctx, at, &dv));
}

static union ibv_gid group_gid(int group)
{
	return (union ibv_gid){.raw = {0xff, 0x12, [15] = (uint8_t)group}};
}

static uint16_t group_lid(int group)
{
	return (uint16_t)(0xc001 + group);
}

static void make_ahs(struct qp *q, struct ibv_pd *pd)
{
	struct ibv_ah_attr at = {
		.dlid = o.port.lid,
		.port_num = 1,
		.grh = {.dgid = o.gid,
			.hop_limit = 5,
			.traffic_class = 0x12,
			.flow_label = 0x34567},
	};

	if (!pd)
		return;
	NEED(q->ah = ibv_create_ah(pd, &at));
	at.is_global = 1;
	NEED(q->grh_ah = ibv_create_ah(pd, &at));
	for (int i = 0; i < GROUPS; i++) {
		at.dlid = group_lid(i);
		at.grh.dgid = group_gid(i);
		NEED(q->group_ah[i] = ibv_create_ah(pd, &at));
	}
}

int make_qp(struct words *w)
{
	struct qp *q = &o.qp[nr(w, "q")];
	struct ibv_qp_init_attr_ex at = {.sq_sig_all = (int)num(w, "all", 0)};
	size_t t = 0;

	snprintf(q->type, sizeof(q->type), "%s", word(w, "type"));
	while (strcmp(types[t].name, q->type))
		t++;
	at.qp_type = types[t].type;
	q->dc_key = num(w, "key", 0);
	q->ex = num(w, "ex", 0) || !strcmp(q->type, "DCI");
	at.send_cq = o.cq[nr(w, "c")];
	at.recv_cq = word(w, "d") ? o.cq[nr(w, "d")] : at.send_cq;
	at.srq = word(w, "s") ? o.srq[nr(w, "s")] : NULL;
	if (at.qp_type == IBV_QPT_XRC_RECV) {
		at.comp_mask = IBV_QP_INIT_ATTR_XRCD;
		at.xrcd = o.xrcd[nr(w, "x")];
		at.send_cq = at.recv_cq = NULL;
	} else {
		at.comp_mask = IBV_QP_INIT_ATTR_PD;
		at.pd = o.pd[nr(w, "p")];
		at.cap = (struct ibv_qp_cap){
			.max_send_wr = DEPTH, .max_send_sge = MAX_SGES, .max_inline_data = 128};
		if (!at.srq && at.qp_type != IBV_QPT_XRC_SEND && at.qp_type != IBV_QPT_DRIVER)
			at.cap.max_recv_wr = DEPTH, at.cap.max_recv_sge = MAX_SGES;
	}
	if (q->ex) {
		at.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		at.send_ops_flags = types[t].ops;
	}
	if (num(w, "nolb", 0)) {
		at.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
		at.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
	}
	if (!strcmp(q->type, "DCT"))
		at.cap = (struct ibv_qp_cap){0};
	if (at.qp_type == IBV_QPT_DRIVER)
		make_driver_qp(q, &at);
	else
		NEED(q->qp = ibv_create_qp_ex(o.ctx, &at));
	make_ahs(q, at.pd);
	return 0;
}

/* The attributes that this type and transition demand: man ibv_modify_qp, mlx5dv_create_qp. */
static int mask_of(const struct qp *q, const struct words *w, enum ibv_qp_state to)
{
	bool ud = !strcmp(q->type, "UD"), uc = !strcmp(q->type, "UC");
	bool dct = !strcmp(q->type, "DCT"), dci = !strcmp(q->type, "DCI");

	if (to == IBV_QPS_INIT)
		return IBV_QP_PKEY_INDEX | IBV_QP_PORT |
		       (ud    ? IBV_QP_QKEY
			: dci ? 0
			      : IBV_QP_ACCESS_FLAGS);
	if (to == IBV_QPS_RTR && ud)
		return 0;
	if (to == IBV_QPS_RTR && dct)
		return IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_MIN_RNR_TIMER;
	if (to == IBV_QPS_RTR && dci)
		return IBV_QP_PATH_MTU | IBV_QP_AV;
	if (to == IBV_QPS_RTR)
		return IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		       (uc ? 0 : IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	if (to != IBV_QPS_RTS)
		return 0;
	if (!word(w, "sq_psn"))
		return word(w, "acc") ? IBV_QP_ACCESS_FLAGS : 0;
	if (ud || uc)
		return IBV_QP_SQ_PSN;
	if (!strcmp(q->type, "XT"))
		return IBV_QP_SQ_PSN | IBV_QP_TIMEOUT;
	return IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
	       IBV_QP_MAX_QP_RD_ATOMIC;
}

int modify(struct words *w)
{
	static const char *const names[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
	struct qp *q = &o.qp[nr(w, "q")];
	int dest = nr(w, "dest"), to = 0;
	struct ibv_qp_attr at = {
		.port_num = 1,
		.qkey = (uint32_t)num(w, "qkey", 0),
		.qp_access_flags = rights(word(w, "acc")),
		.ah_attr = {.dlid = o.port.lid, .port_num = 1},
		.rq_psn = (uint32_t)num(w, "rq_psn", 0),
		.sq_psn = (uint32_t)num(w, "sq_psn", 0),
		.max_dest_rd_atomic = (uint8_t)num(w, "reads", 0),
		.max_rd_atomic = 4,
		.min_rnr_timer = 1,
		.timeout = 8,
		.retry_cnt = (uint8_t)num(w, "retry", 0),
		.rnr_retry = (uint8_t)num(w, "rnr", 0),
		.dest_qp_num = dest >= 0 && o.qp[dest].qp ? o.qp[dest].qp->qp_num : 0,
	};

	for (uint64_t mtu = num(w, "mtu", 4096); mtu >= 256; mtu /= 2)
		at.path_mtu++;
	while (strcmp(names[to], word(w, "to")))
		to++;
	at.qp_state = (enum ibv_qp_state)to;
	return ibv_modify_qp(q->qp, &at, IBV_QP_STATE | mask_of(q, w, at.qp_state));
}

int dereg(struct words *w)
{
	struct mr *m = &o.mr[nr(w, "m")];
	int err = ibv_dereg_mr(m->mr);

	m->mr = NULL;
	return err;
}

int dealloc(struct words *w)
{
	struct mw *m = &o.mw[nr(w, "w")];
	int err = ibv_dealloc_mw(m->mw);

	m->mw = NULL;
	return err;
}

static int end_qp(struct qp *q)
{
	int err = ibv_destroy_qp(q->qp);

	if (err)
		return err;
	NEED(!q->ah || (!ibv_destroy_ah(q->ah) && !ibv_destroy_ah(q->grh_ah)));
	for (int i = 0; q->ah && i < GROUPS; i++)
		NEED(!ibv_destroy_ah(q->group_ah[i]));
	*q = (struct qp){0};
	return err;
}

int attach(struct words *w)
{
	struct qp *q = &o.qp[nr(w, "q")];
	int g = nr(w, "g"), err;
	union ibv_gid gid = group_gid(g);

	err = ibv_attach_mcast(q->qp, &gid, group_lid(g));
	if (!err)
		q->groups |= 1u << g;
	return err;
}

static int leave(struct qp *q, int g)
{
	union ibv_gid gid = group_gid(g);

	q->groups &= ~(1u << g);
	return ibv_detach_mcast(q->qp, &gid, group_lid(g));
}

int detach(struct words *w)
{
	return leave(&o.qp[nr(w, "q")], nr(w, "g"));
}

int destroy(struct words *w)
{
	return end_qp(&o.qp[nr(w, "q")]);
}

void destroy_all(void)
{
	for (int i = 0; i < MAX_OBJS; i++) {
		for (int g = 0; g < GROUPS; g++)
			NEED(!(o.qp[i].groups >> g & 1) || !leave(&o.qp[i], g));
		NEED(!o.qp[i].qp || !end_qp(&o.qp[i]));
	}
	for (int i = 0; i < MAX_OBJS; i++) {
		NEED(!o.srq[i] || !ibv_destroy_srq(o.srq[i]));
		NEED(!o.mw[i].mw || !ibv_dealloc_mw(o.mw[i].mw));
		NEED(!o.mr[i].mr || !ibv_dereg_mr(o.mr[i].mr));
	}
	for (int i = 0; i < MAX_OBJS; i++) {
		NEED(!o.xrcd[i] || !ibv_close_xrcd(o.xrcd[i]));
		NEED(!o.cq[i] || !ibv_destroy_cq(o.cq[i]));
		NEED(!o.pd[i] || !ibv_dealloc_pd(o.pd[i]));
		o.srq[i] = NULL;
		o.xrcd[i] = NULL;
		o.cq[i] = NULL;
		o.pd[i] = NULL;
		o.mw[i] = (struct mw){0};
		o.mr[i] = (struct mr){0};
	}
}
