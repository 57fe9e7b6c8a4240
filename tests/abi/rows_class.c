/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Classes of bad input, by name: ranges that wrap, length 0, huge counts, sizes at their limits and
 * one beyond, use after destruction, handles of another type and of another file. An accepted size
 * shows by the next error: its memory is missing.
 */
#include "forms.h"

#define LAST_PAGE UINT64_C(0xfffffffffffff000)
#define LOG_MAX_QP_SZ 15
#define LOG_MAX_SRQ_SZ 15
#define LOG_MAX_CQ_SZ 22
#define MAX_WQE_SZ_RQ 512

/* CREATE_x with one difference in the driver's data. */
#define CQ_AT(e, w, r, n, ...)                                                     \
	{                                                                          \
		"CQ " w, r, e,                                                     \
			RUN_UHW(C(CREATE_CQ), create_cq, 8,                        \
				UHW(mlx5_ib_create_cq, .cqe_size = 64, .flags = 2, \
				    .uar_page_index = UAR_PAGE, __VA_ARGS__),      \
				8, .cqe = (n), .comp_channel = -1),                \
			.driver = true                                             \
	}
#define QP_AT(e, w, r, ...)                                                                  \
	{                                                                                    \
		"QP " w, r, e,                                                               \
			RUN_UHW(C(CREATE_QP), create_qp, 32,                                 \
				UHW(mlx5_ib_create_qp, .flags = MLX5_QP_FLAG_UAR_PAGE_INDEX, \
				    .bfreg_index = UAR_PAGE, __VA_ARGS__),                   \
				40, QP_REQ),                                                 \
			.driver = true                                                       \
	}
#define QP_PLACE .buf_addr = MEM + 0x5000, .db_addr = NEXT_DBR
#define SRQ_AT(e, w, r, wr, sge, ...)                                                     \
	{                                                                                 \
		"SRQ " w, r, e,                                                           \
			RUN_UHW(C(CREATE_SRQ), create_srq, 16,                            \
				UHW(mlx5_ib_create_srq, __VA_ARGS__), 8, .pd_handle = PD, \
				.max_wr = (wr), .max_sge = (sge)),                        \
			.driver = true                                                    \
	}
#define SRQ_PLACE .buf_addr = MEM + 0x6000, .db_addr = NEXT_DBR
#define RESIZE(e, w, r, n, ...)                                                                  \
	{                                                                                        \
		"CQ resized " w, r, e,                                                           \
			RUN_UHW(C(RESIZE_CQ), resize_cq, 8, UHW(mlx5_ib_resize_cq, __VA_ARGS__), \
				0, .cq_handle = CQ, .cqe = (n)),                                 \
			.driver = true                                                           \
	}
#define REREG(e, w, r, ...)                                                                     \
	{                                                                                       \
		"region moved " w, r, e,                                                        \
			RUN(C(REREG_MR), rereg_mr, 8, .mr_handle = MR, .flags = 1, __VA_ARGS__) \
	}
#define OTHER_TYPE "rdma_core.c rdma_lookup_get_uobject: uobj->uapi_object", EINVAL
#define GONE "rdma_core.c lookup_get_idr_uobject: xa_load", ENOENT
#define UMEM_GET "umem.c ib_umem_get"

