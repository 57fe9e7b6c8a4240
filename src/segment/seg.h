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
 * An element is claimed by a compare-and-swap of its owner word and freed by storing 0, each the
 * last store of its operation: a process killed at any instruction leaves no torn object behind.
 * Everything that an open file owns can be found by scanning owner words, without help from the
 * (perhaps dead) process that made it: that is how a dead process's objects are reaped.
 */
#ifndef SOFTHCA_SEGMENT_SEG_H
#define SOFTHCA_SEGMENT_SEG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEG_MAGIC UINT64_C(0x534f465448434131) /* "SOFTHCA1" */
#define SEG_LAYOUT_VERSION 1u

#define SEG_OWNER_FREE 0u
#define SEG_OWNER_DEVICE UINT32_MAX
#define SEG_NONE UINT32_MAX /* "no index" */

enum seg_table_id {
	SEG_T_PROC,  /* struct seg_proc     memory slots: processes of the fabric      (proc.h) */
	SEG_T_FILE,  /* struct seg_file     open virtual files                         (proc.h) */
	SEG_T_EVQ,   /* struct seg_evq      event queues; index == its file's index    (evq.h)  */
	SEG_T_EVREC, /* struct seg_evrec    pool of queued event records               (evq.h)  */
	SEG_T_HOST,  /* struct hw_host      owner DEVICE                               (hw.h)   */
	SEG_T_HCA,   /* struct hw_hca       owner DEVICE                                        */
	SEG_T_PORT,  /* struct hw_port      owner DEVICE                                        */
	SEG_T_LID,   /* struct hw_lid       index = LID: which port answers to it               */
	SEG_T_EQ,    /* struct hw_eq        index = eqn                                         */
	SEG_T_UAR,   /* struct hw_uar       index = UAR page id                                 */
	SEG_T_PD,    /* struct hw_pd        index = pdn                                         */
	SEG_T_UMEM,  /* struct hw_umem      index = umem id                                     */
	SEG_T_MKEY,  /* struct hw_mkey      index = key >> 8                                    */
	SEG_T_CQ,    /* struct hw_cq        index = cqn                                         */
	SEG_T_SRQ,   /* struct hw_srq       index = srqn                                        */
	SEG_T_QP,    /* struct hw_qp        index = qpn                                         */
	SEG_T_COUNT
};

struct seg_table_hdr {
	uint32_t capacity;     /* elements; index 0 is never handed out */
	uint32_t elem_size;    /* bytes, a multiple of 64 */
	uint64_t elems_off;    /* bytes from the segment's start, page aligned */
	uint64_t owner_off;    /* uint32_t[capacity] */
	_Atomic uint32_t hint; /* where the next search starts: ids are handed out cyclically */
	_Atomic uint32_t high; /* 1 + highest index ever claimed: bound of every scan */
	_Atomic uint32_t live; /* claimed elements */
	uint32_t first;        /* lowest index that may be handed out */
	uint32_t pad[6];
};

struct seg_hdr {
	uint64_t magic;
	uint32_t layout_version;
	uint32_t hdr_size;
	uint64_t size; /* of the whole segment, bytes */
	uint32_t supervisor_pid;
	_Atomic uint32_t down; /* 1: the supervisor is going away */
	char name[64];         /* the fabric's */
	struct seg_table_hdr table[SEG_T_COUNT];
};

/* A process's mapping of the segment, and what this process is in it. */
struct seg {
	struct seg_hdr *hdr;
	uint8_t *base;
	uint64_t size;
	int fd; /* the memfd, moved out of the program's way; -1 in a forked child until refreshed
		 */
	uint32_t self;     /* our memory slot (SEG_T_PROC), SEG_NONE before hello */
	uint32_t self_gen; /* its generation */
	uint32_t self_pid; /* who `self` was given to; differs from a raw getpid() in a (v)fork
			      child */
	char dir[256];     /* the fabric's directory */
};

/* Make a new, empty segment (the supervisor). -ENOMEM, -EFBIG, -errno. `name`: the fabric's. */
int seg_create(struct seg *s, const char *name);
/* Map one that was handed to us. -EPROTO: not a segment; -EPROTONOSUPPORT: another layout. Takes
 * fd. */
int seg_map(struct seg *s, int fd);
void seg_unmap(struct seg *s);

/*
 * Claim a free element: zeroed (but for its first 16 bytes, see below), owner set last.
 * 0, or -ENOSPC when the table is full. Amortised constant time.
 * By convention every element starts with { uint32_t gen; uint32_t flags; ... }: seg_alloc keeps
 * `gen` over reuse and adds 1 to it, so that a stale (index, gen) pair is recognised.
 */
int seg_alloc(struct seg *s, enum seg_table_id t, uint32_t owner, uint32_t *idx);
/* Claim one given index: 0, -EBUSY (taken), -EINVAL (out of range). */
int seg_alloc_at(struct seg *s, enum seg_table_id t, uint32_t owner, uint32_t idx);
void seg_free(struct seg *s, enum seg_table_id t, uint32_t idx);

static inline struct seg_table_hdr *seg_table(const struct seg *s, enum seg_table_id t)
{
	return &s->hdr->table[t];
}

static inline _Atomic uint32_t *seg_owner_word(const struct seg *s, enum seg_table_id t,
					       uint32_t idx)
{
	return (_Atomic uint32_t *)(s->base + seg_table(s, t)->owner_off) + idx;
}

/* The element, live or not; NULL when the index is out of range. Indices come from programs: check.
 */
static inline void *seg_at(const struct seg *s, enum seg_table_id t, uint32_t idx)
{
	const struct seg_table_hdr *h = seg_table(s, t);

	if (idx >= h->capacity)
		return NULL;
	return s->base + h->elems_off + (uint64_t)idx * h->elem_size;
}

static inline uint32_t seg_owner(const struct seg *s, enum seg_table_id t, uint32_t idx)
{
	if (idx >= seg_table(s, t)->capacity)
		return SEG_OWNER_FREE;
	return atomic_load_explicit(seg_owner_word(s, t, idx), memory_order_acquire);
}

/* The element if it is live, else NULL. */
static inline void *seg_live(const struct seg *s, enum seg_table_id t, uint32_t idx)
{
	return seg_owner(s, t, idx) == SEG_OWNER_FREE ? NULL : seg_at(s, t, idx);
}

/* The next index >= from whose owner is `owner` (or any, with SEG_NONE - 1); SEG_NONE at the end.
 */
#define SEG_OWNER_ANY (UINT32_MAX - 1)
uint32_t seg_next(const struct seg *s, enum seg_table_id t, uint32_t owner, uint32_t from);

#define seg_for_each_owned(s, t, owner, i)                               \
	for (uint32_t i = seg_next((s), (t), (owner), 0); i != SEG_NONE; \
	     i = seg_next((s), (t), (owner), i + 1))
#define seg_for_each_live(s, t, i) seg_for_each_owned (s, t, SEG_OWNER_ANY, i)

#endif
