/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engine's own interfaces. One WQE at a time: sq.c fetches and dispatches, rc.c and ud.c
 * execute, transport.c says how transports differ, atomic.c computes, resp.c is the other end's
 * responder, srq.c its SRQ, mkey.c and xlt.c turn keys into memory, umr.c changes keys, cq.c writes
 * completions, park.c waits, state.c changes states and flushes, event.c tells the program.
 *
 * Locks in the order in which they are taken: own SQ -> peer's (or own) RQ -> SRQ -> one CQ.
 */
#ifndef SOFTHCA_ENGINE_PRIV_H
#define SOFTHCA_ENGINE_PRIV_H

#include "engine/engine.h"
#include "fabric/path.h"
#include "hw/cq.h"
#include "hw/mkey.h"
#include "hw/qp_state.h"
#include "hw/rq_ahead.h"
#include "segment/proc.h"
#include "util/clock.h"
#include "util/log.h"
#include "wire/wqe/cqe.h"
#include "wire/wqe/wqe.h"

#include <errno.h>

struct eng_transport;
struct hw_srq;

#define ENG_LOG_MAX_MSG 30  /* as general cap log_max_msg: 1 GiB */
#define ENG_MAX_SG 62       /* ds <= 63, one is the control segment; two more vectors hold a CQE */
#define ENG_MAX_WQE 1024    /* bytes, send: 63 segments */
#define ENG_MERGE_MAX 65536 /* payloads up to here travel with their CQE in one call */
#define ENG_GRH_BYTES 40
/* How long an answer waits for its receiver's own completion (hw_qp.ack_seq): some turns of a
 * scheduler with more to run than processors. */
#define ENG_ACK_WAIT_NS (50 * NSEC_PER_MSEC)
/* How long an unacknowledged message waits for a lock: a stopped peer takes none. */
#define ENG_PATIENCE_NS (500 * NSEC_PER_MSEC)

/* What came of one WQE. */
enum eng_out {
	ENG_DONE,   /* executed; r->byte_cnt for the CQE */
	ENG_FAILED, /* r->why */
	ENG_RNR,    /* the peer has no receive posted; r->rnr_timer */
	ENG_SILENT, /* nobody answers: transport timer */
	ENG_LOCKED, /* a lock was not to be had in time: try again soon */
	ENG_GONE,   /* our own queue's memory is gone: nothing can be done or told */
	ENG_AGAIN,  /* what was looked up is void (a gate was shut): execute it anew */
};

/* Why a WQE failed: rows of eng_failures[] (state.c). */
enum eng_why {
	ENG_W_NONE,
	ENG_W_FLUSHED_SQ,
	ENG_W_FLUSHED_RQ,
	ENG_W_WQE_MALFORMED,
	ENG_W_OPCODE,
	ENG_W_LENGTH,
	ENG_W_ATOMIC_LENGTH,
	ENG_W_BIND_KEY,
	ENG_W_BIND_STATE,
	ENG_W_BIND_LIST,
	ENG_W_LKEY,
	ENG_W_LKEY_ACCESS,
	ENG_W_LKEY_RANGE,
	ENG_W_LOCAL_FAULT,
	ENG_W_RKEY,
	ENG_W_RKEY_RANGE,
	ENG_W_RKEY_ACCESS,
	ENG_W_QP_ACCESS,
	ENG_W_REMOTE_FAULT,
	ENG_W_REMOTE_INVALID,
	ENG_W_REMOTE_ALIGN,
	ENG_W_REMOTE_OP,
	ENG_W_REMOTE_REFUSED,
	ENG_W_RECV_LENGTH,
	ENG_W_RECV_INVALIDATE,
	ENG_W_RECV_ACCESS,
	ENG_W_RETRY,
	ENG_W_RNR,
	ENG_W_XRC_SRQ,
	ENG_W_COUNT
};

extern const struct eng_failure eng_failures[ENG_W_COUNT];

/* Pieces of memory in the order of the message. Room for two more: a CQE and its owner byte. */
struct eng_sgl {
	uint32_t n;
	bool mixed; /* not all in mem[0] */
	uint64_t len;
	struct mem_vec v[ENG_MAX_SG + 2];
	struct mem_slot mem[ENG_MAX_SG + 2];
};

