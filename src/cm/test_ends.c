/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Connections end: REJ, DREQ, timewait, stale ones, ids that are destroyed in any state. */
#include "cm/test.h"
#include "cm/for_tests.h"

/* ---- REJ */

static int reject_it(struct end *e, const struct cm_event *ev)
{
	assert_int_equal(cm_send_rej(e->id, e->qpn, "info", 4, "no", 2), 0);
	return -ECONNREFUSED;
}

static void test_every_reason_arrives(void **state)
{
	for (uint32_t reason = 1; reason <= 35; reason++) {
		struct net *n = net_new();
		struct end a = {0}, b = {.on_req = reject_it};

		/*
		 * Skip this reason: its REJ names the sender by an id that has sent a REQ, and b
		 * has sent none.
		 */
		if (reason == CM_REJ_TIMEOUT)
			reason++;
		end_listen(n, &b, 2);
		b.qpn = reason;
		end_connect(n, &a, 0, 2, 0x55);
		net_run(n, MSEC(2));
		END_SAW(&a, CM_REJ_RECEIVED);
		assert_int_equal(a.last.rej.reason, reason);
		assert_int_equal(a.last.rej.ari_len, 4);
		assert_memory_equal(a.ari, "info", 4);
		assert_memory_equal(a.data, "no", 3);
		assert_int_equal(cm_state(a.id),
				 reason == CM_REJ_STALE_CONN ? CM_TIMEWAIT : CM_IDLE);
		assert_int_equal(cm_count(n->cm), 2);
		net_run(n, MSEC(1000));
		assert_int_equal(n->sent[AT(REQ)], 1);
		net_free(n);
	}
}

/* The message looks as if a hostile peer had sent it. */
static void test_information_that_is_too_long(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {.on_req = reject_it};

	end_listen(n, &b, 2);
	end_connect(n, &a, 0, 2, 0x55);
	n->drop[AT(REJ)] = 1;
	net_run(n, MSEC(1));
	CM_SET(cm_rej, n->last[AT(REJ)].mad + CM_MSG, rejected_info_length, 127);
	net_arrive(n, &n->last[AT(REJ)]);
	END_SAW(&a, CM_REJ_RECEIVED);
	assert_int_equal(a.last.rej.ari_len, CM_REJ_ARI);
	net_free(n);
}

/* cm_match_req() */
static void test_nobody_listens(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {0};

	end_listen(n, &b, 3); /* another host */
	end_connect(n, &a, 0, 2, 0x55);
	net_run(n, MSEC(2));
	END_SAW(&a, CM_REJ_RECEIVED);
	assert_int_equal(a.last.rej.reason, CM_REJ_INVALID_SERVICE_ID);
	assert_int_equal(a.last.rej.ari_len, 0);
	assert_int_equal(b.n, 0);
	net_free(n);
}

/* cm_process_work() destroys the new id with the handler's error: cm_destroy_id(). */
static void test_what_the_handler_of_a_request_returns(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {.ret = -ECONNABORTED};

	end_listen(n, &b, 2);
	end_connect(n, &a, 0, 2, 0x55);
	net_run(n, MSEC(2));
	END_SAW(&a, CM_REJ_RECEIVED);
	assert_int_equal(a.last.rej.reason, CM_REJ_CONSUMER_DEFINED);
	assert_int_equal(cm_count(n->cm), 2);
	/* without memory the CM sends no REJ, so the peer repeats the REQ */
	b.ret = -ENOMEM;
	cm_destroy(a.id);
	a.n = b.n = 0;
	end_connect(n, &a, 0, 2, 0x55);
	net_run(n, MSEC(2));
	assert_int_equal(a.n, 0);
	b.ret = 0;
	net_run(n, MSEC(50));
	END_SAW(&b, CM_REQ_RECEIVED, CM_REQ_RECEIVED);
	assert_int_equal(cm_state(b.id), CM_REQ_RCVD);
	net_free(n);
}

