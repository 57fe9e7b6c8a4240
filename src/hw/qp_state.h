/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* States and services of queue pairs: qpc.state and qpc.st, and a service for DCTs. */
#ifndef SOFTHCA_HW_QP_STATE_H
#define SOFTHCA_HW_QP_STATE_H

#include "wire/prm/qp.h"

#define HW_ST_DCT 0x1f /* hw_qp.st of a DCT, made by CREATE_DCT; not a value of qpc.st */

#endif
