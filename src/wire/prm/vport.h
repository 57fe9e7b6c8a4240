/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The firmware's view of ports: HCA vport context, vport state, LAG. */
#ifndef SOFTHCA_WIRE_PRM_VPORT_H
#define SOFTHCA_WIRE_PRM_VPORT_H

#include "wire/ib/port.h"
#include "wire/prm/cmd_hdr.h"

#define PRM_L_hca_vport_context(F, S)                           \
	F(hca_vport_context, field_select, 0x00, 32)            \
	F(hca_vport_context, sm_virt_aware, 0x100, 1)           \
	F(hca_vport_context, has_smi, 0x101, 1)                 \
	F(hca_vport_context, has_raw, 0x102, 1)                 \
	F(hca_vport_context, grh_required, 0x103, 1)            \
	F(hca_vport_context, port_physical_state, 0x110, 4)     \
	F(hca_vport_context, vport_state_policy, 0x114, 4)      \
	F(hca_vport_context, port_state, 0x118, 4)              \
	F(hca_vport_context, vport_state, 0x11c, 4)             \
	F(hca_vport_context, system_image_guid, 0x140, 64)      \
	F(hca_vport_context, port_guid, 0x180, 64)              \
	F(hca_vport_context, node_guid, 0x1c0, 64)              \
	F(hca_vport_context, cap_mask1, 0x200, 32)              \
	F(hca_vport_context, cap_mask1_field_select, 0x220, 32) \
	F(hca_vport_context, cap_mask2, 0x240, 32)              \
	F(hca_vport_context, cap_mask2_field_select, 0x260, 32) \
	F(hca_vport_context, lid, 0x300, 16)                    \
	F(hca_vport_context, init_type_reply, 0x314, 4)         \
	F(hca_vport_context, lmc, 0x318, 3)                     \
	F(hca_vport_context, subnet_timeout, 0x31b, 5)          \
	F(hca_vport_context, sm_lid, 0x320, 16)                 \
	F(hca_vport_context, sm_sl, 0x330, 4)                   \
	F(hca_vport_context, qkey_violation_counter, 0x340, 16) \
	F(hca_vport_context, pkey_violation_counter, 0x350, 16)

#define PRM_L_query_hca_vport_context_in(F, S)              \
	PRM_CMD_IN(F, query_hca_vport_context_in)           \
	F(query_hca_vport_context_in, other_vport, 0x40, 1) \
	F(query_hca_vport_context_in, port_num, 0x4c, 4)    \
	F(query_hca_vport_context_in, vport_number, 0x50, 16)

#define PRM_L_query_hca_vport_context_out(F, S)     \
	PRM_CMD_OUT(F, query_hca_vport_context_out) \
	S(query_hca_vport_context_out, hca_vport_context, hca_vport_context, 0x10)

#define PRM_L_query_vport_state_in(F, S)              \
	PRM_CMD_IN(F, query_vport_state_in)           \
	F(query_vport_state_in, other_vport, 0x40, 1) \
	F(query_vport_state_in, vport_number, 0x50, 16)

#define PRM_L_query_vport_state_out(F, S)              \
	PRM_CMD_OUT(F, query_vport_state_out)          \
	F(query_vport_state_out, admin_state, 0x78, 4) \
	F(query_vport_state_out, state, 0x7c, 4)

#define PRM_L_lagc(F, S)                      \
	F(lagc, fdb_selection_mode, 0x00, 1)  \
	F(lagc, port_select_mode, 0x15, 3)    \
	F(lagc, lag_state, 0x1d, 3)           \
	F(lagc, active_port, 0x2c, 4)         \
	F(lagc, tx_remap_affinity_2, 0x34, 4) \
	F(lagc, tx_remap_affinity_1, 0x3c, 4)

#define PRM_L_query_lag_in(F, S) PRM_CMD_IN(F, query_lag_in)

#define PRM_L_query_lag_out(F, S)     \
	PRM_CMD_OUT(F, query_lag_out) \
	S(query_lag_out, ctx, lagc, 0x08)

