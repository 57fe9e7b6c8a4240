/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Communication management (IBA 12.6, with the vendor fields of ECE): the messages of class 7. Each
 * layout ends where the bytes begin that are the consumer's; CM_AT_* says where these are.
 */
#ifndef SOFTHCA_WIRE_MAD_CM_H
#define SOFTHCA_WIRE_MAD_CM_H

#include "wire/mad/common.h"

#define CM_CLASS_VERSION 2

enum cm_attr {
	CM_ATTR_REQ = 0x0010,
	CM_ATTR_MRA = 0x0011,
	CM_ATTR_REJ = 0x0012,
	CM_ATTR_REP = 0x0013,
	CM_ATTR_RTU = 0x0014,
	CM_ATTR_DREQ = 0x0015,
	CM_ATTR_DREP = 0x0016,
	CM_ATTR_SIDR_REQ = 0x0017,
	CM_ATTR_SIDR_REP = 0x0018,
	CM_ATTR_LAP = 0x0019,
	CM_ATTR_APR = 0x001a,
};

/* Where private data and additional information begin; private data ends with the MAD. */
enum {
	CM_MSG = 24, /* of a message, in the MAD */
	CM_MSG_SIZE = MAD_SIZE - CM_MSG,
	CM_AT_REQ_DATA = 140,
	CM_AT_MRA_DATA = 10,
	CM_AT_REJ_ARI = 12,
	CM_AT_REJ_DATA = 84,
	CM_AT_REP_DATA = 36,
	CM_AT_RTU_DATA = 8,
	CM_AT_DREQ_DATA = 12,
	CM_AT_DREP_DATA = 8,
	CM_AT_LAP_DATA = 64,
	CM_AT_APR_INFO = 12,
	CM_AT_APR_DATA = 84,
	CM_AT_SIDR_REQ_DATA = 16,
	CM_AT_SIDR_REP_INFO = 24,
	CM_AT_SIDR_REP_DATA = 96,
};

#define MAD_L_cm_req(F, S)                                 \
	F(cm_req, local_comm_id, 0x00, 32)                 \
	F(cm_req, vendor_id, 0x28, 24)                     \
	F(cm_req, service_id, 0x40, 64)                    \
	F(cm_req, local_ca_guid, 0x80, 64)                 \
	F(cm_req, local_q_key, 0xe0, 32)                   \
	F(cm_req, local_qpn, 0x100, 24)                    \
	F(cm_req, responder_resources, 0x118, 8)           \
	F(cm_req, local_eecn, 0x120, 24)                   \
	F(cm_req, initiator_depth, 0x138, 8)               \
	F(cm_req, remote_eecn, 0x140, 24)                  \
	F(cm_req, remote_cm_response_timeout, 0x158, 5)    \
	F(cm_req, transport_service_type, 0x15d, 2)        \
	F(cm_req, end_to_end_flow_control, 0x15f, 1)       \
	F(cm_req, starting_psn, 0x160, 24)                 \
	F(cm_req, local_cm_response_timeout, 0x178, 5)     \
	F(cm_req, retry_count, 0x17d, 3)                   \
	F(cm_req, partition_key, 0x180, 16)                \
	F(cm_req, path_packet_payload_mtu, 0x190, 4)       \
	F(cm_req, rdc_exists, 0x194, 1)                    \
	F(cm_req, rnr_retry_count, 0x195, 3)               \
	F(cm_req, max_cm_retries, 0x198, 4)                \
	F(cm_req, srq, 0x19c, 1)                           \
	F(cm_req, extended_transport_type, 0x19d, 3)       \
	F(cm_req, primary_local_port_lid, 0x1a0, 16)       \
	F(cm_req, primary_remote_port_lid, 0x1b0, 16)      \
	S(cm_req, primary_local_port_gid, ib_gid, 0x38)    \
	S(cm_req, primary_remote_port_gid, ib_gid, 0x48)   \
	F(cm_req, primary_flow_label, 0x2c0, 20)           \
	F(cm_req, primary_packet_rate, 0x2da, 6)           \
	F(cm_req, primary_traffic_class, 0x2e0, 8)         \
	F(cm_req, primary_hop_limit, 0x2e8, 8)             \
	F(cm_req, primary_sl, 0x2f0, 4)                    \
	F(cm_req, primary_subnet_local, 0x2f4, 1)          \
	F(cm_req, primary_local_ack_timeout, 0x2f8, 5)     \
	F(cm_req, alternate_local_port_lid, 0x300, 16)     \
	F(cm_req, alternate_remote_port_lid, 0x310, 16)    \
	S(cm_req, alternate_local_port_gid, ib_gid, 0x64)  \
	S(cm_req, alternate_remote_port_gid, ib_gid, 0x74) \
	F(cm_req, alternate_flow_label, 0x420, 20)         \
	F(cm_req, alternate_packet_rate, 0x43a, 6)         \
	F(cm_req, alternate_traffic_class, 0x440, 8)       \
	F(cm_req, alternate_hop_limit, 0x448, 8)           \
	F(cm_req, alternate_sl, 0x450, 4)                  \
	F(cm_req, alternate_subnet_local, 0x454, 1)        \
	F(cm_req, alternate_local_ack_timeout, 0x458, 5)   \
	F(cm_req, sap_supported, 0x45d, 1)
