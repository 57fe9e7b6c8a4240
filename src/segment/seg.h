/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The segment: the fabric's shared memory, one sealed memfd that every process of the fabric maps.
 * It holds what belongs to the hardware, in tables addressed by index. A sparse file: only touched
 * pages cost memory. No pointers inside, ever.
 *
 * Ownership. Each table has, beside its elements, one 32-bit owner word per element:
 *	0                     free
 *	SEG_OWNER_DEVICE      made when the fabric was (HCAs, ports, EQs)
 *	file index + 1        belongs to that open file (see SEG_T_FILE) and dies with it
 *	SEG_CLAIMING...       being prepared by the process named in the word: not live yet
 * An element is claimed by a compare-and-swap of its owner word to a claiming word, then zeroed,
 * and becomes live when the owner is stored; it is freed by storing 0. Each is the last store of
 * its operation: a process killed at any instruction leaves no torn object behind, and a claim
 * whose process is dead is taken over by the next search that meets it. An element that is live but
 * not filled in yet is all zero except `gen`. Everything that an open file owns can be found by
 * scanning owner words, without help from the (perhaps dead) process that made it: that is how a
 * dead process's objects are reaped.
 */
#ifndef SOFTHCA_SEGMENT_SEG_H
#define SOFTHCA_SEGMENT_SEG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEG_MAGIC UINT64_C(0x534f465448434131) /* "SOFTHCA1" */
#define SEG_LAYOUT_VERSION 37u

#define SEG_OWNER_FREE 0u
#define SEG_OWNER_DEVICE UINT32_MAX
#define SEG_NONE UINT32_MAX /* "no index" */

/* For every element's struct: makes its size a multiple of 64. */
#define SEG_ELEM __attribute__((aligned(64)))
/* In the list of tables, for elements whose struct only one file of a higher layer knows. */
struct seg_elem_64 {
	uint8_t bytes[64];
};
struct seg_elem_128 {
	uint8_t bytes[128];
};

/*
 * Every table: T(id, struct, elements, first index). An index is a number on the wire where a kind
 * has one: capacities keep it within its field (24 bits; UAR page ids and LIDs 16). QPNs 0 and 1
 * are the management QPs', and 0x40 is where a card starts. K and M: see seg.c.
 */