static void test_requests_with_wrong_paths(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {.on_req = leave_it};
	struct cm_port port;
	struct cm_pkt req;

	end_listen(n, &b, 2);
	n->cut = true;
	end_connect(n, &a, 0, 2, 0x55);
	n->cut = false;
	req = n->last[AT(REQ)];
	/* cm_req_handler(): no port of this host has the GID of the REQ */
	((uint8_t *)LAYOUT_IN(cm_req, primary_remote_port_gid, req.mad + CM_MSG))[15] = 1;
	net_arrive(n, &req);
	net_run(n, MSEC(1));
	END_SAW(&a, CM_REJ_RECEIVED);
	assert_int_equal(a.last.rej.reason, CM_REJ_INVALID_GID);
	net_port(n, 2, &port);
	assert_int_equal(a.last.rej.ari_len, 16);
	assert_memory_equal(a.ari, port.gid, 16);
	cm_destroy(a.id);
	a.n = 0;

	n->cut = true;
	end_connect(n, &a, 0, 2, 0x56);
	n->cut = false;
	req = n->last[AT(REQ)];
	CM_SET(cm_req, req.mad + CM_MSG, alternate_local_port_lid, 2);
	CM_SET(cm_req, req.mad + CM_MSG, alternate_remote_port_lid, 9);
	net_arrive(n, &req);
	net_run(n, MSEC(1));
	END_SAW(&a, CM_REJ_RECEIVED);
	assert_int_equal(a.last.rej.reason, CM_REJ_INVALID_ALT_GID);
	assert_int_equal(b.n, 0);
	assert_int_equal(cm_count(n->cm), 2);
	net_free(n);
}

static void test_an_alternate_path(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {.on_req = leave_it};
	struct cm_path alt = net_path(1, 2);
	struct cm_qp_attr x;
	uint8_t *msg;

	end_listen(n, &b, 2);
	n->cut = true;
	end_connect(n, &a, 0, 2, 0x55);
	n->cut = false;
	msg = n->last[AT(REQ)].mad + CM_MSG;
	CM_SET(cm_req, msg, alternate_local_port_lid, alt.slid);
	CM_SET(cm_req, msg, alternate_remote_port_lid, alt.dlid);
	CM_SET(cm_req, msg, alternate_local_ack_timeout, 12);
	memcpy(LAYOUT_IN(cm_req, alternate_local_port_gid, msg), alt.sgid, 16);
	memcpy(LAYOUT_IN(cm_req, alternate_remote_port_gid, msg), alt.dgid, 16);
	net_arrive(n, &n->last[AT(REQ)]);
	END_SAW(&b, CM_REQ_RECEIVED);
	assert_true(b.last.req.has_alt);
	assert_int_equal(b.last.req.alt.dlid, 2);
	assert_int_equal(cm_init_qp_attr(b.id, IBV_QPS_RTR, &x), 0);
	assert_true(x.mask & IBV_QP_ALT_PATH);
	assert_int_equal(x.alt.dlid, 2);
	assert_int_equal(x.alt_port_num, 1);
	assert_int_equal(x.alt_timeout, 12);
	assert_int_equal(cm_init_qp_attr(b.id, IBV_QPS_RTS, &x), 0);
	assert_true(x.mask & IBV_QP_PATH_MIG_STATE);
	assert_int_equal(x.path_mig_state, IBV_MIG_REARM);
	net_free(n);
}

/* ---- ids that are destroyed: cm_destroy_id() */

static void check_rej(const struct net *n, enum cm_msg which, uint32_t reason, uint32_t local)
{
	const uint8_t *msg = n->last[AT(REJ)].mad + CM_MSG;

	assert_int_equal(n->sent[AT(REJ)], 1);
	assert_int_equal(LAYOUT_GET(cm_rej, msg, message_rejected), which);
	assert_int_equal(LAYOUT_GET(cm_rej, msg, reason), reason);
	assert_int_equal(LAYOUT_GET(cm_rej, msg, local_comm_id), local);
}