LAYOUT_NEST(cm_req, 140, MAD_L_cm_req)

#define MAD_L_cm_mra(F)                     \
	F(cm_mra, local_comm_id, 0x00, 32)  \
	F(cm_mra, remote_comm_id, 0x20, 32) \
	F(cm_mra, message_mraed, 0x40, 2)   \
	F(cm_mra, service_timeout, 0x48, 5)
LAYOUT(cm_mra, 12, MAD_L_cm_mra)

#define MAD_L_cm_rej(F)                          \
	F(cm_rej, local_comm_id, 0x00, 32)       \
	F(cm_rej, remote_comm_id, 0x20, 32)      \
	F(cm_rej, message_rejected, 0x40, 2)     \
	F(cm_rej, rejected_info_length, 0x48, 7) \
	F(cm_rej, reason, 0x50, 16)
LAYOUT(cm_rej, 12, MAD_L_cm_rej)

#define MAD_L_cm_rep(F)                              \
	F(cm_rep, local_comm_id, 0x00, 32)           \
	F(cm_rep, remote_comm_id, 0x20, 32)          \
	F(cm_rep, local_q_key, 0x40, 32)             \
	F(cm_rep, local_qpn, 0x60, 24)               \
	F(cm_rep, vendor_id_h, 0x78, 8)              \
	F(cm_rep, local_ee_context_number, 0x80, 24) \
	F(cm_rep, vendor_id_m, 0x98, 8)              \
	F(cm_rep, starting_psn, 0xa0, 24)            \
	F(cm_rep, vendor_id_l, 0xb8, 8)              \
	F(cm_rep, responder_resources, 0xc0, 8)      \
	F(cm_rep, initiator_depth, 0xc8, 8)          \
	F(cm_rep, target_ack_delay, 0xd0, 5)         \
	F(cm_rep, failover_accepted, 0xd5, 2)        \
	F(cm_rep, end_to_end_flow_control, 0xd7, 1)  \
	F(cm_rep, rnr_retry_count, 0xd8, 3)          \
	F(cm_rep, srq, 0xdb, 1)                      \
	F(cm_rep, local_ca_guid, 0xe0, 64)
LAYOUT(cm_rep, 36, MAD_L_cm_rep)

#define MAD_L_cm_rtu(F)                    \
	F(cm_rtu, local_comm_id, 0x00, 32) \
	F(cm_rtu, remote_comm_id, 0x20, 32)
LAYOUT(cm_rtu, 8, MAD_L_cm_rtu)

#define MAD_L_cm_dreq(F)                     \
	F(cm_dreq, local_comm_id, 0x00, 32)  \
	F(cm_dreq, remote_comm_id, 0x20, 32) \
	F(cm_dreq, remote_qpn_eecn, 0x40, 24)
LAYOUT(cm_dreq, 12, MAD_L_cm_dreq)

#define MAD_L_cm_drep(F)                    \
	F(cm_drep, local_comm_id, 0x00, 32) \
	F(cm_drep, remote_comm_id, 0x20, 32)
LAYOUT(cm_drep, 8, MAD_L_cm_drep)

