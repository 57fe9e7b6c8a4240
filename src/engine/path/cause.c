/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the words for what has failed on the data path: looks once more at what the failed attempt
 * has looked at, and says which condition did not hold, with its values. Called by sq.c, rc.c, ud.c
 * and resp.c after a failure, on the engine's stack. It takes no lock and changes no counter of
 * ports: what it reads of a peer may have changed since.
 */
#include "engine/path/cause.h"
#include "fault/fault.h"
#include "check/check.h"
#include "engine/path/link.h"
#include "engine/base/transport.h"
#include "fabric/fabric.h"
#include "fabric/path.h"
#include "fabric/roce.h"
#include "hw/cq.h"
#include "hw/mkey.h"
#include "hw/port.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "hw/service.h"
#include "hw/srq.h"
#include "util/rec.h"
#include "wire/ib/pkey.h"
#include "wire/prm/dct.h"
#include "wire/prm/prm.h"

#define PSN_MASK 0xffffffu
#define PSN_BEHIND 0x800000u

/* What a cause's template may name. */
struct cause {
	enum eng_cause_id id;
	uint32_t own, peer; /* %o %q: QPNs */
	uint64_t a, b;      /* %a %b in hexadecimal, %A %B in decimal */
	uint32_t i, j;      /* %i %j: indexes */
	uint32_t at, end;   /* %p %e: ports */
	const char *s, *t;  /* %s %t */
	const uint8_t *gid; /* %g */
};

#define CAUSE_ROW(id, name, says, next) [ENG_CAUSE_##id] = {name, says, next},
static const struct eng_cause causes[ENG_CAUSE_COUNT] = {ENG_CAUSES(CAUSE_ROW)};

const struct eng_cause *eng_cause_at(unsigned int n)
{
	return n < ENG_CAUSE_COUNT ? &causes[n] : NULL;
}

static void put_cause(struct cause_text *t, const struct seg *s, const struct cause *c)
{
	for (const char *p = causes[c->id].says; *p; p++) {
		if (*p != '%') {
			cause_put(t, "%c", *p);
			continue;
		}
		switch (*++p) {
		case 'o':
			cause_put(t, "0x%x", c->own);
			break;
		case 'q':
			cause_put(t, "0x%x", c->peer);
			break;
		case 'a':
		case 'b':
			cause_put(t, "0x%llx", (unsigned long long)(*p == 'a' ? c->a : c->b));
			break;
		case 'A':
		case 'B':
			cause_put(t, "%llu", (unsigned long long)(*p == 'A' ? c->a : c->b));
			break;
		case 'i':
		case 'j':
			cause_put(t, "%u", *p == 'i' ? c->i : c->j);
			break;
		case 'p':
		case 'e':
			cause_put_port(t, s, *p == 'p' ? c->at : c->end);
			break;
		case 'g':
			cause_put_gid(t, c->gid);
			break;
		default:
			cause_put(t, "%s", *p == 's' ? c->s : c->t);
		}
	}
}

static const char *port_state(const struct hw_port *p)
{
	static const char *const names[] = {"gone", "DOWN", "INIT", "ARMED", "ACTIVE"};
	uint32_t state = p ? atomic_load(&p->state) : 0;

	return names[state < sizeof(names) / sizeof(names[0]) ? state : 0];
}

static const char *net_name(enum pkt_net net)
{
	static const char *const names[PKT_NETS] = {
		[PKT_NET_NONE] = "no network header",
		[PKT_NET_GRH] = "RoCE v1",
		[PKT_NET_IP6] = "RoCE v2 over IPv6",
		[PKT_NET_IP4] = "RoCE v2 over IPv4",
	};

	return names[net < PKT_NETS ? net : PKT_NET_NONE];
}

/* ---- the way of a packet */

static bool is(struct cause *c, enum eng_cause_id id)
{
	c->id = id;
	return true;
}

/* A path that ends before its destination. */
static bool path_lost(const struct eng_run *r, const struct fab_path *path, struct cause *c)
{
	const struct hw_port *from = hw_port(r->s, path->from);

	c->at = path->n ? path->cable[path->n - 1].in : path->from;
	c->a = path->dlid;
	switch (path->lost) {
	case FAB_LOST_UNSENT:
		c->at = path->from;
		c->s = port_state(from);
		return is(c, from && atomic_load(&from->state) == IB_PORT_ACTIVE
				     ? ENG_CAUSE_NO_LID
				     : ENG_CAUSE_OWN_PORT);
	case FAB_LOST_INACTIVE:
		c->at = path->n ? path->cable[path->n - 1].out : path->from;
		c->s = port_state(hw_port(r->s, c->at));
		return is(c, ENG_CAUSE_LINK);
	case FAB_LOST_AWAY:
		return is(c, ENG_CAUSE_WRONG_LID);
	case FAB_LOST_RELAY:
		return is(c, ENG_CAUSE_NO_ROUTE);
	case FAB_LOST_LOOPING:
		return is(c, ENG_CAUSE_ROUTE_BACK);
	default:
		return is(c, ENG_CAUSE_NO_MAC);
	}
}

