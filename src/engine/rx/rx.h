/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The responder: its lock (resp_lock.c), its receives (resp.c, srq.c), what a message does there
 * (msg.c, part.c), the failure and the flush of a QP (flush.c). tm.h has tag matching.
 */
#ifndef SOFTHCA_ENGINE_RX_H
#define SOFTHCA_ENGINE_RX_H

#include "engine/path/path.h"

struct hw_srq;

/*
 * part.c: a message of several packets fails, and the whole packets before the failure have landed,
 * as cards show (k x PMTU bytes, and the PSNs of both ends say how many). part_bytes(): the length
 * of that many. part_fitting(): how many packets of a message of `len` bytes, fewer than all, have
 * memory that `fits` accepts; it was called last for these. part_message(): the length that the
 * data segments from byte `off` on say. part_copied(): how many a copy that has failed with -EFAULT
 * had done. part_pass_sent(): moves the QP's PSN past the packets of all WQEs up to the last
 * doorbell, which a requester without answers has sent.
 */
typedef bool eng_fits(struct eng_run *r, uint64_t len, const void *arg);
uint64_t part_bytes(const struct eng_run *r, uint32_t n);
uint32_t part_fitting(struct eng_run *r, uint64_t len, eng_fits *fits, const void *arg);
uint64_t part_message(const struct eng_run *r, uint32_t off);
uint32_t part_copied(const struct eng_run *r);
void part_pass_sent(struct seg *s, struct hw_qp *qp, uint32_t qpn);

/*
 * resp_lock.c. resp_lock(): 0; -ETIMEDOUT; -ECANCELED: this thread's gate is shut, so ENG_AGAIN.
 * _ctrl: for commands, waits like seg_lock() with `ns`. Threads without the lock must expect the
 * words to change.
 */
int resp_lock(struct seg *s, struct hw_qp *qp, uint32_t qpn);
int resp_lock_ctrl(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint64_t ns);
static inline enum eng_out resp_not_locked(int rc)
{
	return rc == -ECANCELED ? ENG_AGAIN : ENG_LOCKED;
}

/* resp_unlock_pending() does not clear rx_intent. */
void resp_unlock(struct seg *s, struct hw_qp *qp);
void resp_unlock_pending(struct seg *s, struct hw_qp *qp);
/*
 * A dead process held a QP's responder, or an SRQ: count the receive that it completed, if it is
 * not counted. resp_adopt(): false: it could not be done now.
 */
bool resp_adopt(struct seg *s, struct hw_qp *qp, uint32_t qpn);
/*
 * The device thread calls this: repairs the SRQ if its lock's holder has died, else checks the
 * limit if that was asked for. False: the limit is still to be checked.
 */
bool srq_adopt(struct seg *s, struct hw_srq *srq, uint32_t srqn);
/* Move the SRQ past the WQE that the QP has noted as taken, before anybody else uses the SRQ. */
void srq_settle(struct seg *s, const struct hw_qp *qp);
/* Fetch the next WQE of the SRQ r->to.srqn; results as of resp_fetch(). */
int srq_fetch(struct eng_run *r, struct hw_qp *qp, struct eng_recv *rv);
/* Return the SRQ WQE that was taken for this QP to its queue. */
void resp_return_srq(struct seg *s, struct hw_qp *qp);
/* The same on the data path. False: not now, and the WQE is still taken. */
bool srq_return(struct seg *s, struct hw_qp *qp);
/* Under rq_lock: a message came in RTR, so raise COMM_EST. */
void qp_comm_est(struct seg *s, struct hw_qp *qp, uint32_t qpn);
/*
 * Fetches the next receive WQE. 0; -ENOENT: none is posted; -ETIMEDOUT; -EFAULT, -ESRCH...: its
 * memory.
 */
int resp_fetch(struct eng_run *r, struct hw_qp *qp, uint32_t qpn, struct eng_recv *rv);
/* Add the buffers of that receive to r->remote, for at most `need` bytes. */
enum eng_why resp_buffers(struct eng_run *r, const struct hw_qp *qp, uint32_t qpn,
			  const struct eng_recv *rv, uint64_t need);
/* Copy r->local to r->remote and complete the receive with `c`. */
enum eng_out resp_complete(struct eng_run *r, struct hw_qp *qp, uint32_t qpn,
			   const struct eng_recv *rv, struct eng_cqe *c);
/* The receive itself is in error (its keys, its length): both ends get an error. */
enum eng_out resp_recv_error(struct eng_run *r, struct hw_qp *qp, uint32_t qpn,
			     const struct eng_recv *rv, enum eng_why why);
