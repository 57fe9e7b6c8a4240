/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* States and services of queue pairs: qpc.state and qpc.st, and one service more. */
#ifndef SOFTHCA_HW_QP_STATE_H
#define SOFTHCA_HW_QP_STATE_H

#include "wire/prm/qp.h"

#define HW_ST_DCT 0x1f /* hw_qp.st of a DCT; no value of qpc.st: CREATE_DCT made it */

#endif
