/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The requester: sq.c fetches and dispatches WQEs and settles outcomes, rc.c and ud.c execute, dc.c
 * and xrc.c have what is special of these services, migrate.c changes paths, capture.c describes
 * packets, tries.c says when to try again.
 */
#ifndef SOFTHCA_ENGINE_TX_H
#define SOFTHCA_ENGINE_TX_H

#include "engine/rx/rx.h"

/*
 * capture.c, called while cap_on(): before a request is executed; after it, under the peer's lock;
 * for a datagram with its address vector.
 */
void eng_capture_request(struct eng_run *r, const struct eng_op *op);
void eng_capture_answer(struct eng_run *r, const struct eng_op *op, const struct hw_qp *peer,
			uint32_t psn, enum eng_out out);
/* Instead of eng_capture_answer(): a PSN sequence NAK. */
void eng_capture_nak(struct eng_run *r, const struct hw_qp *peer);
void eng_capture_ud(struct eng_run *r, const struct eng_op *op, const uint8_t *av, uint32_t qkey);
/* xrc.c: set r->to to the SRQ that the request names; false: the responder must refuse. */
bool xrc_aim(struct eng_run *r, const struct hw_qp *peer);
bool xrc_accepts(struct eng_run *r, struct hw_qp *peer, uint32_t port);
/*
 * dc.c. dc_peer(): the target that the WQE names; its answers go to the address that the request
 * came from.
 */
struct hw_qp *dc_peer(struct eng_run *r, uint32_t *port);
bool dc_accepts(struct eng_run *r, struct hw_qp *dct, uint32_t port);
bool dc_back(struct eng_run *r, const struct hw_qp *dct, uint32_t port);
/*
 * The WQE of a DC initiator has failed: does only its stream stop? And is the WQE's stream in
 * error, so that it is flushed?
 */
bool dc_stream_stops(struct eng_run *r, enum eng_why why);
bool dc_stream_errored(const struct eng_run *r);
/*
 * rc.c (RC, UC, XRC, DC) and ud.c: execute the WQE in r. These and the ones above are operations of
 * struct eng_sender.
 */
struct hw_qp *rc_peer(struct eng_run *r, uint32_t *port);
bool rc_accepts(struct eng_run *r, struct hw_qp *peer, uint32_t port);
/*
 * Find the path of the peer's acknowledgements and responses from `port` to r->qp, into r->back.
 * False: none.
 */
bool rc_back(struct eng_run *r, const struct hw_qp *peer, uint32_t port);
enum eng_out rc_execute(struct eng_run *r);

/*
 * The CQE of a READ or atomic that is done could not be written: moves the answer from r->answer to
 * the memory that the WQE names. ENG_W_NONE, or why not.
 */
enum eng_why rc_place_answer(struct eng_run *r);
enum eng_out ud_execute(struct eng_run *r);

/* fault.c: instead of execute(), while rules wait for work requests. */
enum eng_out fault_execute(struct eng_run *r, enum eng_out (*execute)(struct eng_run *r));
/* watch.c: what check sees of a WQE that is to be executed; true: later. */
bool watch_step(struct eng_run *r, uint32_t pi);
/* The doorbell rang. */
void watch_rung(struct eng_run *r);
/* It waits, and may fail in another thread. */
void watch_parks(struct eng_run *r);
/* The QP leaves RTS, or ends: what check has made late is executed. No lock of a queue is held. */
void watch_finish(struct seg *s, struct hw_qp *qp, uint32_t qpn, bool is_freed);
/* early.c: before a WQE is executed, where answers are late (seg.unfenced). */
void early_step(struct eng_run *r, uint32_t pi);
/* Executes the WQEs up to the last doorbell. */
void sq_resume(struct seg *s, uint32_t qpn);
/*
 * Polled doorbells: the next store to a UAR may overwrite one before it is seen, so a changed
 * record counts as rung. Note the present record under sq_lock, before the state in which changes
 * count. A record left from before a reset is marked in the 16 bits that are not the index, because
 * the program's next one may have the same value.
 */
void sq_note_record(struct seg *s, struct hw_qp *qp);
bool sq_record_changed(struct seg *s, const struct hw_qp *qp);
/* migrate.c: automatic path migration, while mig_is_busy() of a QP */
/*
 * Under the peer's rq_lock: a request of r->qp has arrived at `port`. False: it asks for a
 * migration that the peer refuses.
 */
bool mig_request(struct eng_run *r, struct hw_qp *peer, uint32_t port);
/* A packet of the other end was accepted; `requests` is its MigReq. */
void mig_met(struct hw_qp *qp, bool requests);
/* Does r->qp accept an answer that arrives on the path r->back? */
bool mig_answer_comes(struct eng_run *r, const struct hw_qp *peer);
/* Called when the peer's answer was accepted. */
void mig_answer(struct eng_run *r, const struct hw_qp *peer);
/* Under sq_lock, after the last retry. True: the WQE is executed again, on the alternate path. */
bool mig_retries_end(struct eng_run *r);
/* Note and raise PATH_MIG, if the process that has migrated the QP did not. */
void mig_finish(struct seg *s, struct hw_qp *qp, uint32_t qpn);
void mig_reset(struct hw_qp *qp);
bool park_ready(struct hw_qp *qp);
/*
 * A lock at the peer could not be taken: give up a message that has no acknowledgement? True after
 * ENG_PATIENCE_NS in which the lock's holder was found stopped, or after SEG_LOCK_HUNG_NS.
 */
bool park_patience_ends(struct seg *s, struct hw_qp *qp, const struct hw_qp *peer);
/* The same, for a time that the world says (seg.pace). */
void park_late(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t pend);
uint64_t park_rnr_ns(uint32_t timer);
/* The WQE at `ci` was not done at once. Sets how often it is repeated. */
void park_tries_begin(const struct seg *s, struct hw_qp *qp, uint32_t ci);
/* It was repeated, in vain: was that an adaptive retransmission, which uses up no retry? */
bool park_adapted(const struct seg *s, struct hw_qp *qp);
/* It was repeated and has an answer: counts the repetition. */
void park_answered(const struct seg *s, struct hw_qp *qp);
/* How long to wait for an answer now; UINT64_MAX: for ever. */
uint64_t park_try_ns(const struct seg *s, const struct hw_qp *qp);
/*
 * fin.c. Under sq_lock: delivers the FIN that this QP shall receive (fin_owed). False: try again
 * later.
 */
bool tm_fin(struct eng_run *r);

#endif
