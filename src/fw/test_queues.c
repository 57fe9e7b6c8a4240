/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The effects of successful commands of CQs, RMPs and QPs: stored state, references. */
#include "fw/test.h"

#include <stdio.h>
#include "engine/engine.h"
#include "hw/cq.h"
#include "hw/hca.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "hw/srq.h"
#include "hw/told.h"
#include "segment/proc.h"
#include "util/cleanup.h"
#include "wire/prm/hca_cap.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/cq.h"
#include "wire/prm/dct.h"
#include "wire/prm/qp.h"
#include "wire/prm/rmp_srq.h"

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

/* Values of MLX5_CQC_ST_* in mlx5_ifc.h. */
static void test_cq_query_shows_how_it_is_armed(void **state)
{
	static const uint32_t rows[][2] = {
		{0, 0xa}, {HW_CQ_SOLICITED, 6}, {HW_CQ_ANY, 9}, {HW_CQ_ARMED, 9}};
	struct env *e = *state;
	const void *cqc = LAYOUT_IN(query_cq_out, cq_context, e->out);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		atomic_store(&hw_cq(&e->s, e->cq)->armed, rows[i][0]);
		b_id(e, PRM_OP_QUERY_CQ, e->cq);
		assert_int_equal(run(e, e->in, IN(query_cq), OUT(query_cq)), FW_OK);
		assert_int_equal(LAYOUT_GET(cqc, cqc, st), rows[i][1]);
	}
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

/* What the data path makes of the four fields; 0: it delays nothing. */
static void test_cq_moderation_is_done(void **state)
{
	static const struct {
		uint32_t period, count, mode, breaks, moder;
	} rows[] = {
		{17, 5, 0, 0, 17 | 5 * HW_CQ_MOD_COUNT},
		{17, 5, 1, 0, 17 | 5 * HW_CQ_MOD_COUNT | HW_CQ_MOD_FROM_CQE},
		{17, 5, 0, 1, 17 | 5 * HW_CQ_MOD_COUNT | HW_CQ_MOD_SE_BREAKS},
		{0xfff, 0xffff, 1, 1,
		 0xfff | 0xffff * HW_CQ_MOD_COUNT | HW_CQ_MOD_FROM_CQE | HW_CQ_MOD_SE_BREAKS},
		{17, 1, 0, 0, 0},
		{17, 0, 0, 0, 0},
		{0, 5, 1, 1, 0},
	};
	struct env *e = *state;
	void *cqc = LAYOUT_IN(create_cq_in, cq_context, e->in);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t cqn;

		b_create_cq(e);
		LAYOUT_SET(cqc, cqc, cq_period, rows[i].period);
		LAYOUT_SET(cqc, cqc, cq_max_count, rows[i].count);
		LAYOUT_SET(cqc, cqc, cq_period_mode, rows[i].mode);
		LAYOUT_SET(cqc, cqc, scqe_break_moderation_en, rows[i].breaks);
		assert_int_equal(run(e, e->in, IN(create_cq), OUT(create_cq)), FW_OK);
		cqn = LAYOUT_GET32(create_cq_out, e->out, cqn);
		assert_int_equal(atomic_load(&hw_cq(&e->s, cqn)->moder), rows[i].moder);
	}
	b_modify_cq(e);
	assert_int_equal(run(e, e->in, IN(modify_cq), OUT(modify_cq)), FW_OK);
	assert_int_equal(atomic_load(&hw_cq(&e->s, e->cq)->moder), 17 | 5 * HW_CQ_MOD_COUNT);
}

static void test_cq_resize_moves_to_the_new_buffer(void **state)
{
	struct env *e = *state;
	struct hw_cq *cq = hw_cq(&e->s, e->cq);

	b_resize_cq(e);
	assert_int_equal(run(e, e->in, IN(modify_cq), OUT(modify_cq)), FW_OK);
	assert_int_equal(cq->log_size, 6);
	assert_int_equal(cq->va, (uintptr_t)e->buf + 0x20000);
	/* the resize CQE is in the old buffer: opcode 5 in its last byte */
	assert_int_equal(e->buf[0x10000 + 63] >> 4, 5);
}

