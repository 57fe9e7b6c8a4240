/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Receive WQEs read ahead from other processes. hw/flags.h says who may write which field. */
#ifndef SOFTHCA_HW_RQ_AHEAD_H
#define SOFTHCA_HW_RQ_AHEAD_H

#include "segment/seg.h"

#define HW_RX_AHEAD 512 /* bytes; also the size of the largest receive WQE */

/*
 * [rq] WQEs read ahead from a receive queue or SRQ in another process. They are kept beside the
 * QPs and SRQs, not in them: of a million QPs few receive from other processes, and only these cost
 * memory. The table of SRQs is as long as the window from which seg_alloc() takes their numbers
 * while 4096 live at most. WQEs of SRQs beyond it are read one by one.
 */
struct hw_rq_ahead {
	uint8_t wqe[HW_RX_AHEAD];
} SEG_ELEM;

#endif
