/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engine's private interfaces. For each WQE: sq.c fetches and dispatches, rc.c and ud.c
 * execute, transport.c has the differences of transports, atomic.c computes, resp.c is the
 * responder, srq.c its SRQ, mkey.c and xlt.c turn keys into memory, sig.c and sig_copy.c add and
 * check signatures, crypto.c encrypts, umr.c changes keys, mmo.c copies, cq.c writes completions,
 * cq_event.c raises their events, park.c waits, state.c changes states and flushes, event.c raises
 * the other events.
 *
 * Lock order: own SQ -> peer's (or own) RQ -> SRQ -> one CQ.
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
#include "util/tls.h"
#include "wire/pkt/pkt.h"
#include "wire/wqe/cqe.h"
#include "wire/wqe/wqe.h"

#include <errno.h>

struct eng_transport;
struct eng_link;
struct hw_port;
struct hw_qp_path;
struct hw_srq;

#define ENG_LOG_MAX_MSG 30  /* 1 GiB, as capability log_max_msg says */
#define ENG_MAX_SG 62       /* ds <= 63 minus the control segment; two more vectors hold a CQE */
#define ENG_MAX_WQE 1024    /* bytes of the largest send WQE: 63 segments */
#define ENG_MERGE_MAX 65536 /* payloads up to this size are copied in one call with their CQE */
#define ENG_EARLY_MAX 64    /* bytes of a message that early.c reads */
#define ENG_GRH_BYTES LAYOUT_SZ(ib_grh)
/*
 * How long an answer waits for the receiver's own completion (hw_qp.ack_seq) between two checks. A
 * check asks whether the thread that owes the completion is stopped; the answer waits on for a
 * thread that runs.
 */
#define ENG_ACK_WAIT_NS (50 * NSEC_PER_MSEC)
/* How long a message without acknowledgement waits for a lock whose holder is stopped. */
#define ENG_PATIENCE_NS (500 * NSEC_PER_MSEC)

/* The outcome of executing one WQE. */
enum eng_out {
	ENG_DONE,   /* executed; r->byte_cnt is for the CQE */
	ENG_FAILED, /* r->why */
	ENG_RNR,    /* the peer has no receive posted; r->rnr_timer is set */
	ENG_SILENT, /* no answer: the transport timer decides */
	ENG_LOCKED, /* a lock could not be taken in time: try again soon */
	ENG_GONE,   /* this queue's memory is gone: no completion can be written either */
	ENG_AGAIN,  /* addresses found before are void (a gate was shut): execute the WQE again */
};

/* The reason for a failure: a row of eng_failures[] (state.c). */
enum eng_why {
	ENG_W_NONE,
	ENG_W_FLUSHED_FIRST,
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
	ENG_W_SCATTER_KEY,
	ENG_W_SCATTER_ACCESS,
	ENG_W_SCATTER_RANGE,
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
	ENG_W_REMOTE_MTU,
	ENG_W_SIG_PSV,
	ENG_W_CRYPTO_KEY,
	ENG_W_CRYPTO_LENGTH,
	ENG_W_COUNT
};

extern const struct eng_failure eng_failures[ENG_W_COUNT];

/* eng_sgl.sig: are there keys with signatures, or with crypto? */
enum eng_sig { ENG_SIG_NONE, ENG_SIG_ONLY, ENG_SIG_CRYPTO };

/* Pieces of memory in the order of the message, with space for a CQE and its owner byte. */
struct eng_sgl {
	uint32_t n;
	bool mixed;  /* the memory is in several slots, not all in mem[0].slot */
	uint8_t sig; /* enum eng_sig: parts are of signature keys; then it is mixed, too */
	bool fault;  /* after a copy failed with -EFAULT: memory of this list did it */
	bool near; /* of a receive: its CQE needs no system call, so its payload should need none */
	uint64_t len;
	uint64_t odp; /* the entries that are memory of on-demand keys, a bit each */
	struct mem_vec v[ENG_MAX_SG + 2];
	struct mem_slot mem[ENG_MAX_SG + 2];
	uint32_t odp_key[ENG_MAX_SG + 2]; /* the key of each such entry */
};
static_assert(ENG_MAX_SG + 2 <= 64, "a bit for each entry");

/* A receive WQE in work. */
struct eng_recv {
	const uint8_t *seg; /* its data segments */
	uint32_t nseg;
	uint32_t index; /* for the CQE's wqe_counter */
	uint32_t pdn;
	bool from_srq;
};

/* The operands of an atomic. */
struct eng_atomic {
	uint32_t size; /* size of the word: 4 or 8 bytes */
	bool add;      /* true: fetch and add; false: compare and swap */
	uint64_t operand, compare, mask, compare_mask;
};

/*
 * The receiving resources for the current WQE: a QP's own, or those of the SRQ that an XRC request
 * names.
 */
