/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device's way to the memory of programs (DESIGN.md 4). Addresses are virtual addresses in the
 * address space of a memory slot. Own slot: guarded plain copies (an unmapped page is an error,
 * never a crash). Others: process_vm_readv/writev; when the kernel refuses, the /proc/self/mem
 * descriptor that the process left with the supervisor. Callable in a trap: no malloc, no stdio;
 * never blocks: that descriptor is fetched by mem_fetch().
 */
#ifndef SOFTHCA_SEGMENT_MEM_H
#define SOFTHCA_SEGMENT_MEM_H

#include <sys/uio.h>
#include "segment/gate.h"
#include "segment/lock.h"

/* Whose memory. Stored in the segment beside an address. */
struct mem_slot {
	uint32_t slot; /* SEG_T_PROC index */
	uint32_t gen;
};

struct mem_vec {
	uint64_t va;
	uint64_t len;
};

/*
 * Answers of all calls: 0 done; -EFAULT some page is not mapped or not allowed that way (a part may
 * have been copied); -ESRCH the slot is dead, gone or between exec and its end; -EACCES the host
 * refuses both ways (diagnosed once on the log); -ECANCELED the thread's gate was shut (gate.h), a
 * part may have been copied; -ETIMEDOUT not yet: a descriptor must be fetched first, and nothing
 * was copied.
 */
int mem_read(struct seg *s, struct mem_slot m, uint64_t va, void *dst, size_t len);
int mem_write(struct seg *s, struct mem_slot m, uint64_t va, const void *src, size_t len);

/*
 * Scatter/gather between the caller's own memory and a slot's, in ONE system call where the slot is
 * foreign (at most MEM_MAX_VEC on either side). Copied in order, vector by vector: put what must be
 * seen last (a CQE's owner byte) into the last vector. Total lengths must be equal.
 */
#define MEM_MAX_VEC 64
int mem_readv(struct seg *s, struct mem_slot m, const struct mem_vec *from, unsigned int nfrom,
	      const struct iovec *to, unsigned int nto);
int mem_writev(struct seg *s, struct mem_slot m, const struct mem_vec *to, unsigned int nto,
	       const struct iovec *from, unsigned int nfrom);

/*
 * Fetch the descriptor that a copy has wanted since the last call, waiting at most `wait_ns` for
 * the supervisor, and that once. With no lock held. True: the copy may be tried again; false:
 * nothing was wanted, or the supervisor has not answered yet: then it stays wanted.
 */
bool mem_fetch(struct seg *s, uint64_t wait_ns);

/* Any slot to any slot. One call when either is our own; else through a bounce buffer on the
 * engine's stack. */
int mem_copy(struct seg *s, struct mem_slot dst, const struct mem_vec *to, unsigned int nto,
	     struct mem_slot src, const struct mem_vec *from, unsigned int nfrom);

/* A big-endian doorbell record: seen whole, also when its program is just writing it. */
int mem_read_be32(struct seg *s, struct mem_slot m, uint64_t va, uint32_t *v);
int mem_write_be32(struct seg *s, struct mem_slot m, uint64_t va, uint32_t v);

/*
 * *out = 4 or 8 bytes at va (aligned, host byte order); then they become next(*out, arg), as one
 * step for all that use this function, in whatever process and through whatever mapping. The
 * program's own processor instructions are kept out too where the memory is the caller's own; of
 * another process's memory it is read and then written (the kernel has no better): a store of that
 * process in between is lost. Beside the answers above: -ETIMEDOUT, the word's lock was not to be
 * had. (mem_atomic.c)
 */
int mem_atomic(struct seg *s, struct mem_slot m, uint64_t va, uint32_t size,
	       uint64_t (*next)(uint64_t was, const void *arg), const void *arg, uint64_t *out);

/* One for each 8-byte word of a page: the same memory has the same one wherever it is mapped. */
#define MEM_WORD_LOCKS 512
struct seg_word {
	uint32_t gen, flags;
	struct seg_lock lock;
} SEG_ELEM;

static inline bool mem_is_self(const struct seg *s, struct mem_slot m)
{
	return m.slot == s->self && m.gen == s->self_gen && m.slot != SEG_NONE;
}

static inline struct mem_slot mem_self(const struct seg *s)
{
	return (struct mem_slot){s->self, s->self_gen};
}

/*
 * Guarded copy inside our own memory: 0 or -EFAULT. It relies on the SIGSEGV/SIGBUS handler that
 * calls mem_guard_fixup(); while none is installed (mem_guard_armed == false: supervisor, unit
 * tests, poll mode before the handler) it copies through process_vm_readv on ourselves.
 */
extern bool mem_guard_armed;
/*
 * May that page-aligned range be read (written)? 0; -EFAULT; MEM_UNKNOWN: the host does not say.
 * Makes it present, as pinning does.
 */
#define MEM_UNKNOWN 1
int mem_populate(uint64_t from, uint64_t len, bool write);
int mem_guarded_copy(void *dst, const void *src, size_t len);
/*
 * Guarded compare and swap of 4 or 8 aligned bytes of our own: *old becomes what was there, which
 * is what was expected if `next` has been stored. 0 or -EFAULT.
 */
int mem_guarded_cas(void *p, uint32_t size, uint64_t *old, uint64_t next);
/*
 * Called first by the SIGSEGV/SIGBUS handler with the interrupted context (ucontext_t *): if the
 * fault is inside a guarded copy, makes it return -EFAULT and says true.
 */
bool mem_guard_fixup(void *ucontext);

#endif
