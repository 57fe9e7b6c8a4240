/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Work queue elements as libmlx5 and DEVX programs write them. Sources: struct mlx5_wqe_* in
 * <infiniband/mlx5dv.h>, Linux include/linux/mlx5/qp.h. All big-endian.
 */
#ifndef SOFTHCA_WIRE_WQE_WQE_H
#define SOFTHCA_WIRE_WQE_WQE_H

#include "wire/layout.h"

#define WQE_BB 64  /* bytes of a basic block: the unit of the send queue */
#define WQE_SEG 16 /* bytes: the unit of wqe_ctrl.ds */

#define WQE_L_ctrl(F)                    \
	F(wqe_ctrl, opmod, 0x00, 8)      \
	F(wqe_ctrl, wqe_index, 0x08, 16) \
	F(wqe_ctrl, opcode, 0x18, 8)     \
	F(wqe_ctrl, qpn, 0x20, 24)       \
	F(wqe_ctrl, ds, 0x3a, 6)         \
	F(wqe_ctrl, signature, 0x40, 8)  \
	F(wqe_ctrl, stream_id, 0x48, 16) \
	F(wqe_ctrl, fm, 0x58, 3)         \
	F(wqe_ctrl, ce, 0x5c, 2)         \
	F(wqe_ctrl, se, 0x5e, 1)         \
	F(wqe_ctrl, imm, 0x60, 32)
LAYOUT(wqe_ctrl, 0x10, WQE_L_ctrl)

/* ce: when a completion is written. */
enum { WQE_CE_ON_ERROR = 0, WQE_CE_ON_FIRST_ERROR = 1, WQE_CE_ALWAYS = 2, WQE_CE_ALWAYS_EQE = 3 };

#define WQE_L_raddr(F)             \
	F(wqe_raddr, va, 0x00, 64) \
	F(wqe_raddr, rkey, 0x40, 32)
LAYOUT(wqe_raddr, 0x10, WQE_L_raddr)

/*
 * Operands of an atomic. Masked atomics have their own opmod. Their operands (swap, compare, swap
 * mask, compare mask; or add, field boundary) have 4 bytes each, or 8 each in two segments.
 */
#define WQE_L_atomic(F)                   \
	F(wqe_atomic, swap_add, 0x00, 64) \
	F(wqe_atomic, compare, 0x40, 64)
LAYOUT(wqe_atomic, 0x10, WQE_L_atomic)

#define WQE_L_atomic32(F)                    \
	F(wqe_atomic32, swap_add, 0x00, 32)  \
	F(wqe_atomic32, compare, 0x20, 32)   \
	F(wqe_atomic32, swap_mask, 0x40, 32) \
	F(wqe_atomic32, compare_mask, 0x60, 32)
LAYOUT(wqe_atomic32, 0x10, WQE_L_atomic32)
#define WQE_OPMOD_ATOMIC32 0x8
#define WQE_OPMOD_ATOMIC64 0x9

/* First segment of an XRC request: names the SRQ. */
#define WQE_L_xrc(F) F(wqe_xrc, xrc_srqn, 0x08, 24)
LAYOUT(wqe_xrc, 0x10, WQE_L_xrc)

/* byte_count 0 means 2^31. */
#define WQE_L_data(F)                     \
	F(wqe_data, inline_seg, 0x00, 1)  \
	F(wqe_data, byte_count, 0x01, 31) \
	F(wqe_data, lkey, 0x20, 32)       \
	F(wqe_data, addr, 0x40, 64)
LAYOUT(wqe_data, 0x10, WQE_L_data)

#define WQE_INVALID_LKEY 0x100u /* with byte_count 0: ends the list of a receive WQE */
#define WQE_INLINE_HDR 4        /* bytes of an inline segment before its data */
/* The bytes of memory that a data segment names: a byte_count of 0 stands for 2 GiB. */
static inline uint64_t wqe_data_len(const uint8_t *seg)
{
	uint32_t n = LAYOUT_GET32(wqe_data, seg, byte_count);

	return n ? n : UINT64_C(1) << 31;
}
/* The bytes of a WQE that an inline segment with `n` bytes of data takes. */
static inline uint32_t wqe_inline_size(uint32_t n)
{
	return (WQE_INLINE_HDR + n + WQE_SEG - 1) / WQE_SEG * WQE_SEG;
}

/*
 * The WQE of a UMR: this segment, the key's new context (layout mkc), and its list, inline or by a
 * data segment. klm_octowords is the number of entries in the list. Without translation_offset_en,
 * translation_offset is the size of the BSFs behind the list, in 16 bytes.
 */
