/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs that do something wrong with the two ends of tests/world/ends.h. Each is built twice,
 * the second time with RIGHT, which mends it. The line with the comment HERE is in the report.
 */
#ifndef TESTS_CHECK_TWO_H
#define TESTS_CHECK_TWO_H

#include "../world/ends.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>

#define QKEY 0x11111111u

static struct ends e;
static struct ibv_ah *ah; /* of datagrams */

/* What an end is made of; programs change it between prepare() and begin(). */
struct side {
	struct end *end;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr rtr, rts;
	unsigned int access;
	uint32_t cqe;
};
static struct side a_side = {.end = &e.a}, b_side = {.end = &e.b};

static inline void prepare(void)
{
	ends_open(&e);
	for (int i = 0; i < 2; i++) {
		struct side *s = i ? &b_side : &a_side;

		s->end->gid_index = ends_good_gid(&e);
		s->cqe = 16;
		s->access =
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
		s->init = (struct ibv_qp_init_attr){
			.qp_type = IBV_QPT_RC, .cap = {8, 8, 1, 1, 0}, .sq_sig_all = 1};
		s->rtr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
					      .path_mtu = e.mtu,
					      .max_dest_rd_atomic = 4,
					      .min_rnr_timer = 1};
		s->rts = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
					      .timeout = 12,
					      .retry_cnt = 2,
					      .rnr_retry = 2,
					      .max_rd_atomic = 4};
	}
}

static inline void create(struct side *s)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .pkey_index = (uint16_t)s->end->pkey_index,
				   .port_num = (uint8_t)s->end->num,
				   .qp_access_flags = s->access,
				   .qkey = QKEY};
	bool is_ud = s->init.qp_type == IBV_QPT_UD;
	struct end *t = s->end;

	if (!t->cq)
		t->cq = ibv_create_cq(e.context, (int)s->cqe, NULL, NULL, 0);
	s->init.send_cq = s->init.recv_cq = t->cq;
	t->qp = t->cq ? ibv_create_qp(e.pd, &s->init) : NULL;
	if (!t->qp || ibv_modify_qp(t->qp, &attr,
				    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					    (is_ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)))
		fails("a queue pair", 0);
	if (ibv_query_port(e.context, (uint8_t)t->num, &t->port))
		fails("ibv_query_port", 0);
	if (t->gid_index >= 0 && ibv_query_gid(e.context, (uint8_t)t->num, t->gid_index, &t->gid))
		fails("ibv_query_gid", 0);
}

/* Its address of the peer. */
static inline void aim(struct side *s, const struct end *peer)
{
	struct ibv_ah_attr *to = &s->rtr.ah_attr;

	to->dlid = peer->port.lid;
	to->port_num = (uint8_t)s->end->num;
	if (s->end->gid_index >= 0) {
		to->is_global = 1;
		to->grh.dgid = peer->gid;
		to->grh.sgid_index = (uint8_t)s->end->gid_index;
		to->grh.hop_limit = 64;
	}
}

static inline void to_rtr(struct side *s, const struct end *peer)
{
	bool is_rc = s->init.qp_type == IBV_QPT_RC;

	if (!s->rtr.dest_qp_num)
		s->rtr.dest_qp_num = peer->qp->qp_num;
	aim(s, peer);
	if (ibv_modify_qp(s->end->qp, &s->rtr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN |
				  (is_rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0)))
		fails("RTR", 0);
}

static inline __attribute__((always_inline)) void to_rts(struct side *s)
{
	bool is_rc = s->init.qp_type == IBV_QPT_RC;

	if (ibv_modify_qp(s->end->qp, &s->rts,
			  IBV_QP_STATE | IBV_QP_SQ_PSN |
				  (is_rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
						   IBV_QP_MAX_QP_RD_ATOMIC
					 : 0)))
		fails("RTS", 0);
}

static inline void connect_ends(void)
{
	create(&a_side);
	create(&b_side);
	to_rtr(&a_side, &e.b);
	to_rtr(&b_side, &e.a);
}

static inline void begin(void)
{
	if (!e.context)
		prepare();
	connect_ends();
	to_rts(&a_side);
	to_rts(&b_side);
}

/* a receives there. */
static inline void receive(void *to, uint32_t length, uint32_t lkey)
{
	struct ibv_sge sge = {(uintptr_t)to, length, lkey};
	struct ibv_recv_wr recv = {.sg_list = &sge, .num_sge = 1}, *bad;
	int r = ibv_post_recv(e.a.qp, &recv, &bad);

	if (r)
		fails("ibv_post_recv", r);
}

/* b's request, with completion. */
static inline __attribute__((always_inline)) void
post(enum ibv_wr_opcode op, void *of, uint32_t length, uint32_t lkey, const void *to, uint32_t rkey)
{
	struct ibv_sge sge = {(uintptr_t)of, length, lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = op}, *bad;
	int r;

	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)to;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = 1;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)to;
		wr.wr.rdma.rkey = rkey;
	}
	r = ibv_post_send(e.b.qp, &wr, &bad);
	if (r)
		fails("ibv_post_send", r);
}

/* Both ends have datagrams, and b has the address of a. */
static inline void begin_datagrams(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .qkey = QKEY};

	prepare();
	for (int i = 0; i < 2; i++) {
		struct side *s = i ? &b_side : &a_side;

		s->init.qp_type = IBV_QPT_UD;
		create(s);
		attr.qp_state = IBV_QPS_RTR;
		if (ibv_modify_qp(s->end->qp, &attr, IBV_QP_STATE))
			fails("RTR", 0);
		attr.qp_state = IBV_QPS_RTS;
		if (ibv_modify_qp(s->end->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN))
			fails("RTS", 0);
	}
	aim(&b_side, &e.a);
	ah = ibv_create_ah(e.pd, &b_side.rtr.ah_attr);
	if (!ah)
		fails("ibv_create_ah", 0);
}

/* b's datagram. */
static inline __attribute__((always_inline)) void post_datagram(void *of, uint32_t length,
								uint32_t qkey)
{
	struct ibv_sge sge = {(uintptr_t)of, length, e.mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;
	int r;

	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = e.a.qp->qp_num;
	wr.wr.ud.remote_qkey = qkey;
	r = ibv_post_send(e.b.qp, &wr, &bad);
	if (r)
		fails("ibv_post_send", r);
}

/* The status of the next completion, which may be an error. */
static inline enum ibv_wc_status done(struct end *t)
{
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(t->cq, 1, &wc)))
		;
	if (n < 0)
		fails("ibv_poll_cq", 0);
	return wc.status;
}

/* Reads the events of errors. */
static inline void read_events(void)
{
	struct ibv_async_event event;

	fcntl(e.context->async_fd, F_SETFL, O_NONBLOCK);
	while (!ibv_get_async_event(e.context, &event))
		ibv_ack_async_event(&event);
}

/* Destroys what is left. */
static inline void end_but_device(void)
{
	read_events();
	for (int i = 0; i < 2; i++) {
		struct end *t = i ? &e.b : &e.a;

		if (t->qp)
			ibv_destroy_qp(t->qp);
		if (t->cq)
			ibv_destroy_cq(t->cq);
	}
	if (ah)
		ibv_destroy_ah(ah);
	ibv_dereg_mr(e.mr);
	ibv_dealloc_pd(e.pd);
}

static inline int end(void)
{
	end_but_device();
	ibv_close_device(e.context);
	return 0;
}

#endif
