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
#include "wire/pkt/pkt.h"

#include <infiniband/verbs.h>

/* hw_qp.fault: with ENG_DECIDED, what still has to be done with the WQE. */
#define CI 0xffffu
#define WHAT_SHIFT 16
#define WHAT 0x7fffu
#define PSN_MASK 0xffffffu

static void decided(struct eng_run *r, enum fault_what what)
{
	r->qp->fault = ENG_DECIDED | (uint32_t)what << WHAT_SHIFT | (r->ci & CI);
}

static bool is_decided(const struct eng_run *r)
{
	return r->qp->fault & ENG_DECIDED && (r->qp->fault & CI) == (r->ci & CI);
}

/* ---- the rows of statuses */

enum side { LOCAL, REMOTE, FOR_EVER };

static const struct {
	enum ibv_wc_status status;
	enum side side;
	enum eng_why why;
	int event;    /* at the other end */
	uint32_t nak; /* with which it answers */
} statuses[] = {
	{IBV_WC_LOC_LEN_ERR, LOCAL, ENG_W_LENGTH, 0, 0},
	{IBV_WC_LOC_QP_OP_ERR, LOCAL, ENG_W_WQE_MALFORMED, 0, 0},
	{IBV_WC_LOC_PROT_ERR, LOCAL, ENG_W_LKEY, 0, 0},
	{IBV_WC_MW_BIND_ERR, LOCAL, ENG_W_BIND_KEY, 0, 0},
	{IBV_WC_BAD_RESP_ERR, LOCAL, ENG_W_BAD_RESP, 0, 0},
	{IBV_WC_REM_ABORT_ERR, LOCAL, ENG_W_ABORTED, 0, 0},
	{IBV_WC_REM_INV_REQ_ERR, REMOTE, ENG_W_QP_ACCESS, IBV_EVENT_QP_REQ_ERR,
	 PKT_SYND_NAK_INVALID},
	{IBV_WC_REM_ACCESS_ERR, REMOTE, ENG_W_RKEY, IBV_EVENT_QP_ACCESS_ERR, PKT_SYND_NAK_ACCESS},
	{IBV_WC_REM_OP_ERR, REMOTE, ENG_W_REMOTE_OP, IBV_EVENT_QP_FATAL, PKT_SYND_NAK_OPERATION},
	{IBV_WC_RETRY_EXC_ERR, FOR_EVER, ENG_W_RETRY, 0, 0},
	{IBV_WC_RNR_RETRY_EXC_ERR, FOR_EVER, ENG_W_RNR, 0, 0},
};

static const struct {
	enum ibv_wc_status status;
	enum eng_why why;
} recv_statuses[] = {
	{IBV_WC_LOC_LEN_ERR, ENG_W_RECV_LENGTH},
	{IBV_WC_LOC_PROT_ERR, ENG_W_LOCAL_FAULT},
	{IBV_WC_LOC_ACCESS_ERR, ENG_W_RECV_ACCESS},
};

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

/* Does the message leave its port, for another one? Sets the ports of both ends. */
static bool leaves(const struct eng_run *r, const struct hw_qp *peer, struct fault_moment *m)
{
	const struct hw_port *from = hw_port(r->s, hw_qp_path(r->qp)->port),
			     *to = peer ? hw_port(r->s, hw_qp_path(peer)->port) : NULL;

	if (!from || from == to)
		return false;
	m->end[0].port = from->num;
	if (to)
		m->end[1].port = to->num;
	return true;
}

#define CABLE_KNOWN 0x10000u /* in hw_qp.cable_pi, which may be 0 */

/*
 * When the WQE is sent. Those behind the first one that were posted with it are sent when it was,
 * so that only the first one waits for its whole way.
 */
static uint64_t sent_from(struct eng_run *r, uint64_t now)
{
	struct hw_qp *qp = r->qp;
	uint32_t ahead = (qp->cable_pi - r->ci) & 0xffff;

	if (qp->cable_pi && ahead && ahead <= 1u << qp->sq_log_size)
		return qp->cable_from;
	qp->cable_pi = CABLE_KNOWN | (atomic_load(&qp->sq_pi) & 0xffff);
	qp->cable_from = now;
	return now;
}

