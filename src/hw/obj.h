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
	HW_OBJ_DEK,   /* data encryption key; `ctx` is a struct hw_dek */
	HW_OBJ_LOGIN, /* session in which wrapped keys may be loaded */
	HW_OBJ_RATE,  /* a share of a rate limit; `type` is its index in the rate table */
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
	/* [fw] RQ and SQ: PRM state 0 RST, 1 RDY, 3 ERR; DEK: HW_DEK_* */
	_Atomic uint32_t state;
	uint32_t type;        /* meaning depends on the kind */
	_Atomic uint64_t psv; /* PSV: the transient signature of the last SET_PSV */
	struct hw_objref ref[HW_OBJ_REFS];
	struct hw_evtarget async; /* RQ: the queue for its events */
	uint8_t ctx[HW_OBJ_CTX];  /* [fw] the context as commands have set it, for QUERY */
	uint32_t nrqs, max_rqs;   /* [fw] RQT */
	uint32_t rqn[HW_RQT_RQS]; /* [fw] RQT: it holds a reference to each RQ */
} SEG_ELEM;

/*
 * A data encryption key. While it changes, hw_obj.state is odd; then, and for ever if the process
 * that changes it dies, it cannot be used. Each change is another even number.
 */
struct hw_dek {
	uint32_t bytes; /* of each of the two keys of XTS: 16 or 32 */
	uint32_t has_keytag;
	uint8_t key[64]; /* both, one behind the other */
	uint8_t keytag[8];
	uint8_t opaque[8]; /* the program's, for QUERY */
};
_Static_assert(sizeof(struct hw_dek) <= HW_OBJ_CTX, "a DEK fits its object's context");

static inline bool hw_dek_changes(uint32_t state)
{
	return state & 1;
}

static inline struct hw_obj *hw_obj(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_OBJ, i);
}

#endif