#define MAD_L_cm_lap(F, S)                                 \
	F(cm_lap, local_comm_id, 0x00, 32)                 \
	F(cm_lap, remote_comm_id, 0x20, 32)                \
	F(cm_lap, remote_qpn_eecn, 0x60, 24)               \
	F(cm_lap, remote_cm_response_timeout, 0x78, 5)     \
	F(cm_lap, alternate_local_port_lid, 0xa0, 16)      \
	F(cm_lap, alternate_remote_port_lid, 0xb0, 16)     \
	S(cm_lap, alternate_local_port_gid, ib_gid, 0x18)  \
	S(cm_lap, alternate_remote_port_gid, ib_gid, 0x28) \
	F(cm_lap, alternate_flow_label, 0x1c0, 20)         \
	F(cm_lap, alternate_traffic_class, 0x1d8, 8)       \
	F(cm_lap, alternate_hop_limit, 0x1e0, 8)           \
	F(cm_lap, alternate_packet_rate, 0x1ea, 6)         \
	F(cm_lap, alternate_sl, 0x1f0, 4)                  \
	F(cm_lap, alternate_subnet_local, 0x1f4, 1)        \
	F(cm_lap, alternate_local_ack_timeout, 0x1f8, 5)
LAYOUT_NEST(cm_lap, 64, MAD_L_cm_lap)

#define MAD_L_cm_apr(F)                                   \
	F(cm_apr, local_comm_id, 0x00, 32)                \
	F(cm_apr, remote_comm_id, 0x20, 32)               \
	F(cm_apr, additional_information_length, 0x40, 8) \
	F(cm_apr, ar_status, 0x48, 8)
LAYOUT(cm_apr, 12, MAD_L_cm_apr)

#define MAD_L_cm_sidr_req(F)                    \
	F(cm_sidr_req, request_id, 0x00, 32)    \
	F(cm_sidr_req, partition_key, 0x20, 16) \
	F(cm_sidr_req, service_id, 0x40, 64)
LAYOUT(cm_sidr_req, 16, MAD_L_cm_sidr_req)

#define MAD_L_cm_sidr_rep(F)                                   \
	F(cm_sidr_rep, request_id, 0x00, 32)                   \
	F(cm_sidr_rep, status, 0x20, 8)                        \
	F(cm_sidr_rep, additional_information_length, 0x28, 8) \
	F(cm_sidr_rep, vendor_id_h, 0x30, 16)                  \
	F(cm_sidr_rep, qpn, 0x40, 24)                          \
	F(cm_sidr_rep, vendor_id_l, 0x58, 8)                   \
	F(cm_sidr_rep, service_id, 0x60, 64)                   \
	F(cm_sidr_rep, q_key, 0xa0, 32)
LAYOUT(cm_sidr_rep, 24, MAD_L_cm_sidr_rep)

/*
 * The start of the private data of librdmacm's connections, in a REQ or SIDR_REQ whose service ID
 * is one of RDMA IP CM (IBA annex A11). An IPv4 address is the last 4 bytes of 16.
 */
#define MAD_L_cma_hdr(F, S)                \
	F(cma_hdr, cma_version, 0x00, 8)   \
	F(cma_hdr, ip_version, 0x08, 4)    \
	F(cma_hdr, port, 0x10, 16)         \
	S(cma_hdr, src_addr, ib_gid, 0x04) \
	S(cma_hdr, dst_addr, ib_gid, 0x14)
LAYOUT_NEST(cma_hdr, 36, MAD_L_cma_hdr)
enum { CMA_HDR_IP4 = 12 /* in an address */ };
#define CM_SERVICE_ID_CMA UINT64_C(0x0000000001000000)
#define CM_SERVICE_ID_CMA_MASK UINT64_C(0xffffffffff000000)

/* transport_service_type; XRC's is in extended_transport_type, too. */
#define CM_V_TRANSPORT(V) \
	V(CM_TRANSPORT, RC, 0) V(CM_TRANSPORT, UC, 1) V(CM_TRANSPORT, RD, 2) V(CM_TRANSPORT, EXT, 3)
LAYOUT_ENUM(cm_transport_type, CM_V_TRANSPORT)
enum { CM_EXT_TRANSPORT_XRC = 1 };

/* Which message an MRA or a REJ means. */
#define CM_V_MSG(V) V(CM_MSG, REQ, 0) V(CM_MSG, REP, 1) V(CM_MSG, OTHER, 2)
LAYOUT_ENUM(cm_msg, CM_V_MSG)

