/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Objects for raw packets: transport domains, RQ, SQ, RQT, TIR, TIS. */
#ifndef SOFTHCA_WIRE_PRM_RAW_H
#define SOFTHCA_WIRE_PRM_RAW_H

#include "wire/prm/rmp_srq.h"

#define PRM_L_alloc_transport_domain_in(F, S) PRM_CMD_IN(F, alloc_transport_domain_in)

#define PRM_L_alloc_transport_domain_out(F, S)     \
	PRM_CMD_OUT(F, alloc_transport_domain_out) \
	F(alloc_transport_domain_out, transport_domain, 0x48, 24)

#define PRM_L_dealloc_transport_domain_in(F, S)    \
	PRM_CMD_IN(F, dealloc_transport_domain_in) \
	F(dealloc_transport_domain_in, transport_domain, 0x48, 24)

#define PRM_L_dealloc_transport_domain_out(F, S) PRM_CMD_OUT(F, dealloc_transport_domain_out)

/* ---- receive queue */

#define PRM_L_rqc(F, S)                    \
	F(rqc, rlky, 0x00, 1)              \
	F(rqc, delay_drop_en, 0x01, 1)     \
	F(rqc, scatter_fcs, 0x02, 1)       \
	F(rqc, vsd, 0x03, 1)               \
	F(rqc, mem_rq_type, 0x04, 4)       \
	F(rqc, state, 0x08, 4)             \
	F(rqc, flush_in_error_en, 0x0d, 1) \
	F(rqc, hairpin, 0x0e, 1)           \
	F(rqc, ts_format, 0x1a, 2)         \
	F(rqc, user_index, 0x28, 24)       \
	F(rqc, cqn, 0x48, 24)              \
	F(rqc, counter_set_id, 0x60, 8)    \
	F(rqc, rmpn, 0x88, 24)             \
	S(rqc, wq, wq, 0x30)

#define PRM_L_create_rq_in(F, S)    \
	PRM_CMD_IN(F, create_rq_in) \
	S(create_rq_in, ctx, rqc, 0x20)

#define PRM_L_create_rq_out(F, S)     \
	PRM_CMD_OUT(F, create_rq_out) \
	F(create_rq_out, rqn, 0x48, 24)

#define PRM_L_query_rq_in(F, S)    \
	PRM_CMD_IN(F, query_rq_in) \
	F(query_rq_in, rqn, 0x48, 24)

#define PRM_L_query_rq_out(F, S)     \
	PRM_CMD_OUT(F, query_rq_out) \
	S(query_rq_out, rq_context, rqc, 0x20)

enum { /* modify_rq_in.modify_bitmask */
       PRM_RQ_MODIFY_LWM = 1 << 0,
       PRM_RQ_MODIFY_VSD = 1 << 1,
       PRM_RQ_MODIFY_SCATTER_FCS = 1 << 2,
       PRM_RQ_MODIFY_COUNTER_SET_ID = 1 << 3,
};

#define PRM_L_modify_rq_in(F, S)                  \
	PRM_CMD_IN(F, modify_rq_in)               \
	F(modify_rq_in, rq_state, 0x40, 4)        \
	F(modify_rq_in, rqn, 0x48, 24)            \
	F(modify_rq_in, modify_bitmask, 0x80, 64) \
	S(modify_rq_in, ctx, rqc, 0x20)

#define PRM_L_modify_rq_out(F, S) PRM_CMD_OUT(F, modify_rq_out)

#define PRM_L_destroy_rq_in(F, S)    \
	PRM_CMD_IN(F, destroy_rq_in) \
	F(destroy_rq_in, rqn, 0x48, 24)

#define PRM_L_destroy_rq_out(F, S) PRM_CMD_OUT(F, destroy_rq_out)

#define PRM_L_arm_rq_in(F, S)              \
	PRM_CMD_IN(F, arm_rq_in)           \
	F(arm_rq_in, srq_number, 0x48, 24) \
	F(arm_rq_in, lwm, 0x70, 16)

/* op_mod: what srq_number names */
enum { PRM_ARM_RQ_SRQ = 1, PRM_ARM_RQ_XRQ = 2 };

#define PRM_L_arm_rq_out(F, S) PRM_CMD_OUT(F, arm_rq_out)

