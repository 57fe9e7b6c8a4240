/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibv_modify_cq() delays completion events: none comes sooner than the period after the one before,
 * unless the count is reached, and none is lost, though nobody rings after the completion.
 */
#include <stdint.h>
#include <time.h>
#include <infiniband/verbs.h>

#include "must.h"

#define PERIOD_US 4095

static struct ibv_comp_channel *chan;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static uint8_t memory[64];

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void make_qp(struct ibv_context *ctx)
{
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC,
					.send_cq = cq,
					.recv_cq = cq,
					.sq_sig_all = 1,
					.cap = {.max_send_wr = 64, .max_send_sge = 1}};
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT,
				.port_num = 1,
				.qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
	struct ibv_port_attr port;

	MUST(pd);
	mr = ibv_reg_mr(pd, memory, sizeof(memory),
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	qp = ibv_create_qp(pd, &init);
	need(mr && qp && !ibv_query_port(ctx, 1, &port), "QP");
	need(!ibv_modify_qp(qp, &a,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
	     "INIT");
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				 .path_mtu = IBV_MTU_1024,
				 .dest_qp_num = qp->qp_num,
				 .ah_attr = {.dlid = port.lid, .port_num = 1}};
	need(!ibv_modify_qp(qp, &a,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER),
	     "RTR");
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7};
	need(!ibv_modify_qp(qp, &a,
			    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				    IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
	     "RTS");
}

static void post(int n)
{
	struct ibv_sge sge = {(uintptr_t)memory, 8, mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .wr.rdma = {(uintptr_t)memory + 8, mr->rkey}},
			   *bad;

	while (n--)
		MUST(!ibv_post_send(qp, &wr, &bad));
}

/* Waits for the event of an armed CQ, and polls what has come. */
static int event(void)
{
	struct ibv_cq *which;
	struct ibv_wc wc;
	void *context;
	int n = 0;

	MUST(!ibv_get_cq_event(chan, &which, &context));
	ibv_ack_cq_events(which, 1);
	while (ibv_poll_cq(cq, 1, &wc) == 1) {
		MUST(wc.status == IBV_WC_SUCCESS);
		n++;
	}
	return n;
}

static int moderate(uint16_t count, uint16_t period)
{
	struct ibv_modify_cq_attr a = {.attr_mask = IBV_CQ_ATTR_MODERATE,
				       .moderate = {.cq_count = count, .cq_period = period}};

	return ibv_modify_cq(cq, &a);
}

/* Completes `n` operations, by one event or several. */
static void complete(int n)
{
	int got = 0;

	MUST(!ibv_req_notify_cq(cq, 0));
	post(n);
	while ((got += event()) < n)
		MUST(!ibv_req_notify_cq(cq, 0));
}

/* Nothing but the timer raises the second event; a slow machine only makes it later. */
static void comes_a_period_later(void)
{
	MUST(!moderate(1000, PERIOD_US));
	for (int i = 0; i < 20; i++) {
		uint64_t before = now_us();

		complete(1);
		complete(2);
		MUST(now_us() - before >= PERIOD_US);
	}
}

/* With enough completions, or without moderation, there is always an event. */
static void comes_by_count(uint16_t count, uint16_t period)
{
	MUST(!moderate(count, period));
	for (int i = 0; i < 200; i++)
		complete(count ? count : 1);
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = list && list[0] ? ibv_open_device(list[0]) : NULL;

	need(!!ctx, "opening the first device");
	chan = ibv_create_comp_channel(ctx);
	cq = ibv_create_cq(ctx, 63, NULL, chan, 0);
	need(chan && cq, "CQ");
	make_qp(ctx);
	MUST(moderate(1, PERIOD_US + 1) == EINVAL);
	comes_a_period_later();
	comes_by_count(8, PERIOD_US);
	comes_by_count(1, PERIOD_US);
	comes_by_count(0, PERIOD_US);
	comes_by_count(8, 0);
	comes_by_count(0, 0);
	return 0;
}
