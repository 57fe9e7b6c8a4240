/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the wrapped signal interface of libc and of syscall(): every way to set a handler or a mask.
 * Handlers of SIGSEGV and SIGBUS go to sig.c, masks through sigmask.c, the rest to libc with its
 * masks translated. Not covered: setcontext() and sigreturn with a mask that the program itself put
 * SIGSEGV into.
 */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE
#include "shim/given.h"
#include "shim/shim.h"
#include "shim/signals/sig.h"
#include "shim/files/wait.h"
#include "shim/wrap.h"
#include "segment/mem.h"
#include "util/sys.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>

static inline uint64_t set_bits(const sigset_t *s)
{
	uint64_t v;

	memcpy(&v, s, sizeof(v));
	return v;
}

static inline void bits_set(sigset_t *s, uint64_t v)
{
	memset(s, 0, sizeof(*s));
	memcpy(s, &v, sizeof(v));
}

static int sigwrap_fail(int r)
{
	if (r >= 0)
		return r;
	errno = -r;
	return -1;
}

/* ---- handlers */

static void kaction_from(struct sig_kaction *k, const struct sigaction *a)
{
	k->handler = (void *)a->sa_sigaction;
	k->flags = (unsigned long)(long)a->sa_flags;
	k->restorer = NULL;
	k->mask = set_bits(&a->sa_mask);
}

static void kaction_to(struct sigaction *a, const struct sig_kaction *k)
{
	a->sa_sigaction = (void (*)(int, siginfo_t *, void *))k->handler;
	a->sa_flags = (int)k->flags;
	a->sa_restorer = k->restorer;
	bits_set(&a->sa_mask, k->mask);
}

typedef int sigaction_fn(int sig, const struct sigaction *new, struct sigaction *old);

static int do_sigaction(sigaction_fn *next, int sig, const struct sigaction *new,
			struct sigaction *old)
{
	struct sig_kaction kn, ko;
	struct sigaction n;
	int r;

	if (sig_fault_index(sig) < 0) {
		if (new) {
			n = *new;
			sig_note_handler(sig, (void *)n.sa_sigaction);
			bits_set(&n.sa_mask, sig_mask_to_kernel(set_bits(&n.sa_mask)));
		}
		r = next(sig, new ? &n : NULL, old);
		if (r == 0 && old)
			bits_set(&old->sa_mask, sig_mask_to_program(set_bits(&old->sa_mask)));
		return r;
	}
	if (new)
		kaction_from(&kn, new);
	r = sig_fault_action(sig, new ? &kn : NULL, old ? &ko : NULL);
	if (r == 0 && old)
		kaction_to(old, &ko);
	return sigwrap_fail(r);
}

WRAP(int, sigaction, (int sig, const struct sigaction *new, struct sigaction *old))
{
	return do_sigaction(NEXT(sigaction), sig, new, old);
}

WRAP(int, __sigaction, (int sig, const struct sigaction *new, struct sigaction *old))
{
	return do_sigaction(NEXT(__sigaction), sig, new, old);
}

/* The old interfaces differ in flags only. Answers SIG_ERR with errno. */
typedef void (*handler_fn)(int);

static handler_fn fault_signal(int sig, handler_fn fn, unsigned long flags, uint64_t mask)
{
	struct sig_kaction k = {.handler = (void *)fn, .flags = flags, .mask = mask}, old;

	if (fn == SIG_ERR)
		return errno = EINVAL, SIG_ERR;
	if (sigwrap_fail(sig_fault_action(sig, &k, &old)) < 0)
		return SIG_ERR;
	return (handler_fn)old.handler;
}

static _Atomic bool interrupts[SIG_FAULTS]; /* siginterrupt(sig, 1) was called */

static handler_fn fault_bsd(int sig, handler_fn fn)
{
	return fault_signal(sig, fn, interrupts[sig_fault_index(sig)] ? 0 : SA_RESTART,
			    sig_bit(sig));
}

static handler_fn fault_sysv(int sig, handler_fn fn)
{
	return fault_signal(sig, fn, SA_RESETHAND | SA_NODEFER, 0);
}

#define WRAP_SIGNAL(name, form)                                                                \
	WRAP(handler_fn, name, (int sig, handler_fn fn))                                       \
	{                                                                                      \
		sig_note_handler(sig, (void *)fn);                                             \
		return sig_fault_index(sig) < 0 ? NEXT(name)(sig, fn) : fault_##form(sig, fn); \
	}
