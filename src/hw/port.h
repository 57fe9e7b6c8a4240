/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ports of adapters and switches, and what they count. Who may write what: hw/flags.h. */
#ifndef SOFTHCA_HW_PORT_H
#define SOFTHCA_HW_PORT_H

#include "hw/hca.h"
#include "segment/seg.h"

/* Of hw_port.speed: what is no speed of PortInfo's older fields, and the highest. */
enum { HW_SPEED_FDR10 = 8, HW_SPEED_NDR = 128 };
/* IBTA port states. */
enum { HW_PORT_DOWN = 1, HW_PORT_INIT = 2, HW_PORT_ARMED = 3, HW_PORT_ACTIVE = 4 };
enum { HW_PHYS_SLEEP = 1, HW_PHYS_POLLING = 2, HW_PHYS_DISABLED = 3, HW_PHYS_LINKUP = 5 };

/* What a port counts (IBA 16.1.3.5, 16.1.4.11). What is sent, what is received and what seldom
 * happens lie in cache lines of their own: they are written by different processes. */
enum hw_ctr {
	HW_CTR_XMIT_DATA, /* octets / 4 */
	HW_CTR_XMIT_PKTS,
	HW_CTR_XMIT_MCAST, /* of those, multicast */
	HW_CTR_XMIT_DISCARDS,
	HW_CTR_XMIT_CONSTRAINT,
	HW_CTR_XMIT_WAIT,     /* ticks; nothing ever waits for credits */
	HW_CTR_XMIT_INACTIVE, /* of the discards: the port could not send */
	HW_CTR_XMIT_MTU,      /* ... packets that were too large */
	HW_CTR_RCV_DATA = 8,
	HW_CTR_RCV_PKTS,
	HW_CTR_RCV_MCAST,
	HW_CTR_RCV_ERRORS,
	HW_CTR_RCV_REMOTE_PHYS,
	HW_CTR_RCV_RELAY,
	HW_CTR_RCV_CONSTRAINT,
	HW_CTR_RCV_LOOPING, /* of the relay errors: back to where it came from */
	HW_CTR_SYMBOL = 16,
	HW_CTR_RECOVERY,
	HW_CTR_DOWNED,
	HW_CTR_INTEGRITY,
	HW_CTR_OVERRUN,
	HW_CTR_VL15_DROPPED,
	HW_CTR_QP1_DROPPED,
	HW_CTR_MKEY_VIOL, /* PortInfo's, not the PMA's */
	HW_CTR_PKEY_VIOL,
	HW_CTR_QKEY_VIOL,
	HW_CTR_LOCAL_PHYS, /* these four only when they are set: it does not happen here */
	HW_CTR_VL_MAPPING,
	HW_CTR_SW_LIFETIME,
	HW_CTR_HOQ_LIFETIME,
	HW_CTR_STORED,
	HW_CTR_RCV_MAPPING = HW_CTR_STORED, /* relay errors that are no loop */
	HW_CTR_XMIT_UCAST,                  /* what is not multicast */
	HW_CTR_RCV_UCAST,
	HW_CTR_COUNT
};

/* A port of an adapter, or of a switch: then `hca` is SEG_NONE, and port 0 is its own. */
struct hw_port {
	uint32_t gen, flags;
	uint32_t hca;
	uint32_t num;  /* from 1; of a switch from 0 */
	uint32_t node; /* SEG_T_NODE */
	_Atomic uint32_t
		peer; /* SEG_T_PORT at the other end of the cable, SEG_NONE: there is none */
	_Atomic uint32_t state;
	_Atomic uint32_t phys_state;
	_Atomic uint32_t lid, sm_lid; /* decimal in print */
	uint32_t lmc, sm_sl;
	uint32_t cap_mask;
	_Atomic uint32_t issm; /* 1 + the SEG_T_FILE that has issmN open; futex word of who waits */
	_Atomic uint32_t issm_owed; /* what fab_issm_set() could not do yet: 1 off, 2 on */
	uint32_t width, speed; /* IB_WIDTH_* / IB_SPEED_* codes of PortInfo: 2 = 4x; 32 = EDR, 64 =
				  HDR, 128 = NDR */
	uint32_t active_mtu, max_mtu; /* IBV_MTU codes */
	uint64_t guid, gid_prefix;    /* host order */
	uint8_t gid[HW_GIDS][16];     /* index 0 = prefix:guid, rest zero */
	uint16_t pkey[HW_PKEYS];
	uint32_t enforce;           /* switch ports: PartitionEnforcement, 1 inbound, 2 outbound */
	uint32_t qctr;              /* SEG_T_QCTR: the set of QPs made by verbs */
	_Atomic uint64_t own_agent; /* MAD_REF() of the fabric's own SEG_T_AGENT (rmpp_send.c) */
	/* softhca console's Error: percent of the MADs that arrive here to be lost, of this
	 * attribute or (0) any; what was lost is kept in percents, so that it comes out even. */
	_Atomic uint32_t err_rate, err_attr, err_sum;
	/*
	 * What PortInfo says besides, set under the node's lock. Keys and times are those of a port
	 * with a LID: of a switch its port 0.
	 */
	uint64_t mkey;
	_Atomic uint64_t mkey_until; /* its lease runs out, clock_now_ns(); 0: it does not run */
	uint16_t mkey_lease;         /* seconds; 0: it never runs out */
	uint8_t mkey_protect;
	uint8_t width_sup, width_en; /* PortInfo's bits */
	uint8_t speed_sup, speed_en; /* bits as `speed` */
	uint8_t down_default;        /* physical state that a lost link goes to */
	uint8_t vl_cap, op_vls, vl_high_limit, vl_stall, hoq_life;
	uint8_t filter_raw, phys_errors, overrun_errors, init_type;
	uint8_t subnet_timeout, trap_suppr, led;
	uint32_t sl2vl, vl_arb; /* SEG_T_SL2VL, SEG_T_VLARB; 0: as in the beginning */
} SEG_ELEM;

static inline struct hw_port *hw_port(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_PORT, i);
}

#endif
