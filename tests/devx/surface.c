/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every DEVX call with right and wrong arguments. Checks the results; twice.py compares the calls
 * to the kernel with those of the other library.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "devx_device.h"
#include "wire/prm/cq.h"
#include "wire/prm/hca_cap.h"
#include "wire/prm/opcodes.h"
#include "wire/prm/pd.h"
#include "wire/prm/qp.h"
#include "wire/prm/umem.h"

#define PAGE 4096

static int failures;
static uint8_t big[70000];
static uint8_t page[2 * PAGE] __attribute__((aligned(2 * PAGE)));

#define IS(got, want) is(__LINE__, #got, (long)(got), (long)(want))

static void is(int line, const char *what, long got, long want)
{
	if (got == want)
		return;
	fprintf(stderr, "surface.c:%d: %s is %ld (%s), not %ld\n", line, what, got,
		strerror((int)got), want);
	failures++;
}

/* The errno of a call that must return NULL. */
#define FAILS(call, want)                                               \
	do {                                                            \
		errno = 0;                                              \
		if (call)                                               \
			is(__LINE__, #call " succeeded", 1, 0);         \
		else                                                    \
			is(__LINE__, "errno of " #call, errno, (want)); \
	} while (0)

static struct mlx5dv_devx_obj *create_pd(struct ibv_context *ctx)
{
	uint8_t in[LAYOUT_SZ(alloc_pd_in)] = {0}, out[LAYOUT_SZ(alloc_pd_out)] = {0};
	struct mlx5dv_devx_obj *pd;

	LAYOUT_SET(alloc_pd_in, in, opcode, PRM_OP_ALLOC_PD);
	pd = mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out));
	if (!pd) {
		perror("ALLOC_PD");
		exit(1);
	}
	return pd;
}

static void general(struct ibv_context *ctx)
{
	uint8_t in[LAYOUT_SZ(query_hca_cap_in)] = {0}, out[LAYOUT_SZ(query_hca_cap_out)];
	uint32_t eqn = 0;

	LAYOUT_SET(query_hca_cap_in, in, opcode, PRM_OP_QUERY_HCA_CAP);
	IS(mlx5dv_devx_general_cmd(ctx, in, sizeof(in), out, sizeof(out)), 0);
	IS(mlx5dv_devx_general_cmd(ctx, in, 8, out, sizeof(out)), EINVAL);
	IS(mlx5dv_devx_general_cmd(ctx, in, 0, out, sizeof(out)), EINVAL);
	IS(mlx5dv_devx_general_cmd(ctx, in, sizeof(in), out, 8), EINVAL);
	IS(mlx5dv_devx_general_cmd(ctx, big, sizeof(big), out, sizeof(out)), EINVAL);
	IS(mlx5dv_devx_general_cmd(ctx, in, sizeof(in), big, sizeof(big)), EINVAL);
	IS(mlx5dv_devx_general_cmd(ctx, (void *)8, 16, out, sizeof(out)), EFAULT);
	LAYOUT_SET(query_hca_cap_in, in, op_mod, 0xfffe);
	IS(mlx5dv_devx_general_cmd(ctx, in, sizeof(in), out, sizeof(out)), EREMOTEIO);
	LAYOUT_SET(query_hca_cap_in, in, opcode, PRM_OP_ALLOC_PD);
	IS(mlx5dv_devx_general_cmd(ctx, in, sizeof(in), out, sizeof(out)), EINVAL);
	IS(mlx5dv_devx_query_eqn(ctx, 0, &eqn), 0);
	IS(mlx5dv_devx_query_eqn(ctx, 0xffffffff, &eqn), ENOENT);
}

static void objects(struct ibv_context *ctx)
{
	uint8_t in[LAYOUT_SZ(query_qp_in)] = {0}, out[LAYOUT_SZ(query_qp_out)];
	struct mlx5dv_devx_obj *pd = create_pd(ctx);

	FAILS(mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out)), EINVAL);
	FAILS(mlx5dv_devx_obj_create(ctx, big, sizeof(big), out, sizeof(out)), EINVAL);
	FAILS(mlx5dv_devx_obj_create(ctx, in, 4, out, sizeof(out)), EINVAL);
	IS(mlx5dv_devx_obj_query(pd, in, sizeof(in), out, sizeof(out)), EINVAL);
	LAYOUT_SET(query_qp_in, in, opcode, PRM_OP_QUERY_QP);
	LAYOUT_SET(query_qp_in, in, qpn, 0x40);
	IS(mlx5dv_devx_obj_query(pd, in, sizeof(in), out, sizeof(out)), EINVAL);
	IS(mlx5dv_devx_obj_modify(pd, in, sizeof(in), out, sizeof(out)), EINVAL);
	IS(mlx5dv_devx_obj_destroy(pd), 0);
}

