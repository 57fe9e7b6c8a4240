/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sets of Q counters: they count errors and retries of the QPs that use the set. */
#ifndef SOFTHCA_WIRE_PRM_QCTR_H
#define SOFTHCA_WIRE_PRM_QCTR_H

#include "wire/prm/cmd_hdr.h"

#define PRM_L_alloc_q_counter_in(F, S) PRM_CMD_IN(F, alloc_q_counter_in)

#define PRM_L_alloc_q_counter_out(F, S)     \
	PRM_CMD_OUT(F, alloc_q_counter_out) \
	F(alloc_q_counter_out, counter_set_id, 0x58, 8)

#define PRM_L_dealloc_q_counter_in(F, S)    \
	PRM_CMD_IN(F, dealloc_q_counter_in) \
	F(dealloc_q_counter_in, counter_set_id, 0x58, 8)

#define PRM_L_dealloc_q_counter_out(F, S) PRM_CMD_OUT(F, dealloc_q_counter_out)

#define PRM_L_query_q_counter_in(F, S)        \
	PRM_CMD_IN(F, query_q_counter_in)     \
	F(query_q_counter_in, clear, 0xc0, 1) \
	F(query_q_counter_in, counter_set_id, 0xf8, 8)

#define PRM_L_query_q_counter_out(F, S)                                   \
	PRM_CMD_OUT(F, query_q_counter_out)                               \
	F(query_q_counter_out, rx_write_requests, 0x080, 32)              \
	F(query_q_counter_out, rx_read_requests, 0x0c0, 32)               \
	F(query_q_counter_out, rx_atomic_requests, 0x100, 32)             \
	F(query_q_counter_out, rx_dct_connect, 0x140, 32)                 \
	F(query_q_counter_out, out_of_buffer, 0x180, 32)                  \
	F(query_q_counter_out, out_of_sequence, 0x1c0, 32)                \
	F(query_q_counter_out, duplicate_request, 0x200, 32)              \
	F(query_q_counter_out, rnr_nak_retry_err, 0x240, 32)              \
	F(query_q_counter_out, packet_seq_err, 0x280, 32)                 \
	F(query_q_counter_out, implied_nak_seq_err, 0x2c0, 32)            \
	F(query_q_counter_out, local_ack_timeout_err, 0x300, 32)          \
	F(query_q_counter_out, req_rnr_retries_exceeded, 0x380, 32)       \
	F(query_q_counter_out, resp_local_length_error, 0x3c0, 32)        \
	F(query_q_counter_out, resp_cqe_error, 0x480, 32)                 \
	F(query_q_counter_out, req_cqe_error, 0x4a0, 32)                  \
	F(query_q_counter_out, req_remote_invalid_request, 0x500, 32)     \
	F(query_q_counter_out, req_remote_access_errors, 0x540, 32)       \
	F(query_q_counter_out, resp_remote_access_errors, 0x560, 32)      \
	F(query_q_counter_out, req_transport_retries_exceeded, 0x5a0, 32) \
	F(query_q_counter_out, resp_cqe_flush_error, 0x5e0, 32)           \
	F(query_q_counter_out, req_cqe_flush_error, 0x600, 32)            \
	F(query_q_counter_out, roce_adp_retrans, 0x640, 32)               \
	F(query_q_counter_out, roce_adp_retrans_to, 0x660, 32)            \
	F(query_q_counter_out, roce_slow_restart, 0x680, 32)              \
	F(query_q_counter_out, roce_slow_restart_cnps, 0x6a0, 32)         \
	F(query_q_counter_out, roce_slow_restart_trans, 0x6c0, 32)

/* Of congestion control on RoCE: the counters of mlx5_ib's hw_counters, 64 bits in two halves. */
#define PRM_L_query_cong_statistics_in(F, S)    \
	PRM_CMD_IN(F, query_cong_statistics_in) \
	F(query_cong_statistics_in, clear, 0x40, 1)

#define PRM_L_query_cong_statistics_out(F, S)                               \
	PRM_CMD_OUT(F, query_cong_statistics_out)                           \
	F(query_cong_statistics_out, rp_cur_flows, 0x080, 32)               \
	F(query_cong_statistics_out, sum_flows, 0x0a0, 32)                  \
	F(query_cong_statistics_out, rp_cnp_ignored, 0x0c0, 64)             \
	F(query_cong_statistics_out, rp_cnp_handled, 0x100, 64)             \
	F(query_cong_statistics_out, time_stamp, 0x240, 64)                 \
	F(query_cong_statistics_out, accumulators_period, 0x280, 32)        \
	F(query_cong_statistics_out, np_ecn_marked_roce_packets, 0x2a0, 64) \
	F(query_cong_statistics_out, np_cnp_sent, 0x2e0, 64)

#define PRM_LAYOUTS_QCTR(X)                 \
	X(query_cong_statistics_in, 0x10)   \
	X(query_cong_statistics_out, 0x110) \
	X(alloc_q_counter_in, 0x10)         \
	X(alloc_q_counter_out, 0x10)        \
	X(dealloc_q_counter_in, 0x10)       \
	X(dealloc_q_counter_out, 0x10)      \
	X(query_q_counter_in, 0x20)         \
	X(query_q_counter_out, 0x100)

PRM_LAYOUTS_QCTR(PRM_LAYOUT)

#endif
