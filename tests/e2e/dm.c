/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Device memory through libibverbs and libmlx5: two processes work on each other's, one at a time
 * on its mapping and by its keys. Exits with the number of cases that failed.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/mlx5dv.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "rc.h"

#define LEN 8192u
#define ALL 131072u /* max_dm_size of this device */
#define PATIENCE 60 /* seconds until an awaited event is given up */
#define ACCESS                                                                       \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ZERO_BASED)

struct side {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_dm *dm;
	struct ibv_mr *mr;
	uint8_t *map; /* of the device memory */
	int rx, tx;   /* to the other side */
};

struct card { /* sent to the other side */
	uint32_t qpn, rkey;
	uint16_t lid;
};

static struct ibv_dm *alloc(struct ibv_context *ctx, size_t len)
{
	struct ibv_alloc_dm_attr at = {.length = len};

	return ibv_alloc_dm(ctx, &at);
}

static uint8_t *mapping_of(struct ibv_dm *dm)
{
	struct mlx5dv_dm out = {0};
	struct mlx5dv_obj obj = {.dm = {.in = dm, .out = &out}};

	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_DM));
	return out.buf;
}

static void open_side(struct side *s)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	MUST(list && list[0]);
	MUST(s->ctx = ibv_open_device(list[0]));
	ibv_free_device_list(list);
	MUST(s->pd = ibv_alloc_pd(s->ctx));
	MUST(s->cq = ibv_create_cq(s->ctx, 16, NULL, NULL, 0));
	MUST(s->dm = alloc(s->ctx, LEN));
	MUST(s->mr = ibv_reg_dm_mr(s->pd, s->dm, 0, LEN, ACCESS));
	s->map = mapping_of(s->dm);
}

static void connect_side(struct side *s)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .send_cq = s->cq, .recv_cq = s->cq};
	struct card mine, theirs;

	init.cap = (struct ibv_qp_cap){
		.max_send_wr = 8, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1};
	if (s->qp)
		MUST(!ibv_destroy_qp(s->qp));
	MUST(s->qp = ibv_create_qp(s->pd, &init));
	mine = (struct card){s->qp->qp_num, s->mr->rkey, rc_lid(s->ctx)};
	rc_init(s->qp, ACCESS & ~IBV_ACCESS_ZERO_BASED);
	MUST(write(s->tx, &mine, sizeof(mine)) == sizeof(mine));
	MUST(read(s->rx, &theirs, sizeof(theirs)) == sizeof(theirs));
	rc_connect(s->qp, theirs.qpn, theirs.lid, IBV_MTU_1024);
	s->qp->qp_context = (void *)(uintptr_t)theirs.rkey;
	/* Wait until the other end is ready, too. */
	MUST(write(s->tx, "", 1) == 1);
	MUST(read(s->rx, &mine, 1) == 1);
}

/* Post one request and return its status. */
static int do_wr(struct side *s, struct ibv_send_wr wr, uint64_t at, uint32_t len)
{
	struct ibv_sge sge = {at, len, s->mr->lkey};
	time_t end = time(NULL) + PATIENCE;
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	int n;

	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.send_flags = IBV_SEND_SIGNALED;
	MUST(!ibv_post_send(s->qp, &wr, &bad));
	while (!(n = ibv_poll_cq(s->cq, 1, &wc)))
		MUST(time(NULL) < end);
	MUST(n == 1);
	return (int)wc.status;
}

static int rdma(struct side *s, enum ibv_wr_opcode op, uint64_t at, uint64_t remote, uint32_t len)
{
	struct ibv_send_wr wr = {.opcode = op};

	wr.wr.rdma.remote_addr = remote;
	wr.wr.rdma.rkey = (uint32_t)(uintptr_t)s->qp->qp_context;
	return do_wr(s, wr, at, len);
}

