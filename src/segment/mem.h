/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Access to the memory of programs (DESIGN.md 4). Addresses are virtual addresses in the address
 * space of a memory slot. Own slot: guarded plain copies (an unmapped page is an error, never a
 * crash). Others: process_vm_readv/writev; if the kernel refuses, the /proc/self/mem descriptor
 * that the process gave to the supervisor. Callable in a trap: no malloc, no stdio; never blocks,
 * because mem_fetch() fetches that descriptor separately.
 */
#ifndef SOFTHCA_SEGMENT_MEM_H
#define SOFTHCA_SEGMENT_MEM_H

#include <sys/uio.h>
#include "segment/gate.h"
#include "segment/lock.h"
#include "util/bits.h"

/* The owner of an address space. Stored in the segment beside an address. */
struct mem_slot {
	uint32_t slot; /* SEG_T_PROC index */
	uint32_t gen;
};

struct mem_vec {
	uint64_t va;
	uint64_t len;
};

/*
 * Results of all calls: 0: done. -EFAULT: some page is unmapped or forbids the access (a part may
 * have been copied). -ESRCH: the slot is dead, gone, or in the middle of an exec. -EACCES: the host
 * refuses both methods (logged once). -ECANCELED: the thread's gate was shut (gate.h), a part may
 * have been copied. -ETIMEDOUT: a descriptor must be fetched first, and nothing was copied.
 */
int mem_read(struct seg *s, struct mem_slot m, uint64_t va, void *dst, size_t len);
int mem_write(struct seg *s, struct mem_slot m, uint64_t va, const void *src, size_t len);

/*
 * Scatter/gather between the caller's own memory and a slot's, in ONE system call where the slot is
 * foreign (at most MEM_MAX_VEC on either side). Copied in order, vector by vector: put bytes that
 * must become visible last (a CQE's owner byte) into the last vector. Total lengths must be equal.
 */
#define MEM_MAX_VEC 64
int mem_readv(struct seg *s, struct mem_slot m, const struct mem_vec *from, unsigned int nfrom,
	      const struct iovec *to, unsigned int nto);
int mem_writev(struct seg *s, struct mem_slot m, const struct mem_vec *to, unsigned int nto,
	       const struct iovec *from, unsigned int nfrom);

/*
 * Makes pages present as a read of them does, if they can be read. If a page cannot be read, the
 * copy that follows fails. With a length of 0 the same code runs, but makes no page present.
 */
void mem_touch(struct seg *s, struct mem_slot m, uint64_t va, uint64_t len);

/*
 * Fetches the descriptor that a copy has wanted since the last call; waits once, at most `wait_ns`,
 * for the supervisor. The caller holds no lock. True: try the copy again. False: no descriptor was
 * wanted, or the supervisor has not answered yet and the descriptor stays wanted.
 */
bool mem_fetch(struct seg *s, uint64_t wait_ns);
/*
 * Does a copy want the descriptor of that process's memory, while the supervisor, which has to
 * fetch it, is stopped or gone?
 */
bool mem_fetch_stopped(struct seg *s, struct mem_slot m);

/*
 * From any slot to any slot: one call if either is this process's, else through a bounce buffer on
 * the engine's stack.
 */
int mem_copy(struct seg *s, struct mem_slot dst, const struct mem_vec *to, unsigned int nto,
	     struct mem_slot src, const struct mem_vec *from, unsigned int nfrom);

/*
 * The memory to copy for a doorbell record: the aligned quadword around it. Without fast short
 * string moves the kernel copies fewer than 8 bytes one by one, but 8 at once; so a counter is
 * never seen half changed.
 */
static inline struct mem_vec mem_record(uint64_t va)
{
	return va % 4 ? (struct mem_vec){va, 4} : (struct mem_vec){va & ~UINT64_C(7), 8};
}

static inline uint32_t mem_record_value(const uint8_t *copied, uint64_t va)
{
	return be32_load(copied + (va - mem_record(va).va));
}

/*
 * Read or write a doorbell record (big-endian). A reader sees it whole, even while its program
 * writes it.
 */
int mem_read_be32(struct seg *s, struct mem_slot m, uint64_t va, uint32_t *v);
int mem_write_be32(struct seg *s, struct mem_slot m, uint64_t va, uint32_t v);

/*
 * Reads 4 or 8 bytes at va (aligned, host byte order) into *out and replaces them by next(*out,
 * arg), as one step for all callers of this function in all processes and through all mappings. In
 * the caller's own memory the step also excludes the program's own instructions. Another process's
 * memory is read and then written, since the kernel offers nothing better: a store of that process
 * in between is lost. A further result is -ETIMEDOUT: the word's lock could not be taken.
 * (mem_atomic.c)
 */
int mem_atomic(struct seg *s, struct mem_slot m, uint64_t va, uint32_t size,
	       uint64_t (*next)(uint64_t was, const void *arg), const void *arg, uint64_t *out);

/*
 * One lock per 8-byte word of a page: the same memory has the same lock at every address where it
 * is mapped.
 */
#define MEM_WORD_LOCKS 512
struct seg_word {
	uint32_t gen, flags;
	struct seg_lock lock;
} SEG_ELEM;

/* Does it overlap this process's mapping of the segment? Device memory lies there. */
static inline bool mem_in_segment(const struct seg *s, uint64_t va, uint64_t len)
{
	uint64_t base = (uintptr_t)s->base;

	return va < base + s->size && len > 0 && va + len > base;
}

static inline bool mem_is_self(const struct seg *s, struct mem_slot m)
{
	return m.slot == s->self && m.gen == s->self_gen && m.slot != SEG_NONE;
}

static inline struct mem_slot mem_self(const struct seg *s)
{
	return (struct mem_slot){s->self, s->self_gen};
}

/*
 * Guarded copy inside this process: 0 or -EFAULT. It relies on the SIGSEGV/SIGBUS handler that
 * calls mem_guard_fixup(); while none is installed (mem_guard_armed == false: supervisor, unit
 * tests, poll mode) it copies by process_vm_writev on the own process.
 */
extern bool mem_guard_armed;
/*
 * Is that page-aligned range readable (writable)? 0; -EFAULT; MEM_UNKNOWN: the host gives no
 * answer. Makes it present, as pinning does.
 */
#define MEM_UNKNOWN 1
int mem_populate(uint64_t from, uint64_t len, bool write);
int mem_guarded_copy(void *dst, const void *src, size_t len);
/*
 * Guarded compare-and-swap of 4 or 8 aligned bytes of this process: *old becomes the previous
 * value; `next` is stored if that equals the expected one. 0 or -EFAULT.
 */
int mem_guarded_cas(void *p, uint32_t size, uint64_t *old, uint64_t next);
/*
 * The SIGSEGV/SIGBUS handler calls this first, with the interrupted context (ucontext_t *): if the
 * fault is inside a guarded copy, makes the copy return -EFAULT and returns true.
 */
bool mem_guard_fixup(void *ucontext);

#endif
