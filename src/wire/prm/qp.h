/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Queue pairs: the QP context, its address path, and the commands. */
#ifndef SOFTHCA_WIRE_PRM_QP_H
#define SOFTHCA_WIRE_PRM_QP_H

#include "wire/ib/port.h"
#include "wire/prm/cmd_hdr.h"

#define PRM_ROCE_MIN_SPORT 0xc000 /* least UDP source port of RoCE v2 */
#define PRM_ROCE_DPORT 4791       /* its destination port */

#define PRM_L_ads(F, S)                 \
	F(ads, fl, 0x00, 1)             \
	F(ads, free_ar, 0x01, 1)        \
	F(ads, pkey_index, 0x10, 16)    \
	F(ads, grh, 0x28, 1)            \
	F(ads, mlid, 0x29, 7)           \
	F(ads, rlid, 0x30, 16)          \
	F(ads, ack_timeout, 0x40, 5)    \
	F(ads, src_addr_index, 0x48, 8) \
	F(ads, log_rtm, 0x50, 4)        \
	F(ads, stat_rate, 0x54, 4)      \
	F(ads, hop_limit, 0x58, 8)      \
	F(ads, tclass, 0x64, 8)         \
	F(ads, flow_label, 0x6c, 20)    \
	S(ads, rgid_rip, prm_gid, 0x10) \
	F(ads, f_dscp, 0x104, 1)        \
	F(ads, f_ecn, 0x105, 1)         \
	F(ads, f_eth_prio, 0x107, 1)    \
	F(ads, ecn, 0x108, 2)           \
	F(ads, dscp, 0x10a, 6)          \
	F(ads, udp_sport, 0x110, 16)    \
	F(ads, dei_cfi, 0x120, 1)       \
	F(ads, eth_prio, 0x121, 3)      \
	F(ads, sl, 0x124, 4)            \
	F(ads, vhca_port_num, 0x128, 8) \
	F(ads, rmac_47_32, 0x130, 16)   \
	F(ads, rmac_31_0, 0x140, 32)

