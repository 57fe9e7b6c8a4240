/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User access regions: the pages on which doorbells ring. Programs and open.c call this.
 *
 * A page of type BF has two registers for each 4 KiB UAR in it; they are handed out one by one, and
 * return to the context's list (as in libmlx5, so that the same calls reach the kernel). The page
 * of type NC belongs to the context; all requests share it. NC_DEDICATED, and every UAR of a
 * context that is not ours and so has no list, is a separate page that is really freed.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "devx/devx.h"

#define UAR_BYTES 4096
#define UAR_REG_OFFSET 0x800 /* offset of the first register in a UAR */
#define UAR_REGS 2           /* registers of a UAR that a program may use */

struct devx_uar {
	struct mlx5dv_devx_uar dv; /* must be first: programs hold a pointer to it */
	struct devx_uar_page *page;
	struct devx_uar *next;
};

enum page_use { PAGE_SHARED, PAGE_LIST, PAGE_DEDICATED };

struct devx_uar_page {
	struct ibv_context *context;
	struct devx_uar_page *next;
	enum page_use use;
	uint32_t handle, length;
	void *map;
	uint32_t nregs;
	struct devx_uar regs[];
};

static void page_destroy_object(const struct devx_uar_page *p)
{
	struct devx_cmd cmd;

	devx_cmd_init(&cmd, MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY);
	devx_handle(&cmd, MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, p->handle);
	devx_ioctl(p->context->cmd_fd, &cmd);
}

static void page_free(struct devx_uar_page *p)
{
	munmap(p->map, p->length);
	page_destroy_object(p);
	free(p);
}

/* The kernel's part: an object and its mapping. */
static int page_alloc_object(struct devx_uar_page *p, uint32_t type, uint64_t *offset, uint32_t *id)
{
	struct ib_uverbs_attr *handle;
	struct devx_cmd cmd;
	int err;

	devx_cmd_init(&cmd, MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC);
	handle = devx_handle(&cmd, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 0);
	devx_in_u64(&cmd, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, type);
	devx_out(&cmd, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, offset, sizeof(*offset));
	devx_out(&cmd, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &p->length, sizeof(p->length));
	devx_out(&cmd, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, id, sizeof(*id));
	err = devx_ioctl(p->context->cmd_fd, &cmd);
	if (err)
		return err;
	p->handle = (uint32_t)handle->data;
	p->map = mmap(NULL, p->length, PROT_WRITE, MAP_SHARED, p->context->cmd_fd, (off_t)*offset);
	if (p->map != MAP_FAILED)
		return 0;
	err = errno;
	page_destroy_object(p);
	return err;
}

/* `uars` of the page are in use, with `regs` registers each, `reg_size` bytes apart. */
static struct devx_uar_page *page_alloc(struct ibv_context *context, enum page_use use,
					uint32_t type, uint32_t uars, uint32_t regs,
					uint32_t reg_size)
{
	struct devx_uar_page *p =
		calloc(1, sizeof(*p) + (size_t)uars * regs * sizeof(struct devx_uar));
	uint64_t offset = 0;
	uint32_t id = 0;
	int err;

	if (!p)
		return NULL;
	p->context = context;
	p->use = use;
	err = page_alloc_object(p, type, &offset, &id);
	if (err) {
		free(p);
		errno = err;
		return NULL;
	}
	for (uint32_t i = 0; i < uars; i++) {
		for (uint32_t j = 0; j < regs; j++) {
			struct devx_uar *uar = &p->regs[p->nregs++];

			uar->page = p;
			uar->dv.base_addr = p->map;
			uar->dv.reg_addr = (char *)p->map + (size_t)i * UAR_BYTES + UAR_REG_OFFSET +
					   (size_t)j * reg_size;
			uar->dv.page_id = id + i;
			uar->dv.mmap_off = (off_t)offset;
		}
	}
	return p;
}

static struct mlx5dv_devx_uar *dedicated(struct ibv_context *context, uint32_t type)
{
	struct devx_uar_page *p = page_alloc(context, PAGE_DEDICATED, type, 1, 1, 0);

	return p ? &p->regs[0].dv : NULL;
}

static void list_put(struct devx_context *c, struct devx_uar *uar)
{
	uar->next = NULL;
	*c->bf_free_end = uar;
	c->bf_free_end = &uar->next;
}

static struct mlx5dv_devx_uar *from_list(struct devx_context *c)
{
	struct devx_uar *uar;

	pthread_mutex_lock(&c->lock);
	if (!c->bf_free) {
		struct devx_uar_page *p =
			page_alloc(&c->ibv, PAGE_LIST, MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF,
				   c->uars_per_page, UAR_REGS, c->bf_reg_size);

		for (uint32_t i = 0; p && i < p->nregs; i++)
			list_put(c, &p->regs[i]);
		if (p) {
			p->next = c->bf_pages;
			c->bf_pages = p;
		}
	}
	uar = c->bf_free;
	if (uar) {
		c->bf_free = uar->next;
		if (!c->bf_free)
			c->bf_free_end = &c->bf_free;
	}
	pthread_mutex_unlock(&c->lock);
	return uar ? &uar->dv : NULL;
}

DEVX_API struct mlx5dv_devx_uar *mlx5dv_devx_alloc_uar(struct ibv_context *context, uint32_t flags)
{
	struct devx_context *c = devx_context(context);

	switch (flags) {
	case MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF:
		return c ? from_list(c) : dedicated(context, MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF);
	case MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC:
		if (!c)
			return dedicated(context, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC);
		if (c->nc)
			return &c->nc->regs[0].dv;
		break;
	case MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED:
		return dedicated(context, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC);
	default:
		break;
	}
	errno = EOPNOTSUPP;
	return NULL;
}

DEVX_API void mlx5dv_devx_free_uar(struct mlx5dv_devx_uar *devx_uar)
{
	struct devx_uar *uar = (struct devx_uar *)devx_uar;
	struct devx_uar_page *p = uar->page;

	if (p->use == PAGE_DEDICATED) {
		page_free(p);
	} else if (p->use == PAGE_LIST) {
		struct devx_context *c = devx_context(p->context);

		pthread_mutex_lock(&c->lock);
		list_put(c, uar);
		pthread_mutex_unlock(&c->lock);
	}
}

void devx_uar_init(struct devx_context *c)
{
	pthread_mutex_init(&c->lock, NULL);
	c->bf_free_end = &c->bf_free;
	c->nc = page_alloc(&c->ibv, PAGE_SHARED, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC, 1, 1, 0);
}

void devx_uar_finish(struct devx_context *c)
{
	while (c->bf_pages) {
		struct devx_uar_page *p = c->bf_pages;

		c->bf_pages = p->next;
		page_free(p);
	}
	if (c->nc)
		page_free(c->nc);
	pthread_mutex_destroy(&c->lock);
}
