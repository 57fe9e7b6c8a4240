/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a trapped doorbell costs beyond the trap itself: a store with an engine that does nothing,
 * against a bare SIGSEGV handler that skips the same instruction. Alternating rounds, medians.
 */
#include "fake.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define ROUNDS 31
#define STORES 5000

static void skip(int sig, siginfo_t *si, void *uc)
{
	((ucontext_t *)uc)->uc_mcontext.gregs[REG_RIP] += 3; /* mov %rax,(%rdi) */
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static double stores(void *to)
{
	uint64_t t = now();

	for (int i = 0; i < STORES; i++)
		__asm__ volatile(".byte 0x48, 0x89, 0x07" : : "a"(1l), "D"(to) : "memory");
	return (double)(now() - t) / STORES;
}

static int order(const void *a, const void *b)
{
	return *(const double *)a < *(const double *)b ? -1 : 1;
}

static double median(double *v)
{
	qsort(v, ROUNDS, sizeof(*v), order);
	return v[ROUNDS / 2];
}

/* The kernel's own view: libc's sigaction would only talk to the shim. */
struct kaction {
	void *handler;
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

static void raw(const struct kaction *new, struct kaction *old)
{
	long r;
	register long r10 __asm__("r10") = 8;

	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"(SYS_rt_sigaction), "D"(SIGSEGV), "S"(new), "d"(old), "r"(r10)
			 : "rcx", "r11", "memory");
}

int main(void)
{
	double bare[ROUNDS], trap[ROUNDS];
	char *page = fake_map(1);
	struct kaction ours, plain;

	fake_work(FAKE_NOTHING);
	raw(NULL, &ours);
	plain = ours;
	plain.handler = (void *)skip;
	for (int i = 0; i < ROUNDS; i++) {
		raw(&plain, NULL);
		bare[i] = stores(page + 0x800);
		raw(&ours, NULL);
		trap[i] = stores(page + 0x800);
	}
	double b = median(bare), t = median(trap);

	printf("bare trap %.0f ns, trapped doorbell %.0f ns: ratio %.2f\n", b, t, t / b);
	return 0;
}
