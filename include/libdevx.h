/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libdevx: mlx5 DEVX without libmlx5 and libibverbs. The calls themselves, mlx5dv_open_device() and
 * mlx5dv_devx_*(), are declared by infiniband/mlx5dv.h; here is what that header lacks: a way to
 * find, open and close a device, and what came after rdma-core 44. See libdevx(7).
 */
#ifndef LIBDEVX_H
#define LIBDEVX_H

#include <stdint.h>
#include <infiniband/mlx5dv.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * For mlx5dv_devx_alloc_uar(): a non-cached UAR page of one's own. MLX5DV_UAR_ALLOC_TYPE_NC gives
 * the same page to everybody in the context. In rdma-core since 45.
 */
#ifndef MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED
#define MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED (1U << 31)
#endif

/*
 * The mlx5 devices of this system, in the order of their uverbs numbers; ends with NULL. `num`, if
 * not NULL, gets their number, which may be 0. NULL with errno: ENOMEM; ENOSYS: the kernel has no
 * RDMA; EPROTONOSUPPORT: it has another version of the interface. Of an element the program reads
 * `name` ("mlx5_0"), `dev_name` ("uverbs0"), `dev_path` and `ibdev_path` (sysfs).
 */
struct ibv_device **devx_get_device_list(int *num);
/* Opened contexts stay. NULL is allowed. */
void devx_free_device_list(struct ibv_device **list);

/*
 * Opens the device `name`: "mlx5_0" or "uverbs0"; NULL or "": the first one. `flags`: 0 or
 * MLX5DV_CONTEXT_FLAGS_DEVX. With the flag, DEVX is there or the call fails; without, it is there
 * if the kernel has it, as with libmlx5. NULL with errno: ENODEV: no such mlx5 device; EINVAL: an
 * unknown flag, or the kernel refuses DEVX; and those of open(2) and of the kernel's GET_CONTEXT.
 *
 * Of the context the program reads `device`, `cmd_fd` and `num_comp_vectors`; async_fd is -1. It
 * must not be given to functions of libibverbs, and not to ibv_close_device(): devx_close().
 */
struct ibv_context *devx_open(const char *name, uint32_t flags);
/*
 * Closes a context of devx_open() or of this library's mlx5dv_open_device(). Its UARs are unmapped
 * and the kernel destroys what is left of its objects; handles to them (struct mlx5dv_devx_obj...)
 * are not freed. 0, or EINVAL: another library's context.
 */
int devx_close(struct ibv_context *context);

/*
 * What a command's output says: 0, or the errno that stands for its status, as EREMOTEIO says only
 * that there is one. `syndrome`, if not NULL, gets the firmware's reason. `out`: at least 8 bytes.
 */
int devx_outbox_errno(const void *out, uint32_t *syndrome);

#ifdef __cplusplus
}
#endif

#endif
