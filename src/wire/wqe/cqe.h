/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Completion queue entries, version 1, 64 bytes (of a 128-byte entry: the second half). Sources:
 * struct mlx5_cqe64 and mlx5_err_cqe in <infiniband/mlx5dv.h>. All big-endian.
 */
#ifndef SOFTHCA_WIRE_WQE_CQE_H
#define SOFTHCA_WIRE_WQE_CQE_H

#include "wire/layout.h"

#define CQE_L_cqe64(F)                      \
	F(cqe64, wqe_id, 0x10, 16)          \
	F(cqe64, rx_hash_result, 0x60, 32)  \
	F(cqe64, ml_path, 0x88, 8)          \
	F(cqe64, checksum, 0xa0, 16)        \
	F(cqe64, slid, 0xb0, 16)            \
	F(cqe64, grh, 0xc2, 2)              \
	F(cqe64, sl, 0xc4, 4)               \
	F(cqe64, rqpn, 0xc8, 24)            \
	F(cqe64, hds_ip_ext, 0xe0, 8)       \
	F(cqe64, l4_hdr_type, 0xe8, 8)      \
	F(cqe64, vlan_info, 0xf0, 16)       \
	F(cqe64, srqn_uidx, 0x100, 32)      \
	F(cqe64, imm_inval_pkey, 0x120, 32) \
	F(cqe64, app, 0x140, 8)             \
	F(cqe64, app_op, 0x148, 8)          \
	F(cqe64, app_info, 0x150, 16)       \
	F(cqe64, byte_cnt, 0x160, 32)       \
	F(cqe64, timestamp, 0x180, 64)      \
	F(cqe64, send_opcode, 0x1c0, 8)     \
	F(cqe64, qpn, 0x1c8, 24)            \
	F(cqe64, wqe_counter, 0x1e0, 16)    \
	F(cqe64, signature, 0x1f0, 8)       \
	F(cqe64, opcode, 0x1f8, 4)          \
	F(cqe64, format, 0x1fc, 2)          \
	F(cqe64, se, 0x1fe, 1)              \
	F(cqe64, owner, 0x1ff, 1)
LAYOUT(cqe64, 0x40, CQE_L_cqe64)
/*
 * cqe64.format. DATA_32: the payload stands in the first 32 bytes of cqe64, in place of the fields
 * there; DATA_64: in the 64 bytes in front of cqe64, the first half of a CQE of 128 bytes
 * (MLX5_INLINE_SCATTER_32 and _64 of <infiniband/mlx5dv.h>).
 */
#define CQE_V_FORMAT(V)           \
	V(CQE_FORMAT, NO_DATA, 0) \
	V(CQE_FORMAT, DATA_32, 1) \
	V(CQE_FORMAT, DATA_64, 2) \
	V(CQE_FORMAT, COMPRESSED, 3)
LAYOUT_ENUM(cqe_format, CQE_V_FORMAT)
#define CQE_DATA_MAX 64
/* The bytes of payload that a CQE of that format holds. */
static inline uint32_t cqe_format_room(uint32_t format)
{
	return format == CQE_FORMAT_DATA_32 ? 32 : format == CQE_FORMAT_DATA_64 ? CQE_DATA_MAX : 0;
}

/*
 * A mini CQE in a compressed session; cqe64.format selects the layout (struct mlx5_mini_cqe8 of
 * Linux mlx5/device.h).
 */
#define CQE_L_mini_hash(F)                     \
	F(mini_hash, rx_hash_result, 0x00, 32) \
	F(mini_hash, byte_cnt, 0x20, 32)
LAYOUT(mini_hash, 0x08, CQE_L_mini_hash)
#define CQE_L_mini_csum(F)                   \
	F(mini_csum, checksum, 0x00, 16)     \
	F(mini_csum, stride_index, 0x10, 16) \
	F(mini_csum, byte_cnt, 0x20, 32)
LAYOUT(mini_csum, 0x08, CQE_L_mini_csum)

/*
 * Bit of l4_hdr_type: the frame has a VLAN tag (handle_responder() tests it as l4_l3_hdr_type & 1).
 */
#define CQE_L4_VLAN_PRESENT 1

