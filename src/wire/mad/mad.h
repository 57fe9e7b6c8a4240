/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Layouts of MADs (IBA vol 1, chapters 13, 14 and 16): headers and the attributes that a port
 * answers. Field names are the specification's, in lower case.
 */
#ifndef SOFTHCA_WIRE_MAD_MAD_H
#define SOFTHCA_WIRE_MAD_MAD_H

#include "wire/layout.h"

#define MAD_SIZE 256
#define MAD_RMPP_HDR 36 /* MAD header and RMPP header */
#define MAD_LID_PERMISSIVE 0xffff
#define MAD_MAX_HOPS 64
#define MAD_BASE_VERSION 1

enum mad_class {
	MAD_CLASS_SUBN_LID = 0x01,
	MAD_CLASS_SA = 0x03,
	MAD_CLASS_PERF = 0x04,
	MAD_CLASS_BM = 0x05,
	MAD_CLASS_DEV_MGMT = 0x06,
	MAD_CLASS_CM = 0x07,
	MAD_CLASS_DEV_ADM = 0x10,
	MAD_CLASS_BIS = 0x12,
	MAD_CLASS_VENDOR2_FIRST = 0x30, /* with an OUI */
	MAD_CLASS_VENDOR2_LAST = 0x4f,
	MAD_CLASS_SUBN_DR = 0x81,
};

enum mad_method {
	MAD_METHOD_GET = 0x01,
	MAD_METHOD_SET = 0x02,
	MAD_METHOD_SEND = 0x03,
	MAD_METHOD_TRAP = 0x05,
	MAD_METHOD_TRAP_REPRESS = 0x07,
	MAD_METHOD_GET_RESP = 0x81,
	MAD_METHOD_RESP = 0x80, /* the bit */
};

enum mad_status {
	MAD_STATUS_OK = 0,
	MAD_STATUS_BAD_VERSION = 0x0004,
	MAD_STATUS_BAD_METHOD = 0x0008,
	MAD_STATUS_BAD_ATTR = 0x000c, /* this method with this attribute */
	MAD_STATUS_BAD_VALUE = 0x001c,
	MAD_STATUS_D = 0x8000, /* directed route: on its way back */
};

enum mad_attr {
	MAD_ATTR_CLASS_PORT_INFO = 0x0001,
	SMP_ATTR_NODE_DESC = 0x0010,
	SMP_ATTR_NODE_INFO = 0x0011,
	SMP_ATTR_GUID_INFO = 0x0014,
	SMP_ATTR_PORT_INFO = 0x0015,
	SMP_ATTR_PKEY_TABLE = 0x0016,
	SMP_ATTR_SL2VL = 0x0017,
	SMP_ATTR_VL_ARB = 0x0018,
	SMP_ATTR_SM_INFO = 0x0020,
	PMA_ATTR_PORT_COUNTERS = 0x0012,
	PMA_ATTR_PORT_COUNTERS_EXT = 0x001d,
};

/* The common header. RMPP's flags are there in classes that have RMPP. */
#define MAD_L_mad_hdr(F)                     \
	F(mad_hdr, base_version, 0x00, 8)    \
	F(mad_hdr, mgmt_class, 0x08, 8)      \
	F(mad_hdr, class_version, 0x10, 8)   \
	F(mad_hdr, method, 0x18, 8)          \
	F(mad_hdr, status, 0x20, 16)         \
	F(mad_hdr, class_specific, 0x30, 16) \
	F(mad_hdr, tid, 0x40, 64)            \
	F(mad_hdr, attr_id, 0x80, 16)        \
	F(mad_hdr, attr_mod, 0xa0, 32)
LAYOUT(mad_hdr, 24, MAD_L_mad_hdr)

#define MAD_L_mad_rmpp(F)                  \
	F(mad_rmpp, rmpp_version, 0xc0, 8) \
	F(mad_rmpp, rmpp_type, 0xc8, 8)    \
	F(mad_rmpp, resp_time, 0xd0, 5)    \
	F(mad_rmpp, flags, 0xd5, 3)        \
	F(mad_rmpp, status, 0xd8, 8)       \
	F(mad_rmpp, data1, 0xe0, 32)       \
	F(mad_rmpp, data2, 0x100, 32)
LAYOUT(mad_rmpp, MAD_RMPP_HDR, MAD_L_mad_rmpp)
enum { MAD_RMPP_ACTIVE = 1, MAD_RMPP_TYPE_DATA = 1 };

/* Subnet management packets, both kinds; the attribute is at SMP_DATA. */
#define MAD_L_smp(F)               \
	F(smp, d, 0x20, 1)         \
	F(smp, status, 0x21, 15)   \
	F(smp, hop_ptr, 0x30, 8)   \
	F(smp, hop_cnt, 0x38, 8)   \
	F(smp, mkey, 0xc0, 64)     \
	F(smp, dr_slid, 0x100, 16) \
	F(smp, dr_dlid, 0x110, 16)
