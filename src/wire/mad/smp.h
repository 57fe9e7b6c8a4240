/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Subnet management (IBA chapter 14): both kinds of packets, and the attributes. */
#ifndef SOFTHCA_WIRE_MAD_SMP_H
#define SOFTHCA_WIRE_MAD_SMP_H

#include "wire/mad/common.h"
#include "wire/mad/rep.h"

enum smp_attr {
	SMP_ATTR_NODE_DESC = 0x0010,
	SMP_ATTR_NODE_INFO = 0x0011,
	SMP_ATTR_SWITCH_INFO = 0x0012,
	SMP_ATTR_GUID_INFO = 0x0014,
	SMP_ATTR_PORT_INFO = 0x0015,
	SMP_ATTR_PKEY_TABLE = 0x0016,
	SMP_ATTR_SL2VL = 0x0017,
	SMP_ATTR_VL_ARB = 0x0018,
	SMP_ATTR_LFT = 0x0019,
	SMP_ATTR_RFT = 0x001a,
	SMP_ATTR_MFT = 0x001b,
	SMP_ATTR_SM_INFO = 0x0020,
	SMP_ATTR_VENDOR_DIAG = 0x0030,
	SMP_ATTR_LED_INFO = 0x0031,
	SMP_ATTR_MLNX_EXT_PORT_INFO = 0xff90,
};

/* For both kinds; the attribute is at SMP_DATA. */
#define MAD_L_smp(F)                       \
	F(smp, d, 0x20, 1)                 \
	F(smp, status, 0x21, 15)           \
	F(smp, hop_ptr, 0x30, 8)           \
	F(smp, hop_cnt, 0x38, 8)           \
	F(smp, mkey, 0xc0, 64, LAYOUT_HEX) \
	F(smp, dr_slid, 0x100, 16)         \
	F(smp, dr_dlid, 0x110, 16)
LAYOUT(smp, MAD_SIZE, MAD_L_smp)
enum { SMP_DATA = 64, SMP_DATA_SIZE = 64, SMP_INITIAL_PATH = 128, SMP_RETURN_PATH = 192 };

enum node_type { NODE_TYPE_CA = 1, NODE_TYPE_SWITCH = 2, NODE_TYPE_ROUTER = 3 };
enum { NODE_DESC_SIZE = 64 };

#define MAD_L_node_info(F)                              \
	F(node_info, base_version, 0x00, 8)             \
	F(node_info, class_version, 0x08, 8)            \
	F(node_info, node_type, 0x10, 8)                \
	F(node_info, num_ports, 0x18, 8)                \
	F(node_info, system_guid, 0x20, 64, LAYOUT_HEX) \
	F(node_info, node_guid, 0x60, 64, LAYOUT_HEX)   \
	F(node_info, port_guid, 0xa0, 64, LAYOUT_HEX)   \
	F(node_info, partition_cap, 0xe0, 16)           \
	F(node_info, device_id, 0xf0, 16, LAYOUT_HEX)   \
	F(node_info, revision, 0x100, 32, LAYOUT_HEX)   \
	F(node_info, local_port, 0x120, 8)              \
	F(node_info, vendor_id, 0x128, 24, LAYOUT_HEX)
LAYOUT(node_info, 40, MAD_L_node_info)