/* A resized CQ drops the reference to its old memory and has one to the new. */
static void test_cq_resize_moves_the_reference(void **state)
{
	struct env *e = *state;
	uint32_t old = umem_new(e, (uintptr_t)e->buf + 0x50000, 0x1000);
	uint32_t new = umem_new(e, (uintptr_t)e->buf + 0x60000, 0x1000);

	b_create_cq(e);
	LAYOUT_SET(create_cq_in, e->in, cq_umem_id, old);
	LAYOUT_SET(create_cq_in, e->in, cq_umem_offset, 0);
	e->cq = make(e, IN(create_cq));
	assert_int_equal(run_on(e, PRM_OP_DESTROY_UMEM, old), FW_BAD_RES_STATE);
	b_resize_cq(e);
	LAYOUT_SET(modify_cq_in, e->in, cq_umem_id, new);
	LAYOUT_SET(modify_cq_in, e->in, cq_umem_offset, 0);
	LAYOUT_SET(cqc, LAYOUT_IN(modify_cq_in, cq_context, e->in), log_cq_size, 5);
	assert_int_equal(run(e, e->in, IN(modify_cq), OUT(modify_cq)), FW_OK);
	assert_int_equal(run_on(e, PRM_OP_DESTROY_UMEM, old), FW_OK);
	assert_int_equal(run_on(e, PRM_OP_DESTROY_UMEM, new), FW_BAD_RES_STATE);
	assert_int_equal(run_on(e, PRM_OP_DESTROY_CQ, e->cq), FW_OK);
	assert_int_equal(run_on(e, PRM_OP_DESTROY_UMEM, new), FW_OK);
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
	assert_int_equal(run_on(e, PRM_OP_DESTROY_CQ, snd), FW_BAD_RES_STATE);
	assert_int_equal(run_on(e, PRM_OP_DESTROY_CQ, rcv), FW_BAD_RES_STATE);
	assert_int_equal(run_on(e, PRM_OP_DESTROY_QP, qpn), FW_OK);
	assert_int_equal(run_on(e, PRM_OP_DESTROY_CQ, snd), FW_OK);
	assert_int_equal(run_on(e, PRM_OP_DESTROY_CQ, rcv), FW_OK);
}

static void test_rmp_query_and_limit(void **state)
{
	struct env *e = *state;
	const void *rmpc = LAYOUT_IN(query_rmp_out, rmp_context, e->out);
	const void *wq = LAYOUT_IN(rmpc, wq, rmpc);

	/*
	 * fewer than 3 WQEs are posted: a limit of 3 fires at once or stays armed; both keep its
	 * value
	 */
	be32_store(e->buf + TEST_BUF - 0x1000 + 0x80, 15);
	b_modify_rmp(e);
	assert_int_equal(run(e, e->in, IN(modify_rmp), OUT(modify_rmp)), FW_OK);
	assert_int_equal(hw_srq_limit(hw_srq(&e->s, e->srq)), 3);
	b_id(e, PRM_OP_QUERY_RMP, e->srq);
	assert_int_equal(run(e, e->in, IN(query_rmp), OUT(query_rmp)), FW_OK);
	assert_int_equal(LAYOUT_GET(rmpc, rmpc, state), 1);
	assert_int_equal(LAYOUT_GET(wq, wq, lwm), 3);
	assert_int_equal(LAYOUT_GET(wq, wq, log_wq_sz), 4);
	assert_int_equal(LAYOUT_GET(wq, wq, sw_counter), 15);
}

