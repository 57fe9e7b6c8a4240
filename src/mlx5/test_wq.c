/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Work queues and tables of them on the real firmware: DEVX methods on their handles; a failed
 * creation leaves nothing. Each rule of the calls is a row of tests/abi.
 */
#include "mlx5/test.h"
#include "mlx5/test_verbs.h"
#include "util/for_tests.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/cq.h"
#include "wire/prm/opcodes.h"
#include "wire/prm/raw.h"
#include "wire/prm/rmp_srq.h"

#define EX(n) (UINT64_C(0x80000000) | IB_USER_VERBS_EX_CMD_##n)

static int make_wq(struct verbs *v, uint32_t cq, struct ib_uverbs_ex_create_wq_resp *resp)
{
	struct ib_uverbs_ex_create_wq cmd = {
		.pd_handle = v->pd, .cq_handle = cq, .max_wr = 4, .max_sge = 1};
	struct mlx5_ib_create_wq uhw = {
		.buf_addr = (uintptr_t)v->mem + 8192,
		.db_addr = (uintptr_t)v->mem + DBR_PAGE + 64,
		.rq_wqe_count = 4,
		.rq_wqe_shift = 6,
		.user_index = 0x123,
	};

	return test_write(v->e, &(struct test_write){.cmd = EX(CREATE_WQ),
						     WRITE_IN(cmd),
						     WRITE_OUT(*resp),
						     WRITE_UHW_IN(uhw)});
}

static int make_table(struct verbs *v, uint32_t wq,
		      struct ib_uverbs_ex_create_rwq_ind_table_resp *r)
{
	uint32_t cmd[4] = {0, 1, wq, wq};

	return test_write(v->e, &(struct test_write){.cmd = EX(CREATE_RWQ_IND_TBL),
						     .in = cmd,
						     .inlen = sizeof(cmd),
						     WRITE_OUT(*r)});
}

static int end(struct verbs *v, uint64_t command, uint32_t handle, size_t outlen)
{
	uint32_t cmd[2] = {0, handle}, out[4];

	return test_write(v->e, &(struct test_write){.cmd = command,
						     .in = cmd,
						     .inlen = sizeof(cmd),
						     .out = out,
						     .outlen = outlen});
}

static int query(struct verbs *v, uint32_t handle, enum prm_opcode op, uint32_t id, uint8_t *out)
{
	uint8_t in[LAYOUT_SZ(query_rq_in)] = {0};

	LAYOUT_SET(cmd_in, in, opcode, op);
	LAYOUT_SET(query_rq_in, in, rqn, id); /* QUERY_RQT has its number at the same place */
	return test_devx_obj(v->e, MLX5_IB_METHOD_DEVX_OBJ_QUERY, handle, in, sizeof(in), out,
			     1024);
}

static void devx_methods_on_their_handles(void **state)
{
	struct ib_uverbs_ex_create_rwq_ind_table_resp t;
	struct ib_uverbs_ex_create_wq_resp wq;
	struct mlx5_ib_create_cq uhw;
	uint8_t out[1024];
	const void *rqc = LAYOUT_IN(query_rq_out, rq_context, out);
	uint32_t cq, cqn;
	struct verbs v;

	verbs_open(&v, *state);
	uhw = cq_request(&v);
	assert_int_equal(create_cq(&v, &uhw, 15, &cq, &cqn), 0);
	assert_int_equal(make_wq(&v, cq, &wq), 0);
	assert_int_equal(make_table(&v, wq.wq_handle, &t), 0);

	assert_int_equal(query(&v, wq.wq_handle, PRM_OP_QUERY_RQ, wq.wqn, out), 0);
	assert_int_equal(LAYOUT_GET(rqc, rqc, cqn), cqn);
	assert_int_equal(LAYOUT_GET(rqc, rqc, user_index), 0x123);
	assert_int_equal(LAYOUT_GET(wq, LAYOUT_IN(rqc, wq, rqc), log_wq_sz), 2);
	assert_int_equal(query(&v, t.ind_tbl_handle, PRM_OP_QUERY_RQT, t.ind_tbl_num, out), 0);
	/* devx_is_valid_obj_id(): another number, another kind, another handle are refused */
	assert_int_equal(query(&v, wq.wq_handle, PRM_OP_QUERY_RQ, wq.wqn + 1, out), -EINVAL);
	assert_int_equal(query(&v, wq.wq_handle, PRM_OP_QUERY_RQT, t.ind_tbl_num, out), -EINVAL);
	assert_int_equal(query(&v, t.ind_tbl_handle, PRM_OP_QUERY_RQ, wq.wqn, out), -EINVAL);
	assert_int_equal(query(&v, cq, PRM_OP_QUERY_RQ, wq.wqn, out), -EINVAL);

	assert_int_equal(end(&v, EX(DESTROY_WQ), wq.wq_handle, 16), -EBUSY);
	assert_int_equal(end(&v, EX(DESTROY_RWQ_IND_TBL), t.ind_tbl_handle, 0), 0);
	assert_int_equal(end(&v, EX(DESTROY_WQ), wq.wq_handle, 16), 0);
	assert_int_equal(test_owned(v.e, SEG_T_OBJ), 0);
	verbs_close(&v);
}

