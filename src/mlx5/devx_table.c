/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of DEVX commands: which commands the kernel lets a program send
 * (drivers/infiniband/hw/mlx5/ devx.c), where they have the object's number, and how the object is
 * destroyed. Whether the firmware knows a command is not checked here. Pure functions over command
 * bytes; called by devx.c.
 */
#include "mlx5/devx_table.h"
#include "mlx5/for_tests.h"
#include "util/cleanup.h"
#include "wire/prm/cq.h"
#include "wire/prm/gobj.h"
#include "wire/prm/mcg.h"
#include "wire/prm/opcodes.h"
#include "wire/prm/qctr.h"
#include "wire/prm/qp.h"
#include "wire/prm/raw.h"
#include "wire/prm/rmp_srq.h"
#include "wire/prm/xrc.h"
#include "wire/prm/xrq.h"

/* clang-format off */
#define FIELD(l, f) {LF_##l##_##f##_BIT, LF_##l##_##f##_WIDTH}
/* A field of a layout that lies at byte `at` of the command. */
#define FIELD_AT(at, l, f) {(at) * 8 + LF_##l##_##f##_BIT, LF_##l##_##f##_WIDTH}
#define NUMBER FIELD(cmd_id_in, id)	/* qpn, cqn, pd, mkey_index... */
#define OBJ_ID FIELD(query_general_object_in, obj_id)
#define OBJ_TYPE FIELD(cmd_in, op_mod)	/* stands in its place */
#define SCHED_ID FIELD(query_scheduling_element_in, scheduling_element_id)
#define UDP_PORT FIELD(add_vxlan_udp_dport_in, vxlan_udp_port)
#define L2_INDEX FIELD(set_l2_table_entry_in, table_index)
#define GROUP_ID FIELD(query_flow_group_in, group_id)
#define FLOW_INDEX FIELD(set_fte_in, flow_index)
#define TABLE_ID FIELD(query_flow_table_in, table_id)
#define REFORMAT_ID FIELD(alloc_packet_reformat_out, packet_reformat_id)
#define HEADER_ID FIELD(alloc_modify_header_out, modify_header_id)
#define IN_VPORT                                                                             \
	FIELD(create_flow_table_in, other_vport), FIELD(create_flow_table_in, vport_number), \
	FIELD(create_flow_table_in, table_type)
#define GID_DWORD(n) {(LP_attach_to_mcg_in_multicast_gid + 4 * (n)) * 8, 32}
#define MCG_GID GID_DWORD(0), GID_DWORD(1), GID_DWORD(2), GID_DWORD(3)
/*
 * The dbr_umem_valid and wq_umem_valid bits of a work queue; its context `ctx` is at `place` of the
 * command.
 */
