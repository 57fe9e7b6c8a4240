/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Capabilities and identity: QUERY_HCA_CAP, QUERY_ADAPTER, QUERY_ISSI, QUERY_SPECIAL_CONTEXTS, NOP.
 */
#ifndef SOFTHCA_WIRE_PRM_HCA_CAP_H
#define SOFTHCA_WIRE_PRM_HCA_CAP_H

#include "wire/prm/cmd_hdr.h"

#define PRM_L_cmd_hca_cap(F, S)                                   \
	F(cmd_hca_cap, hca_cap_2, 0x20, 1)                        \
	F(cmd_hca_cap, vhca_id, 0x30, 16)                         \
	F(cmd_hca_cap, qp_data_in_order, 0x62, 1)                 \
	F(cmd_hca_cap, log_dma_mmo_max_size, 0x6b, 5)             \
	F(cmd_hca_cap, log_max_srq_sz, 0x80, 8)                   \
	F(cmd_hca_cap, log_max_qp_sz, 0x88, 8)                    \
	F(cmd_hca_cap, event_cap, 0x90, 1)                        \
	F(cmd_hca_cap, log_max_qp, 0x9b, 5)                       \
	F(cmd_hca_cap, ece_support, 0xa3, 1)                      \
	F(cmd_hca_cap, log_max_srq, 0xab, 5)                      \
	F(cmd_hca_cap, ts_cqe_to_dest_cqn, 0xb2, 1)               \
	F(cmd_hca_cap, log_max_cq_sz, 0xc8, 8)                    \
	F(cmd_hca_cap, relaxed_ordering_write_umr, 0xd0, 1)       \
	F(cmd_hca_cap, relaxed_ordering_read_umr, 0xd1, 1)        \
	F(cmd_hca_cap, log_max_cq, 0xdb, 5)                       \
	F(cmd_hca_cap, log_max_eq_sz, 0xe0, 8)                    \
	F(cmd_hca_cap, relaxed_ordering_write, 0xe8, 1)           \
	F(cmd_hca_cap, relaxed_ordering_read, 0xe9, 1)            \
	F(cmd_hca_cap, log_max_mkey, 0xea, 6)                     \
	F(cmd_hca_cap, dump_fill_mkey, 0xf8, 1)                   \
	F(cmd_hca_cap, log_max_eq, 0xfc, 4)                       \
	F(cmd_hca_cap, max_indirection, 0x100, 8)                 \
	F(cmd_hca_cap, fixed_buffer_size, 0x108, 1)               \
	F(cmd_hca_cap, log_max_mrw_sz, 0x109, 7)                  \
	F(cmd_hca_cap, log_max_bsf_list_size, 0x112, 6)           \
	F(cmd_hca_cap, umr_extended_translation_offset, 0x118, 1) \
	F(cmd_hca_cap, null_mkey, 0x119, 1)                       \
	F(cmd_hca_cap, log_max_klm_list_size, 0x11a, 6)           \
	F(cmd_hca_cap, qpc_extension, 0x122, 1)                   \
	F(cmd_hca_cap, log_max_ra_req_dc, 0x12a, 6)               \
	F(cmd_hca_cap, log_max_ra_res_dc, 0x13a, 6)               \
	F(cmd_hca_cap, sig_crc64_xp10, 0x147, 1)                  \
	F(cmd_hca_cap, sig_crc32c, 0x148, 1)                      \
	F(cmd_hca_cap, roce_accl, 0x149, 1)                       \
	F(cmd_hca_cap, log_max_ra_req_qp, 0x14a, 6)               \
	F(cmd_hca_cap, rts2rts_qp_udp_sport, 0x151, 1)            \
	F(cmd_hca_cap, rts2rts_lag_tx_port_affinity, 0x152, 1)    \
	F(cmd_hca_cap, dma_mmo_sq, 0x153, 1)                      \
	F(cmd_hca_cap, log_max_ra_res_qp, 0x15a, 6)               \
	F(cmd_hca_cap, end_pad, 0x160, 1)                         \
	F(cmd_hca_cap, cc_query_allowed, 0x161, 1)                \
	F(cmd_hca_cap, cc_modify_allowed, 0x162, 1)               \
	F(cmd_hca_cap, start_pad, 0x163, 1)                       \
	F(cmd_hca_cap, cache_line_128byte, 0x164, 1)              \
	F(cmd_hca_cap, rts2rts_qp_counters_set_id, 0x169, 1)      \
	F(cmd_hca_cap, gid_table_size, 0x170, 16)                 \
	F(cmd_hca_cap, out_of_seq_cnt, 0x180, 1)                  \
	F(cmd_hca_cap, vport_counters, 0x181, 1)                  \
	F(cmd_hca_cap, retransmission_q_counters, 0x182, 1)       \
	F(cmd_hca_cap, modify_rq_counter_set_id, 0x184, 1)        \
	F(cmd_hca_cap, max_qp_cnt, 0x186, 10)                     \
	F(cmd_hca_cap, pkey_table_size, 0x190, 16)                \
	F(cmd_hca_cap, ib_virt, 0x1a2, 1)                         \
	F(cmd_hca_cap, eth_virt, 0x1a3, 1)                        \
	F(cmd_hca_cap, nic_flow_table, 0x1a6, 1)                  \
	F(cmd_hca_cap, eswitch_manager, 0x1a7, 1)                 \
	F(cmd_hca_cap, device_memory, 0x1a8, 1)                   \
	F(cmd_hca_cap, local_ca_ack_delay, 0x1ab, 5)              \
	F(cmd_hca_cap, enhanced_error_q_counters, 0x1b1, 1)       \
	F(cmd_hca_cap, port_type, 0x1b6, 2)                       \
	F(cmd_hca_cap, num_ports, 0x1b8, 8)                       \
	F(cmd_hca_cap, log_max_msg, 0x1c3, 5)                     \
	F(cmd_hca_cap, stat_rate_support, 0x1e0, 16)              \
	F(cmd_hca_cap, sig_block_4048, 0x1f0, 1)                  \
	F(cmd_hca_cap, init2_lag_tx_port_affinity, 0x1f8, 1)      \
	F(cmd_hca_cap, cqe_version, 0x1fc, 4)                     \
	F(cmd_hca_cap, compact_address_vector, 0x200, 1)          \
	F(cmd_hca_cap, striding_rq, 0x201, 1)                     \
	F(cmd_hca_cap, ipoib_enhanced_offloads, 0x203, 1)         \
	F(cmd_hca_cap, ipoib_basic_offloads, 0x204, 1)            \
	F(cmd_hca_cap, repeated_block_disabled, 0x206, 1)         \
	F(cmd_hca_cap, umr_modify_entity_size_disabled, 0x207, 1) \
	F(cmd_hca_cap, umr_modify_atomic_disabled, 0x208, 1)      \
	F(cmd_hca_cap, umr_indirect_mkey_disabled, 0x209, 1)      \
	F(cmd_hca_cap, umr_fence, 0x20a, 2)                       \
	F(cmd_hca_cap, dc_req_scat_data_cqe, 0x20c, 1)            \
	F(cmd_hca_cap, drain_sigerr, 0x20f, 1)                    \
	F(cmd_hca_cap, sigerr_cqe, 0x212, 1)                      \
	F(cmd_hca_cap, wq_signature, 0x214, 1)                    \
	F(cmd_hca_cap, sctr_data_cqe, 0x215, 1)                   \
	F(cmd_hca_cap, sho, 0x217, 1)                             \
	F(cmd_hca_cap, tph, 0x218, 1)                             \
	F(cmd_hca_cap, rf, 0x219, 1)                              \
	F(cmd_hca_cap, dct, 0x21a, 1)                             \
	F(cmd_hca_cap, qos, 0x21b, 1)                             \
	F(cmd_hca_cap, eth_net_offloads, 0x21c, 1)                \
	F(cmd_hca_cap, roce, 0x21d, 1)                            \
	F(cmd_hca_cap, atomic, 0x21e, 1)                          \
	F(cmd_hca_cap, cq_oi, 0x220, 1)                           \
	F(cmd_hca_cap, cq_resize, 0x221, 1)                       \
	F(cmd_hca_cap, cq_moderation, 0x222, 1)                   \
	F(cmd_hca_cap, cq_eq_remap, 0x226, 1)                     \
	F(cmd_hca_cap, pg, 0x227, 1)                              \
	F(cmd_hca_cap, block_lb_mc, 0x228, 1)                     \
	F(cmd_hca_cap, scqe_break_moderation, 0x22a, 1)           \
	F(cmd_hca_cap, cq_period_start_from_cqe, 0x22b, 1)        \
	F(cmd_hca_cap, cd, 0x22c, 1)                              \
	F(cmd_hca_cap, apm, 0x22e, 1)                             \
	F(cmd_hca_cap, vector_calc, 0x22f, 1)                     \
	F(cmd_hca_cap, umr_ptr_rlky, 0x230, 1)                    \
	F(cmd_hca_cap, imaicl, 0x231, 1)                          \
	F(cmd_hca_cap, qp_packet_based, 0x232, 1)                 \
	F(cmd_hca_cap, qkv, 0x236, 1)                             \
	F(cmd_hca_cap, pkv, 0x237, 1)                             \
	F(cmd_hca_cap, set_deth_sqpn, 0x238, 1)                   \
	F(cmd_hca_cap, xrc, 0x23c, 1)                             \
	F(cmd_hca_cap, ud, 0x23d, 1)                              \
	F(cmd_hca_cap, uc, 0x23e, 1)                              \
	F(cmd_hca_cap, rc, 0x23f, 1)                              \
	F(cmd_hca_cap, uar_4k, 0x240, 1)                          \
	F(cmd_hca_cap, fl_rc_qp_when_roce_disabled, 0x248, 1)     \
	F(cmd_hca_cap, uar_sz, 0x24a, 6)                          \
	F(cmd_hca_cap, umem_uid_0, 0x252, 1)                      \
	F(cmd_hca_cap, log_pg_sz, 0x258, 8)                       \
	F(cmd_hca_cap, bf, 0x260, 1)                              \
	F(cmd_hca_cap, mkey_by_name, 0x266, 1)                    \
	F(cmd_hca_cap, log_bf_reg_size, 0x26b, 5)                 \
	F(cmd_hca_cap, lag_dct, 0x276, 2)                         \
	F(cmd_hca_cap, lag_tx_port_affinity, 0x278, 1)            \
	F(cmd_hca_cap, lag_master, 0x27b, 1)                      \
	F(cmd_hca_cap, num_lag_ports, 0x27c, 4)                   \
	F(cmd_hca_cap, max_wqe_sz_sq, 0x290, 16)                  \
	F(cmd_hca_cap, max_wqe_sz_rq, 0x2b0, 16)                  \
	F(cmd_hca_cap, max_wqe_sz_sq_dc, 0x2d0, 16)               \
	F(cmd_hca_cap, max_qp_mcg, 0x2e7, 25)                     \
	F(cmd_hca_cap, log_max_mcg, 0x318, 8)                     \
	F(cmd_hca_cap, log_max_transport_domain, 0x323, 5)        \
	F(cmd_hca_cap, log_max_pd, 0x32b, 5)                      \
	F(cmd_hca_cap, log_max_xrcd, 0x33b, 5)                    \
	F(cmd_hca_cap, log_max_rq, 0x363, 5)                      \
	F(cmd_hca_cap, log_max_sq, 0x36b, 5)                      \
	F(cmd_hca_cap, log_max_tir, 0x373, 5)                     \
	F(cmd_hca_cap, log_max_tis, 0x37b, 5)                     \
	F(cmd_hca_cap, basic_cyclic_rcv_wqe, 0x380, 1)            \
	F(cmd_hca_cap, log_max_rmp, 0x383, 5)                     \
	F(cmd_hca_cap, log_max_rqt, 0x38b, 5)                     \
	F(cmd_hca_cap, log_max_rqt_size, 0x393, 5)                \
	F(cmd_hca_cap, log_max_tis_per_sq, 0x39b, 5)              \
	F(cmd_hca_cap, ext_stride_num_range, 0x3a0, 1)            \
	F(cmd_hca_cap, roce_rw_supported, 0x3a1, 1)               \
	F(cmd_hca_cap, log_max_stride_sz_rq, 0x3a3, 5)            \
	F(cmd_hca_cap, log_max_stride_sz_sq, 0x3b3, 5)            \
	F(cmd_hca_cap, log_max_wq_sz, 0x3db, 5)                   \
	F(cmd_hca_cap, aes_xts_single_block_le_tweak, 0x3f1, 1)   \
	F(cmd_hca_cap, aes_xts_multi_block_be_tweak, 0x3f2, 1)    \
	F(cmd_hca_cap, general_obj_types, 0x400, 64)              \
	F(cmd_hca_cap, sq_ts_format, 0x440, 2)                    \
	F(cmd_hca_cap, rq_ts_format, 0x442, 2)                    \
	F(cmd_hca_cap, create_qp_start_hint, 0x448, 24)           \
	F(cmd_hca_cap, ats, 0x461, 1)                             \
	F(cmd_hca_cap, log_max_uctx, 0x463, 5)                    \
	F(cmd_hca_cap, crypto, 0x469, 1)                          \
	F(cmd_hca_cap, log_max_umem, 0x46b, 5)                    \
	F(cmd_hca_cap, max_num_eqs, 0x470, 16)                    \
	F(cmd_hca_cap, sigerr_domain_and_sig_type, 0x480, 1)      \
	F(cmd_hca_cap, log_uar_page_sz, 0x490, 16)                \
	F(cmd_hca_cap, device_frequency_mhz, 0x4c0, 32)           \
	F(cmd_hca_cap, device_frequency_khz, 0x4e0, 32)           \
	F(cmd_hca_cap, num_of_uars_per_page, 0x520, 32)           \
	F(cmd_hca_cap, log_max_dci_stream_channels, 0x58b, 5)     \
	F(cmd_hca_cap, log_max_dci_errored_streams, 0x593, 5)     \
	F(cmd_hca_cap, mini_cqe_resp_stride_index, 0x5bc, 1)      \
	F(cmd_hca_cap, cqe_128_always, 0x5bd, 1)                  \
	F(cmd_hca_cap, cqe_compression_128, 0x5be, 1)             \
	F(cmd_hca_cap, cqe_compression, 0x5bf, 1)                 \
	F(cmd_hca_cap, cqe_compression_timeout, 0x5c0, 16)        \
	F(cmd_hca_cap, cqe_compression_max_num, 0x5d0, 16)        \
	F(cmd_hca_cap, tag_matching, 0x5f0, 1)                    \
	F(cmd_hca_cap, rndv_offload_rc, 0x5f1, 1)                 \
	F(cmd_hca_cap, rndv_offload_dc, 0x5f2, 1)                 \
	F(cmd_hca_cap, log_tag_matching_list_sz, 0x5f3, 5)        \
	F(cmd_hca_cap, log_max_xrq, 0x5fb, 5)                     \
	F(cmd_hca_cap, uctx_cap, 0x6a0, 32)                       \
	F(cmd_hca_cap, dma_mmo_qp, 0x748, 1)

