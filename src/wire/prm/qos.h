/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Quality of service: capability group 0xc, packet pacing, scheduling elements. */
#ifndef SOFTHCA_WIRE_PRM_QOS_H
#define SOFTHCA_WIRE_PRM_QOS_H

#include "wire/prm/cmd_hdr.h"

#define PRM_L_qos_cap(F, S)                                 \
	F(qos_cap, packet_pacing, 0x00, 1)                  \
	F(qos_cap, esw_scheduling, 0x01, 1)                 \
	F(qos_cap, esw_bw_share, 0x02, 1)                   \
	F(qos_cap, esw_rate_limit, 0x03, 1)                 \
	F(qos_cap, packet_pacing_burst_bound, 0x05, 1)      \
	F(qos_cap, packet_pacing_typical_size, 0x06, 1)     \
	F(qos_cap, nic_sq_scheduling, 0x08, 1)              \
	F(qos_cap, nic_bw_share, 0x09, 1)                   \
	F(qos_cap, nic_rate_limit, 0x0a, 1)                 \
	F(qos_cap, packet_pacing_uid, 0x0b, 1)              \
	F(qos_cap, log_esw_max_sched_depth, 0x0c, 4)        \
	F(qos_cap, nic_qp_scheduling, 0x21, 1)              \
	F(qos_cap, log_max_qos_nic_queue_group, 0x2b, 5)    \
	F(qos_cap, packet_pacing_max_rate, 0x40, 32)        \
	F(qos_cap, packet_pacing_min_rate, 0x60, 32)        \
	F(qos_cap, packet_pacing_rate_table_size, 0x90, 16) \
	F(qos_cap, esw_element_type, 0xa0, 16)              \
	F(qos_cap, esw_tsar_type, 0xb0, 16)                 \
	F(qos_cap, max_qos_para_vport, 0xd0, 16)            \
	F(qos_cap, max_tsar_bw_share, 0xe0, 32)             \
	F(qos_cap, nic_element_type, 0x100, 16)             \
	F(qos_cap, nic_tsar_type, 0x110, 16)

/* Rates in kbit/s, bounds and sizes in bytes. */
#define PRM_L_set_pp_rate_limit_context(F, S)                     \
	F(set_pp_rate_limit_context, rate_limit, 0x00, 32)        \
	F(set_pp_rate_limit_context, burst_upper_bound, 0x20, 32) \
	F(set_pp_rate_limit_context, typical_packet_size, 0x50, 16)

#define PRM_L_set_pp_rate_limit_in(F, S)                    \
	PRM_CMD_IN(F, set_pp_rate_limit_in)                 \
	F(set_pp_rate_limit_in, rate_limit_index, 0x50, 16) \
	S(set_pp_rate_limit_in, ctx, set_pp_rate_limit_context, 0x10)

#define PRM_L_set_pp_rate_limit_out(F, S) PRM_CMD_OUT(F, set_pp_rate_limit_out)

#define PRM_L_scheduling_context(F, S)                     \
	F(scheduling_context, element_type, 0x00, 8)       \
	F(scheduling_context, tsar_type, 0x28, 8)          \
	F(scheduling_context, parent_element_id, 0x40, 32) \
	F(scheduling_context, bw_share, 0xa0, 32)          \
	F(scheduling_context, max_average_bw, 0xc0, 32)

#define PRM_L_create_scheduling_element_in(F, S)                       \
	PRM_CMD_IN(F, create_scheduling_element_in)                    \
	F(create_scheduling_element_in, scheduling_hierarchy, 0x40, 8) \
	S(create_scheduling_element_in, scheduling_context, scheduling_context, 0x20)

#define PRM_L_create_scheduling_element_out(F, S)     \
	PRM_CMD_OUT(F, create_scheduling_element_out) \
	F(create_scheduling_element_out, scheduling_element_id, 0x80, 32)

#define PRM_L_query_scheduling_element_in(F, S)                       \
	PRM_CMD_IN(F, query_scheduling_element_in)                    \
	F(query_scheduling_element_in, scheduling_hierarchy, 0x40, 8) \
	F(query_scheduling_element_in, scheduling_element_id, 0x60, 32)

