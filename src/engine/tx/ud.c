/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unreliable datagrams: the address vector in the WQE is the destination; a datagram that does not
 * fit or match there is dropped silently. Called by sq.c with the sender's sq_lock held; takes the
 * receiver's rq_lock.
 */
#include "engine/path/cause.h"
#include "engine/path/link.h"
#include "engine/tx/tx.h"
#include "engine/base/transport.h"
#include "fabric/count.h"
#include "fabric/fabric.h"
#include "hw/flags.h"
#include "hw/hca.h"
#include "hw/mcg.h"
#include "hw/mkey.h"
#include "hw/port.h"
#include "hw/qctr.h"
#include "hw/qp_state.h"
#include "hw/cap.h"

#include <errno.h>

#define UD_QKEY_OWN 0x80000000u /* a Q_Key with this bit means "use the QP's own" */
#define UD_MULTICAST_QPN 0xffffffu
#define UD_OVERHEAD (HDR_BASE + HDR_DETH) /* immediate data adds 4 */

/* Fields of the WQE's address vector. */
struct ud_av {
	uint32_t qkey, dqpn, sl, path_bits;
	struct way_to to;
	const uint8_t *seg;
};

static enum eng_why parse_av(struct eng_run *r, struct ud_av *av)
{
	const uint8_t *seg = r->wqe + WQE_SEG;

	r->hdr = eng_wqe_header(r);
	if (!r->hdr)
		return ENG_W_WQE_MALFORMED;
	av->seg = seg;
	av->qkey = LAYOUT_GET32(wqe_av, seg, qkey);
	if (av->qkey & UD_QKEY_OWN)
		av->qkey = r->qp->qkey;
	av->dqpn = LAYOUT_GET32(wqe_av, seg, dqpn);
	av->sl = LAYOUT_GET32(wqe_av, seg, sl) >> r->link->sl_shift;
	av->path_bits = LAYOUT_GET32(wqe_av, seg, mlid);
	r->link->av(r, seg, &av->to);
	r->net = av->to.net;
	r->vlan = av->to.vlan;
	return ENG_W_NONE;
}

/* A shorter header than a GRH, IPv4's, ends the 40 octets (union rdma_network_hdr). */
static void build_grh(struct eng_run *r, const struct ud_av *av, const struct eng_op *op,
		      uint64_t len, uint8_t grh[ENG_GRH_BYTES])
{
	struct pkt_route route;
	uint32_t n;

	memset(grh, 0, ENG_GRH_BYTES);
	link_route_av(r->port, r->net, av->seg, &route);
	n = pkt_put_net(&route, UD_OVERHEAD + (op->imm ? 4 : 0) + (uint32_t)(len + 3) / 4 * 4, grh);
	if (n < ENG_GRH_BYTES) {
		memmove(grh + ENG_GRH_BYTES - n, grh, n);
		memset(grh, 0, ENG_GRH_BYTES - n);
	}
}

static void push_front(struct eng_sgl *l, struct mem_slot mem, uint64_t va, uint64_t len)
{
	memmove(l->v + 1, l->v, l->n * sizeof(l->v[0]));
	memmove(l->mem + 1, l->mem, l->n * sizeof(l->mem[0]));
	memmove(l->odp_key + 1, l->odp_key, l->n * sizeof(l->odp_key[0]));
	l->odp <<= 1;
	l->v[0] = (struct mem_vec){va, len};
	l->mem[0] = mem;
	l->n++;
	l->len += len;
	for (uint32_t i = 1; i < l->n; i++)
		if (l->mem[i].slot != mem.slot || l->mem[i].gen != mem.gen)
			l->mixed = true;
}