static int atomic(struct side *s, enum ibv_wr_opcode op, uint64_t at, uint64_t add, uint64_t swap)
{
	struct ibv_send_wr wr = {.opcode = op};

	wr.wr.atomic.remote_addr = 64;
	wr.wr.atomic.compare_add = add;
	wr.wr.atomic.swap = swap;
	wr.wr.atomic.rkey = (uint32_t)(uintptr_t)s->qp->qp_context;
	return do_wr(s, wr, at, 8);
}

static void turn(struct side *s, bool wait)
{
	char c;

	if (wait)
		MUST(read(s->rx, &c, 1) == 1);
	else
		MUST(write(s->tx, "", 1) == 1);
}

static uint64_t word(const struct side *s, size_t at)
{
	return *(volatile uint64_t *)(s->map + at);
}

/* The other process: reads, writes and counts in the first one's device memory. */
static void other(struct side *s)
{
	open_side(s);
	connect_side(s);
	for (uint32_t i = 0; i < LEN / 2; i++)
		s->map[i] = (uint8_t)(i * 7);
	MUST(rdma(s, IBV_WR_RDMA_WRITE, 0, 4096, LEN / 2) == IBV_WC_SUCCESS);
	MUST(rdma(s, IBV_WR_RDMA_READ, 4096, 4096, LEN / 2) == IBV_WC_SUCCESS);
	MUST(!memcmp(s->map, s->map + 4096, LEN / 2));
	MUST(atomic(s, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 5, 0) == IBV_WC_SUCCESS && word(s, 0) == 0);
	MUST(atomic(s, IBV_WR_ATOMIC_CMP_AND_SWP, 0, 5, 77) == IBV_WC_SUCCESS && word(s, 0) == 5);
	turn(s, false);
	turn(s, true);
	MUST(rdma(s, IBV_WR_RDMA_WRITE, 0, LEN - 8, 16) == IBV_WC_REM_ACCESS_ERR);
	turn(s, false);
	connect_side(s);
	MUST(rdma(s, IBV_WR_RDMA_WRITE, LEN - 8, 0, 16) == IBV_WC_LOC_PROT_ERR);
	/* All that is left of the adapter's memory: it comes back when this process is killed. */
	MUST(alloc(s->ctx, ALL - 2 * LEN));
	turn(s, false);
	pause();
}

static void refused(struct side *s, size_t len, int want)
{
	struct ibv_dm *dm = alloc(s->ctx, len);

	MUST(!dm && errno == want);
}

/* Memory of a killed process is free as soon as the supervisor has reaped it. */
static struct ibv_dm *alloc_soon(struct side *s, size_t len)
{
	time_t end = time(NULL) + PATIENCE;
	struct ibv_dm *dm;

	while (!(dm = alloc(s->ctx, len)))
		MUST(errno == ENOMEM && time(NULL) < end);
	return dm;
}

/* A device memory of two pages lies behind a gap of one, which others fill later. */
static void each_has_its_own_bytes(struct side *s)
{
	struct ibv_dm *dm[5];
	uint8_t *map[5];

	MUST(dm[0] = alloc(s->ctx, 4096));
	MUST(dm[1] = alloc(s->ctx, 4096));
	MUST(!ibv_free_dm(dm[0]));
	MUST(dm[0] = alloc(s->ctx, 8192));
	for (int i = 2; i < 5; i++)
		MUST(dm[i] = alloc(s->ctx, 4096));
	for (int i = 0; i < 5; i++) {
		map[i] = mapping_of(dm[i]);
		*map[i] = (uint8_t)(i + 1);
	}
	for (int i = 0; i < 5; i++)
		MUST(*map[i] == i + 1);
	for (int i = 0; i < 5; i++)
		MUST(!ibv_free_dm(dm[i]));
}

static void fill_and_free(struct side *s)
{
	struct ibv_dm *dm[32];

	for (int i = 0; i < 30; i++)
		MUST(dm[i] = alloc(s->ctx, 4096));
	refused(s, 64, ENOMEM);
	for (int i = 0; i < 30; i++)
		MUST(!ibv_free_dm(dm[i]));
	MUST(dm[0] = alloc(s->ctx, ALL - LEN));
	MUST(!ibv_free_dm(dm[0]));
}

