/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns a context's pages of doorbell records: libmlx5 puts 64 records into a page, and each page
 * has one firmware umem. Called by the driver's objects with queues.
 */
#include <errno.h>
#include "mlx5/priv.h"
#include "wire/prm/umem.h"

#define FIRST_BUCKETS 64u

static struct mlx5_dbr_page **bucket_of(const struct mlx5_context *mc, uint64_t va)
{
	return &mc->dbr[(va >> MLX5_PAGE_SHIFT) & (mc->ndbr_buckets - 1)];
}

/* Prepare for one more page: double the buckets when there are as many pages. */
static int make_room(struct mlx5_context *mc)
{
	uint32_t old = mc->ndbr_buckets, n = old ? old * 2 : FIRST_BUCKETS;
	struct mlx5_dbr_page **was = mc->dbr, **to, *p;

	if (mc->ndbr_pages < old)
		return 0;
	to = heap_zalloc(n * sizeof(*to));
	if (!to)
		return old ? 0 : -ENOMEM; /* longer chains work, too */
	mc->dbr = to;
	mc->ndbr_buckets = n;
	for (uint32_t i = 0; i < old; i++) {
		while ((p = was[i])) {
			was[i] = p->next;
			to = bucket_of(mc, p->va);
			p->next = *to;
			*to = p;
		}
	}
	heap_free(was);
	return 0;
}

static struct mlx5_dbr_page *dbr_find(const struct mlx5_context *mc, struct mem_slot mem,
				      uint64_t va)
{
	struct mlx5_dbr_page *p = mc->ndbr_buckets ? *bucket_of(mc, va) : NULL;

	while (p && (p->va != va || p->mem.slot != mem.slot || p->mem.gen != mem.gen))
		p = p->next;
	return p;
}

static int dbr_add(struct uv_context *ctx, struct mem_slot mem, uint64_t va,
		   struct mlx5_dbr_page **out)
{
	struct mlx5_context *mc = mlx5_context(ctx);
	struct mlx5_dbr_page *p, **head;
	struct mlx5_umem u;
	int r = make_room(mc);

	if (r)
		return r;
	p = heap_zalloc(sizeof(*p));
	if (!p)
		return -ENOMEM;
	r = mlx5_umem_create(ctx, va, MLX5_PAGE_SIZE, 0, &u);
	if (r < 0) {
		heap_free(p);
		return r;
	}
	head = bucket_of(mc, va);
	*p = (struct mlx5_dbr_page){.next = *head, .mem = mem, .va = va, .umem = u.id};
	*head = p;
	mc->ndbr_pages++;
	*out = p;
	return 0;
}

int mlx5_dbr_get(struct uv_context *ctx, uint64_t va, struct mlx5_dbr *d)
{
	struct mem_slot mem = mem_self(ctx->seg);
	uint64_t page = va & MLX5_PAGE_MASK;
	struct mlx5_dbr_page *p = dbr_find(mlx5_context(ctx), mem, page);
	int r;

	*d = (struct mlx5_dbr){0};
	if (!p) {
		r = dbr_add(ctx, mem, page, &p);
		if (r)
			return r;
	}
	p->refs++;
	*d = (struct mlx5_dbr){.umem = p->umem, .offset = (uint32_t)(va - page), .page = p};
	return 0;
}

void mlx5_dbr_put(struct uv_context *ctx, struct mlx5_dbr *d)
{
	struct mlx5_context *mc = mlx5_context(ctx);
	struct mlx5_dbr_page *p = d->page, **at;
	struct mlx5_umem u;

	*d = (struct mlx5_dbr){0};
	if (!p || --p->refs)
		return;
	for (at = bucket_of(mc, p->va); *at != p; at = &(*at)->next)
		;
	*at = p->next;
	mc->ndbr_pages--;
	/* If the firmware refuses to free the umem, it stays until the file closes. */
	u = (struct mlx5_umem){.id = p->umem, .va = p->va, .len = MLX5_PAGE_SIZE};
	mlx5_umem_destroy(ctx, &u);
	heap_free(p);
}

void mlx5_dbr_finish(struct mlx5_context *mc)
{
	struct mlx5_dbr_page *p;

	for (uint32_t i = 0; i < mc->ndbr_buckets; i++) {
		while ((p = mc->dbr[i])) {
			mc->dbr[i] = p->next;
			heap_free(p);
		}
	}
	heap_free(mc->dbr);
	mc->dbr = NULL;
	mc->ndbr_buckets = mc->ndbr_pages = 0;
}