/* The responder fails: ERR, async event (-1: none), flush. */
bool resp_fail(struct seg *s, struct hw_qp *qp, uint32_t qpn, int ib_event_type);
/*
 * Translates the error of a mem_* call between r->local and r->remote: ENG_FAILED with r->why
 * ENG_W_LOCAL_FAULT, ENG_W_REMOTE_FAULT or _REFUSED; or ENG_SILENT.
 */
enum eng_out resp_copy_failed(struct eng_run *r, int rc);
/*
 * msg.c. rc_receive(): a receive of r->to is consumed by a SEND, or by a WRITE with immediate.
 * rc_recv_cqe(): its CQE.
 */
enum eng_out rc_receive(struct eng_run *r, struct hw_qp *peer, const struct eng_op *op);
void rc_recv_cqe(struct eng_run *r, const struct hw_qp *peer, const struct eng_op *op,
		 const struct eng_recv *rv, struct eng_cqe *c);
/* The peer refuses the request: its QP enters ERR, and the requester gets the reason. */
enum eng_out rc_refuse(struct eng_run *r, struct hw_qp *peer, enum eng_why why, int event);
/*
 * The memory of the request's rkey to r->remote: r->local.len bytes, or the reason for a refusal.
 * _memory: if the key is refused, the packets that it allows have come before, by `copy`:
 * rc_write() copies r->local there.
 */
enum eng_why rc_remote_key(struct eng_run *r, uint32_t access);
enum eng_out rc_remote_memory(struct eng_run *r, struct hw_qp *peer, uint32_t access,
			      int (*copy)(struct eng_run *r));
int rc_write(struct eng_run *r);
/* The outcome for that result of a copy to or from the peer. */
enum eng_out rc_copied(struct eng_run *r, struct hw_qp *peer, int rc);
/*
 * A message with a wrong access key came to a DCT: notes and raises the event, if it is armed.
 * _resume: finishes the event that a dead holder of the lock has begun.
 */
void dc_key_event(struct seg *s, struct hw_qp *dct, uint32_t dctn);
void dc_key_event_resume(struct seg *s, struct hw_qp *dct, uint32_t dctn);
/*
 * The QP is parked for RNR, and its device thread does not know. Sends the message if the receiver
 * posts soon and others want this processor meanwhile, by calling `retry`; else leaves it to the
 * device thread.
 */
void ready_await(struct seg *s, const struct hw_qp *qp, uint32_t qpn,
		 void (*retry)(struct seg *s, uint32_t qpn));
/* Receives are posted: wakes a thread that waits for that. */
void ready_tell(struct hw_srq *srq);
/* Enter ERR unless the QP is already in ERR or below RTR. True: the caller made the change. */
bool qp_enter_err(struct hw_qp *qp, enum prm_qp_state to);

/*
 * The same, and note what must follow: the flush of both queues, for which the device thread is
 * woken, and the event (or QP_QUIET). `note`: hw_qp.sq_fail under sq_lock, rx_fail under rq_lock.
 * _resume: finish what a dead holder of that lock left.
 */
enum { QP_QUIET = -1 };
static inline uint32_t qp_fail_note(int ib_event_type)
{
	return (uint32_t)(ib_event_type + 2);
}
bool qp_fail(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t *note, int ib_event_type);
void qp_fail_resume(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t *note);

/*
 * Under sq_lock, in ERR: the WQEBBs whose completions are due, 0 where the doorbell record is
 * behind them. 0 or a mem_* error.
 */
int sq_flushable(struct seg *s, const struct hw_qp *qp, uint32_t *n);
/* Under sq_lock: write WR_FLUSH_ERR for every posted send WQE. False: not finished, parked. */
bool sq_flush(struct seg *s, struct hw_qp *qp, uint32_t qpn);
/* Counts the error completion of a send that was not executed. */
void sq_count_flushed(struct seg *s, const struct hw_qp *qp, enum eng_why why);
/* Under rq_lock: the same for receives, or raise LAST_WQE_REACHED. */
bool rq_flush(struct seg *s, struct hw_qp *qp, uint32_t qpn);
/* The same, taking rq_lock; pending if the lock cannot be taken. */
void rq_flush_locking(struct seg *s, struct hw_qp *qp, uint32_t qpn);
/* The last holder of sq_lock died: the QP fails. */
void sq_inherited(struct seg *s, struct hw_qp *qp, uint32_t qpn);

#endif
