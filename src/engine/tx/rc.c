/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Connected transports, RC and UC: moves one message from the requester's memory to the responder's
 * (or back, for READ), and handles the acknowledgement that the wire would have carried. Called by
 * sq.c with the requester's sq_lock held; takes the responder's rq_lock.
 */
#include "engine/path/cause.h"
#include "engine/path/link.h"
#include "engine/tx/tx.h"
#include "engine/rx/tm.h"
#include "engine/tx/sender.h"
#include "fabric/fabric.h"
#include "hw/mkey.h"
#include "hw/qctr.h"
#include "hw/qp_state.h"
#include "hw/cap.h"
#include "wire/prm/qp.h"

#include <errno.h>
#include <infiniband/verbs.h>

#define PSN_MASK 0xffffffu
#define PSN_BEHIND 0x800000u /* PSNs this far ahead, or farther, count as behind */

struct hw_qp *rc_peer(struct eng_run *r, uint32_t *port)
{
	const struct hw_qp *qp = r->qp;
	struct way_to to = way_of(r, qp);

	r->dest = qp->dest_qpn;
	r->net = to.net;
	r->vlan = to.vlan;
	if (!way_find(r, qp, &to, &r->path))
		return NULL;
	*port = r->path.to;
	return hw_qp(r->s, qp->dest_qpn);
}

bool rc_accepts(struct eng_run *r, struct hw_qp *peer, uint32_t port)
{
	bool busy = __builtin_expect(mig_is_busy(peer), 0);

	if (!eng_is_responder(r, peer) || peer->dest_qpn != r->qpn ||
	    (busy && !mig_request(r, peer, port)))
		return false;
	r->theirs = hw_qp_path(peer);
	if (r->theirs->port != port || (r->theirs->grh && !r->link->expects(r, peer)) ||
	    !way_pkey_match(r, r->theirs))
		return false;
	if (busy)
		mig_met(peer, mig_requests(r->qp, r->own));
	return true;
}

bool rc_back(struct eng_run *r, const struct hw_qp *peer, uint32_t port)
{
	struct way_to to = way_of(r, peer);

	(void)port;
	if (!way_find(r, peer, &to, &r->back))
		return false;
	if (__builtin_expect(mig_is_busy(r->qp), 0))
		return mig_answer_comes(r, peer);
	return r->back.to == r->own->port;
}

static bool answer_fits(struct eng_run *r, uint64_t len, const void *arg)
{
	return !sgl_from_wqe(r, r->scatter, HW_ACC_LOCAL_WRITE, len);
}

/*
 * Scatter to CQE: a short answer waits in r->answer for the CQE of this WQE, if that gets one. Not
 * an atomic's: UCX takes one in a CQE for big-endian (uct_rc_mlx5_common_atomic64_le_handler()),
 * libmlx5 copies it as it is.
 */
static void aim_at_answer(struct eng_run *r)
{
	uint64_t len = r->local.len;
	bool may = r->ce >= WQE_CE_ALWAYS && eng_op(r->opcode)->kind == ENG_K_READ;
	uint32_t format = may ? cq_data_format(r->s, r->qp->cqn_snd, r->qp->req_data, len)
			      : CQE_FORMAT_NO_DATA;

	r->format = (uint8_t)(r->local.sig ? CQE_FORMAT_NO_DATA : format);
	if (!r->format)
		return;
	sgl_init(&r->local);
	sgl_add(&r->local, mem_self(r->s), (uintptr_t)r->answer, len);
}

enum eng_why rc_place_answer(struct eng_run *r)
{
	enum eng_why why;
	int rc;

	r->format = CQE_FORMAT_NO_DATA;
	do {
		why = sgl_from_wqe(r, r->scatter, HW_ACC_LOCAL_WRITE, r->byte_cnt);
		sgl_init(&r->remote);
		sgl_add(&r->remote, mem_self(r->s), (uintptr_t)r->answer, r->byte_cnt);
		rc = why ? 0 : sgl_copy_gated(r, &r->local, &r->remote);
		if (rc == -ECANCELED)
			running_again(r->s, r->ring);
	} while (rc == -ECANCELED);
	return rc ? ENG_W_LOCAL_FAULT : why;
}

