/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The effects of successful commands: capabilities, ports, events, references, visible objects.
 * test_keys.c has those of mkeys, test_queues.c those of queues.
 */
#include "fabric/count.h"
#include "fw/test.h"

#include <sys/eventfd.h>
#include <unistd.h>
#include "hw/hca.h"
#include "hw/mkey.h"
#include "hw/pd.h"
#include "hw/port.h"
#include "hw/qp.h"
#include "hw/evsub.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/dct.h"
#include "wire/prm/eq.h"
#include "wire/prm/hca_cap.h"
#include "wire/prm/qp.h"
#include "wire/prm/umem.h"
#include "wire/prm/vport.h"

static void test_general_caps_come_from_the_table(void **state)
{
	struct env *e = *state;
	void *cap = LAYOUT_IN(query_hca_cap_out, capability, e->out);
	const struct hw_caps *c = fw_caps(HW_CX6);

	for (uint32_t mod = 0; mod < 2; mod++) {
		cmd_init(e, PRM_OP_QUERY_HCA_CAP, mod);
		assert_int_equal(run(e, e->in, IN(query_hca_cap), OUT(query_hca_cap)), FW_OK);
		assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, log_max_qp), c->log_max_qp);
		assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, log_max_msg), 30);
		assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, cqe_version), 1);
		assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, num_ports), 2);
		assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, port_type), 0);
		assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, uar_4k), 1);
		assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, log_bf_reg_size), 0);
		assert_true(LAYOUT_GET(cmd_hca_cap, cap, log_max_uctx) > 0);
		assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, xrc), 1);
		/* not supported, so not advertised */
		assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, dct), 1);
		assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, atomic), 1);
		assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, pg), 1);
		assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, tag_matching), 1);
		assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, rndv_offload_rc), 1);
		assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, log_tag_matching_list_sz), 7);
	}
}

static void test_unsupported_cap_groups_are_all_zero(void **state)
{
	struct env *e = *state;
	static const uint8_t groups[] = {1, 4, 7, 8, 9, 0x20};
	static const uint8_t zero[0x1010];

	for (size_t i = 0; i < sizeof(groups); i++) {
		cmd_init(e, PRM_OP_QUERY_HCA_CAP, (uint32_t)groups[i] << 1 | 1);
		assert_int_equal(run(e, e->in, IN(query_hca_cap), OUT(query_hca_cap)), FW_OK);
		assert_memory_equal(e->out, zero, sizeof(zero));
	}
}

static void test_draining_a_dct_is_told(void **state)
{
	struct env *e = *state;
	void *dctc = LAYOUT_IN(create_dct_in, dct_context_entry, cmd_init(e, PRM_OP_CREATE_DCT, 0));
	int fd = eventfd(0, EFD_NONBLOCK);
	struct seg_evsub sub = {.hca = e->hca, .eventfd = 1 + fd};
	uint64_t n = 0;
	uint32_t i;

	LAYOUT_SET(dctc, dctc, pd, e->pd);
	LAYOUT_SET(dctc, dctc, cqn, e->cq);
	LAYOUT_SET(dctc, dctc, srqn_xrqn, e->srq);
	LAYOUT_SET(dctc, dctc, port, 1);
	LAYOUT_SET(dctc, dctc, mtu, 3);
	sub.id = make(e, IN(create_dct));
	sub.key = PRM_EVENT_DCT_DRAINED | PRM_EVENT_QUEUE_DCT << 16;
	assert_int_equal(evsub_add(&e->s, &sub, &i), 0);
	b_id(e, PRM_OP_ARM_DCT_FOR_KEY_VIOLATION, sub.id);
	assert_int_equal(run(e, e->in, IN(arm_dct), OUT(arm_dct)), FW_OK);
	assert_int_equal(hw_qp(&e->s, sub.id)->key_armed, 1);
	b_id(e, PRM_OP_DRAIN_DCT, sub.id + 1); /* no such DCT */
	assert_int_not_equal(run(e, e->in, IN(drain_dct), OUT(drain_dct)), FW_OK);
	assert_int_equal(read(fd, &n, sizeof(n)), -1);
	b_id(e, PRM_OP_DRAIN_DCT, sub.id);
	assert_int_equal(run(e, e->in, IN(drain_dct), OUT(drain_dct)), FW_OK);
	assert_int_equal(read(fd, &n, sizeof(n)), sizeof(n));
	evsub_drop(&e->s, i);
	close(fd);
}

