/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What commands do when they succeed: answers, stored state, references. */
#include "fw/test.h"

#include <sys/eventfd.h>
#include <unistd.h>
#include "segment/evsub.h"

static uint32_t run_id(struct env *e, uint16_t opcode, uint32_t id)
{
	b_id(e, opcode, id);
	return run(e, e->in, 0x10, 0x10);
}

static void test_general_caps_come_from_the_table(void **state)
{
	struct env *e = *state;
	void *cap = LAYOUT_IN(query_hca_cap_out, capability, e->out);
	const struct fw_caps *c = fw_caps(HW_CX6);

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
		/* not there, so not advertised */
		assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, dct), 1);
		assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, atomic), 1);
		assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, pg), 0);
		assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, tag_matching), 0);
	}
}

static void test_unsupported_cap_groups_are_all_zero(void **state)
{
	struct env *e = *state;
	static const uint8_t groups[] = {1, 2, 4, 7, 8, 9, 0xf, 0x1a, 0x20};
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
	b_id(e, PRM_OP_DRAIN_DCT, sub.id + 1); /* none such */
	assert_int_not_equal(run(e, e->in, IN(drain_dct), OUT(drain_dct)), FW_OK);
	assert_int_equal(read(fd, &n, sizeof(n)), -1);
	b_id(e, PRM_OP_DRAIN_DCT, sub.id);
	assert_int_equal(run(e, e->in, IN(drain_dct), OUT(drain_dct)), FW_OK);
	assert_int_equal(read(fd, &n, sizeof(n)), sizeof(n));
	evsub_drop(&e->s, i);
	close(fd);
}

/* What QUERY_DEVICE promises fits the table: a window is at least a block of list entries. */
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
	/* COMM_EST, SQ_DRAINED, CQ_ERROR, WQ_CATAS; 0x10 to 0x14; DCT_DRAINED, KEY_VIOLATION */
	assert_int_equal(LAYOUT_GET(device_event_cap, cap, user_affiliated_events_0), 0x301f003c);
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

/* pyverbs has room for 2 KiB of it. */
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

	LAYOUT_SET(query_hca_vport_context_in, in, port_num, 2);
	assert_int_equal(run(e, in, IN(query_hca_vport_context), OUT(query_hca_vport_context)),
			 FW_OK);
	assert_int_equal(LAYOUT_GET(hca_vport_context, ctx, lid), p2->lid);
	assert_int_equal(LAYOUT_GET(hca_vport_context, ctx, port_guid), p2->guid);
	assert_int_equal(LAYOUT_GET(hca_vport_context, ctx, vport_state), HW_PORT_ACTIVE);
	assert_int_equal(LAYOUT_GET(hca_vport_context, ctx, port_physical_state), HW_PHYS_LINKUP);
	/* pyverbs asks for port 0 when there is one port */
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

static void test_mkey_maps_its_part_of_the_umem(void **state)
{
	struct env *e = *state;
	const struct hw_mkey *m = hw_mkey(&e->s, e->mkey << 8);
	const void *mkc = LAYOUT_IN(query_mkey_out, memory_key_mkey_entry, e->out);

	assert_int_equal(m->key, e->mkey << 8 | 0x5a);
	assert_int_equal(m->va, (uintptr_t)e->buf + 0x1000);
	assert_int_equal(m->start, (uintptr_t)e->buf + 0x1000);
	assert_int_equal(m->len, 0x3000);
	assert_int_equal(m->access, HW_ACC_LOCAL_READ | HW_ACC_LOCAL_WRITE | HW_ACC_REMOTE_READ);
	assert_int_equal(m->valid, 1);
	b_id(e, PRM_OP_QUERY_MKEY, e->mkey);
	assert_int_equal(run(e, e->in, IN(query_mkey), OUT(query_mkey)), FW_OK);
	assert_int_equal(LAYOUT_GET(mkc, mkc, len), 0x3000);
	assert_int_equal(run_id(e, PRM_OP_DESTROY_MKEY, e->mkey), FW_OK);
	assert_null(hw_mkey(&e->s, e->mkey << 8));
}