/* ---- table of receive queues; rq_num[rqt_actual_size] follows the context, 32 bits each */

#define PRM_L_rqtc(F, S)                    \
	F(rqtc, list_q_type, 0xa5, 3)       \
	F(rqtc, rqt_max_size, 0xb0, 16)     \
	F(rqtc, rq_vhca_id_format, 0xc0, 1) \
	F(rqtc, rqt_actual_size, 0xd0, 16)

#define PRM_L_rqt_bitmask(F, S) F(rqt_bitmask, rqn_list, 0x3f, 1)

#define PRM_L_rq_num(F, S) F(rq_num, rq_num, 0x08, 24)

#define PRM_L_create_rqt_in(F, S)    \
	PRM_CMD_IN(F, create_rqt_in) \
	S(create_rqt_in, rqt_context, rqtc, 0x20)

#define PRM_L_create_rqt_out(F, S)     \
	PRM_CMD_OUT(F, create_rqt_out) \
	F(create_rqt_out, rqtn, 0x48, 24)

#define PRM_L_query_rqt_in(F, S)    \
	PRM_CMD_IN(F, query_rqt_in) \
	F(query_rqt_in, rqtn, 0x48, 24)

#define PRM_L_query_rqt_out(F, S)     \
	PRM_CMD_OUT(F, query_rqt_out) \
	S(query_rqt_out, rqt_context, rqtc, 0x20)

#define PRM_L_modify_rqt_in(F, S)                    \
	PRM_CMD_IN(F, modify_rqt_in)                 \
	F(modify_rqt_in, rqtn, 0x48, 24)             \
	S(modify_rqt_in, bitmask, rqt_bitmask, 0x10) \
	S(modify_rqt_in, ctx, rqtc, 0x20)

#define PRM_L_modify_rqt_out(F, S) PRM_CMD_OUT(F, modify_rqt_out)

#define PRM_L_destroy_rqt_in(F, S)    \
	PRM_CMD_IN(F, destroy_rqt_in) \
	F(destroy_rqt_in, rqtn, 0x48, 24)

#define PRM_L_destroy_rqt_out(F, S) PRM_CMD_OUT(F, destroy_rqt_out)

/* ---- transport interface receive */

#define PRM_L_rx_hash_field_select(F, S)               \
	F(rx_hash_field_select, l3_prot_type, 0x00, 1) \
	F(rx_hash_field_select, l4_prot_type, 0x01, 1) \
	F(rx_hash_field_select, selected_fields, 0x02, 30)

#define PRM_L_rx_hash_key(F, S)        \
	F(rx_hash_key, key0, 0x00, 64) \
	F(rx_hash_key, key1, 0x40, 64) \
	F(rx_hash_key, key2, 0x80, 64) \
	F(rx_hash_key, key3, 0xc0, 64) \
	F(rx_hash_key, key4, 0x100, 64)

#define PRM_L_tirc(F, S)                                                  \
	F(tirc, disp_type, 0x20, 4)                                       \
	F(tirc, tls_en, 0x24, 1)                                          \
	F(tirc, lro_timeout_period_usecs, 0x84, 16)                       \
	F(tirc, packet_merge_mask, 0x94, 4)                               \
	F(tirc, lro_max_ip_payload_size, 0x98, 8)                         \
	F(tirc, inline_rqn, 0xe8, 24)                                     \
	F(tirc, rx_hash_symmetric, 0x100, 1)                              \
	F(tirc, tunneled_offload_en, 0x102, 1)                            \
	F(tirc, indirect_table, 0x108, 24)                                \
	F(tirc, rx_hash_fn, 0x120, 4)                                     \
	F(tirc, self_lb_block, 0x126, 2)                                  \
	F(tirc, transport_domain, 0x128, 24)                              \
	S(tirc, rx_hash_toeplitz_key, rx_hash_key, 0x28)                  \
	S(tirc, rx_hash_field_selector_outer, rx_hash_field_select, 0x50) \
	S(tirc, rx_hash_field_selector_inner, rx_hash_field_select, 0x54)

#define PRM_L_modify_tir_bitmask(F, S)             \
	F(modify_tir_bitmask, self_lb_en, 0x3b, 1) \
	F(modify_tir_bitmask, hash, 0x3d, 1)       \
	F(modify_tir_bitmask, packet_merge, 0x3f, 1)

