/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * On-demand paging: a process reaches memory of another, and its own, that was never touched. What
 * `rdma statistic show mr` tells of it. Exits with the number of cases that failed.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/verbs.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "rc.h"

#define PAGE 4096u
#define PAGES 64u
#define LEN (PAGES * PAGE)
#define SKIPPED 77
#define PATIENCE 60 /* seconds until an awaited completion is given up */
#define REMOTE                                                                       \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC)

struct side {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	uint8_t *mem;
	struct ibv_mr *odp, *all, *pinned; /* explicit, implicit, registered as usual */
	struct ibv_mw *mw;
	int rx, tx; /* to the other side */
};

struct card { /* What the other side must know. */
	uint32_t qpn, odp, all, mw, pinned;
	uint64_t mem, usual; /* addresses */
	uint16_t lid;
};

/* Untouched memory: huge pages would bring many pages by one fault. */
static uint8_t *fresh(void)
{
	uint8_t *p = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(p != MAP_FAILED);
	madvise(p, LEN, MADV_NOHUGEPAGE);
	return p;
}

static void open_side(struct side *s)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC};
	struct ibv_device **list = ibv_get_device_list(NULL);
	uint8_t *usual;

	MUST(list && list[0]);
	MUST(s->ctx = ibv_open_device(list[0]));
	ibv_free_device_list(list);
	MUST(s->pd = ibv_alloc_pd(s->ctx));
	MUST(s->cq = ibv_create_cq(s->ctx, 16, NULL, NULL, 0));
	s->mem = fresh();
	MUST(s->odp = ibv_reg_mr(s->pd, s->mem, LEN,
				 REMOTE | IBV_ACCESS_ON_DEMAND | IBV_ACCESS_MW_BIND));
	MUST(s->all = ibv_reg_mr(s->pd, NULL, SIZE_MAX, REMOTE | IBV_ACCESS_ON_DEMAND));
	usual = fresh();
	memset(usual, 0x5a, LEN);
	MUST(s->pinned = ibv_reg_mr(s->pd, usual, LEN, REMOTE));
	MUST(s->mw = ibv_alloc_mw(s->pd, IBV_MW_TYPE_1));
	init.send_cq = init.recv_cq = s->cq;
	init.cap = (struct ibv_qp_cap){
		.max_send_wr = 8, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1};
	MUST(s->qp = ibv_create_qp(s->pd, &init));
}

static enum ibv_wc_status await(struct side *s)
{
	time_t end = time(NULL) + PATIENCE;
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(s->cq, 1, &wc)) && time(NULL) < end)
		;
	MUST(n == 1);
	return wc.status;
}

/* The window over the on-demand region. */
static uint32_t bind_window(struct side *s)
{
	struct ibv_mw_bind b = {.send_flags = IBV_SEND_SIGNALED,
				.bind_info = {.mr = s->odp,
					      .addr = (uintptr_t)s->mem,
					      .length = LEN,
					      .mw_access_flags = IBV_ACCESS_REMOTE_WRITE}};

	MUST(!ibv_bind_mw(s->qp, s->mw, &b));
	MUST(await(s) == IBV_WC_SUCCESS);
	return s->mw->rkey;
}

static void meet(struct side *s, struct card *to)
{
	struct card mine = {.qpn = s->qp->qp_num,
			    .odp = s->odp->rkey,
			    .all = s->all->rkey,
			    .pinned = s->pinned->rkey,
			    .mem = (uintptr_t)s->mem,
			    .usual = (uintptr_t)s->pinned->addr,
			    .lid = rc_lid(s->ctx)};

	rc_init(s->qp, REMOTE);
	MUST(write(s->tx, &mine, sizeof(mine)) == sizeof(mine));
	MUST(read(s->rx, to, sizeof(*to)) == sizeof(*to));
	rc_connect(s->qp, to->qpn, to->lid, IBV_MTU_4096);
	mine.mw = bind_window(s);
	MUST(write(s->tx, &mine, sizeof(mine)) == sizeof(mine));
	MUST(read(s->rx, to, sizeof(*to)) == sizeof(*to));
}

/* The process whose memory is reached: it gives pages back, makes them absent, or advises. */
static void target(struct side *s)
{
	struct ibv_sge sge;
	struct card to;
	char what[2]; /* what to do, from which page on */

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	open_side(s);
	meet(s, &to);
	while (read(s->rx, what, sizeof(what)) == sizeof(what)) {
		uint8_t *at = s->mem + (size_t)what[1] * PAGE;

		sge = (struct ibv_sge){(uintptr_t)at, 2 * PAGE, s->odp->lkey};
		if (what[0] == 'g')
			MUST(!madvise(at, 2 * PAGE, MADV_DONTNEED));
		if (what[0] == 'p')
			MUST(!ibv_advise_mr(s->pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
					    IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1));
		if (what[0] == 'u')
			MUST(!munmap(at, 2 * PAGE));
		MUST(write(s->tx, what, 1) == 1);
	}
	_exit(0);
}