#define PRM_L_qpc(F, S)                               \
	F(qpc, state, 0x00, 4)                        \
	F(qpc, lag_tx_port_affinity, 0x04, 4)         \
	F(qpc, st, 0x08, 8)                           \
	F(qpc, isolate_vl_tc, 0x12, 1)                \
	F(qpc, pm_state, 0x13, 2)                     \
	F(qpc, req_e2e_credit_mode, 0x16, 2)          \
	F(qpc, offload_type, 0x18, 4)                 \
	F(qpc, end_padding_mode, 0x1c, 2)             \
	F(qpc, wq_signature, 0x20, 1)                 \
	F(qpc, block_lb_mc, 0x21, 1)                  \
	F(qpc, atomic_like_write_en, 0x22, 1)         \
	F(qpc, latency_sensitive, 0x23, 1)            \
	F(qpc, drain_sigerr, 0x25, 1)                 \
	F(qpc, dp_ordering_0, 0x26, 1)                \
	F(qpc, dp_ordering_force, 0x27, 1)            \
	F(qpc, pd, 0x28, 24)                          \
	F(qpc, mtu, 0x40, 3)                          \
	F(qpc, log_msg_max, 0x43, 5)                  \
	F(qpc, log_rq_size, 0x49, 4)                  \
	F(qpc, log_rq_stride, 0x4d, 3)                \
	F(qpc, no_sq, 0x50, 1)                        \
	F(qpc, log_sq_size, 0x51, 4)                  \
	F(qpc, ts_format, 0x58, 2)                    \
	F(qpc, data_in_order, 0x5a, 1)                \
	F(qpc, rlky, 0x5b, 1)                         \
	F(qpc, ulp_stateless_offload_mode, 0x5c, 4)   \
	F(qpc, counter_set_id, 0x60, 8)               \
	F(qpc, uar_page, 0x68, 24)                    \
	F(qpc, full_handshake, 0x83, 1)               \
	F(qpc, user_index, 0x88, 24)                  \
	F(qpc, log_page_size, 0xa3, 5)                \
	F(qpc, remote_qpn, 0xa8, 24)                  \
	S(qpc, primary_address_path, ads, 0x18)       \
	S(qpc, secondary_address_path, ads, 0x44)     \
	F(qpc, log_ack_req_freq, 0x380, 4)            \
	F(qpc, log_sra_max, 0x388, 3)                 \
	F(qpc, retry_count, 0x38d, 3)                 \
	F(qpc, rnr_retry, 0x390, 3)                   \
	F(qpc, fre, 0x394, 1)                         \
	F(qpc, cur_rnr_retry, 0x395, 3)               \
	F(qpc, cur_retry_count, 0x398, 3)             \
	F(qpc, next_send_psn, 0x3c8, 24)              \
	F(qpc, log_num_dci_stream_channels, 0x3e3, 5) \
	F(qpc, cqn_snd, 0x3e8, 24)                    \
	F(qpc, log_num_dci_errored_streams, 0x403, 5) \
	F(qpc, deth_sqpn, 0x408, 24)                  \
	F(qpc, last_acked_psn, 0x448, 24)             \
	F(qpc, ssn, 0x468, 24)                        \
	F(qpc, log_rra_max, 0x488, 3)                 \
	F(qpc, atomic_mode, 0x48c, 4)                 \
	F(qpc, rre, 0x490, 1)                         \
	F(qpc, rwe, 0x491, 1)                         \
	F(qpc, rae, 0x492, 1)                         \
	F(qpc, page_offset, 0x494, 6)                 \
	F(qpc, dp_ordering_1, 0x49c, 1)               \
	F(qpc, min_rnr_nak, 0x4a3, 5)                 \
	F(qpc, next_rcv_psn, 0x4a8, 24)               \
	F(qpc, xrcd, 0x4c8, 24)                       \
	F(qpc, cqn_rcv, 0x4e8, 24)                    \
	F(qpc, dbr_addr, 0x500, 64)                   \
	F(qpc, q_key, 0x540, 32)                      \
	F(qpc, rq_type, 0x565, 3)                     \
	F(qpc, srqn_rmpn_xrqn, 0x568, 24)             \
	F(qpc, rmsn, 0x588, 24)                       \
	F(qpc, hw_sq_wqebb_counter, 0x5a0, 16)        \
	F(qpc, sw_sq_wqebb_counter, 0x5b0, 16)        \
	F(qpc, hw_rq_counter, 0x5c0, 32)              \
	F(qpc, sw_rq_counter, 0x5e0, 32)              \
	F(qpc, cgs, 0x62f, 1)                         \
	F(qpc, cs_req, 0x630, 8)                      \
	F(qpc, cs_res, 0x638, 8)                      \
	F(qpc, dc_access_key, 0x640, 64)              \
	F(qpc, dbr_umem_valid, 0x683, 1)              \
	F(qpc, dbr_umem_id, 0x720, 32)

#define PRM_L_create_qp_in(F, S)                   \
	PRM_CMD_IN(F, create_qp_in)                \
	F(create_qp_in, input_qpn, 0x48, 24)       \
	F(create_qp_in, opt_param_mask, 0x80, 32)  \
	F(create_qp_in, ece, 0xa0, 32)             \
	S(create_qp_in, qpc, qpc, 0x18)            \
	F(create_qp_in, wq_umem_offset, 0x800, 64) \
	F(create_qp_in, wq_umem_id, 0x840, 32)     \
	F(create_qp_in, wq_umem_valid, 0x860, 1)

#define PRM_L_create_qp_out(F, S)       \
	PRM_CMD_OUT(F, create_qp_out)   \
	F(create_qp_out, qpn, 0x48, 24) \
	F(create_qp_out, ece, 0x60, 32)

#define PRM_L_query_qp_in(F, S)    \
	PRM_CMD_IN(F, query_qp_in) \
	F(query_qp_in, qpn, 0x48, 24)

#define PRM_L_query_qp_out(F, S)                  \
	PRM_CMD_OUT(F, query_qp_out)              \
	F(query_qp_out, opt_param_mask, 0x80, 32) \
	F(query_qp_out, ece, 0xa0, 32)            \
	S(query_qp_out, qpc, qpc, 0x18)

