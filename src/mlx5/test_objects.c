/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * DEVX objects that only commands use: each is made with the kernel's edits, named by its own
 * commands and no others, in use, and destroyed by the command derived from its creation (devx.c in
 * the kernel: devx_obj_build_destroy_cmd, devx_get_obj_id).
 */
#include "hw/obj.h"
#include "mlx5/test.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/cq.h"
#include "wire/prm/gobj.h"
#include "wire/prm/opcodes.h"
#include "wire/prm/pd.h"
#include "wire/prm/qos.h"
#include "wire/prm/raw.h"
#include "wire/prm/rmp_srq.h"
#include "wire/prm/umem.h"

enum kind { TD, RQ, RQT, TIR, TIS, SQ, TSAR, GROUP, GOBJ_GROUP, GOBJ_QPN, GOBJ_AV, KINDS };

/*
 * The commands that make and query each kind; `id`: its number in the creation's output and in the
 * query.
 */
static const struct kind_row {
	uint16_t create, query; /* query 0: the kind has none */
	uint16_t id_bit, id_width, query_bit, query_width;
	uint16_t inlen, outlen, query_outlen;
	uint16_t type; /* type of a general object */
} kinds[KINDS] = {
	[TD] = {PRM_OP_ALLOC_TRANSPORT_DOMAIN, 0, 0x48, 24, 0, 0, 0x10, 0x10, 0, 0},
	[RQ] = {PRM_OP_CREATE_RQ, PRM_OP_QUERY_RQ, 0x48, 24, 0x48, 24, 0x110, 0x10, 0x110, 0},
	[RQT] = {PRM_OP_CREATE_RQT, PRM_OP_QUERY_RQT, 0x48, 24, 0x48, 24, 0x114, 0x10, 0x114, 0},
	[TIR] = {PRM_OP_CREATE_TIR, PRM_OP_QUERY_TIR, 0x48, 24, 0x48, 24, 0x110, 0x10, 0x110, 0},
	[TIS] = {PRM_OP_CREATE_TIS, PRM_OP_QUERY_TIS, 0x48, 24, 0x48, 24, 0xc0, 0x10, 0xb0, 0},
	[SQ] = {PRM_OP_CREATE_SQ, PRM_OP_QUERY_SQ, 0x48, 24, 0x48, 24, 0x110, 0x10, 0x110, 0},
	[TSAR] = {PRM_OP_CREATE_SCHEDULING_ELEMENT, PRM_OP_QUERY_SCHEDULING_ELEMENT, 0x80, 32, 0x60,
		  32, 0x80, 0x40, 0x80, 0},
	[GROUP] = {PRM_OP_CREATE_SCHEDULING_ELEMENT, PRM_OP_QUERY_SCHEDULING_ELEMENT, 0x80, 32,
		   0x60, 32, 0x80, 0x40, 0x80, 0},
	[GOBJ_GROUP] = {PRM_OP_CREATE_GENERAL_OBJECT, PRM_OP_QUERY_GENERAL_OBJECT, 0x40, 32, 0x40,
			32, 0x90, 0x10, 0x90, PRM_GOBJ_SCHEDULING_ELEMENT},
	[GOBJ_QPN] = {PRM_OP_CREATE_GENERAL_OBJECT, PRM_OP_QUERY_GENERAL_OBJECT, 0x40, 32, 0x40, 32,
		      0x20, 0x10, 0x20, PRM_GOBJ_RESERVED_QPN},
	[GOBJ_AV] = {PRM_OP_CREATE_GENERAL_OBJECT, PRM_OP_QUERY_GENERAL_OBJECT, 0x40, 32, 0x40, 32,
		     0x50, 0x10, 0x50, PRM_GOBJ_AV_QP_MAPPING},
};

static struct world {
	uint8_t *p;
	uint32_t umem, umem_h, page, cqn, cq, pdn, pd;
	uint32_t id[KINDS], h[KINDS];
} w;

