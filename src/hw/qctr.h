/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sets of Q counters. hw/flags.h says who may write which field. */
#ifndef SOFTHCA_HW_QCTR_H
#define SOFTHCA_HW_QCTR_H

#include "segment/seg.h"

enum hw_qc { /* Counters of a set; the names are those of query_q_counter_out. */
	     HW_QC_RX_WRITE_REQUESTS,
	     HW_QC_RX_READ_REQUESTS,
	     HW_QC_RX_ATOMIC_REQUESTS,
	     HW_QC_RX_DCT_CONNECT,
	     HW_QC_OUT_OF_BUFFER,
	     HW_QC_OUT_OF_SEQUENCE,
	     HW_QC_DUPLICATE_REQUEST,
	     HW_QC_RNR_NAK_RETRY_ERR,
	     HW_QC_PACKET_SEQ_ERR,
	     HW_QC_IMPLIED_NAK_SEQ_ERR,
	     HW_QC_LOCAL_ACK_TIMEOUT_ERR,
	     HW_QC_RESP_LOCAL_LENGTH_ERROR,
	     HW_QC_REQ_CQE_ERROR,
	     HW_QC_RESP_CQE_ERROR,
	     HW_QC_REQ_CQE_FLUSH_ERROR,
	     HW_QC_RESP_CQE_FLUSH_ERROR,
	     HW_QC_REQ_REMOTE_INVALID_REQUEST,
	     HW_QC_RESP_REMOTE_ACCESS_ERRORS, /* stays 0, as on ConnectX-5 and -6 */
	     HW_QC_REQ_REMOTE_ACCESS_ERRORS,
	     HW_QC_REQ_TRANSPORT_RETRIES_EXCEEDED,
	     HW_QC_REQ_RNR_RETRIES_EXCEEDED,
	     HW_QC_ROCE_ADP_RETRANS,
	     HW_QC_ROCE_ADP_RETRANS_TO,
	     HW_QC_ROCE_SLOW_RESTART, /* these three stay 0: nothing is congested */
	     HW_QC_ROCE_SLOW_RESTART_CNPS,
	     HW_QC_ROCE_SLOW_RESTART_TRANS,
	     HW_QC_COUNT
};

struct hw_qctr {
	uint32_t gen, flags;
	uint32_t hca, uid;
	uint32_t id;           /* counter_set_id: 1 to 255 on its HCA */
	_Atomic uint32_t refs; /* QPs that count in this set */
	_Atomic uint32_t n[HW_QC_COUNT];
} SEG_ELEM;

static inline struct hw_qctr *hw_qctr(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_QCTR, i);
}

#endif