static void test_a_cyclic_rmp_is_one(void **state)
{
	struct env *e = *state;

	b_create_rmp(e);
	LAYOUT_SET(wq, LAYOUT_IN(rmpc, wq, LAYOUT_IN(create_rmp_in, ctx, e->in)), wq_type, 1);
	assert_int_equal(hw_srq(&e->s, make(e, IN(create_rmp)))->wq_type, 1);
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

static uint32_t qp_without_queues(struct env *e, uint32_t st)
{
	void *qpc = LAYOUT_IN(create_qp_in, qpc, e->in);

	b_create_qp(e);
	LAYOUT_SET(create_qp_in, e->in, wq_umem_valid, 0);
	LAYOUT_SET(qpc, qpc, st, st);
	LAYOUT_SET(qpc, qpc, rq_type, PRM_QP_RQ_NONE);
	LAYOUT_SET(qpc, qpc, no_sq, 1);
	return make(e, IN(create_qp));
}

static uint32_t qp_with_srq_alone(struct env *e)
{
	void *qpc = LAYOUT_IN(create_qp_in, qpc, e->in);

	b_create_qp(e);
	LAYOUT_SET(create_qp_in, e->in, wq_umem_valid, 0);
	LAYOUT_SET(qpc, qpc, rq_type, PRM_QP_RQ_SHARED);
	LAYOUT_SET(qpc, qpc, srqn_rmpn_xrqn, e->srq);
	LAYOUT_SET(qpc, qpc, no_sq, 1);
	return make(e, IN(create_qp));
}

/* get_resp_cxt_v0() of libmlx5 takes a number that is not 0 for an SRQ's. */
static void test_cqes_name_the_srq_without_a_user_index(void **state)
{
	struct env *e = *state;
	void *qpc = LAYOUT_IN(create_qp_in, qpc, e->in);

	b_create_qp(e);
	LAYOUT_SET(qpc, qpc, user_index, 0xffffff);
	assert_int_equal(hw_qp(&e->s, make(e, IN(create_qp)))->user_index, 0);
	b_create_qp(e);
	LAYOUT_SET(create_qp_in, e->in, wq_umem_valid, 0);
	LAYOUT_SET(qpc, qpc, rq_type, PRM_QP_RQ_SHARED);
	LAYOUT_SET(qpc, qpc, srqn_rmpn_xrqn, e->srq);
	LAYOUT_SET(qpc, qpc, no_sq, 1);
	LAYOUT_SET(qpc, qpc, user_index, 0xffffff);
	assert_int_equal(hw_qp(&e->s, make(e, IN(create_qp)))->user_index, e->srq);
}

/* What it owes is paid by a device thread, which must know that the QP is one of its process. */
static void test_qp_without_queues_is_looked_after(void **state)
{
	struct env *e = *state;
	const uint32_t qpns[] = {
		qp_without_queues(e, PRM_ST_RC),
		qp_without_queues(e, PRM_ST_UC),
		qp_without_queues(e, PRM_ST_UD),
		qp_without_queues(e, PRM_ST_XRC),
		qp_with_srq_alone(e),
	};

	for (size_t i = 0; i < ARRAY_SIZE(qpns); i++) {
		struct hw_qp *qp = hw_qp(&e->s, qpns[i]);
		uint64_t later = UINT64_MAX - 1 - i;

		atomic_store(&qp->state, PRM_QP_STATE_RTR);
		atomic_store(&qp->park_deadline, later);
		atomic_store(&qp->park, HW_PARK_RETRY);
		atomic_store(&seg_proc(&e->s, e->s.self)->parked, 1);
		assert_int_equal(eng_run_due(&e->s), later);
		atomic_store(&qp->park, HW_PARK_NO);
		assert_true(mem_is_self(&e->s, qp->mem));
	}
}

static uint32_t query_qp_state(struct env *e)
{
	b_id(e, PRM_OP_QUERY_QP, e->qp);
	assert_int_equal(run(e, e->in, IN(query_qp), OUT(query_qp)), FW_OK);
	return LAYOUT_GET32(qpc, LAYOUT_IN(query_qp_out, qpc, e->out), state);
}

static void test_qp_to_rts_takes_what_each_transition_takes(void **state)
{
	struct env *e = *state;
	const struct hw_qp *qp = hw_qp(&e->s, e->qp);
	const struct hw_hca *hca = hw_hca(&e->s, e->hca);
	const void *qpc = LAYOUT_IN(query_qp_out, qpc, e->out);

	qp_to(e, PRM_QP_STATE_INIT);
	assert_int_equal(query_qp_state(e), PRM_QP_STATE_INIT);
	assert_int_equal(qp->path[0].port, hca->port[0]);
	assert_int_equal(qp->rwe, 1);
	assert_int_equal(qp->rae, 0);
	b_init2rtr(e);
	assert_int_equal(run(e, e->in, IN(init2rtr_qp), OUT(init2rtr_qp)), FW_OK);
	assert_int_equal(qp->mtu, 1024);
	assert_int_equal(qp->dest_qpn, 0x45);
	assert_int_equal(qp->path[0].dlid, 1);
	assert_int_equal(qp->next_rcv_psn, 0xabcdef);
	assert_int_equal(qp->rwe, 1); /* the command has 0, but does not select the field */
	b_rtr2rts(e);
	assert_int_equal(run(e, e->in, IN(rtr2rts_qp), OUT(rtr2rts_qp)), FW_OK);
	assert_int_equal(query_qp_state(e), PRM_QP_STATE_RTS);
	assert_int_equal(qp->path[0].ack_timeout, 14);
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

	qp_to(e, PRM_QP_STATE_RTS);
	qpc = b_modify_qp(e, PRM_OP_RTS2RTS_QP, 1 << 1 /* rre */ | 1 << 6 /* rnr timeout */);
	LAYOUT_SET(qpc, qpc, min_rnr_nak, 20);
	assert_int_equal(run(e, e->in, IN(rts2rts_qp), OUT(rts2rts_qp)), FW_OK);
	assert_int_equal(qp->rre, 0);
	assert_int_equal(qp->rwe, 1);
	assert_int_equal(qp->min_rnr_nak, 20);
	assert_int_equal(qp->retry_count, 7);
	assert_int_equal(qp->state, PRM_QP_STATE_RTS);
}

/*
 * As cards do without LAG: success, and the value is ignored (libmlx5's
 * _mlx5dv_modify_qp_lag_port() therefore queries first). RTS2RTS has the option only with
 * rts2rts_lag_tx_port_affinity.
 */
static void test_lag_affinity_is_ignored(void **state)
{
	struct env *e = *state;
	const void *cap = LAYOUT_IN(query_hca_cap_out, capability, e->out);
	const void *qpc = LAYOUT_IN(query_qp_out, qpc, e->out);

	cmd_init(e, PRM_OP_QUERY_HCA_CAP, 1);
	assert_int_equal(run(e, e->in, IN(query_hca_cap), OUT(query_hca_cap)), FW_OK);
	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, num_lag_ports), 0);
	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, lag_master), 0);
	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, lag_tx_port_affinity), 0);
	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, init2_lag_tx_port_affinity), 0);
	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, rts2rts_lag_tx_port_affinity), 0);
	b_create_qp(e);
	LAYOUT_SET(qpc, LAYOUT_IN(create_qp_in, qpc, e->in), lag_tx_port_affinity, 1);
	e->qp = make(e, IN(create_qp));
	b_rst2init(e);
	LAYOUT_SET(qpc, LAYOUT_IN(rst2init_qp_in, qpc, e->in), lag_tx_port_affinity, 2);
	assert_int_equal(run(e, e->in, IN(rst2init_qp), OUT(rst2init_qp)), FW_OK);
	assert_int_equal(query_qp_state(e), PRM_QP_STATE_INIT);
	assert_int_equal(LAYOUT_GET(qpc, qpc, lag_tx_port_affinity), 0);
	LAYOUT_SET(qpc, b_modify_qp(e, PRM_OP_INIT2INIT_QP, 1 << 15), lag_tx_port_affinity, 2);
	assert_int_equal(run(e, e->in, IN(init2init_qp), OUT(init2init_qp)), FW_OK);
	query_qp_state(e);
	assert_int_equal(LAYOUT_GET(qpc, qpc, lag_tx_port_affinity), 0);
	b_init2rtr(e);
	assert_int_equal(run(e, e->in, IN(init2rtr_qp), OUT(init2rtr_qp)), FW_OK);
	b_rtr2rts(e);
	assert_int_equal(run(e, e->in, IN(rtr2rts_qp), OUT(rtr2rts_qp)), FW_OK);
	LAYOUT_SET(qpc, b_modify_qp(e, PRM_OP_RTS2RTS_QP, 1 << 15), lag_tx_port_affinity, 2);
	assert_int_equal(run(e, e->in, IN(rts2rts_qp), OUT(rts2rts_qp)), FW_BAD_PARAM);
}

