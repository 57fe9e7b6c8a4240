/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* mlx5's own objects: VARs, packet pacing entries, the rules of umems and UARs. */
#include "forms.h"

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

/* A command's first bytes: opcode, no uid, tunnel, op_mod. */
#define CMD(op, tunnel, mod) (op) >> 8, (op)&0xff, 0, 0, 0, (tunnel), 0, (mod)
#define OTHER_ATTRS(n, outn, ...) \
	BYTES5(DEVX_OTHER_CMD_IN, n, __VA_ARGS__), VAL5(DEVX_OTHER_CMD_OUT, outn, OUT)
#define MAKE_ATTRS(n, outn, ...)                                                            \
	HANDLE5(DEVX_OBJ_CREATE_HANDLE, 0), BYTES5(DEVX_OBJ_CREATE_CMD_IN, n, __VA_ARGS__), \
		VAL5(DEVX_OBJ_CREATE_CMD_OUT, outn, OUT)
#define MODIFY_ATTRS(h, n, ...)                                                             \
	HANDLE5(DEVX_OBJ_MODIFY_HANDLE, h), BYTES5(DEVX_OBJ_MODIFY_CMD_IN, n, __VA_ARGS__), \
		VAL5(DEVX_OBJ_MODIFY_CMD_OUT, 16, OUT)
#define QUERY_ATTRS(h, n, outn, ...)                                                      \
	HANDLE5(DEVX_OBJ_QUERY_HANDLE, h), BYTES5(DEVX_OBJ_QUERY_CMD_IN, n, __VA_ARGS__), \
		VAL5(DEVX_OBJ_QUERY_CMD_OUT, outn, OUT)
#define DEVX_MAKE ON5(DEVX_OBJ, DEVX_OBJ_CREATE)
#define DEVX_GONE ON5(DEVX_OBJ, DEVX_OBJ_DESTROY)
#define GONE_ATTRS(h) HANDLE5(DEVX_OBJ_DESTROY_HANDLE, h)

