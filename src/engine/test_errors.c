/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Errors, one row each: the mistake, and the completions, states and events at both ends. Every row
 * also checks the flush that follows.
 */
#include "engine/for_tests.h"
#include "engine/base/base.h"
#include "engine/test.h"
#include "hw/mkey.h"
#include "hw/qctr.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "wire/prm/qp.h"
#include <infiniband/verbs.h>

enum { OK = -1, NONE = -2 };

struct row {
	const char *name;
	uint8_t opcode;
	void (*spoil)(struct t_pair *p, struct t_wr *wr, struct t_sge *sge);
	int a;       /* syndrome of the requester's CQE */
	int b;       /* syndrome of the responder's receive; OK received, NONE no CQE */
	bool b_err;  /* the responder goes to ERR */
	int b_event; /* the responder's async event, or NONE */
	uint8_t b_opcode;
};

static void lkey_unknown(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	sge->key = 0xfffff42;
}

static void lkey_variant(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	sge->key ^= 1;
}

static void lkey_invalid(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	atomic_store(&hw_mkey(&p->t->s, sge->key)->valid, 0);
}

static void lkey_other_pd(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	hw_mkey(&p->t->s, sge->key)->pdn = p->t->pd[1];
}

static void lkey_other_qp(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	hw_mkey(&p->t->s, sge->key)->qpn = p->b->qpn;
}

static void lkey_before(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	sge->addr = (uintptr_t)p->a->mem - 1;
}

static void lkey_beyond(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	sge->addr = (uintptr_t)p->a->mem + T_MEM - sge->len + 1;
}

static void lkey_wraps(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	sge->addr = UINT64_MAX - 3;
}

static void lkey_read_only(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	hw_mkey(&p->t->s, sge->key)->access = HW_ACC_LOCAL_READ;
}

