/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Transport domains, RQs, RQTs, TIRs, TISs, SQs: state, references, closing their file. */
#include "fw/test.h"
#include "hw/cq.h"
#include "hw/hca.h"
#include "hw/obj.h"
#include "hw/pd.h"
#include "hw/port.h"
#include "hw/qctr.h"
#include "hw/srq.h"
#include "hw/umem.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/dct.h"
#include "wire/prm/hca_cap.h"
#include "wire/prm/qctr.h"
#include "wire/prm/qos.h"
#include "wire/prm/qp.h"
#include "wire/prm/raw.h"
#include "wire/prm/rmp_srq.h"
#include "wire/prm/umem.h"

static int raw_setup(void **state)
{
	int r = env_setup(state);

	raw_up(*state);
	return r;
}

#define raw_test(f) cmocka_unit_test_setup_teardown(f, raw_setup, env_teardown)

static uint32_t run_id(struct env *e, uint16_t opcode, uint32_t id, uint32_t outlen)
{
	b_id(e, opcode, id);
	return run(e, e->in, 0x10, outlen);
}

static uint32_t modify_rq(struct env *e, uint32_t from, uint32_t to)
{
	b_modify_rq(e, from, to, 0);
	return run(e, e->in, IN(modify_rq), OUT(modify_rq));
}

static uint32_t rq_state(struct env *e)
{
	assert_int_equal(run_id(e, PRM_OP_QUERY_RQ, e->rq, OUT(query_rq)), FW_OK);
	return LAYOUT_GET32(rqc, LAYOUT_IN(query_rq_out, rq_context, e->out), state);
}

static void test_an_rq_shows_what_it_was_made_with(void **state)
{
	struct env *e = *state;
	const void *rqc = LAYOUT_IN(query_rq_out, rq_context, e->out);
	const void *wq = LAYOUT_IN(rqc, wq, rqc);

	assert_int_equal(rq_state(e), 0);
	assert_int_equal(LAYOUT_GET(rqc, rqc, cqn), e->cq);
	assert_int_equal(LAYOUT_GET(rqc, rqc, user_index), 0x77);
	assert_int_equal(LAYOUT_GET(rqc, rqc, vsd), 1);
	assert_int_equal(LAYOUT_GET(wq, wq, log_wq_sz), 4);
	assert_int_equal(LAYOUT_GET(wq, wq, dbr_addr), 0x100);
}

static void test_rq_states(void **state)
{
	struct env *e = *state;

	assert_int_equal(modify_rq(e, 0, 1), FW_OK);
	assert_int_equal(rq_state(e), 1);
	assert_int_equal(modify_rq(e, 0, 1), FW_BAD_RES_STATE);
	assert_int_equal(modify_rq(e, 1, 3), FW_OK);
	assert_int_equal(rq_state(e), 3);
	assert_int_equal(modify_rq(e, 3, 1), FW_BAD_RES_STATE);
	assert_int_equal(modify_rq(e, 3, 0), FW_OK);
	assert_int_equal(modify_rq(e, 0, 1), FW_OK);
	assert_int_equal(modify_rq(e, 1, 1), FW_OK);
	assert_int_equal(modify_rq(e, 1, 0), FW_OK);
	assert_int_equal(rq_state(e), 0);
}

