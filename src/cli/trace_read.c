/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the reader of a trace: a thread that takes the lines of all traced processes from a pipe,
 * counts them, and writes them. trace.c and trace_live.c use it.
 */
#include "cli/trace_read.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "cli/trace_count.h"
#include "super/program.h"
#include "util/cleanup.h"
#include "util/num.h"
#include "util/rec.h"

#define ROOM (2 * REC_JSON_MAX) /* twice the longest line */

struct trace_reader {
	int fd, stop, stuck; /* the pipe; eventfds: the command has ended, writing has failed */
	FILE *out;
	const char *verb, *name; /* for messages: the command's name, the output's name */
	bool counts, lines, json;
	enum trace_sort by;
	struct trace_counts table;
	void (*each)(void *ctx, const char *line); /* who takes the lines; NULL: `out` */
	void *ctx;
	pthread_t thread;
	int error; /* errno of the first failure */
	size_t n;  /* bytes in buf */
	char buf[ROOM];
};

static void reader_failed(struct trace_reader *r, int err)
{
	const uint64_t one = 1;

	if (r->error)
		return;
	r->error = err ? err : EIO;
	(void)!write(r->stuck, &one, sizeof(one));
}

/* The parts of a counted line's end; `at` is its first separator, and becomes NUL. */
static void read_counts(struct trace_reader *r, char *at)
{
	char *part[5], name[160];

	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		if (!at)
			return;
		*at = '\0';
		part[i] = at + 1;
		at = strchr(part[i], *LOG_SEPARATOR);
	}
	snprintf(name, sizeof(name), "%s%s%s", part[1], *part[1] && *part[2] ? " " : "", part[2]);
	if (!trace_count(&r->table, part[0], name, *part[3] == '1', num_decimal(part[4], NULL)))
		reader_failed(r, ENOMEM);
}

static void read_line(struct trace_reader *r, char *line)
{
	char *at = r->counts ? strchr(line, *LOG_SEPARATOR) : NULL;

	if (at)
		read_counts(r, at);
	if (r->each)
		r->each(r->ctx, line);
	else if (r->lines && !r->error && (fputs(line, r->out) < 0 || putc('\n', r->out) < 0))
		reader_failed(r, errno);
}

static void read_lines(struct trace_reader *r)
{
	size_t from = 0;
	char *end;

	while ((end = memchr(r->buf + from, '\n', r->n - from)) != NULL) {
		*end = '\0';
		read_line(r, r->buf + from);
		from = (size_t)(end + 1 - r->buf);
	}
	r->n -= from;
	memmove(r->buf, r->buf + from, r->n);
	if (r->n == sizeof(r->buf))
		r->n = 0; /* no line of ours */
}

/* Reads the bytes that the pipe has. False: it is empty. */
static bool read_some(struct trace_reader *r)
{
	ssize_t n = read(r->fd, r->buf + r->n, sizeof(r->buf) - r->n);

	if (n <= 0)
		return false;
	r->n += (size_t)n;
	read_lines(r);
	return true;
}

static void *read_all(void *arg)
{
	struct trace_reader *r = arg;
	struct pollfd p[2] = {{.fd = r->fd, .events = POLLIN}, {.fd = r->stop, .events = POLLIN}};
	bool last = false;

	while (!last) {
		/* Look for the end before emptying the pipe: what was written until then is in it.
		 */
		last = poll(p, 2, -1) > 0 && p[1].revents;
		while (read_some(r))
			;
		if (r->lines && !r->error && fflush(r->out))
			reader_failed(r, errno);
	}
	return NULL;
}

static FILE *open_out(const struct cli_options *o)
{
	int fd = -1;
	FILE *f;

	if (!o->output)
		fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	f = o->output ? fopen(o->output, "we") : fd < 0 ? NULL : fdopen(fd, "w");
	if (!f) {
		prog_fail("%s: cannot write to %s: %s", o->verb,
			  o->output ? o->output : "standard error", strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	return f;
}

static void reader_free(struct trace_reader *r)
{
	if (r->out)
		fclose(r->out);
	close(r->fd);
	if (r->stop >= 0)
		close(r->stop);
	if (r->stuck >= 0)
		close(r->stuck);
	trace_counts_free(&r->table);
	free(r);
}

static int start(struct trace_reader *r)
{
	int err, flags;
	sigset_t all, old;

	if (r->stop < 0 || r->stuck < 0)
		return errno;
	flags = fcntl(r->fd, F_GETFL);
	if (flags < 0 || fcntl(r->fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return errno;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	err = pthread_create(&r->thread, NULL, read_all, r);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err;
}

struct trace_reader *trace_read(int fd, const struct cli_options *o)
{
	struct trace_reader *r = calloc(1, sizeof(*r));
	int err;

	if (!r) {
		close(fd);
		prog_fail("out of memory");
		return NULL;
	}
	r->fd = fd;
	r->verb = o->verb;
	r->name = o->output ? o->output : "standard error";
	r->counts = o->watch.options & LOG_COUNTED;
	r->lines = !(o->watch.options & LOG_BARE);
	r->json = o->json;
	r->by = (enum trace_sort)o->watch.sort;
	r->stop = eventfd(0, EFD_CLOEXEC);
	r->stuck = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r->out = open_out(o);
	err = r->out ? start(r) : 0;
	if (err)
		prog_fail("%s: cannot start a thread: %s", o->verb, strerror(err));
	if (r->out && !err)
		return r;
	reader_free(r);
	return NULL;
}

void trace_reader_each(struct trace_reader *r, void (*each)(void *ctx, const char *line), void *ctx)
{
	r->ctx = ctx;
	r->each = each;
}

int trace_reader_stuck(const struct trace_reader *r)
{
	return r->stuck;
}

int trace_end(struct trace_reader *r)
{
	const uint64_t one = 1;
	int err;

	if (!r)
		return 0;
	(void)!write(r->stop, &one, sizeof(one));
	pthread_join(r->thread, NULL);
	if (r->counts && !r->error)
		trace_counts_write(&r->table, r->out, r->by, r->json);
	if (fflush(r->out))
		reader_failed(r, errno);
	err = r->error;
	if (err)
		prog_fail("%s: cannot write to %s: %s: lines are missing", r->verb, r->name,
			  strerror(err));
	reader_free(r);
	return err ? PROG_FAILED : 0;
}
