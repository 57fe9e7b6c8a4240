/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Event queues: the EQ context and its commands. */
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

#define PRM_LAYOUTS_EQ(X)      \
	X(eqc, 0x40)           \
	X(create_eq_in, 0x110) \
	X(create_eq_out, 0x10) \
	X(query_eq_in, 0x10)   \
	X(query_eq_out, 0x110) \
	X(destroy_eq_in, 0x10) \
	X(destroy_eq_out, 0x10)

PRM_LAYOUTS_EQ(PRM_LAYOUT)

#endif
