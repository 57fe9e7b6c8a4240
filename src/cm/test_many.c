/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Many connections, a bad network, bytes of any kind, tables and timers. */
#include "cm/test.h"
#include "cm/for_tests.h"

#define MANY 10000

/* ---- tables and timers */

static void test_the_earliest_timer_is_first(void **state)
{
	static struct cm_timer timer[500];
	struct cm_timers t = {0};
	unsigned int seed = 7;
	uint64_t before = 0;

	assert_int_equal(cm_timers_reserve(&t, COUNT(timer)), 0);
	for (int round = 0; round < 20000; round++) {
		struct cm_timer *k = &timer[(seed >> 16) % COUNT(timer)];

		seed = seed * 1103515245 + 12345;
		if (seed >> 30)
			cm_timer_set(&t, k, seed >> 8 & 0xffff);
		else
			cm_timer_stop(&t, k);
		for (uint32_t i = 2; round % 64 == 0 && i <= t.n; i++)
			assert_true(t.heap[i / 2 - 1]->at <= t.heap[i - 1]->at);
	}
	for (struct cm_timer *k; (k = cm_timers_first(&t)); cm_timer_stop(&t, k)) {
		assert_true(k->at >= before);
		before = k->at;
	}
	for (size_t i = 0; i < COUNT(timer); i++)
		assert_int_equal(timer[i].pos, 0);
	cm_timers_finish(&t);
}

static uint32_t longest_chain(const struct cm_table *t)
{
	uint32_t longest = 0;

	for (uint32_t i = 0; i < t->nbuckets; i++) {
		uint32_t len = 0;

		for (const struct cm_node *n = t->bucket[i]; n; n = n->next)
			len++;
		longest = len > longest ? len : longest;
	}
	return longest;
}

/* ---- 10 000 connections */

/* The contexts of passive ends are counters, not a `struct end`. */
static int passive_handler(struct cm_id *id, const struct cm_event *ev)
{
	unsigned int *n = cm_context(id);

	if (ev->type == CM_REQ_RECEIVED) {
		struct cm_rep rep = {.qpn = ev->req.remote_qpn + 0x100000};

		assert_int_equal(cm_send_rep(id, &rep), 0);
	} else if (ev->type == CM_DREQ_RECEIVED) {
		assert_int_equal(cm_send_drep(id, NULL, 0), 0);
	} else if (ev->type == CM_TIMEWAIT_EXIT) {
		n[1]++;
		return 1;
	}
	n[0] += ev->type == CM_RTU_RECEIVED;
	return 0;
}

static int active_handler(struct cm_id *id, const struct cm_event *ev)
{
	unsigned int *n = cm_context(id);

	if (ev->type == CM_REP_RECEIVED)
		assert_int_equal(cm_send_rtu(id, NULL, 0), 0);
	n[2] += ev->type == CM_TIMEWAIT_EXIT;
	return ev->type == CM_TIMEWAIT_EXIT;
}

/* Hash chains stay short and timers are found without a search: no cost is quadratic. */
static void test_many_connections(void **state)
{
	static struct cm_id *ids[MANY];
	struct net *n = net_new();
	struct cm_path path = net_path(0, 2);
	unsigned int count[3] = {0};
	struct cm_id *l = cm_create(n->cm, 2, passive_handler, count);

	n->at_once = true;
	assert_int_equal(cm_listen(l, SERVICE), 0);
	for (uint32_t i = 0; i < MANY; i++) {
		struct cm_req req = net_req(0, &path, i + 1);

		ids[i] = cm_create(n->cm, 0, active_handler, count);
		assert_int_equal(cm_send_req(ids[i], &req), 0);
		n->now += NSEC_PER_USEC;
	}
	assert_int_equal(count[0], MANY);
	assert_int_equal(cm_count(n->cm), 2 * MANY + 1);
	assert_int_equal(n->cm->local.count, 2 * MANY + 1);
	assert_int_equal(n->cm->remote_qp.count, 2 * MANY);
	assert_uint_in_range(longest_chain(&n->cm->local), 1, 32);
	assert_uint_in_range(longest_chain(&n->cm->remote_id), 1, 32);
	assert_uint_in_range(longest_chain(&n->cm->remote_qp), 1, 32);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(cm_send_dreq(ids[i], NULL, 0), 0);
	assert_int_equal(n->cm->timers.n, 2 * MANY);
	assert_int_equal(n->cm->remote_qp.count, 0);
	net_run(n, MSEC(1000));
	assert_int_equal(count[1], MANY);
	assert_int_equal(count[2], MANY);
	assert_int_equal(cm_count(n->cm), 1);
	net_free(n);
}

