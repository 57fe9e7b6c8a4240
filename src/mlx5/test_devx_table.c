/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The DEVX command table against the kernel's lists (devx.c of Linux 6.1) and the PRM layouts. */
#include <stdio.h>
#include "mlx5/devx_table.h"
#include "mlx5/for_tests.h"
#include "util/cleanup.h"
#include "util/test_cmocka.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/cq.h"
#include "wire/prm/mkey.h"
#include "wire/prm/opcodes.h"
#include "wire/prm/pd.h"
#include "wire/prm/qp.h"
#include "wire/prm/rmp_srq.h"

/* ---- white lists, copied from the kernel's */

static const uint16_t general[] = {
	0x100, 0x101, 0x10a, 0x740, 0x750, 0x752, 0x754, 0x760, 0x762, 0x76f,
	0x770, 0x80a, 0x80d, 0x822, 0x824, 0x826, 0x842, 0xb00, 0xb0d, 0xcff,
};
static const uint16_t creates[] = {
	0x200, 0x400, 0x500, 0x600, 0x700, 0x705, 0x710, 0x717, 0x771, 0x782,
	0x800, 0x806, 0x80e, 0x816, 0x827, 0x829, 0x900, 0x904, 0x908, 0x90c,
	0x912, 0x916, 0x930, 0x933, 0x936, 0x939, 0x93d, 0x940, 0xa00,
};
static const uint16_t modifies[] = {
	0x403, 0x502, 0x503, 0x504, 0x505, 0x506, 0x507, 0x50a, 0x50e, 0x703,
	0x708, 0x714, 0x71a, 0x726, 0x729, 0x72a, 0x785, 0x827, 0x829, 0x901,
	0x905, 0x909, 0x90d, 0x913, 0x917, 0x936, 0x93c, 0xa01,
};
static const uint16_t queries[] = {
	0x201, 0x402, 0x50b, 0x702, 0x707, 0x713, 0x719, 0x725, 0x727, 0x773, 0x784, 0x82a, 0x903,
	0x907, 0x90b, 0x90f, 0x915, 0x919, 0x932, 0x935, 0x937, 0x93b, 0x93f, 0x942, 0xa02,
};

static bool in_list(const uint16_t *l, size_t n, uint16_t v)
{
	for (size_t i = 0; i < n; i++)
		if (l[i] == v)
			return true;
	return false;
}

static void make(uint8_t in[0x40], uint16_t opcode, enum devx_method m)
{
	memset(in, 0, 0x40);
	LAYOUT_SET(cmd_in, in, opcode, opcode);
	if (opcode == PRM_OP_CREATE_PSV)
		bits_set32(in, 0x40, 4, 1);
	if (opcode == PRM_OP_SET_FLOW_TABLE_ENTRY && m == DEVX_MODIFY)
		LAYOUT_SET(cmd_in, in, op_mod, 1);
}

#define CHECK_METHOD(m, list)                                                \
	do {                                                                 \
		for (unsigned int op = 0; op < 0x1000; op++) {               \
			make(in, (uint16_t)op, (m));                         \
			if (op > 0xb00 && op < 0xd00 && (m) == DEVX_OTHER)   \
				continue;                                    \
			if (devx_cmd_allowed(in, (m)) !=                     \
			    in_list((list), ARRAY_SIZE(list), (uint16_t)op)) \
				fail_msg("opcode 0x%x method %d", op, (m));  \
		}                                                            \
	} while (0)

static void test_each_method_takes_the_kernels_list(void **state)
{
	uint8_t in[0x40];

	CHECK_METHOD(DEVX_OTHER, general);
	CHECK_METHOD(DEVX_CREATE, creates);
	CHECK_METHOD(DEVX_MODIFY, modifies);
	CHECK_METHOD(DEVX_QUERY, queries);
}

static void test_general_range_is_open(void **state)
{
	uint8_t in[0x40];

	for (unsigned int op = 0xb00; op < 0xd00; op++) {
		make(in, (uint16_t)op, DEVX_OTHER);
		assert_true(devx_cmd_allowed(in, DEVX_OTHER));
	}
	make(in, 0xd00, DEVX_OTHER);
	assert_false(devx_cmd_allowed(in, DEVX_OTHER));
	make(in, 0xaff, DEVX_OTHER);
	assert_false(devx_cmd_allowed(in, DEVX_OTHER));
}

