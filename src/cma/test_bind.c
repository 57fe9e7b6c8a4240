// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Addresses, port spaces, and what id.h says before there is a connection. */
#include "cma/test_world.h"
#include "cma/for_tests.h"

/* ---- addresses */

static void hosts_have_addresses(void **state)
{
	union cma_addr a;

	for (uint32_t h = 0; h < HOSTS; h++)
		for (uint32_t p = 0; p < HCAS; p++) {
			cma_addr_of_port(&w.s, port_of(h, p), &a);
			assert_int_equal(ntohl(a.in.sin_addr.s_addr),
					 0x7f000000 | (1 + p) << 16 | (1 + h));
			assert_int_equal(cma_port_by_addr(&w.s, w.host[h], &a), port_of(h, p));
			assert_int_equal(cma_port_by_addr(&w.s, w.host[(h + 1) % HOSTS], &a),
					 SEG_NONE);
			assert_int_equal(cma_neighbour(&w.s, port_of(0, 0), &a), port_of(h, p));
		}
}

static void loopback_is_the_callers_first_port(void **state)
{
	static const char *const text[] = {"127.0.0.1", "127.0.3.4", "::1", "::ffff:127.0.0.1"};

	for (size_t i = 0; i < 4; i++) {
		union cma_addr a = ip(text[i], 0);

		assert_true(cma_addr_loopback(&a) && cma_addr_any(&a));
		assert_int_equal(cma_port_by_addr(&w.s, w.host[1], &a), port_of(1, 0));
	}
}

static void mapped_addresses_are_those_inside(void **state)
{
	union cma_addr a = ip("::ffff:127.2.0.3", 0);

	assert_int_equal(cma_port_by_addr(&w.s, w.host[2], &a), port_of(2, 1));
	assert_false(cma_addr_any(&a));
}

static void link_local_addresses_have_the_guid(void **state)
{
	union cma_addr a = ip("fe80::", 0), src = {.in6 = {.sin6_family = AF_INET6}};

	be64_store(a.in6.sin6_addr.s6_addr + 8, at(1, 1)->guid);
	a.in6.sin6_addr.s6_addr[8] |= 2;
	assert_int_equal(cma_port_by_addr(&w.s, w.host[1], &a), port_of(1, 1));
	assert_int_equal(cma_neighbour(&w.s, port_of(0, 0), &a), port_of(1, 1));
	a.in6.sin6_scope_id = cma_ifindex(&w.s, port_of(0, 1));
	assert_int_equal(cma_route(&w.s, w.host[0], &a, &src), port_of(0, 1));
	assert_int_equal(cma_port_by_addr(&w.s, w.host[0], &src), port_of(0, 1));
}

static void a_silent_port_has_no_neighbours(void **state)
{
	union cma_addr a = ip("127.1.0.2", 0);

	fab_link_set(&w.s, port_of(1, 0), IB_PHYS_DISABLED);
	assert_int_equal(cma_neighbour(&w.s, port_of(0, 0), &a), SEG_NONE);
	assert_int_equal(cma_neighbour(&w.s, port_of(1, 0), &a), SEG_NONE);
}

static void groups_have_mgids(void **state)
{
	union cma_addr a = ip("239.1.2.3", 0), b = ip("ff05::1:2", 0);
	static const uint8_t want[16] = {0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0,
					 0,    0,    0,    0,    0x0f, 1,    2, 3};
	uint8_t mgid[16];

	cma_mgid(&w.s, port_of(0, 0), &a, mgid);
	assert_memory_equal(mgid, want, 16);
	cma_mgid(&w.s, port_of(0, 0), &b, mgid);
	assert_int_equal(be16_load(mgid + 2), 0x601b);
	assert_int_equal(be32_load(mgid + 12), 0x00010002);
}

/* ---- binding: rdma_bind_addr() */

