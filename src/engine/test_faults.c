/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A page that is away only for a moment (a fault that others resolve): while the first copy, or the
 * first two, look at it. One moment harms nobody; after two the side whose page it was is blamed.
 */
#include "engine/test.h"
#include "hw/qp_state.h"
#include "segment/mem.h"
#include "util/cleanup.h"

#include <infiniband/verbs.h>
#include <signal.h>
#include <sys/mman.h>

#define PAGE 4096u
#define AT (16 * PAGE) /* place of the message in either memory */
#define LEN (3 * PAGE) /* the page in its middle is away */

static uint8_t *away;
static int looks; /* faults until the page is there again */

static void on_fault(int sig, siginfo_t *info, void *uc)
{
	uintptr_t at = (uintptr_t)info->si_addr;

	if (at - (uintptr_t)away >= PAGE || !mem_guard_fixup(uc)) {
		signal(sig, SIG_DFL);
		return;
	}
	if (!--looks)
		mprotect(away, PAGE, PROT_READ | PROT_WRITE);
}

static void page_goes(uint8_t *page, int n)
{
	static struct sigaction act = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

	assert_int_equal(sigaction(SIGSEGV, &act, NULL), 0);
	away = page;
	looks = n;
	assert_int_equal(mprotect(page, PAGE, PROT_NONE), 0);
	mem_guard_armed = true;
}

static void page_stays(void)
{
	mem_guard_armed = false;
	signal(SIGSEGV, SIG_DFL);
	mprotect(away, PAGE, PROT_READ | PROT_WRITE);
}

#define PROT MLX5_CQE_SYNDROME_LOCAL_PROT_ERR
#define REM_ACC MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR
#define REM_OP MLX5_CQE_SYNDROME_REMOTE_OP_ERR

static const struct row {
	uint8_t opcode;
	bool remote; /* the page is the responder's */
	bool receives;
	uint8_t syndrome; /* of the requester, when the page is away twice */
	bool b_err;
} rows[] = {
	{MLX5_OPCODE_SEND, false, true, PROT, false},
	{MLX5_OPCODE_SEND, true, true, REM_OP, true},
	{MLX5_OPCODE_RDMA_WRITE, false, false, PROT, false},
	{MLX5_OPCODE_RDMA_WRITE, true, false, REM_ACC, true},
	{MLX5_OPCODE_RDMA_WRITE_IMM, false, true, PROT, false},
	{MLX5_OPCODE_RDMA_WRITE_IMM, true, true, REM_ACC, true},
	{MLX5_OPCODE_RDMA_READ, false, false, PROT, false},
	{MLX5_OPCODE_RDMA_READ, true, false, REM_ACC, true},
	{MLX5_OPCODE_ATOMIC_FA, false, false, PROT, false},
};

static void post(const struct row *row, struct t_pair *p)
{
	static const struct mlx5_wqe_atomic_seg one = {.swap_add = 0x0100000000000000};
	bool atomic = row->opcode == MLX5_OPCODE_ATOMIC_FA;
	struct t_sge sge = t_own(p->a, atomic ? AT + PAGE : AT, atomic ? 8 : LEN);
	struct t_wr wr = {.opcode = row->opcode,
			  .fm_ce_se = T_SIG,
			  .raddr = (uintptr_t)p->b->mem + AT,
			  .rkey = p->b->key,
			  .sge = &sge,
			  .nsge = 1};

	if (atomic) {
		wr.operands = &one;
		wr.operands_len = sizeof(one);
	}
	if (row->receives)
		t_recv_at(p->b, AT, LEN);
	t_post(p->a, &wr);
}

static struct t_pair *run(const struct row *row, int n)
{
	struct t_pair *p;

	t_pair_setup((void **)&p);
	page_goes((row->remote ? p->b : p->a)->mem + AT + PAGE, n);
	post(row, p);
	page_stays();
	assert_int_equal(looks, 0);
	return p;
}

static void a_fault_that_is_gone_harms_nobody(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct t_pair *p = run(&rows[i], 1);

		t_expect_done(p->a, rows[i].opcode, 0);
		if (rows[i].opcode != MLX5_OPCODE_ATOMIC_FA)
			assert_memory_equal(p->a->mem + AT, p->b->mem + AT, LEN);
		assert_int_equal(t_state(p->b), PRM_QP_STATE_RTS);
		assert_int_equal(t_event(p->t, p->b->evq), -1);
		t_pair_teardown((void **)&p);
	}
}

static void the_side_whose_copy_failed_is_blamed(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct t_pair *p = run(&rows[i], 2);

		t_expect_error(p->a, MLX5_CQE_REQ_ERR, rows[i].syndrome, 0);
		assert_int_equal(t_state(p->b),
				 rows[i].b_err ? PRM_QP_STATE_ERR : PRM_QP_STATE_RTS);
		t_pair_teardown((void **)&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fault_that_is_gone_harms_nobody),
		cmocka_unit_test(the_side_whose_copy_failed_is_blamed),
	};

#if !defined(__x86_64__)
	return 77; /* no handler of faults */
#endif
	return cmocka_run_group_tests(tests, NULL, NULL);
}