static void local_unmapped(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	void *at = p->a->mem + 8192;

	assert_ptr_equal(mmap(at, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			 at);
	sge->addr = (uintptr_t)at - 8;
}

static void local_unmapped8(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	local_unmapped(p, wr, sge);
	sge->addr += 8;
}

static void remote_unmapped(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	void *at = p->b->mem + 8192;

	assert_ptr_equal(mmap(at, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			 at);
	wr->raddr = (uintptr_t)at - 8;
	p->b->rq_pi = 0; /* take the receive back, too */
	t_recv_at(p->b, 8192 - 8, 64);
	t_recv_at(p->b, 0, 64);
}

static void rkey_unknown(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	wr->rkey = 0xfffff42;
}

static void rkey_other_pd(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	wr->rkey = p->a->key;
	wr->raddr = (uintptr_t)p->a->mem;
}

static void rkey_range(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	wr->raddr = (uintptr_t)p->b->mem + T_MEM - sge->len + 1;
}

static void rkey_range8(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	wr->raddr = (uintptr_t)p->b->mem + T_MEM;
}

static void remote_unmapped8(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	remote_unmapped(p, wr, sge);
	wr->raddr += 8;
}

static void rkey_no_access(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	hw_mkey(&p->t->s, wr->rkey)->access = HW_ACC_LOCAL_READ | HW_ACC_LOCAL_WRITE;
}

static void qp_no_access(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	p->b->hw->rwe = p->b->hw->rre = 0;
}

static void qp_no_access_rkey(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	qp_no_access(p, wr, sge);
	rkey_unknown(p, wr, sge);
}

static void recv_short(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	p->b->rq_pi = 0;
	t_recv_at(p->b, 0, 63);
	t_recv_at(p->b, 0, 64);
}

static void recv_lkey(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	hw_mkey(&p->t->s, p->b->key)->access = HW_ACC_LOCAL_READ;
}

static void too_long(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	struct hw_mkey *mk = hw_mkey(&p->t->s, sge->key);

	mk->length64 = 1;
	sge->len = (1u << 30) + 1;
}

/* byte_count 0 means 2^31. */
static void zero_means_2g(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	hw_mkey(&p->t->s, sge->key)->length64 = 1;
	sge->len = 0;
}

static void beyond_qps_limit(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	LAYOUT_SET(qpc, p->a->hw->qpc, log_msg_max, 5);
	sge->len = 33;
}

static void atomic_misaligned(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	wr->raddr += 4;
}

static void atomic_no_right(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	hw_mkey(&p->t->s, wr->rkey)->access &= ~(uint32_t)HW_ACC_ATOMIC;
}

static void atomic_qp_no_access(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	p->b->hw->rae = 0;
}

static void atomic_qp_no_mode(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	p->b->hw->atomic_mode = 0;
}

static void atomic_no_room(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	sge->len = 7;
}

static void atomic_opmod(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	wr->opmod = 1;
}

/*
 * Both keys are wrong: the request fails first, before the requester's key for the answer is
 * checked.
 */
static void both_keys(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	lkey_unknown(p, wr, sge);
	rkey_unknown(p, wr, sge);
}

static void rkey_several_packets(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	sge->len = 2 * T_MTU;
	rkey_unknown(p, wr, sge);
}

static void both_unmapped(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	local_unmapped(p, wr, sge);
	remote_unmapped(p, wr, sge);
}

static void lkey_and_unmapped(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	lkey_unknown(p, wr, sge);
	remote_unmapped(p, wr, sge);
}

static void lkey_and_misaligned(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	lkey_unknown(p, wr, sge);
	atomic_misaligned(p, wr, sge);
}

static void rkey_and_misaligned(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	both_keys(p, wr, sge);
	atomic_misaligned(p, wr, sge);
}

static void local_read_only(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	assert_int_equal(mprotect(p->a->mem + 8192, 4096, PROT_READ), 0);
	sge->addr = (uintptr_t)p->a->mem + 8192;
}

static void nothing(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
}

static void no_ds(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	wr->opcode |= 0x80; /* an invalid opcode; post_bad() sets it */
}

#define LEN MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR
#define QP_OP MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR
#define PROT MLX5_CQE_SYNDROME_LOCAL_PROT_ERR
#define ACCESS MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR
#define REM_INV MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR
#define REM_ACC MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR
#define REM_OP MLX5_CQE_SYNDROME_REMOTE_OP_ERR
#define SEND MLX5_OPCODE_SEND
#define WRITE MLX5_OPCODE_RDMA_WRITE
#define WRITE_IMM MLX5_OPCODE_RDMA_WRITE_IMM
#define FA MLX5_OPCODE_ATOMIC_FA
#define READ MLX5_OPCODE_RDMA_READ
#define ACC_EVENT IBV_EVENT_QP_ACCESS_ERR
#define REQ_EVENT IBV_EVENT_QP_REQ_ERR

static const struct row rows[] = {
	/* Errors in the requester's memory: the responder sees nothing. */
	{"send: lkey unknown", SEND, lkey_unknown, PROT, NONE, false, NONE, 0},
	{"send: lkey of another variant", SEND, lkey_variant, PROT, NONE, false, NONE, 0},
	{"send: lkey destroyed", SEND, lkey_invalid, PROT, NONE, false, NONE, 0},
	{"send: lkey of another PD", SEND, lkey_other_pd, PROT, NONE, false, NONE, 0},
	{"send: lkey of another QP", SEND, lkey_other_qp, PROT, NONE, false, NONE, 0},
	{"send: below the region", SEND, lkey_before, PROT, NONE, false, NONE, 0},
	{"send: beyond the region", SEND, lkey_beyond, PROT, NONE, false, NONE, 0},
	{"send: end of the address space", SEND, lkey_wraps, PROT, NONE, false, NONE, 0},
	{"send: memory unmapped", SEND, local_unmapped, PROT, NONE, false, NONE, 0},
	{"atomic: no room for the answer", FA, atomic_no_room, LEN, NONE, false, NONE, 0},
	{"write: memory unmapped", WRITE, local_unmapped, PROT, NONE, false, NONE, 0},
	{"write: lkey unknown", WRITE, lkey_unknown, PROT, NONE, false, NONE, 0},
	{"send: too long", SEND, too_long, LEN, NONE, false, NONE, 0},
	{"send: beyond the QPC's limit", SEND, beyond_qps_limit, LEN, NONE, false, NONE, 0},
	{"write: beyond the QPC's limit", WRITE, beyond_qps_limit, LEN, NONE, false, NONE, 0},
	{"send: byte_count 0", SEND, zero_means_2g, LEN, NONE, false, NONE, 0},
	{"send: both keys", SEND, both_keys, PROT, NONE, false, NONE, 0},
	{"write: both keys", WRITE, both_keys, PROT, NONE, false, NONE, 0},
	/* READ, atomic: the responder has executed the request (answers_that_do_not_land()) */
	{"read: lkey unknown", READ, lkey_unknown, PROT, NONE, false, NONE, 0},
	{"read: lkey of another PD", READ, lkey_other_pd, PROT, NONE, false, NONE, 0},
	{"read: no local write", READ, lkey_read_only, PROT, NONE, false, NONE, 0},
	{"read: beyond the region", READ, lkey_beyond, PROT, NONE, false, NONE, 0},
	{"read: memory unmapped", READ, local_unmapped, PROT, NONE, false, NONE, 0},
	{"read: memory read-only", READ, local_read_only, PROT, NONE, false, NONE, 0},
	{"read: too long", READ, too_long, LEN, NONE, false, NONE, 0},
	{"atomic: lkey unknown", FA, lkey_unknown, PROT, NONE, false, NONE, 0},
	{"atomic: no local write", FA, lkey_read_only, PROT, NONE, false, NONE, 0},
	{"atomic: memory unmapped", FA, local_unmapped8, PROT, NONE, false, NONE, 0},
	{"atomic: memory read-only", FA, local_read_only, PROT, NONE, false, NONE, 0},
	/* Errors at both ends: the responder's is reported */
	{"read: both keys", READ, both_keys, REM_ACC, NONE, true, ACC_EVENT, 0},
	{"read: lkey, memory unmapped there", READ, lkey_and_unmapped, REM_ACC, NONE, true,
	 ACC_EVENT, 0},
	{"read: unmapped at both ends", READ, both_unmapped, REM_ACC, NONE, true, ACC_EVENT, 0},
	{"atomic: both keys", FA, both_keys, REM_ACC, NONE, true, ACC_EVENT, 0},
	{"atomic: lkey, not aligned", FA, lkey_and_misaligned, REM_INV, NONE, true,
	 IBV_EVENT_QP_REQ_ERR, 0},
	{"atomic: both keys, not aligned", FA, rkey_and_misaligned, REM_INV, NONE, true,
	 IBV_EVENT_QP_REQ_ERR, 0},
	/* Errors in the WQE. */
	{"atomic: opmod", FA, atomic_opmod, QP_OP, NONE, false, NONE, 0},
	{"masked atomic: opmod", MLX5_OPCODE_ATOMIC_MASKED_CS, nothing, QP_OP, NONE, false, NONE,
	 0},
	{"umr: too short", MLX5_OPCODE_UMR, nothing, QP_OP, NONE, false, NONE, 0},
	{"opcode 0x3f", 0x3f, nothing, QP_OP, NONE, false, NONE, 0},
	{"ds 0", SEND, no_ds, QP_OP, NONE, false, NONE, 0},
	/* Requests that the responder refuses. */
	{"write: rkey unknown", WRITE, rkey_unknown, REM_ACC, NONE, true, ACC_EVENT, 0},
	{"write: rkey of another PD", WRITE, rkey_other_pd, REM_ACC, NONE, true, ACC_EVENT, 0},
	{"write: beyond the region", WRITE, rkey_range, REM_ACC, NONE, true, ACC_EVENT, 0},
	{"write: region without access", WRITE, rkey_no_access, REM_ACC, NONE, true, ACC_EVENT, 0},
	/* What the QP does not allow: before the key is looked at, and a receive is taken */
	{"write: QP without access", WRITE, qp_no_access, REM_INV, NONE, true, REQ_EVENT, 0},
	{"write: QP without access, rkey unknown", WRITE, qp_no_access_rkey, REM_INV, NONE, true,
	 REQ_EVENT, 0},
	{"read: QP without access, rkey unknown", READ, qp_no_access_rkey, REM_INV, NONE, true,
	 REQ_EVENT, 0},
	{"write: memory unmapped there", WRITE, remote_unmapped, REM_ACC, NONE, true, ACC_EVENT, 0},
	/* The responder has fetched a receive: it completes with Local Access Error (IBA 11.6.2) */
	{"write imm: rkey unknown", WRITE_IMM, rkey_unknown, REM_ACC, ACCESS, true, NONE, 0},
	{"write imm: beyond the region", WRITE_IMM, rkey_range, REM_ACC, ACCESS, true, NONE, 0},
	{"write imm: QP without access", WRITE_IMM, qp_no_access, REM_INV, NONE, true, REQ_EVENT,
	 0},
	{"write imm: memory unmapped there", WRITE_IMM, remote_unmapped, REM_ACC, ACCESS, true,
	 NONE, 0},
	/* Several packets: the key comes with the first, but only the last takes the receive */
	{"write imm: rkey, several packets", WRITE_IMM, rkey_several_packets, REM_ACC, NONE, true,
	 ACC_EVENT, 0},
	{"read: rkey unknown", READ, rkey_unknown, REM_ACC, NONE, true, ACC_EVENT, 0},
	{"read: beyond the region", READ, rkey_range, REM_ACC, NONE, true, ACC_EVENT, 0},
	{"read: region without access", READ, rkey_no_access, REM_ACC, NONE, true, ACC_EVENT, 0},
	{"read: QP without access", READ, qp_no_access, REM_INV, NONE, true, REQ_EVENT, 0},
	{"read: memory unmapped there", READ, remote_unmapped, REM_ACC, NONE, true, ACC_EVENT, 0},
	{"atomic: rkey unknown", FA, rkey_unknown, REM_ACC, NONE, true, ACC_EVENT, 0},
	{"atomic: beyond the region", FA, rkey_range8, REM_ACC, NONE, true, ACC_EVENT, 0},
	{"atomic: region without access", FA, atomic_no_right, REM_ACC, NONE, true, ACC_EVENT, 0},
	{"atomic: QP without access", FA, atomic_qp_no_access, REM_INV, NONE, true, REQ_EVENT, 0},
	{"atomic: QP without mode", FA, atomic_qp_no_mode, REM_INV, NONE, true, REQ_EVENT, 0},
	{"atomic: memory unmapped there", FA, remote_unmapped8, REM_ACC, NONE, true, ACC_EVENT, 0},
	{"atomic: not aligned", FA, atomic_misaligned, REM_INV, NONE, true, IBV_EVENT_QP_REQ_ERR,
	 0},
	/* Errors of the receive. */
	{"send: receive too short", SEND, recv_short, REM_INV, LEN, true, NONE, 0},
	{"send: receive without local write", SEND, recv_lkey, REM_OP, PROT, true, NONE, 0},
	{"send: receive unmapped", SEND, remote_unmapped, REM_OP, PROT, true, NONE, 0},
};

static void expect_flushed(struct t_qp *q, uint8_t opcode, uint32_t counter)
{
	t_expect_error(q, opcode, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, counter);
}

static void post_bad(struct t_pair *p, struct t_wr *wr)
{
	if (wr->opcode & 0x80) {
		wr->opcode &= 0x7f;
		t_post_quiet(p->a, wr);
		p->a->sq[7] = 0; /* ds */
		return;
	}
	t_post_quiet(p->a, wr);
}

static void run_row(const struct row *r, struct t_pair *p)
{
	struct t_sge sge = t_own(p->a, 0, 64), good = t_own(p->a, 0, 64);
	struct t_wr wr = {.opcode = r->opcode,
			  .raddr = (uintptr_t)p->b->mem,
			  .rkey = p->b->key,
			  .sge = &sge,
			  .nsge = 1};
	static const struct mlx5_wqe_atomic_seg one = {.swap_add = 0x0100000000000000};
	struct t_wr after = {.opcode = SEND, .sge = &good, .nsge = 1};
	uint32_t b_ci = 0;

	if (r->opcode == FA || r->opcode == MLX5_OPCODE_ATOMIC_MASKED_CS) {
		wr.operands = &one;
		wr.operands_len = sizeof(one);
	}
	t_recv_at(p->b, 0, 64);
	t_recv_at(p->b, 64, 64);
	r->spoil(p, &wr, &sge);
	post_bad(p, &wr); /* unsignaled; an error completes all the same */
	t_post_quiet(p->a, &after);
	t_post_quiet(p->a, &after);
	t_recv_at(p->a, 0, 8);
	t_ring(p->a);
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, (uint8_t)r->a, 0);
	expect_flushed(p->a, MLX5_CQE_REQ_ERR, 1);
	expect_flushed(p->a, MLX5_CQE_REQ_ERR, 2);
	expect_flushed(p->a, MLX5_CQE_RESP_ERR, 0);
	t_assert_empty(&p->a->cq);
	assert_int_equal(p->a->hw->state, PRM_QP_STATE_ERR);
	assert_int_equal(t_event(p->t, p->a->evq), -1);
	/* WQEs posted later are flushed, too. */
	t_post(p->a, &after);
	expect_flushed(p->a, MLX5_CQE_REQ_ERR, 3);

	if (r->b != NONE)
		t_expect_error(p->b, MLX5_CQE_RESP_ERR, (uint8_t)r->b, b_ci++);
	if (r->b_err) {
		assert_int_equal(p->b->hw->state, PRM_QP_STATE_ERR);
		for (; b_ci < 2; b_ci++)
			expect_flushed(p->b, MLX5_CQE_RESP_ERR, b_ci);
	} else {
		assert_int_equal(p->b->hw->state, PRM_QP_STATE_RTS);
	}
	t_assert_empty(&p->b->cq);
	assert_int_equal(t_event(p->t, p->b->evq), r->b_event == NONE ? -1 : r->b_event);
	assert_int_equal(t_event(p->t, p->b->evq), -1);
}

static void table(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct t_pair *p;

		t_pair_setup((void **)&p);
		print_message("  %s\n", rows[i].name);
		run_row(&rows[i], p);
		t_pair_teardown((void **)&p);
	}
}

