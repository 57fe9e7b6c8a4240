/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the path of data packets through the subnet, and this process's cache of paths. Calls the
 * segment only; the engine calls it, also in a trap, and so does fab_route().
 *
 * A cached path is valid for one value of fab_subnet.epoch, which is incremented after every change
 * of the data used here. Once it is incremented, no packet takes the old path any more.
 */
#include "fabric/path.h"
#include "fabric/count.h"
#include "fabric/eth.h"
#include "fabric/fabric.h"

#include <string.h>
#include "hw/hca.h"
#include "hw/port.h"
#include "util/bits.h"
#include "wire/ib/pkey.h"

/* More switches than any correct route has: tables may contain loops. */
#define MAX_CABLES 64

/* PortInfo:PartitionEnforcement bits of a switch's port. */
enum { ENFORCE_IN = 1, ENFORCE_OUT = 2 };

static uint32_t path_state_of(const struct hw_port *p)
{
	return atomic_load_explicit(&p->state, memory_order_relaxed);
}

static uint32_t mtu_of(const struct hw_port *p)
{
	return 128u << (p->active_mtu & 7);
}

/* ---- finding */

struct walk {
	struct seg *s;
	uint32_t dlid;
	enum fab_lost lost;
	uint32_t to;
	struct fab_cable c;
	const struct hw_port *in; /* the port where the packet arrived over cable c */
};

static bool ends(struct walk *w, enum fab_lost lost, uint32_t to)
{
	w->lost = lost;
	w->to = to;
	return false;
}

/* The packet's position after cable c: true and the next port out, or the walk ends. */
static bool next_out(struct walk *w, uint32_t *out)
{
	const struct fab_node *n = fab_node(w->s, w->in->node);
	uint32_t num;

	if (n->type != FAB_SWITCH) {
		bool here = fab_port_has_lid(w->in, w->dlid);

		return ends(w, here ? FAB_ARRIVES : FAB_LOST_AWAY, here ? w->c.in : SEG_NONE);
	}
	num = w->dlid < FAB_LIDS ? fab_lft_get(w->s, n->sw, w->dlid) : FAB_LFT_NONE;
	if (w->dlid > fab_switch(w->s, n->sw)->linear_top || num > n->nports)
		return ends(w, FAB_LOST_RELAY, SEG_NONE);
	if (num == w->in->num)
		return ends(w, FAB_LOST_LOOPING, SEG_NONE);
	*out = n->port0 + num;
	if (num)
		return true;
	if (fab_port_has_lid(hw_port(w->s, *out), w->dlid))
		return ends(w, FAB_ARRIVES, *out);
	return ends(w, FAB_LOST_AWAY, SEG_NONE);
}

/* Follows the cable at `out`. */
static bool path_cross(struct walk *w, uint32_t out)
{
	const struct hw_port *p = hw_port(w->s, out);
	uint32_t peer;

	w->c = (struct fab_cable){out, SEG_NONE};
	if (path_state_of(p) != IB_PORT_ACTIVE)
		return ends(w, FAB_LOST_INACTIVE, SEG_NONE);
	peer = fab_peer(w->s, out);
	w->in = peer == SEG_NONE ? NULL : hw_port(w->s, peer);
	if (!w->in || path_state_of(w->in) < IB_PORT_ARMED)
		return ends(w, FAB_LOST_INACTIVE, SEG_NONE);
	w->c.in = peer;
	return true;
}

/* Calls `visit` for each cable on the path; the walk ends when it returns false. */
typedef bool visit_fn(const struct walk *w, void *arg);

static void path_walk(struct walk *w, uint32_t from, visit_fn *visit, void *arg)
{
	const struct hw_port *p = hw_port(w->s, from);
	uint32_t out = from;

	if (!p || path_state_of(p) != IB_PORT_ACTIVE || !w->dlid) {
		ends(w, FAB_LOST_UNSENT, SEG_NONE);
		return;
	}
	if (fab_port_has_lid(p, w->dlid)) {
		ends(w, FAB_ARRIVES, from);
		return;
	}
	if (fab_node(w->s, p->node)->type == FAB_SWITCH) {
		/* Port 0 sends packets that its switch then relays. */
		w->in = p;
		w->c.in = from;
		if (!next_out(w, &out))
			return;
	}
	for (uint32_t i = 0; i < MAX_CABLES; i++) {
		bool on = path_cross(w, out);

		if (on)
			on = next_out(w, &out);
		if (!visit(w, arg) || !on)
			return;
	}
	ends(w, FAB_LOST_RELAY, SEG_NONE);
}

