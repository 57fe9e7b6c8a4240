/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Connected transports, RC and UC: moves one message from the requester's memory to the responder's
 * (or back, for READ), and handles the acknowledgement that the wire would have carried. Called by
 * sq.c with the requester's sq_lock held; takes the responder's rq_lock.
 */
#include "engine/cause.h"
#include "engine/link.h"
#include "engine/priv.h"
#include "engine/tm.h"
#include "engine/transport.h"
#include "fabric/fabric.h"
#include "hw/mkey.h"
#include "hw/port.h"
#include "hw/qctr.h"
#include "hw/qp_state.h"
#include "hw/cap.h"
#include "wire/prm/qp.h"
#include "wire/wqe/tm.h"

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

/* The peer refuses the request: its QP enters ERR, and the requester gets the reason. */
static enum eng_out rc_refuse(struct eng_run *r, struct hw_qp *peer, enum eng_why why, int event)
{
	r->why = why;
	cause_refused(r, why); /* before the flushes that follow from it */
	/*
	 * UC drops it: check_op_valid() and RESPST_ERR_RKEY_VIOLATION of rxe_resp.c, rvt_rkey_ok()
	 * in hfi1_uc_rcv().
	 */
	if ((eng_acks(r->transport) || event == IBV_EVENT_QP_FATAL) &&
	    !resp_fail(r->s, peer, r->dest, event))
		return ENG_AGAIN;
	return ENG_FAILED;
}

/*
 * Add the first `len` bytes of the memory of the request's rkey to r->remote, or return the reason
 * for a refusal.
 */
static enum eng_why remote_key_to(struct eng_run *r, uint32_t access, uint64_t len)
{
	const uint8_t *ra = r->wqe + r->hdr;
	enum eng_why why;

	sgl_init(&r->remote);
	if (!len) /* the keys of empty messages are not checked */
		return ENG_W_NONE;
	why = sgl_add_key(r->s, &r->remote, LAYOUT_GET32(wqe_raddr, ra, rkey),
			  LAYOUT_GET(wqe_raddr, ra, va), len, r->to.pdn, r->dest, access);
	return !why                       ? ENG_W_NONE
	       : why == ENG_W_LKEY_ACCESS ? ENG_W_RKEY_ACCESS
	       : why == ENG_W_LKEY_RANGE  ? ENG_W_RKEY_RANGE
					  : ENG_W_RKEY;
}

static enum eng_why remote_key(struct eng_run *r, uint32_t access)
{
	return remote_key_to(r, access, r->local.len);
}

static bool remote_fits(struct eng_run *r, uint64_t len, const void *access)
{
	return !remote_key_to(r, *(const uint32_t *)access, len);
}

/*
 * The target's process has ended. Its objects go after its memory, the newest first (fw/reap.c): is
 * the key one that goes before the QP?
 */
static bool key_has_gone(const struct eng_run *r, const struct hw_qp *peer)
{
	const struct hw_mkey *mk = hw_mkey(r->s, LAYOUT_GET32(wqe_raddr, r->wqe + r->hdr, rkey));

	return mk && mk->born > peer->born;
}

static enum eng_out copied(struct eng_run *r, struct hw_qp *peer, int rc)
{
	enum eng_out out;

	if (!rc)
		return ENG_DONE;
	if (rc == -ESRCH && key_has_gone(r, peer))
		return rc_refuse(r, peer, ENG_W_RKEY, IBV_EVENT_QP_ACCESS_ERR);
	out = resp_copy_failed(r, rc);
	if (out == ENG_FAILED && r->why == ENG_W_REMOTE_FAULT)
		return rc_refuse(r, peer, r->why, IBV_EVENT_QP_ACCESS_ERR);
	return out;
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
		remote_key(r, HW_ACC_REMOTE_READ);
	return rc;
}

/*
 * The memory of the request's rkey to r->remote. If the key is refused, the packets that it allows
 * have come before.
 */
static enum eng_out remote_memory(struct eng_run *r, struct hw_qp *peer, uint32_t access)
{
	enum eng_why why = remote_key(r, access);
	uint32_t n;
	int rc;

