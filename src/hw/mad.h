/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The shared state of MADs: registered agents, and sends that wait for an answer. The umad file
 * owns them (SEG_T_FILE index + 1), so that they are freed with it. src/umad works on them.
 */
#ifndef SOFTHCA_HW_MAD_H
#define SOFTHCA_HW_MAD_H

#include "hw/chain.h"

#define MAD_AGENT_METHODS 128

struct mad_agent { /* SEG_T_AGENT */
	uint32_t gen;
	_Atomic uint32_t ready; /* stored last: nobody finds the agent before */
	uint32_t file, file_gen;
	uint32_t port;       /* SEG_T_PORT */
	uint32_t id;         /* number of the agent in its file */
	uint32_t qpn;        /* 0 SMI, 1 GSI */
	uint32_t mgmt_class; /* 0: the agent receives answers only */
	uint32_t class_version;
	uint32_t oui;
	uint32_t rmpp_version;
	uint32_t flags; /* IB_USER_MAD_USER_RMPP */
	uint64_t methods[MAD_AGENT_METHODS / 64];
	_Atomic uint32_t claims;       /* not ready yet, but claims its methods */
	uint32_t claimer, claimer_gen; /* the process that claims */
} SEG_ELEM;

/*
 * The high half of a transaction ID names the agent: 24 bits as in the kernel; the low bits are its
 * index (SEG_T_AGENT has 64 Ki elements), the others come from its generation.
 */
static inline uint32_t mad_agent_tid(uint32_t idx, uint32_t gen)
{
	return (gen & 0xff) << 16 | idx;
}

/*
 * A reference to an element of a table: index and generation, so that it stays unique when the
 * element is reused.
 */
#define MAD_REF(gen, idx) ((uint64_t)(gen) << 32 | (idx))
#define MAD_REF_IDX(ref) ((uint32_t)(ref) & ~MAD_REF_GOING)
#define MAD_REF_GEN(ref) ((uint32_t)((ref) >> 32))
#define MAD_REF_GOING UINT32_C(0x80000000) /* in mad_send.next: this send is leaving its chain */

/*
 * TAKEN: one process delivers what ends the send, an answer or a time-out (`owed`). ENDED: the
 * reader has that, or gets nothing; the process that ended it frees it. Both states name the
 * process: if it dies, the supervisor continues.
 */
enum mad_send_state { MAD_SEND_NEW, MAD_SEND_WAITS, MAD_SEND_TAKEN, MAD_SEND_ENDED };

struct mad_send { /* SEG_T_MSEND */
	uint32_t gen;
	_Atomic uint32_t owed;   /* 1: a record is owed to its reader (evq_debt.c) */
	_Atomic uint64_t paying; /* the record that pays it */
	_Atomic uint64_t state;  /* mad_send_word() */
	uint32_t agent, agent_gen;
	uint32_t slot, slot_gen; /* the process that raises the time-out */
	uint32_t port;
	uint32_t timeout_ms;
	_Atomic uint32_t retries_left;
	_Atomic uint64_t deadline; /* clock_now_ns() */
	uint32_t chain;            /* SEG_T_MCHAIN */
	_Atomic uint64_t next;     /* MAD_REF() of the next send in the chain, with MAD_REF_GOING */
	uint8_t hdr[64];           /* struct ib_user_mad_hdr as the program wrote it */
	uint8_t mad[256];
	/*
	 * For RMPP in the kernel's role: the data behind the header in `mad`, sent in `segs`
	 * segments (0: a single MAD, which uses none of these fields). The holder of `pump` sends
	 * segments; others set `again`, and the holder goes on. Only the pump frees a send that is
	 * ENDED.
	 */
	uint32_t segs, max_retries;
	struct seg_lock pump;
	_Atomic uint32_t again, restart;
	_Atomic uint64_t acked; /* last segment of the window << 32 | last segment acknowledged */
	uint32_t seg_num;       /* the last segment sent */
	uint32_t seg_most;      /* ... so far: those up to it are repeats */
	uint32_t pos_seg;       /* the segment after which `pos` points */
	struct chain_pos pos;
	struct seg_chain data;
	uint32_t last_len; /* bytes in the last segment */
} SEG_ELEM;

/*
 * Contains the generation, so that no late process changes a later send. `who`: mad_me(), or 0:
 * none.
 */
static inline uint64_t mad_send_word(uint32_t gen, uint32_t who, enum mad_send_state state)
{
	return (uint64_t)gen << 32 | who << 2 | state;
}

static inline enum mad_send_state mad_send_state(uint64_t word)
{
	return (enum mad_send_state)(word & 3);
}

#define MAD_WHO_GENS 14
static inline uint32_t mad_me(const struct seg *s)
{
	return (uint32_t)who_me(s, MAD_WHO_GENS);
}

static inline struct who mad_send_who(uint64_t word)
{
	return who_of((uint32_t)word >> 2, MAD_WHO_GENS);
}

static inline bool mad_send_is(const struct mad_send *m, uint32_t gen, enum mad_send_state state)
{
	uint64_t word = atomic_load(&m->state);

	return word >> 32 == gen && mad_send_state(word) == state;
}

/* Chains of sends whose transaction ID and class have the same hash. */
#define MAD_CHAINS 4096u
struct mad_chain { /* SEG_T_MCHAIN; never claimed */
	uint32_t gen;
	_Atomic uint64_t head; /* MAD_REF() of a mad_send; 0: the end */
} SEG_ELEM;

enum mad_recv_state { MAD_RECV_NEW, MAD_RECV_ACTIVE, MAD_RECV_COMPLETE };

/* A long MAD that an agent receives or has received recently. */
struct mad_recv { /* SEG_T_MRECV */
	uint32_t gen;
	_Atomic uint32_t state; /* enum mad_recv_state; stored last */
	/* protects the segments: only this message's sender competes for it */
	struct seg_lock lock;
	_Atomic uint32_t drop; /* set to `gen`: the lock's next holder frees the message */
	uint32_t agent, agent_gen;
	uint32_t slot, slot_gen; /* the process that raises the time-out */
	uint32_t torn; /* a change is unfinished: the next holder after a death drops the message */
	_Atomic uint64_t deadline;
	uint64_t tid;
	uint32_t qpn, slid, mgmt_class, class_version, method;
	int32_t seg_num;        /* all segments up to this one have arrived */
	int32_t newwin;         /* end of the window that the sender may use */
	int32_t last_ack;       /* the last ACK sent */
	_Atomic int32_t repwin; /* the first window of the answer */
	uint32_t flags, paylen; /* of segment seg_num */
	struct seg_chain msg; /* struct ib_user_mad_hdr and the message as far as it has arrived */
	uint32_t early;       /* SEG_T_EVBUF index: segments after a gap, in order */
	/* The destination of answers, and their header. */
	uint32_t pkey_index, sl, grh, gid_kind, hop_limit, traffic_class, flow_label;
	uint8_t sgid[16], dgid[16];
	uint8_t mad[64];
} SEG_ELEM;

#endif