#define PRM_L_query_scheduling_element_out(F, S)     \
	PRM_CMD_OUT(F, query_scheduling_element_out) \
	S(query_scheduling_element_out, scheduling_context, scheduling_context, 0x20)

enum { /* modify_bitmask, and sched_elem.modify_field_select */
       PRM_SCHED_BW_SHARE = 1 << 0,
       PRM_SCHED_MAX_AVERAGE_BW = 1 << 1,
};

#define PRM_L_modify_scheduling_element_in(F, S)                         \
	PRM_CMD_IN(F, modify_scheduling_element_in)                      \
	F(modify_scheduling_element_in, scheduling_hierarchy, 0x40, 8)   \
	F(modify_scheduling_element_in, scheduling_element_id, 0x60, 32) \
	F(modify_scheduling_element_in, modify_bitmask, 0xa0, 32)        \
	S(modify_scheduling_element_in, scheduling_context, scheduling_context, 0x20)

#define PRM_L_modify_scheduling_element_out(F, S) PRM_CMD_OUT(F, modify_scheduling_element_out)

#define PRM_L_destroy_scheduling_element_in(F, S)                       \
	PRM_CMD_IN(F, destroy_scheduling_element_in)                    \
	F(destroy_scheduling_element_in, scheduling_hierarchy, 0x40, 8) \
	F(destroy_scheduling_element_in, scheduling_element_id, 0x60, 32)

#define PRM_L_destroy_scheduling_element_out(F, S) PRM_CMD_OUT(F, destroy_scheduling_element_out)

#define PRM_LAYOUTS_QOS(X)                      \
	X(scheduling_context, 0x40)             \
	X(create_scheduling_element_in, 0x80)   \
	X(create_scheduling_element_out, 0x40)  \
	X(query_scheduling_element_in, 0x40)    \
	X(query_scheduling_element_out, 0x80)   \
	X(modify_scheduling_element_in, 0x80)   \
	X(modify_scheduling_element_out, 0x10)  \
	X(destroy_scheduling_element_in, 0x40)  \
	X(destroy_scheduling_element_out, 0x10) \
	X(qos_cap, 0x100)                       \
	X(set_pp_rate_limit_context, 0x30)      \
	X(set_pp_rate_limit_in, 0x40)           \
	X(set_pp_rate_limit_out, 0x10)

PRM_LAYOUTS_QOS(PRM_LAYOUT)

#define PRM_V_SCHED_HIERARCHY(V)           \
	V(PRM_SCHED_HIERARCHY, ESWITCH, 2) \
	V(PRM_SCHED_HIERARCHY, NIC, 3)
LAYOUT_ENUM(prm_sched_hierarchy, PRM_V_SCHED_HIERARCHY)

#define PRM_V_SCHED_ELEM(V)                 \
	V(PRM_SCHED_ELEM, TSAR, 0)          \
	V(PRM_SCHED_ELEM, VPORT, 1)         \
	V(PRM_SCHED_ELEM, VPORT_TC, 2)      \
	V(PRM_SCHED_ELEM, PARA_VPORT_TC, 3) \
	V(PRM_SCHED_ELEM, QUEUE_GROUP, 4)
LAYOUT_ENUM(prm_sched_elem, PRM_V_SCHED_ELEM)

#define PRM_V_TSAR(V)               \
	V(PRM_TSAR, DWRR, 0)        \
	V(PRM_TSAR, ROUND_ROBIN, 1) \
	V(PRM_TSAR, ETS, 2)
LAYOUT_ENUM(prm_tsar, PRM_V_TSAR)

#define PRM_NAMED_QOS(N)                                                              \
	N(create_scheduling_element_in, scheduling_hierarchy, PRM_V_SCHED_HIERARCHY)  \
	N(query_scheduling_element_in, scheduling_hierarchy, PRM_V_SCHED_HIERARCHY)   \
	N(modify_scheduling_element_in, scheduling_hierarchy, PRM_V_SCHED_HIERARCHY)  \
	N(destroy_scheduling_element_in, scheduling_hierarchy, PRM_V_SCHED_HIERARCHY) \
	N(scheduling_context, element_type, PRM_V_SCHED_ELEM)                         \
	N(scheduling_context, tsar_type, PRM_V_TSAR)

#endif
