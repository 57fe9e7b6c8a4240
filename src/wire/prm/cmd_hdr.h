/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Common to all PRM commands. The prm/ headers contain layouts only (data, no behaviour): names,
 * places and sizes of fields are those of the PRM and the kernel's mlx5_ifc.h; bits without a name
 * are reserved. DEVX fields that the kernel's header leaves out (the *_umem_id, *_umem_offset
 * family) follow rdma-core's mlx5_prm_structs.py.
 *
 * Each header lists its layouts again in a PRM_LAYOUTS_*(X) with their sizes; prm.c and the
 * self-test walk those.
 */
#ifndef SOFTHCA_WIRE_PRM_CMD_HDR_H
#define SOFTHCA_WIRE_PRM_CMD_HDR_H

#include "wire/layout.h"

#define PRM_LAYOUT(l, bytes) LAYOUT_NEST(l, bytes, PRM_L_##l)

/* The first rows of every command's input and output. */
#define PRM_CMD_IN(F, l) F(l, opcode, 0x00, 16) F(l, uid, 0x10, 16) F(l, op_mod, 0x30, 16)
#define PRM_CMD_OUT(F, l) F(l, status, 0x00, 8) F(l, syndrome, 0x20, 32)

/* The header alone, for code that handles any command. */
#define PRM_L_cmd_in(F, S) PRM_CMD_IN(F, cmd_in)
#define PRM_L_cmd_out(F, S) PRM_CMD_OUT(F, cmd_out)

/* Most commands for one object have its number here (qpn, cqn, pd, mkey_index, umem_id...). */
#define PRM_L_cmd_id_in(F, S)    \
	PRM_CMD_IN(F, cmd_id_in) \
	F(cmd_id_in, id, 0x48, 24)
#define PRM_L_cmd_id_out(F, S)     \
	PRM_CMD_OUT(F, cmd_id_out) \
	F(cmd_id_out, id, 0x48, 24)

/* A GID or other 16 bytes. */
#define PRM_L_prm_gid(F, S)                 \
	F(prm_gid, subnet_prefix, 0x00, 64) \
	F(prm_gid, interface_id, 0x40, 64)

#define PRM_LAYOUTS_CMD_HDR(X) \
	X(cmd_in, 0x10) X(cmd_out, 0x10) X(cmd_id_in, 0x10) X(cmd_id_out, 0x10) X(prm_gid, 0x10)

PRM_LAYOUTS_CMD_HDR(PRM_LAYOUT)

/* Status of a command: MLX5_CMD_STAT_* of mlx5_core. */
#define PRM_V_STATUS(V)                         \
	V(PRM_STATUS, OK, 0x00)                 \
	V(PRM_STATUS, INT_ERR, 0x01)            \
	V(PRM_STATUS, BAD_OP, 0x02)             \
	V(PRM_STATUS, BAD_PARAM, 0x03)          \
	V(PRM_STATUS, BAD_SYS_STATE, 0x04)      \
	V(PRM_STATUS, BAD_RES, 0x05)            \
	V(PRM_STATUS, RES_BUSY, 0x06)           \
	V(PRM_STATUS, EXCEED_LIM, 0x08)         \
	V(PRM_STATUS, BAD_RES_STATE, 0x09)      \
	V(PRM_STATUS, BAD_INDEX, 0x0a)          \
	V(PRM_STATUS, NO_RESOURCES, 0x0f)       \
	V(PRM_STATUS, BAD_QP_STATE, 0x10)       \
	V(PRM_STATUS, BAD_PKT, 0x30)            \
	V(PRM_STATUS, BAD_SIZE_OUTS_CQES, 0x40) \
	V(PRM_STATUS, BAD_INPUT_LEN, 0x50)      \
	V(PRM_STATUS, BAD_OUTPUT_LEN, 0x51)

/* The unit of completion timestamps, for QPs, RQs and SQs. */
#define PRM_V_TS_FORMAT(V)         \
	V(PRM_TS, FREE_RUNNING, 0) \
	V(PRM_TS, DEFAULT, 1)      \
	V(PRM_TS, REAL_TIME, 2)
LAYOUT_ENUM(prm_ts_format, PRM_V_TS_FORMAT)

#define PRM_NAMED_CMD_HDR(N) N(cmd_out, status, PRM_V_STATUS)

#endif
