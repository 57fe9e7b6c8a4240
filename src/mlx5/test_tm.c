/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* SRQs with tag matching are XRQs: their list, limit and query, and the QPs that the device owns.
 */
#include "hw/qp.h"
#include "hw/srq.h"
#include "hw/tm.h"
#include "mlx5/test_verbs.h"
#include "util/bits.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/qp.h"

struct bed {
	struct verbs v;
	uint32_t cq, cqn;
	struct ib_uverbs_create_srq_resp srq;
	uint32_t srqn;
};

static void tm_open(struct bed *t, struct test_env *e)
{
	struct mlx5_ib_create_cq cq;

	memset(t, 0, sizeof(*t));
	verbs_open(&t->v, e);
	cq = cq_request(&t->v);
	assert_int_equal(create_cq(&t->v, &cq, 63, &t->cq, &t->cqn), 0);
}

static int create_srq(struct bed *t, uint32_t tags, uint64_t buf)
{
	struct ib_uverbs_create_xsrq cmd = {
		.srq_type = IB_UVERBS_SRQT_TM,
		.pd_handle = t->v.pd,
		.max_wr = 15,
		.max_sge = 1,
		.max_num_tags = tags,
		.cq_handle = t->cq,
	};
	struct mlx5_ib_create_srq uhw = {
		.buf_addr = buf, .db_addr = (uintptr_t)t->v.mem + DBR_PAGE + 128, .uidx = 0x777};
	struct mlx5_ib_create_srq_resp uhw_resp = {0};
	struct test_write w = {
		.cmd = IB_USER_VERBS_CMD_CREATE_XSRQ,
		WRITE_IN(cmd),
		WRITE_OUT(t->srq),
		WRITE_UHW_IN(uhw),
		WRITE_UHW_OUT(uhw_resp),
	};
	int r = test_write(t->v.e, &w);

	t->srqn = uhw_resp.srqn;
	return r;
}

static int create_qp(struct bed *t, uint32_t wqes, uint32_t *handle, uint32_t *qpn)
{
	struct ib_uverbs_create_qp cmd = {
		.pd_handle = t->v.pd,
		.send_cq_handle = t->cq,
		.recv_cq_handle = t->cq,
		.srq_handle = t->srq.srq_handle,
		.is_srq = 1,
		.max_send_wr = wqes,
		.max_send_sge = wqes ? 1 : 0,
		.qp_type = IBV_QPT_RC,
	};
	struct mlx5_ib_create_qp uhw = {
		.buf_addr = (uintptr_t)t->v.mem + 8192,
		.db_addr = (uintptr_t)t->v.mem + DBR_PAGE + 1024,
		.sq_wqe_count = wqes,
		.flags = MLX5_QP_FLAG_UAR_PAGE_INDEX,
		.uidx = 0x123,
		.bfreg_index = t->v.uar,
	};
	struct ib_uverbs_create_qp_resp resp = {0};
	struct mlx5_ib_create_qp_resp uhw_resp = {0};
	struct test_write w = {
		.cmd = IB_USER_VERBS_CMD_CREATE_QP,
		WRITE_IN(cmd),
		WRITE_OUT(resp),
		WRITE_UHW_IN(uhw),
		WRITE_UHW_OUT(uhw_resp),
	};
	int r = test_write(t->v.e, &w);

	*handle = resp.qp_handle;
	*qpn = resp.qpn;
	return r;
}

static int destroy_srq(struct bed *t)
{
	return destroy(&t->v, IB_USER_VERBS_CMD_DESTROY_SRQ, t->srq.srq_handle);
}

static void an_srq_is_an_xrq_with_a_list(void **state)
{
	const struct hw_srq *hw;
	const struct hw_tm *list;
	struct bed t;

	tm_open(&t, *state);
	assert_int_equal(create_srq(&t, 15, (uintptr_t)t.v.mem + 4096), 0);
	hw = hw_srq(&t.v.e->seg, t.srqn);
	assert_non_null(hw);
	assert_int_equal(hw->type, HW_SRQ_XRQ);
	assert_int_equal(hw->cqn, t.cqn);
	assert_int_equal(hw->user_index, 0x777);
	list = hw_tm(&t.v.e->seg, hw->tm);
	assert_non_null(list);
	assert_int_equal(list->srqn, t.srqn);
	assert_int_equal(list->log_size, 4);
	/* the CQ is in use */
	assert_int_equal(destroy(&t.v, IB_USER_VERBS_CMD_DESTROY_CQ, t.cq), -EBUSY);
	assert_int_equal(destroy_srq(&t), 0);
	assert_int_equal(seg_table(&t.v.e->seg, SEG_T_TM)->live, 0);
	assert_int_equal(destroy(&t.v, IB_USER_VERBS_CMD_DESTROY_CQ, t.cq), 0);
	verbs_close(&t.v);
}

