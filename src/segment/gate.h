/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies that another process can revoke.
 *
 * A thread that is stopped (SIGSTOP, a tracer) may be between its check of a key and the copy that
 * the key allowed: the copy would happen when it is continued. So that no process has to wait for
 * that, such copies pass a gate in the segment: the list of vectors that the kernel is given lies
 * in the gate, and one store to the first length makes the kernel refuse the list
 * (copy_iovec_from_user() in the kernel's lib/iov_iter.c: a negative length is EINVAL, before
 * anything is copied).
 *
 * User: gate_reset() before any decision; checks; mem_gate = the gate; copies (mem.h); mem_gate =
 * NULL. A copy returns -ECANCELED when the gate was shut since gate_reset(): the checks are void,
 * begin again from gate_reset().
 *
 * Revoker: first makes its change (the key's state), then calls gate_shut(). GATE_SHUT and
 * GATE_GONE: no copy that was decided before the call happens after it. GATE_OPEN: the thread runs,
 * or is inside a step that the caller has to wait for (`minds`): wait and call again.
 *
 * With its gate shut a thread may swap words with tags, pay events and unlock, and use its own
 * process's queues. All else waits for gate_reset(), before the WQE begins anew.
 */
#ifndef SOFTHCA_SEGMENT_GATE_H
#define SOFTHCA_SEGMENT_GATE_H

#include "util/tls.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

/* With the two words before it in struct seg_ring it fills two cache lines. Longer lists are split.
 */
#define GATE_VECS 7

struct seg_gate {
	struct iovec v[GATE_VECS]; /* v[0].iov_len is the gate's word */
};

#define GATE_REVOKED (UINT64_C(1) << 63)
#define GATE_OWN (GATE_REVOKED - 1) /* the thread copies by CPU instructions, or did */
/* the thread changes device state: a key, its list, its memory */
#define GATE_BUSY (GATE_REVOKED - 2)
/* the thread changes a queue's state in several steps, and uses no key meanwhile */
#define GATE_STATE (GATE_REVOKED - 3)
/*
 * the thread copies by CPU instructions to or from adopted memory (adopt.h), and checks the gate
 * afterwards
 */
#define GATE_POOL (GATE_REVOKED - 4)

/* While it is set, this thread's copies through mem.h pass this gate. */
extern TLS_IE struct seg_gate *mem_gate;

static inline uint64_t gate_word(const struct seg_gate *g)
{
	return __atomic_load_n(&g->v[0].iov_len, __ATOMIC_ACQUIRE);
}

static inline void gate_reset(struct seg_gate *g)
{
	__atomic_store_n(&g->v[0].iov_len, 0, __ATOMIC_RELEASE);
}

/* Ends GATE_STATE. If the gate was shut meanwhile, it stays shut. */
static inline void gate_state_end(struct seg_gate *g)
{
	uint64_t was = gate_word(g);

	while ((was & ~GATE_REVOKED) == GATE_STATE &&
	       !__atomic_compare_exchange_n(&g->v[0].iov_len, &was, was & GATE_REVOKED, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

/*
 * Sets the gate's word to `to`; false: the gate is revoked. A revoker's store counts only if this
 * thread did not run in between, so one instruction suffices: no bus lock.
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
struct who;

enum gate_shut { GATE_OPEN, GATE_SHUT, GATE_GONE };
enum {                       /* a revoker waits for changes of keys and memory, and: */
       GATE_MINDS_OWN = 1,   /* copies inside the process's own memory */
       GATE_MINDS_STATE = 2, /* changes of a queue's state */
       GATE_MINDS_POOL = 4,  /* copies in adopted memory (repeated if too late) */
};
/* Shuts the gate of a thread of that process. Makes system calls. */
enum gate_shut gate_shut(struct seg *s, struct who w, struct seg_gate *g, uint32_t minds);

#endif
