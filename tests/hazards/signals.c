/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hazards 1 and 11: programs that block every signal, and programs with SIGSEGV handlers of their
 * own, all while messages go from one QP to another.
 */
#include "rc.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define N 200

static struct rc_pair pair;

static void *loops(void *arg)
{
	rc_pair_loop(&pair, N);
	return arg;
}

static void in_thread(void *(*fn)(void *))
{
	pthread_t t;

	CHECK(!pthread_create(&t, NULL, fn, NULL));
	CHECK(!pthread_join(t, NULL));
}

/* A raw system call, which cannot be wrapped. */
static long kernel(long nr, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long r;

	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return r;
}

static void check_told_blocked(void)
{
	sigset_t now;

	CHECK(!pthread_sigmask(SIG_BLOCK, NULL, &now));
	CHECK(sigismember(&now, SIGSEGV) && sigismember(&now, SIGBUS) &&
	      sigismember(&now, SIGTERM));
}

static void *block_and_loop(void *arg)
{
	sigset_t all;

	sigfillset(&all);
	CHECK(!pthread_sigmask(SIG_BLOCK, &all, NULL));
	check_told_blocked();
	rc_pair_loop(&pair, N);
	return arg;
}

/*
 * The mask is set in one thread, and inherited by another, before and after the device is opened.
 */
static int blocked(int argc, char **argv)
{
	sigset_t all;

	rc_pair_make(&pair);
	in_thread(block_and_loop);
	rc_pair_loop(&pair, N);
	sigfillset(&all);
	CHECK(!sigprocmask(SIG_SETMASK, &all, NULL));
	check_told_blocked();
	rc_pair_loop(&pair, N);
	in_thread(loops);
	return 0;
}

static int blocked_before_open(int argc, char **argv)
{
	sigset_t all;

	sigfillset(&all);
	CHECK(!sigprocmask(SIG_SETMASK, &all, NULL));
	rc_pair_make(&pair);
	rc_pair_loop(&pair, N);
	in_thread(loops);
	check_told_blocked();
	return 0;
}

static int raw_blocked(int argc, char **argv)
{
	uint64_t all = ~UINT64_C(0), now = 0;

	rc_pair_make(&pair);
	CHECK(!syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, 8));
	rc_pair_loop(&pair, N);
	CHECK(!syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &now, 8));
	CHECK(now & 1u << (SIGSEGV - 1));
	in_thread(loops);
	return 0;
}

/* A parent without the library has blocked every signal, in the kernel. */
static int blocked_before_exec(int argc, char **argv)
{
	uint64_t all = ~UINT64_C(0);

	if (argc == 1) {
		CHECK(!kernel(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, 0, 8));
		execl("/proc/self/exe", "signals", "blocked_before_exec", "again", NULL);
		DIE("exec");
	}
	check_told_blocked();
	rc_pair_make(&pair);
	rc_pair_loop(&pair, N);
	in_thread(loops);
	return 0;
}

static volatile sig_atomic_t handled;

static void on_signal(int sig)
{
	rc_pair_loop(&pair, 10);
	handled++;
}

static int full_mask_handler(int argc, char **argv)
{
	struct sigaction sa = {.sa_handler = on_signal}, was;

	rc_pair_make(&pair);
	sigfillset(&sa.sa_mask);
	CHECK(!sigaction(SIGUSR1, &sa, NULL));
	CHECK(!sigaction(SIGUSR1, NULL, &was) && sigismember(&was.sa_mask, SIGSEGV));
	for (int i = 0; i < 20; i++) {
		raise(SIGUSR1);
		rc_pair_loop(&pair, 10);
	}
	CHECK(handled == 20);
	return 0;
}

/* ---- a program with its own SIGSEGV handler */

static uint8_t *page; /* not accessible until the handler makes it so */
static volatile uintptr_t fault_at;
static bool ring_in_handler;

static void on_fault(int sig, siginfo_t *si, void *uc)
{
	fault_at = (uintptr_t)si->si_addr;
	if (si->si_code != SEGV_ACCERR)
		DIE("si_code %d", si->si_code);
	if (ring_in_handler)
		rc_pair_loop(&pair, 3);
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	handled++;
}

/* Handlers set by signal() do not get the address. */
static void on_fault_plain(int sig)
{
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	fault_at = (uintptr_t)page + 100;
	handled++;
}

struct kaction {
	void (*fn)(int, siginfo_t *, void *);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

static void install(const char *how)
{
	struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

	if (!strcmp(how, "signal")) {
		CHECK(signal(SIGSEGV, on_fault_plain) != SIG_ERR);
	} else if (!strcmp(how, "raw")) {
		struct kaction was, k = {.fn = on_fault};

		CHECK(!sigaction(SIGSEGV, &sa, NULL)); /* libc's restorer */
		CHECK(!syscall(SYS_rt_sigaction, SIGSEGV, NULL, &was, 8));
		k.flags = was.flags;
		k.restorer = was.restorer;
		CHECK(!syscall(SYS_rt_sigaction, SIGSEGV, &k, NULL, 8));
	} else {
		CHECK(!sigaction(SIGSEGV, &sa, NULL));
	}
}

static void faults(void)
{
	for (int i = 0; i < 50; i++) {
		fault_at = 0;
		mprotect(page, 4096, PROT_NONE);
		rc_pair_loop(&pair, 2);
		((volatile uint8_t *)page)[100] = 1;
		if (fault_at != (uintptr_t)page + 100)
			DIE("si_addr %#lx", (unsigned long)fault_at);
		rc_pair_loop(&pair, 2);
	}
}

static void *faults_thread(void *arg)
{
	faults();
	return arg;
}

/* arguments: before|after the device is opened; sigaction|signal|raw */
static int own_handler(int argc, char **argv)
{
	CHECK(argc == 3);
	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!strcmp(argv[1], "before"))
		install(argv[2]);
	rc_pair_make(&pair);
	if (strcmp(argv[1], "before"))
		install(argv[2]);
	faults();
	ring_in_handler = true;
	faults();
	in_thread(faults_thread);
	CHECK(handled == 150);
	return 0;
}

static int plain(int argc, char **argv)
{
	rc_pair_make(&pair);
	rc_pair_loop(&pair, 1000);
	in_thread(loops);
	puts("fine");
	return 0;
}

int main(int argc, char **argv)
{
	static const struct rc_case cases[] = {
		{"blocked", blocked},
		{"blocked_before_open", blocked_before_open},
		{"raw_blocked", raw_blocked},
		{"blocked_before_exec", blocked_before_exec},
		{"full_mask_handler", full_mask_handler},
		{"own_handler", own_handler},
		{"plain", plain},
		{NULL, NULL},
	};

	return rc_main(cases, argc, argv);
}