/* Called under the receiver's lock. Of its results only ENG_LOCKED matters to the sender. */
static enum eng_out ud_receive(struct eng_run *r, const struct ud_av *av, struct hw_qp *peer,
			       const struct eng_op *op)
{
	const struct hw_port *at = hw_port(r->s, hw_qp_path(peer)->port);
	uint64_t len = r->local.len;
	uint8_t grh[ENG_GRH_BYTES];
	struct eng_recv rv;
	struct eng_cqe c;
	enum eng_why why;
	enum eng_out out;
	int rc;

	resp_aim(r, peer);
	rc = resp_fetch(r, peer, av->dqpn, &rv);
	if (rc == -ENOENT)
		eng_count(r->s, peer, HW_QC_OUT_OF_BUFFER);
	if (rc)
		return rc == -ETIMEDOUT ? ENG_LOCKED : rc == -ECANCELED ? ENG_AGAIN : ENG_RNR;
	why = resp_buffers(r, peer, av->dqpn, &rv, len + ENG_GRH_BYTES);
	if (!why && r->remote.sig)
		why = ENG_W_LKEY;
	if (why == ENG_W_RECV_LENGTH && !rv.from_srq) {
		/*
		 * The datagram is dropped and the receive stays in the queue; a receive of an SRQ
		 * cannot stay, and fails (classes D and E at RESPST_ERR_LENGTH of rxe_resp.c).
		 */
		eng_count(r->s, peer, HW_QC_RESP_LOCAL_LENGTH_ERROR);
		cause_note_length(len + ENG_GRH_BYTES, &rv);
		return ENG_SILENT;
	}
	if (why)
		return resp_recv_error(r, peer, av->dqpn, &rv, why);
	if (av->to.dgid) {
		build_grh(r, av, op, len, grh);
		push_front(&r->local, mem_self(r->s), (uintptr_t)grh, ENG_GRH_BYTES);
	} else {
		sgl_skip(&r->remote, ENG_GRH_BYTES);
	}
	cqe_init(&c, op->cqe, peer, av->dqpn, rv.index);
	r->link->cqe(r, at, av->path_bits, av->to.dlid, av->sl, c.b);
	LAYOUT_SET(cqe64, c.b, grh, av->to.dgid != NULL);
	LAYOUT_SET(cqe64, c.b, rqpn, r->qpn);
	LAYOUT_SET(cqe64, c.b, byte_cnt, len + ENG_GRH_BYTES);
	LAYOUT_SET(cqe64, c.b, se, r->se);
	LAYOUT_SET(cqe64, c.b, imm_inval_pkey, op->imm ? r->imm : hw_qp_path(peer)->pkey_index);
	out = resp_complete(r, peer, av->dqpn, &rv, &c);
	if (out == ENG_FAILED && r->why == ENG_W_REMOTE_FAULT)
		return resp_recv_error(r, peer, av->dqpn, &rv, ENG_W_LOCAL_FAULT);
	return out;
}

/* The QP of attachment `i`, if the group has it as a member; else NULL. */
static struct hw_qp *ud_member_qp(struct seg *s, uint32_t i, const uint8_t *mgid, uint32_t *qpn)
{
	const struct hw_mcg *m = seg_at(s, SEG_T_MCG, i);
	uint32_t gen = __atomic_load_n(&m->gen, __ATOMIC_ACQUIRE);

	*qpn = m->qpn;
	if (memcmp(m->gid, mgid, sizeof(m->gid)) ||
	    !(__atomic_load_n(&m->flags, __ATOMIC_ACQUIRE) & HW_F_READY))
		return NULL;
	/*
	 * Compare generations: a later attachment at this index has another QP, which is not in
	 * this group.
	 */
	atomic_thread_fence(memory_order_acquire);
	return __atomic_load_n(&m->gen, __ATOMIC_RELAXED) == gen ? hw_qp(s, *qpn) : NULL;
}

/*
 * Collects members' ports, beginning with attachment *i. If space runs out, *i says where to
 * continue.
 */
static void reach_collect(struct eng_run *r, const uint8_t *mgid, uint32_t *i, struct eng_reach *x)
{
	x->n = 0;
	x->got = 0;
	for (; *i != SEG_NONE; *i = hw_mcg_next(r->s, mgid, *i + 1)) {
		uint32_t qpn;
		const struct hw_qp *qp = ud_member_qp(r->s, *i, mgid, &qpn);

		if (!qp || reach_bit(x, hw_qp_path(qp)->port))
			continue;
		if (x->n == ENG_REACH_MAX)
			return;
		x->port[x->n++] = hw_qp_path(qp)->port;
	}
}