/* ---- a bad network */

/* No end waits for ever, and at most one end believes in a connection that the other lacks. */
static void one_bad_connection(unsigned int seed, bool leave)
{
	struct net *n = net_new();
	struct end a = {.rtu = true, .drep = true}, b = {.on_req = accept_it, .drep = true};

	n->seed = seed;
	n->loss = seed % 60;
	n->repeat = seed % 40;
	n->reorder = true;
	end_listen(n, &b, 2);
	end_connect(n, &a, 0, 2, 0x55);
	net_run(n, MSEC(2000));
	assert_true(cm_state(a.id) == CM_ESTABLISHED || cm_state(a.id) == CM_IDLE);
	if (b.id)
		assert_true(cm_state(b.id) == CM_ESTABLISHED || cm_state(b.id) == CM_IDLE);
	assert_true(end_count(&a, CM_REP_RECEIVED) <= 1);
	if (cm_state(a.id) == CM_ESTABLISHED && leave)
		assert_int_equal(cm_send_dreq(a.id, NULL, 0), 0);
	else if (b.id && cm_state(b.id) == CM_ESTABLISHED)
		assert_int_equal(cm_send_dreq(b.id, NULL, 0), 0);
	net_run(n, MSEC(2000));
	if (end_count(&a, CM_DREQ_ERROR) || end_count(&a, CM_DREP_RECEIVED) ||
	    end_count(&a, CM_DREQ_RECEIVED))
		assert_int_equal(end_count(&a, CM_TIMEWAIT_EXIT), 1);
	assert_true(end_count(&a, CM_TIMEWAIT_EXIT) <= 1);
	assert_int_equal(cm_run_due(n->cm), UINT64_MAX);
	cm_destroy(a.id);
	net_free(n);
}

static void test_a_bad_network(void **state)
{
	for (unsigned int seed = 1; seed < 600; seed++)
		one_bad_connection(seed * 7919, seed & 1);
}

/* ---- bytes of any kind */

static int any_handler(struct cm_id *id, const struct cm_event *ev)
{
	struct net *n = cm_context(id);
	uint8_t sum = 0;

	/* Read all memory that an event points to, so that a sanitizer reports bad pointers. */
	for (uint32_t i = 0; ev->data && i < ev->len; i++)
		sum = (uint8_t)(sum + ((const uint8_t *)ev->data)[i]);
	if (ev->type == CM_REJ_RECEIVED)
		for (uint32_t i = 0; i < ev->rej.ari_len; i++)
			sum = (uint8_t)(sum + ((const uint8_t *)ev->rej.ari)[i]);
	switch ((net_random(n) + sum) % 8) {
	case 0:
		return -EINVAL;
	case 1:
		return -ENOMEM;
	case 2:
		cm_send_rep(id, &(struct cm_rep){.qpn = net_random(n), .data = "x", .len = 1});
		return 0;
	case 3:
		cm_send_mra(id, (uint8_t)net_random(n), "m", 1);
		return 0;
	case 4:
		cm_send_sidr_rep(id, &(struct cm_sidr_rep){.qpn = 5});
		cm_send_rtu(id, "r", 1);
		return 0;
	case 5:
		cm_send_drep(id, "d", 1);
		cm_notify(id, net_random(n) % 2 ? IBV_EVENT_COMM_EST : IBV_EVENT_PATH_MIG);
		return 0;
	case 6:
		cm_send_dreq(id, NULL, 0);
		return 0;
	default:
		return 0;
	}
}

/* Returns the number of one of the first ids, or a random number. */
static uint32_t some_id(struct net *n, bool remote)
{
	uint32_t skip = net_random(n) % 16;
	struct cm_id *id = n->cm->ids;

	while (id && skip--)
		id = id->next;
	if (!id || !(net_random(n) % 8))
		return net_random(n) % 4 ? 0 : net_random(n);
	return remote ? id->remote_id : id->local_id;
}