#define PRM_L_create_tir_in(F, S)    \
	PRM_CMD_IN(F, create_tir_in) \
	S(create_tir_in, ctx, tirc, 0x20)

#define PRM_L_create_tir_out(F, S)     \
	PRM_CMD_OUT(F, create_tir_out) \
	F(create_tir_out, tirn, 0x48, 24)

#define PRM_L_query_tir_in(F, S)    \
	PRM_CMD_IN(F, query_tir_in) \
	F(query_tir_in, tirn, 0x48, 24)

#define PRM_L_query_tir_out(F, S)     \
	PRM_CMD_OUT(F, query_tir_out) \
	S(query_tir_out, tir_context, tirc, 0x20)

#define PRM_L_modify_tir_in(F, S)                           \
	PRM_CMD_IN(F, modify_tir_in)                        \
	F(modify_tir_in, tirn, 0x48, 24)                    \
	S(modify_tir_in, bitmask, modify_tir_bitmask, 0x10) \
	S(modify_tir_in, ctx, tirc, 0x20)

#define PRM_L_modify_tir_out(F, S) PRM_CMD_OUT(F, modify_tir_out)

#define PRM_L_destroy_tir_in(F, S)    \
	PRM_CMD_IN(F, destroy_tir_in) \
	F(destroy_tir_in, tirn, 0x48, 24)

#define PRM_L_destroy_tir_out(F, S) PRM_CMD_OUT(F, destroy_tir_out)

/* ---- transport interface send */

#define PRM_L_tisc(F, S)                              \
	F(tisc, strict_lag_tx_port_affinity, 0x00, 1) \
	F(tisc, tls_en, 0x01, 1)                      \
	F(tisc, lag_tx_port_affinity, 0x04, 4)        \
	F(tisc, prio, 0x0c, 4)                        \
	F(tisc, transport_domain, 0x128, 24)          \
	F(tisc, underlay_qpn, 0x148, 24)              \
	F(tisc, pd, 0x168, 24)

#define PRM_L_modify_tis_bitmask(F, S)                              \
	F(modify_tis_bitmask, lag_tx_port_affinity, 0x3d, 1)        \
	F(modify_tis_bitmask, strict_lag_tx_port_affinity, 0x3e, 1) \
	F(modify_tis_bitmask, prio, 0x3f, 1)

#define PRM_L_create_tis_in(F, S)    \
	PRM_CMD_IN(F, create_tis_in) \
	S(create_tis_in, ctx, tisc, 0x20)

#define PRM_L_create_tis_out(F, S)     \
	PRM_CMD_OUT(F, create_tis_out) \
	F(create_tis_out, tisn, 0x48, 24)

#define PRM_L_query_tis_in(F, S)    \
	PRM_CMD_IN(F, query_tis_in) \
	F(query_tis_in, tisn, 0x48, 24)

#define PRM_L_query_tis_out(F, S)     \
	PRM_CMD_OUT(F, query_tis_out) \
	S(query_tis_out, tis_context, tisc, 0x10)

#define PRM_L_modify_tis_in(F, S)                           \
	PRM_CMD_IN(F, modify_tis_in)                        \
	F(modify_tis_in, tisn, 0x48, 24)                    \
	S(modify_tis_in, bitmask, modify_tis_bitmask, 0x10) \
	S(modify_tis_in, ctx, tisc, 0x20)

#define PRM_L_modify_tis_out(F, S) PRM_CMD_OUT(F, modify_tis_out)

#define PRM_L_destroy_tis_in(F, S)    \
	PRM_CMD_IN(F, destroy_tis_in) \
	F(destroy_tis_in, tisn, 0x48, 24)

#define PRM_L_destroy_tis_out(F, S) PRM_CMD_OUT(F, destroy_tis_out)

/* ---- send queue */

