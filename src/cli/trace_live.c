/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `softhca trace --fabric NAME` without a command: asks the processes of a fabric for their trace
 * (segment/tap.h), and reads it until a signal comes or the fabric ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/pcap.h"
#include "cli/trace_read.h"
#include "cli/watch.h"
#include "segment/tap.h"
#include "super/program.h"
#include "util/cleanup.h"

#define PIPE_BYTES (1 << 20) /* large, so that the pipe seldom fills and programs seldom wait */

/* Opens the FIFO for us alone. Both ends: it has no end of file when the last program ends. */
static int open_fifo(const struct seg *s)
{
	_cleanup_close_ int fd = -1;
	char path[sizeof(s->dir) + sizeof(TAP_FIFO) + 1];
	struct stat st;

	snprintf(path, sizeof(path), "%s/" TAP_FIFO, s->dir);
	if (mkfifo(path, 0660) < 0 && errno != EEXIST)
		return prog_fail("trace: cannot make %s: %s", path, strerror(errno));
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return prog_fail("trace: cannot open %s: %s", path, strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode))
		return prog_fail("trace: %s is not a FIFO", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return prog_fail("trace: another trace of this fabric is running");
	fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES);
	return take_fd(&fd);
}

struct live {
	const struct trace_reader *reader;
	struct capture capture;
};

static bool is_stuck(void *ctx)
{
	struct live *l = ctx;
	struct pollfd p = {.fd = trace_reader_stuck(l->reader), .events = POLLIN};

	return (l->capture.seg && atomic_load(&l->capture.ended)) || poll(&p, 1, 0) > 0;
}

static int watch(struct cli_options *o, struct seg *s, struct trace_reader *reader)
{
	char topics[128], options[LOG_OPTIONS_MAX + sizeof("json ")] = "";
	struct live l = {.reader = reader};
	sigset_t set, old;
	int r = 0;

	trace_expr_topics(&o->watch.expr, topics, sizeof(topics));
	if (o->json)
		strcpy(options, "json ");
	trace_expr_options(&o->watch, options + strlen(options));
	watch_signals(&set, &old);
	if (o->capout)
		r = capture_begin(&l.capture, s, o);
	if (!r && tap_begin(s, topics, options) < 0)
		r = prog_fail("trace: -e: too many names");
	if (!r) {
		prog_fail("trace: watching fabric '%s' until ^C", s->hdr->name);
		watch_wait(s, &set, is_stuck, &l);
		tap_end(s);
	}
	return capture_end(&l.capture) ?: r;
}

int trace_live(struct cli_options *o)
{
	struct trace_reader *reader;
	struct seg s = {0};
	int r = watch_begin(o, &s), fd, end;

	if (r)
		return r;
	fd = open_fifo(&s);
	reader = fd == PROG_FAILED ? NULL : trace_read(fd, o);
	if (reader) {
		r = watch(o, &s, reader);
		end = trace_end(reader);
		r = r ? r : end;
	}
	seg_unmap(&s);
	return reader ? r : PROG_FAILED;
}
