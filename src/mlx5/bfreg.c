/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Doorbell registers of contexts whose library does not make UARs itself (rdma-core before 29, and
 * programs that only use write()): the context has pages from the start, QPs get registers on them,
 * and mmap adds pages. Owns struct mlx5_bfregs. The rules are those of the kernel's
 * calc_total_bfregs(), alloc_bfreg() and uar_mmap(). Called by ucontext.c, uar.c, qp.c, cq.c and
 * devx.c.
 *
 * Registers are counted two per page, as the kernel's "non fast path" ones; libraries are told
 * numbers that count all four of a page.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/param.h>
#include "mlx5/priv.h"
#include "wire/prm/uar.h"

#define PER_PAGE 2       /* MLX5_NON_FP_BFREGS_PER_UAR */
#define PER_PAGE_HW 4    /* MLX5_BFREGS_PER_UAR */
#define MAX_STATIC 512   /* MLX5_MAX_BFREGS */
#define NUM_DYNAMIC 1024 /* MLX5_MAX_DYN_BFREGS */
#define FIRST_SHARED 1   /* register 0 is shared by all QPs that get no other */

static int uar_alloc(struct uv_context *ctx, uint32_t *uar)
{
	uint8_t in[LAYOUT_SZ(alloc_uar_in)] = {0}, out[LAYOUT_SZ(alloc_uar_out)];
	int r = MLX5_EXEC(ctx, ALLOC_UAR, NULL, in, out);

	if (r == 0)
		*uar = LAYOUT_GET32(alloc_uar_out, out, uar);
	return r;
}

int mlx5_bfreg_init(struct uv_context *ctx, uint32_t total, uint32_t low_latency, bool shares)
{
	struct mlx5_bfregs *b = &mlx5_context(ctx)->bfregs;
	int r = 0;

	if (!total)
		return uv_no(-EINVAL, "without dynamic UARs a context has registers");
	if (total > MAX_STATIC)
		return uv_no(-ENOMEM, "a context has at most 512 registers");
	*b = (struct mlx5_bfregs){
		.low_latency = low_latency,
		.shares = shares,
		.nstatic = total / PER_PAGE,
		.npages = (total + NUM_DYNAMIC) / PER_PAGE,
		.ndynamic = NUM_DYNAMIC,
	};
	b->page = heap_zalloc(b->npages * sizeof(*b->page));
	b->count = heap_zalloc(total * sizeof(*b->count));
	if (!b->page || !b->count)
		r = -ENOMEM;
	for (uint32_t i = 0; i < b->nstatic && r == 0; i++)
		r = uar_alloc(ctx, &b->page[i]);
	if (r < 0)
		mlx5_bfreg_undo(ctx);
	return r;
}

void mlx5_bfreg_undo(struct uv_context *ctx)
{
	struct mlx5_bfregs *b = &mlx5_context(ctx)->bfregs;

	for (uint32_t i = 0; b->page && i < b->npages; i++)
		if (b->page[i])
			mlx5_exec_id(ctx, PRM_OP_DEALLOC_UAR, b->page[i]);
	mlx5_bfreg_finish(mlx5_context(ctx));
}

void mlx5_bfreg_finish(struct mlx5_context *mc)
{
	heap_free(mc->bfregs.page);
	heap_free(mc->bfregs.count);
	mc->bfregs = (struct mlx5_bfregs){0};
}

/* Takes a free low-latency register, else the least used shared one, else register 0. */
int mlx5_bfreg_alloc(struct mlx5_context *mc)
{
	struct mlx5_bfregs *b = &mc->bfregs;
	uint32_t total = b->nstatic * PER_PAGE, low, best = 0;

	if (!b->nstatic)
		return uv_no(-EINVAL, "with dynamic UARs a QP names one");
	low = total > b->low_latency + FIRST_SHARED ? total - b->low_latency : FIRST_SHARED;
	if (b->shares) {
		for (uint32_t i = low; i < total; i++)
			if (!b->count[i]) {
				b->count[i]++;
				return (int)i;
			}
		if (low > FIRST_SHARED)
			best = FIRST_SHARED;
		for (uint32_t i = FIRST_SHARED; i < low; i++)
			if (b->count[i] < b->count[best])
				best = i;
	}
	b->count[best]++;
	return (int)best;
}

void mlx5_bfreg_free(struct mlx5_context *mc, uint32_t n)
{
	mc->bfregs.count[n]--;
}

uint32_t mlx5_bfreg_user(uint32_t n)
{
	return n / PER_PAGE * PER_PAGE_HW + n % PER_PAGE;
}

uint32_t mlx5_bfreg_uar(const struct mlx5_context *mc, uint32_t n)
{
	return mc->bfregs.page[n / PER_PAGE];
}

int mlx5_bfreg_dynamic_uar(const struct mlx5_context *mc, uint32_t n)
{
	const struct mlx5_bfregs *b = &mc->bfregs;
	uint32_t page = n / PER_PAGE + b->nstatic;

	if (!b->nstatic || n > b->ndynamic || page >= b->npages || !b->page[page])
		return uv_no(-EINVAL, "a register of a page that was mapped with ALLOC_WC");
	return (int)b->page[page];
}

int mlx5_bfreg_mmap(struct uv_context *ctx, uint32_t index, bool dynamic, void *addr, size_t len,
		    int prot, int flags, void **out)
{
	struct mlx5_bfregs *b = &mlx5_context(ctx)->bfregs;
	uint32_t uar = 0;
	int r = 0;

	if (!b->nstatic)
		return uv_no(-EINVAL, "a context with dynamic UARs has no pages of its own");
	if (len > MLX5_PAGE_SIZE || !len)
		return uv_no(-EINVAL, "one page at a time");
	index += dynamic ? b->nstatic : 0;
	if (index >= (dynamic ? b->npages : b->nstatic))
		return uv_no(-EINVAL, "no such page");
	if (dynamic && b->page[index])
		return uv_no(-EINVAL, "each later page is mapped once");
	if (!(flags & MAP_SHARED))
		return uv_no(-EINVAL, "device pages are mapped MAP_SHARED");
	if (dynamic)
		r = uar_alloc(ctx, &uar);
	else
		uar = b->page[index];
	if (r < 0)
		return r;
	*out = ctx->sys->uar_mmap(addr, MLX5_PAGE_SIZE, prot, flags, uar, &r);
	r = *out == MAP_FAILED ? r : 0;
	if (dynamic && r < 0)
		mlx5_exec_id(ctx, PRM_OP_DEALLOC_UAR, uar);
	else if (dynamic)
		b->page[index] = uar;
	return r;
}
