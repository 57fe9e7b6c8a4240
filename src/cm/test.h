/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For the tests of the connection manager: three hosts on a network with a clock of its own, which
 * delays, loses, repeats and reorders MADs as told; ends of connections that write down their
 * events.
 */
#ifndef SOFTHCA_CM_TEST_H
#define SOFTHCA_CM_TEST_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <infiniband/verbs.h>

#include "cm/priv.h"
#include "cm/for_tests.h"
#include "util/clock.h"
#include "util/test_cmocka.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define NET_PORTS 4
#define NET_ATTRS 16
#define NET_DELAY (NSEC_PER_MSEC / 4)
#define SERVICE UINT64_C(0x1061234)
#define LIFE_TIME 10 /* the paths' PacketLifeTime; cm_convert_to_ms() rounds it to 4 ms */
#define RESPONSE 13  /* 32 ms */
#define RETRIES 3
#define MSEC(n) ((n)*NSEC_PER_MSEC)

struct net_pkt {
	struct net_pkt *next;
	uint64_t at;
	struct cm_pkt p;
};

struct net {
	struct cm *cm;
	uint64_t now;
	struct net_pkt *queue;
	bool at_once;                 /* a MAD arrives before send() returns */
	bool cut;                     /* everything is lost */
	unsigned int drop[NET_ATTRS]; /* lose the next n MADs of this attribute (CM_ATTR_* & 15) */
	unsigned int twice[NET_ATTRS];
	unsigned int sent[NET_ATTRS];
	unsigned int loss, repeat; /* percent */
	bool reorder;
	unsigned int seed;
	struct cm_pkt last[NET_ATTRS]; /* as it was sent */
	uint64_t sent_at[NET_ATTRS][32];
	unsigned int depth; /* handlers that run */
};

#define AT(attr) (CM_ATTR_##attr & 15)

/* Two ports of host 0 on two adapters, one each of hosts 1 and 2. */
static inline bool net_port(void *ctx, uint32_t port, struct cm_port *out)
{
	static const uint16_t pkeys[] = {0xffff, 0, 0x8001, 0x0002};

	if (port >= NET_PORTS)
		return false;
	*out = (struct cm_port){
		.host = port < 2 ? 0 : port - 1,
		.hca = port,
		.num = 1,
		.ca_guid = 0x1000 + port,
		.lid = (uint16_t)(port + 1),
		.ack_delay = 8,
		.active = true,
		.pkey = pkeys,
		.npkeys = COUNT(pkeys),
	};
	out->gid[0] = 0xfe;
	out->gid[1] = 0x80;
	out->gid[15] = (uint8_t)(port + 1);
	return true;
}

static inline uint32_t net_find_gid(void *ctx, uint32_t host, const uint8_t gid[16])
{
	struct cm_port p;

	for (uint32_t i = 0; net_port(ctx, i, &p); i++)
		if (p.host == host && !memcmp(p.gid, gid, sizeof(p.gid)))
			return i;
	return CM_NO_PORT;
}

static inline uint64_t net_now(void *ctx)
{
	return ((struct net *)ctx)->now;
}

static inline unsigned int net_random(struct net *n)
{
	n->seed = n->seed * 1103515245 + 12345;
	return n->seed >> 16;
}

static inline void net_arrive(struct net *n, const struct cm_pkt *p)
{
	struct cm_pkt got = *p;

	if (!got.slid)
		got.slid = (uint16_t)(p->port + 1);
	got.port = (uint32_t)p->dlid - 1;
	if (got.port < NET_PORTS)
		cm_arrived(n->cm, &got);
}

static inline void net_queue(struct net *n, const struct cm_pkt *p)
{
	struct net_pkt *k = calloc(1, sizeof(*k)), **to = &n->queue;

	assert_non_null(k);
	k->p = *p;
	k->at = n->now + NET_DELAY;
	if (n->reorder)
		k->at += net_random(n) % (8 * NET_DELAY);
	while (*to && (*to)->at <= k->at)
		to = &(*to)->next;
	k->next = *to;
	*to = k;
}

