/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of the asynchronous events of the uverbs interface (enum ibv_event_type). */
#ifndef SOFTHCA_WIRE_IB_EVENT_H
#define SOFTHCA_WIRE_IB_EVENT_H

#include <stdint.h>

#define IB_EVENTS(X)               \
	X(0, CQ_ERR)               \
	X(1, QP_FATAL)             \
	X(2, QP_REQ_ERR)           \
	X(3, QP_ACCESS_ERR)        \
	X(4, COMM_EST)             \
	X(5, SQ_DRAINED)           \
	X(6, PATH_MIG)             \
	X(7, PATH_MIG_ERR)         \
	X(8, DEVICE_FATAL)         \
	X(9, PORT_ACTIVE)          \
	X(10, PORT_ERR)            \
	X(11, LID_CHANGE)          \
	X(12, PKEY_CHANGE)         \
	X(13, SM_CHANGE)           \
	X(14, SRQ_ERR)             \
	X(15, SRQ_LIMIT_REACHED)   \
	X(16, QP_LAST_WQE_REACHED) \
	X(17, CLIENT_REREGISTER)   \
	X(18, GID_CHANGE)          \
	X(19, WQ_FATAL)

#define IB_EVENT_ID(nr, name) IB_EVENT_##name = (nr),
enum ib_event { IB_EVENTS(IB_EVENT_ID) };

/* "QP_FATAL"...; "?" if unknown. */
const char *ib_event_name(uint32_t type);

#endif
