/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Implements ends.h. */
#include "ends.h"

#include <errno.h>
#include <endian.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/mlx5dv.h>

extern char **environ;

const char *const transport_names[T_COUNT] = {"rc", "uc", "ud", "xrc", "dc", "srq"};

double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

double stress_seconds(double quick)
{
	const char *s = getenv("SOFTHCA_STRESS_SECONDS");

	return s && *s ? atof(s) : quick;
}

bool readable(int fd, int ms)
{
	struct pollfd p = {fd, POLLIN, 0};

	return poll(&p, 1, ms) == 1 && (p.revents & POLLIN);
}

void end_open(struct end *e, enum transport t, int depth)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	memset(e, 0, sizeof(*e));
	e->t = t;
	e->depth = depth;
	NEED(list && list[0]);
	NEED(e->ctx = ibv_open_device(list[0]));
	NEED(!ibv_query_port(e->ctx, 1, &e->port));
	NEED(e->pd = ibv_alloc_pd(e->ctx));
	NEED(e->mem = calloc(1, 65536));
	NEED(e->mr = ibv_reg_mr(e->pd, e->mem, 65536,
				IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
	NEED(e->ch = ibv_create_comp_channel(e->ctx));
	NEED(e->cq = ibv_create_cq(e->ctx, 4 * depth, NULL, e->ch, 0));
}

static void make_srq(struct end *e)
{
	struct ibv_srq_init_attr_ex a = {.attr = {.max_wr = (uint32_t)e->depth, .max_sge = 1},
					 .comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
					 .srq_type = IBV_SRQT_BASIC,
					 .pd = e->pd};

	if (e->t == T_XRC) {
		struct ibv_xrcd_init_attr x = {.comp_mask = IBV_XRCD_INIT_ATTR_FD |
							    IBV_XRCD_INIT_ATTR_OFLAGS,
					       .fd = -1,
					       .oflags = O_CREAT};

		NEED(e->xrcd = ibv_open_xrcd(e->ctx, &x));
		a.srq_type = IBV_SRQT_XRC;
		a.comp_mask |= IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
		a.xrcd = e->xrcd;
		a.cq = e->cq;
	}
	NEED(e->srq = ibv_create_srq_ex(e->ctx, &a));
}

static void make_qp(struct end *e, bool receiver)
{
	static const enum ibv_qp_type types[T_COUNT] = {
		[T_RC] = IBV_QPT_RC,        [T_UC] = IBV_QPT_UC,     [T_UD] = IBV_QPT_UD,
		[T_XRC] = IBV_QPT_XRC_SEND, [T_DC] = IBV_QPT_DRIVER, [T_SRQ] = IBV_QPT_RC};
	struct mlx5dv_qp_init_attr dv = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
		.dc_init_attr = {.dc_type = receiver ? MLX5DV_DCTYPE_DCT : MLX5DV_DCTYPE_DCI,
				 .dct_access_key = DC_KEY}};
	struct ibv_qp_init_attr_ex a = {.qp_type = types[e->t],
					.send_cq = e->cq,
					.recv_cq = e->cq,
					.comp_mask = IBV_QP_INIT_ATTR_PD,
					.pd = e->pd,
					.cap = {.max_send_wr = 256,
						.max_recv_wr = (uint32_t)e->depth,
						.max_send_sge = 1,
						.max_recv_sge = 1}};

	if (receiver && e->t == T_XRC) {
		a = (struct ibv_qp_init_attr_ex){.qp_type = IBV_QPT_XRC_RECV,
						 .comp_mask = IBV_QP_INIT_ATTR_XRCD,
						 .xrcd = e->xrcd};
	} else if (e->srq) {
		a.srq = e->srq;
		a.cap.max_recv_wr = 0;
	}
	if (e->t == T_XRC && !receiver)
		a.cap.max_recv_wr = a.cap.max_recv_sge = 0;
	if (e->t == T_DC) {
		if (receiver)
			a.cap = (struct ibv_qp_cap){0};
		else
			a.cap.max_recv_wr = a.cap.max_recv_sge = 0;
		if (!receiver) {
			a.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
			a.send_ops_flags = IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_WRITE;
		}
		NEED(e->qp = mlx5dv_create_qp(e->ctx, &a, &dv));
	} else {
		NEED(e->qp = ibv_create_qp_ex(e->ctx, &a));
	}
}

/* INIT, RTR and, for a sender, RTS. `peer` may be NULL, except for connections. */
static void to_rtr(struct end *e, const struct addr *peer, bool receiver)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT,
				.port_num = 1,
				.qkey = QKEY,
				.qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
	int m = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	bool dc = e->t == T_DC;

	NEED(!ibv_modify_qp(e->qp, &a,
			    m | (e->t == T_UD      ? IBV_QP_QKEY
				 : dc && !receiver ? 0
						   : IBV_QP_ACCESS_FLAGS)));
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				 .path_mtu = IBV_MTU_1024,
				 .dest_qp_num = peer ? peer->qpn : 0,
				 .min_rnr_timer = 1,
				 .max_dest_rd_atomic = 1,
				 .ah_attr = {.dlid = peer ? peer->lid : 0, .port_num = 1}};
	m = IBV_QP_STATE;
	if (dc)
		m |= IBV_QP_PATH_MTU | IBV_QP_AV | (receiver ? IBV_QP_MIN_RNR_TIMER : 0);
	else if (e->t != T_UD)
		m |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (e->t == T_RC || e->t == T_SRQ || (e->t == T_XRC && receiver))
		m |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	NEED(!ibv_modify_qp(e->qp, &a, m));
	if (receiver)
		return;
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				 .timeout = 12,
				 .retry_cnt = 7,
				 .rnr_retry = 7,
				 .max_rd_atomic = 1};
	m = IBV_QP_STATE | IBV_QP_SQ_PSN;
	if (e->t == T_RC || e->t == T_SRQ || e->t == T_XRC || dc)
		m |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	NEED(!ibv_modify_qp(e->qp, &a, m));
}