static void test_rq_fields_are_taken_by_the_mask_only(void **state)
{
	struct env *e = *state;
	const void *rqc = LAYOUT_IN(query_rq_out, rq_context, e->out), *wq;
	uint32_t set, idx;
	void *m;

	cmd_init(e, PRM_OP_ALLOC_Q_COUNTER, 0);
	assert_int_equal(run(e, e->in, IN(alloc_q_counter), OUT(alloc_q_counter)), FW_OK);
	set = LAYOUT_GET32(alloc_q_counter_out, e->out, counter_set_id);
	m = b_modify_rq(e, 0, 0, PRM_RQ_MODIFY_COUNTER_SET_ID);
	LAYOUT_SET(rqc, m, counter_set_id, set);
	LAYOUT_SET(rqc, m, cqn, 0x999);
	LAYOUT_SET(wq, LAYOUT_IN(rqc, wq, m), lwm, 7);
	assert_int_equal(run(e, e->in, IN(modify_rq), OUT(modify_rq)), FW_OK);
	rq_state(e);
	wq = LAYOUT_IN(rqc, wq, rqc);
	assert_int_equal(LAYOUT_GET(rqc, rqc, counter_set_id), set);
	assert_int_equal(LAYOUT_GET(rqc, rqc, vsd), 1);
	assert_int_equal(LAYOUT_GET(rqc, rqc, cqn), e->cq);
	assert_int_equal(LAYOUT_GET(wq, wq, lwm), 0);

	/* the set is in use while the RQ counts in it */
	idx = hw_obj(&e->s, e->rq)->ref[4].idx;
	assert_int_equal(hw_qctr(&e->s, idx)->refs, 1);
	b_modify_rq(e, 0, 0, PRM_RQ_MODIFY_COUNTER_SET_ID);
	assert_int_equal(run(e, e->in, IN(modify_rq), OUT(modify_rq)), FW_OK);
	assert_int_equal(hw_qctr(&e->s, idx)->refs, 0);

	LAYOUT_SET(arm_rq_in, cmd_init(e, PRM_OP_ARM_RQ, 1), srq_number, e->rq);
	LAYOUT_SET(arm_rq_in, e->in, lwm, 15);
	assert_int_equal(run(e, e->in, IN(arm_rq), OUT(arm_rq)), FW_OK);
	rq_state(e);
	assert_int_equal(LAYOUT_GET(wq, wq, lwm), 15);
}

/* An RQ over an RMP: it refers to the RMP, and to no memory. */
static void test_an_rq_over_an_rmp(void **state)
{
	struct env *e = *state;
	void *rqc = LAYOUT_IN(create_rq_in, ctx, e->in);
	uint32_t umem = hw_umem(&e->s, e->umem)->refs, rq;

	b_create_rq(e);
	memset(LAYOUT_IN(rqc, wq, rqc), 0, LAYOUT_SZ(wq));
	LAYOUT_SET(rqc, rqc, mem_rq_type, 1);
	LAYOUT_SET(rqc, rqc, rmpn, e->srq);
	rq = make(e, IN(create_rq));
	assert_int_equal(hw_srq(&e->s, e->srq)->refs, 1);
	assert_int_equal(hw_umem(&e->s, e->umem)->refs, umem);
	assert_int_equal(run_id(e, PRM_OP_DESTROY_RMP, e->srq, 0x10), FW_BAD_RES_STATE);
	assert_int_equal(run_id(e, PRM_OP_DESTROY_RQ, rq, 0x10), FW_OK);
	assert_int_equal(run_id(e, PRM_OP_DESTROY_RMP, e->srq, 0x10), FW_OK);
}

static void test_a_table_of_rqs(void **state)
{
	struct env *e = *state;
	const void *rqtc = LAYOUT_IN(query_rqt_out, rqt_context, e->out);
	uint32_t rq2;

	assert_int_equal(hw_obj(&e->s, e->rq)->refs, 2);
	b_create_rq(e);
	rq2 = make(e, IN(create_rq));
	b_modify_rqt(e);
	LAYOUT_SET(rq_num, e->in + 0x110, rq_num, rq2);
	assert_int_equal(run(e, e->in, IN(modify_rqt) + 8, OUT(modify_rqt)), FW_OK);
	assert_int_equal(hw_obj(&e->s, e->rq)->refs, 1);
	assert_int_equal(hw_obj(&e->s, rq2)->refs, 1);
	assert_int_equal(run_id(e, PRM_OP_QUERY_RQT, e->rqt, OUT(query_rqt) + 8), FW_OK);
	assert_int_equal(LAYOUT_GET(rqtc, rqtc, rqt_max_size), 4);
	assert_int_equal(LAYOUT_GET(rqtc, rqtc, rqt_actual_size), 2);
	assert_int_equal(LAYOUT_GET(rq_num, e->out + 0x110, rq_num), rq2);
	assert_int_equal(LAYOUT_GET(rq_num, e->out + 0x114, rq_num), e->rq);
	/* without the bit the list is not checked */
	b_modify_rqt(e);
	LAYOUT_SET(rqt_bitmask, LAYOUT_IN(modify_rqt_in, bitmask, e->in), rqn_list, 0);
	assert_int_equal(run(e, e->in, IN(modify_rqt), OUT(modify_rqt)), FW_OK);
	assert_int_equal(hw_obj(&e->s, rq2)->refs, 1);
}

