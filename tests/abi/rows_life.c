/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every method and every command done right once: objects made, looked at and destroyed, each
 * answer written whole. What is made has the handle NEXT, until it is destroyed.
 */
#include "abi.h"

#define INVOKE .object = UVERBS_OBJECT_DEVICE, .method = UVERBS_METHOD_INVOKE_WRITE
/* A command of the older interface; UHW: with driver data. */
#define RUN(c, t, n, ...)                                                       \
	INVOKE, .attr = {{.id = UVERBS_ATTR_CORE_IN,                            \
			  .len = sizeof(struct ib_uverbs_##t),                  \
			  .in = &(const struct ib_uverbs_##t){__VA_ARGS__}},    \
			 {.id = UVERBS_ATTR_CORE_OUT, .len = (n), .data = OUT}, \
			 {.id = UVERBS_ATTR_WRITE_CMD, .len = 8, .data = (c)}}
#define RUN_UHW(c, t, n, u, uout, ...)                                          \
	INVOKE, .attr = {{.id = UVERBS_ATTR_CORE_IN,                            \
			  .len = sizeof(struct ib_uverbs_##t),                  \
			  .in = &(const struct ib_uverbs_##t){__VA_ARGS__}},    \
			 {.id = UVERBS_ATTR_CORE_OUT, .len = (n), .data = OUT}, \
			 {.id = UVERBS_ATTR_WRITE_CMD, .len = 8, .data = (c)},  \
			 u,                                                     \
			 {.id = UVERBS_ATTR_UHW_OUT, .len = (uout), .data = OUT + 512}}
#define C(n) IB_USER_VERBS_CMD_##n
#define EX(n) (UINT64_C(0x80000000) | IB_USER_VERBS_EX_CMD_##n)
#define UHW(t, ...)                                                                        \
	{                                                                                  \
		.id = UVERBS_ATTR_UHW_IN, .len = sizeof(struct t), .in = &(const struct t) \
		{                                                                          \
			__VA_ARGS__                                                        \
		}                                                                          \
	}
#define CQ_UHW                                                                                \
	UHW(mlx5_ib_create_cq, .buf_addr = MEM + 0x1000, .db_addr = NEXT_DBR, .cqe_size = 64, \
	    .flags = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX, .uar_page_index = UAR_PAGE)
#define QP_UHW                                                                     \
	UHW(mlx5_ib_create_qp, .buf_addr = MEM + 0x5000, .db_addr = NEXT_DBR + 64, \
	    .sq_wqe_count = 4, .rq_wqe_count = 4, .rq_wqe_shift = 4,               \
	    .flags = MLX5_QP_FLAG_UAR_PAGE_INDEX, .bfreg_index = UAR_PAGE)
#define SRQ_UHW UHW(mlx5_ib_create_srq, .buf_addr = MEM + 0x6000, .db_addr = NEXT_DBR + 128)
#define NO_UHW                                             \
	{                                                  \
		.id = UVERBS_ATTR_UHW_IN, .optional = true \
	}
#define QP_REQ                                                                         \
	.pd_handle = PD, .send_cq_handle = CQ, .recv_cq_handle = CQ, .max_send_wr = 4, \
	.max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .qp_type = IB_UVERBS_QPT_RC
#define AT(a, n) .start = (a), .hca_va = (a), .length = (n)
#define RESP(t) sizeof(struct ib_uverbs_##t##_resp)

#define ON(o, m) .object = UVERBS_OBJECT_##o, .method = UVERBS_METHOD_##m, .nattr = 1
#define ON5(o, m) .object = MLX5_IB_OBJECT_##o, .method = MLX5_IB_METHOD_##m, .nattr = 1
#define ON_PD_QUERY(h)                                                 \
	.object = UVERBS_OBJECT_PD, .method = MLX5_IB_METHOD_PD_QUERY, \
	.attr = {HANDLE5(QUERY_PD_HANDLE, h), VAL5(QUERY_PD_RESP_PDN, 4, OUT)}
#define HANDLE(i, h)                               \
	{                                          \
		.id = UVERBS_ATTR_##i, .data = (h) \
	}
#define VAL(i, n, v)                                           \
	{                                                      \
		.id = UVERBS_ATTR_##i, .len = (n), .data = (v) \
	}
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
#define QP_CAP                                                                         \
	{                                                                              \
		.id = UVERBS_ATTR_CREATE_QP_CAP, .len = 20, .in = &(const uint32_t[5]) \
		{                                                                      \
			4, 4, 1, 1, 0                                                  \
		}                                                                      \
	}
#define QP_RESP                                                                            \
	VAL(CREATE_QP_RESP_CAP, 20, OUT), VAL(CREATE_QP_RESP_QP_NUM, 4, OUT + 64), QP_UHW, \
		VAL(UHW_OUT, 40, OUT + 128)
#define QP_CQS HANDLE(CREATE_QP_SEND_CQ_HANDLE, CQ), HANDLE(CREATE_QP_RECV_CQ_HANDLE, CQ)
#define QP_BASE HANDLE(CREATE_QP_HANDLE, 0), HANDLE(CREATE_QP_PD_HANDLE, PD), QP_CQS, QP_MORE
#define QP_MORE VAL(CREATE_QP_USER_HANDLE, 8, 5), QP_CAP, VAL(CREATE_QP_TYPE, 8, IB_UVERBS_QPT_RC)
#define SRQ_BASE                                                                  \
	HANDLE(CREATE_SRQ_HANDLE, 0), HANDLE(CREATE_SRQ_PD_HANDLE, PD),           \
		VAL(CREATE_SRQ_USER_HANDLE, 8, 5), VAL(CREATE_SRQ_MAX_WR, 4, 15), \
		VAL(CREATE_SRQ_MAX_SGE, 4, 1), VAL(CREATE_SRQ_LIMIT, 4, 0)
#define SRQ_RESP                                                                                \
	VAL(CREATE_SRQ_RESP_MAX_WR, 4, OUT), VAL(CREATE_SRQ_RESP_MAX_SGE, 4, OUT + 8), SRQ_UHW, \
		VAL(UHW_OUT, 8, OUT + 32)

/* Firmware commands. */
#define ALLOC_PD 0x08, 0x00
#define QUERY_CQ 0x04, 0x02
#define MODIFY_CQ 0x04, 0x03
#define OBJECT_CQN 0, 0, 0, CQN

const struct ioctl_row life_rows[] = {
	/* ---- the device */
	{"context", "ib_uverbs_init_ucontext", 0, NEW, .object = UVERBS_OBJECT_DEVICE,
	 .method = UVERBS_METHOD_GET_CONTEXT, .nattr = 1,
	 .attr = {VAL(GET_CONTEXT_NUM_COMP_VECTORS, 4, OUT),
		  VAL(GET_CONTEXT_CORE_SUPPORT, 8, OUT + 8),
		  UHW(mlx5_ib_alloc_ucontext_req_v2, .total_num_bfregs = 2, .lib_caps = 3),
		  VAL(UHW_OUT, 72, OUT + 64)},
	 .more = true},
	{"handles of a new context", "uverbs_std_types_device.c INFO_HANDLES: there are none", 0,
	 NEW, .object = UVERBS_OBJECT_DEVICE, .method = UVERBS_METHOD_INFO_HANDLES, .nattr = 1,
	 .attr = {VAL(INFO_OBJECT_ID, 8, UVERBS_OBJECT_PD), VAL(INFO_TOTAL_HANDLES, 4, OUT),
		  VAL(INFO_HANDLES_LIST, 64, OUT + 64)}},
	{"context by a command", "ib_uverbs_get_context", 0, NEW,
	 RUN_UHW(C(GET_CONTEXT), get_context, 8,
		 UHW(mlx5_ib_alloc_ucontext_req_v2, .total_num_bfregs = 2, .lib_caps = 3), 72),
	 .closes = true},
	{"handles of the context", "", 0, .object = UVERBS_OBJECT_DEVICE,
	 .method = UVERBS_METHOD_INFO_HANDLES, .nattr = 1,
	 .attr = {VAL(INFO_OBJECT_ID, 8, UVERBS_OBJECT_CQ), VAL(INFO_TOTAL_HANDLES, 4, OUT),
		  VAL(INFO_HANDLES_LIST, 4, OUT + 64)}},
	{"query of the context", "", 0, .object = UVERBS_OBJECT_DEVICE,
	 .method = UVERBS_METHOD_QUERY_CONTEXT, .nattr = 1,
	 .attr = {VAL(QUERY_CONTEXT_NUM_COMP_VECTORS, 4, OUT),
		  VAL(QUERY_CONTEXT_CORE_SUPPORT, 8, OUT + 8),
		  VAL5(QUERY_CONTEXT_RESP_UCTX, 72, OUT + 64)}},
	{"query of no context", "ib_uverbs_get_ucontext", EINVAL, FRESH,
	 .object = UVERBS_OBJECT_DEVICE, .method = UVERBS_METHOD_QUERY_CONTEXT, .nattr = 1,
	 .attr = {VAL(QUERY_CONTEXT_NUM_COMP_VECTORS, 4, OUT),
		  VAL5(QUERY_CONTEXT_RESP_UCTX, 72, OUT + 64)}},
	{"the driver's query of a port", "mlx5/std_types.c", 0, .object = UVERBS_OBJECT_DEVICE,
	 .method = MLX5_IB_METHOD_QUERY_PORT,
	 .attr = {VAL5(QUERY_PORT_PORT_NUM, 4, 1), VAL5(QUERY_PORT, 40, OUT)}},
	{"the driver's query of port 9", "mlx5/std_types.c: rdma_is_port_valid", EINVAL,
	 .object = UVERBS_OBJECT_DEVICE, .method = MLX5_IB_METHOD_QUERY_PORT,
	 .attr = {VAL5(QUERY_PORT_PORT_NUM, 4, 9), VAL5(QUERY_PORT, 40, OUT)}},
	{"port by a command", "", 0, RUN(C(QUERY_PORT), query_port, 40, .port_num = 1)},
	{"async event file", "", 0, ON(ASYNC_EVENT, ASYNC_EVENT_ALLOC),
	 .attr = {HANDLE(ASYNC_EVENT_ALLOC_FD_HANDLE, 0)}, .closes = true},
	{"async event file without a context", "alloc_uobj", EINVAL, FRESH,
	 ON(ASYNC_EVENT, ASYNC_EVENT_ALLOC), .attr = {HANDLE(ASYNC_EVENT_ALLOC_FD_HANDLE, 0)}},
	{"completion channel", "", 0, RUN(C(CREATE_COMP_CHANNEL), create_comp_channel, 4),
	 .closes = true},

	/* ---- PD, AH, MR */
	{"PD", "", 0, RUN_UHW(C(ALLOC_PD), alloc_pd, 4, NO_UHW, 4), .more = true},
	{"its number", "mlx5/std_types.c", 0, ON_PD_QUERY(NEXT), .more = true},
	{"PD destroyed", "", 0, ON(PD, PD_DESTROY), .attr = {HANDLE(DESTROY_PD_HANDLE, NEXT)}},
	{"number of no PD", "xa_load", ENOENT, ON_PD_QUERY(NONE)},
	{"PD again", "", 0, RUN_UHW(C(ALLOC_PD), alloc_pd, 4, NO_UHW, 4), .more = true},
	{"PD destroyed by a command", "", 0, RUN(C(DEALLOC_PD), dealloc_pd, 0, NEXT), .more = true},
	{"PD destroyed twice", "xa_load", ENOENT, RUN(C(DEALLOC_PD), dealloc_pd, 0, NEXT)},
	{"address handle", "", 0,
	 RUN(C(CREATE_AH), create_ah, 4, .pd_handle = PD, .attr = {.dlid = 1, .port_num = 1}),
	 .more = true},
	{"address handle destroyed", "", 0, ON(AH, AH_DESTROY),
	 .attr = {HANDLE(DESTROY_AH_HANDLE, NEXT)}, .more = true},
	{"address handle destroyed twice", "xa_load", ENOENT, ON(AH, AH_DESTROY),
	 .attr = {HANDLE(DESTROY_AH_HANDLE, NEXT)}},
	{"address handle again", "", 0,
	 RUN(C(CREATE_AH), create_ah, 4, .pd_handle = PD, .attr = {.dlid = 1, .port_num = 1}),
	 .more = true},
	{"address handle destroyed by a command", "", 0, RUN(C(DESTROY_AH), destroy_ah, 0, NEXT),
	 .more = true},
	{"address handle destroyed twice by a command", "xa_load", ENOENT,
	 RUN(C(DESTROY_AH), destroy_ah, 0, NEXT)},
	{"region", "", 0, RUN(C(REG_MR), reg_mr, 12, AT(MEM + 8, 4096), .pd_handle = PD),
	 .more = true},
	{"where it is", "", 0, ON(MR, QUERY_MR),
	 .attr = {HANDLE(QUERY_MR_HANDLE, NEXT), VAL(QUERY_MR_RESP_LKEY, 4, OUT),
		  VAL(QUERY_MR_RESP_RKEY, 4, OUT + 8), VAL(QUERY_MR_RESP_LENGTH, 8, OUT + 16),
		  VAL(QUERY_MR_RESP_IOVA, 8, OUT + 24)},
	 .more = true},
	{"region changed", "", 0,
	 RUN(C(REREG_MR), rereg_mr, 8, .mr_handle = NEXT, .flags = 4, .access_flags = 1,
	     .pd_handle = PD),
	 .more = true},
	{"region destroyed", "", 0, ON(MR, MR_DESTROY), .attr = {HANDLE(DESTROY_MR_HANDLE, NEXT)},
	 .more = true},
	{"region destroyed twice", "xa_load", ENOENT, ON(MR, MR_DESTROY),
	 .attr = {HANDLE(DESTROY_MR_HANDLE, NEXT)}},
	{"region again", "", 0, RUN(C(REG_MR), reg_mr, 12, AT(MEM, 64), .pd_handle = PD),
	 .more = true},
	{"region destroyed by a command", "", 0, RUN(C(DEREG_MR), dereg_mr, 0, NEXT), .more = true},
	{"region destroyed twice by a command", "xa_load", ENOENT,
	 RUN(C(DEREG_MR), dereg_mr, 0, NEXT)},
	{"window of type 1", "", 0,
	 RUN_UHW(C(ALLOC_MW), alloc_mw, 8, UHW(mlx5_ib_alloc_mw, .num_klms = 5), 8, .pd_handle = PD,
		 .mw_type = 1),
	 .more = true},
	{"window destroyed", "", 0, ON(MW, MW_DESTROY), .attr = {HANDLE(DESTROY_MW_HANDLE, NEXT)},
	 .more = true},
	{"window destroyed twice", "xa_load", ENOENT, ON(MW, MW_DESTROY),
	 .attr = {HANDLE(DESTROY_MW_HANDLE, NEXT)}},
	{"window that is a region", "uobj->uapi_object", EINVAL, ON(MW, MW_DESTROY),
	 .attr = {HANDLE(DESTROY_MW_HANDLE, MR)}},
	{"window of type 2", "", 0, RUN(C(ALLOC_MW), alloc_mw, 8, .pd_handle = PD, .mw_type = 2),
	 .more = true},
	{"window destroyed by a command", "", 0, RUN(C(DEALLOC_MW), dealloc_mw, 0, NEXT),
	 .more = true},
	{"window destroyed twice by a command", "xa_load", ENOENT,
	 RUN(C(DEALLOC_MW), dealloc_mw, 0, NEXT)},
	{"window of type 0", "ib_uverbs_alloc_mw: cmd.mw_type", EINVAL,
	 RUN(C(ALLOC_MW), alloc_mw, 8, .pd_handle = PD)},
	{"window of type 3", "ib_uverbs_alloc_mw: cmd.mw_type", EINVAL,
	 RUN(C(ALLOC_MW), alloc_mw, 8, .pd_handle = PD, .mw_type = 3)},
	{"window without a PD", "ib_uverbs_alloc_mw: uobj_get_obj_read before mw_type", ENOENT,
	 RUN(C(ALLOC_MW), alloc_mw, 8, .pd_handle = NONE, .mw_type = 3)},
	{"window with an unknown mask", "mlx5_ib_alloc_mw: req.comp_mask", EOPNOTSUPP,
	 RUN_UHW(C(ALLOC_MW), alloc_mw, 8, UHW(mlx5_ib_alloc_mw, .comp_mask = 1), 8,
		 .pd_handle = PD, .mw_type = 1)},
	{"window with reserved bits", "mlx5_ib_alloc_mw: req.reserved2", EOPNOTSUPP,
	 RUN_UHW(C(ALLOC_MW), alloc_mw, 8, UHW(mlx5_ib_alloc_mw, .reserved2 = 1), 8,
		 .pd_handle = PD, .mw_type = 1)},
	{"advice", "uverbs_std_types_mr.c: no advise_mr operation", EOPNOTSUPP, ON(MR, ADVISE_MR),
	 .attr = {HANDLE(ADVISE_MR_PD_HANDLE, PD), VAL(ADVISE_MR_ADVICE, 8, 0),
		  VAL(ADVISE_MR_FLAGS, 4, 0), VAL(ADVISE_MR_SGE_LIST, 16, OUT)}},
	{"region over a dmabuf", "uverbs_std_types_mr.c: no reg_user_mr_dmabuf operation",
	 EOPNOTSUPP, ON(MR, REG_DMABUF_MR),
	 .attr = {HANDLE(REG_DMABUF_MR_HANDLE, 0), HANDLE(REG_DMABUF_MR_PD_HANDLE, PD),
		  VAL(REG_DMABUF_MR_OFFSET, 8, 0), VAL(REG_DMABUF_MR_LENGTH, 8, 4096),
		  VAL(REG_DMABUF_MR_IOVA, 8, 0), VAL(REG_DMABUF_MR_FD, 4, 0),
		  VAL(REG_DMABUF_MR_ACCESS_FLAGS, 4, 0), VAL(REG_DMABUF_MR_RESP_LKEY, 4, OUT),
		  VAL(REG_DMABUF_MR_RESP_RKEY, 4, OUT + 8)}},

	/* ---- CQ */
	{"CQ", "", 0, ON(CQ, CQ_CREATE),
	 .attr = {HANDLE(CREATE_CQ_HANDLE, 0), VAL(CREATE_CQ_CQE, 4, 7),
		  VAL(CREATE_CQ_USER_HANDLE, 8, 5), HANDLE(CREATE_CQ_COMP_CHANNEL, CHANNEL),
		  VAL(CREATE_CQ_COMP_VECTOR, 4, 0), VAL(CREATE_CQ_FLAGS, 4, 0),
		  VAL(CREATE_CQ_RESP_CQE, 4, OUT), HANDLE(CREATE_CQ_EVENT_FD, ASYNC), CQ_UHW,
		  VAL(UHW_OUT, 8, OUT + 16)},
	 .more = true},
	{"CQ resized", "", 0,
	 RUN_UHW(C(RESIZE_CQ), resize_cq, 8,
		 UHW(mlx5_ib_resize_cq, .buf_addr = MEM + 0x2000, .cqe_size = 64), 0,
		 .cq_handle = NEXT, .cqe = 31),
	 .more = true},
	{"CQ moderated", "", 0,
	 RUN(EX(MODIFY_CQ), ex_modify_cq, 0, .cq_handle = NEXT, .attr_mask = 1,
	     .attr = {.cq_count = 3, .cq_period = 5}),
	 .more = true},
	{"CQ destroyed", "", 0, ON(CQ, CQ_DESTROY),
	 .attr = {HANDLE(DESTROY_CQ_HANDLE, NEXT), VAL(DESTROY_CQ_RESP, 8, OUT)}},
	{"moderation of no CQ", "ib_uverbs_ex_modify_cq: uobj_get_obj_read", ENOENT,
	 RUN(EX(MODIFY_CQ), ex_modify_cq, 0, .cq_handle = NONE, .attr_mask = 1)},
	{"CQ by a command", "", 0,
	 RUN_UHW(C(CREATE_CQ), create_cq, 8, CQ_UHW, 8, .cqe = 7, .comp_channel = -1),
	 .more = true},
	{"CQ destroyed by a command", "", 0, RUN(C(DESTROY_CQ), destroy_cq, 8, .cq_handle = NEXT),
	 .more = true},
	{"CQ destroyed twice", "xa_load", ENOENT,
	 RUN(C(DESTROY_CQ), destroy_cq, 8, .cq_handle = NEXT)},
	{"CQ by a command, on no channel", "ib_uverbs_lookup_comp_file", EBADF,
	 RUN_UHW(C(CREATE_CQ), create_cq, 8, CQ_UHW, 8, .cqe = 7, .comp_channel = CLOSED)},
	{"CQ by an extended command", "", 0,
	 RUN_UHW(EX(CREATE_CQ), ex_create_cq, 16, CQ_UHW, 8, .cqe = 7, .comp_channel = CHANNEL),
	 .more = true},
	{"CQ destroyed", "", 0, RUN(C(DESTROY_CQ), destroy_cq, 8, .cq_handle = NEXT)},
	{"CQ by an extended command with a comp_mask", "ib_uverbs_ex_create_cq: cmd.comp_mask",
	 EINVAL, RUN_UHW(EX(CREATE_CQ), ex_create_cq, 16, CQ_UHW, 8, .cqe = 7, .comp_mask = 1)},

	/* ---- SRQ and QP */
	{"SRQ", "", 0, ON(SRQ, SRQ_CREATE),
	 .attr = {SRQ_BASE, VAL(CREATE_SRQ_TYPE, 8, IB_UVERBS_SRQT_BASIC),
		  HANDLE(CREATE_SRQ_EVENT_FD, ASYNC), SRQ_RESP},
	 .more = true},
	{"QP with it", "", 0, ON(QP, QP_CREATE),
	 .attr = {QP_BASE, HANDLE(CREATE_QP_SRQ_HANDLE, NEXT), VAL(CREATE_QP_FLAGS, 4, 0),
		  HANDLE(CREATE_QP_EVENT_FD, ASYNC), QP_RESP},
	 .more = true},
	{"SRQ in use", "srq->usecnt", EBUSY, ON(SRQ, SRQ_DESTROY),
	 .attr = {HANDLE(DESTROY_SRQ_HANDLE, NEXT), VAL(DESTROY_SRQ_RESP, 4, OUT)}, .more = true},
	{"QP destroyed", "", 0, ON(QP, QP_DESTROY),
	 .attr = {HANDLE(DESTROY_QP_HANDLE, NEXT + 1), VAL(DESTROY_QP_RESP, 4, OUT)}, .more = true},
	{"SRQ limit", "", 0,
	 RUN(C(MODIFY_SRQ), modify_srq, 0, .srq_handle = NEXT, .attr_mask = 2, .srq_limit = 3),
	 .more = true},
	{"query of the SRQ", "", 0, RUN(C(QUERY_SRQ), query_srq, 16, .srq_handle = NEXT),
	 .more = true},
	{"SRQ destroyed", "", 0, ON(SRQ, SRQ_DESTROY),
	 .attr = {HANDLE(DESTROY_SRQ_HANDLE, NEXT), VAL(DESTROY_SRQ_RESP, 4, OUT)}},
	{"SRQ of type 7", "uverbs_std_types_srq.c: uverbs_get_const", EINVAL, ON(SRQ, SRQ_CREATE),
	 .attr = {SRQ_BASE, VAL(CREATE_SRQ_TYPE, 8, 7), SRQ_RESP}},
	{"XRC SRQ without a domain", "uverbs_std_types_srq.c: uverbs_attr_get", ENOENT,
	 ON(SRQ, SRQ_CREATE),
	 .attr = {SRQ_BASE, VAL(CREATE_SRQ_TYPE, 8, IB_UVERBS_SRQT_XRC),
		  HANDLE(CREATE_SRQ_CQ_HANDLE, CQ), SRQ_RESP}},
	{"SRQ in a domain that is a PD", "uverbs_ioctl.c: uobj->uapi_object", EINVAL,
	 ON(SRQ, SRQ_CREATE),
	 .attr = {SRQ_BASE, VAL(CREATE_SRQ_TYPE, 8, IB_UVERBS_SRQT_XRC),
		  HANDLE(CREATE_SRQ_XRCD_HANDLE, PD), SRQ_RESP}},
	{"SRQ with tags of 2 bytes", "uverbs_ioctl.c: PTR_IN of one size", EINVAL,
	 ON(SRQ, SRQ_CREATE),
	 .attr = {SRQ_BASE, VAL(CREATE_SRQ_TYPE, 8, IB_UVERBS_SRQT_BASIC),
		  VAL(CREATE_SRQ_MAX_NUM_TAGS, 2, 1), SRQ_RESP}},
	{"SRQ whose number goes into 2 bytes", "uverbs_ioctl.c: PTR_OUT of one size", EINVAL,
	 ON(SRQ, SRQ_CREATE),
	 .attr = {SRQ_BASE, VAL(CREATE_SRQ_TYPE, 8, IB_UVERBS_SRQT_BASIC),
		  VAL(CREATE_SRQ_RESP_SRQ_NUM, 2, OUT + 512), SRQ_RESP}},
	{"QP in a domain that is a PD", "uverbs_ioctl.c: uobj->uapi_object", EINVAL,
	 ON(QP, QP_CREATE), .attr = {QP_BASE, HANDLE(CREATE_QP_XRCD_HANDLE, PD), QP_RESP}},
	{"QP over a table that is a PD", "uverbs_ioctl.c: uobj->uapi_object", EINVAL,
	 ON(QP, QP_CREATE), .attr = {QP_BASE, HANDLE(CREATE_QP_IND_TABLE_HANDLE, PD), QP_RESP}},
	{"QP with a source number of 3 bytes", "uverbs_ioctl.c: PTR_IN of one size", EINVAL,
	 ON(QP, QP_CREATE), .attr = {QP_BASE, VAL(CREATE_QP_SOURCE_QPN, 3, 1), QP_RESP}},
	{"QP by a command", "", 0, RUN_UHW(C(CREATE_QP), create_qp, 32, QP_UHW, 40, QP_REQ),
	 .more = true},
	{"QP reset", "", 0, RUN(C(MODIFY_QP), modify_qp, 0, .qp_handle = NEXT, .attr_mask = 1),
	 .more = true},
	{"QP reset by the extended command", "", 0,
	 RUN(EX(MODIFY_QP), ex_modify_qp, 8, .base = {.qp_handle = NEXT, .attr_mask = 1}),
	 .more = true},
	{"query of the QP", "", 0, RUN(C(QUERY_QP), query_qp, RESP(query_qp), .qp_handle = NEXT),
	 .more = true},
	{"QP destroyed by a command", "", 0, RUN(C(DESTROY_QP), destroy_qp, 4, .qp_handle = NEXT),
	 .more = true},
	{"QP destroyed twice", "xa_load", ENOENT,
	 RUN(C(DESTROY_QP), destroy_qp, 4, .qp_handle = NEXT)},
	{"extended QP change with an unknown attribute", "ib_uverbs_ex_modify_qp", EOPNOTSUPP,
	 RUN(EX(MODIFY_QP), ex_modify_qp, 8, .base = {.qp_handle = QP, .attr_mask = 1 << 27})},
	{"QP by an extended command", "", 0,
	 RUN_UHW(EX(CREATE_QP), ex_create_qp, 40, QP_UHW, 40, QP_REQ), .more = true},
	{"QP destroyed", "", 0, RUN(C(DESTROY_QP), destroy_qp, 4, .qp_handle = NEXT)},
	{"QP by an extended command with a comp_mask",
	 "ib_uverbs_ex_create_qp: IB_UVERBS_CREATE_QP_SUP_COMP_MASK", EINVAL,
	 RUN_UHW(EX(CREATE_QP), ex_create_qp, 40, QP_UHW, 40, QP_REQ, .comp_mask = 2)},
	{"SRQ by a command", "", 0,
	 RUN_UHW(C(CREATE_SRQ), create_srq, 16, SRQ_UHW, 8, .pd_handle = PD, .max_wr = 15,
		 .max_sge = 1),
	 .more = true},
	{"SRQ destroyed by a command", "", 0,
	 RUN(C(DESTROY_SRQ), destroy_srq, 4, .srq_handle = NEXT), .more = true},
	{"SRQ destroyed twice", "xa_load", ENOENT,
	 RUN(C(DESTROY_SRQ), destroy_srq, 4, .srq_handle = NEXT), .more = true},
	{"limit of no SRQ", "ib_uverbs_modify_srq: uobj_get_obj_read", ENOENT,
	 RUN(C(MODIFY_SRQ), modify_srq, 0, .srq_handle = NEXT, .attr_mask = 2), .more = true},
	{"query of no SRQ", "ib_uverbs_query_srq: uobj_get_obj_read", ENOENT,
	 RUN(C(QUERY_SRQ), query_srq, 16, .srq_handle = NEXT)},
	{"SRQ on no PD", "__uverbs_create_xsrq: uobj_get_obj_read", ENOENT,
	 RUN_UHW(C(CREATE_SRQ), create_srq, 16, SRQ_UHW, 8, .pd_handle = NONE, .max_wr = 15)},
	{"basic SRQ by the command for XRC", "", 0,
	 RUN_UHW(C(CREATE_XSRQ), create_xsrq, 16, SRQ_UHW, 8, .pd_handle = PD, .max_wr = 15,
		 .max_sge = 1),
	 .more = true},
	{"SRQ destroyed", "", 0, RUN(C(DESTROY_SRQ), destroy_srq, 4, .srq_handle = NEXT)},
	{"SRQ of the command for XRC on no PD", "__uverbs_create_xsrq: uobj_get_obj_read", ENOENT,
	 RUN_UHW(C(CREATE_XSRQ), create_xsrq, 16, SRQ_UHW, 8, .pd_handle = NONE, .max_wr = 15)},

	/* ---- DEVX */
	{"DEVX object", "", 0, ON5(DEVX_OBJ, DEVX_OBJ_CREATE),
	 .attr = {HANDLE5(DEVX_OBJ_CREATE_HANDLE, 0), BYTES5(DEVX_OBJ_CREATE_CMD_IN, 16, ALLOC_PD),
		  VAL5(DEVX_OBJ_CREATE_CMD_OUT, 16, OUT)},
	 .more = true},
	{"DEVX object destroyed", "", 0, ON5(DEVX_OBJ, DEVX_OBJ_DESTROY),
	 .attr = {HANDLE5(DEVX_OBJ_DESTROY_HANDLE, NEXT)}, .more = true},
	{"DEVX object destroyed twice", "xa_load", ENOENT, ON5(DEVX_OBJ, DEVX_OBJ_DESTROY),
	 .attr = {HANDLE5(DEVX_OBJ_DESTROY_HANDLE, NEXT)}},
	{"DEVX query of a CQ", "devx_is_valid_obj_id", 0, ON5(DEVX_OBJ, DEVX_OBJ_QUERY),
	 .attr = {HANDLE5(DEVX_OBJ_QUERY_HANDLE, CQ),
		  BYTES5(DEVX_OBJ_QUERY_CMD_IN, 16, QUERY_CQ, 0, 0, 0, 0, 0, 0, OBJECT_CQN),
		  VAL5(DEVX_OBJ_QUERY_CMD_OUT, 0x110, OUT)}},
	{"DEVX change of a CQ", "devx_is_valid_obj_id", 0, ON5(DEVX_OBJ, DEVX_OBJ_MODIFY),
	 .attr = {HANDLE5(DEVX_OBJ_MODIFY_HANDLE, CQ),
		  BYTES5(DEVX_OBJ_MODIFY_CMD_IN, 0x110, MODIFY_CQ, 0, 0, 0, 0, 0, 0, OBJECT_CQN, 0,
			 0, 0, 1),
		  VAL5(DEVX_OBJ_MODIFY_CMD_OUT, 16, OUT)}},
	{"umem", "", 0, ON5(DEVX_UMEM, DEVX_UMEM_REG),
	 .attr = {HANDLE5(DEVX_UMEM_REG_HANDLE, 0), VAL5(DEVX_UMEM_REG_ADDR, 8, MEM + 0x7000),
		  VAL5(DEVX_UMEM_REG_LEN, 8, 4096), VAL5(DEVX_UMEM_REG_ACCESS, 4, 1),
		  VAL5(DEVX_UMEM_REG_PGSZ_BITMAP, 8, 4096), VAL5(DEVX_UMEM_REG_OUT_ID, 4, OUT)},
	 .more = true},
	{"umem destroyed", "", 0, ON5(DEVX_UMEM, DEVX_UMEM_DEREG),
	 .attr = {HANDLE5(DEVX_UMEM_DEREG_HANDLE, NEXT)}, .more = true},
	{"umem destroyed twice", "xa_load", ENOENT, ON5(DEVX_UMEM, DEVX_UMEM_DEREG),
	 .attr = {HANDLE5(DEVX_UMEM_DEREG_HANDLE, NEXT)}},
	{"umem over a dmabuf that is no dmabuf", "uverbs_ioctl.c: RAW_FD of 4 bytes", EINVAL,
	 ON5(DEVX_UMEM, DEVX_UMEM_REG),
	 .attr = {HANDLE5(DEVX_UMEM_REG_HANDLE, 0), VAL5(DEVX_UMEM_REG_ADDR, 8, 0),
		  VAL5(DEVX_UMEM_REG_LEN, 8, 4096), VAL5(DEVX_UMEM_REG_ACCESS, 4, 1),
		  VAL5(DEVX_UMEM_REG_DMABUF_FD, 4, 0), VAL5(DEVX_UMEM_REG_OUT_ID, 4, OUT)}},
	{"UAR", "", 0, ON5(UAR, UAR_OBJ_ALLOC),
	 .attr = {HANDLE5(UAR_OBJ_ALLOC_HANDLE, 0), VAL5(UAR_OBJ_ALLOC_TYPE, 8, 1),
		  VAL5(UAR_OBJ_ALLOC_MMAP_OFFSET, 8, OUT),
		  VAL5(UAR_OBJ_ALLOC_MMAP_LENGTH, 4, OUT + 8),
		  VAL5(UAR_OBJ_ALLOC_PAGE_ID, 4, OUT + 12)},
	 .more = true},
	{"UAR destroyed", "", 0, ON5(UAR, UAR_OBJ_DESTROY),
	 .attr = {HANDLE5(UAR_OBJ_DESTROY_HANDLE, NEXT)}, .more = true},
	{"UAR destroyed twice", "xa_load", ENOENT, ON5(UAR, UAR_OBJ_DESTROY),
	 .attr = {HANDLE5(UAR_OBJ_DESTROY_HANDLE, NEXT)}},
	{"register of a UAR of the context", "mlx5/devx.c: bfregn_to_uar_index, dynamic UARs",
	 EINVAL, .object = MLX5_IB_OBJECT_DEVX, .method = MLX5_IB_METHOD_DEVX_QUERY_UAR,
	 .attr = {VAL5(DEVX_QUERY_UAR_USER_IDX, 4, 0), VAL5(DEVX_QUERY_UAR_DEV_IDX, 4, OUT)}},
	{"EQ of vector 0", "", 0, .object = MLX5_IB_OBJECT_DEVX,
	 .method = MLX5_IB_METHOD_DEVX_QUERY_EQN,
	 .attr = {VAL5(DEVX_QUERY_EQN_USER_VEC, 4, 0), VAL5(DEVX_QUERY_EQN_DEV_EQN, 4, OUT)}},
};
ROWS_END(life_rows);
