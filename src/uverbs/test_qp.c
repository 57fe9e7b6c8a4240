/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The QP state machine's rules, MODIFY_QP and QUERY_QP. */
#include "uverbs/test.h"

#define S IBV_QP_STATE
#define CUR IBV_QP_CUR_STATE
#define ACC IBV_QP_ACCESS_FLAGS
#define PKEY IBV_QP_PKEY_INDEX
#define PORT IBV_QP_PORT
#define QKEY IBV_QP_QKEY
#define AV IBV_QP_AV

static const uint32_t rtr_rc = AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
static const uint32_t rts_rc = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			       IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;

struct row {
	uint32_t cur, next, type, must, may;
};

/* The table in the man page of ibv_modify_qp, and the states that it leaves out. */
static const struct row rows[] = {
	{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPT_RC, PKEY | PORT | ACC, 0},
	{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPT_UC, PKEY | PORT | ACC, 0},
	{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPT_UD, PKEY | PORT | QKEY, 0},
	{IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPT_RC, 0, ACC | PKEY | IBV_QP_ALT_PATH},
	{IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPT_UD, 0, PKEY | QKEY},
	{IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPT_RC, 0,
	 CUR | ACC | IBV_QP_MIN_RNR_TIMER | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE},
	{IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPT_UD, IBV_QP_SQ_PSN, CUR | QKEY},
	{IBV_QPS_RTS, IBV_QPS_RTS, IBV_QPT_UD, 0, CUR | QKEY},
	{IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPT_RC, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
	{IBV_QPS_SQE, IBV_QPS_RTS, IBV_QPT_UD, 0, CUR | QKEY},
	{IBV_QPS_ERR, IBV_QPS_RESET, IBV_QPT_RC, 0, 0},
	{IBV_QPS_RTS, IBV_QPS_ERR, IBV_QPT_UC, 0, 0},
};

static void legal_masks(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct row r = rows[i];

		if (r.next == IBV_QPS_RTR && r.type == IBV_QPT_RC)
			r.must = rtr_rc;
		if (r.next == IBV_QPS_RTS && r.cur == IBV_QPS_RTR && r.type == IBV_QPT_RC)
			r.must = rts_rc;
		assert_true(uv_modify_qp_is_ok(r.cur, r.next, r.type, S | r.must));
		for (uint32_t bit = 1; bit < 1u << 21; bit <<= 1) {
			bool ok = uv_modify_qp_is_ok(r.cur, r.next, r.type, (S | r.must) ^ bit);

			/*
			 * one attribute less is too few, one more is too many, unless it is
			 * optional
			 */
			if (ok != (!!(r.may & bit) || bit == S))
				fail_msg("row %zu bit 0x%x", i, bit);
		}
	}
}

static void illegal_transitions(void **state)
{
	assert_false(uv_modify_qp_is_ok(IBV_QPS_RESET, IBV_QPS_RTR, IBV_QPT_RC, S | rtr_rc));
	assert_false(uv_modify_qp_is_ok(IBV_QPS_RESET, IBV_QPS_ERR, IBV_QPT_RC, S));
	assert_false(uv_modify_qp_is_ok(IBV_QPS_INIT, IBV_QPS_RTS, IBV_QPT_RC, S | rts_rc));
	assert_false(uv_modify_qp_is_ok(IBV_QPS_ERR, IBV_QPS_RTS, IBV_QPT_RC, S));
	assert_false(uv_modify_qp_is_ok(IBV_QPS_RTR, IBV_QPS_RTR, IBV_QPT_RC, S));
	assert_false(uv_modify_qp_is_ok(IBV_QPS_SQE, IBV_QPS_RTS, IBV_QPT_RC, S | CUR));
	assert_false(uv_modify_qp_is_ok(IBV_QPS_RESET, 7, IBV_QPT_RC, S));
	assert_true(uv_modify_qp_is_ok(IBV_QPS_RESET, IBV_QPS_RESET, IBV_QPT_RC, S));
	assert_true(uv_modify_qp_is_ok(IBV_QPS_ERR, IBV_QPS_ERR, IBV_QPT_RC, S));
}

/* ---- MODIFY_QP */

static uint32_t qp;

static int modify(struct ib_uverbs_modify_qp m)
{
	m.qp_handle = qp;
	return COMMAND_IN(MODIFY_QP, m);
}

static int to_init(void)
{
	return modify((struct ib_uverbs_modify_qp){
		.attr_mask = S | PKEY | PORT | ACC, .qp_state = IBV_QPS_INIT, .port_num = 1});
}

static struct ib_uverbs_modify_qp rtr(void)
{
	return (struct ib_uverbs_modify_qp){.attr_mask = S | rtr_rc,
					    .qp_state = IBV_QPS_RTR,
					    .path_mtu = IBV_MTU_1024,
					    .dest = {.port_num = 1, .dlid = 7},
					    .rq_psn = 0xff123456};
}