/*
 * dp_ordering_0, _1 and _force (of UCX's ib_mlx5_ifc.h) permit another order than the one in which
 * messages come, and nothing is to be done for them. UCX 1.18.0 does not initialise them in
 * INIT2RTR_QP of the command QP of tag matching. Its options DCI_FULL_HANDSHAKE and
 * DCT_FULL_HANDSHAKE set the last bit of each.
 */
static void test_another_order_may_be_permitted(void **state)
{
	static const uint32_t in_qpc[] = {0x26, 0x27, 0x49c, 0x83};
	static const uint32_t in_dctc[] = {0x27, 0x73, 0x74, 0x72};
	struct env *e = *state;
	void *dctc;

	for (size_t i = 0; i < ARRAY_SIZE(in_qpc); i++) {
		b_create_qp(e);
		bits_set32(LAYOUT_IN(create_qp_in, qpc, e->in), in_qpc[i], 1, 1);
		e->qp = make(e, IN(create_qp));
		b_rst2init(e);
		assert_int_equal(run(e, e->in, IN(rst2init_qp), OUT(rst2init_qp)), FW_OK);
		b_init2rtr(e);
		bits_set32(LAYOUT_IN(init2rtr_qp_in, qpc, e->in), in_qpc[i], 1, 1);
		assert_int_equal(run(e, e->in, IN(init2rtr_qp), OUT(init2rtr_qp)), FW_OK);
		assert_int_equal(query_qp_state(e), PRM_QP_STATE_RTR);
		dctc = b_dct(e);
		bits_set32(dctc, in_dctc[i], 1, 1);
		make(e, IN(create_dct));
	}
}

