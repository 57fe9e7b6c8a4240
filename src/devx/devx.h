/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Inside libdevx: contexts, and the ioctl of the uverbs device as lists of attributes. The library
 * is a client of the kernel's interface: it uses libc and the public headers, and nothing else of
 * this tree.
 *
 * Results follow mlx5dv.h, also internally: an int is 0 or a positive errno, a pointer is NULL with
 * errno set. A context comes from devx_open() or from libibverbs; of the latter only cmd_fd is
 * used.
 */
#ifndef DEVX_DEVX_H
#define DEVX_DEVX_H

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <libdevx.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

/*
 * Exported by the shared library. In the archive all symbols stay hidden, so that a program that
 * contains it and also loads libmlx5 does not intercept libmlx5's own calls.
 */
#ifdef DEVX_SHARED
#define DEVX_API __attribute__((visibility("default")))
#else
#define DEVX_API
#endif

/* The longest list of attributes: UMEM_REG with a dmabuf. */
#define DEVX_MAX_ATTRS 7

struct devx_cmd {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[DEVX_MAX_ATTRS];
	bool too_long; /* some buffer exceeds the 16 bits of its length */
};

static_assert(offsetof(struct devx_cmd, attrs) == sizeof(struct ib_uverbs_ioctl_hdr),
	      "attributes follow the header");

void devx_cmd_init(struct devx_cmd *cmd, uint16_t object, uint16_t method);
/*
 * Each adds an attribute, marked mandatory, and returns it; after the call its `data` has the
 * result.
 */
struct ib_uverbs_attr *devx_in(struct devx_cmd *cmd, uint16_t id, const void *p, size_t len);
struct ib_uverbs_attr *devx_in_u32(struct devx_cmd *cmd, uint16_t id, uint32_t v);
struct ib_uverbs_attr *devx_in_u64(struct devx_cmd *cmd, uint16_t id, uint64_t v);
struct ib_uverbs_attr *devx_out(struct devx_cmd *cmd, uint16_t id, void *p, size_t len);
/* An object's handle; 0 where the call makes the object, and returns its handle. */
struct ib_uverbs_attr *devx_handle(struct devx_cmd *cmd, uint16_t id, uint32_t handle);
/* A descriptor; omitted if it is -1. */
struct ib_uverbs_attr *devx_fd(struct devx_cmd *cmd, uint16_t id, int fd);
/* 0 or errno, which is also in errno. */
int devx_ioctl(int fd, struct devx_cmd *cmd);

struct devx_uar_page;
struct devx_uar;

struct devx_context {
	struct ibv_context ibv; /* must be first: programs hold a pointer to it */
	struct ibv_device device;
	/* bytes; 0: no BlueFlame, all doorbells of a page use the same register */
	uint32_t bf_reg_size;
	uint32_t uars_per_page; /* 4 KiB UARs in a page of the system */
	struct devx_uar_page *nc;
	pthread_mutex_t lock; /* guards the following fields */
	struct devx_uar_page *bf_pages;
	/* free registers: taken from the front, returned at the end */
	struct devx_uar *bf_free, **bf_free_end;
};

/* NULL: the context is another library's. */
struct devx_context *devx_context(struct ibv_context *context);

/* Takes `d` and checks again whether it is (still) an mlx5 device. */
bool devx_device_is_mlx5(const struct ibv_device *d);
/* The number of its character device, 0 if sysfs does not show it. */
uint64_t devx_device_rdev(const struct ibv_device *d);

/* The shared NC page, made at open like libmlx5's; without it NC UARs give EOPNOTSUPP. */
void devx_uar_init(struct devx_context *c);
void devx_uar_finish(struct devx_context *c);

#endif
