/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Indirect keys: lists, strides, and errors in them. */
#include "engine/test_keys.h"
#include "hw/mkey.h"
#include "hw/qp_state.h"
#include "wire/prm/mkey.h"
#include <infiniband/verbs.h>
#include <sys/mman.h>

static void test_a_list_of_keys(void **state)
{
	struct t_pair *p = *state;
	uint8_t *m = p->b->mem;
	const struct klm list[] = {{p->b->key, (uintptr_t)m + 1000, 10},
				   {0, 0, 0}, /* padding */
				   {p->b->key, (uintptr_t)m + 50, 3},
				   {p->b->key, (uintptr_t)m + 5000, 100}};
	uint32_t key = list_key(p->t, p->t->pd[1], PRM_MKC_KLM, list, 4, 0x7000, 113);

	transfer(p, MLX5_OPCODE_RDMA_WRITE, p->a->key, (uintptr_t)p->a->mem, 113, key, 0x7000);
	assert_memory_equal(m + 1000, p->a->mem, 10);
	assert_memory_equal(m + 50, p->a->mem + 10, 3);
	assert_memory_equal(m + 5000, p->a->mem + 13, 100);
	assert_int_equal(m[1010] | m[53] | m[5100] | m[999] | m[49], 0);
	/* a WRITE from the middle of the key; then a READ back */
	transfer(p, MLX5_OPCODE_RDMA_READ, p->a->key, (uintptr_t)p->a->mem + 0x1000, 8, key,
		 0x7000 + 8);
	assert_memory_equal(p->a->mem + 0x1000, p->a->mem + 8, 8);
}

static void test_equal_parts(void **state)
{
	struct t_pair *p = *state;
	uint8_t *m = p->b->mem;
	const struct klm list[] = {{p->b->key, (uintptr_t)m + 0x5000, 0},
				   {p->b->key, (uintptr_t)m + 0x2000, 0}};
	uint32_t key = list_key(p->t, p->t->pd[1], PRM_MKC_KSM, list, 2, 0x100123, 0x2000);

	transfer(p, MLX5_OPCODE_RDMA_WRITE, p->a->key, (uintptr_t)p->a->mem, 0x1100, key,
		 0x100123 + 0xf00);
	assert_memory_equal(m + 0x5f00, p->a->mem, 0x100);
	assert_memory_equal(m + 0x2000, p->a->mem + 0x100, 0x1000);
	assert_int_equal(m[0x6000] | m[0x3000] | m[0x5eff], 0);
}

/* More pieces than a list has entries, on both sides, for each direction of data. */
static void test_many_pieces(void **state)
{
	struct t_pair *p = *state;
	uint32_t a = strided_key(p->a, 0, 200, 7, 11), b = strided_key(p->b, 1, 400, 5, 16);
	struct t_sge sge = {a, 0, 2800};
	uint32_t i;

	transfer(p, MLX5_OPCODE_RDMA_WRITE, a, 0, 2800, b, 1000);
	for (i = 0; i < 2800; i++) {
		uint32_t at = i + 1000;
		uint8_t from = p->a->mem[i % 14 / 7 * 0x8000 + i / 14 * 11 + i % 7];

		assert_int_equal(p->b->mem[at % 10 / 5 * 0x8000 + at / 10 * 16 + at % 5], from);
	}
	transfer(p, MLX5_OPCODE_RDMA_READ, p->a->key, (uintptr_t)p->a->mem + 0x20000, 2800, b,
		 1000);
	for (i = 0; i < 2800; i++)
		assert_int_equal(p->a->mem[0x20000 + i],
				 p->a->mem[i % 14 / 7 * 0x8000 + i / 14 * 11 + i % 7]);
	memset(p->b->mem, 0, 0x10000);
	t_recv(p->b, &(struct t_sge){b, 0, 4000}, 1);
	t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .sge = &sge, .nsge = 1});
	t_received(p->b, MLX5_CQE_RESP_SEND, 2800, 0);
	for (i = 0; i < 2800; i++)
		assert_int_equal(p->b->mem[i % 10 / 5 * 0x8000 + i / 10 * 16 + i % 5],
				 p->a->mem[i % 14 / 7 * 0x8000 + i / 14 * 11 + i % 7]);
}

