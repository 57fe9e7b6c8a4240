/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The frame of RDMA_VERBS_IOCTL, attributes, and the DEVICE object. */
#include "abi.h"

#define DEVICE .object = UVERBS_OBJECT_DEVICE
#define QUERY_PORT DEVICE, .method = UVERBS_METHOD_QUERY_PORT
#define PORT(n)                                                              \
	{                                                                    \
		.id = UVERBS_ATTR_QUERY_PORT_PORT_NUM, .len = 8, .data = (n) \
	}
#define RESP_LEN sizeof(struct ib_uverbs_query_port_resp_ex)
#define RESP                                                                    \
	{                                                                       \
		.id = UVERBS_ATTR_QUERY_PORT_RESP, .len = RESP_LEN, .data = OUT \
	}
#define GOOD .nattr = 1, .attr = {PORT(1), RESP}

const struct ioctl_row frame_rows[] = {
	{"a right call", "", 0, QUERY_PORT, GOOD},
	{"another ioctl", "uverbs_ioctl.c ib_uverbs_ioctl: ENOIOCTLCMD becomes ENOTTY", ENOTTY,
	 .cmd = 0xc0181b02, QUERY_PORT, GOOD},
	{"header not mapped", "uverbs_ioctl.c ib_uverbs_ioctl: copy_from_user", EFAULT,
	 .at = NOWHERE},
	{"header in kernel memory", "uverbs_ioctl.c ib_uverbs_ioctl: copy_from_user", EFAULT,
	 .at = KERNEL},
	{"header at 0", "uverbs_ioctl.c ib_uverbs_ioctl: copy_from_user", EFAULT, .at = 8},
	{"header across the end of mapped memory", "uverbs_ioctl.c ib_uverbs_ioctl: copy_from_user",
	 EFAULT, .at = IN_END - 16, QUERY_PORT, GOOD},
	{"attributes across the end of mapped memory",
	 "uverbs_ioctl.c ib_uverbs_ioctl: copy_from_user of all attributes", EFAULT,
	 .at = IN_END - 24 - 24, QUERY_PORT, GOOD},
	{"attributes not mapped, method unknown",
	 "uverbs_ioctl.c ib_uverbs_cmd_verbs: the method is looked up first", EPROTONOSUPPORT,
	 .at = IN_END - 24, DEVICE, .method = 30},
	{"length too short", "uverbs_ioctl.c ib_uverbs_ioctl: length == struct_size(num_attrs)",
	 EINVAL, QUERY_PORT, GOOD, .length = 24},
	{"length too long", "uverbs_ioctl.c ib_uverbs_ioctl: length == struct_size(num_attrs)",
	 EINVAL, QUERY_PORT, GOOD, .length = 72},
	{"length of the header missing",
	 "uverbs_ioctl.c ib_uverbs_ioctl: length == struct_size(num_attrs)", EINVAL, QUERY_PORT,
	 GOOD, .length = 32},
	{"one attribute announced, two there",
	 "uverbs_ioctl.c ib_uverbs_ioctl: length == struct_size(num_attrs)", EINVAL, QUERY_PORT,
	 GOOD, .num_attrs = 1},
	{"65535 attributes", "uverbs_ioctl.c ib_uverbs_ioctl: length == struct_size(num_attrs)",
	 EINVAL, QUERY_PORT, GOOD, .num_attrs = 65535},
	{"more than a page", "uverbs_ioctl.c ib_uverbs_ioctl: length <= PAGE_SIZE", EINVAL,
	 QUERY_PORT, .length = 24 + 16 * 255, .num_attrs = 255},
	{"reserved1",
	 "uverbs_ioctl.c ib_uverbs_ioctl: reserved fields say that it is another protocol",
	 EPROTONOSUPPORT, QUERY_PORT, GOOD, .reserved1 = 1},
	{"reserved2",
	 "uverbs_ioctl.c ib_uverbs_ioctl: reserved fields say that it is another protocol",
	 EPROTONOSUPPORT, QUERY_PORT, GOOD, .reserved2 = 0x80000000},
	{"length and reserved1", "uverbs_ioctl.c ib_uverbs_ioctl: the length is checked first",
	 EINVAL, QUERY_PORT, GOOD, .length = 24, .reserved1 = 1},
	{"another driver", "uverbs_ioctl.c ib_uverbs_cmd_verbs: hdr.driver_id == uapi.driver_id",
	 EINVAL, QUERY_PORT, GOOD, .driver_id = RDMA_DRIVER_MLX4},
	{"another driver and method",
	 "uverbs_ioctl.c ib_uverbs_cmd_verbs: the driver is checked first", EINVAL, DEVICE,
	 .method = 30, .driver_id = RDMA_DRIVER_MLX4},
	{"unknown object", "uverbs_ioctl.c ib_uverbs_cmd_verbs: radix tree", EPROTONOSUPPORT,
	 .object = 0x7ff},
	{"unknown object of the driver", "uverbs_ioctl.c ib_uverbs_cmd_verbs: radix tree",
	 EPROTONOSUPPORT, .object = 0x17ff},
	{"object beyond the namespaces", "uverbs_ioctl.c ib_uverbs_cmd_verbs: radix tree",
	 EPROTONOSUPPORT, .object = 0xffff},
	{"unknown method", "uverbs_ioctl.c ib_uverbs_cmd_verbs: radix tree", EPROTONOSUPPORT,
	 DEVICE, .method = 0x3f},
	{"unknown method of the driver", "uverbs_ioctl.c ib_uverbs_cmd_verbs: radix tree",
	 EPROTONOSUPPORT, DEVICE, .method = 0x103f},
	{"unknown attribute, mandatory", "uverbs_ioctl.c: UVERBS_ATTR_F_MANDATORY", EPROTONOSUPPORT,
	 QUERY_PORT, .attr = {PORT(1), RESP, {.id = 17}}},
	{"unknown attribute, optional", "uverbs_ioctl.c: ignored", 0, QUERY_PORT,
	 .attr = {PORT(1), RESP, {.id = 17, .len = 99, .optional = true}}},
	{"attribute twice", "uverbs_ioctl.c: attr_present", EINVAL, QUERY_PORT,
	 .attr = {PORT(1), PORT(1), RESP}},
	{"first attribute wrong, second unknown", "uverbs_ioctl.c: in the order given", EINVAL,
	 QUERY_PORT,
	 .attr = {{.id = UVERBS_ATTR_QUERY_PORT_PORT_NUM, .len = 7}, {.id = 17, .len = 8}}},
	{"mandatory attribute missing", "uverbs_ioctl.c ib_uverbs_run_method: attr_mandatory",
	 EINVAL, QUERY_PORT, .attr = {PORT(1)}},
	{"no attributes", "uverbs_ioctl.c ib_uverbs_run_method: attr_mandatory", EINVAL,
	 QUERY_PORT},
};
ROWS_END(frame_rows);

