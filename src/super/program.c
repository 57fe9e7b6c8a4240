/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns how softhca says that something failed. Called by all of the program. */
#include "super/program.h"

#include <stdarg.h>
#include <stdio.h>

int prog_fail(const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = '?'; /* one line, whatever was on the command line */
	fprintf(stderr, "softhca: %s\n", line);
	return PROG_FAILED;
}
