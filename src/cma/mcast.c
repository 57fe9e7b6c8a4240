// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Owns the ports' memberships in multicast groups: joins of all ids to one group become one
 * membership, and one request is under way at a time (multicast.c of the kernel). id.h has the
 * calls; sa.c carries the requests.
 */
#include "cma/priv.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>
#include "util/bits.h"

/* IB_SA_MCMEMBER_REC_*: numbers of components */
enum {
	MC_MGID,
	MC_PORT_GID,
	MC_QKEY,
	MC_MLID,
	MC_MTU_SEL,
	MC_MTU,
	MC_TCLASS,
	MC_PKEY,
	MC_RATE_SEL,
	MC_RATE,
	MC_SL = 12,
	MC_FLOW,
	MC_HOP,
	MC_JOIN = 16,
};
#define BIT(n) (UINT64_C(1) << (n))
#define TIMEOUT_MS 3000
#define JOIN_STATES 4
#define LEAVE_RETRIES 3
/* MTU (2048) and rate (10 Gb/s) of OpenSM's IPoIB groups by default. */
enum { IPOIB_MTU = IBV_MTU_2048, IPOIB_RATE = 3 };

enum group_state { GROUP_IDLE, GROUP_BUSY, GROUP_ERROR, GROUP_PKEY };

struct cma_group { /* struct mcast_group */
	TAILQ_ENTRY(cma_group) at;
	struct cma *c;
	uint32_t port, chain;
	enum group_state state;
	struct cma_work work;
	struct cma_query *query;
	struct cma_members pending, joined;
	struct cma_member *asking;   /* the member whose join is under way; NULL: it has left */
	uint32_t users;              /* number of cma_member.group pointers to this group */
	uint32_t count[JOIN_STATES]; /* members of each kind */
	uint8_t join_state, leaving; /* at the SA */
	uint32_t leave_retries;
	int pkey_index; /* -ENOENT: not known */
	uint8_t rec[LAYOUT_SZ(mc_member_record)];
};

#define REC(r, f) LAYOUT_GET(mc_member_record, (r), f)
#define MGID(r) LAYOUT_IN(mc_member_record, mgid, (r))

static void work(struct cma_group *g);

/* ---- finding groups */

static uint32_t chain_of(uint32_t port, const uint8_t *mgid)
{
	return (port * 31 ^ be32_load(mgid + 12)) % CMA_GROUPS;
}

static void insert(struct cma_group *g)
{
	g->chain = chain_of(g->port, MGID(g->rec));
	TAILQ_INSERT_TAIL(&g->c->group[g->chain], g, at);
}

static bool is_zero(const uint8_t *mgid)
{
	static const uint8_t none[16];

	return !memcmp(mgid, none, 16);
}

static void on_work(struct cma *c, struct cma_work *w)
{
	work((struct cma_group *)((char *)w - offsetof(struct cma_group, work)));
}

/* acquire_group(): MGID 0 asks for a new group each time; the SA chooses its MGID. */
static struct cma_group *group_get(struct cma *c, uint32_t port, const uint8_t *mgid)
{
	struct cma_group *g;

	if (!is_zero(mgid))
		TAILQ_FOREACH(g, &c->group[chain_of(port, mgid)], at)
	if (g->port == port && !memcmp(MGID(g->rec), mgid, 16))
		return g;
	g = cma_news_want(c, port) ? NULL : calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	g->c = c;
	g->port = port;
	g->work.fn = on_work;
	g->leave_retries = LEAVE_RETRIES;
	g->pkey_index = -ENOENT;
	memcpy(MGID(g->rec), mgid, 16);
	TAILQ_INIT(&g->pending);
	TAILQ_INIT(&g->joined);
	insert(g);
	return g;
}

static void group_free(struct cma_group *g)
{
	cma_work_drop(g->c, &g->work);
	cma_sa_cancel(g->c, g->query);
	TAILQ_REMOVE(&g->c->group[g->chain], g, at);
	free(g);
}

static void wake(struct cma_group *g)
{
	if (g->state != GROUP_IDLE)
		return;
	g->state = GROUP_BUSY;
	cma_work_put(g->c, &g->work);
}

/* ---- members */

static void count(struct cma_group *g, uint8_t join_state, int by)
{
	for (uint32_t i = 0; i < JOIN_STATES; i++)
		if (join_state >> i & 1)
			g->count[i] += (uint32_t)by;
}

static void unlist(struct cma_member *m)
{
	struct cma_group *g = m->group;

	if (m->state == CMA_JOINING)
		TAILQ_REMOVE(&g->pending, m, of_group);
	else if (m->state == CMA_MEMBER)
		TAILQ_REMOVE(&g->joined, m, of_group);
	if (m->state == CMA_MEMBER)
		count(g, m->join_state, -1);
	if (g->asking == m)
		g->asking = NULL;
	m->state = CMA_NO_MEMBER;
}

