/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * XRC: the part of the responder that depends on the SRQ of a request. Called by rc.c under the
 * responder's rq_lock, and by the firmware before an XRC SRQ is freed.
 */
#include "engine/tx/tx.h"
#include "engine/base/words.h"
#include "engine/base/transport.h"
#include "hw/flags.h"
#include "hw/qp_state.h"
#include "hw/srq.h"

/*
 * A request uses no queue, CQ or protection domain of the target QP: all of them are the SRQ's
 * (IBTA annex A14: R_Keys are checked against the SRQ's domain, too).
 */
bool xrc_aim(struct eng_run *r, const struct hw_qp *peer)
{
	uint32_t srqn = LAYOUT_GET32(wqe_xrc, r->wqe + WQE_SEG, xrc_srqn);
	const struct hw_srq *srq;

	/* Stored before the keys are read, so that eng_mkey_quiesce() sees it. */
	atomic_store(&r->qp->xrc_srqn, srqn);
	srq = hw_srq(r->s, srqn);
	if (!srq || !hw_in_service(&srq->flags) || srq->type != HW_SRQ_XRC ||
	    srq->xrcd != peer->xrcd || srq->hca != peer->hca)
		return false;
	r->to = (struct eng_target){srqn, srq->cqn, srq->pdn, srq->user_index};
	return true;
}

/* An initiator has no XRC domain and receives nothing. */
bool xrc_accepts(struct eng_run *r, struct hw_qp *peer, uint32_t port)
{
	return peer->xrcd && rc_accepts(r, peer, port);
}

/*
 * The SRQ is not ready any more, so no new request finds it; wait for those that have found it.
 * Forget a receive taken for a message that will be sent again.
 */
int eng_srq_quiesce(struct seg *s, uint32_t srqn)
{
	const struct hw_srq *srq = hw_srq(s, srqn);

	if (!srq || srq->type != HW_SRQ_XRC)
		return 0;
	atomic_thread_fence(memory_order_seq_cst);
	seg_for_each_live (s, SEG_T_QP, i) {
		struct hw_qp *qp = seg_at(s, SEG_T_QP, i);
		int rc;

		if (!eng_transport(qp)->names_srq || qp->xrcd != srq->xrcd)
			continue;
		rc = resp_lock_ctrl(s, qp, i, SEG_LOCK_CTRL_NS);
		if (rc)
			return rc;
		if (resp_noted() && resp_noted_srqn() == srqn)
			resp_note(qp, 0, srqn);
		resp_unlock_pending(s, qp);
	}
	cq_flush(s, srq->cqn);
	return 0;
}
