/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copies within a protection domain, as mlx5dv_wr_memcpy() of libmlx5 posts them. */
#include "engine/test_keys.h"
#include "hw/mkey.h"
#include "hw/qp_limits.h"
#include "hw/qp_state.h"
#include "wire/prm/mkey.h"

#define FROM 0x100
#define TO 0x8000
#define LEN 5000

struct copy {
	uint32_t meta[4];
	struct mlx5_wqe_data_seg src, dest;
};

static struct copy copy_of(struct t_qp *q, uint32_t len)
{
	struct copy c = {0};

	mlx5dv_set_data_seg(&c.src, len, q->key, (uintptr_t)q->mem + FROM);
	mlx5dv_set_data_seg(&c.dest, len, q->key, (uintptr_t)q->mem + TO);
	return c;
}

static uint32_t post(struct t_qp *q, const struct copy *c, uint8_t opmod, uint32_t bytes)
{
	uint8_t raw[sizeof(*c) + 16] = {0}; /* room for the longest malformed WQE */

	memcpy(raw, c, sizeof(*c));
	return t_post(q, &(struct t_wr){.opcode = MLX5_OPCODE_MMO,
					.opmod = opmod,
					.fm_ce_se = T_SIG,
					.raw = raw,
					.raw_len = bytes});
}

static void copied(struct t_qp *q, const struct copy *c)
{
	t_expect_done(q, MLX5_OPCODE_MMO, post(q, c, WQE_OPMOD_MMO_DMA, sizeof(*c)));
}

static int setup(void **state)
{
	struct t_pair *p;

	t_pair_setup(state);
	p = *state;
	t_set_mmo(p->a, true);
	return 0;
}

static void test_memory_is_copied(void **state)
{
	struct t_pair *p = *state;
	struct copy c = copy_of(p->a, LEN);
	uint8_t before = p->a->mem[TO - 1], after = p->a->mem[TO + LEN];
	uint32_t psn = t_next_psn(p->a);

	copied(p->a, &c);
	assert_memory_equal(p->a->mem + TO, p->a->mem + FROM, LEN);
	assert_int_equal(p->a->mem[TO - 1], before);
	assert_int_equal(p->a->mem[TO + LEN], after);
	assert_int_equal(t_next_psn(p->a), psn);
	t_assert_empty(&p->b->cq);
}

/* No packet leaves: the other end is not needed. */
static void test_no_peer_is_needed(void **state)
{
	struct t_pair *p = *state;
	struct copy c = copy_of(p->a, LEN);

	t_set_state(p->b, PRM_QP_STATE_RST);
	copied(p->a, &c);
	assert_memory_equal(p->a->mem + TO, p->a->mem + FROM, LEN);
}

static void test_lists_of_keys_are_copied(void **state)
{
	struct t_pair *p = *state;
	uint32_t key = strided_key(p->a, 0, 100, 8, 16);
	struct copy c = copy_of(p->a, 1600), back = copy_of(p->a, 1600);

	mlx5dv_set_data_seg(&c.src, 1600, key, 0);
	copied(p->a, &c);
	for (uint32_t i = 0; i < 1600; i++)
		assert_int_equal(p->a->mem[TO + i],
				 p->a->mem[i % 16 / 8 * 0x8000 + i / 16 * 16 + i % 8]);
	/* and to a list */
	mlx5dv_set_data_seg(&back.dest, 1600, strided_key(p->a, 0, 100, 8, 32), 0);
	copied(p->a, &back);
	assert_memory_equal(p->a->mem + 32, p->a->mem + FROM + 16, 8);
}

/* The destination is longer than the source. */
static void test_the_source_gives_the_length(void **state)
{
	struct t_pair *p = *state;
	struct copy c = copy_of(p->a, LEN);
	uint8_t after = p->a->mem[TO + 64];

	c.src.byte_count = htobe32(64);
	copied(p->a, &c);
	assert_memory_equal(p->a->mem + TO, p->a->mem + FROM, 64);
	assert_int_equal(p->a->mem[TO + 64], after);
}

static void test_a_dc_initiator_copies(void **state)
{
	struct tb *t = *state;
	struct t_qp *q = t_qp_make(t, 0, PRM_ST_DCI, NULL);
	struct copy c = copy_of(q, LEN);

	t_set_mmo(q, true);
	memset(q->mem + FROM, 0x5a, LEN);
	assert_int_equal(eng_qp_set_state(&t->s, q->qpn, PRM_QP_STATE_RTS), 0);
	copied(q, &c);
	assert_memory_equal(q->mem + TO, q->mem + FROM, LEN);
	t_qp_free(q);
}