static void bind_says_why_not(void **state)
{
	struct cma_id *id = id_of(0, RDMA_PS_TCP, NULL), *odd;
	union cma_addr a = {0};

	assert_int_equal(CALL(cma_bind(id, &a)), -EAFNOSUPPORT);
	assert_int_equal(try_bind(id, "10.0.0.1", 0), -EADDRNOTAVAIL);
	assert_int_equal(try_bind(id, "127.1.0.2", 0), -EADDRNOTAVAIL); /* another host's */
	assert_int_equal(try_bind(id, "fe80::1", 0), -EINVAL);          /* which interface? */
	assert_int_equal(try_bind(id, "127.0.0.1", 80), -EACCES);
	assert_int_equal(cma_id_state(id), CMA_IDLE);
	assert_int_equal(try_bind(id, "127.1.0.1", 5000), 0);
	assert_int_equal(cma_id_state(id), CMA_ADDR_BOUND);
	assert_int_equal(cma_port(id), port_of(0, 0));
	assert_int_equal(try_bind(id, "127.1.0.1", 5001), -EINVAL);
	a = ip("fe80::1", 0);
	a.in6.sin6_scope_id = 77;
	odd = id_of(0, RDMA_PS_TCP, NULL);
	assert_int_equal(CALL(cma_bind(odd, &a)), -ENODEV);
	a = ib((const uint8_t *)"sixteen octets..", 0, 0);
	odd = id_of(0, RDMA_PS_IB, NULL);
	assert_int_equal(CALL(cma_bind(odd, &a)), -ENODEV);
	a = ib(at(0, 0)->gid[0], UINT64_C(0x02ee0000), UINT64_MAX);
	assert_int_equal(CALL(cma_bind(odd, &a)), -EPROTONOSUPPORT);
	assert_int_equal(cma_port(odd), SEG_NONE);
	odd = id_of(0, (enum rdma_ucm_port_space)7, NULL);
	assert_int_equal(try_bind(odd, "0.0.0.0", 0), -EPROTONOSUPPORT);
}

/* cma_check_port() */
static void ports_are_taken_by_address(void **state)
{
	struct cma_id *a = id_of(0, RDMA_PS_TCP, NULL), *b = id_of(0, RDMA_PS_TCP, NULL);

	assert_int_equal(try_bind(a, "127.1.0.1", 5000), 0);
	assert_int_equal(try_bind(b, "127.1.0.1", 5000), -EADDRINUSE);
	assert_int_equal(try_bind(b, "0.0.0.0", 5000), -EADDRNOTAVAIL);
	assert_int_equal(try_bind(b, "127.0.0.1", 5000), -EADDRNOTAVAIL);
	assert_int_equal(try_bind(b, "127.2.0.1", 5000), 0);
	cma_id_destroy(a);
	a = id_of(0, RDMA_PS_TCP, NULL);
	assert_int_equal(try_bind(a, "127.1.0.1", 5000), 0);
}

static void spaces_and_hosts_are_apart(void **state)
{
	static const enum rdma_ucm_port_space ps[] = {RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IPOIB,
						      RDMA_PS_IB};

	for (uint32_t h = 0; h < HOSTS; h++)
		for (int i = 0; i < 4; i++)
			assert_int_equal(try_bind(id_of(h, ps[i], NULL), "0.0.0.0", 7000), 0);
	assert_int_equal(try_bind(id_of(0, RDMA_PS_UDP, NULL), "0.0.0.0", 7000), -EADDRNOTAVAIL);
}

static void reuseaddr_shares_until_one_listens(void **state)
{
	struct cma_id *a = id_of(0, RDMA_PS_TCP, NULL), *b = id_of(0, RDMA_PS_TCP, NULL);

	assert_int_equal(cma_set_reuseaddr(a, 1), 0);
	assert_int_equal(try_bind(a, "127.1.0.1", 5000), 0);
	assert_int_equal(try_bind(b, "127.1.0.1", 5000), -EADDRINUSE);
	assert_int_equal(cma_set_reuseaddr(b, 1), 0);
	assert_int_equal(try_bind(b, "127.1.0.1", 5000), 0);
	assert_int_equal(CALL(cma_listen(a, 1)), -EADDRINUSE);
	assert_int_equal(cma_id_state(a), CMA_ADDR_BOUND);
	cma_id_destroy(b);
	assert_int_equal(CALL(cma_listen(a, 1)), 0);
	assert_int_equal(cma_set_reuseaddr(a, 1), -EINVAL);
	assert_int_equal(cma_set_reuseaddr(a, 0), -EINVAL);
}

static void afonly_parts_the_families(void **state)
{
	struct cma_id *four = id_of(0, RDMA_PS_TCP, NULL), *six = id_of(0, RDMA_PS_TCP, NULL);

	assert_int_equal(try_bind(four, "0.0.0.0", 5000), 0);
	assert_int_equal(try_bind(six, "::", 5000), -EADDRNOTAVAIL);
	assert_int_equal(cma_set_afonly(six, 1), 0);
	assert_int_equal(try_bind(six, "::", 5000), 0);
	assert_int_equal(CALL(cma_listen(six, 1)), 0);
	assert_int_equal(cma_set_afonly(six, 1), -EINVAL);
}