/* The first translation is a page: a start address with another page offset moves with it. */
static void test_mkey_iova_keeps_its_page_offset(void **state)
{
	struct env *e = *state;
	void *mkc = LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, e->in);
	uint32_t key;

	b_create_mkey(e);
	LAYOUT_SET(mkc, mkc, start_addr, 0x7000010);
	LAYOUT_SET(mkc, mkc, len, 0x100);
	key = make(e, IN(create_mkey));
	assert_int_equal(hw_mkey(&e->s, key << 8)->va, (uintptr_t)e->buf + 0x1010);
}

/* A list of `n` entries for a key with room for `room`; the input's length. */
static uint32_t b_create_klm(struct env *e, uint32_t mode, uint32_t room, uint32_t n)
{
	void *mkc = LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, e->in);
	uint8_t *list = e->in + LAYOUT_SZ(create_mkey_in);

	b_create_mkey(e);
	LAYOUT_SET(create_mkey_in, e->in, mkey_umem_valid, 0);
	LAYOUT_SET(create_mkey_in, e->in, mkey_umem_id, 0);
	LAYOUT_SET(create_mkey_in, e->in, mkey_umem_offset, 0);
	LAYOUT_SET(create_mkey_in, e->in, translations_octword_actual_size, n);
	LAYOUT_SET(mkc, mkc, access_mode_1_0, mode);
	LAYOUT_SET(mkc, mkc, translations_octword_size, room);
	for (uint32_t i = 0; i < n * 16; i++)
		list[i] = (uint8_t)(i * 7 + i / 256);
	return LAYOUT_SZ(create_mkey_in) + n * 16;
}

static uint32_t klms(struct env *e)
{
	uint32_t n = 0;

	seg_for_each_live (&e->s, SEG_T_KLM, i)
		n++;
	return n;
}

static void test_indirect_mkeys_keep_their_list(void **state)
{
	struct env *e = *state;
	const struct hw_mkey *m;
	uint32_t idx;

	for (uint32_t mode = HW_MODE_KLM; mode <= HW_MODE_KSM; mode++) {
		idx = make(e, b_create_klm(e, mode, 512, 130));
		m = hw_mkey(&e->s, idx << 8);
		assert_int_equal(m->mode, mode);
		assert_int_equal(m->klm_n, 130);
		assert_int_equal(m->klm_max, 512);
		assert_int_equal(m->slow, 1);
		assert_int_equal(m->free, 0);
		assert_int_equal(klms(e), 9); /* 60 in each */
		for (uint32_t i = 0; i < 130; i++)
			assert_memory_equal(hw_klm_entry(&e->s, m, i),
					    e->in + LAYOUT_SZ(create_mkey_in) + i * 16, 16);
		assert_non_null(hw_klm_entry(&e->s, m, 511));
		assert_null(hw_klm_entry(&e->s, m, 540));
		assert_int_equal(run_id(e, PRM_OP_DESTROY_MKEY, idx), FW_OK);
		assert_int_equal(klms(e), 0);
	}
	/* one without any room, over the whole address space */
	b_create_klm(e, HW_MODE_KSM, 0, 0);
	LAYOUT_SET(mkc, LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, e->in), length64, 1);
	idx = make(e, IN(create_mkey));
	assert_int_equal(hw_mkey(&e->s, idx << 8)->length64, 1);
	assert_int_equal(klms(e), 0);
}

static void test_free_mkeys_wait_for_a_umr(void **state)
{
	struct env *e = *state;
	uint32_t len = b_create_klm(e, HW_MODE_KLM, 4, 0), idx;
	void *mkc = LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, e->in);

	LAYOUT_SET(mkc, mkc, free, 1);
	LAYOUT_SET(mkc, mkc, umr_en, 1);
	LAYOUT_SET(mkc, mkc, en_rinval, 1);
	idx = make(e, len);
	assert_int_equal(hw_mkey(&e->s, idx << 8)->free, 1);
	assert_int_equal(hw_mkey(&e->s, idx << 8)->umr_en, 1);
	assert_int_equal(hw_mkey(&e->s, idx << 8)->en_rinval, 1);
	b_id(e, PRM_OP_QUERY_MKEY, idx);
	assert_int_equal(run(e, e->in, IN(query_mkey), OUT(query_mkey)), FW_OK);
	assert_int_equal(
		LAYOUT_GET(mkc, LAYOUT_IN(query_mkey_out, memory_key_mkey_entry, e->out), free), 1);
}