#define PRM_L_cmd_hca_cap_2(F, S)                               \
	F(cmd_hca_cap_2, log_reserved_qpn_granularity, 0x93, 5) \
	F(cmd_hca_cap_2, log_min_mkey_entity_size, 0x1ab, 5)

#define PRM_L_atomic_caps(F, S)                                            \
	F(atomic_caps, atomic_req_8B_endianness_mode, 0x40, 2)             \
	F(atomic_caps, supported_atomic_req_8B_endianness_mode_1, 0x46, 1) \
	F(atomic_caps, atomic_operations, 0x90, 16)                        \
	F(atomic_caps, atomic_size_qp, 0xb0, 16)                           \
	F(atomic_caps, atomic_size_dc, 0xd0, 16)                           \
	F(atomic_caps, fetch_add_pci_atomic, 0x280, 16)                    \
	F(atomic_caps, swap_pci_atomic, 0x290, 16)                         \
	F(atomic_caps, compare_swap_pci_atomic, 0x2a0, 16)

#define PRM_L_roce_cap(F, S)                              \
	F(roce_cap, roce_apm, 0x00, 1)                    \
	F(roce_cap, sw_r_roce_src_udp_port, 0x04, 1)      \
	F(roce_cap, fl_rc_qp_when_roce_disabled, 0x05, 1) \
	F(roce_cap, fl_rc_qp_when_roce_enabled, 0x06, 1)  \
	F(roce_cap, qp_ts_format, 0x1e, 2)                \
	F(roce_cap, l3_type, 0x8c, 4)                     \
	F(roce_cap, roce_version, 0x98, 8)                \
	F(roce_cap, r_roce_dest_udp_port, 0xb0, 16)       \
	F(roce_cap, r_roce_max_src_udp_port, 0xc0, 16)    \
	F(roce_cap, r_roce_min_src_udp_port, 0xd0, 16)    \
	F(roce_cap, roce_address_table_size, 0xf0, 16)