static void any_port_is_one_of_the_range(void **state)
{
	for (int i = 0; i < 200; i++) {
		struct cma_id *id = id_of(0, RDMA_PS_TCP, NULL);
		uint16_t port;

		assert_int_equal(try_bind(id, "0.0.0.0", 0), 0);
		port = cma_addr_port(cma_src(id));
		assert_true(port >= 32768 && port <= 60999);
	}
}

/* cma_select_ib_ps(), cma_bind_port() */
static void service_ids_have_a_port_space(void **state)
{
	struct cma_id *id = id_of(0, RDMA_PS_IB, NULL), *tcp = id_of(0, RDMA_PS_TCP, NULL);
	union cma_addr a = ib(NULL, UINT64_C(0x01061388), UINT64_MAX);

	assert_int_equal(CALL(cma_bind(id, &a)), 0);
	assert_int_equal(cma_service_id(id, cma_src(id)), 0x01061388);
	assert_int_equal(try_bind(tcp, "0.0.0.0", 0x1388), -EADDRNOTAVAIL);
	id = id_of(0, RDMA_PS_IB, NULL);
	a = ib(at(0, 1)->gid[0], 0, 0);
	assert_int_equal(CALL(cma_bind(id, &a)), 0);
	assert_int_equal(cma_service_id(id, cma_src(id)) >> 16, RDMA_PS_IB);
	assert_int_equal(cma_port(id), port_of(0, 1));
}

static void options_have_states(void **state)
{
	struct cma_id *rc = id_of(0, RDMA_PS_TCP, NULL), *ud = id_of(0, RDMA_PS_UDP, NULL);
	const struct cm_path path = {.dlid = 5};

	assert_int_equal(cma_set_ack_timeout(rc, 9), 0);
	assert_int_equal(cma_set_ack_timeout(ud, 9), -EINVAL);
	assert_int_equal(cma_set_path(rc, &path), -EINVAL);
	assert_int_equal(cma_npaths(rc), 0);
	assert_null(cma_path(rc, 0));
	assert_int_equal(cma_service_id(rc, &(union cma_addr){.in = {AF_INET, htons(9)}}),
			 0x01060009);
}

/* Calls are refused that need another state than the id has. */
static void calls_need_their_state(void **state)
{
	struct cma_id *id = id_of(0, RDMA_PS_TCP, NULL);
	const struct cma_conn_param p = {0};
	union cma_addr group = ip("239.0.0.1", 0);
	struct cm_qp_attr attr;

	assert_int_equal(CALL(cma_resolve_route(id, 1000)), -EINVAL);
	assert_int_equal(CALL(cma_connect(id, &p, NULL)), -EINVAL);
	assert_int_equal(CALL(cma_accept(id, &p, NULL)), -EINVAL);
	assert_int_equal(CALL(cma_accept(id, NULL, NULL)), -EINVAL);
	assert_int_equal(CALL(cma_reject(id, NULL, 0, 28)), -EINVAL);
	assert_int_equal(CALL(cma_disconnect(id)), -EINVAL);
	assert_int_equal(CALL(cma_notify(id, IBV_EVENT_COMM_EST)), -EINVAL);
	assert_int_equal(CALL(cma_init_qp_attr(id, IBV_QPS_INIT, &attr)), -EINVAL);
	assert_int_equal(CALL(cma_join(id, &group, 1, NULL)), -EINVAL);
	assert_int_equal(try_bind(id, "127.1.0.1", 0), 0);
	assert_int_equal(CALL(cma_join(id, &group, 1, NULL)), -EINVAL); /* of UD only */
	assert_int_equal(CALL(cma_init_qp_attr(id, IBV_QPS_INIT, &attr)), 0);
	assert_int_equal(attr.mask,
			 IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	assert_int_equal(CALL(cma_listen(id, 1)), 0);
	assert_int_equal(try_resolve(id, "127.1.0.2", 1), -EINVAL);
	turn();
	silence();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD(hosts_have_addresses),
		WORLD(loopback_is_the_callers_first_port),
		WORLD(mapped_addresses_are_those_inside),
		WORLD(link_local_addresses_have_the_guid),
		WORLD(a_silent_port_has_no_neighbours),
		WORLD(groups_have_mgids),
		WORLD(bind_says_why_not),
		WORLD(ports_are_taken_by_address),
		WORLD(spaces_and_hosts_are_apart),
		WORLD(reuseaddr_shares_until_one_listens),
		WORLD(afonly_parts_the_families),
		WORLD(any_port_is_one_of_the_range),
		WORLD(service_ids_have_a_port_space),
		WORLD(options_have_states),
		WORLD(calls_need_their_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