static void test_the_active_id_goes(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {.on_req = leave_it};
	uint32_t local;

	end_listen(n, &b, 2);
	end_connect(n, &a, 0, 2, 0x55);
	net_run(n, MSEC(1));
	local = cm_local_id(a.id);
	cm_destroy(a.id);
	check_rej(n, CM_MSG_OTHER, CM_REJ_TIMEOUT, local);
	assert_int_equal(be64_load(n->last[AT(REJ)].mad + CM_MSG + CM_AT_REJ_ARI), 0x1000);
	net_run(n, MSEC(1));
	/* found by the adapter's GUID, cm_acquire_rejected_id() */
	END_SAW(&b, CM_REQ_RECEIVED, CM_REJ_RECEIVED);
	assert_int_equal(b.last.rej.reason, CM_REJ_TIMEOUT);
	assert_int_equal(cm_state(b.id), CM_IDLE);
	net_free(n);

	n = net_new();
	a = (struct end){0};
	b = (struct end){.on_req = accept_it};
	end_listen(n, &b, 2);
	end_connect(n, &a, 0, 2, 0x55);
	net_run(n, MSEC(1));
	assert_int_equal(cm_state(a.id), CM_REP_RCVD);
	local = cm_local_id(a.id);
	cm_destroy(a.id);
	check_rej(n, CM_MSG_REP, CM_REJ_CONSUMER_DEFINED, local);
	net_run(n, MSEC(1));
	END_SAW(&b, CM_REQ_RECEIVED, CM_REJ_RECEIVED);
	net_free(n);
}

static void test_the_passive_id_goes(void **state)
{
	for (int mra = 0; mra < 2; mra++) {
		struct net *n = net_new();
		struct end a = {0}, b = {.on_req = leave_it};
		uint32_t local;

		end_listen(n, &b, 2);
		end_connect(n, &a, 0, 2, 0x55);
		net_run(n, MSEC(1));
		if (mra)
			assert_int_equal(cm_send_mra(b.id, 20, NULL, 0), 0);
		net_run(n, MSEC(1));
		local = mra ? cm_local_id(b.id) : 0;
		cm_destroy(b.id);
		check_rej(n, CM_MSG_REQ, CM_REJ_CONSUMER_DEFINED, local);
		net_run(n, MSEC(1));
		assert_int_equal(end_count(&a, CM_REJ_RECEIVED), 1);
		assert_int_equal(cm_state(a.id), CM_IDLE);
		net_free(n);
	}
}

static void test_an_accepted_id_goes(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {.on_req = accept_it};

	end_listen(n, &b, 2);
	end_connect(n, &a, 0, 2, 0x55);
	net_run(n, MSEC(1));
	cm_destroy(b.id);
	/*
	 * cm_send_rej_locked() enters TIMEWAIT before it fills the REJ, so the REJ names no message
	 */
	assert_int_equal(LAYOUT_GET(cm_rej, n->last[AT(REJ)].mad + CM_MSG, message_rejected),
			 CM_MSG_OTHER);
	net_run(n, MSEC(1));
	END_SAW(&a, CM_REP_RECEIVED, CM_REJ_RECEIVED);
	assert_int_equal(cm_state(a.id), CM_TIMEWAIT);
	net_free(n);
}

static void test_a_connected_id_goes(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {0};

	net_connect(n, &a, &b);
	cm_destroy(b.id);
	assert_int_equal(cm_count(n->cm), 2);
	net_run(n, MSEC(2));
	END_SAW(&a, CM_REP_RECEIVED, CM_DREQ_RECEIVED);
	assert_int_equal(n->sent[AT(DREQ)], 1);
	assert_int_equal(cm_state(a.id), CM_TIMEWAIT);
	net_free(n);
}

/* An XRC target that is destroyed sends no DREQ. */
static void test_an_xrc_target_goes_silently(void **state)
{
	struct net *n = net_new();
	struct end a = {.net = n, .rtu = true}, b = {.on_req = accept_it};
	struct cm_path path = net_path(0, 2);
	struct cm_req req = net_req(0, &path, 0x55);

	req.transport = CM_XRC;
	end_listen(n, &b, 2);
	a.id = cm_create(n->cm, 0, end_handler, &a);
	assert_int_equal(cm_send_req(a.id, &req), 0);
	net_run(n, MSEC(5));
	assert_int_equal(cm_state(b.id), CM_ESTABLISHED);
	cm_destroy(b.id);
	assert_int_equal(n->sent[AT(DREQ)], 0);
	net_free(n);
}