/* It leads to a port, which does not accept the address. */
static bool port_refuses(const struct eng_run *r, const struct way_to *to, uint32_t port,
			 struct cause *c)
{
	const struct hw_port *at = hw_port(r->s, port);

	c->at = port;
	c->a = at ? atomic_load(&at->lid) : 0;
	c->i = to->index;
	c->gid = to->dgid;
	for (uint32_t i = 0; at && hw_port_is_eth(at) && i < hw_port_gids(at); i++) {
		enum pkt_net net = fab_roce_net(at, i);

		if (memcmp(hw_gid(at, i), to->dgid, 16) || net == PKT_NET_NONE)
			continue;
		c->s = net_name(net);
		c->t = net_name(to->net);
		c->a = fab_roce_vlan(at, i);
		c->b = to->vlan;
		if (net == to->net)
			return is(c, ENG_CAUSE_VLAN);
		c->id = ENG_CAUSE_ROCE_VERSION;
	}
	return is(c, c->id == ENG_CAUSE_ROCE_VERSION ? c->id
		     : at && hw_port_is_eth(at)      ? ENG_CAUSE_NO_GID_ETH
						     : ENG_CAUSE_NO_GID);
}

/* A port on an open path stops the packets. */
static bool path_stops(const struct eng_run *r, const struct fab_path *path,
		       const struct fab_pkts *k, struct cause *c)
{
	uint32_t why;

	c->at = fab_path_stops(r->s, path, k, &why);
	if (c->at == SEG_NONE)
		return false;
	c->a = fab_stops_pkey(why) ? k->pkey : k->payload;
	c->i = r->own->pkey_index;
	c->s = fab_stops_side(why);
	return is(c, fab_stops_pkey(why) ? ENG_CAUSE_SWITCH_PKEY : ENG_CAUSE_PATH_MTU);
}

static bool on_the_way(struct eng_run *r, const struct way_to *to, const struct fab_path *path,
		       struct cause *c)
{
	const struct eng_op *op = eng_op(r->opcode);
	struct fab_pkts k;

	if (path->to == SEG_NONE)
		return path_lost(r, path, c);
	if (to->dgid && !r->link->accepts(hw_port(r->s, path->to), to))
		return port_refuses(r, to, path->to, c);
	if (to->dgid && way_needs_router(r->s, path, to)) {
		c->i = to->index;
		c->at = path->to;
		c->s = to->net == PKT_NET_GRH ? "RoCE v1" : "link-local";
		return is(c, ENG_CAUSE_ROUTER);
	}
	way_request(r, op, &k);
	return !fab_path_passes(r->s, path, &k) && path_stops(r, path, &k, c);
}

/* ---- its receiver */

static uint16_t pkey_of(const struct seg *s, const struct hw_qp_path *w)
{
	const struct hw_port *p = hw_port(s, w->port);

	return p && w->pkey_index < HW_PKEYS ? p->pkey[w->pkey_index] : 0;
}

/* Is there such a QP, here, of this service, that receives? */
static bool no_receiver(struct eng_run *r, const struct hw_qp *peer, struct cause *c)
{
	const struct hw_qp_path *w;

	if (!peer || seg_owner(r->s, SEG_T_QP, r->dest) == SEG_OWNER_FREE)
		return is(c, ENG_CAUSE_NO_QP);
	w = hw_qp_path(peer);
	if (peer->st != r->transport->responder) {
		c->s = hw_service(peer->st)->name;
		c->t = hw_service(r->qp->st)->name;
		return is(c, ENG_CAUSE_SERVICE);
	}
	if (!qp_receives(peer)) {
		c->s = cause_state_name(atomic_load(&peer->state));
		return is(c, ENG_CAUSE_STATE);
	}
	if (w->port != r->path.to) {
		c->at = w->port;
		c->end = r->path.to;
		return is(c, ENG_CAUSE_ELSEWHERE);
	}
	if (who_gone(r->s, who_slot(peer->mem.slot, peer->mem.gen)))
		return is(c, ENG_CAUSE_ENDED);
	return false;
}

static bool other_pkey(const struct eng_run *r, const struct hw_qp *peer, struct cause *c)
{
	const struct hw_qp_path *there = hw_qp_path(peer);

	c->a = pkey_of(r->s, r->own);
	c->b = pkey_of(r->s, there);
	c->i = r->own->pkey_index;
	c->j = there->pkey_index;
	c->s = ib_pkey_same((uint32_t)c->a, (uint32_t)c->b) ? ": both are limited members" : "";
	return !ib_pkey_match((uint16_t)c->a, (uint16_t)c->b) && is(c, ENG_CAUSE_PKEY);
}

