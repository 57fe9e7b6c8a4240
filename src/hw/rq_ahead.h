/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is read ahead of receive queues in other processes. Who may write what: hw/flags.h. */
#ifndef SOFTHCA_HW_RQ_AHEAD_H
#define SOFTHCA_HW_RQ_AHEAD_H

#include "segment/seg.h"

#define HW_RX_AHEAD 512 /* bytes; also the largest receive WQE */

/*
 * [rq] WQEs fetched ahead from a receive queue in another process. Beside the QPs, not in them: of
 * a million QPs few receive from other processes, and only theirs cost memory.
 */
struct hw_rq_ahead {
	uint8_t wqe[HW_RX_AHEAD];
} SEG_ELEM;

#endif
