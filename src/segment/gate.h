/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies that somebody else can take back.
 *
 * A thread that is stopped (SIGSTOP, a tracer) may be between its check of a key and the copy that
 * the key allowed: the copy would happen when it is continued. So that nobody has to wait for that,
 * such copies pass a gate in the segment: the list of vectors that the kernel is given lies in the
 * gate, and one store to the first length makes the kernel refuse the list (copy_iovec_from_user()
 * in the kernel's lib/iov_iter.c: a negative length is EINVAL, before anything is copied).
 *
 * User: gate_reset() when nothing is decided yet; checks; mem_gate = the gate; copies (mem.h);
 * mem_gate = NULL. A copy answers -ECANCELED when the gate was shut since gate_reset(): what was
 * checked is void, begin again from gate_reset().
 *
 * Revoker: first makes its change (the key's state), then calls gate_shut(). GATE_SHUT and
 * GATE_GONE: no copy that was decided before the call happens after it. GATE_OPEN: the thread runs,
 * or copies inside its own memory, which no kernel call does for it, or changes a key: wait and
 * call again.
 */
#ifndef SOFTHCA_SEGMENT_GATE_H
#define SOFTHCA_SEGMENT_GATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

/* With the word before it in struct seg_ring, two cache lines. Longer lists go in pieces. */
#define GATE_VECS 7

struct seg_gate {
	struct iovec v[GATE_VECS]; /* v[0].iov_len is the gate's word */
};

#define GATE_REVOKED (UINT64_C(1) << 63)
#define GATE_OWN (GATE_REVOKED - 1)  /* copies by processor instructions are going on, or were */
#define GATE_BUSY (GATE_REVOKED - 2) /* the device's own state is changed: a key, its list */

#define GATE_TLS _Thread_local __attribute__((tls_model("initial-exec")))
/* While set, the copies that this thread makes by mem.h pass it. */
extern GATE_TLS struct seg_gate *mem_gate;

static inline uint64_t gate_word(const struct seg_gate *g)
{
	return __atomic_load_n(&g->v[0].iov_len, __ATOMIC_ACQUIRE);
}

static inline void gate_reset(struct seg_gate *g)
{
	__atomic_store_n(&g->v[0].iov_len, 0, __ATOMIC_RELEASE);
}

/*
 * The gate's word becomes `to`; false: it is revoked. A revoker's store counts only if this thread
 * did not run meanwhile, so one instruction is enough: no bus lock.
 */
static inline bool gate_pass(struct seg_gate *g, uint64_t to)
{
	uint64_t was = g->v[0].iov_len;

	if (was & GATE_REVOKED)
		return false;
#if defined(__x86_64__)
	bool ok;

	__asm__ volatile("cmpxchgq %3, %1"
			 : "=@ccz"(ok), "+m"(g->v[0].iov_len), "+a"(was)
			 : "r"(to)
			 : "memory");
	return ok;
#else
	return __atomic_compare_exchange_n(&g->v[0].iov_len, &was, to, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
#endif
}

struct seg;

enum gate_shut { GATE_OPEN, GATE_SHUT, GATE_GONE };
/* The gate of a thread of the process (slot, gen). `own`: copies inside that process's own memory
 * do not matter to the caller. Makes system calls. */
enum gate_shut gate_shut(struct seg *s, uint32_t slot, uint32_t gen, struct seg_gate *g, bool own);

#endif