static void test_a_refused_list_keeps_the_old_one(void **state)
{
	struct env *e = *state;

	b_modify_rqt(e);
	LAYOUT_SET(rq_num, e->in + 0x114, rq_num, e->tis);
	assert_int_equal(run(e, e->in, IN(modify_rqt) + 8, OUT(modify_rqt)), FW_BAD_RES);
	assert_int_equal(hw_obj(&e->s, e->rq)->refs, 2);
	assert_int_equal(hw_obj(&e->s, e->rqt)->nrqs, 2);
}

static void test_tir_and_tis(void **state)
{
	struct env *e = *state;
	const void *tirc = LAYOUT_IN(query_tir_out, tir_context, e->out);
	const void *tisc = LAYOUT_IN(query_tis_out, tis_context, e->out);

	b_modify_tir(e);
	LAYOUT_SET(rx_hash_key,
		   LAYOUT_IN(tirc, rx_hash_toeplitz_key, LAYOUT_IN(modify_tir_in, ctx, e->in)),
		   key4, 0x1234);
	LAYOUT_SET(tirc, LAYOUT_IN(modify_tir_in, ctx, e->in), self_lb_block, 3);
	assert_int_equal(run(e, e->in, IN(modify_tir), OUT(modify_tir)), FW_OK);
	assert_int_equal(run_id(e, PRM_OP_QUERY_TIR, e->tir, OUT(query_tir)), FW_OK);
	assert_int_equal(LAYOUT_GET(tirc, tirc, rx_hash_fn), 1);
	assert_int_equal(LAYOUT_GET(tirc, tirc, self_lb_block), 0);
	assert_int_equal(LAYOUT_GET(tirc, tirc, indirect_table), e->rqt);
	assert_int_equal(LAYOUT_GET(rx_hash_key, LAYOUT_IN(tirc, rx_hash_toeplitz_key, tirc), key4),
			 0x1234);

	b_modify_tis(e);
	assert_int_equal(run(e, e->in, IN(modify_tis), OUT(modify_tis)), FW_OK);
	assert_int_equal(run_id(e, PRM_OP_QUERY_TIS, e->tis, OUT(query_tis)), FW_OK);
	assert_int_equal(LAYOUT_GET(tisc, tisc, prio), 9);
	assert_int_equal(LAYOUT_GET(tisc, tisc, transport_domain), e->td);
}

static void test_a_direct_tir_uses_its_rq(void **state)
{
	struct env *e = *state;
	void *tirc = LAYOUT_IN(create_tir_in, ctx, e->in);
	uint32_t tir;

	b_create_tir(e);
	LAYOUT_SET(tirc, tirc, disp_type, 0);
	LAYOUT_SET(tirc, tirc, rx_hash_fn, 0);
	LAYOUT_SET(tirc, tirc, indirect_table, 0);
	LAYOUT_SET(tirc, tirc, inline_rqn, e->rq);
	tir = make(e, IN(create_tir));
	assert_int_equal(hw_obj(&e->s, e->rq)->refs, 3);
	assert_int_equal(run_id(e, PRM_OP_DESTROY_TIR, tir, 0x10), FW_OK);
	assert_int_equal(hw_obj(&e->s, e->rq)->refs, 2);
}

static void test_sq_states(void **state)
{
	struct env *e = *state;
	const void *sqc = LAYOUT_IN(query_sq_out, sq_context, e->out);

	b_modify_sq(e, 0, 1, 0);
	assert_int_equal(run(e, e->in, IN(modify_sq), OUT(modify_sq)), FW_OK);
	assert_int_equal(run_id(e, PRM_OP_QUERY_SQ, e->sq, OUT(query_sq)), FW_OK);
	assert_int_equal(LAYOUT_GET(sqc, sqc, state), 1);
	assert_int_equal(LAYOUT_GET(sqc, sqc, tis_num_0), e->tis);
	b_modify_sq(e, 1, 3, 0);
	assert_int_equal(run(e, e->in, IN(modify_sq), OUT(modify_sq)), FW_OK);
	b_modify_sq(e, 3, 1, 0);
	assert_int_equal(run(e, e->in, IN(modify_sq), OUT(modify_sq)), FW_BAD_RES_STATE);
}