/* QUERY_DEVICE's limit fits the table: a window uses at least a block of list entries. */
static void test_as_many_windows_as_promised(void **state)
{
	struct env *e = *state;

	assert_true(fw_caps(HW_CX6)->max_mw < seg_table(&e->s, SEG_T_KLM)->capacity);
	assert_true(fw_caps(HW_CX7)->max_mw < seg_table(&e->s, SEG_T_KLM)->capacity);
}

static void test_event_caps(void **state)
{
	struct env *e = *state;
	const void *cap = LAYOUT_IN(query_hca_cap_out, capability, e->out);

	cmd_init(e, PRM_OP_QUERY_HCA_CAP, 0x14 << 1 | 1);
	assert_int_equal(run(e, e->in, IN(query_hca_cap), OUT(query_hca_cap)), FW_OK);
	/* PATH_MIG, PATH_MIG_FAILED (1, 7), COMM_EST, CQ_ERROR, WQ_CATAS; 0x10, 0x11, 0x13, 0x14;
	 * DCT_DRAINED, KEY_VIOLATION */
	assert_int_equal(LAYOUT_GET(device_event_cap, cap, user_affiliated_events_0), 0x301b00b6);
	assert_int_equal(LAYOUT_GET(device_event_cap, cap, user_affiliated_events_3), 0);
	/* PORT_CHANGE */
	assert_int_equal(LAYOUT_GET(device_event_cap, cap, user_unaffiliated_events_0), 0x200);
	assert_int_equal(LAYOUT_GET(device_event_cap, cap, user_unaffiliated_events_1), 0);
}

static void test_atomic_caps(void **state)
{
	struct env *e = *state;
	const void *cap = LAYOUT_IN(query_hca_cap_out, capability, e->out);

	cmd_init(e, PRM_OP_QUERY_HCA_CAP, 3 << 1 | 1);
	assert_int_equal(run(e, e->in, IN(query_hca_cap), OUT(query_hca_cap)), FW_OK);
	assert_int_equal(LAYOUT_GET(atomic_caps, cap, atomic_req_8B_endianness_mode), 1);
	assert_int_equal(LAYOUT_GET(atomic_caps, cap, atomic_operations), 0xf);
	assert_int_equal(LAYOUT_GET(atomic_caps, cap, atomic_size_qp), 0xc);
	assert_int_equal(LAYOUT_GET(atomic_caps, cap, atomic_size_dc), 0xc);
}

/* SUPPORT.md gives the reason for each. */
static void test_caps_of_what_is_not_there_are_0(void **state)
{
	struct env *e = *state;
	const void *cap = LAYOUT_IN(query_hca_cap_out, capability, e->out);

	cmd_init(e, PRM_OP_QUERY_HCA_CAP, 0 << 1 | 1);
	assert_int_equal(run(e, e->in, IN(query_hca_cap), OUT(query_hca_cap)), FW_OK);
	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, umr_extended_translation_offset), 0);
	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, hca_cap_2), 0);
	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, ats), 0);
	cmd_init(e, PRM_OP_QUERY_HCA_CAP, 3 << 1 | 1);
	assert_int_equal(run(e, e->in, IN(query_hca_cap), OUT(query_hca_cap)), FW_OK);
	assert_int_equal(LAYOUT_GET(atomic_caps, cap, fetch_add_pci_atomic), 0);
	assert_int_equal(LAYOUT_GET(atomic_caps, cap, swap_pci_atomic), 0);
	assert_int_equal(LAYOUT_GET(atomic_caps, cap, compare_swap_pci_atomic), 0);
	cmd_init(e, PRM_OP_QUERY_HCA_CAP, 0xf << 1 | 1);
	assert_int_equal(run(e, e->in, IN(query_hca_cap), OUT(query_hca_cap)), FW_OK);
	assert_int_equal(LAYOUT_GET(device_mem_cap, cap, memic_operations), 0);
}