#define WQE_L_umr(F)                               \
	F(wqe_umr, inline_list, 0x00, 1)           \
	F(wqe_umr, fail_if_free, 0x01, 1)          \
	F(wqe_umr, fail_if_not_free, 0x02, 1)      \
	F(wqe_umr, translation_offset_en, 0x03, 1) \
	F(wqe_umr, check_qpn, 0x04, 1)             \
	F(wqe_umr, klm_octowords, 0x20, 16)        \
	F(wqe_umr, translation_offset, 0x30, 16)   \
	F(wqe_umr, mkey_mask, 0x40, 64)
LAYOUT(wqe_umr, 0x30, WQE_L_umr)
#define WQE_UMR_MKC 0x40 /* Byte offsets in the WQE. */
#define WQE_UMR_LIST 0x80

/* wqe_umr.mkey_mask: context fields that the UMR changes. */
enum {
	WQE_UMR_LEN = 1 << 0,
	WQE_UMR_PAGE_SIZE = 1 << 1,
	WQE_UMR_START_ADDR = 1 << 6,
	WQE_UMR_PD = 1 << 7,
	WQE_UMR_EN_RINVAL = 1 << 8,
	WQE_UMR_SIG_ERR = 1 << 9,
	WQE_UMR_BSF_ENABLE = 1 << 12,
	WQE_UMR_MKEY = 1 << 13,
	WQE_UMR_QPN = 1 << 14,
	WQE_UMR_LR = 1 << 17,
	WQE_UMR_LW = 1 << 18,
	WQE_UMR_RR = 1 << 19,
	WQE_UMR_RW = 1 << 20,
	WQE_UMR_A = 1 << 21,
	WQE_UMR_FREE = 1 << 29,
};

/* An entry of an indirect key's list. KSM entries have no byte_count: all have the same size. */
#define WQE_L_klm(F)                     \
	F(wqe_klm, byte_count, 0x00, 32) \
	F(wqe_klm, mkey, 0x20, 32)       \
	F(wqe_klm, addr, 0x40, 64)
LAYOUT(wqe_klm, 0x10, WQE_L_klm)

/* A strided list: this entry, then num_ent entries, which are repeated repeat_count times. */
#define WQE_L_repeat(F)                       \
	F(wqe_repeat, byte_count, 0x00, 32)   \
	F(wqe_repeat, op, 0x20, 32)           \
	F(wqe_repeat, repeat_count, 0x40, 32) \
	F(wqe_repeat, num_ent, 0x70, 16)
LAYOUT(wqe_repeat, 0x10, WQE_L_repeat)
#define WQE_REPEAT_OP 0x400

#define WQE_L_repeat_ent(F)                     \
	F(wqe_repeat_ent, stride, 0x00, 16)     \
	F(wqe_repeat_ent, byte_count, 0x10, 16) \
	F(wqe_repeat_ent, mkey, 0x20, 32)       \
	F(wqe_repeat_ent, va, 0x40, 64)
LAYOUT(wqe_repeat_ent, 0x10, WQE_L_repeat_ent)

/*
 * The body of an MMO: this segment, then a data segment each for source and destination (struct
 * mlx5_mmo_wqe in rdma-core's providers/mlx5/wqe.h). Its memory is for answers of operations other
 * than DMA.
 */
#define WQE_L_mmo(F)                       \
	F(wqe_mmo, control_31_0, 0x00, 32) \
	F(wqe_mmo, lkey, 0x20, 32)         \
	F(wqe_mmo, addr, 0x40, 64)
LAYOUT(wqe_mmo, 0x10, WQE_L_mmo)
#define WQE_OPMOD_MMO_DMA 0x1
#define WQE_MMO_SRC 0x20 /* Byte offsets in the WQE. */
#define WQE_MMO_DEST 0x30
#define WQE_MMO_BYTES 0x40

/* SET_PSV: start value of the signatures that refer to the PSV (struct mlx5_wqe_set_psv_seg). */
#define WQE_L_psv(F)                    \
	F(wqe_psv, psv_index, 0x08, 24) \
	F(wqe_psv, syndrome, 0x20, 16)  \
	F(wqe_psv, transient_signature, 0x40, 64)
LAYOUT(wqe_psv, 0x10, WQE_L_psv)

