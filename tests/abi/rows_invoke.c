/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The older commands through INVOKE_WRITE. */
#include "abi.h"

#define INVOKE .object = UVERBS_OBJECT_DEVICE, .method = UVERBS_METHOD_INVOKE_WRITE
#define CMD(n)                                                     \
	{                                                          \
		.id = UVERBS_ATTR_WRITE_CMD, .len = 8, .data = (n) \
	}
#define EX(n) CMD(UINT64_C(0x80000000) | (n))
#define CORE_IN(n, ...)                                                                       \
	{                                                                                     \
		.id = UVERBS_ATTR_CORE_IN, .len = (n), .in = &(const uint64_t[((n) + 7) / 8]) \
		{                                                                             \
			__VA_ARGS__                                                           \
		}                                                                             \
	}
#define CORE_OUT(n, at)                                              \
	{                                                            \
		.id = UVERBS_ATTR_CORE_OUT, .len = (n), .data = (at) \
	}
#define STRUCT(t, ...)                                                          \
	{                                                                       \
		.id = UVERBS_ATTR_CORE_IN, .len = sizeof(struct ib_uverbs_##t), \
		.in = &(const struct ib_uverbs_##t)                             \
		{                                                               \
			__VA_ARGS__                                             \
		}                                                               \
	}
#define REG(e, what, rule, ...)                                       \
	{                                                             \
		what, rule, e, INVOKE, .attr = {                      \
			CMD(IB_USER_VERBS_CMD_REG_MR),                \
			STRUCT(reg_mr, .pd_handle = PD, __VA_ARGS__), \
			CORE_OUT(16, OUT)                             \
		}                                                     \
	}
#define AT(a, n) .start = (a), .hca_va = (a), .length = (n)
#define MODIFY(e, what, rule, ...)                                      \
	{                                                               \
		what, rule, e, INVOKE, .attr = {                        \
			CMD(IB_USER_VERBS_CMD_MODIFY_QP),               \
			STRUCT(modify_qp, .qp_handle = QP, __VA_ARGS__) \
		}                                                       \
	}
#define TO_INIT .qp_state = 1, .port_num = 1
#define INIT_MASK (1 | 1 << 4 | 1 << 5 | 8) /* STATE, PKEY_INDEX, PORT, ACCESS_FLAGS */

const struct ioctl_row invoke_rows[] = {
	{"libibverbs' probe",
	 "uverbs_std_types_device.c INVOKE_WRITE: outlen < resp_size: the command is there", ENOSPC,
	 INVOKE, .attr = {CMD(IB_USER_VERBS_CMD_QUERY_DEVICE), CORE_IN(8, 0)}},
	{"request too short", "uverbs_std_types_device.c INVOKE_WRITE: inlen < req_size", ENOSPC,
	 INVOKE, .attr = {CMD(IB_USER_VERBS_CMD_REG_MR), CORE_IN(32, 0), CORE_OUT(16, OUT)}},
	{"answer too short", "uverbs_std_types_device.c INVOKE_WRITE: outlen < resp_size", ENOSPC,
	 INVOKE, .attr = {CMD(IB_USER_VERBS_CMD_QUERY_DEVICE), CORE_IN(8, 0), CORE_OUT(170, OUT)}},
	{"request of 3 bytes", "uverbs_ioctl.c uverbs_process_attr: CORE_IN has at least 4", EINVAL,
	 INVOKE, .attr = {CMD(IB_USER_VERBS_CMD_DEALLOC_PD), CORE_IN(3, 0)}},
	{"inline handle of nothing", "rdma_core.c lookup_get_idr_uobject: xa_load", ENOENT, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_DEALLOC_PD), CORE_IN(4, NONE)}},
	{"inline handle with something behind", "uverbs_cmd.c uverbs_request: ib_is_buffer_cleared",
	 EOPNOTSUPP, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_DEALLOC_PD), CORE_IN(8, UINT64_C(1) << 40 | PD)}},
	{"request not mapped", "uverbs_cmd.c uverbs_request: copy_from_user", EFAULT, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_REG_MR),
		  {.id = UVERBS_ATTR_CORE_IN, .len = 40, .data = NOWHERE},
		  CORE_OUT(16, OUT)}},
	{"request across the end of mapped memory", "uverbs_cmd.c uverbs_request: copy_from_user",
	 EFAULT, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_REG_MR),
		  {.id = UVERBS_ATTR_CORE_IN, .len = 40, .data = OUT_END - 20},
		  CORE_OUT(16, OUT)}},
	{"command 60", "rdma_core.h uapi_get_method: num_write", EOPNOTSUPP, INVOKE,
	 .attr = {CMD(60), CORE_IN(8, 0)}},
	{"command that no driver has", "uverbs_uapi.c: REG_SMR", EOPNOTSUPP, INVOKE,
	 .attr = {CMD(10), CORE_IN(8, 0)}},
	{"extended command 200", "rdma_core.h uapi_get_method: num_write_ex", EOPNOTSUPP, INVOKE,
	 .attr = {EX(200), CORE_IN(8, 0)}},
	{"command with bit 8", "rdma_core.h uapi_get_method: IB_USER_VERBS_CMD_COMMAND_MASK",
	 EINVAL, INVOKE, .attr = {CMD(0x100 | IB_USER_VERBS_CMD_QUERY_DEVICE), CORE_IN(8, 0)}},
	{"command beyond 32 bits", "uverbs_ioctl.c _uverbs_get_const_unsigned", EINVAL, INVOKE,
	 .attr = {CMD(UINT64_C(1) << 32), CORE_IN(8, 0)}},
	{"no command", "uverbs_ioctl.c ib_uverbs_run_method: mandatory", EINVAL, INVOKE,
	 .attr = {CORE_IN(8, 0)}},
	{"command without a context", "rdma_core.c alloc_uobj", EINVAL, FRESH, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_ALLOC_PD), CORE_IN(8, 0), CORE_OUT(4, OUT)}},
	{"command whose answer cannot be written", "uverbs_cmd.c: copy_to_user: the PD goes again",
	 EFAULT, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_ALLOC_PD), CORE_IN(8, 0), CORE_OUT(4, NOWHERE)}},
	{"driver's answer cannot be written", "ib_verbs.h ib_copy_to_udata", EFAULT, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_ALLOC_PD),
		  CORE_IN(8, 0),
		  CORE_OUT(4, OUT),
		  {.id = UVERBS_ATTR_UHW_OUT, .len = 4, .data = RDONLY}},
	 .driver = true},
	{"extended query with a comp_mask", "cmd.comp_mask", EINVAL, INVOKE,
	 .attr = {EX(IB_USER_VERBS_EX_CMD_QUERY_DEVICE), CORE_IN(8, 1), CORE_OUT(300, OUT)}},
	{"extended query with something behind",
	 "uverbs_cmd.c uverbs_request: ib_is_buffer_cleared", EOPNOTSUPP, INVOKE,
	 .attr = {EX(IB_USER_VERBS_EX_CMD_QUERY_DEVICE), CORE_IN(16, 0, 1), CORE_OUT(300, OUT)}},
	{"extended query with zeroes behind", "", 0, INVOKE,
	 .attr = {EX(IB_USER_VERBS_EX_CMD_QUERY_DEVICE), CORE_IN(16, 0, 0), CORE_OUT(8, OUT)}},
	{"query of port 2", "uverbs_cmd.c: rdma_is_port_valid", EINVAL, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_QUERY_PORT), CORE_IN(16, 0, 2), CORE_OUT(40, OUT)}},

	REG(EINVAL, "start and address of different offsets",
	    "uverbs_cmd.c ib_uverbs_reg_mr: start & ~PAGE_MASK", .start = MEM, .hca_va = MEM + 8,
	    .length = 64),
	REG(EINVAL, "remote write without local write", "ib_verbs.h ib_check_mr_access",
	    AT(MEM, 64), .access_flags = 2),
	REG(EINVAL, "remote atomic without local write", "ib_verbs.h ib_check_mr_access",
	    AT(MEM, 64), .access_flags = 8),
	REG(EINVAL, "unknown access flag", "ib_verbs.h ib_check_mr_access: IB_ACCESS_SUPPORTED",
	    AT(MEM, 64), .access_flags = 1 << 9),
	REG(EINVAL, "access flag 31", "ib_verbs.h ib_check_mr_access: IB_ACCESS_SUPPORTED",
	    AT(MEM, 64), .access_flags = 1u << 31),
	REG(EINVAL, "no length", "umem.c ib_umem_get: npages == 0", AT(MEM, 0)),
	REG(EINVAL, "range that wraps", "umem.c ib_umem_get: addr + size < addr",
	    AT(MEM, UINT64_MAX)),
	REG(EINVAL, "range that ends in the last page",
	    "umem.c ib_umem_get: PAGE_ALIGN(addr + size)", AT(UINT64_C(0xfffffffffffff010), 64)),
	REG(EFAULT, "memory that is not mapped", "umem.c ib_umem_get: pin_user_pages_fast",
	    AT(NOWHERE, 64)),
	REG(EFAULT, "memory that is not all mapped", "umem.c ib_umem_get: pin_user_pages_fast",
	    AT(OUT_END - 64, 8192)),
	REG(EFAULT, "memory of the kernel", "umem.c ib_umem_get: pin_user_pages_fast",
	    AT(KERNEL, 64)),
	REG(EFAULT, "read only memory to write to", "umem.c ib_umem_get: pin_user_pages_fast",
	    AT(RDONLY, 64), .access_flags = 1),
	{"region without a PD", "rdma_core.c lookup_get_idr_uobject: xa_load", ENOENT, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_REG_MR), STRUCT(reg_mr, .pd_handle = NONE, AT(MEM, 64)),
		  CORE_OUT(16, OUT)}},
	{"region on a PD that is a CQ", "rdma_core.c rdma_lookup_get_uobject: uobj->uapi_object",
	 EINVAL, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_REG_MR), STRUCT(reg_mr, .pd_handle = CQ, AT(MEM, 64)),
		  CORE_OUT(16, OUT)}},
	{"access is checked before the PD", "uverbs_cmd.c: the kernel's order", EINVAL, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_REG_MR),
		  STRUCT(reg_mr, .pd_handle = NONE, AT(MEM, 64), .access_flags = 2),
		  CORE_OUT(16, OUT)}},
	{"change nothing of a region", "uverbs_cmd.c: !cmd.flags", EINVAL, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_REREG_MR), STRUCT(rereg_mr, .mr_handle = MR),
		  CORE_OUT(8, OUT)}},
	{"change something unknown of a region", "uverbs_cmd.c: IB_MR_REREG_SUPPORTED", EOPNOTSUPP,
	 INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_REREG_MR), STRUCT(rereg_mr, .mr_handle = MR, .flags = 9),
		  CORE_OUT(8, OUT)}},
	{"flags are checked before the region", "uverbs_cmd.c: the kernel's order", EOPNOTSUPP,
	 INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_REREG_MR), STRUCT(rereg_mr, .mr_handle = NONE, .flags = 8),
		  CORE_OUT(8, OUT)}},

	{"CQ resized to nothing", "mlx5/cq.c entries < 1", EINVAL, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_RESIZE_CQ), STRUCT(resize_cq, .cq_handle = CQ, .cqe = 0),
		  CORE_OUT(8, OUT)}},
	{"CQ resized beyond the limit", "mlx5/cq.c log_max_cq_sz", EINVAL, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_RESIZE_CQ),
		  STRUCT(resize_cq, .cq_handle = CQ, .cqe = 1 << 22), CORE_OUT(8, OUT)}},
	{"CQ resized without driver data", "ib_verbs.h ib_copy_from_udata", EINVAL, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_RESIZE_CQ), STRUCT(resize_cq, .cq_handle = CQ, .cqe = 100),
		  CORE_OUT(8, OUT)}},

	MODIFY(EINVAL, "INIT without its attributes",
	       "mlx5/qp.c mlx5_ib_modify_qp: ib_modify_qp_is_ok", TO_INIT, .attr_mask = 1),
	MODIFY(EINVAL, "RESET to RTR", "mlx5/qp.c mlx5_ib_modify_qp: ib_modify_qp_is_ok",
	       .qp_state = 2, .attr_mask = 1),
	MODIFY(EINVAL, "state 9", "uverbs_cmd.c modify_qp: qp_state > IB_QPS_ERR", .qp_state = 9,
	       .attr_mask = 1),
	MODIFY(EINVAL, "current state 9", "uverbs_cmd.c modify_qp: cur_qp_state > IB_QPS_ERR",
	       TO_INIT, .cur_qp_state = 9, .attr_mask = INIT_MASK | 2),
	MODIFY(EINVAL, "port 3", "uverbs_cmd.c: rdma_is_port_valid", .qp_state = 1, .port_num = 3,
	       .attr_mask = INIT_MASK),
	MODIFY(EINVAL, "P_Key index 1000", "mlx5/qp.c mlx5_ib_modify_qp: pkey_table_len", TO_INIT,
	       .pkey_index = 1000, .attr_mask = INIT_MASK),
	MODIFY(EINVAL, "path of port 0", "uverbs_cmd.c: rdma_is_port_valid", .qp_state = 2,
	       .attr_mask = 1 | 1 << 7),
	MODIFY(EOPNOTSUPP, "attribute bit 28", "uverbs_cmd.c IB_QP_ATTR_STANDARD_BITS", TO_INIT,
	       .attr_mask = INIT_MASK | 1 << 28),
	MODIFY(EINVAL, "attributes of other transitions",
	       "mlx5/qp.c mlx5_ib_modify_qp: ib_modify_qp_is_ok", TO_INIT,
	       .attr_mask = INIT_MASK | 1 << 20),
	{"modify of no QP", "rdma_core.c lookup_get_idr_uobject: xa_load", ENOENT, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_MODIFY_QP),
		  STRUCT(modify_qp, .qp_handle = NONE, .attr_mask = 1)}},
	{"modify with driver data of 4 bytes", "mlx5/qp.c mlx5_ib_modify_qp: udata->inlen", EINVAL,
	 INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_MODIFY_QP),
		  STRUCT(modify_qp, .qp_handle = QP, TO_INIT, .attr_mask = INIT_MASK),
		  {.id = UVERBS_ATTR_UHW_IN, .len = 4, .data = 0}}},
	{"query of no QP", "rdma_core.c lookup_get_idr_uobject: xa_load", ENOENT, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_QUERY_QP), STRUCT(query_qp, .qp_handle = NONE),
		  CORE_OUT(sizeof(struct ib_uverbs_query_qp_resp), OUT)}},
	{"QP of type 77", "uverbs_cmd.c create_qp: default of the switch", EINVAL, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_CREATE_QP),
		  STRUCT(create_qp, .pd_handle = PD, .send_cq_handle = CQ, .recv_cq_handle = CQ,
			 .qp_type = 77),
		  CORE_OUT(32, OUT)}},
	{"QP without driver data", "mlx5/qp.c process_udata_size", EINVAL, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_CREATE_QP),
		  STRUCT(create_qp, .pd_handle = PD, .send_cq_handle = CQ, .recv_cq_handle = CQ,
			 .qp_type = IB_UVERBS_QPT_RC),
		  CORE_OUT(32, OUT)}},
	{"address handle of port 0", "uverbs_cmd.c: rdma_is_port_valid", EINVAL, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_CREATE_AH), STRUCT(create_ah, .pd_handle = PD),
		  CORE_OUT(4, OUT)}},
};
ROWS_END(invoke_rows);
