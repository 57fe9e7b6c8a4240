/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cost of making and destroying one object, as a ratio to a null system call of the same run,
 * while few and many objects of its kind are alive. Stock libibverbs and libmlx5:
 *
 * 	softhca run -- build/bench/ctrl [MOST [KIND]]
 *
 * MOST: the greatest number of live objects (60000: max_pd is 65536); KIND: only kinds whose
 * name starts with it. "flat" is the highest cost divided by the lowest.
 */
#include "wire/prm/pd.h"
#include "wire/prm/opcodes.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <infiniband/mlx5dv.h>

#define ROUNDS 15
#define PAIRS 1000 /* create and destroy, in a round */
#define PAGE 4096

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static uint8_t page[PAGE] __attribute__((aligned(PAGE)));

struct kind {
	const char *name;
	double bar; /* ratio to a null system call, shown for comparison; 0: not shown */
	void *(*create)(void);
	int (*destroy)(void *);
	/* Make and destroy the objects that stay alive meanwhile; NULL: as the measured ones. */
	void *(*live_create)(void);
	int (*live_destroy)(void *);
};

static void die(const char *what)
{
	fprintf(stderr, "ctrl: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void *devx_pd_create(void)
{
	uint8_t in[LAYOUT_SZ(alloc_pd_in)] = {0}, out[LAYOUT_SZ(alloc_pd_out)] = {0};

	LAYOUT_SET(alloc_pd_in, in, opcode, PRM_OP_ALLOC_PD);
	return mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out));
}

static int devx_destroy(void *o)
{
	return mlx5dv_devx_obj_destroy(o);
}

static void *pd_create(void)
{
	return ibv_alloc_pd(ctx);
}

static int pd_destroy(void *o)
{
	return ibv_dealloc_pd(o);
}

static void *mr_create(void)
{
	return ibv_reg_mr(pd, page, PAGE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
}

static int mr_destroy(void *o)
{
	return ibv_dereg_mr(o);
}

static void *cq_create(void)
{
	return ibv_create_cq(ctx, 1, NULL, NULL, 0);
}

static int cq_destroy(void *o)
{
	return ibv_destroy_cq(o);
}

static void *qp_create(void)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {.max_send_wr = 1, .max_send_sge = 1},
		.qp_type = IBV_QPT_RC,
	};

	return ibv_create_qp(pd, &attr);
}

static int qp_destroy(void *o)
{
	return ibv_destroy_qp(o);
}

static const struct kind kinds[] = {
	{"DEVX ALLOC_PD", 25, devx_pd_create, devx_destroy},
	{"alloc_pd", 40, pd_create, pd_destroy},
	{"reg_mr 4 KiB", 60, mr_create, mr_destroy},
	{"create_cq", 0, cq_create, cq_destroy},
	{"create_qp RC", 0, qp_create, qp_destroy},
	{"reg_mr, QPs", 0, mr_create, mr_destroy, qp_create, qp_destroy},
};

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *t)
{
	qsort(t, ROUNDS, sizeof(t[0]), by_value);
	return t[ROUNDS / 2];
}

/* By the instruction: libc's syscall() may be somebody's wrapper. */
static double null_syscall_ns(void)
{
	double start = now_ns();

	for (int i = 0; i < PAIRS; i++) {
		long r = SYS_getppid;

		__asm__ volatile("syscall" : "+a"(r) : : "rcx", "r11", "memory");
	}
	return (now_ns() - start) / PAIRS;
}

static double pair_ns(const struct kind *k)
{
	double start = now_ns();

	for (int i = 0; i < PAIRS; i++) {
		void *o = k->create();

		if (!o || k->destroy(o))
			die(k->name);
	}
	return (now_ns() - start) / PAIRS;
}

/*
 * The cost of a create and destroy while `live` objects exist, as a ratio to a null system call.
 * Each round measures both.
 */
static double measure(const struct kind *k, unsigned int live, double *ns)
{
	void **o = calloc(live, sizeof(*o));
	double ratio[ROUNDS], t[ROUNDS];
	void *(*create)(void) = k->live_create ? k->live_create : k->create;
	int (*destroy)(void *) = k->live_create ? k->live_destroy : k->destroy;

	for (unsigned int i = 0; i < live; i++) {
		o[i] = create();
		if (!o[i])
			die(k->name);
	}
	pair_ns(k);
	for (int r = 0; r < ROUNDS; r++) {
		double null = null_syscall_ns();

		t[r] = pair_ns(k);
		ratio[r] = t[r] / ((null + null_syscall_ns()) / 2);
	}
	for (unsigned int i = 0; i < live; i++)
		if (destroy(o[i]))
			die(k->name);
	free(o);
	*ns = median(t);
	return median(ratio);
}

static void open_device(void)
{
	struct mlx5dv_context_attr attr = {.flags = MLX5DV_CONTEXT_FLAGS_DEVX};
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (!list || !list[0])
		die("no RDMA device");
	ctx = mlx5dv_open_device(list[0], &attr);
	if (!ctx)
		die("mlx5dv_open_device with DEVX");
	ibv_free_device_list(list);
	pd = ibv_alloc_pd(ctx);
	cq = ibv_create_cq(ctx, 1, NULL, NULL, 0);
	if (!pd || !cq)
		die("PD or CQ");
}

int main(int argc, char **argv)
{
	unsigned int most = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 0) : 60000;

	open_device();
	printf("create + destroy: ns, ratio to a null system call, beside live objects\n");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		double least = 1e300, greatest = 0;

		if (argc > 2 && strncmp(kinds[i].name, argv[2], strlen(argv[2])))
			continue;
		printf("%-14s", kinds[i].name);
		for (unsigned int live = 10; live <= most; live *= 10) {
			double ns, ratio = measure(&kinds[i], live, &ns);

			least = ratio < least ? ratio : least;
			greatest = ratio > greatest ? ratio : greatest;
			printf("  %u: %.0f ns %.1f", live, ns, ratio);
			fflush(stdout);
		}
		printf("  flat %.2f", greatest / least);
		if (kinds[i].bar > 0)
			printf("  (bar %.0f)", kinds[i].bar);
		printf("\n");
	}
	return 0;
}