/* pyverbs has a buffer of 2 KiB. */
static void test_a_caller_with_less_room_gets_the_start_of_the_caps(void **state)
{
	struct env *e = *state;
	void *cap = LAYOUT_IN(query_hca_cap_out, capability, e->out);

	memset(e->out, 0xee, sizeof(e->out));
	cmd_init(e, PRM_OP_QUERY_HCA_CAP, 1);
	assert_int_equal(run(e, e->in, IN(query_hca_cap), 0x210), FW_OK);
	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, num_ports), 2);
	assert_int_equal(e->out[0x210], 0xee);
}

static void test_adapter_and_issi(void **state)
{
	struct env *e = *state;
	const void *p = LAYOUT_IN(query_adapter_out, query_adapter_struct, e->out);

	cmd_init(e, PRM_OP_QUERY_ADAPTER, 0);
	assert_int_equal(run(e, e->in, IN(query_adapter), OUT(query_adapter)), FW_OK);
	assert_memory_equal(LAYOUT_IN(query_adapter_param_block, vsd_contd_psid, p),
			    "MT_0000000223", 13);
	cmd_init(e, PRM_OP_QUERY_ISSI, 0);
	assert_int_equal(run(e, e->in, IN(query_issi), OUT(query_issi)), FW_OK);
	assert_int_equal(LAYOUT_GET(query_issi_out, e->out, current_issi), 1);
}

static void test_vport_context_shows_the_port(void **state)
{
	struct env *e = *state;
	const void *ctx = LAYOUT_IN(query_hca_vport_context_out, hca_vport_context, e->out);
	struct hw_hca *hca = hw_hca(&e->s, e->hca);
	struct hw_port *p2 = hw_port(&e->s, hca->port[1]);
	void *in = cmd_init(e, PRM_OP_QUERY_HCA_VPORT_CONTEXT, 0);

	p2->subnet_timeout = 20;
	fab_count(&e->s, hca->port[1], HW_CTR_QKEY_VIOL, 3);
	fab_count(&e->s, hca->port[1], HW_CTR_PKEY_VIOL, 70000);
	LAYOUT_SET(query_hca_vport_context_in, in, port_num, 2);
	assert_int_equal(run(e, in, IN(query_hca_vport_context), OUT(query_hca_vport_context)),
			 FW_OK);
	assert_int_equal(LAYOUT_GET(hca_vport_context, ctx, lid), p2->lid);
	assert_int_equal(LAYOUT_GET(hca_vport_context, ctx, port_guid), p2->guid);
	assert_int_equal(LAYOUT_GET(hca_vport_context, ctx, vport_state), IB_PORT_ACTIVE);
	assert_int_equal(LAYOUT_GET(hca_vport_context, ctx, port_physical_state), IB_PHYS_LINK_UP);
	assert_int_equal(LAYOUT_GET(hca_vport_context, ctx, subnet_timeout), 20);
	assert_int_equal(LAYOUT_GET(hca_vport_context, ctx, qkey_violation_counter), 3);
	assert_int_equal(LAYOUT_GET(hca_vport_context, ctx, pkey_violation_counter), 0xffff);
	/* with one port, pyverbs asks for port 0 */
	hca->nports = 1;
	LAYOUT_SET(query_hca_vport_context_in, in, port_num, 0);
	assert_int_equal(run(e, in, IN(query_hca_vport_context), OUT(query_hca_vport_context)),
			 FW_OK);
	assert_int_equal(LAYOUT_GET(hca_vport_context, ctx, lid),
			 hw_port(&e->s, hca->port[0])->lid);
}