/*
 * The byte stream format (BSF) of a signature key, behind the list of a UMR: the format in memory
 * (m_*) and on the wire (w_*), and two inline parts with the tags of T10-DIF (struct mlx5_bsf in
 * rdma-core's providers/mlx5/wqe.h, Linux include/linux/mlx5/qp.h). With `sbs`, the wire has the
 * same blocks as memory, and wire_bs is a mask of the signature bytes that are copied.
 */
#define WQE_L_bsf(F)                         \
	F(wqe_bsf, bsf_size, 0x00, 2)        \
	F(wqe_bsf, sbs, 0x03, 1)             \
	F(wqe_bsf, check_byte_mask, 0x08, 8) \
	F(wqe_bsf, wire_bs, 0x10, 8)         \
	F(wqe_bsf, mem_bs, 0x18, 8)          \
	F(wqe_bsf, raw_data_size, 0x20, 32)  \
	F(wqe_bsf, w_bfs, 0x40, 8)           \
	F(wqe_bsf, w_psv, 0x48, 24)          \
	F(wqe_bsf, m_bfs, 0x60, 8)           \
	F(wqe_bsf, m_psv, 0x68, 24)
LAYOUT(wqe_bsf, 0x20, WQE_L_bsf)

#define WQE_L_bsf_inl(F)                       \
	F(wqe_bsf_inl, valid, 0x00, 1)         \
	F(wqe_bsf_inl, refresh, 0x01, 1)       \
	F(wqe_bsf_inl, apptag, 0x10, 16)       \
	F(wqe_bsf_inl, reftag, 0x20, 32)       \
	F(wqe_bsf_inl, sig_type, 0x40, 8)      \
	F(wqe_bsf_inl, repeat, 0x48, 1)        \
	F(wqe_bsf_inl, seed, 0x4c, 1)          \
	F(wqe_bsf_inl, inc_reftag, 0x69, 1)    \
	F(wqe_bsf_inl, appref_escape, 0x6e, 1) \
	F(wqe_bsf_inl, apptag_escape, 0x6f, 1) \
	F(wqe_bsf_inl, app_bitmask, 0x70, 16)
LAYOUT(wqe_bsf_inl, 0x10, WQE_L_bsf_inl)
#define WQE_BSF_BYTES 0x40    /* all parts of one kind */
#define WQE_BSF_WIRE_INL 0x20 /* Byte offsets. */
#define WQE_BSF_MEM_INL 0x30
/*
 * Values of bsf_size. SIG_AND_CRYPTO: in both BSFs, if a crypto BSF follows the one of signatures.
 */
enum { WQE_BSF_WITH_INLINE = 2, WQE_BSF_SIG_AND_CRYPTO = 3 };
enum { WQE_DIF_CRC = 1, WQE_DIF_IPCS = 2 }; /* sig_type */
/* w_bfs, m_bfs: 0 for T10-DIF, or a CRC and flags. */
#define WQE_BFS_CRC 0xf0
enum { WQE_BFS_CRC32 = 0x20, WQE_BFS_CRC32C = 0x40, WQE_BFS_CRC64 = 0x50 };
enum { WQE_BFS_REPEAT = 2, WQE_BFS_SEED_0 = 1 };

/*
 * The BSF of a crypto key. If the key has signatures, too, it follows their BSF; `type` tells them
 * apart (struct mlx5_crypto_bsf in rdma-core's providers/mlx5/wqe.h).
 */
#define WQE_L_crypto_bsf(F)                                  \
	F(wqe_crypto_bsf, bsf_size, 0x00, 2)                 \
	F(wqe_crypto_bsf, type, 0x04, 4)                     \
	F(wqe_crypto_bsf, enc_order, 0x08, 8)                \
	F(wqe_crypto_bsf, enc_standard, 0x18, 8)             \
	F(wqe_crypto_bsf, raw_data_size, 0x20, 32)           \
	F(wqe_crypto_bsf, bs_pointer, 0x40, 8)               \
	F(wqe_crypto_bsf, xts_tweak_0, 0x80, 64, LAYOUT_HEX) \
	F(wqe_crypto_bsf, xts_tweak_8, 0xc0, 64, LAYOUT_HEX) \
	F(wqe_crypto_bsf, dek_pointer, 0x108, 24)            \
	F(wqe_crypto_bsf, keytag, 0x140, 64, LAYOUT_HEX)