WRAP_SIGNAL(signal, bsd)
WRAP_SIGNAL(bsd_signal, bsd)
WRAP_SIGNAL(ssignal, bsd)
WRAP_SIGNAL(sysv_signal, sysv)
WRAP_SIGNAL(__sysv_signal, sysv)

WRAP(int, siginterrupt, (int sig, int flag))
{
	int i = sig_fault_index(sig);
	struct sig_kaction k;
	int r;

	if (i < 0)
		return NEXT(siginterrupt)(sig, flag);
	r = sig_fault_action(sig, NULL, &k);
	if (r == 0) {
		interrupts[i] = flag != 0;
		k.flags = flag ? k.flags & ~(unsigned long)SA_RESTART : k.flags | SA_RESTART;
		r = sig_fault_action(sig, &k, NULL);
	}
	return sigwrap_fail(r);
}

static int mask_one(int how, int sig, uint64_t *old)
{
	uint64_t bit = sig_bit(sig);

	return sigwrap_fail(sig_mask_change(how, &bit, old));
}

WRAP(handler_fn, sigset, (int sig, handler_fn disp))
{
	struct sig_kaction old;
	uint64_t was;

	if (disp != SIG_HOLD)
		sig_note_handler(sig, (void *)disp);
	if (sig_fault_index(sig) < 0)
		return NEXT(sigset)(sig, disp);
	if (disp == SIG_HOLD) {
		if (mask_one(SIG_BLOCK, sig, &was) < 0 || sig_fault_action(sig, NULL, &old))
			return SIG_ERR;
		return was & sig_bit(sig) ? SIG_HOLD : (handler_fn)old.handler;
	}
	handler_fn prev = fault_signal(sig, disp, 0, 0);

	if (prev == SIG_ERR || mask_one(SIG_UNBLOCK, sig, &was) < 0)
		return SIG_ERR;
	return was & sig_bit(sig) ? SIG_HOLD : prev;
}

WRAP(int, sigignore, (int sig))
{
	if (sig_fault_index(sig) < 0)
		return NEXT(sigignore)(sig);
	return fault_signal(sig, SIG_IGN, 0, 0) == SIG_ERR ? -1 : 0;
}

WRAP(int, sighold, (int sig))
{
	return sig_fault_index(sig) < 0 ? NEXT(sighold)(sig) : mask_one(SIG_BLOCK, sig, NULL);
}

WRAP(int, sigrelse, (int sig))
{
	return sig_fault_index(sig) < 0 ? NEXT(sigrelse)(sig) : mask_one(SIG_UNBLOCK, sig, NULL);
}

/* ---- masks */

static int do_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	uint64_t s = set ? set_bits(set) : 0;

	/* The kernel stores no more than its own mask. */
	return sig_mask_change(how, set ? &s : NULL, (uint64_t *)old);
}

WRAP(int, sigprocmask, (int how, const sigset_t *set, sigset_t *old))
{
	return sigwrap_fail(do_sigmask(how, set, old));
}

WRAP(int, pthread_sigmask, (int how, const sigset_t *set, sigset_t *old))
{
	return -do_sigmask(how, set, old);
}

WRAP(int, sigblock, (int mask))
{
	uint64_t s = (uint32_t)mask, o = 0;

	return sigwrap_fail(sig_mask_change(SIG_BLOCK, &s, &o)) < 0 ? -1 : (int)o;
}

WRAP(int, sigsetmask, (int mask))
{
	uint64_t s = (uint32_t)mask, o = 0;

	return sigwrap_fail(sig_mask_change(SIG_SETMASK, &s, &o)) < 0 ? -1 : (int)o;
}

WRAP(int, sigpending, (sigset_t * set))
{
	int r = NEXT(sigpending)(set);

	if (r == 0)
		bits_set(set, set_bits(set) | sig_pending_mask());
	return r;
}

/* NULL stays NULL, and a bad pointer what it is: the kernel finds it after other arguments. */
static const void *translated(const void *mask, uint64_t *room)
{
	if (!mask || !given(room, mask, sizeof(*room)))
		return mask;
	*room = sig_mask_to_kernel(*room);
	return room;
}

