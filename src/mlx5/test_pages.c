/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pages of the device (UAR, VAR), packet pacing entries, and the owners of umems. */
#include "hw/cq.h"
#include "hw/hca.h"
#include "hw/uar.h"
#include "hw/umem.h"
#include "mlx5/test.h"
#include "mlx5/test_verbs.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/cq.h"
#include "wire/prm/opcodes.h"
#include "wire/prm/qos.h"

/* ---- VAR */

static int var_alloc(struct test_env *e, uint64_t *off, uint32_t *page, uint32_t *handle)
{
	struct ib_uverbs_attr *a;
	struct test_call c;
	uint32_t len = 0;
	int r;

	test_begin(&c, MLX5_IB_OBJECT_VAR, MLX5_IB_METHOD_VAR_OBJ_ALLOC);
	a = test_idr(&c, MLX5_IB_ATTR_VAR_OBJ_ALLOC_HANDLE, 0);
	test_out(&c, MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_OFFSET, off, sizeof(*off));
	test_out(&c, MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_LENGTH, &len, sizeof(len));
	test_out(&c, MLX5_IB_ATTR_VAR_OBJ_ALLOC_PAGE_ID, page, sizeof(*page));
	r = test_do(e, &c);
	*handle = (uint32_t)a->data;
	if (r == 0)
		assert_int_equal(len, 4096);
	return r;
}

static int destroy_obj(struct test_env *e, uint16_t object, uint16_t method, uint16_t attr,
		       uint32_t h)
{
	struct test_call c;

	test_begin(&c, object, method);
	test_idr(&c, attr, h);
	return test_do(e, &c);
}

static int var_destroy(struct test_env *e, uint32_t h)
{
	return destroy_obj(e, MLX5_IB_OBJECT_VAR, MLX5_IB_METHOD_VAR_OBJ_DESTROY,
			   MLX5_IB_ATTR_VAR_OBJ_DESTROY_HANDLE, h);
}

static void test_vars_are_pages_of_their_own(void **state)
{
	struct test_env *e = *state;
	uint32_t page, page2, h, h2, uar, uh;
	uint64_t off, off2, uoff;
	int err = 0;

	test_open_context(e, true);
	assert_int_equal(var_alloc(e, &off, &page, &h), 0);
	assert_int_equal(var_alloc(e, &off2, &page2, &h2), 0);
	assert_int_equal(test_uar_alloc(e, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC, &uoff, &uar, &uh), 0);
	assert_int_not_equal(page, page2);
	assert_int_not_equal(off, off2);
	assert_int_not_equal(off, uoff);
	/* mapped twice, as any page; its stores have no effect */
	for (int i = 0; i < 2; i++) {
		assert_ptr_not_equal(uv_mmap(e->f, NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
					     (off_t)off, &err),
				     MAP_FAILED);
		assert_int_equal(test_map.uar, SEG_NONE);
	}
	uv_mmap(e->f, NULL, 4096, PROT_WRITE, MAP_SHARED, (off_t)uoff, &err);
	assert_int_equal(test_map.uar, uar);
	assert_int_equal(var_destroy(e, h), 0);
	assert_ptr_equal(uv_mmap(e->f, NULL, 4096, PROT_WRITE, MAP_SHARED, (off_t)off, &err),
			 MAP_FAILED);
	assert_int_equal(err, -EINVAL);
	/* the number is free again, although the page was mapped */
	assert_null(hw_uar(&e->seg, page));
	assert_int_equal(var_destroy(e, h), -ENOENT);
	assert_int_equal(var_destroy(e, h2), 0);
}

static void test_no_more_vars(void **state)
{
	struct test_env *e = *state;
	uint32_t page, h;
	uint64_t off;

	test_open_context(e, true);
	seg_table(&e->seg, SEG_T_UAR)->capacity = 2;
	assert_int_equal(var_alloc(e, &off, &page, &h), -ENOSPC);
}