LAYOUT(wqe_crypto_bsf, 0x40, WQE_L_crypto_bsf)
#define WQE_CRYPTO_TWEAK 0x10         /* byte offset */
enum { WQE_BSF_TYPE_CRYPTO = 1 };     /* type */
enum { WQE_CRYPTO_AES_XTS = 0 };      /* enc_standard */
enum {                                /* enc_order: what is encrypted */
       WQE_CRYPTO_WIRE_SIGNATURE = 0, /* bytes on the wire, signatures included */
       WQE_CRYPTO_MEMORY_SIGNATURE = 1,
       WQE_CRYPTO_RAW_WIRE = 2, /* data only */
       WQE_CRYPTO_RAW_MEMORY = 3,
};

/*
 * Address vector of a datagram; without `ext` it has only the first 16 bytes. On Ethernet rlid is
 * the UDP source port.
 */
#define WQE_L_av(F)                                 \
	F(wqe_av, qkey, 0x00, 32)                   \
	F(wqe_av, ext, 0x40, 1)                     \
	F(wqe_av, dqpn, 0x48, 24)                   \
	F(wqe_av, stat_rate, 0x60, 4)               \
	F(wqe_av, sl, 0x64, 4)                      \
	F(wqe_av, fl, 0x68, 1)                      \
	F(wqe_av, mlid, 0x69, 7)                    \
	F(wqe_av, rlid, 0x70, 16)                   \
	F(wqe_av, rmac_47_16, 0xa0, 32, LAYOUT_HEX) \
	F(wqe_av, rmac_15_0, 0xc0, 16, LAYOUT_HEX)  \
	F(wqe_av, tclass, 0xd0, 8)                  \
	F(wqe_av, hop_limit, 0xd8, 8)               \
	F(wqe_av, grh, 0xe1, 1)                     \
	F(wqe_av, sgid_index, 0xe4, 8)              \
	F(wqe_av, flow_label, 0xec, 20)             \
	F(wqe_av, rgid_0, 0x100, 64)                \
	F(wqe_av, rgid_8, 0x140, 64)
LAYOUT(wqe_av, 0x30, WQE_L_av)
#define WQE_AV_COMPACT 0x10
#define WQE_AV_RMAC 0x14 /* byte offsets */
#define WQE_AV_RGID 0x20

/* First segment of an SRQ's WQE (linked list). */
#define WQE_L_srq_next(F)                         \
	F(wqe_srq_next, next_wqe_index, 0x10, 16) \
	F(wqe_srq_next, signature, 0x20, 8)
LAYOUT(wqe_srq_next, 0x10, WQE_L_srq_next)

/* The 40 bytes in front of a datagram (IBTA 8.3). */
#define WQE_L_grh(F)                    \
	F(ib_grh, version, 0x00, 4)     \
	F(ib_grh, tclass, 0x04, 8)      \
	F(ib_grh, flow_label, 0x0c, 20) \
	F(ib_grh, paylen, 0x20, 16)     \
	F(ib_grh, next_hdr, 0x30, 8)    \
	F(ib_grh, hop_limit, 0x38, 8)   \
	F(ib_grh, sgid_0, 0x40, 64)     \
	F(ib_grh, sgid_8, 0x80, 64)     \
	F(ib_grh, dgid_0, 0xc0, 64)     \
	F(ib_grh, dgid_8, 0x100, 64)
LAYOUT(ib_grh, 0x28, WQE_L_grh)
#define IB_GRH_SGID 8
#define IB_GRH_DGID 24

/* Send opcodes: number, name. */
#define WQE_OPCODES(X)            \
	X(0x00, NOP)              \
	X(0x01, SEND_INVAL)       \
	X(0x08, RDMA_WRITE)       \
	X(0x09, RDMA_WRITE_IMM)   \
	X(0x0a, SEND)             \
	X(0x0b, SEND_IMM)         \
	X(0x0e, TSO)              \
	X(0x10, RDMA_READ)        \
	X(0x11, ATOMIC_CS)        \
	X(0x12, ATOMIC_FA)        \
	X(0x14, ATOMIC_MASKED_CS) \
	X(0x15, ATOMIC_MASKED_FA) \
	X(0x19, FMR)              \
	X(0x1b, LOCAL_INVAL)      \
	X(0x1f, CONFIG_CMD)       \
	X(0x20, SET_PSV)          \
	X(0x25, UMR)              \
	X(0x28, TAG_MATCHING)     \
	X(0x2c, FLOW_TBL_ACCESS)  \
	X(0x2f, MMO)
#define WQE_OP_ENUM(nr, name) WQE_OP_##name = (nr),
enum wqe_opcode { WQE_OPCODES(WQE_OP_ENUM) };

const char *wqe_opcode_name(uint8_t opcode);

#endif
