/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Objects that only commands use. hw/flags.h says who may write which field. */
#ifndef SOFTHCA_HW_OBJ_H
#define SOFTHCA_HW_OBJ_H

#include "hw/evtarget.h"
#include "segment/seg.h"

/*
 * Objects that only commands use: the engine runs no queue of them. All kinds share one space of
 * numbers.
 */
enum hw_obj_kind {
	HW_OBJ_TD = 1, /* transport domain */
	HW_OBJ_RQ,
	HW_OBJ_SQ,
	HW_OBJ_RQT,
	HW_OBJ_TIR,
	HW_OBJ_TIS,
	HW_OBJ_SCHED, /* scheduling element; `type` is element_type */
	HW_OBJ_AV_QP_MAPPING,
	HW_OBJ_PSV,
	HW_OBJ_RATE, /* a share of a rate limit; `type` is its index in the rate table */
};

#define HW_OBJ_REFS 8  /* how many objects one may refer to, not counting an RQT's RQs */
#define HW_OBJ_CTX 256 /* bytes of context */
#define HW_RQT_RQS 128 /* the most RQs of an RQT */

struct hw_objref {
	uint32_t table; /* enum seg_table_id; 0: none */
	uint32_t idx;
};

struct hw_obj {
	uint32_t gen, flags;
	uint32_t hca, uid;
	uint32_t kind; /* enum hw_obj_kind */
	_Atomic uint32_t refs;
	_Atomic uint32_t state; /* [fw] RQ and SQ: PRM state 0 RST, 1 RDY, 3 ERR */
	uint32_t type;          /* meaning depends on the kind */
	_Atomic uint64_t psv;   /* PSV: the transient signature of the last SET_PSV */
	struct hw_objref ref[HW_OBJ_REFS];
	struct hw_evtarget async; /* RQ: the queue for its events */
	uint8_t ctx[HW_OBJ_CTX];  /* [fw] the context as commands have set it, for QUERY */
	uint32_t nrqs, max_rqs;   /* [fw] RQT */
	uint32_t rqn[HW_RQT_RQS]; /* [fw] RQT: it holds a reference to each RQ */
} SEG_ELEM;

static inline struct hw_obj *hw_obj(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_OBJ, i);
}

#endif