static const sigset_t *kernel_mask(const sigset_t *mask, sigset_t *room)
{
	uint64_t k;

	if (translated(mask, &k) != &k)
		return mask;
	bits_set(room, k);
	return room;
}

WRAP(int, sigsuspend, (const sigset_t *mask))
{
	sigset_t k;

	return NEXT(sigsuspend)(kernel_mask(mask, &k));
}

/* Wait functions that take a mask. wait.c handles event files. */
static const struct timespec none;

static bool no_time(const struct timespec *t)
{
	struct timespec v = {.tv_nsec = 1};

	return wait_any() && t && !mem_guarded_copy(&v, t, sizeof(v)) && !v.tv_sec && !v.tv_nsec;
}

/* The kernel reports errors in the arguments. */
static bool bad_time(const struct timespec *t)
{
	struct timespec v;

	return t && (mem_guarded_copy(&v, t, sizeof(v)) || v.tv_sec < 0 ||
		     (unsigned long)v.tv_nsec >= 1000000000);
}

static int next_ppoll(const struct wait_call *c, bool now);
static int next___ppoll_chk(const struct wait_call *c, bool now);
static int next_pselect(const struct wait_call *c, bool now);

WRAP(int, ppoll,
     (struct pollfd * fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask))
{
	sigset_t k;
	const struct wait_call c = {.next = next_ppoll,
				    .now = no_time(timeout),
				    .fds = fds,
				    .n = n,
				    .ts = timeout,
				    .mask = kernel_mask(mask, &k)};

	return wait_any() && !bad_time(timeout) ? wait_poll(&c) : next_ppoll(&c, false);
}

static int next_ppoll(const struct wait_call *c, bool now)
{
	return NEXT(ppoll)(c->fds, c->n, now ? &none : c->ts, c->mask);
}

WRAP(int, __ppoll_chk,
     (struct pollfd * fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask,
      size_t fdslen))
{
	sigset_t k;
	const struct wait_call c = {.next = next___ppoll_chk,
				    .now = no_time(timeout),
				    .fds = fds,
				    .n = n,
				    .ts = timeout,
				    .mask = kernel_mask(mask, &k),
				    .room = fdslen};

	return wait_any() && !bad_time(timeout) && n <= fdslen / sizeof(*fds)
		       ? wait_poll(&c)
		       : next___ppoll_chk(&c, false);
}

static int next___ppoll_chk(const struct wait_call *c, bool now)
{
	return NEXT(__ppoll_chk)(c->fds, c->n, now ? &none : c->ts, c->mask, c->room);
}

WRAP(int, pselect,
     (int n, fd_set *rd, fd_set *wr, fd_set *ex, const struct timespec *timeout,
      const sigset_t *mask))
{
	sigset_t k;
	const struct wait_call c = {.next = next_pselect,
				    .now = no_time(timeout),
				    .nfds = n,
				    .rd = rd,
				    .wr = wr,
				    .ex = ex,
				    .ts = timeout,
				    .mask = kernel_mask(mask, &k)};

	return wait_any() && !bad_time(timeout) ? wait_select(&c) : next_pselect(&c, false);
}

static int next_pselect(const struct wait_call *c, bool now)
{
	return NEXT(pselect)(c->nfds, c->rd, c->wr, c->ex, now ? &none : c->ts, c->mask);
}

WRAP(int, epoll_pwait,
     (int epfd, struct epoll_event *ev, int max, int timeout, const sigset_t *mask))
{
	sigset_t k;

	return NEXT(epoll_pwait)(epfd, ev, max, timeout, kernel_mask(mask, &k));
}

WRAP(int, epoll_pwait2,
     (int epfd, struct epoll_event *ev, int max, const struct timespec *timeout,
      const sigset_t *mask))
{
	sigset_t k;

	return NEXT(epoll_pwait2)(epfd, ev, max, timeout, kernel_mask(mask, &k));
}

/* The mask that a new thread starts with. */
WRAP(int, pthread_attr_setsigmask_np, (pthread_attr_t * attr, const sigset_t *mask))
{
	sigset_t k;

	return NEXT(pthread_attr_setsigmask_np)(attr, kernel_mask(mask, &k));
}