static void no_memory_leaves_nothing(void **state)
{
	struct ib_uverbs_ex_create_rwq_ind_table_resp t;
	struct ib_uverbs_ex_create_wq_resp wq;
	struct mlx5_ib_create_cq uhw;
	unsigned int failed = 0, umems;
	uint32_t cq, cqn;
	struct verbs v;
	int r;

	verbs_open(&v, *state);
	uhw = cq_request(&v);
	assert_int_equal(create_cq(&v, &uhw, 15, &cq, &cqn), 0);
	umems = test_owned(v.e, SEG_T_UMEM);
	for (int n = 1;; n++, failed++) {
		heap_fail_at(n);
		r = make_wq(&v, cq, &wq);
		heap_fail_at(0);
		if (!r)
			break;
		assert_int_equal(r, -ENOMEM);
		assert_int_equal(test_owned(v.e, SEG_T_OBJ), 0);
		assert_int_equal(test_owned(v.e, SEG_T_UMEM), umems);
	}
	for (int n = 1;; n++, failed++) {
		heap_fail_at(n);
		r = make_table(&v, wq.wq_handle, &t);
		heap_fail_at(0);
		if (!r)
			break;
		assert_int_equal(r, -ENOMEM);
		assert_int_equal(test_owned(v.e, SEG_T_OBJ), 1);
	}
	assert_true(failed >= 5);
	assert_int_equal(end(&v, EX(DESTROY_RWQ_IND_TBL), t.ind_tbl_handle, 0), 0);
	assert_int_equal(end(&v, EX(DESTROY_WQ), wq.wq_handle, 16), 0);
	assert_int_equal(test_owned(v.e, SEG_T_UMEM), umems);
	verbs_close(&v);
}

/* If the answer cannot be written, the object is destroyed and the handle is free. */
static void unwritable_answers_leave_nothing(void **state)
{
	struct ib_uverbs_ex_create_wq_resp wq;
	struct mlx5_ib_create_cq uhw;
	uint32_t cq, cqn;
	struct verbs v;

	verbs_open(&v, *state);
	uhw = cq_request(&v);
	assert_int_equal(create_cq(&v, &uhw, 15, &cq, &cqn), 0);
	assert_int_equal(make_wq(&v, cq, (void *)8), -EFAULT);
	assert_int_equal(test_owned(v.e, SEG_T_OBJ), 0);
	assert_int_equal(make_wq(&v, cq, &wq), 0);
	assert_int_equal(make_table(&v, wq.wq_handle, (void *)8), -EFAULT);
	assert_int_equal(test_owned(v.e, SEG_T_OBJ), 1);
	assert_int_equal(end(&v, EX(DESTROY_WQ), wq.wq_handle, 16), 0);
	verbs_close(&v);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, test_setup, test_teardown)
	const struct CMUnitTest tests[] = {
		T(devx_methods_on_their_handles),
		T(no_memory_leaves_nothing),
		T(unwritable_answers_leave_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
