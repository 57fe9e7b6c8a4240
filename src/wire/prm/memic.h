/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Device memory: ALLOC_MEMIC, DEALLOC_MEMIC. */
#ifndef SOFTHCA_WIRE_PRM_MEMIC_H
#define SOFTHCA_WIRE_PRM_MEMIC_H

#include "wire/prm/cmd_hdr.h"

/* Addresses are offsets in BAR 0. The alignment is 64 << log_memic_addr_alignment bytes. */
#define PRM_L_alloc_memic_in(F, S)                           \
	PRM_CMD_IN(F, alloc_memic_in)                        \
	F(alloc_memic_in, log_memic_addr_alignment, 0x78, 8) \
	F(alloc_memic_in, range_start_addr, 0x80, 64)        \
	F(alloc_memic_in, range_size, 0xc0, 32)              \
	F(alloc_memic_in, memic_size, 0xe0, 32)

#define PRM_L_alloc_memic_out(F, S)     \
	PRM_CMD_OUT(F, alloc_memic_out) \
	F(alloc_memic_out, memic_start_addr, 0x40, 64)

#define PRM_L_dealloc_memic_in(F, S)                    \
	PRM_CMD_IN(F, dealloc_memic_in)                 \
	F(dealloc_memic_in, memic_start_addr, 0x80, 64) \
	F(dealloc_memic_in, memic_size, 0xc0, 32)

#define PRM_L_dealloc_memic_out(F, S) PRM_CMD_OUT(F, dealloc_memic_out)

#define PRM_LAYOUTS_MEMIC(X)      \
	X(alloc_memic_in, 0x20)   \
	X(alloc_memic_out, 0x10)  \
	X(dealloc_memic_in, 0x20) \
	X(dealloc_memic_out, 0x10)

PRM_LAYOUTS_MEMIC(PRM_LAYOUT)

#endif