WRAP(int, pthread_attr_getsigmask_np, (const pthread_attr_t *attr, sigset_t *mask))
{
	int r = NEXT(pthread_attr_getsigmask_np)(attr, mask);

	if (r == 0)
		bits_set(mask, sig_mask_to_program(set_bits(mask)));
	return r;
}

/* Records the alternate stack, so that patched doorbells need not ask the kernel for it. */
WRAP(int, sigaltstack, (const stack_t *new, stack_t *old))
{
	return sigwrap_fail(sig_alt_change(new, old));
}

/* glibc's own cancellation signal may unwind such a thread at any instruction. */
WRAP(int, pthread_setcanceltype, (int type, int *old))
{
	if (type == PTHREAD_CANCEL_ASYNCHRONOUS)
		sig_note();
	return NEXT(pthread_setcanceltype)(type, old);
}

WRAP(void, pthread_exit, (void *value))
{
	devthread_main_exits();
	NEXT(pthread_exit)(value);
	__builtin_unreachable();
}

/* ---- the raw forms */

static long sys_sigaction(const long a[6], bool *handled)
{
	const struct sig_kaction *new = (const void *)a[1];
	struct sig_kaction *old = (void *)a[2], n;
	int sig = (int)a[0];
	long r;

	if (a[3] != 8)
		return *handled = false, 0;
	if (sig_fault_index(sig) >= 0)
		return sig_fault_action(sig, new, old);
	if (new && !given(&n, new, sizeof(n)))
		return -EFAULT;
	if (new) {
		sig_note_handler(sig, n.handler);
		n.mask = sig_mask_to_kernel(n.mask);
	}
	r = sys_raw(SYS_rt_sigaction, sig, new ? (long)&n : 0, (long)old, 8, 0, 0);
	if (r == 0 && old)
		old->mask = sig_mask_to_program(old->mask);
	return r;
}

/* A call whose argument i points to a mask. */
static long sys_with_mask(long nr, const long a[6], int i)
{
	long b[6];
	uint64_t k;

	memcpy(b, a, sizeof(b));
	b[i] = (long)translated((const void *)a[i], &k);
	return sys_raw(nr, b[0], b[1], b[2], b[3], b[4], b[5]);
}

/* pselect6's last argument is a pair: mask pointer, size. */
static long sys_pselect6(const long a[6])
{
	struct {
		const uint64_t *mask;
		size_t size;
	} pair;
	uint64_t k;

	if (!a[5] || !given(&pair, (const void *)a[5], sizeof(pair)))
		return sys_raw(SYS_pselect6, a[0], a[1], a[2], a[3], a[4], a[5]);
	pair.mask = translated(pair.mask, &k);
	return sys_raw(SYS_pselect6, a[0], a[1], a[2], a[3], a[4], (long)&pair);
}

static long sys_sigpending(const long a[6])
{
	long r = sys_raw(SYS_rt_sigpending, a[0], a[1], 0, 0, 0, 0);
	uint64_t set;

	if (r == 0 && a[1] == 8) {
		memcpy(&set, (void *)a[0], sizeof(set));
		set |= sig_pending_mask();
		memcpy((void *)a[0], &set, sizeof(set));
	}
	return r;
}

static long sys_sigprocmask(const long a[6])
{
	const void *set = (const void *)a[1];
	uint64_t s;

	if (a[3] != 8)
		return -EINVAL;
	if (set && !given(&s, set, sizeof(s)))
		return -EFAULT;
	return sig_mask_change((int)a[0], set ? &s : NULL, (uint64_t *)a[2]);
}

long sig_syscall(long nr, const long args[6], bool *handled)
{
	*handled = true;
	switch (nr) {
	case SYS_rt_sigaction:
		return sys_sigaction(args, handled);
	case SYS_rt_sigprocmask:
		return sys_sigprocmask(args);
	case SYS_rt_sigpending:
		return sys_sigpending(args);
	case SYS_rt_sigsuspend:
		return sys_with_mask(nr, args, 0);
	case SYS_sigaltstack:
		return sig_alt_change((const stack_t *)args[0], (stack_t *)args[1]);
	case SYS_ppoll:
		wait_publish_all(false);
		return sys_with_mask(nr, args, 3);
	case SYS_pselect6:
		wait_publish_all(false);
		return sys_pselect6(args);
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
		return sys_with_mask(nr, args, 4);
	default:
		*handled = false;
		return 0;
	}
}
