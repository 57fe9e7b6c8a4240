/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* QPs through write commands: what the firmware gets, what is refused, what the program gets. */
#include "fabric/eth.h"
#include "hw/hca.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "mlx5/test_verbs.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/cq.h"
#include "wire/prm/opcodes.h"
#include "wire/prm/qp.h"

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

static int create_qp_sig(struct verbs *v, const struct mlx5_ib_create_qp *uhw, size_t uhwlen,
			 uint8_t type, uint32_t max_recv_wr, bool sig_all, struct qp *qp)
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
		.sq_sig_all = sig_all,
		.qp_type = type,
	};
	struct test_write w = {
		.cmd = IB_USER_VERBS_CMD_CREATE_QP,
		WRITE_IN(cmd),
		WRITE_OUT(qp->resp),
		.uhw_in = uhw,
		.uhw_inlen = uhwlen,
		WRITE_UHW_OUT(qp->uhw),
	};
	int r = test_write(v->e, &w);

	qp->handle = qp->resp.qp_handle;
	qp->qpn = qp->resp.qpn;
	return r;
}

static int create_qp(struct verbs *v, const struct mlx5_ib_create_qp *uhw, size_t uhwlen,
		     uint8_t type, uint32_t max_recv_wr, struct qp *qp)
{
	return create_qp_sig(v, uhw, uhwlen, type, max_recv_wr, false, qp);
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
	assert_int_equal(hw->st, PRM_ST_RC);
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

/* create_user_qp() and configure_requester_scat_cqe() of mlx5_ib */
static void test_scatter_to_cqe_is_the_firmwares(void **state)
{
	const uint32_t on = MLX5_QP_FLAG_SCATTER_CQE, allow = MLX5_QP_FLAG_ALLOW_SCATTER_CQE;
	const struct {
		uint8_t type;
		bool sig_all;
		uint32_t flags, cqe_size, req, res;
	} rows[] = {
		{IBV_QPT_RC, false, on, 64, 0, PRM_CS_RES_DATA32},
		{IBV_QPT_RC, false, on, 128, 0, PRM_CS_RES_DATA64},
		{IBV_QPT_RC, true, on, 64, PRM_CS_REQ_DATA32, PRM_CS_RES_DATA32},
		{IBV_QPT_RC, true, on, 128, PRM_CS_REQ_DATA64, PRM_CS_RES_DATA64},
		{IBV_QPT_RC, false, on | allow, 64, PRM_CS_REQ_DATA32, PRM_CS_RES_DATA32},
		{IBV_QPT_RC, true, allow, 64, 0, 0},
		{IBV_QPT_RC, true, 0, 64, 0, 0},
		{IBV_QPT_UC, true, on | allow, 64, 0, PRM_CS_RES_DATA32},
		{IBV_QPT_UD, true, on | allow, 128, 0, 0},
	};
	struct verbs v;

	verbs_open(&v, *state);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct hw_qp *hw;
		struct mlx5_ib_create_cq cq;
		struct mlx5_ib_create_qp uhw;
		struct qp qp = {0};

		cq = cq_request(&v);
		cq.cqe_size = rows[i].cqe_size;
		assert_int_equal(create_cq(&v, &cq, 31, &qp.cq, &qp.cqn), 0);
		uhw = qp_request(&v);
		uhw.flags = MLX5_QP_FLAG_UAR_PAGE_INDEX | rows[i].flags;
		assert_int_equal(
			create_qp_sig(&v, &uhw, sizeof(uhw), rows[i].type, 8, rows[i].sig_all, &qp),
			0);
		hw = hw_qp(&v.e->seg, qp.qpn);
		assert_int_equal(LAYOUT_GET(qpc, hw->qpc, cs_req), rows[i].req);
		assert_int_equal(LAYOUT_GET(qpc, hw->qpc, cs_res), rows[i].res);
		assert_int_equal(hw->req_data, rows[i].req & 0xf);
		assert_int_equal(hw->resp_data, rows[i].res);
		assert_int_equal(destroy(&v, IB_USER_VERBS_CMD_DESTROY_QP, qp.handle), 0);
		assert_int_equal(destroy(&v, IB_USER_VERBS_CMD_DESTROY_CQ, qp.cq), 0);
	}
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
	BAD(, IBV_QPT_DRIVER, 8, -EINVAL);
#undef BAD
	/* the request may be shorter (without ECE) or longer, if the rest is zero */
	assert_int_equal(create_qp(&v, &good, 47, IBV_QPT_RC, 8, &qp), -EINVAL);
	memcpy(raw, &good, sizeof(good));
	raw[63] = 1;
	assert_int_equal(create_qp(&v, (void *)raw, 64, IBV_QPT_RC, 8, &qp), -EINVAL);
	assert_int_equal(test_owned(v.e, SEG_T_UMEM), 2); /* those of the CQ */
	assert_int_equal(test_owned(v.e, SEG_T_QP), 0);
	raw[63] = 0;
	assert_int_equal(create_qp(&v, (void *)raw, 64, IBV_QPT_RC, 8, &qp), 0);
	assert_int_equal(destroy(&v, IB_USER_VERBS_CMD_DESTROY_QP, qp.handle), 0);
	assert_int_equal(create_qp(&v, &good, 48, IBV_QPT_UD, 8, &qp), 0);
	/* a queue that the QP does not have has size 0 (create_user_qp()) */
	uhw = good;
	uhw.db_addr += 8;
	assert_int_equal(create_qp(&v, &uhw, sizeof(uhw), IBV_QPT_RC, 0, &qp), -EINVAL);
	uhw.rq_wqe_count = 0;
	assert_int_equal(create_qp(&v, &uhw, sizeof(uhw), IBV_QPT_RC, 0, &qp), -EINVAL);
	uhw.rq_wqe_shift = 0;
	assert_int_equal(create_qp(&v, &uhw, sizeof(uhw), IBV_QPT_RC, 0, &qp), 0);
	assert_true(hw_qp(&v.e->seg, qp.qpn)->no_rq);
	assert_int_equal(qp.resp.max_recv_sge, 0);
	verbs_close(&v);
}

