/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Service ID resolution. */
#include "cm/test.h"

static int answer(struct end *e, const struct cm_event *ev)
{
	struct cm_sidr_rep rep = {
		.qpn = e->qpn,
		.qkey = 0x1234567,
		.status = CM_SIDR_SUCCESS,
		.info = "where",
		.info_len = 5,
		.data = "there",
		.len = 5,
		.ece = {0x4321, 7},
	};

	assert_int_equal(cm_send_sidr_rep(e->id, &rep), 0);
	return -ECANCELED; /* destroys the id, as cma does after an answer */
}

static void resolve(struct net *n, struct end *e, uint8_t retries)
{
	struct cm_path path = net_path(0, 2);
	struct cm_sidr_req req = {
		.port = 0,
		.path = &path,
		.service_id = SERVICE,
		.timeout_ms = 100,
		.data = "who",
		.len = 3,
		.max_retries = retries,
	};

	e->net = n;
	e->id = cm_create(n->cm, 0, end_handler, e);
	assert_int_equal(cm_send_sidr_req(e->id, &req), 0);
	assert_int_equal(cm_send_sidr_req(e->id, &req), -EINVAL);
}

static void test_a_service_is_resolved(void **state)
{
	for (int at_once = 0; at_once < 2; at_once++) {
		struct net *n = net_new();
		struct end a = {0}, b = {.on_req = answer};
		struct cm_id *l = end_listen(n, &b, 2);

		n->at_once = at_once;
		if (at_once) {
			/*
			 * resolve() does not fit here: it expects no answer before its second call
			 */
			struct cm_path path = net_path(0, 2);

			a.net = n;
			a.id = cm_create(n->cm, 0, end_handler, &a);
			assert_int_equal(cm_send_sidr_req(a.id,
							  &(struct cm_sidr_req){
								  .port = 0,
								  .path = &path,
								  .service_id = SERVICE,
								  .timeout_ms = 100,
								  .data = "who",
								  .len = 3,
							  }),
					 0);
		} else {
			resolve(n, &a, 1);
			net_run(n, MSEC(1));
		}
		END_SAW(&b, CM_SIDR_REQ_RECEIVED);
		assert_memory_equal(b.data, "who", 4);
		assert_ptr_equal(b.last.sidr_req.listener, l);
		assert_int_equal(b.last.sidr_req.port, 2);
		assert_int_equal(b.last.sidr_req.service_id, SERVICE);
		assert_int_equal(b.last.sidr_req.pkey, 0xffff);
		assert_int_equal(b.last.sidr_req.bth_pkey, 0xffff);
		END_SAW(&a, CM_SIDR_REP_RECEIVED);
		assert_int_equal(a.last.len, CM_SIDR_REP_DATA);
		assert_memory_equal(a.data, "there", 6);
		assert_int_equal(a.last.sidr_rep.status, CM_SIDR_SUCCESS);
		assert_int_equal(a.last.sidr_rep.qpn, 0x77);
		assert_int_equal(a.last.sidr_rep.qkey, 0x1234567);
		assert_int_equal(cm_state(a.id), CM_IDLE);
		assert_int_equal(cm_count(n->cm), 2);
		net_run(n, MSEC(1000));
		assert_int_equal(n->sent[AT(SIDR_REQ)], 1);
		net_free(n);
	}
}

static void test_nobody_listens(void **state)
{
	struct net *n = net_new();
	struct end a = {0};

	resolve(n, &a, 1);
	net_run(n, MSEC(1));
	END_SAW(&a, CM_SIDR_REP_RECEIVED);
	assert_int_equal(a.last.sidr_rep.status, CM_SIDR_UNSUPPORTED);
	assert_int_equal(cm_count(n->cm), 1);
	net_free(n);
}

static void test_nobody_answers(void **state)
{
	struct net *n = net_new();
	struct end a = {0};

	n->cut = true;
	resolve(n, &a, 2);
	net_run(n, MSEC(1000));
	END_SAW(&a, CM_SIDR_REQ_ERROR);
	assert_int_equal(n->sent[AT(SIDR_REQ)], 3);
	assert_int_equal(a.at[0], NSEC_PER_SEC + MSEC(300));
	net_free(n);
}

static void test_a_request_comes_again(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {.on_req = leave_it};

	end_listen(n, &b, 2);
	resolve(n, &a, 5);
	net_run(n, MSEC(250));
	/* cm_insert_remote_sidr() drops repetitions while the request is being answered */
	END_SAW(&b, CM_SIDR_REQ_RECEIVED);
	assert_int_equal(n->sent[AT(SIDR_REQ)], 3);
	/* cm_destroy_id() */
	cm_destroy(b.id);
	net_run(n, MSEC(1));
	END_SAW(&a, CM_SIDR_REP_RECEIVED);
	assert_int_equal(a.last.sidr_rep.status, CM_SIDR_REJECT);
	net_free(n);
}

static int answer_and_stay(struct end *e, const struct cm_event *ev)
{
	assert_int_equal(cm_send_sidr_rep(e->id, &(struct cm_sidr_rep){.qpn = 1}), 0);
	return 0;
}

/* cm_send_sidr_rep_locked(): after the answer, a repetition counts as a new request. */
static void test_a_request_comes_again_when_the_answer_is_lost(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {.on_req = answer_and_stay};

	end_listen(n, &b, 2);
	n->drop[AT(SIDR_REP)] = 1;
	resolve(n, &a, 5);
	net_run(n, MSEC(150));
	END_SAW(&b, CM_SIDR_REQ_RECEIVED, CM_SIDR_REQ_RECEIVED);
	END_SAW(&a, CM_SIDR_REP_RECEIVED);
	net_free(n);
}

/* The message looks as if a hostile peer had sent it. */
static void test_a_length_that_is_too_large(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {.on_req = answer};

	end_listen(n, &b, 2);
	resolve(n, &a, 0);
	n->drop[AT(SIDR_REP)] = 1;
	net_run(n, MSEC(1));
	CM_SET(cm_sidr_rep, n->last[AT(SIDR_REP)].mad + CM_MSG, additional_information_length, 255);
	net_arrive(n, &n->last[AT(SIDR_REP)]);
	END_SAW(&a, CM_SIDR_REP_RECEIVED);
	assert_int_equal(a.last.sidr_rep.info_len, CM_SIDR_REP_INFO);
	net_free(n);
}

static void test_an_id_goes_while_it_waits(void **state)
{
	struct net *n = net_new();
	struct end a = {0}, b = {.on_req = answer};

	end_listen(n, &b, 2);
	resolve(n, &a, 5);
	cm_destroy(a.id);
	net_run(n, MSEC(1000));
	END_SAW(&b, CM_SIDR_REQ_RECEIVED);
	assert_int_equal(a.n, 0);
	assert_int_equal(cm_count(n->cm), 1);
	assert_int_equal(cm_run_due(n->cm), UINT64_MAX);
	net_free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_service_is_resolved),
		cmocka_unit_test(test_nobody_listens),
		cmocka_unit_test(test_nobody_answers),
		cmocka_unit_test(test_a_request_comes_again),
		cmocka_unit_test(test_a_request_comes_again_when_the_answer_is_lost),
		cmocka_unit_test(test_a_length_that_is_too_large),
		cmocka_unit_test(test_an_id_goes_while_it_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