static inline void net_send(void *ctx, const struct cm_pkt *p)
{
	struct net *n = ctx;
	uint32_t a = (uint32_t)LAYOUT_GET(mad_hdr, p->mad, attr_id) & 15;
	unsigned int copies = 1;

	if (n->sent[a] < COUNT(n->sent_at[a]))
		n->sent_at[a][n->sent[a]] = n->now;
	n->sent[a]++;
	n->last[a] = *p;
	if (n->cut || net_random(n) % 100 < n->loss)
		return;
	if (n->drop[a]) {
		n->drop[a]--;
		return;
	}
	if (n->twice[a]) {
		n->twice[a]--;
		copies++;
	}
	if (net_random(n) % 100 < n->repeat)
		copies++;
	while (copies--)
		if (n->at_once)
			net_arrive(n, p);
		else
			net_queue(n, p);
}

static const struct cm_ops net_ops = {
	.send = net_send,
	.port = net_port,
	.find_gid = net_find_gid,
	.now = net_now,
};

static inline struct net *net_new(void)
{
	struct net *n = calloc(1, sizeof(*n));

	assert_non_null(n);
	n->now = NSEC_PER_SEC;
	n->seed = 1;
	n->cm = cm_new(&net_ops, n);
	assert_non_null(n->cm);
	return n;
}

static inline void net_free(struct net *n)
{
	cm_free(n->cm);
	for (struct net_pkt *k = n->queue, *next; k; k = next) {
		next = k->next;
		free(k);
	}
	free(n);
}

/* Lets `ns` pass. */
static inline void net_run(struct net *n, uint64_t ns)
{
	uint64_t end = n->now + ns;

	for (;;) {
		uint64_t due = cm_run_due(n->cm), at = n->queue ? n->queue->at : UINT64_MAX;
		struct net_pkt *k = n->queue;

		if (due > end && at > end)
			break;
		n->now = due < at ? due : at;
		if (at > due)
			continue;
		n->queue = k->next;
		net_arrive(n, &k->p);
		free(k);
	}
	n->now = end;
}

/* ---- an end of a connection */

#define MAX_EVENTS 64
struct end {
	struct net *net;
	struct cm_id *id;
	/* on_req answers a REQ or SIDR_REQ. rtu: answer a REP by an RTU; drep: a DREQ by a DREP. */
	int (*on_req)(struct end *e, const struct cm_event *ev);
	bool rtu, drep;
	enum cm_event_type events[MAX_EVENTS];
	uint64_t at[MAX_EVENTS];
	unsigned int n;
	struct cm_event last; /* data: in `data` */
	uint8_t data[256], ari[CM_REJ_ARI];
	int ret; /* of the handler */
	uint32_t qpn;
};

static inline struct cm_rep end_rep(const struct end *e)
{
	return (struct cm_rep){
		.qpn = e->qpn,
		.starting_psn = 0x200,
		.responder_resources = 3,
		.initiator_depth = 2,
		.rnr_retry_count = 6,
		.data = "accepted",
		.len = 8,
	};
}

static inline int accept_it(struct end *e, const struct cm_event *ev)
{
	struct cm_rep rep = end_rep(e);

	assert_int_equal(cm_send_rep(e->id, &rep), 0);
	return 0;
}

static inline int leave_it(struct end *e, const struct cm_event *ev)
{
	return 0;
}

