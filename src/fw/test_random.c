/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Valid commands with random damage, from a fixed seed: the firmware answers each with a known
 * status, keeps its references right, and can free everything.
 */
#include "fw/test.h"
#include "hw/cq.h"
#include "hw/obj.h"
#include "hw/pd.h"
#include "hw/qp_state.h"
#include "hw/umem.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/gobj.h"
#include "wire/prm/qp.h"
#include "wire/prm/umem.h"

static uint64_t rnd_state;

static uint32_t rnd(uint32_t below)
{
	rnd_state = rnd_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(rnd_state >> 33) % below;
}

typedef void builder(struct env *e);

static void b_any_id(struct env *e)
{
	static const uint16_t ops[] = {PRM_OP_QUERY_QP,     PRM_OP_QUERY_CQ,   PRM_OP_QUERY_RMP,
				       PRM_OP_QUERY_MKEY,   PRM_OP_2RST_QP,    PRM_OP_2ERR_QP,
				       PRM_OP_DESTROY_QP,   PRM_OP_DESTROY_CQ, PRM_OP_DESTROY_RMP,
				       PRM_OP_DESTROY_MKEY, PRM_OP_ALLOC_PD,   PRM_OP_DEALLOC_PD,
				       PRM_OP_ALLOC_UAR,    PRM_OP_DEALLOC_UAR};

	b_id(e, ops[rnd(ARRAY_SIZE(ops))], rnd(0x60));
}

static void b_rts2rts(struct env *e)
{
	b_modify_qp(e, PRM_OP_RTS2RTS_QP, 1 << rnd(12));
}

static builder *const builders[] = {b_create_mkey, b_create_cq,  b_modify_cq, b_resize_cq,
				    b_create_rmp,  b_modify_rmp, b_create_qp, b_rst2init,
				    b_init2rtr,    b_rtr2rts,    b_rts2rts,   b_any_id,
				    b_any_id,      b_any_id};

/* Count the references that objects hold and compare. */
static void check_references(struct env *e)
{
	uint32_t pd = hw_pd(&e->s, e->pd) ? hw_pd(&e->s, e->pd)->refs : 0;
	uint32_t umem = hw_umem(&e->s, e->umem)->refs, dbr = hw_umem(&e->s, e->dbr)->refs;
	uint32_t cq = hw_cq(&e->s, e->cq) ? hw_cq(&e->s, e->cq)->refs : 0;

	uint32_t objs[512] = {0};

	seg_for_each_live (&e->s, SEG_T_OBJ, i)
		if (i < ARRAY_SIZE(objs))
			objs[i] = hw_obj(&e->s, i)->refs;
	fw_recount(&e->s, e->hca);
	seg_for_each_live (&e->s, SEG_T_OBJ, i)
		if (i < ARRAY_SIZE(objs))
			assert_int_equal(objs[i], hw_obj(&e->s, i)->refs);
	if (hw_pd(&e->s, e->pd))
		assert_int_equal(hw_pd(&e->s, e->pd)->refs, pd);
	if (hw_cq(&e->s, e->cq))
		assert_int_equal(hw_cq(&e->s, e->cq)->refs, cq);
	assert_int_equal(hw_umem(&e->s, e->umem)->refs, umem);
	assert_int_equal(hw_umem(&e->s, e->dbr)->refs, dbr);
}

/* Run one command of the list with up to three bits changed, sometimes cut. */
static bool damaged(struct env *e, builder *const *list, uint32_t n, uint32_t whole)
{
	uint32_t flips = rnd(4), status, len;

	list[rnd(n)](e);
	for (uint32_t i = 0; i < flips; i++)
		e->in[4 + rnd(whole - 4)] ^= (uint8_t)(1 << rnd(8));
	len = rnd(20) ? whole : 0x10 + rnd(whole);
	assert_int_equal(fw_exec(&e->user, e->in, len, e->out, 0x120), 0);
	status = LAYOUT_GET32(cmd_out, e->out, status);
	if (status == FW_OK) {
		assert_int_equal(syndrome(e), 0);
	} else {
		assert_non_null(fw_refusal_find(syndrome(e)));
		assert_int_equal(fw_refusal_find(syndrome(e))->status, status);
	}
	return status == FW_OK;
}

static void all_goes(struct env *e)
{
	fw_reap_file(&e->s, e->file);
	for (uint32_t t = HW_KIND_FIRST; t < SEG_T_COUNT; t++)
		assert_int_equal(seg_next(&e->s, (enum seg_table_id)t, e->file + 1, 0), SEG_NONE);
}

