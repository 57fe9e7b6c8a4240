/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Verbs objects through write commands: what the firmware gets, what is refused, what is left. */
#include <infiniband/mlx5dv.h>
#include "mlx5/test.h"

enum { IB_CQ_MODERATE = 1 };

/* A context with a PD, a UAR and memory for queues; doorbell records in its last page. */
struct verbs {
	struct test_env *e;
	uint32_t pd, pdn, uar;
	uint8_t *mem;
};

#define MEM_LEN (16 * 4096)
#define DBR_PAGE (15 * 4096)

static void verbs_open(struct verbs *v, struct test_env *e)
{
	struct ib_uverbs_alloc_pd cmd = {0};
	struct ib_uverbs_alloc_pd_resp resp;
	struct mlx5_ib_alloc_pd_resp uhw;
	struct test_write w = {
		.cmd = IB_USER_VERBS_CMD_ALLOC_PD,
		.in = &cmd,
		.inlen = sizeof(cmd),
		.out = &resp,
		.outlen = sizeof(resp),
		.uhw_out = &uhw,
		.uhw_outlen = sizeof(uhw),
	};
	uint64_t off;
	uint32_t h;

	v->e = e;
	test_open_context(e, true);
	assert_int_equal(test_write(e, &w), 0);
	v->pd = resp.pd_handle;
	v->pdn = uhw.pdn;
	assert_non_null(hw_pd(&e->seg, v->pdn));
	assert_int_equal(test_uar_alloc(e, 1, &off, &v->uar, &h), 0);
	v->mem = mmap(NULL, MEM_LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(v->mem, MAP_FAILED);
}

static void verbs_close(struct verbs *v)
{
	munmap(v->mem, MEM_LEN);
}

static struct mlx5_ib_create_cq cq_request(const struct verbs *v)
{
	return (struct mlx5_ib_create_cq){
		.buf_addr = (uintptr_t)v->mem,
		.db_addr = (uintptr_t)v->mem + DBR_PAGE,
		.cqe_size = 64,
		.flags = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX,
		.uar_page_index = (uint16_t)v->uar,
	};
}

static int create_cq(struct verbs *v, const struct mlx5_ib_create_cq *uhw, uint32_t cqe,
		     uint32_t *handle, uint32_t *cqn)
{
	struct ib_uverbs_create_cq cmd = {.cqe = cqe, .comp_channel = -1};
	struct mlx5_ib_create_cq_resp uhw_resp = {0};
	struct ib_uverbs_create_cq_resp resp = {0};
	struct test_write w = {
		.cmd = IB_USER_VERBS_CMD_CREATE_CQ,
		.in = &cmd,
		.inlen = sizeof(cmd),
		.out = &resp,
		.outlen = sizeof(resp),
		.uhw_in = uhw,
		.uhw_inlen = sizeof(*uhw),
		.uhw_out = &uhw_resp,
		.uhw_outlen = sizeof(uhw_resp),
	};
	int r = test_write(v->e, &w);

	*handle = resp.cq_handle;
	*cqn = uhw_resp.cqn;
	if (r == 0)
		assert_int_equal(resp.cqe & (resp.cqe + 1), 0);
	return r;
}

static int destroy(struct verbs *v, uint32_t cmd_nr, uint32_t handle)
{
	union {
		struct ib_uverbs_destroy_cq cq;
		struct ib_uverbs_destroy_qp qp;
		struct ib_uverbs_destroy_srq srq;
		struct ib_uverbs_dereg_mr mr;
	} cmd = {0};
	struct ib_uverbs_destroy_cq_resp resp;
	struct test_write w = {.cmd = cmd_nr, .in = &cmd, .out = &resp};

	switch (cmd_nr) {
	case IB_USER_VERBS_CMD_DESTROY_CQ:
		cmd.cq.cq_handle = handle;
		w.inlen = sizeof(cmd.cq);
		w.outlen = sizeof(resp);
		break;
	case IB_USER_VERBS_CMD_DESTROY_QP:
		cmd.qp.qp_handle = handle;
		w.inlen = sizeof(cmd.qp);
		w.outlen = sizeof(struct ib_uverbs_destroy_qp_resp);
		break;
	case IB_USER_VERBS_CMD_DESTROY_SRQ:
		cmd.srq.srq_handle = handle;
		w.inlen = sizeof(cmd.srq);
		w.outlen = sizeof(struct ib_uverbs_destroy_srq_resp);
		break;
	default:
		cmd.mr.mr_handle = handle;
		w.inlen = sizeof(cmd.mr);
		break;
	}
	return test_write(v->e, &w);
}

static void test_cq_becomes_a_firmware_cq(void **state)
{
	struct mlx5_ib_create_cq uhw;
	struct verbs v;
	const struct hw_cq *cq;
	uint32_t h, cqn;

	verbs_open(&v, *state);
	uhw = cq_request(&v);
	uhw.db_addr += 64;
	assert_int_equal(create_cq(&v, &uhw, 100, &h, &cqn), 0);
	cq = hw_cq(&v.e->seg, cqn);
	assert_non_null(cq);
	assert_int_equal(cq->log_size, 7);
	assert_int_equal(cq->cqe_bytes, 64);
	assert_int_equal(cq->va, (uintptr_t)v.mem);
	assert_int_equal(cq->dbr_va, (uintptr_t)v.mem + DBR_PAGE + 64);
	assert_int_equal(cq->uar, v.uar);
	assert_int_equal(destroy(&v, IB_USER_VERBS_CMD_DESTROY_CQ, h), 0);
	assert_int_equal(test_owned(v.e, SEG_T_CQ), 0);
	assert_int_equal(test_owned(v.e, SEG_T_UMEM), 0);
	verbs_close(&v);
}

static void test_bad_cqs_leave_nothing(void **state)
{
	struct mlx5_ib_create_cq good, uhw;
	struct verbs v;
	uint32_t h, cqn;

	verbs_open(&v, *state);
	good = cq_request(&v);
#define BAD(change, cqes, want)                                              \
	do {                                                                 \
		uhw = good;                                                  \
		change;                                                      \
		assert_int_equal(create_cq(&v, &uhw, cqes, &h, &cqn), want); \
	} while (0)
	BAD(uhw.cqe_size = 32, 10, -EINVAL);
	BAD(uhw.reserved1 = 1, 10, -EINVAL);
	BAD(uhw.flags |= 8, 10, -EINVAL);
	BAD(uhw.flags = 0, 10, -EINVAL);
	BAD(uhw.buf_addr += 8, 10, -EINVAL);
	BAD(uhw.cqe_comp_en = 1, 10, -EOPNOTSUPP);
	BAD(uhw.flags |= MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD, 10, -EOPNOTSUPP);
	BAD(, 1u << 22, -EINVAL);
	BAD(, UINT32_MAX, -EINVAL);
	BAD(uhw.buf_addr = 64, 10, -EFAULT);
	BAD(uhw.db_addr = 64, 10, -EFAULT);
	BAD(uhw.uar_page_index = 0x7777, 10, -EINVAL); /* found by the firmware */
#undef BAD
	assert_int_equal(test_owned(v.e, SEG_T_UMEM), 0);
	assert_int_equal(create_cq(&v, &good, 10, &h, &cqn), 0);
	verbs_close(&v);
}

static void test_doorbell_records_share_their_page(void **state)
{
	struct mlx5_ib_create_cq uhw;
	uint32_t h[3], cqn[3];
	struct verbs v;

	verbs_open(&v, *state);
	uhw = cq_request(&v);
	for (int i = 0; i < 3; i++) {
		uhw.db_addr = (uintptr_t)v.mem + DBR_PAGE + 64 * i;
		assert_int_equal(create_cq(&v, &uhw, 10, &h[i], &cqn[i]), 0);
	}
	assert_int_equal(test_owned(v.e, SEG_T_UMEM), 3 + 1);
	for (int i = 0; i < 2; i++)
		assert_int_equal(destroy(&v, IB_USER_VERBS_CMD_DESTROY_CQ, h[i]), 0);
	assert_int_equal(test_owned(v.e, SEG_T_UMEM), 1 + 1);
	assert_int_equal(hw_cq(&v.e->seg, cqn[2])->dbr_va, (uintptr_t)v.mem + DBR_PAGE + 128);
	assert_int_equal(destroy(&v, IB_USER_VERBS_CMD_DESTROY_CQ, h[2]), 0);
	assert_int_equal(test_owned(v.e, SEG_T_UMEM), 0);
	verbs_close(&v);
}

static int resize_cq(struct verbs *v, uint32_t handle, uint32_t cqe, uint64_t buf)
{
	struct ib_uverbs_resize_cq cmd = {.cq_handle = handle, .cqe = cqe};
	struct mlx5_ib_resize_cq uhw = {.buf_addr = buf, .cqe_size = 64};
	struct ib_uverbs_resize_cq_resp resp;
	struct test_write w = {
		.cmd = IB_USER_VERBS_CMD_RESIZE_CQ,
		.in = &cmd,
		.inlen = sizeof(cmd),
		.out = &resp,
		.outlen = sizeof(resp),
		.uhw_in = &uhw,
		.uhw_inlen = sizeof(uhw),
	};

	return test_write(v->e, &w);
}

static void test_resized_cq_lies_elsewhere(void **state)
{
	struct mlx5_ib_create_cq uhw;
	struct verbs v;
	uint32_t h, cqn;

	verbs_open(&v, *state);
	uhw = cq_request(&v);
	assert_int_equal(create_cq(&v, &uhw, 15, &h, &cqn), 0);
	assert_int_equal(resize_cq(&v, h, 40, (uintptr_t)v.mem + 4096), 0);
	assert_int_equal(hw_cq(&v.e->seg, cqn)->va, (uintptr_t)v.mem + 4096);
	assert_int_equal(hw_cq(&v.e->seg, cqn)->log_size, 6);
	assert_int_equal(test_owned(v.e, SEG_T_UMEM), 2);
	assert_int_equal(resize_cq(&v, h, 63, 64), 0); /* its size: nothing to do */
	assert_int_equal(resize_cq(&v, h, 0, (uintptr_t)v.mem), -EINVAL);
	assert_int_equal(resize_cq(&v, h, 1u << 23, (uintptr_t)v.mem), -EINVAL);
	assert_int_equal(resize_cq(&v, h, 100, 64), -EFAULT);
	assert_int_equal(test_owned(v.e, SEG_T_UMEM), 2);
	assert_int_equal(destroy(&v, IB_USER_VERBS_CMD_DESTROY_CQ, h), 0);
	assert_int_equal(test_owned(v.e, SEG_T_UMEM), 0);
	verbs_close(&v);
}

static int modify_cq(struct verbs *v, uint32_t handle, uint16_t count, uint16_t period)
{
	struct ib_uverbs_ex_modify_cq cmd = {
		.cq_handle = handle,
		.attr_mask = IB_CQ_MODERATE,
		.attr = {.cq_count = count, .cq_period = period},
	};
	struct test_write w = {
		.cmd = IB_USER_VERBS_EX_CMD_MODIFY_CQ | IB_USER_VERBS_CMD_FLAG_EXTENDED,
		.in = &cmd,
		.inlen = sizeof(cmd),
	};

	return test_write(v->e, &w);
}

static void test_moderation_reaches_the_cqc(void **state)
{
	struct mlx5_ib_create_cq uhw;
	const struct hw_cq *cq;
	struct verbs v;
	uint32_t h, cqn;

	verbs_open(&v, *state);
	uhw = cq_request(&v);
	assert_int_equal(create_cq(&v, &uhw, 15, &h, &cqn), 0);
	cq = hw_cq(&v.e->seg, cqn);
	assert_int_equal(modify_cq(&v, h, 0x1234, 0xfff), 0);
	assert_int_equal(LAYOUT_GET(cqc, cq->cqc, cq_max_count), 0x1234);
	assert_int_equal(LAYOUT_GET(cqc, cq->cqc, cq_period), 0xfff);
	assert_int_equal(modify_cq(&v, h, 1, 0x1000), -EINVAL);
	verbs_close(&v);
}

/* ---- QPs */

struct qp {
	uint32_t handle, qpn, cq, cqn;
	struct mlx5_ib_create_qp_resp uhw;
	struct ib_uverbs_create_qp_resp resp;
};

static struct mlx5_ib_create_qp qp_request(const struct verbs *v)
{
	return (struct mlx5_ib_create_qp){
		.buf_addr = (uintptr_t)v->mem + 8192,
		.db_addr = (uintptr_t)v->mem + DBR_PAGE + 1024,
		.sq_wqe_count = 16,
		.rq_wqe_count = 8,
		.rq_wqe_shift = 5,
		.flags = MLX5_QP_FLAG_UAR_PAGE_INDEX | MLX5_QP_FLAG_SCATTER_CQE,
		.uidx = 0x123456,
		.bfreg_index = v->uar,
	};
}

static int create_qp(struct verbs *v, const struct mlx5_ib_create_qp *uhw, size_t uhwlen,
		     uint8_t type, uint32_t max_recv_wr, struct qp *qp)
{
	struct ib_uverbs_create_qp cmd = {
		.pd_handle = v->pd,
		.send_cq_handle = qp->cq,
		.recv_cq_handle = qp->cq,
		.max_send_wr = 10,
		.max_recv_wr = max_recv_wr,
		.max_send_sge = 1,
		.max_recv_sge = 1,
		.max_inline_data = 64,
		.qp_type = type,
	};
	struct test_write w = {
		.cmd = IB_USER_VERBS_CMD_CREATE_QP,
		.in = &cmd,
		.inlen = sizeof(cmd),
		.out = &qp->resp,
		.outlen = sizeof(qp->resp),
		.uhw_in = uhw,
		.uhw_inlen = uhwlen,
		.uhw_out = &qp->uhw,
		.uhw_outlen = sizeof(qp->uhw),
	};
	int r = test_write(v->e, &w);

	qp->handle = qp->resp.qp_handle;
	qp->qpn = qp->resp.qpn;
	return r;
}

static void qp_open(struct verbs *v, struct qp *qp, uint8_t type)
{
	struct mlx5_ib_create_cq cq = cq_request(v);
	struct mlx5_ib_create_qp uhw = qp_request(v);

	memset(qp, 0, sizeof(*qp));
	assert_int_equal(create_cq(v, &cq, 63, &qp->cq, &qp->cqn), 0);
	assert_int_equal(create_qp(v, &uhw, sizeof(uhw), type, 8, qp), 0);
}

static void test_qp_becomes_a_firmware_qp(void **state)
{
	const struct hw_qp *hw;
	struct verbs v;
	struct qp qp;

	verbs_open(&v, *state);
	qp_open(&v, &qp, IBV_QPT_RC);
	hw = hw_qp(&v.e->seg, qp.qpn);
	assert_non_null(hw);
	assert_int_equal(hw->st, HW_ST_RC);
	assert_int_equal(hw->pdn, v.pdn);
	assert_int_equal(hw->cqn_snd, qp.cqn);
	assert_int_equal(hw->cqn_rcv, qp.cqn);
	assert_int_equal(hw->uar, v.uar);
	assert_int_equal(hw->user_index, 0x123456);
	assert_int_equal(hw->rq_log_size, 3);
	assert_int_equal(hw->rq_log_stride, 5);
	assert_int_equal(hw->sq_log_size, 4);
	assert_int_equal(hw->rq_va, (uintptr_t)v.mem + 8192);
	assert_int_equal(hw->sq_va, (uintptr_t)v.mem + 8192 + 8 * 32);
	assert_int_equal(hw->dbr_va, (uintptr_t)v.mem + DBR_PAGE + 1024);
	assert_int_equal(qp.uhw.bfreg_index, 1u << 31);
	assert_int_equal(qp.resp.max_recv_wr, 8);
	/* the CQ is in use */
	assert_int_equal(destroy(&v, IB_USER_VERBS_CMD_DESTROY_CQ, qp.cq), -EBUSY);
	assert_int_equal(destroy(&v, IB_USER_VERBS_CMD_DESTROY_QP, qp.handle), 0);
	assert_int_equal(destroy(&v, IB_USER_VERBS_CMD_DESTROY_CQ, qp.cq), 0);
	assert_int_equal(test_owned(v.e, SEG_T_QP), 0);
	assert_int_equal(test_owned(v.e, SEG_T_UMEM), 0);
	verbs_close(&v);
}

static void test_bad_qps_leave_nothing(void **state)
{
	struct mlx5_ib_create_qp good, uhw;
	struct mlx5_ib_create_cq cq;
	struct verbs v;
	struct qp qp = {0};
	uint8_t raw[64] = {0};

	verbs_open(&v, *state);
	cq = cq_request(&v);
	assert_int_equal(create_cq(&v, &cq, 63, &qp.cq, &qp.cqn), 0);
	good = qp_request(&v);
#define BAD(change, type, recv_wr, want)                                                   \
	do {                                                                               \
		uhw = good;                                                                \
		change;                                                                    \
		assert_int_equal(create_qp(&v, &uhw, sizeof(uhw), (type), (recv_wr), &qp), \
				 (want));                                                  \
	} while (0)
	BAD(uhw.sq_wqe_count = 12, IBV_QPT_RC, 8, -EINVAL);
	BAD(uhw.sq_wqe_count = 1u << 16, IBV_QPT_RC, 8, -EINVAL);
	BAD(uhw.rq_wqe_count = 6, IBV_QPT_RC, 8, -EINVAL);
	BAD(uhw.rq_wqe_shift = 3, IBV_QPT_RC, 8, -EINVAL);
	BAD(uhw.rq_wqe_shift = 32, IBV_QPT_RC, 8, -EINVAL);
	BAD(, IBV_QPT_RC, 0, -EINVAL); /* sizes of a queue that it does not have */
	BAD(, IBV_QPT_RC, 1u << 16, -EINVAL);
	BAD(uhw.uidx = 0xffffff, IBV_QPT_RC, 8, -EINVAL);
	BAD(uhw.uidx = 0x1000000, IBV_QPT_RC, 8, -EINVAL);
	BAD(uhw.flags = 0, IBV_QPT_RC, 8, -EINVAL);
	BAD(uhw.flags = MLX5_QP_FLAG_BFREG_INDEX, IBV_QPT_RC, 8, -EINVAL);
	BAD(uhw.flags |= MLX5_QP_FLAG_BFREG_INDEX, IBV_QPT_RC, 8, -EINVAL);
	BAD(uhw.flags |= MLX5_QP_FLAG_TUNNEL_OFFLOADS, IBV_QPT_RC, 8, -EINVAL);
	BAD(uhw.flags |= MLX5_QP_FLAG_PACKET_BASED_CREDIT_MODE, IBV_QPT_RC, 8, -EINVAL);
	BAD(uhw.reserved = 1, IBV_QPT_RC, 8, -EINVAL);
	BAD(uhw.buf_addr += 32, IBV_QPT_RC, 8, -EINVAL);
	BAD(uhw.buf_addr = 4096, IBV_QPT_RC, 8, -EFAULT);
	BAD(uhw.db_addr = 4096, IBV_QPT_RC, 8, -EFAULT);
	BAD(uhw.bfreg_index = 0xfffff, IBV_QPT_RC, 8, -EINVAL);
	BAD(uhw.bfreg_index = UINT32_MAX, IBV_QPT_RC, 8, -EINVAL);
	BAD(, IBV_QPT_DRIVER, 8, -EOPNOTSUPP);
	BAD(, IBV_QPT_XRC_SEND, 8, -EOPNOTSUPP);
#undef BAD
	/* the request may be shorter (before ECE) or longer, if the rest is zero */
	assert_int_equal(create_qp(&v, &good, 47, IBV_QPT_RC, 8, &qp), -EINVAL);
	memcpy(raw, &good, sizeof(good));
	raw[63] = 1;
	assert_int_equal(create_qp(&v, (void *)raw, 64, IBV_QPT_RC, 8, &qp), -EINVAL);
	assert_int_equal(test_owned(v.e, SEG_T_UMEM), 2); /* the CQ's */
	assert_int_equal(test_owned(v.e, SEG_T_QP), 0);
	raw[63] = 0;
	assert_int_equal(create_qp(&v, (void *)raw, 64, IBV_QPT_RC, 8, &qp), 0);
	assert_int_equal(destroy(&v, IB_USER_VERBS_CMD_DESTROY_QP, qp.handle), 0);
	assert_int_equal(create_qp(&v, &good, 48, IBV_QPT_UD, 8, &qp), 0);
	verbs_close(&v);
}

static int modify_qp(struct verbs *v, const struct qp *qp, struct ib_uverbs_modify_qp *cmd,
		     uint32_t mask)
{
	struct mlx5_ib_modify_qp uhw = {0};
	struct test_write w = {
		.cmd = IB_USER_VERBS_CMD_MODIFY_QP,
		.in = cmd,
		.inlen = sizeof(*cmd),
		.uhw_in = &uhw,
		.uhw_inlen = sizeof(uhw),
	};

	cmd->qp_handle = qp->handle;
	cmd->attr_mask = mask;
	return test_write(v->e, &w);
}

#define INIT_MASK (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define RTR_MASK                                                                        \
	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | \
	 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RTS_MASK                                                                               \
	(IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | \
	 IBV_QP_MAX_QP_RD_ATOMIC)

static struct ib_uverbs_modify_qp to_init(void)
{
	return (struct ib_uverbs_modify_qp){
		.qp_state = IBV_QPS_INIT,
		.port_num = 2,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
	};
}

static struct ib_uverbs_modify_qp to_rtr(void)
{
	return (struct ib_uverbs_modify_qp){
		.qp_state = IBV_QPS_RTR,
		.dest = {.dgid = {0xfe, 0x80, [15] = 0x55},
			 .flow_label = 0x12345,
			 .dlid = 0x2a,
			 .sgid_index = 0,
			 .hop_limit = 64,
			 .traffic_class = 9,
			 .sl = 3,
			 .src_path_bits = 1,
			 .is_global = 1,
			 .port_num = 2},
		.path_mtu = IBV_MTU_2048,
		.dest_qp_num = 0x654321,
		.rq_psn = 0xabcdef,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 12,
	};
}

static struct ib_uverbs_modify_qp to_rts(void)
{
	return (struct ib_uverbs_modify_qp){
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 6,
		.rnr_retry = 5,
		.sq_psn = 0x111111,
		.max_rd_atomic = 8,
	};
}

static int query_qp(struct verbs *v, const struct qp *qp, struct ib_uverbs_query_qp_resp *resp)
{
	struct ib_uverbs_query_qp cmd = {.qp_handle = qp->handle, .attr_mask = ~0u};
	struct test_write w = {
		.cmd = IB_USER_VERBS_CMD_QUERY_QP,
		.in = &cmd,
		.inlen = sizeof(cmd),
		.out = resp,
		.outlen = sizeof(*resp),
	};

	return test_write(v->e, &w);
}

static void test_attributes_come_back(void **state)
{
	struct ib_uverbs_modify_qp init = to_init(), rtr = to_rtr(), rts = to_rts(), err;
	struct ib_uverbs_query_qp_resp q;
	const struct hw_qp *hw;
	struct verbs v;
	struct qp qp;

	verbs_open(&v, *state);
	qp_open(&v, &qp, IBV_QPT_RC);
	assert_int_equal(modify_qp(&v, &qp, &init, INIT_MASK), 0);
	assert_int_equal(query_qp(&v, &qp, &q), 0);
	assert_int_equal(q.qp_state, IBV_QPS_INIT);
	assert_int_equal(q.port_num, 2);
	/* no responder resources yet: reads cannot be allowed, as in the kernel */
	assert_int_equal(q.qp_access_flags, IBV_ACCESS_REMOTE_WRITE);
	assert_int_equal(modify_qp(&v, &qp, &rtr, RTR_MASK), 0);
	assert_int_equal(modify_qp(&v, &qp, &rts, RTS_MASK), 0);
	assert_int_equal(query_qp(&v, &qp, &q), 0);
	assert_int_equal(q.qp_state, IBV_QPS_RTS);
	assert_int_equal(q.path_mtu, IBV_MTU_2048);
	assert_int_equal(q.dest_qp_num, 0x654321);
	assert_int_equal(q.rq_psn, 0xabcdef);
	assert_int_equal(q.sq_psn, 0x111111);
	assert_int_equal(q.qp_access_flags, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
	assert_int_equal(q.max_rd_atomic, 8);
	assert_int_equal(q.max_dest_rd_atomic, 4);
	assert_int_equal(q.min_rnr_timer, 12);
	assert_int_equal(q.timeout, 14);
	assert_int_equal(q.retry_cnt, 6);
	assert_int_equal(q.rnr_retry, 5);
	assert_int_equal(q.dest.dlid, 0x2a);
	assert_int_equal(q.dest.sl, 3);
	assert_int_equal(q.dest.src_path_bits, 1);
	assert_int_equal(q.dest.is_global, 1);
	assert_int_equal(q.dest.flow_label, 0x12345);
	assert_int_equal(q.dest.hop_limit, 64);
	assert_int_equal(q.dest.traffic_class, 9);
	assert_memory_equal(q.dest.dgid, rtr.dest.dgid, 16);
	assert_int_equal(q.max_recv_wr, 8);
	assert_int_equal(q.path_mig_state, IBV_MIG_MIGRATED);

	hw = hw_qp(&v.e->seg, qp.qpn);
	assert_int_equal(hw->dest_qpn, 0x654321);
	assert_int_equal(hw->dlid, 0x2a);
	assert_int_equal(hw->mtu, 2048);
	assert_int_equal(hw->port, hw_hca(&v.e->seg, v.e->hca)->port[1]);

	err = (struct ib_uverbs_modify_qp){.qp_state = IBV_QPS_ERR};
	assert_int_equal(modify_qp(&v, &qp, &err, IBV_QP_STATE), 0);
	assert_int_equal(query_qp(&v, &qp, &q), 0);
	assert_int_equal(q.qp_state, IBV_QPS_ERR);
	err.qp_state = IBV_QPS_RESET;
	assert_int_equal(modify_qp(&v, &qp, &err, IBV_QP_STATE), 0);
	assert_int_equal(modify_qp(&v, &qp, &err, IBV_QP_STATE), 0);
	assert_int_equal(hw->state, HW_QPS_RST);
	verbs_close(&v);
}

static void test_bad_modifies_change_nothing(void **state)
{
	struct ib_uverbs_modify_qp init = to_init(), rtr = to_rtr(), m;
	const struct hw_qp *hw;
	struct verbs v;
	struct qp qp;

	verbs_open(&v, *state);
	qp_open(&v, &qp, IBV_QPT_RC);
	hw = hw_qp(&v.e->seg, qp.qpn);
	m = init;
	m.port_num = 3;
	assert_int_equal(modify_qp(&v, &qp, &m, INIT_MASK), -EINVAL);
	m = init;
	m.pkey_index = HW_PKEYS;
	assert_int_equal(modify_qp(&v, &qp, &m, INIT_MASK), -EINVAL);
	assert_int_equal(hw->state, HW_QPS_RST);
	assert_int_equal(modify_qp(&v, &qp, &init, INIT_MASK), 0);
	m = rtr;
	m.path_mtu = 6;
	assert_int_equal(modify_qp(&v, &qp, &m, RTR_MASK), -EINVAL);
	m = rtr;
	m.max_dest_rd_atomic = 17;
	assert_int_equal(modify_qp(&v, &qp, &m, RTR_MASK), -EINVAL);
	m = rtr;
	m.dest.static_rate = 99;
	assert_int_equal(modify_qp(&v, &qp, &m, RTR_MASK), -EINVAL);
	/* atomics: there are none */
	m = rtr;
	m.qp_access_flags = IBV_ACCESS_REMOTE_ATOMIC;
	assert_int_equal(modify_qp(&v, &qp, &m, RTR_MASK | IBV_QP_ACCESS_FLAGS), -EOPNOTSUPP);
	assert_int_equal(hw->state, HW_QPS_INIT);
	assert_int_equal(modify_qp(&v, &qp, &rtr, RTR_MASK), 0);
	verbs_close(&v);
}

static int devx_query_qp(struct test_env *e, uint32_t handle, uint32_t qpn)
{
	uint8_t in[LAYOUT_SZ(query_qp_in)] = {0}, out[LAYOUT_SZ(query_qp_out)];
	struct ib_uverbs_attr *a;
	struct test_call c;

	LAYOUT_SET(query_qp_in, in, opcode, PRM_OP_QUERY_QP);
	LAYOUT_SET(query_qp_in, in, qpn, qpn);
	test_begin(&c, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY);
	a = test_idr(&c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, handle);
	assert_int_equal(a->len, 0);
	test_in(&c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, in, sizeof(in));
	test_out(&c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, out, sizeof(out));
	return test_do(e, &c);
}

static void test_devx_reaches_verbs_objects_that_it_names(void **state)
{
	struct verbs v;
	struct qp qp;

	verbs_open(&v, *state);
	qp_open(&v, &qp, IBV_QPT_RC);
	assert_int_equal(devx_query_qp(v.e, qp.handle, qp.qpn), 0);
	assert_int_equal(devx_query_qp(v.e, qp.handle, qp.qpn + 1), -EINVAL);
	assert_int_equal(devx_query_qp(v.e, qp.cq, qp.qpn), -EINVAL);
	assert_int_equal(devx_query_qp(v.e, v.pd, qp.qpn), -EINVAL);
	verbs_close(&v);
}

/* ---- SRQs */

static int create_srq(struct verbs *v, uint32_t max_wr, uint32_t max_sge, uint64_t db_addr,
		      struct ib_uverbs_create_srq_resp *resp, uint32_t *srqn)
{
	struct ib_uverbs_create_srq cmd = {
		.pd_handle = v->pd, .max_wr = max_wr, .max_sge = max_sge};
	struct mlx5_ib_create_srq uhw = {.buf_addr = (uintptr_t)v->mem, .db_addr = db_addr};
	struct mlx5_ib_create_srq_resp uhw_resp = {0};
	struct test_write w = {
		.cmd = IB_USER_VERBS_CMD_CREATE_SRQ,
		.in = &cmd,
		.inlen = sizeof(cmd),
		.out = resp,
		.outlen = sizeof(*resp),
		.uhw_in = &uhw,
		.uhw_inlen = sizeof(uhw),
		.uhw_out = &uhw_resp,
		.uhw_outlen = sizeof(uhw_resp),
	};
	int r = test_write(v->e, &w);

	*srqn = uhw_resp.srqn;
	return r;
}

static int srq_limit(struct verbs *v, uint32_t handle, uint32_t mask, uint32_t limit)
{
	struct ib_uverbs_modify_srq cmd = {
		.srq_handle = handle, .attr_mask = mask, .srq_limit = limit, .max_wr = 5};
	struct test_write w = {
		.cmd = IB_USER_VERBS_CMD_MODIFY_SRQ, .in = &cmd, .inlen = sizeof(cmd)};

	return test_write(v->e, &w);
}

static void test_srq_is_an_rmp(void **state)
{
	struct ib_uverbs_query_srq_resp q;
	struct ib_uverbs_create_srq_resp resp = {0};
	struct ib_uverbs_query_srq qcmd = {0};
	struct test_write w = {
		.cmd = IB_USER_VERBS_CMD_QUERY_SRQ,
		.in = &qcmd,
		.inlen = sizeof(qcmd),
		.out = &q,
		.outlen = sizeof(q),
	};
	const struct hw_srq *hw;
	struct verbs v;
	uint32_t srqn;
	uint64_t db;

	verbs_open(&v, *state);
	db = (uintptr_t)v.mem + DBR_PAGE;
	assert_int_equal(create_srq(&v, 100, 2, db, &resp, &srqn), 0);
	assert_int_equal(resp.max_wr, 127);
	hw = hw_srq(&v.e->seg, srqn);
	assert_non_null(hw);
	assert_int_equal(hw->log_size, 7);
	assert_int_equal(hw->log_stride, 6); /* next segment and two data segments: 48 -> 64 */
	assert_int_equal(hw->va, (uintptr_t)v.mem);
	assert_int_equal(hw->dbr_va, db);

	be32_store(v.mem + DBR_PAGE, 100); /* posted: else the limit is reached at once */
	assert_int_equal(srq_limit(&v, resp.srq_handle, IBV_SRQ_LIMIT, 20), 0);
	assert_int_equal(srq_limit(&v, resp.srq_handle, IBV_SRQ_LIMIT, 128), -EINVAL);
	assert_int_equal(srq_limit(&v, resp.srq_handle, IBV_SRQ_MAX_WR, 0), -EINVAL);
	qcmd.srq_handle = resp.srq_handle;
	assert_int_equal(test_write(v.e, &w), 0);
	assert_int_equal(q.max_wr, 127);
	assert_int_equal(q.max_sge, 2);
	assert_int_equal(q.srq_limit, 20);

	assert_int_equal(destroy(&v, IB_USER_VERBS_CMD_DESTROY_SRQ, resp.srq_handle), 0);
	assert_int_equal(create_srq(&v, 1u << 15, 1, db, &resp, &srqn), -EINVAL);
	assert_int_equal(create_srq(&v, 10, 33, db, &resp, &srqn), -EINVAL);
	assert_int_equal(create_srq(&v, 10, 1, 4096, &resp, &srqn), -EFAULT);
	assert_int_equal(test_owned(v.e, SEG_T_UMEM), 0);
	assert_int_equal(test_owned(v.e, SEG_T_SRQ), 0);
	verbs_close(&v);
}

/* ---- MRs */

static int reg_mr(struct verbs *v, uint64_t start, uint64_t len, uint32_t access,
		  struct ib_uverbs_reg_mr_resp *resp)
{
	struct ib_uverbs_reg_mr cmd = {
		.start = start,
		.length = len,
		.hca_va = start,
		.pd_handle = v->pd,
		.access_flags = access,
	};
	struct test_write w = {
		.cmd = IB_USER_VERBS_CMD_REG_MR,
		.in = &cmd,
		.inlen = sizeof(cmd),
		.out = resp,
		.outlen = sizeof(*resp),
	};

	return test_write(v->e, &w);
}

static void test_mr_is_an_mkey(void **state)
{
	struct ib_uverbs_reg_mr_resp r1 = {0}, r2 = {0};
	const struct hw_mkey *m;
	struct verbs v;
	uint64_t va;

	verbs_open(&v, *state);
	va = (uintptr_t)v.mem + 100;
	assert_int_equal(
		reg_mr(&v, va, 5000, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, &r1), 0);
	assert_int_equal(r1.lkey, r1.rkey);
	m = hw_mkey(&v.e->seg, r1.lkey);
	assert_non_null(m);
	assert_int_equal(m->key, r1.lkey);
	assert_int_equal(m->start, va);
	assert_int_equal(m->len, 5000);
	assert_int_equal(m->pdn, v.pdn);
	assert_int_equal(m->access, HW_ACC_LOCAL_READ | HW_ACC_LOCAL_WRITE | HW_ACC_REMOTE_WRITE);
	assert_true(mem_is_self(&v.e->seg, m->mem));
	/* keys differ in their low byte from one to the next */
	assert_int_equal(reg_mr(&v, va, 5000, 0, &r2), 0);
	assert_int_not_equal(r1.lkey & 0xff, r2.lkey & 0xff);
	assert_int_equal(reg_mr(&v, va, 5000, IBV_ACCESS_ON_DEMAND, &r2), -EINVAL);
	assert_int_equal(destroy(&v, IB_USER_VERBS_CMD_DEREG_MR, r1.mr_handle), 0);
	assert_null(hw_mkey(&v.e->seg, r1.lkey));
	verbs_close(&v);
}

static int rereg_mr(struct verbs *v, struct ib_uverbs_rereg_mr *cmd,
		    struct ib_uverbs_rereg_mr_resp *resp)
{
	struct test_write w = {
		.cmd = IB_USER_VERBS_CMD_REREG_MR,
		.in = cmd,
		.inlen = sizeof(*cmd),
		.out = resp,
		.outlen = sizeof(*resp),
	};

	return test_write(v->e, &w);
}

static void test_rereg_keeps_the_key(void **state)
{
	struct ib_uverbs_rereg_mr_resp resp = {0};
	struct ib_uverbs_rereg_mr cmd = {0};
	struct ib_uverbs_reg_mr_resp r = {0};
	const struct hw_mkey *m;
	struct verbs v;

	verbs_open(&v, *state);
	assert_int_equal(reg_mr(&v, (uintptr_t)v.mem, 4096, 0, &r), 0);
	m = hw_mkey(&v.e->seg, r.lkey);
	cmd.mr_handle = r.mr_handle;
	cmd.flags = IBV_REREG_MR_CHANGE_ACCESS;
	cmd.access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
	assert_int_equal(rereg_mr(&v, &cmd, &resp), 0);
	assert_int_equal(resp.lkey, r.lkey);
	assert_int_equal(m->access, HW_ACC_LOCAL_READ | HW_ACC_LOCAL_WRITE | HW_ACC_REMOTE_READ);
	assert_int_equal(m->start, (uintptr_t)v.mem);
	assert_int_equal(m->valid, 1);

	cmd.flags = IBV_REREG_MR_CHANGE_TRANSLATION;
	cmd.start = cmd.hca_va = (uintptr_t)v.mem + 8192;
	cmd.length = 100;
	assert_int_equal(rereg_mr(&v, &cmd, &resp), 0);
	assert_int_equal(resp.rkey, r.rkey);
	assert_int_equal(m->start, (uintptr_t)v.mem + 8192);
	assert_int_equal(m->va, (uintptr_t)v.mem + 8192);
	assert_int_equal(m->len, 100);
	assert_int_equal(m->access, HW_ACC_LOCAL_READ | HW_ACC_LOCAL_WRITE | HW_ACC_REMOTE_READ);

	/* refused: as it was */
	cmd.start = cmd.hca_va = 4096;
	assert_int_equal(rereg_mr(&v, &cmd, &resp), -EFAULT);
	assert_int_equal(m->va, (uintptr_t)v.mem + 8192);
	assert_int_equal(m->valid, 1);
	assert_int_equal(destroy(&v, IB_USER_VERBS_CMD_DEREG_MR, r.mr_handle), 0);
	assert_int_equal(test_owned(v.e, SEG_T_MKEY), 0);
	verbs_close(&v);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, test_setup, test_teardown)
	const struct CMUnitTest tests[] = {
		T(test_cq_becomes_a_firmware_cq),
		T(test_bad_cqs_leave_nothing),
		T(test_doorbell_records_share_their_page),
		T(test_resized_cq_lies_elsewhere),
		T(test_moderation_reaches_the_cqc),
		T(test_qp_becomes_a_firmware_qp),
		T(test_bad_qps_leave_nothing),
		T(test_attributes_come_back),
		T(test_bad_modifies_change_nothing),
		T(test_devx_reaches_verbs_objects_that_it_names),
		T(test_srq_is_an_rmp),
		T(test_mr_is_an_mkey),
		T(test_rereg_keeps_the_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
