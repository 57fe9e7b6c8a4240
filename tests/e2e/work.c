/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * work OP TYPE [BYTES [RETRIES]]: five requests (SEND, WRITE, READ, CAS, FADD, BIND) from one QP
 * (RC, UC, UD) to another of the same process, one after the other, until one fails. Prints for
 * each the status of its completion and of the receive, and how many bytes have come; of an atomic
 * the word, and what its answer was; at the end the states of both QPs, and the asynchronous
 * events. RETRIES: retry_cnt (2). Started by test_inject.py.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM (256 * 1024)
#define NEED(x)                                                            \
	do {                                                               \
		if (!(x)) {                                                \
			printf("%s:%d: %s: %m\n", __FILE__, __LINE__, #x); \
			exit(1);                                           \
		}                                                          \
	} while (0)

static struct ibv_context *c;
static struct ibv_pd *pd;
static struct ibv_qp *q[2];
static struct ibv_cq *cq[4]; /* sends and receives of each */
static struct ibv_mr *mr[2];
static uint8_t *mem[2];
static struct ibv_ah *ah;
static enum ibv_qp_type type;
static uint8_t retries = 2;

static void connect_qps(void)
{
	struct ibv_port_attr pa;

	NEED(!ibv_query_port(c, 1, &pa));
	for (int i = 0; i < 2; i++) {
		struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT,
					.port_num = 1,
					.qkey = 0x1234,
					.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
							   IBV_ACCESS_REMOTE_READ |
							   IBV_ACCESS_REMOTE_ATOMIC};
		struct ibv_ah_attr to = {.dlid = pa.lid, .port_num = 1};
		int ud = type == IBV_QPT_UD, rc = type == IBV_QPT_RC;

		NEED(!ibv_modify_qp(q[i], &a,
				    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					    (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)));
		a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
					 .path_mtu = IBV_MTU_1024,
					 .dest_qp_num = q[!i]->qp_num,
					 .max_dest_rd_atomic = 4,
					 .min_rnr_timer = 1,
					 .ah_attr = to};
		NEED(!ibv_modify_qp(
			q[i], &a,
			IBV_QP_STATE |
				(ud ? 0
				    : IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
						 IBV_QP_RQ_PSN) |
				(rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0)));
		a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
					 .timeout = 10,
					 .retry_cnt = retries,
					 .rnr_retry = 2,
					 .max_rd_atomic = 4};
		NEED(!ibv_modify_qp(q[i], &a,
				    IBV_QP_STATE | IBV_QP_SQ_PSN |
					    (rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
							     IBV_QP_RNR_RETRY |
							     IBV_QP_MAX_QP_RD_ATOMIC
						: 0)));
		if (ud && i)
			NEED(ah = ibv_create_ah(pd, &to));
	}
}

static void receive(unsigned int n)
{
	struct ibv_sge s = {(uintptr_t)mem[1], ROOM, mr[1]->lkey};
	struct ibv_recv_wr w = {.sg_list = &s, .num_sge = 1}, *bad;

	while (n--)
		NEED(!ibv_post_recv(q[1], &w, &bad));
}

static void post(const char *op, uint32_t bytes)
{
	struct ibv_sge s = {(uintptr_t)mem[0], bytes, mr[0]->lkey};
	struct ibv_send_wr w = {.sg_list = &s, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED}, *bad;
	uint64_t to = (uintptr_t)mem[1];

	if (!strcmp(op, "SEND")) {
		w.opcode = IBV_WR_SEND;
		if (type == IBV_QPT_UD) {
			w.wr.ud.ah = ah;
			w.wr.ud.remote_qpn = q[1]->qp_num;
			w.wr.ud.remote_qkey = 0x1234;
		}
	} else if (!strcmp(op, "WRITE") || !strcmp(op, "READ")) {
		w.opcode = *op == 'W' ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
		w.wr.rdma.remote_addr = to;
		w.wr.rdma.rkey = mr[1]->rkey;
	} else {
		w.opcode = *op == 'C' ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD;
		w.wr.atomic.remote_addr = to;
		w.wr.atomic.rkey = mr[1]->rkey;
		w.wr.atomic.compare_add = *op == 'C' ? 0 : 1;
		w.wr.atomic.swap = 7;
		s.length = 8;
	}
	NEED(!ibv_post_send(q[0], &w, &bad));
}

