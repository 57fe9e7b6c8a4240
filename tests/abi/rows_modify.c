/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Attributes of MODIFY_QP that a type does not use: modify_qp_mask() of uverbs_cmd.c removes them
 * from the mask before ib_modify_qp_is_ok() (verbs.c) checks it. perftest's -c XRC sets them all.
 */
#include "forms.h"
#include <infiniband/verbs.h>

#define S IBV_QP_STATE
#define TO_INIT (S | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define TO_RTR (S | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)
#define TO_RTS (S | IBV_QP_TIMEOUT | IBV_QP_SQ_PSN)
#define RESPONDER (IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define REQUESTER (IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY)
/* The values of all attributes in any mask. */
#define TO(h, st, mask)                                                                          \
	RUN(C(MODIFY_QP), modify_qp, 0, .qp_handle = (h), .qp_state = (st), .attr_mask = (mask), \
	    .port_num = 1, .dest = {AV_DEST}, .path_mtu = IBV_MTU_1024, .dest_qp_num = QPN,      \
	    .max_dest_rd_atomic = 1, .max_rd_atomic = 1, .min_rnr_timer = 12, .timeout = 14,     \
	    .retry_cnt = 7, .rnr_retry = 7)
#define GONE(h) RUN(C(DESTROY_QP), destroy_qp, 4, .qp_handle = (h))
#define INI                                                                                     \
	RUN_UHW(C(CREATE_QP), create_qp, RESP(create_qp),                                       \
		UHW(mlx5_ib_create_qp, .buf_addr = MEM + 0x5000, .db_addr = NEXT_DBR + 64,      \
		    .sq_wqe_count = 4, .flags = MLX5_QP_FLAG_UAR_PAGE_INDEX,                    \
		    .bfreg_index = UAR_PAGE),                                                   \
		40, .pd_handle = PD, .send_cq_handle = CQ, .max_send_wr = 4, .max_send_sge = 1, \
		.qp_type = IB_UVERBS_QPT_XRC_INI)
#define TGT(h)                                                                           \
	RUN_UHW(C(CREATE_QP), create_qp, RESP(create_qp), UHW(mlx5_ib_create_qp, 0), 40, \
		.pd_handle = (h), .qp_type = IB_UVERBS_QPT_XRC_TGT)

#define DROPPED "uverbs_cmd.c modify_qp_mask"
#define IS_OK "verbs.c ib_modify_qp_is_ok"

const struct ioctl_row modify_rows[] = {
	{"XRC initiator", "", 0, INI, .more = true, .driver = true},
	{"XRC initiator to INIT with RNR timer", DROPPED, 0,
	 TO(NEXT, IBV_QPS_INIT, TO_INIT | IBV_QP_MIN_RNR_TIMER), .more = true},
	{"XRC initiator to RTR without a path", IS_OK, EINVAL,
	 TO(NEXT, IBV_QPS_RTR, (TO_RTR | RESPONDER) & ~(uint32_t)IBV_QP_AV), .more = true},
	{"XRC initiator to RTR with a requester's attributes", IS_OK, EINVAL,
	 TO(NEXT, IBV_QPS_RTR, TO_RTR | IBV_QP_RETRY_CNT), .more = true},
	{"XRC initiator to RTR with a responder's attributes", DROPPED, 0,
	 TO(NEXT, IBV_QPS_RTR, TO_RTR | RESPONDER), .more = true},
	{"XRC initiator to RTS without retry_cnt", IS_OK, EINVAL,
	 TO(NEXT, IBV_QPS_RTS, (TO_RTS | REQUESTER) & ~(uint32_t)IBV_QP_RETRY_CNT), .more = true},
	{"XRC initiator to RTS with a responder's attributes", DROPPED, 0,
	 TO(NEXT, IBV_QPS_RTS, TO_RTS | REQUESTER | RESPONDER), .more = true},
	{"XRC initiator destroyed", "", 0, GONE(NEXT)},

	{"domain", "", 0, RUN(C(OPEN_XRCD), open_xrcd, 4, .fd = UINT32_MAX), .more = true},
	{"XRC target", "", 0, TGT(NEXT), .more = true},
	{"XRC target to INIT with a requester's attributes", DROPPED, 0,
	 TO(NEXT + 1, IBV_QPS_INIT, TO_INIT | REQUESTER), .more = true},
	{"XRC target to RTR without a responder's attributes", IS_OK, EINVAL,
	 TO(NEXT + 1, IBV_QPS_RTR, TO_RTR), .more = true},
	{"XRC target to RTR with a requester's attributes", DROPPED, 0,
	 TO(NEXT + 1, IBV_QPS_RTR, TO_RTR | RESPONDER | REQUESTER), .more = true},
	{"XRC target to RTS with a depth of a responder", IS_OK, EINVAL,
	 TO(NEXT + 1, IBV_QPS_RTS, TO_RTS | IBV_QP_MAX_DEST_RD_ATOMIC), .more = true},
	{"XRC target to RTS with a requester's attributes", DROPPED, 0,
	 TO(NEXT + 1, IBV_QPS_RTS, TO_RTS | REQUESTER), .more = true},
	{"XRC target destroyed", "", 0, GONE(NEXT + 1), .more = true},
	{"domain closed", "", 0, RUN(C(CLOSE_XRCD), close_xrcd, 0, .xrcd_handle = NEXT)},
};
ROWS_END(modify_rows);