static bool path_note(const struct walk *w, void *arg)
{
	const struct hw_port *out = hw_port(w->s, w->c.out), *in = hw_port(w->s, w->c.in);
	struct fab_path *p = arg;

	if (p->n < FAB_PATH_CABLES)
		p->cable[p->n++] = w->c;
	else
		p->more = 1;
	if (mtu_of(out) < p->mtu)
		p->mtu = (uint16_t)mtu_of(out);
	if (in && mtu_of(in) < p->mtu)
		p->mtu = (uint16_t)mtu_of(in);
	if ((out->enforce & ENFORCE_OUT) || (in && (in->enforce & ENFORCE_IN)))
		p->enforce = 1;
	return true;
}

/*
 * An Ethernet segment reaches every port that has a link. Switches in it are not modelled: the path
 * is one cable from port to port.
 */
static void path_find_eth(struct seg *s, uint32_t from, uint32_t addr, struct fab_path *p)
{
	const struct hw_port *own = hw_port(s, from), *to;
	uint32_t port = fab_eth_port(addr);

	to = port == SEG_NONE ? NULL : hw_port(s, port);
	p->to = SEG_NONE;
	if (path_state_of(own) != IB_PORT_ACTIVE || !fab_is_eth_addr(addr)) {
		p->lost = FAB_LOST_UNSENT;
		return;
	}
	if (!to || !hw_port_is_eth(to) || path_state_of(to) != IB_PORT_ACTIVE) {
		p->lost = FAB_LOST_ON_WIRE;
		return;
	}
	p->lost = FAB_ARRIVES;
	p->to = port;
	if (mtu_of(to) < p->mtu)
		p->mtu = (uint16_t)mtu_of(to);
	if (port != from)
		p->cable[p->n++] = (struct fab_cable){from, port};
}

static void path_find(struct seg *s, uint32_t from, uint32_t dlid, struct fab_path *p)
{
	struct walk w = {.s = s, .dlid = dlid};
	const struct hw_port *port = hw_port(s, from);

	p->from = from;
	p->dlid = dlid;
	p->n = p->more = p->enforce = 0;
	p->mtu = port ? (uint16_t)mtu_of(port) : 0;
	if (port && hw_port_is_eth(port)) {
		path_find_eth(s, from, dlid, p);
		return;
	}
	path_walk(&w, from, path_note, p);
	p->to = w.to;
	p->lost = (uint8_t)w.lost;
}

/* ---- remembering */

/* A cache entry: the key, then epoch and destination, then the rest and the cables. */
enum { W_KEY, W_TO, W_REST, W_CABLE };
_Static_assert(W_CABLE + FAB_PATH_CABLES == SEG_PATH_WORDS, "a path fits its entry");

static struct seg_path *entry_of(struct seg *s, uint64_t key)
{
	/* Fibonacci hashing. */
	return &s->path[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (SEG_PATHS - 1)];
}

static uint64_t path_word(const struct seg_path *e, uint32_t i)
{
	return atomic_load_explicit(&e->word[i], memory_order_relaxed);
}

static bool recall(const struct seg_path *e, uint64_t key, uint32_t epoch, struct fab_path *p)
{
	uint32_t seq = atomic_load_explicit(&e->seq, memory_order_acquire);
	uint64_t rest;

	if (seq & 1 || path_word(e, W_KEY) != key || path_word(e, W_TO) >> 32 != epoch)
		return false;
	p->from = (uint32_t)(key >> 32);
	p->dlid = (uint32_t)key;
	p->to = (uint32_t)path_word(e, W_TO);
	rest = path_word(e, W_REST);
	p->mtu = (uint16_t)rest;
	p->lost = (uint8_t)(rest >> 16);
	p->n = (uint8_t)(rest >> 24);
	p->enforce = (uint8_t)(rest >> 32);
	p->more = 0;
	if (p->n > FAB_PATH_CABLES)
		return false; /* torn: another thread is writing it */
	for (uint32_t i = 0; i < p->n; i++) {
		uint64_t c = path_word(e, W_CABLE + i);

		p->cable[i] = (struct fab_cable){(uint32_t)(c >> 32), (uint32_t)c};
	}
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&e->seq, memory_order_relaxed) == seq;
}

static void put_word(struct seg_path *e, uint32_t i, uint64_t v)
{
	atomic_store_explicit(&e->word[i], v, memory_order_relaxed);
}

/* One thread writes at a time; another that comes then does not cache its path. */
static void path_remember(struct seg_path *e, uint64_t key, uint32_t epoch,
			  const struct fab_path *p)
{
	uint32_t seq = atomic_load_explicit(&e->seq, memory_order_relaxed);

	if (p->more || seq & 1 || !atomic_compare_exchange_strong(&e->seq, &seq, seq + 1))
		return;
	atomic_thread_fence(memory_order_release);
	put_word(e, W_KEY, key);
	put_word(e, W_TO, (uint64_t)epoch << 32 | p->to);
	put_word(e, W_REST,
		 (uint64_t)p->enforce << 32 | (uint64_t)p->n << 24 | (uint64_t)p->lost << 16 |
			 p->mtu);
	for (uint32_t i = 0; i < p->n; i++)
		put_word(e, W_CABLE + i, (uint64_t)p->cable[i].out << 32 | p->cable[i].in);
	atomic_store_explicit(&e->seq, seq + 2, memory_order_release);
}

