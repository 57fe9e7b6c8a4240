/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bug_at() of unit tests and fuzzers, which end there. Compiled into each of them (the top
 * meson.build). bug.h is not included: it would make this definition a weak one, as log.c's is.
 */
#include <stdio.h>
#include <stdlib.h>

void bug_at(const char *file, int line, const char *what);

void bug_at(const char *file, int line, const char *what)
{
	fprintf(stderr, "bug at %s:%d: %s\n", file, line, what);
	abort();
}