static uint8_t next_vendor_err(struct t_qp *q, uint8_t syndrome)
{
	const struct mlx5_err_cqe *e = (void *)t_poll(&q->cq);

	assert_non_null(e);
	assert_int_equal(e->syndrome, syndrome);
	return e->vendor_err_synd;
}

static void recv_other_pd(struct t_pair *p, struct t_wr *wr, struct t_sge *sge)
{
	hw_mkey(&p->t->s, p->b->key)->pdn = p->t->pd[0];
}

/* vendor_err of both ends, and of the receive that is flushed: as public logs of cards have it. */
static void numbers_of_cards(void **state)
{
	static const struct {
		void (*spoil)(struct t_pair *p, struct t_wr *wr, struct t_sge *sge);
		uint8_t a, a_err, b, b_err;
	} cases[] = {
		{recv_short, REM_INV, 0x8a, LEN, 0x6a},
		{recv_other_pd, REM_OP, 0x89, PROT, 0x32},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct t_pair *p;
		struct t_sge sge;

		t_pair_setup((void **)&p);
		sge = t_own(p->a, 0, 64);
		t_recv_at(p->b, 0, 64);
		t_recv_at(p->b, 64, 64);
		cases[i].spoil(p, NULL, &sge);
		t_post(p->a, &(struct t_wr){.opcode = SEND, .sge = &sge, .nsge = 1});
		assert_int_equal(next_vendor_err(p->a, cases[i].a), cases[i].a_err);
		assert_int_equal(next_vendor_err(p->b, cases[i].b), cases[i].b_err);
		assert_int_equal(next_vendor_err(p->b, MLX5_CQE_SYNDROME_WR_FLUSH_ERR), 0xf9);
		t_pair_teardown((void **)&p);
	}
}

