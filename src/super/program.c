/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns softhca's error messages, and the command that they name. All of the program calls it. */
#include "super/program.h"

#include <stdarg.h>
#include <stdbool.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Set once, before anything else runs: an argument to every function that can fail would be noise.
 */
static const char *prog_verb;

void prog_begin(const char *verb)
{
	prog_verb = verb;
}

/* A caller that serves several commands may have named the command already. */
static bool names_verb(const char *line)
{
	size_t n = strlen(prog_verb);

	return !strncmp(line, prog_verb, n) && !strncmp(line + n, ": ", 2);
}

const char *prog_why(int err)
{
	static char text[128];

	snprintf(text, sizeof(text), "%s%s", strerror(err),
		 err == EMFILE   ? " (ulimit -n?)"
		 : err == ENOMEM ? " (ulimit -v?)"
		 : err == EFBIG  ? " (ulimit -f?)"
				 : "");
	return text;
}

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
	if (prog_verb && !names_verb(line))
		fprintf(stderr, "softhca: %s: %s\n", prog_verb, line);
	else
		fprintf(stderr, "softhca: %s\n", line);
	return PROG_FAILED;
}
