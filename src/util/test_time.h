/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Unit tests only: questions about time whose answers a slow or busy machine does not change. */
#ifndef SOFTHCA_UTIL_TEST_TIME_H
#define SOFTHCA_UTIL_TEST_TIME_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/*
 * How long this thread was ready to run but waited for a CPU, so far: schedstat(5), second field.
 */
static inline uint64_t test_waited_ns(void)
{
	unsigned long long ran, waited = 0;
	FILE *f = fopen("/proc/thread-self/schedstat", "r");

	if (f && fscanf(f, "%llu %llu", &ran, &waited) != 2)
		waited = 0;
	if (f)
		fclose(f);
	return waited;
}

/*
 * A clock that stops while this thread waits for a CPU. The difference of two readings is the time
 * that a call would take on an idle machine. Repeats until no wait falls between the two look-ups.
 */
static inline uint64_t test_own_ns(void)
{
	uint64_t waited, now = test_waited_ns();
	struct timespec t;

	do {
		waited = now;
		clock_gettime(CLOCK_MONOTONIC, &t);
		now = test_waited_ns();
	} while (now != waited);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec - waited;
}

/*
 * How often this thread has gone to sleep, so far. A wait sleeps in slices of a millisecond or
 * less, so their number tells a short wait from a long one on any machine, and a pause of the
 * machine adds none: TEST_SHORT sleeps are far less than those of SEG_LOCK_CTRL_NS.
 */
#define TEST_SHORT 500
static inline long test_sleeps(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nvcsw;
}

/*
 * How long the threads of a process were ready to run but waited for a CPU: a delay's part that the
 * machine has caused. 0: no such process, or the host does not say.
 */
static inline uint64_t test_starved_ns(pid_t pid)
{
	unsigned long long ran, waited, sum = 0;
	struct dirent *t;
	char path[64];
	DIR *tasks;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && (t = readdir(tasks))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%.12s/schedstat", (int)pid, t->d_name);
		f = fopen(path, "r");
		if (f && fscanf(f, "%llu %llu", &ran, &waited) == 2)
			sum += waited;
		if (f)
			fclose(f);
	}
	if (tasks)
		closedir(tasks);
	return sum;
}

/* Does this thread sleep? Tests ask it before they interrupt or wake the thread. */
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