/* cma_make_mc_event() */
static void make_event(const struct cma_member *m, int status, struct cma_event *e)
{
	const struct cma_id *id = m->id;
	const struct hw_port *p = hw_port(id->c->s, m->group->port);
	const uint8_t *r = m->rec, *gid = LAYOUT_IN(mc_member_record, port_gid, r);

	*e = (struct cma_event){.event = RDMA_CM_EVENT_MULTICAST_ERROR, .status = status};
	e->ud.context = m->context;
	if (status || !p || !fab_port_has_gid(p, gid))
		return;
	e->event = RDMA_CM_EVENT_MULTICAST_JOIN;
	e->ud.path = (struct cm_path){
		.slid = (uint16_t)p->lid,
		.dlid = (uint16_t)REC(r, mlid),
		.pkey = (uint16_t)REC(r, pkey),
		.sl = (uint8_t)REC(r, sl),
		.mtu = (uint8_t)REC(r, mtu),
		.rate = (uint8_t)REC(r, rate),
		.packet_life_time = (uint8_t)REC(r, packet_life_time),
		.hop_limit = (uint8_t)REC(r, hop_limit),
		.traffic_class = (uint8_t)REC(r, tclass),
		.flow_label = (uint32_t)REC(r, flow_label),
	};
	memcpy(e->ud.path.dgid, MGID(r), 16);
	memcpy(e->ud.path.sgid, gid, 16);
	e->ud.dlid = e->ud.path.dlid;
	e->ud.port_num = (uint8_t)p->num;
	e->ud.grh = true;
	e->ud.qpn = 0xffffff;
	e->ud.qkey = id->qkey;
}

/* cma_ib_mc_handler() ignores the handler's result. */
static void tell(struct cma_member *m, int status)
{
	struct cma_id *id = m->id;
	struct cma_event e;

	if (id->state == CMA_DEVICE_REMOVAL || cma_set_qkey(id, (uint32_t)REC(m->rec, qkey)))
		return;
	make_event(m, status, &e);
	id->handler(id, &e);
}

static void fail(struct cma_member *m, int status)
{
	unlist(m);
	tell(m, status);
}

/* join_group() */
static void joined(struct cma_member *m)
{
	struct cma_group *g = m->group;

	TAILQ_REMOVE(&g->pending, m, of_group);
	TAILQ_INSERT_TAIL(&g->joined, m, of_group);
	m->state = CMA_MEMBER;
	count(g, m->join_state, 1);
	g->join_state |= m->join_state;
	memcpy(m->rec, g->rec, sizeof(m->rec));
	LAYOUT_SET(mc_member_record, m->rec, join_state, m->join_state);
}

/* check_selector() */
static bool selected(const struct cma_member *m, int sel_bit, int bit, uint64_t sel, uint64_t have,
		     uint64_t want)
{
	if (!(m->mask & BIT(sel_bit)) || !(m->mask & BIT(bit)))
		return true;
	switch (sel) {
	case SA_SEL_GREATER:
		return have > want;
	case SA_SEL_LESS:
		return have < want;
	case SA_SEL_EXACTLY:
		return have == want;
	default:
		return true;
	}
}

/* cmp_rec(): do the parameters of the group that the port has joined satisfy this member? */
static bool fits(const struct cma_group *g, const struct cma_member *m)
{
	const uint8_t *a = g->rec, *b = m->rec;

#define SAME(bit, f) (!(m->mask & BIT(bit)) || REC(a, f) == REC(b, f))
	return SAME(MC_QKEY, qkey) && SAME(MC_TCLASS, tclass) && SAME(MC_PKEY, pkey) &&
	       SAME(MC_SL, sl) && SAME(MC_FLOW, flow_label) && SAME(MC_HOP, hop_limit) &&
	       !memcmp(LAYOUT_IN(mc_member_record, port_gid, a),
		       LAYOUT_IN(mc_member_record, port_gid, b), 16) &&
	       selected(m, MC_MTU_SEL, MC_MTU, REC(b, mtu_selector), REC(a, mtu), REC(b, mtu)) &&
	       selected(m, MC_RATE_SEL, MC_RATE, REC(b, rate_selector), REC(a, rate), REC(b, rate));
#undef SAME
}

/* ---- requests */

/* process_join_error(), join_handler() */
static void join_done(void *arg, int status, const uint8_t *record)
{
	struct cma_group *g = arg;

	g->query = NULL;
	if (status) {
		if (g->asking)
			fail(g->asking, status);
	} else {
		if (g->state == GROUP_BUSY && g->pkey_index < 0)
			g->pkey_index =
				cma_pkey_index(g->c->s, g->port, (uint16_t)REC(record, pkey));
		TAILQ_REMOVE(&g->c->group[g->chain], g, at);
		memcpy(g->rec, record, sizeof(g->rec));
		g->join_state = (uint8_t)REC(record, join_state);
		insert(g);
	}
	g->asking = NULL;
	work(g);
}