#define PRM_L_sqc(F, S)                                  \
	F(sqc, rlky, 0x00, 1)                            \
	F(sqc, cd_master, 0x01, 1)                       \
	F(sqc, fre, 0x02, 1)                             \
	F(sqc, flush_in_error_en, 0x03, 1)               \
	F(sqc, allow_multi_pkt_send_wqe, 0x04, 1)        \
	F(sqc, min_wqe_inline_mode, 0x05, 3)             \
	F(sqc, state, 0x08, 4)                           \
	F(sqc, reg_umr, 0x0c, 1)                         \
	F(sqc, allow_swp, 0x0d, 1)                       \
	F(sqc, hairpin, 0x0e, 1)                         \
	F(sqc, ts_format, 0x1a, 2)                       \
	F(sqc, user_index, 0x28, 24)                     \
	F(sqc, cqn, 0x48, 24)                            \
	F(sqc, ts_cqe_to_dest_cqn, 0xc8, 24)             \
	F(sqc, packet_pacing_rate_limit_index, 0xf0, 16) \
	F(sqc, tis_lst_sz, 0x100, 16)                    \
	F(sqc, qos_queue_group_id, 0x110, 16)            \
	F(sqc, tis_num_0, 0x168, 24)                     \
	S(sqc, wq, wq, 0x30)

enum { /* modify_sq_in.modify_bitmask */
       PRM_SQ_MODIFY_RATE_LIMIT_INDEX = 1 << 0,
       PRM_SQ_MODIFY_QOS_QUEUE_GROUP_ID = 1 << 2,
};

#define PRM_L_create_sq_in(F, S)    \
	PRM_CMD_IN(F, create_sq_in) \
	S(create_sq_in, ctx, sqc, 0x20)

#define PRM_L_create_sq_out(F, S)     \
	PRM_CMD_OUT(F, create_sq_out) \
	F(create_sq_out, sqn, 0x48, 24)

#define PRM_L_query_sq_in(F, S)    \
	PRM_CMD_IN(F, query_sq_in) \
	F(query_sq_in, sqn, 0x48, 24)

#define PRM_L_query_sq_out(F, S)     \
	PRM_CMD_OUT(F, query_sq_out) \
	S(query_sq_out, sq_context, sqc, 0x20)

#define PRM_L_modify_sq_in(F, S)                  \
	PRM_CMD_IN(F, modify_sq_in)               \
	F(modify_sq_in, sq_state, 0x40, 4)        \
	F(modify_sq_in, sqn, 0x48, 24)            \
	F(modify_sq_in, modify_bitmask, 0x80, 64) \
	S(modify_sq_in, ctx, sqc, 0x20)

#define PRM_L_modify_sq_out(F, S) PRM_CMD_OUT(F, modify_sq_out)

#define PRM_L_destroy_sq_in(F, S)    \
	PRM_CMD_IN(F, destroy_sq_in) \
	F(destroy_sq_in, sqn, 0x48, 24)

#define PRM_L_destroy_sq_out(F, S) PRM_CMD_OUT(F, destroy_sq_out)

#define PRM_LAYOUTS_RAW(X)                    \
	X(alloc_transport_domain_in, 0x10)    \
	X(alloc_transport_domain_out, 0x10)   \
	X(dealloc_transport_domain_in, 0x10)  \
	X(dealloc_transport_domain_out, 0x10) \
	X(rqc, 0xf0)                          \
	X(create_rq_in, 0x110)                \
	X(create_rq_out, 0x10)                \
	X(query_rq_in, 0x10)                  \
	X(query_rq_out, 0x110)                \
	X(modify_rq_in, 0x110)                \
	X(modify_rq_out, 0x10)                \
	X(destroy_rq_in, 0x10)                \
	X(destroy_rq_out, 0x10)               \
	X(arm_rq_in, 0x10)                    \
	X(arm_rq_out, 0x10)                   \
	X(rqtc, 0xf0)                         \
	X(rqt_bitmask, 0x08)                  \
	X(rq_num, 0x04)                       \
	X(create_rqt_in, 0x110)               \
	X(create_rqt_out, 0x10)               \
	X(query_rqt_in, 0x10)                 \
	X(query_rqt_out, 0x110)               \
	X(modify_rqt_in, 0x110)               \
	X(modify_rqt_out, 0x10)               \
	X(destroy_rqt_in, 0x10)               \
	X(destroy_rqt_out, 0x10)              \
	X(rx_hash_field_select, 0x04)         \
	X(rx_hash_key, 0x28)                  \
	X(tirc, 0xf0)                         \
	X(modify_tir_bitmask, 0x08)           \
	X(create_tir_in, 0x110)               \
	X(create_tir_out, 0x10)               \
	X(query_tir_in, 0x10)                 \
	X(query_tir_out, 0x110)               \
	X(modify_tir_in, 0x110)               \
	X(modify_tir_out, 0x10)               \
	X(destroy_tir_in, 0x10)               \
	X(destroy_tir_out, 0x10)              \
	X(tisc, 0xa0)                         \
	X(modify_tis_bitmask, 0x08)           \
	X(create_tis_in, 0xc0)                \
	X(create_tis_out, 0x10)               \
	X(query_tis_in, 0x10)                 \
	X(query_tis_out, 0xb0)                \
	X(modify_tis_in, 0xc0)                \
	X(modify_tis_out, 0x10)               \
	X(destroy_tis_in, 0x10)               \
	X(destroy_tis_out, 0x10)              \
	X(sqc, 0xf0)                          \
	X(create_sq_in, 0x110)                \
	X(create_sq_out, 0x10)                \
	X(query_sq_in, 0x10)                  \
	X(query_sq_out, 0x110)                \
	X(modify_sq_in, 0x110)                \
	X(modify_sq_out, 0x10)                \
	X(destroy_sq_in, 0x10)                \
	X(destroy_sq_out, 0x10)

