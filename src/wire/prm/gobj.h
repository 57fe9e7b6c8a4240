/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * General objects: one set of commands for many types. The type is in the place of op_mod; the
 * object follows the header, in the layout of its type. From rdma-core's mlx5_ifc.h.
 */
#ifndef SOFTHCA_WIRE_PRM_GOBJ_H
#define SOFTHCA_WIRE_PRM_GOBJ_H

#include "wire/prm/qos.h"

enum prm_gobj_type {
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
	X(av_qp_mapping, 0x40)

PRM_LAYOUTS_GOBJ(PRM_LAYOUT)

#endif