#define MAD_L_port_info(F)                                        \
	F(port_info, mkey, 0x00, 64, LAYOUT_HEX)                  \
	F(port_info, gid_prefix, 0x40, 64, LAYOUT_HEX)            \
	F(port_info, lid, 0x80, 16)                               \
	F(port_info, master_sm_lid, 0x90, 16)                     \
	F(port_info, capability_mask, 0xa0, 32, LAYOUT_HEX)       \
	F(port_info, diag_code, 0xc0, 16, LAYOUT_HEX)             \
	F(port_info, mkey_lease_period, 0xd0, 16, LAYOUT_HEX)     \
	F(port_info, local_port, 0xe0, 8)                         \
	F(port_info, link_width_enabled, 0xe8, 8)                 \
	F(port_info, link_width_supported, 0xf0, 8)               \
	F(port_info, link_width_active, 0xf8, 8)                  \
	F(port_info, link_speed_supported, 0x100, 4)              \
	F(port_info, port_state, 0x104, 4)                        \
	F(port_info, port_phys_state, 0x108, 4)                   \
	F(port_info, link_down_default, 0x10c, 4)                 \
	F(port_info, mkey_protect_bits, 0x110, 2, LAYOUT_HEX)     \
	F(port_info, lmc, 0x115, 3)                               \
	F(port_info, link_speed_active, 0x118, 4)                 \
	F(port_info, link_speed_enabled, 0x11c, 4)                \
	F(port_info, neighbor_mtu, 0x120, 4)                      \
	F(port_info, master_sm_sl, 0x124, 4)                      \
	F(port_info, vl_cap, 0x128, 4)                            \
	F(port_info, init_type, 0x12c, 4)                         \
	F(port_info, vl_high_limit, 0x130, 8)                     \
	F(port_info, vl_arb_high_cap, 0x138, 8)                   \
	F(port_info, vl_arb_low_cap, 0x140, 8)                    \
	F(port_info, init_type_reply, 0x148, 4)                   \
	F(port_info, mtu_cap, 0x14c, 4)                           \
	F(port_info, vl_stall_count, 0x150, 3)                    \
	F(port_info, hoq_life, 0x153, 5)                          \
	F(port_info, operational_vls, 0x158, 4)                   \
	F(port_info, partition_enforce_in, 0x15c, 1)              \
	F(port_info, partition_enforce_out, 0x15d, 1)             \
	F(port_info, filter_raw_in, 0x15e, 1)                     \
	F(port_info, filter_raw_out, 0x15f, 1)                    \
	F(port_info, mkey_violations, 0x160, 16, LAYOUT_HEX)      \
	F(port_info, pkey_violations, 0x170, 16, LAYOUT_HEX)      \
	F(port_info, qkey_violations, 0x180, 16, LAYOUT_HEX)      \
	F(port_info, guid_cap, 0x190, 8, LAYOUT_HEX)              \
	F(port_info, client_reregister, 0x198, 1)                 \
	F(port_info, mcast_pkey_trap_suppr, 0x199, 2, LAYOUT_HEX) \
	F(port_info, subnet_timeout, 0x19b, 5)                    \
	F(port_info, resp_time_value, 0x1a3, 5)                   \
	F(port_info, local_phys_errors, 0x1a8, 4)                 \
	F(port_info, overrun_errors, 0x1ac, 4)                    \
	F(port_info, max_credit_hint, 0x1b0, 16)                  \
	F(port_info, link_round_trip, 0x1c8, 24)                  \
	F(port_info, capability_mask2, 0x1e0, 16, LAYOUT_HEX)     \
	F(port_info, link_speed_ext_active, 0x1f0, 4)             \
	F(port_info, link_speed_ext_supported, 0x1f4, 4)          \
	F(port_info, link_speed_ext_enabled, 0x1fb, 5)
LAYOUT(port_info, 64, MAD_L_port_info)