/* RoCE: a connected QP takes only packets with the addresses of its path. */
static bool other_address(struct eng_run *r, const struct hw_qp *peer, struct cause *c)
{
	const struct hw_qp_path *w = hw_qp_path(peer);
	const struct hw_port *at = hw_port(r->s, w->port);
	enum pkt_net net;

	r->theirs = w;
	if (!w->grh || !at || r->link->expects(r, peer))
		return false;
	net = fab_roce_net(at, w->sgid_index);
	c->s = net_name(net);
	c->t = net_name(r->net);
	c->a = fab_roce_vlan(at, w->sgid_index);
	c->b = r->vlan;
	c->i = r->own->sgid_index;
	c->j = w->sgid_index;
	if (net != r->net)
		return is(c, ENG_CAUSE_QP_ROCE_VERSION);
	if (c->a != c->b)
		return is(c, ENG_CAUSE_VLAN);
	c->gid = w->dgid;
	return is(c, memcmp(hw_gid(r->port, r->own->sgid_index), w->dgid, 16) ? ENG_CAUSE_SOURCE_GID
									      : ENG_CAUSE_DEST_GID);
}

static bool not_connected(struct eng_run *r, const struct hw_qp *peer, struct cause *c)
{
	if (r->transport->responder == HW_ST_DCT) {
		c->a = be64_load(r->wqe + WQE_SEG);
		return LAYOUT_GET(dctc, peer->qpc, dc_access_key) != c->a &&
		       is(c, ENG_CAUSE_ACCESS_KEY);
	}
	c->a = peer->dest_qpn;
	return peer->dest_qpn != r->qpn ? is(c, ENG_CAUSE_CONNECTED) : other_address(r, peer, c);
}

/* Its answers do not come back. */
static bool no_way_back(struct eng_run *r, const struct hw_qp *peer, struct cause *c)
{
	struct way_to to;
	bool there;

	if (!eng_acks(r->transport) || r->transport->responder == HW_ST_DCT)
		return false;
	r->theirs = hw_qp_path(peer);
	to = way_of(r, peer);
	there = way_find(r, peer, &to, &r->back);
	c->a = r->back.dlid;
	c->at = r->back.to;
	c->end = r->own->port;
	if (!there && r->back.to == SEG_NONE) {
		c->at = r->back.from;
		return is(c, ENG_CAUSE_BACK_LOST);
	}
	return (!there || r->back.to != r->own->port) && is(c, ENG_CAUSE_BACK);
}

static bool other_psn(const struct eng_run *r, const struct hw_qp *peer, struct cause *c)
{
	uint32_t ahead = (r->qp->next_send_psn - peer->next_rcv_psn) & PSN_MASK;

	c->a = r->qp->next_send_psn;
	c->b = peer->next_rcv_psn;
	return r->transport->psn && ahead &&
	       is(c, ahead < PSN_BEHIND ? ENG_CAUSE_PSN : ENG_CAUSE_DUPLICATE);
}

static struct cause cause_of(const struct eng_run *r, enum eng_cause_id id)
{
	return (struct cause){.id = id,
			      .own = r->qpn,
			      .peer = r->dest,
			      .at = SEG_NONE,
			      .end = SEG_NONE,
			      .s = "?",
			      .t = "?"};
}

/* Why a request of a connected or DC queue has no answer. */
static struct cause no_answer(struct eng_run *r)
{
	struct cause c = cause_of(r, ENG_CAUSE_SILENCE);
	uint32_t kind = eng_op(r->opcode)->kind;
	const struct hw_qp *peer;
	struct way_to to = {0};

	if (r->injected)
		c.id = ENG_CAUSE_INJECTED;
	if (r->injected || kind < ENG_K_SEND ||
	    kind > ENG_K_ATOMIC) /* no request: there is no path */
		return c;
	peer = hw_qp(r->s, r->dest);
	if (r->transport->av)
		r->link->av(r, r->wqe + WQE_SEG, &to);
	else
		to = way_of(r, r->qp);
	if (on_the_way(r, &to, &r->path, &c) || no_receiver(r, peer, &c) ||
	    not_connected(r, peer, &c) || other_pkey(r, peer, &c) || no_way_back(r, peer, &c) ||
	    other_psn(r, peer, &c))
		return c;
	if (who_stopped(r->s, who_now(r->s, peer->mem.slot)))
		c.id = ENG_CAUSE_STOPPED;
	return c;
}

void cause_put_silence(struct cause_text *t, struct eng_run *r)
{
	struct cause c = no_answer(r);

	put_cause(t, r->s, &c);
}

static struct cause not_taken(struct eng_run *r, const struct cause_to *d, enum eng_out out)
{
	struct cause c = cause_of(r, ENG_CAUSE_SILENCE);
	const struct hw_qp *peer = hw_qp(r->s, r->dest);
	struct way_to own = {0};

