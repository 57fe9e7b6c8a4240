/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Performance management (IBA chapter 16): the attributes, which start at PMA_DATA. */
#ifndef SOFTHCA_WIRE_MAD_PMA_H
#define SOFTHCA_WIRE_MAD_PMA_H

#include "wire/mad/common.h"
#include "wire/mad/rep.h"

enum pma_attr {
	PMA_ATTR_PORT_SAMPLES_CONTROL = 0x0010,
	PMA_ATTR_PORT_SAMPLES_RESULT = 0x0011,
	PMA_ATTR_PORT_COUNTERS = 0x0012,
	PMA_ATTR_PORT_RCV_ERROR_DETAILS = 0x0015,
	PMA_ATTR_PORT_XMIT_DISCARD_DETAILS = 0x0016,
	PMA_ATTR_PORT_COUNTERS_EXT = 0x001d,
	PMA_ATTR_PORT_XMIT_DATA_SL = 0x0036,
	PMA_ATTR_PORT_RCV_DATA_SL = 0x0037,
};

/* Bits of ClassPortInfo:CapabilityMask in this class */
enum pma_cap {
	PMA_CAP_ALL_PORT_SELECT = 0x100,
	PMA_CAP_EXT = 0x200,
	PMA_CAP_EXT_NO_IETF = 0x400, /* extended counters without unicast and multicast counts */
	PMA_CAP_SAMPLES_ONLY = 0x800,
	PMA_CAP_XMIT_WAIT = 0x1000,
	PMA_CAP_QP1_DROPPED = 0x8000,
	PMA_CAP2_EXT_ERRORS = 0x2, /* bit of CapabilityMask2: PortCountersExtended has the errors */
};
enum { PMA_DATA = 64, PMA_PORT_ALL = 255 };

#define MAD_L_port_counters(F)                                 \
	F(port_counters, port_select, 0x08, 8, LAYOUT_HEX)     \
	F(port_counters, counter_select, 0x10, 16, LAYOUT_HEX) \
	F(port_counters, symbol_errors, 0x20, 16)              \
	F(port_counters, link_error_recovery, 0x30, 8)         \
	F(port_counters, link_downed, 0x38, 8)                 \
	F(port_counters, rcv_errors, 0x40, 16)                 \
	F(port_counters, rcv_remote_phys_errors, 0x50, 16)     \
	F(port_counters, rcv_switch_relay_errors, 0x60, 16)    \
	F(port_counters, xmit_discards, 0x70, 16)              \
	F(port_counters, xmit_constraint_errors, 0x80, 8)      \
	F(port_counters, rcv_constraint_errors, 0x88, 8)       \
	F(port_counters, counter_select2, 0x90, 8, LAYOUT_HEX) \
	F(port_counters, local_link_integrity, 0x98, 4)        \
	F(port_counters, excessive_buffer_overrun, 0x9c, 4)    \
	F(port_counters, qp1_dropped, 0xa0, 16, LAYOUT_HEX)    \
	F(port_counters, vl15_dropped, 0xb0, 16)               \
	F(port_counters, xmit_data, 0xc0, 32)                  \
	F(port_counters, rcv_data, 0xe0, 32)                   \
	F(port_counters, xmit_pkts, 0x100, 32)                 \
	F(port_counters, rcv_pkts, 0x120, 32)                  \
	F(port_counters, xmit_wait, 0x140, 32)
LAYOUT(port_counters, 44, MAD_L_port_counters)

/*
 * The bit that selects a counter when an attribute is set, PMA_BIT_<attribute>_<field>: of
 * CounterSelect, from 16 on of CounterSelect2.
 */
#define PMA__BIT(attr, field, bit) PMA_BIT_##attr##_##field = (bit),
#define PMA_SELECTORS(list) enum { list(PMA__BIT) };

#define PMA_SELECT_port_counters(B)                    \
	B(port_counters, symbol_errors, 0)             \
	B(port_counters, link_error_recovery, 1)       \
	B(port_counters, link_downed, 2)               \
	B(port_counters, rcv_errors, 3)                \
	B(port_counters, rcv_remote_phys_errors, 4)    \
	B(port_counters, rcv_switch_relay_errors, 5)   \
	B(port_counters, xmit_discards, 6)             \
	B(port_counters, xmit_constraint_errors, 7)    \
	B(port_counters, rcv_constraint_errors, 8)     \
	B(port_counters, local_link_integrity, 9)      \
	B(port_counters, excessive_buffer_overrun, 10) \
	B(port_counters, vl15_dropped, 11)             \
	B(port_counters, xmit_data, 12)                \
	B(port_counters, rcv_data, 13)                 \
	B(port_counters, xmit_pkts, 14)                \
	B(port_counters, rcv_pkts, 15)                 \
	B(port_counters, xmit_wait, 16)                \
	B(port_counters, qp1_dropped, 17)