/* PortInfo:CapabilityMask */
enum port_cap {
	PORT_CAP_SM = 1 << 1,
	PORT_CAP_NOTICE = 1 << 2,
	PORT_CAP_TRAP = 1 << 3,
	PORT_CAP_OPT_IPD = 1 << 4,
	PORT_CAP_AUTO_MIGR = 1 << 5,
	PORT_CAP_SL_MAP = 1 << 6,
	PORT_CAP_MKEY_NVRAM = 1 << 7,
	PORT_CAP_PKEY_NVRAM = 1 << 8,
	PORT_CAP_LED_INFO = 1 << 9,
	PORT_CAP_SM_DISABLED = 1 << 10,
	PORT_CAP_SYS_GUID = 1 << 11,
	PORT_CAP_PKEY_SWITCH_TRAP = 1 << 12,
	PORT_CAP_CABLE_INFO = 1 << 13,
	PORT_CAP_EXT_SPEEDS = 1 << 14,
	PORT_CAP_CAP_MASK2 = 1 << 15,
	PORT_CAP_CM = 1 << 16,
	PORT_CAP_SNMP_TUNNEL = 1 << 17,
	PORT_CAP_REINIT = 1 << 18,
	PORT_CAP_DEV_MGMT = 1 << 19,
	PORT_CAP_VENDOR_CLASS = 1 << 20,
	PORT_CAP_DR_NOTICE = 1 << 21,
	PORT_CAP_CAP_MASK_NOTICE = 1 << 22,
	PORT_CAP_BOOT_MGMT = 1 << 23,
	PORT_CAP_LINK_LATENCY = 1 << 24,
	PORT_CAP_CLIENT_REREG = 1 << 25,
	PORT_CAP_OTHER_LOCAL_CHANGES = 1 << 26,
	PORT_CAP_LINK_SPEED_WIDTH_PAIRS = 1 << 27,
	PORT_CAP_VENDOR_MADS = 1 << 28,
	PORT_CAP_MCAST_PKEY_TRAP_SUPPR = 1 << 29,
	PORT_CAP_MCAST_FDB_TOP = 1 << 30,
};

/* PortInfo:CapabilityMask2 */
enum port_cap2 {
	PORT_CAP2_SET_NODE_DESC = 1 << 0,
	PORT_CAP2_PORT_INFO_EXT = 1 << 1,
	PORT_CAP2_VIRT = 1 << 2,
	PORT_CAP2_SWITCH_PORT_STATE = 1 << 3,
	PORT_CAP2_LINK_WIDTH_2X = 1 << 4,
	PORT_CAP2_LINK_SPEED_HDR = 1 << 5,
	PORT_CAP2_LINK_SPEED_NDR = 1 << 10,
};

/* IBA 14.2.5.4 */
#define MAD_L_switch_info(F)                                    \
	F(switch_info, linear_fdb_cap, 0x00, 16)                \
	F(switch_info, random_fdb_cap, 0x10, 16)                \
	F(switch_info, mcast_fdb_cap, 0x20, 16)                 \
	F(switch_info, linear_fdb_top, 0x30, 16)                \
	F(switch_info, default_port, 0x40, 8)                   \
	F(switch_info, default_mcast_primary_port, 0x48, 8)     \
	F(switch_info, default_mcast_not_primary_port, 0x50, 8) \
	F(switch_info, life_time_value, 0x58, 5)                \
	F(switch_info, port_state_change, 0x5d, 1)              \
	F(switch_info, optimized_sl2vl, 0x5e, 2)                \
	F(switch_info, lids_per_port, 0x60, 16)                 \
	F(switch_info, partition_enforce_cap, 0x70, 16)         \
	F(switch_info, inbound_enforce_cap, 0x80, 1)            \
	F(switch_info, outbound_enforce_cap, 0x81, 1)           \
	F(switch_info, filter_raw_inbound_cap, 0x82, 1)         \
	F(switch_info, filter_raw_outbound_cap, 0x83, 1)        \
	F(switch_info, enhanced_port0, 0x84, 1)                 \
	F(switch_info, mcast_fdb_top, 0x90, 16)
LAYOUT(switch_info, 20, MAD_L_switch_info)

/* Blocks of tables; LAYOUT_ITEM_GET(lft_block, p, port, i) reads one entry. */
#define MAD_L_guid_info(F) LAYOUT_REP8(F, guid_info, guid, 0, 64, 64, LAYOUT_HEX)
LAYOUT(guid_info, 64, MAD_L_guid_info)
LAYOUT_ITEMS(guid_info, guid, 8)

#define MAD_L_pkey_table(F) LAYOUT_REP32(F, pkey_table, pkey, 0, 16, 16, LAYOUT_HEX)
LAYOUT(pkey_table, 64, MAD_L_pkey_table)
LAYOUT_ITEMS(pkey_table, pkey, 32)