	if (r->lost || r->land) {
		c.id = ENG_CAUSE_INJECTED;
		return c;
	}
	if (!d->to)
		own = way_of(r, r->qp);
	if (d->is_member)
		r->path.to = peer ? hw_qp_path(peer)->port : SEG_NONE;
	else if (on_the_way(r, d->to ? d->to : &own, &r->path, &c))
		return c;
	if (no_receiver(r, peer, &c))
		return c;
	if (d->has_qkey && peer->qkey != d->qkey) {
		c.a = d->qkey;
		c.b = peer->qkey;
		c.id = ENG_CAUSE_QKEY;
		return c;
	}
	if ((!d->to && not_connected(r, peer, &c)) || other_pkey(r, peer, &c))
		return c;
	if (out == ENG_RNR) {
		c.id = ENG_CAUSE_NO_RECEIVE;
	} else if (cause_note.need) {
		c.id = ENG_CAUSE_SHORT;
		c.s = d->has_qkey ? " (40 of them are the GRH)" : "";
		c.a = cause_note.need;
		c.b = cause_note.room;
	} else if (who_stopped(r->s, who_now(r->s, peer->mem.slot))) {
		c.id = ENG_CAUSE_STOPPED;
	}
	return c;
}

/* ---- keys */

static void put_access(struct cause_text *t, uint32_t access)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} names[] = {
		{HW_ACC_LOCAL_WRITE, "LOCAL_WRITE"},
		{HW_ACC_REMOTE_READ, "REMOTE_READ"},
		{HW_ACC_REMOTE_WRITE, "REMOTE_WRITE"},
		{HW_ACC_ATOMIC, "REMOTE_ATOMIC"},
	};
	bool any = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!(access & names[i].bit))
			continue;
		cause_put(t, "%s%s", any ? " | " : "", names[i].name);
		any = true;
	}
	if (!any)
		cause_put(t, access & HW_ACC_LOCAL_READ ? "LOCAL_READ" : "none");
}

/* A program may have sent a key or an address in the byte order of its host. */
static void put_swapped(struct cause_text *t, const struct seg *s, uint32_t key, uint64_t addr)
{
	uint32_t other = __builtin_bswap32(key);
	const struct hw_mkey *mk = hw_mkey(s, other);
	uint64_t at = __builtin_bswap64(addr);

	if (other != key && mk && atomic_load(&mk->valid) && mk->key == other)
		cause_put(t, " (but 0x%x: its bytes are swapped)", other);
	mk = hw_mkey(s, key);
	if (at != addr && mk && atomic_load(&mk->valid) && mk->key == key && at >= mk->start &&
	    at - mk->start < mk->len)
		cause_put(t, " (0x%llx is in it: its bytes are swapped)", (unsigned long long)at);
}

static void put_key(struct cause_text *t, const struct seg *s, bool is_remote)
{
	const struct cause_note *n = &cause_note;
	const struct hw_mkey *mk = hw_mkey(s, n->key);

	if (!n->len)
		return;
	cause_put(t, ": %s 0x%x, %llu bytes at 0x%llx: ", is_remote ? "rkey" : "lkey", n->key,
		  (unsigned long long)n->len, (unsigned long long)n->addr);
	if (n->key == HW_KEY_NULL || n->key == HW_KEY_DUMP_FILL)
		cause_put(t, "a reserved key");
	else if (!mk || !atomic_load(&mk->valid))
		cause_put(t, "there is no such key");
	else if (mk->key != n->key)
		cause_put(t,
			  "there is no such key (key 0x%x has this index, but another last byte)",
			  mk->key);
	else if (mk->pdn != n->pdn)
		cause_put(t, "the key is of PD 0x%x, the QP of PD 0x%x", mk->pdn, n->pdn);
	else if (mk->qpn != 0xffffff && mk->qpn != n->qpn)
		cause_put(t, "the key is of QP 0x%x alone", mk->qpn);
	else if ((mk->access & n->access) != n->access) {
		cause_put(t, "the key allows ");
		put_access(t, mk->access);
		cause_put(t, ", this needs ");
		put_access(t, n->access);
	} else {
		cause_put(t, "the key's region is 0x%llx to 0x%llx, %llu bytes",
			  (unsigned long long)mk->start,
			  (unsigned long long)(mk->start + mk->len - !!mk->len),
			  (unsigned long long)mk->len);
	}
	put_swapped(t, s, n->key, n->addr);
}

/* ---- work requests that fail */

/* The operation that the QP's own access flags lack. */
static const char *lacks(const struct eng_run *r)
{
	switch (eng_op(r->opcode)->kind) {
	case ENG_K_WRITE:
		return "REMOTE_WRITE";
	case ENG_K_READ:
		return "REMOTE_READ";
	default:
		return "REMOTE_ATOMIC";
	}
}

static void put_length(struct cause_text *t)
{
	if (cause_note.need)
		cause_put(t, ": a message of %llu bytes, the receive has room for %llu",
			  (unsigned long long)cause_note.need, (unsigned long long)cause_note.room);
}

/* Memory that a request names, which was found wrong only when it was copied. */
static void put_remote(struct cause_text *t, const struct eng_run *r)
{
	const uint8_t *ra = r->wqe + r->hdr;
	uint32_t kind = eng_op(r->opcode)->kind;

	if (kind == ENG_K_WRITE || kind == ENG_K_READ || kind == ENG_K_ATOMIC)
		cause_put(t, ": rkey 0x%x, %llu bytes at 0x%llx", LAYOUT_GET32(wqe_raddr, ra, rkey),
			  (unsigned long long)r->local.len,
			  (unsigned long long)LAYOUT_GET(wqe_raddr, ra, va));
}

