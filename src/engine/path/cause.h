/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why a message did not get through, in words with values. Nothing of this runs for a message that
 * does; what only the place of a failure knows is noted there in a few words of this thread.
 */
#ifndef SOFTHCA_ENGINE_CAUSE_H
#define SOFTHCA_ENGINE_CAUSE_H

#include "engine/base/cause_text.h"
#include "engine/path/path.h"

/* The destination of a message, as its transport knows it. */
struct cause_to {
	const struct way_to *to; /* NULL: that of the connected QP */
	bool has_qkey;
	bool is_member; /* of a group, whose port the datagram has reached */
	uint32_t qkey;
};

/* A work request of r->qp fails: why, with what the engine has noted. Tells it, and keeps it for
 * its completion's trace line. */
void cause_failed(struct eng_run *r, enum eng_why why);
/* A receive of that QP fails. */
void cause_receive(struct eng_run *r, uint32_t qpn, enum eng_why why);
/* ... and its completion is written. */
void cause_received(struct eng_run *r, const struct hw_qp *qp, uint32_t qpn);
/* A message of that length does not fit the receive. */
void cause_note_length(uint64_t len, const struct eng_recv *rv);
/* The QP r->dest refuses a request. Traced only. */
void cause_refused(struct eng_run *r, enum eng_why why);
/* A message without acknowledgement has got lost, or was not taken (`out`). */
void cause_dropped(struct eng_run *r, const struct cause_to *to, enum eng_out out);
/* The peer acknowledges the request in hand as a duplicate, which it has never executed. */
void cause_ahead(struct eng_run *r, const struct hw_qp *peer);
/* A doorbell rang for work of a queue that does not send yet. */
void cause_not_ready(struct eng_run *r, uint32_t state);
/* A doorbell for this QP, or CQ, rang on another page than its context has. */
void cause_wrong_uar(struct seg *s, const struct hw_qp *qp, uint32_t qpn, uint32_t uar);
void cause_wrong_uar_cq(struct seg *s, const struct hw_cq *cq, uint32_t cqn, uint32_t uar);
/* The WQE in hand is parked, for the first time or again: a line for all times. */
void cause_parked(struct eng_run *r, enum hw_park why);
void cause_unparked(struct eng_run *r);
/* The QP is freed or reset: does its work wait for something, or could not begin? */
void cause_ended(struct seg *s, struct hw_qp *qp, uint32_t qpn, bool is_freed);
/* check: so many bytes go into that receive of the QP. Does a READ that it has not executed yet
 * fill the same memory? */
void cause_into_read(struct eng_run *r, const struct hw_qp *qp, uint32_t qpn,
		     const struct eng_recv *rv, uint64_t len);
/* The part of it that needs the program's memory. */
void cause_full(struct seg *s, const struct hw_qp *qp, uint32_t qpn);

/* "no answer: ...": why the request in hand has none, which has just been tried. */
void cause_put_silence(struct cause_text *t, struct eng_run *r);

#endif
