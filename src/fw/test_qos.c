/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Scheduling elements, general objects, and the QPs in queue groups; counters of ports. */
#include "fw/test.h"
#include "hw/hca.h"
#include "hw/obj.h"
#include "hw/port.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "wire/prm/gobj.h"
#include "wire/prm/hca_cap.h"
#include "wire/prm/qos.h"
#include "wire/prm/qp.h"
#include "wire/prm/raw.h"
#include "wire/prm/vport.h"

static int sched_setup(void **state)
{
	int r = env_setup(state);

	sched_up(*state);
	return r;
}

#define sched_test(f) cmocka_unit_test_setup_teardown(f, sched_setup, env_teardown)

static uint32_t gobj(struct env *e, uint16_t opcode, uint16_t type, uint32_t id)
{
	LAYOUT_SET(query_general_object_in, cmd_init(e, opcode, type), obj_id, id);
	return run(e, e->in, IN(query_general_object), 0x90);
}

static uint32_t made(struct env *e)
{
	return LAYOUT_GET32(create_general_object_out, e->out, obj_id);
}

static uint32_t sched_destroy(struct env *e, uint32_t id)
{
	b_sched_id(e, PRM_OP_DESTROY_SCHEDULING_ELEMENT, id);
	return run(e, e->in, IN(destroy_scheduling_element), OUT(destroy_scheduling_element));
}

static void test_both_commands_make_the_same_elements(void **state)
{
	struct env *e = *state;
	const void *sc = LAYOUT_IN(query_scheduling_element_out, scheduling_context, e->out);
	const void *body = e->out + 0x10;
	uint32_t id;

	b_gobj_sched(e, PRM_OP_CREATE_GENERAL_OBJECT, 0, 4, e->tsar);
	assert_int_equal(run(e, e->in, 0x90, 0x10), FW_OK);
	id = made(e);
	b_sched_id(e, PRM_OP_QUERY_SCHEDULING_ELEMENT, id);
	assert_int_equal(run(e, e->in, IN(query_scheduling_element), OUT(query_scheduling_element)),
			 FW_OK);
	assert_int_equal(LAYOUT_GET(scheduling_context, sc, element_type), 4);
	assert_int_equal(LAYOUT_GET(scheduling_context, sc, parent_element_id), e->tsar);
	assert_int_equal(LAYOUT_GET(scheduling_context, sc, bw_share), 10);
	assert_int_equal(LAYOUT_GET(scheduling_context, sc, max_average_bw), 7);
	/* only the selected limit changes */
	b_gobj_sched(e, PRM_OP_MODIFY_GENERAL_OBJECT, id, 4, 0);
	LAYOUT_SET(sched_elem, e->in + 0x10, modify_field_select, PRM_SCHED_BW_SHARE);
	LAYOUT_SET(scheduling_context, LAYOUT_IN(sched_elem, sched_context, e->in + 0x10), bw_share,
		   100);
	LAYOUT_SET(scheduling_context, LAYOUT_IN(sched_elem, sched_context, e->in + 0x10),
		   max_average_bw, 99);
	assert_int_equal(run(e, e->in, 0x90, 0x10), FW_OK);
	assert_int_equal(made(e), id);
	assert_int_equal(gobj(e, PRM_OP_QUERY_GENERAL_OBJECT, PRM_GOBJ_SCHEDULING_ELEMENT, id),
			 FW_OK);
	sc = LAYOUT_IN(sched_elem, sched_context, body);
	assert_int_equal(LAYOUT_GET(sched_elem, body, scheduling_hierarchy), 3);
	assert_int_equal(LAYOUT_GET(scheduling_context, sc, bw_share), 100);
	assert_int_equal(LAYOUT_GET(scheduling_context, sc, max_average_bw), 7);
}

static void test_a_tree_goes_from_its_leaves(void **state)
{
	struct env *e = *state;

	assert_int_equal(sched_destroy(e, e->tsar), FW_BAD_RES_STATE);
	assert_int_equal(sched_destroy(e, e->group), FW_OK);
	assert_int_equal(sched_destroy(e, e->group), FW_BAD_RES);
	assert_int_equal(sched_destroy(e, e->tsar), FW_OK);
}

static uint32_t qp_groups(struct env *e, uint16_t opcode, uint32_t req, uint32_t resp)
{
	b_qp_groups(e, opcode, req, resp);
	return run(e, e->in, 0x1d0, OUT(rts2rts_qp));
}

