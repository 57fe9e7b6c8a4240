/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Contexts that have their UARs from the start: registers that QPs get, pages that can be mapped.
 */
#include "mlx5/test.h"
#include "mlx5/priv.h"
#include "wire/prm/cmd_hdr.h"

static void open_static(struct test_env *e, uint32_t total, uint32_t low, size_t request)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req = test_request(true);
	struct mlx5_ib_alloc_ucontext_resp r;

	req.lib_caps = 0;
	req.total_num_bfregs = total;
	req.num_low_latency_bfregs = low;
	assert_int_equal(test_get_context(e, &req, request, &r, sizeof(r)), 0);
	assert_int_equal(r.tot_bfregs, (total + 1) / 2 * 2);
	assert_int_equal(r.num_dyn_bfregs, 1024);
	assert_int_equal(test_owned(e, SEG_T_UAR), (total + 1) / 2);
}

static struct mlx5_context *context(struct test_env *e)
{
	return mlx5_context(&e->f->context);
}

static int map(struct test_env *e, uint32_t cmd, uint32_t index)
{
	uint64_t off = (uint64_t)((index >> 8) << 16 | cmd << 8 | (index & 0xff)) << 12;
	int err = 0;

	uv_mmap(e->f, NULL, 4096, PROT_WRITE, MAP_SHARED, (off_t)off, &err);
	return err;
}

static void registers_by_class(void **state)
{
	/*
	 * of 8 registers, 5 to 7 serve one QP each; 1 to 4 are shared; 0 is used when there is no
	 * other
	 */
	static const int order[] = {5, 6, 7, 1, 2, 3, 4, 1, 2};
	struct test_env *e = *state;

	open_static(e, 8, 3, sizeof(struct mlx5_ib_alloc_ucontext_req_v2));
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		assert_int_equal(mlx5_bfreg_alloc(context(e)), order[i]);
	mlx5_bfreg_free(context(e), 6);
	assert_int_equal(mlx5_bfreg_alloc(context(e)), 6);
	mlx5_bfreg_free(context(e), 3);
	assert_int_equal(mlx5_bfreg_alloc(context(e)), 3);
	assert_int_equal(mlx5_bfreg_user(5), 2 * 4 + 1);
	assert_int_equal(mlx5_bfreg_uar(context(e), 5), context(e)->bfregs.page[2]);
}

static void registers_without_shared_ones(void **state)
{
	struct test_env *e = *state;

	open_static(e, 2, 1, sizeof(struct mlx5_ib_alloc_ucontext_req_v2));
	assert_int_equal(mlx5_bfreg_alloc(context(e)), 1);
	assert_int_equal(mlx5_bfreg_alloc(context(e)), 0);
	assert_int_equal(mlx5_bfreg_alloc(context(e)), 0);
}

static void the_oldest_libraries_have_one_register(void **state)
{
	struct test_env *e = *state;

	open_static(e, 8, 3, sizeof(struct mlx5_ib_alloc_ucontext_req));
	assert_int_equal(mlx5_bfreg_alloc(context(e)), 0);
	assert_int_equal(mlx5_bfreg_alloc(context(e)), 0);
}

static void none_with_dynamic_uars(void **state)
{
	struct test_env *e = *state;

	test_open_context(e, true);
	assert_int_equal(mlx5_bfreg_alloc(context(e)), -EINVAL);
	for (uint32_t cmd = 0; cmd < 7; cmd++)
		if (cmd != 1 && cmd != 5)
			assert_int_equal(map(e, cmd, 0), -EINVAL);
	assert_int_equal(test_owned(e, SEG_T_UAR), 0);
}

static void mapping_pages(void **state)
{
	struct test_env *e = *state;
	int err = 0;

	open_static(e, 6, 2, sizeof(struct mlx5_ib_alloc_ucontext_req_v2));
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(map(e, i == 0 ? 0 : i + 1, i), 0);
		assert_int_equal(test_map.uar, context(e)->bfregs.page[i]);
	}
	assert_int_equal(map(e, 0, 3), -EINVAL);
	assert_int_equal(map(e, 6, 511), 0);
	assert_int_equal(test_map.uar, context(e)->bfregs.page[3 + 511]);
	assert_int_equal(map(e, 6, 511), -EINVAL);
	assert_int_equal(map(e, 6, 512), -EINVAL);
	assert_int_equal(test_owned(e, SEG_T_UAR), 4);
	uv_mmap(e->f, NULL, 4096, PROT_WRITE, MAP_PRIVATE, 6 << 20, &err);
	assert_int_equal(err, -EINVAL);
	assert_int_equal(test_owned(e, SEG_T_UAR), 4); /* freed again */
}

static int query_uar(struct test_env *e, uint32_t n, uint32_t *uar)
{
	struct test_call c;

	test_begin(&c, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_UAR);
	test_in(&c, MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX, &n, sizeof(n));
	test_out(&c, MLX5_IB_ATTR_DEVX_QUERY_UAR_DEV_IDX, uar, sizeof(*uar));
	return test_do(e, &c);
}

static void registers_of_mapped_pages_have_a_uar(void **state)
{
	struct test_env *e = *state;
	uint32_t uar;

	open_static(e, 6, 2, sizeof(struct mlx5_ib_alloc_ucontext_req_v2));
	assert_int_equal(query_uar(e, 4, &uar), -EINVAL); /* the page is not mapped yet */
	assert_int_equal(map(e, 6, 2), 0);
	assert_int_equal(query_uar(e, 5, &uar), 0);
	assert_int_equal(uar, test_map.uar);
	assert_int_equal(query_uar(e, 6, &uar), -EINVAL);
	assert_int_equal(query_uar(e, 1025, &uar), -EINVAL);
	assert_int_equal(query_uar(e, UINT32_MAX, &uar), -EINVAL);
}

static void a_context_that_fails_gives_its_pages_back(void **state)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req = test_request(true);
	struct mlx5_ib_alloc_ucontext_resp r;
	struct test_env *e = *state;

	req.lib_caps = 0;
	assert_int_equal(test_get_context(e, &req, sizeof(req), (void *)8, sizeof(r)), -EFAULT);
	req.total_num_bfregs = 0;
	assert_int_equal(test_get_context(e, &req, sizeof(req), &r, sizeof(r)), -EINVAL);
	req.total_num_bfregs = 513;
	assert_int_equal(test_get_context(e, &req, sizeof(req), &r, sizeof(r)), -ENOMEM);
	assert_int_equal(test_owned(e, SEG_T_UAR), 0);
	assert_int_equal(seg_file(&e->seg, e->file)->uid, 0);
	open_static(e, 512, 4, sizeof(req));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, test_setup, test_teardown)
	const struct CMUnitTest tests[] = {
		T(registers_by_class),
		T(registers_without_shared_ones),
		T(the_oldest_libraries_have_one_register),
		T(none_with_dynamic_uars),
		T(mapping_pages),
		T(registers_of_mapped_pages_have_a_uar),
		T(a_context_that_fails_gives_its_pages_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