/*
 * Copy the answer, r->remote, to the requester's memory or into r->answer. Its keys are checked
 * only now: the request was already executed, so a wrong key is the requester's error only
 * (r->late), behind the packets that it has room for. 0 or a mem_* error.
 */
static int scatter(struct eng_run *r)
{
	uint64_t len = r->local.len;
	uint32_t n;
	int rc = 0;

	if (__builtin_expect(r->mute, 0))
		return 0;
	r->late = sgl_from_wqe(r, r->scatter, HW_ACC_LOCAL_WRITE, UINT64_MAX);
	if (!r->late) {
		sgl_trim(&r->local, len);
		aim_at_answer(r);
		return sgl_copy_gated(r, &r->local, &r->remote);
	}
	n = part_fitting(r, len, answer_fits, NULL);
	if (n) {
		sgl_trim(&r->remote, part_bytes(r, n));
		rc = sgl_copy_gated(r, &r->local, &r->remote);
	}
	sgl_init(&r->local);
	r->local.len = len;
	if (n)
		rc_remote_key(r, HW_ACC_REMOTE_READ);
	return rc;
}

static enum eng_out read_memory(struct eng_run *r, struct hw_qp *peer)
{
	enum eng_out out = rc_remote_memory(r, peer, HW_ACC_REMOTE_READ, scatter);
	int rc;

	if (out != ENG_DONE)
		return out;
	rc = scatter(r);
	if (rc == -EFAULT ? r->remote.fault : r->late && sgl_unreadable(r->s, &r->remote)) {
		r->part = rc ? part_copied(r) : 0;
		r->late = ENG_W_NONE;
		return rc_refuse(r, peer, ENG_W_REMOTE_FAULT, IBV_EVENT_QP_ACCESS_ERR);
	}
	if (rc == -EFAULT) {
		r->late = ENG_W_LOCAL_FAULT;
		rc = 0;
	}
	return rc_copied(r, peer, rc);
}

/*
 * The atomic was executed, and must not be again. If keys were revoked, look up only the place for
 * its answer.
 */
static void answer_atomic(struct eng_run *r)
{
	int rc;

	sgl_init(&r->remote);
	sgl_add(&r->remote, mem_self(r->s), (uintptr_t)&r->was, r->atomic.size);
	while ((rc = scatter(r)) == -ECANCELED)
		running_again(r->s, r->ring);
	if (rc)
		r->late = ENG_W_LOCAL_FAULT;
}

/* For a duplicate of this atomic; none is answered if the lock was taken over meanwhile. */
static void keep_answer(struct eng_run *r, struct hw_qp *peer)
{
	if (!r->transport->psn || !resp_busy(peer))
		return;
	peer->kept = r->was;
	peer->kept_psn = HW_PSN_KEPT | r->qp->next_send_psn;
	resp_busy_end();
}

static enum eng_out atomic(struct eng_run *r, struct hw_qp *peer)
{
	uint64_t va = LAYOUT_GET(wqe_raddr, r->wqe + r->hdr, va);
	enum eng_out out;
	int rc;

	if (va % r->atomic.size)
		return rc_refuse(r, peer, ENG_W_REMOTE_ALIGN, IBV_EVENT_QP_REQ_ERR);
	out = rc_remote_memory(r, peer, HW_ACC_ATOMIC, rc_write);
	if (out != ENG_DONE)
		return out;
	rc = atomic_perform(r);
	if (rc == -ETIMEDOUT)
		return ENG_LOCKED;
	if (rc == -EFAULT)
		return rc_refuse(r, peer, ENG_W_REMOTE_FAULT, IBV_EVENT_QP_ACCESS_ERR);
	if (rc)
		return rc_copied(r, peer, rc);
	if (r->why == ENG_W_REMOTE_ALIGN)
		return rc_refuse(r, peer, r->why, IBV_EVENT_QP_REQ_ERR);
	keep_answer(r, peer);
	answer_atomic(r);
	return ENG_DONE;
}

