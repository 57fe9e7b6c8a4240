/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Faults on purpose: whether a rule of --inject fires at a moment (softhca-inject(1) has the words
 * of rules). The code that has such a moment asks fault_waits(), which is one load and one branch,
 * then fault_hit(), and does itself what the rule says: the device has the fault, and its
 * consequences follow as on a card. It knows no rule's words.
 */
#ifndef SOFTHCA_FAULT_FAULT_H
#define SOFTHCA_FAULT_FAULT_H

#include "hw/fault.h"

#include <stdbool.h>

/* What a rule does, with the value of fault_does(). */
enum fault_what {
	FAULT_ERROR,    /* the call fails with this errno, and nothing else happens */
	FAULT_STATUS,   /* the firmware command has this status, and nothing else happens */
	FAULT_SYNDROME, /* and this syndrome */
	FAULT_KILL,     /* the process gets SIGKILL */
	FAULT_FILES,    /* its RLIMIT_NOFILE is so low */
	FAULT_MEMORY,   /* it can lock so many bytes */
	FAULT_STOP,     /* SIGSTOP, and SIGCONT after so many ns */
	FAULT_DOWN,     /* the port has no cable any more */
	FAULT_UP,       /* it has it again */
	FAULT_FLAP,     /* the same, so many ns later */
	FAULT_PKEY,     /* entry value >> 32 of the P_Key table */
	FAULT_LID,
	FAULT_REREGISTER, /* ClientReregister, as a new subnet manager sends it */
	/* Of a message. */
	FAULT_LOST,       /* once */
	FAULT_LATE,       /* it is executed so many ns later */
	FAULT_CUT,        /* so many packets land, and the rest is lost, once */
	FAULT_UNANSWERED, /* the responder executes it, and its answer is lost, once */
	FAULT_DUPLICATED, /* it arrives twice */
	FAULT_RNR,        /* the receiver is not ready, once */
	FAULT_WC,         /* the work request ends with this enum ibv_wc_status */
	FAULT_RECV_WC,    /* the receive does, and the sender gets what follows from it */
	/* Of an adapter. */
	FAULT_FATAL,
	/* It has room for so many of these objects; those that are there stay. */
	FAULT_QPS,
	FAULT_CQS,
	FAULT_SRQS,
	FAULT_MRS,
	FAULT_PDS,
	FAULT_UNPLUG, /* and so many ns later it is there again; 0: never */
	/* Of an object: an event (IBV_EVENT_*) with its cause. */
	FAULT_QP_EVENT,
	FAULT_SRQ_EVENT,
	FAULT_WQ_EVENT,
	FAULT_OVERRUN, /* a completion finds the CQ full */
	/* Of a MAD. */
	FAULT_MAD_LOST,   /* so many times: it, and its first repeats */
	FAULT_MAD_STATUS, /* it is refused with this status where it has come to */
	FAULT_REJECT,     /* a REQ or REP is, with this reason of a REJ */
	FAULT_GID,        /* entry `value` of a port's GID table is hw_fault_effect.gid; 0: none */
	FAULT_SM_CHANGE,  /* a port says that it has another subnet manager */
	/* Of a message, too. */
	FAULT_NAK,        /* its answer is this NAK (IBA 9.7.5.2.8), once */
	FAULT_VENDOR_ERR, /* of the completion with which it ends, beside those above */
	/* Of a cable: how long a packet is on it, and bits in a second. */
	FAULT_LATENCY,
	FAULT_RATE,
	FAULT_WHATS
};

/* Whom a moment is about: one end of a connection, or a caller. SEG_NONE: nobody. */
struct fault_end {
	uint32_t proc;    /* SEG_T_PROC index */
	uint32_t hca;     /* SEG_T_HCA index */
	uint32_t port;    /* its number, from 1; 0: none */
	uint32_t lid;     /* the port's; 0: none */
	uint32_t qpn, st; /* the QP and its service, if `qp` */
	bool qp;
	uint32_t nth;  /* the how-manieth of its process; 0: unknown */
	uint32_t kind; /* HW_FK_CQ, HW_FK_SRQ, HW_FK_WQ: `num` is such a number */
	uint32_t num;
};

struct fault_moment {
	enum hw_moment at;
	const char *name; /* HW_AT_CALL, HW_AT_CM_CALL: as a trace says it */
	uint32_t id;      /* HW_AT_FW, HW_AT_WR: the opcode; HW_AT_CM, HW_AT_MAD: the attribute */
	struct fault_end end[2];
	/* HW_AT_WR, HW_AT_RECV */
	uint64_t size;
	uint32_t packets;
	bool answered, received; /* it is acknowledged; it takes a receive */
	bool sequenced;          /* its responder tells duplicates and losses by PSNs */
	/* HW_AT_CM, HW_AT_MAD */
	uint32_t mad_class, method;
	uint64_t message; /* tells it from all others */
	bool again;       /* its sender repeats it: not counted */
};

/* Does any rule wait for one of these moments, a bit each? */
static inline bool fault_waits_of(const struct seg *s, uint32_t moments)
{
	return __builtin_expect(
		atomic_load_explicit(&s->hdr->faults, memory_order_relaxed) & moments, 0);
}

static inline bool fault_waits(const struct seg *s, enum hw_moment at)
{
	return fault_waits_of(s, 1u << at);
}

/*
 * Counts the moment at all rules that it fits. True: one fires, the first that is due, and *e is
 * what it does. Takes no lock, callable in a trap.
 */
bool fault_hit(struct seg *s, const struct fault_moment *m, struct hw_fault_effect *e);
/*
 * HW_AT_CABLE: when a message that is sent at `from`, and goes over cables of rules `times` times,
 * has arrived.
 */
uint64_t fault_cable(struct seg *s, const struct fault_moment *m, uint64_t from, uint32_t times);
/* Is that among it? *value: what stands behind the =, 0 without it. */
bool fault_does(const struct hw_fault_effect *e, enum fault_what w, uint64_t *value);
/* Is this one of those that the rule is about? */
bool fault_is_of(const struct seg *s, const struct hw_fault *f, const struct fault_end *e);
/* Tells traces and captures that it fires now. */
void fault_fired(const struct seg *s, const struct hw_fault *f);
/* Is there a rule that does something to a process, a port, an adapter or an object? */
bool fault_acts(const struct seg *s);
/* The bits of seg_hdr.faults, after the rules have changed. The supervisor's. */
void fault_set_waits(struct seg *s);

/* HW_AT_CALL, HW_AT_CM_CALL: the error that a rule gives the caller of `name` on this adapter; 0.
 */
int fault_call(struct seg *s, enum hw_moment at, const char *name, uint32_t hca);

#endif
