/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A program's own signals beside the doorbells: handlers, masks, death. */
#include "child.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <cmocka.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static char *page;
static volatile sig_atomic_t calls;
static volatile int last_code;
static void *volatile last_addr;
static char *volatile hole; /* an unmapped address */
static char *volatile nowhere = (char *)1;
static sigjmp_buf jump;

static int setup(void **state)
{
	page = fake_map(1);
	hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return page == MAP_FAILED || hole == MAP_FAILED ? -1 : 0;
}

static void open_hole(int sig, siginfo_t *si, void *uc)
{
	calls++;
	last_code = si->si_code;
	last_addr = si->si_addr;
	mprotect(hole, 4096, PROT_READ | PROT_WRITE);
}

static void open_hole_old(int sig)
{
	calls++;
	mprotect(hole, 4096, PROT_READ | PROT_WRITE);
}

static void close_hole(void)
{
	mprotect(hole, 4096, PROT_NONE);
}

static void jump_out(int sig)
{
	calls++;
	siglongjmp(jump, 1);
}

static void count(int sig)
{
	calls++;
}

static void count_info(int sig, siginfo_t *si, void *uc)
{
	calls++;
	last_code = si->si_code;
}

static void set(int sig, void (*fn)(int, siginfo_t *, void *), int flags)
{
	struct sigaction a = {.sa_sigaction = fn, .sa_flags = SA_SIGINFO | flags};

	CHECK(sigaction(sig, &a, NULL) == 0);
}

/* ---- handlers */

static void gets_its_own_faults(void)
{
	set(SIGSEGV, open_hole, 0);
	for (int i = 1; i <= 3; i++) {
		ring(page);
		*hole = 'x';
		CHECK(calls == i && last_addr == hole && last_code == SEGV_ACCERR);
		CHECK(*hole == 'x');
		close_hole();
	}
	CHECK(fake_count() == 3);
}

static void gets_its_own_faults_old_style(void)
{
	signal(SIGSEGV, open_hole_old);
	for (int i = 1; i <= 3; i++) {
		ring(page);
		*hole = 'x';
		CHECK(calls == i);
		close_hole();
	}
	CHECK(fake_count() == 3);
}

static void dies_of_a_fault(void)
{
	ring(page);
	*hole = 'x';
}

static void dies_of_an_ignored_fault(void)
{
	signal(SIGSEGV, SIG_IGN);
	ring(page);
	*hole = 'x';
}

static void dies_of_a_blocked_fault(void)
{
	sigset_t s;

	set(SIGSEGV, open_hole, 0);
	sigemptyset(&s);
	sigaddset(&s, SIGSEGV);
	CHECK(sigprocmask(SIG_BLOCK, &s, NULL) == 0);
	ring(page);
	CHECK(fake_count() == 1);
	*hole = 'x';
}

static void dies_of_a_second_fault_when_reset(void)
{
	set(SIGSEGV, open_hole, SA_RESETHAND);
	*hole = 'x';
	CHECK(calls == 1);
	close_hole();
	ring(page);
	CHECK(fake_count() == 1);
	*hole = 'x';
}

static void sysv_signal_resets(void)
{
	sysv_signal(SIGSEGV, open_hole_old);
	*hole = 'x';
	CHECK(calls == 1);
	close_hole();
	*hole = 'x';
}

static void fault_inside(int sig)
{
	*nowhere = 0;
}

static void dies_of_a_fault_in_its_handler(void)
{
	signal(SIGSEGV, fault_inside);
	*hole = 'x';
}

static volatile int depth;

static void nested(int sig, siginfo_t *si, void *uc)
{
	if (++depth == 1)
		*nowhere = 0;
	CHECK(depth == 2);
	siglongjmp(jump, 1);
}

static void nodefer_nests(void)
{
	set(SIGSEGV, nested, SA_NODEFER);
	if (!sigsetjmp(jump, 1))
		*hole = 'x';
	CHECK(depth == 2);
}

static void jumps_out_many_times(void)
{
	signal(SIGSEGV, jump_out);
	for (volatile int i = 1; i <= 1000; i++) {
		if (!sigsetjmp(jump, 1))
			*hole = 'x';
		CHECK(calls == i);
		ring(page);
	}
	CHECK(fake_count() == 1000);
}

