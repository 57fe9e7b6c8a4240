/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For tests of ids: hosts with two adapters each, a clock that the test moves, a wire that carries
 * MADs of the CM between ports and asks the built-in SA, and a log of the events in their order.
 */
#ifndef SOFTHCA_CMA_TEST_WORLD_H
#define SOFTHCA_CMA_TEST_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cma/priv.h"
#include "fabric/eth.h"
#include "fabric/ifaddr.h"
#include "segment/proc.h"
#include "subnet/sa.h"
#include "subnet/subnet.h"
#include "util/bits.h"
#include "util/clock.h"

#define HOSTS 3u
#define HCAS 2u

struct said {
	void *who; /* context of the id */
	struct cma_id *id;
	struct cma_event e;
	uint8_t data[256];
};

static struct world {
	struct seg s;
	struct cma *c;
	uint64_t now;
	uint32_t host[HOSTS];
	bool lose_sa, lose_cm, in_call;
	bool gone;          /* an address has gone: what leaves from it is lost */
	uint16_t sa_status; /* the SA answers with that */
	uint32_t sa_sent, cm_sent;
	uint64_t pushed;
	struct cm_pkt last; /* the last packet that the CM sent, and the destination port */
	int answer;         /* of the handler */
	struct said log[64];
	uint32_t nlog, read;
} w;

#ifndef WITH_DEVICE /* it has tests of its own */
struct cma_dev *cma_dev_new(struct cma *c, struct seg *s, const struct cma_ops *ops, void *ctx)
{
	return calloc(1, sizeof(struct cma_dev));
}
void dev_queue_fresh(struct cma_dev *d)
{
}

void dev_changed_all(struct cma_dev *d)
{
}

void cma_dev_free(struct cma_dev *d)
{
	free(d);
}
#endif

static inline uint32_t port_of(uint32_t host, uint32_t n)
{
	return fab_port_by_umad(&w.s, w.host[host], n);
}

static inline struct hw_port *at(uint32_t host, uint32_t n)
{
	struct hw_port *p = hw_port(&w.s, port_of(host, n));

	assert_non_null(p);
	return p;
}

/* ---- the wire */

static void ask_sa(const struct cm_pkt *p)
{
	struct fab_sa_answer a;
	struct cm_pkt k = *p;

	w.sa_sent++;
	if (w.lose_sa ||
	    fab_sa(&w.s, fab_subnet(&w.s)->sm_port, p->port, p->mad, &a) != FAB_MAD_REPLY)
		return;
	memcpy(k.mad, a.mad, MAD_SIZE);
	fab_sa_free(&a);
	if (w.sa_status)
		LAYOUT_SET(mad_hdr, k.mad, status, w.sa_status);
	k.slid = p->dlid;
	k.dlid = p->slid;
	cma_arrived(w.c, &k);
}

static void on_send(void *ctx, const struct cm_pkt *p)
{
	const struct hw_port *from = hw_port(&w.s, p->port);
	struct cm_pkt k = *p;

	if (LAYOUT_GET(mad_hdr, p->mad, mgmt_class) == MAD_CLASS_SA) {
		ask_sa(p);
		return;
	}
	w.cm_sent++;
	k.slid = fab_port_addr(&w.s, p->port);
	if (hw_port_is_eth(from)) {
		assert_true(p->grh);
		if (fab_gid_find(from, p->sgid, p->gid_kind) < 0) {
			assert_true(w.gone);
			return;
		}
		k.port = fab_port_by_ip4(&w.s, be32_load(p->dgid + 12));
		k.answer_hops = 64;
	} else {
		k.port = from->lid == p->dlid ? p->port : fab_route(&w.s, p->port, p->dlid);
	}
	w.last = k;
	if (!w.lose_cm && k.port != SEG_NONE)
		cma_arrived(w.c, &k);
}

static int on_push(void *ctx, uint32_t file, const void *event, size_t len, uint64_t *ref)
{
	*ref = ++w.pushed;
	return 0;
}

static bool on_waits(void *ctx, uint64_t ref)
{
	return true;
}

static bool on_drop(void *ctx, uint32_t file, uint64_t ref)
{
	return true;
}

static uint64_t on_now(void *ctx)
{
	return w.now;
}

static const struct cma_ops world_ops = {on_push, on_waits, on_drop, on_send, on_now};

/* ---- time and events */

static int on_event(struct cma_id *id, const struct cma_event *e)
{
	struct said *s = &w.log[w.nlog++ % 64];
	const struct cma_conn_param *p = &e->conn;
	bool ud = cma_qp_type(id) == IBV_QPT_UD && e->event < RDMA_CM_EVENT_MULTICAST_JOIN;

	assert_false(w.in_call); /* never from within a call */
	*s = (struct said){.who = cma_context(id), .id = id, .e = *e};
	if (ud && e->ud.data)
		memcpy(s->data, e->ud.data, e->ud.len);
	else if (!ud && e->event >= RDMA_CM_EVENT_CONNECT_REQUEST &&
		 e->event <= RDMA_CM_EVENT_ESTABLISHED && p->data)
		memcpy(s->data, p->data, p->len);
	return w.answer;
}

/* Calls a function of id.h and checks that it calls no handler. */
#define CALL(x)                    \
	({                         \
		int r_;            \
		w.in_call = true;  \
		r_ = (x);          \
		w.in_call = false; \
		r_;                \
	})

static inline void turn(void)
{
	cma_run_due(w.c);
}

/* The clock goes on, from one deadline to the next. */
static inline void pass(uint64_t ms)
{
	uint64_t end = w.now + ms * NSEC_PER_MSEC, next;

	while ((next = cma_run_due(w.c)) <= end)
		w.now = next > w.now ? next : w.now + 1;
	w.now = end;
	cma_run_due(w.c);
}

