/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* mlx5's own objects: VARs, packet pacing entries, the rules of umems and UARs. */
#include "abi.h"

#define ON5(o, m) .object = MLX5_IB_OBJECT_##o, .method = MLX5_IB_METHOD_##m
#define HANDLE5(i, h)                               \
	{                                           \
		.id = MLX5_IB_ATTR_##i, .data = (h) \
	}
#define VAL5(i, n, v)                                           \
	{                                                       \
		.id = MLX5_IB_ATTR_##i, .len = (n), .data = (v) \
	}
#define BYTES5(i, n, ...)                                                       \
	{                                                                       \
		.id = MLX5_IB_ATTR_##i, .len = (n), .in = &(const uint8_t[(n)]) \
		{                                                               \
			__VA_ARGS__                                             \
		}                                                               \
	}
#define VAR_ATTRS(at)                                                               \
	HANDLE5(VAR_OBJ_ALLOC_HANDLE, 0), VAL5(VAR_OBJ_ALLOC_MMAP_OFFSET, 8, (at)), \
		VAL5(VAR_OBJ_ALLOC_MMAP_LENGTH, 4, OUT + 8),                        \
		VAL5(VAR_OBJ_ALLOC_PAGE_ID, 4, OUT + 12)
/* The context's first bytes are the rate, big-endian kbit/s. */
#define PP_ATTRS(n, fl, ...)                                                       \
	HANDLE5(PP_OBJ_ALLOC_HANDLE, 0), BYTES5(PP_OBJ_ALLOC_CTX, n, __VA_ARGS__), \
		VAL5(PP_OBJ_ALLOC_FLAGS, 4, fl), VAL5(PP_OBJ_ALLOC_INDEX, 2, OUT)
#define UMEM_ATTRS(at, n, acc)                                                     \
	HANDLE5(DEVX_UMEM_REG_HANDLE, 0), VAL5(DEVX_UMEM_REG_ADDR, 8, at),         \
		VAL5(DEVX_UMEM_REG_LEN, 8, n), VAL5(DEVX_UMEM_REG_ACCESS, 4, acc), \
		VAL5(DEVX_UMEM_REG_OUT_ID, 4, OUT)
#define UAR_ATTRS(t)                                                      \
	HANDLE5(UAR_OBJ_ALLOC_HANDLE, 0), VAL5(UAR_OBJ_ALLOC_TYPE, 8, t), \
		VAL5(UAR_OBJ_ALLOC_MMAP_OFFSET, 8, OUT),                  \
		VAL5(UAR_OBJ_ALLOC_MMAP_LENGTH, 4, OUT + 8),              \
		VAL5(UAR_OBJ_ALLOC_PAGE_ID, 4, OUT + 12)