#define SEG_TABLES(T)                                                                            \
	T(PROC, seg_proc, 16 * K, 1)    /* processes; the index is the memory slot (proc.h) */   \
	T(SLOT, seg_slot, 16 * K, 1)    /* requests; index == its process's (slot.h) */          \
	T(FILE, seg_file, 64 * K, 1)    /* open virtual files (proc.h) */                        \
	T(EVQ, seg_evq, 64 * K, 1)      /* event queues; index == its file's index (evq.h) */    \
	T(EVREC, seg_evrec, 1 * M, 1)   /* pool of queued event records (evq.h) */               \
	T(EVBUF, seg_evdata, 1 * M, 1)  /* pieces of a record's data (evq.h) */                  \
	T(EVSUB, seg_evsub, 256 * K, 1) /* subscriptions to events (evsub.h) */                  \
	T(EVTAB, seg_evhash, EVSUB_CHAINS, 1) /* their chains; never claimed (evsub.h) */        \
	T(WORD, seg_word, MEM_WORD_LOCKS, 1)  /* locks of memory words, never claimed (mem.h) */ \
	T(AHEAD, hw_rq_ahead, 1 * M + 0x40, 0x40) /* index = qpn; never claimed (rq_ahead.h) */  \
	T(SRQAHEAD, hw_rq_ahead, 16 * K + 1, 1)   /* index = srqn; never claimed (rq_ahead.h) */ \
	T(AGENT, mad_agent, 64 * K, 1) /* registered agents: which MADs each receives (mad.h) */ \
	T(MSEND, mad_send, 64 * K, 1)  /* MADs that wait for an answer */                        \
	T(MCHAIN, mad_chain, MAD_CHAINS, 1)  /* chains of such MADs; never claimed */            \
	T(MRECV, mad_recv, 64 * K, 1)        /* long MADs that come in segments */               \
	T(CAP, seg_cap, 2, 1)                /* the capture: one element (cap.h) */              \
	T(CAPREC, seg_cap_rec, CAP_SLOTS, 1) /* packets of the capture; never claimed */         \
	T(HOST, hw_host, 32 * K, 1)          /* owner DEVICE (hca.h) */                          \
	T(HCA, hw_hca, 32 * K, 1)            /* owner DEVICE */                                  \
	T(PORT, hw_port, 448 * K, 1)         /* owner DEVICE; of adapters and switches */        \
	T(GIDS, hw_more_gids, 8 * K, 1)      /* long GID tables (port.h) */                      \
	T(NODE, fab_node, 48 * K, 1)         /* adapters and switches (fab.h) */                 \
	T(SWITCH, fab_switch, 8 * K, 1)                                                          \
	T(LFT, fab_lft, 8 * K, 1)       /* same index as SEG_T_SWITCH; never claimed */          \
	T(MFT, fab_mft, 8 * K, 1)       /* same index as SEG_T_SWITCH; never claimed */          \
	T(SL2VL, fab_sl2vl, 256 * K, 1) /* virtual lanes of ports, once set */                   \
	T(VLARB, fab_vl_arb, 256 * K, 1)                                                         \
	T(NOTICE, fab_notice, 16 * K, 1)      /* notices for subnet managers */                  \
	T(SUBNET, fab_subnet, 2, 1)           /* state of the whole subnet: one element */       \
	T(CTR, fab_ctr, 448 * K, 1)           /* same index as SEG_T_PORT; never claimed */      \
	T(CTRBASE, fab_ctr_base, 448 * K, 1)  /* same index as SEG_T_PORT; never claimed */      \
	T(USE, hw_use, 32 * K, 1)             /* same index as SEG_T_HCA; never claimed */       \
	T(TOLD, hw_tolds, 32 * K, 1)          /* same index as SEG_T_HCA; never claimed */       \
	T(MCGRP, fab_mcgrp, FAB_MLIDS + 1, 1) /* multicast groups of the built-in SA (fab.h) */  \
	T(MCMEM, fab_mcmem, 128 * K, 1)       /* members of multicast groups */                  \
	T(SAREC, fab_sarec, 32 * K, 1)        /* SA records that clients store */                \
	T(FAULT, hw_fault, HW_FAULTS + 1, 1)  /* rules of --inject (fault.h) */                  \
	T(MCGTAG, hw_mcg_tags, 4 * K, 0)      /* for searches of SEG_T_MCG; never claimed */     \
	T(MEMBANK, hw_membank, HW_MEMIC_BANKS + 1, 1)        /* adapters with device memory */   \
	T(MEMBYTES, hw_membank_bytes, HW_MEMIC_BANKS + 1, 1) /* same index; never claimed */     \
	T(ADOPT, seg_adopt, ADOPT_CHUNKS + 1, 1)             /* chunks of the pool (adopt.h) */  \
	T(POOL, seg_pool, ADOPT_CHUNKS + 1, 1)               /* same index; never claimed */     \
	HW_KINDS(T)

/*
 * Objects of firmware commands: the last tables, each after those that it refers to. All else that
 * is known of a kind is its row, FW_KIND() beside its commands in fw/.
 */
