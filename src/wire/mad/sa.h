/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Subnet administration (IBA chapter 15): the header and the SA records. A record's size is a
 * multiple of 8 bytes with padding, as AttributeOffset counts it.
 */
#ifndef SOFTHCA_WIRE_MAD_SA_H
#define SOFTHCA_WIRE_MAD_SA_H

#include "wire/mad/common.h"
#include "wire/mad/rep.h"
#include "wire/mad/smp.h"

enum sa_attr {
	SA_ATTR_NODE_RECORD = 0x0011,
	SA_ATTR_PORT_INFO_RECORD = 0x0012,
	SA_ATTR_SL2VL_RECORD = 0x0013,
	SA_ATTR_SWITCH_INFO_RECORD = 0x0014,
	SA_ATTR_LFT_RECORD = 0x0015,
	SA_ATTR_RFT_RECORD = 0x0016,
	SA_ATTR_MFT_RECORD = 0x0017,
	SA_ATTR_SM_INFO_RECORD = 0x0018,
	SA_ATTR_LINK_RECORD = 0x0020,
	SA_ATTR_GUID_INFO_RECORD = 0x0030,
	SA_ATTR_SERVICE_RECORD = 0x0031,
	SA_ATTR_PKEY_TABLE_RECORD = 0x0033,
	SA_ATTR_PATH_RECORD = 0x0035,
	SA_ATTR_VL_ARB_RECORD = 0x0036,
	SA_ATTR_MC_MEMBER_RECORD = 0x0038,
	SA_ATTR_TRACE_RECORD = 0x0039,
	SA_ATTR_MULTI_PATH_RECORD = 0x003a,
	SA_ATTR_SERVICE_ASSOCIATION_RECORD = 0x003b,
	SA_ATTR_INFORM_INFO_RECORD = 0x00f3,
};

/*
 * Offsets from the start of the MAD: the common header and RMPP's come before, SA records follow at
 * SA_DATA.
 */
#define MAD_L_sa_hdr(F)                               \
	F(sa_hdr, sm_key, 0x120, 64, LAYOUT_HEX)      \
	F(sa_hdr, attr_offset, 0x160, 16, LAYOUT_HEX) \
	F(sa_hdr, comp_mask, 0x180, 64, LAYOUT_HEX)
LAYOUT(sa_hdr, 56, MAD_L_sa_hdr)
enum { SA_DATA = 56, SA_DATA_SIZE = 200 };

/* Meaning of a selector and its value: MTU, rate, life time. */
enum sa_selector { SA_SEL_GREATER = 0, SA_SEL_LESS = 1, SA_SEL_EXACTLY = 2, SA_SEL_LARGEST = 3 };

/* NodeDescription follows at NODE_RECORD_DESC. */
#define MAD_L_node_record(F, S)       \
	F(node_record, lid, 0x00, 16) \
	S(node_record, node_info, node_info, 0x04)
LAYOUT_NEST(node_record, 112, MAD_L_node_record)
enum { NODE_RECORD_DESC = 44 };

#define MAD_L_port_info_record(F, S)                      \
	F(port_info_record, lid, 0x00, 16)                \
	F(port_info_record, port_num, 0x10, 8)            \
	F(port_info_record, options, 0x18, 8, LAYOUT_HEX) \
	S(port_info_record, port_info, port_info, 0x04)
LAYOUT_NEST(port_info_record, 72, MAD_L_port_info_record)

#define MAD_L_switch_info_record(F, S)       \
	F(switch_info_record, lid, 0x00, 16) \
	S(switch_info_record, switch_info, switch_info, 0x04)
LAYOUT_NEST(switch_info_record, 24, MAD_L_switch_info_record)

#define MAD_L_sm_info_record(F, S)       \
	F(sm_info_record, lid, 0x00, 16) \
	S(sm_info_record, sm_info, sm_info, 0x04)
LAYOUT_NEST(sm_info_record, 32, MAD_L_sm_info_record)

#define MAD_L_guid_info_record(F, S)            \
	F(guid_info_record, lid, 0x00, 16)      \
	F(guid_info_record, block_num, 0x10, 8) \
	S(guid_info_record, guid_info, guid_info, 0x08)
LAYOUT_NEST(guid_info_record, 72, MAD_L_guid_info_record)

#define MAD_L_pkey_table_record(F, S)             \
	F(pkey_table_record, lid, 0x00, 16)       \
	F(pkey_table_record, block_num, 0x10, 16) \
	F(pkey_table_record, port_num, 0x20, 8)   \
	S(pkey_table_record, pkey_table, pkey_table, 0x08)
LAYOUT_NEST(pkey_table_record, 72, MAD_L_pkey_table_record)

#define MAD_L_sl2vl_record(F, S)               \
	F(sl2vl_record, lid, 0x00, 16)         \
	F(sl2vl_record, in_port_num, 0x10, 8)  \
	F(sl2vl_record, out_port_num, 0x18, 8) \
	S(sl2vl_record, sl2vl, sl2vl, 0x08)
