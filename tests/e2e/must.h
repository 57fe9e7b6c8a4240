/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How programs of this folder give up when a call fails that their cases build on. */
#ifndef SOFTHCA_TESTS_E2E_MUST_H
#define SOFTHCA_TESTS_E2E_MUST_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Status 99, also of a fork child; no program counts so many failed cases. */
#define MUST(x)                                                        \
	do {                                                           \
		if (!(x)) {                                            \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #x); \
			fflush(stdout);                                \
			_exit(99);                                     \
		}                                                      \
	} while (0)

/* Says which call has failed, with errno. */
static inline void need(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(1);
}

#endif
