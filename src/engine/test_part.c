/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whole packets before a failure have landed, never a part of one, and the PSNs of both ends say
 * how many: measured on ConnectX-5 and -6 (unionxic/rdma-fault-characterization: partial_write,
 * ab_recovery, 05). Of READs, SENDs and UC it is inferred.
 */
#include "engine/test.h"
#include "hw/mkey.h"
#include "hw/qp.h"

#include <infiniband/verbs.h>

#define PAGE 4096u
#define PKTS 8u
#define LEN (PKTS * T_MTU - 7)

enum { WRITE, WRITE_IMM, READ, SEND };
static const uint8_t opcodes[] = {MLX5_OPCODE_RDMA_WRITE, MLX5_OPCODE_RDMA_WRITE_IMM,
				  MLX5_OPCODE_RDMA_READ, MLX5_OPCODE_SEND};

/* The message's memory ends at `edge`, on that side. */
enum { REMOTE_KEY, LOCAL_KEY, REMOTE_PAGE, LOCAL_PAGE, SHORT_RECEIVE, CAUSES };

struct scene {
	struct t_pair *p;
	uint8_t *from, *to;
	uint32_t a_psn, b_psn;
};

static uint32_t after(uint32_t psn, uint32_t n)
{
	return (psn + n) & 0xffffff;
}

/* The message begins at `off` of both memories. */
static void begin_at(struct scene *x, int op, int cause, uint32_t off, uint32_t edge,
		     enum prm_st st)
{
	struct t_qp *ends[2], *spoilt;
	struct t_sge sge;

	t_pair_setup((void **)&x->p);
	ends[0] = x->p->a;
	ends[1] = x->p->b;
	ends[0]->hw->st = ends[1]->hw->st = st;
	x->from = ends[op == READ]->mem + off;
	x->to = ends[op != READ]->mem + off;
	if (op == READ)
		memcpy(x->from, x->to, LEN);
	memset(x->to, 0xee, 2 * LEN);
	spoilt = ends[cause == REMOTE_KEY || cause == REMOTE_PAGE];
	if (cause == REMOTE_KEY || cause == LOCAL_KEY)
		hw_mkey(&x->p->t->s, spoilt->key)->len = edge;
	if (cause == REMOTE_PAGE || cause == LOCAL_PAGE)
		mprotect(spoilt->mem + edge, PAGE, PROT_NONE);
	t_recv_at(ends[1], off, cause == SHORT_RECEIVE ? edge : LEN);
	x->a_psn = ends[0]->hw->next_send_psn;
	x->b_psn = ends[1]->hw->next_rcv_psn;
	sge = t_own(ends[0], off, LEN);
	t_post(ends[0], &(struct t_wr){.opcode = opcodes[op],
				       .fm_ce_se = T_SIG,
				       .raddr = (uintptr_t)ends[1]->mem + off,
				       .rkey = ends[1]->key,
				       .sge = &sge,
				       .nsge = 1});
	if (cause == REMOTE_PAGE || cause == LOCAL_PAGE)
		mprotect(spoilt->mem + edge, PAGE, PROT_READ | PROT_WRITE);
}

static void begin(struct scene *x, int op, int cause, uint32_t edge, enum prm_st st)
{
	begin_at(x, op, cause, 0, edge, st);
}

static void landed(const struct scene *x, uint32_t packets)
{
	assert_memory_equal(x->to, x->from, packets * T_MTU);
	for (uint32_t i = packets * T_MTU; i < 2 * LEN; i++)
		assert_int_equal(x->to[i], 0xee);
}

static uint8_t syndrome(struct t_qp *q, uint8_t opcode)
{
	const struct mlx5_err_cqe *e = (void *)t_poll(&q->cq);

	assert_non_null(e);
	assert_int_equal(e->op_own >> 4, opcode);
	return e->syndrome;
}

static const uint8_t requester[] = {
	[REMOTE_KEY] = MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR,
	[LOCAL_KEY] = MLX5_CQE_SYNDROME_LOCAL_PROT_ERR,
	[REMOTE_PAGE] = MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR,
	[LOCAL_PAGE] = MLX5_CQE_SYNDROME_LOCAL_PROT_ERR,
	[SHORT_RECEIVE] = MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR,
};

static uint8_t expected(int op, int cause)
{
	return op == SEND && (cause == REMOTE_KEY || cause == REMOTE_PAGE)
		       ? MLX5_CQE_SYNDROME_REMOTE_OP_ERR
		       : requester[cause];
}