static void wq_fill(void *wq, uint32_t log_stride)
{
	LAYOUT_SET(wq, wq, wq_type, 1);
	LAYOUT_SET(wq, wq, pd, w.pdn);
	LAYOUT_SET(wq, wq, log_wq_stride, log_stride);
	LAYOUT_SET(wq, wq, log_wq_sz, 2);
	/* the kernel sets the valid bits */
	LAYOUT_SET(wq, wq, wq_umem_id, w.umem);
	LAYOUT_SET(wq, wq, dbr_umem_id, w.umem);
	LAYOUT_SET(wq, wq, dbr_addr, 0x1000);
	LAYOUT_SET(wq, wq, uar_page, log_stride == 6 ? w.page : 0);
}

static void sched_fill(void *sc, uint32_t type, uint32_t parent)
{
	LAYOUT_SET(scheduling_context, sc, element_type, type);
	LAYOUT_SET(scheduling_context, sc, parent_element_id, parent);
}

static void fill(uint8_t *in, enum kind k)
{
	void *ctx = in + 0x20;

	memset(in, 0, 0x120);
	LAYOUT_SET(cmd_in, in, opcode, kinds[k].create);
	LAYOUT_SET(cmd_in, in, op_mod, kinds[k].type);
	switch ((int)k) {
	case RQ:
		LAYOUT_SET(rqc, ctx, cqn, w.cqn);
		wq_fill(LAYOUT_IN(rqc, wq, ctx), 4);
		break;
	case RQT:
		LAYOUT_SET(rqtc, ctx, rqt_max_size, 1);
		LAYOUT_SET(rqtc, ctx, rqt_actual_size, 1);
		LAYOUT_SET(rq_num, in + 0x110, rq_num, w.id[RQ]);
		break;
	case TIR:
		LAYOUT_SET(tirc, ctx, disp_type, 1);
		LAYOUT_SET(tirc, ctx, rx_hash_fn, 2);
		LAYOUT_SET(tirc, ctx, indirect_table, w.id[RQT]);
		LAYOUT_SET(tirc, ctx, transport_domain, w.id[TD]);
		break;
	case TIS:
		LAYOUT_SET(tisc, ctx, transport_domain, w.id[TD]);
		break;
	case SQ:
		LAYOUT_SET(sqc, ctx, cqn, w.cqn);
		LAYOUT_SET(sqc, ctx, tis_lst_sz, 1);
		LAYOUT_SET(sqc, ctx, tis_num_0, w.id[TIS]);
		wq_fill(LAYOUT_IN(sqc, wq, ctx), 6);
		break;
	case TSAR:
	case GROUP:
		LAYOUT_SET(create_scheduling_element_in, in, scheduling_hierarchy, 3);
		sched_fill(ctx, k == TSAR ? 0 : 4, k == TSAR ? 0 : w.id[TSAR]);
		break;
	case GOBJ_GROUP:
		LAYOUT_SET(sched_elem, in + 0x10, scheduling_hierarchy, 3);
		sched_fill(LAYOUT_IN(sched_elem, sched_context, in + 0x10), 4, w.id[TSAR]);
		break;
	default:
		break;
	}
}

static uint32_t made_id(const uint8_t *out, enum kind k)
{
	return bits_get32(out, kinds[k].id_bit, kinds[k].id_width);
}

static void pd_and_cq(struct test_env *e)
{
	uint8_t pd_in[0x10] = {0}, out[0x10], in[LAYOUT_SZ(create_cq_in)] = {0};
	void *cqc = LAYOUT_IN(create_cq_in, cq_context, in);
	uint64_t off;
	uint32_t h;

	LAYOUT_SET(cmd_in, pd_in, opcode, PRM_OP_ALLOC_PD);
	assert_int_equal(test_devx_create(e, pd_in, 0x10, out, 0x10, &w.pd), 0);
	w.pdn = LAYOUT_GET32(alloc_pd_out, out, pd);
	assert_int_equal(test_uar_alloc(e, 1, &off, &w.page, &h), 0);
	LAYOUT_SET(cmd_in, in, opcode, PRM_OP_CREATE_CQ);
	LAYOUT_SET(create_cq_in, in, cq_umem_id, w.umem);
	LAYOUT_SET(cqc, cqc, dbr_umem_id, w.umem);
	LAYOUT_SET(cqc, cqc, dbr_addr, 0x1800);
	LAYOUT_SET(cqc, cqc, log_cq_size, 2);
	LAYOUT_SET(cqc, cqc, uar_page, w.page);
	LAYOUT_SET(cqc, cqc, c_eqn, 1);
	assert_int_equal(test_devx_create(e, in, sizeof(in), out, 0x10, &w.cq), 0);
	w.cqn = LAYOUT_GET32(create_cq_out, out, cqn);
}

