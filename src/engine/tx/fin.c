/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The FIN with which the reader of a rendezvous ends it: its receiver takes it as a message. Called
 * by sq.c with that QP's sq_lock held; takes its rq_lock.
 */
#include "engine/tx/tx.h"
#include "engine/path/link.h"
#include "engine/tx/sender.h"
#include "engine/rx/tm.h"
#include "hw/qp_state.h"
#include "wire/wqe/tm.h"

/* Delivers the FIN to a receive of this QP, as a message from its peer. */
static enum eng_out fin_receive(struct eng_run *r)
{
	uint8_t tmh[LAYOUT_SZ(tmh)] = {0};
	uint32_t qpn = r->qpn, ce = r->ce, dest = r->dest;
	const struct hw_qp_path *own = r->own;
	enum eng_out out;

	LAYOUT_SET(tmh, tmh, opcode, TMH_FIN);
	LAYOUT_SET(tmh, tmh, app_ctx, r->qp->fin_app_ctx);
	LAYOUT_SET(tmh, tmh, tag, r->qp->fin_tag);
	sgl_init(&r->local);
	sgl_add(&r->local, mem_self(r->s), (uintptr_t)tmh, sizeof(tmh));
	resp_aim(r, r->qp);
	r->app_op = tm_aim(r) ? CQE_TM_NO_TAG : 0;
	r->own = r->theirs;
	r->theirs = own;
	r->port = hw_port(r->s, r->own->port);
	r->path.dlid = r->back.dlid;
	r->dest = qpn;
	r->qpn = dest;
	r->ce = r->se = 0;
	out = rc_receive(r, r->qp, eng_op(WQE_OP_SEND));
	r->theirs = r->own;
	r->own = own;
	r->port = hw_port(r->s, own->port);
	r->qpn = qpn;
	r->dest = dest;
	r->ce = ce;
	r->app_op = 0;
	return out;
}

/* A QP that is gone or in error sends no FIN; one without a path sends it later. */
static bool fin_lost(const struct seg *s, const struct hw_qp *qp)
{
	const struct hw_qp *peer = hw_qp(s, qp->dest_qpn);
	uint32_t st = peer ? atomic_load(&peer->state) : PRM_QP_STATE_RST;

	return st != PRM_QP_STATE_RTR && st != PRM_QP_STATE_RTS;
}

bool tm_fin(struct eng_run *r)
{
	struct hw_qp *peer;
	enum eng_out out;
	uint32_t port;

	if (r->qp->sq_out)
		return true;
	if (fin_lost(r->s, r->qp)) {
		r->qp->fin_owed = HW_FIN_NONE;
		return true;
	}
	r->own = hw_qp_path(r->qp);
	r->port = hw_port(r->s, r->own->port);
	r->link = eng_link(r->port);
	peer = r->sender->peer(r, &port);
	if (!peer)
		return false;
	r->theirs = hw_qp_path(peer);
	if (!r->sender->back(r, peer, port) || resp_lock(r->s, r->qp, r->qpn))
		return false;
	tm_settle(r->s, r->qp, r->qpn, false); /* what a message that failed has left */
	out = fin_receive(r);
	/* The peer's acceptance of a FIN carries MigReq, as every answer does. */
	if (__builtin_expect(mig_is_busy(r->qp), 0) && out != ENG_LOCKED && out != ENG_AGAIN)
		mig_answer(r, peer);
	resp_unlock(r->s, r->qp);
	if (out == ENG_RNR || out == ENG_LOCKED || out == ENG_AGAIN)
		return false;
	way_count_fin(r, peer);
	r->qp->fin_owed = HW_FIN_NONE;
	return true;
}
