/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `softhca console`: reads a script of ibsim's console commands, or typed lines, and has the
 * fabric's supervisor run each line. It handles waiting, comments, files and the end itself.
 */
#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "cli/client.h"
#include "super/program.h"
#include "util/cleanup.h"

#define MAX_LINE 4096
#define MAX_DEPTH 9 /* nesting limit of files that run files */

struct console {
	int sock;
	bool failed; /* a command has failed */
	bool quit;   /* end: run no more commands */
	bool broken; /* the fabric does not answer */
	unsigned int depth;
	const char *file;
	unsigned int line;
};

static void run_file(struct console *c, FILE *f, const char *name, bool prompt);

static void console_complain(struct console *c, const char *why)
{
	prog_fail("%s:%u: %s", c->file, c->line, why);
	c->failed = true;
}

/* Prints the reply to standard output, or as the reason of a failure. */
static void console_show(struct console *c, int fd, bool failed)
{
	_cleanup_free_ char *text = NULL;
	struct stat st;

	if (fstat(fd, &st) < 0 || !(text = calloc(1, (size_t)st.st_size + 1)) ||
	    pread(fd, text, (size_t)st.st_size, 0) != st.st_size) {
		console_complain(c, "the fabric's answer cannot be read");
		return;
	}
	if (failed)
		console_complain(c, text);
	else
		fputs(text, stdout);
}

static void console_ask(struct console *c, const char *line)
{
	_cleanup_close_ int in = memfd_create("softhca-command", MFD_CLOEXEC);
	struct link_msg m = {.op = LINK_CONSOLE};
	int out = -1, r = in < 0 ? -errno : 0;

	if (!r && write(in, line, strlen(line)) != (ssize_t)strlen(line))
		r = -EIO;
	if (!r)
		r = client_send(c->sock, &m, in, &out);
	if (!r && out < 0)
		r = -EPROTO;
	if (!r)
		console_show(c, out, m.arg);
	else
		prog_fail("console: the fabric does not answer: %s", strerror(-r));
	c->broken = r < 0;
	if (out >= 0)
		close(out);
}

static void wait_seconds(struct console *c, const char *arg)
{
	char *end;
	double sec = strtod(arg, &end);
	struct timespec t;

	if (end == arg || !(sec > 0) || sec > 1e6) {
		console_complain(c, "a number of seconds is missing");
		return;
	}
	fflush(stdout);
	t.tv_sec = (time_t)sec;
	t.tv_nsec = (long)((sec - (double)t.tv_sec) * 1e9);
	nanosleep(&t, NULL);
}

static void run_other_file(struct console *c, char *name)
{
	struct console was = *c;
	char why[512];
	FILE *f;

	name += strspn(name, " \t");
	if (!*name) {
		console_complain(c, "a file's name is missing");
		return;
	}
	f = c->depth < MAX_DEPTH ? fopen(name, "re") : NULL;
	if (!f) {
		snprintf(why, sizeof(why), "cannot read %.300s: %s", name,
			 c->depth < MAX_DEPTH ? strerror(errno) : "files are nested too deeply");
		console_complain(c, why);
		return;
	}
	c->depth++;
	run_file(c, f, name, false);
	c->depth--;
	c->file = was.file;
	c->line = was.line;
	fclose(f);
}

/* Is it this command, or an abbreviation of it? No other command shares the beginning of ours. */
static bool console_is(const char *line, const char *name, const char **args)
{
	size_t n = strcspn(line, " \t");

	*args = line + n;
	return n && n <= strlen(name) && !strncasecmp(line, name, n);
}

static void run_line(struct console *c, char *line)
{
	const char *args;

	for (size_t n = strlen(line); n && isspace((unsigned char)line[n - 1]); n--)
		line[n - 1] = 0;
	line += strspn(line, " \t");
	if (!*line)
		return;
	if (*line == '#')
		puts(line);
	else if (*line == '!')
		run_other_file(c, line + 1);
	else if (console_is(line, "Wait", &args))
		wait_seconds(c, args);
	else if (console_is(line, "Quit", &args))
		c->quit = true;
	else
		console_ask(c, line);
}

static void run_file(struct console *c, FILE *f, const char *name, bool prompt)
{
	char line[MAX_LINE];

	c->file = name;
	for (c->line = 1; !c->quit && !c->broken; c->line++) {
		if (prompt) {
			fputs("sim> ", stdout);
			fflush(stdout);
		}
		if (!fgets(line, sizeof(line), f)) {
			if (ferror(f))
				console_complain(c, strerror(errno));
			break;
		}
		if (!strchr(line, '\n') && !feof(f)) {
			console_complain(c, "the line is too long");
			break;
		}
		run_line(c, line);
	}
}

int cli_console(struct cli_options *o)
{
	struct console c = {.sock = client_connect(o, "console")};
	FILE *f = stdin;

	if (c.sock < 0 || c.sock == PROG_FAILED)
		return PROG_FAILED;
	if (o->script && strcmp(o->script, "-"))
		f = fopen(o->script, "re");
	if (!f) {
		close(c.sock);
		return prog_fail("console: cannot read %s: %s", o->script, strerror(errno));
	}
	run_file(&c, f, f == stdin ? "<stdin>" : o->script, f == stdin && isatty(0));
	if (f != stdin)
		fclose(f);
	close(c.sock);
	return c.broken ? PROG_FAILED : c.failed ? CLI_UNKNOWN : 0;
}