/* What its maker left when it died in between goes with the file; others' blocks stay. */
static void test_lists_go_with_their_file(void **state)
{
	struct env *e = *state;
	struct hw_mkey *half;
	uint32_t idx, k, block;

	make(e, b_create_klm(e, HW_MODE_KLM, 512, 512));
	idx = make(e, b_create_klm(e, HW_MODE_KLM, 61, 61));
	block = hw_mkey(&e->s, idx << 8)->klm;
	/* half made, with a list that is another key's by now */
	assert_int_equal(seg_alloc(&e->s, SEG_T_MKEY, e->file + 1, &k), 0);
	half = seg_at(&e->s, SEG_T_MKEY, k);
	half->hca = e->hca;
	half->klm = block;
	fw_mkey_release(&e->s, k);
	assert_int_equal(klms(e), 11);
	assert_int_equal(seg_alloc(&e->s, SEG_T_KLM, e->file + 1, &k), 0);
	fw_reap_file(&e->s, e->file);
	assert_int_equal(klms(e), 0);
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

static void test_driver_mkey_takes_its_page_list(void **state)
{
	struct env *e = *state;
	struct fw_ctx c = e->kernel;
	void *mkc = LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, e->in);
	struct fw_mem mem = {.mem = mem_self(&e->s), .va = (uintptr_t)e->buf + 5, .len = 77};

	c.mem = &mem;
	b_create_mkey(e);
	LAYOUT_SET(create_mkey_in, e->in, mkey_umem_valid, 0);
	LAYOUT_SET(mkc, mkc, start_addr, 0x5);
	LAYOUT_SET(mkc, mkc, len, 77);
	assert_int_equal(run_as(e, &c, e->in, IN(create_mkey), 0x10), FW_OK);
	assert_int_equal(hw_mkey(&e->s, out_id(e) << 8)->va, (uintptr_t)e->buf + 5);
}

static void test_cq_query_shows_counters(void **state)
{
	struct env *e = *state;
	const void *cqc = LAYOUT_IN(query_cq_out, cq_context, e->out);
	struct hw_cq *cq = hw_cq(&e->s, e->cq);

	assert_int_equal(cq->va, (uintptr_t)e->buf + 0x10000);
	assert_int_equal(cq->cqe_bytes, 64);
	assert_int_equal(cq->comp.evq, SEG_NONE);
	cq->pi = 3;
	be32_store(e->buf + TEST_BUF - 0x1000 + 0x40, 2);
	b_id(e, PRM_OP_QUERY_CQ, e->cq);
	assert_int_equal(run(e, e->in, IN(query_cq), OUT(query_cq)), FW_OK);
	assert_int_equal(LAYOUT_GET(cqc, cqc, producer_counter), 3);
	assert_int_equal(LAYOUT_GET(cqc, cqc, consumer_counter), 2);
	assert_int_equal(LAYOUT_GET(cqc, cqc, log_cq_size), 4);
	assert_int_equal(LAYOUT_GET(cqc, cqc, c_eqn), 1);
}

static void test_cq_moderation_is_kept(void **state)
{
	struct env *e = *state;
	const void *cqc = LAYOUT_IN(query_cq_out, cq_context, e->out);

	b_modify_cq(e);
	assert_int_equal(run(e, e->in, IN(modify_cq), OUT(modify_cq)), FW_OK);
	b_id(e, PRM_OP_QUERY_CQ, e->cq);
	assert_int_equal(run(e, e->in, IN(query_cq), OUT(query_cq)), FW_OK);
	assert_int_equal(LAYOUT_GET(cqc, cqc, cq_period), 17);
	assert_int_equal(LAYOUT_GET(cqc, cqc, cq_max_count), 5);
}

static void test_cq_resize_moves_to_the_new_buffer(void **state)
{
	struct env *e = *state;
	struct hw_cq *cq = hw_cq(&e->s, e->cq);

	b_resize_cq(e);
	assert_int_equal(run(e, e->in, IN(modify_cq), OUT(modify_cq)), FW_OK);
	assert_int_equal(cq->log_size, 6);
	assert_int_equal(cq->va, (uintptr_t)e->buf + 0x20000);
	/* the resize CQE lies in the old buffer: opcode 5 in its last byte */
	assert_int_equal(e->buf[0x10000 + 63] >> 4, 5);
}

