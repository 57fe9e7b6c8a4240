/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Valid commands with random damage, from a fixed seed: whatever arrives, the firmware answers with
 * a status that it knows, keeps its references right, and can give everything back.
 */
#include "fw/test.h"

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

/* What references should be, counted by the objects that hold them. */
static void check_references(struct env *e)
{
	uint32_t pd = hw_pd(&e->s, e->pd) ? hw_pd(&e->s, e->pd)->refs : 0;
	uint32_t umem = hw_umem(&e->s, e->umem)->refs, dbr = hw_umem(&e->s, e->dbr)->refs;
	uint32_t cq = hw_cq(&e->s, e->cq) ? hw_cq(&e->s, e->cq)->refs : 0;

	fw_recount(&e->s, e->hca);
	if (hw_pd(&e->s, e->pd))
		assert_int_equal(hw_pd(&e->s, e->pd)->refs, pd);
	if (hw_cq(&e->s, e->cq))
		assert_int_equal(hw_cq(&e->s, e->cq)->refs, cq);
	assert_int_equal(hw_umem(&e->s, e->umem)->refs, umem);
	assert_int_equal(hw_umem(&e->s, e->dbr)->refs, dbr);
}

static void test_damaged_commands(void **state)
{
	struct env *e = *state;
	unsigned int ok = 0, refused = 0;

	rnd_state = 20231;
	for (int n = 0; n < 20000; n++) {
		uint32_t flips = rnd(4), status, len;

		builders[rnd(ARRAY_SIZE(builders))](e);
		for (uint32_t i = 0; i < flips; i++)
			e->in[4 + rnd(0x10c)] ^= (uint8_t)(1 << rnd(8));
		len = rnd(20) ? 0x110 : 0x10 + rnd(0x110);
		assert_int_equal(fw_exec(&e->user, e->in, len, e->out, 0x110), 0);
		status = (uint32_t)LAYOUT_GET(cmd_out, e->out, status);
		if (status == FW_OK) {
			ok++;
			assert_int_equal(syndrome(e), 0);
		} else {
			refused++;
			assert_non_null(fw_refusal_find(syndrome(e)));
			assert_int_equal(fw_refusal_find(syndrome(e))->status, status);
		}
		if (n % 100 == 0)
			check_references(e);
		if (n % 50 == 0) { /* do not run out of objects to work on */
			b_create_qp(e);
			if (run(e, e->in, IN(create_qp), OUT(create_qp)) == FW_OK)
				e->qp = out_id(e);
		}
	}
	/* both must happen often, or the damage is too little or too much */
	assert_in_range(ok, 1000, 19000);
	assert_in_range(refused, 1000, 19000);
	fw_reap_file(&e->s, e->file);
	for (uint32_t t = SEG_T_UAR; t < SEG_T_COUNT; t++)
		assert_int_equal(seg_next(&e->s, (enum seg_table_id)t, e->file + 1, 0), SEG_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		env_test(test_damaged_commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