#define GID_TABLE DEVICE, .method = UVERBS_METHOD_QUERY_GID_TABLE
#define GID_SIZE(n)                                                                 \
	{                                                                           \
		.id = UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, .len = 8, .data = (n) \
	}
#define GID_FLAGS(n)                                                           \
	{                                                                      \
		.id = UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, .len = 4, .data = (n) \
	}
#define GIDS(n)                                                                         \
	{                                                                               \
		.id = UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, .len = (n), .data = OUT \
	}
#define NGIDS                                                                                    \
	{                                                                                        \
		.id = UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, .len = 8, .data = OUT + 4096 \
	}
#define GID_ENTRY DEVICE, .method = UVERBS_METHOD_QUERY_GID_ENTRY
#define GID_OF(p, i, f)                                                               \
	{.id = UVERBS_ATTR_QUERY_GID_ENTRY_PORT, .len = 8, .data = (p)},              \
		{.id = UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, .len = 8, .data = (i)}, \
	{                                                                             \
		.id = UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, .len = 4, .data = (f)        \
	}
#define GID_RESP                                                                     \
	{                                                                            \
		.id = UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, .len = 32, .data = OUT \
	}
#define GET_CONTEXT DEVICE, .method = UVERBS_METHOD_GET_CONTEXT
#define UCTX_RESP                                                 \
	{                                                         \
		.id = UVERBS_ATTR_UHW_OUT, .len = 72, .data = OUT \
	}
#define UCTX(...)                                                                    \
	.attr = {{.id = UVERBS_ATTR_UHW_IN,                                          \
		  .len = 32,                                                         \
		  .in = &(const struct mlx5_ib_alloc_ucontext_req_v2){__VA_ARGS__}}, \
		 UCTX_RESP}
#define INFO DEVICE, .method = UVERBS_METHOD_INFO_HANDLES, .nattr = 1
#define INFO_OF(o, n)                                                           \
	.attr = {{.id = UVERBS_ATTR_INFO_OBJECT_ID, .len = 8, .data = (o)},     \
		 {.id = UVERBS_ATTR_INFO_TOTAL_HANDLES, .len = 4, .data = OUT}, \
		 {.id = UVERBS_ATTR_INFO_HANDLES_LIST, .len = (n), .data = OUT + 64}}