/* A resized CQ lets go of its old memory, and holds its new one. */
static void test_cq_resize_moves_the_reference(void **state)
{
	struct env *e = *state;
	uint32_t old = umem_new(e, (uintptr_t)e->buf + 0x50000, 0x1000);
	uint32_t new = umem_new(e, (uintptr_t)e->buf + 0x60000, 0x1000);

	b_create_cq(e);
	LAYOUT_SET(create_cq_in, e->in, cq_umem_id, old);
	LAYOUT_SET(create_cq_in, e->in, cq_umem_offset, 0);
	e->cq = make(e, IN(create_cq));
	assert_int_equal(run_id(e, PRM_OP_DESTROY_UMEM, old), FW_BAD_RES_STATE);
	b_resize_cq(e);
	LAYOUT_SET(modify_cq_in, e->in, cq_umem_id, new);
	LAYOUT_SET(modify_cq_in, e->in, cq_umem_offset, 0);
	LAYOUT_SET(cqc, LAYOUT_IN(modify_cq_in, cq_context, e->in), log_cq_size, 5);
	assert_int_equal(run(e, e->in, IN(modify_cq), OUT(modify_cq)), FW_OK);
	assert_int_equal(run_id(e, PRM_OP_DESTROY_UMEM, old), FW_OK);
	assert_int_equal(run_id(e, PRM_OP_DESTROY_UMEM, new), FW_BAD_RES_STATE);
	assert_int_equal(run_id(e, PRM_OP_DESTROY_CQ, e->cq), FW_OK);
	assert_int_equal(run_id(e, PRM_OP_DESTROY_UMEM, new), FW_OK);
}

static void test_both_cqs_of_a_qp_are_held(void **state)
{
	struct env *e = *state;
	void *qpc = LAYOUT_IN(create_qp_in, qpc, e->in);
	uint32_t snd, rcv, qpn;

	b_create_cq(e);
	snd = make(e, IN(create_cq));
	b_create_cq(e);
	rcv = make(e, IN(create_cq));
	b_create_qp(e);
	LAYOUT_SET(qpc, qpc, cqn_snd, snd);
	LAYOUT_SET(qpc, qpc, cqn_rcv, rcv);
	qpn = make(e, IN(create_qp));
	assert_int_equal(run_id(e, PRM_OP_DESTROY_CQ, snd), FW_BAD_RES_STATE);
	assert_int_equal(run_id(e, PRM_OP_DESTROY_CQ, rcv), FW_BAD_RES_STATE);
	assert_int_equal(run_id(e, PRM_OP_DESTROY_QP, qpn), FW_OK);
	assert_int_equal(run_id(e, PRM_OP_DESTROY_CQ, snd), FW_OK);
	assert_int_equal(run_id(e, PRM_OP_DESTROY_CQ, rcv), FW_OK);
}

static void test_rmp_query_and_limit(void **state)
{
	struct env *e = *state;
	const void *rmpc = LAYOUT_IN(query_rmp_out, rmp_context, e->out);
	const void *wq = LAYOUT_IN(rmpc, wq, rmpc);

	/* fewer than 3 WQEs are posted: the limit fires at once, or stays armed; both keep it */
	be32_store(e->buf + TEST_BUF - 0x1000 + 0x80, 15);
	b_modify_rmp(e);
	assert_int_equal(run(e, e->in, IN(modify_rmp), OUT(modify_rmp)), FW_OK);
	assert_int_equal(hw_srq(&e->s, e->srq)->lwm, 3);
	b_id(e, PRM_OP_QUERY_RMP, e->srq);
	assert_int_equal(run(e, e->in, IN(query_rmp), OUT(query_rmp)), FW_OK);
	assert_int_equal(LAYOUT_GET(rmpc, rmpc, state), 1);
	assert_int_equal(LAYOUT_GET(wq, wq, lwm), 3);
	assert_int_equal(LAYOUT_GET(wq, wq, log_wq_sz), 4);
	assert_int_equal(LAYOUT_GET(wq, wq, sw_counter), 15);
}