static int setup_qp(void **state)
{
	uint32_t pd, cq;

	if (env_setup_context(state))
		return -1;
	pd = make_pd();
	cq = make_cq(NULL, -1, 0);
	qp = make_qp(pd, cq, cq, IBV_QPT_RC);
	return 0;
}

static void the_usual_way(void **state)
{
	struct ib_uverbs_modify_qp m = rtr();

	assert_int_equal(to_init(), 0);
	assert_int_equal(the_qp(qp)->state, IBV_QPS_INIT);
	assert_int_equal(the_qp(qp)->port, 1);
	assert_int_equal(modify(m), 0);
	assert_int_equal(env->modify.cur_state, IBV_QPS_INIT);
	assert_int_equal(env->modify.attr.ah_attr.dlid, 7);
	assert_int_equal(env->modify.attr.rq_psn, 0x123456); /* cut to 24 bits */
	m = (struct ib_uverbs_modify_qp){.attr_mask = S | rts_rc, .qp_state = IBV_QPS_RTS};
	assert_int_equal(modify(m), 0);
	m = (struct ib_uverbs_modify_qp){.attr_mask = S, .qp_state = IBV_QPS_ERR};
	assert_int_equal(modify(m), 0);
	m.qp_state = IBV_QPS_RTS;
	assert_int_equal(modify(m), -EINVAL);
	m.qp_state = IBV_QPS_RESET;
	assert_int_equal(modify(m), 0);
	assert_int_equal(the_qp(qp)->state, IBV_QPS_RESET);
}

static void bad_attributes_of_init(void **state)
{
	const struct ib_uverbs_modify_qp good = {
		.attr_mask = S | PKEY | PORT | ACC, .qp_state = IBV_QPS_INIT, .port_num = 1};
	struct ib_uverbs_modify_qp m = good;

	m.port_num = 3;
	assert_int_equal(modify(m), -EINVAL);
	m.port_num = 0;
	assert_int_equal(modify(m), -EINVAL);
	m = good;
	m.pkey_index = FAKE_PKEYS;
	assert_int_equal(modify(m), -EINVAL);
	m = good;
	m.attr_mask |= 1u << 21;
	assert_int_equal(modify(m), -EOPNOTSUPP);
	m = good;
	m.attr_mask |= IBV_QP_SQ_PSN;
	assert_int_equal(modify(m), -EINVAL);
	m = good;
	m.attr_mask &= ~(uint32_t)ACC;
	assert_int_equal(modify(m), -EINVAL);
	m = good;
	m.qp_state = 7;
	assert_int_equal(modify(m), -EINVAL);
	assert_int_equal(the_qp(qp)->state, IBV_QPS_RESET);
	qp = 77;
	assert_int_equal(modify(good), -ENOENT);
}

static void bad_attributes_of_rtr(void **state)
{
	struct ib_uverbs_modify_qp m;

	assert_int_equal(to_init(), 0);
	m = rtr();
	m.dest.port_num = 2; /* not the port given at INIT */
	assert_int_equal(modify(m), -EINVAL);
	m.dest.port_num = 0;
	assert_int_equal(modify(m), -EINVAL);
	m = rtr();
	m.path_mtu = 6;
	assert_int_equal(modify(m), -EINVAL);
	m = rtr();
	m.dest.is_global = 1;
	m.dest.sgid_index = 1;
	assert_int_equal(modify(m), -ENODATA);
	m.dest.sgid_index = FAKE_GIDS;
	assert_int_equal(modify(m), -EINVAL);
	m.dest.sgid_index = 0;
	m.dest.dgid[3] = 0x33;
	assert_int_equal(modify(m), 0);
	assert_int_equal(env->modify.attr.ah_attr.grh.dgid.raw[3], 0x33);
}

/*
 * uverbs_cmd.c, modify_qp_mask(): attributes that an XRC initiator or target does not use are
 * dropped before ib_modify_qp_is_ok() (verbs.c), and the driver does not see them.
 */
static void xrc_attributes_without_use_are_dropped(void **state)
{
	static const struct {
		uint32_t type, state, mask, dropped;
	} steps[] = {
		{IBV_QPT_XRC_SEND, IBV_QPS_RTR, rtr_rc,
		 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER},
		{IBV_QPT_XRC_SEND, IBV_QPS_RTS, rts_rc | IBV_QP_MIN_RNR_TIMER,
		 IBV_QP_MIN_RNR_TIMER},
		{IBV_QPT_XRC_RECV, IBV_QPS_RTR, rtr_rc, 0},
		{IBV_QPT_XRC_RECV, IBV_QPS_RTS, rts_rc,
		 IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY},
	};

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		struct ib_uverbs_modify_qp m = rtr();

		m.attr_mask = S | steps[i].mask;
		m.qp_state = (uint8_t)steps[i].state;
		if (steps[i].state == IBV_QPS_RTR) {
			the_qp(qp)->qp_type = steps[i].type;
			the_qp(qp)->state = IBV_QPS_RESET;
			assert_int_equal(to_init(), 0);
		}
		assert_int_equal(modify(m), 0);
		assert_int_equal(env->modify.mask, m.attr_mask & ~steps[i].dropped);
	}
	the_qp(qp)->qp_type = IBV_QPT_RC;
}