static void test_only_harmless_queries_need_no_uid(void **state)
{
	static const uint16_t harmless[] = {0x100, 0x740, 0x752, 0x762};

	for (unsigned int op = 0; op < 0x1000; op++)
		assert_int_equal(devx_cmd_needs_no_uid((uint16_t)op),
				 in_list(harmless, ARRAY_SIZE(harmless), (uint16_t)op));
}

static void test_op_mod_and_psv_count_decide(void **state)
{
	uint8_t in[0x40];

	make(in, PRM_OP_SET_FLOW_TABLE_ENTRY, DEVX_MODIFY);
	assert_false(devx_cmd_allowed(in, DEVX_CREATE));
	make(in, PRM_OP_SET_FLOW_TABLE_ENTRY, DEVX_CREATE);
	assert_false(devx_cmd_allowed(in, DEVX_MODIFY));
	make(in, PRM_OP_CREATE_PSV, DEVX_CREATE);
	bits_set32(in, 0x40, 4, 2);
	assert_false(devx_cmd_allowed(in, DEVX_CREATE));
}

/* ---- the table itself */

static void test_rows_are_sorted_and_complete(void **state)
{
	for (unsigned int i = 0; i < devx_cmds_count; i++) {
		const struct devx_cmd *c = &devx_cmds[i];

		if (i && devx_cmds[i - 1].opcode >= c->opcode)
			fail_msg("opcode 0x%x out of order", c->opcode);
		assert_ptr_equal(devx_cmd_find(c->opcode), c);
		assert_string_not_equal(prm_opcode_name(c->opcode), "?");
		assert_int_not_equal(c->methods, 0);
		if (c->methods != DEVX_OTHER) {
			const struct devx_cmd *maker = devx_cmd_find(c->maker);

			assert_non_null(maker);
			assert_true(maker->methods & DEVX_CREATE);
			assert_true(c->id.width);
		}
		if (c->methods & DEVX_CREATE) {
			assert_int_equal(c->maker, c->opcode);
			assert_string_not_equal(prm_opcode_name(c->destroy.opcode), "?");
			assert_uint_in_range(c->destroy.len, 0x10, DEVX_DESTROY_MAX);
			assert_true(c->destroy.id.bit + c->destroy.id.width <= c->destroy.len * 8);
		}
	}
}

/* The table must agree with the firmware's layout of a command, if it has one. */
static void test_places_agree_with_the_layouts(void **state)
{
#define IS(op, l, f)                                                  \
	{                                                             \
		PRM_OP_##op, LF_##l##_##f##_BIT, LF_##l##_##f##_WIDTH \
	}
	static const struct {
		uint16_t opcode, bit, width;
	} t[] = {
		IS(CREATE_MKEY, create_mkey_out, mkey_index),
		IS(QUERY_MKEY, query_mkey_in, mkey_index),
		IS(CREATE_CQ, create_cq_out, cqn),
		IS(QUERY_CQ, query_cq_in, cqn),
		IS(MODIFY_CQ, modify_cq_in, cqn),
		IS(CREATE_QP, create_qp_out, qpn),
		IS(QUERY_QP, query_qp_in, qpn),
		IS(RST2INIT_QP, rst2init_qp_in, qpn),
		IS(INIT2INIT_QP, init2init_qp_in, qpn),
		IS(INIT2RTR_QP, init2rtr_qp_in, qpn),
		IS(RTR2RTS_QP, rtr2rts_qp_in, qpn),
		IS(RTS2RTS_QP, rts2rts_qp_in, qpn),
		IS(SQERR2RTS_QP, sqerr2rts_qp_in, qpn),
		IS(2ERR_QP, qp_2err_in, qpn),
		IS(2RST_QP, qp_2rst_in, qpn),
		IS(ALLOC_PD, alloc_pd_out, pd),
		IS(CREATE_RMP, create_rmp_out, rmpn),
		IS(MODIFY_RMP, modify_rmp_in, rmpn),
		IS(QUERY_RMP, query_rmp_in, rmpn),
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		const struct devx_cmd *c = devx_cmd_find(t[i].opcode);

		assert_non_null(c);
		assert_int_equal(c->id.bit, t[i].bit);
		assert_int_equal(c->id.width, t[i].width);
	}
}

