/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Adopted memory, for the wrappers. */
#ifndef SOFTHCA_SHIM_ADOPT_H
#define SOFTHCA_SHIM_ADOPT_H

#include "engine/engine.h"
#include "segment/adopt.h"

#include <signal.h>
#include <sys/types.h>

/* Before a call that changes mappings in that range. */
void shim_keep_out(const void *addr, size_t len);
/* Around a call that changes mappings: the system call's number and its arguments. */
struct shim_change {
	int mark, mark2;
};
void shim_change_begin(struct shim_change *c, long nr, const long a[6]);
void shim_change_end(const struct shim_change *c);
/* mlockall(2), without the segment. `next`: the next definition. */
int shim_mlockall(int flags, int (*next)(int));
bool shim_adopt_syscall(long nr, const long a[6]);
void shim_adopt_forked(long r);

/* State of a process_vm_readv(2) or process_vm_writev(2) call of the program. */
struct shim_vm {
	bool on;
	int mark;
	struct eng_copy copy;
	sigset_t old;
};
void shim_vm_begin(struct shim_vm *v, pid_t pid, const struct iovec *own, unsigned long n);
void shim_vm_end(struct shim_vm *v);

static inline void adopt_marked_end(const int *mark)
{
	adopt_call_end(*mark);
}

/*
 * Marks [p, p + n) of the program as in use during a system call. A thread that is cancelled leaves
 * the mark.
 */
#define ADOPT_CALL(p, n, call)                                                                     \
	({                                                                                         \
		int mark_ __attribute__((cleanup(adopt_marked_end))) = adopt_call_begin((p), (n)); \
                                                                                                   \
		(void)mark_;                                                                       \
		(call);                                                                            \
	})
#define ADOPT_CALL_V(iov, n, call)                                     \
	({                                                             \
		int mark_ __attribute__((cleanup(adopt_marked_end))) = \
			adopt_call_begin_v((iov), (size_t)(n));        \
                                                                       \
		(void)mark_;                                           \
		(call);                                                \
	})
/* The same for an array of messages that begins with m. */
#define ADOPT_CALL_M(m, n, stride, call)                               \
	({                                                             \
		int mark_ __attribute__((cleanup(adopt_marked_end))) = \
			adopt_call_begin_m((m), (n), (stride));        \
                                                                       \
		(void)mark_;                                           \
		(call);                                                \
	})

#endif