struct eng_target {
	uint32_t srqn; /* SEG_NONE: the QP has its own RQ */
	uint32_t cqn, pdn, uidx;
};

/* One run of a send queue, on the stack of the thread that rings. */
struct eng_run {
	struct seg *s;
	struct hw_qp *qp;
	uint32_t qpn;
	struct seg_ring *ring; /* entry in the list of threads at work (running.c) */
	const struct eng_transport *transport; /* row of qp's transport */
	struct eng_target to;
	uint32_t waits; /* CQ in which completions of this run wait; SEG_NONE: none */
	uint32_t hdr;   /* bytes of the control segment and the transport's own segment */
	uint32_t dest;  /* QPN or DCTN of the other end */
	struct fab_path path, back; /* fabric paths of the request and of its answer */
	/* The current WQE: */
	const struct hw_qp_path *own; /* the path of qp on which the WQE is sent */
	const struct hw_port *port;   /* the port of that path; NULL: there is none */
	/* The connected peer's path on which it accepted the request and will answer. */
	const struct hw_qp_path *theirs;
	const struct eng_link *link; /* the row of that port's link layer */
	enum pkt_net net;            /* of the request's packets */
	uint32_t vlan;               /* the VLAN ID of the request's packets; 0: no tag */
	uint32_t ci;                 /* index of the WQE's first WQEBB, 16 bits */
	uint32_t nbb;                /* number of its WQEBBs */
	uint32_t bytes;              /* its length: ds * 16 */
	uint32_t opcode;
	uint32_t ce, imm;
	bool se;
	bool waits_ready;   /* if the receiver is not ready, this thread waits (ready.c) */
	uint8_t app_op;     /* app_op of the receive's CQE (tag matching); 0: none */
	uint32_t byte_cnt;  /* for the CQE of this WQE */
	uint32_t rnr_timer; /* the peer's RNR timer, IBTA code */
	enum eng_why why;
	struct eng_sgl local, remote;
	struct eng_atomic atomic;
	uint64_t was;    /* the old value of an atomic's word, in the requester's byte order */
	uint64_t copied; /* bytes that a copy had done when it failed with -EFAULT */
	uint32_t part;   /* packets that have landed of a message that failed */
	/* READ, atomic: offset of the first data segment, which gets the answer */
	uint32_t scatter;
	enum eng_why late; /* why the answer was not stored, although the request was done */
	uint8_t format; /* CQE_FORMAT_DATA_*: the answer is in `answer`, for the CQE of this WQE */
	uint8_t answer[CQE_DATA_MAX];
	enum eng_why cut;         /* why r->local has only the first whole packets of the message */
	uint8_t rx[HW_RX_AHEAD];  /* copy of the receive WQE in work */
	uint8_t wqe[ENG_MAX_WQE]; /* unwrapped */
	/* The data of the WQE at early_ci, read before an answer (early.c); bytes, 0: none. */
	uint32_t early, early_ci;
	uint8_t early_data[ENG_EARLY_MAX];
};

struct eng_op;

struct eng_cqe {
	uint8_t data[CQE_DATA_MAX]; /* precedes `b` in memory if the format is DATA_64 */
	uint8_t b[64];
	enum eng_why why; /* the error of an error CQE, for the trace */
};

/* The engine's clock: clock_now_ns(), or a test's function. */
extern uint64_t (*eng_clock)(void);

/* trace.c: called while the topic is on. */
void eng_trace_doorbell(struct seg *s, uint32_t uar, uint32_t offset, const uint8_t v[8]);
void eng_trace_error_cqe(const struct seg *s, uint32_t cqn, const struct eng_cqe *c);
/* After flushed completions of a queue: the line of those that it has held back. */
void eng_trace_flushed(const struct seg *s);
/* `type` UINT32_MAX: the event has no type. */
void eng_trace_event(const char *what, enum seg_table_id table, uint32_t idx, uint32_t type);

/*
 * capture.c, called while cap_on(): before a request is executed; after it, under the peer's lock;
 * for a datagram with its address vector.
 */
void eng_capture_request(struct eng_run *r, const struct eng_op *op);
void eng_capture_answer(struct eng_run *r, const struct eng_op *op, const struct hw_qp *peer,
			uint32_t psn, enum eng_out out);
void eng_capture_ud(struct eng_run *r, const struct eng_op *op, const uint8_t *av, uint32_t qkey);

/* mkey.c */
static inline void sgl_init(struct eng_sgl *l)
{
	l->n = 0;
	l->len = 0;
	l->mixed = false;
	l->sig = ENG_SIG_NONE;
	l->fault = false;
	l->odp = 0;
	l->near = false;
}
int sgl_add(struct eng_sgl *l, struct mem_slot mem, uint64_t va, uint64_t len);
/* Removes the first `n` bytes of the list. */
void sgl_skip(struct eng_sgl *l, uint64_t n);
/*
 * Values of a slot for entries that are not plain memory of a process. KEY: `gen` is an indirect
 * key, and the address one of its own, looked up when used. VOID: no memory. SIG: `gen` is a
 * signature key, and the address counts from its start as on the wire. A list with one of these is
 * `mixed`.
 */