static void test_qp_queues_lie_as_libmlx5_lays_them(void **state)
{
	struct env *e = *state;
	const struct hw_qp *qp = hw_qp(&e->s, e->qp);

	assert_int_equal(qp->rq_va, (uintptr_t)e->buf + 0x40000);
	assert_int_equal(qp->sq_va, qp->rq_va + 16 * 16);
	assert_int_equal(qp->rq_log_stride, 4);
	assert_int_equal(qp->user_index, 0x123);
	assert_int_equal(qp->srqn, SEG_NONE);
	assert_int_equal(qp->no_rq, 0);
}

static void test_qp_page_offset_counts(void **state)
{
	struct env *e = *state;
	void *qpc = LAYOUT_IN(create_qp_in, qpc, e->in);
	uint32_t qpn;

	b_create_qp(e);
	LAYOUT_SET(qpc, qpc, page_offset, 3); /* 1/64 of a 4 KiB page */
	qpn = make(e, IN(create_qp));
	assert_int_equal(hw_qp(&e->s, qpn)->rq_va, (uintptr_t)e->buf + 0x40000 + 3 * 64);
}

static void test_qp_without_queues_needs_no_memory_for_them(void **state)
{
	struct env *e = *state;
	void *qpc = LAYOUT_IN(create_qp_in, qpc, e->in);
	const struct hw_qp *qp;

	b_create_qp(e);
	LAYOUT_SET(create_qp_in, e->in, wq_umem_valid, 0);
	LAYOUT_SET(qpc, qpc, rq_type, 3);
	LAYOUT_SET(qpc, qpc, no_sq, 1);
	qp = hw_qp(&e->s, make(e, IN(create_qp)));
	assert_int_equal(qp->no_rq, 1);
	assert_int_equal(qp->no_sq, 1);
	assert_int_equal(qp->buf_umem, 0);
}

static void test_a_key_registered_anew_keeps_its_number(void **state)
{
	struct env *e = *state;
	struct hw_mkey *m = hw_mkey(&e->s, e->mkey << 8);
	uint32_t key = m->key, refs = hw_umem(&e->s, e->umem)->refs;
	void *mkc = LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, e->in);
	struct fw_ctx c = e->kernel;

	c.mem = &e->mem;
	b_create_mkey(e);
	LAYOUT_SET(mkc, mkc, rw, 1);
	LAYOUT_SET(mkc, mkc, len, 0x5000);
	assert_int_equal(fw_umr(&c, key, e->in), 0);
	assert_int_equal(m->key, key);
	assert_int_equal(m->len, 0x5000);
	assert_true(m->access & HW_ACC_REMOTE_WRITE);
	assert_int_equal(m->valid, 1);
	assert_int_equal(hw_umem(&e->s, e->umem)->refs, refs - 1); /* memory of its own now */
	LAYOUT_SET(mkc, mkc, pd, 0xfff123);
	assert_int_equal(fw_umr(&c, key, e->in), -22);
	assert_int_equal(m->valid, 1);
	assert_int_equal(m->pdn, e->pd);
}

static uint32_t query_qp_state(struct env *e)
{
	b_id(e, PRM_OP_QUERY_QP, e->qp);
	assert_int_equal(run(e, e->in, IN(query_qp), OUT(query_qp)), FW_OK);
	return (uint32_t)LAYOUT_GET(qpc, LAYOUT_IN(query_qp_out, qpc, e->out), state);
}