/*
 * The requester's key for the answer is checked when the answer arrives (as in do_read() and
 * do_atomic() of rxe_comp.c). By then the responder has executed and counted the request, and it
 * stays in RTS.
 */
static void answers_that_do_not_land(void **state)
{
	static const struct mlx5_wqe_atomic_seg one = {.swap_add = 0x0100000000000000};
	static const uint8_t opcodes[] = {READ, FA};

	for (int i = 0; i < 2; i++) {
		struct t_pair *p;
		struct t_sge sge;
		struct hw_qctr *c;

		t_pair_setup((void **)&p);
		c = t_counters(p->t, p->b);
		sge = (struct t_sge){0xfffff42, (uintptr_t)p->a->mem, i ? 8 : 3 * T_MTU};
		t_post(p->a, &(struct t_wr){.opcode = opcodes[i],
					    .raddr = (uintptr_t)p->b->mem,
					    .rkey = p->b->key,
					    .operands = i ? &one : NULL,
					    .operands_len = i ? sizeof(one) : 0,
					    .sge = &sge,
					    .nsge = 1});
		t_expect_error(p->a, MLX5_CQE_REQ_ERR, PROT, 0);
		assert_int_equal(p->b->mem[0], i);
		assert_int_equal(p->b->hw->state, PRM_QP_STATE_RTS);
		assert_int_equal(p->b->hw->msn, 1);
		assert_int_equal(p->b->hw->next_rcv_psn,
				 (0xfffff0 + (p->a->qpn & 7) + (i ? 1 : 3)) & 0xffffff);
		assert_int_equal(p->a->hw->next_send_psn, p->b->hw->next_rcv_psn);
		assert_int_equal(c->n[i ? HW_QC_RX_ATOMIC_REQUESTS : HW_QC_RX_READ_REQUESTS], 1);
		t_pair_teardown((void **)&p);
	}
}