#define CQE_L_err(F)                       \
	F(err_cqe, srqn_uidx, 0x100, 32)   \
	F(err_cqe, hw_err_synd, 0x1a0, 8)  \
	F(err_cqe, hw_synd_type, 0x1a8, 8) \
	F(err_cqe, vendor_err, 0x1b0, 8)   \
	F(err_cqe, syndrome, 0x1b8, 8)     \
	F(err_cqe, send_opcode, 0x1c0, 8)  \
	F(err_cqe, qpn, 0x1c8, 24)         \
	F(err_cqe, wqe_counter, 0x1e0, 16) \
	F(err_cqe, signature, 0x1f0, 8)    \
	F(err_cqe, opcode, 0x1f8, 4)       \
	F(err_cqe, se, 0x1fe, 1)           \
	F(err_cqe, owner, 0x1ff, 1)
LAYOUT(err_cqe, 0x40, CQE_L_err)

/*
 * A wrong signature in data that went through a key (struct mlx5_sigerr_cqe in rdma-core's
 * providers/mlx5/cq.c; struct mlx5_sig_err_cqe in Linux include/linux/mlx5/device.h has the qpn,
 * too). T10-DIF: guard and application tag are one trans_sig.
 */
#define CQE_L_sigerr(F)                                         \
	F(sigerr_cqe, expected_trans_sig, 0x80, 32, LAYOUT_HEX) \
	F(sigerr_cqe, actual_trans_sig, 0xa0, 32, LAYOUT_HEX)   \
	F(sigerr_cqe, expected_ref_tag, 0xc0, 32, LAYOUT_HEX)   \
	F(sigerr_cqe, actual_ref_tag, 0xe0, 32, LAYOUT_HEX)     \
	F(sigerr_cqe, syndrome, 0x100, 16, LAYOUT_HEX)          \
	F(sigerr_cqe, sig_type, 0x110, 8)                       \
	F(sigerr_cqe, domain, 0x118, 8)                         \
	F(sigerr_cqe, mkey, 0x120, 32)                          \
	F(sigerr_cqe, sig_err_offset, 0x140, 64)                \
	F(sigerr_cqe, qpn, 0x1c8, 24)                           \
	F(sigerr_cqe, signature, 0x1f0, 8)                      \
	F(sigerr_cqe, opcode, 0x1f8, 4)                         \
	F(sigerr_cqe, owner, 0x1ff, 1)
LAYOUT(sigerr_cqe, 0x40, CQE_L_sigerr)
/* Values of sigerr_cqe.syndrome (MLX5_SIGERR_CQE_SYNDROME_*) and of sigerr_cqe.domain. */
enum { CQE_SIG_REFTAG = 1 << 11, CQE_SIG_APPTAG = 1 << 12, CQE_SIG_GUARD = 1 << 13 };
enum { CQE_SIG_WIRE = 0, CQE_SIG_MEMORY = 1 };

#define CQE_V_OPCODE(V)          \
	V(CQE, REQ, 0)           \
	V(CQE, RESP_WR_IMM, 1)   \
	V(CQE, RESP_SEND, 2)     \
	V(CQE, RESP_SEND_IMM, 3) \
	V(CQE, RESP_SEND_INV, 4) \
	V(CQE, RESIZE, 5)        \
	V(CQE, SIG_ERR, 12)      \
	V(CQE, NO_PACKET, 6)     \
	V(CQE, REQ_ERR, 13)      \
	V(CQE, RESP_ERR, 14)     \
	V(CQE, INVALID, 15)
LAYOUT_ENUM(cqe_opcode, CQE_V_OPCODE)

/* The low bits of cqe64.sl on an Ethernet port: the packet's network header. */
enum { CQE_ROCE_L3_GRH = 0, CQE_ROCE_L3_IP6 = 1, CQE_ROCE_L3_IP4 = 2 };

/* Values of err_cqe.syndrome: number, name. */
#define CQE_SYNDROMES(X)             \
	X(0x01, LOCAL_LENGTH)        \
	X(0x02, LOCAL_QP_OP)         \
	X(0x04, LOCAL_PROT)          \
	X(0x05, WR_FLUSH)            \
	X(0x06, MW_BIND)             \
	X(0x10, BAD_RESP)            \
	X(0x11, LOCAL_ACCESS)        \
	X(0x12, REMOTE_INVAL_REQ)    \
	X(0x13, REMOTE_ACCESS)       \
	X(0x14, REMOTE_OP)           \
	X(0x15, TRANSPORT_RETRY_EXC) \
	X(0x16, RNR_RETRY_EXC)       \
	X(0x22, REMOTE_ABORTED)
#define CQE_SYND_ENUM(nr, name) CQE_SYND_##name = (nr),
enum cqe_syndrome { CQE_SYNDROMES(CQE_SYND_ENUM) };

const char *cqe_syndrome_name(uint8_t syndrome);

#endif