static void test_qp_to_rts_takes_what_each_transition_takes(void **state)
{
	struct env *e = *state;
	const struct hw_qp *qp = hw_qp(&e->s, e->qp);
	const struct hw_hca *hca = hw_hca(&e->s, e->hca);
	const void *qpc = LAYOUT_IN(query_qp_out, qpc, e->out);

	qp_to(e, HW_QPS_INIT);
	assert_int_equal(query_qp_state(e), HW_QPS_INIT);
	assert_int_equal(qp->port, hca->port[0]);
	assert_int_equal(qp->rwe, 1);
	assert_int_equal(qp->rae, 0);
	b_init2rtr(e);
	assert_int_equal(run(e, e->in, IN(init2rtr_qp), OUT(init2rtr_qp)), FW_OK);
	assert_int_equal(qp->mtu, 1024);
	assert_int_equal(qp->dest_qpn, 0x45);
	assert_int_equal(qp->dlid, 1);
	assert_int_equal(qp->next_rcv_psn, 0xabcdef);
	assert_int_equal(qp->rwe, 1); /* the command carries 0, but did not ask */
	b_rtr2rts(e);
	assert_int_equal(run(e, e->in, IN(rtr2rts_qp), OUT(rtr2rts_qp)), FW_OK);
	assert_int_equal(query_qp_state(e), HW_QPS_RTS);
	assert_int_equal(qp->ack_timeout, 14);
	assert_int_equal(qp->retry_count, 7);
	assert_int_equal(qp->rnr_retry, 6);
	assert_int_equal(qp->mtu, 1024);
	assert_int_equal(LAYOUT_GET(qpc, qpc, next_send_psn), 0x112233);
	assert_int_equal(LAYOUT_GET(qpc, qpc, next_rcv_psn), 0xabcdef);
	assert_int_equal(LAYOUT_GET(qpc, qpc, remote_qpn), 0x45);
	assert_int_equal(LAYOUT_GET(qpc, qpc, pd), e->pd);
	assert_int_equal(LAYOUT_GET(qpc, qpc, log_msg_max), 20);
}

static void test_opt_param_mask_selects_optional_fields(void **state)
{
	struct env *e = *state;
	const struct hw_qp *qp = hw_qp(&e->s, e->qp);
	void *qpc;

	qp_to(e, HW_QPS_RTS);
	qpc = b_modify_qp(e, PRM_OP_RTS2RTS_QP, 1 << 1 /* rre */ | 1 << 6 /* rnr timeout */);
	LAYOUT_SET(qpc, qpc, min_rnr_nak, 20);
	assert_int_equal(run(e, e->in, IN(rts2rts_qp), OUT(rts2rts_qp)), FW_OK);
	assert_int_equal(qp->rre, 0);
	assert_int_equal(qp->rwe, 1);
	assert_int_equal(qp->min_rnr_nak, 20);
	assert_int_equal(qp->retry_count, 7);
	assert_int_equal(qp->state, HW_QPS_RTS);
}

static void test_qp_err_and_reset(void **state)
{
	struct env *e = *state;

	qp_to(e, HW_QPS_RTS);
	assert_int_equal(run_id(e, PRM_OP_2ERR_QP, e->qp), FW_OK);
	assert_int_equal(query_qp_state(e), HW_QPS_ERR);
	assert_int_equal(run_id(e, PRM_OP_2RST_QP, e->qp), FW_OK);
	assert_int_equal(query_qp_state(e), HW_QPS_RST);
	qp_to(e, HW_QPS_RTS); /* and again */
	assert_int_equal(query_qp_state(e), HW_QPS_RTS);
}

static void test_init2init_changes_the_port(void **state)
{
	struct env *e = *state;
	const struct hw_hca *hca = hw_hca(&e->s, e->hca);
	void *qpc;

	qp_to(e, HW_QPS_INIT);
	qpc = b_modify_qp(e, PRM_OP_INIT2INIT_QP, 1 << 16);
	LAYOUT_SET(ads, LAYOUT_IN(qpc, primary_address_path, qpc), vhca_port_num, 2);
	assert_int_equal(run(e, e->in, IN(init2init_qp), OUT(init2init_qp)), FW_OK);
	assert_int_equal(hw_qp(&e->s, e->qp)->port, hca->port[1]);
}

static void test_ud_qp_with_srq(void **state)
{
	struct env *e = *state;
	void *qpc = LAYOUT_IN(create_qp_in, qpc, e->in);
	const struct hw_qp *qp;

	b_create_qp(e);
	LAYOUT_SET(qpc, qpc, st, HW_ST_UD);
	LAYOUT_SET(qpc, qpc, rq_type, 1);
	LAYOUT_SET(qpc, qpc, srqn_rmpn_xrqn, e->srq);
	e->qp = make(e, IN(create_qp));
	qp = hw_qp(&e->s, e->qp);
	assert_int_equal(qp->srqn, e->srq);
	assert_int_equal(qp->no_rq, 1);
	assert_int_equal(qp->sq_va, qp->rq_va); /* no RQ of its own before the SQ */
	b_rst2init(e);
	LAYOUT_SET(qpc, LAYOUT_IN(rst2init_qp_in, qpc, e->in), q_key, 0x11111111);
	assert_int_equal(run(e, e->in, IN(rst2init_qp), 0x10), FW_OK);
	assert_int_equal(qp->qkey, 0x11111111);
}