/* The rights of the QP itself, whatever those of the key are. */
static bool qp_allows(const struct hw_qp *peer, const struct eng_op *op)
{
	switch (op->kind) {
	case ENG_K_WRITE:
		return peer->rwe;
	case ENG_K_READ:
		return peer->rre;
	case ENG_K_ATOMIC:
		return peer->rae && peer->atomic_mode;
	default:
		return true;
	}
}

static enum eng_out perform(struct eng_run *r, struct hw_qp *peer, const struct eng_op *op)
{
	enum eng_out out;

	/*
	 * An invalid request, also where the key would be wrong, too, or no receive is there (as
	 * ConnectX-5 and -6 answer, and check_op_valid() of rxe_resp.c).
	 */
	if (!qp_allows(peer, op))
		return rc_refuse(r, peer, ENG_W_QP_ACCESS, IBV_EVENT_QP_REQ_ERR);
	if (op->cqe && __builtin_expect(r->to.srqn != SEG_NONE, 0) && tm_aim(r) &&
	    op->kind == ENG_K_SEND)
		return r->cut ? ENG_SILENT : tm_receive(r, peer, op);
	/* Only the last packet takes a WRITE's receive, and a DCT keeps none for a sender. */
	if (__builtin_expect(r->cut, 0) && op->kind == ENG_K_SEND && eng_transport(peer)->stays)
		return ENG_SILENT;
	if (op->cqe && (op->kind == ENG_K_SEND || !r->cut))
		return rc_receive(r, peer, op);
	if (op->kind == ENG_K_WRITE) {
		out = rc_remote_memory(r, peer, HW_ACC_REMOTE_WRITE, rc_write);
		return out != ENG_DONE
			       ? out
			       : rc_copied(r, peer, sgl_copy_gated(r, &r->remote, &r->local));
	}
	return op->kind == ENG_K_ATOMIC ? atomic(r, peer) : read_memory(r, peer);
}

/*
 * Stores the PSN that the peer has missed, under its lock. False: the lock was taken over. If the
 * PSN is another one, the peer was reset meanwhile.
 */
static bool pay_psn(struct eng_run *r, struct hw_qp *peer)
{
	if (peer->dest_qpn == r->qpn && peer->next_rcv_psn == (r->qp->psn_owed & PSN_MASK) &&
	    !resp_set_psn(peer, r->qp->next_send_psn))
		return false;
	r->qp->psn_owed = 0;
	return true;
}

/*
 * The message is received, but the lock was taken over before the PSN that follows was stored: all
 * later messages would be out of sequence. Store it with the lock taken again, or else with the
 * next message: the lock's holder may be stopped, or wait for a processor.
 */
static __attribute__((noinline)) void set_psn_late(struct eng_run *r, struct hw_qp *peer,
						   uint32_t psn)
{
	r->qp->psn_owed = HW_PSN_OWED | r->qp->next_send_psn;
	r->qp->next_send_psn = psn;
	running_again(r->s, r->ring); /* the gate was shut */
	if (!resp_lock(r->s, peer, r->dest))
		pay_psn(r, peer);
}

/*
 * Was this request, which the peer takes for a duplicate, executed before? Not if the peer has
 * executed none of this connection, and only the last one comes again.
 */
static bool may_be_executed(const struct eng_run *r, const struct hw_qp *peer, uint32_t n)
{
	return peer->msn & PSN_MASK &&
	       ((r->qp->next_send_psn + n) & PSN_MASK) == peer->next_rcv_psn;
}

/*
 * `n` packets with a PSN that the peer does not expect, `ahead` of its own: silence, or ENG_DONE
 * for a duplicate, or ENG_AGAIN: a READ is executed again.
 */