/* The first data segment; there may be more. */
static void put_local(struct cause_text *t, const struct eng_run *r)
{
	uint32_t kind = eng_op(r->opcode)->kind;
	uint32_t off = kind == ENG_K_SEND                          ? r->hdr
		       : kind == ENG_K_WRITE || kind == ENG_K_READ ? r->hdr + WQE_SEG
								   : 0;
	const uint8_t *seg = r->wqe + off;

	if (!off || off + WQE_SEG > r->bytes || LAYOUT_GET(wqe_data, seg, inline_seg))
		return;
	cause_put(t, ": lkey 0x%x, %llu bytes at 0x%llx%s", LAYOUT_GET32(wqe_data, seg, lkey),
		  (unsigned long long)wqe_data_len(seg),
		  (unsigned long long)LAYOUT_GET(wqe_data, seg, addr),
		  off + 2 * WQE_SEG <= r->bytes ? " and further segments" : "");
}

static void put_values(struct cause_text *t, struct eng_run *r, enum eng_why why)
{
	const struct hw_qp *peer;

	switch (why) {
	case ENG_W_LKEY:
	case ENG_W_LKEY_ACCESS:
	case ENG_W_LKEY_RANGE:
	case ENG_W_SCATTER_KEY:
	case ENG_W_SCATTER_ACCESS:
	case ENG_W_SCATTER_RANGE:
		put_key(t, r->s, false);
		break;
	case ENG_W_RKEY:
	case ENG_W_RKEY_RANGE:
	case ENG_W_RKEY_ACCESS:
	case ENG_W_RECV_ACCESS:
		put_key(t, r->s, true);
		break;
	case ENG_W_QP_ACCESS:
		cause_put(t, ": qp_access_flags of QP 0x%x lack %s", r->dest, lacks(r));
		break;
	case ENG_W_RECV_LENGTH:
	case ENG_W_REMOTE_INVALID:
		put_length(t);
		break;
	case ENG_W_REMOTE_OP:
		if (!cause_note.theirs)
			break;
		cause_put(t, ": QP 0x%x: %s", r->dest, eng_failures[cause_note.theirs].text);
		put_values(t, r, cause_note.theirs);
		break;
	case ENG_W_RNR:
		cause_put_no_receive(t, r->s, r->qp, r->dest);
		break;
	case ENG_W_RETRY:
		cause_put(t, ": ");
		cause_put_silence(t, r);
		cause_put(t, "; retry_cnt %u, timeout %u", r->qp->retry_count,
			  hw_qp_path(r->qp)->ack_timeout);
		break;
	case ENG_W_REMOTE_MTU:
		peer = hw_qp(r->s, r->dest);
		cause_put(t, ": path_mtu is %u here, %u at QP 0x%x", r->qp->mtu,
			  peer ? peer->mtu : 0, r->dest);
		break;
	case ENG_W_REMOTE_FAULT:
		put_remote(t, r);
		break;
	case ENG_W_LOCAL_FAULT:
		if (cause_last.qpn == r->qpn)
			put_local(t, r);
		break;
	case ENG_W_REMOTE_ALIGN:
		cause_put(t, ": address 0x%llx",
			  (unsigned long long)LAYOUT_GET(wqe_raddr, r->wqe + r->hdr, va));
		break;
	case ENG_W_LENGTH:
		cause_put(t, ": %llu bytes", (unsigned long long)r->local.len);
		if (cause_note.room)
			cause_put(t, ", allowed: at most %llu%s",
				  (unsigned long long)cause_note.room,
				  r->qp->st == PRM_ST_UD ? ", active_mtu of the port" : "");
		break;
	case ENG_W_XRC_SRQ:
		cause_put(t, ": SRQ 0x%x", atomic_load(&r->qp->xrc_srqn));
		break;
	default:
		break;
	}
}

static void keep(struct eng_run *r, uint32_t qpn, enum eng_why why)
{
	struct cause_text t = {cause_last.text, sizeof(cause_last.text), 0};

	cause_last.qpn = qpn;
	cause_last.why = why;
	cause_put(&t, "%s", eng_failures[why].text);
	put_values(&t, r, why);
	if (r->injected && why != ENG_W_RETRY)
		cause_put(&t, " (on purpose: a rule of --inject)");
}

static void tell_kept(const struct eng_run *r, const struct hw_qp *qp, uint32_t qpn,
		      const char *what)
{
	char line[CAUSE_TEXT];
	struct cause_text all = {line, sizeof(line), 0};

	cause_put_qp(&all, r->s, qp, qpn);
	cause_put(&all, "%s: %s: %s", what,
		  cqe_syndrome_name(eng_failures[cause_last.why].syndrome), cause_last.text);
	cause_tell(r->s, qp, HW_TOLD_FAILED, &all);
}

/* ---- what of it the program has done wrong (softhca check) */