static enum eng_out ud_to_member(struct eng_run *r, const struct ud_av *av, const struct eng_op *op,
				 struct hw_qp *peer, uint32_t qpn, const struct eng_reach *x)
{
	enum eng_out out = ENG_SILENT;
	struct ud_av to = *av;
	uint64_t len = r->local.len;
	int rc;

	atomic_store_explicit(&r->qp->ud_dest, qpn, memory_order_relaxed);
	r->dest = qpn;
	r->path.dlid = av->to.dlid;
	rc = resp_lock(r->s, peer, qpn);
	if (rc)
		return resp_not_locked(rc);
	to.dqpn = qpn;
	if (eng_is_responder(r, peer) && peer->qkey == av->qkey &&
	    (reach_bit(x, hw_qp_path(peer)->port) & x->got) && way_pkey_match(r, hw_qp_path(peer)))
		out = ud_receive(r, &to, peer, op);
	resp_unlock(r->s, peer);
	if (r->local.len > len) /* remove the 4 octets of immediate data again */
		sgl_skip(&r->local, r->local.len - len);
	return out;
}

/*
 * Deliver to one member. ENG_FAILED: the sender's error, so no member can get it. ENG_LOCKED: try
 * this member again.
 */
static enum eng_out ud_member(struct eng_run *r, const struct ud_av *av, const struct eng_op *op,
			      struct hw_qp *peer, uint32_t qpn, const struct eng_reach *x)
{
	enum eng_out out;

	/*
	 * The copy was revoked: look the sender's keys up again; other members have their copies
	 * already.
	 */
	while ((out = ud_to_member(r, av, op, peer, qpn, x)) == ENG_AGAIN) {
		running_again(r->s, r->ring);
		if (sgl_from_wqe(r, r->hdr, HW_ACC_LOCAL_READ, UINT64_MAX)) {
			r->why = ENG_W_LOCAL_FAULT;
			return ENG_FAILED;
		}
	}
	if (out == ENG_LOCKED && !park_patience_ends(r->s, r->qp, peer))
		return ENG_LOCKED;
	/* A sender in the group may leave its own datagrams without a receive. */
	if (out != ENG_DONE && peer != r->qp && (reach_bit(x, hw_qp_path(peer)->port) & x->got) &&
	    (out != ENG_FAILED || r->why != ENG_W_LOCAL_FAULT))
		cause_dropped(r,
			      &(struct cause_to){.to = &av->to,
						 .has_qkey = true,
						 .is_member = true,
						 .qkey = av->qkey},
			      out);
	return out == ENG_FAILED && r->why == ENG_W_LOCAL_FAULT ? out : ENG_SILENT;
}

/*
 * Deliver to every QP of the group, except those that cannot receive. If a member's lock is held,
 * the next attempt continues there, and counts no packets that were counted before.
 */
static enum eng_out ud_multicast(struct eng_run *r, const struct ud_av *av, const struct eng_op *op,
				 struct fab_pkts *pkts)
{
	const uint8_t *mgid = av->seg + WQE_AV_RGID;
	uint32_t from = hw_mcg_next(r->s, mgid, 0), to = from, at = r->qp->mc_at;
	enum eng_count_how how = at ? ENG_COUNT_NOT : ENG_COUNT_FIRST;
	struct eng_reach x;

	pkts->multicast = true;
	do {
		reach_collect(r, mgid, &to, &x);
		if (how == ENG_COUNT_NOT && from >= at)
			how = ENG_COUNT_MORE;
		r->link->reach(r, av->seg, pkts, how, &x);
		if (how == ENG_COUNT_FIRST)
			how = ENG_COUNT_MORE;
		for (; from < to; from = hw_mcg_next(r->s, mgid, from + 1)) {
			uint32_t qpn;
			struct hw_qp *peer = ud_member_qp(r->s, from, mgid, &qpn);
			enum eng_out out;

			if (from + 1 < at || !peer || (peer == r->qp && peer->block_lb_mc))
				continue;
			out = ud_member(r, av, op, peer, qpn, &x);
			if (out == ENG_LOCKED)
				r->qp->mc_at = from + 1;
			if (out != ENG_SILENT)
				return out;
		}
		from = to;
	} while (to != SEG_NONE);
	return ENG_DONE;
}

