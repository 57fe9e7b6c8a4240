/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the revocation of copies. The engine calls it, also in traps, when it has waited long for a
 * thread that uses a key; calls who_look().
 */
#include "segment/gate.h"
#include "segment/who.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/sys.h"
#include "util/tls.h"

/* Longer than a thread needs from entering the stopped state to leaving its processor. */
#define SETTLE_NS (100 * NSEC_PER_USEC)

TLS_IE struct seg_gate *mem_gate;

static bool take_back(struct seg_gate *g, uint32_t minds)
{
	uint64_t was = gate_word(g);

	do {
		if (was == GATE_BUSY || (was == GATE_OWN && minds & GATE_MINDS_OWN) ||
		    (was == GATE_POOL && minds & GATE_MINDS_POOL) ||
		    ((was & ~GATE_REVOKED) == GATE_STATE && minds & GATE_MINDS_STATE))
			return false;
	} while (!(was & GATE_REVOKED) &&
		 !__atomic_compare_exchange_n(&g->v[0].iov_len, &was, was | GATE_REVOKED, false,
					      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
	return true;
}

/*
 * A stopped thread is not inside a system call: the kernel stops it on its return to the program.
 * If it has not run from before this store until after it, its copy is complete, or will be
 * refused. The third look catches a thread that ran in between and is being stopped again: it
 * already shows the state, but its context switch is counted only when it leaves the processor.
 */
enum gate_shut gate_shut(struct seg *s, struct who w, struct seg_gate *g, uint32_t minds)
{
	struct timespec settle = {0, SETTLE_NS};
	uint64_t ran, again;
	enum who_look look = who_look(s, w, &ran);

	if (look == WHO_GONE)
		return GATE_GONE;
	if (look != WHO_STOPPED || !take_back(g, minds))
		return GATE_OPEN;
	for (int i = 0; i < 2; i++) {
		if (i)
			sys_call(SYS_nanosleep, &settle, NULL);
		look = who_look(s, w, &again);
		if (look == WHO_GONE)
			return GATE_GONE;
		if (look != WHO_STOPPED || again != ran)
			return GATE_OPEN;
	}
	TRACE(LOG_MEM, "slot %u is stopped: its pending copy is revoked", w.slot);
	return GATE_SHUT;
}