static void test_a_disconnected_id_goes_with_its_answer(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {0};

	net_connect(n, &a, &b);
	b.drep = false;
	cm_send_dreq(a.id, NULL, 0);
	net_run(n, MSEC(1));
	assert_int_equal(cm_state(b.id), CM_DREQ_RCVD);
	cm_destroy(b.id);
	net_run(n, MSEC(1));
	assert_int_equal(n->sent[AT(DREP)], 1);
	assert_int_equal(end_count(&a, CM_DREP_RECEIVED), 1);
	net_free(n);
}

/* ---- DREQ */

static void test_nobody_answers_a_dreq(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {0};
	uint64_t from;

	net_connect(n, &a, &b);
	n->cut = true;
	from = n->now;
	assert_int_equal(cm_send_dreq(a.id, NULL, 0), 0);
	assert_int_equal(cm_send_dreq(a.id, NULL, 0), -EINVAL);
	net_run(n, MSEC(2000));
	END_SAW(&a, CM_REP_RECEIVED, CM_DREQ_ERROR, CM_TIMEWAIT_EXIT);
	assert_int_equal(n->sent[AT(DREQ)], 1 + RETRIES);
	assert_int_equal(a.at[1] - from, MSEC(40) * (1 + RETRIES));
	/* cm_enter_timewait(): timewait lasts for the ack timeout that cm_rep_handler() computed */
	assert_int_equal(a.at[2] - a.at[1], MSEC(1 << (cm_ack_timeout(8, LIFE_TIME) - 8)));
	assert_int_equal(cm_state(a.id), CM_IDLE);
	net_free(n);
}

static void test_a_dreq_comes_again_when_the_drep_is_lost(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {0};

	net_connect(n, &a, &b);
	n->drop[AT(DREP)] = 1;
	b.drep = false;
	cm_send_dreq(a.id, NULL, 0);
	net_run(n, MSEC(1));
	assert_int_equal(cm_send_drep(b.id, "gone", 4), 0);
	net_run(n, MSEC(30));
	assert_int_equal(cm_state(b.id), CM_IDLE);
	/* In IDLE, cm_dreq_handler() does not answer; for an id that is gone it sends a DREP. */
	cm_destroy(b.id);
	net_run(n, MSEC(30));
	assert_int_equal(end_count(&a, CM_DREP_RECEIVED), 1);
	assert_int_equal(end_count(&b, CM_DREQ_RECEIVED), 1);
	assert_int_equal(n->sent[AT(DREQ)], 2);
	net_free(n);
}

static void test_a_dreq_in_timewait_and_of_nobody(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {0};
	struct cm_pkt dreq;

	net_connect(n, &a, &b);
	cm_send_dreq(a.id, NULL, 0);
	dreq = n->last[AT(DREQ)];
	net_run(n, MSEC(1));
	assert_int_equal(n->sent[AT(DREP)], 1);
	net_arrive(n, &dreq);
	assert_int_equal(n->sent[AT(DREP)], 2);
	assert_memory_equal(n->last[AT(DREP)].mad + CM_MSG + CM_AT_DREP_DATA, "bye", 4);
	cm_destroy(b.id);
	net_arrive(n, &dreq);
	assert_int_equal(n->sent[AT(DREP)], 3);
	assert_int_equal(n->last[AT(DREP)].mad[CM_MSG + CM_AT_DREP_DATA], 0);
	assert_int_equal(LAYOUT_GET(cm_drep, n->last[AT(DREP)].mad + CM_MSG, remote_comm_id),
			 cm_local_id(a.id));
	net_free(n);
}

/* cm_dreq_handler(): the DREQ names another QP */
static void test_a_dreq_for_another_qp_is_ignored(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {0};

	net_connect(n, &a, &b);
	n->cut = true;
	cm_send_dreq(a.id, NULL, 0);
	n->cut = false;
	CM_SET(cm_dreq, n->last[AT(DREQ)].mad + CM_MSG, remote_qpn_eecn, 0x78);
	net_arrive(n, &n->last[AT(DREQ)]);
	assert_int_equal(cm_state(b.id), CM_ESTABLISHED);
	net_free(n);
}