#define PRM_L_destroy_qp_in(F, S)    \
	PRM_CMD_IN(F, destroy_qp_in) \
	F(destroy_qp_in, qpn, 0x48, 24)

#define PRM_L_destroy_qp_out(F, S) PRM_CMD_OUT(F, destroy_qp_out)

#define PRM_L_rst2init_qp_in(F, S)                  \
	PRM_CMD_IN(F, rst2init_qp_in)               \
	F(rst2init_qp_in, qpn, 0x48, 24)            \
	F(rst2init_qp_in, opt_param_mask, 0x80, 32) \
	F(rst2init_qp_in, ece, 0xa0, 32)            \
	S(rst2init_qp_in, qpc, qpc, 0x18)

#define PRM_L_rst2init_qp_out(F, S)     \
	PRM_CMD_OUT(F, rst2init_qp_out) \
	F(rst2init_qp_out, ece, 0x60, 32)

enum { /* opt_param_mask_95_32 */
       PRM_QP_OPT32_DCI_STREAM_CHANNEL_ID = 1 << 0,
       PRM_QP_OPT32_QOS_QUEUE_GROUP_ID = 1 << 1,
       PRM_QP_OPT32_UDP_SPORT = 1 << 2,
       PRM_QP_OPT32_MMO = 1 << 3, /* MLX5_QPC_OPT_MASK_32_INIT2INIT_MMO of rdma-core */
};

/* Follows the command if its bit qpc_ext is set. */
#define PRM_L_qpc_ext(F, S)                                \
	F(qpc_ext, mmo, 0x02, 1)                           \
	F(qpc_ext, dci_stream_channel_id, 0x10, 16)        \
	F(qpc_ext, qos_queue_group_id_requester, 0x20, 32) \
	F(qpc_ext, qos_queue_group_id_responder, 0x40, 32)

#define PRM_L_init2init_qp_in(F, S)                         \
	PRM_CMD_IN(F, init2init_qp_in)                      \
	F(init2init_qp_in, qpc_ext, 0x40, 1)                \
	F(init2init_qp_in, qpn, 0x48, 24)                   \
	F(init2init_qp_in, opt_param_mask, 0x80, 32)        \
	F(init2init_qp_in, ece, 0xa0, 32)                   \
	F(init2init_qp_in, opt_param_mask_95_32, 0x840, 64) \
	S(init2init_qp_in, qpc, qpc, 0x18)

#define PRM_L_init2init_qp_out(F, S)     \
	PRM_CMD_OUT(F, init2init_qp_out) \
	F(init2init_qp_out, ece, 0x60, 32)

#define PRM_L_init2rtr_qp_in(F, S)                  \
	PRM_CMD_IN(F, init2rtr_qp_in)               \
	F(init2rtr_qp_in, qpn, 0x48, 24)            \
	F(init2rtr_qp_in, opt_param_mask, 0x80, 32) \
	F(init2rtr_qp_in, ece, 0xa0, 32)            \
	S(init2rtr_qp_in, qpc, qpc, 0x18)

#define PRM_L_init2rtr_qp_out(F, S)     \
	PRM_CMD_OUT(F, init2rtr_qp_out) \
	F(init2rtr_qp_out, ece, 0x60, 32)

#define PRM_L_rtr2rts_qp_in(F, S)                  \
	PRM_CMD_IN(F, rtr2rts_qp_in)               \
	F(rtr2rts_qp_in, qpn, 0x48, 24)            \
	F(rtr2rts_qp_in, opt_param_mask, 0x80, 32) \
	F(rtr2rts_qp_in, ece, 0xa0, 32)            \
	S(rtr2rts_qp_in, qpc, qpc, 0x18)

#define PRM_L_rtr2rts_qp_out(F, S)     \
	PRM_CMD_OUT(F, rtr2rts_qp_out) \
	F(rtr2rts_qp_out, ece, 0x60, 32)