static void some_pkt(struct net *n, struct cm_pkt *p)
{
	uint8_t *msg = p->mad + CM_MSG;
	uint32_t attr = CM_ATTR_REQ + net_random(n) % 11;
	struct cm_path path = net_path(net_random(n) % NET_PORTS, net_random(n) % NET_PORTS);

	for (size_t i = 0; i < sizeof(*p); i++)
		((uint8_t *)p)[i] = (uint8_t)net_random(n);
	p->grh = net_random(n) % 2;
	p->port = net_random(n) % (NET_PORTS + 1);
	p->slid = path.slid;
	memcpy(p->dgid, path.sgid, 16);
	p->pkey_index %= 8;
	LAYOUT_SET(mad_hdr, p->mad, base_version, 1);
	LAYOUT_SET(mad_hdr, p->mad, mgmt_class, MAD_CLASS_CM);
	LAYOUT_SET(mad_hdr, p->mad, class_version, 2);
	LAYOUT_SET(mad_hdr, p->mad, method, MAD_METHOD_SEND);
	LAYOUT_SET(mad_hdr, p->mad, attr_id, attr);
	be32_store(msg, some_id(n, true));
	if (attr == CM_ATTR_SIDR_REP)
		be32_store(msg, some_id(n, false));
	if (attr == CM_ATTR_SIDR_REQ)
		be64_store(msg + 8, SERVICE);
	if (attr != CM_ATTR_REQ && attr != CM_ATTR_SIDR_REQ && attr != CM_ATTR_SIDR_REP)
		be32_store(msg + 4, some_id(n, false));
	if (attr == CM_ATTR_REJ && net_random(n) % 2)
		CM_SET(cm_rej, msg, reason, net_random(n) % 36);
	if (attr == CM_ATTR_LAP)
		memcpy(LAYOUT_IN(cm_lap, alternate_remote_port_gid, msg), path.sgid, 16);
	if (attr != CM_ATTR_REQ)
		return;
	CM_SET(cm_req, msg, service_id, SERVICE);
	CM_SET(cm_req, msg, partition_key, 0xffff);
	CM_SET(cm_req, msg, local_qpn, net_random(n) % 64);
	CM_SET(cm_req, msg, local_ca_guid, net_random(n) % 3);
	memcpy(LAYOUT_IN(cm_req, primary_remote_port_gid, msg), path.sgid, 16);
	memcpy(LAYOUT_IN(cm_req, alternate_remote_port_gid, msg), path.sgid, 16);
	if (net_random(n) % 2)
		CM_SET(cm_req, msg, alternate_local_port_lid, 0);
}

static void test_bytes_of_any_kind(void **state)
{
	for (unsigned int seed = 1; seed <= 20; seed++) {
		struct net *n = net_new();

		n->seed = seed;
		n->at_once = seed & 1;
		for (uint32_t i = 0; i < NET_PORTS; i++)
			cm_listen(cm_create(n->cm, i, any_handler, n), SERVICE);
		for (int i = 0; i < 3000; i++) {
			struct cm_path path = net_path(i % NET_PORTS, (i + 1) % NET_PORTS);
			struct cm_req req =
				net_req((uint32_t)i % NET_PORTS, &path, net_random(n) % 64);
			struct cm_qp_attr x;
			struct cm_pkt p;

			some_pkt(n, &p);
			cm_arrived(n->cm, &p);
			if (n->cm->ids && i % 8 == 0) {
				cm_init_qp_attr(n->cm->ids, net_random(n) % 5, &x);
				cm_send_req(cm_create(n->cm, req.port, any_handler, n), &req);
			}
			if (i % 16 == 0)
				net_run(n, NSEC_PER_USEC * net_random(n));
			if (cm_count(n->cm) > 200)
				cm_destroy(n->cm->ids);
		}
		/* with everything open */
		net_free(n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_earliest_timer_is_first),
		cmocka_unit_test(test_many_connections),
		cmocka_unit_test(test_a_bad_network),
		cmocka_unit_test(test_bytes_of_any_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