/* Deliver to the QP `peer`, which is (or was) on the port where the datagram arrives. */
static enum eng_out ud_arrive(struct eng_run *r, const struct ud_av *av, struct hw_qp *peer,
			      const struct eng_op *op)
{
	enum eng_out out = ENG_SILENT;
	int rc;

	/*
	 * Stored before the responder's keys are read, so that eng_mkey_quiesce() sees it (the lock
	 * is taken in between).
	 */
	atomic_store_explicit(&r->qp->ud_dest, av->dqpn, memory_order_relaxed);
	r->dest = av->dqpn;
	rc = resp_lock(r->s, peer, av->dqpn);
	if (rc)
		return resp_not_locked(rc);
	if (eng_is_responder(r, peer) && hw_qp_path(peer)->port == r->path.to &&
	    way_qkey_match(r, peer, av->qkey) && way_pkey_match(r, hw_qp_path(peer)))
		out = ud_receive(r, av, peer, op);
	resp_unlock(r->s, peer);
	return out;
}

/* Of its results ENG_LOCKED means: try again. */
static enum eng_out ud_deliver(struct eng_run *r, const struct ud_av *av, const struct eng_op *op)
{
	enum eng_out out = ENG_SILENT;
	struct fab_pkts pkts;
	struct hw_qp *peer;

	way_request(r, op, &pkts);
	if (av->dqpn == UD_MULTICAST_QPN)
		return av->to.dgid ? ud_multicast(r, av, op, &pkts) : ENG_SILENT;
	r->dest = av->dqpn;
	peer = hw_qp(r->s, av->dqpn);
	if (way_find(r, r->qp, &av->to, &r->path) && fab_path_passes(r->s, &r->path, &pkts) &&
	    peer && !r->lost)
		out = ud_arrive(r, av, peer, op);
	if (out == ENG_LOCKED && park_patience_ends(r->s, r->qp, peer))
		out = ENG_SILENT;
	if (out != ENG_LOCKED && out != ENG_AGAIN)
		fab_path_count(r->s, &r->path, &pkts);
	return out;
}

enum eng_out ud_execute(struct eng_run *r)
{
	const struct eng_op *op = eng_op(r->opcode);
	const struct hw_port *port = r->port;
	struct ud_av av;
	enum eng_out out;
	uint64_t len;

	r->why = parse_av(r, &av);
	if (!r->why)
		r->why = sgl_from_wqe(r, r->hdr, HW_ACC_LOCAL_READ, UINT64_MAX);
	if (!r->why && r->local.sig)
		r->why = ENG_W_LKEY;
	len = r->local.len;
	if (!r->why && (!port || len > 128u << port->active_mtu)) {
		cause_note.room = port ? 128u << port->active_mtu : 0;
		r->why = ENG_W_LENGTH;
	}
	if (r->why)
		return ENG_FAILED;
	if (cap_on(r->s))
		eng_capture_ud(r, op, av.seg, av.qkey);
	out = ud_deliver(r, &av, op);
	if (out == ENG_FAILED && r->why == ENG_W_LOCAL_FAULT)
		return ENG_FAILED;
	if (out == ENG_AGAIN || out == ENG_LOCKED)
		return out;
	if (out != ENG_DONE)
		cause_dropped(r,
			      &(struct cause_to){.to = &av.to, .has_qkey = true, .qkey = av.qkey},
			      out);
	r->byte_cnt = (uint32_t)len;
	r->qp->next_send_psn = (r->qp->next_send_psn + 1) & 0xffffff;
	return ENG_DONE;
}