LAYOUT(smp, MAD_SIZE, MAD_L_smp)
enum { SMP_DATA = 64, SMP_DATA_SIZE = 64, SMP_INITIAL_PATH = 128, SMP_RETURN_PATH = 192 };

#define MAD_L_node_info(F)                    \
	F(node_info, base_version, 0x00, 8)   \
	F(node_info, class_version, 0x08, 8)  \
	F(node_info, node_type, 0x10, 8)      \
	F(node_info, num_ports, 0x18, 8)      \
	F(node_info, system_guid, 0x20, 64)   \
	F(node_info, node_guid, 0x60, 64)     \
	F(node_info, port_guid, 0xa0, 64)     \
	F(node_info, partition_cap, 0xe0, 16) \
	F(node_info, device_id, 0xf0, 16)     \
	F(node_info, revision, 0x100, 32)     \
	F(node_info, local_port, 0x120, 8)    \
	F(node_info, vendor_id, 0x128, 24)
LAYOUT(node_info, 40, MAD_L_node_info)

#define MAD_L_port_info(F)                               \
	F(port_info, mkey, 0x00, 64)                     \
	F(port_info, gid_prefix, 0x40, 64)               \
	F(port_info, lid, 0x80, 16)                      \
	F(port_info, master_sm_lid, 0x90, 16)            \
	F(port_info, capability_mask, 0xa0, 32)          \
	F(port_info, diag_code, 0xc0, 16)                \
	F(port_info, mkey_lease_period, 0xd0, 16)        \
	F(port_info, local_port, 0xe0, 8)                \
	F(port_info, link_width_enabled, 0xe8, 8)        \
	F(port_info, link_width_supported, 0xf0, 8)      \
	F(port_info, link_width_active, 0xf8, 8)         \
	F(port_info, link_speed_supported, 0x100, 4)     \
	F(port_info, port_state, 0x104, 4)               \
	F(port_info, port_phys_state, 0x108, 4)          \
	F(port_info, link_down_default, 0x10c, 4)        \
	F(port_info, mkey_protect_bits, 0x110, 2)        \
	F(port_info, lmc, 0x115, 3)                      \
	F(port_info, link_speed_active, 0x118, 4)        \
	F(port_info, link_speed_enabled, 0x11c, 4)       \
	F(port_info, neighbor_mtu, 0x120, 4)             \
	F(port_info, master_sm_sl, 0x124, 4)             \
	F(port_info, vl_cap, 0x128, 4)                   \
	F(port_info, init_type, 0x12c, 4)                \
	F(port_info, vl_high_limit, 0x130, 8)            \
	F(port_info, vl_arb_high_cap, 0x138, 8)          \
	F(port_info, vl_arb_low_cap, 0x140, 8)           \
	F(port_info, init_type_reply, 0x148, 4)          \
	F(port_info, mtu_cap, 0x14c, 4)                  \
	F(port_info, vl_stall_count, 0x150, 3)           \
	F(port_info, hoq_life, 0x153, 5)                 \
	F(port_info, operational_vls, 0x158, 4)          \
	F(port_info, partition_enforce_in, 0x15c, 1)     \
	F(port_info, partition_enforce_out, 0x15d, 1)    \
	F(port_info, filter_raw_in, 0x15e, 1)            \
	F(port_info, filter_raw_out, 0x15f, 1)           \
	F(port_info, mkey_violations, 0x160, 16)         \
	F(port_info, pkey_violations, 0x170, 16)         \
	F(port_info, qkey_violations, 0x180, 16)         \
	F(port_info, guid_cap, 0x190, 8)                 \
	F(port_info, client_reregister, 0x198, 1)        \
	F(port_info, mcast_pkey_trap_suppr, 0x199, 2)    \
	F(port_info, subnet_timeout, 0x19b, 5)           \
	F(port_info, resp_time_value, 0x1a3, 5)          \
	F(port_info, local_phys_errors, 0x1a8, 4)        \
	F(port_info, overrun_errors, 0x1ac, 4)           \
	F(port_info, max_credit_hint, 0x1b0, 16)         \
	F(port_info, link_round_trip, 0x1c8, 24)         \
	F(port_info, capability_mask2, 0x1e0, 16)        \
	F(port_info, link_speed_ext_active, 0x1f0, 4)    \
	F(port_info, link_speed_ext_supported, 0x1f4, 4) \
	F(port_info, link_speed_ext_enabled, 0x1fb, 5)
LAYOUT(port_info, 64, MAD_L_port_info)

/* Of every class but subnet management; at PMA_DATA in performance management. */
#define MAD_L_class_port_info(F)                   \
	F(class_port_info, base_version, 0x00, 8)  \
	F(class_port_info, class_version, 0x08, 8) \
	F(class_port_info, cap_mask, 0x10, 16)     \
	F(class_port_info, cap_mask2, 0x20, 27)    \
	F(class_port_info, resp_time_value, 0x3b, 5)
LAYOUT(class_port_info, 72, MAD_L_class_port_info)

