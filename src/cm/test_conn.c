/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Connections are made: the messages, the events, what the QPs get, listeners. */
#include "cm/test.h"
#include "cm/for_tests.h"

/* cm_convert_to_ms(): twice the path's life time, plus the peer's response time. */
#define REQ_TIMEOUT MSEC(4 * 2 + 32)

static void test_connect_and_disconnect(void **state)
{
	for (int at_once = 0; at_once < 2; at_once++) {
		struct net *n = net_new();
		struct end a = {0}, b = {0};
		struct cm_id *l;

		n->at_once = at_once;
		l = net_connect(n, &a, &b);
		END_SAW(&a, CM_REP_RECEIVED);
		END_SAW(&b, CM_REQ_RECEIVED, CM_RTU_RECEIVED);
		assert_int_equal(cm_remote_id(a.id), cm_local_id(b.id));
		assert_int_equal(cm_remote_id(b.id), cm_local_id(a.id));
		assert_int_equal(cm_count(n->cm), 3);
		assert_int_equal(cm_send_dreq(at_once ? b.id : a.id, "end", 3), 0);
		net_run(n, MSEC(2));
		assert_int_equal(cm_state(a.id), CM_TIMEWAIT);
		assert_int_equal(cm_state(b.id), CM_TIMEWAIT);
		net_run(n, MSEC(1000));
		if (at_once) {
			END_SAW(&a, CM_REP_RECEIVED, CM_DREQ_RECEIVED, CM_TIMEWAIT_EXIT);
			END_SAW(&b, CM_REQ_RECEIVED, CM_RTU_RECEIVED, CM_DREP_RECEIVED,
				CM_TIMEWAIT_EXIT);
		} else {
			END_SAW(&a, CM_REP_RECEIVED, CM_DREP_RECEIVED, CM_TIMEWAIT_EXIT);
			END_SAW(&b, CM_REQ_RECEIVED, CM_RTU_RECEIVED, CM_DREQ_RECEIVED,
				CM_TIMEWAIT_EXIT);
		}
		assert_int_equal(cm_state(a.id), CM_IDLE);
		cm_destroy(a.id);
		cm_destroy(b.id);
		cm_destroy(l);
		assert_int_equal(cm_count(n->cm), 0);
		assert_int_equal(cm_run_due(n->cm), UINT64_MAX);
		net_free(n);
	}
}

