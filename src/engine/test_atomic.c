/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Atomics: their results for all kinds and sizes, executed once, and by several requesters at once.
 */
#include "engine/test.h"
#include "util/sys.h"

#include <pthread.h>

static uint64_t *word(struct t_qp *q, uint32_t off)
{
	return (uint64_t *)(q->mem + off);
}

/*
 * Post an atomic with `n` 64-bit operands from a to b's word at `off`; the answer goes to a's
 * offset 0.
 */
static void post(struct t_pair *p, uint8_t opcode, uint8_t opmod, const uint64_t *operands,
		 uint32_t n, uint32_t off, uint32_t len)
{
	struct t_sge sge = t_own(p->a, 0, len);
	uint64_t be[4];
	struct t_wr wr = {.opcode = opcode,
			  .opmod = opmod,
			  .fm_ce_se = T_SIG,
			  .raddr = (uintptr_t)p->b->mem + off,
			  .rkey = p->b->key,
			  .operands = be,
			  .operands_len = n * 8,
			  .sge = &sge,
			  .nsge = 1};
	uint32_t at;

	for (uint32_t i = 0; i < n; i++)
		be[i] = htobe64(operands[i]);
	memset(p->a->mem, 0xee, 64);
	at = t_post(p->a, &wr);
	t_expect_done(p->a, opcode, at);
}

static void test_compare_and_swap(void **state)
{
	struct t_pair *p = *state;

	*word(p->b, 64) = 5;
	post(p, MLX5_OPCODE_ATOMIC_CS, 0, (uint64_t[]){0x1122334455667788, 5}, 2, 64, 8);
	assert_true(*word(p->a, 0) == 5);
	assert_true(*word(p->b, 64) == 0x1122334455667788);
	/* the comparison fails, so the word stays */
	post(p, MLX5_OPCODE_ATOMIC_CS, 0, (uint64_t[]){9, 5}, 2, 64, 8);
	assert_true(*word(p->a, 0) == 0x1122334455667788);
	assert_true(*word(p->b, 64) == 0x1122334455667788);
	assert_true(*word(p->b, 72) == 0);
	assert_true(*word(p->b, 56) == 0);
}

static void test_fetch_and_add(void **state)
{
	struct t_pair *p = *state;
	struct mlx5_cqe64 *c;

	*word(p->b, 0) = UINT64_MAX;
	post(p, MLX5_OPCODE_ATOMIC_FA, 0, (uint64_t[]){3, 0}, 2, 0, 8);
	assert_true(*word(p->a, 0) == UINT64_MAX);
	assert_true(*word(p->b, 0) == 2);
	/* a buffer of more than 8 bytes: only 8 are written */
	post(p, MLX5_OPCODE_ATOMIC_FA, 0, (uint64_t[]){1, 0}, 2, 0, 32);
	assert_true(*word(p->a, 0) == 2);
	assert_true(*word(p->a, 8) == 0xeeeeeeeeeeeeeeee);
	c = (void *)(p->a->cq.buf + 64);
	assert_int_equal(be32toh(c->byte_cnt), 8);
	assert_true(t_psns_agree(p->a, p->b));
}

static void test_masked_of_8_bytes(void **state)
{
	struct t_pair *p = *state;

	*word(p->b, 8) = 0xaaaabbbbccccdddd;
	/* compares the low half, swaps the second quarter */
	post(p, MLX5_OPCODE_ATOMIC_MASKED_CS, WQE_OPMOD_ATOMIC64,
	     (uint64_t[]){0x1111222233334444, 0xccccdddd, 0xffff00000000, 0xffffffff}, 4, 8, 8);
	assert_true(*word(p->a, 0) == 0xaaaabbbbccccdddd);
	assert_true(*word(p->b, 8) == 0xaaaa2222ccccdddd);
	/* fields of 16 bits: carries do not cross fields */
	*word(p->b, 8) = 0xffff0001ffff8000;
	post(p, MLX5_OPCODE_ATOMIC_MASKED_FA, WQE_OPMOD_ATOMIC64,
	     (uint64_t[]){0x0002000300018000, 0x8000800080008000}, 2, 8, 8);
	assert_true(*word(p->a, 0) == 0xffff0001ffff8000);
	assert_true(*word(p->b, 8) == 0x0001000400000000);
	/* mask without boundaries: one field */
	*word(p->b, 8) = 0xffffffff;
	post(p, MLX5_OPCODE_ATOMIC_MASKED_FA, WQE_OPMOD_ATOMIC64, (uint64_t[]){1, 0}, 2, 8, 8);
	assert_true(*word(p->b, 8) == 0x100000000);
}