/* Nothing can be destroyed while something else refers to it, and everything once it does not. */
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

	assert_int_equal(run_id(e, PRM_OP_DESTROY_QP, e->qp), FW_OK);
	b_create_qp(e);
	LAYOUT_SET(qpc, qpc, rq_type, 1);
	LAYOUT_SET(qpc, qpc, srqn_rmpn_xrqn, e->srq);
	e->qp = make(e, IN(create_qp));
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		if (order[i].while_used != FW_OK)
			assert_int_equal(
				run_id(e, order[i].opcode, *(uint32_t *)((char *)e + order[i].id)),
				order[i].while_used);
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		assert_int_equal(run_id(e, order[i].opcode, *(uint32_t *)((char *)e + order[i].id)),
				 FW_OK);
	for (uint32_t t = SEG_T_UAR; t < SEG_T_COUNT; t++)
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

/* Its maker died between the claim and its last store. */
static void test_a_half_made_object_is_invisible(void **state)
{
	struct env *e = *state;
	uint32_t idx;

	assert_int_equal(seg_alloc(&e->s, SEG_T_PD, e->file + 1, &idx), 0);
	((struct hw_pd *)seg_at(&e->s, SEG_T_PD, idx))->hca = e->hca;
	assert_int_equal(run_id(e, PRM_OP_DEALLOC_PD, idx), FW_BAD_RES);
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

static void test_a_cyclic_rmp_is_one(void **state)
{
	struct env *e = *state;

	b_create_rmp(e);
	LAYOUT_SET(wq, LAYOUT_IN(rmpc, wq, LAYOUT_IN(create_rmp_in, ctx, e->in)), wq_type, 1);
	assert_int_equal(hw_srq(&e->s, make(e, IN(create_rmp)))->wq_type, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		env_test(test_a_cyclic_rmp_is_one),
		env_test(test_general_caps_come_from_the_table),
		env_test(test_atomic_caps),
		env_test(test_unsupported_cap_groups_are_all_zero),
		env_test(test_event_caps),
		env_test(test_as_many_windows_as_promised),
		env_test(test_draining_a_dct_is_told),
		env_test(test_a_caller_with_less_room_gets_the_start_of_the_caps),
		env_test(test_adapter_and_issi),
		env_test(test_vport_context_shows_the_port),
		env_test(test_bring_up_makes_an_eq_per_vector),
		env_test(test_mkey_maps_its_part_of_the_umem),
		env_test(test_mkey_iova_keeps_its_page_offset),
		env_test(test_indirect_mkeys_keep_their_list),
		env_test(test_free_mkeys_wait_for_a_umr),
		env_test(test_lists_go_with_their_file),
		env_test(test_special_contexts),
		env_test(test_driver_mkey_takes_its_page_list),
		env_test(test_cq_query_shows_counters),
		env_test(test_cq_moderation_is_kept),
		env_test(test_cq_resize_moves_to_the_new_buffer),
		env_test(test_cq_resize_moves_the_reference),
		env_test(test_both_cqs_of_a_qp_are_held),
		env_test(test_rmp_query_and_limit),
		env_test(test_qp_queues_lie_as_libmlx5_lays_them),
		env_test(test_qp_page_offset_counts),
		env_test(test_qp_without_queues_needs_no_memory_for_them),
		env_test(test_a_key_registered_anew_keeps_its_number),
		env_test(test_qp_to_rts_takes_what_each_transition_takes),
		env_test(test_opt_param_mask_selects_optional_fields),
		env_test(test_qp_err_and_reset),
		env_test(test_init2init_changes_the_port),
		env_test(test_ud_qp_with_srq),
		env_test(test_references),
		env_test(test_another_uid_sees_nothing),
		env_test(test_the_driver_sees_all_uids),
		env_test(test_a_half_made_object_is_invisible),
		env_test(test_short_headers_are_our_own_failure),
		cmocka_unit_test(test_statuses_become_the_kernels_errnos),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