static void test_umem_valid_bits_are_those_of_the_layouts(void **state)
{
	uint8_t in[0x110], want[0x110];

	memset(in, 0, sizeof(in));
	LAYOUT_SET(cmd_in, in, opcode, PRM_OP_CREATE_QP);
	memcpy(want, in, sizeof(in));
	LAYOUT_SET(create_qp_in, want, wq_umem_valid, 1);
	LAYOUT_SET(qpc, LAYOUT_IN(create_qp_in, qpc, want), dbr_umem_valid, 1);
	devx_cmd_set_umem_valid(in, sizeof(in));
	assert_memory_equal(in, want, sizeof(in));

	memset(in, 0, sizeof(in));
	LAYOUT_SET(cmd_in, in, opcode, PRM_OP_CREATE_CQ);
	memcpy(want, in, sizeof(in));
	LAYOUT_SET(create_cq_in, want, cq_umem_valid, 1);
	LAYOUT_SET(cqc, LAYOUT_IN(create_cq_in, cq_context, want), dbr_umem_valid, 1);
	devx_cmd_set_umem_valid(in, sizeof(in));
	assert_memory_equal(in, want, sizeof(in));

	memset(in, 0, sizeof(in));
	LAYOUT_SET(cmd_in, in, opcode, PRM_OP_CREATE_RMP);
	memcpy(want, in, sizeof(in));
	{
		void *wq = LAYOUT_IN(rmpc, wq, LAYOUT_IN(create_rmp_in, ctx, want));

		LAYOUT_SET(wq, wq, wq_umem_valid, 1);
		LAYOUT_SET(wq, wq, dbr_umem_valid, 1);
	}
	devx_cmd_set_umem_valid(in, sizeof(in));
	assert_memory_equal(in, want, sizeof(in));
}

static void test_a_short_command_is_not_written_beyond(void **state)
{
	uint8_t in[0x40];

	memset(in, 0, sizeof(in));
	LAYOUT_SET(cmd_in, in, opcode, PRM_OP_CREATE_QP);
	memset(in + 0x10, 0xa5, 0x30);
	devx_cmd_set_umem_valid(in, 0x10);
	for (int i = 0x10; i < 0x40; i++)
		assert_int_equal(in[i], 0xa5);
}

/* ---- identity */

static void test_identity_is_maker_type_and_number(void **state)
{
	uint8_t in[0x40], out[0x10] = {0};

	make(in, PRM_OP_CREATE_QP, DEVX_CREATE);
	LAYOUT_SET(create_qp_out, out, qpn, 0x123456);
	assert_int_equal(devx_cmd_created(in, sizeof(in), out, sizeof(out)),
			 UINT64_C(0x50000123456));
	make(in, PRM_OP_RTS2RTS_QP, DEVX_MODIFY);
	LAYOUT_SET(rts2rts_qp_in, in, qpn, 0x123456);
	assert_int_equal(devx_cmd_object(in, sizeof(in)), UINT64_C(0x50000123456));

	/* the same number with another kind of object has another identity */
	make(in, PRM_OP_QUERY_CQ, DEVX_QUERY);
	LAYOUT_SET(query_cq_in, in, cqn, 0x123456);
	assert_int_equal(devx_cmd_object(in, sizeof(in)), UINT64_C(0x40000123456));

	/* the type belongs to a general object's identity */
	make(in, PRM_OP_QUERY_GENERAL_OBJECT, DEVX_QUERY);
	in[7] = 0x0c;
	be32_store(in + 8, 0x89abcdef);
	assert_int_equal(devx_cmd_object(in, sizeof(in)), UINT64_C(0x000c0a0089abcdef));
}

static void test_identity_needs_the_whole_field(void **state)
{
	uint8_t in[0x40];

	make(in, PRM_OP_QUERY_Q_COUNTER, DEVX_QUERY);
	in[0x1f] = 7;
	assert_int_equal(devx_cmd_object(in, 0x20), UINT64_C(0x77100000007));
	assert_int_equal(devx_cmd_object(in, 0x1f), 0);
}