#define PRM_L_traffic_counter(F, S)           \
	F(traffic_counter, packets, 0x00, 64) \
	F(traffic_counter, octets, 0x40, 64)

#define PRM_L_query_vport_counter_in(F, S)                \
	PRM_CMD_IN(F, query_vport_counter_in)             \
	F(query_vport_counter_in, other_vport, 0x40, 1)   \
	F(query_vport_counter_in, port_num, 0x4c, 4)      \
	F(query_vport_counter_in, vport_number, 0x50, 16) \
	F(query_vport_counter_in, clear, 0xc0, 1)
/* The unnamed places are counters of errors, multicast and Ethernet, which stay 0. */
#define PRM_L_query_vport_counter_out(F, S)                                    \
	PRM_CMD_OUT(F, query_vport_counter_out)                                \
	S(query_vport_counter_out, received_ib_unicast, traffic_counter, 0x30) \
	S(query_vport_counter_out, transmitted_ib_unicast, traffic_counter, 0x40)

#define PRM_L_query_vnic_env_in(F, S)              \
	PRM_CMD_IN(F, query_vnic_env_in)           \
	F(query_vnic_env_in, other_vport, 0x40, 1) \
	F(query_vnic_env_in, vport_number, 0x50, 16)

/* Each of its counters has its own capability, which is off: they read 0. */
#define PRM_L_query_vnic_env_out(F, S) PRM_CMD_OUT(F, query_vnic_env_out)

#define PRM_L_mac_address_layout(F, S)                  \
	F(mac_address_layout, mac_addr_47_32, 0x10, 16) \
	F(mac_address_layout, mac_addr_31_0, 0x20, 32)

/* The allowed list follows the context, a mac_address_layout for each entry. */
#define PRM_L_nic_vport_context(F, S)                           \
	F(nic_vport_context, min_wqe_inline_mode, 0x05, 3)      \
	F(nic_vport_context, disable_mc_local_lb, 0x1d, 1)      \
	F(nic_vport_context, disable_uc_local_lb, 0x1e, 1)      \
	F(nic_vport_context, roce_en, 0x1f, 1)                  \
	F(nic_vport_context, mtu, 0x130, 16)                    \
	F(nic_vport_context, system_image_guid, 0x140, 64)      \
	F(nic_vport_context, port_guid, 0x180, 64)              \
	F(nic_vport_context, node_guid, 0x1c0, 64)              \
	F(nic_vport_context, qkey_violation_counter, 0x340, 16) \
	F(nic_vport_context, promisc_uc, 0x780, 1)              \
	F(nic_vport_context, promisc_mc, 0x781, 1)              \
	F(nic_vport_context, promisc_all, 0x782, 1)             \
	F(nic_vport_context, allowed_list_type, 0x785, 3)       \
	F(nic_vport_context, allowed_list_size, 0x794, 12)      \
	S(nic_vport_context, permanent_address, mac_address_layout, 0xf4)

#define PRM_L_query_nic_vport_context_in(F, S)                \
	PRM_CMD_IN(F, query_nic_vport_context_in)             \
	F(query_nic_vport_context_in, other_vport, 0x40, 1)   \
	F(query_nic_vport_context_in, vport_number, 0x50, 16) \
	F(query_nic_vport_context_in, allowed_list_type, 0x65, 3)

#define PRM_L_query_nic_vport_context_out(F, S)     \
	PRM_CMD_OUT(F, query_nic_vport_context_out) \
	S(query_nic_vport_context_out, nic_vport_context, nic_vport_context, 0x10)

#define PRM_L_vlan_layout(F, S) F(vlan_layout, vlan, 0x14, 12)

#define PRM_L_roce_addr_layout(F, S)                          \
	S(roce_addr_layout, source_l3_address, prm_gid, 0x00) \
	F(roce_addr_layout, vlan_valid, 0x83, 1)              \
	F(roce_addr_layout, vlan_id, 0x84, 12)                \
	F(roce_addr_layout, source_mac_47_32, 0x90, 16)       \
	F(roce_addr_layout, source_mac_31_0, 0xa0, 32)        \
	F(roce_addr_layout, roce_l3_type, 0xd4, 4)            \
	F(roce_addr_layout, roce_version, 0xd8, 8)