static void test_qps_in_queue_groups(void **state)
{
	struct env *e = *state;
	uint32_t second = sched_new(e, 4, e->tsar);

	qp_to(e, PRM_QP_STATE_INIT);
	assert_int_equal(qp_groups(e, PRM_OP_INIT2INIT_QP, e->group, second), FW_OK);
	assert_int_equal(sched_destroy(e, e->group), FW_BAD_RES_STATE);
	assert_int_equal(sched_destroy(e, second), FW_BAD_RES_STATE);
	b_init2rtr(e);
	assert_int_equal(run(e, e->in, IN(init2rtr_qp), OUT(init2rtr_qp)), FW_OK);
	b_rtr2rts(e);
	assert_int_equal(run(e, e->in, IN(rtr2rts_qp), OUT(rtr2rts_qp)), FW_OK);
	assert_int_equal(qp_groups(e, PRM_OP_RTS2RTS_QP, second, 0), FW_OK);
	assert_int_equal(hw_qp(&e->s, e->qp)->qos_req, second);
	assert_int_equal(hw_qp(&e->s, e->qp)->qos_resp, 0);
	assert_int_equal(sched_destroy(e, e->group), FW_OK);
	/* recounted, and dropped with the QP */
	fw_recount(&e->s, e->hca);
	assert_int_equal(sched_destroy(e, second), FW_BAD_RES_STATE);
	b_id(e, PRM_OP_DESTROY_QP, e->qp);
	assert_int_equal(run(e, e->in, 0x10, 0x10), FW_OK);
	assert_int_equal(sched_destroy(e, second), FW_OK);
}

/* An extension without selected options changes nothing. */
static void test_an_extension_without_options(void **state)
{
	struct env *e = *state;

	qp_to(e, PRM_QP_STATE_RTS);
	assert_int_equal(qp_groups(e, PRM_OP_RTS2RTS_QP, e->group, e->group), FW_OK);
	b_qp_groups(e, PRM_OP_RTS2RTS_QP, 0, 0);
	LAYOUT_SET(rts2rts_qp_in, e->in, opt_param_mask_95_32, 0);
	assert_int_equal(run(e, e->in, 0x1d0, OUT(rts2rts_qp)), FW_OK);
	assert_int_equal(hw_qp(&e->s, e->qp)->qos_req, e->group);
}

static void test_responder_groups_are_for_rc(void **state)
{
	struct env *e = *state;
	void *qpc = LAYOUT_IN(create_qp_in, qpc, e->in);

	b_create_qp(e);
	LAYOUT_SET(qpc, qpc, st, PRM_ST_UC);
	e->qp = make(e, IN(create_qp));
	b_rst2init(e);
	LAYOUT_SET(qpc, LAYOUT_IN(rst2init_qp_in, qpc, e->in), rre, 0);
	assert_int_equal(run(e, e->in, IN(rst2init_qp), OUT(rst2init_qp)), FW_OK);
	assert_int_equal(qp_groups(e, PRM_OP_INIT2INIT_QP, e->group, e->group), FW_BAD_RES);
	assert_int_equal(qp_groups(e, PRM_OP_INIT2INIT_QP, e->group, 0), FW_OK);
}

static uint32_t set_mmo(struct env *e, uint32_t on)
{
	b_qp_groups(e, PRM_OP_INIT2INIT_QP, 0, 0);
	LAYOUT_SET(rts2rts_qp_in, e->in, opt_param_mask_95_32, PRM_QP_OPT32_MMO);
	LAYOUT_SET(qpc_ext, e->in + LAYOUT_SZ(init2init_qp_in), mmo, on);
	return run(e, e->in, 0x1d0, OUT(init2init_qp));
}

static uint32_t set_drain(struct env *e, uint32_t on)
{
	LAYOUT_SET(qpc, b_modify_qp(e, PRM_OP_INIT2INIT_QP, 1 << 11), drain_sigerr, on);
	return run(e, e->in, IN(init2init_qp), OUT(init2init_qp));
}

/* As mlx5_modify_qp_drain_sigerr() of libmlx5 does after each RST2INIT. */
static void test_pipelining_is_switched_on(void **state)
{
	struct env *e = *state;
	struct hw_qp *qp = hw_qp(&e->s, e->qp);

	qp_to(e, PRM_QP_STATE_INIT);
	assert_int_equal(LAYOUT_GET(qpc, qp->qpc, rwe), 1);
	assert_int_equal(set_drain(e, 1), FW_OK);
	assert_int_equal(LAYOUT_GET(qpc, qp->qpc, drain_sigerr), 1);
	assert_int_equal(LAYOUT_GET(qpc, qp->qpc, rwe), 1); /* not selected, not changed */
	b_id(e, PRM_OP_2RST_QP, e->qp);
	assert_int_equal(run(e, e->in, IN(qp_2rst), OUT(qp_2rst)), FW_OK);
	b_rst2init(e);
	assert_int_equal(run(e, e->in, IN(rst2init_qp), OUT(rst2init_qp)), FW_OK);
	assert_int_equal(LAYOUT_GET(qpc, qp->qpc, drain_sigerr), 0);
	qp->st = PRM_ST_DCI;
	assert_int_equal(set_drain(e, 1), FW_BAD_PARAM);
	assert_int_equal(set_drain(e, 0), FW_OK);
	qp->st = PRM_ST_UD;
	assert_int_equal(set_drain(e, 0), FW_BAD_PARAM);
	qp->st = PRM_ST_XRC;
	assert_int_equal(set_drain(e, 1), FW_OK);
	qp->st = PRM_ST_RC;
}