PRM_LAYOUTS_RAW(PRM_LAYOUT)

#define PRM_V_MEM_RQ_TYPE(V)     \
	V(PRM_MEM_RQ, INLINE, 0) \
	V(PRM_MEM_RQ, RMP, 1)
LAYOUT_ENUM(prm_mem_rq_type, PRM_V_MEM_RQ_TYPE)

#define PRM_V_TIR_TYPE(V)     \
	V(PRM_TIR, DIRECT, 0) \
	V(PRM_TIR, INDIRECT, 1)
LAYOUT_ENUM(prm_tir_type, PRM_V_TIR_TYPE)

#define PRM_V_RX_HASH(V)                 \
	V(PRM_RX_HASH, NONE, 0)          \
	V(PRM_RX_HASH, INVERTED_XOR8, 1) \
	V(PRM_RX_HASH, TOEPLITZ, 2)
LAYOUT_ENUM(prm_rx_hash, PRM_V_RX_HASH)

#define PRM_NAMED_RAW(N)                          \
	N(rqc, mem_rq_type, PRM_V_MEM_RQ_TYPE)    \
	N(rqc, state, PRM_V_WQ_STATE)             \
	N(rqc, ts_format, PRM_V_TS_FORMAT)        \
	N(modify_rq_in, rq_state, PRM_V_WQ_STATE) \
	N(tirc, disp_type, PRM_V_TIR_TYPE)        \
	N(tirc, rx_hash_fn, PRM_V_RX_HASH)        \
	N(sqc, state, PRM_V_WQ_STATE)             \
	N(sqc, ts_format, PRM_V_TS_FORMAT)        \
	N(modify_sq_in, sq_state, PRM_V_WQ_STATE)

/*
 * Fields that the table of DEVX commands needs, of steering commands. The firmware does not have
 * these commands.
 */
#define PRM_STEERING_FIELDS(F)                                     \
	F(add_vxlan_udp_dport_in, vxlan_udp_port, 0x70, 16)        \
	F(set_l2_table_entry_in, table_index, 0xa8, 24)            \
	F(create_flow_table_in, other_vport, 0x40, 1)              \
	F(create_flow_table_in, vport_number, 0x50, 16)            \
	F(create_flow_table_in, table_type, 0x80, 8)               \
	F(query_flow_table_in, table_id, 0xa8, 24)                 \
	F(query_flow_group_in, group_id, 0xc0, 32)                 \
	F(set_fte_in, flow_index, 0x100, 32)                       \
	F(alloc_flow_counter_out, flow_counter_id, 0x40, 32)       \
	F(query_flow_counter_in, flow_counter_id, 0xe0, 32)        \
	F(alloc_packet_reformat_out, packet_reformat_id, 0x40, 32) \
	F(alloc_modify_header_out, modify_header_id, 0x40, 32)
LAYOUT_FIELDS(PRM_STEERING_FIELDS)

#endif
