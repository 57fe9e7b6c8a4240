// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Files, ids and events of the rdma_cm character device: what ucma.c of the kernel does. */
#include "cma/test_dev.h"

/* ---- memory that runs out */

static int allocs_left; /* allocations until one fails, once; 0: none fails */
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
	if (allocs_left && --allocs_left == 0)
		return NULL;
	return __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	if (allocs_left && --allocs_left == 0)
		return NULL;
	return __real_realloc(p, size);
}

/* ---- ids */

static void test_create(void **state)
{
	static const struct {
		uint16_t ps;
		uint8_t type, is;
	} t[] = {{RDMA_PS_TCP, 9, IBV_QPT_RC},
		 {RDMA_PS_UDP, 9, IBV_QPT_UD},
		 {RDMA_PS_IPOIB, 9, IBV_QPT_UD},
		 {RDMA_PS_IB, IBV_QPT_UC, IBV_QPT_UC}};
	struct rdma_ucm_create_id cmd = {.uid = UID, .ps = 1};

	IS(CALL(CREATE_ID, cmd, 4), -EINVAL);
	for (uint32_t i = 0; i < 4; i++) {
		cmd.ps = t[i].ps;
		cmd.qp_type = t[i].type;
		IS(CALL(CREATE_ID, cmd, 4), 0);
		IS(u32(), i);
		IS(newest()->ps, t[i].ps);
		IS(newest()->qp_type, t[i].is);
	}
	/* If the response cannot be written, CREATE_ID leaves nothing behind. */
	IS(CALL_AS(HOW(.no_response = true), CREATE_ID, cmd, 4), -EFAULT);
	IS(c->nids, 4);
	IS(CALL(CREATE_ID, cmd, 4), 0);
	IS(u32(), 4);
}

static void test_lowest_number_first(void **state)
{
	for (uint32_t i = 0; i < 300; i++)
		IS(make(), i);
	IS(destroy_in(F1, 200), 0);
	IS(destroy_in(F1, 7), 0);
	IS(destroy_in(F1, 130), 0);
	IS(make(), 7);
	IS(make(), 130);
	IS(make(), 200);
	IS(make(), 300);
}

static void test_destroy(void **state)
{
	struct rdma_ucm_event_resp e;
	uint32_t id = make();
	struct rdma_ucm_destroy_id cmd = {.id = id};

	tell(newest(), RDMA_CM_EVENT_ADDR_RESOLVED);
	tell(newest(), RDMA_CM_EVENT_ROUTE_RESOLVED);
	IS(get(&e), 0);
	IS(c->nready[F1], 1);
	IS(CALL(DESTROY_ID, cmd, 4), 0);
	IS(u32(), 1);
	IS(c->nready[F1], 0);
	IS(get(&e), -EAGAIN);
	IS(CALL(DESTROY_ID, cmd, 4), -ENOENT);
	/* DESTROY_ID destroys the id even if its response cannot be written. */
	cmd.id = make();
	IS(CALL_AS(HOW(.no_response = true), DESTROY_ID, cmd, 4), -EFAULT);
	IS(c->nids, 0);
}

static void test_bind(void **state)
{
	uint32_t id = make();
	struct rdma_ucm_bind_ip ip = {.id = id};
	struct rdma_ucm_bind any = {.id = id, .addr_size = 16};
	struct sockaddr_in a = in4(7000);

	IS(CALL(BIND_IP, ip, 0), -EINVAL);
	ip.addr.sin6_family = AF_IB; /* does not fit */
	IS(CALL(BIND_IP, ip, 0), -EINVAL);
	memcpy(&ip.addr, &a, sizeof(a));
	c->err = -EADDRINUSE;
	IS(CALL(BIND_IP, ip, 0), -EADDRINUSE);
	IS(CALL(BIND_IP, ip, 0), 0);
	assert_string_equal(c->last.name, "bind");
	assert_memory_equal(&c->last.src, &a, sizeof(a));

	memcpy(&any.addr, &a, sizeof(a));
	any.addr_size = 28;
	IS(CALL(BIND, any, 0), -EINVAL);
	any.addr_size = 0;
	IS(CALL(BIND, any, 0), -EINVAL);
	any.addr_size = 16;
	any.reserved = 1;
	IS(CALL(BIND, any, 0), -EINVAL);
	any.reserved = 0;
	IS(CALL(BIND, any, 0), 0);
	any.addr.ss_family = AF_IB;
	any.addr_size = 48;
	IS(CALL(BIND, any, 0), 0);
	IS(c->last.src.sa.sa_family, AF_IB);
	any.id = 5;
	IS(CALL(BIND, any, 0), -ENOENT);
	ip.id = 5;
	IS(CALL(BIND_IP, ip, 0), -ENOENT);
}

