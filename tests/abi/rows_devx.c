/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* DEVX: commands that each method allows, and umems. */
#include "abi.h"

/* Firmware commands as they are on the wire: opcode, uid, op_mod... */
#define BYTES(n, ...)                           \
	.len = (n), .in = &(const uint8_t[(n)]) \
	{                                       \
		__VA_ARGS__                     \
	}
#define OP(o) (o) >> 8, (o)&0xff
#define OTHER .object = MLX5_IB_OBJECT_DEVX, .method = MLX5_IB_METHOD_DEVX_OTHER
#define OTHER_IN(n, ...)                                                    \
	{                                                                   \
		.id = MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, BYTES(n, __VA_ARGS__) \
	}
#define OTHER_OUT(n, at)                                                        \
	{                                                                       \
		.id = MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, .len = (n), .data = (at) \
	}
#define CREATE \
	.object = MLX5_IB_OBJECT_DEVX_OBJ, .method = MLX5_IB_METHOD_DEVX_OBJ_CREATE, .nattr = 1
#define CREATE_IN(n, ...)                                                        \
	{.id = MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE},                             \
	{                                                                        \
		.id = MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, BYTES(n, __VA_ARGS__) \
	}
#define CREATE_OUT(n, at)                                                            \
	{                                                                            \
		.id = MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, .len = (n), .data = (at) \
	}
#define ON(m) .object = MLX5_IB_OBJECT_DEVX_OBJ, .method = MLX5_IB_METHOD_DEVX_OBJ_##m, .nattr = 1
#define ON_IN(h, n, ...)                                                        \
	{.id = MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, .data = (h)},                \
	{                                                                       \
		.id = MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, BYTES(n, __VA_ARGS__) \
	}
#define ON_OUT(n)                                                                  \
	{                                                                          \
		.id = MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, .len = (n), .data = OUT \
	}
#define REG .object = MLX5_IB_OBJECT_DEVX_UMEM, .method = MLX5_IB_METHOD_DEVX_UMEM_REG, .nattr = 1
#define UMEM(at, n, acc)                                                            \
	{.id = MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE},                                  \
		{.id = MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, .len = 8, .data = (at)},    \
		{.id = MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, .len = 8, .data = (n)},      \
		{.id = MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, .len = 4, .data = (acc)}, \
	{                                                                           \
		.id = MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, .len = 4, .data = OUT      \
	}
#define PAGES(b)                                                                    \
	{                                                                           \
		.id = MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, .len = 8, .data = (b) \
	}
#define UAR_ALLOC .object = MLX5_IB_OBJECT_UAR, .method = MLX5_IB_METHOD_UAR_OBJ_ALLOC, .nattr = 1
#define UAR_ATTRS(t, at)                                                                   \
	{.id = MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE},                                         \
		{.id = MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, .len = 8, .data = (t)},            \
		{.id = MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, .len = 8, .data = (at)},    \
		{.id = MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, .len = 4, .data = OUT + 8}, \
	{                                                                                  \
		.id = MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, .len = 4, .data = OUT + 12       \
	}
#define QUERY_EQN .object = MLX5_IB_OBJECT_DEVX, .method = MLX5_IB_METHOD_DEVX_QUERY_EQN

enum {
	QUERY_ISSI = 0x10a,
	CREATE_CQ = 0x400,
	QUERY_CQ = 0x402,
	CREATE_QP = 0x500,
	RST2INIT_QP = 0x502,
	QUERY_QP = 0x50b,
	ALLOC_PD = 0x800,
	SYNC_STEERING = 0xb00,
	ALLOC_UAR = 0x802,
	CREATE_UMEM = 0xa08,
};

