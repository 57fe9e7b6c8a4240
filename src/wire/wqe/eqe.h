/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of the event types (MLX5_EVENT_TYPE_* of Linux include/linux/mlx5/device.h). */
#ifndef SOFTHCA_WIRE_WQE_EQE_H
#define SOFTHCA_WIRE_WQE_EQE_H

#include <stdint.h>

/* Values of event_type: number, name. */
#define EQE_TYPES(X)                \
	X(0x00, COMP)               \
	X(0x01, PATH_MIG)           \
	X(0x02, COMM_EST)           \
	X(0x03, SQ_DRAINED)         \
	X(0x04, CQ_ERROR)           \
	X(0x05, WQ_CATAS_ERROR)     \
	X(0x07, PATH_MIG_FAILED)    \
	X(0x08, INTERNAL_ERROR)     \
	X(0x09, PORT_CHANGE)        \
	X(0x0a, CMD)                \
	X(0x0b, PAGE_REQUEST)       \
	X(0x0c, PAGE_FAULT)         \
	X(0x0d, NIC_VPORT_CHANGE)   \
	X(0x10, WQ_INVAL_REQ_ERROR) \
	X(0x11, WQ_ACCESS_ERROR)    \
	X(0x12, SRQ_CATAS_ERROR)    \
	X(0x13, SRQ_LAST_WQE)       \
	X(0x14, SRQ_RQ_LIMIT)       \
	X(0x18, XRQ_ERROR)          \
	X(0x1c, DCT_DRAINED)        \
	X(0x1d, DCT_KEY_VIOLATION)  \
	X(0x22, GENERAL_EVENT)      \
	X(0x27, OBJECT_CHANGE)

const char *eqe_type_name(uint8_t type);

#endif
