/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Receive memory pools (basic SRQs) and their work queue. */
#ifndef SOFTHCA_WIRE_PRM_RMP_SRQ_H
#define SOFTHCA_WIRE_PRM_RMP_SRQ_H

#include "wire/prm/cmd_hdr.h"

#define PRM_L_wq(F, S)                          \
	F(wq, wq_type, 0x00, 4)                 \
	F(wq, wq_signature, 0x04, 1)            \
	F(wq, end_padding_mode, 0x05, 2)        \
	F(wq, page_offset, 0x2b, 5)             \
	F(wq, lwm, 0x30, 16)                    \
	F(wq, pd, 0x48, 24)                     \
	F(wq, uar_page, 0x68, 24)               \
	F(wq, dbr_addr, 0x80, 64)               \
	F(wq, hw_counter, 0xc0, 32)             \
	F(wq, sw_counter, 0xe0, 32)             \
	F(wq, log_wq_stride, 0x10c, 4)          \
	F(wq, log_wq_pg_sz, 0x113, 5)           \
	F(wq, log_wq_sz, 0x11b, 5)              \
	F(wq, dbr_umem_valid, 0x120, 1)         \
	F(wq, wq_umem_valid, 0x121, 1)          \
	F(wq, log_wqe_num_of_strides, 0x134, 4) \
	F(wq, two_byte_shift_en, 0x138, 1)      \
	F(wq, log_wqe_stride_size, 0x13d, 3)    \
	F(wq, dbr_umem_id, 0x140, 32)           \
	F(wq, wq_umem_id, 0x160, 32)            \
	F(wq, wq_umem_offset, 0x180, 64)

#define PRM_L_rmpc(F, S)                       \
	F(rmpc, state, 0x08, 4)                \
	F(rmpc, basic_cyclic_rcv_wqe, 0x20, 1) \
	S(rmpc, wq, wq, 0x30)

#define PRM_L_rmp_bitmask(F, S) F(rmp_bitmask, lwm, 0x3f, 1)

#define PRM_L_create_rmp_in(F, S)    \
	PRM_CMD_IN(F, create_rmp_in) \
	S(create_rmp_in, ctx, rmpc, 0x20)

#define PRM_L_create_rmp_out(F, S)     \
	PRM_CMD_OUT(F, create_rmp_out) \
	F(create_rmp_out, rmpn, 0x48, 24)

#define PRM_L_query_rmp_in(F, S)    \
	PRM_CMD_IN(F, query_rmp_in) \
	F(query_rmp_in, rmpn, 0x48, 24)

#define PRM_L_query_rmp_out(F, S)     \
	PRM_CMD_OUT(F, query_rmp_out) \
	S(query_rmp_out, rmp_context, rmpc, 0x20)

#define PRM_L_modify_rmp_in(F, S)                    \
	PRM_CMD_IN(F, modify_rmp_in)                 \
	F(modify_rmp_in, rmp_state, 0x40, 4)         \
	F(modify_rmp_in, rmpn, 0x48, 24)             \
	S(modify_rmp_in, bitmask, rmp_bitmask, 0x10) \
	S(modify_rmp_in, ctx, rmpc, 0x20)

#define PRM_L_modify_rmp_out(F, S) PRM_CMD_OUT(F, modify_rmp_out)

#define PRM_L_destroy_rmp_in(F, S)    \
	PRM_CMD_IN(F, destroy_rmp_in) \
	F(destroy_rmp_in, rmpn, 0x48, 24)

#define PRM_L_destroy_rmp_out(F, S) PRM_CMD_OUT(F, destroy_rmp_out)

#define PRM_LAYOUTS_RMP_SRQ(X)  \
	X(wq, 0xc0)             \
	X(rmpc, 0xf0)           \
	X(rmp_bitmask, 0x08)    \
	X(create_rmp_in, 0x110) \
	X(create_rmp_out, 0x10) \
	X(query_rmp_in, 0x10)   \
	X(query_rmp_out, 0x110) \
	X(modify_rmp_in, 0x110) \
	X(modify_rmp_out, 0x10) \
	X(destroy_rmp_in, 0x10) \
	X(destroy_rmp_out, 0x10)

PRM_LAYOUTS_RMP_SRQ(PRM_LAYOUT)

#define PRM_V_WQ_TYPE(V)                      \
	V(PRM_WQ, LINKED_LIST, 0)             \
	V(PRM_WQ, CYCLIC, 1)                  \
	V(PRM_WQ, LINKED_LIST_STRIDING_RQ, 2) \
	V(PRM_WQ, CYCLIC_STRIDING_RQ, 3)
LAYOUT_ENUM(prm_wq_type, PRM_V_WQ_TYPE)

/* State of RMPs, RQs and SQs; an RMP has no RST. */
#define PRM_V_WQ_STATE(V)       \
	V(PRM_WQ_STATE, RST, 0) \
	V(PRM_WQ_STATE, RDY, 1) \
	V(PRM_WQ_STATE, ERR, 3)
LAYOUT_ENUM(prm_wq_state, PRM_V_WQ_STATE)

/* State of XRC SRQs and XRQs. */
#define PRM_V_SRQ_STATE(V)        \
	V(PRM_SRQ_STATE, GOOD, 0) \
	V(PRM_SRQ_STATE, ERROR, 1)
LAYOUT_ENUM(prm_srq_state, PRM_V_SRQ_STATE)

#define PRM_NAMED_RMP_SRQ(N)           \
	N(wq, wq_type, PRM_V_WQ_TYPE)  \
	N(rmpc, state, PRM_V_WQ_STATE) \
	N(modify_rmp_in, rmp_state, PRM_V_WQ_STATE)

#endif