/* cm_format_req_event(), cm_format_rep_event() */
static void test_events_say_what_the_messages_say(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {0};
	struct cm_id *l = end_listen(n, &b, 2);
	struct cm_path back = net_path(2, 0);

	b.on_req = leave_it;
	end_connect(n, &a, 0, 2, 0x55);
	net_run(n, MSEC(1));
	assert_int_equal(b.last.len, CM_REQ_DATA);
	assert_memory_equal(b.data, "hello\0\0", 7);
	assert_ptr_equal(b.last.req.listener, l);
	assert_int_equal(b.last.req.port, 2);
	assert_int_equal(b.last.req.bth_pkey, 0xffff);
	assert_memory_equal(b.last.req.path.sgid, back.sgid, 16);
	assert_memory_equal(b.last.req.path.dgid, back.dgid, 16);
	assert_int_equal(b.last.req.path.slid, 3);
	assert_int_equal(b.last.req.path.dlid, 1);
	assert_int_equal(b.last.req.path.mtu, 4);
	assert_int_equal(b.last.req.path.rate, 3);
	/* cm_ack_timeout(8, 10) is 11; cm_format_paths_from_req() subtracts 1 */
	assert_int_equal(b.last.req.path.packet_life_time, 10);
	assert_false(b.last.req.has_alt);
	assert_int_equal(b.last.req.service_id, SERVICE);
	assert_int_equal(b.last.req.remote_ca_guid, 0x1000);
	assert_int_equal(b.last.req.remote_qpn, 0x55);
	assert_int_equal(b.last.req.starting_psn, 0x100);
	assert_int_equal(b.last.req.transport, CM_RC);
	assert_int_equal(b.last.req.responder_resources, 5);
	assert_int_equal(b.last.req.initiator_depth, 4);
	assert_int_equal(b.last.req.retry_count, 7);
	assert_int_equal(b.last.req.rnr_retry_count, 5);
	assert_int_equal(b.last.req.ece.vendor_id, 0x123456);
	assert_int_equal(b.last.req.ece.attr_mod, 0x789);

	assert_int_equal(cm_send_rep(b.id,
				     &(struct cm_rep){
					     .qpn = 0x77,
					     .starting_psn = 0x200,
					     .responder_resources = 3,
					     .initiator_depth = 2,
					     .failover_accepted = 2,
					     .rnr_retry_count = 6,
					     .flow_control = true,
					     .srq = true,
					     .ece = {0xabcdef, 5},
					     .data = "yes",
					     .len = 3,
				     }),
			 0);
	net_run(n, MSEC(1));
	assert_int_equal(a.last.len, CM_REP_DATA);
	assert_memory_equal(a.data, "yes", 4);
	assert_int_equal(a.last.rep.remote_ca_guid, 0x1002);
	assert_int_equal(a.last.rep.remote_qpn, 0x77);
	assert_int_equal(a.last.rep.starting_psn, 0x200);
	assert_int_equal(a.last.rep.responder_resources, 2);
	assert_int_equal(a.last.rep.initiator_depth, 3);
	assert_int_equal(a.last.rep.target_ack_delay, 8);
	assert_int_equal(a.last.rep.failover_accepted, 2);
	assert_int_equal(a.last.rep.rnr_retry_count, 6);
	assert_true(a.last.rep.flow_control && a.last.rep.srq);
	assert_int_equal(a.last.rep.ece.vendor_id, 0xabcdef);
	assert_int_equal(a.last.rep.ece.attr_mod, 5);
	net_free(n);
}

/* ib_cm_init_qp_attr() */
static void test_attributes_of_the_qps(void **state)
{
	const uint32_t init = IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	const uint32_t rtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	const uint32_t rts = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			     IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_TIMEOUT;
	struct net *n = net_new();
	struct end a = {0}, b = {0};
	struct cm_qp_attr x;

	end_listen(n, &b, 2);
	b.on_req = accept_it;
	end_connect(n, &a, 0, 2, 0x55);
	assert_int_equal(cm_init_qp_attr(a.id, IBV_QPS_INIT, &x), 0);
	assert_int_equal(x.mask, init);
	assert_int_equal(x.port_num, 1);
	assert_int_equal(x.access, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
					   IBV_ACCESS_REMOTE_ATOMIC);
	assert_int_equal(cm_init_qp_attr(a.id, IBV_QPS_RTR, &x), -EINVAL);
	assert_int_equal(cm_init_qp_attr(a.id, IBV_QPS_ERR, &x), -EINVAL);
	net_run(n, MSEC(2));
	assert_int_equal(cm_state(a.id), CM_REP_RCVD);
	assert_int_equal(cm_init_qp_attr(a.id, IBV_QPS_RTR, &x), 0);
	assert_int_equal(x.mask, rtr);
	assert_int_equal(x.path.dlid, 3);
	assert_false(x.grh);
	assert_int_equal(x.path_mtu, 4);
	assert_int_equal(x.dest_qpn, 0x77);
	assert_int_equal(x.rq_psn, 0x100);
	/* cm_rep_handler() takes it from the peer's initiator depth */
	assert_int_equal(x.max_dest_rd_atomic, 2);
	assert_int_equal(cm_init_qp_attr(a.id, IBV_QPS_RTS, &x), 0);
	assert_int_equal(x.mask, rts);
	assert_int_equal(x.sq_psn, 0x200);
	assert_int_equal(x.retry_cnt, 7);
	assert_int_equal(x.rnr_retry, 6);
	assert_int_equal(x.max_rd_atomic, 3);
	assert_int_equal(x.timeout, cm_ack_timeout(8, LIFE_TIME));
	assert_int_equal(cm_init_qp_attr(b.id, IBV_QPS_RTR, &x), 0);
	assert_int_equal(x.path.dlid, 1);
	assert_int_equal(x.dest_qpn, 0x55);
	assert_int_equal(x.rq_psn, 0x200);
	assert_int_equal(x.max_dest_rd_atomic, 3);
	assert_int_equal(cm_init_qp_attr(b.id, IBV_QPS_RTS, &x), 0);
	assert_int_equal(x.sq_psn, 0x100);
	assert_int_equal(x.rnr_retry, 5);
	net_free(n);
}

