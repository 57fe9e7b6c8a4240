// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Resolving, connecting and ending: the events of both sides in their order. */
#include "cma/test_world.h"
#include "cma/for_tests.h"

static int ME, YOU, LISTENER; /* whose id it is */
static const struct cma_conn_param params = {
	.data = "hello",
	.len = 6,
	.responder_resources = 3,
	.initiator_depth = 2,
	.retry_count = 9,
	.rnr_retry_count = 5,
	.qpn = 0x111,
};

/* ---- resolving */

static void resolving_finds_port_and_neighbour(void **state)
{
	struct cma_id *id = id_of(0, RDMA_PS_TCP, &ME);
	uint8_t sgid[16], dgid[16];
	uint16_t pkey;

	assert_int_equal(try_resolve(id, "127.2.0.3", 5), 0);
	assert_int_equal(cma_id_state(id), CMA_ADDR_QUERY);
	silence();
	turn();
	heard(&ME, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	assert_int_equal(cma_port(id), port_of(0, 1));
	assert_int_equal(ntohl(cma_src(id)->in.sin_addr.s_addr), 0x7f020001);
	cma_gids(id, sgid, dgid, &pkey);
	assert_memory_equal(sgid, at(0, 1)->gid[0], 16);
	assert_memory_equal(dgid, at(2, 1)->gid[0], 16);
	assert_int_equal(pkey, 0xffff);
}

static void loopback_binds_the_first_active_port(void **state)
{
	struct cma_id *id = id_of(1, RDMA_PS_TCP, &ME);

	fab_link_set(&w.s, port_of(1, 0), IB_PHYS_DISABLED);
	assert_int_equal(try_resolve(id, "127.0.0.1", 5), 0);
	turn();
	heard(&ME, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	assert_int_equal(cma_port(id), port_of(1, 1));
	assert_int_equal(ntohl(cma_src(id)->in.sin_addr.s_addr), INADDR_LOOPBACK);
}

static void no_route_is_said_at_once(void **state)
{
	struct cma_id *id = id_of(0, RDMA_PS_TCP, &ME);

	assert_int_equal(try_resolve(id, "10.1.2.3", 5), -ENETUNREACH);
	assert_int_equal(cma_id_state(id), CMA_ADDR_BOUND);
	assert_int_equal(try_resolve(id, "fe80::1", 5), -EINVAL); /* bound to AF_INET */
	assert_int_equal(try_resolve(id, "127.1.0.2", 5), 0);
	turn();
	heard(&ME, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
}

static void nobodys_address_times_out(void **state)
{
	struct cma_id *id = id_of(0, RDMA_PS_TCP, &ME);

	assert_int_equal(try_resolve(id, "127.1.0.99", 5), 0);
	pass(1999);
	silence();
	pass(1);
	heard(&ME, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
	assert_int_equal(cma_id_state(id), CMA_ADDR_BOUND);
	assert_int_equal(cma_port(id), SEG_NONE);
}

static void a_neighbour_may_come_up_meanwhile(void **state)
{
	struct cma_id *id = id_of(0, RDMA_PS_TCP, &ME);

	fab_link_set(&w.s, port_of(1, 0), IB_PHYS_DISABLED);
	assert_int_equal(try_resolve(id, "127.1.0.2", 5), 0);
	pass(100);
	silence();
	fab_link_set(&w.s, port_of(1, 0), IB_PHYS_POLLING);
	assert_int_equal(fab_sm_sweep(&w.s), 0);
	pass(800);
	silence();
	pass(200); /* it is asked again */
	heard(&ME, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	pass(5000);
	silence();
}

static void af_ib_resolves_by_gid(void **state)
{
	struct cma_id *id = id_of(0, RDMA_PS_IB, &ME);
	union cma_addr dst = ib(at(2, 0)->gid[0], UINT64_C(0x013f0005), UINT64_MAX);

	assert_int_equal(CALL(cma_resolve_addr(id, NULL, &dst, 1000)), 0);
	turn();
	heard(&ME, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	assert_int_equal(cma_port(id), port_of(0, 0));
	assert_memory_equal(cma_ib_const(cma_src(id))->sib_addr.sib_raw, at(0, 0)->gid[0], 16);
	id = id_of(0, RDMA_PS_IB, &ME);
	cma_ib(&dst)->sib_addr.sib_raw[0] = 0x20; /* another subnet */
	assert_int_equal(CALL(cma_resolve_addr(id, NULL, &dst, 1000)), -ENODEV);
}

static void a_route_is_the_sas_path(void **state)
{
	struct cma_id *id = routed(0, RDMA_PS_TCP, "127.1.0.2", 5, &ME);
	const struct cm_path *p = cma_path(id, 0);

	assert_int_equal(w.sa_sent, 1);
	assert_int_equal(cma_npaths(id), 1);
	assert_int_equal(p->slid, at(0, 0)->lid);
	assert_int_equal(p->dlid, at(1, 0)->lid);
	assert_int_equal(p->pkey, 0xffff);
	assert_int_equal(p->mtu, IBV_MTU_4096);
	assert_int_equal(CALL(cma_resolve_route(id, 1000)), -EINVAL);
}

/* send_mad(): ten repetitions within the time. */
static void without_sa_the_route_times_out(void **state)
{
	struct cma_id *id = id_of(0, RDMA_PS_TCP, &ME);

	assert_int_equal(try_resolve(id, "127.1.0.2", 5), 0);
	turn();
	heard(&ME, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	w.lose_sa = true;
	assert_int_equal(CALL(cma_resolve_route(id, 0)), -EINVAL);
	assert_int_equal(CALL(cma_resolve_route(id, 2000)), 0);
	pass(2199);
	silence();
	assert_int_equal(w.sa_sent, 11);
	pass(1);
	heard(&ME, RDMA_CM_EVENT_ROUTE_ERROR, -ETIMEDOUT);
	assert_int_equal(cma_id_state(id), CMA_ADDR_RESOLVED);
	w.lose_sa = false;
	w.sa_status = SA_STATUS_NO_RECORDS;
	assert_int_equal(CALL(cma_resolve_route(id, 2000)), 0);
	turn();
	heard(&ME, RDMA_CM_EVENT_ROUTE_ERROR, -EINVAL);
	at(0, 0)->sm_lid = 0;
	assert_int_equal(CALL(cma_resolve_route(id, 2000)), -EAGAIN);
	assert_int_equal(cma_id_state(id), CMA_ADDR_RESOLVED);
}

/* ---- connections */

struct pair {
	struct cma_id *listener, *me, *you;
};

/* Connects up to CONNECT_REQUEST: afterwards both ids of the pair exist. */
static void ask(struct pair *p, const char *bind, const char *to)
{
	struct said *s;

	p->listener = listener(1, RDMA_PS_TCP, bind, 5000, &LISTENER);
	p->me = routed(0, RDMA_PS_TCP, to, 5000, &ME);
	assert_int_equal(CALL(cma_connect(p->me, &params, NULL)), 0);
	silence();
	turn();
	s = heard(&LISTENER, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	p->you = s->id;
	assert_ptr_not_equal(p->you, p->listener);
	cma_set_context(p->you, on_event, &YOU);
}

static void establish(struct pair *p)
{
	const struct cma_conn_param reply = {.data = "bye", .len = 4, .qpn = 0x222};

	ask(p, "0.0.0.0", "127.1.0.2");
	assert_int_equal(CALL(cma_accept(p->you, &reply, NULL)), 0);
	turn();
	heard(&ME, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
	assert_int_equal(CALL(cma_accept(p->me, NULL, NULL)), 0);
	turn();
	heard(&YOU, RDMA_CM_EVENT_ESTABLISHED, 0);
	silence();
}

static void a_request_carries_parameters(void **state)
{
	struct pair p;
	struct said *s;

	ask(&p, "0.0.0.0", "127.2.0.2");
	s = &w.log[(w.read - 1) % 64];
	assert_string_equal((char *)s->data, "hello");
	assert_int_equal(s->e.conn.len, 56);
	assert_int_equal(s->e.conn.responder_resources, 2); /* of the other side */
	assert_int_equal(s->e.conn.initiator_depth, 3);
	assert_int_equal(s->e.conn.retry_count, 7);
	assert_int_equal(s->e.conn.rnr_retry_count, 5);
	assert_int_equal(s->e.conn.qpn, 0x111);
	assert_int_equal(cma_port(p.you), port_of(1, 1));
	assert_int_equal(ntohl(cma_src(p.you)->in.sin_addr.s_addr), 0x7f020002);
	assert_int_equal(ntohs(cma_src(p.you)->in.sin_port), 5000);
	assert_int_equal(ntohl(cma_dst(p.you)->in.sin_addr.s_addr), 0x7f020001);
	assert_int_equal(cma_dst(p.you)->in.sin_port, cma_src(p.me)->in.sin_port);
	assert_int_equal(cma_npaths(p.you), 1);
}

static void connections_come_and_go(void **state)
{
	struct cm_qp_attr attr;
	struct pair p;

	establish(&p);
	assert_int_equal(CALL(cma_init_qp_attr(p.me, IBV_QPS_RTR, &attr)), 0);
	assert_int_equal(attr.dest_qpn, 0x222);
	assert_int_equal(attr.rq_psn, p.me->seq_num); /* rdma_init_qp_attr() sets it from the id */
	assert_int_equal(cma_set_ack_timeout(p.you, 3), 0);
	assert_int_equal(CALL(cma_init_qp_attr(p.you, IBV_QPS_RTS, &attr)), 0);
	assert_int_equal(attr.timeout, 3);
	assert_int_equal(CALL(cma_disconnect(p.me)), 0);
	turn();
	heard(&YOU, RDMA_CM_EVENT_DISCONNECTED, 0);
	silence();
	assert_int_equal(CALL(cma_disconnect(p.you)), 0);
	turn();
	heard(&ME, RDMA_CM_EVENT_DISCONNECTED, 0);
	pass(60000);
	assert_int_equal(w.nlog - w.read, 2); /* one per end */
	assert_int_equal(w.log[w.read % 64].e.event, RDMA_CM_EVENT_TIMEWAIT_EXIT);
	assert_int_equal(w.log[(w.read + 1) % 64].e.event, RDMA_CM_EVENT_TIMEWAIT_EXIT);
}

static void nobody_listens(void **state)
{
	struct cma_id *me = routed(0, RDMA_PS_TCP, "127.1.0.2", 5000, &ME);

	assert_int_equal(CALL(cma_connect(me, &params, NULL)), 0);
	turn();
	heard(&ME, RDMA_CM_EVENT_REJECTED, 8);
}

static void listeners_have_addresses(void **state)
{
	static int other;
	struct cma_id *me;

	listener(1, RDMA_PS_TCP, "127.1.0.2", 5000, &LISTENER);
	me = routed(0, RDMA_PS_TCP, "127.2.0.2", 5000, &ME);
	assert_int_equal(CALL(cma_connect(me, &params, NULL)), 0);
	turn();
	heard(&ME, RDMA_CM_EVENT_REJECTED, 8);
	listener(1, RDMA_PS_TCP, "127.2.0.2", 5000, &other);
	me = routed(0, RDMA_PS_TCP, "127.2.0.2", 5000, &ME);
	assert_int_equal(CALL(cma_connect(me, &params, NULL)), 0);
	turn();
	heard(&other, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
}

static void requests_can_be_rejected(void **state)
{
	struct pair p;
	struct said *s;

	ask(&p, "127.1.0.2", "127.1.0.2");
	assert_int_equal(CALL(cma_reject(p.you, "no", 3, 28)), 0);
	turn();
	s = heard(&ME, RDMA_CM_EVENT_REJECTED, 28);
	assert_string_equal((char *)s->data, "no");
	assert_int_equal(s->e.conn.len, CM_REJ_DATA);
}

/* The handler answers a request by an error, as with a full backlog. */
static void requests_can_be_refused(void **state)
{
	struct cma_id *me;

	listener(1, RDMA_PS_TCP, "0.0.0.0", 5000, &LISTENER);
	me = routed(0, RDMA_PS_TCP, "127.1.0.2", 5000, &ME);
	w.answer = 0;
	assert_int_equal(CALL(cma_connect(me, &params, NULL)), 0);
	w.answer = -ENOMEM - 1000;
	cma_set_context(me, on_event, &ME);
	turn();
	heard(&LISTENER, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	heard(&ME, RDMA_CM_EVENT_REJECTED, 28); /* the handler's error then destroys this id, too */
	w.answer = 0;
	pass(1000);
	silence();
}

static void a_lost_peer_is_unreachable(void **state)
{
	struct cma_id *me = routed(0, RDMA_PS_TCP, "127.1.0.2", 5000, &ME);

	w.lose_cm = true;
	assert_int_equal(CALL(cma_connect(me, &params, NULL)), 0);
	pass(600000);
	heard(&ME, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
	assert_int_equal(w.cm_sent, 16);
}

static void loopback_connects_within_the_host(void **state)
{
	struct cma_id *me;
	struct said *s;

	listener(1, RDMA_PS_TCP, "127.0.0.1", 5000, &LISTENER);
	me = routed(1, RDMA_PS_TCP, "127.0.0.1", 5000, &ME);
	assert_int_equal(CALL(cma_connect(me, &params, NULL)), 0);
	turn();
	s = heard(&LISTENER, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	assert_int_equal(cma_port(s->id), port_of(1, 0));
	me = routed(1, RDMA_PS_TCP, "127.2.0.2", 5000, &ME);
	assert_int_equal(CALL(cma_connect(me, &params, NULL)), 0);
	turn();
	s = heard(&LISTENER, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	assert_int_equal(cma_port(s->id), port_of(1, 1));
}

static void af_ib_connects(void **state)
{
	union cma_addr here = ib(NULL, UINT64_C(0x013f1234), UINT64_MAX);
	union cma_addr dst = ib(at(1, 1)->gid[0], UINT64_C(0x013f1234), UINT64_MAX);
	struct cma_id *l = id_of(1, RDMA_PS_IB, &LISTENER), *me = id_of(0, RDMA_PS_IB, &ME);
	/* cma_save_ip_info() takes the first octet for the version of its header. */
	const struct cma_conn_param data = {.data = "\0\1raw", .len = 6};
	struct said *s;

	assert_int_equal(CALL(cma_bind(l, &here)), 0);
	assert_int_equal(CALL(cma_listen(l, 1)), 0);
	assert_int_equal(CALL(cma_resolve_addr(me, NULL, &dst, 1000)), 0);
	turn();
	assert_int_equal(CALL(cma_resolve_route(me, 1000)), 0);
	turn();
	w.read = w.nlog;
	assert_int_equal(CALL(cma_connect(me, &data, NULL)), 0);
	turn();
	s = heard(&LISTENER, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	assert_string_equal((char *)s->data + 2, "raw");
	assert_int_equal(s->e.conn.len, CM_REQ_DATA);
	assert_int_equal(cma_src(s->id)->sa.sa_family, AF_IB);
	assert_memory_equal(cma_ib_const(cma_dst(s->id))->sib_addr.sib_raw, at(0, 0)->gid[0], 16);
}

/* ---- datagrams */

static void datagrams_resolve_their_service(void **state)
{
	const struct cma_conn_param mine = {.data = "who", .len = 4, .qpn = 1};
	const struct cma_conn_param yours = {.data = "me", .len = 3, .qpn = 0x333};
	struct cma_id *me;
	struct said *s;

	listener(1, RDMA_PS_UDP, "0.0.0.0", 5000, &LISTENER);
	me = routed(0, RDMA_PS_UDP, "127.1.0.2", 5000, &ME);
	assert_int_equal(CALL(cma_connect(me, &mine, NULL)), 0);
	turn();
	s = heard(&LISTENER, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	assert_string_equal((char *)s->data, "who");
	assert_int_equal(s->e.ud.len, CM_SIDR_REQ_DATA - 36);
	assert_int_equal(CALL(cma_accept(s->id, &yours, NULL)), 0);
	turn();
	s = heard(&ME, RDMA_CM_EVENT_ESTABLISHED, 0);
	assert_string_equal((char *)s->data, "me");
	assert_int_equal(s->e.ud.qpn, 0x333);
	assert_int_equal(s->e.ud.qkey, CMA_UDP_QKEY);
	assert_int_equal(s->e.ud.dlid, at(1, 0)->lid);
	assert_false(s->e.ud.grh);
}

static void datagram_services_can_be_missing_or_refuse(void **state)
{
	struct cma_id *me = routed(0, RDMA_PS_UDP, "127.1.0.2", 5000, &ME);
	struct said *s;

	assert_int_equal(CALL(cma_connect(me, &params, NULL)), 0);
	turn();
	heard(&ME, RDMA_CM_EVENT_UNREACHABLE, 1); /* IB_SIDR_UNSUPPORTED */
	listener(1, RDMA_PS_UDP, "0.0.0.0", 5000, &LISTENER);
	me = routed(0, RDMA_PS_UDP, "127.1.0.2", 5000, &ME);
	assert_int_equal(CALL(cma_connect(me, &params, NULL)), 0);
	turn();
	s = heard(&LISTENER, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	assert_int_equal(CALL(cma_reject(s->id, NULL, 0, 0)), 0);
	turn();
	heard(&ME, RDMA_CM_EVENT_UNREACHABLE, CMA_SIDR_REJECT);
}

/* ---- groups */

static struct cma_id *joiner(int *who)
{
	struct cma_id *id = id_of(0, RDMA_PS_UDP, who);

	assert_int_equal(try_bind(id, "127.1.0.1", 0), 0);
	return id;
}

static void joining_makes_a_member_of_the_port(void **state)
{
	struct cma_id *a = joiner(&ME), *b = joiner(&YOU);
	union cma_addr group = ip("239.0.0.7", 0);
	struct said *s;

	assert_int_equal(CALL(cma_join(a, &group, SA_JOIN_FULL, &LISTENER)), 0);
	assert_int_equal(w.sa_sent, 0);
	turn();
	s = heard(&ME, RDMA_CM_EVENT_MULTICAST_JOIN, 0);
	assert_ptr_equal(s->e.ud.context, &LISTENER);
	assert_true(s->e.ud.dlid >= 0xc000);
	assert_int_equal(s->e.ud.qpn, 0xffffff);
	assert_int_equal(s->e.ud.qkey, CMA_UDP_QKEY);
	assert_true(s->e.ud.grh);
	assert_int_equal(be16_load(s->e.ud.path.dgid + 2), 0x4001); /* the RDMA CM's */
	assert_int_equal(CALL(cma_join(b, &group, SA_JOIN_FULL, NULL)), 0);
	turn();
	heard(&YOU, RDMA_CM_EVENT_MULTICAST_JOIN, 0);
	assert_int_equal(w.sa_sent, 1); /* the port is a member already */
	cma_leave(a, &group);
	turn();
	assert_int_equal(w.sa_sent, 1);
	cma_id_destroy(b);
	turn();
	assert_int_equal(w.sa_sent, 2);
	seg_for_each_live (&w.s, SEG_T_MCMEM, i)
		fail_msg("member %u is left", i);
}

static void joins_can_fail(void **state)
{
	struct cma_id *a = joiner(&ME);
	union cma_addr group = ip("239.0.0.7", 0), bad = ip("ff02:401b::1", 0);

	w.lose_sa = true;
	assert_int_equal(CALL(cma_join(a, &group, SA_JOIN_FULL, NULL)), 0);
	pass(4000);
	heard(&ME, RDMA_CM_EVENT_MULTICAST_ERROR, -ETIMEDOUT);
	w.lose_sa = false;
	w.sa_status = SA_STATUS_REQ_INVALID;
	assert_int_equal(CALL(cma_join(a, &bad, SA_JOIN_FULL, NULL)), 0);
	turn();
	heard(&ME, RDMA_CM_EVENT_MULTICAST_ERROR, -EINVAL);
}

/* mcast_event_handler() */
static void a_lost_port_loses_its_groups(void **state)
{
	struct cma_id *a = joiner(&ME);
	union cma_addr group = ip("239.0.0.7", 0);

	assert_int_equal(CALL(cma_join(a, &group, SA_JOIN_FULL, NULL)), 0);
	turn();
	heard(&ME, RDMA_CM_EVENT_MULTICAST_JOIN, 0);
	fab_port_changed(&w.s, port_of(0, 0), FAB_CHANGED_SM | FAB_CHANGED_PKEY | FAB_CHANGED_GID);
	fab_port_changed(&w.s, port_of(1, 0), FAB_CHANGED_LID);
	turn(); /* nothing that matters has changed */
	silence();
	fab_link_set(&w.s, port_of(0, 0), IB_PHYS_DISABLED);
	fab_link_set(&w.s, port_of(0, 0), IB_PHYS_POLLING);
	assert_int_equal(fab_sm_sweep(&w.s), 0);
	turn(); /* it is up again already */
	heard(&ME, RDMA_CM_EVENT_MULTICAST_ERROR, -ENETRESET);
	silence();
}

/* mcast_event_handler(): a manager that has been restarted knows no members. */
static void a_port_that_registers_again_joins_again(void **state)
{
	struct cma_id *a = joiner(&ME);
	union cma_addr group = ip("239.0.0.7", 0);
	static const uint32_t changes[] = {FAB_CHANGED_REREGISTER, FAB_CHANGED_LID};

	for (int i = 0; i < 2; i++) {
		assert_int_equal(CALL(cma_join(a, &group, SA_JOIN_FULL, NULL)), 0);
		turn();
		heard(&ME, RDMA_CM_EVENT_MULTICAST_JOIN, 0);
		fab_port_changed(&w.s, port_of(0, 0), changes[i]);
		silence();
		turn();
		heard(&ME, RDMA_CM_EVENT_MULTICAST_ERROR, -ENETRESET);
		cma_leave(a, &group);
		turn();
		silence();
	}
}

static void leaving_before_the_answer_leaves_behind_nothing(void **state)
{
	struct cma_id *a = joiner(&ME);
	union cma_addr group = ip("239.0.0.7", 0), none = ip("0.0.0.0", 0);

	assert_int_equal(CALL(cma_join(a, &group, SA_JOIN_FULL, NULL)), 0);
	assert_int_equal(CALL(cma_join(a, &none, SA_JOIN_FULL, NULL)), 0);
	cma_leave(a, &group);
	turn();
	heard(&ME, RDMA_CM_EVENT_MULTICAST_JOIN, 0); /* a group that the SA has named */
	cma_id_destroy(a);
	pass(10);
	silence();
	seg_for_each_live (&w.s, SEG_T_MCMEM, i)
		fail_msg("member %u is left", i);
}

/* ---- ends */

static void ids_go_in_every_state(void **state)
{
	const struct cma_conn_param reply = {.qpn = 2};
	struct pair p;
	struct cma_id *id = id_of(0, RDMA_PS_TCP, &ME);

	assert_int_equal(try_resolve(id, "127.1.0.77", 1), 0); /* ADDR_QUERY, waits */
	cma_id_destroy(id);
	id = id_of(0, RDMA_PS_TCP, &ME);
	assert_int_equal(try_resolve(id, "127.1.0.2", 1), 0); /* ADDR_QUERY, event queued */
	cma_id_destroy(id);
	id = id_of(0, RDMA_PS_TCP, &ME);
	assert_int_equal(try_resolve(id, "127.1.0.2", 1), 0);
	turn();
	assert_int_equal(CALL(cma_resolve_route(id, 1000)), 0); /* the answer is under way */
	cma_id_destroy(id);
	id = id_of(0, RDMA_PS_TCP, &ME);
	assert_int_equal(try_resolve(id, "127.1.0.2", 1), 0);
	turn();
	w.lose_sa = true;
	assert_int_equal(CALL(cma_resolve_route(id, 1000)), 0);
	cma_id_destroy(id);
	w.lose_sa = false;
	w.read = w.nlog;
	pass(5000);
	silence();
	ask(&p, "0.0.0.0", "127.1.0.2"); /* CONNECT on both sides */
	cma_id_destroy(p.me);
	cma_id_destroy(p.listener);
	turn();
	heard(&YOU, RDMA_CM_EVENT_REJECTED, 4); /* IB_CM_REJ_TIMEOUT */
	assert_int_equal(CALL(cma_accept(p.you, &reply, NULL)), -EINVAL);
	cma_id_destroy(p.you);
	establish(&p);
	cma_id_destroy(p.me); /* DREQ */
	turn();
	heard(&YOU, RDMA_CM_EVENT_DISCONNECTED, 0);
	cma_id_destroy(p.listener);
	cma_id_destroy(p.you);
	pass(60000);
	silence();
	assert_true(TAILQ_EMPTY(&w.c->ids));
	assert_int_equal(cm_count(w.c->cm), 0);
}

/* An id is destroyed if its handler returns not 0. */
static void handlers_destroy(void **state)
{
	struct cma_id *id = id_of(0, RDMA_PS_TCP, &ME);
	struct pair p;

	w.answer = 1;
	assert_int_equal(try_resolve(id, "127.1.0.2", 1), 0);
	turn();
	heard(&ME, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	assert_true(TAILQ_EMPTY(&w.c->ids));
	w.answer = 0;
	establish(&p);
	w.answer = 1;
	assert_int_equal(CALL(cma_disconnect(p.me)), 0);
	turn();
	heard(&YOU, RDMA_CM_EVENT_DISCONNECTED, 0);
	heard(&ME, RDMA_CM_EVENT_DISCONNECTED, 0);
	cma_id_destroy(p.listener);
	assert_true(TAILQ_EMPTY(&w.c->ids));
	pass(60000);
	silence();
}

static void removed_adapters_end_their_ids(void **state)
{
	struct cma_id *id = id_of(0, RDMA_PS_TCP, &ME), *all;
	uint32_t port = port_of(0, 0);

	assert_int_equal(try_bind(id, "127.1.0.1", 0), 0);
	all = listener(0, RDMA_PS_TCP, "0.0.0.0", 5000, &LISTENER);
	seg_free(&w.s, SEG_T_HCA, at(0, 0)->hca);
	cma_port_event(w.c, port);
	silence();
	turn();
	heard(&ME, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	silence();
	assert_int_equal(cma_id_state(id), CMA_DEVICE_REMOVAL);
	assert_int_equal(cma_id_state(all), CMA_LISTEN);
	cma_id_destroy(id);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD(resolving_finds_port_and_neighbour),
		WORLD(loopback_binds_the_first_active_port),
		WORLD(no_route_is_said_at_once),
		WORLD(nobodys_address_times_out),
		WORLD(a_neighbour_may_come_up_meanwhile),
		WORLD(af_ib_resolves_by_gid),
		WORLD(a_route_is_the_sas_path),
		WORLD(without_sa_the_route_times_out),
		WORLD(a_request_carries_parameters),
		WORLD(connections_come_and_go),
		WORLD(nobody_listens),
		WORLD(listeners_have_addresses),
		WORLD(requests_can_be_rejected),
		WORLD(requests_can_be_refused),
		WORLD(a_lost_peer_is_unreachable),
		WORLD(loopback_connects_within_the_host),
		WORLD(af_ib_connects),
		WORLD(datagrams_resolve_their_service),
		WORLD(datagram_services_can_be_missing_or_refuse),
		WORLD(joining_makes_a_member_of_the_port),
		WORLD(joins_can_fail),
		WORLD(a_lost_port_loses_its_groups),
		WORLD(a_port_that_registers_again_joins_again),
		WORLD(leaving_before_the_answer_leaves_behind_nothing),
		WORLD(ids_go_in_every_state),
		WORLD(handlers_destroy),
		WORLD(removed_adapters_end_their_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
