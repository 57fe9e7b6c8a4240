/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* PDs: ALLOC_PD, DEALLOC_PD. */
#ifndef SOFTHCA_WIRE_PRM_PD_H
#define SOFTHCA_WIRE_PRM_PD_H

#include "wire/prm/cmd_hdr.h"

#define PRM_L_alloc_pd_in(F, S) PRM_CMD_IN(F, alloc_pd_in)

#define PRM_L_alloc_pd_out(F, S)     \
	PRM_CMD_OUT(F, alloc_pd_out) \
	F(alloc_pd_out, pd, 0x48, 24)

#define PRM_L_dealloc_pd_in(F, S)    \
	PRM_CMD_IN(F, dealloc_pd_in) \
	F(dealloc_pd_in, pd, 0x48, 24)

#define PRM_L_dealloc_pd_out(F, S) PRM_CMD_OUT(F, dealloc_pd_out)

#define PRM_LAYOUTS_PD(X)      \
	X(alloc_pd_in, 0x10)   \
	X(alloc_pd_out, 0x10)  \
	X(dealloc_pd_in, 0x10) \
	X(dealloc_pd_out, 0x10)

PRM_LAYOUTS_PD(PRM_LAYOUT)

#endif