/* UC and XRC set other fields: cm_req_set_qp_type(), cm_rep_get_qpn(), and other masks. */
static void test_other_transports(void **state)
{
	static const struct {
		enum cm_transport transport;
		uint32_t active_rtr, active_rts, passive_rtr, passive_rts;
	} rows[] = {
		{CM_UC, 0, 0, 0, 0},
		{CM_XRC, 0,
		 IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_TIMEOUT,
		 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER, IBV_QP_TIMEOUT},
	};
	const uint32_t rtr =
		IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	const uint32_t rts = IBV_QP_STATE | IBV_QP_SQ_PSN;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct net *n = net_new();
		struct end a = {.net = n, .rtu = true}, b = {.on_req = accept_it};
		struct cm_path path = net_path(0, 2);
		struct cm_req req = net_req(0, &path, 0x55);
		struct cm_qp_attr x;

		req.transport = rows[i].transport;
		end_listen(n, &b, 2);
		a.id = cm_create(n->cm, 0, end_handler, &a);
		assert_int_equal(cm_send_req(a.id, &req), 0);
		net_run(n, MSEC(5));
		assert_int_equal(cm_state(b.id), CM_ESTABLISHED);
		assert_int_equal(cm_init_qp_attr(a.id, IBV_QPS_RTR, &x), 0);
		assert_int_equal(x.mask, rtr | rows[i].active_rtr);
		assert_int_equal(x.dest_qpn, 0x77);
		assert_int_equal(cm_init_qp_attr(a.id, IBV_QPS_RTS, &x), 0);
		assert_int_equal(x.mask, rts | rows[i].active_rts);
		assert_int_equal(cm_init_qp_attr(b.id, IBV_QPS_RTR, &x), 0);
		assert_int_equal(x.mask, rtr | rows[i].passive_rtr);
		assert_int_equal(cm_init_qp_attr(b.id, IBV_QPS_RTS, &x), 0);
		assert_int_equal(x.mask, rts | rows[i].passive_rts);
		net_free(n);
	}
}

static void test_a_request_of_no_transport(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {.on_req = leave_it};

	end_listen(n, &b, 2);
	n->cut = true;
	end_connect(n, &a, 0, 2, 0x55);
	n->cut = false;
	CM_SET(cm_req, n->last[AT(REQ)].mad + CM_MSG, transport_service_type, CM_TRANSPORT_EXT);
	net_arrive(n, &n->last[AT(REQ)]);
	assert_int_equal(b.last.req.transport, CM_NONE);
	net_free(n);
}