enum { ENG_SLOT_KEY = 0xfffffffe, ENG_SLOT_VOID = 0xfffffffd, ENG_SLOT_SIG = 0xfffffffc };
int sgl_add_special(struct eng_sgl *l, struct mem_slot mem, uint64_t va, uint64_t len);
/* The reason for a receive or an answer, whose memory is written to, of one for a key that is read.
 */
static inline enum eng_why sgl_scatter_why(enum eng_why why)
{
	return why == ENG_W_LKEY          ? ENG_W_SCATTER_KEY
	       : why == ENG_W_LKEY_ACCESS ? ENG_W_SCATTER_ACCESS
	       : why == ENG_W_LKEY_RANGE  ? ENG_W_SCATTER_RANGE
					  : why;
}
/*
 * Add the range [addr, addr + len) of a key to a list. ENG_W_NONE, or the error: ENG_W_LKEY,
 * ENG_W_LKEY_ACCESS, ENG_W_LKEY_RANGE (for rkeys the caller maps them to remote errors). The memory
 * stays registered until the caller releases its SQ lock (eng_mkey_quiesce).
 */
enum eng_why sgl_add_key(struct seg *s, struct eng_sgl *l, uint32_t key, uint64_t addr,
			 uint64_t len, uint32_t pdn, uint32_t qpn, uint32_t access);
/*
 * Gives back all adopted memory of this process and keeps its chunks from reuse. False: a system
 * call is using some of it. (adopt.c)
 */
bool adopt_all_back(void);
/*
 * Adds a range, which the caller has checked, of a key whose memory another process owns. (adopt.c)
 */
enum eng_why adopt_add(struct seg *s, struct eng_sgl *l, struct hw_mkey *mk, uint64_t va,
		       uint64_t len, uint32_t access);
/*
 * The address in this process of a queue's memory, which is another process's, or NULL: it is not
 * adopted. Valid until this thread notes another epoch. (adopt.c)
 */
uint8_t *adopt_near(struct seg *s, uint32_t umem, struct mem_slot mem, uint64_t va, uint64_t len);
/*
 * Add the data segments of r->wqe from byte `off` on, pointers and inline data, to r->local, up to
 * `most` bytes.
 */
enum eng_why sgl_from_wqe(struct eng_run *r, uint32_t off, uint32_t access, uint64_t most);
/*
 * Copy src to dst, which is at least as long. 0 or a mem_* error. _gated: also -ECANCELED when the
 * keys may have become void (gate.h); the caller then returns ENG_AGAIN. After -EFAULT the list
 * whose memory it was has `fault` set, and r->copied says how much was copied.
 */
int sgl_copy(struct seg *s, struct eng_sgl *dst, struct eng_sgl *src);
int sgl_copy_gated(struct eng_run *r, struct eng_sgl *dst, struct eng_sgl *src);
/*
 * Wait until no thread uses the key as it was at r->qp->took: 0 or -ETIMEDOUT. See
 * running_wait_outside().
 */
int mkey_wait(struct eng_run *r, const struct hw_mkey *mk, uint64_t ns);
/* Cut a list to `len` bytes. */
void sgl_trim(struct eng_sgl *l, uint64_t len);
/*
 * running.c: the list of threads that work on send queues, in any process. Enter before taking the
 * queue's lock, leave after releasing it. _again(): the thread starts anew and keeps nothing that
 * it has looked up.
 */
extern TLS_IE struct running_last {
	uint32_t index;        /* index of this thread's last entry, which it tries first */
	struct seg_ring *used; /* set between _enter() and _leave() */
} running_last;
struct seg_ring *running_enter(struct seg *s, uint32_t qpn);
void running_again(struct seg *s, struct seg_ring *e);
void running_leave(struct seg_ring *e);
/* A doorbell: no bus lock, as the entry is this thread's. */
static inline void running_count(struct seg_ring *e)
{
	uint64_t n = atomic_load_explicit(&e->rung, memory_order_relaxed);

	atomic_store_explicit(&e->rung, n + 1, memory_order_relaxed);
}
/* Returns this thread's entry (NULL: none); *n: 1 + the entry's index. */
static inline struct seg_ring *running_mine(uint32_t *n)
{
	*n = running_last.index + 1;
	return running_last.used;
}
/* A WQE begins, which uses no key yet, or keys that are not noted. */
static inline void running_no_keys(struct seg_ring *e)
{
	atomic_store_explicit(&e->nkeys, 0, memory_order_relaxed);
}
static inline void running_any_key(struct seg_ring *e)
{
	atomic_store_explicit(&e->nkeys, SEG_RING_KEYS + 1, memory_order_relaxed);
}
/*
 * Called before a key is looked up. No barrier: whoever reads the list makes all threads pass one
 * (membarrier(2)).
 */