static void test_both_disconnect_at_once(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {0};

	net_connect(n, &a, &b);
	cm_send_dreq(a.id, NULL, 0);
	cm_send_dreq(b.id, NULL, 0);
	net_run(n, MSEC(1000));
	assert_int_equal(cm_state(a.id), CM_IDLE);
	assert_int_equal(cm_state(b.id), CM_IDLE);
	assert_int_equal(end_count(&a, CM_DREQ_RECEIVED), 1);
	assert_int_equal(end_count(&b, CM_DREQ_RECEIVED), 1);
	assert_int_equal(end_count(&a, CM_TIMEWAIT_EXIT), 1);
	net_free(n);
}

/* ---- stale connections: cm_match_req(), cm_rep_handler() */

static void test_a_qp_that_has_a_connection_already(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {0}, c = {0};

	net_connect(n, &a, &b);
	/* The host of `a` loses the connection, but its peer does not notice. */
	n->cut = true;
	cm_destroy(a.id);
	n->cut = false;
	end_connect(n, &c, 0, 2, 0x55);
	net_run(n, MSEC(1));
	END_SAW(&c, CM_REJ_RECEIVED);
	assert_int_equal(c.last.rej.reason, CM_REJ_STALE_CONN);
	assert_int_equal(cm_state(c.id), CM_TIMEWAIT);
	assert_int_equal(cm_state(b.id), CM_TIMEWAIT); /* cm_issue_drep() answered its DREQ */
	assert_int_equal(end_count(&b, CM_DREP_RECEIVED), 1);
	cm_destroy(c.id);
	c = (struct end){.rtu = true};
	end_connect(n, &c, 0, 2, 0x55);
	net_run(n, MSEC(2));
	assert_int_equal(cm_state(c.id), CM_ESTABLISHED);
	net_free(n);
}

static void test_a_rep_of_a_qp_that_has_a_connection_already(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {0}, c = {.rtu = true};

	net_connect(n, &a, &b);
	n->cut = true;
	cm_destroy(b.id);
	n->cut = false;
	end_connect(n, &c, 0, 2, 0x56); /* accepted with a QP that is connected */
	net_run(n, MSEC(1));
	assert_int_equal(cm_state(a.id), CM_TIMEWAIT);
	assert_int_equal(c.n, 0);
	assert_int_equal(end_count(&b, CM_REJ_RECEIVED), 1);
	assert_int_equal(b.last.rej.reason, CM_REJ_STALE_CONN);
	net_free(n);
}

/* The same numbers in a message of another host name other ids. */
static void test_hosts_are_apart(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {0}, c = {.rtu = true}, d = {.on_req = accept_it};
	struct cm_pkt dreq;

	net_connect(n, &a, &b);
	n->cut = true;
	cm_send_dreq(a.id, NULL, 0);
	n->cut = false;
	dreq = n->last[AT(DREQ)];
	dreq.dlid = 4;
	net_arrive(n, &dreq);
	assert_int_equal(cm_state(b.id), CM_ESTABLISHED);
	assert_int_equal(n->sent[AT(DREP)], 1); /* cm_issue_drep() of host 2 */
	/* Host 1 believes its QP connected; the same QPN connects to host 2 all the same. */
	end_listen(n, &d, 3);
	end_connect(n, &c, 0, 3, 0x55);
	net_run(n, MSEC(2));
	assert_int_equal(cm_state(c.id), CM_ESTABLISHED);
	net_free(n);
}

/* ---- GRH, versions */

