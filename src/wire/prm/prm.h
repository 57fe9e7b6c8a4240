/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All PRM layouts and opcodes. */
#ifndef SOFTHCA_WIRE_PRM_PRM_H
#define SOFTHCA_WIRE_PRM_PRM_H

#include "wire/prm/cmd_hdr.h"
#include "wire/prm/cq.h"
#include "wire/prm/dct.h"
#include "wire/prm/eq.h"
#include "wire/prm/gobj.h"
#include "wire/prm/hca_cap.h"
#include "wire/prm/mcg.h"
#include "wire/prm/memic.h"
#include "wire/prm/mkey.h"
#include "wire/prm/opcodes.h"
#include "wire/prm/pd.h"
#include "wire/prm/qos.h"
#include "wire/prm/qctr.h"
#include "wire/prm/qp.h"
#include "wire/prm/raw.h"
#include "wire/prm/rmp_srq.h"
#include "wire/prm/uar.h"
#include "wire/prm/umem.h"
#include "wire/prm/vport.h"
#include "wire/prm/xrc.h"
#include "wire/prm/xrq.h"

#define PRM_LAYOUTS(X)         \
	PRM_LAYOUTS_CMD_HDR(X) \
	PRM_LAYOUTS_CQ(X)      \
	PRM_LAYOUTS_EQ(X)      \
	PRM_LAYOUTS_GOBJ(X)    \
	PRM_LAYOUTS_HCA_CAP(X) \
	PRM_LAYOUTS_MEMIC(X)   \
	PRM_LAYOUTS_MKEY(X)    \
	PRM_LAYOUTS_PD(X)      \
	PRM_LAYOUTS_QOS(X)     \
	PRM_LAYOUTS_QP(X)      \
	PRM_LAYOUTS_RAW(X)     \
	PRM_LAYOUTS_RMP_SRQ(X) \
	PRM_LAYOUTS_UAR(X)     \
	PRM_LAYOUTS_UMEM(X)    \
	PRM_LAYOUTS_VPORT(X)   \
	PRM_LAYOUTS_QCTR(X)    \
	PRM_LAYOUTS_DCT(X)     \
	PRM_LAYOUTS_MCG(X)     \
	PRM_LAYOUTS_XRQ(X)     \
	PRM_LAYOUTS_XRC(X)

/* Fields whose values have names. */
#define PRM_NAMED(N)         \
	PRM_NAMED_CMD_HDR(N) \
	PRM_NAMED_CQ(N)      \
	PRM_NAMED_DCT(N)     \
	PRM_NAMED_EQ(N)      \
	PRM_NAMED_MKEY(N)    \
	PRM_NAMED_QOS(N)     \
	PRM_NAMED_QP(N)      \
	PRM_NAMED_RAW(N)     \
	PRM_NAMED_RMP_SRQ(N) \
	PRM_NAMED_VPORT(N)   \
	PRM_NAMED_XRC(N)     \
	PRM_NAMED_XRQ(N)

/* All layouts above; ends with NULL. */
extern const struct layout *const prm_layouts[];

/* The name of a value of the field at this bit ("RTS" for qpc.state); or NULL. */
const char *prm_value_name(const struct layout *l, uint32_t bit, uint64_t v);

/*
 * The layout in an open place depends on the command's input: QUERY_HCA_CAP's op_mod names the
 * group of capabilities. prm.c has one row per variant.
 */
struct prm_variant {
	const struct layout *open;
	uint16_t selector;
	const struct layout *is;
};
/* The actual layout; NULL: unknown. `in`: the command's input. */
const struct layout *prm_variant(const struct layout *open, const void *in);

#endif