/* opt_param_mask: 1 the alternate path, 1 << 10 pm_state. */
static void migrate(struct env *e, uint32_t opt, uint32_t rlid, uint32_t pm_state)
{
	void *qpc = b_modify_qp(e, PRM_OP_RTS2RTS_QP, opt);
	void *alt = LAYOUT_IN(qpc, secondary_address_path, qpc);

	LAYOUT_SET(qpc, qpc, pm_state, pm_state);
	LAYOUT_SET(ads, alt, vhca_port_num, 2);
	LAYOUT_SET(ads, alt, rlid, rlid);
	LAYOUT_SET(ads, alt, ack_timeout, 9);
	assert_int_equal(run(e, e->in, IN(rts2rts_qp), OUT(rts2rts_qp)), FW_OK);
}

/* The rlids of both paths and pm_state, as QUERY_QP shows them. */
static void expect_paths(struct env *e, uint32_t pri, uint32_t alt, uint32_t pm_state)
{
	const void *qpc = LAYOUT_IN(query_qp_out, qpc, e->out);

	b_id(e, PRM_OP_QUERY_QP, e->qp);
	assert_int_equal(run(e, e->in, IN(query_qp), OUT(query_qp)), FW_OK);
	assert_int_equal(LAYOUT_GET(ads, LAYOUT_IN(qpc, primary_address_path, qpc), rlid), pri);
	assert_int_equal(LAYOUT_GET(ads, LAYOUT_IN(qpc, secondary_address_path, qpc), rlid), alt);
	assert_int_equal(LAYOUT_GET(qpc, qpc, pm_state), pm_state);
}

