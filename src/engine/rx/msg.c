/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A message at its responder: the memory that it names there, and the receive that a SEND or a
 * WRITE with immediate consumes. Called by rc.c, and for tag matching by tm.c and fin.c, in the
 * requester's thread under the responder's rq_lock.
 */
#include "engine/rx/rx.h"
#include "engine/path/cause.h"
#include "engine/path/link.h"
#include "engine/rx/tm.h"
#include "engine/base/transport.h"
#include "hw/mkey.h"
#include "hw/port.h"
#include "hw/qctr.h"
#include "hw/qp_state.h"
#include "wire/wqe/tm.h"

#include <errno.h>
#include <infiniband/verbs.h>

/* The peer refuses the request: its QP enters ERR, and the requester gets the reason. */
enum eng_out rc_refuse(struct eng_run *r, struct hw_qp *peer, enum eng_why why, int event)
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

enum eng_why rc_remote_key(struct eng_run *r, uint32_t access)
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

enum eng_out rc_copied(struct eng_run *r, struct hw_qp *peer, int rc)
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

int rc_write(struct eng_run *r)
{
	return sgl_copy_gated(r, &r->remote, &r->local);
}

/*
 * The memory of the request's rkey to r->remote. If the key is refused, the packets that it allows
 * have come before.
 */
enum eng_out rc_remote_memory(struct eng_run *r, struct hw_qp *peer, uint32_t access,
			      int (*copy)(struct eng_run *r))
{
	enum eng_why why = rc_remote_key(r, access);
	uint32_t n;
	int rc;

	if (!why)
		return ENG_DONE;
	n = part_fitting(r, r->local.len, remote_fits, &access);
	if (n) {
		sgl_trim(&r->local, part_bytes(r, n));
		r->local.len = part_bytes(r, n); /* of an answer only the length is known */
		rc = copy(r);
		if (rc)
			return rc_copied(r, peer, rc);
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
		out = rc_remote_memory(r, peer, HW_ACC_REMOTE_WRITE, rc_write);
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
	why = several ? ENG_W_NONE : rc_remote_key(r, HW_ACC_REMOTE_WRITE);
	return why ? refuse_received(r, peer, &rv, why) : rc_deliver(r, peer, op, &rv);
}