static inline void running_uses_key(uint32_t key)
{
	struct seg_ring *e = running_last.used;
	uint32_t n = e ? atomic_load_explicit(&e->nkeys, memory_order_relaxed) : SEG_RING_KEYS + 1;

	if (n > SEG_RING_KEYS)
		return;
	if (n < SEG_RING_KEYS)
		atomic_store_explicit(&e->key[n], key, memory_order_relaxed);
	atomic_store_explicit(&e->nkeys, n + 1, memory_order_release);
	atomic_signal_fence(memory_order_seq_cst); /* before the key is looked at */
}
/* Which threads to wait for. */
struct running {
	uint64_t epoch; /* wait for threads that entered before this epoch */
	/* Could a thread that works on that queue use what was taken away? NULL: always. */
	bool (*uses)(const struct running *it, uint32_t qpn);
	/* Which GATE_MINDS_* matter in a stopped thread of that slot. NULL: all. */
	uint32_t (*minds)(const struct running *it, uint32_t slot);
	uint32_t of; /* the memory slot concerned; SEG_NONE: any */
	/* A key ends: its chunks of adopted memory are kept from use until stopped threads leave.
	 */
	bool key_ends;
	/* Does a key that a thread has noted lead to what was taken away? NULL: any may. */
	bool (*holds)(const struct running *it, uint32_t key);
};
/* Called after something was taken away: returns the epoch for running_wait(). */
uint64_t running_mark(struct seg *s);
/*
 * Wait for all threads that decided something before running_mark(). 0: none of them will copy any
 * more: each has moved on, its process is dead, or it is stopped and its copy is revoked (gate.h).
 * -ETIMEDOUT after `ns` (SEG_LOCK_CTRL_NS: as seg_lock()); 0 looks once. _outside: a thread with an
 * entry of its own leaves it while waiting, and must look everything up again.
 */
int running_wait(struct seg *s, struct running *it, uint64_t ns);
int running_wait_outside(struct seg *s, struct seg_ring *own, struct running *it, uint64_t ns);
/* Of a source that is not copied: would reading it fail with -EFAULT? */
bool sgl_unreadable(struct seg *s, const struct eng_sgl *l);

/*
 * odp.c: on-demand keys. _add() as sgl_add(). _page_in(): make the memory of such keys present that
 * a copy of `len` bytes uses, and count absent pages. No CQ's lock is held.
 */
int odp_add(struct eng_sgl *l, const struct hw_mkey *mk, struct mem_slot mem, uint64_t va,
	    uint64_t len);
void odp_page_in(struct seg *s, const struct eng_sgl *l, uint64_t len);

/* xlt.c: indirect keys. */
/* The key with that number and PD if valid and bound. qpn: the user's QP, or ENG_ANY_QP. */
#define ENG_ANY_QP UINT32_MAX
const struct hw_mkey *xlt_key(struct seg *s, uint32_t key, uint32_t pdn, uint32_t qpn);
static inline bool xlt_in_range(const struct hw_mkey *mk, uint64_t addr, uint64_t len)
{
	if (mk->length64)
		return addr + len >= addr;
	return addr >= mk->start && len <= mk->len && addr - mk->start <= mk->len - len;
}
/* sgl_add_key() for keys that are `slow`. */
enum eng_why xlt_add(struct seg *s, struct eng_sgl *l, const struct hw_mkey *mk, uint64_t addr,
		     uint64_t len, uint32_t qpn, uint32_t access);
/*
 * Looks up memory at `addr` of a key. *len: in, the wanted length; out, the length of the piece
 * found.
 */
enum eng_why xlt_resolve(struct seg *s, const struct hw_mkey *mk, uint64_t addr, uint64_t *len,
			 uint32_t qpn, uint32_t access, struct mem_slot *mem, uint64_t *va);
/* The key that memory at *addr of *mk is reached by, and its address there. NULL: no memory. */
enum eng_why xlt_leaf(struct seg *s, const struct hw_mkey **mk, uint64_t *addr, uint64_t *len,
		      uint32_t qpn, uint32_t access);
/* Is there memory for all of a range of an indirect key? */
enum eng_why xlt_check(struct seg *s, const struct hw_mkey *mk, uint64_t addr, uint64_t len,
		       uint32_t qpn, uint32_t access);
/* A position in a list. */
struct eng_cursor {
	const struct eng_sgl *l;
	uint32_t i;
	uint64_t off;
};
/* Finds the piece at the cursor, at most `want` bytes. 0, -ENOENT at the end, -EFAULT. */
int cursor_piece(struct seg *s, const struct eng_cursor *c, uint64_t want, struct mem_slot *mem,
		 struct mem_vec *v);
void cursor_advance(struct eng_cursor *c, uint64_t n);
/*
 * Copies between lists, at least one of them with memory in several slots (`mixed`). 0 or a mem_*
 * error.
 */