static void test_alternate_path_is_shown_as_it_is_used(void **state)
{
	struct env *e = *state;
	struct hw_qp *qp = hw_qp(&e->s, e->qp);
	uint32_t first;

	qp_to(e, PRM_QP_STATE_RTS);
	first = qp->path[0].dlid;
	migrate(e, 1 | 1 << 10, 0x31, PRM_PM_REARM);
	expect_paths(e, first, 0x31, PRM_PM_REARM);
	assert_int_equal(qp->path[1].port, hw_hca(&e->s, e->hca)->port[1]);
	assert_int_equal(qp->path[1].dlid, 0x31);
	assert_int_equal(qp->path[1].ack_timeout, 9);
	atomic_fetch_xor(&qp->mig, HW_MIG_REARM ^ HW_MIG_ARMED);
	expect_paths(e, first, 0x31, PRM_PM_ARMED);
	migrate(e, 1, 0x32, PRM_PM_MIGRATED); /* the path alone */
	expect_paths(e, first, 0x32, PRM_PM_ARMED);
	migrate(e, 1 << 10, 0, PRM_PM_MIGRATED);
	expect_paths(e, 0x32, 0x32, PRM_PM_MIGRATED);
	assert_int_equal(hw_qp_path(qp)->dlid, 0x32);
	migrate(e, 1 | 1 << 10, 0x33, PRM_PM_REARM);
	expect_paths(e, 0x32, 0x33, PRM_PM_REARM);
	assert_int_equal(run_on(e, PRM_OP_2RST_QP, e->qp), FW_OK);
	qp_to(e, PRM_QP_STATE_RTS);
	expect_paths(e, first, 0, PRM_PM_MIGRATED);
}

static void test_qp_err_and_reset(void **state)
{
	struct env *e = *state;

	qp_to(e, PRM_QP_STATE_RTS);
	assert_int_equal(run_on(e, PRM_OP_2ERR_QP, e->qp), FW_OK);
	assert_int_equal(query_qp_state(e), PRM_QP_STATE_ERR);
	assert_int_equal(run_on(e, PRM_OP_2RST_QP, e->qp), FW_OK);
	assert_int_equal(query_qp_state(e), PRM_QP_STATE_RST);
	qp_to(e, PRM_QP_STATE_RTS); /* changed once more */
	assert_int_equal(query_qp_state(e), PRM_QP_STATE_RTS);
}

static void test_init2init_changes_the_port(void **state)
{
	struct env *e = *state;
	const struct hw_hca *hca = hw_hca(&e->s, e->hca);
	void *qpc;

	qp_to(e, PRM_QP_STATE_INIT);
	qpc = b_modify_qp(e, PRM_OP_INIT2INIT_QP, 1 << 16);
	LAYOUT_SET(ads, LAYOUT_IN(qpc, primary_address_path, qpc), vhca_port_num, 2);
	assert_int_equal(run(e, e->in, IN(init2init_qp), OUT(init2init_qp)), FW_OK);
	assert_int_equal(hw_qp(&e->s, e->qp)->path[0].port, hca->port[1]);
}