static void test_bring_up_makes_an_eq_per_vector(void **state)
{
	struct env *e = *state;
	const struct hw_hca *hca = hw_hca(&e->s, e->hca);
	const void *eqc = LAYOUT_IN(query_eq_out, eq_context_entry, e->out);

	for (uint32_t v = 0; v < HW_COMP_VECTORS; v++) {
		assert_int_equal(hca->eqn[v], v + 1);
		LAYOUT_SET(query_eq_in, cmd_init(e, PRM_OP_QUERY_EQ, 0), eq_number, v + 1);
		assert_int_equal(run(e, e->in, IN(query_eq), OUT(query_eq)), FW_OK);
		assert_int_equal(LAYOUT_GET(eqc, eqc, intr), v);
	}
	assert_int_equal(seg_owner(&e->s, SEG_T_EQ, seg_next(&e->s, SEG_T_EQ, SEG_OWNER_ANY, 0)),
			 SEG_OWNER_DEVICE);
}

static void test_special_contexts(void **state)
{
	struct env *e = *state;
	struct fw_ctx c = e->user;

	c.kernel = true;
	cmd_init(e, PRM_OP_QUERY_SPECIAL_CONTEXTS, 0);
	assert_int_equal(
		run_as(e, &c, e->in, IN(query_special_contexts), OUT(query_special_contexts)),
		FW_OK);
	assert_int_equal(LAYOUT_GET(query_special_contexts_out, e->out, dump_fill_mkey),
			 HW_KEY_DUMP_FILL);
	assert_int_equal(LAYOUT_GET(query_special_contexts_out, e->out, null_mkey), HW_KEY_NULL);
	assert_null(hw_mkey(&e->s, HW_KEY_NULL));
	assert_true(e->mkey >= HW_FIRST_MKEY);
}

/* Nothing can be destroyed while another object refers to it; afterwards everything can. */
static void test_references(void **state)
{
	struct env *e = *state;
	static const struct {
		uint16_t opcode;
		size_t id;
		uint32_t while_used;
	} order[] = {
		{PRM_OP_DESTROY_QP, offsetof(struct env, qp), FW_OK},
		{PRM_OP_DESTROY_RMP, offsetof(struct env, srq), FW_BAD_RES_STATE},
		{PRM_OP_DESTROY_CQ, offsetof(struct env, cq), FW_BAD_RES_STATE},
		{PRM_OP_DESTROY_MKEY, offsetof(struct env, mkey), FW_OK},
		{PRM_OP_DESTROY_UMEM, offsetof(struct env, umem), FW_BAD_RES_STATE},
		{PRM_OP_DESTROY_UMEM, offsetof(struct env, dbr), FW_BAD_RES_STATE},
		{PRM_OP_DEALLOC_UAR, offsetof(struct env, uar), FW_BAD_RES_STATE},
		{PRM_OP_DEALLOC_PD, offsetof(struct env, pd), FW_BAD_RES_STATE},
	};
	void *qpc = LAYOUT_IN(create_qp_in, qpc, e->in);

	assert_int_equal(run_on(e, PRM_OP_DESTROY_QP, e->qp), FW_OK);
	b_create_qp(e);
	LAYOUT_SET(qpc, qpc, rq_type, 1);
	LAYOUT_SET(qpc, qpc, srqn_rmpn_xrqn, e->srq);
	e->qp = make(e, IN(create_qp));
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		if (order[i].while_used != FW_OK)
			assert_int_equal(
				run_on(e, order[i].opcode, *(uint32_t *)((char *)e + order[i].id)),
				order[i].while_used);
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		assert_int_equal(run_on(e, order[i].opcode, *(uint32_t *)((char *)e + order[i].id)),
				 FW_OK);
	for (uint32_t t = HW_KIND_FIRST; t < SEG_T_COUNT; t++)
		assert_int_equal(seg_next(&e->s, (enum seg_table_id)t, e->file + 1, 0), SEG_NONE);
}