static int world_setup(void **state)
{
	uint8_t in[0x120], out[0x40];
	struct test_env *e;

	test_setup(state);
	e = *state;
	test_open_context(e, true);
	memset(&w, 0, sizeof(w));
	w.p = mmap(NULL, 0x2000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_int_equal(test_umem_reg(e, (uintptr_t)w.p, 0x2000, IBV_ACCESS_LOCAL_WRITE, &w.umem,
				       &w.umem_h),
			 0);
	pd_and_cq(e);
	for (int k = 0; k < KINDS; k++) {
		fill(in, (enum kind)k);
		if (test_devx_create(e, in, kinds[k].inlen, out, kinds[k].outlen, &w.h[k]))
			fail_msg("kind %d: syndrome 0x%x", k, LAYOUT_GET32(cmd_out, out, syndrome));
		w.id[k] = made_id(out, (enum kind)k);
	}
	return 0;
}

static int world_teardown(void **state)
{
	munmap(w.p, 0x2000);
	return test_teardown(state);
}

static int query(struct test_env *e, enum kind k, uint32_t handle, uint32_t id, uint16_t type)
{
	uint8_t in[0x40] = {0}, out[0x120];

	LAYOUT_SET(cmd_in, in, opcode, kinds[k].query);
	LAYOUT_SET(cmd_in, in, op_mod, type);
	bits_set32(in, kinds[k].query_bit, kinds[k].query_width, id);
	if (kinds[k].query == PRM_OP_QUERY_SCHEDULING_ELEMENT)
		LAYOUT_SET(query_scheduling_element_in, in, scheduling_hierarchy, 3);
	return test_devx_obj(e, MLX5_IB_METHOD_DEVX_OBJ_QUERY, handle, in,
			     kinds[k].query == PRM_OP_QUERY_SCHEDULING_ELEMENT ? 0x40 : 0x10, out,
			     kinds[k].query_outlen);
}

/* A query must name the handle's object; the same number with another kind is refused. */
static void test_identity(void **state)
{
	struct test_env *e = *state;

	for (int k = 0; k < KINDS; k++) {
		if (!kinds[k].query)
			continue;
		if (query(e, (enum kind)k, w.h[k], w.id[k], kinds[k].type))
			fail_msg("kind %d cannot be queried", k);
		assert_int_equal(query(e, (enum kind)k, w.h[k], w.id[k] + 1, kinds[k].type),
				 -EINVAL);
		for (int other = 0; other < KINDS; other++)
			if (other != k)
				assert_int_equal(
					query(e, (enum kind)k, w.h[other], w.id[k], kinds[k].type),
					-EINVAL);
		assert_int_equal(query(e, (enum kind)k, w.cq, w.id[k], kinds[k].type), -EINVAL);
		assert_int_equal(query(e, (enum kind)k, w.umem_h, w.id[k], kinds[k].type), -EINVAL);
	}
	/* the type belongs to a general object's identity */
	assert_int_equal(query(e, GOBJ_AV, w.h[GOBJ_AV], w.id[GOBJ_AV], PRM_GOBJ_RESERVED_QPN),
			 -EINVAL);
}

static int modify_state(struct test_env *e, uint16_t opcode, uint32_t handle, uint32_t id)
{
	uint8_t in[0x110] = {0}, out[0x10];

	LAYOUT_SET(cmd_in, in, opcode, opcode);
	LAYOUT_SET(modify_rq_in, in, rqn, id);
	LAYOUT_SET(rqc, in + 0x20, state, 1);
	return test_devx_obj(e, MLX5_IB_METHOD_DEVX_OBJ_MODIFY, handle, in, sizeof(in), out,
			     sizeof(out));
}

static void test_modify(void **state)
{
	struct test_env *e = *state;
	uint8_t in[0x90] = {0}, out[0x10];

	assert_int_equal(modify_state(e, PRM_OP_MODIFY_RQ, w.h[RQ], w.id[RQ]), 0);
	assert_int_equal(hw_obj(&e->seg, w.id[RQ])->state, 1);
	assert_int_equal(modify_state(e, PRM_OP_MODIFY_RQ, w.h[RQ], w.id[RQ]), -EREMOTEIO);
	assert_int_equal(modify_state(e, PRM_OP_MODIFY_SQ, w.h[SQ], w.id[SQ]), 0);
	assert_int_equal(modify_state(e, PRM_OP_MODIFY_SQ, w.h[RQ], w.id[SQ]), -EINVAL);

	LAYOUT_SET(cmd_in, in, opcode, PRM_OP_MODIFY_GENERAL_OBJECT);
	LAYOUT_SET(cmd_in, in, op_mod, PRM_GOBJ_SCHEDULING_ELEMENT);
	LAYOUT_SET(modify_general_object_in, in, obj_id, w.id[GOBJ_GROUP]);
	LAYOUT_SET(sched_elem, in + 0x10, scheduling_hierarchy, 3);
	sched_fill(LAYOUT_IN(sched_elem, sched_context, in + 0x10), 4, 0);
	assert_int_equal(test_devx_obj(e, MLX5_IB_METHOD_DEVX_OBJ_MODIFY, w.h[GOBJ_GROUP], in,
				       sizeof(in), out, sizeof(out)),
			 0);
	/* made by the other command, so another identity */
	LAYOUT_SET(modify_general_object_in, in, obj_id, w.id[GROUP]);
	assert_int_equal(test_devx_obj(e, MLX5_IB_METHOD_DEVX_OBJ_MODIFY, w.h[GROUP], in,
				       sizeof(in), out, sizeof(out)),
			 -EINVAL);
}

static void test_destroy(void **state)
{
	struct test_env *e = *state;
	static const enum kind used[] = {TD, RQ, RQT, TIS, TSAR};
	static const enum kind order[KINDS] = {TIR,   RQT,        RQ,   SQ,       TIS,    TD,
					       GROUP, GOBJ_GROUP, TSAR, GOBJ_QPN, GOBJ_AV};

	for (size_t i = 0; i < ARRAY_SIZE(used); i++) {
		assert_int_equal(test_devx_destroy(e, w.h[used[i]]), -EINVAL);
		assert_non_null(hw_obj(&e->seg, w.id[used[i]]));
	}
	assert_int_equal(test_devx_destroy(e, w.cq), -EINVAL);
	assert_int_equal(test_devx_destroy(e, w.pd), -EINVAL);
	for (int i = 0; i < KINDS; i++) {
		if (test_devx_destroy(e, w.h[order[i]]))
			fail_msg("kind %d cannot be destroyed", order[i]);
		assert_int_equal(test_devx_destroy(e, w.h[order[i]]), -ENOENT);
	}
	assert_int_equal(test_owned(e, SEG_T_OBJ), 0);
	assert_int_equal(test_owned(e, SEG_T_QP), 0);
	assert_int_equal(test_devx_destroy(e, w.cq), 0);
	assert_int_equal(test_devx_destroy(e, w.pd), 0);
}

/* If the answer cannot be written, the creation is undone by the derived command. */
static void test_an_unwritable_answer_leaves_nothing(void **state)
{
	struct test_env *e = *state;
	uint8_t in[0x120];
	uint32_t objs = test_owned(e, SEG_T_OBJ), qps = test_owned(e, SEG_T_QP), h;

	for (int k = 0; k < KINDS; k++) {
		fill(in, (enum kind)k);
		assert_int_equal(
			test_devx_create(e, in, kinds[k].inlen, (void *)8, kinds[k].outlen, &h),
			-EFAULT);
		assert_int_equal(test_owned(e, SEG_T_OBJ), objs);
		assert_int_equal(test_owned(e, SEG_T_QP), qps);
	}
}

static void test_all_go_with_the_file(void **state)
{
	struct test_env *e = *state;

	fw_reap_file(&e->seg, e->file);
	assert_int_equal(test_owned(e, SEG_T_OBJ), 0);
	assert_int_equal(test_owned(e, SEG_T_QP), 0);
	assert_int_equal(test_owned(e, SEG_T_CQ), 0);
	assert_int_equal(test_owned(e, SEG_T_PD), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		T(test_identity),
		T(test_modify),
		T(test_destroy),
		T(test_an_unwritable_answer_leaves_nothing),
		T(test_all_go_with_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