static void test_ud_qp_with_srq(void **state)
{
	struct env *e = *state;
	void *qpc = LAYOUT_IN(create_qp_in, qpc, e->in);
	const struct hw_qp *qp;

	b_create_qp(e);
	LAYOUT_SET(qpc, qpc, st, PRM_ST_UD);
	LAYOUT_SET(qpc, qpc, rq_type, 1);
	LAYOUT_SET(qpc, qpc, srqn_rmpn_xrqn, e->srq);
	e->qp = make(e, IN(create_qp));
	qp = hw_qp(&e->s, e->qp);
	assert_int_equal(qp->srqn, e->srq);
	assert_int_equal(qp->no_rq, 1);
	assert_int_equal(qp->sq_va, qp->rq_va); /* no RQ of its own in front of the SQ */
	b_rst2init(e);
	LAYOUT_SET(qpc, LAYOUT_IN(rst2init_qp_in, qpc, e->in), q_key, 0x11111111);
	assert_int_equal(run(e, e->in, IN(rst2init_qp), 0x10), FW_OK);
	assert_int_equal(qp->qkey, 0x11111111);
}

#define ECE(v, o) ((uint32_t)(v) << 28 | (o))

/* Each transition with ECE options: the request in the input, the enabled options in the output. */
static uint32_t ece_through(struct env *e, uint16_t opcode, uint32_t inlen, uint32_t ece)
{
	LAYOUT_SET(rst2init_qp_in, e->in, ece, ece);
	assert_int_equal(LAYOUT_GET(cmd_in, e->in, opcode), opcode);
	assert_int_equal(run(e, e->in, inlen, 0x10), FW_OK);
	return LAYOUT_GET32(rst2init_qp_out, e->out, ece);
}

static uint32_t ece_of(struct env *e)
{
	b_id(e, PRM_OP_QUERY_QP, e->qp);
	assert_int_equal(run(e, e->in, IN(query_qp), OUT(query_qp)), FW_OK);
	return LAYOUT_GET32(query_qp_out, e->out, ece);
}

/*
 * The options' places in commands follow the kernel's get_ece_from_mbox() (mlx5 qpc.c) and
 * modify_qp_mbox_alloc().
 */
static void test_ece_is_agreed_on_by_version(void **state)
{
	struct env *e = *state;

	b_create_qp(e);
	/* libmlx5's request for the device's options */
	LAYOUT_SET(create_qp_in, e->in, ece, ECE(1, 0));
	e->qp = make(e, IN(create_qp));
	assert_int_equal(LAYOUT_GET(create_qp_out, e->out, ece), ECE(3, 0));
	b_rst2init(e);
	assert_int_equal(ece_through(e, PRM_OP_RST2INIT_QP, IN(rst2init_qp), 0), ECE(3, 0));
	b_init2rtr(e);
	assert_int_equal(ece_through(e, PRM_OP_INIT2RTR_QP, IN(init2rtr_qp), ECE(2, 0x43)),
			 ECE(2, 0));
	assert_int_equal(ece_of(e), ECE(2, 0));
	b_rtr2rts(e);
	assert_int_equal(ece_through(e, PRM_OP_RTR2RTS_QP, IN(rtr2rts_qp), UINT32_MAX), ECE(3, 0));
	assert_int_equal(ece_of(e), ECE(3, 0));
	b_modify_qp(e, PRM_OP_RTS2RTS_QP, 0);
	assert_int_equal(ece_through(e, PRM_OP_RTS2RTS_QP, IN(rts2rts_qp), 43223), 0);
}

static void test_ece_is_not_there_unless_asked_for(void **state)
{
	struct env *e = *state;

	b_create_qp(e);
	e->qp = make(e, IN(create_qp));
	assert_int_equal(LAYOUT_GET(create_qp_out, e->out, ece), 0);
	b_rst2init(e);
	assert_int_equal(ece_through(e, PRM_OP_RST2INIT_QP, IN(rst2init_qp), 0), 0);
	assert_int_equal(ece_of(e), 0);
}