enum { PMA_DATA = 64, PMA_CAP_EXT_NO_IETF = 0x400 };

#define MAD_L_port_counters(F)                              \
	F(port_counters, port_select, 0x08, 8)              \
	F(port_counters, counter_select, 0x10, 16)          \
	F(port_counters, symbol_errors, 0x20, 16)           \
	F(port_counters, link_error_recovery, 0x30, 8)      \
	F(port_counters, link_downed, 0x38, 8)              \
	F(port_counters, rcv_errors, 0x40, 16)              \
	F(port_counters, rcv_remote_phys_errors, 0x50, 16)  \
	F(port_counters, rcv_switch_relay_errors, 0x60, 16) \
	F(port_counters, xmit_discards, 0x70, 16)           \
	F(port_counters, xmit_constraint_errors, 0x80, 8)   \
	F(port_counters, rcv_constraint_errors, 0x88, 8)    \
	F(port_counters, counter_select2, 0x90, 8)          \
	F(port_counters, local_link_integrity, 0x98, 4)     \
	F(port_counters, excessive_buffer_overrun, 0x9c, 4) \
	F(port_counters, qp1_dropped, 0xa0, 16)             \
	F(port_counters, vl15_dropped, 0xb0, 16)            \
	F(port_counters, xmit_data, 0xc0, 32)               \
	F(port_counters, rcv_data, 0xe0, 32)                \
	F(port_counters, xmit_pkts, 0x100, 32)              \
	F(port_counters, rcv_pkts, 0x120, 32)               \
	F(port_counters, xmit_wait, 0x140, 32)
LAYOUT(port_counters, 44, MAD_L_port_counters)

#define MAD_L_port_counters_ext(F)                       \
	F(port_counters_ext, port_select, 0x08, 8)       \
	F(port_counters_ext, counter_select, 0x10, 16)   \
	F(port_counters_ext, counter_select2, 0x20, 32)  \
	F(port_counters_ext, xmit_data, 0x40, 64)        \
	F(port_counters_ext, rcv_data, 0x80, 64)         \
	F(port_counters_ext, xmit_pkts, 0xc0, 64)        \
	F(port_counters_ext, rcv_pkts, 0x100, 64)        \
	F(port_counters_ext, ucast_xmit_pkts, 0x140, 64) \
	F(port_counters_ext, ucast_rcv_pkts, 0x180, 64)  \
	F(port_counters_ext, mcast_xmit_pkts, 0x1c0, 64) \
	F(port_counters_ext, mcast_rcv_pkts, 0x200, 64)
LAYOUT(port_counters_ext, 72, MAD_L_port_counters_ext)

#define MAD_LAYOUTS(X)                            \
	X(mad_hdr, MAD_L_mad_hdr)                 \
	X(mad_rmpp, MAD_L_mad_rmpp)               \
	X(smp, MAD_L_smp)                         \
	X(node_info, MAD_L_node_info)             \
	X(port_info, MAD_L_port_info)             \
	X(class_port_info, MAD_L_class_port_info) \
	X(port_counters, MAD_L_port_counters)     \
	X(port_counters_ext, MAD_L_port_counters_ext)

/* Every layout above; ends with NULL. */
extern const struct layout *const mad_layouts[];

/* Answers and what else is routed by its transaction ID (mad.c, ib_response_mad()). */
static inline bool mad_is_response(const uint8_t *mad)
{
	uint64_t method = LAYOUT_GET(mad_hdr, mad, method);

	return (method & MAD_METHOD_RESP) || method == MAD_METHOD_TRAP_REPRESS ||
	       (LAYOUT_GET(mad_hdr, mad, mgmt_class) == MAD_CLASS_BM &&
		(LAYOUT_GET(mad_hdr, mad, attr_mod) & 1));
}

static inline bool mad_is_vendor2(uint32_t mgmt_class)
{
	return mgmt_class >= MAD_CLASS_VENDOR2_FIRST && mgmt_class <= MAD_CLASS_VENDOR2_LAST;
}

static inline bool mad_is_smi(uint32_t mgmt_class)
{
	return mgmt_class == MAD_CLASS_SUBN_LID || mgmt_class == MAD_CLASS_SUBN_DR;
}

static inline bool mad_has_rmpp(uint32_t mgmt_class)
{
	return mgmt_class == MAD_CLASS_SA || mgmt_class == MAD_CLASS_DEV_MGMT ||
	       mgmt_class == MAD_CLASS_DEV_ADM || mgmt_class == MAD_CLASS_BIS ||
	       mad_is_vendor2(mgmt_class);
}

/* Bytes before the data of a class: its header, RMPP's included. */
static inline uint32_t mad_data_offset(uint32_t mgmt_class)
{
	if (mgmt_class == MAD_CLASS_SA)
		return 56;
	if (mad_is_vendor2(mgmt_class))
		return 40;
	return mad_has_rmpp(mgmt_class) ? 64 : LAYOUT_SZ(mad_hdr);
}

#endif
