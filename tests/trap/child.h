/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs a function in its own process, so that it may die or change its signals. */
#ifndef SOFTHCA_TESTS_TRAP_CHILD_H
#define SOFTHCA_TESTS_TRAP_CHILD_H

#include "fake.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* For the child: report the place and exit. */
#define CHECK(cond)                                                           \
	do {                                                                  \
		if (!(cond)) {                                                \
			dprintf(2, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
			_exit(99);                                            \
		}                                                             \
	} while (0)

/* Returns the child's wait status; if fn returns, the exit status is 0. */
static inline int run_child(void (*fn)(void))
{
	struct rlimit no_core = {0, 0};
	int status;
	pid_t pid = fork();

	if (!pid) {
		setrlimit(RLIMIT_CORE, &no_core);
		signal(SIGSEGV, SIG_DFL); /* cmocka has a handler of its own */
		signal(SIGBUS, SIG_DFL);
		alarm(300);
		fake_reset();
		fn();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

#define assert_child_ok(fn) assert_int_equal(run_child(fn), 0)
#define assert_child_killed(fn, sig)                    \
	do {                                            \
		int st_ = run_child(fn);                \
		assert_true(WIFSIGNALED(st_));          \
		assert_int_equal(WTERMSIG(st_), (sig)); \
	} while (0)

static inline void ring(volatile void *page)
{
	*(volatile uint64_t *)((volatile char *)page + 0x800) = 1;
}

#endif
