/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A violated invariant of our own. The library and the supervisor log it and continue with the
 * caller's fallback: they run in other people's processes, sometimes inside a signal handler, and
 * must neither print a report nor end the program. In unit tests and fuzzers it ends the program
 * (bug_fatal.c), because the test has found a bug. It also ends programs that use our headers
 * without the library.
 *
 * 	if (BUG_ON(n > N))
 * 		n = N;
 */
#ifndef SOFTHCA_UTIL_BUG_H
#define SOFTHCA_UTIL_BUG_H

#include <stdbool.h>

/*
 * Reports it on the error topic, the first few times in a process. Usable in a trap; keeps errno.
 * Weak in log.c, so that bug_fatal.c's definition wins.
 */
void bug_at(const char *file, int line, const char *what) __attribute__((cold, weak));

static inline bool bug_on(bool bad, const char *file, int line, const char *what)
{
	if (__builtin_expect(bad, 0)) {
		if (!bug_at)
			__builtin_trap();
		bug_at(file, line, what);
	}
	return bad;
}
#define BUG_ON(cond) bug_on((cond), __FILE__, __LINE__, #cond)

/* Builds with the address sanitizer or with points also check what would cost a hot path. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BUG_CHECKS
#endif
#endif
#if defined(SOFTHCA_POINTS) || defined(__SANITIZE_ADDRESS__)
#define BUG_CHECKS
#endif

#ifdef BUG_CHECKS
#define BUG_CHECK(cond) ((void)BUG_ON(cond))
#else
#define BUG_CHECK(cond) ((void)(0 && (cond)))
#endif

#endif