#define WQ_VALID(cmd, place, ctx)                                                \
	FIELD_AT(LP_##cmd##_##place + LP_##ctx##_wq, wq, dbr_umem_valid),        \
	FIELD_AT(LP_##cmd##_##place + LP_##ctx##_wq, wq, wq_umem_valid)

/*
 * How an object is destroyed: command, its length, place of the number; fields copied from the
 * creation.
 */
#define UNDO(op, n, ...) .destroy = {.opcode = PRM_OP_##op, .len = (n), .id = __VA_ARGS__}
#define UNDO_COPY(op, n, at, ...) \
	.destroy = {.opcode = PRM_OP_##op, .len = (n), .id = at, .copy = __VA_ARGS__}

#define OTHER .methods = DEVX_OTHER
#define MADE(op, ...) \
	.opcode = PRM_OP_##op, .methods = DEVX_CREATE, .maker = PRM_OP_##op, .id = __VA_ARGS__
#define MADE_AND_MODIFIED(op, ...)                                                         \
	.opcode = PRM_OP_##op, .methods = DEVX_CREATE | DEVX_MODIFY, .maker = PRM_OP_##op, \
	.id = __VA_ARGS__
#define MODIFIES(op, made_by, ...) \
	.opcode = PRM_OP_##op, .methods = DEVX_MODIFY, .maker = PRM_OP_##made_by, .id = __VA_ARGS__
#define QUERIES(op, made_by, ...) \
	.opcode = PRM_OP_##op, .methods = DEVX_QUERY, .maker = PRM_OP_##made_by, .id = __VA_ARGS__

/* Sorted by opcode, for a binary search. */
const struct devx_cmd devx_cmds[] = {
	{.opcode = PRM_OP_QUERY_HCA_CAP, OTHER, .flags = DEVX_NO_UID},
	{.opcode = PRM_OP_QUERY_ADAPTER, OTHER},
	{.opcode = PRM_OP_QUERY_ISSI, OTHER},
	{MADE(CREATE_MKEY, NUMBER),
	 UNDO(DESTROY_MKEY, 0x10, NUMBER)},
	{QUERIES(QUERY_MKEY, CREATE_MKEY, NUMBER)},
	{MADE(CREATE_CQ, NUMBER),
	 .umem_valid = {FIELD(create_cq_in, cq_umem_valid),
			FIELD_AT(LP_create_cq_in_cq_context, cqc, dbr_umem_valid)},
	 UNDO(DESTROY_CQ, 0x10, NUMBER)},
	{QUERIES(QUERY_CQ, CREATE_CQ, NUMBER)},
	{MODIFIES(MODIFY_CQ, CREATE_CQ, NUMBER),
	 .umem_valid = {FIELD(modify_cq_in, cq_umem_valid)}},
	{MADE(CREATE_QP, NUMBER),
	 .umem_valid = {FIELD(create_qp_in, wq_umem_valid),
			FIELD_AT(LP_create_qp_in_qpc, qpc, dbr_umem_valid)},
	 UNDO(DESTROY_QP, 0x10, NUMBER)},
	{MODIFIES(RST2INIT_QP, CREATE_QP, NUMBER)},
	{MODIFIES(INIT2RTR_QP, CREATE_QP, NUMBER)},
	{MODIFIES(RTR2RTS_QP, CREATE_QP, NUMBER)},
	{MODIFIES(RTS2RTS_QP, CREATE_QP, NUMBER)},
	{MODIFIES(SQERR2RTS_QP, CREATE_QP, NUMBER)},
	{MODIFIES(2ERR_QP, CREATE_QP, NUMBER)},
	{MODIFIES(2RST_QP, CREATE_QP, NUMBER)},
	{QUERIES(QUERY_QP, CREATE_QP, NUMBER)},
	{MODIFIES(INIT2INIT_QP, CREATE_QP, NUMBER)},
	{MADE(CREATE_PSV, FIELD(create_psv_out, psv0_index)),
	 .must = {FIELD(create_psv_in, num_psv), 1, 0},
	 UNDO(DESTROY_PSV, 0x10, NUMBER)},
	{MADE(CREATE_SRQ, NUMBER),
	 UNDO(DESTROY_SRQ, 0x10, NUMBER)},
	{QUERIES(QUERY_SRQ, CREATE_SRQ, NUMBER)},
	{MODIFIES(ARM_RQ, CREATE_RQ, NUMBER)},
	{MADE(CREATE_XRC_SRQ, NUMBER),
	 .umem_valid = {FIELD(create_xrc_srq_in, xrc_srq_umem_valid),
			FIELD_AT(LP_create_xrc_srq_in_xrc_srq_context_entry, xrc_srqc,
				 dbr_umem_valid)},
	 UNDO(DESTROY_XRC_SRQ, 0x10, NUMBER)},
	{QUERIES(QUERY_XRC_SRQ, CREATE_XRC_SRQ, NUMBER)},
	{MODIFIES(ARM_XRC_SRQ, CREATE_XRC_SRQ, NUMBER)},
	{MADE(CREATE_DCT, NUMBER),
	 UNDO(DESTROY_DCT, 0x10, NUMBER)},
	{QUERIES(QUERY_DCT, CREATE_DCT, NUMBER)},
	{MODIFIES(ARM_DCT_FOR_KEY_VIOLATION, CREATE_DCT, NUMBER)},
	{MADE(CREATE_XRQ, NUMBER), .umem_valid = {WQ_VALID(create_xrq_in, xrq_context, xrqc)},
	 UNDO(DESTROY_XRQ, 0x10, NUMBER)},
	{QUERIES(QUERY_XRQ, CREATE_XRQ, NUMBER)},
	{MODIFIES(ARM_XRQ, CREATE_XRQ, NUMBER)},
	{QUERIES(QUERY_XRQ_DC_PARAMS_ENTRY, CREATE_XRQ, NUMBER)},
	{MODIFIES(SET_XRQ_DC_PARAMS_ENTRY, CREATE_XRQ, NUMBER)},
	{QUERIES(QUERY_XRQ_ERROR_PARAMS, CREATE_XRQ, NUMBER)},
	{MODIFIES(RELEASE_XRQ_ERROR, CREATE_XRQ, NUMBER)},
	{MODIFIES(MODIFY_XRQ, CREATE_XRQ, NUMBER)},
	{.opcode = PRM_OP_QUERY_ESW_FUNCTIONS, OTHER, .flags = DEVX_NO_UID},
	{.opcode = PRM_OP_QUERY_VPORT_STATE, OTHER},
	{.opcode = PRM_OP_QUERY_ESW_VPORT_CONTEXT, OTHER, .flags = DEVX_NO_UID},
	{.opcode = PRM_OP_QUERY_NIC_VPORT_CONTEXT, OTHER},
	{.opcode = PRM_OP_QUERY_ROCE_ADDRESS, OTHER},
	{.opcode = PRM_OP_QUERY_HCA_VPORT_CONTEXT, OTHER, .flags = DEVX_NO_UID},
	{.opcode = PRM_OP_QUERY_VNIC_ENV, OTHER},
	{.opcode = PRM_OP_QUERY_VPORT_COUNTER, OTHER},
	{MADE(ALLOC_Q_COUNTER, FIELD(alloc_q_counter_out, counter_set_id)),
	 UNDO(DEALLOC_Q_COUNTER, 0x10, FIELD(dealloc_q_counter_in, counter_set_id))},
	{QUERIES(QUERY_Q_COUNTER, ALLOC_Q_COUNTER, FIELD(query_q_counter_in, counter_set_id))},
	{MADE(CREATE_SCHEDULING_ELEMENT,
	      FIELD(create_scheduling_element_out, scheduling_element_id)),
	 UNDO_COPY(DESTROY_SCHEDULING_ELEMENT, 0x40, SCHED_ID,
		   {FIELD(create_scheduling_element_in, scheduling_hierarchy)})},
	{QUERIES(QUERY_SCHEDULING_ELEMENT, CREATE_SCHEDULING_ELEMENT, SCHED_ID)},
	{MODIFIES(MODIFY_SCHEDULING_ELEMENT, CREATE_SCHEDULING_ELEMENT, SCHED_ID)},
	{MADE(ALLOC_PD, NUMBER),
	 UNDO(DEALLOC_PD, 0x10, NUMBER)},
	{MADE(ATTACH_TO_MCG, NUMBER), .flags = DEVX_ID_IN_INPUT,
	 UNDO_COPY(DETACH_FROM_MCG, 0x20, NUMBER, {MCG_GID})},
	{.opcode = PRM_OP_GET_DROPPED_PACKET_LOG, OTHER},
	{.opcode = PRM_OP_NOP, OTHER},
	{MADE(ALLOC_XRCD, NUMBER),
	 UNDO(DEALLOC_XRCD, 0x10, NUMBER)},
	{MADE(ALLOC_TRANSPORT_DOMAIN, NUMBER),
	 UNDO(DEALLOC_TRANSPORT_DOMAIN, 0x10, NUMBER)},
	{.opcode = PRM_OP_QUERY_CONG_STATUS, OTHER},
	{.opcode = PRM_OP_QUERY_CONG_PARAMS, OTHER},
	{.opcode = PRM_OP_QUERY_CONG_STATISTICS, OTHER},
	{MADE_AND_MODIFIED(ADD_VXLAN_UDP_DPORT, UDP_PORT), .flags = DEVX_ID_IN_INPUT,
	 UNDO(DELETE_VXLAN_UDP_DPORT, 0x10, UDP_PORT)},
	{MADE_AND_MODIFIED(SET_L2_TABLE_ENTRY, L2_INDEX), .flags = DEVX_ID_IN_INPUT,
	 UNDO(DELETE_L2_TABLE_ENTRY, 0x40, L2_INDEX)},
	{QUERIES(QUERY_L2_TABLE_ENTRY, SET_L2_TABLE_ENTRY, L2_INDEX)},
	{.opcode = PRM_OP_QUERY_LAG, OTHER},
	{MADE(CREATE_TIR, NUMBER),
	 UNDO(DESTROY_TIR, 0x10, NUMBER)},
	{MODIFIES(MODIFY_TIR, CREATE_TIR, NUMBER)},
	{QUERIES(QUERY_TIR, CREATE_TIR, NUMBER)},
	{MADE(CREATE_SQ, NUMBER), .umem_valid = {WQ_VALID(create_sq_in, ctx, sqc)},
	 UNDO(DESTROY_SQ, 0x10, NUMBER)},
	{MODIFIES(MODIFY_SQ, CREATE_SQ, NUMBER)},
	{QUERIES(QUERY_SQ, CREATE_SQ, NUMBER)},
	{MADE(CREATE_RQ, NUMBER), .umem_valid = {WQ_VALID(create_rq_in, ctx, rqc)},
	 UNDO(DESTROY_RQ, 0x10, NUMBER)},
	{MODIFIES(MODIFY_RQ, CREATE_RQ, NUMBER)},
	{QUERIES(QUERY_RQ, CREATE_RQ, NUMBER)},
	{MADE(CREATE_RMP, NUMBER), .umem_valid = {WQ_VALID(create_rmp_in, ctx, rmpc)},
	 UNDO(DESTROY_RMP, 0x10, NUMBER)},
	{MODIFIES(MODIFY_RMP, CREATE_RMP, NUMBER)},
	{QUERIES(QUERY_RMP, CREATE_RMP, NUMBER)},
	{MADE(CREATE_TIS, NUMBER),
	 UNDO(DESTROY_TIS, 0x10, NUMBER)},
	{MODIFIES(MODIFY_TIS, CREATE_TIS, NUMBER)},
	{QUERIES(QUERY_TIS, CREATE_TIS, NUMBER)},
	{MADE(CREATE_RQT, NUMBER),
	 UNDO(DESTROY_RQT, 0x10, NUMBER)},
	{MODIFIES(MODIFY_RQT, CREATE_RQT, NUMBER)},
	{QUERIES(QUERY_RQT, CREATE_RQT, NUMBER)},
	{MADE(CREATE_FLOW_TABLE, NUMBER),
	 UNDO_COPY(DESTROY_FLOW_TABLE, 0x40, TABLE_ID, {IN_VPORT})},
	{QUERIES(QUERY_FLOW_TABLE, CREATE_FLOW_TABLE, TABLE_ID)},
	{MADE(CREATE_FLOW_GROUP, NUMBER),
	 UNDO_COPY(DESTROY_FLOW_GROUP, 0x40, GROUP_ID, {IN_VPORT, TABLE_ID})},
	{QUERIES(QUERY_FLOW_GROUP, CREATE_FLOW_GROUP, GROUP_ID)},
	{MADE_AND_MODIFIED(SET_FLOW_TABLE_ENTRY, FLOW_INDEX), .flags = DEVX_ID_IN_INPUT,
	 .must = {FIELD(cmd_in, op_mod), 0, 1},
	 UNDO_COPY(DELETE_FLOW_TABLE_ENTRY, 0x40, FLOW_INDEX, {IN_VPORT, TABLE_ID})},
	{QUERIES(QUERY_FLOW_TABLE_ENTRY, SET_FLOW_TABLE_ENTRY, FLOW_INDEX)},
	{MADE(ALLOC_FLOW_COUNTER, FIELD(alloc_flow_counter_out, flow_counter_id)),
	 UNDO(DEALLOC_FLOW_COUNTER, 0x10, FIELD(alloc_flow_counter_out, flow_counter_id))},
	{QUERIES(QUERY_FLOW_COUNTER, ALLOC_FLOW_COUNTER,
		 FIELD(query_flow_counter_in, flow_counter_id))},
	{MODIFIES(MODIFY_FLOW_TABLE, CREATE_FLOW_TABLE, TABLE_ID)},
	{MADE(ALLOC_PACKET_REFORMAT_CONTEXT, REFORMAT_ID),
	 UNDO(DEALLOC_PACKET_REFORMAT_CONTEXT, 0x10, REFORMAT_ID)},
	{QUERIES(QUERY_PACKET_REFORMAT_CONTEXT, ALLOC_PACKET_REFORMAT_CONTEXT, REFORMAT_ID)},
	{MADE(ALLOC_MODIFY_HEADER_CONTEXT, HEADER_ID),
	 UNDO(DEALLOC_MODIFY_HEADER_CONTEXT, 0x10, HEADER_ID)},
	{QUERIES(QUERY_MODIFY_HEADER_CONTEXT, ALLOC_MODIFY_HEADER_CONTEXT, HEADER_ID)},
	{MADE(CREATE_GENERAL_OBJECT, OBJ_ID),
	 UNDO_COPY(DESTROY_GENERAL_OBJECT, 0x10, OBJ_ID, {OBJ_TYPE})},
	{MODIFIES(MODIFY_GENERAL_OBJECT, CREATE_GENERAL_OBJECT, OBJ_ID)},
	{QUERIES(QUERY_GENERAL_OBJECT, CREATE_GENERAL_OBJECT, OBJ_ID)},
};
/* clang-format on */
const unsigned int devx_cmds_count = ARRAY_SIZE(devx_cmds);

/* Opcodes from here on are passed on by the kernel without knowing them. */
#define GENERAL_START 0xb00
#define GENERAL_END 0xd00 /* exclusive */

static uint32_t field_end(struct devx_field f)
{
	return (f.bit + f.width + 7u) / 8;
}

const struct devx_cmd *devx_cmd_find(uint16_t opcode)
{
	unsigned int lo = 0, hi = devx_cmds_count;

	while (lo < hi) {
		unsigned int mid = (lo + hi) / 2;

		if (devx_cmds[mid].opcode == opcode)
			return &devx_cmds[mid];
		if (devx_cmds[mid].opcode < opcode)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

bool devx_cmd_allowed(const void *in, enum devx_method method)
{
	uint16_t opcode = LAYOUT_GET16(cmd_in, in, opcode);
	const struct devx_cmd *c = devx_cmd_find(opcode);

	if (!c)
		return method == DEVX_OTHER && opcode >= GENERAL_START && opcode < GENERAL_END;
	if (!(c->methods & method))
		return false;
	if (!c->must.field.width)
		return true;
	return bits_get32(in, c->must.field.bit, c->must.field.width) ==
	       (method == DEVX_CREATE ? c->must.create : c->must.modify);
}

bool devx_cmd_needs_no_uid(uint16_t opcode)
{
	const struct devx_cmd *c = devx_cmd_find(opcode);

	return c && c->flags & DEVX_NO_UID;
}

static uint64_t object_at(const struct devx_cmd *c, const void *in, const void *from, uint32_t len)
{
	uint32_t maker = c->maker;

	if (!c->id.width || field_end(c->id) > len)
		return 0;
	if (maker == PRM_OP_CREATE_GENERAL_OBJECT)
		maker |= LAYOUT_GET32(cmd_in, in, op_mod) << 16; /* obj_type */
	return devx_object(maker, bits_get32(from, c->id.bit, c->id.width));
}

uint64_t devx_cmd_object(const void *in, uint32_t inlen)
{
	const struct devx_cmd *c = devx_cmd_find(LAYOUT_GET16(cmd_in, in, opcode));

	return c ? object_at(c, in, in, inlen) : 0;
}

uint64_t devx_cmd_created(const void *in, uint32_t inlen, const void *out, uint32_t outlen)
{
	const struct devx_cmd *c = devx_cmd_find(LAYOUT_GET16(cmd_in, in, opcode));

	if (!c)
		return 0;
	if (c->flags & DEVX_ID_IN_INPUT)
		return object_at(c, in, in, inlen);
	return object_at(c, in, out, outlen);
}

void devx_cmd_set_umem_valid(void *in, uint32_t inlen)
{
	const struct devx_cmd *c = devx_cmd_find(LAYOUT_GET16(cmd_in, in, opcode));

	for (unsigned int i = 0; c && i < ARRAY_SIZE(c->umem_valid); i++) {
		struct devx_field f = c->umem_valid[i];

		if (f.width && field_end(f) <= inlen)
			bits_set32(in, f.bit, f.width, 1);
	}
}

uint32_t devx_cmd_build_destroy(const void *in, uint32_t inlen, uint32_t id,
				uint8_t din[DEVX_DESTROY_MAX])
{
	const struct devx_cmd *c = devx_cmd_find(LAYOUT_GET16(cmd_in, in, opcode));
	const struct devx_destroy *d = &c->destroy;

	memset(din, 0, DEVX_DESTROY_MAX);
	LAYOUT_SET(cmd_in, din, opcode, d->opcode);
	LAYOUT_SET(cmd_in, din, uid, LAYOUT_GET(cmd_in, in, uid));
	for (unsigned int i = 0; i < ARRAY_SIZE(d->copy); i++)
		if (d->copy[i].width && field_end(d->copy[i]) <= inlen)
			bits_set32(din, d->copy[i].bit, d->copy[i].width,
				   bits_get32(in, d->copy[i].bit, d->copy[i].width));
	bits_set32(din, d->id.bit, d->id.width, id);
	return d->len;
}