const struct ioctl_row device_rows[] = {
	{"constant of 4 bytes", "uverbs_ioctl.c uverbs_process_attr: CONST_IN has 8", EINVAL,
	 QUERY_PORT, .attr = {{.id = UVERBS_ATTR_QUERY_PORT_PORT_NUM, .len = 4, .data = 1}, RESP}},
	{"constant by address", "uverbs_ioctl.c uverbs_process_attr: CONST_IN has 8", EINVAL,
	 QUERY_PORT,
	 .attr = {{.id = UVERBS_ATTR_QUERY_PORT_PORT_NUM, .len = 16, .data = IN}, RESP}},
	{"reserved bytes of an attribute", "uverbs_ioctl.c uverbs_process_attr: attr_data.reserved",
	 EINVAL, QUERY_PORT,
	 .attr = {{.id = UVERBS_ATTR_QUERY_PORT_PORT_NUM, .len = 8, .data = 1, .reserved = 1},
		  RESP}},
	{"port 0", "device.c ib_query_port: rdma_is_port_valid", EINVAL, QUERY_PORT,
	 .attr = {PORT(0), RESP}},
	{"port 2 of 1", "device.c ib_query_port: rdma_is_port_valid", EINVAL, QUERY_PORT,
	 .attr = {PORT(2), RESP}},
	{"port 257", "uverbs_ioctl.c _uverbs_get_const_unsigned: the constant is a u8", EINVAL,
	 QUERY_PORT, .attr = {PORT(257), RESP}},
	{"answer too short", "uverbs_ioctl.c uverbs_process_attr: up to `reserved`", EINVAL,
	 QUERY_PORT,
	 .attr = {PORT(1), {.id = UVERBS_ATTR_QUERY_PORT_RESP, .len = RESP_LEN - 9, .data = OUT}}},
	{"answer longer than known",
	 "uverbs_ioctl.c uverbs_copy_to_struct_or_zero: the rest is cleared", 0, QUERY_PORT,
	 .attr = {PORT(1), {.id = UVERBS_ATTR_QUERY_PORT_RESP, .len = 4096, .data = OUT}}},
	{"answer not mapped", "uverbs_ioctl.c uverbs_copy_to_struct_or_zero: copy_to_user", EFAULT,
	 QUERY_PORT,
	 .attr = {PORT(1), {.id = UVERBS_ATTR_QUERY_PORT_RESP, .len = RESP_LEN, .data = NOWHERE}}},
	{"answer read only", "uverbs_ioctl.c uverbs_copy_to_struct_or_zero: copy_to_user", EFAULT,
	 QUERY_PORT,
	 .attr = {PORT(1), {.id = UVERBS_ATTR_QUERY_PORT_RESP, .len = RESP_LEN, .data = RDONLY}}},
	{"answer across the end of mapped memory",
	 "uverbs_ioctl.c uverbs_copy_to_struct_or_zero: copy_to_user", EFAULT, QUERY_PORT,
	 .attr = {PORT(1),
		  {.id = UVERBS_ATTR_QUERY_PORT_RESP, .len = RESP_LEN, .data = OUT_END - 40}}},
	{"cleared rest across the end of mapped memory",
	 "uverbs_ioctl.c uverbs_copy_to_struct_or_zero: clear_user", EFAULT, QUERY_PORT,
	 .attr = {PORT(1), {.id = UVERBS_ATTR_QUERY_PORT_RESP, .len = 128, .data = OUT_END - 100}}},
	{"query without a context", "uverbs_main.c ib_uverbs_get_ucontext_file", EINVAL, FRESH,
	 QUERY_PORT, GOOD},

	{"GIDs of size 0", "uverbs_std_types_device.c !entry_size", EINVAL, GID_TABLE,
	 .attr = {GID_SIZE(0), GID_FLAGS(0), GIDS(32), NGIDS}},
	{"room that is no multiple of the size", "uverbs_std_types_device.c len % entry_size",
	 EINVAL, GID_TABLE, .attr = {GID_SIZE(32), GID_FLAGS(0), GIDS(48), NGIDS}},
	{"no room for the only GID", "uverbs_std_types_device.c len < entry_size", EINVAL,
	 GID_TABLE, .attr = {GID_SIZE(64), GID_FLAGS(0), GIDS(32), NGIDS}},
	{"flags of the GID table", "uverbs_ioctl.c uverbs_get_flags32: none are known", EINVAL,
	 GID_TABLE, .attr = {GID_SIZE(32), GID_FLAGS(1), GIDS(64), NGIDS}},
	{"GIDs longer than known",
	 "uverbs_ioctl.c uverbs_copy_to_struct_or_zero: the rest is cleared", 0, GID_TABLE,
	 .attr = {GID_SIZE(48), GID_FLAGS(0), GIDS(480), NGIDS}},
	{"GID of no port", "device.c ib_query_port: rdma_is_port_valid", EINVAL, GID_ENTRY,
	 .attr = {GID_OF(3, 0, 0), GID_RESP}},
	{"GID beyond the table", "cache.c rdma_get_gid_attr", EINVAL, GID_ENTRY,
	 .attr = {GID_OF(1, 4000, 0), GID_RESP}},
	{"GID that is not set", "cache.c rdma_get_gid_attr", ENODATA, GID_ENTRY,
	 .attr = {GID_OF(1, 5, 0), GID_RESP}},
	{"flags of a GID", "uverbs_ioctl.c uverbs_get_flags32: none are known", EINVAL, GID_ENTRY,
	 .attr = {GID_OF(1, 0, 2), GID_RESP}},
	{"GID 0", "", 0, GID_ENTRY, .attr = {GID_OF(1, 0, 0), GID_RESP}},

	{"second context", "uverbs_cmd.c ib_alloc_ucontext: file->ucontext", EINVAL, GET_CONTEXT,
	 UCTX(.total_num_bfregs = 2, .lib_caps = 3)},
	{"context without driver data", "mlx5/main.c mlx5_ib_alloc_ucontext: udata.inlen", EINVAL,
	 FRESH, GET_CONTEXT, .attr = {UCTX_RESP}},
	{"context with 12 bytes of driver data", "mlx5/main.c mlx5_ib_alloc_ucontext: udata.inlen",
	 EINVAL, FRESH, GET_CONTEXT,
	 .attr = {{.id = UVERBS_ATTR_UHW_IN, .len = 12, .data = IN}, UCTX_RESP}},
	{"context with unknown flags",
	 "mlx5/main.c mlx5_ib_alloc_ucontext: MLX5_IB_ALLOC_UCTX_DEVX", EOPNOTSUPP, FRESH,
	 GET_CONTEXT, UCTX(.total_num_bfregs = 2, .flags = 6, .lib_caps = 3)},
	{"context with a comp_mask", "mlx5/main.c mlx5_ib_alloc_ucontext: comp_mask", EOPNOTSUPP,
	 FRESH, GET_CONTEXT, UCTX(.total_num_bfregs = 2, .comp_mask = 1, .lib_caps = 3)},
	{"more low latency registers than all",
	 "mlx5/main.c mlx5_ib_alloc_ucontext: num_low_latency_bfregs", EINVAL, FRESH, GET_CONTEXT,
	 UCTX(.total_num_bfregs = 4, .num_low_latency_bfregs = 4, .lib_caps = 3)},
	{"driver data not mapped", "uverbs_ioctl.c ib_uverbs_ioctl: copy_from_user", EFAULT, FRESH,
	 GET_CONTEXT, .attr = {{.id = UVERBS_ATTR_UHW_IN, .len = 32, .data = NOWHERE}, UCTX_RESP},
	 .driver = true},
	{"context whose answer cannot be written",
	 "uverbs_ioctl.c uverbs_copy_to_struct_or_zero: copy_to_user", EFAULT, FRESH, GET_CONTEXT,
	 .attr = {{.id = UVERBS_ATTR_UHW_IN,
		   .len = 32,
		   .in = &(const struct mlx5_ib_alloc_ucontext_req_v2){.total_num_bfregs = 2,
								       .lib_caps = 3}},
		  {.id = UVERBS_ATTR_UHW_OUT, .len = 72, .data = RDONLY}},
	 .driver = true},

	{"handles into 3 bytes", "uverbs_std_types_device.c at least one", EINVAL, INFO,
	 INFO_OF(UVERBS_OBJECT_PD, 3)},
	{"handles into 6 bytes", "uverbs_std_types_device.c a multiple of 4", EINVAL, INFO,
	 INFO_OF(UVERBS_OBJECT_PD, 6)},
	{"handles of nothing", "uverbs_std_types_device.c: uapi_get_object", ENOENT, INFO,
	 INFO_OF(0x7ff, 64)},
	{"handles of anything", "uverbs_std_types_device.c: uapi_get_object", ENOMSG, INFO,
	 INFO_OF(0xffff, 64)},
	{"handles of an object beyond 16 bits",
	 "uverbs_ioctl.c _uverbs_get_const_unsigned: the constant is a u16", EINVAL, INFO,
	 INFO_OF(0x10001, 64)},
};
ROWS_END(device_rows);