/* The next event is that one. */
static inline struct said *heard(const void *who, uint32_t event, int status)
{
	struct said *s = &w.log[w.read % 64];

	if (w.read == w.nlog)
		fail_msg("no event, expected %u", event);
	if (s->e.event != event || s->e.status != status || s->who != who)
		fail_msg("event %u status %d of %p, expected %u %d of %p", s->e.event, s->e.status,
			 s->who, event, status, who);
	w.read++;
	return s;
}

static inline void silence(void)
{
	if (w.read != w.nlog)
		fail_msg("event %u status %d", w.log[w.read % 64].e.event,
			 w.log[w.read % 64].e.status);
}

/* ---- addresses and ids */

static inline union cma_addr ip(const char *text, uint16_t port)
{
	union cma_addr a = {0};

	if (strchr(text, ':')) {
		a.in6.sin6_family = AF_INET6;
		assert_int_equal(inet_pton(AF_INET6, text, &a.in6.sin6_addr), 1);
		be16_store(&a.in6.sin6_port, port);
	} else {
		a.in.sin_family = AF_INET;
		assert_int_equal(inet_pton(AF_INET, text, &a.in.sin_addr), 1);
		be16_store(&a.in.sin_port, port);
	}
	return a;
}

/* AF_IB; gid NULL: any. */
static inline union cma_addr ib(const uint8_t *gid, uint64_t sid, uint64_t mask)
{
	union cma_addr a = {0};

	a.sa.sa_family = AF_IB;
	if (gid)
		memcpy(cma_ib(&a)->sib_addr.sib_raw, gid, 16);
	be16_store(&cma_ib(&a)->sib_pkey, 0xffff);
	be64_store(&cma_ib(&a)->sib_sid, sid);
	be64_store(&cma_ib(&a)->sib_sid_mask, mask);
	return a;
}

static inline struct cma_id *id_of(uint32_t host, enum rdma_ucm_port_space ps, void *who)
{
	struct cma_id *id = cma_id_new(
		w.c, w.host[host], 0, "test", ps,
		ps == RDMA_PS_TCP || ps == RDMA_PS_IB ? IBV_QPT_RC : IBV_QPT_UD, on_event, who);

	assert_non_null(id);
	return id;
}

static inline int try_bind(struct cma_id *id, const char *text, uint16_t port)
{
	union cma_addr a = ip(text, port);

	return CALL(cma_bind(id, &a));
}

static inline int try_resolve(struct cma_id *id, const char *text, uint16_t port)
{
	union cma_addr a = ip(text, port);

	return CALL(cma_resolve_addr(id, NULL, &a, 2000));
}

static inline struct cma_id *listener(uint32_t host, enum rdma_ucm_port_space ps, const char *text,
				      uint16_t port, void *who)
{
	struct cma_id *id = id_of(host, ps, who);

	assert_int_equal(try_bind(id, text, port), 0);
	assert_int_equal(CALL(cma_listen(id, 8)), 0);
	return id;
}

/* `softhca ip del` of the host's first address, and `ip add` of it. */
static inline void address_goes(uint32_t host)
{
	const uint8_t addr[4] = {127, 1, 0, (uint8_t)(host + 1)};

	assert_int_equal(fab_if_del(&w.s, port_of(host, 0), addr, sizeof(addr), 0), 0);
	w.gone = true;
}

static inline void address_comes(uint32_t host)
{
	const uint8_t addr[4] = {127, 1, 0, (uint8_t)(host + 1)};

	assert_int_equal(fab_if_add(&w.s, port_of(host, 0), addr, sizeof(addr), 16), 0);
	w.gone = false;
}

/* An id with a route. */
static inline struct cma_id *routed(uint32_t host, enum rdma_ucm_port_space ps, const char *text,
				    uint16_t port, void *who)
{
	struct cma_id *id = id_of(host, ps, who);

	assert_int_equal(try_resolve(id, text, port), 0);
	turn();
	heard(who, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	assert_int_equal(CALL(cma_resolve_route(id, 2000)), 0);
	turn();
	heard(who, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	return id;
}

static int world_of(uint32_t link)
{
	const struct fab_options plain = {.hosts = HOSTS,
					  .link = link,
					  .if_mtu = 4200,
					  .hcas = HCAS,
					  .ports = 1,
					  .model = HW_CX6,
					  .caps.link_speed = 64,
					  .caps.link_width = 2,
					  .caps.max_mtu = IBV_MTU_4096};
	char name[] = "h1";

	memset(&w, 0, sizeof(w));
	w.now = NSEC_PER_SEC;
	assert_int_equal(seg_create(&w.s, "test"), 0);
	assert_int_equal(fab_create(&w.s, &plain), 0);
	for (uint32_t i = 0; i < HOSTS; i++) {
		name[1] = (char)('1' + i);
		w.host[i] = fab_host_by_name(&w.s, name);
	}
	w.c = cma_new(&w.s, &world_ops, NULL);
	assert_non_null(w.c);
	return 0;
}

static inline int world_make(void **state)
{
	return world_of(HW_LINK_IB);
}

static inline int world_eth(void **state)
{
	return world_of(HW_LINK_ETH);
}

static int world_drop(void **state)
{
	cma_free(w.c);
	seg_unmap(&w.s);
	return 0;
}

#define WORLD(f) cmocka_unit_test_setup_teardown(f, world_make, world_drop)
#define ETHERNET(f) cmocka_unit_test_setup_teardown(f, world_eth, world_drop)

#endif