static void test_resolve(void **state)
{
	uint32_t id = make();
	struct rdma_ucm_resolve_ip ip = {.id = id, .timeout_ms = 99};
	struct rdma_ucm_resolve_addr any = {.id = id, .timeout_ms = 98, .dst_size = 16};
	struct rdma_ucm_resolve_route route = {.id = id, .timeout_ms = 97};
	struct sockaddr_in a = in4(7000);

	IS(CALL(RESOLVE_ROUTE, route, 0), -EINVAL);
	IS(CALL(RESOLVE_IP, ip, 0), -EINVAL);
	memcpy(&ip.dst_addr, &a, sizeof(a));
	ip.src_addr.sin6_family = 99;
	IS(CALL(RESOLVE_IP, ip, 0), -EINVAL);
	ip.src_addr.sin6_family = 0;
	IS(CALL(RESOLVE_IP, ip, 0), 0);
	IS(c->last.n, 99);
	IS(c->last.src.sa.sa_family, 0);
	assert_memory_equal(&c->last.dst, &a, sizeof(a));

	memcpy(&any.dst_addr, &a, sizeof(a));
	any.reserved = 1;
	IS(CALL(RESOLVE_ADDR, any, 0), -EINVAL);
	any.reserved = 0;
	any.src_size = 16;
	IS(CALL(RESOLVE_ADDR, any, 0), -EINVAL);
	memcpy(&any.src_addr, &a, sizeof(a));
	IS(CALL(RESOLVE_ADDR, any, 0), 0);
	IS(c->last.n, 98);
	assert_memory_equal(&c->last.src, &a, sizeof(a));
	any.dst_size = 0;
	IS(CALL(RESOLVE_ADDR, any, 0), -EINVAL);
	IS(CALL(RESOLVE_ROUTE, route, 0), 0);
	IS(c->last.n, 97);
}

/* ---- events */

static void test_event_order_and_sizes(void **state)
{
	uint32_t a = make(), b;
	struct cma_id *ia = newest(), *ib;
	const struct cma_event up = {.event = RDMA_CM_EVENT_ESTABLISHED,
				     .status = -ETIMEDOUT,
				     .conn = {.data = "abc", .len = 3, .initiator_depth = 7},
				     .ece = {.vendor_id = 1, .attr_mod = 2}};
	struct rdma_ucm_get_event cmd = {0};
	struct rdma_ucm_event_resp e;

	b = make();
	ib = newest();
	tell(ia, RDMA_CM_EVENT_ADDR_RESOLVED);
	tell(ib, RDMA_CM_EVENT_ADDR_RESOLVED);
	tell(ia, RDMA_CM_EVENT_ROUTE_RESOLVED);
	assert_true(fake_tell(ib, &up));
	IS(c->nready[F1], 4);
	IS(get_in(F2, &e), -EAGAIN);
	IS(get(&e), 0);
	assert_true(e.id == a && e.event == RDMA_CM_EVENT_ADDR_RESOLVED && e.uid == UID);
	/* An event stays in the queue if the response cannot be written. */
	IS(CALL_AS(HOW(.no_response = true), GET_EVENT, cmd, sizeof(e)), -EFAULT);
	IS(CALL(GET_EVENT, cmd, 323), -ENOSPC);
	IS(c->nready[F1], 3);
	IS(get(&e), 0);
	assert_true(e.id == b && e.event == RDMA_CM_EVENT_ADDR_RESOLVED);
	IS(CALL(GET_EVENT, cmd, 324), 0);
	IS(answered, 324);
	memcpy(&e, answer, 324);
	assert_true(e.id == a && e.event == RDMA_CM_EVENT_ROUTE_RESOLVED);
	IS(CALL(GET_EVENT, cmd, 400), 0);
	IS(answered, sizeof(e));
	memcpy(&e, answer, sizeof(e));
	assert_true(e.id == b && e.event == RDMA_CM_EVENT_ESTABLISHED);
	IS((int)e.status, -ETIMEDOUT);
	IS(e.param.conn.private_data_len, 3);
	assert_memory_equal(e.param.conn.private_data, "abc\0", 4);
	IS(e.param.conn.initiator_depth, 7);
	assert_true(e.ece.vendor_id == 1 && e.ece.attr_mod == 2);
	IS(get(&e), -EAGAIN);
	IS(c->nready[F1], 0);
}

