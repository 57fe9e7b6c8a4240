/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * As many objects as query_device() says, and not one more: EXCEED_LIM, which cmd_status_to_err()
 * (mlx5_core cmd.c) turns into ENOMEM.
 */
#include <errno.h>
#include "fw/test.h"
#include "hw/hca.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/cq.h"
#include "wire/prm/mcg.h"
#include "wire/prm/mkey.h"
#include "wire/prm/pd.h"
#include "wire/prm/qp.h"
#include "wire/prm/raw.h"
#include "wire/prm/rmp_srq.h"
#include "wire/prm/xrc.h"

static void b_alloc_pd(struct env *e)
{
	cmd_init(e, PRM_OP_ALLOC_PD, 0);
}

static void b_alloc_xrcd(struct env *e)
{
	cmd_init(e, PRM_OP_ALLOC_XRCD, 0);
}

static void b_alloc_td(struct env *e)
{
	cmd_init(e, PRM_OP_ALLOC_TRANSPORT_DOMAIN, 0);
}

static const struct {
	enum seg_table_id table;
	void (*build)(struct env *e);
	uint32_t inlen;
	uint16_t destroy;
} kinds[] = {
	{SEG_T_PD, b_alloc_pd, IN(alloc_pd), PRM_OP_DEALLOC_PD},
	{SEG_T_MKEY, b_create_mkey, IN(create_mkey), PRM_OP_DESTROY_MKEY},
	{SEG_T_CQ, b_create_cq, IN(create_cq), PRM_OP_DESTROY_CQ},
	{SEG_T_SRQ, b_create_rmp, IN(create_rmp), PRM_OP_DESTROY_RMP},
	{SEG_T_QP, b_create_qp, IN(create_qp), PRM_OP_DESTROY_QP},
	{SEG_T_XRCD, b_alloc_xrcd, IN(alloc_xrcd), PRM_OP_DEALLOC_XRCD},
	{SEG_T_OBJ, b_alloc_td, IN(alloc_transport_domain), PRM_OP_DEALLOC_TRANSPORT_DOMAIN},
};

static uint32_t limit_of(enum seg_table_id table)
{
	const struct hw_caps *c = fw_caps(HW_CX6);
	const uint32_t log_max[SEG_T_COUNT] = {
		[SEG_T_PD] = c->log_max_pd,   [SEG_T_MKEY] = c->log_max_mkey,
		[SEG_T_CQ] = c->log_max_cq,   [SEG_T_SRQ] = c->log_max_srq,
		[SEG_T_QP] = c->log_max_qp,   [SEG_T_XRCD] = c->log_max_xrcd,
		[SEG_T_OBJ] = c->log_max_obj,
	};

	return 1u << log_max[table];
}

static _Atomic uint32_t *made_of(struct env *e, enum seg_table_id table)
{
	return &hw_hca(&e->s, e->hca)->made[table - HW_KIND_FIRST];
}

static uint32_t destroy_one(struct env *e, size_t i, uint32_t id)
{
	b_id(e, kinds[i].destroy, id);
	return run(e, e->in, 0x10, 0x10);
}

static uint32_t make_one(struct env *e, size_t i)
{
	kinds[i].build(e);
	return run(e, e->in, kinds[i].inlen, sizeof(e->out));
}

/* With one below the limit, one more can be made; then none, until one is destroyed. */
static void test_the_limit_of_every_kind(void **state)
{
	struct env *e = *state;
	size_t limited = 0;

	fw_for_each_kind (k)
		limited += k->log_max != 0;
	assert_int_equal(ARRAY_SIZE(kinds), limited);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		_Atomic uint32_t *made = made_of(e, kinds[i].table);
		uint32_t before = *made, id;

		*made = limit_of(kinds[i].table) - 1;
		assert_int_equal(make_one(e, i), FW_OK);
		id = out_id(e);
		assert_int_equal(make_one(e, i), FW_EXCEED_LIM);
		assert_int_equal(fw_status_to_errno(FW_EXCEED_LIM), -ENOMEM);
		assert_int_equal(*made, limit_of(kinds[i].table));
		assert_int_equal(destroy_one(e, i, id), FW_OK);
		assert_int_equal(*made, limit_of(kinds[i].table) - 1);
		assert_int_equal(make_one(e, i), FW_OK);
		assert_int_equal(destroy_one(e, i, out_id(e)), FW_OK);
		*made = before;
	}
}

