/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What all rooms of the engine share: its clock, and its operations by opcode.
 */
#include "engine/base/base.h"

uint64_t (*eng_clock)(void) = clock_now_ns;

const struct eng_op eng_ops[ENG_OPS] = {
	[WQE_OP_NOP] = {ENG_K_NOP, 0, 0},
	[WQE_OP_SEND_INVAL] = {ENG_K_SEND, CQE_RESP_SEND_INV, 1},
	[WQE_OP_SEND] = {ENG_K_SEND, CQE_RESP_SEND, 0},
	[WQE_OP_SEND_IMM] = {ENG_K_SEND, CQE_RESP_SEND_IMM, 1},
	[WQE_OP_RDMA_WRITE] = {ENG_K_WRITE, 0, 0},
	[WQE_OP_RDMA_WRITE_IMM] = {ENG_K_WRITE, CQE_RESP_WR_IMM, 1},
	[WQE_OP_RDMA_READ] = {ENG_K_READ, 0, 0},
	[WQE_OP_ATOMIC_CS] = {ENG_K_ATOMIC, 0, 0},
	[WQE_OP_ATOMIC_FA] = {ENG_K_ATOMIC, 0, 0},
	[WQE_OP_ATOMIC_MASKED_CS] = {ENG_K_ATOMIC, 0, 0},
	[WQE_OP_ATOMIC_MASKED_FA] = {ENG_K_ATOMIC, 0, 0},
	[WQE_OP_UMR] = {ENG_K_UMR, 0, 0},
	[WQE_OP_TAG_MATCHING] = {ENG_K_TM, 0, 0},
	[WQE_OP_MMO] = {ENG_K_MMO, 0, 0},
	[WQE_OP_SET_PSV] = {ENG_K_SET_PSV, 0, 0},
};