#define TWO(hi, lo) ((uint64_t)(hi) << 32 | (lo))
static void test_masked_of_4_bytes(void **state)
{
	struct t_pair *p = *state;

	*word(p->b, 16) = TWO(0x55555555, 0xaabbccdd);
	post(p, MLX5_OPCODE_ATOMIC_MASKED_CS, WQE_OPMOD_ATOMIC32,
	     (uint64_t[]){TWO(0x11223344, 0xaa00cc00), TWO(0x0000ffff, 0xff00ff00)}, 2, 16, 4);
	assert_true(*word(p->a, 0) == TWO(0xeeeeeeee, 0xddccbbaa)); /* big-endian */
	assert_true(*word(p->b, 16) == TWO(0x55555555, 0xaabb3344));
	post(p, MLX5_OPCODE_ATOMIC_MASKED_FA, WQE_OPMOD_ATOMIC32,
	     (uint64_t[]){TWO(0x1111aaab, 0x80008000), 0}, 2, 20, 4);
	assert_true(*word(p->b, 16) == TWO(0x66660000, 0xaabb3344));
}

/* A requester that lost its state repeats an old PSN: the atomic is not executed twice. */
static void test_a_duplicate_is_not_executed(void **state)
{
	struct t_pair *p = *state;
	struct t_sge sge = t_own(p->a, 0, 8);
	const struct mlx5_wqe_atomic_seg one = {.swap_add = htobe64(1)};
	struct t_wr wr = {.opcode = MLX5_OPCODE_ATOMIC_FA,
			  .fm_ce_se = T_SIG,
			  .raddr = (uintptr_t)p->b->mem,
			  .rkey = p->b->key,
			  .operands = &one,
			  .operands_len = sizeof(one),
			  .sge = &sge,
			  .nsge = 1};

	*word(p->b, 0) = 7;
	t_expect_done(p->a, MLX5_OPCODE_ATOMIC_FA, t_post(p->a, &wr));
	*word(p->a, 0) = 0;
	t_repeat_psn(p->a);
	t_expect_done(p->a, MLX5_OPCODE_ATOMIC_FA, t_post(p->a, &wr));
	assert_true(*word(p->b, 0) == 8);
	assert_true(*word(p->a, 0) == 7);
}

/* Only the last answer is kept: one of before, or of before a reset, does not come. */
static void test_an_older_duplicate_has_no_answer(void **state)
{
	struct t_pair *p = *state;
	struct t_sge sge = t_own(p->a, 0, 8);
	const struct mlx5_wqe_atomic_seg one = {.swap_add = htobe64(1)};
	struct t_wr wr = {.opcode = MLX5_OPCODE_ATOMIC_FA,
			  .fm_ce_se = T_SIG,
			  .raddr = (uintptr_t)p->b->mem,
			  .rkey = p->b->key,
			  .operands = &one,
			  .operands_len = sizeof(one),
			  .sge = &sge,
			  .nsge = 1};

	t_expect_done(p->a, MLX5_OPCODE_ATOMIC_FA, t_post(p->a, &wr));
	t_expect_done(p->a, MLX5_OPCODE_ATOMIC_FA, t_post(p->a, &wr));
	t_repeat_psn(p->a);
	t_repeat_psn(p->a);
	t_post(p->a, &wr);
	t_assert_empty(&p->a->cq);
	assert_true(*word(p->b, 0) == 2);
}