static void test_ud_event(void **state)
{
	struct rdma_ucm_event_resp e;
	struct cma_event up = {.event = RDMA_CM_EVENT_ESTABLISHED,
			       .ud = {.data = "abc",
				      .len = 3,
				      .path = {.slid = 0x13, .sl = 4, .rate = 3, .hop_limit = 64},
				      .port_num = 1,
				      .grh = true,
				      .dlid = 0xc001,
				      .qpn = 0x123,
				      .qkey = 0x1ee}};

	make_in(F1, RDMA_PS_UDP);
	newest()->port = c->port[1];
	memcpy(up.ud.path.sgid, hw_port(&c->s, c->port[1])->gid[1], 16);
	memset(up.ud.path.dgid, 0xff, 16);
	assert_true(fake_tell(newest(), &up));
	IS(get(&e), 0);
	IS(e.param.ud.qp_num, 0x123);
	IS(e.param.ud.qkey, 0x1ee);
	IS(e.param.ud.private_data_len, 3);
	assert_memory_equal(e.param.ud.private_data, "abc", 3);
	IS(e.param.ud.ah_attr.dlid, 0xc001);
	IS(e.param.ud.ah_attr.sl, 4);
	IS(e.param.ud.ah_attr.src_path_bits, 3);
	IS(e.param.ud.ah_attr.static_rate, 3);
	IS(e.param.ud.ah_attr.port_num, 1);
	IS(e.param.ud.ah_attr.is_global, 1);
	IS(e.param.ud.ah_attr.grh.sgid_index, 1);
	IS(e.param.ud.ah_attr.grh.hop_limit, 64);
	IS(e.param.ud.ah_attr.grh.dgid[15], 0xff);
}

static void test_connect_request(void **state)
{
	uint32_t l = make_listener(2);
	struct cma_id *il = newest(), *first;
	struct rdma_ucm_accept acc = {.uid = 0x99, .conn_param = {.valid = 1}};
	struct rdma_ucm_event_resp e;

	IS(c->last.n, 2);
	first = fake_request(il, &request);
	assert_non_null(first);
	assert_non_null(fake_request(il, &request));
	assert_null(fake_request(il, &request)); /* the backlog is full */
	IS(c->nids, 3);
	IS(c->nready[F1], 2);
	tell(first, RDMA_CM_EVENT_CONNECT_ERROR); /* for a connection that has no uid yet */
	IS(c->nready[F1], 2);
	IS(get(&e), 0);
	IS(e.event, RDMA_CM_EVENT_CONNECT_REQUEST);
	assert_true(e.uid == UID && e.id == l + 1);
	IS(e.param.conn.qp_num, 0x55);
	assert_memory_equal(e.param.conn.private_data, "hello", 5);
	IS(e.ece.vendor_id, 0x15b3);
	assert_non_null(fake_request(il, &request)); /* there is room again */

	acc.id = l + 1;
	c->err = -EINVAL;
	IS(CALL(ACCEPT, acc, 0), -EINVAL);
	tell(first, RDMA_CM_EVENT_ESTABLISHED);
	IS(CALL(ACCEPT, acc, 0), 0);
	assert_ptr_equal(c->last.id, first);
	tell(first, RDMA_CM_EVENT_ESTABLISHED);
	IS(get(&e), 0);
	IS(e.id, l + 2);
	IS(get(&e), 0);
	IS(e.id, l + 3);
	IS(get(&e), 0);
	assert_true(e.id == l + 1 && e.uid == 0x99 && e.event == RDMA_CM_EVENT_ESTABLISHED);
	IS(get(&e), -EAGAIN);
}

static void test_listener_takes_unheard_connections_with_it(void **state)
{
	uint32_t l = make_listener(0);
	struct cma_id *il = newest();
	struct rdma_ucm_event_resp e;

	IS(c->last.n, 1024);
	for (int i = 0; i < 3; i++)
		assert_non_null(fake_request(il, &request));
	IS(get(&e), 0);
	IS(destroy_in(F1, l), 0);
	IS(u32(), 1);
	IS(c->nids, 1); /* the connection whose request the program has read */
	IS(c->nready[F1], 0);
	IS(destroy_in(F1, e.id), 0);
	IS(c->nids, 0);
}

