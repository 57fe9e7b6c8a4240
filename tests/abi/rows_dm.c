/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Device memory: uverbs_std_types_dm.c, DM_MR_REG of uverbs_std_types_mr.c, and mlx5/dm.c. */
#include "forms.h"

#define ON_DM(m) .object = UVERBS_OBJECT_DM, .method = MLX5_IB_METHOD_DM_##m, .nattr = 1
#define ALLOC_BASE(len, align)                                    \
	HANDLE(ALLOC_DM_HANDLE, 0), VAL(ALLOC_DM_LENGTH, 8, len), \
		VAL(ALLOC_DM_ALIGNMENT, 4, align), VAL5(ALLOC_DM_RESP_START_OFFSET, 8, OUT)
#define ALLOC(len, align) ALLOC_BASE(len, align), VAL5(ALLOC_DM_RESP_PAGE_INDEX, 2, OUT + 8)
#define NEW_DM                                                                                  \
	{                                                                                       \
		"device memory", "", 0, ON(DM, DM_ALLOC), .attr = {ALLOC(100, 0)}, .more = true \
	}
#define FREED(what, h)                                                              \
	{                                                                           \
		what, "", 0, ON(DM, DM_FREE), .attr = { HANDLE(FREE_DM_HANDLE, h) } \
	}
#define REGION(offset, len, access)                                                        \
	HANDLE(REG_DM_MR_HANDLE, 0), VAL(REG_DM_MR_OFFSET, 8, offset),                     \
		VAL(REG_DM_MR_LENGTH, 8, len), HANDLE(REG_DM_MR_PD_HANDLE, PD),            \
		VAL(REG_DM_MR_ACCESS_FLAGS, 8, access), HANDLE(REG_DM_MR_DM_HANDLE, NEXT), \
		VAL(REG_DM_MR_RESP_LKEY, 4, OUT), VAL(REG_DM_MR_RESP_RKEY, 4, OUT + 8)
#define LW IB_UVERBS_ACCESS_LOCAL_WRITE
#define ZERO_BASED IB_UVERBS_ACCESS_ZERO_BASED

