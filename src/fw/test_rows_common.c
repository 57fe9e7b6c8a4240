/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Errors in any command, and in queries of the adapter and its ports. */
#include "fabric/count.h"
#include "fw/test_refusals.h"
#include "hw/hca.h"
#include "hw/port.h"

void short_in(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	*inlen -= 4;
}

void short_out(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	*outlen -= 4;
}

void page_list(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	e->in[*inlen + 6] = 0x10; /* pas[0] */
	*inlen += 8;
}

void as_user(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	c->kernel = false;
}

static void no_mem(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	c->mem = NULL;
}

static void full_table(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	seg_table(&e->s, SEG_T_PD)->capacity = 2;
}

static const struct refusal_row rows[] = {
	R(OPCODE, NOP, E(cmd_in, opcode, 0xfff)),
	R(OPCODE, NOP, E(cmd_in, opcode, PRM_OP_CREATE_SRQ)),
	M(INPUT_LEN, CREATE_QP, short_in, {0, 0, 0}),
	M(INPUT_LEN, CREATE_CQ, short_in, {0, 0, 0}),
	M(OUTPUT_LEN, QUERY_QP, short_out, {0, 0, 0}),
	M(OUTPUT_LEN, QUERY_ADAPTER, short_out, {0, 0, 0}),
	R(RESERVED, NOP, {0x20, 16, 1}),
	R(RESERVED, CREATE_QP, {0x60, 32, 0x4000}),
	R(RESERVED, CREATE_QP, {0x18 * 8 + 0x10, 2, 1}),
	R(RESERVED, CREATE_CQ, {0x2e1, 31, 1}),
	R(RESERVED, CREATE_MKEY, {0x48, 24, 1}),
	R(RESERVED, RST2INIT_QP, {0x60, 32, 1}),
	R(OP_MOD, CREATE_QP, E(cmd_in, op_mod, 1)),
	R(OP_MOD, ALLOC_UAR, E(cmd_in, op_mod, 2)),
	R(OP_MOD, MODIFY_CQ, E(cmd_in, op_mod, 2)),
	R(UID, ALLOC_PD, E(cmd_in, uid, TEST_UID + 1)),
	R(UID, QUERY_QP, E(cmd_in, uid, 0)),
	M(PAGE_LIST, CREATE_QP, page_list, {0, 0, 0}),
	M(PAGE_LIST, CREATE_CQ, page_list, {0, 0, 0}),
	M(PAGE_LIST, CREATE_MKEY, page_list, {0, 0, 0}),
	M(TABLE_FULL, ALLOC_PD, full_table, {0, 0, 0}),
	M(KERNEL_ONLY, CREATE_UMEM, as_user, {0, 0, 0}),
	M(KERNEL_ONLY, CREATE_EQ, as_user, {0, 0, 0}),
	M(KERNEL_ONLY, DESTROY_EQ, as_user, {0, 0, 0}),
	M(NO_MEMORY, CREATE_UMEM, no_mem, {0, 0, 0}),

	R(CAP_GROUP, QUERY_HCA_CAP, E(cmd_in, op_mod, 0x3f << 1)),
	R(CAP_FUNCTION, QUERY_HCA_CAP, E(query_hca_cap_in, other_function, 1)),
	R(CAP_FUNCTION, QUERY_HCA_CAP, E(query_hca_cap_in, function_id, 1)),
	R(VPORT_OTHER, QUERY_HCA_VPORT_CONTEXT, E(query_hca_vport_context_in, other_vport, 1)),
	R(VPORT_STATE_OTHER, QUERY_VPORT_STATE, E(query_vport_state_in, other_vport, 1)),
	R(VPORT_COUNTER_OTHER, QUERY_VPORT_COUNTER, E(query_vport_counter_in, other_vport, 1)),
	R(VPORT_COUNTER_OTHER, QUERY_VPORT_COUNTER, E(query_vport_counter_in, vport_number, 1)),
	R(VPORT_COUNTER_PORT, QUERY_VPORT_COUNTER, E(query_vport_counter_in, port_num, 3)),
	R(VPORT_COUNTER_CLEAR, QUERY_VPORT_COUNTER, E(query_vport_counter_in, clear, 1)),
	R(VNIC_ENV_OTHER, QUERY_VNIC_ENV, E(query_vnic_env_in, other_vport, 1)),
	R(VNIC_ENV_OTHER, QUERY_VNIC_ENV, E(query_vnic_env_in, vport_number, 2)),
	R(NIC_VPORT_OTHER, QUERY_NIC_VPORT_CONTEXT, E(query_nic_vport_context_in, other_vport, 1)),
	R(NIC_VPORT_LIST, QUERY_NIC_VPORT_CONTEXT,
	  E(query_nic_vport_context_in, allowed_list_type, 3)),
};

static void counters_are_the_ports(struct env *e)
{
	const void *rcv = LAYOUT_IN(query_vport_counter_out, received_ib_unicast, e->out);
	const void *xmit = LAYOUT_IN(query_vport_counter_out, transmitted_ib_unicast, e->out);
	uint32_t p2 = hw_hca(&e->s, e->hca)->port[1];

	assert_int_equal(LAYOUT_GET(traffic_counter, xmit, packets), 0);
	fab_count(&e->s, p2, HW_CTR_XMIT_PKTS, 7);
	fab_count(&e->s, p2, HW_CTR_XMIT_DATA, 100);
	fab_count(&e->s, p2, HW_CTR_RCV_PKTS, 3);
	LAYOUT_SET(query_vport_counter_in, e->in, port_num, 2);
	assert_int_equal(run(e, e->in, IN(query_vport_counter), OUT(query_vport_counter)), FW_OK);
	assert_int_equal(LAYOUT_GET(traffic_counter, xmit, packets), 7);
	assert_int_equal(LAYOUT_GET(traffic_counter, xmit, octets), 400);
	assert_int_equal(LAYOUT_GET(traffic_counter, rcv, packets), 3);
	assert_int_equal(LAYOUT_GET(traffic_counter, rcv, octets), 0);
}

static const struct valid_row valid[] = {
	V(QUERY_HCA_CAP, 1, NULL, {0, 0, 0}),
	V(QUERY_ADAPTER, 0, NULL, {0, 0, 0}),
	V(QUERY_ISSI, 0, NULL, {0, 0, 0}),
	V(QUERY_SPECIAL_CONTEXTS, 0, NULL, {0, 0, 0}),
	V(NOP, 0, NULL, {0, 0, 0}),
	V(QUERY_VPORT_STATE, 0, NULL, {0, 0, 0}),
	V(QUERY_VPORT_COUNTER, 0, counters_are_the_ports, E(query_vport_counter_in, port_num, 1)),
	V(QUERY_VNIC_ENV, 0, NULL, {0, 0, 0}),
	V(QUERY_NIC_VPORT_CONTEXT, 0, NULL, {0, 0, 0}),
	V(QUERY_LAG, 0, NULL, {0, 0, 0}),
};

const struct refusal_rows rows_common = {"common", rows, ARRAY_SIZE(rows), valid,
					 ARRAY_SIZE(valid)};