static void sees_what_it_set(void)
{
	struct sigaction a = {.sa_sigaction = open_hole, .sa_flags = SA_SIGINFO | SA_NODEFER}, old;

	CHECK(sigaction(SIGSEGV, NULL, &old) == 0 && old.sa_handler == SIG_DFL);
	sigaddset(&a.sa_mask, SIGSEGV);
	sigaddset(&a.sa_mask, SIGUSR1);
	CHECK(sigaction(SIGSEGV, &a, &old) == 0 && old.sa_handler == SIG_DFL);
	CHECK(fake_map(2) != MAP_FAILED); /* installs the handler again */
	CHECK(sigaction(SIGSEGV, NULL, &old) == 0);
	CHECK(old.sa_sigaction == open_hole);
	CHECK((old.sa_flags & ~0x04000000) == (SA_SIGINFO | SA_NODEFER));
	CHECK(sigismember(&old.sa_mask, SIGSEGV) && sigismember(&old.sa_mask, SIGUSR1));
	CHECK(!sigismember(&old.sa_mask, SIGBUS));
	CHECK((void *)signal(SIGSEGV, SIG_IGN) == (void *)open_hole);
	CHECK(signal(SIGSEGV, count) == SIG_IGN);
	CHECK(sigset(SIGSEGV, SIG_DFL) == count);
	ring(page);
	CHECK(fake_count() == 1);
}

static void a_raw_handler_is_kept(void)
{
	struct {
		void *fn;
		unsigned long flags;
		void *restorer;
		uint64_t mask;
	} k = {.fn = jump_out, .flags = SA_SIGINFO};
	long r;

	/* by a raw system call, as in a sanitizer */
	register long r10 __asm__("r10") = 8;
	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"(SYS_rt_sigaction), "D"(SIGSEGV), "S"(&k), "d"(0), "r"(r10)
			 : "rcx", "r11", "memory");
	CHECK(r == 0);
	CHECK(fake_map(3) != MAP_FAILED);
	ring(page);
	if (!sigsetjmp(jump, 1))
		*hole = 'x';
	CHECK(calls == 1 && fake_count() == 1);
}

static volatile bool usr1_in_handler;

static void look_at_mask(int sig, siginfo_t *si, void *uc)
{
	sigset_t now;

	sigprocmask(SIG_BLOCK, NULL, &now);
	usr1_in_handler = sigismember(&now, SIGUSR1);
	CHECK(sigismember(&now, SIGSEGV));
	CHECK(!sigismember(&now, SIGUSR2));
	CHECK(!sigismember(&now, SIGALRM));
	ring(page);
	open_hole(sig, si, uc);
}

static void its_handler_runs_with_its_mask_and_rings(void)
{
	struct sigaction a = {.sa_sigaction = look_at_mask, .sa_flags = SA_SIGINFO};
	sigset_t now;

	sigaddset(&a.sa_mask, SIGUSR1);
	CHECK(sigaction(SIGSEGV, &a, NULL) == 0);
	*hole = 'x';
	CHECK(calls == 1 && usr1_in_handler && fake_count() == 1);
	sigprocmask(SIG_BLOCK, NULL, &now);
	CHECK(!sigismember(&now, SIGUSR1) && !sigismember(&now, SIGSEGV));
}

static char alt[65536] __attribute__((aligned(16)));

static bool on_alt(void)
{
	char here;

	return &here >= alt && &here < alt + sizeof(alt);
}

static volatile bool was_on_alt;

static void note_stack(int sig, siginfo_t *si, void *uc)
{
	was_on_alt = on_alt();
	CHECK(si->si_addr == hole);
	open_hole(sig, si, uc);
}

static void its_handler_runs_on_the_stack_it_chose(void)
{
	stack_t ss = {.ss_sp = alt, .ss_size = sizeof(alt)};
	double x = 3.5, y;

	CHECK(sigaltstack(&ss, NULL) == 0);
	for (int i = 0; i < 10; i++) {
		set(SIGSEGV, note_stack, i % 2 ? SA_ONSTACK : 0);
		__asm__ volatile("movq %1, %%xmm13; movb $1, (%2); movq %%xmm13, %0"
				 : "=r"(y)
				 : "r"(x), "r"(hole)
				 : "xmm13", "memory");
		CHECK(x == y);
		CHECK(was_on_alt == i % 2);
		close_hole();
		ring(page);
	}
	CHECK(calls == 10 && fake_count() == 10);
}

static void overflow(volatile char *p)
{
	volatile char room[4096];

	room[0] = p ? p[0] : 0;
	if (nowhere)
		overflow(room);
	room[1] = 0;
}