/* Without an answer the wrong lkey is never used. */
static void a_bad_lkey_waits_for_the_answer(void **state)
{
	struct t_pair *p = *state;

	p->a->hw->retry_count = 0;
	atomic_store(&p->b->hw->state, PRM_QP_STATE_INIT);
	t_post(p->a, &(struct t_wr){.opcode = READ,
				    .raddr = (uintptr_t)p->b->mem,
				    .rkey = p->b->key,
				    .sge = (struct t_sge[]){{1, 0, 8}},
				    .nsge = 1});
	t_assert_empty(&p->a->cq);
	t_now += park_ack_ns(&p->a->hw->path[0], 0) + 1;
	eng_run_due(&p->t->s);
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR, 0);
}

/* A QP that fails as responder flushes its posted sends, too. */
static void responder_flushes_its_sends(void **state)
{
	struct t_pair *p = *state;

	atomic_store(&p->b->hw->park, HW_PARK_RETRY);
	atomic_store(&p->b->hw->park_deadline, UINT64_MAX);
	t_post(p->b, &(struct t_wr){.opcode = MLX5_OPCODE_NOP});
	t_assert_empty(&p->b->cq);
	t_post(p->a, &(struct t_wr){.opcode = WRITE,
				    .rkey = 1,
				    .sge = (struct t_sge[]){t_own(p->a, 0, 1)},
				    .nsge = 1});
	expect_flushed(p->b, MLX5_CQE_REQ_ERR, 0);
}