#define PRM_L_rts2rts_qp_in(F, S)                         \
	PRM_CMD_IN(F, rts2rts_qp_in)                      \
	F(rts2rts_qp_in, qpc_ext, 0x40, 1)                \
	F(rts2rts_qp_in, qpn, 0x48, 24)                   \
	F(rts2rts_qp_in, opt_param_mask, 0x80, 32)        \
	F(rts2rts_qp_in, ece, 0xa0, 32)                   \
	F(rts2rts_qp_in, opt_param_mask_95_32, 0x840, 64) \
	S(rts2rts_qp_in, qpc, qpc, 0x18)

#define PRM_L_rts2rts_qp_out(F, S)     \
	PRM_CMD_OUT(F, rts2rts_qp_out) \
	F(rts2rts_qp_out, ece, 0x60, 32)

#define PRM_L_sqerr2rts_qp_in(F, S)                  \
	PRM_CMD_IN(F, sqerr2rts_qp_in)               \
	F(sqerr2rts_qp_in, qpn, 0x48, 24)            \
	F(sqerr2rts_qp_in, opt_param_mask, 0x80, 32) \
	S(sqerr2rts_qp_in, qpc, qpc, 0x18)

#define PRM_L_sqerr2rts_qp_out(F, S) PRM_CMD_OUT(F, sqerr2rts_qp_out)

#define PRM_L_sqd2rts_qp_in(F, S)                  \
	PRM_CMD_IN(F, sqd2rts_qp_in)               \
	F(sqd2rts_qp_in, qpn, 0x48, 24)            \
	F(sqd2rts_qp_in, opt_param_mask, 0x80, 32) \
	S(sqd2rts_qp_in, qpc, qpc, 0x18)

#define PRM_L_sqd2rts_qp_out(F, S) PRM_CMD_OUT(F, sqd2rts_qp_out)

#define PRM_L_qp_2err_in(F, S)    \
	PRM_CMD_IN(F, qp_2err_in) \
	F(qp_2err_in, qpn, 0x48, 24)

#define PRM_L_qp_2err_out(F, S) PRM_CMD_OUT(F, qp_2err_out)

#define PRM_L_qp_2rst_in(F, S)    \
	PRM_CMD_IN(F, qp_2rst_in) \
	F(qp_2rst_in, qpn, 0x48, 24)

#define PRM_L_qp_2rst_out(F, S) PRM_CMD_OUT(F, qp_2rst_out)

#define PRM_LAYOUTS_QP(X)         \
	X(ads, 0x2c)              \
	X(qpc, 0xe8)              \
	X(create_qp_in, 0x110)    \
	X(create_qp_out, 0x10)    \
	X(query_qp_in, 0x10)      \
	X(query_qp_out, 0x110)    \
	X(destroy_qp_in, 0x10)    \
	X(destroy_qp_out, 0x10)   \
	X(rst2init_qp_in, 0x110)  \
	X(rst2init_qp_out, 0x10)  \
	X(qpc_ext, 0xc0)          \
	X(init2init_qp_in, 0x110) \
	X(init2init_qp_out, 0x10) \
	X(init2rtr_qp_in, 0x110)  \
	X(init2rtr_qp_out, 0x10)  \
	X(rtr2rts_qp_in, 0x110)   \
	X(rtr2rts_qp_out, 0x10)   \
	X(rts2rts_qp_in, 0x110)   \
	X(rts2rts_qp_out, 0x10)   \
	X(sqerr2rts_qp_in, 0x110) \
	X(sqerr2rts_qp_out, 0x10) \
	X(sqd2rts_qp_in, 0x110)   \
	X(sqd2rts_qp_out, 0x10)   \
	X(qp_2err_in, 0x10)       \
	X(qp_2err_out, 0x10)      \
	X(qp_2rst_in, 0x10)       \
	X(qp_2rst_out, 0x10)

PRM_LAYOUTS_QP(PRM_LAYOUT)

/* enum mlx5_qp_state in Linux' mlx5/qp.h; the other values are those of mlx5_ifc.h. */
#define PRM_V_QP_STATE(V)        \
	V(PRM_QP_STATE, RST, 0)  \
	V(PRM_QP_STATE, INIT, 1) \
	V(PRM_QP_STATE, RTR, 2)  \
	V(PRM_QP_STATE, RTS, 3)  \
	V(PRM_QP_STATE, SQER, 4) \
	V(PRM_QP_STATE, SQD, 5)  \
	V(PRM_QP_STATE, ERR, 6)