static void jump_out_of_overflow(int sig)
{
	CHECK(on_alt());
	siglongjmp(jump, 1);
}

static void catches_its_stack_overflow(void)
{
	stack_t ss = {.ss_sp = alt, .ss_size = sizeof(alt)};
	struct sigaction a = {.sa_handler = jump_out_of_overflow, .sa_flags = SA_ONSTACK};
	struct rlimit l = {256 << 10, 256 << 10};

	setrlimit(RLIMIT_STACK, &l);
	CHECK(sigaltstack(&ss, NULL) == 0 && sigaction(SIGSEGV, &a, NULL) == 0);
	for (volatile int i = 0; i < 3; i++) {
		if (!sigsetjmp(jump, 1))
			overflow(NULL);
		ring(page);
	}
	CHECK(fake_count() == 3);
}

static void dies_of_its_stack_overflow(void)
{
	stack_t ss = {.ss_sp = alt, .ss_size = sizeof(alt)};
	struct rlimit l = {256 << 10, 256 << 10};

	setrlimit(RLIMIT_STACK, &l);
	CHECK(sigaltstack(&ss, NULL) == 0);
	signal(SIGSEGV, jump_out); /* without SA_ONSTACK: no space for it */
	overflow(NULL);
}

static void gets_sent_signals(void)
{
	set(SIGSEGV, count_info, 0);
	kill(getpid(), SIGSEGV);
	CHECK(calls == 1 && last_code == SI_USER);
	raise(SIGSEGV);
	CHECK(calls == 2 && last_code == SI_TKILL);
	ring(page);
	CHECK(fake_count() == 1);
}

static void dies_of_a_sent_signal(void)
{
	kill(getpid(), SIGSEGV);
}

/*
 * A copy waits for a page fault of the peer, so its doorbell does not end: what ends a program ends
 * it there.
 */
static void dies_inside(void)
{
	ring(page);
	fake_work(FAKE_TERM | FAKE_STAY);
	ring(page);
}

static void dies_in_a_doorbell(void)
{
	dies_inside();
}

static void dies_in_a_doorbell_although_it_has_handlers(void)
{
	signal(SIGINT, count);
	signal(SIGUSR1, count);
	signal(SIGCHLD, count);
	dies_inside();
}

static volatile int was_inside;

static void note_inside(int sig)
{
	calls++;
	was_inside |= fake_inside();
	was_inside |= fake_count() != (uint32_t)calls;
}

static void handles_a_signal_after_the_doorbell(void)
{
	fake_work(FAKE_TERM);
	signal(SIGTERM, note_inside);
	for (int i = 1; i <= 100; i++) {
		ring(page);
		CHECK(calls == i && !was_inside);
	}
}

static void a_mask_keeps_a_signal_out(void)
{
	sigset_t s, p;

	sigemptyset(&s);
	sigaddset(&s, SIGTERM);
	sigprocmask(SIG_BLOCK, &s, NULL);
	fake_work(FAKE_TERM);
	for (uint32_t i = 1; i <= 100; i++) {
		ring(page);
		CHECK(fake_count() == i);
	}
	CHECK(!sigpending(&p) && sigismember(&p, SIGTERM));
}

static void ignores_a_sent_signal(void)
{
	signal(SIGSEGV, SIG_IGN);
	kill(getpid(), SIGSEGV);
	raise(SIGSEGV);
	ring(page);
	CHECK(fake_count() == 1);
}

static void a_blocked_sent_signal_waits(void)
{
	sigset_t s, p;

	set(SIGSEGV, count_info, 0);
	sigfillset(&s);
	sigprocmask(SIG_BLOCK, &s, NULL);
	raise(SIGSEGV);
	CHECK(calls == 0);
	sigpending(&p);
	CHECK(sigismember(&p, SIGSEGV));
	ring(page);
	CHECK(calls == 0 && fake_count() == 1);
	sigprocmask(SIG_UNBLOCK, &s, NULL);
	CHECK(calls == 1 && last_code == SI_TKILL);
	sigpending(&p);
	CHECK(!sigismember(&p, SIGSEGV));
}

static void abort_still_aborts(void)
{
	ring(page);
	abort();
}

