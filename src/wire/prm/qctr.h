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

#define PRM_L_query_q_counter_out(F, S)                               \
	PRM_CMD_OUT(F, query_q_counter_out)                           \
	F(query_q_counter_out, rx_write_requests, 0x080, 32)          \
	F(query_q_counter_out, rx_read_requests, 0x0c0, 32)           \
	F(query_q_counter_out, rx_atomic_requests, 0x100, 32)         \
	F(query_q_counter_out, rx_dct_connect, 0x140, 32)             \
	F(query_q_counter_out, out_of_buffer, 0x180, 32)              \
	F(query_q_counter_out, out_of_sequence, 0x1c0, 32)            \
	F(query_q_counter_out, duplicate_request, 0x200, 32)          \
	F(query_q_counter_out, rnr_nak_retry_err, 0x240, 32)          \
	F(query_q_counter_out, packet_seq_err, 0x280, 32)             \
	F(query_q_counter_out, implied_nak_seq_err, 0x2c0, 32)        \
	F(query_q_counter_out, local_ack_timeout_err, 0x300, 32)      \
	F(query_q_counter_out, resp_local_length_error, 0x3c0, 32)    \
	F(query_q_counter_out, resp_cqe_error, 0x480, 32)             \
	F(query_q_counter_out, req_cqe_error, 0x4a0, 32)              \
	F(query_q_counter_out, req_remote_invalid_request, 0x500, 32) \
	F(query_q_counter_out, req_remote_access_errors, 0x540, 32)   \
	F(query_q_counter_out, resp_remote_access_errors, 0x560, 32)  \
	F(query_q_counter_out, resp_cqe_flush_error, 0x5e0, 32)       \
	F(query_q_counter_out, req_cqe_flush_error, 0x600, 32)

#define PRM_LAYOUTS_QCTR(X)            \
	X(alloc_q_counter_in, 0x10)    \
	X(alloc_q_counter_out, 0x10)   \
	X(dealloc_q_counter_in, 0x10)  \
	X(dealloc_q_counter_out, 0x10) \
	X(query_q_counter_in, 0x20)    \
	X(query_q_counter_out, 0x100)

PRM_LAYOUTS_QCTR(PRM_LAYOUT)

#endif