static int modify_qp(struct verbs *v, const struct qp *qp, struct ib_uverbs_modify_qp *cmd,
		     uint32_t mask)
{
	struct mlx5_ib_modify_qp uhw = {0};
	struct test_write w = {
		.cmd = IB_USER_VERBS_CMD_MODIFY_QP,
		WRITE_IN(*cmd),
		WRITE_UHW_IN(uhw),
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
		WRITE_IN(cmd),
		WRITE_OUT(*resp),
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
	/* without responder resources READs cannot be allowed, as in the kernel */
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
	assert_int_equal(hw->path[0].dlid, 0x2a);
	assert_int_equal(hw->mtu, 2048);
	assert_int_equal(hw->path[0].port, hw_hca(&v.e->seg, v.e->hca)->port[1]);

	err = (struct ib_uverbs_modify_qp){.qp_state = IBV_QPS_ERR};
	assert_int_equal(modify_qp(&v, &qp, &err, IBV_QP_STATE), 0);
	assert_int_equal(query_qp(&v, &qp, &q), 0);
	assert_int_equal(q.qp_state, IBV_QPS_ERR);
	err.qp_state = IBV_QPS_RESET;
	assert_int_equal(modify_qp(&v, &qp, &err, IBV_QP_STATE), 0);
	assert_int_equal(modify_qp(&v, &qp, &err, IBV_QP_STATE), 0);
	assert_int_equal(hw->state, PRM_QP_STATE_RST);
	verbs_close(&v);
}

/*
 * The rules of set_qpc_atomic: to_mlx5_access_flags() and get_atomic_mode() in the kernel's
 * mlx5/qp.c.
 */
static void test_atomics_are_allowed_with_resources(void **state)
{
	struct ib_uverbs_modify_qp init = to_init(), rtr = to_rtr(), rts = to_rts();
	struct ib_uverbs_query_qp_resp q;
	const struct hw_qp *hw;
	struct verbs v;
	struct qp qp;

	verbs_open(&v, *state);
	qp_open(&v, &qp, IBV_QPT_RC);
	hw = hw_qp(&v.e->seg, qp.qpn);
	init.qp_access_flags = IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_REMOTE_WRITE;
	assert_int_equal(modify_qp(&v, &qp, &init, INIT_MASK), 0);
	assert_int_equal(hw->rae, 0); /* max_dest_rd_atomic is still 0 */
	assert_int_equal(modify_qp(&v, &qp, &rtr, RTR_MASK), 0);
	assert_int_equal(hw->rae, 1);
	assert_int_equal(hw->rre, 0);
	assert_int_equal(hw->atomic_mode, 3);
	assert_int_equal(modify_qp(&v, &qp, &rts, RTS_MASK), 0);
	assert_int_equal(query_qp(&v, &qp, &q), 0);
	assert_int_equal(q.qp_access_flags, IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_REMOTE_WRITE);
	rts.qp_access_flags = IBV_ACCESS_REMOTE_READ;
	assert_int_equal(modify_qp(&v, &qp, &rts, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS), 0);
	assert_int_equal(hw->rae, 0);
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
	assert_int_equal(hw->state, PRM_QP_STATE_RST);
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
	assert_int_equal(hw->state, PRM_QP_STATE_INIT);
	assert_int_equal(modify_qp(&v, &qp, &rtr, RTR_MASK), 0);
	verbs_close(&v);
}

/* The result of static_rate: the kernel's ib_rate_to_mlx5() and mlx5_to_ib_rate_map(). */
static void test_static_rates(void **state)
{
	static const struct {
		uint8_t set, got;
	} rates[] = {
		{IBV_RATE_MAX, IBV_RATE_MAX},           {IBV_RATE_2_5_GBPS, IBV_RATE_2_5_GBPS},
		{IBV_RATE_5_GBPS, IBV_RATE_5_GBPS},     {IBV_RATE_120_GBPS, IBV_RATE_120_GBPS},
		{IBV_RATE_14_GBPS, IBV_RATE_120_GBPS}, /* unsupported: rounded down */
		{IBV_RATE_56_GBPS, IBV_RATE_56_GBPS},   {IBV_RATE_25_GBPS, IBV_RATE_25_GBPS},
		{IBV_RATE_100_GBPS, IBV_RATE_100_GBPS}, {IBV_RATE_200_GBPS, IBV_RATE_200_GBPS},
		{IBV_RATE_300_GBPS, IBV_RATE_200_GBPS}, {IBV_RATE_50_GBPS, IBV_RATE_50_GBPS},
		{IBV_RATE_400_GBPS, IBV_RATE_50_GBPS}, /* limit of a ConnectX-6 */
	};
	struct ib_uverbs_modify_qp init = to_init(), rtr = to_rtr();
	struct verbs v;

	verbs_open(&v, *state);
	for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
		struct ib_uverbs_query_qp_resp r;
		struct qp qp;

		qp_open(&v, &qp, IBV_QPT_RC);
		assert_int_equal(modify_qp(&v, &qp, &init, INIT_MASK), 0);
		rtr.dest.static_rate = rates[i].set;
		assert_int_equal(modify_qp(&v, &qp, &rtr, RTR_MASK), 0);
		assert_int_equal(query_qp(&v, &qp, &r), 0);
		assert_int_equal(r.dest.static_rate, rates[i].got);
	}
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

/* mlx5_set_path() on Ethernet: MAC address, priority, DSCP, UDP source port. */
static void a_path_over_ethernet(void **state)
{
	struct ib_uverbs_modify_qp init = to_init(), rtr = to_rtr();
	struct ib_uverbs_query_qp_resp q;
	const struct hw_qp *hw;
	const uint8_t *ads;
	struct verbs v;
	struct qp qp;
	uint32_t to;

	verbs_open(&v, *state);
	qp_open(&v, &qp, IBV_QPT_RC);
	to = hw_hca(&v.e->seg, v.e->hca)->port[0];
	assert_int_equal(modify_qp(&v, &qp, &init, INIT_MASK), 0);
	rtr.dest.sgid_index = 3;
	memcpy(rtr.dest.dgid, hw_port(&v.e->seg, to)->gid[2], 16);
	rtr.dest.sl = 0xd;
	rtr.dest.traffic_class = 0x6b;
	assert_int_equal(modify_qp(&v, &qp, &rtr, RTR_MASK), 0);
	hw = hw_qp(&v.e->seg, qp.qpn);
	assert_int_equal(hw->path[0].dlid, fab_eth_addr_of(to));
	assert_int_equal(hw->path[0].sgid_index, 3);
	assert_int_equal(hw->path[0].sl, 5);
	ads = hw->qpc + LP_qpc_primary_address_path;
	assert_int_equal(LAYOUT_GET(ads, ads, eth_prio), 5);
	assert_int_equal(LAYOUT_GET(ads, ads, dscp), 0x6b >> 2);
	assert_int_equal(LAYOUT_GET(ads, ads, hop_limit), 64); /* of the route */
	/* rdma_flow_label_to_udp_sport(0x12345) */
	assert_int_equal(LAYOUT_GET(ads, ads, udp_sport), 0xc000 | (0x2345 ^ 4));
	assert_int_equal(LAYOUT_GET(ads, ads, grh), 0);
	assert_int_equal(LAYOUT_GET(ads, ads, rlid), 0);
	/* to_rdma_ah_attr() takes the SL from a field that RoCE does not use */
	assert_int_equal(query_qp(&v, &qp, &q), 0);
	assert_int_equal(q.dest.is_global, 1);
	assert_int_equal(q.dest.sgid_index, 3);
	assert_int_equal(q.dest.dlid, 0);
	assert_int_equal(q.dest.sl, 0);
	assert_int_equal(q.dest.traffic_class, 0x6b);
	assert_memory_equal(q.dest.dgid, rtr.dest.dgid, 16);
	verbs_close(&v);
}

/* Without a flow label both ends make the same port of both QP numbers; RoCE v1 has none. */
static void source_ports_follow_from_qp_numbers(void **state)
{
	static const struct {
		uint32_t index;
		bool has;
	} rows[] = {{0, false}, {1, true}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ib_uverbs_modify_qp init = to_init(), rtr = to_rtr();
		uint64_t v64;
		struct verbs v;
		struct qp qp;

		verbs_open(&v, *state);
		qp_open(&v, &qp, IBV_QPT_RC);
		assert_int_equal(modify_qp(&v, &qp, &init, INIT_MASK), 0);
		rtr.dest.sgid_index = (uint8_t)rows[i].index;
		rtr.dest.flow_label = 0;
		memcpy(rtr.dest.dgid,
		       hw_port(&v.e->seg, hw_hca(&v.e->seg, v.e->hca)->port[0])->gid[0], 16);
		assert_int_equal(modify_qp(&v, &qp, &rtr, RTR_MASK), 0);
		v64 = (uint64_t)qp.qpn * 0x654321;
		v64 ^= v64 >> 20;
		v64 ^= v64 >> 40;
		v64 &= 0xfffff;
		assert_int_equal(
			LAYOUT_GET(ads, hw_qp(&v.e->seg, qp.qpn)->qpc + LP_qpc_primary_address_path,
				   udp_sport),
			rows[i].has ? 0xc000 | ((v64 & 0x3fff) ^ v64 >> 14) : 0);
		verbs_close(&v);
		test_teardown(state);
		test_setup_eth(state);
	}
}

int main(void)
{
#define T_ETH(f) cmocka_unit_test_setup_teardown(f, test_setup_eth, test_teardown)
#define T(f) cmocka_unit_test_setup_teardown(f, test_setup, test_teardown)
	const struct CMUnitTest tests[] = {
		T(test_qp_becomes_a_firmware_qp),
		T(test_scatter_to_cqe_is_the_firmwares),
		T(test_bad_qps_leave_nothing),
		T(test_attributes_come_back),
		T(test_atomics_are_allowed_with_resources),
		T(test_bad_modifies_change_nothing),
		T(test_static_rates),
		T(test_devx_reaches_verbs_objects_that_it_names),
		T_ETH(a_path_over_ethernet),
		T_ETH(source_ports_follow_from_qp_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
