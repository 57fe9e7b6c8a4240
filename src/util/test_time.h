/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Unit tests only: questions about time whose answers a slow or busy machine does not change. */
#ifndef SOFTHCA_UTIL_TEST_TIME_H
#define SOFTHCA_UTIL_TEST_TIME_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/*
 * Time in which this thread ran or slept. What it waited for a CPU does not count: the second field
 * of schedstat(5), as far as the host has it. The difference of two says how long a call took on a
 * machine of its own.
 */
static inline uint64_t test_own_ns(void)
{
	unsigned long long ran, waited = 0;
	struct timespec t;
	FILE *f = fopen("/proc/thread-self/schedstat", "r");

	if (f && fscanf(f, "%llu %llu", &ran, &waited) != 2)
		waited = 0;
	if (f)
		fclose(f);
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec - waited;
}

/* Does this thread sleep: in the system call that it is to be interrupted or woken in? */
static inline bool test_asleep(pid_t tid)
{
	char path[40], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(f);
	return state == 'S';
}

static inline void test_until_asleep(pid_t tid)
{
	while (!test_asleep(tid))
		usleep(1000);
}

#endif
