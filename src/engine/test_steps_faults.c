/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The page of another process is away while a sender copies, and is back, or not, before the sender
 * looks again (test_faults.c: of the same process).
 */
#include "engine/test_steps.h"
#include "util/cleanup.h"

#include <sys/mman.h>

#define LEN 64
#define REM_ACC MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR
#define REM_OP MLX5_CQE_SYNDROME_REMOTE_OP_ERR

static uint8_t opcode; /* of the request */

static void act(struct scene *x, struct t_qp *c)
{
	struct t_sge sge = t_own(c, 0, LEN);
	struct mlx5_err_cqe *cqe;

	memset(c->mem, 0xaa, LEN);
	t_post(c, &(struct t_wr){.opcode = opcode,
				 .fm_ce_se = T_SIG,
				 .raddr = (uintptr_t)x->b->mem,
				 .rkey = x->b->key,
				 .sge = &sge,
				 .nsge = 1});
	cqe = (void *)t_poll(&c->cq);
	CHECK(cqe);
	x->e->board->a_key = cqe->op_own >> 4 == MLX5_CQE_REQ_ERR ? cqe->syndrome : 0;
	x->e->board->a_mem = c->mem[0];
}

static void page_goes(struct scene *x)
{
	assert_int_equal(mprotect(x->b->mem, 4096, PROT_NONE), 0);
}

static void page_returns(struct scene *x)
{
	assert_int_equal(mprotect(x->b->mem, 4096, PROT_READ | PROT_WRITE), 0);
}

/* The syndrome of the sender's CQE; 0: success. */
static uint32_t request(uint8_t op, bool returns)
{
	static const struct scenario is = {
		.name = "fault", .st = PRM_ST_RC, .setup = page_goes, .act = act};
	struct scene x = {.is = &is, .spec = "copy-faulted:stop:1"};
	uint32_t syndrome, state;
	void *bed;

	opcode = op;
	bed_setup(&bed);
	x.e = bed;
	scene_setup(&x, child);
	tell(x.e->go[1]);
	assert_int_equal(waitpid(x.e->pid, &x.status, WUNTRACED), x.e->pid);
	x.stopped = WIFSTOPPED(x.status);
	assert_true(x.stopped);
	if (returns)
		page_returns(&x);
	scene_go_on(&x, SIGCONT);
	page_returns(&x);
	syndrome = x.e->board->a_key;
	state = t_state(x.b);
	assert_int_equal(state, syndrome ? PRM_QP_STATE_ERR : PRM_QP_STATE_RTS);
	if (!syndrome)
		assert_int_equal(x.b->mem[0], x.e->board->a_mem);
	assert_int_equal(count_cqes(&x, MLX5_CQE_RESP_SEND), !syndrome && op == MLX5_OPCODE_SEND);
	scene_end(&x);
	return syndrome;
}

static const struct {
	uint8_t opcode, syndrome;
} rows[] = {
	{MLX5_OPCODE_SEND, REM_OP},
	{MLX5_OPCODE_RDMA_WRITE, REM_ACC},
	{MLX5_OPCODE_RDMA_WRITE_IMM, REM_ACC},
	{MLX5_OPCODE_RDMA_READ, REM_ACC},
};

static void a_fault_that_is_gone_harms_nobody(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(request(rows[i].opcode, true), 0);
}

static void a_fault_that_stays_is_the_receivers(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(request(rows[i].opcode, false), rows[i].syndrome);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fault_that_is_gone_harms_nobody),
		cmocka_unit_test(a_fault_that_stays_is_the_receivers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