/* IBA 12.6.7.2, table of rejection reasons. */
#define CM_V_REJ(V)                                \
	V(CM_REJ, NO_QP, 1)                        \
	V(CM_REJ, NO_EEC, 2)                       \
	V(CM_REJ, NO_RESOURCES, 3)                 \
	V(CM_REJ, TIMEOUT, 4)                      \
	V(CM_REJ, UNSUPPORTED, 5)                  \
	V(CM_REJ, INVALID_COMM_ID, 6)              \
	V(CM_REJ, INVALID_COMM_INSTANCE, 7)        \
	V(CM_REJ, INVALID_SERVICE_ID, 8)           \
	V(CM_REJ, INVALID_TRANSPORT_TYPE, 9)       \
	V(CM_REJ, STALE_CONN, 10)                  \
	V(CM_REJ, RDC_NOT_EXIST, 11)               \
	V(CM_REJ, INVALID_GID, 12)                 \
	V(CM_REJ, INVALID_LID, 13)                 \
	V(CM_REJ, INVALID_SL, 14)                  \
	V(CM_REJ, INVALID_TRAFFIC_CLASS, 15)       \
	V(CM_REJ, INVALID_HOP_LIMIT, 16)           \
	V(CM_REJ, INVALID_PACKET_RATE, 17)         \
	V(CM_REJ, INVALID_ALT_GID, 18)             \
	V(CM_REJ, INVALID_ALT_LID, 19)             \
	V(CM_REJ, INVALID_ALT_SL, 20)              \
	V(CM_REJ, INVALID_ALT_TRAFFIC_CLASS, 21)   \
	V(CM_REJ, INVALID_ALT_HOP_LIMIT, 22)       \
	V(CM_REJ, INVALID_ALT_PACKET_RATE, 23)     \
	V(CM_REJ, PORT_CM_REDIRECT, 24)            \
	V(CM_REJ, PORT_REDIRECT, 25)               \
	V(CM_REJ, INVALID_MTU, 26)                 \
	V(CM_REJ, INSUFFICIENT_RESP_RESOURCES, 27) \
	V(CM_REJ, CONSUMER_DEFINED, 28)            \
	V(CM_REJ, INVALID_RNR_RETRY, 29)           \
	V(CM_REJ, DUPLICATE_LOCAL_COMM_ID, 30)     \
	V(CM_REJ, INVALID_CLASS_VERSION, 31)       \
	V(CM_REJ, INVALID_FLOW_LABEL, 32)          \
	V(CM_REJ, INVALID_ALT_FLOW_LABEL, 33)      \
	V(CM_REJ, VENDOR_OPTION_NOT_SUPPORTED, 35)
LAYOUT_ENUM(cm_rej_reason, CM_V_REJ)

/* IBA 12.11.2.1 */
#define CM_V_SIDR(V)               \
	V(CM_SIDR, SUCCESS, 0)     \
	V(CM_SIDR, UNSUPPORTED, 1) \
	V(CM_SIDR, REJECT, 2)      \
	V(CM_SIDR, NO_QP, 3)       \
	V(CM_SIDR, REDIRECT, 4)    \
	V(CM_SIDR, UNSUPPORTED_VERSION, 5)
LAYOUT_ENUM(cm_sidr_status, CM_V_SIDR)

/* Names of values. */
#define MAD_NAMED_CM(N)                                   \
	N(cm_req, transport_service_type, CM_V_TRANSPORT) \
	N(cm_req, path_packet_payload_mtu, IB_V_MTU)      \
	N(cm_mra, message_mraed, CM_V_MSG)                \
	N(cm_rej, message_rejected, CM_V_MSG)             \
	N(cm_rej, reason, CM_V_REJ)                       \
	N(cm_sidr_rep, status, CM_V_SIDR)

/* A row per layout. */
/* clang-format off */
#define MAD_CM_LAYOUTS(X) \
	X(cm_mra, MAD_L_cm_mra) \
	X(cm_rej, MAD_L_cm_rej) \
	X(cm_rep, MAD_L_cm_rep) \
	X(cm_rtu, MAD_L_cm_rtu) \
	X(cm_dreq, MAD_L_cm_dreq) \
	X(cm_drep, MAD_L_cm_drep) \
	X(cm_apr, MAD_L_cm_apr) \
	X(cm_sidr_req, MAD_L_cm_sidr_req) \
	X(cm_sidr_rep, MAD_L_cm_sidr_rep)
#define MAD_CM_NEST_LAYOUTS(X) \
	X(cm_req, MAD_L_cm_req) \
	X(cm_lap, MAD_L_cm_lap) \
	X(cma_hdr, MAD_L_cma_hdr)
/* clang-format on */

#endif