const struct ioctl_row devx_rows[] = {
	{"QUERY_ISSI", "", 0, OTHER, .attr = {OTHER_IN(16, OP(QUERY_ISSI)), OTHER_OUT(0x70, OUT)}},
	{"command of 15 bytes", "uverbs_ioctl.c uverbs_process_attr: at least a header", EINVAL,
	 OTHER, .attr = {OTHER_IN(15, OP(QUERY_ISSI)), OTHER_OUT(0x70, OUT)}},
	{"answer of 15 bytes", "uverbs_ioctl.c uverbs_process_attr: at least a header", EINVAL,
	 OTHER, .attr = {OTHER_IN(16, OP(QUERY_ISSI)), OTHER_OUT(15, OUT)}},
	{"command not mapped", "uverbs_ioctl.c uverbs_process_attr: copy_from_user", EFAULT, OTHER,
	 .attr = {{.id = MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, .len = 16, .data = NOWHERE},
		  OTHER_OUT(0x70, OUT)}},
	{"answer not mapped", "uverbs_ioctl.c uverbs_copy_to", EFAULT, OTHER,
	 .attr = {OTHER_IN(16, OP(QUERY_ISSI)), OTHER_OUT(0x70, NOWHERE)}},
	{"creation by OTHER", "mlx5/devx.c devx_is_general_cmd", EINVAL, OTHER,
	 .attr = {OTHER_IN(16, OP(ALLOC_PD)), OTHER_OUT(16, OUT)}},
	{"command of the driver alone", "mlx5/devx.c devx_is_general_cmd", EINVAL, OTHER,
	 .attr = {OTHER_IN(16, OP(ALLOC_UAR)), OTHER_OUT(16, OUT)}},
	{"opcode 0", "mlx5/devx.c devx_is_general_cmd", EINVAL, OTHER,
	 .attr = {OTHER_IN(16, 0), OTHER_OUT(16, OUT)}},
	{"opcode that the firmware does not know", "mlx5/core cmd.c: status in the answer",
	 EREMOTEIO, OTHER, .attr = {OTHER_IN(16, OP(SYNC_STEERING)), OTHER_OUT(16, OUT)}},
	{"command without a context", "uverbs_main.c ib_uverbs_get_ucontext_file", EINVAL, FRESH,
	 OTHER, .attr = {OTHER_IN(16, OP(QUERY_ISSI)), OTHER_OUT(0x70, OUT)}},
	{"query by CREATE", "mlx5/devx.c devx_is_obj_create_cmd", EINVAL, CREATE,
	 .attr = {CREATE_IN(16, OP(QUERY_ISSI)), CREATE_OUT(16, OUT)}},
	{"umem by CREATE", "mlx5/devx.c devx_is_obj_create_cmd", EINVAL, CREATE,
	 .attr = {CREATE_IN(16, OP(CREATE_UMEM)), CREATE_OUT(16, OUT)}},
	{"creation through a tunnel", "mlx5/devx.c devx_is_obj_create_cmd: vhca_tunnel_id", EINVAL,
	 CREATE, .attr = {CREATE_IN(16, OP(ALLOC_PD), 0, 0, 0, 1), CREATE_OUT(16, OUT)}},
	{"creation that the firmware refuses", "mlx5/core cmd.c: status in the answer", EREMOTEIO,
	 CREATE, .attr = {CREATE_IN(0x110, OP(CREATE_QP)), CREATE_OUT(16, OUT)}},
	{"creation cut short", "mlx5/core cmd.c: the firmware's BAD_INPUT_LEN", EREMOTEIO, CREATE,
	 .attr = {CREATE_IN(0x20, OP(CREATE_QP)), CREATE_OUT(16, OUT)}},
	{"creation whose answer cannot be written", "mlx5/devx.c: obj_destroy", EFAULT, CREATE,
	 .attr = {CREATE_IN(16, OP(ALLOC_PD)), CREATE_OUT(16, RDONLY)}},
	{"CQ on an EQ that is not there", "mlx5/core eq.c mlx5_eqn2comp_eq", ENOENT, CREATE,
	 .attr = {CREATE_IN(0x110, OP(CREATE_CQ)), CREATE_OUT(16, OUT)}},
	{"QP query of a CQ", "mlx5/devx.c devx_is_valid_obj_id", EINVAL, ON(QUERY),
	 .attr = {ON_IN(CQ, 16, OP(QUERY_QP)), ON_OUT(0x110)}},
	{"query of another QP", "mlx5/devx.c devx_is_valid_obj_id", EINVAL, ON(QUERY),
	 .attr = {ON_IN(QP, 16, OP(QUERY_QP), 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xfe),
		  ON_OUT(0x110)}},
	{"query of a PD of verbs", "mlx5/devx.c devx_is_valid_obj_id", EINVAL, ON(QUERY),
	 .attr = {ON_IN(PD, 16, OP(QUERY_QP)), ON_OUT(0x110)}},
	{"query of nothing", "rdma_core.c lookup_get_idr_uobject: xa_load", ENOENT, ON(QUERY),
	 .attr = {ON_IN(NONE, 16, OP(QUERY_QP)), ON_OUT(0x110)}},
	{"change by QUERY", "mlx5/devx.c devx_is_obj_query_cmd", EINVAL, ON(QUERY),
	 .attr = {ON_IN(QP, 0x110, OP(RST2INIT_QP)), ON_OUT(16)}},
	{"query by MODIFY", "mlx5/devx.c devx_is_obj_modify_cmd", EINVAL, ON(MODIFY),
	 .attr = {ON_IN(CQ, 16, OP(QUERY_CQ)), ON_OUT(0x110)}},
	{"destroying a CQ as a DEVX object",
	 "rdma_core.c rdma_lookup_get_uobject: uobj->uapi_object", EINVAL,
	 .object = MLX5_IB_OBJECT_DEVX_OBJ, .method = MLX5_IB_METHOD_DEVX_OBJ_DESTROY,
	 .attr = {{.id = MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, .data = CQ}}},
	{"EQ of vector 99", "mlx5/core eq.c mlx5_vector2eqn", ENOENT, QUERY_EQN,
	 .attr = {{.id = MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, .len = 4, .data = 99},
		  {.id = MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, .len = 4, .data = OUT}}},

	{"umem with an unknown access flag", "uverbs_ioctl.c uverbs_get_flags32", EINVAL, REG,
	 .attr = {UMEM(MEM, 64, 1 << 7)}},
	{"umem with remote write alone", "ib_verbs.h ib_check_mr_access", EINVAL, REG,
	 .attr = {UMEM(MEM, 64, 2)}},
	{"umem not mapped", "umem.c ib_umem_get", EFAULT, REG, .attr = {UMEM(NOWHERE, 64, 1)}},
	{"umem that wraps", "umem.c ib_umem_get", EINVAL, REG, .attr = {UMEM(MEM, UINT64_MAX, 1)}},
	{"umem of no bytes", "umem.c ib_umem_get", EINVAL, REG, .attr = {UMEM(MEM, 0, 1)}},
	{"umem read only", "umem.c ib_umem_get", EFAULT, REG, .attr = {UMEM(RDONLY, 64, 1)}},
	{"umem with no page size", "mlx5/devx.c devx_umem_find_best_pgsize", EINVAL, REG,
	 .attr = {UMEM(MEM, 64, 1), PAGES(0)}},
	{"umem with pages of 2 KiB", "mlx5/devx.c devx_umem_find_best_pgsize", EINVAL, REG,
	 .attr = {UMEM(MEM, 64, 1), PAGES(2048)}},
	{"umem with pages larger than itself", "mlx5/devx.c devx_umem_find_best_pgsize", EINVAL,
	 REG, .attr = {UMEM(MEM, 4096, 1), PAGES(1 << 21)}},
	{
		"umem whose number cannot be written",
		"uverbs_ioctl.c uverbs_copy_to: it goes again",
		EFAULT,
		REG,
		.attr = {{.id = MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE},
			 {.id = MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, .len = 8, .data = MEM},
			 {.id = MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, .len = 8, .data = 64},
			 {.id = MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, .len = 4, .data = NOWHERE}},
	},
	{"UAR of type 2", "mlx5/main.c UAR_OBJ_ALLOC: default of the switch", EOPNOTSUPP, UAR_ALLOC,
	 .attr = {UAR_ATTRS(2, OUT)}},
	{"UAR whose offset cannot be written", "uverbs_ioctl.c uverbs_copy_to: it goes again",
	 EFAULT, UAR_ALLOC, .attr = {UAR_ATTRS(0, NOWHERE)}},
};
ROWS_END(devx_rows);