static void alternate_path(void **state)
{
	struct ib_uverbs_modify_qp m = rtr();

	assert_int_equal(to_init(), 0);
	m.attr_mask |= IBV_QP_ALT_PATH;
	assert_int_equal(modify(m), -EINVAL); /* there is no port 0 */
	m.alt_port_num = 2;
	assert_int_equal(modify(m), -EINVAL); /* not the path's port */
	m.alt_dest.port_num = 2;
	m.alt_pkey_index = FAKE_PKEYS;
	assert_int_equal(modify(m), -EINVAL);
	m.alt_pkey_index = 0;
	assert_int_equal(modify(m), 0);
}

static void refused_change_changes_nothing(void **state)
{
	env->fail = -EIO;
	assert_int_equal(to_init(), -EIO);
	assert_int_equal(the_qp(qp)->state, IBV_QPS_RESET);
	assert_int_equal(the_qp(qp)->port, 0);
}

static void current_state_is_believed(void **state)
{
	struct ib_uverbs_modify_qp m = {
		.attr_mask = S | CUR, .qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_RTS};

	assert_int_equal(modify(m), 0);
	assert_int_equal(env->modify.cur_state, IBV_QPS_RTS);
	m.cur_qp_state = 9;
	assert_int_equal(modify(m), -EINVAL);
	m.cur_qp_state = IBV_QPS_INIT;
	assert_int_equal(modify(m), -EINVAL);
}

static void privileged_qkey(void **state)
{
	struct ib_uverbs_modify_qp m = {.attr_mask = S | PKEY | PORT | QKEY,
					.qp_state = IBV_QPS_INIT,
					.port_num = 1,
					.qkey = 0x80000001};
	int want = uv_capable(13 /* CAP_NET_RAW */) ? 0 : -EPERM;
	uint32_t pd = make_pd(), cq = make_cq(NULL, -1, 0);

	qp = make_qp(pd, cq, cq, IBV_QPT_UD);
	assert_int_equal(modify(m), want);
}

static void extended_modify(void **state)
{
	struct ib_uverbs_ex_modify_qp m = {.base = {.attr_mask = S | PKEY | PORT | ACC,
						    .qp_state = IBV_QPS_INIT,
						    .port_num = 1}};
	struct ib_uverbs_ex_modify_qp_resp resp = {0};
	uint32_t cmd = IB_USER_VERBS_EX_CMD_MODIFY_QP | IB_USER_VERBS_CMD_FLAG_EXTENDED;

	m.base.qp_handle = qp;
	assert_int_equal(command(cmd, &m, sizeof(m), &resp, sizeof(resp)), 0);
	assert_int_equal(resp.response_length, sizeof(resp));
	m.base.attr_mask |= 1u << 26;
	assert_int_equal(command(cmd, &m, sizeof(m), &resp, sizeof(resp)), -EOPNOTSUPP);
	m.base.attr_mask = S | IBV_QP_RATE_LIMIT;
	assert_int_equal(command(cmd, &m, sizeof(m), &resp, sizeof(resp)), -EINVAL);
}

static void query(void **state)
{
	struct ib_uverbs_query_qp q = {.qp_handle = qp, .attr_mask = S};
	struct ib_uverbs_query_qp_resp resp;

	assert_int_equal(to_init(), 0);
	assert_int_equal(COMMAND(QUERY_QP, q, resp), 0);
	assert_int_equal(resp.qp_state, IBV_QPS_ERR);
	assert_int_equal(resp.dest.dlid, 5);
	assert_int_equal(resp.max_recv_wr, 12);
	/* the next change starts from the state that the hardware reported */
	assert_int_equal(the_qp(qp)->state, IBV_QPS_ERR);
	assert_int_equal(modify(rtr()), -EINVAL);
	q.qp_handle = 77;
	assert_int_equal(COMMAND(QUERY_QP, q, resp), -ENOENT);
}

#define QP(f) cmocka_unit_test_setup_teardown(f, setup_qp, env_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(legal_masks),
		cmocka_unit_test(illegal_transitions),
		QP(the_usual_way),
		QP(bad_attributes_of_init),
		QP(bad_attributes_of_rtr),
		QP(xrc_attributes_without_use_are_dropped),
		QP(alternate_path),
		QP(refused_change_changes_nothing),
		QP(current_state_is_believed),
		QP(privileged_qkey),
		QP(extended_modify),
		QP(query),
	};

	log_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
