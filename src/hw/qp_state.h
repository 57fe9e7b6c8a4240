/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* States and services of queue pairs: qpc.state, qpc.st, a service for DCTs, and hw_qp.park. */
#ifndef SOFTHCA_HW_QP_STATE_H
#define SOFTHCA_HW_QP_STATE_H

#include "wire/prm/qp.h"

#define HW_ST_DCT 0x1f /* hw_qp.st of a DCT, made by CREATE_DCT; not a value of qpc.st */

/* hw_qp.park: what the send queue waits for */
enum hw_park {
	HW_PARK_NO = 0,
	HW_PARK_RNR,
	HW_PARK_RETRY,
	HW_PARK_LOCK,
	HW_PARK_LATE,
	HW_PARK_NAK
};

#endif
