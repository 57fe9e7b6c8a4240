/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Queue pairs and DCTs. Who may write what: hw/flags.h. */
#ifndef SOFTHCA_HW_QP_H
#define SOFTHCA_HW_QP_H

#include "segment/seg.h"
#include "hw/qp_state.h"

enum { /* hw_qp.flush_pending: work that somebody could not do for want of a lock */
       HW_PEND_RING = 1, /* a doorbell rang: the record is to be read */
       HW_PEND_FLUSH_SQ = 2,
       HW_PEND_FLUSH_RQ = 4,
       HW_PEND_RUN = 8, /* the queue is to go on, as far as it was rung for */
};

#define HW_RX_AHEAD 512 /* bytes; also the largest receive WQE */

/*
 * [rq] WQEs fetched ahead from a receive queue in another process. Beside the QPs, not in them: of
 * a million QPs few receive from other processes, and only theirs cost memory.
 */
struct hw_rq_ahead {
	uint8_t wqe[HW_RX_AHEAD];
} SEG_ELEM;

/* A million QPs within a GiB of resident segment: the rest of a KiB is their owner words' and
 * umems'. */
_Static_assert(sizeof(struct hw_qp) <= 896, "a QP stays under a KiB");

static inline struct hw_qp *hw_qp(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_QP, i);
}

#endif
