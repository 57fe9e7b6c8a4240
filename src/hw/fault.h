/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Faults on purpose, as they lie in the segment: rules of --inject that the supervisor has stored.
 * src/fault reads their text, and decides at each moment whether one fires.
 */
#ifndef SOFTHCA_HW_FAULT_H
#define SOFTHCA_HW_FAULT_H

#include "segment/seg.h"

#define HW_FAULTS 64      /* rules of a fabric at a time */
#define HW_FAULT_TEXT 256 /* bytes of a rule, with the 0 */
#define HW_FAULT_NAME 32  /* of a name in it */
#define HW_FAULT_WHATS 4  /* parts of what it does */
#define HW_FAULT_NAMED 0x100
#define HW_FAULT_LOSING 16  /* messages whose repeats are still to be lost */
#define HW_FAULT_COUNTED 64 /* QPs, processes or hosts with a count of their own (per=) */

/* The moments at which a rule may fire. A bit of each that some rule waits for is in seg_hdr. */
enum hw_moment {
	HW_AT_NEVER,
	HW_AT_CALL, /* a method or write command of uverbs, by the name of libibverbs' function */
	HW_AT_CM_CALL, /* a command of rdma_cm, by that of librdmacm's */
	HW_AT_FW,      /* a firmware command */
	HW_AT_WR,      /* a send work request is executed */
	HW_AT_RECV,    /* a receive is taken */
	HW_AT_CQE,     /* a completion is written */
	HW_AT_CM,      /* a message of connection managers has come to its port */
	HW_AT_MAD,     /* a MAD has */
	HW_AT_CABLE,   /* a message of a QP leaves a port, or comes to it */
	HW_MOMENTS,
	/* What the supervisor does at a time, or after an event, not at moments of its own. */
	HW_ACT_PROCESS = HW_MOMENTS,
	HW_ACT_PORT,
	HW_ACT_DEVICE,
	HW_ACT_QP,
	HW_ACT_SRQ,
	HW_ACT_WQ,
	HW_ACTS_END
};

/* What narrows a rule; a bit of hw_fault_sel.have for each that is given. */
enum hw_fault_key {
	HW_FK_PID,
	HW_FK_HOST,
	HW_FK_COMM,
	HW_FK_DEV,
	HW_FK_CMD,
	HW_FK_PORT,
	HW_FK_QP,
	HW_FK_TYPE,
	HW_FK_SIZE,
	HW_FK_NTH,
	HW_FK_CQ,
	HW_FK_SRQ,
	HW_FK_WQ,
	HW_FK_MSG,
	HW_FK_CLASS,
	HW_FK_METHOD,
	HW_FK_ATTR,
	HW_FK_LID,
	HW_FAULT_KEYS
};

/* A place of the fabric's work: which moments are meant. */
struct hw_fault_sel {
	uint32_t moment; /* enum hw_moment */
	uint32_t where;  /* row of fault_wheres[] */
	uint32_t id;     /* which of its kind: a row of its names, an opcode...; UINT32_MAX: any */
	uint32_t have;
	uint32_t pid, port, qpn, st;
	uint32_t nth, num; /* the how-manieth of its process; a CQ's, SRQ's or WQ's number */
	uint64_t size;
	/* A name of classes is any number in it and HW_FAULT_NAMED; of `attr` the class << 16, 0:
	 * any */
	uint32_t mad_class, method, attr, lid;
	char host[HW_FAULT_NAME], dev[HW_FAULT_NAME], comm[16];
};

enum hw_fault_per { HW_PER_FABRIC, HW_PER_HOST, HW_PER_PROCESS, HW_PER_QP };

/* From the how-manieth moment on, to which, and every how-manieth. */
struct hw_fault_when {
	uint64_t first, last, step;
	uint64_t of_2_32;  /* of 2^32 moments so many, drawn by the seed; 0: each */
	uint64_t budget;   /* how often it fires at most; 0: any number */
	uint32_t per;      /* enum hw_fault_per: what is counted by itself */
	uint64_t until_ns; /* of the fabric's time; 0: for ever */
	uint64_t at_ns;    /* when an act happens, of the fabric's time; 0: by an event */
	struct hw_fault_sel after, before; /* HW_AT_NEVER: from the start; to the end */
	uint64_t after_n, before_n;        /* of those moments */
};

/* What a rule does: rows of fault_whats[], each with its value. */
struct hw_fault_effect {
	uint32_t n;
	uint32_t what[HW_FAULT_WHATS];
	uint64_t value[HW_FAULT_WHATS];
	uint8_t gid[16]; /* beside an effect whose value is the index of a GID */
};

struct hw_fault { /* SEG_T_FAULT; the index is the number that users see */
	uint32_t gen;
	struct hw_fault_effect does;
	struct hw_fault_sel sel;
	struct hw_fault_when when;
	uint64_t seed;
	/* What has happened: moments that fit, firings, moments of `after` and `before`. */
	_Atomic uint64_t seen, fired, after_seen, before_seen;
	/*
	 * An act that the supervisor must do now, or that it has done. `whose`: 1 + slot, and
	 * generation << 32, of the process that made the event, if the act is about it; 0: all that
	 * fit.
	 */
	_Atomic uint32_t due, done;
	_Atomic uint64_t whose;
	struct {
		_Atomic uint64_t key; /* 0: free */
		_Atomic uint64_t seen;
	} own[HW_FAULT_COUNTED];
	struct {
		_Atomic uint64_t message; /* fault_moment.message */
		_Atomic uint64_t left;
	} losing[HW_FAULT_LOSING];
	_Atomic uint64_t busy; /* cable: until when it sends, clock_now_ns() */
	char text[HW_FAULT_TEXT];
} SEG_ELEM;

/* Set in seg_proc.memlock if a rule has set it: then it holds for root, too. */
#define HW_FAULT_MEMLOCK (UINT64_C(1) << 62)

static inline bool hw_fault_memlock(uint64_t *bytes)
{
	if (*bytes >> 62 != 1) /* no limit: all bits */
		return false;
	*bytes &= HW_FAULT_MEMLOCK - 1;
	return true;
}

static inline struct hw_fault *hw_fault(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_FAULT, i);
}

#endif