static void test_another_uid_sees_nothing(void **state)
{
	struct env *e = *state;
	struct fw_ctx other = e->user;
	static const uint16_t ops[] = {PRM_OP_DESTROY_QP,   PRM_OP_DESTROY_CQ, PRM_OP_DESTROY_RMP,
				       PRM_OP_DESTROY_MKEY, PRM_OP_DEALLOC_PD, PRM_OP_DEALLOC_UAR,
				       PRM_OP_DESTROY_UMEM, PRM_OP_2ERR_QP,    PRM_OP_2RST_QP};
	const uint32_t ids[] = {e->qp,  e->cq,   e->srq, e->mkey, e->pd,
				e->uar, e->umem, e->qp,  e->qp};

	other.uid = TEST_UID + 1;
	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		b_id(e, ops[i], ids[i]);
		LAYOUT_SET(cmd_in, e->in, uid, other.uid);
		assert_int_equal(run_as(e, &other, e->in, 0x10, 0x10), FW_BAD_RES);
	}
	b_create_qp(e);
	LAYOUT_SET(cmd_in, e->in, uid, other.uid);
	assert_int_equal(run_as(e, &other, e->in, IN(create_qp), 0x10), FW_BAD_RES);
}

static void test_the_driver_sees_all_uids(void **state)
{
	struct env *e = *state;
	struct fw_ctx k = e->kernel;

	k.uid = 0;
	b_id(e, PRM_OP_DESTROY_QP, e->qp);
	LAYOUT_SET(cmd_in, e->in, uid, 0);
	assert_int_equal(run_as(e, &k, e->in, 0x10, 0x10), FW_OK);
}

/* The maker died between the claim and its last store. */
static void test_a_half_made_object_is_invisible(void **state)
{
	struct env *e = *state;
	uint32_t idx;

	assert_int_equal(seg_alloc(&e->s, SEG_T_PD, e->file + 1, &idx), 0);
	((struct hw_pd *)seg_at(&e->s, SEG_T_PD, idx))->hca = e->hca;
	assert_int_equal(run_on(e, PRM_OP_DEALLOC_PD, idx), FW_BAD_RES);
}

static void test_short_headers_are_our_own_failure(void **state)
{
	struct env *e = *state;

	cmd_init(e, PRM_OP_NOP, 0);
	assert_true(fw_exec(&e->user, e->in, 15, e->out, 16) < 0);
	assert_true(fw_exec(&e->user, e->in, 16, e->out, 15) < 0);
}

static void test_statuses_become_the_kernels_errnos(void **state)
{
	assert_int_equal(fw_status_to_errno(FW_OK), 0);
	assert_int_equal(fw_status_to_errno(FW_BAD_PARAM), -22);
	assert_int_equal(fw_status_to_errno(FW_RES_BUSY), -16);
	assert_int_equal(fw_status_to_errno(FW_EXCEED_LIM), -12);
	assert_int_equal(fw_status_to_errno(FW_NO_RESOURCES), -11);
	assert_int_equal(fw_status_to_errno(FW_BAD_INPUT_LEN), -5);
	assert_int_equal(fw_status_to_errno(0xee), -5);
	assert_string_equal(fw_status_name(FW_BAD_RES), "BAD_RES");
	assert_string_equal(fw_opcode_name(PRM_OP_CREATE_QP), "CREATE_QP");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		env_test(test_general_caps_come_from_the_table),
		env_test(test_atomic_caps),
		env_test(test_caps_of_what_is_not_there_are_0),
		env_test(test_unsupported_cap_groups_are_all_zero),
		env_test(test_event_caps),
		env_test(test_as_many_windows_as_promised),
		env_test(test_draining_a_dct_is_told),
		env_test(test_a_caller_with_less_room_gets_the_start_of_the_caps),
		env_test(test_adapter_and_issi),
		env_test(test_vport_context_shows_the_port),
		env_test(test_bring_up_makes_an_eq_per_vector),
		env_test(test_special_contexts),
		env_test(test_references),
		env_test(test_another_uid_sees_nothing),
		env_test(test_the_driver_sees_all_uids),
		env_test(test_a_half_made_object_is_invisible),
		env_test(test_short_headers_are_our_own_failure),
		cmocka_unit_test(test_statuses_become_the_kernels_errnos),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