/* The options of a DCT that asks for `ece` at `bit` of its context; QUERY_DCT says them there. */
static uint32_t ece_of_dct(struct env *e, uint32_t bit, uint32_t ece)
{
	uint32_t dctn, agreed;
	uint8_t *dctc;

	bits_set32(b_dct(e), bit, 32, ece);
	dctn = make(e, IN(create_dct));
	agreed = LAYOUT_GET32(create_dct_out, e->out, ece);
	assert_int_equal(hw_qp(&e->s, dctn)->ece, agreed);
	b_id(e, PRM_OP_QUERY_DCT, dctn);
	assert_int_equal(run(e, e->in, IN(query_dct), OUT(query_dct)), FW_OK);
	dctc = LAYOUT_IN(query_dct_out, dct_context_entry, e->out);
	assert_int_equal(bits_get32(dctc, bit, 32), agreed);
	return agreed;
}

/*
 * The kernel's mlx5_ib_modify_dct() and UCX (uct_dc_mlx5_iface_devx_create_dct()) have the options
 * at different bits. UCX's "auto" is the second value.
 */
static void test_a_dct_has_ece_where_kernel_and_ucx_write_it(void **state)
{
	static const uint32_t bits[] = {0x1e0, 0x200};
	struct env *e = *state;

	for (size_t i = 0; i < ARRAY_SIZE(bits); i++) {
		assert_int_equal(ece_of_dct(e, bits[i], ECE(2, 0x43)), ECE(2, 0));
		assert_int_equal(ece_of_dct(e, bits[i], 0xfffffffe), ECE(3, 0));
		assert_int_equal(ece_of_dct(e, bits[i], 0), 0);
	}
}

/* The refusal of a destruction names who uses the object, and is counted once for each time. */
static void test_users_of_an_object_are_named(void **state)
{
	struct env *e = *state;
	const struct hw_told *told;
	unsigned int i = 0;
	char users[32];

	for (int k = 0; k < 2; k++)
		assert_int_equal(run_on(e, PRM_OP_DESTROY_CQ, e->cq), FW_BAD_RES_STATE);
	told = hw_told_next(hw_tolds(&e->s, e->hca), &i);
	assert_non_null(told);
	assert_int_equal(told->kind, HW_TOLD_REFUSED);
	assert_int_equal(atomic_load(&told->n), 2);
	snprintf(users, sizeof(users), "qp 0x%x", e->qp);
	assert_non_null(strstr(told->text, "DESTROY_CQ of mlx5_0: BAD_RES_STATE (0x9)"));
	assert_non_null(strstr(told->text, "; used by "));
	assert_non_null(strstr(told->text, users));
	assert_null(hw_told_next(hw_tolds(&e->s, e->hca), &i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		env_test(test_ece_is_agreed_on_by_version),
		env_test(test_a_dct_has_ece_where_kernel_and_ucx_write_it),
		env_test(test_ece_is_not_there_unless_asked_for),
		env_test(test_a_cyclic_rmp_is_one),
		env_test(test_cq_query_shows_counters),
		env_test(test_cq_query_shows_how_it_is_armed),
		env_test(test_cq_moderation_is_kept),
		env_test(test_cq_moderation_is_done),
		env_test(test_cq_resize_moves_to_the_new_buffer),
		env_test(test_cq_resize_moves_the_reference),
		env_test(test_both_cqs_of_a_qp_are_held),
		env_test(test_rmp_query_and_limit),
		env_test(test_qp_queues_lie_as_libmlx5_lays_them),
		env_test(test_qp_page_offset_counts),
		env_test(test_qp_without_queues_needs_no_memory_for_them),
		env_test(test_cqes_name_the_srq_without_a_user_index),
		env_test(test_qp_without_queues_is_looked_after),
		env_test(test_qp_to_rts_takes_what_each_transition_takes),
		env_test(test_opt_param_mask_selects_optional_fields),
		env_test(test_lag_affinity_is_ignored),
		env_test(test_another_order_may_be_permitted),
		env_test(test_alternate_path_is_shown_as_it_is_used),
		env_test(test_qp_err_and_reset),
		env_test(test_init2init_changes_the_port),
		env_test(test_ud_qp_with_srq),
		env_test(test_users_of_an_object_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
