/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns what rules of --inject do to work requests. It stands between the send queue and the
 * transports, which know nothing of it: a message that is lost goes through them with r->lost, one
 * of which a part lands with r->land, and the rest is an outcome as theirs. A WQE is decided when
 * it is executed first (hw_qp.fault); repeats by the transport are the same WQE. Called by sq.c
 * while some rule waits for work requests.
 */
#include "engine/base/qp.h"
#include "engine/base/ring.h"
#include "engine/path/link.h"
#include "engine/tx/sender.h"
#include "engine/tx/tx.h"
#include "fabric/fabric.h"
#include "fault/fault.h"
#include "hw/qctr.h"
#include "hw/service.h"
#include "hw/timer.h"
#include "util/cleanup.h"

#include <infiniband/verbs.h>

/* hw_qp.fault: the WQE that is decided, and what still has to be done with it. */
#define DECIDED 0x80000000u
#define CI 0xffffu
#define WHAT_SHIFT 16
#define WHAT 0x7fffu

static void decided(struct eng_run *r, enum fault_what what)
{
	r->qp->fault = DECIDED | (uint32_t)what << WHAT_SHIFT | (r->ci & CI);
}

static bool is_decided(const struct eng_run *r)
{
	return r->qp->fault & DECIDED && (r->qp->fault & CI) == (r->ci & CI);
}

/* ---- the decision */

static struct fault_end end_of(const struct hw_qp *qp, uint32_t qpn)
{
	return (struct fault_end){
		.proc = qp->mem.slot, .hca = qp->hca, .qpn = qpn, .st = qp->st, .qp = true};
}

static uint64_t message_size(const struct eng_run *r)
{
	enum eng_kind kind = (enum eng_kind)eng_op(r->opcode)->kind;
	uint32_t hdr = eng_wqe_header(r);

	if (!hdr || kind == ENG_K_ATOMIC)
		return kind == ENG_K_ATOMIC ? 8 : 0;
	return part_message(r, kind == ENG_K_SEND ? hdr : hdr + WQE_SEG);
}

/* Does the request need a receive at the other end? */
static bool takes_receive(const struct eng_run *r)
{
	return eng_op(r->opcode)->cqe;
}

static bool hit(struct eng_run *r, enum hw_moment at, struct hw_fault_effect *e)
{
	uint32_t dest = qp_target(r->qp);
	const struct hw_qp *peer = hw_qp(r->s, dest);
	struct fault_moment m = {
		.at = at,
		.id = r->opcode,
		.size = message_size(r),
		.answered = eng_acks(r->transport),
		.received = takes_receive(r),
		.packets = eng_npkts(message_size(r), r->qp->mtu),
		.end = {end_of(r->qp, r->qpn), {.proc = SEG_NONE, .hca = SEG_NONE}}};

	if (peer)
		m.end[1] = end_of(peer, dest);
	if (at == HW_AT_RECV) { /* it is the receiver's */
		m.end[0] = m.end[1];
		m.end[1] = (struct fault_end){.proc = SEG_NONE, .hca = SEG_NONE};
	}
	return fault_hit(r->s, &m, e);
}

static void decide(struct eng_run *r)
{
	struct hw_fault_effect e;
	uint64_t v;

	decided(r, FAULT_WHATS);
	if (fault_waits(r->s, HW_AT_WR) && hit(r, HW_AT_WR, &e))
		;
	else if (!fault_waits(r->s, HW_AT_RECV) || !takes_receive(r) || !hit(r, HW_AT_RECV, &e))
		return;
	for (uint32_t w = 0; w < FAULT_WHATS; w++)
		if (fault_does(&e, w, &v)) {
			decided(r, w);
			r->qp->fault_arg = v;
			return;
		}
}

/* ---- the other end refuses */

/* The receive is taken and fails; both ends get their errors. */
static enum eng_out fail_receive(struct eng_run *r, struct hw_qp *peer, enum eng_why why)
{
	struct eng_recv rv;
	int rc;

	r->rnr_timer = peer->min_rnr_nak;
	rc = resp_fetch(r, peer, r->dest, &rv);
	if (!rc)
		return resp_recv_error(r, peer, r->dest, &rv, why);
	return rc == -ENOENT      ? ENG_RNR
	       : rc == -ETIMEDOUT ? ENG_LOCKED
	       : rc == -ECANCELED ? ENG_AGAIN
				  : ENG_SILENT;
}

/* As the transport does it: finds the peer, and refuses there if the request would be accepted. */
static enum eng_out refuse(struct eng_run *r, enum eng_why why, int event)
{
	const struct eng_op *op = eng_op(r->opcode);
	enum eng_out out = ENG_SILENT;
	struct fab_pkts pkts;
	struct hw_qp *peer;
	uint32_t port;
	int rc;

	running_any_key(r->ring);
	r->hdr = eng_wqe_header(r);
	r->cut = ENG_W_NONE;
	r->part = 0;
	r->own = hw_qp_path(r->qp);
	r->port = hw_port(r->s, r->own->port);
	r->link = eng_link(r->port);
	sgl_init(&r->local);
	peer = r->hdr ? r->sender->peer(r, &port) : NULL;
	way_request(r, op, &pkts);
	if (!peer || !fab_path_passes(r->s, &r->path, &pkts))
		return ENG_SILENT;
	rc = resp_lock(r->s, peer, r->dest);
	if (rc)
		return resp_not_locked(rc);
	if (r->sender->accepts(r, peer, port) && r->sender->back(r, peer, port)) {
		resp_aim(r, peer);
		out = event < 0 ? fail_receive(r, peer, why) : rc_refuse(r, peer, why, event);
	}
	resp_unlock(r->s, peer);
	if (out == ENG_DONE || out == ENG_FAILED)
		fab_path_count(r->s, &r->path, &pkts);
	return out;
}