/* A row spoils a copy of LEN bytes. */
struct copy_row {
	const char *name;
	void (*spoil)(struct t_pair *p, struct copy *c, uint8_t *opmod, uint32_t *bytes);
	uint8_t syndrome;
};

#define ROW(n) static void n(struct t_pair *p, struct copy *c, uint8_t *opmod, uint32_t *bytes)
ROW(c_not_enabled)
{
	t_set_mmo(p->a, false);
}
ROW(c_opmod)
{
	*opmod = 2;
}
ROW(c_cut)
{
	*bytes = sizeof(*c) - 16;
}
ROW(c_long)
{
	*bytes = sizeof(*c) + 16;
}
ROW(c_inline)
{
	c->src.byte_count |= htobe32(MLX5_INLINE_SEG);
}
ROW(c_source_key)
{
	c->src.lkey = htobe32(0x123400);
}
ROW(c_source_pd)
{
	mlx5dv_set_data_seg(&c->src, LEN, p->b->key, (uintptr_t)p->b->mem);
}
ROW(c_source_range)
{
	c->src.addr = htobe64((uintptr_t)p->a->mem + T_MEM - LEN + 1);
}
ROW(c_dest_key)
{
	c->dest.lkey = htobe32(0x123400);
}
ROW(c_dest_pd)
{
	mlx5dv_set_data_seg(&c->dest, LEN, p->b->key, (uintptr_t)p->b->mem);
}
ROW(c_dest_right)
{
	c->dest.lkey = htobe32(
		t_key(p->t, p->t->pd[0], p->a->mem, T_MEM, HW_ACC_LOCAL_READ | HW_ACC_REMOTE_READ));
}
ROW(c_dest_range)
{
	c->dest.addr = htobe64((uintptr_t)p->a->mem + T_MEM - LEN + 1);
}
ROW(c_dest_unmapped)
{
	munmap(p->a->mem + TO, 4096);
}
ROW(c_dest_short)
{
	c->dest.byte_count = htobe32(LEN - 1);
}
ROW(c_too_long)
{
	c->src.byte_count = htobe32((1u << HW_LOG_MAX_MMO) + 1);
}
/* byte_count 0 means 2^31 */
ROW(c_longest)
{
	c->src.byte_count = 0;
}

#define PROT MLX5_CQE_SYNDROME_LOCAL_PROT_ERR
#define QP_OP MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR
#define LENGTH MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR
static const struct copy_row rows[] = {
	{"copies are not enabled", c_not_enabled, QP_OP},
	{"an operation other than DMA", c_opmod, QP_OP},
	{"no destination", c_cut, QP_OP},
	{"a segment too many", c_long, QP_OP},
	{"inline source", c_inline, QP_OP},
	{"source key unknown", c_source_key, PROT},
	{"source of another PD", c_source_pd, PROT},
	{"source outside of its region", c_source_range, PROT},
	{"destination key unknown", c_dest_key, PROT},
	{"destination of another PD", c_dest_pd, PROT},
	{"destination without local write", c_dest_right, PROT},
	{"destination outside of its region", c_dest_range, PROT},
	{"destination not mapped", c_dest_unmapped, PROT},
	{"destination too short", c_dest_short, LENGTH},
	{"longer than the capability", c_too_long, LENGTH},
	{"2^31 bytes", c_longest, LENGTH},
};

static void test_what_is_wrong_with_copies(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t opmod = WQE_OPMOD_MMO_DMA, was[LEN];
		uint32_t bytes = sizeof(struct copy), n;
		struct t_pair *p;
		struct copy c;

		setup((void **)&p);
		memcpy(was, p->a->mem + TO + 4096, LEN - 4096);
		c = copy_of(p->a, LEN);
		print_message("%s\n", rows[i].name);
		rows[i].spoil(p, &c, &opmod, &bytes);
		n = post(p->a, &c, opmod, bytes);
		t_expect_error(p->a, MLX5_CQE_REQ_ERR, rows[i].syndrome, n);
		assert_int_equal(t_state(p->a), PRM_QP_STATE_ERR);
		assert_memory_equal(p->a->mem + TO + 4096, was, LEN - 4096);
		t_pair_teardown((void **)&p);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, t_pair_teardown)
	const struct CMUnitTest tests[] = {
		T(test_memory_is_copied),
		T(test_no_peer_is_needed),
		T(test_lists_of_keys_are_copied),
		T(test_the_source_gives_the_length),
		cmocka_unit_test_setup_teardown(test_a_dc_initiator_copies, tb_setup, tb_teardown),
		cmocka_unit_test(test_what_is_wrong_with_copies),
	};

	return cmocka_run_group_tests_name("engine mmo", tests, NULL, NULL);
}