static void test_backlog(void **state)
{
	uint32_t id = make();
	struct rdma_ucm_listen cmd = {.id = id, .backlog = 1024};

	IS(CALL(LISTEN, cmd, 0), 0);
	IS(c->last.n, 1024);
	cmd.backlog = 1025;
	IS(CALL(LISTEN, cmd, 0), 0);
	IS(c->last.n, 1024);
	cmd.backlog = UINT32_MAX;
	IS(CALL(LISTEN, cmd, 0), 0);
	IS(c->last.n, 1024);
	/* The new backlog applies even if the call fails. */
	cmd.backlog = 1;
	c->err = -EINVAL;
	IS(CALL(LISTEN, cmd, 0), -EINVAL);
	assert_non_null(fake_request(newest(), &request));
	assert_null(fake_request(TAILQ_FIRST(&c->ids), &request));
}

/* A program may guess the id of a connection before it reads that connection's event. */
static void test_event_of_a_guessed_connection(void **state)
{
	uint32_t l = make_listener(5);
	struct cma_id *il = newest();
	struct rdma_ucm_event_resp e;

	assert_non_null(fake_request(il, &request));
	assert_non_null(fake_request(il, &request));
	IS(destroy_in(F1, l + 1), 0);
	IS(c->nready[F1], 2);
	IS(get(&e), 0);
	IS(e.id, l + 1);
	IS(destroy_in(F1, l + 2), 0);
	IS(destroy_in(F1, l), 0);
	IS(c->nids, 0);
}

static void test_device_removal(void **state)
{
	uint32_t id = make_bound();
	struct rdma_ucm_disconnect cmd = {.id = id};
	struct rdma_ucm_query query = {.id = id};
	const struct cma_event gone = {.event = RDMA_CM_EVENT_DEVICE_REMOVAL};
	struct rdma_ucm_event_resp e;

	assert_false(fake_tell(newest(), &gone));
	IS(c->nids, 0);
	IS(CALL(DISCONNECT, cmd, 0), -ENXIO);
	IS(CALL(QUERY, query, 512), -ENXIO);
	IS(get(&e), 0);
	IS(e.event, RDMA_CM_EVENT_DEVICE_REMOVAL);
	IS(destroy_in(F1, id), 0);
	IS(u32(), 1);
}

/* ---- migration */

static int migrate(uint32_t to, uint32_t id, int err, uint32_t from, bool no_response)
{
	const struct ucma_fd fd = {.err = err, .file = from};
	struct rdma_ucm_migrate_id cmd = {.id = id};

	return CALL_AS(
		HOW(.file = to, .aux = &fd, .aux_len = sizeof(fd), .no_response = no_response),
		MIGRATE_ID, cmd, 0);
}

static void test_migrate(void **state)
{
	uint32_t a = make(), b, d;
	struct cma_id *ia = newest(), *ib, *id;
	struct rdma_ucm_event_resp e;

	b = make();
	ib = newest();
	d = make_in(F2, RDMA_PS_TCP);
	id = newest();
	tell(ia, RDMA_CM_EVENT_ADDR_RESOLVED);
	IS(get(&e), 0);
	tell(id, RDMA_CM_EVENT_ADDR_ERROR);
	tell(ib, RDMA_CM_EVENT_ADDR_RESOLVED);
	tell(ia, RDMA_CM_EVENT_ROUTE_RESOLVED);
	tell(ib, RDMA_CM_EVENT_ROUTE_RESOLVED);
	tell(ia, RDMA_CM_EVENT_ESTABLISHED);
	IS(migrate(F2, a, -ENOENT, 0, false), -ENOENT);
	IS(migrate(F2, a, -EINVAL, 0, false), -EINVAL);
	IS(migrate(F2, d, 0, F1, false), -EINVAL);
	IS(migrate(F2, 9, 0, F1, false), -ENOENT);
	IS(migrate(F3, a, 0, F1, false), -EINVAL);
	IS(migrate(F2, a, 0, F1, false), 0);
	IS(u32(), 1);
	IS(c->nready[F1], 2);
	IS(c->nready[F2], 3);
	IS(destroy_in(F1, a), -EINVAL);
	tell(ia, RDMA_CM_EVENT_DISCONNECTED);
	for (uint32_t i = 0; i < 4; i++) {
		static const uint32_t order[] = {
			RDMA_CM_EVENT_ADDR_ERROR, RDMA_CM_EVENT_ROUTE_RESOLVED,
			RDMA_CM_EVENT_ESTABLISHED, RDMA_CM_EVENT_DISCONNECTED};

		IS(get_in(F2, &e), 0);
		IS(e.event, order[i]);
		IS(e.id, i ? a : d);
	}
	/*
	 * The id moves even if the response cannot be written. Then move one within its own file.
	 */
	IS(migrate(F1, a, 0, F2, true), -EFAULT);
	IS(destroy_in(F2, a), -EINVAL);
	IS(migrate(F1, b, 0, F1, false), 0);
	IS(c->nready[F1], 2);
	IS(get(&e), 0);
	IS(e.event, RDMA_CM_EVENT_ADDR_RESOLVED);
}