static int send_join(struct cma_group *g, struct cma_member *m)
{
	const struct cma_sa_request q = {
		.port = g->port,
		.method = MAD_METHOD_SET,
		.attr = SA_ATTR_MC_MEMBER_RECORD,
		.mask = m->mask,
		.record = m->rec,
		.len = sizeof(m->rec),
		.timeout_ms = TIMEOUT_MS,
		.done = join_done,
		.arg = g,
	};

	g->asking = m;
	return cma_sa_ask(g->c, &q, &g->query);
}

static int send_leave(struct cma_group *g, uint8_t join_state);

/* leave_handler() */
static void leave_done(void *arg, int status, const uint8_t *record)
{
	struct cma_group *g = arg;

	g->query = NULL;
	if (status && g->leave_retries && !send_leave(g, g->leaving))
		g->leave_retries--;
	else
		work(g);
}

static int send_leave(struct cma_group *g, uint8_t join_state)
{
	uint8_t rec[sizeof(g->rec)];
	const struct cma_sa_request q = {
		.port = g->port,
		.method = MAD_METHOD_DELETE,
		.attr = SA_ATTR_MC_MEMBER_RECORD,
		.mask = BIT(MC_MGID) | BIT(MC_PORT_GID) | BIT(MC_JOIN),
		.record = rec,
		.len = sizeof(rec),
		.timeout_ms = TIMEOUT_MS,
		.done = leave_done,
		.arg = g,
	};

	memcpy(rec, g->rec, sizeof(rec));
	LAYOUT_SET(mc_member_record, rec, join_state, join_state);
	g->leaving = join_state;
	return cma_sa_ask(g->c, &q, &g->query);
}

/* process_group_error(): the SA has forgotten the memberships. */
static void lose_members(struct cma_group *g)
{
	struct cma_member *m;
	bool same = g->state == GROUP_PKEY && g->pkey_index >= 0 &&
		    g->pkey_index == cma_pkey_index(g->c->s, g->port, (uint16_t)REC(g->rec, pkey));

	g->state = GROUP_BUSY;
	if (same)
		return;
	g->join_state = 0;
	while ((m = TAILQ_FIRST(&g->joined)))
		fail(m, -ENETRESET);
}

/* Handles one pending join. False: it has sent a request and waits for the SA's answer. */
static bool next_join(struct cma_group *g, struct cma_member *m)
{
	int r;

	if (m->join_state == (g->join_state & m->join_state)) {
		if (fits(g, m)) {
			joined(m);
			tell(m, 0);
		} else {
			fail(m, -EINVAL);
		}
		return true;
	}
	r = send_join(g, m);
	if (!r)
		return false;
	fail(m, r);
	return true;
}

/* get_leave_state() */
static uint8_t unused(const struct cma_group *g)
{
	uint8_t state = 0;

	for (uint32_t i = 0; i < JOIN_STATES; i++)
		if (!g->count[i])
			state |= (uint8_t)(1 << i);
	return state & g->join_state;
}

/* mcast_work_handler() */
static void work(struct cma_group *g)
{
	struct cma_member *m;
	uint8_t state;

	do {
		while ((m = TAILQ_FIRST(&g->pending)) || g->state != GROUP_BUSY) {
			if (g->state != GROUP_BUSY)
				lose_members(g);
			else if (!next_join(g, m))
				return;
		}
		state = unused(g);
		g->join_state &= (uint8_t)~state;
		if (state && !send_leave(g, state))
			return;
	} while (state);
	g->state = GROUP_IDLE;
	if (!g->users)
		group_free(g);
}

/* ib_sa_free_multicast() */
static void leave(struct cma_member *m)
{
	struct cma_group *g = m->group;

	TAILQ_REMOVE(&m->id->mc, m, of_id);
	if (g) {
		unlist(m);
		g->users--;
		wake(g);
	} else {
		cma_work_drop(m->id->c, &m->work);
	}
	free(m);
}

/* ---- id.h */

/* cma_set_mgid() */
static void set_mgid(const struct cma_id *id, const union cma_addr *a, uint8_t *mgid)
{
	const uint8_t *ip6 = a->in6.sin6_addr.s6_addr;

	if (cma_addr_any(a)) {
		memset(mgid, 0, 16);
	} else if (a->sa.sa_family == AF_INET6 && (be32_load(ip6) & 0xfff0ffff) == 0xff10a01b) {
		memcpy(mgid, ip6, 16);
	} else if (a->sa.sa_family == AF_IB) {
		memcpy(mgid, cma_ib_const(a)->sib_addr.sib_raw, 16);
	} else {
		cma_mgid(id->c->s, id->port, a, mgid);
		if (id->ps == RDMA_PS_UDP)
			mgid[3] = 0x01; /* signature of the RDMA CM */
	}
}

