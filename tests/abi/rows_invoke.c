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
	{"libibverbs' probe", "outlen < resp_size: the command is there", ENOSPC, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_QUERY_DEVICE), CORE_IN(8, 0)}},
	{"request too short", "inlen < req_size", ENOSPC, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_REG_MR), CORE_IN(32, 0), CORE_OUT(16, OUT)}},
	{"answer too short", "outlen < resp_size", ENOSPC, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_QUERY_DEVICE), CORE_IN(8, 0), CORE_OUT(170, OUT)}},
	{"request of 3 bytes", "CORE_IN has at least 4", EINVAL, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_DEALLOC_PD), CORE_IN(3, 0)}},
	{"inline handle of nothing", "xa_load", ENOENT, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_DEALLOC_PD), CORE_IN(4, NONE)}},
	{"inline handle with something behind", "ib_is_buffer_cleared", EOPNOTSUPP, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_DEALLOC_PD), CORE_IN(8, UINT64_C(1) << 40 | PD)}},
	{"request not mapped", "copy_from_user", EFAULT, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_REG_MR),
		  {.id = UVERBS_ATTR_CORE_IN, .len = 40, .data = NOWHERE},
		  CORE_OUT(16, OUT)}},
	{"request across the end of mapped memory", "copy_from_user", EFAULT, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_REG_MR),
		  {.id = UVERBS_ATTR_CORE_IN, .len = 40, .data = OUT_END - 20},
		  CORE_OUT(16, OUT)}},
	{"command 60", "num_write", EOPNOTSUPP, INVOKE, .attr = {CMD(60), CORE_IN(8, 0)}},
	{"command that no driver has", "REG_SMR", EOPNOTSUPP, INVOKE,
	 .attr = {CMD(10), CORE_IN(8, 0)}},
	{"extended command 200", "num_write_ex", EOPNOTSUPP, INVOKE,
	 .attr = {EX(200), CORE_IN(8, 0)}},
	{"command with bit 8", "IB_USER_VERBS_CMD_COMMAND_MASK", EINVAL, INVOKE,
	 .attr = {CMD(0x100 | IB_USER_VERBS_CMD_QUERY_DEVICE), CORE_IN(8, 0)}},
	{"command beyond 32 bits", "uverbs_get_const", EINVAL, INVOKE,
	 .attr = {CMD(UINT64_C(1) << 32), CORE_IN(8, 0)}},
	{"no command", "mandatory", EINVAL, INVOKE, .attr = {CORE_IN(8, 0)}},
	{"command without a context", "alloc_uobj", EINVAL, FRESH, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_ALLOC_PD), CORE_IN(8, 0), CORE_OUT(4, OUT)}},
	{"command whose answer cannot be written", "copy_to_user: the PD goes again", EFAULT,
	 INVOKE, .attr = {CMD(IB_USER_VERBS_CMD_ALLOC_PD), CORE_IN(8, 0), CORE_OUT(4, NOWHERE)}},
	{"driver's answer cannot be written", "ib_copy_to_udata", EFAULT, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_ALLOC_PD),
		  CORE_IN(8, 0),
		  CORE_OUT(4, OUT),
		  {.id = UVERBS_ATTR_UHW_OUT, .len = 4, .data = RDONLY}}},
	{"extended query with a comp_mask", "cmd.comp_mask", EINVAL, INVOKE,
	 .attr = {EX(IB_USER_VERBS_EX_CMD_QUERY_DEVICE), CORE_IN(8, 1), CORE_OUT(300, OUT)}},
	{"extended query with something behind", "ib_is_buffer_cleared", EOPNOTSUPP, INVOKE,
	 .attr = {EX(IB_USER_VERBS_EX_CMD_QUERY_DEVICE), CORE_IN(16, 0, 1), CORE_OUT(300, OUT)}},
	{"extended query with zeroes behind", "", 0, INVOKE,
	 .attr = {EX(IB_USER_VERBS_EX_CMD_QUERY_DEVICE), CORE_IN(16, 0, 0), CORE_OUT(8, OUT)}},
	{"query of port 2", "rdma_is_port_valid", EINVAL, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_QUERY_PORT), CORE_IN(16, 0, 2), CORE_OUT(40, OUT)}},

	REG(EINVAL, "start and address of different offsets", "start & ~PAGE_MASK", .start = MEM,
	    .hca_va = MEM + 8, .length = 64),
	REG(EINVAL, "remote write without local write", "ib_check_mr_access", AT(MEM, 64),
	    .access_flags = 2),
	REG(EINVAL, "remote atomic without local write", "ib_check_mr_access", AT(MEM, 64),
	    .access_flags = 8),
	REG(EINVAL, "unknown access flag", "IB_ACCESS_SUPPORTED", AT(MEM, 64),
	    .access_flags = 1 << 9),
	REG(EINVAL, "access flag 31", "IB_ACCESS_SUPPORTED", AT(MEM, 64), .access_flags = 1u << 31),
	REG(EINVAL, "no length", "npages == 0", AT(MEM, 0)),
	REG(EINVAL, "range that wraps", "addr + size < addr", AT(MEM, UINT64_MAX)),
	REG(EINVAL, "range that ends in the last page", "PAGE_ALIGN(addr + size)",
	    AT(UINT64_C(0xfffffffffffff010), 64)),
	REG(EFAULT, "memory that is not mapped", "pin_user_pages", AT(NOWHERE, 64)),
	REG(EFAULT, "memory that is not all mapped", "pin_user_pages", AT(OUT_END - 64, 8192)),
	REG(EFAULT, "memory of the kernel", "pin_user_pages", AT(KERNEL, 64)),
	REG(EFAULT, "read only memory to write to", "pin_user_pages", AT(RDONLY, 64),
	    .access_flags = 1),
	{"region without a PD", "xa_load", ENOENT, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_REG_MR), STRUCT(reg_mr, .pd_handle = NONE, AT(MEM, 64)),
		  CORE_OUT(16, OUT)}},
	{"region on a PD that is a CQ", "uobj->uapi_object", EINVAL, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_REG_MR), STRUCT(reg_mr, .pd_handle = CQ, AT(MEM, 64)),
		  CORE_OUT(16, OUT)}},
	{"access is checked before the PD", "the kernel's order", EINVAL, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_REG_MR),
		  STRUCT(reg_mr, .pd_handle = NONE, AT(MEM, 64), .access_flags = 2),
		  CORE_OUT(16, OUT)}},
	{"change nothing of a region", "!cmd.flags", EINVAL, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_REREG_MR), STRUCT(rereg_mr, .mr_handle = MR),
		  CORE_OUT(8, OUT)}},
	{"change something unknown of a region", "IB_MR_REREG_SUPPORTED", EOPNOTSUPP, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_REREG_MR), STRUCT(rereg_mr, .mr_handle = MR, .flags = 9),
		  CORE_OUT(8, OUT)}},
	{"flags are checked before the region", "the kernel's order", EOPNOTSUPP, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_REREG_MR), STRUCT(rereg_mr, .mr_handle = NONE, .flags = 8),
		  CORE_OUT(8, OUT)}},

	{"CQ resized to nothing", "entries < 1", EINVAL, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_RESIZE_CQ), STRUCT(resize_cq, .cq_handle = CQ, .cqe = 0),
		  CORE_OUT(8, OUT)}},
	{"CQ resized beyond the limit", "log_max_cq_sz", EINVAL, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_RESIZE_CQ),
		  STRUCT(resize_cq, .cq_handle = CQ, .cqe = 1 << 22), CORE_OUT(8, OUT)}},
	{"CQ resized without driver data", "ib_copy_from_udata", EINVAL, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_RESIZE_CQ), STRUCT(resize_cq, .cq_handle = CQ, .cqe = 100),
		  CORE_OUT(8, OUT)}},

	MODIFY(EINVAL, "INIT without its attributes", "ib_modify_qp_is_ok", TO_INIT,
	       .attr_mask = 1),
	MODIFY(EINVAL, "RESET to RTR", "ib_modify_qp_is_ok", .qp_state = 2, .attr_mask = 1),
	MODIFY(EINVAL, "state 9", "qp_state > IB_QPS_ERR", .qp_state = 9, .attr_mask = 1),
	MODIFY(EINVAL, "current state 9", "cur_qp_state > IB_QPS_ERR", TO_INIT, .cur_qp_state = 9,
	       .attr_mask = INIT_MASK | 2),
	MODIFY(EINVAL, "port 3", "rdma_is_port_valid", .qp_state = 1, .port_num = 3,
	       .attr_mask = INIT_MASK),
	MODIFY(EINVAL, "P_Key index 1000", "pkey_table_len", TO_INIT, .pkey_index = 1000,
	       .attr_mask = INIT_MASK),
	MODIFY(EINVAL, "path of port 0", "rdma_is_port_valid", .qp_state = 2,
	       .attr_mask = 1 | 1 << 7),
	MODIFY(EOPNOTSUPP, "attribute bit 28", "IB_QP_ATTR_STANDARD_BITS", TO_INIT,
	       .attr_mask = INIT_MASK | 1 << 28),
	MODIFY(EINVAL, "attributes of other transitions", "ib_modify_qp_is_ok", TO_INIT,
	       .attr_mask = INIT_MASK | 1 << 20),
	{"modify of no QP", "xa_load", ENOENT, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_MODIFY_QP),
		  STRUCT(modify_qp, .qp_handle = NONE, .attr_mask = 1)}},
	{"modify with driver data of 4 bytes", "udata.inlen", EINVAL, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_MODIFY_QP),
		  STRUCT(modify_qp, .qp_handle = QP, TO_INIT, .attr_mask = INIT_MASK),
		  {.id = UVERBS_ATTR_UHW_IN, .len = 4, .data = 0}}},
	{"query of no QP", "xa_load", ENOENT, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_QUERY_QP), STRUCT(query_qp, .qp_handle = NONE),
		  CORE_OUT(sizeof(struct ib_uverbs_query_qp_resp), OUT)}},
	{"QP of type 77", "default of the switch", EINVAL, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_CREATE_QP),
		  STRUCT(create_qp, .pd_handle = PD, .send_cq_handle = CQ, .recv_cq_handle = CQ,
			 .qp_type = 77),
		  CORE_OUT(32, OUT)}},
	{"QP without driver data", "process_udata_size", EINVAL, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_CREATE_QP),
		  STRUCT(create_qp, .pd_handle = PD, .send_cq_handle = CQ, .recv_cq_handle = CQ,
			 .qp_type = IB_UVERBS_QPT_RC),
		  CORE_OUT(32, OUT)}},
	{"address handle of port 0", "rdma_is_port_valid", EINVAL, INVOKE,
	 .attr = {CMD(IB_USER_VERBS_CMD_CREATE_AH), STRUCT(create_ah, .pd_handle = PD),
		  CORE_OUT(4, OUT)}},
};
ROWS_END(invoke_rows);
