/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Automatic path migration through libibverbs: two adapters with two ports each, connected by their
 * first ports, with a path between the second ports as the alternate one.
 *
 *   apm lost     says "half" while messages go both ways, and ends some messages after both ends
 *                have migrated: the caller takes the first ports' link away
 *   apm asked    one end migrates by command, the other one with the first message after that;
 *                lists the QPs before and after
 *   apm devx     the same by a command of DEVX
 *   apm xrc      the same with an XRC initiator and its target
 */
#include <endian.h>
#include <fcntl.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "must.h"

#define WINDOW 8u
#define LEN 256u
#define SOME 500u

struct side {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct ibv_srq *srq; /* XRC */
	uint16_t lid[2];
	uint32_t sent, done, received, migrated;
	uint8_t mem[2 * WINDOW][LEN]; /* to be sent, received */
};

static void open_side(struct side *s, struct ibv_device *dev)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC};
	struct ibv_device_attr attr;
	struct ibv_port_attr port;

	MUST(s->ctx = ibv_open_device(dev));
	MUST(!ibv_query_device(s->ctx, &attr));
	MUST(attr.device_cap_flags & IBV_DEVICE_AUTO_PATH_MIG);
	MUST(attr.phys_port_cnt == 2);
	MUST(!fcntl(s->ctx->async_fd, F_SETFL, O_NONBLOCK));
	MUST(s->pd = ibv_alloc_pd(s->ctx));
	MUST(s->cq = ibv_create_cq(s->ctx, 64, NULL, NULL, 0));
	MUST(s->mr = ibv_reg_mr(s->pd, s->mem, sizeof(s->mem), IBV_ACCESS_LOCAL_WRITE));
	init.send_cq = init.recv_cq = s->cq;
	init.cap = (struct ibv_qp_cap){2 * WINDOW, 2 * WINDOW, 1, 1, 0};
	MUST(s->qp = ibv_create_qp(s->pd, &init));
	for (uint8_t i = 0; i < 2; i++) {
		MUST(!ibv_query_port(s->ctx, i + 1, &port));
		s->lid[i] = port.lid;
	}
}

static struct ibv_ah_attr path(const struct side *to, uint8_t port)
{
	return (struct ibv_ah_attr){.dlid = to->lid[port - 1], .port_num = port};
}

static void post_receive(struct side *s, uint32_t i)
{
	struct ibv_sge sge = {(uintptr_t)s->mem[WINDOW + i % WINDOW], LEN, s->mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	MUST(!ibv_post_recv(s->qp, &wr, &bad));
}

static void connect_side(struct side *s, const struct side *to)
{
	struct ibv_qp_attr at = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	int responder = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	int requester = IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;

	if (s->qp->qp_type == IBV_QPT_XRC_SEND)
		responder = 0;
	if (s->qp->qp_type == IBV_QPT_XRC_RECV)
		requester = 0;
	MUST(!ibv_modify_qp(s->qp, &at,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	at = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				  .path_mtu = IBV_MTU_1024,
				  .dest_qp_num = to->qp->qp_num,
				  .ah_attr = path(to, 1),
				  .alt_ah_attr = path(to, 2),
				  .alt_port_num = 2,
				  .alt_timeout = 9};
	MUST(!ibv_modify_qp(s->qp, &at,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				    IBV_QP_RQ_PSN | IBV_QP_ALT_PATH | responder));
	at = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				  .timeout = 8,
				  .retry_cnt = 2,
				  .rnr_retry = 7,
				  .path_mig_state = IBV_MIG_REARM};
	MUST(!ibv_modify_qp(s->qp, &at,
			    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_SQ_PSN | IBV_QP_PATH_MIG_STATE |
				    requester));
}

static struct ibv_qp_attr query(const struct side *s)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr at;

	MUST(!ibv_query_qp(s->qp, &at, IBV_QP_PATH_MIG_STATE | IBV_QP_AV | IBV_QP_ALT_PATH, &init));
	return at;
}