static void test_a_grh_is_answered_with_a_grh(void **state)
{
	struct net *n = net_new();
	struct end a = {.net = n}, b = {.on_req = accept_it};
	struct cm_path path = net_path(0, 2);
	struct cm_req req = net_req(0, &path, 0x55);
	struct cm_qp_attr x;
	const struct cm_pkt *p = &n->last[AT(REP)];

	path.hop_limit = 1;
	path.traffic_class = 7;
	path.flow_label = 0x12345;
	end_listen(n, &b, 2);
	a.id = cm_create(n->cm, 0, end_handler, &a);
	assert_int_equal(cm_send_req(a.id, &req), 0);
	assert_true(n->last[AT(REQ)].grh);
	assert_memory_equal(n->last[AT(REQ)].dgid, path.dgid, 16);
	net_run(n, MSEC(1));
	assert_true(p->grh);
	assert_memory_equal(p->dgid, path.sgid, 16);
	assert_memory_equal(p->sgid, path.dgid, 16);
	assert_int_equal(p->hop_limit, 255); /* ib_init_ah_attr_from_wc() */
	assert_int_equal(p->traffic_class, 7);
	assert_int_equal(p->flow_label, 0x12345);
	assert_int_equal(cm_init_qp_attr(b.id, IBV_QPS_RTR, &x), 0);
	assert_true(x.grh);
	/* the CM itself rejects a REQ for an unknown service: it has no id there */
	req.service_id++;
	req.qpn++;
	a.n = 0;
	cm_destroy(a.id);
	a.id = cm_create(n->cm, 0, end_handler, &a);
	assert_int_equal(cm_send_req(a.id, &req), 0);
	net_run(n, MSEC(1));
	END_SAW(&a, CM_REJ_RECEIVED);
	assert_true(n->last[AT(REJ)].grh);
	net_free(n);
}

/* cm_process_routed_req() */
static void test_a_path_through_a_router(void **state)
{
	struct net *n = net_new();
	struct end a = {.net = n}, b = {.on_req = leave_it};
	struct cm_path path = net_path(0, 2), out = path;
	struct cm_req req = net_req(0, &path, 0x55);
	const uint8_t *msg = n->last[AT(REQ)].mad + CM_MSG;
	struct cm_qp_attr x;

	path.hop_limit = 3;
	out.dlid = 9;
	req.outbound = &out;
	end_listen(n, &b, 2);
	a.id = cm_create(n->cm, 0, end_handler, &a);
	assert_int_equal(cm_send_req(a.id, &req), 0);
	assert_int_equal(LAYOUT_GET(cm_req, msg, primary_local_port_lid), 0xffff);
	assert_int_equal(LAYOUT_GET(cm_req, msg, primary_remote_port_lid), 0xffff);
	assert_false(LAYOUT_GET(cm_req, msg, primary_subnet_local));
	net_run(n, MSEC(1));
	END_SAW(&b, CM_REQ_RECEIVED);
	assert_int_equal(b.last.req.path.dlid, 1);
	assert_int_equal(b.last.req.path.slid, 0); /* path bits only */
	assert_int_equal(cm_init_qp_attr(b.id, IBV_QPS_RTR, &x), 0);
	assert_int_equal(x.path.dlid, 1);
	accept_it(&b, NULL);
	net_run(n, MSEC(1));
	assert_int_equal(cm_init_qp_attr(a.id, IBV_QPS_RTR, &x), 0);
	assert_int_equal(x.path.dlid, 9);
	net_free(n);
}

/* ib_mad finds no agent for these MADs, so nobody answers. */
static void test_mads_that_are_not_ours(void **state)
{
	static const struct {
		uint32_t bit, width, value;
	} rows[] = {
		{LF_mad_hdr_base_version_BIT, 8, 2},
		{LF_mad_hdr_mgmt_class_BIT, 8, 6},
		{LF_mad_hdr_class_version_BIT, 8, 1},
		{LF_mad_hdr_method_BIT, 8, MAD_METHOD_GET},
		{LF_mad_hdr_attr_id_BIT, 16, 0x1b},
		{LF_mad_hdr_attr_id_BIT, 16, 0x0f},
		{LF_mad_hdr_attr_id_BIT, 16, CM_ATTR_APR},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct net *n = net_new();
		struct end a = {0};

		n->cut = true;
		end_connect(n, &a, 0, 2, 0x55);
		n->cut = false;
		layout_set(n->last[AT(REQ)].mad, rows[i].bit, rows[i].width, rows[i].value);
		net_arrive(n, &n->last[AT(REQ)]);
		net_run(n, MSEC(2));
		assert_int_equal(n->sent[AT(REJ)], 0);
		net_free(n);
	}
}

