/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How programs of this folder connect an RC QP, to another one or to itself. */
#ifndef SOFTHCA_TESTS_E2E_RC_H
#define SOFTHCA_TESTS_E2E_RC_H

#include <infiniband/verbs.h>

#include "must.h"

static inline void rc_init(struct ibv_qp *qp, unsigned int access)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = access};

	MUST(!ibv_modify_qp(qp, &a,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
}

/* From INIT to RTS. */
static inline void rc_connect(struct ibv_qp *qp, uint32_t dest_qpn, uint16_t lid, enum ibv_mtu mtu)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR,
				.path_mtu = mtu,
				.dest_qp_num = dest_qpn,
				.max_dest_rd_atomic = 4,
				.ah_attr = {.dlid = lid, .port_num = 1}};

	MUST(!ibv_modify_qp(qp, &a,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER));
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				 .timeout = 14,
				 .retry_cnt = 7,
				 .rnr_retry = 7,
				 .max_rd_atomic = 4};
	MUST(!ibv_modify_qp(qp, &a,
			    IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				    IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC));
}

static inline uint16_t rc_lid(struct ibv_context *ctx)
{
	struct ibv_port_attr port;

	MUST(!ibv_query_port(ctx, 1, &port));
	return port.lid;
}

#endif