/* As qp_enable_mmo() of libmlx5 does after each RST2INIT. */
static void test_copies_are_switched_on(void **state)
{
	struct env *e = *state;
	struct hw_qp *qp = hw_qp(&e->s, e->qp);

	qp_to(e, PRM_QP_STATE_INIT);
	assert_int_equal(qp_groups(e, PRM_OP_INIT2INIT_QP, e->group, 0), FW_OK);
	assert_int_equal(qp->mmo, 0);
	assert_int_equal(set_mmo(e, 1), FW_OK);
	assert_int_equal(qp->mmo, 1);
	assert_int_equal(qp->qos_req, e->group); /* not selected, not changed */
	assert_int_equal(set_mmo(e, 0), FW_OK);
	assert_int_equal(qp->mmo, 0);
	assert_int_equal(set_mmo(e, 1), FW_OK);
	b_id(e, PRM_OP_2RST_QP, e->qp);
	assert_int_equal(run(e, e->in, IN(qp_2rst), OUT(qp_2rst)), FW_OK);
	b_rst2init(e);
	assert_int_equal(run(e, e->in, IN(rst2init_qp), OUT(rst2init_qp)), FW_OK);
	assert_int_equal(qp->mmo, 0);
	qp->st = PRM_ST_UC;
	assert_int_equal(set_mmo(e, 1), FW_BAD_PARAM);
	qp->st = PRM_ST_DCI;
	assert_int_equal(set_mmo(e, 1), FW_OK);
	qp->st = PRM_ST_RC;
}

static uint32_t sq_group(struct env *e, uint32_t id)
{
	void *sqc = b_modify_sq(e, 0, 0, PRM_SQ_MODIFY_QOS_QUEUE_GROUP_ID);

	LAYOUT_SET(sqc, sqc, qos_queue_group_id, id);
	return run(e, e->in, IN(modify_sq), OUT(modify_sq));
}

static void test_sqs_in_queue_groups(void **state)
{
	struct env *e = *state;
	uint32_t td, second = sched_new(e, 4, e->tsar);

	raw_up(e);
	td = hw_obj(&e->s, e->td)->refs;
	assert_int_equal(sq_group(e, e->group), FW_OK);
	assert_int_equal(sched_destroy(e, e->group), FW_BAD_RES_STATE);
	assert_int_equal(sq_group(e, second), FW_OK);
	assert_int_equal(sched_destroy(e, e->group), FW_OK);
	assert_int_equal(sq_group(e, e->tsar), FW_BAD_RES);
	assert_int_equal(sq_group(e, 0), FW_OK);
	assert_int_equal(sched_destroy(e, second), FW_OK);
	assert_int_equal(hw_obj(&e->s, e->td)->refs, td);
}

static void test_reserved_qpns(void **state)
{
	struct env *e = *state;
	uint32_t a, b;

	cmd_init(e, PRM_OP_CREATE_GENERAL_OBJECT, PRM_GOBJ_RESERVED_QPN);
	assert_int_equal(run(e, e->in, 0x20, 0x10), FW_OK);
	a = made(e);
	cmd_init(e, PRM_OP_CREATE_GENERAL_OBJECT, PRM_GOBJ_RESERVED_QPN);
	assert_int_equal(run(e, e->in, 0x20, 0x10), FW_OK);
	b = made(e);
	assert_int_not_equal(a, b);
	/* a reserved number: QP commands do not find it, no QP gets it */
	b_id(e, PRM_OP_QUERY_QP, a);
	assert_int_equal(run(e, e->in, 0x10, OUT(query_qp)), FW_BAD_RES);
	b_create_qp(e);
	e->qp = make(e, IN(create_qp));
	assert_true(e->qp != a && e->qp != b);
	assert_int_equal(gobj(e, PRM_OP_QUERY_GENERAL_OBJECT, PRM_GOBJ_RESERVED_QPN, a), FW_OK);
	assert_int_equal(gobj(e, PRM_OP_DESTROY_GENERAL_OBJECT, PRM_GOBJ_RESERVED_QPN, e->qp),
			 FW_BAD_RES);
	assert_int_equal(gobj(e, PRM_OP_DESTROY_GENERAL_OBJECT, PRM_GOBJ_RESERVED_QPN, a), FW_OK);
	assert_int_equal(gobj(e, PRM_OP_DESTROY_GENERAL_OBJECT, PRM_GOBJ_RESERVED_QPN, a),
			 FW_BAD_RES);
	fw_reap_file(&e->s, e->file);
	assert_null(hw_qp(&e->s, b));
}

