/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A peer calls exec while it is being written to: its new image has a mapping at the address of the
 * old registered memory, and no byte of it may change. Argument `keep`: the command file is
 * inherited, so that the QP lives on without its memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/verbs.h>

#define ADDR ((uint8_t *)0x600000000000)
#define SIZE 65536
#define BEFORE 0x11 /* value that the writer writes */
#define AFTER 0x22  /* value that the new image stores */

#define DIE(...)                              \
	do {                                  \
		fprintf(stderr, __VA_ARGS__); \
		_exit(2);                     \
	} while (0)

struct peer {
	uint32_t qpn, rkey;
	uint16_t lid;
};

struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct peer me;
};

static uint8_t *map_fixed(void)
{
	uint8_t *p = mmap(ADDR, SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (p != ADDR)
		DIE("no memory at %p\n", (void *)ADDR);
	return p;
}

static void make(struct end *e)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;

	e->ctx = list && list[0] ? ibv_open_device(list[0]) : NULL;
	if (!e->ctx || ibv_query_port(e->ctx, 1, &port))
		DIE("no device\n");
	e->pd = ibv_alloc_pd(e->ctx);
	e->cq = ibv_create_cq(e->ctx, 64, NULL, NULL, 0);
	e->qp = ibv_create_qp(e->pd, &(struct ibv_qp_init_attr){.send_cq = e->cq,
								.recv_cq = e->cq,
								.qp_type = IBV_QPT_RC,
								.sq_sig_all = 1,
								.cap = {32, 1, 1, 1, 0}});
	e->mr = ibv_reg_mr(e->pd, ADDR, SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!e->qp || !e->mr)
		DIE("no objects\n");
	e->me = (struct peer){e->qp->qp_num, e->mr->rkey, port.lid};
}

static void to_rts(struct end *e, const struct peer *p)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT,
				.port_num = 1,
				.qp_access_flags = IBV_ACCESS_REMOTE_WRITE};

	if (ibv_modify_qp(e->qp, &a,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		DIE("INIT: %s\n", strerror(errno));
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				 .path_mtu = IBV_MTU_1024,
				 .dest_qp_num = p->qpn,
				 .max_dest_rd_atomic = 1,
				 .ah_attr = {.dlid = p->lid, .port_num = 1}};
	if (ibv_modify_qp(e->qp, &a,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		DIE("RTR: %s\n", strerror(errno));
	a = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS, .timeout = 10, .retry_cnt = 2, .max_rd_atomic = 1};
	if (ibv_modify_qp(e->qp, &a,
			  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
		DIE("RTS: %s\n", strerror(errno));
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The new image: nothing may be written here. */
static int after_exec(void)
{
	uint8_t *p = map_fixed();
	double end = seconds() + 0.5;

	memset(p, AFTER, SIZE);
	do
		for (size_t i = 0; i < SIZE; i += 512)
			if (((volatile uint8_t *)p)[i] != AFTER) {
				fprintf(stderr, "a stranger wrote 0x%x\n", p[i]);
				return 1;
			}
	while (seconds() < end);
	return 0;
}

static void target(int in, int out, char *self, bool keep)
{
	struct end e;
	struct peer p;
	volatile uint8_t *mem = map_fixed();

	make(&e);
	if (write(out, &e.me, sizeof(p)) != sizeof(p) || read(in, &p, sizeof(p)) != sizeof(p))
		DIE("no peer\n");
	to_rts(&e, &p);
	if (write(out, "r", 1) != 1)
		DIE("no peer\n");
	while (mem[SIZE - 1] != BEFORE) /* wait until writes have begun */
		;
	if (keep)
		fcntl(e.ctx->cmd_fd, F_SETFD, 0);
	execl(self, self, "after", NULL);
	DIE("exec: %s\n", strerror(errno));
}

/* Write until one fails; returns its status. */
static enum ibv_wc_status writer(int in, int out)
{
	double end = seconds() + 20;
	struct end e;
	struct peer p;
	char c;

	memset(map_fixed(), BEFORE, SIZE);
	make(&e);
	if (read(in, &p, sizeof(p)) != sizeof(p) || write(out, &e.me, sizeof(p)) != sizeof(p))
		DIE("no peer\n");
	to_rts(&e, &p);
	if (read(in, &c, 1) != 1)
		DIE("no peer\n");
	while (seconds() < end) {
		struct ibv_sge sge = {(uintptr_t)ADDR, SIZE, e.mr->lkey};
		struct ibv_send_wr *bad, wr = {.sg_list = &sge,
					       .num_sge = 1,
					       .opcode = IBV_WR_RDMA_WRITE,
					       .wr.rdma = {(uintptr_t)ADDR, p.rkey}};
		struct ibv_wc wc;

		if (ibv_post_send(e.qp, &wr, &bad))
			DIE("post: %s\n", strerror(errno));
		while (!ibv_poll_cq(e.cq, 1, &wc))
			if (seconds() > end)
				DIE("no completion\n");
		if (wc.status)
			return wc.status;
	}
	DIE("writes to an image that is gone succeed\n");
}

int main(int argc, char **argv)
{
	bool keep = argc > 1 && !strcmp(argv[1], "keep");
	int a[2], b[2], status;
	enum ibv_wc_status s;
	pid_t pid;

	if (argc > 1 && !strcmp(argv[1], "after"))
		return after_exec();
	if (pipe(a) || pipe(b))
		DIE("pipe\n");
	pid = fork();
	if (!pid)
		target(a[0], b[1], argv[0], keep);
	s = writer(b[0], a[1]);
	if (waitpid(pid, &status, 0) != pid || status)
		DIE("the target's status is 0x%x\n", status);
	printf("the writer ends with %s\n", ibv_wc_status_str(s));
	/* Which one depends on what was made first, the QP or the region. */
	return s == IBV_WC_RETRY_EXC_ERR || s == IBV_WC_REM_ACCESS_ERR ? 0 : 1;
}