static void bus_errors_are_its_own(void)
{
	char name[] = "/tmp/trap-bus-XXXXXX";
	int fd = mkstemp(name);
	char *p;

	unlink(name);
	CHECK(ftruncate(fd, 4096) == 0);
	p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	signal(SIGBUS, jump_out);
	for (volatile int i = 1; i <= 3; i++) {
		if (!sigsetjmp(jump, 1))
			p[4096] = 1;
		CHECK(calls == i);
	}
	signal(SIGBUS, SIG_DFL);
	p[4096] = 1;
}

/* ---- masks */

static bool same(const sigset_t *a, const sigset_t *b)
{
	for (int s = 1; s < 65; s++)
		if (s != 32 && s != 33 && sigismember(a, s) != sigismember(b, s))
			return false;
	return true;
}

static void sees_the_mask_it_asked_for(void)
{
	sigset_t full, none, got, want;

	sigfillset(&full);
	sigdelset(&full, SIGKILL);
	sigdelset(&full, SIGSTOP);
	sigemptyset(&none);
	CHECK(sigprocmask(SIG_SETMASK, &full, &got) == 0 && same(&got, &none));
	CHECK(pthread_sigmask(SIG_SETMASK, NULL, &got) == 0 && same(&got, &full));
	sigemptyset(&want);
	sigaddset(&want, SIGSEGV);
	CHECK(pthread_sigmask(SIG_UNBLOCK, &want, NULL) == 0);
	sigprocmask(0, NULL, &got);
	CHECK(!sigismember(&got, SIGSEGV) && sigismember(&got, SIGSTKFLT) &&
	      sigismember(&got, SIGBUS));
	CHECK(sigprocmask(SIG_SETMASK, &want, NULL) == 0);
	sigprocmask(0, NULL, &got);
	CHECK(same(&got, &want));
	sigemptyset(&want);
	sigaddset(&want, SIGRTMAX);
	CHECK(sigprocmask(SIG_SETMASK, &want, NULL) == 0);
	sigprocmask(0, NULL, &got);
	CHECK(same(&got, &want));
	CHECK(sighold(SIGSEGV) == 0);
	sigprocmask(0, NULL, &got);
	CHECK(sigismember(&got, SIGSEGV) && sigismember(&got, SIGRTMAX) &&
	      !sigismember(&got, SIGBUS));
	CHECK(sigrelse(SIGSEGV) == 0);
	CHECK(sigsetmask(0) != -1);
	sigprocmask(0, NULL, &got);
	CHECK(same(&got, &none));
	CHECK(sigprocmask(99, &full, NULL) == -1 && errno == EINVAL);
	CHECK(pthread_sigmask(99, &full, NULL) == EINVAL);
	ring(page);
	CHECK(fake_count() == 1);
}

static void rings_with_all_blocked(void)
{
	sigset_t s;

	sigfillset(&s);
	CHECK(pthread_sigmask(SIG_BLOCK, &s, NULL) == 0);
	ring(page);
	CHECK(sigsetmask(-1) != 0);
	ring(page);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &s, NULL, 8);
	CHECK(fake_count() == 2);
}

static void ring_from_handler(int sig)
{
	calls++;
	ring(page);
}

static void rings_in_a_handler_with_a_full_mask(void)
{
	struct sigaction a = {.sa_handler = ring_from_handler};
	sigset_t now;

	sigfillset(&a.sa_mask);
	CHECK(sigaction(SIGUSR1, &a, NULL) == 0);
	raise(SIGUSR1);
	CHECK(calls == 1 && fake_count() == 1);
	CHECK(sigaction(SIGUSR1, NULL, &a) == 0 && sigismember(&a.sa_mask, SIGSEGV) &&
	      sigismember(&a.sa_mask, SIGALRM));
	sigprocmask(0, NULL, &now);
	CHECK(!sigismember(&now, SIGSEGV));
}

static void rings_in_a_handler_under_sigsuspend(void)
{
	sigset_t s, almost;

	signal(SIGUSR1, ring_from_handler);
	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	sigprocmask(SIG_BLOCK, &s, NULL);
	raise(SIGUSR1);
	sigfillset(&almost);
	sigdelset(&almost, SIGUSR1);
	CHECK(sigsuspend(&almost) == -1 && errno == EINTR);
	CHECK(fake_count() == 1);
	raise(SIGUSR1);
	CHECK(pselect(0, NULL, NULL, NULL, NULL, &almost) == -1 && errno == EINTR);
	raise(SIGUSR1);
	CHECK(ppoll(NULL, 0, NULL, &almost) == -1 && errno == EINTR);
	CHECK(fake_count() == 3);
}

