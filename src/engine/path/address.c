/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends a message as packets over the subnet: finds their path, decides whether they arrive, and
 * counts them at the ports that they pass. Called by the transports (rc.c, ud.c, dc.c).
 */
#include "engine/path/link.h"
#include "engine/path/path.h"
#include "wire/ib/gid.h"
#include "engine/base/transport.h"
#include "fabric/count.h"
#include "fabric/fabric.h"
#include "fabric/notice.h"
#include "fabric/roce.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "hw/qp_state.h"
#include "wire/ib/pkey.h"
#include "wire/mad/mad.h"
#include "wire/prm/qp.h"
#include "wire/wqe/tm.h"

/*
 * The path that a QP uses for this message: r->qp's from the beginning of the WQE, or the peer's
 * from the moment when it accepted the request.
 */
static const struct hw_qp_path *way_path(const struct eng_run *r, const struct hw_qp *qp)
{
	return qp == r->qp ? r->own : r->theirs;
}

static uint16_t way_pkey(const struct eng_run *r, const struct hw_qp_path *w)
{
	const struct hw_port *p = w == r->own ? r->port : hw_port(r->s, w->port);

	return p && w->pkey_index < HW_PKEYS ? p->pkey[w->pkey_index] : 0;
}

/* A packet with a wrong key reached a QP: count it and send a notice to the subnet manager. */
static void bad_key(struct eng_run *r, uint32_t port, uint32_t trap, uint32_t key)
{
	const struct fab_bad_key k = {
		.lid1 = way_slid(r, 0),
		.lid2 = r->path.dlid & 0xffff,
		.key = key,
		.sl = r->own->sl & 0xf,
		.qp1 = r->qpn,
		.qp2 = r->dest & 0xffffff,
	};

	fab_count(r->s, port, trap == TRAP_BAD_PKEY ? HW_CTR_PKEY_VIOL : HW_CTR_QKEY_VIOL, 1);
	fab_notice_key(r->s, port, trap, &k);
}

bool way_pkey_match(struct eng_run *r, const struct hw_qp_path *w)
{
	uint16_t ka = way_pkey(r, r->own);

	if (ib_pkey_match(ka, way_pkey(r, w)))
		return true;
	bad_key(r, w->port, TRAP_BAD_PKEY, ka);
	return false;
}

bool way_qkey_match(struct eng_run *r, const struct hw_qp *peer, uint32_t qkey)
{
	if (peer->qkey == qkey)
		return true;
	bad_key(r, hw_qp_path(peer)->port, TRAP_BAD_QKEY, qkey);
	return false;
}

uint32_t way_slid(const struct eng_run *r, uint32_t path_bits)
{
	const struct hw_port *p = r->port;

	return p ? (atomic_load_explicit(&p->lid, memory_order_relaxed) |
		    (path_bits & ((1u << p->lmc) - 1))) &
			       0xffff
		 : 0;
}

uint32_t way_path_bits(const struct hw_qp *qp, const struct hw_qp_path *w)
{
	return LAYOUT_GET32(ads, way_ads(qp, w), mlid);
}

static enum pkt_net way_net(const struct eng_run *r, const struct hw_qp_path *w)
{
	if (!w->grh)
		return PKT_NET_NONE;
	return r->link->net(w == r->own ? r->port : hw_port(r->s, w->port), w->sgid_index);
}

static uint32_t way_vlan(const struct eng_run *r, const struct hw_qp_path *w)
{
	const struct hw_port *own = w == r->own ? r->port : hw_port(r->s, w->port);

	return own && w->grh ? fab_roce_vlan(own, w->sgid_index) : 0;
}

struct way_to way_of(const struct eng_run *r, const struct hw_qp *qp)
{
	const struct hw_qp_path *w = way_path(r, qp);

	return (struct way_to){w->dlid, w->grh ? w->dgid : NULL, way_net(r, w), way_vlan(r, w),
			       w->sgid_index};
}

bool way_needs_router(const struct seg *s, const struct fab_path *path, const struct way_to *to)
{
	return __builtin_expect(hw_port(s, path->to)->routed, 0) && path->from != path->to &&
	       (to->net == PKT_NET_GRH || ib_gid_is_linklocal(to->dgid));
}