static uint32_t set_rate(struct env *e, const struct fw_ctx *c, uint32_t index, uint32_t rate)
{
	void *in = cmd_init(e, PRM_OP_SET_PP_RATE_LIMIT, 0);

	LAYOUT_SET(cmd_in, in, uid, c->uid);
	LAYOUT_SET(set_pp_rate_limit_in, in, rate_limit_index, index);
	LAYOUT_SET(set_pp_rate_limit_context, LAYOUT_IN(set_pp_rate_limit_in, ctx, in), rate_limit,
		   rate);
	return run_as(e, c, in, IN(set_pp_rate_limit), OUT(set_pp_rate_limit));
}

static uint32_t pace_sq(struct env *e, uint32_t index)
{
	void *sqc = b_modify_sq(e, 0, 0, PRM_SQ_MODIFY_RATE_LIMIT_INDEX);

	LAYOUT_SET(sqc, sqc, packet_pacing_rate_limit_index, index);
	return run(e, e->in, IN(modify_sq), OUT(modify_sq));
}

/* An SQ may use a limit of its own context or a shared one. */
static void test_rate_limits(void **state)
{
	struct env *e = *state;
	struct fw_ctx shared = e->kernel, other = e->kernel;
	const void *sqc = LAYOUT_IN(query_sq_out, sq_context, e->out);

	shared.uid = FW_SHARED_UID;
	other.uid = TEST_UID + 1;
	assert_int_equal(set_rate(e, &e->kernel, 1, 100), FW_OK);
	assert_int_equal(set_rate(e, &shared, 2, 100), FW_OK);
	assert_int_equal(set_rate(e, &other, 3, 100), FW_OK);
	assert_int_equal(pace_sq(e, 1), FW_OK);
	assert_int_equal(pace_sq(e, 2), FW_OK);
	assert_int_equal(run_id(e, PRM_OP_QUERY_SQ, e->sq, OUT(query_sq)), FW_OK);
	assert_int_equal(LAYOUT_GET(sqc, sqc, packet_pacing_rate_limit_index), 2);
	assert_int_equal(pace_sq(e, 3), FW_BAD_INDEX);
	assert_int_equal(pace_sq(e, 4), FW_BAD_INDEX);
	assert_int_equal(pace_sq(e, 0), FW_OK);
	/* sharing: another limit for a used entry, then the same one, then a free entry */
	assert_int_equal(set_rate(e, &shared, 2, 200), FW_RES_BUSY);
	assert_int_equal(set_rate(e, &shared, 2, 100), FW_OK);
	assert_int_equal(set_rate(e, &shared, 2, 0), FW_OK);
	assert_int_equal(pace_sq(e, 2), FW_OK);
	assert_int_equal(set_rate(e, &shared, 2, 0), FW_OK);
	assert_int_equal(set_rate(e, &shared, 2, 0), FW_BAD_RES);
	assert_int_equal(pace_sq(e, 2), FW_BAD_INDEX);
}

static void test_qos_caps(void **state)
{
	struct env *e = *state;
	const void *cap = LAYOUT_IN(query_hca_cap_out, capability, e->out);
	const struct hw_caps *c = fw_caps(HW_CX6);

	cmd_init(e, PRM_OP_QUERY_HCA_CAP, 0xc << 1 | 1);
	assert_int_equal(run(e, e->in, IN(query_hca_cap), OUT(query_hca_cap)), FW_OK);
	assert_int_equal(LAYOUT_GET(qos_cap, cap, packet_pacing), 1);
	assert_int_equal(LAYOUT_GET(qos_cap, cap, packet_pacing_uid), 1);
	assert_int_equal(LAYOUT_GET(qos_cap, cap, packet_pacing_max_rate), c->pp_max_rate);
	assert_int_equal(LAYOUT_GET(qos_cap, cap, esw_scheduling), 0);
	assert_true(c->pp_table_size <= HW_PP_TABLE_MAX);
}