/* 1 + the rule that a failure of a work request, or a receive, breaks; 0: none for sure. */
static const uint8_t why_rules[ENG_W_COUNT] = {
	[ENG_W_WQE_MALFORMED] = 1 + CHECK_R_WQE,
	[ENG_W_OPCODE] = 1 + CHECK_R_WQE,
	[ENG_W_LENGTH] = 1 + CHECK_R_WQE,
	[ENG_W_ATOMIC_LENGTH] = 1 + CHECK_R_WQE,
	[ENG_W_BIND_KEY] = 1 + CHECK_R_WQE,
	[ENG_W_BIND_STATE] = 1 + CHECK_R_WQE,
	[ENG_W_BIND_LIST] = 1 + CHECK_R_WQE,
	[ENG_W_LKEY] = 1 + CHECK_R_LKEY,
	[ENG_W_LKEY_ACCESS] = 1 + CHECK_R_LKEY,
	[ENG_W_LKEY_RANGE] = 1 + CHECK_R_LKEY,
	[ENG_W_SCATTER_KEY] = 1 + CHECK_R_LKEY,
	[ENG_W_SCATTER_ACCESS] = 1 + CHECK_R_LOCAL_WRITE,
	[ENG_W_SCATTER_RANGE] = 1 + CHECK_R_LKEY,
	[ENG_W_LOCAL_FAULT] = 1 + CHECK_R_UNMAPPED,
	[ENG_W_RKEY] = 1 + CHECK_R_RKEY,
	[ENG_W_RKEY_RANGE] = 1 + CHECK_R_RKEY,
	[ENG_W_RKEY_ACCESS] = 1 + CHECK_R_REMOTE_ACCESS,
	[ENG_W_QP_ACCESS] = 1 + CHECK_R_REMOTE_ACCESS,
	[ENG_W_REMOTE_FAULT] = 1 + CHECK_R_UNMAPPED,
	[ENG_W_REMOTE_ALIGN] = 1 + CHECK_R_ATOMIC_ALIGN,
	[ENG_W_RECV_LENGTH] = 1 + CHECK_R_RECV_SHORT,
	[ENG_W_RECV_INVALIDATE] = 1 + CHECK_R_RKEY,
	[ENG_W_RNR] = 1 + CHECK_R_NO_RECEIVE,
	[ENG_W_XRC_SRQ] = 1 + CHECK_R_UNREACHABLE,
	[ENG_W_REMOTE_MTU] = 1 + CHECK_R_PATH_MTU,
};

/* The same for a message without answer. A peer that ends, stops or fails is nobody's mistake. */
static const uint8_t cause_rules[ENG_CAUSE_COUNT] = {
	[ENG_CAUSE_NO_LID] = 1 + CHECK_R_UNREACHABLE,
	[ENG_CAUSE_WRONG_LID] = 1 + CHECK_R_UNREACHABLE,
	[ENG_CAUSE_NO_ROUTE] = 1 + CHECK_R_UNREACHABLE,
	[ENG_CAUSE_NO_GID] = 1 + CHECK_R_UNREACHABLE,
	[ENG_CAUSE_NO_GID_ETH] = 1 + CHECK_R_UNREACHABLE,
	[ENG_CAUSE_ROCE_VERSION] = 1 + CHECK_R_UNREACHABLE,
	[ENG_CAUSE_ROUTER] = 1 + CHECK_R_UNREACHABLE,
	[ENG_CAUSE_VLAN] = 1 + CHECK_R_UNREACHABLE,
	[ENG_CAUSE_SWITCH_PKEY] = 1 + CHECK_R_UNREACHABLE,
	[ENG_CAUSE_PATH_MTU] = 1 + CHECK_R_PATH_MTU,
	[ENG_CAUSE_SERVICE] = 1 + CHECK_R_UNREACHABLE,
	[ENG_CAUSE_ELSEWHERE] = 1 + CHECK_R_UNREACHABLE,
	[ENG_CAUSE_CONNECTED] = 1 + CHECK_R_UNREACHABLE,
	[ENG_CAUSE_QP_ROCE_VERSION] = 1 + CHECK_R_UNREACHABLE,
	[ENG_CAUSE_SOURCE_GID] = 1 + CHECK_R_UNREACHABLE,
	[ENG_CAUSE_DEST_GID] = 1 + CHECK_R_UNREACHABLE,
	[ENG_CAUSE_ACCESS_KEY] = 1 + CHECK_R_UNREACHABLE,
	[ENG_CAUSE_PKEY] = 1 + CHECK_R_UNREACHABLE,
	[ENG_CAUSE_BACK_LOST] = 1 + CHECK_R_UNREACHABLE,
	[ENG_CAUSE_BACK] = 1 + CHECK_R_UNREACHABLE,
	[ENG_CAUSE_PSN] = 1 + CHECK_R_UNREACHABLE,
	[ENG_CAUSE_DUPLICATE] = 1 + CHECK_R_UNREACHABLE,
	[ENG_CAUSE_AHEAD] = 1 + CHECK_R_UNREACHABLE,
	[ENG_CAUSE_QKEY] = 1 + CHECK_R_DROPPED,
	[ENG_CAUSE_NO_RECEIVE] = 1 + CHECK_R_NO_RECEIVE,
	[ENG_CAUSE_SHORT] = 1 + CHECK_R_RECV_SHORT,
	[ENG_CAUSE_UAR] = 1 + CHECK_R_WRONG_UAR,
	[ENG_CAUSE_NOT_RTS] = 1 + CHECK_R_NOT_READY,
};