/* No queue can use a VAR's page for doorbells. */
static void test_vars_are_no_uars(void **state)
{
	struct test_env *e = *state;
	uint8_t in[LAYOUT_SZ(create_cq_in)] = {0}, out[LAYOUT_SZ(create_cq_out)];
	void *cqc = LAYOUT_IN(create_cq_in, cq_context, in);
	uint32_t page, h, id, uh, cq;
	uint64_t off;
	uint8_t *p;

	test_open_context(e, true);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_int_equal(var_alloc(e, &off, &page, &h), 0);
	assert_int_equal(test_umem_reg(e, (uintptr_t)p, 4096, IBV_ACCESS_LOCAL_WRITE, &id, &uh), 0);
	LAYOUT_SET(cmd_in, in, opcode, PRM_OP_CREATE_CQ);
	LAYOUT_SET(create_cq_in, in, cq_umem_id, id);
	LAYOUT_SET(cqc, cqc, c_eqn, 1);
	LAYOUT_SET(cqc, cqc, uar_page, page);
	LAYOUT_SET(cqc, cqc, log_cq_size, 2);
	LAYOUT_SET(cqc, cqc, dbr_umem_id, id);
	LAYOUT_SET(cqc, cqc, dbr_addr, 0x800);
	assert_int_equal(test_devx_create(e, in, sizeof(in), out, sizeof(out), &cq), -EREMOTEIO);
	assert_int_equal(LAYOUT_GET(cmd_out, out, status), FW_BAD_RES);
	munmap(p, 4096);
}

/* ---- UAR */

static void test_uar_types(void **state)
{
	struct test_env *e = *state;
	uint32_t page, h;
	uint64_t off;

	test_open_context(e, true);
	assert_int_equal(test_uar_alloc(e, 0, &off, &page, &h), 0);
	assert_int_not_equal(page, 0);
	assert_int_equal(test_uar_alloc(e, 1, &off, &page, &h), 0);
	assert_int_equal(test_uar_alloc(e, 2, &off, &page, &h), -EOPNOTSUPP);
	/* newer libraries' NC_DEDICATED is a type 1 for the kernel */
	assert_int_equal(test_uar_alloc(e, 1U << 31, &off, &page, &h), -EOPNOTSUPP);
	assert_int_equal(test_uar_alloc(e, UINT64_C(1) << 32, &off, &page, &h), -EINVAL);
	assert_int_equal(test_owned(e, SEG_T_UAR), 2);
}

/* ---- PP */

static int pp_alloc_raw(struct test_env *e, const void *ctx, size_t len, uint64_t flags,
			uint16_t *index, uint32_t *handle)
{
	struct ib_uverbs_attr *a;
	struct test_call c;
	int r;

	test_begin(&c, MLX5_IB_OBJECT_PP, MLX5_IB_METHOD_PP_OBJ_ALLOC);
	a = test_idr(&c, MLX5_IB_ATTR_PP_OBJ_ALLOC_HANDLE, 0);
	test_in(&c, MLX5_IB_ATTR_PP_OBJ_ALLOC_CTX, ctx, len);
	test_in(&c, MLX5_IB_ATTR_PP_OBJ_ALLOC_FLAGS, &flags, sizeof(flags));
	test_out(&c, MLX5_IB_ATTR_PP_OBJ_ALLOC_INDEX, index, sizeof(*index));
	r = test_do(e, &c);
	*handle = (uint32_t)a->data;
	return r;
}

static int pp_alloc(struct test_env *e, uint32_t rate, bool dedicated, uint16_t *index, uint32_t *h)
{
	uint8_t ctx[0x30] = {0};

	LAYOUT_SET(set_pp_rate_limit_context, ctx, rate_limit, rate);
	return pp_alloc_raw(e, ctx, sizeof(ctx), dedicated, index, h);
}

static int pp_destroy(struct test_env *e, uint32_t h)
{
	return destroy_obj(e, MLX5_IB_OBJECT_PP, MLX5_IB_METHOD_PP_OBJ_DESTROY,
			   MLX5_IB_ATTR_PP_OBJ_DESTROY_HANDLE, h);
}

static void test_equal_limits_share_a_place(void **state)
{
	struct test_env *e = *state, e2 = *e;
	uint16_t a, b, c, d, other;
	uint32_t ha, hb, hc, hd, ho;

	test_open_context(e, true);
	e2.file = test_file_new(&e2, &e2.f);
	test_open_context(&e2, true);
	assert_int_equal(pp_alloc(e, 100, false, &a, &ha), 0);
	assert_int_equal(a, 1);
	assert_int_equal(pp_alloc(&e2, 100, false, &b, &hb), 0);
	assert_int_equal(b, a);
	assert_int_equal(pp_alloc(e, 100, true, &c, &hc), 0);
	assert_int_equal(c, 2);
	assert_int_equal(pp_alloc(e, 100, true, &d, &hd), 0);
	assert_int_equal(d, 3);
	assert_int_equal(pp_alloc(e, 101, false, &other, &ho), 0);
	assert_int_equal(other, 4);
	/* the entry is free after its last user: destroyed, or closed with the file */
	assert_int_equal(pp_destroy(e, ha), 0);
	assert_int_equal(pp_destroy(e, hc), 0);
	assert_int_equal(pp_alloc(e, 7, false, &c, &hc), 0);
	assert_int_equal(c, 2);
	fw_reap_file(&e->seg, e2.file);
	assert_int_equal(pp_alloc(e, 8, false, &a, &ha), 0);
	assert_int_equal(a, 1);
	uv_release(e2.f, true);
}