/* A stopped process holds the word's lock: the atomic waits, then runs once. */
static void test_a_held_word_parks_the_requester(void **state)
{
	struct t_pair *p = *state;
	struct seg *s = &p->t->s;
	struct t_sge sge = t_own(p->a, 0, 8);
	const struct mlx5_wqe_atomic_seg one = {.swap_add = htobe64(1)};
	struct t_wr wr = {.opcode = MLX5_OPCODE_ATOMIC_FA,
			  .fm_ce_se = T_SIG,
			  .raddr = (uintptr_t)p->b->mem + 40,
			  .rkey = p->b->key,
			  .operands = &one,
			  .operands_len = sizeof(one),
			  .sge = &sge,
			  .nsge = 1};
	uint64_t at = (uintptr_t)(p->b->mem + 40) / 8 % MEM_WORD_LOCKS;
	struct seg_word *w = seg_at(s, SEG_T_WORD, (uint32_t)at);

	assert_int_equal(seg_lock(s, &w->lock, 0), 0);
	t_post(p->a, &wr);
	t_assert_empty(&p->a->cq);
	assert_int_equal(t_park(p->a), HW_PARK_LOCK);
	assert_true(*word(p->b, 40) == 0);
	seg_unlock(s, &w->lock);
	t_now += 2 * NSEC_PER_MSEC;
	eng_run_due(s);
	t_expect_done(p->a, MLX5_OPCODE_ATOMIC_FA, 0);
	assert_true(*word(p->b, 40) == 1);
}

#define ADDS 2000
static uint64_t plus_one(uint64_t was, const void *arg)
{
	return was + 1;
}

static void add_many(struct seg *s, struct mem_slot m, uint64_t va)
{
	uint64_t was;

	for (int i = 0; i < ADDS; i++)
		while (mem_atomic(s, m, va, 8, plus_one, NULL, &was) == -ETIMEDOUT)
			;
}

static void *by_processor(void *arg)
{
	for (int i = 0; i < ADDS; i++)
		__atomic_fetch_add((uint64_t *)arg, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

/*
 * Threads of this process add with instructions to a private word while the device does; two other
 * processes add to a shared word, one through its own mapping of the page.
 */
static void test_nothing_is_lost(void **state)
{
	struct tb *t = *state;
	uint64_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
				0),
		 *alias, own_word = 0;
	struct mem_slot us = mem_self(&t->s);
	pthread_t thread;
	pid_t pid[2];
	int st;

	assert_int_equal(pthread_create(&thread, NULL, by_processor, &own_word), 0);
	add_many(&t->s, us, (uintptr_t)&own_word);
	pthread_join(thread, NULL);
	assert_int_equal(own_word, 2 * ADDS);

	for (int i = 0; i < 2; i++) {
		pid[i] = fork();
		if (pid[i])
			continue;
		if (seg_proc_register_self(&t->s, 0))
			_exit(1);
		alias = mremap(shared, 0, 4096, MREMAP_MAYMOVE);
		if (i)
			add_many(&t->s, mem_self(&t->s), (uintptr_t)(alias + 3));
		else
			add_many(&t->s, us, (uintptr_t)(shared + 3));
		_exit(0);
	}
	add_many(&t->s, us, (uintptr_t)(shared + 3));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(waitpid(pid[i], &st, 0), pid[i]);
		assert_int_equal(st, 0);
	}
	assert_int_equal(shared[3], 3 * ADDS);
	assert_int_equal(mem_atomic(&t->s, us, (uintptr_t)shared + 2, 4, plus_one, NULL, shared),
			 -EINVAL);
	assert_int_equal(mem_atomic(&t->s, us, 4096, 8, plus_one, NULL, shared), -EFAULT);
	munmap(shared, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_compare_and_swap, t_pair_setup,
						t_pair_teardown),
		cmocka_unit_test_setup_teardown(test_fetch_and_add, t_pair_setup, t_pair_teardown),
		cmocka_unit_test_setup_teardown(test_masked_of_8_bytes, t_pair_setup,
						t_pair_teardown),
		cmocka_unit_test_setup_teardown(test_masked_of_4_bytes, t_pair_setup,
						t_pair_teardown),
		cmocka_unit_test_setup_teardown(test_a_duplicate_is_not_executed, t_pair_setup,
						t_pair_teardown),
		cmocka_unit_test_setup_teardown(test_an_older_duplicate_has_no_answer, t_pair_setup,
						t_pair_teardown),
		cmocka_unit_test_setup_teardown(test_a_held_word_parks_the_requester, t_pair_setup,
						t_pair_teardown),
		cmocka_unit_test_setup_teardown(test_nothing_is_lost, tb_setup, tb_teardown),
	};

	return cmocka_run_group_tests_name("engine atomics", tests, NULL, NULL);
}