/* Loses each kind of message once: its repetition still makes the connection. */
static void test_a_lost_message_comes_again(void **state)
{
	static const struct {
		uint32_t attr;
		unsigned int req, rep, rtu;
	} rows[] = {
		{AT(REQ), 2, 1, 1},
		{AT(REP), 1, 2, 1}, /* of the passive end */
		{AT(RTU), 1, 2, 2}, /* cm_dup_rep_handler() */
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct net *n = net_new();
		struct end a = {.rtu = true}, b = {.on_req = accept_it};

		end_listen(n, &b, 2);
		n->drop[rows[i].attr] = 1;
		end_connect(n, &a, 0, 2, 0x55);
		net_run(n, MSEC(200));
		assert_int_equal(cm_state(a.id), CM_ESTABLISHED);
		assert_int_equal(cm_state(b.id), CM_ESTABLISHED);
		END_SAW(&a, CM_REP_RECEIVED);
		END_SAW(&b, CM_REQ_RECEIVED, CM_RTU_RECEIVED);
		assert_memory_equal(b.data, "ready", 6);
		assert_int_equal(n->sent[AT(REQ)], rows[i].req);
		assert_int_equal(n->sent[AT(REP)], rows[i].rep);
		assert_int_equal(n->sent[AT(RTU)], rows[i].rtu);
		net_free(n);
	}
}

static void test_a_message_twice_is_one_event(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {0};

	for (uint32_t i = 0; i < NET_ATTRS; i++)
		n->twice[i] = 2;
	net_connect(n, &a, &b);
	END_SAW(&a, CM_REP_RECEIVED);
	END_SAW(&b, CM_REQ_RECEIVED, CM_RTU_RECEIVED);
	cm_send_dreq(a.id, NULL, 0);
	net_run(n, MSEC(2));
	END_SAW(&a, CM_REP_RECEIVED, CM_DREP_RECEIVED);
	END_SAW(&b, CM_REQ_RECEIVED, CM_RTU_RECEIVED, CM_DREQ_RECEIVED);
	net_free(n);
}

static void test_nobody_answers(void **state)
{
	struct net *n = net_new();
	struct end a = {0};

	n->cut = true;
	end_connect(n, &a, 0, 2, 0x55);
	net_run(n, MSEC(1000));
	END_SAW(&a, CM_REQ_ERROR);
	assert_int_equal(n->sent[AT(REQ)], 1 + RETRIES);
	for (unsigned int i = 0; i <= RETRIES; i++)
		assert_int_equal(n->sent_at[AT(REQ)][i], NSEC_PER_SEC + i * REQ_TIMEOUT);
	assert_int_equal(a.at[0], NSEC_PER_SEC + (1 + RETRIES) * REQ_TIMEOUT);
	assert_int_equal(cm_state(a.id), CM_IDLE);
	net_free(n);
}

static void test_nobody_is_ready(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {.on_req = accept_it};

	end_listen(n, &b, 2);
	end_connect(n, &a, 0, 2, 0x55);
	net_run(n, NET_DELAY);
	n->cut = true;
	net_run(n, MSEC(1000));
	END_SAW(&b, CM_REQ_RECEIVED, CM_REP_ERROR);
	/* a REP is repeated after the active end's response time: 32 ms */
	assert_int_equal(b.at[1] - b.at[0], MSEC(32) * (1 + RETRIES));
	assert_int_equal(cm_state(b.id), CM_IDLE);
	net_free(n);
}

/* cm_mra_handler(): each later try waits for the MRA's service time plus the ack timeout. */
static void test_mra_gives_time(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {.on_req = leave_it};
	uint64_t from;

	end_listen(n, &b, 2);
	end_connect(n, &a, 0, 2, 0x55);
	net_run(n, MSEC(1));
	assert_int_equal(cm_send_mra(b.id, 20, "wait", 4), 0);
	assert_int_equal(cm_state(b.id), CM_MRA_REQ_SENT);
	net_run(n, MSEC(1));
	END_SAW(&a, CM_MRA_RECEIVED);
	assert_memory_equal(a.data, "wait", 5);
	assert_int_equal(a.last.mra.service_timeout, 20);
	assert_int_equal(cm_state(a.id), CM_MRA_REQ_RCVD);
	from = a.at[0];
	n->cut = true;
	net_run(n, MSEC(100000));
	END_SAW(&a, CM_MRA_RECEIVED, CM_REQ_ERROR);
	/* the MRA's service time, 2^(20-8) ms, plus the path's ack timeout, 2^(11-8) ms */
	assert_int_equal(a.at[1] - from, MSEC(4096 + 8) * (1 + RETRIES));
	net_free(n);
}

