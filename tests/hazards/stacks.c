/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hazard 4: the engine must not use the stack on which it is called. A thread of 16 KiB with 6 in
 * use, and an alternate stack of 8 KiB, armed while doorbells fault and the engine's own copies
 * fault inside them.
 */
#include "rc.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define SMALL 16384u
#define ALT 8192u

static struct rc_pair pair;

static void __attribute__((noinline)) use_and_loop(unsigned int n)
{
	volatile char used[6 * 1024];

	for (unsigned int i = 0; i < sizeof(used); i += 64)
		used[i] = 1;
	rc_pair_loop(&pair, n);
	(void)used[0];
}

static void *loops(void *arg)
{
	use_and_loop(500);
	return arg;
}

static void small_thread_run(void)
{
	char *p = mmap(NULL, SMALL + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);
	pthread_attr_t attr;
	pthread_t t;

	CHECK(p != MAP_FAILED && !mprotect(p, 4096, PROT_NONE));
	pthread_attr_init(&attr);
	CHECK(!pthread_attr_setstack(&attr, p + 4096, SMALL));
	CHECK(!pthread_create(&t, &attr, loops, NULL));
	CHECK(!pthread_join(t, NULL));
	CHECK(!munmap(p, SMALL + 4096));
}

static int small_thread(int argc, char **argv)
{
	rc_pair_make(&pair);
	for (int i = 0; i < 5; i++)
		small_thread_run();
	return 0;
}

static volatile sig_atomic_t own_faults;
static uint8_t *page;

static void on_fault(int sig, siginfo_t *si, void *uc)
{
	char here;
	stack_t now;

	sigaltstack(NULL, &now);
	if (!(now.ss_flags & SS_ONSTACK) || &here < (char *)now.ss_sp ||
	    &here > (char *)now.ss_sp + now.ss_size)
		DIE("not on the alternate stack");
	if ((uint8_t *)si->si_addr != page)
		DIE("a fault at %p that is not ours", si->si_addr);
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	own_faults++;
}

static void on_usr1(int sig)
{
	rc_pair_loop(&pair, 1);
}

/* A send from an unmapped page: the engine's own copy faults, inside the doorbell's fault. */
static void bad_send(void)
{
	struct ibv_wc wc;

	rc_recv(&pair.b, 0, 64);
	rc_send(&pair.a, 0, 64);
	wc = rc_wait(&pair.a, RC_HANGS);
	if (wc.status != IBV_WC_LOC_PROT_ERR)
		DIE("a send of a page that is not there: %s", ibv_wc_status_str(wc.status));
	rc_reset(&pair.a);
	rc_reset(&pair.b);
	rc_connect(&pair.a, &pair.b.me, 14, 7);
	rc_connect(&pair.b, &pair.a.me, 14, 7);
}

static void faults(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		CHECK(!mprotect(pair.a.buf, 4096, PROT_NONE));
		bad_send();
		CHECK(!mprotect(pair.a.buf, 4096, PROT_READ | PROT_WRITE));
		if (i % 16)
			continue;
		rc_pair_loop(&pair, 16);
		mprotect(page, 4096, PROT_NONE);
		((volatile uint8_t *)page)[0] = 1;
		raise(SIGUSR1);
	}
}

static void arm(void)
{
	static char stack[ALT] __attribute__((aligned(4096)));
	stack_t st = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	CHECK(!sigaltstack(&st, NULL));
	CHECK(!sigaction(SIGSEGV, &sa, NULL));
	sa = (struct sigaction){.sa_handler = on_usr1, .sa_flags = SA_ONSTACK};
	CHECK(!sigaction(SIGUSR1, &sa, NULL));
}

static void check_armed(void)
{
	stack_t now;

	CHECK(!sigaltstack(NULL, &now) && now.ss_size == ALT && !now.ss_flags);
}

/* argument: how many nested faults */
static int alternate_stack(int argc, char **argv)
{
	unsigned int n = argc > 1 ? (unsigned int)atoi(argv[1]) : 10000;

	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	rc_pair_make(&pair);
	arm();
	faults(n);
	check_armed();
	CHECK(own_faults == (int)(n + 15) / 16);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct rc_case cases[] = {
		{"small_thread", small_thread},
		{"alternate_stack", alternate_stack},
		{NULL, NULL},
	};

	return rc_main(cases, argc, argv);
}