static bool shared_qp(const struct end *e)
{
	return e->t == T_UD || e->t == T_DC;
}

struct addr receiver_new_qp(struct end *e)
{
	struct addr me = {.lid = e->port.lid, .rkey = e->mr->rkey, .va = (uintptr_t)e->mem};

	if (!e->srq && (e->t == T_XRC || e->t == T_DC || e->t == T_SRQ)) {
		make_srq(e);
		for (int i = 0; i < e->depth; i++)
			receiver_post(e);
	}
	if (!e->qp) {
		make_qp(e, true);
		if (shared_qp(e))
			to_rtr(e, NULL, true);
		for (int i = 0; e->t == T_UD && i < e->depth; i++)
			receiver_post(e);
	}
	me.qpn = e->qp->qp_num;
	if (e->t == T_XRC)
		NEED(!ibv_get_srq_num(e->srq, &me.srqn));
	return me;
}

void receiver_connect(struct end *e, const struct addr *peer)
{
	if (shared_qp(e))
		return;
	to_rtr(e, peer, true);
	for (int i = 0; !e->srq && i < e->depth; i++)
		receiver_post(e);
}

void receiver_drop_qp(struct end *e)
{
	if (shared_qp(e))
		return;
	NEED(!ibv_destroy_qp(e->qp));
	e->qp = NULL;
}

void receiver_post(struct end *e)
{
	struct ibv_sge sge = {(uintptr_t)e->mem, MSG_BYTES + GRH_BYTES, e->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = (uintptr_t)e->qp, .sg_list = &sge, .num_sge = 1}, *bad;

	if (e->srq)
		NEED(!ibv_post_srq_recv(e->srq, &wr, &bad));
	else if (e->qp)
		NEED(!ibv_post_recv(e->qp, &wr, &bad));
}

pid_t sender_start(const char *prog, enum transport t, const char *mode, int *sock)
{
	char *argv[] = {(char *)prog, (char *)transport_names[t], (char *)mode, "sender", NULL};
	posix_spawn_file_actions_t fa;
	pid_t pid;
	int sv[2];

	NEED(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv));
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, sv[1], 3);
	NEED(!posix_spawn(&pid, "/proc/self/exe", &fa, NULL, argv, environ));
	posix_spawn_file_actions_destroy(&fa);
	close(sv[1]);
	*sock = sv[0];
	return pid;
}

void sender_begin(struct end *e, enum transport t)
{
	struct ibv_ah_attr ah = {.port_num = 1};
	struct addr me = {0};

	end_open(e, t, 256);
	make_qp(e, false);
	me = (struct addr){.qpn = e->qp->qp_num, .lid = e->port.lid};
	NEED(write(3, &me, sizeof(me)) == sizeof(me));
	NEED(read(3, &e->peer, sizeof(e->peer)) == sizeof(e->peer));
	to_rtr(e, &e->peer, false);
	ah.dlid = e->peer.lid;
	if (shared_qp(e))
		NEED(e->ah = ibv_create_ah(e->pd, &ah));
	NEED(write(3, "r", 1) == 1);
}

static int post_dc(struct end *e, bool signaled)
{
	struct ibv_qp_ex *q = ibv_qp_to_qp_ex(e->qp);

	ibv_wr_start(q);
	q->wr_flags = signaled ? IBV_SEND_SIGNALED : 0;
	ibv_wr_send_imm(q, htobe32(e->sent++));
	mlx5dv_wr_set_dc_addr(mlx5dv_qp_ex_from_ibv_qp_ex(q), e->ah, e->peer.qpn, DC_KEY);
	ibv_wr_set_sge(q, e->mr->lkey, (uintptr_t)e->mem, MSG_BYTES);
	return ibv_wr_complete(q);
}

int sender_post(struct end *e, bool signaled)
{
	struct ibv_sge sge = {(uintptr_t)e->mem, MSG_BYTES, e->mr->lkey};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND_WITH_IMM,
				 .send_flags = signaled ? IBV_SEND_SIGNALED : 0,
				 .sg_list = &sge,
				 .num_sge = 1},
			   *bad;

	if (e->t == T_DC)
		return post_dc(e, signaled);
	wr.imm_data = htobe32(e->sent++);
	if (e->t == T_UD) {
		wr.wr.ud.ah = e->ah;
		wr.wr.ud.remote_qpn = e->peer.qpn;
		wr.wr.ud.remote_qkey = QKEY;
	}
	if (e->t == T_XRC)
		wr.qp_type.xrc.remote_srqn = e->peer.srqn;
	return ibv_post_send(e->qp, &wr, &bad);
}
