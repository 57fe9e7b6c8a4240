/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Small functions on a QP's fields for the engine's files. Not in base.h, which does not need the
 * fields.
 */
#ifndef SOFTHCA_ENGINE_QP_H
#define SOFTHCA_ENGINE_QP_H

#include "engine/base/base.h"
#include "hw/qctr.h"
#include "hw/qp.h"
#include "wire/prm/qp.h"

/* Count in the set of Q counters that a QP names, if any. */
static inline void eng_count(const struct seg *s, const struct hw_qp *qp, enum hw_qc what)
{
	struct hw_qctr *c = qp->qctr ? hw_qctr(s, qp->qctr) : NULL;

	if (c)
		atomic_fetch_add_explicit(&c->n[what], 1, memory_order_relaxed);
}

/* hw_qp.fault: the WQE that is decided (tx/fault.c); its index is in the low 16 bits. */
#define ENG_DECIDED 0x80000000u
/* hw_qp.fault_vendor: of the completion with this reason; `recv`: of the receive's. */
#define ENG_VENDOR_ERR(why, recv, vendor) \
	((uint32_t)(why) << 16 | ((recv) ? 0x200u : 0) | 0x100u | (vendor))

/* The error completion of a WQE of `qp`, or of the receive that its message took. */
static inline void eng_set_vendor_err(struct eng_cqe *c, const struct hw_qp *qp, uint32_t ci,
				      bool recv)
{
	uint32_t v = qp->fault_vendor;

	if (v && v >> 8 == ENG_VENDOR_ERR(c->why, recv, 0) >> 8 && qp->fault & ENG_DECIDED &&
	    !((qp->fault ^ ci) & 0xffff))
		LAYOUT_SET(err_cqe, c->b, vendor_err, v & 0xff);
}

/* The QPC's copy of one of the QP's paths. */
static inline const void *way_ads(const struct hw_qp *qp, const struct hw_qp_path *w)
{
	return w == &qp->path[0] ? LAYOUT_IN(qpc, primary_address_path, qp->qpc)
				 : LAYOUT_IN(qpc, secondary_address_path, qp->qpc);
}

static inline void *way_ads_of(struct hw_qp *qp, bool second)
{
	return second ? LAYOUT_IN(qpc, secondary_address_path, qp->qpc)
		      : LAYOUT_IN(qpc, primary_address_path, qp->qpc);
}

static inline bool mig_is_busy(const struct hw_qp *qp)
{
	return atomic_load_explicit(&qp->mig, memory_order_relaxed) & HW_MIG_BUSY;
}

/*
 * BTH:MigReq of packets that were sent on path `w`. If the QP has migrated since, it was armed when
 * it sent them.
 */
static inline bool mig_requests(const struct hw_qp *qp, const struct hw_qp_path *w)
{
	uint64_t mig = atomic_load_explicit(&qp->mig, memory_order_relaxed);

	return !(mig & HW_MIG_STATE) && w == &qp->path[!!(mig & HW_MIG_PATH)];
}

/* Does this QP take requests now? */
static inline bool qp_receives(const struct hw_qp *qp)
{
	uint32_t st = atomic_load_explicit(&qp->state, memory_order_acquire);

	return st == PRM_QP_STATE_RTR || st == PRM_QP_STATE_RTS || st == PRM_QP_STATE_SQD ||
	       st == PRM_QP_STATE_SQER;
}

/* Under sq_lock: the requester's own completion for a message is written, or will not come. */
static inline void ack_end(struct hw_qp *qp)
{
	uint32_t seq = atomic_load_explicit(&qp->ack_seq, memory_order_relaxed);

	/* A responder that gives up waiting may store the same value at the same time: harmless. */
	if (seq & 1)
		atomic_store_explicit(&qp->ack_seq, seq + 1, memory_order_release);
}

static inline void resp_aim(struct eng_run *r, const struct hw_qp *qp)
{
	r->to = (struct eng_target){qp->srqn, qp->cqn_rcv, qp->pdn, qp->user_index};
}

/* Fill in a CQE of this QP, except for fields that only some opcodes have. */
static inline void cqe_init(struct eng_cqe *c, uint32_t opcode, const struct hw_qp *qp,
			    uint32_t qpn, uint32_t wqe_counter)
{
	memset(c->b, 0, sizeof(c->b));
	c->why = ENG_W_NONE;
	LAYOUT_SET(cqe64, c->b, srqn_uidx, qp->user_index & 0xffffff);
	LAYOUT_SET(cqe64, c->b, timestamp, eng_clock());
	LAYOUT_SET(cqe64, c->b, qpn, qpn);
	LAYOUT_SET(cqe64, c->b, wqe_counter, wqe_counter & 0xffff);
	LAYOUT_SET(cqe64, c->b, opcode, opcode);
}

/* rouse.c */
void park_qp(struct seg *s, struct hw_qp *qp, enum hw_park why, uint64_t deadline);

#endif
