/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared receive queues. Who may write what: hw/flags.h. */
#ifndef SOFTHCA_HW_SRQ_H
#define SOFTHCA_HW_SRQ_H

#include "hw/evtarget.h"
#include "segment/lock.h"
#include "segment/mem.h"
#include "segment/seg.h"

/* Which command made a shared receive queue: each has numbers that the others do not know. */
enum hw_srq_type { HW_SRQ_RMP = 0, HW_SRQ_XRC = 1, HW_SRQ_XRQ = 2, HW_SRQ_SRQ = 3 };

#define HW_LWM_FIRED UINT32_C(0x80000000)

struct hw_srq {
	uint32_t gen, flags;
	uint32_t hca, uid;
	struct seg_lock lock;
	uint32_t pdn;
	uint32_t cqn, xrcd; /* XRC: where its receives complete, its domain; else SEG_NONE, 0 */
	uint32_t user_index;
	uint32_t type;                 /* enum hw_srq_type */
	uint32_t log_size, log_stride; /* WQEs = 1 << log_size; bytes = 1 << log_stride */
	uint32_t wq_type;              /* enum prm_wq_type: LINKED_LIST, CYCLIC */
	struct mem_slot mem;
	uint64_t va;
	struct mem_slot dbr_mem;
	uint64_t dbr_va; /* one BE32 counter */
	/*
	 * One 8-byte word, changed by compare-and-swap: whoever was stopped with the lock, which
	 * was taken over from him, comes too late with his.
	 */
	_Alignas(8) uint16_t head; /* [rq] index of the next WQE to consume (linked list) */
	uint16_t turn;             /* [rq] +1 when the lock is taken over */
	uint32_t consumed; /* [rq] WQEs taken so far (free running, compare with the DBR counter's
			      16 bits) */
	uint32_t dbr_seen; /* [rq] the counter when last looked at: again when it is used up */
	_Atomic uint32_t lwm; /* limit; 0 disarmed; with HW_LWM_FIRED the event is to be noted */
	uint32_t buf_umem, dbr_umem; /* umems referred to */
	_Atomic uint32_t state;      /* 0 good, 1 error */
	_Atomic uint32_t refs;
	struct hw_evtarget async;
	uint8_t ctx[128]; /* SRQC or RMPC as created, for QUERY */
} SEG_ELEM;

static inline struct hw_srq *hw_srq(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_SRQ, i);
}

#endif
