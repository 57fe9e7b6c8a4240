/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Macros for rows of calls by ioctl(2): right calls, and parts of them. */
#ifndef SOFTHCA_TESTS_ABI_FORMS_H
#define SOFTHCA_TESTS_ABI_FORMS_H

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
/* Without a receive queue of its own. */
#define SRQ_QP_RESP                                                                        \
	VAL(CREATE_QP_RESP_CAP, 20, OUT), VAL(CREATE_QP_RESP_QP_NUM, 4, OUT + 64),         \
		UHW(mlx5_ib_create_qp, .buf_addr = MEM + 0x5000, .db_addr = NEXT_DBR + 64, \
		    .sq_wqe_count = 4, .flags = MLX5_QP_FLAG_UAR_PAGE_INDEX,               \
		    .bfreg_index = UAR_PAGE),                                              \
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

#endif