LAYOUT_NEST(sl2vl_record, 16, MAD_L_sl2vl_record)

#define MAD_L_vl_arb_record(F, S)            \
	F(vl_arb_record, lid, 0x00, 16)      \
	F(vl_arb_record, port_num, 0x10, 8)  \
	F(vl_arb_record, block_num, 0x18, 8) \
	S(vl_arb_record, vl_arb, vl_arb, 0x08)
LAYOUT_NEST(vl_arb_record, 72, MAD_L_vl_arb_record)

#define MAD_L_lft_record(F, S)             \
	F(lft_record, lid, 0x00, 16)       \
	F(lft_record, block_num, 0x10, 16) \
	S(lft_record, lft_block, lft_block, 0x08)
LAYOUT_NEST(lft_record, 72, MAD_L_lft_record)

#define MAD_L_mft_record(F, S)            \
	F(mft_record, lid, 0x00, 16)      \
	F(mft_record, position, 0x10, 4)  \
	F(mft_record, block_num, 0x17, 9) \
	S(mft_record, mft_block, mft_block, 0x08)
LAYOUT_NEST(mft_record, 72, MAD_L_mft_record)

#define MAD_L_inform_info_record(F, S)                      \
	S(inform_info_record, subscriber_gid, ib_gid, 0x00) \
	F(inform_info_record, subscriber_enum, 0x80, 16)    \
	S(inform_info_record, inform_info, inform_info, 0x18)
LAYOUT_NEST(inform_info_record, 64, MAD_L_inform_info_record)

#define MAD_L_link_record(F)               \
	F(link_record, from_lid, 0x00, 16) \
	F(link_record, from_port, 0x10, 8) \
	F(link_record, to_port, 0x18, 8)   \
	F(link_record, to_lid, 0x20, 16)
LAYOUT(link_record, 8, MAD_L_link_record)

#define MAD_L_path_record(F, S)                                         \
	F(path_record, service_id, 0x00, 64, LAYOUT_HEX)                \
	S(path_record, dgid, ib_gid, 0x08)                              \
	S(path_record, sgid, ib_gid, 0x18)                              \
	F(path_record, dlid, 0x140, 16)                                 \
	F(path_record, slid, 0x150, 16)                                 \
	F(path_record, raw_traffic, 0x160, 1)                           \
	F(path_record, flow_label, 0x164, 20, LAYOUT_HEX)               \
	F(path_record, hop_limit, 0x178, 8)                             \
	F(path_record, tclass, 0x180, 8)                                \
	F(path_record, reversible, 0x188, 1)                            \
	F(path_record, numb_path, 0x189, 7)                             \
	F(path_record, pkey, 0x190, 16, LAYOUT_HEX)                     \
	F(path_record, qos_class, 0x1a0, 12)                            \
	F(path_record, sl, 0x1ac, 4)                                    \
	F(path_record, mtu_selector, 0x1b0, 2, LAYOUT_HEX)              \
	F(path_record, mtu, 0x1b2, 6)                                   \
	F(path_record, rate_selector, 0x1b8, 2, LAYOUT_HEX)             \
	F(path_record, rate, 0x1ba, 6)                                  \
	F(path_record, packet_life_time_selector, 0x1c0, 2, LAYOUT_HEX) \
	F(path_record, packet_life_time, 0x1c2, 6)                      \
	F(path_record, preference, 0x1c8, 8)
LAYOUT_NEST(path_record, 64, MAD_L_path_record)

#define MAD_L_mc_member_record(F, S)                                         \
	S(mc_member_record, mgid, ib_gid, 0x00)                              \
	S(mc_member_record, port_gid, ib_gid, 0x10)                          \
	F(mc_member_record, qkey, 0x100, 32, LAYOUT_HEX)                     \
	F(mc_member_record, mlid, 0x120, 16, LAYOUT_HEX)                     \
	F(mc_member_record, mtu_selector, 0x130, 2, LAYOUT_HEX)              \
	F(mc_member_record, mtu, 0x132, 6)                                   \
	F(mc_member_record, tclass, 0x138, 8)                                \
	F(mc_member_record, pkey, 0x140, 16, LAYOUT_HEX)                     \
	F(mc_member_record, rate_selector, 0x150, 2, LAYOUT_HEX)             \
	F(mc_member_record, rate, 0x152, 6)                                  \
	F(mc_member_record, packet_life_time_selector, 0x158, 2, LAYOUT_HEX) \
	F(mc_member_record, packet_life_time, 0x15a, 6)                      \
	F(mc_member_record, sl, 0x160, 4)                                    \
	F(mc_member_record, flow_label, 0x164, 20, LAYOUT_HEX)               \
	F(mc_member_record, hop_limit, 0x178, 8)                             \
	F(mc_member_record, scope, 0x180, 4)                                 \
	F(mc_member_record, join_state, 0x184, 4)                            \
	F(mc_member_record, proxy_join, 0x188, 1)
