/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What all rooms of the engine share: the run of a send queue and the lists of memory in it,
 * outcomes, reasons and operations; reading WQEs, waking device threads, trace lines. This room
 * calls nothing of the others, whose order is in tools/layers.
 *
 * Lock order: own SQ -> peer's (or own) RQ -> SRQ -> one CQ.
 */
#ifndef SOFTHCA_ENGINE_BASE_H
#define SOFTHCA_ENGINE_BASE_H

#include "engine/engine.h"
#include "fabric/path.h"
#include "hw/qp_state.h"
#include "hw/rq_ahead.h"
#include "util/clock.h"
#include "util/log.h"
#include "wire/pkt/pkt.h"
#include "wire/wqe/cqe.h"
#include "wire/wqe/wqe.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

struct eng_link;
struct eng_sender;
struct eng_transport;
struct hw_port;
struct hw_qp_path;

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
	ENG_LATER,  /* the queue is parked, and nothing was tried */
	ENG_AGAIN,  /* addresses found before are void (a gate was shut): execute the WQE again */
};

/* The reason for a failure: a row of eng_failures[] (fail.c). */
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
	ENG_W_BAD_RESP,
	ENG_W_ABORTED,
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

/*
 * One run of a send queue, on the stack of the thread that rings. eng_run_begin() clears it up to
 * `path`; what follows is written before it is read.
 */
struct eng_run {
	struct seg *s;
	struct hw_qp *qp;
	uint32_t qpn;
	uint32_t waits;        /* CQ in which completions of this run wait; SEG_NONE: none */
	struct seg_ring *ring; /* entry in the list of threads at work (running.c) */
	const struct eng_transport *transport; /* row of qp's transport */
	const struct eng_sender *sender;       /* its other one */
	struct eng_target to;
	uint32_t hdr;  /* bytes of the control segment and the transport's own segment */
	uint32_t dest; /* QPN or DCTN of the other end */
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
	uint8_t format;     /* CQE_FORMAT_DATA_*: `answer` is for the CQE of this WQE */
	uint32_t byte_cnt;  /* for the CQE of this WQE */
	uint32_t rnr_timer; /* the peer's RNR timer, IBTA code */
	enum eng_why why;
	enum eng_why late; /* why the answer was not stored, although the request was done */
	enum eng_why cut;  /* why r->local has only the first whole packets of the message */
	uint32_t part;     /* packets that have landed of a message that failed */
	uint32_t
		scatter; /* READ, atomic: offset of the first data segment, which gets the answer */
	bool injected;   /* a rule of --inject has made its outcome (fault.c) */
	bool lost;       /* the message is lost behind the sender (fault.c) */
	bool mute;       /* the answer is, behind the responder (fault.c) */
	uint32_t land;   /* so many packets land, and the rest is lost (fault.c); 0: all */
	uint64_t was;    /* the old value of an atomic's word, in the requester's byte order */
	uint64_t copied; /* bytes that a copy had done when it failed with -EFAULT */
	/* The data of the WQE at early_ci, read before an answer (early.c); bytes, 0: none. */
	uint32_t early, early_ci;
	struct fab_path path, back; /* fabric paths of the request and of its answer */
	struct eng_sgl local, remote;
	struct eng_atomic atomic;
	uint8_t answer[CQE_DATA_MAX];
	uint8_t rx[HW_RX_AHEAD];  /* copy of the receive WQE in work */
	uint8_t wqe[ENG_MAX_WQE]; /* unwrapped */
	uint8_t early_data[ENG_EARLY_MAX];
};

static inline void eng_run_begin(struct eng_run *r, struct seg *s, struct hw_qp *qp, uint32_t qpn)
{
	memset(r, 0, offsetof(struct eng_run, path));
	r->s = s;
	r->qp = qp;
	r->qpn = qpn;
	r->waits = SEG_NONE;
}

struct eng_cqe {
	uint8_t data[CQE_DATA_MAX]; /* precedes `b` in memory if the format is DATA_64 */
	uint8_t b[64];
	enum eng_why why; /* the error of an error CQE, for the trace */
};

/* trace.c: called while the topic is on. */
void eng_trace_doorbell(struct seg *s, uint32_t uar, uint32_t offset, const uint8_t v[8]);
void eng_trace_error_cqe(const struct seg *s, uint32_t cqn, const struct eng_cqe *c);
/* After flushed completions of a queue: the line of those that it has held back. */
void eng_trace_flushed(const struct seg *s);
/* `type` UINT32_MAX: the event has no type. */
void eng_trace_event(const char *what, enum seg_table_id table, uint32_t idx, uint32_t type);

/* Packets of a message. */
static inline uint32_t eng_npkts(uint64_t len, uint32_t mtu)
{
	uint32_t shift = mtu ? (uint32_t)__builtin_ctz(mtu) : 31;

	return len ? (uint32_t)((len + ((UINT64_C(1) << shift) - 1)) >> shift) : 1;
}

/* op.c: the operations of the engine, by opcode. The last one is none. */
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
#define ENG_OPS 64
extern const struct eng_op eng_ops[ENG_OPS];
static inline const struct eng_op *eng_op(uint32_t opcode)
{
	return &eng_ops[opcode < ENG_OPS ? opcode : ENG_OPS - 1];
}

/*
 * Read the producer index in the doorbell record. It counts only in ERR: before, the device works
 * with hw_qp.sq_pi (the QPC's sw_sq_wqebb_counter), where the last doorbell was. Polled doorbells
 * are seen in the record alone.
 */
int sq_read_pi(struct seg *s, const struct hw_qp *qp, uint32_t *pi);
/*
 * Fetches the WQE at r->ci into r->wqe, without wrapping. 0; > 0: enum eng_why; < 0: mem_* error.
 */
int sq_fetch(struct eng_run *r, uint32_t pi);
int sq_read_wqe(struct seg *s, const struct hw_qp *qp, uint32_t ci, uint32_t off, void *dst,
		uint32_t len);
/* Make that process's device thread check all its queues. */
void park_rouse(struct seg *s, uint32_t slot);
/*
 * Asks the process's device thread to look within ENG_LOOK_NS; wakes it only if it would sleep
 * longer.
 */
void park_look(struct seg *s, uint32_t slot);
void park_pending(struct seg *s, struct hw_qp *qp, uint32_t pend);

#endif