static void test_damaged_commands(void **state)
{
	struct env *e = *state;
	unsigned int ok = 0;

	rnd_state = 20231;
	for (int n = 0; n < 20000; n++) {
		ok += damaged(e, builders, ARRAY_SIZE(builders), 0x110);
		if (n % 100 == 0)
			check_references(e);
		if (n % 50 == 0) { /* keeps enough objects to work on */
			b_create_qp(e);
			if (run(e, e->in, IN(create_qp), OUT(create_qp)) == FW_OK)
				e->qp = out_id(e);
		}
	}
	/* both results must be frequent, or the damage is too small or too large */
	assert_uint_in_range(ok, 1000, 19000);
	all_goes(e);
}

/* ---- objects that only commands use ---- */

static void b_any_rq_state(struct env *e)
{
	b_modify_rq(e, rnd(2), rnd(4), rnd(16));
}

static void b_any_sq_state(struct env *e)
{
	b_modify_sq(e, rnd(2), rnd(4), rnd(8));
}

static void b_any_sched(struct env *e)
{
	b_create_sched(e, rnd(2) * 4, rnd(3) ? e->tsar : 0);
}

static void b_any_gobj(struct env *e)
{
	static const uint16_t types[] = {PRM_GOBJ_SCHEDULING_ELEMENT, PRM_GOBJ_RESERVED_QPN,
					 PRM_GOBJ_AV_QP_MAPPING, PRM_GOBJ_DEK};

	if (!rnd(3)) {
		b_gobj_dek(e, (uint16_t)(PRM_OP_CREATE_GENERAL_OBJECT + rnd(4)),
			   rnd(2) ? rnd(40) : 0);
		return;
	}

	b_gobj_sched(e, (uint16_t)(PRM_OP_CREATE_GENERAL_OBJECT + rnd(4)), rnd(2) ? rnd(40) : 0, 4,
		     e->tsar);
	LAYOUT_SET(cmd_in, e->in, op_mod, types[rnd(4)]);
	if (rnd(2))
		memset(e->in + 0x10, 0, 0x100);
}

static void b_any_groups(struct env *e)
{
	b_qp_groups(e, PRM_OP_INIT2INIT_QP, rnd(2) ? e->group : 0, rnd(2) ? e->group : 0);
}

static void b_any_obj(struct env *e)
{
	static const uint16_t ops[] = {
		PRM_OP_QUERY_RQ,    PRM_OP_QUERY_RQT,   PRM_OP_QUERY_TIR,
		PRM_OP_QUERY_TIS,   PRM_OP_QUERY_SQ,    PRM_OP_DESTROY_RQ,
		PRM_OP_DESTROY_RQT, PRM_OP_DESTROY_TIR, PRM_OP_DESTROY_TIS,
		PRM_OP_DESTROY_SQ,  PRM_OP_ARM_RQ,      PRM_OP_DEALLOC_TRANSPORT_DOMAIN};

	/* spare the fixture's objects, which all others refer to */
	b_id(e, ops[rnd(ARRAY_SIZE(ops))], 10 + rnd(60));
}

static builder *const obj_builders[] = {
	b_create_rq,  b_any_rq_state, b_create_rqt, b_modify_rqt,   b_create_tir, b_modify_tir,
	b_create_tis, b_modify_tis,   b_create_sq,  b_any_sq_state, b_any_sched,  b_any_gobj,
	b_any_groups, b_any_obj,      b_any_obj,    b_any_obj,
};

static void test_damaged_commands_on_objects(void **state)
{
	struct env *e = *state;
	unsigned int ok = 0;

	raw_up(e);
	sched_up(e);
	qp_to(e, PRM_QP_STATE_INIT);
	rnd_state = 77;
	for (int n = 0; n < 10000; n++) {
		uint32_t i = rnd(ARRAY_SIZE(obj_builders));
		builder *const *b = &obj_builders[i];

		/* each with its own length: what follows a command is damaged, too */
		ok += damaged(e, b, 1,
			      *b == b_any_groups                         ? 0x1d0
			      : *b == b_any_gobj                         ? 0x90
			      : *b == b_create_rqt || *b == b_modify_rqt ? 0x118
									 : 0x110);
		if (n % 100 == 0)
			check_references(e);
	}
	assert_uint_in_range(ok, 1000, 9000);
	all_goes(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		env_test(test_damaged_commands),
		env_test(test_damaged_commands_on_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