LAYOUT_ENUM(prm_qp_state, PRM_V_QP_STATE)

#define PRM_V_ST(V)                \
	V(PRM_ST, RC, 0)           \
	V(PRM_ST, UC, 1)           \
	V(PRM_ST, UD, 2)           \
	V(PRM_ST, XRC, 3)          \
	V(PRM_ST, DCI, 5)          \
	V(PRM_ST, QP0, 7)          \
	V(PRM_ST, QP1, 8)          \
	V(PRM_ST, RAW_DATAGRAM, 9) \
	V(PRM_ST, REG_UMR, 0xc)
LAYOUT_ENUM(prm_st, PRM_V_ST)

#define PRM_V_PM_STATE(V)   \
	V(PRM_PM, ARMED, 0) \
	V(PRM_PM, REARM, 1) \
	V(PRM_PM, MIGRATED, 3)
LAYOUT_ENUM(prm_pm_state, PRM_V_PM_STATE)

#define PRM_V_QP_RQ_TYPE(V)                                  \
	V(PRM_QP_RQ, REGULAR, 0)                             \
	V(PRM_QP_RQ, SHARED, 1) /* an RMP, XRC SRQ or XRQ */ \
	V(PRM_QP_RQ, NONE, 3)
LAYOUT_ENUM(prm_qp_rq_type, PRM_V_QP_RQ_TYPE)

/*
 * qpc.cs_res, cs_req and dctc.cs_res: short payloads go into CQEs (MLX5_RES_SCAT_DATA32_CQE and
 * MLX5_REQ_* of Linux mlx5_ib.h). A DCT has no DATA32 (UCT_IB_MLX5_DCTC_CS_RES_NA of UCX).
 */
#define PRM_V_QP_CS_RES(V)       \
	V(PRM_CS_RES, NONE, 0)   \
	V(PRM_CS_RES, DATA32, 1) \
	V(PRM_CS_RES, DATA64, 2)
LAYOUT_ENUM(prm_qp_cs_res, PRM_V_QP_CS_RES)
#define PRM_V_QP_CS_REQ(V)          \
	V(PRM_CS_REQ, NONE, 0)      \
	V(PRM_CS_REQ, DATA32, 0x11) \
	V(PRM_CS_REQ, DATA64, 0x22)
LAYOUT_ENUM(prm_qp_cs_req, PRM_V_QP_CS_REQ)

#define PRM_V_QP_ATOMIC_MODE(V)      \
	V(PRM_ATOMIC, IB_COMP, 1)    \
	V(PRM_ATOMIC, ONLY_8B, 2)    \
	V(PRM_ATOMIC, UP_TO_8B, 3)   \
	V(PRM_ATOMIC, UP_TO_16B, 4)  \
	V(PRM_ATOMIC, UP_TO_32B, 5)  \
	V(PRM_ATOMIC, UP_TO_64B, 6)  \
	V(PRM_ATOMIC, UP_TO_128B, 7) \
	V(PRM_ATOMIC, UP_TO_256B, 8)
LAYOUT_ENUM(prm_qp_atomic_mode, PRM_V_QP_ATOMIC_MODE)

#define PRM_NAMED_QP(N)                           \
	N(qpc, state, PRM_V_QP_STATE)             \
	N(qpc, st, PRM_V_ST)                      \
	N(qpc, pm_state, PRM_V_PM_STATE)          \
	N(qpc, rq_type, PRM_V_QP_RQ_TYPE)         \
	N(qpc, ts_format, PRM_V_TS_FORMAT)        \
	N(qpc, mtu, IB_V_MTU)                     \
	N(qpc, atomic_mode, PRM_V_QP_ATOMIC_MODE) \
	N(qpc, cs_req, PRM_V_QP_CS_REQ)           \
	N(qpc, cs_res, PRM_V_QP_CS_RES)

#endif
