/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * XRC domains and XRC SRQs, and the plain SRQ commands. mlx5_ifc.h does not show where an XRC SRQ
 * names its umems: the places here follow the other contexts (after the doorbell address; before
 * the valid bit).
 */
#ifndef SOFTHCA_WIRE_PRM_XRC_H
#define SOFTHCA_WIRE_PRM_XRC_H

#include "wire/prm/cmd_hdr.h"
#include "wire/prm/rmp_srq.h"

#define PRM_L_alloc_xrcd_in(F, S) PRM_CMD_IN(F, alloc_xrcd_in)

#define PRM_L_alloc_xrcd_out(F, S)     \
	PRM_CMD_OUT(F, alloc_xrcd_out) \
	F(alloc_xrcd_out, xrcd, 0x48, 24)

#define PRM_L_dealloc_xrcd_in(F, S)    \
	PRM_CMD_IN(F, dealloc_xrcd_in) \
	F(dealloc_xrcd_in, xrcd, 0x48, 24)

#define PRM_L_dealloc_xrcd_out(F, S) PRM_CMD_OUT(F, dealloc_xrcd_out)

#define PRM_L_xrc_srqc(F, S)                            \
	F(xrc_srqc, state, 0x00, 4)                     \
	F(xrc_srqc, log_xrc_srq_size, 0x04, 4)          \
	F(xrc_srqc, wq_signature, 0x20, 1)              \
	F(xrc_srqc, cont_srq, 0x21, 1)                  \
	F(xrc_srqc, rlky, 0x23, 1)                      \
	F(xrc_srqc, basic_cyclic_rcv_wqe, 0x24, 1)      \
	F(xrc_srqc, log_rq_stride, 0x25, 3)             \
	F(xrc_srqc, xrcd, 0x28, 24)                     \
	F(xrc_srqc, page_offset, 0x40, 6)               \
	F(xrc_srqc, dbr_umem_valid, 0x47, 1)            \
	F(xrc_srqc, cqn, 0x48, 24)                      \
	F(xrc_srqc, user_index_equal_xrc_srqn, 0x80, 1) \
	F(xrc_srqc, log_page_size, 0x82, 6)             \
	F(xrc_srqc, user_index, 0x88, 24)               \
	F(xrc_srqc, pd, 0xc8, 24)                       \
	F(xrc_srqc, lwm, 0xe0, 16)                      \
	F(xrc_srqc, wqe_cnt, 0xf0, 16)                  \
	F(xrc_srqc, dbr_addr, 0x140, 64)                \
	F(xrc_srqc, dbr_umem_id, 0x180, 32)

#define PRM_L_create_xrc_srq_in(F, S)                               \
	PRM_CMD_IN(F, create_xrc_srq_in)                            \
	S(create_xrc_srq_in, xrc_srq_context_entry, xrc_srqc, 0x10) \
	F(create_xrc_srq_in, xrc_srq_umem_offset, 0x280, 64)        \
	F(create_xrc_srq_in, xrc_srq_umem_id, 0x2c0, 32)            \
	F(create_xrc_srq_in, xrc_srq_umem_valid, 0x2e0, 1)

#define PRM_L_create_xrc_srq_out(F, S)     \
	PRM_CMD_OUT(F, create_xrc_srq_out) \
	F(create_xrc_srq_out, xrc_srqn, 0x48, 24)

#define PRM_L_query_xrc_srq_in(F, S)    \
	PRM_CMD_IN(F, query_xrc_srq_in) \
	F(query_xrc_srq_in, xrc_srqn, 0x48, 24)

#define PRM_L_query_xrc_srq_out(F, S)     \
	PRM_CMD_OUT(F, query_xrc_srq_out) \
	S(query_xrc_srq_out, xrc_srq_context_entry, xrc_srqc, 0x10)

#define PRM_L_arm_xrc_srq_in(F, S)            \
	PRM_CMD_IN(F, arm_xrc_srq_in)         \
	F(arm_xrc_srq_in, xrc_srqn, 0x48, 24) \
	F(arm_xrc_srq_in, lwm, 0x70, 16)

#define PRM_L_arm_xrc_srq_out(F, S) PRM_CMD_OUT(F, arm_xrc_srq_out)

#define PRM_L_destroy_xrc_srq_in(F, S)    \
	PRM_CMD_IN(F, destroy_xrc_srq_in) \
	F(destroy_xrc_srq_in, xrc_srqn, 0x48, 24)

#define PRM_L_destroy_xrc_srq_out(F, S) PRM_CMD_OUT(F, destroy_xrc_srq_out)

#define PRM_LAYOUTS_XRC(X)          \
	X(alloc_xrcd_in, 0x10)      \
	X(alloc_xrcd_out, 0x10)     \
	X(dealloc_xrcd_in, 0x10)    \
	X(dealloc_xrcd_out, 0x10)   \
	X(xrc_srqc, 0x40)           \
	X(create_xrc_srq_in, 0x110) \
	X(create_xrc_srq_out, 0x10) \
	X(query_xrc_srq_in, 0x10)   \
	X(query_xrc_srq_out, 0x110) \
	X(arm_xrc_srq_in, 0x10)     \
	X(arm_xrc_srq_out, 0x10)    \
	X(destroy_xrc_srq_in, 0x10) \
	X(destroy_xrc_srq_out, 0x10)

PRM_LAYOUTS_XRC(PRM_LAYOUT)

enum { PRM_ARM_XRC_SRQ = 1 }; /* arm_xrc_srq_in.op_mod */

#define PRM_NAMED_XRC(N) N(xrc_srqc, state, PRM_V_SRQ_STATE)

#endif