/* A receive WQE in hand. */
struct eng_recv {
	const uint8_t *seg; /* data segments */
	uint32_t nseg;
	uint32_t index; /* for wqe_counter */
	uint32_t pdn;
	bool from_srq;
};

/* What an atomic does. */
struct eng_atomic {
	uint32_t size; /* 4 or 8 bytes */
	bool add;      /* fetch and add; else compare and swap */
	uint64_t operand, compare, mask, compare_mask;
};

/* Who receives the WQE in work: a QP's own resources, or those of the SRQ that an XRC request
 * names.
 */
struct eng_target {
	uint32_t srqn; /* SEG_NONE: the QP's own RQ */
	uint32_t cqn, pdn, uidx;
};

/* One run of a send queue; lives on the stack of the ringing thread. */
struct eng_run {
	struct seg *s;
	struct hw_qp *qp;
	uint32_t qpn;
	struct seg_ring *ring;                 /* what says that we are at work here */
	const struct eng_transport *transport; /* of qp */
	struct eng_target to;
	uint32_t hdr;               /* bytes of the control segment and the transport's own */
	uint32_t dest;              /* QPN or DCTN of the other end */
	struct fab_path path, back; /* of the request, and of its answer */
	/* the WQE in work */
	uint32_t ci;    /* its first WQEBB, 16 bits */
	uint32_t nbb;   /* its WQEBBs */
	uint32_t bytes; /* ds * 16 */
	uint32_t opcode;
	uint32_t ce, imm;
	bool se;
	uint32_t byte_cnt;  /* for its CQE */
	uint32_t rnr_timer; /* IBTA code of the peer */
	enum eng_why why;
	struct eng_sgl local, remote;
	struct eng_atomic atomic;
	uint64_t was;             /* the answer to an atomic, as it goes to the requester */
	uint32_t scatter;         /* READ, atomic: the first data segment, for the answer */
	enum eng_why late;        /* ... why it could not be scattered: the request was executed */
	uint8_t rx[HW_RX_AHEAD];  /* a receive WQE in work */
	uint8_t wqe[ENG_MAX_WQE]; /* unwrapped */
};

struct eng_op;

struct eng_cqe {
	uint8_t b[64];
	enum eng_why why; /* of one with error, for the trace */
};

/* The engine's clock: clock_now_ns(), or a test's. */
extern uint64_t (*eng_clock)(void);

/* trace.c: while the topic is on */
void eng_trace_doorbell(struct seg *s, uint32_t uar, uint32_t offset, const uint8_t v[8]);
void eng_trace_error_cqe(uint32_t cqn, const struct eng_cqe *c);
/* type UINT32_MAX: it has none */
void eng_trace_event(const char *what, enum seg_table_id table, uint32_t idx, uint32_t type);

/* capture.c: while cap_on(). Before a request is executed; what came of it, under the peer's lock;
 * a datagram with its address vector. */
void eng_capture_request(struct eng_run *r, const struct eng_op *op);
void eng_capture_answer(struct eng_run *r, const struct eng_op *op, const struct hw_qp *peer,
			uint32_t psn, enum eng_out out);
void eng_capture_ud(struct eng_run *r, const struct eng_op *op, const uint8_t *av, uint32_t qkey,
		    bool grh);

/* mkey.c */
static inline void sgl_init(struct eng_sgl *l)
{
	l->n = 0;
	l->len = 0;
	l->mixed = false;
}
int sgl_add(struct eng_sgl *l, struct mem_slot mem, uint64_t va, uint64_t len);
/*
 * What is not one piece of some process's memory: `gen` of the slot is an indirect key and the
 * address one of its own, looked up when it is used; or nothing at all. Makes a list `mixed`.
 */