PMA_SELECTORS(PMA_SELECT_port_counters)

/* With the error counters of IBA 1.3 on, from symbol_errors. */
#define MAD_L_port_counters_ext(F)                                  \
	F(port_counters_ext, port_select, 0x08, 8, LAYOUT_HEX)      \
	F(port_counters_ext, counter_select, 0x10, 16, LAYOUT_HEX)  \
	F(port_counters_ext, counter_select2, 0x20, 32, LAYOUT_HEX) \
	F(port_counters_ext, xmit_data, 0x40, 64)                   \
	F(port_counters_ext, rcv_data, 0x80, 64)                    \
	F(port_counters_ext, xmit_pkts, 0xc0, 64)                   \
	F(port_counters_ext, rcv_pkts, 0x100, 64)                   \
	F(port_counters_ext, ucast_xmit_pkts, 0x140, 64)            \
	F(port_counters_ext, ucast_rcv_pkts, 0x180, 64)             \
	F(port_counters_ext, mcast_xmit_pkts, 0x1c0, 64)            \
	F(port_counters_ext, mcast_rcv_pkts, 0x200, 64)             \
	F(port_counters_ext, symbol_errors, 0x240, 64)              \
	F(port_counters_ext, link_error_recovery, 0x280, 64)        \
	F(port_counters_ext, link_downed, 0x2c0, 64)                \
	F(port_counters_ext, rcv_errors, 0x300, 64)                 \
	F(port_counters_ext, rcv_remote_phys_errors, 0x340, 64)     \
	F(port_counters_ext, rcv_switch_relay_errors, 0x380, 64)    \
	F(port_counters_ext, xmit_discards, 0x3c0, 64)              \
	F(port_counters_ext, xmit_constraint_errors, 0x400, 64)     \
	F(port_counters_ext, rcv_constraint_errors, 0x440, 64)      \
	F(port_counters_ext, local_link_integrity, 0x480, 64)       \
	F(port_counters_ext, excessive_buffer_overrun, 0x4c0, 64)   \
	F(port_counters_ext, vl15_dropped, 0x500, 64)               \
	F(port_counters_ext, xmit_wait, 0x540, 64)                  \
	F(port_counters_ext, qp1_dropped, 0x580, 64, LAYOUT_HEX)
LAYOUT(port_counters_ext, 184, MAD_L_port_counters_ext)

#define PMA_SELECT_port_counters_ext(B)                    \
	B(port_counters_ext, xmit_data, 0)                 \
	B(port_counters_ext, rcv_data, 1)                  \
	B(port_counters_ext, xmit_pkts, 2)                 \
	B(port_counters_ext, rcv_pkts, 3)                  \
	B(port_counters_ext, ucast_xmit_pkts, 4)           \
	B(port_counters_ext, ucast_rcv_pkts, 5)            \
	B(port_counters_ext, mcast_xmit_pkts, 6)           \
	B(port_counters_ext, mcast_rcv_pkts, 7)            \
	B(port_counters_ext, symbol_errors, 16)            \
	B(port_counters_ext, link_error_recovery, 17)      \
	B(port_counters_ext, link_downed, 18)              \
	B(port_counters_ext, rcv_errors, 19)               \
	B(port_counters_ext, rcv_remote_phys_errors, 20)   \
	B(port_counters_ext, rcv_switch_relay_errors, 21)  \
	B(port_counters_ext, xmit_discards, 22)            \
	B(port_counters_ext, xmit_constraint_errors, 23)   \
	B(port_counters_ext, rcv_constraint_errors, 24)    \
	B(port_counters_ext, local_link_integrity, 25)     \
	B(port_counters_ext, excessive_buffer_overrun, 26) \
	B(port_counters_ext, vl15_dropped, 27)             \
	B(port_counters_ext, xmit_wait, 28)                \
	B(port_counters_ext, qp1_dropped, 29)
PMA_SELECTORS(PMA_SELECT_port_counters_ext)

enum { PMA_PORT_COUNTERS_EXT_OLD = 72 /* bytes before the error counters */ };

#define MAD_L_port_samples_control(F)                                                    \
	F(port_samples_control, op_code, 0x00, 8)                                        \
	F(port_samples_control, port_select, 0x08, 8, LAYOUT_HEX)                        \
	F(port_samples_control, tick, 0x10, 8)                                           \
	F(port_samples_control, counter_width, 0x1d, 3)                                  \
	F(port_samples_control, counter_mask0, 0x22, 3, LAYOUT_HEX)                      \
	F(port_samples_control, counter_masks1to9, 0x25, 27, LAYOUT_HEX)                 \
	F(port_samples_control, counter_masks10to14, 0x41, 15, LAYOUT_HEX)               \
	F(port_samples_control, sample_mechanisms, 0x50, 8)                              \
	F(port_samples_control, sample_status, 0x5e, 2)                                  \
	F(port_samples_control, option_mask, 0x60, 64, LAYOUT_HEX)                       \
	F(port_samples_control, vendor_mask, 0xa0, 64, LAYOUT_HEX)                       \
	F(port_samples_control, sample_start, 0xe0, 32)                                  \
	F(port_samples_control, sample_interval, 0x100, 32)                              \
	F(port_samples_control, tag, 0x120, 16)                                          \
	LAYOUT_REP15(F, port_samples_control, counter_select, 0x130, 16, 16, LAYOUT_HEX) \
	F(port_samples_control, samples_only_option_mask, 0x240, 64, LAYOUT_HEX)
