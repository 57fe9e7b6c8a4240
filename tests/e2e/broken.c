/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Objects and adapters that rules of --inject break, as a program sees it: two QPs that are
 * connected to each other, each with a CQ. Asks for a QP's state, which rules take as their event,
 * and tells what comes.
 *
 *   broken qp       the second QP's event and flushes, its state, and what the first one gets
 *   broken cq       sends until a CQ fails
 *   broken srq      the second QP receives from an SRQ
 *   broken wq       a work queue
 *   broken device   what calls say when the adapter has failed, or gone
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "rc.h"

#define RECEIVES 4

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq[2];
static struct ibv_qp *qp[2];
static struct ibv_srq *srq;
static struct ibv_wq *wq;
static struct ibv_mr *mr;
static char mem[64];

static void make(bool with_srq)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	MUST(list && list[0]);
	MUST(ctx = ibv_open_device(list[0]));
	ibv_free_device_list(list);
	MUST(pd = ibv_alloc_pd(ctx));
	MUST(mr = ibv_reg_mr(pd, mem, sizeof(mem), IBV_ACCESS_LOCAL_WRITE));
	if (with_srq) {
		struct ibv_srq_init_attr a = {.attr = {.max_wr = 16, .max_sge = 1}};

		MUST(srq = ibv_create_srq(pd, &a));
	}
	for (int i = 0; i < 2; i++) {
		struct ibv_qp_init_attr a = {.qp_type = IBV_QPT_RC,
					     .sq_sig_all = 1,
					     .srq = i ? srq : NULL,
					     .cap = {16, srq && i ? 0 : 16, 1, 1, 0}};

		MUST(cq[i] = ibv_create_cq(ctx, 64, NULL, NULL, 0));
		a.send_cq = a.recv_cq = cq[i];
		MUST(qp[i] = ibv_create_qp(pd, &a));
		rc_init(qp[i], 0);
	}
	for (int i = 0; i < 2; i++)
		rc_connect(qp[i], qp[!i]->qp_num, rc_lid(ctx), IBV_MTU_1024);
}

static void receive(int i)
{
	struct ibv_sge sge = {(uintptr_t)mem, sizeof(mem), mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	if (srq && i)
		MUST(!ibv_post_srq_recv(srq, &wr, &bad));
	else
		MUST(!ibv_post_recv(qp[i], &wr, &bad));
}

static void send_from(int i)
{
	struct ibv_sge sge = {(uintptr_t)mem, sizeof(mem), mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;

	MUST(!ibv_post_send(qp[i], &wr, &bad));
}

static void tell_wc(int i)
{
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(cq[i], 1, &wc)))
		;
	MUST(n == 1);
	printf("cq %d: %s\n", i + 1, ibv_wc_status_str(wc.status));
}

static enum ibv_qp_state state_of(int i)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;

	MUST(!ibv_query_qp(qp[i], &a, IBV_QP_STATE, &init));
	return a.qp_state;
}

/* Waits for an event: its object's number among ours. */
static void tell_event(void)
{
	struct ibv_async_event ev;
	int n = 0;

	if (ibv_get_async_event(ctx, &ev)) {
		printf("events: %s\n", strerrorname_np(errno));
		return;
	}
	for (int i = 0; i < 2; i++)
		if (ev.element.qp == qp[i] || ev.element.cq == cq[i])
			n = i + 1;
	if (ev.element.wq && ev.element.wq == wq)
		n = 3;
	printf("event: %s %d\n", ibv_event_type_str(ev.event_type), n);
	ibv_ack_async_event(&ev);
}

static void break_qp(void)
{
	make(false);
	for (int i = 0; i < RECEIVES; i++)
		receive(1);
	state_of(1);
	tell_event();
	if (state_of(1) == IBV_QPS_ERR) {
		for (int i = 0; i < RECEIVES; i++)
			tell_wc(1);
		send_from(0);
	} else {
		send_from(0);
		tell_wc(1);
	}
	tell_wc(0);
}

static void break_cq(void)
{
	struct ibv_wc wc;

	make(false);
	for (int i = 0; i < 16; i++)
		receive(1);
	for (int i = 0; i < 5; i++)
		send_from(0);
	tell_event();
	tell_event();
	printf("state %d\n", state_of(0));
	for (int i = 0; i < 2; i++) {
		int n = 0;

		while (ibv_poll_cq(cq[i], 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS)
			n++;
		printf("cq %d: %d good\n", i + 1, n);
	}
}

static void break_srq(void)
{
	make(true);
	receive(1);
	state_of(1);
	tell_event();
	send_from(0);
	tell_wc(0);
	tell_event();
	printf("state %d\n", state_of(1));
}

static void break_wq(void)
{
	struct ibv_wq_init_attr a = {.wq_type = IBV_WQT_RQ, .max_wr = 16, .max_sge = 1};
	struct ibv_wq_attr to = {.attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY};

	make(false);
	a.pd = pd;
	a.cq = cq[0];
	MUST(wq = ibv_create_wq(ctx, &a));
	MUST(!ibv_modify_wq(wq, &to));
	state_of(1);
	tell_event();
	MUST(!ibv_destroy_wq(wq));
}

static const char *result(int r)
{
	return r ? strerrorname_np(errno) : "ok";
}

static void lose(bool unplugged)
{
	struct ibv_async_event e;
	struct ibv_qp_init_attr init;
	struct ibv_port_attr port;
	struct ibv_qp_attr a;
	struct ibv_pd *other;

	make(false);
	receive(1);
	ibv_query_qp(qp[1], &a, IBV_QP_STATE, &init); /* it may be too late for it */
	tell_event();
	/* Its files die after the event: reading ends with EIO. */
	while (unplugged && !ibv_get_async_event(ctx, &e))
		ibv_ack_async_event(&e);
	errno = 0;
	other = ibv_alloc_pd(ctx);
	printf("alloc_pd: %s\n", result(!other));
	send_from(0); /* goes nowhere */
	errno = 0;
	printf("query_port: %s\n", result(ibv_query_port(ctx, 1, &port)));
	for (int i = 0; i < 2; i++) {
		struct ibv_wc wc;

		if (ibv_poll_cq(cq[i], 1, &wc))
			printf("cq %d: %s\n", i + 1, ibv_wc_status_str(wc.status));
		MUST(!ibv_destroy_qp(qp[i]));
		MUST(!ibv_destroy_cq(cq[i]));
	}
	MUST(!ibv_dereg_mr(mr));
	MUST(!ibv_dealloc_pd(pd));
}

static void break_device(void)
{
	lose(false);
}

static void unplug_device(void)
{
	lose(true);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} all[] = {{"qp", break_qp}, {"cq", break_cq},         {"srq", break_srq},
		   {"wq", break_wq}, {"device", break_device}, {"unplug", unplug_device}};

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (argc == 2 && !strcmp(argv[1], all[i].name)) {
			all[i].run();
			MUST(!ibv_close_device(ctx));
			return 0;
		}
	return 2;
}