const struct ioctl_row dm_rows[] = {
	NEW_DM,
	{"where it is", "", 0, ON_DM(QUERY),
	 .attr = {HANDLE5(QUERY_DM_REQ_HANDLE, NEXT), VAL5(QUERY_DM_RESP_START_OFFSET, 8, OUT),
		  VAL5(QUERY_DM_RESP_PAGE_INDEX, 2, OUT + 8),
		  VAL5(QUERY_DM_RESP_LENGTH, 8, OUT + 16)},
	 .more = true},
	{"address of an operation", "mlx5/dm.c: MLX5_CAP_DEV_MEM(memic_operations)", EOPNOTSUPP,
	 ON_DM(MAP_OP_ADDR),
	 .attr = {HANDLE5(DM_MAP_OP_ADDR_REQ_HANDLE, NEXT), VAL5(DM_MAP_OP_ADDR_REQ_OP, 1, 0),
		  VAL5(DM_MAP_OP_ADDR_RESP_START_OFFSET, 8, OUT),
		  VAL5(DM_MAP_OP_ADDR_RESP_PAGE_INDEX, 2, OUT + 8)},
	 .more = true},
	{"region over it", "", 0, ON(MR, DM_MR_REG), .attr = {REGION(36, 64, LW | ZERO_BASED)},
	 .more = true},
	{"where that is", "", 0, ON(MR, QUERY_MR),
	 .attr = {HANDLE(QUERY_MR_HANDLE, NEXT + 1), VAL(QUERY_MR_RESP_LKEY, 4, OUT),
		  VAL(QUERY_MR_RESP_RKEY, 4, OUT + 8), VAL(QUERY_MR_RESP_LENGTH, 8, OUT + 16),
		  VAL(QUERY_MR_RESP_IOVA, 8, OUT + 24)},
	 .more = true},
	{"region over device memory changed", "uverbs_cmd.c ib_uverbs_rereg_mr: mr->dm", EINVAL,
	 RUN(C(REREG_MR), rereg_mr, 8, .mr_handle = NEXT + 1, .flags = 4, .access_flags = 1,
	     .pd_handle = PD),
	 .more = true},
	{"device memory in use", "uverbs_std_types_dm.c: dm->usecnt", EBUSY, ON(DM, DM_FREE),
	 .attr = {HANDLE(FREE_DM_HANDLE, NEXT)}, .more = true},
	{"region freed", "", 0, ON(MR, MR_DESTROY), .attr = {HANDLE(DESTROY_MR_HANDLE, NEXT + 1)},
	 .more = true},
	{"region that is not zero-based", "DM_MR_REG: IB_ZERO_BASED", EINVAL, ON(MR, DM_MR_REG),
	 .attr = {REGION(0, 64, LW)}, .more = true},
	{"region without flags", "DM_MR_REG: UVERBS_ATTR_FLAGS_IN is optional, IB_ZERO_BASED",
	 EINVAL, ON(MR, DM_MR_REG),
	 .attr = {HANDLE(REG_DM_MR_HANDLE, 0), VAL(REG_DM_MR_OFFSET, 8, 0),
		  VAL(REG_DM_MR_LENGTH, 8, 64), HANDLE(REG_DM_MR_PD_HANDLE, PD),
		  HANDLE(REG_DM_MR_DM_HANDLE, NEXT), VAL(REG_DM_MR_RESP_LKEY, 4, OUT),
		  VAL(REG_DM_MR_RESP_RKEY, 4, OUT + 8)},
	 .more = true},
	{"region for remote writes only", "rdma/ib_verbs.h ib_check_mr_access", EINVAL,
	 ON(MR, DM_MR_REG), .attr = {REGION(0, 64, IB_UVERBS_ACCESS_REMOTE_WRITE | ZERO_BASED)},
	 .more = true},
	{"region for windows", "mlx5/mr.c mlx5_ib_reg_dm_mr: MLX5_IB_DM_MEMIC_ALLOWED_ACCESS",
	 EINVAL, ON(MR, DM_MR_REG), .attr = {REGION(0, 64, IB_UVERBS_ACCESS_MW_BIND | ZERO_BASED)},
	 .more = true},
	{"region beyond the end", "DM_MR_REG: attr.length > dm->length - attr.offset", EINVAL,
	 ON(MR, DM_MR_REG), .attr = {REGION(37, 64, LW | ZERO_BASED)}, .more = true},
	{"region that begins beyond the end", "DM_MR_REG: attr.offset > dm->length", EINVAL,
	 ON(MR, DM_MR_REG), .attr = {REGION(101, 0, LW | ZERO_BASED)}, .more = true},
	{"device memory freed", "", 0, ON(DM, DM_FREE), .attr = {HANDLE(FREE_DM_HANDLE, NEXT)}},
	{"device memory freed twice", "rdma_core.c lookup_get_idr_uobject: xa_load", ENOENT,
	 ON(DM, DM_FREE), .attr = {HANDLE(FREE_DM_HANDLE, NEXT)}},
	{"query of no device memory", "rdma_core.c lookup_get_idr_uobject: xa_load", ENOENT,
	 ON_DM(QUERY),
	 .attr = {HANDLE5(QUERY_DM_REQ_HANDLE, NONE), VAL5(QUERY_DM_RESP_START_OFFSET, 8, OUT),
		  VAL5(QUERY_DM_RESP_PAGE_INDEX, 2, OUT + 8),
		  VAL5(QUERY_DM_RESP_LENGTH, 8, OUT + 16)}},

	/* ---- sizes, alignments, types */
	{"aligned device memory", "mlx5/dm.c mlx5_cmd_alloc_memic: 64 << 6", 0, ON(DM, DM_ALLOC),
	 .attr = {ALLOC(4096, 12), VAL5(ALLOC_DM_REQ_TYPE, 8, MLX5_IB_UAPI_DM_TYPE_MEMIC)},
	 .more = true},
	FREED("aligned device memory freed", NEXT),
	{"alignment beyond the largest", "mlx5/dm.c: mlx5_alignment > max_alignment", EINVAL,
	 ON(DM, DM_ALLOC), .attr = {ALLOC(64, 13)}},
	{"device memory of no bytes", "mlx5/dm.c mlx5_cmd_alloc_memic: !length", EINVAL,
	 ON(DM, DM_ALLOC), .attr = {ALLOC(0, 0)}},
	{"device memory of almost 2^64 bytes", "mlx5/dm.c: roundup() wraps to 0", EINVAL,
	 ON(DM, DM_ALLOC), .attr = {ALLOC(UINT64_MAX - 3, 0)}},
	{"more device memory than there is", "mlx5/dm.c: bitmap_find_next_zero_area", ENOMEM,
	 ON(DM, DM_ALLOC), .attr = {ALLOC(UINT64_C(1) << 32, 0)}},
	{"device memory without room for the index", "mlx5/dm.c: uverbs_copy_to", ENOENT,
	 ON(DM, DM_ALLOC), .attr = {ALLOC_BASE(64, 0)}},
	{"device memory of an unknown type", "mlx5/dm.c mlx5_ib_alloc_dm: default of the switch",
	 EOPNOTSUPP, ON(DM, DM_ALLOC), .attr = {ALLOC(64, 0), VAL5(ALLOC_DM_REQ_TYPE, 8, 9)}},
};
ROWS_END(dm_rows);