static void the_raw_forms_are_the_same(void)
{
	struct {
		void *fn;
		unsigned long flags;
		void *restorer;
		uint64_t mask;
	} k = {.fn = open_hole, .flags = SA_SIGINFO, .mask = 1ull << (SIGBUS - 1)}, old;
	uint64_t all = ~0ull, got = 0, pair[2] = {(uint64_t)&all, 8};
	uint64_t segv = 1ull << (SIGSEGV - 1);

	CHECK(fake_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0) == -ENOSYS);
	CHECK(fake_syscall(SYS_rt_sigaction, SIGSEGV, (long)&k, 0, 8, 0, 0) == 0);
	CHECK(fake_syscall(SYS_rt_sigaction, SIGSEGV, 0, (long)&old, 8, 0, 0) == 0);
	CHECK(old.fn == open_hole && old.mask == k.mask);
	*hole = 'x';
	ring(page);
	CHECK(calls == 1);
	CHECK(fake_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&got, 8, 0, 0) == 0);
	CHECK(got == 0);
	CHECK(fake_syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&got, 8, 0, 0) == 0);
	CHECK(got & segv);
	ring(page);
	CHECK(fake_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, 0, 4, 0, 0) == -EINVAL);
	raise(SIGSEGV);
	CHECK(fake_syscall(SYS_rt_sigpending, (long)&got, 8, 0, 0, 0, 0) == 0 && got & segv);
	signal(SIGUSR1, ring_from_handler);
	raise(SIGUSR1);
	all &= ~(1ull << (SIGUSR1 - 1));
	CHECK(fake_syscall(SYS_rt_sigsuspend, (long)&all, 8, 0, 0, 0, 0) == -EINTR);
	raise(SIGUSR1);
	CHECK(fake_syscall(SYS_pselect6, 0, 0, 0, 0, 0, (long)pair) == -EINTR);
	raise(SIGUSR1);
	CHECK(fake_syscall(SYS_ppoll, 0, 0, 0, (long)&all, 8, 0) == -EINTR);
	CHECK(fake_count() == 5);
}

static void *ring_thread(void *arg)
{
	sigset_t now, *want = arg;

	pthread_sigmask(0, NULL, &now);
	CHECK(same(&now, want));
	ring(page);
	return NULL;
}

/* The address sanitizer of later releases of clang gives new threads their creator's mask. */
#ifdef __clang__
#define KEEPS_MASK (__clang_major__ <= 14 || !__has_feature(address_sanitizer))
#else
#define KEEPS_MASK 1
#endif

static void a_thread_inherits_the_mask(void)
{
	pthread_attr_t attr;
	pthread_t t;
	sigset_t full;

	sigfillset(&full);
	sigdelset(&full, SIGKILL);
	sigdelset(&full, SIGSTOP);
	pthread_sigmask(SIG_BLOCK, &full, NULL);
	CHECK(pthread_create(&t, NULL, ring_thread, &full) == 0);
	pthread_join(t, NULL);
	pthread_sigmask(SIG_UNBLOCK, &full, NULL);
	if (!KEEPS_MASK) {
		CHECK(fake_count() == 1);
		return;
	}
	pthread_attr_init(&attr);
	CHECK(pthread_attr_setsigmask_np(&attr, &full) == 0);
	CHECK(pthread_create(&t, &attr, ring_thread, &full) == 0);
	pthread_join(t, NULL);
	CHECK(fake_count() == 2);
}

static const char *self;

static void a_mask_survives_exec(void)
{
	sigset_t s;

	sigfillset(&s);
	sigprocmask(SIG_BLOCK, &s, NULL);
	execl(self, self, "after-exec", NULL);
	_exit(98);
}

/* Blocked by a program without the shim. */
static void a_raw_mask_survives_exec(void)
{
	uint64_t all = ~0ull;
	long r;
	register long r10 __asm__("r10") = 8;

	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"(SYS_rt_sigprocmask), "D"(SIG_SETMASK), "S"(&all), "d"(0), "r"(r10)
			 : "rcx", "r11", "memory");
	execl(self, self, "after-exec", NULL);
	_exit(98);
}

static void *wait_and_ring(void *arg)
{
	char *p;

	while (!(p = __atomic_load_n((char **)arg, __ATOMIC_ACQUIRE)))
		sched_yield();
	ring(p);
	return NULL;
}