const struct ioctl_row mlx5_rows[] = {
	/* ---- VAR: main.c, MLX5_IB_METHOD_VAR_OBJ_ALLOC */
	{"VAR", "", 0, ON5(VAR, VAR_OBJ_ALLOC), .attr = {VAR_ATTRS(OUT)}, .more = true},
	{"VAR destroyed", "", 0, ON5(VAR, VAR_OBJ_DESTROY),
	 .attr = {HANDLE5(VAR_OBJ_DESTROY_HANDLE, NEXT)}, .more = true, .nattr = 1},
	{"VAR destroyed twice", "xa_load", ENOENT, ON5(VAR, VAR_OBJ_DESTROY),
	 .attr = {HANDLE5(VAR_OBJ_DESTROY_HANDLE, NEXT)}, .nattr = 1},
	{"a UAR destroyed as a VAR", "rdma_lookup_get_uobject: the type", EINVAL,
	 ON5(VAR, VAR_OBJ_DESTROY), .attr = {HANDLE5(VAR_OBJ_DESTROY_HANDLE, UAR)}, .nattr = 1},
	{"VAR whose offset cannot be written", "uverbs_copy_to", EFAULT, ON5(VAR, VAR_OBJ_ALLOC),
	 .attr = {VAR_ATTRS(NOWHERE)}},
	{"VAR without a context", "ib_uverbs_get_ucontext_file", EINVAL, .which = FRESH,
	 ON5(VAR, VAR_OBJ_ALLOC), .attr = {VAR_ATTRS(OUT)}},
	{"VAR without a place for its number", "uverbs_ioctl.c: mandatory", EINVAL,
	 ON5(VAR, VAR_OBJ_ALLOC),
	 .attr = {HANDLE5(VAR_OBJ_ALLOC_HANDLE, 0), VAL5(VAR_OBJ_ALLOC_MMAP_OFFSET, 8, OUT),
		  VAL5(VAR_OBJ_ALLOC_MMAP_LENGTH, 4, OUT + 8)}},
	{"VAR with less room than its offset", "uverbs_ioctl.c: PTR_OUT shorter", EINVAL,
	 ON5(VAR, VAR_OBJ_ALLOC),
	 .attr = {HANDLE5(VAR_OBJ_ALLOC_HANDLE, 0), VAL5(VAR_OBJ_ALLOC_MMAP_OFFSET, 4, OUT),
		  VAL5(VAR_OBJ_ALLOC_MMAP_LENGTH, 4, OUT + 8),
		  VAL5(VAR_OBJ_ALLOC_PAGE_ID, 4, OUT + 12)}},

	/* ---- PP: mlx5/qos.c, MLX5_IB_METHOD_PP_OBJ_ALLOC; core/rl.c, mlx5_rl_add_rate_raw */
	{"rate limit", "", 0, ON5(PP, PP_OBJ_ALLOC), .attr = {PP_ATTRS(4, 0, 0, 0, 0, 100)},
	 .more = true},
	{"rate limit destroyed", "", 0, ON5(PP, PP_OBJ_DESTROY),
	 .attr = {HANDLE5(PP_OBJ_DESTROY_HANDLE, NEXT)}, .nattr = 1, .more = true},
	{"rate limit destroyed twice", "xa_load", ENOENT, ON5(PP, PP_OBJ_DESTROY),
	 .attr = {HANDLE5(PP_OBJ_DESTROY_HANDLE, NEXT)}, .nattr = 1},
	{"rate limit of its own", "", 0, ON5(PP, PP_OBJ_ALLOC),
	 .attr = {PP_ATTRS(48, MLX5_IB_UAPI_PP_ALLOC_FLAGS_DEDICATED_INDEX, 0, 0, 0, 100)},
	 .more = true},
	{"rate limit of its own destroyed", "", 0, ON5(PP, PP_OBJ_DESTROY),
	 .attr = {HANDLE5(PP_OBJ_DESTROY_HANDLE, NEXT)}, .nattr = 1},
	{"rate limit 0", "mlx5_rl_add_rate_raw: !rate", EINVAL, ON5(PP, PP_OBJ_ALLOC),
	 .attr = {PP_ATTRS(4, 0, 0, 0, 0, 0)}},
	{"rate limit cut to 0", "mlx5_rl_add_rate_raw: !rate", EINVAL, ON5(PP, PP_OBJ_ALLOC),
	 .attr = {PP_ATTRS(1, 0, 0)}},
	{"rate limit above the maximum", "mlx5_rl_is_in_range", EINVAL, ON5(PP, PP_OBJ_ALLOC),
	 .attr = {PP_ATTRS(4, 0, 0xff, 0xff, 0xff, 0xff)}},
	{"rate limit with an unknown flag", "uverbs_get_flags32", EINVAL, ON5(PP, PP_OBJ_ALLOC),
	 .attr = {PP_ATTRS(4, 2, 0, 0, 0, 100)}},
	{"rate limit of 49 bytes", "uverbs_ioctl.c: PTR_IN longer", EINVAL, ON5(PP, PP_OBJ_ALLOC),
	 .attr = {PP_ATTRS(49, 0, 0, 0, 0, 100)}},
	{"rate limit without flags", "uverbs_ioctl.c: mandatory", EINVAL, ON5(PP, PP_OBJ_ALLOC),
	 .attr = {HANDLE5(PP_OBJ_ALLOC_HANDLE, 0), BYTES5(PP_OBJ_ALLOC_CTX, 4, 0, 0, 0, 100),
		  VAL5(PP_OBJ_ALLOC_INDEX, 2, OUT)}},
	{"rate limit whose index cannot be written", "uverbs_copy_to", EFAULT,
	 ON5(PP, PP_OBJ_ALLOC),
	 .attr = {HANDLE5(PP_OBJ_ALLOC_HANDLE, 0), BYTES5(PP_OBJ_ALLOC_CTX, 4, 0, 0, 0, 100),
		  VAL5(PP_OBJ_ALLOC_FLAGS, 4, 0), VAL5(PP_OBJ_ALLOC_INDEX, 2, NOWHERE)}},

	/* ---- umems: mlx5/devx.c, devx_umem_get and devx_umem_reg_cmd_alloc */
	{"umem whose pages may be of 8 KiB only", "ib_umem_find_best_pgsz", EINVAL,
	 ON5(DEVX_UMEM, DEVX_UMEM_REG),
	 .attr = {UMEM_ATTRS(MEM, 8192, 1), VAL5(DEVX_UMEM_REG_PGSZ_BITMAP, 8, 8192)}},
	{"umem whose pages may be of no size", "devx_umem_find_best_pgsize", EINVAL,
	 ON5(DEVX_UMEM, DEVX_UMEM_REG),
	 .attr = {UMEM_ATTRS(MEM, 4096, 1), VAL5(DEVX_UMEM_REG_PGSZ_BITMAP, 8, 0)}},
	{"umem whose pages may be larger than itself only",
	 "devx_umem_find_best_pgsize: GENMASK(order_base_2(length))", EINVAL,
	 ON5(DEVX_UMEM, DEVX_UMEM_REG),
	 .attr = {UMEM_ATTRS(MEM, 4096, 1), VAL5(DEVX_UMEM_REG_PGSZ_BITMAP, 8, 1 << 21)}},
	{"umem of no length", "ib_umem_get: npages", EINVAL, ON5(DEVX_UMEM, DEVX_UMEM_REG),
	 .attr = {UMEM_ATTRS(MEM, 0, 1)}},
	{"umem around the end of addresses", "ib_umem_get: addr + size < addr", EINVAL,
	 ON5(DEVX_UMEM, DEVX_UMEM_REG), .attr = {UMEM_ATTRS(UINT64_MAX - 10, 4096, 1)}},
	{"umem for remote writes only", "ib_check_mr_access", EINVAL, ON5(DEVX_UMEM, DEVX_UMEM_REG),
	 .attr = {UMEM_ATTRS(MEM, 4096, 2)}},
	{"umem for atomics", "uverbs_get_flags32", EINVAL, ON5(DEVX_UMEM, DEVX_UMEM_REG),
	 .attr = {UMEM_ATTRS(MEM, 4096, 8 | 1)}},
	{"umem over nothing", "pin_user_pages_fast", EFAULT, ON5(DEVX_UMEM, DEVX_UMEM_REG),
	 .attr = {UMEM_ATTRS(NOWHERE, 4096, 1)}},
	{"umem for writes over read-only memory", "pin_user_pages_fast: FOLL_WRITE", EFAULT,
	 ON5(DEVX_UMEM, DEVX_UMEM_REG), .attr = {UMEM_ATTRS(RDONLY, 4096, 1)}},

	/* ---- UARs: main.c, MLX5_IB_METHOD_UAR_OBJ_ALLOC */
	{"UAR of type 2", "alloc_type", EOPNOTSUPP, ON5(UAR, UAR_OBJ_ALLOC),
	 .attr = {UAR_ATTRS(2)}},
	{"UAR of libmlx5's own type", "alloc_type", EOPNOTSUPP, ON5(UAR, UAR_OBJ_ALLOC),
	 .attr = {UAR_ATTRS(UINT64_C(1) << 31)}},
	{"UAR of a type of 33 bits", "_uverbs_get_const_unsigned", EINVAL, ON5(UAR, UAR_OBJ_ALLOC),
	 .attr = {UAR_ATTRS(UINT64_C(1) << 32)}},
	{"EQ of a vector that is not there", "mlx5_vector2eqn: ENOENT", ENOENT,
	 ON5(DEVX, DEVX_QUERY_EQN),
	 .attr = {VAL5(DEVX_QUERY_EQN_USER_VEC, 4, 8), VAL5(DEVX_QUERY_EQN_DEV_EQN, 4, OUT)}},
};
ROWS_END(mlx5_rows);