LAYOUT(port_samples_control, 80, MAD_L_port_samples_control)
LAYOUT_ITEMS(port_samples_control, counter_select, 15)

#define MAD_L_port_samples_result(F)                   \
	F(port_samples_result, tag, 0x00, 16)          \
	F(port_samples_result, sample_status, 0x1e, 2) \
	LAYOUT_REP15(F, port_samples_result, counter, 0x20, 32, 32)
LAYOUT(port_samples_result, 64, MAD_L_port_samples_result)
LAYOUT_ITEMS(port_samples_result, counter, 15)

#define MAD_L_port_rcv_error_details(F)                                 \
	F(port_rcv_error_details, port_select, 0x08, 8, LAYOUT_HEX)     \
	F(port_rcv_error_details, counter_select, 0x10, 16, LAYOUT_HEX) \
	F(port_rcv_error_details, local_phys_errors, 0x20, 16)          \
	F(port_rcv_error_details, malformed_pkt_errors, 0x30, 16)       \
	F(port_rcv_error_details, buffer_overrun_errors, 0x40, 16)      \
	F(port_rcv_error_details, dlid_mapping_errors, 0x50, 16)        \
	F(port_rcv_error_details, vl_mapping_errors, 0x60, 16)          \
	F(port_rcv_error_details, looping_errors, 0x70, 16)
LAYOUT(port_rcv_error_details, 16, MAD_L_port_rcv_error_details)

#define PMA_SELECT_port_rcv_error_details(B)                \
	B(port_rcv_error_details, local_phys_errors, 0)     \
	B(port_rcv_error_details, malformed_pkt_errors, 1)  \
	B(port_rcv_error_details, buffer_overrun_errors, 2) \
	B(port_rcv_error_details, dlid_mapping_errors, 3)   \
	B(port_rcv_error_details, vl_mapping_errors, 4)     \
	B(port_rcv_error_details, looping_errors, 5)
PMA_SELECTORS(PMA_SELECT_port_rcv_error_details)

#define MAD_L_port_xmit_discard_details(F)                                 \
	F(port_xmit_discard_details, port_select, 0x08, 8, LAYOUT_HEX)     \
	F(port_xmit_discard_details, counter_select, 0x10, 16, LAYOUT_HEX) \
	F(port_xmit_discard_details, inactive_discards, 0x20, 16)          \
	F(port_xmit_discard_details, neighbor_mtu_discards, 0x30, 16)      \
	F(port_xmit_discard_details, sw_lifetime_discards, 0x40, 16)       \
	F(port_xmit_discard_details, sw_hoq_lifetime_discards, 0x50, 16)
LAYOUT(port_xmit_discard_details, 12, MAD_L_port_xmit_discard_details)

#define PMA_SELECT_port_xmit_discard_details(B)                \
	B(port_xmit_discard_details, inactive_discards, 0)     \
	B(port_xmit_discard_details, neighbor_mtu_discards, 1) \
	B(port_xmit_discard_details, sw_lifetime_discards, 2)  \
	B(port_xmit_discard_details, sw_hoq_lifetime_discards, 3)
PMA_SELECTORS(PMA_SELECT_port_xmit_discard_details)

/* PortXmitDataSL and PortRcvDataSL: one form. */
#define MAD_L_port_data_sl(F)                                 \
	F(port_data_sl, port_select, 0x08, 8, LAYOUT_HEX)     \
	F(port_data_sl, counter_select, 0x10, 16, LAYOUT_HEX) \
	LAYOUT_REP16(F, port_data_sl, sl, 0x20, 32, 32)
LAYOUT(port_data_sl, 68, MAD_L_port_data_sl)
LAYOUT_ITEMS(port_data_sl, sl, 16)

#define MAD_PMA_LAYOUTS(X)                                            \
	X(port_counters, MAD_L_port_counters)                         \
	X(port_counters_ext, MAD_L_port_counters_ext)                 \
	X(port_samples_control, MAD_L_port_samples_control)           \
	X(port_samples_result, MAD_L_port_samples_result)             \
	X(port_rcv_error_details, MAD_L_port_rcv_error_details)       \
	X(port_xmit_discard_details, MAD_L_port_xmit_discard_details) \
	X(port_data_sl, MAD_L_port_data_sl)

#endif