#define PRM_L_query_roce_address_in(F, S)                      \
	PRM_CMD_IN(F, query_roce_address_in)                   \
	F(query_roce_address_in, roce_address_index, 0x40, 16) \
	F(query_roce_address_in, vhca_port_num, 0x5c, 4)

#define PRM_L_query_roce_address_out(F, S)     \
	PRM_CMD_OUT(F, query_roce_address_out) \
	S(query_roce_address_out, roce_address, roce_addr_layout, 0x10)

#define PRM_LAYOUTS_VPORT(X)                  \
	X(roce_addr_layout, 0x20)             \
	X(vlan_layout, 0x08)                  \
	X(query_roce_address_in, 0x10)        \
	X(query_roce_address_out, 0x30)       \
	X(mac_address_layout, 0x08)           \
	X(traffic_counter, 0x10)              \
	X(query_vport_counter_in, 0x20)       \
	X(query_vport_counter_out, 0x210)     \
	X(query_vnic_env_in, 0x10)            \
	X(query_vnic_env_out, 0x210)          \
	X(nic_vport_context, 0x100)           \
	X(query_nic_vport_context_in, 0x10)   \
	X(query_nic_vport_context_out, 0x110) \
	X(hca_vport_context, 0x200)           \
	X(query_hca_vport_context_in, 0x10)   \
	X(query_hca_vport_context_out, 0x210) \
	X(query_vport_state_in, 0x10)         \
	X(query_vport_state_out, 0x10)        \
	X(lagc, 0x08)                         \
	X(query_lag_in, 0x10)                 \
	X(query_lag_out, 0x10)

PRM_LAYOUTS_VPORT(PRM_LAYOUT)

/* vport_state_policy and query_vport_state_out.admin_state; .state has the first two. */
#define PRM_V_VPORT_STATE(V)  \
	V(PRM_VPORT, DOWN, 0) \
	V(PRM_VPORT, UP, 1)   \
	V(PRM_VPORT, FOLLOW, 2)
LAYOUT_ENUM(prm_vport_state, PRM_V_VPORT_STATE)

/* MLX5_ROCE_VERSION_* and MLX5_ROCE_L3_TYPE_* of Linux' mlx5/device.h. */
#define PRM_V_ROCE_VERSION(V)     \
	V(PRM_ROCE_VERSION, 1, 0) \
	V(PRM_ROCE_VERSION, 2, 2)
LAYOUT_ENUM(prm_roce_version, PRM_V_ROCE_VERSION)

#define PRM_V_ROCE_L3(V)        \
	V(PRM_ROCE_L3, IPV4, 0) \
	V(PRM_ROCE_L3, IPV6, 1)
LAYOUT_ENUM(prm_roce_l3, PRM_V_ROCE_L3)

#define PRM_V_ALLOWED_LIST(V)      \
	V(PRM_ALLOWED_LIST, UC, 0) \
	V(PRM_ALLOWED_LIST, MC, 1) \
	V(PRM_ALLOWED_LIST, VLAN, 2)
LAYOUT_ENUM(prm_allowed_list, PRM_V_ALLOWED_LIST)

#define PRM_NAMED_VPORT(N)                                          \
	N(hca_vport_context, port_physical_state, IB_V_PHYS_STATE)  \
	N(hca_vport_context, vport_state_policy, PRM_V_VPORT_STATE) \
	N(hca_vport_context, port_state, IB_V_PORT_STATE)           \
	N(hca_vport_context, vport_state, IB_V_PORT_STATE)          \
	N(query_vport_state_out, admin_state, PRM_V_VPORT_STATE)    \
	N(query_vport_state_out, state, PRM_V_VPORT_STATE)          \
	N(roce_addr_layout, roce_version, PRM_V_ROCE_VERSION)       \
	N(roce_addr_layout, roce_l3_type, PRM_V_ROCE_L3)            \
	N(nic_vport_context, allowed_list_type, PRM_V_ALLOWED_LIST)

#endif