int xlt_copy(struct seg *s, const struct eng_sgl *dst, const struct eng_sgl *src);

/*
 * umr.c: change a key. For SEND with invalidate: check, and invalidate. ENG_DONE: the key is free
 * and has no users; ENG_LOCKED: it may have users, call again; ENG_AGAIN. The last two void
 * everything that was looked up by keys.
 */
enum eng_out umr_execute(struct eng_run *r);
bool umr_may_invalidate(struct eng_run *r);
enum eng_out umr_invalidate(struct eng_run *r);

/* mmo.c: copy memory of this queue's protection domain. */
enum eng_out mmo_execute(struct eng_run *r);

/*
 * steal.c. steal_note(): the holder of a lock that can be taken over notes itself beside the lock.
 * *gate: the gate of its copies; NULL: it has none, and steal() leaves it the lock. False: the lock
 * was taken over before. A holder with a gate calls seg_lock_has_turn() after it has read what the
 * lock guards. steal(): takes the lock over from a stopped process that is not slot `owner`. `qpn`:
 * the QP whose responder the lock guards; SEG_NONE: it is another lock.
 */
#define STEAL_TURN 24
#define STEAL_SLOT 8
#define STEAL_ENTRY 0xffu
#define STEAL_NOTE(turn, slot, n) \
	((uint32_t)(turn) << STEAL_TURN | ((slot)&0xffff) << STEAL_SLOT | (n))
static inline bool steal_note(struct seg *s, struct seg_lock *l, _Atomic uint32_t *ring,
			      uint16_t turn, struct seg_gate **gate)
{
	uint32_t n;
	struct seg_ring *e = running_mine(&n);

	*gate = e ? &e->gate : NULL;
	atomic_store_explicit(ring, STEAL_NOTE(turn, s->self, e ? n : 0), memory_order_relaxed);
	/*
	 * Without a gate only seg_lock_keep() stops a process that read the note before this store.
	 */
	return e || seg_lock_keep(s, l, turn);
}
/* Call before the lock is released, so that the next holder is not mistaken for this one. */
static inline void steal_unnote(_Atomic uint32_t *ring)
{
	atomic_store_explicit(ring, 0, memory_order_relaxed);
}
bool steal(struct seg *s, struct seg_lock *l, const _Atomic uint32_t *ring, uint32_t owner,
	   uint32_t qpn, uint16_t *turn);
/*
 * As steal(), from any stopped process: holders of such a lock only read through a gate, or need no
 * revocation.
 */
bool steal_from_reader(struct seg *s, struct seg_lock *l, const _Atomic uint32_t *ring,
		       uint16_t *turn);

/* cq.c */
void cqe_set_error(struct eng_cqe *c, enum eng_why why);
/* Lock a CQ and count what a dead holder left; cq_unlock() unlocks. 0 or -ETIMEDOUT. */
int cq_lock(struct seg *s, struct hw_cq *cq, uint32_t cqn);
/*
 * Lock the CQ for one CQE and set its owner bit. 0: *out, to be ended by cq_commit() or
 * cq_unlock(); -ETIMEDOUT the lock; a mem_* error; -ESRCH its process is gone; -EOVERFLOW full or
 * in error (raises the event).
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
/* The index of that CQE. */
uint32_t cq_index(void);
/* Compression: more receives follow, so the CQE may wait for them, until cq_flush(). */
void cq_may_wait(void);
/* Do CQEs wait in this CQ? Reads it without the lock. */
bool cq_waits(const struct seg *s, uint32_t cqn);
void cq_flush(struct seg *s, uint32_t cqn);
/*
 * Scatter to CQE: the format for a payload of `len` bytes where the QP's own is `format`, or
 * CQE_FORMAT_NO_DATA. cqe_data(): gives the CQE that format; where the payload goes, after all
 * fields are set.
 */
uint32_t cq_data_format(const struct seg *s, uint32_t cqn, uint32_t format, uint64_t len);
void *cqe_data(struct eng_cqe *c, uint32_t format);
/*
 * -ECANCELED: the lock was taken over from this thread, and nothing is written. -EAGAIN: since
 * cq_data_format() the CQ was resized to CQEs without room for the payload.
 */
int cq_write(struct seg *s, struct hw_cq *cq, uint32_t cqn, const struct eng_cqe *c);
/* Will cq_write() store to adopted memory, as it looks now? */
bool cq_is_near(struct seg *s, const struct hw_cq *cq);
void cq_commit(struct seg *s, struct hw_cq *cq, uint32_t cqn, bool solicited);
void cq_unlock(struct seg *s, struct hw_cq *cq);
/*
 * Raise the events that a CQ owes (hw_cq.armed), with or without its lock. `overtake`: see
 * evq_push_owed().
 */