enum { ENG_SLOT_KEY = 0xfffffffe, ENG_SLOT_VOID = 0xfffffffd };
int sgl_add_special(struct eng_sgl *l, struct mem_slot mem, uint64_t va, uint64_t len);
/*
 * Add [addr, addr + len) of a key. ENG_W_NONE, or why not: ENG_W_LKEY, ENG_W_LKEY_ACCESS,
 * ENG_W_LKEY_RANGE (the caller maps them to remote ones for rkeys). The memory stays registered
 * until the caller's SQ lock is released (eng_mkey_quiesce).
 */
enum eng_why sgl_add_key(struct seg *s, struct eng_sgl *l, uint32_t key, uint64_t addr,
			 uint64_t len, uint32_t pdn, uint32_t qpn, uint32_t access);
/* The data segments of r->wqe from byte `off` on, pointers and inline, into r->local. */
enum eng_why sgl_from_wqe(struct eng_run *r, uint32_t off, uint32_t access);
/* Copy src to dst, which has at least as much room. 0 or a mem_* error. _gated: -ECANCELED when the
 * keys that led to them may be void (gate.h); then ENG_AGAIN. */
int sgl_copy(struct seg *s, struct eng_sgl *dst, struct eng_sgl *src);
int sgl_copy_gated(struct eng_run *r, struct eng_sgl *dst, struct eng_sgl *src);
/* Wait until nobody uses a key as it was at r->qp->took: 0 or -ETIMEDOUT. See
 * running_wait_outside(). */
int mkey_wait(struct eng_run *r, const struct hw_mkey *mk, uint64_t ns);
/* Cut to `len` bytes. */
void sgl_trim(struct eng_sgl *l, uint64_t len);
/*
 * running.c: the threads at work on send queues now, in any process. Entered before the queue's
 * lock is taken; left after it was given back. _again(): the thread holds nothing that it has
 * looked up, and begins anew.
 */
struct seg_ring *running_enter(struct seg *s, uint32_t qpn);
void running_again(struct seg *s, struct seg_ring *e);
void running_leave(struct seg_ring *e);
/* This thread's entry, NULL when it has none; 1 + its index. */
struct seg_ring *running_mine(uint32_t *n);
/* For whom to wait. */
struct running {
	uint64_t epoch; /* for those who entered before it */
	/* Could whoever works on that queue be using what was taken away? NULL: yes. */
	bool (*uses)(const struct running *it, uint32_t qpn);
	uint32_t of; /* the memory slot that it is about, if there is one; SEG_NONE: any */
};
/* Something was taken away: the epoch for _wait(). */
uint64_t running_mark(struct seg *s);
/*
 * 0: nothing that was decided before running_mark() is still to be copied: each of those threads
 * has moved on, its process is dead, or it is stopped and its copy taken back (gate.h). -ETIMEDOUT
 * after `ns` (SEG_LOCK_CTRL_NS: as seg_lock()); 0 looks once. A thread with an entry of its own
 * waits outside of it, and has nothing left of what it looked up when it comes back.
 */
int running_wait(struct seg *s, struct running *it, uint64_t ns);
int running_wait_outside(struct seg *s, struct seg_ring *own, struct running *it, uint64_t ns);
/* After -EFAULT: is some page of it not there? */
bool sgl_faults(struct seg *s, const struct eng_sgl *l);

/* xlt.c: keys over keys. */
/* The valid, bound key of that number and PD; qpn of who uses it or ENG_ANY_QP. */
#define ENG_ANY_QP UINT32_MAX
const struct hw_mkey *xlt_key(struct seg *s, uint32_t key, uint32_t pdn, uint32_t qpn);
static inline bool xlt_in_range(const struct hw_mkey *mk, uint64_t addr, uint64_t len)
{
	if (mk->length64)
		return addr + len >= addr;
	return addr >= mk->start && len <= mk->len && addr - mk->start <= mk->len - len;
}
/* One piece of memory at `addr` of a key, at most *len long; *len becomes its length. */
enum eng_why xlt_resolve(struct seg *s, const struct hw_mkey *mk, uint64_t addr, uint64_t *len,
			 uint32_t qpn, uint32_t access, struct mem_slot *mem, uint64_t *va);