/* ---- LAP: cm_lap_handler() */

static void test_a_lap_gives_an_alternate_path(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {0};
	struct cm_path alt = net_path(1, 2);
	struct cm_pkt lap;
	struct cm_qp_attr x;
	uint8_t *msg;

	net_connect(n, &a, &b);
	lap = n->last[AT(RTU)];
	LAYOUT_SET(mad_hdr, lap.mad, attr_id, CM_ATTR_LAP);
	msg = lap.mad + CM_MSG;
	CM_SET(cm_lap, msg, alternate_local_port_lid, alt.slid);
	CM_SET(cm_lap, msg, alternate_remote_port_lid, alt.dlid);
	net_arrive(n, &lap); /* no such GID: not a word */
	assert_int_equal(end_count(&b, CM_LAP_RECEIVED), 0);
	memcpy(LAYOUT_IN(cm_lap, alternate_local_port_gid, msg), alt.sgid, 16);
	memcpy(LAYOUT_IN(cm_lap, alternate_remote_port_gid, msg), alt.dgid, 16);
	net_arrive(n, &lap);
	net_arrive(n, &lap);
	assert_int_equal(end_count(&b, CM_LAP_RECEIVED), 1);
	assert_int_equal(n->sent[AT(APR)], 0);
	assert_int_equal(cm_send_mra(b.id, 20, NULL, 0), 0);
	net_arrive(n, &lap);
	assert_int_equal(n->sent[AT(MRA)], 2);
	assert_int_equal(cm_init_qp_attr(b.id, IBV_QPS_RTS, &x), 0);
	assert_int_equal(x.mask, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE);
	assert_int_equal(x.alt.dlid, 2);
	assert_int_equal(cm_notify(b.id, IBV_EVENT_PATH_MIG), -EINVAL);
	/* cm_migrate(): a has no alternate path, so it can no longer send */
	assert_int_equal(cm_notify(a.id, IBV_EVENT_PATH_MIG), 0);
	assert_int_equal(cm_send_dreq(a.id, NULL, 0), -EINVAL);
	assert_int_equal(cm_state(a.id), CM_TIMEWAIT);
	net_free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_reason_arrives),
		cmocka_unit_test(test_information_that_is_too_long),
		cmocka_unit_test(test_nobody_listens),
		cmocka_unit_test(test_what_the_handler_of_a_request_returns),
		cmocka_unit_test(test_requests_with_wrong_paths),
		cmocka_unit_test(test_an_alternate_path),
		cmocka_unit_test(test_the_active_id_goes),
		cmocka_unit_test(test_the_passive_id_goes),
		cmocka_unit_test(test_an_accepted_id_goes),
		cmocka_unit_test(test_a_connected_id_goes),
		cmocka_unit_test(test_an_xrc_target_goes_silently),
		cmocka_unit_test(test_a_disconnected_id_goes_with_its_answer),
		cmocka_unit_test(test_nobody_answers_a_dreq),
		cmocka_unit_test(test_a_dreq_comes_again_when_the_drep_is_lost),
		cmocka_unit_test(test_a_dreq_in_timewait_and_of_nobody),
		cmocka_unit_test(test_a_dreq_for_another_qp_is_ignored),
		cmocka_unit_test(test_both_disconnect_at_once),
		cmocka_unit_test(test_a_qp_that_has_a_connection_already),
		cmocka_unit_test(test_a_rep_of_a_qp_that_has_a_connection_already),
		cmocka_unit_test(test_hosts_are_apart),
		cmocka_unit_test(test_a_grh_is_answered_with_a_grh),
		cmocka_unit_test(test_a_path_through_a_router),
		cmocka_unit_test(test_mads_that_are_not_ours),
		cmocka_unit_test(test_a_lap_gives_an_alternate_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
