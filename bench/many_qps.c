/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Many RC QPs made by DEVX in one process, and what they cost: time, the segment's resident memory.
 * The program ends without destroying any. bench/scale runs it, and measures from outside how long
 * it takes until they are gone.
 *
 *	softhca run -- build/bench/many_qps [QPS [wait]]
 *
 * With a second argument it prints its pid and waits to be killed.
 */
#include "wire/prm/qp.h"
#include "wire/prm/opcodes.h"
#include "wire/prm/umem.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/mlx5dv.h>

#define PAGE 4096

static void die(const char *what)
{
	fprintf(stderr, "many_qps: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Resident KiB of the fabric's segment in this process: every page of it that is in use was touched
 * here. */
static unsigned long segment_kib(void)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	char line[512];
	unsigned long kib = 0, n;
	int ours = 0;

	if (!f)
		die("/proc/self/smaps");
	while (fgets(line, sizeof(line), f)) {
		/* smaps: a mapping's first line has addresses and file, the others "Name: value".
		 */
		if (line[0] < 'A' || line[0] > 'Z')
			ours = !!strstr(line, "softhca-segment");
		if (ours && sscanf(line, "Rss: %lu", &n) == 1)
			kib += n;
	}
	fclose(f);
	return kib;
}

static struct ibv_context *open_device(void)
{
	struct mlx5dv_context_attr attr = {.flags = MLX5DV_CONTEXT_FLAGS_DEVX};
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = list && list[0] ? mlx5dv_open_device(list[0], &attr) : NULL;

	if (!ctx)
		die("mlx5dv_open_device with DEVX");
	ibv_free_device_list(list);
	return ctx;
}

int main(int argc, char **argv)
{
	unsigned int n = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 0) : 1000000;
	struct ibv_context *ctx = open_device();
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_cq *cq = ibv_create_cq(ctx, 1, NULL, NULL, 0);
	struct mlx5dv_pd dvpd;
	struct mlx5dv_cq dvcq;
	struct mlx5dv_obj obj = {.pd = {pd, &dvpd}, .cq = {cq, &dvcq}};
	struct mlx5dv_devx_uar *uar = mlx5dv_devx_alloc_uar(ctx, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC);
	struct mlx5dv_devx_umem *umem;
	uint8_t in[LAYOUT_SZ(create_qp_in)] = {0}, out[LAYOUT_SZ(create_qp_out)] = {0};
	void *qpc = LAYOUT_IN(create_qp_in, qpc, in), *mem;
	unsigned long before;
	double start, t;

	if (!pd || !cq || !uar || mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD | MLX5DV_OBJ_CQ))
		die("PD, CQ, UAR");
	if (posix_memalign(&mem, PAGE, 2 * PAGE))
		die("memory");
	/* Every QP has its queues in the same memory: nothing is ever posted. */
	umem = mlx5dv_devx_umem_reg(ctx, mem, 2 * PAGE, IBV_ACCESS_LOCAL_WRITE);
	if (!umem)
		die("mlx5dv_devx_umem_reg");
	LAYOUT_SET(create_qp_in, in, opcode, PRM_OP_CREATE_QP);
	LAYOUT_SET(create_qp_in, in, wq_umem_valid, 1);
	LAYOUT_SET(create_qp_in, in, wq_umem_id, umem->umem_id);
	LAYOUT_SET(qpc, qpc, pm_state, 3); /* migrated */
	LAYOUT_SET(qpc, qpc, pd, dvpd.pdn);
	LAYOUT_SET(qpc, qpc, uar_page, uar->page_id);
	LAYOUT_SET(qpc, qpc, cqn_snd, dvcq.cqn);
	LAYOUT_SET(qpc, qpc, cqn_rcv, dvcq.cqn);
	LAYOUT_SET(qpc, qpc, log_rq_size, 2);
	LAYOUT_SET(qpc, qpc, log_sq_size, 0);
	LAYOUT_SET(qpc, qpc, user_index, 0xffffff);
	LAYOUT_SET(qpc, qpc, dbr_umem_valid, 1);
	LAYOUT_SET(qpc, qpc, dbr_umem_id, umem->umem_id);
	LAYOUT_SET(qpc, qpc, dbr_addr, PAGE);
	before = segment_kib();
	start = now();
	for (unsigned int i = 0; i < n; i++)
		if (!mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out))) {
			fprintf(stderr, "many_qps: after %u QPs:\n", i);
			die("CREATE_QP");
		}
	t = now() - start;
	printf("qps %u\ncreate_seconds %.2f\nsegment_bytes_per_qp %.0f\n", n, t,
	       (double)(segment_kib() - before) * 1024 / n);
	if (argc > 2)
		printf("pid %d\n", (int)getpid());
	fflush(stdout);
	while (argc > 2)
		pause();
	_exit(0);
}