/* sgl_add_key() for keys that are not simply memory. */
enum eng_why xlt_add(struct seg *s, struct eng_sgl *l, const struct hw_mkey *mk, uint64_t addr,
		     uint64_t len, uint32_t qpn, uint32_t access);
/* A place in a list. */
struct eng_cursor {
	const struct eng_sgl *l;
	uint32_t i;
	uint64_t off;
};
/* The piece at the cursor, at most `want` bytes. 0, -ENOENT at the end, -EFAULT. */
int cursor_piece(struct seg *s, const struct eng_cursor *c, uint64_t want, struct mem_slot *mem,
		 struct mem_vec *v);
void cursor_advance(struct eng_cursor *c, uint64_t n);
/* Lists of several processes' memory, of keys, of nothing. 0 or a mem_* error. */
int xlt_copy(struct seg *s, const struct eng_sgl *dst, const struct eng_sgl *src);

/*
 * umr.c: change a key. SEND with invalidate: may it, and do it. ENG_DONE: the key is free and
 * nobody uses it any more; ENG_LOCKED: somebody still may, call again; ENG_AGAIN. Both leave
 * nothing of what was looked up by keys before.
 */
enum eng_out umr_execute(struct eng_run *r);
bool umr_may_invalidate(struct eng_run *r);
enum eng_out umr_invalidate(struct eng_run *r);

/* cq.c */
void cqe_set_error(struct eng_cqe *c, enum eng_why why);
/* Lock it, and count what a dead holder left; cq_abort() lets go. 0 or -ETIMEDOUT. */
int cq_lock(struct seg *s, struct hw_cq *cq, uint32_t cqn);
/*
 * Lock the CQ for one CQE and stamp its owner bit. 0: *out, to be ended by cq_commit or cq_abort;
 * -ETIMEDOUT lock, or mem.h's; -ESRCH its process is gone; -EOVERFLOW full or in error (the event
 * is raised).
 */
int cq_begin(struct seg *s, uint32_t cqn, struct eng_cqe *c, struct hw_cq **out);
static inline uint64_t cq_slot_at(const struct hw_cq *cq, uint32_t index)
{
	return cq->va + (uint64_t)(index & ((1u << cq->log_size) - 1)) * cq->cqe_bytes +
	       (cq->cqe_bytes - 64);
}
static inline uint64_t cq_slot(const struct hw_cq *cq)
{
	return cq_slot_at(cq, atomic_load_explicit(&cq->pi, memory_order_relaxed));
}
/* -ECANCELED: the lock was taken over from us, and nothing is written. */
int cq_write(struct seg *s, struct hw_cq *cq, const struct eng_cqe *c);
void cq_commit(struct seg *s, struct hw_cq *cq, uint32_t cqn, bool solicited);
void cq_abort(struct seg *s, struct hw_cq *cq);
/* Raise the events that are owed (hw_cq.armed), with or without the CQ's lock. `overtake`: as
 * evq_push_owed(). */
void cq_pay_event(struct seg *s, uint32_t cqn, bool overtake);
/* Look after a CQ whose lock a dead process holds. */
void cq_adopt(struct seg *s, struct hw_cq *cq, uint32_t cqn);
/* begin + write + commit. -EOVERFLOW also when the buffer is not there. */
int cq_push(struct seg *s, uint32_t cqn, struct eng_cqe *c, bool solicited);
/* The same for a receive of `rq` that failed or is flushed, under its rq_lock: resp_done() follows
 * when the queue has moved on. */
int cq_push_receive(struct seg *s, uint32_t cqn, struct eng_cqe *c, struct hw_qp *rq);

/* sq.c: what the engine can do, by opcode. */
enum eng_kind {
	ENG_K_NONE,
	ENG_K_NOP,
	ENG_K_SEND,
	ENG_K_WRITE,
	ENG_K_READ,
	ENG_K_ATOMIC,
	ENG_K_UMR
};
struct eng_op {
	uint8_t kind; /* enum eng_kind */
	uint8_t cqe;  /* the receiver's CQE opcode; 0 none: no receive is consumed */
	uint8_t imm;  /* carries immediate data */
};
const struct eng_op *eng_op(uint32_t opcode);