	if (!why)
		return ENG_DONE;
	n = part_fitting(r, r->local.len, remote_fits, &access);
	if (n) {
		sgl_trim(&r->local, part_bytes(r, n));
		r->local.len = part_bytes(r, n); /* of an answer only the length is known */
		rc = access == HW_ACC_REMOTE_READ ? scatter(r)
						  : sgl_copy_gated(r, &r->remote, &r->local);
		if (rc)
			return copied(r, peer, rc);
		r->part = n;
	}
	return rc_refuse(r, peer, why, IBV_EVENT_QP_ACCESS_ERR);
}

void rc_recv_cqe(struct eng_run *r, const struct hw_qp *peer, const struct eng_op *op,
		 const struct eng_recv *rv, struct eng_cqe *c)
{
	const struct hw_port *at = hw_port(r->s, r->theirs->port);
	/* A FIN comes to r->qp. */
	const struct hw_qp *from = peer == r->qp ? seg_at(r->s, SEG_T_QP, r->qpn) : r->qp;

	cqe_init(c, op->cqe, peer, r->dest, rv->index);
	r->link->cqe(r, at, way_path_bits(from, r->own), r->path.dlid, r->own->sl & 0xf, c->b);
	LAYOUT_SET(cqe64, c->b, rqpn, r->qpn);
	LAYOUT_SET(cqe64, c->b, byte_cnt, r->local.len);
	LAYOUT_SET(cqe64, c->b, se, r->se);
	if (op->imm)
		LAYOUT_SET(cqe64, c->b, imm_inval_pkey, r->imm);
	if (r->app_op) {
		LAYOUT_SET(cqe64, c->b, app, CQE_APP_TAG_MATCHING);
		LAYOUT_SET(cqe64, c->b, app_op, r->app_op);
	}
}

/*
 * The peer refuses a WRITE with immediate after fetching the receive: the receive completes with
 * Local Access Error (its meaning in IBA 11.6.2), without an event.
 */
static enum eng_out refuse_received(struct eng_run *r, struct hw_qp *peer,
				    const struct eng_recv *rv, enum eng_why why)
{
	enum eng_out out = resp_recv_error(r, peer, r->dest, rv, ENG_W_RECV_ACCESS);

	if (out == ENG_FAILED)
		r->why = why;
	return out;
}

/*
 * Scatter to CQE: the payload of a short SEND goes into its CQE, and the receive's memory stays as
 * it is. Not in tag matching, where the fields that it would replace have a meaning, and not where
 * memory's signatures must be made (inferred).
 */
static void aim_at_cqe(struct eng_run *r, const struct hw_qp *peer, const struct eng_op *op,
		       struct eng_cqe *c)
{
	uint32_t format = op->kind == ENG_K_SEND
				  ? cq_data_format(r->s, r->to.cqn, peer->resp_data, r->local.len)
				  : CQE_FORMAT_NO_DATA;

	if (!format || r->app_op || r->remote.sig)
		return;
	sgl_init(&r->remote);
	sgl_add(&r->remote, mem_self(r->s), (uintptr_t)cqe_data(c, format), r->local.len);
}

/* Write the payload and the CQE of a receive. */
static enum eng_out rc_deliver(struct eng_run *r, struct hw_qp *peer, const struct eng_op *op,
			       const struct eng_recv *rv)
{
	struct eng_cqe c;
	enum eng_out out;

	rc_recv_cqe(r, peer, op, rv, &c);
	aim_at_cqe(r, peer, op, &c);
	out = resp_complete(r, peer, r->dest, rv, &c);
	if (out != ENG_FAILED || r->why != ENG_W_REMOTE_FAULT)
		return out;
	if (op->kind == ENG_K_SEND)
		return resp_recv_error(r, peer, r->dest, rv, ENG_W_LOCAL_FAULT);
	return refuse_received(r, peer, rv, r->why);
}

/*
 * SEND with invalidate: copies the payload, invalidates the key and, when the key has no users,
 * completes. A key that cannot be invalidated is an error of the responder only (IBA 9.9.6.3, class
 * J): the message is in memory, the receive and its QP fail, and there is neither ACK nor NAK, as
 * rdma-unit-test expects of mlx5 (SendWithInvalidateBadRkey). A DCT does not fail, and would take
 * the repeated message again.
 */