#define HW_KINDS(T)                                                                            \
	T(XRCD, hw_xrcd, 64 * K, 1)            /* index = xrcd */                              \
	T(PD, hw_pd, 256 * K, 1)               /* index = pdn */                               \
	T(UAR, hw_uar, 65535, 1)               /* index = UAR page id */                       \
	T(EQ, hw_eq, 256 * K, 1)               /* index = eqn (hca.h) */                       \
	T(UMEM, hw_umem, 2 * M, 1)             /* index = umem id */                           \
	T(KLM, hw_klm, 128 * K, 1)             /* lists of indirect mkeys */                   \
	T(TM, hw_tm, 1 * K + 1, 1)             /* tag lists of XRQs (tm.h) */                  \
	T(ZIP, hw_zip, 4 * K, 1)               /* CQEs of CQs with compression (zip.h) */      \
	T(MEMIC, hw_memic, 16 * K, 1)          /* allocations of device memory */              \
	T(MKEY, hw_mkey, 2 * M, HW_FIRST_MKEY) /* index = key >> 8 */                          \
	T(CQ, hw_cq, 1 * M + 1, 1)             /* index = cqn */                               \
	T(SRQ, hw_srq, 256 * K + 1, 1)         /* index = srqn */                              \
	T(QCTR, hw_qctr, 16 * K, 1)            /* sets of Q counters */                        \
	T(OBJ, hw_obj, 64 * K + 1, 1)    /* index = rqn, sqn, tirn...: one space of numbers */ \
	T(QP, hw_qp, 1 * M + 0x40, 0x40) /* index = qpn or dctn */                             \
	T(MCG, hw_mcg, 64 * K, 1)        /* QPs attached to a multicast group */               \
	T(SHARE, hw_share, 64 * K, 1)    /* an open file's part in an XRC domain or XRC QP */

#define SEG_TABLE_ID(id, type, capacity, first) SEG_T_##id,
enum seg_table_id { SEG_TABLES(SEG_TABLE_ID) SEG_T_COUNT };
#define HW_KIND_FIRST SEG_T_XRCD
#define HW_KIND_COUNT (SEG_T_COUNT - HW_KIND_FIRST)

struct seg_table_hdr {
	uint32_t capacity;  /* 1 + the highest index; index 0 is never allocated */
	uint32_t elem_size; /* bytes, a multiple of 64 */
	/* Of index 0: elements, page aligned, and uint32_t[]. Add as numbers: they may wrap. */
	uint64_t elems_off;
	uint64_t owner_off;
	_Atomic uint32_t hint; /* start of the next search: ids are allocated cyclically */
	_Atomic uint32_t high; /* 1 + highest index ever claimed: bound of every scan */
	_Atomic uint32_t live; /* claimed elements */
	uint32_t first;        /* lowest index that seg_alloc may return */
	/* no generation of an element whose page was given back (seg_trim()) exceeds it */
	_Atomic uint32_t gen;
	uint32_t sparse; /* not 0: ids are anywhere, not cyclic */
	uint32_t base;   /* there are no elements below this index, see seg_shift() */
	uint32_t pad;
	uint64_t used_off; /* uint32_t[]: claimed elements per SEG_BLOCK; never too low */
};

/* The request for a trace of the whole fabric (tap.h). */
struct seg_tap {
	_Atomic uint32_t turn; /* odd: there is such a trace; each has another number */
	char topics[124];
	char options[1152];
};

struct seg_hdr {
	uint64_t magic;
	uint32_t layout_version;
	uint32_t hdr_size;
	uint64_t size; /* size of the whole segment, bytes */
	uint32_t supervisor_pid;
	_Atomic uint32_t down;     /* 1: the supervisor is going away */
	_Atomic uint32_t capture;  /* a capture runs: packets are added to it (cap.h) */
	_Atomic uint32_t faults;   /* bits of enum hw_moment: rules wait for it (fault.h) */
	_Atomic uint32_t adopting; /* 1: memory of a process may be adopted, or was (adopt.h) */
	/*
	 * Incremented when a key or QP is revoked from the threads that use it
	 * (engine/keys/running.c).
	 */
	_Atomic uint64_t epoch;
	char name[64]; /* name of the fabric */
	struct seg_table_hdr table[SEG_T_COUNT];
	struct seg_tap tap;
};

/* A mem descriptor of another process, kept because process_vm_* refuses that process (mem.c). */
struct seg_memfd {
	_Atomic uint64_t key; /* SEG_MEMFD_KEY(); 0 empty */
	_Atomic uint32_t users;
};
#define SEG_MEMFDS 32

/* The descriptor that is being fetched (mem_fetch()). */
struct seg_memget {
	_Atomic uint64_t want; /* key of the wanted descriptor, without its fd; 0: none */
	_Atomic uint32_t busy; /* a thread is fetching */
	int sock;              /* 1 + a connection that has requested `asked`; 0: none */
	uint64_t asked;
};