static void flush_on_command(void **state)
{
	struct t_pair *p = *state;

	t_recv_at(p->a, 0, 8);
	t_recv_at(p->a, 0, 8);
	assert_int_equal(eng_qp_set_state(&p->t->s, p->a->qpn, PRM_QP_STATE_ERR), 0);
	expect_flushed(p->a, MLX5_CQE_RESP_ERR, 0);
	expect_flushed(p->a, MLX5_CQE_RESP_ERR, 1);
	t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_NOP});
	expect_flushed(p->a, MLX5_CQE_REQ_ERR, 0);
	/* A receive posted to a QP in ERR rings no doorbell; the device thread finds it. */
	t_recv_at(p->a, 0, 8);
	t_assert_empty(&p->a->cq);
	assert_true(eng_run_due(&p->t->s) <= t_now + 10000000);
	expect_flushed(p->a, MLX5_CQE_RESP_ERR, 2);
	/* After RESET the QP works again. */
	assert_int_equal(eng_qp_set_state(&p->t->s, p->a->qpn, PRM_QP_STATE_RST), 0);
	p->a->sq_pi = p->a->rq_pi = 0;
	memset(p->a->dbr, 0, 8);
	assert_int_equal(eng_run_due(&p->t->s), UINT64_MAX);
	t_rts(p->a, p->b);
	t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
	t_expect_done(p->a, MLX5_OPCODE_NOP, 0);
}

/* The same after an error of its own send queue, which has nothing else to wait for. */
static void a_receive_after_an_error_of_the_sender_is_flushed(void **state)
{
	struct t_pair *p = *state;
	struct t_sge sge = t_own(p->a, 0, 8);
	struct t_wr wr = {.opcode = SEND, .sge = &sge, .nsge = 1};

	assert_int_equal(eng_run_due(&p->t->s), UINT64_MAX);
	sge.key ^= 1;
	t_post(p->a, &wr);
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, PROT, 0);
	t_recv_at(p->a, 0, 8);
	assert_true(eng_run_due(&p->t->s) <= t_now + 10000000);
	expect_flushed(p->a, MLX5_CQE_RESP_ERR, 0);
}

/* A device thread that will look soon is not woken for that, a long sleeper is. */
static void device_thread_is_woken_in_time(void **state)
{
	struct t_pair *p = *state;
	struct seg_proc *me = seg_proc(&p->t->s, p->t->s.self);
	uint32_t wake = me->wake;

	atomic_store(&me->sleeps_until, 0); /* it runs now, and reads `look` before it sleeps */
	assert_int_equal(eng_qp_set_state(&p->t->s, p->a->qpn, PRM_QP_STATE_ERR), 0);
	assert_true(me->wake == wake && me->parked && me->look);
	atomic_store(&me->sleeps_until, UINT64_MAX);
	assert_int_equal(eng_qp_set_state(&p->t->s, p->b->qpn, PRM_QP_STATE_ERR), 0);
	assert_int_equal(me->wake, wake + 1);
}