/* Device memory that is still mapped is given to nobody else, as in the kernel. */
static void mapped_after_free(struct side *s)
{
	struct ibv_dm *dm = alloc(s->ctx, LEN), *next;
	uint8_t *old;

	MUST(dm);
	old = mremap(mapping_of(dm), 0, LEN, MREMAP_MAYMOVE); /* a second mapping */
	MUST(old != MAP_FAILED);
	memset(old, 0x11, LEN);
	MUST(!ibv_free_dm(dm));
	MUST(next = alloc(s->ctx, LEN));
	memset(mapping_of(next), 0x22, LEN);
	MUST(old[0] == 0x11 && old[LEN - 1] == 0x11);
	refused(s, ALL - 2 * LEN, ENOMEM);
	MUST(!munmap(old, LEN));
	MUST(!ibv_free_dm(next));
	MUST(dm = alloc(s->ctx, ALL - LEN));
	MUST(mapping_of(dm)[LEN] == 0); /* nothing of a former owner */
	MUST(!ibv_free_dm(dm));
}

/* The same when the mapping that is left is the one that a fork child has inherited. */
static void mapped_by_a_child(struct side *s)
{
	struct ibv_dm *dm = alloc(s->ctx, LEN), *next;
	int go[2], st;
	uint8_t *map;
	pid_t pid;
	char c;

	MUST(dm && !pipe(go));
	map = mapping_of(dm);
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		MUST(read(go[0], &c, 1) == 1);
		memset(map, 0x11, LEN);
		_exit(0);
	}
	MUST(!ibv_free_dm(dm));
	MUST(next = alloc(s->ctx, LEN));
	memset(mapping_of(next), 0x22, LEN);
	refused(s, ALL - 2 * LEN, ENOMEM);
	MUST(write(go[1], "", 1) == 1);
	MUST(waitpid(pid, &st, 0) == pid && !st);
	for (uint32_t i = 0; i < LEN; i++)
		MUST(mapping_of(next)[i] == 0x22);
	MUST(!ibv_free_dm(next));
	MUST(dm = alloc(s->ctx, ALL - LEN));
	MUST(!ibv_free_dm(dm));
	close(go[0]);
	close(go[1]);
}

int main(void)
{
	struct side s = {0}, o = {0};
	int to[2], from[2], st;
	pid_t pid;

	MUST(!pipe(to) && !pipe(from));
	o = (struct side){.rx = to[0], .tx = from[1]};
	s = (struct side){.rx = from[0], .tx = to[1]};
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		other(&o);
		_exit(0);
	}
	close(from[1]); /* so that a read ends when the other process does */
	open_side(&s);
	MUST(word(&s, 0) == 0 && word(&s, LEN - 8) == 0);
	connect_side(&s);
	turn(&s, true);
	MUST(word(&s, 64) == 77);
	for (uint32_t i = 0; i < LEN / 2; i++)
		MUST(s.map[4096 + i] == (uint8_t)(i * 7));
	MUST(ibv_free_dm(s.dm) == EBUSY);
	turn(&s, false);
	turn(&s, true);
	connect_side(&s);
	turn(&s, true);
	refused(&s, 64, ENOMEM);
	MUST(!kill(pid, SIGKILL) && waitpid(pid, &st, 0) == pid);
	MUST(!ibv_free_dm(alloc_soon(&s, ALL - LEN)));
	each_has_its_own_bytes(&s);
	fill_and_free(&s);
	mapped_after_free(&s);
	mapped_by_a_child(&s);
	MUST(!ibv_destroy_qp(s.qp) && !ibv_dereg_mr(s.mr) && !ibv_free_dm(s.dm));
	printf("all right\n");
	return 0;
}