/* A path through the fabric that this process has found (fabric/path.c). */
#define SEG_PATHS 256
#define SEG_PATH_WORDS 15
struct seg_path {
	_Atomic uint32_t seq; /* odd while a thread writes it */
	_Atomic uint64_t word[SEG_PATH_WORDS];
};

/* A process's mapping of the segment, and the process's own data about it. */
struct seg {
	struct seg_hdr *hdr;
	uint8_t *base;
	uint64_t size;
	int fd;            /* the memfd, at a number that programs do not use */
	uint32_t self;     /* this process's memory slot (SEG_T_PROC); SEG_NONE before it joins */
	uint32_t self_gen; /* generation of that slot */
	/* the pid that `self` belongs to; differs from a raw getpid() in a (v)fork child */
	uint32_t self_pid;
	/* inode of this process's PID namespace: pids of other namespaces mean nothing here */
	uint64_t pid_ns;
	char dir[256]; /* the fabric's directory */
	struct seg_memfd memfd[SEG_MEMFDS];
	struct seg_memget memget;
	/*
	 * 1 + a descriptor that is closed when no other is free for a file of /proc (look.c); 0:
	 * none
	 */
	_Atomic int spare_fd;
	_Atomic uint32_t said;     /* diagnostics that are given once (mem.c) */
	_Atomic uint32_t tap_seen; /* the last `turn` of seg_hdr.tap that was taken up */
	_Atomic uint32_t tap_busy; /* tid of the thread that is taking it; 0: none */
	/*
	 * 1 + the slot in which odp.c last made pages present: [0] of another process, [1] our own
	 */
	_Atomic uint32_t odp_warm[2];
	uint32_t pace;     /* enum hw_pace */
	bool unfenced;     /* enum hw_answers is LATE (early.c) */
	bool spurious;     /* every second arm of a CQ raises an event */
	bool may_wait;     /* a doorbell may wait for a receiver (ready.c) */
	bool polled;       /* this process's doorbells are polled, not trapped */
	bool plain_timers; /* RoCE: no adaptive retransmissions, time-outs as specified (tries.c) */
	/* 1 + descriptor of the supervisor's connection, for link_wake(); 0: none */
	_Atomic int wake_fd;
	/*
	 * Takes GMPs for the kernel of the port's host, each a struct cm_pkt (umad/kernel.c). In
	 * the supervisor this is its connection manager; NULL: the supervisor is asked.
	 */
	void (*gmp)(struct seg *s, const void *pkt);
	/* In the supervisor: its loop looks again, as at link_sweep(); NULL: it is asked. */
	void (*sweep)(struct seg *s);
	void *super; /* for both: the struct sup */
	struct seg_path path[SEG_PATHS];
};

/* Make a new, empty segment (the supervisor) and map it. `name`: the fabric's. -EFBIG: the file
 * size limit (ulimit -f), -ENOMEM: the address space limit (ulimit -v), else -errno. */
int seg_create(struct seg *s, const char *name);
/*
 * Map a segment received by descriptor; initialises *s. -EPROTO: not a segment; -EPROTONOSUPPORT:
 * another layout; -ENOMEM: ulimit -v. Takes fd, also on failure.
 */
int seg_map(struct seg *s, int fd);
/* Drops the mapping and its descriptor; accepts a zeroed struct seg. */
void seg_unmap(struct seg *s);

/*
 * Claim a free element: zeroed except `gen`, owner set last. 0, or -ENOSPC when the table is full.
 * Amortised constant time. Indices rotate in a window of 512 (queues: 16384) or four times the
 * number of live elements, whichever is more: none is reused at once, and a long-lived fabric
 * touches few pages. By convention every element starts with `uint32_t gen`: it survives reuse, is
 * incremented by each claim and is never 0, so that a stale (index, gen) pair is recognised.
 */
int seg_alloc(struct seg *s, enum seg_table_id t, uint32_t owner, uint32_t *idx);
/*
 * The same in two steps. In between the element belongs to this process and cannot be found, and is
 * freed if the process dies; so its data can be completed before it becomes visible.
 */