static void test_numbers_that_the_program_chose(void **state)
{
	uint8_t in[0x40], out[0x10] = {0};

	make(in, PRM_OP_ADD_VXLAN_UDP_DPORT, DEVX_CREATE);
	be16_store(in + 0xe, 4789);
	assert_int_equal(devx_cmd_created(in, sizeof(in), out, sizeof(out)),
			 devx_object(PRM_OP_ADD_VXLAN_UDP_DPORT, 4789));
}

/* ---- destroy commands */

static void test_destroy_is_derived(void **state)
{
	uint8_t in[0x40], din[DEVX_DESTROY_MAX];

	make(in, PRM_OP_CREATE_QP, DEVX_CREATE);
	LAYOUT_SET(cmd_in, in, uid, 0x1234);
	assert_int_equal(devx_cmd_build_destroy(in, sizeof(in), 0xabcdef, din), 0x10);
	assert_int_equal(LAYOUT_GET(destroy_qp_in, din, opcode), PRM_OP_DESTROY_QP);
	assert_int_equal(LAYOUT_GET(destroy_qp_in, din, uid), 0x1234);
	assert_int_equal(LAYOUT_GET(destroy_qp_in, din, qpn), 0xabcdef);
}

static void test_destroy_copies_what_names_the_place(void **state)
{
	uint8_t in[0x40], din[DEVX_DESTROY_MAX], want[0x40] = {0};

	/*
	 * other_vport, vport_number, table_type, table_id come from the input; group_id from the
	 * output
	 */
	make(in, PRM_OP_CREATE_FLOW_GROUP, DEVX_CREATE);
	be32_store(in + 8, 0x80000005);
	be32_store(in + 0x10, 0x04000000);
	be32_store(in + 0x14, 0x00000077);
	be32_store(in + 0x1c, 0xffffffff); /* start_flow_index is not copied */
	assert_int_equal(devx_cmd_build_destroy(in, sizeof(in), 9, din), 0x40);
	be16_store(want, PRM_OP_DESTROY_FLOW_GROUP);
	be32_store(want + 8, 0x80000005);
	be32_store(want + 0x10, 0x04000000);
	be32_store(want + 0x14, 0x00000077);
	be32_store(want + 0x18, 9);
	assert_memory_equal(din, want, sizeof(want));

	make(in, PRM_OP_CREATE_GENERAL_OBJECT, DEVX_CREATE);
	be16_store(in + 6, 0x2c);
	devx_cmd_build_destroy(in, sizeof(in), 0xdeadbeef, din);
	assert_int_equal(be16_load(din), PRM_OP_DESTROY_GENERAL_OBJECT);
	assert_int_equal(be16_load(din + 6), 0x2c);
	assert_int_equal(be32_load(din + 8), 0xdeadbeef);
}

/* Found by fuzzing: a large type was shifted into the sign of an int. */
static void test_identity_of_a_type_beyond_0x7fff(void **state)
{
	uint8_t in[0x40];

	make(in, PRM_OP_QUERY_GENERAL_OBJECT, DEVX_QUERY);
	be16_store(in + 6, 0xf500);
	be32_store(in + 8, 9);
	assert_true(devx_cmd_object(in, sizeof(in)) ==
		    devx_object(0xf5000000u | PRM_OP_CREATE_GENERAL_OBJECT, 9));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_method_takes_the_kernels_list),
		cmocka_unit_test(test_general_range_is_open),
		cmocka_unit_test(test_only_harmless_queries_need_no_uid),
		cmocka_unit_test(test_op_mod_and_psv_count_decide),
		cmocka_unit_test(test_rows_are_sorted_and_complete),
		cmocka_unit_test(test_places_agree_with_the_layouts),
		cmocka_unit_test(test_umem_valid_bits_are_those_of_the_layouts),
		cmocka_unit_test(test_a_short_command_is_not_written_beyond),
		cmocka_unit_test(test_identity_is_maker_type_and_number),
		cmocka_unit_test(test_identity_of_a_type_beyond_0x7fff),
		cmocka_unit_test(test_identity_needs_the_whole_field),
		cmocka_unit_test(test_numbers_that_the_program_chose),
		cmocka_unit_test(test_destroy_is_derived),
		cmocka_unit_test(test_destroy_copies_what_names_the_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
