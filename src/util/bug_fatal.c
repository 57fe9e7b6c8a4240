/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bug_at() of unit tests and fuzzers: ends the program. It is compiled into each of them (the top
 * meson.build). It does not include bug.h, which would make this definition weak, like log.c's.
 */
#include <stdio.h>
#include <stdlib.h>

void bug_at(const char *file, int line, const char *what);

void bug_at(const char *file, int line, const char *what)
{
	fprintf(stderr, "bug at %s:%d: %s\n", file, line, what);
	abort();
}