/* A doorbell record that counts more receives than the queue holds: each WQE is flushed once. */
static void flush_counts_no_more_than_fit(void **state)
{
	struct t_pair *p = *state;

	p->a->dbr[MLX5_RCV_DBR] = htobe32(1000);
	assert_int_equal(eng_qp_set_state(&p->t->s, p->a->qpn, PRM_QP_STATE_ERR), 0);
	for (uint32_t i = 0; i < 1u << T_RQ_LOG; i++)
		expect_flushed(p->a, MLX5_CQE_RESP_ERR, i);
	t_assert_empty(&p->a->cq);
	assert_int_equal(hw_cq_error(p->a->cq.hw), 0);
}

/* The first message in RTR raises COMM_EST, once. */
static void comm_est(void **state)
{
	struct t_pair *p = *state;
	struct t_wr wr = {.opcode = WRITE,
			  .raddr = (uintptr_t)p->b->mem,
			  .rkey = p->b->key,
			  .inl = "x",
			  .inl_len = 1};

	t_post(p->a, &wr);
	assert_int_equal(t_event(p->t, p->b->evq), -1);
	p->b->hw->state = PRM_QP_STATE_RTR;
	t_post(p->a, &wr);
	assert_int_equal(t_event(p->t, p->b->evq), IBV_EVENT_COMM_EST);
	t_post(p->a, &wr);
	assert_int_equal(t_event(p->t, p->b->evq), -1);
}

/* Both ends' path MTUs differ: what fits one packet of either arrives, and nothing else. */
static void path_mtus_differ(void **state)
{
	static const struct {
		uint32_t own, theirs, len;
		bool fits;
	} rows[] = {{1024, 256, 256, true},   {1024, 256, 257, false},  {1024, 256, 4096, false},
		    {256, 1024, 256, true},   {256, 1024, 257, false},  {4096, 1024, 1024, true},
		    {1024, 1024, 4096, true}, {1024, 4096, 2048, false}};

	for (size_t i = 0; i < 2 * (sizeof(rows) / sizeof(rows[0])); i++) {
		size_t k = i / 2;
		struct t_pair *p;
		struct t_sge sge;

		t_pair_setup((void **)&p);
		p->a->hw->mtu = rows[k].own;
		p->b->hw->mtu = rows[k].theirs;
		memset(p->a->mem, 0x5a, 4096);
		sge = t_own(p->a, 0, rows[k].len);
		t_recv_at(p->b, 0, 4096);
		if (i % 2)
			t_write(p->a, p->b, 0, sge);
		else
			t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND,
						    .fm_ce_se = T_SIG,
						    .sge = &sge,
						    .nsge = 1});
		if (rows[k].fits) {
			t_expect_done(p->a, i % 2 ? MLX5_OPCODE_RDMA_WRITE : MLX5_OPCODE_SEND, 0);
			assert_memory_equal(p->b->mem, p->a->mem, rows[k].len);
		} else {
			t_expect_error(p->a, MLX5_CQE_REQ_ERR,
				       MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR, 0);
			assert_int_equal(p->b->mem[0], 0);
			assert_int_equal(t_state(p->b), PRM_QP_STATE_ERR);
			assert_int_equal(t_event(p->t, p->b->evq), IBV_EVENT_QP_REQ_ERR);
		}
		t_pair_teardown((void **)&p);
	}
}

/* The memory of the SQ is unmapped. */
static void send_queue_unmapped(void **state)
{
	struct t_pair *p = *state;

	p->a->dbr[MLX5_SND_DBR] = htobe32(1);
	p->a->hw->sq_va = 4096;
	t_ring(p->a);
	assert_int_equal(p->a->hw->state, PRM_QP_STATE_ERR);
	assert_int_equal(t_event(p->t, p->a->evq), IBV_EVENT_QP_FATAL);
	t_assert_empty(&p->a->cq);
	/* The doorbell record is unmapped, too. */
	p->b->hw->dbr_va = 4096;
	t_ring(p->b);
	assert_int_equal(p->b->hw->state, PRM_QP_STATE_RTS);
}