#define PRM_L_odp_per_transport_service_cap(F, S)          \
	F(odp_per_transport_service_cap, send, 0x00, 1)    \
	F(odp_per_transport_service_cap, receive, 0x01, 1) \
	F(odp_per_transport_service_cap, write, 0x02, 1)   \
	F(odp_per_transport_service_cap, read, 0x03, 1)    \
	F(odp_per_transport_service_cap, atomic, 0x04, 1)  \
	F(odp_per_transport_service_cap, srq_receive, 0x05, 1)

#define PRM_L_odp_cap(F, S)                                           \
	F(odp_cap, sig, 0x40, 1)                                      \
	S(odp_cap, rc_odp_caps, odp_per_transport_service_cap, 0x10)  \
	S(odp_cap, uc_odp_caps, odp_per_transport_service_cap, 0x14)  \
	S(odp_cap, ud_odp_caps, odp_per_transport_service_cap, 0x18)  \
	S(odp_cap, xrc_odp_caps, odp_per_transport_service_cap, 0x1c) \
	S(odp_cap, dc_odp_caps, odp_per_transport_service_cap, 0x20)

/* MLX5_CRYPTO_CAPS_WRAPPED_IMPORT_METHOD_AES of rdma-core */
enum { PRM_CRYPTO_IMPORT_AES_XTS = 4 };
#define PRM_L_crypto_caps(F, S)                                        \
	F(crypto_caps, wrapped_crypto_operational, 0x00, 1)            \
	F(crypto_caps, wrapped_crypto_going_to_commissioning, 0x01, 1) \
	F(crypto_caps, wrapped_import_method, 0x18, 8)                 \
	F(crypto_caps, log_max_num_deks, 0x2b, 5)                      \
	F(crypto_caps, log_max_num_import_keks, 0x33, 5)               \
	F(crypto_caps, log_max_num_creds, 0x3b, 5)                     \
	F(crypto_caps, failed_selftests, 0x40, 16)                     \
	F(crypto_caps, num_nv_import_keks, 0x50, 8)                    \
	F(crypto_caps, num_nv_credentials, 0x58, 8)

