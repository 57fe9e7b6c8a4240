/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Completion queues. Who may write what: hw/flags.h. */
#ifndef SOFTHCA_HW_CQ_H
#define SOFTHCA_HW_CQ_H

#include "hw/evtarget.h"
#include "segment/lock.h"
#include "segment/mem.h"
#include "segment/seg.h"

enum { HW_CQ_ERR_OVERRUN = 1, HW_CQ_ERR_BUFFER = 2 };

/*
 * hw_cq.armed. One word, so that the end of an arm and the event that is owed for it are one store:
 * there is an event for each arm that ended, and one only. HW_CQ_ARM_SEQ counts arms that
 * ended.
 */
enum {
	HW_CQ_ANY = 1,       /* armed for any completion */
	HW_CQ_SOLICITED = 2, /* for a solicited one or an error */
	HW_CQ_ARMED = 3,
	HW_CQ_OWES = 4,      /* a record in the completion channel's queue */
	HW_CQ_OWES_DEVX = 8, /* an event of DEVX subscribers */
	HW_CQ_ARM_SEQ = 16,
};

struct hw_cq {
	uint32_t gen, flags;
	uint32_t hca, uid;
	uint32_t eqn;
	uint32_t uar;
	_Atomic uint32_t refs;       /* QPs and SRQs using it */
	uint32_t oi, cc;             /* overrun ignore, collapsed (from CQC) */
	uint32_t buf_umem, dbr_umem; /* umems referred to */
	struct mem_slot dbr_mem;
	uint64_t dbr_va; /* SET_CI at +0, ARM at +4, both BE32 */
	/* what a completion touches: one cache line and a bit */
	_Alignas(64) struct seg_lock lock;
	uint32_t log_size;   /* CQEs = 1 << log_size */
	uint32_t cqe_bytes;  /* 64 or 128 */
	struct mem_slot mem; /* of the buffer */
	uint64_t va;
	_Atomic uint32_t
		ring;        /* [cq] the seg_ring of its last holder, who writes CQEs by its gate */
	_Atomic uint32_t pi; /* [cq] next CQE, free running */
	uint32_t ci_cached;  /* [cq] last SET_CI seen: re-read only when the queue looks full */
	_Atomic uint32_t state; /* 0 OK, else HW_CQ_ERR_* */
	_Atomic uint32_t armed; /* HW_CQ_*; armed by [cq] */
	uint32_t arm_sn;        /* [cq] */
	uint32_t arm_ci;
	_Atomic uint32_t told;     /* CQEs below this index have had their event */
	_Atomic uint32_t sol_pi;   /* 1 + index of the last solicited or error CQE */
	_Atomic uint32_t arm_seen; /* the ARM record as last looked at (poll mode) */
	_Alignas(64) struct hw_evtarget comp, async;
	uint8_t cqc[64]; /* CQC as created/modified; QUERY_CQ patches the moving fields */
} SEG_ELEM;

static inline struct hw_cq *hw_cq(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_CQ, i);
}

#endif