/* An object in use stays, and can be destroyed later. */
static void busy(struct ibv_context *ctx)
{
	uint8_t in[LAYOUT_SZ(create_cq_in)] = {0}, out[LAYOUT_SZ(create_cq_out)];
	void *cqc = LAYOUT_IN(create_cq_in, cq_context, in);
	struct mlx5dv_devx_umem *umem = mlx5dv_devx_umem_reg(ctx, page, 2 * PAGE, 1);
	struct mlx5dv_devx_uar *uar = mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC);
	struct mlx5dv_devx_obj *cq;
	uint32_t eqn = 0;

	if (!umem || !uar || mlx5dv_devx_query_eqn(ctx, 0, &eqn)) {
		perror("what a CQ needs");
		exit(1);
	}
	LAYOUT_SET(create_cq_in, in, opcode, PRM_OP_CREATE_CQ);
	LAYOUT_SET(create_cq_in, in, cq_umem_id, umem->umem_id);
	LAYOUT_SET(cqc, cqc, log_cq_size, 2);
	LAYOUT_SET(cqc, cqc, uar_page, uar->page_id);
	LAYOUT_SET(cqc, cqc, c_eqn, eqn);
	LAYOUT_SET(cqc, cqc, dbr_umem_id, umem->umem_id);
	LAYOUT_SET(cqc, cqc, dbr_addr, PAGE);
	cq = mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out));
	if (!cq) {
		perror("CREATE_CQ");
		exit(1);
	}
	IS(mlx5dv_devx_umem_dereg(umem), EINVAL); /* BAD_RES_STATE */
	IS(mlx5dv_devx_obj_destroy(cq), 0);
	IS(mlx5dv_devx_umem_dereg(umem), 0);
	LAYOUT_SET(cqc, cqc, c_eqn, 255);
	FAILS(mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out)), ENOENT);
}

static void umems(struct ibv_context *ctx)
{
	struct mlx5dv_devx_umem_in in = {
		.addr = page, .size = PAGE, .access = IBV_ACCESS_LOCAL_WRITE, .pgsz_bitmap = PAGE};
	struct mlx5dv_devx_umem *a, *b;

	a = mlx5dv_devx_umem_reg(ctx, page, 2 * PAGE, IBV_ACCESS_LOCAL_WRITE);
	b = mlx5dv_devx_umem_reg_ex(ctx, &in);
	if (!a || !b) {
		perror("umems");
		exit(1);
	}
	IS(a->umem_id != b->umem_id, 1);
	IS(mlx5dv_devx_umem_dereg(b), 0);
	IS(mlx5dv_devx_umem_dereg(a), 0);
	FAILS(mlx5dv_devx_umem_reg(ctx, page, PAGE, 1 << 30), EINVAL);
	FAILS(mlx5dv_devx_umem_reg(ctx, page, 0, 0), EINVAL);
	FAILS(mlx5dv_devx_umem_reg(ctx, (void *)(UINTPTR_MAX - PAGE + 1), 2 * PAGE, 0), EINVAL);
	in.pgsz_bitmap = 0;
	FAILS(mlx5dv_devx_umem_reg_ex(ctx, &in), EINVAL);
	in.comp_mask = 2;
	FAILS(mlx5dv_devx_umem_reg_ex(ctx, &in), EOPNOTSUPP);
	in.comp_mask = MLX5DV_UMEM_MASK_DMABUF;
	in.dmabuf_fd = -1;
	FAILS(mlx5dv_devx_umem_reg_ex(ctx, &in), EBADF);
}

static void map_again(struct ibv_context *ctx, const struct mlx5dv_devx_uar *uar)
{
	void *p = mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, ctx->cmd_fd, uar->mmap_off);

	if (p == MAP_FAILED) {
		perror("a second mapping");
		failures++;
		return;
	}
	IS(p != uar->base_addr, 1);
	munmap(p, PAGE);
}