LAYOUT_NEST(mc_member_record, 56, MAD_L_mc_member_record)
enum sa_join_state {
	SA_JOIN_FULL = 1,
	SA_JOIN_NON = 2,
	SA_JOIN_SEND_ONLY = 4,
	SA_JOIN_SEND_ONLY_FULL = 8
};

/* The name of 64 bytes is at SERVICE_RECORD_NAME. The key has 16 bytes and the layout of a GID. */
#define MAD_L_service_record(F, S)                           \
	F(service_record, service_id, 0x00, 64, LAYOUT_HEX)  \
	S(service_record, gid, ib_gid, 0x08)                 \
	F(service_record, pkey, 0xc0, 16, LAYOUT_HEX)        \
	F(service_record, lease, 0xe0, 32)                   \
	S(service_record, key, ib_gid, 0x20)                 \
	LAYOUT_REP16(F, service_record, data8, 896, 8, 8)    \
	LAYOUT_REP8(F, service_record, data16, 1024, 16, 16) \
	F(service_record, data32_0, 0x480, 32)               \
	F(service_record, data32_1, 0x4a0, 32)               \
	F(service_record, data32_2, 0x4c0, 32)               \
	F(service_record, data32_3, 0x4e0, 32)               \
	F(service_record, data64_0, 0x500, 64)               \
	F(service_record, data64_1, 0x540, 64)
LAYOUT_NEST(service_record, 176, MAD_L_service_record)
LAYOUT_ITEMS(service_record, data8, 16)
LAYOUT_ITEMS(service_record, data16, 8)
enum { SERVICE_RECORD_NAME = 48, SERVICE_RECORD_NAME_SIZE = 64, SERVICE_RECORD_KEY = 32 };

/* sgid_count + dgid_count GIDs follow it. */
#define MAD_L_multi_path_record(F)                                           \
	F(multi_path_record, raw_traffic, 0x00, 1)                           \
	F(multi_path_record, flow_label, 0x04, 20, LAYOUT_HEX)               \
	F(multi_path_record, hop_limit, 0x18, 8)                             \
	F(multi_path_record, tclass, 0x20, 8)                                \
	F(multi_path_record, reversible, 0x28, 1)                            \
	F(multi_path_record, numb_path, 0x29, 7)                             \
	F(multi_path_record, pkey, 0x30, 16, LAYOUT_HEX)                     \
	F(multi_path_record, qos_class, 0x40, 12)                            \
	F(multi_path_record, sl, 0x4c, 4)                                    \
	F(multi_path_record, mtu_selector, 0x50, 2, LAYOUT_HEX)              \
	F(multi_path_record, mtu, 0x52, 6)                                   \
	F(multi_path_record, rate_selector, 0x58, 2, LAYOUT_HEX)             \
	F(multi_path_record, rate, 0x5a, 6)                                  \
	F(multi_path_record, packet_life_time_selector, 0x60, 2, LAYOUT_HEX) \
	F(multi_path_record, packet_life_time, 0x62, 6)                      \
	F(multi_path_record, service_id_msb, 0x68, 8, LAYOUT_HEX)            \
	F(multi_path_record, independence_selector, 0x70, 2, LAYOUT_HEX)     \
	F(multi_path_record, sgid_count, 0x78, 8)                            \
	F(multi_path_record, dgid_count, 0x80, 8)                            \
	F(multi_path_record, service_id_lsb_hi, 0x88, 24, LAYOUT_HEX)        \
	F(multi_path_record, service_id_lsb_lo, 0xa0, 32, LAYOUT_HEX)
LAYOUT(multi_path_record, 24, MAD_L_multi_path_record)
enum { MULTI_PATH_GIDS = 24 };

#define MAD_SA_LAYOUTS(X)       \
	X(sa_hdr, MAD_L_sa_hdr) \
	X(link_record, MAD_L_link_record) X(multi_path_record, MAD_L_multi_path_record)

/* One row per layout. */
/* clang-format off */
#define MAD_SA_NEST_LAYOUTS(X) \
	X(node_record, MAD_L_node_record) \
	X(port_info_record, MAD_L_port_info_record) \
	X(switch_info_record, MAD_L_switch_info_record) \
	X(sm_info_record, MAD_L_sm_info_record) \
	X(guid_info_record, MAD_L_guid_info_record) \
	X(pkey_table_record, MAD_L_pkey_table_record) \
	X(sl2vl_record, MAD_L_sl2vl_record) \
	X(vl_arb_record, MAD_L_vl_arb_record) \
	X(lft_record, MAD_L_lft_record) \
	X(mft_record, MAD_L_mft_record) \
	X(inform_info_record, MAD_L_inform_info_record) \
	X(path_record, MAD_L_path_record) \
	X(mc_member_record, MAD_L_mc_member_record) \
	X(service_record, MAD_L_service_record)
/* clang-format on */

#endif
