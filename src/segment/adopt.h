/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Adopted memory: pages of a process that other processes write to often become a mapping of the
 * segment (SEG_T_POOL), at the same addresses. The others then copy in their own mapping of the
 * segment, without a system call. doc/internals/adoption.md has the states and the rules.
 */
#ifndef SOFTHCA_SEGMENT_ADOPT_H
#define SOFTHCA_SEGMENT_ADOPT_H

#include "segment/seg.h"

#include <sys/uio.h>

#define ADOPT_PAGE UINT64_C(4096)
#define ADOPT_CHUNK UINT64_C(65536)
#define ADOPT_CHUNKS 4096  /* of the whole fabric: 256 MiB */
#define ADOPT_OWN_MAX 1024 /* of a process: 64 MiB */
#define ADOPT_RUN_MAX 256  /* of an object: 16 MiB */
#define ADOPT_BATCH 16     /* chunks moved in one go, while wrappers wait */
#define ADOPT_BARRED (1u << 31)

/* A chunk of the pool. Its owner word is 1 + the memory slot that uses it. */
struct seg_adopt {
	uint32_t gen;
	_Atomic uint32_t slot_gen; /* generation of the owner's slot; 0: being claimed */
	_Atomic uint32_t ended;    /* only threads older than `epoch` may use it */
	uint32_t obj, obj_gen;     /* the object whose memory it holds (adopt_key) */
	uint32_t kept;             /* until the process ends */
	uint64_t va;               /* in the first chunk of a run: the address of its first byte */
	_Atomic uint64_t epoch;
} SEG_ELEM;

/* The bytes of a chunk. It has the same index as its struct seg_adopt. */
struct seg_pool {
	uint8_t bytes[ADOPT_CHUNK];
} SEG_ELEM;

/*
 * In a key or a umem: the part of its memory that is in the pool, in neighbouring chunks. One word,
 * so that a late store for an object that has ended means nothing to a later one with its number.
 */
struct adopt_run {
	_Atomic uint32_t heat; /* accesses by other processes until it is hot; ADOPT_BARRED */
	_Atomic uint64_t word; /* adopt_word() */
};

/* gen: the object's. first: the chunk of the first page, whose `va` is its address. */
static inline uint64_t adopt_word(uint32_t gen, uint32_t first, uint32_t pages)
{
	return (uint64_t)gen << 32 | first << 16 | pages;
}
_Static_assert(ADOPT_CHUNKS < 65536 && ADOPT_RUN_MAX * (ADOPT_CHUNK / ADOPT_PAGE) < 65536,
	       "16 bits");

/* ---- for processes that access the memory of others */

/*
 * The part of [va, va + len) that begins at va: its length, and its address in this process if it
 * is adopted, else NULL.
 */
uint8_t *adopt_find(const struct seg *s, const struct adopt_run *r, uint32_t gen, uint64_t va,
		    uint64_t len, uint64_t *part);
/* Is the address in this process's mapping of the pool? */
bool adopt_in_pool(const struct seg *s, uint64_t va, uint64_t len);
/* The memory slot of the process that has such an address; SEG_NONE: it has ended. */
uint32_t adopt_owner(const struct seg *s, uint64_t va);
/* Frees the chunks of processes that have ended. True: some are still in use. (the supervisor) */
bool adopt_sweep(struct seg *s);
/* Bytes of the pool that a process uses. */
uint64_t adopt_bytes(const struct seg *s, uint32_t slot);

/* ---- for the process that owns the memory (adopt_own.c) */

/*
 * 0: memory of keys is not adopted in this process. Not 0: it may be, so the wrappers mark the
 * system calls that use memory.
 */
extern _Atomic uint32_t adopt_on;
/* 0: nothing is adopted in this process. */
extern _Atomic uint32_t adopt_may;
/*
 * `keys`: memory of keys may be adopted, too, because the library also sees the system calls that
 * libc makes inside its functions.
 */
void adopt_init(struct seg *s, bool keys);

/* What has the memory: a key, or the umem of a queue. `obj` is its index, of a umem with this bit.
 */
#define ADOPT_UMEM (1u << 30)
struct adopt_key {
	struct adopt_run *run;
	const uint32_t *gen_now;       /* the element's present generation */
	const _Atomic uint32_t *valid; /* 0: the object ends */
	uint64_t hint;                 /* address of the access that made it hot, or 0 */
	uint32_t obj, gen;
};
/*
 * Takes the next chunks of [va, va + len) into the pool and adds them to the run. > 0: call again.
 * 0: done, or not possible. -EAGAIN: later.
 */
int adopt_take(struct seg *s, const struct adopt_key *k, uint64_t va, uint64_t len);
/*
 * Gives back the memory of the objects that `want` chooses: the pages become private memory again
 * and keep their content. `unused`: other processes no longer use it; else this waits for them.
 * False: some pages remain.
 */
bool adopt_give_back(bool (*want)(void *arg, uint32_t obj, uint32_t gen), void *arg, bool unused);
/* Call before a system call that changes mappings: gives back all objects with pages in the range.
 */
void adopt_keep_out(const void *from, size_t len);
/* Before madvise(MADV_DONTNEED): pages that could not be given back have zeros, as others will. */
void adopt_drop(const void *from, size_t len);
/*
 * The same, and until adopt_call_end() of the result no pages of the range are moved. Around calls
 * that unmap or replace.
 */
int adopt_change_begin(const void *from, size_t len);
/* From now on nothing is adopted in this process, and nothing stays adopted. */
void adopt_never(void);
bool adopt_any(void);

/*
 * For the SIGSEGV handler: the fault may be due to pages that are being moved. True: execute the
 * instruction again.
 */
bool adopt_fault(uintptr_t addr);

/*
 * Around a system call that reads or writes [p, p + n) of the program: these pages are not moved
 * meanwhile. The result of begin is for end.
 */
int adopt_call_begin(const void *p, size_t n);
int adopt_call_begin_v(const struct iovec *iov, size_t n);
/* The first of `n` messages, each `stride` bytes after the one before. */
struct msghdr;
int adopt_call_begin_m(const struct msghdr *m, size_t n, size_t stride);
void adopt_call_end(int mark);

/* Around fork. The child gets its own copy of each page before it runs any other code. */
void adopt_forking(void);
void adopt_fork_done(void);
void adopt_forked(void);

/* ---- adopt_maps.c */

/* Keeps the list of mappings open; a child drops its parent's. */
void adopt_maps_keep(void);
void adopt_maps_forked(void);

/*
 * May the pages of [from, to) be adopted? 1, 0, or -errno: it cannot be seen. See
 * doc/internals/adoption.md for the rules. `s`: has the spare descriptor, or NULL.
 */
int adopt_maps_allow(struct seg *s, uint64_t from, uint64_t to);
/* 1: [from, to) is still a mapping of `fd` at `offset`; 0: it is not; -EBUSY: it cannot be seen. */
int adopt_maps_are(uint64_t from, uint64_t to, int fd, uint64_t offset);
/* Is the range of the segment mapped outside of this process's mapping of the whole? */
bool adopt_maps_elsewhere(const struct seg *s, uint64_t offset, uint64_t len);

#endif