static inline int end_handler(struct cm_id *id, const struct cm_event *ev)
{
	struct end *e = cm_context(id);
	int ret;

	assert_int_equal(e->net->depth++, 0);
	if (e->n < MAX_EVENTS) {
		e->events[e->n] = ev->type;
		e->at[e->n++] = e->net->now;
	}
	e->last = *ev;
	if (ev->data)
		memcpy(e->data, ev->data, ev->len);
	if (ev->type == CM_REJ_RECEIVED)
		memcpy(e->ari, ev->rej.ari, ev->rej.ari_len);
	ret = e->ret;
	if (ev->type == CM_REQ_RECEIVED || ev->type == CM_SIDR_REQ_RECEIVED) {
		e->id = id;
		if (e->on_req)
			ret = e->on_req(e, ev);
	}
	if (ev->type == CM_REP_RECEIVED && e->rtu)
		assert_int_equal(cm_send_rtu(id, "ready", 5), 0);
	if (ev->type == CM_DREQ_RECEIVED && e->drep)
		assert_int_equal(cm_send_drep(id, "bye", 3), 0);
	if (ret)
		e->id = NULL;
	e->net->depth--;
	return ret;
}

static inline unsigned int end_count(const struct end *e, enum cm_event_type t)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < e->n; i++)
		found += e->events[i] == t;
	return found;
}

static inline void end_saw(const struct end *e, unsigned int n, const enum cm_event_type *want)
{
	for (unsigned int i = 0; i < n && i < e->n; i++)
		assert_int_equal(e->events[i], want[i]);
	assert_int_equal(e->n, n);
}
#define END_SAW(e, ...)                                                \
	end_saw(e, COUNT(((const enum cm_event_type[]){__VA_ARGS__})), \
		(const enum cm_event_type[]){__VA_ARGS__})

static inline struct cm_path net_path(uint32_t from, uint32_t to)
{
	struct cm_path path = {
		.slid = (uint16_t)(from + 1),
		.dlid = (uint16_t)(to + 1),
		.pkey = 0xffff,
		.mtu = 4,
		.rate = 3,
		.packet_life_time = LIFE_TIME,
		.reversible = true,
	};
	struct cm_port p;

	net_port(NULL, from, &p);
	memcpy(path.sgid, p.gid, sizeof(p.gid));
	net_port(NULL, to, &p);
	memcpy(path.dgid, p.gid, sizeof(p.gid));
	return path;
}

static inline struct cm_req net_req(uint32_t from, const struct cm_path *path, uint32_t qpn)
{
	return (struct cm_req){
		.port = from,
		.path = path,
		.service_id = SERVICE,
		.qpn = qpn,
		.starting_psn = 0x100,
		.transport = CM_RC,
		.data = "hello",
		.len = 5,
		.responder_resources = 4,
		.initiator_depth = 5,
		.remote_response_timeout = RESPONSE,
		.local_response_timeout = RESPONSE,
		.retry_count = 7,
		.rnr_retry_count = 5,
		.max_retries = RETRIES,
		.ece = {0x123456, 0x789},
	};
}

/* An active end on port `from` whose REQ is on its way to port `to`. */
static inline void end_connect(struct net *n, struct end *e, uint32_t from, uint32_t to,
			       uint32_t qpn)
{
	struct cm_path path = net_path(from, to);
	struct cm_req req = net_req(from, &path, qpn);

	e->net = n;
	e->qpn = qpn;
	e->id = cm_create(n->cm, from, end_handler, e);
	assert_non_null(e->id);
	assert_int_equal(cm_send_req(e->id, &req), 0);
}

static inline struct cm_id *end_listen(struct net *n, struct end *e, uint32_t port)
{
	struct cm_id *l = cm_create(n->cm, port, end_handler, e);

	e->net = n;
	e->qpn = 0x77;
	assert_non_null(l);
	assert_int_equal(cm_listen(l, SERVICE), 0);
	return l;
}

/* Two connected ends, `a` active on port 0 and `b` passive on port 2; the listener. */
static inline struct cm_id *net_connect(struct net *n, struct end *a, struct end *b)
{
	struct cm_id *l = end_listen(n, b, 2);

	a->rtu = a->drep = b->drep = true;
	b->on_req = accept_it;
	end_connect(n, a, 0, 2, 0x55);
	net_run(n, MSEC(10));
	assert_int_equal(cm_state(a->id), CM_ESTABLISHED);
	assert_int_equal(cm_state(b->id), CM_ESTABLISHED);
	return l;
}

#endif