#define MAD_L_sl2vl(F) LAYOUT_REP16(F, sl2vl, vl, 0, 4, 4)
LAYOUT(sl2vl, 8, MAD_L_sl2vl)
LAYOUT_ITEMS(sl2vl, vl, 16)

#define MAD_L_vl_arb(F)                       \
	LAYOUT_REP32(F, vl_arb, vl, 4, 16, 4) \
	LAYOUT_REP32(F, vl_arb, weight, 8, 16, 8)
LAYOUT(vl_arb, 64, MAD_L_vl_arb)
LAYOUT_ITEMS(vl_arb, vl, 32)
LAYOUT_ITEMS(vl_arb, weight, 32)
/* The part of the table, from the attribute modifier. */
enum vl_arb_part { VL_ARB_LOW = 1, VL_ARB_LOW2 = 2, VL_ARB_HIGH = 3, VL_ARB_HIGH2 = 4 };

#define MAD_L_lft_block(F) LAYOUT_REP64(F, lft_block, port, 0, 8, 8)
LAYOUT(lft_block, 64, MAD_L_lft_block)
LAYOUT_ITEMS(lft_block, port, 64)
enum { LFT_PORT_NONE = 255 };

/* For 32 multicast LIDs: the mask of 16 ports at one position. */
#define MAD_L_mft_block(F) LAYOUT_REP32(F, mft_block, ports, 0, 16, 16, LAYOUT_HEX)
LAYOUT(mft_block, 64, MAD_L_mft_block)
LAYOUT_ITEMS(mft_block, ports, 32)

/* IBA 14.2.5.13 */
#define MAD_L_sm_info(F)                         \
	F(sm_info, guid, 0x00, 64, LAYOUT_HEX)   \
	F(sm_info, sm_key, 0x40, 64, LAYOUT_HEX) \
	F(sm_info, act_count, 0x80, 32)          \
	F(sm_info, priority, 0xa0, 4)            \
	F(sm_info, sm_state, 0xa4, 4)
LAYOUT(sm_info, 24, MAD_L_sm_info) /* 21 bytes, padded to a dword */
enum sm_state { SM_NOTACTIVE = 0, SM_DISCOVERING = 1, SM_STANDBY = 2, SM_MASTER = 3 };
/* Attribute modifiers of SubnSet(SMInfo) */
enum sm_control {
	SM_CONTROL_HANDOVER = 1,
	SM_CONTROL_ACKNOWLEDGE = 2,
	SM_CONTROL_DISABLE = 3,
	SM_CONTROL_STANDBY = 4,
	SM_CONTROL_DISCOVER = 5,
};

#define MAD_L_led_info(F) F(led_info, led_mask, 0x00, 1, LAYOUT_HEX)
LAYOUT(led_info, 4, MAD_L_led_info)

/* Vendor attribute of Mellanox adapters and switches: FDR10. */
#define MAD_L_mlnx_ext_port_info(F)                          \
	F(mlnx_ext_port_info, state_change_enable, 0x18, 8)  \
	F(mlnx_ext_port_info, link_speed_supported, 0x38, 8) \
	F(mlnx_ext_port_info, link_speed_enabled, 0x58, 8)   \
	F(mlnx_ext_port_info, link_speed_active, 0x78, 8)
LAYOUT(mlnx_ext_port_info, 64, MAD_L_mlnx_ext_port_info)

#define MAD_SMP_LAYOUTS(X)                \
	X(smp, MAD_L_smp)                 \
	X(node_info, MAD_L_node_info)     \
	X(port_info, MAD_L_port_info)     \
	X(switch_info, MAD_L_switch_info) \
	X(guid_info, MAD_L_guid_info)     \
	X(pkey_table, MAD_L_pkey_table)   \
	X(sl2vl, MAD_L_sl2vl)             \
	X(vl_arb, MAD_L_vl_arb)           \
	X(lft_block, MAD_L_lft_block)     \
	X(mft_block, MAD_L_mft_block)     \
	X(sm_info, MAD_L_sm_info)         \
	X(led_info, MAD_L_led_info)       \
	X(mlnx_ext_port_info, MAD_L_mlnx_ext_port_info)

#endif
