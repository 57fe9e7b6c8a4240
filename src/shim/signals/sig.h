/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Virtualised signals, inside the shim (sigmask.c, sig.c, sigwrap.c).
 *
 * SIGSEGV and SIGBUS must never be blocked in a thread that rings a doorbell: a doorbell is a
 * fault, and the kernel kills a thread that faults with the signal blocked. Each of the two
 * therefore has a stand-in that is never sent, and "the program blocks SIGSEGV" is kept in the
 * kernel's mask as "SIGSTKFLT is blocked". So the kernel itself saves, restores and inherits the
 * program's mask (over threads, fork, exec, signal frames, siglongjmp and contexts), and the shim
 * keeps no mask.
 *
 * 	SIGSEGV -> SIGSTKFLT (never sent by Linux)	SIGBUS -> SIGRTMAX
 *
 * The cost: a thread that blocks SIGSEGV but not SIGSTKFLT has both blocked, and a signal handler
 * or a new thread also sees both in its mask.
 */
#ifndef SOFTHCA_SHIM_SIGNALS_SIG_H
#define SOFTHCA_SHIM_SIGNALS_SIG_H

#include "util/sigset.h"
#include "util/tls.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* The kernel's struct sigaction, the argument of rt_sigaction. */
struct sig_kaction {
	void *handler; /* SIG_DFL, SIG_IGN or a function of either shape */
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

#ifndef SA_RESTORER
#define SA_RESTORER 0x04000000
#endif

enum { SIG_FAULTS = 2 }; /* SIGSEGV, SIGBUS */

/* 0 for SIGSEGV, 1 for SIGBUS, -1 for the others. */
static inline int sig_fault_index(int sig)
{
	return sig == SIGSEGV ? 0 : sig == SIGBUS ? 1 : -1;
}

/* ---- masks (sigmask.c): "program" is what the program asked for, "kernel" what the kernel has. */
uint64_t sig_mask_to_kernel(uint64_t program);
uint64_t sig_mask_to_program(uint64_t kernel); /* uses no state of the calling thread */
/* sigprocmask: 0 or -errno; set and old may be NULL. A bad `old`: the mask is set, and -EFAULT. */
int sig_mask_change(int how, const uint64_t *set, uint64_t *old);
/* With this kernel mask, does the program block SIGSEGV/SIGBUS in this thread? */
bool sig_mask_blocks(uint64_t kernel, int sig);
/* A sent SIGSEGV/SIGBUS is blocked: keep it until sig_mask_change() unblocks it. */
void sig_pend(int sig, const siginfo_t *si);
uint64_t sig_pending_mask(void); /* the sent signals that are kept for the calling thread */
/*
 * Masks are translated from now on; signals that this thread has blocked in the kernel move to the
 * stand-ins.
 */
void sig_mask_adopt(void);
/* Raw, whole masks. */
uint64_t sig_raw_setmask(uint64_t kernel); /* returns the old one */
#define SIG_MASK_ALL (~UINT64_C(0))

/* ---- dispositions (sig.c) */
/*
 * sigaction of SIGSEGV or SIGBUS; new and old (program's masks) may be NULL, or bad pointers. 0 or
 * -errno.
 */
int sig_fault_action(int sig, const struct sig_kaction *new, struct sig_kaction *old);

/*
 * The place where the signal entry continues after the C part: the interrupted code (fn NULL), or
 * the program's handler as if the kernel had called it. stack.S knows the layout.
 */
struct sig_jump {
	void *fn;
	void *info;
	void *uc;
	void *sp; /* address of the frame's return address */
};
/*
 * Passes a signal that is not ours to the program's handler, or lets the program die of it. `sp` is
 * the kernel's frame.
 */
void sig_chain(int sig, siginfo_t *si, ucontext_t *uc, void *sp, struct sig_jump *j);

/* ---- has the program handlers for asynchronous signals? (sig.c) */
extern _Atomic uint32_t sig_handler_state; /* 0: none */
static inline bool sig_handlers(void)
{
	return atomic_load(&sig_handler_state) != 0;
}
/*
 * The signals that are blocked in the engine: not those that would end the program, because a
 * thread may be kept in a copy until a peer's page fault is resolved, and can only die there.
 */
uint64_t sig_kept_out(void);
/*
 * Called before the kernel gets a handler of the program, or before threads may be interrupted;
 * permanent. Returns when no doorbell is in progress that started without knowing it.
 */
void sig_note_handler(int sig, const void *handler);
void sig_note(void);
/* The same for handlers that the kernel has already, however they were set. */
void sig_note_caught(void);

/*
 * Brackets work that no handler of the program may interrupt. If the program has no handler, no
 * signal is blocked, and a thread that installs the first one waits until the work is done; the
 * work must therefore not sleep for an unlimited time. Nests.
 */
struct sig_guard {
	sigset_t old;
	bool blocked;
};
void sig_guard_begin(struct sig_guard *g);
void sig_guard_end(const struct sig_guard *g);

/* ---- alternate stacks (sig.c) */
/* sigaltstack: 0 or -errno. Remembers the calling thread's. */
int sig_alt_change(const stack_t *new, stack_t *old);
/*
 * The calling thread's alternate stack: size 0 when it has none. Unknown when a program makes the
 * system call itself, without libc's sigaltstack() or syscall().
 */
struct sig_alt {
	uintptr_t base, size;
};
extern TLS_IE struct sig_alt sig_alt;

/* ---- stack.S */
void sig_entry(int sig, siginfo_t *si, void *uc); /* the handler that the kernel has */
void sig_return(void) __asm__("__restore_rt");    /* sa_restorer */
/* C part of the entry (fault.c). */
void sig_dispatch(int sig, siginfo_t *si, void *uc, struct sig_jump *j, void *sp);

#endif
