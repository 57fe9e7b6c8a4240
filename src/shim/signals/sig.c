/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the handlers of SIGSEGV and SIGBUS. Once a UAR is mapped, the library's handlers are
 * installed in the kernel; the program's are kept here and called for all other faults, as the
 * kernel would call them. Before that, the kernel has the program's own.
 *
 * In --doorbell poll no handler is ever installed (the device thread watches plain memory, and
 * guarded copies go through the kernel): gdb, valgrind and sanitizers are not disturbed.
 *
 * Async-signal-safe, raw system calls. Called by the wrappers (sigwrap.c), uar.c, fault.c.
 */
#include "shim/given.h"
#include "shim/shim.h"
#include "shim/signals/sig.h"
#include "shim/doorbell/stack.h"
#include "shim/doorbell/fault.h"
#include "segment/mem.h"
#include "util/num.h"
#include "util/sys.h"
#include "util/tls.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

/*
 * Size of the kernel's struct ucontext, shorter than libc's: up to and including 8 bytes of mask.
 */
#define KERNEL_UC_BYTES (offsetof(ucontext_t, uc_sigmask) + 8)
#define REDZONE 128

static struct {
	_Atomic uint32_t lock; /* taken with every signal blocked */
	_Atomic bool installed;
	/* the program's handlers, with the masks that it gave */
	struct sig_kaction act[SIG_FAULTS];
} prog;

static const int fault_sig[SIG_FAULTS] = {SIGSEGV, SIGBUS};

