/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tag matching, for the engine's files: tm.c, tm_list.c. */
#ifndef SOFTHCA_ENGINE_TM_H
#define SOFTHCA_ENGINE_TM_H

#include "engine/rx/rx.h"
#include "engine/base/words.h"

/* ---- the list, tm_list.c */

/* The tag matching state of an SRQ; NULL: it has none. */
struct hw_tm *tm_of(const struct seg *s, uint32_t srqn);
struct hw_tm_tag *tm_tag_at(struct hw_tm *tm, uint32_t idx);
/* Claims an unexpected message for this QP. Returns the claim's index; -1: all are in use. */
int tm_claim_begin(struct hw_tm *tm, uint32_t qpn);
/*
 * Ends a claim. Between its claim and its end an unexpected message keeps new entries from being
 * matched; it is counted when its CQE is written.
 */
void tm_claim_end(struct hw_tm *tm, const struct hw_qp *qp, uint32_t k, bool written);
/* Execute a command of the list. */
enum eng_out tm_execute(struct eng_run *r);
/*
 * Writes the CQEs of an executed command: the requester's, and one in the XRQ's CQ if the command
 * asks for it. 0 or the result of cq_push(). *done: the command's result, and which CQEs are
 * written.
 */
int tm_complete(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t ci, const uint8_t *wqe,
		uint32_t *done);

/* ---- messages, tm.c */

/* Is r->to an XRQ with tag matching? Then makes completions go to the XRQ's CQ. */
bool tm_aim(struct eng_run *r);
/* Handles a SEND to an XRQ, after tm_aim(). */
enum eng_out tm_receive(struct eng_run *r, struct hw_qp *peer, const struct eng_op *op);
/*
 * Under rq_lock, when the CQE of the current message is written (`written`) or never will be:
 * settles claims, and the entry that the note names.
 */
void tm_settle(struct seg *s, struct hw_qp *qp, uint32_t qpn, bool written);
/*
 * Under rq_lock: writes the second completion of a rendezvous. False: the CQ is locked, or this
 * thread does not owe it (any more).
 */
bool tm_second(struct seg *s, struct hw_qp *qp, uint32_t qpn);

#endif
