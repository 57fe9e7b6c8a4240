/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns softhca's error messages. All of the program calls it. */
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
			*c = '?'; /* one line, whatever the command line contained */
	fprintf(stderr, "softhca: %s\n", line);
	return PROG_FAILED;
}
