/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* IBA's numbers for port states and MTUs (14.2.5.6). */
#ifndef SOFTHCA_WIRE_IB_PORT_H
#define SOFTHCA_WIRE_IB_PORT_H

#include "wire/layout.h"

#define IB_V_PORT_STATE(V)   \
	V(IB_PORT, NOP, 0)   \
	V(IB_PORT, DOWN, 1)  \
	V(IB_PORT, INIT, 2)  \
	V(IB_PORT, ARMED, 3) \
	V(IB_PORT, ACTIVE, 4)
LAYOUT_ENUM(ib_port_state, IB_V_PORT_STATE)

#define IB_V_PHYS_STATE(V)      \
	V(IB_PHYS, NOP, 0)      \
	V(IB_PHYS, SLEEP, 1)    \
	V(IB_PHYS, POLLING, 2)  \
	V(IB_PHYS, DISABLED, 3) \
	V(IB_PHYS, TRAINING, 4) \
	V(IB_PHYS, LINK_UP, 5)  \
	V(IB_PHYS, RECOVERY, 6)
LAYOUT_ENUM(ib_phys_state, IB_V_PHYS_STATE)

/* Bytes. */
#define IB_V_MTU(V)        \
	V(IB_MTU, 256, 1)  \
	V(IB_MTU, 512, 2)  \
	V(IB_MTU, 1024, 3) \
	V(IB_MTU, 2048, 4) \
	V(IB_MTU, 4096, 5)
LAYOUT_ENUM(ib_mtu, IB_V_MTU)

#endif