/* The tables have space for the limits of one HCA. */
static void test_the_tables_hold_what_is_advertised(void **state)
{
	struct env *e = *state;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct seg_table_hdr *t = seg_table(&e->s, kinds[i].table);

		assert_true(t->capacity - t->first >= limit_of(kinds[i].table));
	}
	assert_true(seg_table(&e->s, SEG_T_AHEAD)->capacity ==
		    seg_table(&e->s, SEG_T_QP)->capacity);
}

static void test_all_pds_one_by_one(void **state)
{
	struct env *e = *state;
	uint32_t n = *made_of(e, SEG_T_PD);

	while (make_one(e, 0) == FW_OK)
		n++;
	assert_int_equal(n, limit_of(SEG_T_PD));
	assert_int_equal(LAYOUT_GET(cmd_out, e->out, status), FW_EXCEED_LIM);
	fw_reap_file(&e->s, e->file);
	assert_int_equal(*made_of(e, SEG_T_PD), 0);
}

/* Refusals, destroying and reaping keep the counts right; so does a recount. */
static void test_counts_follow_what_there_is(void **state)
{
	struct env *e = *state;
	uint32_t made[ARRAY_SIZE(kinds)], qps = *made_of(e, SEG_T_QP);

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		made[i] = *made_of(e, kinds[i].table);
	b_create_qp(e);
	LAYOUT_SET(qpc, LAYOUT_IN(create_qp_in, qpc, e->in), pd, 0xabcde);
	assert_int_equal(run(e, e->in, IN(create_qp), OUT(create_qp)), FW_BAD_RES);
	assert_int_equal(*made_of(e, SEG_T_QP), qps);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		*made_of(e, kinds[i].table) += 7;
	fw_recount(&e->s, e->hca);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		assert_int_equal(*made_of(e, kinds[i].table), made[i]);
	fw_reap_file(&e->s, e->file);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		assert_int_equal(*made_of(e, kinds[i].table), 0);
}

static uint32_t new_ud_qp(struct env *e)
{
	b_create_qp(e);
	LAYOUT_SET(qpc, LAYOUT_IN(create_qp_in, qpc, e->in), st, PRM_ST_UD);
	assert_int_equal(run(e, e->in, IN(create_qp), OUT(create_qp)), FW_OK);
	return LAYOUT_GET32(create_qp_out, e->out, qpn);
}

static uint32_t in_group(struct env *e, uint16_t opcode, uint32_t qpn, uint32_t group)
{
	uint8_t *gid = LAYOUT_IN(attach_to_mcg_in, multicast_gid, e->in);

	LAYOUT_SET(attach_to_mcg_in, cmd_init(e, opcode, 0), qpn, qpn);
	gid[0] = 0xff;
	be32_store(gid + 12, group);
	return run(e, e->in, IN(attach_to_mcg), OUT(attach_to_mcg));
}

/* A group counts as long as it has a member, whichever that is, and once. */
static void test_groups_are_counted(void **state)
{
	const uint32_t max = 1u << fw_caps(HW_CX6)->log_max_mcg;
	struct env *e = *state;
	uint32_t a = new_ud_qp(e), b = new_ud_qp(e);

	for (uint32_t i = 0; i < max; i++)
		assert_int_equal(in_group(e, PRM_OP_ATTACH_TO_MCG, a, i), FW_OK);
	assert_int_equal(in_group(e, PRM_OP_ATTACH_TO_MCG, b, max), FW_EXCEED_LIM);
	assert_int_equal(in_group(e, PRM_OP_ATTACH_TO_MCG, b, 7), FW_OK);
	assert_int_equal(in_group(e, PRM_OP_DETACH_FROM_MCG, a, 7), FW_OK);
	assert_int_equal(in_group(e, PRM_OP_ATTACH_TO_MCG, b, max), FW_EXCEED_LIM);
	assert_int_equal(in_group(e, PRM_OP_DETACH_FROM_MCG, b, 7), FW_OK);
	assert_int_equal(in_group(e, PRM_OP_ATTACH_TO_MCG, b, max), FW_OK);
	assert_int_equal(in_group(e, PRM_OP_ATTACH_TO_MCG, b, 7), FW_EXCEED_LIM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		env_test(test_the_limit_of_every_kind),
		env_test(test_the_tables_hold_what_is_advertised),
		env_test(test_all_pds_one_by_one),
		env_test(test_counts_follow_what_there_is),
		env_test(test_groups_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