/* Each object is in use until its users are gone; afterwards all counts are as before. */
static void test_destroyed_in_order(void **state)
{
	struct env *e = *state;
	uint32_t cq = hw_cq(&e->s, e->cq)->refs, umem = hw_umem(&e->s, e->umem)->refs;
	const struct {
		uint16_t opcode;
		uint32_t id;
	} order[] = {{PRM_OP_DESTROY_TIR, e->tir}, {PRM_OP_DESTROY_RQT, e->rqt},
		     {PRM_OP_DESTROY_RQ, e->rq},   {PRM_OP_DESTROY_SQ, e->sq},
		     {PRM_OP_DESTROY_TIS, e->tis}, {PRM_OP_DEALLOC_TRANSPORT_DOMAIN, e->td}};

	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		bool used = order[i].id != e->tir && order[i].id != e->sq;

		if (used && i == 1)
			assert_int_equal(run_id(e, PRM_OP_DESTROY_RQ, e->rq, 0x10),
					 FW_BAD_RES_STATE);
		assert_int_equal(run_id(e, order[i].opcode, order[i].id, 0x10), FW_OK);
		assert_int_equal(run_id(e, order[i].opcode, order[i].id, 0x10), FW_BAD_RES);
	}
	assert_int_equal(hw_cq(&e->s, e->cq)->refs, cq - 2);
	assert_int_equal(hw_umem(&e->s, e->umem)->refs, umem - 2);
	assert_int_equal(seg_table(&e->s, SEG_T_OBJ)->live, 0);
}

static void test_references_are_counted_again(void **state)
{
	struct env *e = *state;
	uint32_t rq = hw_obj(&e->s, e->rq)->refs, td = hw_obj(&e->s, e->td)->refs;
	uint32_t cq = hw_cq(&e->s, e->cq)->refs, pd = hw_pd(&e->s, e->pd)->refs;

	hw_obj(&e->s, e->rq)->refs = 77;
	fw_recount(&e->s, e->hca);
	assert_int_equal(hw_obj(&e->s, e->rq)->refs, rq);
	assert_int_equal(hw_obj(&e->s, e->td)->refs, td);
	assert_int_equal(hw_cq(&e->s, e->cq)->refs, cq);
	assert_int_equal(hw_pd(&e->s, e->pd)->refs, pd);
}

/* Another file's zombie must not keep them: no thread uses them. */
static void test_all_go_with_their_file(void **state)
{
	struct env *e = *state;

	hw_hca(&e->s, e->hca)->zombies = 1;
	fw_reap_file(&e->s, e->file);
	assert_int_equal(seg_table(&e->s, SEG_T_OBJ)->live, 0);
	assert_null(hw_cq(&e->s, e->cq));
	assert_null(hw_pd(&e->s, e->pd));
	assert_int_equal(hw_hca(&e->s, e->hca)->zombies, 1);
}

static void test_another_uid_sees_none_of_them(void **state)
{
	struct env *e = *state;

	e->user.uid = TEST_UID + 1;
	b_id(e, PRM_OP_QUERY_RQ, e->rq);
	LAYOUT_SET(cmd_in, e->in, uid, TEST_UID + 1);
	assert_int_equal(run(e, e->in, 0x10, OUT(query_rq)), FW_BAD_RES);
}

/* Creates a DCT that names the set, and returns the command's status. */
static uint32_t dct_in_set(struct env *e, uint32_t set)
{
	void *dctc = b_dct(e);

	LAYOUT_SET(dctc, dctc, counter_set_id, set);
	return run(e, e->in, IN(create_dct), OUT(create_dct));
}

static uint32_t qp_in_set(struct env *e, uint32_t set)
{
	assert_int_equal(run_id(e, PRM_OP_2RST_QP, e->qp, 0x10), FW_OK);
	b_rst2init(e);
	LAYOUT_SET(qpc, LAYOUT_IN(rst2init_qp_in, qpc, e->in), counter_set_id, set);
	return run(e, e->in, IN(rst2init_qp), OUT(rst2init_qp));
}