static int bind(void)
{
	struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind b = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = {mr[1], (uintptr_t)mem[1], 64, IBV_ACCESS_REMOTE_READ}};

	NEED(mw);
	return ibv_bind_mw(q[0], mw, &b);
}

/* Not a completion within a second is an answer, too: "none". */
static const char *ends(struct ibv_cq *k, struct ibv_wc *wc, int polls)
{
	for (int i = 0; i < polls; i++) {
		int n = ibv_poll_cq(k, 1, wc);

		NEED(n >= 0);
		if (n)
			return ibv_wc_status_str(wc->status);
		poll(NULL, 0, 1);
	}
	return "none";
}

static void state(const char *who, struct ibv_qp *qp)
{
	static const char *const names[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
	struct ibv_qp_attr a;
	struct ibv_qp_init_attr i;

	NEED(!ibv_query_qp(qp, &a, IBV_QP_STATE, &i));
	printf("%s: %s\n", who, names[a.qp_state]);
}

int main(int argc, char **argv)
{
	uint32_t bytes = argc > 3 ? (uint32_t)atoi(argv[3]) : 64;
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_async_event ev;
	char vendor[16];
	int receives, failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	type = !strcmp(argv[2], "RC")   ? IBV_QPT_RC
	       : !strcmp(argv[2], "UC") ? IBV_QPT_UC
					: IBV_QPT_UD;
	receives = !strcmp(argv[1], "SEND");
	if (argc > 4)
		retries = (uint8_t)atoi(argv[4]);
	NEED(list && list[0] && (c = ibv_open_device(list[0])));
	NEED(pd = ibv_alloc_pd(c));
	for (int i = 0; i < 4; i++)
		NEED(cq[i] = ibv_create_cq(c, 16, NULL, NULL, 0));
	for (int i = 0; i < 2; i++) {
		struct ibv_qp_init_attr a = {.send_cq = cq[2 * i],
					     .recv_cq = cq[2 * i + 1],
					     .cap = {8, 8, 1, 1, 0},
					     .qp_type = type};

		NEED(mem[i] = calloc(1, ROOM));
		NEED(mr[i] = ibv_reg_mr(pd, mem[i], ROOM,
					IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
						IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
						IBV_ACCESS_MW_BIND));
		NEED(q[i] = ibv_create_qp(pd, &a));
	}
	connect_qps();
	fcntl(c->async_fd, F_SETFL, O_NONBLOCK);
	if (receives)
		receive(7);
	for (int n = 1; n <= 5 && !failed; n++) {
		struct ibv_wc wc = {0}, in = {0};
		const char *sent, *got = "-";
		uint32_t landed = 0;

		memset(mem[1], 0, ROOM);
		memset(mem[0], n, ROOM);
		if (!strcmp(argv[1], "BIND"))
			NEED(!bind());
		else
			post(argv[1], bytes);
		sent = ends(cq[0], &wc, 20000);
		failed = wc.status != IBV_WC_SUCCESS;
		if (receives)
			got = ends(cq[3], &in, failed || type != IBV_QPT_RC ? 300 : 20000);
		vendor[0] = '\0';
		if (receives && in.status && in.status != IBV_WC_WR_FLUSH_ERR)
			snprintf(vendor, sizeof(vendor), " 0x%x", in.vendor_err);
		while (landed < ROOM && mem[1][landed + (type == IBV_QPT_UD ? 40 : 0)] == n)
			landed++;
		printf("%d: %s 0x%x; receive: %s%s; %u bytes\n", n, sent, wc.vendor_err, got,
		       vendor, landed);
		if (!strcmp(argv[1], "CAS") || !strcmp(argv[1], "FADD"))
			printf("word: %u, was %u\n", mem[1][0], mem[0][0]);
		if (receives && !strcmp(ends(cq[3], &in, 1), "success"))
			puts("another receive");
	}
	state("requester", q[0]);
	state("responder", q[1]);
	poll(NULL, 0, 20);
	while (!ibv_get_async_event(c, &ev)) {
		printf("event: %s of %s\n", ibv_event_type_str(ev.event_type),
		       ev.element.qp == q[0]   ? "requester"
		       : ev.element.qp == q[1] ? "responder"
					       : "other");
		ibv_ack_async_event(&ev);
	}
	return 0;
}