static __attribute__((noinline)) enum eng_out out_of_sequence(struct eng_run *r,
							      const struct hw_qp *peer,
							      const struct eng_op *op, uint32_t n,
							      uint32_t ahead)
{
	if (ahead < PSN_BEHIND) {
		eng_count(r->s, peer, HW_QC_OUT_OF_SEQUENCE);
		/* one NAK for each message; the requester cannot go back to a PSN before its own */
		if (atomic_load(&r->qp->park) != HW_PARK_RETRY) {
			eng_count(r->s, r->qp, HW_QC_PACKET_SEQ_ERR);
			if (cap_on(r->s))
				eng_capture_nak(r, peer);
		}
		TRACE(LOG_CQE, "QP 0x%x: PSN 0x%x of QP 0x%x is out of sequence, 0x%x is expected",
		      r->dest, r->qp->next_send_psn, r->qpn, peer->next_rcv_psn);
		return ENG_SILENT;
	}
	eng_count(r->s, peer, HW_QC_DUPLICATE_REQUEST);
	if (op->kind == ENG_K_READ)
		return ENG_AGAIN;
	/* an atomic never runs twice, and only the last one's answer is kept */
	if (op->kind == ENG_K_ATOMIC) {
		if (peer->kept_psn != (HW_PSN_KEPT | r->qp->next_send_psn))
			return ENG_SILENT;
		r->was = peer->kept;
		answer_atomic(r);
		return ENG_DONE;
	}
	if (!may_be_executed(r, peer, n))
		cause_ahead(r, peer);
	else
		TRACE(LOG_CQE,
		      "QP 0x%x: PSN 0x%x of QP 0x%x is behind 0x%x: a duplicate, acknowledged and "
		      "not executed again",
		      r->dest, r->qp->next_send_psn, r->qpn, peer->next_rcv_psn);
	return ENG_DONE;
}

/* IBA 9.7.4.1.6: all packets but the last have the length of the responder's path MTU. */
static bool has_wrong_packets(const struct eng_run *r, const struct hw_qp *peer,
			      const struct eng_op *op)
{
	uint32_t own = r->qp->mtu, theirs = peer->mtu;

	if (__builtin_expect(own == theirs, 1) || !own || !theirs || r->transport->streams ||
	    (op->kind != ENG_K_SEND && op->kind != ENG_K_WRITE))
		return false;
	return r->local.len > (own < theirs ? own : theirs);
}

/* Cards count requests that a key refuses, and not those that the QP does not allow. */
static bool came_to_its_key(const struct eng_run *r, enum eng_out out)
{
	return out == ENG_DONE ||
	       (out == ENG_FAILED && eng_failures[r->why].syndrome == CQE_SYND_REMOTE_ACCESS);
}

/* The PSNs of a message that failed behind r->part packets. Nobody answers a UC requester. */
static void count_part(struct eng_run *r, struct hw_qp *peer)
{
	uint32_t psn = (r->qp->next_send_psn + r->part) & PSN_MASK;

	resp_set_psn(peer, psn);
	if (eng_acks(r->transport) || r->why == ENG_W_LOCAL_FAULT)
		r->qp->next_send_psn = psn;
}

static enum eng_out rc_request(struct eng_run *r, struct hw_qp *peer, const struct eng_op *op)
{
	const struct eng_transport *t = r->transport;
	uint32_t n = eng_npkts(r->local.len, r->qp->mtu);
	uint32_t psn, ahead;
	enum eng_out out;

