/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opening a device for DEVX is the one thing that libmlx5 and libdevx do differently: everything
 * else in a program is the same, and it is built for either. -DHAVE_LIBDEVX: libdevx.
 */
#ifndef DEVX_DEVICE_H
#define DEVX_DEVICE_H

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#ifdef HAVE_LIBDEVX
#include <libdevx.h>
#else
#include <infiniband/mlx5dv.h>
#endif

/* The tests compare what both libraries ask of the kernel, between opening and closing. */
static inline void device_record(const char *hook)
{
	void *p = dlsym(RTLD_DEFAULT, hook);

	if (p)
		((void (*)(void))(uintptr_t)p)();
}

/* The first device, with DEVX; NULL and errno. */
static inline struct ibv_context *device_open(void)
{
	struct ibv_context *context = NULL;
#ifdef HAVE_LIBDEVX
	context = devx_open(NULL, MLX5DV_CONTEXT_FLAGS_DEVX);
#else
	struct mlx5dv_context_attr attr = {.flags = MLX5DV_CONTEXT_FLAGS_DEVX};
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (!list)
		return NULL;
	errno = ENODEV;
	if (list[0])
		context = mlx5dv_open_device(list[0], &attr);
	ibv_free_device_list(list);
#endif
	device_record("record_start");
	return context;
}

static inline int device_close(struct ibv_context *context)
{
	device_record("record_stop");
#ifdef HAVE_LIBDEVX
	return devx_close(context);
#else
	return ibv_close_device(context);
#endif
}

#endif
