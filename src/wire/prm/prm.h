/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All PRM layouts and opcodes. */
#ifndef SOFTHCA_WIRE_PRM_PRM_H
#define SOFTHCA_WIRE_PRM_PRM_H

#include "wire/prm/cmd_hdr.h"
#include "wire/prm/cq.h"
#include "wire/prm/eq.h"
#include "wire/prm/hca_cap.h"
#include "wire/prm/mkey.h"
#include "wire/prm/opcodes.h"
#include "wire/prm/pd.h"
#include "wire/prm/qp.h"
#include "wire/prm/raw.h"
#include "wire/prm/rmp_srq.h"
#include "wire/prm/uar.h"
#include "wire/prm/umem.h"
#include "wire/prm/vport.h"
#include "wire/prm/xrc.h"

#define PRM_LAYOUTS(X)         \
	PRM_LAYOUTS_CMD_HDR(X) \
	PRM_LAYOUTS_CQ(X)      \
	PRM_LAYOUTS_EQ(X)      \
	PRM_LAYOUTS_HCA_CAP(X) \
	PRM_LAYOUTS_MKEY(X)    \
	PRM_LAYOUTS_PD(X)      \
	PRM_LAYOUTS_QP(X)      \
	PRM_LAYOUTS_RAW(X)     \
	PRM_LAYOUTS_RMP_SRQ(X) \
	PRM_LAYOUTS_UAR(X)     \
	PRM_LAYOUTS_UMEM(X)    \
	PRM_LAYOUTS_VPORT(X)   \
	PRM_LAYOUTS_XRC(X)

/* Every layout above; ends with NULL. */
extern const struct layout *const prm_layouts[];

#endif