static void tell(struct side *s, char what, char page)
{
	char to[2] = {what, page};

	MUST(write(s->tx, to, 2) == 2);
	MUST(read(s->rx, to, 1) == 1);
}

/* What the statistics say of a key; -1: nothing. */
static long counter(uint32_t key, const char *name)
{
	char cmd[80], line[512], want[64];
	long n = -1;
	FILE *f;

	snprintf(cmd, sizeof(cmd), "rdma statistic show mr mrn %u", key >> 8);
	snprintf(want, sizeof(want), "%s ", name);
	MUST(f = popen(cmd, "r"));
	while (fgets(line, sizeof(line), f))
		if (strstr(line, want))
			n = atol(strstr(line, want) + strlen(want));
	MUST(!pclose(f));
	return n;
}

static int failed;

static void expect(const char *what, long got, long want)
{
	if (got != want) {
		printf("%s: %ld, expected %ld\n", what, got, want);
		failed++;
	}
}

static enum ibv_wc_status post(struct side *s, enum ibv_wr_opcode op, const struct ibv_sge *local,
			       uint64_t addr, uint32_t rkey)
{
	struct ibv_sge sge = *local;
	struct ibv_send_wr *bad,
		wr = {.opcode = op, .send_flags = IBV_SEND_SIGNALED, .sg_list = &sge, .num_sge = 1};

	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = 1;
	} else {
		wr.wr.rdma.remote_addr = addr;
		wr.wr.rdma.rkey = rkey;
	}
	MUST(!ibv_post_send(s->qp, &wr, &bad));
	return await(s);
}

/* Each step leaves the counter at `want`. */
static void step(const char *what, enum ibv_wc_status got, uint32_t key, long want)
{
	expect(what, got, IBV_WC_SUCCESS);
	expect(what, counter(key, "page_faults"), want);
}

static void remote_memory(struct side *s, const struct card *to)
{
	struct ibv_sge from = {(uintptr_t)s->pinned->addr + 100, 4 * PAGE, s->pinned->lkey};
	struct ibv_sge word = {(uintptr_t)s->pinned->addr, 8, s->pinned->lkey};
	uint64_t mem = to->mem;

	step("nothing", 0, to->odp, 0);
	step("WRITE of 4 pages, over 5", post(s, IBV_WR_RDMA_WRITE, &from, mem + 9, to->odp),
	     to->odp, 5);
	step("again", post(s, IBV_WR_RDMA_WRITE, &from, mem + 9, to->odp), to->odp, 5);
	step("READ", post(s, IBV_WR_RDMA_READ, &from, mem + 6 * PAGE, to->odp), to->odp, 9);
	expect("READ of absent memory", *(uint8_t *)(uintptr_t)from.addr, 0);
	memset((void *)(uintptr_t)from.addr, 0x5a, from.length);
	step("atomic", post(s, IBV_WR_ATOMIC_FETCH_AND_ADD, &word, mem + 12 * PAGE, to->odp),
	     to->odp, 10);
	tell(s, 'g', 0);
	step("given back", post(s, IBV_WR_RDMA_WRITE, &from, mem, to->odp), to->odp, 12);
	tell(s, 'p', 20);
	expect("prefetched", counter(to->odp, "page_prefetch"), 2);
	from.length = 2 * PAGE;
	step("prefetched", post(s, IBV_WR_RDMA_WRITE, &from, mem + 20 * PAGE, to->odp), to->odp,
	     12);
	step("by a window", post(s, IBV_WR_RDMA_WRITE, &from, mem + 24 * PAGE, to->mw), to->odp,
	     14);
	step("other key", 0, to->all, 0);
	step("implicit", post(s, IBV_WR_RDMA_WRITE, &from, mem + 28 * PAGE, to->all), to->all, 2);
	expect("invalidations", counter(to->odp, "page_invalidations"), 0);
	expect("usual key", counter(s->pinned->lkey, "page_faults"), -1);
	tell(s, 'u', 30);
	expect("not mapped", post(s, IBV_WR_RDMA_WRITE, &from, mem + 30 * PAGE, to->odp),
	       IBV_WC_REM_ACCESS_ERR);
	expect("not mapped", counter(to->odp, "page_faults"), 14);
}

