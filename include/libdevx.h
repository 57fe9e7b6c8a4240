/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libdevx: mlx5 DEVX without libmlx5 and libibverbs. The calls themselves, mlx5dv_open_device() and
 * mlx5dv_devx_*(), are declared by infiniband/mlx5dv.h. This header adds the calls that find, open
 * and close a device, and a constant that is newer than rdma-core 44. See libdevx(7).
 */
#ifndef LIBDEVX_H
#define LIBDEVX_H

#include <stdint.h>
#include <infiniband/mlx5dv.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * For mlx5dv_devx_alloc_uar(): allocate a dedicated non-cached UAR page. MLX5DV_UAR_ALLOC_TYPE_NC
 * returns the same page to all callers of a context. rdma-core has this type since version 45.
 */
#ifndef MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED
#define MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED (1U << 31)
#endif

/*
 * Returns the mlx5 devices of this system in the order of their uverbs numbers, followed by NULL.
 * If `num` is not NULL, it receives their number, which may be 0. On failure the result is NULL and
 * errno is ENOMEM, ENOSYS (the kernel has no RDMA) or EPROTONOSUPPORT (the kernel has another
 * version of the interface). A program may read `name` ("mlx5_0"), `dev_name` ("uverbs0"),
 * `dev_path` and `ibdev_path` (sysfs) of an element.
 */
struct ibv_device **devx_get_device_list(int *num);
/* Frees a list. Open contexts remain valid. `list` may be NULL. */
void devx_free_device_list(struct ibv_device **list);

/*
 * Opens the device `name`, "mlx5_0" or "uverbs0"; NULL or "" means the first device. `flags` is 0
 * or MLX5DV_CONTEXT_FLAGS_DEVX. With the flag, the call fails if DEVX is not available; without it,
 * the context has DEVX if the kernel supports it, as with libmlx5. On failure the result is NULL
 * and errno is ENODEV (no mlx5 device has this name), EINVAL (the flag is unknown, or the kernel
 * refuses DEVX), or an error of open(2) or of the kernel's GET_CONTEXT.
 *
 * A program may read `device`, `cmd_fd` and `num_comp_vectors` of the context; async_fd is -1. Do
 * not pass the context to functions of libibverbs; close it with devx_close(), not
 * ibv_close_device().
 */
struct ibv_context *devx_open(const char *name, uint32_t flags);
/*
 * Closes a context of devx_open() or of this library's mlx5dv_open_device(). The call unmaps the
 * UARs, and the kernel destroys the remaining objects; their structures (struct mlx5dv_devx_obj...)
 * are not freed. Returns 0, or EINVAL for a context of another library.
 */
int devx_close(struct ibv_context *context);

/*
 * Returns 0 if the status in a command's output is OK, else the errno that the status stands for
 * (EREMOTEIO tells only that the command was refused). If `syndrome` is not NULL, it receives the
 * firmware's reason. `out` has at least 8 bytes.
 */
int devx_outbox_errno(const void *out, uint32_t *syndrome);

#ifdef __cplusplus
}
#endif

#endif