/* ---- completion statuses */

enum side { LOCAL, REMOTE, FOR_EVER };

static const struct {
	enum ibv_wc_status status;
	enum side side;
	enum eng_why why;
	int event; /* at the other end */
} statuses[] = {
	{IBV_WC_LOC_LEN_ERR, LOCAL, ENG_W_LENGTH, 0},
	{IBV_WC_LOC_QP_OP_ERR, LOCAL, ENG_W_WQE_MALFORMED, 0},
	{IBV_WC_LOC_PROT_ERR, LOCAL, ENG_W_LKEY, 0},
	{IBV_WC_MW_BIND_ERR, LOCAL, ENG_W_BIND_KEY, 0},
	{IBV_WC_BAD_RESP_ERR, LOCAL, ENG_W_BAD_RESP, 0},
	{IBV_WC_REM_ABORT_ERR, LOCAL, ENG_W_ABORTED, 0},
	{IBV_WC_REM_INV_REQ_ERR, REMOTE, ENG_W_QP_ACCESS, IBV_EVENT_QP_REQ_ERR},
	{IBV_WC_REM_ACCESS_ERR, REMOTE, ENG_W_RKEY, IBV_EVENT_QP_ACCESS_ERR},
	{IBV_WC_REM_OP_ERR, REMOTE, ENG_W_REMOTE_OP, IBV_EVENT_QP_FATAL},
	{IBV_WC_RETRY_EXC_ERR, FOR_EVER, ENG_W_RETRY, 0},
	{IBV_WC_RNR_RETRY_EXC_ERR, FOR_EVER, ENG_W_RNR, 0},
};

static const struct {
	enum ibv_wc_status status;
	enum eng_why why;
} recv_statuses[] = {
	{IBV_WC_LOC_LEN_ERR, ENG_W_RECV_LENGTH},
	{IBV_WC_LOC_PROT_ERR, ENG_W_LOCAL_FAULT},
	{IBV_WC_LOC_ACCESS_ERR, ENG_W_RECV_ACCESS},
};

static enum eng_out not_ready(struct eng_run *r)
{
	struct hw_qp *peer = hw_qp(r->s, qp_target(r->qp));

	r->rnr_timer = peer ? peer->min_rnr_nak : 0;
	r->waits_ready = false;
	if (peer)
		eng_count(r->s, peer, HW_QC_OUT_OF_BUFFER);
	return ENG_RNR;
}

static enum eng_out ends_with(struct eng_run *r, enum eng_out (*execute)(struct eng_run *r))
{
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++) {
		if (statuses[i].status != r->qp->fault_arg)
			continue;
		if (statuses[i].side == REMOTE)
			return refuse(r, statuses[i].why, statuses[i].event);
		if (statuses[i].why == ENG_W_RNR)
			return not_ready(r);
		if (statuses[i].why == ENG_W_RETRY) {
			r->lost = true;
			return execute(r);
		}
		r->why = statuses[i].why;
		return ENG_FAILED;
	}
	return execute(r);
}

static enum eng_out receives_with(struct eng_run *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(recv_statuses); i++)
		if (recv_statuses[i].status == r->qp->fault_arg)
			return refuse(r, recv_statuses[i].why, -1);
	return ENG_SILENT;
}

/* ---- */

/* The peer has executed it, and the acknowledgement is lost: the request comes again. */
static enum eng_out unanswered(struct eng_run *r, enum eng_out (*execute)(struct eng_run *r))
{
	uint32_t psn = r->qp->next_send_psn;
	enum eng_out out;

	r->mute = true;
	out = execute(r);
	r->mute = false;

	if (out != ENG_DONE)
		return out;
	r->qp->next_send_psn = psn;
	decided(r, FAULT_WHATS);
	return ENG_SILENT;
}

static enum eng_out twice(struct eng_run *r, enum eng_out (*execute)(struct eng_run *r))
{
	enum eng_out out = execute(r);

	if (out != ENG_DONE)
		return out;
	decided(r, FAULT_WHATS);
	execute(r); /* the second datagram may be lost, for want of a receive */
	return ENG_DONE;
}

enum eng_out fault_execute(struct eng_run *r, enum eng_out (*execute)(struct eng_run *r))
{
	enum fault_what what;
	enum eng_out out;

	if (!is_decided(r))
		decide(r);
	what = (enum fault_what)(r->qp->fault >> WHAT_SHIFT & WHAT);
	r->injected = what != FAULT_WHATS;
	switch (what) {
	case FAULT_LATE:
		decided(r, FAULT_WHATS);
		park_qp(r->s, r->qp, HW_PARK_LATE,
			eng_clock() + hw_timer_ns(r->s, r->qp->fault_arg));
		return ENG_LATER;
	case FAULT_LOST:
		decided(r, FAULT_WHATS);
		r->lost = true;
		break;
	case FAULT_CUT:
		r->land = (uint32_t)r->qp->fault_arg;
		break;
	case FAULT_UNANSWERED:
		return unanswered(r, execute);
	case FAULT_DUPLICATED:
		return twice(r, execute);
	case FAULT_RNR:
		decided(r, FAULT_WHATS);
		return not_ready(r);
	case FAULT_WC:
		out = ends_with(r, execute);
		r->lost = false;
		return out;
	case FAULT_RECV_WC:
		return receives_with(r);
	default:
		break;
	}
	out = execute(r);
	r->lost = false;
	if (r->land && out == ENG_SILENT)
		decided(r, FAULT_WHATS);
	r->land = 0;
	return out;
}