void cq_pay_event(struct seg *s, uint32_t cqn, bool overtake);
/*
 * A program has armed the CQ: by a doorbell that says `word`, or, NULL, by its doorbell record
 * alone, which is ignored if it says what was last seen.
 */
void cq_arm(struct seg *s, uint32_t cqn, const uint32_t *word);
/*
 * The device thread raises an event whose moderation timer has ended. When to call it again, or
 * UINT64_MAX.
 */
uint64_t cq_moder_run(struct seg *s, struct hw_cq *cq, uint32_t cqn);
/* Repair a CQ whose lock a dead process holds. */
void cq_adopt(struct seg *s, struct hw_cq *cq, uint32_t cqn);
/* begin + write + commit. -EOVERFLOW also if the buffer is not mapped; -EAGAIN as cq_write(). */
int cq_push(struct seg *s, uint32_t cqn, struct eng_cqe *c, bool solicited);
/*
 * cq_push() for a receive of `rq` that failed or is flushed. Under its rq_lock; the caller then
 * advances the queue and calls resp_done().
 */
int cq_push_receive(struct seg *s, uint32_t cqn, struct eng_cqe *c, struct hw_qp *rq);

/* sq.c: the operations of the engine, by opcode. */
enum eng_kind {
	ENG_K_NONE,
	ENG_K_NOP,
	ENG_K_SEND,
	ENG_K_WRITE,
	ENG_K_READ,
	ENG_K_ATOMIC,
	ENG_K_UMR,
	ENG_K_MMO,
	ENG_K_SET_PSV,
	ENG_K_TM
};
struct eng_op {
	uint8_t kind; /* enum eng_kind */
	uint8_t cqe;  /* opcode of the receiver's CQE; 0: no receive is consumed */
	uint8_t imm;  /* carries immediate data */
};
const struct eng_op *eng_op(uint32_t opcode);

/* xrc.c: set r->to to the SRQ that the request names; false: the responder must refuse. */
bool xrc_aim(struct eng_run *r, const struct hw_qp *peer);
bool xrc_accepts(struct eng_run *r, struct hw_qp *peer, uint32_t port);

/*
 * dc.c. dc_peer(): the target that the WQE names; its answers go to the address that the request
 * came from.
 */
struct hw_qp *dc_peer(struct eng_run *r, uint32_t *port);
bool dc_accepts(struct eng_run *r, struct hw_qp *dct, uint32_t port);
/* Finish the event of a wrong access key that a dead holder of the lock has begun. */
void dc_key_event_resume(struct seg *s, struct hw_qp *dct, uint32_t dctn);
bool dc_back(struct eng_run *r, const struct hw_qp *dct, uint32_t port);
/*
 * The WQE of a DC initiator has failed: does only its stream stop? And is the WQE's stream in
 * error, so that it is flushed?
 */
bool dc_stream_stops(struct eng_run *r, enum eng_why why);
bool dc_stream_errored(const struct eng_run *r);

/*
 * rc.c (RC, UC, XRC, DC) and ud.c: execute the WQE in r. These and the ones above are operations of
 * struct eng_transport.
 */
struct hw_qp *rc_peer(struct eng_run *r, uint32_t *port);
bool rc_accepts(struct eng_run *r, struct hw_qp *peer, uint32_t port);
enum eng_out rc_execute(struct eng_run *r);
/* A receive of r->to is consumed by a SEND, or by a WRITE with immediate; its CQE. */
enum eng_out rc_receive(struct eng_run *r, struct hw_qp *peer, const struct eng_op *op);
/*
 * The CQE of a READ or atomic that is done could not be written: moves the answer from r->answer to
 * the memory that the WQE names. ENG_W_NONE, or why not.
 */
enum eng_why rc_place_answer(struct eng_run *r);
void rc_recv_cqe(struct eng_run *r, const struct hw_qp *peer, const struct eng_op *op,
		 const struct eng_recv *rv, struct eng_cqe *c);
enum eng_out ud_execute(struct eng_run *r);
static inline uint32_t eng_npkts(uint64_t len, uint32_t mtu)
{
	uint32_t shift = mtu ? (uint32_t)__builtin_ctz(mtu) : 31;

	return len ? (uint32_t)((len + ((UINT64_C(1) << shift) - 1)) >> shift) : 1;
}
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
/* atomic.c */
/*
 * Read the operands in r->wqe to r->atomic. Returns the offset of the data segments; 0: malformed.
 */
uint32_t atomic_parse(struct eng_run *r);
/*
 * Execute an atomic on r->remote, with the answer in r->was. 0 or a mem_* error of the remote side;
 * or r->why.
 */
int atomic_perform(struct eng_run *r);
/* address.c */
/*
 * Does the peer (r->dest), on that path of it, accept the P_Key, or the Q_Key, of r->qp's packets?
 * If not, its port counts them and sends a notice to the subnet manager (257, 258).
 */
