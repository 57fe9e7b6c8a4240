/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory keys: the mkey context and its commands. */
#ifndef SOFTHCA_WIRE_PRM_MKEY_H
#define SOFTHCA_WIRE_PRM_MKEY_H

#include "wire/prm/cmd_hdr.h"

#define PRM_L_mkc(F, S)                                    \
	F(mkc, free, 0x01, 1)                              \
	F(mkc, access_mode_4_2, 0x03, 3)                   \
	F(mkc, relaxed_ordering_write, 0x0d, 1)            \
	F(mkc, small_fence_on_rdma_read_response, 0x0f, 1) \
	F(mkc, umr_en, 0x10, 1)                            \
	F(mkc, a, 0x11, 1)                                 \
	F(mkc, rw, 0x12, 1)                                \
	F(mkc, rr, 0x13, 1)                                \
	F(mkc, lw, 0x14, 1)                                \
	F(mkc, lr, 0x15, 1)                                \
	F(mkc, access_mode_1_0, 0x16, 2)                   \
	F(mkc, ma_translation_mode, 0x1a, 2)               \
	F(mkc, qpn, 0x20, 24)                              \
	F(mkc, mkey_7_0, 0x38, 8)                          \
	F(mkc, length64, 0x60, 1)                          \
	F(mkc, bsf_en, 0x61, 1)                            \
	F(mkc, sync_umr, 0x62, 1)                          \
	F(mkc, expected_sigerr_count, 0x65, 1)             \
	F(mkc, en_rinval, 0x67, 1)                         \
	F(mkc, pd, 0x68, 24)                               \
	F(mkc, start_addr, 0x80, 64)                       \
	F(mkc, len, 0xc0, 64)                              \
	F(mkc, bsf_octword_size, 0x100, 32)                \
	F(mkc, translations_octword_size, 0x1a0, 32)       \
	F(mkc, relaxed_ordering_read, 0x1d9, 1)            \
	F(mkc, log_page_size, 0x1db, 5)                    \
	F(mkc, crypto_en, 0x1e3, 2)

#define PRM_L_create_mkey_in(F, S)                                     \
	PRM_CMD_IN(F, create_mkey_in)                                  \
	F(create_mkey_in, pg_access, 0x60, 1)                          \
	F(create_mkey_in, mkey_umem_valid, 0x61, 1)                    \
	S(create_mkey_in, memory_key_mkey_entry, mkc, 0x10)            \
	F(create_mkey_in, translations_octword_actual_size, 0x300, 32) \
	F(create_mkey_in, mkey_umem_id, 0x320, 32)                     \
	F(create_mkey_in, mkey_umem_offset, 0x340, 64)

#define PRM_L_create_mkey_out(F, S)     \
	PRM_CMD_OUT(F, create_mkey_out) \
	F(create_mkey_out, mkey_index, 0x48, 24)

#define PRM_L_query_mkey_in(F, S)              \
	PRM_CMD_IN(F, query_mkey_in)           \
	F(query_mkey_in, mkey_index, 0x48, 24) \
	F(query_mkey_in, pg_access, 0x60, 1)

#define PRM_L_query_mkey_out(F, S)                              \
	PRM_CMD_OUT(F, query_mkey_out)                          \
	S(query_mkey_out, memory_key_mkey_entry, mkc, 0x10)     \
	S(query_mkey_out, bsf0_klm0_pas_mtt0_1, prm_gid, 0x110) \
	S(query_mkey_out, bsf1_klm1_pas_mtt2_3, prm_gid, 0x120)

#define PRM_L_destroy_mkey_in(F, S)    \
	PRM_CMD_IN(F, destroy_mkey_in) \
	F(destroy_mkey_in, mkey_index, 0x48, 24)

#define PRM_L_destroy_mkey_out(F, S) PRM_CMD_OUT(F, destroy_mkey_out)

#define PRM_LAYOUTS_MKEY(X)      \
	X(mkc, 0x40)             \
	X(create_mkey_in, 0x110) \
	X(create_mkey_out, 0x10) \
	X(query_mkey_in, 0x10)   \
	X(query_mkey_out, 0x130) \
	X(destroy_mkey_in, 0x10) \
	X(destroy_mkey_out, 0x10)

PRM_LAYOUTS_MKEY(PRM_LAYOUT)

/*
 * mkc.access_mode_4_2 and access_mode_1_0 together; 4 and 5, which need the former, have no name.
 */
#define PRM_V_MKC_MODE(V)  \
	V(PRM_MKC, PA, 0)  \
	V(PRM_MKC, MTT, 1) \
	V(PRM_MKC, KLM, 2) \
	V(PRM_MKC, KSM, 3)
LAYOUT_ENUM(prm_mkc_mode, PRM_V_MKC_MODE)
enum { PRM_MKC_MEMIC = 5 };

#define PRM_NAMED_MKEY(N) N(mkc, access_mode_1_0, PRM_V_MKC_MODE)

#endif