	if (__builtin_expect(r->qp->psn_owed, 0) && !pay_psn(r, peer))
		return ENG_LOCKED;
	ahead = (r->qp->next_send_psn - peer->next_rcv_psn) & PSN_MASK;
	if (__builtin_expect(ahead && t->psn, 0)) {
		out = out_of_sequence(r, peer, op, n, ahead);
		if (out == ENG_DONE)
			r->qp->next_send_psn = (r->qp->next_send_psn + n) & PSN_MASK;
		if (out != ENG_AGAIN)
			return out;
	}
	if (__builtin_expect(has_wrong_packets(r, peer, op), 0))
		return eng_acks(t) ? rc_refuse(r, peer, ENG_W_REMOTE_MTU, IBV_EVENT_QP_REQ_ERR)
				   : ENG_SILENT;
	resp_aim(r, peer);
	if (t->names_srq && !xrc_aim(r, peer))
		return rc_refuse(r, peer, ENG_W_XRC_SRQ, IBV_EVENT_QP_REQ_ERR);
	out = perform(r, peer, op);
	if (__builtin_expect(out == ENG_FAILED && r->part, 0))
		count_part(r, peer);
	if (out == ENG_RNR)
		eng_count(r->s, peer, HW_QC_OUT_OF_BUFFER);
	if (op->kind != ENG_K_SEND && came_to_its_key(r, out))
		eng_count(r->s, peer,
			  op->kind == ENG_K_WRITE  ? HW_QC_RX_WRITE_REQUESTS
			  : op->kind == ENG_K_READ ? HW_QC_RX_READ_REQUESTS
						   : HW_QC_RX_ATOMIC_REQUESTS);
	if (out != ENG_DONE)
		return out;
	if (__builtin_expect(atomic_load_explicit(&peer->state, memory_order_relaxed) ==
				     PRM_QP_STATE_RTR,
			     0) &&
	    !peer->comm_est)
		qp_comm_est(r->s, peer, r->dest);
	psn = (r->qp->next_send_psn + n) & PSN_MASK;
	if ((!ahead || !t->psn) && __builtin_expect(!r->land, 1) && !resp_set_psn(peer, psn) &&
	    t->psn)
		set_psn_late(r, peer, psn);
	r->qp->next_send_psn = psn;
	way_count_answer(r, op, peer);
	return ENG_DONE;
}

/* 0 in the QPC (left out by a DEVX program) means the device's limit. */
static uint64_t max_message(const struct hw_qp *qp)
{
	uint64_t log = LAYOUT_GET(qpc, qp->qpc, log_msg_max);

	return UINT64_C(1) << (log ? log : ENG_LOG_MAX_MSG);
}

/* Space in the data segments for an answer; their keys are not checked yet. */
static enum eng_why scatter_length(struct eng_run *r, uint32_t off)
{
	sgl_init(&r->local);
	for (r->scatter = off; off < r->bytes; off += WQE_SEG) {
		if (LAYOUT_GET(wqe_data, r->wqe + off, inline_seg))
			return ENG_W_WQE_MALFORMED;
		r->local.len += wqe_data_len(r->wqe + off);
	}
	return ENG_W_NONE;
}

static bool local_fits(struct eng_run *r, uint64_t len, const void *off)
{
	return !sgl_from_wqe(r, *(const uint32_t *)off, HW_ACC_LOCAL_READ, len);
}

/* The requester fails at a key of its own, behind the packets that do not need it. */
static __attribute__((noinline)) enum eng_why cut_local(struct eng_run *r, uint32_t off,
							enum eng_why why)
{
	uint32_t n;

	if (why != ENG_W_LKEY && why != ENG_W_LKEY_ACCESS && why != ENG_W_LKEY_RANGE)
		return why;
	n = part_fitting(r, part_message(r, off), local_fits, &off);
	if (!n)
		return why;
	sgl_trim(&r->local, part_bytes(r, n));
	r->cut = why;
	return ENG_W_NONE;
}

/*
 * The requester's memory, from the data segments: looked up for data that goes out; only the length
 * for data that comes in.
 */
static enum eng_why local_memory(struct eng_run *r, const struct eng_op *op)
{
	bool writes = op->kind == ENG_K_READ || op->kind == ENG_K_ATOMIC;
	uint32_t off = op->kind == ENG_K_SEND ? r->hdr : r->hdr + WQE_SEG;
	enum eng_why why;

	r->late = ENG_W_NONE;