bool way_pkey_match(struct eng_run *r, const struct hw_qp_path *w);
bool way_qkey_match(struct eng_run *r, const struct hw_qp *peer, uint32_t qkey);
/* The source LID of packets that r->qp sends. */
uint32_t way_slid(const struct eng_run *r, uint32_t path_bits);
uint32_t way_path_bits(const struct hw_qp *qp, const struct hw_qp_path *w);
struct way_to {
	uint32_t dlid;       /* or an Ethernet address */
	const uint8_t *dgid; /* destination GID; NULL: packets have no GIDs */
	enum pkt_net net;
	uint32_t vlan;  /* 0: none */
	uint32_t index; /* Ethernet: of our own GID */
};
/* The destination of a connected QP, r->qp or its peer. */
struct way_to way_of(const struct eng_run *r, const struct hw_qp *qp);
/* Is the packet lost on a path with a router, as nothing routes its version or its address? */
bool way_needs_router(const struct seg *s, const struct fab_path *path, const struct way_to *to);
/*
 * Find the path out of that QP's port: true if it leads to a port that has the GID, if one is
 * given. Packets with a GRH follow their LID, too; without one (LID 0) they stay in their port.
 */
bool way_find(const struct eng_run *r, const struct hw_qp *qp, const struct way_to *to,
	      struct fab_path *path);
/*
 * Find the path of the peer's acknowledgements and responses from `port` to r->qp, into r->back.
 * False: none.
 */
bool way_back(struct eng_run *r, const struct hw_qp *peer, uint32_t port);
/* Send the packets of the current request, with all its memory in r->local. */
void way_request(struct eng_run *r, const struct eng_op *op, struct fab_pkts *k);
/* Count the packets of the answer on r->back. A plain acknowledgement is not counted. */
void way_count_answer(struct eng_run *r, const struct eng_op *op, const struct hw_qp *peer);
/*
 * Count packets of a peer with tag matching: way_count_fetch() its READ of `len` bytes and the
 * answer, way_count_fin() its FIN.
 */
void way_count_fetch(struct eng_run *r, const struct hw_qp *peer, uint32_t len);
void way_count_fin(struct eng_run *r, const struct hw_qp *peer);
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
 * From here on all under rq_lock, which may be taken over from a stopped holder at any time: its
 * later stores are dropped and its copies refused.
 */
/*
 * The number of receives consumed. The next resp_intent(), resp_done() or resp_unlock() stores it.
 */
uint32_t resp_ci(void);
void resp_consumed(uint32_t ci);
/*
 * 1 + the SRQ WQE noted as taken for the QP (0: none), and the SRQ's number. _note: false if the
 * lock was taken over. _unnote: for the SRQ's holder, for any QP.
 */
/* Does this thread still hold rq_lock? False: it was taken over. */
bool resp_is_ours(const struct hw_qp *qp);
uint32_t resp_noted(void);
uint32_t resp_noted_srqn(void);
bool resp_note(struct hw_qp *qp, uint32_t wqe, uint32_t srqn);
void resp_unnote(struct hw_qp *qp);
/* The range of WQEs that hw_rq_ahead holds. */
void resp_ahead(uint32_t *first, uint32_t *n);
bool resp_set_ahead(struct hw_qp *qp, uint32_t first, uint32_t n);
/* A message was executed: set the next one's sequence number. False: the lock was taken over. */
bool resp_set_psn(struct hw_qp *qp, uint32_t psn);
/*
 * resp_intent(): notes that the CQE of the receive in hand will be written at index `at` of the CQ,
 * until resp_done() or resp_unlock(). resp_written(): notes that it is written. _writes: for any
 * QP: is one of the two noted?
 */
void resp_intent(struct hw_qp *qp, uint32_t cqn, uint32_t at);
void resp_written(struct hw_qp *qp);
bool resp_writes(const struct hw_qp *qp);
void resp_done(struct hw_qp *qp);
/*
 * For the CQ's holder, which has found a CQE at index `at` that the last holder has written: notes
 * the same for that one, if the CQE completes its receive in hand.
 */
void resp_mark_written(struct seg *s, uint32_t cqn, uint32_t at, const uint8_t *cqe);
/* After true the lock is not taken over until _end(); false: it already was. */
bool resp_busy(const struct hw_qp *qp);
void resp_busy_end(void);
/* Set the responder's words in hw_qp to their values after a reset. */
void resp_reset(struct hw_qp *qp);
/*
 * A dead process held a QP's responder, or an SRQ: count the receive that it completed, if it is
 * not counted. resp_adopt(): false: it could not be done now.
 */
bool resp_adopt(struct seg *s, struct hw_qp *qp, uint32_t qpn);

/* srq.c */
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

/* resp.c */
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
/* sq.c */
/*
 * Read the producer index in the doorbell record. It counts only in ERR: before, the device works
 * with hw_qp.sq_pi (the QPC's sw_sq_wqebb_counter), where the last doorbell was. Polled doorbells
 * are seen in the record alone.
 */
