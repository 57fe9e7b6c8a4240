/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From keys to memory: mkey.c and xlt.c turn ranges of keys into lists of memory, umr.c changes
 * keys, adopt.c finds memory of other processes here, running.c waits for the users of what is
 * taken away.
 */
#ifndef SOFTHCA_ENGINE_KEYS_H
#define SOFTHCA_ENGINE_KEYS_H

#include "engine/base/ring.h"
#include "hw/mkey.h"

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
/* Cut a list to `len` bytes. */
void sgl_trim(struct eng_sgl *l, uint64_t len);
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
 * Add the data segments of r->wqe from byte `off` on, pointers and inline data, to r->local, up to
 * `most` bytes.
 */
enum eng_why sgl_from_wqe(struct eng_run *r, uint32_t off, uint32_t access, uint64_t most);
/* Copy src to dst, which is at least as long. 0 or a mem_* error. */
int sgl_copy(struct seg *s, struct eng_sgl *dst, struct eng_sgl *src);
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
 * Wait until no thread uses the key as it was at r->qp->took: 0 or -ETIMEDOUT. See
 * running_wait_outside().
 */
int mkey_wait(struct eng_run *r, const struct hw_mkey *mk, uint64_t ns);

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

#endif