/* cm_dup_req_handler(): a repeated REQ is answered by the MRA, which was lost or delayed. */
static void test_mra_is_repeated(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {.on_req = leave_it};

	end_listen(n, &b, 2);
	end_connect(n, &a, 0, 2, 0x55);
	net_run(n, MSEC(1));
	assert_int_equal(cm_send_mra(b.id, 18 | CM_MRA_DELAY, NULL, 0), 0);
	assert_int_equal(n->sent[AT(MRA)], 0);
	net_run(n, REQ_TIMEOUT);
	assert_int_equal(n->sent[AT(MRA)], 1);
	END_SAW(&a, CM_MRA_RECEIVED);
	assert_int_equal(a.last.mra.service_timeout, 18);
	accept_it(&b, NULL);
	net_run(n, MSEC(1));
	END_SAW(&a, CM_MRA_RECEIVED, CM_REP_RECEIVED);
	/* the active end may send an MRA for a REP */
	assert_int_equal(cm_send_mra(a.id, 16, NULL, 0), 0);
	net_run(n, MSEC(1));
	END_SAW(&b, CM_REQ_RECEIVED, CM_MRA_RECEIVED);
	assert_int_equal(cm_state(b.id), CM_MRA_REP_RCVD);
	assert_int_equal(cm_send_rtu(a.id, NULL, 0), 0);
	net_run(n, MSEC(1));
	assert_int_equal(cm_state(b.id), CM_ESTABLISHED);
	net_free(n);
}

/* ib_cm_notify() */
static void test_a_message_on_the_qp_is_as_good_as_an_rtu(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {.on_req = accept_it};

	end_listen(n, &b, 2);
	end_connect(n, &a, 0, 2, 0x55);
	assert_int_equal(cm_notify(a.id, IBV_EVENT_COMM_EST), -EINVAL);
	net_run(n, MSEC(1));
	assert_int_equal(cm_notify(b.id, IBV_EVENT_PATH_MIG), -EINVAL);
	assert_int_equal(cm_notify(b.id, IBV_EVENT_SQ_DRAINED), -EINVAL);
	assert_int_equal(cm_notify(b.id, IBV_EVENT_COMM_EST), 0);
	END_SAW(&b, CM_REQ_RECEIVED, CM_USER_ESTABLISHED);
	assert_int_equal(cm_notify(b.id, IBV_EVENT_COMM_EST), -EISCONN);
	assert_int_equal(cm_send_rtu(a.id, NULL, 0), 0);
	net_run(n, MSEC(200));
	END_SAW(&b, CM_REQ_RECEIVED, CM_USER_ESTABLISHED);
	assert_int_equal(n->sent[AT(REP)], 1);
	net_free(n);
}

/* ib_cm_listen(), ib_cm_insert_listen() */
static void test_listeners(void **state)
{
	struct net *n = net_new();
	struct cm_id *a = cm_create(n->cm, 0, end_handler, n), *b, *c;
	int err;

	assert_int_equal(cm_listen(a, SERVICE), 0);
	assert_int_equal(cm_listen(a, SERVICE + 1), -EINVAL);
	b = cm_create(n->cm, 0, end_handler, n);
	assert_int_equal(cm_listen(b, SERVICE), -EBUSY);
	assert_int_equal(cm_state(b), CM_IDLE);
	assert_int_equal(cm_listen(b, UINT64_C(0x0200000000000001)), -EINVAL);
	assert_int_equal(cm_listen(b, UINT64_C(0x0200000000000000)), 0);
	assert_int_equal(cm_service_id(b), UINT64_C(0x0200000000000000));
	c = cm_create(n->cm, 1, end_handler, n);
	assert_int_equal(cm_listen(c, SERVICE), 0); /* another adapter */
	cm_destroy(a);
	cm_destroy(b);
	cm_destroy(c);
	assert_int_equal(cm_count(n->cm), 0);

	a = cm_insert_listen(n->cm, 0, end_handler, SERVICE, &err);
	assert_non_null(a);
	assert_ptr_equal(cm_insert_listen(n->cm, 0, end_handler, SERVICE, &err), a);
	assert_null(cm_insert_listen(n->cm, 0, NULL, SERVICE, &err));
	assert_int_equal(err, -EINVAL);
	b = cm_create(n->cm, 0, end_handler, n);
	assert_int_equal(cm_listen(b, SERVICE), -EBUSY);
	cm_destroy(a);
	assert_int_equal(cm_state(a), CM_LISTEN);
	assert_int_equal(cm_listen(b, SERVICE), -EBUSY);
	cm_destroy(a);
	assert_int_equal(cm_listen(b, SERVICE), 0);
	net_free(n);
}

