/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * General objects: one set of commands for many types. The type is in the place of op_mod; the
 * object follows the header, in the layout of its type. From rdma-core's mlx5_ifc.h.
 */
#ifndef SOFTHCA_WIRE_PRM_GOBJ_H
#define SOFTHCA_WIRE_PRM_GOBJ_H

#include "wire/prm/qos.h"

enum prm_gobj_type {
	PRM_GOBJ_DEK = 0x0c,
	PRM_GOBJ_CRYPTO_LOGIN = 0x1f,
	PRM_GOBJ_SCHEDULING_ELEMENT = 0x26,
	PRM_GOBJ_RESERVED_QPN = 0x2c,
	PRM_GOBJ_AV_QP_MAPPING = 0x3a,
};

#define PRM_GOBJ_IN(F, l)      \
	PRM_CMD_IN(F, l)       \
	F(l, obj_id, 0x40, 32) \
	F(l, log_obj_range, 0x63, 5)
#define PRM_GOBJ_OUT(F, l) \
	PRM_CMD_OUT(F, l)  \
	F(l, obj_id, 0x40, 32)

#define PRM_L_create_general_object_in(F, S) PRM_GOBJ_IN(F, create_general_object_in)
#define PRM_L_create_general_object_out(F, S) PRM_GOBJ_OUT(F, create_general_object_out)
#define PRM_L_modify_general_object_in(F, S) PRM_GOBJ_IN(F, modify_general_object_in)
#define PRM_L_modify_general_object_out(F, S) PRM_GOBJ_OUT(F, modify_general_object_out)
#define PRM_L_query_general_object_in(F, S) PRM_GOBJ_IN(F, query_general_object_in)
#define PRM_L_query_general_object_out(F, S) PRM_GOBJ_OUT(F, query_general_object_out)
#define PRM_L_destroy_general_object_in(F, S) PRM_GOBJ_IN(F, destroy_general_object_in)
#define PRM_L_destroy_general_object_out(F, S) PRM_GOBJ_OUT(F, destroy_general_object_out)

/* ---- what follows the header */

#define PRM_L_sched_elem(F, S)                       \
	F(sched_elem, modify_field_select, 0x00, 64) \
	F(sched_elem, scheduling_hierarchy, 0x40, 8) \
	S(sched_elem, sched_context, scheduling_context, 0x20)

#define PRM_L_ud_av(F, S)                 \
	F(ud_av, sl_or_eth_prio, 0x64, 4) \
	F(ud_av, src_addr_index, 0xe4, 8) \
	S(ud_av, rgid_or_rip, prm_gid, 0x20)

#define PRM_L_av_qp_mapping(F, S)                       \
	F(av_qp_mapping, modify_field_select, 0x00, 64) \
	F(av_qp_mapping, qpn, 0x60, 32)                 \
	S(av_qp_mapping, remote_address_vector, ud_av, 0x10)

/* A data encryption key, and what it may have been wrapped with. */
enum { PRM_DEK_READY = 0, PRM_DEK_ERROR = 1 };       /* state */
enum { PRM_DEK_SIZE_128 = 0, PRM_DEK_SIZE_256 = 1 }; /* key_size */
enum { PRM_DEK_AES_XTS = 3 };                        /* key_purpose */
enum { PRM_DEK_SELECT_KEY = 1 };                     /* modify_field_select */
#define PRM_DEK_KEY_BYTES 0x80

#define PRM_KEY_WORD(F, l, i) F(l, word_##i, 0x40 * i, 64, LAYOUT_HEX)
#define PRM_L_dek_key(F, S)          \
	PRM_KEY_WORD(F, dek_key, 0)  \
	PRM_KEY_WORD(F, dek_key, 1)  \
	PRM_KEY_WORD(F, dek_key, 2)  \
	PRM_KEY_WORD(F, dek_key, 3)  \
	PRM_KEY_WORD(F, dek_key, 4)  \
	PRM_KEY_WORD(F, dek_key, 5)  \
	PRM_KEY_WORD(F, dek_key, 6)  \
	PRM_KEY_WORD(F, dek_key, 7)  \
	PRM_KEY_WORD(F, dek_key, 8)  \
	PRM_KEY_WORD(F, dek_key, 9)  \
	PRM_KEY_WORD(F, dek_key, 10) \
	PRM_KEY_WORD(F, dek_key, 11) \
	PRM_KEY_WORD(F, dek_key, 12) \
	PRM_KEY_WORD(F, dek_key, 13) \
	PRM_KEY_WORD(F, dek_key, 14) \
	PRM_KEY_WORD(F, dek_key, 15)

#define PRM_L_encryption_key_obj(F, S)                       \
	F(encryption_key_obj, modify_field_select, 0x00, 64) \
	F(encryption_key_obj, state, 0x40, 8)                \
	F(encryption_key_obj, key_size, 0x54, 4)             \
	F(encryption_key_obj, has_keytag, 0x58, 1)           \
	F(encryption_key_obj, key_purpose, 0x5c, 4)          \
	F(encryption_key_obj, pd, 0x68, 24)                  \
	F(encryption_key_obj, opaque, 0x180, 64, LAYOUT_HEX) \
	S(encryption_key_obj, key, dek_key, 0x40)

/* A session in which wrapped keys may be loaded. */
enum { PRM_CRYPTO_LOGIN_VALID = 0, PRM_CRYPTO_LOGIN_INVALID = 1 }; /* state */
#define PRM_CREDENTIAL_BYTES 0x30

#define PRM_L_credential(F, S)         \
	PRM_KEY_WORD(F, credential, 0) \
	PRM_KEY_WORD(F, credential, 1) \
	PRM_KEY_WORD(F, credential, 2) \
	PRM_KEY_WORD(F, credential, 3) \
	PRM_KEY_WORD(F, credential, 4) \
	PRM_KEY_WORD(F, credential, 5)

#define PRM_L_crypto_login_obj(F, S)                          \
	F(crypto_login_obj, modify_field_select, 0x00, 64)    \
	F(crypto_login_obj, state, 0x84, 4)                   \
	F(crypto_login_obj, credential_pointer, 0x88, 24)     \
	F(crypto_login_obj, session_import_kek_ptr, 0xa8, 24) \
	S(crypto_login_obj, credential, credential, 0x40)

#define PRM_LAYOUTS_GOBJ(X)                 \
	X(create_general_object_in, 0x10)   \
	X(create_general_object_out, 0x10)  \
	X(modify_general_object_in, 0x10)   \
	X(modify_general_object_out, 0x10)  \
	X(query_general_object_in, 0x10)    \
	X(query_general_object_out, 0x10)   \
	X(destroy_general_object_in, 0x10)  \
	X(destroy_general_object_out, 0x10) \
	X(sched_elem, 0x80)                 \
	X(ud_av, 0x30)                      \
	X(av_qp_mapping, 0x40)              \
	X(dek_key, 0x80)                    \
	X(encryption_key_obj, 0x100)        \
	X(credential, 0x30)                 \
	X(crypto_login_obj, 0x100)

PRM_LAYOUTS_GOBJ(PRM_LAYOUT)

#endif