/* All signals are blocked for the few instructions inside, SIGSEGV too: none of them faults. */
static uint64_t prog_lock(void)
{
	uint64_t old = sig_raw_setmask(SIG_MASK_ALL);

	while (atomic_exchange_explicit(&prog.lock, 1, memory_order_acquire))
		sys_raw(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	return old;
}

static void prog_unlock(void)
{
	atomic_store_explicit(&prog.lock, 0, memory_order_release);
}

static int raw_action(int sig, const struct sig_kaction *new, struct sig_kaction *old)
{
	return (int)sys_raw(SYS_rt_sigaction, sig, (long)new, (long)old, 8, 0, 0);
}

static int raw_action_program(int sig, const struct sig_kaction *new, struct sig_kaction *old)
{
	struct sig_kaction k;
	int r;

	if (new) {
		if (!given(&k, new, sizeof(k)))
			return -EFAULT;
		k.mask = sig_mask_to_kernel(k.mask);
		k.flags |= SA_RESTORER;
		k.restorer = sig_return;
	}
	r = raw_action(sig, new ? &k : NULL, old);
	if (r == 0 && old)
		old->mask = sig_mask_to_program(old->mask);
	return r;
}

/*
 * SA_NODEFER and no SIGSEGV in the mask: a fault inside the engine (a guarded copy) must be
 * delivered. SA_RESTART follows the program's choice: a sent SIGSEGV may interrupt a system call.
 */
static int install_one(int i)
{
	struct sig_kaction k = {
		.handler = (void *)sig_entry,
		.flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTORER |
			 (prog.act[i].flags & SA_RESTART),
		.restorer = sig_return,
		.mask = sig_kept_out(),
	};

	return raw_action(fault_sig[i], &k, NULL);
}

int sig_install(void)
{
	uint64_t old;
	int r = 0;

	if (uar_poll_mode())
		return 0;
	if (!atomic_load(&prog.installed))
		sig_note_caught();
	old = prog_lock();
	for (int i = 0; i < SIG_FAULTS; i++) {
		struct sig_kaction cur;

		if (raw_action(fault_sig[i], NULL, &cur) == 0 && cur.handler != (void *)sig_entry) {
			cur.mask = sig_mask_to_program(cur.mask);
			prog.act[i] = cur;
		}
		r = install_one(i) ?: r;
	}
	if (!r)
		atomic_store(&prog.installed, true);
	prog_unlock();
	mem_guard_armed |= !r;
	sig_raw_setmask(sig_mask_to_kernel(old));
	return r;
}

void sig_init(void)
{
	/*
	 * exec inherits the mask of real signals. Where SIGSEGV or SIGBUS is in it, it is moved to
	 * the stand-in (sig.h).
	 */
	sig_mask_adopt();
}

int sig_fault_action(int sig, const struct sig_kaction *new, struct sig_kaction *old)
{
	int i = sig_fault_index(sig);
	struct sig_kaction n;
	uint64_t mask;

	if (!atomic_load(&prog.installed) || !shim_owns_tables())
		return raw_action_program(sig, new, old);
	if (new && !given(&n, new, sizeof(n))) /* before any lock is held */
		return -EFAULT;
	mask = prog_lock();
	struct sig_kaction was = prog.act[i];

	if (new) {
		prog.act[i] = n;
		prog.act[i].flags |= SA_RESTORER;
		install_one(i);
	}
	prog_unlock();
	sig_raw_setmask(mask);
	return old && mem_guarded_copy(old, &was, sizeof(was)) ? -EFAULT : 0;
}

/* ---- are there handlers that a doorbell must keep out? */

enum { HANDLERS_NONE, HANDLERS_COMING, HANDLERS_HERE };
_Atomic uint32_t sig_handler_state;

/*
 * The number of threads between sig_guard_begin() and _end() with no signal blocked, and the
 * nesting depth of this one.
 */
static _Atomic uint32_t unblocked;
static TLS_IE uint32_t my_unblocked;

void sig_guard_begin(struct sig_guard *g)
{
	g->blocked = sig_handlers();
	if (!g->blocked) {
		atomic_fetch_add(&unblocked, 1);
		my_unblocked++;
		if (!sig_handlers())
			return;
		g->blocked = true;
		my_unblocked--;
		atomic_fetch_sub(&unblocked, 1);
	}
	sig_block_all(&g->old);
}

void sig_guard_end(const struct sig_guard *g)
{
	if (g->blocked) {
		sig_restore(&g->old);
		return;
	}
	my_unblocked--;
	atomic_fetch_sub(&unblocked, 1);
}

static void wait_unblocked(void)
{
	const struct timespec ts = {0, 50000};

	for (uint32_t tries = 0; atomic_load(&unblocked) > my_unblocked && tries < 20000; tries++)
		sys_raw(SYS_nanosleep, (long)&ts, 0, 0, 0, 0, 0);
}

/* The signals whose default action ends the program. SIGSTKFLT and SIGRTMAX are stand-ins. */
#define REALTIME ((sig_bit(64) - 1) & ~(sig_bit(34) - 1))
#define FATAL                                                                        \
	(sig_bit(SIGHUP) | sig_bit(SIGINT) | sig_bit(SIGQUIT) | sig_bit(SIGUSR1) |   \
	 sig_bit(SIGUSR2) | sig_bit(SIGPIPE) | sig_bit(SIGALRM) | sig_bit(SIGTERM) | \
	 sig_bit(SIGVTALRM) | sig_bit(SIGPROF) | sig_bit(SIGIO) | sig_bit(SIGPWR) |  \
	 sig_bit(SIGXCPU) | sig_bit(SIGXFSZ) | REALTIME)

/* Those for which the program has, or once had, a handler. */
static _Atomic uint64_t caught;

uint64_t sig_kept_out(void)
{
	return ~SIG_SYNC & ~(FATAL & ~atomic_load(&caught));
}

/* The kernel blocks these signals, too, in doorbells that fault from now on. */
static void keep_out(uint64_t bits)
{
	uint64_t old;

	atomic_fetch_or(&caught, bits);
	old = prog_lock(); /* another thread may install them with the mask of before */
	for (int i = 0; atomic_load(&prog.installed) && i < SIG_FAULTS; i++)
		install_one(i);
	prog_unlock();
	sig_raw_setmask(old);
}

/*
 * Returns when no doorbell is in progress that does not know of the program's handlers. Several
 * threads may wait at once.
 */
void sig_note(void)
{
	if (__builtin_expect(atomic_load(&sig_handler_state) == HANDLERS_HERE, 1))
		return;
	atomic_store(&sig_handler_state, HANDLERS_COMING);
	stack_wait_open();
	wait_unblocked();
	atomic_store(&sig_handler_state, HANDLERS_HERE);
}

void sig_note_handler(int sig, const void *handler)
{
	if (handler == (void *)SIG_DFL || handler == (void *)SIG_IGN || sig < 1 || sig > 64 ||
	    (SIG_SYNC & sig_bit(sig)))
		return;
	if (FATAL & sig_bit(sig) & ~atomic_load(&caught) && shim_owns_tables()) {
		keep_out(sig_bit(sig));
		stack_wait_open();
	}
	sig_note();
}

void sig_forked(void)
{
	atomic_store_explicit(&prog.lock, 0, memory_order_release);
	atomic_store(&unblocked, my_unblocked);
}

/* Reads SigCgt of /proc/self/status. If that fails, assume that the program has handlers. */
void sig_note_caught(void)
{
	const uint64_t glibc = UINT64_C(3)
			       /*
				* SIGCANCEL, SIGSETXID: glibc's handlers only take a note, or do no
				* harm
				*/
			       << 31;
	char buf[4096], *p;
	uint64_t have;

	sys_read_text("/proc/self/status", buf, sizeof(buf));
	p = strstr(buf, "SigCgt:");
	for (p = p ? p + 7 : NULL; p && (*p == '\t' || *p == ' '); p++)
		;
	have = p ? num_in_base(p, 16, NULL) : ~UINT64_C(0);
	if (FATAL & have & ~atomic_load(&caught))
		keep_out(have);
	if (have & ~(SIG_SYNC | glibc))
		atomic_store(&sig_handler_state, HANDLERS_HERE);
}

/* ---- alternate stacks */

TLS_IE struct sig_alt sig_alt;

/*
 * No handler may run between the two calls. A stack that a handler sets lasts until its sigreturn,
 * which we do not see. A vfork child has its own setting, in its parent's memory.
 */
int sig_alt_change(const stack_t *new, stack_t *old)
{
	uint64_t mask = sig_raw_setmask(~SIG_MEMORY);
	int r = (int)sys_raw(SYS_sigaltstack, (long)new, (long)old, 0, 0, 0, 0);

	if (r == 0 && new &&shim_owns_tables()) {
		sig_alt.base = (uintptr_t) new->ss_sp;
		sig_alt.size = new->ss_flags &SS_DISABLE ? 0 : new->ss_size;
	}
	sig_raw_setmask(mask);
	return r;
}

/* ---- a signal for the program */

/* Die of the signal: by the default action, at the faulting instruction or by sending it again. */
static void die(int sig, const siginfo_t *si, bool sent)
{
	struct sig_kaction dfl = {.handler = (void *)SIG_DFL};

	raw_action(sig, &dfl, NULL);
	if (sent)
		sys_raw(SYS_rt_tgsigqueueinfo, sys_getpid(), sys_raw(SYS_gettid, 0, 0, 0, 0, 0, 0),
			sig, (long)si, 0, 0);
}

static bool on_alt_stack(const ucontext_t *uc, uintptr_t sp)
{
	uintptr_t base = (uintptr_t)uc->uc_stack.ss_sp;

	return !(uc->uc_stack.ss_flags & SS_DISABLE) && sp - base < uc->uc_stack.ss_size;
}

/*
 * A handler without SA_ONSTACK expects to run where the fault happened, but ours took the kernel's
 * frame to the alternate stack. Move the frame to the place that the kernel would have chosen. 0,
 * or -EFAULT when there is no room (a stack overflow: the kernel would have killed it too).
 */
static int move_frame(const siginfo_t *si, const ucontext_t *uc, const void *sp, struct sig_jump *j)
{
	const char *fp = (const char *)uc->uc_mcontext.fpregs;
	uintptr_t to = (uintptr_t)uc->uc_mcontext.gregs[REG_RSP] - REDZONE;
	uintptr_t new_fp = 0;
	uint32_t fp_bytes = 512, magic;

	if (fp) {
		memcpy(&magic, fp + 464, 4); /* struct _fpx_sw_bytes */
		if (magic == 0x46505853)
			memcpy(&fp_bytes, fp + 468, 4);
		new_fp = to = (to - fp_bytes) & ~(uintptr_t)63;
		if (mem_guarded_copy((void *)to, fp, fp_bytes))
			return -EFAULT;
	}
	to = ((to - 8 - KERNEL_UC_BYTES - sizeof(*si)) & ~(uintptr_t)15) - 8;
	j->sp = (void *)to;
	j->uc = (void *)(to + 8);
	j->info = (void *)(to + 8 + KERNEL_UC_BYTES);
	if (mem_guarded_copy(j->sp, sp, 8) || mem_guarded_copy(j->uc, uc, KERNEL_UC_BYTES) ||
	    mem_guarded_copy(j->info, si, sizeof(*si)))
		return -EFAULT;
	((ucontext_t *)j->uc)->uc_mcontext.fpregs = (void *)new_fp;
	return 0;
}

/*
 * Chooses the action and, for a handler, fills *j: the entry leaves our frame and jumps to the
 * handler with the stack as the kernel made it, so that backtraces, siglongjmp and sigreturn work
 * as in the program alone.
 */
void sig_chain(int sig, siginfo_t *si, ucontext_t *uc, void *sp, struct sig_jump *j)
{
	int i = sig_fault_index(sig);
	bool sent = si->si_code <= 0, blocked, die_now;
	struct sig_kaction act;
	uint64_t mask;

	memcpy(&mask, &uc->uc_sigmask, sizeof(mask));
	blocked = sig_mask_blocks(mask, sig);
	if (sent && blocked) {
		sig_pend(sig, si);
		return;
	}
	prog_lock();
	act = prog.act[i];
	die_now = act.handler == (void *)SIG_DFL ||
		  (!sent && (blocked || act.handler == (void *)SIG_IGN));
	if (!die_now && act.handler != (void *)SIG_IGN && (act.flags & SA_RESETHAND))
		prog.act[i].handler = (void *)SIG_DFL;
	prog_unlock();
	if (die_now) {
		die(sig, si, sent);
		return;
	}
	if (act.handler == (void *)SIG_IGN)
		return;

	j->info = si;
	j->uc = uc;
	j->sp = sp;
	if (!(act.flags & SA_ONSTACK) && on_alt_stack(uc, (uintptr_t)sp) &&
	    !on_alt_stack(uc, (uintptr_t)uc->uc_mcontext.gregs[REG_RSP])) {
		sig_raw_setmask(~SIG_MEMORY);
		if (move_frame(si, uc, sp, j) < 0) {
			die(SIGSEGV, si, false);
			return;
		}
	}
	mask |= act.mask;
	if (!(act.flags & SA_NODEFER))
		mask |= sig_bit(sig);
	sig_raw_setmask(sig_mask_to_kernel(mask));
	j->fn = act.handler;
}