/* They are looked up when they are copied; absent pages are counted for their key even so. */
static void test_many_pieces_on_demand(void **state)
{
	struct t_pair *p = *state;
	uint32_t b = strided_key(p->b, 1, 400, 5, 16);
	struct hw_mkey *mk = hw_mkey(&p->t->s, p->b->key);

	mk->odp = 1;
	assert_int_equal(madvise(p->b->mem, T_MEM, MADV_DONTNEED), 0);
	transfer(p, MLX5_OPCODE_RDMA_WRITE, p->a->key, (uintptr_t)p->a->mem, 4000, b, 0);
	assert_int_equal(mk->faults, 4); /* two in each half */
	transfer(p, MLX5_OPCODE_RDMA_READ, p->a->key, (uintptr_t)p->a->mem, 4000, b, 0);
	assert_int_equal(mk->faults, 4);
}

static void test_dump_and_fill(void **state)
{
	struct t_pair *p = *state;
	const struct klm list[] = {{p->b->key, (uintptr_t)p->b->mem, 8},
				   {HW_KEY_DUMP_FILL, 0, 6000},
				   {p->b->key, (uintptr_t)p->b->mem + 8, 8}};
	uint32_t key = list_key(p->t, p->t->pd[1], PRM_MKC_KLM, list, 3, 0, 6016);
	struct t_sge fill[2] = {{HW_KEY_DUMP_FILL, 0, 5000}, t_own(p->a, 0, 4)};
	struct t_sge dump[2] = {{HW_KEY_DUMP_FILL, 0, 4}, t_own(p->b, 0x4000, 0x2000)};

	transfer(p, MLX5_OPCODE_RDMA_WRITE, p->a->key, (uintptr_t)p->a->mem, 6016, key, 0);
	assert_memory_equal(p->b->mem, p->a->mem, 8);
	assert_memory_equal(p->b->mem + 8, p->a->mem + 6008, 8);
	memset(p->b->mem + 0x4000, 0xee, 0x2000);
	t_recv(p->b, dump, 2);
	t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .sge = fill, .nsge = 2});
	t_received(p->b, MLX5_CQE_RESP_SEND, 5004, 0);
	for (uint32_t i = 0; i < 4996; i++)
		assert_int_equal(p->b->mem[0x4000 + i], 0);
	assert_memory_equal(p->b->mem + 0x4000 + 4996, p->a->mem, 4);
	assert_int_equal(p->b->mem[0x4000 + 5000], 0xee);
}

static void test_lists_of_lists(void **state)
{
	struct t_pair *p = *state;
	struct klm next = {p->b->key, (uintptr_t)p->b->mem, 64};
	struct t_sge sge = t_own(p->a, 0, 64);
	struct t_wr wr = {.opcode = MLX5_OPCODE_RDMA_WRITE, .sge = &sge, .nsge = 1};

	for (int depth = 1; depth <= HW_MAX_INDIRECTION; depth++) {
		next.key = list_key(p->t, p->t->pd[1], PRM_MKC_KLM, &next, 1, 0, 64);
		next.addr = 0;
		memset(p->b->mem, 0, 64);
		transfer(p, MLX5_OPCODE_RDMA_WRITE, p->a->key, (uintptr_t)p->a->mem, 64, next.key,
			 0);
		assert_memory_equal(p->b->mem, p->a->mem, 64);
	}
	wr.rkey = list_key(p->t, p->t->pd[1], PRM_MKC_KLM, &next, 1, 0, 64);
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR,
		       t_post(p->a, &wr));
}