static void send_one(struct side *s)
{
	uint8_t *buf = s->mem[s->sent % WINDOW];
	struct ibv_sge sge = {(uintptr_t)buf, LEN, s->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	memcpy(buf, &s->sent, 4);
	memset(buf + 4, (int)(s->sent * 7), LEN - 4);
	s->sent++;
	MUST(!ibv_post_send(s->qp, &wr, &bad));
}

static void check_message(struct side *s)
{
	const uint8_t *buf = s->mem[WINDOW + s->received % WINDOW];

	MUST(!memcmp(buf, &s->received, 4));
	for (uint32_t i = 4; i < LEN; i++)
		MUST(buf[i] == (uint8_t)(s->received * 7));
	post_receive(s, s->received++);
}

static void poll_side(struct side *s)
{
	struct ibv_async_event ev;
	struct ibv_wc wc;

	while (ibv_poll_cq(s->cq, 1, &wc) == 1) {
		MUST(wc.status == IBV_WC_SUCCESS);
		if (wc.opcode == IBV_WC_RECV)
			check_message(s);
		else
			s->done++;
	}
	while (!ibv_get_async_event(s->ctx, &ev)) {
		MUST(ev.event_type != IBV_EVENT_PATH_MIG_ERR);
		if (ev.event_type == IBV_EVENT_PATH_MIG) {
			MUST(ev.element.qp == s->qp);
			s->migrated++;
		}
		ibv_ack_async_event(&ev);
	}
}

/* Both ends send, with at most half a window on the way, up to `until` messages each. */
static void talk(struct side s[2], uint32_t until)
{
	while (s[0].done < until || s[1].done < until || s[0].received < until ||
	       s[1].received < until)
		for (int i = 0; i < 2; i++) {
			if (s[i].sent < until && s[i].sent - s[!i].received < WINDOW / 2 &&
			    s[i].sent - s[i].done < WINDOW / 2)
				send_one(&s[i]);
			poll_side(&s[i]);
		}
}

/* RTS2RTS_QP with opt_param_mask 1 << 10 and qpc.pm_state 3, which is at bit 0x13. */
static void migrate_by_devx(struct side *s)
{
	uint32_t in[68] = {[0] = htobe32(0x505u << 16), [2] = htobe32(s->qp->qp_num)}, out[4];

	in[4] = htobe32(1u << 10);
	in[6] = htobe32(3u << 11);
	MUST(!mlx5dv_devx_qp_modify(s->qp, in, sizeof(in), out, sizeof(out)));
}

/* Prints the kernel's list of QPs (netlink). */
static void list(void)
{
	fflush(stdout);
	MUST(!system("rdma res show qp"));
}

static void migrate_by_command(struct side *s)
{
	struct ibv_qp_attr at = {.path_mig_state = IBV_MIG_MIGRATED};

	MUST(!ibv_modify_qp(s->qp, &at, IBV_QP_PATH_MIG_STATE));
	MUST(query(s).ah_attr.port_num == 2);
}

static void refused(struct side *s)
{
	struct ibv_qp_attr at = {.path_mig_state = IBV_MIG_ARMED};

	/* rvt_modify_qp(): only the adapter itself sets that state */
	MUST(ibv_modify_qp(s->qp, &at, IBV_QP_PATH_MIG_STATE));
	at = (struct ibv_qp_attr){.alt_port_num = 3, .alt_ah_attr = {.port_num = 3}};
	MUST(ibv_modify_qp(s->qp, &at, IBV_QP_ALT_PATH));
	at = (struct ibv_qp_attr){.alt_port_num = 2, .alt_ah_attr = {.port_num = 1}};
	MUST(ibv_modify_qp(s->qp, &at, IBV_QP_ALT_PATH));
}

static void xrc_make(struct side s[2])
{
	struct ibv_xrcd_init_attr dom = {.comp_mask =
						 IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
					 .fd = -1,
					 .oflags = O_CREAT};
	struct ibv_srq_init_attr_ex srq = {.attr = {.max_wr = 16, .max_sge = 1},
					   .srq_type = IBV_SRQT_XRC,
					   .comp_mask = IBV_SRQ_INIT_ATTR_TYPE |
							IBV_SRQ_INIT_ATTR_XRCD |
							IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
					   .cq = s[1].cq,
					   .pd = s[1].pd};
	struct ibv_qp_init_attr_ex init = {.qp_type = IBV_QPT_XRC_SEND,
					   .comp_mask = IBV_QP_INIT_ATTR_PD,
					   .pd = s[0].pd,
					   .send_cq = s[0].cq,
					   .cap = {.max_send_wr = 16, .max_send_sge = 1}};

	MUST(s[0].qp = ibv_create_qp_ex(s[0].ctx, &init));
	MUST(srq.xrcd = ibv_open_xrcd(s[1].ctx, &dom));
	MUST(s[1].srq = ibv_create_srq_ex(s[1].ctx, &srq));
	init = (struct ibv_qp_init_attr_ex){
		.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = srq.xrcd};
	MUST(s[1].qp = ibv_create_qp_ex(s[1].ctx, &init));
}

static void xrc_message(struct side s[2])
{
	struct ibv_sge to = {(uintptr_t)s[1].mem, LEN, s[1].mr->lkey};
	struct ibv_sge from = {(uintptr_t)s[0].mem, LEN, s[0].mr->lkey};
	struct ibv_recv_wr recv = {.sg_list = &to, .num_sge = 1}, *bad_recv;
	struct ibv_send_wr send = {.sg_list = &from,
				   .num_sge = 1,
				   .opcode = IBV_WR_SEND,
				   .send_flags = IBV_SEND_SIGNALED},
			   *bad;
	struct ibv_wc wc;

	memset(s[0].mem[0], (int)++s[0].sent, LEN);
	MUST(!ibv_get_srq_num(s[1].srq, &send.qp_type.xrc.remote_srqn));
	MUST(!ibv_post_srq_recv(s[1].srq, &recv, &bad_recv));
	MUST(!ibv_post_send(s[0].qp, &send, &bad));
	for (int i = 0; i < 2; i++) {
		while (!ibv_poll_cq(s[i].cq, 1, &wc))
			;
		MUST(wc.status == IBV_WC_SUCCESS);
	}
	MUST(!memcmp(s[0].mem[0], s[1].mem[0], LEN));
}

static int xrc(struct side s[2])
{
	xrc_make(s);
	for (int i = 0; i < 2; i++)
		connect_side(&s[i], &s[!i]);
	xrc_message(s);
	for (int i = 0; i < 2; i++)
		MUST(query(&s[i]).path_mig_state == IBV_MIG_ARMED);
	migrate_by_command(&s[0]);
	xrc_message(s);
	while (!s[0].migrated || !s[1].migrated)
		for (int i = 0; i < 2; i++)
			poll_side(&s[i]);
	xrc_message(s);
	for (int i = 0; i < 2; i++) {
		MUST(query(&s[i]).path_mig_state == IBV_MIG_MIGRATED);
		MUST(query(&s[i]).ah_attr.port_num == 2);
	}
	printf("migrated, %u messages\n", s[0].sent);
	return 0;
}

int main(int argc, char **argv)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	static struct side s[2];
	const char *what = argc > 1 ? argv[1] : "";

	MUST(devices && devices[0] && devices[1]);
	for (int i = 0; i < 2; i++)
		open_side(&s[i], devices[i]);
	if (!strcmp(what, "xrc"))
		return xrc(s);
	for (int i = 0; i < 2; i++)
		connect_side(&s[i], &s[!i]);
	for (uint32_t i = 0; i < 2 * WINDOW; i++)
		post_receive(&s[i % 2], i / 2);
	for (int i = 0; i < 2; i++)
		MUST(query(&s[i]).path_mig_state == IBV_MIG_REARM);
	talk(s, SOME);
	for (int i = 0; i < 2; i++) {
		MUST(query(&s[i]).path_mig_state == IBV_MIG_ARMED);
		MUST(query(&s[i]).alt_ah_attr.dlid == s[!i].lid[1]);
		MUST(query(&s[i]).alt_timeout == 9);
	}
	refused(&s[0]);
	printf("half\n");
	fflush(stdout);
	if (strcmp(what, "lost"))
		list();
	if (!strcmp(what, "asked"))
		migrate_by_command(&s[0]);
	if (!strcmp(what, "devx"))
		migrate_by_devx(&s[0]);
	while (!s[0].migrated || !s[1].migrated)
		talk(s, s[0].sent + 1);
	talk(s, s[0].sent + SOME);
	for (int i = 0; i < 2; i++) {
		struct ibv_qp_attr at = query(&s[i]);

		MUST(at.path_mig_state == IBV_MIG_MIGRATED);
		MUST(at.ah_attr.port_num == 2 && at.ah_attr.dlid == s[!i].lid[1]);
		MUST(at.alt_ah_attr.port_num == 2 && at.alt_ah_attr.dlid == at.ah_attr.dlid);
		MUST(at.timeout == 9);
		MUST(s[i].migrated == 1);
		MUST(s[i].sent == s[i].done && s[i].sent == s[!i].received);
	}
	if (strcmp(what, "lost"))
		list();
	printf("migrated, %u messages each way\n", s[0].sent);
	return 0;
}