static void check_cause(const struct eng_run *r, uint8_t rule, uint64_t key,
			const struct cause_text *t)
{
	const struct check_about a = {.kind = "QP",
				      .number = r->qpn,
				      .key = key,
				      .elsewhere = r->qp->mem.slot != r->s->self};

	/* What a rule does to ports, adapters and objects is no mistake of the program. */
	if (rule && !r->injected && !r->lost && !r->land && !fault_acts(r->s))
		check_say((enum check_rule_id)(rule - 1), &a, "%s", t->buf);
}

/* A datagram that is too long for its receive: would it have fitted without the GRH? */
static uint8_t short_rule(uint64_t need, uint64_t room)
{
	return 1 + (need <= room + ENG_GRH_BYTES ? CHECK_R_UD_GRH : CHECK_R_RECV_SHORT);
}

/* The failure of a work request of that QP, as keep() has kept it. */
static void check_kept(struct eng_run *r, const struct hw_qp *qp, uint32_t qpn, const char *what)
{
	enum eng_why why = cause_last.why;
	uint8_t rule = why_rules[why];
	char line[CAUSE_TEXT];
	struct cause_text t = {line, sizeof(line), 0};

	if (why == ENG_W_RETRY)
		rule = cause_rules[no_answer(r).id];
	if (why == ENG_W_RECV_LENGTH && qp->st == PRM_ST_UD)
		rule = short_rule(cause_note.need, cause_note.room);
	cause_put_qp(&t, r->s, qp, qpn);
	cause_put(&t, "%s: %s", what, cause_last.text);
	if (rule == 1 + CHECK_R_LKEY && qpn == r->qpn && cause_note.was_good) {
		rule = 1 + CHECK_R_DEREG;
		cause_put(&t, "; it was registered when the request was posted");
	}
	check_cause(r, rule, (uint64_t)qpn << 32 | why, &t);
}

void cause_failed(struct eng_run *r, enum eng_why why)
{
	keep(r, r->qpn, why);
	if (CHECK_ON())
		check_kept(r, r->qp, r->qpn, wqe_opcode_name((uint8_t)r->opcode));
	tell_kept(r, r->qp, r->qpn, wqe_opcode_name((uint8_t)r->opcode));
	cause_note = (struct cause_note){0};
}

void cause_note_length(uint64_t len, const struct eng_recv *rv)
{
	cause_note.need = len;
	cause_note.room = 0;
	for (uint32_t i = 0; i < rv->nseg; i++) {
		const uint8_t *seg = rv->seg + (size_t)i * WQE_SEG;

		if (LAYOUT_GET32(wqe_data, seg, lkey) == WQE_INVALID_LKEY &&
		    !LAYOUT_GET(wqe_data, seg, byte_count))
			break;
		cause_note.room += wqe_data_len(seg);
	}
}

void cause_receive(struct eng_run *r, uint32_t qpn, enum eng_why why)
{
	keep(r, qpn, why);
	cause_note.theirs = why;
}

void cause_received(struct eng_run *r, const struct hw_qp *qp, uint32_t qpn)
{
	if (CHECK_ON())
		check_kept(r, qp, qpn, "receive");
	tell_kept(r, qp, qpn, "receive");
}

void cause_refused(struct eng_run *r, enum eng_why why)
{
	char line[CAUSE_TEXT];
	struct cause_text t = {line, sizeof(line), 0};
	struct rec rec;

	if (!TRACE_ON(LOG_CQE))
		return;
	cause_put(&t, "%s", eng_failures[why].text);
	put_values(&t, r, why);
	rec_begin(&rec, LOG_CQE, "refused", 0);
	rec.failed = true;
	rec_group(&rec, "request", "(");
	rec_x(&rec, "qpn", r->dest);
	rec_x(&rec, "from", r->qpn);
	rec_code(&rec, "opcode", r->opcode, wqe_opcode_name((uint8_t)r->opcode));
	rec_group_end(&rec, ")");
	rec_say(&rec, "reason", ": ", line);
	rec_end(&rec);
}

/* ---- messages that nobody hears of */

/* A trace of failures only has the first of equal lines, the second, the fourth... */
static bool is_shown(uint64_t n)
{
	return !(log_options & LOG_FAILED) || !(n & (n - 1));
}

static void rec_lost(struct eng_run *r, const char *what, const char *why, uint64_t n)
{
	struct rec rec;

	if (!TRACE_ON(LOG_CQE) || !is_shown(n))
		return;
	rec_begin(&rec, LOG_CQE, what, 0);
	rec.failed = true;
	rec_group(&rec, "message", "(");
	rec_x(&rec, "qpn", r->qpn);
	rec_x(&rec, "to", r->dest);
	if (n > 1)
		rec_u(&rec, "times", n);
	rec_group_end(&rec, ")");
	rec_say(&rec, "reason", ": ", why);
	rec_end(&rec);
}