#define PRM_L_query_hca_cap_in(F, S)                 \
	PRM_CMD_IN(F, query_hca_cap_in)              \
	F(query_hca_cap_in, other_function, 0x40, 1) \
	F(query_hca_cap_in, function_id, 0x50, 16)

#define PRM_L_query_adapter_in(F, S) PRM_CMD_IN(F, query_adapter_in)

#define PRM_L_query_adapter_param_block(F, S)                  \
	F(query_adapter_param_block, ieee_vendor_id, 0xc8, 24) \
	F(query_adapter_param_block, vsd_vendor_id, 0xf0, 16)  \
	S(query_adapter_param_block, vsd_contd_psid, prm_gid, 0xf0)

#define PRM_L_query_adapter_out(F, S)     \
	PRM_CMD_OUT(F, query_adapter_out) \
	S(query_adapter_out, query_adapter_struct, query_adapter_param_block, 0x10)

#define PRM_L_query_issi_in(F, S) PRM_CMD_IN(F, query_issi_in)

#define PRM_L_query_issi_out(F, S)                \
	PRM_CMD_OUT(F, query_issi_out)            \
	F(query_issi_out, current_issi, 0x50, 16) \
	F(query_issi_out, supported_issi_dw0, 0x360, 32)

#define PRM_L_query_special_contexts_in(F, S) PRM_CMD_IN(F, query_special_contexts_in)