const struct ioctl_row mlx5_rows[] = {
	/* ---- VAR: main.c, MLX5_IB_METHOD_VAR_OBJ_ALLOC */
	{"VAR", "", 0, ON5(VAR, VAR_OBJ_ALLOC), .attr = {VAR_ATTRS(OUT)}, .more = true},
	{"VAR destroyed", "", 0, ON5(VAR, VAR_OBJ_DESTROY),
	 .attr = {HANDLE5(VAR_OBJ_DESTROY_HANDLE, NEXT)}, .more = true},
	{"VAR destroyed twice", "xa_load", ENOENT, ON5(VAR, VAR_OBJ_DESTROY),
	 .attr = {HANDLE5(VAR_OBJ_DESTROY_HANDLE, NEXT)}},
	{"a UAR destroyed as a VAR", "rdma_lookup_get_uobject: the type", EINVAL,
	 ON5(VAR, VAR_OBJ_DESTROY), .attr = {HANDLE5(VAR_OBJ_DESTROY_HANDLE, UAR)}},
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
	 .attr = {HANDLE5(PP_OBJ_DESTROY_HANDLE, NEXT)}, .more = true},
	{"rate limit destroyed twice", "xa_load", ENOENT, ON5(PP, PP_OBJ_DESTROY),
	 .attr = {HANDLE5(PP_OBJ_DESTROY_HANDLE, NEXT)}},
	{"rate limit of its own", "", 0, ON5(PP, PP_OBJ_ALLOC),
	 .attr = {PP_ATTRS(48, MLX5_IB_UAPI_PP_ALLOC_FLAGS_DEDICATED_INDEX, 0, 0, 0, 100)},
	 .more = true},
	{"rate limit of its own destroyed", "", 0, ON5(PP, PP_OBJ_DESTROY),
	 .attr = {HANDLE5(PP_OBJ_DESTROY_HANDLE, NEXT)}},
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

	/* ---- which command by which method: mlx5/devx.c */
	{"QUERY_HCA_VPORT_GID by OTHER", "devx_is_general_cmd", EINVAL, ON5(DEVX, DEVX_OTHER),
	 .attr = {OTHER_ATTRS(16, 16, CMD(0x764, 0, 0))}},
	{"MAD_IFC by OTHER", "devx_is_general_cmd", EINVAL, ON5(DEVX, DEVX_OTHER),
	 .attr = {OTHER_ATTRS(16, 16, CMD(0x50d, 0, 0))}},
	{"ACCESS_REGISTER by OTHER", "devx_is_general_cmd", EINVAL, ON5(DEVX, DEVX_OTHER),
	 .attr = {OTHER_ATTRS(16, 16, CMD(0x805, 0, 0))}},
	{"CREATE_LAG by OTHER", "devx_is_general_cmd", EINVAL, ON5(DEVX, DEVX_OTHER),
	 .attr = {OTHER_ATTRS(0x20, 16, CMD(0x840, 0, 0))}},
	{"CREATE_LAG as an object", "devx_is_obj_create_cmd", EINVAL, DEVX_MAKE,
	 .attr = {MAKE_ATTRS(0x20, 16, CMD(0x840, 0, 0))}},
	{"QUERY_LAG", "", 0, ON5(DEVX, DEVX_OTHER),
	 .attr = {OTHER_ATTRS(16, 0x10, CMD(0x842, 0, 0))}},
	{"ALLOW_OTHER_VHCA_ACCESS by OTHER", "mlx5_cmd_do: BAD_OP", EREMOTEIO,
	 ON5(DEVX, DEVX_OTHER), .attr = {OTHER_ATTRS(0x50, 16, CMD(0xb16, 0, 0))}},
	{"SET_PP_RATE_LIMIT by OTHER", "devx_is_general_cmd", EINVAL, ON5(DEVX, DEVX_OTHER),
	 .attr = {OTHER_ATTRS(0x40, 16, CMD(0x780, 0, 0))}},
	{"the last opcode before the general ones", "devx_is_general_cmd", EINVAL,
	 ON5(DEVX, DEVX_OTHER), .attr = {OTHER_ATTRS(16, 16, CMD(0xaff, 0, 0))}},
	{"the last general opcode", "mlx5_cmd_do: BAD_OP", EREMOTEIO, ON5(DEVX, DEVX_OTHER),
	 .attr = {OTHER_ATTRS(16, 16, CMD(0xcff, 0, 0))}},
	{"the first opcode after the general ones", "devx_is_general_cmd: MLX5_CMD_OP_GENERAL_END",
	 EINVAL, ON5(DEVX, DEVX_OTHER), .attr = {OTHER_ATTRS(16, 16, CMD(0xd00, 0, 0))}},
	{"QUERY_ESW_FUNCTIONS without a switch", "mlx5_cmd_do: BAD_OP", EREMOTEIO,
	 ON5(DEVX, DEVX_OTHER), .attr = {OTHER_ATTRS(16, 16, CMD(0x740, 0, 0))}},
	{"QUERY_VPORT_COUNTER of port 1", "", 0, ON5(DEVX, DEVX_OTHER),
	 .attr = {OTHER_ATTRS(0x20, 0x210, CMD(0x770, 0, 0), 0, 1)}},
	{"QUERY_VPORT_COUNTER of port 9", "mlx5_cmd_do: BAD_PARAM", EREMOTEIO,
	 ON5(DEVX, DEVX_OTHER), .attr = {OTHER_ATTRS(0x20, 0x210, CMD(0x770, 0, 0), 0, 9)}},
	{"QUERY_NIC_VPORT_CONTEXT", "", 0, ON5(DEVX, DEVX_OTHER),
	 .attr = {OTHER_ATTRS(16, 0x110, CMD(0x754, 0, 0))}},
	{"MODIFY_NIC_VPORT_CONTEXT", "devx_is_general_cmd", EINVAL, ON5(DEVX, DEVX_OTHER),
	 .attr = {OTHER_ATTRS(16, 16, CMD(0x755, 0, 0))}},
	{"SET_ROCE_ADDRESS", "devx_is_general_cmd", EINVAL, ON5(DEVX, DEVX_OTHER),
	 .attr = {OTHER_ATTRS(0x30, 16, CMD(0x761, 0, 0))}},
	{"QUERY_ROCE_ADDRESS of InfiniBand", "mlx5_cmd_do: BAD_PARAM", EREMOTEIO,
	 ON5(DEVX, DEVX_OTHER), .attr = {OTHER_ATTRS(16, 0x30, CMD(0x760, 0, 0))}, .link = ON_IB},
	{"QUERY_ROCE_ADDRESS", "", 0, ON5(DEVX, DEVX_OTHER),
	 .attr = {OTHER_ATTRS(16, 0x30, CMD(0x760, 0, 0))}, .link = ON_ETH},
	{"QUERY_ROCE_ADDRESS of entry 16", "mlx5_cmd_do: BAD_INDEX", EREMOTEIO,
	 ON5(DEVX, DEVX_OTHER), .attr = {OTHER_ATTRS(16, 0x30, CMD(0x760, 0, 0), 0, 16)},
	 .link = ON_ETH},
	{"QUERY_HCA_VPORT_CONTEXT", "", 0, ON5(DEVX, DEVX_OTHER),
	 .attr = {OTHER_ATTRS(16, 0x210, CMD(0x762, 0, 0))}, .link = ON_IB},
	{"QUERY_HCA_VPORT_CONTEXT of Ethernet", "mlx5_cmd_do: BAD_PARAM", EREMOTEIO,
	 ON5(DEVX, DEVX_OTHER), .attr = {OTHER_ATTRS(16, 0x210, CMD(0x762, 0, 0))}, .link = ON_ETH},
	{"QUERY_VNIC_ENV", "", 0, ON5(DEVX, DEVX_OTHER),
	 .attr = {OTHER_ATTRS(16, 0x210, CMD(0x76f, 0, 0))}},
	{"QUERY_ISSI through a tunnel", "devx_is_general_cmd; the firmware has no tunnels",
	 EREMOTEIO, ON5(DEVX, DEVX_OTHER), .attr = {OTHER_ATTRS(16, 0x70, CMD(0x10a, 1, 0))}},
	{"opcode of nobody through a tunnel", "devx_is_general_cmd: vhca_tunnel_commands is 0",
	 EINVAL, ON5(DEVX, DEVX_OTHER), .attr = {OTHER_ATTRS(16, 16, CMD(0xfff, 1, 0))}},
	{"two PSVs at once", "devx_is_obj_create_cmd: num_psv", EINVAL, DEVX_MAKE,
	 .attr = {MAKE_ATTRS(16, 16, CMD(0x600, 0, 0), 2 << 4)}},
	{"flow table entry by op_mod 1 at creation", "devx_is_obj_create_cmd: op_mod", EINVAL,
	 DEVX_MAKE, .attr = {MAKE_ATTRS(0x40, 16, CMD(0x936, 0, 1))}},
	{"flow table entry", "mlx5_cmd_do: BAD_OP", EREMOTEIO, DEVX_MAKE,
	 .attr = {MAKE_ATTRS(0x40, 16, CMD(0x936, 0, 0))}},
	{"flow counter", "mlx5_cmd_do: BAD_OP", EREMOTEIO, DEVX_MAKE,
	 .attr = {MAKE_ATTRS(16, 16, CMD(0x939, 0, 0))}},
	{"flow counters in bulk", "mlx5_cmd_do: BAD_OP", EREMOTEIO, DEVX_MAKE,
	 .attr = {MAKE_ATTRS(16, 16, CMD(0x939, 0, 0), 0, 0, 0, 0, 0, 0, 0, 1)}},
	{"VXLAN port", "mlx5_cmd_do: BAD_OP", EREMOTEIO, DEVX_MAKE,
	 .attr = {MAKE_ATTRS(16, 16, CMD(0x827, 0, 0), 0, 0, 0, 0, 0, 0, 0x12, 0xb5)}},
	{"L2 table entry", "mlx5_cmd_do: BAD_OP", EREMOTEIO, DEVX_MAKE,
	 .attr = {MAKE_ATTRS(0x40, 16, CMD(0x829, 0, 0))}},
	{"general object of an unknown type", "mlx5_cmd_do: BAD_PARAM", EREMOTEIO, DEVX_MAKE,
	 .attr = {MAKE_ATTRS(0x50, 16, CMD(0xa00, 0, 0xc))}},
	{"general object without a body", "mlx5_cmd_do: BAD_INPUT_LEN", EREMOTEIO, DEVX_MAKE,
	 .attr = {MAKE_ATTRS(16, 16, CMD(0xa00, 0, 0x2c))}},
	{"SQD_RTS of a QP by MODIFY", "devx_is_obj_modify_cmd", EINVAL,
	 ON5(DEVX_OBJ, DEVX_OBJ_MODIFY),
	 .attr = {MODIFY_ATTRS(QP, 0x110, CMD(0x50c, 0, 0), 0, 0, 0, QPN)}},
	{"transition of another QP", "devx_is_valid_obj_id", EINVAL, ON5(DEVX_OBJ, DEVX_OBJ_MODIFY),
	 .attr = {MODIFY_ATTRS(QP, 0x110, CMD(0x502, 0, 0), 0, 0, 0, QPN + 1)}},
	{"transition of a QP by the handle of a CQ", "devx_is_valid_obj_id", EINVAL,
	 ON5(DEVX_OBJ, DEVX_OBJ_MODIFY),
	 .attr = {MODIFY_ATTRS(CQ, 0x110, CMD(0x502, 0, 0), 0, 0, 0, QPN)}},
	{"transition that the state does not allow", "mlx5_cmd_do: BAD_QP_STATE", EREMOTEIO,
	 ON5(DEVX_OBJ, DEVX_OBJ_MODIFY),
	 .attr = {MODIFY_ATTRS(QP, 0x110, CMD(0x505, 0, 0), 0, 0, 0, QPN)}},
	{"change through a tunnel", "MLX5_IB_METHOD_DEVX_OBJ_MODIFY: vhca_tunnel_id", EINVAL,
	 ON5(DEVX_OBJ, DEVX_OBJ_MODIFY),
	 .attr = {MODIFY_ATTRS(QP, 0x110, CMD(0x502, 1, 0), 0, 0, 0, QPN)}},
	{"query through a tunnel", "MLX5_IB_METHOD_DEVX_OBJ_QUERY: vhca_tunnel_id", EINVAL,
	 ON5(DEVX_OBJ, DEVX_OBJ_QUERY),
	 .attr = {QUERY_ATTRS(QP, 16, 0x110, CMD(0x50b, 1, 0), 0, 0, 0, QPN)}},
	{"query of a QP", "", 0, ON5(DEVX_OBJ, DEVX_OBJ_QUERY),
	 .attr = {QUERY_ATTRS(QP, 16, 0x110, CMD(0x50b, 0, 0), 0, 0, 0, QPN)}},
	{"DCT query of a QP", "devx_is_valid_obj_id: the creating opcode", EINVAL,
	 ON5(DEVX_OBJ, DEVX_OBJ_QUERY),
	 .attr = {QUERY_ATTRS(QP, 16, 0x110, CMD(0x713, 0, 0), 0, 0, 0, QPN)}},
	{"query with too little room", "mlx5_cmd_do: BAD_OUTPUT_LEN", EREMOTEIO,
	 ON5(DEVX_OBJ, DEVX_OBJ_QUERY),
	 .attr = {QUERY_ATTRS(QP, 16, 16, CMD(0x50b, 0, 0), 0, 0, 0, QPN)}},

	/* ---- objects that only commands work on */
	{"transport domain", "", 0, DEVX_MAKE, .attr = {MAKE_ATTRS(16, 16, CMD(0x816, 0, 0))},
	 .more = true},
	{"transport domain destroyed", "", 0, DEVX_GONE, .attr = {GONE_ATTRS(NEXT)}},
	{"scheduling element", "", 0, DEVX_MAKE,
	 .attr = {MAKE_ATTRS(0x80, 0x40, CMD(0x782, 0, 0), 3)}, .more = true},
	{"scheduling element destroyed", "devx_obj_build_destroy_cmd: the hierarchy", 0, DEVX_GONE,
	 .attr = {GONE_ATTRS(NEXT)}},
	{"scheduling element of the switch", "mlx5_cmd_do: BAD_PARAM", EREMOTEIO, DEVX_MAKE,
	 .attr = {MAKE_ATTRS(0x80, 0x40, CMD(0x782, 0, 0), 2)}},
	{"reserved QPN", "", 0, DEVX_MAKE, .attr = {MAKE_ATTRS(0x20, 16, CMD(0xa00, 0, 0x2c))},
	 .more = true},
	{"reserved QPN destroyed", "devx_obj_build_destroy_cmd: the type", 0, DEVX_GONE,
	 .attr = {GONE_ATTRS(NEXT)}},
	{"AV mapping", "", 0, DEVX_MAKE, .attr = {MAKE_ATTRS(0x50, 16, CMD(0xa00, 0, 0x3a))},
	 .more = true},
	{"AV mapping destroyed", "", 0, DEVX_GONE, .attr = {GONE_ATTRS(NEXT)}},
	{"TIS outside of any domain", "mlx5_cmd_do: BAD_RES", EREMOTEIO, DEVX_MAKE,
	 .attr = {MAKE_ATTRS(0xc0, 16, CMD(0x912, 0, 0))}},
	{"RQ without a CQ", "mlx5_cmd_do: BAD_RES", EREMOTEIO, DEVX_MAKE,
	 .attr = {MAKE_ATTRS(0x110, 16, CMD(0x908, 0, 0))}},
	{"RQT without its list", "mlx5_cmd_do: BAD_INPUT_LEN", EREMOTEIO, DEVX_MAKE,
	 .attr = {MAKE_ATTRS(0x110, 16, CMD(0x916, 0, 0), [0x36] = 0, [0x37] = 1, [0x3b] = 1)}},
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
