/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Multicast groups. */
#ifndef SOFTHCA_WIRE_PRM_MCG_H
#define SOFTHCA_WIRE_PRM_MCG_H

#include "wire/prm/cmd_hdr.h"

#define PRM_L_attach_to_mcg_in(F, S)       \
	PRM_CMD_IN(F, attach_to_mcg_in)    \
	F(attach_to_mcg_in, qpn, 0x48, 24) \
	S(attach_to_mcg_in, multicast_gid, prm_gid, 0x10)

#define PRM_L_attach_to_mcg_out(F, S) PRM_CMD_OUT(F, attach_to_mcg_out)

#define PRM_L_detach_from_mcg_in(F, S)       \
	PRM_CMD_IN(F, detach_from_mcg_in)    \
	F(detach_from_mcg_in, qpn, 0x48, 24) \
	S(detach_from_mcg_in, multicast_gid, prm_gid, 0x10)

#define PRM_L_detach_from_mcg_out(F, S) PRM_CMD_OUT(F, detach_from_mcg_out)

#define PRM_LAYOUTS_MCG(X)          \
	X(attach_to_mcg_in, 0x20)   \
	X(attach_to_mcg_out, 0x10)  \
	X(detach_from_mcg_in, 0x20) \
	X(detach_from_mcg_out, 0x10)

PRM_LAYOUTS_MCG(PRM_LAYOUT)

#endif
