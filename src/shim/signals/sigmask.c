/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the translation of signal masks (see sig.h) and the sent SIGSEGV/SIGBUS that wait for a
 * thread to unblock them. Raw system calls only; async-signal-safe. Called by the wrappers
 * (sigwrap.c), by sig.c, and by code that takes the segment's locks (sig_block_all).
 */
#include "shim/shim.h"
#include "shim/signals/sig.h"
#include "util/sys.h"
#include "util/tls.h"

#include <errno.h>
#include <string.h>

static const struct {
	int sig, stand_in;
} pairs[SIG_FAULTS] = {{SIGSEGV, SIGSTKFLT}, {SIGBUS, 64}};

/* glibc hides these from programs: SIGCANCEL and SIGSETXID. */
#define GLIBC_SIGNALS ((uint64_t)3 << 31)

/*
 * The kernel's mask has one bit for a signal that the program blocks and for its stand-in (sig.h).
 * This says which of the two, or both, this thread last asked to block. After a handler's sa_mask
 * and in a new thread nothing is known, and the bit means both.
 */
static TLS_IE struct {
	bool sig, stand_in;
} asked[SIG_FAULTS];

static TLS_IE struct {
	bool have;
	siginfo_t si;
} pended[SIG_FAULTS];

/* Without a fabric masks are not translated. */
static bool enabled;

static int raw_procmask(int how, const uint64_t *set, uint64_t *old)
{
	return (int)sys_raw(SYS_rt_sigprocmask, how, (long)set, (long)old, 8, 0, 0);
}

uint64_t sig_raw_setmask(uint64_t kernel)
{
	uint64_t old = 0;

	raw_procmask(SIG_SETMASK, &kernel, &old);
	return old;
}

uint64_t sig_mask_to_kernel(uint64_t program)
{
	uint64_t k = program;

	for (int i = 0; enabled && i < SIG_FAULTS; i++)
		if (program & sig_bit(pairs[i].sig))
			k = (k & ~sig_bit(pairs[i].sig)) | sig_bit(pairs[i].stand_in);
	return k;
}

uint64_t sig_mask_to_program(uint64_t kernel)
{
	for (int i = 0; enabled && i < SIG_FAULTS; i++)
		if (kernel & sig_bit(pairs[i].stand_in))
			kernel |= sig_bit(pairs[i].sig);
	return kernel;
}

/* As sig_mask_to_program(), for the mask of this thread. */
static uint64_t view(uint64_t kernel)
{
	uint64_t p = sig_mask_to_program(kernel);

	for (int i = 0; i < SIG_FAULTS; i++) {
		if (!(kernel & sig_bit(pairs[i].stand_in)) || (!asked[i].sig && !asked[i].stand_in))
			continue;
		if (!asked[i].sig)
			p &= ~sig_bit(pairs[i].sig);
		if (!asked[i].stand_in)
			p &= ~sig_bit(pairs[i].stand_in);
	}
	return p;
}

bool sig_mask_blocks(uint64_t kernel, int sig)
{
	return view(kernel) & sig_bit(sig);
}

void sig_pend(int sig, const siginfo_t *si)
{
	int i = sig_fault_index(sig);

	pended[i].si = *si;
	pended[i].have = true;
}

uint64_t sig_pending_mask(void)
{
	uint64_t m = 0;

	for (int i = 0; i < SIG_FAULTS; i++)
		if (pended[i].have)
			m |= sig_bit(pairs[i].sig);
	return m;
}

/* After a change of mask: deliver the pending signals that are now unblocked. */
static void deliver_pended(uint64_t program)
{
	for (int i = 0; i < SIG_FAULTS; i++) {
		siginfo_t si;

		if (!__builtin_expect(pended[i].have, 0) || (program & sig_bit(pairs[i].sig)))
			continue;
		si = pended[i].si;
		pended[i].have = false;
		sys_raw(SYS_rt_tgsigqueueinfo, sys_getpid(), sys_raw(SYS_gettid, 0, 0, 0, 0, 0, 0),
			pairs[i].sig, (long)&si, 0, 0);
	}
}

static void note_asked(uint64_t program)
{
	for (int i = 0; i < SIG_FAULTS; i++) {
		asked[i].sig = program & sig_bit(pairs[i].sig);
		asked[i].stand_in = program & sig_bit(pairs[i].stand_in);
	}
}

/*
 * Read, compute, write. A handler that runs between the two calls leaves the mask as it found it,
 * so nothing is lost. `old` may be a bad pointer: the kernel stores there first, after the change.
 */
int sig_mask_change(int how, const uint64_t *set, uint64_t *old)
{
	uint64_t cur, new = 0, k;
	int r = raw_procmask(SIG_BLOCK, NULL, &cur);

	if (r < 0)
		return r;
	cur = view(cur);
	if (set) {
		new = *set & ~GLIBC_SIGNALS;
		if (how == SIG_BLOCK)
			new |= cur;
		else if (how == SIG_UNBLOCK)
			new = cur & ~*set;
		else if (how != SIG_SETMASK)
			return -EINVAL;
		new &= ~(sig_bit(SIGKILL) | sig_bit(SIGSTOP));
		k = sig_mask_to_kernel(new);
		note_asked(new);
		r = raw_procmask(SIG_SETMASK, &k, old);
	} else if (old) {
		r = raw_procmask(SIG_BLOCK, NULL, old);
	}
	if (!r && old)
		memcpy(old, &cur, sizeof(cur));
	if (set && (!r || r == -EFAULT))
		deliver_pended(new);
	return r;
}

void sig_mask_adopt(void)
{
	uint64_t cur, k;

	enabled = true;
	if (raw_procmask(SIG_BLOCK, NULL, &cur) < 0)
		return;
	k = sig_mask_to_kernel(cur);
	if (k != cur)
		raw_procmask(SIG_SETMASK, &k, NULL);
}

void sig_block_all(sigset_t *old)
{
	uint64_t set = ~SIG_SYNC, prev = 0;

	raw_procmask(SIG_BLOCK, &set, &prev);
	memset(old, 0, sizeof(*old));
	memcpy(old, &prev, sizeof(prev));
}

void sig_restore(const sigset_t *old)
{
	uint64_t k;

	memcpy(&k, old, sizeof(k));
	raw_procmask(SIG_SETMASK, &k, NULL);
}