int sq_read_pi(struct seg *s, const struct hw_qp *qp, uint32_t *pi);
/* Compression. _note: completions now wait in the CQ of r->to; _flush: writes those of this run. */
void sq_note_waiting(struct eng_run *r);
void sq_flush_waiting(struct eng_run *r);
/*
 * Executes the WQEs up to the last doorbell. _retry: for ready_await(), without the device thread.
 */
void sq_resume(struct seg *s, uint32_t qpn);
void sq_retry(struct seg *s, uint32_t qpn);
/*
 * Polled doorbells: the next store to a UAR may overwrite one before it is seen, so a changed
 * record counts as rung. Note the present record under sq_lock, before the state in which changes
 * count. A record left from before a reset is marked in the 16 bits that are not the index, because
 * the program's next one may have the same value.
 */
void sq_note_record(struct seg *s, struct hw_qp *qp);
bool sq_record_changed(struct seg *s, const struct hw_qp *qp);
/*
 * Fetches the WQE at r->ci into r->wqe, without wrapping. 0; > 0: enum eng_why; < 0: mem_* error.
 */
int sq_fetch(struct eng_run *r, uint32_t pi);
/* early.c: before a WQE is executed, where answers are late (seg.unfenced). */
void early_step(struct eng_run *r, uint32_t pi);
int sq_read_wqe(struct seg *s, const struct hw_qp *qp, uint32_t ci, uint32_t off, void *dst,
		uint32_t len);

/* event.c: send the owed completion event to DEVX subscribers. */
void event_comp(struct seg *s, const struct hw_cq *cq, uint32_t cqn);
/*
 * event.c: an async event is noted first, then its cause is made visible, then it is raised
 * (event_pay()).
 */
/*
 * event_mark(): what a thread stores before it notes an event, in case it dies: a state below
 * HW_EV_SEQ, and above it the number of the last event. A thread that finishes its work calls
 * event_note_once(), which notes the event only if nobody did.
 */
uint32_t event_mark(struct hw_qp *qp, uint32_t type);
void event_note_once(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t type, uint32_t mark);
void eng_qp_event_pay(struct seg *s, const struct hw_qp *qp, uint32_t qpn);
/* Raise the async events that an object owes. False: some are still owed. */
bool event_pay(struct seg *s, enum seg_table_id table, uint32_t idx, bool overtake);

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

/* park.c */
/* Polled doorbells: if this CQ is ours and its ARM record has changed, serve the arm. */
void park_poll_arm(struct seg *s, uint32_t cqn);
/* Make that process's device thread check all its queues. */
void park_rouse(struct seg *s, uint32_t slot);
bool park_ready(struct hw_qp *qp);
/*
 * A lock at the peer could not be taken: give up a message that has no acknowledgement? True after
 * ENG_PATIENCE_NS in which the lock's holder was found stopped, or after SEG_LOCK_HUNG_NS.
 */
bool park_patience_ends(struct seg *s, struct hw_qp *qp, const struct hw_qp *peer);
/*
 * Asks the process's device thread to look within ENG_LOOK_NS; wakes it only if it would sleep
 * longer.
 */
void park_look(struct seg *s, uint32_t slot);
void park_pending(struct seg *s, struct hw_qp *qp, uint32_t pend);
/* The same, for a time that the world says (seg.pace). */
void park_late(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t pend);
uint64_t park_rnr_ns(uint32_t timer);
/* A request has no answer. Sets how often it is repeated. */
void park_tries_begin(const struct seg *s, struct hw_qp *qp);
/* It was repeated, in vain: was that an adaptive retransmission, which uses up no retry? */
bool park_adapted(const struct seg *s, struct hw_qp *qp);
/* It was repeated and has an answer: counts the repetition. */
void park_answered(const struct seg *s, struct hw_qp *qp);
/* How long to wait for an answer now; UINT64_MAX: for ever. */
uint64_t park_try_ns(const struct seg *s, const struct hw_qp *qp);

/* ready.c */
/*
 * The QP is parked for RNR, and its device thread does not know. Sends the message if the receiver
 * posts soon and others want this processor meanwhile; else leaves it to the device thread.
 */
void ready_await(struct seg *s, const struct hw_qp *qp, uint32_t qpn);
/* Receives are posted: wakes a thread that waits for that. */
void ready_tell(struct hw_srq *srq);

/* state.c */
/* Enter ERR unless the QP is already in ERR or below RTR. True: the caller made the change. */
bool qp_enter_err(struct hw_qp *qp, enum prm_qp_state to);
/*
 * The same, and note what must follow: the flush of both queues, for which the device thread is
 * woken, and the event (or QP_QUIET). `note`: hw_qp.sq_fail under sq_lock, rx_fail under rq_lock.
 * _resume: finish what a dead holder of that lock left.
 */
enum { QP_QUIET = -1 };
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
