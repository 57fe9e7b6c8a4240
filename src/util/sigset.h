/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Signals as bits of the kernel's masks, and the two sets that must not be blocked. */
#ifndef SOFTHCA_UTIL_SIGSET_H
#define SOFTHCA_UTIL_SIGSET_H

#include <signal.h>
#include <stdint.h>

static inline uint64_t sig_bit(int sig)
{
	return UINT64_C(1) << (sig - 1);
}

/* Accesses to memory that is not there raise these; doorbells and guarded copies need them. */
#define SIG_MEMORY (sig_bit(SIGSEGV) | sig_bit(SIGBUS))

/* Synchronous signals stay deliverable while locks are held. */
#define SIG_SYNC                                                                                \
	(SIG_MEMORY | sig_bit(SIGILL) | sig_bit(SIGFPE) | sig_bit(SIGTRAP) | sig_bit(SIGABRT) | \
	 sig_bit(SIGSYS))

#endif
