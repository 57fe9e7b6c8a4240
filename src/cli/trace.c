/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `softhca trace`, and --trace of `softhca run`: puts the topics and the destination into the
 * command's environment. The traced processes write the lines (util/log.c).
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/check.h"
#include "cli/trace_read.h"
#include "hw/told.h"
#include "super/program.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "util/rec.h"

/*
 * Copies a descriptor to a high number, which the command does not use and which stays open over
 * its exec.
 */
static int high_copy(int fd)
{
	static const int bases[] = {900, 200, 60, 3};
	int copy = -1;

	for (size_t i = 0; i < ARRAY_SIZE(bases) && copy < 0; i++)
		copy = fcntl(fd, F_DUPFD, bases[i]);
	return copy;
}

static int open_output(const char *file)
{
	int fd, copy, flags;
	struct stat st;

	if (!file) {
		flags = fcntl(STDERR_FILENO, F_GETFL);
		/* Append, so that the command's own output there does not overwrite our lines. */
		if (flags >= 0 && !fstat(STDERR_FILENO, &st) && S_ISREG(st.st_mode))
			fcntl(STDERR_FILENO, F_SETFL, flags | O_APPEND);
		return high_copy(STDERR_FILENO);
	}
	fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOCTTY | O_CLOEXEC, 0666);
	if (fd < 0)
		return -1;
	copy = high_copy(fd);
	close(fd);
	return copy;
}

/* Programs that close all descriptors have to open the file again, from any directory. */
static int path_of(const char *file, int fd, char path[PATH_MAX])
{
	char cwd[PATH_MAX];
	int n;

	if (!file)
		n = snprintf(path, PATH_MAX, "/proc/%d/fd/%d", (int)getpid(), fd);
	else if (*file == '/')
		n = snprintf(path, PATH_MAX, "%s", file);
	else if (getcwd(cwd, sizeof(cwd)))
		n = snprintf(path, PATH_MAX, "%s/%s", cwd, file);
	else
		return -errno;
	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* Make the pipe from the command's trace to our reader: the command's end, or PROG_FAILED. */
static int open_reader(struct cli_options *o)
{
	int p[2], fd;

	if (pipe2(p, O_CLOEXEC) < 0)
		return prog_fail("%s: cannot make a pipe: %s", o->verb, strerror(errno));
	o->watch.reader = trace_read(p[0], o);
	if (o->watch.reader && o->check.reader)
		trace_reader_each(o->watch.reader, check_line, o->check.reader);
	fd = o->watch.reader ? high_copy(p[1]) : -1;
	close(p[1]);
	if (o->watch.reader && fd < 0)
		prog_fail("%s: no descriptor is left", o->verb);
	return fd < 0 ? PROG_FAILED : fd;
}

/* Where the traced processes write. Returns the descriptor, or PROG_FAILED. */
static int open_trace(struct cli_options *o, char path[PATH_MAX])
{
	bool reads = o->watch.options & LOG_COUNTED || o->check.on;
	int fd = reads ? open_reader(o) : open_output(o->output), r;

	if (reads && fd == PROG_FAILED)
		return fd;
	if (fd < 0)
		return prog_fail("%s: cannot write to %s: %s", o->verb,
				 o->output ? o->output : "standard error", strerror(errno));
	r = path_of(reads ? NULL : o->output, fd, path);
	return r < 0 ? prog_fail("%s: %s: %s", o->verb, o->output, strerror(-r)) : fd;
}

int trace_prepare(struct cli_options *o, const char *verb)
{
	char path[PATH_MAX], id[96], topics[128], options[LOG_OPTIONS_MAX];
	struct stat st;
	int fd = open_trace(o, path);

	if (fd == PROG_FAILED || fstat(fd, &st) < 0)
		return PROG_FAILED;
	snprintf(id, sizeof(id), "%d:%llu:%llu", fd, (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	if (o->check.on)
		snprintf(topics, sizeof(topics), "check");
	else
		trace_expr_topics(&o->watch.expr, topics, sizeof(topics));
	trace_expr_options(&o->watch, options);
	if (setenv(LOG_ENV_TOPICS, topics, 1) < 0 || setenv(LOG_ENV_OPTIONS, options, 1) < 0 ||
	    setenv(LOG_ENV_FORMAT, o->json || o->check.on ? "json" : "text", 1) < 0 ||
	    setenv(LOG_ENV_FD, id, 1) < 0 || setenv(LOG_ENV_FILE, path, 1) < 0 ||
	    setenv(LOG_ENV_NAME, o->output ? o->output : "standard error", 1) < 0)
		return prog_fail("%s: out of memory", verb);
	return 0;
}

static void put_left(void *ctx, const char *text)
{
	struct rec r;

	rec_begin(&r, LOG_FW, hw_told_words[HW_TOLD_LEFT], 0);
	rec_say(&r, "objects", ": ", text);
	rec_end(&r);
}

/* A line for what each program has left, which only the supervisor knows: it writes them itself. */
void trace_left(const struct seg *s)
{
	log_init(); /* as trace_prepare() has told the command */
	if (TRACE_ON(LOG_FW))
		hw_told_each(s, HW_TOLD_LEFT, put_left, NULL);
	log_finish();
}

int cli_trace(struct cli_options *o)
{
	if ((o->watch.options & LOG_FAILED) && (o->watch.options & LOG_GOOD))
		return prog_fail("trace: -z and -Z exclude each other");
	if (!o->argc && !o->fabric)
		return prog_fail("trace: the command is missing (softhca trace --help); or "
				 "--fabric NAME, for all that happens there");
	if (!o->argc)
		return trace_live(o);
	o->trace = true;
	return cli_run(o);
}