/* Random bytes (fixed seed) that no library would write: any result is fine, without harm. */
static uint32_t rnd(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void garbage(struct t_qp *q, uint32_t *seed)
{
	static const uint8_t opcodes[] = {0, 1, 8, 9, 0xa, 0xb, 0xe, 0x10, 0x11, 0x25};

	for (uint32_t i = 0; i < WQE_BB << T_SQ_LOG; i++)
		q->sq[i] = rnd(seed) % 4 ? (uint8_t)rnd(seed) : 0;
	for (uint32_t i = 0; i < 1u << T_SQ_LOG; i++) {
		uint8_t *w = q->sq + i * WQE_BB;

		if (rnd(seed) % 8)
			LAYOUT_SET(wqe_ctrl, w, qpn, q->qpn);
		if (rnd(seed) % 8)
			LAYOUT_SET(wqe_ctrl, w, opcode, opcodes[rnd(seed) % sizeof(opcodes)]);
		if (rnd(seed) % 4)
			LAYOUT_SET(wqe_ctrl, w, ds, rnd(seed) % 8);
		for (uint32_t seg = 1; seg < 4; seg++) {
			if (rnd(seed) % 2)
				LAYOUT_SET(wqe_data, w + seg * 16, byte_count, rnd(seed) % 70000);
			if (rnd(seed) % 2)
				LAYOUT_SET(wqe_data, w + seg * 16, lkey, q->key);
			if (rnd(seed) % 2)
				LAYOUT_SET(wqe_data, w + seg * 16, addr, (uintptr_t)q->mem);
		}
	}
	for (uint32_t i = 0; i < 1u << (T_RQ_LOG + T_RQ_STRIDE_LOG); i++)
		q->rq[i] = (uint8_t)rnd(seed);
}

static void any_bytes(void **state)
{
	struct t_pair *p = *state;
	uint32_t seed = 4711;

	for (int round = 0; round < 300; round++) {
		struct t_qp *q[2] = {p->a, p->b};

		for (int i = 0; i < 2; i++) {
			assert_int_equal(eng_qp_set_state(&p->t->s, q[i]->qpn, PRM_QP_STATE_RST),
					 0);
			q[i]->cq.ci = q[i]->cq.hw->pi;
			q[i]->cq.dbr[T_SET_CI] = htobe32(q[i]->cq.ci & 0xffffff);
			atomic_store(&q[i]->cq.hw->state, 0);
			q[i]->hw->st = round % 3 ? PRM_ST_RC : PRM_ST_UD;
			garbage(q[i], &seed);
		}
		t_connect(p->a, p->b);
		for (int i = 0; i < 2; i++) {
			q[i]->dbr[MLX5_RCV_DBR] = htobe32(rnd(&seed));
			q[i]->dbr[MLX5_SND_DBR] =
				htobe32(rnd(&seed) % 2 ? rnd(&seed) : rnd(&seed) % 64);
			t_ring(q[i]);
			t_now += 100000000;
			eng_run_due(&p->t->s);
		}
		for (int i = 0; i < 2; i++) {
			assert_int_equal(q[i]->hw->sq_lock.word, 0);
			assert_int_equal(q[i]->hw->rq_lock.word, 0);
			assert_int_equal(q[i]->cq.hw->lock.word, 0);
		}
	}
}

/* Every failure has a syndrome, a vendor code and words. */
static void failures_are_documented(void **state)
{
	for (int i = ENG_W_NONE + 1; i < ENG_W_COUNT; i++) {
		assert_int_not_equal(eng_failures[i].syndrome, 0);
		assert_int_not_equal(eng_failures[i].vendor_err, 0);
		assert_non_null(eng_failures[i].text);
		assert_string_not_equal(cqe_syndrome_name(eng_failures[i].syndrome), "?");
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, t_pair_setup, t_pair_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table),
		cmocka_unit_test(numbers_of_cards),
		cmocka_unit_test(answers_that_do_not_land),
		T(a_bad_lkey_waits_for_the_answer),
		T(responder_flushes_its_sends),
		T(flush_on_command),
		T(device_thread_is_woken_in_time),
		T(a_receive_after_an_error_of_the_sender_is_flushed),
		T(flush_counts_no_more_than_fit),
		T(comm_est),
		T(send_queue_unmapped),
		T(path_mtus_differ),
		T(any_bytes),
		cmocka_unit_test(failures_are_documented),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