static void test_av_qp_mappings(void **state)
{
	struct env *e = *state;
	uint32_t id;

	cmd_init(e, PRM_OP_CREATE_GENERAL_OBJECT, PRM_GOBJ_AV_QP_MAPPING);
	LAYOUT_SET(av_qp_mapping, e->in + 0x10, qpn, 0x1234);
	assert_int_equal(run(e, e->in, 0x50, 0x10), FW_OK);
	id = made(e);
	assert_int_equal(gobj(e, PRM_OP_QUERY_GENERAL_OBJECT, PRM_GOBJ_AV_QP_MAPPING, id), FW_OK);
	assert_int_equal(LAYOUT_GET(av_qp_mapping, e->out + 0x10, qpn), 0x1234);
	assert_int_equal(gobj(e, PRM_OP_DESTROY_GENERAL_OBJECT, PRM_GOBJ_AV_QP_MAPPING, id), FW_OK);
}

static void test_caps_name_what_is_there(void **state)
{
	struct env *e = *state;
	const void *cap = LAYOUT_IN(query_hca_cap_out, capability, e->out);

	cmd_init(e, PRM_OP_QUERY_HCA_CAP, 1);
	assert_int_equal(run(e, e->in, IN(query_hca_cap), OUT(query_hca_cap)), FW_OK);
	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, general_obj_types),
			 UINT64_C(1) << 0xc | UINT64_C(1) << 0x26 | UINT64_C(1) << 0x2c |
				 UINT64_C(1) << 0x3a);
	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, qos), 1);
	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, qpc_extension), 1);
	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, crypto), 1);
	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, sho), 1);
	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, sigerr_domain_and_sig_type), 1);
	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, drain_sigerr), 1);
	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, dma_mmo_qp), 1);
	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, log_dma_mmo_max_size), HW_LOG_MAX_MMO);
}

static void test_nic_vport_shows_the_hca(void **state)
{
	struct env *e = *state;
	const void *ctx = LAYOUT_IN(query_nic_vport_context_out, nic_vport_context, e->out);
	const struct hw_hca *hca = hw_hca(&e->s, e->hca);

	LAYOUT_SET(query_nic_vport_context_in, cmd_init(e, PRM_OP_QUERY_NIC_VPORT_CONTEXT, 0),
		   allowed_list_type, 2);
	assert_int_equal(run(e, e->in, IN(query_nic_vport_context), OUT(query_nic_vport_context)),
			 FW_OK);
	assert_int_equal(LAYOUT_GET(nic_vport_context, ctx, node_guid), hca->node_guid);
	assert_int_equal(LAYOUT_GET(nic_vport_context, ctx, port_guid),
			 hw_port(&e->s, hca->port[0])->guid);
	assert_int_equal(LAYOUT_GET(nic_vport_context, ctx, mtu), 4096);
	assert_int_equal(LAYOUT_GET(nic_vport_context, ctx, allowed_list_type), 2);
	assert_int_equal(LAYOUT_GET(nic_vport_context, ctx, allowed_list_size), 0);
}

static void test_all_go_with_their_file(void **state)
{
	struct env *e = *state;

	fw_reap_file(&e->s, e->file);
	assert_int_equal(seg_table(&e->s, SEG_T_OBJ)->live, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		sched_test(test_both_commands_make_the_same_elements),
		sched_test(test_a_tree_goes_from_its_leaves),
		sched_test(test_qps_in_queue_groups),
		sched_test(test_an_extension_without_options),
		sched_test(test_copies_are_switched_on),
		sched_test(test_pipelining_is_switched_on),
		sched_test(test_responder_groups_are_for_rc),
		sched_test(test_sqs_in_queue_groups),
		sched_test(test_reserved_qpns),
		sched_test(test_av_qp_mappings),
		sched_test(test_caps_name_what_is_there),
		sched_test(test_nic_vport_shows_the_hca),
		sched_test(test_all_go_with_their_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
