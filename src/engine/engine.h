/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The data path: WQE -> memory -> CQE, run to completion by the thread that rings (DESIGN.md 1).
 *
 * Context: any thread, also inside the SIGSEGV handler, on the engine's stack (64 KiB; frames are
 * checked by -Wstack-usage). All asynchronous signals are blocked by the caller. No malloc, no
 * stdio, no TLS but initial-exec, no blocking but the deadlines of seg_lock().
 */
#ifndef SOFTHCA_ENGINE_ENGINE_H
#define SOFTHCA_ENGINE_ENGINE_H

#include "hw/qp_state.h"
#include "segment/mem.h"
#include "segment/seg.h"

struct hw_cq;
struct hw_qp;
struct hw_srq;
struct hw_mkey;

/*
 * A store of 8 bytes (`be` is the raw qword, big-endian as it lies in memory) to byte `offset` of
 * UAR page `uar`:
 *
 * - 0x20: CQ doorbell {arm word, cqn}: eng_arm_cq;
 * - 0x800, 0x900 ... 0xf00: send doorbell, the first qword of a control segment: eng_ring_sq.
 *
 * The value only names the queue: how far it goes is read from its doorbell record then. Unknown
 * numbers, and queues whose uar_page is another, are ignored as the card ignores them (traced).
 */
void eng_uar_write(struct seg *s, uint32_t uar, uint32_t offset, uint64_t be);

/* The doorbell of a QP: run its send queue as far as its doorbell record says and the peer allows.
 */
void eng_ring_sq(struct seg *s, uint32_t qpn);
/* Arm from the ARM doorbell record (word: the hint from the store). Fires at once when completions
 * are there. */
void eng_arm_cq(struct seg *s, uint32_t cqn, uint32_t word);

/*
 * Resume what is parked and due for QPs and CQs registered by our own memory slot, and finish
 * pending flushes. Returns the next deadline (clock_now_ns) or UINT64_MAX. Called by the device
 * thread only.
 */
uint64_t eng_run_due(struct seg *s);
/* Poll mode: look at the doorbell records of all our QPs and CQs; true if anything was found to do.
 */
bool eng_poll_doorbells(struct seg *s);

/*
 * State changes, called by the firmware under the HCA's lock, with all fields that the state needs
 * filled in. Takes the queue locks, stores qp->state and does what the state means: ERR flushes
 * (every posted send and receive WQE gets WR_FLUSH_ERR; with an SRQ: async LAST_WQE_REACHED), RST
 * resets progress, RTS goes on with what was rung for. 0; -ETIMEDOUT nothing changed (never for
 * ERR); -EINVAL no such QP, or an error came first and stands.
 */
int eng_qp_set_state(struct seg *s, uint32_t qpn, enum prm_qp_state to);
/* Before a new QP is shown. */
void eng_qp_created(struct hw_qp *qp);
/* A QP without queues that several open files share belongs to another of them now: that one's
 * process looks after it (what could not be done for want of a lock, and later posts). */
void eng_qp_adopt(struct seg *s, uint32_t qpn, uint32_t slot);
/*
 * Before an element is freed: wait (SEG_LOCK_CTRL_NS) until no thread of any process works on it.
 * After it the QP is in RST and the CQ has no event targets. The key's `valid` must have been
 * cleared before; SEG_NONE: keys of any number. 0 or -ETIMEDOUT.
 */
int eng_qp_quiesce(struct seg *s, uint32_t qpn);
int eng_cq_quiesce(struct seg *s, uint32_t cqn);
/* Only for XRC SRQs, which requests find by number; HW_F_READY must have been cleared before. */
int eng_srq_quiesce(struct seg *s, uint32_t srqn);
int eng_mkey_quiesce(struct seg *s, uint32_t mkey_idx);
/* The same for keys of any number, waiting at most `ns`. */
int eng_mkey_quiesce_all(struct seg *s, uint64_t ns);
/* What the engine works with, from hw_mkey.mkc; not `free`. Under the HCA's lock or, for a UMR, a
 * send queue's. */
void eng_mkey_fields(struct hw_mkey *mk);
/* CREATE_CQ, when hw_cq is filled in: makes the first ARM record recognisable in poll mode. */
int eng_cq_created(struct seg *s, uint32_t cqn);
/* RESIZE CQ: put the opcode 5 CQE into the old buffer and switch, atomically under the CQ's lock.
 * -ENOSPC: the old buffer is full or the new one too small for what is in it. */
int eng_cq_resize(struct seg *s, uint32_t cqn, struct mem_slot mem, uint64_t va, uint32_t log_size,
		  uint32_t cqe_bytes);
/* After RCV_DBR/SRQ limit changes by command. */
int eng_srq_arm_limit(struct seg *s, uint32_t srqn, uint32_t lwm);
/* After a receive queue or SRQ error etc.: raise an object's async event (IBV_EVENT_* number of the
 * uapi). */
/* A process has died (its slot is SEG_PROC_DEAD): rouse whoever has to finish what it left half
 * done. Takes no lock. By the supervisor. */
void eng_proc_died(struct seg *s, uint32_t slot);
void eng_qp_event(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t ib_event_type);
void eng_cq_event(struct seg *s, struct hw_cq *cq, uint32_t cqn, uint32_t ib_event_type);
void eng_srq_event(struct seg *s, struct hw_srq *srq, uint32_t srqn, uint32_t ib_event_type);
/*
 * Who has subscribed to an event by DEVX: `event` a PRM_EVENT_*, `queue` the PRM_EVENT_QUEUE_* (0
 * for CQs), `id` the object's number; `data` EQE_BYTES from EQE_DATA on. The functions above do
 * this too; for events that verbs have no name for.
 */
#define EQE_BYTES 28
void eng_devx_event(struct seg *s, uint32_t hca, uint32_t event, uint32_t queue, uint32_t id,
		    const uint8_t data[EQE_BYTES]);

/* Why a work request failed: what its completion says. (state.c) */
struct eng_failure {
	uint8_t syndrome;
	uint8_t vendor_err;
	const char *text;
};
/* All rows, from 0 on; NULL behind the last. */
const struct eng_failure *eng_failure_at(unsigned int n);

#endif