static enum eng_out receive_and_invalidate(struct eng_run *r, struct hw_qp *peer,
					   const struct eng_op *op, const struct eng_recv *rv)
{
	uint64_t len = r->local.len;
	enum eng_out out;
	struct eng_cqe c;
	int rc;

	rc_recv_cqe(r, peer, op, rv, &c);
	if (umr_may_invalidate(r)) /* a CQE with error has no payload */
		aim_at_cqe(r, peer, op, &c);
	rc = sgl_copy_gated(r, &r->remote, &r->local);
	out = rc ? resp_copy_failed(r, rc) : ENG_DONE;
	if (out == ENG_FAILED && r->why == ENG_W_REMOTE_FAULT)
		return resp_recv_error(r, peer, r->dest, rv, ENG_W_LOCAL_FAULT);
	if (out == ENG_DONE && !umr_may_invalidate(r)) {
		out = resp_recv_error(r, peer, r->dest, rv, ENG_W_RECV_INVALIDATE);
		return out != ENG_FAILED ? out : eng_transport(peer)->stays ? ENG_DONE : ENG_SILENT;
	}
	if (out == ENG_DONE)
		out = umr_invalidate(r);
	if (out != ENG_DONE)
		return out;
	r->local.len = 0; /* the payload is copied already */
	out = resp_complete(r, peer, r->dest, rv, &c);
	r->local.len = len;
	return out;
}

struct receive {
	const struct hw_qp *peer;
	const struct eng_recv *rv;
};

static bool receive_fits(struct eng_run *r, uint64_t len, const void *arg)
{
	const struct receive *x = arg;

	return !resp_buffers(r, x->peer, r->dest, x->rv, len);
}

/* The first `n` packets of a SEND come into the receive's buffers. */
static enum eng_out receive_part(struct eng_run *r, struct hw_qp *peer, const struct eng_recv *rv,
				 uint32_t n)
{
	enum eng_out out;
	int rc;

	sgl_trim(&r->local, part_bytes(r, n));
	rc = sgl_copy_gated(r, &r->remote, &r->local);
	out = rc ? resp_copy_failed(r, rc) : ENG_DONE;
	if (out == ENG_FAILED && r->why == ENG_W_REMOTE_FAULT)
		return resp_recv_error(r, peer, r->dest, rv, ENG_W_LOCAL_FAULT);
	return out;
}

static enum eng_out receive_send(struct eng_run *r, struct hw_qp *peer, const struct eng_op *op,
				 const struct eng_recv *rv)
{
	enum eng_why why = resp_buffers(r, peer, r->dest, rv, r->local.len);
	enum eng_out out;
	uint32_t n;

	/* UC drops a message that is too long, as ud.c's deliver() drops a datagram. */
	if (why == ENG_W_RECV_LENGTH && !eng_acks(r->transport) && !rv->from_srq) {
		eng_count(r->s, peer, HW_QC_RESP_LOCAL_LENGTH_ERROR);
		cause_note_length(r->local.len, rv);
		return ENG_SILENT;
	}
	if (why) {
		n = part_fitting(r, r->local.len, receive_fits, &(struct receive){peer, rv});
		out = n ? receive_part(r, peer, rv, n) : ENG_DONE;
		if (out != ENG_DONE)
			return out;
		r->part = n;
		return resp_recv_error(r, peer, r->dest, rv, why);
	}
	if (r->cut) /* the packet that would complete the receive does not come */
		return receive_part(r, peer, rv, eng_npkts(r->local.len, r->qp->mtu));
	return op->cqe == CQE_RESP_SEND_INV ? receive_and_invalidate(r, peer, op, rv)
					    : rc_deliver(r, peer, op, rv);
}

/* SEND and WRITE with immediate: a receive is consumed. */
enum eng_out rc_receive(struct eng_run *r, struct hw_qp *peer, const struct eng_op *op)
{
	bool writes = op->kind == ENG_K_WRITE;
	/*
	 * With several packets, the first one brings the key and the last one takes the receive, so
	 * a wrong key takes none. UC drops the message either way.
	 */
	bool several = eng_npkts(r->local.len, r->qp->mtu) > 1 || !eng_acks(r->transport);
	struct eng_recv rv;
	enum eng_why why;
	enum eng_out out;
	int rc;