/* At every edge: at the start, inside of a packet, between two, and in the last one. */
static void keys(void **state)
{
	static const uint32_t edges[] = {
		0,         1,         T_MTU - 1,       T_MTU,
		T_MTU + 1, 3 * T_MTU, 4 * T_MTU + 500, 7 * T_MTU - 1,
		7 * T_MTU, LEN - 1,
	};

	for (int op = WRITE; op <= SEND; op++)
		for (int cause = 0; cause < CAUSES; cause++)
			for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
				uint32_t n = edges[i] / T_MTU;
				struct scene x;
				struct t_qp *a, *b;

				if (cause == REMOTE_PAGE || cause == LOCAL_PAGE ||
				    (cause == SHORT_RECEIVE && (op != SEND || !edges[i])))
					continue;
				begin(&x, op, cause, edges[i], PRM_ST_RC);
				a = x.p->a;
				b = x.p->b;
				assert_int_equal(syndrome(a, MLX5_CQE_REQ_ERR),
						 expected(op, cause));
				landed(&x, n);
				assert_int_equal(t_state(a), PRM_QP_STATE_ERR);
				if (op == READ && cause == LOCAL_KEY)
					n = PKTS; /* the responder has sent all */
				assert_int_equal(a->hw->next_send_psn, after(x.a_psn, n));
				assert_int_equal(b->hw->next_rcv_psn, after(x.b_psn, n));
				assert_int_equal(t_state(b), cause == LOCAL_KEY ? PRM_QP_STATE_RTS
										: PRM_QP_STATE_ERR);
				if (op == SEND && cause != LOCAL_KEY)
					syndrome(b, MLX5_CQE_RESP_ERR);
				else if (cause == LOCAL_KEY)
					t_assert_empty(&b->cq);
				t_pair_teardown((void **)&x.p);
			}
}

static void pages(void **state)
{
	for (int op = WRITE; op <= SEND; op++)
		for (int cause = REMOTE_PAGE; cause <= LOCAL_PAGE; cause++)
			for (uint32_t off = 0; off < PAGE; off += T_MTU / 2) {
				uint32_t n = (PAGE - off) / T_MTU;
				struct scene x;

				begin_at(&x, op, cause, off, PAGE, PRM_ST_RC);
				assert_int_equal(syndrome(x.p->a, MLX5_CQE_REQ_ERR),
						 expected(op, cause));
				assert_memory_equal(x.to, x.from, n * T_MTU);
				if (off % T_MTU == 0) /* no packet crosses the edge */
					landed(&x, n);
				if (op == READ && cause == LOCAL_PAGE)
					n = PKTS;
				assert_int_equal(x.p->a->hw->next_send_psn, after(x.a_psn, n));
				assert_int_equal(x.p->b->hw->next_rcv_psn, after(x.b_psn, n));
				t_pair_teardown((void **)&x.p);
			}
}

/* Nobody answers a UC requester: it has sent all packets, unless its own memory ends. */
static void uc(void **state)
{
	for (int op = WRITE; op <= SEND; op++)
		for (int cause = REMOTE_KEY; cause <= LOCAL_KEY; cause++) {
			bool own = cause == LOCAL_KEY;
			struct scene x;

			if (op == READ || (op == SEND && !own))
				continue;
			begin(&x, op, cause, 3 * T_MTU + 1, PRM_ST_UC);
			if (own)
				assert_int_equal(syndrome(x.p->a, MLX5_CQE_REQ_ERR),
						 MLX5_CQE_SYNDROME_LOCAL_PROT_ERR);
			else
				t_expect_done(x.p->a, opcodes[op], 0);
			landed(&x, 3);
			assert_int_equal(x.p->a->hw->next_send_psn, after(x.a_psn, own ? 3 : PKTS));
			assert_int_equal(x.p->b->hw->next_rcv_psn, after(x.b_psn, 3));
			t_pair_teardown((void **)&x.p);
		}
}

static void post_to_nobody(struct t_pair *p, uint32_t len, uint8_t fence)
{
	struct t_sge sge = t_own(p->a, 0, len);

	t_post(p->a,
	       &(struct t_wr){.opcode = fence ? MLX5_OPCODE_RDMA_READ : MLX5_OPCODE_RDMA_WRITE,
			      .fm_ce_se = T_SIG | fence,
			      .raddr = (uintptr_t)p->b->mem,
			      .rkey = p->b->key,
			      .sge = &sge,
			      .nsge = 1});
}

/* All packets that nobody answered were sent, those behind a READ's fence excepted. */
static void unanswered(void **state)
{
	for (int by_program = 0; by_program < 2; by_program++) {
		struct t_pair *p;
		uint32_t psn;

		t_pair_setup((void **)&p);
		t_set_state(p->b, PRM_QP_STATE_ERR);
		p->a->hw->retry_count = 0;
		psn = p->a->hw->next_send_psn;
		for (uint32_t i = 1; i <= 4; i++)
			post_to_nobody(p, i * T_MTU, 0);
		post_to_nobody(p, 1, MLX5_WQE_CTRL_INITIATOR_SMALL_FENCE);
		post_to_nobody(p, T_MTU, MLX5_WQE_CTRL_FENCE);
		assert_int_equal(p->a->hw->next_send_psn, psn);
		if (by_program)
			assert_int_equal(eng_qp_set_state(&p->t->s, p->a->qpn, PRM_QP_STATE_ERR),
					 0);
		while (t_state(p->a) != PRM_QP_STATE_ERR) {
			t_now = atomic_load(&p->a->hw->park_deadline) + 1;
			eng_run_due(&p->t->s);
		}
		assert_int_equal(p->a->hw->next_send_psn, after(psn, 1 + 2 + 3 + 4 + 1));
		t_pair_teardown((void **)&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys),
		cmocka_unit_test(pages),
		cmocka_unit_test(uc),
		cmocka_unit_test(unanswered),
	};

	return cmocka_run_group_tests_name("engine parts of messages", tests, NULL, NULL);
}
