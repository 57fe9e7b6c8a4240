/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* UAR pages: ALLOC_UAR, DEALLOC_UAR. */
#ifndef SOFTHCA_WIRE_PRM_UAR_H
#define SOFTHCA_WIRE_PRM_UAR_H

#include "wire/prm/cmd_hdr.h"

#define PRM_L_alloc_uar_in(F, S) PRM_CMD_IN(F, alloc_uar_in)

#define PRM_L_alloc_uar_out(F, S)     \
	PRM_CMD_OUT(F, alloc_uar_out) \
	F(alloc_uar_out, uar, 0x48, 24)

#define PRM_L_dealloc_uar_in(F, S)    \
	PRM_CMD_IN(F, dealloc_uar_in) \
	F(dealloc_uar_in, uar, 0x48, 24)

#define PRM_L_dealloc_uar_out(F, S) PRM_CMD_OUT(F, dealloc_uar_out)

#define PRM_LAYOUTS_UAR(X)      \
	X(alloc_uar_in, 0x10)   \
	X(alloc_uar_out, 0x10)  \
	X(dealloc_uar_in, 0x10) \
	X(dealloc_uar_out, 0x10)

PRM_LAYOUTS_UAR(PRM_LAYOUT)

#endif
