/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Dynamically connected targets. */
#ifndef SOFTHCA_WIRE_PRM_DCT_H
#define SOFTHCA_WIRE_PRM_DCT_H

#include "wire/prm/cmd_hdr.h"
#include "wire/prm/qp.h"

/*
 * The context has 0x380 bits (rdma-core, UCX). The kernel writes ECE options at 0x1e0, UCX through
 * DEVX at 0x200 (ib_mlx5_ifc.h); no public source decides, so both places are known.
 */
#define PRM_L_dctc(F, S)                                  \
	F(dctc, state, 0x04, 4)                           \
	F(dctc, dp_ordering_force, 0x27, 1)               \
	F(dctc, user_index, 0x28, 24)                     \
	F(dctc, cqn, 0x48, 24)                            \
	F(dctc, counter_set_id, 0x60, 8)                  \
	F(dctc, atomic_mode, 0x68, 4)                     \
	F(dctc, rre, 0x6c, 1)                             \
	F(dctc, rwe, 0x6d, 1)                             \
	F(dctc, rae, 0x6e, 1)                             \
	F(dctc, atomic_like_write_en, 0x6f, 1)            \
	F(dctc, latency_sensitive, 0x70, 1)               \
	F(dctc, rlky, 0x71, 1)                            \
	F(dctc, free_ar, 0x72, 1)                         \
	F(dctc, dp_ordering_0, 0x73, 1)                   \
	F(dctc, dp_ordering_1, 0x74, 1)                   \
	F(dctc, cs_res, 0x88, 8)                          \
	F(dctc, min_rnr_nak, 0x93, 5)                     \
	F(dctc, srqn_xrqn, 0xa8, 24)                      \
	F(dctc, pd, 0xc8, 24)                             \
	F(dctc, tclass, 0xe0, 8)                          \
	F(dctc, flow_label, 0xec, 20)                     \
	F(dctc, dc_access_key, 0x100, 64)                 \
	F(dctc, mtu, 0x145, 3)                            \
	F(dctc, port, 0x148, 8)                           \
	F(dctc, pkey_index, 0x150, 16)                    \
	F(dctc, my_addr_index, 0x168, 8)                  \
	F(dctc, hop_limit, 0x178, 8)                      \
	F(dctc, dc_access_key_violation_count, 0x180, 32) \
	F(dctc, dei_cfi, 0x1b4, 1)                        \
	F(dctc, eth_prio, 0x1b5, 3)                       \
	F(dctc, ecn, 0x1b8, 2)                            \
	F(dctc, dscp, 0x1ba, 6)                           \
	F(dctc, ece, 0x1e0, 32)                           \
	F(dctc, ece_alt, 0x200, 32)

#define PRM_L_create_dct_in(F, S)    \
	PRM_CMD_IN(F, create_dct_in) \
	S(create_dct_in, dct_context_entry, dctc, 0x10)

#define PRM_L_create_dct_out(F, S)        \
	PRM_CMD_OUT(F, create_dct_out)    \
	F(create_dct_out, dctn, 0x48, 24) \
	F(create_dct_out, ece, 0x60, 32)

#define PRM_L_query_dct_in(F, S)    \
	PRM_CMD_IN(F, query_dct_in) \
	F(query_dct_in, dctn, 0x48, 24)

#define PRM_L_query_dct_out(F, S)     \
	PRM_CMD_OUT(F, query_dct_out) \
	S(query_dct_out, dct_context_entry, dctc, 0x10)

#define PRM_L_drain_dct_in(F, S)    \
	PRM_CMD_IN(F, drain_dct_in) \
	F(drain_dct_in, dctn, 0x48, 24)

#define PRM_L_drain_dct_out(F, S) PRM_CMD_OUT(F, drain_dct_out)

#define PRM_L_destroy_dct_in(F, S)    \
	PRM_CMD_IN(F, destroy_dct_in) \
	F(destroy_dct_in, dctn, 0x48, 24)

#define PRM_L_destroy_dct_out(F, S) PRM_CMD_OUT(F, destroy_dct_out)

#define PRM_L_arm_dct_in(F, S)    \
	PRM_CMD_IN(F, arm_dct_in) \
	F(arm_dct_in, dct_number, 0x48, 24)

#define PRM_L_arm_dct_out(F, S) PRM_CMD_OUT(F, arm_dct_out)

#define PRM_LAYOUTS_DCT(X)       \
	X(dctc, 0x70)            \
	X(create_dct_in, 0x80)   \
	X(create_dct_out, 0x10)  \
	X(query_dct_in, 0x10)    \
	X(query_dct_out, 0x80)   \
	X(drain_dct_in, 0x10)    \
	X(drain_dct_out, 0x10)   \
	X(destroy_dct_in, 0x10)  \
	X(destroy_dct_out, 0x10) \
	X(arm_dct_in, 0x10)      \
	X(arm_dct_out, 0x10)

PRM_LAYOUTS_DCT(PRM_LAYOUT)

#define PRM_V_DCT_STATE(V)      \
	V(PRM_DCT, ACTIVE, 0)   \
	V(PRM_DCT, DRAINING, 1) \
	V(PRM_DCT, DRAINED, 2)
LAYOUT_ENUM(prm_dct_state, PRM_V_DCT_STATE)

#define PRM_NAMED_DCT(N)                           \
	N(dctc, state, PRM_V_DCT_STATE)            \
	N(dctc, atomic_mode, PRM_V_QP_ATOMIC_MODE) \
	N(dctc, mtu, IB_V_MTU)

#endif
