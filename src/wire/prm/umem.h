/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* User memory for DEVX: CREATE_UMEM, DESTROY_UMEM. */
#ifndef SOFTHCA_WIRE_PRM_UMEM_H
#define SOFTHCA_WIRE_PRM_UMEM_H

#include "wire/prm/cmd_hdr.h"

#define PRM_L_umem(F, S)                \
	F(umem, ats, 0x80, 1)           \
	F(umem, log_page_size, 0x9b, 5) \
	F(umem, page_offset, 0xa0, 32)  \
	F(umem, num_of_mtt, 0xc0, 64)

#define PRM_L_create_umem_in(F, S)    \
	PRM_CMD_IN(F, create_umem_in) \
	S(create_umem_in, umem, umem, 0x10)

#define PRM_L_create_umem_out(F, S)     \
	PRM_CMD_OUT(F, create_umem_out) \
	F(create_umem_out, umem_id, 0x48, 24)

#define PRM_L_destroy_umem_in(F, S)    \
	PRM_CMD_IN(F, destroy_umem_in) \
	F(destroy_umem_in, umem_id, 0x48, 24)

#define PRM_L_destroy_umem_out(F, S) PRM_CMD_OUT(F, destroy_umem_out)

#define PRM_LAYOUTS_UMEM(X)      \
	X(umem, 0x20)            \
	X(create_umem_in, 0x30)  \
	X(create_umem_out, 0x10) \
	X(destroy_umem_in, 0x10) \
	X(destroy_umem_out, 0x10)

PRM_LAYOUTS_UMEM(PRM_LAYOUT)

#endif
