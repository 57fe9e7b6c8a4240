// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Ids on Ethernet ports: addresses, paths and groups without subnet administration. */
#include "cma/test_world.h"
#include "cma/for_tests.h"
#include "wire/mad/cm.h"

enum { ACTIVE = 1, PASSIVE, PEER };
static int who[4];
#define WHO(n) (&who[n])

static void map4(const char *text, uint8_t gid[16])
{
	union cma_addr a = ip(text, 0);

	memset(gid, 0, 16);
	cma_ip2gid(&a, gid);
}

static void assert_gids(const struct cm_path *p, const char *src, const char *dst)
{
	uint8_t gid[16];

	map4(src, gid);
	assert_memory_equal(p->sgid, gid, 16);
	map4(dst, gid);
	assert_memory_equal(p->dgid, gid, 16);
}

/* cma_resolve_iboe_route() */
static void a_path_follows_from_addresses(void **state)
{
	struct cma_id *id = routed(1, RDMA_PS_TCP, "127.1.0.1", 7000, WHO(ACTIVE));
	const struct cm_path *p = cma_path(id, 0);

	assert_int_equal(w.sa_sent, 0);
	assert_gids(p, "127.1.0.2", "127.1.0.1");
	assert_int_equal(p->gid_kind, HW_GID_ROCE_V2);
	assert_int_equal(p->mtu, IBV_MTU_4096);
	assert_int_equal(p->hop_limit, 64);
	assert_int_equal(p->packet_life_time, 18);
	assert_int_equal(p->pkey, 0xffff);
	assert_int_equal(p->flow_label, (cma_addr_port(cma_src(id)) * 31u + 7000) & 0xfffff);
	assert_int_equal(p->slid | p->dlid | p->sl, 0);
}