/* Fills the MCMemberRecord that the id's join asks for. */
static void describe(struct cma_id *id, struct cma_member *m)
{
	uint8_t *r = m->rec;

	if (!id->qkey)
		cma_set_default_qkey(id);
	set_mgid(id, &m->addr, MGID(r));
	memcpy(LAYOUT_IN(mc_member_record, port_gid, r), id->sgid, 16);
	LAYOUT_SET(mc_member_record, r, qkey, id->qkey);
	LAYOUT_SET(mc_member_record, r, pkey, id->pkey);
	LAYOUT_SET(mc_member_record, r, join_state, m->join_state);
	m->mask = BIT(MC_MGID) | BIT(MC_PORT_GID) | BIT(MC_PKEY) | BIT(MC_JOIN) | BIT(MC_QKEY) |
		  BIT(MC_SL) | BIT(MC_FLOW) | BIT(MC_TCLASS);
	if (id->ps != RDMA_PS_IPOIB)
		return;
	LAYOUT_SET(mc_member_record, r, rate_selector, SA_SEL_EXACTLY);
	LAYOUT_SET(mc_member_record, r, rate, IPOIB_RATE);
	LAYOUT_SET(mc_member_record, r, mtu_selector, SA_SEL_EXACTLY);
	LAYOUT_SET(mc_member_record, r, mtu, IPOIB_MTU);
	m->mask |= BIT(MC_RATE) | BIT(MC_RATE_SEL) | BIT(MC_MTU) | BIT(MC_MTU_SEL) | BIT(MC_HOP);
}

/* cma_join_ib_multicast() */
static int join_group(struct cma_id *id, struct cma_member *m)
{
	/*
	 * The kernel copies the broadcast group's record of the interface; these ids have no
	 * interface.
	 */
	if (id->src.sa.sa_family == AF_IB || cma_addr_loopback(&id->src))
		return -EADDRNOTAVAIL;
	describe(id, m);
	m->group = group_get(id->c, id->port, MGID(m->rec));
	if (!m->group)
		return -ENOMEM;
	m->group->users++;
	TAILQ_INSERT_TAIL(&m->group->pending, m, of_group);
	wake(m->group);
	return 0;
}

int cma_join(struct cma_id *id, const union cma_addr *a, uint8_t join_state, void *context)
{
	struct cma_member *m;
	int r;

	if (id->hca == SEG_NONE || (id->state != CMA_ADDR_BOUND && id->state != CMA_ADDR_RESOLVED))
		return -EINVAL;
	if (id->qp_type != IBV_QPT_UD)
		return -EINVAL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	memcpy(&m->addr, a, cma_addr_size(a));
	m->id = id;
	m->context = context;
	m->join_state = join_state & 0xf;
	r = cma_is_roce(id) ? cma_roce_join(id, m) : join_group(id, m);
	if (r)
		free(m);
	else
		TAILQ_INSERT_HEAD(&id->mc, m, of_id);
	return r;
}

void cma_leave(struct cma_id *id, const union cma_addr *a)
{
	struct cma_member *m;

	TAILQ_FOREACH(m, &id->mc, of_id)
	if (!memcmp(&m->addr, a, cma_addr_size(a))) {
		leave(m);
		return;
	}
}

void cma_leave_all(struct cma_id *id)
{
	while (!TAILQ_EMPTY(&id->mc))
		leave(TAILQ_FIRST(&id->mc));
}

/* mcast_groups_event() */
static void disturb(struct cma_group *g, enum group_state state)
{
	enum group_state was = g->state;

	if (was != GROUP_ERROR)
		g->state = state;
	if (was == GROUP_IDLE)
		cma_work_put(g->c, &g->work);
}

/* mcast_event_handler() */
void cma_groups_changed(struct cma *c, uint32_t port, bool reset)
{
	struct cma_group *g;

	for (uint32_t i = 0; i < CMA_GROUPS; i++)
		TAILQ_FOREACH(g, &c->group[i], at)
	if (g->port == port)
		disturb(g, reset ? GROUP_ERROR : GROUP_PKEY);
}

void cma_groups_free(struct cma *c)
{
	for (uint32_t i = 0; i < CMA_GROUPS; i++)
		while (!TAILQ_EMPTY(&c->group[i]))
			group_free(TAILQ_FIRST(&c->group[i]));
}

uint32_t cma_groups_count(const struct cma *c)
{
	const struct cma_group *g;
	uint32_t n = 0;

	for (uint32_t i = 0; i < CMA_GROUPS; i++)
		TAILQ_FOREACH(g, &c->group[i], at)
	n++;
	return n;
}