static uint32_t rq_in_set(struct env *e, uint32_t set)
{
	void *m = b_modify_rq(e, 0, 0, PRM_RQ_MODIFY_COUNTER_SET_ID);

	LAYOUT_SET(rqc, m, counter_set_id, set);
	return run(e, e->in, IN(modify_rq), OUT(modify_rq));
}

static uint32_t set_as(struct env *e, uint16_t opcode, uint32_t uid, uint32_t set)
{
	struct fw_ctx c = e->user;

	c.uid = uid;
	cmd_init(e, opcode, 0);
	LAYOUT_SET(cmd_in, e->in, uid, uid);
	if (opcode == PRM_OP_DEALLOC_Q_COUNTER)
		LAYOUT_SET(dealloc_q_counter_in, e->in, counter_set_id, set);
	if (opcode == PRM_OP_QUERY_Q_COUNTER)
		LAYOUT_SET(query_q_counter_in, e->in, counter_set_id, set);
	return run_as(e, &c, e->in,
		      opcode == PRM_OP_QUERY_Q_COUNTER ? IN(query_q_counter)
						       : IN(dealloc_q_counter),
		      sizeof(e->out));
}

/*
 * mlx5_ib makes its Q counters under MLX5_SHARED_RESOURCE_UID (counters.c,
 * mlx5_ib_alloc_counters()): objects of any uid may count in them, none may free them.
 */
static void test_the_drivers_counters_are_shared(void **state)
{
	struct env *e = *state;
	const struct hw_port *port = hw_port(&e->s, hw_hca(&e->s, e->hca)->port[0]);
	struct hw_qctr *set = hw_qctr(&e->s, port->qctr);
	uint32_t other;

	assert_int_equal(set->uid, FW_SHARED_UID);
	assert_int_equal(qp_in_set(e, set->id), FW_OK);
	assert_int_equal(dct_in_set(e, set->id), FW_OK);
	assert_int_equal(rq_in_set(e, set->id), FW_OK);
	assert_int_equal(set->refs, 3);
	for (uint32_t uid = TEST_UID; uid <= TEST_UID + 1; uid++) {
		assert_int_equal(set_as(e, PRM_OP_DEALLOC_Q_COUNTER, uid, set->id), FW_BAD_RES);
		assert_int_equal(set_as(e, PRM_OP_QUERY_Q_COUNTER, uid, set->id), FW_BAD_RES);
	}

	/* a program's own set is for its uid only */
	assert_int_equal(set_as(e, PRM_OP_ALLOC_Q_COUNTER, TEST_UID + 1, 0), FW_OK);
	other = LAYOUT_GET32(alloc_q_counter_out, e->out, counter_set_id);
	assert_int_equal(qp_in_set(e, other), FW_BAD_RES);
	assert_int_equal(dct_in_set(e, other), FW_BAD_RES);
	assert_int_equal(rq_in_set(e, other), FW_BAD_RES);
	assert_int_equal(set_as(e, PRM_OP_DEALLOC_Q_COUNTER, TEST_UID, other), FW_BAD_RES);
	assert_int_equal(set_as(e, PRM_OP_DEALLOC_Q_COUNTER, TEST_UID + 1, other), FW_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		raw_test(test_the_drivers_counters_are_shared),
		raw_test(test_an_rq_shows_what_it_was_made_with),
		raw_test(test_rq_states),
		raw_test(test_rq_fields_are_taken_by_the_mask_only),
		raw_test(test_an_rq_over_an_rmp),
		raw_test(test_a_table_of_rqs),
		raw_test(test_a_refused_list_keeps_the_old_one),
		raw_test(test_tir_and_tis),
		raw_test(test_a_direct_tir_uses_its_rq),
		raw_test(test_sq_states),
		raw_test(test_rate_limits),
		raw_test(test_qos_caps),
		raw_test(test_destroyed_in_order),
		raw_test(test_references_are_counted_again),
		raw_test(test_all_go_with_their_file),
		raw_test(test_another_uid_sees_none_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
