/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Completion queues: the CQ context and its commands. */
#ifndef SOFTHCA_WIRE_PRM_CQ_H
#define SOFTHCA_WIRE_PRM_CQ_H

#include "wire/prm/cmd_hdr.h"

#define PRM_L_cqc(F, S)                           \
	F(cqc, status, 0x00, 4)                   \
	F(cqc, dbr_umem_valid, 0x06, 1)           \
	F(cqc, cqe_sz, 0x08, 3)                   \
	F(cqc, cc, 0x0b, 1)                       \
	F(cqc, scqe_break_moderation_en, 0x0d, 1) \
	F(cqc, oi, 0x0e, 1)                       \
	F(cqc, cq_period_mode, 0x0f, 2)           \
	F(cqc, cqe_comp_en, 0x11, 1)              \
	F(cqc, mini_cqe_res_format, 0x12, 2)      \
	F(cqc, st, 0x14, 4)                       \
	F(cqc, dbr_umem_id, 0x20, 32)             \
	F(cqc, page_offset, 0x54, 6)              \
	F(cqc, log_cq_size, 0x63, 5)              \
	F(cqc, uar_page, 0x68, 24)                \
	F(cqc, cq_period, 0x84, 12)               \
	F(cqc, cq_max_count, 0x90, 16)            \
	F(cqc, c_eqn, 0xb8, 8)                    \
	F(cqc, log_page_size, 0xc3, 5)            \
	F(cqc, last_notified_index, 0x108, 24)    \
	F(cqc, last_solicit_index, 0x128, 24)     \
	F(cqc, consumer_counter, 0x148, 24)       \
	F(cqc, producer_counter, 0x168, 24)       \
	F(cqc, dbr_addr, 0x1c0, 64)

#define PRM_L_create_cq_in(F, S)                   \
	PRM_CMD_IN(F, create_cq_in)                \
	S(create_cq_in, cq_context, cqc, 0x10)     \
	F(create_cq_in, cq_umem_offset, 0x280, 64) \
	F(create_cq_in, cq_umem_id, 0x2c0, 32)     \
	F(create_cq_in, cq_umem_valid, 0x2e0, 1)

#define PRM_L_create_cq_out(F, S)     \
	PRM_CMD_OUT(F, create_cq_out) \
	F(create_cq_out, cqn, 0x48, 24)

#define PRM_L_query_cq_in(F, S)    \
	PRM_CMD_IN(F, query_cq_in) \
	F(query_cq_in, cqn, 0x48, 24)

#define PRM_L_query_cq_out(F, S)     \
	PRM_CMD_OUT(F, query_cq_out) \
	S(query_cq_out, cq_context, cqc, 0x10)

#define PRM_L_modify_cq_in(F, S)                       \
	PRM_CMD_IN(F, modify_cq_in)                    \
	F(modify_cq_in, cqn, 0x48, 24)                 \
	F(modify_cq_in, modify_field_select, 0x60, 32) \
	S(modify_cq_in, cq_context, cqc, 0x10)         \
	F(modify_cq_in, cq_umem_offset, 0x280, 64)     \
	F(modify_cq_in, cq_umem_id, 0x2c0, 32)         \
	F(modify_cq_in, cq_umem_valid, 0x2e0, 1)

#define PRM_L_modify_cq_out(F, S) PRM_CMD_OUT(F, modify_cq_out)

#define PRM_L_destroy_cq_in(F, S)    \
	PRM_CMD_IN(F, destroy_cq_in) \
	F(destroy_cq_in, cqn, 0x48, 24)

#define PRM_L_destroy_cq_out(F, S) PRM_CMD_OUT(F, destroy_cq_out)

#define PRM_LAYOUTS_CQ(X)      \
	X(cqc, 0x40)           \
	X(create_cq_in, 0x110) \
	X(create_cq_out, 0x10) \
	X(query_cq_in, 0x10)   \
	X(query_cq_out, 0x110) \
	X(modify_cq_in, 0x110) \
	X(modify_cq_out, 0x10) \
	X(destroy_cq_in, 0x10) \
	X(destroy_cq_out, 0x10)

PRM_LAYOUTS_CQ(PRM_LAYOUT)

/* op_mod 1 (resize) has another name for this dword. */
LAYOUT_ALIAS(modify_cq_in, resize_field_select, modify_field_select)

enum { /* modify_cq_in.modify_field_select, op_mod 0 */
       PRM_CQ_MODIFY_PERIOD = 1 << 0,
       PRM_CQ_MODIFY_MAX_COUNT = 1 << 1,
       PRM_CQ_MODIFY_OI = 1 << 2,
       PRM_CQ_MODIFY_EQN = 1 << 3,
       PRM_CQ_MODIFY_PERIOD_MODE = 1 << 4,
       PRM_CQ_MODIFY_STATUS = 1 << 5,
};

enum { /* modify_cq_in.resize_field_select, op_mod 1 */
       PRM_CQ_RESIZE_LOG_SIZE = 1 << 0,
       PRM_CQ_RESIZE_PAGE_OFFSET = 1 << 1,
       PRM_CQ_RESIZE_LOG_PAGE_SIZE = 1 << 2,
       PRM_CQ_RESIZE_UMEM = 1 << 3,
};

#define PRM_V_CQ_STATUS(V)            \
	V(PRM_CQ_STATUS, OK, 0)       \
	V(PRM_CQ_STATUS, OVERFLOW, 9) \
	V(PRM_CQ_STATUS, WRITE_FAIL, 10)
LAYOUT_ENUM(prm_cq_status, PRM_V_CQ_STATUS)

/* 128_PAD: each CQE fills its 128 bytes, so that a card writes whole cache lines. */
#define PRM_V_CQE_SZ(V)       \
	V(PRM_CQE_SZ, 64, 0)  \
	V(PRM_CQE_SZ, 128, 1) \
	V(PRM_CQE_SZ, 128_PAD, 2)
LAYOUT_ENUM(prm_cqe_sz, PRM_V_CQE_SZ)

#define PRM_V_CQ_ST(V)                   \
	V(PRM_CQ_ST, SOLICITED_ARMED, 6) \
	V(PRM_CQ_ST, ARMED, 9)           \
	V(PRM_CQ_ST, FIRED, 10)
LAYOUT_ENUM(prm_cq_st, PRM_V_CQ_ST)

#define PRM_V_CQ_PERIOD_MODE(V)       \
	V(PRM_CQ_PERIOD, FROM_EQE, 0) \
	V(PRM_CQ_PERIOD, FROM_CQE, 1)
LAYOUT_ENUM(prm_cq_period_mode, PRM_V_CQ_PERIOD_MODE)

/* MLX5_CQE_RES_FORMAT_* of Linux mlx5/device.h */
#define PRM_V_MINI_CQE_FORMAT(V) \
	V(PRM_MINI_CQE, HASH, 0) \
	V(PRM_MINI_CQE, CSUM, 1) \
	V(PRM_MINI_CQE, CSUM_STRIDX, 3)
LAYOUT_ENUM(prm_mini_cqe_format, PRM_V_MINI_CQE_FORMAT)

#define PRM_NAMED_CQ(N)                                    \
	N(cqc, status, PRM_V_CQ_STATUS)                    \
	N(cqc, cqe_sz, PRM_V_CQE_SZ)                       \
	N(cqc, st, PRM_V_CQ_ST)                            \
	N(cqc, mini_cqe_res_format, PRM_V_MINI_CQE_FORMAT) \
	N(cqc, cq_period_mode, PRM_V_CQ_PERIOD_MODE)

#endif
