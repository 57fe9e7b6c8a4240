/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Completion queues. hw/flags.h says who may write which field. */
#ifndef SOFTHCA_HW_CQ_H
#define SOFTHCA_HW_CQ_H

#include "hw/evtarget.h"
#include "segment/lock.h"
#include "segment/mem.h"
#include "segment/seg.h"

enum { HW_CQ_ERR_OVERRUN = 1, HW_CQ_ERR_BUFFER = 2 };

/*
 * hw_cq.state. One word, so that the error and the event that is owed for it are one store.
 * HW_CQ_ST_SEQ counts errors and takeovers of the lock: a stopped holder finds another word.
 */
enum {
	HW_CQ_ST_OWES = 1,      /* a record in the async file's queue */
	HW_CQ_ST_OWES_DEVX = 2, /* an event of DEVX subscribers */
	HW_CQ_ST_REPAIR = 4, /* what the last holder has written could not be read: cq_repair() */
	HW_CQ_ST_ERR = 8,    /* unit of a 2-bit field: HW_CQ_ERR_* */
	HW_CQ_ST_SEQ = HW_CQ_ST_ERR << 2,
};

/*
 * hw_cq.armed: arm state and owed event in one word, so that one store ends the arm and notes the
 * event. Each arm that ended has exactly one event. HW_CQ_ARM_SEQ counts arms that ended.
 */
enum {
	HW_CQ_ANY = 1,       /* armed for any completion */
	HW_CQ_SOLICITED = 2, /* armed for a solicited completion or an error */
	HW_CQ_ARMED = 3,
	HW_CQ_OWES = 4,      /* a record is owed to the completion channel's queue */
	HW_CQ_OWES_DEVX = 8, /* an event is owed to DEVX subscribers */
	/*
	 * The device thread of the CQ's process will look at the CQ when its moderation timer ends.
	 * Only that thread changes this bit.
	 */
	HW_CQ_WATCHED = 16,
	HW_CQ_ARM_SEQ = 32,
};

/*
 * hw_cq.moder: moderation of completion events; 0: none, also if the CQC's period or count is 0
 * ("CQ moderation disabled" in both fields of the PRM).
 */
enum {
	HW_CQ_MOD_PERIOD = 0xfff,      /* microseconds */
	HW_CQ_MOD_COUNT = 1 << 12,     /* unit of a 16-bit field: CQEs */
	HW_CQ_MOD_FROM_CQE = 1 << 28,  /* the timer restarts with each CQE, not with each event */
	HW_CQ_MOD_SE_BREAKS = 1 << 29, /* a solicited CQE has its event at once */
};

struct hw_cq {
	uint32_t gen, flags;
	uint32_t hca, uid;
	uint32_t eqn;
	uint32_t uar;
	uint32_t nth;                /* the how-manieth CQ of its process */
	_Atomic uint32_t refs;       /* QPs and SRQs using it */
	uint32_t oi, cc;             /* overrun ignore, collapsed (from CQC) */
	uint32_t buf_umem, dbr_umem; /* umems of the buffer and of the doorbell record */
	struct mem_slot dbr_mem;
	uint64_t dbr_va; /* doorbell record: SET_CI at +0, ARM at +4, both BE32 */
	/* From here on: what a completion writes, in one cache line and a bit. */
	_Alignas(64) struct seg_lock lock;
	uint32_t log_size;   /* CQEs = 1 << log_size */
	uint16_t cqe_bytes;  /* 64 or 128 */
	uint16_t zip;        /* SEG_T_ZIP index of a CQ with compression; 0: it has none */
	struct mem_slot mem; /* memory of the buffer */
	uint64_t va;
	_Atomic uint32_t
		/* [cq] seg_ring of the lock's last holder, through whose gate CQEs are written */
		ring;
	_Atomic uint32_t pi; /* [cq] index of the next CQE, free running */
	/* [cq] SET_CI as last read; read again only when the queue looks full */
	uint32_t ci_cached;
	_Atomic uint32_t state; /* HW_CQ_ST_* */
	_Atomic uint32_t armed; /* HW_CQ_*; the arm bits are set under [cq] */
	_Atomic uint32_t moder; /* [fw] HW_CQ_MOD_* */
	uint32_t arm_ci;
	_Atomic uint32_t told;     /* an event was sent for all CQEs below this index */
	_Atomic uint32_t sol_pi;   /* 1 + index of the last solicited or error CQE */
	_Atomic uint32_t arm_seen; /* the ARM record as last read (poll mode) */
	_Atomic uint32_t moder_pi; /* moderation: the last event came when `pi` had this value */
	_Atomic uint64_t moder_ns; /* when the timer was restarted (eng_clock()); only goes up */
	struct hw_evtarget comp, async;
	uint8_t cqc[64]; /* CQC as created or modified; QUERY_CQ fills in the changing fields */
} SEG_ELEM;

/* HW_CQ_ERR_*; 0: OK */
static inline uint32_t hw_cq_error(const struct hw_cq *cq)
{
	return atomic_load_explicit(&cq->state, memory_order_relaxed) / HW_CQ_ST_ERR & 3;
}

static inline struct hw_cq *hw_cq(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_CQ, i);
}

#endif
