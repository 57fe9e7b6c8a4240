/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A trace that passes through this process: a thread reads it, counts and writes. */
#ifndef SOFTHCA_CLI_TRACE_READ_H
#define SOFTHCA_CLI_TRACE_READ_H

#include "cli/cli.h"

struct trace_reader;

/*
 * Reads from `fd`, which it takes, and writes as the options say; `fd` must not reach its end
 * before trace_end(). NULL after a message.
 */
struct trace_reader *trace_read(int fd, const struct cli_options *o);
/* Gives each line, without its end, to `each` in the thread instead of writing it. */
void trace_reader_each(struct trace_reader *r, void (*each)(void *ctx, const char *line),
		       void *ctx);
/* A descriptor that becomes readable when the reader can no longer write its output. */
int trace_reader_stuck(const struct trace_reader *r);

#endif