void fab_path(struct seg *s, uint32_t from, uint32_t dlid, struct fab_path *p)
{
	uint64_t key = (uint64_t)from << 32 | dlid;
	struct seg_path *e = entry_of(s, key);
	/* Checked before everything else. */
	uint32_t epoch = atomic_load_explicit(&fab_subnet(s)->epoch, memory_order_acquire);

	if (recall(e, key, epoch, p))
		return;
	path_find(s, from, dlid, p);
	path_remember(e, key, epoch, p);
}

uint32_t fab_route(struct seg *s, uint32_t from, uint32_t dlid)
{
	struct fab_path p;

	fab_path(s, from, dlid, &p);
	return p.to;
}

/* ---- checks that stop packets on an open path */

/*
 * Does a switch's port let the packet out, to a port that has the same table? As that port itself
 * would (IBA 10.9.3): one of both is a full member.
 */
static bool pkey_goes_out(const struct hw_port *p, uint16_t pkey)
{
	for (uint32_t i = 0; i < HW_PKEYS; i++)
		if (ib_pkey_match(pkey, p->pkey[i]))
			return true;
	return false;
}

struct passing {
	const struct fab_pkts *k;
	bool count, stopped;
	uint32_t at; /* the port that has stopped them, and how it counts that */
	enum hw_ctr why;
};

static void count_pkts(const struct seg *s, uint32_t port, enum hw_ctr data, enum hw_ctr pkts,
		       enum hw_ctr mcast, const struct fab_pkts *k)
{
	fab_count(s, port, data, k->words);
	fab_count(s, port, pkts, k->n);
	if (__builtin_expect(k->multicast, 0))
		fab_count(s, port, mcast, k->n);
}

static bool stop(const struct seg *s, struct passing *v, uint32_t port, enum hw_ctr why)
{
	if (v->count)
		fab_count(s, port, why, v->k->n);
	v->stopped = true;
	v->at = port;
	v->why = why;
	return false;
}

/* Send the packets over one cable; false: the cable's ports stop them. */
static bool pass(const struct seg *s, struct fab_cable c, struct passing *v)
{
	const struct hw_port *out = hw_port(s, c.out), *in;

	if ((out->enforce & ENFORCE_OUT) && !pkey_goes_out(out, v->k->pkey))
		return stop(s, v, c.out, HW_CTR_XMIT_CONSTRAINT);
	if (c.in == SEG_NONE || v->k->payload > mtu_of(out)) {
		if (v->count)
			fab_count(s, c.out,
				  c.in == SEG_NONE ? HW_CTR_XMIT_INACTIVE : HW_CTR_XMIT_MTU,
				  v->k->n);
		return stop(s, v, c.out, HW_CTR_XMIT_DISCARDS);
	}
	if (v->count) {
		count_pkts(s, c.out, HW_CTR_XMIT_DATA, HW_CTR_XMIT_PKTS, HW_CTR_XMIT_MCAST, v->k);
		count_pkts(s, c.in, HW_CTR_RCV_DATA, HW_CTR_RCV_PKTS, HW_CTR_RCV_MCAST, v->k);
	}
	in = hw_port(s, c.in);
	/*
	 * Inwards, the table is the sender's (pkey_mgr_update_peer_port() of OpenSM's
	 * osm_pkey_mgr.c), so a limited member's own P_Key is in it. That the partition alone
	 * counts is inferred: otherwise no limited member could send.
	 */
	if ((in->enforce & ENFORCE_IN) && !hw_port_has_pkey(in, v->k->pkey))
		return stop(s, v, c.in, HW_CTR_RCV_CONSTRAINT);
	if (v->k->payload > mtu_of(in))
		return stop(s, v, c.in, HW_CTR_RCV_ERRORS);
	return true;
}

uint32_t fab_cable(struct seg *s, uint32_t out, const struct fab_pkts *k, bool count)
{
	struct passing v = {.k = k, .count = count};
	struct walk w = {.s = s};

	path_cross(&w, out);
	return pass(s, w.c, &v) ? w.c.in : SEG_NONE;
}

static bool pass_visit(const struct walk *w, void *arg)
{
	return pass(w->s, w->c, arg);
}