/* When the message has come over slow cables; 0: there is none. An answer with data goes back. */
static uint64_t over_cables(struct eng_run *r)
{
	enum eng_kind kind = (enum eng_kind)eng_op(r->opcode)->kind;
	uint32_t dest = qp_target(r->qp);
	const struct hw_qp *peer = hw_qp(r->s, dest);
	struct fault_moment m = {
		.at = HW_AT_CABLE,
		.id = UINT32_MAX,
		.size = message_size(r),
		.end = {end_of(r->qp, r->qpn), {.proc = SEG_NONE, .hca = SEG_NONE}}};
	uint64_t now = eng_clock(), at;

	if (kind != ENG_K_SEND && kind != ENG_K_WRITE && kind != ENG_K_READ && kind != ENG_K_ATOMIC)
		return 0;
	if (peer)
		m.end[1] = end_of(peer, dest);
	if (!leaves(r, peer, &m))
		return 0;
	at = fault_cable(r->s, &m, sent_from(r, now),
			 kind == ENG_K_READ || kind == ENG_K_ATOMIC ? 2 : 1);
	return at > now ? at : 0;
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
		.sequenced = r->transport->psn,
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

/* The completion that a rule gives another vendor_err: ENG_VENDOR_ERR(); 0: none. */
static uint32_t vendor_err(const struct hw_fault_effect *e, enum fault_what what, uint64_t status)
{
	uint64_t vendor;

	if (!fault_does(e, FAULT_VENDOR_ERR, &vendor))
		return 0;
	for (size_t i = 0; what == FAULT_WC && i < ARRAY_SIZE(statuses); i++)
		if (statuses[i].status == status)
			return ENG_VENDOR_ERR(statuses[i].why, false, vendor);
	for (size_t i = 0; what == FAULT_RECV_WC && i < ARRAY_SIZE(recv_statuses); i++)
		if (recv_statuses[i].status == status)
			return ENG_VENDOR_ERR(recv_statuses[i].why, true, vendor);
	return 0;
}

/* A NAK that ends the request is the cause of a status: *v. */
static enum fault_what decide_nak(uint64_t *v)
{
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
		if (statuses[i].nak == *v) {
			*v = statuses[i].status;
			return FAULT_WC;
		}
	return FAULT_NAK;
}

static void decide(struct eng_run *r)
{
	struct hw_fault_effect e;
	uint64_t v;

	decided(r, FAULT_WHATS);
	r->qp->fault_vendor = 0;
	if (fault_waits(r->s, HW_AT_WR) && hit(r, HW_AT_WR, &e))
		;
	else if (!fault_waits(r->s, HW_AT_RECV) || !takes_receive(r) || !hit(r, HW_AT_RECV, &e))
		return;
	for (enum fault_what w = 0; w < FAULT_WHATS; w++) {
		enum fault_what what = w;

		if (!fault_does(&e, w, &v))
			continue;
		if (w == FAULT_NAK)
			what = decide_nak(&v);
		decided(r, what);
		r->qp->fault_arg = v;
		r->qp->fault_vendor = vendor_err(&e, what, v);
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

/*
 * The peer has executed it, and its answer does not come here: the request comes again, after a
 * time-out, or at once as a duplicate whose answer is the one that comes.
 */
static enum eng_out unanswered(struct eng_run *r, enum eng_out (*execute)(struct eng_run *r),
			       enum eng_out then)
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
	return then;
}

static enum eng_out twice(struct eng_run *r, enum eng_out (*execute)(struct eng_run *r))
{
	enum eng_out out;

	if (eng_acks(r->transport))
		return unanswered(r, execute, ENG_AGAIN);
	out = execute(r);
	if (out != ENG_DONE)
		return out;
	decided(r, FAULT_WHATS);
	execute(r); /* the second datagram may be lost, for want of a receive */
	return ENG_DONE;
}

/*
 * A packet before it is lost, so that the peer answers with a NAK of the PSN that it expects: the
 * requester goes back at once. This is one of its retries (IBA 9.9.2.1.1), which an answer gives
 * back.
 */
static enum eng_out out_of_sequence(struct eng_run *r, enum eng_out (*execute)(struct eng_run *r))
{
	struct hw_qp *qp = r->qp;
	uint32_t psn = qp->next_send_psn;
	enum eng_out out;

	qp->next_send_psn = (psn + 1) & PSN_MASK;
	out = execute(r);
	qp->next_send_psn = psn;
	if (out != ENG_SILENT)
		return out;
	decided(r, FAULT_WHATS);
	park_tries_begin(r->s, qp, r->ci);
	if (!qp->retry_count) {
		r->why = ENG_W_RETRY;
		return ENG_FAILED;
	}
	qp->retries_left -= qp->retries_left > 0;
	atomic_store(&qp->park_deadline, 0);
	atomic_store(&qp->park, HW_PARK_NAK);
	return ENG_AGAIN;
}

enum eng_out fault_execute(struct eng_run *r, enum eng_out (*execute)(struct eng_run *r))
{
	enum fault_what what;
	enum eng_out out;
	uint64_t at;

	if (!is_decided(r)) {
		decide(r);
		at = fault_waits(r->s, HW_AT_CABLE) ? over_cables(r) : 0;
		if (at) {
			park_qp(r->s, r->qp, HW_PARK_LATE, at);
			return ENG_LATER;
		}
	}
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
		return unanswered(r, execute, ENG_SILENT);
	case FAULT_DUPLICATED:
		return twice(r, execute);
	case FAULT_NAK:
		return out_of_sequence(r, execute);
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