static void a_neighbour_without_link_is_not_found(void **state)
{
	struct cma_id *id = id_of(1, RDMA_PS_TCP, WHO(ACTIVE));

	assert_int_equal(fab_eth_link(&w.s, port_of(0, 0), false), 0);
	assert_int_equal(try_resolve(id, "127.1.0.1", 7000), 0);
	pass(1999);
	silence();
	pass(2);
	heard(WHO(ACTIVE), RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
	assert_int_equal(try_resolve(id, "127.1.0.1", 7000), 0);
	assert_int_equal(fab_eth_link(&w.s, port_of(0, 0), true), 0);
	cma_port_event(w.c, port_of(0, 0));
	turn();
	heard(WHO(ACTIVE), RDMA_CM_EVENT_ADDR_RESOLVED, 0);
}

/* cma_validate_port(): the source address must be in the GID table. */
static void a_source_needs_an_entry_of_the_table(void **state)
{
	struct cma_id *id = id_of(1, RDMA_PS_TCP, WHO(ACTIVE));
	struct hw_port *p = at(1, 0);

	memset(p->gid[2], 0, sizeof(p->gid[2]));
	memset(p->gid[3], 0, sizeof(p->gid[3]));
	assert_int_equal(try_bind(id, "127.1.0.2", 7000), -ENODEV);
	assert_int_equal(try_resolve(id, "127.1.0.1", 7000), 0);
	turn();
	heard(WHO(ACTIVE), RDMA_CM_EVENT_ADDR_ERROR, -ENODEV);
	assert_int_equal(be32_load(&cma_src(id)->in.sin_addr), 0); /* as before */
}

static void af_ib_and_ipoib_are_not_there(void **state)
{
	struct cma_id *a = id_of(1, RDMA_PS_TCP, WHO(ACTIVE));
	struct cma_id *i = id_of(1, RDMA_PS_IPOIB, WHO(PASSIVE));
	union cma_addr gid = ib(at(1, 0)->gid[0], (uint64_t)RDMA_PS_TCP << 16 | 7000, UINT64_MAX);

	assert_int_equal(CALL(cma_bind(a, &gid)), -ENODEV);
	assert_int_equal(try_bind(i, "127.1.0.2", 7000), -EINVAL);
}

/* A loopback address belongs to no interface here, so no route can be resolved. */
static void loopback_has_no_route(void **state)
{
	struct cma_id *id = id_of(1, RDMA_PS_TCP, WHO(ACTIVE));

	assert_int_equal(try_resolve(id, "127.0.0.1", 7000), 0);
	turn();
	heard(WHO(ACTIVE), RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	assert_int_equal(CALL(cma_resolve_route(id, 2000)), -ENODEV);
	assert_int_equal(cma_id_state(id), CMA_ADDR_RESOLVED);
}

/*
 * A connect request reaches the peer, and each end gets its QP's attributes from the packet's GIDs.
 */
static void ends_agree(void **state)
{
	const struct cma_conn_param c = {.qpn = 0x11, .retry_count = 7};
	struct cma_id *l = listener(0, RDMA_PS_TCP, "0.0.0.0", 7000, WHO(PASSIVE));
	struct cma_id *id = routed(1, RDMA_PS_TCP, "127.1.0.1", 7000, WHO(ACTIVE)), *peer;
	struct cm_qp_attr a;

	assert_int_equal(CALL(cma_connect(id, &c, NULL)), 0);
	turn();
	peer = heard(WHO(PASSIVE), RDMA_CM_EVENT_CONNECT_REQUEST, 0)->id;
	assert_ptr_not_equal(peer, l);
	assert_int_equal(CALL(cma_init_qp_attr(peer, IBV_QPS_RTR, &a)), 0);
	assert_true(a.grh);
	assert_gids(&a.path, "127.1.0.1", "127.1.0.2");
	assert_int_equal(a.path.gid_kind, HW_GID_ROCE_V2);
	assert_int_equal(a.path.hop_limit, 64);
	assert_int_equal(a.path.dlid, 0);
	assert_int_equal(a.path_mtu, IBV_MTU_4096);
	assert_gids(cma_path(peer, 0), "127.1.0.1", "127.1.0.2");
	assert_int_equal(CALL(cma_accept(peer, &c, NULL)), 0);
	turn();
	heard(WHO(ACTIVE), RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
	assert_int_equal(CALL(cma_init_qp_attr(id, IBV_QPS_RTR, &a)), 0);
	assert_true(a.grh);
	assert_gids(&a.path, "127.1.0.2", "127.1.0.1");
}

/* roce_resolve_route_from_path(): no route leads from an IPv4 address to an IPv6 one. */
static void a_request_of_two_families_is_rejected(void **state)
{
	const struct cma_conn_param c = {.qpn = 0x11};
	struct cma_id *l = listener(0, RDMA_PS_TCP, "0.0.0.0", 7000, WHO(PASSIVE));
	struct cma_id *id = routed(1, RDMA_PS_TCP, "127.1.0.1", 7000, WHO(ACTIVE));
	struct cm_pkt req;

	assert_non_null(l);
	w.lose_cm = true;
	assert_int_equal(CALL(cma_connect(id, &c, NULL)), 0);
	req = w.last;
	w.lose_cm = false;
	memcpy(LAYOUT_IN(cm_req, primary_remote_port_gid, req.mad + CM_MSG), at(0, 0)->gid[0], 16);
	cma_arrived(w.c, &req);
	turn();
	heard(WHO(ACTIVE), RDMA_CM_EVENT_REJECTED, CM_REJ_INVALID_GID);
	silence();
}

static void resolves_a_datagram_service(void **state)
{
	const struct cma_conn_param c = {.qpn = 0x11};
	struct cma_id *l = listener(0, RDMA_PS_UDP, "127.1.0.1", 7000, WHO(PASSIVE));
	struct cma_id *id = routed(1, RDMA_PS_UDP, "127.1.0.1", 7000, WHO(ACTIVE)), *peer;
	const struct said *s;

	assert_non_null(l);
	assert_int_equal(CALL(cma_connect(id, &c, NULL)), 0);
	turn();
	peer = heard(WHO(PASSIVE), RDMA_CM_EVENT_CONNECT_REQUEST, 0)->id;
	assert_int_equal(CALL(cma_accept(peer, &(struct cma_conn_param){.qpn = 0x22}, NULL)), 0);
	turn();
	s = heard(WHO(ACTIVE), RDMA_CM_EVENT_ESTABLISHED, 0);
	assert_int_equal(s->e.ud.qpn, 0x22);
	assert_int_equal(s->e.ud.qkey, CMA_UDP_QKEY);
	assert_true(s->e.ud.grh);
	assert_int_equal(s->e.ud.dlid, 0);
	assert_gids(&s->e.ud.path, "127.1.0.2", "127.1.0.1");
}

static struct cma_id *datagrams(uint32_t host, const char *text, void *of)
{
	struct cma_id *id = id_of(host, RDMA_PS_UDP, of);

	assert_int_equal(try_bind(id, text, 0), 0);
	return id;
}

/* joins of cma_iboe_join_multicast() */
static void a_group_is_joined_at_once(void **state)
{
	union cma_addr g = ip("239.1.2.3", 0);
	struct cma_id *id = datagrams(1, "127.1.0.2", WHO(ACTIVE));
	const struct said *s;

	assert_int_equal(CALL(cma_join(id, &g, 1, WHO(PEER))), 0);
	silence();
	turn();
	s = heard(WHO(ACTIVE), RDMA_CM_EVENT_MULTICAST_JOIN, 0);
	assert_ptr_equal(s->e.ud.context, WHO(PEER));
	assert_gids(&s->e.ud.path, "127.1.0.2", "239.1.2.3");
	assert_int_equal(s->e.ud.path.gid_kind, HW_GID_ROCE_V2);
	assert_int_equal(s->e.ud.path.hop_limit, 64);
	assert_int_equal(s->e.ud.qpn, 0xffffff);
	assert_int_equal(s->e.ud.dlid, 0);
	assert_int_equal(w.sa_sent, 0);
	CALL((cma_leave(id, &g), 0));
	turn();
	silence();
}

/* cancel_work_sync() */
static void leaving_takes_the_event_back(void **state)
{
	union cma_addr g = ip("239.1.2.3", 0);
	struct cma_id *id = datagrams(1, "127.1.0.2", WHO(ACTIVE));

	assert_int_equal(CALL(cma_join(id, &g, 1, WHO(PEER))), 0);
	CALL((cma_leave(id, &g), 0));
	assert_int_equal(CALL(cma_join(id, &g, 1, WHO(PEER))), 0);
	CALL((cma_id_destroy(id), 0));
	turn();
	silence();
}

/* ---- an address goes while ids use it (del_gid(): it lives on where it is referred to) */

/* ip_route_output_key_hash_rcu(): IPv4 sends from addresses of the host only. */
static void a_bound_id_cannot_resolve(void **state)
{
	struct cma_id *id = id_of(1, RDMA_PS_TCP, WHO(ACTIVE));

	assert_int_equal(try_bind(id, "127.1.0.2", 7000), 0);
	address_goes(1);
	turn();
	silence();
	assert_int_equal(try_resolve(id, "127.1.0.1", 7000), -EINVAL);
	assert_int_equal(cma_id_state(id), CMA_ADDR_BOUND);
	address_comes(1);
	assert_int_equal(try_resolve(id, "127.1.0.1", 7000), 0);
	turn();
	heard(WHO(ACTIVE), RDMA_CM_EVENT_ADDR_RESOLVED, 0);
}

/* With IPv6 it can, as long as a route leads to the destination. */
static void a_bound_id_of_ipv6_resolves(void **state)
{
	const uint8_t last[] = {1, 2, 3};
	struct cma_id *id = id_of(1, RDMA_PS_TCP, WHO(ACTIVE));
	uint8_t addr[16] = {0xfd};

	for (size_t i = 0; i < sizeof(last); i++) {
		addr[15] = last[i];
		assert_int_equal(fab_if_add(&w.s, port_of(i > 0, 0), addr, sizeof(addr), 64), 0);
	}
	assert_int_equal(try_bind(id, "fd00::3", 7000), 0);
	assert_int_equal(fab_if_del(&w.s, port_of(1, 0), addr, sizeof(addr), 0), 0);
	assert_int_equal(try_resolve(id, "fd00::1", 7000), 0);
	turn();
	heard(WHO(ACTIVE), RDMA_CM_EVENT_ADDR_RESOLVED, 0);
}

/* process_one_req() */
static void a_resolving_id_hears_of_it(void **state)
{
	struct cma_id *id = id_of(1, RDMA_PS_TCP, WHO(ACTIVE));

	assert_int_equal(try_bind(id, "127.1.0.2", 7000), 0);
	assert_int_equal(try_resolve(id, "127.1.0.77", 7000), 0);
	address_goes(1);
	pass(999);
	silence();
	pass(2);
	heard(WHO(ACTIVE), RDMA_CM_EVENT_ADDR_ERROR, -EINVAL);
	assert_int_equal(cma_id_state(id), CMA_ADDR_BOUND);
}

/* cma_resolve_iboe_route() looks for no GID, and cm_init_av_by_path() has a reference to it. */
static void a_resolved_id_connects_to_nobody(void **state)
{
	const struct cma_conn_param c = {.qpn = 0x11, .retry_count = 7};
	struct cma_id *l = listener(0, RDMA_PS_TCP, "0.0.0.0", 7000, WHO(PASSIVE));
	struct cma_id *id = id_of(1, RDMA_PS_TCP, WHO(ACTIVE));

	assert_non_null(l);
	assert_int_equal(try_resolve(id, "127.1.0.1", 7000), 0);
	turn();
	heard(WHO(ACTIVE), RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	address_goes(1);
	assert_int_equal(CALL(cma_resolve_route(id, 2000)), 0);
	turn();
	heard(WHO(ACTIVE), RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	assert_int_equal(CALL(cma_connect(id, &c, NULL)), 0);
	pass(600000);
	heard(WHO(ACTIVE), RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
	silence();
}

/* Two ids that are connected, and have told so. */
static void connected(struct cma_id **id, struct cma_id **peer)
{
	const struct cma_conn_param c = {.qpn = 0x11, .retry_count = 7}, d = {.qpn = 0x12};
	struct cma_id *l = listener(0, RDMA_PS_TCP, "0.0.0.0", 7000, WHO(PASSIVE));

	assert_non_null(l);
	*id = routed(1, RDMA_PS_TCP, "127.1.0.1", 7000, WHO(ACTIVE));
	assert_int_equal(CALL(cma_connect(*id, &c, NULL)), 0);
	turn();
	*peer = heard(WHO(PASSIVE), RDMA_CM_EVENT_CONNECT_REQUEST, 0)->id;
	assert_int_equal(CALL(cma_accept(*peer, &d, NULL)), 0);
	turn();
	heard(WHO(ACTIVE), RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
	assert_int_equal(CALL(cma_accept(*id, NULL, NULL)), 0);
	turn();
	heard(WHO(PASSIVE), RDMA_CM_EVENT_ESTABLISHED, 0);
}

/* Both ends of a connection, and their events after the client's address has gone. */
static void a_connection_ends_by_time(void **state)
{
	struct cma_id *id, *peer;

	connected(&id, &peer);
	address_goes(1);
	pass(600000);
	silence();
	assert_int_equal(CALL(cma_disconnect(id)), 0);
	pass(600000);
	heard(WHO(ACTIVE), RDMA_CM_EVENT_DISCONNECTED, -ETIMEDOUT);
	heard(WHO(ACTIVE), RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
	silence(); /* the other end knows of nothing */
	assert_int_equal(CALL(cma_disconnect(peer)), 0);
	pass(600000);
	heard(WHO(PASSIVE), RDMA_CM_EVENT_DISCONNECTED, -ETIMEDOUT);
	heard(WHO(PASSIVE), RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
	silence();
}

/* In timewait nothing is sent. */
static void timewait_ends_as_ever(void **state)
{
	struct cma_id *id, *peer;

	connected(&id, &peer);
	assert_int_equal(CALL(cma_disconnect(id)), 0);
	turn();
	heard(WHO(PASSIVE), RDMA_CM_EVENT_DISCONNECTED, 0);
	assert_int_equal(CALL(cma_disconnect(peer)), 0);
	turn();
	heard(WHO(ACTIVE), RDMA_CM_EVENT_DISCONNECTED, 0);
	address_goes(1);
	pass(600000);
	assert_int_equal(w.nlog - w.read, 2);
	assert_int_equal(w.log[w.read % 64].e.event, RDMA_CM_EVENT_TIMEWAIT_EXIT);
	assert_int_equal(w.log[(w.read + 1) % 64].e.event, RDMA_CM_EVENT_TIMEWAIT_EXIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ETHERNET(a_path_follows_from_addresses),
		ETHERNET(a_neighbour_without_link_is_not_found),
		ETHERNET(a_source_needs_an_entry_of_the_table),
		ETHERNET(af_ib_and_ipoib_are_not_there),
		ETHERNET(loopback_has_no_route),
		ETHERNET(ends_agree),
		ETHERNET(a_request_of_two_families_is_rejected),
		ETHERNET(resolves_a_datagram_service),
		ETHERNET(a_group_is_joined_at_once),
		ETHERNET(leaving_takes_the_event_back),
		ETHERNET(a_bound_id_cannot_resolve),
		ETHERNET(a_bound_id_of_ipv6_resolves),
		ETHERNET(a_resolving_id_hears_of_it),
		ETHERNET(a_resolved_id_connects_to_nobody),
		ETHERNET(a_connection_ends_by_time),
		ETHERNET(timewait_ends_as_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