static void pass_all(const struct seg *s, const struct fab_path *p, struct passing *v)
{
	if (p->more) {
		struct walk w = {.s = (struct seg *)s, .dlid = p->dlid};

		path_walk(&w, p->from, pass_visit, v);
		return;
	}
	for (uint32_t i = 0; i < p->n; i++)
		if (!pass(s, p->cable[i], v))
			return;
}

bool fab_path_passes(const struct seg *s, const struct fab_path *p, const struct fab_pkts *k)
{
	struct passing v = {.k = k};

	if (p->lost != FAB_ARRIVES || k->payload > p->mtu)
		return false;
	if (__builtin_expect(!p->enforce, 1))
		return true;
	pass_all(s, p, &v);
	return !v.stopped;
}

uint32_t fab_path_stops(const struct seg *s, const struct fab_path *p, const struct fab_pkts *k,
			uint32_t *why)
{
	struct passing v = {.k = k, .at = SEG_NONE};

	if (p->lost == FAB_ARRIVES)
		pass_all(s, p, &v);
	*why = v.why;
	return v.at;
}

void fab_count_received(const struct seg *s, uint32_t port, const struct fab_pkts *k)
{
	count_pkts(s, port, HW_CTR_RCV_DATA, HW_CTR_RCV_PKTS, HW_CTR_RCV_MCAST, k);
}

void fab_path_count(struct seg *s, const struct fab_path *p, const struct fab_pkts *k)
{
	struct passing v = {.k = k, .count = true};

	if (p->lost == FAB_LOST_UNSENT)
		return;
	if (p->lost == FAB_LOST_ON_WIRE) {
		count_pkts(s, p->from, HW_CTR_XMIT_DATA, HW_CTR_XMIT_PKTS, HW_CTR_XMIT_MCAST, k);
		return;
	}
	if (p->to == p->from) { /* inside the adapter: only its port counts, no cable */
		count_pkts(s, p->from, HW_CTR_XMIT_DATA, HW_CTR_XMIT_PKTS, HW_CTR_XMIT_MCAST, k);
		count_pkts(s, p->from, HW_CTR_RCV_DATA, HW_CTR_RCV_PKTS, HW_CTR_RCV_MCAST, k);
		return;
	}
	pass_all(s, p, &v);
	if (v.stopped || !p->n || (p->lost != FAB_LOST_RELAY && p->lost != FAB_LOST_LOOPING))
		return;
	if (p->lost == FAB_LOST_LOOPING)
		fab_count(s, p->cable[p->n - 1].in, HW_CTR_RCV_LOOPING, k->n);
	fab_count(s, p->cable[p->n - 1].in, HW_CTR_RCV_RELAY, k->n);
}

void fab_count_mad(struct seg *s, uint32_t out, uint32_t in, void *arg)
{
	(void)arg;
	(void)in;
	atomic_fetch_add_explicit(&fab_ctr(s, out)->smps, 1, memory_order_relaxed);
}

static uint64_t smps_sent(const struct seg *s, uint32_t port)
{
	return atomic_load_explicit(&fab_ctr(s, port)->smps, memory_order_relaxed);
}

static uint64_t smps_received(const struct seg *s, uint32_t port)
{
	const struct hw_port *p = hw_port(s, port);
	uint32_t peer = p ? atomic_load(&p->peer) : SEG_NONE;

	return atomic_load(&fab_ctr(s, port)->smps_before) +
	       (peer == SEG_NONE ? 0 : smps_sent(s, peer));
}

uint64_t fab_counted(const struct seg *s, uint32_t port, enum hw_ctr what)
{
	const struct fab_ctr *c = fab_ctr(s, port);
	uint64_t n = c ? atomic_load_explicit(&c->n[what], memory_order_relaxed) : 0;

	if (!c)
		return 0;
	switch (what) {
	case HW_CTR_XMIT_PKTS:
		return n + smps_sent(s, port);
	case HW_CTR_XMIT_DATA:
		return n + FAB_MAD_WORDS * smps_sent(s, port);
	case HW_CTR_RCV_PKTS:
		return n + smps_received(s, port);
	case HW_CTR_RCV_DATA:
		return n + FAB_MAD_WORDS * smps_received(s, port);
	default:
		return n;
	}
}

void fab_count_plug(const struct seg *s, uint32_t a, uint32_t b)
{
	atomic_fetch_sub(&fab_ctr(s, a)->smps_before, smps_sent(s, b));
	atomic_fetch_sub(&fab_ctr(s, b)->smps_before, smps_sent(s, a));
}

void fab_count_unplug(const struct seg *s, uint32_t a, uint32_t b)
{
	atomic_fetch_add(&fab_ctr(s, a)->smps_before, smps_sent(s, b));
	atomic_fetch_add(&fab_ctr(s, b)->smps_before, smps_sent(s, a));
}