bool way_find(const struct eng_run *r, const struct hw_qp *qp, const struct way_to *to,
	      struct fab_path *path)
{
	uint32_t from = way_path(r, qp)->port, dlid = to->dlid;

	/* Without a LID nothing leaves the port: the destination can only be the port itself. */
	if (!dlid && to->dgid) {
		const struct hw_port *own = hw_port(r->s, from);

		if (own && fab_port_has_gid(own, to->dgid))
			dlid = atomic_load_explicit(&own->lid, memory_order_relaxed);
	}
	fab_path(r->s, from, dlid, path);
	return path->to != SEG_NONE &&
	       (!to->dgid || (r->link->accepts(hw_port(r->s, path->to), to) &&
			      !way_needs_router(r->s, path, to)));
}

static uint32_t way_headers(const struct eng_run *r, uint32_t vlan)
{
	return r->link->headers + (vlan ? PKT_VLAN : 0);
}

static bool way_answered(const struct eng_op *op)
{
	return op->kind == ENG_K_READ || op->kind == ENG_K_ATOMIC;
}

void way_request(struct eng_run *r, const struct eng_op *op, struct fab_pkts *k)
{
	const struct eng_transport *t = r->transport;
	uint64_t len = way_answered(op) ? 0 : r->local.len;
	uint32_t n = t->one_packet ? 1 : eng_npkts(len, r->qp->mtu);
	uint32_t each = way_headers(r, r->vlan) + pkt_net_octets[r->net] + t->headers;
	uint32_t once = op->imm ? HDR_IMM : 0;

	if (op->kind == ENG_K_READ || op->kind == ENG_K_WRITE)
		once += HDR_RETH;
	if (op->kind == ENG_K_ATOMIC)
		once += HDR_ATOMICETH;
	k->n = n;
	k->words = ((uint64_t)n * each + once + len + 3) / 4;
	k->payload = n > 1 ? r->qp->mtu : (uint32_t)len;
	k->pkey = way_pkey(r, r->own);
	k->multicast = false;
}

/* Octets of headers in a packet that the peer sends on its path. */
static uint32_t way_peer_headers(const struct eng_run *r, const struct hw_qp_path *w)
{
	return way_headers(r, way_vlan(r, w)) + pkt_net_octets[way_net(r, w)] + HDR_BASE;
}

void way_count_answer(struct eng_run *r, const struct eng_op *op, const struct hw_qp *peer)
{
	uint64_t len = op->kind == ENG_K_READ ? r->local.len : HDR_ATOMICACKETH;
	const struct hw_qp_path *w = way_path(r, peer);
	struct fab_pkts k = {.n = 1};
	uint32_t aeths = 1, each;

	if (!way_answered(op))
		return;
	k.pkey = way_pkey(r, w);
	each = way_peer_headers(r, w);
	if (op->kind == ENG_K_READ)
		k.n = eng_npkts(len, r->qp->mtu);
	if (k.n > 1)
		aeths = 2; /* AETHs of the first and the last packet of the answer */
	k.words = ((uint64_t)k.n * each + aeths * HDR_AETH + len + 3) / 4;
	fab_path_count(r->s, &r->back, &k);
}

static void way_count_from_peer(struct eng_run *r, const struct hw_qp *peer, uint32_t octets)
{
	const struct hw_qp_path *w = way_path(r, peer);
	struct fab_pkts k = {.n = 1, .pkey = way_pkey(r, w)};

	k.words = (way_peer_headers(r, w) + octets + 3) / 4;
	fab_path_count(r->s, &r->back, &k);
}

void way_count_fetch(struct eng_run *r, const struct hw_qp *peer, uint32_t len)
{
	uint32_t n = eng_npkts(len, r->qp->mtu), aeths = n > 1 ? 2 : 1;
	struct fab_pkts k = {.n = n, .pkey = way_pkey(r, r->own)};
	uint32_t each = way_headers(r, r->vlan) + pkt_net_octets[r->net] + HDR_BASE;

	way_count_from_peer(r, peer, HDR_RETH);
	k.words = ((uint64_t)n * each + aeths * HDR_AETH + len + 3) / 4;
	fab_path_count(r->s, &r->path, &k);
}

void way_count_fin(struct eng_run *r, const struct hw_qp *peer)
{
	way_count_from_peer(r, peer, LAYOUT_SZ(tmh));
}