static void test_a_call_in_the_wrong_state_is_refused(void **state)
{
	struct net *n = net_new();
	struct end a = {.net = n};
	struct cm_id *id = cm_create(n->cm, 0, end_handler, &a);
	struct cm_path path = net_path(0, 2);
	struct cm_req req = net_req(0, &path, 1);
	struct cm_rep rep = {0};
	uint8_t room[256] = {0};

	assert_int_equal(cm_send_rep(id, &rep), -EINVAL);
	assert_int_equal(cm_send_rtu(id, NULL, 0), -EINVAL);
	assert_int_equal(cm_send_dreq(id, NULL, 0), -EINVAL);
	assert_int_equal(cm_send_drep(id, NULL, 0), -EINVAL);
	assert_int_equal(cm_send_rej(id, 1, NULL, 0, NULL, 0), -EINVAL);
	assert_int_equal(cm_send_mra(id, 1, NULL, 0), -EINVAL);
	assert_int_equal(cm_send_sidr_rep(id, &(struct cm_sidr_rep){0}), -EINVAL);
	/* the errors of cm_validate_req_param() and cm_init_av_by_path() */
	req.path = NULL;
	assert_int_equal(cm_send_req(id, &req), -EINVAL);
	req.path = &path;
	req.transport = CM_NONE;
	assert_int_equal(cm_send_req(id, &req), -EINVAL);
	req.transport = CM_RC;
	req.data = room;
	req.len = CM_REQ_DATA + 1;
	assert_int_equal(cm_send_req(id, &req), -EINVAL);
	req.len = CM_REQ_DATA;
	path.pkey = 0x8003;
	assert_int_equal(cm_send_req(id, &req), -ENOENT);
	path.pkey = 0x0001; /* this P_Key also matches the entry of a full member (0x8001) */
	req.port = NET_PORTS;
	assert_int_equal(cm_send_req(id, &req), -EINVAL);
	req.port = 0;
	assert_int_equal(cm_send_req(id, &req), 0);
	assert_int_equal(n->last[AT(REQ)].pkey_index, 2);
	assert_int_equal(cm_send_req(id, &req), -EINVAL);
	net_free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_connect_and_disconnect),
		cmocka_unit_test(test_events_say_what_the_messages_say),
		cmocka_unit_test(test_attributes_of_the_qps),
		cmocka_unit_test(test_other_transports),
		cmocka_unit_test(test_a_request_of_no_transport),
		cmocka_unit_test(test_a_lost_message_comes_again),
		cmocka_unit_test(test_a_message_twice_is_one_event),
		cmocka_unit_test(test_nobody_answers),
		cmocka_unit_test(test_nobody_is_ready),
		cmocka_unit_test(test_mra_gives_time),
		cmocka_unit_test(test_mra_is_repeated),
		cmocka_unit_test(test_a_message_on_the_qp_is_as_good_as_an_rtu),
		cmocka_unit_test(test_listeners),
		cmocka_unit_test(test_a_call_in_the_wrong_state_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
