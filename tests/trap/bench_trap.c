/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cost of a doorbell with an engine that does nothing: trapped, against a bare SIGSEGV handler
 * that skips the same instruction (alternating rounds, medians); and patched.
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
	((ucontext_t *)uc)->uc_mcontext.gregs[REG_RIP] += 4; /* mov %rax,0(%rdi) */
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
		__asm__ volatile(".byte 0x48, 0x89, 0x47, 0x00\n\tsfence"
				 :
				 : "a"(1l), "D"(to)
				 : "memory");
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

/* The kernel's own structure: libc's sigaction would only reach the shim. */
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

static void trapped(void)
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
}

static void patched(void)
{
	double v[ROUNDS];
	char *page = fake_map(1);

	fake_work(FAKE_NOTHING);
	for (int i = 0; i < ROUNDS; i++)
		v[i] = stores(page + 0x800);
	printf("patched doorbell %.0f ns\n", median(v));
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		patched();
		return 0;
	}
	setenv("SOFTHCA_PATCH", "0", 1); /* the library reads it at the first mapping */
	trapped();
	fflush(stdout);
	unsetenv("SOFTHCA_PATCH");
	execl(argv[0], argv[0], "patched", NULL);
	return 1;
}