/* xrc.c: the SRQ that the request names into r->to; false: the responder must refuse. */
bool xrc_aim(struct eng_run *r, const struct hw_qp *peer);
bool xrc_accepts(struct eng_run *r, struct hw_qp *peer, uint32_t port);

/* dc.c: the target that the WQE names; it answers to where the request came from. */
struct hw_qp *dc_peer(struct eng_run *r, uint32_t *port);
bool dc_accepts(struct eng_run *r, struct hw_qp *dct, uint32_t port);
bool dc_back(struct eng_run *r, const struct hw_qp *dct, uint32_t port);

/* rc.c (RC, UC, XRC, DC), ud.c: execute the WQE in r. These and the ones above are operations of
 * struct eng_transport. */
struct hw_qp *rc_peer(struct eng_run *r, uint32_t *port);
bool rc_accepts(struct eng_run *r, struct hw_qp *peer, uint32_t port);
enum eng_out rc_execute(struct eng_run *r);
enum eng_out ud_execute(struct eng_run *r);
static inline uint32_t eng_npkts(uint64_t len, uint32_t mtu)
{
	uint32_t shift = mtu ? (uint32_t)__builtin_ctz(mtu) : 31;

	return len ? (uint32_t)((len + ((UINT64_C(1) << shift) - 1)) >> shift) : 1;
}
/* atomic.c */
/* The operands in r->wqe to r->atomic: where its data segments begin, 0 when it is malformed. */
uint32_t atomic_parse(struct eng_run *r);
/* One word of r->remote, the answer into r->was. 0 or a mem_* error of the remote side; or
 * r->why. */
int atomic_perform(struct eng_run *r);
/* address.c */
/* May packets of r->qp with its P_Key, or a Q_Key, enter the peer (r->dest)? If not, they are
 * counted at its port, which says so to the subnet manager (traps 257, 258). */
bool way_pkey_match(struct eng_run *r, const struct hw_qp *peer);
bool way_qkey_match(struct eng_run *r, const struct hw_qp *peer, uint32_t qkey);
uint16_t way_pkey(const struct seg *s, const struct hw_qp *qp);
/* The LID that packets of a QP come from. */
uint32_t way_slid(const struct seg *s, const struct hw_qp *qp, uint32_t path_bits);
uint32_t way_path_bits(const struct hw_qp *qp);
struct way_to {
	uint32_t dlid;
	const uint8_t *dgid; /* NULL: no GRH */
};
/*
 * The way out of a QP's port: true when it leads to a port, and to one that has the GID. Packets
 * with a GRH go by their LID, too; without one (LID 0) they stay in their port.
 */
bool way_find(struct seg *s, const struct hw_qp *qp, const struct way_to *to,
	      struct fab_path *path);
/* Would the peer's acknowledgements and responses, from `port`, reach r->qp? Into r->back. */
bool way_back(struct eng_run *r, const struct hw_qp *peer, uint32_t port);
/* The packets of the request in work, all its memory being in r->local. */
void way_request(struct eng_run *r, const struct eng_op *op, bool grh, struct fab_pkts *k);
/* Those of its answer, counted on r->back. An acknowledgement alone is no packet here. */
void way_count_answer(struct eng_run *r, const struct eng_op *op, const struct hw_qp *peer);
/*
 * resp_lock.c. resp_lock(): 0; -ETIMEDOUT; -ECANCELED: our gate is shut, ENG_AGAIN. _ctrl: a
 * command, as patient as seg_lock() is for `ns`. All but the holder of the lock must expect the
 * words to change.
 */
int resp_lock(struct seg *s, struct hw_qp *qp, uint32_t qpn);
int resp_lock_ctrl(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint64_t ns);
static inline enum eng_out resp_not_locked(int rc)
{
	return rc == -ECANCELED ? ENG_AGAIN : ENG_LOCKED;
}
/* _pending: with rx_intent left as it is. */
void resp_unlock(struct seg *s, struct hw_qp *qp);
void resp_unlock_pending(struct seg *s, struct hw_qp *qp);
/*
 * From here on all under rq_lock, which may be taken over from a stopped holder at any time: what
 * it stores then is dropped, and its copies are refused. _is_ours: it was not.
 */