static void test_limits_of_limits(void **state)
{
	const struct hw_caps *caps = fw_caps(HW_CX6);
	struct test_env *e = *state;
	uint8_t ctx[0x34] = {0};
	uint16_t index;
	uint32_t h;

	test_open_context(e, true);
	assert_int_equal(pp_alloc(e, 0, false, &index, &h), -EINVAL);
	assert_int_equal(pp_alloc(e, caps->pp_max_rate + 1, false, &index, &h), -EINVAL);
	assert_int_equal(pp_alloc(e, caps->pp_max_rate, false, &index, &h), 0);
	/* pyverbs passes four bytes; a limit of 0, and one above the maximum */
	ctx[3] = 100;
	assert_int_equal(pp_alloc_raw(e, ctx, 4, 0, &index, &h), 0);
	assert_int_equal(pp_alloc_raw(e, ctx, 0, 0, &index, &h), -EINVAL);
	assert_int_equal(pp_alloc_raw(e, ctx, 0x31, 0, &index, &h), -EINVAL);
	assert_int_equal(pp_alloc_raw(e, ctx, 4, 2, &index, &h), -EINVAL);
	for (uint32_t i = 2; i < caps->pp_table_size - 1; i++)
		assert_int_equal(pp_alloc(e, 100, true, &index, &h), 0);
	assert_int_equal(index, caps->pp_table_size - 1);
	assert_int_equal(pp_alloc(e, 100, true, &index, &h), -ENOSPC);
	assert_int_equal(pp_alloc(e, 100, false, &index, &h), 0);
}

static void test_limits_need_a_uid(void **state)
{
	struct test_env *e = *state;
	uint16_t index;
	uint32_t h;

	test_open_context(e, false);
	assert_int_equal(pp_alloc(e, 100, false, &index, &h), -EINVAL);
}

/* ---- umems */

/* No DEVX command can name the umem that the driver has made for a verbs queue. */
static void test_umems_of_the_driver_cannot_be_named(void **state)
{
	uint8_t in[LAYOUT_SZ(create_cq_in)] = {0}, out[LAYOUT_SZ(create_cq_out)];
	void *cqc = LAYOUT_IN(create_cq_in, cq_context, in);
	struct test_env *e = *state;
	uint32_t own, uh, cq, cqn;
	struct mlx5_ib_create_cq req;
	struct verbs v;

	verbs_open(&v, e);
	req = cq_request(&v);
	assert_int_equal(create_cq(&v, &req, 3, &cq, &cqn), 0);
	assert_int_equal(hw_umem(&e->seg, hw_cq(&e->seg, cqn)->buf_umem)->uid, 0);
	assert_int_equal(hw_umem(&e->seg, hw_cq(&e->seg, cqn)->dbr_umem)->uid, 0);
	assert_int_equal(
		test_umem_reg(e, (uintptr_t)v.mem + 4096, 8192, IBV_ACCESS_LOCAL_WRITE, &own, &uh),
		0);
	LAYOUT_SET(cmd_in, in, opcode, PRM_OP_CREATE_CQ);
	LAYOUT_SET(create_cq_in, in, cq_umem_id, hw_cq(&e->seg, cqn)->buf_umem);
	LAYOUT_SET(cqc, cqc, c_eqn, 1);
	LAYOUT_SET(cqc, cqc, uar_page, v.uar);
	LAYOUT_SET(cqc, cqc, dbr_umem_id, own);
	LAYOUT_SET(cqc, cqc, dbr_addr, 0x1800);
	assert_int_equal(test_devx_create(e, in, sizeof(in), out, sizeof(out), &cq), -EREMOTEIO);
	assert_int_equal(LAYOUT_GET(cmd_out, out, syndrome), 0x4000a);
	LAYOUT_SET(create_cq_in, in, cq_umem_id, own);
	assert_int_equal(test_devx_create(e, in, sizeof(in), out, sizeof(out), &cq), 0);
	verbs_close(&v);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, test_setup, test_teardown)
	const struct CMUnitTest tests[] = {
		T(test_vars_are_pages_of_their_own),
		T(test_no_more_vars),
		T(test_vars_are_no_uars),
		T(test_uar_types),
		T(test_equal_limits_share_a_place),
		T(test_limits_of_limits),
		T(test_limits_need_a_uid),
		T(test_umems_of_the_driver_cannot_be_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
