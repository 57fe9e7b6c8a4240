/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared receive queues. hw/flags.h says who may write which field. */
#ifndef SOFTHCA_HW_SRQ_H
#define SOFTHCA_HW_SRQ_H

#include "hw/evtarget.h"
#include "segment/lock.h"
#include "segment/mem.h"
#include "segment/seg.h"

/* The command that made a shared receive queue: each has a number space of its own. */
enum hw_srq_type { HW_SRQ_RMP = 0, HW_SRQ_XRC = 1, HW_SRQ_XRQ = 2, HW_SRQ_SRQ = 3 };

/*
 * hw_srq.lwm. One word, so that the end of a limit and the event that is owed for it are one store.
 * HW_LWM_SEQ counts limits that were passed.
 */
enum {
	HW_LWM_OWES = 1,      /* owes a record in the async file's queue */
	HW_LWM_OWES_DEVX = 2, /* an event of DEVX subscribers */
	HW_LWM_LOOK = 4,      /* the limit could not be checked: the device thread does */
	HW_LWM_LIMIT = 8,     /* times the limit, which has 16 bits; 0 disarmed */
	HW_LWM_SEQ = HW_LWM_LIMIT << 16,
};

struct hw_srq {
	uint32_t gen, flags;
	uint32_t hca, uid;
	struct seg_lock lock;
	uint32_t pdn;
	uint32_t cqn, xrcd; /* XRC: the CQ of its receives, and its domain; else SEG_NONE and 0 */
	uint32_t user_index;
	uint32_t type;                 /* enum hw_srq_type */
	uint32_t log_size, log_stride; /* WQEs = 1 << log_size; bytes = 1 << log_stride */
	uint16_t wq_type;              /* enum prm_wq_type: LINKED_LIST, CYCLIC */
	uint16_t tm;                   /* XRQ with tag matching: its SEG_T_TM element; else 0 */
	struct mem_slot mem;
	uint64_t va;
	struct mem_slot dbr_mem;
	uint64_t dbr_va; /* doorbell record: one BE32 counter */
	/*
	 * One 8-byte word, changed by compare-and-swap: it fails for a stopped thread whose lock
	 * was taken over.
	 */
	_Alignas(8) uint16_t head; /* [rq] index of the next WQE to consume (linked list) */
	uint16_t turn; /* [rq] incremented when the lock is taken over; begins with gen */
	/* [rq] WQEs taken so far, free running; the low 16 bits compare with the doorbell record */
	uint32_t consumed;
	/* [rq] the doorbell record as last read; read again when its WQEs are used up */
	uint32_t dbr_seen;
	_Atomic uint32_t ring; /* [rq] seg_ring of the lock's holder, which reads ahead */
	/*
	 * [rq] WQEs read ahead, in SEG_T_SRQAHEAD. From the lowest bit: `consumed` of the first of
	 * them, 32 bits; their number, 16; a tag, which changes when the lock is taken over.
	 */
	uint64_t kept;
	_Atomic uint32_t lwm;        /* HW_LWM_* */
	uint32_t buf_umem, dbr_umem; /* umems of the buffer and of the doorbell record */
	_Atomic uint32_t state;      /* 0 good, 1 error */
	_Atomic uint32_t awaited;    /* senders may sleep on this word until receives are posted */
	_Atomic uint32_t refs;
	uint32_t nth; /* the how-manieth SRQ of its process */
	struct hw_evtarget async;
	uint8_t ctx[128]; /* SRQC or RMPC as created, for QUERY */
} SEG_ELEM;

static inline uint32_t hw_srq_limit(const struct hw_srq *srq)
{
	return atomic_load(&srq->lwm) / HW_LWM_LIMIT & 0xffff;
}

static inline struct hw_srq *hw_srq(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_SRQ, i);
}

#endif
