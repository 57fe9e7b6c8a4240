/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tag matching. Sources: struct ibv_tmh and ibv_rvh in <infiniband/tm_types.h>, mlx5_wqe_tm_seg and
 * mlx5_tm_cqe in <infiniband/mlx5dv.h>, MLX5_TM_* in rdma-core's providers/mlx5. All big-endian.
 */
#ifndef SOFTHCA_WIRE_WQE_TM_H
#define SOFTHCA_WIRE_WQE_TM_H

#include "wire/layout.h"

/* A command for the tag list, after the control segment. An append also has a data segment. */
#define WQE_L_tm(F)                      \
	F(wqe_tm, opcode, 0x00, 4)       \
	F(wqe_tm, cqe_req, 0x08, 1)      \
	F(wqe_tm, sw_cnt_valid, 0x09, 1) \
	F(wqe_tm, index, 0x10, 16)       \
	F(wqe_tm, sw_cnt, 0x30, 16)      \
	F(wqe_tm, tag, 0x80, 64)         \
	F(wqe_tm, mask, 0xc0, 64)
LAYOUT(wqe_tm, 0x20, WQE_L_tm)
#define WQE_V_TM(V)          \
	V(WQE_TM, NOP, 0)    \
	V(WQE_TM, APPEND, 1) \
	V(WQE_TM, REMOVE, 2)
LAYOUT_ENUM(wqe_tm_op, WQE_V_TM)

/* The header of a tagged message (tmh); in a rendezvous, the address of its data follows (rvh). */
#define WQE_L_tmh(F)              \
	F(tmh, opcode, 0x00, 8)   \
	F(tmh, app_ctx, 0x20, 32) \
	F(tmh, tag, 0x40, 64)
LAYOUT(tmh, 0x10, WQE_L_tmh)
#define TMH_V_OPCODE(V)   \
	V(TMH, NO_TAG, 0) \
	V(TMH, RNDV, 1)   \
	V(TMH, FIN, 2)    \
	V(TMH, EAGER, 3)
LAYOUT_ENUM(tmh_op, TMH_V_OPCODE)

#define WQE_L_rvh(F)           \
	F(rvh, va, 0x00, 64)   \
	F(rvh, rkey, 0x40, 32) \
	F(rvh, len, 0x60, 32)
LAYOUT(rvh, 0x10, WQE_L_rvh)

#define CQE_APP_TAG_MATCHING 1 /* cqe64.app */
#define CQE_V_TM(V)                    \
	V(CQE_TM, CONSUMED, 1)         \
	V(CQE_TM, EXPECTED, 2)         \
	V(CQE_TM, UNEXPECTED, 3)       \
	V(CQE_TM, NO_TAG, 4)           \
	V(CQE_TM, APPEND, 5)           \
	V(CQE_TM, REMOVE, 6)           \
	V(CQE_TM, NOOP, 7)             \
	V(CQE_TM, CONSUMED_SW_RNDV, 9) \
	V(CQE_TM, CONSUMED_MSG, 10)    \
	V(CQE_TM, CONSUMED_MSG_SW_RNDV, 11)
LAYOUT_ENUM(cqe_tm_op, CQE_V_TM)

/*
 * cqe64 with different first bytes: tm_cqe for a command; for a message that has taken an entry,
 * its header.
 */
#define CQE_L_TM_REST(F, l)          \
	F(l, srqn_uidx, 0x100, 32)   \
	F(l, app, 0x140, 8)          \
	F(l, app_op, 0x148, 8)       \
	F(l, app_info, 0x150, 16)    \
	F(l, qpn, 0x1c8, 24)         \
	F(l, wqe_counter, 0x1e0, 16) \
	F(l, signature, 0x1f0, 8)    \
	F(l, opcode, 0x1f8, 4)       \
	F(l, se, 0x1fe, 1)           \
	F(l, owner, 0x1ff, 1)
#define CQE_L_tm(F)                       \
	F(tm_cqe, success, 0x00, 1)       \
	F(tm_cqe, hw_phase_cnt, 0x20, 16) \
	CQE_L_TM_REST(F, tm_cqe)
LAYOUT(tm_cqe, 0x40, CQE_L_tm)
#define CQE_L_tmh(F)                          \
	F(tmh_cqe, tmh_opcode, 0x00, 8)       \
	F(tmh_cqe, tmh_app_ctx, 0x20, 32)     \
	F(tmh_cqe, tmh_tag, 0x40, 64)         \
	F(tmh_cqe, imm_inval_pkey, 0x120, 32) \
	F(tmh_cqe, byte_cnt, 0x160, 32)       \
	CQE_L_TM_REST(F, tmh_cqe)
LAYOUT(tmh_cqe, 0x40, CQE_L_tmh)

#endif