/* New connections stay in the file where they arrived; their events move with the listener. */
static void test_migrate_listener_and_close(void **state)
{
	uint32_t l = make_listener(5);
	struct cma_id *il = newest();
	struct rdma_ucm_event_resp e;

	assert_non_null(fake_request(il, &request));
	assert_non_null(fake_request(il, &request));
	IS(migrate(F2, l, 0, F1, false), 0);
	IS(c->nready[F1], 0);
	IS(c->nready[F2], 2);
	IS(destroy_in(F2, l + 1), -EINVAL);
	cma_file_gone(c, F1);
	IS(c->nids, 1);
	IS(get_in(F2, &e), 0);
	IS(e.id, l + 1);
	assert_non_null(fake_request(il, &request));
	IS(c->nready[F2], 2);
	cma_file_gone(c, F2);
	IS(c->nids, 0);
	IS(c->nready[F2], 0);
}

/* ---- the end */

static void test_close_with_everything_open(void **state)
{
	uint32_t l = make_listener(100), ud = make_in(F1, RDMA_PS_UDP);
	struct cma_event up = {.event = RDMA_CM_EVENT_MULTICAST_JOIN};
	struct cma_id *id = newest();

	bind_id(ud);
	IS(join(ud, 11, false), 0);
	up.ud.context = c->last.context;
	assert_true(fake_tell(id, &up));
	for (int i = 0; i < 50; i++)
		assert_non_null(fake_request(TAILQ_FIRST(&c->ids), &request));
	for (int i = 0; i < 50; i++) {
		make();
		tell(newest(), RDMA_CM_EVENT_ADDR_RESOLVED);
	}
	IS(migrate(F2, l, 0, F1, false), 0);
	cma_file_gone(c, F1);
	IS(c->nready[F1], 0);
	IS(c->nids, 1);
	/* fake_free() checks that nothing is left. Closing a file twice is allowed. */
	cma_file_gone(c, F1);
	IS(cma_file_open(c, F1, c->host, 80, "a name of more than fifteen"), 0);
	make();
	assert_string_equal(newest()->comm, "a name of more ");
}

/* ---- memory runs out */

static int all_commands(uint32_t turn)
{
	struct rdma_ucm_create_id create = {.uid = UID, .ps = RDMA_PS_UDP};
	int err;

	/* The first id of a host also allocates the host's tables. */
	err = cma_file_open(c, 60, c->other_host + turn, 1, "");
	if (err)
		return err;
	err = CALL_AS(HOW(.file = 60), CREATE_ID, create, 4);
	if (!err) {
		newest()->port = c->port[0];
		struct rdma_ucm_join_mcast cmd = {.id = u32(), .addr_size = 16};
		struct sockaddr_in a = in4(0);

		memcpy(&cmd.addr, &a, sizeof(a));
		err = CALL_AS(HOW(.file = 60), JOIN_MCAST, cmd, 4);
	}
	if (!err) {
		tell(newest(), RDMA_CM_EVENT_ADDR_RESOLVED);
		if (!c->nready[60])
			err = -ENOMEM; /* the event is lost: no memory to report it */
	}
	if (!err && !fake_request(TAILQ_FIRST(&c->ids), &request))
		err = -ENOMEM;
	cma_file_gone(c, 60);
	return err;
}

static void test_memory_runs_out(void **state)
{
	uint32_t l = make_listener(1), n = 1;
	struct rdma_ucm_event_resp e;
	int err;

	for (;; n++) {
		uint32_t ids = c->nids;

		allocs_left = (int)n;
		err = all_commands(n);
		if (allocs_left) /* it needs fewer */
			break;
		IS(err, -ENOMEM);
		IS(c->nids, ids);
	}
	allocs_left = 0;
	IS(err, 0);
	assert_true(n > 10);
	IS(get(&e), 0);
	IS(e.id, l + 1);
	IS(get(&e), -EAGAIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_create),
		TEST(test_lowest_number_first),
		TEST(test_destroy),
		TEST(test_bind),
		TEST(test_resolve),
		TEST(test_event_order_and_sizes),
		TEST(test_ud_event),
		TEST(test_connect_request),
		TEST(test_listener_takes_unheard_connections_with_it),
		TEST(test_backlog),
		TEST(test_event_of_a_guessed_connection),
		TEST(test_device_removal),
		TEST(test_migrate),
		TEST(test_migrate_listener_and_close),
		TEST(test_close_with_everything_open),
		TEST(test_memory_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