/* A key, or the rights of its QP, do not allow an unacknowledged WRITE. */
static void dropped_refused(struct eng_run *r)
{
	char line[CAUSE_TEXT];
	struct cause_text t = {line, sizeof(line), 0};

	cause_put_qp(&t, r->s, r->qp, r->qpn);
	cause_put(&t, "%s", eng_failures[r->why].text);
	put_values(&t, r, r->why);
	if (CHECK_ON())
		check_cause(r, why_rules[r->why], r->why, &t);
	cause_tell(r->s, r->qp, HW_TOLD_DROPPED, &t);
}

static void tell_dropped(struct eng_run *r, const struct cause *c, uint64_t key)
{
	uint64_t n = hw_told(r->s, r->qp->hca, HW_TOLD_DROPPED, key);
	char line[CAUSE_TEXT];
	struct cause_text t = {line, sizeof(line), 0};
	size_t at;

	if (n && !TRACE_ON(LOG_CQE | LOG_CHECK))
		return;
	cause_put_qp(&t, r->s, r->qp, r->qpn);
	at = t.n;
	put_cause(&t, r->s, c);
	if (CHECK_ON())
		check_cause(r,
			    c->id == ENG_CAUSE_SHORT && r->qp->st == PRM_ST_UD
				    ? short_rule(c->a, c->b)
				    : cause_rules[c->id],
			    key, &t);
	if (!n)
		hw_tell(r->s, r->qp->hca, HW_TOLD_DROPPED, key, line);
	rec_lost(r, "dropped", line + at, n ? n : 1);
}

void cause_dropped(struct eng_run *r, const struct cause_to *to, enum eng_out out)
{
	struct cause c = not_taken(r, to, out);
	const uint64_t v[] = {c.id, c.own, c.peer,         c.a,           c.b,
			      c.at, c.end, (uintptr_t)c.s, (uintptr_t)c.t};
	uint64_t key = hw_told_key(v, sizeof(v) / sizeof(v[0]));

	if (out == ENG_FAILED) { /* cause_refused() has traced it */
		dropped_refused(r);
		cause_note = (struct cause_note){0};
		return;
	}
	tell_dropped(r, &c, key);
	cause_note = (struct cause_note){0};
}

void cause_ahead(struct eng_run *r, const struct hw_qp *peer)
{
	struct cause c = cause_of(r, ENG_CAUSE_AHEAD);
	const uint64_t v[] = {c.id, c.own, c.peer, r->qp->gen, peer->gen};

	c.a = r->qp->next_send_psn;
	c.b = peer->next_rcv_psn;
	tell_dropped(r, &c, hw_told_key(v, sizeof(v) / sizeof(v[0])));
}

void cause_not_ready(struct eng_run *r, uint32_t state)
{
	struct cause c = cause_of(r, ENG_CAUSE_NOT_RTS);
	char line[CAUSE_TEXT];
	struct cause_text t = {line, sizeof(line), 0};
	size_t at;

	c.s = cause_state_name(state);
	cause_put_qp(&t, r->s, r->qp, r->qpn);
	at = t.n;
	put_cause(&t, r->s, &c);
	if (CHECK_ON())
		check_cause(r, cause_rules[c.id], 0, &t);
	cause_tell(r->s, r->qp, HW_TOLD_IGNORED, &t);
	cause_line("ignored", "doorbell", "qpn", r->qpn, line + at);
}

void cause_wrong_uar(struct seg *s, const struct hw_qp *qp, uint32_t qpn, uint32_t uar)
{
	const struct cause c = {.id = ENG_CAUSE_UAR, .a = uar, .b = qp->uar};
	char line[CAUSE_TEXT];
	struct cause_text t = {line, sizeof(line), 0};
	size_t at;

	cause_put_qp(&t, s, qp, qpn);
	at = t.n;
	put_cause(&t, s, &c);
	if (CHECK_ON())
		check_say(CHECK_R_WRONG_UAR, &(struct check_about){.kind = "QP", .number = qpn},
			  "%s", line);
	cause_tell(s, qp, HW_TOLD_IGNORED, &t);
	cause_line("ignored", "doorbell", "qpn", qpn, line + at);
}

void cause_wrong_uar_cq(struct seg *s, const struct hw_cq *cq, uint32_t cqn, uint32_t uar)
{
	const struct cause c = {.id = ENG_CAUSE_UAR, .a = uar, .b = cq->uar};
	char line[CAUSE_TEXT];
	struct cause_text t = {line, sizeof(line), 0};
	size_t at;

	cause_put(&t, "CQ 0x%x: ", cqn);
	at = t.n;
	put_cause(&t, s, &c);
	if (CHECK_ON())
		check_say(CHECK_R_WRONG_UAR, &(struct check_about){.kind = "CQ", .number = cqn},
			  "%s", line);
	hw_tell_words(s, cq->hca, HW_TOLD_IGNORED, line);
	cause_line("ignored", "doorbell", "cqn", cqn, line + at);
}