	if (writes && several) {
		out = remote_memory(r, peer, HW_ACC_REMOTE_WRITE);
		if (out != ENG_DONE)
			return out;
	}
	rc = resp_fetch(r, peer, r->dest, &rv);
	if (rc == -ENOENT) {
		r->rnr_timer = peer->min_rnr_nak;
		return ENG_RNR;
	}
	if (rc == -ETIMEDOUT)
		return ENG_LOCKED;
	if (rc == -ECANCELED)
		return ENG_AGAIN;
	if (rc == -ESRCH)
		return ENG_SILENT;
	if (rc)
		return rc_refuse(r, peer, rc == -EACCES ? ENG_W_REMOTE_REFUSED : ENG_W_REMOTE_OP,
				 IBV_EVENT_QP_FATAL);
	if (!writes)
		return receive_send(r, peer, op, &rv);
	why = several ? ENG_W_NONE : remote_key(r, HW_ACC_REMOTE_WRITE);
	return why ? refuse_received(r, peer, &rv, why) : rc_deliver(r, peer, op, &rv);
}

static enum eng_out read_memory(struct eng_run *r, struct hw_qp *peer)
{
	enum eng_out out = remote_memory(r, peer, HW_ACC_REMOTE_READ);
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
	return copied(r, peer, rc);
}

static enum eng_out atomic(struct eng_run *r, struct hw_qp *peer)
{
	uint64_t va = LAYOUT_GET(wqe_raddr, r->wqe + r->hdr, va);
	enum eng_out out;
	int rc;

	if (va % r->atomic.size)
		return rc_refuse(r, peer, ENG_W_REMOTE_ALIGN, IBV_EVENT_QP_REQ_ERR);
	out = remote_memory(r, peer, HW_ACC_ATOMIC);
	if (out != ENG_DONE)
		return out;
	rc = atomic_perform(r);
	if (rc == -ETIMEDOUT)
		return ENG_LOCKED;
	if (rc == -EFAULT)
		return rc_refuse(r, peer, ENG_W_REMOTE_FAULT, IBV_EVENT_QP_ACCESS_ERR);
	if (rc)
		return copied(r, peer, rc);
	if (r->why == ENG_W_REMOTE_ALIGN)
		return rc_refuse(r, peer, r->why, IBV_EVENT_QP_REQ_ERR);
	/*
	 * The atomic must not be executed again. If keys were revoked, look up only the place for
	 * its answer.
	 */
	sgl_init(&r->remote);
	sgl_add(&r->remote, mem_self(r->s), (uintptr_t)&r->was, r->atomic.size);
	while ((rc = scatter(r)) == -ECANCELED)
		running_again(r->s, r->ring);
	if (rc)
		r->late = ENG_W_LOCAL_FAULT;
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
		out = remote_memory(r, peer, HW_ACC_REMOTE_WRITE);
		return out != ENG_DONE ? out
				       : copied(r, peer, sgl_copy_gated(r, &r->remote, &r->local));
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
		if (atomic_load(&r->qp->park) != HW_PARK_RETRY)
			eng_count(r->s, r->qp, HW_QC_PACKET_SEQ_ERR);
		TRACE(LOG_CQE, "QP 0x%x: PSN 0x%x of QP 0x%x is out of sequence, 0x%x is expected",
		      r->dest, r->qp->next_send_psn, r->qpn, peer->next_rcv_psn);
		return ENG_SILENT;
	}
	eng_count(r->s, peer, HW_QC_DUPLICATE_REQUEST);
	if (op->kind == ENG_K_READ)
		return ENG_AGAIN;
	/* the answer of an atomic is not kept, and an atomic never runs twice */
	if (op->kind == ENG_K_ATOMIC)
		return ENG_SILENT;
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
	if ((!ahead || !t->psn) && !resp_set_psn(peer, psn) && t->psn)
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
	return r->local.len > max_message(r->qp) ? ENG_W_LENGTH : ENG_W_NONE;
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
	peer = t->peer(r, &port);
	if (cap_on(r->s))
		eng_capture_request(r, op);
	way_request(r, op, &pkts);
	if (peer && fab_path_passes(r->s, &r->path, &pkts)) {
		int rc = resp_lock(r->s, peer, r->dest);

		out = resp_not_locked(rc);
		if (!rc) {
			out = t->accepts(r, peer, port) && (!eng_acks(t) || t->back(r, peer, port))
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
