/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Extended SRQs (without tag matching) and PSVs. */
#ifndef SOFTHCA_WIRE_PRM_XRQ_H
#define SOFTHCA_WIRE_PRM_XRQ_H

#include "wire/prm/cmd_hdr.h"
#include "wire/prm/rmp_srq.h"

#define PRM_L_xrqc(F, S)                        \
	F(xrqc, state, 0x00, 4)                 \
	F(xrqc, rlkey, 0x04, 1)                 \
	F(xrqc, topology, 0x14, 4)              \
	F(xrqc, offload, 0x1c, 4)               \
	F(xrqc, user_index, 0x28, 24)           \
	F(xrqc, cqn, 0x48, 24)                  \
	F(xrqc, log_matching_list_sz, 0x100, 4) \
	F(xrqc, append_next_index, 0x110, 16)   \
	F(xrqc, sw_phase_cnt, 0x120, 16)        \
	F(xrqc, hw_phase_cnt, 0x130, 16)        \
	S(xrqc, wq, wq, 0x80)

#define PRM_L_create_xrq_in(F, S)    \
	PRM_CMD_IN(F, create_xrq_in) \
	S(create_xrq_in, xrq_context, xrqc, 0x10)

#define PRM_L_create_xrq_out(F, S)     \
	PRM_CMD_OUT(F, create_xrq_out) \
	F(create_xrq_out, xrqn, 0x48, 24)

#define PRM_L_query_xrq_in(F, S)    \
	PRM_CMD_IN(F, query_xrq_in) \
	F(query_xrq_in, xrqn, 0x48, 24)

#define PRM_L_query_xrq_out(F, S)     \
	PRM_CMD_OUT(F, query_xrq_out) \
	S(query_xrq_out, xrq_context, xrqc, 0x10)

#define PRM_L_arm_xrq_in(F, S)        \
	PRM_CMD_IN(F, arm_xrq_in)     \
	F(arm_xrq_in, xrqn, 0x48, 24) \
	F(arm_xrq_in, lwm, 0x70, 16)

#define PRM_L_arm_xrq_out(F, S) PRM_CMD_OUT(F, arm_xrq_out)

#define PRM_L_destroy_xrq_in(F, S)    \
	PRM_CMD_IN(F, destroy_xrq_in) \
	F(destroy_xrq_in, xrqn, 0x48, 24)

#define PRM_L_destroy_xrq_out(F, S) PRM_CMD_OUT(F, destroy_xrq_out)

#define PRM_L_create_psv_in(F, S)          \
	PRM_CMD_IN(F, create_psv_in)       \
	F(create_psv_in, num_psv, 0x40, 4) \
	F(create_psv_in, pd, 0x48, 24)

#define PRM_L_create_psv_out(F, S)              \
	PRM_CMD_OUT(F, create_psv_out)          \
	F(create_psv_out, psv0_index, 0x88, 24) \
	F(create_psv_out, psv1_index, 0xa8, 24) \
	F(create_psv_out, psv2_index, 0xc8, 24) \
	F(create_psv_out, psv3_index, 0xe8, 24)

#define PRM_L_destroy_psv_in(F, S)    \
	PRM_CMD_IN(F, destroy_psv_in) \
	F(destroy_psv_in, psvn, 0x48, 24)

#define PRM_L_destroy_psv_out(F, S) PRM_CMD_OUT(F, destroy_psv_out)

#define PRM_LAYOUTS_XRQ(X)       \
	X(xrqc, 0x140)           \
	X(create_xrq_in, 0x150)  \
	X(create_xrq_out, 0x10)  \
	X(query_xrq_in, 0x10)    \
	X(query_xrq_out, 0x150)  \
	X(arm_xrq_in, 0x10)      \
	X(arm_xrq_out, 0x10)     \
	X(destroy_xrq_in, 0x10)  \
	X(destroy_xrq_out, 0x10) \
	X(create_psv_in, 0x10)   \
	X(create_psv_out, 0x20)  \
	X(destroy_psv_in, 0x10)  \
	X(destroy_psv_out, 0x10)

PRM_LAYOUTS_XRQ(PRM_LAYOUT)

#define PRM_NAMED_XRQ(N) N(xrqc, state, PRM_V_SRQ_STATE)

#endif
