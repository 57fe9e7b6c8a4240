/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Event queues: the EQ context and its commands; event queue entries (struct mlx5_eqe and its
 * ev_data in Linux' mlx5/device.h): a head, and from EQE_DATA on the data of that kind of event.
 */
#ifndef SOFTHCA_WIRE_PRM_EQ_H
#define SOFTHCA_WIRE_PRM_EQ_H

#include "wire/prm/cmd_hdr.h"

#define PRM_L_eqc(F, S)                     \
	F(eqc, status, 0x00, 4)             \
	F(eqc, ec, 0x0d, 1)                 \
	F(eqc, oi, 0x0e, 1)                 \
	F(eqc, st, 0x14, 4)                 \
	F(eqc, page_offset, 0x54, 6)        \
	F(eqc, log_eq_size, 0x63, 5)        \
	F(eqc, uar_page, 0x68, 24)          \
	F(eqc, intr, 0xb4, 12)              \
	F(eqc, log_page_size, 0xc3, 5)      \
	F(eqc, consumer_counter, 0x148, 24) \
	F(eqc, producer_counter, 0x168, 24)

#define PRM_L_create_eq_in(F, S)                     \
	PRM_CMD_IN(F, create_eq_in)                  \
	S(create_eq_in, eq_context_entry, eqc, 0x10) \
	F(create_eq_in, event_bitmask_0, 0x2c0, 64)  \
	F(create_eq_in, event_bitmask_1, 0x300, 64)  \
	F(create_eq_in, event_bitmask_2, 0x340, 64)  \
	F(create_eq_in, event_bitmask_3, 0x380, 64)

#define PRM_L_create_eq_out(F, S)     \
	PRM_CMD_OUT(F, create_eq_out) \
	F(create_eq_out, eq_number, 0x58, 8)

#define PRM_L_query_eq_in(F, S)    \
	PRM_CMD_IN(F, query_eq_in) \
	F(query_eq_in, eq_number, 0x58, 8)

#define PRM_L_query_eq_out(F, S)                     \
	PRM_CMD_OUT(F, query_eq_out)                 \
	S(query_eq_out, eq_context_entry, eqc, 0x10) \
	F(query_eq_out, event_bitmask, 0x2c0, 64)

#define PRM_L_destroy_eq_in(F, S)    \
	PRM_CMD_IN(F, destroy_eq_in) \
	F(destroy_eq_in, eq_number, 0x58, 8)

#define PRM_L_destroy_eq_out(F, S) PRM_CMD_OUT(F, destroy_eq_out)

#define PRM_L_eqe(F, S)                 \
	F(eqe, event_type, 0x08, 8)     \
	F(eqe, event_sub_type, 0x18, 8) \
	F(eqe, signature, 0x1f0, 8)     \
	F(eqe, owner, 0x1ff, 1)

#define EQE_DATA 0x20 /* bytes */
#define PRM_L_eqe_qp_srq(F, S)       \
	F(eqe_qp_srq, type, 0xa0, 8) \
	F(eqe_qp_srq, qp_srq_n, 0xc8, 24)

#define PRM_L_eqe_cq_err(F, S)       \
	F(eqe_cq_err, cqn, 0x08, 24) \
	F(eqe_cq_err, syndrome, 0x58, 8)

#define PRM_L_eqe_comp(F, S) F(eqe_comp, cqn, 0xc8, 24)

#define PRM_L_eqe_port(F, S) F(eqe_port, port_num, 0x40, 4)

#define PRM_L_eqe_dct(F, S) F(eqe_dct, dctn, 0xc8, 24)

#define PRM_LAYOUTS_EQ(X)      \
	X(eqe, 0x40)           \
	X(eqe_qp_srq, 0x1c)    \
	X(eqe_cq_err, 0x1c)    \
	X(eqe_comp, 0x1c)      \
	X(eqe_port, 0x1c)      \
	X(eqe_dct, 0x1c)       \
	X(eqc, 0x40)           \
	X(create_eq_in, 0x110) \
	X(create_eq_out, 0x10) \
	X(query_eq_in, 0x10)   \
	X(query_eq_out, 0x110) \
	X(destroy_eq_in, 0x10) \
	X(destroy_eq_out, 0x10)

PRM_LAYOUTS_EQ(PRM_LAYOUT)

/* Event numbers; 0 is a completion. */
enum prm_event {
	PRM_EVENT_COMP = 0x00,
	PRM_EVENT_PATH_MIG = 0x01,
	PRM_EVENT_COMM_EST = 0x02,
	PRM_EVENT_SQ_DRAINED = 0x03,
	PRM_EVENT_CQ_ERROR = 0x04,
	PRM_EVENT_WQ_CATAS_ERROR = 0x05,
	PRM_EVENT_PATH_MIG_FAILED = 0x07,
	PRM_EVENT_PORT_CHANGE = 0x09,
	PRM_EVENT_WQ_INVAL_REQ_ERROR = 0x10,
	PRM_EVENT_WQ_ACCESS_ERROR = 0x11,
	PRM_EVENT_SRQ_CATAS_ERROR = 0x12,
	PRM_EVENT_SRQ_LAST_WQE = 0x13,
	PRM_EVENT_SRQ_RQ_LIMIT = 0x14,
	PRM_EVENT_XRQ_ERROR = 0x18,
	PRM_EVENT_DCT_DRAINED = 0x1c,
	PRM_EVENT_DCT_KEY_VIOLATION = 0x1d,
};

/* eqe_qp_srq.type: tells queues with the same event apart */
enum {
	PRM_EVENT_QUEUE_QP = 0,
	PRM_EVENT_QUEUE_RQ = 1,
	PRM_EVENT_QUEUE_SQ = 2,
	PRM_EVENT_QUEUE_DCT = 6
};

/* eqe.event_sub_type of PORT_CHANGE */
enum {
	PRM_PORT_DOWN = 1,
	PRM_PORT_ACTIVE = 4,
	PRM_PORT_INITIALIZED = 5,
	PRM_PORT_LID = 6,
	PRM_PORT_PKEY = 7,
	PRM_PORT_GUID = 8,
	PRM_PORT_CLIENT_REREG = 9,
};

#define PRM_V_EQ_STATUS(V)      \
	V(PRM_EQ_STATUS, OK, 0) \
	V(PRM_EQ_STATUS, WRITE_FAILURE, 10)
LAYOUT_ENUM(prm_eq_status, PRM_V_EQ_STATUS)

#define PRM_V_EQ_ST(V)         \
	V(PRM_EQ_ST, ARMED, 9) \
	V(PRM_EQ_ST, FIRED, 10)
LAYOUT_ENUM(prm_eq_st, PRM_V_EQ_ST)

#define PRM_NAMED_EQ(N)                 \
	N(eqc, status, PRM_V_EQ_STATUS) \
	N(eqc, st, PRM_V_EQ_ST)

#endif