const struct ioctl_row class_rows[] = {
	/* ---- start and length that wrap around */
	CQ_AT(EINVAL, "whose records wrap", "mlx5/doorbell.c mlx5_ib_db_map_user: " UMEM_GET, 7,
	      .buf_addr = MEM + 0x1000, .db_addr = LAST_PAGE),
	QP_AT(EINVAL, "whose buffer wraps", UMEM_GET, .buf_addr = LAST_PAGE, .db_addr = NEXT_DBR,
	      .sq_wqe_count = 64, .rq_wqe_count = 4, .rq_wqe_shift = 4),
	QP_AT(EINVAL, "whose record wraps", "mlx5/doorbell.c mlx5_ib_db_map_user: " UMEM_GET,
	      .buf_addr = MEM + 0x5000, .db_addr = LAST_PAGE, .sq_wqe_count = 4, .rq_wqe_count = 4,
	      .rq_wqe_shift = 4),
	SRQ_AT(EINVAL, "whose buffer wraps", UMEM_GET, 1000, 1, .buf_addr = LAST_PAGE,
	       .db_addr = NEXT_DBR),
	SRQ_AT(EINVAL, "whose record wraps", "mlx5/doorbell.c mlx5_ib_db_map_user: " UMEM_GET, 15,
	       1, .buf_addr = MEM + 0x6000, .db_addr = LAST_PAGE),
	RESIZE(EINVAL, "into a buffer that wraps", "mlx5/cq.c resize_user: " UMEM_GET, 127,
	       .buf_addr = LAST_PAGE, .cqe_size = 64),
	REREG(EINVAL, "to where it wraps", UMEM_GET, AT(MEM, UINT64_MAX)),
	REREG(EINVAL, "to the last page", UMEM_GET, AT(LAST_PAGE, 4096)),

	/* ---- order of checks: the memory, its offset in the page, then features */
	CQ_AT(EFAULT, "in memory that is not there, at an odd address",
	      UMEM_GET ": pin_user_pages_fast", 7, .buf_addr = NOWHERE + 8, .db_addr = NEXT_DBR),
	CQ_AT(EINVAL, "at an odd address", "mlx5/cq.c create_cq_user: !page_size", 7,
	      .buf_addr = MEM + 0x1008, .db_addr = NEXT_DBR),
	CQ_AT(EFAULT, "compressed, in memory that is not there", UMEM_GET ": pin_user_pages_fast",
	      7, .buf_addr = NOWHERE, .db_addr = NEXT_DBR, .cqe_comp_en = 1),
	CQ_AT(EINVAL, "compressed, in no format", "mlx5/cq.c mini_cqe_res_format_to_hw", 7,
	      .buf_addr = MEM + 0x1000, .db_addr = NEXT_DBR, .cqe_comp_en = 1),
	CQ_AT(EINVAL, "compressed, in two formats", "mlx5/cq.c mini_cqe_res_format_to_hw", 7,
	      .buf_addr = MEM + 0x1000, .db_addr = NEXT_DBR, .cqe_comp_en = 1,
	      .cqe_comp_res_format = 3),
	QP_AT(EFAULT, "in memory that is not there, at an odd address",
	      UMEM_GET ": pin_user_pages_fast", .buf_addr = NOWHERE + 8, .db_addr = NEXT_DBR,
	      .sq_wqe_count = 4, .rq_wqe_count = 4, .rq_wqe_shift = 4),
	QP_AT(EINVAL, "at an odd address", "mlx5/qp.c _create_user_qp: !page_size",
	      .buf_addr = MEM + 0x5008, .db_addr = NEXT_DBR, .sq_wqe_count = 4, .rq_wqe_count = 4,
	      .rq_wqe_shift = 4),
	SRQ_AT(EFAULT, "in memory that is not there, at an odd address",
	       UMEM_GET ": pin_user_pages_fast", 15, 1, .buf_addr = NOWHERE + 8,
	       .db_addr = NEXT_DBR),
	SRQ_AT(EINVAL, "at an odd address", "mlx5/srq_cmd.c set_srq_page_size", 15, 1,
	       .buf_addr = MEM + 0x6008, .db_addr = NEXT_DBR),
	RESIZE(EFAULT, "into memory that is not there, at an odd address",
	       UMEM_GET ": pin_user_pages_fast", 127, .buf_addr = NOWHERE + 8, .cqe_size = 64),
	{"QP without a receive queue that has its size", "mlx5/qp.c create_user_qp: rq_wqe_count",
	 EINVAL,
	 RUN_UHW(C(CREATE_QP), create_qp, 32, QP_UHW, 40, .pd_handle = PD, .send_cq_handle = CQ,
		 .recv_cq_handle = CQ, .max_send_wr = 4, .qp_type = IB_UVERBS_QPT_RC)},
	{"CQ with real time stamps", "mlx5/cq.c create_cq_user: noted only", 0,
	 RUN_UHW(C(CREATE_CQ), create_cq, 8,
		 UHW(mlx5_ib_create_cq, .buf_addr = MEM + 0x1000, .db_addr = NEXT_DBR,
		     .cqe_size = 64,
		     .flags = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX |
			      MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS,
		     .uar_page_index = UAR_PAGE),
		 8, .cqe = 7, .comp_channel = -1),
	 .more = true},
	{"QP on it", "mlx5/qp.c get_qp_ts_format", EOPNOTSUPP,
	 RUN_UHW(C(CREATE_QP), create_qp, 32, QP_UHW, 40, .pd_handle = PD, .send_cq_handle = NEXT,
		 .recv_cq_handle = CQ, .max_send_wr = 4, .max_recv_wr = 4,
		 .qp_type = IB_UVERBS_QPT_RC),
	 .more = true},
	{"it goes", "", 0, RUN(C(DESTROY_CQ), destroy_cq, 8, .cq_handle = NEXT)},

	/* ---- length 0 */
	REREG(EINVAL, "to no bytes", UMEM_GET ": npages == 0", AT(MEM, 0)),
	RESIZE(EINVAL, "to CQEs of no bytes", UMEM_GET ": npages == 0", 127,
	       .buf_addr = MEM + 0x2000),
	{"command of no bytes", "uverbs_ioctl.c uverbs_process_attr: CORE_IN has at least 4",
	 EINVAL, INVOKE, .nattr = 2,
	 .attr = {{.id = UVERBS_ATTR_WRITE_CMD, .len = 8, .data = C(DEALLOC_PD)},
		  {.id = UVERBS_ATTR_CORE_IN}}},
	{"no command", "uverbs_cmd.c uverbs_request: inlen < req_size", ENOSPC, INVOKE,
	 .attr = {{.id = UVERBS_ATTR_WRITE_CMD, .len = 8, .data = C(DEALLOC_PD)}}},
	{"DEVX command of no bytes", "uverbs_ioctl.c uverbs_process_attr: at least a header",
	 EINVAL, .object = MLX5_IB_OBJECT_DEVX, .method = MLX5_IB_METHOD_DEVX_OTHER,
	 .attr = {VAL5(DEVX_OTHER_CMD_IN, 0, 0), VAL5(DEVX_OTHER_CMD_OUT, 16, OUT)}},
	{"room for no handle", "uverbs_std_types_device.c INFO_HANDLES", EINVAL,
	 .object = UVERBS_OBJECT_DEVICE, .method = UVERBS_METHOD_INFO_HANDLES, .nattr = 1,
	 .attr = {VAL(INFO_OBJECT_ID, 8, UVERBS_OBJECT_PD), VAL(INFO_TOTAL_HANDLES, 4, OUT),
		  VAL(INFO_HANDLES_LIST, 0, OUT)}},

	/* ---- huge counts */
	{"room for more handles than there is memory",
	 "uverbs_std_types_device.c INFO_HANDLES: only what there is is written", 0,
	 .object = UVERBS_OBJECT_DEVICE, .method = UVERBS_METHOD_INFO_HANDLES, .nattr = 1,
	 .attr = {VAL(INFO_OBJECT_ID, 8, UVERBS_OBJECT_PD), VAL(INFO_TOTAL_HANDLES, 4, OUT),
		  VAL(INFO_HANDLES_LIST, 65532, OUT + 64)}},
	{"GIDs of 2^63 bytes", "uverbs_std_types_device.c QUERY_GID_TABLE: len % entry_size",
	 EINVAL, .object = UVERBS_OBJECT_DEVICE, .method = UVERBS_METHOD_QUERY_GID_TABLE,
	 .attr = {VAL(QUERY_GID_TABLE_ENTRY_SIZE, 8, UINT64_C(1) << 63),
		  VAL(QUERY_GID_TABLE_FLAGS, 4, 0), VAL(QUERY_GID_TABLE_RESP_ENTRIES, 64, OUT),
		  VAL(QUERY_GID_TABLE_RESP_NUM_ENTRIES, 8, OUT + 4096)}},
	CQ_AT(EINVAL, "of 2^31 - 1 entries", "mlx5/cq.c mlx5_ib_create_cq: log_max_cq_sz",
	      INT32_MAX, .buf_addr = MEM + 0x1000, .db_addr = NEXT_DBR),
	RESIZE(EINVAL, "to 2^31 - 1 entries", "mlx5/cq.c mlx5_ib_resize_cq: log_max_cq_sz",
	       INT32_MAX, .buf_addr = MEM + 0x2000, .cqe_size = 64),
	QP_AT(EINVAL, "with 2^31 send blocks", "mlx5/qp.c set_user_buf_size: log_max_qp_sz",
	      QP_PLACE, .sq_wqe_count = 1u << 31, .rq_wqe_count = 4, .rq_wqe_shift = 4),
	QP_AT(EINVAL, "with 2^30 receives of 16 bytes", "mlx5/qp.c set_user_buf_size: overflow",
	      QP_PLACE, .sq_wqe_count = 4, .rq_wqe_count = 1u << 30, .rq_wqe_shift = 4),
	QP_AT(EINVAL, "with receives of 2^32 bytes", "mlx5/qp.c set_rq_size: check_shl_overflow",
	      QP_PLACE, .sq_wqe_count = 4, .rq_wqe_count = 4, .rq_wqe_shift = 32),
	QP_AT(EINVAL, "with receives of 2^255 bytes", "mlx5/qp.c set_rq_size: check_shl_overflow",
	      QP_PLACE, .sq_wqe_count = 4, .rq_wqe_count = 4, .rq_wqe_shift = 255),
	SRQ_AT(EINVAL, "of 2^32 - 1 receives", "mlx5/srq.c mlx5_ib_create_srq: log_max_srq_sz",
	       UINT32_MAX, 1, SRQ_PLACE),
	SRQ_AT(EINVAL, "of 2^32 - 1 entries each", "mlx5/srq.c mlx5_ib_create_srq: max_wqe_sz_rq",
	       15, UINT32_MAX, SRQ_PLACE),
	{"region of 2^47 bytes", UMEM_GET ": npages > UINT_MAX", EINVAL,
	 RUN(C(REG_MR), reg_mr, 12, AT(MEM, UINT64_C(1) << 47), .pd_handle = PD)},
	{"region of 2^43 bytes", UMEM_GET ": pin_user_pages_fast", EFAULT,
	 RUN(C(REG_MR), reg_mr, 12, AT(MEM, UINT64_C(1) << 43), .pd_handle = PD)},

	/* ---- sizes at their limits, and one beyond */
	CQ_AT(EFAULT, "as large as can be, in too little memory", UMEM_GET ": pin_user_pages_fast",
	      (1 << LOG_MAX_CQ_SZ) - 1, .buf_addr = MEM + 0x1000, .db_addr = NEXT_DBR),
	CQ_AT(EINVAL, "larger than can be", "mlx5/cq.c mlx5_ib_create_cq: log_max_cq_sz",
	      1 << LOG_MAX_CQ_SZ, .buf_addr = MEM + 0x1000, .db_addr = NEXT_DBR),
	RESIZE(EFAULT, "as large as can be, in too little memory", UMEM_GET ": pin_user_pages_fast",
	       (1 << LOG_MAX_CQ_SZ) - 1, .buf_addr = MEM + 0x2000, .cqe_size = 64),
	QP_AT(EFAULT, "with as many send blocks as can be, in too little memory",
	      UMEM_GET ": pin_user_pages_fast", QP_PLACE, .sq_wqe_count = 1 << LOG_MAX_QP_SZ,
	      .rq_wqe_count = 4, .rq_wqe_shift = 4),
	QP_AT(EINVAL, "with more send blocks than can be",
	      "mlx5/qp.c set_user_buf_size: log_max_qp_sz", QP_PLACE,
	      .sq_wqe_count = 2 << LOG_MAX_QP_SZ, .rq_wqe_count = 4, .rq_wqe_shift = 4),
	QP_AT(EINVAL, "with 3 send blocks", "mlx5/qp.c set_user_buf_size: is_power_of_2", QP_PLACE,
	      .sq_wqe_count = 3, .rq_wqe_count = 4, .rq_wqe_shift = 4),
	SRQ_AT(EFAULT, "as large as can be, in too little memory", UMEM_GET ": pin_user_pages_fast",
	       (1 << LOG_MAX_SRQ_SZ) - 1, 1, SRQ_PLACE),
	SRQ_AT(EINVAL, "larger than can be", "mlx5/srq.c mlx5_ib_create_srq: log_max_srq_sz",
	       1 << LOG_MAX_SRQ_SZ, 1, SRQ_PLACE),
	SRQ_AT(EINVAL, "with one entry too many", "mlx5/srq.c mlx5_ib_create_srq: max_wqe_sz_rq",
	       15, MAX_WQE_SZ_RQ / 16 + 1, SRQ_PLACE),
	RESIZE(EINVAL, "with reserved0", "mlx5/cq.c resize_user: reserved", 127,
	       .buf_addr = MEM + 0x2000, .cqe_size = 64, .reserved0 = 1),
	RESIZE(EINVAL, "with reserved1", "mlx5/cq.c resize_user: reserved", 127,
	       .buf_addr = MEM + 0x2000, .cqe_size = 64, .reserved1 = 1),
	CQ_AT(EINVAL, "with reserved0", "mlx5/cq.c create_cq_user: reserved", 7,
	      .buf_addr = MEM + 0x1000, .db_addr = NEXT_DBR, .reserved0 = 1),
	CQ_AT(EINVAL, "with reserved1", "mlx5/cq.c create_cq_user: reserved", 7,
	      .buf_addr = MEM + 0x1000, .db_addr = NEXT_DBR, .reserved1 = 1),
	SRQ_AT(EINVAL, "with reserved0", "mlx5/srq.c create_srq_user: reserved", 15, 1, SRQ_PLACE,
	       .reserved0 = 1),
	SRQ_AT(EINVAL, "with reserved1", "mlx5/srq.c create_srq_user: reserved", 15, 1, SRQ_PLACE,
	       .reserved1 = 1),

	/* ---- use after destruction */
	{"a CQ for others", "", 0,
	 RUN_UHW(C(CREATE_CQ), create_cq, 8, CQ_UHW, 8, .cqe = 7, .comp_channel = -1),
	 .more = true},
	{"it goes", "", 0, RUN(C(DESTROY_CQ), destroy_cq, 8, .cq_handle = NEXT), .more = true},
	{"QP on a CQ that is gone", GONE,
	 RUN_UHW(C(CREATE_QP), create_qp, 32, QP_UHW, 40, .pd_handle = PD, .send_cq_handle = NEXT,
		 .recv_cq_handle = CQ, .qp_type = IB_UVERBS_QPT_RC),
	 .more = true},
	{"CQ that is gone resized", GONE,
	 RUN_UHW(C(RESIZE_CQ), resize_cq, 8,
		 UHW(mlx5_ib_resize_cq, .buf_addr = MEM + 0x2000, .cqe_size = 64), 0,
		 .cq_handle = NEXT, .cqe = 31),
	 .more = true},
	{"DEVX query of a CQ that is gone", GONE, ON5(DEVX_OBJ, DEVX_OBJ_QUERY),
	 .attr = {HANDLE5(DEVX_OBJ_QUERY_HANDLE, NEXT),
		  BYTES5(DEVX_OBJ_QUERY_CMD_IN, 16, 0x04, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, CQN + 1),
		  VAL5(DEVX_OBJ_QUERY_CMD_OUT, 0x110, OUT)}},
	{"a PD for others", "", 0, RUN_UHW(C(ALLOC_PD), alloc_pd, 4, NO_UHW, 4), .more = true},
	{"it goes", "", 0, RUN(C(DEALLOC_PD), dealloc_pd, 0, NEXT), .more = true},
	{"region on a PD that is gone", GONE,
	 RUN(C(REG_MR), reg_mr, 12, AT(MEM, 64), .pd_handle = NEXT), .more = true},
	{"address handle on a PD that is gone", GONE,
	 RUN(C(CREATE_AH), create_ah, 4, .pd_handle = NEXT, .attr = {AV_AH}), .more = true},
	{"SRQ on a PD that is gone", GONE,
	 RUN_UHW(C(CREATE_SRQ), create_srq, 16, SRQ_UHW, 8, .pd_handle = NEXT, .max_wr = 15)},
	{"an SRQ for others", "", 0,
	 RUN_UHW(C(CREATE_SRQ), create_srq, 16, SRQ_UHW, 8, .pd_handle = PD, .max_wr = 15,
		 .max_sge = 1),
	 .more = true},
	{"it goes", "", 0, RUN(C(DESTROY_SRQ), destroy_srq, 4, .srq_handle = NEXT), .more = true},
	{"QP with an SRQ that is gone", GONE,
	 RUN_UHW(C(CREATE_QP), create_qp, 32, QP_UHW, 40, QP_REQ, .is_srq = 1, .srq_handle = NEXT)},
	{"a region for others", "", 0, RUN(C(REG_MR), reg_mr, 12, AT(MEM, 64), .pd_handle = PD),
	 .more = true},
	{"it goes", "", 0, RUN(C(DEREG_MR), dereg_mr, 0, NEXT), .more = true},
	{"region that is gone moved", GONE,
	 RUN(C(REREG_MR), rereg_mr, 8, .mr_handle = NEXT, .flags = 1, AT(MEM, 64)), .more = true},
	{"key of a region that is gone", GONE, ON(MR, QUERY_MR),
	 .attr = {HANDLE(QUERY_MR_HANDLE, NEXT), VAL(QUERY_MR_RESP_LKEY, 4, OUT),
		  VAL(QUERY_MR_RESP_RKEY, 4, OUT + 8), VAL(QUERY_MR_RESP_LENGTH, 8, OUT + 16)}},
	{"a QP for others", "", 0, RUN_UHW(C(CREATE_QP), create_qp, 32, QP_UHW, 40, QP_REQ),
	 .more = true},
	{"it goes", "", 0, RUN(C(DESTROY_QP), destroy_qp, 4, .qp_handle = NEXT), .more = true},
	{"QP that is gone modified", GONE,
	 RUN(C(MODIFY_QP), modify_qp, 0, .qp_handle = NEXT, .attr_mask = 1), .more = true},
	{"query of a QP that is gone", GONE,
	 RUN(C(QUERY_QP), query_qp, RESP(query_qp), .qp_handle = NEXT)},

	/* ---- handles of another type */
	{"CQ freed as a PD", OTHER_TYPE, RUN(C(DEALLOC_PD), dealloc_pd, 0, CQ)},
	{"PD freed as a region", OTHER_TYPE, RUN(C(DEREG_MR), dereg_mr, 0, PD)},
	{"QP destroyed as a CQ", OTHER_TYPE, RUN(C(DESTROY_CQ), destroy_cq, 8, .cq_handle = QP)},
	{"CQ destroyed as a QP", OTHER_TYPE, RUN(C(DESTROY_QP), destroy_qp, 4, .qp_handle = CQ)},
	{"CQ destroyed as an SRQ", OTHER_TYPE,
	 RUN(C(DESTROY_SRQ), destroy_srq, 4, .srq_handle = CQ)},
	{"CQ destroyed as an address handle", OTHER_TYPE, RUN(C(DESTROY_AH), destroy_ah, 0, CQ)},
	{"UAR freed as a PD", OTHER_TYPE, RUN(C(DEALLOC_PD), dealloc_pd, 0, UAR)},
	{"PD resized as a CQ", OTHER_TYPE,
	 RUN_UHW(C(RESIZE_CQ), resize_cq, 8,
		 UHW(mlx5_ib_resize_cq, .buf_addr = MEM + 0x2000, .cqe_size = 64), 0,
		 .cq_handle = PD, .cqe = 31)},
	{"CQ moved as a region", OTHER_TYPE,
	 RUN(C(REREG_MR), rereg_mr, 8, .mr_handle = CQ, .flags = 1, AT(MEM, 64))},
	{"CQ modified as a QP", OTHER_TYPE,
	 RUN(C(MODIFY_QP), modify_qp, 0, .qp_handle = CQ, .attr_mask = 1)},
	{"CQ queried as a QP", OTHER_TYPE,
	 RUN(C(QUERY_QP), query_qp, RESP(query_qp), .qp_handle = CQ)},
	{"QP queried as an SRQ", OTHER_TYPE, RUN(C(QUERY_SRQ), query_srq, 16, .srq_handle = QP)},
	{"QP limited as an SRQ", OTHER_TYPE,
	 RUN(C(MODIFY_SRQ), modify_srq, 0, .srq_handle = QP, .attr_mask = 2)},
	{"address handle on a CQ", OTHER_TYPE,
	 RUN(C(CREATE_AH), create_ah, 4, .pd_handle = CQ, .attr = {AV_AH})},
	{"SRQ on a region", OTHER_TYPE,
	 RUN_UHW(C(CREATE_SRQ), create_srq, 16, SRQ_UHW, 8, .pd_handle = MR, .max_wr = 15)},
	{"QP on a region", OTHER_TYPE,
	 RUN_UHW(C(CREATE_QP), create_qp, 32, QP_UHW, 40, .pd_handle = MR, .send_cq_handle = CQ,
		 .recv_cq_handle = CQ, .qp_type = IB_UVERBS_QPT_RC)},
	{"QP that completes on a PD", OTHER_TYPE,
	 RUN_UHW(C(CREATE_QP), create_qp, 32, QP_UHW, 40, .pd_handle = PD, .send_cq_handle = PD,
		 .recv_cq_handle = CQ, .qp_type = IB_UVERBS_QPT_RC)},
	{"QP that receives from a CQ", OTHER_TYPE,
	 RUN_UHW(C(CREATE_QP), create_qp, 32, QP_UHW, 40, QP_REQ, .is_srq = 1, .srq_handle = CQ)},
	{"UAR freed as a DEVX object", OTHER_TYPE, ON5(DEVX_OBJ, DEVX_OBJ_DESTROY),
	 .attr = {HANDLE5(DEVX_OBJ_DESTROY_HANDLE, UAR)}},
	{"DEVX object freed as a UAR", OTHER_TYPE, ON5(UAR, UAR_OBJ_DESTROY),
	 .attr = {HANDLE5(UAR_OBJ_DESTROY_HANDLE, DEVX_PD)}},
	{"DEVX object freed as a umem", OTHER_TYPE, ON5(DEVX_UMEM, DEVX_UMEM_DEREG),
	 .attr = {HANDLE5(DEVX_UMEM_DEREG_HANDLE, DEVX_PD)}},
	{"number of a CQ's PD", OTHER_TYPE, ON_PD_QUERY(CQ)},

	/* ---- handles of another file, which this file does not know */
	{"another context", "", 0, NEW,
	 RUN_UHW(C(GET_CONTEXT), get_context, 8,
		 UHW(mlx5_ib_alloc_ucontext_req_v2, .total_num_bfregs = 16, .flags = 1,
		     .lib_caps = 3),
		 72),
	 .closes = true, .more = true},
	{"PD of another file", GONE, NEW, RUN(C(DEALLOC_PD), dealloc_pd, 0, PD), .more = true},
	{"region of another file", GONE, NEW, RUN(C(DEREG_MR), dereg_mr, 0, MR), .more = true},
	{"CQ of another file", GONE, NEW, RUN(C(DESTROY_CQ), destroy_cq, 8, .cq_handle = CQ),
	 .more = true},
	{"QP of another file", GONE, NEW, RUN(C(DESTROY_QP), destroy_qp, 4, .qp_handle = QP),
	 .more = true},
	{"QP of another file modified", GONE, NEW,
	 RUN(C(MODIFY_QP), modify_qp, 0, .qp_handle = QP, .attr_mask = 1), .more = true},
	{"UAR of another file", GONE, NEW, ON5(UAR, UAR_OBJ_DESTROY),
	 .attr = {HANDLE5(UAR_OBJ_DESTROY_HANDLE, UAR)}, .more = true},
	{"DEVX object of another file", GONE, NEW, ON5(DEVX_OBJ, DEVX_OBJ_DESTROY),
	 .attr = {HANDLE5(DEVX_OBJ_DESTROY_HANDLE, DEVX_PD)}, .more = true},
	{"DEVX query of a CQ of another file", GONE, NEW, ON5(DEVX_OBJ, DEVX_OBJ_QUERY),
	 .attr = {HANDLE5(DEVX_OBJ_QUERY_HANDLE, CQ),
		  BYTES5(DEVX_OBJ_QUERY_CMD_IN, 16, 0x04, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, CQN),
		  VAL5(DEVX_OBJ_QUERY_CMD_OUT, 0x110, OUT)},
	 .more = true},
	{"region on a PD of another file", GONE, NEW,
	 RUN(C(REG_MR), reg_mr, 12, AT(MEM, 64), .pd_handle = PD), .more = true},
	{"CQ on a channel of another file", "rdma_core.c lookup_get_fd_uobject: uobject->ufile",
	 EBADF, NEW,
	 RUN_UHW(C(CREATE_CQ), create_cq, 8, CQ_UHW, 8, .cqe = 7, .comp_channel = CHANNEL),
	 .more = true},
	{"query of the other context's port", "", 0, NEW,
	 RUN(C(QUERY_PORT), query_port, 40, .port_num = 1)},
};
ROWS_END(class_rows);