#define PRM_L_query_special_contexts_out(F, S)                  \
	PRM_CMD_OUT(F, query_special_contexts_out)              \
	F(query_special_contexts_out, dump_fill_mkey, 0x40, 32) \
	F(query_special_contexts_out, resd_lkey, 0x60, 32)      \
	F(query_special_contexts_out, null_mkey, 0x80, 32)

#define PRM_L_nop_in(F, S) PRM_CMD_IN(F, nop_in)

#define PRM_L_nop_out(F, S) PRM_CMD_OUT(F, nop_out)

/* Bit n of entry n / 64: event number n (mlx5_ifc.h: device_event_cap). */
#define PRM_L_device_event_cap(F, S)                               \
	F(device_event_cap, user_affiliated_events_0, 0x00, 64)    \
	F(device_event_cap, user_affiliated_events_1, 0x40, 64)    \
	F(device_event_cap, user_affiliated_events_2, 0x80, 64)    \
	F(device_event_cap, user_affiliated_events_3, 0xc0, 64)    \
	F(device_event_cap, user_unaffiliated_events_0, 0x100, 64) \
	F(device_event_cap, user_unaffiliated_events_1, 0x140, 64) \
	F(device_event_cap, user_unaffiliated_events_2, 0x180, 64) \
	F(device_event_cap, user_unaffiliated_events_3, 0x1c0, 64)