bool resp_is_ours(const struct hw_qp *qp);
/* Receives consumed; stored with the next resp_intent(), resp_done() or resp_unlock(). */
uint32_t resp_ci(void);
void resp_consumed(uint32_t ci);
/* 1 + the SRQ WQE that is noted as taken for the QP, 0 none; of which SRQ. _note: false: not ours.
 * _unnote: by the SRQ's holder, of whatever QP. */
uint32_t resp_noted(void);
uint32_t resp_noted_srqn(void);
bool resp_note(struct hw_qp *qp, uint32_t wqe, uint32_t srqn);
void resp_unnote(struct hw_qp *qp);
/* The WQEs in hw_rq_ahead. */
void resp_ahead(uint32_t *first, uint32_t *n);
bool resp_set_ahead(struct hw_qp *qp, uint32_t first, uint32_t n);
/* A message was executed: the next one's sequence number. */
void resp_set_psn(struct hw_qp *qp, uint32_t psn);
/* A receive's CQE comes next at the CQ's index, until resp_done() or resp_unlock(). _written: that
 * of receive `index` is there. */
void resp_intent(struct hw_qp *qp, uint32_t cqn, const struct hw_cq *cq);
void resp_written(struct hw_qp *qp, uint32_t index);
void resp_done(struct hw_qp *qp);
/* From true on until _end() the lock is not taken over; false: it was. */
bool resp_busy(const struct hw_qp *qp);
void resp_busy_end(void);
/* As a reset leaves the words. */
void resp_reset(struct hw_qp *qp);
/* Its last holder died, or was stopped: was the receive that it completed counted? */
void resp_inherited(struct seg *s, struct hw_qp *qp, uint32_t qpn);
/* The same for what a dead process held of a QP's responder, of an SRQ. */
void resp_adopt(struct seg *s, struct hw_qp *qp, uint32_t qpn);

/* srq.c */
void srq_adopt(struct seg *s, struct hw_srq *srq, uint32_t srqn);
/* A WQE that the QP has noted as taken: the queue is to be past it before anybody uses it. */
void srq_settle(struct seg *s, const struct hw_qp *qp);
/* resp_fetch() for r->to.srqn. */
int srq_fetch(struct eng_run *r, struct hw_qp *qp, struct eng_recv *rv);
/* Give an SRQ WQE that was taken for this QP back to its queue. */
void resp_return_srq(struct seg *s, struct hw_qp *qp);

/* resp.c */
/* Under rq_lock: a message came in RTR. */
void qp_comm_est(struct seg *s, struct hw_qp *qp, uint32_t qpn);
/* The next receive WQE. 0; -ENOENT none posted; -ETIMEDOUT; -EFAULT, -ESRCH... its memory. */
int resp_fetch(struct eng_run *r, struct hw_qp *qp, uint32_t qpn, struct eng_recv *rv);
/* Its buffers into r->remote, as far as `need` bytes go. */
enum eng_why resp_buffers(struct eng_run *r, const struct hw_qp *qp, uint32_t qpn,
			  const struct eng_recv *rv, uint64_t need);
/* Copy r->local to r->remote and complete the receive with `c`. */
enum eng_out resp_complete(struct eng_run *r, struct hw_qp *qp, uint32_t qpn,
			   const struct eng_recv *rv, struct eng_cqe *c);
/* The receive itself is in error (its keys, its length): tell both ends. */
enum eng_out resp_recv_error(struct eng_run *r, struct hw_qp *qp, uint32_t qpn,
			     const struct eng_recv *rv, enum eng_why why);
/* The responder fails: ERR, async event (or -1), flush. */
void resp_fail(struct seg *s, struct hw_qp *qp, uint32_t qpn, int ib_event_type);
/* What a failed mem_* call between r->local and r->remote means. ENG_FAILED with r->why
 * ENG_W_LOCAL_FAULT or ENG_W_REMOTE_FAULT or _REFUSED; ENG_SILENT. */