static void uars(struct ibv_context *ctx)
{
	struct mlx5dv_devx_uar *nc, *bf[3];

	nc = mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC);
	for (int i = 0; i < 3; i++)
		bf[i] = mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_BF);
	if (!nc || !bf[0] || !bf[1] || !bf[2]) {
		perror("UARs");
		exit(1);
	}
	IS(mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC) == nc, 1);
	IS(nc->page_id != 0 && nc->page_id != bf[0]->page_id, 1);
	IS((char *)nc->reg_addr - (char *)nc->base_addr, 0x800);
	IS((char *)bf[0]->reg_addr - (char *)bf[0]->base_addr, 0x800);
	IS(bf[0]->page_id, bf[1]->page_id);
	IS(bf[0]->page_id != bf[2]->page_id, 1);
	map_again(ctx, nc);
	map_again(ctx, bf[2]);
	FAILS(mlx5dv_devx_alloc_uar(ctx, 2), EOPNOTSUPP);
	for (int i = 0; i < 3; i++)
		mlx5dv_devx_free_uar(bf[i]);
	mlx5dv_devx_free_uar(nc);
	/* The fourth register was never handed out: it is the first in the list. */
	bf[1] = mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_BF);
	IS(bf[1] != bf[0] && bf[1]->page_id == bf[2]->page_id, 1);
	IS(mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_BF) == bf[0], 1);
}

/* The results depend on the device's events; the requests do not. */
static void descriptors(struct ibv_context *ctx)
{
	struct mlx5dv_devx_cmd_comp *comp = mlx5dv_devx_create_cmd_comp(ctx);
	struct mlx5dv_devx_event_channel *ch =
		mlx5dv_devx_create_event_channel(ctx, MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA);
	struct mlx5dv_devx_obj *pd = create_pd(ctx);
	uint8_t in[16] = {0}, resp[64];
	uint16_t events[5] = {1, 2, 3, 4, 5};

	if (comp) {
		mlx5dv_devx_obj_query_async(pd, in, sizeof(in), 64, UINT64_MAX, comp);
		mlx5dv_devx_obj_query_async(pd, in, sizeof(in), 0x10000, 1, comp);
		fcntl(comp->fd, F_SETFL, O_NONBLOCK);
		IS(mlx5dv_devx_get_async_cmd_comp(comp, (void *)resp, sizeof(resp)), EAGAIN);
		mlx5dv_devx_destroy_cmd_comp(comp);
	}
	if (ch) {
		mlx5dv_devx_subscribe_devx_event(ch, NULL, 2, events, 7);
		mlx5dv_devx_subscribe_devx_event(ch, NULL, sizeof(events), events, 7);
		mlx5dv_devx_subscribe_devx_event(ch, pd, sizeof(events), events, UINT64_MAX);
		mlx5dv_devx_subscribe_devx_event(ch, pd, 0, events, 0);
		mlx5dv_devx_subscribe_devx_event_fd(ch, STDIN_FILENO, pd, 3);
		mlx5dv_devx_subscribe_devx_event_fd(ch, -1, NULL, 3);
		fcntl(ch->fd, F_SETFL, O_NONBLOCK);
		IS(mlx5dv_devx_get_event(ch, (void *)resp, sizeof(resp)), -1);
		IS(errno, EAGAIN);
		mlx5dv_devx_destroy_event_channel(ch);
	}
	IS(mlx5dv_devx_obj_destroy(pd), 0);
}

/* libmlx5 of Debian 12 does not have it, that of Debian 13 does: this is not recorded. */
static void dedicated(struct ibv_context *ctx)
{
#ifdef MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED
	struct mlx5dv_devx_uar *a, *b, *nc = mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC);

	device_record("record_stop");
	a = mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED);
	b = mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED);
	/* libmlx5 has two in a page. */
	IS(a && b && a->reg_addr != b->reg_addr && a->page_id != nc->page_id, 1);
	mlx5dv_devx_free_uar(a);
	mlx5dv_devx_free_uar(b);
#else
	FAILS(mlx5dv_devx_alloc_uar(ctx, 1U << 31), EOPNOTSUPP);
#endif
}

int main(void)
{
	struct ibv_context *ctx = device_open();

	if (!ctx) {
		perror("opening the first device with DEVX");
		return 1;
	}
	general(ctx);
	objects(ctx);
	busy(ctx);
	umems(ctx);
	uars(ctx);
	descriptors(ctx);
	dedicated(ctx);
	IS(device_close(ctx), 0);
	return failures != 0;
}