/* The kernel arms it by ARM_RQ: arm_xrq_cmd() of srq_cmd.c. */
static void its_limit_is_armed(void **state)
{
	struct ib_uverbs_query_srq_resp q;
	struct ib_uverbs_query_srq cmd = {0};
	struct test_write w = {
		.cmd = IB_USER_VERBS_CMD_QUERY_SRQ,
		WRITE_IN(cmd),
		WRITE_OUT(q),
	};
	struct bed t;

	tm_open(&t, *state);
	assert_int_equal(create_srq(&t, 15, (uintptr_t)t.v.mem + 4096), 0);
	be32_store(t.v.mem + DBR_PAGE + 128, 10); /* receives are posted */
	assert_int_equal(srq_limit(&t.v, t.srq.srq_handle, IBV_SRQ_LIMIT, 5), 0);
	assert_int_equal(hw_srq_limit(hw_srq(&t.v.e->seg, t.srqn)), 5);
	assert_int_equal(srq_limit(&t.v, t.srq.srq_handle, IBV_SRQ_LIMIT, 16), -EINVAL);
	cmd.srq_handle = t.srq.srq_handle;
	assert_int_equal(test_write(t.v.e, &w), 0);
	assert_int_equal(q.max_wr, 15);
	assert_int_equal(q.max_sge, 1);
	assert_int_equal(q.srq_limit, 5);
	assert_int_equal(destroy_srq(&t), 0);
	verbs_close(&t.v);
}

/* MLX5_QPC_OFFLOAD_TYPE_RNDV in create_user_qp() */
static void the_device_sends_by_a_qp_without_send_queue(void **state)
{
	uint32_t handle, qpn;
	struct bed t;

	tm_open(&t, *state);
	assert_int_equal(create_srq(&t, 15, (uintptr_t)t.v.mem + 4096), 0);
	for (uint32_t wqes = 0; wqes <= 16; wqes += 16) {
		const struct hw_qp *hw;

		assert_int_equal(create_qp(&t, wqes, &handle, &qpn), 0);
		hw = hw_qp(&t.v.e->seg, qpn);
		assert_non_null(hw);
		assert_int_equal(hw->srqn, t.srqn);
		assert_int_equal(LAYOUT_GET(qpc, hw->qpc, offload_type), wqes == 0);
		assert_int_equal(destroy_srq(&t), -EBUSY);
		assert_int_equal(destroy(&t.v, IB_USER_VERBS_CMD_DESTROY_QP, handle), 0);
	}
	assert_int_equal(destroy_srq(&t), 0);
	verbs_close(&t.v);
}

static void too_many_tags_leave_nothing(void **state)
{
	struct bed t;

	tm_open(&t, *state);
	assert_int_equal(create_srq(&t, 127, (uintptr_t)t.v.mem + 4096), 0);
	assert_int_equal(destroy_srq(&t), 0);
	assert_int_equal(create_srq(&t, 128, (uintptr_t)t.v.mem + 4096), -EINVAL);
	assert_int_equal(create_srq(&t, UINT32_MAX, (uintptr_t)t.v.mem + 4096), -EINVAL);
	/* mlx5_ib_create_srq() pins the memory before it looks at the tags */
	assert_int_equal(create_srq(&t, 128, (uintptr_t)t.v.mem + MEM_LEN), -EFAULT);
	assert_int_equal(test_owned(t.v.e, SEG_T_SRQ), 0);
	assert_int_equal(seg_table(&t.v.e->seg, SEG_T_TM)->live, 0);
	verbs_close(&t.v);
}

static void its_limits_are_told(void **state)
{
	struct ib_uverbs_ex_query_device cmd = {0};
	struct ib_uverbs_ex_query_device_resp resp = {0};
	struct test_write w = {
		.cmd = IB_USER_VERBS_EX_CMD_QUERY_DEVICE | IB_USER_VERBS_CMD_FLAG_EXTENDED,
		WRITE_IN(cmd),
		WRITE_OUT(resp),
	};
	struct test_env *e = *state;

	test_open_context(e, true);
	assert_int_equal(test_write(e, &w), 0);
	assert_int_equal(resp.tm_caps.max_num_tags, 127);
	assert_int_equal(resp.tm_caps.max_sge, 1);
	assert_int_equal(resp.tm_caps.flags, IBV_TM_CAP_RC);
	assert_int_equal(resp.tm_caps.max_rndv_hdr_size, 64);
	assert_int_equal(resp.tm_caps.max_ops, 1 << 15);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, test_setup, test_teardown)
	const struct CMUnitTest tests[] = {
		T(an_srq_is_an_xrq_with_a_list),
		T(its_limit_is_armed),
		T(the_device_sends_by_a_qp_without_send_queue),
		T(too_many_tags_leave_nothing),
		T(its_limits_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