	if (op->kind == ENG_K_ATOMIC)
		off = atomic_parse(r);
	if (!off || r->bytes < off)
		return ENG_W_WQE_MALFORMED;
	why = writes ? scatter_length(r, off) : sgl_from_wqe(r, off, HW_ACC_LOCAL_READ, UINT64_MAX);
	if (why)
		return writes ? why : cut_local(r, off, why);
	if (op->kind == ENG_K_ATOMIC) {
		if (r->local.len < r->atomic.size)
			return ENG_W_ATOMIC_LENGTH;
		r->local.len = r->atomic.size;
		return ENG_W_NONE;
	}
	if (r->local.len <= max_message(r->qp))
		return ENG_W_NONE;
	cause_note.room = max_message(r->qp);
	return ENG_W_LENGTH;
}

static bool was_answered(const struct eng_transport *t, enum eng_out out)
{
	return eng_acks(t) && (out == ENG_DONE || out == ENG_RNR || out == ENG_FAILED);
}

enum eng_out rc_execute(struct eng_run *r)
{
	const struct eng_transport *t = r->transport;
	const struct eng_op *op = eng_op(r->opcode);
	struct hw_qp *peer;
	struct fab_pkts pkts;
	enum eng_out out = ENG_SILENT;
	uint32_t port, psn, n;

	r->hdr = eng_wqe_header(r);
	r->cut = ENG_W_NONE;
	r->part = 0;
	r->why = r->hdr ? local_memory(r, op) : ENG_W_WQE_MALFORMED;
	if (r->why)
		return ENG_FAILED;
	psn = r->qp->next_send_psn;
	n = eng_npkts(r->local.len, r->qp->mtu);
	peer = r->sender->peer(r, &port);
	if (cap_on(r->s))
		eng_capture_request(r, op);
	if (__builtin_expect(r->land && r->land < n, 0)) {
		sgl_trim(&r->local, part_bytes(r, r->land));
		r->cut = ENG_W_RETRY;
	}
	way_request(r, op, &pkts);
	if (peer && fab_path_passes(r->s, &r->path, &pkts) && __builtin_expect(!r->lost, 1)) {
		int rc = resp_lock(r->s, peer, r->dest);

		out = resp_not_locked(rc);
		if (!rc) {
			out = r->sender->accepts(r, peer, port) &&
					      (!eng_acks(t) || r->sender->back(r, peer, port))
				      ? rc_request(r, peer, op)
				      : ENG_SILENT;
			if (__builtin_expect(mig_is_busy(r->qp), 0) && was_answered(t, out))
				mig_answer(r, peer);
			if (cap_on(r->s))
				eng_capture_answer(r, op, peer, psn, r->cut ? ENG_SILENT : out);
			resp_unlock(r->s, peer);
		}
	}
	if (out != ENG_LOCKED && out != ENG_AGAIN && out != ENG_GONE &&
	    (out != ENG_FAILED || r->why != ENG_W_LOCAL_FAULT))
		fab_path_count(r->s, &r->path, &pkts);
	if (__builtin_expect(r->cut, 0)) {
		if (out == ENG_LOCKED || out == ENG_AGAIN || out == ENG_GONE)
			return out;
		r->qp->next_send_psn = (psn + n) & PSN_MASK;
		if (r->land && !eng_acks(t))
			return ENG_DONE;
		if (r->land) {
			r->qp->next_send_psn = psn;
			return ENG_SILENT;
		}
		r->why = r->cut;
		out = ENG_FAILED;
	} else if ((out == ENG_DONE || out == ENG_FAILED) && r->late) {
		r->why = r->late;
		out = ENG_FAILED;
	} else if (out == ENG_DONE) {
		r->byte_cnt = (uint32_t)r->local.len;
	} else if (!eng_acks(t) && out != ENG_AGAIN &&
		   (out != ENG_LOCKED || park_patience_ends(r->s, r->qp, peer)) &&
		   (out != ENG_FAILED || r->why != ENG_W_LOCAL_FAULT)) {
		/* An unacknowledged requester gets no answer. */
		cause_dropped(r, &(struct cause_to){0}, out);
		r->qp->next_send_psn = (r->qp->next_send_psn + n) & PSN_MASK;
		out = ENG_DONE;
	}
	return out;
}