/* Own pages, to which a READ scatters: the end that asks. */
static void own_memory(struct side *s, const struct card *to)
{
	struct ibv_sge into = {(uintptr_t)s->mem + 8 * PAGE, 3 * PAGE, s->odp->lkey};

	step("scatter", post(s, IBV_WR_RDMA_READ, &into, to->usual, to->pinned), s->odp->lkey, 3);
	expect("scatter", s->mem[8 * PAGE + PAGE], 0x5a);
	into.lkey = s->all->lkey;
	into.addr += 8 * PAGE;
	step("implicit", post(s, IBV_WR_RDMA_READ, &into, to->usual, to->pinned), s->all->lkey, 3);
}

static struct ibv_qp *open_ud(struct side *s)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_UD, .send_cq = s->cq, .recv_cq = s->cq};
	struct ibv_qp_attr at = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct ibv_qp *qp;

	init.cap = (struct ibv_qp_cap){
		.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 2, .max_recv_sge = 2};
	MUST(qp = ibv_create_qp(s->pd, &init));
	MUST(!ibv_modify_qp(qp, &at, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	at.qp_state = IBV_QPS_RTR;
	MUST(!ibv_modify_qp(qp, &at, IBV_QP_STATE));
	at.qp_state = IBV_QPS_RTS;
	MUST(!ibv_modify_qp(qp, &at, IBV_QP_STATE | IBV_QP_SQ_PSN));
	return qp;
}

/* A datagram to the own QP, from `from` to `into`, with a GRH or without. */
static void ud_send(struct side *s, struct ibv_qp *qp, bool grh, struct ibv_sge *from,
		    struct ibv_sge *into)
{
	struct ibv_ah_attr attr = {.port_num = 1, .is_global = grh};
	struct ibv_send_wr *bad, wr = {.opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_SIGNALED,
				       .sg_list = from,
				       .num_sge = 2};
	struct ibv_recv_wr *bad_recv, recv = {.sg_list = into, .num_sge = 2};
	struct ibv_port_attr port;

	MUST(!ibv_query_port(s->ctx, 1, &port));
	attr.dlid = port.lid;
	MUST(!ibv_query_gid(s->ctx, 1, 0, &attr.grh.dgid));
	MUST(wr.wr.ud.ah = ibv_create_ah(s->pd, &attr));
	wr.wr.ud.remote_qpn = qp->qp_num;
	MUST(!ibv_post_recv(qp, &recv, &bad_recv));
	MUST(!ibv_post_send(qp, &wr, &bad));
	expect("datagram", await(s), IBV_WC_SUCCESS);
	expect("datagram", await(s), IBV_WC_SUCCESS);
	ibv_destroy_ah(wr.wr.ud.ah);
}

/* The place of a GRH in front of the data moves the entries of either list. */
static void datagrams(struct side *s)
{
	uint64_t usual = (uintptr_t)s->pinned->addr, mem = (uintptr_t)s->mem + 32 * PAGE;
	uint32_t pin = s->pinned->lkey, odp = s->odp->lkey;
	struct ibv_sge from[2] = {{usual, 8, pin}, {mem + 9, PAGE, odp}};
	struct ibv_sge into[2] = {{usual + PAGE, 40, pin}, {usual + 2 * PAGE, 8 + PAGE, pin}};
	long was = counter(odp, "page_faults");
	struct ibv_qp *qp = open_ud(s);

	from[1].length -= 8; /* the path's MTU */
	ud_send(s, qp, true, from, into);
	expect("sent behind a GRH", counter(odp, "page_faults"), was + 2);
	from[1] = (struct ibv_sge){usual, 100, pin};
	into[1] = (struct ibv_sge){mem + 4 * PAGE, PAGE, odp};
	ud_send(s, qp, false, from, into);
	expect("received behind no GRH", counter(odp, "page_faults"), was + 3);
}

int main(void)
{
	int up[2], down[2], status;
	struct side s = {0};
	struct card to;

	if (system("rdma -V >/dev/null 2>&1"))
		return SKIPPED; /* iproute2 is not installed */
	MUST(!pipe(up) && !pipe(down));
	fflush(stdout);
	if (!fork()) {
		s.rx = down[0];
		s.tx = up[1];
		close(down[1]);
		target(&s);
	}
	s.rx = up[0];
	s.tx = down[1];
	close(up[1]);
	open_side(&s);
	meet(&s, &to);
	own_memory(&s, &to);
	datagrams(&s);
	remote_memory(&s, &to);
	close(s.tx);
	MUST(wait(&status) > 0 && !status);
	return failed;
}
