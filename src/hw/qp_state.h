/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* States and services of queue pairs. */
#ifndef SOFTHCA_HW_QP_STATE_H
#define SOFTHCA_HW_QP_STATE_H

enum hw_qp_state { /* PRM qpc.state */
		   HW_QPS_RST = 0,
		   HW_QPS_INIT = 1,
		   HW_QPS_RTR = 2,
		   HW_QPS_RTS = 3,
		   HW_QPS_SQER = 4,
		   HW_QPS_SQD = 5,
		   HW_QPS_ERR = 6,
};

enum hw_qp_st {
	HW_ST_RC = 0,
	HW_ST_UC = 1,
	HW_ST_UD = 2,
	HW_ST_XRC = 3,
	HW_ST_DCI = 5,
	HW_ST_QP0 = 7,
	HW_ST_QP1 = 8,
	HW_ST_DCT = 0x1f, /* no value of qpc.st: made by CREATE_DCT */
};

#endif