static int after_exec(void)
{
	char *p = NULL, *mapped;
	pthread_t t;
	sigset_t now;

	sigprocmask(0, NULL, &now);
	CHECK(sigismember(&now, SIGSEGV) && sigismember(&now, SIGUSR1));
	/* a thread that exists before the first doorbell page */
	CHECK(pthread_create(&t, NULL, wait_and_ring, &p) == 0);
	mapped = fake_map(1);
	CHECK(mapped != MAP_FAILED);
	ring(mapped);
	__atomic_store_n(&p, mapped, __ATOMIC_RELEASE);
	pthread_join(t, NULL);
	CHECK(fake_count() == 2);
	return 0;
}

#define OK(fn)                          \
	static void fn##_(void **state) \
	{                               \
		assert_child_ok(fn);    \
	}
#define KILLED(fn, sig)                       \
	static void fn##_(void **state)       \
	{                                     \
		assert_child_killed(fn, sig); \
	}

OK(gets_its_own_faults)
OK(gets_its_own_faults_old_style)
KILLED(dies_of_a_fault, SIGSEGV)
KILLED(dies_of_an_ignored_fault, SIGSEGV)
KILLED(dies_of_a_blocked_fault, SIGSEGV)
KILLED(dies_of_a_second_fault_when_reset, SIGSEGV)
KILLED(sysv_signal_resets, SIGSEGV)
KILLED(dies_of_a_fault_in_its_handler, SIGSEGV)
OK(nodefer_nests)
OK(jumps_out_many_times)
OK(sees_what_it_set)
OK(a_raw_handler_is_kept)
OK(its_handler_runs_with_its_mask_and_rings)
OK(its_handler_runs_on_the_stack_it_chose)
OK(catches_its_stack_overflow)
KILLED(dies_of_its_stack_overflow, SIGSEGV)
OK(gets_sent_signals)
KILLED(dies_of_a_sent_signal, SIGSEGV)
KILLED(dies_in_a_doorbell, SIGTERM)
KILLED(dies_in_a_doorbell_although_it_has_handlers, SIGTERM)
OK(handles_a_signal_after_the_doorbell)
OK(a_mask_keeps_a_signal_out)
OK(ignores_a_sent_signal)
OK(a_blocked_sent_signal_waits)
KILLED(abort_still_aborts, SIGABRT)
KILLED(bus_errors_are_its_own, SIGBUS)
OK(sees_the_mask_it_asked_for)
OK(rings_with_all_blocked)
OK(rings_in_a_handler_with_a_full_mask)
OK(rings_in_a_handler_under_sigsuspend)
OK(the_raw_forms_are_the_same)
OK(a_thread_inherits_the_mask)
OK(a_mask_survives_exec)
OK(a_raw_mask_survives_exec)

#define T(fn) cmocka_unit_test(fn##_)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		T(gets_its_own_faults),
		T(gets_its_own_faults_old_style),
		T(dies_of_a_fault),
		T(dies_of_an_ignored_fault),
		T(dies_of_a_blocked_fault),
		T(dies_of_a_second_fault_when_reset),
		T(sysv_signal_resets),
		T(dies_of_a_fault_in_its_handler),
		T(nodefer_nests),
		T(jumps_out_many_times),
		T(sees_what_it_set),
		T(a_raw_handler_is_kept),
		T(its_handler_runs_with_its_mask_and_rings),
		T(its_handler_runs_on_the_stack_it_chose),
		T(catches_its_stack_overflow),
		T(dies_of_its_stack_overflow),
		T(gets_sent_signals),
		T(dies_of_a_sent_signal),
		T(dies_in_a_doorbell),
		T(dies_in_a_doorbell_although_it_has_handlers),
		T(handles_a_signal_after_the_doorbell),
		T(a_mask_keeps_a_signal_out),
		T(ignores_a_sent_signal),
		T(a_blocked_sent_signal_waits),
		T(abort_still_aborts),
		T(bus_errors_are_its_own),
		T(sees_the_mask_it_asked_for),
		T(rings_with_all_blocked),
		T(rings_in_a_handler_with_a_full_mask),
		T(rings_in_a_handler_under_sigsuspend),
		T(the_raw_forms_are_the_same),
		T(a_thread_inherits_the_mask),
		T(a_mask_survives_exec),
		T(a_raw_mask_survives_exec),
	};

	self = argv[0];
	if (argc > 1 && !strcmp(argv[1], "after-exec"))
		return after_exec();
	return cmocka_run_group_tests(tests, setup, NULL);
}