enum eng_out resp_copy_failed(struct eng_run *r, int rc);
/* sq.c */
/*
 * The producer index in the doorbell record: a program may have left anything there until it rings.
 * What the device works on is hw_qp.sq_pi (the QPC's sw_sq_wqebb_counter), which is the record when
 * the doorbell rang last: libmlx5 writes the record before it rings (post_send_db()), and UCX
 * leaves the old one over a reset (uct_dc_mlx5_iface_reset_dci()).
 */
int sq_read_pi(struct seg *s, const struct hw_qp *qp, uint32_t *pi);
/* Go on with what was rung for. */
void sq_resume(struct seg *s, uint32_t qpn);
/*
 * Polled doorbells: a store to a UAR can be overwritten by the next before it is seen, so there a
 * record that changes counts as rung. Before the state from which on it does: what is in it now,
 * under sq_lock. One that is left from before a reset is marked in the 16 bits that are no index,
 * as the program's next one may be the same.
 */
void sq_note_record(struct seg *s, struct hw_qp *qp);
bool sq_record_changed(struct seg *s, const struct hw_qp *qp);
int sq_read_wqe(struct seg *s, const struct hw_qp *qp, uint32_t ci, uint32_t off, void *dst,
		uint32_t len);

/* event.c: the completion event owed to who has subscribed to it by DEVX. */
void event_comp(struct seg *s, const struct hw_cq *cq, uint32_t cqn);
/*
 * event.c: an async event is noted first, then comes what makes it true, then it is raised
 * (event_pay()); unnote: it did not come to that.
 */
void eng_cq_event_note(struct hw_cq *cq, uint32_t ib_event_type);
void eng_cq_event_unnote(struct hw_cq *cq, uint32_t ib_event_type);
void eng_qp_event_note(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t ib_event_type);
void eng_qp_event_pay(struct seg *s, const struct hw_qp *qp, uint32_t qpn);
void eng_srq_event_note(struct hw_srq *srq, uint32_t ib_event_type);
/* Raise the async events owed by an object. False: some still are. */
bool event_pay(struct seg *s, enum seg_table_id table, uint32_t idx, bool overtake);

/* park.c */
/* Polled doorbells: serve the arm that this CQ's record shows, if it is ours and has changed. */
void park_poll_arm(struct seg *s, uint32_t cqn);
/* Make that process's device thread look at everything of its own. */
void park_rouse(struct seg *s, uint32_t slot);
bool park_ready(struct hw_qp *qp);
/* Has this QP's WQE waited ENG_PATIENCE_NS for a lock? */
bool park_patience_ends(struct hw_qp *qp);
void park_pending(struct seg *s, struct hw_qp *qp, uint32_t pend);
uint64_t park_rnr_ns(uint32_t timer);
uint64_t park_ack_ns(uint32_t timeout);

/* state.c */
/* ERR unless the QP is already there or below RTR. True: the caller made the change. */
bool qp_enter_err(struct hw_qp *qp, enum prm_qp_state to);
/*
 * The same to ERR, with all that follows noted first: the flush of both queues, for which the
 * device thread is roused, and the event (or QP_QUIET). `note`: hw_qp.sq_fail under sq_lock,
 * rx_fail under rq_lock. _resume: what a dead holder of that lock left.
 */
enum { QP_QUIET = -1 };
bool qp_fail(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t *note, int ib_event_type);
void qp_fail_resume(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t *note);
/* Under sq_lock: WR_FLUSH_ERR for every posted send WQE. False: not finished, parked. */
bool sq_flush(struct seg *s, struct hw_qp *qp, uint32_t qpn);
/* Under rq_lock: the same for receives, or LAST_WQE_REACHED. */
bool rq_flush(struct seg *s, struct hw_qp *qp, uint32_t qpn);
/* Takes rq_lock for it; left pending when it cannot be had. */
void rq_flush_locking(struct seg *s, struct hw_qp *qp, uint32_t qpn);

/* The last holder of sq_lock died with it: the QP is lost. */
void sq_inherited(struct seg *s, struct hw_qp *qp, uint32_t qpn);

#endif
