/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* tm.c: tag matching, for the engine's files. */
#ifndef SOFTHCA_ENGINE_TM_H
#define SOFTHCA_ENGINE_TM_H

#include "engine/priv.h"

/*
 * In a note of a taken receive (resp_note()), and in eng_recv.index: an entry of a tag list. Its
 * rendezvous owes its second completion.
 */
#define TM_NOTE 0x20000u
#define TM_SECOND 0x40000u

/* Execute a command of the list. */
enum eng_out tm_execute(struct eng_run *r);
/*
 * The CQEs of a command that was executed: a requester's and one in the XRQ's CQ, if it asks for
 * them. 0 or the result of cq_push(). *done: its answer, and which CQE is written.
 */
int tm_complete(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t ci, const uint8_t *wqe,
		uint32_t *done);

/* Has r->to an XRQ with tag matching? Then its completions go to the XRQ's CQ. */
bool tm_aim(struct eng_run *r);
/* A SEND to such a QP, after tm_aim(). */
enum eng_out tm_receive(struct eng_run *r, struct hw_qp *peer, const struct eng_op *op);
/*
 * Under rq_lock: the CQE of the message in work is written, or nobody will write it. Changes the
 * note if it names an entry.
 */
void tm_settle(struct seg *s, struct hw_qp *qp, uint32_t qpn, bool written);
/* Under rq_lock: write the second completion of a rendezvous. False: the CQ's lock is held. */
bool tm_second(struct seg *s, struct hw_qp *qp, uint32_t qpn);
/* Under sq_lock: deliver the FIN that this QP is owed (fin_owed). False: not now. */
bool tm_fin(struct eng_run *r);

#endif