int seg_alloc_begin(struct seg *s, enum seg_table_id t, uint32_t *idx);
void seg_alloc_end(struct seg *s, enum seg_table_id t, uint32_t owner, uint32_t idx);
/* Claim one given index, 1 and up: 0, -EBUSY (taken), -EINVAL (out of range). */
int seg_alloc_at(struct seg *s, enum seg_table_id t, uint32_t owner, uint32_t idx);
/* Idempotent; an index out of range has no effect. */
void seg_free(struct seg *s, enum seg_table_id t, uint32_t idx);
/* The same, but only if `owner` owns it. */
void seg_free_of(struct seg *s, enum seg_table_id t, uint32_t owner, uint32_t idx);

static inline struct seg_table_hdr *seg_table(const struct seg *s, enum seg_table_id t)
{
	return &s->hdr->table[t];
}

static inline _Atomic uint32_t *seg_owner_word(const struct seg *s, enum seg_table_id t,
					       uint32_t idx)
{
	return (_Atomic uint32_t *)((uintptr_t)s->base + seg_table(s, t)->owner_off +
				    sizeof(uint32_t) * (uint64_t)idx);
}

/* The element, live or not; NULL when the index is out of range. Indices come from programs: check.
 */
static inline void *seg_at(const struct seg *s, enum seg_table_id t, uint32_t idx)
{
	const struct seg_table_hdr *h = seg_table(s, t);
	void *e = idx >= h->capacity || idx < h->base ? NULL
						      : (void *)((uintptr_t)s->base + h->elems_off +
								 (uint64_t)idx * h->elem_size);

	/* A caller that knows its index does not test; gcc -O3 must not see the NULL and warn. */
	__asm__("" : "+r"(e));
	return e;
}

/* A claiming word: 2 in the top bits, then who claims (who.h). */
#define SEG_CLAIMING UINT32_C(0x80000000)
#define SEG_CLAIM_GENS 16
static inline bool seg_is_claiming(uint32_t word)
{
	return word >> 30 == SEG_CLAIMING >> 30;
}

/* The owner of a live element; SEG_OWNER_FREE for any other index. */
static inline uint32_t seg_owner(const struct seg *s, enum seg_table_id t, uint32_t idx)
{
	const struct seg_table_hdr *h = seg_table(s, t);
	uint32_t word;

	if (idx >= h->capacity || idx < h->base)
		return SEG_OWNER_FREE;
	word = atomic_load_explicit(seg_owner_word(s, t, idx), memory_order_acquire);
	return seg_is_claiming(word) ? SEG_OWNER_FREE : word;
}

/* The element if it is live, else NULL. */
static inline void *seg_live(const struct seg *s, enum seg_table_id t, uint32_t idx)
{
	return seg_owner(s, t, idx) == SEG_OWNER_FREE ? NULL : seg_at(s, t, idx);
}

/* The next index >= from whose owner is `owner` (or any live one, with SEG_OWNER_ANY); SEG_NONE at
 * the end.
 */
#define SEG_OWNER_ANY (UINT32_MAX - 1)
uint32_t seg_next(const struct seg *s, enum seg_table_id t, uint32_t owner, uint32_t from);

/*
 * Before the table is used: its indices, which are numbers on the wire, begin at `base`, a multiple
 * of SEG_BLOCK, in place of 0.
 */
void seg_shift(struct seg *s, enum seg_table_id t, uint32_t base);

/* Bytes that the segment takes, and those of live objects of firmware commands. */
uint64_t seg_bytes(const struct seg *s, uint64_t *live);
/*
 * Gives pages of objects of firmware commands back where nothing is live. Beside all other calls;
 * seg_alloc_at() may fail on these tables meanwhile.
 */
void seg_trim(struct seg *s);

#define seg_for_each_owned(s, t, owner, i)                               \
	for (uint32_t i = seg_next((s), (t), (owner), 0); i != SEG_NONE; \
	     i = seg_next((s), (t), (owner), i + 1))
#define seg_for_each_live(s, t, i) seg_for_each_owned (s, t, SEG_OWNER_ANY, i)

#endif