#define PRM_L_device_mem_cap(F, S)                               \
	F(device_mem_cap, memic, 0x00, 1)                        \
	F(device_mem_cap, log_min_memic_alloc_size, 0x2b, 5)     \
	F(device_mem_cap, log_max_memic_addr_alignment, 0x38, 8) \
	F(device_mem_cap, memic_bar_start_addr, 0x40, 64)        \
	F(device_mem_cap, memic_bar_size, 0x80, 32)              \
	F(device_mem_cap, max_memic_size, 0xa0, 32)              \
	F(device_mem_cap, memic_operations, 0x200, 32)

/* The output of QUERY_HCA_CAP: one of the groups above, chosen by op_mod. */
#define PRM_L_hca_cap_union(F, S)

#define PRM_L_query_hca_cap_out(F, S)     \
	PRM_CMD_OUT(F, query_hca_cap_out) \
	S(query_hca_cap_out, capability, hca_cap_union, 0x10)

#define PRM_LAYOUTS_HCA_CAP(X)                 \
	X(cmd_hca_cap, 0x100)                  \
	X(cmd_hca_cap_2, 0x100)                \
	X(atomic_caps, 0x100)                  \
	X(roce_cap, 0x100)                     \
	X(odp_per_transport_service_cap, 0x04) \
	X(odp_cap, 0x100)                      \
	X(device_event_cap, 0x40)              \
	X(device_mem_cap, 0x100)               \
	X(crypto_caps, 0x100)                  \
	X(query_hca_cap_in, 0x10)              \
	X(query_adapter_in, 0x10)              \
	X(query_adapter_param_block, 0x100)    \
	X(query_adapter_out, 0x110)            \
	X(query_issi_in, 0x10)                 \
	X(query_issi_out, 0x70)                \
	X(query_special_contexts_in, 0x10)     \
	X(query_special_contexts_out, 0x20)    \
	X(nop_in, 0x10)                        \
	X(nop_out, 0x10)                       \
	X(hca_cap_union, 0x1000)               \
	X(query_hca_cap_out, 0x1010)

PRM_LAYOUTS_HCA_CAP(PRM_LAYOUT)

#endif