/* A key that contains itself ends, too. */
static void test_a_list_of_itself(void **state)
{
	struct t_pair *p = *state;
	struct hw_mkey *mk = t_indirect_key(p->t, p->t->pd[1], PRM_MKC_KLM, 1);
	struct t_sge sge = t_own(p->a, 0, 64);
	struct t_wr wr = {
		.opcode = MLX5_OPCODE_RDMA_WRITE, .sge = &sge, .nsge = 1, .rkey = mk->key};

	entry_set((void *)hw_klm_entry(&p->t->s, mk, 0), &(struct klm){mk->key, 0, 64});
	mk->klm_n = 1;
	key_open(mk, 0, 64, ALL);
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR,
		       t_post(p->a, &wr));
}

/* Errors in a list when it is used: an rkey with one entry, and the damage to it. */
static void part_free(struct tb *t, struct hw_mkey *mk, struct hw_mkey *part)
{
	atomic_store(&part->free, 1);
}
static void part_gone(struct tb *t, struct hw_mkey *mk, struct hw_mkey *part)
{
	atomic_store(&part->valid, 0);
}
static void part_other_pd(struct tb *t, struct hw_mkey *mk, struct hw_mkey *part)
{
	part->pdn = t->pd[0];
}
static void part_other_qp(struct tb *t, struct hw_mkey *mk, struct hw_mkey *part)
{
	part->qpn = 0x3f;
}
static void part_read_only(struct tb *t, struct hw_mkey *mk, struct hw_mkey *part)
{
	part->access = HW_ACC_LOCAL_READ | HW_ACC_REMOTE_READ | HW_ACC_REMOTE_WRITE;
}
static void part_short(struct tb *t, struct hw_mkey *mk, struct hw_mkey *part)
{
	part->len = 63;
}
static void list_short(struct tb *t, struct hw_mkey *mk, struct hw_mkey *part)
{
	entry_set((void *)hw_klm_entry(&t->s, mk, 0), &(struct klm){part->key, part->start, 63});
}
static void list_empty(struct tb *t, struct hw_mkey *mk, struct hw_mkey *part)
{
	mk->klm_n = 0;
}
static void key_free(struct tb *t, struct hw_mkey *mk, struct hw_mkey *part)
{
	atomic_store(&mk->free, 1);
}
static void key_short(struct tb *t, struct hw_mkey *mk, struct hw_mkey *part)
{
	mk->len = 63;
}
static void null_part(struct tb *t, struct hw_mkey *mk, struct hw_mkey *part)
{
	entry_set((void *)hw_klm_entry(&t->s, mk, 0), &(struct klm){HW_KEY_NULL, 0, 64});
}

static void test_what_is_wrong_with_lists(void **state)
{
	static void (*const spoil[])(struct tb *, struct hw_mkey *, struct hw_mkey *) = {
		part_free,  part_gone,  part_other_pd, part_other_qp, part_read_only, part_short,
		list_short, list_empty, key_free,      key_short,     null_part};

	for (size_t i = 0; i < sizeof(spoil) / sizeof(spoil[0]); i++) {
		struct t_pair *p;
		void *st;
		struct klm one;
		struct t_sge sge;
		struct t_wr wr;

		assert_int_equal(t_pair_setup(&st), 0);
		p = st;
		one = (struct klm){p->b->key, (uintptr_t)p->b->mem, 64};
		sge = t_own(p->a, 0, 64);
		wr = (struct t_wr){.opcode = MLX5_OPCODE_RDMA_WRITE, .sge = &sge, .nsge = 1};
		wr.rkey = list_key(p->t, p->t->pd[1], PRM_MKC_KLM, &one, 1, 0, 64);
		spoil[i](p->t, hw_mkey(&p->t->s, wr.rkey), hw_mkey(&p->t->s, p->b->key));
		print_message("  %zu\n", i);
		t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR,
			       t_post(p->a, &wr));
		assert_int_equal(p->b->mem[0], 0);
		t_pair_teardown(&st);
	}
}

/*
 * perftest's --use-null-mr gives the null MR's lkey to the other end as rkey (set_up_connection()),
 * for WRITEs and READs.
 */
static void test_the_null_mr_for_others(void **state)
{
	static const struct mlx5_wqe_atomic_seg one = {.swap_add = 0x0100000000000000};
	static const struct {
		uint8_t opcode;
		uint32_t key;
		bool works;
	} null_rows[] = {
		{MLX5_OPCODE_RDMA_WRITE, HW_KEY_DUMP_FILL, true},
		{MLX5_OPCODE_RDMA_READ, HW_KEY_DUMP_FILL, true},
		{MLX5_OPCODE_ATOMIC_FA, HW_KEY_DUMP_FILL, false},
		{MLX5_OPCODE_RDMA_WRITE, HW_KEY_NULL, false},
		{MLX5_OPCODE_RDMA_READ, HW_KEY_NULL, false},
	};

	for (size_t i = 0; i < sizeof(null_rows) / sizeof(null_rows[0]); i++) {
		bool atomic = null_rows[i].opcode == MLX5_OPCODE_ATOMIC_FA;
		bool reads = null_rows[i].opcode == MLX5_OPCODE_RDMA_READ;
		struct t_pair *p;
		struct t_sge sge;
		uint32_t at;

		t_pair_setup((void **)&p);
		sge = t_own(p->a, 0, 3 * T_MTU);
		at = t_post(p->a, &(struct t_wr){.opcode = null_rows[i].opcode,
						 .fm_ce_se = T_SIG,
						 .rkey = null_rows[i].key,
						 .raddr = 0x12340,
						 .operands = atomic ? &one : NULL,
						 .operands_len = atomic ? sizeof(one) : 0,
						 .sge = &sge,
						 .nsge = 1});
		if (null_rows[i].works)
			t_expect_done(p->a, null_rows[i].opcode, at);
		else
			t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR,
				       at);
		assert_int_equal(t_state(p->b),
				 null_rows[i].works ? PRM_QP_STATE_RTS : PRM_QP_STATE_ERR);
		for (uint32_t n = 1; n < 3 * T_MTU && null_rows[i].works && reads; n++)
			assert_int_equal(p->a->mem[n], 0);
		t_pair_teardown((void **)&p);
	}
}

static void test_atomics_on_lists(void **state)
{
	struct t_pair *p = *state;
	const struct klm list[] = {{p->b->key, (uintptr_t)p->b->mem + 64, 8},
				   {p->b->key, (uintptr_t)p->b->mem + 128, 4},
				   {p->b->key, (uintptr_t)p->b->mem + 256, 4}};
	uint32_t key = list_key(p->t, p->t->pd[1], PRM_MKC_KLM, list, 3, 0, 16);
	const struct mlx5_wqe_atomic_seg one = {.swap_add = htobe64(1)};
	struct t_sge sge = t_own(p->a, 0, 8);
	struct t_wr wr = {.opcode = MLX5_OPCODE_ATOMIC_FA,
			  .fm_ce_se = T_SIG,
			  .rkey = key,
			  .operands = &one,
			  .operands_len = sizeof(one),
			  .sge = &sge,
			  .nsge = 1};

	t_expect_done(p->a, MLX5_OPCODE_ATOMIC_FA, t_post(p->a, &wr));
	assert_int_equal(p->b->mem[64], 1);
	wr.raddr = 8; /* a word in two halves: refused */
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR,
		       t_post(p->a, &wr));
	assert_int_equal(p->b->mem[128] | p->b->mem[256], 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, t_pair_setup, t_pair_teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_list_of_keys),
		T(test_equal_parts),
		T(test_many_pieces),
		T(test_many_pieces_on_demand),
		T(test_dump_and_fill),
		T(test_lists_of_lists),
		T(test_a_list_of_itself),
		cmocka_unit_test(test_what_is_wrong_with_lists),
		cmocka_unit_test(test_the_null_mr_for_others),
		T(test_atomics_on_lists),
	};

	return cmocka_run_group_tests_name("engine klm", tests, NULL, NULL);
}
